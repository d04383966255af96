"""The block of signs: raising and lowering words around a pair, in order."""

from __future__ import annotations

import pytest
from spacy.language import Language
from spacy.tokens import Span

from textrank.features import Features
from textrank.language import load_nlp
from textrank.tasks.ppi.blocks import SignPatterns
from textrank.tasks.ppi.task import PPI


@pytest.fixture(scope="module")
def nlp() -> Language:
    return load_nlp(only=["tagger", "parser"])


def represent(nlp: Language, text: str, names: tuple[str, str]) -> set[tuple[str, ...]]:
    """Return the names of the features of the only pair of a sentence."""
    doc = nlp.make_doc(text)
    spans = []
    for name in names:
        start = text.index(name)
        span = doc.char_span(start, start + len(name), alignment_mode="expand")
        spans.append(Span(doc, span.start, span.end, label="protein", span_id=name))
    doc.spans["entities"] = spans
    features: Features = SignPatterns()(PPI().candidates(nlp(doc)))
    assert features.values.shape[0] == 1
    return {tuple(features.names[i]) for i in features.values.indices}


def test_a_loss_that_lowers_has_an_even_product(nlp: Language) -> None:
    features = represent(nlp, "Loss of SMAD4 decreased CDH1.", ("SMAD4", "CDH1"))
    assert {("middle", "1-2"), ("before", "L"), ("around", "L 1-2 ")} <= features
    assert {("product", "odd"), ("wide product", "even")} <= features
    assert {("near", "1-2L"), ("near", "1+1-"), ("near", "2-1-")} <= features


def test_raising_words_and_sentences_without_signs(nlp: Language) -> None:
    features = represent(nlp, "SMAD4 increased CDH1.", ("SMAD4", "CDH1"))
    assert {("middle", "1+2"), ("product", "+")} <= features
    assert ("product", "none") in represent(nlp, "SMAD4 met CDH1.", ("SMAD4", "CDH1"))
