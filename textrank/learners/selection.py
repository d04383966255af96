"""Selection of kernels, kernel weights and features by exact held-out scores of training.

``fit_best_kernel`` and ``nested_scores_of_kernels`` choose among the Gram matrices of a
``ChoiceKernel``; ``KernelWeights`` searches weights of a sum of kernels; ``GreedyFeatures`` adds
features one by one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from textrank.candidates import Targets
from textrank.features import Features, GramAlternatives, Indices, KernelData, Matrix, Vector
from textrank.learners.base import (
    Fit,
    NestedScores,
    check_alphas,
    check_features,
    check_gram,
    check_targets,
    rows_by_group,
    score_alphas,
)
from textrank.learners.rankrls import QueryCentring
from textrank.learners.rls import RLS
from textrank.linalg import to_dense
from textrank.metrics import choose_first, choose_largest, is_tied_with_best
from textrank.progress import track
from textrank.protocols import Learner


def fit_best_kernel(learner: Learner, data: KernelData, targets: Targets) -> tuple[int, Fit]:
    """Return the number of the kernel with the best held-out scores, and its fit.

    ``data`` is one Gram matrix or ``Features``, or ``GramAlternatives`` to choose from. Each kernel
    is judged at its best alpha. Of equally good kernels (``is_tied_with_best``) the one with the
    largest alpha is taken, of several the last one. Data without a choice have the number 0. Raises
    ValueError if there is no kernel.
    """
    if not isinstance(data, GramAlternatives):
        return 0, learner.fit(data, targets)
    if not len(data.grams):
        raise ValueError("no kernels to choose from. Give at least one.")
    fits = [learner.fit(K, targets) for K in track(data.grams, "kernels", len(data.grams))]
    heldout = np.array([fit.heldout[fit.alpha_index] for fit in fits])
    values = score_alphas(heldout, targets, learner.select)
    best = choose_largest(values, [fit.alpha for fit in fits])
    return best, fits[best]


def nested_scores_of_kernels(
    learner: Learner, data: KernelData, targets: Targets, partitions: Sequence[Indices]
) -> tuple[list[NestedScores], list[Mapping[str, float]]]:
    """Return nested scores of every kernel at every alpha, and the settings of each row's kernel.

    There is one result per partition (fold number of each candidate, (n,)). Its rows are ordered by
    kernel, then by alpha, so that choosing a row chooses both. Data without a choice of kernels
    have no settings: the second result is empty. ``partitions`` must not be empty. Raises
    ValueError if a group is in two folds.
    """
    if not isinstance(data, GramAlternatives):
        return learner.nested(data, targets, partitions), []
    nested_by_kernel = [
        learner.nested(K, targets, partitions)
        for K in track(data.grams, "kernels", len(data.grams))
    ]
    settings = [
        setting
        for setting, nested in zip(data.settings, nested_by_kernel, strict=True)
        for _ in nested[0].alphas
    ]
    return [
        stack_alphas([nested[split] for nested in nested_by_kernel])
        for split in range(len(partitions))
    ], settings


def stack_alphas(parts: Sequence[NestedScores]) -> NestedScores:
    """Return nested scores of the same folds with the alphas of all parts, one after the other.

    There must be at least one part; that all have the same folds is not checked.
    """
    return NestedScores(
        tuple(alpha for part in parts for alpha in part.alphas),
        parts[0].folds,
        np.concatenate([part.outer for part in parts]),
        np.concatenate([part.inner for part in parts]),
    )


@dataclass(frozen=True)
class KernelWeights:
    """Coordinate search for the weights of a sum of kernels with the best held-out scores.

    In turn each weight is set to zero, halved and doubled, and every change is kept that raises the
    exact held-out score of ``learner``, until none raises it by more than 1e-9 of itself or after
    ``rounds`` rounds. The weights are chosen on the data given: to report a score, choose again
    inside each fold.

    >>> useful, noise = np.diag([2.0, 2.0, 2.0, 2.0]) + 1, np.eye(4)
    >>> targets = Targets(np.array([1.0, 1.0, 1.0, 2.0]), np.arange(4), np.arange(4))
    >>> search = KernelWeights(RLS(alphas=[0.1], select="squared_error"))
    >>> search.choose([useful, noise], targets)[1]
    0.0
    """

    learner: RLS = RLS()  # noqa: RUF009 - settings are frozen
    rounds: int = 10

    def __post_init__(self) -> None:
        """Raise ValueError unless there is at least one round."""
        if self.rounds < 1:
            raise ValueError(f"rounds must be at least 1, got {self.rounds}")

    def choose(self, kernels: Sequence[Matrix], targets: Targets) -> tuple[float, ...]:
        """Return one weight per Gram matrix (n, n), starting from 1; zero drops a kernel.

        Coordinate search: for each kernel in turn, its weight at this turn is zeroed, halved and
        doubled (0.5 and 1 are tried instead of 0), and the best of these is kept where the held-out
        quality rises by more than 1e-9 of itself; at most ``rounds`` rounds, until one changes
        nothing. Weights are in the order of ``kernels``, not all zero. Raises ValueError if the
        matrices differ in shape, one is not a Gram matrix, or there is none.
        """
        grams = [check_gram(K) for K in kernels]
        if len({K.shape for K in grams}) != 1:
            raise ValueError(f"Gram matrices differ in shape: {[K.shape for K in grams]}")
        weights = np.ones(len(grams))
        best = self.quality(grams, weights, targets)
        for _ in range(self.rounds):
            before = best
            for k in range(len(grams)):
                for moved in self._moves(weights, k):
                    quality = self.quality(grams, moved, targets)
                    if not is_tied_with_best([best, quality])[0]:
                        weights, best = moved, quality
            if best == before:
                break
        return tuple(float(w) for w in weights)

    def quality(self, kernels: Sequence[Matrix], weights: Matrix, targets: Targets) -> float:
        """Return the held-out metric of the weighted sum at its best alpha; larger is better.

        ``weights`` (k,) has one weight per Gram matrix of ``kernels``. Raises ValueError if the
        labels leave the metric ``learner.select`` undefined.
        """
        K = sum(w * K for w, K in zip(weights, kernels, strict=True))
        path = self.learner.path(np.asarray(K), targets)
        return float(score_alphas(path.heldout, targets, self.learner.select).max())

    def _moves(self, weights: Matrix, k: int) -> list[Matrix]:
        """Return copies of the weights (k,) with another weight of kernel ``k``, except all zero.

        A positive weight becomes zero, half or double; a zero weight becomes 0.5 or 1.
        """
        values = (0.0, weights[k] / 2, weights[k] * 2) if weights[k] else (0.5, 1.0)
        moves = []
        for value in values:
            moved = weights.copy()
            moved[k] = value
            if moved.any():
                moves.append(moved)
        return moves


@dataclass(frozen=True, eq=False)
class FeatureSelection:
    """Selected features in the order of selection, with held-out errors and final weights.

    ``columns`` are indices of features; ``weights`` are those of the model with all of them.
    """

    columns: Indices  # (k,)
    errors: Vector  # (k,) mean squared held-out error after each choice
    weights: Vector  # (k,)


@dataclass(frozen=True)
class GreedyFeatures:
    """Greedy forward selection: add the feature with the least held-out error, ``count`` times.

    The error is that of RLS with whole groups held out, or, if ``rank``, that of RankRLS (all
    pairs, magnitudes kept) with whole queries held out. A feature changes the inverse by
    ``- s c c'``, ``c = G v``, so all features are judged in O(n h d) per step, h the size of a
    group, without retraining.

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
        """Raise ValueError unless alpha is positive and finite and the count at least 1."""
        check_alphas([self.alpha])
        if self.count < 1:
            raise ValueError(f"count must be at least 1, got {self.count}")

    def choose(self, data: Features | Matrix, targets: Targets) -> FeatureSelection:
        """Select ``count`` columns of features (n, d), in the order in which they are added.

        Of equally good columns the first is taken. A ranking holds out queries and does not look at
        groups, otherwise groups are held out. Only the first column of the labels is used; sample
        weights and preferences are ignored. Raises ValueError if there are fewer than ``count``
        columns, and for features or labels that are not finite.
        """
        F = to_dense(check_features(data))
        y = check_targets(targets.y, len(F))[:, 0]
        if self.count > F.shape[1]:
            raise ValueError(f"count is {self.count}, but there are {F.shape[1]} features")
        units = targets.queries if self.rank else targets.groups
        groups = rows_by_group(units, len(y), name="queries" if self.rank else "documents")
        if self.rank:
            centring = QueryCentring(np.unique(units, return_inverse=True)[1])
            F, y = centring.root(F), centring.target(y)
        return _select_greedily(F, y, groups, self.alpha, self.count)


def _select_greedily(
    V: Matrix, y: Vector, groups: Sequence[Indices], alpha: float, count: int
) -> FeatureSelection:
    """Select ``count`` columns of ``V`` (n, d) by the mean squared held-out error of ``y`` (n,).

    Each step adds the column with the smallest error, of equals the first. ``groups`` are the row
    numbers held out together; together they cover all rows. The result has the columns in order of
    selection, the error after each, and the weights (count,) of the last model.
    """
    state = _GreedyState(V, V / alpha, y / alpha, [np.eye(len(g)) * alpha for g in groups], groups)
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
    return FeatureSelection(chosen, np.array(errors), np.asarray(V[:, chosen].T @ state.a))


@dataclass(frozen=True, eq=False)
class _GreedyState:
    """RLS model with the columns selected so far, of inverse ``G``; never changed in place.

    ``C``, ``a`` and ``B`` are what is needed to judge every further column.
    """

    V: Matrix  # (n, d) all features
    C: Matrix  # (n, d) G V
    a: Vector  # (n,) G y
    B: Sequence[Matrix]  # (h, h) the inverse of each group's block of G
    groups: Sequence[Indices]

    def errors(self) -> Vector:  # (d,)
        """Return the sum of squared held-out errors with each further column, (d,).

        Values at columns that are already selected mean nothing. With the column,
        ``x = G'_UU^-1 a'_U = r + P k``, ``P = B C_U`` and ``r = B a_U``: only the number ``k``
        depends on more than the group.
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

    def with_column(self, column: int) -> _GreedyState:
        """Return the state with this column of ``V`` too, by rank-one updates.

        This one is not changed. The column must not have been selected before, which is not
        checked. Costs O(n d).
        """
        c, v = self.C[:, column].copy(), self.V[:, column]
        s = 1.0 / (1.0 + float(v @ c))
        B = []
        for rows, block in zip(self.groups, self.B, strict=True):
            u = block @ c[rows]
            B.append(block + np.outer(u, u) * (s / (1.0 - s * float(c[rows] @ u))))
        return _GreedyState(
            self.V,
            self.C - s * np.outer(c, c @ self.V),
            self.a - s * c * float(v @ self.a),
            B,
            self.groups,
        )
