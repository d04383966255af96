"""Folders of ours: written whole or not at all, sealed by the checksums of their files."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from textrank.io import whole
from textrank.io.files import read_text
from textrank.io.streams import load_json
from textrank.io.whole import followed, recover

META = "meta.json"


def check_target(path: str | Path) -> Path:
    """Where a folder may be written; ask before long work, not after it."""
    target = Path(path)
    if target.exists() and not (target / META).is_file() and any(_entries(target)):
        raise ValueError(f"{target} exists and is not a model. Choose another name.")
    if followed(target) == Path.cwd():
        raise ValueError(f"cannot write {target}: it is the current folder. Choose another name.")
    if not followed(target).parent.is_dir():
        raise ValueError(f"cannot write {target}: folder {target.parent} does not exist.")
    return target


@contextmanager
def new_folder(path: str | Path) -> Iterator[Path]:
    """A folder to fill, put in its place only when the block ends well.

    What stood there before is replaced in one step; a folder that is not one of ours is refused.
    """
    with whole.new_folder(path, check_target) as folder:
        yield folder


def seal(folder: Path, meta: Mapping[str, Any], only: Iterable[str] | None = None) -> None:
    """Writes ``meta.json`` with a checksum of every other file, or some, and of itself, last."""
    own = (f.name for f in folder.iterdir() if f.name != META and f.is_file())
    names = sorted(own if only is None else only)
    sealed = {**meta, "files": {name: _checksum(folder / name) for name in names}}
    sealed["checksum"] = _own(sealed)
    text = json.dumps(sealed, indent=2, ensure_ascii=False, allow_nan=False)
    (folder / META).write_text(text + "\n", encoding="utf-8")


def unseal(path: str | Path, needed: tuple[str, ...] = ()) -> dict[str, Any]:
    """The ``meta.json`` of a folder, after every file it names was found unchanged.

    ``needed`` files must be among them, and so must the checksum of ``meta.json`` itself where its
    format has one (from 2 on).
    """
    folder = Path(path)
    if not folder.exists():
        recover(folder)  # a run may have been killed while it put a new one in its place
    if not folder.is_dir():
        raise ValueError(f"{folder}: no such model folder. `textrank info` lists the shipped ones.")
    if not (folder / META).is_file():
        raise ValueError(f"{folder}: no {META}, so this is not a model. Train one.")
    meta = load_json(read_text(folder / META), str(folder / META))
    files = meta.get("files") if isinstance(meta, dict) else None
    if not isinstance(files, dict):
        raise ValueError(f"{folder / META}: damaged, it names no files. Restore the model.")
    _check_own(meta, folder / META)
    for name in {*files, *needed}:
        file = folder / Path(name).name
        if not file.is_file():
            raise ValueError(f"{file}: missing. Restore the model, or train it again.")
        if files.get(name) != _checksum(file):
            raise ValueError(f"{file}: damaged, its checksum differs. Restore the model.")
    return dict(meta)


def _check_own(meta: Mapping[str, Any], file: Path) -> None:
    older = meta.get("format") == 1 and "checksum" not in meta
    if not older and meta.get("checksum") != _own(meta):
        raise ValueError(f"{file}: damaged, its checksum differs. Restore the model.")


def _own(meta: Mapping[str, Any]) -> str:
    """The checksum of a meta.json, but for the checksum itself."""
    rest = {key: value for key, value in meta.items() if key != "checksum"}
    return hashlib.sha256(json.dumps(rest, sort_keys=True).encode()).hexdigest()


def _entries(folder: Path) -> Iterator[Path]:
    return folder.iterdir() if folder.is_dir() else iter([folder])


def _checksum(file: Path) -> str:
    with file.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()
