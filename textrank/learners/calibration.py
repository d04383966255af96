"""Scores as probabilities and as sets with a stated error, learned from held-out scores alone."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq, minimize
from scipy.special import expit, log_expit, softmax

from textrank.learners.checks import check_alphas, check_gram, check_targets
from textrank.linalg.inverse import inverse
from textrank.types import Matrix, Vector


@dataclass(frozen=True)
class Platt:
    """``1 / (1 + exp(-(slope s + shift)))``: two numbers, so a few hundred scores are enough.

    Platt (1999), with his smoothed targets. A third number, ``whole``, is added to the log-odds of
    what comes from whole texts: where sentences were picked for what they say, a yes is likelier.

    >>> Platt.of(np.array([-2.0, -1.0, 1.0, 2.0]), np.array([-1, -1, 1, 1]))(0.0).round(6)
    np.float64(0.5)
    """

    slope: float
    shift: float
    whole: float = 0.0

    @classmethod
    def of(cls, heldout: Vector, y: Vector, whole: Vector | None = None) -> Platt:
        """From held-out scores; those of training would be far too sure.

        ``whole`` says how far each comes from a whole text, between 0 and 1.
        """
        scores, positive = _two_classes(heldout, y)
        n = positive.sum()
        high, low = (n + 1) / (n + 2), 1 / (len(scores) - n + 2)
        goal = np.where(positive, high, low)
        spread = float(scores.std()) or 1.0
        centre = float(scores.mean())
        z = (scores - centre) / spread  # so that all parameters are of order one
        Z = np.column_stack([z, np.ones(len(z)), *([] if whole is None else [whole])])

        def loss(p: Vector) -> tuple[float, Vector]:
            t = Z @ p
            gap = expit(t) - goal
            value = -(goal * log_expit(t) + (1 - goal) * log_expit(-t)).sum()
            return float(value), gap @ Z

        start = np.array([1.0, *np.zeros(Z.shape[1] - 1)])
        slope, shift, *more = map(float, minimize(loss, start, jac=True, method="BFGS").x)
        return cls(slope / spread, shift - slope * centre / spread, *more)

    def __call__(self, scores: Any, whole: Any = 0.0) -> Vector:
        """Probabilities of a positive label."""
        log_odds = self.slope * np.asarray(scores) + self.shift + self.whole * np.asarray(whole)
        return np.asarray(expit(log_odds))[()]


def temperature(logits: Matrix, classes: NDArray[np.intp], weights: Vector | None = None) -> float:
    """What divides held-out logits (n, classes) so that their softmax fits the classes best.

    One number, so the order of the classes of a sample stays. Guo et al. (2017).

    >>> logits = np.array([[9.0, 0.0], [0.0, 9.0], [9.0, 0.0]])
    >>> temperature(logits, np.array([0, 1, 1])) > 1  # too sure: one of three is wrong
    True
    """
    own = logits[np.arange(len(classes)), classes]

    def slope(log_t: float) -> float:
        """Of the loss, which is convex in ``1 / t``: likely logits less those of the classes."""
        likely = (softmax(logits * np.exp(-log_t), axis=1) * logits).sum(axis=1)
        return float(np.average(likely - own, weights=weights))

    middle = np.log(float(np.abs(logits).max()) or 1.0)
    low, high = middle - 8, middle + 5
    if slope(low) <= 0:  # perfectly parted: as sure as is allowed
        return float(np.exp(low))
    if slope(high) >= 0:  # no better than chance: as unsure
        return float(np.exp(high))
    return float(np.exp(brentq(slope, low, high, xtol=1e-14)))


@dataclass(frozen=True, eq=False)
class Isotonic:
    """The rising step-free curve that fits best; needs a thousand scores or more.

    >>> curve = Isotonic.of(np.array([-2.0, -1.0, 1.0, 2.0]), np.array([-1, 1, -1, 1]))
    >>> curve(np.array([-3.0, 0.0, 3.0])).tolist()
    [0.0, 0.5, 1.0]
    """

    scores: Vector  # (k,) ascending
    values: Vector  # (k,)

    @classmethod
    def of(cls, heldout: Vector, y: Vector) -> Isotonic:
        """From held-out scores."""
        scores, positive = _two_classes(heldout, y)
        from sklearn.isotonic import IsotonicRegression  # only who trains waits for it

        curve = IsotonicRegression(out_of_bounds="clip").fit(scores, positive.astype(np.float64))
        return cls(curve.X_thresholds_, curve.y_thresholds_)

    def __call__(self, scores: Any) -> Vector:
        """Probabilities of a positive label."""
        return np.asarray(np.interp(scores, self.scores, self.values))


@dataclass(frozen=True, eq=False)
class Conformal:
    """Sets of labels that miss the true one in at most a stated share of each class.

    A new candidate's p-value for a class is the share of that class's held-out scores that are
    no better than its own, itself counted. Labels with a p-value above the error level make the
    set: both where the data cannot tell, none where the candidate is unlike either class. The
    held-out scores stand in for scores of new candidates, which is exact up to the effect of
    one document on the model; ``exact_p_values`` has no such remainder.

    >>> heldout, y = np.linspace(-2, 2, 40), np.repeat([-1.0, 1.0], 20)
    >>> Conformal.of(heldout, y).sets(np.array([-1.5, 1.5]), error=0.1).tolist()
    [[True, False], [False, True]]
    """

    negative: Vector  # (n-,) ascending held-out scores of negatives
    positive: Vector  # (n+,) ascending

    @classmethod
    def of(cls, heldout: Vector, y: Vector) -> Conformal:
        """From held-out scores."""
        scores, positive = _two_classes(heldout, y)
        return cls(np.sort(scores[~positive]), np.sort(scores[positive]))

    def p_values(self, scores: Any) -> Matrix:  # (m, 2)
        """For each score its p-value as a negative and as a positive."""
        s = np.asarray(scores, dtype=np.float64)
        higher = len(self.negative) - np.searchsorted(self.negative, s, "left")
        lower = np.searchsorted(self.positive, s, "right")
        return np.stack(
            [(1 + higher) / (len(self.negative) + 1), (1 + lower) / (len(self.positive) + 1)],
            axis=1,
        )

    def sets(self, scores: Any, *, error: float) -> NDArray[np.bool_]:  # (m, 2)
        """Whether negative and positive belong to each candidate's set at this error level."""
        return within(self.p_values(scores), error)


def exact_p_values(
    K: Matrix, y: Vector, cross: Matrix, own: Vector, *, alpha: float
) -> Matrix:  # (m, 2)
    """P-values by full conformal prediction: RLS trained with each new candidate and each label.

    With the new candidate in, every candidate is scored by leave-one-out, all in closed form:
    ``v = G k``, ``s = k(x, x) + alpha - k'v``, ``G_jj + v_j^2 / s`` and ``a_j - v_j (y - f) / s``.
    Valid for any number of candidates, if they are exchangeable; O(n) a label after one product.
    ``cross`` (m, n) are kernel values of new with old candidates, ``own`` (m,) of each new one
    with itself.
    """
    K = check_gram(K)
    _, positive = _two_classes(y, y)
    labels = check_targets(np.where(positive, 1.0, -1.0), len(K))[:, 0]
    (alpha,) = check_alphas([alpha])
    G = inverse(K, alpha)
    a, g = G @ labels, G.diagonal()
    V = np.asarray(cross) @ G  # (m, n)
    f = np.asarray(cross) @ a
    s = np.asarray(own) + alpha - np.einsum("mn,mn->m", V, np.asarray(cross))
    diagonal = g + V**2 / s[:, None]
    p = np.empty((len(f), 2))
    for column, (label, same) in enumerate([(-1.0, ~positive), (1.0, positive)]):
        residual = (a - V * ((label - f) / s)[:, None]) / diagonal  # y_j - f_j without j
        # (y - f) y is one minus the margin: the larger, the stranger
        strange = residual[:, same] * labels[same]
        mine = (label - f) * label
        p[:, column] = (1 + (strange >= mine[:, None]).sum(axis=1)) / (same.sum() + 1)
    return p


def within(p: Matrix, error: float) -> NDArray[np.bool_]:
    """The labels whose p-value is above the error level."""
    if not 0 < error < 1:
        raise ValueError(f"error must be between 0 and 1, got {error}")
    return np.asarray(p > error)


def _two_classes(scores: Any, y: Any) -> tuple[Vector, NDArray[np.bool_]]:
    values = check_targets(scores, len(scores))[:, 0]
    positive = check_targets(y, len(values))[:, 0] > 0
    if positive.all() or not positive.any():
        raise ValueError(
            f"{int(positive.sum())} positive and {int((~positive).sum())} negative labels: "
            "calibration needs both."
        )
    return values, positive
