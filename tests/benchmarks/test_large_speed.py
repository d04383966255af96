"""Reduced sets, conjugate gradient and RankSVM, each in the unit that bounds it from below."""

from __future__ import annotations

import resource
import time

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.svm import LinearSVC

from tests.benchmarks.ratios import gaussian, labels, measure, table
from textrank.candidates import PreferenceGraph, Targets
from textrank.learners.base import rows_by_group
from textrank.learners.rankrls import QueryCentring, RankRLS
from textrank.learners.ranksvm import LabelPairs, RankSVM, _Problem
from textrank.learners.reduced import ReducedCoordinates, heldout_without_basis
from textrank.linalg import solve_krylov_path

pytestmark = [pytest.mark.benchmark, pytest.mark.slow]

GRID = 2.0 ** np.arange(-15, 15)


def test_reduced_set_at_8000():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((8000, 50))
    basis = np.sort(rng.choice(8000, 500, replace=False))
    square = (X * X).sum(axis=1)
    columns = np.exp(-(square[:, None] + square[basis] - 2 * X @ X[basis].T).clip(min=0) / 100)
    y = (np.tanh(X[:, 0]) + 0.3 * rng.standard_normal(8000))[:, None]
    groups = rows_by_group(labels(8000, 5), 8000)
    F = ReducedCoordinates.from_columns(columns, basis).H

    def unit():
        return np.linalg.eigh(F.T @ F)

    def path():
        reduced = ReducedCoordinates.from_columns(columns, basis)
        return reduced.to_coefs(reduced.diagonalize(y).solve(GRID))

    def leave_out(remove):
        reduced = ReducedCoordinates.from_columns(columns, basis)
        problem = reduced.diagonalize(y)
        removed = reduced.basis_by_group(groups)
        kept = removed if remove else [positions[:0] for positions in removed]
        return heldout_without_basis(problem, kept, GRID, groups)

    name = "F'F and eigh(500)"
    table(
        "reduced set, 8000 candidates, 500 in the basis, 30 alphas",
        measure(
            {
                name: unit,
                "path": path,
                "leave-group-out (5), basis kept": lambda: leave_out(False),
                "leave-group-out (5), basis removed": lambda: leave_out(True),
            }
        ),
        name,
        {
            "path": 5.0,
            "leave-group-out (5), basis kept": 10.0,
            "leave-group-out (5), basis removed": 14.0,
        },
    )


def text(n: int, words: int = 20_000, length: int = 46, seed: int = 0):
    """Sparse rows with Zipf-distributed words, and answers that a few words decide."""
    rng = np.random.default_rng(seed)
    share = 1.0 / np.arange(1, words + 1)
    column = rng.choice(words, n * length, p=share / share.sum())
    row = np.repeat(np.arange(n), length)
    X = sp.csr_array((np.ones(n * length), (row, column)), shape=(n, words))
    X.sum_duplicates()
    X = sp.csr_array(sp.diags_array(1 / np.sqrt(X.multiply(X).sum(axis=1))) @ X)
    return X, X @ rng.standard_normal(words) + 0.1 * rng.standard_normal(n)


def test_conjugate_gradient_at_32000():
    X, y = text(32_000)
    laplacian = QueryCentring(labels(32_000, 20), normalised=True).laplacian()
    steps = count_iterations(X, y, laplacian)

    def products():
        T = sp.csr_array(X.T)
        q = np.ones(X.shape[1])
        for _ in range(steps):
            q = T @ (X @ q)
            q /= np.abs(q).max()

    def path(alphas):
        return solve_krylov_path(X, y, alphas, laplacian=laplacian)

    alone, many = np.array([0.1]), 0.1 * 2.0 ** np.arange(0, 25)
    name = f"its {steps} x 2 sparse products"
    table(
        "RankRLS by conjugate gradient, 32 000 sparse rows, queries of 20",
        measure(
            {name: products, "smallest alpha": lambda: path(alone), "25 alphas": lambda: path(many)}
        ),
        name,
        {"smallest alpha": 1.6, "25 alphas": 3.2},
    )


def count_iterations(X, y, laplacian):
    calls = []

    def counted(u):
        calls.append(1)
        return laplacian(u)

    solve_krylov_path(X, y, np.array([0.1]), laplacian=counted)
    return len(calls) - 1


def test_a_million_sparse_rows():
    rng = np.random.default_rng(0)
    n, d, each = 1_000_000, 100_000, 20
    indices = rng.integers(0, d, n * each, dtype=np.int32)
    X = sp.csr_array((np.ones(n * each), indices, np.arange(0, n * each + 1, each)), shape=(n, d))
    y = X @ rng.standard_normal(d) + rng.standard_normal(n)
    start = time.process_time()
    solve_krylov_path(X, y, 2.0 ** np.arange(0, 10))
    seconds = time.process_time() - start
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    print(
        f"\n1 000 000 x 100 000, 20 non-zeros a row, 10 alphas: {seconds:.0f} s CPU, {peak:.1f} GB"
    )
    assert peak < 4


def test_ranksvm_against_explicit_pairs_and_its_growth():
    rng = np.random.default_rng(0)

    def problem(n):
        X = rng.standard_normal((n, 30))
        return X, np.round(5 * (X @ rng.standard_normal(30) / 5 + rng.standard_normal(n)))

    X, y = problem(2000)
    i, j = np.nonzero(y[:, None] > y[None, :])
    D, sign = X[i] - X[j], np.where(np.arange(len(i)) % 2, 1, -1)
    D *= sign[:, None]
    alpha = 100.0
    start = time.process_time()
    theirs = LinearSVC(C=0.5 / alpha, fit_intercept=False, dual=False, tol=1e-6).fit(D, sign)
    slow = time.process_time() - start
    del D
    quick = []
    for _ in range(5):
        start = time.process_time()
        svm = RankSVM(alphas=[alpha], loss="squared_hinge")
        ours = svm.coefs(X, y, np.zeros(2000, int))[0]
        quick.append(time.process_time() - start)
    inner = _Problem(X, X.T, LabelPairs.from_labels(y, np.zeros(2000, int)))
    best, found = (inner.squared_loss(w, alpha)[0] for w in (theirs.coef_[0], ours))
    ratio = slow / np.median(quick)
    print(f"\nRankSVM, 2000 candidates, {len(i)} pairs: LinearSVC takes {ratio:.0f} times as long;")
    print(f"objective over theirs: {found / best - 1:+.1e}")

    sizes, times = (4000, 16000, 64000), []
    for n in sizes:
        X, y = problem(n)
        start = time.process_time()
        svm = RankSVM(alphas=[alpha * n / 2000], loss="squared_hinge")
        svm.coefs(X, y, np.zeros(n, int))
        times.append(time.process_time() - start)
    slope = np.polyfit(np.log(sizes), np.log(times), 1)[0]
    print(f"growth from 4000 to 64 000: exponent {slope:.2f}")
    assert found <= best * (1 + 1e-6)
    assert ratio > 100
    assert slope < 1.3


def test_a_ranksvm_step_hardly_depends_on_the_number_of_levels():
    """One step of the bundle method: scores, loss, subgradient, and its product with the data."""
    rng = np.random.default_rng(0)
    n, d, each = 80_000, 20_000, 100
    indices = rng.integers(0, d, n * each, dtype=np.int32)
    X = sp.csr_array((np.ones(n * each), indices, np.arange(0, n * each + 1, each)), shape=(n, d))
    T, w = sp.csr_array(X.T), rng.standard_normal(d) / 10
    steps = {}
    for levels in (2, 50, 1000, 50_000):
        y = rng.integers(0, levels, n).astype(float)
        pairs = LabelPairs.from_labels(y, np.zeros(n, dtype=np.intp))
        pairs.hinge(np.zeros(n))  # prepares the levels

        def step(pairs=pairs):
            T @ pairs.hinge(X @ w)[1]

        steps[f"{levels} levels"] = step
    title = "RankSVM step, 80 000 candidates with 100 non-zeros each"
    table(title, measure(steps, repeats=15), "2 levels", {"50000 levels": 2.0})


def test_preferences_cost_as_much_as_scored_candidates():
    n, alphas = 1200, tuple(2.0 ** np.arange(-5, 5))
    K, y = gaussian(n)
    rng = np.random.default_rng(0)
    pairs = rng.integers(0, n, (20 * n, 2))
    pairs = pairs[pairs[:, 0] != pairs[:, 1]]
    pairs = np.where((y[pairs[:, 0]] > y[pairs[:, 1]])[:, None], pairs, pairs[:, ::-1])
    graph = PreferenceGraph(pairs, np.abs(y[pairs[:, 0]] - y[pairs[:, 1]]))
    one = np.zeros(n, dtype=np.intp)
    scored, compared = Targets(y, one, one), Targets(y, one, one, preferences=graph)
    learner = RankRLS(alphas=alphas)
    candidates = {
        "scored candidates": lambda: learner.coefs(K, scored),
        f"{len(graph)} preferences": lambda: learner.coefs(K, compared),
    }
    title = f"RankRLS, {n} candidates, {len(alphas)} alphas"
    bars = {f"{len(graph)} preferences": 1.2}
    table(title, measure(candidates, repeats=15), "scored candidates", bars)


def test_a_reduced_set_makes_kernel_ranksvm_cheap():
    n = 1500
    K, y = gaussian(n)
    query = np.zeros(n, dtype=np.intp)
    targets = Targets(y, np.arange(n) % 5, query)
    whole, reduced = (RankSVM(alphas=[30.0 * n], size=size) for size in (None, 150))
    candidates = {
        "all candidates": lambda: whole.path(K, targets),
        "basis of 150": lambda: reduced.path(K, targets),
    }
    title = "Kernel RankSVM with 5 folds"
    table(title, measure(candidates, repeats=3), "all candidates", {"basis of 150": 0.3})
