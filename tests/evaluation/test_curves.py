"""Curves against scikit-learn and scipy, and on degenerate data."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.stats
import sklearn.metrics
from hypothesis import given
from hypothesis import strategies as st

from textrank.metrics import (
    auc,
    calibration_error,
    chance_calibration_error,
    mean_roc,
    precision_recall_curve,
    reliability,
    roc_curve,
    score_calibration,
)

judged = st.lists(st.tuples(st.sampled_from([-1, 1]), st.integers(0, 4)), max_size=14)


@given(judged)
def test_roc_agrees_with_scikit_learn_and_its_area_is_the_auc(rows):
    y, scores = [a for a, _ in rows], [b for _, b in rows]
    curve = roc_curve(y, scores)
    if len(set(y)) < 2:
        assert curve is None
        return
    fpr, tpr, _ = sklearn.metrics.roc_curve(y, scores, drop_intermediate=False)
    np.testing.assert_allclose(curve.x, fpr)
    np.testing.assert_allclose(curve.y, tpr)
    assert np.trapezoid(curve.y, curve.x) == pytest.approx(auc(y, scores))


def test_vertical_averaging_is_the_mean_height_at_each_point(rng):
    folds = []
    for _ in range(3):
        y = np.where(rng.random(40) < 0.5, 1, -1)
        folds.append((y, y + rng.normal(size=40)))
    band = mean_roc([*folds, ([1, 1], [0.3, 0.2])], grid=[0.0, 0.11, 0.5, 1.0])
    for i, x in enumerate([0.11, 0.5, 1.0], start=1):
        heights = []
        for y, scores in folds:
            fpr, tpr, _ = sklearn.metrics.roc_curve(y, scores)
            exact = tpr[fpr == x]
            heights.append(exact.max() if len(exact) else np.interp(x, fpr, tpr))
        assert band.mean[i] == pytest.approx(np.mean(heights))
        assert band.std[i] == pytest.approx(np.std(heights))
    assert (band.mean[0], band.curves, band.undefined) == (0.0, 3, 1)
    assert mean_roc([([1], [0.5])]) is None


@given(judged, st.integers(0, 2))
def test_precision_recall_agrees_with_scikit_learn(rows, unreachable):
    y, scores = np.array([a for a, _ in rows]), np.array([b for _, b in rows])
    curve = precision_recall_curve(y, scores, unreachable)
    if not (y > 0).any():
        assert curve is None
        return
    precision, recall, _ = sklearn.metrics.precision_recall_curve(y > 0, scores)
    positives = (y > 0).sum()
    np.testing.assert_allclose(curve.x, recall[:-1][::-1] * positives / (positives + unreachable))
    np.testing.assert_allclose(curve.y, precision[:-1][::-1])


def test_calibration_bins_hold_all_candidates_once(rng):
    scores = rng.normal(size=200).round(1)
    y = np.where(rng.random(200) < 1 / (1 + np.exp(-scores)), 1, -1)
    bins = score_calibration(y, scores, bins=5)
    assert sum(b.candidates for b in bins) == 200
    assert [b.score for b in bins] == sorted(b.score for b in bins)
    positives = sum(b.share * b.candidates for b in bins)
    assert positives == pytest.approx((y > 0).sum())
    for b in bins:
        test = scipy.stats.binomtest(round(b.share * b.candidates), b.candidates)
        expected = test.proportion_ci(method="wilson")
        assert (b.low, b.high) == (pytest.approx(expected.low), pytest.approx(expected.high))


def test_calibration_of_equal_scores_and_of_nothing():
    (only,) = score_calibration([1, -1, 1, 1], [0.5] * 4)
    assert (only.share, only.candidates) == (0.75, 4)
    assert score_calibration([], []) == []


def test_a_probability_is_worth_what_its_bin_says(rng: np.random.Generator) -> None:
    p = rng.random(5000)
    y = np.where(rng.random(5000) < p, 1.0, -1.0)
    bins = reliability(y, p)
    assert sum(b.candidates for b in bins) == 5000
    assert all(abs(b.share - b.score) < 0.08 for b in bins)
    true, shifted = calibration_error(y, p), calibration_error(y, np.minimum(p + 0.2, 1.0))
    assert true < 2 * chance_calibration_error(p)
    assert shifted > 0.1
