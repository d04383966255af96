"""Sentences in pieces, each with what marks it; text stays text."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any, TypeAlias

Mark: TypeAlias = tuple[int, int, str]  # first character, end, class
Piece: TypeAlias = tuple[str, str]  # text, and the classes that mark it


def marked(text: str, marks: Sequence[Mark]) -> list[Piece]:
    """A text cut where marks begin and end; marks outside of it are passed over.

    >>> marked("SHC binds GRB2.", [(0, 3, "e1"), (10, 14, "e2")])
    [('SHC', 'e1'), (' binds ', ''), ('GRB2', 'e2'), ('.', '')]
    """
    inside = [(a, b, name) for a, b, name in marks if 0 <= a < b <= len(text)]
    cuts = sorted({0, len(text), *(c for a, b, _ in inside for c in (a, b))})
    found = []
    for start, end in pairwise(cuts):
        names = dict.fromkeys(name for a, b, name in inside if a <= start and end <= b)
        found.append((text[start:end], " ".join(names)))
    return found


def evidence_pieces(row: Mapping[str, Any]) -> list[Piece]:
    """The sentence of a statement with its names and the trigger marked."""
    sentence = str(row["sentence"] or "")
    start = row["sentence_start"]
    if start is None:
        return [(sentence, "")]
    places = [(row["start_a"], row["end_a"], "e1"), (row["start_b"], row["end_b"], "e2")]
    places += [(a, b, "trigger") for a, b in trigger_places(row.get("trigger"))]
    known = [(a - start, b - start, name) for a, b, name in places if a is not None]
    return marked(sentence, known)


def trigger_places(trigger: Any) -> list[tuple[int, int]]:
    """Where the trigger stands in the document, from a list of ``[start, end]`` or its JSON."""
    if isinstance(trigger, str):
        try:
            trigger = json.loads(trigger)
        except json.JSONDecodeError:
            return []
    if not isinstance(trigger, list | tuple):
        return []
    pairs = [p for p in trigger if isinstance(p, list | tuple) and len(p) == 2]
    return [(a, b) for a, b in pairs if type(a) is int and type(b) is int]
