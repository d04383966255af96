"""Corpora from one format to another, and judged texts in the formats of other tools."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np
import pytest
import spacy

from textrank.cli import main
from textrank.config import load_corpus
from textrank.formats.detection import reader_for, write_docs
from textrank.formats.standoff import Brat
from textrank.tasks.base import Scored
from textrank.tasks.ppi.task import PPI

SAMPLE = Path(__file__).parents[2] / "corpora" / "sample-ppi"
NLP = spacy.blank("en")


def call(monkeypatch: pytest.MonkeyPatch, *arguments: object) -> int:
    monkeypatch.setattr(sys, "argv", ["textrank", *map(str, arguments)])
    with pytest.raises(SystemExit) as stop:
        main()
    return int(stop.value.code or 0)


@pytest.mark.parametrize("name", ["x.bioc.xml", "x.json", "x.jsonl.gz", "x.spacy", "x"])
def test_a_corpus_keeps_its_interactions_in_every_format(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    target = tmp_path / name
    assert call(monkeypatch, "convert", SAMPLE, target) == 0
    assert f"{target}: 50 documents" in capsys.readouterr().out
    task = PPI()
    labels = [
        [c.label for d in r(NLP) for c in task.candidates(d)]
        for r in (load_corpus(SAMPLE), reader_for(target))
    ]
    assert sum(label > 0 for label in labels[1]) == 222
    # brat lists no false pair, yet they are false; nor sentences, and "Ib. von" looks like one
    assert len(labels[0]) == 477
    assert len(labels[1]) == (479 if target.name == "x" else 477)


def test_an_unknown_target_ends_with_code_2(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert call(monkeypatch, "convert", SAMPLE, tmp_path / "x.pdf") == 2
    assert "no format is written with this suffix" in capsys.readouterr().err
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("name", ["x.jsonl", "x.bioc.xml", "x"])
def test_judged_pairs_are_written_as_relations(name: str, tmp_path: Path) -> None:
    doc = next(iter(load_corpus(SAMPLE)(NLP)))
    task = PPI()
    candidates = task.candidates(doc)
    scores = np.array([1.0 if c.label == -1.0 else -1.0 for c in candidates])  # the reverse of gold
    task.annotate(doc, Scored(candidates, scores))
    write_docs([doc], tmp_path / name, source="ppi")
    (back,) = reader_for(tmp_path / name)(NLP)
    found = [c.label for c in task.candidates(back)]
    assert found == [-c.label for c in candidates if c.label is not None]


def test_a_format_without_relations_refuses_results(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="conllu cannot hold results of a task"):
        write_docs([], tmp_path / "x.conllu", source="ppi")


@pytest.mark.slow
def test_apply_also_writes_the_judged_texts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    model = tmp_path / "model"
    few = tmp_path / "few.jsonl"
    assert call(monkeypatch, "train", "ppi", SAMPLE, model) == 0
    write_docs(list(load_corpus(SAMPLE)(NLP))[:3], few)
    capsys.readouterr()
    assert call(monkeypatch, "apply", model, few, "--write", tmp_path / "judged") == 0
    rows = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    told = sum(pair["interacts"] for row in rows for pair in row["textrank_ppi"])
    docs = list(Brat(str(tmp_path / "judged"))(NLP))
    assert len(docs) == len(rows) == 3
    assert sum(len(doc.user_data["gold"]) for doc in docs) == told > 0
