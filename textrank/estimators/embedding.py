"""G2P as a transformer."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import TransformerMixin
from sklearn.utils.multiclass import check_classification_targets, type_of_target
from sklearn.utils.validation import check_is_fitted

from textrank.estimators.machine import AnyKernel, KernelMachine
from textrank.learners import g2p
from textrank.types import Matrix


class G2P(TransformerMixin, KernelMachine):
    """Supervised embedding of the samples' similarities; see ``textrank.learners.g2p.G2P``.

    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> G2P(size=2).fit(X, y).transform(X).shape
    (150, 2)
    """

    def __init__(
        self,
        kernel: AnyKernel = "rbf",
        *,
        alpha: float = 1.0,
        neighbours: int | None = 10,
        mutual: bool = False,
        size: int | None = None,
        share: float = 0.9,
        gamma: float | None = None,
        degree: float = 3,
        coef0: float = 1,
    ) -> None:
        self.kernel = kernel
        self.alpha = alpha
        self.neighbours = neighbours
        self.mutual = mutual
        self.size = size
        self.share = share
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0

    def fit(self, X: Any, y: Any) -> G2P:
        """Finds the projection; ``y`` are classes, or an indicator of several per sample."""
        X, y = self._read(X, y, multi_output=True)
        learner = g2p.G2P(
            alpha=self.alpha,
            neighbours=self.neighbours,
            mutual=self.mutual,
            size=self.size,
            share=self.share,
        )
        S = self._compare(X, X)
        self.projection_ = learner.fit(S, _class_matrix(y))
        self.X_fit_ = X
        return self

    def transform(self, X: Any) -> Matrix:
        """The embedding of new samples."""
        check_is_fitted(self, "projection_")
        X = self._read(X, reset=False)
        return np.asarray(self._compare(X, self.X_fit_) @ self.projection_)

    @property
    def _n_features_out(self) -> int:
        return int(self.projection_.shape[1])


def _class_matrix(y: NDArray[Any]) -> Matrix:
    if type_of_target(y) == "multilabel-indicator":
        return g2p.class_matrix(np.asarray(y, dtype=np.float64), "multi")
    check_classification_targets(y)
    names, numbers = np.unique(y, return_inverse=True)
    return g2p.class_matrix(np.eye(len(names))[numbers], "single")
