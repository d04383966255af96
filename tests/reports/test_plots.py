"""Plots draw what they are given, and say what is missing."""

from __future__ import annotations

import builtins

import pytest

from textrank.evaluation import Counts, Fold, Report
from textrank.reports.html import draw_figures, plot_heat_map, plot_roc


def test_a_heat_map_shows_every_defined_cell():
    figure = plot_heat_map("cross", "Cross", "", [[0.5, None], [0.25, 1.0]], ["A", "B"], ["C", "D"])
    for words in (">50.0<", ">25.0<", ">100.0<", ">A<", ">D<"):
        assert words in figure.svg
    assert "nan" not in figure.svg


def test_one_class_has_no_roc_curve():
    assert plot_roc([([1.0, 1.0], [0.1, 0.2])]) is None


def test_a_report_without_decisions_still_shows_its_folds():
    folds = [Fold({"auc": 0.5, "f": None}, fold=0), Fold({"auc": 0.7, "f": None}, fold=1)]
    report = Report("ppi", "c", "p", {}, 0, Counts(2, 4, 2), folds)
    assert [figure.name for figure in draw_figures(report)] == ["folds"]


def test_missing_matplotlib_is_explained(monkeypatch):
    real = builtins.__import__

    def refuse(name, *rest):
        if name == "matplotlib":
            raise ImportError(name)
        return real(name, *rest)

    monkeypatch.setattr(builtins, "__import__", refuse)
    with pytest.raises(ModuleNotFoundError, match=r"textrank-kernels\[plots\]"):
        plot_heat_map("h", "", "", [[1.0]], ["A"], ["B"])
