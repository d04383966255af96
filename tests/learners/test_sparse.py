from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from tests.learners.problems import least_squares, problems
from tests.learners.test_rankrls import trained
from tests.learners.test_rls import features
from textrank import linalg
from textrank.candidates import Targets
from textrank.learners.holdout import nested_by_retraining
from textrank.learners.reduced import SparseRLS

ALPHAS = tuple(2.0 ** np.arange(-10, 12, 4))


@given(problem=problems(), rank=st.sampled_from(["none", "query", "global"]))
def test_every_alpha_of_one_krylov_space_is_solved(problem, rank):
    learner = SparseRLS(alphas=ALPHAS, rank=rank, tolerance=1e-12)
    W = learner.coefs(sp.csr_array(problem.F), problem.y, problem.groups)
    queries = problem.groups if rank == "query" else problem.groups * 0
    for w, alpha in zip(W, ALPHAS, strict=True):
        if rank == "none":
            slow = least_squares(problem.F, problem.y, alpha)
        else:
            slow = trained(problem.F, problem.y, queries, alpha)
        np.testing.assert_allclose(w, slow, atol=1e-8)


def test_a_basis_that_does_not_fit_is_made_twice(rng, monkeypatch):
    X = sp.random_array((80, 40), density=0.2, rng=rng, format="csr")
    y, queries = rng.standard_normal(80), np.repeat(np.arange(16), 5)
    learner = SparseRLS(alphas=ALPHAS, rank="query", tolerance=1e-10)
    stored = learner.coefs(X, y, queries)
    monkeypatch.setattr(linalg, "MAX_BASIS_VALUES", 100)
    np.testing.assert_allclose(learner.coefs(X, y, queries), stored, atol=1e-12)


def test_documents_are_held_out_whole(rng):
    F = rng.standard_normal((30, 6))
    documents = np.repeat(np.arange(6), 5)
    y = np.sign(F[:, 0] + 0.1)
    fit = SparseRLS(alphas=[0.5], folds=3, tolerance=1e-12).fit(
        features(F), Targets(y, documents, documents)
    )
    for fold in range(3):
        out = documents % 3 == fold
        w = least_squares(F[~out], y[~out], 0.5)
        np.testing.assert_allclose(fit.heldout[0, out], F[out] @ w, atol=1e-9)


def test_nested_scores_come_from_retraining(rng):
    F = rng.standard_normal((24, 4))
    documents = np.repeat(np.arange(8), 3)
    targets = Targets(np.sign(F[:, 0]), documents, documents)
    learner = SparseRLS(alphas=[1.0], folds=2)
    (one,) = learner.nested(features(F), targets, [documents % 3])
    (other,) = nested_by_retraining(learner, features(F), targets, [documents % 3])
    np.testing.assert_array_equal(one.outer, other.outer)


def test_zero_answers_give_zero_weights():
    W = SparseRLS().coefs(sp.csr_array(np.eye(3)), np.zeros(3), np.arange(3))
    assert not W.any()


def test_too_few_iterations_are_told(rng):
    X = sp.csr_array(rng.standard_normal((50, 30)))
    learner = SparseRLS(alphas=[1e-6], tolerance=1e-12, iterations=3)
    with pytest.raises(ValueError, match="not converged after 3 iterations"):
        learner.coefs(X, rng.standard_normal(50), np.arange(50))


@pytest.mark.parametrize(
    ("settings", "message"),
    [({"rank": "all"}, "rank must be"), ({"folds": 1}, "folds"), ({"tolerance": 2.0}, "tolerance")],
)
def test_wrong_settings_are_refused(settings, message):
    with pytest.raises(ValueError, match=message):
        SparseRLS(**settings)


def test_a_gram_matrix_is_refused():
    with pytest.raises(ValueError, match="work on features"):
        SparseRLS().fit(np.eye(2), Targets(np.array([1.0, -1]), np.arange(2), np.arange(2)))
