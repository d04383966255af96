"""BioC (XML and JSON) and PubTator: annotated documents of passages.

Both notations of BioC are brought into the shape of BioC JSON (``Node``) and read by
``_DocumentBuilder``; offsets of a file count from the start of its document and are mapped to the
joined text.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import accumulate, chain, count, pairwise
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
    ItemBudget,
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


# BioC: reading ------------------------------------------------------------------------------------


@dataclass(frozen=True)
class BioCXML(AnnotatedFile):
    """Documents of a BioC XML collection, read one at a time.

    Passages are joined by newlines. Offsets in the file count characters from the start of the
    document; gaps between passages are allowed. Annotations become entities, with the infon
    ``type`` as label and the infon ``identifier`` in ``doc.user_data["concepts"]``. Relations of
    two annotations become gold (false if an infon ``label`` is "false"), others go to
    ``doc.user_data["events"]``.
    """

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
        nodes = (
            _element_to_node(element)
            for element in iter_elements(self.path, "document", self.limit)
        )
        return _build_bioc_docs(self, nodes, nlp, item_filter, on_batch_end)


@dataclass(frozen=True)
class BioCJSON(AnnotatedFile):
    """Documents of BioC JSON, with the settings and conventions of ``BioCXML``.

    The file is a collection, a list of documents or collections, a single document, or one document
    per line. Documents are read one by one, so a collection of any size needs little memory.
    """

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
        malformed one. A value without passages, or a line that is not JSON, is always an error.
        """
        return _build_bioc_docs(self, self._trees(), nlp, item_filter, on_batch_end)

    def _trees(self) -> Iterator[Node]:
        """Iterate over the documents of the file, which is one JSON value or one per line.

        Raises ValueError for a line or value that is not a BioC document or collection.
        """
        if not self._has_lines():
            for item in iter_json_items(self.path, ("documents", "PubTator3"), self.limit):
                yield from _iter_documents(item, self.path)
            return
        for number, line in iter_lines(self.path, self.limit):
            if line.strip():
                location = f"{self.path}, line {number}"
                yield from _iter_documents(
                    load_json(check_utf8(line, location), location), location
                )

    def _has_lines(self) -> bool:
        """Return whether the first non-blank line is a JSON value by itself, as in JSON lines.

        True also for a file that is a single value on one line. False for a file that is blank or
        cannot be read; reading it then raises the error.
        """
        try:
            rows = (line for _, line in iter_lines(self.path, self.limit) if line.strip())
            load_json(next(rows, ""), "")
        except ValueError:
            return False
        return True


def _iter_documents(value: object, location: str) -> Iterator[Node]:
    """Iterate over the documents of a parsed JSON value.

    The value is a document, a collection (``documents``), an answer of the PubTator3 service
    (``PubTator3``), or a list of these. Raises ValueError, beginning with ``location``, for
    anything else.
    """
    top = value if isinstance(value, list) else [value]
    for part in top:
        if not isinstance(part, dict):
            raise ValueError(
                f"{location}: {part!r:.60} is not a BioC document. Expected an object."
            )
        inner = part.get("documents", part.get("PubTator3", [part]))
        for document in inner if isinstance(inner, list) else [inner]:
            if not isinstance(document, dict) or "passages" not in document:
                raise ValueError(
                    f'{location}: no "passages" in {document!r:.60}. A BioC document has passages, '
                    'a collection "documents".'
                )
            yield document


def _build_bioc_docs(
    reader: AnnotatedFile,
    trees: Iterable[Node],
    nlp: Language,
    item_filter: ItemFilter | None,
    on_batch_end: Callable[[], None] | None,
) -> Iterator[Doc]:
    """Iterate over the Docs of BioC nodes, built with the settings of ``reader``.

    A document without mentions leaves names and relations to ``nlp`` unless ``reader.annotated``.
    """

    def record(tree: Node) -> Record:
        """Parse a document; without mentions, mentions and gold are None unless ``annotated``."""
        parsed = _build_record(tree, reader.path)
        if parsed.mentions or reader.annotated:
            return parsed
        return replace(parsed, mentions=None, gold=None)

    return build_docs(
        trees,
        record,
        nlp,
        path=reader.path,
        cut=reader.cut,
        skip_bad=reader.skip_bad,
        item_filter=item_filter,
        on_batch_end=on_batch_end,
    )


def _element_to_node(element: Element) -> Node:
    """Convert an XML element to the shape of BioC JSON, recursively.

    Attributes, ids, offsets and texts stay strings; ``infons`` become a dict by key. The lists of
    children (``passages`` and so on) are present even if empty.
    """
    tree: Node = {name: element.get(name) for name in element.attrib}
    tree["infons"] = {i.get("key", ""): i.text or "" for i in element.findall("infon")}
    for name in ("id", "offset", "text"):
        if (child := element.find(name)) is not None:
            tree[name] = child.text or ""
    for name in ("passage", "sentence", "annotation", "relation", "location", "node"):
        tree[f"{name}s"] = [_element_to_node(child) for child in element.findall(name)]
    return tree


@dataclass(frozen=True)
class _Leaf:
    """Passage or sentence with text.

    Attributes
    ----------
    offset
        Its first character according to the file.
    start
        Its first character in the joined text.
    length
        Number of characters.
    """

    offset: int
    start: int
    length: int

    def find(self, offset: int) -> int | None:
        """Convert an offset of the file to one of the joined text.

        None if it lies outside of this leaf.
        """
        local = offset - self.offset
        return self.start + local if 0 <= local < self.length else None


@dataclass
class _DocumentBuilder:
    """Document under construction: text, mentions and relations collected from BioC nodes.

    First all passages are added, then annotations, then relations. A leaf is a passage or sentence
    that holds text itself. Malformed nodes raise ValueError that begins with ``location``.

    Attributes
    ----------
    location
        File and document, for messages.
    text
        Text joined so far, which mentions count in.
    leaves
        Passages and sentences of the text, in order.
    sentences
        Whether all text so far was split into sentences.
    mentions, gold
        As in ``Record``.
    concepts
        Infon ``identifier`` by mention id.
    events
        Relations that are not between two mentions: ``id``, ``type`` and ``arguments`` (role, id).
    names
        Ids of mentions.
    doubled
        Ids that two annotations share; a relation must not refer to them.
    """

    location: str
    text: str = ""
    leaves: list[_Leaf] = field(default_factory=list)
    sentences: bool = True
    mentions: list[Mention] = field(default_factory=list)
    gold: list[dict[str, Any]] = field(default_factory=list)
    concepts: dict[str, str] = field(default_factory=dict)
    events: list[dict[str, Any]] = field(default_factory=list)
    names: set[str] = field(default_factory=set)
    doubled: set[str] = field(default_factory=set)

    def add_passage(self, passage: Node) -> None:
        """Append the text of a passage, or of its sentences with the gaps between their offsets.

        A passage begins on a new line. Between two sentences come as many spaces as the offsets
        leave room for, but one if that is negative or more than 80. A passage with text but without
        sentences sets ``sentences`` to False.
        """
        parts = self.rows(passage, "sentences")
        if not parts:
            self.add_leaf(passage, "\n")
            self.sentences &= not (passage.get("text") or "").strip()
        for number, part in enumerate(parts):
            gap = self.number(part, "offset") - (self.leaves[-1].offset if self.leaves else 0)
            gap -= self.leaves[-1].length if self.leaves else 0
            self.add_leaf(part, " " * (gap if 0 <= gap <= 80 else 1) if number else "\n")

    def add_leaf(self, part: Node, between: str) -> None:
        """Append the text of a passage or sentence, after ``between`` unless it is the first.

        A missing text, or a false one such as null, 0 or [], is empty. Raises ValueError if another
        text is not a string, or if the offset is missing or not a number of characters.
        """
        text = part.get("text") or ""
        if not isinstance(text, str):
            raise ValueError(f"{self.location}: text {text!r:.60} is not a string. Write a string.")
        self.text += (between if self.leaves else "") + text
        start = len(self.text) - len(text)
        self.leaves.append(_Leaf(self.number(part, "offset"), start, len(text)))

    def annotate(self, part: Node, leaves: list[_Leaf]) -> None:
        """Add the annotations of a passage, sentence or document to ``mentions`` and ``concepts``.

        ``leaves`` hold the text of ``part`` and are searched first. An annotation without locations
        is skipped; one without an id is called T<number>, and one whose id is taken gets another
        (``make_unique``). Its label is the infon ``type``; the infon ``identifier`` goes to
        ``concepts`` unless it is empty or "-". Raises ValueError if the annotation begins outside
        of all text, or the text there differs from the one that the annotation gives.
        """
        for row in self.rows(part, "annotations"):
            name = self.make_unique(str(row.get("id") or f"T{len(self.mentions) + 1}"))
            infons = self.infons(row)
            pieces = sorted(
                self.piece(piece, name, leaves) for piece in self.rows(row, "locations")
            )
            if not pieces:
                continue  # an annotation of the document as a whole
            mention = Mention(name, infons.get("type", ""), tuple(pieces))
            if isinstance(row.get("text"), str) and row["text"]:
                check_mention_text(self.location, self.text, mention, row["text"])
            self.mentions.append(mention)
            self.names.add(name)
            if infons.get("identifier", "").strip("- "):
                self.concepts[name] = infons["identifier"]

    def make_unique(self, name: str) -> str:
        """Return ``name``, or ``name.2``, ``name.3``, … if a mention has this id already.

        In the second case ``name`` is added to ``doubled``. Some files number the annotations of
        each passage from 1. The result is not yet added to ``names``.
        """
        if name not in self.names:
            return name
        self.doubled.add(name)
        return next(new for n in count(2) if (new := f"{name}.{n}") not in self.names)

    def piece(self, piece: Node, name: str, leaves: list[_Leaf]) -> tuple[int, int]:
        """Return the character range of a location in the joined text, end exclusive.

        ``leaves`` are searched before all others, since offsets may be ambiguous. Raises ValueError
        if the location begins outside of all leaves; ``name`` is the annotation's id for that
        message. The end is not checked here.
        """
        start, length = self.number(piece, "offset"), self.number(piece, "length")
        for leaf in chain(leaves, self.leaves):
            if (first := leaf.find(start)) is not None:
                break
        else:
            raise ValueError(
                f"{self.location}: annotation {name!r} begins at {start}, outside all passages. "
                "Offsets count from the start of the document."
            )
        return first, first + length

    def relate(self, part: Node) -> None:
        """Add the relations of a node: pairs of mentions to ``gold``, others to ``events``.

        A pair has exactly two nodes, which are different mentions; unknown ids make an event. A
        pair is false only if its infon ``label`` is "false", in any case. Roles are kept unless
        they are Arg1 and Arg2 or empty. All annotations must have been added before. Raises
        ValueError if a relation refers to an id that two annotations share.
        """
        for row in self.rows(part, "relations"):
            infons = self.infons(row)
            nodes = self.rows(row, "nodes")
            mention_ids = [str(node.get("refid")) for node in nodes]
            roles = [str(node.get("role") or "") for node in nodes]
            if ambiguous_ids := self.doubled.intersection(mention_ids):
                raise ValueError(
                    f"{self.location}: a relation refers to {min(ambiguous_ids)!r}, the id of two "
                    "annotations. Give each its own id."
                )
            if len(set(mention_ids)) == len(mention_ids) == 2 and self.names.issuperset(
                mention_ids
            ):
                label = infons.get("label", "true").lower() != "false"
                self.gold.append(
                    {"entities": mention_ids, "label": label, "type": infons.get("type", "")}
                )
                if any(roles) and roles != ["Arg1", "Arg2"]:
                    self.gold[-1]["roles"] = roles
            else:
                pairs = [list(pair) for pair in zip(roles, mention_ids, strict=True)]
                event = {"id": str(row.get("id")), "type": infons.get("type", "")}
                self.events.append({**event, "arguments": pairs})

    def rows(self, tree: Node, key: str) -> list[Node]:
        """Return the list of objects ``tree[key]``; [] if it is missing, null or empty.

        Raises ValueError, with the location, if it is not a list of objects.
        """
        rows = tree.get(key) or []
        if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
            raise ValueError(
                f'{self.location}: "{key}" is not a list of objects. Correct the file.'
            )
        return rows

    def infons(self, tree: Node) -> dict[str, str]:
        """Return the infons of a node with values as strings, without nulls; {} if there are none.

        Raises ValueError if they are not an object.
        """
        infons = tree.get("infons") or {}
        if not isinstance(infons, dict):
            raise ValueError(f'{self.location}: "infons" is not an object. Correct the file.')
        return {key: str(value) for key, value in infons.items() if value is not None}

    def number(self, tree: Node, key: str) -> int:
        """Return ``tree[key]`` as a non-negative integer; digits in a string are accepted.

        Raises ValueError for anything else, also if the key is missing.
        """
        value = tree.get(key)
        if isinstance(value, str) and value.strip().isdecimal() and len(value) < 16:
            value = int(value)
        if not is_json_integer(value) or value < 0:  # type: ignore[operator]
            raise ValueError(f"{self.location}: {key} {value!r:.40} is not a number of characters.")
        return value  # type: ignore[return-value]


def _build_record(tree: Node, path: str) -> Record:
    """Make a Record of a BioC document; raise ValueError if it is malformed or has no id.

    ``path`` is used in messages. All text is read first, then the annotations of each passage and
    its sentences, then those of the document, then all relations. A sentence begins at each passage
    or sentence that has text. Mentions are [] rather than None if there are no annotations;
    ``data`` has ``concepts`` and ``events`` unless they are empty.
    """
    name = str(tree.get("id") or "")
    if not name:
        raise ValueError(f"{path}: a document without id. Give every document an id.")
    builder = _DocumentBuilder(f"{path}, document {name!r}")
    passages = builder.rows(tree, "passages")
    spans: list[tuple[Node, int, int]] = []
    for passage in passages:
        first = len(builder.leaves)
        builder.add_passage(passage)
        spans.append((passage, first, len(builder.leaves)))
    for passage, first, last in spans:
        for part in (passage, *builder.rows(passage, "sentences")):
            builder.annotate(part, builder.leaves[first:last])
    builder.annotate(tree, [])
    for part in chain([tree], passages, *(builder.rows(p, "sentences") for p in passages)):
        builder.relate(part)
    extra = {"concepts": builder.concepts, "events": builder.events}
    return Record(
        name,
        builder.text,
        builder.location,
        builder.mentions,
        builder.gold,
        [leaf.start for leaf in builder.leaves if leaf.length],
        sentences=builder.sentences,
        data={key: value for key, value in extra.items() if value},
    )


# BioC: writing ------------------------------------------------------------------------------------


def write_bioc_json(docs: Iterable[Doc], path: str, *, source: str = "gold") -> None:
    """Write a BioC JSON collection to ``path``, replaced atomically.

    ``source`` selects the relations: "gold", or the name of a task whose results the Docs have.
    Events become relations with their trigger and arguments as nodes; equivalences and attributes
    of brat are lost. Raises ValueError for a Doc without an id or without sentence boundaries.
    """
    with open_atomic(path) as out:
        header = {"source": "textrank", "date": "", "key": "", "infons": {}}
        out.write(json.dumps(header)[:-1] + ', "documents": [')
        for number, doc in enumerate(docs):
            node = _doc_to_node(doc, source)
            out.write((",\n" if number else "\n") + json.dumps(node, ensure_ascii=False))
        out.write("\n]}\n")


def write_bioc_xml(docs: Iterable[Doc], path: str, *, source: str = "gold") -> None:
    """Write a BioC XML collection to ``path``, replaced atomically.

    ``source`` selects the relations: "gold", or the name of a task whose results the Docs have. The
    content is that of ``write_bioc_json``. Raises ValueError for a Doc without an id or without
    sentence boundaries, and for a character that XML cannot represent.
    """
    with open_atomic(path) as out:
        out.write(
            '<?xml version="1.0" encoding="UTF-8"?>\n<!DOCTYPE collection SYSTEM "BioC.dtd">\n'
        )
        out.write("<collection><source>textrank</source><date></date><key></key>\n")
        for doc in docs:
            out.write(_node_to_xml("document", _doc_to_node(doc, source)) + "\n")
        out.write("</collection>\n")


def _doc_to_node(doc: Doc, source: str) -> Node:
    """Convert a Doc to a BioC document in the shape of BioC JSON.

    An annotation is stored in the passage that contains it, or in the document if none does.
    ``source`` selects the relations as in ``get_relations``; they are numbered R1, R2, … and
    followed by the events, under their own ids.
    """
    mentions = get_mentions(doc)
    concepts = _find_concepts(doc, mentions)
    annotations = [(mention, _mention_to_node(doc, mention, concepts)) for mention in mentions]
    passages = [_passage_to_node(doc.text, chunk) for chunk in _iter_passage_bounds(doc)]
    document: Node = {
        "id": require_document_id(doc),
        "infons": {},
        "passages": passages,
        "annotations": [],
    }
    for mention, annotation in annotations:
        first, last = mention.pieces[0][0], mention.pieces[-1][1]
        container = next(
            (p for p in passages if p["offset"] <= first and last <= _passage_end(p)), document
        )
        container["annotations"].append(annotation)
    relations = enumerate(get_relations(doc, source), 1)
    document["relations"] = [_relation_to_node(f"R{number}", row) for number, row in relations]
    for event in doc.user_data.get("events", []):
        nodes = [{"refid": end, "role": role} for role, end in event["arguments"]]
        infons = {"type": event["type"]}
        document["relations"].append({"id": event["id"], "infons": infons, "nodes": nodes})
    return document


def _iter_passage_bounds(doc: Doc) -> Iterator[list[int]]:
    """Iterate over the sentence starts of each passage, followed by the end of the passage.

    All are character offsets in the Doc; the end is exclusive and leaves out the newline between
    two passages. A passage begins with the Doc and at each sentence that follows a newline. An
    empty Doc gives one list, [0].
    """
    starts = [sentence.start_char for sentence in doc.sents]
    bounds: list[int] = []
    for start in starts:
        if bounds and doc.text[start - 1] == "\n":
            yield [*bounds, start - 1]
            bounds = []
        bounds.append(start if bounds or start else 0)
    yield [*bounds, len(doc.text)]


def _passage_to_node(text: str, bounds: list[int]) -> Node:
    """Convert the text between sentence bounds to a BioC passage with one node per sentence.

    ``bounds`` are sentence starts and the end, as yielded by ``_iter_passage_bounds``. Spaces at
    the end of a sentence are dropped except in the last.
    """
    sentences: list[Node] = []
    for start, end in pairwise(bounds):
        words = text[start:end] if end == bounds[-1] else text[start:end].rstrip(" ")
        # The bioc library needs all keys, also of empty lists.
        empty: Node = {"infons": {}, "annotations": [], "relations": []}
        sentences.append({"offset": start, "text": words, **empty})
    passage: Node = {"offset": bounds[0], "infons": {}, "sentences": sentences}
    return {**passage, "annotations": [], "relations": []}


def _passage_end(passage: Node) -> int:
    """Return the offset in the Doc of the character after the last sentence of a passage.

    ``passage`` is from ``_passage_to_node`` and must have a sentence.
    """
    last = passage["sentences"][-1]
    return int(last["offset"]) + len(last["text"])


def _find_concepts(doc: Doc, mentions: Sequence[Mention]) -> dict[str, str]:
    """Return the concepts of mentions by mention id: those of the file, else their identifiers.

    ``mentions`` are those of ``get_mentions``. Concepts of the file are ``user_data["concepts"]``,
    all of which are returned; the identifier is the span's ``kb_id_``, of which the prefix
    ``ncbigene:`` is removed, as in PubTator. Mentions without either are left out.
    """
    concepts = {
        mention.id: span.kb_id_.removeprefix("ncbigene:")
        for mention, span in zip(mentions, doc.spans.get("entities", ()), strict=True)
        if span.kb_id_
    }
    return concepts | dict(doc.user_data.get("concepts", {}))


def _mention_to_node(doc: Doc, mention: Mention, concepts: Mapping[str, str]) -> Node:
    """Convert a mention to a BioC annotation.

    Its entry in ``concepts`` (see ``_find_concepts``), if any, becomes the infon ``identifier``.
    """
    infons = {"type": mention.label}
    if mention.id in concepts:
        infons["identifier"] = concepts[mention.id]
    locations = [{"offset": start, "length": end - start} for start, end in mention.pieces]
    words = mention_text(doc, mention)
    return {"id": mention.id, "infons": infons, "text": words, "locations": locations}


def _relation_to_node(name: str, row: dict[str, Any]) -> Node:
    """Convert a row of ``get_relations`` to a BioC relation with id ``name``.

    Type, label ("true" or "false"), score, probability, status and direction become infons; the
    last four only if the row has them. Roles are Arg1 and Arg2 unless given.
    """
    infons = {"type": str(row.get("type", "")), "label": str(bool(row.get("label"))).lower()}
    keys = ("score", "probability", "status", "direction")
    infons |= {key: str(row[key]) for key in keys if key in row}
    roles = row.get("roles", ["Arg1", "Arg2"])
    nodes = [{"refid": end, "role": role} for end, role in zip(row["entities"], roles, strict=True)]
    return {"id": name, "infons": infons, "nodes": nodes}


def _node_to_xml(tag: str, tree: Node) -> str:
    """Convert a BioC node to an XML element ``tag``, with children in the order of BioC's DTD.

    The result is one string without line breaks of its own; texts are escaped. Only the keys that
    BioC defines for ``tag`` are written; missing lists of children count as empty.
    """
    attribute_names = {"annotation": ("id",), "relation": ("id",), "node": ("refid", "role")}
    attribute_names |= {"location": ("offset", "length")}
    element_names = {"document": ("id",), "passage": ("offset",), "sentence": ("offset",)}
    attributes = format_xml_attributes(
        **{name: str(tree[name]) for name in attribute_names.get(tag, ())}
    )
    parts = [
        f"<{name}>{escape_xml_text(str(tree[name]))}</{name}>"
        for name in element_names.get(tag, ())
    ]
    if tag == "document":
        parts += [_infon_to_xml(key, value) for key, value in tree["infons"].items()]
    else:
        parts[:0] = [_infon_to_xml(key, value) for key, value in tree.get("infons", {}).items()]
    nested: tuple[str, ...] = ("passage", "sentence", "location")
    parts += [_node_to_xml(name, child) for name in nested for child in tree.get(f"{name}s", [])]
    if "text" in tree:
        parts.append(f"<text>{escape_xml_text(tree['text'])}</text>")
    nested = ("annotation", "relation", "node")
    parts += [_node_to_xml(name, child) for name in nested for child in tree.get(f"{name}s", [])]
    return f"<{tag}{attributes}>{''.join(parts)}</{tag}>"


def _infon_to_xml(key: str, value: str) -> str:
    """Return an infon element as text, with key and value escaped."""
    return f"<infon{format_xml_attributes(key=key)}>{escape_xml_text(value)}</infon>"


# PubTator -----------------------------------------------------------------------------------------

Block = list[tuple[int, str]]


@dataclass(frozen=True)
class PubTator(AnnotatedFile):
    """Documents in PubTator's format, separated by blank lines.

    ``id|t|title`` and ``id|a|abstract`` give the text; offsets count one character between the two.
    Then come tab-separated ``id, start, end, words, type, concept``. Mentions are numbered T1, T2,
    …; their concepts go to ``doc.user_data["concepts"]``. Concepts of genes are NCBI Gene numbers
    and become identifiers (``ncbigene:7157``), the first of them ``span.kb_id_``. Relations hold
    between concepts of the document and not between mentions, so they are not gold: they go to
    ``doc.user_data["concept_relations"]`` as ``[type, concept, concept, …]``.
    """

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
        blocks = _iter_blocks(self.path, self.limit)
        return build_docs(
            blocks,
            self._record,
            nlp,
            path=self.path,
            cut=self.cut,
            skip_bad=self.skip_bad,
            item_filter=item_filter,
            on_batch_end=on_batch_end,
        )

    def _record(self, block: Block) -> Record:
        """Make a Record of the numbered lines of one document.

        Title and abstract (or further sections) are joined by newlines, and each begins a sentence.
        They must come before all other lines; the id is that of the title. Raises ValueError if the
        first line is not a title or a line is malformed. Mentions are None if there are none and
        ``annotated`` is False.
        """
        location = f"{self.path}, line {block[0][0]}"
        for number, line in block:
            check_utf8(line, f"{self.path}, line {number}")
        sections = [(n, match) for n, line in block if (match := PUBTATOR_SECTION.fullmatch(line))]
        if not sections or sections[0][0] != block[0][0]:
            raise ValueError(f"{location}: no title. A document begins with 'id|t|title'.")
        name = sections[0][1][1]
        texts = [match[3] for _, match in sections]
        breaks = list(accumulate(len(text) + 1 for text in texts[:-1]))
        text = "\n".join(texts).rstrip("\n")
        mentions: list[Mention] = []
        data: dict[str, Any] = {"concepts": {}, "concept_relations": []}
        for number, line in block[len(sections) :]:
            line_location = f"{self.path}, line {number}"
            _read_fields(line.split("\t"), name, text, mentions, data, line_location)
        annotated_mentions = mentions if mentions or self.annotated else None
        filled_data = {key: value for key, value in data.items() if value}
        return Record(name, text, location, annotated_mentions, breaks=breaks, data=filled_data)


def _iter_blocks(path: str, limit: int) -> Iterator[Block]:
    """Iterate over groups of ``(line number, line)`` between blank lines; no group is empty.

    ``limit`` is the largest number of bytes of a group, which is a document. Raises ValueError for
    a larger one as soon as more than that has been read.
    """
    block: Block = []
    budget = ItemBudget(path, limit)
    for number, line in iter_lines(path, limit):
        if line.strip():
            block.append((number, line))
            budget.add(line, block[0][0])
        elif block:
            yield block
            block = []
            budget.start_item()
    if block:
        yield block


def _read_fields(
    fields: list[str],
    document: str,
    text: str,
    mentions: list[Mention],
    data: dict[str, Any],
    location: str,
) -> None:
    """Parse the tab-separated ``fields`` of a mention or relation line.

    A mention is appended to ``mentions`` with the id T<number>, and its concept stored under this
    id in ``data["concepts"]`` unless it is missing or "-" (genes also become ``identifiers``, see
    ``_gene_curies``); a relation is appended to ``data["concept_relations"]``, without the document
    id. Both keys must exist. Raises ValueError if the line belongs to another document, is
    malformed, or its words differ from ``text``.
    """
    if fields[0] != document:
        raise ValueError(
            f"{location}: belongs to {fields[0]!r:.40}, but the document is {document!r:.40}. "
            "Separate documents by a blank line."
        )
    if len(fields) >= 5 and all(re.fullmatch(r"\d{1,12}", field) for field in fields[1:3]):
        piece = (int(fields[1]), int(fields[2]))
        identifiers = _gene_curies(fields[4], fields[5]) if len(fields) > 5 else ()
        mention = Mention(f"T{len(mentions) + 1}", fields[4], (piece,), identifiers)
        check_mention_text(location, text, mention, fields[3])
        mentions.append(mention)
        if len(fields) > 5 and fields[5].strip("- "):
            data["concepts"][mention.id] = fields[5]
    elif len(fields) >= 4 and not fields[1].isdigit():
        data["concept_relations"].append(fields[1:])
    else:
        raise ValueError(
            f"{location}: {len(fields)} fields. Write id, start, end, words, type and concept, or "
            "id, relation, concept and concept, separated by tabs."
        )


def _gene_curies(label: str, concept: str) -> tuple[str, ...]:
    """Return the CURIEs (``ncbigene:7157``) in the concept of a gene, in order.

    The result is () unless ``label`` contains "gene" in any case. Numbers in parentheses, which are
    species, and numbers after a colon are skipped.
    """
    if "gene" not in label.lower():
        return ()
    numbers = re.findall(r"(?<![\d(:])\d{1,10}(?!\d)", re.sub(r"\(.*?\)", "", concept))
    return tuple(f"ncbigene:{number}" for number in numbers)


# Types of statements -> types of relations in BioRED and PubTator 3; others are "Association".
PUBTATOR_RELATIONS: Mapping[str, str] = {
    "binding": "Bind",
    "activation": "Positive_Correlation",
    "inhibition": "Negative_Correlation",
}


def write_pubtator(docs: Iterable[Doc], path: str, *, source: str = "gold") -> None:
    """Write title (the first line of the text), abstract (the rest) and mentions of each document.

    PubTator has no relations between mentions, so gold is lost; relations of concepts are kept.
    With the name of a task as ``source``, its positive results become relations of concepts instead
    of those of the file, where both names have an identifier; see ``PUBTATOR_RELATIONS``. Tabs, and
    newlines after the first, become spaces. The file ``path`` is replaced atomically. Raises
    ValueError for a discontinuous name, and for an id that is missing or has white space or ``|``.
    """
    with open_atomic(path) as out:
        for doc in docs:
            out.writelines(row + "\n" for row in _iter_pubtator_lines(doc, source))


def _iter_pubtator_lines(doc: Doc, source: str) -> Iterator[str]:
    """Iterate over the lines of one document, without line ends; the last one is blank.

    ``source`` is "gold", which writes the concept relations of the file, or a task, whose positive
    results are written instead. Raises ValueError if the id is missing or has white space or ``|``,
    a name is in several pieces, or the task is not registered.
    """
    name = require_document_id(doc)
    if re.search(r"[|\s]", name):
        raise ValueError(f"document id {name!r} contains a blank or '|'. Rename it for PubTator.")
    title, _, rest = doc.text.partition("\n")
    yield f"{name}|t|{_flatten(title)}"
    yield f"{name}|a|{_flatten(rest)}"
    mentions = get_mentions(doc)
    concepts = _find_concepts(doc, mentions)
    for mention in mentions:
        if len(mention.pieces) != 1:
            raise ValueError(
                f"mention {mention.id!r} of document {name!r} is in {len(mention.pieces)} pieces, "
                "which PubTator cannot hold. Write brat or BioC."
            )
        ((start, end),) = mention.pieces
        concept = concepts.get(mention.id, "-")
        words = _flatten(mention_text(doc, mention))
        yield "\t".join([name, str(start), str(end), words, _flatten(mention.label), concept])
    relations = list(doc.user_data.get("concept_relations", []))
    if source != "gold":
        relations = _relate_concepts(get_relations(doc, source), concepts)
    for relation in relations:
        yield "\t".join([name, *relation])
    yield ""


def _relate_concepts(
    rows: Iterable[Mapping[str, Any]], concepts: Mapping[str, str]
) -> list[list[str]]:
    """Return ``[type, concept, concept]`` of positive relations, each once, in their order.

    ``rows`` are those of ``get_relations``, ``concepts`` those of ``_find_concepts``. The types are
    those of ``PUBTATOR_RELATIONS``. The acting concept comes first where the direction is known.
    Relations of a name without a concept, or of a concept with itself, are left out.
    """
    relations: dict[tuple[str, str, str], None] = {}
    for row in rows:
        ends = [concepts.get(end, "") for end in row["entities"]]
        if not row["label"] or not all(ends) or ends[0] == ends[1]:
            continue
        first, second = ends[::-1] if row.get("direction") == "b>a" else ends
        relations[PUBTATOR_RELATIONS.get(row.get("type", ""), "Association"), first, second] = None
    return [list(relation) for relation in relations]


def _flatten(text: str) -> str:
    """Replace each tab, newline and carriage return by a space, keeping the length."""
    return re.sub(r"[\t\n\r]", " ", text)
