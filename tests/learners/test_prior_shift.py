"""Thresholds for a corpus with another share of positives, chosen without its labels."""

from __future__ import annotations

import numpy as np
import pytest

from textrank.learners.calibration import PriorShift, mean_threshold
from textrank.metrics import best_threshold, precision_recall_f


def draw(rng: np.random.Generator, n: int, share: float) -> tuple[np.ndarray, np.ndarray]:
    y = np.where(rng.random(n) < share, 1.0, -1.0)
    return y + rng.standard_normal(n), y


@pytest.mark.parametrize("share", [0.05, 0.2, 0.5, 0.8])
def test_the_share_of_positives_is_found(rng, share):
    shift = PriorShift.fit(*draw(rng, 5000, 0.2))
    new, y = draw(rng, 5000, share)
    assert shift.estimate(new) == pytest.approx((y > 0).mean(), abs=0.05)


def test_the_estimate_is_the_mean_of_the_probabilities_it_corrects(rng):
    shift = PriorShift.fit(*draw(rng, 2000, 0.3))
    new, _ = draw(rng, 500, 0.6)
    assert shift.probabilities(new).mean() == pytest.approx(shift.estimate(new), abs=1e-6)


def test_the_threshold_has_the_highest_expected_f(rng):
    shift = PriorShift.fit(*draw(rng, 2000, 0.3))
    new, _ = draw(rng, 200, 0.6)
    p = shift.probabilities(new)

    def expected(threshold: float) -> float:
        yes = new >= threshold
        return 2 * p[yes].sum() / (yes.sum() + p.sum())

    best = shift.threshold(new)
    assert expected(best) == pytest.approx(max(expected(t) for t in new))


def test_a_training_threshold_is_improved_where_positives_are_frequent(rng):
    scores, y = draw(rng, 5000, 0.15)
    new, truth = draw(rng, 5000, 0.6)
    before = precision_recall_f(truth, new >= best_threshold(y, scores)).f
    after = precision_recall_f(truth, new >= PriorShift.fit(scores, y).threshold(new)).f
    assert after > before + 0.02
    optimum = precision_recall_f(truth, new >= best_threshold(truth, new)).f
    assert after > optimum - 0.02


def test_no_scores_are_refused(rng):
    with pytest.raises(ValueError, match="no scores"):
        PriorShift.fit(*draw(rng, 100, 0.5)).threshold(np.empty(0))


def test_without_scores_the_share_is_that_of_training(rng):
    shift = PriorShift.fit(*draw(rng, 100, 0.5))
    assert shift.estimate(np.empty(0)) == shift.prior
    assert shift.probabilities(np.empty(0)).shape == (0,)


def test_the_mean_is_as_good_a_threshold_on_any_scale(rng):
    scores, y = draw(rng, 3000, 0.4)
    said = scores >= mean_threshold(scores)
    np.testing.assert_array_equal(0.1 * scores - 7 >= mean_threshold(0.1 * scores - 7), said)
    best = precision_recall_f(y, scores >= best_threshold(y, scores)).f
    assert precision_recall_f(y, said).f > best - 0.03


def test_no_scores_have_no_mean():
    with pytest.raises(ValueError, match="no scores"):
        mean_threshold(np.empty(0))
