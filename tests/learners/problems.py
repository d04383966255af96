"""Random problems that learners must master: singular, duplicated, tied, unbalanced."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from hypothesis import strategies as st

from textrank.candidates import Targets

EXPONENTS = st.integers(-15, 14)  # alpha = 2^e, the grid of the sources


@dataclass(frozen=True, eq=False)
class Problem:
    F: np.ndarray  # (n, d)
    y: np.ndarray  # (n,)
    groups: np.ndarray  # (n,) labels

    @property
    def K(self) -> np.ndarray:
        return self.F @ self.F.T

    @property
    def targets(self) -> Targets:
        return Targets(self.y, self.groups, self.groups)


@st.composite
def problems(draw, smallest=4, largest=24, binary=False):
    """Any number of features (rank), duplicated rows, ties in the labels, groups of any size."""
    n = draw(st.integers(smallest, largest))
    d = draw(st.integers(1, 2 * largest))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    F = rng.standard_normal((n, d)) / np.sqrt(d)
    if draw(st.booleans()):
        F = F[rng.integers(0, n, n)]  # duplicates
    if binary:
        y = np.where(rng.random(n) < 0.5, 1.0, -1.0)
        y[:2] = [1.0, -1.0]
    else:
        y = rng.integers(-2, 3, n).astype(float) if draw(st.booleans()) else rng.standard_normal(n)
    groups = rng.integers(0, draw(st.integers(2, n)), n)
    groups[:2] = [0, 1]  # two groups at least: holding out the only one leaves nothing
    return Problem(F, y, groups)


def least_squares(F, y, alpha, weights=None):
    """Weights of ridge regression by an orthogonal factorisation of the augmented system.

    Its condition is the root of that of the normal equations: a reference must not be the
    less exact of the two sides.
    """
    root = np.ones(len(y)) if weights is None else np.sqrt(weights)
    A = np.vstack([F * root[:, None], np.sqrt(alpha) * np.eye(F.shape[1])])
    return np.linalg.lstsq(A, np.concatenate([y * root, np.zeros(F.shape[1])]))[0]


def retrained(F, y, groups, alpha, weights=None):
    """Held-out scores the long way round: one training for each group."""
    scores = np.empty(len(y))
    for group in np.unique(groups):
        out, rest = groups == group, groups != group
        kept = None if weights is None else weights[rest]
        scores[out] = F[out] @ least_squares(F[rest], y[rest], alpha, kept)
    return scores
