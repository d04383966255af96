"""Tables on learning methods: ranking, and classification.

- Ranking: RankRLS against RLS and RankSVM, estimates of AUC, and the speed of hold-out shortcuts.
- Classification: RLS against other learners, a joint kernel against output codes, embeddings.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any

import numpy as np
import scipy.linalg as sla
import scipy.sparse as sp
from sklearn.decomposition import TruncatedSVD
from sklearn.ensemble import RandomForestClassifier
from sklearn.metrics import f1_score
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.model_selection import KFold, StratifiedKFold
from sklearn.naive_bayes import GaussianNB
from sklearn.svm import SVC, LinearSVC

from textrank.candidates import PreferenceGraph, Targets
from textrank.evaluation.cross_validation import leave_pair_out_auc
from textrank.features import Indices, Matrix, Vector
from textrank.formats.research import ReutersArticle
from textrank.learners.base import rows_by_group, score_alphas
from textrank.learners.multiclass import (
    G2P,
    all_pairs_code,
    binary_code,
    class_matrix,
    class_similarity,
    code_path,
    decode,
    joint_kernel_path,
    one_vs_all_code,
    random_code,
)
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
    SMALL_SETS,
    Cells,
    Experiment,
    Figure,
    RunSettings,
    Sample,
    fit_tfidf,
    independent_targets,
    most_frequent_topics,
    read_jester,
    read_letor_parts,
    read_modapte_articles,
    read_small_sets,
    to_features,
    topic_labels,
)

RANKING_ALPHAS = tuple(2.0 ** np.arange(-15, 15, 2))
GLOBAL_ALPHAS = tuple(2.0 ** np.arange(-5, 25, 2))  # there are more pairs, by two or three orders
SVM_ALPHAS = tuple(10.0 ** np.arange(1, 6))  # of sums over about 10^5 pairs
TOPIC_COUNT, TRAINING_ARTICLES, DRAW_COUNT = 25, 500, 2
VALIDATION_PEOPLE = 25  # by whose ratings width and alpha are chosen
Part = tuple[Matrix, Vector, Indices]


# Ranking ------------------------------------------------------------------------------------------


def run_reuters_auc(settings: RunSettings) -> Cells:
    """Compute the AUC of each topic, trained on 500 articles drawn several times.

    One row per topic of the ``TOPIC_COUNT`` most frequent, one column per method; mean and standard
    deviation over ``DRAW_COUNT`` draws (10 in the full version). The rest of the articles is the
    test set; an undefined AUC counts as 0. Draws with fewer than two positive training articles of
    a topic are left out of its row.
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
    and alpha are chosen on ``VALIDATION_PEOPLE`` people by their mean error; cells are the mean
    error, without spread, of 60 other people, 300 in the full version. Half of a person's rated
    jokes train, the other half is unseen.
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

    Methods are "RankRLS" and "RLS", with each article held out, and "RankSVM", by three folds.
    ``X`` is sparse with one row per article, ``y`` has labels 1 and -1; each weight vector has one
    entry per word.
    """
    K = np.asarray((X @ X.T).toarray())
    targets = Targets(y, np.arange(len(y)), np.zeros(len(y), dtype=np.intp))
    learners: Mapping[str, Any] = {
        "RankRLS": RankRLS(alphas=RANKING_ALPHAS, scope="global", select="auc"),
        "RLS": RLS(alphas=RANKING_ALPHAS, select="auc"),
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

    Methods are "RankRLS", "RankRLS, all pairs" (of different queries too), "RLS" (on centred
    labels) and "RankSVM". ``X`` has one row per document, ``y`` its relevance and ``query`` the
    number of its query. The number of alphas differs between methods.
    """
    targets, F = Targets(y, query, query), to_features(X)
    yield "RankRLS", RANKING_ALPHAS, RankRLS(alphas=RANKING_ALPHAS, ties=False).coefs(F, targets)
    everything = RankRLS(alphas=GLOBAL_ALPHAS, scope="global")  # pairs of different queries too
    yield "RankRLS, all pairs", GLOBAL_ALPHAS, everything.coefs(F, targets)
    products, pull = X.T @ X, X.T @ (y - y.mean())
    weights = [np.linalg.solve(products + a * np.eye(len(pull)), pull) for a in RANKING_ALPHAS]
    yield "RLS", RANKING_ALPHAS, np.stack(weights)
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
    """Return Gaussian Gram matrices of the jokes, (jokes, jokes), with gamma 2^-14 and 2^-12.

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
    run at alpha 1; a last row, "<number>, linear" with a column of its own, is linear RankRLS on
    all articles.
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
    drawn with ``rng``, which is advanced; folds with a single class are left out of the average.
    The names are "leave-pair-out", "averaged fivefold", "pooled fivefold" and "pooled
    leave-one-out".
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

MULTICLASS_ALPHAS = np.exp2(np.arange(-9.0, 4.0, 3.0))
RBF_WIDTHS = (0.03, 0.2, 1.0)  # gamma = width * 4 / features
MULTICLASS_SETS = ("dna", "iris", "vehicle", "vowel", "wine", "glass")
BINARY_SETS = ("australian", "diabetes", "fourclass", "ionosphere", "splice")


# Two and many classes -----------------------------------------------------------------------------


def run_multiclass(settings: RunSettings) -> Cells:
    """Compute error rates of the joint kernel, one-vs-all, all-pairs and random codes.

    One row per set of ``MULTICLASS_SETS``, one column per method: mean and standard deviation over
    five folds, ten in the full version. The set dna is subsampled unless full.
    """
    sets = read_small_sets(settings.file(SMALL_SETS))
    cells: dict[str, dict[str, Figure]] = {}
    for name in MULTICLASS_SETS:
        X, y = _subsample(sets[name], settings) if name == "dna" else sets[name]
        classes = np.unique(y, return_inverse=True)[1]
        errors: dict[str, list[float]] = {}
        for train, test in _folds(classes, settings):
            K, K_test = _rbf_grams(X[train], X[test])
            for method, predict in MULTICLASS_METHODS.items():
                decided = predict(K, K_test, classes[train])
                errors.setdefault(method, []).append(float((decided != classes[test]).mean()))
        cells[name] = {method: Figure.from_values(values) for method, values in errors.items()}
    return cells


def run_two_classes(settings: RunSettings) -> Cells:
    """Compute the AUC of RLS, SVM, naive Bayes and random forest on binary data sets.

    One row per set of ``BINARY_SETS``, one column per method, mean and standard deviation over five
    folds, ten in the full version; an undefined AUC counts as 0.
    """
    sets = read_small_sets(settings.file(SMALL_SETS))
    cells: dict[str, dict[str, Figure]] = {}
    for name in BINARY_SETS:
        X, labels = sets[name]
        y = np.where(labels > 0, 1.0, -1.0)
        values_by_method: dict[str, list[float]] = {}
        for train, test in _folds((y > 0).astype(np.intp), settings):
            for method, scores in _iter_binary_scores(X[train], X[test], y[train], settings.seed):
                values_by_method.setdefault(method, []).append(auc(y[test], scores) or 0.0)
        cells[name] = {
            method: Figure.from_values(values) for method, values in values_by_method.items()
        }
    return cells


def predict_joint_kernel(
    K: list[Matrix], new: list[Matrix], classes: Indices, code: Callable[[int], Matrix] = np.eye
) -> Indices:
    """Predict classes with the joint kernel, a Gaussian of input and encoded class.

    Parameters
    ----------
    K, new
        Gram matrices of the training data, shape (n, n), and of test against training data, shape
        (m, n), one per width of the input kernel.
    classes
        Class numbers of the training data, from 0; the largest one sets the number of classes.
    code
        Function from the number of classes to their codes, one row each. With one-hot codes, the
        default, all classes are equally similar, and the decisions are those of one-vs-all.

    Returns
    -------
    Class numbers of the test data, shape (m,). The widths of both Gaussians (1 or 3 for the
    classes) and alpha are chosen by leave-one-out accuracy on the training data; ties go to the
    first widths and the largest alpha.
    """
    codes = code(int(classes.max()) + 1)
    groups = list(np.arange(len(classes))[:, None])
    best, predicted = -1.0, classes
    for width in (1.0, 3.0):
        M = class_similarity(codes, width)
        for gram, gram_test in zip(K, new, strict=True):
            A, heldout = joint_kernel_path(
                gram, one_vs_all_code(len(codes))[classes], M, MULTICLASS_ALPHAS, groups
            )
            accuracy = (heldout.argmax(axis=2) == classes).mean(axis=1)
            if accuracy.max() > best:
                best, predicted = (
                    accuracy.max(),
                    (gram_test @ A[choose_largest(accuracy, MULTICLASS_ALPHAS)]).argmax(axis=1),
                )
    return predicted


def make_code_predictor(
    code: Callable[[int], Matrix],
) -> Callable[[list[Matrix], list[Matrix], Indices], Indices]:
    """Return a predictor, with the arguments of ``predict_joint_kernel``, that uses an output code.

    ``code(number of classes)`` returns the code matrix, one row per class. The predictor ``(K, new,
    classes)`` takes training and test Gram matrices, one pair per width, and training classes.
    Width and alpha are chosen by leave-one-out accuracy, ties go to the first width and the largest
    alpha; predictions are decoded by loss.
    """

    def run(K: list[Matrix], new: list[Matrix], classes: Indices) -> Indices:
        """Return the class numbers (m,) of the test data.

        ``K`` are Gram matrices (n, n) of the training data, one per width, ``new`` (m, n) those of
        the test data with them, ``classes`` (n,) class numbers from 0.
        """
        bits = code(int(classes.max()) + 1)
        groups = list(np.arange(len(classes))[:, None])
        best, predicted = -1.0, classes
        for gram, gram_test in zip(K, new, strict=True):
            A, heldout = code_path(gram, classes, bits, MULTICLASS_ALPHAS, groups)
            accuracy = (decode(heldout, bits) == classes).mean(axis=1)
            if accuracy.max() > best:
                best, predicted = (
                    accuracy.max(),
                    decode(gram_test @ A[choose_largest(accuracy, MULTICLASS_ALPHAS)], bits),
                )
        return predicted

    return run


MULTICLASS_METHODS: Mapping[str, Callable[[list[Matrix], list[Matrix], Indices], Indices]] = {
    "joint kernel": predict_joint_kernel,
    "joint kernel, binary codes": partial(predict_joint_kernel, code=binary_code),
    "one-vs-all": make_code_predictor(one_vs_all_code),
    "all pairs": make_code_predictor(all_pairs_code),
    "random code": make_code_predictor(lambda classes: random_code(classes, 3 * classes)),
}


def _iter_binary_scores(
    X: Matrix, new: Matrix, y: Vector, seed: int
) -> Iterator[tuple[str, Vector]]:
    """Iterate over method and scores of the test data ``new``, one score per row.

    ``X`` and ``y`` are the training data, with labels 1 and -1. Higher scores speak for the
    positive class; those of naive Bayes and random forest are probabilities. The width of RLS is
    chosen by leave-one-out AUC, that of the SVM by inner folds. ``seed`` is for these folds and the
    forest.
    """
    best, scores = -1.0, np.zeros(len(new))
    for gram, gram_test in zip(*_rbf_grams(X, new), strict=True):
        fit = RLS(alphas=list(MULTICLASS_ALPHAS)).fit(gram, independent_targets(y))
        value = auc(y, fit.heldout[fit.alpha_index]) or 0.0
        if value > best:
            best, scores = value, fit.predict(gram_test)
    yield "RLS", scores
    yield "SVM", _svm_scores(X, new, y, seed)
    Z, Z_test = _standardize(X, new)
    yield "naive Bayes", GaussianNB().fit(Z, y).predict_proba(Z_test)[:, 1]
    forest = RandomForestClassifier(200, random_state=seed).fit(Z, y)
    yield "random forest", forest.predict_proba(Z_test)[:, 1]


def _svm_scores(X: Matrix, new: Matrix, y: Vector, seed: int) -> Vector:
    """Return scores of a Gaussian SVM on ``new``, shape (len(new),).

    ``X`` and ``y`` are the training data. Width and cost (0.25, 1, 4 or 16) are chosen by mean AUC
    over five inner folds, which are stratified and shuffled with ``seed``; ties go to the first.
    """
    best, scores = -1.0, np.zeros(len(new))
    inner = list(StratifiedKFold(5, shuffle=True, random_state=seed).split(X, y))
    for gram, gram_test in zip(*_rbf_grams(X, new), strict=True):
        for cost in (0.25, 1.0, 4.0, 16.0):
            values = []
            for train, test in inner:
                svm = SVC(C=cost, kernel="precomputed").fit(gram[np.ix_(train, train)], y[train])
                decisions = svm.decision_function(gram[np.ix_(test, train)])
                values.append(auc(y[test], decisions) or 0.0)
            if np.mean(values) > best:
                svm = SVC(C=cost, kernel="precomputed").fit(gram, y)
                best, scores = float(np.mean(values)), svm.decision_function(gram_test)
    return scores


def _rbf_grams(X: Matrix, new: Matrix) -> tuple[list[Matrix], list[Matrix]]:
    """Return Gram matrices of the training data, and of test against training data.

    Both lists have one matrix per entry of ``RBF_WIDTHS``, shapes (n, n) and (m, n) for n training
    and m test rows. Features are standardised first.
    """
    Z, Z_test = _standardize(X, new)
    gammas = [width * 4 / X.shape[1] for width in RBF_WIDTHS]
    train_grams = [rbf_kernel(Z, gamma=gamma) for gamma in gammas]
    return train_grams, [rbf_kernel(Z_test, Z, gamma=gamma) for gamma in gammas]


def _standardize(X: Matrix, new: Matrix) -> tuple[Matrix, Matrix]:
    """Scale training and test features to zero mean and unit variance of the training data.

    Constant features are only centred. The inputs are not changed.
    """
    centre, spread = X.mean(axis=0), X.std(axis=0)
    spread = np.where(spread > 0, spread, 1.0)
    return (X - centre) / spread, (new - centre) / spread


def _folds(classes: Indices, settings: RunSettings) -> Iterator[tuple[Indices, Indices]]:
    """Iterate over train and test indices of five folds, ten in the full version, shuffled.

    ``classes`` are class numbers from 0. Folds are stratified if every class number up to the
    largest has a member for each.
    """
    folds = 10 if settings.full else 5
    splitter_class = StratifiedKFold if np.bincount(classes).min() >= folds else KFold
    yield from splitter_class(folds, shuffle=True, random_state=settings.seed).split(
        classes, classes
    )


def _subsample(sample: Sample, settings: RunSettings, most: int = 600) -> Sample:
    """Return ``most`` random rows of a sample, in random order; all in the full version.

    A sample of at most ``most`` rows is returned as it is.
    """
    X, y = sample
    if settings.full or len(y) <= most:
        return sample
    rows = np.random.default_rng(settings.seed).choice(len(y), most, replace=False)
    return X[rows], y[rows]


CLASS_EXPERIMENTS = (
    Experiment("multiclass", run_multiclass, files=(SMALL_SETS,), revision=2),
    Experiment("two-classes", run_two_classes, files=(SMALL_SETS,)),
)
# Embeddings of Reuters articles -------------------------------------------------------------------

SVM_COSTS = (0.1, 1.0, 10.0)


def run_reuters_embedding(settings: RunSettings) -> Cells:
    """Compute macro F of a linear SVM on words, similarities, LSI and G2P for ten topics.

    One row per method, one column "macro F", over two draws of training, validation and test
    articles (900 each, or a third of all in the full version). Only articles with a single topic
    are used.
    """
    articles = read_modapte_articles(settings.file(REUTERS))
    single_topic = [a for a in articles if len(a.topics) == 1]
    topics = most_frequent_topics(single_topic, 10)
    single = [a for a in single_topic if a.topics[0] in topics]
    size = len(single) // 3 if settings.full else 900
    values: dict[str, list[float]] = {}
    for draw in range(2):
        rng = np.random.default_rng(settings.seed + draw)
        parts = np.split(rng.permutation(len(single))[: 3 * size], 3)
        texts = [[f"{single[i].title} {single[i].text}" for i in part] for part in parts]
        train, *others = texts
        X, valid = fit_tfidf(train, others[0])
        _, test = fit_tfidf(train, others[1])
        y = [_topic_indices(single, topics, part) for part in parts]
        K = [np.asarray((part @ X.T).toarray()) for part in (X, valid, test)]
        for method, views in _iter_embeddings((X, valid, test), K, y[0]):
            values.setdefault(method, []).append(_validated_macro_f(views, y))
    return {method: {"macro F": Figure.from_values(macro_f)} for method, macro_f in values.items()}


def _iter_embeddings(
    X: tuple[Matrix, ...], K: list[Matrix], y: Indices
) -> Iterator[tuple[str, list[list[Matrix]]]]:
    """Iterate over methods with alternatives: each the train, validation and test features.

    Methods are "linear machine", "similarity features", "dissimilarity features" (distances of unit
    vectors, from ``K``), "LSI" and "G2P". ``X`` has the tf-idf vectors of the three parts, ``K``
    their similarities to the training articles, ``y`` the topic numbers of the training articles.
    Only G2P has several, of alpha and number of neighbours, scaled to a mean squared length of one.
    The alternatives are for ``_validated_macro_f`` to choose from.
    """
    yield "linear machine", [list(X)]
    yield "similarity features", [K]
    distances = [np.sqrt(np.clip(2.0 - 2.0 * part, 0.0, None)) for part in K]
    yield "dissimilarity features", [distances]
    svd = TruncatedSVD(100, random_state=0).fit(X[0])
    yield "LSI", [[svd.transform(part) for part in X]]
    classes = class_matrix(np.eye(y.max() + 1)[y], "single")
    choices = []
    for alpha in (0.1, 1.0):
        for neighbours in (15, len(y) // 4, None):
            P = G2P(alpha=alpha, neighbours=neighbours, share=0.9999).fit(K[0], classes)
            parts = [part @ P for part in K]
            scale = np.sqrt((parts[0] ** 2).sum(axis=1).mean())
            choices.append([part / scale for part in parts])
    yield "G2P", choices


def _validated_macro_f(views: list[list[Matrix]], y: list[Indices]) -> float:
    """Return macro F on the test part, with cost and alternative chosen on the validation part.

    ``views`` are alternatives of train, validation and test features; ``y`` are the topic numbers
    of the three parts. Ties go to the first.
    """
    best, value = -1.0, 0.0
    for train, valid, test in views:
        for cost in SVM_COSTS:
            svm = LinearSVC(C=cost, random_state=0, max_iter=5000).fit(train, y[0])
            validation_f = f1_score(y[1], svm.predict(valid), average="macro")
            if validation_f > best:
                best = validation_f
                value = float(f1_score(y[2], svm.predict(test), average="macro"))
    return value


def _topic_indices(articles: list[ReutersArticle], topics: list[str], part: Indices) -> Indices:
    """Return the position in ``topics`` of the topic of each article in ``part`` (article numbers).

    Each article must have one of the topics as its first.
    """
    return np.array([topics.index(articles[i].topics[0]) for i in part], dtype=np.intp)


EMBEDDING_EXPERIMENTS = (Experiment("embedding-reuters", run_reuters_embedding, files=(REUTERS,)),)
