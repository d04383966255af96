"""Identifiers of names in sentences that were written before any answer was seen."""

from __future__ import annotations

import re

import pytest
from spacy.tokens import Doc

from tests.tasks.identifiers.sentences import (
    OTHER_SENTENCES,
    SENTENCES,
    THIRD_SENTENCES,
    Expected,
)
from textrank.language import load_nlp

MIN_RIGHT = 0.85  # share of the sentences of which all names are right


@pytest.mark.slow
@pytest.mark.parametrize(
    "sentences",
    [SENTENCES, OTHER_SENTENCES, THIRD_SENTENCES],
    ids=["first", "second", "third"],
)
def test_names_of_sentences_have_the_right_identifiers(
    sentences: list[tuple[str, str, dict[str, Expected]]],
) -> None:
    docs = load_nlp().pipe([text for _, text, _ in sentences])
    wrong = [
        (kind, text)
        for (kind, text, expected), doc in zip(sentences, docs, strict=True)
        if not all(is_right(doc, name, identifiers) for name, identifiers in expected.items())
    ]
    assert len(wrong) <= (1 - MIN_RIGHT) * len(sentences), wrong


def is_right(doc: Doc, name: str, expected: Expected) -> bool:
    """Return whether the names that overlap the word ``name`` have the identifiers.

    For None, whether they have none; of a tuple all are wanted, of a frozenset one.
    """
    match = re.search(rf"(?<!\w){re.escape(name)}(?!\w)", doc.text)
    assert match is not None, name
    identifiers = {
        part["identifier"]
        for row in doc._.textrank_identifiers
        if row["span"][0] < match.end() and match.start() < row["span"][1]
        for part in (row, *row["parts"])
    } - {None}
    if expected is None:
        return not identifiers
    if isinstance(expected, str):
        return expected in identifiers
    if isinstance(expected, tuple):
        return identifiers.issuperset(expected)
    return not identifiers.isdisjoint(expected)
