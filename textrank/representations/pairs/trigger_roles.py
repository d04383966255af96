"""Words that tell of interactions, with the role they play for a pair of entities."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import get_args

from textrank.docs import Candidate
from textrank.representations.pairs.analysis import Parse, check_among
from textrank.representations.pairs.entity_pair import (
    FIRST,
    OTHER,
    SECOND,
    Bag,
    EntityPair,
    Name,
    bags,
    entity_pairs,
    top_of,
)
from textrank.representations.pairs.trigger_words import NEGATIONS, TRIGGERS, group_of
from textrank.types import Features

SHORT = 4  # tokens between the entities that are worth remembering word for word


@dataclass(frozen=True, kw_only=True)
class TriggerRoles:
    """What links a pair at a glance, each present or absent, for a linear kernel.

    Trigger stems before, in the middle, after, anywhere and on the path; the top of the path with
    its part of speech and with the first and last dependency; verbs and words of the path; the
    path as coarse dependencies; a middle of up to four tokens as words and as parts of speech;
    the words before and after the pair; the order of entities (1, 2, X), triggers (k) and
    negations (n) as a pattern; lengths of path and middle in doubling bins.
    """

    parse: Parse = "auto"

    def __post_init__(self) -> None:
        check_among("parse", [self.parse], get_args(Parse))

    def __call__(self, candidates: Sequence[Candidate]) -> Features:
        return self.of_pairs(entity_pairs(candidates, self.parse))

    def of_pairs(self, pairs: Sequence[EntityPair]) -> Features:
        """The features of pairs that are already analysed."""
        return bags(map(_roles, pairs))


def _roles(pair: EntityPair) -> Bag:
    parts = (_triggers, _of_path, _of_middle, _around, _patterns, _lengths)
    return dict.fromkeys((name for part in parts for name in part(pair)), 1.0)


def _triggers(pair: EntityPair) -> Iterator[Name]:
    for side, tokens in (*pair.sides.items(), ("path", pair.path)):
        for token in tokens:
            if pair.words[token] in TRIGGERS:
                yield "trigger", side, pair.words[token]
                yield "trigger", "anywhere", pair.words[token]


def _of_path(pair: EntityPair) -> Iterator[Name]:
    if not pair.links:
        return
    top = top_of(pair)
    ends = pair.links[0].mark, pair.links[-1].mark
    yield "top", pair.words[top], pair.tags[top][:2]
    yield ("top between", pair.words[top], *ends)
    yield ("ends of path", *ends)
    for token in pair.path[1:-1]:
        yield "path word", pair.words[token]
        if pair.tags[token].startswith("VB"):
            yield "path verb", pair.words[token]
    coarse = [f"{group_of(link.type)}{'>' if link.down else '<'}" for link in pair.links]
    yield ("coarse path", *(kind for kind, _ in groupby(coarse)))


def _of_middle(pair: EntityPair) -> Iterator[Name]:
    middle = pair.sides["middle"]
    if len(middle) <= SHORT:
        yield ("middle", *(pair.words[token] for token in middle))
        yield ("middle tags", *(pair.tags[token] for token in middle))


def _around(pair: EntityPair) -> Iterator[Name]:
    before, after = pair.sides["before"], pair.sides["after"]
    yield "previous", pair.words[before[-1]] if before else "start"
    yield "next", pair.words[after[0]] if after else "end"


def _patterns(pair: EntityPair) -> Iterator[Name]:
    symbols = [_symbol(word) for word in pair.words]
    begin, end = min(pair.own), max(pair.own) + 1
    before, middle, after = (
        "".join(symbol for symbol, _ in groupby(filter(None, part)))
        for part in (symbols[:begin], symbols[begin:end], symbols[end:])
    )
    yield "pattern", middle
    yield "pattern around", f"{before[-1:]} {middle} {after[:1]}"


def _symbol(word: str) -> str:
    if word in TRIGGERS:
        return "k"
    return "n" if word in NEGATIONS else {FIRST: "1", SECOND: "2", OTHER: "X"}.get(word, "")


def _lengths(pair: EntityPair) -> Iterator[Name]:
    middle = pair.sides["middle"]
    triggers = sum(pair.words[token] in TRIGGERS for token in middle)
    yield "length of path", str(len(pair.links).bit_length()) if pair.path else "none"
    yield "length of middle", str(len(middle).bit_length())
    yield "triggers in middle", str(triggers.bit_length())
