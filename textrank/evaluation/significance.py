"""Whether two results differ: tests on paired values, effect sizes, and many tests at once.

All tests are two-sided and take values in pairs: the same fold, query or document measured for
both runs.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.stats import f as f_distribution
from scipy.stats import false_discovery_control, wilcoxon

from textrank.ties import TIE_TOLERANCE, rank_ties
from textrank.types import Matrix, Vector


@dataclass(frozen=True)
class Significance:
    """The outcome of a test: how probable a difference this large is where there is none."""

    test: str
    statistic: float | None  # None: not defined for these values
    p: float | None
    pairs: int


@dataclass(frozen=True)
class Effect:
    """How large a difference is, which a p-value does not say."""

    mean: float  # of second minus first
    d: float | None  # Cohen's d of the pairs: mean over standard deviation; None without spread
    rank_biserial: float | None  # -1 .. 1: surplus of ranks that favour the second
    wins: int  # pairs where the second is larger
    losses: int
    ties: int


def combined_5x2cv_f(first: ArrayLike, second: ArrayLike) -> Significance:
    """Combined 5×2cv F-test: five divisions in two halves, each half tested once.

    With differences ``d[i, j]`` and ``s²[i]`` the sum of squares of row ``i`` around its mean,
    ``f = sum(d²) / (2 sum(s²))`` follows F(10, 5) where both runs are equally good. Undefined where
    both halves differ alike in all five divisions, unless nothing differs at all, which is p = 1.

    Alpaydin (1999), Neural Computation 11(8):1885-1892.

    Parameters
    ----------
    first, second : (5, 2) values of the measure
    """
    d = _differences(first, second, shape=(5, 2))
    spread = float(((d - d.mean(axis=1, keepdims=True)) ** 2).sum())
    if not d.any():
        return Significance("5x2cv F", 0.0, 1.0, d.size)
    # Equal halves differ by round-off, which must not become a large statistic.
    if spread <= 1e-20 * float((d**2).sum()):
        return Significance("5x2cv F", None, None, d.size)
    statistic = float((d**2).sum()) / (2 * spread)
    return Significance("5x2cv F", statistic, float(f_distribution.sf(statistic, 10, 5)), d.size)


def wilcoxon_signed_ranks(first: ArrayLike, second: ArrayLike) -> Significance:
    """Wilcoxon's signed-ranks test; the smaller of the two sums of ranks is the statistic.

    Ranks of pairs without a difference are shared between both sides. The distribution is exact up
    to 13 pairs, and up to 50 where no two differences are equally large and none is zero.
    """
    d = _differences(first, second)
    if not len(d):
        return Significance("Wilcoxon", None, None, 0)
    if not d.any():
        return Significance("Wilcoxon", 0.0, 1.0, len(d))
    up, down = _rank_sums(d)
    if len(d) <= 13:
        return Significance("Wilcoxon", min(up, down), _exact_ranks(d), len(d))
    result = wilcoxon(d, zero_method="zsplit")
    return Significance("Wilcoxon", min(up, down), float(result.pvalue), len(d))


def permutation_test(
    first: ArrayLike, second: ArrayLike, *, resamples: int = 9999, seed: int = 0
) -> Significance:
    """Permutation test of the mean difference: which run a value belongs to is exchanged.

    All ``2**n`` exchanges are tried where that is no more than ``resamples``, otherwise a sample of
    them to which the observed one is added, so p is never 0.
    """
    d = _differences(first, second)
    if resamples < 1:
        raise ValueError(f"resamples must be at least 1, got {resamples}")
    if not len(d):
        return Significance("permutation", None, None, 0)
    observed = float(d.mean())
    exact = len(d) < 63 and 2 ** len(d) <= resamples
    sums = np.abs(_signs(len(d), resamples, seed, exact) @ d)
    reached = int((sums >= abs(d.sum()) * (1 - 1e-12)).sum())
    p = reached / 2 ** len(d) if exact else (reached + 1) / (resamples + 1)
    return Significance("permutation", observed, p, len(d))


def effect(first: ArrayLike, second: ArrayLike) -> Effect:
    """The size of the difference, second minus first, in several forms."""
    d = _differences(first, second)
    if not len(d):
        raise ValueError("no pair of values to compare: the runs share no defined fold")
    spread = float(d.std(ddof=1)) if len(d) > 1 else 0.0
    scale = max(float(np.abs(d).max()), 1e-300)
    up, down = _rank_sums(d)
    return Effect(
        mean=float(d.mean()),
        d=float(d.mean()) / spread if spread > 1e-12 * scale else None,
        rank_biserial=(up - down) / (up + down) if d.any() else None,
        wins=int((d > 0).sum()),
        losses=int((d < 0).sum()),
        ties=int((d == 0).sum()),
    )


def holm(p: Sequence[float]) -> list[float]:
    """p-values corrected for their number by Holm's method: keeps the chance of any false alarm.

    >>> [round(value, 3) for value in holm([0.01, 0.04, 0.03])]
    [0.03, 0.06, 0.06]
    """
    values = _probabilities(p)
    order = np.argsort(values, kind="stable")
    steps = values[order] * np.arange(len(values), 0, -1)
    corrected = np.empty_like(values)
    corrected[order] = np.minimum(np.maximum.accumulate(steps), 1.0)
    return [float(value) for value in corrected]


def benjamini_hochberg(p: Sequence[float]) -> list[float]:
    """p-values corrected to keep the expected share of false alarms among all alarms."""
    values = _probabilities(p)
    if not len(values):
        return []
    return [float(value) for value in false_discovery_control(values, method="bh")]


def _differences(
    first: ArrayLike, second: ArrayLike, shape: tuple[int, ...] | None = None
) -> Vector:
    a, b = np.asarray(first, dtype=np.float64), np.asarray(second, dtype=np.float64)
    if a.shape != b.shape or (shape is not None and a.shape != shape):
        wanted = f"{shape} each" if shape else "equally many"
        raise ValueError(f"values come in pairs: got shapes {a.shape} and {b.shape}, need {wanted}")
    if not (np.isfinite(a).all() and np.isfinite(b).all()):
        raise ValueError("values must be finite numbers: leave out folds without a defined measure")
    difference = b - a
    # Values that differ by round-off are equal: they count as ties, not as wins.
    scale = max(float(np.abs(a).max(initial=0)), float(np.abs(b).max(initial=0)))
    difference[np.abs(difference) <= TIE_TOLERANCE * scale] = 0
    return difference if shape else difference.ravel()


def _rank_sums(d: Vector) -> tuple[float, float]:
    """Sums of the ranks of positive and of negative differences, those of zeros shared."""
    ranks = rank_ties(np.abs(d))
    shared = float(ranks[d == 0].sum()) / 2
    return float(ranks[d > 0].sum()) + shared, float(ranks[d < 0].sum()) + shared


def _exact_ranks(d: Vector) -> float:
    """Two-sided p over all signs of the non-zero differences, also with ties."""
    ranks = rank_ties(np.abs(d))[d != 0]
    surplus = np.abs(_signs(len(ranks), 0, 0, exact=True) @ ranks)
    observed = abs(float(np.sign(d[d != 0]) @ ranks))
    return float((surplus >= observed - 1e-9).mean())


def _signs(n: int, resamples: int, seed: int, exact: bool) -> Matrix:
    if exact:
        bits = (np.arange(2**n)[:, None] >> np.arange(n)) & 1
    else:
        bits = np.random.default_rng(seed).integers(0, 2, size=(resamples, n))
    return (2 * bits - 1).astype(np.float64)


def _probabilities(p: Sequence[float]) -> Vector:
    values = np.asarray(p, dtype=np.float64)
    if values.ndim != 1 or ((values < 0) | (values > 1) | np.isnan(values)).any():
        raise ValueError(f"p-values lie between 0 and 1, got {list(p)}")
    return values
