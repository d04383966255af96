"""RankSVM: hinge loss on all preferred pairs by a bundle method, or squared hinge loss.

``RankSVM`` is the learner. The sum of the loss over pairs is that of ``LabelPairs`` (all pairs of a
query with different labels, O(n log n)) or ``EdgePairs`` (given preferences, O(n + l)).
``minimise_bundle`` solves the hinge loss; ``_Merge`` is one merge of the bottom-up merge sort by
label that finds the sums of scores which the squared hinge loss needs.

The hinge loss needs, for each candidate, the number of better ones that score less than one point
above it, and of worse ones less than one point below it. ``MarginCounts.count`` finds both. In the
order of scores that is the number of levels above a given one among the first so many positions.
Levels are read in digits of ``MAX_DIGIT_BITS`` bits, the highest first: a ``_DigitTable`` counts
digits up to a word of 32 positions from a table, and inside the word as set bits. So a level of 16
bits costs three passes over the data, besides the sort of the scores.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, Protocol, TypeAlias, get_args

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.optimize import minimize

from textrank._ragged import run_starts
from textrank.candidates import PreferenceGraph, Targets
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
from textrank.learners.holdout import assign_folds, nested_by_retraining
from textrank.learners.reduced import ReducedCoordinates, sample_stratified

Loss: TypeAlias = Literal["hinge", "squared_hinge"]
DEFAULT_TOLERANCES = {"hinge": 1e-3, "squared_hinge": 1e-7}
SEARCH_STEPS = 8  # bisections of a line search of the bundle method, each one sum over pairs
STEP_SHARE = 0.1  # how far beyond the best point the next plane is drawn
MAX_IDLE_STEPS = 50  # after which a plane that is not in use is dropped
PIVOT_TOLERANCE = 1e-10
Counts = NDArray[np.int32]
WORD_BITS = 5  # a word has 2^5 positions
MAX_DIGIT_BITS = 6
_POWERS = np.ldexp(1.0, np.arange(1 << WORD_BITS))
_LOW_BITS = ((1 << np.arange(1 << WORD_BITS)) - 1).astype(np.uint32)  # masks of the first p bits


@dataclass(frozen=True)
class RankSVM:
    """Ranking support vector machine, the baseline of RankRLS.

    Minimises ``alpha ||f||^2 + sum max(0, 1 - f(x_h) + f(x_j))`` over pairs of a query with
    ``y_h > y_j``, or over the pairs of a preference graph (``Targets.preferences``), whose
    magnitudes are not used. ``loss="squared_hinge"`` squares the terms of the sum: another
    objective, with other solutions.

    Hinge loss is minimised by a bundle method with a line search. A step needs, for each candidate,
    the number of pairs in its margin, which are counted in O(n log n) however many labels differ
    (Airola, Pahikkala and Salakoski 2011, Pattern Recognition Letters 32; Teo et al. 2010, JMLR 11;
    Franc and Sonnenburg 2009, JMLR 10 for the line search). Squared hinge loss is minimised by
    L-BFGS and needs sums of scores, in O(n log n) per doubling of the number of different labels.

    A Gram matrix goes through its empirical kernel map: that of all candidates, or with ``size``
    that of a sampled basis. Held-out scores come from ``folds`` trainings, groups kept whole; a
    held-out group takes its basis vectors with it.

    >>> from textrank.features import FeatureNames
    >>> F = Features(sp.csr_array(np.array([[1.0], [0.0]])), FeatureNames.from_iterable("a"))
    >>> both = np.zeros(2, dtype=np.intp)
    >>> RankSVM(alphas=[1.0], tolerance=1e-9).coefs(F.values, np.array([1.0, 0.0]), both).round(2)
    array([[0.5]])

    Parameters
    ----------
    alphas
        Regularisation values to choose from.
    select
        Metric of the held-out scores by which alpha is chosen.
    folds
        Number of folds of groups for held-out scores.
    loss
        ``hinge`` or ``squared_hinge``.
    size
        Number of basis candidates of a kernel, sampled evenly over groups; None takes all. A
        basis is refused for features, which need none.
    tolerance
        For hinge loss the largest gap between the objective and its lower bound, relative to the
        objective; for squared hinge loss that of the gradient. None or 0: 1e-3 and 1e-7.
    iterations
        Largest number of steps at an alpha.
    seed
        Of the random numbers that draw the basis.
    """

    alphas: Sequence[float] = (0.25, 0.5, 1.0, 2.0, 4.0)
    select: SelectionMetric = "disagreement"
    folds: int = 5
    tolerance: float | None = None
    iterations: int = 1000
    loss: Loss = "hinge"
    size: int | None = None
    seed: int = 0

    def __post_init__(self) -> None:
        """Store the alphas as a tuple; raise ValueError for settings outside their range.

        Alphas are positive and distinct, ``select`` is a metric, ``loss`` "hinge" or
        "squared_hinge", ``folds`` at least 2, ``iterations`` at least 1, ``size`` None or at least
        1, ``tolerance`` None or at least 0.
        """
        object.__setattr__(self, "alphas", check_alphas(self.alphas))
        check_metric(self.select)
        if self.loss not in get_args(Loss):
            raise ValueError(f"loss must be one of {', '.join(get_args(Loss))}, got {self.loss!r}")
        if self.size is not None and self.size < 1:
            raise ValueError(f"size must be at least 1, or None for all, got {self.size}")
        if self.folds < 2 or self.iterations < 1 or not (self.tolerance or 1.0) > 0:
            raise ValueError(
                "folds must be at least 2, iterations at least 1 and tolerance at least 0, "
                f"got {self.folds}, {self.iterations} and {self.tolerance}"
            )

    def fit(self, data: Matrix | Features, targets: Targets) -> Fit:
        """Train on a Gram matrix or on features and choose alpha by held-out folds of groups.

        Of equally good alphas the largest. With a preference graph ``select`` looks at it for
        "disagreement", at the labels for other metrics. Raises ValueError as ``path``, and if the
        metric is undefined.
        """
        path = self.path(data, targets)
        return path.select(choose_alpha(path.heldout, targets, self.select, path.alphas))

    def path(self, data: Matrix | Features, targets: Targets) -> RegularizationPath:
        """Return coefficients, or feature weights, and held-out scores at every alpha.

        A Gram matrix (n, n) gives coefficients of candidates (alphas, n), 0 off a basis sampled by
        ``size``; ``Features`` give feature weights (alphas, d). Held-out scores are (alphas, n), by
        ``folds`` folds of groups, one training each; a fold takes its basis vectors with it. A
        preference graph takes the place of labels and queries. Raises ValueError for sample
        weights, if all candidates are in one group, and for features with a ``size``.
        """
        check_unweighted(targets, "ranksvm.v1")
        coordinates = self._map(data, targets)
        X = check_features(data) if isinstance(data, Features) else coordinates.H
        check_targets(targets.y, X.shape[0])
        heldout = np.empty((len(self.alphas), len(targets)))
        for out in assign_folds(targets, self.folds):
            rest = np.setdiff1d(np.arange(len(targets)), out)
            inner = X if coordinates is None else coordinates.without_rows(out)
            W = self._weights(inner[rest], targets.take(rest))
            heldout[:, out] = np.asarray((inner[out] @ W.T).T)
        W = self._weights(X, targets)
        coefs = W if coordinates is None else coordinates.to_full_coefs(W)
        return RegularizationPath(tuple(self.alphas), coefs, heldout)

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
        starts from the weights of the next larger one. Inputs are not checked; the weights are zero
        if no query has different labels.
        """
        return self._weights(X, Targets(y, queries, queries))

    def _weights(self, X: Matrix | SparseMatrix, targets: Targets) -> Matrix:  # (a, d)
        """Return feature weights (a, d) at every alpha for labels or a preference graph.

        ``X`` is (n, d). A graph takes precedence over labels. Alphas are solved from the largest
        down, each starting from the one before. Zeros if there is no pair. The tolerance None or 0
        is the default of the loss.
        """
        pairs: Pairs
        if targets.preferences is None:
            pairs = LabelPairs.from_labels(targets.y, targets.queries)
        else:
            pairs = EdgePairs(targets.preferences, len(targets))
        transposed = sp.csr_array(X.T) if sp.issparse(X) else np.ascontiguousarray(X.T)
        problem = _Problem(X, transposed, pairs)
        W = np.zeros((len(self.alphas), X.shape[1]))
        w = np.zeros(X.shape[1])
        tolerance = self.tolerance or DEFAULT_TOLERANCES[self.loss]
        minimise_loss = minimise_bundle if self.loss == "hinge" else minimise_squared
        for a in np.argsort(self.alphas)[::-1]:
            if pairs.number:
                w = minimise_loss(problem, w, self.alphas[a], tolerance, self.iterations)
            W[a] = w
        return W

    def _map(self, data: Matrix | Features, targets: Targets) -> Any:
        """Return the ``ReducedCoordinates`` of the basis of a Gram matrix; None for features.

        The basis is all rows, or ``size`` of them drawn by ``seed``, stratified by group. Raises
        ValueError for features with a basis size, and for data that are not a Gram matrix.
        """
        if isinstance(data, Features):
            if self.size is not None:
                raise ValueError(
                    "ranksvm.v1: size samples a basis for a kernel without features. Leave it out."
                )
            return None
        K = check_gram(data)
        basis = np.arange(len(K))
        if self.size is not None and self.size < len(K):
            rng = np.random.default_rng(self.seed)
            basis = np.sort(sample_stratified(targets.groups, self.size, rng))
        return ReducedCoordinates.from_columns(K[:, basis], basis)


# Pairs --------------------------------------------------------------------------------------------


class Pairs(Protocol):
    """Pairs of a better and a worse candidate, and the sum of a loss over them."""

    @property
    def number(self) -> float:
        """Number of pairs."""

    def hinge(self, scores: Vector) -> tuple[float, Vector]:
        """Return the sum of ``max(0, 1 - s_h + s_j)`` at scores (n,), and a subgradient (n,)."""

    def squared_hinge(self, scores: Vector) -> tuple[float, Vector]:
        """Return the sum of ``max(0, 1 - s_h + s_j)^2`` at scores (n,), and its gradient (n,)."""


@dataclass(frozen=True, eq=False)
class EdgePairs:
    """The pairs of a preference graph on ``n`` candidates, one term for each preference."""

    graph: PreferenceGraph
    n: int

    @property
    def number(self) -> float:
        """Number of preferences."""
        return float(len(self.graph))

    def hinge(self, scores: Vector) -> tuple[float, Vector]:
        """Return the sum of ``max(0, 1 - s_h + s_j)`` at scores (n,), and a subgradient (n,)."""
        margin = self._margins(scores)
        return float(margin.sum()), self._gradient(-(margin > 0).astype(np.float64))

    def squared_hinge(self, scores: Vector) -> tuple[float, Vector]:
        """Return the sum of ``max(0, 1 - s_h + s_j)^2`` at scores (n,), and its gradient (n,)."""
        margin = self._margins(scores)
        return float(margin @ margin), self._gradient(-2.0 * margin)

    def _margins(self, scores: Vector) -> Vector:
        """Return ``max(0, 1 - s_h + s_j)`` of each preference of h over j, (l,)."""
        better, worse = self.graph.pairs.T
        return np.maximum(1.0 - scores[better] + scores[worse], 0.0)

    def _gradient(self, slopes: Vector) -> Vector:
        """Return the gradient (n,) for slopes (l,) in the difference of each preference.

        The slope is added to the better candidate and subtracted from the worse one.
        """
        better, worse = self.graph.pairs.T
        up = np.bincount(better, slopes, minlength=self.n)
        return np.asarray(up - np.bincount(worse, slopes, minlength=self.n))


@dataclass(frozen=True, eq=False)
class LabelPairs:
    """All pairs of a query with different labels, never listed: labels are numbered as levels.

    The better candidate of a pair has the higher label. Sums over pairs cost O(n log n) or a little
    more.
    """

    level: Indices  # (n,) query times span, plus the rank of the label in its query
    query: Indices  # (n,)
    span: int  # a power of two: how many levels a query may have
    number: float  # number of pairs of a query with different labels

    @classmethod
    def from_labels(cls, y: Vector, queries: Indices) -> LabelPairs:
        """Number the labels (n,) within each query in ascending order; equal labels share a number.

        A level is ``query * span`` plus the number, ``span`` a power of two above all numbers.
        ``queries`` (n,) are any numbers of queries. There must be at least one candidate.
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
        sizes = np.bincount(query).astype(np.float64)
        levels = np.unique(level, return_counts=True)[1].astype(np.float64)
        pairs = 0.5 * float((sizes**2).sum() - (levels**2).sum())
        return cls(level, query, span, pairs)

    def hinge(self, scores: Vector) -> tuple[float, Vector]:
        """Return the sum of ``max(0, 1 - s_h + s_j)`` at scores (n,), and a subgradient (n,).

        With ``c`` better and ``d`` worse candidates in the margin of each, the sum is
        ``sum (c - d) s + c``, and ``c - d`` is a subgradient.
        """
        shifted = scores
        if self.query.max() > 0:
            # Scores of different queries are moved apart, farther than any margin.
            shifted = scores + self.query * (float(np.ptp(scores)) + 2.0)
        better, worse = self._counts.count(shifted)
        slope = (better - worse).astype(np.float64)
        return float(slope @ scores + better.sum()), slope

    @cached_property
    def _counts(self) -> MarginCounts:
        """Counter of margins; levels of a higher query are above all those of a lower one.

        So scores must be moved apart by query before they are counted, as ``hinge`` does.
        """
        return MarginCounts.from_levels(np.unique(self.level, return_inverse=True)[1])

    def squared_hinge(self, scores: Vector) -> tuple[float, Vector]:
        """Return the sum of ``max(0, 1 - s_h + s_j)^2`` at scores (n,), and its gradient (n,).

        From count, sum and sum of squares of the scores in each margin, see ``margins``.
        """
        below, above = self.margins(scores)
        count, total, squares = below
        u = 1.0 - scores
        value = float((count * u * u + 2 * u * total + squares).sum())
        return value, -2 * (count * u + total) + 2 * (above[0] * (1.0 + scores) - above[1])

    @cached_property
    def merges(self) -> list[_Merge]:
        """Merges of neighbouring blocks: of one level each, then of 2, 4 ... up to the span."""
        return [
            _Merge.from_blocks(self.level >> step) for step in range(self.span.bit_length() - 1)
        ]

    def margins(self, s: Vector) -> tuple[Matrix, Matrix]:  # (3, n), (3, n)
        """Return count, sum and sum of squares of the scores in the margin of each candidate.

        ``s`` (n,) are scores; both results are (3, n). The first result, below: of worse candidates
        of its query with scores above ``s_i - 1``; the second, above: of better ones with scores
        below ``s_i + 1``. Blocks of levels are merged bottom-up: each pair of levels meets in
        exactly one merge.
        """
        order = np.argsort(s)
        if self.query.max() > 0:
            order = order[stable_order(self.query[order])]
        t, level = s[order], self.level[order]
        width = float(np.ptp(s)) + 4.0  # scores of neighbouring blocks stay apart
        below, above = np.zeros((3, len(s))), np.zeros((3, len(s)))
        low = float(s.min())
        for step, merge in enumerate(self.merges):
            by_block = stable_order(level >> step)  # keeps the scores of a block ascending
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
        """Build the merge of blocks ``2 k`` and ``2 k + 1`` from the block of each candidate (n,).

        Blocks may be in any order; a block whose neighbour is missing gets empty ranges.
        """
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

        The three rows are number, sum and sum of squares of scores: for candidates of a right (odd)
        block those of the left one above their own score minus 1 (``below``), for candidates of a
        left block those of the right one below their own score plus 1 (``above``). ``t`` (n,) are
        scores, ``order`` sorts them by block with scores ascending; ``width`` is more than the
        range of the scores and ``low`` their minimum.
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


# Solvers ------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class _Problem:
    """Features of the candidates and the pairs over which the loss is summed."""

    X: Matrix | SparseMatrix  # (n, d)
    T: Matrix | SparseMatrix  # (d, n) transposed
    pairs: Pairs

    def score(self, w: Vector) -> Vector:
        """Return the scores (n,) of feature weights (d,)."""
        return np.asarray(self.X @ w)

    def squared_loss(self, w: Vector, alpha: float) -> tuple[float, Vector]:
        """Return the sum of squared hinge loss plus ``alpha w'w``, and the gradient, at ``w`` (d,).

        The gradient is (d,).
        """
        value, slope = self.pairs.squared_hinge(self.score(w))
        return value + alpha * float(w @ w), self.T @ slope + 2 * alpha * w


def minimise_squared(
    problem: _Problem, start: Vector, alpha: float, tolerance: float, iterations: int
) -> Vector:
    """Return the feature weights (d,) of squared hinge loss at one alpha, by L-BFGS.

    ``start`` (d,) are the first weights. The fit ends when no entry of the gradient of loss plus
    penalty, per pair, exceeds ``tolerance`` times ``alpha`` per pair (at least 1e-3, at most 1),
    or the objective falls no more. ``iterations`` is the largest number of steps: a fit that has
    not converged by then is returned without a warning. There must be at least one pair.
    """
    # The scale makes tolerances mean the same at any number of pairs.
    scale = 1.0 / problem.pairs.number

    def objective(w: Vector) -> tuple[float, Vector]:
        """Return loss plus penalty and its gradient, both divided by the number of pairs."""
        value, gradient = problem.squared_loss(w, alpha)
        return value * scale, gradient * scale

    result = minimize(
        objective,
        start,
        jac=True,
        method="L-BFGS-B",
        options={
            "maxiter": iterations,
            "ftol": 1e-15,
            "gtol": tolerance * min(1.0, max(alpha * scale, 1e-3)),
            "maxcor": 20,
        },
    )
    return np.asarray(result.x)


@dataclass(frozen=True, eq=False)
class _Point:
    """Feature weights with their scores, objective, and the subgradient of the loss by score."""

    w: Vector  # (d,)
    scores: Vector  # (n,)
    loss: float  # mean over pairs
    value: float  # loss plus penalty
    slope: Vector  # (n,) divided by the number of pairs


def minimise_bundle(
    problem: _Problem, start: Vector, alpha: float, tolerance: float, iterations: int
) -> Vector:
    """Return feature weights (d,) of hinge loss at one alpha, to a relative gap of ``tolerance``.

    The gap is that between the objective of the best weights and its lower bound, relative to the
    objective.

    The loss is bounded below by planes, each its linearisation at a point. The minimum of penalty
    plus largest plane is a lower bound of the objective; a line search from the best point so far
    towards it gives the next best one. Stops after ``iterations`` at the latest, without a warning.
    ``start`` (d,) are the first weights. There must be at least one pair.
    """
    number = problem.pairs.number
    penalty = alpha / number

    def evaluate(w: Vector, scores: Vector) -> _Point:
        """Return the point of weights (d,) and scores (n,): mean hinge loss, objective, slope."""
        loss, slope = problem.pairs.hinge(scores)
        loss, slope = loss / number, slope / number
        return _Point(w, scores, loss, loss + penalty * float(w @ w), slope)

    point = best = evaluate(start, problem.score(start))
    planes = _Planes.empty(len(start))
    for _ in range(iterations):
        planes = planes.add(np.asarray(problem.T @ point.slope), point)
        planes, w, bound = planes.minimise(penalty)
        if best.value - bound <= tolerance * best.value:
            break
        scores = problem.score(w)
        step, towards = w - best.w, scores - best.scores
        low, high = 0.0, 1.0
        for _ in range(SEARCH_STEPS):  # the slope along the line rises
            share = 0.5 * (low + high)
            slope = problem.pairs.hinge(best.scores + share * towards)[1] @ towards / number
            if slope + 2 * penalty * float((best.w + share * step) @ step) > 0:
                high = share
            else:
                low = share
        if low:
            reached = evaluate(best.w + low * step, best.scores + low * towards)
            best = min(best, reached, key=lambda p: p.value)
        step, towards = w - best.w, scores - best.scores
        point = evaluate(best.w + STEP_SHARE * step, best.scores + STEP_SHARE * towards)
        best = min(best, point, key=lambda p: p.value)
    return best.w


@dataclass(frozen=True, eq=False)
class _Planes:
    """Lower bounds ``normals w + offsets`` of the loss, and the mixture of them in use.

    Objects are not changed: ``add`` and ``minimise`` return new ones.
    """

    normals: Matrix  # (t, d)
    offsets: Vector  # (t,)
    products: Matrix  # (t, t) inner products of the normals
    shares: Vector  # (t,) not negative, sum 1
    idle: Indices  # (t,) steps since the share was last positive

    @classmethod
    def empty(cls, d: int) -> _Planes:
        """Return no planes in ``d`` dimensions."""
        none = np.empty(0)
        return cls(np.empty((0, d)), none, np.empty((0, 0)), none, np.empty(0, dtype=np.intp))

    def add(self, normal: Vector, point: _Point) -> _Planes:
        """Return the planes with the linearisation at ``point``, whose normal (d,) is given.

        Planes that have not been in use for ``MAX_IDLE_STEPS`` are dropped. The new plane, the last
        one, has a share of 0, or of 1 if it is the only one.
        """
        keep = self.idle < MAX_IDLE_STEPS
        normals = np.vstack([self.normals[keep], normal])
        cross = normals @ normal
        products = np.empty((len(cross), len(cross)))
        products[:-1, :-1] = self.products[np.ix_(keep, keep)]
        products[-1] = products[:, -1] = cross
        return _Planes(
            normals,
            np.append(self.offsets[keep], point.loss - float(normal @ point.w)),
            products,
            np.append(self.shares[keep], 0.0 if keep.any() else 1.0),
            np.append(self.idle[keep], np.intp(0)),
        )

    def minimise(self, penalty: float) -> tuple[_Planes, Vector, float]:
        """Return the planes with new shares, the minimiser (d,), and the minimum it reaches.

        The minimum of ``penalty w'w`` plus the largest plane is ``w = -normals' b / (2 penalty)``
        for the shares ``b`` that maximise the dual.
        """
        shares = maximise_on_simplex(self.products / (2 * penalty), self.offsets, self.shares)
        w = -(shares @ self.normals) / (2 * penalty)
        bound = float(self.offsets @ shares) - penalty * float(w @ w)
        idle = np.where(shares > 0, 0, self.idle + 1)
        return _Planes(self.normals, self.offsets, self.products, shares, idle), w, bound


def maximise_on_simplex(H: Matrix, b: Vector, start: Vector) -> Vector:
    """Return ``x`` that maximises ``b'x - x'H x / 2`` over ``x >= 0``, ``sum x = 1``.

    ``H`` (t, t), t at least 1, is positive semi-definite, ``start`` (t,) a feasible point, which is
    not changed. After ``20 t + 20`` steps the point reached is returned, without a warning. Active
    set method: the system of the positive entries is solved exactly; an entry that would become
    negative leaves them, one that would gain most enters.
    """
    t = len(b)
    ridge = 1e-13 * max(float(H.diagonal().max()), 1e-300)  # equal planes
    x = start.copy()
    active = np.flatnonzero(x > 0).tolist()
    for _ in range(20 * t + 20):
        m = len(active)
        system = np.ones((m + 1, m + 1))
        system[:m, :m] = H[np.ix_(active, active)]
        system.flat[: m * (m + 2) : m + 2] += ridge
        system[m, m] = 0.0
        solved = np.linalg.solve(system, np.append(b[active], 1.0))
        target, level = solved[:m], float(solved[m])
        if (target >= 0).all():
            x = np.zeros(t)
            x[active] = target
            gain = b - H @ x - level
            gain[active] = -np.inf
            enters = int(gain.argmax())
            if gain[enters] <= PIVOT_TOLERANCE * (np.abs(b).max() + abs(level)):
                break
            active.append(enters)
            continue
        current = x[active]
        share = np.divide(current, current - target, out=np.ones(m), where=target < 0)
        leaves = int(share.argmin())
        moved = np.maximum(current + share[leaves] * (target - current), 0.0)
        moved[leaves] = 0.0
        x = np.zeros(t)
        x[active] = moved / moved.sum()
        del active[leaves]
    return x


@dataclass(frozen=True, eq=False)
class _DigitTable:
    """Counts of digits in a sequence of n: ``count(p, t)`` of its first p that are at least t."""

    stride: int  # number of digits plus one
    before: Counts  # (words * stride,) digits of at least t before each word
    words: NDArray[np.uint32]  # (words * stride,) their positions inside each word

    @classmethod
    def from_digits(cls, digits: Indices | Counts, bits: int) -> _DigitTable:
        """Build the table of a sequence (n,) of digits from 0 to ``2**bits - 1``, unchecked.

        The sequence is cut into words of ``2**WORD_BITS`` positions. For each word and digit the
        table has the number of digits at least that large before the word, and the positions of
        such digits inside it as bits.
        """
        n, size = len(digits), 1 << bits
        words = (n >> WORD_BITS) + 1
        cell = np.arange(n, dtype=np.intp)
        cell >>= WORD_BITS
        cell <<= bits
        cell += digits
        counts = np.bincount(cell, minlength=words * size).reshape(words, size)
        powers = np.tile(_POWERS, words)[:n]
        marks = np.bincount(cell, powers, minlength=words * size).reshape(words, size)
        before = np.zeros((words, size + 1), dtype=np.int32)
        at_least = np.cumsum(counts[:, ::-1], axis=1, dtype=np.int32)[:, ::-1]
        np.cumsum(at_least[:-1], axis=0, out=before[1:, :size], dtype=np.int32)
        positions = np.zeros((words, size + 1), dtype=np.uint32)
        # Bits of different digits are disjoint, so that their sum is exact and their union.
        positions[:, :size] = np.cumsum(marks[:, ::-1], axis=1)[:, ::-1]
        return cls(size + 1, before.ravel(), positions.ravel())

    def cells(self, p: Counts, t: Counts) -> tuple[Counts, NDArray[np.uint32]]:
        """Return where to look for ``count(p, t)``: the cell, and the mask of bits before ``p``.

        ``p`` (q,) are numbers of positions, 0 to n, ``t`` (q,) digits; results are (q,). The next
        cell is that of ``count(p, t + 1)``.
        """
        cell = p >> WORD_BITS
        cell *= self.stride
        cell += t
        return cell, _LOW_BITS.take(p & ((1 << WORD_BITS) - 1))

    def count(self, cell: Counts, mask: NDArray[np.uint32]) -> Counts:
        """Return how many of the first p digits are at least t, (q,).

        ``cell`` and ``mask`` (q,) are the result of ``cells(p, t)``.
        """
        bits = self.words.take(cell)
        bits &= mask
        counts = self.before.take(cell)
        counts += np.bitwise_count(bits)
        return counts


@dataclass(frozen=True, eq=False)
class _Pass:
    """One digit of the levels: what does not depend on the scores, by level.

    Positions are those of a sequence that is sorted by the digits before this one; a block has
    equal digits before, an inner block this digit too.
    """

    shift: int
    at_least: Counts  # digits of at least that of the level, in blocks before its own
    above: Counts  # digits above that of the level, in blocks before its own
    start: Counts  # where the inner block of the level begins


@dataclass(frozen=True, eq=False)
class MarginCounts:
    """Levels of n candidates, prepared to count margins for any scores.

    The margin of a candidate holds the better ones that score less than 1 above it, and the worse
    ones less than 1 below it. Levels are read digit by digit, one pass over the data each.
    """

    level: Counts  # (n,) numbers 0 .., higher is better
    bits: int  # of a digit
    passes: tuple[_Pass, ...]
    lower: Indices  # number of candidates below each level

    @classmethod
    def from_levels(cls, level: Indices) -> MarginCounts:
        """Prepare levels (n,), numbered from 0 without gaps; there must be at least one.

        Levels are split into digits of at most ``MAX_DIGIT_BITS`` bits, with one pass for each, the
        highest first.
        """
        total = max(int(level.max()).bit_length(), 1)
        number = -(-total // MAX_DIGIT_BITS)
        bits = -(-total // number)
        ordered = np.sort(level).astype(np.int32)
        shifts = [step * bits for step in reversed(range(number))]
        passes = tuple(_prepare_pass(ordered, shift, bits) for shift in shifts)
        counts = np.bincount(level)
        return cls(level.astype(np.int32), bits, passes, np.cumsum(counts) - counts)

    def count(self, scores: Vector) -> tuple[Indices, Indices]:
        """Return two counts for each candidate i, (n,) each, of the others j in its margin.

        First those of a higher level with ``s_j < s_i + 1``, then those of a lower level with
        ``s_i < s_j + 1``. ``scores`` (n,) are in the order of the levels.
        """
        n = len(scores)
        order = np.argsort(scores)
        ordered = scores.take(order)
        level = self.level.take(order)
        # One merge of the scores and the margins above them: a margin comes before an equal score.
        merged = np.argsort(np.concatenate([ordered + 1.0, ordered]), kind="stable")
        rank = np.arange(n)
        upper = (np.flatnonzero(merged < n) - rank).astype(np.int32)  # scores below s_i + 1
        below = (np.flatnonzero(merged >= n) - rank).astype(np.int32)  # j with s_j + 1 <= s_i
        better, not_lower = self._count_levels(level, upper, below)
        # Of those outside the margin below, some are not of a lower level.
        worse = self.lower.take(level) - (below - not_lower)
        results = np.empty((2, n), dtype=np.intp)
        results[:, order] = better, worse
        return results[0], results[1]

    def _count_levels(self, level: Counts, first: Counts, second: Counts) -> tuple[Counts, Counts]:
        """Count levels above ``level[i]`` among the first ``first[i]`` of the sequence ``level``.

        The second result counts levels of at least ``level[i]`` among the first ``second[i]``. All
        arrays are (n,); ``level`` must be a permutation of ``self.level``.
        """
        digits = (1 << self.bits) - 1
        above, at_least = np.zeros((2, len(level)), dtype=np.int32)
        sequence = level
        for step in self.passes:
            prefix = sequence >> step.shift
            table = _DigitTable.from_digits(prefix & digits, self.bits)
            digit = (level >> step.shift) & digits
            cell, mask = table.cells(first, digit)
            other_cell, other_mask = table.cells(second, digit)
            outside, outside_above = step.at_least.take(level), step.above.take(level)
            greater = table.count(cell + 1, mask)
            greater -= outside_above
            above += greater
            if step is self.passes[-1]:
                at_least += table.count(other_cell, other_mask)
                at_least -= outside
                break
            other_greater = table.count(other_cell + 1, other_mask)
            other_greater -= outside_above
            at_least += other_greater
            # Continue among those with the same digits so far, whose order is kept.
            start = step.start.take(level)
            start -= outside
            first = table.count(cell, mask) - greater + start
            second = table.count(other_cell, other_mask) - other_greater + start
            sequence = sequence.take(stable_order(prefix))
        return above, at_least


def _prepare_pass(ordered: Counts, shift: int, bits: int) -> _Pass:
    """Return the parts of a pass that follow from the sorted levels (n,) alone.

    Counts are taken in the sorted levels, before the block of equal higher digits in which a level
    lies, and are stored by level. ``shift`` is the position of the pass's digit in a level,
    ``bits`` its width, both in bits.
    """
    outer, inner = ordered >> (shift + bits), ordered >> shift
    digit = inner & ((1 << bits) - 1)
    table = _DigitTable.from_digits(digit, bits)
    block = np.searchsorted(outer, outer).astype(np.int32)
    cell, mask = table.cells(block, digit)
    by_level = np.zeros((3, int(ordered[-1]) + 1), dtype=np.int32)
    by_level[:, ordered] = (
        table.count(cell, mask),
        table.count(cell + 1, mask),
        np.searchsorted(inner, inner),
    )
    return _Pass(shift, *by_level)


def stable_order(block: Indices | Counts) -> Indices:
    """Return the stable sorting order (n,) of numbers (n,), none negative.

    By radix sort if all are below 2^16.
    """
    small = block.astype(np.uint16) if block.max(initial=0) < 1 << 16 else block
    return np.argsort(small, kind="stable")
