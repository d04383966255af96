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
from textrank.types import Features
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
        steps = np.arange(1, self.width + 1)
        offset = np.concatenate([-steps[::-1], steps])
        word, tag, *places = own.lexicon.all(["word", "tag", *map(str, offset.tolist())])
        for entity, (owner, token) in zip((FIRST, SECOND), own.ends, strict=True):
            first = firsts(owner)
            last = np.append(first[1:], len(owner))[: len(first)] - 1
            beside = np.where(offset < 0, token[first, None], token[last, None]) + offset
            low, high = own.base[:, None], (own.base + own.size)[:, None]
            rows, column = ((beside >= low) & (beside < high)).nonzero()
            place, at = np.array(places)[column], beside[rows, column]
            for kind, value in ((word, own.words_at(rows, at)), (tag, own.tag[at])):
                found.add(entity, rows, kind, place, value)
                found.add(entity, rows, kind, value)
