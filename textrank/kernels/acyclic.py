"""Weights of all walks in graphs with few cycles, for many graphs of many shapes at once.

A walk from i to j ends with an edge into j: ``W(i, j) = Σ W(i, u) w(u, j)`` over the edges into j,
with ``W(i, i) = 1``. Only vertices that a walk joins are looked at, a few for each in a sentence,
where an inverse takes the cube of all. Vertices are taken by the length of the longest walk to
them, those of all graphs together. Those with one edge in and one out, such as dependencies, are
only passed through: their walks follow from those of their neighbours. Cycles are taken out
before, see ``Unrolled``.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from textrank.kernels.gathering import ManyWalks, side_by_side
from textrank.kernels.walks import CyclicPart, levels
from textrank.types import GraphFamily, Indices, Matrix
from textrank.types.ragged import Lists, lengths, offsets, spread


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


@dataclass(frozen=True, eq=False)
class _Shapes:
    """Families side by side: vertices and edges are numbered over all of them."""

    families: Sequence[GraphFamily]
    ends: Indices  # (v,) as of ``Unrolled``, over all families
    original: NDArray[np.bool_]  # (v,) whether walks begin here
    starts: Indices  # (f + 1,) the first vertex of each
    source: Indices  # (e,) of edges that weigh something
    target: Indices  # (e,)
    weights: Matrix  # (e + 1, g) a column a graph; ones at the end, for no edge

    @cached_property
    def family(self) -> Indices:
        """The family of each vertex."""
        return np.arange(len(self.families)).repeat(lengths(self.starts))

    @classmethod
    def of(cls, families: Sequence[GraphFamily], unrolled: Sequence[Unrolled]) -> _Shapes:
        """Those of families, each given without its cycles."""
        starts = offsets([len(own.ends) for own in unrolled])
        ones = np.ones((max(len(own.weights) for own in unrolled), 1))
        weights = side_by_side([*(own.weights for own in unrolled), ones])
        kept = np.asarray((weights > 0).any(axis=1)).nonzero()[0]
        shift = starts[:-1].repeat([len(own.edges) for own in unrolled])
        edges = (np.concatenate([own.edges for own in unrolled]).T + shift)[:, kept[:-1]]
        ends = np.concatenate([own.ends for own in unrolled])
        ends += np.where(ends < 0, 0, starts[:-1].repeat(lengths(starts)))
        original = np.concatenate([own.original for own in unrolled])
        return cls(families, ends, original, starts, edges[0], edges[1], weights.take(kept, axis=0))


@dataclass(frozen=True, eq=False)
class _Passes:
    """Vertices that are only passed through, no two of them neighbours."""

    vertices: Indices
    first: Indices  # (v,) the edge into a vertex that is passed through, -1 for all others
    last: Indices  # (v,) the edge out of it

    @classmethod
    def of(cls, shapes: _Shapes) -> _Passes:
        """Those with one edge in and one out; of two neighbours the one behind."""
        source, target, v = shapes.source, shapes.target, len(shapes.ends)
        number, edge = np.arange(v), np.arange(len(source))
        once = (np.bincount(source, minlength=v) == 1) & (np.bincount(target, minlength=v) == 1)
        some = (once & (shapes.ends == number)).nonzero()[0]
        first, last = np.full((2, v), -1)
        first[target], last[source] = edge, edge
        some = some[(source[first[some]] < some) & (target[last[some]] < some)]
        other = np.ones(v, dtype=bool)
        other[some] = False
        first[other] = last[other] = -1
        return cls(some, first, last)

    def sources(self, shapes: _Shapes) -> Lists:
        """Of every vertex those whose walks begin with its own: itself, and what leads to it."""
        stay = (self.first < 0).nonzero()[0]
        return self._grouped(stay, shapes.target[self.last[self.vertices]])

    def targets(self, shapes: _Shapes) -> Lists:
        """Of every vertex those whose walks end with its own: itself, and what it leads to."""
        stay = ((self.first < 0) & (shapes.ends >= 0)).nonzero()[0]
        return self._grouped(stay, shapes.source[self.first[self.vertices]])

    def _grouped(self, stay: Indices, beside: Indices) -> Lists:
        owner = np.concatenate([stay, beside])
        return Lists.grouped(owner, np.concatenate([stay, self.vertices]), len(self.first))


@dataclass(frozen=True, eq=False)
class _Steps:
    """Edges between the vertices that remain, and one from a root to each where walks begin.

    Vertices are numbered by the longest walk to them; the root is the first.
    """

    source: Indices  # (s,)
    target: Indices  # (s,) in order
    begins: Indices  # (s,) the vertex where walks with this step begin; -1 if it is not the first
    edges: tuple[Indices, Indices]  # (s,) whose weights are multiplied; -1 for none
    vertex: Indices  # (v + 1,) of the families, by number; -1 for the root
    cuts: Indices  # the first vertex of each level, and the end

    @classmethod
    def of(cls, shapes: _Shapes, passes: _Passes) -> _Steps:
        """Those of families; a vertex that is passed through makes one step of two edges."""
        roots = (shapes.original & (passes.first < 0)).nonzero()[0]
        into, out = passes.first[passes.vertices], passes.last[passes.vertices]
        alone = np.ones(len(shapes.source), dtype=bool)
        alone[into] = alone[out] = False
        edge = alone.nonzero()[0]
        root, none = np.full(len(roots), -1), np.full(len(edge), -1)
        first, last = np.concatenate([root, edge, into]), np.concatenate([root, none, out])
        source = np.concatenate([root, shapes.source[edge], shapes.source[into]]) + 1
        target = np.concatenate([roots, shapes.target[edge], shapes.target[out]]) + 1
        level, _ = levels(source, target, len(shapes.ends) + 1)
        vertex = level.argsort(kind="stable")
        number = np.empty(len(vertex), dtype=np.intp)
        number[vertex] = np.arange(len(vertex))
        to = number[target]
        order = to.argsort(kind="stable")
        cuts = np.searchsorted(level[vertex], np.arange(int(level.max()) + 2))
        source, target = source[order], target[order]
        begins = np.where(source == 0, target - 1, -1)
        edges = first[order], last[order]
        return cls(number[source], to[order], begins, edges, vertex - 1, cuts)

    def several(self) -> list[int]:
        """How many vertices before each are led to from several others."""
        count = np.bincount(self.target[self.source > 0], minlength=len(self.vertex))
        return offsets(count > 1).tolist()

    def levels(self) -> Iterator[tuple[int, int]]:
        """The first vertex and the first step of each level behind the root, and the ends."""
        steps = np.searchsorted(self.target, self.cuts)
        return zip(self.cuts[1:].tolist(), steps[1:].tolist(), strict=True)


@dataclass(frozen=True, eq=False)
class _Ends:
    """How walks of pairs end: with a step that is added to the walks of another pair."""

    pairs: slice | Indices
    before: Indices
    step: Indices

    def values(self, values: Matrix, weights: Matrix) -> Matrix:
        """What such walks weigh, given those of pairs before and the weights of steps."""
        found = weights.take(self.step, axis=0)
        found *= values.take(self.before, axis=0)
        return found


@dataclass(frozen=True, eq=False)
class _Joined:
    """Pairs of vertices that remain with a walk from one to the other, that of the root first.

    Pairs are in the order of the longest walk to their target. How they end comes in parts: one
    end of each pair of a level, then further ones of some of these.
    """

    source: Indices  # (q,)
    target: Indices  # (q,)
    ends: list[_Ends]

    @classmethod
    def of(cls, shapes: _Shapes, steps: _Steps) -> _Joined:
        """All of them, each found once."""
        nth = np.arange(len(shapes.ends)) - shapes.starts[shapes.family]
        most = int(nth.max()) + 1
        begin = np.ones(len(steps.vertex) + 1, dtype=np.intp)  # the pairs to each vertex
        begin[0] = 0
        source, ends = np.full(1, -1), []
        several = steps.several()
        for (low, first), (high, last) in pairwise(steps.levels()):
            of = steps.source[first:last]
            at, before = spread(begin[of], begin[of + 1] - begin[of])
            step, count = at + first, len(source)
            to, from_ = steps.target[step], np.maximum(source[before], steps.begins[step])
            if several[low] < several[high]:
                new, again, pair = _parted((to - low) * most + nth[from_], (high - low) * most)
                more = [_Ends(count + pair, before[again], step[again])]
                to, from_, before, step = to[new], from_[new], before[new], step[new]
            else:
                more = []
            source = np.concatenate([source, from_])
            ends += [_Ends(slice(count, len(source)), before, step), *more]
            sizes = np.bincount(to - low, minlength=high - low)
            begin[low + 1 : high + 1] = count + sizes.cumsum()
        return cls(source, steps.vertex.repeat(lengths(begin)), ends)

    def values(self, weights: Matrix) -> Matrix:
        """What all walks of each pair weigh, given the weights of steps; a column a graph."""
        g = weights.shape[1]
        values = np.empty((len(self.source), g))
        values[0] = 1.0  # the walk without steps
        for ends in self.ends:
            found = ends.values(values, weights)
            if isinstance(ends.pairs, slice):
                values[ends.pairs] = found
            else:
                place = ends.pairs[:, None] * g + np.arange(g)
                np.add.at(values.reshape(-1), place.ravel(), found.ravel())  # quicker than by rows
        return values


def _parted(places: Indices, size: int) -> tuple[Indices, Indices, Indices]:
    """Where every place is met, where those are met again, and the number of each of these."""
    nth = np.arange(len(places))
    met = np.empty(size, dtype=np.intp)
    met[places] = nth
    met = met[places]
    once = met == nth
    new, again = once.nonzero()[0], (~once).nonzero()[0]
    return new, again, np.searchsorted(new, met[again])


@dataclass(frozen=True, eq=False)
class JoinedWalks:
    """All pairs of vertices with a walk from one to the other, one family after the other.

    A walk leaves its source for a vertex that remains, and comes to its target from another.
    """

    shapes: _Shapes
    steps: _Steps
    joined: _Joined
    first: Indices  # (f + 1,) the first pair of each family
    source: Indices  # (q,)
    target: Indices  # (q,)
    between: Indices  # (q,) the pair of vertices that remain
    passes: _Passes

    @classmethod
    def of(cls, families: Sequence[GraphFamily], unrolled: Sequence[Unrolled]) -> JoinedWalks:
        """Those of families, each given without its cycles."""
        shapes = _Shapes.of(families, unrolled)
        passes = _Passes.of(shapes)
        steps = _Steps.of(shapes, passes)
        joined = _Joined.of(shapes, steps)
        at, source = passes.sources(shapes).of_each(joined.source[1:])
        again, target = passes.targets(shapes).of_each(joined.target[1:][at])
        source, between = source[again], at[again] + 1
        some = (source != target).nonzero()[0]
        family = shapes.family[source[some]].astype(np.min_scalar_type(len(families)))
        order = some[family.argsort(kind="stable")]
        first = offsets(np.bincount(family, minlength=len(families)))
        own = source[order], target[order], between[order]
        return cls(shapes, steps, joined, first, *own, passes)

    def of_graphs(self, graphs: slice) -> ManyWalks:
        """The walks of some of the graphs."""
        shapes, passes = self.shapes, self.passes
        shared = shapes.weights.shape[1] == 1
        weights = shapes.weights if shared else shapes.weights[:, graphs]
        one, other = self.steps.edges
        inner = self.joined.values(weights.take(one, axis=0) * weights.take(other, axis=0))
        end = shapes.ends[self.target]

        def values(pairs: slice) -> Matrix:
            found = inner.take(self.between[pairs], axis=0)
            found *= weights.take(passes.last[self.source[pairs]], axis=0)
            found *= weights.take(passes.first[self.target[pairs]], axis=0)
            found[end[pairs] == self.source[pairs]] -= 1.0  # the walk without edges
            return found

        start = shapes.starts[shapes.family[self.source]]
        some = [family.of_graphs(graphs) for family in shapes.families]
        return ManyWalks(some, self.first, self.source - start, end - start, values)
