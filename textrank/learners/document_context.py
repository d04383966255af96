"""A second stage over the document: what the other names of a text say about a name."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import expit

from textrank.candidates import Neighbourhood, Targets
from textrank.features import Arrays, FeatureNames, Features, Indices, Matrix, Vector
from textrank.learners.base import RegularizationPath, SelectionMetric
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
AS_IT_IS = np.eye(len(CONTEXT_FEATURE_NAMES) + 1)[0]  # weights that leave a score alone


@dataclass(frozen=True, eq=False)
class DocumentContextWeights:
    """A weight for each of the twelve ``NUMBERS`` and a constant, for each question.

    Candidates with a question that was never met keep their scores.
    """

    questions: tuple[str, ...]
    weights: Matrix  # (questions, 13), the constant last

    def __call__(self, neighbourhood: Neighbourhood, scores: Vector) -> Vector:
        """The scores after the stage: log-odds."""
        return np.asarray(self.parts(neighbourhood, scores).sum(axis=1))

    def parts(self, neighbourhood: Neighbourhood, scores: Vector) -> Matrix:  # (n, 13)
        """What each number, and last the constant, adds to a score."""
        Z = np.column_stack(
            [document_context_features(neighbourhood, scores), np.ones(len(scores))]
        )
        number = {question: row for row, question in enumerate(self.questions)}
        rows = [number.get(question, len(number)) for question in neighbourhood.questions]
        return np.asarray(Z * np.vstack([self.weights, AS_IT_IS])[rows])

    def to_arrays(self) -> Arrays:
        """Arrays that ``from_arrays`` takes back."""
        names = FeatureNames.from_iterable(self.questions).to_arrays()
        return {"stage": self.weights, **{f"stage/{key}": a for key, a in names.items()}}

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, Any]) -> DocumentContextWeights | None:
        """The weights among the arrays of a model; None where it has no second stage."""
        if "stage" not in arrays:
            return None
        below = {k.removeprefix("stage/"): v for k, v in arrays.items() if k.startswith("stage/")}
        names = FeatureNames.from_arrays(below)
        return cls(
            tuple(names[row][0] for row in range(len(names))),
            np.asarray(arrays["stage"], dtype=np.float64),
        )


@dataclass(frozen=True)
class DocumentContextLearner(MetaLearner):
    """A learner whose scores are looked at once more, with those of the other names of the text.

    The first stage is ``learner``. For the training documents its held-out scores count, so the
    second stage learns from scores as it will meet them: of texts never trained on. It is a
    logistic regression on the twelve ``NUMBERS``, for each question, and its scores are log-odds.
    Its own held-out scores, by which alpha is chosen, come from ``folds`` folds of documents.
    (First stages behind other documents' numbers have seen a held-out document, as always when
    one model is stacked on another; inside nested evaluation no test fold is seen by anything.)

    >>> from textrank.candidates import Neighbourhood
    >>> from textrank.learners.sparse import SparseRLS
    >>> from textrank.metrics import auc
    >>> rng, own, n = np.random.default_rng(0), np.repeat(np.arange(30), 4), 120
    >>> y = np.repeat(rng.choice([-1.0, 1.0], size=30), 4)  # the names of a text agree
    >>> data = Features.from_dicts({"x": value} for value in y + 2 * rng.normal(size=n))
    >>> beside = Neighbourhood(own, np.tile(np.arange(4.0), 30), ("DNA",) * n, np.arange(n) % 8)
    >>> targets, first = Targets(y, own, own, beside), SparseRLS(alphas=[1.0], folds=3)
    >>> twice = DocumentContextLearner(first, folds=4).fit(data, targets)
    >>> auc(y, twice.heldout[0]) > auc(y, first.fit(data, targets).heldout[0])
    True

    Parameters
    ----------
    learner
        The first stage, with a path over alphas.
    penalty
        Of the squared weights of the numbers in standard units; small beside thousands of names.
    folds
        Of documents, for the held-out scores of the second stage.
    """

    learner: PathLearner
    penalty: float = 1.0
    folds: int = 5
    select: SelectionMetric = "auc"

    def __post_init__(self) -> None:
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
        """The first stage, a second stage and its held-out scores at every alpha."""
        if targets.neighbourhood is None:
            raise ValueError("a second stage over the document must know where candidates stand.")
        first = self.learner.path(data, targets)
        found = [self._second(targets, targets.neighbourhood, scores) for scores in first.heldout]
        stages = [stage for stage, _ in found]
        return RegularizationPath(
            first.alphas, first.coefs, np.array([scores for _, scores in found]), stages
        )

    def _second(
        self, targets: Targets, neighbourhood: Neighbourhood, scores: Vector
    ) -> tuple[DocumentContextWeights, Vector]:
        """The weights of all documents, and the scores of each by those of the others."""
        Z = document_context_features(neighbourhood, scores)
        asked = np.array(neighbourhood.questions)
        questions = tuple(dict.fromkeys(neighbourhood.questions))
        weights = np.zeros((len(questions), len(CONTEXT_FEATURE_NAMES) + 1))
        heldout = np.zeros(len(scores))
        document = np.unique(targets.groups, return_inverse=True)[1]
        fold = document % self.folds
        for number, question in enumerate(questions):
            own = asked == question
            weights[number] = fit_log_odds(Z[own], targets.y[own], self.penalty)
            for out in range(self.folds):
                rest = own & (fold != out)
                w = fit_log_odds(Z[rest], targets.y[rest], self.penalty)
                left = own & (fold == out)
                heldout[left] = Z[left] @ w[:-1] + w[-1]
        return DocumentContextWeights(questions, weights), heldout


def fit_log_odds(Z: Matrix, y: Vector, penalty: float) -> Vector:  # (n, d) -> (d + 1,)
    """Weights and constant of the log-odds of a yes, by Newton's method in standard units.

    Without answers of both kinds the first number, the score, is left as it is.

    >>> Z = np.array([[-1.0], [-1.0], [1.0], [1.0], [1.0]])
    >>> w = fit_log_odds(Z, np.array([-1, 1, -1, 1, 1]), 1e-9)
    >>> expit(Z[[0, 2]] @ w[:1] + w[1]).round(3)    # one of two, two of three
    array([0.5  , 0.667])
    """
    yes = (y > 0).astype(np.float64)
    if not len(y) or yes.min() == yes.max():
        return np.eye(Z.shape[1] + 1)[0]
    centre, spread = Z.mean(axis=0), Z.std(axis=0)
    spread = np.where(spread > 1e-12, spread, np.inf)  # what never varies gets no weight
    X = np.column_stack([(Z - centre) / spread, np.ones(len(Z))])
    ridge = np.append(np.full(Z.shape[1], penalty), 0.0)
    w = np.append(np.zeros(Z.shape[1]), np.log(yes.mean() / (1 - yes.mean())))
    for _ in range(100):
        p = expit(X @ w)
        H = (X * (p * (1 - p))[:, None]).T @ X + np.diag(ridge + 1e-9)
        step = np.linalg.solve(H, X.T @ (yes - p) - ridge * w)
        w = w + step * min(1.0, 4.0 / float(np.abs(step).max() + 1e-300))
        if np.abs(step).max() < 1e-10:
            break
    plain = w[:-1] / spread
    return np.append(plain, w[-1] - plain @ centre)


def document_context_features(neighbourhood: Neighbourhood, scores: Vector) -> Matrix:  # (n, 12)
    """For each candidate its score and how others of its text score; see ``NUMBERS``.

    Only candidates that ask the same look at one another. ``scores`` are those of a first stage
    that never saw the text. No name is ever learnt, only that equal names of one text tend to
    agree. Nearness is ``1 / (1 + tokens between)``. O(names²) a text.
    """
    out = np.zeros((len(neighbourhood), len(CONTEXT_FEATURE_NAMES)))
    groups: dict[tuple[int, str], list[int]] = {}
    for index, key in enumerate(
        zip(neighbourhood.texts.tolist(), neighbourhood.questions, strict=True)
    ):
        groups.setdefault(key, []).append(index)
    for members in groups.values():
        rows = np.array(members, dtype=np.intp)
        out[rows] = _of_text(
            neighbourhood.places[rows], neighbourhood.spellings[rows], scores[rows]
        )
    return out


def _of_text(place: Vector, spelling: Indices, s: Vector) -> Matrix:
    n = len(s)
    other = ~np.eye(n, dtype=bool)
    near = other / (1.0 + np.abs(place[:, None] - place[None, :]))
    same = (spelling[:, None] == spelling[None, :]) & other
    before, after = _neighbours(place, near)
    columns = [
        s,
        _mean(other.astype(float), s),
        _mean(near, s),
        _maximum(other, s),
        before * np.append(0.0, s)[_previous(place) + 1],
        after * np.append(0.0, s)[_next(place) + 1],
        before,
        after,
        np.full(n, np.log(n)),
        np.log1p(same.sum(axis=1)),
        _mean(same.astype(float), s),
        _maximum(same, s),
    ]
    return np.column_stack(columns)


def _previous(place: Vector) -> Indices:
    """The candidate before each in the text, -1 for the first."""
    order = np.argsort(place, kind="stable")
    found = np.full(len(place), -1, dtype=np.intp)
    found[order[1:]] = order[:-1]
    return found


def _next(place: Vector) -> Indices:
    order = np.argsort(place, kind="stable")
    found = np.full(len(place), -1, dtype=np.intp)
    found[order[:-1]] = order[1:]
    return found


def _neighbours(place: Vector, near: Matrix) -> tuple[Vector, Vector]:
    """Nearness of the candidate before and of the one after; 0 where there is none."""
    padded = np.column_stack([np.zeros(len(place)), near])
    own = np.arange(len(place))
    return padded[own, _previous(place) + 1], padded[own, _next(place) + 1]


def _mean(weights: Matrix, s: Vector) -> Vector:
    """Weighted means; 0 where there is nobody."""
    total = weights.sum(axis=1)
    return np.asarray(weights @ s / np.where(total > 0, total, 1.0))


def _maximum(mask: Matrix, s: Vector) -> Vector:
    best = np.where(mask, s[None, :], -np.inf).max(axis=1, initial=-np.inf)
    return np.where(np.isfinite(best), best, 0.0)
