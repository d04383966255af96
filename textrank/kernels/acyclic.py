"""Weights of all walks in graphs without cycles, for many graphs of many shapes at once.

A walk from i to j ends with an edge into j: ``W(i, j) = Σ W(i, u) w(u, j)`` over the edges into j,
with ``W(i, i) = 1``. Only vertices that a walk joins are looked at, a few for each in a sentence,
where an inverse takes the cube of all. Vertices are taken by the length of the longest walk to
them, those of all graphs together.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from textrank.kernels.label_pairs import Cells
from textrank.types import GraphFamily, Indices, Vector
from textrank.types.ragged import firsts, offsets, spread

ROOM = 1 << 23  # numbers of all tables that are made for some families together
MANY = 1 << 16  # graphs at most
CACHE = 1 << 18  # numbers of a table that stay near the processor while values are put there


@dataclass(frozen=True, eq=False)
class _Joined:
    """Pairs of vertices with a walk from one to the other, and how their walks end."""

    source: Indices  # (q,) vertices, numbered over all shapes
    target: Indices  # (q,)
    before: Indices  # (t,) the pair that a last edge is added to; -1 for the edge alone
    edge: Indices  # (t,) the last edge
    pair: Indices  # (t,) the pair that this gives


def acyclic_cells(
    families: Sequence[GraphFamily],
    rank: Indices,
    combine: Literal["max", "sum"],
    threshold: float,
) -> Iterator[Cells]:
    """The label pairs of families without cycles whose path weights exceed the threshold."""
    for some in _portions(families, len(rank)):
        yield _Shapes.of(some).cells(rank, combine, threshold)


def _portions(families: Sequence[GraphFamily], words: int) -> Iterator[list[GraphFamily]]:
    """Families together as long as tables over their vertices and labels are not too large."""
    found: list[GraphFamily] = []
    room, graphs = 0, 0
    for family in families:
        g, v, _ = family.labels.shape
        most = max(1, min(MANY, ROOM // (words + v * v)))
        for start in range(0, g, most):
            rows = np.arange(start, min(g, start + most))
            own = v * v + len(rows) * (words + v * v)
            if found and (room + own > ROOM or graphs + len(rows) > MANY):
                yield found
                found, room, graphs = [], 0, 0
            found.append(family if len(rows) == g else family.take(rows, family.members[rows]))
            room, graphs = room + own, graphs + len(rows)
    if found:
        yield found


@dataclass(frozen=True, eq=False)
class _Shapes:
    """Families side by side: vertices and edges are numbered over all of them."""

    families: Sequence[GraphFamily]
    starts: Indices  # (f + 1,) the first vertex of each
    source: Indices  # (e,) of edges that weigh something, by their source
    target: Indices  # (e,)
    graphs: Indices  # (f + 1,) the first graph of each
    weights: Vector  # of edge k for the graphs of its family, from begin[k] on
    begin: Indices  # (e,)
    shape: Indices  # (e,) the family of each edge

    @classmethod
    def of(cls, families: Sequence[GraphFamily]) -> _Shapes:
        starts = offsets([f.labels.shape[1] for f in families])
        graphs = offsets([len(f.labels) for f in families])
        weights = [np.broadcast_to(f.weights, (len(f.labels), len(f.edges))).T for f in families]
        begin = offsets([w.size for w in weights])[:-1]
        shape = np.repeat(np.arange(len(families)), [len(f.edges) for f in families])
        nth = np.concatenate([np.arange(len(f.edges)) for f in families])
        ends = np.concatenate([f.edges + start for f, start in zip(families, starts, strict=False)])
        weighty = np.concatenate([(w > 0).any(axis=1) for w in weights])
        kept = np.flatnonzero(weighty)
        kept = kept[np.argsort(ends[kept, 0], kind="stable")]
        shape = shape[kept]
        return cls(
            families,
            starts,
            ends[kept, 0],
            ends[kept, 1],
            graphs,
            np.concatenate([w.ravel() for w in weights]),
            begin[shape] + nth[kept] * np.diff(graphs)[shape],
            shape,
        )

    def joined(self) -> _Joined:
        """All pairs of vertices with a walk between them, each found once."""
        first = np.searchsorted(self.source, np.arange(int(self.starts[-1]) + 1))
        size = np.diff(self.starts)
        # Where the row of a vertex would begin in a table of the pairs of its own family.
        row = np.repeat(offsets(size**2)[:-1] - self.starts[:-1], size)
        row += (np.arange(int(self.starts[-1])) - np.repeat(self.starts[:-1], size)) * np.repeat(
            size, size
        )
        known = np.full(int((size**2).sum()), -1, dtype=np.intp)
        pairs: list[tuple[Indices, Indices]] = []
        ends: list[tuple[Indices, Indices, Indices]] = []
        source, edge = self.source, np.arange(len(self.source))
        before, count = np.full(len(edge), -1, dtype=np.intp), 0
        while len(edge):
            target = self.target[edge]
            place = row[source] + target
            new = np.flatnonzero(known[place] < 0)
            known[place[new]] = new
            once = new[known[place[new]] == new]
            known[place[once]] = count + np.arange(len(once))
            ends.append((before, edge, known[place]))
            pairs.append((source[once], target[once]))
            begin = first[target[once]]
            at, edge = spread(begin, first[target[once] + 1] - begin)
            before, source = count + at, source[once][at]
            count += len(once)
        joined = [np.concatenate(parts) for parts in zip(*pairs, strict=True)]
        last = [np.concatenate(parts) for parts in zip(*ends, strict=True)]
        return _Joined(joined[0], joined[1], *last)

    def levels(self) -> Indices:  # (v,)
        """The edges of the longest walk to each vertex."""
        found = np.zeros(int(self.starts[-1]), dtype=np.intp)
        while True:
            longer = np.flatnonzero(found[self.source] >= found[self.target])
            if not len(longer):
                return found
            np.maximum.at(found, self.target[longer], found[self.source[longer]] + 1)

    def cells(self, rank: Indices, combine: Literal["max", "sum"], threshold: float) -> Cells:
        """The label pairs of all graphs."""
        none = np.zeros(0, dtype=np.intp)
        if not len(self.source):
            return Cells(none, none, none, np.zeros(0))
        joined = self.joined()
        shape = np.searchsorted(self.starts, joined.source, side="right") - 1
        count = np.diff(self.graphs)[shape]
        begin = offsets(count)
        values = self._values(joined, begin, count)
        some = np.flatnonzero(values > threshold)
        pair = np.repeat(np.arange(len(shape)), count)[some]
        graph = self.graphs[shape[pair]] + some - begin[pair]
        labels = _Labels.of(self.families, self.starts, self.graphs, rank)
        return labels.gathered(
            graph, joined.source[pair], joined.target[pair], values[some], combine
        )

    def _values(self, joined: _Joined, begin: Indices, count: Indices) -> Vector:
        """The summed weights of all walks of each pair, for the graphs of its family."""
        values = np.zeros(int(begin[-1]) + 1)
        values[-1] = 1.0  # of a walk without edges
        level = self.levels()[joined.target[joined.pair]]
        order = np.lexsort((joined.pair, level))
        to, before, edge = joined.pair[order], joined.before[order], joined.edge[order]
        cuts = np.append(firsts(level[order]), len(order))
        for low, high in pairwise(cuts.tolist()):
            at, place = spread(begin[to[low:high]], count[to[low:high]])
            nth = place - begin[to[low:high]][at]
            own = before[low:high]
            source = np.where(own[at] < 0, len(values) - 1, begin[own][at] + nth)
            found = values[source] * self.weights[self.begin[edge[low:high]][at] + nth]
            new = np.concatenate([[True], to[low + 1 : high] != to[low : high - 1]])
            first = new[at]
            values[place[first]] = found[first]
            if not new.all():
                np.add.at(values, place[~first], found[~first])
        return values[:-1]


@dataclass(frozen=True, eq=False)
class _Labels:
    """The labels of graphs, numbered in each graph by their rank."""

    members: Indices  # (g,)
    vertex: Indices  # (g,) where vertex 0 of all families would stand among the labels
    numbers: NDArray[np.int32]  # (vertices of all graphs, k) -1 for none
    starts: Indices  # (g + 1,) the first label of each graph
    ranks: Indices  # of the labels of each graph

    @classmethod
    def of(
        cls, families: Sequence[GraphFamily], starts: Indices, graphs: Indices, rank: Indices
    ) -> _Labels:
        width = max(1, *(f.labels.shape[2] for f in families))
        found = [_widened(rank[f.labels], width) for f in families]
        every = np.concatenate([own.reshape(-1, width) for own in found])
        size = np.repeat([f.labels.shape[1] for f in families], np.diff(graphs))
        graph = np.repeat(np.arange(len(size)), size)
        present = np.zeros((len(size), len(rank)), dtype=bool)  # the last for vertices without
        present[graph[:, None], every] = True
        present[:, -1] = False
        number = np.cumsum(present, axis=1, dtype=np.int32)
        own, ranks = np.nonzero(present)
        vertex = offsets(size)[:-1] - np.repeat(starts[:-1], np.diff(graphs))
        numbers = np.where(every < 0, -1, number[graph[:, None], every] - 1)
        begins = offsets(np.bincount(own, minlength=len(size)))
        members = np.concatenate([f.members for f in families])
        return cls(members, vertex, numbers, begins, ranks)

    def gathered(
        self,
        graph: Indices,
        source: Indices,
        target: Indices,
        values: Vector,
        combine: Literal["max", "sum"],
    ) -> Cells:
        """Values of vertex pairs of graphs by the labels of the vertices."""
        size = np.diff(self.starts)
        order = np.argsort(graph.astype(np.uint16), kind="stable")  # by radix: each has its table
        graph, source, target = graph[order], source[order], target[order]
        values = values[order]
        tables, last = offsets(size**2), np.searchsorted(graph, np.arange(len(size)), side="right")
        found = []
        low = begin = 0
        while low < len(size):
            room = np.searchsorted(tables, tables[low] + CACHE, side="right") - 1
            high = max(low + 1, int(room))
            cells = slice(begin, int(last[high - 1]))
            table = np.zeros(int(tables[high] - tables[low]))
            at = graph[cells]
            rows = self.vertex[at]
            ones, others = self.numbers[rows + source[cells]], self.numbers[rows + target[cells]]
            _scatter(
                combine, table, tables[at] - tables[low], size[at], ones, others, values[cells]
            )
            found.append(self._cells(table, tables, low))
            low, begin = high, cells.stop
        parts = zip(*((c.members, c.first, c.second, c.values) for c in found), strict=True)
        members, first, second, kept = (np.concatenate(part) for part in parts)
        return Cells(members, first, second, kept)

    def _cells(self, table: Vector, tables: Indices, low: int) -> Cells:
        """The values of a table, which begins with graph ``low``."""
        size = np.diff(self.starts)
        cell = np.flatnonzero(table)
        owner = np.searchsorted(tables, cell + tables[low], side="right") - 1
        first, second = np.divmod(cell + tables[low] - tables[owner], size[owner])
        begin, ranks = self.starts[owner], self.ranks
        return Cells(self.members[owner], ranks[begin + first], ranks[begin + second], table[cell])


def _scatter(
    combine: Literal["max", "sum"],
    table: Vector,
    start: Indices,
    width: Indices,
    ones: NDArray[np.int32],
    others: NDArray[np.int32],
    values: Vector,
) -> None:
    """Puts values where the labels of both their vertices say, every label with every other."""
    scatter = np.maximum if combine == "max" else np.add
    for one in ones.T:
        place = start + one * width
        for other in others.T:
            some = np.flatnonzero((one >= 0) & (other >= 0))
            scatter.at(table, place[some] + other[some], values[some])


def _widened(labels: Indices, width: int) -> Indices:
    missing = width - labels.shape[2]
    if not missing:
        return labels
    return np.pad(labels, ((0, 0), (0, 0), (0, missing)), constant_values=-1)
