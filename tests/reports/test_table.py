"""The terminal table shows every measure, mark and undefined fold."""

from __future__ import annotations

from rich.console import Console

from textrank.evaluation import Counts, Report
from textrank.evaluation.evaluate import CrossCorpus
from textrank.evaluation.report import Fold, classification_fold
from textrank.reports.table import cross_table, format_percent, report_table


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


def cross(measures):
    """Reports of two corpora on each other, with one fold of the given metrics each."""
    reports = {
        pair: Report("t", pair[1], "", {}, 1, Counts(1, 1, 1, 0), [Fold(values)])
        for pair, values in measures.items()
    }
    return CrossCorpus(["a", "b"], reports, dict.fromkeys(reports, 0))


def show_cross(measures):
    console = Console(width=120)
    with console.capture() as capture:
        console.print(cross_table(cross(measures)))
    return capture.get()


def test_the_table_across_corpora_shows_metrics_of_any_report():
    text = show_cross({("a", "b"): {"auc": 0.5}, ("b", "a"): {"auc": 0.25, "tau": 0.75}})
    assert "50.0" in text
    assert "25.0" in text
    assert "75.0" in text


def test_the_table_across_corpora_shows_metrics_of_a_task_of_its_own():
    assert "12.5" in show_cross({("a", "b"): {"right": 0.125}})


def test_the_table_across_corpora_may_be_empty():
    assert "on all documents" in show_cross({})


def test_percent_of_nothing_is_a_dash():
    assert format_percent(None) == "–"
    assert format_percent(0.8456) == "84.6"
