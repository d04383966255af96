"""Permuted answers as extra columns equal one whole evaluation each."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from textrank.candidates import Targets
from textrank.evaluation.splits import Split
from textrank.evaluation.statistics import aucs, nested_scores, permutation_p, permuted
from textrank.learners.base import choose_alpha
from textrank.learners.rls import RLS
from textrank.metrics import auc

ALPHAS = (0.25, 1.0, 4.0)


@pytest.fixture
def problem(rng):
    X = rng.normal(size=(72, 5))
    y = np.where(X[:, 0] + 0.5 * rng.normal(size=72) > 0, 1.0, -1.0)
    documents = np.arange(72) // 3
    targets = Targets(y, documents, documents)
    return X @ X.T, Split(targets, [documents % 4], "4 folds by document")


@pytest.mark.parametrize("within", ["corpus", "document"])
def test_every_column_equals_its_own_nested_evaluation(problem, within):
    K, division = problem
    targets, folds = division.targets, division.partitions[0]
    Y = permuted(targets, 5, within, seed=1)
    ours = nested_scores(K, Y, targets.groups, folds, ALPHAS)
    for column in range(6):
        own = replace(targets, y=Y[:, column])
        (nested,) = RLS(ALPHAS).nested(K, own, [folds])
        for fold in range(4):
            out, rest = np.flatnonzero(folds == fold), np.flatnonzero(folds != fold)
            a = choose_alpha(nested.inner[:, fold][:, rest], own.take(rest), "auc")
            np.testing.assert_allclose(ours[out, column], nested.outer[a, out], atol=1e-9)


def test_permutations_keep_the_answers_of_the_corpus_or_of_each_document(problem):
    _, division = problem
    targets = division.targets
    Y = permuted(targets, 20, "corpus", seed=0)
    np.testing.assert_array_equal(Y[:, 0], targets.y)
    assert (Y.sum(axis=0) == targets.y.sum()).all()
    assert (Y[:, 1:] != targets.y[:, None]).any()
    inside = permuted(targets, 20, "document", seed=0)
    for document in np.unique(targets.groups):
        at = targets.groups == document
        assert (inside[at].sum(axis=0) == targets.y[at].sum()).all()


def test_aucs_of_columns_equal_single_ones_also_with_ties(rng):
    Y = np.where(rng.random((20, 6)) < 0.4, 1.0, -1.0)
    Y[:, 5] = 1.0
    scores = rng.normal(size=(20, 6)).round(0)
    found = aucs(Y, scores)
    assert np.isnan(found[5])
    assert found[:5] == pytest.approx([auc(Y[:, c], scores[:, c]) for c in range(5)])


def test_a_real_signal_is_found_and_noise_is_not(problem, rng):
    K, division = problem
    learner = RLS(ALPHAS)
    real = permutation_p(learner, K, division, permutations=199)
    assert real.p <= 0.02
    assert real.auc > real.null_mean + 2 * real.null_std
    noise = replace(division.targets, y=rng.permutation(division.targets.y))
    chance = permutation_p(learner, K, replace(division, targets=noise), permutations=199)
    assert chance.p > 0.02


def test_weights_and_senseless_numbers_are_refused(problem):
    K, division = problem
    with pytest.raises(ValueError, match="only for RLS without class weights"):
        permutation_p(RLS(ALPHAS, positive_weight=2.0), K, division)
    with pytest.raises(ValueError, match="at least 1, got 0"):
        permutation_p(RLS(ALPHAS), K, division, permutations=0)
    with pytest.raises(ValueError, match="within must be"):
        permutation_p(RLS(ALPHAS), K, division, within="sentence")
