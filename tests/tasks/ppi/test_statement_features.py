"""Statement features of many pairs at once, against plain loops over each."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from spacy.tokens import Doc

from tests.tasks.ppi import plain_statements as plain
from tests.tasks.ppi import plain_trees
from tests.tasks.ppi.pair_docs import hand_made_pairs, pair_entities
from textrank.candidates import Candidate
from textrank.features import Features
from textrank.linalg import squared_norms
from textrank.tasks.ppi.pairs import PairBatch, analyze_pairs
from textrank.tasks.ppi.statement_features import (
    EntityFactExtractor,
    EntityFacts,
    StatementCues,
    StatementRoles,
    pair_trees,
)
from textrank.tasks.ppi.vocabulary import EVENT_TYPES

WORDS = (
    *("STAT1", "p53", "we", "not", "fail", "to", "bind", "binds", "regulates", "down", "-"),
    *("regulated", "negatively", "positive", "may", "of", "by", "with", "loss", "expression"),
    *("inhibitor", "activation", ",", "and", "required", "that", "?"),
)
DEPS = (
    *("nsubj", "nsubjpass", "dobj", "prep", "pobj", "agent", "auxpass", "conj", "compound"),
    *("amod", "appos", "neg", "relcl", "advcl", "xcomp", "aux", "dative", "cc"),
)


def drawn(make_doc: Callable[..., Doc], rng: np.random.Generator) -> list[Candidate]:
    """All pairs of up to five names, which may overlap, in one tree or two of random words."""
    n = int(rng.integers(4, 30))
    roots = [0, *([] if rng.random() < 0.7 else [n // 2])]
    heads = np.zeros(n, dtype=int)
    for begin, end in zip(roots, [*roots[1:], n], strict=True):
        for token in range(begin, end):
            heads[token] = rng.integers(begin, token) if token > begin else begin
    deps = np.where(heads == np.arange(n), "ROOT", rng.choice(DEPS, n))
    starts = rng.integers(0, n, rng.integers(2, 6))
    names = [(int(s), min(n, int(s + rng.choice([1, 1, 2, 3])))) for s in starts]
    tags = rng.choice(["NN", "VBZ", "VBN", "IN"], n)
    words = rng.choice(WORDS, n)
    return pair_entities(
        make_doc(words.tolist(), heads.tolist(), deps.tolist(), names, tags.tolist())
    )


def batch(make_doc: Callable[..., Doc], seed: int) -> PairBatch:
    rng = np.random.default_rng(seed)
    return analyze_pairs([pair for _ in range(8) for pair in drawn(make_doc, rng)], "own")


def rows(features: Features) -> list[dict[tuple[str, ...], float]]:
    table = features.values.toarray()
    return [{features.names[j]: v for j, v in enumerate(r) if v} for r in table.tolist()]


SEEDS = pytest.mark.parametrize("seed", range(12))


@SEEDS
def test_paths_and_triggers_are_those_of_plain_loops(make_doc, seed):
    pairs = batch(make_doc, seed)
    told = pair_trees(pairs)
    every = plain_trees.make_tree_pairs(list(pairs))
    base = told.arrays.sentence_base
    for n, one in enumerate(every):
        tokens, ways = told.ancestor_paths.tokens, told.ancestor_paths.path_index[:, n]
        found = [tokens.values[tokens.starts[w] : tokens.starts[w + 1]] - base[n] for w in ways]
        assert tuple(way.tolist() for way in found) == one.paths
        triggers = told.triggers.gather(np.array([n]))[1] - base[n]
        assert triggers.tolist() == one.triggers
    for kind in (*EVENT_TYPES, "none"):
        given = told.best_trigger(np.full(len(pairs), told.arrays.lexicon(kind)))
        expected = [one.trigger(kind) for one in every]
        assert [None if t < 0 else t - b for t, b in zip(given, base, strict=True)] == expected


@SEEDS
def test_blocks_are_those_of_plain_loops(make_doc, seed):
    pairs = batch(make_doc, seed)
    told, every = pair_trees(pairs), plain_trees.make_tree_pairs(list(pairs))
    cues, roles, sides = (
        StatementCues().represent(pairs),
        StatementRoles().represent(pairs),
        EntityFacts.from_trees(told),
    )
    assert rows(cues) == [dict.fromkeys(plain.cues(one), 1.0) for one in every]
    assert rows(roles) == [dict.fromkeys(plain.roles(one), 1.0) for one in every]
    both = [(plain.facts(one, 0), plain.facts(one, 1)) for one in every]
    assert rows(sides.sum) == [{f: 1.0 + (f in a and f in b) for f in a | b} for a, b in both]
    assert rows(sides.difference) == [{f: 1.0 if f in a else -1.0 for f in a ^ b} for a, b in both]


@SEEDS
def test_lengths_of_sums_and_differences_need_neither(make_doc, seed):
    sides = EntityFacts.from_trees(pair_trees(batch(make_doc, seed)))
    same, turned = sides.squared_norms()
    np.testing.assert_array_equal(same, squared_norms(sides.sum.values))
    np.testing.assert_array_equal(turned, squared_norms(sides.difference.values))


@SEEDS
def test_what_is_found_together_is_what_blocks_find(make_doc, seed):
    pairs = batch(make_doc, seed)
    blocks = {"cues": StatementCues(), "sides": EntityFactExtractor(), "roles": StatementRoles()}
    together = pairs.extract_jointly(blocks)
    for name in ("cues", "roles"):
        assert rows(together.view(name)) == rows(blocks[name].represent(list(pairs)))
    assert not any(rows(together.view("sides")))  # what is told of names stands below
    expected = rows(EntityFacts.from_trees(pair_trees(pairs)).sum)
    found = EntityFacts(together.features, together.shared_rows["sides"]).sum
    assert rows(found) == [{("sides", *name): v for name, v in row.items()} for row in expected]


def test_heads_that_lead_in_a_circle_end_somewhere(make_doc):
    doc = make_doc(["A1", "binds", "B2"], [1, 2, 0], ["nsubj", "dobj", "conj"], [(0, 1), (2, 3)])
    pairs = analyze_pairs(pair_entities(doc), "own")
    assert pair_trees(pairs).nodes.heads.tolist() == [0, 1, 2]
    assert len(StatementRoles().represent(pairs)) == 1


def test_no_pairs_have_no_features(make_doc):
    none = analyze_pairs([], "own")
    for features in (StatementCues().represent(none), StatementRoles().represent(none)):
        assert features.values.shape[0] == 0
    assert len(pair_trees(analyze_pairs(hand_made_pairs(make_doc), "own"))) == 3
