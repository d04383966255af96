"""Sentences parsed side by side: the very trees of spaCy's own parser."""

from __future__ import annotations

import random

import numpy as np
import pytest
from spacy.attrs import SENT_START
from spacy.pipeline import DependencyParser
from spacy.tokens import Doc

from textrank.language import load_nlp, syntax

WORDS = """p53 binds the MDM2 protein in cells , which ( as shown before ) activates its own
transcription ; IL - 2 and IL - 4 did not bind . However nothing""".split()  # noqa: SIM905


@pytest.fixture(scope="module")
def nlp():
    return load_nlp(only=["parser"])


def texts_of(vocab, rng, count=30):
    """Word salad, in which a parser comes to states that no sentence brings it to."""
    docs = []
    for _ in range(count):
        words = rng.choices(WORDS, k=rng.randrange(1, 80))
        starts = [rng.choice([None, None, False]) for _ in words]
        begins = {0, *range(rng.randrange(5, 25), len(words), 23)}
        starts = [n in begins or start for n, start in enumerate(starts)]
        docs.append(Doc(vocab, words=words, sent_starts=starts))
    return docs


def prepared(nlp, docs):
    with nlp.select_pipes(disable=["parser"]):
        return list(nlp.pipe(docs))


def given(docs):
    return [[(t.head.i, t.dep_, t.is_sent_start) for t in doc] for doc in docs]


@pytest.mark.parametrize("together", [64, 8192])
def test_trees_are_those_of_spacy(nlp, monkeypatch, together):
    monkeypatch.setattr(syntax, "_MIN_BATCH_RATIO", 0)
    monkeypatch.setattr(syntax, "MAX_BATCH_WORDS", together)
    docs = prepared(nlp, texts_of(nlp.vocab, random.Random(0)))
    sentences = [syntax.split_sentences(doc.copy()) for doc in docs]
    every = [sentence for own in sentences for sentence in own]
    parser = nlp.get_pipe("parser")
    DependencyParser.set_annotations(parser, every, DependencyParser.predict(parser, every))
    parser.set_annotations(docs, parser.predict(docs))
    assert given(docs) == given([Doc.from_docs(own) for own in sentences])


@pytest.mark.parametrize("pays", [0, 10**9])
def test_a_sentence_is_analysed_without_its_neighbours(monkeypatch, pays):
    """Also where the parser may split further, which a word salad makes it do."""
    monkeypatch.setattr(syntax, "_MIN_BATCH_RATIO", pays)
    nlp = load_nlp(only=["tagger", "parser"])
    nlp.disable_pipe("sentences")  # sentences are given here
    rng = random.Random(4)
    texts = [rng.choices(WORDS, k=rng.randrange(1, 40)) for _ in range(20)]
    begins = [[True] + [None] * (len(words) - 1) for words in texts]
    both = zip(texts, begins, strict=True)
    alone = list(nlp.pipe([Doc(nlp.vocab, words=words, sent_starts=own) for words, own in both]))
    words = [word for own in texts for word in own]
    starts = [start for own in begins for start in own]
    together = nlp(Doc(nlp.vocab, words=words, sent_starts=starts))
    start = 0
    for doc in alone:
        found = [(t.tag_, t.head.i - start, t.dep_, t.is_sent_start)
                 for t in together[start : start + len(doc)]]  # fmt: skip
        assert found == [(t.tag_, t.head.i, t.dep_, t.is_sent_start) for t in doc]
        start += len(doc)


def test_few_sentences_take_the_way_of_spacy_and_say_the_same(nlp, monkeypatch):
    docs = prepared(nlp, texts_of(nlp.vocab, random.Random(1), 3))
    ways = []
    for pays in (0, 10**9):
        monkeypatch.setattr(syntax, "_MIN_BATCH_RATIO", pays)
        own = [doc.copy() for doc in docs]
        parser = nlp.get_pipe("parser")
        parser.set_annotations(own, parser.predict(own))
        ways.append(given(own))
    assert ways[0] == ways[1]


def test_other_weights_count_at_once(nlp, monkeypatch):
    monkeypatch.setattr(syntax, "_MIN_BATCH_RATIO", 0)
    docs = prepared(nlp, texts_of(nlp.vocab, random.Random(2)))
    parser = nlp.get_pipe("parser")
    own = parser.predict(docs)
    weights = {
        (node.id, name): node.get_param(name) * 0 + 0.01
        for node in parser.model.walk()
        for name in node.param_names
        if node.has_param(name)
    }
    with parser.model.use_params(weights):
        other = parser.predict(docs)
    assert any((a.heads != b.heads).any() for a, b in zip(own, other, strict=True))


def test_sentences_end_where_the_next_begins_or_the_text_does():
    starts = np.array([1, 0, 1, 0, 0, -1, 0], dtype=np.int64)
    assert syntax.longest_sentence(starts, [5, 0, 2]) == 3
    assert syntax.longest_sentence(np.zeros(0, dtype=np.int64), [0]) == 0


def test_a_text_of_nothing_is_parsed(nlp):
    docs = [Doc(nlp.vocab), Doc(nlp.vocab, words=["\n"])]
    for doc in nlp.pipe(docs):
        assert doc.to_array([SENT_START]).size == len(doc)


@pytest.mark.parametrize("at_once", [64, 8192])
@pytest.mark.parametrize("known", [True, False])
@pytest.mark.parametrize("last", [True, False])
def test_copies_side_by_side_find_what_each_finds_alone(nlp, monkeypatch, at_once, known, last):
    monkeypatch.setattr(syntax, "_MIN_BATCH_RATIO", 0)
    monkeypatch.setattr(syntax, "MAX_ENSEMBLE_WORDS", at_once)
    rng = random.Random(3)
    later = False if known else None
    texts = [rng.choices([*WORDS, "\n"], k=rng.randrange(1, 60)) for _ in range(12)]
    starts = [[True, *[later] * (len(words) - 1)] for words in texts]
    both = zip(texts, starts, strict=True)
    docs = [Doc(nlp.vocab, words=words, sent_starts=begins) for words, begins in both]
    docs = prepared(nlp, docs)
    parser = nlp.get_pipe("parser")
    own = {
        (node.id, name): node.get_param(name)
        for node in parser.model.walk()
        for name in node.param_names
        if node.has_param(name)
        if not last or (node.id, name) in syntax.upper_layer_params(parser.model)
    }
    assert len(own) == (3 if last else 7)
    noise = np.random.default_rng(0)
    noisy = [
        {k: a + 0.3 * a.std() * noise.standard_normal(a.shape, np.float32) for k, a in own.items()}
        for _ in range(3)
    ]
    found = parser.predict_ensemble(docs, [{}, *noisy])
    assert len(found) == 4
    for weights, trees in zip([{}, *noisy], found, strict=True):
        with parser.model.use_params(weights):
            alone = parser.predict(docs)
        for one, other in zip(trees, alone, strict=True):
            np.testing.assert_array_equal(one.heads, other.heads)
            np.testing.assert_array_equal(one.labels, other.labels)
    assert any((a.heads != b.heads).any() for a, b in zip(found[0], found[1], strict=True))


def test_a_network_does_not_change_when_spacy_trains_its_own(nlp):
    parser = nlp.get_pipe("parser")
    model = parser.model
    names = [parser.moves.get_class_name(n) for n in range(parser.moves.n_moves)]
    network = syntax.ParserNetwork.from_model(model, names, np.zeros(len(names), np.uint64))
    networks = [network, network.with_upper_layers(model)]
    before = [each.upper_bias.copy() for each in networks]
    bias = model.layers[2].get_param("b")
    bias += 1  # in place, as an optimizer does
    try:
        for each, kept in zip(networks, before, strict=True):
            np.testing.assert_array_equal(each.upper_bias, kept)
    finally:
        bias -= 1
