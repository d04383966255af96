"""Slotted: weighed by hashes of words as by the features themselves."""

from __future__ import annotations

import numpy as np
import pytest

from textrank.features import FeatureNames
from textrank.linear_scores import FeatureWeights, TemplateFeatures, TemplateWeights

WORDS = ("one", "two", "three", "of", "to", "in", "the", "a")


def draw(rng: np.random.Generator, n: int = 6, *, some: bool = False) -> TemplateFeatures:
    """Candidates with a word, a pair and a feature without words."""
    present = rng.random((n, 3)) < 0.7 if some else None
    slots = np.array([[0, -1], [0, 1], [-1, -1]])
    fill = rng.integers(3, len(WORDS), (n, 2)).astype(np.int32)
    return TemplateFeatures(
        WORDS, fill, np.array([0, 1, 2]), slots, np.array([1.0, 0.5, 0.25]), present
    )


def weights_of(rng: np.random.Generator, names: FeatureNames, questions: int) -> FeatureWeights:
    """Some names for some questions each; and longer and shorter ones, which nobody has."""
    every = FeatureNames.concat(
        [names.unique()[0], FeatureNames.from_iterable([("two", "of"), ("one", "of", "to", "in")])]
    )
    kept = np.flatnonzero(rng.random(len(every)) < 0.8)
    asked = np.repeat(np.arange(questions), len(kept))
    both = every.take(np.tile(kept, questions))
    return FeatureWeights(both, asked, rng.normal(size=len(both)), rng.permutation(len(both)))


@pytest.mark.parametrize("some", [False, True], ids=["all", "some"])
@pytest.mark.parametrize("seed", range(4))
def test_slots_are_weighed_as_their_features(seed, some):
    rng = np.random.default_rng(seed)
    X = draw(rng, some=some)
    weights = weights_of(rng, draw(rng, 9).features().names, 3)
    at, asked = rng.integers(0, len(X), 20), rng.integers(-1, 3, 20)
    fast, slow = TemplateWeights(weights)(X, asked, at), weights.score(X.features(), asked, at)
    np.testing.assert_allclose(fast.products, slow.products, atol=1e-14)
    np.testing.assert_allclose(fast.squares, slow.squares, atol=1e-14)
    assert sorted(zip(*fast.contributions(), strict=True)) == sorted(
        zip(*slow.contributions(), strict=True)
    )
    assert fast.products[asked >= 0].any()
    assert not fast.products[asked < 0].any()


def test_names_of_one_hash_are_told_apart(rng, monkeypatch):
    """Of two such names one may be missed, but none gets the weight of the other."""
    monkeypatch.setattr("textrank.linear_scores._hash_factor", lambda place: np.uint64(1))
    X = draw(rng)
    names = X.features().names.unique()[0]
    weights = FeatureWeights.from_coef(names, np.arange(1.0, len(names) + 1))
    rows, features, places = TemplateWeights(weights)._find_weights(
        X, np.zeros(len(X), dtype=np.intp), np.arange(len(X))
    )
    assert len(places)
    told = FeatureNames(X.vocabulary, X.names(rows, features))
    assert list(told) == list(names.take(places))


def test_rows_are_those_of_the_features(rng):
    X = draw(rng, some=True)
    assert len(X) == 6
    assert list(X[2].names) == list(X.features().names)
