"""Runs of words around and between a pair of entities."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, get_args

import numpy as np
from numpy.typing import NDArray

from textrank.docs import Candidate
from textrank.representations.pairs.analysis import Parse, check_among
from textrank.representations.pairs.entity_pair import EntityPair, entity_pairs, features_met
from textrank.representations.pairs.layout import FIRST, OTHER, SECOND, Layout
from textrank.representations.pairs.occurrences import Occurrences
from textrank.types import Features, Indices


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
    once: ClassVar[bool] = False

    def __post_init__(self) -> None:
        check_among("parse", [self.parse], get_args(Parse))
        for name, least in (("longest", 1), ("outer", 0), ("inner", 0)):
            if getattr(self, name) < least:
                raise ValueError(f"{name} must be at least {least}, got {getattr(self, name)}")

    def __call__(self, candidates: Sequence[Candidate]) -> Features:
        return self.of_pairs(entity_pairs(candidates, self.parse))

    def of_pairs(self, pairs: Sequence[EntityPair]) -> Features:
        """The features of pairs that are already analysed."""
        return features_met(self, pairs)

    def meet(self, own: Layout, found: Occurrences) -> None:
        """Adds what is met in pairs."""
        windows = self._windows(own)
        for size in range(1, self.longest + 1):
            last = np.arange(size - 1, len(windows.word))
            start = last - size + 1
            whole = windows.owner[start] == windows.owner[last]
            open_, closed = windows.after[start], windows.before[last]
            inside = {"fore": closed, "between": open_ & closed, "after": open_}
            for name, mask in inside.items():
                some = start[mask & whole]
                runs = [windows.word[some + place] for place in range(size)]
                found.add(name, windows.owner[some], *runs)

    def _windows(self, own: Layout) -> Windows:
        """The words that count, pair after pair; those of the pair stand at its ends."""
        cell = (own.side >= 0).nonzero()[0]
        cell = cell[~_repeated(own, cell)]
        side, owner = own.side[cell], own.owner[cell]
        count = np.bincount(3 * owner + side, minlength=3 * len(own.pairs))
        rank = np.arange(len(cell)) - (np.cumsum(count) - count)[3 * owner + side]
        left = np.where(side == 0, count[3 * owner] - 1 - rank, rank)
        kept = (left < np.array([self.outer, self.inner, self.outer])[side]).nonzero()[0]
        every = np.arange(len(own.pairs))
        words = np.concatenate([own.seen[cell[kept]], *(_all(own, n) for n in (FIRST, SECOND))])
        pairs = np.concatenate([owner[kept], every, every])
        places = np.concatenate([2 * side[kept], np.full_like(every, 1), np.full_like(every, 3)])
        order = np.lexsort((places, pairs))  # stable: words of one side keep their order
        return Windows(words[order], pairs[order], places[order] >= 1, places[order] <= 3)


@dataclass(frozen=True, eq=False)
class Windows:
    """The words of all windows of all pairs."""

    word: Indices
    owner: Indices
    after: NDArray[np.bool_]  # whether a word stands at the first entity or after it
    before: NDArray[np.bool_]  # whether at the second or before it


def _all(own: Layout, name: str) -> Indices:
    return np.full(len(own.pairs), own.lexicon(name), dtype=np.intp)


def _repeated(own: Layout, cell: Indices) -> NDArray[np.bool_]:
    """Which cells go on with another name: a run of tokens of names counts as one word."""
    name = own.seen[cell] == own.lexicon(OTHER)
    found = np.zeros(len(cell), dtype=bool)
    same = (own.owner[cell[1:]] == own.owner[cell[:-1]]) & (
        own.side[cell[1:]] == own.side[cell[:-1]]
    )
    found[1:] = name[1:] & name[:-1] & same
    return found
