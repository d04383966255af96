"""Training on each corpus and testing on each other: what a method is worth outside its data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from spacy.tokens import Doc

from textrank.docs import shares_text
from textrank.evaluation.fold_scores import FoldScores, document_intervals
from textrank.evaluation.report import Counts, Fold, Report
from textrank.learners.prior_shift import mean_threshold
from textrank.measures import decide, precision_recall_f
from textrank.model import Model
from textrank.pipeline import Clock, Dataset, Pipeline
from textrank.progress import track
from textrank.registries import config_of
from textrank.text import original
from textrank.types import Features, Vector


@dataclass(frozen=True)
class Cross:
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


def cross(pipeline: Pipeline, corpora: Mapping[str, Sequence[Doc]]) -> Cross:
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
            model = pipeline.fit_prepared(dataset[train])
        for test in corpora:
            if test != train:
                with clock.step("measures"):
                    shared = shares_text(corpora[test], corpora[train])
                    out = {id(doc) for doc, s in zip(corpora[test], shared, strict=True) if s}
                    dropped[train, test] = len(out)
                    cell = _cell(model, dataset[test], out, len(corpora[test]) - len(out))
                    reports[train, test] = _report(model, cell, train, test)
    order = list(corpora)
    return Cross(order, reports, dropped, clock.seconds)


@dataclass(frozen=True, eq=False)
class _Cell:
    test: FoldScores
    documents: int
    unreachable: Mapping[str, int]


def _cell(model: Model, dataset: Dataset, out: set[int], documents: int) -> _Cell:
    kept = np.array(
        [i for i, c in enumerate(dataset.candidates) if id(original(c.doc)) not in out], np.intp
    )
    if not len(kept):
        raise ValueError(
            "all test documents share text with the training corpus: nothing is left to test. "
            "Name different corpora."
        )
    candidates = [dataset.candidates[i] for i in kept]
    names = {c.document for c in candidates}
    missed = {name: number for name, number in dataset.unreachable.items() if name in names}
    scores = _scores(model, dataset)[kept]
    alpha, threshold = model.fit.alpha, model.threshold
    total = sum(missed.values())
    test = FoldScores(kept, candidates, [alpha], scores[None], [threshold], 0, total, 0, 0)
    return _Cell(test, documents, missed)


def _scores(model: Model, dataset: Dataset) -> Vector:
    """Scores of candidates that were examined before, without looking at their text again."""
    neighbourhood = dataset.targets.neighbourhood
    if model.names is not None and isinstance(dataset.data, Features):
        return model.fit.predict(dataset.data.onto(model.names), neighbourhood)
    return model.fit.predict(model.pipeline.kernel(dataset.X, model.support), neighbourhood)


def _with_mean(test: FoldScores, fold: Fold) -> Fold:
    """Beside F by the training threshold that by one from the test scores, without their labels."""
    if "f" not in fold.measures:
        return fold
    said = decide(test.scores[0], mean_threshold(test.scores[0]))
    f = precision_recall_f(test.y, said, test.unreachable).f
    return replace(fold, measures={**fold.measures, "f_mean": f})


def _report(model: Model, cell: _Cell, train: str, test: str) -> Report:
    fold = _with_mean(cell.test, cell.test.measured(model.pipeline.task))
    size = len(cell.test.index)
    return Report(
        task=model.pipeline.task.name,
        corpus=test,
        procedure=f"trained on {train}; alpha and threshold by leave-document-out there",
        settings=config_of(model.pipeline),
        seed=None,
        counts=Counts(cell.documents, size, fold.positives, cell.test.unreachable),
        folds=[fold],
        intervals=document_intervals([cell.test], [fold], cell.unreachable),
    )
