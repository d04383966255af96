"""Parse ranking: locality kernels with and without positions, and the costs of RankRLS."""

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

POSITION_MODES = {"all ones": "any", "Gaussian": "gaussian", "identity": "same"}
ALPHAS = (0.0625, 0.5, 4.0, 32.0)


@cache
def prepare_parses(settings: RunSettings) -> tuple[Pipeline, Dataset]:
    """Return the pipeline and dataset of noisy parses of CRAFT sentences (cached by settings).

    Candidates are the distinct parses of a parser and of eight noisy copies of it, for at most 30
    sentences per article, or 150 in the full version. Do not change the result: all tables of a run
    share it.
    """
    pipeline = load_pipeline("parse_ranking-lc", {"task.copies": 8, "task.seed": settings.seed})
    pipeline = replace(pipeline, kernel=Normalized(EachView(SpectrumKernel(2))))
    text = sample_treebank(settings.file(CRAFT), 150 if settings.full else 30)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "part.conllu"
        path.write_text(text, encoding="utf-8")
        docs = list(load_corpus(path)(spacy.blank("en")))
    return pipeline, pipeline.prepare(docs)


def run_positions(settings: RunSettings) -> Cells:
    """Compute tau_b of RLS with two locality kernels and three ways to compare positions.

    One row per kernel, one column per entry of ``POSITION_MODES``.
    """
    cells: dict[str, dict[str, Figure]] = {}
    for row, kernel in {"sum (11)": LocalSum, "product (13)": LocalityConvolution}.items():
        for column, mode in POSITION_MODES.items():
            K = _gram(settings, kernel(theta=0.3, positional=mode))
            cells.setdefault(row, {})[column] = _cross_validated(settings, K, _make_rls(), "tau")
    return cells


def run_validation(settings: RunSettings) -> Cells:
    """Compute tau_b of RLS and RankRLS (columns) with three kinds of kernels (rows)."""
    kernels: dict[str, Any] = {
        "LC (13)": LocalityConvolution(theta=0.3),
        "locality-improved (16)": LocalityImproved(),
        "spectrum (19)": SpectrumKernel(2),
    }
    cells = {}
    for row, kernel in kernels.items():
        K = _gram(settings, kernel)
        cells[row] = {
            "RLS": _cross_validated(settings, K, _make_rls(), "tau"),
            "RankRLS": _cross_validated(settings, K, RankRLS(alphas=ALPHAS), "tau"),
        }
    return cells


def run_costs(settings: RunSettings) -> Cells:
    """Compute the disagreement of RankRLS with its costs, within sentences and over all pairs.

    One row per cost, and one of RLS; columns "pairs of a sentence" and "all pairs", not all filled.
    """
    K = _gram(settings, LocalityConvolution(theta=0.3))
    cells: dict[str, dict[str, Figure]] = {}
    for cost, row in {"sign": "(20)", "magnitude": "(21)", "bound": "(22)"}.items():
        learner = RankRLS(alphas=ALPHAS, cost=cost, ties=False)  # type: ignore[arg-type]
        figure = _cross_validated(settings, K, learner, "disagreement")
        cells[f"RankRLS {row}"] = {"pairs of a sentence": figure}
    all_pairs = RankRLS(alphas=ALPHAS, scope="global")
    cells["RankRLS (21)"]["all pairs"] = _cross_validated(settings, K, all_pairs, "disagreement")
    cells["RLS"] = {"all pairs": _cross_validated(settings, K, _make_rls(), "disagreement")}
    return cells


def measure_leak(settings: RunSettings) -> dict[str, Figure]:
    """Return tau_b with whole articles held out, and with parses assigned to folds one by one.

    Keys are "dependent held together" and "split". Warnings about the leak are suppressed.
    """
    K = _gram(settings, LocalityConvolution(theta=0.3))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the leak is intended here
        split = _cross_validated(settings, K, _make_rls(), "tau", LeakyFolds(5))
    return {
        "dependent held together": _cross_validated(settings, K, _make_rls(), "tau"),
        "split": split,
    }


def _make_rls() -> RLS:
    """Return RLS with alpha of ``ALPHAS`` chosen by disagreement of held-out scores."""
    return RLS(alphas=ALPHAS, select="disagreement")


def _gram(settings: RunSettings, kernel: Any) -> Matrix:
    """Return the normalised Gram matrix of a kernel on the n parses, shape (n, n).

    The kernel is applied to each view of a parse and summed.
    """
    _, dataset = prepare_parses(settings)
    return Normalized(EachView(kernel))(dataset.X)


def _cross_validated(
    settings: RunSettings, K: Matrix, learner: Any, measure: str, splitter: Splitter | None = None
) -> Figure:
    """Return mean and standard deviation of a metric over folds.

    ``K`` is the Gram matrix of all parses, ``measure`` the key of a metric of the task.
    ``splitter`` None holds out one article at a time. Folds in which the metric is undefined are
    left out.
    """
    pipeline, dataset = prepare_parses(settings)
    chosen = replace(pipeline, learner=learner)
    report = cross_validate_dataset(
        chosen, replace(dataset, data=K), splitter or LeaveDocumentOut()
    )
    return Figure.from_values([v for f in report.folds if (v := f.measures[measure]) is not None])


EXPERIMENTS = (
    Experiment("locality-positions", run_positions, files=(CRAFT,)),
    Experiment("locality-validation", run_validation, files=(CRAFT,)),
    Experiment("parse-costs", run_costs, files=(CRAFT,)),
)
