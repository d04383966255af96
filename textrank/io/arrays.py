"""Archives of strangers: what an entry says of its size is not believed."""

from __future__ import annotations

import io
import json
import math
import tarfile
import zipfile
import zlib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import IO, Any

import numpy as np
import scipy.sparse as sp

from textrank.features import Alternatives, Arrays, Features, Names, Viewed
from textrank.graphs import Contexts, GraphBatch, Sequences
from textrank.io.reading import CHUNK_BYTES, MAX_UNPACK_RATIO, MAX_UNPACKED_BYTES

ZIP_ERRORS = (
    zipfile.BadZipFile,
    zlib.error,
    EOFError,
    NotImplementedError,
    OverflowError,
    RuntimeError,
    UnicodeDecodeError,
)


def iter_zip_files(
    path: str | Path, suffix: str, limit: float = MAX_UNPACKED_BYTES
) -> Iterator[tuple[str, bytes]]:
    """The files of a zip archive with a suffix, in the order of their names.

    What an entry says of its size is not believed: bytes are counted as they come.
    """
    try:
        with zipfile.ZipFile(path) as archive:
            for entry in sorted(archive.infolist(), key=lambda e: e.filename):
                if entry.filename.endswith(suffix) and not entry.is_dir():
                    yield entry.filename, read_zip_entry(archive, entry, path, limit)
    except FileNotFoundError as error:
        raise ValueError(f"{path}: no such file. Check the path.") from error
    except OSError as error:
        raise ValueError(f"{path}: cannot be read: {error.strerror}.") from error
    except ZIP_ERRORS as error:
        raise ValueError(f"{path}: not a readable zip archive ({error}). Restore it.") from error


def read_zip_entry(
    archive: zipfile.ZipFile, entry: zipfile.ZipInfo, path: str | Path, limit: float
) -> bytes:
    """The bytes of one entry, at most ``limit``."""
    if entry.flag_bits & 1:
        raise ValueError(f"{path}: {entry.filename} is encrypted. Unpack it yourself.")
    if entry.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        raise ValueError(f"{path}: {entry.filename} is packed in an unknown way. Use deflate.")
    with archive.open(entry) as stream:
        return _read_bounded(stream, f"{path}: {entry.filename}", limit)


def iter_tar_files(
    path: str | Path, suffix: str, limit: float = MAX_UNPACKED_BYTES
) -> Iterator[tuple[str, bytes]]:
    """The files of a tar archive, packed or not, with a suffix, in the order of their names."""
    try:
        with tarfile.open(path, "r:*") as archive:
            for entry in sorted(archive.getmembers(), key=lambda e: e.name):
                stream = archive.extractfile(entry) if entry.isreg() else None
                if stream is not None and entry.name.endswith(suffix):
                    yield entry.name, _read_bounded(stream, f"{path}: {entry.name}", limit)
    except FileNotFoundError as error:
        raise ValueError(f"{path}: no such file. Check the path.") from error
    except (tarfile.TarError, zlib.error, EOFError, OSError) as error:
        raise ValueError(f"{path}: not a readable tar archive ({error}). Restore it.") from error


def _read_bounded(stream: IO[bytes], place: str, limit: float) -> bytes:
    parts: list[bytes] = []
    size = 0
    while part := stream.read(CHUNK_BYTES):
        parts.append(part)
        size += len(part)
        if size > limit:
            raise ValueError(
                f"{place} unpacks to more than {int(limit):,} bytes. Unpack it yourself if you "
                "trust it."
            )
    return b"".join(parts)


BATCH_CLASSES: dict[str, Any] = {"contexts": Contexts, "graphs": GraphBatch, "sequences": Sequences}


def write_arrays(file: Path, arrays: Mapping[str, Any]) -> None:
    """Arrays as a compressed npz, the same bytes every time."""
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, array in arrays.items():
            buffer = io.BytesIO()
            np.lib.format.write_array(buffer, np.asanyarray(array), allow_pickle=False)
            archive.writestr(
                zipfile.ZipInfo(f"{name}.npy"), buffer.getvalue(), zipfile.ZIP_DEFLATED
            )


def read_arrays(file: Path, limit: float | None = None) -> Arrays:
    """The arrays of an npz; an object array, which would run code, is refused.

    Sizes are counted as they are unpacked, whatever the file says of them: at most ``limit`` bytes
    in all, or what a file of its size may hold.
    """
    try:
        left = (
            max(MAX_UNPACKED_BYTES, MAX_UNPACK_RATIO * file.stat().st_size)
            if limit is None
            else limit
        )
        found: Arrays = {}
        with zipfile.ZipFile(file) as archive:
            for entry in archive.infolist():
                data = read_zip_entry(archive, entry, file, left)
                left -= len(data)
                found[entry.filename.removesuffix(".npy")] = _parse_npy(data, entry.filename)
        return found
    except FileNotFoundError:
        raise ValueError(f"{file}: missing. Restore it.") from None
    except MemoryError:
        raise
    except Exception as error:  # whatever a stranger's bytes do to zipfile and numpy
        raise ValueError(f"{file}: not readable as arrays ({error}). Restore it.") from error


def _parse_npy(data: bytes, name: str) -> Any:
    """One array of the npy format, whose header must fit its bytes."""
    stream = io.BytesIO(data)
    npy = np.lib.format
    version = npy.read_magic(stream)
    read = npy.read_array_header_1_0 if version == (1, 0) else npy.read_array_header_2_0
    shape, fortran, dtype = read(stream)
    count = math.prod(shape)
    if dtype.hasobject or count * dtype.itemsize != len(data) - stream.tell():
        raise ValueError(f"{name} has a shape {shape} of {dtype} that its bytes do not fill")
    if not count:
        return np.empty(shape, dtype)
    flat = np.frombuffer(data, dtype, count, stream.tell())
    return flat.reshape(shape, order="F" if fortran else "C").copy()


def pack_arrays(value: Any, name: str = "x") -> Arrays:
    """Representations as named arrays; ``unpack`` gives them back."""
    if isinstance(value, Viewed):
        parts = [pack_arrays(value.view(key), f"{name}/{key}") for key in value.views]
        return {f"{name}:views": _text(list(value.views)), **_merged(parts)}
    if isinstance(value, Features):
        return {
            f"{name}:features": np.array(1),
            **pack_arrays(value.values, f"{name}/values"),
            **{f"{name}/names/{key}": array for key, array in value.names.to_arrays().items()},
        }
    if sp.issparse(value):
        csr = sp.csr_array(value)
        return {
            f"{name}:sparse": np.array(csr.shape),
            f"{name}/data": csr.data,
            f"{name}/indices": csr.indices,
            f"{name}/indptr": csr.indptr,
        }
    if isinstance(value, Alternatives):
        grams = {f"{name}/gram{i}": K for i, K in enumerate(value.grams)}
        return {f"{name}:alternatives": _encode_json(list(map(dict, value.settings))), **grams}
    if isinstance(value, np.ndarray) and value.dtype != object:
        return {f"{name}:dense": value}
    for kind, batch in BATCH_CLASSES.items():
        if isinstance(value, batch):
            arrays = {f"{name}/{key}": array for key, array in value.to_arrays().items()}
            return {f"{name}:{kind}": np.array(1), **arrays}
    return {f"{name}:values": _encode_json(_check_json_list(value))}


def unpack_arrays(arrays: Mapping[str, Any], name: str = "x") -> Any:
    """What ``pack`` took apart."""
    if f"{name}:views" in arrays:
        keys = _words(arrays[f"{name}:views"])
        return Viewed({key: unpack_arrays(arrays, f"{name}/{key}") for key in keys})
    if f"{name}:features" in arrays:
        names = Names.from_arrays(_select_prefix(arrays, f"{name}/names/"))
        return Features(unpack_arrays(arrays, f"{name}/values"), names)
    if f"{name}:sparse" in arrays:
        parts = tuple(arrays[f"{name}/{part}"] for part in ("data", "indices", "indptr"))
        found = sp.csr_array(parts, shape=tuple(arrays[f"{name}:sparse"].tolist()))
        found.check_format(full_check=True)  # a column out of range would corrupt memory
        return found
    if f"{name}:alternatives" in arrays:
        settings = _decode_json(arrays[f"{name}:alternatives"])
        return Alternatives(settings, [arrays[f"{name}/gram{i}"] for i in range(len(settings))])
    if f"{name}:dense" in arrays:
        return arrays[f"{name}:dense"]
    for kind, batch in BATCH_CLASSES.items():
        if f"{name}:{kind}" in arrays:
            return batch.from_arrays(_select_prefix(arrays, f"{name}/"))
    if f"{name}:values" in arrays:
        return _check_json_list(_decode_json(arrays[f"{name}:values"]))
    raise ValueError(f"no representation {name!r} among the arrays. Restore the model.")


def _check_json_list(value: Any) -> list[Any]:
    """A list whose values are the same once they have been JSON."""
    try:
        if isinstance(value, list) and json.loads(json.dumps(value)) == value:
            return value
    except (TypeError, ValueError, RecursionError):
        pass
    inner = {type(item).__name__ for item in value} if isinstance(value, list) else set()
    kind = f"list of {', '.join(sorted(inner))}" if inner else type(value).__name__
    raise ValueError(
        f"a {kind} cannot be saved with a model. A representation may give a list of strings, "
        "numbers, or lists and dictionaries of them, arrays, or Features; a kernel with explicit "
        "features saves none."
    )


def _select_prefix(arrays: Mapping[str, Any], start: str) -> Arrays:
    return {k.removeprefix(start): v for k, v in arrays.items() if k.startswith(start)}


def _merged(parts: Sequence[Arrays]) -> Arrays:
    return {key: array for part in parts for key, array in part.items()}


def _text(words: Sequence[str]) -> Any:
    return _encode_json(list(words))


def _words(array: Any) -> list[str]:
    return [str(word) for word in _decode_json(array)]


def _encode_json(value: Any) -> Any:
    return np.frombuffer(json.dumps(value).encode(), dtype=np.uint8)


def _decode_json(array: Any) -> Any:
    try:
        return json.loads(array.astype(np.uint8).tobytes().decode())
    except RecursionError:
        raise ValueError("values nested too deeply") from None
