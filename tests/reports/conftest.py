"""A report with everything a page can show, in sentences of our own."""

from __future__ import annotations

import numpy as np
import pytest

from textrank.evaluation import Counts, Decision, Report
from textrank.evaluation.report import classification_fold

TEXT = "AbcA binds the factor XyzB <and> inhibits Qrs1 ."


def place(word):
    start = TEXT.index(word)
    return start, start + len(word)


def arc(governor, relation, dependent):
    return (*place(governor), *place(dependent), relation)


PATHS = [
    ("AbcA", "XyzB", [arc("binds", "nsubj", "AbcA"), arc("binds", "dobj", "factor"),
                      arc("factor", "appos", "XyzB")]),
    ("AbcA", "Qrs1", [arc("binds", "nsubj", "AbcA"), arc("binds", "conj", "inhibits"),
                      arc("inhibits", "dobj", "Qrs1")]),
    ("XyzB", "Qrs1", []),
]  # fmt: skip


@pytest.fixture(scope="session")
def report():
    rng = np.random.default_rng(4)
    folds, decisions = [], []
    for fold in range(4):
        y = np.where(rng.random(30) < 0.3, 1.0, -1.0)
        scores = 0.5 * y + rng.normal(size=30) * 0.6
        folds.append(classification_fold(y, scores, 0.0, fold=fold, chosen={"alpha": 1.0}))
        for i, (label, score) in enumerate(zip(y, scores, strict=True)):
            first, second, path = PATHS[i % 3]
            spans = [place(first), place(second)]
            decisions.append(Decision(f"d{fold}.{i}", TEXT, spans, score, label, 0.0, fold,
                                      query=f"s{i}", path=path))  # fmt: skip
    curves = {
        "alpha": [{"x": x, "auc": {"mean": 0.7, "std": 0.1}} for x in (0.5, 1.0)],
        "learning": [{"x": x, "auc": {"mean": 0.7, "std": 0.1}} for x in (5, 10)],
    }
    return Report(
        task="ppi", corpus="sample", procedure="4 folds by document",
        settings={"learner": {"alphas": [0.5, 1.0]}}, seed=4, counts=Counts(120, 120, 36, 1),
        folds=folds, seconds={"kernel": 0.1}, intervals={"auc": (0.6, 0.8)},
        notes=["<marked> report"], curves=curves, decisions=decisions,
    )  # fmt: skip
