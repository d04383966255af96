"""Plain text, JSON lines, CSV/TSV tables, CoNLL-U and spaCy's DocBin: readers and writers."""

from __future__ import annotations

import csv
import gc
import json
import re
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import accumulate
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from spacy.language import Language
from spacy.pipeline import Sentencizer
from spacy.tokens import Doc, DocBin, Span

from textrank.candidates import document_id
from textrank.formats.base import (
    FileReader,
    Mention,
    Record,
    UniqueFileNames,
    build_docs,
    get_mentions,
    get_relations,
    list_files,
    require_document_id,
)
from textrank.io import (
    MAX_ITEM_BYTES,
    MAX_UNPACKED_BYTES,
    ItemBudget,
    ItemFilter,
    check_utf8,
    iter_lines,
    load_json,
    open_atomic,
    open_atomic_bytes,
    open_new_text,
    parse_digits,
    parse_items,
    read_bytes,
    read_text,
    update_folder,
)
from textrank.io.reading import DEFAULT_ENCODING
from textrank.language.normalization import to_plain_text

# Plain text ---------------------------------------------------------------------------------------


@dataclass(frozen=True)
class PlainText(FileReader):
    """Text files, one document each; a folder stands for its ``*.txt`` files, sorted by name.

    The id is the file name without suffix, percent-decoded. Names are left to the recogniser in
    ``nlp``. With ``skip_bad`` a file with an error is left out and counted in one warning.
    ``limit`` is the largest number of bytes of a file. Files may be gzip (``.txt.gz``).
    ``encoding`` is the encoding of all files, by a name that Python knows.
    """

    path: str
    skip_bad: bool = False
    limit: int = MAX_ITEM_BYTES
    encoding: str = DEFAULT_ENCODING

    def read(
        self,
        nlp: Language,
        item_filter: ItemFilter | None = None,
        on_batch_end: Callable[[], None] | None = None,
    ) -> Iterator[Doc]:
        """Iterate over the documents sorted by file name, analysed by ``nlp``.

        ``item_filter`` selects documents by number and takes the errors of malformed ones; None
        reads all. ``on_batch_end`` is as in ``FileReader.read``. Raises ValueError if the file
        cannot be read and, without a filter, if it has no document or (unless ``skip_bad``) a
        malformed one.
        """
        files = list_files(self.path, ".txt")
        return build_docs(
            files,
            self._record,
            nlp,
            path=self.path,
            cut=False,
            skip_bad=self.skip_bad,
            item_filter=item_filter,
            on_batch_end=on_batch_end,
        )

    def _record(self, path: Path) -> Record:
        """Read one file as a Record whose mentions are left to ``nlp`` (None).

        The id is the percent-decoded file name without ``.txt`` and ``.gz``. Raises ValueError if
        the file is missing, too large or not in the encoding.
        """
        name = path.name.removesuffix(".gz").removesuffix(".txt")
        return Record(unquote(name), read_text(path, self.limit, self.encoding), str(path))


def write_text(docs: Iterable[Doc], path: str) -> None:
    """Write the bare text of each document to ``<id>.txt`` in the folder ``path``.

    Ids are percent-encoded where a file name cannot hold them. The folder is created if needed and
    changes in one step at the end; other files in it stay. Raises ValueError if a Doc has no id or
    two have the same.
    """
    file_names = UniqueFileNames()
    with update_folder(path) as folder:
        for doc in docs:
            with open_new_text(folder / f"{file_names.name_for(doc)}.txt") as out:
                out.write(doc.text)


# JSON lines ---------------------------------------------------------------------------------------

JSON_KEYS = ("id", "text", "entities", "relations", "sentences")
# Keys of user_data that other formats fill and JSON lines keep, with their types.
USER_DATA_TYPES = {
    "origin": str,
    "concepts": dict,
    "concept_relations": list,
    "events": list,
    "equivalent": list,
    "attributes": list,
}


@dataclass(frozen=True)
class JsonLines(FileReader):
    """Documents of a JSON lines file: ``{"id": …, "text": …, "entities": […]}`` per line.

    An entity is ``[start, end, label]``, end exclusive, or an object with ``id``, ``label``,
    ``pieces``, a list of ``[start, end]``, and optionally ``identifiers``, a list of CURIEs.
    ``relations`` are objects with ``entities`` (two ids), ``label`` (true or false) and optionally
    ``type``; ``sentences`` lists the first character of each sentence. Other keys go to
    ``doc.user_data["meta"]``. A document without ``entities`` leaves names to the recogniser in
    ``nlp``. A missing ``id`` becomes the line number.

    Attributes
    ----------
    path
        File to read, plain or gzip.
    cut
        Split tokens at the edges of a name that covers them in part, so that "-binding" survives
        when the name is blinded.
    newlines
        Whether a newline ends a sentence, as between title and abstract, in documents without
        ``sentences``. None: only in documents with ``entities``.
    skip_bad
        Leave out documents with errors and count them in one warning.
    limit
        Largest number of bytes of a line.
    """

    path: str
    cut: bool = True
    newlines: bool | None = None
    skip_bad: bool = False
    limit: int = MAX_ITEM_BYTES

    def read(
        self,
        nlp: Language,
        item_filter: ItemFilter | None = None,
        on_batch_end: Callable[[], None] | None = None,
    ) -> Iterator[Doc]:
        """Iterate over the documents in file order, analysed by ``nlp``.

        ``item_filter`` selects documents by number and takes the errors of malformed ones; None
        reads all. ``on_batch_end`` is as in ``FileReader.read``. Raises ValueError if the file
        cannot be read and, without a filter, if it has no document or (unless ``skip_bad``) a
        malformed one.
        """
        rows = ((n, line) for n, line in iter_lines(self.path, self.limit) if line.strip())
        return build_docs(
            rows,
            self._record,
            nlp,
            path=self.path,
            cut=self.cut,
            skip_bad=self.skip_bad,
            item_filter=item_filter,
            on_batch_end=on_batch_end,
        )

    def _record(self, row: tuple[int, str]) -> Record:
        """Parse ``(line number, line)`` to a Record.

        The id is the line number if there is none. Sentences begin only at the offsets
        ``sentences``, and with the text; without offsets newlines end a sentence if ``newlines`` is
        true, or if it is None and there are mentions. Keys of ``USER_DATA_TYPES`` with a value of
        that type go to ``data``, all other keys except ``JSON_KEYS`` to ``data["meta"]``. Mentions
        and gold are None if the keys ``entities`` and ``relations`` are missing. Raises ValueError
        if the line is not an object with a text, or one of its entries has a wrong form.
        """
        location = f"{self.path}, line {row[0]}"
        value = load_json(check_utf8(row[1], location), location)
        if not isinstance(value, dict) or not isinstance(value.get("text"), str):
            raise ValueError(
                f'{location}: no "text". Write {{"id": ..., "text": ...}} on each line.'
            )
        text: str = value["text"]
        mentions = (
            _parse_list(value, "entities", location, _parse_entity) if "entities" in value else None
        )
        gold = (
            _parse_list(value, "relations", location, _parse_relation)
            if "relations" in value
            else None
        )
        starts = _parse_list(value, "sentences", location, _parse_offset)
        ends_at_newline = mentions is not None if self.newlines is None else self.newlines
        breaks = starts or ([i + 1 for i, c in enumerate(text) if c == "\n"] * ends_at_newline)
        data = {
            key: value[key]
            for key, kind in USER_DATA_TYPES.items()
            if isinstance(value.get(key), kind)
        }
        meta = {key: value[key] for key in value if key not in JSON_KEYS and key not in data}
        return Record(
            str(value.get("id", row[0])),
            text,
            location,
            mentions,
            gold,
            breaks,
            sentences=bool(starts),
            data={**data, "meta": meta} if meta else data,
        )


def write_json_lines(docs: Iterable[Doc], path: str, *, source: str = "gold") -> None:
    """Write one JSON object per document to ``path``, as ``JsonLines`` reads it.

    ``source`` selects the relations: "gold", or the name of a task whose results the Docs have
    (ValueError if it is not registered). Tokens, tags and parses are lost; everything else that an
    annotation format stores on a Doc is kept. ``entities`` and ``relations`` are left out if the
    Doc has no such span group or no gold; entries of ``user_data["meta"]`` become keys and replace
    others of that name. The file is replaced atomically. Raises ValueError for a Doc without an id
    or without sentence boundaries.
    """
    with open_atomic(path) as out:
        for doc in docs:
            row: dict[str, Any] = {"id": require_document_id(doc), "text": doc.text}
            if "entities" in doc.spans:
                row["entities"] = [_entity_to_json(mention) for mention in get_mentions(doc)]
            if source != "gold" or "gold" in doc.user_data:
                row["relations"] = get_relations(doc, source)
            row["sentences"] = [sentence.start_char for sentence in doc.sents]
            row |= {key: doc.user_data[key] for key in USER_DATA_TYPES if doc.user_data.get(key)}
            row |= doc.user_data.get("meta", {})
            out.write(json.dumps(row, ensure_ascii=False) + "\n")


def _entity_to_json(mention: Mention) -> dict[str, Any]:
    """Return a mention as an object of ``entities``: ``id``, ``label`` and ``pieces``.

    A mention with identifiers has these too.
    """
    pieces = [list(piece) for piece in mention.pieces]
    row = {"id": mention.id, "label": mention.label, "pieces": pieces}
    return {**row, "identifiers": list(mention.identifiers)} if mention.identifiers else row


def is_json_integer(value: object) -> bool:
    """Return whether a JSON value is an integer; true and false are not."""
    return isinstance(value, int) and not isinstance(value, bool)


def _parse_list(value: Mapping[str, Any], key: str, location: str, make: Any) -> list[Any]:
    """Return ``make(row, number, location)`` for each row of the list ``value[key]``.

    Numbers start at 1; the location that ``make`` gets also names key and number, for its messages.
    A missing, null or empty value gives []. Raises ValueError if the value is not a list.
    """
    rows = value.get(key) or []
    if not isinstance(rows, list):
        raise ValueError(f'{location}: "{key}" is not a list. Write {{"{key}": [...]}}.')
    return [
        make(row, number, f'{location}, "{key}" {number}') for number, row in enumerate(rows, 1)
    ]


def _parse_entity(row: Any, number: int, location: str) -> Mention:
    """Return the Mention of one row of ``entities``; without an id it is called T<number>.

    A row is ``[start, end, label]`` or ``{"label": ..., "pieces": [[start, end], ...]}``, the
    latter with optional ``id`` and ``identifiers``, a list of texts that are not empty. Raises
    ValueError for other rows.
    """
    match row:
        case [start, end, str(label)]:
            return Mention(f"T{number}", label, _parse_ranges([[start, end]], location))
        case {"pieces": [_, *_] as pieces, "label": str(label)}:
            ids = row.get("identifiers") or []
            if not isinstance(ids, list) or not all(isinstance(i, str) and i for i in ids):
                raise ValueError(f'{location}: "identifiers" is not a list of texts.')
            name = str(row.get("id", f"T{number}"))
            return Mention(name, label, _parse_ranges(pieces, location), tuple(ids))
    raise ValueError(
        f'{location}: {row!r:.80} is not an entity. Write [start, end, label] or {{"label": ..., '
        '"pieces": [[start, end]]}.'
    )


def _parse_ranges(rows: Sequence[Any], location: str) -> tuple[tuple[int, int], ...]:
    """Return ``[[start, end], …]`` as tuples; raise ValueError unless all are pairs of integers.

    Order and bounds are not checked here. ``location`` begins the message.
    """
    for row in rows:
        if not (isinstance(row, list) and len(row) == 2 and all(map(is_json_integer, row))):
            raise ValueError(
                f"{location}: {row!r:.80} is not a range. Write [start, end] in characters."
            )
    return tuple((start, end) for start, end in rows)


def _parse_relation(row: Any, _: int, location: str) -> Mapping[str, Any]:
    """Return one row of ``relations`` unchanged; raise ValueError unless it has the right shape.

    ``entities`` must be two strings and ``label`` a boolean; other keys are not checked.
    """
    match row:
        case {"entities": [str(), str()], "label": bool()}:
            return row
    raise ValueError(
        f'{location}: {row!r:.80} is not a relation. Write {{"entities": [id, id], "label": true}}.'
    )


def _parse_offset(row: Any, _: int, location: str) -> int:
    """Return one entry of ``sentences``; raise ValueError unless it is an integer."""
    if not is_json_integer(row):
        raise ValueError(f"{location}: {row!r:.80} is not a character offset. Write an integer.")
    return int(row)


# CSV and TSV --------------------------------------------------------------------------------------

MAX_CELL_CHARACTERS = 16 << 20
NAME_COLUMNS = ("document", "start", "end", "name", "label", "id")
PAIR_COLUMNS = (
    "document", "name_a", "start_a", "end_a", "id_a", "name_b", "start_b", "end_b", "id_b",
    "interacts", "probability", "physical", "regulation", "status", "type", "direction", "sentence",
)  # fmt: skip


@dataclass(frozen=True)
class Columns(FileReader):
    """Documents of a CSV or TSV file whose first row names its columns.

    Title and year go to ``doc.user_data`` under these names, other columns to
    ``doc.user_data["meta"]``. Cells may be quoted and contain newlines. The separator is a tab if
    the first row has one, else the more frequent of comma and semicolon.

    Attributes
    ----------
    path
        File to read, plain or gzip.
    text
        Columns that make up the text, joined by newlines. Empty: those of ``title``, ``abstract``
        and ``text`` that exist.
    id
        Column of the document id. If there is no such column or its cell is empty, the id is the
        number of the row's last line, minus 1.
    skip_bad
        Leave out rows with errors and count them in one warning.
    limit
        Largest number of bytes of a line.
    """

    path: str
    text: tuple[str, ...] = ()
    id: str = "id"
    skip_bad: bool = False
    limit: int = MAX_ITEM_BYTES

    def __post_init__(self) -> None:
        """Convert ``text`` to a tuple."""
        object.__setattr__(self, "text", tuple(self.text))

    def read(
        self,
        nlp: Language,
        item_filter: ItemFilter | None = None,
        on_batch_end: Callable[[], None] | None = None,
    ) -> Iterator[Doc]:
        """Iterate over the documents in file order, analysed by ``nlp``.

        ``item_filter`` selects documents by number and takes the errors of malformed ones; None
        reads all. ``on_batch_end`` is as in ``FileReader.read``. Raises ValueError if the file
        cannot be read and, without a filter, if it has no document or (unless ``skip_bad``) a
        malformed one.
        """
        rows = self._rows()
        return build_docs(
            rows,
            self._record,
            nlp,
            path=self.path,
            cut=False,
            skip_bad=self.skip_bad,
            item_filter=item_filter,
            on_batch_end=on_batch_end,
        )

    def _rows(self) -> Iterator[tuple[int, list[str], _Header]]:
        """Iterate over ``(line number, cells, header)`` of the rows after line 1.

        The line number is that of the row's last line. The separator is a tab if the header has
        one, else the more frequent of comma and semicolon. Blank lines are skipped. Raises
        ValueError if a column of the text is missing or the file is not valid CSV. Sets the field
        size limit of the csv module to ``MAX_CELL_CHARACTERS``, for the whole process.
        """
        lines = iter_lines(self.path, self.limit)
        _, first_line = next(lines, (1, ""))
        separator = (
            "\t"
            if "\t" in first_line
            else ";"
            if first_line.count(";") > first_line.count(",")
            else ","
        )
        csv.field_size_limit(MAX_CELL_CHARACTERS)
        line_number = 1
        try:
            names = next(csv.reader([first_line], delimiter=separator), [])
            header = _Header.from_names(names, self._columns(names), self.id)
            reader = csv.reader((line + "\n" for _, line in lines), delimiter=separator)
            for cells in reader:
                line_number = reader.line_num + 1
                if cells:
                    yield line_number, cells, header
        except csv.Error as error:
            location = f"{self.path}, after line {line_number}"
            raise ValueError(
                f"{location}: {error}. Quote cells that hold quotes or lines."
            ) from None

    def _columns(self, names: list[str]) -> tuple[str, ...]:
        """Return the columns of the text among ``names``, the header, in the order of ``text``.

        Raises ValueError if one is missing or there is none.
        """
        text_columns = self.text or tuple(n for n in ("title", "abstract", "text") if n in names)
        missing = [name for name in text_columns if name not in names]
        if missing or not text_columns:
            raise ValueError(
                f"{self.path}, line 1: no column {missing[0] if missing else 'text'!r} among "
                f"{', '.join(names) or 'none'}. Name the columns of the text with text=[...]."
            )
        return text_columns

    def _record(self, item: tuple[int, list[str], _Header]) -> Record:
        """Make a Record of an item of ``_rows``.

        Text cells are stripped and empty ones dropped; each begins a sentence. The id is that of
        the cell, else the line number minus 1. A year that is not a number is dropped. Raises
        ValueError for a row without text or with a wrong number of cells.
        """
        number, cells, header = item
        location = f"{self.path}, line {number}"
        if len(cells) != header.length:
            raise ValueError(
                f"{location}: {len(cells)} cells, but {header.length} columns. Quote cells that "
                "hold the separator."
            )
        parts = [text for column in header.text if (text := cells[column].strip())]
        if not parts:
            raise ValueError(
                f"{location}: no text in {', '.join(header.text_names)}. Fill it in, or skip_bad."
            )
        data: dict[str, Any] = {}
        if header.title is not None and cells[header.title]:
            data["title"] = cells[header.title].strip()
        if header.year is not None and (year := parse_digits(cells[header.year])) is not None:
            data["year"] = year
        if header.meta:
            data["meta"] = {name: cells[column] for name, column in header.meta}
        document = (header.id is not None and cells[header.id]) or str(number - 1)
        if len(parts) == 1:
            return Record(document, parts[0], location, data=data)
        breaks = list(accumulate(len(part) + 1 for part in parts[:-1]))
        return Record(document, "\n".join(parts), location, breaks=breaks, data=data)


@dataclass(frozen=True)
class _Header:
    """Positions of the columns of a table, looked up once instead of for every row.

    Attributes
    ----------
    length
        Number of columns.
    text, text_names
        Positions and names of the columns of the text, in the order in which they are joined.
    id, title, year
        Positions of these columns; None if there is none.
    meta
        Names and positions of the other columns, in the order of the table.
    """

    length: int
    text: tuple[int, ...]
    text_names: tuple[str, ...]
    id: int | None
    title: int | None
    year: int | None
    meta: tuple[tuple[str, int], ...]

    @classmethod
    def from_names(cls, names: Sequence[str], text_names: tuple[str, ...], id_name: str) -> _Header:
        """Look up the columns in the names of a first row; the last of several equal names counts.

        ``text_names`` must be among them, ``id_name`` need not be.
        """
        position = {name: column for column, name in enumerate(names)}
        used_names = {*text_names, id_name, "title", "year"}
        return cls(
            length=len(names),
            text=tuple(position[name] for name in text_names),
            text_names=text_names,
            id=position.get(id_name),
            title=position.get("title"),
            year=position.get("year"),
            meta=tuple(item for item in position.items() if item[0] not in used_names),
        )


def write_names(docs: Iterable[Doc], path: str) -> None:
    """Write a CSV or TSV table of names: document, position, text, label and identifier per row.

    Rows are the spans of ``doc.spans["entities"]``; ends are exclusive. A Doc without an id is "0".
    The suffix ``.csv`` (or ``.csv.gz``) selects commas, any other tabs. The file is replaced
    atomically.
    """
    _write_rows(path, NAME_COLUMNS, (row for doc in docs for row in _iter_name_rows(doc)))


def write_pairs(docs: Iterable[Doc], path: str, *, source: str = "ppi") -> None:
    """Write a CSV or TSV table of the pairs that task ``source`` judged, one per row.

    The columns are ``PAIR_COLUMNS``; all judged pairs are written, whatever the answer. Results are
    in ``doc._.textrank_<source>``; a Doc without any has no rows. The suffix ``.csv`` (or
    ``.csv.gz``) selects commas, any other tabs. The file is replaced atomically. Raises ValueError
    if there is no such extension or the results are not pairs.
    """
    _write_rows(path, PAIR_COLUMNS, (row for doc in docs for row in _iter_pair_rows(doc, source)))


def write_table(docs: Iterable[Doc], path: str, *, source: str = "gold") -> None:
    """Write the table of judged pairs of task ``source``, or of names if ``source`` is "gold".

    See ``write_pairs`` and ``write_names``; gold relations are not written.
    """
    if source == "gold":
        write_names(docs, path)
    else:
        write_pairs(docs, path, source=source)


def _write_rows(path: str, columns: tuple[str, ...], rows: Iterable[Mapping[str, Any]]) -> None:
    """Write rows as CSV if ``path`` ends in ``.csv`` (or ``.csv.gz``), else as TSV.

    The first line has the ``columns``. Keys that a row lacks, and None, become empty cells; keys
    that are not columns are dropped. The file is replaced atomically.
    """
    name = path.removesuffix(".gz").lower()
    separator = "," if name.endswith(".csv") else "\t"
    with open_atomic(path) as out:
        writer = csv.writer(out, delimiter=separator, lineterminator="\n")
        writer.writerow(columns)
        for row in rows:
            writer.writerow(["" if (v := row.get(c)) is None else v for c in columns])


def _iter_name_rows(doc: Doc) -> Iterator[dict[str, Any]]:
    """Iterate over ``doc.spans["entities"]`` as rows with the keys ``NAME_COLUMNS``.

    ``name`` is plain text (``to_plain_text``) and ``id`` the span's ``kb_id_``, "" if it has none.
    Without the span group there are no rows.
    """
    for span in doc.spans.get("entities", ()):
        yield {
            "document": document_id(doc),
            "start": span.start_char,
            "end": span.end_char,
            "name": to_plain_text(span.text),
            "label": span.label_,
            "id": span.kb_id_,
        }


def _iter_pair_rows(doc: Doc, source: str) -> Iterator[dict[str, Any]]:
    """Iterate over the results of task ``source`` as rows with the keys ``PAIR_COLUMNS``.

    A result must have names, spans and a sentence, which becomes plain text; other values that it
    lacks are None. There are no rows if the task has not run on the Doc. Raises ValueError if the
    extension ``textrank_<source>`` is not registered or the results are not pairs.
    """
    if not doc.has_extension(f"textrank_{source}"):
        raise ValueError(f"no results {source!r} on document {document_id(doc)!r}. Run the task.")
    for row in doc._.get(f"textrank_{source}") or ():
        if "spans" not in row:
            raise ValueError(f"results {source!r} are not pairs. Write JSON lines.")
        ids = row.get("identifiers", (None, None))
        sides = zip("ab", row["names"], row["spans"], ids, strict=True)
        pair_row: dict[str, Any] = {"document": document_id(doc)}
        for side, name, (start, end), kb_id in sides:
            pair_row |= {f"name_{side}": name, f"start_{side}": start, f"end_{side}": end}
            pair_row[f"id_{side}"] = kb_id
        attributes = ("interacts", "probability", "physical", "regulation")
        pair_row |= {key: row.get(key) for key in (*attributes, "status", "type", "direction")}
        yield {**pair_row, "sentence": to_plain_text(row["sentence"])}


# DocBin -------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class DocBinFile(FileReader):
    """Docs of a ``.spacy`` file as they are; those without sentences are analysed by ``nlp``.

    Docs without an id are named after the file and their number. If a Doc has no span group
    ``entities``, its ``doc.ents`` are used. A damaged file is refused as a whole, so there is no
    ``skip_bad``.

    Attributes
    ----------
    path
        File to read, plain or gzip.
    limit
        Largest size after unpacking; spaCy holds the whole file in memory.
    """

    path: str
    limit: int = MAX_UNPACKED_BYTES

    def read(
        self,
        nlp: Language,
        item_filter: ItemFilter | None = None,
        on_batch_end: Callable[[], None] | None = None,
    ) -> Iterator[Doc]:
        """Iterate over the Docs in file order.

        ``nlp`` runs only on Docs without sentence starts; if it sets none either, they are split at
        punctuation, also with ``item_filter``, which selects Docs by number (None: all). A Doc
        without an id gets ``<file>-<number>``, where the number is its position in the file, from
        1. ``on_batch_end`` is never called. Raises ValueError if the file is missing, damaged, too
        large or, without a filter, empty.
        """
        sentencizer = Sentencizer()
        stem = Path(self.path).name.split(".")[0]

        def normalise(item: tuple[int, Doc]) -> Doc:
            """Check and return a numbered Doc; set its id from the number if it has none."""
            number, doc = item
            _normalise_doc(doc, f"{self.path}, document {number}")
            doc.user_data.setdefault("document", f"{stem}-{number}")
            return doc

        docs = parse_items(
            enumerate(self._docs(nlp), 1),
            normalise,
            path=self.path,
            skip_bad=False,
            item_filter=item_filter,
        )
        for doc in docs:
            if not doc.has_annotation("SENT_START"):
                doc = nlp(doc)
            yield doc if doc.has_annotation("SENT_START") else sentencizer(doc)

    def _docs(self, nlp: Language) -> Iterator[Doc]:
        """Iterate over the Docs as they are stored, with the vocabulary of ``nlp``.

        The whole file is in memory. Raises ValueError if it cannot be read, is damaged or too
        large. Garbage collection is on afterwards if it was before.
        """
        data = read_bytes(self.path, self.limit)
        _check_size(data, self.path, self.limit)
        gc_was_enabled = gc.isenabled()
        try:
            yield from DocBin().from_bytes(data).get_docs(nlp.vocab)
        except MemoryError:
            raise
        except Exception as error:  # damaged bytes make the unpacker raise all kinds of errors
            raise ValueError(
                f"{self.path}: not a DocBin, or a damaged one ({type(error).__name__}: {error}). "
                "Write it again with DocBin.to_disk."
            ) from error
        finally:
            if gc_was_enabled:
                gc.enable()  # msgpack leaves it disabled when it fails


def _check_size(data: bytes, path: str, limit: int) -> None:
    """Raise ValueError if ``data`` is not zlib data or unpacks to more than ``limit`` bytes.

    It is unpacked in parts, none of which is kept, since spaCy would unpack all at once. ``path``
    is used in the message.
    """
    unpacker = zlib.decompressobj()
    size = 0
    try:
        while data and size <= limit:
            size += len(unpacker.decompress(data, 1 << 20))
            data = unpacker.unconsumed_tail
    except zlib.error as error:
        raise ValueError(
            f"{path}: not a DocBin, or a damaged one ({error}). Write it with DocBin.to_disk."
        ) from error
    if size > limit:
        raise ValueError(
            f"{path}: more than {limit:,} bytes after unpacking. Split it, or raise the limit."
        )


def _normalise_doc(doc: Doc, location: str) -> Doc:
    """Restore lists in ``user_data`` (msgpack makes tuples) and set ``doc.spans["entities"]``.

    The spans are ``doc.ents`` unless the group exists. Changes the Doc in place and returns it.
    Raises ValueError, beginning with ``location``, if the Doc is damaged, since spaCy checks words,
    spans and entities only when they are used, or if the id, or ``meta``, ``gold`` or ``concepts``
    of ``user_data``, has the wrong type.
    """
    try:
        for spans in doc.spans.values():
            for span in spans:
                _ = span.label_, span.kb_id_, span.id_
        for token in doc:
            _ = token.text, token.tag_, token.dep_, token.lemma_, token.ent_type_
        _ = doc.ents
    except (KeyError, IndexError, ValueError, TypeError, AttributeError, OverflowError) as error:
        raise ValueError(
            f"{location}: damaged ({error!r:.200}). Write the file again with DocBin.to_disk."
        ) from error
    if not isinstance(doc.user_data.get("document", ""), str):
        raise ValueError(f"{location}: the id in user_data['document'] is not text. Correct it.")
    for key, expected in (("meta", dict), ("gold", list | tuple), ("concepts", dict)):
        if not isinstance(doc.user_data.get(key), expected | None):
            raise ValueError(f"{location}: user_data[{key!r}] is of the wrong type. Correct it.")
    for key in list(doc.user_data):
        if isinstance(key, str):
            doc.user_data[key] = _tuples_to_lists(doc.user_data[key])
    if "entities" not in doc.spans:
        doc.spans["entities"] = list(doc.ents)
    return doc


def _tuples_to_lists(value: Any) -> Any:
    """Return a copy of ``value`` with all tuples replaced by lists; dictionary keys stay."""
    if isinstance(value, dict):
        return {key: _tuples_to_lists(inner) for key, inner in value.items()}
    return (
        [_tuples_to_lists(inner) for inner in value] if isinstance(value, list | tuple) else value
    )


def write_doc_bin(docs: Iterable[Doc], path: str) -> None:
    """Write one ``.spacy`` file with the token annotations, spans and ``user_data`` of the Docs.

    Tensors are not stored. The file is built in memory first and replaces ``path`` atomically. A
    ``.gz`` suffix compresses it.
    """
    doc_bin = DocBin(store_user_data=True, docs=docs)
    with open_atomic_bytes(path) as out:
        out.write(doc_bin.to_bytes())


GOLD_PARSE = "gold"
LINKAGE_COMMENT, LINKAGE_COLUMN = "linkage", "deps"  # of blocks with links in column 9
# Older treebanks have other tags in the fourth column, which spaCy would refuse.
UPOS_TAG = re.compile(
    "ADJ|ADP|ADV|AUX|CCONJ|DET|INTJ|NOUN|NUM|PART|PRON|PROPN|PUNCT|SCONJ|SYM|VERB|X|SPACE"
)
FEATURE_COLUMN = re.compile(r"_|[^=|]+=[^=|]+(\|[^=|]+=[^=|]+)*")
COMMENT = re.compile(r"#\s*([^=\s]+(?: id)?)\s*=\s*(.*)")


@dataclass(frozen=True)
class ConllU(FileReader):
    """Documents of a CoNLL-U file, with its tokens, tags and trees.

    ``# newdoc id`` or ``# doc_id`` begins a document; without either, sentences whose ``sent_id``
    differs only in its last number belong together. A block with the ``sent_id`` of the block
    before it is a further parse of that sentence, named by ``# parse``. The parse named ``gold``,
    or a single unnamed one, is the gold tree: it is set on the Doc and listed in
    ``doc.user_data["gold"]``. All others go to ``doc.user_data["parses"]``, with ``# score`` where
    given. Both lists hold ``{"sentence", "parse", "start", "heads", "labels", "tags"}``; heads are
    token indices of the Doc, the root is its own head, and its label is ``ROOT`` as in spaCy.

    A linkage of Link Grammar has links without direction, and may have cycles. The comment
    ``# linkage = deps`` says that a block is one: its column 9 (DEPS) then lists all links of a
    word as ``word:type|word:type``, each link at one or both of its words. The row gets ``links``,
    sorted lists of left token, right token and type. Columns 7 and 8 hold any tree of the words.
    Without the comment column 9 is ignored.

    Multiword tokens are replaced by their words, empty nodes are skipped. Without a gold tree for
    every sentence the Doc has sentences and tags but no tree. With ``skip_bad`` a document with an
    error is left out and counted in one warning. ``limit`` is the largest number of bytes of a
    document.
    """

    path: str
    skip_bad: bool = False
    limit: int = MAX_ITEM_BYTES

    def read(
        self,
        nlp: Language,
        item_filter: ItemFilter | None = None,
        on_batch_end: Callable[[], None] | None = None,
    ) -> Iterator[Doc]:
        """Iterate over the documents in file order, with the analysis of the file.

        ``nlp`` gives the vocabulary only; its components do not run. ``item_filter`` selects
        documents by number and takes the errors of malformed ones; None reads all. ``on_batch_end``
        is never called. Raises ValueError if the file cannot be read and, without a filter, if it
        has no document or (unless ``skip_bad``) a malformed one.
        """
        name = Path(self.path).name.split(".")[0]
        documents = _documents(_blocks(self.path, self.limit), name, self.path, self.limit)
        yield from parse_items(
            documents,
            lambda d: _build_doc(nlp, self.path, *d),
            path=self.path,
            skip_bad=self.skip_bad,
            item_filter=item_filter,
        )


@dataclass
class _Block:
    """One parse of a sentence as read: comments ``# key = value`` by key, and word lines."""

    number: int  # of its first line in the file
    comments: dict[str, str] = field(default_factory=dict)
    rows: list[tuple[int, str]] = field(default_factory=list)  # line number, line
    size: int = 0  # of its rows, as ItemBudget counts


@dataclass
class _Tree:
    """Parsed block; heads count the words of the sentence from 0, and the root is its own head.

    Lists have one entry per word: ``columns`` the ten columns of its line, ``spaces`` whether a
    space follows it, ``labels`` its dependency type. ``parse`` and ``score`` are the comments of
    that name, "" if missing; ``sentence`` is the id. ``links`` are the links of a linkage
    (``ConllU``) as (left word, right word, type), sorted, with words counted from 0; None for other
    blocks.
    """

    sentence: str
    parse: str
    score: str
    words: list[str] = field(default_factory=list)
    columns: list[list[str]] = field(default_factory=list)
    spaces: list[bool] = field(default_factory=list)
    heads: list[int] = field(default_factory=list)
    labels: list[str] = field(default_factory=list)
    links: list[tuple[int, int, str]] | None = None

    def tags(self) -> list[str]:
        """Return the language-specific tags (column 5) of the words as written, ``_`` for none."""
        return [column[4] for column in self.columns]

    def to_dict(self, start: int) -> dict[str, Any]:
        """Return the row for ``user_data``.

        Keys: ``sentence`` (id), ``parse`` (name, "" if missing), ``start``, ``heads``, ``labels``
        and ``tags`` (lists with one entry per word), ``score``, a number, if the file gives one,
        and ``links`` if the block is a linkage. ``start`` is the sentence's first token in the
        Doc; heads become token indices of the Doc, the root is its own head.
        """
        row: dict[str, Any] = {"sentence": self.sentence, "parse": self.parse, "start": start}
        row["heads"] = [start + head for head in self.heads]
        row |= {"labels": self.labels, "tags": self.tags()}
        if self.links is not None:
            row["links"] = [[start + a, start + b, kind] for a, b, kind in self.links]
        return row | ({"score": float(self.score)} if self.score else {})


def _blocks(path: str, limit: int) -> Iterator[_Block]:
    """Iterate over the blocks of a file, separated by blank lines.

    Comments without words belong to the next block; at the end of the file they are dropped.
    Comments that are not ``key = value`` are ignored, and of equal keys the last counts. ``limit``
    is the largest number of bytes of a block; raises ValueError for a larger one.
    """
    block: _Block | None = None
    budget = ItemBudget(path, limit)
    for number, line in iter_lines(path, limit):
        if not line.strip():
            if block is not None and block.rows:
                yield block
                block = None
                budget.start_item()
            continue
        block = block or _Block(number)
        budget.add(line, block.number)
        if line.startswith("#"):
            match = COMMENT.fullmatch(line.rstrip())
            if match:
                block.comments[match[1]] = match[2]
        else:
            block.rows.append((number, line))
            block.size += max(len(line), ItemBudget.LINE_COST)
    if block is not None and block.rows:
        yield block


def _documents(
    blocks: Iterable[_Block], name: str, path: str, limit: float
) -> Iterator[tuple[str, list[_Block]]]:
    """Group adjacent blocks by document and iterate over ``(id, blocks)``.

    The id is that of a comment (``newdoc id`` or ``doc_id``). As long as no block has such a
    comment, it is the sentence id without its last number, or ``name`` if that is empty; after the
    first one, a block without such a comment belongs to the document before it. An id that comes
    back later begins another document. Raises ValueError for a document of more than ``limit``
    bytes; ``path`` is for the message.
    """
    current, document_blocks = "", list[_Block]()
    size = 0
    has_ids = False
    for block in blocks:
        document_id = block.comments.get("newdoc id", block.comments.get("doc_id", ""))
        has_ids = has_ids or bool(document_id)
        if not has_ids:  # the sentence ids of treebanks without documents begin with the document's
            document_id = re.sub(r"[-._:]?s?\d+$", "", block.comments.get("sent_id", "")) or name
        if document_id and document_id != current:
            if document_blocks:
                yield current, document_blocks
            current, document_blocks, size = document_id, [], 0
        document_blocks.append(block)
        size += block.size
        if size > limit:
            raise ValueError(
                f"{path}, line {document_blocks[0].number}: the document that begins here has more "
                f"than {int(limit):,} bytes. Add '# newdoc id' comments, or raise the limit "
                "(--max-bytes, or the reader's setting)."
            )
    if document_blocks:
        yield current, document_blocks


def _build_doc(nlp: Language, path: str, document: str, blocks: list[_Block]) -> Doc:
    """Build the Doc of one document, with gold and further parses in ``user_data``.

    ``path`` is used in messages, ``document`` is the id. Tokens are those of the gold parse of each
    sentence, else of its first parse; heads are set only if every sentence has a gold parse. Raises
    ValueError if a tree is malformed or two parses of a sentence have different words.
    """
    sentences: list[list[_Tree]] = []
    for block in blocks:
        tree = _parse_tree(block, path, str(len(sentences) + 1))
        if sentences and "sent_id" in block.comments and tree.sentence == sentences[-1][0].sentence:
            _check_same_words(sentences[-1][0], tree, path, block)
            sentences[-1].append(tree)
        else:
            sentences.append([tree])
    golds = [_find_gold(trees) for trees in sentences]
    shown = [gold or trees[0] for gold, trees in zip(golds, sentences, strict=True)]
    doc = _trees_to_doc(nlp, shown, tree=all(gold is not None for gold in golds))
    starts = [0]
    for tree in shown:
        starts.append(starts[-1] + len(tree.words))
    doc.user_data["document"] = document
    doc.user_data["sentences"] = [tree.sentence for tree in shown]
    doc.user_data["gold"] = [g.to_dict(start) for g, start in zip(golds, starts, strict=False) if g]
    others = zip(golds, sentences, starts, strict=False)
    parses = [t.to_dict(start) for gold, trees, start in others for t in trees if t is not gold]
    if parses:
        doc.user_data["parses"] = parses
    return doc


def _find_gold(trees: list[_Tree]) -> _Tree | None:
    """Return the gold tree among the parses of a sentence, or None.

    It is the first one named ``GOLD_PARSE``, or a single one without a name.
    """
    gold_trees = [tree for tree in trees if tree.parse == GOLD_PARSE]
    if gold_trees or (len(trees) == 1 and not trees[0].parse):
        return (gold_trees or trees)[0]
    return None


def _parse_tree(block: _Block, path: str, name: str) -> _Tree:
    """Parse and check a block; ``name`` is the sentence id if no comment gives one.

    The line of a multiword token only decides whether a space follows its last word; empty nodes
    are skipped. A linkage (see ``ConllU``) also gets its links. Raises ValueError with file and
    line if a line or the comment ``score`` is malformed or the words do not form a tree.
    """
    comments = block.comments
    tree = _Tree(
        comments.get("sent_id", name), comments.get("parse", ""), comments.get("score", "")
    )
    location = f"{path}, line {block.number}"
    try:
        float(tree.score or 0)
    except ValueError:
        raise ValueError(
            f"{location}: score {tree.score!r:.40} is not a number. Correct it."
        ) from None
    no_space_after: dict[str, bool] = {}  # by last word of a multiword token
    multiword_end = 0
    for name, value in comments.items():
        check_utf8(name + value, location)
    for number, line in block.rows:
        row = check_utf8(line, f"{path}, line {number}").split("\t")
        if len(row) != 10:
            raise ValueError(
                f"{path}, line {number}: {len(row)} columns. CoNLL-U has ten, separated by tabs."
            )
        if multiword := re.fullmatch(r"(\d{1,9})-(\d{1,9})", row[0]):
            no_space_after[multiword[2]] = "SpaceAfter=No" in row[9].split("|")
            multiword_end = int(multiword[2])
        elif not re.fullmatch(r"\d{1,9}\.\d{1,9}", row[0]):
            _add_word(tree, row, no_space_after, multiword_end, f"{path}, line {number}")
    _check_tree(tree, location)
    if comments.get(LINKAGE_COMMENT) == LINKAGE_COLUMN:
        tree.links = _read_links(tree, location)
    return tree


def _read_links(tree: _Tree, location: str) -> list[tuple[int, int, str]]:
    """Return the links in column 9 of a linkage, each once, left word first, sorted.

    Words are counted from 0. Raises ValueError, beginning with ``location``, for an item that is
    not ``word:type`` with the number of another word of the sentence.
    """
    links = set()
    for word, row in enumerate(tree.columns):
        for item in row[8].split("|") if row[8] != "_" else ():
            match = re.fullmatch(r"(\d{1,9}):(.+)", item)
            other = int(match[1]) - 1 if match else -1
            if match is None or not 0 <= other < len(tree.words) or other == word:
                raise ValueError(
                    f"{location}: link {item!r:.40} of word {word + 1} of sentence "
                    f"{tree.sentence!r}. Write number:type of another word, items separated by |."
                )
            links.add((min(word, other), max(word, other), match[2]))
    return sorted(links)


def _add_word(
    tree: _Tree, row: list[str], glued: dict[str, bool], until: int, location: str
) -> None:
    """Append one word line to ``tree``, in place.

    ``row`` has its ten columns. ``glued`` maps the number of the last word of a multiword token to
    whether no space follows it; ``until`` is the number of the last word of the latest multiword
    token, 0 if there was none. No space follows a word inside a multiword token. The root gets
    itself as head and the label ``ROOT``. Raises ValueError if the line is malformed.
    """
    if row[0] != str(len(tree.words) + 1):
        raise ValueError(f"{location}: word {row[0]!r:.40} out of order. Number the words from 1.")
    if not row[1] or not re.fullmatch(r"\d{1,9}", row[6]):
        raise ValueError(
            f"{location}: word {row[1]!r:.40} with head {row[6]!r:.40}. Columns 2 and 7 are the "
            "word and the number of its head, 0 for the root."
        )
    if not FEATURE_COLUMN.fullmatch(row[5]):
        raise ValueError(f"{location}: features {row[5]!r:.40}. Write Name=Value|Name=Value, or _.")
    is_inside_multiword = int(row[0]) < until
    space_follows = not glued.get(row[0], "SpaceAfter=No" in row[9].split("|"))
    tree.words.append(row[1])
    tree.columns.append(row)
    tree.spaces.append(space_follows and not is_inside_multiword)
    head = int(row[6])
    tree.heads.append(head - 1 if head else len(tree.words) - 1)
    tree.labels.append(row[7] if head else "ROOT")


def _check_tree(tree: _Tree, location: str) -> None:
    """Raise ValueError unless the words form one tree with a single root.

    A tree without words and a head beyond the last word are refused too. ``location`` begins the
    message.
    """
    size = len(tree.words)
    if not size:
        raise ValueError(f"{location}: sentence {tree.sentence!r} has no words. Remove it.")
    if max(tree.heads) >= size:
        raise ValueError(
            f"{location}: sentence {tree.sentence!r} of {size} words has a head "
            f"{max(tree.heads) + 1}."
        )
    roots = [i for i, head in enumerate(tree.heads) if head == i]
    children: list[list[int]] = [[] for _ in range(size)]
    for word, head in enumerate(tree.heads):
        if word != head:
            children[head].append(word)
    reached = list(roots)
    for word in reached:
        reached += children[word]
    if len(roots) != 1 or len(reached) != size:
        raise ValueError(
            f"{location}: sentence {tree.sentence!r} has {len(roots)} roots and {len(reached)} of "
            f"{size} words hang from them. A tree has one root and no cycle."
        )


def _check_same_words(first: _Tree, tree: _Tree, path: str, block: _Block) -> None:
    """Raise ValueError unless two parses of a sentence have the same words.

    ``block`` is the block of ``tree``; with ``path`` it locates the error in the message.
    """
    if first.words != tree.words:
        raise ValueError(
            f"{path}, line {block.number}: two blocks have sent_id {tree.sentence!r} but not the "
            "same words. Give sentences ids of their own."
        )


def _trees_to_doc(nlp: Language, trees: list[_Tree], *, tree: bool) -> Doc:
    """Return a Doc of the sentences, in order, with lemmas, tags and morphology of the file.

    ``tree`` says whether to set heads and labels; if False only sentence starts are set. Tags that
    are not universal parts of speech are left out of ``pos``, and ``_`` is an empty value.
    """
    columns = [[_blank_if_underscore(v) for v in row] for t in trees for row in t.columns]
    starts: list[bool | int | None] = [i == 0 for t in trees for i in range(len(t.words))]
    offsets = [0]
    for t in trees:
        offsets.append(offsets[-1] + len(t.words))
    heads = [offset + head for offset, t in zip(offsets, trees, strict=False) for head in t.heads]
    return Doc(
        nlp.vocab,
        words=[word for t in trees for word in t.words],
        spaces=[space for t in trees for space in t.spaces],
        lemmas=[row[2] for row in columns],
        pos=[row[3] if UPOS_TAG.fullmatch(row[3]) else "" for row in columns],
        tags=[row[4] for row in columns],
        morphs=[row[5] for row in columns],
        heads=heads if tree else None,
        deps=[label for t in trees for label in t.labels] if tree else None,
        sent_starts=None if tree else starts,
    )


def _blank_if_underscore(text: str) -> str:
    """Return the value of a column; ``_`` means that it is empty."""
    return "" if text == "_" else text


def write_conllu(docs: Iterable[Doc], path: str) -> None:
    """Write the sentences of each document with their trees to ``path``, replaced atomically.

    For each sentence these are the gold and candidate parses in ``user_data`` that begin at its
    first token; if there are none, the Doc's own parse. Raises ValueError for a Doc without an id
    or sentence boundaries, or if a sentence has neither.
    """
    with open_atomic(path) as out:
        for doc in docs:
            out.write(f"# newdoc id = {_remove_tabs(require_document_id(doc))}\n")
            for index, sentence in enumerate(doc.sents):
                out.write("\n".join(_iter_sentence_lines(doc, sentence, index)) + "\n")


def _iter_sentence_lines(doc: Doc, sentence: Span, index: int) -> Iterator[str]:
    """Iterate over the lines of all parses of one sentence, each parse ended by a blank line.

    ``index`` is the number of the sentence in the Doc, from 0. The sentence id is that of
    ``user_data["sentences"]`` at this index, else ``<document>-<index + 1>``. Gold comes first.
    Parses of ``user_data`` belong to the sentence if their ``start`` is its first token; without
    any, the Doc's own parse is written, or ValueError raised if it has none. Comments before the
    words give id, parse, score, whether it is a linkage, and the text; score and linkage only where
    they apply, and the parse if it has a name or there are several (an unnamed one is then "gold").
    """
    names = doc.user_data.get("sentences", [])
    name = names[index] if index < len(names) else f"{require_document_id(doc)}-{index + 1}"
    parses = [*doc.user_data.get("gold", []), *doc.user_data.get("parses", [])]
    trees = [row for row in parses if "heads" in row and row["start"] == sentence.start]
    for tree in trees or [_doc_tree(sentence)]:
        if tree is not None:
            yield f"# sent_id = {_remove_tabs(name)}"
            if len(trees) > 1 or tree["parse"]:
                yield f"# parse = {_remove_tabs(tree['parse'] or GOLD_PARSE)}"
            if "score" in tree:
                yield f"# score = {tree['score']!r}"
            if "links" in tree:
                yield f"# {LINKAGE_COMMENT} = {LINKAGE_COLUMN}"
            yield f"# text = {_remove_tabs(sentence.text)}"
            yield from _iter_word_lines(sentence, tree)
            yield ""


def _doc_tree(sentence: Span) -> dict[str, Any]:
    """Return the Doc's own parse of a sentence as a row; raise ValueError if there is none.

    The row is as in ``user_data`` (``heads`` are token indices of the Doc), without a name.
    """
    if not sentence.doc.has_annotation("DEP"):
        raise ValueError(
            f"the Doc {require_document_id(sentence.doc)!r} has no parse. Parse it before writing "
            "CoNLL-U."
        )
    return {
        "parse": "",
        "heads": [token.head.i for token in sentence],
        "labels": [token.dep_ for token in sentence],
        "tags": [token.tag_ for token in sentence],
    }


def _iter_word_lines(sentence: Span, tree: dict[str, Any]) -> Iterator[str]:
    """Iterate over the word lines of a sentence with the heads, labels and tags of ``tree``.

    ``tree`` is a row of ``user_data`` with one entry per token of the sentence; heads and links are
    token indices of the Doc, a root its own head. Lemma, part of speech and morphology are those of
    the Doc. Words are numbered from 1, a root gets head 0 and the label ``root``, a word without a
    space after it ``SpaceAfter=No``, and empty columns are ``_``. Tabs and newlines become spaces.
    A link of a linkage is written at its right word; "|" in its type becomes "/".
    """
    links: dict[int, list[str]] = {}
    for left, right, kind in sorted(tree.get("links", ())):
        number = int(left) - sentence.start + 1
        links.setdefault(int(right), []).append(f"{number}:{kind}".replace("|", "/"))
    for i, token in enumerate(sentence):
        head = tree["heads"][i]
        number = 0 if head == token.i else head - sentence.start + 1
        fields = [token.text, token.lemma_, token.pos_, tree["tags"][i], str(token.morph)]
        label = tree["labels"][i] if number else "root"
        misc = "" if token.whitespace_ else "SpaceAfter=No"
        row = [str(i + 1), *fields, str(number), label, "|".join(links.get(token.i, [])), misc]
        yield "\t".join(_remove_tabs(field) or "_" for field in row)


def _remove_tabs(text: str) -> str:
    """Replace each tab, newline and carriage return, which end columns and lines, by a space."""
    return re.sub(r"[\t\n\r]", " ", text)
