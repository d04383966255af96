"""The prose of packages, which ``packages.tsv`` names: ``python texts.py CACHE DATA``.

Packages come from Debian, PyPI and npm, by name, and are kept in ``CACHE/packages``. A paragraph
is kept once, where it stands first; what is no prose inside it becomes a hole, as in the linter.
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
LARGEST = 8 << 20  # bytes of a file
SHORTEST, LONGEST = 8, 2000  # words of a paragraph
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
SHARE = 0.12  # of such words in English prose
PUBMED_FILES = (
    "articles-06000",
    "mixed-00000",
    "mixed-09001",
    "articles-06600",
    "mixed-01200",
    "mixed-01800",
    "mixed-02400",
)
READ = re.compile(r"\.(?:html?|xhtml|txt|md|rst|json|noun|verb|adj|adv)(?:\.gz)?$")
LEFT = re.compile(
    r"(?i)genindex|searchindex|changelog|changes|licen[cs]e|copying|copyright|/_static/|locale|"
    r"examples-1\.json|endpoint|paginators|waiters|data\.json|package\.json|"
    r"/(?:de|es|fr|ja|ko|pt-br|tr|zh-cn|da)/|/anarchism/markdown/"
)
GONE = re.compile(
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
    """A row of the table."""

    source: str  # debian, pypi or npm
    name: str
    version: str
    group: str  # texts of one kind; "test" where nothing is learnt from them
    licence: str


def packages() -> list[Package]:
    """Return all rows of ``packages.tsv``."""
    lines = (HERE / "packages.tsv").read_text(encoding="utf-8").splitlines()[1:]
    return [Package(*line.split("\t")) for line in lines if line]


def fetched(package: Package, cache: Path) -> Path:
    """Return the file of a package, downloaded if the cache lacks it."""
    folder = cache / "packages" / package.source
    folder.mkdir(parents=True, exist_ok=True)
    stem = re.sub(r"[^a-z0-9]+", "?", package.name.lower().lstrip("@"))
    known = [
        p
        for p in folder.iterdir()
        if re.fullmatch(rf"{stem.replace('?', '[^a-z0-9]+')}[-_]\d.*", p.name.lower())
    ]
    if not known:
        command = {
            "debian": ["apt-get", "download", "-q", package.name],
            "pypi": ["pip", "download", "-q", "--no-deps", f"{package.name}=={package.version}"],
            "npm": ["npm", "pack", "-s", f"{package.name}@{package.version}"],
        }[package.source]
        subprocess.run(command, cwd=folder, check=True)
        return fetched(package, cache)
    return known[0]


def members(path: Path) -> Iterator[tuple[str, bytes]]:
    """Names and contents of the files of a package that may hold prose."""
    if path.suffix == ".deb":
        found = subprocess.run(
            ["dpkg-deb", "--fsys-tarfile", path], capture_output=True, check=True
        )
        yield from _of_tar(io.BytesIO(found.stdout))
    elif path.suffix == ".whl":
        with zipfile.ZipFile(path) as whole:
            for one in whole.infolist():
                if one.file_size < LARGEST and wanted(one.filename):
                    yield one.filename, unpacked(one.filename, whole.read(one))
    else:
        yield from _of_tar(io.BytesIO(path.read_bytes()))


def _of_tar(data: io.BytesIO) -> Iterator[tuple[str, bytes]]:
    """Yield names and contents of the members of a tar archive that may contain prose."""
    with tarfile.open(fileobj=data) as whole:
        for one in whole:
            if one.isfile() and one.size < LARGEST and wanted(one.name):
                read = whole.extractfile(one)
                if read is not None:
                    yield one.name, unpacked(one.name, read.read())


def wanted(name: str) -> bool:
    """Return whether a file may contain prose."""
    return bool(READ.search(name) and not LEFT.search(name)) or name.endswith("data/Rdata.rdb")


def unpacked(name: str, data: bytes) -> bytes:
    """Return the decompressed content of the file."""
    return gzip.decompress(data) if name.endswith(".gz") else data


def paragraphs(name: str, data: bytes) -> Iterator[str]:
    """Yield the prose of a file, paragraph by paragraph."""
    name = name.removesuffix(".gz")
    text = data.decode("utf-8", "replace")
    if name.endswith(".rdb"):
        text = "\n\n".join(_of_rdb(data))
    elif name.endswith(".json"):
        text = "\n\n".join(of_html(one) for one in _strings(json.loads(text)))
    elif re.search(r"\.x?html?$", name):
        text = of_html(text)
    elif re.search(r"data\.(?:noun|verb|adj|adv)$", name):
        text = "\n\n".join(line.split(" | ")[-1] for line in text.splitlines() if " | " in line)
    kind = "markdown" if name.endswith(".md") else "rst" if name.endswith(".rst") else "text"
    for one in BREAKS.split(blank_non_prose(text, kind)):
        if english(one):
            yield " ".join(one.split())


def of_html(text: str) -> str:
    """Paragraphs of a page; literals are holes."""
    text = LITERAL.sub(NON_PROSE, GONE.sub("\n\n", text))
    return html.unescape(TAG.sub("\n\n", INLINE.sub("", text))).replace("¶", "")


def _strings(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for one in value.values():
            yield from _strings(one)
    elif isinstance(value, list):
        for one in value:
            yield from _strings(one)


def _of_rdb(data: bytes) -> Iterator[str]:
    """Texts of an R database of serialised vectors of lines."""
    at = 0
    while at + 5 < len(data):
        try:
            opened = zlib.decompressobj()
            whole = opened.decompress(data[at + 4 :])
            at = len(data) - len(opened.unused_data)
        except zlib.error:
            at += 1
            continue
        lines = re.findall(rb"(?s)\x00\x04\x00\x09\x00\x00\x00.([^\x00]*)", whole)
        yield "\n".join(line.decode("utf-8", "replace") for line in lines)


def english(text: str) -> bool:
    """Return whether a paragraph is English prose, judged by its commonest words."""
    words = text.lower().split()
    if not SHORTEST <= len(words) <= LONGEST:
        return False
    return sum(word in COMMON for word in words) >= SHARE * len(words)


def of_pubmed(data: Path) -> Iterator[str]:
    """Articles and abstracts of the shared data; only weights may come of them."""
    for path in (data / "pubmed" / f"{name}.jsonl.gz" for name in PUBMED_FILES):
        with gzip.open(path, "rt", encoding="utf-8") as lines:
            for line in lines:
                for one in json.loads(line)["text"].split("\n"):
                    kept = blank_non_prose(one)
                    if english(kept):
                        yield " ".join(kept.split())


def write(cache: Path, data: Path) -> None:
    """Write one file of paragraphs per package, each paragraph once."""
    seen: set[int] = set()
    folder = cache / "texts"
    folder.mkdir(parents=True, exist_ok=True)
    for package in packages():
        read = (
            p for name, data_ in members(fetched(package, cache)) for p in paragraphs(name, data_)
        )
        _write(folder / f"{package.group}__{package.name.replace('/', '-')}.txt", read, seen)
    if (data / "pubmed").is_dir():
        _write(folder / "biomedicine__pubmed.txt", of_pubmed(data), seen)


def _write(path: Path, texts: Iterator[str], seen: set[int]) -> None:
    if path.exists():
        seen.update(hash(one) for one in path.read_text(encoding="utf-8").split("\n\n"))
        return
    kept = []
    try:
        for one in texts:
            if hash(one) not in seen:
                seen.add(hash(one))
                kept.append(one)
    except (ValueError, OSError, EOFError) as error:
        sys.stderr.write(f"{path.name}: {error}\n")
    path.write_text("\n\n".join(kept), encoding="utf-8", errors="replace")
    sys.stderr.write(f"{path.name}: {sum(map(len, map(str.split, kept)))} words\n")


if __name__ == "__main__":
    write(Path(sys.argv[1]), Path(sys.argv[2]))
