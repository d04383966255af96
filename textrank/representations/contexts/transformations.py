"""Transformations of word-position matrices: which positions, and which words, resemble each other.

Every kernel on contexts is ``k(X, Z) = tr(P̂ X' Ŵ Z)`` with P̂ over positions and Ŵ over words. A
transformation gives a factor of one of them, so that features and models are explicit. They
compose: ``Weighting(1.0, 0.025, of=ScaleFree(0.3))`` weights a smooth similarity, ``Mixture`` adds
several, of positions or of words.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from textrank.types import (
    Features,
    Indices,
    Names,
    PositionTransformation,
    Vector,
    pivoted_cholesky,
)

# Distances at which a bin begins: each of the first twelve words alone, then ever wider.
BINS = (*range(1, 13), 14, 16, 19, 23, 28, 34, 42, 52, 66, 84, 110, 150, 220, 400)


@dataclass(frozen=True)
class Bag:
    """All positions alike: ``P̂ = 1 1'``, the bag of words.

    >>> Bag().factor(np.array([-2, 1])).values.toarray().tolist()
    [[1.0], [1.0]]
    """

    def factor(self, positions: NDArray[np.integer]) -> Features:
        """A factor of the similarities, a row a position."""
        return Features(sp.csr_array(np.ones((len(positions), 1))), Names.of(["anywhere"]))


BAG = Bag()


@dataclass(frozen=True)
class Strict:
    """Each position like itself only: ``P̂ = I``.

    >>> Strict().factor(np.array([-2, 1])).values.toarray().tolist()
    [[1.0, 0.0], [0.0, 1.0]]
    """

    def factor(self, positions: NDArray[np.integer]) -> Features:
        """A factor of the similarities, a row a position."""
        distinct, column = np.unique(np.asarray(positions), return_inverse=True)
        cells = (np.ones(len(positions)), (np.arange(len(positions)), column))
        values = sp.csr_array(cells, shape=(len(positions), len(distinct)))
        return Features(values, Names.of(_signed(p) for p in distinct))


@dataclass(frozen=True)
class Weighting:
    """Near words count more: ``P̂ = diag(u) P̂' diag(u)``, ``u_p = 1/|p|^decay + base``.

    Over the bag of words, the default, this is contextual weighting; the published parameters for
    gene and protein names are 1.5 and 0.025. A kept target weighs as much as a neighbour.

    >>> np.round(Weighting(decay=1.0, base=0.1).factor(np.array([-2, 1])).values.toarray(), 3)
    array([[0.6],
           [1.1]])
    """

    decay: float = 1.5
    base: float = 0.025
    of: PositionTransformation = BAG

    def __post_init__(self) -> None:
        if self.decay < 0 or self.base < 0:
            raise ValueError(
                f"decay and base must not be negative, got decay={self.decay}, base={self.base}"
            )

    def factor(self, positions: NDArray[np.integer]) -> Features:
        """A factor of the similarities, a row a position."""
        return self.of.factor(positions).scaled(self.weights(positions))

    def weights(self, positions: NDArray[np.integer]) -> Vector:
        """The weight of each position."""
        return np.maximum(np.abs(positions), 1).astype(float) ** -self.decay + self.base


@dataclass(frozen=True)
class Sided:
    """Positions on different sides of the target resemble each other less, by a factor ``across``.

    ``P̂_pq = P̂'_pq (ρ + (1 - ρ) [same side])``. ``Weighting(1.5, 0.05, of=Sided(0.5))`` is
    side-aware weighting: a word counts anywhere, and once more on its own side.

    >>> F = Sided(0.5).factor(np.array([-2, -1, 3])).values.toarray()
    >>> np.round(F @ F.T, 3).tolist()
    [[1.0, 1.0, 0.5], [1.0, 1.0, 0.5], [0.5, 0.5, 1.0]]
    """

    across: float = 0.5
    of: PositionTransformation = BAG

    def __post_init__(self) -> None:
        _check_across(self.across)

    def factor(self, positions: NDArray[np.integer]) -> Features:
        """A factor of the similarities, a row a position."""
        inner = self.of.factor(positions)
        side = np.sign(positions)
        own = np.sqrt(1.0 - self.across)
        parts = {"both": inner.scaled(self.across**0.5)} if self.across else {}
        if self.across < 1:
            named = {"before": -1, "target": 0, "after": 1}
            parts |= {name: inner.scaled(own * (side == s)) for name, s in named.items()}
        return _occurring(Features.beside(parts))


@dataclass(frozen=True)
class Within:
    """Only positions at most ``span`` words away count.

    >>> Within(2).factor(np.array([-2, 1, 3])).values.toarray().tolist()
    [[1.0], [1.0], [0.0]]
    """

    span: int
    of: PositionTransformation = BAG

    def __post_init__(self) -> None:
        if self.span < 0:
            raise ValueError(f"span must not be negative, got {self.span}")

    def factor(self, positions: NDArray[np.integer]) -> Features:
        """A factor of the similarities, a row a position."""
        near = (np.abs(positions) <= self.span).astype(float)
        return _occurring(self.of.factor(positions).scaled(near))


@dataclass(frozen=True)
class Smooth:
    """An occurrence also counts at positions nearby: ``P̂_pq = exp(-θ (p - q)²)``.

    Positions beyond the first twelve fall into ``bins`` and stand in the middle of their bin; give
    ``range(1, s + 1)`` to keep s positions apart. ``tolerance`` is the largest error of an entry.

    >>> F = Smooth(theta=0.1).factor(np.array([1, 2, 4])).values.toarray()
    >>> np.round(F @ F.T, 3).tolist()
    [[1.0, 0.905, 0.407], [0.905, 1.0, 0.67], [0.407, 0.67, 1.0]]
    """

    theta: float = 0.1
    bins: Sequence[int] = BINS
    tolerance: float = 1e-12

    def __post_init__(self) -> None:
        _check_smooth(self)

    def factor(self, positions: NDArray[np.integer]) -> Features:
        """A factor of the similarities, a row a position."""
        distances = _middles((0, *self.bins))
        grid = np.concatenate([-distances[:0:-1], distances])
        at = len(self.bins) + np.sign(positions) * _bin(positions, (0, *self.bins))
        return _smooth_factor(self, grid, at, [_signed(p) for p in grid])


@dataclass(frozen=True)
class ScaleFree:
    """Far positions blur, near ones stay sharp: ``P̂_pq = exp(-θ (√|p| - √|q|)²)`` on one side.

    Across the target it is ``across`` times that. ``bins`` and ``tolerance`` as in ``Smooth``.

    >>> F = ScaleFree().factor(np.array([-1, 1, 2])).values.toarray()
    >>> np.round(F @ F.T, 3).tolist()
    [[1.0, 0.0, 0.0], [0.0, 1.0, 0.842], [0.0, 0.842, 1.0]]
    """

    theta: float = 1.0
    across: float = 0.0
    bins: Sequence[int] = BINS
    tolerance: float = 1e-12

    def __post_init__(self) -> None:
        _check_smooth(self)
        _check_across(self.across)

    def factor(self, positions: NDArray[np.integer]) -> Features:
        """A factor of the similarities, a row a position."""
        return Sided(self.across, of=_Distances(self, np.sqrt)).factor(positions)


@dataclass(frozen=True)
class LogScale:
    """Like ``ScaleFree`` on logarithms: ``P̂_pq = exp(-θ (ln|p| - ln|q|)²)`` on one side.

    >>> F = LogScale().factor(np.array([-1, 1, 2])).values.toarray()
    >>> np.round(F @ F.T, 3).tolist()
    [[1.0, 0.0, 0.0], [0.0, 1.0, 0.619], [0.0, 0.619, 1.0]]
    """

    theta: float = 1.0
    across: float = 0.0
    bins: Sequence[int] = BINS
    tolerance: float = 1e-12

    def __post_init__(self) -> None:
        _check_smooth(self)
        _check_across(self.across)

    def factor(self, positions: NDArray[np.integer]) -> Features:
        """A factor of the similarities, a row a position."""
        return Sided(self.across, of=_Distances(self, _logarithm)).factor(positions)


@dataclass(frozen=True)
class Mixture:
    """Weighted sum of transformations, of positions or of words: ``Σ w_j P̂_j``.

    ``Mixture([Bag(), Smooth(0.1)], weights=[0.2, 1.0])`` keeps the topic beside the collocations.

    >>> F = Mixture([Bag(), Strict()], [0.2, 1.0]).factor(np.array([1, 2])).values.toarray()
    >>> np.round(F @ F.T, 3).tolist()
    [[1.2, 0.2], [0.2, 1.2]]
    """

    parts: Sequence[Any] | Mapping[str, Any]
    weights: Sequence[float] | Mapping[str, float]

    def __post_init__(self) -> None:
        parts = self.parts if isinstance(self.parts, Mapping) else _titled(self.parts)
        weights = self.weights
        if not isinstance(weights, Mapping):
            weights = dict(zip(parts, weights, strict=len(parts) == len(weights)))
        if not parts or set(parts) != set(weights) or min(weights.values()) < 0:
            raise ValueError(
                f"weights must be non-negative, one for each of {len(parts)} parts (at least "
                f"one), got {self.weights}"
            )
        object.__setattr__(self, "parts", dict(parts))
        object.__setattr__(self, "weights", {name: float(weights[name]) for name in parts})

    def factor(self, inputs: Any) -> Features:
        """The parts' factors side by side, each times the root of its weight."""
        factors = {name: part.factor(inputs) for name, part in _mapping(self.parts).items()}
        weights = _mapping(self.weights)
        return Features.beside(
            {n: factor.scaled(weights[n] ** 0.5) for n, factor in factors.items()}
        )


@dataclass(frozen=True)
class PositionTable:
    """A similarity of binned positions given as numbers, such as one learned from contexts.

    ``matrix`` is over the bins before the target, farthest first, then those after it.

    >>> near = PositionTable([[1.0, 0.5], [0.5, 1.0]], bins=[1])
    >>> F = near.factor(np.array([-1, 1])).values.toarray()
    >>> np.round(F @ F.T, 3).tolist()
    [[1.0, 0.5], [0.5, 1.0]]
    """

    matrix: Sequence[Sequence[float]]
    bins: Sequence[int] = BINS
    tolerance: float = 1e-12

    def __post_init__(self) -> None:
        object.__setattr__(self, "matrix", tuple(tuple(map(float, row)) for row in self.matrix))
        _check_bins(self)
        side = 2 * len(self.bins)
        P = np.asarray(self.matrix)
        if P.shape != (side, side):
            raise ValueError(f"matrix must be {side} x {side}, two sides of bins, got {P.shape}")
        lowest = np.linalg.eigvalsh(P).min()
        if not np.allclose(P, P.T) or lowest < -1e-8 * np.abs(P).max():
            raise ValueError(
                f"matrix must be symmetric and positive semidefinite, its lowest eigenvalue is "
                f"{lowest:.3g}. Project it first, as learn_positions does."
            )

    def factor(self, positions: NDArray[np.integer]) -> Features:
        """A factor of the similarities, a row a position."""
        P = np.asarray(self.matrix)
        R, pivots = pivoted_cholesky(P, self.tolerance * max(float(np.abs(P).max()), 1e-300))
        distances = _middles(self.bins)
        grid = np.concatenate([-distances[::-1], distances])
        names = Names.of(f"like {_signed(grid[p])}" for p in pivots)
        return Features(sp.csr_array(R[bin_positions(positions, self.bins)]), names)


def bin_positions(positions: NDArray[np.integer], bins: Sequence[int] = BINS) -> Indices:
    """The bin of each position: 0 ... b-1 before the target, farthest first, b ... 2b-1 after.

    A kept target counts as the word after it.

    >>> bin_positions(np.array([-2, -1, 1, 9]), bins=[1, 2])
    array([0, 1, 2, 3])
    """
    bin_of = _bin(positions, bins)
    return len(bins) + np.where(np.asarray(positions) < 0, -1 - bin_of, bin_of)


@dataclass(frozen=True)
class _Distances:
    """The similarity of distances alone, whatever the side."""

    smooth: ScaleFree | LogScale
    scale: Callable[[Vector], Vector]

    def factor(self, positions: NDArray[np.integer]) -> Features:
        bins = (0, *self.smooth.bins)
        distances = _middles(bins)
        names = [f"{d:g}" for d in distances]
        return _smooth_factor(self.smooth, self.scale(distances), _bin(positions, bins), names)


def _logarithm(distances: Vector) -> Vector:
    return np.log(np.maximum(distances, 1.0))


def _smooth_factor(
    smooth: Smooth | ScaleFree | LogScale, grid: Vector, at: Indices, names: Sequence[str]
) -> Features:
    P = np.exp(-smooth.theta * (grid[:, None] - grid[None, :]) ** 2)
    R, pivots = pivoted_cholesky(P, smooth.tolerance)
    return Features(sp.csr_array(R[at]), Names.of(f"near {names[p]}" for p in pivots))


def _bin(positions: NDArray[np.integer], starts: Sequence[int]) -> Indices:
    found = np.searchsorted(np.asarray(starts), np.abs(positions), side="right") - 1
    return np.maximum(found, 0)


def _middles(bins: Sequence[int]) -> Vector:
    starts = np.asarray(bins, dtype=np.float64)
    ends = np.append(starts[1:] - 1, starts[-1])
    return (starts + ends) / 2


def _occurring(F: Features) -> Features:
    used = np.flatnonzero(np.asarray((F.values != 0).sum(axis=0)).ravel())
    if len(used) == len(F.names):
        return F
    return Features(sp.csr_array(sp.csc_array(F.values)[:, used]), F.names.take(used))


def _mapping(setting: Any) -> dict[str, Any]:
    return dict(setting)


def _titled(parts: Sequence[Any]) -> dict[str, Any]:
    """Each part under the name of its class, numbered where one occurs twice."""
    kinds = [type(part).__name__ for part in parts]
    names = [k if kinds.count(k) == 1 else f"{k}_{i}" for i, k in enumerate(kinds, 1)]
    return dict(zip(names, parts, strict=True))


def _signed(position: float) -> str:
    return f"{position:+g}"


def _check_bins(settings: Any) -> None:
    bins = tuple(int(b) for b in settings.bins)
    object.__setattr__(settings, "bins", bins)
    if not bins or bins[0] != 1 or any(b <= a for a, b in pairwise(bins)):
        raise ValueError(f"bins must start at 1 and grow, got {bins}")
    if not 0 < settings.tolerance < 1:
        raise ValueError(f"tolerance must lie between 0 and 1, got {settings.tolerance}")


def _check_smooth(settings: Any) -> None:
    _check_bins(settings)
    if not settings.theta > 0:
        raise ValueError(f"theta must be positive, got {settings.theta}")


def _check_across(across: float) -> None:
    if not 0 <= across <= 1:
        raise ValueError(f"across must lie between 0 and 1, got {across}")
