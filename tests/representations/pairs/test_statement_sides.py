"""Sides: what is told of each name for itself, summed up and subtracted."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from spacy.tokens import Doc

from tests.representations.pair_docs import at_random, by_hand
from textrank.representations.pairs.entity_pair import EntityPair, entity_pairs
from textrank.representations.pairs.statement_sides import Sides, _Numbers, ending
from textrank.representations.pairs.telling import TreePair, tellings
from textrank.types import Features


def row(features: Features, index: int) -> dict[tuple[str, ...], float]:
    values = features.values.toarray()[index]
    return {features.names[j]: float(v) for j, v in enumerate(values) if v}


def test_who_acts_is_plus_and_who_is_acted_on_minus(make_doc: Callable[..., Doc]) -> None:
    sides = Sides.of(tellings(entity_pairs(by_hand(make_doc), "own")))
    turned, same = row(sides.turned, 0), row(sides.same, 0)
    assert turned[("part", "subject")] == 1.0
    assert turned[("part", "object")] == -1.0
    assert turned[("order", "binding", "name first", "active")] == 1.0
    assert turned[("order", "binding", "name later", "active")] == -1.0
    assert same[("part", "subject")] == same[("part", "object")] == 1.0


@pytest.mark.parametrize("seed", range(10))
def test_names_that_change_places_keep_the_sum_and_turn_the_difference(
    make_doc: Callable[..., Doc], seed: int
) -> None:
    told = tellings(entity_pairs(at_random(make_doc, np.random.default_rng(seed)), "own"))
    turned = [
        TreePair(EntityPair(one.pair.context, one.pair.second, one.pair.first), one.tree)
        for one in told
    ]
    alike = [(a, b) for a, b in zip(told, turned, strict=True) if a.paths == b.paths[::-1]]
    assert alike  # the others have two ways of equal length, of which each takes the first
    for one, other in alike:
        here, there = Sides.of([one]), Sides.of([other])
        assert row(here.same, 0) == row(there.same, 0)
        assert row(here.turned, 0) == {k: -v for k, v in row(there.turned, 0).items()}


@pytest.mark.parametrize("seed", range(10))
def test_pairs_together_are_told_as_each_alone(make_doc: Callable[..., Doc], seed: int) -> None:
    told = tellings(entity_pairs(at_random(make_doc, np.random.default_rng(seed)), "own"))
    together = Sides.of(told)
    for index, one in enumerate(told):
        first, second = (
            {fact for fact, number in numbers.known.items() if number in of}
            for numbers in [_Numbers()]
            for of in [numbers.of(one, 0), numbers.of(one, 1)]
        )
        same = {f: 1.0 + (f in first and f in second) for f in first | second}
        difference = {f: 1.0 if f in first else -1.0 for f in first ^ second}
        assert row(together.same, index) == same
        assert row(together.turned, index) == difference


def test_no_pairs_have_no_rows() -> None:
    sides = Sides.of([])
    assert len(sides.same) == len(sides.turned) == 0


def test_endings_tell_apart_who_acts() -> None:
    words = ["induced", "inducing", "inducer", "Kinase", "sing", "is"]
    assert [ending(word) for word in words] == ["ed", "ing", "er", "ase", "", ""]
