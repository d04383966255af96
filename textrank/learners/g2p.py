"""G2P: a supervised embedding of any similarity that keeps classes apart and neighbours near.

``G2P`` computes the projection from similarities and class similarities; ``class_matrix``,
``average_similarities``, ``to_similarities`` and ``neighbour_indicator`` prepare its inputs.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import scipy.linalg as sla

from textrank.features import Matrix, Vector
from textrank.learners.base import check_magnitude, check_targets


@dataclass(frozen=True)
class G2P:
    """Dual-goal projection: candidates are near if they were near before and are of one class.

    ``max_P tr P'S'(S_Y . N . S)SP`` subject to ``P'(S'S + alpha I)P = I``: the top generalised
    eigenvectors, with ``S`` the similarities of the training candidates, ``S_Y`` their classes'
    and ``N`` the indicator of ``neighbours`` nearest ones, either way or ``mutual``. New
    candidates map to ``S_new P``. With ``neighbours`` None only the classes count (``S_Y``
    alone). ``size`` fixes the dimension; else it is the smallest with a ``share`` of the squared
    eigenvalues. O(n^3) once.

    Mu et al. (2012), Computational Intelligence 28.

    >>> S, classes = np.eye(4) + 0.5, np.kron(np.eye(2), np.ones((2, 2)))  # two of each class
    >>> G2P(size=1, neighbours=None).fit(S, classes).shape
    (4, 1)
    """

    alpha: float = 1.0
    neighbours: int | None = 10
    mutual: bool = False
    size: int | None = None
    share: float = 0.9

    def __post_init__(self) -> None:
        if not (np.isfinite(self.alpha) and self.alpha > 0):
            raise ValueError(f"alpha must be positive and finite, got {self.alpha}")
        for name in ("neighbours", "size"):
            value = getattr(self, name)
            if value is not None and value < 1:
                raise ValueError(f"{name} must be at least 1 or None, got {value}")
        if not 0 < self.share <= 1:
            raise ValueError(f"share must be above 0 and at most 1, got {self.share}")

    def fit(self, S: Matrix, classes: Matrix) -> Matrix:  # (n, n), (n, n) -> (n, k)
        """Return the projection ``P`` (n, k) for similarities and class similarities, both (n, n).

        Class similarities are those of ``class_matrix``. Columns are ordered by falling eigenvalue.
        New candidates map to ``S_new @ P``, with ``S_new`` (m, n) their similarities to the
        training candidates. Raises ValueError if the shapes differ or ``S`` is not square and
        finite.
        """
        S = check_similarity(S)
        weights = np.array(classes, dtype=np.float64)
        if weights.shape != S.shape:
            raise ValueError(f"{S.shape} similarities but class similarities {weights.shape}")
        if self.neighbours is not None:
            weights *= S * neighbour_indicator(S, self.neighbours, mutual=self.mutual)
        weights = (weights + weights.T) / 2
        inside = S.T @ S
        inside.flat[:: len(S) + 1] += self.alpha
        values, P = sla.eigh(S.T @ weights @ S, inside)
        values, P = values[::-1], P[:, ::-1]
        return np.ascontiguousarray(P[:, : self._dimension(values)])

    def _dimension(self, values: Vector) -> int:
        """Return the number of eigenvectors to keep, from descending eigenvalues (n,)."""
        if self.size is not None:
            return min(self.size, len(values))
        square = np.cumsum(values**2)
        if square[-1] == 0:
            return 1
        return int(np.searchsorted(square, self.share * square[-1] * (1 - 1e-12)) + 1)


def class_matrix(Y: Matrix, kind: Literal["binary", "single", "multi"]) -> Matrix:  # (n, n)
    """Return similarities (n, n) of the classes of candidates.

    ``binary``: ``YY'`` for labels -1 and 1 (n, 1); ``single``: ``2YY' - 1`` for an indicator (n, c)
    of one class each; ``multi``: ``YY'`` for an indicator of several classes. An indicator has 1
    for the classes of a candidate and 0 for others. Raises ValueError for another ``kind``.
    """
    Y = check_targets(Y, len(Y))
    product = Y @ Y.T
    if kind == "single":
        return np.asarray(2.0 * product - 1.0)
    if kind in ("binary", "multi"):
        return np.asarray(product)
    raise ValueError(f"kind must be binary, single or multi, got {kind!r}")


def average_similarities(parts: Sequence[Matrix], weights: Sequence[float] | None = None) -> Matrix:
    """Return the weighted mean of similarity matrices; by default all weigh the same.

    Raises ValueError if there is no matrix, if weights are negative or all zero, or if their number
    differs from that of the matrices.
    """
    shares = np.ones(len(parts)) if weights is None else np.asarray(weights, dtype=np.float64)
    if len(shares) != len(parts) or not len(parts):
        raise ValueError(f"{len(parts)} groups of similarities but {len(shares)} weights")
    if (shares < 0).any() or not shares.sum() > 0:
        raise ValueError(f"weights must not be negative, nor all zero, got {shares.tolist()}")
    return np.asarray(
        sum(w * np.asarray(S) for w, S in zip(shares, parts, strict=True)) / shares.sum()
    )


def to_similarities(D: Matrix, width: float | None = None) -> Matrix:
    """Return similarities ``exp(-D^2 / (2 width^2))``, or ``max(D) - D`` if ``width`` is None.

    ``D`` are distances. Raises ValueError unless ``width`` is positive.
    """
    D = np.asarray(D, dtype=np.float64)
    if width is None:
        return np.asarray(D.max() - D)
    if not width > 0:
        raise ValueError(f"width must be positive, got {width}")
    return np.asarray(np.exp(-(D**2) / (2 * width**2)))


def neighbour_indicator(S: Matrix, count: int, *, mutual: bool = False) -> Matrix:
    """Return a matrix (n, n) that is 1 for candidates of which one is among the other's nearest.

    ``S`` (n, n) are similarities. Each candidate has ``count`` nearest ones (at most ``n - 1``),
    itself not counted; if ``mutual``, both must be among the nearest of the other. The result is
    symmetric and its diagonal is 1.
    """
    n = len(S)
    count = min(count, n - 1)
    near = np.zeros((n, n), dtype=bool)
    others = S.copy()
    np.fill_diagonal(others, -np.inf)
    if count > 0:
        columns = np.argpartition(-others, count - 1, axis=1)[:, :count]
        near[np.arange(n)[:, None], columns] = True
    near = near & near.T if mutual else near | near.T
    np.fill_diagonal(near, True)
    return near.astype(np.float64)


def check_similarity(S: Any) -> Matrix:
    """Return similarities (n, n) as floats; raise ValueError unless square, finite and not empty.

    They need not be symmetric nor positive semi-definite. Very large values are refused too.
    """
    S = np.asarray(S, dtype=np.float64)
    if S.ndim != 2 or S.shape[0] != S.shape[1] or not S.size:
        raise ValueError(f"similarities are a square matrix, got shape {S.shape}")
    if not np.isfinite(S).all():
        raise ValueError(f"similarity {np.argwhere(~np.isfinite(S))[0].tolist()} is not finite")
    check_magnitude(S, "similarities")
    return S
