"""What all learners share: their results, the choice of alpha, and checks of their inputs.

A learner takes a Gram matrix (n, n) or features (n, d) with ``Targets`` and computes a
``RegularizationPath`` (a model and held-out scores at every alpha). ``choose_alpha`` picks one by
its held-out scores, which gives a ``Fit``. ``NestedScores`` are the scores of nested
cross-validation. Inputs are checked once, at the entrance, by the ``check_`` functions.

Letters: ``n`` training candidates, ``d`` features, ``m`` new candidates, ``a`` values of alpha,
``p`` outputs (columns of labels), ``h`` candidates of a group or query.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol, TypeAlias, get_args

import numpy as np
import scipy.sparse as sp

from textrank.candidates import DocumentContext, PreferenceGraph, Targets
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

SelectionMetric: TypeAlias = Literal["auc", "f", "squared_error", "disagreement"]
MAX_MAGNITUDE = 1e100  # of features and labels, whose squares are summed
MAX_ALL_PAIRS_CANDIDATES = 200  # of a query; larger queries are compared alpha by alpha


# Results ------------------------------------------------------------------------------------------


class SecondStage(Protocol):
    """Correction of first-stage scores that looks at all candidates of a text together."""

    def __call__(self, context: DocumentContext, scores: Vector) -> Vector:
        """Return the corrected scores (n,) of candidates with these first-stage scores (n,).

        ``context`` has their texts and positions, in the same order; all candidates of a text must
        be given together.
        """


@dataclass(frozen=True, eq=False)
class Fit:
    """A trained model: coefficients at the chosen alpha, and held-out scores at every alpha.

    ``heldout[a, i]`` is the score of candidate ``i`` at ``alphas[a]`` by a model that was trained
    without its group of documents. A fit of h heads (``Targets.heads``) has one more axis of
    length h at the end of ``coef``, ``heldout`` and of what ``predict`` returns.

    >>> fit = Fit((1.0,), 1.0, np.array([0.5, -0.5]), np.array([[0.2, -0.1]]))
    >>> fit.predict(np.array([[2.0, 0.0]]))
    array([1.])
    """

    alphas: tuple[float, ...]
    alpha: float  # the chosen one
    coef: Vector  # (n,) of candidates, or (d,) of features
    heldout: Matrix  # (alphas, n)
    second_stage: SecondStage | None = None

    def predict(self, data: Matrix | Features, context: DocumentContext | None = None) -> Vector:
        """Return scores (m,) of new candidates from (m, n) kernel values or (m, d) features.

        A model with a second stage needs ``context``, the positions of the candidates in
        their texts, and raises ValueError without it.
        """
        values = data.values if isinstance(data, Features) else data
        return self.apply_second_stage(np.asarray(values @ self.coef), context)

    def apply_second_stage(self, scores: Vector, context: DocumentContext | None = None) -> Vector:
        """Return first-stage scores (m,) after the second stage, unchanged if there is none.

        Raises ValueError if there is a second stage but ``context`` is None.
        """
        return _apply_stage(self.second_stage, scores, context)

    @property
    def alpha_index(self) -> int:
        """Index of the chosen alpha in ``alphas``, and so of its row in ``heldout``."""
        return self.alphas.index(self.alpha)


@dataclass(frozen=True, eq=False)
class RegularizationPath:
    """Models and held-out scores at every alpha, before one alpha is chosen."""

    alphas: tuple[float, ...]
    coefs: Matrix  # (alphas, n) of candidates, or (alphas, d) of features
    heldout: Matrix  # (alphas, n)
    stages: Sequence[SecondStage] = ()  # one per alpha, or none

    def select(self, index: int) -> Fit:
        """Return the fit with the alpha at ``index``, its coefficients and its second stage.

        Held-out scores of all alphas are kept.
        """
        stage = self.stages[index] if self.stages else None
        return Fit(self.alphas, self.alphas[index], self.coefs[index], self.heldout, stage)

    def predict(
        self, data: Matrix | Features, context: DocumentContext | None = None
    ) -> Matrix:  # (alphas, m)
        """Return scores (alphas, m) of new candidates at every alpha.

        ``data`` are their kernel values (m, n) with the training candidates, or features (m, d).
        ``context``, their positions in the texts, is needed with a second stage; ValueError without
        it.
        """
        values = data.values if isinstance(data, Features) else data
        scores = np.asarray((values @ self.coefs.T).T)
        stages: Sequence[SecondStage | None] = self.stages or [None] * len(scores)
        rows = [
            _apply_stage(stage, row, context) for stage, row in zip(stages, scores, strict=True)
        ]
        return np.array(rows).reshape(scores.shape)


def _apply_stage(
    stage: SecondStage | None, scores: Vector, context: DocumentContext | None
) -> Vector:
    """Return ``stage(context, scores)``, or ``scores`` if there is no stage.

    Raises ValueError if there is a stage but ``context`` is None.
    """
    if stage is None:
        return scores
    if context is None:
        raise ValueError(
            "the model has a second stage over the document, which needs the positions of the "
            "candidates in their texts. Pass context."
        )
    return stage(context, scores)


@dataclass(frozen=True, eq=False)
class NestedScores:
    """Scores of nested cross-validation for one partition of the documents into folds.

    ``outer[a, i]`` scores candidate ``i`` by the model of all other folds. ``inner[a, f, i]``
    scores candidate ``i`` by a model trained without fold ``f`` and without the group of ``i``; it
    is NaN if ``i`` is in fold ``f`` itself. So alpha can be chosen for fold ``f`` from ``inner``
    without looking at the fold.
    """

    alphas: tuple[float, ...]
    folds: Indices  # (n,) the fold of each candidate, 0 ..
    outer: Matrix  # (alphas, n)
    inner: Matrix  # (alphas, folds, n)


# Choice of alpha ----------------------------------------------------------------------------------


def choose_alpha(
    heldout: Matrix,
    targets: Targets,
    select: SelectionMetric,
    alphas: Sequence[float] | None = None,
) -> int:
    """Return the row of ``heldout`` (alphas, n) with the best scores by the metric ``select``.

    Of rows that are equally good (to 1e-9, see ``textrank.metrics``) the one with the largest alpha
    is returned. ``alphas`` are those of the rows; if None, they are taken to be in ascending order.
    Raises ValueError if the labels leave the metric undefined.
    """
    values = score_alphas(heldout, targets, select)
    return choose_largest(values, range(len(values)) if alphas is None else alphas)


def score_alphas(heldout: Matrix, targets: Targets, select: SelectionMetric) -> Vector:
    """Return the metric of the held-out scores at each alpha (alphas,); larger is better.

    Squared error is negated, and disagreement is returned as the share of rightly ordered pairs:
    the mean over queries whose labels differ, or over all given preferences if the targets have a
    preference graph. "f" is F1 at the threshold that is best for the same scores, so optimistic.
    Raises ValueError if the labels leave the metric undefined (for "auc" and "f" if there is one
    class only, above 0 or not). Weights and heads of the targets are not used.
    """
    y = targets.y
    if select == "disagreement" and targets.preferences is not None:
        return preference_concordance(heldout, targets.preferences)
    if select == "disagreement":
        return _mean_concordance(heldout, y, rows_by_group(targets.queries, len(y), name="queries"))
    if select == "squared_error":
        return np.asarray(-((heldout - y) ** 2).mean(axis=1))
    positive = y > 0
    if positive.all() or not positive.any():
        raise ValueError(
            f"all {len(y)} labels are {'positive' if positive.any() else 'negative'}, so {select} "
            "cannot choose alpha. Give labels of both kinds, or select='squared_error'."
        )
    metric = _auc if select == "auc" else _best_f
    return np.array([metric(y, scores) for scores in heldout])


def concordance(scores: Matrix, y: Vector) -> Vector:  # (a, h), (h,) -> (a,)
    """Return the share of pairs with different labels that the scores order rightly, per alpha.

    ``scores`` (a, h) and labels ``y`` (h,) are those of one query; the result is (a,). Scores tied
    up to round-off count one half. NaN if no labels differ. Queries of at most
    ``MAX_ALL_PAIRS_CANDIDATES`` compare all pairs at all alphas in one product, O(a h^2).
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


def preference_concordance(scores: Matrix, graph: PreferenceGraph) -> Vector:  # (a, n) -> (a,)
    """Return the share of preferences that scores (a, n) order rightly, (a,); ties count half.

    Preferences count alike, whatever their magnitude. Scores that differ by round-off are tied.
    Raises ValueError if there are no preferences.
    """
    if not len(graph):
        raise ValueError(
            "no preference between two candidates is left, so disagreement cannot choose alpha. "
            "Give more preferences."
        )
    better, worse = graph.pairs.T
    scores = merge_ties(scores)
    return np.asarray(0.5 + 0.5 * np.sign(scores[:, better] - scores[:, worse]).mean(axis=1))


def _mean_concordance(heldout: Matrix, y: Vector, queries: list[Indices]) -> Vector:
    """Return the share of rightly ordered pairs, mean over queries whose labels differ, (a,).

    ``heldout`` is (a, n), ``queries`` are the rows of each query; pairs have different labels, and
    ties count one half. Raises ValueError if the labels differ in no query.
    """
    usable = [rows for rows in queries if np.ptp(y[rows]) > 0]
    if not usable:
        raise ValueError(
            f"none of {len(queries)} queries has candidates with different labels, so "
            "disagreement cannot choose alpha. Give more labels, or select='squared_error'."
        )
    heldout = merge_ties(heldout)  # by the scale of all queries, as average_over_queries
    return np.asarray(np.mean([concordance(heldout[:, rows], y[rows]) for rows in usable], axis=0))


def _auc(y: Vector, scores: Vector) -> float:
    """Return the AUC of scores (n,), NaN where it is undefined; a label above 0 is positive."""
    value = auc(y, scores)
    return float("nan") if value is None else value


def _best_f(y: Vector, scores: Vector) -> float:
    """Return F1 at the threshold that is best for these labels and scores, both (n,).

    A label above 0 is positive; 0 without a positive.
    """
    threshold = best_threshold(y, scores)
    f = None if threshold is None else precision_recall_f(y, decide(scores, threshold)).f
    return 0.0 if f is None else f


# Checks of inputs ---------------------------------------------------------------------------------


def check_alphas(alphas: Sequence[float]) -> tuple[float, ...]:
    """Return alphas as a tuple of floats in the given order.

    Raises ValueError unless there is at least one and all are positive, finite and distinct.
    """
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


def check_metric(select: str) -> None:
    """Raise ValueError unless ``select`` is a ``SelectionMetric``.

    These are "auc", "f", "squared_error" and "disagreement".
    """
    if select not in get_args(SelectionMetric):
        raise ValueError(
            f"select must be one of {', '.join(get_args(SelectionMetric))}, got {select!r}"
        )


def check_data(data: Any) -> tuple[Matrix | SparseMatrix, bool]:
    """Return the checked matrix, and True if it is a Gram matrix, False for ``Features``.

    Anything but ``Features`` is taken as a Gram matrix. Raises ValueError for empty data, values
    that are not finite or too large, and a Gram matrix that is not square, symmetric and plausibly
    positive semi-definite.
    """
    if isinstance(data, Features):
        return check_features(data), False
    return check_gram(data), True


def check_gram(K: Any) -> Matrix:
    """Return a Gram matrix (n, n) in double precision.

    Raises ValueError unless it is square, not empty, finite and symmetric to 1e-8 of its largest
    diagonal entry, with diagonal and 2 x 2 minors that are not negative. The minors are a cheap
    necessary condition of positive semi-definiteness; the decompositions notice the rest. A
    diagonal above ``MAX_MAGNITUDE ** 2`` is refused too. A float64 array is not copied.
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
            f"the Gram matrix reaches {K.diagonal().max():.3g}, more than {MAX_MAGNITUDE**2:g}: "
            "sums of its entries would overflow. Divide the features, or the kernel, by a constant."
        )
    _check_symmetric(K)
    return K


def check_features(F: Any) -> SparseMatrix | Matrix:
    """Return features (n, d) in double precision, as a sparse CSR array or dense as they came.

    Accepts ``Features``, SciPy sparse matrices and arrays. Raises ValueError for an empty matrix
    and for values that are NaN, infinite or above ``MAX_MAGNITUDE`` in size. Nothing is copied that
    has the right form already.
    """
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
    """Return labels as (n, p) in double precision; one output (n,) becomes (n, 1).

    Raises ValueError for another number of rows and for labels that are NaN, infinite or above
    ``MAX_MAGNITUDE`` in size.
    """
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
    """Raise ValueError, naming ``what``, if an absolute value exceeds ``MAX_MAGNITUDE``.

    The sum of squares could overflow then. ``values`` is an array, possibly empty. An array that
    contains NaN passes, whatever else it has.
    """
    most = max(float(values.max()), -float(values.min())) if values.size else 0.0
    if most > MAX_MAGNITUDE:
        raise ValueError(
            f"{what} reach {most:.3g}, more than {MAX_MAGNITUDE:g}: their squares would overflow. "
            "Divide them by a constant, for example with StandardScaler or MaxAbsScaler."
        )


def check_weights(weights: Any, n: int) -> Vector | None:
    """Return positive, finite sample weights (n,) in double precision, or None if None is given.

    Raises ValueError for another shape and for weights that are zero, negative or not finite.
    """
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


def check_unweighted(targets: Targets, learner: str) -> None:
    """Raise ValueError if ``targets`` have weights, which ``learner`` would ignore.

    ``learner`` is its registered name, for the message. Weights that are all 1 are refused too.
    """
    if targets.weights is not None:
        raise ValueError(
            f"{learner} cannot use sample weights. Use rls.v1 or reduced_rls.v1, or train without."
        )


def rows_by_group(labels: Any, n: int, *, name: str = "groups") -> list[Indices]:
    """Return the row numbers of each group, ascending, in the order of the sorted labels.

    ``labels[i]`` is the group of row ``i``; ``name`` is what an error calls them. Every row is in
    exactly one group; with no rows there is one empty group. Raises ValueError unless there is one
    label for each of the ``n`` rows.
    """
    labels = np.asarray(labels)
    if labels.shape != (n,):
        raise ValueError(f"{n} rows of data but {name} of shape {labels.shape}: one a row")
    numbers = np.unique(labels, return_inverse=True)[1]
    order = np.argsort(numbers, kind="stable")
    return np.split(order, np.flatnonzero(np.diff(numbers[order])) + 1)


def check_groups(groups: Sequence[Indices], n: int) -> None:
    """Raise ValueError unless each group is a list of different row numbers from 0 to ``n - 1``.

    Groups may overlap one another and may be empty; they need not cover all rows.
    """
    for number, group in enumerate(groups):
        rows = np.asarray(group)
        if rows.ndim != 1 or not np.issubdtype(rows.dtype, np.integer):
            raise ValueError(f"group {number} must be a list of row numbers, got {group!r}")
        if rows.size and (rows.min() < 0 or rows.max() >= n):
            raise ValueError(f"group {number} has row {rows.max()}, beyond the last one, {n - 1}")
        if len(np.unique(rows)) < len(rows):
            raise ValueError(f"group {number} holds a row twice: {rows.tolist()}")


def check_folds(folds: Any, groups: Indices) -> Indices:
    """Return the fold number of each candidate as an integer array, unchanged.

    Raises
    ------
    ValueError
        If there is not exactly one non-negative integer per candidate, if fewer than two folds
        are used, or if a group (a document) occurs in more than one fold. Fold numbers need not
        be consecutive.
    """
    folds = np.asarray(folds)
    n = len(groups)
    if folds.shape != (n,) or not np.issubdtype(folds.dtype, np.integer):
        raise ValueError(
            f"a partition gives the number of a fold for each of the {n} candidates, "
            f"got shape {folds.shape} of {folds.dtype}"
        )
    if n and folds.min() < 0:
        raise ValueError(f"folds are numbered from 0, got {folds.min()}")
    if len(np.unique(folds)) < 2:
        raise ValueError("a partition needs at least two folds that are not empty")
    first = np.unique(groups, return_index=True)[1]
    expected = folds[first][np.unique(groups, return_inverse=True)[1]]
    if (expected != folds).any():
        row = int(np.flatnonzero(expected != folds)[0])
        raise ValueError(
            f"document {groups[row]} lies in folds {expected[row]} and {folds[row]} (candidate "
            f"{row}). Candidates of one document are dependent: divide by document."
        )
    return folds.astype(np.intp)


def _check_symmetric(K: Matrix, block: int = 128) -> None:
    """Raise ValueError if ``K`` is not symmetric or has a negative diagonal or 2 x 2 minor.

    Differences up to 1e-8 of the largest diagonal entry are tolerated (up to 1e-8 if all are 0),
    but no negative diagonal entry. ``block`` is the number of rows that are checked at once.
    """
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
    """Check rows ``start ..`` of a Gram matrix, from column ``start`` on, for ``_check_symmetric``.

    ``strip`` (s, n - start) are these rows, ``mirror`` the transposed strip of columns,
    ``diagonal`` the diagonal from ``start`` on, ``limit`` the tolerated difference. Raises
    ValueError if an entry differs from its mirror image, or exceeds the root of the product of its
    two diagonal entries.
    """
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
