"""Representations of a pair by several views, all computed from one analysis of the sentence.

A *view* is a named set of features with a kernel of its own. ``PairViews`` has the views that the
best PPI pipeline combines; ``StatementViews`` has those of the models of status, type and
direction.
"""

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
from textrank.language.normalization import get_retokenized
from textrank.linalg import squared_norms
from textrank.tasks.ppi.blocks import (
    EventRoles,
    GlobalContext,
    LocalContext,
    PathWalks,
    SideWords,
    SignPatterns,
    TriggerRoles,
)
from textrank.tasks.ppi.descriptors import PairDescriptors
from textrank.tasks.ppi.graphs import PathGraphs
from textrank.tasks.ppi.pairs import FeatureBlock, PairBatch, analyze_pairs
from textrank.tasks.ppi.sentences import Parse, check_choice, has_two_parses
from textrank.tasks.ppi.statement_features import (
    EntityFacts,
    StatementCues,
    StatementRoles,
    pair_trees,
)

PARSE_BLOCKS: Mapping[str, FeatureBlock] = {"path": PathWalks(), "triggers": TriggerRoles()}
WORD_BLOCKS: Mapping[str, FeatureBlock] = {
    "words": SideWords(),
    "global_context": GlobalContext(),
    "local_context": LocalContext(),
}
BLOCKS: Mapping[str, FeatureBlock] = {**WORD_BLOCKS, **PARSE_BLOCKS}
EVENT_BLOCKS: Mapping[str, FeatureBlock] = {"events": EventRoles()}
ParseSelection: TypeAlias = Literal["auto", "given", "spacy", "collapsed", "own", "both", "all"]
PARSE_OF_NAME: Mapping[str, Parse] = {"given": "collapsed", "own": "own"}


@dataclass(frozen=True, kw_only=True)
class PairViews:
    """Nine views of a pair of entities, each ``Features``, for ``CombinedViews``.

    - ``dependencies``: the label pairs of the all-paths kernel on the dependency part of
      ``DependencyGraph``, with stems;
    - ``path``, ``triggers``, ``words``, ``global_context`` and ``local_context``: the blocks
      ``PathWalks``, ``TriggerRoles``, ``SideWords``, ``GlobalContext`` and ``LocalContext``;
    - ``basic``, ``position`` and ``relation``: the three sizes of ``PairDescriptors``.

    The result equals that of ``Views`` of these representations but is computed faster: a sentence
    is analysed once, and paths in graphs are followed once instead of at each comparison. All
    vectors but those of descriptors have length one (or zero, if a pair has no feature).

    Parameters
    ----------
    parse
        As for the blocks, or ``"both"``: views that depend on the parse are concatenated for the
        corpus' parse and for spaCy's parse of the same words, each divided by √2, so that
        similarity is the mean of the two (for Gaussians the geometric mean). ``"all"`` adds spaCy's
        parse of spaCy's own tokens (``language.normalization.get_retokenized``), and all views are
        means over the three. If a Doc has only one parse, as raw text has, it is used for all.
    entity_counts, name_equality
        Whether to use descriptors that exploit how corpora are annotated, see ``PairDescriptors``.
    averaged
        Whether to divide descriptors by the root of their number, so that a squared distance is a
        mean and the width of a Gaussian does not depend on how many descriptors there are.
    events
        Whether there is a tenth view, ``events``: ``EventRoles``, classes instead of words.
    """

    entity_counts: bool = True
    name_equality: bool = True
    parse: ParseSelection = "collapsed"
    averaged: bool = False
    events: bool = False

    def __post_init__(self) -> None:
        """Raise ValueError if ``parse`` is not one of its choices."""
        check_choice("parse", [self.parse], get_args(ParseSelection))

    def __call__(self, candidates: Sequence[Candidate]) -> MultiView:
        """Return the views of candidates, which must be pairs of entities, one row per candidate.

        With ``parse`` "both", each view that depends on the parse has the features of both parses
        side by side, divided by √2; with "all", every view has those of all three, divided by √3. A
        parse that a Doc lacks is replaced by the one it has. Raises ValueError if a candidate does
        not have two spans or its Doc lacks the parse.
        """
        if self.parse != "both" and self.parse != "all":
            return self.represent_batch(analyze_pairs(candidates, self.parse))
        pairs = analyze_pairs(candidates, PARSE_OF_NAME["given"])
        word_views = _extract_views(WORD_BLOCKS, pairs)
        parse_views = {"given": self._parse_views(pairs)}
        docs = {id(c.doc): c.doc for c in candidates}
        parse_views["own"] = parse_views["given"]
        if any(map(has_two_parses, docs.values())):
            parse_views["own"] = self._parse_views(analyze_pairs(candidates, PARSE_OF_NAME["own"]))
        if self.parse == "both":
            return MultiView({**word_views, **concatenate_parses(parse_views)})
        views_by_parse = {
            name: {**word_views, **parse_view} for name, parse_view in parse_views.items()
        }
        retokenized = _retokenized_candidates(candidates, docs)
        retokenized_views = views_by_parse["own"]
        if retokenized is not None:
            pairs = analyze_pairs(retokenized, PARSE_OF_NAME["own"])
            retokenized_views = {**_extract_views(WORD_BLOCKS, pairs), **self._parse_views(pairs)}
        return MultiView(concatenate_parses({**views_by_parse, "words": retokenized_views}))

    def represent_batch(self, pairs: PairBatch) -> MultiView:
        """Return the views of analysed pairs, for a ``parse`` other than "both" and "all".

        Rows of views with named features have length one (or zero); descriptors are not normalised.
        The pairs must have been analysed with ``self.parse``; this is not checked.
        """
        joint = pairs.joint_features(self.blocks).normalized
        return MultiView.from_joint(joint, tuple(self.blocks), self._numeric_views(pairs))

    @property
    def blocks(self) -> Mapping[str, FeatureBlock]:
        """Return the feature blocks of the views with named features, by name of the view."""
        return {**BLOCKS, **EVENT_BLOCKS} if self.events else BLOCKS

    def _parse_views(self, pairs: PairBatch) -> dict[str, Features]:
        """Return the views that depend on the parse by name, each (pairs, features).

        These are ``path``, ``triggers``, ``dependencies``, the three sizes of descriptors and, with
        the setting ``events``, ``events``.
        """
        blocks = {**PARSE_BLOCKS, **EVENT_BLOCKS} if self.events else PARSE_BLOCKS
        return {**_extract_views(blocks, pairs), **self._numeric_views(pairs)}

    def _numeric_views(self, pairs: PairBatch) -> dict[str, Features]:
        """Return the views with real values by name: ``dependencies`` and the sizes of descriptors.

        ``dependencies`` are label pairs of graphs; their rows have length one (or zero).
        Descriptors are not normalised.
        """
        graphs = PathGraphs(pairs.arrays).to_batch()
        return {
            "dependencies": normalize_rows(AllPathsGraph().features(graphs)),
            **self._descriptor_views(pairs),
        }

    def _descriptor_views(self, pairs: PairBatch) -> dict[str, Features]:
        """Return the three sizes of descriptors by name: ``basic``, ``position`` and ``relation``.

        If ``self.averaged``, each is divided by the square root of its number of descriptors.
        """
        views = self._descriptors.represent_all_sizes(pairs)
        if not self.averaged:
            return views
        return {
            name: features.scale(len(features.names) ** -0.5) for name, features in views.items()
        }

    @cached_property
    def _descriptors(self) -> PairDescriptors:
        """Return ``PairDescriptors`` of the largest size, with the settings of these views.

        Its ``parse`` has no effect, since it is only used for pairs that are already analysed.
        """
        return PairDescriptors(entity_counts=self.entity_counts, name_equality=self.name_equality)


def _extract_views(blocks: Mapping[str, FeatureBlock], pairs: PairBatch) -> dict[str, Features]:
    """Return the features of each block as a view with the block's name, one row per pair.

    Rows have length one, or zero if a pair has no feature of the block.
    """
    joint = pairs.extract_jointly(blocks).normalized
    return {name: joint.view(name) for name in blocks}


def _retokenized_candidates(
    candidates: Sequence[Candidate], docs: Mapping[int, Doc]
) -> list[Candidate] | None:
    """Return the candidates moved to the retokenised copies of their Docs; None without a copy.

    The result has the same number and order of candidates. Their spans are found in the copy by
    span id. A candidate whose Doc has no copy, or whose spans the copy lacks, is returned
    unchanged. ``docs`` maps ``id(doc)`` to the Doc of each candidate.
    """
    retokenized_docs = {
        key: copy for key, doc in docs.items() if (copy := get_retokenized(doc)) is not None
    }
    if not retokenized_docs:
        return None
    spans_by_id = {
        key: {span.id_: span for span in doc.spans["entities"] if span.id_}
        for key, doc in retokenized_docs.items()
    }
    moved_candidates = []
    for candidate in candidates:
        doc_spans = spans_by_id.get(id(candidate.doc), {})
        spans = tuple(doc_spans[span.id_] for span in candidate.spans if span.id_ in doc_spans)
        if len(spans) == len(candidate.spans):
            doc = retokenized_docs[id(candidate.doc)]
            moved_candidates.append(replace(candidate, doc=doc, spans=spans))
        else:
            moved_candidates.append(candidate)
    return moved_candidates


def concatenate_parses(views_by_parse: Mapping[str, Mapping[str, Features]]) -> dict[str, Features]:
    """Return each view with the features of all parses side by side.

    ``views_by_parse`` maps the name of a parse to its views by name, all for the same pairs; the
    result has the views of the first parse. Features are divided by the root of the number of
    parses, so that inner products are means; feature names begin with the name of the parse. With a
    single parse its views are returned as they are, with names and values unchanged. Raises
    ValueError without any parse, and KeyError if a later parse lacks a view of the first.
    """
    first, *others = views_by_parse.values()
    if not others:
        return dict(first)
    factor = len(views_by_parse) ** -0.5
    return {
        view: _repeat_features(first[view].scale(factor), list(views_by_parse))
        if all(views[view] is first[view] for views in others)
        else Features.hstack(
            {name: views[view].scale(factor) for name, views in views_by_parse.items()}
        )
        for view in first
    }


def _repeat_features(features: Features, prefixes: Sequence[str]) -> Features:
    """Return ``Features.hstack`` of the same features under each prefix, but faster.

    Shape (rows, prefixes * features): all features with the first prefix, then with the next. A
    prefix becomes the first part of a name. Values are not scaled.
    """
    matrix, names, n_copies = features.values, features.names, len(prefixes)
    row = np.repeat(np.arange(len(features)), np.diff(matrix.indptr))
    # Row i begins at n_copies * indptr[i].
    first_position = np.arange(matrix.nnz) + (n_copies - 1) * matrix.indptr[row]
    data = np.empty(n_copies * matrix.nnz)
    indices = np.empty(n_copies * matrix.nnz, dtype=matrix.indices.dtype)
    for copy in range(n_copies):
        position = first_position + copy * np.diff(matrix.indptr)[row]
        data[position], indices[position] = matrix.data, matrix.indices + copy * len(names)
    shape = len(features), n_copies * len(names)
    values = sp.csr_array((data, indices, n_copies * matrix.indptr), shape=shape)
    prefix_parts = np.repeat(np.arange(n_copies) + len(names.vocabulary), len(names))
    parts = np.column_stack([prefix_parts, np.vstack([names.parts] * n_copies)]).astype(np.int32)
    return Features(values, FeatureNames((*names.vocabulary, *prefixes), parts))


def normalize_rows(features: Features) -> Features:
    """Return new features with every row of Euclidean length one; rows of zeros stay zero."""
    norms = squared_norms(features.cells)
    norms[norms == 0] = 1.0
    return features.scale(1.0 / np.sqrt(norms))


STATEMENT_BLOCKS: Mapping[str, FeatureBlock] = {
    "cues": StatementCues(),
    "roles": StatementRoles(),
    "triggers": TriggerRoles(),
    "path": PathWalks(),
    "words": SideWords(),
    "signs": SignPatterns(),
}
STATEMENT_BLOCK_NAMES = (*STATEMENT_BLOCKS, "sides", "turned")


@dataclass(frozen=True, kw_only=True)
class StatementViews:
    """Two views of a question about a pair, ``question`` and ``pair``.

    A candidate asks one question, such as the type of an interaction, about a pair of entities.
    ``question`` is the candidate's label key, ``pair`` has named features. These are of the blocks
    ``StatementCues``, ``StatementRoles``, ``TriggerRoles``, ``PathWalks``, ``SideWords`` and
    ``SignPatterns`` (keys ``cues``, ``roles``, ``triggers``, ``path``, ``words``, ``signs``), and
    the sum and difference of ``EntityFacts`` (``sides`` and ``turned``). Each block has rows of
    length one, times its weight in ``weights``; a block with weight 0 or no weight is left out.
    Candidates that ask different questions about one pair share its features.
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
        """Copy ``weights``; raise ValueError if a key is not one of STATEMENT_BLOCK_NAMES."""
        object.__setattr__(self, "weights", dict(self.weights))
        if unknown := sorted(set(self.weights) - set(STATEMENT_BLOCK_NAMES)):
            raise ValueError(
                f"weights: {unknown[0]!r} is not a block; available: "
                f"{', '.join(STATEMENT_BLOCK_NAMES)}"
            )

    def __call__(self, candidates: Sequence[Candidate]) -> MultiView:
        """Return the views of candidates, one row each; each distinct pair is analysed once.

        Pairs are the same if they have the same spans, in the same order, of the same Doc object.
        Raises ValueError if a candidate does not have two spans or its Doc is not parsed.
        """
        pair_numbers: dict[tuple[object, ...], int] = {}
        rows = [pair_numbers.setdefault(_pair_key(c), len(pair_numbers)) for c in candidates]
        first_candidate = {
            number: candidate
            for number, candidate in zip(reversed(rows), reversed(candidates), strict=True)
        }
        pairs = [first_candidate[number] for number in range(len(pair_numbers))]
        features = self.represent_pairs(pairs).rows(np.array(rows, dtype=np.intp))
        return MultiView({"question": [c.label_key for c in candidates], "pair": features})

    def represent_pairs(self, candidates: Sequence[Candidate]) -> Features:
        """Return the features of each candidate's pair, one row each, whatever its question.

        The sentences are analysed with the parse "own". A pair that occurs several times is
        analysed several times; ``__call__`` avoids that.
        """
        return self.represent_batch(analyze_pairs(candidates, "own"))

    def represent_batch(self, pairs: PairBatch) -> Features:
        """Return the weighted features of pairs, (pairs, features).

        The pairs must have been analysed with the parse "own". Each block has rows of length one
        (or zero), times its weight; blocks of weight 0 are left out. The first part of a feature
        name is its block; blocks are in the order of ``weights``.
        """
        entity_facts = cache(lambda: EntityFacts.from_trees(pair_trees(pairs)))
        feature_makers: dict[str, Callable[[], Features]] = {
            **{name: partial(pairs.features_of, block) for name, block in STATEMENT_BLOCKS.items()},
            "sides": lambda: entity_facts().sum,
            "turned": lambda: entity_facts().difference,
        }
        return Features.hstack(
            {
                name: normalize_rows(feature_makers[name]()).scale(weight)
                for name, weight in self.weights.items()
                if weight
            }
        )


def _pair_key(candidate: Candidate) -> tuple[object, ...]:
    """Return a key that is equal for candidates with the same spans of the same Doc object.

    Spans are compared by start, end and id, in order. The key contains ``id(doc)``: it is valid
    only as long as the Doc exists.
    """
    return id(candidate.doc), *((s.start, s.end, s.id_) for s in candidate.spans)
