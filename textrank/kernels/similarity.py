"""Any similarity or dissimilarity as features: how alike an input is to each of some prototypes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from textrank.types import Features, Kernel, Matrix, Names, Vector, size

Measure = Callable[[Sequence[Any], Sequence[Any]], Matrix]


@dataclass(frozen=True)
class Similarities:
    """The empirical kernel map: ``φ(x) = (s(x, r_1), ..., s(x, r_p))`` for prototypes ``r``.

    The measure ``s`` may be any function of two lists that gives a matrix, also one that is not
    positive semidefinite or that grows with dissimilarity (``Distance``): the inner product of
    the maps is a kernel in every case.

    >>> from textrank.kernels.vectors import Linear
    >>> Similarities(Linear(), np.array([[1.0, 0.0], [1.0, 1.0]]))(np.array([[2.0, 1.0]])).item()
    13.0
    """

    measure: Measure
    prototypes: Sequence[Any]

    def __post_init__(self) -> None:
        if not size(self.prototypes):
            raise ValueError("prototypes must hold at least one input, got none")

    def __call__(self, X: Sequence[Any], Y: Sequence[Any] | None = None) -> Matrix:
        F = self.map(X)
        return F @ (F if Y is None else self.map(Y)).T

    def diag(self, X: Sequence[Any]) -> Vector:
        """The similarity of each input with itself, ``(x,)``."""
        return np.asarray((self.map(X) ** 2).sum(axis=1))

    def features(self, X: Sequence[Any]) -> Features:
        """A column a prototype, named by its number."""
        names = Names.of(("prototype", str(i)) for i in range(size(self.prototypes)))
        return Features(sp.csr_array(self.map(X)), names)

    def map(self, X: Sequence[Any]) -> Matrix:
        """The measured values, (x, prototypes)."""
        if not size(X):
            return np.zeros((0, size(self.prototypes)))
        return np.asarray(self.measure(X, self.prototypes), dtype=np.float64)


@dataclass(frozen=True)
class Distance:
    """Distance in the space of a kernel, ``√(k(x,x) + k(z,z) - 2 k(x,z))``, for ``Similarities``.

    >>> from textrank.kernels.vectors import Linear
    >>> Distance(Linear())(np.array([[0.0]]), np.array([[3.0]])).item()
    3.0
    """

    kernel: Kernel[Any]

    def __call__(self, X: Sequence[Any], Y: Sequence[Any]) -> Matrix:
        squared = self.kernel.diag(X)[:, None] + self.kernel.diag(Y) - 2 * self.kernel(X, Y)
        return np.sqrt(squared.clip(min=0.0))  # round-off only
