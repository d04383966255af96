"""Options that would have no effect are refused: exit code 2, both options named, a remedy."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from textrank.cli import main

APPLY = ("apply", "ppi", "text.txt")
OUT = (*APPLY, "--out", "result")
RUN = ("run", "ppi", "corpus.xml")
EVALUATE = ("evaluate", "ppi", "corpus.xml")
QUERY = ("query", "result")
EXPLORE = ("explore", "result", "--static", "page.html")

REFUSED: list[tuple[Sequence[str], Sequence[str], str]] = [
    *((APPLY, option, "without --out") for option in (
        ("--format", "jsonl"), ("--workers", "2"), ("--dask", "tcp://x"), ("--strict",),
        ("--timeout", "5"), ("--start-timeout", "5"), ("--part-size", "1"), ("--whole",),
        ("--workers", "1"),  # given, though it is the default
    )),
    *((OUT, option, "with --out") for option in (
        ("--table",), ("--diff",), ("--network", "n.sif"), ("--facts", "f.json"),
        ("--write", "w.bioc.xml"), ("--skip-bad",), ("--max-bytes", "1M"),
    )),
    ((*OUT, "--dask", "tcp://x"), ("--workers", "2"), "with --dask"),
    *(((*APPLY, "--diff"), option, "with --diff") for option in (
        ("--table",), ("--network", "n.sif"), ("--facts", "f.json"), ("--write", "w.bioc.xml"),
    )),
    (EVALUATE, ("--given-sentences",), "without --names recognised"),
    ((*EVALUATE[:1], "identifiers", "corpus.xml", "--names", "recognised"),
     ("--positives", "0.5"), "--names recognised"),
    *(((*RUN, "--sweep", "learner.select=auc,f"), option, "with --sweep") for option in (
        ("--permutations", "9"), ("--learning-curve",), ("--per-fold",),
    )),
    (RUN, ("--cache", "kept"), "without --sweep"),
    ((*RUN, "--folds", "folds.json"), ("--seed", "1"), "--folds folds.json"),
    *(((*RUN, "--protocol", name), (option, "2"), f"--protocol {name}")
      for name in ("leave-document-out", "leave-query-out", "leave-pair-out")
      for option in ("--folds", "--seed", "--splits")),
    *(((*RUN, "--protocol", name), (option, "2"), f"--protocol {name}")
      for name in ("5x2", "train-test") for option in ("--folds", "--splits")),
    ((*RUN, "--protocol", "leave-pair-out"), ("--permutations", "9"), "leave-pair-out"),
    *(((*QUERY, "SELECT 1"), option, "in SQL") for option in (
        ("--type", "binding"), ("--status", "negated"), ("--probability", "0.5"),
        ("--year", "1999"), ("--species", "9606"), ("--limit", "3"),
    )),
    ((*QUERY, "GRB2", "--json"), ("--csv",), "with --json"),
    *((EXPLORE, option, "with --static") for option in (
        ("--port", "80"), ("--no-browser",), ("--model", "ppi"), ("--nlp", "x"),
        ("--report", "r"),
    )),
    (("curate", "mine.cfg", "text.txt"), ("--fresh",), "a pipeline without weights"),
    (("curate", "ppi", "text.txt", "--train", "c.xml"), ("--fresh",), "with --train"),
    *((("reproduce", "--list"), option, "with --list") for option in (
        ("--data", "d"), ("--out", "o"), ("--seed", "3"), ("--full",),
    )),
]  # fmt: skip


@pytest.mark.parametrize(
    ("command", "option", "when"),
    REFUSED,
    ids=[" ".join((*command, *option)) for command, option, _ in REFUSED],
)
def test_an_option_without_effect_is_refused(
    command: Sequence[str],
    option: Sequence[str],
    when: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", ["textrank", *command, *option])
    with pytest.raises(SystemExit) as stop:
        main()
    assert stop.value.code == 2
    told = " ".join(capsys.readouterr().err.split())
    assert f"{option[0]} has no effect" in told
    assert when in told
    assert "Leave it out, or " in told
    assert not list(tmp_path.iterdir())
