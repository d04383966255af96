"""Centred: a kernel as seen from the mean of some inputs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from textrank.types import Kernel, Matrix, Vector


@dataclass(frozen=True)
class Centred:
    """A kernel as seen from the mean of some reference inputs.

    ``k(x,z) - mean_r k(x,r) - mean_r k(r,z) + mean_rs k(r,s)``. The reference is fixed, so training
    and new inputs are centred alike; for the training part itself give it as ``reference``.

    >>> import numpy as np
    >>> from textrank.kernels.vectors import Linear
    >>> X = np.array([[0.0], [1.0], [3.0]])
    >>> Centred(Linear(), reference=X)(X).sum().round(9).item()
    0.0
    """

    kernel: Kernel[Any]
    reference: Sequence[Any]

    def __post_init__(self) -> None:
        if not len(self.reference):
            raise ValueError("reference must hold at least one reference input, got none")

    def __call__(self, X: Sequence[Any], Y: Sequence[Any] | None = None) -> Matrix:
        left = self._means(X)
        right = left if Y is None else self._means(Y)
        K = self.kernel(X, Y) - left[:, None]
        K -= right[None, :]
        K += self.kernel(self.reference).mean()
        return K

    def diag(self, X: Sequence[Any]) -> Vector:
        """The similarity of each input with itself, ``(x,)``."""
        return self.kernel.diag(X) - 2 * self._means(X) + self.kernel(self.reference).mean()

    def _means(self, X: Sequence[Any]) -> Vector:
        return self.kernel(X, self.reference).mean(axis=1)
