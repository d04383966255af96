"""Interactions within and across corpora, what leaks are worth, and embeddings of pairs."""

from __future__ import annotations

import warnings
from collections.abc import Iterator

import numpy as np
import spacy
from spacy.tokens import Doc

from textrank.config import load_corpus, load_pipeline
from textrank.evaluation import cross_validate, cross_validate_dataset
from textrank.evaluation.evaluate import cross
from textrank.evaluation.splits import LeakyFolds, make_folds, make_splitter
from textrank.features import Indices, Matrix, Vector, require_single_kernel
from textrank.io import MAX_UNPACKED_BYTES, read_json
from textrank.learners.g2p import G2P, class_matrix
from textrank.learners.rls import RLS
from textrank.linalg import spectrum_gram
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
from textrank.reproduce.parses import leaking

CORPORA = ("AImed", "BioInfer", "IEPA", "LLL")
FILES = tuple(f"ppi/{name}.xml.gz" for name in CORPORA)
PART = {"AImed": 2, "BioInfer": 4, "IEPA": 1, "LLL": 1}  # every so manieth document
NAMES = {"auc": "AUC", "f": "F", "f_best": "F, best threshold", "f_rate": "F, share known"}


def documents(setting: RunSettings, name: str) -> list[Doc]:
    """The documents of a corpus, in the short version every so manieth."""
    docs = list(load_corpus(setting.file(f"ppi/{name}.xml.gz"))(spacy.blank("en")))
    return docs if setting.full else docs[setting.seed % PART[name] :: PART[name]]


def within(setting: RunSettings) -> Cells:
    """F and AUC of the all-paths kernel, documents held out by the given folds."""
    table = read_json(setting.file("ppi/folds.json"), MAX_UNPACKED_BYTES)
    cells = {}
    for name in CORPORA:
        docs = documents(setting, name)
        report = cross_validate(load_pipeline("ppi-apg"), docs, folds=table[name], corpus=name)
        cells[name] = {
            label: Figure.from_values(
                [v for fold in report.folds if (v := fold.measures[key]) is not None]
            )
            for key, label in (("f", "F"), ("auc", "AUC"))
        }
    return cells


def across(setting: RunSettings) -> Cells:
    """AUC, and F under three thresholds, trained on one corpus and tested on another."""
    found = cross(load_pipeline("ppi-apg"), {name: documents(setting, name) for name in CORPORA})
    cells: dict[str, dict[str, Figure]] = {}
    for (train, test), report in found.reports.items():
        row = {
            label: Figure(value)
            for key, label in (NAMES | {"f": "F, own threshold"}).items()
            if (value := report.measures[key].mean) is not None
        }
        cells[f"{train} → {test}"] = row
    return cells


def leaks(setting: RunSettings) -> Cells:
    """Parses and interactions, dependent ones held together and dealt out singly."""
    cells = {"parses, tau_b": leaking(setting)}
    pipeline = load_pipeline("ppi-apg")
    for name in ("AImed", "IEPA"):
        dataset = pipeline.prepare(documents(setting, name))
        splitters = {"dependent held together": make_splitter(folds=10), "split": LeakyFolds(10)}
        for split, splitter in splitters.items():
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # that it leaks is what is shown
                report = cross_validate_dataset(pipeline, dataset, splitter)
            for key in ("f", "auc"):
                values = [v for f in report.folds if (v := f.measures[key]) is not None]
                cells.setdefault(f"{name}, {NAMES[key]}", {})[split] = Figure.from_values(values)
    return cells


def embedded(setting: RunSettings) -> Cells:
    """G2P embeddings of the all-paths similarities, against the similarities themselves."""
    cells: dict[str, dict[str, Figure]] = {}
    table = read_json(setting.file("ppi/folds.json"), MAX_UNPACKED_BYTES)
    pipeline = load_pipeline("ppi-apg")
    for name in ("IEPA", "LLL"):
        dataset = pipeline.prepare(documents(setting, name))
        data = require_single_kernel(dataset.data, "this table")
        S = spectrum_gram(data.values) if not isinstance(data, np.ndarray) else data
        names = [c.group for c in dataset.candidates]
        folds = np.array([table[name][d] for d in names])
        values: dict[str, list[float]] = {}
        for fold in range(10 if setting.full else 5):
            train, test = np.flatnonzero(folds != fold), np.flatnonzero(folds == fold)
            inner = make_folds([names[i] for i in train], 3, setting.seed)
            for method, f, area in _methods(S, dataset.targets.y, train, test, inner):
                values.setdefault(f"{method}, F", []).append(f)
                values.setdefault(f"{method}, AUC", []).append(area)
        cells[name] = {column: Figure.from_values(own) for column, own in values.items()}
    return cells


def _methods(
    S: Matrix, y: Vector, train: Indices, test: Indices, inner: Indices
) -> Iterator[tuple[str, float, float]]:
    for method in ("G2P", "similarity features", "kernel RLS"):
        settings = (0.1, 1.0, 10.0) if method == "G2P" else (1.0,)
        tries = [(_inner(method, a, S, y, train, inner), a) for a in settings]
        areas = [auc(y[train], own) or 0.0 for own, _ in tries]
        held, alpha = tries[choose_largest(areas, settings)]
        scores = _scores(method, alpha, S, y, train, test)
        decided = decide(scores, best_threshold(y[train], held) or 0.0)
        yield method, precision_recall_f(y[test], decided).f or 0.0, auc(y[test], scores) or 0.0


def _inner(
    method: str, alpha: float, S: Matrix, y: Vector, train: Indices, inner: Indices
) -> Vector:
    held = np.zeros(len(train))
    for fold in np.unique(inner):
        rest, out = train[inner != fold], train[inner == fold]
        held[inner == fold] = _scores(method, alpha, S, y, rest, out)
    return held


def _scores(
    method: str, alpha: float, S: Matrix, y: Vector, train: Indices, test: Indices
) -> Vector:
    """Least squares on the embedding, on the similarities as features, or on the kernel itself."""
    own, new = S[np.ix_(train, train)], S[np.ix_(test, train)]
    learner = RLS(alphas=(0.25, 1.0, 4.0))
    if method == "kernel RLS":
        return learner.fit(own, independent_targets(y[train])).predict(new)
    if method == "G2P":
        P = G2P(alpha=alpha, neighbours=max(len(train) // 4, 15)).fit(
            own, class_matrix(y[train][:, None], "binary")
        )
        own, new = own @ P, new @ P
        scale = np.sqrt((own**2).sum(axis=1).mean()) or 1.0
        own, new = own / scale, new / scale
    return learner.fit(to_features(own), independent_targets(y[train])).predict(to_features(new))


TABLES = (
    Experiment("ppi-within", within, files=(*FILES, "ppi/folds.json")),
    Experiment("ppi-across", across, files=FILES),
    Experiment("leaks", leaks, files=(FILES[0], FILES[2], CRAFT)),
    Experiment("embedding-ppi", embedded, files=(FILES[2], FILES[3], "ppi/folds.json")),
)
