"""Linter for real-word spelling errors in text files: settings, prose extraction, proposals.

``Linter`` checks a text: ``blank_non_prose`` replaces markup, code and quotations by placeholders
of the same length, so that offsets stay valid, and the ``ConfusionModel`` finds words that are
probably wrong. ``Settings``, ``read_text`` and ``changed_lines`` serve the command line.
"""

from __future__ import annotations

import io
import re
import subprocess
import tokenize
import tomllib
from bisect import bisect_right
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from textrank.lint.model import (
    DEFAULT_PRECISION,
    NON_PROSE,
    ConfusionModel,
    Flag,
    shipped_model_path,
)

MAX_FILE_BYTES = 64 << 20
MAX_CONTEXT_CHARACTERS = 300  # shown on either side of a word
BLOCK_BREAK = "¶"
BULLET_PATTERN = r"(?m)^[ \t]*(?:[-+*•]|\d{1,3}[.)])(?=[ \t])"
KIND_OF_SUFFIX: Mapping[str, str] = {
    ".md": "markdown",
    ".markdown": "markdown",
    ".rst": "rst",
    ".tex": "latex",
    ".html": "html",
    ".htm": "html",
    ".py": "python",
}
NON_PROSE_PATTERNS = (
    r"https?://\S+|www\.\S+",
    r"\S+@\S+\.\w+",
    r"`[^`\n]+`",
    r"[\"“][^\"“”\n]{1,80}[\"”]",  # quotations
    r"(?<!\w)\w*(?:_\w+|[a-z][A-Z]|\d)\w*(?!\w)",  # identifiers and numbers
    r"(?<!\w)--?\w[\w-]*",  # options
    r"(?<!\w)[\w.-]*/[\w./-]+",  # paths
)
MARKDOWN_PATTERNS = (
    r"\A---\n.*?\n---\n",
    r"(?ms)^(?P<fence>```+|~~~+).*?^(?P=fence)[`~]*\s*?$",
    r"(?m)^(?: {4}|\t).*$",
    r"(?m)^\s*\|.*$",
    r"<!--.*?-->",
    r"(?m)^\s*\[[^\]\n]+\]:.*$",
    r"!\[[^\]\n]*\](?:\([^)\n]*\))?",
)
RST_PATTERNS = (
    r"(?m)^(?P<i>[ \t]*)\.\. (?:code|code-block|sourcecode|math|image|figure|csv-table|highlight)"
    r"::.*\n(?:(?:(?P=i)[ \t]+\S.*)?\n)*",
    r"(?m)(?<=::\n)\n(?:(?:[ \t]+\S.*)?\n)+",
    r"(?m)^[ \t]*(?:\.\. \S.*|:\w[^:\n]*:.*)$",
    r"(?m)^[ \t]*(?:[=+|-]{4,}|\+[-=+]+|\|.*\|).*$",
    r"(?m)^[ \t]*>>> .*\n(?:[ \t]*\S.*\n)*",
    r"``[^`\n]+``",
    r":[\w:]+:`[^`\n]+`",
)
LATEX_PATTERNS = (
    r"(?m)(?<!\\)%.*$",
    r"(?s)\\begin\{(?P<e>verbatim|lstlisting|equation\*?|align\*?|tabular|minted|tikzpicture)\}"
    r".*?\\end\{(?P=e)\}",
    r"(?s)\$\$.*?\$\$|\\\[.*?\\\]|\\\(.*?\\\)",
    r"(?<!\\)\$[^$\n]+\$",
    r"\\(?:cite\w*|ref|label|url|href|input|include\w*|usepackage|documentclass|begin|end)"
    r"\*?(?:\[[^\]]*\])?\{[^}]*\}",
    r"\\[A-Za-z]+\*?(?:\[[^\]]*\])?",
)
HTML_PATTERNS = (
    r"(?is)<(?P<t>script|style|pre|code|samp|kbd|tt|var|table|head|math|svg)\b.*?</(?P=t)\s*>",
    r"<!--.*?-->",
    r"&#?\w+;",
)
INLINE_TAG_PATTERN = (
    r"</?(?:a|abbr|acronym|b|big|cite|dfn|em|font|i|ins|q|small|span|strong|u)"
    r"(?:\s[^<>]*)?/?>"
)
INLINE_MARKUP: Mapping[str, str] = {  # inside a sentence, replaced by blanks
    "markdown": rf"\]\([^)\n]*\)|\[(?=[^\[\]\n]*\]\()|{INLINE_TAG_PATTERN}",
    "html": INLINE_TAG_PATTERN,
}
BREAKING_MARKUP: Mapping[str, str] = {"markdown": r"</?[A-Za-z][^>\n]*>", "html": r"<[^>]*>"}
PATTERNS_OF_KIND: Mapping[str, tuple[str, ...]] = {
    "text": (),
    "markdown": MARKDOWN_PATTERNS,
    "rst": RST_PATTERNS,
    "latex": LATEX_PATTERNS,
    "html": HTML_PATTERNS,
}
FILE_KINDS: tuple[str, ...] = (*PATTERNS_OF_KIND, "python")


@dataclass(frozen=True)
class Proposal:
    """Word that is probably another one, where it stands, and why.

    ``offset`` and ``length`` count characters of the whole text, ``column`` those of the line.
    ``word`` is the text as printed, ``proposal`` its replacement in the same capitalisation.
    ``because`` lists the contexts that support the proposal, joined by commas; ``sentence`` is the
    text around the word, with white space reduced to single blanks.
    """

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
        """Return plain values under stable keys, without the sentence."""
        return {key: value for key, value in asdict(self).items() if key != "sentence"}


class Linter:
    """Finder of real-word errors in the prose of texts; does not load spaCy.

    Parameters
    ----------
    model
        Name of a shipped model, or path of a model folder.
    precision
        Share of proposals that should be correct if one word in a hundred is wrong. None means
        DEFAULT_PRECISION.
    words
        Words that are never flagged; upper and lower case are not distinguished.

    Raises
    ------
    ValueError
        If the model folder is missing or damaged.
    """

    def __init__(
        self,
        model: str = "confusions",
        *,
        precision: float | None = None,
        words: Sequence[str] = (),
    ) -> None:
        self.confusions = ConfusionModel.from_disk(shipped_model_path(model) or Path(model))
        self.precision = DEFAULT_PRECISION if precision is None else precision
        self.words: Collection[str] = frozenset(word.lower() for word in words)

    def __call__(self, text: str, *, file: str = "-", kind: str = "text") -> list[Proposal]:
        """Return the proposals for one text, in text order.

        ``file`` only labels the proposals; ``kind`` is one of FILE_KINDS and decides what is prose,
        see ``blank_non_prose``. Empty if nothing is flagged.
        """
        prose = blank_non_prose(text, kind)
        flags = self.confusions.find_errors(prose, self.precision)
        reported = [flag for flag in flags if flag.printed.lower() not in self.words]
        line_ends = [end.start() for end in re.finditer("\n", text)] if reported else []
        return [_make_proposal(text, line_ends, flag, file) for flag in reported]


def _make_proposal(text: str, line_ends: Sequence[int], flag: Flag, file: str) -> Proposal:
    """Return a flag of the model as a proposal with line, column and sentence.

    ``text`` is the original text, with the same offsets as the flag; ``line_ends`` are the offsets
    of all its newlines, sorted.
    """
    line = bisect_right(line_ends, flag.start - 1)
    line_start = line_ends[line - 1] + 1 if line else 0
    return Proposal(
        file=file,
        line=line + 1,
        column=flag.start - line_start + 1,
        offset=flag.start,
        length=flag.end - flag.start,
        word=text[flag.start : flag.end],
        proposal=flag.proposal,
        probability=flag.probability,
        because=", ".join(flag.because),
        sentence=_surrounding_sentence(text, flag.start, flag.end),
    )


def _surrounding_sentence(text: str, start: int, end: int) -> str:
    """Return the words around characters [start, end), up to a sentence end or blank line.

    At most MAX_CONTEXT_CHARACTERS on either side, which can cut a word; white space becomes single
    blanks.
    """
    before = re.split(r"[.!?]\s+|\n\s*\n", text[max(0, start - MAX_CONTEXT_CHARACTERS) : start])[-1]
    after = re.split(r"(?<=[.!?])\s|\n\s*\n", text[end : end + MAX_CONTEXT_CHARACTERS])[0]
    return " ".join((before + text[start:end] + after).split())


def apply_proposals(text: str, proposals: Sequence[Proposal]) -> str:
    """Return the text with each proposal put in place of its word.

    Proposals may be in any order, but must be made for this text and must not overlap.
    """
    for fix in sorted(proposals, key=lambda proposal: -proposal.offset):
        text = text[: fix.offset] + fix.proposal + text[fix.offset + fix.length :]
    return text


# Prose


def file_kind(path: str | Path) -> str:
    """Return the kind of a file by its suffix, one of FILE_KINDS; ``"text"`` if it is unknown.

    >>> file_kind("README.md"), file_kind("notes")
    ('markdown', 'text')
    """
    return KIND_OF_SUFFIX.get(Path(path).suffix.lower(), "text")


def blank_non_prose(text: str, kind: str = "text") -> str:
    """Return the text with everything that is not prose blanked, at the same length.

    Non-prose becomes NON_PROSE, block tags and list bullets BLOCK_BREAK, and inline markup blanks;
    line breaks stay, so offsets are those of ``text``. ``kind`` is one of FILE_KINDS; in Python,
    only comments and docstrings are prose, and they are read as reStructuredText. Lines between
    ``textrank: off`` and ``textrank: on`` and lines with ``textrank: ignore`` are blanked too.

    >>> blank_non_prose("Call `then()` than.", "markdown").replace(NON_PROSE, "#")
    'Call ######## than.'
    """
    kept = _keep_python_prose(text) if kind == "python" else text
    for pattern in PATTERNS_OF_KIND.get(kind, RST_PATTERNS):
        kept = _blank_matches(kept, re.compile(pattern))
    if kind in INLINE_MARKUP:
        kept = _blank_matches(kept, re.compile(INLINE_MARKUP[kind], re.IGNORECASE), " ")
        kept = _blank_matches(kept, re.compile(BREAKING_MARKUP[kind]), BLOCK_BREAK)
    kept = _blank_matches(kept, re.compile(BULLET_PATTERN), BLOCK_BREAK)
    return _apply_switches(text, _blank_matches(kept, re.compile("|".join(NON_PROSE_PATTERNS))))


def _blank_matches(text: str, pattern: re.Pattern[str], filler: str = NON_PROSE) -> str:
    """Return the text with each character of all matches replaced by the filler.

    ``filler`` is one character; line breaks are kept, so the length does not change.
    """
    return pattern.sub(lambda match: _blank(match[0], filler), text)


def _blank(text: str, filler: str = NON_PROSE) -> str:
    """Return the text with every character but line feeds replaced by the one-character filler."""
    if "\n" not in text:
        return filler * len(text)
    return re.sub(r"[^\n]", filler, text)


def _apply_switches(text: str, blanked: str) -> str:
    """Return ``blanked`` without the lines that ``textrank: off``, ``on`` and ``ignore`` exclude.

    Excluded lines are filled with NON_PROSE: all lines with a switch, and those after ``off`` until
    ``on``. Only the first switch of a line counts. Switches are read from the original ``text``;
    ``blanked`` must have as many lines.
    """
    lines, is_off = [], False
    for original, line in zip(text.split("\n"), blanked.split("\n"), strict=True):
        switch = re.search(r"textrank:\s*(off|on|ignore)\b", original)
        is_off = switch[1] == "off" if switch and switch[1] != "ignore" else is_off
        lines.append(_blank(line) if is_off or switch else line)
    return "\n".join(lines)


def _keep_python_prose(text: str) -> str:
    """Return Python source with everything but comments and docstrings blanked.

    Delimiters (``#`` and quotes) are blanked too. After a syntax error everything is blanked.
    """
    kept = list(_blank(text))
    starts = [0]
    for line in text.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    for (row, column), (end_row, end_column), token in _comments_and_docstrings(text):
        start, end = starts[row - 1] + column, starts[end_row - 1] + end_column
        if text[start:end] == token:
            kept[start:end] = _blank_delimiters(token)
    return "".join(kept)


def _blank_delimiters(token: str) -> str:
    """Return a comment or string literal with its ``#``, or quotes and prefix letters, blanked."""
    delimiters = r"\A(?:#[!:]?|[rRbBuUfF]*(?:\"\"\"|'''|\"|'))|(?:\"\"\"|'''|\"|')\Z"
    return _blank_matches(token, re.compile(delimiters))


def _comments_and_docstrings(text: str) -> Iterator[tuple[tuple[int, int], tuple[int, int], str]]:
    """Yield (start, end, text) of comments and docstrings, up to a syntax error.

    A docstring is any string that is a statement. Positions are (row from 1, column from 0).
    """
    previous = tokenize.NEWLINE
    skipped = (tokenize.NL, tokenize.COMMENT, tokenize.INDENT, tokenize.DEDENT, tokenize.ENCODING)
    begins = (tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENCODING)
    try:
        for token in tokenize.generate_tokens(io.StringIO(text).readline):
            is_docstring = token.type == tokenize.STRING and previous in begins
            if token.type == tokenize.COMMENT or is_docstring:
                yield token.start, token.end, token.string
            if token.type not in skipped or token.type in begins:
                previous = token.type
    except (tokenize.TokenError, SyntaxError):
        return


# Settings and files of the command line


@dataclass(frozen=True)
class Settings:
    """Settings in the section ``[tool.textrank.spell]`` of a pyproject.toml.

    ``words`` are never flagged, ``precision`` is that of ``Linter`` (None: its default), and
    ``exclude`` are the patterns of files that the command line skips.
    """

    words: tuple[str, ...] = ()
    precision: float | None = None
    exclude: tuple[str, ...] = ()

    @classmethod
    def from_folder(cls, folder: Path) -> Settings:
        """Return the settings of the nearest pyproject.toml at or above a folder.

        Defaults if there is no such file, or it has no section for textrank; files further up are
        not read. Raises ValueError on invalid TOML or unknown settings.
        """
        for parent in (folder.resolve(), *folder.resolve().parents):
            file = parent / "pyproject.toml"
            if file.is_file():
                return cls._from_file(file)
        return cls()

    @classmethod
    def _from_file(cls, file: Path) -> Settings:
        """Read the section of a file; raise ValueError on invalid TOML or unknown settings."""
        try:
            document = tomllib.loads(file.read_text(encoding="utf-8"))
        except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
            raise ValueError(f"{file}: not valid TOML ({error}). Fix it.") from error
        section: dict[str, Any] = document.get("tool", {}).get("textrank", {}).get("spell", {})
        unknown = sorted(set(section) - {"words", "precision", "exclude"})
        if unknown:
            raise ValueError(
                f"{file}, [tool.textrank.spell]: unknown setting {unknown[0]!r}; available: "
                "words, precision, exclude."
            )
        precision = section.get("precision")
        return cls(
            tuple(map(str, section.get("words", ()))),
            None if precision is None else float(precision),
            tuple(map(str, section.get("exclude", ()))),
        )


def read_text(path: Path) -> str:
    """Return the text of a UTF-8 file.

    Raises ValueError if it does not exist, is a folder, is larger than MAX_FILE_BYTES or is not
    UTF-8.
    """
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        raise ValueError(f"{path}: no such file. Check the path.") from None
    except IsADirectoryError:
        raise ValueError(f"{path}: is a folder. Give the files inside it.") from None
    if len(data) > MAX_FILE_BYTES:
        raise ValueError(f"{path}: {len(data):,} bytes, more than {MAX_FILE_BYTES:,}. Split it.")
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise ValueError(
            f"{path}, byte {error.start}: not UTF-8 ({error.reason}). Convert it to UTF-8."
        ) from None


def changed_lines(path: Path, revision: str) -> set[int]:
    """Return the line numbers (from 1) of a file that were added or changed since a git revision.

    The working tree is compared, so uncommitted changes count. Deleted lines and files that git
    does not track give no numbers.

    Raises ValueError if git is missing or fails.
    """
    command = ["git", "diff", "--unified=0", "--no-color", revision, "--", path.name]
    try:
        result = subprocess.run(
            command, cwd=path.resolve().parent, capture_output=True, text=True, check=False
        )
    except FileNotFoundError:
        raise ValueError("--since needs git, which is not installed.") from None
    if result.returncode:
        raise ValueError(f"{path}: git cannot compare with {revision!r}: {result.stderr.strip()}")
    lines: set[int] = set()
    for start, count in re.findall(r"(?m)^@@ -\S+ \+(\d+)(?:,(\d+))? @@", result.stdout):
        lines |= set(range(int(start), int(start) + int(count or 1)))
    return lines
