"""Evaluation of trained models on other documents, on raw text, and across corpora.

- ``evaluate`` tests a model on annotated documents.
- ``evaluate_raw_text`` (pairs) and ``evaluate_identifiers`` let the model recognise entities itself
  and compare them with gold by their characters: ``link_names``, ``link_pairs``, ``match_links``.
- ``cross_corpora`` trains on each of several corpora and tests on all others.
- ``evaluate_estimator`` cross-validates a scikit-learn estimator with whole documents held out.
"""

from __future__ import annotations

import time
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from itertools import chain
from typing import Any, Literal, TypeAlias, cast

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike
from scipy.optimize import linear_sum_assignment
from scipy.sparse.csgraph import connected_components
from sklearn.base import clone
from spacy.language import Language
from spacy.tokens import Doc, Span

from textrank._ragged import slices
from textrank.candidates import (
    Candidate,
    document_id,
    find_training_overlap,
    gold_labels,
    sentence_starts,
    shares_text,
)
from textrank.config import package_versions, to_config
from textrank.evaluation.cross_validation import FoldScores, group_intervals
from textrank.evaluation.report import Counts, Fold, Report, classification_fold, ranking_fold
from textrank.evaluation.splits import folds_from_table, make_folds
from textrank.evaluation.statistics import bootstrap_intervals
from textrank.features import Features, Indices, Vector
from textrank.formats.base import Mention, get_mentions, set_mentions
from textrank.language.normalization import original_doc, original_offsets, word_doc
from textrank.language.segmentation import SentenceSplitter, set_sentence_starts
from textrank.learners.calibration import expected_threshold, mean_threshold
from textrank.linalg import features_of
from textrank.metrics import (
    PRF,
    Queries,
    best_threshold,
    calibration_error,
    chance_calibration_error,
    decide,
    positive_rate_threshold,
    precision_recall_f,
    reliability,
)
from textrank.model import Model
from textrank.pipeline import Clock, Dataset, Pipeline
from textrank.progress import track
from textrank.protocols import DocumentTask, PairTask
from textrank.tasks.base import no_candidates_error

MIN_COMPLETE_SENTENCES = 3  # per document; fewer are sentences that were selected
Positives: TypeAlias = float | Literal["auto"] | None
"""Share of positives that is expected, ``"auto"``, or None for the threshold of training."""
Pieces: TypeAlias = Sequence[tuple[int, int]]
"""Characters [start, end) of the pieces of an entity, in text order."""


def evaluate(
    model: Model, docs: Iterable[Doc], *, corpus: str = "", positives: Positives = None
) -> Report:
    """Test a model on annotated documents and return a report with one fold.

    Documents that the model was trained on are counted in ``Report.trained_on``, with a note that
    figures on them are too high. The report has all decisions; only a model with probabilities
    gives a reliability curve and the task's further metrics (``operating_metrics``). Intervals are
    left out if a gold answer has no candidate.

    Parameters
    ----------
    docs
        Annotated documents, analysed as the model's task needs.
    corpus
        Name of the corpus for the report.
    positives
        How the threshold is chosen. None takes that of training, which is wrong if positives are
        far more or less frequent here. A number is the share of positives that is expected; the
        highest scores are answered with yes. ``"auto"`` maximises the expected F1 by the model's
        probabilities if these were calibrated on left-out corpora; otherwise it is the mean of the
        scores, since probabilities of one corpus do not carry over to another. For documents of
        fewer than ``MIN_COMPLETE_SENTENCES`` sentences on average, which are selected sentences
        rather than complete texts, the expectation uses the model's curve for such sentences, if
        it has one. It changes the threshold only, not the reported probabilities.

    Raises
    ------
    ValueError
        If the documents have no candidates.
    """
    docs = list(docs)
    task = model.pipeline.task
    candidates_by_doc = [task.candidates(doc) for doc in docs]
    unreachable = sum(map(task.unreachable, docs, candidates_by_doc))
    candidates = [candidate for group in candidates_by_doc for candidate in group]
    if not candidates:
        raise no_candidates_error(task, len(docs))
    scores = model.score(candidates)
    is_selected = has_selected_sentences(docs)
    threshold, selection = choose_threshold(model, scores, positives, is_selected=is_selected)
    test = _single_fold(model, candidates, scores, threshold, unreachable)
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
        procedure=f"trained on {model.meta.get('corpus') or 'another corpus'}; {selection}",
        settings=to_config(model.pipeline),
        seed=None,
        counts=Counts(len(docs), len(candidates), fold.positives, unreachable),
        folds=[fold],
        intervals=group_intervals(task, [test], [fold], {}) if not unreachable else {},
        decisions=list(test.decisions(fold)),
        curves=_reliability_curve(gold_labels(candidates), probabilities),
        notes=[overlap.note] if overlap else (),
        trained_on=overlap.to_dict() if overlap else {},
    )


def _reliability_curve(
    y: Vector, probabilities: Vector | None
) -> dict[str, list[dict[str, float]]]:
    """Return ``{"reliability": points}``, the share of positives in bins of the probability.

    A point has ``x``, the mean probability of the bin, and the fields of ``metrics.reliability``.
    Empty without probabilities or bins. ``y`` are the labels.
    """
    bins = [] if probabilities is None else reliability(y, probabilities)
    return {"reliability": [{"x": b.score, **asdict(b)} for b in bins]} if bins else {}


def has_selected_sentences(docs: Sequence[Doc]) -> bool:
    """Return whether documents have fewer than MIN_COMPLETE_SENTENCES sentences on average.

    Such a corpus has sentences that were selected, not complete texts. False without documents.
    """
    sentences = sum(len(sentence_starts(doc)) - 1 for doc in docs)
    return sentences < MIN_COMPLETE_SENTENCES * len(docs)


def choose_threshold(
    model: Model, scores: Vector, positives: Positives, *, is_selected: bool = False
) -> tuple[float | None, str]:
    """Return the threshold for these scores, and how it was chosen, for the report.

    ``positives`` None takes the threshold of the model, which is None for a ranker. A number is the
    share of scores that are answered with yes. "auto" is the threshold of the best expected F1 if
    the model's probabilities were calibrated on left-out corpora, else the mean of the scores. No
    labels are used. ``is_selected`` says that the scores are those of given names in selected
    sentences: then "auto" expects by ``Model.selected_calibration``, if the model has it.
    """
    if positives == "auto" and is_selected and model.selected_calibration is not None:
        selection = (
            "alpha by leave-document-out there; threshold of the best F that it expects in "
            "selected sentences"
        )
        return expected_threshold(scores, model.selected_calibration(scores)), selection
    if positives == "auto" and model.calibration is not None and model.calibration.sources:
        selection = (
            "alpha by leave-document-out there; threshold of the best F that it expects here"
        )
        return expected_threshold(scores, model.calibration(scores)), selection
    if positives == "auto":
        selection = "alpha by leave-document-out there; threshold at the mean of the test scores"
        return mean_threshold(scores), selection
    if positives is not None:
        selection = f"alpha by leave-document-out there; yes to a share of {positives:g}, as asked"
        return positive_rate_threshold(scores, positives), selection
    return model.threshold, "alpha and threshold by leave-document-out there"


def _single_fold(
    model: Model,
    candidates: Sequence[Candidate],
    scores: Vector,
    threshold: float | None,
    unreachable: int,
) -> FoldScores:
    """Return all candidates as one test fold, number 0, at the alpha of the model.

    ``scores`` has shape ``(n,)``; ``unreachable`` counts gold answers without a candidate.
    """
    alphas, rows = [model.fit.alpha], np.arange(len(candidates))
    return FoldScores(rows, candidates, alphas, scores[None], [threshold], 0, unreachable, 0, 0)


@dataclass(frozen=True)
class CrossCorpus:
    """Reports for all ordered pairs of corpora, trained on the first and tested on the second.

    Keys of ``reports`` and ``dropped`` are ``(train, test)``. ``seconds`` is the time by step.
    """

    corpora: Sequence[str]
    reports: Mapping[tuple[str, str], Report]
    dropped: Mapping[tuple[str, str], int]  # test documents that share text with the training ones
    seconds: Mapping[str, float] = field(default_factory=dict)

    def mean(self, measure: str, train: str, test: str) -> float | None:
        """Return the mean of a metric over the folds of one pair of corpora; None without it.

        None if both corpora are the same, one is unknown (no KeyError), or the report of the pair
        does not have or define the metric ``measure``.
        """
        report = self.reports.get((train, test))
        metric = None if report is None else report.measures.get(measure)
        return None if metric is None else metric.mean

    def table(self, measure: str) -> list[list[float | None]]:
        """Return a metric of all pairs, one row per training and one column per test corpus.

        Both are in the order of ``corpora``; the diagonal is None, and so are cells in which the
        metric is missing or undefined.
        """
        return [[self.mean(measure, a, b) for b in self.corpora] for a in self.corpora]

    def to_dict(self) -> dict[str, Any]:
        """Return plain values for JSON: ``corpora``, ``cells`` and ``seconds``.

        A cell is a pair of corpora with ``train``, ``test``, ``dropped`` (test documents that were
        left out) and ``report``.
        """
        rows = [
            {"train": a, "test": b, "dropped": self.dropped[a, b], "report": report.to_dict()}
            for (a, b), report in self.reports.items()
        ]
        return {"corpora": list(self.corpora), "cells": rows, "seconds": dict(self.seconds)}


def cross_corpora(pipeline: Pipeline, corpora: Mapping[str, Sequence[Doc]]) -> CrossCorpus:
    """Train a model on each corpus and test it on all others; every corpus is prepared once.

    ``corpora`` has annotated Docs by the name of the corpus; the reports are in its order, by
    training, then by test corpus. Alpha and threshold are chosen by leave-document-out in the
    training corpus. Test documents that share an original id or a sentence with the training corpus
    are left out. Raises ValueError for fewer than two corpora, or if no candidate of a test corpus
    is left.
    """
    if len(corpora) < 2:
        raise ValueError(f"testing across corpora needs at least 2, got {len(corpora)}")
    clock = Clock()
    datasets = {}
    for name, docs in track(corpora.items(), "examining corpora", len(corpora)):
        datasets[name] = pipeline.prepare(list(docs), clock)
    reports: dict[tuple[str, str], Report] = {}
    dropped: dict[tuple[str, str], int] = {}
    for train in track(corpora, "training", len(corpora)):
        with clock.step("learner"):
            model = pipeline.fit_dataset(datasets[train])
        for test in corpora:
            if test != train:
                with clock.step("measures"):
                    shared = shares_text(corpora[test], corpora[train])
                    drop = {id(doc) for doc, s in zip(corpora[test], shared, strict=True) if s}
                    dropped[train, test] = len(drop)
                    cell = _test_model(model, datasets[test], drop, len(corpora[test]) - len(drop))
                    reports[train, test] = _build_report(model, cell, train, test)
    return CrossCorpus(list(corpora), reports, dropped, clock.seconds)


@dataclass(frozen=True, eq=False)
class _CorpusTest:
    """Scores of a model on the documents of a corpus that are not in its training corpus.

    ``documents`` is their number.
    """

    test: FoldScores
    documents: int
    unreachable: Mapping[str, int]  # by group


def _test_model(model: Model, dataset: Dataset, drop: set[int], documents: int) -> _CorpusTest:
    """Score a prepared dataset and return the candidates whose Doc's ``id()`` is not in ``drop``.

    ``documents`` is the number of the other Docs, for the report. Unreachable gold answers count
    for groups with a candidate only. The threshold is that of the model. Raises ValueError if no
    candidate is left.
    """
    kept = np.array(
        [i for i, c in enumerate(dataset.candidates) if id(original_doc(c.doc)) not in drop],
        np.intp,
    )
    if not len(kept):
        raise ValueError(
            "all test documents share text with the training corpus, so nothing is left to test. "
            "Use different corpora."
        )
    candidates = [dataset.candidates[i] for i in kept]
    groups = {c.group for c in candidates}
    unreachable = {group: n for group, n in dataset.unreachable.items() if group in groups}
    scores = _score_dataset(model, dataset)[kept]
    test = _single_fold(model, candidates, scores, model.threshold, sum(unreachable.values()))
    return _CorpusTest(replace(test, index=kept), documents, unreachable)


def _score_dataset(model: Model, dataset: Dataset) -> Vector:
    """Return the scores of all candidates of a prepared dataset, (n,), in order.

    Its candidates are not represented again. For a model with feature names (``model.names``) the
    features of the dataset are used, or computed from its representations if training chose the
    kernel or learnt parts of it; for others kernel values with ``model.support`` are always
    computed.
    """
    context = dataset.targets.context
    if model.names is not None:
        data = dataset.data
        if not isinstance(data, Features) or dataset.kernel is not None:
            data = features_of(model.pipeline.kernel, dataset.X)
        return model.fit.predict(data.align_to(model.names), context)
    return model.fit.predict(model.pipeline.kernel(dataset.X, model.support), context)


def _add_f_at_mean(test: FoldScores, fold: Fold) -> Fold:
    """Return the fold with ``f_mean``, the F1 at the mean of the test scores.

    No label is used for this threshold. Rankings, whose folds have no ``f``, are returned
    unchanged.
    """
    if "f" not in fold.measures:
        return fold
    decisions = decide(test.scores[0], mean_threshold(test.scores[0]))
    f = precision_recall_f(test.y, decisions, test.unreachable).f
    return replace(fold, measures={**fold.measures, "f_mean": f})


def _build_report(model: Model, cell: _CorpusTest, train: str, test: str) -> Report:
    """Return the report of a model trained on corpus ``train`` and tested on corpus ``test``.

    Both are names. The report has one fold, at the threshold of training and with the further F at
    the mean of ``_add_f_at_mean``, intervals over groups of documents, and no decisions.
    """
    fold = _add_f_at_mean(cell.test, cell.test.measure(model.pipeline.task))
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
    """Cross-validate a scikit-learn estimator with whole documents held out.

    A search over parameters belongs in the estimator (``GridSearchCV``), which then sees the
    training part only. The estimator itself is not fitted, only clones of it.

    Parameters
    ----------
    estimator
        Classifier, regressor or ranker. Scores are those of ``decision_function``, else the last
        column of ``predict_proba``, else predictions.
    data
        One row per candidate, or with ``precomputed`` the Gram matrix of all candidates.
    y
        Labels; positive where greater than 0.
    documents
        The document of each candidate.
    folds
        Number of folds, to which documents are assigned at random, or a table
        ``{document: fold}``, with which ``splits`` is not used.
    seed, splits
        Seed of the assignment, and how often it is repeated with the following seeds.
    inner
        Document-level folds of the training part, whose scores determine the threshold, that of
        the best F1. There are fewer if the training part has fewer documents.
    queries
        The query of each candidate; the estimator is then evaluated as a ranker, without threshold
        and intervals.
    task, corpus
        Names for the report.

    Raises
    ------
    ValueError
        If rows, labels and documents differ in number, the folds do not fit the documents, or a
        training part has a single document (without ``queries``).

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
    _check_shapes(matrix, labels, documents, precomputed)
    partitions = _partitions(documents, folds, seed, splits)
    scores = np.empty((len(partitions), len(labels)))
    rows: list[Fold] = []
    for split, partition in enumerate(partitions):
        for fold in np.unique(partition):
            rest, out = np.flatnonzero(partition != fold), np.flatnonzero(partition == fold)
            scores[split, out] = _fit_and_score(estimator, matrix, labels, rest, out, precomputed)
            heldout = None if queries is not None else _inner_scores(
                estimator, matrix, labels, documents, rest, inner, seed, precomputed
            )  # fmt: skip
            threshold = None if heldout is None else best_threshold(labels[rest], heldout)
            rows.append(
                _make_fold(
                    labels, scores[split], out, threshold, documents, queries, int(fold), split
                )
            )
    return Report(
        task=task,
        corpus=corpus,
        procedure=_describe(folds, splits, inner, queries is not None),
        settings={"estimator": repr(estimator), "precomputed": precomputed},
        seed=None if isinstance(folds, Mapping) else seed,
        counts=Counts(len(set(documents)), len(labels), int((labels > 0).sum())),
        folds=rows,
        seconds={"learner": time.perf_counter() - start},
        intervals={}
        if queries is not None
        else _estimator_intervals(labels, scores, partitions, rows, documents),
    )


def _fit_and_score(
    estimator: Any, data: Any, y: Vector, rest: Indices, out: Indices, precomputed: bool
) -> Vector:
    """Return the scores of rows ``out`` by a clone of the estimator fitted to rows ``rest``.

    Scores, ``(len(out),)``, are those of ``decision_function``, else the last column of
    ``predict_proba``, else predictions. ``data`` is a Gram matrix if ``precomputed``. Raises
    ValueError for an estimator with several scores per row.
    """
    fitted = clone(estimator).fit(_select(data, rest, rest, precomputed), y[rest])
    new = _select(data, out, rest, precomputed)
    if hasattr(fitted, "decision_function"):
        values = fitted.decision_function(new)
    elif hasattr(fitted, "predict_proba"):
        values = fitted.predict_proba(new)[:, -1]
    else:
        values = fitted.predict(new)
    return np.asarray(values, dtype=np.float64).reshape(len(out))


def _inner_scores(
    estimator: Any,
    data: Any,
    y: Vector,
    documents: Sequence[str],
    rest: Indices,
    k: int,
    seed: int,
    precomputed: bool,
) -> Vector:
    """Return held-out scores of the rows ``rest`` by ``k`` document-level folds of them.

    The result has the order of ``rest``. There are fewer folds if ``rest`` has fewer documents;
    ValueError if it has only one.
    """
    names = [documents[int(i)] for i in rest]
    partition = make_folds(names, min(k, len(set(names))), seed)
    heldout = np.empty(len(rest))
    for fold in np.unique(partition):
        train, test = rest[partition != fold], rest[partition == fold]
        heldout[partition == fold] = _fit_and_score(estimator, data, y, train, test, precomputed)
    return heldout


def _make_fold(
    y: Vector,
    scores: Vector,
    out: Indices,
    threshold: float | None,
    documents: Sequence[str],
    queries: Queries | None,
    fold: int,
    split: int,
) -> Fold:
    """Return the metrics of the rows ``out``, as a ranking if there are queries.

    ``y``, ``scores``, ``documents`` and ``queries`` are those of all n rows. The threshold is None
    for a ranking.
    """
    number = len({documents[int(i)] for i in out})
    if queries is None:
        return classification_fold(
            y[out], scores[out], threshold, documents=number, fold=fold, split=split
        )
    fold_queries = [queries[int(i)] for i in out]
    return ranking_fold(y[out], scores[out], fold_queries, documents=number, fold=fold, split=split)


def _estimator_intervals(
    y: Vector,
    scores: np.ndarray[Any, Any],
    partitions: Sequence[Indices],
    rows: Sequence[Fold],
    documents: Sequence[str],
) -> dict[str, tuple[float, float]]:
    """Return 95 % bootstrap intervals ``(low, high)`` by metric, resampling documents.

    ``y`` (n,) are labels, ``scores`` is (splits, n), ``partitions`` has the fold of each candidate
    for each split, ``rows`` the folds with their thresholds in ``chosen`` and ``documents`` the
    document of each candidate. Metrics are auc, f, precision and recall, those never defined are
    missing.
    """
    thresholds = {(row.split, row.fold): row.chosen["threshold"] for row in rows}
    decisions = np.concatenate(list(_decide_folds(scores, partitions, thresholds)))
    parts = np.concatenate([p + 10_000 * s for s, p in enumerate(partitions)])
    intervals = bootstrap_intervals(
        np.tile(y, len(partitions)),
        scores.ravel(),
        list(documents) * len(partitions),
        decisions=decisions,
        parts=parts,
    )
    return {name: (interval.low, interval.high) for name, interval in intervals.items()}


def _decide_folds(
    scores: np.ndarray[Any, Any],
    partitions: Sequence[Indices],
    thresholds: Mapping[tuple[int, int], float | None],
) -> Iterator[np.ndarray[Any, Any]]:
    """Yield the decisions of each split, (n,), by the threshold of each (split, fold).

    ``scores`` is (splits, n). Yes from the threshold on; no in a fold without a threshold.
    """
    for split, partition in enumerate(partitions):
        # A fold without a threshold answers no; its F is counted as undefined in the report.
        values = [thresholds[split, int(fold)] for fold in partition]
        limits = np.array([np.inf if value is None else value for value in values])
        yield np.asarray(scores[split] >= limits)


def _select(data: Any, rows: Indices, columns: Indices, precomputed: bool) -> Any:
    """Return ``data[rows]``, or for a Gram matrix (``precomputed``) these rows and columns."""
    return data[np.ix_(rows, columns)] if precomputed else data[rows]


def _partitions(
    documents: Sequence[str], folds: int | Mapping[str, int], seed: int, splits: int
) -> list[Indices]:
    """Return the fold of each candidate, (n,), for each split; a table gives one split.

    ``folds`` is their number or a table ``{document: fold}``, with which ``seed`` and ``splits``
    are not used. Split i uses ``seed + i``. Raises ValueError if the folds do not fit the
    documents.
    """
    if isinstance(folds, Mapping):
        return [folds_from_table(documents, folds)]
    return [make_folds(documents, folds, seed + split) for split in range(splits)]


def _describe(folds: int | Mapping[str, int], splits: int, inner: int, ranked: bool) -> str:
    """Return the procedure in one line for the report; ``ranked`` leaves out the threshold.

    ``folds`` is their number, or a mapping of documents to given folds. ``splits``, the number of
    repetitions, is named only above 1; ``inner`` is the number of folds that determine the
    threshold.
    """
    what = "given folds" if isinstance(folds, Mapping) else f"{folds} folds"
    times = f", {splits} divisions" if splits > 1 else ""
    inside = "" if ranked else f"; threshold by {inner} document-level folds of the training part"
    return f"{what} by document{times}{inside}"


def _check_shapes(data: Any, y: Vector, documents: Sequence[str], precomputed: bool) -> None:
    """Raise ValueError unless there are as many rows as labels and documents.

    ``data`` must have two dimensions, and be square if ``precomputed``. Values are not checked.
    """
    if data.ndim != 2 or data.shape[0] != len(y) or len(documents) != len(y):
        raise ValueError(
            f"data of shape {data.shape}, {len(y)} labels and {len(documents)} documents do not "
            "fit together: pass a row, a label and a document for each candidate."
        )
    if precomputed and data.shape[1] != len(y):
        raise ValueError(f"a precomputed Gram matrix must be square, got shape {data.shape}")


Links: TypeAlias = Mapping[tuple[int, int], float]
"""(index of a prediction, index of gold) -> how well they agree, greater than 0."""


@dataclass(frozen=True)
class Hits:
    """Numbers of predictions (``found``), of gold answers, and of matches (``right``)."""

    found: int
    gold: int
    right: int

    @property
    def prf(self) -> PRF:
        """Precision, recall and F1; each is None if its own denominator is zero."""
        precision = self.right / self.found if self.found else None
        recall = self.right / self.gold if self.gold else None
        total = self.found + self.gold
        return PRF(precision, recall, 2 * self.right / total if total else None)

    def to_dict(self) -> dict[str, Any]:
        """Return counts and metrics as plain values.

        Keys are ``found``, ``gold``, ``true_positives`` (``right``), ``false_positives``,
        ``missed``, ``precision``, ``recall`` and ``f``; metrics are None if undefined.
        """
        return {
            "found": self.found,
            "gold": self.gold,
            "true_positives": self.right,
            "false_positives": self.found - self.right,
            "missed": self.gold - self.right,
            **self.prf._asdict(),
        }


def link_names(predicted: Sequence[Pieces], gold: Sequence[Pieces]) -> dict[tuple[int, int], float]:
    """Link entities that share a character, by the Jaccard index of their characters.

    Returns ``{(index in predicted, index in gold): value}``; the value is 1 if the boundaries are
    equal. Each entity has at least one piece, in text order. The gap of a discontinuous entity does
    not belong to it.

    >>> link_names([[(0, 4)], [(6, 8)]], [[(2, 6)], [(6, 8)]])
    {(0, 0): 0.3333333333333333, (1, 1): 1.0}
    """
    if not predicted or not gold:
        return {}
    a, b = (np.array([[p[0][0], p[-1][1]] for p in side]) for side in (predicted, gold))
    overlaps = (a[:, None, 0] < b[None, :, 1]) & (b[None, :, 0] < a[:, None, 1])
    links = {}
    for i, j in np.argwhere(overlaps).tolist():
        one, other = _characters(predicted[i]), _characters(gold[j])
        if one & other:
            links[i, j] = len(one & other) / len(one | other)
    return links


def link_pairs(
    predicted: Sequence[tuple[int, int]], gold: Sequence[tuple[int, int]], names: Links
) -> dict[tuple[int, int], float]:
    """Link pairs whose entities are linked one to one, in either order, by the sum of the links.

    ``predicted`` and ``gold`` are pairs of indices of entities; ``names`` links predicted entities
    to gold ones, as ``link_names`` returns. The result is
    ``{(index in predicted, index in gold): sum}``, with the larger sum if both orders fit. A pair
    of an entity with itself has no link; of equal pairs in ``predicted`` only the last has links.
    """
    index_of_pair = {frozenset(pair): i for i, pair in enumerate(predicted)}
    predicted_names: dict[int, list[int]] = {}  # by gold entity
    for name, gold_name in names:
        predicted_names.setdefault(gold_name, []).append(name)
    links: dict[tuple[int, int], float] = {}
    for j, (c, d) in enumerate(gold):
        for a in predicted_names.get(c, ()):
            for b in predicted_names.get(d, ()):
                i = index_of_pair.get(frozenset((a, b)))
                if i is not None and a != b and c != d:
                    agreement = names[a, c] + names[b, d]
                    links[i, j] = max(agreement, links.get((i, j), 0.0))
    return links


def exact_links(links: Links, parts: int = 1) -> dict[tuple[int, int], float]:
    """Return the links whose boundaries are all equal; ``parts`` is 1 for entities, 2 for pairs."""
    return {key: value for key, value in links.items() if value == parts}


def match_links(links: Links) -> dict[int, int]:
    """Match predictions to gold answers, each at most once; return gold index by prediction.

    The matching has as many matches as possible and, among such, the highest sum of links, so that
    of nested entities the closest wins. Remaining ties are broken by order. The result is sorted by
    prediction; predictions without a match are missing.

    >>> match_links({(0, 0): 0.5, (0, 1): 1.0, (1, 1): 0.9})
    {0: 0, 1: 1}
    """
    if not links:
        return {}
    ends = np.array(list(links))
    n, m = ends.max(axis=0) + 1
    graph = sp.csr_array((np.ones(len(ends)), (ends[:, 0], n + ends[:, 1])), shape=(n + m, n + m))
    part = connected_components(graph, directed=False)[1][ends[:, 0]]
    order = np.argsort(part, kind="stable")
    values = np.array(list(links.values()))
    matches: dict[int, int] = {}
    for group in np.split(order, np.flatnonzero(np.diff(part[order])) + 1):
        matches |= _match_component(ends[group], values[group])
    return dict(sorted(matches.items()))


def _match_component(ends: Any, values: Any) -> dict[int, int]:
    """Match a connected component of links; return gold index by prediction.

    ``ends`` (l, 2) has the prediction and gold index of each of l links, ``values`` (l,) their
    values. As many matches as possible, then the highest sum of values; only linked ones match.
    """
    rows, row = np.unique(ends[:, 0], return_inverse=True)
    columns, column = np.unique(ends[:, 1], return_inverse=True)
    gain = np.zeros((len(rows), len(columns)))
    # One match more outweighs any agreement.
    gain[row, column] = values + values.max() * min(gain.shape) + 1.0
    best = zip(*linear_sum_assignment(gain, maximize=True), strict=True)
    return {int(rows[i]): int(columns[j]) for i, j in best if gain[i, j] > 0}


def _characters(pieces: Pieces) -> set[int]:
    """Return the offsets of all characters of an entity."""
    return {offset for start, end in pieces for offset in range(start, end)}


UNREACHABLE_REASONS = ("missed", "separated", "merged")  # why a gold pair has no candidate


@dataclass(frozen=True)
class PairHits:
    """Predicted interactions, and how many gold ones could have been predicted."""

    hits: Hits
    reachable: int  # gold interactions with a candidate of their own

    def to_dict(self) -> dict[str, Any]:
        """Return counts and metrics; ``..._of_reachable`` leave out what no candidate covers.

        Keys are ``found``, ``gold``, ``true_positives``, ``false_positives``, ``missed``,
        ``precision``, ``recall``, ``f``, ``reachable``, ``unreachable``, ``recall_of_reachable``
        and ``f_of_reachable``; metrics are None if undefined.
        """
        hits = self.hits
        metrics = Hits(hits.found, self.reachable, hits.right).prf
        return {
            **hits.to_dict(),
            "reachable": self.reachable,
            "unreachable": hits.gold - self.reachable,
            "recall_of_reachable": metrics.recall,
            "f_of_reachable": metrics.f,
        }


@dataclass(frozen=True)
class RawText:
    """Entities and interactions recognised in raw text, compared with those of a corpus.

    ``overlap`` requires a common character of each two entities, ``exact`` equal boundaries;
    ``given`` uses the entities of the corpus in the same text, sentences and parse.
    ``calibration`` compares the probabilities of all recognised pairs with whether they overlap a
    gold interaction; it is empty for a model without probabilities.
    """

    corpus: str
    procedure: str
    documents: int
    candidates: int
    threshold: float | None
    names: Mapping[str, Hits]  # overlap, exact
    interactions: Mapping[str, PairHits]  # overlap, exact, given
    reasons: Mapping[str, int]  # of the unreachable interactions by overlap
    settings: Mapping[str, Any]
    seconds: Mapping[str, float] = field(default_factory=dict)
    calibration: Mapping[str, float] = field(default_factory=dict)
    task: str = "ppi"

    def to_dict(self) -> dict[str, Any]:
        """Return plain values under the names of the fields, and ``versions`` of the libraries.

        Only ``reasons`` has another key, ``unreachable``. ``names`` (by ``overlap`` and ``exact``)
        and ``interactions`` (also by ``given``) have dicts of counts and metrics.
        """
        return {
            "task": self.task,
            "corpus": self.corpus,
            "procedure": self.procedure,
            "documents": self.documents,
            "candidates": self.candidates,
            "threshold": self.threshold,
            "names": {key: hits.to_dict() for key, hits in self.names.items()},
            "interactions": {key: hits.to_dict() for key, hits in self.interactions.items()},
            "unreachable": dict(self.reasons),
            "calibration": dict(self.calibration),
            "settings": dict(self.settings),
            "versions": package_versions(),
            "seconds": dict(self.seconds),
        }


def evaluate_raw_text(
    model: Model,
    docs: Sequence[Doc],
    nlp: Language,
    *,
    corpus: str = "",
    positives: Positives = None,
    sentences: bool = False,
) -> RawText:
    """Recognise entities in the texts of annotated Docs and evaluate the pairs of a model.

    A predicted pair is right if its two entities overlap those of a gold interaction, one each;
    every prediction and every gold interaction is matched at most once (``match_links``). ``docs``,
    at least one, are not changed; their texts are analysed anew. The gold entities in the same
    parse (``given``) are scored too, with a threshold of their own.

    Parameters
    ----------
    docs
        Docs with gold entities and interactions, as readers store them.
    nlp
        spaCy pipeline with a named-entity recogniser.
    corpus
        Name of the corpus for the result.
    positives
        How the threshold is chosen, see ``evaluate``.
    sentences
        Keep the sentences of the corpus, for files without final punctuation.

    Raises
    ------
    ValueError
        If the task does not judge pairs, or a document has no gold interactions.
    """
    task = _check_pair_task(model, docs)
    raw_docs = list(_analyse_texts(docs, nlp, sentences))
    candidates = [task.candidates(doc) for doc in raw_docs]
    texts = [
        _TextComparison.from_docs(task, *parts)
        for parts in zip(docs, raw_docs, candidates, strict=True)
    ]
    scores: Vector = model.score(list(chain.from_iterable(candidates)))
    answers, threshold = _decide_by_doc(model, candidates, scores, positives)
    hits = [text.pair_hits(yes) for text, yes in zip(texts, answers, strict=True)]
    for doc, text in zip(raw_docs, texts, strict=True):
        set_mentions(doc, text.mentions)
        doc.user_data["gold"] = text.gold
    given = _evaluate_gold_entities(model, raw_docs, positives)
    trained = model.meta.get("corpus") or "another corpus"
    return RawText(
        corpus,
        f"trained on {trained}; {_describe_raw_text(nlp, sentences)}",
        len(docs),
        sum(map(len, candidates)),
        threshold,
        {key: _sum_hits(text.name_hits(key) for text in texts) for key in ("overlap", "exact")},
        {
            key: _sum_pair_hits([hits_of_text[key] for hits_of_text in hits])
            for key in ("overlap", "exact")
        }
        | {"given": given},
        {reason: sum(text.reasons[reason] for text in texts) for reason in UNREACHABLE_REASONS},
        to_config(model.pipeline),
        calibration=_calibration(model, scores, texts),
        task=task.name,
    )


def _calibration(
    model: Model, scores: Vector, texts: Sequence[_TextComparison]
) -> dict[str, float]:
    """Return the calibration error of the recognised pairs, and what chance alone would give.

    Keys are ``calibration_error``, ``calibration_error_of_chance``, ``positive_share`` and
    ``mean_probability``. ``scores`` are those of the candidates of all texts, in order. Empty
    without a calibrated model or without candidates.
    """
    if model.calibration is None or not len(scores):
        return {}
    y = [1.0 if is_gold else -1.0 for text in texts for is_gold in text.overlaps_gold]
    p = model.calibration(scores)
    return {
        "calibration_error": calibration_error(y, p),
        "calibration_error_of_chance": chance_calibration_error(p),
        "positive_share": float((np.asarray(y) > 0).mean()),
        "mean_probability": float(p.mean()),
    }


@dataclass(frozen=True, eq=False)
class _TextComparison:
    """Gold and recognised entities and pairs of one text; pairs are indices of entities.

    Gold entities are ``mentions`` and gold pairs ``interactions``; recognised entities are
    ``names`` and the candidates ``pairs``. ``gold`` are the stored gold rows, ``sentences``
    character ranges of the analysed text.
    """

    mentions: Sequence[Mention]
    gold: Sequence[Mapping[str, Any]]
    names: Sequence[Pieces]
    pairs: Sequence[tuple[int, int]]  # indices in names
    interactions: Sequence[tuple[int, int]]  # indices in mentions; -1 if no token is covered
    name_links: Links  # of names and mentions
    pair_links: Links  # of pairs and interactions
    sentences: Sequence[tuple[int, int]]

    @classmethod
    def from_docs(
        cls, task: PairTask, gold: Doc, raw: Doc, candidates: Sequence[Candidate]
    ) -> _TextComparison:
        """Compare the Doc ``gold`` of the corpus with ``raw``, the same text analysed anew.

        ``candidates`` are those of the task in ``raw``, with two spans each. Entities are compared
        by their characters in the original text. ``gold`` must have ``user_data["gold"]``, and
        ``raw`` sentences.
        """
        mentions = get_mentions(gold)
        mention_index = {mention.id: n for n, mention in enumerate(mentions)}
        doc = candidates[0].doc if candidates else word_doc(raw)  # as the task read it
        spans = task.names(doc)
        names = [(original_offsets(span),) for span in spans]
        name_index = {_span_key(span): n for n, span in enumerate(spans)}
        pairs = [
            (name_index[_span_key(a)], name_index[_span_key(b)])
            for a, b in (candidate.spans for candidate in candidates)
        ]
        interactions = [
            (mention_index.get(a, -1), mention_index.get(b, -1)) for a, b in task.interactions(gold)
        ]
        name_links = link_names(names, [mention.pieces for mention in mentions])
        return cls(
            mentions,
            gold.user_data["gold"],
            names,
            pairs,
            interactions,
            name_links,
            link_pairs(pairs, interactions, name_links),
            [(sentence.start_char, sentence.end_char) for sentence in raw.sents],
        )

    def name_hits(self, match: str) -> Hits:
        """Count matched entities, each at most once, as found, gold and right.

        They match if they share a character with ``match`` ``"overlap"``, if their boundaries are
        equal with ``"exact"``.
        """
        links = self.name_links if match == "overlap" else exact_links(self.name_links)
        return Hits(len(self.names), len(self.mentions), len(match_links(links)))

    def pair_hits(self, yes: Sequence[bool]) -> dict[str, PairHits]:
        """Count matched pairs by ``"overlap"`` and by ``"exact"`` boundaries.

        ``yes`` is the answer to each candidate, in order; only candidates answered yes count as
        found. All candidates count for what is reachable.
        """
        hits = {}
        for match, links in (
            ("overlap", self.pair_links),
            ("exact", exact_links(self.pair_links, 2)),
        ):
            right = len(match_links(_keep_positive(links, yes)))
            reachable = len(match_links(links))
            hits[match] = PairHits(Hits(sum(yes), len(self.interactions), right), reachable)
        return hits

    @property
    def overlaps_gold(self) -> list[bool]:
        """Whether each candidate overlaps a gold interaction, even if another one matches it."""
        linked = {candidate for candidate, _ in self.pair_links}
        return [number in linked for number in range(len(self.pairs))]

    @property
    def reasons(self) -> Counter[str]:
        """Why gold interactions have no candidate of their own, counted.

        The first that applies counts. ``separated``: not in one sentence of the analysed text;
        ``missed``: no recognised name overlaps one of the entities, or it covers no token;
        ``merged``: both were recognised, but their candidate is missing or matches another
        interaction. Reasons without an interaction are missing, so they read as 0.
        """
        reached = set(match_links(self.pair_links).values())
        recognised = {mention for _, mention in self.name_links}
        return Counter(
            "separated"
            if not self._in_one_sentence(pair)
            else "missed"
            if not set(pair) <= recognised
            else "merged"
            for number, pair in enumerate(self.interactions)
            if number not in reached
        )

    def _in_one_sentence(self, pair: tuple[int, int]) -> bool:
        """Return whether one sentence of the analysed text holds both gold entities whole.

        True also if an entity is unknown (-1).
        """
        if -1 in pair:
            return True
        ranges = [self.mentions[number].pieces for number in pair]
        first, last = min(p[0][0] for p in ranges), max(p[-1][1] for p in ranges)
        return any(start <= first and last <= end for start, end in self.sentences)


def _check_pair_task(model: Model, docs: Sequence[Doc]) -> PairTask:
    """Return the task of the model, which must judge pairs.

    Raises ValueError for another task, or for the first Doc without gold interactions
    (``doc.user_data["gold"]`` missing or None; an empty list will do).
    """
    task = model.pipeline.task
    if task.raw_text_unit != "pairs":
        raise ValueError(
            f"recognised entities can only be evaluated with a model of pairs, but this is a model "
            f"of task {task.name!r}. Evaluate with the entities of the corpus."
        )
    for doc in docs:
        if doc.user_data.get("gold") is None:
            raise ValueError(
                f"document {document_id(doc)!r} has no gold interactions to compare with. "
                "Give an annotated corpus."
            )
    return cast(PairTask, task)


def _describe_raw_text(nlp: Language, sentences: bool) -> str:
    """Return the procedure in words for the report: sentences and recogniser.

    ``sentences`` says whether those of the corpus were kept. The recogniser is the name of ``nlp``,
    or its language without one.
    """
    source = ", sentences of the corpus" if sentences else ""
    return f"raw text{source}, names found by {nlp.meta.get('name') or nlp.lang}"


def _analyse_texts(docs: Sequence[Doc], nlp: Language, sentences: bool) -> Iterator[Doc]:
    """Yield the texts analysed by ``nlp``, one new Doc per Doc, with the same ids, in order.

    With ``sentences`` they keep the sentences of ``docs``. A pipeline that sets no sentences is
    followed by the splitter by rules.
    """
    sentencizer = SentenceSplitter(final=True)
    texts = (_tokenize_sentences(doc, nlp) if sentences else doc.text for doc in docs)
    for gold, doc in zip(docs, nlp.pipe(texts), strict=True):
        doc.user_data["document"] = document_id(gold)
        yield doc if doc.has_annotation("SENT_START") else sentencizer(doc)


def _tokenize_sentences(gold: Doc, nlp: Language) -> Doc:
    """Return the text of ``gold`` tokenized by ``nlp``, with its sentence starts only.

    A sentence that begins inside a token starts at the next one.
    """
    doc = nlp.make_doc(gold.text)
    token_offsets = [token.idx for token in doc]
    starts = {bisect_left(token_offsets, sentence.start_char) for sentence in gold.sents}
    set_sentence_starts(doc, starts, final=True)
    return doc


def _decide_by_doc(
    model: Model,
    candidates: Sequence[Sequence[Candidate]],
    scores: Vector,
    positives: Positives,
    *,
    is_selected: bool = False,
) -> tuple[list[list[bool]], float | None]:
    """Return which candidates of each Doc are answered with yes, and the threshold.

    ``scores`` are those of the candidates of all Docs, one after the other. The threshold is chosen
    by ``positives`` on these scores; it is None without scores or if the model has none, and then
    scores of at least 0 are yes. ``is_selected`` says that the entities are given and the sentences
    were selected, see ``choose_threshold``.
    """
    threshold = None
    if len(scores):
        threshold, _ = choose_threshold(model, scores, positives, is_selected=is_selected)
    decisions: list[bool] = decide(scores, 0.0 if threshold is None else threshold).tolist()
    return [decisions[rows] for rows in slices(map(len, candidates))], threshold


def _evaluate_gold_entities(model: Model, docs: Sequence[Doc], positives: Positives) -> PairHits:
    """Evaluate with the entities of the corpus, whose pairs are matched by their ids.

    ``docs`` are analysed Docs to which gold entities and interactions were added. Candidates are
    generated and scored anew, and ``positives`` chooses a threshold on these scores, not that for
    recognised names. Interactions without a candidate count as gold, but not as reachable.
    """
    task = cast(PairTask, model.pipeline.task)
    candidates = [task.candidates(doc) for doc in docs]
    all_candidates = list(chain.from_iterable(candidates))
    scores: Vector = model.score(all_candidates)
    is_selected = has_selected_sentences(docs)
    by_doc, _ = _decide_by_doc(model, candidates, scores, positives, is_selected=is_selected)
    is_yes = list(chain.from_iterable(by_doc))
    is_gold = (gold_labels(all_candidates) > 0).tolist()
    unreachable = sum(map(task.unreachable, docs, candidates))
    right = sum(gold and yes for gold, yes in zip(is_gold, is_yes, strict=True))
    return PairHits(Hits(sum(is_yes), sum(is_gold) + unreachable, right), sum(is_gold))


def _span_key(span: Span) -> tuple[int, int, str, str]:
    """Return what identifies a span in its Doc: tokens, label and id."""
    return span.start, span.end, span.label_, span.id_


def _keep_positive(links: Mapping[tuple[int, int], float], yes: Sequence[bool]) -> dict[Any, float]:
    """Return the links of the predictions that were answered with yes."""
    return {ends: value for ends, value in links.items() if yes[ends[0]]}


def _sum_hits(hits: Iterator[Hits]) -> Hits:
    """Return the sums of the counts of texts, of which there must be at least one."""
    rows = [(h.found, h.gold, h.right) for h in hits]
    return Hits(*(sum(column) for column in zip(*rows, strict=True)))


def _sum_pair_hits(parts: Sequence[PairHits]) -> PairHits:
    """Return the sums of hits and of reachable interactions of at least one text."""
    return PairHits(_sum_hits(part.hits for part in parts), sum(part.reachable for part in parts))


def evaluate_identifiers(
    model: Model, docs: Sequence[Doc], nlp: Language, *, corpus: str = ""
) -> Report:
    """Recognise entities in the texts of annotated Docs and evaluate their identifiers.

    An identifier of a document is right if the corpus has it anywhere in that document. Metrics are
    over identifiers that the gene tables have; ``document_f_of_all`` is over all of the corpus.
    ``nlp`` is a spaCy pipeline with a named-entity recogniser; ``corpus`` is a name for the report,
    which has one fold. Its positives are all identifiers of the documents; those that the tables
    lack count as ``unreachable``. Raises ValueError if the task does not assign identifiers.
    """
    task = _check_document_task(model)
    raw = list(_analyse_raw(docs, nlp))
    candidates = [replace(c, label=None) for doc in raw for c in task.candidates(doc)]
    measures, every, covered = task.document_metrics(candidates, model.score(candidates), raw, docs)
    trained = model.meta.get("corpus") or "another corpus"
    return Report(
        task=task.name,
        corpus=corpus,
        procedure=f"trained on {trained}; names recognised in bare text; "
        f"{covered} of {every} identifiers of the documents are in the tables",
        settings=to_config(model.pipeline),
        seed=None,
        counts=Counts(len(docs), len(candidates), every, every - covered),
        folds=[Fold(measures, documents=len(docs), candidates=len(candidates), positives=every)],
    )


def _check_document_task(model: Model) -> DocumentTask:
    """Return the task of the model; ValueError unless it assigns identifiers to documents."""
    task = model.pipeline.task
    if task.raw_text_unit != "documents":
        raise ValueError(
            f"a model of the task {task.name!r} does not assign identifiers. Use a model of "
            "identifiers."
        )
    return cast(DocumentTask, task)


def _analyse_raw(docs: Sequence[Doc], nlp: Language) -> Iterator[Doc]:
    """Yield the texts analysed by ``nlp``: one new Doc per Doc, in order, with its id.

    The id is ``user_data["document"]``; a Doc without one is named by its position. Nothing else of
    ``docs`` but the text is used.
    """
    pairs = ((doc.text, document_id(doc, n)) for n, doc in enumerate(docs))
    for doc, name in nlp.pipe(pairs, as_tuples=True):
        doc.user_data["document"] = name
        yield doc
