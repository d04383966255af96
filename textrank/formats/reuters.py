"""Reuters-21578: newswire articles with their topics."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from html import unescape
from pathlib import Path

from spacy.language import Language
from spacy.tokens import Doc

from textrank.formats.letor import ARCHIVES
from textrank.formats.records import Record, docs_of
from textrank.io import WHOLE, read_bytes, untarred

ARTICLE = re.compile(r"<REUTERS\b([^>]*)>(.*?)</REUTERS>", re.DOTALL)


@dataclass(frozen=True)
class Article:
    """A newswire article: its number, title, text, topics, and which part of ModApte it is in."""

    number: str
    title: str
    text: str
    topics: tuple[str, ...]
    split: str  # TRAIN, TEST or NOT-USED
    judged: bool  # whether somebody assigned topics, be it none


@dataclass(frozen=True)
class Reuters:
    """Articles of Reuters-21578: an ``.sgm`` file or a tar archive of them.

    Topics go to ``doc.user_data["meta"]["topics"]``. ``split`` takes only articles of the ModApte
    split, "TRAIN" or "TEST", to which somebody assigned topics; "all" takes every article.
    """

    path: str
    split: str = "all"
    limit: int = WHOLE

    def __post_init__(self) -> None:
        if self.split not in ("all", "TRAIN", "TEST"):
            raise ValueError(f"split must be all, TRAIN or TEST, got {self.split!r}")

    def __call__(self, nlp: Language) -> Iterator[Doc]:
        wanted = (a for a in articles(self.path, self.limit) if self._wanted(a))
        return docs_of(wanted, self._record, nlp, path=self.path, cut=False, skip_bad=False)

    def _wanted(self, article: Article) -> bool:
        return self.split == "all" or (article.judged and article.split == self.split)

    def _record(self, article: Article) -> Record:
        text = f"{article.title}\n{article.text}".strip() or article.number
        data = {"title": article.title, "meta": {"topics": list(article.topics)}}
        return Record(article.number, text, f"{self.path}, article {article.number}", data=data)


def articles(path: str | Path, limit: float = WHOLE) -> Iterator[Article]:
    """The articles of a file or archive, in their order."""
    found = False
    files = (
        untarred(path, ".sgm", limit)
        if str(path).endswith(ARCHIVES)
        else [(str(path), read_bytes(path, limit))]
    )
    for _, data in files:
        for head, body in ARTICLE.findall(data.decode("latin-1")):
            found = True
            yield _article(head, body)
    if not found:
        raise ValueError(f"{path}: no <REUTERS> article in it. Name an .sgm file or a tar of them.")


def _article(head: str, body: str) -> Article:
    said = dict(re.findall(r'(\w+)="([^"]*)"', head))
    topics = re.search(r"<TOPICS>(.*?)</TOPICS>", body, re.DOTALL)
    return Article(
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
