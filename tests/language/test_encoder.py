"""Windows in blocks and hashed words remembered: what thinc and spaCy say of the same words."""

from __future__ import annotations

import numpy as np
import pytest
import spacy
from spacy.ml.models.tok2vec import build_hash_embed_cnn_tok2vec
from spacy.tokens import Doc
from thinc.api import Maxout, chain, clone, expand_window, residual

from textrank.language import _encoder
from textrank.language._encoder import CachedTok2Vec, Encoder, GrowingArray, hash_words
from textrank.language.normalization import normalize_words

TEXTS = (["p53", "binds", "MDM2"], [], ["IL", "-", "2", "\n", "binds", "β1", "and", "p53"])


def windows(width=8, depth=3):
    window = chain(expand_window(1), Maxout(width, 3 * width, nP=3, normalize=True))
    model = clone(residual(window), depth)
    model.initialize(X=np.zeros((3, width), dtype="f"))
    rng = np.random.default_rng(0)
    for node in model.walk():
        for name in node.param_names:
            values = rng.normal(size=node.get_param(name).shape)
            node.set_param(name, values.astype("f"))
    return model


@pytest.mark.parametrize("words", [1, 2, 5, 23])
def test_blocks_say_what_layers_say(words, rng, monkeypatch):
    monkeypatch.setattr(_encoder, "BLOCK_WORDS", 5)
    model, known = windows(), rng.normal(size=(7, 8)).astype("f")
    order = rng.integers(7, size=words)  # words that come again
    found = Encoder.from_model(model)
    assert found is not None
    np.testing.assert_allclose(
        found(known, order), model.predict(known[order]), rtol=1e-4, atol=1e-4
    )


def test_other_networks_are_left_to_themselves():
    assert Encoder.from_model(Maxout(8, 8, nP=3, normalize=True)) is None
    wide = residual(chain(expand_window(2), Maxout(8, 40, nP=3, normalize=True)))
    assert Encoder.from_model(wide) is None


@pytest.fixture
def network():
    model = build_hash_embed_cnn_tok2vec(
        width=8, depth=2, embed_size=50, window_size=1, maxout_pieces=3, subword_features=True,
        pretrained_vectors=None,
    )  # fmt: skip
    model.initialize(X=[Doc(spacy.blank("en").vocab, words=["a"])])
    return model


def test_words_remembered_say_what_spacy_says(network):
    vocab = spacy.blank("en").vocab
    docs = [Doc(vocab, words=words) for words in TEXTS]
    ours = CachedTok2Vec.from_model(network)
    for _ in range(2):
        found = ours([hash_words(doc, None) for doc in docs], vocab)
        for own, other in zip(found, network.predict(docs), strict=True):
            np.testing.assert_allclose(own, other, atol=1e-4)


def test_a_word_read_otherwise_has_the_forms_of_that(network):
    vocab = spacy.blank("en").vocab
    written, read = Doc(vocab, words=["a", "\n", "p</i>53"]), Doc(vocab, words=["a", "p53"])
    np.testing.assert_array_equal(
        hash_words(written, normalize_words(written)), hash_words(read, None)
    )


def test_memory_is_forgotten_when_the_network_learns(network):
    vocab = spacy.blank("en").vocab
    docs = [Doc(vocab, words=TEXTS[0])]
    ours, forms = CachedTok2Vec.from_model(network), [hash_words(docs[0], None)]
    before = ours(forms, vocab)[0]
    for node in network.walk():
        if node.name == "hashembed":
            node.set_param("E", node.get_param("E") + 1)
    after = ours(forms, vocab)[0]
    assert not np.allclose(before, after)
    np.testing.assert_allclose(after, network.predict(docs)[0], atol=1e-4)


@pytest.mark.parametrize("capacity", [0, 64, 1000])
def test_rows_are_added_to_rows(capacity):
    grown = GrowingArray(np.zeros((1, 2)), capacity)
    for n in range(1, 20):
        grown.add(np.full((n, 2), n))
    expected = np.repeat(np.arange(20), [1, *range(1, 20)])
    np.testing.assert_array_equal(grown.rows[:, 0], expected)
