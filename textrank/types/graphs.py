"""Batches of labelled graphs as arrays, so that what graphs share is stored and computed once."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar, overload

import numpy as np
from numpy.typing import NDArray

from textrank.types.features import LabelledGraph, Matrix
from textrank.types.names import Arrays, Indices, packed, unpacked

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
    >>> GraphBatch.of([chain, chain])[1] == chain
    True
    """

    vocabulary: tuple[str, ...]
    families: tuple[GraphFamily, ...]
    size: int

    @classmethod
    def of(cls, graphs: Sequence[LabelledGraph]) -> GraphBatch:
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
            **packed(self.vocabulary),
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
        batch = cls(unpacked(arrays), families, int(arrays["graphs"]))
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
