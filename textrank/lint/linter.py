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
from dataclasses import asdict, dataclass, fields
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
MAX_WORD_CHARACTERS = 1000  # longer stretches without white space are not prose
MAX_BLOCK_CHARACTERS = 20_000  # a delimiter without a partner within these does not open a block
BLOCK_BREAK = "¶"
BULLET_PATTERN = r"(?m)^[ \t]*(?:[-+*•]|\d{1,3}[.)])(?=[ \t])"
LONG_WORD = re.compile(rf"[^\s<>]{{{MAX_WORD_CHARACTERS + 1},}}")
KIND_OF_SUFFIX: Mapping[str, str] = {
    **dict.fromkeys((".md", ".markdown", ".mdx"), "markdown"),
    ".rst": "rst",
    ".tex": "latex",
    **dict.fromkeys((".html", ".htm"), "html"),
    **dict.fromkeys((".py", ".pyi"), "python"),
    **dict.fromkeys((".c", ".h", ".cc", ".cpp", ".hpp", ".cs", ".go", ".java", ".kt"), "c"),
    **dict.fromkeys((".js", ".jsx", ".ts", ".tsx", ".rs", ".scala", ".swift"), "c"),
    **dict.fromkeys((".sh", ".bash", ".rb", ".r", ".pl", ".toml", ".yaml", ".yml"), "hash"),
}
_BLOCK = rf"[\s\S]{{0,{MAX_BLOCK_CHARACTERS}}}?"
NON_PROSE_PATTERNS = (
    r"https?://\S+|www\.\S+",
    r"(?<![^\s(<\[])[\w.+-]{1,64}@[\w-][\w.-]*\.\w+",  # mail addresses
    r"`[^`\n]+`",
    r"[\"“][^\"“”\n]{1,80}[\"”]",  # quotations
    r"(?<!\w)\w*(?:_\w+|[a-z][A-Z]|\d)\w*(?!\w)",  # identifiers and numbers
    r"(?<!\w)--?\w[\w-]*",  # options
    r"(?<![\w.-])[\w.-]*/[\w./-]+",  # paths
)
MARKDOWN_PATTERNS = (
    rf"\A---\n{_BLOCK}\n---\n",
    r"(?m)^[ \t]*\|.*$",
    rf"<!--{_BLOCK}-->",
    r"(?m)^[ \t]*\[[^\]\n]+\]:.*$",
    r"!\[[^\]\n]{0,500}\](?:\([^)\n]{0,2000}\))?",
)
RST_PATTERNS = (
    r"(?m)^(?P<i>[ \t]*)\.\. (?:code|code-block|sourcecode|math|image|figure|csv-table|highlight)"
    r"::.*\n(?:(?:(?P=i)[ \t]+\S.*)?\n)*",
    r"(?m)(?<=::\n)\n(?:(?:[ \t]+\S.*)?\n)+",
    r"(?m)^[ \t]*(?:\.\. \S.*|:\w[^:\n]*:.*)$",
    r"(?m)^[ \t]*(?:\+[-=+]+|\|.*\|).*$",
    r"(?m)^[ \t]*>>> .*\n(?:[ \t]*\S.*\n)*",
    r"``[^`\n]+``",
    r":[\w:]+:`[^`\n]+`",
)
# Underlines of titles, and the line "name : type" of a parameter, end a block.
RST_BREAKS = r"(?m)^[ \t]*(?:[=~^+*#-]{3,}|\*{0,2}\w[\w*, ]{0,60} : \S.*)[ \t]*$"
LATEX_PATTERNS = (
    r"(?m)(?<!\\)%.*$",
    r"\\begin\{(?P<e>verbatim|lstlisting|equation\*?|align\*?|gather\*?|eqnarray\*?|tabular\*?|array"
    rf"|minted|tikzpicture|thebibliography)\}}{_BLOCK}\\end\{{(?P=e)\}}",
    rf"\$\${_BLOCK}\$\$|\\\[{_BLOCK}\\\]|\\\({_BLOCK}\\\)",
    r"(?<!\\)\$(?:[^$\n]|\n(?![ \t]*\n))+\$",
    r"\\(?:cite\w*|\w*ref|label|url|href|input|include\w*|usepackage|documentclass|bibliography\w*)"
    r"\*?(?:\[[^\]\n]*\])*\{[^}\n]*\}",
)
# Commands that begin a block or stand alone; the words in the braces of a heading are prose.
LATEX_BREAKS = (
    r"\\(?:begin|end)\*?\{[^}\n]*\}(?:\[[^\]\n]*\])?|\\(?:item|par|maketitle|newpage|clearpage)\b"
    r"(?:\[[^\]\n]*\])?|\\(?:chapter|(?:sub)*section|(?:sub)?paragraph|caption|title|footnote)"
    r"\*?(?:\[[^\]\n]*\])?\{|\\\\"
)
# Formatting around words: the command and its braces are markup, the words are prose.
LATEX_INLINE = r"\\[A-Za-z]+\*?(?:\[[^\]\n]*\])?|\\[,;:! ]|[{}~]|``|''"
HTML_PATTERNS = (
    r"(?i)<(?P<t>script|style|pre|code|samp|kbd|tt|var|table|head|math|svg)\b"
    rf"{_BLOCK}</(?P=t)\s*>",
    rf"<!--{_BLOCK}-->",
    r"&#?\w{1,32};",
)
INLINE_TAG_PATTERN = (
    r"</?(?:a|abbr|acronym|b|big|cite|dfn|em|font|i|ins|q|small|span|strong|u)"
    r"(?:\s[^<>]*)?/?>"
)
# Markup of each kind with its filler, in the order of replacement.
MARKUP_OF_KIND: Mapping[str, tuple[tuple[str, str], ...]] = {
    "markdown": (
        (
            rf"(?i)\]\([^)\n]{{0,2000}}\)|\[(?=[^\[\]\n]*\]\()|{INLINE_TAG_PATTERN}|(?m:^[ \t]*>)",
            " ",
        ),
        (r"</?[A-Za-z][^<>\n]*>|(?m:^#{1,6}(?=[ \t]))", BLOCK_BREAK),
    ),
    "html": ((rf"(?i){INLINE_TAG_PATTERN}", " "), (r"<[^<>]*>", BLOCK_BREAK)),
    "rst": ((RST_BREAKS, BLOCK_BREAK),),
    "python": ((RST_BREAKS, BLOCK_BREAK),),
    "latex": ((LATEX_BREAKS, BLOCK_BREAK), (LATEX_INLINE, " ")),
}
PATTERNS_OF_KIND: Mapping[str, tuple[str, ...]] = {
    "text": (),
    "markdown": MARKDOWN_PATTERNS,
    "rst": RST_PATTERNS,
    "latex": LATEX_PATTERNS,
    "html": HTML_PATTERNS,
    "python": RST_PATTERNS,
    "c": (),
    "hash": (),
}
FILE_KINDS: tuple[str, ...] = tuple(PATTERNS_OF_KIND)
# Comments, after strings, so that a delimiter inside of a string does not open one.
COMMENT_PATTERNS: Mapping[str, str] = {
    "c": r"\"(?:\\.|[^\"\\\n])*\"|(?P<comment>//[^\n]*|/\*" + _BLOCK + r"\*/)",
    "hash": r"\"(?:\\.|[^\"\\\n])*\"|(?P<comment>(?<!\S)\#[^\n]*)",
}
COMMENT_DELIMITER = r"(?m)^[ \t]*(?:/\*+!?|\*+/|\*(?!\w)|//[/!]?|\#+!?)|\*+/$"


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
        Name of a shipped model, path of a model folder, or a loaded model.
    precision
        Share of proposals that should be correct if one word in a hundred is wrong. None means
        DEFAULT_PRECISION.
    words
        Words that are never flagged, and pairs such as "affect/effect" that are not judged; upper
        and lower case are not distinguished.
    style
        Whether matters of style are flagged too, such as less/fewer.

    Raises
    ------
    ValueError
        If the model folder is missing or damaged.
    """

    def __init__(
        self,
        model: str | ConfusionModel = "confusions",
        *,
        precision: float | None = None,
        words: Sequence[str] = (),
        style: bool = False,
    ) -> None:
        """Load the model unless a loaded one is given; a shipped name is preferred to a path.

        Raises ValueError if the model folder is missing or damaged.
        """
        if isinstance(model, str):
            model = ConfusionModel.from_disk(shipped_model_path(model) or Path(model))
        self.confusions = model
        self.precision = DEFAULT_PRECISION if precision is None else precision
        self.words: Collection[str] = frozenset(_pair_key(word.lower()) for word in words)
        self.style = style

    def __call__(self, text: str, *, file: str = "-", kind: str = "text") -> list[Proposal]:
        """Return the proposals for one text, in text order.

        ``file`` only labels the proposals; ``kind`` is one of FILE_KINDS and decides what is prose,
        see ``blank_non_prose``. Empty if nothing is flagged.
        """
        reported = self.find_flags(blank_non_prose(text, kind))
        line_ends = [end.start() for end in re.finditer("\n", text)] if reported else []
        return [_make_proposal(text, line_ends, flag, file) for flag in reported]

    def find_flags(self, prose: str) -> list[Flag]:
        """Return the flags of a text without the user's words; ``prose`` is already blanked."""
        flags = self.confusions.find_errors(prose, self.precision, style=self.style)
        return [flag for flag in flags if not self._is_accepted(flag)]

    def _is_accepted(self, flag: Flag) -> bool:
        """Return whether the user's words contain the printed word or the pair of a flag.

        Case of the printed word, kind of apostrophe and order of the pair do not matter.
        """
        return bool(self.words) and (
            flag.printed.lower().replace("’", "'") in self.words
            or _pair_key(flag.pair) in self.words
        )


def _pair_key(entry: str) -> str:
    """Return an entry of the user's words with the words of a pair in alphabetical order.

    Apostrophes become straight, and white space around the words is dropped; case is kept. An entry
    without "/" is a single word.
    """
    return "/".join(sorted(part.strip() for part in entry.replace("’", "'").split("/")))


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
    """Return characters [start, end) with their sentence, up to a sentence end or blank line.

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

    Non-prose becomes NON_PROSE, block markup, list bullets and code around comments BLOCK_BREAK,
    and inline markup blanks; line breaks stay, so offsets are those of ``text``. ``kind`` is one of
    FILE_KINDS; in program code only comments and docstrings are prose. Stretches of more than
    MAX_WORD_CHARACTERS without white space are not prose, so the time is proportional to the length
    of the text. Lines between ``textrank: off`` and ``textrank: on`` and lines with
    ``textrank: ignore`` are blanked too. Raises KeyError for another ``kind``.

    >>> blank_non_prose("Call `then()` than.", "markdown").replace(NON_PROSE, "#")
    'Call ######## than.'
    """
    kept = text
    if kind == "python":
        kept = _keep_python_prose(text)
    elif kind in COMMENT_PATTERNS:
        kept = _keep_comments(text, kind)
    kept = _blank_matches(kept, LONG_WORD)
    if kind == "markdown":
        kept = _blank_code_blocks(kept)
    for pattern in PATTERNS_OF_KIND[kind]:
        kept = _blank_matches(kept, re.compile(pattern))
    for pattern, filler in MARKUP_OF_KIND.get(kind, ()):
        kept = _blank_matches(kept, re.compile(pattern), filler)
    kept = _blank_matches(kept, re.compile(BULLET_PATTERN), BLOCK_BREAK)
    return _apply_switches(text, _blank_matches(kept, re.compile("|".join(NON_PROSE_PATTERNS))))


def _blank_code_blocks(text: str) -> str:
    """Return Markdown with fenced and indented code blanked.

    A fence without a closing one of at least the same length, alone on its line, lasts until the
    end. Lines with four blanks or a tab after an empty line are code, unless they belong to a list:
    items and their continuations may be indented that far.
    """
    lines = []
    fence = ""
    in_list = in_code = False
    after_empty = True
    for line in text.split("\n"):
        marker = re.match(r"[ \t]*(`{3,}|~{3,})", line)
        if marker and (not fence or (marker[1].startswith(fence) and marker[0] == line.rstrip())):
            fence = "" if fence else marker[1]
            lines.append(_blank(line))
            continue
        if line.strip() and not fence:
            is_indented = line.startswith(("    ", "\t"))
            in_code = is_indented and not in_list and (after_empty or in_code)
            if not in_code and re.match(BULLET_PATTERN, line):
                in_list = True
            elif after_empty and not line[0].isspace():
                in_list = False
        after_empty = not line.strip()
        lines.append(_blank(line) if in_code or fence else line)
    return "\n".join(lines)


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
    """Return Python source with everything but comments and docstrings replaced by BLOCK_BREAK.

    ``#`` becomes a blank and quotes become BLOCK_BREAK. Comments on lines of their own that follow
    each other are one paragraph. After a syntax error everything is replaced, as are comments that
    ``tokenize`` places elsewhere because of unusual line separators.
    """
    kept = list(_blank(text, BLOCK_BREAK))
    starts = [0]
    for line in text.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    for (row, column), (end_row, end_column), token in _comments_and_docstrings(text):
        start, end = starts[row - 1] + column, starts[end_row - 1] + end_column
        if text[start:end] == token:
            kept[start:end] = _blank_delimiters(token)
            if token.startswith("#") and not text[starts[row - 1] : start].strip():
                kept[starts[row - 1] : start] = " " * column
    return "".join(kept)


def _blank_delimiters(token: str) -> str:
    """Return a comment with its ``#`` blanked, or a string with quotes and prefix replaced.

    Quotes become BLOCK_BREAK; of "#!" and "#:" both characters are blanked.
    """
    if token.startswith("#"):
        return _blank_matches(token, re.compile(r"\A#+[!:]?"), " ")
    delimiters = r"\A[rRbBuUfF]*(?:\"\"\"|'''|\"|')|(?:\"\"\"|'''|\"|')\Z"
    return _blank_matches(token, re.compile(delimiters), BLOCK_BREAK)


def _keep_comments(text: str, kind: str) -> str:
    """Return program code with everything but comments replaced by BLOCK_BREAK.

    ``kind`` is a key of COMMENT_PATTERNS. A delimiter inside a string in double quotes begins no
    comment; other strings are not recognised. Delimiters become blanks, so that comments on lines
    of their own that follow each other are one paragraph.
    """
    kept = list(_blank(text, BLOCK_BREAK))
    for match in re.finditer(COMMENT_PATTERNS[kind], text):
        if match["comment"]:
            line_start = text.rfind("\n", 0, match.start()) + 1
            if not text[line_start : match.start()].strip():
                kept[line_start : match.start()] = " " * (match.start() - line_start)
            comment = _blank_matches(match[0], re.compile(COMMENT_DELIMITER), " ")
            kept[match.start() : match.end()] = comment
    return "".join(kept)


def _comments_and_docstrings(text: str) -> Iterator[tuple[tuple[int, int], tuple[int, int], str]]:
    """Yield (start, end, text) of comments and docstrings, up to a syntax error.

    A docstring is any string that begins a statement. Positions are (row from 1, column from 0).
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

    ``words`` are never flagged; an entry "affect/effect" switches off that pair. ``dictionary``
    are files with more of them, one per line, relative to the pyproject.toml. ``precision`` is
    that of ``Linter`` (None: its default), ``style`` whether matters of style such as less/fewer
    are flagged, and ``exclude`` are the patterns of files that the command line skips.
    """

    words: tuple[str, ...] = ()
    dictionary: tuple[str, ...] = ()
    precision: float | None = None
    style: bool = False
    exclude: tuple[str, ...] = ()

    @classmethod
    def from_folder(cls, folder: Path) -> Settings:
        """Return the settings of the nearest pyproject.toml at or above a folder.

        Defaults if there is no such file, or it has no section for textrank; files further up are
        not read. The words of the dictionaries are added to ``words``. Raises ValueError on
        invalid TOML, a section that is not a table, unknown settings, wrong values and missing
        dictionaries.
        """
        for parent in (folder.resolve(), *folder.resolve().parents):
            file = parent / "pyproject.toml"
            if file.is_file():
                return cls._from_file(file)
        return cls()

    @classmethod
    def _from_file(cls, file: Path) -> Settings:
        """Read the section of a pyproject.toml and its dictionaries.

        Defaults if the file has no such section. Dictionaries are relative to the file's folder;
        their words follow those of the setting ``words``. Raises ValueError on invalid TOML, a
        section that is not a table, unknown settings, values of the wrong type, a precision that is
        not above 0 and at most 1, and missing dictionaries.
        """
        try:
            document = tomllib.loads(file.read_text(encoding="utf-8"))
        except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
            raise ValueError(f"{file}: not valid TOML ({error}). Fix it.") from error
        section: Any = document
        path: list[str] = []
        for key in ("tool", "textrank", "spell"):
            path.append(key)
            section = section.get(key, {})
            if not isinstance(section, dict):
                raise ValueError(
                    f"{file}: {'.'.join(path)} must be a table, got {section!r:.80}. Write "
                    f"[{'.'.join(path)}]."
                )
        where = f"{file}, [tool.textrank.spell]"
        names = [field.name for field in fields(cls)]
        unknown = sorted(set(section) - set(names))
        if unknown:
            raise ValueError(
                f"{where}: unknown setting {unknown[0]!r}; available: {', '.join(names)}."
            )
        for name in ("words", "dictionary", "exclude"):
            values = section.get(name, [])
            if not isinstance(values, list) or not all(isinstance(v, str) for v in values):
                raise ValueError(f"{where}: {name} must be a list of strings, got {values!r:.80}.")
        precision, style = section.get("precision"), section.get("style", False)
        is_number = isinstance(precision, int | float) and not isinstance(precision, bool)
        if precision is not None and not (is_number and 0 < precision <= 1):
            raise ValueError(
                f"{where}: precision must be a number above 0 and at most 1, got {precision!r:.80}."
            )
        if not isinstance(style, bool):
            raise ValueError(f"{where}: style must be true or false, got {style!r:.80}.")
        dictionary = tuple(section.get("dictionary", ()))
        words = [word for name in dictionary for word in read_dictionary(file.parent / name)]
        return cls(
            words=(*section.get("words", ()), *words),
            dictionary=dictionary,
            precision=None if precision is None else float(precision),
            style=style,
            exclude=tuple(section.get("exclude", ())),
        )


def read_dictionary(path: Path) -> list[str]:
    """Return the words of a user dictionary, one per line; "#" begins a comment.

    Raises ValueError if the file cannot be read, see ``read_text``.
    """
    lines = (line.partition("#")[0].strip() for line in read_text(path).splitlines())
    return [line for line in lines if line]


def read_text(path: Path) -> str:
    """Return the text of a UTF-8 file, line endings and byte order mark unchanged.

    Raises ValueError if it does not exist, is a folder, is larger than MAX_FILE_BYTES or is not
    UTF-8. Other errors of the system, such as PermissionError, are not converted.
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
    does not track give no numbers. The file's folder must exist.

    Raises ValueError if git is missing or fails, or if the revision begins with a hyphen: git would
    read it as an option, such as one that overwrites a file.
    """
    if revision.startswith("-"):
        raise ValueError(
            f"{revision!r} is not a git revision: it begins with a hyphen. Give a commit, a branch "
            "or a tag."
        )
    command = ["git", "diff", "--unified=0", "--no-color", revision, "--", path.name]
    try:
        result = subprocess.run(
            command, cwd=path.resolve().parent, capture_output=True, check=False
        )
    except FileNotFoundError:
        raise ValueError("--since needs git, which is not installed.") from None
    # Not in the encoding of the locale, and without new line ends: a file may hold any bytes.
    output, message = (part.decode(errors="replace") for part in (result.stdout, result.stderr))
    if result.returncode:
        raise ValueError(f"{path}: git cannot compare with {revision!r}: {message.strip()}")
    lines: set[int] = set()
    for start, count in re.findall(r"(?m)^@@ -\S+ \+(\d+)(?:,(\d+))? @@", output):
        lines |= set(range(int(start), int(start) + int(count or 1)))
    return lines
