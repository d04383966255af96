"""Rankers: RankRLS and, to compare with, RankSVM."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from textrank.docs import Targets
from textrank.estimators.machine import GRID, AnyKernel, KernelMachine
from textrank.learners import rankrls, ranksvm
from textrank.learners.checks import groups_of
from textrank.learners.preferences import Cost, incidence
from textrank.learners.rls import rls_path
from textrank.learners.selection import agreement
from textrank.ties import choose_largest, merge_ties
from textrank.types import Features, Matrix, Names, Vector, size


class _Ranker(KernelMachine):
    """What RankRLS and RankSVM share: scores, and agreement with the labels as their quality."""

    def predict(self, X: Any) -> Vector:
        """Scores of new samples; higher is better."""
        return self._scores(X)[:, 0]

    def score(self, X: Any, y: Any, queries: Any = None) -> float:
        """The share of differently labelled pairs in the right order, averaged over queries."""
        scores, labels = merge_ties(self.predict(X)), np.asarray(y, dtype=np.float64)
        rows = [np.arange(len(labels))] if queries is None else groups_of(queries, len(labels))
        shares = [agreement(scores[None, part], labels[part])[0] for part in rows]
        if np.isnan(shares).all():
            raise ValueError("no query has samples with different labels: nothing to score")
        return float(np.nanmean(shares))

    def _fit(self, learner: Any, X: Any, y: Any, queries: Any) -> None:
        X, y = self._read(X, y, y_numeric=True)
        n = len(y)
        if n < 2:
            raise ValueError(f"n_samples={n}: ranking compares, so it needs two or more")
        # Without queries all samples are ranked together, and each is held out on its own.
        query = np.zeros(n, dtype=np.intp) if queries is None else _numbers(queries, n)
        documents = np.arange(n) if queries is None else query
        data, dual = self._data(X)
        targets = Targets(np.asarray(y, dtype=np.float64), documents, query)
        fit = learner.fit(data if dual else _named(data), targets)
        self.alpha_, self.heldout_ = fit.alpha, fit.heldout
        self._keep(X, fit.coef[:, None], dual=dual)


class RankRLS(_Ranker):
    """Regularised least squares on preferences, alpha by exact leave-query-out.

    ``fit(X, y, queries=...)`` ranks within queries, without them globally, every sample held out
    on its own. ``fit(X, preferences=...)`` takes rows (better, worse) or (better, worse,
    magnitude) instead of labels; each preference is then held out on its own, and ``heldout_``
    is (alphas, preferences), the predicted differences.

    >>> X, y = np.array([[0.0], [1.0], [0.0], [2.0]]), [1.0, 2.0, 7.0, 9.0]
    >>> scores = RankRLS(alphas=[1.0]).fit(X, y, queries=[0, 0, 1, 1]).predict(X)
    >>> bool(scores[1] > scores[0]), bool(scores[3] > scores[2])
    (True, True)
    """

    def __init__(
        self,
        alphas: Sequence[float] = GRID,
        kernel: AnyKernel = "linear",
        *,
        cost: Cost = "magnitude",
        ties: bool = True,
        normalised: bool = False,
        gamma: float | None = None,
        degree: float = 3,
        coef0: float = 1,
    ) -> None:
        self.alphas = alphas
        self.kernel = kernel
        self.cost = cost
        self.ties = ties
        self.normalised = normalised
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0

    def fit(
        self,
        X: Any,
        y: Any = None,
        queries: Any = None,
        preferences: Any = None,
    ) -> RankRLS:
        """Learns from labels ``y``, or from ``preferences`` between rows of ``X``."""
        if preferences is not None:
            if y is not None or queries is not None:
                raise ValueError("give either preferences or labels (y, queries), not both")
            return self._fit_preferences(X, np.asarray(preferences, dtype=np.float64))
        if y is None:
            raise ValueError("requires y to be passed, but the target y is None; or preferences")
        learner = rankrls.RankRLS(
            alphas=self._check_alphas(),
            cost=self.cost,
            ties=self.ties,
            normalised=self.normalised,
            scope="global" if queries is None else "query",
        )
        self._fit(learner, X, y, queries)
        return self

    def _fit_preferences(self, X: Any, preferences: Matrix) -> RankRLS:
        alphas = self._check_alphas()
        X = self._read(X)
        n = size(X)
        pairs, z, w = _edges(preferences, n, self.cost, self.normalised)
        data, dual = self._data(X)
        M = incidence(pairs, n)
        differences = M @ (M @ data).T if dual else M @ data
        A, heldout = rls_path(
            np.asarray(differences) if dual else differences,
            z[:, None],
            np.array(alphas),
            groups_of(np.arange(len(pairs)), len(pairs)),
            weights=w,
            dual=dual,
        )
        error = ((heldout[:, :, 0] - z) ** 2) @ w
        chosen = choose_largest(-error, alphas)
        self.alpha_ = alphas[chosen]
        self.heldout_ = heldout[:, :, 0]
        self._keep(X, M.T @ A[chosen] if dual else A[chosen], dual=dual)
        return self


class RankSVM(_Ranker):
    """Squared hinge on preferred pairs: the baseline; alpha by held-out folds of queries.

    >>> X, y = np.array([[0.0], [1.0], [0.0], [2.0]]), [1.0, 2.0, 7.0, 9.0]
    >>> scores = RankSVM(alphas=[1.0], folds=2).fit(X, y, queries=[0, 0, 1, 1]).predict(X)
    >>> bool(scores[1] > scores[0]), bool(scores[3] > scores[2])
    (True, True)
    """

    def __init__(
        self,
        alphas: Sequence[float] = (0.01, 0.1, 1.0, 10.0, 100.0),
        kernel: AnyKernel = "linear",
        *,
        folds: int = 5,
        gamma: float | None = None,
        degree: float = 3,
        coef0: float = 1,
    ) -> None:
        self.alphas = alphas
        self.kernel = kernel
        self.folds = folds
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0

    def fit(self, X: Any, y: Any, queries: Any = None) -> RankSVM:
        """Learns from labels, within queries where they are given."""
        self._fit(ranksvm.RankSVM(alphas=self._check_alphas(), folds=self.folds), X, y, queries)
        return self


def _numbers(labels: Any, n: int) -> NDArray[np.intp]:
    groups_of(labels, n, name="queries")
    return np.unique(np.asarray(labels), return_inverse=True)[1]


def _named(X: Any) -> Features:
    return Features(sp.csr_array(X), Names.of([str(i) for i in range(X.shape[1])]))


def _edges(
    preferences: Matrix, n: int, cost: Cost, normalised: bool
) -> tuple[NDArray[np.intp], Vector, Vector]:
    if preferences.ndim != 2 or preferences.shape[1] not in (2, 3) or not len(preferences):
        raise ValueError(
            f"preferences are rows (better, worse[, magnitude]), got shape {preferences.shape}"
        )
    pairs = preferences[:, :2].astype(np.intp)
    if (pairs != preferences[:, :2]).any() or pairs.min() < 0 or pairs.max() >= n:
        raise ValueError(f"preferences must name rows 0 .. {n - 1} of X")
    size = preferences[:, 2] if preferences.shape[1] == 3 else np.ones(len(pairs))
    if (size <= 0).any() or (pairs[:, 0] == pairs[:, 1]).any():
        raise ValueError("a preference is between two different rows, with a positive magnitude")
    weight = 1 / size**2 if cost == "bound" else np.ones(len(pairs))
    return (
        pairs,
        (np.ones(len(pairs)) if cost == "sign" else size),
        (weight / len(pairs) if normalised else weight),
    )
