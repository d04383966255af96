"""Files a linter is given: settings of the project, and which lines have changed."""

from __future__ import annotations

import io
import re
import subprocess
import tokenize
import tomllib
from bisect import bisect_right
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from textrank.lint.model import PRECISION, Confusions, Flag, shipped

LARGEST = 64 << 20  # bytes of one file


@dataclass(frozen=True)
class Settings:
    """What ``[tool.textrank.spell]`` of a pyproject.toml says."""

    words: tuple[str, ...] = ()
    precision: float | None = None
    exclude: tuple[str, ...] = ()

    @classmethod
    def of(cls, folder: Path) -> Settings:
        """Those of the nearest pyproject.toml above a folder."""
        for place in (folder.resolve(), *folder.resolve().parents):
            file = place / "pyproject.toml"
            if file.is_file():
                return cls._read(file)
        return cls()

    @classmethod
    def _read(cls, file: Path) -> Settings:
        try:
            whole = tomllib.loads(file.read_text(encoding="utf-8"))
        except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
            raise ValueError(f"{file}: not readable as TOML ({error}). Mend it.") from error
        own: dict[str, Any] = whole.get("tool", {}).get("textrank", {}).get("spell", {})
        unknown = sorted(set(own) - {"words", "precision", "exclude"})
        if unknown:
            raise ValueError(
                f"{file}, [tool.textrank.spell]: no setting {unknown[0]!r}; there are: words, "
                "precision, exclude."
            )
        precision = own.get("precision")
        return cls(
            tuple(map(str, own.get("words", ()))),
            None if precision is None else float(precision),
            tuple(map(str, own.get("exclude", ()))),
        )


def read(path: Path) -> str:
    """The text of a file, refused with a reason where it is none."""
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        raise ValueError(f"{path}: no such file. Check the path.") from None
    except IsADirectoryError:
        raise ValueError(f"{path}: a folder. Name the files inside it.") from None
    if len(data) > LARGEST:
        raise ValueError(f"{path}: {len(data):,} bytes, more than {LARGEST:,}. Split it.")
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise ValueError(
            f"{path}, byte {error.start}: not UTF-8 ({error.reason}). Convert it to UTF-8."
        ) from None


def changed_lines(path: Path, revision: str) -> set[int]:
    """The lines of a file that are new since a revision of its git repository."""
    command = ["git", "diff", "--unified=0", "--no-color", revision, "--", path.name]
    try:
        done = subprocess.run(
            command, cwd=path.resolve().parent, capture_output=True, text=True, check=False
        )
    except FileNotFoundError:
        raise ValueError("--since needs git, which is not installed.") from None
    if done.returncode:
        raise ValueError(f"{path}: git cannot compare with {revision!r}: {done.stderr.strip()}")
    found: set[int] = set()
    for start, count in re.findall(r"(?m)^@@ -\S+ \+(\d+)(?:,(\d+))? @@", done.stdout):
        found |= set(range(int(start), int(start) + int(count or 1)))
    return found


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
WIDE = 300  # characters of a sentence that are shown on either side


@dataclass(frozen=True)
class Proposal:
    """A word that is probably another one, where it stands, and why."""

    file: str
    line: int  # from 1, as the column
    column: int
    offset: int
    length: int
    word: str
    proposal: str
    probability: float
    because: str
    sentence: str = ""

    def to_dict(self) -> dict[str, Any]:
        """Plain values under stable keys."""
        return {key: value for key, value in asdict(self).items() if key != "sentence"}


class Linter:
    """Judges the prose of texts with a table of confusions; nothing of spaCy is loaded.

    ``precision`` is the share of proposals that shall be right where one word in a hundred is
    wrong, ``words`` are those never judged.
    """

    def __init__(
        self,
        model: str = "confusions",
        *,
        precision: float | None = None,
        words: Sequence[str] = (),
    ) -> None:
        self.confusions = Confusions.from_disk(shipped(model) or Path(model))
        self.precision = PRECISION if precision is None else precision
        self.words: Collection[str] = frozenset(word.lower() for word in words)

    def __call__(self, text: str, *, file: str = "-", kind: str = "text") -> list[Proposal]:
        """The proposals of one text, in its order."""
        kept = prose(text, kind)
        flags = self.confusions.flags(kept, self.precision)
        shown = [flag for flag in flags if flag.printed.lower() not in self.words]
        ends = [end.start() for end in re.finditer("\n", text)] if shown else []
        return [_proposal(text, ends, flag, file) for flag in shown]


def _proposal(text: str, ends: Sequence[int], flag: Flag, file: str) -> Proposal:
    line = bisect_right(ends, flag.start - 1)
    begin = ends[line - 1] + 1 if line else 0
    return Proposal(
        file=file,
        line=line + 1,
        column=flag.start - begin + 1,
        offset=flag.start,
        length=flag.end - flag.start,
        word=text[flag.start : flag.end],
        proposal=flag.proposal,
        probability=flag.probability,
        because=", ".join(flag.because),
        sentence=_sentence(text, flag.start, flag.end),
    )


def _sentence(text: str, start: int, end: int) -> str:
    """What is shown around a word: up to the next full stop or blank line."""
    before = re.split(r"[.!?]\s+|\n\s*\n", text[max(0, start - WIDE) : start])[-1]
    after = re.split(r"(?<=[.!?])\s|\n\s*\n", text[end : end + WIDE])[0]
    return " ".join((before + text[start:end] + after).split())


def fixed(text: str, proposals: Sequence[Proposal]) -> str:
    """The text with all proposals put in."""
    for one in sorted(proposals, key=lambda proposal: -proposal.offset):
        text = text[: one.offset] + one.proposal + text[one.offset + one.length :]
    return text
