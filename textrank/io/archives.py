"""Archives of strangers: what an entry says of its size is not believed."""

from __future__ import annotations

import tarfile
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import IO

from textrank.io.files import CHUNK, WHOLE

BROKEN = (
    zipfile.BadZipFile,
    zlib.error,
    EOFError,
    NotImplementedError,
    OverflowError,
    RuntimeError,
    UnicodeDecodeError,
)


def unzipped(path: str | Path, suffix: str, limit: float = WHOLE) -> Iterator[tuple[str, bytes]]:
    """The files of a zip archive with a suffix, in the order of their names.

    What an entry says of its size is not believed: bytes are counted as they come.
    """
    try:
        with zipfile.ZipFile(path) as archive:
            for entry in sorted(archive.infolist(), key=lambda e: e.filename):
                if entry.filename.endswith(suffix) and not entry.is_dir():
                    yield entry.filename, unzip(archive, entry, path, limit)
    except FileNotFoundError as error:
        raise ValueError(f"{path}: no such file. Check the path.") from error
    except OSError as error:
        raise ValueError(f"{path}: cannot be read: {error.strerror}.") from error
    except BROKEN as error:
        raise ValueError(f"{path}: not a readable zip archive ({error}). Restore it.") from error


def unzip(
    archive: zipfile.ZipFile, entry: zipfile.ZipInfo, path: str | Path, limit: float
) -> bytes:
    """The bytes of one entry, at most ``limit``."""
    if entry.flag_bits & 1:
        raise ValueError(f"{path}: {entry.filename} is encrypted. Unpack it yourself.")
    if entry.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        raise ValueError(f"{path}: {entry.filename} is packed in an unknown way. Use deflate.")
    with archive.open(entry) as stream:
        return _bounded(stream, f"{path}: {entry.filename}", limit)


def untarred(path: str | Path, suffix: str, limit: float = WHOLE) -> Iterator[tuple[str, bytes]]:
    """The files of a tar archive, packed or not, with a suffix, in the order of their names."""
    try:
        with tarfile.open(path, "r:*") as archive:
            for entry in sorted(archive.getmembers(), key=lambda e: e.name):
                stream = archive.extractfile(entry) if entry.isreg() else None
                if stream is not None and entry.name.endswith(suffix):
                    yield entry.name, _bounded(stream, f"{path}: {entry.name}", limit)
    except FileNotFoundError as error:
        raise ValueError(f"{path}: no such file. Check the path.") from error
    except (tarfile.TarError, zlib.error, EOFError, OSError) as error:
        raise ValueError(f"{path}: not a readable tar archive ({error}). Restore it.") from error


def _bounded(stream: IO[bytes], place: str, limit: float) -> bytes:
    parts: list[bytes] = []
    size = 0
    while part := stream.read(CHUNK):
        parts.append(part)
        size += len(part)
        if size > limit:
            raise ValueError(
                f"{place} unpacks to more than {int(limit):,} bytes. Unpack it yourself if you "
                "trust it."
            )
    return b"".join(parts)
