"""Learners built from another learner: one model per question, and a second stage over documents.

``PerQuestionLearner`` splits the features by question, trains a learner on each part, and scales
the scores of each question to log-odds, so that scores compare across questions.

``DocumentContextLearner`` corrects the score of a name by the other names of its text: it trains a
first stage and, on its held-out scores, a logistic regression on the features of
``document_context_features``. The weights of that second stage are ``DocumentContextWeights``,
which a ``Fit`` carries and a model saves.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.special import logit

from textrank.candidates import DocumentContext, Targets
from textrank.features import (
    CONSTANT_FEATURE,
    Arrays,
    FeatureNames,
    Features,
    Indices,
    Matrix,
    SparseMatrix,
    Vector,
)
from textrank.learners.base import (
    NestedScores,
    RegularizationPath,
    SelectionMetric,
    check_features,
    check_targets,
    rows_by_group,
)
from textrank.learners.calibration import fit_logistic
from textrank.learners.holdout import (
    MetaLearner,
    PathLearner,
    empty_nested_scores,
    nested_by_inverse_multi,
)
from textrank.learners.rls import RLS, rls_path
from textrank.linalg import gram
from textrank.progress import track

MIN_SPREAD = 1e-12  # scores and features that vary less say nothing about the label
CONTEXT_FEATURE_NAMES = (
    "score",
    "mean of others",
    "mean of others, near ones more",
    "maximum of others",
    "score before, damped",
    "score after, damped",
    "nearness before",
    "nearness after",
    "names",
    "equal names",
    "mean of equal names",
    "maximum of equal names",
)
IDENTITY_WEIGHTS = np.eye(len(CONTEXT_FEATURE_NAMES) + 1)[0]  # leave the score as it is


@dataclass(frozen=True)
class PerQuestionLearner(MetaLearner):
    """Learner that trains one model per question and returns log-odds.

    The kernel ``blocks.v1`` puts each feature under its question and gives each question a
    constant. Questions share no feature, so each is trained alone. A logistic curve through the
    held-out scores of a question turns them into log-odds, ``s -> slope s + offset``; slope and
    offset go into its weights. So the model stays one weight per feature, its scores compare across
    questions, and ``expit`` of a score is a probability. (These two numbers per question see the
    held-out labels that they are then judged by; inside nested evaluation no test fold does.)
    Platt (1999), with his corrected targets.

    >>> from textrank.learners.rls import RLS
    >>> x = np.random.default_rng(0).normal(size=40)
    >>> questions = ["than", "to"] * 20
    >>> rows = [{(q, "x"): v, (q, "constant"): 1.0} for q, v in zip(questions, x, strict=True)]
    >>> data = Features.from_dicts(rows)
    >>> y, groups = np.tile([1, -1], 20) * np.sign(x), np.arange(40)  # opposite answers
    >>> fit = PerQuestionLearner(RLS(alphas=[1.0])).fit(data, Targets(y, groups, groups))
    >>> bool((np.sign(fit.predict(data)) == y).mean() > 0.9)
    True

    Parameters
    ----------
    learner
        The learner of one question, with a path over alphas: ``SparseRLS`` for many candidates.
    minimum
        A feature that fewer training candidates of a question have gets no weight.
    bits
        Weights are rounded to so many binary digits, which compresses a model well; 0 keeps all.
    select
        Metric of the held-out log-odds by which alpha is chosen.
    together
        Compute test folds of an ``RLS`` from one inverse per question and alpha instead of one
        training per fold. Features are then counted, and left out, in all folds at once, and
        weights are not rounded: no label of a test fold is used, and metrics differ in the last
        digits.
    """

    learner: PathLearner
    minimum: int = 1
    bits: int = 0
    select: SelectionMetric = "auc"
    together: bool = False

    def __post_init__(self) -> None:
        """Raise ValueError for a learner without a path and for settings outside their range.

        ``minimum`` is at least 1 and ``bits`` between 0 and 52.
        """
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
        """Return feature weights (alphas, d) and held-out log-odds (alphas, n) at every alpha.

        Each question is trained by itself, and its scores are turned into log-odds by
        ``fit_log_odds_scale``; the offset, divided by the value of the question's constant feature,
        is added to the weight of this feature. Features that fewer than ``minimum`` candidates of a
        question have weigh 0. Weights are rounded to ``bits``, held-out scores are not. A question
        with one label or one group only scores a constant. Raises ValueError for a Gram matrix, if
        all candidates are in one group, and if a question has no constant feature.
        """
        if not isinstance(data, Features):
            raise ValueError(
                "log-odds by question need features. Use the kernel blocks.v1 over kernels that "
                "have them."
            )
        check_features(data)
        y = check_targets(targets.y, len(data))[:, 0]
        if len(set(targets.groups.tolist())) < 2:
            raise ValueError(
                f"all {len(y)} candidates are of one document: nothing can be held out. Split it, "
                "for example a book into one file per chapter."
            )
        coefs = np.zeros((len(self.alphas), len(data.names)))
        heldout = np.zeros((len(self.alphas), len(y)))
        for twins in track(self._find_twins(data, targets), "questions"):
            for part, path in zip(twins, self._paths(twins, targets), strict=True):
                for a, scores in enumerate(path.heldout):
                    slope, offset = fit_log_odds_scale(scores, y[part.rows])
                    coefs[a, part.columns] = slope * path.coefs[a]
                    coefs[a, part.constant] += offset / part.value
                    heldout[a, part.rows] = slope * scores + offset
        return RegularizationPath(tuple(self.alphas), round_to_bits(coefs, self.bits), heldout)

    def nested(
        self, data: Matrix | Features, targets: Targets, partitions: Sequence[Indices]
    ) -> list[NestedScores]:
        """Return test and inner held-out log-odds of every partition into folds, at every alpha.

        A partition is the fold number of each candidate (n,); there is one result per partition, in
        order. Raises ValueError if a group is in two folds. Each fold is one training, except with
        ``together``, an ``RLS`` and ``Features``: then all folds follow from one inverse per
        question and alpha, each question must have candidates in at least two folds, else
        ValueError, and sample weights and ``positive_weight`` are not used.
        """
        if not (self.together and isinstance(self.learner, RLS) and isinstance(data, Features)):
            return super().nested(data, targets, partitions)
        alphas = tuple(self.alphas)
        results = [empty_nested_scores(alphas, np.asarray(folds)) for folds in partitions]
        for twins in self._find_twins(data, targets):
            rows = twins[0].rows
            Y = np.column_stack([targets.y[part.rows] for part in twins])
            folds_of_rows = [np.asarray(folds)[rows] for folds in partitions]
            K, groups = gram(twins[0].features.values), targets.groups[rows]
            nested = nested_by_inverse_multi(K, Y, groups, folds_of_rows, alphas)
            for part, scores in zip(twins, nested, strict=True):
                for result, one in zip(results, scores, strict=True):
                    for a, fold in product(range(len(alphas)), np.unique(one.folds).tolist()):
                        _fill_fold(result, one, part.rows, targets.y[part.rows], a, fold)
        return results

    def _find_twins(self, data: Features, targets: Targets) -> list[list[_QuestionData]]:
        """Return the questions, grouped with those of equal features and groups of candidates.

        Twins share one decomposition in ``_paths``; only neighbours in the order of the questions
        are compared. Unless the learner is an ``RLS`` without any weights, each question is alone.
        """
        groups: list[list[_QuestionData]] = []
        for rows in _rows_by_question(data):
            part = _QuestionData.from_rows(data, rows, self.minimum)
            is_plain = (
                isinstance(self.learner, RLS)
                and self.learner.positive_weight == 1.0
                and targets.weights is None
            )
            if is_plain and groups and _are_twins(groups[-1][0], part, targets):
                groups[-1].append(part)
            else:
                groups.append([part])
        return groups

    def _paths(
        self, twins: Sequence[_QuestionData], targets: Targets
    ) -> Iterator[RegularizationPath]:
        """Yield the path of each of some twin questions, in order, from one decomposition.

        Twins have the same features and groups but different labels. ``targets`` are those of all
        candidates. A single question is trained by ``learner`` itself.
        """
        rows = twins[0].rows
        if len(twins) == 1:
            yield self._path(twins[0].features, targets.take(rows))
            return
        Y = np.column_stack([targets.y[part.rows] for part in twins])
        groups = rows_by_group(targets.groups[rows], len(rows), name="groups")
        X = twins[0].features.values
        A, heldout = rls_path(X, Y, np.array(self.alphas), groups, dual=False)
        for output in range(len(twins)):
            yield RegularizationPath(tuple(self.alphas), A[:, :, output], heldout[:, :, output])

    def _path(self, data: Features, targets: Targets) -> RegularizationPath:
        """Return the path of one question; zeros if it has one label or one group only.

        ``data`` and ``targets`` are those of the question alone.
        """
        if len(set(targets.y)) < 2 or len(set(targets.groups)) < 2:
            coefs = np.zeros((len(self.alphas), len(data.names)))
            heldout = np.zeros((len(self.alphas), len(targets)))
            return RegularizationPath(tuple(self.alphas), coefs, heldout)
        return self.learner.path(data, targets)


@dataclass(frozen=True, eq=False)
class _QuestionData:
    """The candidates of one question, with the features that enough of them have."""

    rows: Indices  # (m,) among all candidates
    features: Features  # (m, c)
    columns: Indices  # (c,) of these features among all
    constant: int  # column of the constant among all features
    value: float  # of the constant

    @classmethod
    def from_rows(cls, data: Features, rows: Indices, minimum: int) -> _QuestionData:
        """Select features that at least ``minimum`` of the rows have; all rows, if they are fewer.

        ``rows`` are those of one question in ``data``, the features of all candidates. The constant
        is the first feature that all rows have and whose name ends with ``CONSTANT_FEATURE``, its
        value that of the first row; raises ValueError if there is none.
        """
        X = data.values if len(rows) == len(data) else data.values[rows]
        counts = np.bincount(X.indices, minlength=X.shape[1])
        everywhere = np.flatnonzero(counts == len(rows))
        constant = next(
            (int(c) for c in everywhere if data.names[int(c)][-1] == CONSTANT_FEATURE), -1
        )
        if constant < 0:
            raise ValueError(
                f"the {len(rows)} candidates of {data.names[int(X.indices[0])][0]!r} share no "
                f"feature {CONSTANT_FEATURE!r} to hold the offset of their log-odds. Use the "
                "kernel blocks.v1."
            )
        columns = np.flatnonzero(counts >= min(minimum, len(rows)))
        value = float(X.data[X.indices == constant][0])
        features = Features(_take_columns(X, columns), data.names.take(columns))
        return cls(rows, features, columns, constant, value)


def _are_twins(one: _QuestionData, two: _QuestionData, targets: Targets) -> bool:
    """Return whether two questions have equal feature values and groups, row by row.

    Both must also have exactly two different labels and more than one group. Labels themselves may
    differ, and so may the names of features.
    """
    X, Z = one.features.values, two.features.values
    return (
        X.shape == Z.shape
        and len(set(targets.y[one.rows])) == len(set(targets.y[two.rows])) == 2
        and len(set(targets.groups[one.rows])) > 1
        and np.array_equal(targets.groups[one.rows], targets.groups[two.rows])
        and np.array_equal(X.indptr, Z.indptr)
        and np.array_equal(X.indices, Z.indices)
        and np.array_equal(X.data, Z.data)
    )


def _fill_fold(
    result: NestedScores, scores: NestedScores, rows: Indices, y: Vector, a: int, fold: int
) -> None:
    """Write the log-odds of one question, alpha and fold into ``result``, in place.

    ``scores`` are those of the question alone, whose candidates are ``rows`` (m,) of the result and
    have labels ``y`` (m,); ``a`` is the index of the alpha. The curve to log-odds is fitted to the
    inner scores, so without the fold.
    """
    out, rest = np.flatnonzero(scores.folds == fold), np.flatnonzero(scores.folds != fold)
    inner = scores.inner[a, fold, rest]
    slope, offset = fit_log_odds_scale(inner, y[rest])
    result.inner[a, fold, rows[rest]] = slope * inner + offset
    result.outer[a, rows[out]] = slope * scores.outer[a, out] + offset


def _rows_by_question(data: Features) -> list[Indices]:
    """Return the ascending rows of each question, which is the first part of their features' names.

    The question is read from the first feature of a row. Questions are in the order of their
    numbers in ``data.names.vocabulary``. Raises ValueError if a row has no feature.
    """
    X = data.values
    if (np.diff(X.indptr) == 0).any():
        raise ValueError("a candidate has no features. Use the kernel blocks.v1.")
    question = data.names.parts[X.indices[X.indptr[:-1]], 0]
    order = np.argsort(question, kind="stable")
    return np.split(order, np.flatnonzero(np.diff(question[order])) + 1)


def _take_columns(X: SparseMatrix, columns: Indices) -> SparseMatrix:
    """Return ``X[:, columns]`` as a CSR array, faster; ``columns`` must be distinct.

    ``X`` must be in CSR format. Entries of a row keep their order, so columns stay sorted only if
    ``columns`` ascend.
    """
    number = np.full(X.shape[1], -1, dtype=np.int32)
    number[columns] = np.arange(len(columns))
    new_columns = number[X.indices]
    keep = new_columns >= 0
    starts = np.concatenate([[0], np.cumsum(keep)])[X.indptr]
    return sp.csr_array((X.data[keep], new_columns[keep], starts), shape=(X.shape[0], len(columns)))


def fit_log_odds_scale(scores: Vector, y: Vector) -> tuple[float, float]:
    """Return slope and offset that turn held-out scores (n,) into log-odds of a positive label.

    A label of ``y`` (n,) is positive if above 0. The slope is at least 0; it is 0, and the offset
    the log-odds of all labels, each kind counted once more, if scores are constant, go against the
    labels, or labels are of one kind. The targets are smoothed by one candidate of each kind, as
    Platt does, so that few or perfectly separated candidates do not give certainty.

    >>> from scipy.special import expit
    >>> scores, y = np.array([-1.0, 1.0, -1.0, 1.0]), np.array([-1, 1, -1, 1])
    >>> slope, offset = fit_log_odds_scale(scores, y)
    >>> float(np.round(expit(slope + offset), 2))    # (2 + 1) / (2 + 2)
    0.75
    """
    positives = int((y > 0).sum())
    negatives = len(y) - positives
    targets = np.where(y > 0, (positives + 1) / (positives + 2), 1 / (negatives + 2))
    spread = float(scores.std())
    prior = float(np.log((positives + 1) / (negatives + 1)))
    if not positives or not negatives or spread < MIN_SPREAD:
        return 0.0, prior
    Z = np.column_stack([(scores - scores.mean()) / spread, np.ones(len(y))])
    w = fit_logistic(Z, targets, np.zeros(2), np.array([1.0, prior]))
    if w[0] <= 0:
        return 0.0, prior
    return float(w[0] / spread), float(w[1] - w[0] * scores.mean() / spread)


def round_to_bits(values: Matrix, bits: int) -> Matrix:
    """Return values rounded to ``bits`` binary digits of the mantissa; 0 returns them as they are.

    >>> round_to_bits(np.array([[0.3]]), 3).item()
    0.3125
    """
    if not bits:
        return values
    fraction, exponent = np.frexp(values)
    return np.ldexp(np.round(np.ldexp(fraction, bits)), exponent - bits)


@dataclass(frozen=True)
class DocumentContextLearner(MetaLearner):
    """Learner with a second stage that corrects scores by those of other names of the text.

    The first stage is ``learner``. The second stage learns from its held-out scores, that is from
    scores of texts never trained on, as it will see them later. It is a logistic regression per
    question on the twelve ``CONTEXT_FEATURE_NAMES``, and its scores are log-odds. The held-out
    scores of the second stage, by which alpha is chosen, come from ``folds`` folds of documents.
    (First-stage scores of other documents come from models that saw a held-out document, as always
    if one model is stacked on another; inside nested evaluation nothing sees the test fold.)

    >>> from textrank.candidates import DocumentContext
    >>> from textrank.learners.reduced import SparseRLS
    >>> from textrank.metrics import auc
    >>> rng, groups, n = np.random.default_rng(0), np.repeat(np.arange(30), 4), 120
    >>> y = np.repeat(rng.choice([-1.0, 1.0], size=30), 4)  # the names of a text agree
    >>> data = Features.from_dicts({"x": value} for value in y + 2 * rng.normal(size=n))
    >>> positions = np.tile(np.arange(4.0), 30)
    >>> context = DocumentContext(groups, positions, ("DNA",) * n, np.arange(n) % 8)
    >>> targets, first = Targets(y, groups, groups, context), SparseRLS(alphas=[1.0], folds=3)
    >>> fit = DocumentContextLearner(first, folds=4).fit(data, targets)
    >>> auc(y, fit.heldout[0]) > auc(y, first.fit(data, targets).heldout[0])
    True

    Parameters
    ----------
    learner
        The first stage, with a path over alphas.
    penalty
        Ridge penalty of the weights of the standardised features; small beside thousands of names.
    folds
        Number of folds of documents for the held-out scores of the second stage.
    select
        Metric of the held-out scores by which alpha is chosen.
    """

    learner: PathLearner
    penalty: float = 1.0
    folds: int = 5
    select: SelectionMetric = "auc"

    def __post_init__(self) -> None:
        """Raise ValueError for a learner without a path and for settings outside their range.

        ``penalty`` is positive and ``folds`` at least 2.
        """
        if not isinstance(self.learner, PathLearner):
            raise ValueError(
                f"learner must have a path over alphas, {type(self.learner).__name__} has none. "
                "Use blockwise.v1, rls.v1 or sparse_rls.v1."
            )
        if not self.penalty > 0 or self.folds < 2:
            raise ValueError(
                f"penalty must be positive and folds at least 2, got {self.penalty} and "
                f"{self.folds}"
            )

    def path(self, data: Matrix | Features, targets: Targets) -> RegularizationPath:
        """Return the first stage, the second stage and its held-out scores at every alpha.

        ``coefs`` are those of the first stage, ``stages`` one second stage per alpha, and
        ``heldout`` (alphas, n) log-odds after the second stage. Raises ValueError if ``targets``
        have no context.
        """
        if targets.context is None:
            raise ValueError(
                "a second stage over the document needs the positions of the candidates in their "
                "texts. Give targets with a context."
            )
        first = self.learner.path(data, targets)
        fitted = [self._fit_stage(targets, targets.context, scores) for scores in first.heldout]
        heldout = np.array([scores for _, scores in fitted])
        stages = [stage for stage, _ in fitted]
        return RegularizationPath(first.alphas, first.coefs, heldout, stages)

    def _fit_stage(
        self, targets: Targets, context: DocumentContext, scores: Vector
    ) -> tuple[DocumentContextWeights, Vector]:
        """Fit the second stage to first-stage scores (n,) at one alpha, each question by itself.

        Returns the weights learned from all documents, and second-stage scores (n,) of each
        candidate by weights learned without its fold. The sorted groups are dealt to ``folds``
        folds in turn. Questions are in order of first occurrence.
        """
        Z = document_context_features(context, scores)
        candidate_questions = np.array(context.questions)
        questions = tuple(dict.fromkeys(context.questions))
        weights = np.zeros((len(questions), len(CONTEXT_FEATURE_NAMES) + 1))
        heldout = np.zeros(len(scores))
        fold = np.unique(targets.groups, return_inverse=True)[1] % self.folds
        for number, question in enumerate(questions):
            asked = candidate_questions == question
            weights[number] = fit_log_odds(Z[asked], targets.y[asked], self.penalty)
            for out in range(self.folds):
                rest = asked & (fold != out)
                w = fit_log_odds(Z[rest], targets.y[rest], self.penalty)
                left_out = asked & (fold == out)
                heldout[left_out] = Z[left_out] @ w[:-1] + w[-1]
        return DocumentContextWeights(questions, weights), heldout


@dataclass(frozen=True, eq=False)
class DocumentContextWeights:
    """Second stage: per question a weight of each context feature, and a constant.

    Candidates of a question that was not in the training data keep their scores.
    """

    questions: tuple[str, ...]
    weights: Matrix  # (questions, 13), the constant last

    def __call__(self, context: DocumentContext, scores: Vector) -> Vector:
        """Return the log-odds (n,) of candidates with these first-stage scores (n,).

        ``context`` must hold all candidates of each text, in the order of the scores.
        """
        return np.asarray(self.parts(context, scores).sum(axis=1))

    def parts(self, context: DocumentContext, scores: Vector) -> Matrix:  # (n, 13)
        """Return what each context feature, and last the constant, adds to each score, (n, 13).

        Rows sum to the result of calling the stage. A candidate of an unknown question has its
        score in the first column and zeros elsewhere.
        """
        Z = np.column_stack([document_context_features(context, scores), np.ones(len(scores))])
        number = {question: row for row, question in enumerate(self.questions)}
        rows = [number.get(question, len(number)) for question in context.questions]
        return np.asarray(Z * np.vstack([self.weights, IDENTITY_WEIGHTS])[rows])

    def to_arrays(self) -> Arrays:
        """Return the arrays that ``from_arrays`` reads: ``stage`` and names under ``stage/``."""
        names = FeatureNames.from_iterable(self.questions).to_arrays()
        return {"stage": self.weights, **{f"stage/{key}": a for key, a in names.items()}}

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, Any]) -> DocumentContextWeights | None:
        """Return the weights among the arrays of a model, or None if it has no second stage.

        Other arrays are ignored. Raises ValueError if the names are damaged, KeyError if they are
        missing.
        """
        if "stage" not in arrays:
            return None
        prefix = "stage/"
        names = FeatureNames.from_arrays(
            {k.removeprefix(prefix): v for k, v in arrays.items() if k.startswith(prefix)}
        )
        return cls(
            tuple(names[row][0] for row in range(len(names))),
            np.asarray(arrays["stage"], dtype=np.float64),
        )


def fit_log_odds(Z: Matrix, y: Vector, penalty: float) -> Vector:  # (n, d) -> (d + 1,)
    """Return weights of the features, and last a constant, of the log-odds of a positive label.

    Logistic regression with a ridge ``penalty`` on the weights of standardised features; the
    constant is not penalised. A label of ``y`` (n,) is positive if above 0. A feature that does not
    vary gets the weight 0. Without labels of both kinds the first feature, the score, is returned
    unchanged: weights (1, 0, ..., 0).

    >>> from scipy.special import expit
    >>> Z = np.array([[-1.0], [-1.0], [1.0], [1.0], [1.0]])
    >>> w = fit_log_odds(Z, np.array([-1, 1, -1, 1, 1]), 1e-9)
    >>> expit(Z[[0, 2]] @ w[:1] + w[1]).round(3)    # one of two, two of three
    array([0.5  , 0.667])
    """
    positive = (y > 0).astype(np.float64)
    if not len(y) or positive.min() == positive.max():
        return np.eye(Z.shape[1] + 1)[0]
    centre, spread = Z.mean(axis=0), Z.std(axis=0)
    spread = np.where(spread > MIN_SPREAD, spread, np.inf)
    X = np.column_stack([(Z - centre) / spread, np.ones(len(Z))])
    ridge = np.append(np.full(Z.shape[1], penalty), 0.0)
    start = np.append(np.zeros(Z.shape[1]), logit(positive.mean()))
    w = fit_logistic(X, positive, ridge, start)
    slopes = w[:-1] / spread
    return np.append(slopes, w[-1] - slopes @ centre)


def document_context_features(context: DocumentContext, scores: Vector) -> Matrix:  # (n, 12)
    """Return for each candidate the features ``CONTEXT_FEATURE_NAMES``, (n, 12), in their order.

    These are its first-stage score and the scores of other candidates of the same text and
    question: all, those before and after it, and those of the same spelling. ``scores`` (n,) must
    come from a first stage that never saw the text. No name is ever learned, only that equal names
    of one text tend to agree. Nearness is ``1 / (1 + distance in tokens)``; what needs another
    candidate is 0 without one, and counts are logarithms. O(names²) per text and question.
    """
    features = np.zeros((len(context), len(CONTEXT_FEATURE_NAMES)))
    groups: dict[tuple[int, str], list[int]] = {}
    for index, key in enumerate(zip(context.text_ids.tolist(), context.questions, strict=True)):
        groups.setdefault(key, []).append(index)
    for members in groups.values():
        rows = np.array(members, dtype=np.intp)
        features[rows] = _text_features(
            context.positions[rows], context.word_ids[rows], scores[rows]
        )
    return features


def _text_features(position: Vector, word: Indices, s: Vector) -> Matrix:  # (n, 12)
    """Return the context features (n, 12) of all candidates of one text and question.

    ``position`` (n,) are token positions, ``word`` (n,) equal numbers for equal spellings, ``s``
    (n,) scores. Columns are those of ``CONTEXT_FEATURE_NAMES``, the score itself first. Scores
    "before" and "after" are those of the neighbours in the text times their nearness
    ``1 / (1 + distance)``, which also weighs the mean of "near ones more"; "names" is ``log(n)``
    and "equal names" ``log(1 + number of others)``. Means, maxima and neighbours are 0 where there
    is no other candidate.
    """
    n = len(s)
    other = ~np.eye(n, dtype=bool)
    near = other / (1.0 + np.abs(position[:, None] - position[None, :]))
    same = (word[:, None] == word[None, :]) & other
    before, after = _neighbour_nearness(position, near)
    columns = [
        s,
        _mean(other.astype(float), s),
        _mean(near, s),
        _maximum(other, s),
        before * np.append(0.0, s)[_previous(position) + 1],
        after * np.append(0.0, s)[_next(position) + 1],
        before,
        after,
        np.full(n, np.log(n)),
        np.log1p(same.sum(axis=1)),
        _mean(same.astype(float), s),
        _maximum(same, s),
    ]
    return np.column_stack(columns)


def _previous(position: Vector) -> Indices:
    """Return the index of the candidate before each in the text, -1 for the first.

    ``position`` (n,) are token positions in any order; of equal ones the first row counts as
    before.
    """
    order = np.argsort(position, kind="stable")
    previous = np.full(len(position), -1, dtype=np.intp)
    previous[order[1:]] = order[:-1]
    return previous


def _next(position: Vector) -> Indices:
    """Return the index of the candidate after each in the text, -1 for the last.

    ``position`` (n,) are token positions in any order; of equal ones the first row counts as
    before.
    """
    order = np.argsort(position, kind="stable")
    following = np.full(len(position), -1, dtype=np.intp)
    following[order[:-1]] = order[1:]
    return following


def _neighbour_nearness(position: Vector, near: Matrix) -> tuple[Vector, Vector]:
    """Return the nearness of the candidate before and of the one after each; 0 if there is none.

    ``position`` (n,) are token positions, ``near`` (n, n) the nearness of each two candidates. Both
    results are (n,).
    """
    padded = np.column_stack([np.zeros(len(position)), near])
    rows = np.arange(len(position))
    return padded[rows, _previous(position) + 1], padded[rows, _next(position) + 1]


def _mean(weights: Matrix, s: Vector) -> Vector:
    """Return the weighted mean of ``s`` (n,) for each row of weights (n, n); 0 without weight."""
    total = weights.sum(axis=1)
    return np.asarray(weights @ s / np.where(total > 0, total, 1.0))


def _maximum(mask: Matrix, s: Vector) -> Vector:
    """Return the maximum of ``s`` (n,) where each row of the mask (n, n) is true; 0 if nowhere."""
    best = np.where(mask, s[None, :], -np.inf).max(axis=1, initial=-np.inf)
    return np.where(np.isfinite(best), best, 0.0)
