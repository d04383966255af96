"""Weights of all walks between the vertices of graphs that share their shape."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.sparse.csgraph import connected_components

from textrank.types import GraphFamily, Indices, Matrix, Vector
from textrank.types.ragged import offsets

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
