"""Metrics, thresholds and chosen parameters must not depend on round-off of tied scores.

Each test compares results on tied scores with results on the same scores plus noise of 1e-15. All
results must be identical, not only close. These tests failed when scores were compared exactly.
"""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest

from textrank import metrics
from textrank.candidates import Targets
from textrank.estimators import RLSClassifier, RLSRegressor
from textrank.evaluation.statistics import aucs, bootstrap_intervals, effect
from textrank.features import GramAlternatives
from textrank.learners.base import choose_alpha, concordance, score_alphas
from textrank.learners.calibration import ConformalPredictor, expected_threshold, mean_threshold
from textrank.learners.multiclass import decode, one_vs_all_code
from textrank.learners.rls import RLS
from textrank.learners.selection import fit_best_kernel
from textrank.metrics import (
    argmax_first,
    choose_first,
    choose_largest,
    is_tied_with_best,
    merge_ties,
    precision_recall_curve,
    rank_ties,
    roc_curve,
    score_calibration,
    sort_ties,
)
from textrank.tasks.ppi.task import PPI

NOISE = 1e-15


@pytest.fixture
def labels(rng):
    return rng.choice([-1.0, 1.0], 200)


@pytest.fixture
def tied(rng):
    """Scores with about twenty candidates at each of ten values, zero among them."""
    return rng.integers(-4, 6, 200) / 7


@pytest.fixture
def noisy(tied, rng):
    """The same scores as another processor would compute them, in several versions."""
    return [tied + rng.uniform(-NOISE, NOISE, len(tied)) for _ in range(5)]


QUERIES = np.repeat(np.arange(20), 10)
METRICS = {
    "auc": metrics.auc,
    "average_precision": metrics.average_precision,
    "recall_at_precision": partial(metrics.recall_at_precision, precision=0.5),
    "kendall_tau_b": metrics.kendall_tau_b,
    "disagreement": metrics.disagreement,
    "ndcg": lambda y, scores: metrics.ndcg(y + 1, scores),
    "ndcg@10": lambda y, scores: metrics.ndcg(y + 1, scores, k=10),
    "mean_average_precision": partial(metrics.mean_average_precision, queries=QUERIES),
    "ranking_measures": lambda y, scores: metrics.ranking_metrics(y + 1, scores, QUERIES),
    "classification_measures": lambda y, s: metrics.classification_metrics(y, s, 0.5),
    "agreement": lambda y, scores: concordance(scores[None], y).tolist(),
    "quality by auc": lambda y, s: score_alphas(s[None], everyone(y), "auc").tolist(),
    "quality by f": lambda y, s: score_alphas(s[None], everyone(y), "f").tolist(),
    "quality by disagreement": lambda y, s: score_alphas(
        s[None], Targets(y, np.arange(len(y)), QUERIES), "disagreement"
    ).tolist(),
    "roc": lambda y, s: points(roc_curve(y, s)),
    "precision_recall": lambda y, s: points(precision_recall_curve(y, s)),
    "calibration bins": lambda y, s: [(b.candidates, b.share) for b in score_calibration(y, s)],
    "bootstrap_intervals": lambda y, s: bootstrap_intervals(
        y, s, QUERIES.astype(str).tolist(), resamples=20
    ),
    "aucs of a permutation test": lambda y, s: aucs(y[:, None], s[:, None]).tolist(),
}
THRESHOLDS = {
    "best_threshold": metrics.best_threshold,
    "likely_threshold": lambda y, s: metrics.expected_f_threshold(s, 1 / (1 + np.exp(-s))),
    "positive_rate_threshold": lambda y, s: metrics.positive_rate_threshold(s, 0.3),
    "rate of nought": lambda y, s: metrics.positive_rate_threshold(s, 0.0),
    "rate of one": lambda y, s: metrics.positive_rate_threshold(s, 1.0),
    "expected_threshold": lambda y, s: expected_threshold(s, 1 / (1 + np.exp(-s))),
    "mean_threshold": lambda y, s: mean_threshold(s),
    "level of a precision": lambda y, s: (
        PPI(precision=0.5).at_level(y, s / 2 + 0.4).level * 2 - 0.8
    ),
}


def everyone(y):
    return Targets(y, np.arange(len(y)), np.arange(len(y)))


def points(curve):
    return curve.x.tolist(), curve.y.tolist()


@pytest.mark.parametrize("name", METRICS)
def test_metrics_ignore_round_off_of_ties(name, labels, tied, noisy):
    exact = METRICS[name](labels, tied)
    assert all(METRICS[name](labels, scores) == exact for scores in noisy)


@pytest.mark.parametrize("name", THRESHOLDS)
def test_thresholds_decide_the_same_for_tied_scores(name, labels, tied, noisy):
    """Also where the threshold of one machine is applied to the scores of another."""
    exact = metrics.decide(tied, THRESHOLDS[name](labels, tied))
    for chosen_on in noisy:
        threshold = THRESHOLDS[name](labels, chosen_on)
        assert all((metrics.decide(scores, threshold) == exact).all() for scores in noisy)


def test_thresholds_with_all_scores_tied(labels, noisy):
    for scores in noisy:
        same = np.full(len(scores), 0.1) + (scores - noisy[0])
        for choose_threshold in (metrics.best_threshold, THRESHOLDS["mean_threshold"]):
            assert metrics.decide(same, choose_threshold(labels, same)).all()


def test_a_query_with_scores_near_zero_is_tied_by_the_scale_of_all_queries(rng):
    labels, queries = [1.0, 0.0, 1.0, 0.0], ["a", "a", "b", "b"]
    for _ in range(5):
        scores = np.array([1.0, 0.5, *rng.uniform(-NOISE, NOISE, 2)])
        found = metrics.average_over_queries(metrics.disagreement, labels, scores, queries)
        assert found.mean == 0.25


@pytest.mark.parametrize("select", ["auc", "f", "squared_error", "disagreement"])
def test_the_largest_of_equally_good_alphas_is_chosen(select, labels, tied, rng):
    alphas = [100.0, 0.01, 1.0]  # not in order
    targets = Targets(labels, np.arange(len(labels)), QUERIES)
    for _ in range(5):
        rows = tied + rng.uniform(-NOISE, NOISE, (3, len(tied)))
        assert choose_alpha(rows, targets, select, alphas) == 0
        assert choose_alpha(rows, targets, select) == 2


def test_learners_choose_the_largest_alpha_that_ranks_equally_well(rng):
    """Held-out scores of a kernel of two values order candidates alike at every alpha."""
    y = rng.choice([-1.0, 1.0], 60)
    targets = everyone(y)
    for _ in range(5):
        noise = rng.uniform(-NOISE, NOISE, (60, 60))
        K = np.outer(y, y) + noise + noise.T
        assert RLS(alphas=[1.0, 100.0, 10.0], select="auc").fit(K, targets).alpha == 100.0
        kernels = GramAlternatives(({"n": 1.0}, {"n": 2.0}), (K, K.copy()))
        assert fit_best_kernel(RLS(alphas=[1.0, 10.0], select="auc"), kernels, targets)[0] == 1


def test_estimators_choose_the_largest_of_equally_good_alphas(rng):
    X = rng.normal(size=(40, 3))
    labels = np.sign(X[:, 0])
    found = RLSClassifier(alphas=[1e-6, 1e-8, 1e-7], select="accuracy").fit(100 * X, labels)
    assert found.alpha_ == 1e-6
    assert RLSRegressor(alphas=[2.0, 1.0]).fit(X, np.zeros(40)).alpha_ == 2.0


def test_the_first_of_tied_answers_is_given(rng):
    scores = np.full((50, 3), 0.1)
    noisy = scores + rng.uniform(-NOISE, NOISE, scores.shape)
    assert not argmax_first(noisy).any()
    assert not decode(noisy, one_vs_all_code(3)).any()


def test_conformal_p_values_ignore_round_off(labels, tied, noisy):
    exact = ConformalPredictor.fit(tied, labels).p_values(tied)
    for scores in noisy:
        assert (ConformalPredictor.fit(scores, labels).p_values(noisy[0]) == exact).all()


def test_equal_figures_of_two_runs_are_ties_not_wins(rng):
    values = rng.uniform(0.5, 1, 10)
    found = effect(values, values + rng.uniform(-NOISE, NOISE, 10))
    assert (found.wins, found.losses, found.ties) == (0, 0, 10)


def test_close_scores_stay_together_wherever_they_lie():
    """Rounding to a grid would separate some of these pairs."""
    for value in np.linspace(0.1, 0.2, 1001):
        assert len(sort_ties([value, value + 2 * NOISE, 1.0])[1]) == 2


def test_scores_farther_apart_than_the_tolerance_are_not_tied():
    assert merge_ties([1.0, 1.0 - 2e-9]).tolist() == [1.0, 1.0 - 2e-9]
    assert merge_ties([1000.0, 1.0, 1.0 + 1e-7]).tolist() == [1000.0, 1.0, 1.0]
    assert merge_ties([]).tolist() == []


def test_merging_ties_of_a_matrix_is_merging_those_of_each_line(noisy):
    rows = np.array(noisy)
    assert (merge_ties(rows) == np.array([merge_ties(row) for row in rows])).all()
    assert (merge_ties(rows.T, axis=0) == merge_ties(rows).T).all()
    assert (merge_ties(merge_ties(rows)) == merge_ties(rows)).all()


def test_ranks_without_noise_are_those_of_scipy(tied):
    from scipy.stats import rankdata

    assert (rank_ties(tied) == rankdata(tied)).all()
    table = tied.reshape(50, 4)
    assert (rank_ties(table, axis=0) == rankdata(table, axis=0)).all()


def test_choices_among_qualities():
    assert choose_first([0.5, 0.9 - NOISE, 0.9, 0.9 + NOISE]) == 1
    assert choose_largest([0.9, 0.9 + NOISE, 0.5], [2.0, 1.0, 3.0]) == 0
    assert is_tied_with_best([np.nan, 0.2]).tolist() == [False, True]
    assert is_tied_with_best([-np.inf, -np.inf]).tolist() == [True, True]
    # Errors: round-off of zero is zero, but small errors that differ are kept apart.
    assert is_tied_with_best([-1e-30, -3e-31, -1e-12, -1.0]).tolist() == [True, True, False, False]
