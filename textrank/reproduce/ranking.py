"""RankRLS against RLS and RankSVM: few positives, queries, and the taste of single people."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from sklearn.metrics.pairwise import rbf_kernel

from textrank.docs import Targets
from textrank.learners.rankrls import RankRLS
from textrank.learners.ranksvm import RankSVM
from textrank.learners.rls import RLS
from textrank.learners.selection import qualities
from textrank.measures import auc, disagreement
from textrank.reproduce.data import (
    JESTER,
    MQ2008,
    OHSUMED,
    REUTERS,
    featured,
    frequent_topics,
    jester,
    letor_parts,
    modapte,
    signs,
    tfidf,
)
from textrank.reproduce.experiment import Cells, Experiment, Figure, Setting
from textrank.ties import choose_first
from textrank.types import Indices, Matrix, Vector

GRID = tuple(2.0 ** np.arange(-15, 15, 2))
TOPICS, TRAINED, DRAWS = 25, 500, 2
CHOOSING = 25  # people by whom width and alpha are chosen
Part = tuple[Matrix, Vector, Indices]


def reuters_auc(setting: Setting) -> Cells:
    """AUC of each topic, learned from 500 articles drawn several times."""
    found = modapte(setting.file(REUTERS))
    topics = frequent_topics(found, TOPICS)
    rng = np.random.default_rng(setting.seed)
    values: dict[str, dict[str, list[float]]] = {}
    for _ in range(10 if setting.full else DRAWS):
        order = rng.permutation(len(found))
        train, test = ([found[i] for i in part] for part in np.split(order, [TRAINED]))
        X, new = tfidf([_words(a) for a in train], [_words(a) for a in test])
        for topic in topics:
            y, gold = signs(train, topic), signs(test, topic)
            if (y > 0).sum() > 1:
                row = values.setdefault(topic, {})
                for name, coef in _rankers(X, y):
                    row.setdefault(name, []).append(auc(gold, np.asarray(new @ coef)) or 0.0)
    return _figures(values)


def letor(setting: Setting) -> Cells:
    """Disagreement over test queries: three parts train, one chooses alpha, one tests."""
    values: dict[str, dict[str, list[float]]] = {}
    for name, file in {"OHSUMED": OHSUMED, "MQ2008": MQ2008}.items():
        parts = letor_parts(setting.file(file))
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


def jokes(setting: Setting) -> Cells:
    """Disagreement over the jokes that a person did not train with, by ratings of 300 others."""
    ratings = jester(setting.file(JESTER))
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
    yield "RankSVM", machine.fit(featured(X), ten).coef


def _query_weights(X: Matrix, y: Vector, query: Indices) -> Iterator[tuple[str, Matrix]]:
    targets, F = Targets(y, query, query), featured(X)
    yield "RankRLS", RankRLS(alphas=GRID, ties=False).coefs(F, targets)
    yield "RankRLS, all pairs", RankRLS(alphas=GRID).coefs(F, targets)
    products, pull = X.T @ X, X.T @ (y - y.mean())
    yield "RLS", np.stack([np.linalg.solve(products + a * np.eye(len(pull)), pull) for a in GRID])
    yield "RankSVM", RankSVM(alphas=(10.0, 100.0, 1000.0), iterations=100).coefs(X, y, query)


def _agreements(part: Part, W: Matrix) -> Vector:
    X, y, query = part
    usable = np.isin(query, [q for q in np.unique(query) if np.ptp(y[query == q]) > 0])
    targets = Targets(y[usable], query[usable], query[usable])
    return qualities(W @ X[usable].T, targets, "disagreement")


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
    return {row: {c: Figure.of(v) for c, v in own.items()} for row, own in values.items()}


TABLES = (
    Experiment("reuters-auc", reuters_auc, files=(REUTERS,)),
    Experiment("letor", letor, files=(OHSUMED, MQ2008)),
    Experiment("jester", jokes, files=(JESTER,)),
)
