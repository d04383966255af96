"""A judged Doc as rows of the four tables: plain values, nothing that belongs to spaCy."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import PurePath
from typing import Any, TypeAlias
from urllib.parse import unquote

from spacy.tokens import Doc

Answers: TypeAlias = Sequence[Mapping[str, Any]]

TITLE = 200  # characters of a first line that stands in for a title
DELETED = "deleted"  # status of a document that its publisher took back


def document_row(doc: Doc, text: str, source: str, input: int, position: int) -> dict[str, Any]:
    """What is known of the document itself; ``status`` is done, empty or deleted."""
    words = len(text.split())
    status = DELETED if doc.user_data.get("deleted") else "done" if words else "empty"
    name = str(doc.user_data.get("document", position + 1))
    return {
        "document": name,
        "source": source,
        "title": _title(doc, text),
        "year": _year(doc),
        "words": words,
        "status": status,
        "input": input,
        "position": position,
        "replaces": name not in (str(position + 1), stem(source)),
    }


def stem(source: str) -> str:
    """The name of a file without folder and suffixes, after which its only document is called."""
    name = PurePath(source).name
    return unquote(name.removesuffix(".gz").rpartition(".")[0] or name)


def statement_rows(doc: Doc, text: str, document: str, source: str) -> list[dict[str, Any]]:
    """The judged pairs of a Doc, those that do not interact among them."""
    answers: Answers = doc._.textrank_ppi or ()
    return [
        {
            "document": document,
            **_pair(row),
            "score": row.get("score"),
            "probability": row.get("probability"),
            "interacts": row.get("interacts"),
            "status": row.get("status") or "asserted",
            "type": row.get("type"),
            "direction": row.get("direction") or "none",
            "trigger": [list(place) for place in row.get("trigger") or ()],
            "sentence_start": _sentence_start(text, row),
            "sentence": row.get("sentence", ""),
            "source": source,
        }
        for row in answers
    ]


def _pair(row: Mapping[str, Any]) -> dict[str, Any]:
    (start_a, end_a), (start_b, end_b) = row["spans"]
    name_a, name_b = row["names"]
    id_a, id_b = row.get("identifiers") or (None, None)
    return {
        "start_a": start_a,
        "end_a": end_a,
        "start_b": start_b,
        "end_b": end_b,
        "name_a": name_a,
        "name_b": name_b,
        "id_a": id_a,
        "id_b": id_b,
    }


def name_rows(doc: Doc, document: str, source: str, key: str) -> Iterator[dict[str, Any]]:
    """The names of a Doc with their identifiers, where a component has given any."""
    known = _identifiers(doc)
    for span in doc.spans.get(key, ()):
        place = (span.start_char, span.end_char)
        more = known.get(place, {})
        start, end = more.get("span", place)
        yield {
            "document": document,
            "start": start,
            "end": end,
            "name": more.get("name", span.text),
            "label": span.label_ or None,
            "id": span.kb_id_ or None,
            "species": _text(more.get("species")),
            "probability": more.get("probability"),
            "answer": None,
            "source": source,
        }


def answer_rows(doc: Doc, document: str, source: str, task: str) -> Iterator[dict[str, Any]]:
    """The answers of any other task: where, what was asked about, the answer, and all as JSON."""
    answers: Answers = doc._.get(f"textrank_{task}") or ()
    for row in answers:
        start, end = row.get("span") or (None, None)
        yield {
            "document": document,
            "start": start,
            "end": end,
            "name": row.get("name") or row.get("word") or row.get("sentence"),
            "label": row.get("label") or row.get("proposal"),
            "id": row.get("identifier"),
            "species": None,
            "probability": row.get("probability"),
            "answer": json.dumps(row, ensure_ascii=False),
            "source": source,
        }


def _identifiers(doc: Doc) -> dict[tuple[int, int], Mapping[str, Any]]:
    if not Doc.has_extension("textrank_identifiers"):
        return {}
    rows: Answers = doc._.textrank_identifiers or ()
    return {(row["span"][0], row["span"][1]): row for row in rows if row.get("span")}


def _sentence_start(text: str, row: Mapping[str, Any]) -> int | None:
    """Where the sentence begins in the text: the last place before the first name it fits."""
    if "sentence_start" in row:
        return int(row["sentence_start"])
    first = min(start for start, _ in row["spans"])
    sentence = str(row.get("sentence", ""))
    found = text.rfind(sentence, 0, first + len(sentence)) if sentence else -1
    return found if 0 <= found <= first else None


def _title(doc: Doc, text: str) -> str:
    data = doc.user_data
    given = data.get("title") or (data.get("meta") or {}).get("title")
    return str(given) if given else text.strip().partition("\n")[0].strip()[:TITLE]


def _year(doc: Doc) -> int | None:
    data = doc.user_data
    year: Any = data.get("year") or (data.get("meta") or {}).get("year")
    return int(year) if str(year).isdigit() else None


def _text(value: Any) -> str | None:
    return None if value is None else str(value)
