from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn import set_config
from sklearn.base import clone
from sklearn.datasets import load_iris, load_wine
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.model_selection import GridSearchCV, GroupKFold, LeaveOneGroupOut, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import estimator_checks_generator

from textrank.estimators import (
    G2P,
    RankRLS,
    RankSVM,
    ReducedKernelMap,
    RLSClassifier,
    RLSRegressor,
)
from textrank.learners.multiclass import (
    all_pairs_code,
    binary_code,
    one_vs_all_code,
    random_code,
)


def name_of(part):
    return getattr(getattr(part, "func", part), "__name__", type(part).__name__)


def checked(*estimators):
    """As parametrize_with_checks, as a list: pytest 9 refuses a generator (scikit-learn 1.6)."""
    rows = [row for one in estimators for row in estimator_checks_generator(one)]
    return pytest.mark.parametrize(("estimator", "check"), rows, ids=name_of)


@checked(RLSRegressor(), RLSClassifier(), RankRLS(), RankSVM(), G2P(), ReducedKernelMap())
def test_scikit_learn_accepts_the_estimator(estimator, check):
    check(estimator)


@pytest.mark.slow
@checked(RLSRegressor(kernel="rbf"), RLSClassifier(kernel="rbf"), RankRLS(kernel="rbf"))
def test_scikit_learn_accepts_the_estimator_with_a_kernel(estimator, check):
    check(estimator)


def test_with_one_alpha_repeating_a_sample_is_weighting_it(rng):
    X, y = rng.standard_normal((20, 3)), rng.standard_normal(20)
    weights = rng.integers(0, 4, 20)
    for kernel in ("linear", "rbf"):
        one = RLSRegressor(alphas=[0.5], kernel=kernel).fit(X, y, sample_weight=weights)
        other = RLSRegressor(alphas=[0.5], kernel=kernel)
        other.fit(np.repeat(X, weights, axis=0), np.repeat(y, weights))
        np.testing.assert_allclose(one.predict(X), other.predict(X), atol=1e-8)


def test_heldout_scores_are_those_of_retraining(rng):
    X, Y = rng.standard_normal((24, 4)), rng.standard_normal((24, 2))
    groups = np.array(list("abcdef") * 4)
    model = RLSRegressor(alphas=[0.1, 3.0], kernel="rbf", gamma=0.2).fit(X, Y, groups=groups)
    assert model.heldout_.shape == (2, 24, 2)
    for a, alpha in enumerate([0.1, 3.0]):
        for rest, out in LeaveOneGroupOut().split(X, Y, groups):
            slow = KernelRidge(alpha=alpha, kernel="rbf", gamma=0.2).fit(X[rest], Y[rest])
            np.testing.assert_allclose(model.heldout_[a, out], slow.predict(X[out]), atol=1e-10)
    error = ((model.heldout_ - Y) ** 2).mean(axis=1)
    np.testing.assert_array_equal(model.alpha_, np.array([0.1, 3.0])[error.argmin(axis=0)])


def test_without_groups_every_sample_is_left_out_alone(rng):
    X, y = rng.standard_normal((15, 3)), rng.standard_normal(15)
    model = RLSRegressor(alphas=[0.5]).fit(X, y)
    for i in range(15):
        rest = np.arange(15) != i
        slow = Ridge(alpha=0.5, fit_intercept=False).fit(X[rest], y[rest]).predict(X[[i]])
        np.testing.assert_allclose(model.heldout_[0, i], slow[0], atol=1e-10)


def ours(X, Y=None):
    return np.exp(-((X[:, None] - (X if Y is None else Y)[None]) ** 2).sum(-1))


class Gaussian:
    """A kernel of our own form."""

    def __call__(self, X, Y=None):
        return ours(np.asarray(X), None if Y is None else np.asarray(Y))

    def diag(self, X):
        return np.ones(len(X))


def test_every_way_to_say_the_kernel_gives_the_same_model(rng):
    X, y = rng.standard_normal((20, 3)), rng.standard_normal(20)
    new = rng.standard_normal((5, 3))
    K = ours(X)
    models = {
        "name": RLSRegressor(kernel="rbf", gamma=1.0).fit(X, y).predict(new),
        "matrices": RLSRegressor(kernel=ours).fit(X, y).predict(new),
        "rows": RLSRegressor(kernel=lambda a, b: np.exp(-np.sum((a - b) ** 2)))
        .fit(X, y)
        .predict(new),
        "own": RLSRegressor(kernel=Gaussian()).fit(X, y).predict(new),
        "own on a list": RLSRegressor(kernel=Gaussian()).fit(list(X), y).predict(list(new)),
        "precomputed": RLSRegressor(kernel="precomputed").fit(K, y).predict(ours(new, X)),
    }
    for scores in models.values():
        np.testing.assert_allclose(scores, models["name"], atol=1e-9)


def test_a_second_fit_leaves_nothing_of_the_first(rng):
    X, y = rng.standard_normal((20, 3)), rng.standard_normal(20)
    for model in (RLSRegressor(), RankRLS()):
        model.fit(X, y).set_params(kernel="rbf").fit(X, y)
        assert not hasattr(model, "coef_")
        np.testing.assert_array_equal(model.predict(X), clone(model).fit(X, y).predict(X))


def test_sparse_and_dense_data_give_the_same_model(rng):
    X = sp.random_array((30, 50), density=0.1, rng=rng, format="csr")
    y = rng.standard_normal(30)
    one, other = RLSRegressor().fit(X, y), RLSRegressor().fit(X.toarray(), y)
    np.testing.assert_allclose(one.predict(X), other.predict(X.toarray()), atol=1e-9)
    np.testing.assert_allclose(one.heldout_, other.heldout_, atol=1e-8)


@pytest.mark.parametrize("kernel", ["rbf", "precomputed"])
@pytest.mark.parametrize("code", [None, all_pairs_code(3), random_code(3, 5, zeros=0.2)])
def test_the_classifier_tells_irises_apart(kernel, code):
    X, y = load_iris(return_X_y=True)
    X = StandardScaler().fit_transform(X)
    names = np.array(["setosa", "versicolor", "virginica"])[y]
    data = np.exp(-0.5 * ((X[:, None] - X[None]) ** 2).sum(-1)) if kernel == "precomputed" else X
    model = RLSClassifier(alphas=[0.01, 0.1, 1], kernel=kernel, code=code, select="accuracy")
    assert model.fit(data, names).score(data, names) > 0.8
    assert model.heldout_.shape == (3, 150, 3 if code is None else code.shape[1])


def test_class_weights_multiply_the_sample_weights(rng):
    X, y = rng.standard_normal((30, 3)), np.array([0] * 24 + [1] * 6)
    each = np.where(y == 1, 4.0, 1.0)
    one = RLSClassifier(alphas=[1.0], class_weight={0: 1.0, 1: 4.0}).fit(X, y)
    other = RLSClassifier(alphas=[1.0]).fit(X, y, sample_weight=each)
    np.testing.assert_allclose(one.coef_, other.coef_)


@pytest.mark.parametrize("select", ["accuracy", "squared_error", "auc", "f"])
def test_alpha_is_the_best_by_the_named_measure(rng, select):
    X = rng.standard_normal((40, 5))
    y = X[:, 0] + 0.5 * rng.standard_normal(40) > 0
    model = RLSClassifier(select=select).fit(X, y)
    assert model.alpha_ in model.alphas


def test_unknown_measures_are_refused(rng):
    X, y = load_iris(return_X_y=True)
    with pytest.raises(ValueError, match="got 'auc' for 3 classes"):
        RLSClassifier(select="auc").fit(X, y)


def test_one_class_is_refused():
    with pytest.raises(ValueError, match="one class only"):
        RLSClassifier().fit(np.eye(3), np.ones(3))


def test_ranking_by_query_beats_regression_where_queries_differ_in_level(rng):
    X = rng.standard_normal((120, 4))
    queries = np.repeat(np.arange(24), 5)
    y = X[:, 0] + 10 * rng.standard_normal(24)[queries] + 0.3 * rng.standard_normal(120)
    train, test = queries < 12, queries >= 12
    ranker = RankRLS().fit(X[train], y[train], queries=queries[train])
    regressor = RLSRegressor().fit(X[train], y[train])
    share = ranker.score(X[test], y[test], queries[test])
    assert ranker.heldout_.shape == (30, 60)
    as_ranker = clone(ranker).fit(X[train], y[train], queries=queries[train])
    as_ranker.coef_ = regressor.coef_
    assert share > 0.85
    assert share > as_ranker.score(X[test], y[test], queries[test])
    svm = RankSVM().fit(X[train], y[train], queries=queries[train])
    assert svm.score(X[test], y[test], queries[test]) > 0.85


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
@pytest.mark.parametrize("cost", ["magnitude", "sign", "bound"])
def test_a_sample_is_held_out_with_its_preferences(rng, kernel, cost):
    X = rng.standard_normal((12, 3))
    pairs = np.vstack([rng.permutation(12).reshape(-1, 2) for _ in range(3)])
    preferences = np.column_stack([pairs, rng.uniform(0.5, 2, len(pairs))])
    model = RankRLS(alphas=[0.7], kernel=kernel, cost=cost).fit(X, preferences=preferences)
    assert model.heldout_.shape == (1, 12)
    for out in range(12):
        rest = preferences[(pairs != out).all(axis=1)]
        scores = RankRLS(alphas=[0.7], kernel=kernel, cost=cost).fit(X, preferences=rest).predict(X)
        assert model.heldout_[0, out] == pytest.approx(scores[out], abs=1e-9)


def test_copies_of_a_sample_are_held_out_together(rng):
    X = rng.standard_normal((6, 2))[[0, 1, 2, 3, 4, 5, 0]]
    pairs = np.array([[0, 1], [6, 2], [3, 4], [5, 1]])
    model = RankRLS(alphas=[0.7]).fit(X, preferences=pairs)
    rest = RankRLS(alphas=[0.7]).fit(X, preferences=pairs[2:])
    np.testing.assert_allclose(model.heldout_[0, [0, 6]], rest.predict(X[[0, 6]]), atol=1e-9)
    apart = RankRLS(alphas=[0.7]).fit(X, preferences=pairs, groups=np.arange(7))
    assert abs(apart.heldout_[0, 0] - model.heldout_[0, 0]) > 1e-3


def test_several_outputs_have_their_own_alpha(rng):
    X = rng.standard_normal((40, 4))
    Y = np.column_stack([X[:, 0], rng.standard_normal(40)])
    model = RankRLS().fit(X, Y)
    assert model.alpha_.shape == (2,)
    assert model.predict(X).shape == (40, 2)
    for k in range(2):
        one = RankRLS().fit(X, Y[:, k])
        assert one.alpha_ == model.alpha_[k]
        np.testing.assert_allclose(one.predict(X), model.predict(X)[:, k], atol=1e-9)
        np.testing.assert_allclose(one.heldout_, model.heldout_[:, :, k], atol=1e-9)


def test_groups_are_held_out_of_a_global_ranking(rng):
    X, y, groups = rng.standard_normal((20, 3)), rng.standard_normal(20), np.arange(20) // 5
    model = RankRLS(alphas=[0.7]).fit(X, y, groups=groups)
    rest = groups != 2
    expected = RankRLS(alphas=[0.7]).fit(X[rest], y[rest]).predict(X[~rest])
    np.testing.assert_allclose(model.heldout_[0, ~rest], expected, atol=1e-9)


def test_ranksvm_learns_from_preferences(rng):
    X = rng.standard_normal((30, 3))
    pairs = np.array([rng.choice(30, 2, replace=False) for _ in range(80)])
    pairs = np.where((X[pairs[:, 0], 0] > X[pairs[:, 1], 0])[:, None], pairs, pairs[:, ::-1])
    for settings in ({}, {"loss": "squared_hinge"}, {"kernel": "rbf", "size": 12}):
        model = RankSVM(**settings).fit(X, preferences=pairs)
        assert model.score(X, preferences=pairs) > 0.8


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"y": [0, 1, 2], "preferences": [[0, 1]]}, "not both"),
        ({"preferences": [[0, 9]]}, r"0 \.\. 2"),
        ({"preferences": [[0, 0]]}, "different rows"),
        ({"preferences": [[0]]}, "better, worse"),
        ({}, "requires y"),
        ({"y": [0, 1, 2], "queries": [0, 1]}, "queries of shape"),
    ],
)
def test_wrong_preferences_are_refused(arguments, message):
    with pytest.raises(ValueError, match=message):
        RankRLS().fit(np.eye(3), **arguments)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [({}, "pass y or preferences"), ({"y": [0, 1, 2], "preferences": [[0, 1]]}, "not both")],
)
def test_a_ranker_is_scored_with_either_labels_or_preferences(arguments, message):
    ranker = RankRLS().fit(np.eye(3), [0, 1, 2])
    with pytest.raises(ValueError, match=message):
        ranker.score(np.eye(3), **arguments)


def test_groups_of_the_wrong_length_are_refused():
    with pytest.raises(ValueError, match="3 rows of data but groups of shape"):
        RLSRegressor().fit(np.eye(3), np.arange(3.0), groups=[0, 1])


def test_grid_search_passes_groups_on_by_metadata_routing(rng):
    X, y = rng.standard_normal((30, 3)), rng.standard_normal(30)
    groups = np.repeat(np.arange(10), 3)
    set_config(enable_metadata_routing=True)
    try:
        model = RLSRegressor(kernel="rbf").set_fit_request(groups=True)
        search = GridSearchCV(model, {"gamma": [0.1, 1.0]}, cv=GroupKFold(3))
        search.fit(X, y, groups=groups)
    finally:
        set_config(enable_metadata_routing=False)
    best = clone(model).set_params(**search.best_params_).fit(X, y, groups=groups)
    np.testing.assert_allclose(search.best_estimator_.heldout_, best.heldout_)


def test_precomputed_kernels_are_sliced_by_grid_search(rng):
    X = rng.standard_normal((30, 3))
    y = X[:, 0] > 0
    search = GridSearchCV(RLSClassifier(kernel="precomputed"), {"select": ["auc", "f"]}, cv=3)
    assert search.fit(X @ X.T, y).best_score_ > 0.8


def test_an_embedding_feeds_a_linear_learner():
    X, y = load_wine(return_X_y=True)
    model = make_pipeline(StandardScaler(), G2P(gamma=0.05), LogisticRegression(max_iter=1000))
    assert cross_val_score(model, X, y, cv=3).mean() > 0.9


def test_an_embedding_takes_several_labels_a_sample(rng):
    X = rng.standard_normal((25, 3))
    Y = np.column_stack([X[:, 0] > 0, X[:, 1] > 0]).astype(int)
    assert G2P(size=2).fit(X, Y).transform(X).shape == (25, 2)


def test_probabilities_agree_with_predictions_and_are_calibrated_on_heldout_scores():
    X, y = load_wine(return_X_y=True)
    X = StandardScaler().fit_transform(X)
    half = np.arange(len(y)) % 2 == 0
    model = RLSClassifier().fit(X[half], y[half])
    p = model.predict_proba(X[~half])
    np.testing.assert_allclose(p.sum(axis=1), 1.0)
    np.testing.assert_array_equal(model.classes_[p.argmax(axis=1)], model.predict(X[~half]))
    loss = -np.log(p[np.arange(p.shape[0]), y[~half]]).mean()
    raw = model._logits(model._scores(X[~half]))
    plain = np.exp(raw) / np.exp(raw).sum(axis=1, keepdims=True)
    assert loss < -np.log(plain[np.arange(p.shape[0]), y[~half]]).mean()


def test_a_copy_of_a_row_is_held_out_with_it(rng):
    X, y = rng.standard_normal((15, 3)), rng.standard_normal(15)
    twice = RLSRegressor(alphas=[0.5]).fit(np.vstack([X, X]), np.hstack([y, y]))
    weighted = RLSRegressor(alphas=[0.5]).fit(X, y, sample_weight=np.full(15, 2.0))
    np.testing.assert_allclose(twice.heldout_[:, :15], weighted.heldout_, atol=1e-9)


@pytest.mark.parametrize("alphas", [-1, 1.0, None, [], [-1.0], [0.0, 1.0], [1.0, 1.0], "abc"])
@pytest.mark.parametrize("estimator", [RLSRegressor, RLSClassifier, RankRLS, RankSVM])
def test_wrong_alphas_are_refused_by_name_and_range(estimator, alphas):
    X, y = np.arange(6.0)[:, None], np.arange(6) % 2
    name = estimator.__name__
    with pytest.raises(
        ValueError, match=rf"'alphas' parameter of {name} must be .*\(0\.0, inf\)"
    ) as e:
        estimator(alphas=alphas).fit(X, y)
    assert f"Got {alphas!r} instead" in str(e.value)


def test_wrong_alphas_are_refused_with_preferences_too():
    with pytest.raises(ValueError, match="Got -1 instead"):
        RankRLS(alphas=-1).fit(np.eye(3), preferences=[[0, 1]])


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("count", [20, 200])
def test_probabilities_of_classes_apart_are_inside_zero_and_one(rng, classes, count):
    y = np.arange(count) % classes
    X = 10.0 * np.eye(classes)[y] + 0.01 * rng.standard_normal((count, classes))
    model = RLSClassifier().fit(X, y)
    p = model.predict_proba(X)
    assert (model.predict(X) == y).all()
    # Platt's target for a class of N samples is (N + 1) / (N + 2).
    own = p[np.arange(count), y]
    expected = (count / classes + 1) / (count / classes + classes)
    np.testing.assert_allclose(own, expected, atol=0.02)
    far = model.predict_proba(1e6 * X)
    assert ((far > 0) & (far < 1)).all()
    np.testing.assert_allclose(far.sum(axis=1), 1.0)


def test_the_intercept_lets_a_boundary_miss_the_origin(rng):
    X = rng.uniform(5, 7, (60, 1))
    y = (X[:, 0] > 6).astype(int)
    assert RLSClassifier().fit(X, y).score(X, y) > 0.9
    without = RLSClassifier(fit_intercept=False).fit(X, y)
    assert without.score(X, y) < 0.7
    assert without.intercept_.tolist() == [0.0]


def test_the_classifier_with_one_alpha_is_ridge_with_an_intercept(rng):
    X, y = rng.standard_normal((30, 4)) + 3, rng.integers(0, 2, 30)
    model = RLSClassifier(alphas=[0.7]).fit(X, y)
    slow = Ridge(alpha=0.7, solver="svd").fit(X, 2.0 * y - 1)
    np.testing.assert_allclose(model.decision_function(X), slow.predict(X), atol=1e-9)
    np.testing.assert_allclose(model.coef_[0], slow.coef_, atol=1e-9)
    np.testing.assert_allclose(model.intercept_, slow.intercept_, atol=1e-9)


@pytest.mark.parametrize("shape", [(30, 4), (20, 60)])
def test_sparse_features_and_an_intercept_are_ridge_too(rng, shape):
    X, y = rng.standard_normal(shape) + 3, rng.integers(0, 2, shape[0])
    weights = rng.uniform(0.5, 2, shape[0])
    model = RLSClassifier(alphas=[0.7]).fit(sp.csr_array(X), y, sample_weight=weights)
    slow = Ridge(alpha=0.7, solver="svd").fit(X, 2.0 * y - 1, sample_weight=weights)
    np.testing.assert_allclose(model.decision_function(X), slow.predict(X), atol=1e-8)


def test_the_joint_kernel_decides_as_one_vs_all_with_one_hot_codes():
    X, y = load_iris(return_X_y=True)
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    X, y = X[::3], y[::3]
    settings = {"alphas": [0.1], "kernel": "rbf", "gamma": 0.5, "fit_intercept": False}
    joint = RLSClassifier(joint=2.0, **settings).fit(X, y)
    scale = 1 - np.exp(-2 / 2.0**2)  # the kernel of classes is this times I, plus a constant
    plain = RLSClassifier(**{**settings, "alphas": [0.1 / scale]}).fit(X, y)
    np.testing.assert_array_equal(joint.predict(X), plain.predict(X))
    gaps = joint._scores(X) - joint._scores(X)[:, :1]
    np.testing.assert_allclose(gaps, plain._scores(X) - plain._scores(X)[:, :1], atol=1e-9)


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_the_joint_kernel_is_least_squares_on_pairs_of_input_and_class(rng, kernel):
    X, y = rng.standard_normal((15, 3)), np.arange(15) % 3
    code = binary_code(3)
    model = RLSClassifier([0.7], kernel, code=code, joint=1.5, fit_intercept=False).fit(X, y)
    K = X @ X.T if kernel == "linear" else rbf_kernel(X)
    square = ((code[:, None] - code) ** 2).sum(-1)
    J = np.kron(K, np.exp(-square / 1.5**2))
    target = one_vs_all_code(3)[y].ravel()
    scores = (J @ np.linalg.solve(J + 0.7 * np.eye(45), target)).reshape(15, 3)
    np.testing.assert_allclose(model._scores(X), scores, atol=1e-8)
    rest = np.repeat(np.arange(15) != 4, 3)
    inner = np.linalg.solve(J[np.ix_(rest, rest)] + 0.7 * np.eye(42), target[rest])
    np.testing.assert_allclose(model.heldout_[0, 4], J[np.ix_(~rest, rest)] @ inner, atol=1e-8)
    with pytest.raises(ValueError, match="no intercept"):
        RLSClassifier(joint=1.0).fit(X, y)


def test_two_classes_of_the_joint_kernel_have_one_decision(rng):
    X = rng.standard_normal((20, 2))
    y = np.where(X[:, 0] > 0, "b", "a")
    model = RLSClassifier([0.1], joint=1.0, fit_intercept=False).fit(X, y)
    assert model.decision_function(X).shape == (20,)
    np.testing.assert_array_equal(model.predict(X) == "b", model.decision_function(X) > 0)


@pytest.mark.parametrize("kernel", ["rbf", "precomputed"])
def test_test_samples_leave_the_basis_of_a_kernel_map(rng, kernel):
    X, y = rng.standard_normal((50, 3)), rng.standard_normal(50)
    groups = np.arange(50) // 5
    K = rbf_kernel(X, gamma=0.4)
    features = ReducedKernelMap(kernel, size=20, gamma=0.4)
    data = X if kernel == "rbf" else K
    cv = GroupKFold(5)
    ridge = Ridge(alpha=0.3, fit_intercept=False)
    ours = features.cross_val_predict(ridge, data, y, groups=groups, cv=cv)
    basis = features.basis_
    Z = features.transform(data)
    np.testing.assert_allclose(
        Z @ Z.T, K[:, basis] @ np.linalg.solve(K[np.ix_(basis, basis)], K[basis]), atol=1e-8
    )
    for train, test in cv.split(X, y, groups):
        kept = np.setdiff1d(basis, test)
        A = K[np.ix_(train, kept)]
        b = np.linalg.solve(A.T @ A + 0.3 * K[np.ix_(kept, kept)], A.T @ y[train])
        np.testing.assert_allclose(ours[test], K[np.ix_(test, kept)] @ b, atol=1e-8)


def test_maps_of_folds_have_the_kernel_of_the_remaining_basis(rng):
    X = rng.standard_normal((40, 3))
    X[7] = X[3]  # equal samples make the basis singular
    K = rbf_kernel(X)
    features = ReducedKernelMap("rbf", size=40, random_state=1)
    for size in (15, 39):
        features.size = size
        for _, test, Z in features.iter_folds(X, cv=4):
            kept = np.setdiff1d(features.basis_, test)
            expected = K[:, kept] @ np.linalg.pinv(K[np.ix_(kept, kept)], rcond=1e-10) @ K[kept]
            np.testing.assert_allclose(Z @ Z.T, expected, atol=1e-6)
    with pytest.raises(ValueError, match="size must be at least 1"):
        ReducedKernelMap(size=0).fit(X)
