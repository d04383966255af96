"""The evaluation commands on the sample corpus: run, compare, sweep and their files."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from textrank.cli.app import run

SAMPLE = str(Path(__file__).parents[2] / "corpora" / "sample-ppi")
FAST = ["--folds", "3", "--set", "learner.alphas=[1.0]"]


@pytest.fixture
def call(capsys):
    """Runs a command that must succeed, and gives what it printed."""

    def called(*arguments):
        code = run([str(argument) for argument in arguments])
        shown = capsys.readouterr()
        assert code == 0, shown.err
        return shown.out + shown.err

    return called


def test_runs_are_compared_and_permuted(tmp_path, call):
    for name, weight in (("a", 0.9), ("b", 0.5)):
        setting = f"representation.path_weight={weight}"
        more = ["--permutations", "19"] if name == "a" else ["--learning-curve"]
        out = tmp_path / f"{name}.json"
        call("run", "ppi-apg", SAMPLE, *FAST, "--set", setting, "--json", out, *more)
    found = json.loads((tmp_path / "a.json").read_text())
    assert 0 < found["permutation"]["p"] <= 1
    assert found["permutation"]["auc"] == pytest.approx(found["measures"]["auc"]["mean"])
    assert json.loads((tmp_path / "b.json").read_text())["curves"]["learning"]
    text = call("compare", tmp_path / "a.json", tmp_path / "b.json", "--json", tmp_path / "c.json")
    assert "Two-sided" in text
    assert "…" not in text
    assert json.loads((tmp_path / "c.json").read_text())["runs"] == ["a", "b"]


def test_leave_pair_out_reports_one_auc(tmp_path, call):
    out = tmp_path / "p.json"
    call("run", "ppi-apg", SAMPLE, *FAST[2:], "--protocol", "leave-pair-out", "--json", out)
    data = json.loads(out.read_text())
    assert list(data["measures"]) == ["auc"]
    assert data["notes"]


def test_corpora_are_crossed(tmp_path, call):
    corpus = (Path(SAMPLE) / "corpus.xml").read_text()
    head, *documents = corpus.split("<document ")
    for name, part in (("one", documents[:20]), ("two", documents[20:40])):
        text = head + "".join(f"<document {d}" for d in part)
        text = text if "</corpus>" in text else f"{text}</corpus>"
        (tmp_path / f"{name}.xml").write_text(text)
    paths = [tmp_path / "one.xml", tmp_path / "two.xml"]
    text = call("cross", "ppi-apg", *paths, "--set", "learner.alphas=[1.0]")
    assert "one" in text
    assert "two" in text


def test_a_sweep_goes_on_where_it_stopped(tmp_path, call):
    sweep = ["--sweep", "representation.path_weight=0.9,0.5", "--cache", tmp_path / "cache"]
    first = call("run", "ppi-apg", SAMPLE, "--folds", "3", *sweep)
    written = {p: p.stat().st_mtime_ns for p in (tmp_path / "cache").rglob("*") if p.is_file()}
    again = call("run", "ppi-apg", SAMPLE, "--folds", "3", *sweep)
    assert written
    assert {p: p.stat().st_mtime_ns for p in written} == written
    assert "2 points, 0 of them from the cache" in first
    assert "2 points, 2 of them from the cache" in again
    assert first.splitlines()[:-1] == again.splitlines()[:-1]
