"""Learning curves end at the full training set and use the same test folds."""

from __future__ import annotations

import pytest

from textrank.evaluation import cross_validate_dataset
from textrank.evaluation.splits import DocumentFolds
from textrank.evaluation.sweep import learning_curve
from textrank.kernels.algebra import Exponential, Normalized
from textrank.kernels.graphs import AllPathsGraph
from textrank.learners.rls import RLS
from textrank.pipeline import Pipeline
from textrank.tasks.ppi.graphs import DependencyGraph
from textrank.tasks.ppi.task import PPI


@pytest.mark.parametrize("wrap", [lambda k: k, Exponential], ids=["features", "gram"])
def test_the_last_point_is_the_plain_report(docs, wrap):
    kernel = wrap(Normalized(AllPathsGraph()))
    pipeline = Pipeline(PPI(), DependencyGraph(), kernel, RLS((0.25, 1.0)))
    seen = pipeline.prepare(docs)
    way = DocumentFolds(3, seed=1)
    points = learning_curve(pipeline, seen, way, shares=(0.5, 1.0))
    assert [point["x"] for point in points] == [6.0, 12.0]
    report = cross_validate_dataset(pipeline, seen, way)
    assert points[-1]["auc"]["mean"] == pytest.approx(report.measures["auc"].mean)
    assert points[-1]["f"]["mean"] == pytest.approx(report.measures["f"].mean)


def test_shares_must_be_shares(docs):
    pipeline = Pipeline(PPI(), DependencyGraph(), Normalized(AllPathsGraph()), RLS((1.0,)))
    with pytest.raises(ValueError, match="between 0 and 1"):
        learning_curve(pipeline, pipeline.prepare(docs), DocumentFolds(3), shares=(50,))
