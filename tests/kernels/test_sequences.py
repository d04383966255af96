"""Locality kernels against their double sums in plain loops."""

from __future__ import annotations

import math
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from textrank.features import MultiView, take_rows
from textrank.graphs import Sequences
from textrank.kernels.algebra import Normalized, OnView, Power, Sum
from textrank.kernels.sequences import (
    GapWeighted,
    LocalityConvolution,
    LocalityImproved,
    LocalSum,
    SpectrumKernel,
    WindowPairs,
)
from textrank.kernels.views import EachView
from textrank.testing import check_kernel

MATRIX = [[1.0, 0.5, 0.25], [0.5, 1.0, 0.5], [0.25, 0.5, 1.0]]


def P(kernel, m, k):
    if kernel.positional == "gaussian":
        return math.exp(-((m - k) ** 2) / (2 * kernel.theta**2))
    if kernel.positional == "same":
        return float(m == k)
    if kernel.positional == "any":
        return 1.0
    return kernel.positional[m + kernel.window][k + kernel.window]


def equal(f, i, g, k):
    return 0 <= i < len(f) and 0 <= k < len(g) and f[i] == g[k]


def offsets(kernel):
    return range(-kernel.window, kernel.window + 1)


def local_sum(kernel, f, g):
    return sum(
        P(kernel, m, l) * equal(f, i + m, g, k + l)
        for i in range(len(f))
        for k in range(len(g))
        if f[i] == g[k]
        for m in offsets(kernel)
        for l in offsets(kernel)  # noqa: E741
    )


def convolution(kernel, f, g):
    total = 0.0
    for i in range(len(f)):
        for k in range(len(g)):
            if f[i] == g[k]:
                product = 1.0
                for m in offsets(kernel):
                    for l in offsets(kernel):  # noqa: E741
                        product *= P(kernel, m, l) * equal(f, i + m, g, k + l) + 1
                total += product
    return total


def improved(kernel, f, g):
    return sum(
        sum((1 + kernel.window - abs(m)) * equal(f, i + m, g, k + m) for m in offsets(kernel))
        ** kernel.degree
        for i in range(len(f))
        for k in range(len(g))
    )


def spectrum(kernel, f, g):
    return sum(
        all(equal(f, i + step, g, k + step) for step in range(u))
        for u in range(1, kernel.length + 1)
        for i in range(len(f))
        for k in range(len(g))
    )


def gap_weighted(kernel, f, g):
    limit = kernel.stretch or 99
    total = 0.0
    for i in combinations(range(len(f)), kernel.length):
        for k in combinations(range(len(g)), kernel.length):
            reach = (i[-1] - i[0] + 1, k[-1] - k[0] + 1)
            if max(reach) <= limit and [f[x] for x in i] == [g[x] for x in k]:
                total += kernel.decay ** sum(reach)
    return total


KERNELS = [
    (LocalSum(window=1, theta=0.5), local_sum),
    (LocalSum(window=2, positional="any"), local_sum),
    (LocalSum(window=1, positional="same"), local_sum),
    (LocalSum(window=1, positional=MATRIX), local_sum),
    (LocalSum(window=0), local_sum),
    (LocalityConvolution(window=1, theta=0.3), convolution),
    (LocalityConvolution(window=2, theta=1.0), convolution),
    (LocalityConvolution(window=1, positional="any"), convolution),
    (LocalityConvolution(window=1, positional="same"), convolution),
    (LocalityConvolution(window=1, positional=MATRIX), convolution),
    (LocalityImproved(window=1, degree=1), improved),
    (LocalityImproved(window=1, degree=2), improved),
    (LocalityImproved(window=2, degree=3), improved),
    (SpectrumKernel(length=1), spectrum),
    (SpectrumKernel(length=3), spectrum),
    (GapWeighted(length=1, decay=0.5), gap_weighted),
    (GapWeighted(length=2, decay=0.5), gap_weighted),
    (GapWeighted(length=3, decay=0.8, stretch=4), gap_weighted),
]
IDS = [f"{i} {type(kernel).__name__}" for i, (kernel, _) in enumerate(KERNELS)]

symbols = st.lists(st.sampled_from("abc"), max_size=7)
batches = st.lists(symbols, max_size=4)


@pytest.mark.parametrize(("kernel", "reference"), KERNELS, ids=IDS)
@settings(max_examples=12, deadline=None)
@given(X=batches, Y=batches)
def test_kernel_equals_its_double_sum(kernel, reference, X, Y):
    expected = np.array([[reference(kernel, x, y) for y in Y] for x in X]).reshape(len(X), len(Y))
    got = kernel(Sequences.from_lists(X), Sequences.from_lists(Y))
    np.testing.assert_allclose(got, expected, rtol=1e-10, atol=1e-10)
    own = np.array([[reference(kernel, x, y) for y in X] for x in X]).reshape(len(X), len(X))
    np.testing.assert_allclose(kernel(Sequences.from_lists(X)), own, rtol=1e-10, atol=1e-10)
    np.testing.assert_allclose(
        kernel.diag(Sequences.from_lists(X)), np.diag(own), rtol=1e-10, atol=1e-10
    )


def draw(rng, n=7, alphabet="abcde", length=9):
    return Sequences.from_lists(
        [list(rng.choice(list(alphabet), rng.integers(1, length))) for _ in range(n)]
    )


@pytest.mark.parametrize(("kernel", "reference"), KERNELS, ids=IDS)
def test_kernel_obeys_the_laws(kernel, reference, rng):
    check_kernel(kernel, draw(rng))
    check_kernel(Normalized(kernel, empty="zero"), list(draw(rng)))


@pytest.mark.parametrize(("big", "chunk"), [(0, 7), (2, 3), (10**6, 1), (0, 10**6)])
def test_frequent_centres_and_small_chunks_change_nothing(monkeypatch, rng, big, chunk):
    X, Y = draw(rng, 12, "ab", 12), draw(rng, 5, "abz", 12)
    kernel = LocalityConvolution(window=1, theta=0.5)
    expected = kernel(X), kernel(X, Y), kernel.diag(X)
    monkeypatch.setattr("textrank.kernels.sequences.MIN_DENSE_WINDOWS", big)
    monkeypatch.setattr("textrank.kernels.sequences.MAX_CHUNK_PAIRS", chunk)
    for got, wanted in zip((kernel(X), kernel(X, Y), kernel.diag(X)), expected, strict=True):
        np.testing.assert_allclose(got, wanted, rtol=1e-12)


def test_long_windows_over_a_large_alphabet_do_not_overflow(rng):
    X = Sequences.from_lists([[f"s{c}" for c in rng.integers(0, 30000, 60)] for _ in range(4)])
    kernel = LocalityConvolution(window=4, theta=1.0)
    lists = [x.symbols() for x in X]
    expected = [[convolution(kernel, x, y) for y in lists] for x in lists]
    np.testing.assert_allclose(kernel(X), expected, rtol=1e-10)


def test_the_published_outer_power_stands_on_top(rng):
    check_kernel(Power(LocalityImproved(window=1), degree=2), draw(rng))


def test_each_view_sums_over_all_and_sum_gives_each_its_own_window(rng):
    X = MultiView({"tags": draw(rng), "links": draw(rng)})
    one = EachView(LocalityConvolution(), weights={"links": 0.5})
    two = Sum(
        [OnView("tags", LocalityConvolution()), OnView("links", LocalityConvolution())],
        weights=[1.0, 0.5],
    )
    np.testing.assert_allclose(one(X), two(X))
    check_kernel(one, X)
    check_kernel(EachView(LocalSum()), X)
    check_kernel(Sum([OnView("tags", LocalSum(window=2)), OnView("links", SpectrumKernel())]), X)
    names = {name[0] for name in EachView(LocalSum()).features(X).names}
    assert names == {"tags", "links"}
    with pytest.raises(ValueError, match=r"weights for \['tag'\], but the kernels are"):
        EachView(LocalSum(), weights={"tag": 1.0})(X)


def test_features_are_named_by_their_symbols():
    X = Sequences.from_lists([["Mp", "Ss"]])
    assert set(SpectrumKernel(2).features(X).names) == {("Mp",), ("Ss",), ("Mp", "Ss")}
    names = set(LocalityImproved(window=1, degree=2).features(X).names)
    assert ("+0 +1", "Mp", "Ss") in names
    assert ("near +0", "Mp", "Mp") in set(LocalSum(positional="same").features(X).names)


def test_sequences_slice_join_and_save():
    lists = [["a", "b"], [], ["b"]]
    X = Sequences.from_lists(lists)
    assert [x.symbols() for x in X] == lists
    assert [x.symbols() for x in X[1:]] == lists[1:]
    assert [x.symbols() for x in take_rows(X, np.array([2, 0]))] == [lists[2], lists[0]]
    assert [x.symbols() for x in Sequences.concat([X[2], Sequences.from_lists([["z", "b"]])])] == [
        ["b"],
        ["z", "b"],
    ]
    assert [x.symbols() for x in Sequences.from_arrays(X.to_arrays())] == lists


def test_a_pair_of_windows_is_compared_once_each(rng, monkeypatch):
    compared = []
    original = WindowPairs._compare_pairs
    monkeypatch.setattr(
        WindowPairs,
        "_compare_pairs",
        lambda self, i, j: compared.append(len(i)) or original(self, i, j),
    )
    X = draw(rng)
    LocalityConvolution(window=0)(Sequences.concat([X] * 20))
    assert sum(compared) == 5  # five symbols are five windows, however often they occur


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: LocalSum(window=-1), "window must be an integer"),
        (lambda: LocalSum(theta=0.0), "theta must be positive"),
        (lambda: LocalSum(positional="near"), "must be one of"),
        (lambda: LocalityConvolution(positional=[[1.0]]), "3 x 3 for window 1"),
        (
            lambda: LocalityConvolution(window=1, positional=[[0, 0, 1], [0, 1, 0], [1, 0, 0]]),
            "positive semidefinite, lowest eigenvalue -1",
        ),
        (lambda: LocalityImproved(degree=0), "degree at least 1"),
        (lambda: SpectrumKernel(length=0), "length must be at least 1"),
        (lambda: GapWeighted(decay=1.5), "decay between 0 and 1"),
        (lambda: GapWeighted(length=3, stretch=2), "at least length 3"),
        (lambda: EachView(SpectrumKernel(), weights={"a": -1.0}), "must not be negative"),
    ],
)
def test_wrong_settings_fail_with_their_value(make, words):
    with pytest.raises(ValueError, match=words):
        make()
