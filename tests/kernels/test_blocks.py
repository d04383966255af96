"""Blocks: equality with the formula, the laws of a kernel, and names under their question."""

from __future__ import annotations

import numpy as np
import pytest

from textrank.kernels.algebra import OnView
from textrank.kernels.blocks import Blocks
from textrank.kernels.vectors import Linear
from textrank.testing import check_kernel
from textrank.types import Viewed

KERNEL = Blocks("asked", OnView("x", Linear()), constant=0.7)


def draw(rng: np.random.Generator, n: int = 9) -> Viewed:
    asked = [("than", "to", "me")[i] for i in rng.integers(0, 3, n)]
    return Viewed({"asked": asked, "x": rng.integers(0, 3, (n, 4)).astype(float)})


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
    X = Viewed({"asked": ["DNA"] * 3, "x": np.eye(3)})
    F = KERNEL.features(X)
    np.testing.assert_allclose((F.values @ F.values.T).toarray(), KERNEL(X))
    assert ("DNA", "constant") in list(F.names)


def test_constant_must_be_positive():
    with pytest.raises(ValueError, match="constant must be positive"):
        Blocks("asked", Linear(), constant=0.0)
