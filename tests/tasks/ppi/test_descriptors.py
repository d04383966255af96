"""The descriptors of a pair, one by one."""

from __future__ import annotations

import numpy as np
import pytest

from tests.tasks.ppi.pair_docs import hand_made_pairs, pair_entities, random_pairs
from tests.tasks.ppi.plain_descriptors import describe
from tests.tasks.ppi.plain_facts import by_sentence
from tests.tasks.ppi.plain_pairs import plain_pairs
from textrank.tasks.ppi.descriptors import DESCRIPTORS, PairDescriptors, scale
from textrank.tasks.ppi.descriptors import descriptor_values as described_together
from textrank.tasks.ppi.pairs import analyze_pairs
from textrank.tasks.ppi.task import PPI
from textrank.tasks.ppi.views import PairViews

LEVELS = ("basic", "position", "relation")


def described(candidates) -> list[dict[str, float]]:
    pairs = analyze_pairs(candidates, "auto")
    table = scale(described_together(pairs.arrays))
    names = [d.name for d in DESCRIPTORS]
    return [dict(zip(names, row, strict=True)) for row in table.tolist()]


@pytest.mark.parametrize("seed", range(6))
def test_pairs_together_are_as_pairs_alone(make_doc, seed):
    candidates = random_pairs(make_doc, np.random.default_rng(seed))
    pairs = plain_pairs(analyze_pairs(candidates, "auto"))
    alone = [
        describe(pair, facts)
        for facts, at in by_sentence(pairs)
        for pair in map(pairs.__getitem__, at)
    ]
    for together, plain in zip(described(candidates), alone, strict=True):
        assert together == pytest.approx(plain, abs=1e-12)


def test_the_table_names_exactly_what_is_computed(make_doc):
    names = [d.name for d in DESCRIPTORS]
    assert len(set(names)) == len(names)
    assert [sum(d.level == level for d in DESCRIPTORS) for level in LEVELS] == [32, 56, 48]
    for values in described(hand_made_pairs(make_doc)):
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
    values = described(hand_made_pairs(make_doc))[1]
    assert {name: pytest.approx(values[name]) for name in expected} == expected


def test_relations_of_a_sentence_by_hand(make_doc):
    expected = {  # STAT1 binds JAK2 but not IL 2, the pair STAT1 and IL 2
        "members of one list": 0.0,
        "nothing between": 0.0,
        "lists on path": np.log(2),
        "path length without lists": 1.0,
        "top is a trigger": 1.0,
        "top is a strong trigger": 1.0,
        "top is a verb": 1.0,
        "subject and object of the top": 0.0,
        "strong trigger between": 1.0,
        "strong trigger on path": 1.0,
        "strong trigger before": 0.0,
        "trigger verb between": 1.0,
        "trigger before entities between": 1.0,
        "trigger after entities between": 0.0,
        "triggers in sentence": np.log(2),
        "rivals of first for the trigger by path": 0.0,
        "rivals of second for the trigger": np.log(2),
    }
    first, values, _ = described(hand_made_pairs(make_doc))
    assert {name: pytest.approx(values[name]) for name in expected} == expected
    assert first["subject and object of the top"] == 1.0


def test_lists_and_parentheses_join_names(make_doc):
    words = ["A", ",", "B", "(", "C", ")", "-", "D", "receptor"]
    doc = make_doc(
        words, [0] * 9, ["ROOT", *["dep"] * 8], [(0, 1), (2, 3), (4, 5), (7, 8)], ["NN"] * 9
    )
    values = dict(
        zip(["AB", "AC", "AD", "BC", "BD", "CD"], described(pair_entities(doc)), strict=True)
    )
    assert values["AB"]["members of one list"] == 1
    assert values["BC"]["second in parentheses behind first"] == 1
    assert values["AC"]["second in parentheses behind first"] == 0
    assert values["CD"]["second before holder words"] == 1
    assert values["CD"]["first before holder words"] == 0


def test_names_are_compared_without_case(make_doc):
    doc = make_doc(
        ["Raf", "raf", "Raf1"], [1, 1, 1], ["nn", "ROOT", "dep"], [(0, 1), (1, 2), (2, 3)]
    )
    same, inside, _ = described(pair_entities(doc))
    assert (same["names equal"], same["name within name"], same["name repeated"]) == (1, 0, 1)
    assert (inside["names equal"], inside["name within name"]) == (0, 1)


@pytest.mark.parametrize(("opening", "closing"), [("(", ")"), ("-LRB-", "-RRB-")])
def test_parentheses_are_counted(make_doc, opening, closing):
    words = ["A", opening, "B", closing, "C"]
    doc = make_doc(words, [0, 2, 0, 2, 0], ["ROOT", "dep", "appos", "dep", "dep"], [(0, 1), (2, 3)])
    values = described(pair_entities(doc))[0]
    assert (values["first depth"], values["second depth"]) == (0, 1)
    assert values["parentheses between"] == pytest.approx(np.log(2))
    assert values["second in parentheses behind first"] == 1
    assert values["one heads the other"] == 1


@pytest.mark.parametrize("seed", range(20))
def test_all_values_are_finite_on_odd_sentences(make_doc, seed):
    candidates = random_pairs(make_doc, np.random.default_rng(seed))
    assert np.isfinite(PairDescriptors()(candidates).values.toarray()).all()


def test_values_are_divided_by_their_scales(make_doc):
    features = PairDescriptors()(hand_made_pairs(make_doc))
    raw = described(hand_made_pairs(make_doc))
    for column, descriptor in enumerate(DESCRIPTORS):
        assert features.names[column] == (descriptor.name,)
        got = features.values.toarray()[:, column] * descriptor.scale
        np.testing.assert_allclose(got, [values[descriptor.name] for values in raw])


@pytest.mark.parametrize("group", ["entity count", "name equality"])
def test_groups_can_be_left_out(make_doc, group):
    switches = {"entity_counts": group != "entity count", "name_equality": group == "entity count"}
    names = {name for (name,) in PairDescriptors(**switches)(hand_made_pairs(make_doc)).names}
    assert names == {d.name for d in DESCRIPTORS if d.group != group}


def test_sizes_are_nested(make_doc):
    names = [
        list(PairDescriptors(which=level)(hand_made_pairs(make_doc)).names) for level in LEVELS
    ]
    assert [len(size) for size in names] == [32, 88, 136]
    assert names[2][:88] == names[1]
    assert names[1][:32] == names[0]


def test_a_name_cut_by_a_sentence_end_lies_in_both_sentences(make_doc):
    words = ["STAT1", "binds", "JAK2", "or", "IL", "2", "and", "p53", "binds", "Raf"]
    heads = [1, 1, 1, 1, 1, 8, 8, 8, 8, 8]
    deps = ["nsubj", "ROOT", "dobj", "cc", "dep", "dep", "cc", "nsubj", "ROOT", "dobj"]
    doc = make_doc(words, heads, deps, [(0, 1), (2, 3), (4, 6), (7, 8), (9, 10)], ["NN"] * 10)
    assert [sentence.start for sentence in doc.sents] == [0, 5]
    candidates = PPI().candidates(doc)
    assert [[s.text for s in c.spans] for c in candidates] == [["STAT1", "JAK2"], ["p53", "Raf"]]
    first, second = plain_pairs(analyze_pairs(candidates, "collapsed"))
    assert first.context.mentions == [[0], [2], [4]]
    assert second.context.mentions == [[0], [2], [4]]
    assert np.isfinite(PairViews()(candidates).view("basic").values.toarray()).all()
