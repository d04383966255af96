"""PMC's articles: JATS XML, with sections and captions, without references."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any
from xml.etree.ElementTree import Element

from spacy.language import Language
from spacy.tokens import Doc

from textrank.formats.articles import first, local, text_within
from textrank.formats.records import Record, docs_of
from textrank.io import LIMIT, elements

# Nothing of these is prose; captions inside figures and tables are read on their own.
_LEFT_OUT = frozenset(
    ["ref-list", "table", "disp-formula", "supplementary-material", "permissions", "alternatives",
     "object-id", "media", "graphic", "tex-math", "annotation", "fn-group", "back"]
)  # fmt: skip
_FLOATS = frozenset(["fig", "fig-group", "table-wrap", "boxed-text", "disp-quote"])
_BLOCKS = frozenset(["list", "def-list", "fig", "table-wrap", "sec", "boxed-text", "p"])


@dataclass(frozen=True)
class JATS:
    """Full texts of a JATS file (one article, or several in one root), in constant memory.

    The text is title, abstract and body, a paragraph a line; headings, captions of figures and
    tables and list items are lines of their own; references, tables and formulas are left out, and
    so are numbers that cite (``<xref ref-type="bibr">``). The id is that of PMC, else the PMID or
    DOI. ``doc.user_data`` has title, year, journal, and ``sections``: heading and first character.
    """

    path: str
    skip_bad: bool = False
    limit: int = LIMIT

    def __call__(self, nlp: Language) -> Iterator[Doc]:
        numbered = enumerate(elements(self.path, "article", self.limit), 1)
        return docs_of(
            numbered, self._record, nlp, path=self.path, cut=False, skip_bad=self.skip_bad
        )

    def _record(self, item: tuple[int, Element]) -> Record:
        number, article = item
        place = f"{self.path}, article {number}"
        meta = first(article, "front", "article-meta")
        if meta is None:
            raise ValueError(f"{place}: no front > article-meta. Is this a JATS article?")
        name = _id(meta)
        if not name:
            raise ValueError(f"{place}: no article-id. Give the article one.")
        title = text_within(first(meta, "title-group", "article-title"), _LEFT_OUT)
        rows: list[tuple[str, bool]] = [(title, False)]  # text, and whether it heads a section
        for part in [*(c for c in meta if local(c) == "abstract"), first(article, "body")]:
            rows += _rows(part) if part is not None else []
        rows = [(text, heads) for text, heads in rows if text]
        data: dict[str, Any] = {"title": title, **_facts(article, meta)}
        starts = [sum(len(text) + 1 for text, _ in rows[:n]) for n in range(len(rows))]
        data["sections"] = [
            [text, start] for (text, heads), start in zip(rows, starts, strict=True) if heads
        ]
        text = "\n".join(row for row, _ in rows)
        return Record(name, text, place, breaks=starts[1:], data=data)


def _id(meta: Element) -> str:
    ids = {c.get("pub-id-type", ""): text_within(c) for c in meta if local(c) == "article-id"}
    kinds = ("pmcid", "pmc", "pmid", "doi", *ids)
    name = next((ids[kind] for kind in kinds if ids.get(kind)), "")
    return f"PMC{name}" if ids.get("pmc") == name and name.isdigit() else name


def _facts(article: Element, meta: Element) -> dict[str, Any]:
    found: dict[str, Any] = {}
    years = [first(c, "year") for c in meta if local(c) == "pub-date"]
    dates = [int(y[0]) for year in years if (y := re.search(r"\d{4}", text_within(year)))]
    if dates:
        found["year"] = min(dates)
    title = first(article, "front", "journal-meta", "journal-title-group", "journal-title")
    if journal := text_within(title):
        found["journal"] = journal
    return found


def _rows(element: Element) -> Iterator[tuple[str, bool]]:
    """The lines of an element in order: paragraphs, headings, items, captions."""
    for child in element:
        name = local(child)
        if name in _LEFT_OUT:
            continue
        if name == "title":
            yield text_within(child, _LEFT_OUT), local(element) in ("sec", "abstract")
        elif name == "label":
            continue  # "Figure 1" and the like head what follows them
        elif name == "p":
            yield from _paragraph(child)
        else:
            yield from _rows(child)


def _paragraph(p: Element) -> Iterator[tuple[str, bool]]:
    """A paragraph, then the lists, figures and tables that stand inside it."""
    _drop_citations(p)
    yield text_within(p, _LEFT_OUT | _FLOATS | _BLOCKS), False
    for child in p:
        if local(child) in _FLOATS | _BLOCKS:
            yield from _rows(child)


def _drop_citations(p: Element) -> None:
    for parent in p.iter():
        for child in parent:
            if local(child) == "xref" and child.get("ref-type") == "bibr":
                tail = child.tail
                child.clear()
                child.tail = tail
