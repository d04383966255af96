"""LETOR: the documents of queries as numbers, with how relevant each is."""

from __future__ import annotations

import io
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from html import unescape
from itertools import groupby
from pathlib import Path
from typing import Any
from xml.etree.ElementTree import Element, ParseError

import numpy as np
from defusedxml import DefusedXmlException
from defusedxml.ElementTree import iterparse
from spacy.language import Language
from spacy.tokens import Doc, Span

from textrank.features import Matrix, Vector
from textrank.formats.base import FileReader, Record, build_docs
from textrank.io import (
    MAX_ITEM_BYTES,
    MAX_UNPACKED_BYTES,
    ItemFilter,
    check_utf8,
    iter_lines,
    iter_tar_files,
    iter_zip_files,
    read_bytes,
)

ARCHIVES = (".tar", ".tar.gz", ".tgz")


@dataclass(frozen=True)
class JudgedDocument:
    """A document of a query: how relevant it is, and its features by number."""

    query: str
    relevance: float
    features: Mapping[str, float]
    id: str = ""


@dataclass(frozen=True)
class Letor(FileReader):
    """Queries of a LETOR file, ``relevance qid:N 1:0.5 2:0.25 ... # docid = ...`` a line.

    A document is a query, whose ``doc.user_data["judged"]`` lists what was judged for it:
    ``{"id", "relevance", "features"}``. The lines of a query stand together. ``path`` may also be
    a tar archive of such files, of which ``member`` names those to read by how they end.
    """

    path: str
    member: str = ".txt"
    skip_bad: bool = False
    limit: int = MAX_ITEM_BYTES

    def read(self, nlp: Language, item_filter: ItemFilter | None = None) -> Iterator[Doc]:
        """Iterate over the documents, analysed by ``nlp``; see ``FileReader.read``."""
        found = groupby(self.iter_judged(), key=lambda j: j.query)
        rows = ((query, [_row(j) for j in own]) for query, own in found)
        return build_docs(
            rows,
            self._record,
            nlp,
            path=self.path,
            cut=False,
            skip_bad=self.skip_bad,
            item_filter=item_filter,
        )

    def iter_judged(self) -> Iterator[JudgedDocument]:
        """The lines, one by one."""
        found = False
        for place, numbered in self._files():
            for number, line in numbered:
                if line.partition("#")[0].strip():
                    found = True
                    yield _judged(line, f"{place}, line {number}")
        if not found:
            raise ValueError(f"{self.path}: no judged document in it. Name a LETOR file.")

    def _files(self) -> Iterator[tuple[str, Iterable[tuple[int, str]]]]:
        if not self.path.endswith(ARCHIVES):
            yield self.path, iter_lines(self.path, self.limit)
            return
        for name, data in iter_tar_files(
            self.path, self.member, max(self.limit, MAX_UNPACKED_BYTES)
        ):
            text = data.decode("utf-8", errors="surrogateescape")
            yield f"{self.path}/{name}", enumerate(text.splitlines(), 1)

    def _record(self, row: tuple[str, list[dict[str, Any]]]) -> Record:
        query, documents = row
        return Record(query, f"query {query}", self.path, data={"judged": documents})


def read_letor_arrays(path: str | Path, member: str = ".txt") -> tuple[Matrix, Vector, list[str]]:
    """Features, relevance and the query of every document of a LETOR file."""
    found = list(Letor(str(path), member).iter_judged())
    width = max((int(k) for j in found for k in j.features), default=0)
    X = np.zeros((len(found), width))
    for row, judged in enumerate(found):
        for number, value in judged.features.items():
            X[row, int(number) - 1] = value
    return X, np.array([j.relevance for j in found]), [j.query for j in found]


def _judged(line: str, place: str) -> JudgedDocument:
    fields, _, comment = check_utf8(line, place).partition("#")
    relevance, *pairs = fields.split()
    try:
        cells = [(key, value) for key, _, value in (pair.partition(":") for pair in pairs)]
        if not cells or cells[0][0] != "qid" or not cells[0][1]:
            raise ValueError("no qid")
        features = {str(int(key)): _finite(value) for key, value in cells[1:]}
        return JudgedDocument(cells[0][1], _finite(relevance), features, _id(comment))
    except ValueError:
        raise ValueError(
            f"{place}: {fields.strip()!r:.60} is no judged document. Write relevance qid:N 1:0.5 "
            "2:0.25 ..., finite numbers."
        ) from None


def _finite(text: str) -> float:
    value = float(text)
    if not np.isfinite(value):
        raise ValueError(text)
    return value


def _id(comment: str) -> str:
    name, sign, value = comment.partition("=")
    return value.split()[0] if sign and name.strip() == "docid" and value.split() else ""


def _row(judged: JudgedDocument) -> dict[str, Any]:
    row = {"relevance": judged.relevance, "features": dict(judged.features)}
    return {"id": judged.id, **row} if judged.id else row


ARTICLE = re.compile(r"<REUTERS\b([^>]*)>(.*?)</REUTERS>", re.DOTALL)


@dataclass(frozen=True)
class ReutersArticle:
    """A newswire article: its number, title, text, topics, and which part of ModApte it is in."""

    number: str
    title: str
    text: str
    topics: tuple[str, ...]
    split: str  # TRAIN, TEST or NOT-USED
    judged: bool  # whether somebody assigned topics, be it none


@dataclass(frozen=True)
class Reuters(FileReader):
    """Articles of Reuters-21578: an ``.sgm`` file or a tar archive of them.

    Topics go to ``doc.user_data["meta"]["topics"]``. ``split`` takes only articles of the ModApte
    split, "TRAIN" or "TEST", to which somebody assigned topics; "all" takes every article.
    """

    path: str
    split: str = "all"
    limit: int = MAX_UNPACKED_BYTES

    def __post_init__(self) -> None:
        if self.split not in ("all", "TRAIN", "TEST"):
            raise ValueError(f"split must be all, TRAIN or TEST, got {self.split!r}")

    def read(self, nlp: Language, item_filter: ItemFilter | None = None) -> Iterator[Doc]:
        """Iterate over the documents, analysed by ``nlp``; see ``FileReader.read``."""
        wanted = (a for a in iter_reuters_articles(self.path, self.limit) if self._wanted(a))
        return build_docs(
            wanted,
            self._record,
            nlp,
            path=self.path,
            cut=False,
            skip_bad=False,
            item_filter=item_filter,
        )

    def _wanted(self, article: ReutersArticle) -> bool:
        return self.split == "all" or (article.iter_judged and article.split == self.split)

    def _record(self, article: ReutersArticle) -> Record:
        text = f"{article.title}\n{article.text}".strip() or article.number
        data = {"title": article.title, "meta": {"topics": list(article.topics)}}
        return Record(article.number, text, f"{self.path}, article {article.number}", data=data)


def iter_reuters_articles(
    path: str | Path, limit: float = MAX_UNPACKED_BYTES
) -> Iterator[ReutersArticle]:
    """The articles of a file or archive, in their order."""
    found = False
    files = (
        iter_tar_files(path, ".sgm", limit)
        if str(path).endswith(ARCHIVES)
        else [(str(path), read_bytes(path, limit))]
    )
    for _, data in files:
        for head, body in ARTICLE.findall(data.decode("latin-1")):
            found = True
            yield _article(head, body)
    if not found:
        raise ValueError(f"{path}: no <REUTERS> article in it. Name an .sgm file or a tar of them.")


def _article(head: str, body: str) -> ReutersArticle:
    said = dict(re.findall(r'(\w+)="([^"]*)"', head))
    topics = re.search(r"<TOPICS>(.*?)</TOPICS>", body, re.DOTALL)
    return ReutersArticle(
        said.get("NEWID", ""),
        _text("TITLE", body),
        _text("BODY", body),
        tuple(re.findall(r"<D>(.*?)</D>", topics[1])) if topics else (),
        said.get("LEWISSPLIT", ""),
        said.get("TOPICS") == "YES",
    )


def _text(name: str, body: str) -> str:
    found = re.search(rf"<{name}>(.*?)</{name}>", body, re.DOTALL)
    plain = re.sub(r"[\x00-\x08\x0b-\x1f]", " ", unescape(found[1])) if found else ""
    return re.sub(r"[ \t]+", " ", plain).strip()


@dataclass(frozen=True)
class Senseval(FileReader):
    """Instances of a Senseval-2 ``.pos`` file, of a folder or of a zip archive of such files.

    A document is an instance: its words, of which the marked one is ``doc.spans["entities"]``
    with the sense as label and the word in ``kb_id_``. Tokens are those of the file. Of several
    senses the first counts.
    """

    path: str
    limit: int = MAX_UNPACKED_BYTES  # bytes of a file after unpacking

    def read(self, nlp: Language, item_filter: ItemFilter | None = None) -> Iterator[Doc]:
        """Iterate over the documents, analysed by ``nlp``; see ``FileReader.read``."""
        number = 0
        for name, data in self._files():
            for element, word in _instances(data, name):
                number += 1
                yield _doc(element, word, nlp, f"{name}, instance {number}")
        if not number:
            raise ValueError(
                f"{self.path}: no instance of Senseval in it. Name a .pos file, or a folder or zip "
                "archive of such files."
            )

    def _files(self) -> Iterator[tuple[str, bytes]]:
        path = Path(self.path)
        if path.is_dir():
            for file in sorted(path.glob("*.pos")):
                yield str(file), read_bytes(file, self.limit)
        elif path.suffix == ".zip":
            for name, data in iter_zip_files(path, ".pos", self.limit):
                yield f"{path}/{name}", data
        else:
            yield str(path), read_bytes(path, self.limit)


def _instances(data: bytes, name: str) -> Iterator[tuple[Element, str]]:
    """The instances of one file, each with the word it is about."""
    word = ""
    try:
        for event, element in iterparse(io.BytesIO(data), events=("start", "end")):
            if event == "start" and element.tag == "lexelt":
                word = element.get("item", "").partition("-")[0]
            elif event == "end" and element.tag == "instance":
                yield element, word
                element.clear()
    except (ParseError, DefusedXmlException) as error:
        raise ValueError(f"{name}: not readable as XML ({error}). Correct the file.") from error


def _doc(element: Element, word: str, nlp: Language, place: str) -> Doc:
    answers, context = element.findall("answer"), element.find("context")
    head = None if context is None else context.find(".//head")
    if context is None or head is None or not answers:
        raise ValueError(f"{place}: an instance needs an answer and a context with a head.")
    words, starts, target = _words(context)
    doc = Doc(nlp.vocab, words=words, sent_starts=[i in starts for i in range(len(words))])
    sense, own = answers[0].get("senseid", ""), element.get("id", place)
    span = Span(doc, *target, label=sense, kb_id=word, span_id=own)
    doc.spans["entities"] = [span]
    doc.user_data["document"] = own
    return doc


def _words(context: Element) -> tuple[list[str], set[int], tuple[int, int]]:
    """The words, where sentences begin, and where the target stands."""
    words: list[str] = []
    starts, target = {0}, (0, 0)
    inside = {id(part) for head in context.iter("head") for part in head.iter()}
    for part in context.iter():
        if part.tag == "s" and words:
            starts.add(len(words))
        if part.tag in ("wf", "head") and (part.text or "").strip():
            words += (part.text or "").split()
            if id(part) in inside:
                target = (target[0] if target[1] else len(words) - 1, len(words))
    return words, starts, target
