"""Regularised least squares (RLS) with exact hold-out of groups of rows at every alpha.

``RLS`` is the learner (``rls.v1``). ``solve_rls``, ``rls_path`` and ``leave_out`` work on any
number of outputs, with sample weights and optionally an intercept; ``rls_coefs`` holds nothing out.
Behind them, ``_Kernel``, ``_Linear`` and ``_SparseLinear`` hold the training rows, and
``_ByInverse`` (few alphas) or ``_BySpectrum`` (many) solve the equations.

Letters in shapes: ``n`` candidates (rows), ``d`` features, ``a`` values of alpha, ``p`` outputs
(columns of the labels ``Y``), ``b`` groups of equal size computed together, ``h`` rows of a group.
``dual`` tells that data are a Gram matrix (n, n) and models are coefficients of its rows; otherwise
data are features (n, d) and models are feature weights.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol

import numpy as np
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
    check_groups,
    check_metric,
    check_targets,
    check_weights,
    choose_alpha,
    rows_by_group,
)
from textrank.learners.holdout import (
    GroupChanges,
    group_numbers_by_size,
    heldout_all_alphas,
    heldout_ill_conditioned,
    heldout_one_alpha,
    nested_by_inverse,
    nested_by_retraining,
    rls_changes,
    scatter_scores,
)
from textrank.linalg import (
    EPSILON,
    MAX_GRAM_ERROR,
    Spectrum,
    check_dense_size,
    gram,
    inverse,
    is_gram_accurate,
    solve,
    solve_tridiagonal,
    to_dense,
)

INTERCEPT_EIGENVALUE = 4.0  # of the intercept, in units of the sum of all others
INTERCEPT_PENALTY = 1e-12  # relative; lets even all rows be held out together
MAX_INVERSE_ALPHAS = (
    7  # an inverse costs up to a seventh of an eigh: for so many alphas it is the cheaper way
)


@dataclass(frozen=True)
class RLS:
    """Regularised least squares: ``f`` minimises ``sum_i v_i (y_i - f(x_i))^2 + alpha ||f||^2``.

    ``a = (K + alpha I)^-1 y`` on candidates, or ``F' a`` on features. A few alphas take a
    Cholesky inverse each, more share one eigendecomposition. Features fewer than half the
    candidates, or too large for an accurate Gram matrix, take one singular value decomposition
    ``F = U s V'``, and their weights are ``V s / (s^2 + alpha) U'y``.

    The held-out scores are exact: ``f_U = y_U - G_UU^-1 a_U`` for a document ``U``, with
    ``G = (K + alpha I)^-1``.

    The weights ``v`` are ``targets.weights`` (by default 1), times ``positive_weight`` for
    candidates with a positive label.

    Rifkin, Yeo and Poggio (2003); Pahikkala, Boberg and Salakoski (2006).

    >>> K = np.array([[1.0, 0.5, 0.0], [0.5, 1.0, 0.5], [0.0, 0.5, 1.0]])
    >>> targets = Targets(np.array([1.0, 1.0, -1.0]), np.arange(3), np.arange(3))
    >>> fit = RLS(alphas=[0.1, 1.0], select="squared_error").fit(K, targets)
    >>> fit.alpha, fit.heldout.shape
    (0.1, (2, 3))
    """

    alphas: Sequence[float] = (0.25, 0.5, 1.0, 2.0, 4.0)
    select: SelectionMetric = "auc"
    positive_weight: float = 1.0

    def __post_init__(self) -> None:
        """Store the alphas as a tuple; raise ValueError for settings outside their range.

        Alphas are positive and distinct, ``select`` is a metric and ``positive_weight`` positive.
        """
        object.__setattr__(self, "alphas", check_alphas(self.alphas))
        check_metric(self.select)
        if not (np.isfinite(self.positive_weight) and self.positive_weight > 0):
            raise ValueError(f"positive_weight must be positive, got {self.positive_weight}")

    def fit(self, data: Matrix | Features, targets: Targets) -> Fit:
        """Train on a Gram matrix or on features and choose alpha by held-out scores.

        Raises ValueError if the labels leave the metric ``select`` undefined.
        """
        path = self.path(data, targets)
        return path.select(choose_alpha(path.heldout, targets, self.select, path.alphas))

    def path(self, data: Matrix | Features, targets: Targets) -> RegularizationPath:
        """Return coefficients, or feature weights, and held-out scores at every alpha.

        A Gram matrix (n, n) gives coefficients of candidates (alphas, n), ``Features`` give feature
        weights (alphas, d). Held-out scores are (alphas, n), of each candidate without its group.
        Squared errors are multiplied by ``targets.weights`` and, for labels above 0, by
        ``positive_weight``. Queries, preferences and heads are ignored. Raises ValueError for data,
        labels or weights that are not finite or do not fit together.
        """
        matrix, dual = check_data(data)
        Y = check_targets(targets.y, matrix.shape[0])
        groups = rows_by_group(targets.groups, len(Y), name="documents")
        weights = self._weights(targets)
        A, heldout = rls_path(matrix, Y, np.array(self.alphas), groups, weights=weights, dual=dual)
        return RegularizationPath(tuple(self.alphas), A[:, :, 0], heldout[:, :, 0])

    def nested(
        self, data: Matrix | Features, targets: Targets, partitions: Sequence[Indices]
    ) -> list[NestedScores]:
        """Return test scores and inner held-out scores of every partition into folds, in order.

        A partition is the fold number of each candidate (n,); ValueError if a group is in two folds
        or there is only one fold. One inverse per alpha serves all folds, all groups inside them
        and all partitions; features fewer than a third of the candidates, or whose Gram matrix
        would lose digits, are trained fold by fold instead.
        """
        matrix, dual = check_data(data)
        y = check_targets(targets.y, matrix.shape[0])[:, 0]
        if not dual and (
            3 * matrix.shape[1] < len(y) or not self._is_gram_accurate(matrix, targets)
        ):
            return nested_by_retraining(self, data, targets, partitions)
        K = matrix if dual else gram(matrix)
        return nested_by_inverse(
            np.asarray(K),
            y,
            targets.groups,
            partitions,
            tuple(self.alphas),
            weights=self._weights(targets),
        )

    def group_changes(
        self, data: Matrix | Features, targets: Targets, alpha: float
    ) -> GroupChanges:
        """Return the changes of the model at ``alpha`` without each group of candidates.

        Groups are in the order of their sorted numbers; a Gram matrix gives changes of coefficients
        (n, g), features those of feature weights (d, g), or a factored form if that takes less
        memory.
        """
        return rls_changes(data, targets, alpha, self._weights(targets))

    def _is_gram_accurate(self, F: Matrix | SparseMatrix, targets: Targets) -> bool:
        """Return whether the Gram matrix of features (n, d) has enough digits for all alphas.

        Each candidate's alpha is divided by its weight; the smallest quotient decides.
        """
        weights = self._weights(targets)
        heaviest = 1.0 if weights is None else float(weights.max())
        return is_gram_accurate(F, min(self.alphas) / heaviest)

    def _weights(self, targets: Targets) -> Vector | None:
        """Return ``targets.weights`` (n,) times ``positive_weight`` for labels above 0.

        None if neither is set, that is if all weights are 1. Raises ValueError for weights that are
        not positive.
        """
        weights = check_weights(targets.weights, len(targets))
        if self.positive_weight == 1.0:
            return weights
        factor = np.where(targets.y > 0, self.positive_weight, 1.0)
        return factor if weights is None else factor * weights


@dataclass(frozen=True, eq=False)
class RLSSolution:
    """Models of any number of outputs at every alpha, and their held-out scores.

    A model of a Gram matrix has coefficients of the rows, a model of features has feature weights.
    """

    heldout: Matrix  # (a, n, p), intercepts included
    _models: Callable[[slice], tuple[Matrix, Matrix]]

    def models(self, alphas: slice = slice(None)) -> tuple[Matrix, Matrix]:
        """Return coefficients (a, n or d, p) and intercepts (a, p) at a slice of the alphas.

        The slice selects by position, by default all; intercepts are 0 if none was fitted.
        """
        return self._models(alphas)

    def choose(self, chosen: Indices) -> tuple[Matrix, Vector]:  # (n or d, p), (p,)
        """Return coefficients (n or d, p) and intercepts (p,), each output at an alpha of its own.

        ``chosen`` (p,) is the index of the alpha of each output.
        """
        models = {int(a): self._models(slice(int(a), int(a) + 1)) for a in np.unique(chosen)}
        columns = [models[int(a)][0][0, :, p] for p, a in enumerate(chosen)]
        intercepts = [models[int(a)][1][0, p] for p, a in enumerate(chosen)]
        return np.column_stack(columns), np.array(intercepts)


def solve_rls(
    data: Matrix | SparseMatrix,
    Y: Matrix,
    alphas: Vector,
    groups: Sequence[Indices],
    *,
    weights: Vector | None = None,
    dual: bool,
    fit_intercept: bool = False,
) -> RLSSolution:
    """Solve regularised least squares for any number of outputs, at every alpha.

    Inputs are not checked except ``weights``.

    Parameters
    ----------
    data
        Gram matrix (n, n) if ``dual``, else features (n, d).
    Y
        (n, p) labels, one column per output.
    alphas
        (a,) regularisation values.
    groups
        Row numbers that are held out together. If groups overlap, the last one counts (larger
        groups come later); rows of no group score NaN.
    weights
        (n,) positive factors of the squared errors; None is 1 for all.
    dual
        Whether ``data`` is a Gram matrix.
    fit_intercept
        Whether to fit an intercept, which is not penalised.
    """
    trained = _train(data, Y, alphas, weights, dual, fit_intercept)
    heldout = np.full((len(alphas), *Y.shape), np.nan)
    for which_alphas, parts in trained.hold_out(groups):
        scatter_scores(parts, heldout[which_alphas])
    return RLSSolution(heldout, trained.models)


def rls_path(
    data: Matrix | SparseMatrix,
    Y: Matrix,
    alphas: Vector,
    groups: Sequence[Indices],
    *,
    weights: Vector | None = None,
    dual: bool,
) -> tuple[Matrix, Matrix]:  # (a, n, p) or (a, d, p), (a, n, p)
    """Return coefficients (or feature weights) and held-out scores of RLS without an intercept.

    ``data`` is a Gram matrix (n, n) if ``dual``, else features (n, d); ``Y`` (n, p) are labels,
    ``groups`` the rows held out together and ``weights`` (n,) factors of the squared errors (None:
    1). Coefficients are (a, n, p) if ``dual``, else feature weights (a, d, p); held-out scores are
    (a, n, p), NaN for rows of no group.
    """
    solution = solve_rls(data, Y, alphas, groups, weights=weights, dual=dual)
    return solution.models()[0], solution.heldout


def leave_out(
    data: Matrix | Features,
    Y: Matrix,
    groups: Sequence[Indices],
    *,
    alphas: Sequence[float],
    weights: Vector | None = None,
) -> list[Matrix]:  # a list of (a, h, p)
    """Return scores of each group of rows by the RLS model of all other rows.

    There is no intercept. Nothing is retrained, and the groups may overlap or be empty.

    Parameters
    ----------
    data
        Gram matrix (n, n), that is an array, or ``Features`` (n, d).
    Y
        (n, p) or (n,) labels.
    groups
        Row numbers of each group, without repetition.
    alphas
        The ``a`` regularisation values, positive and distinct.
    weights
        (n,) positive factors of the squared errors of the rows; None is 1 for all.

    Returns
    -------
    list of arrays
        One (a, h, p) array per group, in the order of ``groups``; ``h`` is the size of the group,
        whose rows keep their order.

    Raises
    ------
    ValueError
        For a matrix, labels, alphas, weights or groups that are not of this form.

    >>> K = np.diag([1.0, 2.0, 3.0]) + 1.0
    >>> both = [np.array([0, 1]), np.array([1, 2])]
    >>> [scores.shape for scores in leave_out(K, np.ones((3, 1)), both, alphas=[0.5, 1.0])]
    [(2, 2, 1), (2, 2, 1)]
    """
    matrix, dual = check_data(data)
    Y = check_targets(Y, matrix.shape[0])
    grid = np.array(check_alphas(alphas))
    check_groups(groups, len(Y))
    scores = [np.empty((len(grid), len(group), Y.shape[1])) for group in groups]
    order = [int(g) for numbers in group_numbers_by_size(groups) for g in numbers]
    for which_alphas, parts in _train(matrix, Y, grid, weights, dual).hold_out(groups):
        group_numbers = iter(order)
        for _, batch in parts:
            for group_scores in batch:
                scores[next(group_numbers)][which_alphas] = group_scores
    return scores


def rls_coefs(
    data: Matrix | SparseMatrix, Y: Matrix, alphas: Vector, *, dual: bool
) -> Matrix:  # (a, n, p)
    """Return coefficients (a, n, p) of the rows at every alpha, nothing held out.

    ``data`` is a Gram matrix if ``dual``, else features; for these too the result is coefficients
    of the rows, not feature weights. There are no weights and no intercept. Costs about half an
    eigendecomposition. Raises ValueError if the Gram matrix plus ``alpha I`` is not positive
    definite.
    """
    if not dual and 2 * data.shape[1] <= len(Y):
        return Spectrum.from_features(data).coefs(Y, alphas)
    K = np.asarray(data) if dual else gram(data)
    if len(alphas) < 4:
        return np.stack([solve(K, Y, float(alpha)) for alpha in alphas])
    return solve_tridiagonal(K, Y, alphas)


Scores = Iterator[tuple[Indices, Matrix]]  # rows held out together (b, h), scores (b, a, h, p)


class _Trained(Protocol):
    """RLS models at every alpha, by one of two decompositions."""

    def hold_out(self, groups: Sequence[Indices]) -> Iterator[tuple[slice, Scores]]:
        """Yield slices of the alphas with the held-out scores at these.

        The slices are consecutive and cover all alphas. Scores are pairs of row numbers (b, h) and
        scores (b, a, h, p), with a of this slice, by ascending group size, with the intercept
        included.
        """

    def models(self, alphas: slice) -> tuple[Matrix, Matrix]:
        """Return coefficients and intercepts (a, p) at a slice of the alphas, after ``hold_out``.

        Coefficients are (a, n, p) for a Gram matrix, feature weights (a, d, p) for features.
        """


def _train(
    data: Matrix | SparseMatrix,
    Y: Matrix,
    alphas: Vector,
    weights: Vector | None,
    dual: bool,
    fit_intercept: bool = False,
) -> _Trained:
    """Decompose by the cheapest method that is accurate at the smallest alpha.

    An inverse per alpha for at most ``MAX_INVERSE_ALPHAS`` of them, if the Gram matrix is accurate
    and not of features fewer than half the rows; otherwise a spectrum. ``data`` is a Gram matrix
    (n, n) if ``dual``, else features (n, d), ``Y`` (n, p) labels. Raises ValueError for weights
    that are not positive; None is 1 for all.
    """
    weights = check_weights(weights, len(Y))
    if dual:
        rows: _Rows = _Kernel.from_gram(np.asarray(data), weights, centred=fit_intercept)
    else:
        rows = _read_features(data, weights, float(alphas.min()), centred=fit_intercept)
    wide = dual or 2 * data.shape[1] > len(Y)
    if (
        wide
        and len(alphas) <= MAX_INVERSE_ALPHAS
        and rows.is_accurate(weights, float(alphas.min()))
    ):
        return _ByInverse(rows, Y, alphas, weights, fit_intercept)
    return _BySpectrum.from_rows(rows, Y, alphas, weights, fit_intercept)


class _Rows(Protocol):
    """Training rows, as a Gram matrix or as features.

    With an intercept, their weighted mean is subtracted, and a large constant ``c`` is added to
    their Gram matrix. The intercept takes up both, so the model stays the same; but the
    direction of the intercept is now the largest eigenvector, and no digits are lost when it is
    removed from the inverse.
    """

    def gram(self) -> Matrix:
        """Return the Gram matrix (n, n), with the constant if centred; must not be changed."""

    def is_accurate(self, weights: Vector | None, alpha: float) -> bool:
        """Return whether the Gram matrix has digits enough for the smallest alpha.

        It is taken as multiplied by ``weights`` (n,), None for 1.
        """

    def decompose(self, root: Vector | None, alpha: float) -> Spectrum:
        """Return the spectrum of the Gram matrix, its rows and columns times ``root`` (n,).

        None is 1 for all. It is accurate enough for ``alpha``, the smallest one in use.
        """

    def finish(self, A: Matrix, intercepts: Matrix) -> tuple[Matrix, Matrix]:
        """Return model (a, n or d, p) and intercepts (a, p) from coefficients ``A`` (a, n, p).

        ``intercepts`` (a, p) are those of centred rows.
        """

    def finish_weights(self, W: Matrix, intercepts: Matrix) -> tuple[Matrix, Matrix]:
        """Return weights and intercepts of the given features from those of centred ones.

        ``W`` (a, d, p) are weights of the centred features, ``intercepts`` is (a, p).
        """


@dataclass(frozen=True, eq=False)
class _Kernel:
    """Training rows given by their Gram matrix."""

    K: Matrix  # (n, n)
    mean: Vector | None = None  # (n,): inner products of the mean with the rows

    @classmethod
    def from_gram(cls, K: Matrix, weights: Vector | None, *, centred: bool) -> _Kernel:
        """Store a Gram matrix (n, n), centred and with an intercept if ``centred``.

        Centring subtracts the weighted mean of rows and columns; then ``INTERCEPT_EIGENVALUE``
        times the weighted mean of the diagonal (or times 1 if that is not positive) is added to
        every value, as the kernel of an intercept. ``weights`` (n,) None weighs all rows the same.
        ``K`` is not changed; if not ``centred``, it is stored without a copy, and ``weights`` is
        not used.
        """
        if not centred:
            return cls(K)
        mean = np.average(K, axis=0, weights=weights)
        K = K - mean - mean[:, None] + np.average(mean, weights=weights)
        K += INTERCEPT_EIGENVALUE * _or_one(float(np.average(K.diagonal(), weights=weights)))
        return cls(K, mean)

    def gram(self) -> Matrix:
        """Return the Gram matrix (n, n), with the constant if centred; not a copy."""
        return self.K

    def is_accurate(self, weights: Vector | None, alpha: float) -> bool:
        """Return whether the Gram matrix has digits enough for the smallest alpha.

        The largest row sum times the largest weight (None: 1) is used as a bound of the largest
        eigenvalue, so the answer may be False without need.
        """
        # The largest row sum bounds the largest eigenvalue.
        largest = float(np.abs(self.K).sum(axis=1).max())
        heaviest = 1.0 if weights is None else float(weights.max())
        return EPSILON * largest * heaviest <= MAX_GRAM_ERROR * alpha

    def decompose(self, root: Vector | None, alpha: float) -> Spectrum:
        """Return the spectrum of the Gram matrix, rows and columns times ``root`` (n,).

        None is 1 for all. Eigenvalues that are round-off against ``alpha``, the smallest one in
        use, may be dropped. Raises ValueError if the matrix is not positive semidefinite.
        """
        scaled = self.K if root is None else self.K * np.outer(root, root)
        return Spectrum.from_gram(scaled, alpha=alpha)

    def finish(self, A: Matrix, intercepts: Matrix) -> tuple[Matrix, Matrix]:
        """Return coefficients ``A`` (a, n, p) unchanged, and intercepts of uncentred rows.

        ``intercepts`` (a, p) are those of centred rows; they too are unchanged without centring.
        """
        return A, intercepts if self.mean is None else intercepts - self.mean @ A

    def finish_weights(self, W: Matrix, intercepts: Matrix) -> tuple[Matrix, Matrix]:
        """Raise NotImplementedError: a Gram matrix has no features."""
        raise NotImplementedError("a Gram matrix has no features")


@dataclass(frozen=True, eq=False)
class _Linear:
    """Training rows with features; the last one is the constant if they are centred."""

    F: Matrix | SparseMatrix
    mean: Vector | None = None  # (d,)

    @classmethod
    def from_features(
        cls, F: Matrix | SparseMatrix, weights: Vector | None, *, centred: bool
    ) -> _Linear:
        """Store features; if ``centred``, make them dense, centre them and add a constant column.

        Centring subtracts the weighted mean of the rows. The square of the constant, added last, is
        ``INTERCEPT_EIGENVALUE`` times the weighted mean squared length of the centred rows (or
        times 1 if that is 0). ``F`` (n, d) is not changed, and not copied if not ``centred``.
        ``weights`` (n,) None weighs all rows the same.
        """
        if not centred:
            return cls(F)
        dense = to_dense(F)
        mean = np.average(dense, axis=0, weights=weights)
        dense = dense - mean
        square = float(np.average(np.einsum("ij,ij->i", dense, dense), weights=weights))
        constant = np.full((len(dense), 1), np.sqrt(INTERCEPT_EIGENVALUE * _or_one(square)))
        return cls(np.hstack([dense, constant]), mean)

    def gram(self) -> Matrix:
        """Return the Gram matrix (n, n), with the constant if centred."""
        return gram(self.F)

    def is_accurate(self, weights: Vector | None, alpha: float) -> bool:
        """Return whether the Gram matrix, times ``weights`` (n,), has digits enough for ``alpha``.

        ``alpha`` is the smallest one in use; weights None are 1 for all.
        """
        return is_gram_accurate(self._scale(None if weights is None else np.sqrt(weights)), alpha)

    def decompose(self, root: Vector | None, alpha: float) -> Spectrum:
        """Return the spectrum of the Gram matrix, rows and columns times ``root`` (n,).

        None is 1 for all. Accurate enough for ``alpha``, the smallest one in use; see
        ``Spectrum.from_features``, also for errors.
        """
        return Spectrum.from_features(self._scale(root), alpha=alpha)

    def finish(self, A: Matrix, intercepts: Matrix) -> tuple[Matrix, Matrix]:
        """Return feature weights (a, d, p) and intercepts (a, p) for coefficients ``A`` (a, n, p).

        ``intercepts`` (a, p) are those of centred rows; the results are those of uncentred ones.
        """
        a, n, p = A.shape
        W = self.F.T @ A.transpose(1, 0, 2).reshape(n, a * p)
        return self.finish_weights(W.reshape(-1, a, p).transpose(1, 0, 2), intercepts)

    def finish_weights(self, W: Matrix, intercepts: Matrix) -> tuple[Matrix, Matrix]:
        """Return weights and intercepts of uncentred features, without the constant.

        ``W`` (a, d + 1, p) has the constant last if the rows are centred; otherwise both are
        unchanged.
        """
        if self.mean is None:
            return W, intercepts
        return W[:, :-1], intercepts - self.mean @ W[:, :-1]

    def _scale(self, root: Vector | None) -> Matrix | SparseMatrix:
        """Return the rows times ``root`` (n,), unchanged for None."""
        return self.F if root is None else self.F * root[:, None]


@dataclass(frozen=True, eq=False)
class _SparseLinear(_Kernel):
    """Training rows with sparse features, centred in their Gram matrix only.

    So the features ``F`` stay sparse. Spectra are those of the Gram matrix; ``finish_weights`` is
    not available.
    """

    F: Matrix | SparseMatrix = field(kw_only=True)

    def finish(self, A: Matrix, intercepts: Matrix) -> tuple[Matrix, Matrix]:
        """Return feature weights (a, d, p) and intercepts (a, p) for coefficients ``A`` (a, n, p).

        ``intercepts`` (a, p) are those of centred rows; the results are those of uncentred ones.
        """
        W, _ = _Linear(self.F).finish(A, intercepts)
        return W, super().finish(A, intercepts)[1]


def _read_features(
    F: Matrix | SparseMatrix, weights: Vector | None, alpha: float, *, centred: bool
) -> _Rows:
    """Return rows with features; sparse ones stay sparse if their Gram matrix is accurate.

    With an intercept this also needs more than n / 2 features; otherwise they are made dense.
    ``alpha`` is the smallest one in use; ``centred`` asks for an intercept. Raises ValueError if
    sparse features must be made dense and are too large for it.
    """
    if not (centred and sp.issparse(F)):
        return _Linear.from_features(F, weights, centred=centred)
    if 2 * F.shape[1] > F.shape[0] and _Linear(F).is_accurate(weights, alpha):
        kernel = _Kernel.from_gram(gram(F), weights, centred=True)
        return _SparseLinear(kernel.K, kernel.mean, F=F)
    check_dense_size(F)
    return _Linear.from_features(F, weights, centred=True)


def _or_one(value: float) -> float:
    """Return the value if it is positive, else 1."""
    return value if value > 0 else 1.0


class _ByInverse:
    """RLS by one Cholesky inverse per alpha; ``hold_out`` must be consumed before ``models``."""

    def __init__(
        self,
        rows: _Rows,
        Y: Matrix,
        alphas: Vector,
        weights: Vector | None,
        fit_intercept: bool,
    ) -> None:
        """Store the problem; nothing is inverted before ``hold_out``.

        ``Y`` (n, p) are labels, ``alphas`` (a,), ``weights`` (n,) or None for 1. With an intercept
        the weighted mean of the labels is subtracted.
        """
        self.rows, self.alphas, self.weights = rows, alphas, weights
        self.fit_intercept = fit_intercept
        self.mean = _mean(Y, weights, fit_intercept)
        self.Y = Y - self.mean
        self.A = np.empty((len(alphas), *Y.shape))

    def hold_out(self, groups: Sequence[Indices]) -> Iterator[tuple[slice, Scores]]:
        """Yield one alpha at a time with its held-out scores (b, 1, h, p); store its coefficients.

        Raises ValueError if the Gram matrix is not positive semidefinite.
        """
        K = self.rows.gram()
        for a, alpha in enumerate(self.alphas):
            G = inverse(K, float(alpha), self.weights)
            if self.fit_intercept:
                remove_intercept(G)
            self.A[a] = G @ self.Y
            parts = heldout_one_alpha(G, self.Y, self.A[a], groups)
            yield slice(a, a + 1), ((index, scores + self.mean) for index, scores in parts)

    def models(self, alphas: slice) -> tuple[Matrix, Matrix]:
        """Return coefficients and intercepts at a slice of the alphas.

        They are valid only for alphas that ``hold_out`` has already yielded.
        """
        A = self.A[alphas]
        return self.rows.finish(A, np.tile(self.mean, (len(A), 1)))


@dataclass(frozen=True, eq=False)
class _BySpectrum:
    """RLS by one decomposition for all alphas; rows are scaled by the roots of their weights."""

    rows: _Rows
    spectrum: Spectrum
    alphas: Vector
    root: Matrix  # (n, 1)
    Y: Matrix  # (n, p), scaled, less their mean if there is an intercept
    mean: Vector  # (p,)
    fit_intercept: bool

    @classmethod
    def from_rows(
        cls,
        rows: _Rows,
        Y: Matrix,
        alphas: Vector,
        weights: Vector | None,
        fit_intercept: bool,
    ) -> _BySpectrum:
        """Decompose the weighted rows, accurately enough for the smallest alpha.

        ``Y`` (n, p) are the labels, neither centred nor scaled; ``weights`` None are 1 for all.
        """
        root = np.ones((len(Y), 1)) if weights is None else np.sqrt(weights)[:, None]
        mean = _mean(Y, weights, fit_intercept)
        spectrum = rows.decompose(None if weights is None else root[:, 0], float(alphas.min()))
        return cls(rows, spectrum, alphas, root, (Y - mean) * root, mean, fit_intercept)

    def hold_out(self, groups: Sequence[Indices]) -> Iterator[tuple[slice, Scores]]:
        """Yield one item: the slice of all alphas with an iterator of their held-out scores.

        The iterator yields rows (b, h) of b groups of h candidates and their scores (b, a, h, p).
        """
        root, mean = self.root, self.mean
        parts = self._score(groups)
        yield (
            slice(None),
            ((index, scores / root[index][:, None] + mean) for index, scores in parts),
        )

    def _score(self, groups: Sequence[Indices]) -> Scores:
        """Yield row numbers (b, h) and held-out scores (b, a, h, p) of the scaled labels ``Y``.

        They are not yet divided by the roots of the weights, and lack the mean. Where alpha is
        round-off of the largest eigenvalue, a slower method that keeps its digits is used.
        """
        spectrum, Y, alphas = self.spectrum, self.Y, self.alphas
        largest = float(spectrum.w.max(initial=0.0))
        if not spectrum.complete and EPSILON * largest > MAX_GRAM_ERROR * float(alphas.min()):
            if self.fit_intercept:  # the largest eigenvalue is that of the intercept
                w = np.where(spectrum.w == largest, np.inf, spectrum.w)
                spectrum = replace(spectrum, w=w)
            return heldout_ill_conditioned(spectrum, Y, alphas, groups)
        removed = None
        if self.fit_intercept:
            g = spectrum.coefs(self.root, alphas)[:, :, 0]
            removed = g / np.sqrt((g @ self.root) * (1 + INTERCEPT_PENALTY))
        return heldout_all_alphas(
            spectrum, Y, spectrum.coefs(Y, alphas), alphas, groups, removed=removed
        )

    def models(self, alphas: slice) -> tuple[Matrix, Matrix]:
        """Return coefficients and intercepts at a slice of the alphas.

        Coefficients are (a, n, p) for a Gram matrix, feature weights (a, d, p) for features;
        intercepts are (a, p). ``hold_out`` need not have been called.
        """
        spectrum, grid = self.spectrum, self.alphas[alphas]
        intercepts = np.tile(self.mean, (len(grid), 1))
        if spectrum.V is not None:
            return self.rows.finish_weights(spectrum.weights(self.Y, grid), intercepts)
        solve = spectrum.coefs if spectrum.complete else spectrum.fitted_coefs
        return self.rows.finish(solve(self.Y, grid) * self.root, intercepts)


def _mean(Y: Matrix, weights: Vector | None, fit_intercept: bool) -> Vector:
    """Return the weighted mean (p,) of the labels (n, p), zeros without an intercept.

    Weights None are 1 for all.
    """
    return np.average(Y, axis=0, weights=weights) if fit_intercept else np.zeros(Y.shape[1])


def remove_intercept(G: Matrix) -> Vector:
    """Turn ``(K + alpha I)^-1`` in place into the inverse of a model with an intercept.

    ``G`` (n, n) becomes ``G - g g' / 1'g`` with ``g = G 1``: the block of the inverse of the system
    that also asks for coefficients of sum zero. Returns ``g / 1'g`` (n,); its product with the
    labels is the intercept. ``1'g`` is increased by the share ``INTERCEPT_PENALTY``, so that
    ``G`` stays invertible.
    """
    g = G.sum(axis=1)
    row = g / (float(g.sum()) * (1 + INTERCEPT_PENALTY))
    G -= np.outer(g, row)
    return row
