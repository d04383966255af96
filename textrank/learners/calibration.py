"""Probabilities, prediction sets and thresholds learned from held-out scores.

``fit_calibration`` gives the curve that a trained model carries: a ``PlattCalibration`` from scores
to probabilities. ``IsotonicCalibration`` needs more scores, ``ConformalPredictor`` returns sets of
labels with a stated error, ``PriorShift`` corrects for another share of positives, and
``expected_threshold`` and ``mean_threshold`` choose thresholds for corpora without labels. A model
that answers several questions has ``Heads``, one curve for each.
``fit_logistic`` is the one logistic regression of all learners.

Scores must be held out: scores of training candidates by the model itself are far too good.
``heldout`` (n,) are such scores and ``y`` (n,) their labels, positive if above 0; ``m`` is the
number of new scores.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, log_expit, softmax

from textrank.features import Matrix, Vector
from textrank.learners.base import check_alphas, check_gram, check_targets
from textrank.linalg import inverse
from textrank.metrics import (
    TIE_TOLERANCE,
    argmax_first,
    choose_first,
    sort_ties,
    tie_tolerance,
)

MAX_NEWTON_STEPS = 100
MIN_STEP = 1e-10  # a logistic fit ends at smaller changes of its weights
MIN_RIDGE = 1e-9  # keeps the equations solvable if a column is constant
MIN_SOURCE_VARIANCE = 1e-3  # of the constants of sources in ``fit_across_sources``
MAX_PRIOR_STEPS = 1000
PRIOR_TOLERANCE = 1e-9  # of the estimated share of positives


@dataclass(frozen=True)
class PlattCalibration:
    """Logistic curve from scores to probabilities (Platt 1999).

    ``p(s) = 1 / (1 + exp(-(slope s + above max(s, 0) + shift)))``. ``fit`` learns slope and shift,
    so a few hundred scores are enough; ``fit_across_sources`` also learns ``above``, from several
    corpora. The probability of a candidate depends on its own score only.

    >>> heldout, y = np.array([-2.0, -1.0, 1.0, 2.0]), np.array([-1, -1, 1, 1])
    >>> PlattCalibration.fit(heldout, y)(0.0).round(6)
    np.float64(0.5)
    """

    slope: float
    shift: float
    above: float = 0.0  # added to the slope of scores above zero
    sources: int = 0  # left-out corpora it was fitted on; 0 if only documents were left out

    @classmethod
    def fit(cls, heldout: Vector, y: Vector) -> PlattCalibration:
        """Fit slope and shift to held-out scores (n,) and labels (n,), by Platt's smoothed targets.

        A label is positive if it is above 0. Raises ValueError unless both kinds occur and all
        values are finite. The slope may be negative if scores go against the labels.
        """
        scores, positive = _two_classes(heldout, y)
        n = positive.sum()
        targets = np.where(positive, (n + 1) / (n + 2), 1 / (len(scores) - n + 2))
        spread, centre = float(scores.std()) or 1.0, float(scores.mean())
        Z = np.column_stack([(scores - centre) / spread, np.ones(len(scores))])
        slope, shift = map(float, fit_logistic(Z, targets, np.full(2, MIN_RIDGE)))
        return cls(slope / spread, shift - slope * centre / spread)

    @classmethod
    def fit_across_sources(
        cls, heldout: Vector, y: Vector, sources: Sequence[str]
    ) -> PlattCalibration:
        """Fit the curve for a corpus that is none of the ``sources`` (n,) the scores come from.

        ``sources`` names the corpus of each score; the curve stores how many there are. A label is
        positive if it is above 0. Raises ValueError unless both kinds occur and all values are
        finite.

        Sources differ in their share of positives: each has a constant ``b ~ N(0, v)`` of its own
        in the log-odds, where ``v`` is the mean square of the fitted constants (one degree of
        freedom goes to ``shift``). The constant of a new corpus is unknown, so the shared log-odds
        (``slope``, ``above`` and ``shift``) are divided by ``sqrt(1 + π v / 8)`` (MacKay 1992).

        >>> rng = np.random.default_rng(0)
        >>> corpora, s = np.repeat(list("abcdef"), 500), rng.normal(size=3000)
        >>> log_odds = 4 * s + np.repeat([-2, 2, -1, 1, 0, 0], 500)
        >>> y = np.where(rng.random(3000) < expit(log_odds), 1, -1)
        >>> 2 < PlattCalibration.fit_across_sources(s, y, corpora).slope < 4
        True
        """
        scores, positive = _two_classes(heldout, y)
        names, column = np.unique(np.asarray(sources), return_inverse=True)
        shared = np.column_stack([scores, np.maximum(scores, 0), np.ones(len(scores))])
        Z = np.hstack([shared, np.eye(len(names))[column]])
        targets, variance, w = positive.astype(np.float64), 1.0, np.zeros(Z.shape[1])
        for _ in range(MAX_NEWTON_STEPS):
            ridge = np.append(np.full(3, MIN_RIDGE), np.full(len(names), 1 / variance))
            w = fit_logistic(Z, targets, ridge, w)
            before, variance = variance, _source_variance(w[3:])
            if abs(variance - before) < 1e-6:
                break
        slope, above, shift = map(float, w[:3] / np.sqrt(1 + np.pi * variance / 8))
        return cls(slope, shift, above, len(names))

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> PlattCalibration:
        """Build a curve from the mapping that ``dataclasses.asdict`` returned for another one.

        ``above`` and ``sources`` may be missing and are then 0; other keys are ignored. Raises
        KeyError without ``slope`` or ``shift``.
        """
        above, sources = float(values.get("above", 0.0)), int(values.get("sources", 0))
        return cls(float(values["slope"]), float(values["shift"]), above, sources)

    def __call__(self, scores: Any) -> Vector:
        """Return the probability of a positive label, in the shape of ``scores``.

        It is the logistic function of ``slope * s + above * max(s, 0) + shift``.
        """
        return np.asarray(expit(self.log_odds(scores)))[()]

    def log_odds(self, scores: Any) -> Vector:
        """Return ``slope * s + above * max(s, 0) + shift``, in the shape of ``scores``."""
        s = np.asarray(scores)
        return np.asarray(self.slope * s + self.above * np.maximum(s, 0) + self.shift)[()]


LOG_ODDS = PlattCalibration(1.0, 0.0)  # curve of scores that are log-odds already


@dataclass(frozen=True, eq=False)
class Heads:
    """Several yes-or-no questions about the same candidates, with one curve each.

    A model with h heads has h scores per candidate, from one kernel and one basis. The probability
    of *either* is ``1 - prod_h (1 - p_h)``: heads count as independent. There may be one column of
    scores more than heads: corrections that are added to the log-odds of every head and of either,
    as curation learns them.

    >>> heads = Heads(("a", "b"), (LOG_ODDS, LOG_ODDS), np.zeros((0, 2)), np.zeros((0, 2)))
    >>> expit(heads.combine(np.array([[0.0, 0.0]]), ("a", "b"))).round(6).tolist()
    [0.75]
    """

    names: tuple[str, ...]  # (h,)
    calibrations: tuple[PlattCalibration, ...]  # (h,)
    heldout: Matrix  # (n, h) held-out scores
    labels: Matrix  # (n, h) their labels, 1 or -1

    def log_odds(self, scores: Matrix) -> Matrix:
        """Return the log-odds (m, h) of each head for scores (m, h) or (m, h + 1).

        A last column of corrections is added to those of every head.
        """
        return self._uncorrected_log_odds(scores) + self._corrections(scores)[:, None]

    def _uncorrected_log_odds(self, scores: Matrix) -> Matrix:
        """Return the log-odds (m, h) of each head by its curve alone, without corrections."""
        columns = [curve.log_odds(scores[:, i]) for i, curve in enumerate(self.calibrations)]
        return np.stack(columns, axis=1)

    def _corrections(self, scores: Matrix) -> Vector:
        """Return the corrections (m,): the column of ``scores`` after those of the heads.

        Zeros if there is none.
        """
        return np.asarray(scores[:, len(self.names) :].sum(axis=1))

    def combine(self, scores: Matrix, chosen: Sequence[str]) -> Vector:
        """Return the log-odds (m,) that one of the ``chosen`` heads is positive.

        ``scores`` is (m, h) or (m, h + 1). With ``t`` the log-odds of a head, the probability of
        none is ``exp(-S)`` with ``S = sum log(1 + exp(t))``, so the result is ``log(exp(S) - 1)``;
        of a single head it is ``t``. Corrections are added to this. Raises ValueError for an
        unknown name, or without any.
        """
        log_odds = self._uncorrected_log_odds(scores)[:, self.columns(chosen)]
        if log_odds.shape[1] == 1:
            return np.asarray(log_odds[:, 0] + self._corrections(scores))
        total = np.logaddexp(0.0, log_odds).sum(axis=1)
        return np.asarray(total + np.log(-np.expm1(-total)) + self._corrections(scores))

    def combine_labels(self, chosen: Sequence[str]) -> Vector:
        """Return 1 for candidates (n,) for which one of the ``chosen`` heads is positive, else -1.

        Raises ValueError for the name of an unknown head, or without any.
        """
        return np.where((self.labels[:, self.columns(chosen)] > 0).any(axis=1), 1.0, -1.0)

    def leading(self, scores: Matrix, chosen: Sequence[str]) -> list[str]:
        """Return the name of the most probable of the ``chosen`` heads for each row of scores.

        Of heads that are equally probable, within the tolerance of ties, the first of ``chosen``
        leads. Raises ValueError for an unknown name, or without any.
        """
        log_odds = self.log_odds(scores)[:, self.columns(chosen)]
        return [chosen[i] for i in argmax_first(log_odds).tolist()]

    def columns(self, chosen: Sequence[str]) -> list[int]:
        """Return the indices in ``names`` of the ``chosen`` heads, in the order of ``chosen``.

        Raises ValueError for an unknown name, or without any.
        """
        if not chosen or not set(chosen) <= set(self.names):
            raise ValueError(
                f"this model has no head {', '.join(chosen) or '(none named)'}; available: "
                f"{', '.join(self.names)}"
            )
        return [self.names.index(name) for name in chosen]


def fit_calibration(heldout: Vector, y: Vector) -> PlattCalibration | None:
    """Return the Platt curve of held-out scores, or None if the labels are not exactly -1 and 1.

    Ranks and degrees have no probability of "yes", so models of them have no curve. None also if
    only one of the two labels occurs.

    >>> fit_calibration(np.array([0.1, 0.5, 0.9]), np.array([1.0, 2.0, 3.0])) is None
    True
    """
    return PlattCalibration.fit(heldout, y) if set(np.unique(y)) == {-1.0, 1.0} else None


def _source_variance(constants: Vector) -> float:
    """Return the variance of the constants (k,) of sources, whose mean went into the shift.

    The sum of their squares divided by ``k - 1`` (by 1 for a single source); at least
    ``MIN_SOURCE_VARIANCE``.
    """
    return float(max((constants**2).sum() / max(len(constants) - 1, 1), MIN_SOURCE_VARIANCE))


def fit_logistic(Z: Matrix, targets: Vector, ridge: Vector, start: Vector | None = None) -> Vector:
    """Return the weights ``w`` (d,) of ``expit(Z w)`` by Newton's method, with a ridge per weight.

    Minimises the log loss of ``targets`` (n,), which are probabilities, plus
    ``(ridge * w**2).sum() / 2``. ``Z`` (n, d) has a column of ones if a constant is wanted. Starts
    at ``start``, by default at zero. A step that raises the penalised loss is halved until it does
    not or is below ``MIN_STEP``, so the fit also converges for candidates that are almost
    separable. Ends when no weight moves by ``MIN_STEP``, or after ``MAX_NEWTON_STEPS``, without a
    warning. ``MIN_RIDGE`` only keeps each step solvable: a ridge of 0 penalises nothing. ``start``
    is not changed.
    """

    def loss(w: Vector) -> float:
        """Return the summed log loss at the weights (d,), plus half of ``ridge * w^2``."""
        t = Z @ w
        fit = -(targets * log_expit(t) + (1 - targets) * log_expit(-t)).sum()
        return float(fit + (ridge * w**2).sum() / 2)

    w = np.zeros(Z.shape[1]) if start is None else start
    value = loss(w)
    for _ in range(MAX_NEWTON_STEPS):
        p = expit(Z @ w)
        H = (Z * (p * (1 - p))[:, None]).T @ Z + np.diag(np.maximum(ridge, MIN_RIDGE))
        step = np.linalg.solve(H, Z.T @ (targets - p) - ridge * w)
        new_value = loss(w + step)
        while new_value > value and np.abs(step).max() > MIN_STEP:
            step = step / 2
            new_value = loss(w + step)
        w, value = w + step, new_value
        if np.abs(step).max() < MIN_STEP:
            break
    return w


def fit_temperature(
    logits: Matrix, classes: NDArray[np.intp], weights: Vector | None = None
) -> float:
    """Return the number that divides held-out logits (n, k) so that their softmax fits the classes.

    ``classes`` (n,) are class numbers, ``weights`` (n,) sample weights, by default equal. One
    number, so the order of the classes of a sample stays (Guo et al., 2017). The targets are
    smoothed as Platt (1999) does: of ``k`` classes, a sample of one with ``N`` samples (the sum of
    their weights) counts as that class with probability ``(N + 1) / (N + k)`` and as each other
    with ``1 / (N + k)``. So classes that are separated perfectly do not get probabilities of 0 and
    1. The result is limited to between ``exp(-8)`` and ``exp(5)`` times the largest absolute logit
    (times 1 if all are 0); the upper end stands for logits that are no better than chance.

    >>> logits = np.array([[9.0, 0.0], [0.0, 9.0], [9.0, 0.0]])
    >>> fit_temperature(logits, np.array([0, 1, 1])) > 1  # overconfident: one of three is wrong
    True
    """
    count = np.bincount(classes, weights, logits.shape[1])[classes]
    # (N + 1) / (N + k) of the class itself and 1 / (N + k) of the others
    true_logit = logits[np.arange(len(classes)), classes]
    expected = (count * true_logit + logits.sum(axis=1)) / (count + logits.shape[1])

    def slope(log_t: float) -> float:
        """Return the slope of the loss, which is convex in ``1 / t``."""
        likely = (softmax(logits * np.exp(-log_t), axis=1) * logits).sum(axis=1)
        return float(np.average(likely - expected, weights=weights))

    middle = np.log(float(np.abs(logits).max()) or 1.0)
    low, high = middle - 8, middle + 5
    if slope(low) <= 0:  # the smallest temperature allowed
        return float(np.exp(low))
    if slope(high) >= 0:  # no better than chance: the largest one
        return float(np.exp(high))
    from scipy.optimize import brentq  # slow to import, and applying a model needs none of it

    return float(np.exp(brentq(slope, low, high, xtol=1e-14)))


@dataclass(frozen=True, eq=False)
class IsotonicCalibration:
    """Non-decreasing, piecewise linear curve from scores to probabilities, for 1000 or more scores.

    >>> curve = IsotonicCalibration.fit(np.array([-2.0, -1.0, 1.0, 2.0]), np.array([-1, 1, -1, 1]))
    >>> curve(np.array([-3.0, 0.0, 3.0])).tolist()
    [0.0, 0.5, 1.0]
    """

    scores: Vector  # (k,) ascending
    values: Vector  # (k,) probabilities at these scores

    @classmethod
    def fit(cls, heldout: Vector, y: Vector) -> IsotonicCalibration:
        """Fit the curve to held-out scores (n,) and labels (n,), positive if above 0.

        Raises ValueError unless both kinds of labels occur and all values are finite.
        """
        scores, positive = _two_classes(heldout, y)
        from sklearn.isotonic import IsotonicRegression  # slow to import, needed in training only

        curve = IsotonicRegression(out_of_bounds="clip").fit(scores, positive.astype(np.float64))
        return cls(curve.X_thresholds_, curve.y_thresholds_)

    def __call__(self, scores: Any) -> Vector:
        """Return the probability of a positive label for each score, in the shape of ``scores``.

        Scores beyond those of the fit get the first or last probability.
        """
        return np.asarray(np.interp(scores, self.scores, self.values))


@dataclass(frozen=True, eq=False)
class ConformalPredictor:
    """Prediction sets that miss the true label in at most a stated share of each class.

    The p-value of a new candidate for a class is the share of the held-out scores of that class
    that are no better than its score, itself counted. Labels with a p-value above the error level
    make the set: both labels if the data do not decide, none if the candidate is unlike either
    class. Held-out scores replace scores of new candidates, which is exact up to the effect of one
    document on the model; ``exact_p_values`` has no such remainder.

    >>> heldout, y = np.linspace(-2, 2, 40), np.repeat([-1.0, 1.0], 20)
    >>> ConformalPredictor.fit(heldout, y).sets(np.array([-1.5, 1.5]), error=0.1).tolist()
    [[True, False], [False, True]]
    """

    negative: Vector  # (n-,) ascending held-out scores of negatives
    positive: Vector  # (n+,) ascending

    @classmethod
    def fit(cls, heldout: Vector, y: Vector) -> ConformalPredictor:
        """Store held-out scores (n,) by class; a label is positive if above 0.

        Raises ValueError unless both kinds of labels occur and all values are finite.
        """
        scores, positive = _two_classes(heldout, y)
        return cls(np.sort(scores[~positive]), np.sort(scores[positive]))

    def p_values(self, scores: Any) -> Matrix:  # (m, 2)
        """Return for each of the scores (m,) its p-values (m, 2) as a negative and as a positive.

        As a negative: the share of held-out negatives with a score at least as high; as a positive:
        of positives with a score at most as high; the candidate itself is counted in both. Scores
        that are tied count as no better; the tolerance is ``tie_tolerance`` of all held-out scores.
        """
        s = np.asarray(scores, dtype=np.float64)
        tie = tie_tolerance(np.concatenate([self.negative, self.positive]))
        higher = len(self.negative) - np.searchsorted(self.negative, s - tie, "left")
        lower = np.searchsorted(self.positive, s + tie, "right")
        return np.stack(
            [(1 + higher) / (len(self.negative) + 1), (1 + lower) / (len(self.positive) + 1)],
            axis=1,
        )

    def sets(self, scores: Any, *, error: float) -> NDArray[np.bool_]:  # (m, 2)
        """Return whether negative and positive are in the set of each score, (m, 2).

        A label is in the set if its p-value is above ``error``, the share of each class that may be
        missed, between 0 and 1; others raise ValueError.
        """
        return prediction_sets(self.p_values(scores), error)


def exact_p_values(
    K: Matrix, y: Vector, cross: Matrix, own: Vector, *, alpha: float
) -> Matrix:  # (m, 2)
    """Return p-values (m, 2), as negative and as positive, by full conformal prediction with RLS.

    RLS is trained with each new candidate ``x`` and each label ``y`` of it, and then every
    candidate is scored by leave-one-out. A p-value is the share of the candidates of the label, the
    new one included, whose held-out score agrees with that label no better than that of ``x``, up
    to round-off.
    All in closed form: with ``G = (K + alpha I)^-1``, ``a = G y``, the kernel values ``k`` of
    ``x``, ``v = G k``, ``f = k'a`` and ``s = k(x, x) + alpha - k'v``, the inverse has the new
    diagonal ``G_jj + v_j^2 / s`` and the coefficients are ``a_j - v_j (y - f) / s``. Valid for any
    number of candidates, if they are exchangeable; O(n) per label after one product.

    ``K`` (n, n) and ``y`` (n,) are the training data (a label above 0 is positive), ``cross`` (m,
    n) the kernel values of new with training candidates, ``own`` (m,) those of each new candidate
    with itself. Raises ValueError unless both kinds of labels occur, ``K`` is a Gram matrix and
    ``alpha`` is positive.
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
        strangeness = residual[:, same] * labels[same]
        limit = (label - f) * label
        reached = strangeness >= limit[:, None] - TIE_TOLERANCE  # labels are of size one
        p[:, column] = (1 + reached.sum(axis=1)) / (same.sum() + 1)
    return p


def prediction_sets(p: Matrix, error: float) -> NDArray[np.bool_]:
    """Return whether each p-value is above the error level, in the shape of ``p``.

    A p-value equal to the level is not. Raises ValueError unless ``0 < error < 1``.
    """
    if not 0 < error < 1:
        raise ValueError(f"error must be between 0 and 1, got {error}")
    return np.asarray(p > error)


def _two_classes(scores: Any, y: Any) -> tuple[Vector, NDArray[np.bool_]]:
    """Return scores (n,) as floats and whether each label is positive (above 0), (n,).

    Raises ValueError unless there are positive and negative labels, and for values that are not
    finite or of another number.
    """
    values = check_targets(scores, len(scores))[:, 0]
    positive = check_targets(y, len(values))[:, 0] > 0
    if positive.all() or not positive.any():
        raise ValueError(
            f"{int(positive.sum())} positive and {int((~positive).sum())} negative labels: "
            "calibration needs both."
        )
    return values, positive


@dataclass(frozen=True)
class PriorShift:
    """Probabilities for a corpus with another share of positives than the training corpus.

    Scores become probabilities by ``PlattCalibration``. New ones are corrected for the share of
    positives among them, which is estimated by expectation maximisation: the share is the mean of
    the probabilities that it itself corrects. This assumes that positives look like positives and
    negatives like negatives in both corpora and only their numbers differ. Between PPI corpora
    that does not hold: all scores shrink if training examples are less alike, and the estimate
    fails. Then use ``mean_threshold``, or state the share of positives.

    Saerens, Latinne and Decaestecker (2002), Neural Computation 14(1).

    >>> rng = np.random.default_rng(0)
    >>> y = np.where(rng.random(4000) < 0.2, 1.0, -1.0)
    >>> shift = PriorShift.fit(y + rng.standard_normal(4000), y)
    >>> new = np.where(rng.random(4000) < 0.5, 1.0, -1.0) + rng.standard_normal(4000)
    >>> round(shift.prior, 1), round(shift.estimate(new), 1)
    (0.2, 0.5)
    """

    calibration: PlattCalibration
    prior: float  # share of positives in training

    @classmethod
    def fit(cls, heldout: Vector, y: Vector) -> PriorShift:
        """Fit the calibration and the share of positives to held-out scores and their labels.

        A label is positive if it is above 0. Raises ValueError unless both kinds occur.
        """
        return cls(PlattCalibration.fit(heldout, y), float((np.asarray(y) > 0).mean()))

    def estimate(self, scores: Vector) -> float:
        """Return the estimated share of positives, between 0 and 1, among new candidates.

        ``scores`` (m,) are the model's raw scores of all new candidates, on the scale of
        ``heldout`` in ``fit``; this method calibrates them itself. Expectation maximisation starts
        from the share of positives in training and ends when the share changes by less than
        ``PRIOR_TOLERANCE``, or after ``MAX_PRIOR_STEPS``. Without scores it is the share in
        training.
        """
        if not len(scores):
            return self.prior
        raw = self.calibration(scores)
        share = self.prior
        for _ in range(MAX_PRIOR_STEPS):
            before, share = share, float(_shift_prior(raw, self.prior, share).mean())
            if abs(share - before) < PRIOR_TOLERANCE:
                break
        return share

    def probabilities(self, scores: Vector) -> Vector:
        """Return probabilities (m,) of new candidates, corrected for their share of positives.

        ``scores`` (m,) are raw scores of all new candidates: the share is estimated from them, so
        the probability of a candidate depends on the others.
        """
        return _shift_prior(self.calibration(scores), self.prior, self.estimate(scores))

    def threshold(self, scores: Vector) -> float:
        """Return the threshold that maximises expected F1 on the new raw scores (m,) themselves.

        Probabilities are those corrected for the new share of positives. Raises ValueError for no
        scores.
        """
        probabilities = self.probabilities(scores) if len(scores) else np.empty(0)
        return expected_threshold(scores, probabilities)


def expected_threshold(scores: Vector, probabilities: Vector) -> float:
    """Return the threshold that maximises expected F1, from scores (n,) and probabilities (n,).

    Of the ``k`` highest scores, ``Σ_k p`` are expected to be positive, so predicting these has an
    expected F1 of ``2 Σ_k p / (k + Σ p)``. The threshold lies below the last of these scores by the
    tolerance of ties, so that round-off does not decide who reaches it. Tied scores are predicted
    alike; of thresholds with the same expected F1 the highest is returned. Raises ValueError for no
    scores.

    >>> round(expected_threshold(np.array([3.0, 1.0, 2.0]), np.array([0.9, 0.1, 0.7])), 6)
    2.0
    """
    scores = np.asarray(scores, dtype=np.float64)
    if not len(scores):
        raise ValueError("no scores: the threshold is chosen among those of new candidates")
    order, starts = sort_ties(scores)
    p = np.asarray(probabilities, dtype=np.float64)[order]
    reached = np.cumsum(p[::-1])[::-1][starts]  # a threshold cannot separate tied scores
    expected = 2 * reached / (len(p) - starts + p.sum())
    best = starts[::-1][choose_first(expected[::-1])]
    return float(scores[order[best]]) - tie_tolerance(scores)


def mean_threshold(scores: Vector) -> float:
    """Return the mean of the scores (n,) as a threshold for a corpus without labels.

    A model scores another corpus on another scale, to which the threshold of training does not
    apply. The mean needs no label and assumes no share of positives; it moves up if few scores are
    far above the rest. Between interaction corpora it lost least against the best threshold in
    hindsight (docs/experiments/interactions.md). If classes are far apart and positives are rare
    it is too low: then state the share of positives.

    The threshold lies below the mean by the tolerance of ties, so a score equal to the mean is
    positive. Raises ValueError for no scores.

    >>> round(mean_threshold(np.array([-1.25, -1.0, -0.75, 0.0])), 6)
    -0.75
    """
    values = np.asarray(scores, dtype=np.float64)
    if not len(values):
        raise ValueError("no scores: the threshold is chosen among those of new candidates")
    return float(values.mean()) - tie_tolerance(values)


def _shift_prior(probabilities: Vector, old: float, new: float) -> Vector:
    """Return probabilities for a share ``new`` of positives instead of ``old``, by Bayes' rule.

    ``old`` must be above 0 and below 1.
    """
    yes = probabilities * new / old
    no = (1 - probabilities) * (1 - new) / (1 - old)
    return np.asarray(yes / np.maximum(yes + no, np.finfo(float).tiny))
