"""Preference graphs: closed forms against formula (17) and against retraining."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from tests.learners.test_rls import features
from textrank.candidates import PreferenceGraph, Targets
from textrank.learners import rankrls
from textrank.learners.rankrls import PreferenceProblem, RankRLS, preference_path, weigh_edges
from textrank.learners.reduced import SparseRLS

COSTS = ["magnitude", "sign", "bound"]


def random_graph(rng, n, l):  # noqa: E741
    """Preferences between random pairs, some of them parallel or contradicting."""
    pairs = np.array([rng.choice(n, 2, replace=False) for _ in range(l)])
    return PreferenceGraph(pairs, rng.uniform(0.5, 2.0, l), rng.integers(0, 3, l))


def formula_17(K, graph, alpha, cost, normalised=False):
    """Coefficients ``(M M'K + alpha I)^-1 M N`` of the paper, with M and N as defined there."""
    n, l = len(K), len(graph)  # noqa: E741
    z = np.ones(l) if cost == "sign" else graph.magnitudes
    w = 1 / graph.magnitudes if cost == "bound" else np.ones(l)
    if normalised:
        w = w / np.sqrt([np.sum(graph.queries == query) for query in graph.queries])
    M = np.zeros((n, l))
    M[graph.pairs[:, 0], np.arange(l)] = w
    M[graph.pairs[:, 1], np.arange(l)] = -w
    return np.linalg.solve(M @ M.T @ K + alpha * np.eye(n), M @ (w * z))


def gaussian(X):
    return np.exp(-((X[:, None] - X) ** 2).sum(-1) / X.shape[1])


@given(
    cost=st.sampled_from(COSTS),
    normalised=st.booleans(),
    n=st.integers(3, 12),
    l=st.integers(1, 60),
    wide=st.booleans(),
    seed=st.integers(0, 1000),
)
def test_training_and_hold_out_equal_the_formula(cost, normalised, n, l, wide, seed):  # noqa: E741
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, 30 if wide else 3))
    graph = random_graph(rng, n, l)
    alphas, groups = np.array([0.1, 1.0, 10.0]), np.arange(n) // 2
    edges = weigh_edges(graph, n, cost, normalised=normalised)
    for K, dual in ((gaussian(X), True), (X @ X.T, True), (X @ X.T, False)):
        data = K if dual else sp.csr_array(X)
        A, heldout = preference_path(data, edges, alphas, groups, dual=dual)
        for a, alpha in enumerate(alphas):
            scores = K @ formula_17(K, graph, alpha, cost, normalised)
            ours = K @ A[a] if dual else X @ A[a]
            np.testing.assert_allclose(ours, scores, atol=1e-8)
            for group in np.unique(groups):
                out, rest = np.flatnonzero(groups == group), np.flatnonzero(groups != group)
                left = graph.take(rest)
                if normalised:  # retraining divides by the preferences that are left
                    continue
                inner = formula_17(K[np.ix_(rest, rest)], left, alpha, cost)
                expected = K[np.ix_(out, rest)] @ inner
                np.testing.assert_allclose(heldout[a, out], expected, atol=1e-8)


@pytest.mark.parametrize("preferences_per_candidate", [2, 60])
def test_blocks_of_a_triangle_equal_the_formula(rng, preferences_per_candidate):
    n = 3 * rankrls.TRIANGLE_BLOCK // 2  # two blocks, the second one not full
    graph = random_graph(rng, n, preferences_per_candidate * n)
    edges = weigh_edges(graph, n, "magnitude")
    is_sparse = edges.laplacian.nnz <= rankrls.MAX_SPARSE_SHARE * n * n
    assert is_sparse == (preferences_per_candidate == 2)
    K = gaussian(rng.standard_normal((n, 20)))
    for alpha in (0.01, 1.0, 100.0):
        A, _ = preference_path(K, edges, np.array([alpha]), None, dual=True)
        expected = formula_17(K, graph, alpha, "magnitude")
        np.testing.assert_allclose(A[0], expected, atol=1e-8 * np.abs(expected).max())


@pytest.mark.parametrize("smallest", [1e-4, 1e-10, 1e-14, 0.0])
def test_coefficients_solve_the_equations_of_ill_conditioned_kernels(rng, smallest):
    n, alphas = 150, np.array([1e-3, 1.0, 1e3])
    Q = np.linalg.qr(rng.standard_normal((n, n)))[0]
    K = (Q * np.geomspace(max(smallest, 1e-300), 1.0, n)) @ Q.T
    K = (K + K.T) / 2
    edges = weigh_edges(random_graph(rng, n, 5 * n), n, "magnitude")
    A, _ = preference_path(K, edges, alphas, None, dual=True)
    residual = edges.laplacian @ (K @ A.T) + alphas * A.T - edges.pull[:, None]
    assert np.abs(residual).max() <= 1e-9 * np.abs(edges.pull).max()


@pytest.mark.parametrize("cost", COSTS)
def test_the_learner_equals_retraining_without_a_group(rng, cost):
    X = rng.standard_normal((20, 4))
    graph, groups = random_graph(rng, 20, 60), np.arange(20) // 2
    learner = RankRLS(alphas=[0.5, 5.0], cost=cost)
    targets = Targets(np.zeros(20), groups, groups, preferences=graph)
    for data, take in (
        (gaussian(X), lambda K, r, c: K[np.ix_(r, c)]),
        (features(X), lambda F, r, c: F.rows(r)),
    ):
        fit = learner.fit(data, targets)
        for group in range(10):
            out, rest = np.flatnonzero(groups == group), np.flatnonzero(groups != group)
            path = learner.path(take(data, rest, rest), targets.take(rest))
            expected = path.predict(take(data, out, rest))
            np.testing.assert_allclose(fit.heldout[:, out], expected, atol=1e-8)
        (nested,) = learner.nested(data, targets, [groups % 2])
        assert np.isfinite(nested.outer).all()


@pytest.mark.parametrize("kernel", [True, False])
def test_both_sides_of_a_preference_are_held_out(rng, kernel):
    X = rng.standard_normal((14, 3))
    graph, groups = random_graph(rng, 14, 30), np.arange(14) // 2
    targets = Targets(np.zeros(14), groups, groups, preferences=graph)
    learner = RankRLS(alphas=[0.7])
    gaps = learner.leave_both_out(gaussian(X) if kernel else features(X), targets, 0.7)
    K = gaussian(X) if kernel else X @ X.T
    for (better, worse), gap in zip(graph.pairs, gaps, strict=True):
        rest = np.flatnonzero((groups != groups[better]) & (groups != groups[worse]))
        a = formula_17(K[np.ix_(rest, rest)], graph.take(rest), 0.7, "magnitude")
        assert gap == pytest.approx((K[better, rest] - K[worse, rest]) @ a, abs=1e-8)


def test_dense_graphs_are_held_out_in_folds(rng, monkeypatch):
    X, graph = rng.standard_normal((24, 3)), random_graph(rng, 24, 300)
    K, edges, alphas = gaussian(X), weigh_edges(graph, 24, "magnitude"), np.array([1.0])
    monkeypatch.setattr(rankrls, "MAX_HOLDOUT_OPERATIONS", 0.0)
    _, heldout = preference_path(K, edges, alphas, np.arange(24), dual=True)
    out = np.arange(24) % rankrls.HOLDOUT_FOLDS == 3
    rest = np.flatnonzero(~out)
    a = formula_17(K[np.ix_(rest, rest)], graph.take(rest), 1.0, "magnitude")
    np.testing.assert_allclose(heldout[0, out], K[np.ix_(out, rest)] @ a, atol=1e-8)


def test_noise_is_not_ordered_rightly():
    """Scores that have nothing to do with the features: half of the preferences are met."""
    shares = []
    for seed in range(6):
        rng = np.random.default_rng(seed)
        X, scores = rng.standard_normal((120, 8)), rng.standard_normal(120)
        pairs = np.array([rng.choice(120, 2, replace=False) for _ in range(1500)])
        better = scores[pairs[:, 0]] > scores[pairs[:, 1]]
        graph = PreferenceGraph(np.where(better[:, None], pairs, pairs[:, ::-1]), np.ones(1500))
        targets = Targets(np.zeros(120), np.arange(120), np.arange(120), preferences=graph)
        learner = RankRLS(alphas=[0.1, 1.0, 10.0])
        fit = learner.fit(gaussian(X), targets)
        by_item = fit.heldout[fit.alpha_index]
        sample = PreferenceGraph(graph.pairs[:100], graph.magnitudes[:100])
        problem = PreferenceProblem.from_data(
            gaussian(X), learner.weigh(targets), fit.alpha, dual=True
        )
        gaps = rankrls.heldout_differences(problem, sample, fit.alpha, targets.groups)
        shares.append(
            [(by_item[graph.pairs[:, 0]] > by_item[graph.pairs[:, 1]]).mean(), (gaps > 0).mean()]
        )
    assert np.abs(np.mean(shares, axis=0) - 0.5).max() < 0.05


@pytest.mark.parametrize("cost", COSTS)
@pytest.mark.parametrize("normalised", [False, True])
@pytest.mark.parametrize("ties", [False, True])
@pytest.mark.parametrize("rank", ["query", "global"])
def test_conjugate_gradients_reach_every_cost(rng, cost, normalised, ties, rank):
    X = sp.csr_array(rng.standard_normal((30, 6)))
    y, queries = rng.integers(0, 4, 30).astype(float), rng.integers(0, 5, 30)
    settings = {"cost": cost, "normalised": normalised, "ties": ties}
    dense = RankRLS([0.5, 5.0], scope=rank, **settings)
    sparse = SparseRLS([0.5, 5.0], rank=rank, tolerance=1e-12, **settings)
    expected = dense.coefs(features(X.toarray()), Targets(y, queries, queries))
    np.testing.assert_allclose(sparse.coefs(X, y, queries), expected, atol=1e-8)


@pytest.mark.parametrize("cost", COSTS)
def test_conjugate_gradients_on_a_preference_graph(rng, cost):
    X, graph = rng.standard_normal((30, 6)), random_graph(rng, 30, 80)
    targets = Targets(np.zeros(30), np.arange(30), np.arange(30), preferences=graph)
    expected = RankRLS([0.5, 5.0], cost=cost).coefs(features(X), targets)
    sparse = SparseRLS([0.5, 5.0], rank="query", cost=cost, tolerance=1e-12, select="disagreement")
    np.testing.assert_allclose(sparse.weights(sp.csr_array(X), targets), expected, atol=1e-8)
    assert sparse.fit(features(X), targets).heldout.shape == (2, 30)


def test_several_outputs_are_those_learnt_one_by_one(rng):
    X, Y = rng.standard_normal((24, 4)), rng.standard_normal((24, 3)).round(1)
    queries = np.repeat(np.arange(6), 4)
    for cost in COSTS:
        for scope in ("query", "global"):
            learner = RankRLS([0.5, 2.0], cost=cost, scope=scope)
            A, heldout = learner.solve(features(X), Y, Targets(Y[:, 0], queries, queries))
            for k in range(3):
                one = learner.path(features(X), Targets(Y[:, k], queries, queries))
                np.testing.assert_allclose(A[:, :, k], one.coefs, atol=1e-10)
                np.testing.assert_allclose(heldout[:, :, k], one.heldout, atol=1e-10)


@pytest.mark.parametrize("cost", COSTS)
def test_groups_of_any_size_are_held_out_of_a_global_ranking(rng, cost):
    X, y = rng.standard_normal((15, 3)), rng.standard_normal(15).round(1)
    groups = np.array([0] * 7 + [1] * 5 + [2] * 3)
    learner = RankRLS([0.5], cost=cost, scope="global")
    heldout = learner.path(features(X), Targets(y, groups, groups)).heldout[0]
    for group in range(3):
        rest = groups != group
        (w,) = learner.coefs(features(X[rest]), Targets(y[rest], groups[rest], groups[rest]))
        np.testing.assert_allclose(heldout[~rest], X[~rest] @ w, atol=1e-8)


def test_preferences_are_checked(rng):
    with pytest.raises(ValueError, match="compares row 1 with itself"):
        PreferenceGraph(np.array([[0, 1], [1, 1]]), np.ones(2))
    with pytest.raises(ValueError, match="positive and finite"):
        PreferenceGraph(np.array([[0, 1]]), np.array([-1.0]))
    graph = PreferenceGraph(np.array([[0, 9]]), np.ones(1))
    with pytest.raises(ValueError, match="name row 9 of 3"):
        Targets(np.zeros(3), np.arange(3), np.arange(3), preferences=graph)
    none = PreferenceGraph(np.empty((0, 2), int), np.empty(0))
    targets = Targets(np.zeros(3), np.arange(3), np.arange(3), preferences=none)
    with pytest.raises(ValueError, match="nothing can be learnt"):
        RankRLS().fit(np.eye(3), targets)
    some = PreferenceGraph(np.array([[0, 1]]), np.ones(1))
    targets = Targets(np.zeros(3), np.arange(3), np.arange(3), preferences=some)
    with pytest.raises(ValueError, match="scope and ties"):
        RankRLS(scope="global").fit(np.eye(3), targets)
    with pytest.raises(ValueError, match="settings of a ranker"):
        SparseRLS(cost="sign")


def test_a_matrix_that_is_no_kernel_is_refused(rng):
    K = np.diag([1.0, 1.0, 1.0])
    K[0, 1] = K[1, 0] = 0.9
    K[0, 2] = K[2, 0] = -0.9
    K[1, 2] = K[2, 1] = 0.9
    graph = PreferenceGraph(np.array([[0, 1]]), np.ones(1))
    with pytest.raises(ValueError, match="not positive semi-definite"):
        PreferenceProblem.from_data(K, weigh_edges(graph, 3, "sign"), 1.0, dual=True)
