"""Curves of scores against labels, as plain numbers; ``reports.plots`` draws them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from textrank.ties import merge_ties, sort_ties
from textrank.types import Vector


@dataclass(frozen=True, eq=False)
class Curve:
    """Points from left to right."""

    x: Vector
    y: Vector


@dataclass(frozen=True, eq=False)
class Band:
    """The mean of several curves on one grid, with their spread; ``undefined`` had no curve."""

    x: Vector
    mean: Vector
    std: Vector
    curves: int
    undefined: int


@dataclass(frozen=True)
class Bin:
    """Candidates with similar scores: how many there are, and how many of them are positive."""

    score: float  # mean
    share: float  # positives among them
    low: float  # 95 % interval of the share
    high: float
    candidates: int


def roc(y: ArrayLike, scores: ArrayLike) -> Curve | None:
    """True-positive rate over false-positive rate; None with one class only.

    Equal scores are passed in one slanted step, so the area below is the AUC with ties ½.
    """
    hit, answered, positives = _steps(y, scores)
    total = int(answered[-1])
    if not positives or positives == total:
        return None
    return Curve((answered - hit) / (total - positives), hit / positives)


def mean_roc(
    folds: Sequence[tuple[ArrayLike, ArrayLike]], grid: ArrayLike | None = None
) -> Band | None:
    """ROC curves averaged vertically: the mean true-positive rate at each false-positive rate.

    ``folds`` holds labels and scores of each test fold. None where no fold has both classes.
    """
    x = np.linspace(0, 1, 201) if grid is None else np.asarray(grid, dtype=np.float64)
    curves = [curve for y, scores in folds if (curve := roc(y, scores)) is not None]
    if not curves:
        return None
    rows = np.array([_upper(curve, x) for curve in curves])
    return Band(x, rows.mean(axis=0), rows.std(axis=0), len(curves), len(folds) - len(curves))


def precision_recall(y: ArrayLike, scores: ArrayLike, unreachable: int = 0) -> Curve | None:
    """Precision over recall at every threshold, from the highest down; None without a positive."""
    hit, answered, positives = _steps(y, scores)
    if not positives:
        return None
    return Curve(hit[1:] / (positives + unreachable), hit[1:] / answered[1:])


def calibration(y: ArrayLike, scores: ArrayLike, bins: int = 10) -> list[Bin]:
    """How often a score is right: candidates in equally large bins by score.

    Equal scores stay in one bin, so there may be fewer. The interval is Wilson's.
    """
    if bins < 1:
        raise ValueError(f"bins must be at least 1, got {bins}")
    labels, values = np.asarray(y, dtype=np.float64), merge_ties(scores)
    edges = np.unique(np.quantile(values, np.linspace(0, 1, bins + 1))) if len(values) else values
    place = np.clip(np.searchsorted(edges, values, side="right") - 1, 0, max(len(edges) - 2, 0))
    result = []
    for number in np.unique(place):
        at = place == number
        share = float((labels[at] > 0).mean())
        low, high = _wilson(share, int(at.sum()))
        result.append(Bin(float(values[at].mean()), share, low, high, int(at.sum())))
    return result


def reliability(y: ArrayLike, probabilities: ArrayLike, bins: int = 10) -> list[Bin]:
    """How often candidates of a probability are positive, in bins of equal width."""
    labels, p = np.asarray(y, dtype=np.float64), np.asarray(probabilities, dtype=np.float64)
    place = np.minimum((p * bins).astype(np.intp), bins - 1)
    result = []
    for number in np.unique(place):
        at = place == number
        share = float((labels[at] > 0).mean())
        low, high = _wilson(share, int(at.sum()))
        result.append(Bin(float(p[at].mean()), share, low, high, int(at.sum())))
    return result


def calibration_error(y: ArrayLike, probabilities: ArrayLike, bins: int = 10) -> float:
    """The mean gap between probability and share of positives over bins of equal width.

    >>> calibration_error([1, -1, 1, 1], [0.75, 0.75, 0.75, 0.75])
    0.0
    """
    found = reliability(y, probabilities, bins)
    total = sum(b.candidates for b in found)
    return sum(abs(b.share - b.score) * b.candidates for b in found) / max(total, 1)


def expected_error(probabilities: ArrayLike, *, times: int = 100, seed: int = 0) -> float:
    """The calibration error that chance gives probabilities that are all true, simulated."""
    p, rng = np.asarray(probabilities, dtype=np.float64), np.random.default_rng(seed)
    drawn = (np.where(rng.random(len(p)) < p, 1.0, -1.0) for _ in range(times))
    return float(np.mean([calibration_error(y, p) for y in drawn]))


def _steps(y: ArrayLike, scores: ArrayLike) -> tuple[Vector, Vector, int]:
    """Positives and candidates above each threshold, from none to all."""
    labels, values = np.asarray(y, dtype=np.float64), np.asarray(scores, dtype=np.float64)
    if labels.shape != values.shape:
        raise ValueError(f"{len(labels)} labels for {len(values)} scores")
    order, starts = sort_ties(values)
    positives = int((labels > 0).sum())
    lower = np.append(0, np.cumsum(labels[order] > 0))[starts[::-1]]
    hit = np.append(0, positives - lower).astype(np.float64)
    return hit, np.append(0, len(values) - starts[::-1]).astype(np.float64), positives


def _upper(curve: Curve, x: Vector) -> Vector:
    """The curve at ``x``, at its top where it rises vertically (except at 0, where it starts)."""
    right = np.interp(x, curve.x, curve.y)
    at = np.searchsorted(curve.x, x, side="right") - 1
    result = np.where(curve.x[at] == x, curve.y[at], right)
    return np.where(x <= 0, 0.0, result)


def _wilson(share: float, n: int) -> tuple[float, float]:
    z = 1.959963984540054
    middle = (share + z * z / (2 * n)) / (1 + z * z / n)
    half = z * float(np.sqrt(share * (1 - share) / n + z * z / (4 * n * n))) / (1 + z * z / n)
    return min(max(middle - half, 0.0), share), max(min(middle + half, 1.0), share)  # round-off
