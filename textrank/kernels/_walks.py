"""Weights of all walks between the vertices of graphs, and their sums by pair of labels.

The graphs of a ``GraphFamily`` share vertices and edges, so that walks are found for many graphs at
once. There are two ways. Families with small cycles are unrolled into acyclic graphs and walked
level by level (``UnrolledFamily``, ``UnrolledWalks``); the others are solved by a matrix inverse
(``all_walks``) or by powers (``walks_up_to``). Both end in ``ManyWalks``, whose ``label_pairs``
adds walks up by the labels of their ends. ``merge_label_pairs`` makes the feature matrix of a
batch.

A *walk* may visit a vertex several times; its weight is the product of its edge weights. The
*weight of a pair* of vertices is the sum over all walks from the first to the second. A *family* is
a ``GraphFamily``. ``rank``, (labels + 1,), maps label numbers of a batch to their rank in sorted
order; its last entry, which label -1 ("none") finds, is -1. ``combine`` says whether the weights of
several vertex pairs with the same two labels become their maximum or their sum.

Letters: ``g`` graphs of a family, ``v`` vertices, ``e`` edges, ``k`` labels per vertex, ``f``
families, ``p`` vertices of a cyclic part (or label pairs), ``q`` connected pairs of vertices, ``s``
steps. Weights (g, e) may also be (1, e) if all graphs of a family have the same.
"""

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

ROUND_OFF = 1e-12  # entries of an inverse up to this size mean that there is no walk


@dataclass(frozen=True, eq=False)
class Walks:
    """Pairs of places connected by a walk, and the summed weight of all walks between them.

    Places are the vertices that a caller asked for, in its order: ``source`` and ``target`` are
    indices into the array of places. A vertex may occur there once for each of its labels.
    """

    source: Indices  # (m,)
    target: Indices  # (m,)
    values: Matrix  # (g, m), or (1, m) if all graphs of the family have the same


def all_walks(shape: GraphFamily, weights: Matrix, places: Indices, threshold: float) -> Walks:
    """Return the entries of ``(I - A)^-1 - I`` above the threshold, for each row of ``weights``.

    ``A`` is the adjacency matrix of the weights, whose spectral radius must be below 1 (see
    ``bound_weights``). A vertex with one edge in and one edge out is eliminated first: its edges
    are joined to one, and its own walks follow from those of its two neighbours. A dependency is
    such a vertex, so that the matrix that is inverted has the size of the sentence.

    Parameters
    ----------
    shape
        Family whose edges are used; its own weights are ignored.
    weights
        (g, e) edge weights.
    places
        Vertices between which walks are wanted; a vertex may occur several times.
    threshold
        Weights up to this are set to 0; pairs without a larger one in any graph are dropped.
        Entries of the inverse up to ``ROUND_OFF`` never count as walks.

    Returns
    -------
    Walks
        Connected pairs of places, sorted by source and target; ``source`` and ``target`` are
        indices into ``places``. Two places of one vertex are paired only if it lies on a cycle.
    """
    reduction = _find_pass_through(shape.edges, shape.labels.shape[1])
    I = np.eye(reduction.size)  # noqa: E741
    N = np.linalg.inv(I - reduction.reduced(weights)).astype(np.float64, copy=False)

    weight_in, weight_out = (
        reduction.factors(weights, reduction.first),
        reduction.factors(weights, reduction.last),
    )
    smallest = threshold / max(1.0, weight_in.max() * weight_out.max())
    is_connected = np.any(max(smallest, ROUND_OFF) < N, axis=0)
    row, column = reduction.row[places], reduction.column[places]
    source, target = np.nonzero(is_connected[row][:, column])
    values = N.reshape(len(N), -1).take(row[source] * reduction.size + column[target], axis=1)
    values *= weight_out[:, places].take(source, axis=1)
    values *= weight_in[:, places].take(target, axis=1)
    loops = np.flatnonzero(places[source] == places[target])
    values[:, loops[reduction.first[places[source[loops]]] < 0]] -= 1.0  # the walk of length zero
    return _drop_small(threshold, source, target, values)


def walks_up_to(
    shape: GraphFamily, weights: Matrix, places: Indices, threshold: float, length: int
) -> Walks:
    """Return the entries of ``A + A^2 + ... + A^length`` above the threshold.

    ``A`` is the adjacency matrix of the edges of ``shape`` with ``weights`` (g, e), which need no
    bound; ``length`` is at least 1. Only pairs of ``places`` (vertices, possibly repeated) with a
    larger value in some graph are returned, sorted by source and target; smaller values are 0.
    """
    W = A = _scatter_dense(shape.labels.shape[1], shape.edges[:, 0], shape.edges[:, 1], weights)
    for _ in range(length - 1):
        W = A + A @ W
    source, target = np.nonzero(np.any(threshold < W, axis=0)[places][:, places])
    return _drop_small(threshold, source, target, W[:, places[source], places[target]])


@dataclass(frozen=True, eq=False)
class CyclicPart:
    """Strongly connected part of a family's graph that contains a cycle.

    ``vertices`` (p,) are indices of the family, ascending.
    """

    vertices: Indices
    edges: Indices  # indices of the edges of positive weight between its vertices

    def matrices(self, shape: Indices, weights: Matrix) -> Matrix:
        """Return its adjacency matrices, (g, p, p).

        ``shape`` (e, 2) are the edges of the family, ``weights`` (g, e) their weights.
        """
        ends = np.searchsorted(self.vertices, shape[self.edges])
        return _scatter_dense(len(self.vertices), ends[:, 0], ends[:, 1], weights[:, self.edges])

    def inner_walks(self, shape: Indices, weights: Matrix, radius: float) -> Matrix:
        """Return the weight of all walks inside the part between any two vertices, (g, p * p).

        Column ``i * p + j`` is for walks from its vertex ``i`` to ``j``; the walk of length 0
        counts 1. ``shape`` (e, 2) are the edges of the family, ``weights`` (g, e) their weights.
        Where the spectral radius of the part is above ``radius``, its weights are first scaled down
        until it is ``radius``.
        """
        A = self.matrices(shape, weights)
        A *= _scaling_factors(A, radius)[:, None, None]
        N = np.linalg.inv(np.eye(A.shape[1]) - A).astype(np.float64, copy=False)
        return N.reshape(len(N), -1)


def cyclic_parts(families: Sequence[GraphFamily]) -> dict[int, list[CyclicPart]]:
    """Return the strongly connected parts with a cycle, as lists by index of the family.

    The index is that in ``families``; families without a cycle are missing. A loop at a vertex is a
    cycle. Edges of weight 0 in all graphs are ignored.
    """
    starts = offsets([f.labels.shape[1] for f in families])
    first_edge = offsets([len(f.edges) for f in families])
    edge_ends = [f.edges + start for f, start in zip(families, starts.tolist(), strict=False)]
    is_positive = [(family.weights > 0).any(axis=0) for family in families]
    source, target = np.concatenate([np.empty((0, 2), np.intp), *edge_ends]).T
    on_cycle = np.concatenate([np.empty(0, bool), *is_positive]).nonzero()[0]
    on_cycle = on_cycle[longest_walks(source[on_cycle], target[on_cycle], int(starts[-1]))[1]]
    if not len(on_cycle):
        return {}
    entries = (np.ones(len(on_cycle)), (source[on_cycle], target[on_cycle]))
    shape = (starts[-1], starts[-1])
    part = connected_components(sp.csr_array(entries, shape=shape), connection="strong")[1]

    inner_edges = on_cycle[part[source[on_cycle]] == part[target[on_cycle]]]
    order = inner_edges[np.argsort(part[source[inner_edges]], kind="stable")]
    cuts = np.flatnonzero(np.diff(part[source[order]])) + 1
    parts_of: dict[int, list[CyclicPart]] = {}
    for edges in np.split(order, cuts) if len(order) else []:
        index = int(np.searchsorted(starts, source[edges[0]], side="right")) - 1
        vertices = np.unique(source[edges]) - starts[index]
        parts_of.setdefault(index, []).append(CyclicPart(vertices, edges - first_edge[index]))
    return parts_of


def longest_walks(source: Indices, target: Indices, v: int) -> tuple[Indices, Indices]:
    """Return the length of the longest walk to each vertex, and the edges on or behind a cycle.

    Edges that begin where none ends are removed repeatedly; ``v`` is the number of vertices,
    ``source`` and ``target`` (e,) are the edges. The lengths (v,), in edges, are 0 for a vertex
    that no edge leads to and valid only for vertices that no cycle leads to. The second result
    holds ascending indices of edges; it is empty for an acyclic graph.
    """
    length, remaining, level = np.zeros(v, dtype=np.intp), np.arange(len(source)), 0
    while True:
        has_incoming = np.zeros(v, dtype=bool)
        has_incoming[target] = True
        kept = has_incoming[source].nonzero()[0]
        if len(kept) == len(remaining):
            return length, remaining
        level += 1
        length[target] = level
        remaining, source, target = remaining[kept], source[kept], target[kept]


def bound_weights(
    shape: GraphFamily, parts: Sequence[CyclicPart], radius: float
) -> tuple[Matrix, NDArray[np.bool_]]:
    """Return weights for which the sum over all walks converges, and which graphs were scaled.

    A sum over walks can only diverge inside a strongly connected part, where walks return. If the
    spectral radius of such a part is above ``radius``, the weights of its inner edges are scaled
    down together until it is ``radius``; all other edges keep theirs. ``parts`` are the cyclic
    parts of ``shape``, as from ``cyclic_parts``.

    Returns
    -------
    weights
        Like ``shape.weights``, which is not changed; the same array if there are no parts.
    is_scaled
        (members,) true where at least one part was scaled; read-only.
    """
    weights, is_scaled = shape.weights, np.zeros(len(shape.weights), dtype=bool)
    for part in parts:
        factor = _scaling_factors(part.matrices(shape.edges, shape.weights), radius)
        weights = weights.copy()
        weights[:, part.edges] *= factor[:, None]
        is_scaled |= factor < 1.0
    return weights, np.broadcast_to(is_scaled, len(shape.members))


def _scaling_factors(A: Matrix, radius: float) -> Vector:
    """Return the factor of each matrix (g, v, v) that bounds its spectral radius by ``radius``.

    1 for matrices that are within the bound.
    """
    radii = A.sum(axis=2).max(axis=1)  # the radius is not above this
    uncertain = np.flatnonzero(radii > radius)
    if len(uncertain):
        radii[uncertain] = np.abs(np.linalg.eigvals(A[uncertain])).max(axis=1)
    return radius / np.maximum(radii, radius)


def make_undirected(family: GraphFamily) -> GraphFamily:
    """Return the family with every edge in both directions; loops are kept once.

    If a pair of vertices has edges both ways already, both occur twice, so that their weights add.
    """
    loop = family.edges[:, 0] == family.edges[:, 1]
    edges = np.vstack([family.edges, family.edges[~loop, ::-1]])
    weights = np.hstack([family.weights, family.weights[:, ~loop]])
    return GraphFamily(family.members, edges, weights, family.labels)


@dataclass(frozen=True, eq=False)
class _PassThrough:
    """Vertices that are eliminated before the solve, and where their walks are found afterwards.

    An eliminated vertex has one edge in and one edge out. Walks from it are those from the vertex
    it leads to, times the edge out; walks to it are those to the vertex that leads to it, times the
    edge in. The other vertices *remain*.
    """

    edges: Indices  # (e, 2)
    vertices: Indices  # (s,) the eliminated ones
    first: Indices  # (v,) edge into an eliminated vertex, -1 for all others
    last: Indices  # (v,) edge out of it
    row: Indices  # (v,) row of the solved matrix with the walks from a vertex
    column: Indices  # (v,) column with the walks to it

    @property
    def size(self) -> int:
        """Number of remaining vertices."""
        return len(self.row) - len(self.vertices)

    def reduced(self, weights: Matrix) -> Matrix:
        """Return the adjacency matrices over the remaining vertices, (g, size, size).

        The two edges of an eliminated vertex become one, with the product of their ``weights``.
        """
        is_joined = np.zeros(len(self.edges), dtype=bool)
        is_joined[self.first[self.vertices]] = is_joined[self.last[self.vertices]] = True
        edges = self.edges[~is_joined]
        first, last = self.first[self.vertices], self.last[self.vertices]
        rows = np.concatenate([self.row[edges[:, 0]], self.column[self.vertices]])
        columns = np.concatenate([self.column[edges[:, 1]], self.row[self.vertices]])
        values = np.hstack([weights[:, ~is_joined], weights[:, first] * weights[:, last]])
        return _scatter_dense(self.size, rows, columns, values)

    def factors(self, weights: Matrix, edge: Indices) -> Matrix:
        """Return the weight of one edge per vertex, (g, v).

        ``edge`` (v,) is ``first`` or ``last``; where it is -1 (remaining vertices) the weight is 1.
        """
        ones = np.ones((len(weights), 1))
        return np.hstack([weights, ones])[:, edge]


def _drop_small(threshold: float, source: Indices, target: Indices, values: Matrix) -> Walks:
    """Return the walks whose weight exceeds the threshold in at least one graph, in order.

    ``source`` and ``target`` are (m,), ``values`` (g, m); ``values`` up to the threshold are set to
    0 in place.
    """
    values[values <= threshold] = 0.0
    nonzero = np.flatnonzero(np.any(values, axis=0))
    return Walks(source[nonzero], target[nonzero], values.take(nonzero, axis=1))


def _scatter_dense(v: int, rows: Indices, columns: Indices, values: Matrix) -> Matrix:
    """Return square matrices (g, v, v) with ``values`` (g, e) added at their rows and columns.

    ``rows`` and ``columns`` (e,) are the same for all g matrices. Values of one cell are summed,
    cells without a value are 0.
    """
    cells = np.arange(len(values))[:, None] * v * v + rows * v + columns
    flat = np.bincount(cells.ravel(), values.ravel(), minlength=len(values) * v * v)
    return flat.astype(np.float64, copy=False).reshape(-1, v, v)


def _find_pass_through(edges: Indices, v: int) -> _PassThrough:
    """Choose the vertices with one edge in and one out that are eliminated, no two adjacent.

    ``edges`` (m, 2) are source and target of each edge among ``v`` vertices. Vertices are taken
    greedily from the highest index down, unless a neighbour was taken already. A vertex with a loop
    is not chosen.
    """
    source, target = edges.T
    is_passed = (np.bincount(source, minlength=v) == 1) & (np.bincount(target, minlength=v) == 1)
    last, first = np.zeros(v, dtype=np.intp), np.zeros(v, dtype=np.intp)
    last[source] = first[target] = np.arange(len(edges))
    previous, following = source[first].tolist(), target[last].tolist()

    eliminated: set[int] = set()
    # No two neighbours may both go. Vertices added last stand for edges most often: they go first.
    for vertex in np.flatnonzero(is_passed)[::-1].tolist():
        if (
            previous[vertex] != vertex
            and previous[vertex] not in eliminated
            and following[vertex] not in eliminated
        ):
            eliminated.add(vertex)
    return _number_vertices(edges, v, np.array(sorted(eliminated), dtype=np.intp), first, last)


def _number_vertices(
    edges: Indices, v: int, eliminated: Indices, first: Indices, last: Indices
) -> _PassThrough:
    """Build the elimination of some vertices, with the remaining ones numbered in order.

    ``first`` and ``last`` (v,) are the edges into and out of each vertex; they only matter for
    ``eliminated``, which is ascending.
    """
    kept = np.ones(v, dtype=bool)
    kept[eliminated] = False
    number = np.cumsum(kept) - 1
    row, column = number.copy(), number.copy()
    row[eliminated] = number[edges[last[eliminated], 1]]
    column[eliminated] = number[edges[first[eliminated], 0]]
    return _PassThrough(
        edges, eliminated, np.where(kept, -1, first), np.where(kept, -1, last), row, column
    )


@dataclass(frozen=True, eq=False)
class UnrolledFamily:
    """Family as an acyclic graph with the same walks.

    Every vertex of a cyclic part gets one copy. Walks enter a part at a vertex, go from there to
    the copy of any vertex of the part by one edge, whose weight is that of all walks between the
    two inside the part, and leave from the copy. Vertices keep their indices; copies come after
    them. Here ``v`` and ``e`` count the unrolled graph.
    """

    edges: Indices  # (e, 2)
    weights: Matrix  # (g, e), or (1, e)
    ends: Indices  # (v,) vertex of the family that a walk to this one ends at; -1 if it must go on

    original: NDArray[np.bool_]  # (v,) false for copies

    @classmethod
    def from_family(
        cls, family: GraphFamily, parts: Sequence[CyclicPart], radius: float
    ) -> UnrolledFamily:
        """Unroll the cyclic parts of a family: replace each part by edges without a cycle.

        Each vertex of a part gets one copy. An edge leads from every vertex of the part to every
        copy, its own included, with the weight of all walks between the two inside the part (the
        walk of length 0 included). The edges inside the part are dropped, edges that left it now
        leave from the copies, and edges into it stay. Walks end in the copies, no longer in the
        vertices of a part, whose ``ends`` are -1.

        Parameters
        ----------
        family
            Family to unroll; it is not changed.
        parts
            All its cyclic parts, as from ``cyclic_parts``. If there are none, the edges and weights
            of the family are used as they are.
        radius
            Bound of the spectral radius, below 1. In a graph where a part exceeds it, the weights
            inside that part are scaled down together until it is ``radius``, so that the sum over
            walks converges. Other weights stay.
        """
        if not parts:
            vertices = np.arange(family.labels.shape[1])
            return cls(family.edges, family.weights, vertices, vertices >= 0)
        edges, v = family.edges, family.labels.shape[1]
        weights = family.weights
        ends, exits = np.arange(v), np.arange(v)
        part_edges, part_weights = [], []
        is_inner = np.zeros(len(edges), dtype=bool)
        for part in parts:
            size, copies = len(part.vertices), len(ends) + np.arange(len(part.vertices))
            part_weights.append(part.inner_walks(edges, weights, radius))
            part_edges.append(
                np.column_stack([np.repeat(part.vertices, size), np.tile(copies, size)])
            )
            ends = np.append(ends, part.vertices)
            ends[part.vertices], exits[part.vertices] = -1, copies
            is_inner[part.edges] = True
        outer = edges[~is_inner]
        outer = np.column_stack([exits[outer[:, 0]], outer[:, 1]])
        weights = np.hstack([weights[:, ~is_inner], *part_weights])
        return cls(np.vstack([outer, *part_edges]), weights, ends, np.arange(len(ends)) < v)


@dataclass(frozen=True, eq=False)
class _JoinedFamilies:
    """Several unrolled families with vertices and edges numbered consecutively over all of them.

    ``v`` and ``e`` count all families. ``g`` is the largest number of weight rows; the weights of
    families with fewer graphs are padded with 0.
    """

    families: Sequence[GraphFamily]
    ends: Indices  # (v,) as in ``UnrolledFamily``
    original: NDArray[np.bool_]  # (v,) whether walks may begin here
    starts: Indices  # (f + 1,) the first vertex of each
    source: Indices  # (e,) of edges with a positive weight in some graph
    target: Indices  # (e,)
    weights: Matrix  # (e + 1, g) a column per graph; the last row is ones, for no edge

    @cached_property
    def family(self) -> Indices:
        """Index of the family of each vertex."""
        return np.arange(len(self.families)).repeat(lengths(self.starts))

    @classmethod
    def build(
        cls, families: Sequence[GraphFamily], unrolled: Sequence[UnrolledFamily]
    ) -> _JoinedFamilies:
        """Join families (at least one), each given with its unrolled form, in order.

        Vertices are renumbered in this order. Edges whose weight is 0 in all graphs are dropped;
        ``ends`` of -1 stay -1. The weights have one row more than there are edges: the last, of
        ones, stands for an edge that is not there, so that index -1 multiplies by 1.
        """
        starts = offsets([len(part.ends) for part in unrolled])
        ones = np.ones((max(len(part.weights) for part in unrolled), 1))
        weights = stack_columns([*(part.weights for part in unrolled), ones])
        kept = np.asarray((weights > 0).any(axis=1)).nonzero()[0]
        shift = starts[:-1].repeat([len(part.edges) for part in unrolled])
        edges = (np.concatenate([part.edges for part in unrolled]).T + shift)[:, kept[:-1]]
        ends = np.concatenate([part.ends for part in unrolled])
        ends += np.where(ends < 0, 0, starts[:-1].repeat(lengths(starts)))
        original = np.concatenate([part.original for part in unrolled])
        return cls(families, ends, original, starts, edges[0], edges[1], weights.take(kept, axis=0))


@dataclass(frozen=True, eq=False)
class _PassThroughVertices:
    """Vertices that are only passed through, no two of them adjacent; all others are *kept*.

    Such a vertex has one edge in and one edge out, which are joined to one step.
    """

    vertices: Indices
    first: Indices  # (v,) edge into such a vertex, -1 for all others
    last: Indices  # (v,) edge out of it

    @classmethod
    def build(cls, shapes: _JoinedFamilies) -> _PassThroughVertices:
        """Find vertices with one edge in and one out, whose two neighbours have lower indices.

        So no two of them are adjacent. Edges of weight 0 in all graphs do not count. Vertices of
        cyclic parts and their copies are never chosen.
        """
        source, target, v = shapes.source, shapes.target, len(shapes.ends)
        number, edge = np.arange(v), np.arange(len(source))
        is_passed = (np.bincount(source, minlength=v) == 1) & (
            np.bincount(target, minlength=v) == 1
        )
        vertices = (is_passed & (shapes.ends == number)).nonzero()[0]
        first, last = np.full((2, v), -1)
        first[target], last[source] = edge, edge
        vertices = vertices[
            (source[first[vertices]] < vertices) & (target[last[vertices]] < vertices)
        ]
        is_kept = np.ones(v, dtype=bool)
        is_kept[vertices] = False
        first[is_kept] = last[is_kept] = -1
        return cls(vertices, first, last)

    def sources(self, shapes: _JoinedFamilies) -> RaggedArray:
        """Return for every vertex the vertices whose walks it stands for at the start.

        For a kept vertex: itself and the pass-through vertices whose edge leads to it. Empty for
        others.
        """
        kept = (self.first < 0).nonzero()[0]
        return self._grouped(kept, shapes.target[self.last[self.vertices]])

    def targets(self, shapes: _JoinedFamilies) -> RaggedArray:
        """Return for every vertex the vertices whose walks it stands for at the end.

        For a kept vertex where walks may end: itself and the pass-through vertices that it leads
        to. Empty for others.
        """
        kept = ((self.first < 0) & (shapes.ends >= 0)).nonzero()[0]
        return self._grouped(kept, shapes.source[self.first[self.vertices]])

    def _grouped(self, kept: Indices, neighbours: Indices) -> RaggedArray:
        """Group kept vertices under themselves and pass-through vertices under their neighbours.

        ``neighbours`` has one kept vertex for each of ``vertices``. The result has one list per
        vertex.
        """
        owner = np.concatenate([kept, neighbours])
        return RaggedArray.group_by(owner, np.concatenate([kept, self.vertices]), len(self.first))


@dataclass(frozen=True, eq=False)
class _Steps:
    """Edges between the kept vertices, plus one from a root to each vertex where walks begin.

    A step is one edge between two kept vertices, or the two edges through a pass-through vertex, or
    one from the root, which is an artificial vertex and has steps of weight 1 to all kept vertices
    that are not copies. So all walks are walks from the root, and the *start vertex* of a walk is
    the one that its first step leads to. Vertices are renumbered by level, the longest walk to
    them; the root is number 0.
    """

    source: Indices  # (s,)
    target: Indices  # (s,) ascending
    begins: (
        Indices  # (s,) vertex where walks that begin with this step start; -1 if it cannot be first
    )
    edges: tuple[
        Indices, Indices
    ]  # (s,) one or two edges whose weights are multiplied; -1 for none
    vertex: Indices  # (v + 1,) vertex of the families by number; -1 for the root
    cuts: Indices  # first vertex of each level, and the end

    @classmethod
    def build(cls, shapes: _JoinedFamilies, passes: _PassThroughVertices) -> _Steps:
        """Build the steps of families; a pass-through vertex makes one step of two edges.

        Vertices are numbered by level, within a level by index in ``shapes``. Steps are sorted by
        the number of their target; those with one target are in the order root, single edges,
        double edges.
        """
        roots = (shapes.original & (passes.first < 0)).nonzero()[0]
        edge_in, edge_out = passes.first[passes.vertices], passes.last[passes.vertices]
        is_single = np.ones(len(shapes.source), dtype=bool)
        is_single[edge_in] = is_single[edge_out] = False
        edge = is_single.nonzero()[0]
        root, none = np.full(len(roots), -1), np.full(len(edge), -1)
        first, last = np.concatenate([root, edge, edge_in]), np.concatenate([root, none, edge_out])
        source = np.concatenate([root, shapes.source[edge], shapes.source[edge_in]]) + 1
        target = np.concatenate([roots, shapes.target[edge], shapes.target[edge_out]]) + 1
        level, _ = longest_walks(source, target, len(shapes.ends) + 1)
        vertex = level.argsort(kind="stable")
        number = np.empty(len(vertex), dtype=np.intp)
        number[vertex] = np.arange(len(vertex))
        target_number = number[target]
        order = target_number.argsort(kind="stable")
        cuts = np.searchsorted(level[vertex], np.arange(int(level.max()) + 2))
        source, target = source[order], target[order]
        begins = np.where(source == 0, target - 1, -1)
        edges = first[order], last[order]
        return cls(number[source], target_number[order], begins, edges, vertex - 1, cuts)

    def shared_targets(self) -> list[int]:
        """Return the cumulative count of vertices with steps from several others, (v + 2,).

        Entry ``i`` counts the vertices numbered below ``i``. Steps from the root do not count. Only
        such vertices can be reached from one start in two ways.
        """
        count = np.bincount(self.target[self.source > 0], minlength=len(self.vertex))
        return offsets(count > 1).tolist()

    def levels(self) -> Iterator[tuple[int, int]]:
        """Yield first vertex number and first step of each level after the root's.

        The last item is the number of vertices and of steps.
        """
        steps = np.searchsorted(self.target, self.cuts)
        return zip(self.cuts[1:].tolist(), steps[1:].tolist(), strict=True)


@dataclass(frozen=True, eq=False)
class _LastSteps:
    """How walks of some pairs end: with a step that is appended to the walks of another pair.

    The walks of pair ``before[i]`` extended by ``step[i]`` are walks of the ``i``-th of ``pairs``.
    Pairs are indices into ``_VertexPairs``, steps into ``_Steps``.
    """

    pairs: slice | Indices
    before: Indices
    step: Indices

    def values(self, values: Matrix, weights: Matrix) -> Matrix:
        """Return the weight that these walks add to their pairs, (len(before), g).

        Row ``i``, for the ``i``-th of ``pairs``, is ``values[before[i]] * weights[step[i]]``.
        ``values`` (q, g) are the walk weights of all pairs, already complete for ``before``;
        ``weights`` (s, g) are those of all steps. The columns are graphs. Nothing is changed in
        place.
        """
        products = weights.take(self.step, axis=0)
        products *= values.take(self.before, axis=0)
        return products


@dataclass(frozen=True, eq=False)
class _VertexPairs:
    """Pairs of a start vertex and a target, both kept, that are connected by a walk.

    Each pair occurs once. Pairs are sorted by the number of their target in ``_Steps``; the first
    is the root with itself, written as -1. Every start vertex is also paired with itself, by the
    walk of length 0. ``ends`` lists how walks end (their last steps), in the order in which weights
    are computed: for each level first one last step of each pair, then the further ones of some
    pairs.
    """

    source: Indices  # (q,)
    target: Indices  # (q,)
    ends: list[_LastSteps]

    @classmethod
    def build(cls, shapes: _JoinedFamilies, steps: _Steps) -> _VertexPairs:
        """Find all pairs of a start vertex and a kept vertex that a walk connects, each once.

        ``steps`` must be those of ``shapes``. Goes level by level: the pairs to a vertex are those
        to the sources of its steps, extended by the step. A pair that is reached in several ways is
        stored once, with all its last steps in ``ends``. Vertices of different families are never
        connected.
        """
        local_index = np.arange(len(shapes.ends)) - shapes.starts[shapes.family]
        width = int(local_index.max()) + 1
        pair_starts = np.ones(len(steps.vertex) + 1, dtype=np.intp)  # the pairs to each vertex
        pair_starts[0] = 0
        source, ends = np.full(1, -1), []
        shared_targets = steps.shared_targets()
        for (low, first), (high, last) in pairwise(steps.levels()):
            step_sources = steps.source[first:last]
            step_index, before = expand(
                pair_starts[step_sources], pair_starts[step_sources + 1] - pair_starts[step_sources]
            )
            step, count = step_index + first, len(source)
            targets, sources = steps.target[step], np.maximum(source[before], steps.begins[step])
            if shared_targets[low] < shared_targets[high]:
                chosen, repeated, pair_index = _split_repeated(
                    (targets - low) * width + local_index[sources], (high - low) * width
                )
                further = [_LastSteps(count + pair_index, before[repeated], step[repeated])]
                targets, sources, before, step = (
                    targets[chosen],
                    sources[chosen],
                    before[chosen],
                    step[chosen],
                )
            else:
                further = []
            source = np.concatenate([source, sources])
            ends += [_LastSteps(slice(count, len(source)), before, step), *further]
            sizes = np.bincount(targets - low, minlength=high - low)
            pair_starts[low + 1 : high + 1] = count + sizes.cumsum()
        return cls(source, steps.vertex.repeat(lengths(pair_starts)), ends)

    def values(self, weights: Matrix) -> Matrix:
        """Return the weight of each pair, (q, g), summed over all walks from start to target.

        A walk's weight is the product of those of its steps. ``weights`` (s, g) has the weight of
        each of the ``_Steps`` that the pairs were built from, in their order and with 1 for steps
        from the root; columns are graphs. Rows are in the order of the pairs; row 0, the root, is
        1, and the walk of length 0 of a vertex with itself counts 1.
        """
        g = weights.shape[1]
        values = np.empty((len(self.source), g))
        values[0] = 1.0  # the walk without steps
        for ends in self.ends:
            products = ends.values(values, weights)
            if isinstance(ends.pairs, slice):
                values[ends.pairs] = products
            else:
                cells = ends.pairs[:, None] * g + np.arange(g)
                np.add.at(
                    values.reshape(-1), cells.ravel(), products.ravel()
                )  # quicker than by rows
        return values


def _split_repeated(codes: Indices, size: int) -> tuple[Indices, Indices, Indices]:
    """Split codes (below ``size``) into one occurrence of each, the last, and all other ones.

    Returns the ascending indices of the chosen occurrences, the ascending indices of the others,
    and for each of the others the position of its code among the chosen ones.
    """
    indices = np.arange(len(codes))
    last_index = np.empty(size, dtype=np.intp)
    last_index[codes] = indices
    last_index = last_index[codes]
    is_chosen = last_index == indices
    chosen, repeated = is_chosen.nonzero()[0], (~is_chosen).nonzero()[0]
    return chosen, repeated, np.searchsorted(chosen, last_index[repeated])


@dataclass(frozen=True, eq=False)
class UnrolledWalks:
    """All pairs of vertices connected by a walk in unrolled families, one family after the other.

    A walk goes from its source to a kept vertex, between two kept vertices, and from there to its
    target; sources and targets may be pass-through vertices. Vertices are numbered as in
    ``shapes``; a target may be a copy.
    """

    shapes: _JoinedFamilies
    steps: _Steps
    joined: _VertexPairs
    first: Indices  # (f + 1,) first pair of each family
    source: Indices  # (q,)
    target: Indices  # (q,)
    between: Indices  # (q,) index of the pair of kept vertices
    passes: _PassThroughVertices

    @classmethod
    def from_families(
        cls, families: Sequence[GraphFamily], unrolled: Sequence[UnrolledFamily]
    ) -> UnrolledWalks:
        """Find the connected vertex pairs of families, each given with its unrolled form.

        Pairs are grouped by family, in order. A vertex is paired with itself only if it lies on a
        cycle, by its copy. There must be at least one family.
        """
        shapes = _JoinedFamilies.build(families, unrolled)
        passes = _PassThroughVertices.build(shapes)
        steps = _Steps.build(shapes, passes)
        joined = _VertexPairs.build(shapes, steps)
        pair_index, source = passes.sources(shapes).gather(joined.source[1:])
        repeat, target = passes.targets(shapes).gather(joined.target[1:][pair_index])
        source, between = source[repeat], pair_index[repeat] + 1
        proper = (source != target).nonzero()[0]
        family = shapes.family[source[proper]].astype(np.min_scalar_type(len(families)))
        order = proper[family.argsort(kind="stable")]
        first = offsets(np.bincount(family, minlength=len(families)))
        pairs = source[order], target[order], between[order]
        return cls(shapes, steps, joined, first, *pairs, passes)

    def select_graphs(self, graphs: slice) -> ManyWalks:
        """Return the walks of a slice of the graphs of each family.

        Vertices are numbered within each family, and copies replaced by their originals. Weights
        are products along the walk summed over walks, without the walk of length 0; they are
        computed when asked for, with one column for all graphs if the families share their weights.
        """
        shapes, passes = self.shapes, self.passes
        shared = shapes.weights.shape[1] == 1
        weights = shapes.weights if shared else shapes.weights[:, graphs]
        one, other = self.steps.edges
        inner = self.joined.values(weights.take(one, axis=0) * weights.take(other, axis=0))
        end = shapes.ends[self.target]

        def values(pairs: slice) -> Matrix:
            """Return the walk weights of some pairs, (pairs, g), without the walk of length 0."""
            products = inner.take(self.between[pairs], axis=0)
            products *= weights.take(passes.last[self.source[pairs]], axis=0)
            products *= weights.take(passes.first[self.target[pairs]], axis=0)
            products[end[pairs] == self.source[pairs]] -= 1.0  # the walk without edges
            return products

        start = shapes.starts[shapes.family[self.source]]
        families = [family.rows(graphs) for family in shapes.families]
        return ManyWalks(families, self.first, self.source - start, end - start, values)


MAX_TABLE_VALUES = 1 << 18  # numbers in the label-pair tables filled together
MAX_FAMILY_VALUES = 1 << 20  # numbers in the label-pair tables of one family
WALKS_PER_EDGE = 8  # rough number of connected vertex pairs per edge
MAX_WALK_VALUES = 1 << 23  # numbers in the walk weights kept at once: 64 MB
MAX_SMALL_VALUES = 1 << 16  # numbers up to which padding does not matter


def group_families(families: Mapping[int, GraphFamily]) -> Iterator[tuple[list[int], list[slice]]]:
    """Yield groups of families whose walks are found together, and the slices of their graphs.

    Groups are lists of keys of ``families``, sorted by number of graphs; families whose graphs
    share their weights come last. Families of a group have a similar number of weight rows, unless
    they are small, and one slice; a family that needs several slices, so that its tables fit into
    the cache, is alone. Every family is in one group; without families nothing is yielded.
    """
    keys: list[int] = []
    pieces: list[slice] = []
    size = num_weights = 0
    for key in sorted(families, key=lambda key: _sort_key(families[key])):
        family = families[key]
        g, v, _ = family.labels.shape
        piece_size = _graphs_per_piece(family)
        is_whole = len(pieces) == 1 and g <= piece_size
        if keys and not (
            is_whole
            and _fit_together(size + v**2, len(family.weights), num_weights)
            and _sort_key(family)[0] == _sort_key(families[keys[0]])[0]
        ):
            yield keys, pieces
            keys, size = [], 0
        num_weights = num_weights if keys else len(family.weights)
        keys.append(key)
        pieces = [slice(low, low + piece_size) for low in range(0, g, piece_size)]
        size += v**2
    if keys:
        yield keys, pieces


def _sort_key(family: GraphFamily) -> tuple[bool, int]:
    """Return whether the graphs of a family share their weights, and how many graphs there are.

    A family of one graph does not count as sharing.
    """
    return len(family.weights) < len(family.members), len(family.members)


def _fit_together(size: int, rows: int, fewest: int) -> bool:
    """Return whether families may be padded to ``rows`` graphs each to be computed together.

    ``size`` is their number of values per graph and ``fewest`` the rows of the smallest family.
    ``size * (1 + rows)`` may be ``MAX_WALK_VALUES`` if ``rows`` is at most 1.5 times ``fewest``,
    else only ``MAX_SMALL_VALUES``.
    """
    return size * (1 + rows) <= (MAX_WALK_VALUES if 2 * rows <= 3 * fewest else MAX_SMALL_VALUES)


def _graphs_per_piece(family: GraphFamily) -> int:
    """Return how many graphs of a family, at least 1, have tables that fit into the cache.

    Limits are ``MAX_FAMILY_VALUES`` numbers in their label-pair tables and ``MAX_TABLE_VALUES`` in
    their walks, which are estimated from the edges.
    """
    g, v, k = family.labels.shape
    if (
        g * (v * k + 1) ** 2 <= MAX_FAMILY_VALUES
        and g * (WALKS_PER_EDGE * len(family.edges) + 1) <= MAX_TABLE_VALUES
    ):
        return g
    tables, walks = (_count_labels(family.labels) + 1) ** 2, WALKS_PER_EDGE * len(family.edges) + 1
    return max(1, min(MAX_FAMILY_VALUES // tables, MAX_TABLE_VALUES // walks))


def _count_labels(labels: NDArray[np.int32]) -> int:
    """Return the number of distinct labels in an array of label numbers; -1 is none."""
    occurs = np.zeros(int(labels.max(initial=-1)) + 2, dtype=bool)
    occurs[labels.ravel()] = True  # none is the last
    return int(occurs[:-1].sum())


def stack_columns(tables: Sequence[NDArray[Any]], empty: Any = 0) -> NDArray[Any]:
    """Stack tables (g, m, ...) with a row per graph into one (Σ m, max g, ...), a column per graph.

    There must be at least one table. Those with fewer graphs are padded with ``empty``. The result
    has the dtype of the first.
    """
    bounds = offsets([table.shape[1] for table in tables]).tolist()
    width = max(len(table) for table in tables)
    stacked = np.full((bounds[-1], width, *tables[0].shape[2:]), empty, dtype=tables[0].dtype)
    for table, (low, high) in zip(tables, pairwise(bounds), strict=True):
        stacked[low:high, : len(table)] = table.swapaxes(0, 1)
    return stacked


@dataclass(frozen=True, eq=False)
class ManyWalks:
    """Pairs of vertices connected by a walk, one family after the other.

    Families are sorted by their number of graphs. ``source`` and ``target`` are vertices of the
    pair's own family; ``values(pairs)`` returns the weights of a slice of the pairs, (pairs, g).
    """

    families: Sequence[GraphFamily]
    first: Indices  # (f + 1,) first pair of each family
    source: Indices  # (q,) vertices of the family
    target: Indices  # (q,)
    values: Callable[
        [slice], Matrix
    ]  # walk weights of some pairs, a column per graph or one for all

    @classmethod
    def from_walks(
        cls, families: Sequence[GraphFamily], walks_by_family: Sequence[Walks]
    ) -> ManyWalks:
        """Build from the walks of each family, whose places must be all its vertices in order.

        Families, at least one, must be sorted by their number of graphs. Weights of families with
        fewer graphs are padded with 0.
        """
        none = np.zeros(0, dtype=np.intp)
        return cls(
            families,
            offsets([len(walks.source) for walks in walks_by_family]),
            np.concatenate([none, *(walks.source for walks in walks_by_family)]),
            np.concatenate([none, *(walks.target for walks in walks_by_family)]),
            stack_columns([walks.values for walks in walks_by_family]).__getitem__,
        )

    def between(self, low: int, high: int, threshold: float) -> tuple[Indices, Indices, Matrix]:
        """Return sources, targets and weights of the walks of the families ``low ... high - 1``.

        Vertices are numbered consecutively over these families. Weights have a row per pair and a
        column per graph of the largest family, or one column if all graphs have the same; they are
        0 up to the threshold.
        """
        pairs = slice(int(self.first[low]), int(self.first[high]))
        families = self.families[low:high]
        counts = lengths(self.first[low : high + 1])
        shift = offsets([f.labels.shape[1] for f in families])[:-1].repeat(counts)
        values = self.values(pairs)[:, : len(families[-1].members)]
        values = np.where(values > threshold, values, 0.0)
        return self.source[pairs] + shift, self.target[pairs] + shift, values

    def label_pairs(
        self, rank: Indices, combine: Literal["max", "sum"], threshold: float
    ) -> Iterator[LabelPairs]:
        """Yield the label pairs of all graphs, from walks with a weight above the threshold.

        ``rank`` maps label numbers to ranks in sorted order and -1, no label, to -1; ``combine`` is
        the maximum or sum over walks between vertices of the same two labels. Each graph is in at
        most one item; families without walks may be missing.
        """
        for part in self._split_by_size():
            yield from part._label_pairs(rank, combine, threshold)

    def _split_by_size(self) -> Iterator[ManyWalks]:
        """Yield parts of consecutive families with a similar number of graphs (at most 3 : 2).

        Small families may differ more (``MAX_SMALL_VALUES``), and a part has at most
        ``MAX_WALK_VALUES`` values. Every family is in one part.
        """
        low = size = 0
        for high, family in enumerate(self.families):
            g, v, _ = family.labels.shape
            if high > low and not _fit_together(size + v**2, g, len(self.families[low].members)):
                yield self._slice(low, high)
                low, size = high, 0
            size += v**2
        yield self._slice(low, len(self.families))

    def _slice(self, low: int, high: int) -> ManyWalks:
        """Return the walks of the families ``low ... high - 1``.

        ``source``, ``target`` and ``values`` stay those of all; only ``first`` selects the pairs.
        """
        return replace(self, families=self.families[low:high], first=self.first[low : high + 1])

    def _label_pairs(
        self, rank: Indices, combine: Literal["max", "sum"], threshold: float
    ) -> Iterator[LabelPairs]:
        """Yield the label pairs of consecutive families, as many at a time as fit into the cache.

        Arguments: rank of each label number (-1, no label, stays -1), maximum or sum over walks of
        the same labels, and the weight that walks must exceed. At most ``MAX_TABLE_VALUES`` table
        cells are filled together, but at least one family. Families without walks may be missing.
        """
        tables = _Tables.build(self.families, rank)
        table_offsets = offsets(tables.graphs * tables.size**2)
        scratch_size = min(
            int(table_offsets[-1]),
            max(MAX_TABLE_VALUES, int(lengths(table_offsets).max(initial=0))),
        )
        table = np.zeros(scratch_size)  # empty again after each
        low = 0
        while low < len(self.families):
            fitting = (
                int(
                    np.searchsorted(
                        table_offsets, table_offsets[low] + MAX_TABLE_VALUES, side="right"
                    )
                )
                - 1
            )
            high = max(low + 1, fitting)
            if self.first[low] < self.first[high]:
                yield tables.cells(table, self, low, high, combine, threshold)
            low = high


@dataclass(frozen=True, eq=False)
class _Tables:
    """Labels of families, numbered within each family from 1 by rank; 0 is no label.

    A graph's *table* has a cell for each pair of label numbers of its family, (size, size)
    flattened.
    """

    families: Sequence[GraphFamily]
    numbers: NDArray[np.intp]  # (k, vertices of all families, g)
    begin: Indices  # (f + 1,) first vertex of each family
    graphs: Indices  # (f,)
    size: Indices  # (f,) number of labels plus one for none
    starts: Indices  # (f,) offset of each family in ``ranks``
    ranks: Indices  # ranks of the labels of each family, after -1 for none

    @classmethod
    def build(cls, families: Sequence[GraphFamily], rank: Indices) -> _Tables:
        """Number the labels of families, at least one, sorted by number of graphs.

        ``rank`` (labels + 1,) maps label numbers to their rank in sorted order, and -1, no label,
        to -1. Families with fewer graphs or labels per vertex are padded with no label.
        """
        graphs, vertices, widths = np.array([f.labels.shape for f in families], dtype=np.intp).T
        width = int(widths.max())
        labels = stack_columns([_pad_labels(f.labels, width) for f in families], -1).transpose(
            2, 0, 1
        )
        begin = offsets(vertices)
        bases = np.arange(len(families)) * len(rank)
        codes = (rank + 1)[labels] + bases.repeat(vertices)[:, None]
        distinct, number = factorize(np.concatenate([bases, codes.ravel()]))
        starts = number[: len(families)]
        numbers = number[len(families) :].reshape(codes.shape) - starts.repeat(vertices)[:, None]
        size = lengths(np.append(starts, len(distinct)))
        return cls(families, numbers, begin, graphs, size, starts, distinct % len(rank) - 1)

    def cells(
        self,
        table: Vector,
        walks: ManyWalks,
        low: int,
        high: int,
        combine: Literal["max", "sum"],
        threshold: float,
    ) -> LabelPairs:
        """Return the label pairs of the families ``low ... high - 1`` as one block, in CSR layout.

        Walks with a weight above ``threshold`` are combined by the labels of both ends, by maximum
        or sum. ``table`` is scratch space for the tables of all their graphs, zero before and
        after. ``walks`` must have the same families as this. Label pairs that no graph has get no
        column.
        """
        graphs, size = self.graphs[low:high], self.size[low:high]
        table_starts = offsets((size**2).repeat(graphs))  # the tables, a graph each
        table = table[: table_starts[-1]]
        self._scatter(table, low, high, *walks.between(low, high, threshold), combine)

        nonzero = (table != 0).nonzero()[0]
        values = table[nonzero]
        table[nonzero] = 0.0
        counts = lengths(np.searchsorted(nonzero, table_starts))
        shapes = offsets(size**2)  # one table for all graphs of a family
        nonzero += (shapes[:-1].repeat(graphs) - table_starts[:-1]).repeat(counts)
        is_used = np.zeros(int(shapes[-1]), dtype=bool)
        is_used[nonzero] = True
        cells = is_used.nonzero()[0]
        number = np.empty(len(is_used), dtype=np.int32)
        number[cells] = np.arange(len(cells), dtype=np.int32)
        members = np.concatenate([f.members for f in self.families[low:high]])
        first, second = self._labels(cells, shapes, low)
        return LabelPairs(members, counts, first, second, number[nonzero], values)

    def _scatter(
        self,
        table: Vector,
        low: int,
        high: int,
        source: Indices,
        target: Indices,
        values: Matrix,
        combine: Literal["max", "sum"],
    ) -> None:
        """Combine walk weights into the tables by the labels of both ends, in place.

        ``table`` holds one table per graph of the families ``low ... high - 1``, one after the
        other. ``source``, ``target`` and ``values`` are the result of ``ManyWalks.between``. A
        vertex with several labels adds its walks to each of them.
        """
        graphs, size = self.graphs[low:high], self.size[low:high]
        vertices = lengths(self.begin[low : high + 1])
        g = int(graphs[-1])
        labels = self.numbers[:, self.begin[low] : self.begin[high], :g]
        starts = offsets(graphs * size**2)[:-1]
        # Behind its last graph a family has no labels: what is put there is of none.
        graph_index = np.minimum(np.arange(g), graphs[:, None] - 1)
        tables = starts[:, None] + graph_index * (size**2)[:, None]
        rows = labels * size.repeat(vertices)[:, None] + tables.repeat(vertices, axis=0)
        labelled = np.asarray(labels.any(axis=2))  # in any graph
        if values.shape[1] < g:
            values = values.repeat(g, axis=1)
        scatter = np.maximum if combine == "max" else np.add
        for row, source_has in zip(rows, labelled, strict=True):
            for column, target_has in zip(labels, labelled, strict=True):
                pairs = (source_has[source] & target_has[target]).nonzero()[0]
                codes = row.take(source[pairs], axis=0)
                codes += column.take(target[pairs], axis=0)
                scatter.at(table, codes.ravel(), values.take(pairs, axis=0).ravel())
        if (labelled != labels.all(axis=2)).any():
            self._clear_unlabelled(table, starts, low, high)

    def _clear_unlabelled(self, table: Vector, starts: Indices, low: int, high: int) -> None:
        """Set the cells of the label "none" to 0 in place; ``starts`` are the families' offsets.

        These are the first row and column of each graph's table, for the families ``low ... high -
        1``.
        """
        sizes = self.size[low:high].tolist()
        for begin, num_labels, g in zip(
            starts.tolist(), sizes, self.graphs[low:high].tolist(), strict=True
        ):
            tables = table[begin : begin + g * num_labels * num_labels].reshape(
                g, num_labels, num_labels
            )
            tables[:, 0, :] = tables[:, :, 0] = 0.0

    def _labels(self, cells: Indices, shapes: Indices, low: int) -> tuple[Indices, Indices]:
        """Return the ranks of the first and second label of each cell.

        ``cells`` are ascending positions in one table per family, from family ``low`` on, and
        ``shapes`` the offsets of these tables.
        """
        family = np.arange(len(shapes) - 1).repeat(lengths(np.searchsorted(cells, shapes)))
        first, second = np.divmod(cells - shapes[family], self.size[low + family])
        begin = self.starts[low + family]
        return self.ranks[begin + first], self.ranks[begin + second]


def _pad_labels(labels: NDArray[np.int32], width: int) -> NDArray[np.int32]:
    """Return labels (g, v, k) padded with -1 to ``width`` labels per vertex, (g, v, width).

    ``labels`` itself if ``k`` is ``width`` already.
    """
    k = labels.shape[2]
    if k == width:
        return labels
    return np.pad(labels, ((0, 0), (0, 0), (0, width - k)), constant_values=-1)


ColumnIndices: TypeAlias = NDArray[np.int32]
T = TypeVar("T", bound=np.generic)
MAX_PAIR_TABLE_VALUES = (
    1 << 17
)  # numbers of a table that stay near the processor while values are scattered in
MAX_DENSE_PAIRS = 1 << 22  # label pairs above which only those that occur get a column


@dataclass(frozen=True, eq=False)
class LabelPairs:
    """Values of some graphs by label pair, in CSR layout over the label pairs that occur.

    ``members`` are indices of graphs in the batch. ``places`` are indices into ``first`` and
    ``second``.
    """

    members: Indices  # (g,)
    counts: Indices  # (g,) number of values of each graph
    first: Indices  # (p,) rank of the first label of each pair
    second: Indices  # (p,)
    places: ColumnIndices  # (c,) label pair of each value, graph after graph
    values: Vector  # (c,)
    steps: int = 0  # length of the paths, if lengths are kept apart


@dataclass(frozen=True, eq=False)
class LabelledVertices:
    """Vertices of a family repeated for each of their labels; each repetition is a *place*."""

    vertices: Indices  # (s,)
    labels: Indices  # (g, s) index into ``ranks``; 0 if a graph has no label there
    ranks: Indices  # (u,) ranks of the labels that occur, after -1 for none

    @classmethod
    def from_family(cls, family: GraphFamily, rank: Indices) -> LabelledVertices:
        """List the labelled vertices of a family, ordered by vertex.

        ``rank`` (labels + 1,) maps label numbers to their rank in sorted order, and -1, no label,
        to -1. A place where no graph has a label is left out, unless all graphs share their
        weights.
        """
        g, v, k = family.labels.shape
        label_ranks = rank[family.labels].reshape(g, v * k)
        # Shapes that occur again are solved once: their places must not depend on the labels.
        places = (
            np.arange(v * k)
            if len(family.weights) == 1
            else np.flatnonzero((label_ranks >= 0).any(0))
        )
        ranks, labels = np.unique(
            np.append(label_ranks.take(places, axis=1), -1), return_inverse=True
        )
        return cls(places // max(1, k), labels[:-1].reshape(g, len(places)), ranks)

    def __len__(self) -> int:
        """Return the number of places; 0 if no vertex has a label in any graph."""
        return len(self.vertices) if len(self.ranks) > 1 else 0


def find_label_pairs(
    members: Indices,
    places: LabelledVertices,
    walks: Walks,
    combine: Literal["max", "sum"],
    *,
    steps: int = 0,
) -> Iterator[LabelPairs]:
    """Yield the label pairs of a family from the walks between its places, a few graphs at a time.

    Pairs with the label "none" are left out; graphs stay in order.

    Parameters
    ----------
    members
        Indices of the graphs in the batch, (g,).
    places
        Labelled vertices of the same graphs.
    walks
        Walks whose ``source`` and ``target`` are indices into ``places``.
    combine
        Maximum or sum over the pairs of places with the same two labels.
    steps
        Length of the walks, which becomes part of the feature name; 0 if lengths are not kept
        apart.
    """
    u = len(places.ranks)
    count = max(1, MAX_PAIR_TABLE_VALUES // u**2)
    for start in range(0, len(members), count):
        rows = slice(start, start + count)
        labels = places.labels[rows]
        codes = (labels * u).take(walks.source, axis=1)
        codes += labels.take(walks.target, axis=1)
        values = walks.values if len(walks.values) == 1 else walks.values[rows]
        if len(values) < len(codes):
            values = values.repeat(len(codes), axis=0)
        cells, table = _scatter_labels(codes, values, u, combine)
        row, column = table.nonzero()
        first, second = (places.ranks[label] for label in np.divmod(cells, u))
        counts = np.bincount(row, minlength=len(table))
        columns = column.astype(np.int32)
        yield LabelPairs(members[rows], counts, first, second, columns, table[row, column], steps)


def merge_label_pairs(batch: GraphBatch, blocks: Iterable[LabelPairs]) -> Features:
    """Return the feature matrix of a batch from the label pairs of all its families.

    One row per graph of the batch, empty if it has no label pair; one column per label pair that
    occurs, sorted by steps and labels. A column is named ``(first, second)``, or ``(first, second,
    "n steps")`` if lengths are kept apart.
    """
    parts = list(blocks)
    names, columns = _number_columns(sorted(batch.vocabulary), parts)
    if not parts:
        return Features(sp.csr_array((batch.size, 0)), names)
    return Features(_build_matrix(parts, columns, (batch.size, len(names))), names)


def _build_matrix(
    blocks: Sequence[LabelPairs], columns: Sequence[ColumnIndices], shape: tuple[int, int]
) -> RawCSR | sp.csr_array:
    """Return the values of all blocks as a sparse matrix with one row per graph.

    ``columns`` has the column of each value of each block. There must be at least one block. A
    graph may be in several blocks; its columns are then not sorted, and the result is a SciPy array
    instead of a ``RawCSR``, as it is for more than 2^31 values.
    """
    members = np.concatenate([block.members for block in blocks])
    order = members.argsort(kind="stable")
    values = [block.values for block in blocks]
    if (order[1:] < order[:-1]).any():
        columns, values = _reorder(blocks, columns, order), _reorder(blocks, values, order)
    counts = np.concatenate([block.counts for block in blocks])
    ends = offsets(np.bincount(members, counts, minlength=shape[0]))
    data, indices = np.concatenate(values), np.concatenate(columns)
    if len(data) > np.iinfo(np.int32).max:
        return sp.csr_array((data, indices, ends), shape=shape)
    cells = RawCSR(data, indices, ends.astype(np.int32), shape)
    # Where a graph has several parts, its columns are in order only in each of them.
    return cells if len(run_starts(members[order])) == len(members) else cells.to_scipy()


def _reorder(
    blocks: Sequence[LabelPairs], parts: Sequence[NDArray[T]], order: Indices
) -> list[NDArray[T]]:
    """Split arrays by graph, and return the pieces in the given order of graphs.

    ``parts`` has one array per block, with an entry per value. ``order`` indexes the graphs of all
    blocks, one block after the other.
    """
    pieces = [
        part[low:high]
        for block, part in zip(blocks, parts, strict=True)
        for low, high in pairwise(offsets(block.counts).tolist())
    ]
    return [pieces[i] for i in order.tolist()]


def _number_columns(
    words: list[str], blocks: Sequence[LabelPairs]
) -> tuple[FeatureNames, list[ColumnIndices]]:
    """Return the names of all columns, sorted by steps and labels, and the columns of each block.

    ``words`` is the sorted vocabulary. Each array of columns has one entry per value of its block.
    """
    v = max(1, len(words))
    codes = [(block.steps * v + block.first) * v + block.second for block in blocks]
    distinct, number = factorize(np.concatenate([np.empty(0, np.intp), *codes]))
    labels, second = np.divmod(distinct, v)
    steps, first = np.divmod(labels, v)
    parts = [first, second]
    if steps.any():
        parts.append(steps + len(words) - 1)
        words = words + [f"{n} steps" for n in range(1, int(steps.max()) + 1)]
    starts = offsets([len(code) for code in codes]).tolist()
    number_ = number.astype(np.int32)
    columns = [number_[low:][block.places] for low, block in zip(starts, blocks, strict=False)]
    return _compact_names(words, np.array(parts).T), columns


def _compact_names(words: list[str], parts: Indices) -> FeatureNames:
    """Return names without the words that no column has; ``parts`` (d, k) indexes ``words``.

    The order of names and of the remaining words stays. No part may be -1.
    """
    is_used = np.zeros(len(words), dtype=bool)
    is_used[parts] = True
    number = np.cumsum(is_used, dtype=np.int32) - 1
    return FeatureNames(
        tuple(words[i] for i in np.flatnonzero(is_used)), number[parts].astype(np.int32)
    )


def _scatter_labels(
    codes: Indices, values: Matrix, u: int, combine: Literal["max", "sum"]
) -> tuple[Indices, Matrix]:
    """Combine values by code ``first * u + second``; return the codes that occur and the table.

    ``codes`` and ``values`` have shape (g, m); the combination, by maximum or sum, is within each
    of the g rows. Returns ascending codes (p,), without those with a label 0 (none) or with 0 in
    all rows, and the combined values (g, p).
    """
    cells = None
    if u * u > MAX_DENSE_PAIRS:
        cells, column_of = np.unique(codes, return_inverse=True)
        codes = column_of.reshape(codes.shape)
    table = np.zeros((len(codes), u * u if cells is None else len(cells)))
    scatter = np.maximum if combine == "max" else np.add
    codes = codes + np.arange(len(codes))[:, None] * table.shape[1]
    scatter.at(table.reshape(-1), codes.ravel(), values.ravel())

    is_used = np.any(table, axis=0)
    if cells is None:
        is_used[:u] = is_used[::u] = False  # the label 0 is none
        columns = np.flatnonzero(is_used)
        return columns, table.take(columns, axis=1)
    columns = np.flatnonzero(is_used & (cells >= u) & (cells % u > 0))
    return cells[columns], table.take(columns, axis=1)
