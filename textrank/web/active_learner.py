"""Active learning for curation: questions, the choice of the next one, the model of the answers.

A ``Question`` groups the candidates that one decision is about. ``ActiveLearner`` holds all
candidates of the texts, trains a kernel RLS after every answer (``OnlineRLS``), and chooses the
next question (``QueryStrategy``, ``VarianceReduction``). ``measure_quality`` measures the model by
held-out scores and ``advise`` says when more answers stop helping.

The *rows* of a learner are its represented candidates with their kernel values; a candidate is
addressed by its row number. ``build_rows`` returns ``FeatureRows`` if the kernel has explicit
features, so that kernel values with all candidates are one sparse product, else ``KernelRows``,
which calls the kernel and caches its values.

``textrank.web.annotation`` stores the answers and serves the pages.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from threading import RLock
from typing import Any, TypeAlias, TypeVar

import numpy as np
import scipy.sparse as sp
from spacy.tokens import Doc

from textrank.candidates import Candidate, Targets, dedup_groups, document_id
from textrank.evaluation.sweep import Forecast, forecast_curve
from textrank.features import FeatureNames, Features, Indices, Matrix, Vector, take_rows
from textrank.learners.base import score_alphas
from textrank.learners.calibration import PlattCalibration
from textrank.learners.online import OnlineRLS
from textrank.learners.reduced import SparseRLS
from textrank.learners.rls import RLS
from textrank.linalg import gram, squared_norms
from textrank.linear_scores import mean_features, mean_row, merge_explanations, subtract_mean
from textrank.metrics import (
    argmax_first,
    auc,
    best_threshold,
    choose_largest,
    expected_f_threshold,
    merge_ties,
    precision_recall_f,
)
from textrank.model import Model
from textrank.pipeline import Pipeline
from textrank.protocols import (
    AdditiveKernel,
    ChoiceKernel,
    Explanation,
    Kernel,
    expand_choices,
    has_features,
)
from textrank.tasks.base import no_candidates_error

T = TypeVar("T")
# Questions
YES, NO, UNSURE, NEGATED, WRONG_NAME = "yes", "no", "unsure", "negated", "wrong name"
CHOICE_PREFIX = "choose:"  # before the number of an answer, if there are more than two
LABEL_OF_ANSWER = {YES: 1.0, NO: -1.0, NEGATED: -1.0}
ANSWERS_WITHOUT_LABEL = (UNSURE, WRONG_NAME)  # nothing is learnt from these


@dataclass(frozen=True)
class Question:
    """Decision to ask a person for: yes or no about one candidate, or which of several is right."""

    key: str  # document, characters and what is asked; the same after a restart
    document: str  # id of the document
    rows: tuple[int, ...]  # row numbers of the candidates in the ActiveLearner
    answers: tuple[str, ...]  # what the candidates stand for, or yes and no

    def labels(self, value: str) -> dict[int, float]:
        """Return the label (1 or -1) that an answer gives to each row.

        For one row "yes" gives 1, "no" and "negated" give -1; for several "choose:2" gives 1 to the
        third row and -1 to the others. {} for "unsure" and "wrong name". Raises ValueError if
        ``value`` is not one of ``allowed_answers``.
        """
        if value in ANSWERS_WITHOUT_LABEL:
            return {}
        if value in LABEL_OF_ANSWER and len(self.rows) == 1:
            return {self.rows[0]: LABEL_OF_ANSWER[value]}
        number = value.removeprefix(CHOICE_PREFIX)
        is_choice = value.startswith(CHOICE_PREFIX) and number.isascii() and number.isdigit()
        if is_choice and len(self.rows) > 1 and int(number) < len(self.rows):
            return {row: 1.0 if i == int(number) else -1.0 for i, row in enumerate(self.rows)}
        raise ValueError(
            f"{value!r} is not an answer to {self.key!r}. "
            f"Available: {', '.join(self.allowed_answers)}."
        )

    @property
    def allowed_answers(self) -> list[str]:
        """Values that ``labels`` accepts.

        For one row "yes", "no" and "negated", for several "choose:0", "choose:1", ... by position
        in ``rows``; then "unsure" and "wrong name".
        """
        if len(self.rows) > 1:
            choices = (f"{CHOICE_PREFIX}{i}" for i in range(len(self.rows)))
            return [*choices, *ANSWERS_WITHOUT_LABEL]
        return [*LABEL_OF_ANSWER, *ANSWERS_WITHOUT_LABEL]


def build_questions(candidates: Sequence[Candidate], first_row: int = 0) -> Iterator[Question]:
    """Yield the questions of consecutive candidates, in their order.

    ``first_row`` is the row number of the first candidate; the others follow. Adjacent candidates
    about the same single span form one question; each pair is a question of its own. If a corpus
    has two names at the same characters, the key of the second question gets a number ("#2").
    Raises ValueError for candidates without spans.
    """
    start = 0
    times: Counter[str] = Counter()
    for end in range(1, len(candidates) + 1):
        if end == len(candidates) or not _same_question(candidates[start], candidates[end]):
            question = _build_question(candidates[start:end], first_row + start)
            times[question.key] += 1
            count = times[question.key]
            yield replace(question, key=f"{question.key}#{count}") if count > 1 else question
            start = end


def _same_question(one: Candidate, other: Candidate) -> bool:
    """Return whether two candidates are answers to one question; never if ``one`` is a pair."""
    return len(one.spans) == 1 and _question_key(one) == _question_key(other)


def _question_key(candidate: Candidate) -> tuple[object, ...]:
    """Return a key that is equal for candidates with the same Doc object, query and characters."""
    spans = tuple((span.start_char, span.end_char) for span in candidate.spans)
    return id(candidate.doc), candidate.query, spans


def _build_question(candidates: Sequence[Candidate], first_row: int) -> Question:
    """Return the question of candidates about the same spans, in rows from ``first_row`` on.

    One candidate gives a question for yes or no, several give a choice; at least one is needed. The
    key is ``document|start-end,start-end|label_key``, where the last part is empty for pairs and
    choices. Raises ValueError if the candidates have no spans.
    """
    first = candidates[0]
    if not first.spans:
        raise ValueError(
            "this task ranks whole sentences, which yes or no cannot answer. "
            "Curate pairs, names, senses or spellings."
        )
    document = document_id(first.doc)
    spans = ",".join(f"{span.start_char}-{span.end_char}" for span in first.spans)
    label_keys = tuple(candidate.label_key for candidate in candidates)
    is_single = len(candidates) == 1
    suffix = label_keys[0] if is_single and len(first.spans) == 1 else ""
    rows = tuple(range(first_row, first_row + len(candidates)))
    answers = (YES, NO) if is_single else label_keys
    return Question(f"{document}|{spans}|{suffix}", document, rows, answers)


# Choice of the next question
VARIANCE_SAMPLE_SIZE = 300  # candidates that stand for all


@dataclass(frozen=True)
class QueryStrategy:
    """Weights of the criteria by which the next question is chosen.

    The value of a candidate is ``uncertainty * density^typical * (1 - similarity)^varied``, with
    the largest similarity to a recent answer. For a shortlist of the best, it is also multiplied by
    ``reduction^reach``, where ``reduction`` is the variance that an answer would remove
    (``VarianceReduction``).
    """

    typical: float = 0.1
    varied: float = 0.25
    reach: float = 1.0

    def values(self, uncertainty: Vector, density: Vector, similarity: Vector) -> Vector:
        """Return the value (n,) of asking about each of n candidates; higher is better.

        It is ``uncertainty * density^typical * (1 - similarity)^varied``. All arguments have shape
        (n,). ``uncertainty`` and ``density`` lie in [0, 1]; ``similarity`` is the largest cosine
        with a recent answer, and ``1 - similarity`` is clipped to [1e-6, 1].
        """
        novelty = np.clip(1 - similarity, 1e-6, 1.0)
        return np.asarray(uncertainty * density**self.typical * novelty**self.varied)


def sigmoid_scores(scores: Vector, threshold: float, spread: float) -> Vector:
    """Return ``1 / (1 + exp(-(scores - threshold) / spread))``, of the shape of ``scores``.

    It is used instead of a calibrated probability while there are too few answers to calibrate. A
    ``spread`` of 0 or less counts as 1e-9, and the exponent is clipped to [-30, 30].
    """
    z = (scores - threshold) / max(spread, 1e-9)
    return np.asarray(1 / (1 + np.exp(-np.clip(z, -30, 30))))


@dataclass(frozen=True, eq=False)
class VarianceReduction:
    """Expected reduction of variance over a sample of all candidates.

    RLS is the mean of a Gaussian process whose covariance does not depend on the answers: ``c(x, z)
    = k(x, z) - k(x, T) G k(T, z)`` with T the labelled candidates and G the inverse of their
    regularised Gram matrix. An answer about x reduces the variance of every z by ``c(x, z)^2 /
    (c(x, x) + alpha)``, whatever the answer is: much if x is similar to many candidates that no
    labelled one is similar to, little if it stands alone. s is the number of sampled candidates, t
    that of labelled ones.
    """

    sample: Indices  # (s,) row numbers
    K: Matrix  # (s, t) kernel values with the labelled rows, in the order of the model

    @classmethod
    def from_rows(cls, rows: Rows, labelled: Indices, first_row: int = 0) -> VarianceReduction:
        """Sample at most VARIANCE_SAMPLE_SIZE rows, evenly spaced from ``first_row`` to the last.

        There must be such a row. ``labelled`` are the row numbers of the labelled candidates, in
        the order of the model; it may be empty.
        """
        size = max(len(rows) - first_row, 1)
        steps = np.linspace(0, size - 1, min(VARIANCE_SAMPLE_SIZE, size)).astype(np.intp)
        sample = first_row + np.unique(steps)
        return cls(sample, rows.cross_gram(sample, labelled))

    def add(self, kernel_row: Vector) -> VarianceReduction:
        """Return a copy with one more labelled row, which comes last in the model.

        ``kernel_row`` (n,) are its kernel values with all n candidates.
        """
        return replace(self, K=np.column_stack([self.K, kernel_row[self.sample]]))

    def remove(self, position: int) -> VarianceReduction:
        """Return a copy without the labelled row at ``position`` in the order of the model."""
        return replace(self, K=np.delete(self.K, position, axis=1))

    def reductions(
        self,
        online: OnlineRLS,
        K_labelled: Matrix,
        K_sample: Matrix,
        squared_norms: Vector,
        weights: Vector,
    ) -> Vector:
        """Return the weighted variance (q,) that answers about q candidates would remove.

        It is ``sum_i w_i c_iq^2 / (v_q + alpha)``, with c the covariance of sampled row i and
        candidate q given the labelled rows, and v the variance of candidate q.

        Parameters
        ----------
        online
            Model of the t labelled rows.
        K_labelled, K_sample
            Kernel values (t, q) and (s, q) of the q candidates with the labelled and sampled rows.
        squared_norms
            Kernel values (q,) of the q candidates with themselves.
        weights
            Weight (s,) of the variance of each sampled row.
        """
        V = online.multiply_inverse(K_labelled)
        C = K_sample - self.K @ V
        variance = np.maximum(squared_norms - np.einsum("tq,tq->q", K_labelled, V), 0.0)
        return np.asarray(weights @ C**2 / (variance + online.alpha))


# Quality of the model
CALIBRATION_BINS = 10
MIN_ANSWERS_PER_CLASS = 5  # before metrics mean anything
WINDOW_ANSWERS = 20  # over which metrics and decisions are compared
MIN_STABLE_KAPPA = 0.99  # agreement of decisions before and after a window
MIN_NEARLY_STABLE_KAPPA = 0.97  # that is enough if the forecast is flat too
MIN_GAIN = 0.01  # of AUC or F for which more answers are recommended
POINT_ANSWERS = 10  # between two points of the curve that is forecast
AHEAD_ANSWERS = (20, 50)  # further answers that are forecast


@dataclass(frozen=True)
class Quality:
    """Held-out metrics; None if there are too few answers.

    ``f`` is F1, ``answers`` the number of answers. The threshold of ``f`` and the calibration curve
    of ``calibration`` (expected calibration error) are chosen on one half of the documents and
    measured on the other, both ways.
    """

    auc: float | None = None
    f: float | None = None
    calibration: float | None = None
    answers: int = 0


def measure_quality(y: Vector, heldout: Vector, groups: Indices) -> Quality:
    """Return the metrics of held-out scores of n answers.

    ``y`` are labels (positive if above 0), ``heldout`` scores and ``groups`` the documents, all of
    shape (n,). With fewer than ``MIN_ANSWERS_PER_CLASS`` of a class only ``answers``, n, is set.
    Threshold and calibration are chosen on every second document and measured on the others, both
    ways; if one half of the documents has a single class, only AUC is measured.
    """
    n = len(y)
    if min((y > 0).sum(), (y <= 0).sum()) < MIN_ANSWERS_PER_CLASS:
        return Quality(answers=n)
    numbers = np.unique(groups, return_inverse=True)[1]
    halves = [numbers % 2 == half for half in (0, 1)]
    if any(len(np.unique(y[half] > 0)) < 2 for half in halves):
        return Quality(auc(y, heldout), answers=n)
    decisions, p = np.zeros(n, dtype=bool), np.zeros(n)
    for test, train in (halves, halves[::-1]):
        threshold = best_threshold(y[train], heldout[train])
        decisions[test] = heldout[test] >= (0.0 if threshold is None else threshold)
        p[test] = PlattCalibration.fit(heldout[train], y[train])(heldout[test])
    f = precision_recall_f(y, decisions).f
    return Quality(auc(y, heldout), f, expected_calibration_error(y, p), n)


def expected_calibration_error(y: Vector, p: Vector) -> float:
    """Return the mean of |mean probability - share of positives| over bins, weighted by their size.

    ``y`` are labels (positive above 0), ``p`` probabilities, both (n,), at least one entry. The
    entries are cut by increasing probability into at most CALIBRATION_BINS bins of (almost) the
    same size.

    >>> expected_calibration_error(np.array([1.0, -1.0]), np.array([1.0, 0.0]))
    0.0
    """
    order = np.argsort(merge_ties(p), kind="stable")
    bins = np.array_split(order, min(CALIBRATION_BINS, len(order)))
    gaps = [len(part) * abs(p[part].mean() - (y[part] > 0).mean()) for part in bins if len(part)]
    return float(sum(gaps) / max(len(y), 1))


def cohen_kappa(one: Vector, other: Vector) -> float:
    """Return Cohen's kappa of two arrays of decisions; 1 if all decisions agree or there are none.

    Both have one boolean per candidate, in the same order.

    >>> cohen_kappa(np.array([True, False]), np.array([True, False]))
    1.0
    """
    a, b = np.asarray(one, dtype=bool), np.asarray(other, dtype=bool)
    observed = float((a == b).mean()) if len(a) else 1.0
    expected = a.mean() * b.mean() + (1 - a.mean()) * (1 - b.mean()) if len(a) else 0.0
    return 1.0 if expected >= 1 else float((observed - expected) / (1 - expected))


def advise(history: list[Quality], kappas: list[float]) -> tuple[str, str]:
    """Return whether more answers help ("go on", "slower" or "enough") and a sentence why.

    ``history`` and ``kappas`` have one entry per answer, oldest first: the quality of the model
    after it, and the agreement (Cohen's kappa) of its decisions with those WINDOW_ANSWERS answers
    before.

    "enough" is returned if no held-out metric rose by MIN_GAIN in the last window and the decisions
    on all candidates were stable in the last three windows: a mean kappa of at least
    ``MIN_STABLE_KAPPA`` in each (Bloodgood and Vijay-Shanker, 2009), or of at least
    ``MIN_NEARLY_STABLE_KAPPA`` if also the forecast of F rises by less than MIN_GAIN in 50 answers,
    even at the upper end of its interval. "slower" is returned if only no metric rose, "go on"
    otherwise and as long as there are fewer than three windows of answers or quality cannot be
    measured.
    """
    if not history or history[-1].auc is None:
        return "go on", "Too few answers of both classes to measure anything."
    if len(kappas) < 3 * WINDOW_ANSWERS or len(history) <= WINDOW_ANSWERS:
        return "go on", "The model still learns with every answer."
    gain = max(_gain(history, "auc"), _gain(history, "f"))
    windows = [kappas[-WINDOW_ANSWERS * (i + 1) :][:WINDOW_ANSWERS] for i in range(3)]
    kappa = min(float(np.mean(window)) for window in windows)
    if kappa >= MIN_STABLE_KAPPA and gain < MIN_GAIN:
        return "enough", (
            f"The last {3 * WINDOW_ANSWERS} answers changed hardly any decision (agreement "
            f"{kappa:.3f}) and no held-out metric: more answers would change little."
        )
    forecasts = forecast_quality(history)
    is_flat = bool(forecasts) and forecasts[-1].gain_high < MIN_GAIN
    if kappa >= MIN_NEARLY_STABLE_KAPPA and gain < MIN_GAIN and is_flat:
        return "enough", (
            f"{forecasts[-1].ahead} more answers are expected to raise held-out F by at most "
            f"{100 * forecasts[-1].gain_high:.1f}, and the last {3 * WINDOW_ANSWERS} changed few "
            f"decisions (agreement {kappa:.3f})."
        )
    if gain < MIN_GAIN:
        return "slower", f"The last {WINDOW_ANSWERS} answers raised no held-out metric."
    words = f"The last {WINDOW_ANSWERS} answers raised a held-out metric by {100 * gain:.1f}."
    return "go on", words


def forecast_quality(history: list[Quality]) -> list[Forecast]:
    """Forecast the held-out F after further answers, one entry for each of AHEAD_ANSWERS.

    ``history`` has one entry per answer, oldest first; every ``POINT_ANSWERS``-th, counted from the
    last, is a point of the curve if F was measured. The result is empty if there are too few
    points, or if two have the same number of answers, which happens after an undo.
    """
    every = history[::-1][::POINT_ANSWERS][::-1]
    points = [quality for quality in every if quality.f is not None and quality.answers]
    counts = [quality.answers for quality in points]
    if len(set(counts)) < len(counts):  # undone answers may repeat a number
        return []
    return forecast_curve(counts, [float(quality.f or 0.0) for quality in points], AHEAD_ANSWERS)


def _gain(history: list[Quality], name: str) -> float:
    """Return by how much a metric (field ``name`` of Quality) rose over the last window.

    0 if it was not measured at the start or end of the window. ``history`` must be longer than it.
    """
    now, before = getattr(history[-1], name), getattr(history[-1 - WINDOW_ANSWERS], name)
    return float(now - before) if now is not None and before is not None else 0.0


# The learner
DEFAULT_ALPHAS = (0.25, 0.5, 1.0, 2.0, 4.0)
MAX_RECENT_ANSWERS = 30  # that the next question should differ from
SHORTLIST_SIZE = 12  # candidates that are scored exactly before one is asked about
MAX_LABELLED_FOR_VARIANCE = 1000  # beyond it an answer changes little and variance costs more
ANSWERS_PER_TUNING = 10  # after which alpha is chosen again


@dataclass(eq=False)
class ActiveLearner:
    """Candidates, answers, and the model of these answers.

    The score of a candidate is ``f0(x) + sum_i a_i k(x_i, x)`` over the labelled candidates: f0 is
    the score of the model that curation began with (``prior``; 0 without one), and the sum is RLS
    on the residuals of the labels, which is ridge regression towards the weights of the prior.
    Labels that f0 exceeds in the right direction have residual 0.

    n is the number of candidates; a candidate is addressed by its row number, its position in
    ``candidates``. Methods that change the object hold ``lock``. Row numbers are never reused:
    candidates of a document that was changed stay, without a question.
    """

    pipeline: Pipeline
    prior: Model | None
    candidates: list[Candidate]
    groups: list[int]  # of each row: documents that are held out together
    rows: Rows
    prior_scores: Vector  # (n,), f0
    online: OnlineRLS
    labelled: list[int]  # rows in the model, in its order
    labels: dict[int, float]  # of the labelled rows
    questions: dict[str, Question]  # by key
    group_of_doc: dict[int, int]  # by the id() of a Doc
    alphas: tuple[float, ...] = DEFAULT_ALPHAS
    strategy: QueryStrategy = field(default_factory=QueryStrategy)
    answered: dict[str, str] = field(default_factory=dict)  # answers by key of the question
    lock: RLock = field(default_factory=RLock, repr=False)
    history: list[Quality] = field(default_factory=list)  # after each answer
    kappas: list[float] = field(default_factory=list)  # after each answer
    _density: Vector = field(default_factory=lambda: np.empty(0), repr=False)
    _recent: deque[tuple[int, Vector]] = field(
        default_factory=lambda: deque(maxlen=MAX_RECENT_ANSWERS), repr=False
    )  # rows and their cosines with all candidates
    _decisions: deque[Any] = field(
        default_factory=lambda: deque(maxlen=2 * WINDOW_ANSWERS + 1), repr=False
    )  # at each record; half of them are left for windows after undone answers
    _variance: VarianceReduction | None = field(default=None, repr=False)
    _cache: dict[str, Any] = field(default_factory=dict, repr=False)  # cleared by every change

    @classmethod
    def from_docs(
        cls,
        pipeline: Pipeline,
        docs: Sequence[Doc],
        *,
        prior: Model | None = None,
        training: Sequence[Doc] = (),
        strategy: QueryStrategy = QueryStrategy(),
    ) -> ActiveLearner:
        """Build a learner that asks about ``docs``.

        It begins with the scores of ``prior``, with the gold labels of ``training``, with both or
        with nothing. The task of ``pipeline`` finds the candidates; everything else is taken from
        the pipeline of ``prior`` if there is one. Candidates of ``training`` come first in
        ``candidates`` and are never asked about. Gold labels of ``docs`` are ignored. Of several
        kernels that training would choose from, the first is used. Raises ValueError if ``docs``
        have no candidates or the task ranks.
        """
        task = pipeline.task
        if task.is_ranking:
            raise ValueError(f"task {task.name!r} ranks. Use RankLearner.")
        all_docs = [*training, *docs]
        names = dedup_groups(all_docs)
        numbers = {name: i for i, name in enumerate(dict.fromkeys(names))}
        by_doc = [task.candidates(doc) for doc in all_docs]
        old = [candidate for part in by_doc[: len(training)] for candidate in part]
        new = [replace(c, label=None) for part in by_doc[len(training) :] for c in part]
        if not new:
            raise no_candidates_error(task, len(docs))
        groups = [numbers[name] for name, part in zip(names, by_doc, strict=True) for _ in part]
        pipeline = with_single_kernel(pipeline if prior is None else prior.pipeline)
        candidates = [*old, *new]
        rows = build_rows(pipeline.kernel, pipeline.representation(candidates))
        prior_scores = np.zeros(len(candidates)) if prior is None else prior.score(candidates)
        y = Targets.from_candidates(old).y if old else np.empty(0)
        alphas, alpha = select_alphas(pipeline, prior)
        learner = cls(
            pipeline=pipeline,
            prior=prior,
            candidates=candidates,
            groups=groups,
            rows=rows,
            prior_scores=prior_scores,
            online=OnlineRLS.empty(alpha=alpha),
            labelled=[],
            labels={},
            questions={q.key: q for q in build_questions(new, len(old))},
            group_of_doc={id(d): numbers[name] for d, name in zip(all_docs, names, strict=True)},
            alphas=alphas,
            strategy=strategy,
        )
        learner.retrain(dict(enumerate(y.tolist())), alpha)
        learner._density = rows.density()
        return learner

    # Scores

    def targets(self, labels: Mapping[int, float]) -> Vector:
        """Return the residuals ``y max(1, y f0) - f0`` of labels, in the order of the mapping.

        ``labels`` maps row numbers to labels y (1 or -1).
        """
        index = np.fromiter(labels, dtype=np.intp, count=len(labels))
        y = np.fromiter(labels.values(), dtype=np.float64, count=len(labels))
        f0 = self.prior_scores[index]
        return np.asarray(y * np.maximum(1.0, y * f0) - f0)

    def cached(self, name: str, compute: Callable[[], T]) -> T:
        """Return ``compute()``, which is called once between two changes of the learner.

        ``name`` is the key of the value in the cache; use another one for each computation. The
        value is shared: do not modify it.
        """
        if name not in self._cache:
            self._cache[name] = compute()
        value: T = self._cache[name]
        return value

    @property
    def index(self) -> Indices:
        """Labelled rows as an array, in the order of the model."""
        return self.cached("index", lambda: np.array(self.labelled, dtype=np.intp))

    @property
    def answers(self) -> Vector:
        """Labels (1 or -1) of the labelled rows, in the order of the model."""
        return self.cached("answers", lambda: np.array([self.labels[r] for r in self.labelled]))

    @property
    def scores(self) -> Vector:
        """Scores (n,) of all candidates by the current model, including the score of the prior."""
        return self.cached(
            "scores", lambda: self.prior_scores + self.rows.scores(self.index, self.online.coef)
        )

    @property
    def heldout(self) -> Vector:
        """Scores of the labelled rows, in the order of the model, each without its own document.

        The model of a score was trained without the answers about the document of the row.
        """
        return self.cached("heldout", lambda: self.prior_scores[self.index] + self.online.heldout)

    def heldout_score(self, row: int, kernel_row: Vector) -> float:
        """Return the score of a candidate by the model trained without its document.

        The score of the prior is included. The candidate ``row`` may be without a label.
        ``kernel_row`` (n,) are its kernel values with all candidates.
        """
        groups = self.cached("groups", lambda: {self.groups[i] for i in self.labelled})
        if self.groups[row] not in groups:
            return float(self.scores[row])
        coef = self.online.coef_without(self.groups[row])
        return float(self.prior_scores[row] + kernel_row[self.index] @ coef)

    @property
    def threshold(self) -> float:
        """Score from which on the decision is yes.

        It maximises the expected F over all candidates. Since questions are chosen, the share of
        yes among the answers differs from that in the texts, so it is computed from the calibrated
        probabilities of all candidates; 0 if there is no such threshold. While not
        ``has_enough_answers`` it is the threshold of the prior, or 0.
        """
        if self.has_enough_answers:
            return self.cached("threshold", self._choose_threshold) or 0.0
        return float(self.prior.threshold or 0.0) if self.prior is not None else 0.0

    def _choose_threshold(self) -> float | None:
        """Return the threshold with the best expected F over all candidates; None if there is none.

        If the calibration has no positive slope, scores carry no information yet; then it is the
        threshold with the best F on the held-out scores of the answers.
        """
        if self._calibration.slope <= 0:  # the scores carry no information yet
            return best_threshold(self.answers, self.heldout)
        return expected_f_threshold(self.scores, self._calibration(self.scores))

    @property
    def _calibration(self) -> PlattCalibration:
        """Platt calibration of the held-out scores of the answers."""
        return self.cached("platt", lambda: PlattCalibration.fit(self.heldout, self.answers))

    @property
    def has_enough_answers(self) -> bool:
        """Whether both classes have at least ``MIN_ANSWERS_PER_CLASS`` labelled rows.

        Gold labels of ``training`` count too.
        """
        y = self.answers
        return bool(min((y > 0).sum(), (y <= 0).sum()) >= MIN_ANSWERS_PER_CLASS)

    def probability(self, scores: Vector) -> Vector | None:
        """Return calibrated probabilities of yes, one per score; None without calibration.

        Calibration is by the held-out scores of the answers or, while there are too few, that of
        the prior. ``scores`` may be those of any candidates.
        """
        if self.has_enough_answers:
            return np.asarray(self._calibration(scores))
        return None if self.prior is None else self.prior.probability(scores)

    # Answers

    def retrain(self, labels: Mapping[int, float], alpha: float) -> None:
        """Replace the model by one of exactly these labels (by row) and this ``alpha``.

        ``online``, ``labelled`` (in the order of ``labels``) and ``labels`` are rebuilt, the
        variance sample and the cache dropped. ``answered``, the history and the recent answers stay
        as they are. Does not take the lock.
        """
        index = np.fromiter(labels, dtype=np.intp, count=len(labels))
        K = self.rows.gram(index) if len(index) else np.empty((0, 0))
        groups = np.array([self.groups[i] for i in index], dtype=np.intp)
        self.online = OnlineRLS.from_gram(K, self.targets(labels), groups, alpha=alpha)
        self.labelled, self.labels = index.tolist(), dict(labels)
        self._variance = None
        self._cache.clear()

    def answer(self, question: Question, value: str) -> None:
        """Learn an answer and record the quality of the model after it; takes ``lock``.

        Raises ValueError, before anything is learnt, if ``value`` is not one of
        ``question.allowed_answers`` or the question was answered before.
        """
        with self.lock:
            self.learn(question, value)
            self.record_quality()

    def learn(self, question: Question, value: str) -> None:
        """Add an answer to the model, which is then the one trained with it.

        ``value`` is one of ``question.allowed_answers``; those without a label are only remembered.
        Raises ValueError if it is not allowed or the question was answered before. Takes ``lock``;
        does not record the quality.
        """
        labels = question.labels(value)
        with self.lock:
            if question.key in self.answered:
                raise ValueError(f"{question.key!r} was answered before. Undo that answer first.")
            for row, label in labels.items():
                self._add_label(row, label)
            self.answered[question.key] = value

    def remove_answer(self, question: Question) -> None:
        """Remove the answer to a question from the model exactly, and the last quality record.

        The last entries of ``history`` and ``kappas``, and the decisions that belong to them, are
        dropped whichever question is given, so call it for the last answer. A question without an
        answer changes nothing else. Takes ``lock``.
        """
        with self.lock:
            self.answered.pop(question.key, None)
            for row in question.rows:
                self._remove_label(row)
            if self.history:
                self.history.pop()
            if self.kappas:
                self.kappas.pop()
            if self._decisions:
                self._decisions.pop()

    def update_doc(self, doc: Doc) -> list[str]:
        """Replace the questions of a Doc after its names changed; return the keys of lost answers.

        The Doc must be one of those that ``from_docs`` was given (the same object). Candidates are
        built again in new rows; the old rows stay in ``candidates``, without questions. Answers to
        questions that still exist (by key) are kept, those to other questions are forgotten and
        their keys returned. The history stays as it is. Takes ``lock``.
        """
        with self.lock:
            old = [q for q in self.questions.values() if self.candidates[q.rows[0]].doc is doc]
            answers = {q.key: self.answered.pop(q.key) for q in old if q.key in self.answered}
            for question in old:
                del self.questions[question.key]
                for row in question.rows:
                    self._remove_label(row)
            candidates = self.pipeline.task.candidates(doc)
            self._add_candidates([replace(c, label=None) for c in candidates], doc)
            for key in [key for key in answers if key in self.questions]:
                value = self.answered[key] = answers.pop(key)
                for row, label in self.questions[key].labels(value).items():
                    self._add_label(row, label)
            return list(answers)

    def _add_candidates(self, candidates: list[Candidate], doc: Doc) -> None:
        """Append candidates of a Doc with their questions and prior scores.

        Unless ``candidates`` is empty, density is computed again, and the variance sample, recent
        answers and earlier decisions are dropped, because they cover the old candidates only. Does
        not take the lock.
        """
        first_row = len(self.candidates)
        self.candidates += candidates
        self.groups += [self.group_of_doc[id(doc)]] * len(candidates)
        self.questions |= {q.key: q for q in build_questions(candidates, first_row)}
        if not candidates:
            return
        kernel, representation = self.pipeline.kernel, self.pipeline.representation
        if isinstance(self.rows, FeatureRows) and has_features(kernel):
            self.rows = self.rows.append(kernel.features(representation(candidates)))
        else:
            self.rows = build_rows(kernel, representation(self.candidates))
        zeros = np.zeros(len(candidates))
        new_scores = zeros if self.prior is None else self.prior.score(candidates)
        self.prior_scores = np.concatenate([self.prior_scores, new_scores])
        self._density = self.rows.density()
        self._variance = None
        self._cache.clear()
        self._recent.clear()
        self._decisions.clear()

    def _add_label(self, row: int, label: float) -> None:
        """Add a row with a label (1 or -1) to the model and to the recent answers, as the last.

        The row must not be labelled yet. Does not take the lock.
        """
        kernel_row = self.rows.kernel_row(row)
        target = float(self.targets({row: label})[0])
        squared_norm = float(self.rows.squared_norms[row])
        self.online = self.online.add(
            kernel_row[self.index], squared_norm, target, self.groups[row]
        )
        self._variance = self._variance and self._variance.add(kernel_row)
        self.labelled.append(row)
        self.labels[row] = label
        norms = np.sqrt(np.maximum(self.rows.squared_norms * squared_norm, MIN_SQUARED_NORM))
        self._recent.append((row, kernel_row / norms))
        self._cache.clear()

    def _remove_label(self, row: int) -> None:
        """Remove a row from the model exactly; does nothing if it is not labelled.

        Also removes it from the recent answers. Does not take the lock.
        """
        if row not in self.labels:
            return
        position = self.labelled.index(row)
        self.online = self.online.forget(position)
        self._variance = self._variance and self._variance.remove(position)
        self.labelled.remove(row)
        del self.labels[row]
        recent = [pair for pair in self._recent if pair[0] != row]
        self._recent = deque(recent, maxlen=MAX_RECENT_ANSWERS)
        self._cache.clear()

    def record_quality(self) -> None:
        """Append the quality of the model and the stability of its decisions to history and kappas.

        The ``answers`` of the quality counts all answered questions, including those without a
        label. The stability is Cohen's kappa of the decisions on all candidates now and
        WINDOW_ANSWERS records ago, or at the earliest record if there are fewer. Does not take the
        lock.
        """
        index = self.index
        groups = np.array([self.groups[i] for i in index], dtype=np.intp)
        quality = measure_quality(self.answers, self.heldout, groups) if len(index) else Quality()
        self.history.append(replace(quality, answers=len(self.answered)))
        self._decisions.append(self.scores >= self.threshold)
        before = self._decisions[-min(WINDOW_ANSWERS + 1, len(self._decisions))]
        self.kappas.append(cohen_kappa(before, self._decisions[-1]))

    # The next question

    def next_question(self, exclude: Collection[str] = ()) -> Question | None:
        """Return the unanswered question with the largest value; None if all are answered.

        Questions whose keys are in ``exclude`` are returned only if there is no other. The value of
        a question is the largest of its candidates. A shortlist by the scores of all candidates is
        valued again, more exactly, by ``_choose``; it has about ``SHORTLIST_SIZE`` rows, half as
        many from ``MAX_LABELLED_FOR_VARIANCE`` labels on, but at least 3 questions. The first of
        those that tie is returned. The call changes nothing: the question stays open until it is
        answered.
        """
        with self.lock:
            open_questions = [q for q in self.questions.values() if q.key not in self.answered]
            if not open_questions:
                return None
            open_questions = [q for q in open_questions if q.key not in exclude] or open_questions
            values = self._values(self.scores)
            best = [max(values[row] for row in q.rows) for q in open_questions]
            is_small = len(self.labelled) < MAX_LABELLED_FOR_VARIANCE
            size = SHORTLIST_SIZE if is_small else SHORTLIST_SIZE // 2
            count = max(size // len(open_questions[0].rows), 3)
            order = np.argsort(-merge_ties(best), kind="stable")[:count]
            return self._choose([open_questions[i] for i in order])

    def _values(self, scores: Vector, rows: Indices | None = None) -> Vector:
        """Return the value of asking about rows with the given scores, one entry per row.

        None stands for all rows; ``scores`` has one entry per entry of ``rows``.
        """
        rows = np.arange(len(self.candidates)) if rows is None else rows
        similarity = self.cached("similarity", self._similarity_to_recent)
        return self.strategy.values(
            self._uncertainty(scores), self._density[rows], similarity[rows]
        )

    def _uncertainty(self, scores: Vector) -> Vector:
        """Return ``4 p (1 - p)`` of each score: 1 at the threshold and near 0 far from it.

        ``p`` is ``sigmoid_scores`` with half of the standard deviation of all scores as the spread,
        0.5 if all scores are equal.
        """
        spread = float(self.scores.std()) or 1.0
        p = sigmoid_scores(scores, self.threshold, spread / 2)
        return 4 * p * (1 - p)

    def _similarity_to_recent(self) -> Vector:
        """Return the largest cosine (n,) of each candidate with a recent answer, at least 0.

        Recent are the last ``MAX_RECENT_ANSWERS`` labelled rows; zeros without any.
        """
        similarity = np.zeros(len(self.candidates))
        for _, cosines in self._recent:
            np.maximum(similarity, cosines, out=similarity)
        return similarity

    def _choose(self, shortlist: Sequence[Question]) -> Question:
        """Return the question of a shortlist with the largest value; the first of those that tie.

        Candidates are valued by their scores without the answers about their own document. With
        fewer than ``MAX_LABELLED_FOR_VARIANCE`` labelled rows, the value is multiplied by the
        variance that an answer would remove, to the power ``strategy.reach``. The value of a
        question is that of its best candidate. The shortlist must not be empty.
        """
        rows = np.array([row for question in shortlist for row in question.rows], dtype=np.intp)
        K = self.rows.kernel_columns(rows)
        scores = np.array([self.heldout_score(int(r), K[:, i]) for i, r in enumerate(rows)])
        values = self._values(scores, rows)
        if len(self.labelled) < MAX_LABELLED_FOR_VARIANCE:
            values = values * self._variance_reductions(rows, K) ** self.strategy.reach
        value_of_row = dict(zip(rows.tolist(), values.tolist(), strict=True))
        best = [max(value_of_row[row] for row in question.rows) for question in shortlist]
        return shortlist[int(argmax_first(best))]

    def _variance_reductions(self, rows: Indices, K: Matrix) -> Vector:
        """Return the variance (len(rows),) that an answer about each of ``rows`` would remove.

        The variance of each sampled candidate is weighted by its uncertainty. ``K`` (n, len(rows))
        are the kernel values of all candidates with ``rows``. The sample is drawn at the first call
        and kept in ``_variance``.
        """
        if self._variance is None:
            self._variance = VarianceReduction.from_rows(self.rows, self.index, self._first_row)
        variance = self._variance
        weights = self._uncertainty(self.scores[variance.sample])
        norms = self.rows.squared_norms[rows]
        return variance.reductions(self.online, K[self.index], K[variance.sample], norms, weights)

    @property
    def _first_row(self) -> int:
        """First row that a question is about; 0 without questions.

        Rows before it are of ``training``, or of questions that were replaced.
        """
        return min((question.rows[0] for question in self.questions.values()), default=0)

    # Regularisation

    def tune(self) -> float:
        """Choose alpha again by held-out AUC, retrain, and return it; meant for another thread.

        The lock is held only at the beginning and the end. Answers that were added or removed in
        between are then added to, or removed from, the new model; the recent answers and the
        history stay. Without labels nothing is changed and the current alpha is returned.
        """
        with self.lock:
            labels, rows = dict(self.labels), self.rows
        index = np.fromiter(labels, dtype=np.intp, count=len(labels))
        if not len(index):
            return self.online.alpha
        groups = np.array([self.groups[i] for i in index], dtype=np.intp)
        K, targets = rows.gram(index), self.targets(labels)
        alpha = self._choose_alpha(K, targets, groups, labels)
        online = OnlineRLS.from_gram(K, targets, groups, alpha=alpha)
        variance = None
        if len(index) < MAX_LABELLED_FOR_VARIANCE:
            variance = VarianceReduction.from_rows(rows, index, self._first_row)
        with self.lock:
            current, recent = dict(self.labels), self._recent
            self.online, self.labelled, self.labels = online, index.tolist(), dict(labels)
            self._variance = variance if rows is self.rows else None
            self._cache.clear()
            for row in [row for row in labels if current.get(row) != labels[row]]:
                self._remove_label(row)
            for row, label in current.items():
                if row not in self.labels:
                    self._add_label(row, label)
            self._recent = recent
            self._cache.clear()
        return alpha

    def _choose_alpha(
        self, K: Matrix, residuals: Vector, groups: Indices, labels: Mapping[int, float]
    ) -> float:
        """Return the alpha with the best held-out AUC, the largest of those that tie.

        ``K`` (m, m) is the Gram matrix of the m labelled rows, ``residuals`` their targets,
        ``groups`` their documents, and ``labels`` their labels by row, all in the same order. The
        current alpha is returned if there are fewer than MIN_ANSWERS_PER_CLASS of a class, or all
        rows are of one document.
        """
        y = np.fromiter(labels.values(), dtype=np.float64, count=len(labels))
        is_scarce = min((y > 0).sum(), (y <= 0).sum()) < MIN_ANSWERS_PER_CLASS
        if len(np.unique(groups)) < 2 or is_scarce:
            return self.online.alpha
        targets = Targets(residuals, groups, np.arange(len(y)))
        heldout = RLS(self.alphas, select="squared_error").path(K, targets).heldout
        f0 = self.prior_scores[np.fromiter(labels, dtype=np.intp, count=len(labels))]
        values = score_alphas(heldout + f0, replace(targets, y=y), "auc")
        return self.alphas[choose_largest(values, self.alphas)]


def with_single_kernel(pipeline: Pipeline) -> Pipeline:
    """Return a pipeline with the first of the kernels that training would choose from.

    If there is only one, the same pipeline is returned.
    """
    kernel = pipeline.kernel
    if isinstance(kernel, ChoiceKernel):
        kernels = list(kernel.alternatives)
    else:
        kernels = list(expand_choices(kernel).values())
    return replace(pipeline, kernel=kernels[0]) if len(kernels) > 1 else pipeline


def select_alphas(pipeline: Pipeline, prior: Model | None) -> tuple[tuple[float, ...], float]:
    """Return the alphas to choose from and the one to begin with.

    Both are those of ``prior``. If it is None, the alphas are those of the pipeline's learner, or
    DEFAULT_ALPHAS if that is neither ``RLS`` nor ``SparseRLS``, and the first one is in the middle
    of the list.
    """
    if prior is not None:
        return tuple(prior.fit.alphas), prior.fit.alpha
    learner = pipeline.learner
    values = learner.alphas if isinstance(learner, RLS | SparseRLS) else DEFAULT_ALPHAS
    alphas = tuple(float(alpha) for alpha in values)
    return alphas, alphas[len(alphas) // 2]


# Explanations
def can_explain(learner: ActiveLearner) -> bool:
    """Return whether scores can be split into contributions of named features.

    The kernel must have explicit features or be additive, and the prior no second stage.
    """
    prior = learner.prior
    has_second_stage = prior is not None and prior.fit.second_stage is not None
    is_additive = isinstance(learner.pipeline.kernel, AdditiveKernel)
    return (isinstance(learner.rows, FeatureRows) or is_additive) and not has_second_stage


def explain_row(learner: ActiveLearner, row: int) -> Explanation:
    """Return the contributions of named features by which a candidate differs from the average.

    ``row`` is its row number. The average is over the candidates with the same ``label_key``; for a
    kernel without explicit features, over a sample of all candidates. Contributions are sorted by
    decreasing magnitude, and their sum is the score. The lock is held only while the model is read,
    so that answers need not wait. Call it only if ``can_explain``.
    """
    with learner.lock:
        rows, index, coef = learner.rows, learner.index, learner.online.coef
        if isinstance(rows, FeatureRows):
            weights = learner.cached("weights", lambda: _feature_weights(learner, rows))
    candidates, prior = learner.candidates, learner.prior
    if not isinstance(rows, FeatureRows):
        prior_part = prior.explain_relative([candidates[row]])[0] if prior is not None else []
        return merge_explanations(rows.explain(row, index, coef), prior_part)
    question = candidates[row].label_key
    same = [i for i, c in enumerate(candidates[: len(rows)]) if c.label_key == question]
    return rows.explain(row, weights, rows.mean_features(question, same))


def _feature_weights(learner: ActiveLearner, rows: FeatureRows) -> Vector:
    """Return the weight (d,) of each of the d features of ``rows``, of answers and prior together.

    Features of the prior that no candidate has are left out.
    """
    weights = rows.feature_weights(learner.index, learner.online.coef)
    prior = learner.prior
    if prior is None or prior.names is None:
        return weights
    columns = rows.find_columns(prior.names)
    weights[columns[columns >= 0]] += prior.fit.coef[columns >= 0]
    return weights


Rows: TypeAlias = "FeatureRows | KernelRows"
MEAN_SAMPLE_SIZE = 50  # candidates whose mean contributions are computed, if it takes the kernel
MIN_SQUARED_NORM = 1e-300  # instead of 0, to divide by


def build_rows(kernel: Kernel[Any], X: Sequence[Any]) -> Rows:
    """Return the rows of represented candidates ``X``, numbered in their order.

    These are ``FeatureRows`` if the kernel has explicit features, else ``KernelRows``.
    """
    if has_features(kernel):
        features = kernel.features(X)
        return FeatureRows(sp.csr_array(features.values), features.names)
    return KernelRows(kernel, X)


@dataclass(frozen=True, eq=False)
class FeatureRows:
    """Candidates as rows of a sparse feature matrix with the linear kernel.

    n is the number of candidates, d that of features. Do not modify: means and columns are cached.
    """

    values: sp.csr_array  # (n, d)
    names: FeatureNames  # (d,)
    squared_norms: Vector = field(init=False, repr=False)  # (n,), k(x, x)
    _means: dict[str, Vector] = field(default_factory=dict, init=False, repr=False)
    _columns: dict[int, Indices] = field(default_factory=dict, init=False, repr=False)

    def __post_init__(self) -> None:
        """Compute the squared norm of each row."""
        object.__setattr__(self, "squared_norms", squared_norms(self.values))

    def __len__(self) -> int:
        """Return the number of candidates."""
        return int(self.values.shape[0])

    def mean_features(self, question: str, rows: Sequence[int]) -> Vector:
        """Return the mean features (d,) of the candidates about a question (``label_key``).

        ``rows`` are their row numbers. The result is cached by ``question``, so ``rows`` is used
        only at the first call for a question. Features that few of the candidates have count 0, see
        ``textrank.linear_scores.mean_features``.
        """
        if question not in self._means:
            values = self.values if len(rows) == len(self) else self.values[np.array(rows)]
            self._means[question] = mean_features(Features(values, self.names))
        return self._means[question]

    def find_columns(self, names: FeatureNames) -> Indices:
        """Return the column of each of ``names``, or -1; cached by the identity of ``names``.

        The caller must keep ``names`` alive as long as these rows.
        """
        if id(names) not in self._columns:
            self._columns[id(names)] = self.names.find(names)
        return self._columns[id(names)]

    def explain(self, row: int, weights: Vector, mean: Vector) -> Explanation:
        """Return the contribution of each feature to the score of a row, relative to the mean.

        ``weights`` and ``mean`` (the mean candidate's features) have shape (d,). Features are
        sorted by decreasing magnitude of their contribution; those without one are left out. The
        last entry is the score of the mean candidate. The values sum to the score ``weights @ x``.
        """
        x = self.values[[row]]
        added = sp.csr_array((x.data * weights[x.indices], x.indices, x.indptr), x.shape)
        return subtract_mean(Features(added, self.names), mean * weights)[0]

    def dense_row(self, row: int) -> Vector:
        """Return the features of one candidate as a dense vector (d,)."""
        dense = np.zeros(self.values.shape[1])
        span = slice(self.values.indptr[row], self.values.indptr[row + 1])
        dense[self.values.indices[span]] = self.values.data[span]
        return dense

    def kernel_row(self, row: int) -> Vector:
        """Return the kernel values (n,) of the candidate ``row`` with all."""
        return np.asarray(self.values @ self.dense_row(row))

    def kernel_columns(self, rows: Indices) -> Matrix:
        """Return the kernel values (n, len(rows)) of all candidates with those of ``rows``."""
        dense = np.zeros((self.values.shape[1], len(rows)))
        selected = self.values[rows].tocoo()
        dense[selected.col, selected.row] = selected.data
        return np.asarray(self.values @ dense)

    def cross_gram(self, rows: Indices, others: Indices) -> Matrix:
        """Return the kernel values (len(rows), len(others)) between two sets of row numbers."""
        if not len(rows) or not len(others):
            return np.empty((len(rows), len(others)))
        return np.asarray(gram(self.values[rows], self.values[others]))

    def gram(self, rows: Indices) -> Matrix:
        """Return the Gram matrix (len(rows), len(rows)) of the candidates ``rows``."""
        return gram(self.values[rows])

    def feature_weights(self, rows: Indices, coef: Vector) -> Vector:
        """Return the weight of each feature (d,): the sum of ``coef`` times the given rows.

        ``coef`` has one entry per entry of ``rows``, which must be distinct.
        """
        all_coef = np.zeros(len(self))
        all_coef[rows] = coef
        return np.asarray(self.values.T @ all_coef)

    def scores(self, rows: Indices, coef: Vector) -> Vector:
        """Return ``sum_i coef_i k(x_i, x)`` (n,) for all candidates x, with x_i the given rows.

        ``rows`` must be distinct.
        """
        return np.asarray(self.values @ self.feature_weights(rows, coef))

    def density(self) -> Vector:
        """Return the mean cosine of each candidate with all, divided by the largest mean, (n,).

        The values are clipped to [0, 1]; they are ones if no mean is positive.
        """
        norms = np.sqrt(np.maximum(self.squared_norms, MIN_SQUARED_NORM))
        mean = np.asarray(self.values.T @ (1 / norms)) / max(len(self), 1)
        return _divide_by_max(np.asarray(self.values @ mean) / norms)

    def append(self, features: Features) -> FeatureRows:
        """Return these rows followed by others; these rows keep their numbers and are not changed.

        The two need not have the same features; a feature that a row lacks is 0.
        """
        both = Features.vstack([Features(self.values, self.names), features])
        return FeatureRows(sp.csr_array(both.values), both.names)


@dataclass(eq=False)
class KernelRows:
    """Candidates that only a kernel can compare, with a cache of kernel rows.

    ``X`` are the n represented candidates. A kernel row is the vector of a candidate's kernel
    values with all candidates.
    """

    kernel: Kernel[Any]
    X: Sequence[Any]
    squared_norms: Vector = field(init=False, repr=False)  # (n,), k(x, x)
    _kernel_rows: dict[int, Vector] = field(default_factory=dict, repr=False)

    def __post_init__(self) -> None:
        """Compute the kernel value of each candidate with itself."""
        self.squared_norms = np.asarray(self.kernel.diag(self.X))

    def __len__(self) -> int:
        """Return the number of candidates."""
        return len(self.squared_norms)

    def kernel_row(self, row: int) -> Vector:
        """Return the kernel values (n,) of the candidate ``row`` with all; cached."""
        if row not in self._kernel_rows:
            x = take_rows(self.X, np.array([row], dtype=np.intp))
            self._kernel_rows[row] = np.asarray(self.kernel(x, self.X))[0]
        return self._kernel_rows[row]

    def kernel_columns(self, rows: Indices) -> Matrix:
        """Return the kernel values (n, len(rows)) of all candidates with those of ``rows``; cached.

        ``rows`` must not be empty.
        """
        new = np.array([row for row in rows.tolist() if row not in self._kernel_rows], np.intp)
        if len(new):
            values = np.asarray(self.kernel(take_rows(self.X, new), self.X))
            self._kernel_rows.update(zip(new.tolist(), values, strict=True))
        return np.column_stack([self._kernel_rows[row] for row in rows.tolist()])

    def cross_gram(self, rows: Indices, others: Indices) -> Matrix:
        """Return the kernel values (len(rows), len(others)) between two sets of row numbers.

        Not cached.
        """
        if not len(rows) or not len(others):
            return np.empty((len(rows), len(others)))
        return np.asarray(self.kernel(take_rows(self.X, rows), take_rows(self.X, others)))

    def gram(self, rows: Indices) -> Matrix:
        """Return the Gram matrix (len(rows), len(rows)) of the candidates ``rows``; not cached."""
        if not len(rows):
            return np.empty((0, 0))
        return np.asarray(self.kernel(take_rows(self.X, rows)))

    def scores(self, rows: Indices, coef: Vector) -> Vector:
        """Return ``sum_i coef_i k(x_i, x)`` (n,) for all candidates x, with x_i the given rows.

        The kernel rows of x_i are cached.
        """
        scores = np.zeros(len(self))
        for row, value in zip(rows.tolist(), coef, strict=True):
            scores += value * self.kernel_row(row)
        return scores

    def density(self, sample_size: int = 100) -> Vector:
        """Return the mean cosine of each candidate with a sample, divided by the largest, (n,).

        The sample is about ``sample_size`` candidates, evenly spaced. The values are clipped to [0,
        1]; they are ones if no mean is positive.
        """
        step = max(1, len(self) // sample_size)
        norms = np.sqrt(np.maximum(self.squared_norms, MIN_SQUARED_NORM))
        sample = np.arange(0, len(self), step)
        cosines = np.asarray(self.kernel(take_rows(self.X, sample), self.X))
        cosines = cosines / norms[sample][:, None]
        return _divide_by_max(cosines.sum(axis=0) / norms)

    def explain(self, row: int, rows: Indices, coef: Vector) -> Explanation:
        """Return the contribution of each part of the kernel to a score, relative to the mean.

        ``row`` is the candidate x whose score ``sum_i coef_i k(x_i, x)`` is explained, with x_i the
        candidates ``rows``. The mean is over at most ``MEAN_SAMPLE_SIZE`` candidates. Parts are
        sorted by decreasing magnitude, the last entry is the mean, and the values sum to the score.
        The result is empty if the kernel cannot split its values (``AdditiveKernel``) or ``rows``
        is empty.
        """
        if not isinstance(self.kernel, AdditiveKernel) or not len(rows):
            return []
        support = take_rows(self.X, rows)
        sample = np.unique(np.linspace(0, len(self) - 1, MEAN_SAMPLE_SIZE).astype(np.intp))
        mean = mean_row(self.kernel.contributions(take_rows(self.X, sample), support, coef))
        x = take_rows(self.X, np.array([row], dtype=np.intp))
        both = Features.vstack([self.kernel.contributions(x, support, coef), mean])
        return subtract_mean(both[:-1], both.values[[-1]].toarray()[0])[0]


def _divide_by_max(values: Vector) -> Vector:
    """Return values divided by the largest and clipped to [0, 1]; all 1 if none is positive."""
    largest = float(values.max(initial=0.0))
    return np.clip(values / largest, 0.0, 1.0) if largest > 0 else np.ones(len(values))
