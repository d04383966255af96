"""Blockwise: each question as if alone, scores as log-odds, and models that pack well."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.special import expit

from textrank.candidates import Targets
from textrank.features import FeatureNames, Features, MultiView
from textrank.kernels.algebra import Linear, OnView
from textrank.kernels.views import PerQuestionKernel
from textrank.learners.meta import PerQuestionLearner, fit_log_odds_scale, round_to_bits
from textrank.learners.reduced import SparseRLS
from textrank.learners.rls import RLS

LEARNER = SparseRLS(alphas=[0.5, 2.0], folds=3, tolerance=1e-10)


def problem(rng: np.random.Generator, n: int = 60) -> tuple[Features, Targets]:
    x = rng.normal(size=(n, 5))
    asked = np.array(["than", "me"])[rng.integers(0, 2, n)]
    y = np.sign(x[:, 0] * np.where(asked == "me", 1, -1) + 0.5 * rng.normal(size=n))
    X = MultiView({"asked": list(asked), "x": x})
    documents = np.arange(n) // 3
    return PerQuestionKernel("asked", OnView("x", Linear())).features(X), Targets(
        y, documents, np.arange(n)
    )


def test_a_question_is_learnt_as_if_it_were_alone(rng):
    data, targets = problem(rng)
    whole = PerQuestionLearner(LEARNER).fit(data, targets)
    asked = [name[0] for name in data.names]
    rows = np.array([asked[data.values[[i]].indices[0]] == "me" for i in range(len(data))])
    index = np.flatnonzero(rows)
    alone = PerQuestionLearner(LEARNER).path(data.rows(index), targets.take(index))
    a = whole.alpha_index
    np.testing.assert_allclose(whole.predict(data)[index], alone.predict(data)[a][index])
    np.testing.assert_allclose(whole.heldout[:, index], alone.heldout)


def test_weights_are_those_of_the_learner_after_one_line(rng):
    data, targets = problem(rng)
    columns = [i for i, name in enumerate(data.names) if name[0] == "me"]
    index = np.flatnonzero(np.diff(sp.csr_array(data.values[:, columns]).indptr))
    plain = LEARNER.path(data.rows(index), targets.take(index))
    ours = PerQuestionLearner(LEARNER).path(data.rows(index), targets.take(index))
    for a in range(2):
        slope, offset = fit_log_odds_scale(plain.heldout[a], targets.y[index])
        expected = slope * plain.predict(data.rows(index))[a] + offset
        np.testing.assert_allclose(ours.predict(data.rows(index))[a], expected)


def test_held_out_log_odds_are_calibrated():
    rng = np.random.default_rng(1)
    truth = rng.normal(size=20000) * 2 - 1
    y = np.where(rng.random(20000) < expit(truth), 1.0, -1.0)
    slope, offset = fit_log_odds_scale(0.3 * truth + 0.1, y)
    assert 0.3 * slope == pytest.approx(1.0, abs=0.06)
    assert offset + 0.1 * slope == pytest.approx(0.0, abs=0.06)


def test_a_score_that_says_the_opposite_is_not_used():
    y = np.array([1.0, 1, -1, -1, 1])
    assert fit_log_odds_scale(-y, y) == (0.0, pytest.approx(np.log(4 / 3)))


def test_perfectly_parted_answers_do_not_give_certainty():
    y = np.repeat([1.0, -1.0], 5)
    slope, offset = fit_log_odds_scale(y, y)
    assert expit(slope + offset) == pytest.approx(6 / 7, abs=1e-6)


@pytest.mark.parametrize("y", [np.ones(6), -np.ones(6)])
def test_a_question_with_one_answer_gets_its_prior(y, rng):
    X = MultiView({"asked": ["me"] * 6, "x": rng.normal(size=(6, 2))})
    data = PerQuestionKernel("asked", OnView("x", Linear())).features(X)
    path = PerQuestionLearner(LEARNER).path(data, Targets(y, np.arange(6), np.arange(6)))
    np.testing.assert_allclose(path.predict(data), np.sign(y[0]) * np.log(7))


def test_rare_features_get_no_weight(rng):
    data, targets = problem(rng)
    values = data.values.toarray()
    column = next(i for i, name in enumerate(data.names) if name[-1] not in ("constant", "0"))
    values[np.flatnonzero(values[:, column])[1:], column] = 0.0
    rare = Features(sp.csr_array(values), data.names)
    assert not PerQuestionLearner(LEARNER, minimum=2).path(rare, targets).coefs[:, column].any()
    assert PerQuestionLearner(LEARNER, minimum=1).path(rare, targets).coefs[:, column].any()


def test_bits_round_weights_to_few_digits(rng):
    values = rng.normal(size=(2, 50))
    few = round_to_bits(values, 8)
    np.testing.assert_allclose(few, values, rtol=2**-8)
    assert len(np.unique(np.frexp(few)[0])) <= 2**8
    assert round_to_bits(values, 0) is values


def test_any_learner_with_a_path_serves(rng):
    data, targets = problem(rng)
    assert PerQuestionLearner(RLS(alphas=[1.0])).fit(data, targets).heldout.shape == (1, 60)


def test_features_without_a_constant_are_refused():
    bare = Features(
        sp.csr_array(np.eye(4)[:, :2] + 1), FeatureNames.from_iterable([("me", "a"), ("me", "b")])
    )
    targets = Targets(np.array([1.0, -1, 1, -1]), np.arange(4), np.arange(4))
    with pytest.raises(ValueError, match="share no feature 'constant'"):
        PerQuestionLearner(LEARNER).path(bare, targets)


def test_wrong_settings_are_refused():
    with pytest.raises(ValueError, match="minimum must be at least 1"):
        PerQuestionLearner(LEARNER, minimum=0)
    with pytest.raises(ValueError, match="must have a path over alphas"):
        PerQuestionLearner(Linear())  # type: ignore[arg-type]


def test_one_document_alone_cannot_be_held_out(rng):
    data, targets = problem(rng)
    alone = Targets(targets.y, np.zeros(len(targets), dtype=np.intp), targets.queries)
    with pytest.raises(ValueError, match="of one document: nothing can be held out"):
        PerQuestionLearner(LEARNER).path(data, alone)


def twins(rng: np.random.Generator) -> tuple[Features, Targets]:
    """Two questions about the same candidates."""
    n = 45
    x = rng.normal(size=(n, 20))
    y = np.sign(x[:, :2] + 0.5 * rng.normal(size=(n, 2)))
    asked = [question for _ in range(n) for question in ("one", "two")]
    X = MultiView({"asked": asked, "x": np.repeat(x, 2, axis=0)})
    documents = np.repeat(np.arange(n) // 3, 2)
    features = PerQuestionKernel("asked", OnView("x", Linear())).features(X)
    return features, Targets(y.ravel(), documents, np.arange(2 * n))


def test_questions_about_the_same_candidates_share_their_work_and_nothing_else(rng):
    data, targets = twins(rng)
    learner = PerQuestionLearner(RLS(alphas=[0.5, 2.0]))
    both = learner.path(data, targets)
    for first in (0, 1):
        index = np.arange(first, len(data), 2)
        alone = learner.path(data.rows(index), targets.take(index))
        np.testing.assert_allclose(both.heldout[:, index], alone.heldout, atol=1e-9)
        np.testing.assert_allclose(
            both.predict(data)[:, index], alone.predict(data.rows(index)), atol=1e-9
        )


def test_folds_together_are_those_of_one_training_a_fold(rng):
    data, targets = twins(rng)
    folds = targets.groups % 3
    apart, together = (
        PerQuestionLearner(RLS(alphas=[0.5, 2.0]), together=way).nested(data, targets, [folds])[0]
        for way in (False, True)
    )
    np.testing.assert_allclose(together.outer, apart.outer, atol=1e-8)
    np.testing.assert_allclose(together.inner, apart.inner, atol=1e-8)
