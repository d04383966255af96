"""A Report as one HTML file that needs nothing else: no network, no script of others."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from textrank.evaluation import Report
from textrank.evaluation.report import OPTIMISTIC
from textrank.reports.errors import worst_errors
from textrank.reports.json import write_text
from textrank.reports.plots import Figure, figures
from textrank.reports.table import label, percent

HEADLINES = (("auc", "f", "precision", "recall"), ("tau", "disagreement", "ndcg", "ndcg@10"))


def page(report: Report, *, errors: int = 50, extra: Sequence[Figure] = ()) -> str:
    """The report as HTML text: figures, settings, folds, and up to ``errors`` of each kind.

    The errors quote sentences of the corpus; ``errors=0`` leaves them out, for a page that may be
    passed on where the corpus may not.
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
    )  # fmt: skip


def write(
    report: Report, path: str | Path, *, errors: int = 50, extra: Sequence[Figure] = ()
) -> None:
    """Writes the page, whole or not at all."""
    write_text(page(report, errors=errors, extra=extra), path)


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
    environment.filters |= {"percent": percent, "measure": label, "cell": _cell}
    environment.globals["optimistic"] = OPTIMISTIC
    return environment


def _cell(value: Any, column: str) -> str:
    """A number of the fold table: counts as they are, chosen values short, measures in percent."""
    if value is None:
        return "–"
    if column in ("split", "fold", "documents", "candidates", "positives") or "queries" in column:
        return f"{int(value)}"
    return f"{value:.3g}" if column in ("alpha", "threshold") else percent(value)
