"""Reading line by line and item by item, as text and as JSON; errors name the place."""

from __future__ import annotations

import codecs
import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from textrank.io.files import CHUNK, LIMIT, Bounded, open_bytes, read_text

NOT_UTF8 = re.compile(r"[\udc80-\udcff]")


def lines(path: str | Path, limit: float = LIMIT) -> Iterator[tuple[int, str]]:
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
    if found := NOT_UTF8.search(text):
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


def read_json(path: str | Path, limit: float = LIMIT) -> Any:
    """The value of a JSON file."""
    return load_json(read_text(path, limit), str(path))


def json_items(path: str | Path, keys: Sequence[str], limit: float = LIMIT) -> Iterator[Any]:
    """The values of the list that a JSON file is, or has under one of ``keys``, one by one.

    Only one is held at a time. A file without such a list is one value itself.
    """
    names = "|".join(map(re.escape, keys))
    head = re.compile(rf'\s*(?:\[|\{{.*?(?<!\\)"(?:{names})"\s*:\s*\[)', re.DOTALL)
    with open_bytes(path, limit) as stream:
        window = _Window(stream, str(path))
        while not (found := head.match(window.text)):
            if not window.more():
                yield load_json(window.text, str(path))
                return
        window.at = found.end()
        while window.item_follows():
            yield window.item()


@dataclass
class _Window:
    """The part of a JSON file that is held, and the place reached in it."""

    stream: Bounded
    place: str
    text: str = ""
    at: int = 0
    decoder: codecs.IncrementalDecoder = field(
        default_factory=codecs.getincrementaldecoder("utf-8-sig")
    )

    def more(self) -> bool:
        """Reads as much again as is held; false at the end of the file."""
        parts = [self.text[self.at :]]
        wanted = max(CHUNK, len(parts[0]))
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
