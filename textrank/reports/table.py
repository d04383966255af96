"""A Report as a JSON file, written whole or not at all."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from textrank.evaluation import Fold, Report
from textrank.evaluation.evaluate import CrossCorpus
from textrank.evaluation.raw_text import RawText
from textrank.evaluation.report import OPTIMISTIC
from textrank.evaluation.statistics import Comparison, Contrast
from textrank.evaluation.sweep import Sweep
from textrank.io import read_json, write_text


def report_to_json(report: Report, *, decisions: bool = False) -> str:
    """The report as JSON text: stable order of keys, no NaN, one line at the end."""
    return _text(report.to_dict(decisions=decisions))


def write_report(report: Report, path: str | Path, *, decisions: bool = False) -> None:
    """Writes the report; a reader of the file never sees half of it."""
    write_text(report_to_json(report, decisions=decisions), path)


def write_json(data: Mapping[str, Any], path: str | Path) -> None:
    """Writes plain values in the same form: stable, without NaN, whole or not at all."""
    write_text(_text(data), path)


def read_report(path: str | Path) -> Report:
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


METRIC_LABELS = {
    "auc": "AUC",
    "f": "F",
    "precision": "precision",
    "recall": "recall",
    "average_precision": "average precision",
    "f_best": "F, best test threshold",
    "f_rate": "F, by positive rate",
    "f_mean": "F, above the mean",
    "tau": "Kendall τ_b",
    "ndcg": "NDCG",
    "ndcg@10": "NDCG@10",
    "map": "MAP",
    "auc_of_topics": "AUC, mean of topics",
    "f_of_topics": "F, mean of topics",
    "first": "right identifier first",
    "first_of_all": "right first, of all names",
    "reachable": "right among candidates",
    "document_precision": "identifiers of documents, precision",
    "document_recall": "identifiers of documents, recall",
    "document_f": "identifiers of documents, F",
    "document_f_of_all": "F over all identifiers",
    "las": "LAS, chosen parse",
    "las_parser": "LAS, parser's own",
    "las_oracle": "LAS, best candidate",
    "las_gain": "LAS, gain",
}


def report_table(report: Report, *, folds: bool = False) -> RenderableType:
    """The summary of a report, with a row for every fold when asked."""
    counts = report.counts
    title = Text(f"{report.title} · {report.corpus}", style="bold")
    data = Text(
        f"{counts.documents} documents · {counts.candidates} candidates · "
        f"{counts.positives} positive · {counts.unreachable} unreachable",
        style="dim",
    )
    parts: list[RenderableType] = [title, data, Text(report.procedure, style="dim")]
    parts += [Text(f"! {note}", style="bold red") for note in report.notes]
    parts.append(_summary(report))
    if report.permutation:
        parts.append(Text(describe_permutation_test(report)))
    if folds:
        parts.append(_folds(report))
    return Group(*parts)


def cross_table(found: CrossCorpus) -> RenderableType:
    """Cross-corpus results: AUC, and F under four thresholds, trained on the rows."""
    known = next(iter(found.reports.values())).measures
    parts: list[RenderableType] = []
    for name in ("auc", "f", "f_mean", "f_rate", "f_best", "tau"):
        if name in known:
            mark = " (optimistic)" if name in OPTIMISTIC else ""
            grid = Table(box=None, pad_edge=False, header_style="dim")
            grid.add_column(f"{metric_label(name)}{mark}", min_width=24)
            for corpus in found.corpora:
                grid.add_column(corpus, justify="right")
            for corpus, row in zip(found.corpora, found.table(name), strict=True):
                grid.add_row(corpus, *map(format_percent, row))
            parts.append(grid)
    left = [f"{b} without {n} documents of {a}" for (a, b), n in found.dropped.items() if n]
    parts.append(Text(f"Tested {'; '.join(left) or 'on all documents'}.", style="dim"))
    return Group(*parts)


def describe_permutation_test(report: Report) -> str:
    """What the permutation test of a report says, in words."""
    found = report.permutation
    return (
        f"AUC {format_percent(found['auc'])} against {format_percent(found['null_mean'])} "
        f"±{format_percent(found['null_std'])} with permuted answers: p = {found['p']:.4f} "
        f"({found['permutations']} permutations)"
    )


def sweep_table(found: Sweep) -> RenderableType:
    """A row for every point of a sweep."""
    names = [n for n in ("auc", "f", "precision", "recall", "tau") if n in _first(found).measures]
    grid = Table(box=None, pad_edge=False, header_style="dim")
    for name in (*found.keys, *map(metric_label, names)):
        grid.add_column(name, justify="right")
    for point in found.points:
        measures = point.report.measures
        cells = [
            f"{format_percent(measures[n].mean)} ±{format_percent(measures[n].std)}" for n in names
        ]
        grid.add_row(*map(str, point.values), *cells)
    reused = sum(point.reused for point in found.points)
    words = f"{len(found.points)} points, {reused} of them from the cache."
    return Group(Text(_first(found).corpus, style="bold"), grid, Text(words, style="dim"))


def _first(found: Sweep) -> Report:
    return found.points[0].report


def comparison_table(found: Comparison) -> RenderableType:
    """Differences between runs with effect sizes and p-values, as found and as corrected."""
    grid = Table(box=None, pad_edge=False, header_style="dim")
    for name in ("measure", "first", "second"):
        grid.add_column(name)
    for name in ("mean", "mean", "difference", "d", "wins", "test", "p", "Holm", "BH"):
        grid.add_column(name, justify="right")
    for row, contrast in enumerate(found.contrasts):
        for place, test in enumerate(contrast.tests):
            corrected = found.corrected[test.test]
            p = (test.p, corrected["holm"][row], corrected["benjamini_hochberg"][row])
            head = _contrast(contrast) if place == 0 else [""] * 8
            grid.add_row(*head, test.test, *map(_probability, p))
    parts: list[RenderableType] = [Text(f"{found.corpus}: {', '.join(found.runs)}", style="bold")]
    parts += [Text(f"! {note}", style="bold red") for note in found.notes]
    left = sum(contrast.undefined for contrast in found.contrasts)
    hint = f"{left} undefined units left out" if left else "no unit undefined"
    return Group(*parts, grid, Text(f"Two-sided; unit: {found.contrasts[0].unit}; {hint}.", "dim"))


def _contrast(contrast: Contrast) -> list[str]:
    e = contrast.effect
    means = [format_percent(value) for value in contrast.means]
    d = "–" if e.d is None else f"{e.d:+.2f}"
    wins = f"{e.wins}:{e.losses}"
    names = [metric_label(contrast.measure), contrast.first, contrast.second]
    return [*names, *means, f"{100 * e.mean:+.1f}", d, wins]


def _probability(p: float | None) -> str:
    return "–" if p is None else f"{p:.4f}" if p >= 0.0001 else f"{p:.1e}"


def metric_label(measure: str) -> str:
    """The name of a measure for readers."""
    return METRIC_LABELS.get(measure, measure.replace("_", " "))


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
        between = [format_percent(summary.between)] if several else []
        ends = report.intervals.get(name)
        interval = f"{format_percent(ends[0])}–{format_percent(ends[1])}" if ends else ""
        result.add_row(
            metric_label(name) + mark,
            *(format_percent(summary.mean), format_percent(summary.std), *between, interval),
            str(summary.undefined or ""),
            style=style,
        )
    return result


def _folds(report: Report) -> Table:
    names = [n for n in report.measures if n not in OPTIMISTIC]
    result = Table(box=None, pad_edge=False, header_style="dim")
    for name in ("split", "fold", "candidates", "positive", *map(metric_label, names)):
        result.add_column(name, justify="right")
    for fold in report.folds:
        result.add_row(*_row(fold), *(format_percent(fold.measures.get(name)) for name in names))
    return result


def _row(fold: Fold) -> tuple[str, str, str, str]:
    return str(fold.split), str(fold.fold), str(fold.candidates), str(fold.positives)


def format_percent(value: float | None) -> str:
    """A fraction in percent with one decimal; a dash where it is undefined."""
    return "–" if value is None else f"{100 * value:.1f}"


NAME_MATCH_LABELS = {"overlap": "overlapping", "exact": "equal boundaries"}
PAIR_MATCH_LABELS = {
    "overlap": "recognised names, overlapping",
    "exact": "recognised names, equal boundaries",
    "given": "the corpus's names in the same text",
}
UNREACHABLE_LABELS = {
    "missed": "with a name that was not found",
    "separated": "cut apart by a sentence end",
    "merged": "within one found name, or sharing one pair",
}


def raw_text_table(found: RawText) -> RenderableType:
    """Names, interactions, and why some cannot be reached."""
    reached = found.interactions["overlap"]
    lost = reached.hits.gold - reached.reachable
    why = ", ".join(f"{found.reasons[key]} {words}" for key, words in UNREACHABLE_LABELS.items())
    data = f"{found.documents} documents · {found.candidates} candidates"
    parts = [] if not found.calibration else [Text(_calibration(found.calibration), style="dim")]
    return Group(
        Text(f"ppi · {found.corpus}", style="bold"),
        Text(f"{data}\n{found.procedure}", style="dim"),
        _names(found),
        Text(),
        _interactions(found),
        Text(f"Unreachable: {lost} of {reached.hits.gold} gold interactions; {why}.", style="dim"),
        *parts,
    )


def _calibration(values: Mapping[str, float]) -> str:
    error, chance = values["calibration_error"], values["calibration_error_of_chance"]
    promised, true = values["mean_probability"], values["positive_share"]
    return (
        f"Calibration error of recognised pairs: {format_percent(error)} (chance {format_percent(chance)}); "
        f"mean probability {format_percent(promised)}, true share {format_percent(true)}."
    )


def _names(found: RawText) -> Table:
    grid = _grid("names", ("gold", "found", "right", "precision", "recall", "F"))
    for key, words in NAME_MATCH_LABELS.items():
        hits = found.names[key]
        counts = map(str, (hits.gold, hits.found, hits.right))
        grid.add_row(words, *counts, *map(format_percent, hits.prf))
    return grid


def _interactions(found: RawText) -> Table:
    heads = ("gold", "reachable", "yes", "right", "precision", "recall", "F", "F of reachable")
    grid = _grid("interactions", heads)
    for key, words in PAIR_MATCH_LABELS.items():
        own = found.interactions[key]
        counts = map(str, (own.hits.gold, own.reachable, own.hits.found, own.hits.right))
        alone = own.to_dict()["f_of_reachable"]
        grid.add_row(words, *counts, *map(format_percent, (*own.hits.prf, alone)))
    return grid


def _grid(title: str, heads: tuple[str, ...]) -> Table:
    grid = Table(box=None, pad_edge=False, header_style="dim")
    grid.add_column(title, min_width=36)
    for head in heads:
        grid.add_column(head, justify="right")
    return grid
