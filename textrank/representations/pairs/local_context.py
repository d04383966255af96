"""The words next to each entity of a pair."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, get_args

import numpy as np

from textrank.docs import Candidate
from textrank.representations.pairs.analysis import Parse, check_among
from textrank.representations.pairs.entity_pair import EntityPair, entity_pairs, features_met
from textrank.representations.pairs.layout import FIRST, SECOND, Layout
from textrank.representations.pairs.occurrences import Occurrences
from textrank.types import Features, Indices
from textrank.types.ragged import firsts


@dataclass(frozen=True, kw_only=True)
class LocalContext:
    """Counts of stems and parts of speech within ``width`` tokens of each entity of a pair.

    Each is counted with its offset from the entity (-1 is the token before it) and without.

    Giuliano, Lavelli and Romano (2006), EACL.
    """

    width: int = 3
    parse: Parse = "auto"
    once: ClassVar[bool] = False

    def __post_init__(self) -> None:
        check_among("parse", [self.parse], get_args(Parse))
        if self.width < 1:
            raise ValueError(f"width must be at least 1, got {self.width}")

    def __call__(self, candidates: Sequence[Candidate]) -> Features:
        return self.of_pairs(entity_pairs(candidates, self.parse))

    def of_pairs(self, pairs: Sequence[EntityPair]) -> Features:
        """The features of pairs that are already analysed."""
        return features_met(self, pairs)

    def meet(self, own: Layout, found: Occurrences) -> None:
        """Adds what is met in pairs."""
        for entity, (owner, token) in zip((FIRST, SECOND), own.ends, strict=True):
            first = firsts(owner)
            last = np.append(first[1:], len(owner)) - 1
            ends = {-1: token[first], 1: token[last]} if len(owner) else {}
            for way, end in ends.items():
                for step in range(1, self.width + 1):
                    self._near(entity, way * step, end + way * step, own, found)

    def _near(self, entity: str, offset: int, at: Indices, own: Layout, found: Occurrences) -> None:
        """The words and tags at some offset from an entity of each pair, where it has any."""
        rows = ((at >= own.base) & (at < own.base + own.size)).nonzero()[0]
        word, tag, place = (own.lexicon(name) for name in ("word", "tag", str(offset)))
        for kind, value in ((word, own.words_at(rows, at[rows])), (tag, own.tag[at[rows]])):
            found.add(entity, rows, kind, place, value)
            found.add(entity, rows, kind, value)
