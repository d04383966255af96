"""Protein interactions: within and across corpora, the effect of leaks, and embeddings of pairs."""

from __future__ import annotations

import warnings
from collections.abc import Iterator

import numpy as np
import spacy
from spacy.tokens import Doc

from textrank.config import load_corpus, load_pipeline
from textrank.evaluation import cross_validate, cross_validate_dataset
from textrank.evaluation.evaluate import cross_corpora
from textrank.evaluation.splits import LeakyFolds, make_folds, make_splitter
from textrank.features import Indices, Matrix, Vector, require_single_kernel
from textrank.io import MAX_UNPACKED_BYTES, read_json
from textrank.learners.g2p import G2P, class_matrix
from textrank.learners.rls import RLS
from textrank.linalg import gram
from textrank.metrics import auc, best_threshold, choose_largest, decide, precision_recall_f
from textrank.reproduce.base import (
    CRAFT,
    Cells,
    Experiment,
    Figure,
    RunSettings,
    independent_targets,
    to_features,
)
from textrank.reproduce.parses import measure_leak

CORPORA = ("AImed", "BioInfer", "IEPA", "LLL")
CORPUS_FILES = tuple(f"ppi/{name}.xml.gz" for name in CORPORA)
SHORT_STEP = {
    "AImed": 2,
    "BioInfer": 4,
    "IEPA": 1,
    "LLL": 1,
}  # take every n-th document in the short version
METRIC_NAMES = {"auc": "AUC", "f": "F", "f_best": "F, best threshold", "f_rate": "F, share known"}


def read_documents(settings: RunSettings, name: str) -> list[Doc]:
    """Return the documents of a corpus of ``CORPORA``, in file order.

    In the short version only every ``SHORT_STEP``-th, beginning at an offset given by the seed.
    """
    docs = list(load_corpus(settings.file(f"ppi/{name}.xml.gz"))(spacy.blank("en")))
    return docs if settings.full else docs[settings.seed % SHORT_STEP[name] :: SHORT_STEP[name]]


def run_within(settings: RunSettings) -> Cells:
    """Compute F and AUC of the all-paths kernel with the given folds.

    One row per corpus; mean and standard deviation over the folds of ``ppi/folds.json``.
    """
    table = read_json(settings.file("ppi/folds.json"), MAX_UNPACKED_BYTES)
    cells = {}
    for name in CORPORA:
        docs = read_documents(settings, name)
        report = cross_validate(load_pipeline("ppi-apg"), docs, folds=table[name], corpus=name)
        cells[name] = {
            label: Figure.from_values(
                [v for fold in report.folds if (v := fold.measures[key]) is not None]
            )
            for key, label in (("f", "F"), ("auc", "AUC"))
        }
    return cells


def run_across(settings: RunSettings) -> Cells:
    """Compute AUC and F under three thresholds, trained on one corpus and tested on another.

    One row per ordered pair of corpora, "train → test"; undefined metrics are left out.
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

    One row per data set and metric; columns "dependent held together" and "split".
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
    """Compute F and AUC of G2P embeddings of all-paths similarities, and of the similarities.

    One row per corpus (IEPA, LLL), one column per method and metric, over five of the ten given
    folds; all ten in the full version.
    """
    cells: dict[str, dict[str, Figure]] = {}
    table = read_json(settings.file("ppi/folds.json"), MAX_UNPACKED_BYTES)
    pipeline = load_pipeline("ppi-apg")
    for name in ("IEPA", "LLL"):
        dataset = pipeline.prepare(read_documents(settings, name))
        data = require_single_kernel(dataset.data, "this table")
        S = gram(data.values) if not isinstance(data, np.ndarray) else data
        names = [c.group for c in dataset.candidates]
        folds = np.array([table[name][d] for d in names])
        values: dict[str, list[float]] = {}
        for fold in range(10 if settings.full else 5):
            train, test = np.flatnonzero(folds != fold), np.flatnonzero(folds == fold)
            inner = make_folds([names[i] for i in train], 3, settings.seed)
            for method, f, area in _iter_methods(S, dataset.targets.y, train, test, inner):
                values.setdefault(f"{method}, F", []).append(f)
                values.setdefault(f"{method}, AUC", []).append(area)
        cells[name] = {
            column: Figure.from_values(column_values) for column, column_values in values.items()
        }
    return cells


def _iter_methods(
    S: Matrix, y: Vector, train: Indices, test: Indices, inner: Indices
) -> Iterator[tuple[str, float, float]]:
    """Iterate over method, F and AUC on the test rows, settings chosen by inner folds.

    ``S`` is the similarity of all candidates, shape (n, n), ``y`` their labels; ``train`` and
    ``test`` are row numbers, ``inner`` the inner fold of each training row. Alpha of G2P and the
    threshold are chosen on inner held-out scores. Undefined metrics count as 0.
    """
    for method in ("G2P", "similarity features", "kernel RLS"):
        settings = (0.1, 1.0, 10.0) if method == "G2P" else (1.0,)
        candidates = [(_inner_scores(method, a, S, y, train, inner), a) for a in settings]
        areas = [auc(y[train], inner_scores) or 0.0 for inner_scores, _ in candidates]
        best_inner, alpha = candidates[choose_largest(areas, settings)]
        scores = _scores(method, alpha, S, y, train, test)
        decided = decide(scores, best_threshold(y[train], best_inner) or 0.0)
        yield method, precision_recall_f(y[test], decided).f or 0.0, auc(y[test], scores) or 0.0


def _inner_scores(
    method: str, alpha: float, S: Matrix, y: Vector, train: Indices, inner: Indices
) -> Vector:
    """Return cross-validated scores of the training rows, shape (len(train),).

    ``inner`` has the fold of each training row; ``alpha`` is the setting of G2P. Other arguments
    are as in ``_scores``.
    """
    held_out = np.zeros(len(train))
    for fold in np.unique(inner):
        rest, out = train[inner != fold], train[inner == fold]
        held_out[inner == fold] = _scores(method, alpha, S, y, rest, out)
    return held_out


def _scores(
    method: str, alpha: float, S: Matrix, y: Vector, train: Indices, test: Indices
) -> Vector:
    """Return test scores of RLS on the G2P embedding, the similarity features or the kernel.

    ``S`` is the similarity of all candidates, shape (n, n); ``train`` and ``test`` are row numbers.
    ``method`` is "kernel RLS", "G2P" or any other name for similarity features; ``alpha`` is used
    by G2P only. RLS chooses its own alpha by leave-one-out. The result has shape (len(test),).
    """
    train_part, test_part = S[np.ix_(train, train)], S[np.ix_(test, train)]
    learner = RLS(alphas=(0.25, 1.0, 4.0))
    if method == "kernel RLS":
        return learner.fit(train_part, independent_targets(y[train])).predict(test_part)
    if method == "G2P":
        P = G2P(alpha=alpha, neighbours=max(len(train) // 4, 15)).fit(
            train_part, class_matrix(y[train][:, None], "binary")
        )
        train_part, test_part = train_part @ P, test_part @ P
        scale = np.sqrt((train_part**2).sum(axis=1).mean()) or 1.0
        train_part, test_part = train_part / scale, test_part / scale
    return learner.fit(to_features(train_part), independent_targets(y[train])).predict(
        to_features(test_part)
    )


EXPERIMENTS = (
    Experiment("ppi-within", run_within, files=(*CORPUS_FILES, "ppi/folds.json")),
    Experiment("ppi-across", run_across, files=CORPUS_FILES),
    Experiment("leaks", run_leaks, files=(CORPUS_FILES[0], CORPUS_FILES[2], CRAFT)),
    Experiment(
        "embedding-ppi", run_embedding, files=(CORPUS_FILES[2], CORPUS_FILES[3], "ppi/folds.json")
    ),
)
