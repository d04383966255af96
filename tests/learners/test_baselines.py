"""Baselines against scikit-learn and their definitions."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.naive_bayes import MultinomialNB
from sklearn.svm import SVC

from tests.learners.test_rls import features
from textrank.candidates import Targets
from textrank.config import load_pipeline
from textrank.learners.baselines import SVM, AdditiveClassifier, Cooccurrence, NaiveBayes
from textrank.metrics import best_threshold, decide, precision_recall_f


@pytest.fixture
def problem(rng):
    X = rng.integers(0, 4, (40, 6)).astype(float)
    y = np.where(X[:, 0] - X[:, 1] + rng.standard_normal(40) > 0, 1.0, -1.0)
    groups = np.arange(40) // 4
    return X, Targets(y, groups, groups)


def test_naive_bayes_orders_as_that_of_scikit_learn(problem):
    X, targets = problem
    (weights,) = NaiveBayes(alphas=[0.5]).weights(X, targets)
    theirs = MultinomialNB(alpha=0.5, fit_prior=False).fit(X, targets.y)
    odds = np.diff(theirs.predict_log_proba(X), axis=1)[:, 0]
    np.testing.assert_allclose(X @ weights, odds, atol=1e-8)


def test_the_additive_classifier_adds_differences_of_shares(problem):
    X, targets = problem
    (weights,) = AdditiveClassifier(alphas=[0.5]).weights(X, targets)
    positive = X[targets.y > 0].sum(axis=0)
    share = (positive + 0.5) / (X.sum(axis=0) + 1.0)
    np.testing.assert_allclose(weights, 2 * share - 1)


@pytest.mark.parametrize("learner", [NaiveBayes(), AdditiveClassifier()])
def test_statistics_hold_documents_out(problem, learner):
    X, targets = problem
    other = Targets(
        np.where(targets.groups == 2, -targets.y, targets.y), targets.groups, targets.groups
    )
    first, second = learner.fit(features(X), targets), learner.fit(features(X), other)
    own, others = targets.groups % 5 == 2, targets.groups == 1
    np.testing.assert_allclose(first.heldout[:, own], second.heldout[:, own])
    assert not np.allclose(first.heldout[:, others], second.heldout[:, others])
    with pytest.raises(ValueError, match="needs features"):
        learner.fit(X @ X.T, targets)
    with pytest.raises(ValueError, match="negative"):
        learner.fit(features(-X), targets)


@pytest.mark.parametrize("alpha", [0.5, 5.0])
def test_the_svm_reaches_the_objective_of_a_kernel_svm(problem, alpha):
    X, targets = problem
    K = np.exp(-((X[:, None] - X) ** 2).sum(-1) / 20)
    y = targets.y

    def objective(f, norm):
        return alpha * norm + np.maximum(1 - y * f, 0).sum()

    (a,) = SVM(alphas=[alpha]).path(K, targets).coefs
    svc = SVC(C=0.5 / alpha, kernel="precomputed", tol=1e-8).fit(K, y)
    b = np.zeros(len(y))
    b[svc.support_] = svc.dual_coef_[0]
    # The intercept of the other is free, so that ours cannot be lower than it.
    ours, theirs = objective(K @ a, a @ K @ a), objective(K @ b + svc.intercept_, b @ K @ b)
    assert theirs - 1e-6 <= ours <= objective(K @ b, b @ K @ b) + 1e-2


def test_an_svm_on_a_basis_leaves_out_what_it_tests(problem):
    X, targets = problem
    K = np.exp(-((X[:, None] - X) ** 2).sum(-1) / 20)
    fit = SVM(alphas=[1.0], size=15, folds=5).fit(K, targets)
    assert np.count_nonzero(fit.coef) <= 15
    flipped = Targets(
        np.where(targets.groups % 5 == 2, -targets.y, targets.y), targets.groups, targets.groups
    )
    other = SVM(alphas=[1.0], size=15, folds=5).fit(K, flipped)
    own = targets.groups % 5 == 2
    np.testing.assert_allclose(fit.heldout[:, own], other.heldout[:, own], atol=1e-6)
    with pytest.raises(ValueError, match="Leave it out"):
        SVM(size=3).fit(features(X), targets)


def test_cooccurrence_says_yes_to_all(problem):
    X, targets = problem
    fit = Cooccurrence().fit(X @ X.T, targets)
    answers = decide(fit.heldout[0], best_threshold(targets.y, fit.heldout[0]))
    assert answers.all()
    assert precision_recall_f(targets.y, answers).recall == 1.0


def test_a_cfg_can_name_the_baselines():
    for name in ("naive_bayes.v1", "additive.v1", "svm.v1", "cooccurrence.v1"):
        pipeline = load_pipeline("ppi-linear", {"learner": {"@learners": name}})
        assert pipeline.learner.select == "auc"
    with pytest.raises(ValueError, match="folds must be at least 2"):
        NaiveBayes(folds=1)
