"""Rows of pairs tell how probable their names are."""

from __future__ import annotations

import numpy as np
import spacy
from spacy.tokens import Span

from textrank.language import name_kinds
from textrank.tasks.base import Scored
from textrank.tasks.ppi.task import PPI


def annotate(with_probabilities: bool):
    """The row of one pair, with or without probabilities of a recogniser."""
    nlp = spacy.blank("en")
    nlp.add_pipe("sentencizer")
    doc = nlp("SHC binds GRB2 .")
    doc.spans["entities"] = [
        Span(doc, 0, 1, "Gene", span_id="a"),
        Span(doc, 2, 3, "Gene", span_id="b"),
    ]
    if with_probabilities:
        doc.user_data[name_kinds._PROBABILITIES_KEY] = {"0:1": {"Gene": 0.75}}
    candidates = PPI().candidates(doc)
    return PPI().annotate(doc, Scored(candidates, np.zeros(len(candidates))))._.textrank_ppi[0]


def test_probabilities_of_recognised_names_are_given():
    assert annotate(True)["name_probabilities"] == [0.75, None]


def test_given_names_have_no_probability():
    assert "name_probabilities" not in annotate(False)
