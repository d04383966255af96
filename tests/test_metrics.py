"""Every measure against an independent implementation, on random and on degenerate data."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.stats
import sklearn.metrics
from hypothesis import given
from hypothesis import strategies as st

from textrank.metrics import (
    PRF,
    accuracy,
    auc,
    average_over_queries,
    average_precision,
    best_threshold,
    decide,
    disagreement,
    error_rate,
    expected_f_threshold,
    kendall_tau_b,
    mean_average_precision,
    ndcg,
    positive_rate_threshold,
    precision_recall_f,
    recall_at_precision,
)

# Few distinct values, so that ties in labels and scores are the rule and not the exception.
small = st.integers(0, 4)
judged = st.lists(st.tuples(st.sampled_from([-1, 1]), small), min_size=0, max_size=14)
ranked = st.lists(st.tuples(small, small), min_size=0, max_size=14)


def columns(rows):
    return np.array([a for a, _ in rows], float), np.array([b for _, b in rows], float)


def f_by_loops(y, scores, threshold, unreachable=0):
    tp = sum(1 for a, s in zip(y, scores, strict=True) if a > 0 and s >= threshold)
    fp = sum(1 for a, s in zip(y, scores, strict=True) if a <= 0 and s >= threshold)
    fn = sum(1 for a, s in zip(y, scores, strict=True) if a > 0 and s < threshold) + unreachable
    return 2 * tp / (2 * tp + fp + fn)


@given(judged)
def test_auc_counts_pairs_in_the_right_order(rows):
    y, scores = columns(rows)
    pairs = [(s, t) for a, s in rows for b, t in rows if a > 0 > b]
    if not pairs:
        assert auc(y, scores) is None
        return
    expected = sum((s > t) + 0.5 * (s == t) for s, t in pairs) / len(pairs)
    assert auc(y, scores) == pytest.approx(expected, abs=1e-12)
    assert auc(y, scores) == pytest.approx(sklearn.metrics.roc_auc_score(y > 0, scores), abs=1e-12)


@given(ranked)
def test_disagreement_counts_pairs_in_the_wrong_order(rows):
    y, scores = columns(rows)
    pairs = [(s, t) for a, s in rows for b, t in rows if a > b]
    if not pairs:
        assert disagreement(y, scores) is None
        return
    expected = sum((s < t) + 0.5 * (s == t) for s, t in pairs) / len(pairs)
    assert disagreement(y, scores) == pytest.approx(expected, abs=1e-12)


@given(ranked)
def test_tau_b_is_the_formula_with_ties(rows):
    y, scores = columns(rows)
    a, b = np.sign(np.subtract.outer(y, y)), np.sign(np.subtract.outer(scores, scores))
    norm = np.sqrt((a**2).sum() * (b**2).sum())
    if norm == 0:
        assert kendall_tau_b(y, scores) is None
        return
    assert kendall_tau_b(y, scores) == pytest.approx((a * b).sum() / norm, abs=1e-12)


@given(judged, st.integers(0, 3))
def test_best_threshold_beats_every_other(rows, unreachable):
    y, scores = columns(rows)
    threshold = best_threshold(y, scores, unreachable)
    if not (y > 0).any():
        assert threshold is None
        return
    every = [
        f_by_loops(y, scores, t, unreachable) for t in [*scores, *(scores + 0.5)] if (y > 0).any()
    ]
    ours = f_by_loops(y, scores, threshold, unreachable)
    assert ours == pytest.approx(max(every))
    assert precision_recall_f(y, decide(scores, threshold), unreachable).f == pytest.approx(ours)


@given(judged.filter(bool))
def test_best_threshold_ignores_the_order_of_candidates(rows):
    y, scores = columns(rows)
    assert best_threshold(y, scores) == best_threshold(y[::-1], scores[::-1])


def test_best_threshold_lies_midway():
    assert best_threshold([1, -1], [3.0, 1.0]) == 2.0
    high = 1.0 + 3e-9  # as close as scores can be that are not tied
    threshold = best_threshold([1, -1], [high, 1.0])
    assert decide([high, 1.0], threshold).tolist() == [True, False]


def test_best_threshold_may_accept_everything():
    threshold = best_threshold([-1, 1], [1.0, 0.5])
    assert 0.5 - 2e-9 < threshold < 0.5


@given(judged, st.integers(0, 3))
def test_precision_recall_f_agree_with_scikit_learn(rows, unreachable):
    y, scores = columns(rows)
    said = scores >= 2
    ours = precision_recall_f(y, said, unreachable)
    # An unreachable gold answer is a positive that was answered no.
    true = np.concatenate([y > 0, np.ones(unreachable, bool)])
    answer = np.concatenate([said, np.zeros(unreachable, bool)])
    if not len(true):
        assert ours == PRF(None, None, None)
        return
    theirs = sklearn.metrics.precision_recall_fscore_support(
        true, answer, labels=[True], zero_division=np.nan
    )
    for mine, other in zip(ours, theirs[:3], strict=True):
        assert (mine is None) == bool(np.isnan(other[0]))
        assert mine is None or mine == pytest.approx(other[0])


@given(judged)
def test_accuracy_and_error_rate_share_the_whole(rows):
    y, scores = columns(rows)
    if not rows:
        assert accuracy(y, scores) is None
        assert error_rate(y, scores) is None
        return
    assert accuracy(y, scores > 1) == sklearn.metrics.accuracy_score(y > 0, scores > 1)
    assert accuracy(y, scores > 1) + error_rate(y, scores > 1) == pytest.approx(1)


@given(judged)
def test_average_precision_agrees_with_scikit_learn(rows):
    y, scores = columns(rows)
    if not (y > 0).any():
        assert average_precision(y, scores) is None
        return
    expected = sklearn.metrics.average_precision_score(y > 0, scores)
    assert average_precision(y, scores) == pytest.approx(expected)


@given(judged, st.sampled_from([0.0, 0.3, 0.5, 0.9, 1.0]), st.integers(0, 2))
def test_recall_at_precision_tries_every_threshold(rows, precision, unreachable):
    y, scores = columns(rows)
    gold = int((y > 0).sum()) + unreachable
    if not gold:
        assert recall_at_precision(y, scores, precision, unreachable) is None
        return
    recalls = [0.0]
    for threshold in scores:
        found = precision_recall_f(y, scores >= threshold, unreachable)
        if found.precision >= precision:
            recalls.append(found.recall)
    assert recall_at_precision(y, scores, precision, unreachable) == pytest.approx(max(recalls))


@given(ranked, st.sampled_from([None, 1, 3]), st.sampled_from(["linear", "exponential"]))
def test_ndcg_agrees_with_scikit_learn(rows, k, gain):
    y, scores = columns(rows)
    gains = y if gain == "linear" else 2**y - 1
    if not gains.any():
        assert ndcg(y, scores, k=k, gain=gain) is None
        return
    if len(rows) < 2:
        assert ndcg(y, scores, k=k, gain=gain) == pytest.approx(1.0)
        return
    expected = sklearn.metrics.ndcg_score(gains[None], scores[None], k=k)
    assert ndcg(y, scores, k=k, gain=gain) == pytest.approx(expected)


@given(st.lists(small, min_size=1, max_size=14), st.sampled_from([0.0, 0.2, 0.5, 1.0]))
def test_positive_rate_threshold_comes_as_near_as_ties_allow(scores, rate):
    threshold = positive_rate_threshold(scores, rate)
    reachable = {0} | {sum(s >= t for s in scores) for t in scores}
    ours = int(decide(scores, threshold).sum())
    wanted = rate * len(scores)
    assert ours in reachable
    assert abs(ours - wanted) == min(abs(count - wanted) for count in reachable)


def test_positive_rate_threshold_refuses_a_percentage():
    with pytest.raises(ValueError, match="between 0 and 1, got 30"):
        positive_rate_threshold([0.1, 0.2], 30)


@given(st.lists(st.tuples(small, small, st.sampled_from("abc")), max_size=20))
def test_over_queries_averages_and_counts_what_is_undefined(rows):
    y, scores = [r[0] for r in rows], [r[1] for r in rows]
    values = []
    for query in {r[2] for r in rows}:
        part = [r for r in rows if r[2] == query]
        values.append(kendall_tau_b([r[0] for r in part], [r[1] for r in part]))
    defined = [v for v in values if v is not None]
    result = average_over_queries(kendall_tau_b, y, scores, [r[2] for r in rows])
    assert (result.defined, result.undefined) == (len(defined), len(values) - len(defined))
    assert result.mean == (pytest.approx(np.mean(defined)) if defined else None)


def test_map_is_the_mean_of_average_precision():
    y, scores = [1, -1, -1, 1, -1], [3, 2, 1, 0, 5]
    result = mean_average_precision(y, scores, [0, 0, 1, 1, 2])
    assert result.mean == pytest.approx((1 + 0.5) / 2)
    assert (result.defined, result.undefined) == (2, 1)


def test_large_rankings_agree_with_scipy(rng):
    y, scores = rng.integers(0, 50, 3000).astype(float), rng.normal(size=3000).round(1)
    tau = scipy.stats.kendalltau(y, scores).statistic
    assert kendall_tau_b(y, scores) == pytest.approx(tau)
    binary = np.where(y > 25, 1.0, -1.0)
    assert disagreement(binary, scores) == pytest.approx(1 - auc(binary, scores), abs=1e-12)


@pytest.mark.parametrize("size", [2, 3, 4, 13, 150, 400])
def test_a_perfect_ranking_has_tau_of_exactly_one(size):
    y = np.arange(size) / 7
    assert kendall_tau_b(y, 3 * y) == 1
    assert kendall_tau_b(y, -y) == -1


@pytest.mark.parametrize("size", [2, 12, 200, 201, 500])
@pytest.mark.parametrize("n_labels", [1, 2, 5, 300])
@pytest.mark.parametrize("digits", [0, 6])
def test_ranking_metrics_of_short_and_long_lists_are_counts_of_pairs(size, n_labels, digits):
    rng = np.random.default_rng(size)
    y = rng.integers(0, n_labels, size).astype(float)
    plain = np.round(3 + rng.standard_normal(size), digits)
    scores = plain + 1e-14 * rng.standard_normal(size)  # round-off of tied scores
    a, b = np.sign(y[:, None] - y), np.sign(plain[:, None] - plain)
    differ, norm = (a != 0).sum(), np.sqrt((a != 0).sum() * (b != 0).sum())
    tau = None if norm == 0 else pytest.approx((a * b).sum() / norm, abs=1e-12)
    assert kendall_tau_b(y, scores) == tau
    wrong = None if differ == 0 else pytest.approx((1 - (a * b).sum() / differ) / 2, abs=1e-12)
    assert disagreement(y, scores) == wrong


@pytest.mark.parametrize("measure", [auc, kendall_tau_b, disagreement, average_precision, ndcg])
def test_measures_refuse_what_is_not_a_number(measure):
    with pytest.raises(ValueError, match="scores must be finite numbers: nan at index 1"):
        measure([1, 0], [0.5, float("nan")])
    with pytest.raises(ValueError, match="2 labels for 1 scores"):
        measure([1, 0], [0.5])


def test_ndcg_refuses_negative_labels():
    with pytest.raises(ValueError, match="labels of at least 0, got -1"):
        ndcg([1, -1], [0.5, 0.1])


def test_a_likely_threshold_is_the_best_one_where_labels_are_sure() -> None:
    """With probabilities of 0 and 1 it is the threshold of maximal F, else of the expected one."""
    rng = np.random.default_rng(0)
    scores = rng.standard_normal(60).round(1)  # with ties
    y = np.where(scores + rng.standard_normal(60) > 0, 1.0, -1.0)
    assert expected_f_threshold(scores, (y > 0).astype(float)) == best_threshold(y, scores)
    p = rng.random(60)
    expected = [2 * p[scores >= cut].sum() / ((scores >= cut).sum() + p.sum()) for cut in scores]
    found = expected_f_threshold(scores, p)
    said = scores >= found
    assert 2 * p[said].sum() / (said.sum() + p.sum()) == pytest.approx(max(expected))
    assert expected_f_threshold([], []) is None
