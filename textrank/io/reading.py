"""Bounded reading of files that users name, plain or gzip, with errors that name the file.

Two limits hold everywhere. ``limit`` bounds what is held in memory at once: one line, one document,
one text. ``MAX_UNPACK_RATIO`` bounds how far a compressed file may grow, which stops decompression
bombs.

- Whole files: ``read_bytes``, ``read_text``, ``read_json``.
- Item by item: ``iter_lines``, ``iter_json_items``, ``iter_elements`` (XML).
- ``parse_items`` parses items one by one, skips bad ones, and with an ``ItemFilter`` reads only
  part of a file.
- XML output: ``format_xml_attributes``, ``escape_xml_text``.

Everything that is wrong with a file is raised as ValueError.
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
from dataclasses import dataclass, field
from importlib.resources import files
from pathlib import Path
from typing import IO, Any, TypeVar
from xml.etree.ElementTree import Element, ParseError
from xml.sax.saxutils import escape, quoteattr

from defusedxml import DefusedXmlException
from defusedxml.ElementTree import iterparse

DEFAULT_ENCODING = "utf-8"
SAMPLES = "corpora"  # folder of the sample corpora
MAX_ITEM_BYTES = 8 << 20  # of one document, line or text held in memory
MAX_UNPACKED_BYTES = 64 << 20  # that any compressed file may unpack to
MAX_UNPACK_RATIO = 100  # and how many times its size a larger one may; text reaches 30, a bomb 1000
CHUNK_BYTES = 1 << 18


# Bounded streams and whole files ------------------------------------------------------------------


class BoundedStream(io.RawIOBase):
    """Binary stream that raises ValueError when more is read than allowed.

    Parameters
    ----------
    stream
        Stream to read from, already decompressed.
    path
        File name for messages.
    total
        Largest number of bytes in all.
    limit
        Largest number of bytes since the last call of ``start_item``.
    """

    def __init__(self, stream: IO[bytes], path: Path, total: float, limit: float) -> None:
        """Wrap a decompressed stream; ``path`` is the file name for messages.

        ``total`` is the largest number of bytes in all, ``limit`` that since the last
        ``start_item``.
        """
        self._stream, self._path, self._total, self._limit = stream, path, total, limit
        self._total_bytes = self._item_bytes = 0

    def readable(self) -> bool:
        """Return True."""
        return True

    def start_item(self) -> None:
        """Reset the count of the current item: what was read so far is no longer held."""
        self._item_bytes = 0

    def read(self, size: int = -1) -> bytes:
        """Return at most ``size`` bytes, and never more than ``CHUNK_BYTES``; b"" at the end.

        A negative ``size`` means ``CHUNK_BYTES``, not the whole stream. Raises ValueError above a
        limit.
        """
        return self._count(self._stream.read(min(CHUNK_BYTES, size) if size >= 0 else CHUNK_BYTES))

    def readline(self, size: int | None = -1) -> bytes:
        """Return the next line with its line end, b"" at the end; each line counts as a new item.

        At most ``size`` bytes are returned; None, 0 and negative numbers mean the whole line.
        Raises ValueError if the line is longer than ``limit``.
        """
        self.start_item()
        max_bytes = int(min(self._limit, self._total - self._total_bytes)) + 1
        return self._count(self._stream.readline(max_bytes if not size or size < 0 else size))

    def _count(self, data: bytes) -> bytes:
        """Add the length of ``data`` to both counts and return ``data``.

        Raises ValueError if more than ``total`` bytes were read in all, or more than ``limit``
        since the last ``start_item``.
        """
        self._total_bytes += len(data)
        self._item_bytes += len(data)
        if self._total_bytes > self._total:
            raise ValueError(
                f"{self._path}: unpacks to more than {int(self._total):,} bytes, suspiciously many "
                "for its size. Unpack it yourself if you trust it."
            )
        if self._item_bytes > self._limit:
            raise ValueError(
                f"{self._path}: the item from byte {self._total_bytes - self._item_bytes:,} on has "
                f"more than {int(self._limit):,} bytes after unpacking. Split it, or raise the "
                "limit (--max-bytes, or the reader's setting)."
            )
        return data


@contextmanager
def open_bytes(path: str | Path, limit: float = float("inf")) -> Iterator[BoundedStream]:
    """Open a file for bounded reading, decompressed if it starts as a gzip file does.

    Use it as ``with open_bytes(path) as stream``. A gzip file may unpack to ``MAX_UNPACKED_BYTES``
    or to ``MAX_UNPACK_RATIO`` times its size, whichever is more.

    Parameters
    ----------
    path
        File to read.
    limit
        Largest number of bytes between two calls of ``BoundedStream.start_item``; by default there
        is none.

    Raises
    ------
    ValueError
        If the file cannot be opened, and also if it proves truncated or damaged while the block
        reads it, so that callers need no handling of their own.
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
    """Return the size of an open file in bytes and rewind it to the start; 0 for a pipe."""
    try:
        return raw.seek(0, 2)
    except OSError:  # a pipe has no size
        return 0
    finally:
        if raw.seekable():
            raw.seek(0)


def read_bytes(path: str | Path, limit: float = MAX_ITEM_BYTES) -> bytes:
    """Return all bytes of a file, decompressed; raise ValueError if there are over ``limit``.

    Also raises ValueError if the file cannot be read or is a damaged gzip file.
    """
    with open_bytes(path, limit) as stream:
        return b"".join(iter(lambda: stream.read(CHUNK_BYTES), b""))


def read_text(
    path: str | Path, limit: float = MAX_ITEM_BYTES, encoding: str = DEFAULT_ENCODING
) -> str:
    """Return the text of a file, plain or gzip, without a byte order mark.

    Line ends are kept as they are. Raises ValueError if the file cannot be read, has over ``limit``
    bytes after unpacking or is not in this encoding.
    """
    return decode_text(read_bytes(path, limit), str(path), encoding)


def decode_text(data: bytes, source: str, encoding: str = DEFAULT_ENCODING) -> str:
    """Decode bytes; ``source`` names them in errors.

    A byte order mark of UTF-8 is dropped if ``encoding`` is the default. Raises ValueError if the
    bytes are not in this encoding, or Python does not know it.
    """
    check_encoding(encoding)
    try:
        return data.decode("utf-8-sig" if encoding == DEFAULT_ENCODING else encoding)
    except UnicodeDecodeError as error:
        name = "UTF-8" if encoding == DEFAULT_ENCODING else encoding
        raise ValueError(
            f"{source}, byte {error.start}: not {name} ({error.reason}). Convert it to UTF-8, or "
            "name the encoding of plain text with --encoding."
        ) from None


def check_encoding(encoding: str) -> None:
    """Raise ValueError unless ``encoding`` is a text encoding that Python knows."""
    try:
        is_text = codecs.lookup(encoding)._is_text_encoding
    except (LookupError, ValueError):
        is_text = False
    if not is_text:
        raise ValueError(f"no encoding {encoding!r}. Examples: utf-8, latin-1, cp1252, utf-16.")


# Numbers and references ---------------------------------------------------------------------------

_LONG_REFERENCE = re.compile(r"&#(?:[0-9]{8,}|[xX][0-9a-fA-F]{8,});?")


def parse_digits(text: str, max_digits: int = 9) -> int | None:
    """Return the number that ``text`` is, or None unless it is 1 to ``max_digits`` ASCII digits.

    White space around it is ignored. ``str.isdigit`` also accepts characters that ``int`` refuses,
    and ``int`` refuses thousands of digits.

    >>> parse_digits(" 2001 "), parse_digits("²"), parse_digits("9" * 5000)
    (2001, None, None)
    """
    digits = text.strip()
    is_number = digits.isascii() and digits.isdigit() and len(digits) <= max_digits
    return int(digits) if is_number else None


def replace_long_references(text: str) -> str:
    """Replace numeric character references of eight digits or more by U+FFFD.

    No character has such a number, and ``html.unescape`` raises for thousands of digits.
    """
    return _LONG_REFERENCE.sub("\ufffd", text)


# Lines and JSON -----------------------------------------------------------------------------------

UNDECODED_BYTE = re.compile(r"[\udc80-\udcff]")


def iter_lines(path: str | Path, limit: float = MAX_ITEM_BYTES) -> Iterator[tuple[int, str]]:
    r"""Iterate over ``(number, line)`` of a file, plain or gzip; numbers start at 1.

    Lines come without their line ends, the first one without a byte order mark. Raises ValueError
    if the file cannot be read or a line has more than ``limit`` bytes.

    Only ``\n`` and ``\r\n`` end a line: other separators of Unicode occur inside texts. Bytes that
    are not UTF-8 are kept as surrogates for ``check_utf8`` to find, so that a caller can skip one
    bad line.
    """
    with open_bytes(path, limit) as stream:
        number = 0
        while line := stream.readline():
            number += 1
            line = line.removesuffix(b"\n").removesuffix(b"\r")
            encoding = "utf-8-sig" if number == 1 else "utf-8"
            yield number, line.decode(encoding, errors="surrogateescape")


class ItemBudget:
    """Count of the characters of an item that is gathered line by line.

    ``path`` names the file in messages; ``limit`` is the largest number of characters, which is at
    most that of bytes. A line counts at least ``LINE_COST``, since an object per line takes memory
    of its own.
    """

    LINE_COST = 100

    def __init__(self, path: str | Path, limit: float) -> None:
        """Begin with an empty item; ``path`` names the file in messages.

        ``limit`` is the largest number of characters of an item.
        """
        self.path, self.limit, self._size = path, limit, 0

    def start_item(self) -> None:
        """Begin a new item: the count is 0 again."""
        self._size = 0

    def add(self, line: str, first: int) -> None:
        """Count a line; raise ValueError if the item, which began at line ``first``, is too large.

        Call it for each line before more are kept. A line counts as its characters, at least
        ``LINE_COST``.
        """
        self._size += max(len(line), self.LINE_COST)
        if self._size > self.limit:
            raise ValueError(
                f"{self.path}, line {first}: the document that begins here has more than "
                f"{int(self.limit):,} bytes. Separate documents, or raise the limit (--max-bytes, "
                "or the reader's setting)."
            )


def check_utf8(text: str, location: str) -> str:
    """Return ``text``; raise ValueError if ``iter_lines`` read bytes in it that are not UTF-8.

    ``location`` (file and line) begins the message.
    """
    if match := UNDECODED_BYTE.search(text):
        start = len(text[: match.start()].encode("utf-8", errors="surrogateescape"))
        raise ValueError(
            f"{location}, byte {start}: not UTF-8 (0x{ord(match.group()) - 0xDC00:02x}). Convert "
            "the file to UTF-8."
        )
    return text


def load_json(text: str, location: str) -> Any:
    """Return the value of a JSON text.

    Raises ValueError if it is invalid, nested too deeply or has a number of too many digits;
    ``location`` (file, or file and line) begins the message.
    """
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        position = f", column {error.colno}" if "\n" not in text else f", line {error.lineno}"
        raise ValueError(f"{location}{position}: not JSON ({error.msg}). Correct it.") from None
    except RecursionError:
        raise ValueError(f"{location}: JSON nested too deeply. Flatten it.") from None
    except ValueError as error:  # a number of thousands of digits
        raise ValueError(f"{location}: {error}. Correct the number.") from None


def read_json(path: str | Path, limit: float = MAX_ITEM_BYTES) -> Any:
    """Return the value of a JSON file, plain or gzip.

    Raises ValueError if the file cannot be read, has over ``limit`` bytes after unpacking, is not
    UTF-8 or is not JSON.
    """
    return load_json(read_text(path, limit), str(path))


def iter_json_items(
    path: str | Path, keys: Sequence[str], limit: float = MAX_ITEM_BYTES
) -> Iterator[Any]:
    """Iterate over the parsed items of a large JSON list in file order, holding one at a time.

    The list is the whole file, or the first list in it that is the value of one of ``keys``, at any
    depth. What follows the list is not read. A file without such a list is yielded as one value.
    ``limit`` bounds the bytes of one item, and of what precedes the list.

    Raises
    ------
    ValueError
        If the file is not UTF-8, not JSON, or ends inside the list.
    """
    names = "|".join(map(re.escape, keys))
    head = re.compile(rf'\s*(?:\[|\{{.*?(?<!\\)"(?:{names})"\s*:\s*\[)', re.DOTALL)
    with open_bytes(path, limit) as stream:
        window = _JsonWindow(stream, str(path))
        while not (match := head.match(window.text)):
            if not window.read_more():
                yield load_json(window.text, str(path))
                return
        window.position = match.end()
        while window.move_to_item():
            yield window.parse_item()


_NUMBER_REST = re.compile(r"[0-9.eE+-]*")  # what may follow the beginning of a number


@dataclass
class _JsonWindow:
    """Part of a JSON file that is in memory, and the position of the parser in it.

    ``text`` is the part, ``position`` the index in it of the next character to parse. ``location``
    is the file name for messages.
    """

    stream: BoundedStream
    location: str
    text: str = ""
    position: int = 0
    decoder: codecs.IncrementalDecoder = field(
        default_factory=codecs.getincrementaldecoder("utf-8-sig")
    )

    def read_more(self) -> bool:
        """Drop what was parsed and double what is held, by at least ``CHUNK_BYTES``.

        Returns False if the file had no more. Raises ValueError if it is not UTF-8, or more is held
        than the stream allows.
        """
        parts = [self.text[self.position :]]
        wanted = max(CHUNK_BYTES, len(parts[0]))
        try:
            while wanted > 0 and (data := self.stream.read(wanted)):
                parts.append(self.decoder.decode(data))
                wanted -= len(data)
        except UnicodeDecodeError as error:
            raise ValueError(
                f"{self.location}: not UTF-8 ({error.reason}). Convert the file to UTF-8."
            ) from None
        self.text, self.position = "".join(parts), 0
        return len(parts) > 1

    def move_to_item(self) -> bool:
        """Move to the next value of the list and return True; return False at the end of the list.

        Blanks and commas are skipped. Raises ValueError if the file ends first.
        """
        while True:
            while self.text[self.position : self.position + 1] in (" ", "\t", "\r", "\n", ","):
                self.position += 1
            if self.position < len(self.text):
                return self.text[self.position] != "]"
            if not self.read_more():
                raise ValueError(f"{self.location}: ends inside a list. The file may be truncated.")

    def parse_item(self) -> Any:
        """Return the value at the current position and move behind it.

        Reads more of the file as needed, and starts a new item of the stream after the value.
        Raises ValueError if it is not JSON.
        """
        while True:
            try:
                value, end = json.JSONDecoder().raw_decode(self.text, self.position)
                length = end - self.position
                may_continue = not isinstance(value, str | list | dict | bool | None)
                if may_continue and _NUMBER_REST.fullmatch(self.text, end) and self.read_more():
                    continue  # the number may go on in the next chunk
                self.position += length
                self.stream.start_item()
                return value
            except json.JSONDecodeError as error:
                if not self.read_more():
                    raise ValueError(
                        f"{self.location}: not JSON ({error.msg}) near "
                        f"{self.text[max(error.pos - 20, 0) : error.pos + 20]!r}. Correct it."
                    ) from None
            except RecursionError:
                raise ValueError(f"{self.location}: JSON nested too deeply. Flatten it.") from None
            except ValueError as error:  # a number of thousands of digits
                raise ValueError(f"{self.location}: {error}. Correct the number.") from None


# Item by item -------------------------------------------------------------------------------------

S = TypeVar("S")
T = TypeVar("T")


@dataclass
class ItemFilter:
    """Selection of the items of a file to parse, by number.

    With a filter a reader parses only wanted items, reports items that it cannot parse to
    ``on_error`` and goes on. It does not split sentences that ``nlp`` leaves unset. Used to read
    one file in parts (``textrank.scale``).

    Attributes
    ----------
    wants
        ``wants(number)`` says whether to parse an item; the first item of a file has number 0.
    on_error
        ``on_error(number, reason)`` is called for an item that cannot be parsed.
    next_number
        Number of the next item; stays 0 if the reader does not support filters.
    parsed_numbers
        Numbers of the parsed items, in order; the caller removes them as it takes the items.
    """

    wants: Callable[[int], bool]
    on_error: Callable[[int, str], None]
    next_number: int = 0
    parsed_numbers: deque[int] = field(default_factory=deque)

    def parse(self, item: S, parse: Callable[[S], T]) -> T | None:
        """Return ``parse(item)``; None if the item is not wanted or cannot be parsed.

        Call it once for each item, in file order: it advances ``next_number``. The number of a
        parsed item is appended to ``parsed_numbers``; a ValueError, LookupError, TypeError or
        RecursionError of ``parse`` is passed to ``on_error``.
        """
        number, self.next_number = self.next_number, self.next_number + 1
        if not self.wants(number):
            return None
        try:
            value = parse(item)
        except (ValueError, LookupError, TypeError, RecursionError) as error:
            self.on_error(number, str(error) or type(error).__name__)
            return None
        self.parsed_numbers.append(number)
        return value


def parse_items(
    items: Iterable[S],
    parse: Callable[[S], T],
    *,
    path: str,
    skip_bad: bool,
    item_filter: ItemFilter | None = None,
) -> Iterator[T]:
    """Iterate over ``parse(item)`` for each item of a file, in file order.

    Parameters
    ----------
    items
        Unparsed items, in file order.
    parse
        Returns the value of an item, not None; raises ValueError for a bad one. Other errors are
        raised, except that an ``item_filter`` takes some of them too (see ``ItemFilter.parse``).
    path
        File name for messages.
    skip_bad
        Leave bad items out and count them in one warning at the end, instead of raising. A file
        with bad items only gives the warning and no item.
    item_filter
        Parse only what it wants; bad items are then reported to it and ``skip_bad`` is ignored.
        None parses everything.

    Raises
    ------
    ValueError
        For a bad item without ``skip_bad``, and for a file without any item (unless filtered).
    """
    if item_filter is not None:
        values = (item_filter.parse(item, parse) for item in items)
        yield from (value for value in values if value is not None)
        return
    errors: list[str] = []
    is_empty = True
    for item in items:
        try:
            value = parse(item)
        except ValueError as error:
            if not skip_bad:
                raise
            errors.append(str(error))
            continue
        is_empty = False
        yield value
    if is_empty and not errors:
        raise ValueError(f"{path}: no documents in this file. Is it empty, or of another format?")
    if errors:
        warnings.warn(f"{len(errors)} documents skipped, the first: {errors[0]}", stacklevel=2)


# XML ----------------------------------------------------------------------------------------------

INVALID_XML_CHARACTER = re.compile(r"[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
MAX_XML_DEPTH = 200


def iter_elements(
    path: str | Path, tag: str | tuple[str, ...], limit: float = MAX_ITEM_BYTES
) -> Iterator[Element]:
    """Iterate over the XML elements with a tag (or one of several), in constant memory.

    Elements come in the order of their end tags. Tags with a namespace are written ``{uri}name``.
    Each element is complete when it is yielded; it is taken out of the tree afterwards, with
    everything before it. So an element inside another wanted one is yielded first and is missing
    from the outer one. ``limit`` bounds the bytes between two wanted elements. A DOCTYPE is
    allowed, since no DTD is fetched; entity declarations are refused because they can expand
    without end.

    Raises
    ------
    ValueError
        If the file is not well-formed, declares entities, has an unknown encoding or is nested
        deeper than ``MAX_XML_DEPTH``, with line and column where known.
    """
    wanted = (tag,) if isinstance(tag, str) else tag
    with open_bytes(path, limit) as stream:
        try:
            ancestors: list[Element] = []
            for event, element in iterparse(stream, events=("start", "end"), forbid_dtd=False):
                if event == "start":
                    ancestors.append(element)
                    if len(ancestors) > MAX_XML_DEPTH:
                        raise ValueError(
                            f"{path}: elements nested deeper than {MAX_XML_DEPTH}. Flatten the file"
                        )
                    continue
                ancestors.pop()
                if element.tag in wanted:
                    yield element
                    stream.start_item()
                    for ancestor in ancestors:
                        del ancestor[:]
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
    """Return XML attributes as text, each preceded by a blank, in the order given.

    Values are quoted and escaped, names are not. "" without attributes. Raises ValueError if a
    value has a character that XML cannot hold.
    """
    return "".join(f" {name}={quoteattr(check_xml_text(value))}" for name, value in values.items())


def escape_xml_text(text: str) -> str:
    """Return ``text`` escaped for use between XML tags.

    Raises ValueError if it has a character that XML cannot hold.
    A carriage return is written as a character reference, because parsers turn a bare one into a
    newline.
    """
    return escape(check_xml_text(text), {"\r": "&#13;"})


def replace_invalid_xml(value: Any) -> Any:
    """Replace characters that XML cannot hold by U+FFFD; return non-strings unchanged."""
    return INVALID_XML_CHARACTER.sub("\ufffd", value) if isinstance(value, str) else value


def check_xml_text(text: str) -> str:
    """Return ``text``; raise ValueError if it has a character that XML cannot hold."""
    if match := INVALID_XML_CHARACTER.search(text):
        raise ValueError(
            f"character U+{ord(match.group()):04X} at {match.start()} of {text[:40]!r} cannot be "
            "written in XML. Remove it, or write JSON lines."
        )
    return text


# Shipped files ------------------------------------------------------------------------------------


def shipped_folder(kind: str) -> Path:
    """Return the folder ``kind`` of the installed package or the source tree.

    ``kind`` is "corpora", "models" or "pipelines". Python started in the root of the repository
    finds the source package before the installed one; there these folders are next to ``textrank``,
    not inside it.

    Raises
    ------
    ValueError
        If there is no such folder.
    """
    try:
        return Path(str(files(f"textrank.{kind}")))
    except ModuleNotFoundError:
        source_folder = Path(__file__).resolve().parents[2] / kind
        if (source_folder / "__init__.py").is_file():
            return source_folder
        raise ValueError(
            f"the {kind} that come with textrank are missing from {Path(__file__).parents[1]}. "
            "Install the package, or start Python in another folder."
        ) from None


def find_input(path: str | Path) -> Path:
    """Return an input path, or that of the shipped sample that it names.

    A path that does not exist names a sample if it is ``sample-ppi``, ``corpora/sample-ppi`` and so
    on, or a file of it without "..": samples come with the package, so that examples work in every
    folder. Other paths are returned unchanged, whether they exist or not.

    >>> find_input("corpora/sample-ppi").name
    'sample-ppi'
    """
    path = Path(path)
    parts = path.parts[1:] if path.parts[:1] == (SAMPLES,) else path.parts
    if path.exists() or not parts or ".." in parts or not parts[0].startswith("sample-"):
        return path
    shipped = shipped_folder(SAMPLES).joinpath(*parts)
    return shipped if shipped.exists() else path
