"""RankRLS against RLS and RankSVM: few positives, queries, and the taste of single people."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any

import numpy as np
import scipy.linalg as sla
import scipy.sparse as sp
from sklearn.metrics.pairwise import rbf_kernel

from textrank.candidates import Targets
from textrank.evaluation.leave_pair_out import leave_pair_out_auc
from textrank.features import Indices, Matrix, Vector
from textrank.learners.base import rows_by_group, score_alphas
from textrank.learners.rankrls import RankRLS
from textrank.learners.ranksvm import RankSVM
from textrank.learners.reduced import ReducedCoordinates, ReducedRLS
from textrank.learners.rls import RLS, leave_out
from textrank.learners.sparse import SparseRLS
from textrank.metrics import auc, choose_first, disagreement
from textrank.reproduce.base import (
    JESTER,
    MQ2008,
    OHSUMED,
    REUTERS,
    Cells,
    Experiment,
    Figure,
    RunSettings,
    fit_tfidf,
    most_frequent_topics,
    read_jester,
    read_letor_parts,
    read_modapte_articles,
    to_features,
    topic_labels,
)

GRID = tuple(2.0 ** np.arange(-15, 15, 2))
TOPICS, TRAINED, DRAWS = 25, 500, 2
CHOOSING = 25  # people by whom width and alpha are chosen
Part = tuple[Matrix, Vector, Indices]


def reuters_auc(setting: RunSettings) -> Cells:
    """AUC of each topic, learned from 500 articles drawn several times."""
    found = read_modapte_articles(setting.file(REUTERS))
    topics = most_frequent_topics(found, TOPICS)
    rng = np.random.default_rng(setting.seed)
    values: dict[str, dict[str, list[float]]] = {}
    for _ in range(10 if setting.full else DRAWS):
        order = rng.permutation(len(found))
        train, test = ([found[i] for i in part] for part in np.split(order, [TRAINED]))
        X, new = fit_tfidf([_words(a) for a in train], [_words(a) for a in test])
        for topic in topics:
            y, gold = topic_labels(train, topic), topic_labels(test, topic)
            if (y > 0).sum() > 1:
                row = values.setdefault(topic, {})
                for name, coef in _rankers(X, y):
                    row.setdefault(name, []).append(auc(gold, np.asarray(new @ coef)) or 0.0)
    return _figures(values)


def letor(setting: RunSettings) -> Cells:
    """Disagreement over test queries: three parts train, one chooses alpha, one tests."""
    values: dict[str, dict[str, list[float]]] = {}
    for name, file in {"OHSUMED": OHSUMED, "MQ2008": MQ2008}.items():
        parts = read_letor_parts(setting.file(file))
        if name == "OHSUMED":  # the source knows relevant and not
            parts = [(X, np.where(y == 2, 1.0, 0.0), query) for X, y, query in parts]
        for fold in range(5):
            order = (
                np.roll(np.arange(5), -fold) if name == "OHSUMED" else np.roll(range(5), 1 - fold)
            )
            test, validation = parts[order[0]], parts[order[-1]]
            X, y, query = _joined([parts[k] for k in order[1:-1]])
            for method, W in _query_weights(X, y, query):
                best = choose_first(_agreements(validation, W))
                error = 1 - float(_agreements(test, W[best : best + 1])[0])
                values.setdefault(method, {}).setdefault(name, []).append(error)
    return _figures(values)


def jokes(setting: RunSettings) -> Cells:
    """Disagreement over the jokes that a person did not train with, by ratings of 300 others."""
    ratings = read_jester(setting.file(JESTER))
    given = np.isfinite(ratings).sum(axis=1)
    groups = {"20–40": (20, 40), "40–60": (40, 60), "60–80": (60, 80), "all sizes": (0, 100)}
    values: dict[str, dict[str, list[float]]] = {}
    for column, (low, high) in groups.items():
        rng = np.random.default_rng(setting.seed)
        reference = rng.choice(np.flatnonzero((given > low) & (given <= high)), 300, replace=False)
        others = np.setdiff1d(np.arange(len(ratings)), reference)
        people = rng.choice(others, (300 if setting.full else 60) + CHOOSING, replace=False)
        grams = _jokes(ratings[reference])
        tests = [_person(ratings[p], rng) for p in people]
        for method, learner in _tastes().items():
            chosen, alpha = _chosen(learner, grams, tests[:CHOOSING])
            errors = [
                _taste(learner(alphas=[alpha]), grams[chosen], t)[0] for t in tests[CHOOSING:]
            ]
            values.setdefault(method, {})[column] = [float(np.mean(errors))]
    return _figures(values)


def _rankers(X: Any, y: Vector) -> Iterator[tuple[str, Vector]]:
    """Weights of words by each method, alpha by AUC of held-out articles."""
    K = np.asarray((X @ X.T).toarray())
    targets = Targets(y, np.arange(len(y)), np.zeros(len(y), dtype=np.intp))
    learners: Mapping[str, Any] = {
        "RankRLS": RankRLS(alphas=GRID, scope="global", select="auc"),
        "RLS": RLS(alphas=GRID, select="auc"),
    }
    for name, learner in learners.items():
        yield name, X.T @ learner.fit(K, targets).coef
    ten = Targets(y, np.arange(len(y)) % 10, targets.queries)
    machine = RankSVM(alphas=(0.1, 1.0, 10.0), select="auc", folds=3, tolerance=1e-5)
    yield "RankSVM", machine.fit(to_features(X), ten).coef


def _query_weights(X: Matrix, y: Vector, query: Indices) -> Iterator[tuple[str, Matrix]]:
    targets, F = Targets(y, query, query), to_features(X)
    yield "RankRLS", RankRLS(alphas=GRID, ties=False).coefs(F, targets)
    yield "RankRLS, all pairs", RankRLS(alphas=GRID).coefs(F, targets)
    products, pull = X.T @ X, X.T @ (y - y.mean())
    yield "RLS", np.stack([np.linalg.solve(products + a * np.eye(len(pull)), pull) for a in GRID])
    yield "RankSVM", RankSVM(alphas=(10.0, 100.0, 1000.0), iterations=100).coefs(X, y, query)


def _agreements(part: Part, W: Matrix) -> Vector:
    X, y, query = part
    usable = np.isin(query, [q for q in np.unique(query) if np.ptp(y[query == q]) > 0])
    targets = Targets(y[usable], query[usable], query[usable])
    return score_alphas(W @ X[usable].T, targets, "disagreement")


def _joined(parts: list[Part]) -> tuple[Matrix, Vector, Indices]:
    X, y, _ = (np.concatenate(own) for own in zip(*parts, strict=True))
    names = [(number, q) for number, part in enumerate(parts) for q in part[2]]
    return X, y, np.unique(names, axis=0, return_inverse=True)[1].ravel()


def _tastes() -> Mapping[str, Any]:
    def ranker(cost: str) -> Any:
        return lambda alphas: RankRLS(alphas=alphas, cost=cost, ties=False)  # type: ignore[arg-type]

    return {
        "RankRLS (20)": ranker("sign"),
        "RankRLS (21)": ranker("magnitude"),
        "RankRLS (22)": ranker("bound"),
        "RankSVM": lambda alphas: RankSVM(alphas=alphas, iterations=50),
        "RLS": lambda alphas: RLS(alphas=alphas, select="squared_error"),
    }


def _jokes(reference: Matrix) -> list[Matrix]:
    """Kernels of the hundred jokes, each seen as what the reference users think of it."""
    median = np.nanmedian(reference, axis=1, keepdims=True)
    X = np.where(np.isfinite(reference), reference, median).T
    return [rbf_kernel(X, gamma=2.0**g) for g in (-14, -12)]


def _person(row: Vector, rng: np.random.Generator) -> tuple[Indices, Indices, Vector]:
    rated = rng.permutation(np.flatnonzero(np.isfinite(row)))
    half = len(rated) // 2
    return rated[:half], rated[half:], row


def _chosen(learner: Any, grams: list[Matrix], tests: list[Any]) -> tuple[int, float]:
    """The kernel and alpha with the least mean error of people who are not tested."""
    alphas = tuple(2.0 ** np.arange(-6, 10, 3))
    errors = [np.mean([_taste(learner(alphas=alphas), K, t) for t in tests], axis=0) for K in grams]
    kernel, alpha = np.unravel_index(choose_first(-np.ravel(errors)), np.shape(errors))
    return int(kernel), alphas[alpha]


def _taste(learner: Any, K: Matrix, person: tuple[Indices, Indices, Vector]) -> list[float]:
    """Disagreement on the unseen half of a person's jokes, at every alpha."""
    train, test, row = person
    one = np.zeros(len(train), dtype=np.intp)
    own = K[np.ix_(train, train)]
    centred = row[train] - row[train].mean()
    if isinstance(learner, RLS):
        coefs = learner.path(own, Targets(centred, np.arange(len(train)), one)).coefs
    elif isinstance(learner, RankSVM):
        root = np.linalg.cholesky(own + 1e-9 * np.eye(len(own)))
        coefs = np.linalg.solve(root.T, learner.coefs(root, row[train], one).T).T
    else:
        coefs = learner.coefs(own, Targets(row[train], one, one))
    scores = K[np.ix_(test, train)] @ coefs.T
    return [disagreement(row[test], s) or 0.0 for s in scores.T]


def _words(article: Any) -> str:
    return f"{article.title} {article.text}"


def _figures(values: Mapping[str, Mapping[str, list[float]]]) -> Cells:
    return {row: {c: Figure.from_values(v) for c, v in own.items()} for row, own in values.items()}


TABLES = (
    Experiment("reuters-auc", reuters_auc, files=(REUTERS,)),
    Experiment("letor", letor, files=(OHSUMED, MQ2008)),
    Experiment("jester", jokes, files=(JESTER,)),
)
SIZE, WIDTH = 30, 10
CONSTANT = 3.0  # a feature that all have, so that models have a level; it is what pooling mixes
ALPHA = 1e-3  # small, where kept basis vectors do most harm
CASES = {  # how many of thirty are positive, and how far apart the classes are
    "no signal, half positive": (15, 0.0),
    "no signal, a tenth positive": (3, 0.0),
    "signal, half positive": (15, 0.8),
    "signal, a tenth positive": (3, 0.8),
}


def auc_estimates(setting: RunSettings) -> Cells:
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
        cells[case] = {name: Figure.from_values(values) for name, values in errors.items()}
    return cells


def scaling(setting: RunSettings) -> Cells:
    """Seconds of training RankRLS and RankSVM with a Gaussian kernel on the topic acq."""
    found = read_modapte_articles(setting.file(REUTERS))
    order = np.random.default_rng(setting.seed).permutation(len(found))
    chosen = [found[i] for i in order]
    texts = [f"{a.title} {a.text}" for a in chosen]
    X, _ = fit_tfidf(texts, texts[:1])
    y = topic_labels(chosen, "acq")
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


def reduced_set(setting: RunSettings) -> Cells:
    """Seconds of hold-out by shortcut and by retraining, and what kept basis vectors do."""
    X, y, queries = read_letor_parts(setting.file(MQ2008))[0]
    keep = queries < (1000 if setting.full else 120)
    X, y, queries = X[keep], y[keep], queries[keep]
    K = rbf_kernel(X, gamma=1.0)
    cells: dict[str, dict[str, Figure]] = {}
    for size in (150, 300, 598, *((1181,) if setting.full else ())):
        row: dict[str, Figure] = {}
        learner = ReducedRLS(size=size, seed=setting.seed)
        basis = learner.sample_basis(Targets(y, queries, queries))
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
    for group in rows_by_group(groups, len(y), name="groups"):
        rest, own = np.setdiff1d(np.arange(len(y)), group), np.setdiff1d(basis, group)
        A = K[np.ix_(rest, own)]
        M = A.T @ A + ALPHA * K[np.ix_(own, own)]
        M.flat[:: len(own) + 1] += 1e-10  # equal candidates in the basis
        b = sla.solve(M, A.T @ y[rest], assume_a="pos")
        held[group] = K[np.ix_(group, own)] @ b
    return held


def _kept_basis(K: Matrix, y: Vector, basis: Indices, groups: Indices) -> Vector:
    """The same with held-out candidates left in the basis, as must not be done."""
    F = ReducedCoordinates.from_columns(K[:, basis], basis).H
    held = np.empty(len(y))
    for group in rows_by_group(groups, len(y), name="groups"):
        rest = np.setdiff1d(np.arange(len(y)), group)
        M = F[rest].T @ F[rest] + ALPHA * np.eye(F.shape[1])
        held[group] = F[group] @ np.linalg.solve(M, F[rest].T @ y[rest])
    return held


def _timed(run: Callable[[], Matrix]) -> tuple[Figure, Matrix]:
    start = time.process_time()
    found = run()
    return Figure(round(time.process_time() - start, 3)), found


ESTIMATES_TABLES = (
    Experiment("auc-estimates", auc_estimates),
    Experiment("scaling", scaling, files=(REUTERS,)),
    Experiment("reduced-set", reduced_set, files=(MQ2008,)),
)
