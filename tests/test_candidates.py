"""``entity_spans`` returns the spans of a group, or else the entities of a recogniser."""

from __future__ import annotations

import pytest
import spacy
from spacy.tokens import Span

from textrank.candidates import entity_spans
from textrank.tasks.ppi.task import PPI


@pytest.fixture
def doc():
    return spacy.blank("en")("SHC binds GRB2 and SOS")


def test_entities_are_copied_to_the_span_group(doc):
    doc.ents = [Span(doc, 2, 3, "GENE"), Span(doc, 0, 1, "GENE")]
    assert [span.text for span in entity_spans(doc, "entities")] == ["SHC", "GRB2"]
    assert [span.id_ for span in doc.spans["entities"]] == ["e0", "e1"]
    doc[0].is_sent_start = True
    for token in doc[1:]:
        token.is_sent_start = False
    assert [[s.text for s in c.spans] for c in PPI().candidates(doc)] == [["SHC", "GRB2"]]


def test_span_group_takes_precedence_even_if_empty(doc):
    doc.ents = [Span(doc, 0, 1, "GENE")]
    doc.spans["entities"] = []
    assert entity_spans(doc, "entities") == []


def test_recogniser_without_entities_gives_no_spans(doc):
    doc.set_ents([], default="outside")
    assert entity_spans(doc, "entities") == []


def test_missing_group_and_recogniser_raise(doc):
    with pytest.raises(ValueError, match="no span group 'entities' and no entities"):
        entity_spans(doc, "entities")
