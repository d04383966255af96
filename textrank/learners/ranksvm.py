"""RankSVM: squared hinge loss on all preferred pairs, in O(n log n) per step.

``RankSVM`` is the learner, ``_Problem`` its loss and gradient, and ``_Merge`` one merge of the
bottom-up merge sort by label that finds the candidates in each margin.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.optimize import minimize

from textrank._ragged import run_starts
from textrank.candidates import Targets
from textrank.features import Features, Indices, Matrix, SparseMatrix, Vector
from textrank.learners.base import (
    Fit,
    NestedScores,
    RegularizationPath,
    SelectionMetric,
    check_alphas,
    check_features,
    check_gram,
    check_metric,
    check_targets,
    check_unweighted,
    choose_alpha,
)
from textrank.learners.holdout import heldout_by_folds, nested_by_retraining


@dataclass(frozen=True)
class RankSVM:
    """Ranking support vector machine with squared hinge loss, the baseline of RankRLS.

    Minimises ``alpha ||f||^2 + sum max(0, 1 - f(x_h) + f(x_j))^2`` over pairs of a query with
    ``y_h > y_j``. The sums over pairs need, for each candidate, only the count and the sum of
    scores of those in its margin; merging the candidates by label finds them in O(n log n) steps
    per doubling of the number of different labels. A Gram matrix goes through its empirical kernel
    map. Held-out scores come from ``folds`` trainings, groups kept whole.

    >>> from textrank.features import FeatureNames
    >>> F = Features(sp.csr_array(np.array([[1.0], [0.0]])), FeatureNames.from_iterable("a"))
    >>> both = np.zeros(2, dtype=np.intp)
    >>> svm = RankSVM(alphas=[1.0])
    >>> svm.coefs(F.values, np.array([1.0, 0.0]), both).round(6)
    array([[0.5]])
    """

    alphas: Sequence[float] = (0.25, 0.5, 1.0, 2.0, 4.0)
    select: SelectionMetric = "disagreement"
    folds: int = 5
    tolerance: float = 1e-7
    iterations: int = 1000

    def __post_init__(self) -> None:
        object.__setattr__(self, "alphas", check_alphas(self.alphas))
        check_metric(self.select)
        if self.folds < 2 or self.iterations < 1 or not self.tolerance > 0:
            raise ValueError(
                "folds must be at least 2, iterations at least 1 and tolerance positive, "
                f"got {self.folds}, {self.iterations} and {self.tolerance}"
            )

    def fit(self, data: Matrix | Features, targets: Targets) -> Fit:
        """Train on a Gram matrix or on features and choose alpha by held-out folds of groups.

        Raises ValueError for sample weights, if all candidates are in one group, and if the labels
        leave the metric ``select`` undefined.
        """
        path = self.path(data, targets)
        return path.select(choose_alpha(path.heldout, targets, self.select, path.alphas))

    def path(self, data: Matrix | Features, targets: Targets) -> RegularizationPath:
        """Return coefficients, or feature weights, and held-out scores at every alpha.

        A Gram matrix (n, n) gives coefficients of candidates (alphas, n), ``Features`` give feature
        weights (alphas, d). Held-out scores are (alphas, n). Raises ValueError for sample weights,
        and if all candidates are in one group.
        """
        check_unweighted(targets, "ranksvm.v1")
        X, back = _to_features(data)
        y = check_targets(targets.y, X.shape[0])[:, 0]
        heldout = heldout_by_folds(self.coefs, X, y, targets, self.folds)
        W = self.coefs(X, y, targets.queries)
        return RegularizationPath(tuple(self.alphas), W if back is None else W @ back.T, heldout)

    def nested(
        self, data: Matrix | Features, targets: Targets, partitions: Sequence[Indices]
    ) -> list[NestedScores]:
        """Return test scores and inner held-out scores of every partition into folds, in order.

        A partition is the fold number of each candidate (n,); ValueError if a group is in two
        folds.
        """
        return nested_by_retraining(self, data, targets, partitions)

    def coefs(self, X: Matrix | SparseMatrix, y: Vector, queries: Indices) -> Matrix:  # (a, d)
        """Return feature weights (a, d) at every alpha, in the order of ``alphas``.

        ``X`` is (n, d), ``y`` (n,) labels, ``queries`` (n,) the query of each candidate. Each alpha
        starts from the weights of the next larger one.
        """
        problem = _Problem.from_labels(X, y, queries)
        W = np.zeros((len(self.alphas), X.shape[1]))
        w = np.zeros(X.shape[1])
        for a in np.argsort(self.alphas)[::-1]:
            w = W[a] = self._minimise(problem, w, self.alphas[a])
        return W

    def _minimise(self, problem: _Problem, start: Vector, alpha: float) -> Vector:
        """Return the feature weights (d,) at one alpha, by L-BFGS from ``start``."""
        # The scale makes tolerances mean the same at any number of pairs.
        scale = 1.0 / max(problem.pairs, 1.0)

        def objective(w: Vector) -> tuple[float, Vector]:
            value, gradient = problem.loss(w, alpha)
            return value * scale, gradient * scale

        result = minimize(
            objective,
            start,
            jac=True,
            method="L-BFGS-B",
            options={
                "maxiter": self.iterations,
                "ftol": 1e-15,
                "gtol": self.tolerance * min(1.0, max(alpha * scale, 1e-3)),
                "maxcor": 20,
            },
        )
        return np.asarray(result.x)


@dataclass(frozen=True, eq=False)
class _Problem:
    """Features with labels numbered so that candidates of different queries never form a pair."""

    X: Matrix | SparseMatrix  # (n, d)
    T: Matrix | SparseMatrix  # (d, n) transposed
    level: Indices  # (n,) query times span, plus the rank of the label in its query
    query: Indices  # (n,)
    span: int  # a power of two: how many levels a query may have
    pairs: float  # number of pairs of a query with different labels

    @classmethod
    def from_labels(cls, X: Matrix | SparseMatrix, y: Vector, queries: Indices) -> _Problem:
        """Number the labels (n,) within each query in ascending order; equal labels share a number.

        ``X`` (n, d) are features, ``queries`` (n,) any numbers of queries.
        """
        query = np.unique(queries, return_inverse=True)[1]
        order = np.lexsort((y, query))
        step = np.concatenate([[False], np.diff(y[order]) != 0])
        fresh = np.concatenate([[True], np.diff(query[order]) != 0])
        count = np.cumsum(step | fresh)
        rank = np.empty(len(y), dtype=np.intp)
        rank[order] = count - count[np.flatnonzero(fresh)][query[order]]
        span = 1 << int(rank.max()).bit_length()
        level = query * span + rank
        sizes, levels = (np.bincount(k).astype(np.float64) for k in (query, level))
        pairs = 0.5 * float((sizes**2).sum() - (levels**2).sum())
        T = sp.csr_array(X.T) if sp.issparse(X) else np.ascontiguousarray(X.T)
        return cls(X, T, level, query, span, pairs)

    @cached_property
    def merges(self) -> list[_Merge]:
        """Merges of neighbouring blocks, first of one level each, then of twice as many."""
        return [
            _Merge.from_blocks(self.level >> step) for step in range(self.span.bit_length() - 1)
        ]

    def loss(self, w: Vector, alpha: float) -> tuple[float, Vector]:
        """Return the objective (sum over pairs plus penalty) and its gradient at ``w`` (d,)."""
        s = np.asarray(self.X @ w)
        below, above = self.margins(s)
        count, total, squares = below
        u = 1.0 - s
        value = float((count * u * u + 2 * u * total + squares).sum())
        slope = -2 * (count * u + total) + 2 * (above[0] * (1.0 + s) - above[1])
        return value + alpha * float(w @ w), self.T @ slope + 2 * alpha * w

    def margins(self, s: Vector) -> tuple[Matrix, Matrix]:  # (3, n), (3, n)
        """Return count, sum and sum of squares of the scores in the margin of each candidate.

        ``s`` (n,) are scores; both results are (3, n). The first result, below: of worse candidates
        of its query with scores above ``s_i - 1``; the second, above: of better ones with scores
        below ``s_i + 1``. Blocks of levels are merged bottom-up: each pair of levels meets in
        exactly one merge.
        """
        order = np.argsort(s)
        if self.query.max() > 0:
            order = order[_stable_order(self.query[order])]
        t, level = s[order], self.level[order]
        width = float(np.ptp(s)) + 4.0  # scores of neighbouring blocks stay apart
        below, above = np.zeros((3, len(s))), np.zeros((3, len(s)))
        low = float(s.min())
        for step, merge in enumerate(self.merges):
            by_block = _stable_order(level >> step)  # keeps the scores of a block ascending
            merge.add(t, by_block, width, low, below, above)
        into_below, into_above = np.empty_like(below), np.empty_like(above)
        into_below[:, order], into_above[:, order] = below, above
        return into_below, into_above


@dataclass(frozen=True, eq=False)
class _Merge:
    """One merge of neighbouring blocks of levels, which does not depend on the scores.

    Indices are positions of candidates sorted by block.
    """

    block: Indices  # (n,) ascending
    right: Indices  # those in the second block of two
    lower: tuple[Indices, Indices]  # for each of them, where the first block begins and ends
    left: Indices  # those in the first
    upper: tuple[Indices, Indices]  # and where the second block begins and ends

    @classmethod
    def from_blocks(cls, block: Indices) -> _Merge:
        """Build the merge of blocks ``2 k`` and ``2 k + 1`` from the block of each candidate."""
        block = np.sort(block)
        begins = run_starts(block)
        cuts, each = np.append(begins, len(block)), np.diff(begins, append=len(block))
        odd = (block[begins] & 1) == 1
        adjacent = np.append(np.diff(block[begins]) == 1, False)  # whether the next block follows
        right = np.repeat(odd, each)

        end = cuts[:-1][odd]
        begin = np.where(np.append(False, adjacent[:-1])[odd], np.append(0, cuts[:-2])[odd], end)
        lower = np.repeat(begin, each[odd]), np.repeat(end, each[odd])
        begin = cuts[1:][~odd]
        end = np.where(adjacent[~odd], np.append(cuts[2:], len(block))[~odd], begin)
        upper = np.repeat(begin, each[~odd]), np.repeat(end, each[~odd])
        return cls(block, right.nonzero()[0], lower, (~right).nonzero()[0], upper)

    def add(
        self, t: Vector, order: Indices, width: float, low: float, below: Matrix, above: Matrix
    ) -> None:
        """Add to ``below`` and ``above`` (3, n), in place, what the neighbouring blocks contribute.

        ``t`` (n,) are scores, ``order`` sorts them by block with scores ascending; ``width`` is
        more than the range of the scores and ``low`` their minimum.
        """
        v = t[order]
        key = self.block * width + (v - low)
        sums = np.zeros((3, len(t) + 1))
        sums[0, 1:] = np.arange(1, len(t) + 1)
        np.cumsum(v, out=sums[1, 1:])
        np.cumsum(v * v, out=sums[2, 1:])

        first, last = self.lower
        margin = np.searchsorted(key, key[self.right] - width - 1.0, "right").clip(first, last)
        below[:, order[self.right]] += sums[:, last] - sums[:, margin]
        first, last = self.upper
        margin = np.searchsorted(key, key[self.left] + width + 1.0, "left").clip(first, last)
        above[:, order[self.left]] += sums[:, margin] - sums[:, first]


def _stable_order(block: Indices) -> Indices:
    """Return the stable sorting order of numbers from 0 on; by radix sort if they are small."""
    small = block.astype(np.uint16) if block.max(initial=0) < 1 << 16 else block
    return np.argsort(small, kind="stable")


def _to_features(data: Any) -> tuple[Matrix | SparseMatrix, Matrix | None]:
    """Return features and None, or the empirical kernel map of a Gram matrix and the way back.

    The map (n, r) has the Gram matrix as its inner products. The way back (n, r) turns weights of
    the map into coefficients of candidates: ``back @ w``.
    """
    if isinstance(data, Features):
        return check_features(data), None
    w, Q = np.linalg.eigh(check_gram(data))
    keep = w > w[-1] * len(w) * np.finfo(np.float64).eps
    root = np.sqrt(w[keep])
    return Q[:, keep] * root, Q[:, keep] / root
