"""RankSVM: squared hinge on all preferred pairs, in O(n log n) a step however many levels."""

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
    choose_alpha,
)
from textrank.learners.holdout import heldout_by_folds, nested_by_retraining


@dataclass(frozen=True)
class RankSVM:
    """``alpha ||f||^2 + sum max(0, 1 - f(x_h) + f(x_j))^2`` over pairs of a query, y_h > y_j.

    The baseline RankRLS is compared with. The sums over pairs need, for each candidate, only the
    count and the sum of scores of those in its margin; merging the candidates by label finds
    them in O(n log n) steps per doubling of the number of levels. A Gram matrix goes through its
    empirical kernel map. Held-out scores come from ``folds`` trainings, documents whole.

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
        """Learns from a Gram matrix or from features; alpha by held-out folds of documents."""
        path = self.path(data, targets)
        return path.select(choose_alpha(path.heldout, targets, self.select, path.alphas))

    def path(self, data: Matrix | Features, targets: Targets) -> RegularizationPath:
        """Coefficients and held-out scores at every alpha."""
        X, back = _mapped(data)
        y = check_targets(targets.y, X.shape[0])[:, 0]
        heldout = heldout_by_folds(self.coefs, X, y, targets, self.folds)
        W = self.coefs(X, y, targets.queries)
        return RegularizationPath(tuple(self.alphas), W if back is None else W @ back.T, heldout)

    def nested(
        self, data: Matrix | Features, targets: Targets, partitions: Sequence[Indices]
    ) -> list[NestedScores]:
        """Test and inner held-out scores for each division into folds, at every alpha."""
        return nested_by_retraining(self, data, targets, partitions)

    def coefs(self, X: Matrix | SparseMatrix, y: Vector, queries: Indices) -> Matrix:  # (a, d)
        """Weights of the features at every alpha, each started from the one before."""
        problem = _Problem.of(X, y, queries)
        W = np.zeros((len(self.alphas), X.shape[1]))
        w = np.zeros(X.shape[1])
        for a in np.argsort(self.alphas)[::-1]:
            w = W[a] = self._minimise(problem, w, self.alphas[a])
        return W

    def _minimise(self, problem: _Problem, start: Vector, alpha: float) -> Vector:
        # The scale makes tolerances mean the same at any number of pairs.
        scale = 1.0 / max(problem.pairs, 1.0)

        def objective(w: Vector) -> tuple[float, Vector]:
            value, gradient = problem.loss(w, alpha)
            return value * scale, gradient * scale

        found = minimize(
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
        return np.asarray(found.x)


@dataclass(frozen=True, eq=False)
class _Problem:
    """The data with labels numbered so that pairs of different queries never meet."""

    X: Matrix | SparseMatrix
    T: Matrix | SparseMatrix
    level: Indices  # (n,) query times span, plus the rank of the label in its query
    query: Indices  # (n,)
    span: int  # a power of two: how many levels a query may have
    pairs: float

    @classmethod
    def of(cls, X: Matrix | SparseMatrix, y: Vector, queries: Indices) -> _Problem:
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
        """How blocks of levels are merged, of one level first, then of twice as many each time."""
        return [_Merge.of(self.level >> step) for step in range(self.span.bit_length() - 1)]

    def loss(self, w: Vector, alpha: float) -> tuple[float, Vector]:
        """The objective and its gradient."""
        s = np.asarray(self.X @ w)
        below, above = self.margins(s)
        count, total, squares = below
        u = 1.0 - s
        value = float((count * u * u + 2 * u * total + squares).sum())
        slope = -2 * (count * u + total) + 2 * (above[0] * (1.0 + s) - above[1])
        return value + alpha * float(w @ w), self.T @ slope + 2 * alpha * w

    def margins(self, s: Vector) -> tuple[Matrix, Matrix]:  # (3, n), (3, n)
        """Count, sum and sum of squares of the scores in each candidate's margin.

        Below: of worse candidates of its query with scores above ``s_i - 1``; above: of better
        ones with scores below ``s_i + 1``. Blocks of levels are merged bottom-up: each pair of
        levels meets in exactly one merge.
        """
        order = np.argsort(s)
        if self.query.max() > 0:
            order = order[_by_number(self.query[order])]
        t, level = s[order], self.level[order]
        width = float(np.ptp(s)) + 4.0  # scores of neighbouring blocks stay apart
        below, above = np.zeros((3, len(s))), np.zeros((3, len(s)))
        low = float(s.min())
        for step, merge in enumerate(self.merges):
            by_block = _by_number(level >> step)  # keeps the scores of a block ascending
            merge.add(t, by_block, width, low, below, above)
        into_below, into_above = np.empty_like(below), np.empty_like(above)
        into_below[:, order], into_above[:, order] = below, above
        return into_below, into_above


@dataclass(frozen=True, eq=False)
class _Merge:
    """Neighbouring blocks of levels, candidates by block; whatever the scores, it is the same."""

    block: Indices  # (n,) ascending
    right: Indices  # those in the second block of two
    lower: tuple[Indices, Indices]  # for each of them, where the first block begins and ends
    left: Indices  # those in the first
    upper: tuple[Indices, Indices]  # and where the second block begins and ends

    @classmethod
    def of(cls, block: Indices) -> _Merge:
        """That of some numbers of blocks."""
        block = np.sort(block)
        begins = run_starts(block)
        cuts, each = np.append(begins, len(block)), np.diff(begins, append=len(block))
        odd = (block[begins] & 1) == 1
        beside = np.append(np.diff(block[begins]) == 1, False)  # whether the next one is its own
        right = np.repeat(odd, each)

        end = cuts[:-1][odd]
        begin = np.where(np.append(False, beside[:-1])[odd], np.append(0, cuts[:-2])[odd], end)
        lower = np.repeat(begin, each[odd]), np.repeat(end, each[odd])
        begin = cuts[1:][~odd]
        end = np.where(beside[~odd], np.append(cuts[2:], len(block))[~odd], begin)
        upper = np.repeat(begin, each[~odd]), np.repeat(end, each[~odd])
        return cls(block, right.nonzero()[0], lower, (~right).nonzero()[0], upper)

    def add(
        self, t: Vector, order: Indices, width: float, low: float, below: Matrix, above: Matrix
    ) -> None:
        """Adds to ``below`` and ``above`` what the neighbouring block of each contributes."""
        v = t[order]
        key = self.block * width + (v - low)
        sums = np.zeros((3, len(t) + 1))
        sums[0, 1:] = np.arange(1, len(t) + 1)
        np.cumsum(v, out=sums[1, 1:])
        np.cumsum(v * v, out=sums[2, 1:])

        first, last = self.lower
        at = np.searchsorted(key, key[self.right] - width - 1.0, "right").clip(first, last)
        below[:, order[self.right]] += sums[:, last] - sums[:, at]
        first, last = self.upper
        at = np.searchsorted(key, key[self.left] + width + 1.0, "left").clip(first, last)
        above[:, order[self.left]] += sums[:, at] - sums[:, first]


def _by_number(block: Indices) -> Indices:
    """A stable order of numbers from 0 on; by radix where they are small."""
    small = block.astype(np.uint16) if block.max(initial=0) < 1 << 16 else block
    return np.argsort(small, kind="stable")


def _mapped(data: Any) -> tuple[Matrix | SparseMatrix, Matrix | None]:
    """Features as they are; a Gram matrix as its empirical kernel map, with the way back."""
    if isinstance(data, Features):
        return check_features(data), None
    w, Q = np.linalg.eigh(check_gram(data))
    keep = w > w[-1] * len(w) * np.finfo(np.float64).eps
    root = np.sqrt(w[keep])
    return Q[:, keep] * root, Q[:, keep] / root
