"""Kernels made of kernels: laws, references in plain loops, errors."""

from __future__ import annotations

import math

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from textrank.features import FeatureNames, Features, MultiView
from textrank.kernels.algebra import (
    Centred,
    Distance,
    Exponential,
    Gaussian,
    Linear,
    Normalized,
    OnView,
    Polynomial,
    Power,
    Product,
    Scale,
    Similarities,
    Sum,
)
from textrank.linalg import ChunkedKernel, features_of, gram, gram_blocks, squared_norms
from textrank.protocols import has_features
from textrank.testing import check_kernel

REFERENCE = np.array([[1.0, 0.5, -1.0], [0.2, 0.1, 0.0]])


def dot(x, z):
    return sum(a * b for a, b in zip(x, z, strict=True))


def distance2(x, z):
    return sum((a - b) ** 2 for a, b in zip(x, z, strict=True))


def centred(x, z):
    R = REFERENCE
    mean_x = sum(dot(x, r) for r in R) / len(R)
    mean_z = sum(dot(r, z) for r in R) / len(R)
    return dot(x, z) - mean_x - mean_z + sum(dot(r, s) for r in R for s in R) / len(R) ** 2


# Each kernel on vectors of three numbers with its formula for two vectors.
KERNELS = [
    (Linear(), dot),
    (
        Polynomial(degree=3, gamma=0.5, constant=2.0),
        lambda x, z: (0.5 * dot(x, z) + 2) ** 3,
    ),
    (Gaussian(gamma=0.7), lambda x, z: math.exp(-0.7 * distance2(x, z))),
    (
        Sum([Linear(), Polynomial(degree=2)], weights=[0.5, 2.0]),
        lambda x, z: 0.5 * dot(x, z) + 2 * dot(x, z) ** 2,
    ),
    (Sum([Linear(), Scale(Linear(), factor=3.0)]), lambda x, z: 4 * dot(x, z)),
    (
        Product([Linear(), Gaussian(gamma=0.1)]),
        lambda x, z: dot(x, z) * math.exp(-0.1 * distance2(x, z)),
    ),
    (Power(Linear(), degree=2), lambda x, z: dot(x, z) ** 2),
    (Exponential(Linear(), gamma=0.2), lambda x, z: math.exp(0.2 * (dot(x, z) - 1))),
    (
        Normalized(Linear()),
        lambda x, z: dot(x, z) / math.sqrt(dot(x, x) * dot(z, z)),
    ),
    (
        Normalized(Polynomial(degree=2, constant=1.0)),
        lambda x, z: (dot(x, z) + 1) ** 2 / ((dot(x, x) + 1) * (dot(z, z) + 1)),
    ),
    (Centred(Linear(), reference=REFERENCE), centred),
    (ChunkedKernel(Linear(), rows=2), dot),
    (
        Similarities(Linear(), REFERENCE),
        lambda x, z: sum(dot(x, r) * dot(z, r) for r in REFERENCE),
    ),
    (
        Similarities(Distance(Linear()), REFERENCE),
        lambda x, z: sum(math.sqrt(distance2(x, r) * distance2(z, r)) for r in REFERENCE),
    ),
]
IDS = [str(i) + type(kernel).__name__ for i, (kernel, _) in enumerate(KERNELS)]

few = settings(max_examples=25, deadline=None)
finite = st.floats(-3, 3).map(lambda value: round(value, 3))


@pytest.mark.parametrize(("kernel", "formula"), KERNELS, ids=IDS)
@few
@given(X=arrays(float, (4, 3), elements=finite), Y=arrays(float, (2, 3), elements=finite))
def test_kernel_equals_its_formula(kernel, formula, X, Y):
    X, Y = np.abs(X) + 0.1, Y - 3.1  # Normalized refuses a zero vector; another test says how
    expected = np.array([[formula(x, y) for y in Y] for x in X])
    np.testing.assert_allclose(kernel(X, Y), expected, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(kernel.diag(X), [formula(x, x) for x in X], rtol=1e-9, atol=1e-7)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize(("kernel", "formula"), KERNELS, ids=IDS)
def test_kernel_obeys_the_laws(kernel, formula, seed):
    check_kernel(kernel, np.random.default_rng(seed).normal(size=(7, 3)))


def test_objects_that_are_no_vectors_are_refused():
    with pytest.raises(ValueError, match=r"gives dict objects.*each_view\.v1"):
        Linear()([{"words": 1}, {"words": 2}])


@pytest.mark.parametrize("form", [sp.csr_array, list, lambda X: Linear().features(X), "rows"])
def test_vectors_come_as_arrays_sparse_matrices_lists_or_features(form, rng):
    X = rng.normal(size=(5, 3))
    rows = list(Linear().features(X)) if form == "rows" else form(X)
    np.testing.assert_allclose(Linear()(rows), X @ X.T)
    np.testing.assert_allclose(Linear().diag(rows), (X**2).sum(axis=1))
    check_kernel(Normalized(Linear()), rows)


def test_features_are_matched_by_name():
    X = Features(sp.csr_array([[1.0, 2.0]]), FeatureNames.from_iterable(["a", "b"]))
    Y = Features(sp.csr_array([[5.0, 7.0]]), FeatureNames.from_iterable(["c", "b"]))
    assert Linear()(X, Y).item() == 14.0
    assert Linear()([X, Y]).tolist() == [[5.0, 14.0], [14.0, 74.0]]


def test_rows_below_each_other_share_columns_of_equal_name():
    X = Features(sp.csr_array([[1.0, 2.0]]), FeatureNames.from_iterable(["a", "b"]))
    Y = Features(sp.csr_array([[5.0, 7.0]]), FeatureNames.from_iterable(["c", "b"]))
    both = Features.vstack([X, Y])
    assert sorted(both.names) == [("a",), ("b",), ("c",)]
    assert both.align_to(FeatureNames.from_iterable(["a", "b", "c"])).toarray().tolist() == [
        [1, 2, 0],
        [0, 7, 5],
    ]


def test_features_of_a_sum_are_named_after_their_views(rng):
    X = MultiView({"left": rng.normal(size=(4, 2)), "right": rng.normal(size=(4, 3))})
    kernel = Sum(
        [Normalized(OnView("left", Linear())), OnView("right", Linear())], weights=[1.0, 0.25]
    )
    check_kernel(kernel, X)
    names = list(kernel.features(X).names)
    assert names[0] == ("left", "0")
    assert names[-1] == ("right", "2")


def test_named_kernels_equal_listed_ones(rng):
    X = rng.normal(size=(4, 2))
    named = Sum({"a": Linear(), "b": Gaussian()}, weights={"b": 0.5})
    np.testing.assert_allclose(named(X), Sum([Linear(), Gaussian()], weights=[1.0, 0.5])(X))
    assert Sum([Linear(), Gaussian()]) == Sum({"Linear": Linear(), "Gaussian": Gaussian()})


def test_two_parts_of_one_view_keep_their_columns_apart(rng):
    X = MultiView({"v": rng.normal(size=(4, 2))})
    kernel = Sum([OnView("v", Linear()), Normalized(OnView("v", Linear()))])
    check_kernel(kernel, X)
    assert {name[0] for name in kernel.features(X).names} == {"v_1", "v_2"}


def test_a_view_of_plain_mappings_works_too(rng):
    X = MultiView({"v": rng.normal(size=(4, 2))})
    np.testing.assert_allclose(OnView("v", Linear())(list(X)), OnView("v", Linear())(X))


def test_an_unknown_view_is_named_with_the_known_ones():
    with pytest.raises(ValueError, match=r"no view 'graph'; available: words"):
        OnView("graph", Linear())(MultiView({"words": np.eye(2)}))


def test_views_of_different_length_are_refused():
    with pytest.raises(ValueError, match="'a': 2, 'b': 3"):
        MultiView({"a": np.eye(2), "b": np.eye(3)})


def test_a_composed_kernel_has_features_only_where_its_parts_have():
    assert has_features(Sum([Linear(), Normalized(Linear())]))
    assert not has_features(Sum([Linear(), Gaussian()]))
    assert not has_features(Normalized(OnView("v", Gaussian(kernel=Linear()))))
    with pytest.raises(TypeError, match="Gaussian has no explicit features"):
        features_of(Sum([Linear(), Gaussian()]), np.eye(2))


def test_a_part_that_is_no_kernel_is_named():
    class Half:
        def __call__(self, X, Y=None):
            return np.eye(len(X))

    with pytest.raises(ValueError, match="Half is not a kernel: it lacks diag"):
        features_of(Normalized(Half()), np.eye(2))


def test_normalized_names_the_input_without_features():
    with pytest.raises(ValueError, match="the first at index 1"):
        Normalized(Linear())(np.array([[1.0], [0.0]]))
    with pytest.raises(ValueError, match="the first at index 1"):
        Normalized(Polynomial(degree=2))(np.array([[1.0], [0.0]]))


@pytest.mark.parametrize("inner", [Linear(), Polynomial(degree=2)])
def test_normalized_may_keep_an_empty_input_as_the_zero_vector(inner):
    X = np.array([[1.0], [0.0], [3.0]])
    kernel = Normalized(inner, empty="zero")
    assert kernel(X).tolist() == [[1, 0, 1], [0, 0, 0], [1, 0, 1]]
    check_kernel(kernel, X)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: Sum([]), "at least one kernel"),
        (lambda: Sum([Linear()], weights=[1.0, 2.0]), "weights must be 1, one per kernel"),
        (lambda: Sum([Linear()], weights=[-1.0]), "must not be negative"),
        (lambda: Sum({"a": Linear()}, weights={"b": 1.0}), r"weights for \['b'\], but the kernels"),
        (lambda: Scale(Linear(), factor=0.0), "factor must be positive"),
        (lambda: Power(Linear(), degree=0), "degree must be an integer"),
        (lambda: Power(Linear(), degree=float("inf")), "degree must be an integer"),
        (lambda: Polynomial(constant=-1.0), "positive semidefinite"),
        (lambda: Gaussian(gamma=-1.0), "gamma must be positive"),
        (lambda: Exponential(Linear(), gamma=0.0), "gamma must be positive"),
        (lambda: Normalized(Linear(), empty="drop"), "'refuse' or 'zero'"),
        (lambda: Centred(Linear(), reference=[]), "at least one reference"),
        (lambda: Similarities(Linear(), []), "at least one input"),
        (lambda: ChunkedKernel(Linear(), dtype="float16"), "'float32' or 'float64'"),
        (lambda: Linear()(np.eye(2), np.eye(3)), "vectors of length 2 cannot be compared"),
        (lambda: Linear()(np.ones(3)), "one row per candidate"),
        (lambda: gram(sp.eye_array(2), sp.eye_array(3)), "align the features first"),
    ],
)
def test_wrong_settings_fail_with_their_value(make, words):
    with pytest.raises(ValueError, match=words):
        make()


@given(st.integers(0, 2**32 - 1))
def test_sparse_gram_equals_the_dense_product(seed):
    rng = np.random.default_rng(seed)
    n, m, d = rng.integers(0, 30, 3)
    # Columns from very frequent to seen once, so that every branch is taken.
    share = rng.random(d) ** 3
    F = (rng.random((n, d)) < share) * rng.normal(size=(n, d))
    G = (rng.random((m, d)) < share) * rng.normal(size=(m, d))
    np.testing.assert_allclose(gram(sp.csr_array(F)), F @ F.T, atol=1e-12)
    np.testing.assert_allclose(gram(sp.csr_array(F), sp.csr_array(G)), F @ G.T, atol=1e-12)
    np.testing.assert_allclose(squared_norms(sp.csr_array(F)), (F**2).sum(axis=1), atol=1e-12)


def test_sparse_gram_sums_entries_stored_twice():
    twice = sp.csr_array((np.ones(3), np.array([0, 0, 1]), np.array([0, 2, 3])), shape=(2, 2))
    assert gram(twice).tolist() == [[4.0, 0.0], [0.0, 1.0]]
    assert twice.nnz == 3  # the caller's matrix is not touched


def test_sparse_gram_in_many_blocks(monkeypatch, rng):
    monkeypatch.setattr("textrank.linalg.MAX_TEMPORARY_VALUES", 100)
    F = sp.random_array((40, 60), density=0.2, rng=rng, format="csr")
    dense = F.toarray()
    np.testing.assert_allclose(gram(F), dense @ dense.T, atol=1e-12)
    np.testing.assert_allclose(gram(F, F[:7]), dense @ dense[:7].T, atol=1e-12)


def test_float32_gram_is_half_the_size_and_close(rng):
    X = rng.normal(size=(30, 5))
    single = ChunkedKernel(Linear(), rows=7, dtype="float32")(X)
    assert single.dtype == np.float32
    np.testing.assert_allclose(single, X @ X.T, rtol=1e-4, atol=1e-4)
    assert gram(sp.csr_array(X), dtype="float32").dtype == np.float32


def test_blocks_of_rows_join_to_the_gram_matrix(rng):
    X, Y = rng.normal(size=(5, 3)), rng.normal(size=(4, 3))
    K = np.zeros((5, 4))
    for part, rows in gram_blocks(Linear(), X, Y, rows=2):
        K[part] = rows
    np.testing.assert_allclose(K, X @ Y.T)


class _Broken:
    """A kernel that breaks one law at a time."""

    def __init__(self, how):
        self.how = how

    def __call__(self, X, Y=None):
        Y = X if Y is None else Y
        K = X @ Y.T
        if self.how == "symmetry" and K.size and K.shape[0] == K.shape[1]:
            K = np.triu(K)
        if self.how == "psd":
            K = -K
        if self.how == "neighbours" and len(K):
            K = K + np.arange(len(K))[:, None] * np.arange(len(Y))[None, :]
        if self.how == "nan":
            K = K * np.nan
        if self.how == "empty" and not K.size:
            K = np.zeros((1, 1))
        return K

    def diag(self, X):
        return np.diag(self(X)) * (2.0 if self.how == "diag" else 1.0)


class _BrokenFeatures(_Broken):
    def features(self, X):
        return Linear().features(2 * X)


@pytest.mark.parametrize(
    ("kernel", "law"),
    [
        (_Broken("symmetry"), "not symmetric"),
        (_Broken("psd"), "not positive semidefinite"),
        (_Broken("neighbours"), "not the block"),
        (_Broken("nan"), "NaN"),
        (_Broken("diag"), "not the diagonal"),
        (_Broken("empty"), "without inputs"),
        (_BrokenFeatures(""), "is not k"),
    ],
    ids=lambda value: getattr(value, "how", ""),
)
def test_check_kernel_names_the_broken_law(kernel, law, rng):
    with pytest.raises(AssertionError, match=law):
        check_kernel(kernel, rng.normal(size=(6, 3)))


def test_check_kernel_needs_something_to_compare():
    with pytest.raises(ValueError, match="at least 2 inputs"):
        check_kernel(Linear(), np.eye(1))
