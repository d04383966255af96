"""Estimators on features of any scale, against exact arithmetic and scikit-learn."""

from __future__ import annotations

from decimal import Decimal, localcontext

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import Ridge

from textrank.candidates import Targets
from textrank.estimators import G2P, RankRLS, RankSVM, RLSClassifier, RLSRegressor
from textrank.features import FeatureNames, Features
from textrank.learners import rankrls, rls
from textrank.learners.multiclass import all_pairs_code

GRID = tuple(2.0**k for k in range(-15, 15))
ALPHAS = {"default": GRID, "few": (0.01, 1.0, 100.0), "small": (1e-8,)}
SHAPES = [(20, 3), (12, 8), (8, 8), (6, 12)]
UNIFORM = [1e-6, 1e-3, 1.0, 1e3, 1e5, 1e8, 1e10]
SCALES = {
    **{f"{scale:g}": lambda d, scale=scale: np.full(d, scale) for scale in UNIFORM},
    "one column 1e6": lambda d: np.r_[np.ones(d - 1), 1e6],
    "one column 1e10": lambda d: np.r_[np.ones(d - 1), 1e10],
    "1e-6 to 1e8": lambda d: np.logspace(-6, 8, d),
}
TOLERANCE = 1e-6

every_shape = pytest.mark.parametrize("shape", SHAPES, ids=lambda shape: f"{shape[0]}x{shape[1]}")
every_scale = pytest.mark.parametrize("scale", SCALES)
every_grid = pytest.mark.parametrize("alphas", ALPHAS)


def decimals(A):
    return [[Decimal(float(value)) for value in row] for row in np.atleast_2d(A)]


def transpose(A):
    return [list(row) for row in zip(*A, strict=True)]


def product(A, B):
    columns = transpose(B)
    return [[sum(a * b for a, b in zip(row, c, strict=True)) for c in columns] for row in A]


def solve(A, B):
    """Gaussian elimination with pivots."""
    n, rows = len(A), [[*a, *b] for a, b in zip(A, B, strict=True)]
    for i in range(n):
        pivot = max(range(i, n), key=lambda r, i=i: abs(rows[r][i]))
        rows[i], rows[pivot] = rows[pivot], rows[i]
        for r in range(n):
            if r != i and rows[r][i]:
                factor = rows[r][i] / rows[i][i]
                rows[r] = [x - factor * y for x, y in zip(rows[r], rows[i], strict=True)]
    return [[value / row[i] for value in row[n:]] for i, row in enumerate(rows)]


def ridge(X, Y, weights, alpha, new):
    """Predictions of the normal equations ``(X'WX + alpha I) w = X'WY``."""
    weighted = [[w * x for x in row] for w, row in zip(weights, X, strict=True)]
    A = product(transpose(weighted), X)
    for i, row in enumerate(A):
        row[i] += Decimal(float(alpha))
    return product(new, solve(A, product(transpose(weighted), Y)))


def floats(A):
    return np.array([[float(value) for value in row] for row in A])


def exact_regression(X, Y, alpha, new, weights=None):
    with localcontext(prec=60):
        weights = np.ones(len(X)) if weights is None else weights
        data = decimals(X), decimals(Y), decimals(weights)[0]
        return floats(ridge(*data, alpha, decimals(new)))


def exact_with_intercept(X, Y, alpha, new, weights=None):
    with localcontext(prec=60):
        W = decimals(np.ones(len(X)) if weights is None else weights)[0]
        means = []
        for A in (decimals(X), decimals(Y)):
            sums = product([W], A)[0]
            means.append([total / sum(W) for total in sums])
        shift = lambda A, mean: [[a - m for a, m in zip(r, mean, strict=True)] for r in A]  # noqa: E731
        scores = ridge(
            shift(decimals(X), means[0]),
            shift(decimals(Y), means[1]),
            W,
            alpha,
            shift(decimals(new), means[0]),
        )
        return floats(shift(scores, [-m for m in means[1]]))


def exact_ranking(X, y, queries, alpha, new, cost):
    """The same on the differences of all pairs of a query."""
    with localcontext(prec=60):
        pairs = [(i, j) for i in range(len(y)) for j in range(i) if queries[i] == queries[j]]
        if cost != "magnitude":
            pairs = [(i, j) if y[i] > y[j] else (j, i) for i, j in pairs if y[i] != y[j]]
        rows, labels = decimals(X), decimals(y)[0]
        differences = [[a - b for a, b in zip(rows[i], rows[j], strict=True)] for i, j in pairs]
        gaps = [labels[i] - labels[j] for i, j in pairs]
        goals = [Decimal(1)] * len(pairs) if cost == "sign" else gaps
        weights = [1 / gap**2 if cost == "bound" else Decimal(1) for gap in gaps]
        goals = [[goal] for goal in goals]
        return floats(ridge(differences, goals, weights, alpha, decimals(new)))[:, 0]


def relative(found, expected):
    """The largest difference, by the largest expected value of the same output."""
    found, expected = np.asarray(found), np.asarray(expected)
    found = found.reshape(expected.shape)
    return float((np.abs(found - expected).max(axis=0) / np.abs(expected).max(axis=0)).max())


def data(rng, shape, scale):
    n, d = shape
    size = SCALES[scale](d)
    X, new = rng.standard_normal((n, d)) * size, rng.standard_normal((6, d)) * size
    return X, new, X[:, 0] / size[0] + 0.1 * rng.standard_normal(n)


@every_grid
@every_scale
@every_shape
def test_regression_equals_exact_arithmetic(rng, shape, scale, alphas):
    X, new, y = data(rng, shape, scale)
    Y = np.column_stack([y, rng.standard_normal(len(y))])
    for weights in (None, rng.uniform(0.1, 10, len(y))):
        groups = np.arange(len(y)) // 2
        model = RLSRegressor(alphas=ALPHAS[alphas])
        model.fit(X, Y, groups=groups, sample_weight=weights)
        for output, alpha in enumerate(model.alpha_):
            expected = exact_regression(X, Y, alpha, new, weights)[:, output]
            assert relative(model.predict(new)[:, output], expected) <= TOLERANCE
        rest = groups != 0
        part = None if weights is None else weights[rest]
        expected = exact_regression(X[rest], Y[rest], ALPHAS[alphas][0], X[~rest], part)
        # Held-out scores are differences from the answers, and as exact as these.
        size = np.abs(expected).max() + np.abs(Y).max()
        assert np.abs(model.heldout_[0, ~rest] - expected).max() <= TOLERANCE * size


@every_scale
@every_shape
def test_regression_equals_ridge_and_kernel_ridge(rng, shape, scale):
    X, new, y = data(rng, shape, scale)
    model = RLSRegressor().fit(X, y)
    slow = Ridge(alpha=model.alpha_, solver="svd", fit_intercept=False).fit(X, y)
    tolerance = 1e-5 if "1e10" in scale or "to" in scale else TOLERANCE  # of Ridge
    assert relative(model.predict(new), slow.predict(new)) <= tolerance
    if scale in ("1e-06", "0.001", "1"):  # where KernelRidge itself has digits enough
        model = RLSRegressor(alphas=[1.0]).fit(X, y)
        slow = KernelRidge(alpha=1.0).fit(X, y)
        assert relative(model.predict(new), slow.predict(new)) <= TOLERANCE
        precomputed = RLSRegressor(alphas=[1.0], kernel="precomputed").fit(X @ X.T, y)
        assert relative(precomputed.predict(new @ X.T), slow.predict(new)) <= TOLERANCE


@pytest.mark.parametrize("scale", UNIFORM)
def test_a_precomputed_kernel_of_low_rank_equals_ridge(rng, scale):
    X, new = rng.standard_normal((40, 3)) * scale, rng.standard_normal((6, 3)) * scale
    y = rng.standard_normal(40)
    model = RLSRegressor(kernel="precomputed").fit(X @ X.T, y)
    slow = Ridge(alpha=model.alpha_, solver="svd", fit_intercept=False).fit(X, y)
    assert relative(model.predict(new @ X.T), slow.predict(new)) <= TOLERANCE


def test_one_large_column_does_not_spoil_the_others(rng):
    X = rng.standard_normal((200, 3)) * [1, 1, 1e6]
    assert RLSRegressor().fit(X, X[:, 0]).score(X, X[:, 0]) > 0.999999


@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("classes", [2, 3])
@every_scale
@every_shape
def test_classification_equals_exact_arithmetic(rng, shape, scale, classes, fit_intercept):
    X, new, _ = data(rng, shape, scale)
    y = np.arange(len(X)) % classes
    groups = np.arange(len(X)) // 3
    exact = exact_with_intercept if fit_intercept else exact_regression
    for alphas in (GRID, (1.0,)):
        for weights in (None, rng.uniform(0.1, 10, len(y))):
            model = RLSClassifier(alphas=alphas, fit_intercept=fit_intercept)
            model.fit(X, y, groups=groups, sample_weight=weights)
            Y = model.code_[y]
            expected = exact(X, Y, model.alpha_, new, weights)
            scores = new @ model.coef_.T + model.intercept_
            assert relative(scores, expected) <= TOLERANCE
            rest = groups != 0
            part = None if weights is None else weights[rest]
            expected = exact(X[rest], Y[rest], alphas[0], X[~rest], part)
            found = model.heldout_[0, ~rest].reshape(expected.shape)
            assert np.abs(found - expected).max() <= TOLERANCE * (1 + np.abs(expected).max())


@pytest.mark.parametrize("scale", ["0.001", "1", "1000", "1e+08", "1e+10"])
@every_shape
def test_sparse_features_give_the_classifier_of_dense_ones(rng, shape, scale):
    X, new, _ = data(rng, shape, scale)
    y = np.arange(len(X)) % 3
    one = RLSClassifier(alphas=[0.5]).fit(X, y).decision_function(new)
    other = RLSClassifier(alphas=[0.5]).fit(sp.csr_array(X), y)
    assert relative(other.decision_function(sp.csr_array(new)), one) <= TOLERANCE


@pytest.mark.parametrize("kernel", ["rbf", "precomputed"])
@pytest.mark.parametrize("code", [None, all_pairs_code(3)])
def test_heldout_scores_with_an_intercept_are_those_of_retraining(rng, kernel, code):
    X, y = rng.standard_normal((24, 3)) + 1, np.arange(24) % 3
    groups = np.repeat(np.arange(8), 3)
    weights = rng.uniform(0.5, 2, 24)
    K = np.exp(-0.3 * ((X[:, None] - X) ** 2).sum(-1))
    settings = {"kernel": kernel, "gamma": 0.3, "code": code}
    data = K if kernel == "precomputed" else X
    for alphas in ([0.1, 1.0], GRID):
        model = RLSClassifier(alphas=alphas, **settings)
        model.fit(data, y, groups=groups, sample_weight=weights)
        for a in (0, 1):
            one = RLSClassifier(alphas=alphas[a : a + 1], **settings)
            for group in range(8):
                rest, out = groups != group, groups == group
                train, new = (K[np.ix_(rest, rest)], K[np.ix_(out, rest)])
                if kernel == "rbf":
                    train, new = X[rest], X[out]
                one.fit(train, y[rest], groups=groups[rest], sample_weight=weights[rest])
                np.testing.assert_allclose(one._scores(new), model.heldout_[a, out], atol=1e-8)


@pytest.mark.parametrize("by_query", [True, False])
@pytest.mark.parametrize("cost", ["magnitude", "sign", "bound"])
@every_scale
@pytest.mark.parametrize("shape", [(16, 3), (12, 10), (8, 12)], ids=str)
def test_ranking_equals_exact_arithmetic(rng, shape, scale, cost, by_query):
    X, new, y = data(rng, shape, scale)
    y = y.round(1)
    queries = np.arange(len(y)) // 4
    for alphas in (GRID, (1.0,)):
        model = RankRLS(alphas=alphas, cost=cost).fit(X, y, queries=queries if by_query else None)
        together = queries if by_query else np.zeros(len(y))
        expected = exact_ranking(X, y, together, model.alpha_, new, cost)
        assert relative(model.predict(new), expected) <= TOLERANCE
        out = queries == 0 if by_query else np.arange(len(y)) == 0
        expected = exact_ranking(X[~out], y[~out], together[~out], alphas[0], X[out], cost)
        size = np.abs(expected).max() + np.ptp(y)
        assert np.abs(model.heldout_[0, out] - expected).max() <= TOLERANCE * size


@every_scale
@pytest.mark.parametrize("shape", [(16, 3), (12, 10), (8, 12)], ids=str)
def test_preferences_equal_exact_arithmetic(rng, shape, scale):
    X, new, y = data(rng, shape, scale)
    order = np.argsort(y)
    pairs = np.column_stack([order[1:], order[:-1]])
    model = RankRLS().fit(X, preferences=pairs)
    with localcontext(prec=60):
        rows = decimals(X)
        differences = [[a - b for a, b in zip(rows[i], rows[j], strict=True)] for i, j in pairs]
        ones = [Decimal(1)] * len(pairs)
        expected = ridge(differences, [[one] for one in ones], ones, model.alpha_, decimals(new))
    assert relative(model.predict(new), floats(expected)[:, 0]) <= TOLERANCE


@pytest.mark.parametrize("scale", [1e-6, 1.0, 1e4, 1e8])
def test_a_feature_of_one_group_alone_does_not_spoil_its_heldout_score(rng, scale):
    X = np.zeros((12, 6))
    X[:, :2] = rng.standard_normal((12, 2))
    X[0, 2] = X[1, 3] = X[2, 4] = X[3, 4] = X[4, 5] = 1.5
    X, y = X * scale, rng.standard_normal(12)
    groups = np.array([0, 1, 2, 2, 3, 4, 5, 6, 7, 8, 9, 10])
    model = RLSRegressor(alphas=[1e-4, 1.0]).fit(X, y, groups=groups)
    for group in range(4):
        rest = groups != group
        for a, alpha in enumerate(model.alphas):
            expected = exact_regression(X[rest], y[rest, None], alpha, X[~rest])[:, 0]
            np.testing.assert_allclose(model.heldout_[a, ~rest], expected, atol=1e-8)


@pytest.mark.parametrize("learner", [rls.RLS, rankrls.RankRLS])
@every_scale
@pytest.mark.parametrize("shape", [(24, 3), (24, 20), (16, 20)], ids=str)
def test_nested_scores_are_those_of_retraining_at_every_scale(rng, shape, scale, learner):
    X, _, y = data(rng, shape, scale)
    documents = np.arange(len(y)) // 4
    targets = Targets(np.where(y > 0, 1.0, -1.0), documents, documents)
    one = learner(alphas=[0.5, 2.0], select="squared_error")

    def named(F):
        names = FeatureNames.from_iterable([str(i) for i in range(F.shape[1])])
        return Features(sp.csr_array(F), names)

    folds = documents % 2
    (nested,) = one.nested(named(X), targets, [folds])
    for fold in (0, 1):
        test = folds == fold
        path = one.path(named(X[~test]), targets.take(np.flatnonzero(~test)))
        expected = path.predict(named(X[test]))
        size = np.abs(expected).max() + 1
        np.testing.assert_allclose(nested.outer[:, test], expected, atol=TOLERANCE * size)


ESTIMATORS = [RLSRegressor(), RLSClassifier(), RankRLS(), RankSVM(alphas=[1.0], folds=2), G2P()]
REFUSED = {np.nan: "NaN", np.inf: "infinity", 1e101: "overflow", -1e200: "overflow"}


@pytest.mark.parametrize("value", REFUSED)
@pytest.mark.parametrize("kernel", ["linear", "rbf"])
@pytest.mark.parametrize("estimator", ESTIMATORS, ids=lambda one: type(one).__name__)
def test_features_whose_squares_overflow_are_refused(rng, estimator, kernel, value):
    X, y = rng.standard_normal((20, 3)), np.arange(20) % 2
    estimator.set_params(kernel=kernel).fit(X, y)
    wrong = X.copy()
    wrong[3, 1] = value
    for form in (np.asarray, sp.csr_array):
        with pytest.raises(ValueError, match=REFUSED[value]):
            estimator.fit(form(wrong), y)
        use = estimator.transform if isinstance(estimator, G2P) else estimator.predict
        with pytest.raises(ValueError, match=REFUSED[value]):
            use(form(wrong))


@pytest.mark.parametrize("value", REFUSED)
@pytest.mark.parametrize("estimator", [RLSRegressor(), RankRLS(), RankSVM()], ids=str)
def test_answers_whose_squares_overflow_are_refused(rng, estimator, value):
    y = rng.standard_normal(20)
    y[4] = value
    with pytest.raises(ValueError, match=REFUSED[value]):
        estimator.fit(rng.standard_normal((20, 3)), y)


@pytest.mark.parametrize("estimator", ESTIMATORS[:4], ids=lambda one: type(one).__name__)
def test_a_gram_matrix_that_overflows_is_refused(estimator):
    with pytest.raises(ValueError, match="overflow"):
        estimator.set_params(kernel="precomputed").fit(np.eye(6) * 1e250, np.arange(6) % 2)


def test_a_code_with_zeros_refuses_features_that_are_too_large(rng):
    X, y = rng.standard_normal((40, 3)), np.arange(40) % 3
    RLSClassifier(code=all_pairs_code(3)).fit(X, y)
    with pytest.raises(ValueError, match="code without zeros"):
        RLSClassifier(code=all_pairs_code(3)).fit(X * 1e8, y)


@pytest.mark.parametrize("shape", [(60, 4), (20, 40)], ids=str)
@pytest.mark.parametrize("label_scale", [1e-8, 1.0, 1e8])
@pytest.mark.parametrize("scale", [1e-8, 1e-6, 1e-3, 1.0, 1e3, 1e6, 1e8])
def test_scales_of_features_and_labels_change_nothing(shape, label_scale, scale):
    """``X s``, ``alpha s^2`` and ``y t`` give ``t`` times the predictions at scale 1.

    The reference solves by Cholesky. Ridge(solver="svd") would not do: with more rows than columns
    it computes the same products in the same order as we do.
    """
    rng = np.random.default_rng(0)
    X, Z = rng.standard_normal(shape), rng.standard_normal((7, shape[1]))
    y = X @ rng.standard_normal(shape[1]) + 0.1 * rng.standard_normal(shape[0])
    expected = Ridge(alpha=0.1, fit_intercept=False, solver="cholesky").fit(X, y).predict(Z)
    model = RLSRegressor(alphas=[0.1 * scale**2]).fit(X * scale, y * label_scale)
    predicted = model.predict(Z * scale) / label_scale
    assert np.abs(predicted - expected).max() <= TOLERANCE * np.abs(expected).max()
