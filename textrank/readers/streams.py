"""Reading line by line and item by item, and writing so that nothing half-made remains."""

from __future__ import annotations

import gzip
import io
import os
import re
import warnings
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, TypeVar
from xml.etree.ElementTree import Element, ParseError
from xml.sax.saxutils import escape, quoteattr

from defusedxml import DefusedXmlException
from defusedxml.ElementTree import iterparse

from textrank.readers.files import LIMIT, open_bytes

LONGEST_LINE = 256 << 20  # bytes; a file without line ends is not a file of lines
NOT_XML = re.compile(r"[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")

S = TypeVar("S")
T = TypeVar("T")


def lines(path: str | Path, limit: int = LIMIT) -> Iterator[tuple[int, str]]:
    """Numbered lines of a UTF-8 file, plain or gzip, without their line ends.

    Only ``\\n`` and ``\\r\\n`` end a line: the other separators of Unicode occur inside texts.
    """
    rest, number = b"", 0
    with open_bytes(path, limit) as stream:
        while chunk := stream.read(1 << 20):
            *whole, rest = (rest + chunk).split(b"\n")
            for line in whole:
                number += 1
                yield number, _decoded(path, number, line)
            if len(rest) > LONGEST_LINE:
                raise ValueError(
                    f"{path}, line {number + 1}: longer than {LONGEST_LINE:,} bytes. "
                    "Is this a file of lines? Write one document a line."
                )
    if rest:
        yield number + 1, _decoded(path, number + 1, rest)


def _decoded(path: str | Path, number: int, line: bytes) -> str:
    try:
        return line.removesuffix(b"\r").decode("utf-8-sig" if number == 1 else "utf-8")
    except UnicodeDecodeError as error:
        raise ValueError(
            f"{path}, line {number}, byte {error.start}: not UTF-8 ({error.reason}). "
            "Convert the file to UTF-8."
        ) from None


def parsed(
    items: Iterable[S], parse: Callable[[S], T], *, path: str, skip_bad: bool
) -> Iterator[T]:
    """``parse`` of each item; with ``skip_bad`` the bad ones are left out, counted in a warning.

    A file without any item is an error: an empty corpus is a mistake somewhere.
    """
    bad: list[str] = []
    good = 0
    for item in items:
        try:
            value = parse(item)
        except ValueError as error:
            if not skip_bad:
                raise
            bad.append(str(error))
            continue
        good += 1
        yield value
    if not good and not bad:
        raise ValueError(f"{path}: no documents in this file. Is it empty, or of another format?")
    if bad:
        warnings.warn(f"{len(bad)} documents skipped, the first: {bad[0]}", stacklevel=2)


def elements(path: str | Path, tag: str, limit: int = LIMIT) -> Iterator[Element]:
    """The elements of one name, each dropped from memory after use; entities are refused.

    A DOCTYPE that only names a DTD is common and harmless, as nothing of it is fetched.
    """
    with open_bytes(path, limit) as stream:
        try:
            root: Element | None = None
            for event, element in iterparse(stream, events=("start", "end"), forbid_dtd=False):
                root = element if root is None else root
                if event == "end" and element.tag == tag:
                    yield element
                    root.clear()
        except ParseError as error:
            line, column = error.position
            raise ValueError(
                f"{path}, line {line}, column {column}: not well-formed XML ({error.msg}). "
                "The file may be truncated or of another format."
            ) from error
        except DefusedXmlException as error:
            raise ValueError(
                f"{path}: declares entities ({type(error).__name__}), which can expand without "
                "end and are refused. Remove the declarations from the DOCTYPE."
            ) from error
        except (LookupError, ValueError) as error:  # an encoding that Python or expat lacks
            if str(path) in str(error):
                raise
            raise ValueError(f"{path}: {error}. Convert the file to UTF-8.") from error


@contextmanager
def writing(path: str | Path) -> Iterator[IO[str]]:
    """A UTF-8 text file that appears under its name only when all of it is written."""
    with writing_bytes(path) as raw, io.TextIOWrapper(raw, encoding="utf-8", newline="") as text:
        yield text


@contextmanager
def writing_bytes(path: str | Path) -> Iterator[IO[bytes]]:
    """Bytes likewise; packed where the name ends in ``.gz``, without the time in the header."""
    path = Path(path)
    draft = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        with draft.open("wb") as raw:
            if path.suffix == ".gz":
                with gzip.GzipFile("", "wb", fileobj=raw, mtime=0) as packed:
                    yield packed  # type: ignore[misc]
            else:
                yield raw
        draft.replace(path)
    finally:
        draft.unlink(missing_ok=True)


def attributes(**values: str) -> str:
    """XML attributes, each with a blank before it."""
    return "".join(f" {name}={quoteattr(xml_text(value))}" for name, value in values.items())


def content(text: str) -> str:
    """Text between XML tags; a bare carriage return would come back as a newline."""
    return escape(xml_text(text), {"\r": "&#13;"})


def xml_text(text: str) -> str:
    """The text itself, unless XML has no way to write one of its characters."""
    if found := NOT_XML.search(text):
        raise ValueError(
            f"character U+{ord(found.group()):04X} at {found.start()} of {text[:40]!r} cannot be "
            "written in XML. Remove it, or write JSON lines."
        )
    return text
