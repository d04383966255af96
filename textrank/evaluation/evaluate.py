"""Evaluation of trained models on other documents, across corpora, and of scikit-learn estimators.

- ``evaluate`` tests a model on annotated documents.
- ``cross_corpora`` trains on each of several corpora and tests on all others.
- ``evaluate_estimator`` cross-validates a scikit-learn estimator with whole documents held out.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any, Literal, TypeAlias

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike
from sklearn.base import clone
from spacy.tokens import Doc

from textrank.candidates import (
    Candidate,
    find_training_overlap,
    gold_labels,
    sentence_starts,
    shares_text,
)
from textrank.config import to_config
from textrank.evaluation.cross_validation import FoldScores, group_intervals
from textrank.evaluation.report import Counts, Fold, Report, classification_fold, ranking_fold
from textrank.evaluation.splits import folds_from_table, make_folds
from textrank.evaluation.statistics import bootstrap_intervals
from textrank.features import Features, Indices, Vector
from textrank.language.alignment import original_doc
from textrank.learners.calibration import expected_threshold, mean_threshold
from textrank.linalg import features_of
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

MIN_COMPLETE_SENTENCES = 3  # per document; fewer are sentences that were selected
Positives: TypeAlias = float | Literal["auto"] | None
"""Share of positives that is expected, ``"auto"``, or None for the threshold of training."""


def evaluate(
    model: Model, docs: Iterable[Doc], *, corpus: str = "", positives: Positives = None
) -> Report:
    """Test a model on annotated documents and return a report with one fold.

    Documents that the model was trained on are counted in ``Report.trained_on``, with a note that
    figures on them are too high.

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
        """Return a metric of one pair; None if both are the same or it is undefined.

        It is undefined too if the report of the pair does not have the metric ``measure``.
        """
        report = self.reports.get((train, test))
        metric = None if report is None else report.measures.get(measure)
        return None if metric is None else metric.mean

    def table(self, measure: str) -> list[list[float | None]]:
        """Return a metric of all pairs, one row per training and one column per test corpus.

        Both are in the order of ``corpora``; the diagonal is None.
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

    ``corpora`` has annotated Docs by the name of the corpus. Alpha and threshold are chosen by
    leave-document-out in the training corpus. Test documents that share an original id or a
    sentence with the training corpus are left out. Raises ValueError for fewer than two corpora, or
    if no candidate of a test corpus is left.
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

    Its candidates are not represented again. Kernel values of the dataset are used only if they
    come from the model's kernel: not if training chose the kernel or learnt parts of it.
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
        Document-level folds of the training part, whose scores determine the threshold.
    queries
        The query of each candidate; the estimator is then evaluated as a ranker, without threshold.
    task, corpus
        Names for the report.

    Raises
    ------
    ValueError
        If rows, labels and documents differ in number, or the folds do not fit the documents.

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

    ``scores`` is (splits, n). Without a threshold the answer is no.
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
