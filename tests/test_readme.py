"""The console examples of the README do what they show."""

from __future__ import annotations

import io
import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from textrank.cli.app import run

ROOT = Path(__file__).parents[1]
ECHO = re.compile(r'^\$ echo "(?P<text>[^"]+)" \| textrank (?P<words>apply (?P<task>\w+) -.*)$')
LINES = (ROOT / "README.md").read_text(encoding="utf-8").splitlines()
EXAMPLES = {found["task"]: found for line in LINES if (found := ECHO.match(line))}
TASKS = ("ppi", "gene_protein", "spelling", "parse_ranking")


@pytest.fixture
def told(monkeypatch, capsys):
    """``told(task)``: the output of the README's example of a task."""

    def call(task: str) -> str:
        stdin = io.TextIOWrapper(io.BytesIO(EXAMPLES[task]["text"].encode()), encoding="utf-8")
        monkeypatch.setattr(sys, "stdin", stdin)
        assert run(EXAMPLES[task]["words"].split()) == 0
        return capsys.readouterr().out

    return call


@pytest.fixture
def answers(told):
    """``answers(task)``: the rows of the one document that the example prints."""

    def call(task: str) -> list[dict]:
        (line,) = told(task).splitlines()
        row = json.loads(line)
        assert row["document"] == "stdin"
        return row[f"textrank_{task}"]

    return call


def test_every_task_has_an_example():
    assert set(TASKS) <= set(EXAMPLES)


def test_interactions(answers):
    yes = [row["names"] for row in answers("ppi") if row["interacts"]]
    assert len(yes) == 1
    assert yes[0][0] == "SHC"
    assert "EGF receptor" in yes[0][1]


def test_gene_or_protein(answers):
    labels = {row["name"]: row["label"] for row in answers("gene_protein")}
    kinds = {"IL-2 gene": "DNA", "NF-kappa B": "protein", "IL-2 mRNA": "RNA"}
    for name, kind in kinds.items():
        assert next(label for own, label in labels.items() if name in own) == kind


def test_spelling_as_a_diff(told):
    patch = told("spelling")
    assert "-This one is larger then the other." in patch
    assert "+This one is larger than the other." in patch


def test_parses_in_order(answers):
    (sentence,) = answers("parse_ranking")
    scores = [parse["score"] for parse in sentence["parses"]]
    assert len(scores) > 1
    assert scores == sorted(scores, reverse=True)


@pytest.mark.slow
@pytest.mark.parametrize("line", [line for line in LINES if re.match(
    r"\$ textrank (run|train) \S+ corpora/", line)])  # fmt: skip
def test_runs_on_the_samples(line, tmp_path):
    words = [w.replace("my-", f"{tmp_path}/my-") for w in line.removeprefix("$ textrank ").split()]
    done = subprocess.run([sys.executable, "-m", "textrank", *words], cwd=ROOT,
                          capture_output=True, text=True, check=True)  # fmt: skip
    assert done.stdout
