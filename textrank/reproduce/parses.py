"""Ranking parses: locality kernels with and without positions, costs of RankRLS."""

from __future__ import annotations

import tempfile
import warnings
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import spacy

from textrank.config import load_corpus, load_pipeline
from textrank.evaluation import cross_validate_dataset
from textrank.evaluation.splits import LeakyFolds, LeaveDocumentOut
from textrank.features import Matrix
from textrank.kernels.algebra import Normalized
from textrank.kernels.sequences import (
    LocalityConvolution,
    LocalityImproved,
    LocalSum,
    SpectrumKernel,
)
from textrank.kernels.views import EachView
from textrank.learners.rankrls import RankRLS
from textrank.learners.rls import RLS
from textrank.pipeline import Dataset, Pipeline
from textrank.protocols import Splitter
from textrank.reproduce.base import CRAFT, Cells, Experiment, Figure, RunSettings, sample_treebank

PLACES = {"all ones": "any", "Gaussian": "gaussian", "identity": "same"}
ALPHAS = (0.0625, 0.5, 4.0, 32.0)


@cache
def parsed(setting: RunSettings) -> tuple[Pipeline, Dataset]:
    """Parses of sentences of CRAFT's dev part by copies of our parser with noise, as sequences."""
    pipeline = load_pipeline("parse_ranking-lc", {"task.copies": 8, "task.seed": setting.seed})
    pipeline = replace(pipeline, kernel=Normalized(EachView(SpectrumKernel(2))))
    text = sample_treebank(setting.file(CRAFT), 150 if setting.full else 30)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "part.conllu"
        path.write_text(text, encoding="utf-8")
        docs = list(load_corpus(path)(spacy.blank("en")))
    return pipeline, pipeline.prepare(docs)


def positions(setting: RunSettings) -> Cells:
    """tau_b of RLS with the two locality kernels and three ways to compare places."""
    cells: dict[str, dict[str, Figure]] = {}
    for row, kernel in {"sum (11)": LocalSum, "product (13)": LocalityConvolution}.items():
        for column, place in PLACES.items():
            K = _gram(setting, kernel(theta=0.3, positional=place))
            cells.setdefault(row, {})[column] = _measured(setting, K, _regression(), "tau")
    return cells


def validation(setting: RunSettings) -> Cells:
    """tau_b of RLS and RankRLS with the three kinds of kernels."""
    kernels: dict[str, Any] = {
        "LC (13)": LocalityConvolution(theta=0.3),
        "locality-improved (16)": LocalityImproved(),
        "spectrum (19)": SpectrumKernel(2),
    }
    cells = {}
    for row, kernel in kernels.items():
        K = _gram(setting, kernel)
        cells[row] = {
            "RLS": _measured(setting, K, _regression(), "tau"),
            "RankRLS": _measured(setting, K, RankRLS(alphas=ALPHAS), "tau"),
        }
    return cells


def costs(setting: RunSettings) -> Cells:
    """Disagreement of RankRLS with its costs, pairs of a sentence or all pairs, and of RLS."""
    K = _gram(setting, LocalityConvolution(theta=0.3))
    cells: dict[str, dict[str, Figure]] = {}
    for cost, row in {"sign": "(20)", "magnitude": "(21)", "bound": "(22)"}.items():
        learner = RankRLS(alphas=ALPHAS, cost=cost, ties=False)  # type: ignore[arg-type]
        figure = _measured(setting, K, learner, "disagreement")
        cells[f"RankRLS {row}"] = {"pairs of a sentence": figure}
    every = RankRLS(alphas=ALPHAS, scope="global")
    cells["RankRLS (21)"]["all pairs"] = _measured(setting, K, every, "disagreement")
    cells["RLS"] = {"all pairs": _measured(setting, K, _regression(), "disagreement")}
    return cells


def leaking(setting: RunSettings) -> dict[str, Figure]:
    """tau_b inside test folds: whole articles held out, and parses dealt out singly."""
    K = _gram(setting, LocalityConvolution(theta=0.3))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that it leaks is what is shown
        split = _measured(setting, K, _regression(), "tau", LeakyFolds(5))
    return {"dependent held together": _measured(setting, K, _regression(), "tau"), "split": split}


def _regression() -> RLS:
    return RLS(alphas=ALPHAS, select="disagreement")


def _gram(setting: RunSettings, kernel: Any) -> Matrix:
    _, dataset = parsed(setting)
    return Normalized(EachView(kernel))(dataset.X)


def _measured(
    setting: RunSettings, K: Matrix, learner: Any, measure: str, splitter: Splitter | None = None
) -> Figure:
    """Whole articles held out, unless it is said otherwise; mean and spread over folds."""
    pipeline, dataset = parsed(setting)
    chosen = replace(pipeline, learner=learner)
    report = cross_validate_dataset(
        chosen, replace(dataset, data=K), splitter or LeaveDocumentOut()
    )
    return Figure.from_values([v for f in report.folds if (v := f.measures[measure]) is not None])


TABLES = (
    Experiment("locality-positions", positions, files=(CRAFT,)),
    Experiment("locality-validation", validation, files=(CRAFT,)),
    Experiment("parse-costs", costs, files=(CRAFT,)),
)
