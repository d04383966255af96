"""Inputs of learners, checked once at the entrance: shapes, NaN, symmetry, alphas, groups."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol, TypeAlias, get_args, runtime_checkable

import numpy as np
import scipy.sparse as sp

from textrank.candidates import Neighbourhood, Targets
from textrank.features import Features, Indices, Matrix, SparseMatrix, Vector
from textrank.linalg import not_psd_error
from textrank.metrics import (
    auc,
    best_threshold,
    choose_largest,
    decide,
    disagreement,
    merge_ties,
    precision_recall_f,
)

MAX_MAGNITUDE = 1e100  # of features and answers, whose squares are summed


def check_alphas(alphas: Sequence[float]) -> tuple[float, ...]:
    """The alphas as a tuple of floats; all must be positive and finite."""
    try:
        values = tuple(float(alpha) for alpha in alphas)
    except (TypeError, ValueError):
        raise ValueError(
            f"alphas must be a sequence of positive numbers, as in [0.1, 1], got {alphas!r}"
        ) from None
    if not values:
        raise ValueError("alphas is empty. Give at least one regularisation value, as in [0.1, 1].")
    wrong = [alpha for alpha in values if not (np.isfinite(alpha) and alpha > 0)]
    if wrong:
        raise ValueError(f"alphas must be positive and finite, got {wrong[0]} in {values}")
    if len(set(values)) < len(values):
        raise ValueError(f"alphas must differ from one another, got {values}")
    return values


def check_gram(K: Any) -> Matrix:
    """A square, finite, symmetric matrix in double precision whose 2 x 2 minors are not negative.

    The minors are a cheap necessary condition; the decompositions see the rest.
    """
    K = np.asarray(K, dtype=np.float64)
    if K.ndim != 2 or K.shape[0] != K.shape[1] or not K.size:
        raise ValueError(f"a Gram matrix is square and not empty, got shape {K.shape}")
    total = K.sum()  # one pass finds NaN and infinity without a temporary array
    if not np.isfinite(total) and not np.isfinite(K).all():
        row, column = np.argwhere(~np.isfinite(K))[0]
        raise ValueError(f"Gram matrix has {K[row, column]} at ({row}, {column})")
    if float(K.diagonal().max()) > MAX_MAGNITUDE**2:
        raise ValueError(
            f"the Gram matrix reaches {K.diagonal().max():.3g}, more than {MAX_MAGNITUDE**2:g}: sums of "
            "its entries would overflow. Divide the features, or the kernel, by a constant."
        )
    _check_symmetric(K)
    return K


def check_features(F: Any) -> SparseMatrix | Matrix:
    """A finite (n, d) matrix in double precision, sparse or dense as it came."""
    if isinstance(F, Features):
        F = F.values
    if sp.issparse(F):
        F = sp.csr_array(F, dtype=np.float64)
        stored = F.data
    else:
        F = stored = np.asarray(F, dtype=np.float64)
    if F.ndim != 2 or 0 in F.shape:
        raise ValueError(f"features are a matrix with rows and columns, got shape {F.shape}")
    if not np.isfinite(stored).all():
        raise ValueError(
            f"features hold {np.count_nonzero(~np.isfinite(stored))} values that are NaN or "
            "infinite. Replace or remove them before learning."
        )
    check_magnitude(stored, "features")
    return F


def check_targets(y: Any, n: int) -> Matrix:
    """The answers as (n, p) in double precision."""
    Y = np.asarray(y, dtype=np.float64)
    Y = Y[:, None] if Y.ndim == 1 else Y
    if Y.ndim != 2 or len(Y) != n:
        raise ValueError(f"{n} rows of data but answers of shape {np.shape(y)}: one answer a row")
    if not np.isfinite(Y).all():
        row = int(np.argwhere(~np.isfinite(Y))[0, 0])
        raise ValueError(
            f"answer {row} is {Y[row].squeeze()}. Every answer must be a finite number."
        )
    check_magnitude(Y, "answers")
    return Y


def check_magnitude(values: Any, what: str) -> None:
    """Raise ValueError where ``values`` are so large that sums of their squares overflow."""
    most = max(float(values.max()), -float(values.min())) if values.size else 0.0
    if most > MAX_MAGNITUDE:
        raise ValueError(
            f"{what} reach {most:.3g}, more than {MAX_MAGNITUDE:g}: their squares would overflow. "
            "Divide them by a constant, for example with StandardScaler or MaxAbsScaler."
        )


def check_weights(weights: Any, n: int) -> Vector | None:
    """Positive sample weights, (n,), or None for equal ones."""
    if weights is None:
        return None
    values = np.asarray(weights, dtype=np.float64)
    if values.shape != (n,):
        raise ValueError(f"{n} rows of data but weights of shape {values.shape}")
    if not (np.isfinite(values).all() and (values > 0).all()):
        row = int(np.flatnonzero(~(np.isfinite(values) & (values > 0)))[0])
        raise ValueError(
            f"weights must be positive and finite, got {values[row]} at {row}. "
            "Leave a row out instead of giving it no weight."
        )
    return values


def rows_by_group(labels: Any, n: int, *, name: str = "groups") -> list[Indices]:
    """The rows of each group, ordered; ``labels[i]`` is the group of row ``i``."""
    labels = np.asarray(labels)
    if labels.shape != (n,):
        raise ValueError(f"{n} rows of data but {name} of shape {labels.shape}: one a row")
    numbers = np.unique(labels, return_inverse=True)[1]
    order = np.argsort(numbers, kind="stable")
    return np.split(order, np.flatnonzero(np.diff(numbers[order])) + 1)


def check_groups(groups: Sequence[Indices], n: int) -> None:
    """Refuses groups that are no lists of different rows; they may overlap one another."""
    for number, group in enumerate(groups):
        rows = np.asarray(group)
        if rows.ndim != 1 or not np.issubdtype(rows.dtype, np.integer):
            raise ValueError(f"group {number} must be a list of row numbers, got {group!r}")
        if rows.size and (rows.min() < 0 or rows.max() >= n):
            raise ValueError(f"group {number} has row {rows.max()}, beyond the last one, {n - 1}")
        if len(np.unique(rows)) < len(rows):
            raise ValueError(f"group {number} holds a row twice: {rows.tolist()}")


def check_folds(folds: Any, documents: Indices) -> Indices:
    """The fold of each row, 0 .., made sure that no document lies in two folds."""
    folds = np.asarray(folds)
    n = len(documents)
    if folds.shape != (n,) or not np.issubdtype(folds.dtype, np.integer):
        raise ValueError(
            f"a partition gives the number of a fold for each of the {n} candidates, "
            f"got shape {folds.shape} of {folds.dtype}"
        )
    if n and folds.min() < 0:
        raise ValueError(f"folds are numbered from 0, got {folds.min()}")
    if len(np.unique(folds)) < 2:
        raise ValueError("a partition needs at least two folds that are not empty")
    first = np.unique(documents, return_index=True)[1]
    home = folds[first][np.unique(documents, return_inverse=True)[1]]
    if (home != folds).any():
        row = int(np.flatnonzero(home != folds)[0])
        raise ValueError(
            f"document {documents[row]} lies in folds {home[row]} and {folds[row]} (candidate "
            f"{row}). Candidates of one document are dependent: divide by document."
        )
    return folds.astype(np.intp)


def _check_symmetric(K: Matrix, block: int = 128) -> None:
    diagonal = K.diagonal()
    if diagonal.min() < 0:
        row = int(diagonal.argmin())
        raise not_psd_error(f"diagonal entry {row} is {diagonal[row]:.3g}")
    size = float(diagonal.max())
    limit = 1e-8 * (size if size > 0 else 1.0)
    for start in range(0, len(K), block):  # by strips: no second n x n array
        strip = K[start : start + block, start:]
        _check_strip(strip, K[start:, start : start + block].T, diagonal[start:], start, limit)


def _check_strip(strip: Matrix, mirror: Matrix, diagonal: Vector, start: int, limit: float) -> None:
    gap = np.abs(strip - mirror)
    if gap.max() > limit:
        row, column = np.unravel_index(int(gap.argmax()), gap.shape)
        raise ValueError(
            f"the Gram matrix is not symmetric: ({start + row}, {start + column}) is "
            f"{strip[row, column]:.6g} but its mirror image {mirror[row, column]:.6g}"
        )
    root = np.sqrt(diagonal)
    bound = np.outer(root[: len(strip)], root)
    np.subtract(np.abs(strip, out=gap), bound, out=gap)
    if gap.max() > limit:
        row, column = np.unravel_index(int(gap.argmax()), gap.shape)
        raise not_psd_error(
            f"entry ({start + row}, {start + column}) is {strip[row, column]:.3g}, "
            f"beyond the root of its two diagonal entries, {bound[row, column]:.3g}"
        )


SelectionMetric: TypeAlias = Literal["auc", "f", "squared_error", "disagreement"]
MAX_ALL_PAIRS_CANDIDATES = 200  # candidates of a query beyond which all its pairs are too many


def check_metric(select: str) -> None:
    """Refuses a measure that is not one of ours, by its name."""
    if select not in get_args(SelectionMetric):
        raise ValueError(
            f"select must be one of {', '.join(get_args(SelectionMetric))}, got {select!r}"
        )


def choose_alpha(
    heldout: Matrix,
    targets: Targets,
    select: SelectionMetric,
    alphas: Sequence[float] | None = None,
) -> int:
    """Return the row of ``heldout`` (alphas, n) with the best scores by ``select``.

    Of rows that are equally good (to 1e-9, see ``textrank.metrics``) the one of the largest alpha is
    returned. Without ``alphas`` they are taken to be in ascending order.
    """
    values = score_alphas(heldout, targets, select)
    return choose_largest(values, range(len(values)) if alphas is None else alphas)


def score_alphas(heldout: Matrix, targets: Targets, select: SelectionMetric) -> Vector:
    """How good the scores at each alpha are by ``select``; larger is better."""
    y = targets.y
    if select == "disagreement":
        return _agreements(heldout, y, rows_by_group(targets.queries, len(y), name="queries"))
    if select == "squared_error":
        return np.asarray(-((heldout - y) ** 2).mean(axis=1))
    positive = y > 0
    if positive.all() or not positive.any():
        raise ValueError(
            f"all {len(y)} labels are {'positive' if positive.any() else 'negative'}, so {select} "
            "says nothing about alpha. Give labels of both kinds, or select='squared_error'."
        )
    one = _auc if select == "auc" else _best_f
    return np.array([one(y, scores) for scores in heldout])


def concordance(scores: Matrix, y: Vector) -> Vector:  # (a, h), (h,) -> (a,)
    """The share of pairs with different labels that the scores order rightly, ties one half.

    Ties are those of ``merge_ties``, in the scores of each alpha.

    NaN where no labels differ. Small queries compare all pairs at all alphas in one product.
    """
    if len(y) > MAX_ALL_PAIRS_CANDIDATES:
        wrong = [disagreement(y, row) for row in scores]
        return np.array([np.nan if share is None else 1 - share for share in wrong])
    i, j = np.triu_indices(len(y), 1)
    order = np.sign(y[i] - y[j])
    if not order.any():
        return np.full(len(scores), np.nan)
    scores = merge_ties(scores)
    right = np.sign(scores[:, i] - scores[:, j]) @ order
    return np.asarray(0.5 + 0.5 * right / np.abs(order).sum())


def _agreements(heldout: Matrix, y: Vector, queries: list[Indices]) -> Vector:
    usable = [rows for rows in queries if np.ptp(y[rows]) > 0]
    if not usable:
        raise ValueError(
            f"no query among {len(queries)} has candidates with different labels, so disagreement "
            "says nothing about alpha. Give more labels, or select='squared_error'."
        )
    heldout = merge_ties(heldout)  # by the scale of all queries, as in measures.over_queries
    return np.asarray(np.mean([concordance(heldout[:, rows], y[rows]) for rows in usable], axis=0))


def _auc(y: Vector, scores: Vector) -> float:
    value = auc(y, scores)
    return float("nan") if value is None else value


def _best_f(y: Vector, scores: Vector) -> float:
    threshold = best_threshold(y, scores)
    f = None if threshold is None else precision_recall_f(y, decide(scores, threshold)).f
    return 0.0 if f is None else f


class SecondStage(Protocol):
    """A second look at scores, at all candidates of a text together."""

    def __call__(self, neighbourhood: Neighbourhood, scores: Vector) -> Vector:
        """The scores after it."""


def _staged(
    stage: SecondStage | None, scores: Vector, neighbourhood: Neighbourhood | None
) -> Vector:
    if stage is None:
        return scores
    if neighbourhood is None:
        raise ValueError("a second stage over the document must know where candidates stand.")
    return stage(neighbourhood, scores)


@dataclass(frozen=True, eq=False)
class Fit:
    """What a learner found: coefficients at the chosen alpha, and the held-out scores at all.

    ``heldout[a, i]`` is the score of candidate ``i`` at ``alphas[a]`` by a model that never saw
    its document (its query, for a ranker).

    >>> fit = Fit((1.0,), 1.0, np.array([0.5, -0.5]), np.array([[0.2, -0.1]]))
    >>> fit.predict(np.array([[2.0, 0.0]]))
    array([1.])
    """

    alphas: tuple[float, ...]
    alpha: float  # the one chosen
    coef: Vector  # (n,) on candidates, or (d,) on features
    heldout: Matrix  # (alphas, n)
    second_stage: SecondStage | None = None  # what looks at the scores of a whole text afterwards

    def predict(
        self, data: Matrix | Features, neighbourhood: Neighbourhood | None = None
    ) -> Vector:
        """Scores of new candidates: one product with (m, n) kernel values or (m, d) features."""
        values = data.values if isinstance(data, Features) else data
        return self.apply_second_stage(np.asarray(values @ self.coef), neighbourhood)

    def apply_second_stage(
        self, scores: Vector, neighbourhood: Neighbourhood | None = None
    ) -> Vector:
        """Such products after the second stage, where there is one."""
        return _staged(self.second_stage, scores, neighbourhood)

    @property
    def alpha_index(self) -> int:
        """Where the chosen alpha stands among the alphas."""
        return self.alphas.index(self.alpha)


@dataclass(frozen=True, eq=False)
class RegularizationPath:
    """The models at every alpha, before one is chosen."""

    alphas: tuple[float, ...]
    coefs: Matrix  # (alphas, n) on candidates, or (alphas, d) on features
    heldout: Matrix  # (alphas, n)
    stages: Sequence[SecondStage] = ()  # one an alpha, or none

    def select(self, index: int) -> Fit:
        """The fit with the alpha at this place."""
        stage = self.stages[index] if self.stages else None
        return Fit(self.alphas, self.alphas[index], self.coefs[index], self.heldout, stage)

    def predict(
        self, data: Matrix | Features, neighbourhood: Neighbourhood | None = None
    ) -> Matrix:  # (alphas, m)
        """Scores of new candidates at every alpha."""
        values = data.values if isinstance(data, Features) else data
        scores = np.asarray((values @ self.coefs.T).T)
        stages: Sequence[SecondStage | None] = self.stages or [None] * len(scores)
        rows = [
            _staged(stage, row, neighbourhood) for stage, row in zip(stages, scores, strict=True)
        ]
        return np.array(rows).reshape(scores.shape)


@dataclass(frozen=True, eq=False)
class NestedScores:
    """One division into folds, with everything needed to choose alpha without looking at a fold.

    ``outer[a, i]`` scores candidate ``i`` by the model of all other folds;
    ``inner[a, f, i]`` scores candidate ``i`` by the model that saw neither fold ``f`` nor the
    document of ``i``, and is NaN where ``i`` lies in fold ``f`` itself.
    """

    alphas: tuple[float, ...]
    folds: Indices  # (n,) the fold of each candidate, 0 ..
    outer: Matrix  # (alphas, n)
    inner: Matrix  # (alphas, folds, n)


@runtime_checkable
class Learner(Protocol):
    """Settings of a learner; ``fit`` returns a new value and changes nothing."""

    @property
    def select(self) -> SelectionMetric:
        """What held-out scores are judged by when alpha is chosen."""

    def fit(self, data: Matrix | Features, targets: Targets) -> Fit:
        """Learns from a Gram matrix or from features, and chooses alpha by held-out score."""

    def nested(
        self, data: Matrix | Features, targets: Targets, partitions: Sequence[Indices]
    ) -> list[NestedScores]:
        """Test scores and inner held-out scores for each division into folds, at every alpha."""
