"""Which documents are one: texts that must never stand on both sides of a split."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from spacy.tokens import Doc

WORDS = 5  # shorter sentences ("Results were similar.") repeat by chance


def held_together(docs: Sequence[Doc]) -> list[str]:
    """A name for each Doc, the same for all that share an original id or a sentence.

    Corpora hold the same abstract twice under two ids; hold-out by id alone would train on a copy
    of the test text. Sentences are compared in lower case, letters and digits only. The name is
    the id of the first Doc of the group.
    """
    parent = list(range(len(docs)))
    seen: dict[tuple[str, str], int] = {}
    for number, doc in enumerate(docs):
        for mark in _marks(doc, number):
            _join(parent, seen.setdefault(mark, number), number)
    ids = [document_id(doc, number) for number, doc in enumerate(docs)]
    return [ids[_root(parent, number)] for number in range(len(docs))]


def shares_text(docs: Sequence[Doc], others: Sequence[Doc]) -> list[bool]:
    """For each Doc whether an original id or a sentence of it stands in one of the others too.

    Ids that readers give are not compared: two corpora may count their documents alike.
    """
    known = {mark for doc in others for mark in _marks(doc, 0) if mark[0] != "id"}
    return [any(mark in known for mark in _marks(doc, 0) if mark[0] != "id") for doc in docs]


def document_id(doc: Doc, number: int = 0) -> str:
    """The id a reader gave, or the number of the Doc."""
    return str(doc.user_data.get("document") or number)


def _marks(doc: Doc, number: int) -> Iterator[tuple[str, str]]:
    yield "id", document_id(doc, number)
    if doc.user_data.get("origin"):
        yield "origin", str(doc.user_data["origin"])
    if doc.has_annotation("SENT_START"):
        for sentence in doc.sents:
            words = re.findall(r"[^\W_]+", sentence.text.lower())
            if len(words) >= WORDS:
                yield "sentence", " ".join(words)


def _root(parent: list[int], number: int) -> int:
    while parent[number] != number:
        parent[number] = parent[parent[number]]
        number = parent[number]
    return number


def _join(parent: list[int], one: int, other: int) -> None:
    first, second = sorted((_root(parent, one), _root(parent, other)))
    parent[second] = first  # the earlier Doc names the group
