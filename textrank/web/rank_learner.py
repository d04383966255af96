"""Active learning of rankings: which candidate of a query is best, and the model of the choices.

A ``RankQuestion`` is a query with its candidates, such as a sentence with its parses. A ``Choice``
says which candidate a person found best, and among which. ``RankLearner`` learns every choice by
``UpdatableRankRLS``, which adds and removes whole queries exactly, and says which question is most
in doubt. ``ActiveLearner`` does the same for tasks with yes-or-no answers.

``textrank.web.rank_curation`` stores the choices and serves the page.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from threading import RLock

import numpy as np
from spacy.tokens import Doc

from textrank.candidates import Candidate, Targets, dedup_groups
from textrank.features import Indices, Vector
from textrank.learners.base import score_alphas
from textrank.learners.online import UpdatableRankRLS
from textrank.learners.rankrls import RankRLS
from textrank.learners.reduced import SparseRLS
from textrank.metrics import choose_largest, merge_ties
from textrank.model import Model
from textrank.pipeline import Pipeline
from textrank.protocols import Task
from textrank.tasks.base import no_candidates_error
from textrank.web.active_learner import (
    DEFAULT_ALPHAS,
    POINT_ANSWERS,
    Rows,
    build_rows,
    with_single_kernel,
)

MAX_TRAINING_CANDIDATES = 5000  # of annotated documents: their Gram matrix is kept
FIRST_TUNING_ANSWERS = 10  # alpha is chosen at this many choices, and whenever these have doubled


@dataclass(frozen=True)
class RankQuestion:
    """A query whose candidates a person compares; it has at least two."""

    key: str  # document and query; the same after a restart
    document: str  # id of the document
    number: int  # of the query in the model
    rows: tuple[int, ...]  # row numbers of the candidates in the RankLearner
    doc: Doc  # the document, and the candidates' positions in ``Task.candidates`` of it
    positions: tuple[int, ...]


@dataclass(frozen=True)
class Choice:
    """The best candidate of a question among those that a person saw.

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
    """Yield the queries with two or more candidates, in text order.

    ``candidates`` has one list per Doc; their rows are numbered from ``first_row`` on. If two
    queries have the same document id and name, the key of the second gets a number ("#2").
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
    """A ranker after some choices, a point of its learning curve."""

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

    After every change the model equals one that is trained from scratch on the present choices at
    the present alpha. n is the number of candidates; a row number is a position in ``candidates``.
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
        with nothing. Candidates are those of the task of ``pipeline``; otherwise the pipeline of
        ``prior`` is used if there is one. Labelled candidates of ``training`` come first in
        ``candidates``. Gold labels of ``docs`` are ignored. Of several kernels that training would
        choose from, the first is used.

        Raises ValueError if the task does not rank; if no query has two candidates; if the task
        has no words to tell candidates apart (``Task.compare_candidates``); if ``prior`` has a
        second stage or heads; and for more than ``MAX_TRAINING_CANDIDATES`` in ``training``.
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
        """Scores (n,) of all candidates by the present model, that of the prior included."""
        with self.lock:
            if self._scores is None:
                self._scores = self.prior_scores
                if self.model is not None:
                    self._scores = self._scores + self.rows.scores(self.index, self.model.coef)
            return self._scores

    def rank_options(self, question: RankQuestion) -> list[int]:
        """Return the positions of a question's candidates, the best score first.

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
        """Return the open question with the smallest gap, or with ``by_doubt`` False the first.

        Of equal gaps the first in text order counts. Questions with keys in ``taken`` are returned
        only if no other is open; None if none is.
        """
        with self.lock:
            still_open = [q for key, q in self.questions.items() if key not in self.answered]
            free = [question for question in still_open if question.key not in taken]
            if not by_doubt:
                return next(iter(free or still_open), None)
            return min(free or still_open, key=self.gap, default=None)

    def rank_of_choice(self, question: RankQuestion, choice: Choice) -> float:
        """Return the rank, from 1, of the chosen candidate among the shown ones by the model.

        Ties count one half each, so that a model that cannot tell candidates apart ranks none
        first. Call it before the choice is learnt.
        """
        return rank_among(self.scores[[question.rows[i] for i in choice.shown]], choice)

    def heldout_ranks(self) -> dict[str, float]:
        """Return the rank of each choice by the model without its query, by key of the question.

        Ranks are those of ``rank_of_choice``. Unsure answers are left out, and choices that are
        not yet in the model.
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
        """Learn a choice; None, for unsure, is only remembered.

        The model is then the one trained with it. Alpha is chosen again at
        ``FIRST_TUNING_ANSWERS`` choices and whenever their number has doubled. Raises ValueError if
        the choice is not valid (``Choice.check``) or the question was answered before.
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

        The history gets a point after each of these parts, at the alpha before. Raises ValueError
        if a choice is not valid or its question was answered before; answers before the wrong one
        are then learnt. Takes ``lock``.
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
        """Unlearn the answer to a question exactly; alpha stays. Raises KeyError without one."""
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
        """Choose alpha by the share of rightly ordered pairs in held-out documents, and retrain.

        Of equally good alphas the largest is taken. Nothing changes if all choices are about one
        document, or no query has different labels.
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
        """Append a point after so many choices to the history."""
        first = np.mean([rank == 1 for rank in self.heldout_ranks().values()])
        best = [self.rank_options(question)[0] for question in self.questions.values()]
        self.history.append(RankPoint(choices, float(first), np.array(best)))

    def _remember(self, question: RankQuestion, choice: Choice | None) -> None:
        """Store a valid first answer without learning it; raise ValueError for any other."""
        if choice is not None:
            choice.check(question)
        if question.key in self.answered:
            raise ValueError(f"{question.key!r} was answered before. Undo that answer first.")
        self.answered[question.key] = choice

    def _examples(self, question: RankQuestion, choice: Choice) -> tuple[Indices, Vector]:
        """Return rows and labels of the candidates that were shown, in the order of ``shown``."""
        rows = np.array([question.rows[i] for i in choice.shown], dtype=np.intp)
        shown = [self.candidates[row] for row in rows]
        return rows, self.pipeline.task.choice_labels(shown, choice.shown.index(choice.chosen))

    def _add(self, rows: Indices, labels: Vector, queries: Indices) -> None:
        """Add labelled rows to the model; arguments have one entry per row.

        ``queries`` are numbers that the model does not have yet. Does not take the lock.
        """
        residuals = labels - self.prior_scores[rows]
        own = self.rows.gram(rows)
        if self.model is None:
            self.model = UpdatableRankRLS.from_gram(
                own, residuals, queries, alpha=self.alpha, normalised=self.normalised
            )
        else:
            cross = self.rows.cross_gram(rows, self.index)
            self.model = self.model.add(cross, own, residuals, queries)
        self.index = np.concatenate([self.index, rows])
        self.labels = np.concatenate([self.labels, labels])
        self._scores = None

    # Words

    def describe_options(self, question: RankQuestion, shown: Sequence[int]) -> list[list[str]]:
        """Return lines that tell the candidates at ``shown`` apart, one list each.

        ``shown`` are positions in ``question.rows``, see ``Task.compare_candidates``.
        """
        return _compare(self.pipeline.task, question, self.candidates, shown)

    def fingerprint(self, question: RankQuestion) -> str:
        """Return a checksum (16 hex digits) of what a person reads about all candidates, in order.

        A stored choice is a position. If a parser or a setting has changed, the checksum differs,
        and the position may mean another candidate.
        """
        lines = self.describe_options(question, range(len(question.rows)))
        return hashlib.sha256(json.dumps(lines).encode()).hexdigest()[:16]


def rank_among(scores: Vector, choice: Choice) -> float:
    """Return the rank of the chosen candidate, from 1, ties counting one half each.

    ``scores`` are those of ``choice.shown``, in that order.

    >>> rank_among(np.array([0.5, 0.9, 0.5]), Choice(chosen=7, shown=(7, 3, 4)))
    2.5
    """
    merged = merge_ties(scores)
    own = merged[choice.shown.index(choice.chosen)]
    return float(1 + (merged > own).sum() + ((merged == own).sum() - 1) / 2)


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
    """Raise ValueError if there is no question, or nothing tells candidates apart.

    Only the first question is tried: each of its candidates must have a line of words
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

    Both alphas are those of ``prior``; if it is None, those of the pipeline's learner and the
    middle one. ``normalised`` is always the learner's. A learner other than RankRLS or SparseRLS
    counts as one with DEFAULT_ALPHAS and False.
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
