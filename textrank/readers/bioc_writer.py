"""Docs as BioC collections, in XML and in JSON."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from itertools import pairwise
from typing import Any

from spacy.tokens import Doc

from textrank.readers.bioc import Tree
from textrank.readers.records import (
    Mention,
    document_of,
    mentions_of,
    relations_of,
    words_of,
)
from textrank.readers.streams import attributes, content, writing


def write_bioc_json(docs: Iterable[Doc], path: str, *, source: str = "gold") -> None:
    """A BioC JSON collection; relations from gold or from the results of a task.

    Events become relations of more nodes; brat's equivalences and attributes have no place.
    """
    with writing(path) as out:
        head = {"source": "textrank", "date": "", "key": "", "infons": {}}
        out.write(json.dumps(head)[:-1] + ', "documents": [')
        for number, doc in enumerate(docs):
            tree = _tree_of(doc, source)
            out.write((",\n" if number else "\n") + json.dumps(tree, ensure_ascii=False))
        out.write("\n]}\n")


def write_bioc_xml(docs: Iterable[Doc], path: str, *, source: str = "gold") -> None:
    """A BioC XML collection, with what ``write_bioc_json`` writes."""
    with writing(path) as out:
        out.write(
            '<?xml version="1.0" encoding="UTF-8"?>\n<!DOCTYPE collection SYSTEM "BioC.dtd">\n'
        )
        out.write("<collection><source>textrank</source><date></date><key></key>\n")
        for doc in docs:
            out.write(_xml("document", _tree_of(doc, source)) + "\n")
        out.write("</collection>\n")


def _tree_of(doc: Doc, source: str) -> Tree:
    mentions = mentions_of(doc)
    notes = [(mention, _annotation(doc, mention)) for mention in mentions]
    passages = [_passage(doc.text, chunk) for chunk in _chunks(doc)]
    tree: Tree = {"id": document_of(doc), "infons": {}, "passages": passages, "annotations": []}
    for mention, note in notes:
        first, last = mention.pieces[0][0], mention.pieces[-1][1]
        home = next((p for p in passages if p["offset"] <= first and last <= _end(p)), tree)
        home["annotations"].append(note)
    relations = enumerate(relations_of(doc, source), 1)
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


def _passage(text: str, bounds: list[int]) -> Tree:
    sentences: list[Tree] = []
    for start, end in pairwise(bounds):
        words = text[start:end] if end == bounds[-1] else text[start:end].rstrip(" ")
        sentences.append({"offset": start, "infons": {}, "text": words, "annotations": []})
    return {"offset": bounds[0], "infons": {}, "sentences": sentences, "annotations": []}


def _end(passage: Tree) -> int:
    last = passage["sentences"][-1]
    return int(last["offset"]) + len(last["text"])


def _annotation(doc: Doc, mention: Mention) -> Tree:
    infons = {"type": mention.label}
    if mention.id in doc.user_data.get("concepts", {}):
        infons["identifier"] = doc.user_data["concepts"][mention.id]
    places = [{"offset": start, "length": end - start} for start, end in mention.pieces]
    words = words_of(doc, mention)
    return {"id": mention.id, "infons": infons, "text": words, "locations": places}


def _relation(name: str, row: dict[str, Any]) -> Tree:
    infons = {"type": str(row.get("type", "")), "label": str(bool(row.get("label"))).lower()}
    if "score" in row:
        infons["score"] = str(row["score"])
    roles = row.get("roles", ["Arg1", "Arg2"])
    nodes = [{"refid": end, "role": role} for end, role in zip(row["entities"], roles, strict=True)]
    return {"id": name, "infons": infons, "nodes": nodes}


def _xml(tag: str, tree: Tree) -> str:
    """An element in the order of BioC's DTD."""
    own = {"annotation": ("id",), "relation": ("id",), "node": ("refid", "role")}
    own |= {"location": ("offset", "length")}
    inner = {"document": ("id",), "passage": ("offset",), "sentence": ("offset",)}
    named = attributes(**{name: str(tree[name]) for name in own.get(tag, ())})
    parts = [f"<{name}>{content(str(tree[name]))}</{name}>" for name in inner.get(tag, ())]
    if tag == "document":
        parts += [_infon(key, value) for key, value in tree["infons"].items()]
    else:
        parts[:0] = [_infon(key, value) for key, value in tree.get("infons", {}).items()]
    nested: tuple[str, ...] = ("passage", "sentence", "location")
    parts += [_xml(name, child) for name in nested for child in tree.get(f"{name}s", [])]
    if "text" in tree:
        parts.append(f"<text>{content(tree['text'])}</text>")
    nested = ("annotation", "relation", "node")
    parts += [_xml(name, child) for name in nested for child in tree.get(f"{name}s", [])]
    return f"<{tag}{named}>{''.join(parts)}</{tag}>"


def _infon(key: str, value: str) -> str:
    return f"<infon{attributes(key=key)}>{content(value)}</infon>"
