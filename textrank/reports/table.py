"""A Report as a table for the terminal."""

from __future__ import annotations

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from textrank.evaluation import Fold, Report
from textrank.evaluation.report import OPTIMISTIC

LABELS = {
    "auc": "AUC",
    "f": "F",
    "precision": "precision",
    "recall": "recall",
    "average_precision": "average precision",
    "f_best": "F, best test threshold",
    "f_rate": "F, by positive rate",
    "tau": "Kendall τ_b",
    "ndcg": "NDCG",
    "ndcg@10": "NDCG@10",
}


def table(report: Report, *, folds: bool = False) -> RenderableType:
    """The summary of a report, with a row for every fold when asked."""
    counts = report.counts
    title = Text(f"{report.task} · {report.corpus}", style="bold")
    data = Text(
        f"{counts.documents} documents · {counts.candidates} candidates · "
        f"{counts.positives} positive · {counts.unreachable} unreachable",
        style="dim",
    )
    parts: list[RenderableType] = [title, data, Text(report.procedure, style="dim")]
    parts += [Text(f"! {note}", style="bold red") for note in report.notes]
    parts.append(_summary(report))
    if folds:
        parts.append(_folds(report))
    return Group(*parts)


def label(measure: str) -> str:
    """The name of a measure for readers."""
    return LABELS.get(measure, measure.replace("_", " "))


def _summary(report: Report) -> Table:
    several = any(summary.between is not None for summary in report.measures.values())
    result = Table(box=None, pad_edge=False, header_style="dim")
    result.add_column("measure")
    splits = ["± splits"] if several else []
    for name in ("mean", "± folds", *splits, "95 % interval", "undefined"):
        result.add_column(name, justify="right")
    for name, summary in report.measures.items():
        style = "dim" if name in OPTIMISTIC else ""
        mark = " (optimistic)" if name in OPTIMISTIC else ""
        between = [percent(summary.between)] if several else []
        ends = report.intervals.get(name)
        interval = f"{percent(ends[0])}–{percent(ends[1])}" if ends else ""
        result.add_row(
            label(name) + mark,
            *(percent(summary.mean), percent(summary.std), *between, interval),
            str(summary.undefined or ""),
            style=style,
        )
    return result


def _folds(report: Report) -> Table:
    names = [n for n in report.measures if n not in OPTIMISTIC]
    result = Table(box=None, pad_edge=False, header_style="dim")
    for name in ("split", "fold", "candidates", "positive", *map(label, names)):
        result.add_column(name, justify="right")
    for fold in report.folds:
        result.add_row(*_row(fold), *(percent(fold.measures.get(name)) for name in names))
    return result


def _row(fold: Fold) -> tuple[str, str, str, str]:
    return str(fold.split), str(fold.fold), str(fold.candidates), str(fold.positives)


def percent(value: float | None) -> str:
    """A fraction in percent with one decimal; a dash where it is undefined."""
    return "–" if value is None else f"{100 * value:.1f}"


__all__ = ["LABELS", "label", "percent", "table"]
