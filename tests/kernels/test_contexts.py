"""The kernel on contexts: its double sum in plain loops, the laws, and scoring by table."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from textrank.graphs import Contexts
from textrank.kernels.algebra import Gaussian, Normalized, Sum
from textrank.kernels.sequences import Positional
from textrank.representations.transformations import (
    Bag,
    CharacterNgrams,
    EqualWords,
    LogScale,
    Mixture,
    ScaleFree,
    SharedStem,
    Sided,
    Smooth,
    Strict,
    Weighting,
)
from textrank.testing import check_kernel

STEMS = Mixture([EqualWords(), SharedStem()], weights=[1.0, 0.5])
KERNELS = [
    Positional(Bag()),
    Positional(Strict()),
    Positional(Weighting(1.5, 0.025)),
    Positional(Weighting(1.5, 0.05, of=Sided(0.5))),
    Positional(Smooth(0.1)),
    Positional(Weighting(1.0, 0.025, of=ScaleFree(0.3))),
    Positional(Weighting(1.0, 0.025, of=LogScale(1.0)), words=STEMS),
    Positional(Mixture([Bag(), Strict()], weights=[0.5, 1.0]), words=CharacterNgrams()),
]
IDS = [str(i) for i in range(len(KERNELS))]

words = st.deferred(lambda: st.sampled_from(VOCABULARY))
contexts = st.lists(st.lists(st.tuples(words, st.integers(-15, 15)), max_size=8), max_size=5)


VOCABULARY = ["bind", "binds", "to", "gene", "p53"]


@cache
def similarities(number):
    """P̂ over positions -15 ... 15 and Ŵ over the vocabulary, as tables."""
    kernel = KERNELS[number]
    R = kernel.positions.factor(np.arange(-15, 16)).values
    B = (kernel.words or EqualWords()).factor(VOCABULARY).values
    return (R @ R.T).toarray(), (B @ B.T).toarray()


def reference(kernel, X, Z):
    """Σ over words of both contexts of P̂(p, q) Ŵ(v, w)."""
    P, W = similarities(KERNELS.index(kernel))
    at = VOCABULARY.index
    return sum(P[p + 15, q + 15] * W[at(v), at(w)] for v, p in X for w, q in Z)


@pytest.mark.parametrize("kernel", KERNELS, ids=IDS)
@settings(max_examples=15, deadline=None)
@given(X=contexts, Y=contexts)
def test_kernel_equals_the_double_sum(kernel, X, Y):
    expected = np.array([[reference(kernel, x, y) for y in Y] for x in X]).reshape(len(X), len(Y))
    np.testing.assert_allclose(
        kernel(Contexts.from_lists(X), Contexts.from_lists(Y)), expected, atol=1e-10
    )
    diagonal = [reference(kernel, x, x) for x in X]
    np.testing.assert_allclose(kernel.diag(Contexts.from_lists(X)), diagonal, atol=1e-10)


def draw(rng, n=8):
    return Contexts.from_lists(
        [
            [
                (f"w{rng.integers(6)}", int(p))
                for p in rng.integers(1, 20, 6) * rng.choice([-1, 1], 6)
            ]
            for _ in range(n)
        ]
    )


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("kernel", KERNELS, ids=IDS)
def test_kernel_obeys_the_laws(kernel, seed):
    X = draw(np.random.default_rng(seed))
    check_kernel(kernel, X)
    check_kernel(Normalized(kernel), list(X))


def test_nonlinear_kernels_stand_on_top(rng):
    check_kernel(Gaussian(0.5, kernel=Normalized(KERNELS[3])), draw(rng))


def test_feature_names_say_word_and_place():
    X = Contexts.from_lists([[("bind", -1), ("to", 2)]])
    assert list(KERNELS[0].features(X).names) == [("bind", "anywhere"), ("to", "anywhere")]
    assert list(KERNELS[1].features(X).names) == [("bind", "-1"), ("to", "+2")]
    sided = KERNELS[3].features(X)
    assert ("bind", "before", "anywhere") in list(sided.names)
    assert ("bind", "after", "anywhere") not in list(sided.names)


@pytest.mark.parametrize("kernel", KERNELS, ids=IDS)
def test_a_table_scores_like_the_features_and_ignores_unknown_words(kernel, rng):
    train, test = draw(rng), Contexts.concat([draw(rng), Contexts.from_lists([[("new", 1)], []])])
    F = kernel.features(train)
    coef = rng.normal(size=len(F.names))
    table = kernel.table(coef, F.names, vocabulary=train.vocabulary, span=20)
    known = test.with_words(train.vocabulary)
    expected = kernel.features(known).align_to(F.names) @ coef
    np.testing.assert_allclose(table.scores(test), expected, atol=1e-10)
    np.testing.assert_allclose(table.scores(known), expected, atol=1e-10)


def test_a_table_equals_the_dual_expansion(rng):
    """Weight of word v at position p: (Ŵ (Σ a_i X_i) P̂)_vp, whatever the training size."""
    kernel, train, new = KERNELS[5], draw(rng, 12), draw(rng, 5)
    a = rng.normal(size=len(train))
    F = kernel.features(train)
    table = kernel.table(F.values.T @ a, F.names, vocabulary=train.vocabulary, span=20)
    np.testing.assert_allclose(table.scores(new), kernel(new, train) @ a, atol=1e-10)


def test_a_table_that_is_too_narrow_says_so(rng):
    table = KERNELS[0].table(np.zeros(0), KERNELS[0].features(draw(rng)[:0]).names,
                             vocabulary=["w1"], span=2)  # fmt: skip
    with pytest.raises(ValueError, match=r"7 words from its target but the table covers 2"):
        table.scores(Contexts.from_lists([[("w1", 7)]]))


def test_parts_of_a_sum_may_share_one_representation(rng):
    kernel = Sum([Normalized(KERNELS[0]), Normalized(KERNELS[3])], weights=[0.5, 1.0])
    check_kernel(kernel, draw(rng))
