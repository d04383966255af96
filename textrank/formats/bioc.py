"""BioC in its two notations, XML and JSON: documents of passages with annotations."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from itertools import chain, count, pairwise
from typing import Any
from xml.etree.ElementTree import Element

from spacy.language import Language
from spacy.tokens import Doc

from textrank.formats.base import (
    AnnotatedFile,
    Mention,
    Record,
    build_docs,
    check_mention_text,
    get_mentions,
    get_relations,
    mention_text,
    require_document_id,
)
from textrank.formats.columns import is_json_integer
from textrank.formats.detection import PUBTATOR_SECTION
from textrank.io import (
    ItemFilter,
    check_utf8,
    escape_xml_text,
    format_xml_attributes,
    iter_elements,
    iter_json_items,
    iter_lines,
    load_json,
    open_atomic,
)

Node = dict[str, Any]  # a document as BioC JSON has it


@dataclass(frozen=True)
class BioCXML(AnnotatedFile):
    """Documents of a BioC XML collection, read one at a time.

    Passages are joined by newlines. Offsets of the file count from the start of its document, in
    characters; gaps between passages do not matter. Annotations become entities, typed by
    the infon ``type``, with the infon ``identifier`` in ``doc.user_data["concepts"]``. Relations of
    two annotations become gold (false where an infon ``label`` says so), others go to
    ``doc.user_data["events"]``.
    """

    def read(self, nlp: Language, item_filter: ItemFilter | None = None) -> Iterator[Doc]:
        """Iterate over the documents, analysed by ``nlp``; see ``FileReader.read``."""
        found = (_tree(element) for element in iter_elements(self.path, "document", self.limit))
        return _docs(self, found, nlp, item_filter)


@dataclass(frozen=True)
class BioCJSON(AnnotatedFile):
    """Documents of BioC JSON, with the settings and conventions of ``BioCXML``.

    The file is a collection, a list of documents or collections, a single document, or a document
    a line. Documents are read one by one, so that a collection of any size needs little memory.
    """

    def read(self, nlp: Language, item_filter: ItemFilter | None = None) -> Iterator[Doc]:
        """Iterate over the documents, analysed by ``nlp``; see ``FileReader.read``."""
        return _docs(self, self._trees(), nlp, item_filter)

    def _trees(self) -> Iterator[Node]:
        """Those of the lines where the first is complete by itself, else those of one list."""
        if not self._has_lines():
            for item in iter_json_items(self.path, ("documents", "PubTator3"), self.limit):
                yield from _documents(item, self.path)
            return
        for number, line in iter_lines(self.path, self.limit):
            if line.strip():
                place = f"{self.path}, line {number}"
                yield from _documents(load_json(check_utf8(line, place), place), place)

    def _has_lines(self) -> bool:
        try:
            rows = (line for _, line in iter_lines(self.path, self.limit) if line.strip())
            load_json(next(rows, ""), "")
        except ValueError:
            return False
        return True


def _documents(value: object, place: str) -> Iterator[Node]:
    """The documents of a collection, of a list, of a service's answer, or the one that it is."""
    top = value if isinstance(value, list) else [value]
    for part in top:
        if not isinstance(part, dict):
            raise ValueError(f"{place}: {part!r:.60} is no BioC document. Expected an object.")
        inner = part.get("documents", part.get("PubTator3", [part]))
        for document in inner if isinstance(inner, list) else [inner]:
            if not isinstance(document, dict) or "passages" not in document:
                raise ValueError(
                    f'{place}: no "passages" in {document!r:.60}. A BioC document holds passages, '
                    'a collection "documents".'
                )
            yield document


def _docs(
    reader: AnnotatedFile, trees: Iterable[Node], nlp: Language, item_filter: ItemFilter | None
) -> Iterator[Doc]:
    def record(tree: Node) -> Record:
        found = _record(tree, reader.path)
        known = bool(found.mentions) or reader.annotated
        return found if known else replace(found, mentions=None, gold=None)

    return build_docs(
        trees,
        record,
        nlp,
        path=reader.path,
        cut=reader.cut,
        skip_bad=reader.skip_bad,
        item_filter=item_filter,
    )


def _tree(element: Element) -> Node:
    """An XML element in the shape of BioC JSON."""
    tree: Node = {name: element.get(name) for name in element.attrib}
    tree["infons"] = {i.get("key", ""): i.text or "" for i in element.findall("infon")}
    for name in ("id", "offset", "text"):
        if (child := element.find(name)) is not None:
            tree[name] = child.text or ""
    for name in ("passage", "sentence", "annotation", "relation", "location", "node"):
        tree[f"{name}s"] = [_tree(child) for child in element.findall(name)]
    return tree


@dataclass(frozen=True)
class _Leaf:
    """A passage or sentence with text: where the file says it stands, and where it does here."""

    offset: int
    start: int
    length: int

    def find(self, offset: int) -> int | None:
        """The character here of an offset of the file, if it lies in this leaf."""
        local = offset - self.offset
        return self.start + local if 0 <= local < self.length else None


@dataclass
class _Page:
    """A document on its way to a record."""

    place: str
    text: str = ""
    leaves: list[_Leaf] = field(default_factory=list)
    sentences: bool = True  # so far, all text came in sentences
    mentions: list[Mention] = field(default_factory=list)
    gold: list[dict[str, Any]] = field(default_factory=list)
    concepts: dict[str, str] = field(default_factory=dict)
    events: list[dict[str, Any]] = field(default_factory=list)
    names: set[str] = field(default_factory=set)
    doubled: set[str] = field(default_factory=set)  # ids that two annotations have

    def add_passage(self, passage: Node) -> None:
        parts = self.rows(passage, "sentences")
        if not parts:
            self.add_leaf(passage, "\n")
            self.sentences &= not (passage.get("text") or "").strip()
        for number, part in enumerate(parts):
            gap = self.number(part, "offset") - (self.leaves[-1].offset if self.leaves else 0)
            gap -= self.leaves[-1].length if self.leaves else 0
            self.add_leaf(part, " " * (gap if 0 <= gap <= 80 else 1) if number else "\n")

    def add_leaf(self, part: Node, between: str) -> None:
        text = part.get("text") or ""
        if not isinstance(text, str):
            raise ValueError(f"{self.place}: text {text!r:.60} is no text. Write a string.")
        self.text += (between if self.leaves else "") + text
        start = len(self.text) - len(text)
        self.leaves.append(_Leaf(self.number(part, "offset"), start, len(text)))

    def annotate(self, part: Node, leaves: list[_Leaf]) -> None:
        for row in self.rows(part, "annotations"):
            name = self.fresh(str(row.get("id") or f"T{len(self.mentions) + 1}"))
            infons = self.infons(row)
            pieces = sorted(self.piece(at, name, leaves) for at in self.rows(row, "locations"))
            if not pieces:
                continue  # an annotation of the document as a whole
            mention = Mention(name, infons.get("type", ""), tuple(pieces))
            if isinstance(row.get("text"), str) and row["text"]:
                check_mention_text(self.place, self.text, mention, row["text"])
            self.mentions.append(mention)
            self.names.add(name)
            if infons.get("identifier", "").strip("- "):
                self.concepts[name] = infons["identifier"]

    def fresh(self, name: str) -> str:
        """The id itself, or a new one: some files number the annotations of each passage anew."""
        if name not in self.names:
            return name
        self.doubled.add(name)
        return next(new for n in count(2) if (new := f"{name}.{n}") not in self.names)

    def piece(self, location: Node, name: str, leaves: list[_Leaf]) -> tuple[int, int]:
        start, length = self.number(location, "offset"), self.number(location, "length")
        for leaf in chain(leaves, self.leaves):  # its own passage first: offsets may be sloppy
            if (first := leaf.find(start)) is not None:
                break
        else:
            raise ValueError(
                f"{self.place}: annotation {name!r} begins at {start}, outside all passages. "
                "Offsets count from the start of the document."
            )
        return first, first + length

    def relate(self, part: Node) -> None:
        for row in self.rows(part, "relations"):
            infons = self.infons(row)
            nodes = self.rows(row, "nodes")
            ends = [str(node.get("refid")) for node in nodes]
            roles = [str(node.get("role") or "") for node in nodes]
            if unclear := self.doubled.intersection(ends):
                raise ValueError(
                    f"{self.place}: a relation names {min(unclear)!r}, the id of two annotations. "
                    "Give them ids of their own."
                )
            if len(set(ends)) == len(ends) == 2 and self.names.issuperset(ends):
                label = infons.get("label", "true").lower() != "false"
                self.gold.append({"entities": ends, "label": label, "type": infons.get("type", "")})
                if any(roles) and roles != ["Arg1", "Arg2"]:
                    self.gold[-1]["roles"] = roles
            else:
                pairs = [list(pair) for pair in zip(roles, ends, strict=True)]
                event = {"id": str(row.get("id")), "type": infons.get("type", "")}
                self.events.append({**event, "arguments": pairs})

    def rows(self, tree: Node, key: str) -> list[Node]:
        rows = tree.get(key) or []
        if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
            raise ValueError(f'{self.place}: "{key}" is no list of objects. Correct the file.')
        return rows

    def infons(self, tree: Node) -> dict[str, str]:
        infons = tree.get("infons") or {}
        if not isinstance(infons, dict):
            raise ValueError(f'{self.place}: "infons" is no object. Correct the file.')
        return {key: str(value) for key, value in infons.items() if value is not None}

    def number(self, tree: Node, key: str) -> int:
        value = tree.get(key)
        if isinstance(value, str) and value.strip().isdecimal() and len(value) < 16:
            value = int(value)
        if not is_json_integer(value) or value < 0:  # type: ignore[operator]
            raise ValueError(f"{self.place}: {key} {value!r:.40} is no number of characters.")
        return value  # type: ignore[return-value]


def _record(tree: Node, path: str) -> Record:
    name = str(tree.get("id") or "")
    if not name:
        raise ValueError(f"{path}: a document without id. Give every document an id.")
    page = _Page(f"{path}, document {name!r}")
    passages = page.rows(tree, "passages")
    spans: list[tuple[Node, int, int]] = []
    for passage in passages:
        first = len(page.leaves)
        page.add_passage(passage)
        spans.append((passage, first, len(page.leaves)))
    for passage, first, last in spans:
        for part in (passage, *page.rows(passage, "sentences")):
            page.annotate(part, page.leaves[first:last])
    page.annotate(tree, [])
    for part in chain([tree], passages, *(page.rows(p, "sentences") for p in passages)):
        page.relate(part)
    extra = {"concepts": page.concepts, "events": page.events}
    return Record(
        name,
        page.text,
        page.place,
        page.mentions,
        page.gold,
        [leaf.start for leaf in page.leaves if leaf.length],
        sentences=page.sentences,
        data={key: value for key, value in extra.items() if value},
    )


def write_bioc_json(docs: Iterable[Doc], path: str, *, source: str = "gold") -> None:
    """A BioC JSON collection; relations from gold or from the results of a task.

    Events become relations of more nodes; brat's equivalences and attributes have no place.
    """
    with open_atomic(path) as out:
        head = {"source": "textrank", "date": "", "key": "", "infons": {}}
        out.write(json.dumps(head)[:-1] + ', "documents": [')
        for number, doc in enumerate(docs):
            tree = _tree_of(doc, source)
            out.write((",\n" if number else "\n") + json.dumps(tree, ensure_ascii=False))
        out.write("\n]}\n")


def write_bioc_xml(docs: Iterable[Doc], path: str, *, source: str = "gold") -> None:
    """A BioC XML collection, with what ``write_bioc_json`` writes."""
    with open_atomic(path) as out:
        out.write(
            '<?xml version="1.0" encoding="UTF-8"?>\n<!DOCTYPE collection SYSTEM "BioC.dtd">\n'
        )
        out.write("<collection><source>textrank</source><date></date><key></key>\n")
        for doc in docs:
            out.write(_xml("document", _tree_of(doc, source)) + "\n")
        out.write("</collection>\n")


def _tree_of(doc: Doc, source: str) -> Node:
    mentions = get_mentions(doc)
    notes = [(mention, _annotation(doc, mention)) for mention in mentions]
    passages = [_passage(doc.text, chunk) for chunk in _chunks(doc)]
    tree: Node = {
        "id": require_document_id(doc),
        "infons": {},
        "passages": passages,
        "annotations": [],
    }
    for mention, note in notes:
        first, last = mention.pieces[0][0], mention.pieces[-1][1]
        home = next((p for p in passages if p["offset"] <= first and last <= _end(p)), tree)
        home["annotations"].append(note)
    relations = enumerate(get_relations(doc, source), 1)
    tree["relations"] = [_relation(f"R{number}", row) for number, row in relations]
    for event in doc.user_data.get("events", []):
        nodes = [{"refid": end, "role": role} for role, end in event["arguments"]]
        infons = {"type": event["type"]}
        tree["relations"].append({"id": event["id"], "infons": infons, "nodes": nodes})
    return tree


def _chunks(doc: Doc) -> Iterator[list[int]]:
    """Bounds of the sentences of each passage; one begins where a sentence follows a newline."""
    starts = [sentence.start_char for sentence in doc.sents]
    chunk: list[int] = []
    for start in starts:
        if chunk and doc.text[start - 1] == "\n":
            yield [*chunk, start - 1]
            chunk = []
        chunk.append(start if chunk or start else 0)
    yield [*chunk, len(doc.text)]


def _passage(text: str, bounds: list[int]) -> Node:
    sentences: list[Node] = []
    for start, end in pairwise(bounds):
        words = text[start:end] if end == bounds[-1] else text[start:end].rstrip(" ")
        sentences.append({"offset": start, "infons": {}, "text": words, "annotations": []})
    return {"offset": bounds[0], "infons": {}, "sentences": sentences, "annotations": []}


def _end(passage: Node) -> int:
    last = passage["sentences"][-1]
    return int(last["offset"]) + len(last["text"])


def _annotation(doc: Doc, mention: Mention) -> Node:
    infons = {"type": mention.label}
    if mention.id in doc.user_data.get("concepts", {}):
        infons["identifier"] = doc.user_data["concepts"][mention.id]
    places = [{"offset": start, "length": end - start} for start, end in mention.pieces]
    words = mention_text(doc, mention)
    return {"id": mention.id, "infons": infons, "text": words, "locations": places}


def _relation(name: str, row: dict[str, Any]) -> Node:
    infons = {"type": str(row.get("type", "")), "label": str(bool(row.get("label"))).lower()}
    if "score" in row:
        infons["score"] = str(row["score"])
    roles = row.get("roles", ["Arg1", "Arg2"])
    nodes = [{"refid": end, "role": role} for end, role in zip(row["entities"], roles, strict=True)]
    return {"id": name, "infons": infons, "nodes": nodes}


def _xml(tag: str, tree: Node) -> str:
    """An element in the order of BioC's DTD."""
    own = {"annotation": ("id",), "relation": ("id",), "node": ("refid", "role")}
    own |= {"location": ("offset", "length")}
    inner = {"document": ("id",), "passage": ("offset",), "sentence": ("offset",)}
    named = format_xml_attributes(**{name: str(tree[name]) for name in own.get(tag, ())})
    parts = [f"<{name}>{escape_xml_text(str(tree[name]))}</{name}>" for name in inner.get(tag, ())]
    if tag == "document":
        parts += [_infon(key, value) for key, value in tree["infons"].items()]
    else:
        parts[:0] = [_infon(key, value) for key, value in tree.get("infons", {}).items()]
    nested: tuple[str, ...] = ("passage", "sentence", "location")
    parts += [_xml(name, child) for name in nested for child in tree.get(f"{name}s", [])]
    if "text" in tree:
        parts.append(f"<text>{escape_xml_text(tree['text'])}</text>")
    nested = ("annotation", "relation", "node")
    parts += [_xml(name, child) for name in nested for child in tree.get(f"{name}s", [])]
    return f"<{tag}{named}>{''.join(parts)}</{tag}>"


def _infon(key: str, value: str) -> str:
    return f"<infon{format_xml_attributes(key=key)}>{escape_xml_text(value)}</infon>"


Block = list[tuple[int, str]]


@dataclass(frozen=True)
class PubTator(AnnotatedFile):
    """Documents in PubTator's format, a blank line between them.

    ``id|t|title`` and ``id|a|abstract`` give the text, with one character between the two for the
    offsets; then ``id, start, end, words, type, concept`` by tabs. Mentions are numbered T1, T2
    and so on, their concepts kept in ``doc.user_data["concepts"]``; those of genes are NCBI's and
    become identifiers (``ncbigene:7157``), the first ``span.kb_id_``. Relations hold between
    concepts of the whole document, not between mentions, so they are no gold pairs: they are kept
    as ``[type, concept, concept, ...]`` in ``doc.user_data["concept_relations"]``.
    """

    def read(self, nlp: Language, item_filter: ItemFilter | None = None) -> Iterator[Doc]:
        """Iterate over the documents, analysed by ``nlp``; see ``FileReader.read``."""
        blocks = _blocks(self.path, self.limit)
        return build_docs(
            blocks,
            self._record,
            nlp,
            path=self.path,
            cut=self.cut,
            skip_bad=self.skip_bad,
            item_filter=item_filter,
        )

    def _record(self, block: Block) -> Record:
        first = f"{self.path}, line {block[0][0]}"
        for number, line in block:
            check_utf8(line, f"{self.path}, line {number}")
        sections = [(n, found) for n, line in block if (found := PUBTATOR_SECTION.fullmatch(line))]
        if not sections or sections[0][0] != block[0][0]:
            raise ValueError(f"{first}: no title. A document begins with 'id|t|title'.")
        name = sections[0][1][1]
        texts = [found[3] for _, found in sections]
        breaks = [sum(map(len, texts[:i])) + i for i in range(1, len(texts))]
        text = "\n".join(texts).rstrip("\n")
        mentions: list[Mention] = []
        data: dict[str, Any] = {"concepts": {}, "concept_relations": []}
        for number, line in block[len(sections) :]:
            place = f"{self.path}, line {number}"
            _read_fields(line.split("\t"), name, text, mentions, data, place)
        known = mentions if mentions or self.annotated else None
        kept = {key: value for key, value in data.items() if value}
        return Record(name, text, first, known, breaks=breaks, data=kept)


def _blocks(path: str, limit: int) -> Iterator[Block]:
    """Lines between blank ones, with their numbers."""
    block: Block = []
    for number, line in iter_lines(path, limit):
        if line.strip():
            block.append((number, line))
        elif block:
            yield block
            block = []
    if block:
        yield block


def _read_fields(
    fields: list[str],
    document: str,
    text: str,
    mentions: list[Mention],
    data: dict[str, Any],
    place: str,
) -> None:
    if fields[0] != document:
        raise ValueError(
            f"{place}: belongs to {fields[0]!r:.40}, but the document is {document!r:.40}. "
            "Separate documents by a blank line."
        )
    if len(fields) >= 5 and all(re.fullmatch(r"\d{1,12}", field) for field in fields[1:3]):
        piece = (int(fields[1]), int(fields[2]))
        known = _identifiers(fields[4], fields[5]) if len(fields) > 5 else ()
        mention = Mention(f"T{len(mentions) + 1}", fields[4], (piece,), known)
        check_mention_text(place, text, mention, fields[3])
        mentions.append(mention)
        if len(fields) > 5 and fields[5].strip("- "):
            data["concepts"][mention.id] = fields[5]
    elif len(fields) >= 4 and not fields[1].isdigit():
        data["concept_relations"].append(fields[1:])
    else:
        raise ValueError(
            f"{place}: {len(fields)} fields. Write id, start, end, words, type and concept, or id, "
            "relation, concept and concept, separated by tabs."
        )


def _identifiers(label: str, concept: str) -> tuple[str, ...]:
    """The CURIEs of a gene's concept; ids in brackets behind it are of its species."""
    if "gene" not in label.lower():
        return ()
    numbers = re.findall(r"(?<![\d(:])\d{1,10}(?!\d)", re.sub(r"\(.*?\)", "", concept))
    return tuple(f"ncbigene:{number}" for number in numbers)


def write_pubtator(docs: Iterable[Doc], path: str) -> None:
    """Title (the first line of the text), rest and mentions of each document.

    The format knows neither relations between mentions nor names in pieces: gold is left out, and
    a broken name is an error. Newlines after the first and tabs become blanks.
    """
    with open_atomic(path) as out:
        for doc in docs:
            out.writelines(row + "\n" for row in _rows(doc))


def _rows(doc: Doc) -> Iterator[str]:
    name = require_document_id(doc)
    if re.search(r"[|\s]", name):
        raise ValueError(f"document id {name!r} has a blank or '|'. Rename it for PubTator.")
    title, _, rest = doc.text.partition("\n")
    yield f"{name}|t|{_flat(title)}"
    yield f"{name}|a|{_flat(rest)}"
    concepts = doc.user_data.get("concepts", {})
    for mention in get_mentions(doc):
        if len(mention.pieces) != 1:
            raise ValueError(
                f"mention {mention.id!r} of document {name!r} is in {len(mention.pieces)} pieces, "
                "which PubTator cannot state. Write brat or BioC."
            )
        ((start, end),) = mention.pieces
        concept = concepts.get(mention.id, "-")
        words = _flat(mention_text(doc, mention))
        yield "\t".join([name, str(start), str(end), words, _flat(mention.label), concept])
    for relation in doc.user_data.get("concept_relations", []):
        yield "\t".join([name, *relation])
    yield ""


def _flat(text: str) -> str:
    """One line without tabs, of the same length."""
    return re.sub(r"[\t\n\r]", " ", text)
