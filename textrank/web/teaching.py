"""A model under instruction: every answer at once, exactly as if it had been trained with it."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from threading import RLock
from typing import Any, TypeVar

import numpy as np
from spacy.tokens import Doc

from textrank.docs import Candidate, Targets, held_together
from textrank.learners.calibration import Platt
from textrank.learners.online import Online
from textrank.learners.rls import RLS
from textrank.learners.selection import qualities
from textrank.measures import best_threshold, likely_threshold
from textrank.model import Model
from textrank.pipeline import Pipeline
from textrank.tasks.task import nothing_found
from textrank.ties import argmax_first, choose_largest, merge_ties
from textrank.types import Indices, Matrix, Vector, has_features
from textrank.web.choosing import Choice, chances
from textrank.web.quality import FEWEST, Quality, agreement, quality
from textrank.web.questions import Question, questions_of
from textrank.web.reach import Reach
from textrank.web.rows import FeatureRows, Rows, rows_of
from textrank.web.starting import ALPHAS, alphas_of, settled

T = TypeVar("T")

RECENT = 30  # answers that a new question should be unlike
SHORT = 12  # candidates that are looked at closely before one is asked about
MANY = 1000  # taught ones from which on an answer settles little, and telling how much costs more
AGAIN = 10  # answers after which alpha is chosen anew
WINDOW = 20  # answers between two looks at all decisions


@dataclass(eq=False)
class Teaching:
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
    base: Vector  # the scores of the prior
    online: Online
    taught: list[int]  # the rows in the model, in its order
    labels: dict[int, float]  # of the taught rows
    questions: dict[str, Question]
    homes: dict[int, int]  # what is held out together, by the Doc's id
    alphas: tuple[float, ...] = ALPHAS
    choice: Choice = field(default_factory=Choice)
    closed: dict[str, str] = field(default_factory=dict)  # answered questions
    lock: RLock = field(default_factory=RLock, repr=False)
    history: list[Quality] = field(default_factory=list)
    kappas: list[float] = field(default_factory=list)
    _density: Vector = field(default_factory=lambda: np.empty(0), repr=False)
    _recent: deque[tuple[int, Vector]] = field(
        default_factory=lambda: deque(maxlen=RECENT), repr=False
    )
    _decided: deque[Any] = field(default_factory=lambda: deque(maxlen=WINDOW + 1), repr=False)
    _reach: Reach | None = field(default=None, repr=False)
    _known: dict[str, Any] = field(default_factory=dict, repr=False)  # until the next change

    @classmethod
    def of(
        cls,
        pipeline: Pipeline,
        docs: Sequence[Doc],
        *,
        prior: Model | None = None,
        training: Sequence[Doc] = (),
        choice: Choice = Choice(),  # noqa: B008 - frozen
    ) -> Teaching:
        """Of the texts to ask about, beginning with a model, with answered texts, or nothing."""
        task = pipeline.task
        names = held_together([*training, *docs])
        numbers = {name: i for i, name in enumerate(dict.fromkeys(names))}
        found = [task.candidates(doc) for doc in (*training, *docs)]
        old = [c for own in found[: len(training)] for c in own]
        new = [replace(c, label=None) for own in found[len(training) :] for c in own]
        if not new:
            raise nothing_found(task, len(docs))
        groups = [numbers[n] for n, own in zip(names, found, strict=True) for _ in own]
        pipeline = settled(pipeline if prior is None else prior.pipeline)
        homes = {id(doc): numbers[n] for doc, n in zip((*training, *docs), names, strict=True)}
        candidates = [*old, *new]
        rows = rows_of(pipeline.kernel, pipeline.representation(candidates))
        base = np.zeros(len(candidates)) if prior is None else prior.score(candidates)
        if task.ranks:
            raise ValueError(f"task {task.name!r} ranks; only answers of yes or no can be curated.")
        y = Targets.of(old).y if old else np.empty(0)
        alphas, alpha = alphas_of(pipeline, prior)
        questions = {q.key: q for q in questions_of(new, len(old))}
        made = cls(
            pipeline, prior, candidates, groups, rows, base, Online.empty(alpha=alpha), [], {},
            questions, homes, alphas, choice,
        )  # fmt: skip
        made.retrain(dict(enumerate(y.tolist())), alpha)
        made._density = rows.density()
        return made

    def targets(self, labels: Mapping[int, float]) -> Vector:
        """What is left for the answers to explain: ``y max(1, y f0) - f0``."""
        index = np.fromiter(labels, dtype=np.intp, count=len(labels))
        y = np.fromiter(labels.values(), dtype=np.float64, count=len(labels))
        base = self.base[index]
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
        return self.once("index", lambda: np.array(self.taught, dtype=np.intp))

    @property
    def answers(self) -> Vector:
        """The labels of the taught rows, in the model's order."""
        return self.once("answers", lambda: np.array([self.labels[row] for row in self.taught]))

    @property
    def scores(self) -> Vector:
        """The scores of all candidates now."""
        return self.once(
            "scores", lambda: self.base + self.rows.scores(self.index, self.online.coef)
        )

    @property
    def heldout(self) -> Vector:
        """The scores of the taught rows by models that never saw their documents."""
        return self.once("heldout", lambda: self.base[self.index] + self.online.heldout)

    def without_document(self, row: int, values: Vector) -> float:
        """The score of a candidate by the model that knows no answer about its document.

        ``values`` are its kernel values with all.
        """
        known = self.once("groups", lambda: {self.groups[i] for i in self.taught})
        if self.groups[row] not in known:
            return float(self.scores[row])
        coef = self.online.without(self.groups[row])
        return float(self.base[row] + values[self.index] @ coef)

    @property
    def threshold(self) -> float:
        """Where yes begins: the best F to be expected over all candidates, or what the prior had.

        Answers to chosen questions have more of one kind than the texts do; what a score means, the
        calibrated probability, they tell all the same.
        """
        if self.measurable:
            return self.once("cut", self._cut) or 0.0
        return float(self.prior.threshold or 0.0) if self.prior is not None else 0.0

    def _cut(self) -> float | None:
        if self._platt.slope <= 0:  # the scores say nothing yet
            return best_threshold(self.answers, self.heldout)
        return likely_threshold(self.scores, self._platt(self.scores))

    @property
    def _platt(self) -> Platt:
        return self.once("platt", lambda: Platt.of(self.heldout, self.answers))

    @property
    def measurable(self) -> bool:
        """Whether there are enough answers of both kinds."""
        y = self.answers
        return bool(min((y > 0).sum(), (y <= 0).sum()) >= FEWEST)

    def probability(self, scores: Vector) -> Vector | None:
        """How likely yes is, calibrated on held-out scores of the answers or of the prior."""
        if self.measurable:
            return np.asarray(self._platt(scores))
        return None if self.prior is None else self.prior.probability(scores)

    def retrain(self, labels: Mapping[int, float], alpha: float) -> None:
        """The model of these labels alone, trained at once."""
        index = np.fromiter(labels, dtype=np.intp, count=len(labels))
        K = self.rows.gram(index) if len(index) else np.empty((0, 0))
        groups = np.array([self.groups[i] for i in index], dtype=np.intp)
        self.online = Online.of(K, self.targets(labels), groups, alpha=alpha)
        self.taught, self.labels = index.tolist(), dict(labels)
        self._reach = None
        self._known.clear()

    def answer(self, question: Question, value: str) -> None:
        """Takes an answer in, and writes down how good the model is then."""
        with self.lock:
            self.learn(question, value)
            self.note()

    def learn(self, question: Question, value: str) -> None:
        """Takes an answer in; the model is then the one trained with it."""
        labels = question.labels(value)
        with self.lock:
            if question.key in self.closed:
                raise ValueError(f"{question.key!r} was answered before. Undo that answer first.")
            for row, label in labels.items():
                self._add(row, label)
            self.closed[question.key] = value

    def take_back(self, question: Question) -> None:
        """Forgets an answer; nothing of it remains."""
        with self.lock:
            self.closed.pop(question.key, None)
            for row in question.rows:
                self._drop(row)
            if self.history:
                self.history.pop()
            if self.kappas:
                self.kappas.pop()

    def renew(self, doc: Doc) -> list[str]:
        """Takes a Doc in anew after its names changed; gives the answers that fell away with them.

        Its old rows stay, without a question; answers about pairs that are still there stay too.
        """
        with self.lock:
            old = [q for q in self.questions.values() if self.candidates[q.rows[0]].doc is doc]
            kept = {q.key: self.closed.pop(q.key) for q in old if q.key in self.closed}
            for question in old:
                del self.questions[question.key]
                for row in question.rows:
                    self._drop(row)
            self._extend([replace(c, label=None) for c in self.pipeline.task.candidates(doc)], doc)
            for key in [key for key in kept if key in self.questions]:
                value = self.closed[key] = kept.pop(key)
                for row, label in self.questions[key].labels(value).items():
                    self._add(row, label)
            return list(kept)

    def _extend(self, new: list[Candidate], doc: Doc) -> None:
        first = len(self.candidates)
        self.candidates += new
        self.groups += [self.homes[id(doc)]] * len(new)
        self.questions |= {q.key: q for q in questions_of(new, first)}
        if not new:
            return
        kernel, representation = self.pipeline.kernel, self.pipeline.representation
        if isinstance(self.rows, FeatureRows) and has_features(kernel):
            self.rows = self.rows.grown(kernel.features(representation(new)))
        else:
            self.rows = rows_of(kernel, representation(self.candidates))
        more = np.zeros(len(new)) if self.prior is None else self.prior.score(new)
        self.base = np.concatenate([self.base, more])
        self._density = self.rows.density()
        self._reach = None
        self._known.clear()
        self._recent.clear()
        self._decided.clear()

    def _add(self, row: int, label: float) -> None:
        all_ = self.rows.against(row)
        target = float(self.targets({row: label})[0])
        own = float(self.rows.own[row])
        self.online = self.online.add(all_[self.index], own, target, self.groups[row])
        self._reach = self._reach and self._reach.add(all_)
        self.taught.append(row)
        self.labels[row] = label
        near = all_ / np.sqrt(np.maximum(self.rows.own * own, 1e-300))
        self._recent.append((row, near))
        self._known.clear()

    def _drop(self, row: int) -> None:
        if row not in self.labels:
            return
        place = self.taught.index(row)
        self.online = self.online.forget(place)
        self._reach = self._reach and self._reach.forget(place)
        self.taught.remove(row)
        del self.labels[row]
        kept = [pair for pair in self._recent if pair[0] != row]
        self._recent = deque(kept, maxlen=RECENT)
        self._known.clear()

    def note(self) -> None:
        """Writes down how good the model is now, and how much it changed its mind."""
        index = self.index
        groups = np.array([self.groups[i] for i in index], dtype=np.intp)
        found = quality(self.answers, self.heldout, groups) if len(index) else Quality()
        self.history.append(replace(found, answers=len(self.closed)))
        self._decided.append(self.scores >= self.threshold)
        self.kappas.append(agreement(self._decided[0], self._decided[-1]))

    def next(self) -> Question | None:
        """The open question that would teach most; None where all are answered.

        The best few by the scores of all answers are looked at again: by scores that know no
        answer about their own document, and by how far an answer would reach.
        """
        with self.lock:
            waiting = [q for q in self.questions.values() if q.key not in self.closed]
            if not waiting:
                return None
            first = self._values(self.scores)
            best = [max(first[row] for row in q.rows) for q in waiting]
            short = SHORT if len(self.taught) < MANY else SHORT // 2
            few = max(short // len(waiting[0].rows), 3)
            order = np.argsort(-merge_ties(best), kind="stable")[:few]
            return self._best([waiting[i] for i in order])

    def _values(self, scores: Vector, rows: Indices | None = None) -> Vector:
        every = np.arange(len(self.candidates)) if rows is None else rows
        near = self.once("near", self._nearest)
        return self.choice.values(self._uncertain(scores), self._density[every], near[every])

    def _uncertain(self, scores: Vector) -> Vector:
        """How open the decisions on scores are, from 0 to 1."""
        spread = float(self.scores.std()) or 1.0
        p = chances(scores, self.threshold, spread / 2)
        return 4 * p * (1 - p)

    def _nearest(self) -> Vector:
        """How much like one of the last answers each candidate is."""
        near = np.zeros(len(self.candidates))
        for _, similarity in self._recent:
            np.maximum(near, similarity, out=near)
        return near

    def _best(self, few: Sequence[Question]) -> Question:
        rows = np.array([row for question in few for row in question.rows], dtype=np.intp)
        K = self.rows.columns(rows)
        scores = np.array([self.without_document(int(r), K[:, i]) for i, r in enumerate(rows)])
        found = self._values(scores, rows)
        if len(self.taught) < MANY:
            found = found * self._gains(rows, K) ** self.choice.reach
        values = dict(zip(rows.tolist(), found.tolist(), strict=True))
        best = [max(values[row] for row in question.rows) for question in few]
        return few[int(argmax_first(best))]

    def _gains(self, rows: Indices, K: Matrix) -> Vector:
        """How much answers about rows would settle, where decisions are open."""
        reach = self._reach = self._reach or Reach.of(self.rows, self.index, self._first)
        weights = self._uncertain(self.scores[reach.sample])
        own = self.rows.own[rows]
        return reach.gains(self.online, K[self.index], K[reach.sample], own, weights)

    @property
    def _first(self) -> int:
        """The first row that is asked about; before it stand those one began with."""
        return min((question.rows[0] for question in self.questions.values()), default=0)

    def settle(self) -> float:
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
        made = Online.of(K, t, groups, alpha=alpha)
        reach = Reach.of(rows, index, self._first) if len(index) < MANY else None
        with self.lock:
            now, recent = dict(self.labels), self._recent
            self.online, self.taught, self.labels = made, index.tolist(), dict(labels)
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
        if len(np.unique(groups)) < 2 or min((y > 0).sum(), (y <= 0).sum()) < FEWEST:
            return self.online.alpha
        targets = Targets(t, groups, np.arange(len(y)))
        heldout = RLS(self.alphas, select="squared_error").path(K, targets).heldout
        base = self.base[np.fromiter(labels, dtype=np.intp, count=len(labels))]
        values = qualities(heldout + base, replace(targets, y=y), "auc")
        return self.alphas[choose_largest(values, self.alphas)]
