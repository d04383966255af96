"""Blocks: equality with the formula, the laws of a kernel, and names under their question."""

from __future__ import annotations

import numpy as np
import pytest

from textrank.features import MultiView, SharedRows
from textrank.io import pack_arrays, unpack_arrays
from textrank.kernels.algebra import Linear, Normalized, OnView, Sum
from textrank.kernels.views import PerQuestionKernel
from textrank.testing import check_kernel

KERNEL = PerQuestionKernel("asked", OnView("x", Linear()), constant=0.7)


def draw(rng: np.random.Generator, n: int = 9) -> MultiView:
    asked = [("than", "to", "me")[i] for i in rng.integers(0, 3, n)]
    return MultiView({"asked": asked, "x": rng.integers(0, 3, (n, 4)).astype(float)})


def test_equals_the_formula(rng):
    X = draw(rng)
    x, asked = np.asarray(X.view("x")), list(X.view("asked"))
    for i, row in enumerate(KERNEL(X)):
        for j, value in enumerate(row):
            expected = (0.49 + x[i] @ x[j]) if asked[i] == asked[j] else 0.0
            assert value == pytest.approx(expected)


@pytest.mark.parametrize("seed", range(3))
def test_obeys_the_laws(seed):
    check_kernel(KERNEL, draw(np.random.default_rng(seed)))


def test_features_give_the_kernel_and_stand_under_their_question(rng):
    X = draw(rng)
    F = KERNEL.features(X)
    np.testing.assert_allclose((F.values @ F.values.T).toarray(), KERNEL(X))
    for row, asked in enumerate(X.view("asked")):
        assert {F.names[int(c)][0] for c in F.values[[row]].indices} == {asked}


def test_a_single_question_keeps_all_columns(rng):
    X = MultiView({"asked": ["DNA"] * 3, "x": np.eye(3)})
    F = KERNEL.features(X)
    np.testing.assert_allclose((F.values @ F.values.T).toarray(), KERNEL(X))
    assert ("DNA", "constant") in list(F.names)


def test_constant_must_be_positive():
    with pytest.raises(ValueError, match="constant must be positive"):
        PerQuestionKernel("asked", Linear(), constant=0.0)


def shared(rng: np.random.Generator) -> MultiView:
    """Three questions about each of four."""
    at = np.repeat(np.arange(4), 3)
    x, z = (SharedRows(rng.integers(1, 3, (4, k)).astype(float), at) for k in (5, 2))
    return MultiView({"asked": ["a", "b", "c"] * 4, "x": x, "z": z})


def whole(X: MultiView) -> MultiView:
    return MultiView({name: X.view(name) for name in X.views})


@pytest.mark.parametrize("second", ["z", "x"])
def test_questions_about_the_same_look_at_it_once(rng, second, monkeypatch):
    X = shared(rng)
    kernel = PerQuestionKernel(
        "asked", Sum([OnView("x", Linear()), OnView(second, Normalized(Linear()))])
    )
    expected = kernel.features(whole(X))
    sizes = []
    plain = Linear.features
    monkeypatch.setattr(
        Linear, "features", lambda self, X: (sizes.append(len(X)), plain(self, X))[1]
    )
    found = kernel.features(X)
    assert list(found.names) == list(expected.names)
    np.testing.assert_allclose(found.values.toarray(), expected.values.toarray(), atol=1e-12)
    np.testing.assert_allclose(kernel(X), kernel(whole(X)), atol=1e-12)
    assert set(sizes[:2]) == {4}


def test_what_is_not_shared_alike_is_looked_at_candidate_by_candidate(rng):
    X = shared(rng)
    other = SharedRows(X.views["z"].distinct, np.tile(np.arange(4), 3))
    X = MultiView({**X.views, "z": other})
    kernel = PerQuestionKernel("asked", Sum([OnView("x", Linear()), OnView("z", Linear())]))
    found, expected = kernel.features(X), kernel.features(whole(X))
    np.testing.assert_allclose(found.values.toarray(), expected.values.toarray(), atol=1e-12)


def test_shared_views_are_saved_taken_and_told_as_others(rng):
    X = shared(rng)
    np.testing.assert_array_equal(unpack_arrays(pack_arrays(X)).view("x"), X.view("x"))
    np.testing.assert_array_equal(X.rows(np.array([5, 0])).view("z"), X.view("z")[[5, 0]])
    np.testing.assert_array_equal(X[4]["x"], X.view("x")[4])
    np.testing.assert_array_equal(X[3:7].view("x"), X.view("x")[3:7])
