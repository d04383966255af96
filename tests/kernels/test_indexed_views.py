"""A prepared kernel gives what the kernel itself gives."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp

from textrank.features import FeatureNames, Features, JointFeatures, MultiView, NameIndex
from textrank.kernels.views import CombinedViews, _merge_equal_columns

KERNEL = CombinedViews(
    linear={"a": 1.0, "b": 0.5}, gaussian={"c": [0.3, 2.0]}, gamma=1.5, gaussian_weights=[2.0]
)


def drawn(rng: np.random.Generator, size: int, words: str) -> Features:
    """Rows over names of one to three letters, some without any feature."""
    names = sorted({tuple(rng.choice(list(words), rng.integers(1, 4))) for _ in range(12)})
    values = rng.random((size, len(names))) * (rng.random((size, len(names))) < 0.4)
    values[0] = 0.0
    return Features(sp.csr_array(values), FeatureNames.from_iterable(names))


def viewed(rng: np.random.Generator, size: int, words: str) -> MultiView:
    numbers = Features(
        sp.csr_array(rng.random((size, 3))), FeatureNames.from_iterable(["x", "y", "z"])
    )
    return MultiView(
        {"a": drawn(rng, size, words), "b": drawn(rng, size, words), "c": numbers, "d": [0] * size}
    )


@pytest.mark.parametrize("seed", range(5))
def test_it_equals_the_kernel(seed):
    rng = np.random.default_rng(seed)
    X, Y = viewed(rng, 4, "abcde"), viewed(rng, 9, "abcxy")  # names that only one side knows
    np.testing.assert_allclose(KERNEL.index(Y)(X), KERNEL(X, Y), atol=1e-12)
    np.testing.assert_allclose(KERNEL.index(Y)(X[1:2]), KERNEL(X[1:2], Y), atol=1e-12)


@pytest.mark.parametrize("full", [0.0, 1.1], ids=["much alike", "different"])
@pytest.mark.parametrize("seed", range(5))
def test_it_equals_the_kernel_for_many(seed, full, monkeypatch):
    monkeypatch.setattr("textrank.kernels.views.MIN_DENSE_FILL", full)
    monkeypatch.setattr(
        "textrank.kernels.views.MIN_COMMON_SHARE", 0.3
    )  # some features are, some not
    rng = np.random.default_rng(seed)
    X, Y = viewed(rng, 70, "abcde"), viewed(rng, 50, "abcxy")
    np.testing.assert_allclose(KERNEL.index(Y)(X), KERNEL(X, Y), atol=1e-12)


def test_what_all_candidates_have_in_common_is_multiplied_once(rng):
    given = rng.random((9, 3))[:, [0, 1, 0, 2, 1, 0]]
    table = rng.random((6, 4)) * (rng.random((6, 4)) < 0.5)
    for own in (table, sp.csr_array(table)):
        left, right = _merge_equal_columns(given, own)
        assert left.shape == (9, 3)
        np.testing.assert_allclose(left @ right, given @ table, atol=1e-12)


def nested(rng: np.random.Generator, size: int, *, turned: bool = False) -> MultiView:
    """Views of which each begins with the columns of the one before; values of the last turned."""
    values = rng.random((size, 6)).astype(np.float32)  # as a saved model has them
    views = {name: values[:, :width] for name, width in (("c", 2), ("d", 4), ("e", 6))}
    if turned:
        views["e"] = views["e"][:, ::-1]
    return MultiView(
        {name: Features(sp.csr_array(own), FeatureNames.from_iterable("uvwxyz"[: own.shape[1]]))
         for name, own in views.items()}
    )  # fmt: skip


@pytest.mark.parametrize("turned", [False, True])
@pytest.mark.parametrize("odd", [False, True])
def test_views_that_contain_one_another_or_do_not(rng, turned, odd):
    gaussian = {"c": [0.3], "d": [0.2, 0.4], "e": [0.1, 0.3]}
    kernel = replace(KERNEL, linear={}, gaussian=gaussian)
    X, Y = nested(rng, 5, turned=odd), nested(rng, 9, turned=turned)
    prepared = kernel.index(Y)
    assert [own.start for own in prepared.gaussian_tables.values()] == [0, 2, 0 if turned else 4]
    np.testing.assert_allclose(prepared(X), kernel(X, Y), atol=1e-12)
    X = nested(rng, 70, turned=odd)  # more than have their exponentials at a time
    np.testing.assert_allclose(prepared(X), kernel(X, Y), atol=1e-12)


def test_it_takes_plain_arrays_and_only_gaussians(rng):
    X, Y = (MultiView({name: rng.random((n, 3)) for name in "abc"}) for n in (4, 6))
    np.testing.assert_allclose(KERNEL.index(Y)(X), KERNEL(X, Y), atol=1e-12)
    bells = replace(KERNEL, linear={})
    np.testing.assert_allclose(bells.index(Y)(X), bells(X, Y), atol=1e-12)
    plain = replace(KERNEL, gaussian={})
    np.testing.assert_allclose(plain.index(Y)(X), plain(X, Y), atol=1e-12)


@pytest.mark.parametrize("seed", range(5))
def test_views_that_come_side_by_side_are_looked_up_together(seed):
    rng = np.random.default_rng(seed)
    X, Y = viewed(rng, 6, "abcde"), viewed(rng, 9, "abcxy")
    for together in (("b", "a"), ("a",), ("b", "other")):  # the last has a view no kernel asks for
        blocks = {name: X.views.get(name, X.views["a"]) for name in together}
        of = np.repeat(np.arange(len(blocks)), [len(own.names) for own in blocks.values()])
        joined = JointFeatures(Features.hstack(blocks), together, of, len(X))
        found = KERNEL.index(Y)(MultiView(X.views, joined))
        np.testing.assert_allclose(found, KERNEL(X, Y), atol=1e-12)


@pytest.mark.parametrize("seed", range(5))
def test_names_are_found_where_they_stand(seed):
    rng = np.random.default_rng(seed)
    ours, theirs = drawn(rng, 2, "abcd").names, drawn(rng, 2, "cdefgh").names
    np.testing.assert_array_equal(NameIndex(ours).find(theirs), ours.find(theirs))
    long = FeatureNames.from_iterable([(*ours[0], "a", "a", "a", "a"), ours[0]])
    np.testing.assert_array_equal(NameIndex(ours).find(long), [-1, 0])


def test_names_of_one_hash_are_told_apart(monkeypatch):
    monkeypatch.setattr(NameIndex, "_is_exact", False)
    monkeypatch.setattr(
        NameIndex, "_encode", lambda self, names, numbers: np.zeros(len(names), np.uint64)
    )
    ours = FeatureNames.from_iterable(["a", "b", ("a", "b"), "c"])
    found = NameIndex(ours).find(FeatureNames.from_iterable([("a", "b"), "d", "c", "a"]))
    np.testing.assert_array_equal(found, [2, -1, 3, 0])


def test_an_empty_index_finds_nothing():
    np.testing.assert_array_equal(
        NameIndex(FeatureNames.from_iterable([])).find(FeatureNames.from_iterable(["a"])), [-1]
    )
