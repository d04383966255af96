"""``textrank compare``: whether runs on the same folds differ."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from textrank.cli.app import JsonFile, make_console, write_json_figures

if TYPE_CHECKING:
    from textrank.evaluation.statistics import Comparison

EXAMPLE = "Example: textrank compare one.json other.json"


def command(
    reports: Annotated[list[Path], typer.Argument(help="Files that --json or --report wrote.")],
    measure: Annotated[list[str], typer.Option(help="Instead of AUC and F.")] = [],  # noqa: B006
    json_: JsonFile = None,
) -> None:
    """Tests whether runs on the same folds differ: effect sizes and corrected p-values."""
    from textrank.reports.table import comparison_table

    found = compare_reports(reports, measure)
    write_json_figures(found, json_)
    make_console().print(comparison_table(found))


def compare_reports(files: Sequence[Path], measures: Sequence[str] = ()) -> Comparison:
    """Compares the runs of several report files, named as shortly as tells them apart."""
    from textrank.evaluation.statistics import compare
    from textrank.reports.table import read

    if len(set(files)) < len(files):
        raise ValueError("a report cannot be compared with itself: name different files.")
    names = [file.stem for file in files]
    if len(set(names)) < len(names):
        names = [str(file) for file in files]
    return compare({name: read(file) for name, file in zip(names, files, strict=True)}, measures)
