"""Weights of all walks in graphs with few cycles, for many graphs of many shapes at once.

A walk from i to j ends with an edge into j: ``W(i, j) = Σ W(i, u) w(u, j)`` over the edges into j,
with ``W(i, i) = 1``. Only vertices that a walk joins are looked at, a few for each in a sentence,
where an inverse takes the cube of all. Vertices are taken by the length of the longest walk to
them, those of all graphs together. Cycles are taken out before, see ``Unrolled``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from textrank.kernels.gathering import ManyWalks
from textrank.kernels.walks import CyclicPart
from textrank.types import GraphFamily, Indices, Matrix, Vector
from textrank.types.ragged import firsts, offsets, spread


@dataclass(frozen=True, eq=False)
class _Joined:
    """Pairs of vertices with a walk from one to the other, and how their walks end."""

    source: Indices  # (q,) vertices, numbered over all shapes
    target: Indices  # (q,)
    before: Indices  # (t,) the pair that a last edge is added to; -1 for the edge alone
    edge: Indices  # (t,) the last edge
    pair: Indices  # (t,) the pair that this gives


@dataclass(frozen=True, eq=False)
class Unrolled:
    """A family as a graph without cycles that has the same walks.

    Of a strongly connected part every vertex stands twice. Walks enter a part at a vertex, go from
    there to the copy of any by one edge, which weighs as much as all walks between the two inside
    the part, and leave from the copy.
    """

    edges: Indices  # (e, 2)
    weights: Matrix  # (g, e), or (1, e)
    ends: Indices  # (v,) which vertex a walk to this one ends at; -1 where it has to go on

    original: NDArray[np.bool_]  # (v,) false for copies

    @classmethod
    def of(cls, family: GraphFamily, parts: Sequence[CyclicPart], radius: float) -> Unrolled:
        """That of a family; the weights of a part are bounded by the radius."""
        if not parts:
            every = np.arange(family.labels.shape[1])
            return cls(family.edges, family.weights, every, every >= 0)
        edges, v = family.edges, family.labels.shape[1]
        weights = family.weights
        ends, leaves = np.arange(v), np.arange(v)
        ways, passed = [], []
        inside = np.zeros(len(edges), dtype=bool)
        for part in parts:
            size, copies = len(part.vertices), len(ends) + np.arange(len(part.vertices))
            passed.append(part.passed(edges, weights, radius))
            ways.append(np.column_stack([np.repeat(part.vertices, size), np.tile(copies, size)]))
            ends = np.append(ends, part.vertices)
            ends[part.vertices], leaves[part.vertices] = -1, copies
            inside[part.edges] = True
        kept = edges[~inside]
        kept = np.column_stack([leaves[kept[:, 0]], kept[:, 1]])
        weights = np.hstack([weights[:, ~inside], *passed])
        return cls(np.vstack([kept, *ways]), weights, ends, np.arange(len(ends)) < v)


def joined_walks(families: Sequence[GraphFamily], unrolled: Sequence[Unrolled]) -> ManyWalks:
    """The walks of families, each given without its cycles."""
    return _Shapes.of(families, unrolled).walks()


@dataclass(frozen=True, eq=False)
class _Shapes:
    """Families side by side: vertices and edges are numbered over all of them."""

    families: Sequence[GraphFamily]
    ends: Indices  # (v,) as of ``Unrolled``, in the vertices of each family
    original: NDArray[np.bool_]  # (v,) whether walks begin here
    starts: Indices  # (f + 1,) the first vertex of each
    source: Indices  # (e,) of edges that weigh something, by their source
    target: Indices  # (e,)
    rows: Indices  # (f,) of weights: one for each graph, or one for all
    weights: Vector  # of edge k from begin[k] on
    begin: Indices  # (e,)

    @classmethod
    def of(cls, families: Sequence[GraphFamily], unrolled: Sequence[Unrolled]) -> _Shapes:
        starts = offsets([len(own.ends) for own in unrolled])
        rows = np.array([len(own.weights) for own in unrolled], dtype=np.intp)
        counts = np.array([len(own.edges) for own in unrolled], dtype=np.intp)
        weights = [own.weights.T for own in unrolled]
        shape = np.repeat(np.arange(len(families)), counts)
        ends = np.concatenate([own.edges for own in unrolled]) + starts[shape, None]
        begin = offsets(rows[shape])[:-1]
        kept = np.flatnonzero(np.concatenate([(w > 0).any(axis=1) for w in weights]))
        kept = kept[np.argsort(ends[kept, 0], kind="stable")]
        return cls(
            families,
            np.concatenate([own.ends for own in unrolled]),
            np.concatenate([own.original for own in unrolled]),
            starts,
            ends[kept, 0],
            ends[kept, 1],
            rows,
            np.concatenate([w.ravel() for w in weights]),
            begin[kept],
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
        none = np.zeros(0, dtype=np.intp)
        pairs, ends = [(none, none)], [(none, none, none)]
        edge = np.flatnonzero(self.original[self.source])
        source = self.source[edge]
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

    def walks(self) -> ManyWalks:
        """The weights of all walks."""
        joined = self.joined()
        shape = np.searchsorted(self.starts, joined.source, side="right") - 1
        count = self.rows[shape]
        begin = offsets(count)
        values = self._values(joined, begin, count)
        target = self.ends[joined.target]
        same = np.flatnonzero(joined.source - self.starts[shape] == target)
        values[spread(begin[same], count[same])[1]] -= 1.0  # the walk without edges
        kept = np.flatnonzero(target >= 0)
        order = kept[np.argsort(shape[kept], kind="stable")]
        first = np.searchsorted(shape[order], np.arange(len(self.families) + 1))
        source = joined.source[order] - self.starts[shape[order]]
        own = (self.rows > 1).astype(np.intp)
        return ManyWalks(self.families, first, source, target[order], values, begin[order], own)

    def _values(self, joined: _Joined, begin: Indices, count: Indices) -> Vector:
        """The summed weights of all walks of each pair, for the weights of its family."""
        level = self.levels()[joined.target[joined.pair]]
        order = np.argsort(level.astype(np.uint16), kind="stable")  # by radix
        to, before, edge = joined.pair[order], joined.before[order], joined.edge[order]
        size, ends = int(begin[-1]), offsets(count[to])
        nth = np.arange(int(ends[-1])) - np.repeat(ends[:-1], count[to])
        place = np.repeat(begin[to], count[to]) + nth
        # Of a walk without edges: ones, behind all others.
        source = np.repeat(np.where(before < 0, size, begin[before]), count[to]) + nth
        weights = self.weights[np.repeat(self.begin[edge], count[to]) + nth]
        values = np.ones(size + int(count.max(initial=0)))
        values[:size] = 0.0
        cuts = ends[np.append(firsts(level[order]), len(order))]
        for low, high in pairwise(cuts.tolist()):
            np.add.at(values, place[low:high], values[source[low:high]] * weights[low:high])
        return values[:size]
