"""``textrank compare``: test whether runs on the same folds differ."""

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
    reports: Annotated[list[Path], typer.Argument(help="JSON files written by run or evaluate.")],
    measure: Annotated[list[str], typer.Option(help="Metric to compare; default AUC and F.")] = [],  # noqa: B006
    json_: JsonFile = None,
) -> None:
    """Test whether runs on the same folds differ: effect sizes and corrected p-values."""
    from textrank.reports.table import comparison_table

    comparison = compare_reports(reports, measure)
    write_json_figures(comparison, json_)
    make_console().print(comparison_table(comparison))


def compare_reports(files: Sequence[Path], measures: Sequence[str] = ()) -> Comparison:
    """Compare the runs of several report files, written with ``--json``; at least two.

    Runs are named after their files without suffix, or by whole paths if those are not unique.
    ``measures`` are names of metrics; empty compares AUC and F, or tau for rankings. Raises
    ValueError if a path is given twice, or the runs do not have the same folds.
    """
    from textrank.evaluation.statistics import compare
    from textrank.reports.table import read_report

    if len(set(files)) < len(files):
        raise ValueError("a report cannot be compared with itself: name different files.")
    names = [file.stem for file in files]
    if len(set(names)) < len(names):
        names = [str(file) for file in files]
    return compare(
        {name: read_report(file) for name, file in zip(names, files, strict=True)}, measures
    )
