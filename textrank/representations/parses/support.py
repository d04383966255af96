"""ParseSupport: how much the other parses of a sentence speak for one of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from textrank.docs import Candidate
from textrank.representations.pairs.entity_pair import Bag
from textrank.types import Features

SUPPORT = ("own", "votes", "consensus", "attachment")
LEAST = 0.02  # a share of votes that stands for none, whose logarithm would be infinite


@dataclass(frozen=True)
class ParseSupport:
    """What ``doc.user_data["parse"]`` says of a parse, in numbers from 0 to 1 and a logarithm.

    ``own``: whether it is the first choice of the parser; ``votes``: the share of parsers that
    found it; ``consensus``: the share of its arcs that a parse drawn by the votes has too;
    ``attachment``: the same without labels; ``doubt``: the mean logarithm of the votes for its
    arcs. Of each parser: votes, consensus and attachment among its copies. ``spanning``: whether it
    is the tree that most votes speak for, of all and of each parser.
    """

    def __call__(self, candidates: Sequence[Candidate]) -> Features:
        return Features.of(map(_support, candidates))


def known_parse(candidate: Candidate) -> Mapping[str, Any]:
    """What is known of a parse beside its tree."""
    known = candidate.doc.user_data.get("parse")
    if known is None:
        raise ValueError(
            f"a candidate of document {candidate.document!r} is not one of several parses. "
            "Use this representation with the task that ranks parses."
        )
    return dict(known)


def _support(candidate: Candidate) -> Bag:
    known = known_parse(candidate)
    found: dict[tuple[str, ...], float] = {(name,): float(known[name]) for name in SUPPORT}
    arcs, heads = np.array(known["arcs"]), np.array(known["heads"])  # (words, parsers)
    if len(arcs):
        found["doubt",] = float(np.log(np.maximum(arcs.mean(axis=1), LEAST)).mean())
        each = (np.ascontiguousarray(table.T).mean(axis=1) for table in (arcs, heads))
        means = zip(known["by"], *each, strict=True)
        for number, (votes, consensus, attachment) in enumerate(means, 1):
            found["votes", f"parser {number}"] = float(votes)
            found["consensus", f"parser {number}"] = float(consensus)
            found["attachment", f"parser {number}"] = float(attachment)
    for number, spans in enumerate(known["spans"]):
        found["spanning", f"parser {number}" if number else "all"] = float(spans)
    return found
