"""Statement features of many pairs at once, against plain loops over each."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from spacy.tokens import Doc

from tests.representations.pair_docs import by_hand, pairs_of
from tests.representations.pairs import plain_statements as plain
from tests.representations.pairs import plain_tellings
from textrank.candidates import Candidate
from textrank.features import Features
from textrank.linalg import squared_norms
from textrank.tasks.ppi._trees import tellings
from textrank.tasks.ppi.pairs import PairBatch, entity_pairs
from textrank.tasks.ppi.statement_features import NameFacts, Sides, StatementCues, StatementRoles
from textrank.tasks.ppi.vocabulary import TYPES

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
    return pairs_of(make_doc(words.tolist(), heads.tolist(), deps.tolist(), names, tags.tolist()))


def batch(make_doc: Callable[..., Doc], seed: int) -> PairBatch:
    rng = np.random.default_rng(seed)
    return entity_pairs([pair for _ in range(8) for pair in drawn(make_doc, rng)], "own")


def rows(features: Features) -> list[dict[tuple[str, ...], float]]:
    table = features.values.toarray()
    return [{features.names[j]: v for j, v in enumerate(r) if v} for r in table.tolist()]


SEEDS = pytest.mark.parametrize("seed", range(12))


@SEEDS
def test_paths_and_triggers_are_those_of_plain_loops(make_doc, seed):
    pairs = batch(make_doc, seed)
    told = tellings(pairs)
    every = plain_tellings.tellings(list(pairs))
    base = told.layout.base
    for n, one in enumerate(every):
        tokens, ways = told.ways.tokens, told.ways.of[:, n]
        found = [tokens.values[tokens.starts[w] : tokens.starts[w + 1]] - base[n] for w in ways]
        assert tuple(way.tolist() for way in found) == one.paths
        triggers = told.triggers.of_each(np.array([n]))[1] - base[n]
        assert triggers.tolist() == one.triggers
    for kind in (*TYPES, "none"):
        given = told.trigger(np.full(len(pairs), told.layout.lexicon(kind)))
        expected = [one.trigger(kind) for one in every]
        assert [None if t < 0 else t - b for t, b in zip(given, base, strict=True)] == expected


@SEEDS
def test_blocks_are_those_of_plain_loops(make_doc, seed):
    pairs = batch(make_doc, seed)
    told, every = tellings(pairs), plain_tellings.tellings(list(pairs))
    cues, roles, sides = (
        StatementCues().of_pairs(pairs),
        StatementRoles().of_pairs(pairs),
        Sides.of(told),
    )
    assert rows(cues) == [dict.fromkeys(plain.cues(one), 1.0) for one in every]
    assert rows(roles) == [dict.fromkeys(plain.roles(one), 1.0) for one in every]
    both = [(plain.facts(one, 0), plain.facts(one, 1)) for one in every]
    assert rows(sides.same) == [{f: 1.0 + (f in a and f in b) for f in a | b} for a, b in both]
    assert rows(sides.turned) == [{f: 1.0 if f in a else -1.0 for f in a ^ b} for a, b in both]


@SEEDS
def test_lengths_of_sums_and_differences_need_neither(make_doc, seed):
    sides = Sides.of(tellings(batch(make_doc, seed)))
    same, turned = sides.squares()
    np.testing.assert_array_equal(same, squared_norms(sides.same.values))
    np.testing.assert_array_equal(turned, squared_norms(sides.turned.values))


@SEEDS
def test_what_is_found_together_is_what_blocks_find(make_doc, seed):
    pairs = batch(make_doc, seed)
    blocks = {"cues": StatementCues(), "sides": NameFacts(), "roles": StatementRoles()}
    together = pairs.side_by_side(blocks)
    for name in ("cues", "roles"):
        assert rows(together.view(name)) == rows(blocks[name].of_pairs(list(pairs)))
    assert not any(rows(together.view("sides")))  # what is told of names stands below
    expected = rows(Sides.of(tellings(pairs)).same)
    found = Sides(together.features, together.shared["sides"]).same
    assert rows(found) == [{("sides", *name): v for name, v in row.items()} for row in expected]


def test_heads_that_lead_in_a_circle_end_somewhere(make_doc):
    doc = make_doc(["A1", "binds", "B2"], [1, 2, 0], ["nsubj", "dobj", "conj"], [(0, 1), (2, 3)])
    pairs = entity_pairs(pairs_of(doc), "own")
    assert tellings(pairs).trees.heads.tolist() == [0, 1, 2]
    assert len(StatementRoles().of_pairs(pairs)) == 1


def test_no_pairs_have_no_features(make_doc):
    none = entity_pairs([], "own")
    for features in (StatementCues().of_pairs(none), StatementRoles().of_pairs(none)):
        assert features.values.shape[0] == 0
    assert len(tellings(entity_pairs(by_hand(make_doc), "own"))) == 3
