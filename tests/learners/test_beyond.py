"""Updates, calibration, conformal sets, kernel weights and greedy features."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.learners.problems import EXPONENTS, least_squares, problems
from tests.learners.problems import retrained as rls_retrained
from tests.learners.test_rankrls import edges
from tests.learners.test_rls import features
from textrank.candidates import Targets
from textrank.learners.calibration import (
    ConformalPredictor,
    IsotonicCalibration,
    PlattCalibration,
    exact_p_values,
    prediction_sets,
)
from textrank.learners.online import UpdatableRLS
from textrank.learners.rls import RLS
from textrank.learners.selection import GreedyFeatures, KernelWeights


@given(problem=problems(smallest=8), exponent=EXPONENTS, data=st.data())
def test_updates_equal_training_anew(problem, exponent, data):
    alpha, F, y, documents = 2.0**exponent, problem.F, problem.y, problem.groups
    first = data.draw(st.integers(2, len(y) - 1))
    old, new = np.arange(first), np.arange(first, len(y))
    K = problem.K
    model = UpdatableRLS.from_gram(K[np.ix_(old, old)], y[old], documents[old], alpha=alpha)
    model = model.add(K[np.ix_(new, old)], K[np.ix_(new, new)], y[new], documents[new])
    np.testing.assert_allclose(F.T @ model.coef, least_squares(F, y, alpha), atol=1e-8)
    np.testing.assert_allclose(model.heldout, rls_retrained(F, y, documents, alpha), atol=1e-8)
    gone = documents == documents[0]
    after = model.forget([documents[0]])
    slow = least_squares(F[~gone], y[~gone], alpha)
    np.testing.assert_allclose(F[~gone].T @ after.coef, slow, atol=1e-8)


def test_updates_that_make_no_sense_are_refused():
    model = UpdatableRLS.from_gram(np.eye(2), np.array([1.0, -1.0]), np.array([0, 1]), alpha=1.0)
    with pytest.raises(ValueError, match="document 7 is not among"):
        model.forget([7])
    with pytest.raises(ValueError, match="nothing would be left"):
        model.forget([0, 1])
    with pytest.raises(ValueError, match="1 new candidates and 2 old ones"):
        model.add(np.ones((1, 3)), np.eye(1), np.ones(1), np.array([2]))


def test_probabilities_are_right_on_average(rng):
    scores = rng.standard_normal(4000)
    truth = 1 / (1 + np.exp(-(2 * scores - 1)))
    y = np.where(rng.random(4000) < truth, 1, -1)
    for method in (PlattCalibration, IsotonicCalibration):
        found = method.fit(scores, y)(scores)
        assert np.abs(found - truth).mean() < 0.03
        assert (np.diff(found[np.argsort(scores)]) >= -1e-12).all()


def test_platt_finds_the_slope_and_shift(rng):
    scores = 100 + 5 * rng.standard_normal(20000)
    y = np.where(rng.random(20000) < 1 / (1 + np.exp(-(scores - 101) / 2)), 1, -1)
    found = PlattCalibration.fit(scores, y)
    assert found.slope == pytest.approx(0.5, rel=0.1)
    assert -found.shift / found.slope == pytest.approx(101, abs=0.2)


def test_conformal_sets_err_no_more_than_stated_in_each_class(rng):
    def draw(n):
        y = np.where(rng.random(n) < 0.2, 1, -1)
        return y + rng.standard_normal(n), y

    conformal = ConformalPredictor.fit(*draw(2000))
    scores, y = draw(20000)
    for error in (0.05, 0.2):
        sets = conformal.sets(scores, error=error)
        for label, column in ((-1, 0), (1, 1)):
            missed = 1 - sets[y == label, column].mean()
            assert missed == pytest.approx(error, abs=0.03)


def test_exact_p_values_equal_training_with_every_label(rng):
    F, new = rng.standard_normal((14, 3)), rng.standard_normal((5, 3))
    y = np.sign(F[:, 0] + 0.5 * rng.standard_normal(14))
    y[:2] = [1, -1]
    p = exact_p_values(F @ F.T, y, new @ F.T, (new**2).sum(axis=1), alpha=0.4)
    for m in range(5):
        for column, label in ((0, -1.0), (1, 1.0)):
            X, t = np.vstack([F, new[m]]), np.append(y, label)
            margins = []
            for j in np.flatnonzero(t == label):
                rest = np.arange(15) != j
                margins.append(label * (X[j] @ least_squares(X[rest], t[rest], 0.4)))
            assert p[m, column] == pytest.approx(np.mean(np.array(margins) <= margins[-1] + 1e-12))


def test_exact_p_values_are_valid_on_few_data(rng):
    missed = []
    for _ in range(150):
        F = rng.standard_normal((31, 4))
        y = np.where(rng.random(31) < 0.5, 1.0, -1.0)
        y[:2] = [1, -1]
        F[:, 0] += y
        p = exact_p_values(
            F[:30] @ F[:30].T, y[:30], F[30:] @ F[:30].T, (F[30:] ** 2).sum(axis=1), alpha=1.0
        )
        missed.append(not prediction_sets(p, 0.2)[0, int(y[30] > 0)])
    assert np.mean(missed) < 0.3


def test_calibration_refuses_one_class_and_wrong_levels():
    for method in (PlattCalibration, IsotonicCalibration, ConformalPredictor):
        with pytest.raises(ValueError, match="3 positive and 0 negative"):
            method.fit(np.arange(3.0), np.ones(3))
    with pytest.raises(ValueError, match="between 0 and 1"):
        prediction_sets(np.ones((1, 2)), 1.0)


def test_the_useful_kernel_gets_the_weight(rng):
    F = rng.standard_normal((60, 4))
    noise = rng.standard_normal((60, 30))
    y = np.sign(F[:, 0] + 0.3 * rng.standard_normal(60))
    targets = Targets(y, np.repeat(np.arange(20), 3), np.arange(60))
    search = KernelWeights(RLS(alphas=[1.0], select="squared_error"))
    kernels = [noise @ noise.T, F @ F.T]
    weights = search.choose(kernels, targets)
    assert weights[1] > 4 * weights[0]
    better = search.quality(kernels, np.array(weights), targets)
    assert better > search.quality(kernels, np.ones(2), targets)


def test_kernel_weights_refuse_matrices_of_different_size():
    with pytest.raises(ValueError, match="differ in shape"):
        KernelWeights().choose([np.eye(2), np.eye(3)], Targets(*[np.arange(2)] * 3))


@given(problem=problems(smallest=6, largest=14), rank=st.booleans())
def test_greedy_choices_equal_trying_every_feature(problem, rank):
    alpha, F, y, queries = 0.5, problem.F[:, :6], problem.y, problem.groups
    count = min(3, F.shape[1])
    found = GreedyFeatures(count=count, alpha=alpha, rank=rank).choose(features(F), problem.targets)
    chosen: list[int] = []
    for column, error in zip(found.columns, found.errors, strict=True):
        trials = {
            k: heldout_error(F[:, [*chosen, k]], y, queries, alpha, rank)
            for k in range(F.shape[1])
            if k not in chosen
        }
        assert error == pytest.approx(min(trials.values()), rel=1e-6, abs=1e-9)
        assert trials[column] == pytest.approx(min(trials.values()), rel=1e-6, abs=1e-9)
        chosen.append(int(column))


def heldout_error(F, y, queries, alpha, rank):
    total = 0.0
    for query in np.unique(queries):
        out, rest = queries == query, queries != query
        if not rank:
            w = least_squares(F[rest], y[rest], alpha)
            total += ((y[out] - F[out] @ w) ** 2).sum()
            continue
        found = edges(y[rest], queries[rest])
        h, j, z, _ = (np.array(part) for part in zip(*found, strict=True)) if found else [[]] * 4
        A = F[rest]
        w = least_squares(A[h] - A[j], z, alpha) if found else np.zeros(F.shape[1])
        for h, j, z, _ in edges(y[out], queries[out]):
            total += (z - (F[out] @ w)[h] + (F[out] @ w)[j]) ** 2
    return total / len(y)


def test_greedy_settings_are_checked():
    with pytest.raises(ValueError, match="count must be at least 1"):
        GreedyFeatures(count=0)
    with pytest.raises(ValueError, match="count is 9, but there are 2"):
        GreedyFeatures(count=9).choose(np.eye(2), Targets(*[np.arange(2)] * 3))
