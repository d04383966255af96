"""Guarantees about the answers of a model: at most a stated share of them is wrong.

``find_guarantee`` chooses the lowest confidence from which answers are given, so that the share of
wrong answers stays below ``max_error`` with probability ``confidence`` (learn then test,
Angelopoulos et al. 2021, arXiv:2110.01052). The unit is the document, since answers of one document
are not independent. It uses the leave-document-out scores of training, which a model stores with
the number of the document of each (``HeldoutReference``).

The guarantee holds for documents drawn like the training documents. ``ShiftMonitor`` compares new
documents with them and says if they differ. ``AnswerSets`` are sets of answers, for classes and
rankings, that contain the right one with a stated probability (conformal prediction by document,
Lee, Barber and Willett 2023, arXiv:2306.06342).

Held-out scores stand for scores of new documents. That is exact up to the effect of one document on
the model.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit
from scipy.stats import mannwhitneyu, t
from spacy.tokens import Doc

from textrank.candidates import (
    PROFILE_COLUMNS,
    Candidate,
    HeldoutReference,
    document_id,
    get_answers,
    number_keys,
)
from textrank.features import Indices, Matrix, Vector
from textrank.metrics import merge_ties, tie_tolerance
from textrank.model import Model
from textrank.tasks.base import Scored

# Confidences that are tried, as log-odds: fixed before the labels are seen, highest first.
LEVELS = np.arange(8.0, -4.01, -0.125)
QUANTILES = 100  # levels of a model without probabilities
STARTS = 3  # sequences of tests, each with this part of the error probability
SHIFT_P_VALUE = 0.01  # of the smallest of all columns, corrected, below which a shift is reported
MIN_SHIFT = 0.2  # difference of the AUC between old and new documents from one half
MIN_SHIFT_DOCUMENTS = 5
ERROR_LEVELS = (0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.4, 0.5)  # proposed if one cannot be reached


@dataclass(frozen=True)
class Guarantee:
    """Confidence from which a model's answers are given, and what is promised of them.

    Promised is that at most the share ``max_error`` of the given answers is wrong, with probability
    ``confidence``, for ``population``, a description in words. An answer at the level is given.
    """

    max_error: float
    confidence: float
    level: float  # log-odds from which an answer is given; a score if the model is not calibrated
    probability: float | None  # the level as a probability; None if the model is not calibrated
    documents: int  # held-out documents that it was chosen on
    answers: int  # held-out answers from the level on
    wrong: float  # share of them that is wrong
    given: float  # share of all right held-out answers that is given
    population: str

    def to_dict(self) -> dict[str, Any]:
        """Return all fields as plain values under their names; no keys are added."""
        return asdict(self)

    def describe(self) -> str:
        """Return the promise in words: two sentences with the level and the held-out counts.

        The level is a probability, or a score if the model is not calibrated.
        """
        level = f"{self.level:.2f}" if self.probability is None else f"{self.probability:.2f}"
        return (
            f"At most {100 * self.max_error:g} % of the given answers are wrong, with "
            f"{100 * self.confidence:g} % confidence, for {self.population}. Answers from "
            f"{'score' if self.probability is None else 'probability'} {level} on are given: on "
            f"{self.documents} held-out documents {self.answers} answers, {100 * self.wrong:.1f} % "
            f"of them wrong, {100 * self.given:.0f} % of the right answers."
        )


def find_guarantee(model: Model, *, max_error: float = 0.1, confidence: float = 0.95) -> Guarantee:
    """Return a Guarantee at the lowest level at which the share of wrong answers is controlled.

    The level is that of ``control_error`` on the model's held-out answers; counts and shares of the
    result are of these answers from the level on.

    Parameters
    ----------
    model
        Model with probabilities or rankable answers that stores the documents of its held-out
        scores. Its task settings, such as the kind of relation, are used.
    max_error
        Largest share of wrong answers, both among all given answers and in the mean of documents.
    confidence
        Probability, over the draw of the training documents, that the share is kept.

    Raises
    ------
    ValueError
        If ``max_error`` or ``confidence`` is not between 0 and 1 (exclusive), the model does not
        store the documents, there are too few of them, no level keeps the share, or the task has no
        answers of which the confidence is known.
    """
    for name, value in (("max_error", max_error), ("confidence", confidence)):
        if not 0 < value < 1:
            raise ValueError(f"{name} must be between 0 and 1, got {value:g}.")
    reference = _require_reference(model)
    answers = HeldoutAnswers.from_model(model, reference)
    level = control_error(answers, max_error, 1 - confidence)
    if level is None:
        raise _no_level_error(answers, max_error, confidence)
    is_given = answers.confidence >= level
    right = 1.0 - answers.is_wrong
    corpus = model.meta.get("heldout_corpus") or model.meta.get("corpus") or "the training corpus"
    return Guarantee(
        max_error,
        confidence,
        level,
        None if model.calibration is None else float(expit(level)),
        answers.n_documents,
        int(is_given.sum()),
        float(answers.is_wrong[is_given].mean()),
        float(right[is_given].sum() / right.sum()),
        f"documents drawn like the {answers.n_documents} held-out documents of {corpus}, with "
        "names found in the same way",
    )


def _require_reference(model: Model) -> HeldoutReference:
    """Return what a model stores about the documents of its held-out scores.

    Raises ValueError if it does not store it, as models of earlier versions.
    """
    if model.reference is None:
        raise ValueError(
            "this model does not store the documents of its held-out scores, so nothing can be "
            "guaranteed. Train it again with this version of textrank."
        )
    return model.reference


@dataclass(frozen=True, eq=False)
class HeldoutAnswers:
    """Answers to r held-out questions: how confident they are, and whether they are wrong.

    Confidences and levels are log-odds, or scores of a model that is not calibrated. Levels must
    not depend on ``is_wrong``.
    """

    confidence: Vector  # (r,)
    is_wrong: Vector  # (r,) 1.0 or 0.0
    groups: Indices  # (r,) number of the document
    levels: Vector  # levels to try, highest first

    @classmethod
    def from_model(cls, model: Model, reference: HeldoutReference) -> HeldoutAnswers:
        """Collect the held-out answers of a model in the order of its candidates.

        Levels are ``LEVELS`` (log-odds) if the model is calibrated, else quantiles of the
        confidence. Raises ValueError if the task has no answers of which the confidence is known.
        """
        confidence, is_right, rows = assess_scores(
            model, model.labels, model.heldout, reference.queries
        )
        levels = LEVELS if model.calibration is not None else _quantile_levels(confidence)
        return cls(confidence, (~is_right).astype(np.float64), reference.groups[rows], levels)

    @property
    def n_documents(self) -> int:
        """Number of documents with an answer."""
        return len(np.unique(self.groups))


def assess_scores(
    model: Model, labels: Vector, scores: Vector, queries: Indices
) -> tuple[Vector, NDArray[np.bool_], Indices]:
    """Return confidence and correctness of each answer, and the row of its first candidate.

    ``labels``, ``scores`` and ``queries`` have one entry per candidate; candidates of one query are
    adjacent. There is one answer per candidate or per query, as the task defines. The confidence is
    a log-odds, or a score if the model is not calibrated. Labels may be NaN if correctness is not
    needed. Raises ValueError if the task does not support it.
    """
    log_odds = scores if model.calibration is None else model.calibration.log_odds(scores)
    return model.pipeline.task.assess_answers(labels, scores, log_odds, queries)


def _quantile_levels(confidence: Vector) -> Vector:
    """Return at most ``QUANTILES + 1`` different quantiles of confidences, highest first.

    Smallest and largest confidence are among them. They do not depend on labels. ``confidence``
    must not be empty.
    """
    return np.unique(np.quantile(confidence, np.linspace(0, 1, QUANTILES + 1)))[::-1]


def min_documents(max_error: float, error_probability: float) -> int:
    """Return how many documents are needed if none of their answers is wrong.

    ``max_error`` and ``error_probability`` (one minus the confidence) are between 0 and 1,
    exclusive; each of the ``STARTS`` sequences of tests has its part of the latter.
    """
    return int(np.ceil(np.log(error_probability / STARTS) / np.log1p(-max_error)))


def control_error(
    answers: HeldoutAnswers, max_error: float, error_probability: float
) -> float | None:
    """Return the lowest level at which the share of wrong answers is controlled; None if none is.

    Levels are tested from the highest on which enough documents have an answer, until a test fails
    (fixed sequence). ``STARTS`` sequences, each with its part of ``error_probability``, begin at
    the first tested level and where its number of documents has doubled, and doubled again, so
    that one early error does not end everything; the lowest level of all sequences counts. A test
    rejects that the share is above ``max_error`` only if it does so twice: for the mean of the
    documents' shares (``betting_p_value``, valid for any number of documents) and for the share
    among all answers (a t test of ``wrong - max_error * answers`` over documents).
    """
    needed = min_documents(max_error, error_probability)
    tests: list[tuple[float, int, float]] = []
    order = np.random.default_rng(0).permutation(int(answers.groups.max(initial=0)) + 1)
    for level in answers.levels.tolist():
        given, wrong = _count_by_document(answers, level, order)
        if len(given) >= needed:
            tests.append((level, len(given), _p_value(given, wrong, max_error)))
    lowest: float | None = None
    for start in range(STARTS if tests else 0):
        limit = tests[0][1] * 2**start
        for level, n_documents, p in tests:
            if n_documents >= limit:
                if p > error_probability / STARTS:
                    break
                lowest = level if lowest is None else min(lowest, level)
    return lowest


def _count_by_document(
    answers: HeldoutAnswers, level: float, order: Indices
) -> tuple[Vector, Vector]:
    """Return the numbers of given and of wrong answers of each document that has one.

    An answer is given if its confidence is at least ``level``. ``order`` has all document numbers,
    in the order of the results, which must not depend on labels.
    """
    is_given = answers.confidence >= level
    groups, n = answers.groups[is_given], len(order)
    given = np.bincount(groups, minlength=n)[order].astype(np.float64)
    wrong = np.bincount(groups, answers.is_wrong[is_given], n)[order].astype(np.float64)
    return given[given > 0], wrong[given > 0]


def _p_value(given: Vector, wrong: Vector, max_error: float) -> float:
    """Return the larger p-value of the two hypotheses that the share exceeds ``max_error``.

    ``given`` and ``wrong`` (documents,) are counts of ``_count_by_document``, not empty. The two
    are the share among all answers (t test over documents; 0 or 1 if documents do not vary) and the
    mean of the documents' shares (``betting_p_value``).
    """
    differences = wrong - max_error * given
    deviation = float(differences.std(ddof=1)) if len(given) > 1 else 0.0
    if deviation > 0:
        statistic = differences.mean() / (deviation / np.sqrt(len(given)))
        pooled = float(t.cdf(statistic, len(given) - 1))
    else:
        pooled = float(differences.mean() > 0)
    return max(pooled, betting_p_value(wrong / given, max_error))


def betting_p_value(losses: Vector, mean: float) -> float:
    """Return a p-value of the hypothesis that losses in [0, 1] have a mean of at least ``mean``.

    The losses (n,) are independent; their order must not depend on their values. A gambler bets
    against the hypothesis: the capital ``prod (1 - b_i (loss_i - mean))`` with bets ``b_i`` that
    depend on earlier losses only exceeds ``1 / p`` with probability at most ``p`` (Waudby-Smith and
    Ramdas 2023, JRSS B 86). No assumption about the distribution is needed.

    >>> round(betting_p_value(np.zeros(100), 0.1), 4) < 0.001
    True
    >>> betting_p_value(np.full(100, 0.2), 0.1)
    1.0
    """
    n = len(losses)
    steps = np.arange(1, n + 1)
    means = (0.5 + np.cumsum(losses)) / (steps + 1)
    variances = (0.25 + np.cumsum((losses - means) ** 2)) / (steps + 1)
    before = np.concatenate([[0.25], variances[:-1]])
    bets = np.minimum(np.sqrt(2 * np.log(20.0) / (n * before)), 0.9 / (1 - mean))
    capital = np.cumsum(np.log1p(-bets * (losses - mean)))
    return float(min(1.0, np.exp(-capital.max(initial=0.0))))


def _no_level_error(answers: HeldoutAnswers, max_error: float, confidence: float) -> ValueError:
    """Build the error for a share that cannot be guaranteed; the caller raises it.

    It says how many documents are needed if there are too few, or else the smallest of
    ``ERROR_LEVELS`` above ``max_error`` that could be guaranteed, if any.
    """
    needed = min_documents(max_error, 1 - confidence)
    promise = f"at most {100 * max_error:g} % wrong answers with {100 * confidence:g} % confidence"
    if answers.n_documents < needed:
        return ValueError(
            f"{promise} cannot be guaranteed: that needs {needed} documents, but the held-out "
            f"scores of this model come from {answers.n_documents}. Train on more documents, or "
            "ask for a larger --max-error or a lower --confidence."
        )
    larger = [e for e in ERROR_LEVELS if e > max_error]
    levels = ((e, control_error(answers, e, 1 - confidence)) for e in larger)
    possible = next((e for e, level in levels if level is not None), None)
    hint = "no larger share can be either" if possible is None else f"{possible:g} can be"
    return ValueError(
        f"{promise} cannot be guaranteed: on {answers.n_documents} held-out documents no level of "
        f"confidence has so few errors. Ask for a larger --max-error ({hint}), or a lower "
        "--confidence."
    )


def with_guarantee(model: Model, guarantee: Guarantee) -> Model:
    """Return the model with a task that answers yes from the level of the guarantee on.

    A model without calibration is returned unchanged. Tasks that always answer, such as choices
    among classes, are left unchanged; ``ShiftMonitor`` marks their answers.
    """
    if guarantee.probability is None:
        return model
    task = model.pipeline.task.at_probability(guarantee.probability)
    return replace(model, pipeline=replace(model.pipeline, task=task))


# Shift


@dataclass(frozen=True)
class ColumnShift:
    """How new documents differ from the held-out documents of a model in one respect."""

    name: str
    auc: float  # probability that a new document has a larger value than an old one
    p: float  # of Mann and Whitney's test, corrected for the number of columns
    is_shifted: bool


@dataclass(frozen=True)
class Shift:
    """Comparison of new documents with the held-out documents of a model."""

    documents: int  # new documents with a candidate
    columns: Sequence[ColumnShift]  # empty if there are too few documents to compare
    training_documents: int = 0  # documents of training that the model describes

    @property
    def is_shifted(self) -> bool:
        """Whether the new documents are unlike the training documents in some respect."""
        return any(column.is_shifted for column in self.columns)

    def to_dict(self) -> dict[str, Any]:
        """Return all fields as plain values, and ``is_shifted`` under the key ``shifted``.

        ``columns`` is a list of dicts with ``name``, ``auc``, ``p`` and ``is_shifted``.
        """
        return {**asdict(self), "shifted": self.is_shifted}

    def describe(self) -> str:
        """Return the result as a sentence.

        It says why nothing was compared (fewer than ``MIN_SHIFT_DOCUMENTS`` of training or of the
        new ones), or else whether the documents are unlike and in which columns they are larger or
        smaller.
        """
        if self.training_documents < MIN_SHIFT_DOCUMENTS:
            return (
                "The texts were not compared with the training documents, because the model "
                f"describes {self.training_documents} of them ({MIN_SHIFT_DOCUMENTS} are needed)."
            )
        if not self.columns:
            return (
                f"{self.documents} documents with candidates are too few to compare them with the "
                f"training documents ({MIN_SHIFT_DOCUMENTS} are needed)."
            )
        shifted = [column for column in self.columns if column.is_shifted]
        if not shifted:
            return f"The {self.documents} documents are like the training documents."
        what = ", ".join(f"{'larger' if c.auc > 0.5 else 'smaller'} {c.name}" for c in shifted)
        return (
            f"The {self.documents} documents are unlike the training documents ({what}): the "
            "guarantee may not hold for them."
        )


def compare_profiles(reference: Matrix, new: Matrix) -> Shift:
    """Test for each column whether new documents (m, k) differ from old ones (g, k).

    Columns are ``PROFILE_COLUMNS``; p-values of Mann and Whitney's test are multiplied by their
    number. A shift is reported if this p-value is below ``SHIFT_P_VALUE`` and the AUC differs from
    one half by at least ``MIN_SHIFT``, so that small differences of many documents are not. No
    columns are compared if either side has fewer than ``MIN_SHIFT_DOCUMENTS``. Both sides are
    rounded to single precision, in which models store profiles, so that equal values stay equal.
    """
    reference, new = (side.astype(np.float32).astype(np.float64) for side in (reference, new))
    if len(new) < MIN_SHIFT_DOCUMENTS or len(reference) < MIN_SHIFT_DOCUMENTS:
        return Shift(len(new), (), len(reference))
    columns = []
    for index, name in enumerate(PROFILE_COLUMNS):
        test = mannwhitneyu(merge_ties(new[:, index]), merge_ties(reference[:, index]))
        area = float(test.statistic) / (len(new) * len(reference))
        p = min(1.0, float(test.pvalue) * len(PROFILE_COLUMNS))
        is_shifted = p < SHIFT_P_VALUE and abs(area - 0.5) >= MIN_SHIFT
        columns.append(ColumnShift(name, area, p, is_shifted))
    return Shift(len(new), columns, len(reference))


class AnswerObserver(Protocol):
    """Observer of a model's answers that adds a promise to them, as ``Model.pipe`` calls it."""

    def __call__(self, doc: Doc, scored: Scored) -> None:
        """Mark the answers of an annotated Doc in place; ``scored`` are all its candidates."""

    def promise(self) -> dict[str, Any]:
        """Return what is promised as plain values: a key that names it, and its fields."""

    def describe(self) -> str:
        """Return what is promised in words."""

    def shift(self) -> Shift:
        """Compare the documents seen so far with the held-out documents of the model."""


@dataclass
class ShiftMonitor:
    """Observer of a model's answers: marks those of a guarantee and compares documents.

    Pass it as ``observe`` to ``Model.pipe``. Every answer gets ``guaranteed``, whether it reaches
    the level.
    """

    model: Model
    guarantee: Guarantee
    profiles: list[Matrix] = field(default_factory=list)

    def promise(self) -> dict[str, Any]:
        """Return ``{"guarantee": ...}`` with all fields of the guarantee as plain values."""
        return {"guarantee": self.guarantee.to_dict()}

    def describe(self) -> str:
        """Return the guarantee in words: two sentences with the level and the held-out counts."""
        return self.guarantee.describe()

    def __call__(self, doc: Doc, scored: Scored) -> None:
        """Mark the answers of an annotated Doc in place and keep the Doc's profile for ``shift``.

        ``scored`` are its candidates with their scores; without any nothing happens. Raises
        ValueError if the model does not store its held-out documents, or the Doc's answers are not
        as many as the task judges.
        """
        if not scored.candidates:
            return
        queries = number_keys([c.query for c in scored.candidates])
        unknown = np.full(len(scored.candidates), np.nan)
        confidence, _, _ = assess_scores(self.model, unknown, scored.scores, queries)
        rows = get_answers(doc, self.model.pipeline.task.name) or []
        for row, value in zip(rows, confidence.tolist(), strict=True):
            row["guaranteed"] = value >= self.guarantee.level
        self.profiles.append(_profile(self.model, doc, scored))

    def shift(self) -> Shift:
        """Compare the documents seen so far with the held-out documents of the model.

        Only documents with candidates count; fewer than ``MIN_SHIFT_DOCUMENTS`` are not compared
        (no columns).
        """
        return _compare(self.model, self.profiles)


def _profile(model: Model, doc: Doc, scored: Scored) -> Matrix:
    """Return the profile (1, k) of a Doc with at least one candidate; ``scored`` are all of them.

    Raises ValueError if the model does not store its held-out documents.
    """
    name = document_id(doc)
    candidates = [replace(c, document=name, group=name) for c in scored.candidates]
    return _require_reference(model).profile(candidates, scored.scores)


def _compare(model: Model, profiles: Sequence[Matrix]) -> Shift:
    """Compare profiles (1, k) of new documents with those of a model; none may be given.

    Raises ValueError if the model does not store its held-out documents.
    """
    new = np.vstack(profiles) if profiles else np.empty((0, len(PROFILE_COLUMNS)))
    return compare_profiles(_require_reference(model).profiles, new)


def find_shift(model: Model, candidates: Sequence[Candidate], scores: Vector) -> Shift:
    """Compare the documents of scored candidates with the training documents of a model.

    ``scores`` (n,) are those of the model. Raises ValueError if the model does not store what its
    held-out documents are like.
    """
    reference = _require_reference(model)
    return compare_profiles(reference.profiles, reference.profile(candidates, scores))


# Sets of answers


@dataclass(frozen=True)
class AnswerSets:
    """Sets that contain the right answer to a question of a new document with a stated probability.

    A set has all answers whose score is at most ``margin`` below the highest. Of a choice with a
    single candidate there are two answers: the candidate with its score, and the other one with 0
    (``has_other``). For a ranking the right answers are the candidates with the highest label, and
    a single candidate is always in its set.

    >>> queries = np.repeat(np.arange(40), 2)
    >>> y = np.tile([1.0, -1.0], 40)
    >>> sets = AnswerSets.fit(np.tile([1.0, 0.0], 40), y, queries, queries, error=0.1)
    >>> sets.contains(np.array([2.0, 1.9]), np.array([0, 0])).tolist()
    [True, False]
    """

    error: float
    margin: float
    documents: int
    coverage: float  # share of held-out questions whose set has a right answer, mean of documents
    mean_size: float  # mean number of answers of the held-out sets
    has_other: bool = True  # whether a single candidate has another answer; False for rankings

    @classmethod
    def fit(
        cls,
        scores: Vector,
        y: Vector,
        queries: Indices,
        groups: Indices,
        *,
        error: float,
        has_other: bool = True,
    ) -> AnswerSets:
        """Choose the margin on held-out scores (n,) with labels, queries and documents (n,).

        The margin is the ``1 - error`` quantile of the margins that questions need, where every
        document has the same weight and a new document the margin infinity; ties are included.
        Coverage and mean size are those on the same scores. With ``has_other`` a query with a
        single candidate has another answer, of score 0. Raises ValueError if ``error`` is not
        between 0 and 1 (exclusive), or smaller than one over the number of documents plus one.
        """
        if not 0 < error < 1:
            raise ValueError(f"error must be between 0 and 1, got {error:g}.")
        needs, rows = _needed_margins(scores, y, queries, has_other)
        _, document = np.unique(groups[rows], return_inverse=True)
        n_documents = int(document.max(initial=-1)) + 1
        if error * (n_documents + 1) < 1:
            raise ValueError(
                f"sets that miss {100 * error:g} % of the answers need "
                f"{int(np.ceil(1 / error)) - 1} documents, but there are {n_documents}."
            )
        weights = 1.0 / np.bincount(document)[document] / (n_documents + 1)
        order = np.argsort(merge_ties(needs), kind="stable")
        reached = np.cumsum(weights[order])
        index = int(np.searchsorted(reached, 1 - error - 1e-12))
        margin = float(needs[order][min(index, len(order) - 1)]) + tie_tolerance(scores)
        sets = cls(error, margin, n_documents, 0.0, 0.0, has_other)
        covered = np.bincount(document, needs <= margin) / np.bincount(document)
        sizes = sets.sizes(scores, queries)
        return replace(sets, coverage=float(covered.mean()), mean_size=float(sizes.mean()))

    @classmethod
    def from_model(cls, model: Model, *, error: float) -> AnswerSets:
        """Choose the margin on the held-out scores of a model, so that sets miss a share ``error``.

        Raises ValueError if ``error`` is not between 0 and 1, there are too few documents for it,
        or the model does not store the documents of these scores.
        """
        reference = _require_reference(model)
        return cls.fit(
            *(model.heldout, model.labels, reference.queries, reference.groups),
            error=error,
            has_other=not model.pipeline.task.is_ranking,
        )

    def to_dict(self) -> dict[str, Any]:
        """Return all fields as plain values under their names; no keys are added."""
        return asdict(self)

    def describe(self) -> str:
        """Return two sentences: the promised probability, and held-out coverage and mean size."""
        return (
            f"Answer sets contain a right answer with a probability of {100 * (1 - self.error):g} "
            f"%, for documents drawn like the {self.documents} held-out documents. On these, "
            f"{100 * self.coverage:.1f} % of the sets do, with {self.mean_size:.2f} answers each."
        )

    def contains(self, scores: Vector, queries: Indices) -> NDArray[np.bool_]:
        """Return whether each candidate (n,) is in the set of its query, (n,).

        With ``has_other``, the highest score of a query with a single candidate is at least 0, that
        of its other answer.
        """
        _, query = np.unique(queries, return_inverse=True)
        return scores >= _highest(scores, query, self.has_other)[query] - self.margin

    def contains_other(self, scores: Vector, queries: Indices) -> NDArray[np.bool_]:
        """Return of each candidate (n,) whether the other answer is in the set of its query.

        Only a query with a single candidate has another answer, and only with ``has_other``.
        """
        _, query = np.unique(queries, return_inverse=True)
        if not self.has_other:
            return np.zeros(len(scores), dtype=bool)
        return (np.bincount(query) == 1)[query] & (np.maximum(scores, 0.0) <= self.margin)

    def sizes(self, scores: Vector, queries: Indices) -> Indices:
        """Return the number of answers in the set of each query, in ascending order of queries.

        The other answer of a query with a single candidate counts too.
        """
        _, query = np.unique(queries, return_inverse=True)
        members = self.contains(scores, queries).astype(np.intp)
        members += self.contains_other(scores, queries)
        return np.bincount(query, members).astype(np.intp)


@dataclass
class AnswerSetMarker:
    """Observer of a model's answers: adds their sets and compares documents.

    Pass it as ``observe`` to ``Model.pipe``. Choices get ``answer_set``, their possible answers,
    and ranked candidates ``in_answer_set``. Raises ValueError if the task of the model has no
    choices.
    """

    model: Model
    sets: AnswerSets
    profiles: list[Matrix] = field(default_factory=list)

    def __post_init__(self) -> None:
        """Raise ValueError if the model's task has no answer sets (yes-or-no answers)."""
        require_answer_sets(self.model)

    def __call__(self, doc: Doc, scored: Scored) -> None:
        """Mark the answers of an annotated Doc in place and keep the Doc's profile for ``shift``.

        ``scored`` are its candidates with their scores; without any nothing happens. Raises
        ValueError if the model does not store its held-out documents.
        """
        if not scored.candidates:
            return
        queries = number_keys([c.query for c in scored.candidates])
        is_in = np.column_stack(
            [
                self.sets.contains(scored.scores, queries),
                self.sets.contains_other(scored.scores, queries),
            ]
        )
        self.model.pipeline.task.mark_answer_sets(doc, scored, is_in)
        self.profiles.append(_profile(self.model, doc, scored))

    def promise(self) -> dict[str, Any]:
        """Return ``{"answer_sets": ...}`` with all fields of the sets as plain values."""
        return {"answer_sets": self.sets.to_dict()}

    def describe(self) -> str:
        """Return in two sentences the promised probability, and held-out coverage and mean size."""
        return self.sets.describe()

    def shift(self) -> Shift:
        """Compare the documents seen so far with the held-out documents of the model.

        Only documents with candidates count; fewer than ``MIN_SHIFT_DOCUMENTS`` are not compared
        (no columns).
        """
        return _compare(self.model, self.profiles)


def require_answer_sets(model: Model) -> None:
    """Raise ValueError unless the task of a model has answer sets (a choice or ranking)."""
    task = model.pipeline.task
    if not task.has_answer_sets:
        raise ValueError(
            f"--answer-sets needs a choice among classes or a ranking, but this is a model of task "
            f"{task.name!r}. Use --max-error for answers of yes or no."
        )


def _highest(scores: Vector, query: Indices, has_other: bool) -> Vector:
    """Return the highest score of each query; of one candidate with another answer at least 0.

    ``query`` (n,) has the number of the query of each score, from 0 without gaps.
    """
    highest = np.full(int(query.max(initial=-1)) + 1, -np.inf)
    np.maximum.at(highest, query, scores)
    if not has_other:
        return highest
    return np.where(np.bincount(query) == 1, np.maximum(highest, 0.0), highest)


def _needed_margins(
    scores: Vector, y: Vector, queries: Indices, has_other: bool
) -> tuple[Vector, Indices]:
    """Return the margin that the set of each query needs to have a right answer, at least 0.

    Right are the candidates with the highest label; of a single candidate whose label is not above
    0 it is the other answer, with score 0, if ``has_other``. Also returns the row of the first
    candidate of each query. Queries are in ascending order.
    """
    _, first, query = np.unique(queries, return_index=True, return_inverse=True)
    best_label = np.full(len(first), -np.inf)
    np.maximum.at(best_label, query, y)
    right = np.full(len(first), -np.inf)
    is_right = y >= best_label[query]
    np.maximum.at(right, query[is_right], scores[is_right])
    is_single = np.bincount(query) == 1
    if has_other:
        right = np.where(is_single & (best_label <= 0), 0.0, right)  # score of the other answer
    return _highest(scores, query, has_other) - right, first.astype(np.intp)
