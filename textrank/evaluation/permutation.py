"""Could the result be chance? The same evaluation with permuted answers, all of them at once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import scipy.linalg as sla

from textrank.docs import Targets
from textrank.evaluation.splits import Split
from textrank.learners.checks import groups_of
from textrank.learners.fit import Learner
from textrank.learners.holdout import buckets, solve_blocks
from textrank.learners.rls import RLS
from textrank.linalg.inverse import inverse
from textrank.linalg.spectrum import gram
from textrank.progress import track
from textrank.ties import TIE_TOLERANCE, rank_ties
from textrank.types import Data, Features, Indices, Matrix, Vector, single


@dataclass(frozen=True)
class PermutationResult:
    """The AUC of the true answers among those of permuted ones, averaged over test folds."""

    auc: float
    p: float  # share of permutations that do as well, the true answers counted among them
    null_mean: float
    null_std: float
    permutations: int
    undefined: int  # test folds without both classes, summed over all permutations

    def to_dict(self) -> dict[str, Any]:
        """Plain values for a report."""
        return dict(vars(self))


def permutation_p(
    learner: Learner,
    data: Data,
    split: Split,
    *,
    permutations: int = 1000,
    within: Literal["corpus", "document"] = "corpus",
    seed: int = 0,
) -> PermutationResult:
    """The whole nested evaluation for every permutation of the answers.

    The answers only enter linearly: permuted ones are further columns of ``Y``, and one inverse
    per alpha serves all of them, with alpha chosen by inner AUC for each column and fold. Permuting
    ``within`` documents keeps the number of positives of each, a stricter test.
    """
    if not isinstance(learner, RLS) or learner.positive_weight != 1.0:
        raise ValueError(
            f"permuted answers are extra columns only for RLS without class weights, not for "
            f"{learner}. Set positive_weight to 1, or permute the corpus and run again."
        )
    if permutations < 1:
        raise ValueError(f"permutations must be at least 1, got {permutations}")
    targets = split.targets
    Y = permuted(targets, permutations, within, seed)
    data = single(data, "a permutation test")
    K = gram(data.values) if isinstance(data, Features) else np.asarray(data)
    scores = nested_scores(K, Y, targets.documents, split.partitions[0], learner.alphas)
    values, undefined = _fold_means(Y, scores, split)
    null = values[1:]
    reached = int((null >= values[0] - 1e-12).sum())
    return PermutationResult(
        auc=float(values[0]),
        p=(1 + reached) / (1 + permutations),
        null_mean=float(null.mean()),
        null_std=float(null.std()),
        permutations=permutations,
        undefined=undefined,
    )


def permuted(targets: Targets, permutations: int, within: str, seed: int) -> Matrix:
    """The true answers as the first column, then permuted ones: (n, 1 + permutations)."""
    if within not in ("corpus", "document"):
        raise ValueError(f"within must be 'corpus' or 'document', got {within!r}")
    rng = np.random.default_rng(seed)
    y = targets.y
    blocks = [np.arange(len(y))] if within == "corpus" else groups_of(targets.documents, len(y))
    Y = np.repeat(y[:, None], 1 + permutations, axis=1)
    for block in blocks:
        Y[block, 1:] = rng.permuted(Y[block, 1:], axis=0)
    return Y


def nested_scores(
    K: Matrix, Y: Matrix, documents: Indices, folds: Indices, alphas: Sequence[float]
) -> Matrix:  # (n, p)
    """Test scores of every column at the alpha with the best inner leave-document-out AUC."""
    best = np.full((int(folds.max()) + 1, Y.shape[1]), -np.inf)
    scores = np.zeros(Y.shape)
    groups = groups_of(documents, len(Y), name="documents")
    for alpha in track(sorted(alphas), "alphas", len(alphas)):
        G = inverse(K, alpha)
        A = G @ Y
        for fold in np.unique(folds):
            out, rest = np.flatnonzero(folds == fold), np.flatnonzero(folds != fold)
            inside = [group for group in groups if folds[group[0]] != fold]
            outer, inner = _fold_scores(G, A, Y, out, inside)
            quality = aucs(Y[rest], inner[rest])
            # The largest alpha of equals, as the learner itself chooses.
            quality = np.where(np.isnan(quality), -1.0, quality)
            better = quality >= best[fold] - TIE_TOLERANCE
            best[fold] = np.maximum(best[fold], quality)
            scores[np.ix_(out, better)] = outer[:, better]
    return scores


def aucs(Y: Matrix, scores: Matrix) -> Vector:  # (n, p), (n, p) -> (p,)
    """The AUC of every column, ties ½; NaN where a column has one class only."""
    positive = Y > 0
    p = positive.sum(axis=0).astype(np.float64)
    n = len(Y) - p
    ranks = np.where(positive, rank_ties(scores, axis=0), 0).sum(axis=0)
    pairs = p * n
    above = ranks - p * (p + 1) / 2
    return np.divide(above, pairs, out=np.full_like(p, np.nan), where=pairs > 0)


def _fold_scores(
    G: Matrix, A: Matrix, Y: Matrix, out: Indices, inside: Sequence[Indices]
) -> tuple[Matrix, Matrix]:
    """Scores of a fold by a model of the rest, and of the rest without each document."""
    L = sla.cholesky(G[np.ix_(out, out)], lower=True, check_finite=False)
    Z = sla.solve_triangular(L, A[out], lower=True, check_finite=False)
    outer = Y[out] - sla.solve_triangular(L, Z, lower=True, trans=1, check_finite=False)
    W = sla.solve_triangular(L, G[out], lower=True, check_finite=False).T
    rest = A - W @ Z
    inner = np.zeros(Y.shape)
    for index in buckets(inside):
        part = W[index]
        blocks = G[index[:, :, None], index[:, None, :]] - part @ part.transpose(0, 2, 1)
        inner[index] = solve_blocks(blocks, rest[index], Y[index])
    return outer, inner


def _fold_means(Y: Matrix, scores: Matrix, split: Split) -> tuple[Vector, int]:
    folds = split.partitions[0]
    tested = [f for f in np.unique(folds) if split.tested is None or int(f) in split.tested]
    rows = np.array([aucs(Y[folds == f], scores[folds == f]) for f in tested])
    defined = ~np.isnan(rows)
    if not defined.any(axis=0).all():
        raise ValueError(
            "some permutation has no test fold with both classes, so AUC is undefined. "
            "Take fewer folds."
        )
    means = np.where(defined, rows, 0).sum(axis=0) / defined.sum(axis=0)
    return means, int((~defined).sum())
