"""The Report keeps the contract of its JSON form, and never hides what is undefined."""

from __future__ import annotations

import json

import numpy as np
import pytest

from textrank.evaluation import Counts, Decision, Fold, Report, Summary
from textrank.evaluation.report import classification_fold, ranking_fold
from textrank.metrics import (
    auc,
    best_threshold,
    classification_metrics,
    decide,
    precision_recall_f,
    ranking_metrics,
)

CONTRACT = {
    *("task", "corpus", "procedure", "settings", "seed", "versions"),
    *("counts", "measures", "folds", "seconds"),
}


def make_report(**changes):
    y, scores = [1, -1, 1, -1], [0.9, 0.2, 0.4, 0.6]
    folds = [
        classification_fold(y, scores, 0.5, fold=0, documents=2, chosen={"alpha": 0.25}),
        classification_fold([-1, -1], [0.1, 0.7], 0.5, fold=1, documents=1),
    ]
    decision = Decision("d1", "A binds B .", [(0, 1), (8, 9)], 0.9, 1.0, 0.5)
    fields = {
        "task": "ppi", "corpus": "sample", "procedure": "2 folds by document", "seed": 1,
        "settings": {"alphas": [0.25, 1.0]}, "counts": Counts(3, 6, 2, 1), "folds": folds,
        "seconds": {"read": np.float64(0.5)}, "decisions": [decision],
    }  # fmt: skip
    return Report(**(fields | changes))


def test_to_dict_has_every_key_of_the_contract_and_is_json():
    data = make_report().to_dict()
    assert set(data) >= CONTRACT
    assert data["counts"] == {"documents": 3, "candidates": 6, "positives": 2, "unreachable": 1}
    for name in ("auc", "f", "precision", "recall"):
        assert set(data["measures"][name]) >= {"mean", "std"}
        assert all(name in fold for fold in data["folds"])
    assert [(fold["split"], fold["fold"]) for fold in data["folds"]] == [(0, 0), (0, 1)]
    assert set(data["versions"]) >= {"textrank", "python", "numpy", "scipy", "spacy"}
    json.dumps(data, allow_nan=False)


def test_undefined_folds_are_counted_and_left_out_of_the_mean():
    data = make_report().to_dict()
    assert data["folds"][1]["auc"] is None
    assert data["measures"]["auc"] == {"mean": 0.75, "std": 0.0, "undefined": 1}
    assert data["undefined"]["auc"] == 1
    assert data["optimistic"] == ["f_best"]


def test_means_over_folds_and_spread_between_splits():
    folds = [Fold({"f": value}, fold=i % 2, split=i // 2) for i, value in enumerate([0, 1, 1, 1])]
    assert Summary.from_folds(folds, "f") == Summary(0.75, float(np.std([0, 1, 1, 1])), 0, 0.25)
    assert Summary.from_folds(folds, "auc") == Summary(None, None, 4)


def test_decisions_are_written_only_when_asked_for():
    report = make_report()
    assert "decisions" not in report.to_dict()
    (row,) = report.to_dict(decisions=True)["decisions"]
    assert row["decision"] is True
    assert row["text"] == "A binds B ."


def test_from_dict_takes_back_what_to_dict_gave():
    report = make_report(intervals={"f": (0.1, 0.9)}, notes=["documents are split"])
    data = json.loads(json.dumps(report.to_dict(decisions=True)))
    assert Report.from_dict(data).to_dict(decisions=True) == report.to_dict(decisions=True)


def test_from_dict_names_the_missing_key():
    data = make_report().to_dict()
    del data["folds"]
    with pytest.raises(ValueError, match="the key 'folds'"):
        Report.from_dict(data)


def test_nan_is_refused_where_it_enters():
    with pytest.raises(ValueError, match="auc of fold 3 is nan; use None"):
        Fold({"auc": float("nan")}, fold=3)


def test_a_report_without_folds_is_refused():
    with pytest.raises(ValueError, match="at least one fold"):
        make_report(folds=[])


def test_text_shows_marks_and_undefined_folds():
    text = str(make_report(notes=["LEAKY"]))
    assert "LEAKY" in text
    assert "75.0 ±0.0 (1 folds undefined)" in text
    assert "(optimistic)" in text


def test_classification_measures_hold_three_thresholds(rng):
    y = np.where(rng.random(60) < 0.3, 1.0, -1.0)
    scores = y * 0.5 + rng.normal(size=60)
    found = classification_metrics(y, scores, 0.3, unreachable=2)
    assert found["auc"] == auc(y, scores)
    assert found["f"] == precision_recall_f(y, scores >= 0.3, 2).f
    best = decide(scores, best_threshold(y, scores, 2))
    assert found["f_best"] == precision_recall_f(y, best, 2).f
    top = np.argsort(-scores)[: int((y > 0).sum())]
    assert found["f_rate"] == precision_recall_f(y, np.isin(np.arange(60), top), 2).f
    assert found["f_best"] >= max(found["f"], found["f_rate"])


@pytest.mark.parametrize("y", [[], [1.0], [-1.0], [1.0, 1.0], [-1.0, -1.0]])
def test_degenerate_folds_have_values_or_none_but_never_fail(y):
    fold = classification_fold(y, [0.5] * len(y), 0.0)
    assert fold.measures["auc"] is None
    json.dumps(fold.to_dict(), allow_nan=False)


def test_ranking_fold_counts_queries_without_tau():
    fold = ranking_fold([1.0, 2.0, 3.0, 3.0], [0.1, 0.4, 0.2, 0.3], ["a", "a", "b", "b"])
    assert fold.measures["tau"] == 1.0
    assert fold.chosen == {"queries": 2.0, "undefined_queries": 1.0}
    assert "ndcg" in fold.measures
    assert "ndcg" not in ranking_metrics([-1.0, 2.0], [0.1, 0.4], ["a", "a"])
