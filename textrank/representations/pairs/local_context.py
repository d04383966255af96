"""The words next to each entity of a pair."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import get_args

from textrank.docs import Candidate
from textrank.representations.pairs.analysis import Parse, check_among
from textrank.representations.pairs.entity_pair import (
    FIRST,
    SECOND,
    Bag,
    EntityPair,
    Name,
    bags,
    entity_pairs,
)
from textrank.types import Features


@dataclass(frozen=True, kw_only=True)
class LocalContext:
    """Counts of stems and parts of speech within ``width`` tokens of each entity of a pair.

    Each is counted with its offset from the entity (-1 is the token before it) and without.

    Giuliano, Lavelli and Romano (2006), EACL.
    """

    width: int = 3
    parse: Parse = "auto"

    def __post_init__(self) -> None:
        check_among("parse", [self.parse], get_args(Parse))
        if self.width < 1:
            raise ValueError(f"width must be at least 1, got {self.width}")

    def __call__(self, candidates: Sequence[Candidate]) -> Features:
        return self.of_pairs(entity_pairs(candidates, self.parse))

    def of_pairs(self, pairs: Sequence[EntityPair]) -> Features:
        """The features of pairs that are already analysed."""
        return bags(map(self._neighbours, pairs))

    def _neighbours(self, pair: EntityPair) -> Bag:
        names: Iterator[Name] = (
            name
            for entity, tokens in ((FIRST, pair.first), (SECOND, pair.second))
            for offset, token in self._offsets(tokens, len(pair))
            for kind, value in (("word", pair.words[token]), ("tag", pair.tags[token]))
            for name in ((entity, kind, str(offset), value), (entity, kind, value))
        )
        return Counter(names)

    def _offsets(self, tokens: Sequence[int], length: int) -> Iterator[tuple[int, int]]:
        for step in range(1, self.width + 1):
            if tokens[0] - step >= 0:
                yield -step, tokens[0] - step
            if tokens[-1] + step < length:
                yield step, tokens[-1] + step
