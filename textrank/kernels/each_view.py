"""The same kernel on every view of the candidates."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from textrank.kernels.algebra import OnView, Sum, weights_of
from textrank.types import Features, Kernel, Matrix, Vector, Viewed


@dataclass(frozen=True)
class EachView:
    """The same kernel on every view, summed: ``Σ_v w_v k(x_v, z_v)``; weight 1 where not given.

    Views that need settings of their own are summed with ``Sum`` and ``OnView``.

    >>> from textrank.kernels.vectors import Linear
    >>> views = Viewed({"a": np.array([[1.0]]), "b": np.array([[2.0]])})
    >>> EachView(Linear(), weights={"b": 0.5})(views).item()
    3.0
    """

    kernel: Kernel[Any]
    weights: Mapping[str, float] | None = None

    def __post_init__(self) -> None:
        weights_of(self.weights, list(self.weights or {}))

    def __call__(self, X: Sequence[Any], Y: Sequence[Any] | None = None) -> Matrix:
        if not len(X) or (Y is not None and not len(Y)):
            return np.zeros((len(X), len(X if Y is None else Y)))
        return self._sum(X)(X, Y)

    def diag(self, X: Sequence[Any]) -> Vector:
        """The similarity of each input with itself, ``(x,)``."""
        return self._sum(X).diag(X) if len(X) else np.zeros(0)

    def features(self, X: Sequence[Any]) -> Features:
        """The features on all views side by side, each under the name of its view."""
        return self._sum(X).features(X)

    def _sum(self, X: Sequence[Any]) -> Sum:
        views = list(X.views if isinstance(X, Viewed) else X[0])
        return Sum({view: OnView(view, self.kernel) for view in views}, weights=self.weights)
