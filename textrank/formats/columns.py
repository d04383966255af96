"""Plain text, JSON lines, CSV/TSV tables and spaCy's DocBin: readers and writers."""

from __future__ import annotations

import csv
import gc
import json
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from spacy.language import Language
from spacy.pipeline import Sentencizer
from spacy.tokens import Doc, DocBin

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
    ``encoding`` is that of all files, by a name that Python knows.
    """

    path: str
    skip_bad: bool = False
    limit: int = MAX_ITEM_BYTES
    encoding: str = DEFAULT_ENCODING

    def read(self, nlp: Language, item_filter: ItemFilter | None = None) -> Iterator[Doc]:
        """Iterate over the documents sorted by file name, analysed by ``nlp``.

        ``item_filter`` selects documents by number and takes the errors of malformed ones; None
        reads all. Raises ValueError if the file cannot be read and, without a filter, if it has no
        document or (unless ``skip_bad``) a malformed one.
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

    def read(self, nlp: Language, item_filter: ItemFilter | None = None) -> Iterator[Doc]:
        """Iterate over the documents in file order, analysed by ``nlp``.

        ``item_filter`` selects documents by number and takes the errors of malformed ones; None
        reads all. Raises ValueError if the file cannot be read and, without a filter, if it has no
        document or (unless ``skip_bad``) a malformed one.
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
        )

    def _record(self, row: tuple[int, str]) -> Record:
        """Parse ``(line number, line)`` to a Record.

        The id is the line number if there is none. Sentences begin at the offsets ``sentences``;
        without them newlines end a sentence if ``newlines`` is true, or if it is None and there are
        mentions. Keys of ``USER_DATA_TYPES`` with a value of that type go to ``data``, other keys
        that are not known to ``data["meta"]``. Mentions and gold are None if the keys ``entities``
        and ``relations`` are missing. Raises ValueError if the line is not an object with a text,
        or one of its entries has a wrong form.
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

    ``source`` selects the relations: "gold", or the name of a task whose results the Docs carry
    (ValueError if it is not registered). Tokens, tags and parses are lost; all else that an
    annotation format puts on a Doc is kept. ``entities`` and ``relations`` are left out if the Doc
    has no such span group or no gold; entries of ``user_data["meta"]`` become keys and replace
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

    Numbers start at 1; the location passed on also names key and number. A missing, null or empty
    value gives []. Raises ValueError if it is not a list.
    """
    rows = value.get(key) or []
    if not isinstance(rows, list):
        raise ValueError(f'{location}: "{key}" is not a list. Write {{"{key}": [...]}}.')
    return [
        make(row, number, f'{location}, "{key}" {number}') for number, row in enumerate(rows, 1)
    ]


def _parse_entity(row: Any, number: int, location: str) -> Mention:
    """Return the Mention of one row of ``entities``; without an id it is called T<number>.

    Raises ValueError unless the row has one of the two forms that ``JsonLines`` describes.
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

    That is two strings in ``entities`` and a boolean ``label``; other keys are not checked.
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
    ``doc.user_data["meta"]``. Cells may be quoted and hold newlines. The separator is a tab if the
    first row has one, else the more frequent of comma and semicolon.

    Attributes
    ----------
    path
        File to read, plain or gzip.
    text
        Columns that make up the text, joined by newlines. Empty: those of ``title``, ``abstract``
        and ``text`` that exist.
    id
        Column of the document id; without it the id is the row number.
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

    def read(self, nlp: Language, item_filter: ItemFilter | None = None) -> Iterator[Doc]:
        """Iterate over the documents in file order, analysed by ``nlp``.

        ``item_filter`` selects documents by number and takes the errors of malformed ones; None
        reads all. Raises ValueError if the file cannot be read and, without a filter, if it has no
        document or (unless ``skip_bad``) a malformed one.
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
        )

    def _rows(self) -> Iterator[tuple[int, list[str], _Header]]:
        """Iterate over ``(line number, cells, header)`` of the rows after line 1.

        The separator is a tab if the header has one, else the more frequent of comma and semicolon.
        Blank lines are skipped. Raises ValueError if a column of the text is missing or the file is
        not valid CSV. The line number is that of the row's last line. Sets the field size limit of
        the csv module to ``MAX_CELL_CHARACTERS``.
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

        Text cells are stripped and empty ones dropped; each begins a sentence. Without an id it is
        the line number less 1. A year that is not a number is dropped. Raises ValueError for a row
        without text or with a wrong number of cells.
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
    """Positions of the columns of a table, looked up once and not for every row.

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
        """Look the columns up in the names of a first row; of equal names the last one counts.

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
    in ``doc._.textrank_<source>``; a Doc without any has no rows. Raises ValueError if there is no
    such extension or the results are not pairs. The file is replaced atomically.
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
    No rows without the span group.
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
    lacks are None. No rows if the task has not run on the Doc. Raises ValueError if the extension
    ``textrank_<source>`` is not registered or results are not pairs.
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

    def read(self, nlp: Language, item_filter: ItemFilter | None = None) -> Iterator[Doc]:
        """Iterate over the Docs in file order.

        ``nlp`` runs only on Docs without sentence starts; if it sets none either, they are split at
        punctuation, also with ``item_filter``, which selects Docs by number (None: all). Raises
        ValueError if the file is missing, damaged, too large or, without a filter, empty. A Doc
        without an id is named ``<file>-<number>``, its position in the file, counted from 1.
        """
        sentencizer = Sentencizer()
        stem = Path(self.path).name.split(".")[0]

        def normalise(item: tuple[int, Doc]) -> Doc:
            """Check a numbered Doc and name it after its number if it has no id."""
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
        """Iterate over the Docs, as stored.

        Raise ValueError if the file is damaged or too large.
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
    """Raise ValueError if ``data`` unpacks to over ``limit`` bytes, before spaCy unpacks it.

    Also if it is not zlib data. ``path`` is used in the message.
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
    Raises ValueError, beginning with ``location``, if the Doc is damaged: spaCy checks words, spans
    and entities only when they are used. The id, and ``meta``, ``gold`` and ``concepts`` of
    ``user_data`` must also have their types.
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
    """Write one ``.spacy`` file with everything the Docs carry, including ``user_data``.

    It is built in memory first and replaces ``path`` atomically. A ``.gz`` suffix compresses it.
    """
    doc_bin = DocBin(store_user_data=True, docs=docs)
    with open_atomic_bytes(path) as out:
        out.write(doc_bin.to_bytes())
