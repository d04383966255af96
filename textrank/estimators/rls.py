"""Regression and classification by regularised least squares."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy.special import softmax
from sklearn.base import ClassifierMixin, MultiOutputMixin, RegressorMixin
from sklearn.utils import compute_class_weight
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import _check_sample_weight

from textrank.docs import Targets
from textrank.estimators.machine import GRID, AnyKernel, KernelMachine, rows_of
from textrank.learners.calibration import temperature
from textrank.learners.multiclass import check_code, decode, one_vs_all, solve_code
from textrank.learners.rls import Solution, solve_rls
from textrank.learners.selection import qualities
from textrank.linalg.singular import is_gram_accurate
from textrank.linalg.spectrum import gram
from textrank.ties import choose_largest
from textrank.types import Matrix, Vector

MIN_PROBABILITY = 1e-9


class RLSRegressor(MultiOutputMixin, RegressorMixin, KernelMachine):
    """Regularised least squares with alpha chosen by exact held-out error.

    >>> X = np.arange(8.0)[:, None]
    >>> model = RLSRegressor(alphas=[0.1, 1.0]).fit(X, 2 * X[:, 0])
    >>> model.alpha_, model.predict([[10.0]]).round(1).tolist()
    (0.1, [20.0])

    Attributes
    ----------
    alpha_ : the chosen alpha; one for each output where there are several.
    heldout_ : (alphas, samples) or (alphas, samples, outputs), each sample scored without its
        group; where ``groups`` is None, without itself and its copies.
    """

    def __init__(
        self,
        alphas: Sequence[float] = GRID,
        kernel: AnyKernel = "linear",
        *,
        gamma: float | None = None,
        degree: float = 3,
        coef0: float = 1,
    ) -> None:
        self.alphas = alphas
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0

    def fit(self, X: Any, y: Any, groups: Any = None, sample_weight: Any = None) -> RLSRegressor:
        """Learns; ``groups`` gives for each row the number or name of its group."""
        alphas = self._check_alphas()
        X, y = self._read(X, y, multi_output=True, y_numeric=True)
        Y = np.asarray(y, dtype=np.float64).reshape(len(y), -1)
        data, dual = self._data(X)
        weights = _weights(sample_weight, X)
        rows = rows_of(groups, X)
        solution = solve_rls(data, Y, np.array(alphas), rows, weights=weights, dual=dual)
        heldout = solution.heldout
        error = _mean_error(heldout, Y, weights)
        chosen = np.array([choose_largest(-column, alphas) for column in error.T])
        self._flat = np.ndim(y) == 1
        self.alpha_ = alphas[chosen[0]] if self._flat else np.array(alphas)[chosen]
        self.heldout_ = heldout[:, :, 0] if self._flat else heldout
        self._keep(X, solution.choose(chosen)[0], dual=dual)
        return self

    def predict(self, X: Any) -> Matrix:
        """Values of new samples; kernel values (m, n) where the kernel is precomputed."""
        scores = self._scores(X)
        return scores[:, 0] if self._flat else scores


class RLSClassifier(ClassifierMixin, KernelMachine):
    """Regularised least squares on class codes, alpha by exact held-out scores.

    ``code`` (classes, bits) may be any matrix of -1, 0, 1; one bit a class if None. ``select``
    is ``accuracy``, ``squared_error`` or, for two classes, ``auc`` or ``f``. The intercept, if
    ``fit_intercept``, is not penalised; without it every decision boundary of a linear model
    goes through the origin.

    >>> X, y = np.arange(8.0)[:, None], ["no"] * 4 + ["yes"] * 4
    >>> model = RLSClassifier(alphas=[0.1, 1.0]).fit(X, y, groups=[0, 0, 1, 1, 2, 2, 3, 3])
    >>> model.predict([[-3.0], [9.0]]).tolist(), model.heldout_.shape
    (['no', 'yes'], (2, 8))

    Attributes
    ----------
    alpha_ : the chosen alpha.
    heldout_ : (alphas, samples) for two classes, else (alphas, samples, bits).
    intercept_ : (bits,) what is added to the scores; zeros unless ``fit_intercept``.
    temperature_ : what divides scores before they become probabilities.
    """

    def __init__(
        self,
        alphas: Sequence[float] = GRID,
        kernel: AnyKernel = "linear",
        *,
        select: Literal["accuracy", "squared_error", "auc", "f"] = "squared_error",
        code: Matrix | None = None,
        decoding: Literal["loss", "hamming"] = "loss",
        class_weight: Mapping[Any, float] | Literal["balanced"] | None = None,
        fit_intercept: bool = True,
        gamma: float | None = None,
        degree: float = 3,
        coef0: float = 1,
    ) -> None:
        self.alphas = alphas
        self.kernel = kernel
        self.select = select
        self.code = code
        self.decoding = decoding
        self.class_weight = class_weight
        self.fit_intercept = fit_intercept
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0

    def fit(self, X: Any, y: Any, groups: Any = None, sample_weight: Any = None) -> RLSClassifier:
        """Learns; ``groups`` gives for each row the number or name of its group."""
        alphas = self._check_alphas()
        X, y = self._read(X, y)
        check_classification_targets(y)
        self.classes_, classes = np.unique(y, return_inverse=True)
        if len(self.classes_) < 2:
            raise ValueError(f"one class only, {self.classes_[0]!r}: nothing to tell apart")
        self.code_ = self._code(len(self.classes_))
        data, dual = self._data(X)
        weights = self._class_weights(y, _weights(sample_weight, X))
        rows, grid = rows_of(groups, X), np.array(alphas)
        if (self.code_ != 0).all():
            solution = solve_rls(
                data,
                self.code_[classes],
                grid,
                rows,
                weights=weights,
                dual=dual,
                fit_intercept=self.fit_intercept,
            )
        else:
            solution = self._solve_partial(data, dual, classes, grid, rows, weights)
        heldout = solution.heldout
        chosen = self._choose(heldout, classes, weights)
        self.alpha_ = alphas[chosen]
        self.heldout_ = heldout[:, :, 0] if self.code_.shape[1] == 1 else heldout
        self.temperature_ = temperature(self._logits(heldout[chosen]), classes, weights)
        coef, self.intercept_ = solution.choose(np.full(heldout.shape[2], chosen))
        self._keep(X, coef, dual=dual)
        return self

    def _solve_partial(
        self,
        data: Any,
        dual: bool,
        classes: NDArray[np.intp],
        alphas: Vector,
        rows: list[NDArray[np.intp]],
        weights: Vector | None,
    ) -> Solution:
        """Solve a code with zeros, whose bits are learned from some of the classes each."""
        heaviest = 1.0 if weights is None else float(weights.max())
        if not dual and not is_gram_accurate(data, float(alphas.min()) / heaviest):
            raise ValueError(
                "the features are too large, compared with the smallest alpha, for a code with "
                "zeros. Scale them, for example with StandardScaler, use larger alphas, or use a "
                "code without zeros."
            )
        K = data if dual else gram(data)
        A, intercepts, heldout = solve_code(
            K, classes, self.code_, alphas, rows, weights=weights, fit_intercept=self.fit_intercept
        )
        coefs = A if dual else np.stack([data.T @ one for one in A])
        return Solution(heldout, lambda some: (coefs[some], intercepts[some]))

    def _scores(self, X: Any) -> Matrix:
        return super()._scores(X) + self.intercept_

    def decision_function(self, X: Any) -> Matrix:
        """Scores of new samples: one each for two classes, else one for each class."""
        scores = self._scores(X)
        return scores[:, 0] if self.code_.shape[1] == 1 else self._logits(scores)

    def predict_proba(self, X: Any) -> Matrix:  # (m, classes)
        """Return probabilities of the classes: the softmax of scores over a temperature.

        The temperature is set on held-out scores with Platt's smoothed targets, so it costs no
        data of its own. The most likely class is the one that ``predict`` gives where codes are
        decoded by their loss. No probability is exactly 0 or 1.
        """
        p = softmax(self._logits(self._scores(X)) / self.temperature_, axis=1)
        return np.asarray((p + MIN_PROBABILITY) / (1 + p.shape[1] * MIN_PROBABILITY))

    def _logits(self, scores: Matrix) -> Matrix:  # (n, bits) -> (n, classes)
        return np.asarray(scores @ self.code_.T)

    def predict(self, X: Any) -> NDArray[Any]:
        """The classes of new samples."""
        scores = self._scores(X)
        return np.asarray(self.classes_[self._decoded(scores)])

    def _decoded(self, scores: Matrix) -> NDArray[np.intp]:
        if self.code_.shape[1] == 1:
            return np.asarray(scores[..., 0] > 0, dtype=np.intp)
        return decode(scores, self.code_, self.decoding)

    def _code(self, classes: int) -> Matrix:
        if self.code is not None:
            return check_code(self.code, classes)
        return np.array([[-1.0], [1.0]]) if classes == 2 else one_vs_all(classes)

    def _class_weights(self, y: NDArray[Any], weights: Vector | None) -> Vector | None:
        if self.class_weight is None:
            return weights
        each = compute_class_weight(self.class_weight, classes=self.classes_, y=y)
        own = each[np.searchsorted(self.classes_, y)]
        return own if weights is None else own * weights

    def _choose(self, heldout: Matrix, classes: NDArray[np.intp], weights: Vector | None) -> int:
        Y = self.code_[classes]
        if self.select == "accuracy":
            quality = np.average(self._decoded(heldout) == classes, axis=1, weights=weights)
        elif self.select == "squared_error":
            quality = -_mean_error(heldout * (Y != 0), Y, weights).sum(axis=1)
        elif self.select in ("auc", "f") and self.code_.shape[1] == 1:
            everyone = np.arange(len(Y))
            quality = qualities(heldout[:, :, 0], Targets(Y[:, 0], everyone, everyone), self.select)
        else:
            raise ValueError(
                "select must be accuracy or squared_error, or auc or f for two classes; "
                f"got {self.select!r} for {len(self.classes_)} classes"
            )
        return choose_largest(quality, self._check_alphas())


def _mean_error(heldout: Matrix, Y: Matrix, weights: Vector | None) -> Matrix:  # (a, p)
    return np.asarray(np.average((heldout - Y) ** 2, axis=1, weights=weights))


def _weights(sample_weight: Any, X: Any) -> Vector | None:
    if sample_weight is None:
        return None
    weights = np.asarray(_check_sample_weight(sample_weight, X, dtype=np.float64))
    if (weights < 0).any() or not weights.any():
        raise ValueError("sample_weight must not be negative, nor zero for all samples")
    # A weight below round-off is no weight, and still lets the sample be scored when held out.
    return np.maximum(weights, weights.max() * 1e-14)
