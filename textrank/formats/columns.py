"""Plain text: one document a file."""

from __future__ import annotations

import csv
import gc
import json
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
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
    parse_items,
    read_bytes,
    read_text,
    update_folder,
)
from textrank.language.normalization import to_plain_text


@dataclass(frozen=True)
class PlainText(FileReader):
    """UTF-8 text files as Docs, analysed by ``nlp``; a folder stands for its ``*.txt`` files.

    Names are left to a recogniser in ``nlp``. With ``skip_bad`` a file with an error is left
    out and counted in one warning.
    """

    path: str
    skip_bad: bool = False
    limit: int = MAX_ITEM_BYTES

    def read(self, nlp: Language, item_filter: ItemFilter | None = None) -> Iterator[Doc]:
        """Iterate over the documents, analysed by ``nlp``; see ``FileReader.read``."""
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
        name = path.name.removesuffix(".gz").removesuffix(".txt")
        return Record(unquote(name), read_text(path, self.limit), str(path))


def write_text(docs: Iterable[Doc], path: str) -> None:
    """The bare text of each document, ``<id>.txt`` in the folder ``path``, made if need be.

    The folder changes as a whole when all are written; other files in it stay.
    """
    stems = UniqueFileNames()
    with update_folder(path) as folder:
        for doc in docs:
            with open_new_text(folder / f"{stems.name_for(doc)}.txt") as out:
                out.write(doc.text)


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
class JsonLines(FileReader):
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
    limit: int = MAX_ITEM_BYTES

    def read(self, nlp: Language, item_filter: ItemFilter | None = None) -> Iterator[Doc]:
        """Iterate over the documents, analysed by ``nlp``; see ``FileReader.read``."""
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
    with open_atomic(path) as out:
        for doc in docs:
            row: dict[str, Any] = {"id": require_document_id(doc), "text": doc.text}
            if "entities" in doc.spans:
                row["entities"] = [_row(mention) for mention in get_mentions(doc)]
            if source != "gold" or "gold" in doc.user_data:
                row["relations"] = get_relations(doc, source)
            row["sentences"] = [sentence.start_char for sentence in doc.sents]
            row |= {key: doc.user_data[key] for key in EXTRA if doc.user_data.get(key)}
            row |= doc.user_data.get("meta", {})
            out.write(json.dumps(row, ensure_ascii=False) + "\n")


def _row(mention: Mention) -> dict[str, Any]:
    pieces = [list(piece) for piece in mention.pieces]
    return {"id": mention.id, "label": mention.label, "pieces": pieces}


def is_json_integer(value: object) -> bool:
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
        if not (isinstance(row, list) and len(row) == 2 and all(map(is_json_integer, row))):
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
    if not is_json_integer(row):
        raise ValueError(f"{place}: {row!r:.80} is no character offset. Write an integer.")
    return int(row)


FIELD = 16 << 20  # characters of a cell
NAMES = ("document", "start", "end", "name", "label", "id")
PAIRS = (
    "document", "name_a", "start_a", "end_a", "id_a", "name_b", "start_b", "end_b", "id_b",
    "interacts", "probability", "status", "type", "direction", "sentence",
)  # fmt: skip


@dataclass(frozen=True)
class Columns(FileReader):
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
    limit: int = MAX_ITEM_BYTES

    def __post_init__(self) -> None:
        object.__setattr__(self, "text", tuple(self.text))

    def read(self, nlp: Language, item_filter: ItemFilter | None = None) -> Iterator[Doc]:
        """Iterate over the documents, analysed by ``nlp``; see ``FileReader.read``."""
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

    def _rows(self) -> Iterator[tuple[int, dict[str, str]]]:
        numbered = iter_lines(self.path, self.limit)
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
    with open_atomic(path) as out:
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
            "name": to_plain_text(span.text),
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
        yield {**found, "sentence": to_plain_text(row["sentence"])}


@dataclass(frozen=True)
class DocBinFile(FileReader):
    """Docs of a ``.spacy`` file, as they are; those without sentences are analysed by ``nlp``.

    Docs without an id of their own are named after the file and their number. Names in
    ``doc.ents`` stand in for a missing group ``doc.spans["entities"]``. The format has no
    documents to skip: one that is damaged is damaged as a whole.
    """

    path: str
    limit: int = MAX_UNPACKED_BYTES  # bytes after unpacking; spaCy holds them all

    def read(self, nlp: Language, item_filter: ItemFilter | None = None) -> Iterator[Doc]:
        """Iterate over the documents, analysed by ``nlp``; see ``FileReader.read``."""
        sentencizer = Sentencizer()
        docs = parse_items(
            self._docs(nlp), _ready, path=self.path, skip_bad=False, item_filter=item_filter
        )
        for number, doc in enumerate(docs, 1):
            name = f"{Path(self.path).name.split('.')[0]}-{number}"
            doc.user_data.setdefault("document", name)
            if not doc.has_annotation("SENT_START"):
                doc = nlp(doc)
            yield doc if doc.has_annotation("SENT_START") else sentencizer(doc)

    def _docs(self, nlp: Language) -> Iterator[Doc]:
        data = read_bytes(self.path, self.limit)
        _check_size(data, self.path, self.limit)
        collecting = gc.isenabled()
        try:
            yield from DocBin().from_bytes(data).get_docs(nlp.vocab)
        except MemoryError:
            raise
        except Exception as error:  # whatever a stranger's bytes do to the unpacker
            raise ValueError(
                f"{self.path}: not a DocBin, or a damaged one ({type(error).__name__}: {error}). "
                "Write it again with DocBin.to_disk."
            ) from error
        finally:
            if collecting:
                gc.enable()  # the unpacker leaves it off when it fails


def _check_size(data: bytes, path: str, limit: int) -> None:
    """Refuse bytes that unpack to more than the limit, before the library unpacks them at once."""
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


def _ready(doc: Doc) -> Doc:
    """The Doc by our conventions: the unpacker makes tuples of lists."""
    for key in list(doc.user_data):
        if isinstance(key, str):
            doc.user_data[key] = _lists(doc.user_data[key])
    if "entities" not in doc.spans:
        doc.spans["entities"] = list(doc.ents)
    return doc


def _lists(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _lists(inner) for key, inner in value.items()}
    return [_lists(inner) for inner in value] if isinstance(value, list | tuple) else value


def write_doc_bin(docs: Iterable[Doc], path: str) -> None:
    """One ``.spacy`` file with all the Docs carry; spaCy holds it in memory until it is whole."""
    packed = DocBin(store_user_data=True, docs=docs)
    with open_atomic_bytes(path) as out:
        out.write(packed.to_bytes())
