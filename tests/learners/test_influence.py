"""Influence equals retraining without the document."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp

from textrank.candidates import Targets
from textrank.features import FeatureNames, Features, take_rows
from textrank.learners.holdout import find_changes
from textrank.learners.rankrls import RankRLS
from textrank.learners.reduced import BasisMoments, ReducedRLS
from textrank.learners.rls import RLS

ALPHA = 0.7


def problem(n=30, d=6, seed=0):
    rng = np.random.default_rng(seed)
    F = rng.normal(size=(n, d))
    y = np.where(F[:, 0] + 0.5 * rng.normal(size=n) > 0, 1.0, -1.0)
    groups = rng.integers(0, 8, n)
    return F, Targets(y, groups, groups, weights=rng.uniform(0.5, 2.0, n))


def features(F):
    names = FeatureNames.from_iterable([f"f{i}" for i in range(F.shape[1])])
    return Features(sp.csr_array(F), names)


def retrained(learner, data, targets, group, new):
    """Scores of new rows by the learner without a group, and with all groups."""
    keep = np.flatnonzero(targets.groups != group)
    whole = learner.fit(data, targets)
    if isinstance(data, Features):
        part = learner.fit(take_rows(data, keep), targets.take(keep))
        return new @ part.coef - new @ whole.coef
    part = learner.fit(data[np.ix_(keep, keep)], targets.take(keep))
    return new[:, keep] @ part.coef - new @ whole.coef


@pytest.mark.parametrize("dual", [True, False])
@pytest.mark.parametrize("positive_weight", [1.0, 3.0])
@pytest.mark.parametrize("d", [6, 60])
def test_rls(dual, positive_weight, d):
    F, targets = problem(d=d)
    new = np.random.default_rng(1).normal(size=(5, d))
    learner = RLS((ALPHA,), "squared_error", positive_weight)
    data, new = (F @ F.T, new @ F.T) if dual else (features(F), new)
    changes = learner.group_changes(data, targets, ALPHA)
    for k, group in enumerate(np.unique(targets.groups)):
        expected = retrained(learner, data, targets, group, new)
        assert np.allclose(changes.of_scores(new)[:, k], expected, rtol=0, atol=1e-9)


@pytest.mark.parametrize("dual", [True, False])
@pytest.mark.parametrize("d", [6, 60])  # a basis larger than the space, and a smaller one
def test_reduced_rls(dual, d):
    F, targets = problem(d=d)
    new = np.random.default_rng(1).normal(size=(5, d))
    learner = ReducedRLS(12, (ALPHA,), "squared_error")
    data, new = (F @ F.T, new @ F.T) if dual else (features(F), new)
    basis = learner.sample_basis(targets)
    changes = learner.group_changes(data, targets, ALPHA)
    whole = learner.fit(data, targets)
    for k, group in enumerate(np.unique(targets.groups)):
        keep = np.flatnonzero(targets.groups != group)
        rest = np.searchsorted(keep, basis[targets.groups[basis] != group])
        part_data = data[np.ix_(keep, keep)] if dual else take_rows(data, keep)
        part = learner.fit(part_data, targets.take(keep), basis=rest)
        expected = (new[:, keep] if dual else new) @ part.coef - new @ whole.coef
        assert np.allclose(changes.of_scores(new)[:, k], expected, rtol=0, atol=1e-9)


def test_heads_on_a_basis():
    F, targets = problem(d=60)
    heads = np.column_stack([targets.y, np.where(F[:, 1] > 0, 1.0, -1.0)])
    targets = replace(targets, heads=heads)
    new = np.random.default_rng(1).normal(size=(5, 60)) @ F.T
    learner, K = ReducedRLS(12, (ALPHA,), "squared_error"), F @ F.T
    basis = learner.sample_basis(targets)
    changes = learner.group_changes(K, targets, ALPHA).of_scores(new)
    assert changes.shape == (5, len(np.unique(targets.groups)), 2)
    whole = learner.fit(K, targets)
    for k, group in enumerate(np.unique(targets.groups)):
        keep = np.flatnonzero(targets.groups != group)
        rest = np.searchsorted(keep, basis[targets.groups[basis] != group])
        part = learner.fit(K[np.ix_(keep, keep)], targets.take(keep), basis=rest)
        expected = new[:, keep] @ part.coef - new @ whole.coef
        assert np.allclose(changes[:, k], expected, rtol=0, atol=1e-9)


@pytest.mark.parametrize("dual", [True, False])
@pytest.mark.parametrize("d", [6, 60])
@pytest.mark.parametrize(
    "settings", [{}, {"normalised": True}, {"cost": "sign"}, {"cost": "bound"}], ids=str
)
def test_rankrls(dual, d, settings):
    F, targets = problem(d=d)
    y = np.round(F[:, 0])
    queries = 2 * targets.groups + np.arange(len(y)) % 2  # two queries in a document
    targets = Targets(y, targets.groups, queries)
    new = np.random.default_rng(1).normal(size=(5, d))
    learner = RankRLS((ALPHA,), "disagreement", **settings)
    data, new = (F @ F.T, new @ F.T) if dual else (features(F), new)
    changes = learner.group_changes(data, targets, ALPHA)
    for k, group in enumerate(np.unique(targets.groups)):
        expected = retrained(learner, data, targets, group, new)
        assert np.allclose(changes.of_scores(new)[:, k], expected, rtol=0, atol=1e-9)


def test_rankings_across_documents_offer_none():
    F, targets = problem()
    targets = Targets(targets.y, targets.groups, targets.groups)
    assert RankRLS(scope="global").group_changes(F @ F.T, targets, ALPHA) is None


def test_a_basis_of_nearly_equal_candidates_is_refused():
    F, targets = problem(d=60)
    F[1::2] = F[::2] + 1e-6 * F[1::2]
    learner = ReducedRLS(29, (ALPHA,), "squared_error")
    with pytest.raises(ValueError, match="would not be exact"):
        learner.group_changes(F @ F.T, targets, ALPHA)


def test_rankings_on_a_basis_offer_none():
    F, targets = problem()
    targets = Targets(targets.y, targets.groups, targets.queries)
    assert ReducedRLS(12, rank=True).group_changes(F @ F.T, targets, ALPHA) is None


def test_documents_are_named():
    F, targets = problem(d=60)
    names = [f"document {group % 7}" for group in targets.groups]  # two groups share a name
    changes = find_changes(RLS((ALPHA,)), features(F), targets, ALPHA, names)
    assert list(changes.documents) == [f"document {g % 7}" for g in np.unique(targets.groups)]


def test_a_learner_without_closed_form_offers_none():
    F, targets = problem()
    assert find_changes(object(), F @ F.T, targets, ALPHA, ["d"] * len(F)) is None


def test_moments_without_each_document_equal_retraining():
    """Two heads, each with its own weights, as the shipped model of interactions has them."""
    F, targets = problem(n=60, d=40)
    rng = np.random.default_rng(2)
    Y = np.column_stack([targets.y, np.where(F[:, 1] > 0, 1.0, -1.0)])
    weights = rng.uniform(0.0, 2.0, (60, 2)) * (rng.random((60, 2)) < 0.8)  # some judge one head
    basis = np.sort(rng.choice(60, 20, replace=False))
    K = F @ F[basis].T
    new = rng.normal(size=(7, 40)) @ F[basis].T
    groups = [np.flatnonzero(targets.groups == g) for g in np.unique(targets.groups)]
    removed = [np.flatnonzero(np.isin(basis, rows)) for rows in groups]
    assert any(len(positions) > 1 for positions in removed)
    for head in range(2):
        root = np.sqrt(weights[:, head])[:, None]
        T, y = K * root, Y[:, [head]] * root
        moments = BasisMoments.from_columns(T, y)
        whole = moments.solve(K[basis], ALPHA)
        parts = [(T[rows], y[rows], gone) for rows, gone in zip(groups, removed, strict=True)]
        changes = moments.changes_without(K[basis], ALPHA, parts)
        for rows, gone, change in zip(groups, removed, changes, strict=True):
            rest = np.setdiff1d(np.arange(60), rows)
            keep = np.setdiff1d(np.arange(20), gone)
            part = BasisMoments.from_columns(T[rest], y[rest]).solve(K[basis], ALPHA, keep)
            np.testing.assert_allclose(new @ change, new @ (part - whole), rtol=0, atol=1e-9)
            np.testing.assert_allclose(whole[gone] + change[gone], 0, rtol=0, atol=1e-9)


def test_moments_that_do_not_determine_coefficients_are_refused():
    K = np.ones((5, 2))
    moments = BasisMoments.from_columns(K, np.ones((5, 1)))
    with pytest.raises(ValueError, match="not determined"):
        list(moments.changes_without(-np.ones((2, 2)), 1.0, []))
