"""Extract the prose of packages that ``packages.tsv`` names: ``python texts.py CACHE DATA``.

Packages come from Debian, PyPI and npm, by name, and are cached in ``CACHE/packages``. A paragraph
is kept once, in the first package that has it. Parts that are not prose are replaced by a marker
(``NON_PROSE``), as in the linter.
"""

from __future__ import annotations

import gzip
import html
import io
import json
import re
import subprocess
import sys
import tarfile
import zipfile
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from textrank.lint.linter import blank_non_prose
from textrank.lint.model import NON_PROSE

HERE = Path(__file__).parent
MAX_FILE_BYTES = 8 << 20
MIN_WORDS, MAX_WORDS = 8, 2000  # of a paragraph
COMMON = frozenset(
    [
        "the",
        "of",
        "to",
        "a",
        "and",
        "in",
        "is",
        "for",
        "that",
        "be",
        "it",
        "this",
        "are",
        "as",
        "with",
        "on",
        "or",
        "by",
        "you",
        "not",
        "if",
    ]
)
MIN_COMMON_SHARE = 0.12  # of COMMON words in English prose
PUBMED_FILES = (
    "articles-06000",
    "mixed-00000",
    "mixed-09001",
    "articles-06600",
    "mixed-01200",
    "mixed-01800",
    "mixed-02400",
)
PROSE_FILE = re.compile(r"\.(?:html?|xhtml|txt|md|rst|json|noun|verb|adj|adv)(?:\.gz)?$")
EXCLUDED_FILE = re.compile(
    r"(?i)genindex|searchindex|changelog|changes|licen[cs]e|copying|copyright|/_static/|locale|"
    r"examples-1\.json|endpoint|paginators|waiters|data\.json|package\.json|"
    r"/(?:de|es|fr|ja|ko|pt-br|tr|zh-cn|da)/|/anarchism/markdown/"
)
DROPPED_MARKUP = re.compile(
    r"(?is)<!--.*?-->|<(script|style|pre|head|table|nav|footer|svg|math|textarea)\b.*?</\1\s*>"
)
LITERAL = re.compile(
    r"(?is)<(code|tt|samp|kbd|var|a class=\"(?:reference )?internal\")\b[^>]*>.*?</\1\s*>"
)
INLINE = re.compile(
    r"(?i)</?(?:a|abbr|acronym|b|big|cite|dfn|em|font|i|ins|q|small|span|strong|u)\b[^>]*>"
)
TAG = re.compile(r"<[^>]*>")
BREAKS = re.compile(r"\n[ \t]*\n\s*")


@dataclass(frozen=True)
class Package:
    """Row of ``packages.tsv``."""

    source: str  # debian, pypi or npm
    name: str
    version: str
    group: str  # texts of one kind; "test" for texts that train nothing
    licence: str


def packages() -> list[Package]:
    """Return all rows of ``packages.tsv``."""
    lines = (HERE / "packages.tsv").read_text(encoding="utf-8").splitlines()[1:]
    return [Package(*line.split("\t")) for line in lines if line]


def fetch_package(package: Package, cache: Path) -> Path:
    """Return the file of a package, downloaded if the cache lacks it."""
    folder = cache / "packages" / package.source
    folder.mkdir(parents=True, exist_ok=True)
    stem = re.sub(r"[^a-z0-9]+", "?", package.name.lower().lstrip("@"))
    files = [
        p
        for p in folder.iterdir()
        if re.fullmatch(rf"{stem.replace('?', '[^a-z0-9]+')}[-_]\d.*", p.name.lower())
    ]
    if not files:
        command = {
            "debian": ["apt-get", "download", "-q", package.name],
            "pypi": ["pip", "download", "-q", "--no-deps", f"{package.name}=={package.version}"],
            "npm": ["npm", "pack", "-s", f"{package.name}@{package.version}"],
        }[package.source]
        subprocess.run(command, cwd=folder, check=True)
        return fetch_package(package, cache)
    return files[0]


def iter_files(path: Path) -> Iterator[tuple[str, bytes]]:
    """Yield name and content of the files of a package that may contain prose."""
    if path.suffix == ".deb":
        result = subprocess.run(
            ["dpkg-deb", "--fsys-tarfile", path], capture_output=True, check=True
        )
        yield from _iter_tar(io.BytesIO(result.stdout))
    elif path.suffix == ".whl":
        with zipfile.ZipFile(path) as archive:
            for member in archive.infolist():
                if member.file_size < MAX_FILE_BYTES and may_have_prose(member.filename):
                    yield member.filename, decompress(member.filename, archive.read(member))
    else:
        yield from _iter_tar(io.BytesIO(path.read_bytes()))


def _iter_tar(data: io.BytesIO) -> Iterator[tuple[str, bytes]]:
    """Yield name and content of the files of a tar archive that may contain prose."""
    with tarfile.open(fileobj=data) as archive:
        for member in archive:
            if member.isfile() and member.size < MAX_FILE_BYTES and may_have_prose(member.name):
                file = archive.extractfile(member)
                if file is not None:
                    yield member.name, decompress(member.name, file.read())


def may_have_prose(name: str) -> bool:
    """Return whether a file may contain prose, by its name."""
    return bool(PROSE_FILE.search(name) and not EXCLUDED_FILE.search(name)) or name.endswith(
        "data/Rdata.rdb"
    )


def decompress(name: str, data: bytes) -> bytes:
    """Return the content of a file, decompressed if its name ends in ".gz"."""
    return gzip.decompress(data) if name.endswith(".gz") else data


def iter_paragraphs(name: str, data: bytes) -> Iterator[str]:
    """Yield the English paragraphs of a file, without line breaks.

    The format follows from the name: R database, JSON, HTML, WordNet data, Markdown, rst or text.
    """
    name = name.removesuffix(".gz")
    text = data.decode("utf-8", "replace")
    if name.endswith(".rdb"):
        text = "\n\n".join(_iter_rdb(data))
    elif name.endswith(".json"):
        text = "\n\n".join(strip_html(paragraph) for paragraph in _iter_strings(json.loads(text)))
    elif re.search(r"\.x?html?$", name):
        text = strip_html(text)
    elif re.search(r"data\.(?:noun|verb|adj|adv)$", name):
        text = "\n\n".join(line.split(" | ")[-1] for line in text.splitlines() if " | " in line)
    kind = "markdown" if name.endswith(".md") else "rst" if name.endswith(".rst") else "text"
    for paragraph in BREAKS.split(blank_non_prose(text, kind)):
        if is_english(paragraph):
            yield " ".join(paragraph.split())


def strip_html(text: str) -> str:
    """Return the text of an HTML page, paragraphs separated by blank lines.

    Code and other literals are replaced by NON_PROSE.
    """
    text = LITERAL.sub(NON_PROSE, DROPPED_MARKUP.sub("\n\n", text))
    return html.unescape(TAG.sub("\n\n", INLINE.sub("", text))).replace("¶", "")


def _iter_strings(value: Any) -> Iterator[str]:
    """Yield all strings in nested lists and dicts, except keys."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for item in value.values():
            yield from _iter_strings(item)
    elif isinstance(value, list):
        for item in value:
            yield from _iter_strings(item)


def _iter_rdb(data: bytes) -> Iterator[str]:
    """Yield the text of each object in an R database of serialised lines."""
    position = 0
    while position + 5 < len(data):
        try:
            decompressor = zlib.decompressobj()
            content = decompressor.decompress(data[position + 4 :])
            position = len(data) - len(decompressor.unused_data)
        except zlib.error:
            position += 1
            continue
        lines = re.findall(rb"(?s)\x00\x04\x00\x09\x00\x00\x00.([^\x00]*)", content)
        yield "\n".join(line.decode("utf-8", "replace") for line in lines)


def is_english(text: str) -> bool:
    """Return whether a paragraph is English prose, judged by its most frequent words."""
    words = text.lower().split()
    if not MIN_WORDS <= len(words) <= MAX_WORDS:
        return False
    return sum(word in COMMON for word in words) >= MIN_COMMON_SHARE * len(words)


def iter_pubmed(data: Path) -> Iterator[str]:
    """Yield the English paragraphs of PUBMED_FILES, which may only be used to train weights."""
    for path in (data / "pubmed" / f"{name}.jsonl.gz" for name in PUBMED_FILES):
        with gzip.open(path, "rt", encoding="utf-8") as lines:
            for line in lines:
                for paragraph in json.loads(line)["text"].split("\n"):
                    prose = blank_non_prose(paragraph)
                    if is_english(prose):
                        yield " ".join(prose.split())


def write(cache: Path, data: Path) -> None:
    """Write one file of paragraphs per package, and one of PubMed, each paragraph once.

    Existing files are kept, and their paragraphs are not written again.
    """
    seen: set[int] = set()
    folder = cache / "texts"
    folder.mkdir(parents=True, exist_ok=True)
    for package in packages():
        paragraphs = (
            p
            for name, data_ in iter_files(fetch_package(package, cache))
            for p in iter_paragraphs(name, data_)
        )
        _write_texts(
            folder / f"{package.group}__{package.name.replace('/', '-')}.txt", paragraphs, seen
        )
    if (data / "pubmed").is_dir():
        _write_texts(folder / "biomedicine__pubmed.txt", iter_pubmed(data), seen)


def _write_texts(path: Path, texts: Iterator[str], seen: set[int]) -> None:
    """Write paragraphs that are not in ``seen`` to a file, and add them to ``seen``, in place.

    An existing file is kept; its paragraphs are added to ``seen``. An error of a package ends its
    file early and is printed.
    """
    if path.exists():
        seen.update(hash(text) for text in path.read_text(encoding="utf-8").split("\n\n"))
        return
    written = []
    try:
        for text in texts:
            if hash(text) not in seen:
                seen.add(hash(text))
                written.append(text)
    except (ValueError, OSError, EOFError) as error:
        sys.stderr.write(f"{path.name}: {error}\n")
    path.write_text("\n\n".join(written), encoding="utf-8", errors="replace")
    sys.stderr.write(f"{path.name}: {sum(map(len, map(str.split, written)))} words\n")


if __name__ == "__main__":
    write(Path(sys.argv[1]), Path(sys.argv[2]))
