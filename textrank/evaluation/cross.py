"""Training on each corpus and testing on each other: what a method is worth outside its data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from spacy.tokens import Doc

from textrank.docs import shares_text
from textrank.evaluation import Counts, Fold, Report, decide, precision_recall_f
from textrank.evaluation.trials import Trial, document_intervals
from textrank.learners.prior_shift import mean_threshold
from textrank.model import Model
from textrank.pipeline import Clock, Examined, Pipeline
from textrank.progress import track
from textrank.registry import config_of
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
    seen = {}
    for name, docs in track(corpora.items(), "examining corpora", len(corpora)):
        seen[name] = pipeline.examine(list(docs), clock)
    reports: dict[tuple[str, str], Report] = {}
    dropped: dict[tuple[str, str], int] = {}
    for train in track(corpora, "training", len(corpora)):
        with clock.step("learner"):
            model = pipeline.learn(seen[train])
        for test in corpora:
            if test != train:
                with clock.step("measures"):
                    shared = shares_text(corpora[test], corpora[train])
                    out = {id(doc) for doc, s in zip(corpora[test], shared, strict=True) if s}
                    dropped[train, test] = len(out)
                    cell = _cell(model, seen[test], out, len(corpora[test]) - len(out))
                    reports[train, test] = _report(model, cell, train, test)
    order = list(corpora)
    return Cross(order, reports, dropped, clock.seconds)


@dataclass(frozen=True, eq=False)
class _Cell:
    trial: Trial
    documents: int
    unreachable: Mapping[str, int]


def _cell(model: Model, seen: Examined, out: set[int], documents: int) -> _Cell:
    kept = np.array([i for i, c in enumerate(seen.candidates) if id(c.doc) not in out], np.intp)
    if not len(kept):
        raise ValueError(
            "all test documents share text with the training corpus: nothing is left to test. "
            "Name different corpora."
        )
    candidates = [seen.candidates[i] for i in kept]
    names = {c.document for c in candidates}
    missed = {name: number for name, number in seen.unreachable.items() if name in names}
    scores = _scores(model, seen)[kept]
    alpha, threshold = model.fit.alpha, model.threshold
    total = sum(missed.values())
    trial = Trial(kept, candidates, [alpha], scores[None], [threshold], 0, total, 0, 0)
    return _Cell(trial, documents, missed)


def _scores(model: Model, seen: Examined) -> Vector:
    """Scores of candidates that were examined before, without looking at their text again."""
    company = seen.targets.company
    if model.names is not None and isinstance(seen.data, Features):
        return model.fit.predict(seen.data.onto(model.names), company)
    return model.fit.predict(model.pipeline.kernel(seen.X, model.support), company)


def _with_mean(trial: Trial, fold: Fold) -> Fold:
    """Beside F by the training threshold that by one from the test scores, without their labels."""
    if "f" not in fold.measures:
        return fold
    said = decide(trial.scores[0], mean_threshold(trial.scores[0]))
    f = precision_recall_f(trial.y, said, trial.unreachable).f
    return replace(fold, measures={**fold.measures, "f_mean": f})


def _report(model: Model, cell: _Cell, train: str, test: str) -> Report:
    fold = _with_mean(cell.trial, cell.trial.measured(model.pipeline.task))
    size = len(cell.trial.index)
    return Report(
        task=model.pipeline.task.name,
        corpus=test,
        procedure=f"trained on {train}; alpha and threshold by leave-document-out there",
        settings=config_of(model.pipeline),
        seed=None,
        counts=Counts(cell.documents, size, fold.positives, cell.trial.unreachable),
        folds=[fold],
        intervals=document_intervals([cell.trial], [fold], cell.unreachable),
    )
