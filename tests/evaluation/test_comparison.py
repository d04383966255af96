"""Runs are compared on the same folds only, with corrected p-values."""

from __future__ import annotations

import json

import numpy as np
import pytest
import scipy.stats

from textrank.evaluation import Counts, Decision, Fold, Report
from textrank.evaluation.report import ranking_fold
from textrank.evaluation.statistics import combined_5x2cv_f, compare, holm


def make(values, splits=1, **changes):
    per = len(values) // splits
    folds = [
        Fold({"auc": v, "f": v and v / 2}, fold=i % per, split=i // per, candidates=9, positives=3)
        for i, v in enumerate(values)
    ]
    fields = {"task": "ppi", "corpus": "c", "procedure": "p", "settings": {}, "seed": 0}
    return Report(**(fields | {"counts": Counts(1, 2, 1), "folds": folds} | changes))


def test_ten_folds_are_tested_by_ranks_and_permutation(rng):
    a, b = rng.random(10), rng.random(10)
    result = compare({"A": make(a), "B": make(b)})
    assert [c.measure for c in result.contrasts] == ["auc", "f"]
    first = result.contrasts[0]
    assert {t.test for t in first.tests} == {"Wilcoxon", "permutation"}
    p = {t.test: t.p for t in first.tests}
    assert p["Wilcoxon"] == pytest.approx(scipy.stats.wilcoxon(a, b).pvalue)
    assert first.effect.mean == pytest.approx((b - a).mean())
    assert first.means == (pytest.approx(a.mean()), pytest.approx(b.mean()))
    json.dumps(result.to_dict(), allow_nan=False)


def test_five_divisions_in_two_get_the_f_test(rng):
    a, b = rng.random(10), rng.random(10)
    result = compare({"A": make(a, splits=5), "B": make(b, splits=5)}, ["auc"])
    (contrast,) = result.contrasts
    assert contrast.tests[0] == combined_5x2cv_f(a.reshape(5, 2), b.reshape(5, 2))
    assert not result.notes


def test_several_runs_are_corrected_for_their_number(rng):
    reports = {name: make(rng.random(10)) for name in "ABC"}
    result = compare(reports, ["auc"])
    assert [(c.first, c.second) for c in result.contrasts] == [("A", "B"), ("A", "C"), ("B", "C")]
    p = [next(t.p for t in c.tests if t.test == "Wilcoxon") for c in result.contrasts]
    assert result.corrected["Wilcoxon"]["holm"] == pytest.approx(holm(p))


def test_undefined_folds_are_left_out_in_pairs_and_counted():
    result = compare({"A": make([0.5, None, 0.7, 0.9]), "B": make([0.6, 0.1, None, 0.8])}, ["auc"])
    (contrast,) = result.contrasts
    assert contrast.undefined == 2
    assert contrast.tests[0].pairs == 2
    with pytest.raises(ValueError, match="share no fold in which auc is defined"):
        compare({"A": make([0.5, None]), "B": make([None, 0.1])}, ["auc"])


def test_other_folds_tasks_or_measures_are_refused():
    with pytest.raises(ValueError, match="fold 2 of split 0 differs"):
        compare({"A": make([0.5, 0.6]), "B": make([0.5, 0.6, 0.7])})
    with pytest.raises(ValueError, match="A is ppi on c, B is ppi on d"):
        compare({"A": make([0.5]), "B": make([0.5], corpus="d")})
    with pytest.raises(ValueError, match="no measure 'tau'"):
        compare({"A": make([0.5]), "B": make([0.5])}, ["tau"])
    with pytest.raises(ValueError, match="at least 2 reports, got 1"):
        compare({"A": make([0.5])})


def test_marks_of_the_runs_and_of_repeated_divisions_are_kept(rng):
    a = make(rng.random(20), splits=2, notes=["pairs are split"])
    notes = compare({"A": a, "B": a}).notes
    assert notes[0] == "A: pairs are split"
    assert "not independent" in notes[-1]


def test_rankings_are_compared_over_queries(rng):
    y, queries = rng.random(40), [str(i // 4) for i in range(40)]

    def run(scores):
        decisions = [
            Decision("d", "t", [(0, 1)], s, label, query=q)
            for s, label, q in zip(scores, y, queries, strict=True)
        ]
        fold = ranking_fold(y, scores, queries)
        return make([0.5], folds=[fold], decisions=decisions)

    a, b = rng.random(40), y + rng.random(40) * 0.3
    (contrast,) = compare({"A": run(a), "B": run(b)}).contrasts
    assert (contrast.measure, contrast.unit, contrast.tests[0].pairs) == ("tau", "query", 10)
    taus = [
        [scipy.stats.kendalltau(y[i : i + 4], s[i : i + 4]).statistic for i in range(0, 40, 4)]
        for s in (a, b)
    ]
    assert contrast.means == (pytest.approx(np.mean(taus[0])), pytest.approx(np.mean(taus[1])))
