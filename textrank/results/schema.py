"""Tables of a result folder: their columns, how Docs become rows, and how rows become files.

``textrank apply --out FOLDER`` writes four tables. A row of each is a TypedDict here
(``StatementRow``, ``NameRow``, ``ErrorRow``, ``DocumentRow``); the columns of the files and of the
manifest (``TABLES``) are derived from these classes, so a column is declared once.

A table is a folder of files, one file per *part* (the documents of one slice of the input). The
file of a part in ``documents`` is written last and removed first: a part exists if, and only if,
it has that file (``MARKER_TABLE``).
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path, PurePath
from typing import Any, Literal, TypeAlias, TypedDict, get_args, get_type_hints
from urllib.parse import unquote

from spacy.tokens import Doc

from textrank.io import parse_digits

Format: TypeAlias = Literal["parquet", "jsonl"]
Row: TypeAlias = Mapping[str, Any]
FORMATS: tuple[Format, ...] = get_args(Format)

# Columns


class StatementRow(TypedDict):
    """A judged pair of names, whether or not it interacts. Offsets count characters of the text.

    Ends are excluded. None means that the model does not give the value; ``source`` is the path of
    the file as the user gave it.
    """

    document: str
    start_a: int
    end_a: int
    start_b: int
    end_b: int
    name_a: str
    name_b: str
    id_a: str | None
    id_b: str | None
    score: float | None
    probability: float | None
    physical: float | None  # probability that the two bind or one modifies the other
    regulation: float | None  # probability that one regulates the other
    fact: float | None  # probability that the document states the fact about the two entities
    interacts: bool | None
    status: str  # asserted, negated or speculated
    type: str | None
    direction: str  # "a>b", "b>a" or "none"
    trigger: list[list[int]]  # characters [start, end) of the words that state the relation
    sentence_start: int | None
    sentence: str
    source: str


class NameRow(TypedDict):
    """A name in a text with its identifier, or the answer of a task other than PPI.

    Offsets count characters of the text, end excluded; None for answers without a place.
    """

    document: str
    start: int | None
    end: int | None
    name: str | None
    label: str | None
    id: str | None
    species: str | None  # NCBI taxon
    probability: float | None
    answer: str | None  # JSON, of other tasks only
    source: str


class ErrorRow(TypedDict):
    """A document that could not be read or judged.

    ``document`` is its id, or the name or number of what failed; ``source`` the path of its file.
    """

    source: str
    document: str | None
    reason: str


class DocumentRow(TypedDict):
    """A document of the input, also an empty or deleted one.

    ``words`` are separated by white space; ``position`` counts from 0.
    """

    document: str
    source: str
    title: str
    year: int | None
    words: int
    status: str  # done, empty or deleted
    input: int  # number of the file in the manifest
    position: int  # of the document in the file
    replaces: bool  # whether it replaces earlier documents of the same id
    text: str | None  # None if nothing is stated in it


_KINDS: Mapping[object, str] = {
    str: "string",
    int: "int64",
    float: "double",
    bool: "bool",
    list[list[int]]: "ranges",
}


def _columns(row_type: type) -> dict[str, str]:
    """Return the kind of each field of a row class, in order; ``X | None`` is of the kind of X.

    Kinds are the values of ``_KINDS``; KeyError for a type that it does not have.
    """
    hints = get_type_hints(row_type)
    return {
        name: _KINDS[hint] if hint in _KINDS else _KINDS[get_args(hint)[0]]
        for name, hint in hints.items()
    }


MARKER_TABLE = "documents"  # written last, removed first: its file says that a part is complete
TABLES: dict[str, dict[str, str]] = {
    "statements": _columns(StatementRow),
    "names": _columns(NameRow),
    "errors": _columns(ErrorRow),
    MARKER_TABLE: _columns(DocumentRow),
}

# Rows from Docs

TITLE_SENTENCE = r".{10,}?[.!?](?=\s+[A-Z0-9])"
MAX_TITLE_LINE = 120  # characters of a first line that is taken for a title as a whole
MAX_TITLE_CHARACTERS = 200  # of a first line that is used as title
DELETED_STATUS = "deleted"  # status of a document that its publisher withdrew


def document_row(doc: Doc, text: str, source: str, input: int, position: int) -> DocumentRow:
    """Return the row of a document.

    ``text`` is the text of the Doc, ``source`` the path of its file as the user gave it, ``input``
    the number of the file in the manifest and ``position`` the number of the document in that file,
    from 0. ``status`` is "deleted" if ``doc.user_data["deleted"]`` is set, else "empty" without
    words, else "done". A document without an id is named by its position from 1. ``title`` is the
    reader's, else the first line of the text (at most ``MAX_TITLE_CHARACTERS``); ``year`` is None
    if the reader gave no number. A document whose id was only made up from its position or file
    name replaces no other (``replaces``). The column ``text`` is None: the text is kept only with
    statements, see ``textrank.scale.worker``.
    """
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
        "text": None,
    }


def file_stem(source: str) -> str:
    """Return a file name without folder and suffix, as readers name the only document of a file.

    Only the last suffix is removed, and ".gz" after it; a name without any other suffix is kept
    whole. Percent-encoded characters are decoded.

    >>> file_stem("texts/12%2F3.xml.gz")
    '12/3'
    """
    name = PurePath(source).name
    return unquote(name.removesuffix(".gz").rpartition(".")[0] or name)


def statement_rows(doc: Doc, text: str, document: str, source: str) -> list[StatementRow]:
    """Return the judged pairs of ``doc._.textrank_ppi``, those that do not interact included.

    ``text`` is the text of the Doc, ``document`` its id, ``source`` the path of its file. [] if the
    attribute is None or empty; AttributeError if it is not registered.
    """
    return [_statement_row(row, text, document, source) for row in doc._.get("textrank_ppi") or ()]


def _statement_row(row: Row, text: str, document: str, source: str) -> StatementRow:
    """Return a row of ``doc._.textrank_ppi`` as a statement.

    ``text`` is the text of the Doc, in which the sentence is looked up. A missing status is
    "asserted", direction "none", trigger [] and sentence ""; other missing values are None. Raises
    KeyError without ``spans`` or ``names``.
    """
    (start_a, end_a), (start_b, end_b) = row["spans"]
    name_a, name_b = row["names"]
    id_a, id_b = row.get("identifiers") or (None, None)
    return {
        "document": document,
        "start_a": start_a,
        "end_a": end_a,
        "start_b": start_b,
        "end_b": end_b,
        "name_a": name_a,
        "name_b": name_b,
        "id_a": id_a,
        "id_b": id_b,
        "score": row.get("score"),
        "probability": row.get("probability"),
        "physical": row.get("physical"),
        "regulation": row.get("regulation"),
        "fact": row.get("fact"),
        "interacts": row.get("interacts"),
        "status": row.get("status") or "asserted",
        "type": row.get("type"),
        "direction": row.get("direction") or "none",
        "trigger": [list(span) for span in row.get("trigger") or ()],
        "sentence_start": _sentence_start(text, row),
        "sentence": row.get("sentence", ""),
        "source": source,
    }


def name_rows(doc: Doc, document: str, source: str, spans_key: str) -> Iterator[NameRow]:
    """Yield the names of ``doc.spans[spans_key]``, with identifiers where a component set them.

    Offsets, text, species and probability are those of ``doc._.textrank_identifiers`` if it has a
    row for the same characters; else those of the span, with None for the other two. Label and id
    are the span's, None if empty. Nothing is yielded without the span group.
    """
    identifiers = _identifiers_by_span(doc)
    for span in doc.spans.get(spans_key, ()):
        characters = (span.start_char, span.end_char)
        details = identifiers.get(characters, {})
        start, end = details.get("span", characters)
        species = details.get("species")
        yield {
            "document": document,
            "start": start,
            "end": end,
            "name": details.get("name", span.text),
            "label": span.label_ or None,
            "id": span.kb_id_ or None,
            "species": None if species is None else str(species),
            "probability": details.get("probability"),
            "answer": None,
            "source": source,
        }


def answer_rows(doc: Doc, document: str, source: str, task: str) -> Iterator[NameRow]:
    """Yield the answers of a task other than PPI as rows of ``names``; ``answer`` has all as JSON.

    Reads ``doc._.textrank_TASK``, with ``task`` for TASK; nothing is yielded if it is empty, and
    AttributeError is raised if it is not registered. ``name`` is what was asked about (a name, word
    or sentence) and ``label`` the answer; offsets are None where the answer has no span.
    """
    for row in doc._.get(f"textrank_{task}") or ():
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


def _identifiers_by_span(doc: Doc) -> dict[tuple[int, int], Row]:
    """Return the rows of ``doc._.textrank_identifiers`` by the characters of their names.

    Keys are ``(start, end)``; {} if the component has not run.
    """
    if not Doc.has_extension("textrank_identifiers"):
        return {}
    rows: Sequence[Row] = doc._.textrank_identifiers or ()
    return {(row["span"][0], row["span"][1]): row for row in rows if row.get("span")}


def _sentence_start(text: str, row: Row) -> int | None:
    """Return the first character of a pair's sentence in the text, or None if it is not found.

    ``row`` is a row of ``doc._.textrank_ppi``. Without ``sentence_start`` in it, the last
    occurrence of its sentence that begins at or before the first name is taken.
    """
    if "sentence_start" in row:
        return int(row["sentence_start"])
    first = min(start for start, _ in row["spans"])
    sentence = str(row.get("sentence", ""))
    start = text.rfind(sentence, 0, first + len(sentence)) if sentence else -1
    return start if 0 <= start <= first else None


def _title(doc: Doc, text: str) -> str:
    """Return the title that the reader found, else the first line of the text.

    Read from ``doc.user_data["title"]``, else from ``doc.user_data["meta"]["title"]``. Of a first
    line longer than ``MAX_TITLE_LINE`` characters, as of an abstract without a title, only the
    first sentence is returned. It is cut to ``MAX_TITLE_CHARACTERS``; the reader's title is not.
    """
    data = doc.user_data
    title = data.get("title") or (data.get("meta") or {}).get("title")
    if title:
        return str(title)
    line = text.strip().partition("\n")[0].strip()
    if len(line) > MAX_TITLE_LINE and (sentence := re.match(TITLE_SENTENCE, line[:1000])):
        line = sentence[0]
    return line[:MAX_TITLE_CHARACTERS]


def _year(doc: Doc) -> int | None:
    """Return the year that the reader found; None if there is none or it is not a number.

    Read from ``doc.user_data["year"]``, else from ``doc.user_data["meta"]["year"]``.
    """
    data = doc.user_data
    year: Any = data.get("year") or (data.get("meta") or {}).get("year")
    return parse_digits(str(year))


# Files


def part_file(folder: Path, table: str, part: str, format: Format) -> Path:
    """Return the path of the file of a table's part, which need not exist."""
    return folder / table / f"{part}.{format}"


def write_part(
    folder: Path, part: str, tables: Mapping[str, Sequence[Row]], format: Format
) -> None:
    """Write the tables of a part, each file atomically, ``MARKER_TABLE`` last.

    ``tables`` has rows by table. Tables missing from it are written empty, columns missing from a
    row as null, and columns that the table does not have are dropped. Files of the same part are
    replaced; the folders must exist. If the process dies before the end, the part does not exist,
    and ``remove_unfinished_parts`` removes what is left of it.
    """
    for table, columns in TABLES.items():
        file = part_file(folder, table, part, format)
        draft = file.with_name(f".{file.name}.{os.getpid()}.draft")
        try:
            _write_rows(draft, columns, tables.get(table, ()), format)
            _fsync(draft)
            draft.replace(file)
        finally:
            draft.unlink(missing_ok=True)
        _fsync(file.parent)


def _write_rows(
    path: Path, columns: Mapping[str, str], rows: Sequence[Row], format: Format
) -> None:
    """Write rows to one file, not atomically; ``columns`` are an entry of ``TABLES``.

    Missing values become null, and other keys of a row are dropped. An existing file is replaced.
    """
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
        pa.array([row.get(name) for row in rows], type=arrow_type)
        for name, arrow_type in zip(columns, schema.types, strict=True)
    ]
    pq.write_table(pa.Table.from_arrays(arrays, schema=schema), path, compression="zstd")


def arrow_schema(columns: Mapping[str, str]) -> Any:
    """Return the ``pyarrow.Schema`` of ``columns``, an entry of ``TABLES``, in the same order.

    Needs pyarrow. Raises KeyError for an unknown kind of column.
    """
    import pyarrow as pa

    types = {
        "string": pa.string(),
        "int64": pa.int64(),
        "double": pa.float64(),
        "bool": pa.bool_(),
        "ranges": pa.list_(pa.list_(pa.int64())),
    }
    return pa.schema([(name, types[kind]) for name, kind in columns.items()])


def _fsync(path: Path) -> None:
    """Flush a file or folder to the disk, so that a crash of the machine cannot lose it."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def list_parts(folder: Path, format: Format) -> set[str]:
    """Return the names of the complete parts of a result; empty for a folder without any.

    Only the file in ``MARKER_TABLE`` is looked for; it is not opened.
    """
    return {file.stem for file in (folder / MARKER_TABLE).glob(f"*.{format}")}


def remove_part(folder: Path, part: str, format: Format) -> None:
    """Remove the files of a part, ``MARKER_TABLE`` first; files that do not exist are ignored."""
    for table in reversed(TABLES):
        part_file(folder, table, part, format).unlink(missing_ok=True)


def remove_unfinished_parts(folder: Path, format: Format) -> None:
    """Remove drafts of killed writers and the files of parts that were never completed.

    Call it only while no other process writes to the folder.
    """
    complete = list_parts(folder, format)
    for table in TABLES:
        for draft in (folder / table).glob(".*.draft"):
            draft.unlink(missing_ok=True)
        for file in (folder / table).glob(f"*.{format}"):
            if file.stem not in complete:
                file.unlink(missing_ok=True)


def count_rows(folder: Path, table: str, format: Format) -> int:
    """Return the number of rows of a table over all its files, from their metadata if Parquet.

    Files of unfinished parts count too; 0 without files. Raises ValueError for a damaged file.
    """
    return sum(_count_rows_of(file, format) for file in (folder / table).glob(f"*.{format}"))


def _count_rows_of(file: Path, format: Format) -> int:
    """Return the number of rows of one file; raise ValueError if it is missing or damaged.

    JSON Lines are counted without parsing, so damage inside of them is not noticed.
    """
    with _explain_damage(file):
        if format == "jsonl":
            with file.open("rb") as stream:
                return sum(1 for _ in stream)
        import pyarrow.parquet as pq

        return int(pq.ParquetFile(file).metadata.num_rows)


def read_rows(
    folder: Path, table: str, format: Format, *, skip: Collection[str] = ()
) -> Iterator[dict[str, Any]]:
    """Yield the rows of a table in the order of its file names, except those of parts in ``skip``.

    Rows are plain dictionaries with all columns of the file. Files of unfinished parts are read too
    unless skipped. Raises ValueError for a damaged file, when it is reached. One file is in memory
    at a time.
    """
    files = (folder / table).glob(f"*.{format}")
    for file in sorted(file for file in files if file.stem not in skip):
        with _explain_damage(file):
            rows = _read_rows_of(file, format)
        yield from rows


def check_part_file(file: Path, table: str, format: Format) -> int:
    """Read a file of a part completely and return its number of rows.

    Columns that ``table`` does not have are allowed. In JSON Lines the columns are those of the
    first row, and a file without rows is accepted. Raises ValueError, with the file, if it is
    missing, damaged, or lacks columns of its table.
    """
    with _explain_damage(file):
        if format == "jsonl":
            rows = _read_rows_of(file, format)
            columns, count = set(rows[0]) if rows else set(TABLES[table]), len(rows)
        else:
            import pyarrow.parquet as pq

            with file.open("rb") as stream:
                if stream.read(4) != b"PAR1":
                    raise ValueError("it does not begin as a Parquet file")
            parquet = pq.ParquetFile(file)
            columns = set(parquet.schema_arrow.names)
            count = sum(batch.num_rows for batch in parquet.iter_batches())
        if missing := set(TABLES[table]) - columns:
            raise ValueError(f"the column {min(missing)} is missing")
    return count


def _read_rows_of(file: Path, format: Format) -> list[dict[str, Any]]:
    """Return the rows of one file as dictionaries, with all columns that the file has.

    Errors of reading and parsing are raised as they are; see ``_explain_damage``.
    """
    if format == "jsonl":
        with file.open(encoding="utf-8") as stream:
            return [dict(json.loads(line)) for line in stream]
    import pyarrow.parquet as pq

    return list(pq.read_table(file).to_pylist())


@contextmanager
def _explain_damage(file: Path) -> Iterator[None]:
    """Turn errors of reading into a ValueError that names the file and how to restore it.

    These are ValueError, TypeError, OSError (also a missing file), RecursionError and MemoryError.
    """
    try:
        yield
    except (ValueError, TypeError, OSError, RecursionError, MemoryError) as error:
        raise ValueError(
            f"{file}: damaged ({error!s:.200}). Remove the file of this name in documents and run "
            "textrank apply --out again."
        ) from error
