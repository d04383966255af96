"""Weights of several kernels, chosen by the held-out score of their sum."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from textrank.docs import Targets
from textrank.learners.checks import check_gram
from textrank.learners.rls import RLS
from textrank.learners.selection import qualities
from textrank.ties import equally_good
from textrank.types import Matrix


@dataclass(frozen=True)
class KernelWeights:
    """Coordinate search for the weights of a sum of kernels that score best held out.

    In turn each weight is set to zero, halved and doubled, and the change kept that raises the
    exact held-out score of ``learner`` most, until none raises it by more than 1e-9 of itself. What
    it returns was chosen on the data it was given: to report a score, choose again inside each
    fold.

    >>> useful, noise = np.diag([2.0, 2.0, 2.0, 2.0]) + 1, np.eye(4)
    >>> targets = Targets(np.array([1.0, 1.0, 1.0, 2.0]), np.arange(4), np.arange(4))
    >>> search = KernelWeights(RLS(alphas=[0.1], select="squared_error"))
    >>> search.choose([useful, noise], targets)[1]
    0.0
    """

    learner: RLS = RLS()  # noqa: RUF009 - settings are frozen
    rounds: int = 10

    def __post_init__(self) -> None:
        if self.rounds < 1:
            raise ValueError(f"rounds must be at least 1, got {self.rounds}")

    def choose(self, kernels: Sequence[Matrix], targets: Targets) -> tuple[float, ...]:
        """A weight for each Gram matrix; the first one that is kept stays at its scale."""
        grams = [check_gram(K) for K in kernels]
        if len({K.shape for K in grams}) != 1:
            raise ValueError(f"Gram matrices differ in shape: {[K.shape for K in grams]}")
        weights = np.ones(len(grams))
        best = self.quality(grams, weights, targets)
        for _ in range(self.rounds):
            before = best
            for k in range(len(grams)):
                for moved in self._moves(weights, k):
                    found = self.quality(grams, moved, targets)
                    if not equally_good([best, found])[0]:
                        weights, best = moved, found
            if best == before:
                break
        return tuple(float(w) for w in weights)

    def quality(self, kernels: Sequence[Matrix], weights: Matrix, targets: Targets) -> float:
        """The held-out score of the weighted sum at its best alpha; larger is better."""
        K = sum(w * K for w, K in zip(weights, kernels, strict=True))
        path = self.learner.path(np.asarray(K), targets)
        return float(qualities(path.heldout, targets, self.learner.select).max())

    def _moves(self, weights: Matrix, k: int) -> list[Matrix]:
        values = (0.0, weights[k] / 2, weights[k] * 2) if weights[k] else (0.5, 1.0)
        moves = []
        for value in values:
            moved = weights.copy()
            moved[k] = value
            if moved.any():
                moves.append(moved)
        return moves
