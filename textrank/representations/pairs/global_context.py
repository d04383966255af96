"""Runs of words around and between a pair of entities."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
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
    bags,
    entity_pairs,
    ngrams,
)
from textrank.types import Features


@dataclass(frozen=True, kw_only=True)
class GlobalContext:
    """Counts of runs of one to ``longest`` stems in three windows, for a linear kernel.

    The windows are *fore* (up to ``outer`` words before the pair, the pair and its middle),
    *between* (the pair and its middle) and *after* (the same with up to ``outer`` words behind).
    Of a long middle the first ``inner`` words count. An entity is one word, however many tokens.

    Giuliano, Lavelli and Romano (2006), EACL.
    """

    longest: int = 3
    outer: int = 6
    inner: int = 15
    parse: Parse = "auto"

    def __post_init__(self) -> None:
        check_among("parse", [self.parse], get_args(Parse))
        for name, least in (("longest", 1), ("outer", 0), ("inner", 0)):
            if getattr(self, name) < least:
                raise ValueError(f"{name} must be at least {least}, got {getattr(self, name)}")

    def __call__(self, candidates: Sequence[Candidate]) -> Features:
        return self.of_pairs(entity_pairs(candidates, self.parse))

    def of_pairs(self, pairs: Sequence[EntityPair]) -> Features:
        """The features of pairs that are already analysed."""
        return bags(map(self._runs, pairs))

    def _runs(self, pair: EntityPair) -> Bag:
        before, middle, after = (
            _collapsed([pair.words[token] for token in tokens]) for tokens in pair.sides.values()
        )
        between = [FIRST, *middle[: self.inner], SECOND]
        windows = {
            "fore": before[len(before) - min(self.outer, len(before)) :] + between,
            "between": between,
            "after": between + after[: self.outer],
        }
        sizes = range(1, self.longest + 1)
        return Counter(
            (name, *run) for name, words in windows.items() for run in ngrams(words, sizes)
        )


def _collapsed(words: Sequence[str]) -> list[str]:
    """The words with every run of tokens of entities as one."""
    runs = ((word, list(run)) for word, run in groupby(words))
    return [w for word, run in runs for w in (run[:1] if word == OTHER else run)]
