"""Where names come from: the span group, else the entities of a recogniser."""

from __future__ import annotations

import pytest
import spacy
from spacy.tokens import Span

from textrank.candidates import named_spans
from textrank.tasks.ppi.task import PPI


@pytest.fixture
def doc():
    return spacy.blank("en")("SHC binds GRB2 and SOS")


def test_entities_of_a_recogniser_fill_the_group(doc):
    doc.ents = [Span(doc, 2, 3, "GENE"), Span(doc, 0, 1, "GENE")]
    assert [span.text for span in named_spans(doc, "entities")] == ["SHC", "GRB2"]
    assert [span.id_ for span in doc.spans["entities"]] == ["e0", "e1"]
    doc[0].is_sent_start = True
    for token in doc[1:]:
        token.is_sent_start = False
    assert [[s.text for s in c.spans] for c in PPI().candidates(doc)] == [["SHC", "GRB2"]]


def test_a_group_wins_over_entities_even_when_empty(doc):
    doc.ents = [Span(doc, 0, 1, "GENE")]
    doc.spans["entities"] = []
    assert named_spans(doc, "entities") == []


def test_a_recogniser_that_found_nothing_is_not_a_missing_one(doc):
    doc.set_ents([], default="outside")
    assert named_spans(doc, "entities") == []


def test_neither_group_nor_recogniser_is_explained(doc):
    with pytest.raises(ValueError, match="no span group 'entities' and no entities"):
        named_spans(doc, "entities")
