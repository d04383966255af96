"""Second stage over the document: correct the score of a name by the other names of its text.

``DocumentContextLearner`` trains a first stage and, on its held-out scores, a logistic regression
on the features of ``document_context_features``. The weights of that second stage are
``DocumentContextWeights``, which a ``Fit`` carries and a model saves.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import logit

from textrank.candidates import DocumentContext, Targets
from textrank.features import Arrays, FeatureNames, Features, Indices, Matrix, Vector
from textrank.learners.base import RegularizationPath, SelectionMetric
from textrank.learners.calibration import fit_logistic
from textrank.learners.holdout import MetaLearner, PathLearner

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
MIN_SPREAD = 1e-12  # a feature that varies less gets no weight


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
        candidate by weights learned without its fold. Groups are dealt to ``folds`` folds in turn.
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
    (n,) scores. Columns are those of ``CONTEXT_FEATURE_NAMES``, the score itself first; means,
    maxima and neighbours are 0 where there is no other candidate.
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
