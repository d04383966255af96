"""Greedy choice of features, each judged by the exact held-out error of the model with it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from textrank.docs import Targets
from textrank.learners.checks import check_alphas, check_features, check_targets, groups_of
from textrank.learners.preferences import Centring
from textrank.linalg.spectrum import densified
from textrank.ties import choose_first
from textrank.types import Features, Indices, Matrix, Vector


@dataclass(frozen=True, eq=False)
class Selection:
    """The chosen columns in their order, the held-out error with each, and the final weights."""

    columns: Indices  # (k,)
    errors: Vector  # (k,) mean squared held-out error after each choice
    weights: Vector  # (k,)


@dataclass(frozen=True)
class GreedyFeatures:
    """Features added one at a time, the next always the one with the least held-out error.

    The error is that of RLS with whole documents held out, or, where ``rank``, that of RankRLS
    (all pairs, magnitudes kept) with whole queries held out. A feature changes the inverse by
    ``- s c c'``, ``c = G v``, so all candidates are judged in O(n h d) a step, h the size of a
    group, without a single retraining.

    Pahikkala, Airola and Salakoski (2010), for leave-one-out.

    >>> X = np.random.default_rng(0).normal(size=(30, 5))
    >>> one = np.arange(30)
    >>> GreedyFeatures(count=1).choose(X, Targets(X[:, 3], one, one)).columns.tolist()
    [3]
    """

    count: int = 10
    alpha: float = 1.0
    rank: bool = False

    def __post_init__(self) -> None:
        check_alphas([self.alpha])
        if self.count < 1:
            raise ValueError(f"count must be at least 1, got {self.count}")

    def choose(self, data: Features | Matrix, targets: Targets) -> Selection:
        """The best ``count`` columns of the features (n, d)."""
        F = densified(check_features(data))
        y = check_targets(targets.y, len(F))[:, 0]
        if self.count > F.shape[1]:
            raise ValueError(f"count is {self.count}, but there are {F.shape[1]} features")
        units = targets.queries if self.rank else targets.documents
        groups = groups_of(units, len(y), name="queries" if self.rank else "documents")
        if self.rank:
            centring = Centring(np.unique(units, return_inverse=True)[1])
            F, y = centring.root(F), centring.target(y)
        return _grown(F, y, groups, self.alpha, self.count)


def _grown(V: Matrix, y: Vector, groups: Sequence[Indices], alpha: float, count: int) -> Selection:
    state = _State(V, V / alpha, y / alpha, [np.eye(len(g)) * alpha for g in groups], groups)
    columns: list[int] = []
    errors = []
    for _ in range(count):
        error = state.errors()
        error[columns] = np.inf
        best = choose_first(-error)
        errors.append(error[best] / len(y))
        columns.append(best)
        state = state.with_column(best)
    chosen = np.array(columns, dtype=np.intp)
    return Selection(chosen, np.array(errors), np.asarray(V[:, chosen].T @ state.a))


@dataclass(frozen=True, eq=False)
class _State:
    """The model with the columns chosen so far."""

    V: Matrix  # (n, d) all features
    C: Matrix  # (n, d) G V
    a: Vector  # (n,) G y
    B: Sequence[Matrix]  # (h, h) the inverse of each group's block of G
    groups: Sequence[Indices]

    def errors(self) -> Vector:  # (d,)
        """The sum of squared held-out errors with each further column.

        With the column, ``x = G'_UU^-1 a'_U = r + P k``, ``P = B C_U`` and ``r = B a_U``: only
        the number ``k`` depends on more than the group.
        """
        s = 1.0 / (1.0 + np.einsum("nd,nd->d", self.V, self.C))
        va = self.V.T @ self.a
        total = np.zeros(len(s))
        for rows, B in zip(self.groups, self.B, strict=True):
            C = self.C[rows]
            P, r = B @ C, B @ self.a[rows]
            q = np.einsum("hd,hd->d", C, P)
            k = s * (C.T @ r - va) / np.maximum(1.0 - s * q, 1e-300)
            total += r @ r + 2 * k * (P.T @ r) + k**2 * np.einsum("hd,hd->d", P, P)
        return total

    def with_column(self, column: int) -> _State:
        """The model with this column too: rank-one changes throughout."""
        c, v = self.C[:, column].copy(), self.V[:, column]
        s = 1.0 / (1.0 + float(v @ c))
        B = []
        for rows, block in zip(self.groups, self.B, strict=True):
            u = block @ c[rows]
            B.append(block + np.outer(u, u) * (s / (1.0 - s * float(c[rows] @ u))))
        return _State(
            self.V,
            self.C - s * np.outer(c, c @ self.V),
            self.a - s * c * float(v @ self.a),
            B,
            self.groups,
        )
