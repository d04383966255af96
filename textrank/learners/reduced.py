"""Regularised least squares on a reduced set of basis candidates.

``ReducedRLS`` is the learner (``reduced_rls.v1``): it samples a basis, solves the weighted ridge
problem in the span of the basis, and scores every candidate without its group. It is built from
``ReducedCoordinates`` (orthonormal coordinates of the span), ``DiagonalRidge`` (the ridge problem
rotated so that every alpha is a diagonal) and ``heldout_without_basis`` (exact hold-out).
``BasisMoments`` solves the same problem from sums over parts of the candidates, so that parts can
be left out one after the other.

``SparseRLS`` fits RLS and RankRLS by conjugate gradients, for large sparse data.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, get_args

import numpy as np
import scipy.linalg as sla
import scipy.sparse as sp

from textrank.candidates import Targets
from textrank.features import Features, Indices, Matrix, SparseMatrix, Vector
from textrank.learners.base import (
    Fit,
    NestedScores,
    RegularizationPath,
    SelectionMetric,
    check_alphas,
    check_data,
    check_features,
    check_gram,
    check_metric,
    check_targets,
    check_unweighted,
    check_weights,
    choose_alpha,
    rows_by_group,
    score_alphas,
)
from textrank.learners.holdout import (
    GroupChanges,
    heldout_by_folds,
    nested_by_retraining,
    rls_changes,
)
from textrank.learners.rankrls import Cost, QueryCentring, RankRLS
from textrank.linalg import solve_krylov, to_dense
from textrank.metrics import choose_largest

Sampling = Literal["uniform", "stratified", "balanced", "leverage"]
MAX_BATCH_NUMBERS = 1 << 21  # floats in one batch of held-out groups, 16 MB
MIN_BASIS_EIGENVALUE = 1e-8  # relative to the largest, for changes exact to 1e-9


@dataclass(frozen=True)
class ReducedRLS:
    """RLS or RankRLS with ``f(x) = k(x, X_R) b`` on a basis ``R`` of ``size`` candidates.

    ``b = (K_RM V K_MR + alpha K_RR)^-1 K_RM V y`` with all training candidates ``M`` and
    ``V`` the diagonal of their weights (``targets.weights``, by default all 1). A held-out group
    takes its basis vectors with it, exactly: keeping them would let the model know where the
    held-out candidates lie, and would bias the choice of alpha. With ``targets.heads`` there are
    several right-hand sides: one model per head, on one basis and with one alpha.

    Pahikkala et al. (2009); Airola, Pahikkala and Salakoski (2011) on the bias.

    >>> F = np.random.default_rng(0).normal(size=(40, 3))
    >>> groups = np.repeat(np.arange(10), 4)
    >>> fit = ReducedRLS(size=8).fit(F @ F.T, Targets(np.sign(F[:, 0]), groups, groups))
    >>> int(np.count_nonzero(fit.coef)), fit.heldout.shape
    (8, (5, 40))

    Parameters
    ----------
    size
        Number of basis candidates; all candidates if there are fewer.
    alphas
        Regularisation values to choose from.
    select
        Metric of the held-out scores by which alpha is chosen.
    sampling
        How the basis is drawn: ``uniform``; ``stratified``, evenly over the groups; ``balanced``,
        half of it with positive labels if there are so many; ``leverage``, by approximate ridge
        leverage, which prefers candidates that no others resemble (needs a Gram matrix).
    rank
        Rank within queries (all pairs, magnitudes kept) instead of regression on the labels.
    seed
        Of the random numbers that draw the basis.
    """

    size: int = 500
    alphas: Sequence[float] = (0.25, 0.5, 1.0, 2.0, 4.0)
    select: SelectionMetric = "auc"
    sampling: Sampling = "stratified"
    rank: bool = False
    seed: int = 0

    def __post_init__(self) -> None:
        """Store the alphas as a tuple; raise ValueError for settings outside their range.

        Alphas are positive and distinct, ``size`` is at least 1; ``select`` and ``sampling`` are
        among their names.
        """
        object.__setattr__(self, "alphas", check_alphas(self.alphas))
        check_metric(self.select)
        if self.size < 1:
            raise ValueError(f"size must be at least 1, got {self.size}")
        if self.sampling not in get_args(Sampling):
            raise ValueError(
                f"sampling must be one of {', '.join(get_args(Sampling))}, got {self.sampling!r}"
            )

    def fit(self, data: Matrix | Features, targets: Targets, basis: Indices | None = None) -> Fit:
        """Train on a Gram matrix or on features and choose alpha by held-out scores.

        ``basis`` (b,) are the rows of the basis; None samples them by ``sampling``. With
        ``targets.heads`` alpha has the best mean of the metric over all heads. A preference graph
        is not learned from. Raises ValueError if the labels leave the metric ``select`` undefined,
        and for sample weights with ``rank``.
        """
        if targets.heads is not None:
            return self._fit_heads(data, targets, targets.heads, basis)
        path = self.path(data, targets, basis)
        return path.select(choose_alpha(path.heldout, targets, self.select, path.alphas))

    def _fit_heads(
        self, data: Matrix | Features, targets: Targets, Y: Matrix, basis: Indices | None
    ) -> Fit:
        """Return the fit of the labels ``Y`` (n, h) of several heads, with one alpha for all.

        It is the alpha with the best mean of the metric over heads; of equally good ones the
        largest. ``coef`` and ``heldout`` of the fit have a last axis of heads.
        """
        full, heldout = self._solve(data, targets, Y, basis)
        qualities = [
            score_alphas(heldout[:, :, head], replace(targets, y=y), self.select)
            for head, y in enumerate(Y.T)
        ]
        best = choose_largest(np.mean(qualities, axis=0), self.alphas)
        return Fit(tuple(self.alphas), self.alphas[best], full[best], heldout)

    def path(
        self, data: Matrix | Features, targets: Targets, basis: Indices | None = None
    ) -> RegularizationPath:
        """Return coefficients and held-out scores at every alpha.

        With a Gram matrix the coefficients (alphas, n) are zero off the basis; with features they
        are feature weights (alphas, d). Held-out scores are (alphas, n). ``basis`` (b,) are the
        rows of the basis; None samples them by ``sampling``. Heads and a preference graph are
        ignored. Raises ValueError for sample weights with ``rank``.
        """
        Y = check_targets(targets.y, len(targets))
        weights, heldout = self._solve(data, targets, Y, basis)
        return RegularizationPath(tuple(self.alphas), weights[:, :, 0], heldout[:, :, 0])

    def _solve(
        self, data: Matrix | Features, targets: Targets, Y: Matrix, basis: Indices | None
    ) -> tuple[Matrix, Matrix]:
        """Return coefficients (a, n, p), or (a, d, p) of features, and held-out scores (a, n, p).

        ``Y`` (n, p) are the right-hand sides; ``basis`` the rows to use as basis vectors, None to
        draw them by the settings. Coefficients outside the basis are 0.
        """
        matrix, dual = check_data(data)
        if basis is None:
            basis = self.sample_basis(targets, matrix if dual else None)
        columns = matrix[:, basis] if dual else to_dense(matrix @ matrix[basis].T)
        coefs, heldout = self._solve_on_basis(columns, basis, targets, Y)
        full = np.zeros((len(self.alphas), matrix.shape[0], Y.shape[1]))
        full[:, basis] = coefs
        if not dual:
            full = np.stack([np.asarray(matrix.T @ coefs_of_alpha) for coefs_of_alpha in full])
        return full, heldout

    def nested(
        self, data: Matrix | Features, targets: Targets, partitions: Sequence[Indices]
    ) -> list[NestedScores]:
        """Return test scores and inner held-out scores of every partition into folds, in order.

        A partition is the fold number of each candidate (n,); ValueError if a group is in two
        folds. Each training samples its own basis.
        """
        return nested_by_retraining(self, data, targets, partitions)

    def path_on_basis(
        self, columns: Matrix, basis: Indices, targets: Targets
    ) -> tuple[Matrix, Matrix]:  # (a, b), (a, n)
        """Return coefficients of the basis (a, b) and held-out scores (a, n) at every alpha.

        ``columns`` is ``K_MR`` (n, b), kernel values of all candidates with the basis, whose rows
        ``basis`` (b,) are the Gram matrix of the basis. Heads are ignored. Raises ValueError if
        that matrix is not symmetric or is zero, and for sample weights with ``rank``.
        """
        Y = check_targets(targets.y, len(columns))
        coefs, heldout = self._solve_on_basis(columns, basis, targets, Y)
        return coefs[:, :, 0], heldout[:, :, 0]

    def _solve_on_basis(
        self, columns: Matrix, basis: Indices, targets: Targets, Y: Matrix
    ) -> tuple[Matrix, Matrix]:
        """Return coefficients (a, b, p) and held-out scores (a, n, p) of right-hand sides ``Y``.

        ``a`` is the number of alphas; ``columns`` (n, b) are kernel values with the ``basis``;
        ``Y`` is (n, p). The held-out scores of a group are those of a solution without its rows,
        also without those in the basis. ``targets`` give groups, queries and weights; their labels
        are not used. Raises ValueError if the Gram matrix of the basis is not symmetric or is zero,
        and for sample weights with ``rank``.
        """
        coordinates = ReducedCoordinates.from_columns(columns, basis)
        problem = self._problem(coordinates, targets, Y)
        groups = rows_by_group(targets.groups, len(columns), name="groups")
        alphas = np.array(self.alphas)
        coefs = coordinates.to_coefs(problem.solve(alphas))
        removed = coordinates.basis_by_group(groups)
        return coefs, heldout_without_basis(problem, removed, alphas, groups)

    def group_changes(
        self, data: Matrix | Features, targets: Targets, alpha: float
    ) -> GroupChanges | None:
        """Return the changes of the model at ``alpha`` without each group and its basis vectors.

        They are (n, g) of coefficients with a Gram matrix, zero off the basis, else (d, g) of
        feature weights. With ``targets.heads`` they have one more axis, of heads. The basis is
        drawn again by the settings, so it must be that of the model; with all candidates as basis
        and without heads the result is that of ``rls_changes``. None for rankings (``rank``), whose
        pairs change too. Raises ValueError if candidates of the basis are so nearly equal that the
        changes would not be exact to 1e-9.
        """
        if self.rank:
            return None
        matrix, dual = check_data(data)
        basis = self.sample_basis(targets, matrix if dual else None)
        if len(basis) == len(targets) and targets.heads is None:
            return rls_changes(data, targets, alpha, check_weights(targets.weights, len(targets)))
        columns = matrix[:, basis] if dual else to_dense(matrix @ matrix[basis].T)
        coordinates = ReducedCoordinates.from_columns(columns, basis)
        # The rows of pinv are eigenvectors divided by the roots of their eigenvalues.
        inverse_eigenvalues = (coordinates.pinv**2).sum(axis=1)
        if inverse_eigenvalues.min() < MIN_BASIS_EIGENVALUE * inverse_eigenvalues.max():
            raise ValueError(
                "the influence of documents would not be exact: some candidates of the reduced "
                "basis are nearly equal. Train with another size or seed of reduced_rls.v1, or "
                "with rls.v1."
            )
        groups = rows_by_group(targets.groups, len(columns), name="groups")
        removed = coordinates.basis_by_group(groups)
        labels = targets.y if targets.heads is None else targets.heads
        problem = self._problem(coordinates, targets, check_targets(labels, len(columns)))
        changes = np.zeros((len(columns), len(groups), problem.target.shape[1]))
        changes[basis] = reduced_changes(problem, removed, alpha, groups)
        if not dual:
            flat = np.asarray(matrix.T @ changes.reshape(len(columns), -1))
            changes = flat.reshape(-1, *changes.shape[1:])
        return GroupChanges(changes if targets.heads is not None else changes[:, :, 0])

    def _problem(
        self, coordinates: ReducedCoordinates, targets: Targets, Y: Matrix
    ) -> DiagonalRidge:
        """Build the ridge problem of labels ``Y`` (n, p), or of preferences within queries.

        Weights are those of ``targets``; with ``rank`` the preferences are all pairs of a query,
        and a preference graph is ignored. Raises ValueError for sample weights with ``rank``.
        """
        weights = check_weights(targets.weights, len(Y))
        if not self.rank:
            return coordinates.diagonalize(Y, weights=weights)
        if weights is not None:
            raise ValueError(
                "sample weights are not defined for pairs of candidates: reduced_rls.v1 with "
                "rank = true cannot use them. Set rank = false or train without weights."
            )
        query = np.unique(targets.queries, return_inverse=True)[1]
        return coordinates.diagonalize(Y, QueryCentring(query))

    def sample_basis(self, targets: Targets, K: Matrix | None = None) -> Indices:
        """Return the sorted rows of a basis drawn by ``sampling``, all rows if ``size`` >= n.

        ``stratified`` draws evenly over ``targets.groups``, ``balanced`` by the labels,
        ``leverage`` at the median of ``alphas``. Only ``leverage`` needs the Gram matrix ``K``
        (n, n), and raises ValueError without it, but not if ``size`` >= n. A ``balanced`` basis is
        smaller than ``size`` if negatives are fewer than half of it. The same ``seed`` gives the
        same basis.
        """
        n = len(targets)
        if self.size >= n:
            return np.arange(n)
        rng = np.random.default_rng(self.seed)
        if self.sampling == "uniform":
            chosen = rng.choice(n, self.size, replace=False)
        elif self.sampling == "stratified":
            chosen = sample_stratified(targets.groups, self.size, rng)
        elif self.sampling == "balanced":
            chosen = sample_balanced(targets.y, self.size, rng)
        elif K is None:
            raise ValueError(
                "leverage sampling needs a Gram matrix. Use uniform, stratified or balanced."
            )
        else:
            chosen = sample_by_leverage(K, self.size, float(np.median(self.alphas)), rng)
        return np.sort(chosen)


@dataclass(frozen=True, eq=False)
class BasisMoments:
    """Sums over candidates that determine reduced RLS: ``K_MR' V K_MR`` and ``K_MR' V Y``.

    Moments of disjoint sets of candidates add up, and a set's weight is a factor of its moments. So
    models without one set after the other cost one solution each, and no pass over the candidates.

    >>> rng = np.random.default_rng(0)
    >>> K, y = rng.normal(size=(20, 4)), rng.normal(size=(20, 1))
    >>> both = BasisMoments.from_columns(K[:9], y[:9]) + BasisMoments.from_columns(K[9:], y[9:])
    >>> bool(np.allclose(both.gram, K.T @ K))
    True
    """

    gram: Matrix  # (b, b)
    products: Matrix  # (b, p)

    @classmethod
    def from_columns(cls, columns: Matrix, Y: Matrix) -> BasisMoments:
        """Sum over candidates with kernel values ``columns`` (n, b) and labels ``Y`` (n, p).

        All weigh 1; multiply the result by their common weight.
        """
        K = np.asarray(columns, dtype=np.float64)
        return cls(K.T @ K, K.T @ Y)

    def __add__(self, other: BasisMoments) -> BasisMoments:
        """Return the moments of both sets of candidates together, on the same basis."""
        return BasisMoments(self.gram + other.gram, self.products + other.products)

    def __sub__(self, other: BasisMoments) -> BasisMoments:
        """Return the moments of these candidates without a subset of them."""
        return self + other * -1.0

    def __mul__(self, factor: float) -> BasisMoments:
        """Return the moments of the same candidates with ``factor`` times their weight."""
        return BasisMoments(factor * self.gram, factor * self.products)

    def solve(self, basis_gram: Matrix, alpha: float, keep: Indices | None = None) -> Matrix:
        """Return the coefficients (b, p) of the basis, zero outside ``keep``.

        ``basis_gram`` (b, b) is the Gram matrix of the basis. ``keep`` are the positions of basis
        vectors that may be used; None allows all. A singular problem has the solution of least
        norm.
        """
        rows = np.arange(len(self.gram)) if keep is None else keep
        square = np.ix_(rows, rows)
        A = self.gram[square] + alpha * basis_gram[square]
        coefs = np.zeros_like(self.products)
        try:
            factor = sla.cho_factor(A, check_finite=False)
            coefs[rows] = sla.cho_solve(factor, self.products[rows])
        except np.linalg.LinAlgError:
            coefs[rows] = sla.lstsq(A, self.products[rows])[0]
        return coefs

    def changes_without(
        self,
        basis_gram: Matrix,
        alpha: float,
        parts: Iterable[tuple[Matrix, Matrix, Indices]],
    ) -> Iterator[Matrix]:
        """Yield the change (b, p) of the coefficients without each part of the candidates.

        Parameters
        ----------
        basis_gram, alpha
            As in ``solve``.
        parts
            Candidates that leave together, such as those of a document: their kernel values with
            the basis (u, b) and their labels (u, p), both times the root of their weight, and the
            positions of the basis vectors that leave with them.

        With ``A = K_MR' V K_MR + alpha K_RR`` and the rows ``T`` of a part,
        ``S = (A - T'T)^-1`` follows from ``A^-1`` by Woodbury. The coefficients without the part
        are ``b = S (K_MR' V Y - T'Y)`` minus ``S_:E S_EE^-1 b_E`` for the basis vectors ``E``
        that leave. Costs one inverse, and O(b^2) per candidate. Raises ValueError if ``A`` is
        singular, so that the coefficients are not determined.
        """
        A = self.gram + alpha * basis_gram
        try:
            G = sla.cho_solve(sla.cho_factor(A, check_finite=False), np.eye(len(A)))
        except np.linalg.LinAlgError as error:
            raise ValueError(
                "the influence of documents is not determined: candidates of the basis are equal. "
                "Sample another basis."
            ) from error
        coefs = G @ self.products
        for T, Y, positions in parts:
            TG = T @ G  # (u, b)
            inner = np.linalg.solve(np.eye(len(T)) - TG @ T.T, TG)  # (I - T G T')^-1 T G
            removed = G[:, positions] + TG.T @ inner[:, positions]  # S_:E
            rest = coefs - TG.T @ Y  # G c, with c the products without the part
            rest += TG.T @ (inner @ (self.products - T.T @ Y))
            if len(positions):
                rest -= removed @ np.linalg.solve(removed[positions], rest[positions])
            yield rest - coefs


def sample_balanced(y: Vector, size: int, rng: np.random.Generator) -> Indices:
    """Draw ``size`` row numbers without replacement, half of them with a positive label.

    A label of ``y`` (n,) is positive if above 0. Positives come first in the result. Fewer
    positives are made up for by negatives; if these are too few, the sample is smaller.
    """
    positives, negatives = np.flatnonzero(y > 0), np.flatnonzero(y <= 0)
    count = min(len(positives), size // 2)
    chosen = rng.choice(positives, count, replace=False)
    others = rng.choice(negatives, min(len(negatives), size - count), replace=False)
    return np.concatenate([chosen, others])


def sample_by_leverage(K: Matrix, size: int, alpha: float, rng: np.random.Generator) -> Indices:
    """Draw ``size`` different row numbers with probabilities in proportion to their ridge leverage.

    ``K`` (n, n) is the Gram matrix. The leverages ``diag(K (K + alpha I)^-1)`` are estimated on a
    first uniform sample of ``2 size`` rows, so nothing of size n x n is decomposed. Every row has a
    chance: leverages below 1e-12 of the largest (or of 1) are raised to that. ``size`` must be at
    most n. The result is in the order drawn. Raises LinAlgError if ``K`` is clearly not positive
    semidefinite.
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


def sample_stratified(groups: Indices, size: int, rng: np.random.Generator) -> Indices:
    """Draw ``size`` row numbers evenly over groups: round by round one row of every group.

    ``groups`` (n,) is the group of each row. Rows are drawn without replacement; in the last round
    groups are chosen at random. The result is in the order drawn; with ``size`` above n it has all
    rows.
    """
    order = rng.permutation(len(groups))
    numbers = np.unique(groups[order], return_inverse=True)[1]
    by_group = np.argsort(numbers, kind="stable")
    starts = np.searchsorted(numbers[by_group], numbers)
    position = np.empty(len(order), dtype=np.intp)
    position[by_group] = np.arange(len(order))
    rounds = position - starts  # the round in which a row is drawn
    return order[np.lexsort((rng.random(len(order)), rounds))[:size]]


@dataclass(frozen=True, eq=False)
class ReducedCoordinates:
    """Coordinates of the functions a basis spans, in which their norm is the Euclidean one.

    ``K_RR = Z Z'`` with ``Z`` (b, r); a singular ``K_RR`` has ``r < b`` and null vectors.
    """

    H: Matrix  # (n, r): values of the coordinate functions at all candidates, K_MR Z'^+
    pinv: Matrix  # (r, b): Z^+, so that coefficients are pinv' c
    null: Matrix  # (b, b - r): null space of K_RR
    basis: Indices  # (b,) rows of the basis

    @classmethod
    def from_columns(
        cls, columns: Matrix, basis: Indices, basis_gram: Matrix | None = None
    ) -> ReducedCoordinates:
        """Build the coordinates from ``K_MR`` (n, b) and the rows ``basis`` (b,) of its columns.

        The Gram matrix of the basis is ``basis_gram`` (b, b), by default ``columns[basis]``. It
        is given apart if basis candidates are stored rounded, so that ``columns[basis]`` compares
        rounded with unrounded ones. Eigenvalues up to ``b`` times machine precision times the
        largest count as zero: their eigenvectors become ``null``. Raises ValueError if the matrix
        is not symmetric or is zero.
        """
        inside = check_gram(columns[basis] if basis_gram is None else basis_gram)
        w, U = sla.eigh(inside, driver="evd", check_finite=False)
        keep = w > w[-1] * len(w) * np.finfo(np.float64).eps
        if not keep.any():
            raise ValueError(
                "all kernel values of the basis are zero: nothing can be learned. Check the "
                "kernel and the features of the candidates."
            )
        pinv = (U[:, keep] / np.sqrt(w[keep])).T
        return cls(columns @ pinv.T, pinv, U[:, ~keep], basis)

    def diagonalize(
        self,
        Y: Matrix,
        preferences: QueryCentring | None = None,
        *,
        weights: Vector | None = None,
    ) -> DiagonalRidge:
        """Return ridge regression on ``Y`` (n, p), rotated so that every alpha is a diagonal.

        ``preferences`` regress on differences within queries; ``weights`` (n,) multiply squared
        errors, None by 1. Only one of them should be given: with both, weights are ignored.
        """
        T, target = self.H, Y
        if preferences is not None:
            T, target = preferences.root(self.H), preferences.target(Y)
        elif weights is not None:
            root = np.sqrt(weights)[:, None]
            T, target = self.H * root, Y * root
        d, V = sla.eigh(T.T @ T, driver="evd", check_finite=False)
        F = self.H @ V
        trained = F if T is self.H else T @ V
        return DiagonalRidge(d.clip(min=0), F, trained, target, self.pinv.T @ V, self.null, V)

    def to_coefs(self, solutions: Matrix) -> Matrix:  # (a, r, p) -> (a, b, p)
        """Return the coefficients (a, b, p) of the basis for solutions (a, r, p) of ``solve``."""
        return np.asarray(np.einsum("rb,arp->abp", self.pinv, solutions, optimize=True))

    def to_full_coefs(self, W: Matrix) -> Matrix:  # (a, r) -> (a, n)
        """Return coefficients (a, n) of all candidates, zero off the basis.

        ``W`` (a, r) are solutions in these coordinates.
        """
        coefs = np.zeros((len(W), len(self.H)))
        coefs[:, self.basis] = W @ self.pinv
        return coefs

    def without_rows(self, rows: Indices) -> Matrix:  # (n, r - e)
        """Return coordinates of all candidates on the basis without those of ``rows``.

        Functions of the remaining basis have their norm as Euclidean length again. The removed
        basis vectors bind the coordinates by ``e`` linear conditions, and Householder reflections
        turn these onto the first ``e`` axes, which are dropped: O(n r e), the cost of Theorem 1 of
        Airola, Pahikkala and Salakoski (2011), whose map differs by a rotation. ``H`` itself is
        returned if none of ``rows`` is in the basis, and for a basis of all candidates, as a
        learner finds the same solution with it. Raises ValueError if ``H`` is not finite.
        """
        if len(self.basis) == len(self.H):
            return self.H
        (positions,) = self.basis_by_group([rows])
        E = _removal_conditions(self.pinv.T, self.null, positions)
        if not len(E):
            return self.H
        reflectors, tau, _, _ = sla.lapack.dgeqrf(np.asfortranarray(E.T))
        H = np.asfortranarray(self.H)
        rotated, _, failed = sla.lapack.dormqr("R", "N", reflectors, tau, H, 64 * len(H))
        if failed:
            raise ValueError("the basis cannot be reduced: its kernel values are not finite")
        return np.ascontiguousarray(rotated[:, len(E) :])

    def basis_by_group(self, groups: Sequence[Indices]) -> list[Indices]:
        """Return for each group of rows the positions in ``basis`` of its basis vectors.

        In the order of the group's rows; empty if none of them is in the basis.
        """
        position = np.full(len(self.H), -1)
        position[self.basis] = np.arange(len(self.basis))
        return [position[group][position[group] >= 0] for group in groups]


@dataclass(frozen=True, eq=False)
class DiagonalRidge:
    """Ridge regression whose matrix of products is diagonal: ``trained' trained = diag(d)``."""

    d: Vector  # (r,)
    F: Matrix  # (n, r) rows that are scored
    trained: Matrix  # (n, r) training rows: F, F times root weights, or differences in queries
    target: Matrix  # (n, p)
    P: Matrix  # (b, r) values that are zero without the basis vector of a row
    null: Matrix  # (b, b - r) null space of the Gram matrix of the basis
    V: Matrix  # (r, r) rotation from these coordinates back to ``ReducedCoordinates``

    def solve(self, alphas: Vector) -> Matrix:  # (a, r, p)
        """Return the minimisers (a, r, p) at every alpha (a,), in the coordinates before rotation.

        These are the coordinates of ``ReducedCoordinates``, see its ``to_coefs``.
        """
        g = 1.0 / (self.d + alphas[:, None])
        t = g[:, :, None] * (self.trained.T @ self.target)
        return np.asarray(np.einsum("rs,asp->arp", self.V, t, optimize=True))


def heldout_without_basis(
    problem: DiagonalRidge, removed: Sequence[Indices], alphas: Vector, groups: Sequence[Indices]
) -> Matrix:  # (a, n, p)
    """Return scores (a, n, p) at every alpha, each row without its group and its basis vectors.

    ``removed`` are, for each of the ``groups`` of rows, the positions of the basis vectors that
    leave with it; a row of no group scores NaN. In the coordinates where ``T'T = diag(d)`` (``T``
    the training rows) and with ``g = 1 / (d + alpha)``, the model without the rows ``U`` is
    ``t = S c`` with ``c = T'y - T_U'y_U`` and, by Woodbury,
    ``S = g + g T_U' (I - T_U g T_U')^-1 T_U g``. Functions without the basis vectors ``H`` are
    those with ``E t = 0``, ``E`` the rows ``P_H``, so ``t`` loses ``S E' (E S E')^-1 E t``. If
    other basis vectors span the same functions, fewer conditions remain.
    """
    g = 1.0 / (problem.d[:, None] + alphas)  # (r, a)
    Z = problem.trained.T @ problem.target  # (r, p)
    heldout = np.full((len(alphas), *problem.target.shape), np.nan)
    conditions = [_removal_conditions(problem.P, problem.null, positions) for positions in removed]
    sizes = np.array([(len(group), len(E)) for group, E in zip(groups, conditions, strict=True)])
    for h, e in np.unique(sizes, axis=0):
        if h == 0:
            continue
        same_size = np.flatnonzero((sizes == (h, e)).all(axis=1))
        step = max(1, MAX_BATCH_NUMBERS // int((h + e) * len(problem.d)))
        for start in range(0, len(same_size), step):
            members = same_size[start : start + step].tolist()
            index = np.stack([groups[k] for k in members])
            E = np.stack([conditions[k] for k in members])
            scores = _score_groups(problem, g, Z, index, E)
            heldout[:, index] = scores.transpose(1, 0, 2, 3)
    return heldout


def reduced_changes(
    problem: DiagonalRidge, removed: Sequence[Indices], alpha: float, groups: Sequence[Indices]
) -> Matrix:  # (b, g, p)
    """Return the changes of the coefficients (b, g, p) without each group and its basis vectors.

    Arguments and formulas are those of ``heldout_without_basis``, at one alpha. If other basis
    vectors span the same functions as those removed, the coefficients of the removed ones need not
    become zero, but the function is the same.
    """
    g = 1.0 / (problem.d + alpha)
    Z = problem.trained.T @ problem.target
    t = g[:, None] * Z
    changes = np.empty((len(problem.P), len(groups), Z.shape[1]))
    for k, (rows, positions) in enumerate(zip(groups, removed, strict=True)):
        T, E = problem.trained[rows], _removal_conditions(problem.P, problem.null, positions)
        right = np.concatenate([E.T, Z - T.T @ problem.target[rows]], axis=1)
        Tg = T * g
        inner = np.linalg.solve(np.eye(len(rows)) - Tg @ T.T, Tg @ right)
        S = g[:, None] * (right + T.T @ inner)  # S (E', c)
        rest = S[:, len(E) :]
        if len(E):
            bound = S[:, : len(E)]
            rest = rest - bound @ np.linalg.solve(E @ bound, E @ rest)
        changes[:, k] = problem.P @ (rest - t)
    return changes


def _score_groups(
    problem: DiagonalRidge, g: Matrix, Z: Matrix, index: Indices, E: Matrix
) -> Matrix:
    """Return held-out scores (b, a, h, p) of ``b`` groups of ``h`` rows with ``e`` conditions.

    ``index`` (b, h) are the rows of each group, ``E`` (b, e, r) its conditions (``E t = 0``, see
    ``_removal_conditions``), ``g`` (r, a) is ``1 / (d + alpha)`` and ``Z`` (r, p) is ``T'y`` of all
    training rows ``T``. See ``heldout_without_basis`` for the formulas.
    """
    T, F, y = problem.trained[index], problem.F[index], problem.target[index]
    h, e, p = T.shape[1], E.shape[1], y.shape[2]
    is_plain = problem.F is problem.trained
    c = Z - T.transpose(0, 2, 1) @ y  # (b, r, p)
    left = T if is_plain else np.concatenate([T, F], axis=1)
    left = np.concatenate([left, E], axis=1)
    right = np.concatenate([T.transpose(0, 2, 1), E.transpose(0, 2, 1), c], axis=2)
    # every product at every alpha: rows (T, F, E) times g times columns (T, E, c)
    X = np.stack([(left * diagonal) @ right for diagonal in g.T], axis=1)

    W = np.linalg.solve(np.eye(h) - X[:, :, :h, :h], X[:, :, :h, h:])  # (I - TgT')^-1 Tg(E', c)
    rest = X[:, :, h:, h:] + X[:, :, h:, :h] @ W  # (F, E) S (E', c)
    scored, bound = (W, rest) if is_plain else (rest[:, :, :h], rest[:, :, h:])
    # F S = (I - F g F')^-1 F g if the rows that are scored are the training rows
    if not e:
        return np.asarray(scored[..., e:])
    z = np.linalg.solve(bound[..., :e], bound[..., e : e + p])
    return np.asarray(scored[..., e:] - scored[..., :e] @ z)


def _removal_conditions(P: Matrix, null: Matrix, positions: Indices) -> Matrix:  # (e, r)
    """Return rows (e, r) to which the functions without these basis vectors are orthogonal.

    ``P`` (b, r) has a row per basis vector: a function that needs no such vector has coordinates
    ``t`` with ``P_i t = 0``. ``null`` (b, b - r) is the null space of the Gram matrix of the basis,
    ``positions`` are those of the removed vectors. ``e`` is their number, or less if other basis
    vectors span the same functions, that is by the number of singular values of ``null`` on these
    positions that exceed 1e-8.
    """
    E = P[positions]
    if not len(positions) or not null.shape[1]:
        return E
    # a null vector with weight on removed basis vectors means that the others replace them
    U, s, _ = np.linalg.svd(null[positions], full_matrices=True)
    rank = int((s > 1e-8).sum())
    return np.asarray(U[:, rank:].T @ E)


@dataclass(frozen=True)
class SparseRLS:
    """RLS, or RankRLS of any cost, by conjugate gradients on sparse features.

    For data too large for a Gram matrix: time and memory grow with the number of non-zeros and of
    iterations, and a whole path of alphas costs little more than its smallest. A ranker adds O(n)
    per iteration, for the cost ``bound`` the square of the number of different labels of a query,
    and for a preference graph the number of preferences. Held-out scores come from ``folds``
    trainings, groups kept whole.

    >>> from textrank.features import FeatureNames
    >>> X = Features(sp.csr_array(np.eye(4)), FeatureNames.from_iterable("abcd"))
    >>> targets = Targets(np.array([1.0, -1.0, 1.0, -1.0]), np.arange(4), np.arange(4))
    >>> SparseRLS(alphas=[1.0], folds=2).fit(X, targets).coef
    array([ 0.5, -0.5,  0.5, -0.5])

    Parameters
    ----------
    alphas
        Regularisation values to choose from.
    select
        Metric of the held-out scores by which alpha is chosen.
    rank
        ``none`` for RLS; ``query`` or ``global`` for RankRLS with pairs of a query or all pairs.
        With a preference graph (``Targets.preferences``) ``query`` takes its preferences.
    folds
        Number of folds of groups for held-out scores.
    tolerance, iterations
        Of conjugate gradients: size of the residual relative to the first, and largest number.
    cost, ties, normalised
        Those of ``RankRLS``; they need a ``rank``.
    """

    alphas: Sequence[float] = (0.25, 0.5, 1.0, 2.0, 4.0)
    select: SelectionMetric = "auc"
    rank: Literal["none", "query", "global"] = "none"
    folds: int = 5
    tolerance: float = 1e-6
    iterations: int = 2000
    cost: Cost = "magnitude"
    ties: bool = True
    normalised: bool = False

    def __post_init__(self) -> None:
        """Store the alphas as a tuple; raise ValueError for settings out of range or unused.

        ``rank`` is none, query or global, ``folds`` at least 2, ``iterations`` at least 1 and
        ``tolerance`` between 0 and 1; ``cost``, ``ties`` and ``normalised`` are refused without a
        ``rank`` unless they have their defaults.
        """
        object.__setattr__(self, "alphas", check_alphas(self.alphas))
        check_metric(self.select)
        if self.rank not in ("none", "query", "global"):
            raise ValueError(f"rank must be none, query or global, got {self.rank!r}")
        if self.rank == "none" and (self.cost, self.ties, self.normalised) != (
            *("magnitude", True),
            False,
        ):
            raise ValueError(
                'cost, ties and normalised are settings of a ranker. Set rank = "query" or '
                '"global", or leave them out.'
            )
        if self.folds < 2 or self.iterations < 1 or not 0 < self.tolerance < 1:
            raise ValueError(
                "folds must be at least 2, iterations at least 1 and tolerance between 0 and 1, "
                f"got {self.folds}, {self.iterations} and {self.tolerance}"
            )

    def fit(self, data: Matrix | Features, targets: Targets) -> Fit:
        """Train on features and choose alpha by held-out folds of groups.

        Raises ValueError for a Gram matrix, for sample weights, if all candidates are in one group,
        and if conjugate gradients do not converge.
        """
        path = self.path(data, targets)
        return path.select(choose_alpha(path.heldout, targets, self.select, path.alphas))

    def path(self, data: Matrix | Features, targets: Targets) -> RegularizationPath:
        """Return feature weights (alphas, d) and held-out scores (alphas, n) at every alpha.

        Groups are held out in ``folds`` folds, with one training each. Raises ValueError for a Gram
        matrix, for sample weights, if all candidates are in one group, and if conjugate gradients
        do not converge.
        """
        check_unweighted(targets, "sparse_rls.v1")
        X = _check_sparse(data)
        check_targets(targets.y, X.shape[0])
        heldout = heldout_by_folds(self.weights, X, targets, self.folds)
        return RegularizationPath(tuple(self.alphas), self.weights(X, targets), heldout)

    def nested(
        self, data: Matrix | Features, targets: Targets, partitions: Sequence[Indices]
    ) -> list[NestedScores]:
        """Return test scores and inner held-out scores of every partition into folds, in order.

        A partition is the fold number of each candidate (n,); ValueError if a group is in two
        folds.
        """
        return nested_by_retraining(self, data, targets, partitions)

    def coefs(self, X: SparseMatrix, y: Vector, queries: Indices) -> Matrix:  # (a, d)
        """Return feature weights (a, d) at every alpha, nothing held out.

        ``X`` is (n, d), ``y`` (n,) labels; ``queries`` (n,) is used only if ``rank`` is ``query``.
        Inputs are not checked. Raises ValueError if ``iterations`` are not enough for
        ``tolerance``.
        """
        return self.weights(X, Targets(y, queries, queries))

    def weights(self, X: Matrix | SparseMatrix, targets: Targets) -> Matrix:  # (a, d)
        """Return feature weights (a, d) at every alpha for features (n, d), nothing held out.

        Features are not checked, and sample weights are ignored. Raises ValueError if
        ``iterations`` are not enough for ``tolerance``.
        """
        transposed = sp.csr_array(X.T)
        apply_laplacian, pull = self._operator(targets)

        def product(w: Vector) -> Vector:
            """Return ``X'L X w``."""
            return np.asarray(transposed @ apply_laplacian(np.asarray(X @ w)))

        return solve_krylov(
            product,
            np.asarray(transposed @ pull),
            np.array(self.alphas),
            tolerance=self.tolerance,
            max_iterations=self.iterations,
        )

    def _operator(self, targets: Targets) -> tuple[Callable[[Vector], Vector], Vector]:
        """Return a function ``u -> L u`` of a vector (n,), and the pull (n,) of the targets.

        ``L`` is the Laplacian of the preferences, as of ``RankRLS.operator``, which also says what
        is raised. For plain RLS they are the identity and the labels; a preference graph is then
        ignored.
        """
        if self.rank == "none":
            return lambda u: u, targets.y
        ranker = RankRLS(
            self.alphas,
            scope=self.rank,
            cost=self.cost,
            ties=self.ties,
            normalised=self.normalised,
        )
        return ranker.operator(targets)


def _check_sparse(data: Any) -> SparseMatrix:
    """Return checked features in CSR form.

    Raises ValueError for anything but ``Features``, and for empty ones or values that are NaN,
    infinite or too large.
    """
    if not isinstance(data, Features):
        raise ValueError(
            "conjugate gradients work on features, not on a Gram matrix. Use a kernel with "
            "features, or the learner rls.v1."
        )
    return sp.csr_array(check_features(data))
