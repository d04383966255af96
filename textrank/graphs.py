"""Labelled graphs, contexts and sequences, in batches that kernels process as arrays.

``LabelledGraph`` is one graph; ``GraphBatch`` holds many, in families of graphs with the same
vertices and edges. ``Contexts`` are word-position matrices and ``Sequences`` symbol sequences. All
batches are sequences of their elements, have ``rows`` and are saved by ``to_arrays`` and
``from_arrays``. ``PositionTransformation`` and ``WordTransformation`` are the interfaces of
similarities of positions and words, ``LearnedTransformation`` that of similarities which training
learns; ``pivoted_cholesky`` factorises a similarity matrix.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol, TypeVar, overload, runtime_checkable

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from textrank.features import (
    Arrays,
    FeatureNames,
    Features,
    Indices,
    Matrix,
    SparseMatrix,
    pack_words,
    unpack_words,
)

T = TypeVar("T", bound=np.generic)
DAMAGED_MESSAGE = (
    "damaged graphs: their arrays do not match. Train the model again or restore the file."
)


@dataclass(frozen=True)
class LabelledGraph:
    """Directed graph with weighted edges and any number of labels on each vertex.

    Vertices are numbered from 0; ``labels`` has one or several labels for each, stored sorted and
    without duplicates. Edges are ``{(source, target): weight}`` with finite, non-negative weights.

    >>> LabelledGraph(["a", ("b", "noun")], {(0, 1): 0.5}).labels
    (('a',), ('b', 'noun'))
    """

    labels: Sequence[Sequence[str]]
    edges: Mapping[tuple[int, int], float]

    def __post_init__(self) -> None:
        """Normalise labels and edges; raise ValueError for an edge outside or a bad weight.

        Labels become tuples, sorted and distinct; a vertex with a string has that one label. Edge
        ends become int, weights float, which must be finite and not negative.
        """
        label_sets = [
            (labels,) if isinstance(labels, str) else sorted(set(labels)) for labels in self.labels
        ]
        object.__setattr__(self, "labels", tuple(tuple(labels) for labels in label_sets))
        edges = {(int(s), int(t)): float(weight) for (s, t), weight in self.edges.items()}
        object.__setattr__(self, "edges", edges)
        for edge, weight in edges.items():
            if not all(0 <= end < len(self.labels) for end in edge):
                raise ValueError(
                    f"edge {edge} is outside the graph of {len(self.labels)} vertices; "
                    "vertices are numbered from 0."
                )
            if not (math.isfinite(weight) and weight >= 0):
                raise ValueError(f"edge {edge} has weight {weight}; use a finite number >= 0.")

    def __len__(self) -> int:
        """Return the number of vertices."""
        return len(self.labels)


@dataclass(frozen=True, eq=False)
class GraphFamily:
    """Graphs over the same vertices and edges, which differ in weights and labels only.

    All candidates of a sentence share its words and dependencies, so that what depends on these is
    stored, and can be computed, once. There are g graphs (rows) of v vertices and e edges, with at
    most k labels per vertex.
    """

    members: Indices  # (g,) index in the batch of the graph that each row is, or is a part of
    edges: Indices  # (e, 2) source and target, each pair at most once
    weights: Matrix  # (g, e), or (1, e) if all graphs have the same
    labels: NDArray[np.int32]  # (g, v, k) indices into the vocabulary of the batch, -1 for none

    def take(self, rows: Indices | slice, members: Indices) -> GraphFamily:
        """Return some rows, in the given order, as a family whose ``members`` are the given ones.

        ``members`` are the new indices in the batch, one per row taken.
        """
        weights = self.weights if len(self.weights) == 1 else self.weights[rows]
        return GraphFamily(members, self.edges, weights, self.labels[rows])

    def rows(self, rows: slice) -> GraphFamily:
        """Return a slice of the graphs; their indices in the batch stay.

        Arrays are views, not copies; weights that all graphs share stay one row.
        """
        return self.take(rows, self.members[rows])


@dataclass(frozen=True, eq=False)
class GraphBatch(Sequence[LabelledGraph]):
    """Many labelled graphs as a few arrays.

    Graph ``i`` of ``size`` graphs is the disjoint union of the rows that have ``i`` among their
    family's ``members``. The parts of one graph never share a label, so no label pair is in two of
    them.

    >>> chain = LabelledGraph(["a", "b", "c"], {(0, 1): 0.5, (1, 2): 0.5})
    >>> GraphBatch.from_graphs([chain, chain])[1] == chain
    True
    """

    vocabulary: tuple[str, ...]
    families: tuple[GraphFamily, ...]
    size: int

    @classmethod
    def from_graphs(cls, graphs: Sequence[LabelledGraph]) -> GraphBatch:
        """Build a batch with one family per graph, in order; a batch is returned as it is.

        The vocabulary is in order of first occurrence.
        """
        if isinstance(graphs, GraphBatch):
            return graphs
        words: dict[str, int] = {}
        families = [_make_family(graph, i, words) for i, graph in enumerate(graphs)]
        return cls(tuple(words), tuple(families), len(families))

    def __len__(self) -> int:
        """Return the number of graphs."""
        return self.size

    @overload
    def __getitem__(self, index: int) -> LabelledGraph: ...
    @overload
    def __getitem__(self, index: slice) -> GraphBatch: ...
    def __getitem__(self, index: int | slice) -> LabelledGraph | GraphBatch:
        """Return one graph as a LabelledGraph, or a slice as a GraphBatch.

        Negative indices count from the end; raises IndexError if there is no such graph. Searches
        all families: iterate to get all graphs.
        """
        if isinstance(index, slice):
            return self.rows(index)
        member = range(self.size)[index]
        parts = [(family, np.flatnonzero(family.members == member)) for family in self.families]
        return self._graph([(family, int(row)) for family, rows in parts for row in rows])

    def __iter__(self) -> Iterator[LabelledGraph]:
        """Yield each graph as a LabelledGraph, in order; its parts in families are joined.

        A graph without parts is empty.
        """
        parts: list[list[tuple[GraphFamily, int]]] = [[] for _ in range(self.size)]
        for family in self.families:
            for row, member in enumerate(family.members):
                parts[member].append((family, row))
        return map(self._graph, parts)

    def _graph(self, parts: Sequence[tuple[GraphFamily, int]]) -> LabelledGraph:
        """Return the disjoint union of (family, row) parts as a LabelledGraph.

        Vertices of later parts are numbered after those of earlier ones. Without parts it is empty.
        Of parallel edges in a family the last weight counts.
        """
        labels: list[list[str]] = []
        edges: dict[tuple[int, int], float] = {}
        for family, row in parts:
            weights = family.weights[row if len(family.weights) > 1 else 0]
            ends = [(int(s), int(t)) for s, t in family.edges + len(labels)]
            edges |= dict(zip(ends, weights.tolist(), strict=True))
            numbers = family.labels[row].tolist()
            labels += [
                [self.vocabulary[n] for n in labels_of_vertex if n >= 0]
                for labels_of_vertex in numbers
            ]
        return LabelledGraph(labels, edges)

    def label_ranks(self) -> Indices:
        """Return the rank of each label of the vocabulary in sorted order, then -1 for no label.

        Shape ``(labels + 1,)``, to be indexed with ``GraphFamily.labels``: index -1, which stands
        for no label, finds the last entry, -1.
        """
        label_ranks = np.full(len(self.vocabulary) + 1, -1, dtype=np.intp)
        order = sorted(range(len(self.vocabulary)), key=self.vocabulary.__getitem__)
        label_ranks[order] = np.arange(len(order))
        return label_ranks

    def rows(self, index: Indices | slice) -> GraphBatch:
        """Return some of the graphs in the given order; a graph may be taken twice.

        Families without any of them are dropped; the vocabulary stays.
        """
        index = np.arange(self.size)[index]
        order = np.argsort(index, kind="stable")
        families = []
        for family in self.families:
            low = np.searchsorted(index[order], family.members)
            counts = np.searchsorted(index[order], family.members, side="right") - low
            rows = np.repeat(np.arange(len(counts)), counts)
            nth = np.arange(len(rows)) - np.repeat(np.cumsum(counts) - counts, counts)
            if len(rows):
                families.append(family.take(rows, order[low[rows] + nth]))
        return GraphBatch(self.vocabulary, tuple(families), len(index))

    def to_arrays(self) -> Arrays:
        """Return arrays that ``from_arrays`` reads, by key; those of all families are concatenated.

        ``shapes`` has the five sizes (g, v, k, rows of weights, e) of each family.
        """
        shapes = [(*f.labels.shape, *f.weights.shape) for f in self.families]
        return {
            **pack_words(self.vocabulary),
            "graphs": np.array(self.size),
            "shapes": np.array(shapes, dtype=np.int64).reshape(-1, 5),
            "members": _concat_flat([f.members for f in self.families], np.int64),
            "edges": _concat_flat([f.edges for f in self.families], np.int64),
            "weights": _concat_flat([f.weights for f in self.families], np.float64),
            "labels": _concat_flat([f.labels for f in self.families], np.int32),
        }

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, NDArray[np.generic]]) -> GraphBatch:
        """Build the graphs that ``to_arrays`` wrote.

        Reads the keys ``shapes`` (a row ``g, v, k, weight rows, edges`` per family), ``members``,
        ``edges``, ``weights``, ``labels`` (flat, family after family), ``graphs``, ``size`` and
        those of the vocabulary. Raises KeyError if one is missing, ValueError if sizes do not match
        or an index is out of range.
        """
        shapes = arrays["shapes"].astype(np.intp).reshape(-1, 5)
        g, v, k, w, e = shapes.T
        parts = zip(
            _split_flat(arrays["members"].astype(np.intp), g),
            _split_flat(arrays["edges"].astype(np.intp), 2 * e),
            _split_flat(arrays["weights"].astype(np.float64), w * e),
            _split_flat(arrays["labels"].astype(np.int32), g * v * k),
            shapes.tolist(),
            strict=True,
        )
        families = tuple(
            GraphFamily(m, ends.reshape(-1, 2), x.reshape(s[3:]), labels.reshape(s[:3]))
            for m, ends, x, labels, s in parts
        )
        batch = cls(unpack_words(arrays), families, int(arrays["graphs"]))
        if len(batch.vocabulary) != int(arrays["size"]) or not all(
            map(batch._is_consistent, families)
        ):
            raise ValueError(DAMAGED_MESSAGE)
        return batch

    def _is_consistent(self, family: GraphFamily) -> bool:
        """Return whether members, edges and labels of a family are within the bounds of the batch.

        Members must be below ``size``, ends of edges below the number of vertices, and labels -1 or
        indices into the vocabulary.
        """
        ranges = (
            (family.members, 0, self.size),
            (family.edges, 0, family.labels.shape[1]),
            (family.labels, -1, len(self.vocabulary)),
        )
        return all(((low <= x) & (x < high)).all() for x, low, high in ranges)


def _make_family(graph: LabelledGraph, index: int, words: dict[str, int]) -> GraphFamily:
    """Return a graph as a family of its own, with ``index`` as its index in the batch.

    ``words`` numbers the labels; new labels are added to it in place. Vertices with fewer labels
    than others are padded with -1.
    """
    label_ids = [
        [words.setdefault(label, len(words)) for label in vertex_labels]
        for vertex_labels in graph.labels
    ]
    labels = np.full((1, len(label_ids), max(map(len, label_ids), default=0)), -1, dtype=np.int32)
    for vertex, vertex_labels in enumerate(label_ids):
        labels[0, vertex, : len(vertex_labels)] = vertex_labels
    edges = np.array(list(graph.edges), dtype=np.intp).reshape(-1, 2)
    weights = np.array([list(graph.edges.values())])
    return GraphFamily(np.array([index]), edges, weights, labels)


def _split_flat(values: NDArray[T], sizes: Indices) -> list[NDArray[T]]:
    """Split a flat array into consecutive pieces of the given sizes.

    Raises ValueError if the sizes do not sum to its length.
    """
    if len(values) != sizes.sum():
        raise ValueError(DAMAGED_MESSAGE)
    return np.split(values, np.cumsum(sizes))[:-1]


def _concat_flat(
    blocks: Sequence[NDArray[np.generic]], dtype: type[np.generic]
) -> NDArray[np.generic]:
    """Return all blocks flattened (row by row) and concatenated.

    Without blocks the result is an empty array of type ``dtype``.
    """
    return np.concatenate([np.empty(0, dtype), *(block.ravel() for block in blocks)])


@runtime_checkable
class PositionTransformation(Protocol):
    """Similarity ``P̂ = R R'`` of positions in a context, given by its factor R.

    A position is the signed distance in words from the target.
    """

    def factor(self, positions: NDArray[np.integer]) -> Features:
        """Return R, with one row per position in this order and a named column per component."""


@runtime_checkable
class WordTransformation(Protocol):
    """Similarity ``Ŵ = B B'`` of words, given by its factor B."""

    def factor(self, words: Sequence[str]) -> Features:
        """Return B, with one row per word in this order and a named column per component."""


@runtime_checkable
class LearnedTransformation(Protocol):
    """Transformation that has to be learnt from contexts before it has a factor."""

    def learn(self, contexts: Contexts) -> PositionTransformation | WordTransformation:
        """Return the transformation that these contexts suggest; no label is used."""


def inner_transformations(transformation: Any) -> list[Any]:
    """Return the transformations that a transformation modifies (``of``) or adds (``parts``).

    First ``parts``, a sequence or the values of a mapping, then ``of``. Empty if it has neither
    attribute, as None.
    """
    parts = getattr(transformation, "parts", ())
    inner = list(parts.values()) if isinstance(parts, Mapping) else list(parts)
    return inner + ([transformation.of] if hasattr(transformation, "of") else [])


def needs_learning(transformation: Any) -> bool:
    """Return whether a transformation, or one inside it, has to be learnt from contexts.

    False for None.
    """
    return isinstance(transformation, LearnedTransformation) or any(
        map(needs_learning, inner_transformations(transformation))
    )


def learn_transformation(transformation: Any, contexts: Contexts) -> Any:
    """Return a transformation whose parts that learn are replaced by what they learn.

    Looks inside ``of`` and ``parts``, a sequence or a mapping, at any depth, as
    ``inner_transformations``. The argument is not changed; a transformation without parts that
    learn, or None, is returned as it is.
    """
    if isinstance(transformation, LearnedTransformation):
        return transformation.learn(contexts)
    if not needs_learning(transformation):
        return transformation
    learned: dict[str, Any] = {}
    if hasattr(transformation, "of"):
        learned["of"] = learn_transformation(transformation.of, contexts)
    parts = getattr(transformation, "parts", None)
    if isinstance(parts, Mapping):
        learned["parts"] = {name: learn_transformation(p, contexts) for name, p in parts.items()}
    elif parts is not None:
        learned_parts = [learn_transformation(part, contexts) for part in parts]
        learned["parts"] = tuple(learned_parts) if isinstance(parts, tuple) else learned_parts
    return replace(transformation, **learned)


@dataclass(frozen=True, eq=False)
class Contexts(Sequence["Contexts"]):
    """Word-position matrices of many contexts: which word stands where around each target.

    Words before the target have positions -1, -2, ..., words after it 1, 2, ...; a target that is
    kept has position 0. An element of this sequence is again ``Contexts``, of length one. There are
    n contexts with t words in all; context i is the range ``starts[i]:starts[i + 1]``.

    >>> two = Contexts.from_lists([[("binds", -1), ("to", 1)], [("to", -2)]])
    >>> two[0].pairs()
    [('binds', -1), ('to', 1)]
    >>> two[1].matrix(span=2).toarray().tolist()    # words x positions -2, -1, 1, 2
    [[0.0, 0.0, 0.0, 0.0], [1.0, 0.0, 0.0, 0.0]]
    """

    vocabulary: tuple[str, ...]
    words: NDArray[np.int32]  # (t,) indices into the vocabulary, context after context
    positions: NDArray[np.int32]  # (t,)
    starts: Indices  # (n + 1,) offsets of the contexts

    def __post_init__(self) -> None:
        """Raise ValueError unless there is a position per word and ``starts`` ends after them.

        Indices into the vocabulary and the order of ``starts`` are not checked.
        """
        if len(self.words) != len(self.positions) or int(self.starts[-1]) != len(self.words):
            raise ValueError(
                f"{len(self.words)} words, {len(self.positions)} positions and contexts up to "
                f"{int(self.starts[-1])} do not agree"
            )

    @classmethod
    def from_lists(cls, contexts: Sequence[Sequence[tuple[str, int]]]) -> Contexts:
        """Build contexts from lists of (word, position), in order.

        The vocabulary is in order of first occurrence.
        """
        ids: dict[str, int] = {}
        words = [ids.setdefault(word, len(ids)) for context in contexts for word, _ in context]
        positions = [position for context in contexts for _, position in context]
        starts = np.cumsum([0, *map(len, contexts)])
        return cls(tuple(ids), np.array(words, np.int32), np.array(positions, np.int32), starts)

    def __len__(self) -> int:
        """Return the number of contexts."""
        return len(self.starts) - 1

    def __getitem__(self, index: int | slice) -> Contexts:
        """Return one context (as Contexts of length one) or a slice of contexts."""
        rows = np.arange(len(self))
        return self.rows(rows[index] if isinstance(index, slice) else rows[[index]])

    def rows(self, index: Indices | slice) -> Contexts:
        """Return some contexts, in the order of ``index``, with the same vocabulary.

        An index may repeat.
        """
        tokens, starts = _take_ragged(self.starts, np.arange(len(self))[index])
        return Contexts(self.vocabulary, self.words[tokens], self.positions[tokens], starts)

    def pairs(self) -> list[tuple[str, int]]:
        """Return all (word, position) pairs, context after context."""
        words = [self.vocabulary[word] for word in self.words]
        return list(zip(words, self.positions.tolist(), strict=True))

    def matrix(self, span: int | None = None) -> SparseMatrix:
        """Return the summed word-position matrix of all contexts, sparse.

        Rows are the vocabulary, columns the positions -span ... -1, 1 ... span; an entry counts how
        often the word occurs there. If any target is kept, that is if any word has position 0,
        there is a column for it in the middle. Words beyond ``span`` are dropped; None means the
        distance of the farthest word, at least 1.
        """
        distance = int(np.abs(self.positions).max(initial=1)) if span is None else span
        is_near = np.abs(self.positions) <= distance
        positions, words = self.positions[is_near], self.words[is_near]
        columns = positions + distance
        if not (self.positions == 0).any():
            columns = columns - (positions > 0)
        width = 2 * distance + int((self.positions == 0).any())
        shape = (len(self.vocabulary), width)
        return sp.csr_array((np.ones(len(words)), (words, columns)), shape=shape)

    def with_words(self, vocabulary: Sequence[str]) -> Contexts:
        """Return the contexts over ``vocabulary``; other words are dropped, positions stay.

        The number and order of contexts stay, though some may become empty. ``vocabulary`` has each
        word once.
        """
        ids = {word: i for i, word in enumerate(vocabulary)}
        new_id = np.array([ids.get(word, -1) for word in self.vocabulary] + [-1], dtype=np.int32)
        words = new_id[self.words]
        counts = np.concatenate([[0], np.cumsum(words >= 0)])
        keep = words >= 0
        return Contexts(tuple(ids), words[keep], self.positions[keep], counts[self.starts])

    @staticmethod
    def concat(blocks: Sequence[Contexts]) -> Contexts:
        """Return the contexts of several batches, one batch after the other.

        Vocabularies are merged in order of first occurrence; a tuple that all batches share is
        kept. Without batches the result is empty.
        """
        if blocks and all(b.vocabulary is blocks[0].vocabulary for b in blocks):
            vocabulary = blocks[0].vocabulary
            words = [b.words for b in blocks]
        else:
            ids = {
                w: i for i, w in enumerate(dict.fromkeys(w for b in blocks for w in b.vocabulary))
            }
            vocabulary = tuple(ids)
            words = [np.array([ids[w] for w in b.vocabulary], np.int32)[b.words] for b in blocks]
        sizes = np.concatenate([[0], *(np.diff(b.starts) for b in blocks)])
        empty = np.empty(0, np.int32)
        return Contexts(
            vocabulary,
            np.concatenate([empty, *words]),
            np.concatenate([empty, *(b.positions for b in blocks)]),
            np.cumsum(sizes).astype(np.intp),
        )

    def to_arrays(self) -> Arrays:
        """Return arrays that ``from_arrays`` reads, by key.

        Keys are ``words``, ``positions``, ``starts`` and those of the vocabulary, which begin with
        ``vocabulary_``.
        """
        arrays = _add_prefix("vocabulary", FeatureNames.from_iterable(self.vocabulary).to_arrays())
        content: Arrays = {"words": self.words, "positions": self.positions, "starts": self.starts}
        return {**arrays, **content}

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, NDArray[np.generic]]) -> Contexts:
        """Build the contexts that ``to_arrays`` wrote.

        Raises ValueError if their lengths do not agree, KeyError if an array is missing; indices
        are not checked.
        """
        return cls(
            FeatureNames.from_arrays(_strip_prefix("vocabulary", arrays)).vocabulary,
            arrays["words"].astype(np.int32),
            arrays["positions"].astype(np.int32),
            arrays["starts"].astype(np.intp),
        )


@dataclass(frozen=True, eq=False)
class Sequences(Sequence["Sequences"]):
    """Many sequences of symbols over one alphabet.

    An element is again ``Sequences``, of length one. There are n sequences with t symbols in all;
    sequence i is the range ``starts[i]:starts[i + 1]`` of ``codes``.

    >>> two = Sequences.from_lists([["Mp", "Ss"], ["Ss"]])
    >>> two[1].symbols()
    ['Ss']
    """

    alphabet: tuple[str, ...]
    codes: NDArray[np.int32]  # (t,) indices into the alphabet, sequence after sequence
    starts: Indices  # (n + 1,) offsets of the sequences

    @classmethod
    def from_lists(cls, sequences: Sequence[Sequence[str]]) -> Sequences:
        """Build sequences from lists of symbols, in order; lists may be empty.

        The alphabet is in order of first occurrence.
        """
        ids: dict[str, int] = {}
        codes = [ids.setdefault(symbol, len(ids)) for sequence in sequences for symbol in sequence]
        starts = np.cumsum([0, *map(len, sequences)]).astype(np.intp)
        return cls(tuple(ids), np.array(codes, np.int32), starts)

    def __len__(self) -> int:
        """Return the number of sequences."""
        return len(self.starts) - 1

    def __getitem__(self, index: int | slice) -> Sequences:
        """Return one sequence (as Sequences of length one) or a slice of sequences."""
        rows = np.arange(len(self))
        return self.rows(rows[index] if isinstance(index, slice) else rows[[index]])

    def rows(self, index: Indices | slice) -> Sequences:
        """Return some sequences, in the order of ``index``, with the same alphabet.

        An index may repeat.
        """
        symbols, starts = _take_ragged(self.starts, np.arange(len(self))[index])
        return Sequences(self.alphabet, self.codes[symbols], starts)

    def symbols(self) -> list[str]:
        """Return all symbols, sequence after sequence."""
        return [self.alphabet[code] for code in self.codes]

    @staticmethod
    def concat(blocks: Sequence[Sequences]) -> Sequences:
        """Return the sequences of several batches, one batch after the other.

        Alphabets are merged in order of first occurrence. Without batches the result is empty.
        """
        ids = {s: i for i, s in enumerate(dict.fromkeys(s for b in blocks for s in b.alphabet))}
        tables = [np.array([ids[s] for s in b.alphabet], dtype=np.int32) for b in blocks]
        codes = [table[b.codes] for table, b in zip(tables, blocks, strict=True)]
        sizes = np.concatenate([[0], *(np.diff(b.starts) for b in blocks)])
        return Sequences(
            tuple(ids),
            np.concatenate([np.empty(0, np.int32), *codes]),
            np.cumsum(sizes).astype(np.intp),
        )

    def to_arrays(self) -> Arrays:
        """Return arrays that ``from_arrays`` reads, by key.

        Keys are ``codes``, ``starts`` and those of the alphabet, which begin with ``alphabet_``.
        """
        arrays = _add_prefix("alphabet", FeatureNames.from_iterable(self.alphabet).to_arrays())
        return {**arrays, "codes": self.codes, "starts": self.starts}

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, NDArray[np.generic]]) -> Sequences:
        """Build the sequences that ``to_arrays`` wrote; codes are not checked."""
        alphabet = FeatureNames.from_arrays(_strip_prefix("alphabet", arrays)).vocabulary
        return cls(alphabet, arrays["codes"].astype(np.int32), arrays["starts"].astype(np.intp))


def pivoted_cholesky(P: Matrix, tolerance: float) -> tuple[Matrix, Indices]:  # (g, g)
    """Return R (g, r) and the pivots (r,) with ``P = R R'``, every entry within ``tolerance``.

    P is a positive semidefinite matrix (g, g); columns are added until all of P is within the
    tolerance, which is absolute, so r is at most g. The pivots are row numbers of P, in the order
    they were chosen; column k of R belongs to pivot k. Unlike eigenvectors, R does not depend on
    the machine: a pivot is the first of the residuals of the diagonal that are the largest to 1e-9.
    """
    residual = np.diag(P).astype(np.float64).copy()
    R = np.zeros(P.shape)
    pivots: list[int] = []
    while len(pivots) < len(P) and residual.max() > tolerance:
        # Equal up to round-off counts as equal, else the platform would choose.
        pivot = int(np.argmax(residual > residual.max() * (1 - 1e-9)))
        k = len(pivots)
        column = (P[:, pivot] - R[:, :k] @ R[pivot, :k]) / np.sqrt(residual[pivot])
        column[pivots] = 0.0
        R[:, k] = column
        pivots.append(pivot)
        residual = (residual - column**2).clip(min=0.0)
        residual[pivots] = 0.0
    return R[:, : len(pivots)], np.array(pivots, dtype=np.intp)


def _take_ragged(starts: Indices, chosen: Indices) -> tuple[Indices, Indices]:
    """Return the indices of the items of the chosen rows, and the offsets of these rows.

    Row i is the range ``starts[i]:starts[i + 1]`` of items, ``starts`` has shape (n + 1,). Items
    come row after row, in the order of ``chosen``; the offsets have shape ``(len(chosen) + 1,)``.
    """
    sizes = np.diff(starts)[chosen]
    begins = np.concatenate([[0], np.cumsum(sizes)])
    items = np.arange(begins[-1]) + np.repeat(starts[:-1][chosen] - begins[:-1], sizes)
    return items, begins


def _add_prefix(prefix: str, arrays: Arrays) -> Arrays:
    """Return the arrays with ``prefix_`` before each key."""
    return {f"{prefix}_{key}": value for key, value in arrays.items()}


def _strip_prefix(prefix: str, arrays: Mapping[str, NDArray[np.generic]]) -> Arrays:
    """Return the arrays whose keys begin with ``prefix_``, with keys without it.

    Others are dropped.
    """
    return {
        key.removeprefix(f"{prefix}_"): value
        for key, value in arrays.items()
        if key.startswith(f"{prefix}_")
    }
