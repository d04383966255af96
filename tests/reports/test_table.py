"""The terminal table shows every measure, mark and undefined fold."""

from __future__ import annotations

from rich.console import Console

from textrank.evaluation import Counts, Report
from textrank.evaluation.report import classification_fold
from textrank.reports.table import format_percent, report_table


def show(report, **options):
    console = Console(width=120, record=True, file=None, quiet=False)
    with console.capture() as capture:
        console.print(report_table(report, **options))
    return capture.get()


def test_the_table_names_measures_marks_and_undefined_folds():
    folds = [
        classification_fold([1, -1], [0.9, 0.1], 0.5),
        classification_fold([-1, -1], [0.9, 0.1], 0.5, fold=1),
    ]
    report = Report(
        *("ppi", "sample", "2 folds by document", {}, 1),
        Counts(2, 4, 1, 3),
        folds,
        notes=["documents are split between folds"],
        intervals={"auc": (0.5, 1.0)},
    )
    text = show(report, folds=True)
    for words in ("3 unreachable", "! documents are split", "(optimistic)", "50.0–100.0"):
        assert words in text
    assert "AUC" in text
    (row,) = [line for line in text.splitlines() if line.startswith("AUC ")]
    assert row.split() == ["AUC", "100.0", "0.0", "50.0–100.0", "1"]


def test_percent_of_nothing_is_a_dash():
    assert format_percent(None) == "–"
    assert format_percent(0.8456) == "84.6"
