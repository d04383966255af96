"""Evaluation inside evaluation: test folds, and documents held out inside what remains."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import numpy as np
import scipy.linalg as sla

from textrank.docs import Targets
from textrank.learners.checks import check_partition, groups_of
from textrank.learners.fit import Fit, Nested, Path
from textrank.learners.holdout import buckets, solve_blocks
from textrank.learners.selection import Measure, choose
from textrank.linalg.inverse import inverse
from textrank.progress import track
from textrank.types import Features, Indices, Matrix, SparseMatrix, Vector


@runtime_checkable
class PathLearner(Protocol):
    """A learner that gives the coefficients and held-out scores at each of its alphas."""

    @property
    def alphas(self) -> Sequence[float]:
        """The regularisation values."""

    def path(self, data: Matrix | Features, targets: Targets) -> Path:
        """Coefficients and held-out scores at every alpha."""


class MetaLearner(ABC):
    """A learner made of another one: its alphas, one of them chosen by held-out scores."""

    learner: PathLearner
    select: Measure

    @property
    def alphas(self) -> Sequence[float]:
        """Those of the learner inside."""
        return self.learner.alphas

    @abstractmethod
    def path(self, data: Matrix | Features, targets: Targets) -> Path:
        """Coefficients and held-out scores at every alpha."""

    def fit(self, data: Matrix | Features, targets: Targets) -> Fit:
        """Learns, and chooses one alpha by the held-out scores."""
        path = self.path(data, targets)
        return path.chosen(choose(path.heldout, targets, self.select, path.alphas))

    def nested(
        self, data: Matrix | Features, targets: Targets, partitions: Sequence[Indices]
    ) -> list[Nested]:
        """Test and inner held-out scores for each division into folds, at every alpha."""
        return nested_by_retraining(self, data, targets, partitions)


def nested_by_retraining(
    learner: PathLearner,
    data: Matrix | Features,
    targets: Targets,
    partitions: Sequence[Indices],
) -> list[Nested]:
    """Nested scores of any learner: one training for each fold of each partition."""
    divisions = [check_partition(folds, targets.documents) for folds in partitions]
    results = [empty(tuple(learner.alphas), folds) for folds in divisions]
    jobs = [(result, f) for result in results for f in np.unique(result.folds)]
    for result, fold in track(jobs, "folds", len(jobs)):
        rest, out = np.flatnonzero(result.folds != fold), np.flatnonzero(result.folds == fold)
        path = learner.path(_part(data, rest, rest), targets.take(rest))
        result.outer[:, out] = path.predict(_part(data, out, rest), targets.take(out).neighbourhood)
        result.inner[:, fold, rest] = path.heldout
    return results


def heldout_by_folds(
    coefs: Callable[[Matrix | SparseMatrix, Vector, Indices], Matrix],
    X: Matrix | SparseMatrix,
    y: Vector,
    targets: Targets,
    count: int,
) -> Matrix:  # (a, n)
    """Held-out scores of a learner without a closed form: documents dealt into ``count`` folds.

    ``coefs(X, y, queries)`` gives the weights of the features at every alpha.
    """
    document = np.unique(targets.documents, return_inverse=True)[1]
    if not document.any():
        raise ValueError("all candidates are of one document: nothing can be held out")
    folds = document % min(count, int(document.max()) + 1)
    parts = []
    for fold in range(int(folds.max()) + 1):
        rest, out = np.flatnonzero(folds != fold), np.flatnonzero(folds == fold)
        W = coefs(X[rest], y[rest], targets.queries[rest])
        parts.append((out, np.asarray((X[out] @ W.T).T)))
    heldout = np.empty((len(parts[0][1]), len(y)))
    for out, scores in parts:
        heldout[:, out] = scores
    return heldout


def nested_by_inverse(
    K: Matrix,
    y: Vector,
    documents: Indices,
    partitions: Sequence[Indices],
    alphas: tuple[float, ...],
    *,
    weights: Vector | None = None,
    readout: Matrix | None = None,
) -> list[Nested]:
    """Exact nested scores of RLS from one inverse ``G = (K + alpha I)^-1`` per alpha.

    Without fold ``o`` the coefficients are ``a' = a - G_:o G_oo^-1 a_o`` and a document's block
    is ``G'_dd = G_dd - G_do G_oo^-1 G_od``; then ``f_d = y_d - G'_dd^-1 a'_d`` as always. Where
    scores are not ``K a`` but ``readout @ a``, they are ``(B a')_d - (B G')_dd G'_dd^-1 a'_d``.
    """
    found = nested_of_many(
        K, y[:, None], documents, partitions, alphas, weights=weights, readout=readout
    )
    return found[0]


def nested_of_many(
    K: Matrix,
    Y: Matrix,
    documents: Indices,
    partitions: Sequence[Indices],
    alphas: tuple[float, ...],
    *,
    weights: Vector | None = None,
    readout: Matrix | None = None,
) -> list[list[Nested]]:
    """``nested_by_inverse`` of several answers about the same candidates, an inverse for all."""
    divisions = [check_partition(folds, documents) for folds in partitions]
    results = [[empty(alphas, folds) for folds in divisions] for _ in Y.T]
    groups = groups_of(documents, len(Y), name="documents")
    for a, alpha in enumerate(track(alphas, "alphas", len(alphas))):
        G = inverse(K, alpha, weights)
        BG = None if readout is None else readout @ G
        for y, own in zip(Y.T, results, strict=True):
            whole = _Whole(G, G @ y, y, BG)
            for result in own:
                for fold in np.unique(result.folds):
                    _fill_fold(whole, groups, result, a, int(fold))
    return results


@dataclass(frozen=True, eq=False)
class _Whole:
    """The model of all candidates at one alpha."""

    G: Matrix  # (n, n)
    a: Vector  # (n,)
    y: Vector  # (n,)
    BG: Matrix | None  # (n, n) readout times G


def _fill_fold(whole: _Whole, groups: Sequence[Indices], into: Nested, a: int, fold: int) -> None:
    out = np.flatnonzero(into.folds == fold)
    L = sla.cholesky(whole.G[np.ix_(out, out)], lower=True, check_finite=False)
    z = sla.solve_triangular(L, whole.a[out], lower=True, check_finite=False)
    # Columns of W are L^-1 G_od, so that W_d' W_d is what the fold's absence takes from G_dd.
    W = sla.solve_triangular(L, whole.G[out], lower=True, overwrite_b=True, check_finite=False).T
    rest = _Whole(whole.G, whole.a - W @ z, whole.y, whole.BG)
    inside = [group for group in groups if into.folds[group[0]] != fold]

    if whole.BG is None:
        x = sla.solve_triangular(L, z, lower=True, trans=1, check_finite=False)
        into.outer[a, out] = whole.y[out] - x
        for index in buckets(inside):
            into.inner[a, fold, index] = _inner_scores(rest, W, index)
        return

    right = whole.BG[:, out].T
    X = sla.solve_triangular(L, right, lower=True, overwrite_b=True, check_finite=False).T
    scores = whole.BG @ whole.y - X @ z  # B a', of the fold itself and of all others
    into.outer[a, out] = scores[out]
    for index in buckets(inside):
        into.inner[a, fold, index] = scores[index] - _read_correction(rest, W, X, index)


def _blocks(whole: _Whole, W: Matrix, index: Indices) -> Matrix:
    part = W[index]
    G = whole.G[index[:, :, None], index[:, None, :]]
    return np.asarray(G - part @ part.transpose(0, 2, 1))


def _inner_scores(rest: _Whole, W: Matrix, index: Indices) -> Matrix:
    a, y = rest.a[index][:, :, None], rest.y[index][:, :, None]
    return solve_blocks(_blocks(rest, W, index), a, y)[:, :, 0]


def _read_correction(rest: _Whole, W: Matrix, X: Matrix, index: Indices) -> Matrix:
    x = np.linalg.solve(_blocks(rest, W, index), rest.a[index][:, :, None])
    BG = rest.BG[index[:, :, None], index[:, None, :]]  # type: ignore[index]
    return np.asarray(((BG - X[index] @ W[index].transpose(0, 2, 1)) @ x)[:, :, 0])


def empty(alphas: tuple[float, ...], folds: Indices) -> Nested:
    """Nested scores that are still to be filled in."""
    n, number = len(folds), int(folds.max()) + 1
    outer = np.full((len(alphas), n), np.nan)
    return Nested(alphas, folds, outer, np.full((len(alphas), number, n), np.nan))


def _part(data: Matrix | Features, rows: Indices, columns: Indices) -> Matrix | Features:
    return data.rows(rows) if isinstance(data, Features) else data[np.ix_(rows, columns)]
