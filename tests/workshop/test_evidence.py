"""Training of evidence: its marginals, its texts, and that the pipeline sums what was learned."""

from __future__ import annotations

import random

import numpy as np
import pytest
import spacy
from spacy.tokens import Doc
from workshop.evidence import (
    EvidenceSettings,
    NamedText,
    add_marginals,
    add_variants,
    allowed_tags,
    compute_rows,
    cut_excerpt,
    train_evidence,
)

from textrank.language._ner_network import (
    WeightTable,
    WordTable,
    build_word_network,
    empty_word_table,
)
from textrank.language.ner import compute_marginals, legal_transitions

SENTENCE = ["The", "IL", "-", "2", "(", "gene", "binds", "p53", ")", "in", "T", "cells", "."]
SPACES = [True, False, False, True, False, True, True, False, True, True, True, False, True]
NAMES = [(1, 4, "GENE"), (7, 8, "GENE")]


def sum_weights(texts: list[NamedText], table: WordTable, weights: np.ndarray) -> np.ndarray:
    """Return the summed weights of each word, (words, tags); rows are a power of two."""
    rows = compute_rows(texts, table, len(weights).bit_length() - 1)
    pieces = [weights[part].sum(axis=0) for part in np.split(rows.pieces, rows.starts[1:-1])]
    return weights[rows.templates].sum(axis=1) + np.stack(pieces)


@pytest.fixture(scope="module")
def learned():
    texts = [
        NamedText(SENTENCE, SPACES, NAMES),
        NamedText(["We", "saw", "cells", "."], [True, True, False, True]),
        NamedText(["p53", "binds", "DNA", "."], [True, True, False, True], [(0, 1, "GENE")]),
    ]
    settings = EvidenceSettings(epochs=20, rate=0.1, bits=12, lower=1.0, short=0.0)
    return texts, *train_evidence(texts, ["GENE"], empty_word_table(4), settings)


def test_what_was_learned_tells_names_from_other_words(learned):
    texts, weights, _ = learned
    for text in texts:
        found = sum_weights([text], empty_word_table(4), weights).argmax(axis=1)
        assert found.tolist() == allowed_tags(text, ["GENE"]).argmax(axis=1).tolist()


def test_the_network_sums_the_same_weights(learned):
    texts, weights, _ = learned
    model = build_word_network(width=8, rows=50, depth=1, vectors=4, evidence=5)
    model.initialize()
    table = WeightTable.from_weights(weights)
    model.attrs["evidence"] = [table.pack()]
    vocab = spacy.blank("en").vocab
    docs = [Doc(vocab, words=list(t.words), spaces=list(t.spaces)) for t in texts]
    rounded = table.weights * table.scales
    expected = sum_weights(texts, empty_word_table(4), rounded)
    found = np.concatenate([own[:, 8:] for own in model.predict(docs)])
    np.testing.assert_allclose(found, expected, atol=1e-3)


def test_marginals_are_those_of_the_pipelines_field():
    rng = np.random.default_rng(0)
    legal = legal_transitions(1)
    steps = np.where(legal, rng.normal(size=legal.shape), -1e30)
    scores = rng.normal(size=(6, 5))
    found, pairs = np.zeros((6, 5)), np.zeros(legal.shape)
    add_marginals(scores, steps, np.zeros((0, 5), dtype=bool), found, pairs)
    expected = compute_marginals(scores, np.where(legal, steps, -np.inf), [6])
    np.testing.assert_allclose(found, expected.tag_marginals, atol=1e-9)
    np.testing.assert_allclose(np.where(legal, pairs, 0), expected.transition_counts, atol=1e-9)


def test_a_label_of_several_kinds_allows_the_tags_of_each():
    text = NamedText(["p53", "binds", "TNF", "receptor"], [True] * 4, [(0, 1, "A|B"), (2, 4, "B")])
    allowed = allowed_tags(text, ["A", "B"])
    assert [np.flatnonzero(row).tolist() for row in allowed] == [[4, 8], [0], [5], [7]]


@pytest.mark.parametrize("seed", range(5))
def test_texts_cut_short_keep_names_whole(seed):
    text = NamedText(SENTENCE, SPACES, NAMES)
    short = cut_excerpt(text, random.Random(seed))
    assert len(short.words) == len(short.spaces) < len(text.words)
    whole = {tuple(SENTENCE[a:b]) for a, b, _ in NAMES}
    assert {tuple(short.words[a:b]) for a, b, _ in short.names} <= whole


def test_variants_are_added_to_the_texts():
    texts = [NamedText(SENTENCE, SPACES, NAMES)] * 10
    many = add_variants(texts, EvidenceSettings(lower=0.3, short=0.2))
    assert len(many) == 15
    assert sum(text.words == [w.lower() for w in SENTENCE] for text in many) == 3
