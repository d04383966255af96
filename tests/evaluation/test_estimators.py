"""Any scikit-learn estimator, on features or a Gram matrix, evaluated with documents held out."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.metrics import roc_auc_score
from sklearn.svm import SVC

from textrank.evaluation.evaluate import evaluate_estimator
from textrank.evaluation.splits import make_folds


@pytest.fixture
def problem(rng):
    X = rng.normal(size=(90, 4))
    y = np.where(X @ [1.0, -1.0, 0.5, 0.0] + rng.normal(size=90) > 0.3, 1, -1)
    return X, y, [f"d{i // 5}" for i in range(90)]


def test_fold_measures_equal_those_computed_by_hand(problem):
    X, y, documents = problem
    report = evaluate_estimator(Ridge(), X, y, documents, folds=3, seed=2)
    folds = make_folds(documents, 3, 2)
    for fold in report.folds:
        out = folds == fold.fold
        scores = Ridge().fit(X[~out], y[~out]).predict(X[out])
        assert fold.measures["auc"] == pytest.approx(roc_auc_score(y[out], scores))
        assert fold.documents == 6


def test_gram_matrix_sparse_and_dense_features_agree(problem):
    X, y, documents = problem
    gram = evaluate_estimator(
        KernelRidge(kernel="precomputed"), X @ X.T, y, documents, folds=3, precomputed=True
    )
    plain = Ridge(fit_intercept=False)
    for data in (X, sp.csr_array(X)):
        other = evaluate_estimator(plain, data, y, documents, folds=3)
        for a, b in zip(gram.folds, other.folds, strict=True):
            assert a.measures["f"] == pytest.approx(b.measures["f"])
            assert a.chosen["threshold"] == pytest.approx(b.chosen["threshold"], abs=1e-6)


@pytest.mark.parametrize("estimator", [SVC(), LogisticRegression()], ids=["margin", "probability"])
def test_margins_and_probabilities_serve_as_scores(problem, estimator):
    X, y, documents = problem
    report = evaluate_estimator(estimator, X, y, documents, folds=3, splits=2)
    assert len(report.folds) == 6
    assert report.measures["auc"].mean > 0.7
    assert report.intervals["f"][0] < report.measures["f"].mean < report.intervals["f"][1]


def test_documents_are_on_one_side_so_copies_do_not_help(rng):
    # Every document is one row many times with a random label: only a leak can learn it.
    X = np.repeat(np.eye(40), 5, axis=0)
    y = np.repeat(np.where(rng.random(40) < 0.5, 1, -1), 5)
    documents = [f"d{i // 5}" for i in range(200)]
    report = evaluate_estimator(Ridge(), X, y, documents, folds=10)
    each_alone = [str(i) for i in range(200)]
    leaky = evaluate_estimator(Ridge(), X, y, each_alone, folds=10)
    assert report.measures["auc"].mean < 0.6
    assert leaky.measures["auc"].mean > 0.99


def test_a_ranker_is_measured_by_query(problem):
    X, _, documents = problem
    report = evaluate_estimator(Ridge(), X, X[:, 0], documents, folds=3, queries=documents)
    assert report.measures["tau"].mean > 0.9
    assert "threshold" not in report.procedure


def test_shapes_that_do_not_fit_are_refused(problem):
    X, y, documents = problem
    with pytest.raises(ValueError, match="89 documents do not fit together"):
        evaluate_estimator(Ridge(), X, y, documents[:-1])
    with pytest.raises(ValueError, match="must be square"):
        evaluate_estimator(Ridge(), X, y, documents, precomputed=True)
