"""Four tables of a slice, written as whole files; the plain schema of a result."""

from __future__ import annotations

import json
import os
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path, PurePath
from typing import Any, Literal, TypeAlias
from urllib.parse import unquote

from spacy.tokens import Doc

Format: TypeAlias = Literal["parquet", "jsonl"]
Row: TypeAlias = Mapping[str, Any]
FORMATS: tuple[Format, ...] = ("parquet", "jsonl")
TABLES: dict[str, dict[str, str]] = {
    "statements": {
        "document": "string",
        "start_a": "int64",
        "end_a": "int64",
        "start_b": "int64",
        "end_b": "int64",
        "name_a": "string",
        "name_b": "string",
        "id_a": "string",
        "id_b": "string",
        "score": "double",
        "probability": "double",
        "interacts": "bool",
        "status": "string",
        "type": "string",
        "direction": "string",
        "trigger": "ranges",
        "sentence_start": "int64",
        "sentence": "string",
        "source": "string",
    },
    "names": {
        "document": "string",
        "start": "int64",
        "end": "int64",
        "name": "string",
        "label": "string",
        "id": "string",
        "species": "string",
        "probability": "double",
        "answer": "string",
        "source": "string",
    },
    "errors": {"source": "string", "document": "string", "reason": "string"},
    # The last to be written: a part is there when its documents are.
    "documents": {
        "document": "string",
        "source": "string",
        "title": "string",
        "year": "int64",
        "words": "int64",
        "status": "string",
        "input": "int64",
        "position": "int64",
        "replaces": "bool",
    },
}
MARKER_TABLE = "documents"


def part_file(folder: Path, table: str, part: str, format: Format) -> Path:
    """Where a table of a part stands."""
    return folder / table / f"{part}.{format}"


def write_part(
    folder: Path, part: str, tables: Mapping[str, Sequence[Row]], format: Format
) -> None:
    """Writes the tables of a part, each file whole or not at all, that of documents last.

    A part without its documents counts as not there: the next run takes away what is left of it.
    """
    for table, columns in TABLES.items():
        file = part_file(folder, table, part, format)
        draft = file.with_name(f".{file.name}.{os.getpid()}.draft")
        try:
            _write(draft, columns, tables.get(table, ()), format)
            _sync(draft)
            draft.replace(file)
        finally:
            draft.unlink(missing_ok=True)
        _sync(file.parent)


def _write(path: Path, columns: Mapping[str, str], rows: Sequence[Row], format: Format) -> None:
    if format == "jsonl":
        with path.open("w", encoding="utf-8") as out:
            for row in rows:
                values = {name: row.get(name) for name in columns}
                out.write(json.dumps(values, ensure_ascii=False) + "\n")
        return
    import pyarrow as pa
    import pyarrow.parquet as pq

    schema = arrow_schema(columns)
    arrays = [
        pa.array([row.get(name) for row in rows], type=kind)
        for name, kind in zip(columns, schema.types, strict=True)
    ]
    pq.write_table(pa.Table.from_arrays(arrays, schema=schema), path, compression="zstd")


def arrow_schema(columns: Mapping[str, str]) -> Any:
    """The columns as Arrow types."""
    import pyarrow as pa

    kinds = {
        "string": pa.string(),
        "int64": pa.int64(),
        "double": pa.float64(),
        "bool": pa.bool_(),
        "ranges": pa.list_(pa.list_(pa.int64())),
    }
    return pa.schema([(name, kinds[kind]) for name, kind in columns.items()])


def _sync(path: Path) -> None:
    """Makes sure that a file or folder is on the disk, not only on its way there."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def list_parts(folder: Path, format: Format) -> set[str]:
    """The parts that are there."""
    return {file.stem for file in (folder / MARKER_TABLE).glob(f"*.{format}")}


def remove_part(folder: Path, part: str, format: Format) -> None:
    """Remove the tables of a part, that of documents first; what is missing is no error.

    A removal that is interrupted leaves debris, which the next run clears.
    """
    for table in reversed(TABLES):
        part_file(folder, table, part, format).unlink(missing_ok=True)


def remove_unfinished_parts(folder: Path, format: Format) -> None:
    """Takes away drafts of killed writers, and tables of parts that were not finished."""
    known = list_parts(folder, format)
    for table in TABLES:
        for draft in (folder / table).glob(".*.draft"):
            draft.unlink(missing_ok=True)
        for file in (folder / table).glob(f"*.{format}"):
            if file.stem not in known:
                file.unlink(missing_ok=True)


def count_rows(folder: Path, table: str, format: Format) -> int:
    """How many rows a table has in all parts."""
    return sum(_rows_of(file, format) for file in (folder / table).glob(f"*.{format}"))


def _rows_of(file: Path, format: Format) -> int:
    with _named(file):
        if format == "jsonl":
            with file.open("rb") as stream:
                return sum(1 for _ in stream)
        import pyarrow.parquet as pq

        return int(pq.ParquetFile(file).metadata.num_rows)


def read_rows(
    folder: Path, table: str, format: Format, *, skip: Collection[str] = ()
) -> Iterator[dict[str, Any]]:
    """Yield the rows of a table, part by part, except those of the parts in ``skip``."""
    files = (folder / table).glob(f"*.{format}")
    for file in sorted(file for file in files if file.stem not in skip):
        with _named(file):
            rows = _read(file, format)
        yield from rows


def _read(file: Path, format: Format) -> list[dict[str, Any]]:
    if format == "jsonl":
        with file.open(encoding="utf-8") as stream:
            return [dict(json.loads(line)) for line in stream]
    import pyarrow.parquet as pq

    return list(pq.read_table(file).to_pylist())


@contextmanager
def _named(file: Path) -> Iterator[None]:
    """What a damaged part leads to, as an error that says which one and what to do."""
    try:
        yield
    except (ValueError, TypeError, OSError, RecursionError, MemoryError) as error:
        raise ValueError(
            f"{file}: damaged ({error!s:.200}). Remove the file of this name in documents and run "
            "textrank apply --out again."
        ) from error


Answers: TypeAlias = Sequence[Mapping[str, Any]]
MAX_TITLE_CHARACTERS = 200  # characters of a first line that stands in for a title
DELETED_STATUS = "deleted"  # status of a document that its publisher took back


def document_row(doc: Doc, text: str, source: str, input: int, position: int) -> dict[str, Any]:
    """What is known of the document itself; ``status`` is done, empty or deleted."""
    words = len(text.split())
    status = DELETED_STATUS if doc.user_data.get("deleted") else "done" if words else "empty"
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
        "replaces": name not in (str(position + 1), file_stem(source)),
    }


def file_stem(source: str) -> str:
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
    return str(given) if given else text.strip().partition("\n")[0].strip()[:MAX_TITLE_CHARACTERS]


def _year(doc: Doc) -> int | None:
    data = doc.user_data
    year: Any = data.get("year") or (data.get("meta") or {}).get("year")
    return int(year) if str(year).isdigit() else None


def _text(value: Any) -> str | None:
    return None if value is None else str(value)
