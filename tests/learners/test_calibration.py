"""Curves for sources of which nothing is known."""

from __future__ import annotations

from dataclasses import asdict

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.special import expit, log_expit

from textrank.features import Vector
from textrank.learners.calibration import PlattCalibration


def draw_sources(
    rng: np.random.Generator, sources: int, spread: float
) -> tuple[Vector, Vector, list[str]]:
    """Draw scores and labels of sources that differ in a constant of the log-odds."""
    each = 400
    scores = rng.normal(size=sources * each) * 0.6
    constants = np.repeat(rng.normal(size=sources) * spread, each)
    log_odds = 5 * scores - 2 * np.maximum(scores, 0) + 0.5 + constants
    y = np.where(rng.random(len(log_odds)) < expit(log_odds), 1.0, -1.0)
    return scores, y, [str(n) for n in np.repeat(np.arange(sources), each)]


def log_loss(p: Vector, y: Vector) -> float:
    return float(-np.log(np.where(y > 0, p, 1 - p)).mean())


def test_sources_that_do_not_differ_give_back_their_curve():
    curve = PlattCalibration.fit_across_sources(*draw_sources(np.random.default_rng(0), 40, 0.0))
    np.testing.assert_allclose((curve.slope, curve.shift, curve.above), (5, 0.5, -2), atol=0.4)
    assert curve.sources == 40


def test_probabilities_of_new_sources_shrink_by_how_far_sources_differ():
    curve = PlattCalibration.fit_across_sources(*draw_sources(np.random.default_rng(1), 60, 2.0))
    assert curve.slope == pytest.approx(5 / np.sqrt(1 + np.pi * 4 / 8), rel=0.15)
    scores, y, _ = draw_sources(np.random.default_rng(2), 200, 2.0)
    sure = PlattCalibration(5.0, 0.5, -2.0)  # true of an average source
    assert log_loss(curve(scores), y) < log_loss(sure(scores), y) - 0.01


def test_order_of_candidates_and_names_of_sources_do_not_matter():
    scores, y, sources = draw_sources(np.random.default_rng(3), 6, 1.0)
    order = np.random.default_rng(4).permutation(len(y))
    renamed = [f"corpus {9 - int(sources[i])}" for i in order]
    one = PlattCalibration.fit_across_sources(scores, y, sources)
    other = PlattCalibration.fit_across_sources(scores[order], y[order], renamed)
    np.testing.assert_allclose(one(scores), other(scores), atol=1e-9)


def test_platt_fits_as_well_as_a_general_optimiser():
    """The smoothed targets keep the optimum finite, also for labels that scores separate."""
    rng = np.random.default_rng(5)
    for n, gap in ((4, 3.0), (30, 50.0), (500, 0.3)):
        y = np.where(np.arange(n) % 2, 1.0, -1.0)
        scores = 1e3 * (y * gap + rng.normal(size=n)) + 7e3
        curve = PlattCalibration.fit(scores, y)
        targets = np.where(y > 0, (n / 2 + 1) / (n / 2 + 2), 1 / (n / 2 + 2))
        z = (scores - scores.mean()) / scores.std()

        def loss(w: Vector) -> float:
            t = w[0] * z + w[1]  # noqa: B023
            return float(-(targets * log_expit(t) + (1 - targets) * log_expit(-t)).sum())  # noqa: B023

        found = np.array([curve.slope * scores.std(), curve.shift + curve.slope * scores.mean()])
        best = minimize(loss, found, method="Nelder-Mead", options={"xatol": 1e-9, "fatol": 1e-12})
        assert loss(found) <= best.fun + 1e-6


def test_a_curve_survives_the_way_through_a_dictionary():
    curve = PlattCalibration(4.0, -1.2, -1.3, 6)
    assert PlattCalibration.from_dict(asdict(curve)) == curve
    assert PlattCalibration.from_dict(
        {"slope": 1.0, "shift": 0.5, "whole": 0.0}
    ) == PlattCalibration(1.0, 0.5)
