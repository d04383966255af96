"""JSON lines: one document a line, with names and relations where there are any."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from spacy.language import Language
from spacy.tokens import Doc

from textrank.formats.records import (
    Mention,
    Record,
    docs_of,
    document_of,
    mentions_of,
    relations_of,
)
from textrank.io import LIMIT, check_utf8, lines, load_json, writing

KEYS = ("id", "text", "entities", "relations", "sentences")
# What other formats put on a Doc, and this one keeps for them.
EXTRA = {
    "origin": str,
    "concepts": dict,
    "concept_relations": list,
    "events": list,
    "equivalent": list,
    "attributes": list,
}


@dataclass(frozen=True)
class JsonLines:
    """Documents of a JSON lines file: ``{"id": ..., "text": ..., "entities": [...]}`` a line.

    An entity is ``[start, end, label]``, end exclusive, or an object with ``id``, ``label`` and
    ``pieces``, a list of ``[start, end]``. ``relations`` are objects with ``entities`` (two ids),
    ``label`` (true or false) and perhaps ``type``; ``sentences`` lists the first character of each
    sentence. Further keys stay in ``doc.user_data["meta"]``. Without ``sentences`` a newline ends
    a sentence if ``newlines`` is true, as between title and abstract; if it is not said, so in
    documents with ``entities``, while bare text is read as a text file is. Without
    ``entities`` the names are left to a recogniser in ``nlp``.

    ``cut`` cuts a token that a name covers in part, so that "-binding" outlives a blinded name.
    With ``skip_bad`` a document with an error is left out and counted in one warning.
    """

    path: str
    cut: bool = True
    newlines: bool | None = None
    skip_bad: bool = False
    limit: int = LIMIT

    def __call__(self, nlp: Language) -> Iterator[Doc]:
        rows = ((n, line) for n, line in lines(self.path, self.limit) if line.strip())
        return docs_of(
            rows, self._record, nlp, path=self.path, cut=self.cut, skip_bad=self.skip_bad
        )

    def _record(self, row: tuple[int, str]) -> Record:
        place = f"{self.path}, line {row[0]}"
        value = load_json(check_utf8(row[1], place), place)
        if not isinstance(value, dict) or not isinstance(value.get("text"), str):
            raise ValueError(f'{place}: no "text". Write {{"id": ..., "text": ...}} on each line.')
        text: str = value["text"]
        mentions = _each(value, "entities", place, _mention) if "entities" in value else None
        gold = _each(value, "relations", place, _relation) if "relations" in value else None
        starts = _each(value, "sentences", place, _start)
        hard = mentions is not None if self.newlines is None else self.newlines
        breaks = starts or ([i + 1 for i, c in enumerate(text) if c == "\n"] * hard)
        data = {key: value[key] for key, kind in EXTRA.items() if isinstance(value.get(key), kind)}
        meta = {key: value[key] for key in value if key not in KEYS and key not in data}
        return Record(
            str(value.get("id", row[0])),
            text,
            place,
            mentions,
            gold,
            breaks,
            sentences=bool(starts),
            data={**data, "meta": meta} if meta else data,
        )


def write_json_lines(docs: Iterable[Doc], path: str, *, source: str = "gold") -> None:
    """One line a document, in the shape ``JsonLines`` reads; relations from gold or a task.

    Nothing an annotation format puts on a Doc is lost, but tokens, tags and parses are.
    """
    with writing(path) as out:
        for doc in docs:
            row: dict[str, Any] = {"id": document_of(doc), "text": doc.text}
            if "entities" in doc.spans:
                row["entities"] = [_row(mention) for mention in mentions_of(doc)]
            if source != "gold" or "gold" in doc.user_data:
                row["relations"] = relations_of(doc, source)
            row["sentences"] = [sentence.start_char for sentence in doc.sents]
            row |= {key: doc.user_data[key] for key in EXTRA if doc.user_data.get(key)}
            row |= doc.user_data.get("meta", {})
            out.write(json.dumps(row, ensure_ascii=False) + "\n")


def _row(mention: Mention) -> dict[str, Any]:
    pieces = [list(piece) for piece in mention.pieces]
    return {"id": mention.id, "label": mention.label, "pieces": pieces}


def whole(value: object) -> bool:
    """Whether a JSON value is an integer; true and false are not."""
    return isinstance(value, int) and not isinstance(value, bool)


def _each(value: Mapping[str, Any], key: str, place: str, make: Any) -> list[Any]:
    rows = value.get(key) or []
    if not isinstance(rows, list):
        raise ValueError(f'{place}: "{key}" is no list. Write {{"{key}": [...]}}.')
    return [make(row, number, f'{place}, "{key}" {number}') for number, row in enumerate(rows, 1)]


def _mention(row: Any, number: int, place: str) -> Mention:
    match row:
        case [start, end, str(label)]:
            return Mention(f"T{number}", label, _ranges([[start, end]], place))
        case {"pieces": [_, *_] as pieces, "label": str(label)}:
            return Mention(str(row.get("id", f"T{number}")), label, _ranges(pieces, place))
    raise ValueError(
        f'{place}: {row!r:.80} is no entity. Write [start, end, label] or {{"label": ..., '
        '"pieces": [[start, end]]}.'
    )


def _ranges(rows: Sequence[Any], place: str) -> tuple[tuple[int, int], ...]:
    for row in rows:
        if not (isinstance(row, list) and len(row) == 2 and all(map(whole, row))):
            raise ValueError(f"{place}: {row!r:.80} is no range. Write [start, end] in characters.")
    return tuple((start, end) for start, end in rows)


def _relation(row: Any, _: int, place: str) -> Mapping[str, Any]:
    match row:
        case {"entities": [str(), str()], "label": bool()}:
            return row
    raise ValueError(
        f'{place}: {row!r:.80} is no relation. Write {{"entities": [id, id], "label": true}}.'
    )


def _start(row: Any, _: int, place: str) -> int:
    if not whole(row):
        raise ValueError(f"{place}: {row!r:.80} is no character offset. Write an integer.")
    return int(row)
