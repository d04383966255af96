"""Review of doubtful gold labels by people: the page of ``textrank audit --review``.

``LabelReview`` asks about the labels of an audit, the most doubtful first. Every person decides
about every label independently, so that their agreement can be measured. Decisions are events of an
``AnswerLog``, on disk before they take effect. ``resolve`` combines the decisions of all people,
``corrected_docs`` applies them to the corpus, and ``ReviewApp`` serves the page and the exports.
"""

from __future__ import annotations

import hashlib
import json
import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from threading import RLock
from typing import Any
from urllib.parse import quote, unquote

import numpy as np
from scipy.stats import beta
from spacy.tokens import Doc
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route

from textrank.candidates import Candidate, document_id
from textrank.evaluation.audit import LEVEL, CorpusAudit, describe_kind
from textrank.formats.detection import WRITERS, write_docs
from textrank.pipeline import Dataset
from textrank.protocols import Task
from textrank.web.annotation import (
    CORPUS_SUFFIXES,
    MAX_LISTED_ANSWERS,
    AnswerLog,
    Event,
    apply_change,
    clean_name,
    get_text,
    serve_file,
    surrounding_text,
    words_of_candidate,
    zip_folder,
)
from textrank.web.app import Credentials, common_routes, not_found, render_page

UNSURE = "unsure"
YES, NO = "yes", "no"
MAX_CHOICES = 10  # labels of a ranking that are offered as buttons; more cannot be corrected here
RIGHT, WRONG = "right", "wrong"  # decisions about a label of a ranking with more labels than that
MAX_FILTERS = 200  # values of each filter that the page lists


@dataclass(frozen=True)
class ReviewItem:
    """Gold label, or the labels of all answers to one question, for people to decide about."""

    key: str
    rows: tuple[int, ...]  # candidates it is about, in the order of the dataset
    row: int  # the most doubtful of them
    rank: int  # of its most doubtful label
    probability: float  # that this label is wrong
    choices: tuple[str, ...]  # decisions that a person can make, besides "unsure"
    gold: str  # the decision that the corpus states
    document: str
    annotator: str
    kind: str

    def matches(self, filters: Mapping[str, str]) -> bool:
        """Return whether document, annotator and kind equal those of ``filters``.

        Missing and empty values of ``filters`` match everything.
        """
        return all(getattr(self, name) == value for name, value in filters.items() if value)


@dataclass(frozen=True)
class Resolution:
    """Decisions of all people about one item."""

    votes: Mapping[str, str]  # decision by person
    decision: str | None  # of the majority, unsure left out; None if nobody or as many disagree

    def is_wrong(self, gold: str) -> bool:
        """Return whether the people decided against the gold label; False without a decision."""
        return self.decision is not None and self.decision != gold


@dataclass(frozen=True)
class Agreement:
    """Agreement of two or more people on the items that at least two of them decided."""

    items: int
    share: float  # of pairs of decisions about one item that are equal
    kappa: float | None  # Fleiss' kappa; None if all decisions are the same


def build_items(task: Task, dataset: Dataset, audit: CorpusAudit) -> list[ReviewItem]:
    """Return the items of an audited dataset, the most doubtful first.

    If the task has answers to choose from (``Task.choices``), the candidates of one document and
    query are one item, at the rank of the most doubtful; otherwise every candidate is one. Rank,
    probability, annotator and kind are those of the most doubtful candidate; the key is the number
    of the first. Only items with a candidate in ``audit.doubts`` are built.
    """
    candidates = dataset.candidates
    by_question: dict[tuple[str, str, str], list[int]] = {}
    for row, candidate in enumerate(candidates):
        # Without answers to choose from, every candidate is decided by itself.
        alone = "" if task.choices(candidate) else str(row)
        key = (candidate.document, candidate.query, alone)
        by_question.setdefault(key, []).append(row)
    rows_of = {row: rows for rows in by_question.values() for row in rows}
    labels = _rank_labels(dataset) if task.is_ranking else ()
    items: dict[int, ReviewItem] = {}
    for doubt in audit.doubts:
        rows = rows_of[doubt.row]
        if rows[0] in items:
            continue
        candidate = candidates[doubt.row]
        choices, gold = _choices(task, [candidates[row] for row in rows], labels)
        items[rows[0]] = ReviewItem(
            key=str(rows[0]),
            rows=tuple(rows),
            row=doubt.row,
            rank=doubt.rank,
            probability=doubt.probability,
            choices=choices,
            gold=gold,
            document=candidate.document,
            annotator=doubt.annotator,
            kind=describe_kind(candidate.label_key, candidate.label),
        )
    return list(items.values())


def fingerprint_labels(dataset: Dataset) -> str:
    """Return a checksum (16 hex digits) of all labels, which an ``AnswerLog`` stores.

    It depends on the order of the candidates.
    """
    return hashlib.sha256(dataset.targets.y.tobytes()).hexdigest()[:16]


def _rank_labels(dataset: Dataset) -> tuple[str, ...]:
    """Return the different labels of a ranking as texts, highest first.

    () if there are more than ``MAX_CHOICES``.
    """
    values = np.unique(dataset.targets.y)[::-1]
    return tuple(f"{value:g}" for value in values) if len(values) <= MAX_CHOICES else ()


def _choices(
    task: Task, candidates: Sequence[Candidate], labels: Sequence[str]
) -> tuple[tuple[str, ...], str]:
    """Return the possible decisions about the candidates of an item, and the gold one.

    If the task has answers (``Task.choices``), these are the decisions; the gold one is the answer
    of the first candidate with a positive label ("" if there is none), or, for two answers about
    one candidate, the second if its label is positive, else the first. A ranking has the decisions
    ``labels``, or "right" and "wrong" if that is empty. All others have "yes" and "no". A missing
    label counts as 0.
    """
    answers = tuple(task.choices(candidates[0]))
    label = candidates[0].label or 0.0
    if len(answers) == 2 and len(candidates) == 1:
        return answers, answers[int(label > 0)]
    if answers:
        right = [c.answer for c in candidates if (c.label or 0.0) > 0]
        return answers, right[0] if right else ""
    if labels:
        return tuple(labels), f"{label:g}"
    if task.is_ranking:
        return (RIGHT, WRONG), RIGHT
    return (YES, NO), YES if label > 0 else NO


class LabelReview:
    """Decisions of people about the labels of an audited corpus.

    Parameters
    ----------
    task, docs, dataset, audit
        Task, documents, and what was computed from them.
    log
        File of the decisions; those it has already are used.
    who
        Name of the person if a request names none.
    """

    def __init__(
        self,
        task: Task,
        docs: Sequence[Doc],
        dataset: Dataset,
        audit: CorpusAudit,
        log: AnswerLog,
        who: str,
    ) -> None:
        """Build the items of the audit and replay the decisions in ``log``.

        ``who`` is the person if a request names none. Of documents that share an id the last is
        kept, and ``has_unique_ids`` is then False. The random order is the same in every review of
        as many items.
        """
        self.task, self.dataset, self.audit, self.log, self.who = task, dataset, audit, log, who
        self.docs = {document_id(doc, number): doc for number, doc in enumerate(docs)}
        self.has_unique_ids = len(self.docs) == len(docs)
        self.items = build_items(task, dataset, audit)
        self.by_key = {item.key: item for item in self.items}
        self.random_order = np.random.default_rng(0).permutation(len(self.items)).tolist()
        self._first_rows: dict[str, int] = {}  # of the candidates of each document
        for row, candidate in enumerate(dataset.candidates):
            self._first_rows.setdefault(candidate.document, row)
        self._lock = RLock()
        self._votes: dict[str, dict[str, str]] = {}  # decision by person, by item
        self._active: list[Event] = []
        self._replay()

    def _replay(self) -> None:
        """Rebuild ``_active`` and ``_votes`` from the decisions of the log that were not undone.

        A later decision of a person about an item replaces an earlier one. Decisions about items
        that do not exist are left out of both.
        """
        events = [event for event in self.log.active_events() if event.question in self.by_key]
        self._active = events
        self._votes = {}
        for event in events:
            self._votes.setdefault(event.question, {})[event.who] = event.value

    # Actions of people

    def decide(self, key: str, value: str, who: str | None = None) -> None:
        """Log a decision about an item; an earlier one of the same person is replaced.

        Raises ValueError, before anything is written, for an unknown item, or a value that is
        neither one of its choices nor "unsure". ``who`` None is the person of the review.
        """
        with self._lock:
            item = self.by_key.get(key)
            if item is None:
                raise ValueError("this label is not part of the audit. Reload the page.")
            if value not in (*item.choices, UNSURE):
                raise ValueError(
                    f"{value!r:.60} is not a decision here; available: "
                    f"{', '.join((*item.choices, UNSURE))}."
                )
            person = who or self.who
            event = self.log.append(
                "answer", person, document=item.document, question=key, value=value
            )
            self._active.append(event)
            self._votes.setdefault(key, {})[person] = value

    def undo(self, who: str | None = None) -> None:
        """Undo the last decision of a person; raise ValueError if there is none.

        An earlier decision of that person about the same item counts again. ``who`` None is the
        person of the review.
        """
        person = who or self.who
        with self._lock:
            event = next((e for e in reversed(self._active) if e.who == person), None)
            if event is None:
                raise ValueError("there is nothing of yours to undo.")
            self.log.append("undo", person, document=event.document, undoes=event.id)
            self._replay()

    # Results

    def resolve(self, item: ReviewItem) -> Resolution:
        """Combine the decisions about an item: the most frequent one wins, "unsure" does not count.

        The decision is None if nobody decided, or the two most frequent ones tie.
        """
        votes = dict(self._votes.get(item.key, {}))
        counts = Counter(vote for vote in votes.values() if vote != UNSURE).most_common(2)
        is_tied = len(counts) == 2 and counts[0][1] == counts[1][1]
        return Resolution(votes, counts[0][0] if counts and not is_tied else None)

    def agreement(self) -> Agreement | None:
        """Return the agreement of people; None if no item was decided by at least two of them.

        "unsure" is not a decision.
        """
        rows = [
            [vote for vote in votes.values() if vote != UNSURE] for votes in self._votes.values()
        ]
        return measure_agreement([row for row in rows if len(row) > 1])

    def sampled_error_rate(self) -> dict[str, Any] | None:
        """Return the share of wrong labels among items decided in random order, with its interval.

        Only items at the beginning of the random order count, up to the first without a decision
        (``Resolution.decision``; a tie is none): they are a random sample of the corpus, whatever
        else was decided. The interval is that of Clopper and Pearson. Keys: ``items``, ``wrong``,
        ``share`` and ``interval`` (``low``, ``high``, ``level``). None if there are no such items.
        """
        wrong, total = 0, 0
        for index in self.random_order:
            item = self.items[index]
            resolution = self.resolve(item)
            if resolution.decision is None:
                break
            wrong, total = wrong + resolution.is_wrong(item.gold), total + 1
        if not total:
            return None
        low = beta.ppf((1 - LEVEL) / 2, wrong, total - wrong + 1) if wrong else 0.0
        high = beta.ppf((1 + LEVEL) / 2, wrong + 1, total - wrong) if wrong < total else 1.0
        return {
            "items": total,
            "wrong": wrong,
            "share": wrong / total,
            "interval": {"low": float(low), "high": float(high), "level": LEVEL},
        }

    def next_item(
        self, who: str | None = None, filters: Mapping[str, str] | None = None, *, random: bool
    ) -> ReviewItem | None:
        """Return the first item that a person has not decided about; None if there is none.

        ``filters`` may give document, annotator and kind, "" for any. ``who`` None is the person of
        the review. With ``random`` items are in the order of the random sample, else the most
        doubtful comes first.
        """
        person, chosen = who or self.who, filters or {}
        order = self.random_order if random else range(len(self.items))
        items = (self.items[index] for index in order)
        open_items = (i for i in items if i.matches(chosen) and self._is_open(i, person))
        return next(open_items, None)

    def _is_open(self, item: ReviewItem, person: str) -> bool:
        """Return whether a person has not decided about an item; "unsure" counts as decided."""
        return person not in self._votes.get(item.key, {})

    def labels(self) -> Iterator[dict[str, Any]]:
        """Yield one row of plain values per item with any vote, the most doubtful first.

        "unsure" is a vote too. Keys: document, names (texts of the judged spans), spans
        (characters), question, gold, decision (None on a tie, or if all are unsure), wrong, votes,
        probability and rank.
        """
        for item in self.items:
            resolution = self.resolve(item)
            if not resolution.votes:
                continue
            candidate = self.dataset.candidates[item.row]
            yield {
                "document": item.document,
                "names": [span.text for span in candidate.spans],
                "spans": [[span.start_char, span.end_char] for span in candidate.spans],
                "question": candidate.question,
                "gold": item.gold,
                "decision": resolution.decision,
                "wrong": resolution.is_wrong(item.gold),
                "votes": dict(resolution.votes),
                "probability": item.probability,
                "rank": item.rank,
            }

    def corrected_docs(self) -> list[Doc]:
        """Return the documents with the labels that people decided, in order.

        Documents without a correction are the given ones, others are what ``Task.correct_labels``
        returns for a mapping from an item's first candidate, by its number in the document, to the
        decision. Raises ValueError if the task cannot write corrected labels, or there are
        corrections and two documents share an id. Without corrections, of documents that share an
        id only the last is returned.
        """
        corrections: dict[str, dict[int, str]] = {}
        for item in self.items:
            resolution = self.resolve(item)
            if resolution.decision is not None and resolution.is_wrong(item.gold):
                index = item.rows[0] - self._first_rows[item.document]
                corrections.setdefault(item.document, {})[index] = resolution.decision
        if corrections and not self.has_unique_ids:
            raise ValueError("two documents share an id, so labels cannot be written back.")
        return [
            self.task.correct_labels(doc, corrections[name]) if name in corrections else doc
            for name, doc in self.docs.items()
        ]

    # State for the page

    def state(
        self, who: str | None = None, filters: Mapping[str, str] | None = None, *, random: bool
    ) -> dict[str, Any]:
        """Return everything the page shows to a person, as plain values.

        ``filters`` and ``random`` are as in ``next_item``. Keys: ``item`` (the next one or None);
        counts of items ``decided`` (by this person) and ``reviewed`` (by anybody), both with
        "unsure", ``total``, ``wrong`` and ``disputed`` (several votes, "unsure" counted, but no
        decision), and of ``people`` with a vote; ``error_rate`` (of the audit),
        ``sampled`` (``sampled_error_rate``), ``agreement``, ``parts`` (see ``_parts``), and
        ``last`` (the person's last ``MAX_LISTED_ANSWERS`` decisions, newest first).
        """
        person = who or self.who
        with self._lock:
            item = self.next_item(person, filters, random=random)
            resolutions = [(i, self.resolve(i)) for i in self.items if i.key in self._votes]
            agreement = self.agreement()
            rate = self.audit.error_rate
            last = [e for e in reversed(self._active) if e.who == person][:MAX_LISTED_ANSWERS]
            return {
                "item": None if item is None else self._describe(item),
                "decided": sum(person in r.votes for _, r in resolutions),
                "total": len(self.items),
                "reviewed": len(resolutions),
                "wrong": sum(r.is_wrong(i.gold) for i, r in resolutions),
                "disputed": sum(len(r.votes) > 1 and r.decision is None for _, r in resolutions),
                "people": len({e.who for e in self._active}),
                "error_rate": None if rate is None else _describe_share(rate),
                "sampled": self.sampled_error_rate(),
                "agreement": None if agreement is None else vars(agreement),
                "parts": self._parts({item.key: r for item, r in resolutions}),
                "last": [self._describe_event(event) for event in last],
            }

    def _describe(self, item: ReviewItem) -> dict[str, Any]:
        """Return an item as plain values, with the sentence of its most doubtful candidate.

        Keys: ``key``, ``rank``, ``probability``, ``document``, ``annotator``, ``kind``, ``gold``
        and ``choices`` of the item, ``title`` (the question, or the names), ``words`` and
        ``around`` (``words_of_candidate``, ``surrounding_text``), ``about``
        (``Task.describe_candidate``, "" if the document is not known) and ``is_ranking``.
        """
        candidate = self.dataset.candidates[item.row]
        index = item.row - self._first_rows[item.document]
        texts = [span.text for span in candidate.spans]
        return {
            "key": item.key,
            "rank": item.rank,
            "probability": item.probability,
            "title": candidate.question or " – ".join(text[:80] for text in texts),
            "document": item.document,
            "annotator": item.annotator,
            "kind": item.kind,
            "gold": item.gold,
            "choices": list(item.choices),
            "words": words_of_candidate(candidate),
            "around": surrounding_text(candidate),
            "about": self.task.describe_candidate(self.docs[item.document], index)
            if item.document in self.docs
            else "",
            "is_ranking": self.task.is_ranking,
        }

    def _parts(self, resolutions: Mapping[str, Resolution]) -> dict[str, list[dict[str, Any]]]:
        """Return rows by annotator, document and kind, each list sorted by decreasing doubt.

        A row has ``value``, counts of its items, and ``doubtful``, the share of the audit as a dict
        (``_describe_share``), or None, which is sorted as a share of 0. Counts are ``labels`` (all
        items), ``decided`` (every item whose key is in ``resolutions``, also with a tie or only
        "unsure") and ``wrong``. Items with an empty value are left out, and each list has at most
        ``MAX_FILTERS`` rows.
        """
        parts = {}
        for name in ("annotator", "document", "kind"):
            shares = getattr(self.audit, f"by_{name}")
            rows: dict[str, dict[str, Any]] = {}
            for item in self.items:
                value = getattr(item, name)
                row = rows.setdefault(
                    value, {"value": value, "labels": 0, "decided": 0, "wrong": 0}
                )
                row["labels"] += 1
                if item.key in resolutions:
                    row["decided"] += 1
                    row["wrong"] += resolutions[item.key].is_wrong(item.gold)
            for value, row in rows.items():
                share = shares.get(value)
                row["doubtful"] = None if share is None else _describe_share(share)
            named = [row for row in rows.values() if row["value"]]
            named.sort(key=lambda row: -(row["doubtful"] or {"share": 0.0})["share"])
            parts[name] = named[:MAX_FILTERS]
        return parts

    def _describe_event(self, event: Event) -> dict[str, Any]:
        """Return a decision for the page: ``text``, ``value``, ``gold`` and ``document``.

        ``text`` are the judged spans, each cut to 60 characters. The item of the event must exist.
        """
        item = self.by_key[event.question]
        spans = self.dataset.candidates[item.row].spans
        return {
            "text": " – ".join(span.text[:60] for span in spans),
            "value": event.value,
            "gold": item.gold,
            "document": item.document,
        }


def _describe_share(share: Any) -> dict[str, Any]:
    """Return a ``LabelShare`` as plain values: ``labels``, ``share`` and ``interval`` or None."""
    interval = None if share.interval is None else vars(share.interval)
    return {"labels": share.candidates, "share": share.share, "interval": interval}


def measure_agreement(rows: Sequence[Sequence[str]]) -> Agreement | None:
    """Return the agreement of decisions; None without any.

    ``rows`` has a list of at least two decisions for each item. The share is the mean, over items,
    of the share of equal pairs of decisions. Fleiss' kappa compares it with the share that the
    frequencies of the decisions would give by chance.

    >>> measure_agreement([["yes", "yes"], ["no", "no"], ["yes", "no"], ["no", "no"]]).share
    0.75
    """
    if not rows:
        return None
    shares = []
    for row in rows:
        pairs = list(combinations(row, 2))
        shares.append(sum(a == b for a, b in pairs) / len(pairs))
    counts = Counter(vote for row in rows for vote in row)
    total = counts.total()
    chance = sum((count / total) ** 2 for count in counts.values())
    share = float(np.mean(shares))
    return Agreement(len(rows), share, None if chance >= 1 else (share - chance) / (1 - chance))


def export_corrected(review: LabelReview, format: str) -> tuple[bytes, str]:
    """Return the corrected corpus in a format of ``WRITERS``, and the suffix of the file.

    A format of several files is zipped, with the suffix ".zip". Raises ValueError as
    ``corrected_docs`` and the writer do.
    """
    with tempfile.TemporaryDirectory() as work:
        target = Path(work) / f"corpus{CORPUS_SUFFIXES.get(format, '')}"
        write_docs(review.corrected_docs(), target, format=format)
        if target.is_dir():
            return zip_folder(target), ".zip"
        return target.read_bytes(), CORPUS_SUFFIXES.get(format, "")


@dataclass(frozen=True)
class ReviewApp:
    """Web application of a review; ``title`` is the heading of the page."""

    review: LabelReview
    title: str
    credentials: Credentials

    def app(self) -> Starlette:
        """Return the application, which checks no token; put ``GuardMiddleware`` in front.

        GET the page ``/`` and ``/api/state``; POST ``/api/decide`` and ``/api/undo``; GET
        ``decisions.jsonl``, ``labels.jsonl`` and ``corpus/{format}`` below ``/export``; and
        ``common_routes``. Other addresses give a page of status 404.
        """
        routes = [
            Route("/", self.index),
            Route("/api/state", self.state),
            Route("/api/decide", self.decide, methods=["POST"]),
            Route("/api/undo", self.undo, methods=["POST"]),
            Route("/export/decisions.jsonl", self.decisions),
            Route("/export/labels.jsonl", self.labels),
            Route("/export/corpus/{format}", self.corpus),
        ]
        return Starlette(
            routes=[*routes, *common_routes()],
            exception_handlers={404: lambda *_: not_found("There is no such page.")},
        )

    def index(self, request: Request) -> Response:
        """Serve the page; its script fetches the first item.

        A cookie keeps the person's name for a browser. The name is that in the address (parameter
        ``as``), else that of an earlier cookie, else that of the review.
        """
        person = clean_name(request.query_params.get("as", "")) or self._person(request)
        values = {
            "title": self.title,
            "csrf": self.credentials.csrf,
            "formats": list(WRITERS),
            "task": self.review.task.name,
            "who": person,
        }
        response = render_page("review.html", values)
        response.set_cookie(self._cookie_name, quote(person), httponly=True, samesite="strict")
        return response

    @property
    def _cookie_name(self) -> str:
        """Name of the cookie with the person's name; like that of the token, it has the port."""
        return f"textrank_reviewer_{self.credentials.port}"

    def _person(self, request: Request) -> str:
        """Return the name of the person who sends a request.

        It is that of the cookie, or ``review.who`` if there is none.
        """
        return clean_name(unquote(request.cookies.get(self._cookie_name, ""))) or self.review.who

    def _state(self, request: Request) -> dict[str, Any]:
        """Return the state for a request, by its parameters document, annotator, kind and order.

        A missing filter matches everything. ``order`` "random" is the random order, any other value
        means by doubt.
        """
        filters = {
            name: request.query_params.get(name, "") for name in ("document", "annotator", "kind")
        }
        is_random = request.query_params.get("order") == "random"
        return self.review.state(self._person(request), filters, random=is_random)

    def state(self, request: Request) -> Response:
        """Serve ``LabelReview.state`` of the person as JSON; parameters as in ``_state``."""
        return JSONResponse(self._state(request))

    async def decide(self, request: Request) -> Response:
        """Log a decision (JSON body: ``item``, ``value``) and serve the new state.

        Status 422 for an unknown item or value.
        """

        def change(body: dict[str, Any]) -> dict[str, Any]:
            """Check the fields of the body, log the decision and return the new state."""
            key, value = get_text(body, "item"), get_text(body, "value")
            self.review.decide(key, value, self._person(request))
            return self._state(request)

        return await apply_change(request, change)

    async def undo(self, request: Request) -> Response:
        """Undo the last decision of the person and serve the new state.

        Status 422 if there is none.
        """

        def change(_: dict[str, Any]) -> dict[str, Any]:
            """Undo the decision and return the new state; the body is not used."""
            self.review.undo(self._person(request))
            return self._state(request)

        return await apply_change(request, change)

    def decisions(self, _: Request) -> Response:
        """Serve all events (who decided what and when) as JSON lines."""
        return _serve_lines(self.review.log.to_json_lines(), "decisions.jsonl")

    def labels(self, _: Request) -> Response:
        """Serve the decided labels, one JSON line each."""
        lines = (json.dumps(row, ensure_ascii=False) + "\n" for row in self.review.labels())
        return _serve_lines(lines, "labels.jsonl")

    def corpus(self, request: Request) -> Response:
        """Serve the corrected corpus (path parameter ``format``).

        Status 404 for an unknown format, 422 if the labels cannot be written.
        """
        format = request.path_params["format"]
        if format not in WRITERS:
            return not_found(f"Unknown format; available: {', '.join(WRITERS)}.")

        def make() -> tuple[bytes, str]:
            """Return content and name of the file."""
            content, suffix = export_corrected(self.review, format)
            return content, f"corrected{suffix}"

        return serve_file(make)


def _serve_lines(lines: Iterator[str], name: str) -> Response:
    """Serve JSON lines, each with its line feed, as a download with this file name."""
    headers = {"content-disposition": f'attachment; filename="{name}"'}
    return StreamingResponse(lines, media_type="application/x-ndjson", headers=headers)
