"""The views of a pair that the best PPI pipeline compares, made in one go."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal, TypeAlias, get_args

import numpy as np
import scipy.sparse as sp

from textrank.docs import Candidate
from textrank.kernels.all_paths import AllPathsGraph
from textrank.linalg.gram import squares
from textrank.representations.pairs.analysis import Parse, check_among, parsed_twice
from textrank.representations.pairs.descriptors import PairDescriptors
from textrank.representations.pairs.entity_pair import Block, PairBatch, entity_pairs
from textrank.representations.pairs.global_context import GlobalContext
from textrank.representations.pairs.local_context import LocalContext
from textrank.representations.pairs.marked_graphs import MarkedGraphs
from textrank.representations.pairs.path_walks import PathWalks
from textrank.representations.pairs.side_words import SideWords
from textrank.representations.pairs.trigger_roles import TriggerRoles
from textrank.types import Features, Names, Viewed

PARSED: Mapping[str, Block] = {"path": PathWalks(), "triggers": TriggerRoles()}
WORDS: Mapping[str, Block] = {
    "words": SideWords(),
    "global_context": GlobalContext(),
    "local_context": LocalContext(),
}
Parses: TypeAlias = Literal["auto", "given", "spacy", "collapsed", "own", "both"]
BOTH: Mapping[str, Parse] = {"given": "collapsed", "own": "own"}


@dataclass(frozen=True, kw_only=True)
class PairViews:
    """Nine views of a pair of entities, each ``Features``, for ``CombinedViews``.

    ``dependencies`` are the label pairs of the all-paths kernel on the dependency part of
    ``DependencyGraph``, with stems; ``path``, ``triggers``, ``words``, ``global_context``,
    ``local_context`` are ``PathWalks``, ``TriggerRoles``, ``SideWords``, ``GlobalContext`` and
    ``LocalContext``; ``basic``, ``position`` and ``relation`` are the three sizes of
    ``PairDescriptors``. The same as ``Views`` of them, but a sentence is analysed once, paths in
    graphs are followed once and not at each comparison, and all vectors but those of descriptors
    have length one (or none, where a pair has no feature).

    ``parse`` is as for the blocks, or ``both``: what depends on the parse then stands side by side
    for the given parse and for spaCy's on the same words, each divided by √2, so that similarity is
    the mean of the two (for Gaussians the geometric mean). Of a Doc with only one of the parses,
    as raw text, that one stands for both.

    ``entity_counts`` and ``name_equality`` leave out the descriptors that exploit how corpora are
    annotated, see ``PairDescriptors``. With ``averaged`` descriptors are divided by the root of
    their number, so that a squared distance is a mean and the width of a Gaussian does not depend
    on how many are left in.
    """

    entity_counts: bool = True
    name_equality: bool = True
    parse: Parses = "collapsed"
    averaged: bool = False

    def __post_init__(self) -> None:
        check_among("parse", [self.parse], get_args(Parses))

    def __call__(self, candidates: Sequence[Candidate]) -> Viewed:
        ways: Mapping[str, Parse] = BOTH if self.parse == "both" else {self.parse: self.parse}
        first, *others = ways
        pairs = entity_pairs(candidates, ways[first])
        if not others:
            return self.of_batch(pairs)
        parsed = {first: self._parsed(pairs)}
        for name in others:
            if any(map(parsed_twice, {id(c.doc): c.doc for c in candidates}.values())):
                pairs = entity_pairs(candidates, ways[name])
                parsed[name] = self._parsed(pairs)
            else:
                parsed[name] = parsed[first]
        return Viewed({**_worded(pairs), **beside(parsed)})

    def of_batch(self, pairs: PairBatch) -> Viewed:
        """The views of pairs that are already analysed, by one parse."""
        return Viewed({**_worded(pairs), **self._parsed(pairs)})

    def _parsed(self, pairs: PairBatch) -> dict[str, Features]:
        """The views that depend on the parse."""
        graphs = MarkedGraphs(pairs.layout).batch()
        return {
            "dependencies": unit(AllPathsGraph().features(graphs)),
            **{name: unit(pairs.seen_by(block)) for name, block in PARSED.items()},
            **self._described(pairs),
        }

    def _described(self, pairs: PairBatch) -> dict[str, Features]:
        found = self._descriptors.sizes(pairs)
        if not self.averaged:
            return found
        return {name: own.scaled(len(own.names) ** -0.5) for name, own in found.items()}

    @cached_property
    def _descriptors(self) -> PairDescriptors:
        return PairDescriptors(entity_counts=self.entity_counts, name_equality=self.name_equality)


def _worded(pairs: PairBatch) -> dict[str, Features]:
    """The views that do not depend on the parse."""
    return {name: unit(pairs.seen_by(block)) for name, block in WORDS.items()}


def beside(parses: Mapping[str, Mapping[str, Features]]) -> dict[str, Features]:
    """Each view of several parses side by side, scaled so that products become their mean."""
    first, *others = parses.values()
    if not others:
        return dict(first)
    share = len(parses) ** -0.5
    return {
        view: _twice(first[view].scaled(share), list(parses))
        if all(own[view] is first[view] for own in others)
        else Features.beside({name: own[view].scaled(share) for name, own in parses.items()})
        for view in first
    }


def _twice(features: Features, prefixes: Sequence[str]) -> Features:
    """The same as ``Features.beside`` of the features under each of two prefixes, but quicker."""
    F, names = features.values, features.names
    row = np.repeat(np.arange(len(features)), np.diff(F.indptr))
    at = np.arange(F.nnz) + F.indptr[row]  # a row begins at twice its old place
    after = at + np.diff(F.indptr)[row]
    data, indices = np.empty(2 * F.nnz), np.empty(2 * F.nnz, dtype=F.indices.dtype)
    data[at] = data[after] = F.data
    indices[at], indices[after] = F.indices, F.indices + len(names)
    values = sp.csr_array((data, indices, 2 * F.indptr), shape=(len(features), 2 * len(names)))
    first = np.repeat(np.arange(2) + len(names.vocabulary), len(names))
    parts = np.column_stack([first, np.vstack([names.parts, names.parts])]).astype(np.int32)
    return Features(values, Names((*names.vocabulary, *prefixes), parts))


def unit(features: Features) -> Features:
    """The features with every row of length one; an empty row stays empty."""
    squared = squares(features.values)
    with np.errstate(divide="ignore"):
        return features.scaled(np.where(squared > 0, 1.0 / np.sqrt(squared), 0.0))
