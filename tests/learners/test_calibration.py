"""Curves for sources of which nothing is known."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import expit

from textrank.learners.calibration import Platt
from textrank.types import Vector


def drawn(
    rng: np.random.Generator, sources: int, spread: float
) -> tuple[Vector, Vector, list[str], Vector]:
    """Scores and answers of sources that differ in a constant, half of them of whole texts."""
    each = 400
    scores = rng.normal(size=sources * each) * 0.6
    own = np.repeat(rng.normal(size=sources) * spread, each)
    whole = np.repeat(np.arange(sources) % 2.0, each)
    odds = 5 * scores - 2 * np.maximum(scores, 0) + 0.5 - 2 * whole + own
    y = np.where(rng.random(len(odds)) < expit(odds), 1.0, -1.0)
    return scores, y, [str(n) for n in np.repeat(np.arange(sources), each)], whole


def log_loss(p: Vector, y: Vector) -> float:
    return float(-np.log(np.where(y > 0, p, 1 - p)).mean())


def test_sources_that_do_not_differ_give_back_their_curve():
    curve = Platt.across(*drawn(np.random.default_rng(0), 40, 0.0))
    found = curve.slope, curve.shift, curve.whole, curve.above
    np.testing.assert_allclose(found, (5, 0.5, -2, -2), atol=0.4)


def test_probabilities_of_new_sources_shrink_by_how_far_sources_differ():
    known = drawn(np.random.default_rng(1), 60, 2.0)
    curve = Platt.across(*known)
    assert curve.slope == pytest.approx(5 / np.sqrt(1 + np.pi * 4 / 8), rel=0.15)
    scores, y, _, whole = drawn(np.random.default_rng(2), 200, 2.0)
    sure = Platt(5.0, 0.5, -2.0, -2.0)  # true of an average source
    assert log_loss(curve(scores, whole), y) < log_loss(sure(scores, whole), y) - 0.01


def test_order_of_candidates_and_names_of_sources_do_not_matter():
    scores, y, sources, whole = drawn(np.random.default_rng(3), 6, 1.0)
    order = np.random.default_rng(4).permutation(len(y))
    named = [f"corpus {9 - int(sources[i])}" for i in order]
    one = Platt.across(scores, y, sources, whole)
    other = Platt.across(scores[order], y[order], named, whole[order])
    np.testing.assert_allclose(one(scores, whole), other(scores, whole), atol=1e-9)


@pytest.mark.parametrize("score", [-1.2, -0.01, 0.0, 0.3, 1.4])
@pytest.mark.parametrize("whole", [0.0, 0.4, 1.0])
def test_picked_scores_have_the_same_probability(score, whole):
    curve = Platt(4.0, 1.2, -2.1, -1.2)
    assert curve(curve.picked(score, whole)) == pytest.approx(curve(score, whole))
