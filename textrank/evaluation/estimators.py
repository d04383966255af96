"""The same evaluation for any scikit-learn estimator, on features or a precomputed Gram matrix."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike
from sklearn.base import clone

from textrank.evaluation.folds import document_folds, given_folds
from textrank.evaluation.intervals import bootstrap_intervals
from textrank.evaluation.report import Counts, Fold, Report, classification_fold, ranking_fold
from textrank.measures import Queries, best_threshold
from textrank.types import Indices, Vector


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
            scores[split, out] = _scores(estimator, matrix, labels, rest, out, precomputed)
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


def _scores(
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
    partition = document_folds(inside, min(k, len(set(inside))), seed)
    held = np.empty(len(rest))
    for fold in np.unique(partition):
        train, test = rest[partition != fold], rest[partition == fold]
        held[partition == fold] = _scores(estimator, data, y, train, test, precomputed)
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
        return [given_folds(documents, folds)]
    return [document_folds(documents, folds, seed + split) for split in range(splits)]


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
