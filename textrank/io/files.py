"""Opening what a user names: plain or gzip, bounded in what is held, errors that name the file.

Two bounds hold everywhere. ``limit`` is what may be held at once: a line, a document, a text.
``RATIO`` is how far a packed file may grow: a file that is large on disk may be large in memory,
one that only pretends to be small may not.
"""

from __future__ import annotations

import gzip
import io
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

LIMIT = 8 << 20  # bytes held at once: of a document, a line, a text
WHOLE = 64 << 20  # bytes that any packed file may unpack to
RATIO = 100  # and how many times its size a larger one may; text reaches 30, a bomb 1000
CHUNK = 1 << 18


class Bounded(io.RawIOBase):
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
        return self._counted(self._stream.read(min(CHUNK, size) if size >= 0 else CHUNK))

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
def open_bytes(path: str | Path, limit: float = float("inf")) -> Iterator[Bounded]:
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
                total = max(WHOLE, RATIO * _size(raw))
                stream = gzip.GzipFile(fileobj=raw)  # type: ignore[assignment]
            yield Bounded(stream, path, total, limit)
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


def _size(raw: IO[bytes]) -> int:
    try:
        return raw.seek(0, 2)
    except OSError:  # a pipe has no size
        return 0
    finally:
        if raw.seekable():
            raw.seek(0)


def read_bytes(path: str | Path, limit: float = LIMIT) -> bytes:
    """All bytes of a file, unpacked where need be, at most ``limit``."""
    with open_bytes(path, limit) as stream:
        return b"".join(iter(lambda: stream.read(CHUNK), b""))


def read_text(path: str | Path, limit: float = LIMIT) -> str:
    """The text of a file, which must be UTF-8."""
    try:
        return read_bytes(path, limit).decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise ValueError(
            f"{path}, byte {error.start}: not UTF-8 ({error.reason}). Convert the file to UTF-8."
        ) from None
