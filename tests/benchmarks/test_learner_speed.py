"""RLS, RankRLS and leave-pair-out in units of one eigendecomposition of the same size."""

from __future__ import annotations

import numpy as np
import pytest

from tests.benchmarks.ratios import gaussian, labels, measure, table
from textrank.candidates import Targets
from textrank.evaluation.cross_validation import leave_pair_out_auc
from textrank.learners.base import rows_by_group
from textrank.learners.rankrls import RankRLS
from textrank.learners.rls import rls_coefs, rls_path

pytestmark = [pytest.mark.benchmark, pytest.mark.slow]

GRID = 2.0 ** np.arange(-15, 15)
EIGH = "one eigh"


def leave_out(K, y, groups, alphas):
    return rls_path(K, y[:, None], alphas, rows_by_group(groups, len(y)), dual=True)


def test_rls_at_2000():
    K, y = gaussian(2000)
    alone, fives, twenties = np.arange(2000), labels(2000, 5), labels(2000, 20)
    table(
        "RLS, 2000 candidates",
        measure(
            {
                EIGH: lambda: np.linalg.eigh(K),
                "path of 30 alphas": lambda: rls_coefs(K, y[:, None], GRID, dual=True),
                "leave-one-out, 30 alphas": lambda: leave_out(K, y, alone, GRID),
                "leave-one-out, 1 alpha": lambda: leave_out(K, y, alone, GRID[15:16]),
                "leave-group-out (20), 1 alpha": lambda: leave_out(K, y, twenties, GRID[15:16]),
                "leave-group-out (5), 30 alphas": lambda: leave_out(K, y, fives, GRID),
                "leave-group-out (20), 30 alphas": lambda: leave_out(K, y, twenties, GRID),
            }
        ),
        EIGH,
        {
            "path of 30 alphas": 0.75,
            "leave-one-out, 30 alphas": 1.25,
            "leave-one-out, 1 alpha": 0.25,
            "leave-group-out (20), 1 alpha": 0.25,
            "leave-group-out (5), 30 alphas": 1.5,
            "leave-group-out (20), 30 alphas": 1.7,
        },
    )


def test_rls_at_500():
    K, y = gaussian(500)
    fives = labels(500, 5)
    name = "leave-group-out (5), 30 alphas"
    candidates = {EIGH: lambda: np.linalg.eigh(K), name: lambda: leave_out(K, y, fives, GRID)}
    table("RLS, 500 candidates", measure(candidates), EIGH, {name: 2.0})


def test_leave_pair_out_at_1000():
    K, y = gaussian(1000)
    labels01 = np.where(y > np.quantile(y, 0.7), 1.0, -1.0)
    name = "leave-pair-out AUC, 3 alphas"
    candidates = {
        EIGH: lambda: np.linalg.eigh(K),
        name: lambda: leave_pair_out_auc(K, labels01, alphas=[0.1, 1.0, 10.0]),
    }
    table("leave-pair-out, 1000 candidates, 30 % positive", measure(candidates), EIGH, {name: 1.5})


def test_leave_pair_out_with_25_outputs(rng):
    K, y = gaussian(1000)
    drawn = y[:, None] + rng.standard_normal((1000, 25))
    Y = np.where(drawn > 0.5, 1.0, -1.0)
    one, many = "one output", "25 outputs"
    seconds = measure(
        {
            one: lambda: leave_pair_out_auc(K, Y[:, 0], alphas=[1.0]),
            many: lambda: leave_pair_out_auc(K, Y, alphas=[1.0]),
        }
    )
    table("leave-pair-out AUC, 1000 candidates", seconds, one, {many: 2.0})


@pytest.mark.parametrize("alphas", [GRID[15:16], GRID], ids=["1 alpha", "30 alphas"])
@pytest.mark.parametrize("size", [1, 5, 20])
def test_groups_held_out_with_25_outputs(size, alphas, rng):
    K, y = gaussian(1000)
    Y = y[:, None] + rng.standard_normal((1000, 25))
    groups = rows_by_group(np.arange(1000) if size == 1 else labels(1000, size), 1000)
    one, many = "one output", "25 outputs"
    seconds = measure(
        {
            one: lambda: rls_path(K, Y[:, :1], alphas, groups, dual=True),
            many: lambda: rls_path(K, Y, alphas, groups, dual=True),
        }
    )
    title = f"groups of {size} held out, {len(alphas)} alphas, 1000 candidates"
    table(title, seconds, one, {many: 2.0})


def test_leave_query_out_at_500():
    K, y = gaussian(500)
    learner, fives = RankRLS(alphas=GRID), labels(500, 5)
    name = "leave-query-out (5), 30 alphas"
    candidates = {
        EIGH: lambda: np.linalg.eigh(K),
        name: lambda: learner.path(K, Targets(y, fives, fives)),
    }
    table("RankRLS, 500 candidates", measure(candidates, 9), EIGH, {name: 1.6})


def test_rankrls_at_2000():
    K, y = gaussian(2000)
    learner = RankRLS(alphas=GRID)
    alone = np.zeros(2000, dtype=np.intp)  # one document: the path, and nothing held out
    fives, twenties = labels(2000, 5), labels(2000, 20)

    def path(queries):
        return learner.coefs(K, Targets(y, alone, queries))

    table(
        "RankRLS, 2000 candidates, 30 alphas",
        measure(
            {
                EIGH: lambda: np.linalg.eigh(K),
                "path, queries of 5": lambda: path(fives),
                "path, queries of 20": lambda: path(twenties),
                "leave-query-out (5)": lambda: learner.path(K, Targets(y, fives, fives)),
                "leave-query-out (20)": lambda: learner.path(K, Targets(y, twenties, twenties)),
            }
        ),
        EIGH,
        {
            "path, queries of 5": 1.35,
            "path, queries of 20": 1.35,
            "leave-query-out (5)": 1.6,
            "leave-query-out (20)": 1.6,
        },
    )


def test_rankrls_is_exact_at_the_ends_of_the_grid():
    K, y = gaussian(300)
    queries = labels(300, 5)
    ends = (GRID[0], GRID[-1])
    path = RankRLS(alphas=ends).path(K, Targets(y, queries, queries))
    C = np.eye(300) - (queries[:, None] == queries) / np.bincount(queries)[queries][:, None]
    size = np.bincount(queries)[queries]
    worst = 0.0
    for query in range(0, queries.max() + 1, 7):
        out, rest = queries == query, queries != query
        R = np.sqrt(size)[rest, None] * C[np.ix_(rest, rest)]
        for scores, alpha in zip(path.heldout, ends, strict=True):
            M = R @ K[np.ix_(rest, rest)] @ R + alpha * np.eye(rest.sum())
            a = R @ np.linalg.solve(M, R @ y[rest])
            worst = max(worst, float(np.abs(scores[out] - K[np.ix_(out, rest)] @ a).max()))
    print(f"\nleave-query-out against retraining at 2^-15 and 2^14: {worst:.1e}")
    assert worst < 1e-9
