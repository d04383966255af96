"""Decisions where positives are more or less frequent than in training, without any new label."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from textrank.learners.calibration import Platt
from textrank.ties import choose_first, sort_ties, tie_tolerance
from textrank.types import Vector

STEPS = 1000
TOLERANCE = 1e-9


@dataclass(frozen=True)
class PriorShift:
    """What held-out scores say about a corpus with another share of positives than in training.

    Scores become probabilities by ``Platt``. New ones are corrected for the share of positives
    among them, which is estimated by expectation maximisation: the share is the mean of the
    probabilities that it itself corrects. This assumes that positives look like positives and
    negatives like negatives in both corpora, only their numbers differ. Between PPI corpora that
    does not hold: all scores shrink where training examples are less alike, and the estimate
    fails. Then take ``mean_threshold``, or state the share of positives.

    Saerens, Latinne and Decaestecker (2002), Neural Computation 14(1).

    >>> rng = np.random.default_rng(0)
    >>> y = np.where(rng.random(4000) < 0.2, 1.0, -1.0)
    >>> shift = PriorShift.of(y + rng.standard_normal(4000), y)
    >>> new = np.where(rng.random(4000) < 0.5, 1.0, -1.0) + rng.standard_normal(4000)
    >>> round(shift.prior, 1), round(shift.estimate(new), 1)
    (0.2, 0.5)
    """

    calibration: Platt
    prior: float  # share of positives in training

    @classmethod
    def of(cls, heldout: Vector, y: Vector) -> PriorShift:
        """From held-out scores and their answers."""
        return cls(Platt.of(heldout, y), float((np.asarray(y) > 0).mean()))

    def estimate(self, scores: Vector) -> float:
        """The share of positives among new candidates."""
        raw = self.calibration(scores)
        share = self.prior
        for _ in range(STEPS):
            before, share = share, float(_moved(raw, self.prior, share).mean())
            if abs(share - before) < TOLERANCE:
                break
        return share

    def probabilities(self, scores: Vector) -> Vector:
        """Probabilities of new candidates, corrected for their share of positives."""
        return _moved(self.calibration(scores), self.prior, self.estimate(scores))

    def threshold(self, scores: Vector) -> float:
        """The threshold of highest expected F among the new scores themselves."""
        known = self.probabilities(scores) if len(scores) else np.empty(0)
        return expected_threshold(scores, known)


def expected_threshold(scores: Vector, probabilities: Vector) -> float:
    """The threshold of highest expected F among scores with their probabilities.

    Of the ``k`` highest, ``Σ p`` are expected to be positive, so that the F expected of saying
    yes to them is ``2 Σ_k p / (k + Σ p)``. It lies below the last of these scores by the tolerance
    of ties, so that round-off does not change who reaches it.

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
    """The mean of the scores: yes to what scores above the average of its own corpus.

    A model scores another corpus on another scale, where the training threshold means nothing. The
    mean needs no label and assumes no share of positives; it moves up where few scores are far
    above the rest. Between interaction corpora it lost least against the best threshold in
    hindsight (docs/experiments/interactions.md). Where the two kinds are far apart and one is
    rare it lies too low: then state the share.

    The threshold lies below the mean by the tolerance of ties: a score equal to the mean is a yes.

    >>> round(mean_threshold(np.array([-1.25, -1.0, -0.75, 0.0])), 6)
    -0.75
    """
    values = np.asarray(scores, dtype=np.float64)
    if not len(values):
        raise ValueError("no scores: the threshold is chosen among those of new candidates")
    return float(values.mean()) - tie_tolerance(values)


def _moved(probabilities: Vector, old: float, new: float) -> Vector:
    """Probabilities under another share of positives, by Bayes' rule."""
    yes = probabilities * new / old
    no = (1 - probabilities) * (1 - new) / (1 - old)
    return np.asarray(yes / np.maximum(yes + no, np.finfo(float).tiny))
