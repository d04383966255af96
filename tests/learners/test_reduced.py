from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.learners.problems import EXPONENTS, least_squares, problems
from tests.learners.test_rankrls import edges
from tests.learners.test_rls import features
from textrank.candidates import Targets
from textrank.learners.holdout import nested_by_retraining
from textrank.learners.reduced import ReducedRLS


def kept_coordinates(F, basis):
    """Features of the functions that the basis spans: projections on an orthonormal frame."""
    _, s, V = np.linalg.svd(F[basis], full_matrices=False)
    V = V[s > 1e-10 * max(s[0], 1e-300)]
    return F @ V.T


def retrained(F, y, documents, basis, alpha, rank):
    scores = np.empty(len(y))
    for document in np.unique(documents):
        out, rest = documents == document, documents != document
        kept = [i for i in basis if rest[i]]
        if not kept:
            scores[out] = 0.0
            continue
        H = kept_coordinates(F, kept)
        if rank:
            found = edges(y[rest], documents[rest])
            h, j, z, w = (
                (np.array(part) for part in zip(*found, strict=True)) if found else [[]] * 4
            )
            A = H[rest]
            c = least_squares(A[h] - A[j], z, alpha, w) if found else np.zeros(H.shape[1])
        else:
            c = least_squares(H[rest], y[rest], alpha)
        scores[out] = H[out] @ c
    return scores


@given(
    problem=problems(),
    exponent=EXPONENTS,
    size=st.integers(1, 12),
    rank=st.booleans(),
    dual=st.booleans(),
)
def test_documents_leave_with_their_basis_vectors(problem, exponent, size, rank, dual):
    alpha = 2.0**exponent
    learner = ReducedRLS(size=size, alphas=[alpha], rank=rank, sampling="uniform", seed=size)
    basis = learner.sample_basis(problem.targets)
    path = learner.path(problem.K if dual else features(problem.F), problem.targets)
    slow = retrained(problem.F, problem.y, problem.groups, basis, alpha, rank)
    np.testing.assert_allclose(path.heldout[0], slow, atol=1e-8 * max(1, np.abs(slow).max()))


@given(problem=problems(), exponent=EXPONENTS, size=st.integers(1, 12))
def test_the_model_solves_the_reduced_system(problem, exponent, size):
    alpha = 2.0**exponent
    learner = ReducedRLS(size=size, alphas=[alpha])
    basis = learner.sample_basis(problem.targets)
    path = learner.path(problem.K, problem.targets)
    H = kept_coordinates(problem.F, basis)
    slow = H @ least_squares(H, problem.y, alpha)
    np.testing.assert_allclose(path.predict(problem.K)[0], slow, atol=1e-8)
    off = np.setdiff1d(np.arange(len(problem.y)), basis)
    assert not path.coefs[0, off].any()


def test_a_basis_of_all_candidates_is_plain_rls(rng):
    F = rng.standard_normal((20, 6))
    documents = np.repeat(np.arange(5), 4)
    y = rng.standard_normal(20)
    path = ReducedRLS(size=20, alphas=[0.5]).path(F @ F.T, Targets(y, documents, documents))
    slow = F @ least_squares(F, y, 0.5)
    np.testing.assert_allclose(path.predict(F @ F.T)[0], slow, atol=1e-8)


def test_stratified_bases_take_from_every_document(rng):
    documents = np.repeat(np.arange(10), [1, 2, 3, 4, 5, 30, 5, 5, 5, 5])
    basis = ReducedRLS(size=20, sampling="stratified").sample_basis(
        Targets(np.ones(len(documents)), documents, documents)
    )
    assert len(np.unique(basis)) == 20
    counts = np.bincount(documents[basis], minlength=10)
    assert counts[0] == 1
    assert set(counts[1:]) == {2, 3} or set(counts[1:]) == {2}


def test_leverage_finds_the_candidates_without_substitute(rng):
    same = np.ones((97, 1)) @ rng.standard_normal((1, 3)) + 0.01 * rng.standard_normal((97, 3))
    lonely = 3 * np.eye(3)
    F = np.vstack([same, lonely])
    found = [
        np.isin(
            [97, 98, 99],
            ReducedRLS(size=8, sampling="leverage", alphas=[0.1], seed=s).sample_basis(
                Targets(np.ones(100), np.arange(100), np.arange(100)), F @ F.T
            ),
        ).mean()
        for s in range(20)
    ]
    assert np.mean(found) > 0.5  # a uniform sample finds 0.08 of them


def test_nested_scores_come_from_retraining(rng):
    F = rng.standard_normal((24, 4))
    documents = np.repeat(np.arange(8), 3)
    targets = Targets(np.sign(F[:, 0]), documents, documents)
    learner = ReducedRLS(size=6, alphas=[1.0])
    (one,) = learner.nested(F @ F.T, targets, [documents % 3])
    (other,) = nested_by_retraining(learner, F @ F.T, targets, [documents % 3])
    np.testing.assert_array_equal(one.inner, other.inner)


@pytest.mark.parametrize(
    ("settings", "message"), [({"size": 0}, "size"), ({"sampling": "best"}, "uniform, stratified")]
)
def test_wrong_settings_are_refused(settings, message):
    with pytest.raises(ValueError, match=message):
        ReducedRLS(**settings)


def test_leverage_needs_a_gram_matrix():
    targets = Targets(np.array([1.0, -1, 1]), np.arange(3), np.arange(3))
    with pytest.raises(ValueError, match="leverage sampling needs a Gram matrix"):
        ReducedRLS(size=2, sampling="leverage").fit(features(np.eye(3)), targets)


def weighted_targets(problem, rng):
    weights = rng.uniform(0.1, 5.0, len(problem.y))
    return Targets(problem.y, problem.groups, problem.groups, weights=weights)


@given(problem=problems(), exponent=EXPONENTS, size=st.integers(1, 12), dual=st.booleans())
def test_weighted_holdout_equals_retraining(problem, exponent, size, dual):
    """Documents leave with their basis vectors, and the others keep their weights."""
    alpha = 2.0**exponent
    targets = weighted_targets(problem, np.random.default_rng(size))
    learner = ReducedRLS(size=size, alphas=[alpha], sampling="uniform", seed=size)
    basis = learner.sample_basis(targets)
    path = learner.path(problem.K if dual else features(problem.F), targets)
    scores = np.zeros(len(problem.y))
    for document in np.unique(problem.groups):
        out, rest = problem.groups == document, problem.groups != document
        if not rest[basis].any():
            continue
        H = kept_coordinates(problem.F, basis[rest[basis]])
        scores[out] = H[out] @ least_squares(H[rest], problem.y[rest], alpha, targets.weights[rest])
    limit = 1e-8 * max(1, np.abs(scores).max())
    np.testing.assert_allclose(path.heldout[0], scores, atol=limit)


def test_weighted_model_solves_the_naive_equations(rng):
    """``b = (K_RM V K_MR + alpha K_RR)^-1 K_RM V y`` on a given basis."""
    F = rng.standard_normal((60, 30))
    K, y, documents = F @ F.T, np.sign(rng.standard_normal(60)), np.repeat(np.arange(15), 4)
    weights, basis = rng.uniform(0.2, 3.0, 60), np.sort(rng.choice(60, 20, replace=False))
    targets = Targets(y, documents, documents, weights=weights)
    fit = ReducedRLS(alphas=[0.7]).fit(K, targets, basis)
    columns = K[:, basis]
    left = columns.T @ (weights[:, None] * columns) + 0.7 * columns[basis]
    naive = np.linalg.solve(left, columns.T @ (weights * y))
    np.testing.assert_allclose(fit.coef[basis], naive, atol=1e-8)
    alone = ReducedRLS(alphas=[0.7]).path_on_basis(columns, basis, targets)[0]
    np.testing.assert_allclose(alone[0], naive, atol=1e-8)


def test_equal_weights_change_nothing(rng):
    F = rng.standard_normal((30, 5))
    documents = np.repeat(np.arange(10), 3)
    plain = Targets(np.sign(F[:, 0]), documents, documents)
    weighted = Targets(plain.y, documents, documents, weights=np.ones(30))
    learner = ReducedRLS(size=8, alphas=[0.5])
    one, other = learner.path(F @ F.T, plain), learner.path(F @ F.T, weighted)
    np.testing.assert_allclose(one.heldout, other.heldout, atol=1e-10)
    np.testing.assert_allclose(one.coefs, other.coefs, atol=1e-10)


def test_balanced_bases_are_half_positive():
    y = np.repeat([1.0, -1.0], [10, 90])
    documents = np.arange(100)
    targets = Targets(y, documents, documents)
    for size, positives in ((12, 6), (40, 10)):
        basis = ReducedRLS(size=size, sampling="balanced").sample_basis(targets)
        assert len(np.unique(basis)) == size
        assert (y[basis] > 0).sum() == positives


def test_rankers_refuse_weights():
    targets = Targets(np.arange(4.0), np.arange(4), np.arange(4), weights=np.ones(4))
    with pytest.raises(ValueError, match="sample weights"):
        ReducedRLS(size=2, rank=True).fit(np.eye(4), targets)
