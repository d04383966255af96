"""A model knows which documents it was trained on, and keeps none of their text."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest
import spacy
from spacy.tokens import Doc

from textrank.candidates import MAX_HASHES, TRAINING_TEXTS_KEY, find_training_overlap, hash_texts
from textrank.cli import main

SAMPLE = Path(__file__).parents[1] / "corpora" / "sample-gene-protein"


def doc_of(*sentences: str, document: str = "d") -> Doc:
    nlp = spacy.blank("en")
    nlp.add_pipe("sentencizer")
    doc = nlp(" ".join(sentences))
    doc.user_data["document"] = document
    return doc


BOUND = "The adaptor GRB2 binds to SOS1 in cells."
WASHED = "After two hours the cells were washed twice."
SHORT = "GRB2 binds SOS1."


@pytest.mark.parametrize(
    ("tested", "count"),
    [
        ([doc_of(BOUND, document="other")], 1),  # under another id
        ([doc_of(BOUND.upper().replace(" ", "  "))], 1),  # other case and white space
        ([doc_of(WASHED, BOUND), doc_of(WASHED)], 1),  # one sentence of it
        ([doc_of(SHORT)], 1),  # a short text as a whole
        ([doc_of(SHORT, WASHED)], 0),  # a short sentence repeats by chance
        ([doc_of(WASHED, document="d")], 0),  # the same id, another text
    ],
)
def test_training_documents_are_recognised(tested: list[Doc], count: int) -> None:
    meta = {TRAINING_TEXTS_KEY: hash_texts([doc_of(BOUND), doc_of(SHORT)])}
    overlap = find_training_overlap(meta, tested)
    assert (overlap.documents if overlap else 0) == count
    if overlap:
        assert overlap.to_dict() == {"documents": count, "share": count / len(tested)}
        assert f"trained on {count} of these {len(tested)} documents" in overlap.note


@pytest.mark.parametrize(
    "known", [{}, {TRAINING_TEXTS_KEY: "%"}, {TRAINING_TEXTS_KEY: 3}, {TRAINING_TEXTS_KEY: "AAAA"}]
)
def test_without_hashes_the_name_of_the_corpus_is_compared(known: dict[str, Any]) -> None:
    meta = {"corpus": "AImed, LLL", **known}
    overlap = find_training_overlap(meta, [doc_of(BOUND)], "lll")
    assert overlap is not None
    assert overlap.to_dict() == {"documents": None, "share": None}
    assert find_training_overlap(meta, [doc_of(BOUND)], "IEPA") is None
    assert find_training_overlap({**known}, [doc_of(BOUND)], "") is None


def test_the_hashes_of_a_large_corpus_are_capped(monkeypatch: pytest.MonkeyPatch) -> None:
    assert MAX_HASHES * 8 <= 1 << 18
    monkeypatch.setattr("textrank.candidates.MAX_HASHES", 10)
    docs = [doc_of(f"Protein number {n} binds to its only partner {n}.") for n in range(30)]
    meta = {TRAINING_TEXTS_KEY: hash_texts(docs)}
    overlap = find_training_overlap(meta, docs)
    assert overlap is not None
    assert 5 <= (overlap.documents or 0) <= 10


def run(monkeypatch: pytest.MonkeyPatch, *arguments: object) -> None:
    monkeypatch.setattr(sys, "argv", ["textrank", *map(str, arguments)])
    with pytest.raises(SystemExit) as stop:
        main()
    assert stop.value.code == 0


def test_evaluating_on_training_documents_says_so(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    model, figures = tmp_path / "model", tmp_path / "figures.json"
    run(monkeypatch, "train", "gene_protein", SAMPLE, model)
    capsys.readouterr()
    run(monkeypatch, "evaluate", model, SAMPLE, "--json", figures)
    told = capsys.readouterr()
    found = json.loads(figures.read_text())
    total = found["counts"]["documents"]
    assert found["trained_on"] == {"documents": total, "share": 1.0}
    said = f"the model was trained on {total} of these {total} documents (100%)"
    assert f"textrank: warning: {said}" in told.err
    assert said in " ".join(told.out.split())
    words = next(line for line in SAMPLE.rglob("*.jsonl")).read_text()
    meta = json.loads((model / "meta.json").read_text())
    assert len(meta[TRAINING_TEXTS_KEY]) < len(words)


def test_a_model_without_hashes_still_loads_and_says_nothing() -> None:
    import textrank
    from textrank.evaluation import evaluate

    model = textrank.load_model("gene_protein")
    assert TRAINING_TEXTS_KEY not in model.meta
    docs = list(textrank.load_corpus(str(SAMPLE))(textrank.load_nlp()))
    report = evaluate(model, docs, corpus="sample")
    assert (report.trained_on, report.notes) == ({}, ())
