"""What is asked of a person: candidates of one decision together, under a lasting key."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from threading import RLock
from typing import Any, TypeVar

import numpy as np
from spacy.tokens import Doc

from textrank.candidates import Candidate, Targets, dedup_groups, document_id
from textrank.explanation import merge_explanations
from textrank.features import Indices, Matrix, Vector
from textrank.learners.base import score_alphas
from textrank.learners.calibration import PlattCalibration
from textrank.learners.online import OnlineRLS
from textrank.learners.rls import RLS
from textrank.learners.sparse import SparseRLS
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
from textrank.protocols import AdditiveKernel, ChoiceKernel, Explanation, has_features
from textrank.tasks.base import no_candidates_error
from textrank.web._kernel_rows import FeatureRows, Rows, build_rows

YES, NO, UNSURE, NEGATED, WRONG_NAME = "yes", "no", "unsure", "negated", "wrong name"
CHOICE_PREFIX = "choose:"  # before the number of an answer, where there are more than two
LABEL_OF_ANSWER = {YES: 1.0, NO: -1.0, NEGATED: -1.0}  # the label that an answer gives
ANSWERS_WITHOUT_LABEL = (UNSURE, WRONG_NAME)  # answers from which nothing is learnt


@dataclass(frozen=True)
class Question:
    """One decision: a candidate for yes or no, or several of which one is right."""

    key: str  # document, characters and what is asked; the same after a restart
    document: str  # as the reader named it
    rows: tuple[int, ...]
    answers: tuple[str, ...]  # what the rows ask for, or yes and no

    def labels(self, value: str) -> dict[int, float]:
        """The label that an answer gives to each row; none where nothing is learnt from it."""
        if value in ANSWERS_WITHOUT_LABEL:
            return {}
        if value in LABEL_OF_ANSWER and len(self.rows) == 1:
            return {self.rows[0]: LABEL_OF_ANSWER[value]}
        number = value.removeprefix(CHOICE_PREFIX)
        known = value.startswith(CHOICE_PREFIX) and number.isascii() and number.isdigit()
        if known and len(self.rows) > 1 and int(number) < len(self.rows):
            return {row: 1.0 if i == int(number) else -1.0 for i, row in enumerate(self.rows)}
        raise ValueError(
            f"{value!r} is no answer to {self.key!r}. Known: {', '.join(self.allowed_answers)}."
        )

    @property
    def allowed_answers(self) -> list[str]:
        """The answers there are."""
        if len(self.rows) > 1:
            return [*(f"{CHOICE_PREFIX}{i}" for i in range(len(self.rows))), *ANSWERS_WITHOUT_LABEL]
        return [*LABEL_OF_ANSWER, *ANSWERS_WITHOUT_LABEL]


def build_questions(candidates: Sequence[Candidate], first: int = 0) -> Iterator[Question]:
    """The questions of candidates in their order; ``first`` is the row of the first one.

    Where a corpus has two names at the same characters, the second question gets a number.
    """
    start = 0
    times: Counter[str] = Counter()
    for end in range(1, len(candidates) + 1):
        if end == len(candidates) or not _together(candidates[start], candidates[end]):
            found = _question(candidates[start:end], first + start)
            times[found.key] += 1
            again = times[found.key]
            yield replace(found, key=f"{found.key}#{again}") if again > 1 else found
            start = end


def _together(one: Candidate, other: Candidate) -> bool:
    """Whether two candidates are answers to one question; a pair is a question of its own."""
    return len(one.spans) == 1 and _place(one) == _place(other)


def _place(candidate: Candidate) -> tuple[object, ...]:
    spans = tuple((span.start_char, span.end_char) for span in candidate.spans)
    return id(candidate.doc), candidate.query, spans


def _question(together: Sequence[Candidate], row: int) -> Question:
    one = together[0]
    if not one.spans:
        raise ValueError(
            "this task ranks whole sentences, which yes and no cannot teach. "
            "Curate pairs, names, senses or spellings."
        )
    document = document_id(one.doc)
    places = ",".join(f"{span.start_char}-{span.end_char}" for span in one.spans)
    asked = tuple(c.label_key for c in together)
    alone = len(together) == 1
    kind = asked[0] if alone and len(one.spans) == 1 else ""
    rows = tuple(range(row, row + len(together)))
    return Question(f"{document}|{places}|{kind}", document, rows, (YES, NO) if alone else asked)


@dataclass(frozen=True)
class QueryStrategy:
    """How questions are weighed: ``uncertainty * density^typical * (1 - nearest)^varied``.

    Of the best few, each is weighed by what an answer would settle about all candidates, to the
    power of ``reach`` (``textrank.web.active_learner``).
    """

    typical: float = 0.1
    varied: float = 0.25
    reach: float = 1.0

    def values(self, uncertain: Vector, density: Vector, nearest: Vector) -> Vector:
        """What each candidate would teach, from its uncertainty, density and nearest answer."""
        unlike = np.clip(1 - nearest, 1e-6, 1.0)
        return np.asarray(uncertain * density**self.typical * unlike**self.varied)


def sigmoid_scores(scores: Vector, centre: float, spread: float) -> Vector:
    """A probability by distance from the threshold, where there is too little to calibrate."""
    return np.asarray(1 / (1 + np.exp(-np.clip((scores - centre) / max(spread, 1e-9), -30, 30))))


SAMPLE_SIZE = 300  # candidates that stand for all


@dataclass(frozen=True, eq=False)
class VarianceReduction:
    """Some candidates spread over all of them, and how much like the taught ones each is.

    RLS is also the mean of a Gaussian process, whose covariance needs no answers:
    ``c(x, z) = k(x, z) - k(x, T) G k(T, z)`` over the taught ``T``. An answer about ``x`` takes
    ``c(x, z)^2 / (c(x, x) + alpha)`` from the variance of every ``z``, whatever the answer is: much
    where ``x`` is like many candidates that no answer has been like, little where it stands alone.
    """

    sample: Indices  # (s,)
    K: Matrix  # (s, t) kernel values with the taught rows, in the model's order

    @classmethod
    def of(cls, rows: Rows, index: Indices, first: int = 0) -> VarianceReduction:
        """Of rows from the ``first`` on, of which those of ``index`` are taught."""
        many = max(len(rows) - first, 1)
        places = first + np.unique(np.linspace(0, many - 1, min(SAMPLE_SIZE, many)).astype(np.intp))
        return cls(places, rows.cross_gram(places, index))

    def add(self, values: Vector) -> VarianceReduction:
        """After a row was taught, by its kernel values with all rows."""
        return replace(self, K=np.column_stack([self.K, values[self.sample]]))

    def forget(self, place: int) -> VarianceReduction:
        """After the taught row of a place left the model."""
        return replace(self, K=np.delete(self.K, place, axis=1))

    def gains(
        self, online: OnlineRLS, taught: Matrix, sampled: Matrix, own: Vector, weights: Vector
    ) -> Vector:
        """The variance, weighted by sampled row, that answers about some rows would take away.

        ``taught`` (t, q) and ``sampled`` (s, q) are the kernel values of these rows.
        """
        V = online.times(taught)
        C = sampled - self.K @ V
        left = np.maximum(own - np.einsum("tq,tq->q", taught, V), 0.0)
        return np.asarray(weights @ C**2 / (left + online.alpha))


CALIBRATION_BINS = 10
MIN_ANSWERS_PER_CLASS = 5  # positive and negative answers each, before figures mean anything
WINDOW_ANSWERS = 20  # answers over which nothing must change before more of them stop helping
MIN_STABLE_KAPPA = 0.99  # agreement (kappa) of the decisions before and after these answers
MIN_GAIN = 0.01  # of AUC or F, which would still be worth more answers


@dataclass(frozen=True)
class Quality:
    """Held-out figures: ranking, decisions, and whether probabilities mean what they say.

    The threshold of ``f`` and the curve of ``calibration`` (expected calibration error) are
    chosen on one half of the documents and measured on the other, so that neither saw what it
    is measured on. None where answers are too few.
    """

    auc: float | None = None
    f: float | None = None
    calibration: float | None = None
    answers: int = 0


def measure_quality(y: Vector, heldout: Vector, documents: Indices) -> Quality:
    """The figures of held-out scores."""
    n = len(y)
    if min((y > 0).sum(), (y <= 0).sum()) < MIN_ANSWERS_PER_CLASS:
        return Quality(answers=n)
    numbers = np.unique(documents, return_inverse=True)[1]
    halves = [numbers % 2 == half for half in (0, 1)]
    if any(len(np.unique(y[half] > 0)) < 2 for half in halves):
        return Quality(auc(y, heldout), answers=n)
    yes, p = np.zeros(n, dtype=bool), np.zeros(n)
    for own, other in (halves, halves[::-1]):
        cut = best_threshold(y[other], heldout[other])
        yes[own] = heldout[own] >= (0.0 if cut is None else cut)
        p[own] = PlattCalibration.fit(heldout[other], y[other])(heldout[own])
    f = precision_recall_f(y, yes).f
    return Quality(auc(y, heldout), f, expected_calibration_error(y, p), n)


def expected_calibration_error(y: Vector, p: Vector) -> float:
    """The mean distance between probability and share of yes, over bins of equal number.

    >>> expected_calibration_error(np.array([1.0, -1.0]), np.array([1.0, 0.0]))
    0.0
    """
    order = np.argsort(merge_ties(p), kind="stable")
    parts = np.array_split(order, min(CALIBRATION_BINS, len(order)))
    gaps = [len(part) * abs(p[part].mean() - (y[part] > 0).mean()) for part in parts if len(part)]
    return float(sum(gaps) / max(len(y), 1))


def cohen_kappa(one: Vector, other: Vector) -> float:
    """Cohen's kappa of two lists of decisions; 1 where both say the same of all.

    >>> cohen_kappa(np.array([True, False]), np.array([True, False]))
    1.0
    """
    a, b = np.asarray(one, dtype=bool), np.asarray(other, dtype=bool)
    same = float((a == b).mean()) if len(a) else 1.0
    chance = a.mean() * b.mean() + (1 - a.mean()) * (1 - b.mean()) if len(a) else 0.0
    return 1.0 if chance >= 1 else float((same - chance) / (1 - chance))


def advise(history: list[Quality], kappas: list[float]) -> tuple[str, str]:
    """Whether more answers help: ``go on``, ``slower`` or ``enough``, and the reason.

    Enough is when the decisions on all candidates stayed the same (kappa of .99) through three
    windows of answers and no held-out figure rose. Bloodgood and Vijay-Shanker (2009).
    """
    if not history or history[-1].auc is None:
        return "go on", "Too few answers of both kinds to measure anything."
    if len(kappas) < 3 * WINDOW_ANSWERS or len(history) <= WINDOW_ANSWERS:
        return "go on", "The model still learns with every answer."
    gained = max(_gain(history, "auc"), _gain(history, "f"))
    steady = min(
        float(np.mean(kappas[-WINDOW_ANSWERS * (i + 1) :][:WINDOW_ANSWERS])) for i in range(3)
    )
    if steady >= MIN_STABLE_KAPPA and gained < MIN_GAIN:
        return "enough", (
            f"The last {3 * WINDOW_ANSWERS} answers changed hardly any decision (agreement {steady:.3f}) "
            "and no held-out figure: more of them would teach little."
        )
    if gained < MIN_GAIN:
        return "slower", f"The last {WINDOW_ANSWERS} answers raised no held-out figure."
    return (
        "go on",
        f"The last {WINDOW_ANSWERS} answers raised a held-out figure by {100 * gained:.1f}.",
    )


def _gain(history: list[Quality], name: str) -> float:
    now, before = getattr(history[-1], name), getattr(history[-1 - WINDOW_ANSWERS], name)
    return float(now - before) if now is not None and before is not None else 0.0


DEFAULT_ALPHAS = (0.25, 0.5, 1.0, 2.0, 4.0)


def with_single_kernel(pipeline: Pipeline) -> Pipeline:
    """The pipeline with the first of the kernels that training would choose from."""
    kernel = pipeline.kernel
    several = list(kernel.alternatives) if isinstance(kernel, ChoiceKernel) else []
    return replace(pipeline, kernel=several[0]) if len(several) > 1 else pipeline


def select_alphas(pipeline: Pipeline, prior: Model | None) -> tuple[tuple[float, ...], float]:
    """The alphas to choose from, and the one to begin with."""
    if prior is not None:
        return tuple(prior.fit.alphas), prior.fit.alpha
    learner = pipeline.learner
    own = learner.alphas if isinstance(learner, RLS | SparseRLS) else DEFAULT_ALPHAS
    alphas = tuple(float(alpha) for alpha in own)
    return alphas, alphas[len(alphas) // 2]


def can_explain(teaching: ActiveLearner) -> bool:
    """Whether scores split into named parts."""
    prior = teaching.prior
    staged = prior is not None and prior.fit.second_stage is not None
    splits = isinstance(teaching.pipeline.kernel, AdditiveKernel)
    return (isinstance(teaching.rows, FeatureRows) or splits) and not staged


def explain_row(teaching: ActiveLearner, row: int) -> Explanation:
    """What makes a candidate differ from the average one, largest first; sums exact.

    Average is among those that ask the same. The lock is held only to look at the answers: nobody
    who answers waits for reasons.
    """
    with teaching.lock:
        rows, index, coef = teaching.rows, teaching.index, teaching.online.coef
        if isinstance(rows, FeatureRows):
            weights = teaching.once("weights", lambda: _weights(teaching, rows))
    candidates, prior = teaching.candidates, teaching.prior
    if not isinstance(rows, FeatureRows):
        known = prior.explain_relative([candidates[row]])[0] if prior is not None else []
        return merge_explanations(rows.contributions_of(row, index, coef), known)
    asked = candidates[row].label_key
    alike = [i for i, c in enumerate(candidates[: len(rows)]) if c.label_key == asked]
    return rows.contributions_of(row, weights, rows.mean_features(asked, alike))


def _weights(teaching: ActiveLearner, rows: FeatureRows) -> Vector:
    """A weight per feature of the candidates, of the prior and the answers together."""
    found = rows.feature_weights(teaching.index, teaching.online.coef)
    prior = teaching.prior
    if prior is None or prior.names is None:
        return found
    at = rows.find_columns(prior.names)
    found[at[at >= 0]] += prior.fit.coef[at >= 0]
    return found


T = TypeVar("T")
MAX_RECENT_ANSWERS = 30  # answers that a new question should be unlike
SHORTLIST_SIZE = 12  # candidates that are looked at closely before one is asked about
MAX_LABELLED_FOR_VARIANCE = (
    1000  # taught ones from which on an answer settles little, and telling how much costs more
)
ANSWERS_PER_TUNING = 10  # answers after which alpha is chosen anew


@dataclass(eq=False)
class ActiveLearner:
    """Candidates, answers, and the model of these answers.

    A score is ``f0 + sum_i a_i k(x_i, x)``: that of the model one began with (``prior``, zero
    without one), and RLS on what it left unexplained of the answers, which is ridge regression
    towards its weights. An answer that the prior gives even more surely asks for no change.
    Changes hold ``lock``; numbers of rows never change their meaning.
    """

    pipeline: Pipeline
    prior: Model | None
    candidates: list[Candidate]
    groups: list[int]  # what is held out together, by row
    rows: Rows
    prior_scores: Vector  # the scores of the prior
    online: OnlineRLS
    labelled: list[int]  # the rows in the model, in its order
    labels: dict[int, float]  # of the taught rows
    questions: dict[str, Question]
    group_of_doc: dict[int, int]  # what is held out together, by the Doc's id
    alphas: tuple[float, ...] = DEFAULT_ALPHAS
    strategy: QueryStrategy = field(default_factory=QueryStrategy)
    answered: dict[str, str] = field(default_factory=dict)  # answered questions
    lock: RLock = field(default_factory=RLock, repr=False)
    history: list[Quality] = field(default_factory=list)
    kappas: list[float] = field(default_factory=list)
    _density: Vector = field(default_factory=lambda: np.empty(0), repr=False)
    _recent: deque[tuple[int, Vector]] = field(
        default_factory=lambda: deque(maxlen=MAX_RECENT_ANSWERS), repr=False
    )
    _decided: deque[Any] = field(
        default_factory=lambda: deque(maxlen=WINDOW_ANSWERS + 1), repr=False
    )
    _reach: VarianceReduction | None = field(default=None, repr=False)
    _known: dict[str, Any] = field(default_factory=dict, repr=False)  # until the next change

    @classmethod
    def of(
        cls,
        pipeline: Pipeline,
        docs: Sequence[Doc],
        *,
        prior: Model | None = None,
        training: Sequence[Doc] = (),
        choice: QueryStrategy = QueryStrategy(),
    ) -> ActiveLearner:
        """Of the texts to ask about, beginning with a model, with answered texts, or nothing."""
        task = pipeline.task
        names = dedup_groups([*training, *docs])
        numbers = {name: i for i, name in enumerate(dict.fromkeys(names))}
        found = [task.candidates(doc) for doc in (*training, *docs)]
        old = [c for own in found[: len(training)] for c in own]
        new = [replace(c, label=None) for own in found[len(training) :] for c in own]
        if not new:
            raise no_candidates_error(task, len(docs))
        groups = [numbers[n] for n, own in zip(names, found, strict=True) for _ in own]
        pipeline = with_single_kernel(pipeline if prior is None else prior.pipeline)
        homes = {id(doc): numbers[n] for doc, n in zip((*training, *docs), names, strict=True)}
        candidates = [*old, *new]
        rows = build_rows(pipeline.kernel, pipeline.representation(candidates))
        base = np.zeros(len(candidates)) if prior is None else prior.score(candidates)
        if task.is_ranking:
            raise ValueError(f"task {task.name!r} ranks; only answers of yes or no can be curated.")
        y = Targets.from_candidates(old).y if old else np.empty(0)
        alphas, alpha = select_alphas(pipeline, prior)
        questions = {q.key: q for q in build_questions(new, len(old))}
        made = cls(
            pipeline, prior, candidates, groups, rows, base, OnlineRLS.empty(alpha=alpha), [], {},
            questions, homes, alphas, choice,
        )  # fmt: skip
        made.retrain(dict(enumerate(y.tolist())), alpha)
        made._density = rows.density()
        return made

    def targets(self, labels: Mapping[int, float]) -> Vector:
        """What is left for the answers to explain: ``y max(1, y f0) - f0``."""
        index = np.fromiter(labels, dtype=np.intp, count=len(labels))
        y = np.fromiter(labels.values(), dtype=np.float64, count=len(labels))
        base = self.prior_scores[index]
        return np.asarray(y * np.maximum(1.0, y * base) - base)

    def once(self, name: str, make: Callable[[], T]) -> T:
        """What ``make`` gives, made once between two changes."""
        if name not in self._known:
            self._known[name] = make()
        found: T = self._known[name]
        return found

    @property
    def index(self) -> Indices:
        """The taught rows as an array."""
        return self.once("index", lambda: np.array(self.labelled, dtype=np.intp))

    @property
    def answers(self) -> Vector:
        """The labels of the taught rows, in the model's order."""
        return self.once("answers", lambda: np.array([self.labels[row] for row in self.labelled]))

    @property
    def scores(self) -> Vector:
        """The scores of all candidates now."""
        return self.once(
            "scores", lambda: self.prior_scores + self.rows.scores(self.index, self.online.coef)
        )

    @property
    def heldout(self) -> Vector:
        """The scores of the taught rows by models that never saw their documents."""
        return self.once("heldout", lambda: self.prior_scores[self.index] + self.online.heldout)

    def heldout_score(self, row: int, values: Vector) -> float:
        """The score of a candidate by the model that knows no answer about its document.

        ``values`` are its kernel values with all.
        """
        known = self.once("groups", lambda: {self.groups[i] for i in self.labelled})
        if self.groups[row] not in known:
            return float(self.scores[row])
        coef = self.online.without(self.groups[row])
        return float(self.prior_scores[row] + values[self.index] @ coef)

    @property
    def threshold(self) -> float:
        """Where yes begins: the best F to be expected over all candidates, or what the prior had.

        Answers to chosen questions have more of one kind than the texts do; what a score means, the
        calibrated probability, they tell all the same.
        """
        if self.has_enough_answers:
            return self.once("cut", self._cut) or 0.0
        return float(self.prior.threshold or 0.0) if self.prior is not None else 0.0

    def _cut(self) -> float | None:
        if self._platt.slope <= 0:  # the scores say nothing yet
            return best_threshold(self.answers, self.heldout)
        return expected_f_threshold(self.scores, self._platt(self.scores))

    @property
    def _platt(self) -> PlattCalibration:
        return self.once("platt", lambda: PlattCalibration.fit(self.heldout, self.answers))

    @property
    def has_enough_answers(self) -> bool:
        """Whether there are enough answers of both kinds."""
        y = self.answers
        return bool(min((y > 0).sum(), (y <= 0).sum()) >= MIN_ANSWERS_PER_CLASS)

    def probability(self, scores: Vector) -> Vector | None:
        """How likely yes is, calibrated on held-out scores of the answers or of the prior."""
        if self.has_enough_answers:
            return np.asarray(self._platt(scores))
        return None if self.prior is None else self.prior.probability(scores)

    def retrain(self, labels: Mapping[int, float], alpha: float) -> None:
        """The model of these labels alone, trained at once."""
        index = np.fromiter(labels, dtype=np.intp, count=len(labels))
        K = self.rows.gram(index) if len(index) else np.empty((0, 0))
        groups = np.array([self.groups[i] for i in index], dtype=np.intp)
        self.online = OnlineRLS.of(K, self.targets(labels), groups, alpha=alpha)
        self.labelled, self.labels = index.tolist(), dict(labels)
        self._reach = None
        self._known.clear()

    def answer(self, question: Question, value: str) -> None:
        """Takes an answer in, and writes down how good the model is then."""
        with self.lock:
            self.learn(question, value)
            self.record_quality()

    def learn(self, question: Question, value: str) -> None:
        """Takes an answer in; the model is then the one trained with it."""
        labels = question.labels(value)
        with self.lock:
            if question.key in self.answered:
                raise ValueError(f"{question.key!r} was answered before. Undo that answer first.")
            for row, label in labels.items():
                self._add(row, label)
            self.answered[question.key] = value

    def remove_answer(self, question: Question) -> None:
        """Forgets an answer; nothing of it remains."""
        with self.lock:
            self.answered.pop(question.key, None)
            for row in question.rows:
                self._drop(row)
            if self.history:
                self.history.pop()
            if self.kappas:
                self.kappas.pop()

    def update_doc(self, doc: Doc) -> list[str]:
        """Takes a Doc in anew after its names changed; gives the answers that fell away with them.

        Its old rows stay, without a question; answers about pairs that are still there stay too.
        """
        with self.lock:
            old = [q for q in self.questions.values() if self.candidates[q.rows[0]].doc is doc]
            kept = {q.key: self.answered.pop(q.key) for q in old if q.key in self.answered}
            for question in old:
                del self.questions[question.key]
                for row in question.rows:
                    self._drop(row)
            self._extend([replace(c, label=None) for c in self.pipeline.task.candidates(doc)], doc)
            for key in [key for key in kept if key in self.questions]:
                value = self.answered[key] = kept.pop(key)
                for row, label in self.questions[key].labels(value).items():
                    self._add(row, label)
            return list(kept)

    def _extend(self, new: list[Candidate], doc: Doc) -> None:
        first = len(self.candidates)
        self.candidates += new
        self.groups += [self.group_of_doc[id(doc)]] * len(new)
        self.questions |= {q.key: q for q in build_questions(new, first)}
        if not new:
            return
        kernel, representation = self.pipeline.kernel, self.pipeline.representation
        if isinstance(self.rows, FeatureRows) and has_features(kernel):
            self.rows = self.rows.append(kernel.features(representation(new)))
        else:
            self.rows = build_rows(kernel, representation(self.candidates))
        more = np.zeros(len(new)) if self.prior is None else self.prior.score(new)
        self.prior_scores = np.concatenate([self.prior_scores, more])
        self._density = self.rows.density()
        self._reach = None
        self._known.clear()
        self._recent.clear()
        self._decided.clear()

    def _add(self, row: int, label: float) -> None:
        all_ = self.rows.kernel_row(row)
        target = float(self.targets({row: label})[0])
        own = float(self.rows.squared_norms[row])
        self.online = self.online.add(all_[self.index], own, target, self.groups[row])
        self._reach = self._reach and self._reach.add(all_)
        self.labelled.append(row)
        self.labels[row] = label
        near = all_ / np.sqrt(np.maximum(self.rows.squared_norms * own, 1e-300))
        self._recent.append((row, near))
        self._known.clear()

    def _drop(self, row: int) -> None:
        if row not in self.labels:
            return
        place = self.labelled.index(row)
        self.online = self.online.forget(place)
        self._reach = self._reach and self._reach.forget(place)
        self.labelled.remove(row)
        del self.labels[row]
        kept = [pair for pair in self._recent if pair[0] != row]
        self._recent = deque(kept, maxlen=MAX_RECENT_ANSWERS)
        self._known.clear()

    def record_quality(self) -> None:
        """Writes down how good the model is now, and how much it changed its mind."""
        index = self.index
        groups = np.array([self.groups[i] for i in index], dtype=np.intp)
        found = measure_quality(self.answers, self.heldout, groups) if len(index) else Quality()
        self.history.append(replace(found, answers=len(self.answered)))
        self._decided.append(self.scores >= self.threshold)
        self.kappas.append(cohen_kappa(self._decided[0], self._decided[-1]))

    def next_question(self) -> Question | None:
        """The open question that would teach most; None where all are answered.

        The best few by the scores of all answers are looked at again: by scores that know no
        answer about their own document, and by how far an answer would reach.
        """
        with self.lock:
            waiting = [q for q in self.questions.values() if q.key not in self.answered]
            if not waiting:
                return None
            first = self._values(self.scores)
            best = [max(first[row] for row in q.rows) for q in waiting]
            short = (
                SHORTLIST_SIZE
                if len(self.labelled) < MAX_LABELLED_FOR_VARIANCE
                else SHORTLIST_SIZE // 2
            )
            few = max(short // len(waiting[0].rows), 3)
            order = np.argsort(-merge_ties(best), kind="stable")[:few]
            return self._best([waiting[i] for i in order])

    def _values(self, scores: Vector, rows: Indices | None = None) -> Vector:
        every = np.arange(len(self.candidates)) if rows is None else rows
        near = self.once("near", self._nearest)
        return self.strategy.values(self._uncertain(scores), self._density[every], near[every])

    def _uncertain(self, scores: Vector) -> Vector:
        """How open the decisions on scores are, from 0 to 1."""
        spread = float(self.scores.std()) or 1.0
        p = sigmoid_scores(scores, self.threshold, spread / 2)
        return 4 * p * (1 - p)

    def _nearest(self) -> Vector:
        """How much like one of the last answers each candidate is."""
        near = np.zeros(len(self.candidates))
        for _, similarity in self._recent:
            np.maximum(near, similarity, out=near)
        return near

    def _best(self, few: Sequence[Question]) -> Question:
        rows = np.array([row for question in few for row in question.rows], dtype=np.intp)
        K = self.rows.kernel_columns(rows)
        scores = np.array([self.heldout_score(int(r), K[:, i]) for i, r in enumerate(rows)])
        found = self._values(scores, rows)
        if len(self.labelled) < MAX_LABELLED_FOR_VARIANCE:
            found = found * self._gains(rows, K) ** self.strategy.reach
        values = dict(zip(rows.tolist(), found.tolist(), strict=True))
        best = [max(values[row] for row in question.rows) for question in few]
        return few[int(argmax_first(best))]

    def _gains(self, rows: Indices, K: Matrix) -> Vector:
        """How much answers about rows would settle, where decisions are open."""
        reach = self._reach = self._reach or VarianceReduction.of(
            self.rows, self.index, self._first
        )
        weights = self._uncertain(self.scores[reach.sample])
        own = self.rows.squared_norms[rows]
        return reach.gains(self.online, K[self.index], K[reach.sample], own, weights)

    @property
    def _first(self) -> int:
        """The first row that is asked about; before it stand those one began with."""
        return min((question.rows[0] for question in self.questions.values()), default=0)

    def tune(self) -> float:
        """Chooses alpha anew and makes all answers old; meant for another thread.

        Answers may come and go meanwhile: they are taken in and forgotten once it is done.
        """
        with self.lock:
            labels, rows = dict(self.labels), self.rows
        index = np.fromiter(labels, dtype=np.intp, count=len(labels))
        if not len(index):
            return self.online.alpha
        groups = np.array([self.groups[i] for i in index], dtype=np.intp)
        K, t = rows.gram(index), self.targets(labels)
        alpha = self._best_alpha(K, t, groups, labels)
        made = OnlineRLS.of(K, t, groups, alpha=alpha)
        reach = (
            VarianceReduction.of(rows, index, self._first)
            if len(index) < MAX_LABELLED_FOR_VARIANCE
            else None
        )
        with self.lock:
            now, recent = dict(self.labels), self._recent
            self.online, self.labelled, self.labels = made, index.tolist(), dict(labels)
            self._reach = reach if rows is self.rows else None
            self._known.clear()
            for row in [row for row in labels if now.get(row) != labels[row]]:
                self._drop(row)
            for row, label in now.items():
                if row not in self.labels:
                    self._add(row, label)
            self._recent = recent
            self._known.clear()
        return alpha

    def _best_alpha(self, K: Any, t: Vector, groups: Indices, labels: Mapping[int, float]) -> float:
        y = np.fromiter(labels.values(), dtype=np.float64, count=len(labels))
        if len(np.unique(groups)) < 2 or min((y > 0).sum(), (y <= 0).sum()) < MIN_ANSWERS_PER_CLASS:
            return self.online.alpha
        targets = Targets(t, groups, np.arange(len(y)))
        heldout = RLS(self.alphas, select="squared_error").path(K, targets).heldout
        base = self.prior_scores[np.fromiter(labels, dtype=np.intp, count=len(labels))]
        values = score_alphas(heldout + base, replace(targets, y=y), "auc")
        return self.alphas[choose_largest(values, self.alphas)]
