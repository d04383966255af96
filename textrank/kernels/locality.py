"""Locality kernels: similarity of two sequences by the windows around their symbols.

Formula numbers are those of Tsivtsivadze et al. (2009), Applied Intelligence 31:81-88.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from textrank.kernels.window_pairs import WindowPairs
from textrank.kernels.windows import (
    Pattern,
    Windows,
    batch,
    check_positional,
    offset_sets,
    pattern_features,
    positional_matrix,
)
from textrank.linalg.gram import ExplicitKernel
from textrank.types import Features, Matrix, Sequences, Vector, pivoted_cholesky


@dataclass(frozen=True)
class LocalSum(ExplicitKernel[Sequences]):
    """Symbols that match, weighted by what matches around them (11).

    ``G(f, g) = Σ_ik δ(f_i, g_k) Σ_ml P_ml δ(f_{i+m}, g_{k+l})`` for offsets within ``window``.
    ``positional`` is P: "gaussian" ``exp(-(m - l)² / 2θ²)``, "same" (the identity), "any" (all
    ones), or a positive semidefinite matrix. With ``P = R R'`` a feature is (symbol, neighbour,
    component of R): one sparse product for the whole Gram matrix.

    >>> LocalSum(window=1, positional="same")(Sequences.of([["Mp", "Ss"], ["Ss", "Mp"]]))
    array([[4., 2.],
           [2., 4.]])
    """

    window: int = 1
    theta: float = 0.5
    positional: str | Sequence[Sequence[float]] = "gaussian"

    def __post_init__(self) -> None:
        _settle(self)

    def features(self, X: Sequence[Sequences]) -> Features:
        """A column for each symbol, neighbour and component of the positional matrix."""
        P = positional_matrix(self.positional, self.window, self.theta)
        R, pivots = pivoted_cholesky(P, 1e-14)
        patterns = [
            Pattern((0, place - self.window), float(R[place, c]), f"near {p - self.window:+d}")
            for c, p in enumerate(pivots)
            for place in range(len(R))
            if R[place, c]
        ]
        return pattern_features(batch(X), patterns)


@dataclass(frozen=True)
class LocalityConvolution:
    """Symbols that match, multiplied up by what matches around them: the LC kernel (13).

    ``G(f, g) = Σ_ik δ(f_i, g_k) Π_ml (P_ml δ(f_{i+m}, g_{k+l}) + 1)``; ``positional`` as in
    ``LocalSum``. Depends on the two windows only, so ``G = C M C'``: C counts distinct windows, M
    compares each pair with the same centre once.

    >>> LocalityConvolution(window=0)(Sequences.of([["Mp", "Ss"], ["Ss"]]))
    array([[4., 2.],
           [2., 2.]])
    """

    window: int = 1
    theta: float = 0.3
    positional: str | Sequence[Sequence[float]] = "gaussian"

    def __post_init__(self) -> None:
        _settle(self)

    def __call__(self, X: Sequence[Sequences], Y: Sequence[Sequences] | None = None) -> Matrix:
        first = batch(X)
        P = positional_matrix(self.positional, self.window, self.theta)
        if Y is None:
            windows = Windows.of(first, self.window)
            return WindowPairs(windows.symbols, P).gram(windows.counts, None)
        windows = Windows.of(Sequences.below([first, batch(Y)]), self.window)
        counts = windows.counts
        return WindowPairs(windows.symbols, P).gram(counts[: len(first)], counts[len(first) :])

    def diag(self, X: Sequence[Sequences]) -> Vector:
        """The similarity of each input with itself, ``(x,)``."""
        first = batch(X)
        windows = Windows.of(first, self.window)
        P = positional_matrix(self.positional, self.window, self.theta)
        return WindowPairs(windows.symbols, P).diag(windows.counts)


@dataclass(frozen=True)
class LocalityImproved(ExplicitKernel[Sequences]):
    """Powers of the weighted number of matches at equal places of two windows (16, 17).

    ``G(f, g) = Σ_ik (Σ_m D_m δ(f_{i+m}, g_{k+m}))^degree``, ``D_m = 1 + window - |m|``. The centres
    need not match. The power expands into sets of at most ``degree`` places, each set a feature.
    ``Power(LocalityImproved(...), d2)`` is the published outer power.

    Zien et al. (2000), Bioinformatics 16:799-807.

    >>> LocalityImproved(window=1)(Sequences.of([["Mp", "Ss"], ["Ss"]]))
    array([[18.,  4.],
           [ 4.,  4.]])
    """

    window: int = 1
    degree: int = 2

    def __post_init__(self) -> None:
        if self.window < 0 or self.degree < 1:
            raise ValueError(
                f"window must be at least 0 and degree at least 1, got {self.window} and "
                f"{self.degree}"
            )

    def features(self, X: Sequence[Sequences]) -> Features:
        """A column for each set of places and the symbols that stand there."""
        patterns = [
            Pattern(places, self._coefficient(places) ** 0.5, " ".join(f"{m:+d}" for m in places))
            for places in offset_sets(self.window, self.degree)
        ]
        return pattern_features(batch(X), patterns)

    def _coefficient(self, places: tuple[int, ...]) -> float:
        """Of ``Π_{m in places} δ_m`` in ``(Σ_m D_m δ_m)^degree``, by inclusion and exclusion."""
        return float(
            sum(
                (-1) ** (len(places) - n)
                * sum(1 + self.window - abs(m) for m in chosen) ** self.degree
                for n in range(1, len(places) + 1)
                for chosen in combinations(places, n)
            )
        )


@dataclass(frozen=True)
class SpectrumKernel(ExplicitKernel[Sequences]):
    """Shared runs of up to ``length`` symbols: ``Σ_{u=1..length} ⟨u-gram counts⟩`` (18, 19).

    >>> SpectrumKernel(length=2)(Sequences.of([["a", "b"], ["b", "a", "b"]]))
    array([[3., 4.],
           [4., 7.]])
    """

    length: int = 2

    def __post_init__(self) -> None:
        if self.length < 1:
            raise ValueError(f"length must be at least 1, got {self.length}")

    def features(self, X: Sequence[Sequences]) -> Features:
        """A column for each run of symbols."""
        patterns = [Pattern(tuple(range(u))) for u in range(1, self.length + 1)]
        return pattern_features(batch(X), patterns)


@dataclass(frozen=True)
class GapWeighted(ExplicitKernel[Sequences]):
    """Shared subsequences of ``length`` symbols with gaps, each ``decay`` to the stretch it covers.

    ``φ_u(f) = Σ_{i: f[i] = u} decay^(last - first + 1)``. ``stretch`` limits how far a subsequence
    reaches; 0 is no limit, and costs a step for each subsequence there is.

    Lodhi et al. (2002), Journal of Machine Learning Research 2:419-444.

    >>> GapWeighted(length=2, decay=0.5)(Sequences.of([["c", "a", "t"], ["c", "t"]]))[0, 1].item()
    0.03125
    """

    length: int = 2
    decay: float = 0.5
    stretch: int = 0

    def __post_init__(self) -> None:
        if self.length < 1 or not 0 < self.decay <= 1:
            raise ValueError(
                f"length must be at least 1 and decay between 0 and 1, got {self.length} and "
                f"{self.decay}"
            )
        if self.stretch and self.stretch < self.length:
            raise ValueError(
                f"stretch must be 0 (no limit) or at least length {self.length}, got {self.stretch}"
            )

    def features(self, X: Sequence[Sequences]) -> Features:
        """A column for each subsequence."""
        sequences = batch(X)
        reach = self.stretch or int(np.diff(sequences.starts).max(initial=self.length))
        patterns = [
            Pattern((0, *steps), self.decay ** (max(steps, default=0) + 1))
            for steps in combinations(range(1, reach), self.length - 1)
        ]
        return pattern_features(sequences, patterns)


def _settle(settings: LocalSum | LocalityConvolution) -> None:
    if not isinstance(settings.positional, str):
        matrix = tuple(tuple(map(float, row)) for row in settings.positional)
        object.__setattr__(settings, "positional", matrix)
    check_positional(settings.positional, settings.window, settings.theta)
