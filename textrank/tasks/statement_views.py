"""What models of statements see of a pair, made once however many questions are asked about it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, partial

import numpy as np

from textrank.docs import Candidate
from textrank.representations.pairs.entity_pair import Met, PairBatch, entity_pairs
from textrank.representations.pairs.path_walks import PathWalks
from textrank.representations.pairs.side_words import SideWords
from textrank.representations.pairs.statement_cues import StatementCues
from textrank.representations.pairs.statement_roles import StatementRoles
from textrank.representations.pairs.statement_sides import Sides
from textrank.representations.pairs.telling import tellings
from textrank.representations.pairs.trigger_roles import TriggerRoles
from textrank.tasks.pair_views import unit
from textrank.types import Features, Viewed

MET: Mapping[str, Met] = {
    "cues": StatementCues(),
    "roles": StatementRoles(),
    "triggers": TriggerRoles(),
    "path": PathWalks(),
    "words": SideWords(),
}
BLOCKS = (*MET, "sides", "turned")


@dataclass(frozen=True, kw_only=True)
class StatementViews:
    """Two views: ``question``, what is asked, and ``pair``, named features of the pair.

    The features are ``StatementCues``, ``StatementRoles``, ``TriggerRoles``, ``PathWalks``,
    ``SideWords`` and both of ``Sides``, a block each of length one, times its weight; a block
    without weight is left out. Candidates that ask different things about one pair share its
    features.
    """

    weights: Mapping[str, float] = field(
        default_factory=lambda: {
            "cues": 1.0,
            "roles": 1.0,
            "triggers": 1.0,
            "path": 1.0,
            "words": 0.5,
        }
    )

    def __post_init__(self) -> None:
        object.__setattr__(self, "weights", dict(self.weights))
        if unknown := sorted(set(self.weights) - set(BLOCKS)):
            raise ValueError(f"no block {unknown[0]!r}; there are {', '.join(BLOCKS)}")

    def __call__(self, candidates: Sequence[Candidate]) -> Viewed:
        numbers: dict[tuple[object, ...], int] = {}
        rows = [numbers.setdefault(_key(c), len(numbers)) for c in candidates]
        first = {
            number: candidate
            for number, candidate in zip(reversed(rows), reversed(candidates), strict=True)
        }
        pairs = [first[number] for number in range(len(numbers))]
        features = self.of_pairs(pairs).rows(np.array(rows, dtype=np.intp))
        return Viewed({"question": [c.asked for c in candidates], "pair": features})

    def of_pairs(self, candidates: Sequence[Candidate]) -> Features:
        """The features of each pair, whatever is asked."""
        return self.features(entity_pairs(candidates, "own"))

    def features(self, pairs: PairBatch) -> Features:
        """The features of pairs that are already analysed."""
        sides = cache(lambda: Sides.of(tellings(pairs)))
        made: dict[str, Callable[[], Features]] = {
            **{name: partial(pairs.seen_by, block) for name, block in MET.items()},
            "sides": lambda: sides().same,
            "turned": lambda: sides().turned,
        }
        return Features.beside(
            {name: unit(made[name]()).scaled(w) for name, w in self.weights.items() if w}
        )


def _key(candidate: Candidate) -> tuple[object, ...]:
    return id(candidate.doc), *((s.start, s.end, s.id_) for s in candidate.spans)
