"""The second stage over the document: what it learns from, that it never peeks."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.linear_model import LogisticRegression

from textrank.candidates import DocumentContext, Targets
from textrank.features import FeatureNames, Features
from textrank.learners.meta import (
    CONTEXT_FEATURE_NAMES,
    DocumentContextLearner,
    DocumentContextWeights,
    document_context_features,
    fit_log_odds,
)
from textrank.learners.reduced import SparseRLS

FIRST = SparseRLS(alphas=(0.5, 2.0), folds=3)
LEARNER = DocumentContextLearner(FIRST, folds=4)


@pytest.fixture
def problem(rng):
    """Documents whose names agree, so that neighbours help; each name seen through noise."""
    texts, per = 30, 6
    n = texts * per
    kind = np.repeat(rng.choice([-1.0, 1.0], size=texts), per)
    y = np.where(rng.random(n) < 0.85, kind, -kind)
    X = np.column_stack([y[:, None] + 2.0 * rng.normal(size=(n, 3)), np.ones(n)])
    documents = np.repeat(np.arange(texts), per)
    context = DocumentContext(
        documents,
        np.tile(np.arange(per) * 4.0, texts),
        ("DNA",) * n,
        rng.integers(0, 8, size=n),
    )
    data = Features(sp.csr_array(X), FeatureNames.from_iterable(["a", "b", "c", "one"]))
    return data, Targets(y, documents, np.arange(n), context)


def test_weights_are_those_of_logistic_regression(rng):
    Z = rng.normal(size=(200, 3)) * [1.0, 5.0, 0.1] + [0.0, 2.0, -1.0]
    y = np.sign(Z[:, 0] + 0.3 * Z[:, 1] + rng.normal(size=200))
    found = fit_log_odds(Z, y, penalty=2.0)
    U = (Z - Z.mean(axis=0)) / Z.std(axis=0)
    other = LogisticRegression(C=0.5, tol=1e-12, max_iter=1000).fit(U, y)
    np.testing.assert_allclose(Z @ found[:-1] + found[-1], other.decision_function(U), atol=1e-6)


def test_one_kind_of_answer_or_constant_numbers_leave_the_score():
    Z = np.array([[0.5, 1.0], [2.0, 1.0]])
    np.testing.assert_array_equal(fit_log_odds(Z, np.ones(2), 1.0), [1.0, 0.0, 0.0])
    assert fit_log_odds(Z, np.array([-1.0, 1.0]), 1.0)[1] == 0.0


def test_the_second_stage_learns_from_held_out_scores_of_the_first(problem):
    data, targets = problem
    first, path = FIRST.path(data, targets), LEARNER.path(data, targets)
    np.testing.assert_array_equal(path.coefs, first.coefs)
    for a, stage in enumerate(path.stages):
        Z = document_context_features(targets.context, first.heldout[a])
        expected = fit_log_odds(Z, targets.y, LEARNER.penalty)
        np.testing.assert_allclose(stage.weights[0], expected, atol=1e-12)
        out = targets.groups % 4 == 1
        w = fit_log_odds(Z[~out], targets.y[~out], LEARNER.penalty)
        np.testing.assert_allclose(path.heldout[a, out], Z[out] @ w[:-1] + w[-1], atol=1e-12)


def test_neighbours_help_where_documents_agree(problem):
    data, targets = problem
    folds = targets.groups % 5
    (first,) = FIRST.nested(data, targets, [folds])
    (second,) = LEARNER.nested(data, targets, [folds])
    right = [np.mean(np.sign(run.outer[1]) == targets.y) for run in (first, second)]
    assert right[1] > right[0]


def test_test_answers_change_no_test_score(problem):
    data, targets = problem
    folds = targets.groups % 5
    turned = replace(targets, y=np.where(folds == 2, -targets.y, targets.y))
    (one,), (other,) = (LEARNER.nested(data, t, [folds]) for t in (targets, turned))
    np.testing.assert_array_equal(one.outer[:, folds == 2], other.outer[:, folds == 2])
    np.testing.assert_array_equal(one.inner[:, 2], other.inner[:, 2])
    assert not np.array_equal(one.outer[:, folds == 1], other.outer[:, folds == 1])


def test_nested_scores_are_those_of_training_without_the_fold(problem):
    data, targets = problem
    folds = targets.groups % 5
    (nested,) = LEARNER.nested(data, targets, [folds])
    rest, out = np.flatnonzero(folds != 3), np.flatnonzero(folds == 3)
    path = LEARNER.path(data.rows(rest), targets.take(rest))
    alone = path.predict(data.rows(out), targets.take(out).context)
    np.testing.assert_allclose(nested.outer[:, out], alone, atol=1e-12)
    fit = LEARNER.fit(data.rows(rest), targets.take(rest))
    again = fit.predict(data.rows(out), targets.take(out).context)
    np.testing.assert_allclose(again, alone[fit.alpha_index], atol=1e-12)


def test_parts_sum_to_the_score_and_arrays_carry_the_weights(problem, rng):
    _, targets = problem
    stage = DocumentContextWeights(
        ("DNA", "RNA"), rng.normal(size=(2, len(CONTEXT_FEATURE_NAMES) + 1))
    )
    scores = rng.normal(size=len(targets))
    parts = stage.parts(targets.context, scores)
    np.testing.assert_allclose(parts.sum(axis=1), stage(targets.context, scores), atol=1e-12)
    again = DocumentContextWeights.from_arrays(stage.to_arrays())
    assert again.questions == stage.questions
    np.testing.assert_array_equal(again(targets.context, scores), stage(targets.context, scores))
    assert DocumentContextWeights.from_arrays({}) is None


def test_a_question_never_met_keeps_its_scores(problem, rng):
    _, targets = problem
    stage = DocumentContextWeights(("RNA",), rng.normal(size=(1, len(CONTEXT_FEATURE_NAMES) + 1)))
    scores = rng.normal(size=len(targets))
    np.testing.assert_array_equal(stage(targets.context, scores), scores)


def test_what_cannot_work_is_explained(problem):
    data, targets = problem
    with pytest.raises(ValueError, match="positions of the"):
        LEARNER.fit(data, replace(targets, context=None))
    with pytest.raises(ValueError, match="positions of the"):
        LEARNER.fit(data, targets).predict(data)
    with pytest.raises(ValueError, match="path over alphas"):
        DocumentContextLearner(object())
    with pytest.raises(ValueError, match="folds at least 2"):
        DocumentContextLearner(FIRST, folds=1)
