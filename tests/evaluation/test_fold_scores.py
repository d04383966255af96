"""What a report says about all folds together equals doing it by hand."""

from __future__ import annotations

import numpy as np
import pytest

from textrank.evaluation import cross_validate
from textrank.evaluation.splits import LeakyFolds, LeaveDocumentOut, TrainTest
from textrank.kernels.algebra import Normalized
from textrank.kernels.graphs import AllPathsGraph
from textrank.learners.rls import RLS
from textrank.metrics import auc, precision_recall_f
from textrank.pipeline import Pipeline
from textrank.tasks.ppi.graphs import DependencyGraph
from textrank.tasks.ppi.task import PPI


@pytest.fixture(scope="module")
def pipeline():
    return Pipeline(PPI(), DependencyGraph(), Normalized(AllPathsGraph()), RLS((0.25, 1.0)))


@pytest.fixture(scope="module")
def report(pipeline, docs):
    return cross_validate(pipeline, docs, folds=3, splits=2)


def test_pooled_measures_take_all_folds_of_a_split_together(report):
    aucs, fs = [], []
    for split in (0, 1):
        own = [d for d in report.decisions if d.split == split]
        aucs.append(auc([d.label for d in own], [d.score for d in own]))
        fs.append(precision_recall_f([d.label for d in own], [d.decision for d in own]).f)
    assert report.pooled["auc"] == pytest.approx(np.mean(aucs))
    assert report.pooled["f"] == pytest.approx(np.mean(fs))


def test_the_alpha_curve_meets_the_report_of_each_single_alpha(pipeline, docs, report):
    for point in report.curves["alpha"]:
        alone = Pipeline(pipeline.task, pipeline.representation, pipeline.kernel, RLS([point["x"]]))
        single = cross_validate(alone, docs, folds=3, splits=2).measures
        assert point["auc"]["mean"] == pytest.approx(single["auc"].mean)
        assert point["f"]["mean"] == pytest.approx(single["f"].mean)


def test_intervals_surround_the_mean(report):
    for name in ("auc", "f", "precision", "recall"):
        low, high = report.intervals[name]
        assert low <= report.measures[name].mean <= high


def test_leave_document_out_pools_what_single_documents_leave_undefined(pipeline, docs):
    report = cross_validate(pipeline, docs, splitter=LeaveDocumentOut())
    assert len(report.folds) == len(docs)
    assert report.measures["auc"].undefined > 0
    assert report.pooled["auc"] is not None


def test_train_test_measures_one_fold(pipeline, docs):
    report = cross_validate(pipeline, docs, splitter=TrainTest(share=0.3))
    assert [fold.fold for fold in report.folds] == [0]
    assert report.folds[0].documents == round(0.3 * len(docs))


def test_a_leaky_report_is_marked(pipeline, docs):
    with pytest.warns(UserWarning, match="LEAKY"):
        report = cross_validate(pipeline, docs, splitter=LeakyFolds(3))
    assert report.notes[0].startswith("LEAKY")
    assert "leave-candidate-out" in report.procedure
