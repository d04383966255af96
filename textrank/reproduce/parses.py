"""Parse ranking: locality kernels, single features, a graph kernel, and the costs of RankRLS.

Kernels are summed over the views of a parse and not scaled to unit length, as in the publications.
"""

from __future__ import annotations

import tempfile
import warnings
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import spacy

from textrank.config import load_corpus, load_pipeline
from textrank.evaluation import Report, cross_validate_dataset
from textrank.evaluation.splits import LeakyFolds, LeaveDocumentOut, make_splitter
from textrank.evaluation.statistics import wilcoxon_signed_ranks
from textrank.features import Matrix, MultiView
from textrank.kernels.graphs import AllPathsGraph
from textrank.kernels.sequences import (
    LocalityConvolution,
    LocalityImproved,
    LocalSum,
    SpectrumKernel,
)
from textrank.kernels.views import EachView
from textrank.learners.rankrls import RankRLS
from textrank.learners.rls import RLS
from textrank.metrics import kendall_tau_b
from textrank.pipeline import Dataset, Pipeline
from textrank.protocols import Splitter
from textrank.reproduce.base import (
    CRAFT,
    GENIA,
    Cells,
    Experiment,
    Figure,
    RunSettings,
    sample_treebank,
)
from textrank.tasks.parse_features import SEQUENCE_TYPES, ParseGraph

POSITION_MODES = {"all ones": "any", "Gaussian": "gaussian", "identity": "same"}
ALPHAS = (0.25, 1.0, 4.0, 16.0, 64.0, 256.0, 1024.0)
KERNELS: dict[str, Any] = {
    "LC (13)": LocalityConvolution(theta=0.3),
    "locality-improved (16)": LocalityImproved(),
    "spectrum (19)": SpectrumKernel(2),
}
TREEBANKS = {"CRAFT": CRAFT, "GENIA": GENIA}


@cache
def prepare_parses(settings: RunSettings, treebank: str = "CRAFT") -> tuple[Pipeline, Dataset]:
    """Return the pipeline and dataset of noisy parses of a treebank (cached by arguments).

    ``treebank`` is a key of ``TREEBANKS``. Candidates are the distinct parses of a parser and of
    eight noisy copies of it, for at most 30 sentences per article of CRAFT, or 150 in the full
    version, and two or eight per abstract of GENIA, whose labels are not compared because its
    scheme differs from the parser's. Do not change the result: all tables of a run share it.
    """
    overrides: dict[str, Any] = {"task.copies": 8, "task.seed": settings.seed}
    number = {"CRAFT": (30, 150), "GENIA": (2, 8)}[treebank][settings.full]
    if treebank == "GENIA":
        overrides["task.labelled"] = False
    pipeline = load_pipeline("parse_ranking-lc", overrides)
    pipeline = replace(pipeline, kernel=EachView(SpectrumKernel(2)))
    text = sample_treebank(settings.file(TREEBANKS[treebank]), number)
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
    """Compute tau_b of RLS and RankRLS with three kernels and a graph kernel, on two treebanks.

    One row per kernel, with the name of the treebank in front unless CRAFT; columns "RLS",
    "RankRLS" and "RLS, p against LC", the p-value of Wilcoxon's signed-ranks test over sentences,
    which the row LC has not.
    """
    cells: dict[str, dict[str, Figure]] = {}
    for treebank in TREEBANKS:
        prefix = "" if treebank == "CRAFT" else f"{treebank}, "
        grams = {row: _gram(settings, kernel, treebank) for row, kernel in KERNELS.items()}
        grams["graph kernel of 2006"] = _graph_gram(settings, treebank)
        lc_tau: dict[tuple[str, str], float] = {}
        for row, K in grams.items():
            rls = _report(settings, K, _make_rls(), treebank=treebank)
            rank = _report(settings, K, RankRLS(alphas=ALPHAS), treebank=treebank)
            tau = _tau_by_sentence(rls)
            lc_tau = lc_tau or tau
            p = wilcoxon_signed_ranks([lc_tau[s] for s in tau], list(tau.values())).p
            cells[prefix + row] = {
                "RLS": _summarise(rls, "tau"),
                "RankRLS": _summarise(rank, "tau"),
            }
            if tau is not lc_tau and p is not None:
                cells[prefix + row]["RLS, p against LC"] = Figure(round(p, 6))
    return cells


def run_features(settings: RunSettings) -> Cells:
    """Compute tau_b of RLS with each type of feature alone: counted, and with the LC kernel.

    One row per sequence of a parse, and one of all together. A type that is the same in all parses
    of a sentence, as words with tags of one tagger, cannot rank them and has no row.
    """
    _, dataset = prepare_parses(settings)
    views = dataset.X
    if not isinstance(views, MultiView):
        raise TypeError("parses must be represented by several views")
    kernels: dict[str, Any] = {
        "counted": SpectrumKernel(1),
        "LC": LocalityConvolution(theta=0.3),
    }
    cells: dict[str, dict[str, Figure]] = {}
    for row, names in {**{t: [t] for t in SEQUENCE_TYPES}, "all": list(SEQUENCE_TYPES)}.items():
        X = MultiView({name: views.view(name) for name in names})
        for column, kernel in kernels.items():
            report = _report(settings, EachView(kernel)(X), _make_rls())
            if any(fold.measures["tau"] is not None for fold in report.folds):
                cells.setdefault(row.replace("_", " "), {})[column] = _summarise(report, "tau")
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


def run_leave_out(settings: RunSettings) -> Cells:
    """Compute tau_b along alpha by leave-one-out, leave-sentence-out and leave-article-out.

    One row per alpha of RLS, one column per unit that is held out ("parses", "sentences",
    "articles"). Closed-form hold-out of all parses: tau_b of the held-out scores, mean over
    sentences where it is defined.
    """
    K = _gram(settings, LocalityConvolution(theta=0.3))
    _, dataset = prepare_parses(settings)
    targets = dataset.targets
    sentences = np.array([f"{c.document} {c.query}" for c in dataset.candidates])
    units = {
        "parses": np.arange(len(K)),
        "sentences": np.unique(sentences, return_inverse=True)[1],
        "articles": targets.groups,
    }
    cells: dict[str, dict[str, Figure]] = {}
    for column, groups in units.items():
        path = RLS(alphas=ALPHAS, select="disagreement").path(K, replace(targets, groups=groups))
        for alpha, scores in zip(path.alphas, path.heldout, strict=True):
            taus = [
                tau
                for s in np.unique(sentences)
                if (tau := kendall_tau_b(targets.y[sentences == s], scores[sentences == s]))
                is not None
            ]
            cells.setdefault(f"alpha {alpha:g}", {})[column] = Figure(
                round(float(np.mean(taus)), 6)
            )
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


def _gram(settings: RunSettings, kernel: Any, treebank: str = "CRAFT") -> Matrix:
    """Return the Gram matrix of a kernel on the n parses of a treebank, shape (n, n), not scaled.

    The kernel is applied to each view of a parse and summed.
    """
    _, dataset = prepare_parses(settings, treebank)
    return EachView(kernel)(dataset.X)


def _graph_gram(settings: RunSettings, treebank: str) -> Matrix:
    """Return the Gram matrix (n, n) of the pipeline ``parse_ranking-graph`` on the n parses."""
    _, dataset = prepare_parses(settings, treebank)
    return AllPathsGraph(combine="sum", directed=False)(ParseGraph()(dataset.candidates))


def _report(
    settings: RunSettings,
    K: Matrix,
    learner: Any,
    splitter: Splitter | None = None,
    treebank: str = "CRAFT",
) -> Report:
    """Return the report of cross-validation with a Gram matrix of all parses.

    ``K`` (n, n) is that of the parses of ``treebank``, in the order of ``prepare_parses``.
    ``splitter`` None holds out one article of CRAFT at a time, or a seventh of GENIA's abstracts.
    """
    pipeline, dataset = prepare_parses(settings, treebank)
    default = LeaveDocumentOut() if treebank == "CRAFT" else make_splitter(folds=7)
    chosen = replace(pipeline, learner=learner)
    return cross_validate_dataset(chosen, replace(dataset, data=K), splitter or default)


def _summarise(report: Report, measure: str) -> Figure:
    """Return mean and standard deviation of a metric over the folds that define it.

    The mean is NaN if none does.
    """
    return Figure.from_values([v for f in report.folds if (v := f.measures[measure]) is not None])


def _cross_validated(
    settings: RunSettings, K: Matrix, learner: Any, measure: str, splitter: Splitter | None = None
) -> Figure:
    """Return mean and standard deviation of the metric ``measure`` over folds of CRAFT.

    ``K`` (n, n) is the Gram matrix of its parses. ``splitter`` None holds out one article at a
    time.
    """
    return _summarise(_report(settings, K, learner, splitter), measure)


def _tau_by_sentence(report: Report) -> dict[tuple[str, str], float]:
    """Return tau_b of each sentence, by document and query; undefined ones are left out."""
    rows: dict[tuple[str, str], list[tuple[float, float]]] = {}
    for decision in report.decisions:
        key = (decision.document, decision.query)
        rows.setdefault(key, []).append((decision.label, decision.score))
    taus = {key: kendall_tau_b(*map(np.array, zip(*r, strict=True))) for key, r in rows.items()}
    return {key: tau for key, tau in taus.items() if tau is not None}


EXPERIMENTS = (
    Experiment("locality-positions", run_positions, files=(CRAFT,), revision=2),
    Experiment("locality-validation", run_validation, files=(CRAFT, GENIA), revision=2),
    Experiment("parse-features", run_features, files=(CRAFT,)),
    Experiment("parse-costs", run_costs, files=(CRAFT,), revision=2),
    Experiment("leave-cluster-out", run_leave_out, files=(CRAFT,)),
)
