"""Walks of many families of graphs, gathered by the labels of their vertices.

Labels are numbered in a family: each of its graphs has a table with a place for every two of them,
walks are put there, and what is not zero is a feature. Tables of several families are filled
together, as many as stay near the processor.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from textrank.kernels.label_pairs import Cells
from textrank.kernels.walks import Walks
from textrank.types import GraphFamily, Indices, Matrix, Vector
from textrank.types.ragged import firsts, lengths, numbered, offsets

CACHE = 1 << 18  # numbers of the tables that are filled together
LARGEST = 1 << 20  # those of one family
WALKS = 8  # about as many join vertices as there are edges
ROOM = 1 << 23  # numbers of the walks that are kept at once: 64 megabytes


def portions(
    families: Mapping[int, GraphFamily],
) -> Iterator[tuple[list[int], list[GraphFamily]]]:
    """Families together as long as their walks have room, each in parts whose tables stay near."""
    keys: list[int] = []
    found: list[GraphFamily] = []
    room = 0
    for key, family in families.items():
        for part in _parts(family):
            own = part.labels.shape[1] ** 2 * (1 + len(part.weights))
            if found and room + own > ROOM:
                yield keys, found
                keys, found, room = [], [], 0
            keys.append(key)
            found.append(part)
            room += own
    if found:
        yield keys, found


def _parts(family: GraphFamily) -> Iterator[GraphFamily]:
    g, v, k = family.labels.shape
    if g * (v * k + 1) ** 2 <= LARGEST and g * (WALKS * len(family.edges) + 1) <= CACHE:
        yield family
        return
    tables, walks = (_different(family.labels) + 1) ** 2, WALKS * len(family.edges) + 1
    most = max(1, min(LARGEST // tables, CACHE // walks))
    if g <= most:
        yield family
        return
    for start in range(0, g, most):
        rows = np.arange(start, min(g, start + most))
        yield family.take(rows, family.members[rows])


def _different(labels: NDArray[np.int32]) -> int:
    """How many labels there are; a sentence of many names has few words."""
    met = np.zeros(int(labels.max(initial=-1)) + 2, dtype=bool)
    met[labels.ravel()] = True  # none is the last
    return int(met[:-1].sum())


@dataclass(frozen=True, eq=False)
class ManyWalks:
    """Pairs of vertices with a walk from one to the other, one family after the other."""

    families: Sequence[GraphFamily]
    first: Indices  # (f + 1,) the first pair of each family
    source: Indices  # (q,) vertices of the family
    target: Indices  # (q,)
    values: Vector  # of a pair from `begin` on: one for each graph, or one for all of them
    begin: Indices  # (q,)
    own: Indices  # (f,) 1 where each graph has its own

    @classmethod
    def of(cls, families: Sequence[GraphFamily], found: Sequence[Walks]) -> ManyWalks:
        """The walks between the vertices of each family."""
        rows = np.array([len(walks.values) for walks in found], dtype=np.intp)
        counts = np.array([len(walks.source) for walks in found], dtype=np.intp)
        first = offsets(counts)
        none = np.zeros(0, dtype=np.intp)
        return cls(
            families,
            first,
            np.concatenate([none, *(walks.source for walks in found)]),
            np.concatenate([none, *(walks.target for walks in found)]),
            np.concatenate([np.zeros(0), *(walks.values.T.ravel() for walks in found)]),
            offsets(np.repeat(rows, counts))[:-1],
            (rows > 1).astype(np.intp),
        )

    def between(self, low: int, high: int, threshold: float) -> tuple[Indices, Indices, Matrix]:
        """Those of families with as many graphs each: a row a pair, 0 up to the threshold.

        The vertices of one family follow those of the other.
        """
        pairs = slice(int(self.first[low]), int(self.first[high]))
        some = self.families[low:high]
        counts = lengths(self.first[low : high + 1])
        shift = offsets([f.labels.shape[1] for f in some])[:-1].repeat(counts)
        nth = self.own[low:high].repeat(counts)[:, None] * np.arange(len(some[0].members))
        values = self.values[self.begin[pairs, None] + nth]
        values[values <= threshold] = 0.0
        return self.source[pairs] + shift, self.target[pairs] + shift, values

    def gathered(
        self, rank: Indices, combine: Literal["max", "sum"], threshold: float
    ) -> Iterator[Cells]:
        """The label pairs of all graphs, from walks above the threshold."""
        tables = _Tables.of(self.families, rank)
        room = offsets(tables.graphs * tables.size**2)
        most = min(int(room[-1]), max(CACHE, int(np.diff(room).max(initial=0))))
        table = np.zeros(most)  # empty again after each
        low = 0
        while low < len(self.families):
            fitting = int(np.searchsorted(room, room[low] + CACHE, side="right")) - 1
            high = max(low + 1, fitting)
            if self.first[low] < self.first[high]:
                yield tables.cells(table, self, low, high, combine, threshold)
            low = high


@dataclass(frozen=True, eq=False)
class _Tables:
    """The labels of families, numbered in each from 1 on by their rank; 0 is none."""

    families: Sequence[GraphFamily]
    numbers: NDArray[np.intp]  # (k, vertices of all graphs) a vertex in all graphs, then the next
    begin: Indices  # (f + 1,) the first vertex of each family
    graphs: Indices  # (f,)
    size: Indices  # (f,) labels, and one for none
    starts: Indices  # (f + 1,) where the labels of each family begin
    ranks: Indices  # of the labels of each family

    @classmethod
    def of(cls, families: Sequence[GraphFamily], rank: Indices) -> _Tables:
        width = max(1, *(f.labels.shape[2] for f in families))
        graphs, vertices = np.array([f.labels.shape[:2] for f in families], dtype=np.intp).T
        begin = offsets(graphs * vertices)
        every = rank[np.concatenate([_widened(f.labels, width) for f in families], axis=1)]
        family = np.tile(np.repeat(np.arange(len(families)), lengths(begin)), width)
        some = np.flatnonzero(every >= 0)
        keys, number = numbered(family[some] * len(rank) + every.ravel()[some])
        starts = np.searchsorted(keys, np.arange(len(families) + 1) * len(rank))
        numbers = np.zeros(every.shape, dtype=np.intp)
        numbers.reshape(-1)[some] = number - starts[family[some]] + 1
        ranks = keys % len(rank)
        return cls(families, numbers, begin, graphs, lengths(starts) + 1, starts, ranks)

    def cells(
        self,
        table: Vector,
        walks: ManyWalks,
        low: int,
        high: int,
        combine: Literal["max", "sum"],
        threshold: float,
    ) -> Cells:
        """The label pairs of the families from ``low`` to ``high``."""
        graphs, size = self.graphs[low:high], self.size[low:high]
        begins = offsets(np.repeat(size**2, graphs))  # the tables, a graph each
        table = table[: begins[-1]]
        starts = offsets(graphs * size**2)
        for begin, end in pairwise([*firsts(graphs).tolist(), high - low]):
            own = walks.between(low + begin, low + end, threshold)
            self._fill(table, starts[begin:end], low + begin, low + end, *own, combine)

        found = np.flatnonzero(table != 0)
        values = table[found]
        table[found] = 0.0
        counts = np.diff(np.searchsorted(found, begins))
        shapes = offsets(size**2)  # one table for all graphs of a family
        found += np.repeat(np.repeat(shapes[:-1], graphs) - begins[:-1], counts)
        used = np.zeros(int(shapes[-1]), dtype=bool)
        used[found] = True
        cells = np.flatnonzero(used)
        number = np.empty(len(used), dtype=np.int32)
        number[cells] = np.arange(len(cells), dtype=np.int32)
        members = np.concatenate([f.members for f in self.families[low:high]])
        first, second = self._labels(cells, shapes, low)
        return Cells(members, counts, first, second, number[found], values)

    def _fill(
        self,
        table: Vector,
        starts: Indices,
        low: int,
        high: int,
        source: Indices,
        target: Indices,
        values: Matrix,
        combine: Literal["max", "sum"],
    ) -> None:
        """Puts walks where the labels of both their ends say, every label with every other."""
        g = int(self.graphs[low])
        own = self.numbers[:, self.begin[low] : self.begin[high]].reshape(len(self.numbers), -1, g)
        vertices = lengths(self.begin[low : high + 1]) // g
        u, first = (x.repeat(vertices)[:, None] for x in (self.size[low:high], starts))
        rows = own * u + (first + np.arange(g) * u**2)
        labelled = np.any(own, axis=2)  # in any graph
        scatter = np.maximum if combine == "max" else np.add
        for row, has in zip(rows, labelled, strict=True):
            for column, had in zip(own, labelled, strict=True):
                some = np.flatnonzero(has[source] & had[target])
                codes = row.take(source[some], axis=0)
                codes += column.take(target[some], axis=0)
                scatter.at(table, codes.ravel(), values.take(some, axis=0).ravel())
        if (labelled != own.all(axis=2)).any():
            self._emptied(table, starts, low, high)

    def _emptied(self, table: Vector, starts: Indices, low: int, high: int) -> None:
        """Takes away what is at no label."""
        sizes = self.size[low:high].tolist()
        for begin, u, g in zip(starts.tolist(), sizes, self.graphs[low:high].tolist(), strict=True):
            own = table[begin : begin + g * u * u].reshape(g, u, u)
            own[:, 0, :] = own[:, :, 0] = 0.0

    def _labels(self, cells: Indices, shapes: Indices, low: int) -> tuple[Indices, Indices]:
        """The ranks of the two labels of each cell."""
        family = np.repeat(np.arange(len(shapes) - 1), np.diff(np.searchsorted(cells, shapes)))
        first, second = np.divmod(cells - shapes[family], self.size[low + family])
        begin = self.starts[low + family] - 1
        return self.ranks[begin + first], self.ranks[begin + second]


def _widened(labels: NDArray[np.int32], width: int) -> NDArray[np.int32]:
    """The labels of all vertices of a family, as many of each as the widest has."""
    g, v, k = labels.shape
    own = labels.transpose(2, 1, 0).reshape(k, v * g)
    return own if k == width else np.pad(own, ((0, width - k), (0, 0)), constant_values=-1)
