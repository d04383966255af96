"""PubTator: title and abstract on a line each, then a line a mention."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from spacy.language import Language
from spacy.tokens import Doc

from textrank.formats.records import (
    AnnotatedFile,
    Mention,
    Record,
    check_words,
    docs_of,
    document_of,
    mentions_of,
    words_of,
)
from textrank.io import check_utf8, lines, writing

SECTION = re.compile(r"([^|\t]+)\|([A-Za-z]+)\|(.*)", re.DOTALL)
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

    def __call__(self, nlp: Language) -> Iterator[Doc]:
        blocks = _blocks(self.path, self.limit)
        return docs_of(
            blocks, self._record, nlp, path=self.path, cut=self.cut, skip_bad=self.skip_bad
        )

    def _record(self, block: Block) -> Record:
        first = f"{self.path}, line {block[0][0]}"
        for number, line in block:
            check_utf8(line, f"{self.path}, line {number}")
        sections = [(n, found) for n, line in block if (found := SECTION.fullmatch(line))]
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
    for number, line in lines(path, limit):
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
        check_words(place, text, mention, fields[3])
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
    with writing(path) as out:
        for doc in docs:
            out.writelines(row + "\n" for row in _rows(doc))


def _rows(doc: Doc) -> Iterator[str]:
    name = document_of(doc)
    if re.search(r"[|\s]", name):
        raise ValueError(f"document id {name!r} has a blank or '|'. Rename it for PubTator.")
    title, _, rest = doc.text.partition("\n")
    yield f"{name}|t|{_flat(title)}"
    yield f"{name}|a|{_flat(rest)}"
    concepts = doc.user_data.get("concepts", {})
    for mention in mentions_of(doc):
        if len(mention.pieces) != 1:
            raise ValueError(
                f"mention {mention.id!r} of document {name!r} is in {len(mention.pieces)} pieces, "
                "which PubTator cannot state. Write brat or BioC."
            )
        ((start, end),) = mention.pieces
        concept = concepts.get(mention.id, "-")
        words = _flat(words_of(doc, mention))
        yield "\t".join([name, str(start), str(end), words, _flat(mention.label), concept])
    for relation in doc.user_data.get("concept_relations", []):
        yield "\t".join([name, *relation])
    yield ""


def _flat(text: str) -> str:
    """One line without tabs, of the same length."""
    return re.sub(r"[\t\n\r]", " ", text)
