"""A trained model on other documents than it was trained on."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any, Literal

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike
from sklearn.base import clone
from spacy.tokens import Doc

from textrank.candidates import Candidate, find_training_overlap, gold_labels, shares_text
from textrank.config import to_config
from textrank.evaluation.cross_validation import FoldScores, group_intervals
from textrank.evaluation.report import Counts, Fold, Report, classification_fold, ranking_fold
from textrank.evaluation.splits import folds_from_table, make_folds
from textrank.evaluation.statistics import bootstrap_intervals
from textrank.features import Features, Indices, Vector
from textrank.language.alignment import original_doc
from textrank.learners.calibration import expected_threshold, mean_threshold
from textrank.metrics import (
    Queries,
    best_threshold,
    decide,
    positive_rate_threshold,
    precision_recall_f,
    reliability,
)
from textrank.model import Model
from textrank.pipeline import Clock, Dataset, Pipeline
from textrank.progress import track
from textrank.tasks.base import no_candidates_error

Positives = float | Literal["auto"] | None


def evaluate(
    model: Model, docs: Iterable[Doc], *, corpus: str = "", positives: Positives = None
) -> Report:
    """Measures on other documents, with the threshold chosen in training.

    Where positives are far more or less frequent than in training, that threshold is wrong.
    ``positives`` is the share of them that is expected; the highest scores get the yes. With
    ``auto`` the threshold is the one of the highest expected F by the model's own probabilities, if
    they were calibrated on left-out corpora (``Platt.across``); otherwise it is the mean of
    the scores (``mean_threshold``), since probabilities of one corpus do not carry over to another.

    Documents that the model was trained on are counted in ``trained_on`` of the report, with a
    note: figures on them are too high.
    """
    docs = list(docs)
    task = model.pipeline.task
    found = [task.candidates(doc) for doc in docs]
    unreachable = sum(task.unreachable(doc, own) for doc, own in zip(docs, found, strict=True))
    candidates = [candidate for own in found for candidate in own]
    if not candidates:
        raise no_candidates_error(task, len(docs))
    scores = model.score(candidates)
    threshold, words = choose_threshold(model, scores, positives)
    test = single_fold(model, candidates, scores, threshold, unreachable)
    fold = test.measure(task)
    probabilities = model.probability(scores)
    if probabilities is not None:
        attributes = model.attributes(candidates)
        y = gold_labels(candidates)
        further = task.operating_metrics(y, probabilities, attributes, unreachable)
        fold = replace(fold, measures={**fold.measures, **further})
    overlap = find_training_overlap(model.meta, docs, corpus)
    return Report(
        task=task.name,
        corpus=corpus,
        procedure=f"trained on {model.meta.get('corpus') or 'another corpus'}; {words}",
        settings=to_config(model.pipeline),
        seed=None,
        counts=Counts(len(docs), len(candidates), fold.positives, unreachable),
        folds=[fold],
        intervals=group_intervals(task, [test], [fold], {}) if not unreachable else {},
        decisions=list(test.decisions(fold)),
        curves=_curves(gold_labels(candidates), probabilities),
        notes=[overlap.note] if overlap else (),
        trained_on=overlap.to_dict() if overlap else {},
    )


def _curves(y: Vector, probabilities: Vector | None) -> dict[str, list[dict[str, float]]]:
    """What probabilities were worth, in bins."""
    bins = [] if probabilities is None else reliability(y, probabilities)
    return {"reliability": [{"x": b.score, **asdict(b)} for b in bins]} if bins else {}


def choose_threshold(
    model: Model, scores: Vector, positives: Positives
) -> tuple[float | None, str]:
    """The threshold for these scores, and how it came about in words."""
    if positives == "auto" and model.calibration is not None and model.calibration.sources:
        words = "alpha by leave-document-out there; threshold of the best F that it expects here"
        return expected_threshold(scores, model.calibration(scores)), words
    if positives == "auto":
        words = "alpha by leave-document-out there; threshold at the mean of the test scores"
        return mean_threshold(scores), words
    if positives is not None:
        words = f"alpha by leave-document-out there; yes to a share of {positives:g}, as asked"
        return positive_rate_threshold(scores, positives), words
    return model.threshold, "alpha and threshold by leave-document-out there"


def single_fold(
    model: Model,
    candidates: Sequence[Candidate],
    scores: Vector,
    threshold: float | None,
    unreachable: int,
) -> FoldScores:
    """All candidates as one test fold."""
    alphas, rows = [model.fit.alpha], np.arange(len(candidates))
    return FoldScores(rows, candidates, alphas, scores[None], [threshold], 0, unreachable, 0, 0)


@dataclass(frozen=True)
class CrossCorpus:
    """A report for every pair of different corpora, trained on the first, tested on the second."""

    corpora: Sequence[str]
    reports: Mapping[tuple[str, str], Report]
    dropped: Mapping[tuple[str, str], int]  # test documents that share text with the training ones
    seconds: Mapping[str, float] = field(default_factory=dict)

    def mean(self, measure: str, train: str, test: str) -> float | None:
        """A measure of one cell; None on the diagonal and where it is undefined."""
        report = self.reports.get((train, test))
        return None if report is None else report.measures[measure].mean

    def table(self, measure: str) -> list[list[float | None]]:
        """A measure for all cells, a row for each training corpus."""
        return [[self.mean(measure, a, b) for b in self.corpora] for a in self.corpora]

    def to_dict(self) -> dict[str, Any]:
        """Plain values for a JSON file: every report, and how many documents were left out."""
        rows = [
            {"train": a, "test": b, "dropped": self.dropped[a, b], "report": report.to_dict()}
            for (a, b), report in self.reports.items()
        ]
        return {"corpora": list(self.corpora), "cells": rows, "seconds": dict(self.seconds)}


def cross(pipeline: Pipeline, corpora: Mapping[str, Sequence[Doc]]) -> CrossCorpus:
    """Examines every corpus once, trains a model on each, and tests it on all others.

    Alpha and threshold are chosen by leave-document-out in the training corpus. Test documents that
    share an original text or a sentence with the training corpus are left out of the test.
    """
    if len(corpora) < 2:
        raise ValueError(f"testing across corpora needs at least 2, got {len(corpora)}")
    clock = Clock()
    dataset = {}
    for name, docs in track(corpora.items(), "examining corpora", len(corpora)):
        dataset[name] = pipeline.prepare(list(docs), clock)
    reports: dict[tuple[str, str], Report] = {}
    dropped: dict[tuple[str, str], int] = {}
    for train in track(corpora, "training", len(corpora)):
        with clock.step("learner"):
            model = pipeline.fit_dataset(dataset[train])
        for test in corpora:
            if test != train:
                with clock.step("measures"):
                    shared = shares_text(corpora[test], corpora[train])
                    out = {id(doc) for doc, s in zip(corpora[test], shared, strict=True) if s}
                    dropped[train, test] = len(out)
                    cell = _cell(model, dataset[test], out, len(corpora[test]) - len(out))
                    reports[train, test] = _report(model, cell, train, test)
    order = list(corpora)
    return CrossCorpus(order, reports, dropped, clock.seconds)


@dataclass(frozen=True, eq=False)
class _Cell:
    test: FoldScores
    documents: int
    unreachable: Mapping[str, int]


def _cell(model: Model, dataset: Dataset, out: set[int], documents: int) -> _Cell:
    kept = np.array(
        [i for i, c in enumerate(dataset.candidates) if id(original_doc(c.doc)) not in out], np.intp
    )
    if not len(kept):
        raise ValueError(
            "all test documents share text with the training corpus: nothing is left to test. "
            "Name different corpora."
        )
    candidates = [dataset.candidates[i] for i in kept]
    names = {c.group for c in candidates}
    missed = {name: number for name, number in dataset.unreachable.items() if name in names}
    scores = _scores(model, dataset)[kept]
    alpha, threshold = model.fit.alpha, model.threshold
    total = sum(missed.values())
    test = FoldScores(kept, candidates, [alpha], scores[None], [threshold], 0, total, 0, 0)
    return _Cell(test, documents, missed)


def _scores(model: Model, dataset: Dataset) -> Vector:
    """Scores of candidates that were examined before, without looking at their text again."""
    context = dataset.targets.context
    if model.names is not None and isinstance(dataset.data, Features):
        return model.fit.predict(dataset.data.align_to(model.names), context)
    return model.fit.predict(model.pipeline.kernel(dataset.X, model.support), context)


def _with_mean(test: FoldScores, fold: Fold) -> Fold:
    """Beside F by the training threshold that by one from the test scores, without their labels."""
    if "f" not in fold.measures:
        return fold
    said = decide(test.scores[0], mean_threshold(test.scores[0]))
    f = precision_recall_f(test.y, said, test.unreachable).f
    return replace(fold, measures={**fold.measures, "f_mean": f})


def _report(model: Model, cell: _Cell, train: str, test: str) -> Report:
    fold = _with_mean(cell.test, cell.test.measure(model.pipeline.task))
    size = len(cell.test.index)
    return Report(
        task=model.pipeline.task.name,
        corpus=test,
        procedure=f"trained on {train}; alpha and threshold by leave-document-out there",
        settings=to_config(model.pipeline),
        seed=None,
        counts=Counts(cell.documents, size, fold.positives, cell.test.unreachable),
        folds=[fold],
        intervals=group_intervals(model.pipeline.task, [cell.test], [fold], cell.unreachable),
    )


def evaluate_estimator(
    estimator: Any,
    data: Any,
    y: ArrayLike,
    documents: Sequence[str],
    *,
    folds: int | Mapping[str, int] = 10,
    seed: int = 0,
    splits: int = 1,
    inner: int = 5,
    precomputed: bool = False,
    queries: Queries | None = None,
    task: str = "estimator",
    corpus: str = "",
) -> Report:
    """Cross-validates an estimator with whole documents held out.

    ``data`` holds a row a candidate, or with ``precomputed`` is the Gram matrix of all of them. The
    threshold of each fold is the best one for ``inner`` document-level folds of its training
    part. With ``queries`` the estimator is measured as a ranker, without thresholds. A search over
    parameters belongs into the estimator (``GridSearchCV``): it then sees the training part only.

    >>> from sklearn.linear_model import RidgeClassifier
    >>> rng = np.random.default_rng(0)
    >>> X, documents = rng.normal(size=(60, 3)), [f"d{i // 3}" for i in range(60)]
    >>> y = np.where(X[:, 0] + 0.1 * rng.normal(size=60) > 0, 1, -1)
    >>> report = evaluate_estimator(RidgeClassifier(), X, y, documents, folds=4)
    >>> report.measures["auc"].mean > 0.95
    True
    """
    start = time.perf_counter()
    labels = np.asarray(y, dtype=np.float64)
    matrix = data if sp.issparse(data) else np.asarray(data)
    _check(matrix, labels, documents, precomputed)
    partitions = _partitions(documents, folds, seed, splits)
    scores = np.empty((len(partitions), len(labels)))
    rows: list[Fold] = []
    for split, partition in enumerate(partitions):
        for fold in np.unique(partition):
            rest, out = np.flatnonzero(partition != fold), np.flatnonzero(partition == fold)
            scores[split, out] = _estimators_scores(
                estimator, matrix, labels, rest, out, precomputed
            )
            held = None if queries is not None else _inner(
                estimator, matrix, labels, documents, rest, inner, seed, precomputed
            )  # fmt: skip
            threshold = None if held is None else best_threshold(labels[rest], held)
            rows.append(
                _fold(labels, scores[split], out, threshold, documents, queries, int(fold), split)
            )
    return Report(
        task=task,
        corpus=corpus,
        procedure=_procedure(folds, splits, inner, queries is not None),
        settings={"estimator": repr(estimator), "precomputed": precomputed},
        seed=None if isinstance(folds, Mapping) else seed,
        counts=Counts(len(set(documents)), len(labels), int((labels > 0).sum())),
        folds=rows,
        seconds={"learner": time.perf_counter() - start},
        intervals={}
        if queries is not None
        else _intervals(labels, scores, partitions, rows, documents),
    )


def _estimators_scores(
    estimator: Any, data: Any, y: Vector, rest: Indices, out: Indices, precomputed: bool
) -> Vector:
    fitted = clone(estimator).fit(_part(data, rest, rest, precomputed), y[rest])
    new = _part(data, out, rest, precomputed)
    if hasattr(fitted, "decision_function"):
        values = fitted.decision_function(new)
    elif hasattr(fitted, "predict_proba"):
        values = fitted.predict_proba(new)[:, -1]
    else:
        values = fitted.predict(new)
    return np.asarray(values, dtype=np.float64).reshape(len(out))


def _inner(
    estimator: Any,
    data: Any,
    y: Vector,
    documents: Sequence[str],
    rest: Indices,
    k: int,
    seed: int,
    precomputed: bool,
) -> Vector:
    """Scores of the training part by models that did not see the document, for the threshold."""
    inside = [documents[int(i)] for i in rest]
    partition = make_folds(inside, min(k, len(set(inside))), seed)
    held = np.empty(len(rest))
    for fold in np.unique(partition):
        train, test = rest[partition != fold], rest[partition == fold]
        held[partition == fold] = _estimators_scores(estimator, data, y, train, test, precomputed)
    return held


def _fold(
    y: Vector,
    scores: Vector,
    out: Indices,
    threshold: float | None,
    documents: Sequence[str],
    queries: Queries | None,
    fold: int,
    split: int,
) -> Fold:
    number = len({documents[int(i)] for i in out})
    if queries is None:
        return classification_fold(
            y[out], scores[out], threshold, documents=number, fold=fold, split=split
        )
    own = [queries[int(i)] for i in out]
    return ranking_fold(y[out], scores[out], own, documents=number, fold=fold, split=split)


def _intervals(
    y: Vector,
    scores: np.ndarray[Any, Any],
    partitions: Sequence[Indices],
    rows: Sequence[Fold],
    documents: Sequence[str],
) -> dict[str, tuple[float, float]]:
    thresholds = {(row.split, row.fold): row.chosen["threshold"] for row in rows}
    said = np.concatenate(list(_said(scores, partitions, thresholds)))
    parts = np.concatenate([p + 10_000 * s for s, p in enumerate(partitions)])
    found = bootstrap_intervals(
        np.tile(y, len(partitions)),
        scores.ravel(),
        list(documents) * len(partitions),
        decisions=said,
        parts=parts,
    )
    return {name: (interval.low, interval.high) for name, interval in found.items()}


def _said(
    scores: np.ndarray[Any, Any],
    partitions: Sequence[Indices],
    thresholds: Mapping[tuple[int, int], float | None],
) -> Iterator[np.ndarray[Any, Any]]:
    for split, partition in enumerate(partitions):
        # A fold without a threshold answers no; its F is counted as undefined in the report.
        at = [thresholds[split, int(fold)] for fold in partition]
        limits = np.array([np.inf if value is None else value for value in at])
        yield np.asarray(scores[split] >= limits)


def _part(data: Any, rows: Indices, columns: Indices, precomputed: bool) -> Any:
    return data[np.ix_(rows, columns)] if precomputed else data[rows]


def _partitions(
    documents: Sequence[str], folds: int | Mapping[str, int], seed: int, splits: int
) -> list[Indices]:
    if isinstance(folds, Mapping):
        return [folds_from_table(documents, folds)]
    return [make_folds(documents, folds, seed + split) for split in range(splits)]


def _procedure(folds: int | Mapping[str, int], splits: int, inner: int, ranked: bool) -> str:
    what = "given folds" if isinstance(folds, Mapping) else f"{folds} folds"
    times = f", {splits} divisions" if splits > 1 else ""
    inside = "" if ranked else f"; threshold by {inner} document-level folds of the training part"
    return f"{what} by document{times}{inside}"


def _check(data: Any, y: Vector, documents: Sequence[str], precomputed: bool) -> None:
    if data.ndim != 2 or data.shape[0] != len(y) or len(documents) != len(y):
        raise ValueError(
            f"data of shape {data.shape}, {len(y)} labels and {len(documents)} documents do not "
            "belong together: give a row, a label and a document for each candidate."
        )
    if precomputed and data.shape[1] != len(y):
        raise ValueError(f"a precomputed Gram matrix must be square, got shape {data.shape}")
