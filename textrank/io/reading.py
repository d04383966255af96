"""Opening what a user names: plain or gzip, bounded in what is held, errors that name the file.

Two bounds hold everywhere. ``limit`` is what may be held at once: a line, a document, a text.
``RATIO`` is how far a packed file may grow: a file that is large on disk may be large in memory,
one that only pretends to be small may not.
"""

from __future__ import annotations

import codecs
import gzip
import io
import json
import re
import warnings
import zlib
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from importlib.resources import files
from pathlib import Path
from typing import IO, Any, TypeVar
from xml.etree.ElementTree import Element, ParseError
from xml.sax.saxutils import escape, quoteattr

from defusedxml import DefusedXmlException
from defusedxml.ElementTree import iterparse

MAX_ITEM_BYTES = 8 << 20  # bytes held at once: of a document, a line, a text
MAX_UNPACKED_BYTES = 64 << 20  # bytes that any packed file may unpack to
MAX_UNPACK_RATIO = 100  # and how many times its size a larger one may; text reaches 30, a bomb 1000
CHUNK_BYTES = 1 << 18


class BoundedStream(io.RawIOBase):
    """A stream that refuses to give more than it may: in all, and since the last ``mark``."""

    def __init__(self, stream: IO[bytes], path: Path, total: float, limit: float) -> None:
        self._stream, self._path, self._total, self._limit = stream, path, total, limit
        self._read = self._since = 0

    def readable(self) -> bool:
        """Yes: it is read."""
        return True

    def mark(self) -> None:
        """What was given so far is no longer held."""
        self._since = 0

    def read(self, size: int = -1) -> bytes:
        """At most ``size`` bytes; an error where that would be too many in all."""
        return self._counted(
            self._stream.read(min(CHUNK_BYTES, size) if size >= 0 else CHUNK_BYTES)
        )

    def readline(self, size: int | None = -1) -> bytes:
        """The next line; ``mark`` is implied, for lines are taken one by one."""
        self.mark()
        most = int(min(self._limit, self._total - self._read)) + 1
        return self._counted(self._stream.readline(most if not size or size < 0 else size))

    def _counted(self, data: bytes) -> bytes:
        self._read += len(data)
        self._since += len(data)
        if self._read > self._total:
            raise ValueError(
                f"{self._path}: unpacks to more than {int(self._total):,} bytes, far more than its "
                "size lets expect. Unpack it yourself if you trust it."
            )
        if self._since > self._limit:
            raise ValueError(
                f"{self._path}: more than {int(self._limit):,} bytes after unpacking would have to "
                f"be held at once, from byte {self._read - self._since:,} on. Split what stands "
                "there, or raise the limit (--max-bytes, or the reader's setting)."
            )
        return data


@contextmanager
def open_bytes(path: str | Path, limit: float = float("inf")) -> Iterator[BoundedStream]:
    """The bytes of a file, unpacked where its first two say gzip; errors name the file.

    ``limit`` bounds what is read between two calls of ``mark``. Whatever goes wrong while the
    caller reads (a truncated or damaged archive) leaves as a ``ValueError`` too, so a reader needs
    no handling of its own.
    """
    path = Path(path)
    try:
        with path.open("rb") as raw:
            total = float("inf")
            stream: IO[bytes] = raw
            if raw.peek(2)[:2] == b"\x1f\x8b":
                total = max(MAX_UNPACKED_BYTES, MAX_UNPACK_RATIO * _file_size(raw))
                stream = gzip.GzipFile(fileobj=raw)  # type: ignore[assignment]
            yield BoundedStream(stream, path, total, limit)
    except FileNotFoundError as error:
        raise ValueError(f"{path}: no such file. Check the path.") from error
    except IsADirectoryError as error:
        raise ValueError(f"{path}: a folder, not a file. Name a file inside it.") from error
    except PermissionError as error:
        raise ValueError(f"{path}: cannot be read: {error.strerror}.") from error
    except EOFError as error:
        raise ValueError(f"{path}: the gzip file is truncated. Copy or unpack it again.") from error
    except (gzip.BadGzipFile, zlib.error) as error:
        raise ValueError(f"{path}: damaged gzip file ({error}). Copy it again.") from error


def _file_size(raw: IO[bytes]) -> int:
    try:
        return raw.seek(0, 2)
    except OSError:  # a pipe has no size
        return 0
    finally:
        if raw.seekable():
            raw.seek(0)


def read_bytes(path: str | Path, limit: float = MAX_ITEM_BYTES) -> bytes:
    """All bytes of a file, unpacked where need be, at most ``limit``."""
    with open_bytes(path, limit) as stream:
        return b"".join(iter(lambda: stream.read(CHUNK_BYTES), b""))


def read_text(path: str | Path, limit: float = MAX_ITEM_BYTES) -> str:
    """The text of a file, which must be UTF-8."""
    try:
        return read_bytes(path, limit).decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise ValueError(
            f"{path}, byte {error.start}: not UTF-8 ({error.reason}). Convert the file to UTF-8."
        ) from None


UNDECODED_BYTE = re.compile(r"[\udc80-\udcff]")


def iter_lines(path: str | Path, limit: float = MAX_ITEM_BYTES) -> Iterator[tuple[int, str]]:
    """Numbered lines of a file, plain or gzip, without their line ends.

    Only ``\\n`` and ``\\r\\n`` end a line: the other separators of Unicode occur inside texts. What
    is not UTF-8 is let through for ``check_utf8`` to find, so that one bad line can be skipped.
    """
    with open_bytes(path, limit) as stream:
        number = 0
        while line := stream.readline():
            number += 1
            line = line.removesuffix(b"\n").removesuffix(b"\r")
            coding = "utf-8-sig" if number == 1 else "utf-8"
            yield number, line.decode(coding, errors="surrogateescape")


def check_utf8(text: str, place: str) -> str:
    """The text itself, unless ``lines`` met bytes that are no UTF-8 there."""
    if found := UNDECODED_BYTE.search(text):
        start = len(text[: found.start()].encode("utf-8", errors="surrogateescape"))
        raise ValueError(
            f"{place}, byte {start}: not UTF-8 (0x{ord(found.group()) - 0xDC00:02x}). Convert the "
            "file to UTF-8."
        )
    return text


def load_json(text: str, place: str) -> Any:
    """The value of a JSON text; whatever is wrong with it is told with its place."""
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        where = f", column {error.colno}" if "\n" not in text else f", line {error.lineno}"
        raise ValueError(f"{place}{where}: not JSON ({error.msg}). Correct it.") from None
    except RecursionError:
        raise ValueError(f"{place}: JSON nested too deeply. Flatten it.") from None
    except ValueError as error:  # a number of thousands of digits
        raise ValueError(f"{place}: {error}. Correct the number.") from None


def read_json(path: str | Path, limit: float = MAX_ITEM_BYTES) -> Any:
    """The value of a JSON file."""
    return load_json(read_text(path, limit), str(path))


def iter_json_items(
    path: str | Path, keys: Sequence[str], limit: float = MAX_ITEM_BYTES
) -> Iterator[Any]:
    """The values of the list that a JSON file is, or has under one of ``keys``, one by one.

    Only one is held at a time. A file without such a list is one value itself.
    """
    names = "|".join(map(re.escape, keys))
    head = re.compile(rf'\s*(?:\[|\{{.*?(?<!\\)"(?:{names})"\s*:\s*\[)', re.DOTALL)
    with open_bytes(path, limit) as stream:
        window = _JsonWindow(stream, str(path))
        while not (found := head.match(window.text)):
            if not window.more():
                yield load_json(window.text, str(path))
                return
        window.at = found.end()
        while window.item_follows():
            yield window.item()


@dataclass
class _JsonWindow:
    """The part of a JSON file that is held, and the place reached in it."""

    stream: BoundedStream
    place: str
    text: str = ""
    at: int = 0
    decoder: codecs.IncrementalDecoder = field(
        default_factory=codecs.getincrementaldecoder("utf-8-sig")
    )

    def more(self) -> bool:
        """Reads as much again as is held; false at the end of the file."""
        parts = [self.text[self.at :]]
        wanted = max(CHUNK_BYTES, len(parts[0]))
        try:
            while wanted > 0 and (data := self.stream.read(wanted)):
                parts.append(self.decoder.decode(data))
                wanted -= len(data)
        except UnicodeDecodeError as error:
            raise ValueError(
                f"{self.place}: not UTF-8 ({error.reason}). Convert the file to UTF-8."
            ) from None
        self.text, self.at = "".join(parts), 0
        return len(parts) > 1

    def item_follows(self) -> bool:
        """Whether another value begins here, and not the end of the list."""
        while True:
            while self.text[self.at : self.at + 1] in (" ", "\t", "\r", "\n", ","):
                self.at += 1
            if self.at < len(self.text):
                return self.text[self.at] != "]"
            if not self.more():
                raise ValueError(f"{self.place}: ends inside a list. The file may be truncated.")

    def item(self) -> Any:
        """The value that begins here; what was held for it is free."""
        while True:
            try:
                value, self.at = json.JSONDecoder().raw_decode(self.text, self.at)
                self.stream.mark()
                return value
            except json.JSONDecodeError as error:
                if not self.more():
                    raise ValueError(
                        f"{self.place}: not JSON ({error.msg}) near "
                        f"{self.text[max(error.pos - 20, 0) : error.pos + 20]!r}. Correct it."
                    ) from None
            except RecursionError:
                raise ValueError(f"{self.place}: JSON nested too deeply. Flatten it.") from None
            except ValueError as error:  # a number of thousands of digits
                raise ValueError(f"{self.place}: {error}. Correct the number.") from None


S = TypeVar("S")
T = TypeVar("T")


@dataclass
class ItemFilter:
    """Which items of the files that are read are wanted, asked for and counted as they come.

    Whoever reads a file in parts sets it with ``selecting``. Items that are not wanted are never
    parsed; those that cannot be are told to ``failed`` with their number, and reading goes on.
    """

    wants: Callable[[int], bool]
    failed: Callable[[int, str], None]
    number: int = 0  # of the next item
    taken: deque[int] = field(default_factory=deque)  # numbers of what was parsed, until fetched

    def read(self, item: S, parse: Callable[[S], T]) -> T | None:
        """The item parsed; None where it is not wanted or wrong."""
        number, self.number = self.number, self.number + 1
        if not self.wants(number):
            return None
        try:
            value = parse(item)
        except (ValueError, LookupError, TypeError, RecursionError) as error:
            self.failed(number, str(error) or type(error).__name__)
            return None
        self.taken.append(number)
        return value


_selection: ContextVar[ItemFilter | None] = ContextVar("textrank_selection", default=None)


@contextmanager
def selecting(selection: ItemFilter) -> Iterator[None]:
    """Inside this block, readers give only what is wanted, and give it as it stands in the file.

    What they give is not analysed, not even into sentences: that is left to the caller.
    """
    token = _selection.set(selection)
    try:
        yield
    finally:
        _selection.reset(token)


def is_selecting() -> bool:
    """Whether somebody reads files in parts now."""
    return _selection.get() is not None


def parse_items(
    items: Iterable[S], parse: Callable[[S], T], *, path: str, skip_bad: bool
) -> Iterator[T]:
    """``parse`` of each item; with ``skip_bad`` the bad ones are left out, counted in a warning.

    A file without any item is an error: an empty corpus is a mistake somewhere.
    """
    if (selection := _selection.get()) is not None:
        found = (selection.read(item, parse) for item in items)
        yield from (value for value in found if value is not None)
        return
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


INVALID_XML_CHARACTER = re.compile(r"[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
MAX_XML_DEPTH = 200  # elements within elements


def iter_elements(
    path: str | Path, tag: str | tuple[str, ...], limit: float = MAX_ITEM_BYTES
) -> Iterator[Element]:
    """The elements of one name or some, each dropped from memory after use; entities are refused.

    A DOCTYPE that only names a DTD is common and harmless, as nothing of it is fetched.
    """
    wanted = (tag,) if isinstance(tag, str) else tag
    with open_bytes(path, limit) as stream:
        try:
            open_: list[Element] = []  # the elements around the place reached
            for event, element in iterparse(stream, events=("start", "end"), forbid_dtd=False):
                if event == "start":
                    open_.append(element)
                    if len(open_) > MAX_XML_DEPTH:
                        raise ValueError(
                            f"{path}: elements nested deeper than {MAX_XML_DEPTH}. Flatten the file"
                        )
                    continue
                open_.pop()
                if element.tag in wanted:
                    yield element
                    stream.mark()
                    for around in open_:
                        del around[:]
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


def format_xml_attributes(**values: str) -> str:
    """XML attributes, each with a blank before it."""
    return "".join(f" {name}={quoteattr(check_xml_text(value))}" for name, value in values.items())


def escape_xml_text(text: str) -> str:
    """Text between XML tags; a bare carriage return would come back as a newline."""
    return escape(check_xml_text(text), {"\r": "&#13;"})


def replace_invalid_xml(value: Any) -> Any:
    """A text with every character that XML lacks replaced; anything else as it is."""
    return INVALID_XML_CHARACTER.sub("\ufffd", value) if isinstance(value, str) else value


def check_xml_text(text: str) -> str:
    """The text itself, unless XML has no way to write one of its characters."""
    if found := INVALID_XML_CHARACTER.search(text):
        raise ValueError(
            f"character U+{ord(found.group()):04X} at {found.start()} of {text[:40]!r} cannot be "
            "written in XML. Remove it, or write JSON lines."
        )
    return text


def shipped_folder(kind: str) -> Path:
    """``pipelines`` or ``models``: inside the installed package, or beside it in a source folder.

    Python started in the root of the repository finds the source folder before the installed
    package, and there these two stand beside ``textrank``, not inside it.
    """
    try:
        return Path(str(files(f"textrank.{kind}")))
    except ModuleNotFoundError:
        beside = Path(__file__).resolve().parents[2] / kind
        if (beside / "__init__.py").is_file():
            return beside
        raise ValueError(
            f"the {kind} that come with textrank are missing from {Path(__file__).parents[1]}. "
            "Install the package, or start Python in another folder."
        ) from None
