"""Overlapping groups, pairs, and paths without eigenvectors, against training by hand."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.learners.problems import EXPONENTS, Problem, least_squares, problems
from tests.learners.test_rankrls import trained
from tests.learners.test_rls import GRID, features
from textrank.evaluation.cross_validation import leave_pair_out_auc, leave_pairs_out
from textrank.learners.rls import leave_out, rls_coefs


@given(problem=problems(), few=st.booleans(), dual=st.booleans(), weighted=st.booleans())
def test_overlapping_groups_equal_retraining(problem, few, dual, weighted):
    n = len(problem.y)
    rng = np.random.default_rng(n)
    groups = [rng.choice(n, size=size, replace=False) for size in (1, 3, 2, 3, 1)]
    alphas = GRID[::10] if few else GRID[::3]
    weights = 0.5 + np.abs(problem.y) if weighted else None
    Y = np.stack([problem.y, problem.y**2], axis=1)
    data = problem.K if dual else features(problem.F)
    scores = leave_out(data, Y, groups, alphas=alphas, weights=weights)
    for group, found in zip(groups, scores, strict=True):
        rest = np.setdiff1d(np.arange(n), group)
        kept = None if weights is None else weights[rest]
        for a, alpha in enumerate(alphas):
            for k in range(2):
                w = least_squares(problem.F[rest], Y[rest, k], alpha, kept)
                np.testing.assert_allclose(found[a, :, k], problem.F[group] @ w, atol=1e-8)


@given(problem=problems(largest=10), exponent=EXPONENTS, rank=st.booleans())
def test_leave_pairs_out_equals_retraining(problem, exponent, rank):
    n, alpha = len(problem.y), 2.0**exponent
    pairs = np.array(list(combinations(range(n), 2)))
    fast = leave_pairs_out(problem.K, problem.y, pairs, alphas=[alpha], rank=rank)[0]
    for pair, scores in zip(pairs, fast, strict=True):
        rest = np.setdiff1d(np.arange(n), pair)
        F, y = problem.F[rest], problem.y[rest]
        w = trained(F, y, rest * 0, alpha) if rank else least_squares(F, y, alpha)
        np.testing.assert_allclose(scores, problem.F[pair] @ w, atol=1e-8)


# Two equal candidates and few others: a bias taken from sums over the inverse was wrong by 2e-8.
TWINS = Problem(
    F=np.array(
        [
            [-0.07024269, -0.00239561, -0.70484987, -0.30708022],
            [-0.1154361, -1.15355181, 0.93561879, 0.12582245],
            [0.30191747, 1.29389713, 1.37747779, -0.28711756],
            [0.30191747, 1.29389713, 1.37747779, -0.28711756],
            [-0.55123617, 0.25985746, 0.9877726, 0.50418349],
            [0.28599344, -0.56273801, 0.47496961, 0.35605915],
        ]
    ),
    y=np.array([0.0, 2.0, 0.0, -1.0, 1.0, -2.0]),
    groups=np.arange(6),
)


def test_pairs_keep_their_digits():
    pairs = np.array(list(combinations(range(6), 2)))
    alpha = 2.0**-12
    fast = leave_pairs_out(TWINS.K, TWINS.y, pairs, alphas=[alpha], rank=True)[0]
    for pair, scores in zip(pairs, fast, strict=True):
        rest = np.setdiff1d(np.arange(6), pair)
        w = trained(TWINS.F[rest], TWINS.y[rest], rest * 0, alpha)
        np.testing.assert_allclose(scores, TWINS.F[pair] @ w, rtol=0, atol=1e-9)


@given(problem=problems(binary=True), exponent=st.integers(-8, 8), rank=st.booleans())
def test_leave_pair_out_auc_counts_the_pairs(problem, exponent, rank):
    pos, neg = np.flatnonzero(problem.y > 0), np.flatnonzero(problem.y < 0)
    pairs = np.array([(i, j) for i in pos for j in neg])
    alphas = [2.0**exponent]
    scores = leave_pairs_out(problem.K, problem.y, pairs, alphas=alphas, rank=rank)[0]
    gap = scores[:, 0] - scores[:, 1]
    value = leave_pair_out_auc(problem.K, problem.y, alphas=alphas, rank=rank)[0]
    sure = np.abs(gap) > 1e-9  # ties of duplicates are decided by round-off
    low = (gap[sure] > 0).sum() / len(gap)
    assert low - 1e-12 <= value <= low + (~sure).mean() + 1e-12


@given(problem=problems(largest=10, binary=True), rank=st.booleans())
def test_pairs_are_left_out_for_all_outputs_as_for_each(problem, rank):
    n, alphas = len(problem.y), [0.25, 4.0]
    Y = np.stack([problem.y, -problem.y, np.roll(problem.y, 1) * 1.5], axis=1)
    pairs = np.array(list(combinations(range(n), 2)))
    together = leave_pairs_out(problem.K, Y, pairs, alphas=alphas, rank=rank)
    for k, y in enumerate(Y.T):
        alone = leave_pairs_out(problem.K, y, pairs, alphas=alphas, rank=rank)
        np.testing.assert_allclose(together[..., k], alone, atol=1e-9)


@pytest.mark.parametrize("rank", [False, True])
def test_areas_of_all_outputs_are_those_of_each(rng, rank):
    F, Y = rng.standard_normal((40, 6)), rng.standard_normal((40, 3))
    Y[:, 0] = np.sign(Y[:, 0])  # two labels, and any
    areas = leave_pair_out_auc(F @ F.T, Y, alphas=[0.25, 4.0], rank=rank)
    for k, y in enumerate(Y.T):
        own = leave_pair_out_auc(F @ F.T, y, alphas=[0.25, 4.0], rank=rank)
        np.testing.assert_allclose(areas[:, k], own, atol=1e-12)


@given(problem=problems(smallest=2), many=st.booleans(), dual=st.booleans())
def test_paths_without_eigenvectors_solve_the_system(problem, many, dual):
    alphas = np.array(GRID if many else GRID[::12])
    Y = np.stack([problem.y, problem.y**2], axis=1)
    A = rls_coefs(problem.K if dual else problem.F, Y, alphas, dual=dual)
    for a, alpha in enumerate(alphas):
        for k in range(2):
            w = least_squares(problem.F, Y[:, k], alpha)
            np.testing.assert_allclose(problem.F.T @ A[a, :, k], w, atol=1e-8)


@pytest.mark.parametrize(
    ("groups", "message"),
    [
        ([[0, 9]], "row 9, beyond the last one, 2"),
        ([[0.5]], "row numbers"),
        ([[0], [1, 1]], "group 1 holds a row twice"),
    ],
)
def test_groups_must_be_rows(groups, message):
    with pytest.raises(ValueError, match=message):
        leave_out(np.eye(3), np.ones(3), [np.array(g) for g in groups], alphas=[1.0])


@pytest.mark.parametrize(
    ("pairs", "message"),
    [([[0, 5]], r"0 \.\. 2"), ([[1, 1]], "one row twice"), ([[0.0, 1.0]], "integer")],
)
def test_pairs_must_be_two_rows(pairs, message):
    with pytest.raises(ValueError, match=message):
        leave_pairs_out(np.eye(3), np.ones(3), np.array(pairs), alphas=[1.0])


def test_leave_pair_out_auc_needs_both_classes():
    with pytest.raises(ValueError, match="positive and negative labels, got 3 and 0"):
        leave_pair_out_auc(np.eye(3), np.ones(3), alphas=[1.0])
