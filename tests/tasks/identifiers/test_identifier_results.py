"""Figures of the shipped identifiers on BioRED, which trained nothing."""

from __future__ import annotations

from pathlib import Path

import pytest
import spacy

from textrank.config import load_corpus, load_model
from textrank.evaluation import evaluate
from textrank.evaluation.evaluate import evaluate_identifiers
from textrank.language import load_nlp

DEV = Path(__file__).parents[4] / "shared" / "data" / "biored" / "dev.pubtator.gz"
pytestmark = [
    pytest.mark.corpus,
    pytest.mark.slow,
    pytest.mark.skipif(not DEV.exists(), reason="needs BioRED"),
]


def test_given_names_of_biored_get_the_right_identifier() -> None:
    docs = list(load_corpus(DEV)(spacy.blank("en")))
    (fold,) = evaluate(load_model("identifiers"), docs).folds
    # Families count as wrong here: BioRED gives them the identifier of a member.
    assert (fold.measures["first"] or 0) >= 0.79
    assert (fold.measures["reachable"] or 0) >= 0.88
    assert (fold.measures["document_f_of_all"] or 0) >= 0.86


def test_documents_of_biored_get_the_right_identifiers_from_raw_text() -> None:
    docs = list(load_corpus(DEV)(spacy.blank("en")))
    nlp = load_nlp(only=["kinds"])
    (fold,) = evaluate_identifiers(load_model("identifiers"), docs, nlp).folds
    assert (fold.measures["document_f_of_all"] or 0) >= 0.82
    assert (fold.measures["mention_f"] or 0) >= 0.80
