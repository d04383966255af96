"""Prose in files of many kinds: what is not prose is blanked, so that every offset stays.

Nothing of spaCy is needed here. A character that is no prose becomes ``HOLE``, line ends stay; the
linter does not judge a word next to a hole, for half of its context is missing. Marks inside
sentences, such as those of emphasis and links, become blanks, and those between them ``BREAK``.
"""

from __future__ import annotations

import io
import re
import tokenize
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

HOLE = "\x00"
BREAK = "¶"
BULLET = r"(?m)^[ \t]*(?:[-+*•]|\d{1,3}[.)])(?=[ \t])"
SUFFIXES: Mapping[str, str] = {
    ".md": "markdown",
    ".markdown": "markdown",
    ".rst": "rst",
    ".tex": "latex",
    ".html": "html",
    ".htm": "html",
    ".py": "python",
}
ANYWHERE = (
    r"https?://\S+|www\.\S+",
    r"\S+@\S+\.\w+",
    r"`[^`\n]+`",
    r"[\"“][^\"“”\n]{1,80}[\"”]",  # quotations are somebody else's words
    r"(?<!\w)\w*(?:_\w+|[a-z][A-Z]|\d)\w*(?!\w)",  # identifiers and numbers
    r"(?<!\w)--?\w[\w-]*",  # options
    r"(?<!\w)[\w.-]*/[\w./-]+",  # paths
)
MARKDOWN = (
    r"\A---\n.*?\n---\n",
    r"(?ms)^(?P<fence>```+|~~~+).*?^(?P=fence)[`~]*\s*?$",
    r"(?m)^(?: {4}|\t).*$",
    r"(?m)^\s*\|.*$",
    r"<!--.*?-->",
    r"(?m)^\s*\[[^\]\n]+\]:.*$",
    r"!\[[^\]\n]*\](?:\([^)\n]*\))?",
)
RST = (
    r"(?m)^(?P<i>[ \t]*)\.\. (?:code|code-block|sourcecode|math|image|figure|csv-table|highlight)"
    r"::.*\n(?:(?:(?P=i)[ \t]+\S.*)?\n)*",
    r"(?m)(?<=::\n)\n(?:(?:[ \t]+\S.*)?\n)+",
    r"(?m)^[ \t]*(?:\.\. \S.*|:\w[^:\n]*:.*)$",
    r"(?m)^[ \t]*(?:[=+|-]{4,}|\+[-=+]+|\|.*\|).*$",
    r"(?m)^[ \t]*>>> .*\n(?:[ \t]*\S.*\n)*",
    r"``[^`\n]+``",
    r":[\w:]+:`[^`\n]+`",
)
LATEX = (
    r"(?m)(?<!\\)%.*$",
    r"(?s)\\begin\{(?P<e>verbatim|lstlisting|equation\*?|align\*?|tabular|minted|tikzpicture)\}"
    r".*?\\end\{(?P=e)\}",
    r"(?s)\$\$.*?\$\$|\\\[.*?\\\]|\\\(.*?\\\)",
    r"(?<!\\)\$[^$\n]+\$",
    r"\\(?:cite\w*|ref|label|url|href|input|include\w*|usepackage|documentclass|begin|end)"
    r"\*?(?:\[[^\]]*\])?\{[^}]*\}",
    r"\\[A-Za-z]+\*?(?:\[[^\]]*\])?",
)
HTML = (
    r"(?is)<(?P<t>script|style|pre|code|samp|kbd|tt|var|table|head|math|svg)\b.*?</(?P=t)\s*>",
    r"<!--.*?-->",
    r"&#?\w+;",
)
INLINE = (
    r"</?(?:a|abbr|acronym|b|big|cite|dfn|em|font|i|ins|q|small|span|strong|u)"
    r"(?:\s[^<>]*)?/?>"
)
BLANK: Mapping[str, str] = {  # inside a sentence, without being part of it
    "markdown": rf"\]\([^)\n]*\)|\[(?=[^\[\]\n]*\]\()|{INLINE}",
    "html": INLINE,
}
BETWEEN: Mapping[str, str] = {"markdown": r"</?[A-Za-z][^>\n]*>", "html": r"<[^>]*>"}
PATTERNS: Mapping[str, tuple[str, ...]] = {
    "text": (),
    "markdown": MARKDOWN,
    "rst": RST,
    "latex": LATEX,
    "html": HTML,
}


def kind_of(path: str | Path) -> str:
    """What a file holds, by its suffix; plain text where it is none of ours.

    >>> kind_of("README.md"), kind_of("notes")
    ('markdown', 'text')
    """
    return SUFFIXES.get(Path(path).suffix.lower(), "text")


def prose(text: str, kind: str = "text") -> str:
    """The text with everything that is no prose blanked; as long as it was.

    >>> prose("Call `then()` than.", "markdown").replace(HOLE, "#")
    'Call ######## than.'
    """
    kept = _python(text) if kind == "python" else text
    for pattern in PATTERNS.get(kind, RST):
        kept = _blanked(kept, re.compile(pattern))
    if kind in BLANK:
        kept = _blanked(kept, re.compile(BLANK[kind], re.IGNORECASE), " ")
        kept = _blanked(kept, re.compile(BETWEEN[kind]), BREAK)
    kept = _blanked(kept, re.compile(BULLET), BREAK)
    return _switched(text, _blanked(kept, re.compile("|".join(ANYWHERE))))


def _blanked(text: str, pattern: re.Pattern[str], by: str = HOLE) -> str:
    return pattern.sub(lambda found: _hole(found[0], by), text)


def _hole(text: str, by: str = HOLE) -> str:
    if "\n" not in text:
        return by * len(text)
    return re.sub(r"[^\n]", by, text)


def _switched(text: str, kept: str) -> str:
    """Lines between ``textrank: off`` and ``textrank: on``, and with ``ignore``, are no prose."""
    lines, off = [], False
    for original, own in zip(text.split("\n"), kept.split("\n"), strict=True):
        mark = re.search(r"textrank:\s*(off|on|ignore)\b", original)
        off = mark[1] == "off" if mark and mark[1] != "ignore" else off
        lines.append(_hole(own) if off or mark else own)
    return "\n".join(lines)


def _python(text: str) -> str:
    """Comments and docstrings of a module; nothing where it cannot be read."""
    kept = list(_hole(text))
    starts = [0]
    for line in text.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    for (row, column), (end_row, end_column), text_of in _spoken(text):
        start, end = starts[row - 1] + column, starts[end_row - 1] + end_column
        if text[start:end] == text_of:
            kept[start:end] = _bare(text_of)
    return "".join(kept)


def _bare(token: str) -> str:
    """A comment or docstring without its marks."""
    marks = r"\A(?:#[!:]?|[rRbBuUfF]*(?:\"\"\"|'''|\"|'))|(?:\"\"\"|'''|\"|')\Z"
    return _blanked(token, re.compile(marks))


def _spoken(text: str) -> Iterator[tuple[tuple[int, int], tuple[int, int], str]]:
    """Comments, and strings that stand alone."""
    before = tokenize.NEWLINE
    skipped = (tokenize.NL, tokenize.COMMENT, tokenize.INDENT, tokenize.DEDENT, tokenize.ENCODING)
    begins = (tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENCODING)
    try:
        for token in tokenize.generate_tokens(io.StringIO(text).readline):
            alone = token.type == tokenize.STRING and before in begins
            if token.type == tokenize.COMMENT or alone:
                yield token.start, token.end, token.string
            if token.type not in skipped or token.type in begins:
                before = token.type
    except (tokenize.TokenError, SyntaxError):
        return


KINDS: tuple[str, ...] = (*PATTERNS, "python")
Reader = Callable[[str], str]
