"""Text of XML articles: elements in, lines out, markup dropped and nothing cut off."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from xml.etree.ElementTree import Element

from spacy.language import Language
from spacy.tokens import Doc

from textrank.formats.base import FileReader, Record, build_docs, list_files
from textrank.io import MAX_ITEM_BYTES, ItemFilter, iter_lines, read_text
from textrank.io.reading import iter_elements
from textrank.language.normalization import is_block_tag, is_paragraph_tag

_SPACED = frozenset(["break", "br", "td", "th", "p", "title", "label", "list-item", "tr"])


def local(element: Element) -> str:
    """The name of an element without its namespace."""
    return str(element.tag).rpartition("}")[2]


def text_within(element: Element | None, without: frozenset[str] = frozenset()) -> str:
    """All text of an element on one line, that of ``<i>``, ``<sub>`` and formulas included.

    >>> from xml.etree.ElementTree import fromstring
    >>> text_within(fromstring("<t>p<sub>53</sub> binds <i>MDM2</i>.</t>"))
    'p53 binds MDM2.'
    """
    if element is None:
        return ""
    return " ".join("".join(_pieces(element, without)).split())


def _pieces(element: Element, without: frozenset[str]) -> Iterator[str]:
    """Text in document order; the stack is ours, for articles may nest deeper than Python calls."""
    todo: list[Element | str] = [element]
    while todo:
        item = todo.pop()
        if isinstance(item, str):
            yield item
            continue
        if not isinstance(item.tag, str):  # a comment
            continue
        yield item.text or ""
        for child in reversed(item):
            todo.append(child.tail or "")
            if local(child) not in without:
                if local(child) in _SPACED:
                    todo += [" ", child, " "]
                else:
                    todo.append(child)


def first(element: Element, *names: str) -> Element | None:
    """The first element of a path of names below an element, whatever their namespace."""
    found: Element | None = element
    for name in names:
        children = () if found is None else found
        found = next((child for child in children if local(child) == name), None)
    return found


_FORMULA = frozenset(["annotation", "annotation-xml"])  # the same formula a second time


@dataclass(frozen=True)
class PubMedXML(FileReader):
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
    limit: int = MAX_ITEM_BYTES

    def read(self, nlp: Language, item_filter: ItemFilter | None = None) -> Iterator[Doc]:
        """Iterate over the documents, analysed by ``nlp``; see ``FileReader.read``."""
        records = self._records(with_deletions=item_filter is not None)
        return build_docs(
            records,
            _same,
            nlp,
            path=self.path,
            cut=False,
            skip_bad=self.skip_bad,
            item_filter=item_filter,
        )

    def _records(self, *, with_deletions: bool = False) -> Iterator[Record]:
        last = self._last()
        for number, element in enumerate(_articles(self.path, self.limit)):
            place = f"{self.path}, article {number + 1}"
            if local(element) == "DeleteCitation":
                if with_deletions:
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
    return iter_elements(path, ("PubmedArticle", "DeleteCitation"), limit)


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
class Medline(FileReader):
    """Titles and abstracts of MEDLINE's tagged lines (``PMID- ``, ``TI  - ``, ``AB  - ``).

    A tag stands in the first four columns, a line that begins with blanks goes on with the last
    one. Records are parted by blank lines. The Doc is as that of ``PubMedXML``.
    """

    path: str
    skip_bad: bool = False
    limit: int = MAX_ITEM_BYTES

    def read(self, nlp: Language, item_filter: ItemFilter | None = None) -> Iterator[Doc]:
        """Iterate over the documents, analysed by ``nlp``; see ``FileReader.read``."""
        return build_docs(
            self._blocks(),
            self._record,
            nlp,
            path=self.path,
            cut=False,
            skip_bad=self.skip_bad,
            item_filter=item_filter,
        )

    def _blocks(self) -> Iterator[_Block]:
        block = _Block()
        for number, line in iter_lines(self.path, self.limit):
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


# Nothing of these is prose; captions inside figures and tables are read on their own.
_LEFT_OUT = frozenset(
    ["ref-list", "table", "disp-formula", "supplementary-material", "permissions", "alternatives",
     "object-id", "media", "graphic", "tex-math", "annotation", "fn-group", "back"]
)  # fmt: skip
_FLOATS = frozenset(["fig", "fig-group", "table-wrap", "boxed-text", "disp-quote"])
_BLOCKS = frozenset(["list", "def-list", "fig", "table-wrap", "sec", "boxed-text", "p"])


@dataclass(frozen=True)
class JATS(FileReader):
    """Full texts of a JATS file (one article, or several in one root), in constant memory.

    The text is title, abstract and body, a paragraph a line; headings, captions of figures and
    tables and list items are lines of their own; references, tables and formulas are left out, and
    so are numbers that cite (``<xref ref-type="bibr">``). The id is that of PMC, else the PMID or
    DOI. ``doc.user_data`` has title, year, journal, and ``sections``: heading and first character.
    """

    path: str
    skip_bad: bool = False
    limit: int = MAX_ITEM_BYTES

    def read(self, nlp: Language, item_filter: ItemFilter | None = None) -> Iterator[Doc]:
        """Iterate over the documents, analysed by ``nlp``; see ``FileReader.read``."""
        numbered = enumerate(iter_elements(self.path, "article", self.limit), 1)
        return build_docs(
            numbered,
            self._record,
            nlp,
            path=self.path,
            cut=False,
            skip_bad=self.skip_bad,
            item_filter=item_filter,
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


_HIDDEN = frozenset(["script", "style", "head", "noscript", "template", "svg", "nav", "math"])
_VOID = frozenset(["meta", "link", "base", "br", "hr", "img", "input", "source", "wbr", "col"])


@dataclass(frozen=True)
class HTML(FileReader):
    """The text of an HTML file; a folder stands for its ``*.html`` and ``*.htm`` files.

    Paragraphs, headings, list items and table rows are lines of their own, parted by a blank line;
    scripts, styles and navigation are left out. ``doc.text`` is this text, and offsets count in it;
    the page's title is in ``doc.user_data["title"]``. Names are left to a recogniser in ``nlp``.
    """

    path: str
    skip_bad: bool = False
    limit: int = MAX_ITEM_BYTES

    def read(self, nlp: Language, item_filter: ItemFilter | None = None) -> Iterator[Doc]:
        """Iterate over the documents, analysed by ``nlp``; see ``FileReader.read``."""
        files = list_files(self.path, ".html", ".htm")
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
        page = _Page()
        try:
            page.feed(read_text(path, self.limit))
            page.close()
        except AssertionError as error:  # Python's parser says so of "<![" without a name
            raise ValueError(f"{path}: no HTML: {error}. Mend or remove the mark.") from error
        text = page.text()
        if not text:
            raise ValueError(f"{path}: no text in this page. Is it HTML?")
        name = path.name.removesuffix(".gz")
        data = {"title": page.title} if page.title else {}
        return Record(name.rpartition(".")[0] or name, text, str(path), data=data)


@dataclass(eq=False)
class _Page(HTMLParser):
    """Collects what is seen of a page."""

    lines: list[list[str]] = field(default_factory=lambda: [[]])
    title: str = ""
    _hidden: list[str] = field(default_factory=list)
    _in_title: bool = False

    def __post_init__(self) -> None:
        super().__init__(convert_charrefs=True)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag == "title":
            self._in_title = True
        elif tag in _HIDDEN:
            self._hidden.append(tag)
        else:
            self._apart(tag)

    def handle_endtag(self, tag: str) -> None:
        if tag == "title":
            self._in_title = False
        elif tag in self._hidden:
            del self._hidden[self._hidden.index(tag) :]
        elif tag not in _VOID:
            self._apart(tag)

    def handle_data(self, data: str) -> None:
        if self._in_title:
            self.title = " ".join(f"{self.title} {data}".split())
        elif not self._hidden:
            self.lines[-1].append(data)

    def _apart(self, tag: str) -> None:
        if is_paragraph_tag(f"<{tag}>"):
            self.lines.append([])
        elif is_block_tag(f"<{tag}>"):
            self.lines[-1].append("\n" if tag == "br" else " ")

    def text(self) -> str:
        """The lines that have any text, a blank line between them."""
        found = (" ".join("".join(line).split()) for line in self.lines)
        return "\n\n".join(line for line in found if line)
