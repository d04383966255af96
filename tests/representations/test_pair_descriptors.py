"""The descriptors of a pair, one by one."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parent))
from pair_docs import at_random, by_hand

from textrank.representations.descriptor_facts import facts_of
from textrank.representations.descriptor_table import DESCRIPTORS
from textrank.representations.entity_pair import entity_pairs
from textrank.representations.pair_descriptors import PairDescriptors, describe


def described(candidates) -> list[dict[str, float]]:
    pairs = entity_pairs(candidates, "auto")
    return [describe(p, f) for p, f in zip(pairs, facts_of(pairs), strict=True)]


def test_the_table_names_exactly_what_is_computed(make_doc):
    names = [d.name for d in DESCRIPTORS]
    assert len(set(names)) == len(names)
    assert sum(d.basic for d in DESCRIPTORS) == 32
    for values in described(by_hand(make_doc)):
        assert set(values) == set(names)


def test_values_of_a_sentence_by_hand(make_doc):
    expected = {  # STAT1 binds JAK2 but not IL 2, the pair STAT1 and IL 2
        "path length": 2.0,
        "distance": np.log(5),
        "sentence length": np.log(7),
        "entities between": np.log(2),
        "entities in sentence": np.log(3),
        "share of shorter paths": 0.0,
        "share of nearer pairs": 2 / 3,
        "first entity": 1.0,
        "last entity": 1.0,
        "adjacent entities": 0.0,
        "shared token": 0.0,
        "trigger between": 1.0,
        "trigger before": 0.0,
        "negation between": 1.0,
        "verbs between": np.log(2),
        "path has subject": 1.0,
        "path has conjunction": 1.0,
        "path has object": 0.0,
        "path is negated": 1.0,
        "trigger on path": 1.0,
        "path from first to trigger": 1.0,
        "path from second to trigger": 1.0,
        "path from joint to trigger": 2.0,
        "distance from second to trigger": np.log(5),
        "nearest joint trigger between": 1.0,
        "other entity nearer first": 1.0,
        "other entity nearer first by path": 0.0,
        "first is subject": 1.0,
        "second is conjunct": 1.0,
        "second under a verb": 1.0,
        "second under a trigger": 1.0,
        "common head": 1.0,
        "one heads the other": 0.0,
        "names equal": 0.0,
        "cue but": 1.0,
        "first position": 0.0,
        "second position": 5 / 6,
    }
    values = described(by_hand(make_doc))[1]
    assert {name: pytest.approx(values[name]) for name in expected} == expected


def test_names_are_compared_without_case(make_doc):
    doc = make_doc(
        ["Raf", "raf", "Raf1"], [1, 1, 1], ["nn", "ROOT", "dep"], [(0, 1), (1, 2), (2, 3)]
    )
    from pair_docs import pairs_of

    same, inside, _ = described(pairs_of(doc))
    assert (same["names equal"], same["name within name"], same["name repeated"]) == (1, 0, 1)
    assert (inside["names equal"], inside["name within name"]) == (0, 1)


def test_parentheses_are_counted(make_doc):
    words = ["A", "(", "B", ")", "C"]
    doc = make_doc(words, [0, 2, 0, 2, 0], ["ROOT", "dep", "appos", "dep", "dep"], [(0, 1), (2, 3)])
    from pair_docs import pairs_of

    values = described(pairs_of(doc))[0]
    assert (values["first depth"], values["second depth"]) == (0, 1)
    assert values["parentheses between"] == pytest.approx(np.log(2))
    assert values["one heads the other"] == 1


@pytest.mark.parametrize("seed", range(20))
def test_all_values_are_finite_on_odd_sentences(make_doc, seed):
    candidates = at_random(make_doc, np.random.default_rng(seed))
    assert np.isfinite(PairDescriptors()(candidates).values.toarray()).all()


def test_values_are_divided_by_their_scales(make_doc):
    features = PairDescriptors()(by_hand(make_doc))
    raw = described(by_hand(make_doc))
    for column, descriptor in enumerate(DESCRIPTORS):
        assert features.names[column] == (descriptor.name,)
        got = features.values.toarray()[:, column] * descriptor.scale
        np.testing.assert_allclose(got, [values[descriptor.name] for values in raw])


@pytest.mark.parametrize("group", ["entity count", "name equality"])
def test_groups_can_be_left_out(make_doc, group):
    switches = {"entity_counts": group != "entity count", "name_equality": group == "entity count"}
    names = {name for (name,) in PairDescriptors(**switches)(by_hand(make_doc)).names}
    assert names == {d.name for d in DESCRIPTORS if d.group != group}


def test_basic_is_a_part_of_all(make_doc):
    basic = PairDescriptors(which="basic")(by_hand(make_doc))
    assert basic.values.shape == (3, 32)
