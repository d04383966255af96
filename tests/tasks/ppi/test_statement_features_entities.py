"""Sides: what is told of each name for itself, summed up and subtracted."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from spacy.tokens import Doc

from tests.tasks.ppi.pair_docs import hand_made_pairs, random_pairs
from tests.tasks.ppi.plain_trees import make_tree_pairs as plain_trees
from textrank.features import Features
from textrank.tasks.ppi.pairs import EntityPair, analyze_pairs
from textrank.tasks.ppi.statement_features import EntityFacts, pair_trees, suffix


def row(features: Features, index: int) -> dict[tuple[str, ...], float]:
    values = features.values.toarray()[index]
    return {features.names[j]: float(v) for j, v in enumerate(values) if v}


def test_who_acts_is_plus_and_who_is_acted_on_minus(make_doc: Callable[..., Doc]) -> None:
    sides = EntityFacts.from_trees(pair_trees(analyze_pairs(hand_made_pairs(make_doc), "own")))
    turned, same = row(sides.difference, 0), row(sides.sum, 0)
    assert turned[("part", "subject")] == 1.0
    assert turned[("part", "object")] == -1.0
    assert turned[("order", "binding", "name first", "active")] == 1.0
    assert turned[("order", "binding", "name later", "active")] == -1.0
    assert same[("part", "subject")] == same[("part", "object")] == 1.0


@pytest.mark.parametrize("seed", range(10))
def test_names_that_change_places_keep_the_sum_and_turn_the_difference(
    make_doc: Callable[..., Doc], seed: int
) -> None:
    pairs = list(analyze_pairs(random_pairs(make_doc, np.random.default_rng(seed)), "own"))
    turned = [EntityPair(pair.context, pair.second, pair.first) for pair in pairs]
    here, there = (
        EntityFacts.from_trees(pair_trees(pairs)),
        EntityFacts.from_trees(pair_trees(turned)),
    )
    paths = [
        (a.paths, b.paths[::-1])
        for a, b in zip(plain_trees(pairs), plain_trees(turned), strict=True)
    ]
    alike = [index for index, (one, other) in enumerate(paths) if one == other]
    assert alike  # the others have two ways of equal length, of which each takes the first
    for index in alike:
        assert row(here.sum, index) == row(there.sum, index)
        turning = {k: -v for k, v in row(there.difference, index).items()}
        assert row(here.difference, index) == turning


@pytest.mark.parametrize("seed", range(10))
def test_pairs_together_are_told_as_each_alone(make_doc: Callable[..., Doc], seed: int) -> None:
    pairs = list(analyze_pairs(random_pairs(make_doc, np.random.default_rng(seed)), "own"))
    together = EntityFacts.from_trees(pair_trees(pairs))
    for index, pair in enumerate(pairs):
        alone = EntityFacts.from_trees(pair_trees([pair]))
        assert row(together.sum, index) == row(alone.sum, 0)
        assert row(together.difference, index) == row(alone.difference, 0)


def test_no_pairs_have_no_rows() -> None:
    sides = EntityFacts.from_trees(pair_trees([]))
    assert len(sides.sum) == len(sides.difference) == 0


def test_endings_tell_apart_who_acts() -> None:
    words = ["induced", "inducing", "inducer", "Kinase", "sing", "is"]
    assert [suffix(word) for word in words] == ["ed", "ing", "er", "ase", "", ""]
