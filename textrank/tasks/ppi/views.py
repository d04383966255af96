"""The views of a pair that the best PPI pipeline compares, made in one go."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, cached_property, partial
from typing import Literal, TypeAlias, get_args

import numpy as np
import scipy.sparse as sp
from spacy.tokens import Doc

from textrank.candidates import Candidate
from textrank.features import FeatureNames, Features, MultiView
from textrank.kernels.graphs import AllPathsGraph
from textrank.language.alignment import get_retokenized
from textrank.linalg import squared_norms
from textrank.tasks.ppi._trees import pair_trees
from textrank.tasks.ppi.blocks import (
    GlobalContext,
    LocalContext,
    PathWalks,
    SideWords,
    TriggerRoles,
)
from textrank.tasks.ppi.descriptors import PairDescriptors
from textrank.tasks.ppi.graphs import PathGraphs
from textrank.tasks.ppi.pairs import FeatureBlock, PairBatch, analyze_pairs
from textrank.tasks.ppi.sentences import Parse, check_choice, has_two_parses
from textrank.tasks.ppi.statement_features import EntityFacts, StatementCues, StatementRoles

PARSE_BLOCKS: Mapping[str, FeatureBlock] = {"path": PathWalks(), "triggers": TriggerRoles()}
WORD_BLOCKS: Mapping[str, FeatureBlock] = {
    "words": SideWords(),
    "global_context": GlobalContext(),
    "local_context": LocalContext(),
}
BLOCKS: Mapping[str, FeatureBlock] = {**WORD_BLOCKS, **PARSE_BLOCKS}
ParseSelection: TypeAlias = Literal["auto", "given", "spacy", "collapsed", "own", "both", "all"]
PARSE_OF_NAME: Mapping[str, Parse] = {"given": "collapsed", "own": "own"}


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
    the mean of the two (for Gaussians the geometric mean). ``all`` has a third: our parse of our
    own words (``text.second_reading``), and all views are means over the three. Of a Doc with only
    one of the parses, as raw text, that one stands for all.

    ``entity_counts`` and ``name_equality`` leave out the descriptors that exploit how corpora are
    annotated, see ``PairDescriptors``. With ``averaged`` descriptors are divided by the root of
    their number, so that a squared distance is a mean and the width of a Gaussian does not depend
    on how many are left in.
    """

    entity_counts: bool = True
    name_equality: bool = True
    parse: ParseSelection = "collapsed"
    averaged: bool = False

    def __post_init__(self) -> None:
        check_choice("parse", [self.parse], get_args(ParseSelection))

    def __call__(self, candidates: Sequence[Candidate]) -> MultiView:
        if self.parse != "both" and self.parse != "all":
            return self.represent_batch(analyze_pairs(candidates, self.parse))
        pairs = analyze_pairs(candidates, PARSE_OF_NAME["given"])
        worded, parsed = _extract_views(WORD_BLOCKS, pairs), {"given": self._parse_views(pairs)}
        docs = {id(c.doc): c.doc for c in candidates}
        parsed["own"] = parsed["given"]
        if any(map(has_two_parses, docs.values())):
            parsed["own"] = self._parse_views(analyze_pairs(candidates, PARSE_OF_NAME["own"]))
        if self.parse == "both":
            return MultiView({**worded, **concatenate_parses(parsed)})
        whole = {name: {**worded, **own} for name, own in parsed.items()}
        again = _retokenized_candidates(candidates, docs)
        third = whole["own"]
        if again is not None:
            pairs = analyze_pairs(again, PARSE_OF_NAME["own"])
            third = {**_extract_views(WORD_BLOCKS, pairs), **self._parse_views(pairs)}
        return MultiView(concatenate_parses({**whole, "words": third}))

    def represent_batch(self, pairs: PairBatch) -> MultiView:
        """The views of pairs that are already analysed, by one parse."""
        return MultiView.from_joint(
            pairs.joint_features(BLOCKS).normalized, tuple(BLOCKS), self._numeric_views(pairs)
        )

    def _parse_views(self, pairs: PairBatch) -> dict[str, Features]:
        """The views that depend on the parse."""
        return {**_extract_views(PARSE_BLOCKS, pairs), **self._numeric_views(pairs)}

    def _numeric_views(self, pairs: PairBatch) -> dict[str, Features]:
        """Those of them that are numbers: of walks in graphs, and descriptors."""
        graphs = PathGraphs(pairs.arrays).to_batch()
        return {
            "dependencies": normalize_rows(AllPathsGraph().features(graphs)),
            **self._descriptor_views(pairs),
        }

    def _descriptor_views(self, pairs: PairBatch) -> dict[str, Features]:
        found = self._descriptors.represent_all_sizes(pairs)
        if not self.averaged:
            return found
        return {name: own.scale(len(own.names) ** -0.5) for name, own in found.items()}

    @cached_property
    def _descriptors(self) -> PairDescriptors:
        return PairDescriptors(entity_counts=self.entity_counts, name_equality=self.name_equality)


def _extract_views(blocks: Mapping[str, FeatureBlock], pairs: PairBatch) -> dict[str, Features]:
    """Views of what is met in pairs."""
    found = pairs.extract_jointly(blocks).normalized
    return {name: found.view(name) for name in blocks}


def _retokenized_candidates(
    candidates: Sequence[Candidate], docs: Mapping[int, Doc]
) -> list[Candidate] | None:
    """The candidates in the second readings of their Docs; None where no Doc has any.

    One whose names are not known there, by their ids, stays where it is.
    """
    own = {key: again for key, doc in docs.items() if (again := get_retokenized(doc)) is not None}
    if not own:
        return None
    names = {
        key: {span.id_: span for span in doc.spans["entities"] if span.id_}
        for key, doc in own.items()
    }
    found = []
    for candidate in candidates:
        known = names.get(id(candidate.doc), {})
        spans = tuple(known[span.id_] for span in candidate.spans if span.id_ in known)
        moved = len(spans) == len(candidate.spans)
        here = replace(candidate, doc=own[id(candidate.doc)], spans=spans) if moved else candidate
        found.append(here)
    return found


def concatenate_parses(parses: Mapping[str, Mapping[str, Features]]) -> dict[str, Features]:
    """Each view of several parses side by side, scaled so that products become their mean."""
    first, *others = parses.values()
    if not others:
        return dict(first)
    share = len(parses) ** -0.5
    return {
        view: _repeat_features(first[view].scale(share), list(parses))
        if all(own[view] is first[view] for own in others)
        else Features.hstack({name: own[view].scale(share) for name, own in parses.items()})
        for view in first
    }


def _repeat_features(features: Features, prefixes: Sequence[str]) -> Features:
    """The same as ``Features.hstack`` of the features under each prefix, but quicker."""
    F, names, times = features.values, features.names, len(prefixes)
    row = np.repeat(np.arange(len(features)), np.diff(F.indptr))
    first = np.arange(F.nnz) + (times - 1) * F.indptr[row]  # a row begins at a multiple
    data = np.empty(times * F.nnz)
    indices = np.empty(times * F.nnz, dtype=F.indices.dtype)
    for copy in range(times):
        at = first + copy * np.diff(F.indptr)[row]
        data[at], indices[at] = F.data, F.indices + copy * len(names)
    shape = len(features), times * len(names)
    values = sp.csr_array((data, indices, times * F.indptr), shape=shape)
    under = np.repeat(np.arange(times) + len(names.vocabulary), len(names))
    parts = np.column_stack([under, np.vstack([names.parts] * times)]).astype(np.int32)
    return Features(values, FeatureNames((*names.vocabulary, *prefixes), parts))


def normalize_rows(features: Features) -> Features:
    """The features with every row of length one; an empty row stays empty."""
    squared = squared_norms(features.cells)
    squared[squared == 0] = 1.0
    return features.scale(1.0 / np.sqrt(squared))


STATEMENT_BLOCKS: Mapping[str, FeatureBlock] = {
    "cues": StatementCues(),
    "roles": StatementRoles(),
    "triggers": TriggerRoles(),
    "path": PathWalks(),
    "words": SideWords(),
}
STATEMENT_BLOCK_NAMES = (*STATEMENT_BLOCKS, "sides", "turned")


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
        if unknown := sorted(set(self.weights) - set(STATEMENT_BLOCK_NAMES)):
            raise ValueError(
                f"no block {unknown[0]!r}; there are {', '.join(STATEMENT_BLOCK_NAMES)}"
            )

    def __call__(self, candidates: Sequence[Candidate]) -> MultiView:
        numbers: dict[tuple[object, ...], int] = {}
        rows = [numbers.setdefault(_pair_key(c), len(numbers)) for c in candidates]
        first = {
            number: candidate
            for number, candidate in zip(reversed(rows), reversed(candidates), strict=True)
        }
        pairs = [first[number] for number in range(len(numbers))]
        features = self.represent_pairs(pairs).rows(np.array(rows, dtype=np.intp))
        return MultiView({"question": [c.label_key for c in candidates], "pair": features})

    def represent_pairs(self, candidates: Sequence[Candidate]) -> Features:
        """The features of each pair, whatever is asked."""
        return self.represent_batch(analyze_pairs(candidates, "own"))

    def represent_batch(self, pairs: PairBatch) -> Features:
        """The features of pairs that are already analysed."""
        sides = cache(lambda: EntityFacts.from_trees(pair_trees(pairs)))
        made: dict[str, Callable[[], Features]] = {
            **{name: partial(pairs.features_of, block) for name, block in STATEMENT_BLOCKS.items()},
            "sides": lambda: sides().sum,
            "turned": lambda: sides().difference,
        }
        return Features.hstack(
            {name: normalize_rows(made[name]()).scale(w) for name, w in self.weights.items() if w}
        )


def _pair_key(candidate: Candidate) -> tuple[object, ...]:
    return id(candidate.doc), *((s.start, s.end, s.id_) for s in candidate.spans)
