"""Words in context: gene and protein names, word senses and spelling, with weighted positions."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import islice
from typing import Any

import numpy as np
import spacy
from sklearn.naive_bayes import BernoulliNB
from spacy.tokens import Doc

from textrank.candidates import Candidate, Targets, dedup_groups
from textrank.config import load_corpus, load_pipeline
from textrank.evaluation import cross_validate
from textrank.evaluation.splits import make_folds
from textrank.features import Features, Indices, Matrix, SparseMatrix, Vector
from textrank.formats.research import Senseval
from textrank.kernels.algebra import Linear, Normalized
from textrank.kernels.sequences import Positional
from textrank.learners.base import choose_alpha
from textrank.learners.rls import RLS
from textrank.linalg import gram, solve_krylov_path
from textrank.metrics import auc
from textrank.representations.collocations import Collocations
from textrank.representations.contexts import WordPositions
from textrank.representations.transformations import Bag, LogScale, Sided, Weighting
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
from textrank.tasks.senses import GeneProtein

WORDS_KEY = "kernel.kernel.kernels.words.kernel.kernel"
CONTEXT_SPAN = 30  # words on either side, the same for all variants
BAG = {"@transformations": "bag.v1"}
STRICT = {"@transformations": "strict.v1"}
# Every position is a bin of its own, so that similarities equal their formulas.
EXACT = {"bins": list(range(1, CONTEXT_SPAN + 1)), "tolerance": 0.001}
SMOOTH = {"@transformations": "smooth.v1", "theta": 1.0, **EXACT}
SCALE_FREE = {"@transformations": "scale_free.v1", "theta": 3.0, **EXACT}
SIDED = {"@transformations": "sided.v1", "across": 0.5, "of": BAG}
SHARED_TAG = {
    "@transformations": "mixture.v1",
    "weights": {"equal": 1.0, "tag": 0.2},
    "parts": {
        "equal": {"@transformations": "equal_words.v1"},
        "tag": {"@transformations": "shared_tag.v1", "tags": "english", "unknown": "ending"},
    },
}


def _weighted(positions: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the cfg block of a similarity of positions with weights ``1/d + 0.1``, d the distance.

    ``positions`` is the cfg block of the similarity without weights.
    """
    return {"@transformations": "weighting.v1", "decay": 1.0, "base": 0.1, "of": positions}


# Similarities of positions and of words; None for equal words only.
VARIANTS: Mapping[str, tuple[Mapping[str, Any], Mapping[str, Any] | None]] = {
    "bag of words": (BAG, None),
    "contextual weighting": (_weighted(BAG), None),
    "strict positions": (STRICT, None),
    "smooth positions": (SMOOTH, None),
    "weighted strict positions": (_weighted(STRICT), None),
    "weighted smooth positions": (_weighted(SMOOTH), None),
    "scale-free positions": (SCALE_FREE, None),
    "weighted scale-free positions": (_weighted(SCALE_FREE), None),
    "contextual weighting, shared tags": (_weighted(BAG), SHARED_TAG),
    "weighted scale-free positions, shared tags": (_weighted(SCALE_FREE), SHARED_TAG),
    "side-aware weighting": (_weighted(SIDED), None),
}
WITH_COLLOCATIONS = ("side-aware weighting", "weighted scale-free positions, shared tags")
DISTANCES = ((1, 1), (2, 2), (3, 3), (4, 5), (6, 10), (11, 20), (21, 50), (51, 100), (101, 999))


def read_names(settings: RunSettings, most: int) -> tuple[list[Candidate], list[str]]:
    """Return the gene and protein names of the first ``most`` abstracts, and the group of each.

    The two lists have one entry per name, in text order. Abstracts that share text have the same
    group; candidates of a group are held out together. Raises ValueError if the JNLPBA file is
    missing.
    """
    corpus = load_corpus(settings.file(JNLPBA))
    docs = list(islice(corpus(spacy.blank("en")), most))
    task = GeneProtein()
    groups = dedup_groups(docs)
    pairs = [(c, g) for doc, g in zip(docs, groups, strict=True) for c in task.candidates(doc)]
    return [c for c, _ in pairs], [g for _, g in pairs]


def run_gene_protein(settings: RunSettings) -> Cells:
    """Compute the AUC of DNA against protein in 5x2 cross-validation by abstract.

    One row per method, one column "AUC": mean and standard deviation of the ten halves, where an
    undefined AUC counts 0. Uses 1000 abstracts, 2000 in the full version. The methods and their
    alphas are fixed, not chosen.
    """
    candidates, groups = read_names(settings, 2000 if settings.full else 1000)
    y = np.array([c.label for c in candidates])
    near_words = WordPositions(span=60, stop_words="en")(candidates)
    all_words = WordPositions(stop_words="en")(candidates)
    bag = Normalized(Positional(Bag()), "zero").features(near_words)
    weighted = Positional(Weighting(1.5, 0.025)).features(all_words)
    sided = Positional(Weighting(1.5, 0.05, of=Sided(0.5))).features(all_words)
    kept = WordPositions()(candidates)
    scale_free = Weighting(1.0, 0.025, of=LogScale(1.0, tolerance=1e-3))
    smooth = Normalized(Positional(scale_free), "zero").features(kept)
    combined = Features.hstack(
        {
            "words": Normalized(Linear(), "zero").features(sided),
            "near": Normalized(Linear(), "zero").features(Collocations()(candidates)),
        }
    )
    fifteen = Positional(Bag()).features(WordPositions(span=15, stop_words="en")(candidates))
    values: dict[str, list[float]] = {}
    for seed in range(5):
        folds = make_folds(groups, 2, settings.seed + seed)
        for fold in (0, 1):
            train, test = np.flatnonzero(folds != fold), np.flatnonzero(folds == fold)
            scores = {
                "naive Bayes": _score_naive_bayes(fifteen.values, y, train, test),
                "WAC": _score_additive(weighted.values, y, train, test),
                "bag of words": _score_rls(bag.values, y, train, test, 8.0),
                "contextual weighting": _score_rls(
                    Normalized(Linear(), "zero").features(weighted).values, y, train, test, 8.0
                ),
                "weighted scale-free positions": _score_rls(smooth.values, y, train, test, 4.0),
                "side-aware weighting and collocations": _score_rls(
                    combined.values, y, train, test, 4.0
                ),
            }
            for method, method_scores in scores.items():
                values.setdefault(method, []).append(auc(y[test], method_scores) or 0.0)
    return {method: {"AUC": Figure.from_values(areas)} for method, areas in values.items()}


def run_sense_distances(settings: RunSettings) -> Cells:
    """Compute how often the word at a distance from a name is in a name of the same kind.

    One row per range of distances, in words; columns "same sense" and "opposite sense" are shares
    of the words at these distances, over all names. Uses 500 abstracts, 2000 in the full version.
    """
    corpus = load_corpus(settings.file(JNLPBA))
    docs = list(islice(corpus(spacy.blank("en")), 2000 if settings.full else 500))
    counts = np.zeros((len(DISTANCES), 3))
    starts = np.array([low for low, _ in DISTANCES])
    for doc in docs:
        kinds = _kinds_of_words(doc)
        for place in np.flatnonzero(kinds):
            distance = np.abs(np.arange(len(kinds)) - place)
            row = np.searchsorted(starts, distance, side="right") - 1  # -1 for the name itself
            same = kinds * kinds[place]
            for column, cell in enumerate((same > 0, same < 0, same < np.inf)):
                counts[:, column] += np.bincount(row[cell & (row >= 0)], minlength=len(DISTANCES))
    labels = [f"{a}" if a == b else f"{a}–{b}" for a, b in DISTANCES]
    shares = counts[:, :2] / np.maximum(counts[:, 2:], 1)
    columns = ("same sense", "opposite sense")
    return {
        label: {c: Figure(round(float(v), 6)) for c, v in zip(columns, row, strict=True)}
        for label, row in zip(labels, shares, strict=True)
    }


def _kinds_of_words(doc: Doc) -> Vector:
    """Return the label of each word of a Doc in text order: 1 or -1 of a name, 0 of another word.

    A name is one word, whatever its length; tokens without a letter or digit are left out.
    """
    labels = {c.spans[0].start: c for c in GeneProtein().candidates(doc) if c.label is not None}
    kinds, token = [], 0
    while token < len(doc):
        name = labels.get(token)
        if name is not None:
            kinds.append(name.label or 0.0)
            token = name.spans[0].end
            continue
        if any(character.isalnum() for character in doc[token].text):
            kinds.append(0.0)
        token += 1
    return np.array(kinds)


def run_gene_protein_kernels(settings: RunSettings) -> Cells:
    """Compute the AUC of kernels on the bag of words and on contextual weighting.

    Rows are linear, Gaussian and polynomial kernels of degree 2 and 3 on normalised features;
    columns "bag" and "weighted". Each cell is over the four halves of 2x2 cross-validation. Uses
    100 abstracts, 400 in the full version.
    """
    candidates, groups = read_names(settings, 400 if settings.full else 100)
    targets = Targets.from_candidates(candidates)
    near_words = WordPositions(span=60, stop_words="en")(candidates)
    all_words = WordPositions(stop_words="en")(candidates)
    blocks = {
        "bag": Normalized(Positional(Bag()), "zero").features(near_words),
        "weighted": Normalized(Positional(Weighting(1.5, 0.025)), "zero").features(all_words),
    }
    partitions = [make_folds(groups, 2, settings.seed + s) for s in range(2)]
    cells: dict[str, dict[str, Figure]] = {}
    for column, F in blocks.items():
        K = gram(F.values)
        tops = {
            "linear": K,
            "Gaussian": np.exp(-(2.0 - 2.0 * K)),
            "polynomial, 2": (K + 1.0) ** 2 / 4,
            "polynomial, 3": (K + 1.0) ** 3 / 8,
        }
        for row, top in tops.items():
            cells.setdefault(row, {})[column] = Figure.from_values(
                _auc_of_halves(top, targets, partitions)
            )
    return cells


def run_word_senses(settings: RunSettings) -> Cells:
    """Compute the accuracy on the instances of four words, by position kernel.

    One row per entry of ``VARIANTS``, then of ``WITH_COLLOCATIONS``; columns "pooled" and "mean of
    words or sets". The short version takes every tenth document.
    """
    docs = list(Senseval(str(settings.file(SENSEVAL)))(spacy.blank("en")))
    docs = docs if settings.full else docs[settings.seed % 10 :: 10]
    weights = {"words": 1.0, "near": 0.0, "mention": 0.0}
    return _compare_positions("wsd", docs, weights, {"near": 1.0})


def run_spelling(settings: RunSettings) -> Cells:
    """Compute the accuracy on occurrences of 21 confusion sets, whole files held out.

    One row per entry of ``VARIANTS``, then of ``WITH_COLLOCATIONS``; columns "pooled" and "mean of
    words or sets", from 0 to 1. The short version takes every eighth file, from number
    ``seed % 8`` on.
    """
    docs = list(iter_brown_docs(settings.file(BROWN)))
    docs = docs if settings.full else docs[settings.seed % 8 :: 8]
    return _compare_positions(
        "spelling", docs, {"words": 1.0, "near": 0.0, "tags": 0.0}, {"near": 1.0}
    )


def _compare_positions(
    pipeline: str, docs: list[Any], weights: Mapping[str, float], more: Mapping[str, float]
) -> Cells:
    """Return the accuracy of a pipeline with each variant, then of some with collocations.

    ``pipeline`` is the name of a shipped cfg. One row per entry of ``VARIANTS``, all with the same
    context, computed with the kernel ``weights``; further rows, "<variant>, collocations", use the
    variants ``WITH_COLLOCATIONS`` with ``more`` merged into the weights. Columns are "pooled" and
    "mean of words or sets". Words are lower-case, so that their tags are known. Alpha is fixed to
    1.
    """
    cells: dict[str, dict[str, Figure]] = {}
    rows = [(name, name, weights) for name in VARIANTS]
    rows += [(f"{name}, collocations", name, {**weights, **more}) for name in WITH_COLLOCATIONS]
    for row, name, row_weights in rows:
        positions, words = VARIANTS[name]
        kernel = {"@kernels": "positional.v1", "positions": positions}
        settings = {
            WORDS_KEY: kernel if words is None else {**kernel, "words": words},
            "representation.representations.words.span": CONTEXT_SPAN,
            "representation.representations.words.form": "lower",
            "kernel.kernel.weights": dict(row_weights),
            "learner.learner.alphas": [1.0],
            "learner.learner.folds": 2,
        }
        cells[row] = _accuracy(pipeline, docs, settings)
    return cells


def _accuracy(pipeline: str, docs: list[Any], settings: Mapping[str, Any]) -> dict[str, Figure]:
    """Return pooled accuracy and mean accuracy of words or confusion sets, over three folds.

    ``settings`` overrides keys of the pipeline's cfg. Keys of the result are "pooled" and "mean of
    words or sets"; folds in which a metric is undefined are left out.
    """
    report = cross_validate(load_pipeline(pipeline, settings), docs, folds=3)
    return {
        label: Figure.from_values([v for f in report.folds if (v := f.measures[key]) is not None])
        for key, label in (("accuracy", "pooled"), ("accuracy_of_sets", "mean of words or sets"))
    }


def _score_rls(X: SparseMatrix, y: Vector, train: Indices, test: Indices, alpha: float) -> Vector:
    """Return test scores of linear RLS, shape (len(test),).

    Training labels are centred, and their mean is not added back: scores order candidates but are
    not estimates of their labels. ``X`` has one row per candidate; ``train`` and ``test`` are row
    numbers; ``alpha`` is the regularization parameter. The weights come from an iterative solver
    (``solve_krylov_path``) with tolerance 1e-3, so scores are approximate.
    """
    centred = y[train] - y[train].mean()
    w = solve_krylov_path(X[train], centred, np.array([alpha]), tolerance=1e-3)[0]
    return np.asarray(X[test] @ w)


def _score_naive_bayes(X: SparseMatrix, y: Vector, train: Indices, test: Indices) -> Vector:
    """Return test log-odds of the positive class by Bernoulli naive Bayes, shape (len(test),).

    Features count as present if they are above 0, labels as positive if they are above 0. ``X`` has
    one row per candidate; ``train``, which must have both classes, and ``test`` are row numbers.
    """
    model = BernoulliNB().fit(X[train], y[train] > 0)
    log_probabilities = model.predict_log_proba(X[test])
    return np.asarray(log_probabilities[:, 1] - log_probabilities[:, 0])


def _score_additive(X: SparseMatrix, y: Vector, train: Indices, test: Indices) -> Vector:
    """Return test scores of the weighted additive classifier, shape (len(test),), from 0 to 1.

    A word's score is the share of its training weight that occurs with positives, smoothed by
    ``(positive + 0.5) / (all + 1)``; a candidate's score is the mean of its words' scores, weighted
    by ``X``, and 0 if it has no words. ``X`` has one row per candidate and no negative values;
    ``train`` and ``test`` are row numbers.
    """
    positive, all_ = X[train].T @ (y[train] > 0).astype(float), X[train].sum(axis=0)
    share = (positive + 0.5) / (np.asarray(all_).ravel() + 1.0)
    return np.asarray((X[test] @ share) / np.maximum(np.asarray(X[test].sum(axis=1)).ravel(), 1e-9))


def _auc_of_halves(K: Matrix, targets: Targets, partitions: list[Indices]) -> list[float]:
    """Return the AUC of RLS in each half, alpha chosen by leave-document-out AUC in the other.

    Each entry of ``partitions`` has the fold number of every candidate, from 0. The result has one
    value per partition and fold, in that order; an undefined AUC counts as 0.
    """
    values = []
    for nested in RLS(alphas=(0.5, 2.0, 8.0)).nested(K, targets, partitions):
        for fold in np.unique(nested.folds):
            out, rest = np.flatnonzero(nested.folds == fold), np.flatnonzero(nested.folds != fold)
            best = choose_alpha(
                nested.inner[:, fold][:, rest], targets.take(rest), "auc", nested.alphas
            )
            values.append(auc(targets.y[out], nested.outer[best, out]) or 0.0)
    return values


EXPERIMENTS = (
    Experiment("gene-protein", run_gene_protein, files=(JNLPBA,), revision=2),
    Experiment("gene-protein-kernels", run_gene_protein_kernels, files=(JNLPBA,)),
    Experiment("sense-distances", run_sense_distances, files=(JNLPBA,)),
    Experiment("word-senses", run_word_senses, files=(SENSEVAL,), revision=2),
    Experiment("spelling", run_spelling, files=(BROWN,), revision=2),
)
