"""Reduced set: models on a basis of few candidates, with held-out basis vectors removed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
import scipy.linalg as sla

from textrank.candidates import Targets
from textrank.features import Features, Indices, Matrix, Vector
from textrank.learners.base import (
    Fit,
    NestedScores,
    RegularizationPath,
    SelectionMetric,
    check_alphas,
    check_gram,
    check_metric,
    check_targets,
    choose_alpha,
    rows_by_group,
)
from textrank.learners.holdout import nested_by_retraining
from textrank.learners.rankrls import QueryCentring
from textrank.learners.rls import check_data
from textrank.linalg import to_dense

Sampling = Literal["uniform", "stratified", "leverage"]


@dataclass(frozen=True)
class ReducedRLS:
    """RLS or RankRLS with ``f(x) = k(x, X_R) b`` on a basis ``R`` of ``size`` candidates.

    ``b = (K_RM K_MR + alpha K_RR)^-1 K_RM y``. The basis is a uniform sample, one spread evenly
    over the documents (``stratified``), or drawn by ridge leverage (``leverage``), which finds
    the candidates that others cannot stand in for. ``rank`` ranks within queries (all pairs,
    magnitudes kept). A held-out document takes its basis vectors with it, exactly: keeping them
    would let the model know where the held-out candidates lie, and biases the choice of alpha.

    Pahikkala et al. (2009); Airola, Pahikkala and Salakoski (2011) on the bias.

    >>> F = np.random.default_rng(0).normal(size=(40, 3))
    >>> own = np.repeat(np.arange(10), 4)
    >>> fit = ReducedRLS(size=8).fit(F @ F.T, Targets(np.sign(F[:, 0]), own, own))
    >>> int(np.count_nonzero(fit.coef)), fit.heldout.shape
    (8, (5, 40))
    """

    size: int = 500
    alphas: Sequence[float] = (0.25, 0.5, 1.0, 2.0, 4.0)
    select: SelectionMetric = "auc"
    sampling: Sampling = "stratified"
    rank: bool = False
    seed: int = 0

    def __post_init__(self) -> None:
        object.__setattr__(self, "alphas", check_alphas(self.alphas))
        check_metric(self.select)
        if self.size < 1:
            raise ValueError(f"size must be at least 1, got {self.size}")
        if self.sampling not in get_args(Sampling):
            raise ValueError(
                f"sampling must be one of {', '.join(get_args(Sampling))}, got {self.sampling!r}"
            )

    def fit(self, data: Matrix | Features, targets: Targets) -> Fit:
        """Learns from a Gram matrix or from features, and chooses alpha by held-out documents."""
        path = self.path(data, targets)
        return path.select(choose_alpha(path.heldout, targets, self.select, path.alphas))

    def path(self, data: Matrix | Features, targets: Targets) -> RegularizationPath:
        """Coefficients and held-out scores at every alpha; candidates off the basis have none."""
        matrix, dual = check_data(data)
        n = matrix.shape[0]
        basis = self.basis(matrix if dual else None, targets.groups)
        columns = matrix[:, basis] if dual else to_dense(matrix @ matrix[basis].T)
        coefs, heldout = self.path_on_basis(columns, basis, targets)
        full = np.zeros((len(self.alphas), n))
        full[:, basis] = coefs
        return RegularizationPath(
            tuple(self.alphas), full if dual else np.asarray((matrix.T @ full.T).T), heldout
        )

    def nested(
        self, data: Matrix | Features, targets: Targets, partitions: Sequence[Indices]
    ) -> list[NestedScores]:
        """Test and inner held-out scores for each division into folds, at every alpha."""
        return nested_by_retraining(self, data, targets, partitions)

    def path_on_basis(
        self, columns: Matrix, basis: Indices, targets: Targets
    ) -> tuple[Matrix, Matrix]:  # (a, b), (a, n)
        """Coefficients on the basis and held-out scores, from ``K_MR`` (n, b) alone."""
        reduced = ReducedCoordinates.of(columns, basis)
        Y = check_targets(targets.y, len(columns))
        groups = rows_by_group(targets.groups, len(Y), name="documents")
        query = np.unique(targets.queries, return_inverse=True)[1] if self.rank else None
        alphas = np.array(self.alphas)
        problem = reduced.problem(Y, None if query is None else QueryCentring(query))
        coefs = reduced.coefs(problem.solutions(alphas))[:, :, 0]
        heldout = heldout_without_basis(problem, reduced.owners(groups), alphas, groups)
        return coefs, heldout[:, :, 0]

    def basis(self, K: Matrix | None, documents: Indices) -> Indices:
        """The rows of the basis, in order."""
        n = len(documents)
        if self.size >= n:
            return np.arange(n)
        rng = np.random.default_rng(self.seed)
        if self.sampling == "uniform":
            chosen = rng.choice(n, self.size, replace=False)
        elif self.sampling == "stratified":
            chosen = _stratified(documents, self.size, rng)
        elif K is None:
            raise ValueError("leverage sampling needs a Gram matrix. Use uniform or stratified.")
        else:
            chosen = sample_by_leverage(K, self.size, float(np.median(self.alphas)), rng)
        return np.sort(chosen)


@dataclass(frozen=True, eq=False)
class ReducedCoordinates:
    """The functions a basis spans, in coordinates where their norm is the Euclidean one.

    ``K_RR = Z Z'`` with ``Z`` (b, r); a singular ``K_RR`` has ``r < b`` and null vectors.
    """

    H: Matrix  # (n, r): values of the coordinate functions at all candidates, K_MR Z'^+
    pinv: Matrix  # (r, b): Z^+, so that coefficients are pinv' c
    null: Matrix  # (b, b - r): null space of K_RR
    basis: Indices  # (b,)

    @classmethod
    def of(cls, columns: Matrix, basis: Indices) -> ReducedCoordinates:
        """From ``K_MR`` (n, b)."""
        inside = check_gram(columns[basis])
        w, U = sla.eigh(inside, driver="evd", check_finite=False)
        keep = w > w[-1] * len(w) * np.finfo(np.float64).eps
        if not keep.any():
            raise ValueError("all kernel values of the basis are zero: nothing can be learned")
        pinv = (U[:, keep] / np.sqrt(w[keep])).T
        return cls(columns @ pinv.T, pinv, U[:, ~keep], basis)

    def problem(self, Y: Matrix, preferences: QueryCentring | None) -> DiagonalRidge:
        """Ridge regression in these coordinates, rotated so that every alpha is diagonal."""
        T = self.H if preferences is None else preferences.root(self.H)
        target = Y if preferences is None else preferences.target(Y)
        d, V = sla.eigh(T.T @ T, driver="evd", check_finite=False)
        F = self.H @ V
        trained = F if preferences is None else T @ V
        P = self.pinv.T @ V
        return DiagonalRidge(d.clip(min=0), F, trained, target, P, self.null, V)

    def coefs(self, solutions: Matrix) -> Matrix:  # (a, r, p) -> (a, b, p)
        """Coefficients of the basis from solutions in the coordinates ``H``."""
        return np.asarray(np.einsum("rb,arp->abp", self.pinv, solutions, optimize=True))

    def owners(self, groups: Sequence[Indices]) -> list[Indices]:
        """The basis vectors (places in the basis) that each group takes with it."""
        place = np.full(len(self.H), -1)
        place[self.basis] = np.arange(len(self.basis))
        return [place[group][place[group] >= 0] for group in groups]


def sample_by_leverage(K: Matrix, size: int, alpha: float, rng: np.random.Generator) -> Indices:
    """A sample weighted by approximate ridge leverage ``diag(K (K + alpha I)^-1)``.

    The leverages are estimated on a first uniform sample, so nothing of size n x n is decomposed.
    """
    n = len(K)
    first = rng.choice(n, min(n, 2 * size), replace=False)
    inside = K[np.ix_(first, first)] * (n / len(first))
    inside.flat[:: len(first) + 1] += alpha
    L = sla.cholesky(inside, lower=True)
    X = sla.solve_triangular(L, K[first] * np.sqrt(n / len(first)), lower=True)
    leverage = np.maximum(K.diagonal() - np.einsum("ij,ij->j", X, X), 0) / alpha
    leverage = np.maximum(leverage, 1e-12 * max(leverage.max(), 1.0))
    return rng.choice(n, size, replace=False, p=leverage / leverage.sum())


def _stratified(documents: Indices, size: int, rng: np.random.Generator) -> Indices:
    """Round after round one candidate of every document, until there are enough."""
    order = rng.permutation(len(documents))
    numbers = np.unique(documents[order], return_inverse=True)[1]
    by_document = np.argsort(numbers, kind="stable")
    starts = np.searchsorted(numbers[by_document], numbers)
    place = np.empty(len(order), dtype=np.intp)
    place[by_document] = np.arange(len(order))
    turn = place - starts  # the how-manieth of its document
    return order[np.lexsort((rng.random(len(order)), turn))[:size]]


@dataclass(frozen=True, eq=False)
class DiagonalRidge:
    """Ridge regression on ``trained`` with the products diagonal: ``trained' trained = d``."""

    d: Vector  # (r,)
    F: Matrix  # (n, r) rows that score
    trained: Matrix  # (n, r) rows that train: F, or its differences within queries
    target: Matrix  # (n, p)
    P: Matrix  # (b, r) the coordinates that a basis vector's absence sets to zero
    null: Matrix  # (b, b - r)
    V: Matrix  # (r, r) back to the coordinates before rotation

    def solutions(self, alphas: Vector) -> Matrix:  # (a, r, p)
        """The minimisers at every alpha, in the coordinates before rotation."""
        g = 1.0 / (self.d + alphas[:, None])
        t = g[:, :, None] * (self.trained.T @ self.target)
        return np.asarray(np.einsum("rs,asp->arp", self.V, t, optimize=True))


def heldout_without_basis(
    problem: DiagonalRidge, owners: Sequence[Indices], alphas: Vector, groups: Sequence[Indices]
) -> Matrix:  # (a, n, p)
    """Scores at every alpha, each candidate without its group and without its basis vectors.

    In the coordinates where ``F'F = diag(d)`` and with ``g = 1 / (d + alpha)``, the model
    without the rows ``U`` is ``t = S c`` with ``c = F'y - F_U'y_U`` and, by Woodbury,
    ``S = g + g F_U' (I - F_U g F_U')^-1 F_U g``. Functions without the basis vectors ``H`` are
    those with ``E t = 0``, ``E`` the rows ``P_H``, so ``t`` loses ``S E' (E S E')^-1 E t``. Where
    other basis vectors span the same functions, fewer conditions are left.
    """
    g = 1.0 / (problem.d[:, None] + alphas)  # (r, a)
    Z = problem.trained.T @ problem.target  # (r, p)
    heldout = np.full((len(alphas), *problem.target.shape), np.nan)
    lost = [_conditions(problem, owner) for owner in owners]
    sizes = np.array([(len(group), len(E)) for group, E in zip(groups, lost, strict=True)])
    for h, e in np.unique(sizes, axis=0):
        if h == 0:
            continue
        which = np.flatnonzero((sizes == (h, e)).all(axis=1))
        step = max(1, (1 << 21) // int((h + e) * len(problem.d)))
        for start in range(0, len(which), step):
            members = which[start : start + step].tolist()
            index = np.stack([groups[k] for k in members])
            E = np.stack([lost[k] for k in members])
            scores = _scores(problem, g, Z, index, E)
            heldout[:, index] = scores.transpose(1, 0, 2, 3)
    return heldout


def _scores(problem: DiagonalRidge, g: Matrix, Z: Matrix, index: Indices, E: Matrix) -> Matrix:
    """(b, h) groups, (b, e, r) conditions -> (b, a, h, p)."""
    T, F, y = problem.trained[index], problem.F[index], problem.target[index]
    h, e, p = T.shape[1], E.shape[1], y.shape[2]
    same = problem.F is problem.trained
    c = Z - T.transpose(0, 2, 1) @ y  # (b, r, p)
    left = T if same else np.concatenate([T, F], axis=1)
    left = np.concatenate([left, E], axis=1)
    right = np.concatenate([T.transpose(0, 2, 1), E.transpose(0, 2, 1), c], axis=2)
    # every product at every alpha: rows (T, F, E) times g times columns (T, E, c)
    X = np.stack([(left * one) @ right for one in g.T], axis=1)

    W = np.linalg.solve(np.eye(h) - X[:, :, :h, :h], X[:, :, :h, h:])  # (I - TgT')^-1 Tg(E', c)
    below = X[:, :, h:, h:] + X[:, :, h:, :h] @ W  # (F, E) S (E', c)
    scored, bound = (W, below) if same else (below[:, :, :h], below[:, :, h:])
    # F S = (I - F g F')^-1 F g where the rows that score are those that train
    if not e:
        return np.asarray(scored[..., e:])
    z = np.linalg.solve(bound[..., :e], bound[..., e : e + p])
    return np.asarray(scored[..., e:] - scored[..., :e] @ z)


def _conditions(problem: DiagonalRidge, owner: Indices) -> Matrix:  # (e, r)
    """Rows that the functions without these basis vectors are orthogonal to."""
    E = problem.P[owner]
    if not len(owner) or not problem.null.shape[1]:
        return E
    # a null vector with weight on the removed ones says that the kept ones stand in for them
    U, s, _ = np.linalg.svd(problem.null[owner], full_matrices=True)
    rank = int((s > 1e-8).sum())
    return np.asarray(U[:, rank:].T @ E)
