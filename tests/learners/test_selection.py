"""The choice among kernels against training anew for every fold, document, kernel and alpha."""

from __future__ import annotations

import numpy as np
import pytest

from textrank.candidates import Targets
from textrank.features import GramAlternatives
from textrank.learners.base import choose_alpha
from textrank.learners.rls import RLS
from textrank.learners.selection import fit_best_kernel, nested_scores_of_kernels
from textrank.metrics import auc

ALPHAS = (0.1, 1.0, 10.0)
LEARNER = RLS(alphas=ALPHAS, select="auc")


@pytest.fixture
def problem(rng) -> tuple[GramAlternatives, Targets]:
    n = 36
    useful, noise = rng.standard_normal((n, 3)), rng.standard_normal((n, 20))
    y = np.sign(useful[:, 0] + 0.7 * rng.standard_normal(n))
    y[:2] = 1.0, -1.0
    grams = [useful @ useful.T + w * noise @ noise.T for w in (4.0, 0.0, 1.0)]
    data = GramAlternatives([{"noise": w} for w in (4.0, 0.0, 1.0)], grams)
    return data, Targets(y, np.repeat(np.arange(12), 3), np.arange(n))


def scored(K, y, rest, out, alpha):
    """Scores of ``out`` by a model trained on ``rest`` alone."""
    coef = np.linalg.solve(K[np.ix_(rest, rest)] + alpha * np.eye(len(rest)), y[rest])
    return K[np.ix_(out, rest)] @ coef


def left_out(K, targets, rest, alpha):
    """Each of ``rest`` by a model of the other documents of ``rest``."""
    scores = np.empty(len(rest))
    documents = targets.groups[rest]
    for document in np.unique(documents):
        inside = documents == document
        scores[inside] = scored(K, targets.y, rest[~inside], rest[inside], alpha)
    return scores


def rows_of(data):
    return [(k, alpha) for k in range(len(data.grams)) for alpha in ALPHAS]


def test_nested_scores_and_choices_equal_retraining(problem):
    data, targets = problem
    folds = targets.groups % 4
    (nested,), settings = nested_scores_of_kernels(LEARNER, data, targets, [folds])
    assert [s["noise"] for s in settings] == [4.0] * 3 + [0.0] * 3 + [1.0] * 3
    assert nested.alphas == ALPHAS * 3
    for fold in range(4):
        rest, out = np.flatnonzero(folds != fold), np.flatnonzero(folds == fold)
        inner = [left_out(data.grams[k], targets, rest, alpha) for k, alpha in rows_of(data)]
        outer = [scored(data.grams[k], targets.y, rest, out, alpha) for k, alpha in rows_of(data)]
        np.testing.assert_allclose(nested.inner[:, fold][:, rest], inner, atol=1e-9)
        np.testing.assert_allclose(nested.outer[:, out], outer, atol=1e-9)
        best = choose_alpha(nested.inner[:, fold][:, rest], targets.take(rest), "auc")
        naive = [auc(targets.y[rest], row) for row in inner]
        assert naive[best] == max(naive)


def test_the_best_fit_is_that_of_retraining_with_each_kernel(problem):
    data, targets = problem
    number, fit = fit_best_kernel(LEARNER, data, targets)
    everyone = np.arange(len(targets))
    naive = {
        (k, alpha): auc(targets.y, left_out(data.grams[k], targets, everyone, alpha))
        for k, alpha in rows_of(data)
    }
    assert naive[number, fit.alpha] == max(naive.values())
    coef = np.linalg.solve(data.grams[number] + fit.alpha * np.eye(len(targets)), targets.y)
    np.testing.assert_allclose(fit.coef, coef, atol=1e-9)


def test_without_a_choice_it_is_the_learner_itself(problem):
    data, targets = problem
    number, fit = fit_best_kernel(LEARNER, data.grams[0], targets)
    assert number == 0
    np.testing.assert_array_equal(fit.coef, LEARNER.fit(data.grams[0], targets).coef)
    (nested,), settings = nested_scores_of_kernels(
        LEARNER, data.grams[0], targets, [targets.groups % 3]
    )
    assert settings == []
    assert nested.alphas == ALPHAS


def test_a_choice_needs_matrices_of_one_shape_each_with_its_setting():
    with pytest.raises(ValueError, match="2 settings for 1 Gram matrices"):
        GramAlternatives([{"w": 1.0}, {"w": 2.0}], [np.eye(2)])
    with pytest.raises(ValueError, match="all of one shape"):
        GramAlternatives([{"w": 1.0}, {"w": 2.0}], [np.eye(2), np.eye(3)])
