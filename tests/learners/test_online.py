"""Answers taken in and forgotten one at a time, against training anew."""

from __future__ import annotations

import numpy as np
import pytest

from textrank.candidates import Targets
from textrank.features import Indices, Matrix, Vector
from textrank.learners.online import OnlineRLS, UpdatableRankRLS
from textrank.learners.rankrls import RankRLS
from textrank.learners.rls import RLS


def _problem(rng: np.random.Generator, n: int = 40) -> tuple[Matrix, Vector, Indices]:
    F = rng.standard_normal((n, 12))
    return F @ F.T, np.where(rng.random(n) < 0.4, 1.0, -1.0), rng.integers(0, 9, n)


def _grown(
    K: Matrix, y: Vector, d: Indices, rows: list[int], *, old: int, alpha: float
) -> OnlineRLS:
    """A model of ``rows``, the first ``old`` of them trained at once."""
    first = rows[:old]
    model = OnlineRLS.from_gram(K[np.ix_(first, first)], y[first], d[first], alpha=alpha)
    for i in range(old, len(rows)):
        model = model.add(K[rows[i], rows[:i]], K[rows[i], rows[i]], y[rows[i]], int(d[rows[i]]))
    return model


def _agrees(model: OnlineRLS, K: Matrix, y: Vector, d: Indices, rows: list[int]) -> None:
    targets = Targets(y[rows], d[rows], np.arange(len(rows)))
    anew = RLS([model.alpha], select="squared_error").fit(K[np.ix_(rows, rows)], targets)
    np.testing.assert_allclose(model.coef, anew.coef, atol=1e-10)
    np.testing.assert_allclose(model.heldout, anew.heldout[0], atol=1e-9)
    np.testing.assert_array_equal(model.documents, d[rows])


@pytest.mark.parametrize("old", [0, 1, 15])
@pytest.mark.parametrize("alpha", [0.01, 1.0])
def test_every_answer_gives_the_model_of_training_anew(
    rng: np.random.Generator, old: int, alpha: float
) -> None:
    K, y, d = _problem(rng)
    rows = rng.permutation(40).tolist()
    for size in range(max(old, 1), 40, 3):
        _agrees(_grown(K, y, d, rows[:size], old=old, alpha=alpha), K, y, d, rows[:size])


@pytest.mark.parametrize("gone", [0, 7, 14, 15, 22, 29])
def test_forgetting_leaves_nothing_behind(rng: np.random.Generator, gone: int) -> None:
    K, y, d = _problem(rng)
    rows = rng.permutation(40)[:30].tolist()
    model = _grown(K, y, d, rows, old=15, alpha=0.5).forget(gone)
    left = rows[:gone] + rows[gone + 1 :]
    _agrees(model, K, y, d, left)
    again = model.add(
        K[rows[gone], left], K[rows[gone], rows[gone]], y[rows[gone]], int(d[rows[gone]])
    )
    _agrees(again, K, y, d, [*left, rows[gone]])


def test_all_can_be_forgotten(rng: np.random.Generator) -> None:
    K, y, d = _problem(rng, 4)
    model = _grown(K, y, d, [0, 1, 2, 3], old=2, alpha=1.0)
    for _ in range(4):
        model = model.forget(0)
    assert len(model) == 0
    assert len(model.heldout) == 0


def test_another_answer_is_taken_over(rng: np.random.Generator) -> None:
    K, y, d = _problem(rng)
    rows = list(range(30))
    model = _grown(K, y, d, rows, old=15, alpha=0.5).relabel(3, -y[3]).relabel(20, -y[20])
    y[[3, 20]] *= -1
    _agrees(model, K, y, d, rows)


def test_without_a_document_its_coefficients_are_those_of_the_others(
    rng: np.random.Generator,
) -> None:
    K, y, d = _problem(rng)
    rows = list(range(30))
    model = _grown(K, y, d, rows, old=15, alpha=0.5)
    for document in (int(d[0]), int(d[20]), 99):
        rest = [i for i in rows if d[i] != document]
        anew = np.zeros(30)
        anew[rest] = np.linalg.solve(K[np.ix_(rest, rest)] + 0.5 * np.eye(len(rest)), y[rest])
        np.testing.assert_allclose(model.coef_without(document), anew, atol=1e-10)


def test_copies_of_a_candidate_do_no_harm() -> None:
    model = OnlineRLS.empty(alpha=1e-3)
    for i in range(20):
        model = model.add(np.ones(i), 1.0, 1.0, i)
    np.testing.assert_allclose(model.coef, 1 / 20.001, atol=1e-10)


@pytest.mark.parametrize("normalised", [False, True])
def test_rankers_learn_and_forget_query_by_query(rng, normalised):
    X, y = rng.standard_normal((18, 4)), rng.standard_normal(18)
    queries = np.array([0, 0, 0, 1, 1, 2, 2, 2, 2, 3, 4, 4, 4, 5, 5, 5, 5, 5])
    K = np.exp(-((X[:, None] - X) ** 2).sum(-1) / 4)
    settings = {"alpha": 0.3, "normalised": normalised}
    first = queries == 0
    model = UpdatableRankRLS.from_gram(
        K[np.ix_(first, first)], y[first], queries[first], **settings
    )
    for query in (1, 2, 3, 4, 5):
        old, new = queries < query, queries == query
        cross, own = K[np.ix_(new, old)], K[np.ix_(new, new)]
        model = model.add(cross, own, y[new], queries[new])
    learner = RankRLS([0.3], normalised=normalised)
    path = learner.path(K, Targets(y, queries, queries))
    np.testing.assert_allclose(model.coef, path.coefs[0], atol=1e-8)
    np.testing.assert_allclose(model.heldout, path.heldout[0], atol=1e-8)
    model = model.forget([2, 4])
    left = np.flatnonzero(~np.isin(queries, [2, 4]))
    targets = Targets(y[left], queries[left], queries[left])
    path = learner.path(K[np.ix_(left, left)], targets)
    np.testing.assert_allclose(model.coef, path.coefs[0], atol=1e-8)
    np.testing.assert_allclose(model.heldout, path.heldout[0], atol=1e-8)
    with pytest.raises(ValueError, match="query 5 is in the model"):
        model.add(np.zeros((1, len(left))), np.eye(1), [1.0], np.array([5]))
    with pytest.raises(ValueError, match="kernel values"):
        model.add(np.zeros((1, 2)), np.eye(1), [1.0], np.array([9]))
