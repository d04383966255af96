"""The console examples of the README produce the results that it describes."""

from __future__ import annotations

import io
import json
import re
import subprocess
import sys
from collections.abc import Callable

import pytest

from tests.blocks import ROOT, blocks
from textrank.cli.app import run

ECHO = re.compile(r'^echo "(?P<text>[^"]+)" \| textrank (?P<arguments>apply (?P<task>\w+) -.*)$')
COMMANDS = [line for block in blocks("README.md") for line in block.commands]
EXAMPLES = {match["task"]: match for line in COMMANDS if (match := ECHO.match(line))}
TASKS = ("ppi", "gene_protein", "spelling", "parse_ranking")


@pytest.fixture
def run_example(monkeypatch, capsys) -> Callable[[str], str]:
    """Return a function that runs the README's example of a task and returns its output."""

    def call(task: str) -> str:
        stdin = io.TextIOWrapper(io.BytesIO(EXAMPLES[task]["text"].encode()), encoding="utf-8")
        monkeypatch.setattr(sys, "stdin", stdin)
        assert run(EXAMPLES[task]["arguments"].split()) == 0
        return capsys.readouterr().out

    return call


@pytest.fixture
def example_rows(run_example) -> Callable[[str], list[dict]]:
    """Return a function that gives the rows of the one document that an example prints."""

    def call(task: str) -> list[dict]:
        (line,) = run_example(task).splitlines()
        document = json.loads(line)
        assert document["document"] == "stdin"
        return document[f"textrank_{task}"]

    return call


def test_every_task_has_an_example():
    assert set(TASKS) <= set(EXAMPLES)


def test_interactions(example_rows):
    interactions = [row["names"] for row in example_rows("ppi") if row["interacts"]]
    assert interactions == [["SHC", "EGF receptor"]]


def test_gene_or_protein(example_rows):
    labels = sorted((row["name"], row["label"]) for row in example_rows("gene_protein"))
    assert labels == [("IL-2", "DNA"), ("IL-2", "RNA"), ("NF-kappa B", "protein")]


def test_spelling_as_a_diff(run_example):
    patch = run_example("spelling")
    assert "-This one is larger then the other." in patch
    assert "+This one is larger than the other." in patch


def test_parses_are_sorted_by_score(example_rows):
    (sentence,) = example_rows("parse_ranking")
    scores = [parse["score"] for parse in sentence["parses"]]
    assert len(scores) > 1
    assert scores == sorted(scores, reverse=True)


@pytest.mark.slow
@pytest.mark.parametrize(
    "line", [line for line in COMMANDS if re.match(r"textrank (run|train) \S+ corpora/", line)]
)
def test_commands_on_the_samples(line, tmp_path):
    arguments = line.replace("my-", f"{tmp_path}/my-").replace("report/", f"{tmp_path}/report/")
    result = subprocess.run(
        [sys.executable, "-m", *arguments.split()],
        cwd=ROOT, capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert result.stdout
