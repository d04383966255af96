"""What people answered: an SQLite file to which every answer is written before it counts."""

from __future__ import annotations

import hashlib
import io
import json
import sqlite3
import tempfile
import zipfile
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from threading import Lock, RLock, Thread
from typing import Any

import numpy as np
from spacy.tokens import Doc, Span
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route

from textrank.candidates import document_id
from textrank.features import FeatureNames as TrainedNames
from textrank.formats.detection import WRITERS, write_docs
from textrank.learners.base import Fit
from textrank.learners.calibration import fit_calibration
from textrank.model import Model
from textrank.web._kernel_rows import FeatureRows, concat_representations
from textrank.web.active_learner import (
    ANSWERS_PER_TUNING,
    ANSWERS_WITHOUT_LABEL,
    CHOICE_PREFIX,
    LABEL_OF_ANSWER,
    NEGATED,
    ActiveLearner,
    Quality,
    Question,
    advise,
    can_explain,
    explain_row,
)
from textrank.web.app import Credentials, common_routes, not_found, render_page
from textrank.web.explorer import summarize_contributions

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
  undoes INTEGER REFERENCES events (id)
);
"""


@dataclass(frozen=True)
class Event:
    """One thing somebody did: answered a question, marked a name, or took something back."""

    id: int
    at: str
    who: str
    kind: str
    document: str
    question: str  # the key of the question; of a name the characters, as JSON
    value: str
    undoes: int | None = None


class AnswerLog:
    """The log of one curation. Nothing is ever changed in it: taking back is an event too.

    SQLite writes ahead and waits for the disk at every event, so that a killed process, or a
    machine without power, loses no answer that was acknowledged.
    """

    def __init__(self, path: str | Path, about: Mapping[str, str]) -> None:
        self.path = Path(path)
        try:
            self._db = sqlite3.connect(self.path, check_same_thread=False, isolation_level=None)
            self._db.execute("PRAGMA journal_mode = WAL")
            self._db.execute("PRAGMA synchronous = FULL")
            self._db.executescript(_TABLES)
        except sqlite3.DatabaseError as error:
            raise ValueError(
                f"{self.path}: not usable for answers ({error}). Name another with --answers."
            ) from error
        self._lock = Lock()
        self._check({"format": str(LOG_FORMAT), **about})

    def _check(self, about: Mapping[str, str]) -> None:
        """Refuses a file that belongs to other texts or another task."""
        known = dict(self._db.execute("SELECT key, value FROM about").fetchall())
        for key, value in about.items():
            if known.setdefault(key, value) != value:
                raise ValueError(
                    f"{self.path}: its answers have {key} {known[key]!r}, not {value!r}. "
                    "Name another file with --answers."
                )
            self._db.execute("INSERT OR IGNORE INTO about VALUES (?, ?)", (key, value))

    def close(self) -> None:
        """Lets go of the file."""
        self._db.close()

    def put(
        self,
        kind: str,
        who: str,
        *,
        document: str = "",
        question: str = "",
        value: str = "",
        undoes: int | None = None,
    ) -> Event:
        """Writes an event; it is on the disk when this returns."""
        at = datetime.now(UTC).isoformat(timespec="milliseconds")
        with self._lock:
            cursor = self._db.execute(
                "INSERT INTO events (at, who, kind, document, question, value, undoes) "
                "VALUES (?, ?, ?, ?, ?, ?, ?)",
                (at, who, kind, document, question, value, undoes),
            )
            number = int(cursor.lastrowid or 0)
        return Event(number, at, who, kind, document, question, value, undoes)

    def events(self) -> list[Event]:
        """All events in their order."""
        with self._lock:
            rows = self._db.execute(
                "SELECT id, at, who, kind, document, question, value, undoes FROM events "
                "ORDER BY id"
            ).fetchall()
        return [Event(*row) for row in rows]

    def standing(self) -> list[Event]:
        """Answers and names that were not taken back, in their order."""
        events = self.events()
        gone = {event.undoes for event in events if event.kind == "undo"}
        return [event for event in events if event.kind != "undo" and event.id not in gone]

    def lines(self) -> Iterator[str]:
        """The log as JSON lines."""
        for event in self.events():
            row: dict[str, Any] = {
                name: getattr(event, name)
                for name in ("id", "at", "who", "kind", "document", "question", "value", "undoes")
            }
            yield json.dumps(row, ensure_ascii=False) + "\n"


SPANS_KEY = "entities"


@dataclass(frozen=True)
class NameMark:
    """Characters that are a name, or with ``remove`` are none."""

    start: int
    end: int
    remove: bool = False
    id: str = "m0"


@dataclass(frozen=True, eq=False)
class EditableNames:
    """The names a Doc came with, to which marks are applied."""

    doc: Doc
    given: Sequence[Span]

    @classmethod
    def of(cls, doc: Doc) -> EditableNames:
        """As the Doc has them now."""
        return cls(doc, list(doc.spans.get(SPANS_KEY, ())))

    def apply(self, marks: Sequence[NameMark]) -> None:
        """The names with all marks, each in the place of those it overlaps."""
        spans = list(self.given)
        label = Counter(span.label_ for span in spans).most_common(1)
        kind = label[0][0] if label else "protein"
        for mark in marks:
            own = self.span(mark.start, mark.end)
            spans = [s for s in spans if s.end <= own.start or own.end <= s.start]
            if not mark.remove:
                spans.append(Span(self.doc, own.start, own.end, label=kind, span_id=mark.id))
        self.doc.spans[SPANS_KEY] = sorted(spans, key=lambda span: (span.start, span.end))

    def span(self, start: int, end: int) -> Span:
        """The words that characters touch; refused where there are none."""
        size = len(self.doc.text)
        found = None
        if 0 <= start < end <= size:
            found = self.doc.char_span(start, end, alignment_mode="expand")
        if found is None or not found.text.strip() or len(found) > 60:
            raise ValueError(f"characters {start} to {end} hold no name. Mark a few words.")
        return found


MAX_CURVE_POINTS = 300  # points of a curve
MAX_LISTED_ANSWERS = 8  # last answers on the page


class Curation:
    """A Teaching whose every change is on disk before it counts.

    Started again with the same texts and file, it takes all answers in and goes on.
    """

    def __init__(
        self, teaching: ActiveLearner, docs: Sequence[Doc], answers: AnswerLog, who: str
    ) -> None:
        self.learner, self.answers, self.who = teaching, answers, who
        self.docs = {document_id(doc, number): doc for number, doc in enumerate(docs)}
        self.names = {name: EditableNames.of(doc) for name, doc in self.docs.items()}
        self.active_events: list[Event] = []
        self.lost_answers: list[str] = []
        self._lock = RLock()
        self._since = 0
        self._tuning: Thread | None = None
        self._replay()
        self.current_question = teaching.next_question()

    def _replay(self) -> None:
        """Takes in what was answered before, all at once."""
        self.active_events = self.answers.standing()
        for name in {e.document for e in self.active_events if e.kind == "name"}:
            self._rename(name)
        labels = dict(self.learner.labels)
        for event in [e for e in self.active_events if e.kind == "answer"]:
            question = self.learner.questions.get(event.question)
            if question is None:
                self.lost_answers.append(event.question)
                continue
            labels |= question.labels(event.value)
            self.learner.answered[question.key] = event.value
        if self.learner.answered:
            self.learner.retrain(labels, self.learner.online.alpha)
            self.learner.tune()
            self.learner.record_quality()

    # What people do

    def answer(self, key: str, value: str) -> dict[str, Any]:
        """Takes an answer in; the state after it."""
        with self._lock:
            question = self._open(key)
            question.labels(value)  # refused before anything is written
            event = self.answers.put(
                "answer", self.who, document=question.document, question=key, value=value
            )
            self.learner.answer(question, value)
            self.active_events.append(event)
            self._since += 1
            self.current_question = self.learner.next_question()
            self._tune()
            return self.state()

    def undo(self) -> dict[str, Any]:
        """Takes the last answer or mark back; its question is asked again."""
        with self._lock:
            if not self.active_events:
                raise ValueError("there is nothing to take back.")
            event = self.active_events[-1]
            self.answers.put("undo", self.who, document=event.document, undoes=event.id)
            self.active_events.pop()
            if event.kind == "name":
                self._rename(event.document)
                self.current_question = self.learner.next_question()
            else:
                self._forget(event.question)
            return self.state()

    def _forget(self, key: str) -> None:
        question = self.learner.questions.get(key)
        if question is not None:
            self.learner.remove_answer(question)
        self.current_question = question or self.learner.next_question()

    def mark(self, name: str, start: int, end: int, *, remove: bool = False) -> dict[str, Any]:
        """Marks a name, or says that there is none; pairs of the text are made anew."""
        with self._lock:
            if name not in self.names:
                raise ValueError(f"no document {name!r} is being curated.")
            self.names[name].span(start, end)
            place = json.dumps([start, end])
            value = "none" if remove else "name"
            self.active_events.append(
                self.answers.put("name", self.who, document=name, question=place, value=value)
            )
            self._rename(name)
            if (
                self.current_question is None
                or self.current_question.key not in self.learner.questions
            ):
                self.current_question = self.learner.next_question()
            return self.state()

    def _rename(self, name: str) -> None:
        marks = []
        for event in self.active_events:
            if event.kind == "name" and event.document == name and name in self.names:
                start, end = json.loads(event.question)
                marks.append(NameMark(start, end, event.value == "none", f"m{event.id}"))
        if name in self.names:
            self.names[name].apply(marks)
            self.lost_answers += self.learner.update_doc(self.docs[name])

    def _open(self, key: str) -> Question:
        question = self.learner.questions.get(key)
        if question is None or key in self.learner.answered:
            raise ValueError("this question was answered or is gone. Reload the page.")
        return question

    # Alpha in the background

    def _tune(self) -> None:
        busy = self._tuning is not None and self._tuning.is_alive()
        if self._since >= ANSWERS_PER_TUNING and not busy:
            self._since = 0
            self._tuning = Thread(target=self.learner.tune, daemon=True)
            self._tuning.start()

    def wait(self) -> None:
        """Until alpha is chosen, where that is under way."""
        if self._tuning is not None:
            self._tuning.join()

    # What the page shows

    def state(self) -> dict[str, Any]:
        """Everything the page shows, as plain values."""
        teaching = self.learner
        word, why = advise(teaching.history, teaching.kappas)
        return {
            "question": None
            if self.current_question is None
            else self.shown(self.current_question),
            "quality": [_figures(q) for q in teaching.history[-MAX_CURVE_POINTS:]],
            "advice": {"word": word, "why": why},
            "alpha": teaching.online.alpha,
            "answered": len(teaching.answered),
            "open": len(teaching.questions) - len(teaching.answered),
            "taught": len(teaching.online),
            "lost": len(self.lost_answers),
            "last": [
                self._line(event) for event in self.active_events[: -MAX_LISTED_ANSWERS - 1 : -1]
            ],
        }

    def shown(self, question: Question) -> dict[str, Any]:
        """A question with its sentence in words, what the model thinks, and why."""
        teaching = self.learner
        row = self._favoured(question)
        candidate = teaching.candidates[row]
        p = teaching.probability(teaching.scores[list(question.rows)])
        return {
            "key": question.key,
            "document": question.document,
            "title": _title(question, candidate, teaching.pipeline.task.name),
            "choices": list(question.answers) if len(question.rows) > 1 else [],
            "words": _words(candidate),
            "around": _around(candidate),
            "score": float(teaching.scores[row]),
            "probability": None if p is None else [float(value) for value in p],
            "favoured": question.rows.index(row),
            "explains": can_explain(teaching),
        }

    def _favoured(self, question: Question) -> int:
        """The row of the answer that the model would give, or the only one."""
        return max(question.rows, key=lambda row: float(self.learner.scores[row]))

    def reasons(self, key: str) -> dict[str, Any]:
        """Why the model thinks so; asked for once the question is on the page."""
        question = self.learner.questions.get(key)
        if question is None or not can_explain(self.learner):
            raise ValueError("nothing can be said about why.")
        return summarize_contributions(explain_row(self.learner, self._favoured(question)))

    def _line(self, event: Event) -> dict[str, Any]:
        text = event.question
        question = self.learner.questions.get(event.question)
        if question is not None:
            spans = self.learner.candidates[question.rows[0]].spans
            text = " – ".join(span.text for span in spans)
        elif event.kind == "name":
            start, end = json.loads(event.question)
            text = self.docs[event.document].text[start:end] if event.document in self.docs else ""
        return {"text": text, "value": event.value, "who": event.who, "at": event.at,
                "document": event.document}  # fmt: skip


def fingerprint_docs(docs: Sequence[Doc]) -> str:
    """A checksum of the texts, by which answers know them again."""
    digest = hashlib.sha256()
    for number, doc in enumerate(docs):
        digest.update(f"{document_id(doc, number)}\0{doc.text}\0".encode())
    return digest.hexdigest()[:16]


def _figures(quality: Quality) -> dict[str, Any]:
    names = ("auc", "f", "calibration", "answers")
    return {name: getattr(quality, name) for name in names}


def _title(question: Question, candidate: Any, task: str) -> str:
    texts = [span.text for span in candidate.spans]
    if len(texts) == 2:
        return f"{texts[0]} – {texts[1]}: do they interact?" if task == "ppi" else " – ".join(texts)
    if len(question.rows) > 1:
        return f"{texts[0]}: which is meant?"
    return f"{texts[0]}: {candidate.current_question}?"


def _words(candidate: Any) -> list[dict[str, Any]]:
    """The sentences of a candidate word by word, with what marks each."""
    doc, first, last = candidate.doc, *_extent(candidate)
    names = list(doc.spans.get("entities", ()))
    named = {i for span in names for i in range(span.start, span.end)}
    joined = {i for span in (*names, *candidate.spans) for i in range(span.start, span.end - 1)}
    found = []
    for token in doc[first:last]:
        marks = [f"e{n + 1}" for n, s in enumerate(candidate.spans) if s.start <= token.i < s.end]
        marks += ["name"] if token.i in named and not marks else []
        found.append({"text": token.text, "space": token.whitespace_, "start": token.idx,
                      "end": token.idx + len(token), "marks": " ".join(marks),
                      "joined": token.i in joined})  # fmt: skip
    return found


def _extent(candidate: Any) -> tuple[int, int]:
    if not candidate.doc.has_annotation("SENT_START"):
        return 0, len(candidate.doc)
    sentences = [span.sent for span in candidate.spans]
    return min(s.start for s in sentences), max(s.end for s in sentences)


def _around(candidate: Any, size: int = 400) -> list[str]:
    """What stands before and after the sentence, some words of it."""
    doc, first, last = candidate.doc, *_extent(candidate)
    return [doc[:first].text[-size:], doc[last:].text[:size]]


MIN_ANSWERS_FOR_THRESHOLD = (
    50  # answers from which on they set the threshold, not the model one began with
)
CORPUS_SUFFIXES = {"text": ".txt", "json_lines": ".jsonl", "doc_bin": ".spacy", "bioc_xml": ".bioc.xml",
            "bioc_json": ".json", "pubtator": ".pubtator", "conllu": ".conllu",
            "ppi_xml": ".xml"}  # fmt: skip


def build_model(teaching: ActiveLearner) -> Model:
    """The model of all answers so far, to apply, to evaluate or to go on with."""
    prior, rows = teaching.prior, teaching.rows
    with teaching.lock:
        alpha, y, heldout = teaching.online.alpha, teaching.answers, teaching.heldout
        few = len(y) < MIN_ANSWERS_FOR_THRESHOLD and prior is not None
        threshold = prior.threshold if few and prior is not None else teaching.threshold
        meta = {"curated": len(teaching.answered), **(prior.meta if prior is not None else {})}
        fit = Fit((alpha,), alpha, teaching.online.coef, heldout[None])
        if prior is not None and prior.fit.second_stage is not None:
            raise ValueError("a model with a second stage over the document cannot be exported.")
        if isinstance(rows, FeatureRows):
            names, coef = _weights(teaching, rows)
            support = None
            fit = replace(fit, coef=coef)
        else:
            names = None
            taught = [teaching.candidates[row] for row in teaching.labelled]
            support = teaching.pipeline.representation(taught)
            if prior is not None:
                support = (
                    concat_representations(prior.support, support) if taught else prior.support
                )
                fit = replace(fit, coef=np.concatenate([prior.fit.coef, fit.coef]))
    if prior is not None:  # few answers alone would say little about probabilities
        heldout, y = np.concatenate([prior.heldout, heldout]), np.concatenate([prior.labels, y])
    curve = prior.calibration if few and prior is not None else fit_calibration(heldout, y)
    return Model(
        teaching.pipeline, fit, support, names, threshold, heldout, y, meta, calibration=curve
    )


def _weights(teaching: ActiveLearner, rows: FeatureRows) -> tuple[TrainedNames, Any]:
    """A weight per feature, of the prior and of the answers together."""
    own = rows.feature_weights(teaching.index, teaching.online.coef)
    prior = teaching.prior
    if prior is None or prior.names is None:
        return rows.names, own
    at = rows.names.find(prior.names)
    known = at >= 0
    own[at[known]] += prior.fit.coef[known]
    names = TrainedNames.concat([rows.names, prior.names.take(np.flatnonzero(~known))])
    return names, np.concatenate([own, prior.fit.coef[~known]])


def zip_model(teaching: ActiveLearner) -> bytes:
    """The model's folder as a zip."""
    with tempfile.TemporaryDirectory() as work:
        folder = Path(work) / "model"
        build_model(teaching).to_disk(folder)
        return zip_folder(folder)


def export_corpus(curation: Curation, format: str) -> tuple[bytes, str]:
    """The texts with an answer, written in a format, and the suffix of that file.

    Pairs without an answer get the model's decision, since formats take what is not listed for a
    no; JSON lines say of each who decided.
    """
    if format not in WRITERS:
        raise ValueError(f"unknown format {format!r}. Known: {', '.join(WRITERS)}.")
    with tempfile.TemporaryDirectory() as work, docs_with_answers(curation) as docs:
        target = Path(work) / f"corpus{CORPUS_SUFFIXES.get(format, '')}"
        write_docs(docs, target, format=format)
        if target.is_dir():
            return zip_folder(target), ".zip"
        return target.read_bytes(), CORPUS_SUFFIXES.get(format, "")


@contextmanager
def docs_with_answers(curation: Curation) -> Iterator[list[Doc]]:
    """The Docs with an answer, carrying the answers as gold while the block lasts."""
    teaching = curation.learner
    with teaching.lock:
        names = {q.document for k, q in teaching.questions.items() if k in teaching.answered}
        docs = [doc for name, doc in curation.docs.items() if name in names]
        before = [(d, d.user_data.get("gold"), list(d.spans.get("entities", ()))) for d in docs]
        decided = teaching.scores >= teaching.threshold
        try:
            for doc in docs:
                _annotate(teaching, doc, decided)
            yield docs
        finally:
            for doc, gold, spans in before:
                doc.user_data["gold"] = gold
                if gold is None:
                    del doc.user_data["gold"]
                doc.spans["entities"] = spans


def _annotate(teaching: ActiveLearner, doc: Doc, decided: Any) -> None:
    own = [q for q in teaching.questions.values() if teaching.candidates[q.rows[0]].doc is doc]
    pairs = [q for q in own if len(teaching.candidates[q.rows[0]].spans) == 2]
    if pairs:
        doc.user_data["gold"] = [_relation(teaching, q, decided) for q in pairs]
    chosen = {}
    for question in own:
        value = teaching.answered.get(question.key, "")
        span = teaching.candidates[question.rows[0]].spans[0]
        if question not in pairs and value and value not in ANSWERS_WITHOUT_LABEL:
            chosen[span.start, span.end] = _answer(teaching, question, value)
    if chosen:
        doc.spans["entities"] = [
            Span(doc, s.start, s.end, label=chosen.get((s.start, s.end)) or s.label_, span_id=s.id_)
            for s in doc.spans.get("entities", ())
        ]


def _relation(teaching: ActiveLearner, question: Question, decided: Any) -> dict[str, Any]:
    spans = teaching.candidates[question.rows[0]].spans
    value = teaching.answered.get(question.key, "")
    row: dict[str, Any] = {"entities": [span.id_ for span in spans]}
    if value in LABEL_OF_ANSWER:
        row |= {"label": LABEL_OF_ANSWER[value] > 0, "by": "curator"}
        return {**row, "status": "negated"} if value == NEGATED else row
    return {**row, "label": bool(decided[question.rows[0]]), "by": "model"}


def _answer(teaching: ActiveLearner, question: Question, value: str) -> str | None:
    """The label that a choice gives a name; None where a no leaves it open."""
    if LABEL_OF_ANSWER.get(value, 1.0) < 0:
        return None
    chosen = int(value.removeprefix(CHOICE_PREFIX)) if value.startswith(CHOICE_PREFIX) else 0
    return teaching.candidates[question.rows[chosen]].answer


def zip_folder(folder: Path) -> bytes:
    """A folder as a zip, its files under the folder's name."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for file in sorted(folder.rglob("*")):
            if file.is_file():
                archive.write(file, Path(folder.name) / file.relative_to(folder))
    return buffer.getvalue()


@dataclass(frozen=True)
class CurationApp:
    """A curation as pages."""

    curation: Curation
    title: str
    gate: Credentials

    def app(self) -> Starlette:
        """The application, without its gate."""
        routes = [
            Route("/", self.index),
            Route("/api/state", self.state),
            Route("/api/reasons", self.reasons),
            Route("/api/answer", self.answer, methods=["POST"]),
            Route("/api/undo", self.undo, methods=["POST"]),
            Route("/api/name", self.name, methods=["POST"]),
            Route("/export/model.zip", self.model),
            Route("/export/answers.jsonl", self.answers),
            Route("/export/corpus/{format}", self.corpus),
        ]
        return Starlette(routes=[*routes, *common_routes()], exception_handlers={404: _not_found})

    def index(self, _: Request) -> Response:
        """The page; its script fetches the first question."""
        task = self.curation.learner.pipeline.task.name
        values = {"title": self.title, "csrf": self.gate.csrf, "formats": list(WRITERS)}
        return render_page("curate.html", {**values, "task": task, "who": self.curation.who})

    def state(self, _: Request) -> Response:
        """Everything the page shows."""
        return JSONResponse(self.curation.state())

    def reasons(self, request: Request) -> Response:
        """The parts of a question's score."""
        try:
            found = self.curation.contributions_of(request.query_params.get("question", ""))
        except ValueError as error:
            return JSONResponse({"error": str(error)}, status_code=422)
        return JSONResponse(found)

    async def answer(self, request: Request) -> Response:
        """Takes an answer in."""

        def do(body: dict[str, Any]) -> dict[str, Any]:
            return self.curation.answer(_text(body, "question"), _text(body, "value"))

        return await _change(request, do)

    async def undo(self, request: Request) -> Response:
        """Takes the last answer back."""
        return await _change(request, lambda _: self.curation.undo())

    async def name(self, request: Request) -> Response:
        """Marks a name, or says that there is none."""

        def do(body: dict[str, Any]) -> dict[str, Any]:
            start, end = (_number(body, key) for key in ("start", "end"))
            remove = body.get("remove") is True
            return self.curation.mark(_text(body, "document"), start, end, remove=remove)

        return await _change(request, do)

    def model(self, _: Request) -> Response:
        """The trained model as a zip."""
        return _file(lambda: (zip_model(self.curation.learner), "model.zip"))

    def answers(self, _: Request) -> Response:
        """Who answered what and when, as JSON lines."""
        headers = {"content-disposition": 'attachment; filename="answers.jsonl"'}
        lines = self.curation.answers.lines()
        return StreamingResponse(lines, media_type="application/x-ndjson", headers=headers)

    def corpus(self, request: Request) -> Response:
        """The texts with their answers in a format of ours."""
        format = request.path_params["format"]
        if format not in WRITERS:
            return not_found(f"There is no such format; there are {', '.join(WRITERS)}.")

        def made() -> tuple[bytes, str]:
            content, suffix = export_corpus(self.curation, format)
            return content, f"corpus{suffix}"

        return _file(made)


async def _change(request: Request, do: Callable[[dict[str, Any]], Any]) -> Response:
    """Does what a request asks, and answers with the state after it."""
    try:
        body = json.loads(await request.body() or b"{}")
        if not isinstance(body, dict):
            raise ValueError("a request is a JSON object.")
        return JSONResponse(await run_in_threadpool(do, body))
    except (ValueError, RecursionError) as error:
        return JSONResponse({"error": str(error)}, status_code=422)


def _file(made: Callable[[], tuple[bytes, str]]) -> Response:
    try:
        content, name = made()
    except ValueError as error:
        return JSONResponse({"error": str(error)}, status_code=422)
    headers = {"content-disposition": f'attachment; filename="{name}"'}
    return Response(content, media_type="application/octet-stream", headers=headers)


def _text(body: dict[str, Any], key: str) -> str:
    value = body.get(key)
    if not isinstance(value, str):
        raise ValueError(f"{key!r} must be a text, got {value!r:.80}.")
    return value


def _number(body: dict[str, Any], key: str) -> int:
    value = body.get(key)
    if type(value) is not int:
        raise ValueError(f"{key!r} must be a whole number, got {value!r:.80}.")
    return value


def _not_found(_: Request, __: Exception) -> Response:
    return not_found("There is no such page.")
