"""The words before a pair of entities, between them and after them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, get_args

from textrank.docs import Candidate
from textrank.representations.pairs.analysis import Parse, check_among
from textrank.representations.pairs.entity_pair import EntityPair, entity_pairs, features_met
from textrank.representations.pairs.layout import SIDES, Layout
from textrank.representations.pairs.occurrences import Occurrences
from textrank.types import Features


@dataclass(frozen=True, kw_only=True)
class SideWords:
    """Counts of stems before, in the middle of and after a pair, for a linear kernel.

    The pair itself is left out, other entities count as ``PROT``.
    """

    parse: Parse = "auto"
    once: ClassVar[bool] = False

    def __post_init__(self) -> None:
        check_among("parse", [self.parse], get_args(Parse))

    def __call__(self, candidates: Sequence[Candidate]) -> Features:
        return self.of_pairs(entity_pairs(candidates, self.parse))

    def of_pairs(self, pairs: Sequence[EntityPair]) -> Features:
        """The features of pairs that are already analysed."""
        return features_met(self, pairs)

    def meet(self, own: Layout, found: Occurrences) -> None:
        """Adds what is met in pairs."""
        for number, side in enumerate(SIDES):
            some = (own.side == number).nonzero()[0]
            found.add(side, own.owner[some], own.seen[some])
