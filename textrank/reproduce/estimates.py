"""How cross-validation estimates AUC, and what fast hold-out costs."""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial

import numpy as np
import scipy.linalg as sla
import scipy.sparse as sp
from sklearn.metrics.pairwise import rbf_kernel

from textrank.docs import Targets
from textrank.learners.cg import SparseRLS
from textrank.learners.checks import groups_of
from textrank.learners.pairs import leave_pair_out_auc
from textrank.learners.rankrls import RankRLS
from textrank.learners.ranksvm import RankSVM
from textrank.learners.reduced import Reduced, ReducedRLS
from textrank.learners.rls import leave_out
from textrank.measures import auc
from textrank.reproduce.data import MQ2008, REUTERS, letor_parts, modapte, signs, tfidf
from textrank.reproduce.experiment import Cells, Experiment, Figure, Setting
from textrank.types import Indices, Matrix, Vector

SIZE, WIDTH = 30, 10
CONSTANT = 3.0  # a feature that all have, so that models have a level; it is what pooling mixes
ALPHA = 1e-3  # small, where kept basis vectors do most harm
CASES = {  # how many of thirty are positive, and how far apart the classes are
    "no signal, half positive": (15, 0.0),
    "no signal, a tenth positive": (3, 0.0),
    "signal, half positive": (15, 0.8),
    "signal, a tenth positive": (3, 0.8),
}


def auc_estimates(setting: Setting) -> Cells:
    """Mean and spread of estimate less truth, the truth measured on 2000 new candidates."""
    rng = np.random.default_rng(setting.seed)
    cells: dict[str, dict[str, Figure]] = {}
    for case, (positives, distance) in CASES.items():
        errors: dict[str, list[float]] = {}
        for _ in range(2000 if setting.full else 300):
            y = np.where(np.arange(SIZE) < positives, 1.0, -1.0)
            X = _drawn(y, distance, rng)
            gold = np.where(np.arange(2000) < 2000 * positives // SIZE, 1.0, -1.0)
            w = np.linalg.solve(X.T @ X + np.eye(WIDTH + 1), X.T @ y)
            truth = auc(gold, _drawn(gold, distance, rng) @ w) or 0.0
            for name, value in _estimates(X @ X.T, y, rng).items():
                errors.setdefault(name, []).append(value - truth)
        cells[case] = {name: Figure.of(values) for name, values in errors.items()}
    return cells


def scaling(setting: Setting) -> Cells:
    """Seconds of training RankRLS and RankSVM with a Gaussian kernel on the topic acq."""
    found = modapte(setting.file(REUTERS))
    order = np.random.default_rng(setting.seed).permutation(len(found))
    chosen = [found[i] for i in order]
    texts = [f"{a.title} {a.text}" for a in chosen]
    X, _ = tfidf(texts, texts[:1])
    y = signs(chosen, "acq")
    cells: dict[str, dict[str, Figure]] = {}
    for size in (200, 500, 1000, 2000, *((4000,) if setting.full else ())):
        K, one = rbf_kernel(X[:size], gamma=1.0), np.zeros(size, dtype=np.intp)
        targets = Targets(y[:size], one, one)
        cells[str(size)] = {
            "RankRLS": _timed(partial(RankRLS(alphas=[1.0]).coefs, K, targets))[0],
            "RankSVM": _timed(partial(_machine, K, targets))[0],
        }
    linear = SparseRLS(alphas=[1.0], rank="global")
    every = np.zeros(len(y), dtype=np.intp)
    seconds, _ = _timed(partial(linear.coefs, sp.csr_array(X), y, every))
    cells[f"{len(y)}, linear"] = {"RankRLS by conjugate gradient": seconds}
    return cells


def reduced_set(setting: Setting) -> Cells:
    """Seconds of hold-out by shortcut and by retraining, and what kept basis vectors do."""
    X, y, queries = letor_parts(setting.file(MQ2008))[0]
    keep = queries < (1000 if setting.full else 120)
    X, y, queries = X[keep], y[keep], queries[keep]
    K = rbf_kernel(X, gamma=1.0)
    cells: dict[str, dict[str, Figure]] = {}
    for size in (150, 300, 598, *((1181,) if setting.full else ())):
        row: dict[str, Figure] = {}
        basis = ReducedRLS(size=size, seed=setting.seed).basis(None, queries)
        for split, groups in {"leave-query-out": queries, "10 folds": queries % 10}.items():
            fast, short = _timed(partial(_shortcut, K, Targets(y, groups, queries), basis))
            slow, held = _timed(partial(_retrained, K, y, basis, groups))
            row |= {f"shortcut, {split}": fast, f"retraining, {split}": slow}
            np.testing.assert_allclose(short, held, rtol=1e-3, atol=1e-3)
        row["error, basis removed"] = Figure(float(((held - y) ** 2).mean()))
        kept = _kept_basis(K, y, basis, queries % 10)
        row["error, basis kept"] = Figure(float(((kept - y) ** 2).mean()))
        cells[str(size)] = row
    return cells


def _drawn(y: Vector, distance: float, rng: np.random.Generator) -> Matrix:
    """Normal features, of which the first tells the classes apart."""
    X = rng.standard_normal((len(y), WIDTH + 1))
    X[:, 0] += distance * y
    X[:, -1] = CONSTANT
    return X


def _estimates(K: Matrix, y: Vector, rng: np.random.Generator) -> dict[str, float]:
    folds = np.empty(len(y), dtype=np.intp)
    for label in (-1.0, 1.0):  # each class dealt out evenly
        rows = rng.permutation(np.flatnonzero(y == label))
        folds[rows] = np.arange(len(rows)) % 5
    five = [np.flatnonzero(folds == fold) for fold in range(5)]
    parts = [part[0, :, 0] for part in leave_out(K, y[:, None], five, alphas=[1.0])]
    pooled = np.empty(len(y))
    for rows, part in zip(five, parts, strict=True):
        pooled[rows] = part
    singly = leave_out(K, y[:, None], list(np.arange(len(y))[:, None]), alphas=[1.0])
    each = [auc(y[rows], part) for rows, part in zip(five, parts, strict=True)]
    defined = [value for value in each if value is not None]
    return {
        "leave-pair-out": float(leave_pair_out_auc(K, y, alphas=[1.0])[0]),
        "averaged fivefold": float(np.mean(defined)),
        "pooled fivefold": auc(y, pooled) or 0.0,
        "pooled leave-one-out": auc(y, np.array([s[0, 0, 0] for s in singly])) or 0.0,
    }


def _machine(K: Matrix, targets: Targets) -> Matrix:
    root = np.linalg.cholesky(K + 1e-8 * np.eye(len(K)))
    return RankSVM(alphas=[1.0], tolerance=1e-4).coefs(root, targets.y, targets.queries)


def _shortcut(K: Matrix, targets: Targets, basis: Indices) -> Vector:
    learner = ReducedRLS(size=len(basis), alphas=[ALPHA], select="squared_error")
    return learner.path_on_basis(K[:, basis], basis, targets)[1][0]


def _retrained(K: Matrix, y: Vector, basis: Indices, groups: Indices) -> Vector:
    """Every group scored by a model made without it and without its basis vectors."""
    held = np.empty(len(y))
    for group in groups_of(groups, len(y), name="groups"):
        rest, own = np.setdiff1d(np.arange(len(y)), group), np.setdiff1d(basis, group)
        A = K[np.ix_(rest, own)]
        M = A.T @ A + ALPHA * K[np.ix_(own, own)]
        M.flat[:: len(own) + 1] += 1e-10  # equal candidates in the basis
        b = sla.solve(M, A.T @ y[rest], assume_a="pos")
        held[group] = K[np.ix_(group, own)] @ b
    return held


def _kept_basis(K: Matrix, y: Vector, basis: Indices, groups: Indices) -> Vector:
    """The same with held-out candidates left in the basis, as must not be done."""
    F = Reduced.of(K[:, basis], basis).H
    held = np.empty(len(y))
    for group in groups_of(groups, len(y), name="groups"):
        rest = np.setdiff1d(np.arange(len(y)), group)
        M = F[rest].T @ F[rest] + ALPHA * np.eye(F.shape[1])
        held[group] = F[group] @ np.linalg.solve(M, F[rest].T @ y[rest])
    return held


def _timed(run: Callable[[], Matrix]) -> tuple[Figure, Matrix]:
    start = time.process_time()
    found = run()
    return Figure(round(time.process_time() - start, 3)), found


TABLES = (
    Experiment("auc-estimates", auc_estimates),
    Experiment("scaling", scaling, files=(REUTERS,)),
    Experiment("reduced-set", reduced_set, files=(MQ2008,)),
)
