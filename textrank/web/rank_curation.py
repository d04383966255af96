"""Curation of rankings in ``textrank curate``: people choose the best candidate of each query.

A ``RankQuestion`` is a query with its candidates, such as a sentence with its parses. A ``Choice``
says which candidate a person found best, and among which. ``RankLearner`` learns every choice by
``UpdatableRankRLS``, which adds and removes whole queries exactly, and says which question is most
in doubt. ``RankCuration`` writes every choice to an ``AnswerLog`` before it takes effect.
``build_rank_model`` exports the ranker, and ``RankCurationApp`` serves the page.

``active_learner`` and ``annotation`` do the same for tasks with yes-or-no answers.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from threading import RLock
from typing import Any
from urllib.parse import quote, unquote

import numpy as np
from spacy.tokens import Doc
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route

from textrank.candidates import Candidate, Targets, dedup_groups
from textrank.evaluation.sweep import Forecast, forecast_curve
from textrank.features import Indices, Vector, concat_rows
from textrank.learners.base import Fit, score_alphas
from textrank.learners.calibration import fit_calibration
from textrank.learners.online import UpdatableRankRLS
from textrank.learners.rankrls import RankRLS
from textrank.learners.reduced import SparseRLS
from textrank.metrics import choose_largest, merge_ties
from textrank.model import Model
from textrank.pipeline import Pipeline
from textrank.protocols import Task
from textrank.tasks.base import no_candidates_error
from textrank.web.active_learner import (
    AHEAD_ANSWERS,
    CHOICE_PREFIX,
    DEFAULT_ALPHAS,
    MIN_GAIN,
    MIN_NEARLY_STABLE_KAPPA,
    MIN_STABLE_KAPPA,
    POINT_ANSWERS,
    UNSURE,
    WINDOW_ANSWERS,
    FeatureRows,
    Rows,
    build_rows,
    with_single_kernel,
)
from textrank.web.annotation import (
    MAX_LISTED_ANSWERS,
    AnswerLog,
    Event,
    apply_change,
    clean_name,
    get_text,
    merge_feature_weights,
    serve_file,
    zip_model,
)
from textrank.web.app import Credentials, common_routes, not_found, render_page

MAX_TRAINING_CANDIDATES = 5000  # of annotated documents: their Gram matrix is kept
FIRST_TUNING_ANSWERS = 10  # alpha is chosen at this many choices, and whenever these have doubled
ORDERS = ("doubt", "text")  # of questions: smallest gap of the two best scores first, or as read
MAX_OPTIONS = 9  # candidates that the page shows at first, one per digit key
RECENT_ANSWERS = 20  # over which quality is shown beside that of all answers


@dataclass(frozen=True)
class RankQuestion:
    """Query whose candidates a person compares; it has at least two."""

    key: str  # document and query; the same after a restart
    document: str  # id of the document
    number: int  # of the query in the model
    rows: tuple[int, ...]  # row numbers of the candidates in the RankLearner
    doc: Doc  # the document, and the candidates' positions in ``Task.candidates`` of it
    positions: tuple[int, ...]


@dataclass(frozen=True)
class Choice:
    """Best candidate of a question among those that a person saw.

    Both are positions in ``RankQuestion.rows``. Nothing is learnt about candidates that were not
    shown.
    """

    chosen: int
    shown: tuple[int, ...]

    def check(self, question: RankQuestion) -> None:
        """Raise ValueError unless two or more different candidates were shown, the chosen too."""
        is_valid = all(0 <= position < len(question.rows) for position in self.shown)
        if not is_valid or len(set(self.shown)) < max(len(self.shown), 2):
            raise ValueError(
                f"{list(self.shown)!r:.80} are not two or more different candidates of "
                f"{question.key!r}, which has {len(question.rows)}."
            )
        if self.chosen not in self.shown:
            raise ValueError(f"candidate {self.chosen} was not shown. Choose one that was.")


def build_rank_questions(
    docs: Sequence[Doc], candidates: Sequence[Sequence[Candidate]], first_row: int = 0
) -> Iterator[RankQuestion]:
    """Yield the queries with two or more candidates as questions, in text order.

    ``candidates`` has one list per Doc; their rows are numbered from ``first_row`` on, questions
    from 0. Queries of a Doc are in the order of their first candidates. The key is the document id
    and the query, joined by "|"; if two queries have the same, that of the second ends in "#2".
    """
    times: Counter[str] = Counter()
    number = 0
    for doc, part in zip(docs, candidates, strict=True):
        queries: dict[str, list[int]] = {}
        for position, candidate in enumerate(part):
            queries.setdefault(candidate.query, []).append(position)
        for query, positions in queries.items():
            if len(positions) < 2:
                continue
            document = part[positions[0]].document
            key = f"{document}|{query}"
            times[key] += 1
            key = f"{key}#{times[key]}" if times[key] > 1 else key
            rows = tuple(first_row + position for position in positions)
            yield RankQuestion(key, document, number, rows, doc, tuple(positions))
            number += 1
        first_row += len(part)


@dataclass(frozen=True, eq=False)
class RankPoint:
    """Point of the learning curve of a ranker: its quality after some choices."""

    choices: int
    first: float  # share of the choices that are ranked first without their query
    best: Indices  # (q,) position of the best candidate of each question, in text order

    def agreement(self, other: RankPoint) -> float:
        """Return the share of questions with the same best candidate at both points."""
        return float((self.best == other.best).mean())


@dataclass(eq=False)
class RankLearner:
    """Queries, choices, and the ranker of these choices.

    The score of a candidate is ``f0(x) + sum_i a_i k(x_i, x)`` over the candidates that were shown:
    f0 is the score of the model that curation began with (``prior``; 0 without one), and the sum is
    RankRLS on the labels minus f0, which is ridge regression towards the weights of the prior. The
    labels of a choice are those of ``Task.choice_labels``. All pairs of a query count, with the
    difference of their labels (cost ``magnitude``), whatever cost the learner of the pipeline has;
    its alphas and ``normalised`` are used.

    After every change the model equals one that is trained from scratch on the current choices at
    the current alpha. n is the number of candidates; a row number is a position in ``candidates``.
    Methods that change the object hold ``lock``.
    """

    pipeline: Pipeline
    prior: Model | None
    candidates: list[Candidate]
    rows: Rows
    prior_scores: Vector  # (n,), f0
    questions: dict[str, RankQuestion]  # by key, in text order
    group_of_query: Mapping[int, int]  # documents that are held out together, by query number
    alphas: tuple[float, ...]
    alpha: float
    normalised: bool
    model: UpdatableRankRLS | None = None  # of labels minus f0; None without any
    index: Indices = field(default_factory=lambda: np.empty(0, dtype=np.intp))  # rows of the model
    labels: Vector = field(default_factory=lambda: np.empty(0))  # of these rows
    answered: dict[str, Choice | None] = field(default_factory=dict)  # None: unsure
    history: list[RankPoint] = field(default_factory=list)  # after choices, oldest first
    lock: RLock = field(default_factory=RLock, repr=False)
    _scores: Vector | None = field(default=None, repr=False)  # cleared by every change

    @classmethod
    def from_docs(
        cls,
        pipeline: Pipeline,
        docs: Sequence[Doc],
        *,
        prior: Model | None = None,
        training: Sequence[Doc] = (),
    ) -> RankLearner:
        """Build a learner that asks about the queries of ``docs``.

        It begins with the scores of ``prior``, with the gold labels of ``training``, with both or
        with nothing. The task of ``pipeline`` finds the candidates; everything else is taken from
        the pipeline of ``prior`` if there is one. Labelled candidates of ``training`` come first in
        ``candidates``. Gold labels of ``docs`` are ignored. Of several kernels that training would
        choose from, the first is used.

        Raises ValueError if the task does not rank; if no query has two candidates; if the task has
        no words to tell candidates apart (``Task.compare_candidates``); if ``prior`` has a second
        stage or heads; and for more than ``MAX_TRAINING_CANDIDATES`` in ``training``.
        """
        task = pipeline.task
        if not task.is_ranking:
            raise ValueError(f"task {task.name!r} does not rank. Use ActiveLearner.")
        if prior is not None and (prior.fit.second_stage is not None or prior.heads is not None):
            raise ValueError(
                "a model with a second stage or with heads cannot be taught to rank. Start from "
                "the pipeline, with --fresh."
            )
        old = _labelled_queries(task.find_candidates(training)) if training else []
        n_old = sum(len(query) for _, query in old)
        if n_old > MAX_TRAINING_CANDIDATES:
            raise ValueError(
                f"{n_old} candidates to train on first are more than {MAX_TRAINING_CANDIDATES}. "
                "Train a model with textrank train, and give it instead of the pipeline."
            )
        by_doc = [[replace(c, label=None) for c in part] for part in task.find_candidates(docs)]
        if not any(by_doc):
            raise no_candidates_error(task, len(docs))
        questions = list(build_rank_questions(docs, by_doc, n_old))
        candidates = [c for _, query in old for c in query] + [c for part in by_doc for c in part]
        _check_askable(task, questions, candidates)
        pipeline = with_single_kernel(pipeline if prior is None else prior.pipeline)
        names = dedup_groups([*training, *docs])
        numbers = {name: i for i, name in enumerate(dict.fromkeys(names))}
        groups = {id(d): numbers[n] for d, n in zip([*training, *docs], names, strict=True)}
        alphas, alpha, normalised = _learner_settings(pipeline, prior)
        learner = cls(
            pipeline=pipeline,
            prior=prior,
            candidates=candidates,
            rows=build_rows(pipeline.kernel, pipeline.representation(candidates)),
            prior_scores=np.zeros(len(candidates)) if prior is None else prior.score(candidates),
            questions={question.key: question for question in questions},
            group_of_query={
                **{question.number: groups[id(question.doc)] for question in questions},
                **{
                    len(questions) + i: groups[id(training[number])]
                    for i, (number, _) in enumerate(old)
                },
            },
            alphas=alphas,
            alpha=alpha,
            normalised=normalised,
        )
        if old:
            sizes = [len(query) for _, query in old]
            queries = np.repeat(len(questions) + np.arange(len(old)), sizes)
            labels = np.array([c.label for c in candidates[:n_old]], dtype=np.float64)
            learner._add(np.arange(n_old), labels, queries)
            learner.tune()
        return learner

    # Scores and doubt

    @property
    def scores(self) -> Vector:
        """Scores (n,) of all candidates by the current model, including the score of the prior.

        Cached until the model changes, so do not modify it. Takes ``lock``.
        """
        with self.lock:
            if self._scores is None:
                self._scores = self.prior_scores
                if self.model is not None:
                    self._scores = self._scores + self.rows.scores(self.index, self.model.coef)
            return self._scores

    def rank_options(self, question: RankQuestion) -> list[int]:
        """Return the positions of a question's candidates by decreasing score.

        Of equal scores the earlier candidate comes first.
        """
        scores = merge_ties(self.scores[list(question.rows)])
        return np.argsort(-scores, kind="stable").tolist()

    def gap(self, question: RankQuestion) -> float:
        """Return the difference between the two best scores of a question's candidates."""
        scores = np.sort(merge_ties(self.scores[list(question.rows)]))
        return float(scores[-1] - scores[-2])

    def next_question(
        self, taken: Collection[str] = (), *, by_doubt: bool = True
    ) -> RankQuestion | None:
        """Return the open question with the smallest gap, or with ``by_doubt`` False the first one.

        Of equal gaps the first in text order counts. Questions with keys in ``taken`` are returned
        only if no other is open. None if no question is open.
        """
        with self.lock:
            still_open = [q for key, q in self.questions.items() if key not in self.answered]
            free = [question for question in still_open if question.key not in taken]
            if not by_doubt:
                return next(iter(free or still_open), None)
            return min(free or still_open, key=self.gap, default=None)

    def rank_of_choice(self, question: RankQuestion, choice: Choice) -> float:
        """Return the rank, from 1, of the chosen candidate among the shown ones by the model.

        Every other candidate with an equal score adds one half, so that a model that cannot tell
        candidates apart ranks none first. Call it before the choice is learnt.
        """
        return rank_among(self.scores[[question.rows[i] for i in choice.shown]], choice)

    def heldout_ranks(self) -> dict[str, float]:
        """Return the rank of each choice by the model without its query, by key of the question.

        Ranks are those of ``rank_of_choice``, with scores of the model trained without the query.
        Unsure answers are left out, as are choices that are not yet in the model.
        """
        with self.lock:
            if self.model is None:
                return {}
            heldout = self.prior_scores[self.index] + self.model.heldout
            learnt = set(self.model.queries.tolist())
            return {
                key: rank_among(heldout[self.model.queries == self.questions[key].number], choice)
                for key, choice in self.answered.items()
                if choice is not None and self.questions[key].number in learnt
            }

    # Choices

    def learn(self, question: RankQuestion, choice: Choice | None) -> None:
        """Add a choice to the model, which is then the one trained with it.

        None, for unsure, is only remembered; a choice adds a point to the history. Alpha is chosen
        again when there are ``FIRST_TUNING_ANSWERS`` choices, and whenever their number has doubled
        since. Raises ValueError if the choice is not valid (``Choice.check``) or the question was
        answered before. Takes ``lock``.
        """
        with self.lock:
            self._remember(question, choice)
            if choice is None:
                return
            rows, labels = self._examples(question, choice)
            self._add(rows, labels, np.full(len(rows), question.number))
            ratio, rest = divmod(self.n_choices, FIRST_TUNING_ANSWERS)
            if not rest and ratio.bit_count() == 1:
                self.tune()
            self._record(self.n_choices)

    def learn_all(self, choices: Iterable[tuple[RankQuestion, Choice | None]]) -> None:
        """Learn several answers, ``POINT_ANSWERS`` choices at once, and choose alpha at the end.

        The history gets a point after each of these batches, at the alpha from before. Raises
        ValueError if a choice is not valid or its question was answered before; answers before the
        wrong one have then been learnt. Takes ``lock``.
        """
        parts: list[tuple[Indices, Vector, Indices]] = []
        with self.lock:
            n = self.n_choices
            try:
                for question, choice in choices:
                    self._remember(question, choice)
                    if choice is not None:
                        rows, labels = self._examples(question, choice)
                        parts.append((rows, labels, np.full(len(rows), question.number)))
            finally:
                for start in range(0, len(parts), POINT_ANSWERS):
                    part = parts[start : start + POINT_ANSWERS]
                    rows, labels, queries = map(np.concatenate, zip(*part, strict=True))
                    self._add(rows, labels, queries)
                    n += len(part)
                    self._record(n)
                if parts:
                    self.tune()

    def forget(self, question: RankQuestion) -> None:
        """Remove the answer to a question from the model exactly; alpha is not changed.

        After a choice, points of the history with more choices than are left are dropped; an unsure
        answer is only removed from ``answered``. Raises KeyError if the question has no answer.
        Takes ``lock``.
        """
        with self.lock:
            choice = self.answered.pop(question.key)
            if choice is None or self.model is None:
                return
            keep = self.model.queries != question.number
            self.model = self.model.forget(question.number) if keep.any() else None
            self.index, self.labels = self.index[keep], self.labels[keep]
            self.history = [point for point in self.history if point.choices <= self.n_choices]
            self._scores = None

    def tune(self) -> None:
        """Choose alpha by the share of correctly ordered pairs in held-out documents, and retrain.

        Of equally good alphas the largest is taken. ``alpha`` and ``model`` are replaced, the
        history stays. Nothing changes without choices, if all are about one document, or if no
        query has different labels. Takes ``lock``.
        """
        with self.lock:
            model = self.model
            if model is None:
                return
            groups = np.array([self.group_of_query[number] for number in model.queries.tolist()])
            targets = Targets(model.y, groups, model.queries)
            is_level = all(
                np.ptp(self.labels[model.queries == q]) == 0 for q in np.unique(model.queries)
            )
            if is_level or len(np.unique(groups)) < 2:
                return
            heldout = RankRLS(self.alphas, normalised=self.normalised).path(model.K, targets)
            scores = heldout.heldout + self.prior_scores[self.index]
            values = score_alphas(scores, replace(targets, y=self.labels), "disagreement")
            self.alpha = self.alphas[choose_largest(values, self.alphas)]
            self.model = UpdatableRankRLS.from_gram(
                model.K, model.y, model.queries, alpha=self.alpha, normalised=self.normalised
            )
            self._scores = None

    @property
    def n_choices(self) -> int:
        """Number of answers that are choices, not unsure."""
        return sum(choice is not None for choice in self.answered.values())

    def _record(self, choices: int) -> None:
        """Append a point with this number of choices to the history.

        Its share is that of the ranks of ``heldout_ranks`` that are 1, its best candidates those of
        ``rank_options`` for every question. Does not take the lock.
        """
        first = np.mean([rank == 1 for rank in self.heldout_ranks().values()])
        best = [self.rank_options(question)[0] for question in self.questions.values()]
        self.history.append(RankPoint(choices, float(first), np.array(best)))

    def _remember(self, question: RankQuestion, choice: Choice | None) -> None:
        """Store the first answer to a question without learning it.

        Raises ValueError for a choice that is not valid, or if the question was answered before.
        """
        if choice is not None:
            choice.check(question)
        if question.key in self.answered:
            raise ValueError(f"{question.key!r} was answered before. Undo that answer first.")
        self.answered[question.key] = choice

    def _examples(self, question: RankQuestion, choice: Choice) -> tuple[Indices, Vector]:
        """Return row numbers and labels of the candidates shown, in the order of ``shown``.

        Labels are those of ``Task.choice_labels``.
        """
        rows = np.array([question.rows[i] for i in choice.shown], dtype=np.intp)
        shown = [self.candidates[row] for row in rows]
        return rows, self.pipeline.task.choice_labels(shown, choice.shown.index(choice.chosen))

    def _add(self, rows: Indices, labels: Vector, queries: Indices) -> None:
        """Add labelled rows to the model; arguments have one entry per row.

        ``queries`` are numbers that the model does not have yet. The model learns ``labels`` minus
        the scores of the prior; ``labels`` are stored as given. Replaces ``model``, ``index`` and
        ``labels`` and drops the cached scores. Does not take the lock.
        """
        residuals = labels - self.prior_scores[rows]
        gram = self.rows.gram(rows)
        if self.model is None:
            self.model = UpdatableRankRLS.from_gram(
                gram, residuals, queries, alpha=self.alpha, normalised=self.normalised
            )
        else:
            cross = self.rows.cross_gram(rows, self.index)
            self.model = self.model.add(cross, gram, residuals, queries)
        self.index = np.concatenate([self.index, rows])
        self.labels = np.concatenate([self.labels, labels])
        self._scores = None

    # Words

    def describe_options(self, question: RankQuestion, shown: Sequence[int]) -> list[list[str]]:
        """Return the lines of text by which a person can tell candidates apart, one list each.

        ``shown`` are positions in ``question.rows``. The lines are those of
        ``Task.compare_candidates``.
        """
        return _compare(self.pipeline.task, question, self.candidates, shown)

    def fingerprint(self, question: RankQuestion) -> str:
        """Return a checksum (16 hex digits) of the lines that describe all candidates, in order.

        A stored choice is a position. If a parser or a setting has changed, the checksum differs,
        and the position may mean another candidate.
        """
        lines = self.describe_options(question, range(len(question.rows)))
        return hashlib.sha256(json.dumps(lines).encode()).hexdigest()[:16]


def rank_among(scores: Vector, choice: Choice) -> float:
    """Return the rank of the chosen candidate, from 1.

    Every other candidate with an equal score adds one half. ``scores`` are those of
    ``choice.shown``, in that order.

    >>> rank_among(np.array([0.5, 0.9, 0.5]), Choice(chosen=7, shown=(7, 3, 4)))
    2.5
    """
    merged = merge_ties(scores)
    chosen_score = merged[choice.shown.index(choice.chosen)]
    return float(1 + (merged > chosen_score).sum() + ((merged == chosen_score).sum() - 1) / 2)


def _labelled_queries(by_doc: Sequence[Sequence[Candidate]]) -> list[tuple[int, list[Candidate]]]:
    """Return the queries with gold labels, in order, each with the number of its document from 0.

    Candidates without a label are left out.
    """
    queries: dict[tuple[int, str], list[Candidate]] = {}
    for number, part in enumerate(by_doc):
        for candidate in part:
            if candidate.label is not None:
                queries.setdefault((number, candidate.query), []).append(candidate)
    return [(number, query) for (number, _), query in queries.items()]


def _check_askable(
    task: Task, questions: Sequence[RankQuestion], candidates: Sequence[Candidate]
) -> None:
    """Raise ValueError if there is no question, or the candidates cannot be told apart.

    Only the first question is tried: each of its candidates must have at least one line of text
    (``Task.compare_candidates``).
    """
    if not questions:
        raise ValueError(
            f"task {task.name!r}: no query has two candidates, so there is nothing to choose from. "
            "Give texts whose queries have several candidates."
        )
    first = questions[0]
    if not all(_compare(task, first, candidates, range(len(first.rows)))):
        raise ValueError(
            f"task {task.name!r} ranks candidates that it cannot describe to a person, so they "
            "cannot be curated. Tasks that can: parse_ranking, and retrieve with texts."
        )


def _compare(
    task: Task, question: RankQuestion, candidates: Sequence[Candidate], shown: Iterable[int]
) -> list[list[str]]:
    """Return ``Task.compare_candidates`` of the candidates at positions of a question."""
    by_position = {question.positions[i]: candidates[question.rows[i]] for i in shown}
    return task.compare_candidates(question.doc, by_position)


def _learner_settings(
    pipeline: Pipeline, prior: Model | None
) -> tuple[tuple[float, ...], float, bool]:
    """Return the alphas to choose from, the one to begin with, and ``normalised``.

    The alphas are those of ``prior``; if it is None, those of the pipeline's learner, beginning
    with the middle one. ``normalised`` is always the learner's. A learner other than RankRLS or
    SparseRLS counts as one with DEFAULT_ALPHAS and ``normalised`` False.
    """
    learner = pipeline.learner
    values: Sequence[float] = DEFAULT_ALPHAS
    normalised = False
    if isinstance(learner, RankRLS | SparseRLS):
        values, normalised = learner.alphas, learner.normalised
    if prior is not None:
        return tuple(prior.fit.alphas), prior.fit.alpha, normalised
    alphas = tuple(float(alpha) for alpha in values)
    return alphas, alphas[len(alphas) // 2], normalised


@dataclass(frozen=True)
class RankQuality:
    """Shares of choices whose best candidate the model ranked first; None without choices.

    Only the candidates that were shown are ranked. ``progressive`` uses for every choice the model
    before it was learnt, ``recent`` the same for the last ``RECENT_ANSWERS``; ``heldout`` uses the
    current model without the query. ``chance`` is the share that a random order would reach.
    """

    answers: int
    progressive: float | None = None
    recent: float | None = None
    heldout: float | None = None
    chance: float | None = None


def measure_rank_quality(
    ranks: Sequence[float], heldout: Sequence[float], sizes: Sequence[int]
) -> RankQuality:
    """Return the quality of choices from their ranks, oldest first.

    ``ranks`` are those before a choice was learnt, ``heldout`` those by the model without its
    query, ``sizes`` the numbers of candidates shown; all have one entry per choice. Metrics are
    shares of ranks that are 1, ``recent`` that of the last ``RECENT_ANSWERS`` of ``ranks``, and
    ``chance`` the mean of 1 / size; all are None without choices.

    >>> measure_rank_quality([1.0, 2.0], [1.0, 1.0], [2, 4])
    RankQuality(answers=2, progressive=0.5, recent=0.5, heldout=1.0, chance=0.375)
    """
    if not ranks:
        return RankQuality(0)
    is_first = np.array(ranks) == 1
    return RankQuality(
        len(ranks),
        float(is_first.mean()),
        float(is_first[-RECENT_ANSWERS:].mean()),
        float((np.array(heldout) == 1).mean()),
        float((1 / np.array(sizes)).mean()),
    )


def forecast_ranking(history: Sequence[RankPoint]) -> list[Forecast]:
    """Forecast the held-out share ranked first after further choices.

    The result has one entry for each of AHEAD_ANSWERS. ``history`` has points with increasing
    numbers of choices, the last one now. Points of the curve are at least ``POINT_ANSWERS`` choices
    apart, counted from the last, and have at least as many choices. The result is empty with fewer
    than ``MIN_FORECAST_POINTS`` of them.
    """
    points: list[RankPoint] = []
    for point in reversed(history):
        is_apart = not points or point.choices <= points[-1].choices - POINT_ANSWERS
        if is_apart and point.choices >= POINT_ANSWERS:
            points.append(point)
    points.reverse()
    return forecast_curve([p.choices for p in points], [p.first for p in points], AHEAD_ANSWERS)


def advise_ranking(history: Sequence[RankPoint]) -> tuple[str, str]:
    """Return whether more choices help ("go on", "slower" or "enough") and a sentence why.

    ``history`` is as in ``forecast_ranking``. "enough" is returned if the held-out share rose by
    less than MIN_GAIN over the last WINDOW_ANSWERS choices, and the best candidates of nearly all
    questions were stable: at every point of the last three windows, a share of at least
    ``MIN_STABLE_KAPPA`` of them was the same one window before; or of at least
    ``MIN_NEARLY_STABLE_KAPPA`` if also the forecast of the share rises by less than MIN_GAIN, even
    at the upper end of its interval. "slower" is returned if only the share did not rise, "go on"
    otherwise and with fewer than four windows of choices.
    """
    if not history or history[-1].choices < POINT_ANSWERS:
        return "go on", f"Too few choices to measure anything: {POINT_ANSWERS} are needed."
    last = history[-1]
    before = _point_before(history, last.choices - WINDOW_ANSWERS)
    if before is None or last.choices < 4 * WINDOW_ANSWERS:
        return "go on", "The model still learns with every choice."
    gain = last.first - before.first
    recent = [p for p in history if p.choices > last.choices - 3 * WINDOW_ANSWERS]
    pairs = [(p, _point_before(history, p.choices - WINDOW_ANSWERS)) for p in recent]
    agreement = min(point.agreement(other) for point, other in pairs if other is not None)
    if agreement >= MIN_STABLE_KAPPA and gain < MIN_GAIN:
        return "enough", (
            f"The last {3 * WINDOW_ANSWERS} choices changed the best candidate of hardly any "
            f"question ({agreement:.0%} stayed) and did not raise the held-out share: more "
            "choices would change little."
        )
    forecasts = forecast_ranking(history)
    is_flat = bool(forecasts) and forecasts[-1].gain_high < MIN_GAIN
    if agreement >= MIN_NEARLY_STABLE_KAPPA and gain < MIN_GAIN and is_flat:
        return "enough", (
            f"{forecasts[-1].ahead} more choices are expected to raise the held-out share by at "
            f"most {100 * forecasts[-1].gain_high:.1f}, and the last {3 * WINDOW_ANSWERS} changed "
            f"the best candidate of few questions ({agreement:.0%} stayed)."
        )
    if gain < MIN_GAIN:
        return "slower", f"The last {WINDOW_ANSWERS} choices did not raise the held-out share."
    words = f"The last {WINDOW_ANSWERS} choices raised the held-out share by {100 * gain:.1f}."
    return "go on", words


def _point_before(history: Sequence[RankPoint], choices: int) -> RankPoint | None:
    """Return the last point with at most so many choices; None if there is none."""
    return next((point for point in reversed(history) if point.choices <= choices), None)


class RankCuration:
    """RankLearner whose every change is logged to disk before it takes effect.

    Started again with the same texts and log, it replays all answers and continues. ``who`` is the
    name of the person if a request names none. Every question is answered once; several people get
    different questions, and each can undo only their own answers. Thread-safe.

    An answer is logged with the candidates that were shown, the rank of the chosen one before it
    was learnt, and the checksum of the question's candidates. If a parser or a setting has changed
    since, the checksum differs and the answer goes to ``lost_answers``: its position may mean
    another candidate.
    """

    def __init__(self, learner: RankLearner, answers: AnswerLog, who: str) -> None:
        """Replay the answers of the log, which changes the learner.

        ``who`` is the person if a request names none.
        """
        self.learner, self.answers, self.who = learner, answers, who
        self.active_events: list[Event] = []  # of answers that are learnt, in their order
        self.lost_answers: list[str] = []  # keys of questions that changed or do not exist
        self._lock = RLock()
        self._orders: dict[str, str] = {}  # by person; "doubt" if missing
        self._questions: dict[str, RankQuestion] = {}  # handed out and not yet answered, by person
        self._replay()

    def _replay(self) -> None:
        """Learn the answers of the log, with one training at the end.

        Of several answers to a question the first counts. Answers to questions that do not exist,
        or whose candidates have changed, go to ``lost_answers``.
        """
        choices: dict[str, tuple[RankQuestion, Choice | None]] = {}
        for event in self.answers.active_events():
            question = self.learner.questions.get(event.question)
            details = json.loads(event.details or "{}")
            is_same = question is not None and (
                details.get("candidates") == self.learner.fingerprint(question)
            )
            if question is None or not is_same:
                self.lost_answers.append(event.question)
            elif event.question not in choices:
                choices[event.question] = question, _choice_of_event(event)
                self.active_events.append(event)
        self.learner.learn_all(choices.values())

    # Actions of people

    def current_question(self, who: str | None = None) -> RankQuestion | None:
        """Return the open question of a person, or choose a new one; None if none is left.

        The same question is returned until it is answered or the person chooses another order.
        ``who`` None is the person of the curation.
        """
        person = who or self.who
        with self._lock:
            question = self._questions.pop(person, None)
            if question is None or question.key in self.learner.answered:
                taken = {held.key for held in self._questions.values()}
                by_doubt = self._orders.get(person, "doubt") == "doubt"
                question = self.learner.next_question(taken, by_doubt=by_doubt)
            if question is not None:
                self._questions[person] = question
            return question

    def set_order(self, order: str, who: str | None = None) -> None:
        """Choose the order of a person's questions, one of ``ORDERS``, and give up the open one.

        "doubt" asks first where the two best candidates have the closest scores, "text" asks in the
        order of the texts. Raises ValueError for another value. ``who`` None is the person of the
        curation.
        """
        if order not in ORDERS:
            raise ValueError(f"{order!r:.60} is not an order. Available: {', '.join(ORDERS)}.")
        with self._lock:
            self._orders[who or self.who] = order
            self._questions.pop(who or self.who, None)

    def answer(
        self, key: str, value: str, shown: Sequence[int] = (), who: str | None = None
    ) -> None:
        """Log an answer to a question and learn it; ``key`` is that of the question.

        ``value`` is "unsure" or "choose:" with the position of the best candidate, and ``shown``
        the positions of all candidates that the person saw, not used for "unsure". ``who`` None is
        the person of the curation. Raises ValueError, before anything is written, if the question
        does not exist or is answered, or the choice is not valid.
        """
        with self._lock:
            question = self.learner.questions.get(key)
            if question is None or key in self.learner.answered:
                raise ValueError("this question was answered or does not exist. Reload the page.")
            details: dict[str, Any] = {"candidates": self.learner.fingerprint(question)}
            choice = None if value == UNSURE else _parse_choice(value, shown)
            if choice is not None:
                choice.check(question)
                rank = self.learner.rank_of_choice(question, choice)
                details |= {"shown": list(choice.shown), "rank": rank}
            event = self.answers.append(
                "answer",
                who or self.who,
                document=question.document,
                question=key,
                value=value,
                details=json.dumps(details),
            )
            self.active_events.append(event)
            self.learner.learn(question, choice)

    def undo(self, who: str | None = None) -> None:
        """Undo the last answer of a person and ask the question again; those of others stay.

        Alpha is not changed. ``who`` None is the person of the curation. Raises ValueError if there
        is nothing to undo.
        """
        person = who or self.who
        with self._lock:
            event = next((e for e in reversed(self.active_events) if e.who == person), None)
            if event is None:
                raise ValueError("there is nothing of yours to undo.")
            self.answers.append("undo", person, document=event.document, undoes=event.id)
            self.active_events.remove(event)
            question = self.learner.questions[event.question]
            self.learner.forget(question)
            self._questions[person] = question

    # Results

    def quality(self) -> RankQuality:
        """Return the quality over all choices that are not undone; unsure answers do not count.

        Ranks before a choice was learnt are those of the log, held-out ranks those of the current
        model (``RankLearner.heldout_ranks``).
        """
        with self._lock:
            heldout = self.learner.heldout_ranks()
            events = [event for event in self.active_events if event.value != UNSURE]
            details = [json.loads(event.details) for event in events]
            return measure_rank_quality(
                [row["rank"] for row in details],
                [heldout[event.question] for event in events],
                [len(row["shown"]) for row in details],
            )

    def choices(self) -> Iterator[dict[str, Any]]:
        """Yield each choice as a row of plain values, in the order of the answers.

        Keys: ``document``, ``question``, ``text``, ``who``, ``at``, ``chosen`` (position of the
        candidate in its query), ``shown``, ``labels`` (those that the model learnt for the
        candidates shown, in that order) and ``describes`` (the lines about the chosen one). Unsure
        answers are left out.
        """
        with self._lock:
            events = [event for event in self.active_events if event.value != UNSURE]
        learner = self.learner
        for event in events:
            question, choice = learner.questions[event.question], _choice_of_event(event)
            if choice is None:
                continue
            place = choice.shown.index(choice.chosen)
            shown = [learner.candidates[question.rows[i]] for i in choice.shown]
            yield {
                "document": event.document,
                "question": event.question,
                "text": shown[0].doc.text,
                "who": event.who,
                "at": event.at,
                "chosen": choice.chosen,
                "shown": list(choice.shown),
                "labels": learner.pipeline.task.choice_labels(shown, place).tolist(),
                "describes": learner.describe_options(question, choice.shown)[place],
            }

    def state(self, who: str | None = None, limit: int = MAX_OPTIONS) -> dict[str, Any]:
        """Return everything the page shows to a person, as plain values.

        The best ``limit`` candidates of the question are shown, but at least two. Keys:
        ``question`` (``_describe`` of ``current_question``, or None), the numbers of questions
        ``answered`` and ``total`` and of ``lost`` answers, ``order``, ``alpha``, ``quality``
        (fields of ``RankQuality``), ``advice`` (``word``, ``why``), ``forecasts`` (of the held-out
        share, as ``Forecast``) and ``last`` (the person's last ``MAX_LISTED_ANSWERS`` answers,
        newest first).
        """
        person = who or self.who
        with self._lock, self.learner.lock:
            question = self.current_question(person)
            last = [e for e in reversed(self.active_events) if e.who == person]
            word, why = advise_ranking(self.learner.history)
            return {
                "question": None if question is None else self._describe(question, max(limit, 2)),
                "answered": len(self.learner.answered),
                "total": len(self.learner.questions),
                "lost": len(self.lost_answers),
                "order": self._orders.get(person, "doubt"),
                "alpha": self.learner.alpha,
                "quality": _describe_quality(self.quality()),
                "advice": {"word": word, "why": why},
                "forecasts": [asdict(f) for f in forecast_ranking(self.learner.history)],
                "last": [self._describe_event(event) for event in last[:MAX_LISTED_ANSWERS]],
            }

    def _describe(self, question: RankQuestion, limit: int) -> dict[str, Any]:
        """Return a question as plain values, with its ``limit`` best candidates as ``options``.

        Keys: ``key``, ``document``, ``text`` (of the whole document), ``candidates`` (their number)
        and ``options``, best score first, each with ``position``, ``score`` and ``lines``.
        """
        learner = self.learner
        shown = learner.rank_options(question)[:limit]
        lines = learner.describe_options(question, shown)
        return {
            "key": question.key,
            "document": question.document,
            "text": learner.candidates[question.rows[0]].doc.text,
            "candidates": len(question.rows),
            "options": [
                {
                    "position": position,
                    "score": float(learner.scores[question.rows[position]]),
                    "lines": option_lines,
                }
                for position, option_lines in zip(shown, lines, strict=True)
            ],
        }

    def _describe_event(self, event: Event) -> dict[str, Any]:
        """Return an answer as plain values: ``text``, ``document``, ``value`` and ``rank``.

        ``text`` are the first 80 characters of the document, ``value`` is "chosen" or "unsure". The
        rank is that of the chosen candidate before the answer was learnt, None for unsure.
        """
        question = self.learner.questions[event.question]
        text = self.learner.candidates[question.rows[0]].doc.text
        rank = json.loads(event.details).get("rank")
        value = UNSURE if event.value == UNSURE else "chosen"
        return {"text": text[:80], "document": event.document, "value": value, "rank": rank}


def _describe_quality(quality: RankQuality) -> dict[str, Any]:
    """Return the fields of a quality as a dictionary."""
    return {
        "answers": quality.answers,
        "progressive": quality.progressive,
        "recent": quality.recent,
        "heldout": quality.heldout,
        "chance": quality.chance,
    }


def _parse_choice(value: str, shown: Sequence[int]) -> Choice:
    """Return the choice that a value such as "choose:3" means; raise ValueError for another form.

    ``shown`` are the positions that the person saw. Positions are not checked, see
    ``Choice.check``.
    """
    number = value.removeprefix(CHOICE_PREFIX)
    if not value.startswith(CHOICE_PREFIX) or not (number.isascii() and number.isdigit()):
        raise ValueError(f"{value!r:.60} is not an answer. Available: {UNSURE}, choose:NUMBER.")
    return Choice(int(number), tuple(shown))


def _choice_of_event(event: Event) -> Choice | None:
    """Return the choice of a logged answer; None for unsure."""
    if event.value == UNSURE:
        return None
    return _parse_choice(event.value, json.loads(event.details)["shown"])


# Export


def build_rank_model(learner: RankLearner) -> Model:
    """Return the ranker of all choices so far, with the prior included; the learner is not changed.

    Its threshold and calibration are those of the prior, if there is one, since choices do not say
    from which score on a candidate is good; otherwise they are chosen on the held-out scores of the
    choices, each by a model without its query. Held-out scores and labels are those of the prior,
    then those of the choices. ``meta`` is that of the prior; the number of choices is added as
    ``curated`` unless it has this key. Raises ValueError if there is neither a choice nor a prior,
    or the training candidates of the prior cannot be joined with those of the choices
    (``concat_rows``).
    """
    with learner.lock:
        prior, model, index, y = learner.prior, learner.model, learner.index, learner.labels
        if model is None and prior is None:
            raise ValueError("there is no answer to train on yet. Choose a candidate first.")
        coef = np.empty(0) if model is None else model.coef
        heldout = np.empty(0) if model is None else learner.prior_scores[index] + model.heldout
        fit = Fit((learner.alpha,), learner.alpha, coef, heldout[None])
        curated = sum(choice is not None for choice in learner.answered.values())
    names, support = None, None
    if isinstance(learner.rows, FeatureRows):
        names, coef = merge_feature_weights(learner.rows, index, coef, prior)
    else:
        labelled = [learner.candidates[row] for row in index]
        support = learner.pipeline.representation(labelled) if labelled else None
        if prior is not None:
            support = prior.support if support is None else concat_rows(prior.support, support)
            coef = np.concatenate([prior.fit.coef, coef])
    meta = {"curated": curated, **(prior.meta if prior is not None else {})}
    if prior is None:
        threshold = learner.pipeline.task.threshold(y, heldout)
        calibration = fit_calibration(heldout, y)
    else:
        threshold, calibration = prior.threshold, prior.calibration
        heldout, y = np.concatenate([prior.heldout, heldout]), np.concatenate([prior.labels, y])
    fit = replace(fit, coef=coef)
    return Model(
        *(learner.pipeline, fit, support, names, threshold, heldout, y, meta),
        calibration=calibration,
    )


# The application


@dataclass(frozen=True)
class RankCurationApp:
    """Web application of a curation of rankings; ``title`` is the heading of the page."""

    curation: RankCuration
    title: str
    credentials: Credentials

    def app(self) -> Starlette:
        """Return the application; it checks no token, so put ``GuardMiddleware`` in front.

        GET the page ``/`` and ``/api/state``; POST ``/api/answer``, ``/api/undo`` and
        ``/api/order``; GET ``model.zip``, ``answers.jsonl`` and ``choices.jsonl`` below
        ``/export``; and ``common_routes``. Other addresses give a page of status 404.
        """
        routes = [
            Route("/", self.index),
            Route("/api/state", self.state),
            Route("/api/answer", self.answer, methods=["POST"]),
            Route("/api/undo", self.undo, methods=["POST"]),
            Route("/api/order", self.order, methods=["POST"]),
            Route("/export/model.zip", self.model),
            Route("/export/answers.jsonl", self.answers),
            Route("/export/choices.jsonl", self.choices),
        ]
        return Starlette(
            routes=[*routes, *common_routes()],
            exception_handlers={404: lambda *_: not_found("There is no such page.")},
        )

    def index(self, request: Request) -> Response:
        """Serve the page; its script fetches the first question.

        A cookie keeps the person's name for a browser. The name is that in the address (parameter
        ``as``), else that of an earlier cookie, else that of the curation.
        """
        person = clean_name(request.query_params.get("as", "")) or self._person(request)
        values = {"title": self.title, "csrf": self.credentials.csrf, "who": person}
        response = render_page("rank.html", {**values, "orders": ORDERS})
        response.set_cookie(self._cookie_name, quote(person), httponly=True, samesite="strict")
        return response

    @property
    def _cookie_name(self) -> str:
        """Name of the cookie with the person's name; like that of the token, it has the port."""
        return f"textrank_curator_{self.credentials.port}"

    def _person(self, request: Request) -> str:
        """Return the name of the person who sends a request.

        It is that of the cookie, or ``curation.who`` if there is none.
        """
        return clean_name(unquote(request.cookies.get(self._cookie_name, ""))) or self.curation.who

    def _state(self, request: Request) -> dict[str, Any]:
        """Return the state for a request; its parameter ``limit`` is the number of candidates.

        ``MAX_OPTIONS`` is used if it is missing or not a number of at most six digits.
        """
        limit = request.query_params.get("limit", "")
        is_number = limit.isascii() and limit.isdigit() and len(limit) < 7
        return self.curation.state(self._person(request), int(limit) if is_number else MAX_OPTIONS)

    def state(self, request: Request) -> Response:
        """Serve ``RankCuration.state`` of the person as JSON; see ``_state`` for parameters."""
        return JSONResponse(self._state(request))

    async def answer(self, request: Request) -> Response:
        """Log and learn an answer, and serve the new state; status 422 if it is not allowed.

        JSON body: ``question``, ``value`` and, unless it is "unsure", ``shown``.
        """

        def change(body: dict[str, Any]) -> dict[str, Any]:
            """Check the fields of the body, learn the answer and return the new state."""
            shown = body.get("shown", [])
            if not isinstance(shown, list) or any(type(i) is not int for i in shown):
                raise ValueError("'shown' must be a list of whole numbers.")
            question, value = get_text(body, "question"), get_text(body, "value")
            self.curation.answer(question, value, shown, self._person(request))
            return self._state(request)

        return await apply_change(request, change)

    async def undo(self, request: Request) -> Response:
        """Undo the last answer of the person and serve the new state.

        Status 422 if there is none.
        """

        def change(_: dict[str, Any]) -> dict[str, Any]:
            """Undo the answer and return the new state; the body is not used."""
            self.curation.undo(self._person(request))
            return self._state(request)

        return await apply_change(request, change)

    async def order(self, request: Request) -> Response:
        """Choose the order of the person's questions (JSON body: ``order``); serve the new state.

        Status 422 if it is not one of ``ORDERS``.
        """

        def change(body: dict[str, Any]) -> dict[str, Any]:
            """Choose the order that the body names and return the new state."""
            self.curation.set_order(get_text(body, "order"), self._person(request))
            return self._state(request)

        return await apply_change(request, change)

    def model(self, _: Request) -> Response:
        """Serve the trained ranker as a zip file; status 422 if there is none."""
        learner = self.curation.learner
        return serve_file(lambda: (zip_model(build_rank_model(learner)), "model.zip"))

    def answers(self, _: Request) -> Response:
        """Serve all events (who answered what and when) as JSON lines."""
        return _serve_lines(self.curation.answers.to_json_lines(), "answers.jsonl")

    def choices(self, _: Request) -> Response:
        """Serve the choices with the labels that were learnt, one JSON line each."""
        rows = self.curation.choices()
        lines = (json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
        return _serve_lines(lines, "choices.jsonl")


def _serve_lines(lines: Iterator[str], name: str) -> Response:
    """Serve JSON lines, each with its line feed, as a download with this file name."""
    headers = {"content-disposition": f'attachment; filename="{name}"'}
    return StreamingResponse(lines, media_type="application/x-ndjson", headers=headers)
