"""Walks of many families of graphs, gathered by the labels of their vertices.

Labels are numbered in a family: each of its graphs has a table with a place for every two of them,
walks are put there, and what is not zero is a feature. Tables of several families are filled
together, as many as stay near the processor.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from textrank.kernels.label_pairs import LabelPairs
from textrank.kernels.walks import Walks
from textrank.types import GraphFamily, Indices, Matrix, Vector
from textrank.types.ragged import lengths, numbered, offsets

CACHE = 1 << 18  # numbers of the tables that are filled together
LARGEST = 1 << 20  # those of one family
WALKS = 8  # about as many join vertices as there are edges
ROOM = 1 << 23  # numbers of the walks that are kept at once: 64 megabytes
FEW = 1 << 16  # so few that it does not matter how many of them are not needed


def portions(families: Mapping[int, GraphFamily]) -> Iterator[tuple[list[int], list[slice]]]:
    """Families whose walks are found together, and their graphs in pieces whose tables stay near.

    Families have about as many rows of weights, unless they are small. One that needs several
    pieces is alone.
    """
    found: list[int] = []
    pieces: list[slice] = []
    size = least = 0
    for key in sorted(families, key=lambda key: _kind(families[key])):
        own = families[key]
        g, v, _ = own.labels.shape
        most = _most(own)
        whole = len(pieces) == 1 and g <= most
        if found and not (
            whole
            and _together(size + v**2, len(own.weights), least)
            and _kind(own)[0] == _kind(families[found[0]])[0]
        ):
            yield found, pieces
            found, size = [], 0
        least = least if found else len(own.weights)
        found.append(key)
        pieces = [slice(low, low + most) for low in range(0, g, most)]
        size += v**2
    if found:
        yield found, pieces


def _kind(family: GraphFamily) -> tuple[bool, int]:
    """Whether its graphs share their weights, and how many they are."""
    return len(family.weights) < len(family.members), len(family.members)


def _together(size: int, rows: int, least: int) -> bool:
    """Whether so many numbers are laid out as if all families had as many rows as the largest."""
    return size * (1 + rows) <= (ROOM if 2 * rows <= 3 * least else FEW)


def _most(family: GraphFamily) -> int:
    """How many of its graphs have tables that stay near."""
    g, v, k = family.labels.shape
    if g * (v * k + 1) ** 2 <= LARGEST and g * (WALKS * len(family.edges) + 1) <= CACHE:
        return g
    tables, walks = (_different(family.labels) + 1) ** 2, WALKS * len(family.edges) + 1
    return max(1, min(LARGEST // tables, CACHE // walks))


def _different(labels: NDArray[np.int32]) -> int:
    """How many labels there are; a sentence of many names has few words."""
    met = np.zeros(int(labels.max(initial=-1)) + 2, dtype=bool)
    met[labels.ravel()] = True  # none is the last
    return int(met[:-1].sum())


def side_by_side(rows: Sequence[NDArray[Any]], empty: Any = 0) -> NDArray[Any]:
    """Tables with a row a graph as one with a column a graph, below one another."""
    ends = offsets([own.shape[1] for own in rows]).tolist()
    width = max(len(own) for own in rows)
    found = np.full((ends[-1], width, *rows[0].shape[2:]), empty, dtype=rows[0].dtype)
    for own, (low, high) in zip(rows, pairwise(ends), strict=True):
        found[low:high, : len(own)] = own.swapaxes(0, 1)
    return found


@dataclass(frozen=True, eq=False)
class ManyWalks:
    """Pairs of vertices with a walk from one to the other, one family after the other.

    Families are in the order of how many graphs they have.
    """

    families: Sequence[GraphFamily]
    first: Indices  # (f + 1,) the first pair of each family
    source: Indices  # (q,) vertices of the family
    target: Indices  # (q,)
    values: Callable[[slice], Matrix]  # of some pairs, a column a graph, or one for all

    @classmethod
    def of(cls, families: Sequence[GraphFamily], found: Sequence[Walks]) -> ManyWalks:
        """The walks between the vertices of each family."""
        none = np.zeros(0, dtype=np.intp)
        return cls(
            families,
            offsets([len(walks.source) for walks in found]),
            np.concatenate([none, *(walks.source for walks in found)]),
            np.concatenate([none, *(walks.target for walks in found)]),
            side_by_side([walks.values for walks in found]).__getitem__,
        )

    def between(self, low: int, high: int, threshold: float) -> tuple[Indices, Indices, Matrix]:
        """Those of some families: a row a pair, a column a graph, 0 up to the threshold.

        The vertices of one family follow those of the other.
        """
        pairs = slice(int(self.first[low]), int(self.first[high]))
        some = self.families[low:high]
        counts = lengths(self.first[low : high + 1])
        shift = offsets([f.labels.shape[1] for f in some])[:-1].repeat(counts)
        values = self.values(pairs)[:, : len(some[-1].members)]
        values = np.where(values > threshold, values, 0.0)
        return self.source[pairs] + shift, self.target[pairs] + shift, values

    def gathered(
        self, rank: Indices, combine: Literal["max", "sum"], threshold: float
    ) -> Iterator[LabelPairs]:
        """The label pairs of all graphs, from walks above the threshold."""
        for some in self._alike():
            yield from some._gathered(rank, combine, threshold)

    def _alike(self) -> Iterator[ManyWalks]:
        """Those of families with about as many graphs."""
        low = size = 0
        for high, family in enumerate(self.families):
            g, v, _ = family.labels.shape
            if high > low and not _together(size + v**2, g, len(self.families[low].members)):
                yield self._between(low, high)
                low, size = high, 0
            size += v**2
        yield self._between(low, len(self.families))

    def _between(self, low: int, high: int) -> ManyWalks:
        return replace(self, families=self.families[low:high], first=self.first[low : high + 1])

    def _gathered(
        self, rank: Indices, combine: Literal["max", "sum"], threshold: float
    ) -> Iterator[LabelPairs]:
        tables = _Tables.of(self.families, rank)
        room = offsets(tables.graphs * tables.size**2)
        most = min(int(room[-1]), max(CACHE, int(lengths(room).max(initial=0))))
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
    numbers: NDArray[np.intp]  # (k, vertices of all families, g)
    begin: Indices  # (f + 1,) the first vertex of each family
    graphs: Indices  # (f,)
    size: Indices  # (f,) labels, and one for none
    starts: Indices  # (f,) where the labels of each family begin, the first is none
    ranks: Indices  # of the labels of each family

    @classmethod
    def of(cls, families: Sequence[GraphFamily], rank: Indices) -> _Tables:
        graphs, vertices, widths = np.array([f.labels.shape for f in families], dtype=np.intp).T
        width = int(widths.max())
        every = side_by_side([_widened(f.labels, width) for f in families], -1).transpose(2, 0, 1)
        begin = offsets(vertices)
        bases = np.arange(len(families)) * len(rank)
        codes = (rank + 1)[every] + bases.repeat(vertices)[:, None]
        keys, number = numbered(np.concatenate([bases, codes.ravel()]))
        starts = number[: len(families)]
        numbers = number[len(families) :].reshape(codes.shape) - starts.repeat(vertices)[:, None]
        size = lengths(np.append(starts, len(keys)))
        return cls(families, numbers, begin, graphs, size, starts, keys % len(rank) - 1)

    def cells(
        self,
        table: Vector,
        walks: ManyWalks,
        low: int,
        high: int,
        combine: Literal["max", "sum"],
        threshold: float,
    ) -> LabelPairs:
        """The label pairs of the families from ``low`` to ``high``."""
        graphs, size = self.graphs[low:high], self.size[low:high]
        begins = offsets((size**2).repeat(graphs))  # the tables, a graph each
        table = table[: begins[-1]]
        self._fill(table, low, high, *walks.between(low, high, threshold), combine)

        found = (table != 0).nonzero()[0]
        values = table[found]
        table[found] = 0.0
        counts = lengths(np.searchsorted(found, begins))
        shapes = offsets(size**2)  # one table for all graphs of a family
        found += (shapes[:-1].repeat(graphs) - begins[:-1]).repeat(counts)
        used = np.zeros(int(shapes[-1]), dtype=bool)
        used[found] = True
        cells = used.nonzero()[0]
        number = np.empty(len(used), dtype=np.int32)
        number[cells] = np.arange(len(cells), dtype=np.int32)
        members = np.concatenate([f.members for f in self.families[low:high]])
        first, second = self._labels(cells, shapes, low)
        return LabelPairs(members, counts, first, second, number[found], values)

    def _fill(
        self,
        table: Vector,
        low: int,
        high: int,
        source: Indices,
        target: Indices,
        values: Matrix,
        combine: Literal["max", "sum"],
    ) -> None:
        """Puts walks where the labels of both their ends say, every label with every other."""
        graphs, size = self.graphs[low:high], self.size[low:high]
        vertices = lengths(self.begin[low : high + 1])
        g = int(graphs[-1])
        own = self.numbers[:, self.begin[low] : self.begin[high], :g]
        starts = offsets(graphs * size**2)[:-1]
        # Behind its last graph a family has no labels: what is put there is of none.
        nth = np.minimum(np.arange(g), graphs[:, None] - 1)
        tables = starts[:, None] + nth * (size**2)[:, None]
        rows = own * size.repeat(vertices)[:, None] + tables.repeat(vertices, axis=0)
        labelled = np.asarray(own.any(axis=2))  # in any graph
        if values.shape[1] < g:
            values = values.repeat(g, axis=1)
        scatter = np.maximum if combine == "max" else np.add
        for row, has in zip(rows, labelled, strict=True):
            for column, had in zip(own, labelled, strict=True):
                some = (has[source] & had[target]).nonzero()[0]
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
        family = np.arange(len(shapes) - 1).repeat(lengths(np.searchsorted(cells, shapes)))
        first, second = np.divmod(cells - shapes[family], self.size[low + family])
        begin = self.starts[low + family]
        return self.ranks[begin + first], self.ranks[begin + second]


def _widened(labels: NDArray[np.int32], width: int) -> NDArray[np.int32]:
    """As many labels of each vertex as the widest family has."""
    k = labels.shape[2]
    if k == width:
        return labels
    return np.pad(labels, ((0, 0), (0, 0), (0, width - k)), constant_values=-1)
