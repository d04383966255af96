"""ParseSupport: how much the other parses of a sentence speak for one of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from textrank.candidates import Candidate
from textrank.representations.entity_pair import Bag, bags
from textrank.types import Features

SUPPORT = ("own", "votes", "consensus", "attachment")


@dataclass(frozen=True)
class ParseSupport:
    """What ``doc.user_data["parse"]`` says of a parse: four numbers from 0 to 1.

    ``own``: whether it is the first choice of the parser; ``votes``: the share of parsers that
    found it; ``consensus``: the share of its arcs that a parse drawn by the votes has too;
    ``attachment``: the same without labels.
    """

    def __call__(self, candidates: Sequence[Candidate]) -> Features:
        return bags(map(_support, candidates))


def _support(candidate: Candidate) -> Bag:
    known = candidate.doc.user_data.get("parse")
    if known is None:
        raise ValueError(
            f"a candidate of document {candidate.document!r} is not one of several parses. "
            "Use this representation with the task that ranks parses."
        )
    return {(name,): float(known[name]) for name in SUPPORT}
