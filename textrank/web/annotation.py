"""Curation of texts by people: answers on disk, the pages that ask, and what can be exported.

``AnswerLog`` is an SQLite file to which every event is written before it takes effect.
``Curation`` connects it with an ``ActiveLearner``: it replays the log at start, takes answers and
marked names, and describes its state for the page. ``build_model`` and ``export_corpus`` export
the result, and ``CurationApp`` serves all of it.
"""

from __future__ import annotations

import hashlib
import io
import itertools
import json
import sqlite3
import tempfile
import weakref
import zipfile
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from threading import Lock, RLock, Thread
from typing import Any
from urllib.parse import quote, unquote

import numpy as np
from numpy.typing import NDArray
from spacy.tokens import Doc, Span
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route

from textrank.candidates import Candidate, document_id, get_answers
from textrank.evaluation.cross_validation import make_decisions
from textrank.features import FeatureNames, Indices, Matrix, Vector, concat_rows
from textrank.formats.detection import WRITERS, write_docs
from textrank.io import lock_file
from textrank.language.normalization import original_offsets
from textrank.learners.base import Fit
from textrank.learners.calibration import fit_calibration
from textrank.model import Model
from textrank.protocols import Task
from textrank.reports.explanation import ExplainedDecision
from textrank.results.store import valid_unicode
from textrank.tasks.identifiers.task import find_identifiers
from textrank.tasks.ppi.facts import entity_key
from textrank.tasks.ppi.statements import DIRECTIONS, TYPES
from textrank.web.active_learner import (
    ANSWERS_PER_TUNING,
    ANSWERS_WITHOUT_LABEL,
    CHOICE_PREFIX,
    LABEL_OF_ANSWER,
    MIN_ANSWERS_PER_CLASS,
    NEGATED,
    YES,
    ActiveLearner,
    FeatureRows,
    Question,
    advise,
    can_explain,
    cohen_kappa,
    explain_row,
    forecast_quality,
)
from textrank.web.app import (
    Credentials,
    common_routes,
    not_found,
    render_page,
    species_name,
)
from textrank.web.explorer import describe_identifier, find_document_link, present_explanation

# Answers on disk

LOG_FORMAT = 1  # rises when an older textrank could not read a new file
_TABLES = """
CREATE TABLE IF NOT EXISTS about (key TEXT PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS events (
  id INTEGER PRIMARY KEY,
  at TEXT NOT NULL,
  who TEXT NOT NULL,
  kind TEXT NOT NULL CHECK (kind IN ('answer', 'name', 'undo')),
  document TEXT NOT NULL,
  question TEXT NOT NULL,
  value TEXT NOT NULL,
  undoes INTEGER REFERENCES events (id),
  details TEXT NOT NULL DEFAULT ''
);
"""


@dataclass(frozen=True)
class Event:
    """Action of a person: an answer, a marked name, or an undo.

    ``value`` is the answer; for a name "name" or, if it was unmarked, "none"; for an undo "".
    """

    id: int
    at: str  # time in UTC, ISO format
    who: str
    kind: str  # answer, name or undo
    document: str
    question: str  # key of the question; for a name its characters, as JSON
    value: str
    undoes: int | None = None  # id of the event that an undo takes back
    details: str = ""  # of an answer: JSON of status, type, direction and identifiers


class AnswerLog:
    """Append-only log of one curation in an SQLite file; an undo is an event too.

    SQLite writes ahead and waits for the disk at every event, so a killed process or a power
    failure loses no answer that was acknowledged. While the log is open, a lock file beside it
    (``NAME.lock``) keeps other processes from writing contradicting answers; it is released when
    the process ends.
    """

    def __init__(
        self, path: str | Path, about: Mapping[str, str], *, option: str = "--answers"
    ) -> None:
        """Open or create the file and lock it for this process.

        ``about`` describes the curation (task, checksum of the texts) and is stored in a new file,
        with ``LOG_FORMAT``; a file of an earlier version gets the column ``details``. Raises
        ValueError if the file is not an SQLite file, has another description, or is in use
        by another process; ``option`` is the option of the command that names another file, for
        these errors.
        """
        self.path, self._option = Path(path), option
        try:
            handle = lock_file(self.path.with_name(f"{self.path.name}.lock"))
        except OSError as error:
            raise ValueError(
                f"{self.path}: in use by another textrank, or its folder cannot be written "
                f"({error.strerror}). Use that one, or give another file with {option}."
            ) from error
        self._release_lock = weakref.finalize(self, handle.close)
        try:
            self._db = sqlite3.connect(self.path, check_same_thread=False, isolation_level=None)
            self._close_db = weakref.finalize(self, self._db.close)
            self._db.execute("PRAGMA journal_mode = WAL")
            self._db.execute("PRAGMA synchronous = FULL")
            self._db.executescript(_TABLES)
            columns = {row[1] for row in self._db.execute("PRAGMA table_info(events)")}
            if "details" not in columns:  # a file of an earlier version
                self._db.execute("ALTER TABLE events ADD COLUMN details TEXT NOT NULL DEFAULT ''")
        except sqlite3.DatabaseError as error:
            if hasattr(self, "_close_db"):  # missing if the file could not be opened
                self._close_db()
            self._release_lock()
            raise ValueError(
                f"{self.path}: cannot be used for answers ({error}). "
                f"Give another file with {option}."
            ) from error
        self._lock = Lock()
        try:
            self._check_description({"format": str(LOG_FORMAT), **about})
        except ValueError:
            self.close()
            raise

    def _check_description(self, about: Mapping[str, str]) -> None:
        """Store the values of ``about`` that the file lacks; raise ValueError if one differs.

        Keys that only the file has are ignored.
        """
        stored = dict(self._db.execute("SELECT key, value FROM about").fetchall())
        for key, value in about.items():
            if stored.setdefault(key, value) != value:
                raise ValueError(
                    f"{self.path}: its answers have {key} {stored[key]!r}, not {value!r}. "
                    f"Give another file with {self._option}."
                )
            self._db.execute("INSERT OR IGNORE INTO about VALUES (?, ?)", (key, value))

    def close(self) -> None:
        """Close the file and release its lock; the log cannot be used afterwards."""
        self._close_db()
        self._release_lock()

    def append(
        self,
        kind: str,
        who: str,
        *,
        document: str = "",
        question: str = "",
        value: str = "",
        undoes: int | None = None,
        details: str = "",
    ) -> Event:
        """Append an event with the current time and return it once it is on the disk.

        ``kind`` is "answer", "name" or "undo" (sqlite3.IntegrityError otherwise); the other
        arguments are fields of ``Event`` and are not checked. Thread-safe.
        """
        at = datetime.now(UTC).isoformat(timespec="milliseconds")
        with self._lock:
            cursor = self._db.execute(
                "INSERT INTO events (at, who, kind, document, question, value, undoes, details) "
                "VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
                (at, who, kind, document, question, value, undoes, details),
            )
            number = int(cursor.lastrowid or 0)
        return Event(number, at, who, kind, document, question, value, undoes, details)

    def events(self) -> list[Event]:
        """Return all events in their order, including undone ones and undos."""
        with self._lock:
            rows = self._db.execute(
                "SELECT id, at, who, kind, document, question, value, undoes, details "
                "FROM events ORDER BY id"
            ).fetchall()
        return [Event(*row) for row in rows]

    def active_events(self) -> list[Event]:
        """Return the answers and names that were not undone, in their order."""
        events = self.events()
        undone = {event.undoes for event in events if event.kind == "undo"}
        return [event for event in events if event.kind != "undo" and event.id not in undone]

    def to_json_lines(self) -> Iterator[str]:
        """Yield each event as a line of JSON, in order; undone events and undos are included."""
        for event in self.events():
            yield json.dumps(asdict(event), ensure_ascii=False) + "\n"


# Names that people mark

SPANS_KEY = "entities"
MAX_NAME_TOKENS = 60


@dataclass(frozen=True)
class NameMark:
    """Mark by a person that characters [start, end) are a name or, with ``remove``, are not one."""

    start: int
    end: int
    remove: bool = False
    id: str = "m0"  # id of the span


@dataclass(frozen=True, eq=False)
class EditableNames:
    """Names of a Doc (its span group "entities") to which marks are applied.

    ``given`` are the names that it had at the beginning.
    """

    doc: Doc
    given: Sequence[Span]

    @classmethod
    def from_doc(cls, doc: Doc) -> EditableNames:
        """Create an instance whose given names are the current names of a Doc."""
        return cls(doc, list(doc.spans.get(SPANS_KEY, ())))

    def apply(self, marks: Sequence[NameMark]) -> None:
        """Set the names of the Doc, in place, to the given ones with all marks applied in order.

        A mark is widened to whole tokens and replaces the names that it overlaps. New names get the
        most common label of the given names, or "protein" if there are none. Earlier calls have no
        effect on the result. Raises ValueError, with the Doc unchanged, if ``find_span`` refuses a
        mark.
        """
        spans = list(self.given)
        most_common = Counter(span.label_ for span in spans).most_common(1)
        label = most_common[0][0] if most_common else "protein"
        for mark in marks:
            marked = self.find_span(mark.start, mark.end)
            spans = [s for s in spans if s.end <= marked.start or marked.end <= s.start]
            if not mark.remove:
                spans.append(Span(self.doc, marked.start, marked.end, label=label, span_id=mark.id))
        self.doc.spans[SPANS_KEY] = sorted(spans, key=lambda span: (span.start, span.end))

    def find_span(self, start: int, end: int) -> Span:
        """Return the tokens that the characters [start, end) touch.

        Raises ValueError if the characters are none or outside of the text, or the tokens are only
        white space or more than ``MAX_NAME_TOKENS``.
        """
        span = None
        if 0 <= start < end <= len(self.doc.text):
            span = self.doc.char_span(start, end, alignment_mode="expand")
        if span is None or not span.text.strip() or len(span) > MAX_NAME_TOKENS:
            raise ValueError(f"characters {start} to {end} are not a name. Mark a few words.")
        return span


# Attributes of an answer

STATUS_CHOICES = ("asserted", "speculated")  # of a relation that holds; "negated" is an answer
MAX_IDENTIFIER_CHARACTERS = 60


def check_details(details: Mapping[str, Any]) -> dict[str, Any]:
    """Return a copy of the attributes of an answer after validating them.

    Keys, all optional: ``status`` (one of ``STATUS_CHOICES``), ``type`` (one of ``TYPES``),
    ``direction`` (one of ``DIRECTIONS``) and ``identifiers`` (a list of two texts of at most
    ``MAX_IDENTIFIER_CHARACTERS``, "" for none). Raises ValueError for any other key or value.
    """
    allowed = {"status": STATUS_CHOICES, "type": TYPES, "direction": DIRECTIONS}
    for key, value in details.items():
        if key == "identifiers":
            is_valid = (
                isinstance(value, list)
                and len(value) == 2
                and all(isinstance(i, str) and len(i) <= MAX_IDENTIFIER_CHARACTERS for i in value)
            )
            if not is_valid:
                raise ValueError(f"identifiers must be two short texts, got {value!r:.80}.")
        elif key not in allowed:
            raise ValueError(
                f"{key!r} is not an attribute. Available: {', '.join(allowed)}, identifiers."
            )
        elif value not in allowed[key]:
            raise ValueError(f"{key} must be one of {', '.join(allowed[key])}, got {value!r:.40}.")
    return dict(details)


# Agreement and queues

QUEUES = ("doubt", "paper", "pair", "second opinion")


MAX_OVERLAP = 0.5  # every question is then answered by two people
DEFAULT_OVERLAP = 0.1  # share of the answers of each person that are second opinions


@dataclass(frozen=True)
class Agreement:
    """Answers of different people to the same questions."""

    questions: int = 0  # with answers of at least two people
    agreed: int = 0  # of which the first two answers are the same
    share: float | None = None  # agreed / questions; None without questions
    kappa: float | None = None  # Cohen's, of yes against no; None if it is not defined


def measure_agreement(events: Sequence[Event]) -> Agreement:
    """Return how far the first two people who answered the same questions agree.

    ``events`` are active ones, in their order. Answers without a label (unsure, wrong name) and
    marks of names do not count; of several answers of a person to a question the last does. Two
    answers agree if their values are equal; for kappa "negated" is no, and a choice is yes. Kappa
    is None if all answers are yes or all are no.
    """
    pairs = [list(given.values())[:2] for given in _labelled_answers(events).values()]
    pairs = [pair for pair in pairs if len(pair) > 1]
    if not pairs:
        return Agreement()
    agreed = sum(one == other for one, other in pairs)
    yes = np.array([[LABEL_OF_ANSWER.get(v, 1.0) > 0 for v in pair] for pair in pairs])
    is_defined = bool(yes.any() and not yes.all())
    kappa = cohen_kappa(yes[:, 0], yes[:, 1]) if is_defined else None
    return Agreement(len(pairs), agreed, agreed / len(pairs), kappa)


def find_contradictions(events: Sequence[Event]) -> dict[str, dict[str, str]]:
    """Return the answers to questions that people answered differently, by question and person.

    ``events`` are active ones, in their order, and answers count as in ``measure_agreement``.
    """
    answers = _labelled_answers(events)
    return {key: given for key, given in answers.items() if len(set(given.values())) > 1}


def _labelled_answers(events: Sequence[Event]) -> dict[str, dict[str, str]]:
    """Return the value of each answer with a label, by question and person, in their order.

    Of several answers of a person to a question the last counts.
    """
    answers: dict[str, dict[str, str]] = {}
    for event in events:
        if event.kind == "answer" and event.value not in ANSWERS_WITHOUT_LABEL:
            answers.setdefault(event.question, {})[event.who] = event.value
    return answers


# Curation

MAX_CURVE_POINTS = 300
MAX_LISTED_ANSWERS = 8


class Curation:
    """ActiveLearner whose every change is logged to disk before it takes effect.

    Started again with the same texts and log, it replays all answers and continues. Several people
    can take part: they get different questions, except for a share that two people answer
    independently, which measures their agreement. Each can undo only what is their own. The name of
    the person is written into the log with every event; ``who`` is used if a request names none.
    Methods that change the curation are thread-safe and return ``state()`` of the person after the
    change.
    """

    def __init__(
        self,
        learner: ActiveLearner,
        docs: Sequence[Doc],
        answers: AnswerLog,
        who: str,
        *,
        overlap: float = DEFAULT_OVERLAP,
    ) -> None:
        """Replay the answers and marks of the log, which changes the learner and the Docs.

        ``docs`` are those that the learner asks about, ``who`` is the person if a request names
        none. ``overlap`` is the share of each person's answers that are second opinions, if
        somebody else takes part; 0 asks for none. Raises ValueError unless 0 <= overlap <= 0.5.
        """
        if not 0 <= overlap <= MAX_OVERLAP:
            raise ValueError(f"overlap must be from 0 to {MAX_OVERLAP}, got {overlap}.")
        self.learner, self.answers, self.who, self.overlap = learner, answers, who, overlap
        self.docs = {document_id(doc, number): doc for number, doc in enumerate(docs)}
        self.names = {name: EditableNames.from_doc(doc) for name, doc in self.docs.items()}
        self.active_events: list[Event] = []
        self.lost_answers: list[str] = []  # keys of answered questions that do not exist any more
        self._lock = RLock()
        self._answers_since_tuning = 0
        self._tuning: Thread | None = None
        self._proposals: dict[str, dict[tuple[int, ...], dict[str, Any]]] = {}  # by document
        self._queues: dict[str, str] = {}  # by person; "doubt" if missing
        self._last: dict[str, Question] = {}  # last answered question by person
        self._second: dict[str, str] = {}  # keys of second opinions handed out, by person
        self._replay()
        self._questions: dict[str, Question] = {}  # handed out and not yet answered, by person

    def _replay(self) -> None:
        """Apply the marks and answers of the log, with one training at the end.

        Of several answers to a question the first is learnt. Answers to questions that do not exist
        go to ``lost_answers``. Changes the Docs and the learner; if there are answers, alpha is
        chosen again and the quality recorded once.
        """
        self.active_events = self.answers.active_events()
        for name in {event.document for event in self.active_events if event.kind == "name"}:
            self._update_names(name)
        labels = dict(self.learner.labels)
        for event in [event for event in self.active_events if event.kind == "answer"]:
            question = self.learner.questions.get(event.question)
            if question is None:
                self.lost_answers.append(event.question)
                continue
            if question.key in self.learner.answered:
                continue  # a second opinion: the first answer is learnt
            labels |= question.labels(event.value)
            self.learner.answered[question.key] = event.value
        if self.learner.answered:
            self.learner.retrain(labels, self.learner.online.alpha)
            self.learner.tune()
            self.learner.record_quality()

    # Actions of people

    def current_question(self, who: str | None = None) -> Question | None:
        """Return the open question of a person, or choose a new one; None if none is left.

        The same question is returned until it is answered or the person's queue changes. A new one
        is the first of that queue (``set_queue``), and not the question of another person unless no
        other is open; in the queue "second opinion", several people may get the same. In the other
        queues a share of the questions (``overlap``) are second opinions too. ``who`` None is the
        person of the curation.
        """
        person = who or self.who
        with self._lock:
            held = self._questions.pop(person, None)
            question = None if held is None else self.learner.questions.get(held.key)
            if question is None or self._is_done(question, person):
                question = self._next_of_queue(person)
            if question is not None:
                self._questions[person] = question
            return question

    def set_queue(self, queue: str, who: str | None = None) -> dict[str, Any]:
        """Choose the order of a person's questions, one of ``QUEUES``, and return the new state.

        "doubt" asks first what the model learns most from; "paper" asks all questions of one
        document in text order; "pair" all statements about the same two entities; "second opinion"
        questions that only one other person has answered. The person's open question, also one for
        a second opinion, is given up. Raises ValueError for another value. ``who`` None is the
        person of the curation.
        """
        if queue not in QUEUES:
            raise ValueError(f"{queue!r} is not a queue. Available: {', '.join(QUEUES)}.")
        person = who or self.who
        with self._lock:
            self._queues[person] = queue
            self._questions.pop(person, None)
            self._second.pop(person, None)
            return self.state(who)

    def _is_done(self, question: Question, person: str) -> bool:
        """Return whether a question need not be answered by a person any more.

        That is the case once anybody has answered it; for a second opinion, once this person has.
        """
        is_second = self._second.get(person) == question.key
        if is_second or self._queues.get(person) == "second opinion":
            return person in self._answerers().get(question.key, [])
        return question.key in self.learner.answered

    def _answerers(self) -> dict[str, list[str]]:
        """Return who answered each question, in the order of the answers, by its key.

        Undone answers do not count, unsure ones do. Questions without an answer are missing.
        """
        people: dict[str, list[str]] = {}
        for event in self.active_events:
            if event.kind == "answer":
                people.setdefault(event.question, []).append(event.who)
        return people

    def _next_of_queue(self, person: str) -> Question | None:
        """Return the next question of a person's queue; None if there is none.

        If a second opinion is due (``_is_second_opinion_due``) and there is a question for it that
        nobody else has open, it comes first, and its key is stored in ``_second`` for the person.
        For "paper" and "pair", questions of the same document or pair as the person's last answer
        come first, in text order, and then those of the document or pair of the question with the
        largest value. For "second opinion" it is the first question with exactly one answer, by
        somebody else. Otherwise questions that other people have open are returned only if no other
        is left.
        """
        queue, learner = self._queues.get(person, "doubt"), self.learner
        taken = {question.key for question in self._questions.values()}
        if queue == "second opinion":
            return next(iter(self._with_one_answer(person)), None)
        if self._is_second_opinion_due(person):
            answered_once = [q for q in self._with_one_answer(person) if q.key not in taken]
            if answered_once:
                second = min(answered_once, key=lambda q: _hash_text(q.key))
                self._second[person] = second.key
                return second
        last = self._last.get(person)
        if queue != "doubt" and last is not None:
            same = self._find_related_question(last, queue, taken)
            if same is not None:
                return same
        question = learner.next_question(taken)
        if queue == "doubt" or question is None:
            return question
        return self._find_related_question(question, queue, taken) or question

    def _with_one_answer(self, person: str) -> list[Question]:
        """Return the questions with exactly one answer, by somebody else, in their order."""
        answerers = self._answerers()
        return [
            question
            for key, question in self.learner.questions.items()
            if len(answerers.get(key, [])) == 1 and person not in answerers[key]
        ]

    def _is_second_opinion_due(self, person: str) -> bool:
        """Return whether one more second opinion keeps within the person's share (``overlap``).

        Only answers to questions that somebody else had answered before are second opinions.
        """
        answerers = [people for people in self._answerers().values() if person in people]
        second = sum(people[0] != person for people in answerers)
        return second + 1 <= self.overlap * (len(answerers) + 1)

    def _find_related_question(
        self, question: Question, queue: str, taken: set[str]
    ) -> Question | None:
        """Return the first open question of the same document or pair, perhaps ``question`` itself.

        ``queue`` "paper" means the same document, "pair" the same two entities in any order, by
        identifier or else by name. Questions whose keys are in ``taken`` are left out. The first is
        by document id and place in the text; None if there is none.
        """
        learner = self.learner

        def group(one: Question) -> object:
            """Return the document id of a question, or for "pair" the set of its entity keys."""
            if queue == "paper":
                return one.document
            spans = learner.candidates[one.rows[0]].spans
            return frozenset(entity_key(span.text, span.kb_id_ or None) for span in spans)

        wanted = group(question)
        open_keys = learner.questions.keys() - learner.answered.keys() - taken
        same = [
            q for key, q in learner.questions.items() if key in open_keys and group(q) == wanted
        ]
        return min(same, key=self._text_order, default=None)

    def _text_order(self, question: Question) -> tuple[str, list[int]]:
        """Return a sort key for questions: document id, and first characters of their names."""
        spans = self.learner.candidates[question.rows[0]].spans
        return question.document, [span.start_char for span in spans]

    def answer(
        self,
        key: str,
        value: str,
        who: str | None = None,
        details: Mapping[str, Any] | None = None,
    ) -> dict[str, Any]:
        """Log an answer to a question, learn it, and return the new state.

        ``key`` is that of the question, ``value`` one of ``Question.allowed_answers``; ``who`` None
        is the person of the curation; ``details`` are attributes of the relation
        (``check_details``). The first answer to a question is learnt. Another person may answer it
        too as a second opinion, which measures agreement and is not learnt. After every
        ``ANSWERS_PER_TUNING`` learnt answers alpha is chosen again in a thread. Raises ValueError,
        before anything is written, if the question does not exist or is answered, or a value is not
        allowed.
        """
        person = who or self.who
        with self._lock:
            question = self.learner.questions.get(key)
            if question is None or self._is_done(question, person):
                raise ValueError("this question was answered or does not exist. Reload the page.")
            is_first = key not in self.learner.answered
            question.labels(value)  # raises before anything is written
            checked_details = check_details(details or {})
            event = self.answers.append(
                "answer",
                person,
                document=question.document,
                question=key,
                value=value,
                details=json.dumps(checked_details, ensure_ascii=False) if checked_details else "",
            )
            self.active_events.append(event)
            self._last[person] = question
            if self._second.get(person) == key:
                del self._second[person]
            if is_first:
                self.learner.answer(question, value)
                self._answers_since_tuning += 1
                self._tune_if_due()
            return self.state(who)

    def undo(self, who: str | None = None) -> dict[str, Any]:
        """Undo the last answer or mark of a person that is not undone, and return the new state.

        Those of other people stay. The question of an undone answer is asked again. ``who`` None is
        the person of the curation. Raises ValueError if there is nothing to undo.
        """
        person = who or self.who
        with self._lock:
            event = next((e for e in reversed(self.active_events) if e.who == person), None)
            if event is None:
                raise ValueError("there is nothing of yours to undo.")
            self.answers.append("undo", person, document=event.document, undoes=event.id)
            self.active_events.remove(event)
            if event.kind == "name":
                self._update_names(event.document)
            else:
                self._remove_answer(event.question, person)
            return self.state(who)

    def _remove_answer(self, key: str, person: str) -> None:
        """Remove an undone answer to a question from the learner, and ask the person again.

        ``active_events`` must not contain the answer any more. If somebody else answered the
        question too, the first of these answers is learnt instead (nothing changes if it has the
        value that was learnt). Does nothing if the question does not exist any more.
        """
        question = self.learner.questions.get(key)
        if question is None:
            return
        values = [e.value for e in self.active_events if e.kind == "answer" and e.question == key]
        if self.learner.answered.get(key) != next(iter(values), None):
            self.learner.remove_answer(question)
            if values:
                self.learner.answer(question, values[0])
        self._questions[person] = question
        if values:
            self._second[person] = key

    def mark(
        self, document: str, start: int, end: int, *, remove: bool = False, who: str | None = None
    ) -> dict[str, Any]:
        """Mark characters [start, end) of a document as a name, or with ``remove`` as not one.

        ``document`` is the id of the document. The mark is widened to whole tokens and replaces
        names that it overlaps. The document's questions are built again; answers to those that
        still exist are kept, the keys of the others are added to ``lost_answers``. ``who`` is the
        person who marks it; None is the person of the curation. Returns the new state. Raises
        ValueError, before anything is written, for an unknown document or characters that cannot be
        a name (``EditableNames.find_span``).
        """
        with self._lock:
            if document not in self.names:
                raise ValueError(f"document {document!r} is not being curated.")
            self.names[document].find_span(start, end)
            event = self.answers.append(
                "name",
                who or self.who,
                document=document,
                question=json.dumps([start, end]),
                value="none" if remove else "name",
            )
            self.active_events.append(event)
            self._update_names(document)
            return self.state(who)

    def _update_names(self, document: str) -> None:
        """Apply all marks of a document that are not undone and build its questions again.

        Changes the Doc, the learner and ``lost_answers``. Does nothing if the document is unknown.
        """
        if document not in self.names:
            return
        marks = []
        for event in self.active_events:
            if event.kind == "name" and event.document == document:
                start, end = json.loads(event.question)
                marks.append(NameMark(start, end, event.value == "none", f"m{event.id}"))
        self.names[document].apply(marks)
        self._proposals.pop(document, None)
        self.lost_answers += self.learner.update_doc(self.docs[document])

    # Alpha in the background

    def _tune_if_due(self) -> None:
        """Start a thread that chooses alpha, after every ANSWERS_PER_TUNING answers.

        Nothing is started while an earlier one is running.
        """
        is_tuning = self._tuning is not None and self._tuning.is_alive()
        if self._answers_since_tuning >= ANSWERS_PER_TUNING and not is_tuning:
            self._answers_since_tuning = 0
            self._tuning = Thread(target=self.learner.tune, daemon=True)
            self._tuning.start()

    def wait(self) -> None:
        """Wait until the background thread, if any, has chosen alpha."""
        if self._tuning is not None:
            self._tuning.join()

    # State for the page

    def state(self, who: str | None = None) -> dict[str, Any]:
        """Return everything the page shows to a person, as plain values.

        Keys: ``question`` (``describe_question`` of ``current_question``, or None), ``quality``
        (after each of the last ``MAX_CURVE_POINTS`` answers), ``advice`` (``word``, ``why``),
        ``forecasts`` (of F, as ``Forecast``), ``needed`` (how many more answers of yes and of no
        until quality can be measured), ``agreement`` (fields of ``Agreement``), ``contradictions``
        (the last ``MAX_LISTED_ANSWERS`` questions with different answers, newest first, as
        ``_describe_contradiction``), ``queue``, ``overlap``, the counts ``answered``, ``open``,
        ``labelled`` (candidates), ``lost`` and ``people``, and
        ``last`` (the last answers and marks of all people, newest first, at most
        ``MAX_LISTED_ANSWERS``; answers to ``question`` are left out, so that opinions are
        independent).
        """
        learner = self.learner
        word, why = advise(learner.history, learner.kappas)
        question = self.current_question(who)
        open_key = None if question is None else question.key
        last_events = self.active_events[: -MAX_LISTED_ANSWERS - 2 : -1]
        last_events = [event for event in last_events if event.question != open_key]
        contradictions = list(find_contradictions(self.active_events).items())
        return {
            "question": None if question is None else self.describe_question(question),
            "quality": [asdict(quality) for quality in learner.history[-MAX_CURVE_POINTS:]],
            "advice": {"word": word, "why": why},
            "forecasts": [asdict(forecast) for forecast in forecast_quality(learner.history)],
            "needed": self._needed_answers(),
            "agreement": asdict(measure_agreement(self.active_events)),
            "contradictions": [
                self._describe_contradiction(key, given)
                for key, given in contradictions[: -MAX_LISTED_ANSWERS - 1 : -1]
            ],
            "overlap": self.overlap,
            "people": len({event.who for event in self.active_events}),
            "queue": self._queues.get(who or self.who, "doubt"),
            "answered": len(learner.answered),
            "open": len(learner.questions) - len(learner.answered),
            "labelled": len(learner.online),
            "lost": len(self.lost_answers),
            "last": [self._describe_event(event) for event in last_events[:MAX_LISTED_ANSWERS]],
        }

    def describe_agreement(self) -> dict[str, Any]:
        """Return how far people agree, as plain values.

        Keys: the fields of ``Agreement``, ``overlap``, ``answers`` (their number by person) and
        ``contradictions`` (all of them, as ``_describe_contradiction``).
        """
        with self._lock:
            events = list(self.active_events)
            return {
                **asdict(measure_agreement(events)),
                "overlap": self.overlap,
                "answers": dict(Counter(event.who for event in events if event.kind == "answer")),
                "contradictions": [
                    self._describe_contradiction(key, given)
                    for key, given in find_contradictions(events).items()
                ],
            }

    def _describe_contradiction(self, key: str, given: Mapping[str, str]) -> dict[str, Any]:
        """Return a question that people answered differently, as plain values.

        Keys: ``question`` (its key), ``document``, ``text`` (the names it is about, or the key if
        the question does not exist any more), ``answers`` (rows of ``who`` and ``value``, in their
        order) and ``learnt`` (the answer that the model learns, None if there is none).
        """
        question = self.learner.questions.get(key)
        learnt = self.learner.answered.get(key)
        return {
            "question": key,
            "document": key.partition("|")[0] if question is None else question.document,
            "text": key if question is None else self._names_of(question),
            "answers": [{"who": who, "value": value} for who, value in given.items()],
            "learnt": None if learnt in ANSWERS_WITHOUT_LABEL else learnt,
        }

    def _names_of(self, question: Question) -> str:
        """Return the names that a question is about, joined by a dash."""
        spans = self.learner.candidates[question.rows[0]].spans
        return " – ".join(span.text for span in spans)

    def _needed_answers(self) -> dict[str, int]:
        """Return how many more labels "yes" and "no" (the keys) are needed to measure quality.

        Each class needs ``MIN_ANSWERS_PER_CLASS``; 0 if it has as many. Gold labels that the
        learner began with count too.
        """
        y = self.learner.answers
        counts = {"yes": int((y > 0).sum()), "no": int((y <= 0).sum())}
        return {name: max(MIN_ANSWERS_PER_CLASS - n, 0) for name, n in counts.items()}

    def describe_question(self, question: Question) -> dict[str, Any]:
        """Return a question with its sentence in words and the model's answer, as plain values.

        Keys: ``key``, ``document``, ``link`` (``find_document_link``), ``title`` (the question in
        words), ``choices`` (empty for yes or no), ``words`` and ``around`` (``words_of_candidate``
        and ``surrounding_text``); ``probability``, one per candidate, or None without calibration;
        ``favoured``, the position of the candidate with the highest score, and ``score``, its
        score; ``explains``, whether that can be explained; ``attributes``, what else can be
        answered about a pair, with the model's proposals (``_describe_attributes``), or None.
        ``is_second`` says whether somebody has answered it: the model has learnt that answer, so
        probability and score are None and ``favoured`` is 0.
        """
        learner = self.learner
        is_second = question.key in learner.answered
        row = question.rows[0] if is_second else self._favoured_row(question)
        candidate = learner.candidates[row]
        p = None if is_second else learner.probability(learner.scores[list(question.rows)])
        return {
            "key": question.key,
            "document": question.document,
            "link": find_document_link(question.document),
            "title": _title(question, candidate, learner.pipeline.task),
            "choices": list(question.answers) if len(question.rows) > 1 else [],
            "words": words_of_candidate(candidate),
            "around": surrounding_text(candidate),
            "is_second": is_second,
            "score": None if is_second else float(learner.scores[row]),
            "probability": None if p is None else [float(value) for value in p],
            "favoured": question.rows.index(row),
            "explains": not is_second and can_explain(learner),
            "attributes": self._describe_attributes(candidate),
        }

    def _describe_attributes(self, candidate: Candidate) -> dict[str, Any] | None:
        """Return the attributes of a pair with their choices and the model's proposals.

        Keys: ``names``, ``choices`` (values by attribute), ``proposed`` (a value by attribute) and
        ``genes`` (symbol, species and links of each proposed identifier). Where the model proposes
        nothing, the status is "asserted", the type "", the direction "none" and the identifiers are
        those of the names. None if the task does not state facts about pairs, or the candidate is
        not a pair.
        """
        if not _states_facts(self.learner.pipeline.task) or len(candidate.spans) != 2:
            return None
        row = self._find_proposal(candidate)
        given = [span.kb_id_ or "" for span in candidate.spans]
        identifiers = [str(i or "") for i in row.get("identifiers") or given]
        proposed = {
            "status": row["status"] if row.get("status") in STATUS_CHOICES else "asserted",
            "type": row["type"] if row.get("type") in TYPES else "",
            "direction": row.get("direction") or "none",
            "identifiers": identifiers,
        }
        choices = {"status": STATUS_CHOICES, "type": TYPES, "direction": DIRECTIONS}
        genes = []
        for identifier in identifiers:
            gene = describe_identifier(identifier)
            genes.append({**gene, "species": species_name(gene["species"])})
        names = [span.text for span in candidate.spans]
        return {"names": names, "choices": choices, "proposed": proposed, "genes": genes}

    def _find_proposal(self, candidate: Candidate) -> dict[str, Any]:
        """Return the prior model's result row for a pair; {} without a prior model or such a row.

        All pairs of the document are judged at the first call, on a copy of the Doc, and cached
        until its names change.
        """
        prior, document = self.learner.prior, document_id(candidate.doc)
        if prior is None:
            return {}
        if document not in self._proposals:
            doc = next(iter(prior.pipe([candidate.doc.copy()])))
            rows = get_answers(doc, prior.pipeline.task.name) or ()
            self._proposals[document] = {
                tuple(n for span in row["spans"] for n in span): row for row in rows
            }
        spans = [original_offsets(span) for span in candidate.spans]
        return self._proposals[document].get(tuple(n for span in spans for n in span), {})

    def _favoured_row(self, question: Question) -> int:
        """Return the row of a question with the highest score; the first of those that tie."""
        return max(question.rows, key=lambda row: float(self.learner.scores[row]))

    def explain(self, key: str) -> dict[str, Any]:
        """Return the contributions to the score of the best candidate of a question.

        ``key`` is that of the question, the best candidate the one with the highest score; the form
        is that of ``present_explanation``. Raises ValueError if the question does not exist or the
        model cannot be explained (``can_explain``).
        """
        question = self.learner.questions.get(key)
        if question is None or not can_explain(self.learner):
            raise ValueError("this question cannot be explained.")
        row = self._favoured_row(question)
        candidate, score = self.learner.candidates[row], self.learner.scores[[row]]
        parts = explain_row(self.learner, row)
        (decision,) = make_decisions([candidate], score, self.learner.threshold, paths=True)
        return present_explanation(ExplainedDecision(decision, parts))

    def _describe_event(self, event: Event) -> dict[str, Any]:
        """Return an event for the page: ``text``, ``value``, ``who``, ``at`` and ``document``.

        ``text`` are the names that an answer is about, with its type and status if a type was
        given; or the marked characters, "" if the document is unknown. If the question does not
        exist any more, it is its key.
        """
        text = event.question
        question = self.learner.questions.get(event.question)
        if question is not None:
            text = self._names_of(question)
            details = json.loads(event.details or "{}")
            if details.get("type"):
                text += f" ({details['type']}, {details.get('status', 'asserted')})"
        elif event.kind == "name":
            start, end = json.loads(event.question)
            text = self.docs[event.document].text[start:end] if event.document in self.docs else ""
        return {
            "text": text,
            "value": event.value,
            "who": event.who,
            "at": event.at,
            "document": event.document,
        }


MAX_LISTED_GENES = 12


def list_genes(word: str) -> list[dict[str, str]]:
    """Return genes for a symbol, synonym or identifier, as dictionaries.

    Keys are ``identifier``, ``symbol`` and ``species`` (its English name). Human genes come first,
    and among genes of equal rank those found by symbol before those by synonym. There are at most
    ``MAX_LISTED_GENES``, and none if the word is unknown. A known identifier gives only itself.
    """
    is_known = bool(describe_identifier(word)["symbol"])
    identifiers = [word] if is_known else [i for part in find_identifiers(word) for i in part]
    genes = []
    for identifier in identifiers:
        info = describe_identifier(identifier)
        species = species_name(info["species"])
        genes.append({"identifier": identifier, "symbol": info["symbol"], "species": species})
    return sorted(genes, key=lambda gene: gene["species"] != "human")[:MAX_LISTED_GENES]


def _hash_text(text: str) -> bytes:
    """Return the SHA-256 of a text, which orders questions independently of their content."""
    return hashlib.sha256(text.encode(errors="surrogatepass")).digest()


def fingerprint_docs(docs: Sequence[Doc]) -> str:
    """Return a checksum (16 hex digits) of the ids and texts, which an ``AnswerLog`` stores.

    It depends on the order of the Docs.
    """
    digest = hashlib.sha256()
    for number, doc in enumerate(docs):
        digest.update(f"{document_id(doc, number)}\0{doc.text}\0".encode())
    return digest.hexdigest()[:16]


def _states_facts(task: Task) -> bool:
    """Return whether a task exports "facts": its pairs state facts about two proteins."""
    return "facts" in task.exports


def _title(question: Question, candidate: Candidate, task: Task) -> str:
    """Return a question in words; ``candidate`` is one of its candidates.

    A pair gives "A – B: do they interact?", or "A – B" if the task does not state facts
    (``_states_facts``). A name gives "A: which is meant?" for several candidates, or "A: LABEL?"
    with the label of its single one.
    """
    texts = [span.text for span in candidate.spans]
    if len(texts) == 2:
        names = " – ".join(texts)
        return f"{names}: do they interact?" if _states_facts(task) else names
    if len(question.rows) > 1:
        return f"{texts[0]}: which is meant?"
    return f"{texts[0]}: {candidate.label_key}?"


def words_of_candidate(candidate: Candidate) -> list[dict[str, Any]]:
    """Return the tokens from a candidate's first to its last sentence, in text order.

    A token is a dictionary: ``text``, ``space`` (white space after it), ``start`` and ``end``
    (characters), ``marks`` (CSS classes separated by spaces: e1, e2 in the candidate's spans,
    "name" in other names) and ``joined``, whether the token and the next one are within the same
    name. If the text has no sentence boundaries, these are all its tokens.
    """
    doc = candidate.doc
    first, last = _sentence_range(candidate)
    names = list(doc.spans.get(SPANS_KEY, ()))
    named = {i for span in names for i in range(span.start, span.end)}
    joined = {i for span in (*names, *candidate.spans) for i in range(span.start, span.end - 1)}
    words = []
    for token in doc[first:last]:
        marks = [f"e{n + 1}" for n, s in enumerate(candidate.spans) if s.start <= token.i < s.end]
        marks += ["name"] if token.i in named and not marks else []
        words.append(
            {
                "text": token.text,
                "space": token.whitespace_,
                "start": token.idx,
                "end": token.idx + len(token),
                "marks": " ".join(marks),
                "joined": token.i in joined,
            }
        )
    return words


def _sentence_range(candidate: Candidate) -> tuple[int, int]:
    """Return the tokens [first, last) from the first to the last sentence of a candidate's spans.

    A span over several sentences counts with its first only. If the text has no sentence
    boundaries, this is the whole text. The candidate must have spans.
    """
    if not candidate.doc.has_annotation("SENT_START"):
        return 0, len(candidate.doc)
    sentences = [span.sent for span in candidate.spans]
    return min(s.start for s in sentences), max(s.end for s in sentences)


CONTEXT_SENTENCES = 2  # before and after the sentence that is asked about


def surrounding_text(candidate: Candidate) -> list[str]:
    """Return the text before and after a candidate's sentences, as ``[before, after]``.

    Each has at most ``CONTEXT_SENTENCES`` whole sentences, joined by spaces. It is "" if there are
    none, and if the Doc has no sentence boundaries.
    """
    doc = candidate.doc
    first, last = _sentence_range(candidate)
    sentences = list(doc.sents) if doc.has_annotation("SENT_START") else []
    before = [s.text.strip() for s in sentences if s.end <= first][-CONTEXT_SENTENCES:]
    after = [s.text.strip() for s in sentences if s.start >= last][:CONTEXT_SENTENCES]
    return [" ".join(before), " ".join(after)]


# Exports

MIN_ANSWERS_FOR_THRESHOLD = 50  # with fewer, the threshold of the prior stays
CORPUS_SUFFIXES = {
    "text": ".txt",
    "json_lines": ".jsonl",
    "doc_bin": ".spacy",
    "bioc_xml": ".bioc.xml",
    "bioc_json": ".json",
    "pubtator": ".pubtator",
    "conllu": ".conllu",
    "ppi_xml": ".xml",
}


def build_model(learner: ActiveLearner) -> Model:
    """Return the model of all answers so far, with the prior included; the learner is not changed.

    With fewer than ``MIN_ANSWERS_FOR_THRESHOLD`` labels, threshold and calibration are those of the
    prior, if there is one. Otherwise the threshold is ``learner.threshold``, and the calibration is
    fitted on the held-out scores of the answers and the prior. ``meta`` is that of the prior; the
    number of answers is added as ``curated`` unless it has this key. Raises ValueError if the prior
    has a second stage, or its support cannot be concatenated with that of the answers. Takes
    ``learner.lock``.
    """
    prior, rows = learner.prior, learner.rows
    with learner.lock:
        alpha, y, heldout = learner.online.alpha, learner.answers, learner.heldout
        keep_prior = prior if len(y) < MIN_ANSWERS_FOR_THRESHOLD else None
        threshold = learner.threshold if keep_prior is None else keep_prior.threshold
        meta = {"curated": len(learner.answered), **(prior.meta if prior is not None else {})}
        fit = Fit((alpha,), alpha, learner.online.coef, heldout[None])
        if prior is not None and prior.fit.second_stage is not None:
            raise ValueError("a model with a second stage over the document cannot be exported.")
        if isinstance(rows, FeatureRows):
            names, coef = merge_feature_weights(rows, learner.index, learner.online.coef, prior)
            support = None
            fit = replace(fit, coef=coef)
        else:
            names = None
            labelled = [learner.candidates[row] for row in learner.labelled]
            support = learner.pipeline.representation(labelled)
            if prior is not None:
                both = concat_rows(prior.support, support) if labelled else None
                support = prior.support if both is None else both
                fit = replace(fit, coef=_join_coefs(prior, fit.coef))
    if prior is not None:  # few answers alone would not calibrate probabilities well
        heldout, y = np.concatenate([prior.heldout, heldout]), np.concatenate([prior.labels, y])
    curve = fit_calibration(heldout, y) if keep_prior is None else keep_prior.calibration
    return Model(
        *(learner.pipeline, fit, support, names, threshold, heldout, y, meta),
        calibration=curve,
        heads=None if prior is None else prior.heads,
    )


def _join_coefs(prior: Model, coef: Vector) -> Matrix:
    """Return the coefficients of the prior's support, then those of the answers, ``coef`` (n,).

    The result has one column if the prior has no heads. Otherwise answers correct all heads: their
    coefficients are in one more column after those of the heads, which is added to the log-odds of
    every head.
    """
    if prior.heads is None:
        return np.concatenate([prior.fit.coef, coef])
    n_heads, n_prior = len(prior.heads.names), len(prior.fit.coef)
    joined = np.zeros((n_prior + len(coef), n_heads + 1))
    joined[:n_prior, : prior.fit.coef.shape[1]] = prior.fit.coef
    joined[n_prior:, n_heads] = coef
    return joined


def merge_feature_weights(
    rows: FeatureRows, index: Indices, coef: Vector, prior: Model | None
) -> tuple[FeatureNames, Vector]:
    """Return names and weights (d,) of the features of candidates and prior, weights summed.

    ``coef`` has the coefficients of the candidates ``index``. Features that only the prior has come
    last.
    """
    weights = rows.feature_weights(index, coef)
    if prior is None or prior.names is None:
        return rows.names, weights
    columns = rows.names.find(prior.names)
    is_shared = columns >= 0
    weights[columns[is_shared]] += prior.fit.coef[is_shared]
    names = FeatureNames.concat([rows.names, prior.names.take(np.flatnonzero(~is_shared))])
    return names, np.concatenate([weights, prior.fit.coef[~is_shared]])


def zip_model(model: Model) -> bytes:
    """Return a model as a zip file; its files are in the folder "model"."""
    with tempfile.TemporaryDirectory() as work:
        folder = Path(work) / "model"
        model.to_disk(folder)
        return zip_folder(folder)


def export_corpus(curation: Curation, format: str) -> tuple[bytes, str]:
    """Return the texts with an answer in a format of ``WRITERS``, and the suffix of the file.

    Pairs without an answer get the model's decision, since formats count a pair that is not listed
    as negative; JSON lines record for each pair who decided (``by``). A format of several files is
    zipped, with the suffix ".zip". Raises ValueError for an unknown format.
    """
    if format not in WRITERS:
        raise ValueError(f"{format!r} is not a format. Available: {', '.join(WRITERS)}.")
    with tempfile.TemporaryDirectory() as work, docs_with_answers(curation) as docs:
        target = Path(work) / f"corpus{CORPUS_SUFFIXES.get(format, '')}"
        write_docs(docs, target, format=format)
        if target.is_dir():
            return zip_folder(target), ".zip"
        return target.read_bytes(), CORPUS_SUFFIXES.get(format, "")


@contextmanager
def docs_with_answers(curation: Curation) -> Iterator[list[Doc]]:
    """Yield the Docs that have an answer, with the answers as gold inside the block.

    Any answer counts, also one without a label such as "unsure". The Docs, in the order of
    ``curation.docs``, are changed in place (``user_data["gold"]`` and the names) and restored
    afterwards. Pairs without an answer get the model's decision. The lock of the learner is held
    inside the block.
    """
    learner = curation.learner
    with learner.lock:
        names = {q.document for key, q in learner.questions.items() if key in learner.answered}
        docs = [doc for name, doc in curation.docs.items() if name in names]
        before = [(d, d.user_data.get("gold"), list(d.spans.get(SPANS_KEY, ()))) for d in docs]
        decisions = learner.scores >= learner.threshold
        try:
            details = _details_by_question(curation.active_events)
            for doc in docs:
                _set_gold(learner, doc, decisions, details)
            yield docs
        finally:
            for doc, gold, spans in before:
                doc.user_data["gold"] = gold
                if gold is None:
                    del doc.user_data["gold"]
                doc.spans[SPANS_KEY] = spans


def _details_by_question(events: Sequence[Event]) -> dict[str, dict[str, Any]]:
    """Return the attributes (``details``) of answers by the key of their question.

    Of several answers to a question the first with attributes counts, if its value is that of the
    first answer, which is learnt; questions without are missing. ``events`` are active ones, in
    their order.
    """
    details: dict[str, dict[str, Any]] = {}
    learnt: dict[str, str] = {}
    for event in events:
        if event.kind != "answer":
            continue
        value = learnt.setdefault(event.question, event.value)
        if event.details and event.value == value:
            details.setdefault(event.question, json.loads(event.details))
    return details


def _set_gold(
    learner: ActiveLearner,
    doc: Doc,
    decisions: NDArray[np.bool_],
    details: Mapping[str, Mapping[str, Any]],
) -> None:
    """Set gold pairs, labels and identifiers of names of a Doc from answers and decisions.

    ``decisions`` (candidates,) are those of the model, by row; ``details`` the attributes of
    answers by question. Changes the Doc: its gold rows are replaced by one per question about a
    pair (``_gold_pair``), or kept if there is no such question. Names without an answer, or with
    the answer no, keep their label; names without an identifier in an answer keep theirs. Of
    several identifiers for a name the last counts.
    """
    questions = [q for q in learner.questions.values() if learner.candidates[q.rows[0]].doc is doc]
    pairs = [q for q in questions if len(learner.candidates[q.rows[0]].spans) == 2]
    if pairs:
        doc.user_data["gold"] = [
            _gold_pair(learner, question, decisions, details.get(question.key, {}))
            for question in pairs
        ]
    labels, identifiers = {}, {}
    for question in pairs:
        spans = learner.candidates[question.rows[0]].spans
        given = details.get(question.key, {}).get("identifiers", ())
        for span, identifier in zip(spans, given, strict=False):
            identifiers[span.start, span.end] = identifier
    for question in questions:
        value = learner.answered.get(question.key, "")
        span = learner.candidates[question.rows[0]].spans[0]
        if question not in pairs and value and value not in ANSWERS_WITHOUT_LABEL:
            labels[span.start, span.end] = _chosen_label(learner, question, value)
    if labels or identifiers:
        doc.spans[SPANS_KEY] = [
            Span(
                doc,
                s.start,
                s.end,
                label=labels.get((s.start, s.end)) or s.label_,
                kb_id=identifiers.get((s.start, s.end), s.kb_id_),
                span_id=s.id_,
            )
            for s in doc.spans.get(SPANS_KEY, ())
        ]


def _gold_pair(
    learner: ActiveLearner,
    question: Question,
    decisions: NDArray[np.bool_],
    details: Mapping[str, Any],
) -> dict[str, Any]:
    """Return the gold row of a pair, by the curator's answer or else the model's decision.

    "unsure" and "wrong name" count as no answer. Keys: ``entities`` (span ids), ``label`` (whether
    they interact) and ``by`` ("curator" or "model"); after the answer "negated" ``status``, and
    after "yes" those of status, type and direction that are in ``details``. ``decisions`` are those
    of the model, by row.
    """
    spans = learner.candidates[question.rows[0]].spans
    value = learner.answered.get(question.key, "")
    row: dict[str, Any] = {"entities": [span.id_ for span in spans]}
    if value in LABEL_OF_ANSWER:
        row |= {"label": LABEL_OF_ANSWER[value] > 0, "by": "curator"}
        if value == YES:
            row |= {n: details[n] for n in ("status", "type", "direction") if n in details}
        return {**row, "status": "negated"} if value == NEGATED else row
    return {**row, "label": bool(decisions[question.rows[0]]), "by": "model"}


def _chosen_label(learner: ActiveLearner, question: Question, value: str) -> str | None:
    """Return the label that an answer gives to a name; None if the answer was no.

    ``value`` must be an answer with a label.
    """
    if LABEL_OF_ANSWER.get(value, 1.0) < 0:
        return None
    chosen = int(value.removeprefix(CHOICE_PREFIX)) if value.startswith(CHOICE_PREFIX) else 0
    return learner.candidates[question.rows[chosen]].answer


def zip_folder(folder: Path) -> bytes:
    """Return a folder as a zip file, its files under the folder's name, in sorted order.

    Subfolders are included, empty ones are not.
    """
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for file in sorted(folder.rglob("*")):
            if file.is_file():
                archive.write(file, Path(folder.name) / file.relative_to(folder))
    return buffer.getvalue()


# The application


@dataclass(frozen=True)
class CurationApp:
    """Web application of a curation.

    ``title`` is the heading of the page. ``visitors`` numbers the browsers that get a default name.
    """

    curation: Curation
    title: str
    credentials: Credentials
    visitors: Iterator[int] = field(default_factory=lambda: itertools.count(1))  # new browsers

    def app(self) -> Starlette:
        """Return the application; it checks no token, so put ``GuardMiddleware`` in front.

        GET the page ``/``, ``/api/state``, ``/api/reasons`` and ``/api/genes``; POST
        ``/api/answer``, ``undo``, ``queue`` and ``name``; GET the files below ``/export``; and
        ``common_routes``. Other addresses give a page of status 404.
        """
        routes = [
            Route("/", self.index),
            Route("/api/state", self.state),
            Route("/api/reasons", self.explain),
            Route("/api/answer", self.answer, methods=["POST"]),
            Route("/api/undo", self.undo, methods=["POST"]),
            Route("/api/queue", self.queue, methods=["POST"]),
            Route("/api/genes", self.genes),
            Route("/api/name", self.mark_name, methods=["POST"]),
            Route("/export/model.zip", self.model),
            Route("/export/answers.jsonl", self.answers),
            Route("/export/agreement.json", self.agreement),
            Route("/export/corpus/{format}", self.corpus),
        ]
        return Starlette(routes=[*routes, *common_routes()], exception_handlers={404: _not_found})

    def index(self, request: Request) -> Response:
        """Serve the page; its script fetches the first question.

        A cookie keeps the person's name for a browser. The name is that in the address (parameter
        ``as``), else that of an earlier cookie, else ``_new_person``.
        """
        chosen = clean_name(request.query_params.get("as", ""))
        person = chosen or self._cookie(request) or self._new_person()
        values = {
            "title": self.title,
            "csrf": self.credentials.csrf,
            "formats": list(WRITERS),
            "queues": QUEUES,
            "who": person,
        }
        response = render_page("curate.html", values)
        response.set_cookie(self._cookie_name, quote(person), httponly=True, samesite="strict")
        return response

    @property
    def _cookie_name(self) -> str:
        """Name of the cookie with the person's name; like that of the token, it has the port."""
        return f"textrank_curator_{self.credentials.port}"

    def _cookie(self, request: Request) -> str:
        """Return the person's name in the cookie of a request, cleaned; "" if there is none."""
        return clean_name(unquote(request.cookies.get(self._cookie_name, "")))

    def _new_person(self) -> str:
        """Return a default name for a new browser: ``curation.who``, then "who 2", "who 3", ...

        Each call uses up a number of ``visitors``. Names that browsers chose themselves (parameter
        ``as``) are not considered.
        """
        number = next(self.visitors)
        return self.curation.who if number == 1 else f"{self.curation.who} {number}"

    def _person(self, request: Request) -> str:
        """Return the name of the person who sends a request.

        It is that of the cookie, or ``curation.who`` if there is none.
        """
        return self._cookie(request) or self.curation.who

    def state(self, request: Request) -> Response:
        """Serve ``Curation.state`` of the person as JSON."""
        return JSONResponse(self.curation.state(self._person(request)))

    def explain(self, request: Request) -> Response:
        """Serve the contributions to a question's score as JSON; parameter ``question`` is its key.

        Status 422 if the question does not exist or cannot be explained.
        """
        try:
            explanation = self.curation.explain(request.query_params.get("question", ""))
        except ValueError as error:
            return JSONResponse({"error": str(error)}, status_code=422)
        return JSONResponse(explanation)

    async def answer(self, request: Request) -> Response:
        """Take an answer and serve the new state; status 422 if it is not allowed.

        JSON body: ``question``, ``value`` and, optionally, ``details`` (``check_details``).
        """

        def change(body: dict[str, Any]) -> dict[str, Any]:
            """Check the fields of the body and record the answer."""
            question, value = get_text(body, "question"), get_text(body, "value")
            details = body.get("details") or {}
            if not isinstance(details, dict):
                raise ValueError("'details' must be an object.")
            return self.curation.answer(question, value, self._person(request), details)

        return await apply_change(request, change)

    async def undo(self, request: Request) -> Response:
        """Undo the last answer or mark of the person and serve the new state.

        Status 422 if there is none.
        """
        return await apply_change(request, lambda _: self.curation.undo(self._person(request)))

    async def queue(self, request: Request) -> Response:
        """Choose the person's queue (JSON body: ``queue``) and serve the new state.

        Status 422 if it is not one of ``QUEUES``.
        """

        def change(body: dict[str, Any]) -> dict[str, Any]:
            r"""Choose the queue that the body names."""
            return self.curation.set_queue(get_text(body, "queue"), self._person(request))

        return await apply_change(request, change)

    def genes(self, request: Request) -> Response:
        """Serve genes for a symbol, synonym or identifier (parameter ``q``) as a JSON list.

        Each has ``identifier``, ``symbol`` and ``species``; at most ``MAX_LISTED_GENES``. Only the
        first ``MAX_IDENTIFIER_CHARACTERS`` of the word count; the list is empty if there is none.
        """
        word = request.query_params.get("q", "").strip()[:MAX_IDENTIFIER_CHARACTERS]
        return JSONResponse(list_genes(word) if word else [])

    async def mark_name(self, request: Request) -> Response:
        """Mark characters as a name or, with ``remove`` true, as not one; serve the new state.

        JSON body: ``document``, ``start``, ``end`` and, optionally, ``remove``. Status 422 if they
        cannot be a name.
        """

        def change(body: dict[str, Any]) -> dict[str, Any]:
            """Check the fields of the body and mark the characters."""
            start, end = (_get_integer(body, key) for key in ("start", "end"))
            remove = body.get("remove") is True
            document, person = get_text(body, "document"), self._person(request)
            return self.curation.mark(document, start, end, remove=remove, who=person)

        return await apply_change(request, change)

    def model(self, _: Request) -> Response:
        """Serve the trained model as a zip file; status 422 if it cannot be exported."""
        return serve_file(lambda: (zip_model(build_model(self.curation.learner)), "model.zip"))

    def answers(self, _: Request) -> Response:
        """Serve all events (who answered what and when) as JSON lines."""
        headers = {"content-disposition": 'attachment; filename="answers.jsonl"'}
        lines = self.curation.answers.to_json_lines()
        return StreamingResponse(lines, media_type="application/x-ndjson", headers=headers)

    def agreement(self, _: Request) -> Response:
        """Serve ``Curation.describe_agreement`` as a JSON file."""
        text = json.dumps(self.curation.describe_agreement(), indent=1, ensure_ascii=False)
        return serve_file(lambda: (f"{text}\n".encode(), "agreement.json"))

    def corpus(self, request: Request) -> Response:
        """Serve the texts with their answers in one of our formats (path parameter ``format``).

        Status 404 for an unknown format, 422 if the corpus cannot be written in it.
        """
        format = request.path_params["format"]
        if format not in WRITERS:
            return not_found(f"Unknown format; available: {', '.join(WRITERS)}.")

        def make() -> tuple[bytes, str]:
            """Return content and name of the file."""
            content, suffix = export_corpus(self.curation, format)
            return content, f"corpus{suffix}"

        return serve_file(make)


def clean_name(name: str) -> str:
    """Return the first 60 printable characters of a person's name, with single spaces.

    Other characters, such as line breaks and tabs, are dropped without a space in their place. The
    result may be "".
    """
    printable = "".join(c for c in valid_unicode(name) if c.isprintable())
    return " ".join(printable.split())[:60]


async def apply_change(request: Request, change: Callable[[dict[str, Any]], Any]) -> Response:
    """Call ``change`` with the JSON body of a request in a thread; serve its result as JSON.

    An empty body is {}. A ValueError of ``change``, or a body that is not a JSON object, becomes a
    response of status 422 with the message as ``error``.
    """
    try:
        body = json.loads(await request.body() or b"{}")
        if not isinstance(body, dict):
            raise ValueError("the body of a request must be a JSON object.")
        return JSONResponse(await run_in_threadpool(change, body))
    except (ValueError, RecursionError) as error:
        return JSONResponse({"error": str(error)}, status_code=422)


def serve_file(make: Callable[[], tuple[bytes, str]]) -> Response:
    """Serve the content and file name that ``make`` returns as a download.

    Its ValueError becomes a JSON response of status 422 with the message as ``error``.
    """
    try:
        content, name = make()
    except ValueError as error:
        return JSONResponse({"error": str(error)}, status_code=422)
    headers = {"content-disposition": f'attachment; filename="{name}"'}
    return Response(content, media_type="application/octet-stream", headers=headers)


def get_text(body: dict[str, Any], key: str) -> str:
    """Return the text under a key of a request's body; raise ValueError if it is not a text."""
    value = body.get(key)
    if not isinstance(value, str):
        raise ValueError(f"{key!r} must be a text, got {value!r:.80}.")
    return value


def _get_integer(body: dict[str, Any], key: str) -> int:
    """Return the integer under a key of a request's body; raise ValueError for any other type."""
    value = body.get(key)
    if type(value) is not int:
        raise ValueError(f"{key!r} must be a whole number, got {value!r:.80}.")
    return value


def _not_found(_: Request, __: Exception) -> Response:
    """Return the page of status 404; the arguments of an exception handler are not used."""
    return not_found("There is no such page.")
