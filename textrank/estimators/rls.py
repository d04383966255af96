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
from textrank.learners.checks import check_alphas
from textrank.learners.multiclass import check_code, code_path, decode, one_vs_all
from textrank.learners.rls import rls_path
from textrank.learners.selection import qualities
from textrank.linalg.spectrum import gram
from textrank.ties import choose_largest
from textrank.types import Matrix, Vector


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
        X, y = self._read(X, y, multi_output=True, y_numeric=True)
        Y = np.asarray(y, dtype=np.float64).reshape(len(y), -1)
        data, dual = self._data(X)
        weights = _weights(sample_weight, X)
        A, heldout = _learn(X, data, dual, Y, self.alphas, groups, weights)
        alphas = check_alphas(self.alphas)
        error = _mean_error(heldout, Y, weights)
        chosen = np.array([choose_largest(-column, alphas) for column in error.T])
        best = A[chosen, :, np.arange(Y.shape[1])].T
        self._flat = np.ndim(y) == 1
        self.alpha_ = alphas[chosen[0]] if self._flat else np.array(alphas)[chosen]
        self.heldout_ = heldout[:, :, 0] if self._flat else heldout
        self._keep_dual(X, data, dual, best)
        return self

    def predict(self, X: Any) -> Matrix:
        """Values of new samples; kernel values (m, n) where the kernel is precomputed."""
        scores = self._scores(X)
        return scores[:, 0] if self._flat else scores


class RLSClassifier(ClassifierMixin, KernelMachine):
    """Regularised least squares on class codes, alpha by exact held-out scores.

    ``code`` (classes, bits) may be any matrix of -1, 0, 1; one bit a class if None. ``select``
    is ``accuracy``, ``squared_error`` or, for two classes, ``auc`` or ``f``.

    >>> X, y = np.arange(8.0)[:, None], ["no"] * 4 + ["yes"] * 4
    >>> model = RLSClassifier(alphas=[0.1, 1.0]).fit(X, y, groups=[0, 0, 1, 1, 2, 2, 3, 3])
    >>> model.predict([[-3.0], [9.0]]).tolist(), model.heldout_.shape
    (['no', 'yes'], (2, 8))

    Attributes
    ----------
    alpha_ : the chosen alpha.
    heldout_ : (alphas, samples) for two classes, else (alphas, samples, bits).
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
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0

    def fit(self, X: Any, y: Any, groups: Any = None, sample_weight: Any = None) -> RLSClassifier:
        """Learns; ``groups`` gives for each row the number or name of its group."""
        X, y = self._read(X, y)
        check_classification_targets(y)
        self.classes_, classes = np.unique(y, return_inverse=True)
        if len(self.classes_) < 2:
            raise ValueError(f"one class only, {self.classes_[0]!r}: nothing to tell apart")
        self.code_ = self._code(len(self.classes_))
        data, dual = self._data(X)
        weights = self._class_weights(y, _weights(sample_weight, X))
        if (self.code_ != 0).all():
            Y = self.code_[classes]
            A, heldout = _learn(X, data, dual, Y, self.alphas, groups, weights)
        else:
            K = data if dual else gram(data)
            grid = np.array(check_alphas(self.alphas))
            A, heldout = code_path(
                K, classes, self.code_, grid, rows_of(groups, X), weights=weights
            )
        chosen = self._choose(heldout, classes, weights)
        self.alpha_ = check_alphas(self.alphas)[chosen]
        self.heldout_ = heldout[:, :, 0] if self.code_.shape[1] == 1 else heldout
        self.temperature_ = temperature(self._logits(heldout[chosen]), classes, weights)
        self._keep_dual(X, data, dual, A[chosen])
        return self

    def decision_function(self, X: Any) -> Matrix:
        """Scores of new samples: one each for two classes, else one for each class."""
        scores = self._scores(X)
        return scores[:, 0] if self.code_.shape[1] == 1 else self._logits(scores)

    def predict_proba(self, X: Any) -> Matrix:  # (m, classes)
        """Probabilities of the classes: the softmax of scores over a temperature.

        The temperature is set on held-out scores, so it costs no data of its own, and the most
        likely class is the one that ``predict`` gives where codes are decoded by their loss.
        """
        return np.asarray(softmax(self._logits(self._scores(X)) / self.temperature_, axis=1))

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
        return choose_largest(quality, check_alphas(self.alphas))


def _learn(
    X: Any,
    data: Any,
    dual: bool,
    Y: Matrix,
    alphas: Sequence[float],
    groups: Any,
    weights: Vector | None,
) -> tuple[Matrix, Matrix]:
    grid = np.array(check_alphas(alphas))
    return rls_path(data, Y, grid, rows_of(groups, X), weights=weights, dual=dual)


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
