from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from sklearn.kernel_ridge import KernelRidge
from sklearn.model_selection import LeaveOneGroupOut, cross_val_predict

from tests.learners.problems import EXPONENTS, problems, retrained
from textrank.candidates import Targets
from textrank.features import FeatureNames, Features
from textrank.learners.base import rows_by_group
from textrank.learners.holdout import nested_by_inverse, nested_by_retraining
from textrank.learners.rls import RLS, rls_path
from textrank.linalg import Spectrum, gram, inverse
from textrank.protocols import Learner

GRID = tuple(2.0 ** np.arange(-15, 15))


def features(F):
    return Features(
        sp.csr_array(F), FeatureNames.from_iterable([f"f{i}" for i in range(F.shape[1])])
    )


def folds_of(documents, count=3):
    return np.asarray(documents) % count


@given(problem=problems(), exponent=EXPONENTS, weighted=st.booleans())
def test_heldout_scores_equal_retraining_at_one_alpha(problem, exponent, weighted):
    alpha = 2.0**exponent
    weights = 0.5 + np.abs(problem.y) if weighted else None
    groups = rows_by_group(problem.groups, len(problem.y))
    fast = rls_path(
        problem.K, problem.y[:, None], np.array([alpha]), groups, weights=weights, dual=True
    )[1]
    slow = retrained(problem.F, problem.y, problem.groups, alpha, weights)
    np.testing.assert_allclose(fast[0, :, 0], slow, atol=1e-8)


@given(problem=problems(), weighted=st.booleans(), dual=st.booleans())
def test_heldout_scores_equal_retraining_on_the_whole_grid(problem, weighted, dual):
    weights = 0.5 + np.abs(problem.y) if weighted else None
    groups = rows_by_group(problem.groups, len(problem.y))
    data = problem.K if dual else problem.F
    Y = np.stack([problem.y, problem.y[::-1]], axis=1)
    grid = GRID[::3] + GRID[-1:]
    fast = rls_path(data, Y, np.array(grid), groups, weights=weights, dual=dual)[1]
    for a, alpha in enumerate(grid):
        for column in range(2):
            slow = retrained(problem.F, Y[:, column], problem.groups, alpha, weights)
            np.testing.assert_allclose(fast[a, :, column], slow, atol=1e-8)


def test_heldout_scores_equal_those_of_scikit_learn(rng):
    F = rng.standard_normal((40, 15))
    documents = rng.integers(0, 9, 40)
    y = np.sign(rng.standard_normal(40))
    fast = RLS(alphas=[0.5]).fit(F @ F.T, Targets(y, documents, documents)).heldout[0]
    slow = cross_val_predict(
        KernelRidge(alpha=0.5, kernel="precomputed"),
        F @ F.T,
        y,
        groups=documents,
        cv=LeaveOneGroupOut(),
    )
    np.testing.assert_allclose(fast, slow, atol=1e-10)


@given(problem=problems(binary=True), exponent=EXPONENTS, wide=st.booleans())
def test_features_and_their_gram_matrix_give_equal_scores(problem, exponent, wide):
    alphas = [2.0**exponent, 2.0**exponent * 3]
    learner = RLS(alphas=alphas, select="squared_error", positive_weight=2.0)
    F = np.hstack([problem.F, problem.F[:, :1] * 0]) if wide else problem.F
    primal, dual = (learner.fit(data, problem.targets) for data in (features(F), problem.K))
    assert primal.coef.shape == (F.shape[1],)
    assert primal.alpha == dual.alpha
    np.testing.assert_allclose(primal.heldout, dual.heldout, atol=1e-8)
    np.testing.assert_allclose(primal.predict(features(F)), dual.predict(problem.K), atol=1e-8)


@given(problem=problems(smallest=8), exponent=EXPONENTS, weighted=st.booleans())
def test_nested_scores_equal_retraining(problem, exponent, weighted):
    learner = RLS(
        alphas=[2.0**exponent, 2.0**exponent * 5],
        select="squared_error",
        positive_weight=3.0 if weighted else 1.0,
    )
    partitions = [folds_of(problem.groups, 2), folds_of(problem.groups + 1, 3)]
    fast = learner.nested(problem.K, problem.targets, partitions)
    slow = nested_by_retraining(learner, problem.K, problem.targets, partitions)
    for one, other in zip(fast, slow, strict=True):
        np.testing.assert_allclose(one.outer, other.outer, atol=1e-8)
        np.testing.assert_allclose(one.inner, other.inner, atol=1e-8)


def test_nested_scores_equal_training_by_hand(rng):
    F = rng.standard_normal((20, 6))
    y, documents = np.sign(rng.standard_normal(20)), np.repeat(np.arange(5), 4)
    folds = np.array([0, 0, 1, 1, 2])[documents]
    (result,) = RLS(alphas=[0.3]).nested(F @ F.T, Targets(y, documents, documents), [folds])
    for fold in range(3):
        for document in np.unique(documents[folds != fold]):
            kept = (folds != fold) & (documents != document)
            w = np.linalg.solve(F[kept].T @ F[kept] + 0.3 * np.eye(6), F[kept].T @ y[kept])
            out = documents == document
            np.testing.assert_allclose(result.inner[0, fold, out], F[out] @ w, atol=1e-12)
        kept = folds != fold
        w = np.linalg.solve(F[kept].T @ F[kept] + 0.3 * np.eye(6), F[kept].T @ y[kept])
        np.testing.assert_allclose(result.outer[0, ~kept], F[~kept] @ w, atol=1e-12)
        assert np.isnan(result.inner[0, fold, ~kept]).all()


@pytest.mark.parametrize("columns", [4, 200])
def test_nested_scores_of_features_equal_those_of_their_gram_matrix(rng, columns):
    F = rng.standard_normal((30, columns))
    y, documents = np.sign(rng.standard_normal(30)), np.repeat(np.arange(10), 3)
    learner, targets = RLS(), Targets(y, documents, documents)
    (one,) = learner.nested(features(F), targets, [folds_of(documents)])
    (other,) = learner.nested(F @ F.T, targets, [folds_of(documents)])
    np.testing.assert_allclose(one.outer, other.outer, atol=1e-9)
    np.testing.assert_allclose(one.inner, other.inner, atol=1e-9)


def test_a_document_in_two_folds_is_refused(rng):
    targets = Targets(np.array([1.0, -1, 1, -1]), np.array([0, 1, 1, 2]), np.arange(4))
    with pytest.raises(ValueError, match=r"document 1 lies in folds 0 and 1 \(candidate 2\)"):
        RLS().nested(np.eye(4), targets, [np.array([0, 0, 1, 1])])


@pytest.mark.parametrize(
    ("folds", "message"),
    [
        ([0, 1], "each of the 4"),
        ([0.5] * 4, "float64"),
        ([0] * 4, "two folds"),
        ([-1, 0, 0, 1], "from 0"),
    ],
)
def test_a_partition_must_make_sense(folds, message):
    targets = Targets(np.array([1.0, -1, 1, -1]), np.arange(4), np.arange(4))
    with pytest.raises(ValueError, match=message):
        RLS().nested(np.eye(4), targets, [np.array(folds)])


def test_the_alpha_with_the_best_heldout_score_is_chosen(rng):
    F = rng.standard_normal((30, 5))
    y = F[:, 0] + 0.1 * rng.standard_normal(30)
    targets = Targets(y, np.arange(30), np.arange(30))
    fit = RLS(alphas=GRID, select="squared_error").fit(F @ F.T, targets)
    errors = ((fit.heldout - y) ** 2).mean(axis=1)
    assert fit.alpha_index == errors.argmin()
    assert 0 < fit.alpha_index < len(GRID) - 1


def test_integer_labels_change_nothing(rng):
    F = rng.standard_normal((12, 3))
    documents = np.repeat(np.arange(4), 3)
    y = np.array([1, -1] * 6)
    fits = [RLS().fit(F @ F.T, Targets(t, documents, documents)) for t in (y, y.astype(float))]
    np.testing.assert_array_equal(fits[0].coef, fits[1].coef)


@pytest.mark.parametrize(
    ("K", "message"),
    [
        (np.ones((2, 3)), "square"),
        (np.array([[1.0, np.nan], [np.nan, 1.0]]), r"nan at \(0, 1\)"),
        (np.array([[1.0, 0.5], [0.2, 1.0]]), "not symmetric"),
        (np.array([[0.0, 1.0], [1.0, 0.0]]), r"entry \(0, 1\) is 1"),
        (np.array([[1.0, 0.0], [0.0, -1.0]]), "diagonal entry 1 is -1"),
        (np.eye(5) - 0.4 * np.ones((5, 5)), "not positive semi-definite"),
    ],
)
@pytest.mark.parametrize("alphas", [[0.5], [1.5], GRID])
def test_a_matrix_that_is_no_gram_matrix_is_refused(K, message, alphas):
    n = len(K)
    targets = Targets(np.array([1.0, -1, 1, -1, 1])[:n], np.arange(n), np.arange(n))
    with pytest.raises(ValueError, match=message):
        RLS(alphas=alphas).fit(K, targets)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"alphas": []}, "empty"),
        ({"alphas": [1.0, 0.0]}, "positive and finite, got 0.0"),
        ({"alphas": [1.0, 1.0]}, "differ"),
        ({"select": "accuracy"}, "auc, f, squared_error, disagreement, got 'accuracy'"),
        ({"positive_weight": -1.0}, "positive_weight"),
    ],
)
def test_wrong_settings_are_refused(settings, message):
    with pytest.raises(ValueError, match=message):
        RLS(**settings)


def test_one_class_is_refused_where_the_measure_needs_two():
    targets = Targets(np.ones(3), np.arange(3), np.arange(3))
    with pytest.raises(ValueError, match="all 3 labels are positive"):
        RLS().fit(np.eye(3), targets)


def test_answers_must_be_finite():
    targets = Targets(np.array([1.0, np.nan]), np.arange(2), np.arange(2))
    with pytest.raises(ValueError, match="answer 1 is nan"):
        RLS().fit(np.eye(2), targets)


def test_settings_are_equal_however_they_were_written():
    assert RLS(alphas=[1, 2]) == RLS(alphas=(1.0, 2.0))


def test_rls_is_a_learner():
    learner: Learner = RLS()
    assert learner.fit


@given(problem=problems(), exponent=EXPONENTS)
def test_inverse_and_spectrum_agree(problem, exponent):
    alpha = 2.0**exponent
    G = inverse(problem.K, alpha)
    for spectrum in (Spectrum.from_gram(problem.K), Spectrum.from_features(problem.F)):
        A = spectrum.coefs(np.eye(len(G)), np.array([alpha]))[0]
        np.testing.assert_allclose(A, G, atol=1e-9 / alpha)


def test_gram_of_sparse_features_is_their_product(rng):
    F = sp.random_array((60, 500), density=0.04, rng=rng, format="csr")
    dense = sp.csr_array(rng.standard_normal((60, 3)))
    F = sp.csr_array(sp.hstack([F, dense]))
    np.testing.assert_allclose(gram(F), F.toarray() @ F.toarray().T, atol=1e-12)


def test_nested_accepts_fold_numbers_with_gaps(rng):
    F = rng.standard_normal((12, 3))
    documents = np.arange(12)
    folds = np.array([0, 2] * 6)
    (result,) = nested_by_inverse(F @ F.T, F[:, 0], documents, [folds], (1.0,))
    assert np.isfinite(result.outer).all()
    assert np.isnan(result.inner[0, 1]).all()
