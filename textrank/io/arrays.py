"""Arrays on disk (npz without pickle) and bounded reading of zip and tar archives.

``write_arrays`` and ``read_arrays`` store a mapping of names to NumPy arrays. ``pack_arrays`` and
``unpack_arrays`` convert a representation (dense or sparse matrix, Features, views, graphs,
sequences, plain lists) to such a mapping and back, so that a model can save it.

Archives may come from strangers: the uncompressed size that an entry declares is ignored, bytes are
counted while they are unpacked, and object arrays, which would run code, are refused.
"""

from __future__ import annotations

import io
import json
import math
import tarfile
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import IO, Any

import numpy as np
import scipy.sparse as sp

from textrank.features import Arrays, FeatureNames, Features, GramAlternatives, MultiView
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


# Archives -----------------------------------------------------------------------------------------


def iter_zip_files(
    path: str | Path, suffix: str, limit: float = MAX_UNPACKED_BYTES
) -> Iterator[tuple[str, bytes]]:
    """Iterate over ``(name, bytes)`` of the files in a zip archive, sorted by name.

    Names include folders inside the archive. Nothing is written to disk.

    Parameters
    ----------
    path
        The archive.
    suffix
        Only files whose name ends with this are read.
    limit
        Largest number of uncompressed bytes per file.

    Raises
    ------
    ValueError
        If the archive cannot be read or a file is encrypted or larger than ``limit``.
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
    """Return the uncompressed bytes of a zip entry; raise ValueError above ``limit`` bytes.

    Also raises ValueError if the entry is encrypted or its compression is neither none nor deflate.
    ``path`` names the archive in messages.
    """
    if entry.flag_bits & 1:
        raise ValueError(f"{path}: {entry.filename} is encrypted. Unpack it yourself.")
    if entry.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        raise ValueError(f"{path}: {entry.filename} uses an unsupported compression. Use deflate.")
    with archive.open(entry) as stream:
        # In one piece if the declared size is true, so that no pieces have to be joined.
        whole = int(min(entry.file_size, limit)) + 1
        return _read_bounded(stream, f"{path}: {entry.filename}", limit, max(whole, CHUNK_BYTES))


def iter_tar_files(
    path: str | Path, suffix: str, limit: float = MAX_UNPACKED_BYTES
) -> Iterator[tuple[str, bytes]]:
    """Iterate over ``(name, bytes)`` of the files in a tar archive, sorted by name.

    The archive may be compressed in any way Python knows. Only files whose name ends with
    ``suffix`` are read; links and devices are skipped. Raises ValueError if the archive cannot be
    read or a file has more than ``limit`` bytes.
    """
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


def _read_bounded(
    stream: IO[bytes], location: str, limit: float, chunk_size: int = CHUNK_BYTES
) -> bytes:
    """Read a stream to its end, in pieces of at most ``chunk_size`` bytes, and return its bytes.

    Raises ValueError that begins with ``location`` as soon as more than ``limit`` bytes were read.
    """
    chunks: list[bytes] = []
    size = 0
    while chunk := stream.read(chunk_size):
        chunks.append(chunk)
        size += len(chunk)
        if size > limit:
            raise ValueError(
                f"{location} unpacks to more than {int(limit):,} bytes. Unpack it yourself if you "
                "trust it."
            )
    return b"".join(chunks)


BATCH_CLASSES: dict[str, Any] = {"contexts": Contexts, "graphs": GraphBatch, "sequences": Sequences}


# Arrays in npz files ------------------------------------------------------------------------------


def write_arrays(file: Path, arrays: Mapping[str, Any]) -> None:
    """Write arrays by name as a compressed npz file; equal arrays give equal bytes.

    An existing file is overwritten. Raises ValueError for object arrays. Not atomic: write into a
    folder from ``atomic_folder``.
    """
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, array in arrays.items():
            buffer = io.BytesIO()
            np.lib.format.write_array(buffer, np.asanyarray(array), allow_pickle=False)
            archive.writestr(
                zipfile.ZipInfo(f"{name}.npy"), buffer.getvalue(), zipfile.ZIP_DEFLATED
            )


def read_arrays(file: Path, limit: float | None = None) -> Arrays:
    """Return the arrays of an npz file by name; object arrays are refused.

    Parameters
    ----------
    file
        Path of the npz file.
    limit
        Largest number of uncompressed bytes in all. None allows ``MAX_UNPACK_RATIO`` times the size
        of the file, but at least ``MAX_UNPACKED_BYTES``.

    Raises
    ------
    ValueError
        If the file is missing, damaged or larger than allowed.
    """
    try:
        bytes_left = (
            max(MAX_UNPACKED_BYTES, MAX_UNPACK_RATIO * file.stat().st_size)
            if limit is None
            else limit
        )
        arrays: Arrays = {}
        with zipfile.ZipFile(file) as archive:
            for entry in archive.infolist():
                data = read_zip_entry(archive, entry, file, bytes_left)
                bytes_left -= len(data)
                arrays[entry.filename.removesuffix(".npy")] = _parse_npy(data, entry.filename)
        return arrays
    except FileNotFoundError:
        raise ValueError(f"{file}: missing. Restore it.") from None
    except MemoryError:
        raise
    except Exception as error:  # damaged bytes make zipfile and numpy raise all kinds of errors
        raise ValueError(f"{file}: not readable as arrays ({error}). Restore it.") from error


def _parse_npy(data: bytes, name: str) -> Any:
    """Return the array in the bytes of an npy file; raise ValueError unless its header fits them.

    Object arrays are refused too. The array owns its memory. ``name`` is used in the message.
    """
    stream = io.BytesIO(data)
    npy = np.lib.format
    version = npy.read_magic(stream)
    read_header = npy.read_array_header_1_0 if version == (1, 0) else npy.read_array_header_2_0
    shape, fortran_order, dtype = read_header(stream)
    count = math.prod(shape)
    if dtype.hasobject or count * dtype.itemsize != len(data) - stream.tell():
        raise ValueError(f"{name} declares shape {shape} of {dtype}, which its bytes do not fill")
    if not count:
        return np.empty(shape, dtype)
    flat = np.frombuffer(data, dtype, count, stream.tell())
    return flat.reshape(shape, order="F" if fortran_order else "C").copy()


# Representations as arrays ------------------------------------------------------------------------


def pack_arrays(value: Any, name: str = "x") -> Arrays:
    """Convert a representation to named arrays that ``write_arrays`` can store.

    Each key starts with ``name``; the key ``<name>:<kind>`` says how to read the others back.
    ``value`` is a dense array, sparse matrix, Features, MultiView, GramAlternatives, GraphBatch,
    Contexts or Sequences, or a list that survives a JSON round trip. Arrays are not copied. Views
    with shared rows are stored with one row per candidate.

    Raises
    ------
    ValueError
        If ``value`` is of another type.
    """
    if isinstance(value, MultiView):
        parts = [pack_arrays(value.view(key), f"{name}/{key}") for key in value.views]
        arrays = {key: array for part in parts for key, array in part.items()}
        return {f"{name}:views": _encode_json(list(value.views)), **arrays}
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
    if isinstance(value, GramAlternatives):
        grams: Arrays = {}
        for i, K in enumerate(value.grams):
            key = f"{name}/gram{i}"
            grams |= pack_arrays(K, key) if isinstance(K, Features) else {key: K}
        return {f"{name}:alternatives": _encode_json(list(map(dict, value.settings))), **grams}
    if isinstance(value, np.ndarray) and value.dtype != object:
        return {f"{name}:dense": value}
    for batch_name, batch_class in BATCH_CLASSES.items():
        if isinstance(value, batch_class):
            arrays = {f"{name}/{key}": array for key, array in value.to_arrays().items()}
            return {f"{name}:{batch_name}": np.array(1), **arrays}
    return {f"{name}:values": _encode_json(_check_json_list(value))}


def unpack_arrays(arrays: Mapping[str, Any], name: str = "x") -> Any:
    """Rebuild the representation that ``pack_arrays`` stored under ``name``.

    It has the type of what was stored, except that a sparse matrix becomes a ``csr_array``. Other
    keys of ``arrays`` are ignored.

    Raises
    ------
    ValueError
        If there is none, if it is damaged, or if the indices of a sparse matrix are out of range.
    KeyError
        If one of the arrays that belong to it is missing.
    """
    if f"{name}:views" in arrays:
        keys = [str(key) for key in _decode_json(arrays[f"{name}:views"])]
        return MultiView({key: unpack_arrays(arrays, f"{name}/{key}") for key in keys})
    if f"{name}:features" in arrays:
        names = FeatureNames.from_arrays(_select_prefix(arrays, f"{name}/names/"))
        return Features(unpack_arrays(arrays, f"{name}/values"), names)
    if f"{name}:sparse" in arrays:
        parts = tuple(arrays[f"{name}/{part}"] for part in ("data", "indices", "indptr"))
        matrix = sp.csr_array(parts, shape=tuple(arrays[f"{name}:sparse"].tolist()))
        matrix.check_format(full_check=True)  # a column out of range would corrupt memory
        return matrix
    if f"{name}:alternatives" in arrays:
        settings = _decode_json(arrays[f"{name}:alternatives"])
        keys = [f"{name}/gram{i}" for i in range(len(settings))]
        grams = [arrays[key] if key in arrays else unpack_arrays(arrays, key) for key in keys]
        return GramAlternatives(settings, grams)
    if f"{name}:dense" in arrays:
        return arrays[f"{name}:dense"]
    for batch_name, batch_class in BATCH_CLASSES.items():
        if f"{name}:{batch_name}" in arrays:
            return batch_class.from_arrays(_select_prefix(arrays, f"{name}/"))
    if f"{name}:values" in arrays:
        return _check_json_list(_decode_json(arrays[f"{name}:values"]))
    raise ValueError(f"no representation {name!r} among the arrays. Restore the model.")


def _check_json_list(value: Any) -> list[Any]:
    """Return ``value`` if it is a list equal to its JSON round trip, else raise ValueError.

    So it must not contain tuples, NaN, or dictionaries with keys that are not strings.
    """
    try:
        if isinstance(value, list) and json.loads(json.dumps(value)) == value:
            return value
    except (TypeError, ValueError, RecursionError):
        pass
    inner = {type(item).__name__ for item in value} if isinstance(value, list) else set()
    kind = f"list of {', '.join(sorted(inner))}" if inner else type(value).__name__
    raise ValueError(
        f"a {kind} cannot be saved with a model. Return arrays, Features, or a list of strings, "
        "numbers, or lists and dictionaries of them from the representation, or use a kernel "
        "with explicit features, which saves no representation."
    )


def _select_prefix(arrays: Mapping[str, Any], start: str) -> Arrays:
    """Return the arrays whose key starts with ``start``, with that prefix removed."""
    return {k.removeprefix(start): v for k, v in arrays.items() if k.startswith(start)}


def _encode_json(value: Any) -> Any:
    """Return a JSON value as a read-only array of the bytes (uint8) of its text."""
    return np.frombuffer(json.dumps(value).encode(), dtype=np.uint8)


def _decode_json(array: Any) -> Any:
    """Return the JSON value in an array written by ``_encode_json``.

    Raises ValueError if the bytes are not JSON or nested too deeply.
    """
    try:
        return json.loads(array.astype(np.uint8).tobytes().decode())
    except RecursionError:
        raise ValueError("values nested too deeply") from None
