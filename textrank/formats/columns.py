"""CSV and TSV: texts in named columns; tables of names and interactions out."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from spacy.language import Language
from spacy.tokens import Doc

from textrank.docs import document_id
from textrank.formats.records import Record, docs_of
from textrank.io import LIMIT, lines, writing
from textrank.text import plain

FIELD = 16 << 20  # characters of a cell
NAMES = ("document", "start", "end", "name", "label", "id")
PAIRS = (
    "document", "name_a", "start_a", "end_a", "id_a", "name_b", "start_b", "end_b", "id_b",
    "interacts", "probability", "status", "type", "direction", "sentence",
)  # fmt: skip


@dataclass(frozen=True)
class Columns:
    """Documents of a CSV or TSV file whose first row names its columns.

    ``text`` names the columns that make the text, in order, a newline between them: those of
    ``title``, ``abstract`` and ``text`` that there are, if none are named. ``id`` names that of
    the document's id (its row number without such a column). Title and year go to
    ``doc.user_data`` by these names, all other columns to ``doc.user_data["meta"]``. Cells may be
    quoted and hold newlines. The separator is a tab if the first row has one, else a comma or ";".
    """

    path: str
    text: tuple[str, ...] = ()
    id: str = "id"
    skip_bad: bool = False
    limit: int = LIMIT

    def __post_init__(self) -> None:
        object.__setattr__(self, "text", tuple(self.text))

    def __call__(self, nlp: Language) -> Iterator[Doc]:
        rows = self._rows()
        return docs_of(rows, self._record, nlp, path=self.path, cut=False, skip_bad=self.skip_bad)

    def _rows(self) -> Iterator[tuple[int, dict[str, str]]]:
        numbered = lines(self.path, self.limit)
        _, head = next(numbered, (1, ""))
        separator = "\t" if "\t" in head else ";" if head.count(";") > head.count(",") else ","
        csv.field_size_limit(FIELD)
        at = 1
        try:
            names = next(csv.reader([head], delimiter=separator), [])
            self._columns(names)
            reader = csv.reader((line + "\n" for _, line in numbered), delimiter=separator)
            for cells in reader:
                at = reader.line_num + 1
                if cells:
                    yield at, self._row(names, cells, at)
        except csv.Error as error:
            place = f"{self.path}, after line {at}"
            raise ValueError(f"{place}: {error}. Quote cells that hold quotes or lines.") from None

    def _row(self, names: list[str], cells: list[str], line: int) -> dict[str, str]:
        if len(cells) != len(names):
            return {"\0": f"{len(cells)} cells, but {len(names)} columns", "\0line": str(line)}
        return dict(zip(names, cells, strict=True))

    def _columns(self, names: list[str]) -> tuple[str, ...]:
        wanted = self.text or tuple(n for n in ("title", "abstract", "text") if n in names)
        missing = [name for name in wanted if name not in names]
        if missing or not wanted:
            raise ValueError(
                f"{self.path}, line 1: no column {missing[0] if missing else 'text'!r} among "
                f"{', '.join(names) or 'none'}. Name the columns of the text with text=[...]."
            )
        return wanted

    def _record(self, item: tuple[int, dict[str, str]]) -> Record:
        number, row = item
        place = f"{self.path}, line {number}"
        if "\0" in row:
            raise ValueError(f"{place}: {row[chr(0)]}. Quote cells that hold the separator.")
        wanted = self._columns(list(row))
        parts = [row[name].strip() for name in wanted if row[name].strip()]
        if not parts:
            raise ValueError(f"{place}: no text in {', '.join(wanted)}. Fill it in, or skip_bad.")
        breaks = [sum(len(part) + 1 for part in parts[:n]) for n in range(1, len(parts))]
        data: dict[str, Any] = {}
        if row.get("title"):
            data["title"] = row["title"].strip()
        if row.get("year", "").strip().isdigit():
            data["year"] = int(row["year"])
        known = {*wanted, self.id, "title", "year"}
        if meta := {name: value for name, value in row.items() if name not in known}:
            data["meta"] = meta
        name = row.get(self.id) or str(number - 1)
        return Record(name, "\n".join(parts), place, breaks=breaks, data=data)


def write_names(docs: Iterable[Doc], path: str) -> None:
    """A row for each name of each document: where it stands, what it is, its identifier."""
    _write(path, NAMES, (row for doc in docs for row in _name_rows(doc)))


def write_pairs(docs: Iterable[Doc], path: str, *, source: str = "ppi") -> None:
    """A row for each judged pair of each document, as ``textrank_ppi`` left it on the Doc."""
    _write(path, PAIRS, (row for doc in docs for row in _pair_rows(doc, source)))


def write_table(docs: Iterable[Doc], path: str, *, source: str = "gold") -> None:
    """The pairs that a task judged, or the names where no task is named."""
    if source == "gold":
        write_names(docs, path)
    else:
        write_pairs(docs, path, source=source)


def _write(path: str, columns: tuple[str, ...], rows: Iterable[Mapping[str, Any]]) -> None:
    name = path.removesuffix(".gz").lower()
    separator = "," if name.endswith(".csv") else "\t"
    with writing(path) as out:
        table = csv.writer(out, delimiter=separator, lineterminator="\n")
        table.writerow(columns)
        for row in rows:
            table.writerow(["" if (v := row.get(c)) is None else v for c in columns])


def _name_rows(doc: Doc) -> Iterator[dict[str, Any]]:
    for span in doc.spans.get("entities", ()):
        yield {
            "document": document_id(doc),
            "start": span.start_char,
            "end": span.end_char,
            "name": plain(span.text),
            "label": span.label_,
            "id": span.kb_id_,
        }


def _pair_rows(doc: Doc, source: str) -> Iterator[dict[str, Any]]:
    if not doc.has_extension(f"textrank_{source}"):
        raise ValueError(f"no results {source!r} on document {document_id(doc)!r}. Run the task.")
    for row in doc._.get(f"textrank_{source}") or ():
        if "spans" not in row:
            raise ValueError(f"results {source!r} are no pairs. Write JSON lines.")
        ids = row.get("identifiers", (None, None))
        sides = zip("ab", row["names"], row["spans"], ids, strict=True)
        found: dict[str, Any] = {"document": document_id(doc)}
        for side, name, (start, end), kb_id in sides:
            found |= {f"name_{side}": name, f"start_{side}": start, f"end_{side}": end}
            found[f"id_{side}"] = kb_id
        more = ("interacts", "probability", "status", "type", "direction")
        found |= {key: row.get(key) for key in more}
        yield {**found, "sentence": plain(row["sentence"])}
