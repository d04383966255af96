"""The views of a pair that the best PPI pipeline compares, made in one go."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol, get_args

from textrank.candidates import Candidate
from textrank.kernels.algebra import Normalized
from textrank.kernels.all_paths import AllPathsGraph
from textrank.kernels.vectors import Linear
from textrank.representations.analysis import Parse, check_among
from textrank.representations.dependency_graph import DependencyGraph
from textrank.representations.entity_pair import EntityPair, entity_pairs
from textrank.representations.global_context import GlobalContext
from textrank.representations.local_context import LocalContext
from textrank.representations.pair_descriptors import PairDescriptors, Which
from textrank.representations.path_walks import PathWalks
from textrank.representations.side_words import SideWords
from textrank.representations.trigger_roles import TriggerRoles
from textrank.types import Features, Viewed


class Block(Protocol):
    """A representation of pairs that can take them analysed."""

    def of_pairs(self, pairs: Sequence[EntityPair]) -> Features:
        """The features of pairs, a row each."""


BLOCKS: Mapping[str, Block] = {
    "path": PathWalks(),
    "triggers": TriggerRoles(),
    "words": SideWords(),
    "global_context": GlobalContext(),
    "local_context": LocalContext(),
}


@dataclass(frozen=True, kw_only=True)
class PairViews:
    """Ten views of a pair of entities, each ``Features``, for ``CombinedViews``.

    ``dependencies`` and ``order`` are the label pairs of the all-paths kernel on the two parts of
    ``DependencyGraph``, with stems; ``path``, ``triggers``, ``words``, ``global_context``,
    ``local_context`` are ``PathWalks``, ``TriggerRoles``, ``SideWords``, ``GlobalContext`` and
    ``LocalContext``; ``basic``, ``position`` and ``relation`` are the three sizes of
    ``PairDescriptors``. The same as ``Views`` of them, but a sentence is analysed once, paths in
    graphs are followed once and not at each comparison, and all vectors but those of descriptors
    have length one (or none, where a pair has no feature).

    ``entity_counts`` and ``name_equality`` leave out the descriptors that exploit how corpora are
    annotated, see ``PairDescriptors``.
    """

    entity_counts: bool = True
    name_equality: bool = True
    parse: Parse = "collapsed"

    def __post_init__(self) -> None:
        check_among("parse", [self.parse], get_args(Parse))

    def __call__(self, candidates: Sequence[Candidate]) -> Viewed:
        pairs = entity_pairs(candidates, self.parse)
        vectors = {
            "dependencies": self._graphs("dependency", candidates),
            "order": self._graphs("linear", candidates),
            **{name: block.of_pairs(pairs) for name, block in BLOCKS.items()},
        }
        numbers = {which: self._descriptors(which).of_pairs(pairs) for which in get_args(Which)}
        return Viewed({**{name: unit(features) for name, features in vectors.items()}, **numbers})

    def _graphs(self, part: str, candidates: Sequence[Candidate]) -> Features:
        represent = DependencyGraph(words="stem", parts=[part], parse=self.parse)
        return AllPathsGraph().features(represent(candidates))

    def _descriptors(self, which: Which) -> PairDescriptors:
        return PairDescriptors(
            which=which, entity_counts=self.entity_counts, name_equality=self.name_equality
        )


def unit(features: Features) -> Features:
    """The features with every row of length one; an empty row stays empty."""
    return Normalized(Linear(), empty="zero").features(features)
