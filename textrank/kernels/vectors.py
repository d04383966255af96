"""Linear, the kernel all others start from: the inner product of vectors."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from textrank.linalg.gram import gram, squares
from textrank.types import (
    Features,
    Indices,
    Matrix,
    Names,
    Slotted,
    SlotWeights,
    Vector,
    Weigh,
    Weighed,
    Weights,
    by_features,
    shared,
    size,
)


@dataclass(frozen=True)
class Linear:
    """Inner product of vectors: ``k(x, z) = x'z``.

    Vectors are the rows of an array, of a sparse matrix or of ``Features``, or a list of such rows.
    Features are matched by their names, arrays by their columns.

    >>> Linear()(np.array([[1.0, 2.0], [0.0, 1.0]]))
    array([[5., 2.],
           [2., 1.]])
    """

    def __call__(self, X: Sequence[Any], Y: Sequence[Any] | None = None) -> Matrix:
        if not size(X) or (Y is not None and not size(Y)):
            return np.zeros((size(X), size(X if Y is None else Y)))
        F = vectors(X)
        G = None if Y is None else vectors(Y)
        if isinstance(F, Features) and isinstance(G, Features):
            return gram(F.values, G.onto(F.names))
        if isinstance(F, Features) and G is None:
            return gram(F.values)
        left, right = _plain(F), _plain(F if G is None else G)
        _same_width(left, right)
        if sp.issparse(left) or sp.issparse(right):
            return gram(sp.csr_array(left), None if G is None else sp.csr_array(right))
        return left @ right.T

    def diag(self, X: Sequence[Any]) -> Vector:
        """The similarity of each input with itself, ``(x,)``."""
        F = _plain(vectors(X))
        return squares(F) if sp.issparse(F) else np.einsum("ij,ij->i", F, F)

    def features(self, X: Sequence[Any]) -> Features:
        """The vectors themselves; the columns of an array are named by their numbers."""
        F = vectors(X)
        if isinstance(F, Features):
            return F
        return Features(sp.csr_array(F), Names.of(str(i) for i in range(F.shape[1])))

    def weighed(self, weights: Weights) -> Weigh:
        """What the vectors come to."""
        by_name, by_slot = by_features(self, weights), SlotWeights(weights)

        def weigh(X: Sequence[Any], asked: Indices) -> Weighed:
            each, at = shared(X)
            return by_slot(each, asked, at) if isinstance(each, Slotted) else by_name(X, asked)

        return weigh


def vectors(X: Sequence[Any]) -> Any:
    """X as Features, a sparse matrix or a 2-D float array, whichever it is or holds."""
    if isinstance(X, Features):
        return X
    if sp.issparse(X):
        return sp.csr_array(X).astype(float, copy=False)
    if not isinstance(X, np.ndarray) and len(X) and isinstance(X[0], Features):
        return Features.below(list(X))
    if not isinstance(X, np.ndarray) and len(X) and sp.issparse(X[0]):
        return sp.csr_array(sp.vstack([x.reshape(1, -1) for x in X]))
    array = np.asarray(X, dtype=np.float64)
    if array.ndim == 1 and not len(array):
        return array.reshape(0, 0)
    if array.ndim != 2:
        raise ValueError(
            f"vectors must form a table of rows, got an array of shape {array.shape}. "
            "Give one row a candidate."
        )
    return array


def _plain(F: Any) -> Any:
    return F.values if isinstance(F, Features) else F


def _same_width(F: Any, G: Any) -> None:
    if F.shape[1] != G.shape[1]:
        raise ValueError(
            f"vectors of {F.shape[1]} numbers against vectors of {G.shape[1]}: "
            "both sides must be represented alike."
        )
