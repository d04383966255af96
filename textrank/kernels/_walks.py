"""Weights of all walks between the vertices of graphs that share their shape."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import Any, Literal, TypeAlias, TypeVar

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.sparse.csgraph import connected_components

from textrank._ragged import RaggedArray, expand, factorize, lengths, offsets, run_starts
from textrank.features import FeatureNames, Features, Indices, Matrix, RawCSR, Vector
from textrank.graphs import GraphBatch, GraphFamily

ROUND_OFF = 1e-12  # an inverse has such entries where no walk leads


@dataclass(frozen=True, eq=False)
class Walks:
    """Pairs of places with a walk from one to the other, and the summed weight of all of them.

    A place is a vertex, or one of the labels of a vertex.
    """

    source: Indices  # (m,)
    target: Indices  # (m,)
    values: Matrix  # (g, m), or (1, m) where all graphs of the family have the same


def all_walks(shape: GraphFamily, weights: Matrix, places: Indices, threshold: float) -> Walks:
    """The entries of ``(I - A)^-1 - I`` above the threshold, for each row of ``weights``.

    Walks are between the ``places``, of which each is a vertex; a vertex may have several.
    A vertex with one edge in and one edge out is only passed through: its edges are put together
    to one, and its own walks follow from those of its two neighbours. A dependency is such a
    vertex, so the matrix that is inverted has the size of the sentence.
    """
    inner = _pass_through(shape.edges, shape.labels.shape[1])
    I = np.eye(inner.size)  # noqa: E741
    N = np.linalg.inv(I - inner.reduced(weights)).astype(np.float64, copy=False)

    into, out = inner.factors(weights, inner.first), inner.factors(weights, inner.last)
    least = threshold / max(1.0, into.max() * out.max())
    reached = np.any(max(least, ROUND_OFF) < N, axis=0)
    row, column = inner.row[places], inner.column[places]
    source, target = np.nonzero(reached[row][:, column])
    values = N.reshape(len(N), -1).take(row[source] * inner.size + column[target], axis=1)
    values *= out[:, places].take(source, axis=1)
    values *= into[:, places].take(target, axis=1)
    same = np.flatnonzero(places[source] == places[target])
    values[:, same[inner.first[places[source[same]]] < 0]] -= 1.0  # the walk of length zero
    return _above(threshold, source, target, values)


def short_walks(
    shape: GraphFamily, weights: Matrix, places: Indices, threshold: float, length: int
) -> Walks:
    """The entries of ``A + A^2 + ... + A^length`` above the threshold, for each row of weights."""
    W = A = _dense(shape.labels.shape[1], shape.edges[:, 0], shape.edges[:, 1], weights)
    for _ in range(length - 1):
        W = A + A @ W
    source, target = np.nonzero(np.any(threshold < W, axis=0)[places][:, places])
    return _above(threshold, source, target, W[:, places[source], places[target]])


@dataclass(frozen=True, eq=False)
class CyclicPart:
    """A strongly connected part of a family's shape that contains a cycle."""

    vertices: Indices
    edges: Indices  # those between its vertices that weigh anything

    def matrices(self, shape: Indices, weights: Matrix) -> Matrix:
        """The weights between its vertices, of edges (e, 2) with these weights (g, e)."""
        at = np.searchsorted(self.vertices, shape[self.edges])
        return _dense(len(self.vertices), at[:, 0], at[:, 1], weights[:, self.edges])

    def passed(self, shape: Indices, weights: Matrix, radius: float) -> Matrix:
        """What all walks inside it weigh from each vertex to each, (g, vertices squared)."""
        A = self.matrices(shape, weights)
        A *= _factors(A, radius)[:, None, None]
        N = np.linalg.inv(np.eye(A.shape[1]) - A).astype(np.float64, copy=False)
        return N.reshape(len(N), -1)


def cyclic_parts(families: Sequence[GraphFamily]) -> dict[int, list[CyclicPart]]:
    """The strongly connected parts with a cycle, by the family they are in."""
    starts = offsets([f.labels.shape[1] for f in families])
    first_edge = offsets([len(f.edges) for f in families])
    ends = [f.edges + start for f, start in zip(families, starts.tolist(), strict=False)]
    weighty = [(family.weights > 0).any(axis=0) for family in families]
    source, target = np.concatenate([np.empty((0, 2), np.intp), *ends]).T
    walked = np.concatenate([np.empty(0, bool), *weighty]).nonzero()[0]
    walked = walked[levels(source[walked], target[walked], int(starts[-1]))[1]]
    if not len(walked):
        return {}
    links = (np.ones(len(walked)), (source[walked], target[walked]))
    shape = (starts[-1], starts[-1])
    part = connected_components(sp.csr_array(links, shape=shape), connection="strong")[1]

    inner = walked[part[source[walked]] == part[target[walked]]]
    order = inner[np.argsort(part[source[inner]], kind="stable")]
    cuts = np.flatnonzero(np.diff(part[source[order]])) + 1
    out: dict[int, list[CyclicPart]] = {}
    for edges in np.split(order, cuts) if len(order) else []:
        at = int(np.searchsorted(starts, source[edges[0]], side="right")) - 1
        vertices = np.unique(source[edges]) - starts[at]
        out.setdefault(at, []).append(CyclicPart(vertices, edges - first_edge[at]))
    return out


def levels(source: Indices, target: Indices, v: int) -> tuple[Indices, Indices]:  # (e,), (e,)
    """How long the longest walk to each vertex is, and which edges are on a cycle or behind one.

    Edges that begin where none ends are taken away as long as there are any.
    """
    found, left, level = np.zeros(v, dtype=np.intp), np.arange(len(source)), 0
    while True:
        ended = np.zeros(v, dtype=bool)
        ended[target] = True
        some = ended[source].nonzero()[0]
        if len(some) == len(left):
            return found, left
        level += 1
        found[target] = level
        left, source, target = left[some], source[some], target[some]


def bounded(
    shape: GraphFamily, parts: Sequence[CyclicPart], radius: float
) -> tuple[Matrix, NDArray[np.bool_]]:
    """Weights for which the sum over all walks converges, and which rows had to be changed.

    A sum over walks can only diverge inside a strongly connected part, where walks return. If the
    spectral radius of such a part is above ``radius``, the weights of its inner edges are scaled
    down together until it is ``radius``; all other edges keep theirs.
    """
    weights, changed = shape.weights, np.zeros(len(shape.weights), dtype=bool)
    for part in parts:
        factor = _factors(part.matrices(shape.edges, shape.weights), radius)
        weights = weights.copy()
        weights[:, part.edges] *= factor[:, None]
        changed |= factor < 1.0
    return weights, np.broadcast_to(changed, len(shape.members))


def _factors(A: Matrix, radius: float) -> Vector:
    """What matrices, (g, v, v), are to be multiplied by so that none has a larger radius."""
    found = A.sum(axis=2).max(axis=1)  # the radius is not above this
    doubtful = np.flatnonzero(found > radius)
    if len(doubtful):
        found[doubtful] = np.abs(np.linalg.eigvals(A[doubtful])).max(axis=1)
    return radius / np.maximum(found, radius)


def undirected(family: GraphFamily) -> GraphFamily:
    """The family with every edge in both directions, for walks that ignore the direction."""
    loop = family.edges[:, 0] == family.edges[:, 1]
    edges = np.vstack([family.edges, family.edges[~loop, ::-1]])
    weights = np.hstack([family.weights, family.weights[:, ~loop]])
    return GraphFamily(family.members, edges, weights, family.labels)


@dataclass(frozen=True, eq=False)
class _PassThrough:
    """Vertices that are taken out before the solve, and where their walks are found afterwards."""

    edges: Indices  # (e, 2)
    vertices: Indices  # (s,) those taken out
    first: Indices  # (v,) the edge into a vertex that was taken out, -1 for all others
    last: Indices  # (v,) the edge out of it
    row: Indices  # (v,) the row of the solved matrix where the walks of a vertex start
    column: Indices  # (v,) the column where they end

    @property
    def size(self) -> int:
        """The number of vertices that remain."""
        return len(self.row) - len(self.vertices)

    def reduced(self, weights: Matrix) -> Matrix:
        """The matrix over the vertices that remain."""
        inside = np.zeros(len(self.edges), dtype=bool)
        inside[self.first[self.vertices]] = inside[self.last[self.vertices]] = True
        edges = self.edges[~inside]
        first, last = self.first[self.vertices], self.last[self.vertices]
        rows = np.concatenate([self.row[edges[:, 0]], self.column[self.vertices]])
        columns = np.concatenate([self.column[edges[:, 1]], self.row[self.vertices]])
        values = np.hstack([weights[:, ~inside], weights[:, first] * weights[:, last]])
        return _dense(self.size, rows, columns, values)

    def factors(self, weights: Matrix, edge: Indices) -> Matrix:
        """The weight of each vertex's edge, 1 for vertices that remain."""
        ones = np.ones((len(weights), 1))
        return np.hstack([weights, ones])[:, edge]


def _above(threshold: float, source: Indices, target: Indices, values: Matrix) -> Walks:
    values[values <= threshold] = 0.0
    some = np.flatnonzero(np.any(values, axis=0))
    return Walks(source[some], target[some], values.take(some, axis=1))


def _dense(v: int, rows: Indices, columns: Indices, values: Matrix) -> Matrix:
    """Square matrices, (g, v, v), with the ``values`` (g, e) added at their places."""
    code = np.arange(len(values))[:, None] * v * v + rows * v + columns
    flat = np.bincount(code.ravel(), values.ravel(), minlength=len(values) * v * v)
    return flat.astype(np.float64, copy=False).reshape(-1, v, v)


def _pass_through(edges: Indices, v: int) -> _PassThrough:
    source, target = edges.T
    once = (np.bincount(source, minlength=v) == 1) & (np.bincount(target, minlength=v) == 1)
    last, first = np.zeros(v, dtype=np.intp), np.zeros(v, dtype=np.intp)
    last[source] = first[target] = np.arange(len(edges))
    before, after = source[first].tolist(), target[last].tolist()

    out: set[int] = set()
    # No two neighbours may both go. Vertices added last stand for edges most often: they go first.
    for vertex in np.flatnonzero(once)[::-1].tolist():
        if before[vertex] != vertex and before[vertex] not in out and after[vertex] not in out:
            out.add(vertex)
    return _numbered(edges, v, np.array(sorted(out), dtype=np.intp), first, last)


def _numbered(edges: Indices, v: int, out: Indices, first: Indices, last: Indices) -> _PassThrough:
    kept = np.ones(v, dtype=bool)
    kept[out] = False
    number = np.cumsum(kept) - 1
    row, column = number.copy(), number.copy()
    row[out] = number[edges[last[out], 1]]
    column[out] = number[edges[first[out], 0]]
    return _PassThrough(
        edges, out, np.where(kept, -1, first), np.where(kept, -1, last), row, column
    )


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
    def from_family(
        cls, family: GraphFamily, parts: Sequence[CyclicPart], radius: float
    ) -> Unrolled:
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
    def build(cls, families: Sequence[GraphFamily], unrolled: Sequence[Unrolled]) -> _Shapes:
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
    def build(cls, shapes: _Shapes) -> _Passes:
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

    def sources(self, shapes: _Shapes) -> RaggedArray:
        """Of every vertex those whose walks begin with its own: itself, and what leads to it."""
        stay = (self.first < 0).nonzero()[0]
        return self._grouped(stay, shapes.target[self.last[self.vertices]])

    def targets(self, shapes: _Shapes) -> RaggedArray:
        """Of every vertex those whose walks end with its own: itself, and what it leads to."""
        stay = ((self.first < 0) & (shapes.ends >= 0)).nonzero()[0]
        return self._grouped(stay, shapes.source[self.first[self.vertices]])

    def _grouped(self, stay: Indices, beside: Indices) -> RaggedArray:
        owner = np.concatenate([stay, beside])
        return RaggedArray.group_by(owner, np.concatenate([stay, self.vertices]), len(self.first))


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
    def build(cls, shapes: _Shapes, passes: _Passes) -> _Steps:
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
    def build(cls, shapes: _Shapes, steps: _Steps) -> _Joined:
        """All of them, each found once."""
        nth = np.arange(len(shapes.ends)) - shapes.starts[shapes.family]
        most = int(nth.max()) + 1
        begin = np.ones(len(steps.vertex) + 1, dtype=np.intp)  # the pairs to each vertex
        begin[0] = 0
        source, ends = np.full(1, -1), []
        several = steps.several()
        for (low, first), (high, last) in pairwise(steps.levels()):
            of = steps.source[first:last]
            at, before = expand(begin[of], begin[of + 1] - begin[of])
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
    def from_families(
        cls, families: Sequence[GraphFamily], unrolled: Sequence[Unrolled]
    ) -> JoinedWalks:
        """Those of families, each given without its cycles."""
        shapes = _Shapes.build(families, unrolled)
        passes = _Passes.build(shapes)
        steps = _Steps.build(shapes, passes)
        joined = _Joined.build(shapes, steps)
        at, source = passes.sources(shapes).gather(joined.source[1:])
        again, target = passes.targets(shapes).gather(joined.target[1:][at])
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
    def from_walks(cls, families: Sequence[GraphFamily], found: Sequence[Walks]) -> ManyWalks:
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
        tables = _Tables.build(self.families, rank)
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
    def build(cls, families: Sequence[GraphFamily], rank: Indices) -> _Tables:
        graphs, vertices, widths = np.array([f.labels.shape for f in families], dtype=np.intp).T
        width = int(widths.max())
        every = side_by_side([_widened(f.labels, width) for f in families], -1).transpose(2, 0, 1)
        begin = offsets(vertices)
        bases = np.arange(len(families)) * len(rank)
        codes = (rank + 1)[every] + bases.repeat(vertices)[:, None]
        keys, number = factorize(np.concatenate([bases, codes.ravel()]))
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


Columns: TypeAlias = NDArray[np.int32]
T = TypeVar("T", bound=np.generic)
LABEL_PAIRS_CACHE = (
    1 << 17
)  # numbers of a table that stay near the processor while values are scattered in
LARGE = 1 << 22  # above this, only the label pairs that occur get a place in the table


@dataclass(frozen=True, eq=False)
class LabelPairs:
    """Some graphs over the label pairs that occur in any of them, without those they lack."""

    members: Indices  # (g,)
    counts: Indices  # (g,) of the values of each graph
    first: Indices  # (p,) ranks of the labels
    second: Indices  # (p,)
    places: Columns  # (c,) which of the label pairs a value is of, one graph after the other
    values: Vector  # (c,)
    steps: int = 0  # of the paths counted here, where paths of different length are kept apart


@dataclass(frozen=True, eq=False)
class Places:
    """The labels that the vertices of a family have, each vertex once for every label."""

    vertices: Indices  # (s,)
    labels: Indices  # (g, s) numbers in `ranks`; 0 where a graph has no label there
    ranks: Indices  # (u,) the ranks of the labels that occur, after a -1

    @classmethod
    def from_family(cls, family: GraphFamily, rank: Indices) -> Places:
        """Those of a batch of graphs."""
        g, v, k = family.labels.shape
        found = rank[family.labels].reshape(g, v * k)
        # Shapes that occur again are solved once: their places must not depend on the labels.
        some = np.arange(v * k) if len(family.weights) == 1 else np.flatnonzero((found >= 0).any(0))
        ranks, labels = np.unique(np.append(found.take(some, axis=1), -1), return_inverse=True)
        return cls(some // max(1, k), labels[:-1].reshape(g, len(some)), ranks)

    def __len__(self) -> int:
        return len(self.vertices) if len(self.ranks) > 1 else 0


def label_pairs(
    members: Indices,
    places: Places,
    walks: Walks,
    combine: Literal["max", "sum"],
    *,
    steps: int = 0,
) -> Iterator[LabelPairs]:
    """The label pairs of a family from the walks between its places, a few graphs at a time."""
    u = len(places.ranks)
    count = max(1, LABEL_PAIRS_CACHE // u**2)
    for start in range(0, len(members), count):
        rows = slice(start, start + count)
        labels = places.labels[rows]
        codes = (labels * u).take(walks.source, axis=1)
        codes += labels.take(walks.target, axis=1)
        values = walks.values if len(walks.values) == 1 else walks.values[rows]
        if len(values) < len(codes):
            values = values.repeat(len(codes), axis=0)
        cells, table = _scattered(codes, values, u, combine)
        row, place = table.nonzero()
        first, second = (places.ranks[label] for label in np.divmod(cells, u))
        counts = np.bincount(row, minlength=len(table))
        short = place.astype(np.int32)
        yield LabelPairs(members[rows], counts, first, second, short, table[row, place], steps)


def merged(batch: GraphBatch, blocks: Iterable[LabelPairs]) -> Features:
    """The feature matrix of the batch from the label pairs of all its families."""
    done = list(blocks)
    names, columns = _columns(sorted(batch.vocabulary), done)
    if not done:
        return Features(sp.csr_array((batch.size, 0)), names)
    return Features(_rows(done, columns, (batch.size, len(names))), names)


def _rows(
    blocks: Sequence[LabelPairs], columns: Sequence[Columns], shape: tuple[int, int]
) -> RawCSR | sp.csr_array:
    """The values of all blocks as a matrix, a row a graph."""
    members = np.concatenate([block.members for block in blocks])
    order = members.argsort(kind="stable")
    values = [block.values for block in blocks]
    if (order[1:] < order[:-1]).any():
        columns, values = _cut(blocks, columns, order), _cut(blocks, values, order)
    counts = np.concatenate([block.counts for block in blocks])
    ends = offsets(np.bincount(members, counts, minlength=shape[0]))
    data, indices = np.concatenate(values), np.concatenate(columns)
    if len(data) > np.iinfo(np.int32).max:
        return sp.csr_array((data, indices, ends), shape=shape)
    cells = RawCSR(data, indices, ends.astype(np.int32), shape)
    # Where a graph has several parts, its columns are in order only in each of them.
    return cells if len(run_starts(members[order])) == len(members) else cells.to_scipy()


def _cut(
    blocks: Sequence[LabelPairs], parts: Sequence[NDArray[T]], order: Indices
) -> list[NDArray[T]]:
    """What blocks say of each of their graphs, in another order."""
    found = [
        part[low:high]
        for block, part in zip(blocks, parts, strict=True)
        for low, high in pairwise(offsets(block.counts).tolist())
    ]
    return [found[i] for i in order.tolist()]


def _columns(words: list[str], blocks: Sequence[LabelPairs]) -> tuple[FeatureNames, list[Columns]]:
    """Names of all columns, by steps and then by labels, and those of the values of each block."""
    v = max(1, len(words))
    codes = [(block.steps * v + block.first) * v + block.second for block in blocks]
    known, number = factorize(np.concatenate([np.empty(0, np.intp), *codes]))
    labels, second = np.divmod(known, v)
    steps, first = np.divmod(labels, v)
    parts = [first, second]
    if steps.any():
        parts.append(steps + len(words) - 1)
        words = words + [f"{n} steps" for n in range(1, int(steps.max()) + 1)]
    starts = offsets([len(code) for code in codes]).tolist()
    short = number.astype(np.int32)
    each = [short[low:][own.places] for low, own in zip(starts, blocks, strict=False)]
    return _compact(words, np.array(parts).T), each


def _compact(words: list[str], parts: Indices) -> FeatureNames:
    """Names without the words that no column has."""
    used = np.zeros(len(words), dtype=bool)
    used[parts] = True
    number = np.cumsum(used, dtype=np.int32) - 1
    return FeatureNames(
        tuple(words[i] for i in np.flatnonzero(used)), number[parts].astype(np.int32)
    )


def _scattered(
    codes: Indices, values: Matrix, u: int, combine: Literal["max", "sum"]
) -> tuple[Indices, Matrix]:
    """The codes that occur with both labels, (p,), and the values combined at each, (g, p)."""
    cells = None
    if u * u > LARGE:
        cells, places = np.unique(codes, return_inverse=True)
        codes = places.reshape(codes.shape)
    table = np.zeros((len(codes), u * u if cells is None else len(cells)))
    scatter = np.maximum if combine == "max" else np.add
    codes = codes + np.arange(len(codes))[:, None] * table.shape[1]
    scatter.at(table.reshape(-1), codes.ravel(), values.ravel())

    used = np.any(table, axis=0)
    if cells is None:
        used[:u] = used[::u] = False  # the label 0 is none
        some = np.flatnonzero(used)
        return some, table.take(some, axis=1)
    some = np.flatnonzero(used & (cells >= u) & (cells % u > 0))
    return cells[some], table.take(some, axis=1)
