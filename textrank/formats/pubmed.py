"""Articles without annotations: PubMed XML, MEDLINE, JATS full text and HTML pages.

Each reader keeps the text and drops the markup; every paragraph, heading or labelled part is a line
of its own that begins a sentence.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from xml.etree.ElementTree import Element

from spacy.language import Language
from spacy.tokens import Doc

from textrank.formats.base import FileReader, Record, build_docs, list_files
from textrank.io import (
    MAX_ITEM_BYTES,
    ItemFilter,
    iter_lines,
    read_text,
    replace_long_references,
)
from textrank.io.reading import iter_elements
from textrank.language.normalization import is_block_tag, is_paragraph_tag

_SPACED_TAGS = frozenset(["break", "br", "td", "th", "p", "title", "label", "list-item", "tr"])


# XML helpers --------------------------------------------------------------------------------------


def tag_name(element: Element) -> str:
    """Return the tag of an element without its namespace ``{uri}``."""
    return str(element.tag).rpartition("}")[2]


def text_within(element: Element | None, without: frozenset[str] = frozenset()) -> str:
    """Return all text of an element on one line, including that of ``<i>``, ``<sub>`` and formulas.

    Runs of white space become one space. Elements with a tag in ``without`` are skipped, the text
    after them is not. None gives "".

    >>> from xml.etree.ElementTree import fromstring
    >>> text_within(fromstring("<t>p<sub>53</sub> binds <i>MDM2</i>.</t>"))
    'p53 binds MDM2.'
    """
    if element is None:
        return ""
    return " ".join("".join(_iter_text(element, without)).split())


def _iter_text(element: Element, without: frozenset[str]) -> Iterator[str]:
    """Iterate over the text of an element in document order, with spaces around table cells.

    Blanks also surround the other tags in ``_SPACED_TAGS``. Elements with a tag in ``without`` and
    comments are skipped, the text after them is not. Uses a stack of its own, since articles may be
    nested deeper than Python's recursion limit.
    """
    stack: list[Element | str] = [element]
    while stack:
        item = stack.pop()
        if isinstance(item, str):
            yield item
            continue
        if not isinstance(item.tag, str):  # a comment
            continue
        yield item.text or ""
        for child in reversed(item):
            stack.append(child.tail or "")
            if tag_name(child) not in without:
                if tag_name(child) in _SPACED_TAGS:
                    stack += [" ", child, " "]
                else:
                    stack.append(child)


def find_child(element: Element, *names: str) -> Element | None:
    """Return the element at the end of a path of tags below ``element``; None if there is none.

    Each name selects the first direct child with this tag, ignoring namespaces. Without names the
    element itself is returned.
    """
    current: Element | None = element
    for name in names:
        children = () if current is None else current
        current = next((child for child in children if tag_name(child) == name), None)
    return current


_DUPLICATE_FORMULA_TAGS = frozenset(["annotation", "annotation-xml"])  # repeat a formula


# PubMed XML ---------------------------------------------------------------------------------------


@dataclass(frozen=True)
class PubMedXML(FileReader):
    """Titles and abstracts of a PubMed XML file, plain or gzip, in constant memory.

    The text is the title, a newline and the abstract; a labelled part of it (``RESULTS``) is a line
    of its own that begins with the label. Text in ``<sub>``, ``<i>`` and formulas is kept,
    abstracts in other languages (``OtherAbstract``) are not. The id is the PMID; title, year and
    journal go to ``doc.user_data``. Of several versions of an article in the file only the last
    counts, and articles listed under ``DeleteCitation`` are left out: the file is read twice for
    that. Names are left to the recogniser in ``nlp``. With ``skip_bad`` an article with an error is
    left out and counted in one warning; ``limit`` is the largest number of bytes of an article.
    """

    path: str
    skip_bad: bool = False
    limit: int = MAX_ITEM_BYTES

    def read(
        self,
        nlp: Language,
        item_filter: ItemFilter | None = None,
        on_batch_end: Callable[[], None] | None = None,
    ) -> Iterator[Doc]:
        """Iterate over the documents in file order, analysed by ``nlp``.

        ``item_filter`` selects documents by number and takes the errors of malformed ones; None
        reads all. With it each deleted article gives an empty Doc with its PMID as id and
        ``user_data["deleted"]``, because a caller that reads many files in parts needs them to drop
        articles of earlier files. ``on_batch_end`` is as in ``FileReader.read``. Raises ValueError
        if the file cannot be read and, without a filter, if it has no document or (unless
        ``skip_bad``) a malformed one.
        """
        return build_docs(
            self._articles(with_deletions=item_filter is not None),
            _build_record,
            nlp,
            path=self.path,
            cut=False,
            skip_bad=self.skip_bad,
            item_filter=item_filter,
            on_batch_end=on_batch_end,
        )

    def _articles(self, *, with_deletions: bool = False) -> Iterator[tuple[Element, str]]:
        """Iterate over the last versions of articles with their location, in file order.

        Items are ``(PubmedArticle element, location)``; articles without a PMID are among them, for
        ``_build_record`` to refuse. ``with_deletions`` adds the PMID elements of deletion lists.
        """
        last = self._find_last_versions()
        for number, element in enumerate(_iter_articles(self.path, self.limit)):
            location = f"{self.path}, article {number + 1}"
            if tag_name(element) == "DeleteCitation":
                if with_deletions:
                    yield from ((c, location) for c in element if tag_name(c) == "PMID")
            elif last.get(pmid := _get_pmid(element)) == number or not pmid:
                yield element, location

    def _find_last_versions(self) -> dict[str, int]:
        """Return the number of the last version of each article by PMID, without deleted ones.

        Numbers count articles and deletion lists of the file from 0. An article is deleted wherever
        in the file the list is.
        """
        last_numbers: dict[str, int] = {}
        deleted: set[str] = set()
        for number, element in enumerate(_iter_articles(self.path, self.limit)):
            if tag_name(element) == "DeleteCitation":
                deleted |= {text_within(child) for child in element if tag_name(child) == "PMID"}
            else:
                last_numbers[_get_pmid(element)] = number
        return {pmid: number for pmid, number in last_numbers.items() if pmid not in deleted}


def _iter_articles(path: str, limit: int) -> Iterator[Element]:
    """Iterate over the PubmedArticle and DeleteCitation elements of a PubMed file, in file order.

    ``limit`` is the largest number of bytes of one.
    """
    return iter_elements(path, ("PubmedArticle", "DeleteCitation"), limit)


def _get_pmid(element: Element) -> str:
    """Return the PMID of an article, "" if it has none."""
    return text_within(find_child(element, "MedlineCitation", "PMID"))


def _build_record(item: tuple[Element, str]) -> Record:
    """Make a Record of ``(PubmedArticle, location)``, with title, year and journal in its data.

    The text has a line for the title and one for each part of the abstract, with its label. Year
    (also of a MedlineDate) and journal are left out if not given. The element PMID of a deleted
    article gives an empty record with ``data["deleted"]``. Raises ValueError, beginning with the
    location, if an article has no PMID or no Article.
    """
    element, location = item
    if tag_name(element) == "PMID":
        return Record(text_within(element), "", location, data={"deleted": True})
    pmid = _get_pmid(element)
    if not pmid:
        raise ValueError(f"{location}: no PMID. Every PubmedArticle needs MedlineCitation > PMID.")
    article = find_child(element, "MedlineCitation", "Article")
    if article is None:
        raise ValueError(f"{location}: PMID {pmid} has no Article. Download it again.")
    title = text_within(find_child(article, "ArticleTitle"), _DUPLICATE_FORMULA_TAGS)
    abstract = find_child(article, "Abstract")
    parts = [
        part for part in (() if abstract is None else abstract) if tag_name(part) == "AbstractText"
    ]
    rows = [title, *(_labelled_text(part) for part in parts)]
    data: dict[str, Any] = {"title": title}
    year = find_child(article, "Journal", "JournalIssue", "PubDate", "Year")
    medline_date = text_within(
        find_child(article, "Journal", "JournalIssue", "PubDate", "MedlineDate")
    )
    if match := re.search(r"\d{4}", text_within(year) or medline_date):
        data["year"] = int(match[0])
    if journal := text_within(find_child(article, "Journal", "Title")):
        data["journal"] = journal
    return _record_of_lines(pmid, rows, location, data)


def _labelled_text(part: Element) -> str:
    """Return the text of a part of an abstract as ``LABEL: text``.

    Without a label it is the text alone; an empty part gives "".
    """
    text, label = text_within(part, _DUPLICATE_FORMULA_TAGS), part.get("Label", "").strip()
    return f"{label}: {text}" if label and text else text


def _record_of_lines(name: str, rows: list[str], location: str, data: Mapping[str, Any]) -> Record:
    """Make a Record with a line of text for each of ``rows`` that is not empty.

    Each line begins a sentence. ``name`` is the document id, ``data`` goes to ``doc.user_data``.
    Mentions are None.
    """
    lines = [row for row in rows if row]
    breaks = [sum(len(row) + 1 for row in lines[:n]) for n in range(1, len(lines))]
    return Record(name, "\n".join(lines), location, breaks=breaks, data=data)


# MEDLINE ------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Medline(FileReader):
    """Titles and abstracts of a file in MEDLINE format (``PMID- ``, ``TI  - ``, ``AB  - ``).

    A tag is in the first four columns; a line that begins with white space continues the one
    before. Blank lines separate records. Docs have the content of those of ``PubMedXML``, but every
    version of an article is read. With ``skip_bad`` a record without PMID is left out and counted
    in one warning. ``limit`` is the largest number of bytes of a line.
    """

    path: str
    skip_bad: bool = False
    limit: int = MAX_ITEM_BYTES

    def read(
        self,
        nlp: Language,
        item_filter: ItemFilter | None = None,
        on_batch_end: Callable[[], None] | None = None,
    ) -> Iterator[Doc]:
        """Iterate over the documents in file order, analysed by ``nlp``.

        ``item_filter`` selects documents by number and takes the errors of malformed ones; None
        reads all. ``on_batch_end`` is as in ``FileReader.read``. Raises ValueError if the file
        cannot be read and, without a filter, if it has no document or (unless ``skip_bad``) one
        without a PMID. A line without a tag is always an error.
        """
        return build_docs(
            self._blocks(),
            self._record,
            nlp,
            path=self.path,
            cut=False,
            skip_bad=self.skip_bad,
            item_filter=item_filter,
            on_batch_end=on_batch_end,
        )

    def _blocks(self) -> Iterator[_MedlineFields]:
        """Iterate over the fields of each record; raise ValueError for a line without a tag.

        That error is raised even with ``skip_bad``. Blank lines separate records; no record is
        empty.
        """
        block = _MedlineFields()
        for number, line in iter_lines(self.path, self.limit):
            if not line.strip():
                if block.fields:
                    yield block
                block = _MedlineFields()
                continue
            block.add(line, f"{self.path}, line {number}")
        if block.fields:
            yield block

    def _record(self, block: _MedlineFields) -> Record:
        """Make a Record of the fields of one article; raise ValueError if it has no PMID.

        The text is title (TI) and abstract (AB), each a line, dropped if missing. ``data`` has the
        title, the year (of DP) and the journal (JT, else TA), the last two only if given.
        """
        pmid = block.get("PMID")
        if not pmid:
            raise ValueError(f"{block.location}: a record without PMID. It begins with 'PMID- '.")
        data: dict[str, Any] = {"title": block.get("TI")}
        if match := re.search(r"\d{4}", block.get("DP")):
            data["year"] = int(match[0])
        if journal := block.get("JT") or block.get("TA"):
            data["journal"] = journal
        return _record_of_lines(pmid, [block.get("TI"), block.get("AB")], block.location, data)


@dataclass
class _MedlineFields:
    """Fields of one MEDLINE record, filled line by line with ``add``.

    ``fields`` maps each tag to its values in order, ``tag`` is that of the last line, ``location``
    that of the first.
    """

    fields: dict[str, list[str]] = field(default_factory=dict)
    tag: str = ""
    location: str = ""

    def add(self, line: str, location: str) -> None:
        """Add a line, in place; raise ValueError if it neither has a tag nor continues a field.

        A continuation is joined by a space. ``location`` names file and line for messages.
        """
        match = re.match(r"([A-Z]{2,4}) {0,2}- ?(.*)", line)
        if match:
            self.tag = match[1]
            self.fields.setdefault(self.tag, []).append(match[2].strip())
            self.location = self.location or location
        elif self.tag and line[:1].isspace():
            self.fields[self.tag][-1] += " " + line.strip()
        else:
            raise ValueError(f"{location}: no tag. Lines begin with 'PMID- ', 'TI  - ' or blanks.")

    def get(self, tag: str) -> str:
        """Return the first value of a field, or "" if the record has none."""
        return self.fields.get(tag, [""])[0]


# JATS ---------------------------------------------------------------------------------------------

# None of these is prose; captions inside figures and tables are read separately.
_NON_PROSE_TAGS = frozenset(
    ["ref-list", "table", "disp-formula", "supplementary-material", "permissions", "alternatives",
     "object-id", "media", "graphic", "tex-math", "annotation", "fn-group", "back"]
)  # fmt: skip
_FLOAT_TAGS = frozenset(["fig", "fig-group", "table-wrap", "boxed-text", "disp-quote"])
_BLOCK_TAGS = frozenset(["list", "def-list", "fig", "table-wrap", "sec", "boxed-text", "p"])


@dataclass(frozen=True)
class JATS(FileReader):
    """Full texts of a JATS file (one article, or several in one root), in constant memory.

    The text is title, abstract and body, one paragraph per line; headings, captions of figures and
    tables, and list items are lines of their own. References, tables, formulas and citation numbers
    (``<xref ref-type="bibr">``) are left out. The id is that of PMC, else the PMID or DOI.
    ``doc.user_data`` has title, year, journal, and ``sections``: heading and first character of
    each. ``skip_bad`` and ``limit`` are as in ``PubMedXML``.
    """

    path: str
    skip_bad: bool = False
    limit: int = MAX_ITEM_BYTES

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
        numbered = enumerate(iter_elements(self.path, "article", self.limit), 1)
        return build_docs(
            numbered,
            self._record,
            nlp,
            path=self.path,
            cut=False,
            skip_bad=self.skip_bad,
            item_filter=item_filter,
            on_batch_end=on_batch_end,
        )

    def _record(self, item: tuple[int, Element]) -> Record:
        """Make a Record of ``(number in the file, article)``, numbered from 1.

        The lines are the title, those of all abstracts and those of the body; empty ones are left
        out, and each begins a sentence. ``data`` has the title ("" if missing), year and journal
        where given, and ``sections``, a list of ``[heading, first character]``. Citation numbers
        are removed from the paragraphs of the element in place. Raises ValueError if the article
        has no metadata or no id.
        """
        number, article = item
        location = f"{self.path}, article {number}"
        meta = find_child(article, "front", "article-meta")
        if meta is None:
            raise ValueError(f"{location}: no front > article-meta. Is this a JATS article?")
        article_id = _get_article_id(meta)
        if not article_id:
            raise ValueError(f"{location}: no article-id. Give the article one.")
        title = text_within(find_child(meta, "title-group", "article-title"), _NON_PROSE_TAGS)
        rows: list[tuple[str, bool]] = [(title, False)]  # text, whether it is a heading
        for part in [*(c for c in meta if tag_name(c) == "abstract"), find_child(article, "body")]:
            rows += _iter_lines_of(part) if part is not None else []
        rows = [(text, is_heading) for text, is_heading in rows if text]
        data: dict[str, Any] = {"title": title, **_get_metadata(article, meta)}
        starts = [sum(len(text) + 1 for text, _ in rows[:n]) for n in range(len(rows))]
        data["sections"] = [
            [text, start]
            for (text, is_heading), start in zip(rows, starts, strict=True)
            if is_heading
        ]
        text = "\n".join(row for row, _ in rows)
        return Record(article_id, text, location, breaks=starts[1:], data=data)


def _get_article_id(meta: Element) -> str:
    """Return the PMC id of an article, else its PMID, DOI or any other id; "" if it has none.

    ``meta`` is its <article-meta>. A PMC id (type ``pmcid`` or ``pmc``) of digits only gets the
    prefix ``PMC``; of several ids of one type the last counts.
    """
    ids = {c.get("pub-id-type", ""): text_within(c) for c in meta if tag_name(c) == "article-id"}
    id_types = ("pmcid", "pmc", "pmid", "doi", *ids)
    id_type = next((id_type for id_type in id_types if ids.get(id_type)), "")
    article_id = ids.get(id_type, "")
    lacks_prefix = id_type in ("pmcid", "pmc") and article_id.isdigit()
    return f"PMC{article_id}" if lacks_prefix else article_id


def _get_metadata(article: Element, meta: Element) -> dict[str, Any]:
    """Return ``year`` (the earliest publication date) and ``journal``, as far as given.

    ``meta`` is the <article-meta> of the article. Missing keys are left out.
    """
    metadata: dict[str, Any] = {}
    years = [find_child(c, "year") for c in meta if tag_name(c) == "pub-date"]
    publication_years = [
        int(y[0]) for year in years if (y := re.search(r"\d{4}", text_within(year)))
    ]
    if publication_years:
        metadata["year"] = min(publication_years)
    title = find_child(article, "front", "journal-meta", "journal-title-group", "journal-title")
    if journal := text_within(title):
        metadata["journal"] = journal
    return metadata


def _iter_lines_of(element: Element) -> Iterator[tuple[str, bool]]:
    """Iterate over ``(line, is heading of a section)`` of an element, in document order.

    Labels and elements that are not prose (``_NON_PROSE_TAGS``) are skipped. A title is a heading
    if it belongs to a section or abstract. Lines may be empty.
    """
    for child in element:
        name = tag_name(child)
        if name in _NON_PROSE_TAGS:
            continue
        if name == "title":
            yield text_within(child, _NON_PROSE_TAGS), tag_name(element) in ("sec", "abstract")
        elif name == "label":
            continue  # "Figure 1" and the like head what follows them
        elif name == "p":
            yield from _iter_paragraph_lines(child)
        else:
            yield from _iter_lines_of(child)


def _iter_paragraph_lines(p: Element) -> Iterator[tuple[str, bool]]:
    """Iterate over the line of a paragraph, then those of lists, figures and tables inside it.

    Items are ``(line, is heading of a section)``. Citation numbers are removed from ``p`` in place.
    """
    _drop_citations(p)
    yield text_within(p, _NON_PROSE_TAGS | _FLOAT_TAGS | _BLOCK_TAGS), False
    for child in p:
        if tag_name(child) in _FLOAT_TAGS | _BLOCK_TAGS:
            yield from _iter_lines_of(child)


def _drop_citations(p: Element) -> None:
    """Remove the citation numbers inside a paragraph, in place; the text after them stays.

    These are the contents of ``<xref ref-type="bibr">``.
    """
    for parent in p.iter():
        for child in parent:
            if tag_name(child) == "xref" and child.get("ref-type") == "bibr":
                tail = child.tail
                child.clear()
                child.tail = tail


# HTML ---------------------------------------------------------------------------------------------

_HIDDEN_TAGS = frozenset(["script", "style", "head", "noscript", "template", "svg", "nav", "math"])
_VOID_TAGS = frozenset(["meta", "link", "base", "br", "hr", "img", "input", "source", "wbr", "col"])


@dataclass(frozen=True)
class HTML(FileReader):
    """Text of HTML files; a folder stands for its ``*.html`` and ``*.htm`` files.

    Paragraphs, headings, list items and table rows are separated by a blank line; scripts, styles
    and navigation are left out. ``doc.text`` is this text, and offsets count in it; the page's
    title is in ``doc.user_data["title"]``, if it has one. The id is the file name without suffix.
    Names are left to the recogniser in ``nlp``. With ``skip_bad`` a file with an error is left out
    and counted in one warning; ``limit`` is the largest number of bytes of a file.
    """

    path: str
    skip_bad: bool = False
    limit: int = MAX_ITEM_BYTES

    def read(
        self,
        nlp: Language,
        item_filter: ItemFilter | None = None,
        on_batch_end: Callable[[], None] | None = None,
    ) -> Iterator[Doc]:
        """Iterate over the documents sorted by file name, analysed by ``nlp``.

        ``item_filter`` selects documents by number and takes the errors of malformed ones; None
        reads all. ``on_batch_end`` is as in ``FileReader.read``. Raises ValueError if the file
        cannot be read and, without a filter, if it has no document or (unless ``skip_bad``) a
        malformed one.
        """
        files = list_files(self.path, ".html", ".htm")
        return build_docs(
            files,
            self._record,
            nlp,
            path=self.path,
            cut=False,
            skip_bad=self.skip_bad,
            item_filter=item_filter,
            on_batch_end=on_batch_end,
        )

    def _record(self, path: Path) -> Record:
        """Make a Record of one file; raise ValueError if it has no text or cannot be parsed.

        The id is the file name without ``.gz`` and its last suffix. Mentions are None.
        """
        page = _PageText()
        try:
            page.feed(replace_long_references(read_text(path, self.limit)))
            page.close()
        except AssertionError as error:  # raised by Python's parser for "<![" without a name
            raise ValueError(f"{path}: not HTML: {error}. Fix or remove the tag.") from error
        text = page.text()
        if not text:
            raise ValueError(f"{path}: no text in this page. Is it HTML?")
        name = path.name.removesuffix(".gz")
        data = {"title": page.title} if page.title else {}
        return Record(name.rpartition(".")[0] or name, text, str(path), data=data)


@dataclass(eq=False)
class _PageText(HTMLParser):
    """HTML parser that collects the visible text of a page.

    Call ``feed``, ``close``, then ``text``. ``lines`` has the pieces of each line so far,
    ``_hidden`` the open tags whose content is left out.
    """

    lines: list[list[str]] = field(default_factory=lambda: [[]])
    title: str = ""
    _hidden: list[str] = field(default_factory=list)
    _in_title: bool = False

    def __post_init__(self) -> None:
        """Initialise the parser so that character references are decoded."""
        super().__init__(convert_charrefs=True)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Begin the title, a hidden part (``_HIDDEN_TAGS``), or a line or word (``_separate``)."""
        if tag == "title":
            self._in_title = True
        elif tag in _HIDDEN_TAGS:
            self._hidden.append(tag)
        else:
            self._separate(tag)

    def handle_endtag(self, tag: str) -> None:
        """End the title or a hidden part, or begin a new line or word (``_separate``).

        The end of a hidden part also ends hidden parts that began inside it. End tags of elements
        that have none (``</br>``) are ignored.
        """
        if tag == "title":
            self._in_title = False
        elif tag in self._hidden:
            del self._hidden[self._hidden.index(tag) :]
        elif tag not in _VOID_TAGS:
            self._separate(tag)

    def handle_data(self, data: str) -> None:
        """Add text to the title or the current line; drop it inside a hidden part.

        The title is read even there, since it is in the hidden <head>.
        """
        if self._in_title:
            self.title = " ".join(f"{self.title} {data}".split())
        elif not self._hidden:
            self.lines[-1].append(data)

    def _separate(self, tag: str) -> None:
        """Begin a new line at a paragraph tag, or add a space at another tag that separates words.

        Other tags add nothing.
        """
        if is_paragraph_tag(f"<{tag}>"):
            self.lines.append([])
        elif is_block_tag(f"<{tag}>"):
            self.lines[-1].append("\n" if tag == "br" else " ")

    def text(self) -> str:
        """Return the non-empty lines, separated by blank lines; "" if there are none.

        White space inside a line, newlines included, becomes one space.
        """
        lines = (" ".join("".join(line).split()) for line in self.lines)
        return "\n\n".join(line for line in lines if line)
