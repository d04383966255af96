"""A Report as a JSON file, written whole or not at all."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from textrank.evaluation import Report


def dumps(report: Report, *, decisions: bool = False) -> str:
    """The report as JSON text: stable order of keys, no NaN, one line at the end."""
    return _text(report.to_dict(decisions=decisions))


def write(report: Report, path: str | Path, *, decisions: bool = False) -> None:
    """Writes the report; a reader of the file never sees half of it."""
    write_text(dumps(report, decisions=decisions), path)


def write_data(data: Mapping[str, Any], path: str | Path) -> None:
    """Writes plain values in the same form: stable, without NaN, whole or not at all."""
    write_text(_text(data), path)


def read(path: str | Path) -> Report:
    """The report in a file that ``write`` or ``--json`` made."""
    try:
        data = json.loads(Path(path).read_text(encoding="utf-8"))
    except (UnicodeDecodeError, json.JSONDecodeError) as error:
        raise ValueError(f"{path} is not JSON: {error}. Write it with `--json`.") from error
    if not isinstance(data, dict):
        raise ValueError(f"{path} holds a {type(data).__name__}, not a report")
    try:
        return Report.from_dict(data)
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        raise ValueError(f"{path}: {error}") from error


def write_text(text: str, path: str | Path) -> None:
    """Writes to a temporary name beside the file, then renames: whole or not at all."""
    target = Path(path)
    if not target.parent.is_dir():
        raise FileNotFoundError(f"cannot write {target}: folder {target.parent} does not exist")
    handle, name = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(text)
        os.chmod(name, 0o666 & ~_umask())  # mkstemp gives the owner alone the right to read
        os.replace(name, target)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


def _text(data: Mapping[str, Any]) -> str:
    return json.dumps(data, indent=2, ensure_ascii=False, allow_nan=False) + "\n"


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
