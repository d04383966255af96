"""What ``explore`` opens: a results folder, JSON lines of ``apply``, or an annotated corpus."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import spacy
from spacy.tokens import Doc, Span

from textrank.config import load_corpus
from textrank.docs import document_id
from textrank.web.store import Store, from_folder, from_rows

PREFIX = "textrank_"  # before the name of a task in a line of apply
TASK = "textrank_ppi"


def open_store(path: str | Path) -> Store:
    """The statements of a path, whatever it holds."""
    source = Path(path)
    if not source.exists():
        raise ValueError(f"{source}: no such file or folder. Name results, JSON lines or a corpus.")
    if source.is_dir() and (source / "manifest.json").is_file():
        return from_folder(source)
    if source.is_file() and _of_apply(source):
        return from_rows(_of_lines(source), source.name)
    return from_rows(_of_corpus(source), source.name)


def _of_apply(path: Path) -> bool:
    """Whether the first line is one of ``apply``."""
    try:
        with _open(path) as stream:
            first = json.loads(stream.readline(1 << 24))
    except (OSError, UnicodeDecodeError, json.JSONDecodeError, RecursionError):
        return False
    return isinstance(first, dict) and any(key.startswith(PREFIX) for key in first)


def _open(path: Path) -> Any:
    opened = gzip.open if path.suffix == ".gz" else open
    return opened(path, "rt", encoding="utf-8")


def _of_lines(path: Path) -> dict[str, list[dict[str, Any]]]:
    documents, statements = [], []
    with _open(path) as stream:
        for number, line in enumerate(stream, 1):
            if not line.strip():
                continue
            row = _line(line, f"{path}, line {number}")
            document = str(row.get("document", number))
            documents.append({"document": document, "source": path.name, "status": "done"})
            statements += [
                _statement(found, document, path.name, f"{path}, line {number}")
                for found in row[TASK] or ()
            ]
    return {"documents": documents, "statements": statements}


def _line(line: str, place: str) -> dict[str, Any]:
    try:
        row = json.loads(line)
    except json.JSONDecodeError as error:
        raise ValueError(f"{place}: not JSON ({error.msg}). Apply the model again.") from None
    if not isinstance(row, dict) or not isinstance(row.get(TASK, 0), list | None):
        raise ValueError(
            f"{place}: no {TASK!r}. explore shows interactions, as textrank apply ppi gives them."
        )
    return row


def _statement(found: Mapping[str, Any], document: str, source: str, place: str) -> dict[str, Any]:
    """A row of ``apply ppi`` with the columns of a store."""
    try:
        (start_a, end_a), (start_b, end_b) = found["spans"]
        name_a, name_b = found["names"]
        sentence = str(found.get("sentence", ""))
    except (KeyError, TypeError, ValueError) as error:
        raise ValueError(f"{place}: a pair without names or spans ({error!r}).") from None
    id_a, id_b = found.get("identifiers") or (None, None)
    kept = ("score", "probability", "interacts", "status", "type", "direction", "trigger")
    spans = [(start_a, end_a), (start_b, end_b)]
    return {
        **{key: found.get(key) for key in kept},
        "document": document, "source": source, "sentence": sentence,
        "start_a": start_a, "end_a": end_a, "start_b": start_b, "end_b": end_b,
        "name_a": name_a, "name_b": name_b, "id_a": id_a, "id_b": id_b,
        "sentence_start": sentence_start(sentence, [name_a, name_b], spans),
    }  # fmt: skip


def sentence_start(
    sentence: str, names: Sequence[str], spans: Sequence[tuple[int, int]]
) -> int | None:
    """Where a sentence begins in its document, from names whose place in both is known.

    >>> sentence_start("SHC binds GRB2.", ["SHC", "GRB2"], [(40, 43), (50, 54)])
    40
    """
    at = sentence.find(names[0])
    while at >= 0:
        start = spans[0][0] - at
        found = [sentence[max(a - start, 0) : max(b - start, 0)] for a, b in spans]
        if found == list(names):
            return start
        at = sentence.find(names[0], at + 1)
    return None


def _of_corpus(path: Path) -> dict[str, list[dict[str, Any]]]:
    tables: dict[str, list[dict[str, Any]]] = {"documents": [], "names": [], "statements": []}
    for number, doc in enumerate(load_corpus(path)(spacy.blank("en"))):
        document = document_id(doc, number)
        tables["documents"].append(
            {"document": document, "source": path.name, "words": len(doc), "status": "gold",
             "text": doc.text, "title": _title(doc)}
        )  # fmt: skip
        spans = {span.id_: span for span in doc.spans.get("entities", ())}
        tables["names"] += [
            {"document": document, "start": s.start_char, "end": s.end_char, "name": s.text,
             "label": s.label_, "id": s.kb_id_ or None} for s in spans.values()
        ]  # fmt: skip
        tables["statements"] += _gold(doc, document, spans, path.name)
    return tables


def _title(doc: Doc) -> str:
    return next((sentence.text.strip() for sentence in doc.sents), "") if len(doc) else ""


def _gold(
    doc: Doc, document: str, spans: Mapping[str, Span], source: str
) -> Iterator[dict[str, Any]]:
    """What a corpus says of pairs of its names, as statements that are certain."""
    for row in doc.user_data.get("gold", ()):
        pair = [spans[end] for end in row.get("entities", ()) if end in spans]
        if len(pair) != 2:
            continue
        a, b = sorted(pair, key=lambda span: span.start)
        start = min(a.sent.start_char, b.sent.start_char)
        end = max(a.sent.end_char, b.sent.end_char)
        says = bool(row.get("label"))
        yield {
            "document": document, "source": source, "sentence": doc.text[start:end],
            "sentence_start": start, "start_a": a.start_char, "end_a": a.end_char,
            "start_b": b.start_char, "end_b": b.end_char, "name_a": a.text, "name_b": b.text,
            "id_a": a.kb_id_ or None, "id_b": b.kb_id_ or None,
            "probability": 1.0 if says else 0.0, "interacts": says, "type": row.get("type"),
            "status": row.get("status", "asserted"),
        }  # fmt: skip
