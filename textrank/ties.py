"""Ties between scores, and choices that round-off cannot change.

Two candidates with the same features have the same score in theory, but sums in another order (by
another processor, BLAS or number of threads) give scores that differ in the last digits. Metrics,
thresholds and choices of parameters must not depend on these digits. So scores are tied when they
differ by at most ``TIE_TOLERANCE`` times the largest absolute score, and settings are equally good
when their qualities differ by at most that share of the best one.

Ties are found in sorted order: a new group begins where the gap to the previous score exceeds the
tolerance. Rounding to a grid would instead separate two close scores on either side of a grid line.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from textrank.types import Indices, Vector

TIE_TOLERANCE = 1e-9  # relative to the largest absolute score, or to the best quality


def tie_tolerance(scores: ArrayLike) -> float:
    """Return the largest difference between two neighbouring scores that are tied.

    >>> tie_tolerance([-2.0, 1.0])
    2e-09
    """
    values = np.asarray(scores, dtype=np.float64)
    return TIE_TOLERANCE * float(max(values.max(), -values.min())) if values.size else 0.0


def sort_ties(scores: ArrayLike) -> tuple[Indices, Indices]:
    """Sort scores in ascending order and find the groups of tied ones.

    Parameters
    ----------
    scores
        One finite number per candidate.

    Returns
    -------
    order
        Indices that sort the scores. The order inside a group of ties is unspecified.
    starts
        The position in ``order`` at which each group begins; empty without scores.

    >>> order, starts = sort_ties([0.3, 0.1 + 0.2, 0.1])
    >>> order[0].item(), starts.tolist()
    (2, [0, 1])
    """
    values = np.asarray(scores, dtype=np.float64)
    order = np.argsort(values)
    ranked = values[order]
    if not len(ranked):
        return order, order[:0]
    is_start = np.empty(len(ranked), dtype=bool)
    is_start[0] = True
    tolerance = TIE_TOLERANCE * max(abs(float(ranked[0])), abs(float(ranked[-1])))
    np.greater(ranked[1:] - ranked[:-1], tolerance, out=is_start[1:])
    return order, is_start.nonzero()[0]


def merge_ties(scores: ArrayLike, axis: int = -1) -> NDArray[np.float64]:
    """Return the scores with every group of tied scores set to the lowest score of the group.

    The result can be compared with ``==`` and ``<``. Merging it again changes nothing. In an array
    of several dimensions each line along ``axis`` is treated on its own.

    >>> merge_ties([1.0, 1.0 + 1e-15, 2.0]).tolist()
    [1.0, 1.0, 2.0]
    """
    values = np.asarray(scores, dtype=np.float64)
    if values.ndim == 1:  # the same, quicker for the short lists of a query
        order, starts = sort_ties(values)
        if len(starts) == len(values):
            return values
        merged = np.empty_like(values)
        merged[order] = np.repeat(values[order[starts]], np.diff(starts, append=len(values)))
        return merged
    order, ranked, starts = _sort_lines(values, axis)
    merged = np.empty_like(ranked)
    np.put_along_axis(merged, order, np.take_along_axis(ranked, starts, -1), -1)
    return np.moveaxis(merged, -1, axis)


def rank_ties(scores: ArrayLike, axis: int = -1) -> NDArray[np.float64]:
    """Return the rank of each score from 1 in ascending order; tied scores share the mean rank.

    >>> rank_ties([0.5, 0.1, 0.5 + 1e-15]).tolist()
    [2.5, 1.0, 2.5]
    """
    order, ranked, starts = _sort_lines(scores, axis)
    n = ranked.shape[-1]
    is_last = np.ones(ranked.shape, dtype=bool)
    is_last[..., :-1] = starts[..., 1:] != starts[..., :-1]
    ends = np.where(is_last, np.arange(n), n)
    ends = np.minimum.accumulate(ends[..., ::-1], axis=-1)[..., ::-1]
    ranks = np.empty_like(ranked)
    np.put_along_axis(ranks, order, (starts + ends) / 2 + 1, -1)
    return np.moveaxis(ranks, -1, axis)


def argmax_first(scores: ArrayLike, axis: int = -1) -> NDArray[np.intp]:
    """Return the first index along ``axis`` whose score is tied with the largest one.

    Like ``np.argmax``, but round-off among tied scores does not change the answer.

    >>> argmax_first([[0.3, 0.1 + 0.2], [0.1, 0.9]]).tolist()
    [0, 1]
    """
    values = np.asarray(scores, dtype=np.float64)
    tolerance = TIE_TOLERANCE * np.abs(values).max(axis=axis, keepdims=True)
    return np.asarray(np.argmax(values >= values.max(axis=axis, keepdims=True) - tolerance, axis))


def equally_good(qualities: ArrayLike) -> NDArray[np.bool_]:
    """Return which settings are as good as the best one; larger qualities are better.

    A quality counts as the best if it is at most ``TIE_TOLERANCE`` times the best one below it.
    Errors are given with a minus sign; two errors that both are round-off of zero (below
    ``TIE_TOLERANCE**2`` of the largest one) are equal too. NaN is worse than any number.

    >>> equally_good([0.8, 0.9, 0.9 - 1e-14]).tolist()
    [False, True, True]
    """
    values = np.asarray(qualities, dtype=np.float64)
    best, worst = values.max(), values.min()
    if not (np.isfinite(best) and np.isfinite(worst)):
        values = np.where(np.isnan(values), -np.inf, values)
        best = values.max()
        if not np.isfinite(best):
            return np.asarray(values == best)
        worst = values[np.isfinite(values)].min()
    tolerance = TIE_TOLERANCE * abs(best) + TIE_TOLERANCE**2 * max(abs(best), abs(worst))
    return np.asarray(values >= best - tolerance)


def choose_first(qualities: ArrayLike) -> int:
    """Return the index of the first of the equally good settings.

    >>> choose_first([0.8, 0.9 - 1e-14, 0.9])
    1
    """
    return int(np.argmax(equally_good(qualities)))


def choose_largest(qualities: ArrayLike, parameters: Sequence[float] | Vector) -> int:
    """Return the index of the largest parameter, such as alpha, among the equally good settings.

    Where several of them have the largest parameter, the last one is returned.

    >>> choose_largest([0.9, 0.9 - 1e-14, 0.8], [1.0, 10.0, 100.0])
    1
    """
    good: list[int] = np.flatnonzero(equally_good(qualities)).tolist()
    return max(good, key=lambda index: (parameters[index], index))


def _sort_lines(scores: ArrayLike, axis: int) -> tuple[Indices, NDArray[np.float64], Indices]:
    """Return order, sorted scores and the start of each one's tie group, ``axis`` moved last."""
    values = np.moveaxis(np.asarray(scores, dtype=np.float64), axis, -1)
    order = np.argsort(values, axis=-1)
    ranked = np.take_along_axis(values, order, -1)
    starts = np.zeros(ranked.shape, dtype=np.intp)
    if ranked.size:
        largest = np.maximum(np.abs(ranked[..., :1]), np.abs(ranked[..., -1:]))
        is_start = np.diff(ranked, axis=-1) > TIE_TOLERANCE * largest
        starts[..., 1:] = np.where(is_start, np.arange(1, ranked.shape[-1]), 0)
        np.maximum.accumulate(starts, axis=-1, out=starts)
    return order, ranked, starts
