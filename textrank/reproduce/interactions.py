"""Protein interactions: within and across corpora, the effect of leaks, and embeddings of pairs."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import spacy
from spacy.tokens import Doc

from textrank.config import load_corpus, load_pipeline
from textrank.evaluation import cross_validate_dataset
from textrank.evaluation.evaluate import cross_corpora
from textrank.evaluation.report import Report
from textrank.evaluation.splits import LeakyFolds, make_splitter
from textrank.evaluation.statistics import permutation_test, wilcoxon_signed_ranks
from textrank.io import MAX_UNPACKED_BYTES, read_json
from textrank.learners.baselines import Cooccurrence
from textrank.learners.rls import RLS
from textrank.pipeline import Pipeline
from textrank.protocols import expand_choices
from textrank.reproduce.base import CRAFT, Cells, Experiment, Figure, RunSettings
from textrank.reproduce.parses import measure_leak

CORPORA = ("AImed", "BioInfer", "IEPA", "LLL")
CORPUS_FILES = tuple(f"ppi/{name}.xml.gz" for name in CORPORA)
SHORT_STEP = {
    "AImed": 2,
    "BioInfer": 4,
    "IEPA": 1,
    "LLL": 1,
}  # take every n-th document in the short version
EMBEDDED_CORPORA = ("AImed", "IEPA", "LLL")
EMBEDDED_STEP = {"AImed": 6, "IEPA": 1, "LLL": 1}  # likewise, for embeddings
EMBEDDED_FILES = tuple(f"ppi/{name}.xml.gz" for name in EMBEDDED_CORPORA)
COMBINE_SETTING = "kernel.kernel.combine"
WITHIN_METRICS = {"precision": "precision", "recall": "recall", "f": "F", "auc": "AUC"}
METRIC_NAMES = {"auc": "AUC", "f": "F", "f_best": "F, best threshold", "f_rate": "F, share known"}


def read_documents(
    settings: RunSettings, name: str, steps: Mapping[str, int] = SHORT_STEP
) -> list[Doc]:
    """Return the documents of a corpus of ``CORPORA``, in file order.

    In the short version only every n-th, n of ``steps``, beginning at an offset given by the seed.
    Raises ValueError if the file is missing.
    """
    docs = list(load_corpus(settings.file(f"ppi/{name}.xml.gz"))(spacy.blank("en")))
    return docs if settings.full else docs[settings.seed % steps[name] :: steps[name]]


def run_within(settings: RunSettings) -> Cells:
    """Compute precision, recall, F and AUC of the all-paths kernel with the given folds.

    One row per corpus of ``CORPORA``; mean and standard deviation over the folds of
    ``ppi/folds.json``. The last columns are precision and F of the co-occurrence baseline, which
    says yes to every pair.
    """
    table = read_json(settings.file("ppi/folds.json"), MAX_UNPACKED_BYTES)
    pipeline, cells = load_pipeline("ppi-apg"), {}
    for name in CORPORA:
        dataset = pipeline.prepare(read_documents(settings, name))
        splitter = make_splitter(folds=table[name])
        report = cross_validate_dataset(pipeline, dataset, splitter, corpus=name)
        everything = replace(pipeline, learner=Cooccurrence())
        baseline = cross_validate_dataset(everything, dataset, splitter, corpus=name)
        cells[name] = {
            **{label: _fold_figure(report, key) for key, label in WITHIN_METRICS.items()},
            "co-occurrence, precision": _fold_figure(baseline, "precision"),
            "co-occurrence, F": _fold_figure(baseline, "f"),
        }
    return cells


def run_sum_or_maximum(settings: RunSettings) -> Cells:
    """Compute F and AUC of the all-paths kernel with the maximum and with the sum over vertices.

    One row per corpus of ``CORPORA``; the p-value is that of a paired permutation test (2000
    resamples) of AUC over the folds of ``ppi/folds.json``, 1 if undefined.
    """
    table = read_json(settings.file("ppi/folds.json"), MAX_UNPACKED_BYTES)
    cells = {}
    for name in CORPORA:
        docs, splitter = read_documents(settings, name), make_splitter(folds=table[name])
        row: dict[str, Figure] = {}
        aucs: list[list[float]] = []
        for label, combine in (("maximum", "max"), ("sum", "sum")):
            pipeline = load_pipeline("ppi-apg", {COMBINE_SETTING: combine})
            report = cross_validate_dataset(pipeline, pipeline.prepare(docs), splitter, corpus=name)
            row |= {f"F, {label}": _fold_figure(report, "f")}
            row |= {f"AUC, {label}": _fold_figure(report, "auc")}
            aucs.append([fold.measures["auc"] or 0.0 for fold in report.folds])
        p = permutation_test(aucs[0], aucs[1], resamples=2000).p
        cells[name] = {**row, "p of AUC": Figure(round(1.0 if p is None else p, 4))}
    return cells


def _fold_figure(report: Report, metric: str) -> Figure:
    """Return mean and spread of a metric over the folds that define it; NaN if none does."""
    values = [fold.measures[metric] for fold in report.folds]
    return Figure.from_values([value for value in values if value is not None])


def run_across(settings: RunSettings) -> Cells:
    """Compute AUC and F under three thresholds, trained on one corpus and tested on another.

    One row per ordered pair of ``CORPORA``, "train → test"; columns are the labels of
    ``METRIC_NAMES``, where "f" is "F, own threshold". Undefined metrics are left out.
    """
    crossed = cross_corpora(
        load_pipeline("ppi-apg"), {name: read_documents(settings, name) for name in CORPORA}
    )
    cells: dict[str, dict[str, Figure]] = {}
    for (train, test), report in crossed.reports.items():
        row = {
            label: Figure(value)
            for key, label in (METRIC_NAMES | {"f": "F, own threshold"}).items()
            if (value := report.measures[key].mean) is not None
        }
        cells[f"{train} → {test}"] = row
    return cells


def run_leaks(settings: RunSettings) -> Cells:
    """Compute metrics with dependent candidates held out together, and assigned one by one.

    One row per data set and metric; columns "dependent held together" and "split". Over ten folds
    of AImed and IEPA; parses are those of ``measure_leak``. Warnings about the leak are suppressed.
    """
    cells = {"parses, tau_b": measure_leak(settings)}
    pipeline = load_pipeline("ppi-apg")
    for name in ("AImed", "IEPA"):
        dataset = pipeline.prepare(read_documents(settings, name))
        splitters = {"dependent held together": make_splitter(folds=10), "split": LeakyFolds(10)}
        for split, splitter in splitters.items():
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # the leak is intended here
                report = cross_validate_dataset(pipeline, dataset, splitter)
            for key in ("f", "auc"):
                values = [v for f in report.folds if (v := f.measures[key]) is not None]
                cells.setdefault(f"{name}, {METRIC_NAMES[key]}", {})[split] = Figure.from_values(
                    values
                )
    return cells


def run_embedding(settings: RunSettings) -> Cells:
    """Compute F and AUC of G2P embeddings of one and of combined similarities, and without G2P.

    One row per corpus, one column per method and metric, over five folds of two given ones each, or
    the ten given folds in the full version. The column with "p" tests the AUC of G2P against that
    of RLS on the same kernel by Wilcoxon's signed ranks over folds.
    """
    cells: dict[str, dict[str, Figure]] = {}
    table = read_json(settings.file("ppi/folds.json"), MAX_UNPACKED_BYTES)
    pipeline = load_pipeline("ppi-g2p")
    for name in EMBEDDED_CORPORA:
        docs = read_documents(settings, name, EMBEDDED_STEP)
        count = 10 if settings.full else 5
        splitter = make_splitter(folds={doc: fold % count for doc, fold in table[name].items()})
        areas: dict[str, list[float]] = {}
        row: dict[str, Figure] = {}
        for method, (kernel, learner) in _embedding_methods(pipeline).items():
            chosen = replace(pipeline, kernel=kernel, learner=learner)
            report = cross_validate_dataset(chosen, chosen.prepare(docs), splitter)
            for key, label in (("f", "F"), ("auc", "AUC")):
                values = [v for f in report.folds if (v := f.measures[key]) is not None]
                row[f"{method}, {label}"] = Figure.from_values(values)
            areas[method] = [f.measures["auc"] or 0.0 for f in report.folds]
        p = wilcoxon_signed_ranks(areas["G2P"], areas["kernel RLS"]).p
        row["AUC, p of G2P against RLS"] = Figure(round(p or 1.0, 6))
        cells[name] = row
    return cells


def run_embedding_across(settings: RunSettings) -> Cells:
    """Compute F and AUC of ``ppi-g2p`` trained on one corpus, or on all others, tested on another.

    One row per ordered pair of corpora, "train → test", and "others → test" for one embedding of
    the other corpora together.
    """
    docs = {name: read_documents(settings, name, EMBEDDED_STEP) for name in EMBEDDED_CORPORA}
    pipeline = load_pipeline("ppi-g2p")
    reports = dict(cross_corpora(pipeline, docs).reports)
    for name in EMBEDDED_CORPORA:
        others = [doc for other, part in docs.items() if other != name for doc in part]
        crossed = cross_corpora(pipeline, {"others": others, name: docs[name]})
        reports["others", name] = crossed.reports["others", name]
    return {
        f"{train} → {test}": {
            label: Figure(value)
            for key, label in (("auc", "AUC"), ("f", "F"))
            if (value := report.measures[key].mean) is not None
        }
        for (train, test), report in reports.items()
    }


def _embedding_methods(pipeline: Pipeline) -> dict[str, tuple[Any, Any]]:
    """Return kernel and learner of each method, by name.

    "G2P" embeds the all-paths kernel, "G2P, combined" the sum of three similarities; "kernel RLS"
    and "kernel RLS, combined" are RLS with the same two kernels, without an embedding.
    """
    kernels = expand_choices(pipeline.kernel)
    rls = RLS(alphas=(0.25, 1.0, 4.0))
    return {
        "G2P": (kernels["graph"], pipeline.learner),
        "G2P, combined": (kernels["combined"], pipeline.learner),
        "kernel RLS": (kernels["graph"], rls),
        "kernel RLS, combined": (kernels["combined"], rls),
    }


EXPERIMENTS = (
    Experiment("ppi-within", run_within, files=(*CORPUS_FILES, "ppi/folds.json"), revision=2),
    Experiment("ppi-sum-maximum", run_sum_or_maximum, files=(*CORPUS_FILES, "ppi/folds.json")),
    Experiment("ppi-across", run_across, files=CORPUS_FILES),
    Experiment("leaks", run_leaks, files=(CORPUS_FILES[0], CORPUS_FILES[2], CRAFT), revision=2),
    Experiment(
        "embedding-ppi", run_embedding, files=(*EMBEDDED_FILES, "ppi/folds.json"), revision=2
    ),
    Experiment("embedding-across", run_embedding_across, files=EMBEDDED_FILES),
)
