"""One sitting of curation: questions, answers on disk, names, and the model in between."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from threading import RLock, Thread
from typing import Any

from spacy.tokens import Doc

from textrank.docs import document_id
from textrank.web.answers import Answers, Event
from textrank.web.explanation import explains, parts_of
from textrank.web.naming import Mark, Names
from textrank.web.quality import Quality, advice
from textrank.web.questions import Question
from textrank.web.reasons import shown
from textrank.web.teaching import AGAIN, Teaching

CURVE = 300  # points of a curve
SHOWN = 8  # last answers on the page


class Curation:
    """A Teaching whose every change is on disk before it counts.

    Started again with the same texts and file, it takes all answers in and goes on.
    """

    def __init__(self, teaching: Teaching, docs: Sequence[Doc], answers: Answers, who: str) -> None:
        self.teaching, self.answers, self.who = teaching, answers, who
        self.docs = {document_id(doc, number): doc for number, doc in enumerate(docs)}
        self.names = {name: Names.of(doc) for name, doc in self.docs.items()}
        self.done: list[Event] = []
        self.lost: list[str] = []
        self._lock = RLock()
        self._since = 0
        self._tuning: Thread | None = None
        self._replay()
        self.asked = teaching.next()

    def _replay(self) -> None:
        """Takes in what was answered before, all at once."""
        self.done = self.answers.standing()
        for name in {e.document for e in self.done if e.kind == "name"}:
            self._rename(name)
        labels = dict(self.teaching.labels)
        for event in [e for e in self.done if e.kind == "answer"]:
            question = self.teaching.questions.get(event.question)
            if question is None:
                self.lost.append(event.question)
                continue
            labels |= question.labels(event.value)
            self.teaching.closed[question.key] = event.value
        if self.teaching.closed:
            self.teaching.retrain(labels, self.teaching.online.alpha)
            self.teaching.settle()
            self.teaching.note()

    # What people do

    def answer(self, key: str, value: str) -> dict[str, Any]:
        """Takes an answer in; the state after it."""
        with self._lock:
            question = self._open(key)
            question.labels(value)  # refused before anything is written
            event = self.answers.put(
                "answer", self.who, document=question.document, question=key, value=value
            )
            self.teaching.answer(question, value)
            self.done.append(event)
            self._since += 1
            self.asked = self.teaching.next()
            self._tune()
            return self.state()

    def undo(self) -> dict[str, Any]:
        """Takes the last answer or mark back; its question is asked again."""
        with self._lock:
            if not self.done:
                raise ValueError("there is nothing to take back.")
            event = self.done[-1]
            self.answers.put("undo", self.who, document=event.document, undoes=event.id)
            self.done.pop()
            if event.kind == "name":
                self._rename(event.document)
                self.asked = self.teaching.next()
            else:
                self._forget(event.question)
            return self.state()

    def _forget(self, key: str) -> None:
        question = self.teaching.questions.get(key)
        if question is not None:
            self.teaching.take_back(question)
        self.asked = question or self.teaching.next()

    def mark(self, name: str, start: int, end: int, *, remove: bool = False) -> dict[str, Any]:
        """Marks a name, or says that there is none; pairs of the text are made anew."""
        with self._lock:
            if name not in self.names:
                raise ValueError(f"no document {name!r} is being curated.")
            self.names[name].span(start, end)
            place = json.dumps([start, end])
            value = "none" if remove else "name"
            self.done.append(
                self.answers.put("name", self.who, document=name, question=place, value=value)
            )
            self._rename(name)
            if self.asked is None or self.asked.key not in self.teaching.questions:
                self.asked = self.teaching.next()
            return self.state()

    def _rename(self, name: str) -> None:
        marks = []
        for event in self.done:
            if event.kind == "name" and event.document == name and name in self.names:
                start, end = json.loads(event.question)
                marks.append(Mark(start, end, event.value == "none", f"m{event.id}"))
        if name in self.names:
            self.names[name].apply(marks)
            self.lost += self.teaching.renew(self.docs[name])

    def _open(self, key: str) -> Question:
        question = self.teaching.questions.get(key)
        if question is None or key in self.teaching.closed:
            raise ValueError("this question was answered or is gone. Reload the page.")
        return question

    # Alpha in the background

    def _tune(self) -> None:
        busy = self._tuning is not None and self._tuning.is_alive()
        if self._since >= AGAIN and not busy:
            self._since = 0
            self._tuning = Thread(target=self.teaching.settle, daemon=True)
            self._tuning.start()

    def wait(self) -> None:
        """Until alpha is chosen, where that is under way."""
        if self._tuning is not None:
            self._tuning.join()

    # What the page shows

    def state(self) -> dict[str, Any]:
        """Everything the page shows, as plain values."""
        teaching = self.teaching
        word, why = advice(teaching.history, teaching.kappas)
        return {
            "question": None if self.asked is None else self.shown(self.asked),
            "quality": [_figures(q) for q in teaching.history[-CURVE:]],
            "advice": {"word": word, "why": why},
            "alpha": teaching.online.alpha,
            "answered": len(teaching.closed),
            "open": len(teaching.questions) - len(teaching.closed),
            "taught": len(teaching.online),
            "lost": len(self.lost),
            "last": [self._line(event) for event in self.done[: -SHOWN - 1 : -1]],
        }

    def shown(self, question: Question) -> dict[str, Any]:
        """A question with its sentence in words, what the model thinks, and why."""
        teaching = self.teaching
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
            "explains": explains(teaching),
        }

    def _favoured(self, question: Question) -> int:
        """The row of the answer that the model would give, or the only one."""
        return max(question.rows, key=lambda row: float(self.teaching.scores[row]))

    def reasons(self, key: str) -> dict[str, Any]:
        """Why the model thinks so; asked for once the question is on the page."""
        question = self.teaching.questions.get(key)
        if question is None or not explains(self.teaching):
            raise ValueError("nothing can be said about why.")
        return shown(parts_of(self.teaching, self._favoured(question)))

    def _line(self, event: Event) -> dict[str, Any]:
        text = event.question
        question = self.teaching.questions.get(event.question)
        if question is not None:
            spans = self.teaching.candidates[question.rows[0]].spans
            text = " – ".join(span.text for span in spans)
        elif event.kind == "name":
            start, end = json.loads(event.question)
            text = self.docs[event.document].text[start:end] if event.document in self.docs else ""
        return {"text": text, "value": event.value, "who": event.who, "at": event.at,
                "document": event.document}  # fmt: skip


def fingerprint(docs: Sequence[Doc]) -> str:
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
    return f"{texts[0]}: {candidate.asked}?"


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
