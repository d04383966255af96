"""The sentence that is told of a name: as the user wrote it, and of bounded length."""

from __future__ import annotations

import spacy
from spacy.tokens import Doc

from textrank.language.normalization import MAX_SENTENCE_CHARACTERS, SourceText


def one_sentence(text: str) -> Doc:
    doc = spacy.blank("en")(text)
    for token in doc:
        token.is_sent_start = token.i == 0
    return doc


def test_a_sentence_is_told_whole() -> None:
    doc = one_sentence("SHC  binds <i>GRB2</i>.")
    assert SourceText.from_doc(doc, doc).sentence(doc[1:2]) == doc.text


def test_of_an_endless_sentence_what_is_around_is_told() -> None:
    doc = one_sentence(" and ".join(f"GRB{n}" for n in range(2000)))
    passages = SourceText.from_doc(doc, doc)
    for at in (0, 2000, len(doc) - 1):
        told = passages.sentence(doc[at : at + 1])
        assert doc[at].text in told.split()
        assert MAX_SENTENCE_CHARACTERS // 3 < len(told) <= MAX_SENTENCE_CHARACTERS
        assert f" {told} " in f" {doc.text} "


def test_a_name_that_is_longer_is_told_whole() -> None:
    doc = one_sentence("A " + "b " * 3000 + "c")
    assert SourceText.from_doc(doc, doc).sentence(doc[2:2500]) == doc[2:2500].text
