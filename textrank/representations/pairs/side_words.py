"""The words before a pair of entities, between them and after them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import get_args

import numpy as np

from textrank.docs import Candidate
from textrank.representations.pairs.analysis import Parse, check_among
from textrank.representations.pairs.entity_pair import EntityPair, entity_pairs, layout_of
from textrank.representations.pairs.layout import SIDES
from textrank.representations.pairs.occurrences import Occurrences
from textrank.types import Features


@dataclass(frozen=True, kw_only=True)
class SideWords:
    """Counts of stems before, in the middle of and after a pair, for a linear kernel.

    The pair itself is left out, other entities count as ``PROT``.
    """

    parse: Parse = "auto"

    def __post_init__(self) -> None:
        check_among("parse", [self.parse], get_args(Parse))

    def __call__(self, candidates: Sequence[Candidate]) -> Features:
        return self.of_pairs(entity_pairs(candidates, self.parse))

    def of_pairs(self, pairs: Sequence[EntityPair]) -> Features:
        """The features of pairs that are already analysed."""
        own = layout_of(pairs)
        found = Occurrences(own.lexicon)
        for number, side in enumerate(SIDES):
            some = np.flatnonzero(own.side == number)
            found.add(side, own.owner[some], own.seen[some])
        return found.features(len(pairs))
