"""Metrics of scores and decisions, and choices that round-off cannot change.

The sections are: ties between scores and choices among settings; metrics of a list of scores (AUC,
precision, recall and F, thresholds, ranking metrics) and their averages over queries; curves and
calibration. Labels ``y`` are positive where they are above 0, unless a metric takes graded labels.
A metric that is undefined, for example because a class is missing, is None.

Two candidates with the same features have the same score in theory, but sums in another order (by
another processor, BLAS or number of threads) give scores that differ in the last digits. Metrics,
thresholds and choices of parameters must not depend on these digits. So scores are tied when they
differ by at most ``TIE_TOLERANCE`` times the largest absolute score, and settings are equally good
when their qualities differ by at most that share of the best one.

Ties are found in sorted order: a new group begins where the gap to the previous score exceeds the
tolerance. Rounding to a grid would instead separate two close scores on either side of a grid line.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Literal, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from textrank.features import Indices, Vector

MAX_COUNTED_CLASSES = 16  # labels of up to this many values are counted class by class
MAX_PAIRWISE_CANDIDATES = 200  # lists of up to this length are compared pair by pair
TIE_TOLERANCE = 1e-9  # relative to the largest absolute score, or to the best quality


def tie_tolerance(scores: ArrayLike) -> float:
    """Return the largest difference between two neighbouring scores that are tied.

    TIE_TOLERANCE times the largest absolute score; 0 without scores.

    >>> tie_tolerance([-2.0, 1.0])
    2e-09
    """
    values = np.asarray(scores, dtype=np.float64)
    return TIE_TOLERANCE * float(max(values.max(), -values.min())) if values.size else 0.0


def sort_ties(scores: ArrayLike) -> tuple[Indices, Indices]:
    """Sort scores in ascending order and find the groups of tied ones.

    Neighbours in the order are tied if they differ by at most ``TIE_TOLERANCE`` times the largest
    absolute score. Ties are chained: the ends of a long group may differ by more.

    Parameters
    ----------
    scores
        One finite number per candidate (n,); this is not checked.

    Returns
    -------
    order
        Indices (n,) that sort the scores. The order inside a group of ties is unspecified.
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
    of several dimensions each line along ``axis`` is treated on its own. Scores must be finite. A
    1-D float array that needs no change is returned itself, not copied.

    >>> merge_ties([1.0, 1.0 + 1e-15, 2.0]).tolist()
    [1.0, 1.0, 2.0]
    """
    values = np.asarray(scores, dtype=np.float64)
    if values.ndim == 1:  # the same, quicker for the short lists of a query
        gaps = np.diff(np.sort(values))
        if not ((gaps > 0) & (gaps <= tie_tolerance(values))).any():
            return values  # scores are equal or far apart
        order, starts = sort_ties(values)
        merged = np.empty_like(values)
        merged[order] = np.repeat(values[order[starts]], np.diff(starts, append=len(values)))
        return merged
    order, ranked, starts = _sort_lines(values, axis)
    merged = np.empty_like(ranked)
    np.put_along_axis(merged, order, np.take_along_axis(ranked, starts, -1), -1)
    return np.moveaxis(merged, -1, axis)


def rank_ties(scores: ArrayLike, axis: int = -1) -> NDArray[np.float64]:
    """Return the rank of each score from 1 in ascending order; tied scores share the mean rank.

    In an array of several dimensions each line along ``axis`` is ranked on its own; the shape is
    kept. Scores must be finite.

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

    Like ``np.argmax``, but round-off among tied scores does not change the answer: a score is tied
    if it is at most ``TIE_TOLERANCE`` times the largest absolute score of its line below the
    largest one. The result has the shape of ``scores`` without ``axis``. Scores must be finite and
    not empty along the axis.

    >>> argmax_first([[0.3, 0.1 + 0.2], [0.1, 0.9]]).tolist()
    [0, 1]
    """
    values = np.asarray(scores, dtype=np.float64)
    tolerance = TIE_TOLERANCE * np.abs(values).max(axis=axis, keepdims=True)
    return np.asarray(np.argmax(values >= values.max(axis=axis, keepdims=True) - tolerance, axis))


def is_tied_with_best(qualities: ArrayLike) -> NDArray[np.bool_]:
    """Return which settings are as good as the best one, as a mask; larger qualities are better.

    A quality counts as the best if it is at most ``TIE_TOLERANCE`` times the best one below it.
    Errors are given with a minus sign; two errors that both are round-off of zero (below
    ``TIE_TOLERANCE**2`` of the largest one) are equal too. NaN is worse than any number and counts
    as -inf. At least one entry of the mask is True; ``qualities`` (1-D) must not be empty.

    >>> is_tied_with_best([0.8, 0.9, 0.9 - 1e-14]).tolist()
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
    """Return the index of the first setting that is as good as the best, see ``is_tied_with_best``.

    Larger ``qualities`` are better; they must not be empty.

    >>> choose_first([0.8, 0.9 - 1e-14, 0.9])
    1
    """
    return int(np.argmax(is_tied_with_best(qualities)))


def choose_largest(qualities: ArrayLike, parameters: Sequence[float] | Vector) -> int:
    """Return the index of the largest parameter, such as alpha, among the equally good settings.

    Larger ``qualities`` are better; equally good with the best are those within its round-off, see
    ``is_tied_with_best``. Where several have the largest parameter, the last one is returned.

    >>> choose_largest([0.9, 0.9 - 1e-14, 0.8], [1.0, 10.0, 100.0])
    1
    """
    good: list[int] = np.flatnonzero(is_tied_with_best(qualities)).tolist()
    return max(good, key=lambda index: (parameters[index], index))


def _sort_lines(scores: ArrayLike, axis: int) -> tuple[Indices, NDArray[np.float64], Indices]:
    """Return order, sorted scores and the start of each one's tie group, ``axis`` moved last.

    All three have the shape of ``scores`` with ``axis`` last. ``order`` sorts each line in
    ascending order; ``starts`` has the position in the sorted line at which the group of a score
    begins.
    """
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


Metric: TypeAlias = Callable[[Vector, Vector], float | None]
Queries: TypeAlias = Sequence[object] | NDArray[np.generic]  # the query of each candidate


class PRF(NamedTuple):
    """Precision, recall and F1; None where a denominator is zero."""

    precision: float | None  # None if no decision is positive
    recall: float | None  # None if there is no gold positive
    f: float | None  # None if there is neither


@dataclass(frozen=True)
class QueryMean:
    """Metric averaged over queries, with the numbers of queries where it is (un)defined.

    ``mean`` is over the defined ones, and None if there is none.
    """

    mean: float | None
    defined: int
    undefined: int


def auc(y: ArrayLike, scores: ArrayLike) -> float | None:
    """Return the share of (positive, negative) pairs in the right order, ties ½.

    A label is positive where it is above 0; scores equal up to round-off are tied. None with one
    class only. Raises ValueError unless labels and scores are finite and of equal length. The
    Wilcoxon-Mann-Whitney statistic from sorted scores, O(n log n).

    >>> auc([1, 1, -1, -1], [3.0, 1.0, 1.0, 0.0])
    0.875
    """
    labels, values = _check_pair(y, scores)
    positive = labels > 0
    p = int(positive.sum())
    n = len(labels) - p
    if not p or not n:
        return None
    order, starts = sort_ties(values)
    tied_positives = np.add.reduceat(positive[order], starts, dtype=np.float64)
    tied_negatives = np.diff(np.append(starts, len(order))) - tied_positives
    lower_negatives = np.cumsum(tied_negatives) - tied_negatives
    return float(tied_positives @ (lower_negatives + tied_negatives / 2) / (p * n))


def decide(scores: ArrayLike, threshold: float) -> NDArray[np.bool_]:
    """Return True for each score that is at least the threshold.

    >>> decide([0.9, 0.5, 0.3], 0.5).tolist()
    [True, True, False]
    """
    return np.asarray(scores, dtype=np.float64) >= threshold


def precision_recall_f(y: ArrayLike, decisions: ArrayLike, unreachable: int = 0) -> PRF:
    """Return precision, recall and F of yes/no decisions.

    ``y`` are labels and ``decisions`` answers, both positive where they are above 0.
    ``unreachable`` gold positives had no candidate at all; each counts as missed. Raises ValueError
    if it is negative, lengths differ or a value is not finite. See ``PRF`` for what is None.
    ``F = 2 tp / (2 tp + fp + fn)``, so it is 0, not undefined, when everything was missed.

    >>> precision_recall_f([1, 1, -1, -1], [True, False, True, False], unreachable=1)
    PRF(precision=0.5, recall=0.3333333333333333, f=0.4)
    """
    if unreachable < 0:
        raise ValueError(
            f"unreachable is a number of gold positives, at least 0, got {unreachable}"
        )
    labels, answers = _check_pair(y, np.asarray(decisions, dtype=np.float64))
    is_positive, is_answered = labels > 0, answers > 0
    hit = int((is_positive & is_answered).sum())
    answered, gold = int(is_answered.sum()), int(is_positive.sum()) + unreachable
    return PRF(_ratio(hit, answered), _ratio(hit, gold), _ratio(2 * hit, answered + gold))


def best_threshold(y: ArrayLike, scores: ArrayLike, unreachable: int = 0) -> float | None:
    """Return the threshold of maximal F, midway between neighbouring scores.

    A label is positive where it is above 0, and a score at or above the threshold means yes; tied
    scores are not separated. ``unreachable`` gold positives had no candidate and count as missed.
    None without a positive. Of several with the same F, the highest is returned, which decides yes
    least often. If deciding yes for all is best, it lies below the lowest score by the tolerance of
    ties. F is optimistic on the data that the threshold was chosen on: choose on training data.
    Raises ValueError unless labels and scores are finite and of equal length.

    >>> best_threshold([1, 1, -1, -1], [0.9, 0.5, 0.3, 0.1])
    0.4
    """
    labels, values = _check_pair(y, scores)
    if not (labels > 0).any():
        return None
    thresholds, hit, answered = _thresholds(np.asarray(labels > 0, dtype=np.float64), values)
    gold = int((labels > 0).sum()) + unreachable
    # The cuts run from the highest threshold downwards.
    return float(thresholds[choose_first(2 * hit / (answered + gold))])


def expected_f_threshold(scores: ArrayLike, probabilities: ArrayLike) -> float | None:
    """Return the threshold of maximal expected F, given only the probability of each candidate.

    ``probabilities`` has one entry per score. Expected F is ``2 Σ_answered p / (answered + Σ p)``;
    of several thresholds with the same F the highest is returned. No label is used, so that it
    suits all candidates, also where those with labels were not drawn at random. If deciding yes for
    all is best, the threshold lies below the lowest score. None without candidates. Raises
    ValueError for values that are not finite; that both have one length is not checked.

    >>> expected_f_threshold([0.9, 0.5, 0.3, 0.1], [0.9, 0.8, 0.1, 0.0])
    0.4
    """
    values, p = _check_finite("scores", scores), _check_finite("probabilities", probabilities)
    if not len(values):
        return None
    thresholds, hit, answered = _thresholds(p, values)
    return float(thresholds[choose_first(2 * hit / (answered + p.sum()))])


def positive_rate_threshold(scores: ArrayLike, rate: float) -> float | None:
    """Return the threshold that decides yes for a share ``rate`` of the candidates.

    As nearly as ties allow; of two that are equally near, the higher threshold. None without any
    candidate. A rate of 0 gives a threshold just above the highest score. Raises ValueError for a
    rate outside 0 ... 1 or scores that are not finite.

    >>> positive_rate_threshold([0.9, 0.5, 0.3, 0.1], 0.25)
    0.7
    """
    values = _check_finite("scores", scores)
    if not 0 <= rate <= 1:
        raise ValueError(f"rate is a share of the candidates, between 0 and 1, got {rate}")
    if not len(values):
        return None
    thresholds, _, answered = _thresholds(np.ones_like(values), values)
    highest = float(values.max())
    above_all = max(highest + tie_tolerance(values), np.nextafter(highest, np.inf))
    distance = np.abs(np.append(0, answered) - rate * len(values))
    return float(np.append(above_all, thresholds)[choose_first(-distance)])


def recall_at_precision(
    y: ArrayLike, scores: ArrayLike, precision: float, unreachable: int = 0
) -> float | None:
    """Return the highest recall of any threshold whose precision is at least ``precision``.

    A label is positive where it is above 0; tied scores are decided together. 0 if no threshold
    reaches it (to 1e-9 of ``precision``), None without a gold positive. ``unreachable`` gold
    positives had no candidate and count as missed, also if there are no candidates at all. Raises
    ValueError unless labels and scores are finite and of equal length.

    >>> recall_at_precision([1, -1, 1], [0.9, 0.5, 0.3], 0.9)
    0.5
    """
    labels, values = _check_pair(y, scores)
    gold = int((labels > 0).sum()) + unreachable
    if not gold:
        return None
    if not len(labels):
        return 0.0
    _, hit, answered = _thresholds(np.asarray(labels > 0, dtype=np.float64), values)
    is_precise = hit >= precision * answered * (1 - TIE_TOLERANCE)
    return float(np.max(np.where(is_precise, hit, 0)) / gold)


def average_precision(y: ArrayLike, scores: ArrayLike) -> float | None:
    """Return the precision at each threshold, weighted by the recall gained there.

    A label is positive where it is above 0; None without a positive. Candidates with tied scores
    are decided together, so that their order has no influence. Raises ValueError unless labels and
    scores are finite and of equal length.

    >>> round(average_precision([1, -1, 1], [0.9, 0.5, 0.3]), 3)
    0.833
    """
    labels, values = _check_pair(y, scores)
    if not (labels > 0).any():
        return None
    _, hit, answered = _thresholds(np.asarray(labels > 0, dtype=np.float64), values)
    gained = np.diff(hit, prepend=0) / hit[-1]
    return float((gained * hit / answered).sum())


def accuracy(y: ArrayLike, decisions: ArrayLike) -> float | None:
    """Return the share of right decisions; None without candidates.

    Labels and decisions are positive where they are above 0. Raises ValueError unless they are
    finite and of equal length.

    >>> accuracy([1, 1, -1, -1], [True, False, False, False])
    0.75
    """
    labels, answers = _check_pair(y, np.asarray(decisions, dtype=np.float64))
    return _ratio(int(((labels > 0) == (answers > 0)).sum()), len(labels))


def error_rate(y: ArrayLike, decisions: ArrayLike) -> float | None:
    """Return the share of wrong decisions; None without candidates.

    Labels and decisions are positive where they are above 0. Raises ValueError unless they are
    finite and of equal length.

    >>> error_rate([1, 1, -1, -1], [True, False, False, False])
    0.25
    """
    right = accuracy(y, decisions)
    return None if right is None else 1 - right


def kendall_tau_b(y: ArrayLike, scores: ArrayLike) -> float | None:
    """Return Kendall's rank correlation tau_b of labels and scores, -1 ... 1, corrected for ties.

    Labels are tied where they are equal, scores up to round-off. None if labels or scores are all
    tied, or there are fewer than two. Raises ValueError unless both are finite and of equal length.

    >>> round(kendall_tau_b([1, 2, 3, 4], [0.1, 0.2, 0.4, 0.3]), 3)
    0.667
    """
    labels, values = _check_pair(y, scores)
    if len(labels) > MAX_PAIRWISE_CANDIDATES and _find_classes(labels) is None:
        return _kendall_statistic(labels, merge_ties(values))
    pairs = _compare_pairs(labels, values)
    if not pairs.labelled or not pairs.scored:
        return None
    tau = pairs.surplus / math.sqrt(pairs.labelled * pairs.scored)
    return min(max(tau, -1.0), 1.0)  # round-off may exceed them


def disagreement(y: ArrayLike, scores: ArrayLike) -> float | None:
    """Return the share of pairs with different labels whose scores are in the wrong order, ties ½.

    Labels differ unless exactly equal; scores equal up to round-off are tied. None without such a
    pair. With two classes it is ``1 - auc``. O(n log n): the surplus of right over wrong pairs is
    the numerator of Kendall's tau. Raises ValueError unless labels and scores are finite and of
    equal length.

    >>> round(disagreement([1, 2, 3], [0.1, 0.3, 0.2]), 3)
    0.333
    """
    pairs = _compare_pairs(*_check_pair(y, scores))
    return float((1 - pairs.surplus / pairs.labelled) / 2) if pairs.labelled else None


def ndcg(
    y: ArrayLike,
    scores: ArrayLike,
    *,
    k: int | None = None,
    gain: Literal["linear", "exponential"] = "linear",
) -> float | None:
    """Return the discounted cumulative gain of the ranking, divided by that of the best ranking.

    The gain of a candidate is its label ``y`` ("linear") or ``2**y - 1`` ("exponential"), its
    discount ``1 / log2(1 + rank)``, over the first ``k`` ranks (None: all). Candidates with tied
    scores share the mean of their discounts. None if all gains are 0. Raises ValueError for a
    negative label, an unknown gain, ``k`` below 1, and unless labels and scores are finite and of
    equal length.

    >>> round(ndcg([2, 0, 1], [0.9, 0.5, 0.3]), 3)
    0.95
    """
    labels, values = _check_pair(y, scores)
    if len(labels) and labels.min() < 0:
        raise ValueError(
            f"NDCG needs labels of at least 0, got {labels.min()}. Shift or map them first."
        )
    if gain not in ("linear", "exponential"):
        raise ValueError(f"gain must be 'linear' or 'exponential', got {gain!r}")
    if k is not None and k < 1:
        raise ValueError(f"k is a number of ranks, at least 1, got {k}")
    gains = labels if gain == "linear" else np.exp2(labels) - 1
    if not (gains > 0).any():
        return None
    discounts = 1 / np.log2(np.arange(len(labels)) + 2)
    discounts[k if k is not None else len(labels) :] = 0
    order, starts = _sort_descending(values)
    sizes = np.diff(np.append(starts, len(labels)))
    shared = np.add.reduceat(discounts, starts) / sizes
    best = float(np.sort(gains)[::-1] @ discounts)
    return float(np.add.reduceat(gains[order], starts) @ shared) / best


def average_over_queries(
    metric: Metric, y: ArrayLike, scores: ArrayLike, queries: Queries
) -> QueryMean:
    """Compute a metric within each query and average it; queries without a value are counted.

    ``metric`` takes labels and scores of one query and returns None where it is undefined; such
    queries are left out of the mean, which is None if no query is left. ``queries`` has the query
    of each candidate, any hashable value; candidates of a query need not be consecutive. Raises
    ValueError if lengths differ or a label or score is not finite.

    The tolerance of ties is that of the scores of all queries, for that is the scale of their
    round-off: a query may have scores near zero only.

    >>> y, scores, queries = [1, 2, 3, 3], [0.1, 0.2, 0.5, 0.7], ["a", "a", "b", "b"]
    >>> average_over_queries(kendall_tau_b, y, scores, queries)
    QueryMean(mean=1.0, defined=1, undefined=1)
    """
    labels, values = _check_pair(y, scores)
    if len(queries) != len(labels):
        raise ValueError(f"{len(queries)} queries for {len(labels)} candidates")
    numbers: dict[object, int] = {}
    index = np.array([numbers.setdefault(q, len(numbers)) for q in queries], dtype=np.intp)
    values = merge_ties(values)
    order = np.argsort(index, kind="stable")
    parts = np.split(order, np.flatnonzero(np.diff(index[order])) + 1) if len(order) else []
    defined = [value for rows in parts if (value := metric(labels[rows], values[rows])) is not None]
    mean = float(np.mean(defined)) if defined else None
    return QueryMean(mean, len(defined), len(parts) - len(defined))


def mean_average_precision(y: ArrayLike, scores: ArrayLike, queries: Queries) -> QueryMean:
    """Return average precision per query, averaged (MAP).

    A label is positive where it is above 0. Queries without a positive are left out of the mean and
    counted as undefined.

    >>> mean_average_precision([1, -1, -1, 1], [0.9, 0.1, 0.8, 0.2], ["a", "a", "b", "b"]).mean
    0.75
    """
    return average_over_queries(average_precision, y, scores, queries)


def classification_metrics(
    y: ArrayLike,
    scores: ArrayLike,
    threshold: float | None,
    unreachable: int = 0,
    *,
    rate: float | None = None,
) -> dict[str, float | None]:
    """Return the metrics of one test fold, with F under up to three thresholds.

    Keys: auc, f, precision, recall, accuracy, average_precision, f_best, f_rate. A label is
    positive where it is above 0. ``threshold`` was chosen on training data; None leaves its metrics
    (f, precision, recall, accuracy) undefined. ``unreachable`` gold positives had no candidate and
    count as missed. ``f_best`` takes the best threshold of the fold itself and is optimistic.
    ``f_rate`` decides yes for the share ``rate``, by default the share of positives among the
    fold's candidates, which a user may know without knowing the answers. Values that are undefined
    are None. Raises ValueError unless labels and scores are finite and of equal length.

    >>> classification_metrics([1, 1, -1], [0.9, 0.2, 0.4], 0.3)["f"]
    0.5
    """
    labels = np.asarray(y, dtype=np.float64)
    values = np.asarray(scores, dtype=np.float64)
    share = rate if rate is not None else float((labels > 0).mean()) if len(labels) else 0.0
    chosen = _metrics_at(labels, values, threshold, unreachable)
    best = _metrics_at(labels, values, best_threshold(labels, values, unreachable), unreachable)
    by_rate = _metrics_at(labels, values, positive_rate_threshold(values, share), unreachable)
    right = None if threshold is None else accuracy(labels, decide(values, threshold))
    return {
        "auc": auc(labels, values),
        **chosen,
        "accuracy": right,
        "average_precision": average_precision(labels, values),
        "f_best": best["f"],
        "f_rate": by_rate["f"],
    }


def ranking_metrics(y: ArrayLike, scores: ArrayLike, queries: Queries) -> dict[str, float | None]:
    """Return Kendall's tau_b, disagreement and NDCG, each averaged over queries.

    Keys: tau, disagreement, ndcg, ndcg@10. NDCG takes the labels as gains, so its two keys are left
    out if a label is negative. A value is None if no query defines the metric. Raises ValueError if
    lengths differ or a label or score is not finite.

    >>> ranking_metrics([1, 2], [0.1, 0.2], ["a", "a"])["tau"]
    1.0
    """
    metrics: dict[str, Metric] = {"tau": kendall_tau_b, "disagreement": disagreement}
    if np.min(np.asarray(y, dtype=np.float64), initial=0) >= 0:
        metrics |= {"ndcg": ndcg, "ndcg@10": partial(ndcg, k=10)}
    return {name: average_over_queries(m, y, scores, queries).mean for name, m in metrics.items()}


def _thresholds(gains: Vector, values: Vector) -> tuple[Vector, Vector, Vector]:
    """Return every distinct threshold in descending order, with what reaches it.

    Returns three arrays with one entry per group of tied scores: thresholds midway between
    neighbouring scores, the summed ``gains`` (one per candidate) and the number of candidates that
    reach each. The last threshold is just below the lowest score, so all reach it. ``values`` must
    not be empty.
    """
    order, starts = _sort_descending(values)
    ranked = values[order]
    ends = np.empty_like(starts)  # of each group of tied scores
    ends[:-1], ends[-1] = starts[1:], len(ranked)
    last = ends - 1
    hit = gains[order].cumsum()[last]
    thresholds = ranked[last]
    thresholds[:-1] += ranked[starts[1:]]
    thresholds[:-1] /= 2
    thresholds[-1] -= TIE_TOLERANCE * max(abs(float(ranked[0])), abs(float(ranked[-1])))
    return thresholds, hit, ends.astype(np.float64)


def _sort_descending(values: Vector) -> tuple[Indices, Indices]:
    """Sort scores in descending order; return the order and where each group of ties starts.

    Starts are positions in the order; the first is 0, also without scores.
    """
    order, starts = sort_ties(values)
    descending = np.zeros(max(len(starts), 1), dtype=np.intp)
    np.subtract(len(order), starts[:0:-1], out=descending[1:])
    return order[::-1], descending


class _PairCounts(NamedTuple):
    """Numbers of unordered pairs of candidates."""

    labelled: int  # with different labels
    scored: int  # with different scores
    surplus: int  # with labels and scores in the same order, minus those in opposite order


def _compare_pairs(labels: Vector, scores: Vector) -> _PairCounts:
    """Count the pairs of candidates by the order of their labels and of their scores.

    Short lists, as those of a query, are compared pair by pair; long ones class by class or, if
    there are many labels, by Kendall's statistic in O(n log n). Labels are equal where they are
    exactly so, and scores where they are tied.
    """
    if len(labels) <= MAX_PAIRWISE_CANDIDATES:
        merged = merge_ties(scores)
        label_order = np.sign(labels[:, None] - labels)
        score_order = np.sign(merged[:, None] - merged)
        labelled, scored = (int((order != 0).sum()) // 2 for order in (label_order, score_order))
        return _PairCounts(labelled, scored, int(label_order.ravel() @ score_order.ravel()) // 2)
    if (classes := _find_classes(labels)) is not None:
        return _count_by_class(classes, labels, scores)
    merged = merge_ties(scores)
    labelled, scored = (
        _count_untied_pairs(np.unique(numbers, return_counts=True)[1])
        for numbers in (labels, merged)
    )
    tau = _kendall_statistic(labels, merged) or 0.0
    surplus = round(tau * np.sqrt(float(labelled)) * np.sqrt(float(scored)))
    return _PairCounts(labelled, scored, surplus)


def _find_classes(labels: Vector) -> Vector | None:
    """Return the distinct labels in ascending order; None if above ``MAX_COUNTED_CLASSES``.

    Many labels are mostly noticed from the first few, without sorting all.
    """
    if len(set(labels[: 2 * MAX_COUNTED_CLASSES].tolist())) > MAX_COUNTED_CLASSES:
        return None
    classes = np.unique(labels)
    return classes if len(classes) <= MAX_COUNTED_CLASSES else None


def _count_by_class(classes: Vector, labels: Vector, scores: Vector) -> _PairCounts:
    """Count pairs by whether scores order them as labels do, with two passes per class.

    ``classes`` are the distinct labels in ascending order; there must be at least one candidate.
    Returns the pairs with different labels, those with different scores, and the pairs in the right
    order minus those in the wrong one.
    """
    order, starts = sort_ties(scores)
    labels = labels[order]
    ends = np.append(starts[1:], len(order))  # of the groups of tied scores
    # Candidates of lower classes up to the end of each group; the first entry is before all groups.
    lower = np.zeros(len(ends) + 1, dtype=np.intp)
    labelled, surplus = 0, 0
    for label in classes:
        of_class = np.zeros_like(lower)
        of_class[1:] = np.cumsum(labels == label)[ends - 1]
        n_pairs = int(lower[-1] * of_class[-1])
        surplus += int(np.diff(of_class) @ (lower[:-1] + lower[1:])) - n_pairs
        labelled += n_pairs
        lower += of_class
    return _PairCounts(labelled, _count_untied_pairs(ends - starts), surplus)


def _kendall_statistic(labels: Vector, scores: Vector) -> float | None:
    """Return Kendall's tau_b of scores whose ties were merged; None if one side is constant.

    None also for fewer than two candidates. Scores count as tied only if they are equal.
    """
    if len(labels) < 2 or np.ptp(labels) == 0 or np.ptp(scores) == 0:
        return None
    from scipy.stats import kendalltau  # loads slowly, and applying a model measures nothing

    return float(kendalltau(labels, scores, variant="b", method="asymptotic").statistic)


def _check_pair(y: ArrayLike, scores: ArrayLike) -> tuple[Vector, Vector]:
    """Return labels and scores as float arrays.

    Raise ValueError unless both are 1-D, of equal length and finite.
    """
    labels, values = _check_finite("labels", y), _check_finite("scores", scores)
    if labels.shape != values.shape:
        raise ValueError(f"{len(labels)} labels for {len(values)} scores")
    return labels, values


def _check_finite(name: str, numbers: ArrayLike) -> Vector:
    """Return numbers as a float array; raise ValueError unless it is 1-D and finite.

    ``name`` is used in the message.
    """
    values = np.asarray(numbers, dtype=np.float64)
    if values.ndim != 1:
        raise ValueError(f"{name} must be one number per candidate, got shape {values.shape}")
    if not np.isfinite(values).all():
        index = int(np.flatnonzero(~np.isfinite(values))[0])
        raise ValueError(f"{name} must be finite numbers: {values[index]} at index {index}")
    return values


def _ratio(part: float, whole: float) -> float | None:
    """Return ``part / whole``; None if ``whole`` is 0."""
    return part / whole if whole else None


def _count_untied_pairs(sizes: Indices) -> int:
    """Return the number of unordered pairs of things in different groups.

    ``sizes`` are the numbers of things in each group; 0 without groups.
    """
    n = int(sizes.sum())
    return (n * n - int(sizes @ sizes)) // 2


def _metrics_at(
    y: NDArray[np.float64], scores: NDArray[np.float64], threshold: float | None, unreachable: int
) -> dict[str, float | None]:
    """Return the keys f, precision and recall at a threshold; all None if it is None.

    A score at or above it means yes; ``unreachable`` is the number of gold positives without a
    candidate, which count as missed.
    """
    if threshold is None:
        return {"f": None, "precision": None, "recall": None}
    precision, recall, f = precision_recall_f(y, decide(scores, threshold), unreachable)
    return {"f": f, "precision": precision, "recall": recall}


@dataclass(frozen=True, eq=False)
class Curve:
    """Points of a curve in order; x never decreases."""

    x: Vector
    y: Vector


@dataclass(frozen=True, eq=False)
class CurveBand:
    """Mean and (population) standard deviation of several curves at the points ``x`` of a grid."""

    x: Vector
    mean: Vector
    std: Vector
    curves: int  # number of curves averaged
    undefined: int  # number of folds without a curve


@dataclass(frozen=True)
class CalibrationBin:
    """Candidates with similar scores: mean score, share of positives and its 95 % interval."""

    score: float  # mean
    share: float  # of positives
    low: float  # 95 % interval of the share
    high: float
    candidates: int


def roc_curve(y: ArrayLike, scores: ArrayLike) -> Curve | None:
    """Return true-positive rate (y) over false-positive rate (x); None with one class only.

    The points go from (0, 0) to (1, 1), one per group of tied scores after the first. A label is
    positive where it is above 0. Tied scores make one slanted step, so that the area below is the
    AUC with ties ½. Raises ValueError if lengths differ.
    """
    hit, answered, positives = _roc_steps(y, scores)
    total = int(answered[-1])
    if not positives or positives == total:
        return None
    return Curve((answered - hit) / (total - positives), hit / positives)


def mean_roc(
    folds: Sequence[tuple[ArrayLike, ArrayLike]], grid: ArrayLike | None = None
) -> CurveBand | None:
    """Average ROC curves vertically: the mean true-positive rate at each false-positive rate.

    ``folds`` holds labels and scores of each test fold; ``grid`` are false-positive rates, by
    default 201 from 0 to 1. Folds with one class are left out and counted as ``undefined``; None if
    no fold has both classes.
    """
    x = np.linspace(0, 1, 201) if grid is None else np.asarray(grid, dtype=np.float64)
    curves = [curve for y, scores in folds if (curve := roc_curve(y, scores)) is not None]
    if not curves:
        return None
    rows = np.array([_interpolate_upper(curve, x) for curve in curves])
    return CurveBand(x, rows.mean(axis=0), rows.std(axis=0), len(curves), len(folds) - len(curves))


def precision_recall_curve(y: ArrayLike, scores: ArrayLike, unreachable: int = 0) -> Curve | None:
    """Return precision (y) over recall (x) at every threshold, from the highest down.

    There is one point per group of tied scores; the conventional point at recall 0 is not added. A
    label is positive where it is above 0; None without a positive among the candidates.
    ``unreachable`` gold positives had no candidate and only lower the recall. Raises ValueError if
    lengths differ.
    """
    hit, answered, positives = _roc_steps(y, scores)
    if not positives:
        return None
    return Curve(hit[1:] / (positives + unreachable), hit[1:] / answered[1:])


def score_calibration(y: ArrayLike, scores: ArrayLike, bins: int = 10) -> list[CalibrationBin]:
    """Return how often candidates are positive, in bins of equally many candidates by score.

    A label is positive where it is above 0. Bins are in ascending order of score. Tied scores stay
    in one bin, so there may be fewer bins; none without candidates. Ties are merged
    (``merge_ties``) before scores are averaged. The edges are quantiles of the scores, and a score
    on an edge belongs to the higher bin, the highest score to the last. The interval is Wilson's.
    Raises ValueError for ``bins`` below 1.
    """
    if bins < 1:
        raise ValueError(f"bins must be at least 1, got {bins}")
    labels, values = np.asarray(y, dtype=np.float64), merge_ties(scores)
    edges = np.unique(np.quantile(values, np.linspace(0, 1, bins + 1))) if len(values) else values
    bin_index = np.clip(np.searchsorted(edges, values, side="right") - 1, 0, max(len(edges) - 2, 0))
    result = []
    for number in np.unique(bin_index):
        in_bin = bin_index == number
        share = float((labels[in_bin] > 0).mean())
        low, high = _wilson_interval(share, int(in_bin.sum()))
        result.append(
            CalibrationBin(float(values[in_bin].mean()), share, low, high, int(in_bin.sum()))
        )
    return result


def reliability(y: ArrayLike, probabilities: ArrayLike, bins: int = 10) -> list[CalibrationBin]:
    """Return how often candidates are positive, in bins of equal width by probability.

    A label is positive where it is above 0. Bins are in ascending order; ``CalibrationBin.score``
    is the mean probability. Empty bins are left out; a probability on an edge belongs to the higher
    bin, 1 to the last. The interval is Wilson's. ``probabilities`` must lie in 0 ... 1 and ``bins``
    be at least 1; neither is checked.
    """
    labels, p = np.asarray(y, dtype=np.float64), np.asarray(probabilities, dtype=np.float64)
    bin_index = np.minimum((p * bins).astype(np.intp), bins - 1)
    result = []
    for number in np.unique(bin_index):
        in_bin = bin_index == number
        share = float((labels[in_bin] > 0).mean())
        low, high = _wilson_interval(share, int(in_bin.sum()))
        result.append(CalibrationBin(float(p[in_bin].mean()), share, low, high, int(in_bin.sum())))
    return result


def calibration_error(y: ArrayLike, probabilities: ArrayLike, bins: int = 10) -> float:
    """Return the mean gap between probability and share of positives over bins of equal width.

    The expected calibration error (ECE): the mean is weighted by the candidates of each bin. 0
    without candidates.

    >>> calibration_error([1, -1, 1, 1], [0.75, 0.75, 0.75, 0.75])
    0.0
    """
    calibration_bins = reliability(y, probabilities, bins)
    total = sum(b.candidates for b in calibration_bins)
    return sum(abs(b.share - b.score) * b.candidates for b in calibration_bins) / max(total, 1)


def chance_calibration_error(probabilities: ArrayLike, *, times: int = 100, seed: int = 0) -> float:
    """Return the calibration error that perfectly calibrated probabilities have by chance.

    The mean of ``calibration_error`` (ten bins) over ``times`` simulations, at least one, in which
    each label is drawn with its probability; the result is the same for the same ``seed``. 0
    without probabilities.
    """
    p, rng = np.asarray(probabilities, dtype=np.float64), np.random.default_rng(seed)
    draws = (np.where(rng.random(len(p)) < p, 1.0, -1.0) for _ in range(times))
    return float(np.mean([calibration_error(y, p) for y in draws]))


def _roc_steps(y: ArrayLike, scores: ArrayLike) -> tuple[Vector, Vector, int]:
    """Return positives and candidates at or above each threshold, and the number of positives.

    A label is positive where it is above 0. Both arrays go from 0 (above all scores) to all, one
    entry per group of tied scores after the first. Raises ValueError if lengths differ.
    """
    labels, values = np.asarray(y, dtype=np.float64), np.asarray(scores, dtype=np.float64)
    if labels.shape != values.shape:
        raise ValueError(f"{len(labels)} labels for {len(values)} scores")
    order, starts = sort_ties(values)
    positives = int((labels > 0).sum())
    lower = np.append(0, np.cumsum(labels[order] > 0))[starts[::-1]]
    hit = np.append(0, positives - lower).astype(np.float64)
    return hit, np.append(0, len(values) - starts[::-1]).astype(np.float64), positives


def _interpolate_upper(curve: Curve, x: Vector) -> Vector:
    """Return the curve's y at each ``x`` by linear interpolation.

    Where the curve rises vertically its highest y is taken, except that y is 0 at ``x`` 0 or below.
    The curve's own x must begin at 0.
    """
    right = np.interp(x, curve.x, curve.y)
    index = np.searchsorted(curve.x, x, side="right") - 1
    result = np.where(curve.x[index] == x, curve.y[index], right)
    return np.where(x <= 0, 0.0, result)


def _wilson_interval(share: float, n: int) -> tuple[float, float]:
    """Return low and high end of the 95 % Wilson interval of a share of ``n`` (at least 1) things.

    The interval always contains ``share``, despite round-off.
    """
    z = 1.959963984540054
    middle = (share + z * z / (2 * n)) / (1 + z * z / n)
    half = z * float(np.sqrt(share * (1 - share) / n + z * z / (4 * n * n))) / (1 + z * z / n)
    return min(max(middle - half, 0.0), share), max(min(middle + half, 1.0), share)  # round-off
