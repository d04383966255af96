"""Sentences of PubMed for evidence: cut at full stops, the same each time, with found names."""

from __future__ import annotations

import gzip
import json

from spacy.tokens import Doc, Span
from spacy.training import Example
from workshop.evidence import NamedText
from workshop.networks import Settings, add_names, blank_nlp
from workshop.self_training import predict_names, sample_pubmed_sentences

TEXT = "The p53 gene binds the MDM2 protein. It was seen in 3.5 per cent of all cells. No."


def test_sentences_end_at_full_stops_before_capitals(tmp_path):
    (tmp_path / "pubmed").mkdir()
    rows = "".join(json.dumps({"text": text}) + "\n" for text in (TEXT, "Not read at all, this."))
    (tmp_path / "pubmed" / "a.jsonl.gz").write_bytes(gzip.compress(rows.encode()))
    found = sample_pubmed_sentences(tmp_path, 10)
    assert {" ".join(text.words) for text in found} == {
        "The p53 gene binds the MDM2 protein .",
        "It was seen in 3.5 per cent of all cells .",
    }
    assert sample_pubmed_sentences(tmp_path, 1) == found[:1]


def test_names_are_those_that_the_recognizer_finds():
    nlp = blank_nlp()
    add_names(nlp, Settings(width=16, depth=1, rows=200, vectors=8))
    doc = Doc(nlp.vocab, words=["p53", "binds"])
    doc.set_ents([Span(doc, 0, 1, "GENE")])
    optimizer = nlp.initialize(lambda: [Example(Doc(nlp.vocab, words=["p53", "binds"]), doc)])
    optimizer.learn_rate = 0.01
    for _ in range(40):
        nlp.update([Example(Doc(nlp.vocab, words=["p53", "binds"]), doc)], sgd=optimizer)
    text = NamedText(["p53", "binds"], [True, False])
    assert predict_names(nlp, "genes", [text])[0].names == [(0, 1, "GENE")]
