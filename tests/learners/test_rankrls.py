from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.learners.problems import EXPONENTS, least_squares, problems
from tests.learners.test_rls import GRID, features
from textrank.candidates import Targets
from textrank.learners.base import concordance
from textrank.learners.holdout import nested_by_retraining
from textrank.learners.rankrls import (
    PreferenceLaplacian,
    QueryCentring,
    RankRLS,
)

SETTINGS = st.fixed_dictionaries(
    {
        "cost": st.sampled_from(["magnitude", "sign", "bound"]),
        "ties": st.booleans(),
        "normalised": st.booleans(),
    }
)


def edges(y, queries, cost="magnitude", ties=True, normalised=False):
    """Preferences from their definition: (better, worse, z, w squared)."""
    found = []
    for query in np.unique(queries):
        pairs = []
        for i, j in combinations(np.flatnonzero(queries == query), 2):
            h, j = (i, j) if y[i] >= y[j] else (j, i)
            gap = y[h] - y[j]
            if gap == 0 and not (ties and cost == "magnitude"):
                continue
            z = 1.0 if cost == "sign" else gap
            pairs.append((h, j, z, 1 / gap**2 if cost == "bound" else 1.0))
        share = len(pairs) if normalised else 1
        found += [(h, j, z, w / share) for h, j, z, w in pairs]
    return found


def trained(F, y, queries, alpha, **settings):
    """Weights from the definition: least squares on the differences of preferred pairs."""
    found = edges(y, queries, **settings)
    if not found:
        return np.zeros(F.shape[1])
    h, j, z, w = (np.array(part) for part in zip(*found, strict=True))
    return least_squares(F[h] - F[j], z, alpha, w)


def retrained(F, y, queries, groups, alpha, **settings):
    scores = np.empty(len(y))
    for group in np.unique(groups):
        out, rest = groups == group, groups != group
        scores[out] = F[out] @ trained(F[rest], y[rest], queries[rest], alpha, **settings)
    return scores


@given(problem=problems(largest=18), exponent=EXPONENTS, settings=SETTINGS, dual=st.booleans())
def test_leave_query_out_equals_retraining(problem, exponent, settings, dual):
    alpha, y = 2.0**exponent, np.round(problem.y, 1)
    targets = Targets(y, problem.groups, problem.groups)
    data = problem.K if dual else features(problem.F)
    path = RankRLS(alphas=[alpha], **settings).path(data, targets)
    slow = retrained(problem.F, y, problem.groups, problem.groups, alpha, **settings)
    np.testing.assert_allclose(path.heldout[0], slow, atol=1e-8)
    full = problem.F @ trained(problem.F, y, problem.groups, alpha, **settings)
    np.testing.assert_allclose(path.predict(data)[0], full, atol=1e-8)


@pytest.mark.parametrize("dual", [False, True])
def test_queries_of_one_candidate_each_prefer_nothing(dual):
    F, queries = np.array([[0.5], [-1.0], [2.0], [0.1]]), np.arange(4)
    data = F @ F.T if dual else features(F)
    targets = Targets(np.array([-1.0, 0.0, 1.0, 2.0]), queries, queries)
    path = RankRLS(alphas=[1.0, 4.0]).path(data, targets)
    np.testing.assert_array_equal(path.heldout, np.zeros((2, 4)))


@given(problem=problems(largest=18), ends=st.sampled_from([GRID[:1], GRID[-1:], GRID]))
def test_leave_query_out_is_exact_at_the_ends_of_the_grid(problem, ends):
    path = RankRLS(alphas=ends).path(problem.K, problem.targets)
    for scores, alpha in zip(path.heldout, ends, strict=True):
        slow = retrained(problem.F, problem.y, problem.groups, problem.groups, alpha)
        np.testing.assert_allclose(scores, slow, atol=1e-9)


@given(problem=problems(), exponent=EXPONENTS, settings=SETTINGS)
def test_documents_of_several_queries_are_held_out_together(problem, exponent, settings):
    alpha, documents = 2.0**exponent, problem.groups % 2
    y = np.round(problem.y, 1)
    targets = Targets(y, documents, problem.groups)
    path = RankRLS(alphas=[alpha], **settings).path(problem.K, targets)
    slow = retrained(problem.F, y, problem.groups, documents, alpha, **settings)
    np.testing.assert_allclose(path.heldout[0], slow, atol=1e-8)


@given(problem=problems(largest=16), exponent=EXPONENTS, settings=SETTINGS, dual=st.booleans())
def test_a_global_ranking_held_out_by_document_equals_retraining(problem, exponent, settings, dual):
    alpha, y = 2.0**exponent, np.round(problem.y, 1)
    targets = Targets(y, problem.groups, np.arange(len(y)))
    data = problem.K if dual else features(problem.F)
    path = RankRLS(alphas=[alpha], scope="global", **settings).path(data, targets)
    one = np.zeros(len(y))
    slow = retrained(problem.F, y, one, problem.groups, alpha, **settings)
    np.testing.assert_allclose(path.heldout[0], slow, atol=1e-8)
    full = problem.F @ trained(problem.F, y, one, alpha, **settings)
    np.testing.assert_allclose(path.predict(data)[0], full, atol=1e-8)


@given(problem=problems(smallest=8), exponent=EXPONENTS, settings=SETTINGS)
def test_nested_scores_equal_retraining(problem, exponent, settings):
    learner = RankRLS(alphas=[2.0**exponent, 2.0**exponent * 5], **settings)
    y = np.round(problem.y, 1)
    targets = Targets(y, problem.groups, problem.groups)
    partitions = [problem.groups % 2, (problem.groups + 1) % 3]
    fast = learner.nested(problem.K, targets, partitions)
    slow = nested_by_retraining(learner, problem.K, targets, partitions)
    for one, other in zip(fast, slow, strict=True):
        np.testing.assert_allclose(one.outer, other.outer, atol=1e-8)
        np.testing.assert_allclose(one.inner, other.inner, atol=1e-8)


def test_nested_scores_refuse_sample_weights():
    groups = np.arange(4)
    targets = Targets(np.array([1.0, 0.0, 2.0, 1.0]), groups, groups, weights=np.ones(4))
    with pytest.raises(ValueError, match="sample weights"):
        RankRLS(alphas=[1.0]).nested(np.eye(4), targets, [groups % 2])


def test_the_best_alpha_by_disagreement_is_chosen(rng):
    F = rng.standard_normal((60, 8))
    queries = np.repeat(np.arange(12), 5)
    y = F[:, 0] + 3 * rng.standard_normal(12)[queries] + 0.3 * rng.standard_normal(60)
    targets = Targets(y, queries, queries)
    fit = RankRLS(alphas=GRID).fit(F @ F.T, targets)
    shares = [
        np.mean([concordance(row[None, queries == q], y[queries == q]) for q in range(12)])
        for row in fit.heldout
    ]
    assert shares[fit.alpha_index] == max(shares)
    assert max(shares) > 0.8


@pytest.mark.parametrize("n", [12, 220])
def test_agreement_counts_pairs(rng, n):
    for _ in range(5):
        y, f = rng.integers(0, 3, n).astype(float), rng.integers(0, 4, n).astype(float)
        pairs = [(i, j) for i in range(n) for j in range(n) if y[i] > y[j]]
        right = np.mean([(f[i] > f[j]) + 0.5 * (f[i] == f[j]) for i, j in pairs])
        assert concordance(f[None], y) == pytest.approx(right)
    assert np.isnan(concordance(f[None], np.ones(n)))
    assert concordance(np.ones((1, n)), f) == 0.5


def test_centring_is_the_laplacian_of_all_pairs(rng):
    query = np.array([0, 1, 0, 1, 1, 2])
    y = rng.standard_normal(6)
    for normalised in (False, True):
        quick = QueryCentring(query, normalised)
        slow = PreferenceLaplacian.from_labels(
            y[:, None], query, "magnitude", normalised=normalised
        )
        np.testing.assert_allclose(quick.root(np.eye(6)), slow.root(np.eye(6)), atol=1e-12)
        np.testing.assert_allclose(quick.target(y[:, None]), slow.target(y[:, None]), atol=1e-12)
        for ours, theirs in zip(
            quick.pseudo_inverse(np.arange(6)), slow.pseudo_inverse(np.arange(6)), strict=True
        ):
            np.testing.assert_allclose(ours @ ours.T, theirs @ theirs.T, atol=1e-12)


@pytest.mark.parametrize("query", [[0, 1, 0, 1, 1, 2], [0] * 6, [0, 1, 2, 3, 4, 5]], ids=str)
def test_what_is_kept_is_the_root_without_its_null_space(rng, query):
    y = rng.integers(0, 3, (6, 1)).astype(float)
    of = np.array(query)
    slow = PreferenceLaplacian.from_labels(y, of, "bound", normalised=False)
    for preferences in (QueryCentring(of), QueryCentring(of, True), slow):
        root = preferences.root(np.eye(6))
        kept = preferences.reduce(np.eye(6))
        B = preferences.expand(np.eye(len(kept))).T
        np.testing.assert_allclose(B @ B.T, np.eye(len(kept)), atol=1e-12)
        np.testing.assert_allclose(B.T @ kept, root, atol=1e-12)
        assert len(kept) == np.linalg.matrix_rank(root)


def test_a_query_in_two_documents_is_refused():
    targets = Targets(np.arange(3.0), np.array([0, 0, 1]), np.array([0, 1, 1]))
    with pytest.raises(ValueError, match="query of candidate 2 reaches into document 1"):
        RankRLS().fit(np.eye(3), targets)


def test_queries_without_preferences_are_refused_for_the_choice_of_alpha():
    targets = Targets(np.arange(3.0), np.arange(3), np.arange(3))
    with pytest.raises(ValueError, match="none of 3 queries"):
        RankRLS().fit(np.eye(3), targets)


@pytest.mark.parametrize("settings", [{"cost": "hinge"}, {"scope": "all"}])
def test_wrong_settings_are_refused(settings):
    with pytest.raises(ValueError, match=next(iter(settings))):
        RankRLS(**settings)


@pytest.mark.parametrize("dual", [True, False])
@pytest.mark.parametrize("seed", range(8))
def test_queries_of_equal_candidates_leave_nothing_but_round_off(seed, dual):
    """Found by new examples: such a kernel was said not to be positive semi-definite."""
    rng = np.random.default_rng(seed)
    F = rng.normal(size=(9, 36))
    F /= np.linalg.norm(F, axis=1)[:, None]
    groups = np.append(np.arange(9), rng.integers(0, 9, 3))
    F, y = F[groups], rng.integers(-2, 3, 12).astype(float)
    path = RankRLS(alphas=[1.0]).path(F @ F.T if dual else features(F), Targets(y, groups, groups))
    np.testing.assert_allclose(path.heldout[0], 0.0, atol=1e-8)
