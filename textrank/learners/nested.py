"""Evaluation inside evaluation: test folds, and documents held out inside what remains."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np
import scipy.linalg as sla

from textrank.candidates import Targets
from textrank.learners.checks import check_partition, groups_of
from textrank.learners.fit import Nested, Path
from textrank.learners.holdout import buckets, solve_blocks
from textrank.learners.inverse import inverse
from textrank.progress import track
from textrank.types import Features, Indices, Matrix, Vector


class PathLearner(Protocol):
    """A learner that gives the coefficients and held-out scores at each of its alphas."""

    @property
    def alphas(self) -> Sequence[float]:
        """The regularisation values."""

    def path(self, data: Matrix | Features, targets: Targets) -> Path:
        """Coefficients and held-out scores at every alpha."""


def nested_by_retraining(
    learner: PathLearner,
    data: Matrix | Features,
    targets: Targets,
    partitions: Sequence[Indices],
) -> list[Nested]:
    """Nested scores of any learner: one training for each fold of each partition."""
    divisions = [check_partition(folds, targets.documents) for folds in partitions]
    results = [_empty(tuple(learner.alphas), folds) for folds in divisions]
    jobs = [(result, f) for result in results for f in np.unique(result.folds)]
    for result, fold in track(jobs, "folds", len(jobs)):
        rest, out = np.flatnonzero(result.folds != fold), np.flatnonzero(result.folds == fold)
        path = learner.path(_part(data, rest, rest), targets.take(rest))
        result.outer[:, out] = path.predict(_part(data, out, rest))
        result.inner[:, fold, rest] = path.heldout
    return results


def nested_by_inverse(
    K: Matrix,
    y: Vector,
    documents: Indices,
    partitions: Sequence[Indices],
    alphas: tuple[float, ...],
    weights: Vector | None = None,
) -> list[Nested]:
    """Exact nested scores of RLS from one inverse ``G = (K + alpha I)^-1`` per alpha.

    Without fold ``o`` the coefficients are ``a' = a - G_:o G_oo^-1 a_o`` and a document's block
    is ``G'_dd = G_dd - G_do G_oo^-1 G_od``; then ``f_d = y_d - G'_dd^-1 a'_d`` as always.
    """
    divisions = [check_partition(folds, documents) for folds in partitions]
    results = [_empty(alphas, folds) for folds in divisions]
    groups = groups_of(documents, len(y), name="documents")
    for a, alpha in enumerate(track(alphas, "alphas", len(alphas))):
        G = inverse(K, alpha, weights)
        coef = G @ y
        for result in results:
            for fold in np.unique(result.folds):
                _fill_fold(G, coef, y, groups, result, a, int(fold))
    return results


def _fill_fold(
    G: Matrix, coef: Vector, y: Vector, groups: Sequence[Indices], into: Nested, a: int, fold: int
) -> None:
    out = np.flatnonzero(into.folds == fold)
    L = sla.cholesky(G[np.ix_(out, out)], lower=True, check_finite=False)
    z = sla.solve_triangular(L, coef[out], lower=True, check_finite=False)
    into.outer[a, out] = y[out] - sla.solve_triangular(L, z, lower=True, trans=1)

    # Columns of W are L^-1 G_od, so that W_d' W_d is what the fold's absence takes from G_dd.
    W = sla.solve_triangular(L, G[out], lower=True, overwrite_b=True, check_finite=False).T
    rest = coef - W @ z
    inside = [group for group in groups if into.folds[group[0]] != fold]
    for index in buckets(inside):
        part = W[index]
        blocks = G[index[:, :, None], index[:, None, :]] - part @ part.transpose(0, 2, 1)
        scores = solve_blocks(blocks, rest[index][:, :, None], y[index][:, :, None])
        into.inner[a, fold, index] = scores[:, :, 0]


def _empty(alphas: tuple[float, ...], folds: Indices) -> Nested:
    n, number = len(folds), int(folds.max()) + 1
    outer = np.full((len(alphas), n), np.nan)
    return Nested(alphas, folds, outer, np.full((len(alphas), number, n), np.nan))


def _part(data: Matrix | Features, rows: Indices, columns: Indices) -> Matrix | Features:
    return data.rows(rows) if isinstance(data, Features) else data[np.ix_(rows, columns)]
