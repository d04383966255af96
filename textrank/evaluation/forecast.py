"""Forecast of a learning curve: what the next answers of an annotator would bring.

A held-out metric ``v`` after ``n`` answers follows ``v = a - b n^-c`` with ``b >= 0`` (a power law,
as learning curves mostly do). ``forecast_curve`` averages over exponents ``c``, each weighted by
how well its least-squares line fits, and draws level and slope from their posterior, so that the
interval covers what the points leave open.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from textrank.features import Vector

MIN_POINTS = 5  # of a curve, before it is continued
EXPONENTS = np.linspace(0.1, 2.0, 20)
DRAWS = 4000
LEVEL = 0.9
MIN_VARIANCE = 1e-8  # of the noise of a metric
# Neighbouring points share most of their answers, so a point tells less than an independent one:
# the variance of the curve is that of a third as many points.
INFLATION = 3.0


@dataclass(frozen=True)
class Forecast:
    """Expected metric after ``ahead`` more answers, with a 90 % interval.

    ``gain`` is what these answers add to the curve, without the noise of a single measurement.
    """

    ahead: int
    value: float
    low: float
    high: float
    gain: float
    gain_low: float
    gain_high: float


def forecast_curve(
    answers: Sequence[int], values: Sequence[float], ahead: Sequence[int] = (20, 50)
) -> list[Forecast]:
    """Continue a learning curve by a power law; empty with fewer than ``MIN_POINTS`` points.

    Parameters
    ----------
    answers, values
        Points of the curve: positive, increasing numbers of answers, and metrics from 0 to 1.
        Points with more answers count more, in proportion.
    ahead
        Numbers of further answers to forecast.

    >>> n = list(range(20, 220, 20))
    >>> (forecast,) = forecast_curve(n, [0.8 - 1.5 / size for size in n], ahead=[100])
    >>> round(forecast.value, 3)
    0.795
    """
    if len(answers) < MIN_POINTS:
        return []
    n, v = np.asarray(answers, dtype=np.float64), np.asarray(values, dtype=np.float64)
    exponents, level, slope, noise = _draw_curves(n, v)
    now = level - slope * n[-1] ** -exponents
    forecasts = []
    for steps in ahead:
        later = level - slope * (n[-1] + steps) ** -exponents
        gains = _quantiles(later - now)
        measured = _quantiles(np.clip(later + noise, 0.0, 1.0))
        forecasts.append(Forecast(steps, *measured, *gains))
    return forecasts


def _draw_curves(n: Vector, v: Vector) -> tuple[Vector, Vector, Vector, Vector]:
    """Return exponents, levels, slopes and noise of a measurement, (DRAWS,) each.

    Drawn from the posterior of weighted least squares at each of ``EXPONENTS``, the exponents in
    proportion to their likelihood; the random numbers are always the same. Negative slopes become
    0. The noise is that of a measurement at the last point. ``n`` has at least two different
    values.
    """
    w = n / n.mean()
    rng = np.random.default_rng(0)
    freedom = max(len(n) - 3, 1)
    independent = max(freedom / INFLATION, 1.0)
    fits = [_fit_line(n**-c, v, w) for c in EXPONENTS]
    errors = np.array([error for _, _, error in fits])
    likelihood = (errors / errors.min()) ** (-(len(n) - 2) / (2 * INFLATION))
    which = rng.choice(len(EXPONENTS), DRAWS, p=likelihood / likelihood.sum())
    # Chi-squared draws of the noise's variance give Student's distribution of the coefficients.
    variance = errors[which] / freedom * independent / rng.chisquare(independent, DRAWS)
    normal = rng.normal(size=(DRAWS, 2))
    means = np.array([mean for mean, _, _ in fits])[which]
    roots = np.array([root for _, root, _ in fits])[which]
    drawn = means + np.sqrt(INFLATION * variance)[:, None] * np.einsum("dij,dj->di", roots, normal)
    noise = np.sqrt(variance / w[-1]) * rng.normal(size=DRAWS)
    return EXPONENTS[which], drawn[:, 0], np.maximum(drawn[:, 1], 0.0), noise


def _fit_line(x: Vector, v: Vector, w: Vector) -> tuple[Vector, Vector, float]:
    """Fit ``v = a - b x`` with weights; return (a, b), a root of their covariance and the error.

    The covariance (2, 2), of which a Cholesky root is returned, is in units of the variance of the
    noise. If the best ``b`` is negative, ``b`` is 0 and ``a`` the weighted mean. The error is the
    weighted sum of squares, at least ``MIN_VARIANCE`` per point. ``x`` must not be constant.
    """
    X = np.column_stack([np.ones(len(x)), -x])
    covariance = np.linalg.inv(X.T @ (w[:, None] * X))
    mean = covariance @ (X.T @ (w * v))
    if mean[1] < 0:
        mean = np.array([float(w @ v / w.sum()), 0.0])
    error = float(w @ (v - X @ mean) ** 2)
    return mean, np.linalg.cholesky(covariance), max(error, MIN_VARIANCE * len(x))


def _quantiles(draws: Vector) -> tuple[float, float, float]:
    """Return median, lower and upper end of the central ``LEVEL`` of draws, not empty."""
    middle, low, high = np.quantile(draws, [0.5, (1 - LEVEL) / 2, (1 + LEVEL) / 2])
    return float(middle), float(low), float(high)
