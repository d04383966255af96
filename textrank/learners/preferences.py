"""Least squares on preference graphs: training and exact hold-out of candidates with their edges.

``weigh_edges`` turns preferences and a cost into a :class:`WeightedGraph`; a
:class:`PreferenceProblem` is a graph with data, decomposed once for every alpha.

With ``B`` (n, e) the incidence matrix of the graph, each column times the root of the weight of its
edge, the Laplacian is ``L = B B'`` and the objective ``||c - B'f||^2 + alpha ||f||^2`` with targets
``c`` (e,). For ``K = C C'`` and ``C'L C = E diag(d) E'`` the scores are ``f = G g G'p`` with
``G = C E``, ``g = 1 / (d + alpha)`` and ``p = B c``. Only ``L``, which has an entry per edge, and
matrices of the size of the data are formed: O(n^3 + l) for l preferences, formula (17) of the paper
(Pahikkala, Tsivtsivadze, Airola, Järvinen and Boberg 2009, Machine Learning 75).

A candidate is held out with all its edges. Without the edges ``U`` of held-out candidates the model
is ``t = (diag(d) + alpha - T'T)^-1 (G'p - T'c_U)``, ``T = B_U'G``, by Woodbury a system of as many
equations as there are edges in ``U``, or of the rank of the data if that is less.

Letters in shapes: ``n`` candidates, ``l`` preferences, ``e`` pairs that are compared, ``d``
features, ``r`` rank of the data, ``a`` values of alpha, ``k`` edges of a held-out group.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal, TypeAlias

import numpy as np
import scipy.linalg as sla
import scipy.sparse as sp

from textrank.candidates import PreferenceGraph
from textrank.features import Indices, Matrix, SparseMatrix, Vector
from textrank.learners.base import rows_by_group
from textrank.learners.holdout import solve_regular
from textrank.linalg import (
    EPSILON,
    MAX_GRAM_ERROR,
    check_dense_size,
    decompose_features,
    gram,
    not_psd_error,
)

Cost: TypeAlias = Literal["magnitude", "sign", "bound"]
REFINEMENT_STEPS = 3  # of the coefficients at most, O(n^2) each
SMALL_RESIDUAL = 1e-11  # of the coefficients, relative to the pull
MAX_HOLDOUT_OPERATIONS = 1e11  # multiplications to hold out group by group; else in folds
HOLDOUT_FOLDS = 10
TRIANGLE_BLOCK = 128  # columns of a triangular product that are computed at once
MAX_SPARSE_SHARE = 1 / 16  # of entries in a Laplacian for which sparse products are faster


@dataclass(frozen=True, eq=False)
class WeightedGraph:
    """Weighted edges between n candidates, parallel ones merged: ``sum w (f_i - f_j - z)^2``.

    Preferences between the same two candidates, in either direction, add their weights ``w`` and
    pulls ``w z``. The sum over preferences and that over merged edges differ by a constant.
    """

    n: int
    pairs: Indices  # (e, 2) rows, the smaller one first
    weights: Vector  # (e,) positive
    pulls: Vector  # (e,) weight times wanted difference, of the first row over the second

    @cached_property
    def targets(self) -> Vector:
        """Targets ``c`` (e,) of the weighted differences: pulls over roots of weights."""
        return self.pulls / np.sqrt(self.weights)

    @cached_property
    def laplacian(self) -> SparseMatrix:
        """``L`` (n, n): minus the weight for each pair, the sum of weights on the diagonal."""
        i, j = self.pairs.T
        off = sp.coo_array((-self.weights, (i, j)), shape=(self.n, self.n))
        degree = np.bincount(self.pairs.ravel(), np.repeat(self.weights, 2), minlength=self.n)
        return sp.csr_array(off + off.T + sp.diags_array(degree))

    @cached_property
    def pull(self) -> Vector:
        """``p = B c`` (n,): the sum of pulls on each candidate, positive for the preferred one."""
        signed = np.column_stack([self.pulls, -self.pulls]).ravel()
        return np.asarray(
            np.bincount(self.pairs.ravel(), signed, minlength=self.n), dtype=np.float64
        )

    def differences(self, X: Matrix | SparseMatrix, edges: Indices | None = None) -> Matrix:
        """Return ``B'X`` (e, m): differences of rows of ``X`` (n, m), better less worse, dense.

        Each is multiplied by the root of its edge's weight. ``edges`` selects some of the edges, by
        number; None takes all.
        """
        pairs, weights = self.pairs, self.weights
        if edges is not None:
            pairs, weights = pairs[edges], weights[edges]
        gap = X[pairs[:, 0]] - X[pairs[:, 1]]
        dense = gap.toarray() if isinstance(gap, sp.sparray) else gap
        return np.asarray(dense * np.sqrt(weights)[:, None])

    @cached_property
    def _edges_by_row(self) -> tuple[Indices, Indices]:
        """Edges sorted by the rows they touch (2 e,), and where each row begins (n + 1,).

        Edges are given by number, and each occurs twice, once for either end.
        """
        order = np.argsort(self.pairs.ravel(), kind="stable")
        counts = np.bincount(self.pairs.ravel(), minlength=self.n)
        return order // 2, np.concatenate([[0], np.cumsum(counts)])

    def without(self, edges: Indices) -> WeightedGraph:
        """Return the graph of the same candidates without some ``edges`` (k,), given by number."""
        rest = np.setdiff1d(np.arange(len(self.pairs)), edges)
        return WeightedGraph(self.n, self.pairs[rest], self.weights[rest], self.pulls[rest])

    def edges_of(self, rows: Indices) -> Indices:
        """Return the numbers (k,) of the edges that touch one of the ``rows``, ascending, once."""
        edges, begins = self._edges_by_row
        parts = [edges[begins[row] : begins[row + 1]] for row in rows.tolist()]
        return np.unique(np.concatenate([np.empty(0, dtype=np.intp), *parts]))


def weigh_edges(
    graph: PreferenceGraph, n: int, cost: Cost, *, normalised: bool = False
) -> WeightedGraph:
    """Return the weighted edges of preferences between ``n`` candidates.

    ``cost`` is that of ``RankRLS``: ``magnitude`` asks for differences of the given magnitudes,
    ``sign`` for 1, ``bound`` for the magnitudes ``z`` with weight ``1 / z^2``. If ``normalised``,
    the weights of a query are divided by the number of its preferences; a graph without queries is
    one query. Preferences between the same two candidates are merged. Magnitudes must not be 0 for
    ``bound``.
    """
    z = np.ones(len(graph)) if cost == "sign" else graph.magnitudes
    w = 1.0 / graph.magnitudes**2 if cost == "bound" else np.ones(len(graph))
    if normalised:
        query = np.zeros(len(graph), np.intp) if graph.queries is None else graph.queries
        number = np.unique(query, return_inverse=True)[1]
        w = w / np.bincount(number)[number]
    pairs = np.sort(graph.pairs, axis=1)
    sign = np.where(graph.pairs[:, 0] == pairs[:, 0], 1.0, -1.0)
    keys, edge = np.unique(pairs[:, 0] * n + pairs[:, 1], return_inverse=True)
    merged = np.column_stack(np.divmod(keys, n)).astype(np.intp)
    weights, pulls = (
        np.bincount(edge, v, minlength=len(keys)).astype(np.float64) for v in (w, w * z * sign)
    )
    return WeightedGraph(n, merged, weights, pulls)


@dataclass(frozen=True, eq=False)
class PreferenceProblem:
    """Least squares on a preference graph, rotated so that every alpha is a diagonal.

    With ``L`` the Laplacian of the graph and ``K = C C'``, ``C'L C = E diag(d) E'``. In the
    coordinates ``G = C E`` the model at alpha is ``Z / (d + alpha)`` and scores are ``G`` times it.
    """

    graph: WeightedGraph
    d: Vector  # (r,) eigenvalues of C'L C
    C: Matrix | SparseMatrix  # (n, c): features, or a factor of the Gram matrix
    E: Matrix  # (c, r): eigenvectors
    Z: Vector  # (r,): G'p
    is_dual: bool  # whether C is a factor of a Gram matrix
    is_accurate: bool = True  # whether d was computed from C'L C, and not from differences

    @cached_property
    def G(self) -> Matrix:  # noqa: N802 - as in the module's formulas
        """``C E`` (n, r), whose products are the Gram matrix of the candidates."""
        return np.asarray(self.C @ self.E)

    @property
    def _is_triangular(self) -> bool:
        """Whether ``C`` is a square, and so lower triangular, Cholesky factor of a Gram matrix."""
        return self.is_dual and self.C.shape[0] == self.C.shape[1]

    @classmethod
    def from_data(
        cls, data: Matrix | SparseMatrix, graph: WeightedGraph, alpha: float, *, dual: bool
    ) -> PreferenceProblem:
        """Decompose a Gram matrix (n, n) if ``dual``, else features (n, d), for these edges.

        ``alpha`` is the smallest one in use. If the Laplacian would lose its digits, the weighted
        differences of the features are decomposed instead, O(e d^2); a given Gram matrix is used in
        any case. More than ``2 n`` features are treated by their Gram matrix (``is_dual``). Raises
        ValueError if a Gram matrix is not positive semi-definite, and if sparse features must be
        decomposed and are too large to be made dense.
        """
        if dual or data.shape[1] > 2 * data.shape[0]:
            K = np.asarray(data) if dual else gram(data)
            problem = cls._from_factor(_factor(K), graph, is_dual=True)
            if dual or problem.resolves(alpha):
                return problem
        elif data.shape[1] <= 2 * data.shape[0]:
            factor = data.toarray() if isinstance(data, sp.sparray) else np.asarray(data)
            problem = cls._from_factor(factor, graph, is_dual=False)
            if problem.resolves(alpha):
                return problem
        return cls._from_differences(data, graph)

    @classmethod
    def _from_differences(
        cls, data: Matrix | SparseMatrix, graph: WeightedGraph
    ) -> PreferenceProblem:
        """Decompose the weighted differences of features (n, d) themselves, not their products.

        Raises ValueError if sparse features are too large to be made dense.
        """
        check_dense_size(data)
        U, s, V = decompose_features(graph.differences(data))
        return cls(graph, s**2, data, V, s * (U.T @ graph.targets), False, is_accurate=False)

    @classmethod
    def _from_factor(cls, C: Matrix, graph: WeightedGraph, *, is_dual: bool) -> PreferenceProblem:
        """Decompose ``C'L C`` for features or a factor (n, c) of the Gram matrix.

        A square factor must be lower triangular, as that of ``_factor``.
        """
        is_square = is_dual and C.shape[0] == C.shape[1]
        S = (_transform_triangular if is_square else _transform)(C, graph.laplacian)
        d, E = sla.eigh(S, lower=False, driver="evd", overwrite_a=True, check_finite=False)
        return cls(graph, d.clip(min=0), C, E, E.T @ (C.T @ graph.pull), is_dual)

    def resolves(self, alpha: float) -> bool:
        """Return whether the round-off of the eigenvalues is small against ``alpha``.

        That is, at most ``MAX_GRAM_ERROR`` of it.
        """
        return bool(EPSILON * self.d.max(initial=0.0) <= MAX_GRAM_ERROR * alpha)

    def solutions(self, alphas: Vector) -> Matrix:  # (a, r)
        """Return the minimisers (a, r) at every alpha, in the rotated coordinates (of ``G``)."""
        return np.asarray(self.Z / (self.d + alphas[:, None]))

    def weights(self, alphas: Vector) -> Matrix:  # (a, d)
        """Return feature weights (a, d) at every alpha.

        Raises ValueError if a Gram matrix was decomposed (``is_dual``).
        """
        if self.is_dual:
            raise ValueError("a Gram matrix has no features: decompose the features instead")
        return np.asarray(self.solutions(alphas) @ self.E.T)

    def coefs(self, alphas: Vector) -> Matrix:  # (a, n)
        """Return coefficients (a, n) of the candidates, ``(L K + alpha I)^-1 p``, at every alpha.

        With scores ``f = C t`` they are ``C'^-1 t`` for a triangular ``C``, else
        ``(p - L f) / alpha``, a difference divided by alpha. Both are refined where necessary.
        """
        L, p = self.graph.laplacian, self.graph.pull[:, None]
        t = self.E @ (self.Z[:, None] / (self.d[:, None] + alphas))
        if self._is_triangular:
            A = sla.solve_triangular(self.C, t, lower=True, trans="T", check_finite=False)
        else:
            A = (p - L @ (self.C @ t)) / alphas
        rest = np.arange(len(alphas))  # alphas whose coefficients are not accurate yet
        for _ in range(REFINEMENT_STEPS):
            residual = p - L @ (self.C @ (self.C.T @ A[:, rest])) - alphas[rest] * A[:, rest]
            is_large = np.abs(residual).max(axis=0) > SMALL_RESIDUAL * np.abs(p).max()
            if not is_large.any():
                break
            rest, residual = rest[is_large], residual[:, is_large]
            t = self.E @ ((self.E.T @ (self.C.T @ residual)) / (self.d[:, None] + alphas[rest]))
            A[:, rest] += (residual - L @ (self.C @ t)) / alphas[rest]
        return np.asarray(A.T)

    def heldout(self, alphas: Vector, groups: Sequence[Indices]) -> list[Matrix]:
        """Return for each group of rows its scores (a, h) by the model without it and its edges.

        Groups may overlap. A group without edges has the scores of the full model. Where alpha is
        round-off of the features, every group is one decomposition; a Gram matrix that is so large
        compared with alpha raises ValueError.
        """
        g = 1.0 / (self.d + alphas[:, None])  # (a, r)
        full = self.solutions(alphas)
        scores = []
        for rows in groups:
            edges = self.graph.edges_of(rows)
            if not self.is_accurate and len(edges):
                rest = self._from_differences(self.C, self.graph.without(edges))
                scores.append(np.asarray(rest.solutions(alphas) @ rest.G[rows].T))
                continue
            t = self._solve_without(edges, alphas, g) if len(edges) else full
            scores.append(np.asarray(t @ self.G[rows].T))
        return scores

    def _solve_without(self, edges: Indices, alphas: Vector, g: Matrix) -> Matrix:  # (a, r)
        """Return the minimisers (a, r) at every alpha without some ``edges`` (k,), by number.

        ``g`` (a, r) is ``1 / (d + alpha)``. Raises ValueError if alpha is round-off of the data.
        """
        T = self.graph.differences(self.G, edges)
        right = self.Z - T.T @ self.graph.targets[edges]
        k, r = T.shape
        if k >= r:
            M = -(T.T @ T) + np.zeros((len(alphas), 1, 1))
            M[:, np.arange(r), np.arange(r)] += self.d + alphas[:, None]
            return solve_regular(M, np.broadcast_to(right[:, None], (len(alphas), r, 1)))[..., 0]
        t = g * right
        M = np.eye(k) - (T * g[:, None, :]) @ T.T
        x = solve_regular(M, (t @ T.T)[:, :, None])[..., 0]
        return np.asarray(t + g * (x @ T))

    def holdout_operations(self, groups: Sequence[Indices], alphas: int) -> float:
        """Return about how many multiplications ``heldout`` takes for these groups of rows.

        ``alphas`` is the number of alphas. Edges inside a group are counted twice.
        """
        degree = np.bincount(self.graph.pairs.ravel(), minlength=self.graph.n)
        k = np.array([degree[rows].sum() for rows in groups], dtype=np.float64)
        small = np.minimum(k, len(self.d))
        return float(alphas * (small**3 / 3 + small * k * len(self.d)).sum())


def preference_path(
    data: Matrix | SparseMatrix,
    graph: WeightedGraph,
    alphas: Vector,
    groups: Indices | None,
    *,
    dual: bool,
) -> tuple[Matrix, Matrix]:  # (a, n) or (a, d), (a, n)
    """Return coefficients (``dual``) or feature weights, and held-out scores, at every alpha.

    ``data`` is a checked Gram matrix (n, n) if ``dual``, else features (n, d). ``groups`` (n,) are
    held out together, each with all edges that touch it; None holds out nothing, and the second
    result is NaN. Where a graph is so dense that this would take more than
    ``MAX_HOLDOUT_OPERATIONS``, groups are held out in ``HOLDOUT_FOLDS`` folds.
    """
    problem = PreferenceProblem.from_data(data, graph, float(alphas.min()), dual=dual)
    heldout = np.full((len(alphas), graph.n), np.nan)
    if groups is not None:
        parts = rows_by_group(groups, graph.n, name="documents")
        if problem.holdout_operations(parts, len(alphas)) > MAX_HOLDOUT_OPERATIONS:
            number = np.unique(groups, return_inverse=True)[1] % HOLDOUT_FOLDS
            parts = rows_by_group(number, graph.n, name="documents")
        for rows, scores in zip(parts, problem.heldout(alphas, parts), strict=True):
            heldout[:, rows] = scores
    if not problem.is_dual:
        return problem.weights(alphas), heldout
    A = problem.coefs(alphas)
    return (A if dual else np.asarray((data.T @ A.T).T)), heldout


def heldout_differences(
    problem: PreferenceProblem, graph: PreferenceGraph, alpha: float, groups: Indices
) -> Vector:  # (l,)
    """Return the predicted difference of each preference, the groups of both candidates held out.

    The result (l,) is the score of the better less that of the worse candidate, in the order of
    ``graph``, by a model at ``alpha`` without the two groups and any edge that touches them.
    ``problem`` is that of all edges, decomposed for an alpha no larger; ``groups`` (n,) is the
    group of each candidate.
    """
    number = np.unique(groups, return_inverse=True)[1]
    both = np.sort(number[graph.pairs], axis=1)
    keys, where = np.unique(both, axis=0, return_inverse=True)
    members = rows_by_group(number, len(groups), name="groups")
    held_out = [np.union1d(members[a], members[b]) for a, b in keys.tolist()]
    position = np.zeros(len(groups), dtype=np.intp)
    gaps = np.empty(len(graph))
    by_key = rows_by_group(where.ravel(), len(graph), name="preferences")
    scores = problem.heldout(np.array([alpha]), held_out)
    for rows, score, preferences in zip(held_out, scores, by_key, strict=True):
        position[rows] = np.arange(len(rows))
        better, worse = position[graph.pairs[preferences]].T
        gaps[preferences] = score[0, better] - score[0, worse]
    return gaps


def _transform(C: Matrix, L: SparseMatrix) -> Matrix:
    """Return ``C'L C`` (c, c) in Fortran order, for ``C`` (n, c) and a Laplacian ``L`` (n, n)."""
    return np.asfortranarray(C.T @ (L @ C))


def _transform_triangular(C: Matrix, L: SparseMatrix) -> Matrix:
    """Return the upper triangle of ``C'L C`` (n, n) in Fortran order, for a lower triangular ``C``.

    ``C`` must be C-ordered. The lower triangle of the result is arbitrary. Only entries that are
    not zero and that the upper triangle needs are multiplied: n^3 / 6 multiplications and half of
    those of ``L C``, or n^3 / 2 by LAPACK if ``L`` has many entries.
    """
    n = len(C)
    if L.nnz > MAX_SPARSE_SHARE * n * n:
        dense = L.toarray(order="F")
        return np.asarray(sla.lapack.dsygst(dense, C.T, itype=2, lower=0, overwrite_a=1)[0])
    S = np.empty((n, n))  # its lower triangle holds L C, then row by row the result
    for start in range(0, n, TRIANGLE_BLOCK):
        block, below = slice(start, start + TRIANGLE_BLOCK), slice(start, None)
        S[below, block] = L[below, below] @ np.ascontiguousarray(C[below, block])
        S[block, : block.stop] = C[below, block].T @ S[below, : block.stop]
    return S.T


def _factor(K: Matrix) -> Matrix:
    """Return ``C`` (n, r) with ``K = C C'`` by Cholesky, with pivots if ``K`` is singular.

    A square ``C`` is lower triangular; of a singular ``K`` it has at most n - 1 columns. Raises
    ValueError if ``K`` is not positive semi-definite.
    """
    # The transpose of a C-ordered symmetric array is Fortran-ordered, and so is that of the result.
    factor, failed = sla.lapack.dpotrf(K.T, lower=0, clean=1)
    if not failed:
        return np.asarray(factor.T)
    top = float(K.diagonal().max())
    tolerance = len(K) * EPSILON * top
    factor, pivots, rank, _ = sla.lapack.dpstrf(np.asfortranarray(K), lower=1, tol=tolerance)
    rank = min(int(rank), len(K) - 1)  # square factors are triangular, this one is permuted
    C = np.zeros((len(K), rank))
    C[pivots - 1] = np.tril(factor)[:, :rank]
    # What pivoting leaves is round-off for a positive semi-definite matrix.
    rest = float(np.abs(K.diagonal() - np.einsum("ij,ij->i", C, C)).max())
    if rest > 1e-8 * max(top, 1e-300):
        raise not_psd_error(f"{rest:.3g} of its diagonal has no Cholesky factor")
    return C
