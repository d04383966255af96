"""HTML pages as text: what a reader sees of them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from html.parser import HTMLParser
from pathlib import Path

from spacy.language import Language
from spacy.tokens import Doc

from textrank.formats.records import Record, docs_of, files_of
from textrank.io import LIMIT, read_text
from textrank.text.markup import ends_sentence, is_block

_HIDDEN = frozenset(["script", "style", "head", "noscript", "template", "svg", "nav", "math"])
_VOID = frozenset(["meta", "link", "base", "br", "hr", "img", "input", "source", "wbr", "col"])


@dataclass(frozen=True)
class HTML:
    """The text of an HTML file; a folder stands for its ``*.html`` and ``*.htm`` files.

    Paragraphs, headings, list items and table rows are lines of their own, parted by a blank line;
    scripts, styles and navigation are left out. ``doc.text`` is this text, and offsets count in it;
    the page's title is in ``doc.user_data["title"]``. Names are left to a recogniser in ``nlp``.
    """

    path: str
    skip_bad: bool = False
    limit: int = LIMIT

    def __call__(self, nlp: Language) -> Iterator[Doc]:
        files = files_of(self.path, ".html", ".htm")
        return docs_of(files, self._record, nlp, path=self.path, cut=False, skip_bad=self.skip_bad)

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
        if ends_sentence(f"<{tag}>"):
            self.lines.append([])
        elif is_block(f"<{tag}>"):
            self.lines[-1].append("\n" if tag == "br" else " ")

    def text(self) -> str:
        """The lines that have any text, a blank line between them."""
        found = (" ".join("".join(line).split()) for line in self.lines)
        return "\n\n".join(line for line in found if line)
