"""A model for each question of a task, all on one scale: the log-odds of a yes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from typing import TypeAlias

import numpy as np
import scipy.sparse as sp
from scipy.special import expit

from textrank.candidates import Targets
from textrank.features import Features, Indices, Matrix, SparseMatrix, Vector
from textrank.learners.base import (
    NestedScores,
    RegularizationPath,
    SelectionMetric,
    check_features,
    check_targets,
    rows_by_group,
)
from textrank.learners.holdout import (
    MetaLearner,
    PathLearner,
    empty_nested_scores,
    nested_by_inverse_multi,
)
from textrank.learners.rls import RLS, rls_path
from textrank.linalg import spectrum_gram
from textrank.progress import track

CONSTANT = "constant"  # the feature of the kernel Blocks that every candidate of a question has


@dataclass(frozen=True)
class PerQuestionLearner(MetaLearner):
    """A learner on each block of features, its scores turned into log-odds.

    The kernel ``Blocks`` names each feature under its question and gives each question a
    constant. Questions share no feature, so each is trained alone. A logistic curve through the
    held-out scores of a question makes them log-odds, ``s -> slope s + offset``; slope and offset
    go into its weights, so the model stays one weight a feature, its scores compare across
    questions, and ``expit`` of a score is a probability. (These two numbers a question see the
    held-out labels that they are then judged by; inside nested evaluation no test fold does.)
    Platt (1999), with his corrected targets.

    >>> from textrank.learners.rls import RLS
    >>> x = np.random.default_rng(0).normal(size=40)
    >>> asked = ["than", "to"] * 20
    >>> rows = [{(q, "x"): v, (q, "constant"): 1.0} for q, v in zip(asked, x, strict=True)]
    >>> y, own = np.tile([1, -1], 20) * np.sign(x), np.arange(40)  # opposite answers
    >>> fit = PerQuestionLearner(RLS(alphas=[1.0])).fit(Features.from_dicts(rows), Targets(y, own, own))
    >>> bool((np.sign(fit.predict(Features.from_dicts(rows))) == y).mean() > 0.9)
    True

    Parameters
    ----------
    learner
        For one block, with a path over alphas: ``SparseRLS`` for many candidates.
    minimum
        A feature that fewer training candidates have gets no weight: it is hardly ever met again.
    bits
        Weights keep so many binary digits, which packs a model well; 0 keeps all.
    together
        Test folds of an ``RLS`` come from one inverse a question and alpha instead of one training
        a fold. Features are then counted, and left out, in all folds at once, and weights are not
        rounded: no answer of a test fold is seen, and figures differ in the last digits.
    """

    learner: PathLearner
    minimum: int = 1
    bits: int = 0
    select: SelectionMetric = "auc"
    together: bool = False

    def __post_init__(self) -> None:
        if not isinstance(self.learner, PathLearner):
            raise ValueError(
                f"learner must have a path over alphas, {type(self.learner).__name__} has none. "
                "Use RLS or SparseRLS."
            )
        if self.minimum < 1 or not 0 <= self.bits <= 52:
            raise ValueError(
                f"minimum must be at least 1 and bits between 0 and 52, got {self.minimum} and "
                f"{self.bits}"
            )

    def path(self, data: Matrix | Features, targets: Targets) -> RegularizationPath:
        """Weights and held-out log-odds at every alpha."""
        if not isinstance(data, Features):
            raise ValueError(
                "log-odds by question need features. Use the kernel Blocks, over kernels that have "
                "them."
            )
        check_features(data)
        y = check_targets(targets.y, len(data))[:, 0]
        if len(set(targets.groups.tolist())) < 2:
            raise ValueError(
                f"all {len(y)} candidates are of one document: nothing can be held out. Split it, "
                "such as a text into a file a chapter."
            )
        coefs = np.zeros((len(self.alphas), len(data.names)))
        heldout = np.zeros((len(self.alphas), len(y)))
        for twins in track(self._twins(data, targets), "questions"):
            for (rows, block), found in zip(twins, self._paths(twins, targets), strict=True):
                for a, scores in enumerate(found.heldout):
                    slope, offset = fit_log_odds_scale(scores, y[rows])
                    coefs[a, block.columns] = slope * found.coefs[a]
                    coefs[a, block.constant] += offset / block.value
                    heldout[a, rows] = slope * scores + offset
        return RegularizationPath(tuple(self.alphas), round_to_bits(coefs, self.bits), heldout)

    def nested(
        self, data: Matrix | Features, targets: Targets, partitions: Sequence[Indices]
    ) -> list[NestedScores]:
        """Test and inner held-out log-odds for each division into folds, at every alpha."""
        if not (self.together and isinstance(self.learner, RLS) and isinstance(data, Features)):
            return super().nested(data, targets, partitions)
        results = [
            empty_nested_scores(tuple(self.alphas), np.asarray(folds)) for folds in partitions
        ]
        for twins in self._twins(data, targets):
            rows, block = twins[0]
            Y = np.column_stack([targets.y[rows] for rows, _ in twins])
            parts = [np.asarray(folds)[rows] for folds in partitions]
            K, documents = spectrum_gram(block.features.values), targets.groups[rows]
            for (own, _), found in zip(
                twins,
                nested_by_inverse_multi(K, Y, documents, parts, tuple(self.alphas)),
                strict=True,
            ):
                for result, one in zip(results, found, strict=True):
                    for a, fold in product(range(len(self.alphas)), np.unique(one.folds).tolist()):
                        _fill(result, one, own, targets.y[own], (a, fold))
        return results

    def _twins(self, data: Features, targets: Targets) -> list[list[Asked]]:
        """The questions, those together that see the same of the same candidates."""
        found: list[list[Asked]] = []
        for rows in _groups(data):
            asked = rows, _Block.of(data, rows, self.minimum)
            plain = isinstance(self.learner, RLS) and self.learner.positive_weight == 1.0
            if plain and found and _alike(found[-1][0], asked, targets):
                found[-1].append(asked)
            else:
                found.append([asked])
        return found

    def _paths(self, twins: Sequence[Asked], targets: Targets) -> Iterator[RegularizationPath]:
        """The path of each of some questions that see the same."""
        rows, block = twins[0]
        if len(twins) == 1:
            yield self._path(block.features, targets.take(rows))
            return
        Y = np.column_stack([targets.y[own] for own, _ in twins])
        X, groups = (
            block.features.values,
            rows_by_group(targets.groups[rows], len(rows), name="documents"),
        )
        A, heldout = rls_path(X, Y, np.array(self.alphas), groups, dual=False)
        for one in range(len(twins)):
            yield RegularizationPath(tuple(self.alphas), A[:, :, one], heldout[:, :, one])

    def _path(self, data: Features, targets: Targets) -> RegularizationPath:
        """The learner's path; zeros where the answers or documents are too few to learn from."""
        if len(set(targets.y)) < 2 or len(set(targets.groups)) < 2:
            shape = (len(self.alphas), len(data.names)), (len(self.alphas), len(targets))
            return RegularizationPath(tuple(self.alphas), np.zeros(shape[0]), np.zeros(shape[1]))
        return self.learner.path(data, targets)


@dataclass(frozen=True, eq=False)
class _Block:
    """The candidates of one question with the features that enough of them have."""

    features: Features
    columns: Indices  # where these features stand among all
    constant: int  # where the constant stands among all
    value: float  # and what it is

    @classmethod
    def of(cls, data: Features, rows: Indices, minimum: int) -> _Block:
        X = data.values if len(rows) == len(data) else data.values[rows]
        counts = np.bincount(X.indices, minlength=X.shape[1])
        everywhere = np.flatnonzero(counts == len(rows))
        constant = next((int(c) for c in everywhere if data.names[int(c)][-1] == CONSTANT), -1)
        if constant < 0:
            raise ValueError(
                f"the {len(rows)} candidates of {data.names[int(X.indices[0])][0]!r} share no "
                f"feature {CONSTANT!r} to hold the offset of their log-odds. Use the kernel Blocks."
            )
        columns = np.flatnonzero(counts >= min(minimum, len(rows)))
        value = float(X.data[X.indices == constant][0])
        return cls(
            Features(_columns(X, columns), data.names.take(columns)), columns, constant, value
        )


Asked: TypeAlias = tuple[Indices, _Block]  # the candidates of a question and what they look like


def _alike(one: Asked, two: Asked, targets: Targets) -> bool:
    """Whether two questions are about the same candidates, seen alike; both with yes and no."""
    (a, first), (b, second) = one, two
    X, Z = first.features.values, second.features.values
    return (
        X.shape == Z.shape
        and len(set(targets.y[a])) == len(set(targets.y[b])) == 2
        and len(set(targets.groups[a])) > 1
        and np.array_equal(targets.groups[a], targets.groups[b])
        and np.array_equal(X.indptr, Z.indptr)
        and np.array_equal(X.indices, Z.indices)
        and np.array_equal(X.data, Z.data)
    )


def _fill(
    into: NestedScores, one: NestedScores, rows: Indices, y: Vector, at: tuple[int, int]
) -> None:
    """One fold of one question: its log-odds by a curve through the scores of the other folds."""
    a, fold = at
    out, rest = np.flatnonzero(one.folds == fold), np.flatnonzero(one.folds != fold)
    inner = one.inner[a, fold, rest]
    slope, offset = fit_log_odds_scale(inner, y[rest])
    into.inner[a, fold, rows[rest]] = slope * inner + offset
    into.outer[a, rows[out]] = slope * one.outer[a, out] + offset


def _groups(data: Features) -> list[Indices]:
    """The rows of each question, which is the first word of the names of their features."""
    X = data.values
    if (np.diff(X.indptr) == 0).any():
        raise ValueError("a candidate has no feature at all. Use the kernel Blocks.")
    asked = data.names.parts[X.indices[X.indptr[:-1]], 0]
    order = np.argsort(asked, kind="stable")
    return np.split(order, np.flatnonzero(np.diff(asked[order])) + 1)


def _columns(X: SparseMatrix, columns: Indices) -> SparseMatrix:
    """Only these columns."""
    number = np.full(X.shape[1], -1, dtype=np.int32)
    number[columns] = np.arange(len(columns))
    to = number[X.indices]
    keep = to >= 0
    starts = np.concatenate([[0], np.cumsum(keep)])[X.indptr]
    return sp.csr_array((X.data[keep], to[keep], starts), shape=(X.shape[0], len(columns)))


def fit_log_odds_scale(scores: Vector, y: Vector) -> tuple[float, float]:
    """Slope and offset of the log-odds of a yes, given scores and answers; slope at least 0.

    Newton's method on two numbers. The answers are drawn in by one candidate of each kind, as
    Platt does, so that few or perfectly parted candidates do not give certainty.

    >>> slope, offset = fit_log_odds_scale(np.array([-1.0, 1.0, -1.0, 1.0]), np.array([-1, 1, -1, 1]))
    >>> float(np.round(expit(slope + offset), 2))    # (2 + 1) / (2 + 2)
    0.75
    """
    yes = int((y > 0).sum())
    no = len(y) - yes
    goal = np.where(y > 0, (yes + 1) / (yes + 2), 1 / (no + 2))
    spread = float(scores.std())
    prior = float(np.log((yes + 1) / (no + 1)))
    if not yes or not no or spread < 1e-12:
        return 0.0, prior
    Z = np.column_stack([(scores - scores.mean()) / spread, np.ones(len(y))])
    w = np.array([1.0, prior])
    for _ in range(50):
        p = expit(Z @ w)
        H = (Z * (p * (1 - p))[:, None]).T @ Z + 1e-9 * np.eye(2)
        step = np.linalg.solve(H, Z.T @ (goal - p))
        w = w + step * min(1.0, 4.0 / float(np.abs(step).max() + 1e-300))
        if np.abs(step).max() < 1e-9:
            break
    if w[0] <= 0:
        return 0.0, prior
    return float(w[0] / spread), float(w[1] - w[0] * scores.mean() / spread)


def round_to_bits(values: Matrix, bits: int) -> Matrix:
    """The nearest numbers with so many binary digits; 0 keeps all.

    >>> round_to_bits(np.array([[0.3]]), 3).item()
    0.3125
    """
    if not bits:
        return values
    fraction, exponent = np.frexp(values)
    return np.ldexp(np.round(np.ldexp(fraction, bits)), exponent - bits)
