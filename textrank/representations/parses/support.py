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
        known = [known_parse(candidate) for candidate in candidates]
        alike: dict[tuple[int, ...], list[int]] = {}  # parses of as many words and parsers
        for i, own in enumerate(known):
            alike.setdefault(np.shape(own["arcs"]), []).append(i)
        bags: dict[int, Bag] = {}
        for members in alike.values():
            some = [known[i] for i in members]
            bags.update(zip(members, map(_support, some, _means(some)), strict=True))
        return Features.of(bags[i] for i in range(len(known)))


def known_parse(candidate: Candidate) -> Mapping[str, Any]:
    """What is known of a parse beside its tree."""
    known = candidate.doc.user_data.get("parse")
    if known is None:
        raise ValueError(
            f"a candidate of document {candidate.document!r} is not one of several parses. "
            "Use this representation with the task that ranks parses."
        )
    return dict(known)


def _means(known: Sequence[Mapping[str, Any]]) -> list[tuple[float, list[float], list[float]]]:
    """Of each parse of some with as many words: doubt, consensus and attachment of each parser."""
    arcs, heads = (np.array([own[name] for own in known]) for name in ("arcs", "heads"))
    if not arcs.size:
        return [(0.0, [], [])] * len(known)
    doubt = np.log(np.maximum(arcs.mean(axis=2), LEAST)).mean(axis=1)  # (parses, words, parsers)
    each = (np.ascontiguousarray(t.transpose(0, 2, 1)).mean(axis=2).tolist() for t in (arcs, heads))
    return list(zip(doubt.tolist(), *each, strict=True))


def _support(
    known: Mapping[str, Any], means: tuple[float, Sequence[float], Sequence[float]]
) -> Bag:
    found: dict[tuple[str, ...], float] = {(name,): float(known[name]) for name in SUPPORT}
    doubt, *each = means
    if len(each[0]):
        found["doubt",] = doubt
        for number, own in enumerate(zip(known["by"], *each, strict=True), 1):
            votes, consensus, attachment = own
            found["votes", f"parser {number}"] = float(votes)
            found["consensus", f"parser {number}"] = consensus
            found["attachment", f"parser {number}"] = attachment
    for number, spans in enumerate(known["spans"]):
        found["spanning", f"parser {number}" if number else "all"] = float(spans)
    return found
