"""Regularised least squares, with exact hold-out of whole documents at every alpha."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from textrank.docs import Targets
from textrank.learners.checks import (
    check_alphas,
    check_features,
    check_gram,
    check_groups,
    check_targets,
    check_weights,
    groups_of,
)
from textrank.learners.fit import Fit, Nested, Path
from textrank.learners.holdout import by_size, heldout_at_all, heldout_at_one, scatter
from textrank.learners.nested import nested_by_inverse, nested_by_retraining
from textrank.learners.selection import Measure, check_measure, choose
from textrank.linalg.inverse import inverse, solve
from textrank.linalg.spectrum import Spectrum, gram
from textrank.linalg.tridiagonal import coefs_without_vectors
from textrank.types import Features, Indices, Matrix, SparseMatrix, Vector

FEW = 7  # an inverse costs up to a seventh of an eigh: for so many alphas it is the cheaper way


@dataclass(frozen=True)
class RLS:
    """Regularised least squares: ``f`` minimises ``sum_i (y_i - f(x_i))^2 + alpha ||f||^2``.

    ``a = (K + alpha I)^-1 y`` on candidates, or ``F' a`` on features. A few alphas take a
    Cholesky inverse each, more share one eigendecomposition, and features fewer than half the
    candidates one singular value decomposition. The held-out scores are exact:
    ``f_U = y_U - G_UU^-1 a_U`` for a document ``U``, with ``G = (K + alpha I)^-1``.

    ``positive_weight`` multiplies the squared error of candidates with a positive label.

    Rifkin, Yeo and Poggio (2003); Pahikkala, Boberg and Salakoski (2006).

    >>> K = np.array([[1.0, 0.5, 0.0], [0.5, 1.0, 0.5], [0.0, 0.5, 1.0]])
    >>> targets = Targets(np.array([1.0, 1.0, -1.0]), np.arange(3), np.arange(3))
    >>> fit = RLS(alphas=[0.1, 1.0], select="squared_error").fit(K, targets)
    >>> fit.alpha, fit.heldout.shape
    (0.1, (2, 3))
    """

    alphas: Sequence[float] = (0.25, 0.5, 1.0, 2.0, 4.0)
    select: Measure = "auc"
    positive_weight: float = 1.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "alphas", check_alphas(self.alphas))
        check_measure(self.select)
        if not (np.isfinite(self.positive_weight) and self.positive_weight > 0):
            raise ValueError(f"positive_weight must be positive, got {self.positive_weight}")

    def fit(self, data: Matrix | Features, targets: Targets) -> Fit:
        """Learns from a Gram matrix or from features, and chooses alpha by held-out documents."""
        path = self.path(data, targets)
        return path.chosen(choose(path.heldout, targets, self.select, path.alphas))

    def path(self, data: Matrix | Features, targets: Targets) -> Path:
        """Coefficients and held-out scores at every alpha."""
        matrix, dual = checked_data(data)
        Y = check_targets(targets.y, matrix.shape[0])
        groups = groups_of(targets.documents, len(Y), name="documents")
        weights = self._weights(targets.y)
        A, heldout = rls_path(matrix, Y, np.array(self.alphas), groups, weights=weights, dual=dual)
        coefs = A[:, :, 0] if dual else np.asarray((matrix.T @ A[:, :, 0].T).T)
        return Path(tuple(self.alphas), coefs, heldout[:, :, 0])

    def nested(
        self, data: Matrix | Features, targets: Targets, partitions: Sequence[Indices]
    ) -> list[Nested]:
        """Test and inner held-out scores for each division into folds, at every alpha.

        One inverse per alpha serves all folds, all documents inside them and all partitions;
        features fewer than a third of the candidates are trained fold by fold instead.
        """
        matrix, dual = checked_data(data)
        y = check_targets(targets.y, matrix.shape[0])[:, 0]
        if not dual and 3 * matrix.shape[1] < len(y):
            return nested_by_retraining(self, data, targets, partitions)
        K = matrix if dual else gram(matrix)
        return nested_by_inverse(
            np.asarray(K),
            y,
            targets.documents,
            partitions,
            tuple(self.alphas),
            weights=self._weights(y),
        )

    def _weights(self, y: Vector) -> Vector | None:
        if self.positive_weight == 1.0:
            return None
        return np.where(y > 0, self.positive_weight, 1.0)


def rls_path(
    data: Matrix | SparseMatrix,
    Y: Matrix,
    alphas: Vector,
    groups: Sequence[Indices],
    *,
    weights: Vector | None = None,
    dual: bool,
) -> tuple[Matrix, Matrix]:  # (a, n, p), (a, n, p)
    """Dual coefficients and held-out scores of any number of outputs, at every alpha.

    ``data`` is a checked Gram matrix (``dual``) or features, ``groups`` the rows held out
    together; where they overlap, the last one counts.
    """
    coefs = np.empty((len(alphas), *Y.shape))
    heldout = np.full(coefs.shape, np.nan)
    for some, A, parts in _trained(data, Y, alphas, groups, weights, dual):
        coefs[some] = A
        scatter(parts, heldout[some])
    return coefs, heldout


def leave_out(
    data: Matrix | Features,
    Y: Matrix,
    groups: Sequence[Indices],
    *,
    alphas: Sequence[float],
    weights: Vector | None = None,
) -> list[Matrix]:  # a list of (a, h, p)
    """Scores of each group of rows by the model of all others; the groups may overlap.

    >>> K = np.diag([1.0, 2.0, 3.0]) + 1.0
    >>> both = [np.array([0, 1]), np.array([1, 2])]
    >>> [scores.shape for scores in leave_out(K, np.ones((3, 1)), both, alphas=[0.5, 1.0])]
    [(2, 2, 1), (2, 2, 1)]
    """
    matrix, dual = checked_data(data)
    Y = check_targets(Y, matrix.shape[0])
    grid = np.array(check_alphas(alphas))
    check_groups(groups, len(Y))
    scores = [np.empty((len(grid), len(group), Y.shape[1])) for group in groups]
    order = [int(g) for which in by_size(groups) for g in which]
    for some, _, parts in _trained(matrix, Y, grid, groups, weights, dual):
        at = iter(order)
        for _, part in parts:
            for one in part:
                scores[next(at)][some] = one
    return scores


def rls_coefs(
    data: Matrix | SparseMatrix, Y: Matrix, alphas: Vector, *, dual: bool
) -> Matrix:  # (a, n, p)
    """Dual coefficients at every alpha where nothing is held out: half the price of an eigh."""
    if not dual and 2 * data.shape[1] <= len(Y):
        return Spectrum.of_features(data).coefs(Y, alphas)
    K = np.asarray(data) if dual else gram(data)
    if len(alphas) < 4:
        return np.stack([solve(K, Y, float(alpha)) for alpha in alphas])
    return coefs_without_vectors(K, Y, alphas)


def _trained(
    data: Matrix | SparseMatrix,
    Y: Matrix,
    alphas: Vector,
    groups: Sequence[Indices],
    weights: Vector | None,
    dual: bool,
) -> Iterator[tuple[slice, Matrix, Iterator[tuple[Indices, Matrix]]]]:
    """Some of the alphas, their coefficients, and their held-out scores portion by portion."""
    weights = check_weights(weights, len(Y))
    if (dual or 2 * data.shape[1] > len(Y)) and len(alphas) <= FEW:
        K = np.asarray(data) if dual else gram(data)
        for a, alpha in enumerate(alphas):
            G = inverse(K, float(alpha), weights)
            A = G @ Y
            yield slice(a, a + 1), A[None], heldout_at_one(G, Y, A, groups)
        return
    root = np.ones((len(Y), 1)) if weights is None else np.sqrt(weights)[:, None]
    spectrum = _spectrum(data, root[:, 0], weights is not None, dual)
    A = spectrum.coefs(Y * root, alphas)
    parts = heldout_at_all(spectrum, Y * root, A, alphas, groups)
    unscaled = ((index, scores / root[index][:, None]) for index, scores in parts)
    yield slice(None), A * root, unscaled


def _spectrum(data: Matrix | SparseMatrix, root: Vector, weighted: bool, dual: bool) -> Spectrum:
    """The spectrum of the Gram matrix, rows and columns scaled by the roots of the weights."""
    if dual:
        return Spectrum.of_gram(data * np.outer(root, root) if weighted else data)
    return Spectrum.of_features(data * root[:, None] if weighted else data)


def checked_data(data: Any) -> tuple[Matrix | SparseMatrix, bool]:
    """The checked matrix, and whether it is a Gram matrix."""
    if isinstance(data, Features):
        return check_features(data), False
    return check_gram(data), True
