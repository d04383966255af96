"""A Report as one HTML file that needs nothing else: no network, no script of others."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from textrank.evaluation import Report
from textrank.evaluation.cross import Cross
from textrank.evaluation.report import OPTIMISTIC
from textrank.evaluation.sweep import Sweep
from textrank.io import write_text
from textrank.reports.errors import worst_errors
from textrank.reports.plots import Figure, figures, heat_map, sweep_plot
from textrank.reports.table import chance, label, percent

HEADLINES = (("auc", "f", "precision", "recall"), ("tau", "disagreement", "ndcg", "ndcg@10"))


def page(report: Report, *, errors: int = 50, extra: Sequence[Figure] = (), why: str = "") -> str:
    """The report as HTML text: figures, settings, folds, and up to ``errors`` of each kind.

    The errors quote sentences of the corpus; ``errors=0`` leaves them out, for a page that may be
    passed on where the corpus may not. ``why`` is the page beside this one that explains them.
    """
    drawn = [*extra, *figures(report)]
    return environment().get_template("report.html").render(
        report=report,
        headlines=_headlines(report),
        measures=[(n, s, report.intervals.get(n)) for n, s in report.measures.items()],
        figures=[(figure, Markup(figure.svg)) for figure in drawn],
        errors=worst_errors(report, errors) if errors else [],
        fold_columns=list(dict.fromkeys(k for fold in report.folds for k in fold.to_dict())),
        settings=list(flattened(report.settings)),
        why=why,
    )  # fmt: skip


def write(
    report: Report,
    path: str | Path,
    *,
    errors: int = 50,
    extra: Sequence[Figure] = (),
    why: str = "",
) -> None:
    """Writes the page, whole or not at all."""
    write_text(page(report, errors=errors, extra=extra, why=why), path)


def cross_page(found: Cross) -> str:
    """The cross-corpus tables as one HTML text: AUC, and F under four thresholds."""
    captions = {
        "auc": "Train on the row, test on the column.",
        "f": "Threshold chosen on the training corpus, as a user would have to.",
        "f_mean": "Threshold at the mean of the test scores, no label used.",
        "f_rate": "Threshold that answers yes as often as the test corpus does.",
        "f_best": "Best threshold of the test corpus itself: optimistic.",
    }
    known = next(iter(found.reports.values())).measures
    drawn = [
        heat_map(f"cross-{name}", label(name), caption, found.table(name), found.corpora,
                 found.corpora, axes=("train", "test"))
        for name, caption in captions.items() if name in known
    ]  # fmt: skip
    return environment().get_template("cross.html").render(
        found=found,
        first=next(iter(found.reports.values())),
        figures=[(figure, Markup(figure.svg)) for figure in drawn],
        measures=[name for name in captions if name in known],
        settings=list(flattened(next(iter(found.reports.values())).settings)),
    )  # fmt: skip


def sweep_page(found: Sweep) -> str:
    """A sweep as one HTML text: a line for one key, heat maps for two, the table always."""
    reports = [point.report for point in found.points]
    names = [name for name in ("auc", "f", "tau") if name in reports[0].measures]
    drawn = [figure for name in names if (figure := sweep_plot(found, name)) is not None]
    return environment().get_template("sweep.html").render(
        found=found,
        first=reports[0],
        figures=[(figure, Markup(figure.svg)) for figure in drawn],
        measures=list(reports[0].measures),
    )  # fmt: skip


def write_sweep(found: Sweep, path: str | Path) -> None:
    """Writes the page of a sweep, whole or not at all."""
    write_text(sweep_page(found), path)


def write_cross(found: Cross, path: str | Path) -> None:
    """Writes the cross-corpus page, whole or not at all."""
    write_text(cross_page(found), path)


def flattened(settings: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, str]]:
    """Nested settings as rows of dotted key and value."""
    for key, value in settings.items():
        name = f"{prefix}.{key}" if prefix else str(key)
        if isinstance(value, Mapping):
            yield from flattened(value, name)
        else:
            yield name, json.dumps(value, ensure_ascii=False, default=str)


def _headlines(report: Report) -> list[str]:
    measures = report.measures
    shown = [names for names in HEADLINES if any(name in measures for name in names)]
    return [name for name in (shown[0] if shown else list(measures)[:4]) if name in measures]


def environment() -> Environment:
    """The page templates, with the filters they use; everything inserted is escaped."""
    environment = Environment(
        loader=PackageLoader("textrank.reports", "page"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {"percent": percent, "measure": label, "chance": chance}
    environment.filters["cell"] = _cell
    environment.globals["optimistic"] = OPTIMISTIC
    return environment


def _cell(value: Any, column: str) -> str:
    """A number of the fold table: counts as they are, chosen values short, measures in percent."""
    if value is None:
        return "–"
    if column in ("split", "fold", "documents", "candidates", "positives") or "queries" in column:
        return f"{int(value)}"
    return f"{value:.3g}" if column in ("alpha", "threshold") else percent(value)
