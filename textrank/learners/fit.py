"""What a learner takes and gives: Fit, and Nested for evaluation inside evaluation."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import numpy as np

from textrank.docs import Neighbourhood, Targets
from textrank.learners.selection import Measure
from textrank.types import Features, Indices, Matrix, Vector


class Stage(Protocol):
    """A second look at scores, at all candidates of a text together."""

    def __call__(self, neighbourhood: Neighbourhood, scores: Vector) -> Vector:
        """The scores after it."""


def _staged(stage: Stage | None, scores: Vector, neighbourhood: Neighbourhood | None) -> Vector:
    if stage is None:
        return scores
    if neighbourhood is None:
        raise ValueError("a second stage over the document must know where candidates stand.")
    return stage(neighbourhood, scores)


@dataclass(frozen=True, eq=False)
class Fit:
    """What a learner found: coefficients at the chosen alpha, and the held-out scores at all.

    ``heldout[a, i]`` is the score of candidate ``i`` at ``alphas[a]`` by a model that never saw
    its document (its query, for a ranker).

    >>> fit = Fit((1.0,), 1.0, np.array([0.5, -0.5]), np.array([[0.2, -0.1]]))
    >>> fit.predict(np.array([[2.0, 0.0]]))
    array([1.])
    """

    alphas: tuple[float, ...]
    alpha: float  # the one chosen
    coef: Vector  # (n,) on candidates, or (d,) on features
    heldout: Matrix  # (alphas, n)
    stage: Stage | None = None  # what looks at the scores of a whole text afterwards

    def predict(
        self, data: Matrix | Features, neighbourhood: Neighbourhood | None = None
    ) -> Vector:
        """Scores of new candidates: one product with (m, n) kernel values or (m, d) features."""
        values = data.values if isinstance(data, Features) else data
        return self.finished(np.asarray(values @ self.coef), neighbourhood)

    def finished(self, scores: Vector, neighbourhood: Neighbourhood | None = None) -> Vector:
        """Such products after the second stage, where there is one."""
        return _staged(self.stage, scores, neighbourhood)

    @property
    def chosen(self) -> int:
        """Where the chosen alpha stands among the alphas."""
        return self.alphas.index(self.alpha)


@dataclass(frozen=True, eq=False)
class Path:
    """The models at every alpha, before one is chosen."""

    alphas: tuple[float, ...]
    coefs: Matrix  # (alphas, n) on candidates, or (alphas, d) on features
    heldout: Matrix  # (alphas, n)
    stages: Sequence[Stage] = ()  # one an alpha, or none

    def chosen(self, index: int) -> Fit:
        """The fit with the alpha at this place."""
        stage = self.stages[index] if self.stages else None
        return Fit(self.alphas, self.alphas[index], self.coefs[index], self.heldout, stage)

    def predict(
        self, data: Matrix | Features, neighbourhood: Neighbourhood | None = None
    ) -> Matrix:  # (alphas, m)
        """Scores of new candidates at every alpha."""
        values = data.values if isinstance(data, Features) else data
        scores = np.asarray((values @ self.coefs.T).T)
        stages: Sequence[Stage | None] = self.stages or [None] * len(scores)
        rows = [
            _staged(stage, row, neighbourhood) for stage, row in zip(stages, scores, strict=True)
        ]
        return np.array(rows).reshape(scores.shape)


@dataclass(frozen=True, eq=False)
class Nested:
    """One division into folds, with everything needed to choose alpha without looking at a fold.

    ``outer[a, i]`` scores candidate ``i`` by the model of all other folds;
    ``inner[a, f, i]`` scores candidate ``i`` by the model that saw neither fold ``f`` nor the
    document of ``i``, and is NaN where ``i`` lies in fold ``f`` itself.
    """

    alphas: tuple[float, ...]
    folds: Indices  # (n,) the fold of each candidate, 0 ..
    outer: Matrix  # (alphas, n)
    inner: Matrix  # (alphas, folds, n)


@runtime_checkable
class Learner(Protocol):
    """Settings of a learner; ``fit`` returns a new value and changes nothing."""

    @property
    def select(self) -> Measure:
        """What held-out scores are judged by when alpha is chosen."""

    def fit(self, data: Matrix | Features, targets: Targets) -> Fit:
        """Learns from a Gram matrix or from features, and chooses alpha by held-out score."""

    def nested(
        self, data: Matrix | Features, targets: Targets, partitions: Sequence[Indices]
    ) -> list[Nested]:
        """Test scores and inner held-out scores for each division into folds, at every alpha."""
