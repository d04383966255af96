"""Identifiers of names in sentences that were written before any answer was seen."""

from __future__ import annotations

import pytest
from spacy.tokens import Doc

from tests.tasks.identifiers.sentences import SENTENCES
from textrank.language import load_nlp

MIN_RIGHT = 0.85  # share of the sentences of which all names are right


@pytest.mark.slow
def test_names_of_sentences_have_the_right_identifiers() -> None:
    docs = load_nlp().pipe([text for _, text, _ in SENTENCES])
    wrong = [
        (kind, text)
        for (kind, text, expected), doc in zip(SENTENCES, docs, strict=True)
        if not all(
            is_right(doc, text.index(name), text.index(name) + len(name), identifier)
            for name, identifier in expected.items()
        )
    ]
    assert len(wrong) <= (1 - MIN_RIGHT) * len(SENTENCES), wrong


def is_right(doc: Doc, start: int, end: int, expected: str | None) -> bool:
    """Return whether names in these characters have the identifier; for None, whether none has."""
    rows = [
        row for row in doc._.textrank_identifiers if row["span"][0] < end and start < row["span"][1]
    ]
    identifiers = {row["identifier"] for row in rows} - {None}
    return expected in identifiers if expected else not identifiers
