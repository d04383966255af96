"""The network below names: texts do not touch, learning equals predicting, memory is no trap."""

from __future__ import annotations

import numpy as np
import pytest
import spacy
from spacy.tokens import Doc

from textrank.language import _ner_network as module
from textrank.language._ner_network import (
    WeightTable,
    _caseless_words,
    _compute_traits,
    _WordBatch,
    build_word_network,
    caseless_mask,
    hash_text,
    join_codes,
)

TEXTS = (["p53", "binds", "p53"], [], ["IL", "-", "2", "(", "see", ")", ".", "P53", "BINDS", "DNA"])


@pytest.fixture
def vocab():
    return spacy.blank("en").vocab


@pytest.fixture
def model():
    model = build_word_network(width=8, rows=50, depth=1, vectors=4, evidence=3)
    model.initialize()
    rng = np.random.default_rng(0)
    model.attrs["evidence"] = [
        WeightTable.from_weights(rng.normal(size=(256, n))).pack() for n in (1, 2)
    ]
    return model


def docs_of(vocab, texts=TEXTS):
    return [Doc(vocab, words=words) for words in texts]


def test_texts_of_a_batch_do_not_touch(model, vocab):
    together = model.predict(docs_of(vocab))
    assert [own.shape for own in together] == [(3, 11), (0, 11), (10, 11)]
    for own, doc in zip(together, docs_of(vocab), strict=True):
        np.testing.assert_allclose(model.predict([doc])[0], own, atol=1e-5)


def test_in_training_it_says_the_same(model, vocab):
    learning, _ = model.begin_update(docs_of(vocab))
    for own, other in zip(learning, model.predict(docs_of(vocab)), strict=True):
        np.testing.assert_allclose(own, other, atol=1e-5)


def test_gradients_of_texts_add_up(model, vocab):
    docs = docs_of(vocab)
    outputs, backprop = model.begin_update(docs)
    rng = np.random.default_rng(0)
    slopes = [rng.normal(size=own.shape).astype("f") for own in outputs]
    backprop(slopes)
    together = _gradients(model)
    for doc, own in zip(docs, slopes, strict=True):
        _, alone = model.begin_update([doc])
        alone([own])
    for key, summed in _gradients(model).items():
        np.testing.assert_allclose(together[key], summed, atol=1e-4)


def test_what_is_remembered_is_forgotten_when_the_network_changes(model, vocab):
    docs = docs_of(vocab)
    before = model.predict(docs)[0]
    table = model.layers[0].layers[0].layers[-1]
    table.set_param("E", table.get_param("E") + 1)
    after = model.predict(docs)[0]
    assert not np.allclose(before, after)
    copy = build_word_network(width=8, rows=50, depth=1, vectors=4, evidence=3)
    copy.from_bytes(model.to_bytes())
    np.testing.assert_array_equal(copy.predict(docs)[0], after)


def test_a_full_memory_begins_anew(model, vocab, monkeypatch):
    expected = model.predict(docs_of(vocab))
    monkeypatch.setattr(module, "MAX_CACHED_WORDS", 4)
    for _ in range(2):
        for own, other in zip(model.predict(docs_of(vocab)), expected, strict=True):
            np.testing.assert_allclose(own, other, atol=1e-5)


def test_a_known_word_gets_its_vector_and_another_none(model, vocab):
    docs = [Doc(vocab, words=["P65"]), Doc(vocab, words=["cells"])]
    before = model.predict(docs)
    words = dict(model.attrs["words"])
    words["keys"] = np.array([hash_text("p0")], dtype=np.uint32)
    words["clusters"] = np.zeros((1, 4), dtype=np.uint16)
    words["vectors"] = np.ones((1, 4), dtype=np.int8)
    model.attrs["words"] = words
    after = model.predict(docs)
    assert not np.allclose(before[0], after[0])
    np.testing.assert_array_equal(before[1], after[1])


def test_sentences_without_case_are_those_of_the_plain_rule(vocab):
    words = [
        "p53",
        "binds",
        ".",
        "THE",
        "RAF",
        "KINASE",
        ".",
        "Ras",
        "binds",
        ".",
        "ALL",
        "IL",
        "-",
        "2",
        "IN",
        "CELLS",
    ]
    batch = _WordBatch.from_docs([Doc(vocab, words=words)])
    traits = np.array([_compute_traits(word) for word in words])
    found = _caseless_words(traits, batch.find_sentence_starts(traits))
    np.testing.assert_array_equal(found, caseless_mask(words))
    assert found.tolist() == [True] * 3 + [True] * 4 + [False] * 3 + [True] * 6


@pytest.mark.parametrize(
    ("text", "inside"),
    [
        ("a ( b ) c", "01110"),
        ("a ) b ( c ) d", "0000000"),  # the opening bracket is cancelled
        ("a ( b . c ) d ( e )", "0111000000"),  # a sentence ends
        ("a ( [ b ] c ) d .", "011111100"),
        ("", ""),
    ],
)
def test_training_and_the_network_have_the_same_codes(vocab, text, inside):
    texts = [["c", ")"], text.split(), [], ["(", "d"]]
    spaces = [[bool((i + len(words)) % 3) for i in range(len(words))] for words in texts]
    docs = [Doc(vocab, words=w, spaces=s) for w, s in zip(texts, spaces, strict=True)]
    batch = _WordBatch.from_docs(docs)
    traits = np.array([_compute_traits(word) for words in texts for word in words])
    found = batch.join_codes(traits, batch.find_sentence_starts(traits))
    codes = [join_codes(w, np.array(s, dtype=bool)) for w, s in zip(texts, spaces, strict=True)]
    np.testing.assert_array_equal(found, np.concatenate(codes))
    assert "".join(str(int(code > 4)) for code in codes[1]) == inside


def _gradients(model):
    found = {
        (node.id, name): node.get_grad(name).copy()
        for node in model.walk()
        for name in node.param_names
        if node.has_grad(name)
    }
    for node in model.walk():
        for name in node.param_names:
            if node.has_grad(name):
                node.set_grad(name, node.get_grad(name) * 0)
    assert found
    return found
