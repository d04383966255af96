"""PubMed: the XML of the National Library of Medicine, and MEDLINE's tagged lines (``.nbib``)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any
from xml.etree.ElementTree import Element

from spacy.language import Language
from spacy.tokens import Doc

from textrank.formats.articles import first, local, text_within
from textrank.formats.records import Record, docs_of
from textrank.io import LIMIT, is_selecting, lines
from textrank.io.xml import elements

_FORMULA = frozenset(["annotation", "annotation-xml"])  # the same formula a second time


@dataclass(frozen=True)
class PubMedXML:
    """Titles and abstracts of a PubMed XML file, plain or gzip, in constant memory.

    The text is the title, a newline, and the abstract; a part of it with a label (``RESULTS``) is a
    line of its own that begins with the label. Text in ``<sub>``, ``<i>`` and formulas is kept,
    abstracts in other languages (``OtherAbstract``) are not. The id is the PMID; title, year and
    journal are in ``doc.user_data``. Of an article that the file has in several versions the last
    counts, and one it lists under ``DeleteCitation`` does not: for that its ids are read once
    before. Names are left to a recogniser in ``nlp``.
    """

    path: str
    skip_bad: bool = False
    limit: int = LIMIT

    def __call__(self, nlp: Language) -> Iterator[Doc]:
        records = self._records()
        return docs_of(records, _same, nlp, path=self.path, cut=False, skip_bad=self.skip_bad)

    def _records(self) -> Iterator[Record]:
        last = self._last()
        for number, element in enumerate(_articles(self.path, self.limit)):
            place = f"{self.path}, article {number + 1}"
            if local(element) == "DeleteCitation":
                if is_selecting():  # articles of other files are among what whoever asks has read
                    yield from _deleted(element, place)
            elif last.get(_pmid(element)) == number:
                yield _record(element, place)

    def _last(self) -> dict[str, int]:
        """For each id the number of its last version; none for what is deleted."""
        found: dict[str, int] = {}
        deleted: set[str] = set()
        for number, element in enumerate(_articles(self.path, self.limit)):
            if local(element) == "DeleteCitation":
                deleted |= {text_within(child) for child in element if local(child) == "PMID"}
            else:
                name = _pmid(element)
                if not name:
                    raise ValueError(
                        f"{self.path}, article {number + 1}: no PMID. Every PubmedArticle needs "
                        "MedlineCitation > PMID."
                    )
                found[name] = number
        return {name: number for name, number in found.items() if name not in deleted}


def _same(record: Record) -> Record:
    return record


def _articles(path: str, limit: int) -> Iterator[Element]:
    return elements(path, ("PubmedArticle", "DeleteCitation"), limit)


def _deleted(element: Element, place: str) -> Iterator[Record]:
    """An empty record for each article that is taken back."""
    for child in element:
        if local(child) == "PMID":
            yield Record(text_within(child), "", place, data={"deleted": True})


def _pmid(element: Element) -> str:
    return text_within(first(element, "MedlineCitation", "PMID"))


def _record(element: Element, place: str) -> Record:
    article = first(element, "MedlineCitation", "Article")
    if article is None:
        raise ValueError(f"{place}: PMID {_pmid(element)} has no Article. Download it again.")
    title = text_within(first(article, "ArticleTitle"), _FORMULA)
    parts = [part for part in first(article, "Abstract") or () if local(part) == "AbstractText"]
    rows = [title, *(_labelled(part) for part in parts)]
    data: dict[str, Any] = {"title": title}
    year = first(article, "Journal", "JournalIssue", "PubDate", "Year")
    medline = text_within(first(article, "Journal", "JournalIssue", "PubDate", "MedlineDate"))
    if found := re.search(r"\d{4}", text_within(year) or medline):
        data["year"] = int(found[0])
    if journal := text_within(first(article, "Journal", "Title")):
        data["journal"] = journal
    return _of_rows(_pmid(element), rows, place, data)


def _labelled(part: Element) -> str:
    text, label = text_within(part, _FORMULA), part.get("Label", "").strip()
    return f"{label}: {text}" if label and text else text


def _of_rows(name: str, rows: list[str], place: str, data: Mapping[str, Any]) -> Record:
    """A record of lines, each of which begins a sentence."""
    kept = [row for row in rows if row]
    breaks = [sum(len(row) + 1 for row in kept[:n]) for n in range(1, len(kept))]
    return Record(name, "\n".join(kept), place, breaks=breaks, data=data)


@dataclass(frozen=True)
class Medline:
    """Titles and abstracts of MEDLINE's tagged lines (``PMID- ``, ``TI  - ``, ``AB  - ``).

    A tag stands in the first four columns, a line that begins with blanks goes on with the last
    one. Records are parted by blank lines. The Doc is as that of ``PubMedXML``.
    """

    path: str
    skip_bad: bool = False
    limit: int = LIMIT

    def __call__(self, nlp: Language) -> Iterator[Doc]:
        return docs_of(
            self._blocks(), self._record, nlp, path=self.path, cut=False, skip_bad=self.skip_bad
        )

    def _blocks(self) -> Iterator[_Block]:
        block = _Block()
        for number, line in lines(self.path, self.limit):
            if not line.strip():
                if block.fields:
                    yield block
                block = _Block()
                continue
            block.add(line, f"{self.path}, line {number}")
        if block.fields:
            yield block

    def _record(self, block: _Block) -> Record:
        name = block.get("PMID")
        if not name:
            raise ValueError(f"{block.place}: a record without PMID. It begins with 'PMID- '.")
        data: dict[str, Any] = {"title": block.get("TI")}
        if found := re.search(r"\d{4}", block.get("DP")):
            data["year"] = int(found[0])
        if journal := block.get("JT") or block.get("TA"):
            data["journal"] = journal
        return _of_rows(name, [block.get("TI"), block.get("AB")], block.place, data)


@dataclass
class _Block:
    """The fields of one record as they are read."""

    fields: dict[str, list[str]] = field(default_factory=dict)
    tag: str = ""
    place: str = ""

    def add(self, line: str, place: str) -> None:
        found = re.match(r"([A-Z]{2,4}) {0,2}- ?(.*)", line)
        if found:
            self.tag = found[1]
            self.fields.setdefault(self.tag, []).append(found[2].strip())
            self.place = self.place or place
        elif self.tag and line[:1].isspace():
            self.fields[self.tag][-1] += " " + line.strip()
        else:
            raise ValueError(f"{place}: no tag. Lines begin with 'PMID- ', 'TI  - ' or blanks.")

    def get(self, tag: str) -> str:
        """The first value of a field, or nothing."""
        return self.fields.get(tag, [""])[0]
