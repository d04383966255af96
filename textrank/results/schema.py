"""Tables of a result folder: columns, rows built from Docs, and files.

``textrank apply --out FOLDER`` writes four tables. A row of each is a TypedDict here
(``StatementRow``, ``NameRow``, ``ErrorRow``, ``DocumentRow``); the columns of the files and of the
manifest (``TABLES``) are derived from these classes, so a column is declared once.

A table is a folder of files, one file per *part* (the documents of one slice of the input). The
file of a part in ``documents`` is written last and removed first: a part exists if, and only if, it
has that file (``MARKER_TABLE``). Before it, the checksums of all files of the part are written to a
file in ``checksums``, which ``sha256sum --check`` understands too.
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

from textrank.io import file_checksum, parse_digits

Format: TypeAlias = Literal["parquet", "jsonl"]
Row: TypeAlias = Mapping[str, Any]
FORMATS: tuple[Format, ...] = get_args(Format)

# Columns


class StatementRow(TypedDict):
    """Row of the table ``statements``: a pair of names judged by the model, interacting or not.

    Offsets count characters of the text, ends excluded. None means that the model does not give the
    value. ``source`` is the path of the file as the user gave it.
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
    """Row of the table ``names``: a name with its identifier, or an answer of another task.

    Offsets count characters of the text, end excluded; None for answers that have no position.
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
    """Row of the table ``errors``: a document that could not be read or annotated.

    ``document`` is its id, its number in the file or the name of the file; ``source`` is the path
    of the file as the user gave it.
    """

    source: str
    document: str | None
    reason: str


class DocumentRow(TypedDict):
    """Row of the table ``documents``: a document of the input, even if empty or deleted.

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
    """Return the column type of each field of a row class, in order.

    Column types are the values of ``_KINDS``; ``X | None`` has that of X. Raises KeyError for any
    other type.
    """
    hints = get_type_hints(row_type)
    return {
        name: _KINDS[hint] if hint in _KINDS else _KINDS[get_args(hint)[0]]
        for name, hint in hints.items()
    }


MARKER_TABLE = "documents"  # written last, removed first: its file says that a part is complete
CHECKSUM_FOLDER = "checksums"
CHECKSUM_SUFFIX = ".sha256"
MAX_CHECKSUM_BYTES = 10_000  # of one file of checksums
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
    """Return the row of a document in the table ``documents``.

    ``text`` is the text of the Doc, ``source`` the path of its file as the user gave it, ``input``
    the number of the file in the manifest and ``position`` the number of the document in that file,
    from 0. ``status`` is "deleted" if ``doc.user_data["deleted"]`` is true, else "empty" if the
    text has no words, else "done". The id is ``doc.user_data["document"]``, or else the position
    counted from 1. ``replaces`` is False if the id is only the position or the file name, since it
    may then occur in other files. ``title`` and ``year`` are those of ``_title`` and ``_year``.
    ``text`` is None; ``textrank.scale.worker`` sets it if the document has statements.
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
    """Return a file name without folder and suffix, the default id of a file's only document.

    The last suffix is removed, and ".gz" after it; a name with no other suffix than ".gz" is kept
    whole. Percent-encoded characters are decoded.

    >>> file_stem("texts/12%2F3.xml.gz")
    '12/3'
    """
    name = PurePath(source).name
    return unquote(name.removesuffix(".gz").rpartition(".")[0] or name)


def statement_rows(doc: Doc, text: str, document: str, source: str) -> list[StatementRow]:
    """Return the judged pairs of a Doc, in ``doc._.textrank_ppi``, as rows of ``statements``.

    Pairs that do not interact are included. ``text`` is the text of the Doc, ``document`` its id,
    ``source`` the path of its file. [] if the attribute is None or empty; raises AttributeError if
    it is not registered.
    """
    return [_statement_row(row, text, document, source) for row in doc._.get("textrank_ppi") or ()]


def _statement_row(row: Row, text: str, document: str, source: str) -> StatementRow:
    """Convert a row of ``doc._.textrank_ppi`` to a row of ``statements``.

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
    """Yield the names in ``doc.spans[spans_key]`` as rows of ``names``, with their identifiers.

    If ``doc._.textrank_identifiers`` has a row for the same characters, offsets, text, species and
    probability are taken from it; otherwise offsets and text are those of the span, and the other
    two None. Label and id are those of the span, None if empty. If there is no such span group,
    nothing is yielded.
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
    """Yield the answers of a task other than PPI as rows of ``names``.

    Answers are those in ``doc._.textrank_TASK``, with ``task`` for TASK. ``name`` is the name, word
    or sentence in question, ``label`` the answer, and ``answer`` the complete answer as JSON;
    offsets are None if the answer has no span. Raises AttributeError if the attribute is not
    registered.
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
    """Return the rows of ``doc._.textrank_identifiers`` by the character offsets of their names.

    Keys are ``(start, end)``; {} if the attribute is not registered or empty.
    """
    if not Doc.has_extension("textrank_identifiers"):
        return {}
    rows: Sequence[Row] = doc._.textrank_identifiers or ()
    return {(row["span"][0], row["span"][1]): row for row in rows if row.get("span")}


def _sentence_start(text: str, row: Row) -> int | None:
    """Return the offset of a pair's sentence in the text, or None if it is not found.

    ``row`` is a row of ``doc._.textrank_ppi``. If it has ``sentence_start``, this is returned;
    otherwise the last occurrence of its sentence that begins at or before the first name.
    """
    if "sentence_start" in row:
        return int(row["sentence_start"])
    first = min(start for start, _ in row["spans"])
    sentence = str(row.get("sentence", ""))
    start = text.rfind(sentence, 0, first + len(sentence)) if sentence else -1
    return start if 0 <= start <= first else None


def _title(doc: Doc, text: str) -> str:
    """Return the title of a document: that of the reader, or else the first line of the text.

    The reader's title is ``doc.user_data["title"]``, or else ``doc.user_data["meta"]["title"]``,
    and is returned whole. A first line longer than ``MAX_TITLE_LINE`` characters, such as an
    abstract without a title, is reduced to its first sentence, if it ends within 1000 characters.
    In any case the line is cut to ``MAX_TITLE_CHARACTERS``; blank lines before it are skipped.
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
    """Return the year of a document; None if the reader gave none or it is not a number.

    Read from ``doc.user_data["year"]``, else from ``doc.user_data["meta"]["year"]``.
    """
    data = doc.user_data
    year: Any = data.get("year") or (data.get("meta") or {}).get("year")
    return parse_digits(str(year))


# Files


def part_file(folder: Path, table: str, part: str, format: Format) -> Path:
    """Return the path of the file that holds a part of a table; it need not exist."""
    return folder / table / f"{part}.{format}"


def checksum_file(folder: Path, part: str) -> Path:
    """Return the path of the file with the checksums of a part; it need not exist."""
    return folder / CHECKSUM_FOLDER / f"{part}{CHECKSUM_SUFFIX}"


def write_part(
    folder: Path, part: str, tables: Mapping[str, Sequence[Row]], format: Format
) -> None:
    """Write all tables of a part, then its checksums, each file atomically; ``MARKER_TABLE`` last.

    ``tables`` has rows by table name. Missing tables are written without rows and missing values as
    null; other keys of a row are ignored. Existing files of the part are replaced; the folders of
    the tables must exist. If the process dies before the end, the part counts as unfinished, and
    ``remove_unfinished_parts`` removes its files.
    """
    (folder / CHECKSUM_FOLDER).mkdir(exist_ok=True)
    lines = []
    for table, columns in TABLES.items():
        file = part_file(folder, table, part, format)
        with _draft_of(file) as draft:
            _write_rows(draft, columns, tables.get(table, ()), format)
            lines.append(f"{file_checksum(draft)}  {table}/{file.name}\n")
            if table == MARKER_TABLE:
                with _draft_of(checksum_file(folder, part)) as checksum_draft:
                    checksum_draft.write_text("".join(lines), encoding="utf-8")


@contextmanager
def _draft_of(file: Path) -> Iterator[Path]:
    """Yield the path of a temporary file, which becomes ``file`` at the end of the block.

    Context manager. The content is on the disk before the file gets its name. After an exception
    the temporary file is removed and ``file`` stays as it was.
    """
    draft = file.with_name(f".{file.name}.{os.getpid()}.draft")
    try:
        yield draft
        _fsync(draft)
        draft.replace(file)
    finally:
        draft.unlink(missing_ok=True)
    _fsync(file.parent)


def read_checksums(folder: Path, part: str) -> dict[str, str] | None:
    """Return the recorded SHA-256 of each file of a part, by table.

    None if there is no record: the part was written by an older textrank. Raises ValueError if the
    record is damaged.
    """
    file = checksum_file(folder, part)
    if not file.exists():
        return None
    with _explain_damage(file):
        rows = [_CHECKSUM_LINE.fullmatch(line) for line in _read_lines(file)]
        checksums = {row["table"]: row["checksum"] for row in rows if row and row["part"] == part}
        if None in rows or checksums.keys() != TABLES.keys():
            raise ValueError("it does not list one checksum for each table")
    return checksums


_CHECKSUM_LINE = re.compile(r"(?P<checksum>[0-9a-f]{64})  (?P<table>\w+)/(?P<part>[^/]+)\.\w+")


def _read_lines(file: Path) -> list[str]:
    """Return the lines of a small file without line ends; raise ValueError if it is not small."""
    with file.open("rb") as stream:
        data = stream.read(MAX_CHECKSUM_BYTES + 1)
    if len(data) > MAX_CHECKSUM_BYTES:
        raise ValueError(f"it has more than {MAX_CHECKSUM_BYTES} bytes")
    return data.decode("utf-8").splitlines()


def _write_rows(
    path: Path, columns: Mapping[str, str], rows: Sequence[Row], format: Format
) -> None:
    """Write rows to one file, replacing an existing one, but not atomically.

    ``columns`` is an entry of ``TABLES``. Missing values are written as null; other keys of a row
    are ignored.
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
    """Return the ``pyarrow.Schema`` for a table's columns, in the same order.

    ``columns`` is an entry of ``TABLES``. Raises KeyError for an unknown column type, and
    ModuleNotFoundError if pyarrow is not installed.
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
    """Return the names of the complete parts in a result folder.

    A part is complete if it has a file in ``MARKER_TABLE``, which is not opened.
    """
    return {file.stem for file in (folder / MARKER_TABLE).glob(f"*.{format}")}


def remove_part(folder: Path, part: str, format: Format) -> None:
    """Remove the files of a part, ``MARKER_TABLE`` first; files that do not exist are ignored."""
    for table in reversed(TABLES):
        part_file(folder, table, part, format).unlink(missing_ok=True)
    checksum_file(folder, part).unlink(missing_ok=True)


def remove_unfinished_parts(folder: Path, format: Format) -> None:
    """Remove temporary files of killed processes and the files of incomplete parts.

    Call it only while no other process writes to the folder.
    """
    complete = list_parts(folder, format)
    suffixes = {**dict.fromkeys(TABLES, f".{format}"), CHECKSUM_FOLDER: CHECKSUM_SUFFIX}
    for name, suffix in suffixes.items():
        for draft in (folder / name).glob(".*.draft"):
            draft.unlink(missing_ok=True)
        for file in (folder / name).glob(f"*{suffix}"):
            if file.stem not in complete:
                file.unlink(missing_ok=True)


def count_rows(folder: Path, table: str, format: Format) -> int:
    """Return the number of rows of a table over all its files.

    Files of incomplete parts count too; 0 if there are no files. Rows of Parquet files are not
    read. Raises ValueError for a damaged file.
    """
    return sum(_count_rows_of(file, format) for file in (folder / table).glob(f"*.{format}"))


def _count_rows_of(file: Path, format: Format) -> int:
    """Return the number of rows of one file; raise ValueError if it is missing or damaged.

    For Parquet only the metadata is read; for JSON Lines lines are counted without parsing them.
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

    Rows are dictionaries with all columns of the file. Files of incomplete parts are read too
    unless skipped. Raises ValueError for a damaged file, when it is reached. One file is in memory
    at a time.
    """
    files = (folder / table).glob(f"*.{format}")
    for file in sorted(file for file in files if file.stem not in skip):
        with _explain_damage(file):
            rows = _read_rows_of(file, format)
        yield from rows


def check_part_file(file: Path, table: str, format: Format, checksum: str | None = None) -> int:
    """Read a file of a part completely and return its number of rows.

    Extra columns are allowed. In JSON Lines only the columns of the first row are checked, and a
    file without rows is valid. Raises ValueError that names the file if it is missing, damaged,
    lacks a column of ``table``, or does not have the SHA-256 ``checksum`` (None: not compared).
    """
    with _explain_damage(file):
        if checksum is not None and file_checksum(file) != checksum:
            raise ValueError("its content has changed since it was written")
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

    Exceptions of reading and parsing are not converted; use it inside ``_explain_damage``.
    """
    if format == "jsonl":
        with file.open(encoding="utf-8") as stream:
            return [dict(json.loads(line)) for line in stream]
    import pyarrow.parquet as pq

    return list(pq.read_table(file).to_pylist())


@contextmanager
def _explain_damage(file: Path) -> Iterator[None]:
    """Convert exceptions of reading a file to a ValueError that names the file and a remedy.

    Context manager. Converted are ValueError, TypeError, OSError (such as a missing file),
    RecursionError and MemoryError.
    """
    try:
        yield
    except (ValueError, TypeError, OSError, RecursionError, MemoryError) as error:
        raise ValueError(
            f"{file}: damaged ({error!s:.200}). Remove the file of this name in documents and run "
            "textrank apply --out again."
        ) from error
