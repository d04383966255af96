from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize
from sklearn.svm import LinearSVC

from tests.learners.problems import problems
from tests.learners.test_rls import features
from textrank.candidates import PreferenceGraph, Targets
from textrank.learners.ranksvm import (
    EdgePairs,
    LabelPairs,
    MarginCounts,
    RankSVM,
    _Problem,
    maximise_on_simplex,
)


def objective(F, y, queries, w, alpha, power=2):
    """The objective from its definition, over listed pairs."""
    s = F @ w
    pairs = [
        (i, j)
        for i, j in permutations(range(len(y)), 2)
        if queries[i] == queries[j] and y[i] > y[j]
    ]
    return alpha * w @ w + sum(max(0.0, 1 - s[i] + s[j]) ** power for i, j in pairs)


@given(problem=problems())
def test_the_loss_is_the_sum_over_pairs(problem):
    rng = np.random.default_rng(len(problem.y))
    queries = problem.groups % 3
    inner = _Problem(problem.F, problem.F.T, LabelPairs.from_labels(problem.y, queries))
    w = rng.standard_normal(problem.F.shape[1])
    value, gradient = inner.squared_loss(w, 0.3)
    assert value == pytest.approx(objective(problem.F, problem.y, queries, w, 0.3))
    step = 1e-6 * rng.standard_normal(len(w))
    slope = inner.squared_loss(w + step, 0.3)[0] - inner.squared_loss(w - step, 0.3)[0]
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
    svm = RankSVM(alphas=[alpha], loss="squared_hinge")
    ours = svm.coefs(F, y, np.zeros(60, int))[0]
    best, found = (objective(F, y, np.zeros(60), w, alpha) for w in (theirs, ours))
    assert found <= best * (1 + 1e-6)
    np.testing.assert_allclose(ours, theirs, atol=1e-3)


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
def test_queries_sparse_features_and_kernels_agree(rng, loss):
    F = rng.standard_normal((40, 6)) * (rng.random((40, 6)) < 0.5)
    queries = np.repeat(np.arange(8), 5)
    y = F[:, 0] + rng.standard_normal(8)[queries]
    targets = Targets(y, queries, queries)
    learner = RankSVM(alphas=[0.5, 5.0], folds=4, loss=loss, tolerance=1e-7)
    primal, dual = learner.fit(features(F), targets), learner.fit(F @ F.T, targets)
    np.testing.assert_allclose(primal.predict(features(F)), dual.predict(F @ F.T), atol=1e-3)
    np.testing.assert_allclose(primal.heldout, dual.heldout, atol=1e-3)
    dense = learner.coefs(F, y, queries)
    np.testing.assert_allclose(dense, learner.coefs(sp.csr_array(F), y, queries), atol=1e-3)


def test_equal_labels_leave_nothing_to_learn():
    W = RankSVM(alphas=[1.0]).coefs(np.eye(3), np.ones(3), np.zeros(3, int))
    np.testing.assert_allclose(W, 0)


def test_wrong_settings_are_refused():
    with pytest.raises(ValueError, match="folds must be at least 2"):
        RankSVM(folds=1)
    with pytest.raises(ValueError, match="tolerance at least 0, got 5, 1000 and -1"):
        RankSVM(tolerance=-1)
    assert RankSVM(tolerance=0).tolerance == 0  # the default


def test_one_document_cannot_be_held_out():
    targets = Targets(np.arange(3.0), np.zeros(3, int), np.zeros(3, int))
    with pytest.raises(ValueError, match="one document"):
        RankSVM().fit(np.eye(3), targets)


@given(
    n=st.integers(1, 200),
    levels=st.sampled_from([1, 2, 3, 70, 5000]),
    digits=st.sampled_from([0, 1, 8]),
    seed=st.integers(0, 1000),
)
def test_margins_are_counted_as_by_comparing_all_pairs(n, levels, digits, seed):
    rng = np.random.default_rng(seed)
    scores = rng.normal(size=n).round(digits) * 2  # few digits make ties and exact margins
    level = np.unique(rng.integers(0, levels, n), return_inverse=True)[1]
    better, worse = MarginCounts.from_levels(level).count(scores)
    in_margin = scores[None, :] < scores[:, None] + 1.0  # [i, j]: j is less than 1 above i
    higher = level[None, :] > level[:, None]
    np.testing.assert_array_equal(better, (in_margin & higher).sum(axis=1))
    np.testing.assert_array_equal(worse, (in_margin.T & higher.T).sum(axis=1))


def test_margins_of_many_levels_are_counted_in_several_passes(rng):
    level = rng.permutation(5000)
    counter = MarginCounts.from_levels(level)
    assert len(counter.passes) == 3
    scores = rng.normal(size=5000)
    better, worse = counter.count(scores)
    some = rng.choice(5000, 50, replace=False)
    for i in some:
        assert better[i] == ((level > level[i]) & (scores < scores[i] + 1)).sum()
        assert worse[i] == ((level < level[i]) & (scores[i] < scores + 1)).sum()


@given(problem=problems())
def test_hinge_loss_is_the_sum_over_pairs_and_bounded_by_its_planes(problem):
    rng = np.random.default_rng(len(problem.y))
    queries = problem.groups % 3
    pairs = LabelPairs.from_labels(problem.y, queries)
    w, other = rng.standard_normal((2, problem.F.shape[1]))
    value, slope = pairs.hinge(problem.F @ w)
    assert value == pytest.approx(objective(problem.F, problem.y, queries, w, 0.0, power=1))
    there = pairs.hinge(problem.F @ other)[0]
    plane = value + slope @ (problem.F @ (other - w))
    assert there >= plane - 1e-8 * (1 + abs(plane))


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
def test_given_preferences_have_the_loss_of_equal_label_pairs(rng, loss):
    y, queries = rng.integers(0, 4, 30).astype(float), np.repeat(np.arange(6), 5)
    listed = [
        (i, j) for i, j in permutations(range(30), 2) if queries[i] == queries[j] and y[i] > y[j]
    ]
    edges = EdgePairs(PreferenceGraph(np.array(listed), np.ones(len(listed))), 30)
    labels = LabelPairs.from_labels(y, queries)
    assert edges.number == labels.number
    scores = rng.normal(size=30)
    for ours, theirs in zip(
        getattr(edges, loss)(scores), getattr(labels, loss)(scores), strict=True
    ):
        np.testing.assert_allclose(ours, theirs, rtol=1e-10)
    F = rng.standard_normal((30, 3))
    graph = PreferenceGraph(np.array(listed), np.ones(len(listed)))
    learner = RankSVM(alphas=[2.0], loss=loss, tolerance=1e-8)
    by_labels = learner.fit(F @ F.T, Targets(y, queries, queries))
    by_graph = learner.fit(F @ F.T, Targets(np.zeros(30), queries, queries, preferences=graph))
    np.testing.assert_allclose(by_graph.heldout, by_labels.heldout, atol=1e-3)


@pytest.mark.parametrize("levels", [2, 1000])
@pytest.mark.parametrize("alpha", [0.1, 10.0, 300.0])
def test_the_bundle_method_reaches_the_hinge_objective_of_linear_svc(rng, levels, alpha):
    F = rng.standard_normal((40, 5))
    y = np.floor(levels * rng.random(40) + F[:, 0])
    i, j = np.nonzero(y[:, None] > y[None, :])
    D, sign = np.vstack([F[i] - F[j], F[j] - F[i]]), np.repeat([1, -1], len(i))
    svc = LinearSVC(C=0.25 / alpha, loss="hinge", fit_intercept=False, tol=1e-8, max_iter=200000)
    theirs = svc.fit(D, sign).coef_[0]
    ours = RankSVM(alphas=[alpha], tolerance=1e-6).coefs(F, y, np.zeros(40, int))[0]
    best, found = (objective(F, y, np.zeros(40), w, alpha, power=1) for w in (theirs, ours))
    assert found <= best * (1 + 1e-5)


@given(size=st.integers(1, 8), rank=st.integers(1, 8), seed=st.integers(0, 500))
def test_the_simplex_solver_agrees_with_a_general_one(size, rank, seed):
    rng = np.random.default_rng(seed)
    A, b = rng.normal(size=(size, rank)), rng.normal(size=size)
    start = np.zeros(size)
    start[0] = 1.0
    ours = maximise_on_simplex(A @ A.T, b, start)
    assert ours.min() >= 0
    assert ours.sum() == pytest.approx(1)
    value = lambda x: 0.5 * float(np.sum((x @ A) ** 2)) - float(b @ x)  # noqa: E731
    theirs = minimize(
        value,
        np.full(size, 1 / size),
        bounds=[(0, None)] * size,
        constraints={"type": "eq", "fun": lambda x: x.sum() - 1},
        options={"ftol": 1e-12, "maxiter": 500},
    )
    assert value(ours) <= theirs.fun + 1e-6


def test_a_basis_of_all_candidates_is_the_whole_kernel(rng):
    F = rng.standard_normal((30, 4))
    queries = np.repeat(np.arange(6), 5)
    targets = Targets(F[:, 0].round(1), queries, queries)
    K = np.exp(-((F[:, None] - F) ** 2).sum(-1) / 4)
    whole = RankSVM(alphas=[0.5], tolerance=1e-8).fit(K, targets)
    basis = RankSVM(alphas=[0.5], tolerance=1e-8, size=30).fit(K, targets)
    np.testing.assert_allclose(whole.heldout, basis.heldout, atol=1e-3)


def test_held_out_candidates_leave_the_basis(rng):
    F = rng.standard_normal((40, 4))
    queries = np.repeat(np.arange(8), 5)
    y = F[:, 0].round(1)
    K = np.exp(-((F[:, None] - F) ** 2).sum(-1) / 4)
    learner = RankSVM(alphas=[0.5], tolerance=1e-9, size=16, folds=4)
    fit = learner.fit(K, Targets(y, queries, queries))
    basis = np.flatnonzero(fit.coef)
    assert len(basis) == 16
    out = queries % 4 == 1
    rest, kept = np.flatnonzero(~out), np.setdiff1d(basis, np.flatnonzero(out))
    w, U = np.linalg.eigh(K[np.ix_(kept, kept)])
    Z = (U / np.sqrt(w)).T
    H = K[:, kept] @ Z.T
    (W,) = learner.coefs(H[rest], y[rest], queries[rest])
    np.testing.assert_allclose(fit.heldout[0, out], H[out] @ W, atol=1e-3)


def test_a_basis_is_refused_for_features(rng):
    targets = Targets(np.arange(6.0), np.arange(6) // 2, np.arange(6) // 2)
    with pytest.raises(ValueError, match="Leave it out"):
        RankSVM(size=2).fit(features(rng.standard_normal((6, 2))), targets)
    with pytest.raises(ValueError, match="loss must be one of hinge, squared_hinge"):
        RankSVM(loss="squared")
