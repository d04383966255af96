"""Scores and their parts by weights: the same as by features moved onto the model's names."""

from __future__ import annotations

import numpy as np
import pytest

from textrank.features import Features, MultiView, SharedRows
from textrank.graphs import Contexts
from textrank.kernels.algebra import Gaussian, Linear, Normalized, OnView, Scale, Sum
from textrank.kernels.sequences import MAX_TABLE_COMPONENTS, Positional
from textrank.kernels.views import EachView, PerQuestionKernel
from textrank.linear_scores import FeatureWeights, compile_scorer
from textrank.representations.transformations import (
    Bag,
    CharacterNgrams,
    ScaleFree,
    Sided,
    Strict,
    Weighting,
)

WORDS = [f"w{i}" for i in range(12)]
SIDED = Weighting(decay=1.0, base=0.1, of=Sided(0.5))


def contexts(rng: np.random.Generator, n: int, far: int = 5) -> Contexts:
    """Contexts of words that repeat, some empty, some with the target kept."""

    def one(size: int) -> list[tuple[str, int]]:
        found = zip(rng.choice(WORDS, size), rng.integers(-far, far + 1, size), strict=True)
        return [(str(word), int(place)) for word, place in found]

    return Contexts.from_lists([one(int(size)) for size in rng.integers(0, 8, n)])


def bags(rng: np.random.Generator, n: int) -> Features:
    def one() -> dict[str, float]:
        return {str(w): float(rng.random()) + 0.1 for w in rng.choice(WORDS, 4, replace=False)}

    return Features.from_dicts([one() for _ in range(n)])


def draw(rng: np.random.Generator, n: int = 20, *, share: bool = False) -> MultiView:
    asked = [("than", "to", "me")[i] for i in rng.integers(0, 3, n)]
    first = [("a", "b")[i] for i in rng.integers(0, 2, n)]
    views = {"bag": bags(rng, n), "words": contexts(rng, n)}
    if share:
        at = rng.integers(0, n, n)
        views = {name: SharedRows(view, at) for name, view in views.items()}
    return MultiView({"asked": asked, "first": first, **views})


def words(positions=SIDED):
    return Normalized(OnView("words", Positional(positions)), empty="zero")


BAG = OnView("bag", Normalized(Linear()))
KERNELS = {
    "bag": BAG,
    "sum": Sum([BAG, words()], weights=[2.0, 0.5]),
    "none of one": Sum([BAG, words()], weights=[0.0, 0.5]),
    "by features": Sum([Scale(BAG, 2.0), words(Bag())]),
    "every view alike": EachView(Normalized(Linear())),
    "strict": words(Strict()),
    "smooth": words(ScaleFree(across=0.5)),
    "blocks": PerQuestionKernel("asked", Sum([BAG, words()])),
    "blocks of blocks": PerQuestionKernel(
        "first", PerQuestionKernel("asked", Sum([BAG, words()])), constant=0.3
    ),
}


@pytest.mark.parametrize("share", [False, True], ids=["own", "shared"])
@pytest.mark.parametrize("name", KERNELS)
def test_weighed_as_by_features(rng, name, share):
    kernel = KERNELS[name]
    train, X = draw(rng, 30), draw(rng, share=share)
    if isinstance(kernel, EachView):
        train, X = MultiView({"bag": train.view("bag")}), MultiView({"bag": X.view("bag")})
    check(kernel, train, X, rng)


def check(kernel, train, X, rng) -> None:
    names = kernel.features(train).names
    coef = rng.normal(size=len(names))
    fast = compile_scorer(kernel, FeatureWeights.from_coef(names, coef))(
        X, np.zeros(len(X), dtype=np.intp)
    )
    X = MultiView({name: X.view(name) for name in X.views}) if isinstance(X, MultiView) else X
    slow = kernel.features(X).align_to(names)
    np.testing.assert_allclose(fast.products, slow @ coef, atol=1e-12)
    np.testing.assert_allclose(fast.squares, kernel.diag(X), atol=1e-12)
    met = fast.contributions().to_features(len(X), names)
    np.testing.assert_array_equal(met.cells.indptr, slow.indptr)
    np.testing.assert_array_equal(met.cells.indices, slow.indices)
    np.testing.assert_allclose(met.cells.data, slow.data, atol=1e-12)


def test_a_question_nobody_trained_on_has_no_weights(rng):
    kernel, train = KERNELS["blocks"], draw(rng)
    X = draw(rng)
    X = MultiView({**X.views, "asked": ["new"] * len(X)})
    names = kernel.features(train).names
    weigh = compile_scorer(kernel, FeatureWeights.from_coef(names, np.ones(len(names))))
    found = weigh(X, np.zeros(len(X), dtype=np.intp))
    assert not found.products.any()
    assert not len(found.contributions().rows)


@pytest.mark.parametrize("far", [3, MAX_TABLE_COMPONENTS])
def test_words_farther_away_than_any_in_training(rng, far):
    """Many components are weighed by features; a few in a table, whatever the distance."""
    train, X = contexts(rng, 40, far), contexts(rng, 20, 3 * far)
    check(Positional(Strict()), train, X, rng)
    check(Positional(SIDED), train, X, rng)


def test_similar_words_are_weighed_by_features(rng):
    check(Positional(SIDED, words=CharacterNgrams()), contexts(rng, 30), contexts(rng, 9), rng)


def test_an_input_without_features_is_refused_as_ever(rng):
    kernel = Normalized(Positional(Bag()))
    names = kernel.kernel.features(contexts(rng, 9)).names
    weigh = compile_scorer(kernel, FeatureWeights.from_coef(names, np.ones(len(names))))
    with pytest.raises(ValueError, match="the first at index 1"):
        weigh(Contexts.from_lists([[("w1", 1)], []]), np.zeros(2, dtype=np.intp))


def test_nothing_is_weighed_to_nothing(rng):
    kernel, train = KERNELS["blocks"], draw(rng)
    names = kernel.features(train).names
    weigh = compile_scorer(kernel, FeatureWeights.from_coef(names, np.ones(len(names))))
    none = MultiView({name: view[:0] for name, view in train.views.items()})
    found = weigh(none, np.zeros(0, dtype=np.intp))
    assert found.products.shape == (0,)
    assert found.contributions().to_features(0, names).cells.shape == (0, len(names))


def test_a_kernel_without_features_says_so(rng):
    names = bags(rng, 3).names
    with pytest.raises(TypeError, match="Gaussian has no explicit features"):
        compile_scorer(Gaussian(), FeatureWeights.from_coef(names, np.ones(len(names))))


def test_a_question_without_weights_gives_no_score():
    features = Features.from_dicts([{"a": 1.0, "b": 1.0}])
    columns = np.arange(2)
    weights = FeatureWeights(features.names, np.zeros(2, np.intp), np.array([2.0, 3.0]), columns)
    assert weights.find(columns, np.array([0, 0])).tolist() == [0, 1]
    assert weights.find(columns, np.array([1, 7])).tolist() == [-1, -1]
    assert weights.score(features, np.array([1])).products.tolist() == [0.0]
