"""Folders of arrays and JSON on disk: written whole or not at all, read without running code."""

from __future__ import annotations

import hashlib
import io
import json
import os
import shutil
import tempfile
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from textrank.batches import Contexts, Sequences
from textrank.graphs import GraphBatch
from textrank.types import Alternatives, Arrays, Features, Names, Viewed

META = "meta.json"
BATCHES: dict[str, Any] = {"contexts": Contexts, "graphs": GraphBatch, "sequences": Sequences}


def check_target(path: str | Path) -> Path:
    """Where a folder may be written; ask before long work, not after it."""
    target = Path(path)
    if target.exists() and not (target / META).is_file() and any(_entries(target)):
        raise ValueError(f"{target} exists and is not a model. Choose another name.")
    if not target.parent.is_dir():
        raise ValueError(f"cannot write {target}: folder {target.parent} does not exist.")
    return target


@contextmanager
def new_folder(path: str | Path) -> Iterator[Path]:
    """A folder to fill, put in its place only when the block ends well.

    What stood there before is replaced; a folder that is not one of ours is refused.
    """
    target = check_target(path)
    work = Path(tempfile.mkdtemp(dir=target.parent, prefix=f".{target.name}."))
    try:
        work.chmod(0o755)
        yield work
        if target.exists():
            old = Path(tempfile.mkdtemp(dir=target.parent, prefix=f".{target.name}.old."))
            os.replace(target, old / "was")
            os.replace(work, target)
            shutil.rmtree(old)
        else:
            os.replace(work, target)
    except BaseException:
        shutil.rmtree(work, ignore_errors=True)
        raise


def seal(folder: Path, meta: Mapping[str, Any]) -> None:
    """Writes ``meta.json`` with a checksum of every other file, last of all."""
    files = {f.name: _checksum(f) for f in sorted(folder.iterdir()) if f.name != META}
    text = json.dumps({**meta, "files": files}, indent=2, ensure_ascii=False, allow_nan=False)
    (folder / META).write_text(text + "\n", encoding="utf-8")


def unseal(path: str | Path) -> dict[str, Any]:
    """The ``meta.json`` of a folder, after every file it names was found unchanged."""
    folder = Path(path)
    if not folder.is_dir():
        raise ValueError(f"{folder}: no such model folder. `textrank info` lists the shipped ones.")
    try:
        meta = json.loads((folder / META).read_text(encoding="utf-8"))
        files = dict(meta["files"])
    except FileNotFoundError:
        raise ValueError(f"{folder}: no {META}, so this is not a model. Train one.") from None
    except (UnicodeDecodeError, json.JSONDecodeError, KeyError, TypeError, ValueError) as error:
        raise ValueError(f"{folder / META}: damaged ({error}). Restore the model.") from error
    for name, checksum in files.items():
        file = folder / Path(name).name
        if not file.is_file():
            raise ValueError(f"{file}: missing. Restore the model, or train it again.")
        if _checksum(file) != checksum:
            raise ValueError(f"{file}: damaged, its checksum differs. Restore the model.")
    return dict(meta)


def write_arrays(file: Path, arrays: Mapping[str, Any]) -> None:
    """Arrays as a compressed npz, the same bytes every time."""
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, array in arrays.items():
            buffer = io.BytesIO()
            np.lib.format.write_array(buffer, np.asanyarray(array), allow_pickle=False)
            archive.writestr(
                zipfile.ZipInfo(f"{name}.npy"), buffer.getvalue(), zipfile.ZIP_DEFLATED
            )


def read_arrays(file: Path) -> Arrays:
    """The arrays of an npz; an object array, which would run code, is refused."""
    try:
        with np.load(file, allow_pickle=False) as archive:
            return {name: archive[name] for name in archive.files}
    except (OSError, ValueError, zipfile.BadZipFile, KeyError, EOFError) as error:
        raise ValueError(f"{file}: not readable as arrays ({error}). Restore it.") from error


def pack(value: Any, name: str = "x") -> Arrays:
    """Representations as named arrays; ``unpack`` gives them back."""
    if isinstance(value, Viewed):
        parts = [pack(view, f"{name}/{key}") for key, view in value.views.items()]
        return {f"{name}:views": _text(list(value.views)), **_merged(parts)}
    if isinstance(value, Features):
        return {
            f"{name}:features": np.array(1),
            **pack(value.values, f"{name}/values"),
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
        return {f"{name}:alternatives": _json(list(map(dict, value.settings))), **grams}
    if isinstance(value, np.ndarray) and value.dtype != object:
        return {f"{name}:dense": value}
    for kind, batch in BATCHES.items():
        if isinstance(value, batch):
            arrays = {f"{name}/{key}": array for key, array in value.to_arrays().items()}
            return {f"{name}:{kind}": np.array(1), **arrays}
    raise ValueError(
        f"a {type(value).__name__} cannot be saved with a model. Use a kernel with explicit "
        "features, or a representation of arrays or Features."
    )


def unpack(arrays: Mapping[str, Any], name: str = "x") -> Any:
    """What ``pack`` took apart."""
    if f"{name}:views" in arrays:
        keys = _words(arrays[f"{name}:views"])
        return Viewed({key: unpack(arrays, f"{name}/{key}") for key in keys})
    if f"{name}:features" in arrays:
        names = Names.from_arrays(_below(arrays, f"{name}/names/"))
        return Features(unpack(arrays, f"{name}/values"), names)
    if f"{name}:sparse" in arrays:
        parts = tuple(arrays[f"{name}/{part}"] for part in ("data", "indices", "indptr"))
        return sp.csr_array(parts, shape=tuple(arrays[f"{name}:sparse"].tolist()))
    if f"{name}:alternatives" in arrays:
        settings = _read(arrays[f"{name}:alternatives"])
        return Alternatives(settings, [arrays[f"{name}/gram{i}"] for i in range(len(settings))])
    if f"{name}:dense" in arrays:
        return arrays[f"{name}:dense"]
    for kind, batch in BATCHES.items():
        if f"{name}:{kind}" in arrays:
            return batch.from_arrays(_below(arrays, f"{name}/"))
    raise ValueError(f"no representation {name!r} among the arrays. Restore the model.")


def _below(arrays: Mapping[str, Any], start: str) -> Arrays:
    return {k.removeprefix(start): v for k, v in arrays.items() if k.startswith(start)}


def _merged(parts: Sequence[Arrays]) -> Arrays:
    return {key: array for part in parts for key, array in part.items()}


def _text(words: Sequence[str]) -> Any:
    return _json(list(words))


def _words(array: Any) -> list[str]:
    return [str(word) for word in _read(array)]


def _json(value: Any) -> Any:
    return np.frombuffer(json.dumps(value).encode(), dtype=np.uint8)


def _read(array: Any) -> Any:
    return json.loads(array.astype(np.uint8).tobytes().decode())


def _entries(folder: Path) -> Iterator[Path]:
    return folder.iterdir() if folder.is_dir() else iter([folder])


def _checksum(file: Path) -> str:
    with file.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()
