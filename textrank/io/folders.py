"""Folders written whole or not at all, sealed by the checksums of their files."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

META = "meta.json"


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


def _entries(folder: Path) -> Iterator[Path]:
    return folder.iterdir() if folder.is_dir() else iter([folder])


def _checksum(file: Path) -> str:
    with file.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()
