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


def retrained(K, y, groups, alpha, weights=None):
    """Held-out scores the long way round: one training for each group."""
    scores = np.empty_like(y, dtype=float)
    diagonal = np.full(len(y), alpha) if weights is None else alpha / weights
    for group in np.unique(groups):
        out, rest = groups == group, groups != group
        a = np.linalg.solve(K[np.ix_(rest, rest)] + np.diag(diagonal[rest]), y[rest])
        scores[out] = K[np.ix_(out, rest)] @ a
    return scores
