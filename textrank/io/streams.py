"""Reading line by line, and writing so that nothing half-made remains."""

from __future__ import annotations

import gzip
import io
import os
import warnings
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, TypeVar

from textrank.io.files import LIMIT, open_bytes

LONGEST_LINE = 256 << 20  # bytes; a file without line ends is not a file of lines

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


@dataclass
class Selection:
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


_selection: ContextVar[Selection | None] = ContextVar("textrank_selection", default=None)


@contextmanager
def selecting(selection: Selection) -> Iterator[None]:
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


def parsed(
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
