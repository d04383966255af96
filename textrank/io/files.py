"""Opening what a user names: plain or gzip, bounded in size, with errors that name the file."""

from __future__ import annotations

import gzip
import io
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

LIMIT = 4 << 30  # bytes after unpacking; a small gzip can claim to be anything


class _Bounded(io.RawIOBase):
    """A stream that refuses to give more than it promised."""

    def __init__(self, stream: IO[bytes], path: Path, limit: int) -> None:
        self._stream, self._path, self._limit, self._read = stream, path, limit, 0

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1) -> bytes:
        data = self._stream.read(min(1 << 20, size) if size >= 0 else 1 << 20)
        self._read += len(data)
        if self._read > self._limit:
            raise ValueError(
                f"{self._path}: more than {self._limit:,} bytes after unpacking. "
                "Split the file, or raise the reader's limit if you trust it."
            )
        return data


@contextmanager
def open_bytes(path: str | Path, limit: int = LIMIT) -> Iterator[IO[bytes]]:
    """The bytes of a file, unpacked where its first two say gzip; errors name the file.

    Whatever goes wrong while the caller reads (a truncated or damaged archive) leaves as a
    ``ValueError`` too, so a reader needs no handling of its own.
    """
    path = Path(path)
    try:
        with path.open("rb") as raw:
            packed = raw.read(2) == b"\x1f\x8b"
            raw.seek(0)
            stream: IO[bytes] = gzip.GzipFile(fileobj=raw) if packed else raw  # type: ignore[assignment]
            yield _Bounded(stream, path, limit)  # type: ignore[misc]
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
