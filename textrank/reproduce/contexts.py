"""Words in context: gene and protein names, word senses, spelling, with positions weighted."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import islice
from typing import Any

import numpy as np
import spacy
from sklearn.naive_bayes import BernoulliNB

from textrank.candidates import Candidate, Targets, dedup_groups
from textrank.config import load_corpus, load_pipeline
from textrank.evaluation import cross_validate
from textrank.evaluation.splits import make_folds
from textrank.features import Features, Indices, Matrix, SparseMatrix, Vector
from textrank.formats.research import Senseval
from textrank.kernels.algebra import Linear, Normalized
from textrank.kernels.contexts import Positional
from textrank.learners.base import choose_alpha
from textrank.learners.rls import RLS
from textrank.linalg import solve_krylov_path, spectrum_gram
from textrank.metrics import auc
from textrank.representations.collocations import Collocations
from textrank.representations.contexts import WordPositions
from textrank.representations.transformations import Bag, Sided, Weighting
from textrank.reproduce.base import (
    BROWN,
    JNLPBA,
    SENSEVAL,
    Cells,
    Experiment,
    Figure,
    RunSettings,
    iter_brown_docs,
)
from textrank.tasks.gene_protein import GeneProtein

POSITIONS = "kernel.kernel.kernels.words.kernel.kernel.positions"
BAG = {"@transformations": "bag.v1"}
SIDED = {"@transformations": "sided.v1", "across": 0.5, "of": BAG}
WEIGHTED = {"@transformations": "weighting.v1", "decay": 1.0, "base": 0.1}
COMPARED: Mapping[str, tuple[Mapping[str, Any], int]] = {  # how positions compare, and the span
    "bag of words": (BAG, 30),
    "strict positions": ({"@transformations": "strict.v1"}, 5),
    "smooth positions": ({"@transformations": "smooth.v1"}, 5),
    "contextual weighting": (WEIGHTED | {"of": BAG}, 30),
    "side-aware weighting": (WEIGHTED | {"of": SIDED}, 30),
}


def names(setting: RunSettings, most: int) -> tuple[list[Candidate], list[str]]:
    """Gene and protein names of the first abstracts, with what is held out together."""
    corpus = load_corpus(setting.file(JNLPBA))
    docs = list(islice(corpus(spacy.blank("en")), most))
    task = GeneProtein()
    groups = dedup_groups(docs)
    found = [(c, g) for doc, g in zip(docs, groups, strict=True) for c in task.candidates(doc)]
    return [c for c, _ in found], [g for _, g in found]


def gene_protein(setting: RunSettings) -> Cells:
    """AUC of DNA against protein, five times two halves by abstract."""
    candidates, groups = names(setting, 2000 if setting.full else 1000)
    y = np.array([c.label for c in candidates])
    near = WordPositions(span=60, stop_words="en")(candidates)
    whole = WordPositions(stop_words="en")(candidates)
    bag = Normalized(Positional(Bag()), "zero").features(near)
    published = Positional(Weighting(1.5, 0.025)).features(whole)
    sided = Positional(Weighting(1.5, 0.05, of=Sided(0.5))).features(whole)
    ours = Features.hstack(
        {
            "words": Normalized(Linear(), "zero").features(sided),
            "near": Normalized(Linear(), "zero").features(Collocations()(candidates)),
        }
    )
    fifteen = Positional(Bag()).features(WordPositions(span=15, stop_words="en")(candidates))
    values: dict[str, list[float]] = {}
    for seed in range(5):
        folds = make_folds(groups, 2, setting.seed + seed)
        for fold in (0, 1):
            train, test = np.flatnonzero(folds != fold), np.flatnonzero(folds == fold)
            scores = {
                "naive Bayes": _bayes(fifteen.values, y, train, test),
                "WAC": _additive(published.values, y, train, test),
                "bag of words": _linear(bag.values, y, train, test, 8.0),
                "contextual weighting": _linear(
                    Normalized(Linear(), "zero").features(published).values, y, train, test, 8.0
                ),
                "side-aware weighting and collocations": _linear(ours.values, y, train, test, 4.0),
            }
            for method, own in scores.items():
                values.setdefault(method, []).append(auc(y[test], own) or 0.0)
    return {method: {"AUC": Figure.from_values(own)} for method, own in values.items()}


def gene_protein_kernels(setting: RunSettings) -> Cells:
    """AUC with kernels on top of the bag and of contextual weighting, two halves by abstract."""
    candidates, groups = names(setting, 400 if setting.full else 100)
    targets = Targets.from_candidates(candidates)
    near = WordPositions(span=60, stop_words="en")(candidates)
    whole = WordPositions(stop_words="en")(candidates)
    blocks = {
        "bag": Normalized(Positional(Bag()), "zero").features(near),
        "weighted": Normalized(Positional(Weighting(1.5, 0.025)), "zero").features(whole),
    }
    partitions = [make_folds(groups, 2, setting.seed + s) for s in range(2)]
    cells: dict[str, dict[str, Figure]] = {}
    for column, F in blocks.items():
        K = spectrum_gram(F.values)
        tops = {
            "linear": K,
            "Gaussian": np.exp(-(2.0 - 2.0 * K)),
            "polynomial, 2": (K + 1.0) ** 2 / 4,
            "polynomial, 3": (K + 1.0) ** 3 / 8,
        }
        for row, top in tops.items():
            cells.setdefault(row, {})[column] = Figure.from_values(
                _halves(top, targets, partitions)
            )
    return cells


def word_senses(setting: RunSettings) -> Cells:
    """Accuracy over the instances of four words."""
    docs = list(Senseval(str(setting.file(SENSEVAL)))(spacy.blank("en")))
    docs = docs if setting.full else docs[setting.seed % 10 :: 10]
    weights = {"words": 1.0, "near": 0.0, "mention": 0.0}
    return _compared("wsd", docs, weights, {"near": 1.0})


def spelling(setting: RunSettings) -> Cells:
    """Accuracy over the occurrences of 21 confusion sets, whole files held out."""
    docs = list(iter_brown_docs(setting.file(BROWN)))
    docs = docs if setting.full else docs[setting.seed % 8 :: 8]
    return _compared("spelling", docs, {"words": 1.0, "near": 0.0}, {"near": 1.0})


def _compared(
    pipeline: str, docs: list[Any], weights: Mapping[str, float], more: Mapping[str, float]
) -> Cells:
    """The pipeline with its words seen in several ways, then with its collocations."""
    cells: dict[str, dict[str, Figure]] = {}
    for name, (positions, span) in COMPARED.items():
        settings = {
            POSITIONS: positions,
            "representation.representations.words.span": span,
            "kernel.kernel.weights": dict(weights),
            "learner.learner.alphas": [1.0],
            "learner.learner.folds": 2,
        }
        cells[name] = _accuracy(pipeline, docs, settings)
    settings["kernel.kernel.weights"] = {**weights, **more}
    cells["side-aware weighting and collocations"] = _accuracy(pipeline, docs, settings)
    return cells


def _accuracy(pipeline: str, docs: list[Any], settings: Mapping[str, Any]) -> dict[str, Figure]:
    report = cross_validate(load_pipeline(pipeline, settings), docs, folds=3)
    return {
        label: Figure.from_values([v for f in report.folds if (v := f.measures[key]) is not None])
        for key, label in (("accuracy", "pooled"), ("accuracy_of_sets", "mean of words or sets"))
    }


def _linear(X: SparseMatrix, y: Vector, train: Indices, test: Indices, alpha: float) -> Vector:
    centred = y[train] - y[train].mean()
    w = solve_krylov_path(X[train], centred, np.array([alpha]), tolerance=1e-3)[0]
    return np.asarray(X[test] @ w)


def _bayes(X: SparseMatrix, y: Vector, train: Indices, test: Indices) -> Vector:
    model = BernoulliNB().fit(X[train], y[train] > 0)
    found = model.predict_log_proba(X[test])
    return np.asarray(found[:, 1] - found[:, 0])


def _additive(X: SparseMatrix, y: Vector, train: Indices, test: Indices) -> Vector:
    """The weighted additive classifier: a word says how much of its weight stood by positives."""
    positive, all_ = X[train].T @ (y[train] > 0).astype(float), X[train].sum(axis=0)
    share = (positive + 0.5) / (np.asarray(all_).ravel() + 1.0)
    return np.asarray((X[test] @ share) / np.maximum(np.asarray(X[test].sum(axis=1)).ravel(), 1e-9))


def _halves(K: Matrix, targets: Targets, partitions: list[Indices]) -> list[float]:
    """AUC of each half, alpha by leave-document-out in the other."""
    values = []
    for nested in RLS(alphas=(0.5, 2.0, 8.0)).nested(K, targets, partitions):
        for fold in np.unique(nested.folds):
            out, rest = np.flatnonzero(nested.folds == fold), np.flatnonzero(nested.folds != fold)
            best = choose_alpha(
                nested.inner[:, fold][:, rest], targets.take(rest), "auc", nested.alphas
            )
            values.append(auc(targets.y[out], nested.outer[best, out]) or 0.0)
    return values


TABLES = (
    Experiment("gene-protein", gene_protein, files=(JNLPBA,)),
    Experiment("gene-protein-kernels", gene_protein_kernels, files=(JNLPBA,)),
    Experiment("word-senses", word_senses, files=(SENSEVAL,)),
    Experiment("spelling", spelling, files=(BROWN,)),
)
