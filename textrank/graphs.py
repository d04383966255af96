"""Batches of labelled graphs as arrays, so that what graphs share is stored and computed once."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeVar, overload, runtime_checkable

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from textrank.features import (
    Arrays,
    FeatureNames,
    Features,
    Indices,
    LabelledGraph,
    Matrix,
    SparseMatrix,
    pack_words,
    unpack_words,
)

T = TypeVar("T", bound=np.generic)
DAMAGED = "damaged graphs: their arrays do not fit. Train the model again or restore the file."


@dataclass(frozen=True, eq=False)
class GraphFamily:
    """Graphs over the same vertices and edges, which differ in weights and labels alone.

    All candidates of a sentence share its words and dependencies, so what depends on these is
    stored, and can be computed, once.
    """

    members: Indices  # (g,) the graphs of the batch that these rows are, or are a part of
    edges: Indices  # (e, 2) source and target, each pair at most once
    weights: Matrix  # (g, e), or (1, e) where all have the same
    labels: NDArray[np.int32]  # (g, v, k) numbers in the vocabulary of the batch, -1 for none

    def take(self, rows: Indices | slice, members: Indices) -> GraphFamily:
        """Some of the graphs, under other numbers."""
        weights = self.weights if len(self.weights) == 1 else self.weights[rows]
        return GraphFamily(members, self.edges, weights, self.labels[rows])

    def of_graphs(self, rows: slice) -> GraphFamily:
        """Some of the graphs, under their own numbers."""
        return self.take(rows, self.members[rows])


@dataclass(frozen=True, eq=False)
class GraphBatch(Sequence[LabelledGraph]):
    """Many labelled graphs as a few arrays.

    Graph ``i`` is the disjoint union of the rows that have ``i`` among their family's
    ``members``. The parts of one graph never share a label, so no label pair is in two of them.

    >>> chain = LabelledGraph(["a", "b", "c"], {(0, 1): 0.5, (1, 2): 0.5})
    >>> GraphBatch.from_graphs([chain, chain])[1] == chain
    True
    """

    vocabulary: tuple[str, ...]
    families: tuple[GraphFamily, ...]
    size: int

    @classmethod
    def from_graphs(cls, graphs: Sequence[LabelledGraph]) -> GraphBatch:
        """The graphs as a batch, each a family of its own; a batch stays as it is."""
        if isinstance(graphs, GraphBatch):
            return graphs
        words: dict[str, int] = {}
        families = [_family(graph, i, words) for i, graph in enumerate(graphs)]
        return cls(tuple(words), tuple(families), len(families))

    def __len__(self) -> int:
        return self.size

    @overload
    def __getitem__(self, index: int) -> LabelledGraph: ...
    @overload
    def __getitem__(self, index: slice) -> GraphBatch: ...
    def __getitem__(self, index: int | slice) -> LabelledGraph | GraphBatch:
        if isinstance(index, slice):
            return self.rows(index)
        at = range(self.size)[index]
        found = [(family, np.flatnonzero(family.members == at)) for family in self.families]
        return self._graph([(family, int(row)) for family, rows in found for row in rows])

    def __iter__(self) -> Iterator[LabelledGraph]:
        parts: list[list[tuple[GraphFamily, int]]] = [[] for _ in range(self.size)]
        for family in self.families:
            for row, member in enumerate(family.members):
                parts[member].append((family, row))
        return map(self._graph, parts)

    def _graph(self, parts: Sequence[tuple[GraphFamily, int]]) -> LabelledGraph:
        labels: list[list[str]] = []
        edges: dict[tuple[int, int], float] = {}
        for family, row in parts:
            weights = family.weights[row if len(family.weights) > 1 else 0]
            ends = [(int(s), int(t)) for s, t in family.edges + len(labels)]
            edges |= dict(zip(ends, weights.tolist(), strict=True))
            numbers = family.labels[row].tolist()
            labels += [[self.vocabulary[n] for n in own if n >= 0] for own in numbers]
        return LabelledGraph(labels, edges)

    def ranks(self) -> Indices:
        """The place of each label in the sorted vocabulary, and -1 at the end for no label."""
        ranks = np.full(len(self.vocabulary) + 1, -1, dtype=np.intp)
        order = sorted(range(len(self.vocabulary)), key=self.vocabulary.__getitem__)
        ranks[order] = np.arange(len(order))
        return ranks

    def rows(self, index: Indices | slice) -> GraphBatch:
        """Some of the graphs, in this order; the same one may be taken twice."""
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
        """Arrays that ``from_arrays`` takes back."""
        shapes = [(*f.labels.shape, *f.weights.shape) for f in self.families]
        return {
            **pack_words(self.vocabulary),
            "graphs": np.array(self.size),
            "shapes": np.array(shapes, dtype=np.int64).reshape(-1, 5),
            "members": _flat([f.members for f in self.families], np.int64),
            "edges": _flat([f.edges for f in self.families], np.int64),
            "weights": _flat([f.weights for f in self.families], np.float64),
            "labels": _flat([f.labels for f in self.families], np.int32),
        }

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, NDArray[np.generic]]) -> GraphBatch:
        """The graphs that ``to_arrays`` wrote."""
        shapes = arrays["shapes"].astype(np.intp).reshape(-1, 5)
        g, v, k, w, e = shapes.T
        parts = zip(
            _cut(arrays["members"].astype(np.intp), g),
            _cut(arrays["edges"].astype(np.intp), 2 * e),
            _cut(arrays["weights"].astype(np.float64), w * e),
            _cut(arrays["labels"].astype(np.int32), g * v * k),
            shapes.tolist(),
            strict=True,
        )
        families = tuple(
            GraphFamily(m, ends.reshape(-1, 2), x.reshape(s[3:]), labels.reshape(s[:3]))
            for m, ends, x, labels, s in parts
        )
        batch = cls(unpack_words(arrays), families, int(arrays["graphs"]))
        if len(batch.vocabulary) != int(arrays["size"]) or not all(map(batch._holds, families)):
            raise ValueError(DAMAGED)
        return batch

    def _holds(self, family: GraphFamily) -> bool:
        inside = (
            (family.members, 0, self.size),
            (family.edges, 0, family.labels.shape[1]),
            (family.labels, -1, len(self.vocabulary)),
        )
        return all(((low <= x) & (x < high)).all() for x, low, high in inside)


def _family(graph: LabelledGraph, index: int, words: dict[str, int]) -> GraphFamily:
    numbers = [[words.setdefault(label, len(words)) for label in own] for own in graph.labels]
    labels = np.full((1, len(numbers), max(map(len, numbers), default=0)), -1, dtype=np.int32)
    for vertex, own in enumerate(numbers):
        labels[0, vertex, : len(own)] = own
    edges = np.array(list(graph.edges), dtype=np.intp).reshape(-1, 2)
    weights = np.array([list(graph.edges.values())])
    return GraphFamily(np.array([index]), edges, weights, labels)


def _cut(values: NDArray[T], sizes: Indices) -> list[NDArray[T]]:
    if len(values) != sizes.sum():
        raise ValueError(DAMAGED)
    return np.split(values, np.cumsum(sizes))[:-1]


def _flat(blocks: Sequence[NDArray[np.generic]], kind: type[np.generic]) -> NDArray[np.generic]:
    return np.concatenate([np.empty(0, kind), *(block.ravel() for block in blocks)])


@runtime_checkable
class PositionTransformation(Protocol):
    """A similarity ``P̂ = R R'`` of positions, as its factor; never sees a label."""

    def factor(self, positions: NDArray[np.integer]) -> Features:
        """R: a row for each position, a named column for each component."""


@runtime_checkable
class WordTransformation(Protocol):
    """A similarity ``Ŵ = B B'`` of words, as its factor; never sees a label."""

    def factor(self, words: Sequence[str]) -> Features:
        """B: a row for each word, a named column for each component."""


@dataclass(frozen=True, eq=False)
class Contexts(Sequence["Contexts"]):
    """Word-position matrices of many contexts: which word stands where around each target.

    Words before the target have positions -1, -2, ..., words after it 1, 2, ...; a target that is
    kept stands at 0. An element of this sequence is again ``Contexts``, of length one.

    >>> two = Contexts.from_lists([[("binds", -1), ("to", 1)], [("to", -2)]])
    >>> two[0].pairs()
    [('binds', -1), ('to', 1)]
    >>> two[1].matrix(span=2).toarray().tolist()    # words x positions -2, -1, 1, 2
    [[0.0, 0.0, 0.0, 0.0], [1.0, 0.0, 0.0, 0.0]]
    """

    vocabulary: tuple[str, ...]
    words: NDArray[np.int32]  # (t,) indices into the vocabulary, context after context
    positions: NDArray[np.int32]  # (t,)
    starts: Indices  # (n + 1,) where each context begins

    def __post_init__(self) -> None:
        if len(self.words) != len(self.positions) or int(self.starts[-1]) != len(self.words):
            raise ValueError(
                f"{len(self.words)} words, {len(self.positions)} positions and contexts up to "
                f"{int(self.starts[-1])} do not agree"
            )

    @classmethod
    def from_lists(cls, contexts: Sequence[Sequence[tuple[str, int]]]) -> Contexts:
        """Contexts from lists of (word, position)."""
        ids: dict[str, int] = {}
        words = [ids.setdefault(word, len(ids)) for context in contexts for word, _ in context]
        positions = [position for context in contexts for _, position in context]
        starts = np.cumsum([0, *map(len, contexts)])
        return cls(tuple(ids), np.array(words, np.int32), np.array(positions, np.int32), starts)

    def __len__(self) -> int:
        return len(self.starts) - 1

    def __getitem__(self, index: int | slice) -> Contexts:
        rows = np.arange(len(self))
        return self.rows(rows[index] if isinstance(index, slice) else rows[[index]])

    def rows(self, index: Indices | slice) -> Contexts:
        """Some contexts, same vocabulary."""
        at, starts = _ragged(self.starts, np.arange(len(self))[index])
        return Contexts(self.vocabulary, self.words[at], self.positions[at], starts)

    def pairs(self) -> list[tuple[str, int]]:
        """All (word, position), context after context."""
        words = [self.vocabulary[word] for word in self.words]
        return list(zip(words, self.positions.tolist(), strict=True))

    def matrix(self, span: int | None = None) -> SparseMatrix:
        """The word-position matrix of all contexts together: words x (-span ... -1, 1 ... span).

        A kept target adds a column 0 in the middle. Without a span it is as wide as the farthest
        word needs.
        """
        far = int(np.abs(self.positions).max(initial=1)) if span is None else span
        near = np.abs(self.positions) <= far
        positions, words = self.positions[near], self.words[near]
        columns = positions + far
        if not (self.positions == 0).any():
            columns = columns - (positions > 0)
        width = 2 * far + int((self.positions == 0).any())
        shape = (len(self.vocabulary), width)
        return sp.csr_array((np.ones(len(words)), (words, columns)), shape=shape)

    def with_words(self, vocabulary: Sequence[str]) -> Contexts:
        """The same contexts with these words only; the others leave their places empty."""
        ids = {word: i for i, word in enumerate(vocabulary)}
        number = np.array([ids.get(word, -1) for word in self.vocabulary] + [-1], dtype=np.int32)
        words = number[self.words]
        counts = np.concatenate([[0], np.cumsum(words >= 0)])
        keep = words >= 0
        return Contexts(tuple(ids), words[keep], self.positions[keep], counts[self.starts])

    @staticmethod
    def concat(blocks: Sequence[Contexts]) -> Contexts:
        """Contexts of several batches, one batch after the other."""
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
        none = np.empty(0, np.int32)
        return Contexts(
            vocabulary,
            np.concatenate([none, *words]),
            np.concatenate([none, *(b.positions for b in blocks)]),
            np.cumsum(sizes).astype(np.intp),
        )

    def to_arrays(self) -> Arrays:
        """Arrays that ``from_arrays`` takes back."""
        arrays = _prefixed("vocabulary", FeatureNames.from_iterable(self.vocabulary).to_arrays())
        own: Arrays = {"words": self.words, "positions": self.positions, "starts": self.starts}
        return {**arrays, **own}

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, NDArray[np.generic]]) -> Contexts:
        """The contexts that ``to_arrays`` wrote."""
        return cls(
            FeatureNames.from_arrays(_under("vocabulary", arrays)).vocabulary,
            arrays["words"].astype(np.int32),
            arrays["positions"].astype(np.int32),
            arrays["starts"].astype(np.intp),
        )


@dataclass(frozen=True, eq=False)
class Sequences(Sequence["Sequences"]):
    """Many sequences of symbols over one alphabet; an element is again ``Sequences``, of one.

    >>> two = Sequences.from_lists([["Mp", "Ss"], ["Ss"]])
    >>> two[1].symbols()
    ['Ss']
    """

    alphabet: tuple[str, ...]
    codes: NDArray[np.int32]  # (t,) indices into the alphabet, sequence after sequence
    starts: Indices  # (n + 1,)

    @classmethod
    def from_lists(cls, sequences: Sequence[Sequence[str]]) -> Sequences:
        """Sequences from lists of symbols."""
        ids: dict[str, int] = {}
        codes = [ids.setdefault(symbol, len(ids)) for sequence in sequences for symbol in sequence]
        starts = np.cumsum([0, *map(len, sequences)]).astype(np.intp)
        return cls(tuple(ids), np.array(codes, np.int32), starts)

    def __len__(self) -> int:
        return len(self.starts) - 1

    def __getitem__(self, index: int | slice) -> Sequences:
        rows = np.arange(len(self))
        return self.rows(rows[index] if isinstance(index, slice) else rows[[index]])

    def rows(self, index: Indices | slice) -> Sequences:
        """Some sequences, same alphabet."""
        at, starts = _ragged(self.starts, np.arange(len(self))[index])
        return Sequences(self.alphabet, self.codes[at], starts)

    def symbols(self) -> list[str]:
        """All symbols, sequence after sequence."""
        return [self.alphabet[code] for code in self.codes]

    @staticmethod
    def concat(blocks: Sequence[Sequences]) -> Sequences:
        """The sequences of several batches, one batch after the other."""
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
        """Arrays that ``from_arrays`` takes back."""
        arrays = _prefixed("alphabet", FeatureNames.from_iterable(self.alphabet).to_arrays())
        return {**arrays, "codes": self.codes, "starts": self.starts}

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, NDArray[np.generic]]) -> Sequences:
        """The sequences that ``to_arrays`` wrote."""
        alphabet = FeatureNames.from_arrays(_under("alphabet", arrays)).vocabulary
        return cls(alphabet, arrays["codes"].astype(np.int32), arrays["starts"].astype(np.intp))


def pivoted_cholesky(P: Matrix, tolerance: float) -> tuple[Matrix, Indices]:  # (g, g)
    """R and the pivots with ``P = R R'``, every entry within ``tolerance``.

    Unlike eigenvectors, R does not change with the machine: pivots are the first of the largest.
    """
    left = np.diag(P).astype(np.float64).copy()
    R = np.zeros(P.shape)
    pivots: list[int] = []
    while len(pivots) < len(P) and left.max() > tolerance:
        # Equal up to round-off counts as equal, else the platform would choose.
        pivot = int(np.argmax(left > left.max() * (1 - 1e-9)))
        k = len(pivots)
        column = (P[:, pivot] - R[:, :k] @ R[pivot, :k]) / np.sqrt(left[pivot])
        column[pivots] = 0.0
        R[:, k] = column
        pivots.append(pivot)
        left = (left - column**2).clip(min=0.0)
        left[pivots] = 0.0
    return R[:, : len(pivots)], np.array(pivots, dtype=np.intp)


def _ragged(starts: Indices, chosen: Indices) -> tuple[Indices, Indices]:
    """Where the items of the chosen rows lie, and where each row begins among them."""
    sizes = np.diff(starts)[chosen]
    begins = np.concatenate([[0], np.cumsum(sizes)])
    at = np.arange(begins[-1]) + np.repeat(starts[:-1][chosen] - begins[:-1], sizes)
    return at, begins


def _prefixed(prefix: str, arrays: Arrays) -> Arrays:
    return {f"{prefix}_{key}": value for key, value in arrays.items()}


def _under(prefix: str, arrays: Mapping[str, NDArray[np.generic]]) -> Arrays:
    return {
        key.removeprefix(f"{prefix}_"): value
        for key, value in arrays.items()
        if key.startswith(f"{prefix}_")
    }
