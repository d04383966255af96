"""Ranking: RankRLS against RLS and RankSVM, estimates of AUC, and speed of hold-out shortcuts."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any

import numpy as np
import scipy.linalg as sla
import scipy.sparse as sp
from sklearn.metrics.pairwise import rbf_kernel

from textrank.candidates import PreferenceGraph, Targets
from textrank.evaluation.cross_validation import leave_pair_out_auc
from textrank.features import Indices, Matrix, Vector
from textrank.learners.base import rows_by_group, score_alphas
from textrank.learners.rankrls import RankRLS
from textrank.learners.ranksvm import LabelPairs, RankSVM
from textrank.learners.reduced import ReducedCoordinates, ReducedRLS, SparseRLS
from textrank.learners.rls import RLS, leave_out
from textrank.metrics import auc, choose_first, choose_largest, disagreement
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

ALPHAS = tuple(2.0 ** np.arange(-15, 15, 2))
GLOBAL_ALPHAS = tuple(2.0 ** np.arange(-5, 25, 2))  # there are more pairs, by two or three orders
SVM_ALPHAS = tuple(10.0 ** np.arange(1, 6))  # of sums over about 10^5 pairs
TOPIC_COUNT, TRAINING_ARTICLES, DRAW_COUNT = 25, 500, 2
VALIDATION_PEOPLE = 25  # by whose ratings width and alpha are chosen
Part = tuple[Matrix, Vector, Indices]


# Ranking ------------------------------------------------------------------------------------------


def run_reuters_auc(settings: RunSettings) -> Cells:
    """Compute the AUC of each topic, trained on 500 articles drawn several times.

    One row per topic, one column per method. The rest of the articles is the test set. Draws with
    fewer than two positive training articles of a topic are left out of its row.
    """
    articles = read_modapte_articles(settings.file(REUTERS))
    topics = most_frequent_topics(articles, TOPIC_COUNT)
    rng = np.random.default_rng(settings.seed)
    values: dict[str, dict[str, list[float]]] = {}
    for _ in range(10 if settings.full else DRAW_COUNT):
        order = rng.permutation(len(articles))
        train, test = ([articles[i] for i in part] for part in np.split(order, [TRAINING_ARTICLES]))
        X, new = fit_tfidf([_article_text(a) for a in train], [_article_text(a) for a in test])
        for topic in topics:
            y, gold = topic_labels(train, topic), topic_labels(test, topic)
            if (y > 0).sum() > 1:
                row = values.setdefault(topic, {})
                for name, coef in _iter_rankers(X, y):
                    row.setdefault(name, []).append(auc(gold, np.asarray(new @ coef)) or 0.0)
    return _to_figures(values)


def run_letor(settings: RunSettings) -> Cells:
    """Compute the disagreement on test queries; of five parts one chooses alpha and one tests.

    The other three train. One row per method, one column per collection; mean over the five
    rotations of the parts. OHSUMED is reduced to two grades, 2 against 0 and 1.
    """
    values: dict[str, dict[str, list[float]]] = {}
    for name, file in {"OHSUMED": OHSUMED, "MQ2008": MQ2008}.items():
        parts = read_letor_parts(settings.file(file))
        if name == "OHSUMED":  # the paper has two grades only
            parts = [(X, np.where(y == 2, 1.0, 0.0), query) for X, y, query in parts]
        for fold in range(5):
            order = (
                np.roll(np.arange(5), -fold) if name == "OHSUMED" else np.roll(range(5), 1 - fold)
            )
            test, validation = parts[order[0]], parts[order[-1]]
            X, y, query = _concat_parts([parts[k] for k in order[1:-1]])
            for method, alphas, W in _iter_query_rankers(X, y, query):
                best = choose_largest(_query_agreements(validation, W), alphas)
                error = 1 - float(_query_agreements(test, W[best : best + 1])[0])
                values.setdefault(method, {}).setdefault(name, []).append(error)
    return _to_figures(values)


def run_jester(settings: RunSettings) -> Cells:
    """Compute the disagreement on unseen jokes of a person, whose kernel uses 300 other people.

    One row per method; columns are the ranges of how many jokes those 300 people have rated. Kernel
    and alpha are chosen on ``VALIDATION_PEOPLE`` and errors measured on 60 other people, 300 in the
    full version.
    """
    ratings = read_jester(settings.file(JESTER))
    rating_counts = np.isfinite(ratings).sum(axis=1)
    groups = {"20–40": (20, 40), "40–60": (40, 60), "60–80": (60, 80), "all sizes": (0, 100)}
    values: dict[str, dict[str, list[float]]] = {}
    for column, (low, high) in groups.items():
        rng = np.random.default_rng(settings.seed)
        reference = rng.choice(
            np.flatnonzero((rating_counts > low) & (rating_counts <= high)), 300, replace=False
        )
        others = np.setdiff1d(np.arange(len(ratings)), reference)
        people = rng.choice(
            others, (300 if settings.full else 60) + VALIDATION_PEOPLE, replace=False
        )
        grams = _joke_grams(ratings[reference])
        tests = [_split_ratings(ratings[p], rng) for p in people]
        for method, learner in _make_learners().items():
            kernel, alpha = _choose_kernel_and_alpha(learner, grams, tests[:VALIDATION_PEOPLE])
            errors = [
                _disagreements(learner(alphas=[alpha]), grams[kernel], t)[0]
                for t in tests[VALIDATION_PEOPLE:]
            ]
            values.setdefault(method, {})[column] = [float(np.mean(errors))]
    return _to_figures(values)


def _iter_rankers(X: Any, y: Vector) -> Iterator[tuple[str, Vector]]:
    """Iterate over methods and their word weights, alpha chosen by AUC of held-out articles.

    ``X`` is sparse with one row per article, ``y`` has labels 1 and -1; each weight vector has one
    entry per word.
    """
    K = np.asarray((X @ X.T).toarray())
    targets = Targets(y, np.arange(len(y)), np.zeros(len(y), dtype=np.intp))
    learners: Mapping[str, Any] = {
        "RankRLS": RankRLS(alphas=ALPHAS, scope="global", select="auc"),
        "RLS": RLS(alphas=ALPHAS, select="auc"),
    }
    for name, learner in learners.items():
        yield name, X.T @ learner.fit(K, targets).coef
    ten_groups = Targets(y, np.arange(len(y)) % 10, targets.queries)
    svm = RankSVM((0.1, 1.0, 10.0), "auc", folds=3, tolerance=1e-5, loss="squared_hinge")
    yield "RankSVM", svm.fit(to_features(X), ten_groups).coef


def _iter_query_rankers(
    X: Matrix, y: Vector, query: Indices
) -> Iterator[tuple[str, tuple[float, ...], Matrix]]:
    """Iterate over methods, their alphas, and their weights at each, shape (alphas, features).

    ``X`` has one row per document, ``y`` its relevance and ``query`` the number of its query. The
    number of alphas differs between methods.
    """
    targets, F = Targets(y, query, query), to_features(X)
    yield "RankRLS", ALPHAS, RankRLS(alphas=ALPHAS, ties=False).coefs(F, targets)
    everything = RankRLS(alphas=GLOBAL_ALPHAS, scope="global")  # pairs of different queries too
    yield "RankRLS, all pairs", GLOBAL_ALPHAS, everything.coefs(F, targets)
    products, pull = X.T @ X, X.T @ (y - y.mean())
    weights = [np.linalg.solve(products + a * np.eye(len(pull)), pull) for a in ALPHAS]
    yield "RLS", ALPHAS, np.stack(weights)
    yield "RankSVM", SVM_ALPHAS, RankSVM(alphas=SVM_ALPHAS).coefs(X, y, query)


def _query_agreements(part: Part, W: Matrix) -> Vector:
    """Return one minus the disagreement of each row of ``W``, shape (alphas,).

    ``W`` has weights of shape (alphas, features). Queries whose documents all have one grade are
    left out.
    """
    X, y, query = part
    usable = np.isin(query, [q for q in np.unique(query) if np.ptp(y[query == q]) > 0])
    targets = Targets(y[usable], query[usable], query[usable])
    return score_alphas(W @ X[usable].T, targets, "disagreement")


def _concat_parts(parts: list[Part]) -> tuple[Matrix, Vector, Indices]:
    """Concatenate parts in order; queries are renumbered from 0, so that those of two parts differ.

    At least one part is needed.
    """
    X, y, _ = (np.concatenate(arrays) for arrays in zip(*parts, strict=True))
    names = [(number, q) for number, part in enumerate(parts) for q in part[2]]
    return X, y, np.unique(names, axis=0, return_inverse=True)[1].ravel()


def _make_learners() -> Mapping[str, Any]:
    """Return functions from alphas to a learner, by method, in the order of the table.

    The functions must be called with the keyword ``alphas``. Methods are RankRLS with the costs
    sign, magnitude and bound (formulas 20, 21 and 22 of the paper) without ties, RankSVM and RLS.
    """

    def ranker(cost: str) -> Any:
        """Return a function from alphas to RankRLS with this cost."""
        return lambda alphas: RankRLS(alphas=alphas, cost=cost, ties=False)  # type: ignore[arg-type]

    return {
        "RankRLS (20)": ranker("sign"),
        "RankRLS (21)": ranker("magnitude"),
        "RankRLS (22)": ranker("bound"),
        "RankSVM": lambda alphas: RankSVM(alphas),
        "RLS": lambda alphas: RLS(alphas=alphas, select="squared_error"),
    }


def _joke_grams(reference: Matrix) -> list[Matrix]:
    """Return Gaussian Gram matrices of the jokes, one per width, shape (jokes, jokes).

    A joke is represented by the ratings of the reference users, the rows of ``reference``; a
    missing rating (NaN) counts as the median of its user.
    """
    median = np.nanmedian(reference, axis=1, keepdims=True)
    X = np.where(np.isfinite(reference), reference, median).T
    return [rbf_kernel(X, gamma=2.0**g) for g in (-14, -12)]


def _split_ratings(row: Vector, rng: np.random.Generator) -> tuple[Indices, Indices, Vector]:
    """Return two random halves of a person's rated jokes, and all ratings (``row`` itself).

    The halves are joke numbers in random order; unrated jokes (NaN) are in neither. Of an odd
    number the second half is larger. ``rng`` is advanced.
    """
    rated = rng.permutation(np.flatnonzero(np.isfinite(row)))
    half = len(rated) // 2
    return rated[:half], rated[half:], row


def _choose_kernel_and_alpha(
    learner: Any, grams: list[Matrix], tests: list[Any]
) -> tuple[int, float]:
    """Return the kernel index and alpha with the least mean error on validation people.

    ``learner`` is a function of ``_make_learners``; ``tests`` are values of ``_split_ratings``.
    Of equally good settings the first kernel and then the largest alpha are taken.
    """
    alphas = tuple(2.0 ** np.arange(-6, 10, 3))
    errors = [
        np.mean([_disagreements(learner(alphas=alphas), K, t) for t in tests], axis=0)
        for K in grams
    ]
    best_per_kernel = -np.min(errors, axis=1)
    kernel = choose_first(best_per_kernel)
    return kernel, alphas[choose_largest(-np.asarray(errors[kernel]), alphas)]


def _disagreements(learner: Any, K: Matrix, person: tuple[Indices, Indices, Vector]) -> list[float]:
    """Return the disagreement on the test half of a person's jokes at every alpha of the learner.

    ``K`` is a Gram matrix of all jokes; ``person`` is a value of ``_split_ratings``: train half,
    test half, ratings. ``learner`` is an RLS, trained on centred ratings, a RankSVM, trained on
    a Cholesky root of the Gram matrix, or has ``coefs(K, targets)``, as RankRLS. An undefined
    disagreement counts as 0.
    """
    train, test, row = person
    one_group = np.zeros(len(train), dtype=np.intp)
    train_gram = K[np.ix_(train, train)]
    centred = row[train] - row[train].mean()
    if isinstance(learner, RLS):
        coefs = learner.path(train_gram, Targets(centred, np.arange(len(train)), one_group)).coefs
    elif isinstance(learner, RankSVM):
        root = np.linalg.cholesky(train_gram + 1e-9 * np.eye(len(train_gram)))
        coefs = np.linalg.solve(root.T, learner.coefs(root, row[train], one_group).T).T
    else:
        coefs = learner.coefs(train_gram, Targets(row[train], one_group, one_group))
    scores = K[np.ix_(test, train)] @ coefs.T
    return [disagreement(row[test], s) or 0.0 for s in scores.T]


def _article_text(article: Any) -> str:
    """Return title and text of an article."""
    return f"{article.title} {article.text}"


def _to_figures(values: Mapping[str, Mapping[str, list[float]]]) -> Cells:
    """Return the mean and standard deviation of the values of each cell, by row and column.

    The spread of a single value is None.
    """
    return {
        row: {c: Figure.from_values(v) for c, v in columns.items()}
        for row, columns in values.items()
    }


RANKING_EXPERIMENTS = (
    Experiment("reuters-auc", run_reuters_auc, files=(REUTERS,)),
    Experiment("letor", run_letor, files=(OHSUMED, MQ2008)),
    Experiment("jester", run_jester, files=(JESTER,), revision=2),
)
# Estimates of AUC, and speed ----------------------------------------------------------------------

SAMPLE_SIZE, FEATURE_COUNT = 30, 10
CONSTANT_FEATURE = 3.0  # acts as a bias term, which pooling over folds mixes up
SMALL_ALPHA = 1e-3  # where held-out candidates in the basis do most harm
LEVEL_CANDIDATES, LEVEL_REPEATS = 80_000, 9
ITEM_COUNT, PREFERENCE_COUNT = 80, 1000
SAMPLE_CASES = {  # positives among thirty, distance of the classes
    "no signal, half positive": (15, 0.0),
    "no signal, a tenth positive": (3, 0.0),
    "signal, half positive": (15, 0.8),
    "signal, a tenth positive": (3, 0.8),
}


def run_auc_estimates(settings: RunSettings) -> Cells:
    """Compute the error of estimates of AUC, with the truth measured on 2000 new candidates.

    One row per entry of ``SAMPLE_CASES``, one column per estimate: mean and standard deviation of
    estimate minus truth over random samples (300, or 2000 in the full version). Needs no data file.
    """
    rng = np.random.default_rng(settings.seed)
    cells: dict[str, dict[str, Figure]] = {}
    for case, (positives, distance) in SAMPLE_CASES.items():
        errors: dict[str, list[float]] = {}
        for _ in range(2000 if settings.full else 300):
            y = np.where(np.arange(SAMPLE_SIZE) < positives, 1.0, -1.0)
            X = _draw_sample(y, distance, rng)
            gold = np.where(np.arange(2000) < 2000 * positives // SAMPLE_SIZE, 1.0, -1.0)
            w = np.linalg.solve(X.T @ X + np.eye(FEATURE_COUNT + 1), X.T @ y)
            truth = auc(gold, _draw_sample(gold, distance, rng) @ w) or 0.0
            for name, value in _estimate_auc(X @ X.T, y, rng).items():
                errors.setdefault(name, []).append(value - truth)
        cells[case] = {name: Figure.from_values(values) for name, values in errors.items()}
    return cells


def run_scaling(settings: RunSettings) -> Cells:
    """Compute the training time of RankRLS and RankSVM with a Gaussian kernel, topic acq.

    Rows are 200 to 2000 random articles (4000 in the full version), cells processor seconds of one
    run at alpha 1; a last row is linear RankRLS on all articles.
    """
    all_articles = read_modapte_articles(settings.file(REUTERS))
    order = np.random.default_rng(settings.seed).permutation(len(all_articles))
    articles = [all_articles[i] for i in order]
    texts = [f"{a.title} {a.text}" for a in articles]
    X, _ = fit_tfidf(texts, texts[:1])
    y = topic_labels(articles, "acq")
    cells: dict[str, dict[str, Figure]] = {}
    for size in (200, 500, 1000, 2000, *((4000,) if settings.full else ())):
        K, one_query = rbf_kernel(X[:size], gamma=1.0), np.zeros(size, dtype=np.intp)
        targets = Targets(y[:size], one_query, one_query)
        cells[str(size)] = {
            "RankRLS": _measure_seconds(partial(RankRLS(alphas=[1.0]).coefs, K, targets))[0],
            "RankSVM": _measure_seconds(partial(_fit_ranksvm, K, targets))[0],
        }
    linear = SparseRLS(alphas=[1.0], rank="global")
    one_group = np.zeros(len(y), dtype=np.intp)
    seconds, _ = _measure_seconds(partial(linear.coefs, sp.csr_array(X), y, one_group))
    cells[f"{len(y)}, linear"] = {"RankRLS by conjugate gradient": seconds}
    return cells


def run_reduced_set(settings: RunSettings) -> Cells:
    """Compute the time of hold-out by shortcut and by retraining, and the error of a kept basis.

    One row per size of the basis; cells are processor seconds, or mean squared errors over ten
    folds. Uses queries below number 120 of MQ2008, 1000 in the full version. Raises AssertionError
    if shortcut and retraining give different scores (beyond 1e-3).
    """
    X, y, queries = read_letor_parts(settings.file(MQ2008))[0]
    keep = queries < (1000 if settings.full else 120)
    X, y, queries = X[keep], y[keep], queries[keep]
    K = rbf_kernel(X, gamma=1.0)
    cells: dict[str, dict[str, Figure]] = {}
    for size in (150, 300, 598, *((1181,) if settings.full else ())):
        row: dict[str, Figure] = {}
        learner = ReducedRLS(size=size, seed=settings.seed)
        basis = learner.sample_basis(Targets(y, queries, queries))
        for split, groups in {"leave-query-out": queries, "10 folds": queries % 10}.items():
            fast, shortcut_scores = _measure_seconds(
                partial(_holdout_by_shortcut, K, Targets(y, groups, queries), basis)
            )
            slow, retrained_scores = _measure_seconds(
                partial(_holdout_by_retraining, K, y, basis, groups)
            )
            row |= {f"shortcut, {split}": fast, f"retraining, {split}": slow}
            np.testing.assert_allclose(shortcut_scores, retrained_scores, rtol=1e-3, atol=1e-3)
        row["error, basis removed"] = Figure(float(((retrained_scores - y) ** 2).mean()))
        biased_scores = _holdout_with_full_basis(K, y, basis, queries % 10)
        row["error, basis kept"] = Figure(float(((biased_scores - y) ** 2).mean()))
        cells[str(size)] = row
    return cells


def _draw_sample(y: Vector, distance: float, rng: np.random.Generator) -> Matrix:
    """Return normal features, of which the first separates the classes and the last is constant.

    The shape is (len(y), FEATURE_COUNT + 1). ``distance * y`` is added to the first feature, with
    labels 1 and -1; ``distance`` 0 means no signal. ``rng`` is advanced.
    """
    X = rng.standard_normal((len(y), FEATURE_COUNT + 1))
    X[:, 0] += distance * y
    X[:, -1] = CONSTANT_FEATURE
    return X


def run_ranksvm_levels(settings: RunSettings) -> Cells:
    """Compute milliseconds of one evaluation of RankSVM's loss by the number of different labels.

    Rows are numbers of labels of 80 000 candidates with random scores, columns the losses "hinge"
    and "squared hinge"; cells are medians of ``LEVEL_REPEATS`` calls. Needs no data file.
    """
    rng = np.random.default_rng(settings.seed)
    scores, one_query = 2 * rng.normal(size=LEVEL_CANDIDATES), np.zeros(LEVEL_CANDIDATES, np.intp)
    cells: dict[str, dict[str, Figure]] = {}
    for levels in (2, 5, 50, 1000, 50_000):
        labels = rng.integers(0, levels, LEVEL_CANDIDATES).astype(np.float64)
        pairs = LabelPairs.from_labels(labels, one_query)
        row = cells.setdefault(str(levels), {})
        for name, loss in (("hinge", pairs.hinge), ("squared hinge", pairs.squared_hinge)):
            loss(scores)  # the first call prepares the labels
            seconds = []
            for _ in range(LEVEL_REPEATS):
                start = time.process_time()
                loss(scores)
                seconds.append(time.process_time() - start)
            row[name] = Figure(round(1000 * float(np.median(seconds)), 1))
    return cells


def run_preference_holdout(settings: RunSettings) -> Cells:
    """Compute the share of held-out preferences in the right order, by what is held out.

    Rows: preferences that follow from the features, and noise. Columns: single preferences held
    out, items with all their preferences, both items of each preference, and new items, which are
    the truth. Mean over random samples (10, or 50 in the full version). Needs no data file.
    """
    rng = np.random.default_rng(settings.seed)
    values: dict[str, dict[str, list[float]]] = {}
    for row, signal in {"noise": 0.0, "signal": 1.0}.items():
        for _ in range(50 if settings.full else 10):
            X = rng.standard_normal((2 * ITEM_COUNT, 5))
            hidden = signal * X[:, 0] + rng.standard_normal(len(X))
            K = rbf_kernel(X, gamma=0.1)
            for name, share in _holdout_shares(K, hidden, rng).items():
                values.setdefault(row, {}).setdefault(name, []).append(share)
    return _to_figures(values)


def _holdout_shares(K: Matrix, hidden: Vector, rng: np.random.Generator) -> dict[str, float]:
    """Return the share of preferences in the right order by what was held out.

    ``K`` (2 n, 2 n) is the kernel of n compared items and n new ones; of two items the one with the
    larger value in ``hidden`` (2 n,) is preferred. Alpha is 1. Keys: "single preferences", "items",
    "both items" and "new items". PREFERENCE_COUNT preferences are drawn with ``rng``, which is
    advanced; ties count as wrong.
    """
    n = len(K) // 2
    pairs = np.array([rng.choice(n, 2, replace=False) for _ in range(PREFERENCE_COUNT)])
    is_first = hidden[pairs[:, 0]] > hidden[pairs[:, 1]]
    graph = PreferenceGraph(np.where(is_first[:, None], pairs, pairs[:, ::-1]), np.ones(len(pairs)))
    learner = RankRLS(alphas=[1.0])
    targets = Targets(np.zeros(n), np.arange(n), np.arange(n), preferences=graph)
    inside = K[:n, :n]
    path = learner.path(inside, targets)
    better, worse = graph.pairs.T
    differences = inside[better] - inside[worse]
    products = differences[:, better] - differences[:, worse]
    single = leave_out(
        products, np.ones((len(pairs), 1)), list(np.arange(len(pairs))[:, None]), alphas=[1.0]
    )
    new = K[n:, :n] @ path.coefs[0]
    others = np.array([rng.choice(n, 2, replace=False) for _ in range(PREFERENCE_COUNT)])
    right = np.sign(new[others[:, 0]] - new[others[:, 1]]) * np.sign(
        hidden[n + others[:, 0]] - hidden[n + others[:, 1]]
    )
    return {
        "single preferences": float(np.mean([scores[0, 0, 0] > 0 for scores in single])),
        "items": float(np.mean(path.heldout[0, better] > path.heldout[0, worse])),
        "both items": float(np.mean(learner.leave_both_out(inside, targets, 1.0) > 0)),
        "new items": float(np.mean(right > 0)),
    }


def _estimate_auc(K: Matrix, y: Vector, rng: np.random.Generator) -> dict[str, float]:
    """Return four cross-validation estimates of the AUC of RLS with alpha 1, by name.

    ``K`` is the Gram matrix of a sample, ``y`` its labels, 1 and -1. Five folds are stratified and
    drawn with ``rng``; folds with a single class are left out of the average. The names are
    "leave-pair-out", "averaged fivefold", "pooled fivefold" and "pooled leave-one-out".
    """
    folds = np.empty(len(y), dtype=np.intp)
    for label in (-1.0, 1.0):  # stratified
        rows = rng.permutation(np.flatnonzero(y == label))
        folds[rows] = np.arange(len(rows)) % 5
    fold_rows = [np.flatnonzero(folds == fold) for fold in range(5)]
    fold_scores = [part[0, :, 0] for part in leave_out(K, y[:, None], fold_rows, alphas=[1.0])]
    pooled = np.empty(len(y))
    for rows, part in zip(fold_rows, fold_scores, strict=True):
        pooled[rows] = part
    leave_one_out = leave_out(K, y[:, None], list(np.arange(len(y))[:, None]), alphas=[1.0])
    fold_auc = [auc(y[rows], part) for rows, part in zip(fold_rows, fold_scores, strict=True)]
    defined = [value for value in fold_auc if value is not None]
    return {
        "leave-pair-out": float(leave_pair_out_auc(K, y, alphas=[1.0])[0]),
        "averaged fivefold": float(np.mean(defined)),
        "pooled fivefold": auc(y, pooled) or 0.0,
        "pooled leave-one-out": auc(y, np.array([s[0, 0, 0] for s in leave_one_out])) or 0.0,
    }


def _fit_ranksvm(K: Matrix, targets: Targets) -> Matrix:
    """Return the weights of RankSVM in the rows of the Cholesky factor of ``K``, shape (1, n).

    ``K`` is an n x n Gram matrix. The weights are not converted to coefficients of candidates: only
    the time of the fit is of interest.
    """
    root = np.linalg.cholesky(K + 1e-8 * np.eye(len(K)))
    svm = RankSVM(alphas=[1.0], tolerance=1e-4, loss="squared_hinge")
    return svm.coefs(root, targets.y, targets.queries)


def _holdout_by_shortcut(K: Matrix, targets: Targets, basis: Indices) -> Vector:
    """Return held-out scores of reduced-set RLS, computed without retraining, shape (n,).

    ``K`` is the n x n Gram matrix; ``basis`` are the rows used as basis vectors; each group of
    ``targets.groups`` is held out together with its basis vectors. Alpha is ``SMALL_ALPHA``.
    """
    learner = ReducedRLS(size=len(basis), alphas=[SMALL_ALPHA], select="squared_error")
    return learner.path_on_basis(K[:, basis], basis, targets)[1][0]


def _holdout_by_retraining(K: Matrix, y: Vector, basis: Indices, groups: Indices) -> Vector:
    """Return held-out scores, shape (n,), by solving once per group.

    Each group is scored by a model without its candidates and without its basis vectors. ``K`` (n,
    n) is the Gram matrix, ``y`` (n,) labels, ``basis`` rows used as basis vectors and ``groups``
    (n,) the group of each candidate. Alpha is ``SMALL_ALPHA``.
    """
    held_out = np.empty(len(y))
    for group in rows_by_group(groups, len(y), name="groups"):
        rest, remaining_basis = np.setdiff1d(np.arange(len(y)), group), np.setdiff1d(basis, group)
        A = K[np.ix_(rest, remaining_basis)]
        M = A.T @ A + SMALL_ALPHA * K[np.ix_(remaining_basis, remaining_basis)]
        M.flat[:: len(remaining_basis) + 1] += 1e-10  # equal candidates in the basis
        b = sla.solve(M, A.T @ y[rest], assume_a="pos")
        held_out[group] = K[np.ix_(group, remaining_basis)] @ b
    return held_out


def _holdout_with_full_basis(K: Matrix, y: Vector, basis: Indices, groups: Indices) -> Vector:
    """Return held-out scores with held-out candidates left in the basis, which biases them, (n,).

    ``K`` (n, n) is the Gram matrix, ``y`` (n,) labels, ``basis`` rows used as basis vectors and
    ``groups`` (n,) the group of each candidate. Alpha is ``SMALL_ALPHA``.
    """
    F = ReducedCoordinates.from_columns(K[:, basis], basis).H
    held_out = np.empty(len(y))
    for group in rows_by_group(groups, len(y), name="groups"):
        rest = np.setdiff1d(np.arange(len(y)), group)
        M = F[rest].T @ F[rest] + SMALL_ALPHA * np.eye(F.shape[1])
        held_out[group] = F[group] @ np.linalg.solve(M, F[rest].T @ y[rest])
    return held_out


def _measure_seconds(run: Callable[[], Matrix]) -> tuple[Figure, Matrix]:
    """Return the processor time of one call, in seconds rounded to milliseconds, and its result."""
    start = time.process_time()
    result = run()
    return Figure(round(time.process_time() - start, 3)), result


ESTIMATE_EXPERIMENTS = (
    Experiment("auc-estimates", run_auc_estimates),
    Experiment("preference-holdout", run_preference_holdout),
    Experiment("ranksvm-levels", run_ranksvm_levels),
    Experiment("scaling", run_scaling, files=(REUTERS,)),
    Experiment("reduced-set", run_reduced_set, files=(MQ2008,)),
)
