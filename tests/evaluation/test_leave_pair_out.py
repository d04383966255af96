"""Leave-pair-out AUC equals retraining without the two documents, for every pair."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.kernel_ridge import KernelRidge

from textrank.evaluation import cross_validate_dataset
from textrank.evaluation.cross_validation import group_pair_auc
from textrank.evaluation.splits import LeavePairOut
from textrank.kernels.algebra import Normalized
from textrank.kernels.graphs import AllPathsGraph
from textrank.learners.rls import RLS
from textrank.pipeline import Pipeline
from textrank.tasks.ppi.graphs import DependencyGraph
from textrank.tasks.ppi.task import PPI


def by_retraining(K, y, documents, alpha):
    won, pairs = 0.0, 0
    for i in np.flatnonzero(y > 0):
        for j in np.flatnonzero(y < 0):
            rest = ~np.isin(documents, [documents[i], documents[j]])
            model = KernelRidge(alpha=alpha, kernel="precomputed")
            model.fit(K[np.ix_(rest, rest)], y[rest])
            f, g = model.predict(K[np.ix_([i, j], rest)])
            won += (f > g) + 0.5 * (f == g)
            pairs += 1
    return won / pairs


@pytest.mark.parametrize("seed", range(3))
def test_every_pair_is_scored_without_its_two_documents(seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(24, 4))
    y = np.where(X[:, 0] + rng.normal(size=24) > 0, 1.0, -1.0)
    documents = rng.integers(0, 9, 24)  # of different sizes
    ours = group_pair_auc(X @ X.T, y, documents, 0.5)
    assert ours == pytest.approx(by_retraining(X @ X.T, y, documents, 0.5), abs=1e-12)


def test_one_class_has_no_pairs():
    assert group_pair_auc(np.eye(4), np.ones(4), np.arange(4), 1.0) is None


def test_the_report_names_the_procedure_and_marks_the_choice_of_alpha(docs):
    pipeline = Pipeline(PPI(), DependencyGraph(), Normalized(AllPathsGraph()), RLS((0.25, 1.0)))
    report = cross_validate_dataset(pipeline, pipeline.prepare(docs), LeavePairOut(), corpus="c")
    assert 0.5 < report.measures["auc"].mean <= 1
    assert report.procedure.startswith("leave-pair-out")
    assert "alpha was chosen on all documents" in report.notes[-1]
