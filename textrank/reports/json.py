"""A Report as a JSON file, written whole or not at all."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from textrank.evaluation import Report
from textrank.io import read_json, write_text


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
    data = read_json(path, math.inf)
    if not isinstance(data, dict):
        raise ValueError(f"{path} holds a {type(data).__name__}, not a report")
    try:
        return Report.from_dict(data)
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        raise ValueError(f"{path}: {error}") from error


def _text(data: Mapping[str, Any]) -> str:
    return json.dumps(data, indent=2, ensure_ascii=False, allow_nan=False) + "\n"
