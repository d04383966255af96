"""Preference graphs: which differences of scores a ranker reproduces, and how much each counts.

A graph with an edge for every preference has a Laplacian ``L``, and the squared error over its
edges is ``(s - f)' L (s - f)`` for potentials ``s``. ``L`` is block diagonal by query, so its root
``R`` (``L = R R``) turns ranking into least squares: ``(R K R + alpha I) b = R s``, ``a = R b``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Literal, Protocol, TypeAlias

import numpy as np
import scipy.sparse as sp

from textrank.learners.checks import groups_of
from textrank.linalg.spectrum import densified
from textrank.types import Indices, Matrix, SparseMatrix, Vector

Cost: TypeAlias = Literal["magnitude", "sign", "bound"]


class Preferences(Protocol):
    """The root of a Laplacian that is block diagonal by query."""

    def root(self, X: Matrix | SparseMatrix) -> Matrix:
        """``R X``."""

    def kept(self, X: Matrix) -> Matrix:  # (n, m) -> (r, m)
        """``D B X``: R without its null space, ``R = B' D B`` with orthonormal rows of ``B``."""

    def given_back(self, U: Matrix) -> Matrix:  # (r, m) -> (n, m)
        """``B' U``."""

    def target(self, Y: Matrix) -> Matrix:
        """``R s`` for the potentials ``s`` of the answers."""

    def undo(self, group: Indices) -> tuple[Matrix, Matrix]:  # (h, h), (h, c)
        """The pseudo-inverse of ``R`` on rows that hold whole queries, and its null space."""


@dataclass(frozen=True, eq=False)
class Centring:
    """All pairs of a query, magnitudes kept, cost (21): ``L_q = scale_q (I - 11'/h)``.

    ``scale`` is the size of the query where every pair counts alike, and makes all queries
    equally important where it is ``2 / (size - 1)``. Nothing larger than the data is formed.
    """

    query: Indices  # (n,) numbers 0 ..
    normalised: bool = False

    @cached_property
    def size(self) -> Indices:  # (n,) of its query
        """How many candidates the query of each has."""
        return np.bincount(self.query)[self.query]

    @cached_property
    def scale(self) -> Vector:  # (n,)
        """What the pairs of each query are multiplied by."""
        size = self.size.astype(np.float64)
        return 2.0 / np.maximum(size - 1, 1) if self.normalised else size

    @cached_property
    def _means(self) -> SparseMatrix:
        """What takes the mean of each query."""
        n = len(self.query)
        cells = (1.0 / self.size, (self.query, np.arange(n)))
        return sp.csr_array(cells, shape=(int(self.query.max()) + 1, n))

    def root(self, X: Matrix | SparseMatrix) -> Matrix:
        """``R X``: differences from the query's mean, times the root of its scale."""
        means = self._means @ X
        dense = densified(means).take(self.query, axis=0)
        np.subtract(densified(X), dense, out=dense)
        dense *= np.sqrt(self.scale).reshape(-1, *[1] * (dense.ndim - 1))
        return dense

    def kept(self, X: Matrix) -> Matrix:
        """``D B X``, where ``B`` reflects each query so that its mean becomes its first candidate.

        That first one goes; the others become ``x_i + (x_0 - sum x / √h) / (√h - 1)``.
        """
        rest = self._rest
        found: Matrix = (self._mirror @ X).take(self.query[rest], axis=0)
        found += X[rest]
        found *= np.sqrt(self.scale)[rest, None]
        return found

    def given_back(self, U: Matrix) -> Matrix:
        """``B' U``."""
        rest = self._rest
        cells = (np.ones(len(rest)), (self.query[rest], np.arange(len(rest))))
        sums = sp.csr_array(cells, shape=(self._mirror.shape[0], len(rest)))
        found: Matrix = self._mirror.T @ (sums @ U)
        found[rest] += U
        return found

    @cached_property
    def _first(self) -> Indices:  # (q,)
        return np.unique(self.query, return_index=True)[1]

    @cached_property
    def _rest(self) -> Indices:  # (n - q,)
        return np.delete(np.arange(len(self.query)), self._first)

    @cached_property
    def _mirror(self) -> SparseMatrix:  # (q, n)
        """``(x_0 - sum x / √h) / (√h - 1)`` of each query; nothing where nothing is left of it."""
        n = len(self.query)
        root = np.sqrt(self.size)
        share = np.divide(1.0, root - 1, out=np.zeros(n), where=self.size > 1)
        values = -share / root
        values[self._first] += share[self._first]
        cells = (values, (self.query, np.arange(n)))
        return sp.csr_array(cells, shape=(len(self._first), n))

    def laplacian(self) -> Callable[[Vector], Vector]:
        """``L u`` for one vector at a time, with everything but the sums made beforehand."""
        query, scale = self.query, self.scale
        share = 1.0 / np.bincount(query)
        return lambda u: (u - (np.bincount(query, u) * share)[query]) * scale

    def target(self, Y: Matrix) -> Matrix:
        """The answers are the potentials."""
        return self.root(Y)

    def undo(self, group: Indices) -> tuple[Matrix, Matrix]:
        """Split by the root of the scale; the levels of the queries are lost."""
        if self.size[group[0]] == len(group):  # one whole query
            return _centred(len(group), float(self.scale[group[0]]))
        local = np.unique(self.query[group], return_inverse=True)[1]
        null = np.eye(int(local.max()) + 1)[local] / np.sqrt(self.size[group])[:, None]
        inverse = (np.eye(len(group)) - null @ null.T) / np.sqrt(self.scale[group])[:, None]
        return inverse, null


@lru_cache(maxsize=1024)
def _centred(h: int, scale: float) -> tuple[Matrix, Matrix]:
    """``undo`` of one whole query."""
    return (np.eye(h) - 1.0 / h) / np.sqrt(scale), np.full((h, 1), h**-0.5)


@dataclass(frozen=True, eq=False)
class Laplacian:
    """Any preferences inside queries: for each query its block of the Laplacian, decomposed.

    One small eigendecomposition a query.
    """

    query: Indices  # (n,) numbers 0 ..
    queries: Sequence[Indices]  # the rows of each
    values: Sequence[Vector]  # (h,) eigenvalues, zeros for the null space
    vectors: Sequence[Matrix]  # (h, h)
    pulls: Sequence[Matrix]  # (h, p): M N, the pull of the preferences on each candidate

    @classmethod
    def of(cls, y: Matrix, query: Indices, cost: Cost, *, normalised: bool) -> Laplacian:
        """Preferences between differently scored candidates of a query; one column of scores."""
        queries = groups_of(query, len(y), name="queries")
        blocks = [_block(y[rows, 0], cost, normalised) for rows in queries]
        decomposed = [np.linalg.eigh(L) for L, _ in blocks]
        values = [_without_dust(w) for w, _ in decomposed]
        return cls(query, queries, values, [v for _, v in decomposed], [pull for _, pull in blocks])

    def root(self, X: Matrix | SparseMatrix) -> Matrix:
        """``R X``, query by query."""
        dense = X.toarray() if isinstance(X, sp.sparray) else X
        result = np.empty(dense.shape)
        for rows, w, V in self._blocks():
            result[rows] = (V * np.sqrt(w)) @ (V.T @ dense[rows])
        return result

    def kept(self, X: Matrix) -> Matrix:
        """``D B X``, query by query."""
        parts = [
            np.sqrt(w[w > 0])[:, None] * (V[:, w > 0].T @ X[rows]) for rows, w, V in self._blocks()
        ]
        return np.concatenate([np.empty((0, X.shape[1])), *parts])

    def given_back(self, U: Matrix) -> Matrix:
        """``B' U``, query by query."""
        result, start = np.zeros((len(self.query), U.shape[1])), 0
        for rows, w, V in self._blocks():
            end = start + int((w > 0).sum())
            result[rows] = V[:, w > 0] @ U[start:end]
            start = end
        return result

    def _blocks(self) -> Iterator[tuple[Indices, Vector, Matrix]]:
        return zip(self.queries, self.values, self.vectors, strict=True)

    def target(self, Y: Matrix) -> Matrix:
        """``R^+ M N``, which is ``R s``: the answers were used to make the pulls."""
        result = np.empty(Y.shape)
        for rows, w, V, pull in zip(
            self.queries, self.values, self.vectors, self.pulls, strict=True
        ):
            result[rows] = (V * _inverse_root(w)) @ (V.T @ pull)
        return result

    def undo(self, group: Indices) -> tuple[Matrix, Matrix]:
        """Block by block; connected components of each query lose their level."""
        inverse, nulls = np.zeros((len(group), len(group))), []
        for number in np.unique(self.query[group]).tolist():
            local = np.flatnonzero(self.query[group] == number)
            w, V = self.values[number], self.vectors[number]
            inverse[np.ix_(local, local)] = (V * _inverse_root(w)) @ V.T
            null = np.zeros((len(group), int((w == 0).sum())))
            null[local] = V[:, w == 0]
            nulls.append(null)
        return inverse, np.hstack(nulls)


def incidence(pairs: Indices, n: int) -> SparseMatrix:  # (l, 2) -> (l, n)
    """A row a preference: 1 at the better, -1 at the worse candidate."""
    l = np.arange(len(pairs))  # noqa: E741
    cells = np.repeat([1.0, -1.0], len(pairs)), (np.tile(l, 2), pairs.T.ravel())
    return sp.csr_array(cells, shape=(len(pairs), n))


def _block(y: Vector, cost: Cost, normalised: bool) -> tuple[Matrix, Matrix]:
    gap = y[:, None] - y[None, :]
    differ = gap != 0
    weight = differ.astype(np.float64)  # w^2 of each edge
    if cost == "bound":
        weight[differ] = 1.0 / gap[differ] ** 2
    goal = np.sign(gap) if cost == "sign" else gap
    if normalised and differ.any():
        weight /= differ.sum() / 2
    L = np.diag(weight.sum(axis=1)) - weight
    return L, (weight * goal).sum(axis=1)[:, None]


def _without_dust(w: Vector) -> Vector:
    top = max(float(w[-1]), 0.0)
    return np.where(w > 1e-12 * top * len(w), w, 0.0) if top else np.zeros(len(w))


def _inverse_root(w: Vector) -> Vector:
    return np.divide(1.0, np.sqrt(w), out=np.zeros(len(w)), where=w > 0)
