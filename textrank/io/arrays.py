"""Arrays, and anything that passes between layers as arrays, without running code."""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from textrank.types import (
    Alternatives,
    Arrays,
    Contexts,
    Features,
    GraphBatch,
    Names,
    Sequences,
    Viewed,
)

BATCHES: dict[str, Any] = {"contexts": Contexts, "graphs": GraphBatch, "sequences": Sequences}


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
