from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from sklearn.svm import LinearSVC

from tests.learners.problems import problems
from tests.learners.test_rls import features
from textrank.candidates import Targets
from textrank.learners.ranksvm import RankSVM, _Problem


def objective(F, y, queries, w, alpha):
    s = F @ w
    pairs = [
        (i, j)
        for i, j in permutations(range(len(y)), 2)
        if queries[i] == queries[j] and y[i] > y[j]
    ]
    return alpha * w @ w + sum(max(0.0, 1 - s[i] + s[j]) ** 2 for i, j in pairs)


@given(problem=problems())
def test_the_loss_is_the_sum_over_pairs(problem):
    rng = np.random.default_rng(len(problem.y))
    queries = problem.groups % 3
    inner = _Problem.from_labels(problem.F, problem.y, queries)
    w = rng.standard_normal(problem.F.shape[1])
    value, gradient = inner.loss(w, 0.3)
    assert value == pytest.approx(objective(problem.F, problem.y, queries, w, 0.3))
    step = 1e-6 * rng.standard_normal(len(w))
    slope = inner.loss(w + step, 0.3)[0] - inner.loss(w - step, 0.3)[0]
    assert slope == pytest.approx(2 * gradient @ step, rel=1e-3, abs=1e-9)


@pytest.mark.parametrize("levels", [2, 5, 1000])
@pytest.mark.parametrize("alpha", [0.1, 10.0])
def test_the_objective_is_that_of_linear_svc_on_explicit_pairs(rng, levels, alpha):
    F = rng.standard_normal((60, 5))
    y = np.floor(levels * rng.random(60) + F[:, 0])
    i, j = np.nonzero(y[:, None] > y[None, :])
    D = np.vstack([F[i] - F[j], F[j] - F[i]])
    sign = np.repeat([1, -1], len(i))
    # LinearSVC minimises w'w / 2 + C sum, with every pair in twice
    svc = LinearSVC(C=0.25 / alpha, fit_intercept=False, dual=False, tol=1e-10, max_iter=10000)
    theirs = svc.fit(D, sign).coef_[0]
    ours = RankSVM(alphas=[alpha]).coefs(F, y, np.zeros(60, int))[0]
    best, found = (objective(F, y, np.zeros(60), w, alpha) for w in (theirs, ours))
    assert found <= best * (1 + 1e-6)
    np.testing.assert_allclose(ours, theirs, atol=1e-3)


def test_queries_sparse_features_and_kernels_agree(rng):
    F = rng.standard_normal((40, 6)) * (rng.random((40, 6)) < 0.5)
    queries = np.repeat(np.arange(8), 5)
    y = F[:, 0] + rng.standard_normal(8)[queries]
    targets = Targets(y, queries, queries)
    learner = RankSVM(alphas=[0.5, 5.0], folds=4)
    primal, dual = learner.fit(features(F), targets), learner.fit(F @ F.T, targets)
    np.testing.assert_allclose(primal.predict(features(F)), dual.predict(F @ F.T), atol=1e-4)
    np.testing.assert_allclose(primal.heldout, dual.heldout, atol=1e-4)
    dense = learner.coefs(F, y, queries)
    np.testing.assert_allclose(dense, learner.coefs(sp.csr_array(F), y, queries), atol=1e-8)


def test_equal_labels_leave_nothing_to_learn():
    W = RankSVM(alphas=[1.0]).coefs(np.eye(3), np.ones(3), np.zeros(3, int))
    np.testing.assert_allclose(W, 0)


def test_wrong_settings_are_refused():
    with pytest.raises(ValueError, match="folds must be at least 2"):
        RankSVM(folds=1)


def test_one_document_cannot_be_held_out():
    targets = Targets(np.arange(3.0), np.zeros(3, int), np.zeros(3, int))
    with pytest.raises(ValueError, match="one document"):
        RankSVM().fit(np.eye(3), targets)
