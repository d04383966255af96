"""Docs without white space and markup, and the way back to the original."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
import spacy
from hypothesis import given
from hypothesis import strategies as st
from spacy.tokens import Doc, Span

from textrank.language.normalization import (
    normalize_words,
    original_offsets,
    set_parse,
    set_space_tags,
    strip_non_words,
    to_tokens,
    trim_to_words,
    word_doc,
)

VOCAB = spacy.blank("en").vocab


def test_a_doc_of_words_is_itself(make_doc):
    doc = make_doc(["p53", "binds", "MDM2"])
    assert word_doc(doc) is doc
    assert strip_non_words(doc) is doc
    assert normalize_words(doc) is None


def test_a_doc_is_read_anew_when_its_tokens_change():
    doc = Doc(VOCAB, words=["p53", "\n", "β", "1"], spaces=[False] * 4)
    assert normalize_words(doc) is normalize_words(doc)
    assert normalize_words(doc, transliterate=True).words == ["p53", "beta", "1"]
    with doc.retokenize() as retokenizer:
        retokenizer.merge(doc[2:4])
        retokenizer.split(doc[0], ["p", "53"], heads=[doc[1], doc[1]])
    assert normalize_words(doc, transliterate=True).words == ["p", "53", "beta1"]


@pytest.fixture
def doc():
    doc = Doc(
        VOCAB,
        words=["\n\n", "β-catenin", " ", "binds", "<b>", "MDM2", "</b>"],
        spaces=[False, True, False, True, False, False, False],
        tags=["_SP", "NN", "_SP", "VBZ", "_SP", "NN", "_SP"],
        heads=[1, 3, 1, 3, 3, 3, 5],
        deps=["dep", "nsubj", "dep", "ROOT", "dep", "dobj", "dep"],
    )
    doc.spans["entities"] = [Span(doc, 1, 3, "GENE", span_id="e0"), Span(doc, 5, 6, "GENE")]
    return doc


def test_the_copy_has_tags_arcs_sentences_and_names(doc):
    copy = word_doc(doc)
    assert [t.text for t in copy] == ["beta-catenin", "binds", "MDM2"]
    assert [(t.tag_, t.head.i, t.dep_) for t in copy] == [
        ("NN", 1, "nsubj"), ("VBZ", 1, "ROOT"), ("NN", 1, "dobj")
    ]  # fmt: skip
    assert [(s.start, s.end, s.id_) for s in copy.spans["entities"]] == [(0, 1, "e0"), (2, 3, "")]
    assert len(list(copy.sents)) == 1


@pytest.mark.parametrize("seed", range(20))
def test_entities_keep_their_words_whatever_goes(seed: int) -> None:
    rng = np.random.default_rng(seed)
    doc = Doc(VOCAB, words=rng.choice(["a", "<b>", "\n", "TNF-α", "</b>"], 12).tolist())
    bounds = np.unique([0, 12, *rng.integers(0, 13, 6)])
    spans = [Span(doc, a, b, "G", kb_id="K", span_id="i") for a, b in pairwise(bounds.tolist())]
    doc.set_ents([span for span in spans if rng.random() < 0.6])
    place = {
        int(old): new
        for new, old in enumerate(normalize_words(doc, transliterate=True).token_indices)
    }
    wanted = [[place[i] for i in range(e.start, e.end) if i in place] for e in doc.ents]
    found = [([t.i for t in e], e.label_, e.kb_id_, e.id_) for e in word_doc(doc).ents]
    assert found == [(own, "G", "K", "i") for own in wanted if own]


def test_spans_of_the_copy_know_the_characters_of_the_original(doc):
    copy = word_doc(doc)  # span groups do not keep their Doc alive
    places = [original_offsets(span) for span in copy.spans["entities"]]
    assert [doc.text[a:b] for a, b in places] == ["β-catenin", "MDM2"]


def test_a_word_under_white_space_that_is_a_root_becomes_the_root():
    doc = Doc(VOCAB, words=["a", "\n", "b"], heads=[1, 1, 1], deps=["x", "ROOT", "y"])
    assert [t.head.i for t in word_doc(doc)] == [0, 0]


def test_a_sentence_that_begins_with_white_space_begins_with_its_first_word():
    doc = Doc(VOCAB, words=["a", "\n", "b"], sent_starts=[True, True, False])
    assert [s.text for s in word_doc(doc).sents] == ["a", "b"]


def test_answers_for_words_go_back_to_the_doc():
    doc = Doc(VOCAB, words=["\n", "a", "\t", "b"])
    for token, tag in zip(doc, ["NN", "DT", "NN", "NN"], strict=True):
        token.tag_ = tag
    labels = [VOCAB.strings.add(label) for label in ("det", "ROOT")]
    set_space_tags(doc)
    set_parse(doc, np.array([1, 0]), np.array(labels, dtype=np.uint64))
    assert [t.tag_ for t in doc] == ["_SP", "DT", "_SP", "NN"]
    assert [t.head.i for t in doc] == [1, 3, 1, 3]
    assert len(list(doc.sents)) == 1


def test_vectors_of_white_space_are_zero(rng):
    doc = Doc(VOCAB, words=["a", "\n", "b"])
    rows = rng.normal(size=(2, 3))
    assert to_tokens(doc, normalize_words(doc), rows).tolist() == [
        rows[0].tolist(),
        [0, 0, 0],
        rows[1].tolist(),
    ]


@given(st.lists(st.sampled_from(["p53", "\n", " ", "β", "<b>", "\x00"]), max_size=8))
def test_every_word_is_kept_in_its_place(words):
    doc = Doc(VOCAB, words=words)
    copy = word_doc(doc)
    assert [
        doc.text[a:b] for a, b in (original_offsets(copy[i : i + 1]) for i in range(len(copy)))
    ] == [word for word in words if word in ("p53", "β")]


def test_a_text_in_plain_letters_is_read_once():
    plain = Doc(VOCAB, words=["p53", "\n", "binds"], spaces=[False] * 3)
    greek = Doc(VOCAB, words=["β", "\n", "binds"], spaces=[False] * 3)
    assert normalize_words(plain, transliterate=True) is normalize_words(plain)
    assert normalize_words(greek).words == ["β", "binds"]
    assert normalize_words(greek, transliterate=True).words == ["beta", "binds"]


def set_apart(before: str = "\n", after: str = "\n", inside: str = "binds", head: int = 2) -> Doc:
    """Three words of one sentence with something before and after them."""
    words, heads = [before, "p53", inside, "MDM2", after], [1, head, 2, 2, 3]
    deps = ["dep", "nsubj", "ROOT", "dobj", "dep"]
    doc = Doc(VOCAB, words=words, spaces=[False] * 5, heads=heads, deps=deps)
    doc.spans["entities"] = [Span(doc, 1, 2, "protein"), Span(doc, 3, 4, "protein")]
    return doc


def test_white_space_around_a_sentence_needs_no_copy():
    doc = set_apart()
    assert word_doc(doc, [(0, 5)]) is doc
    assert trim_to_words(doc, [(0, 5), (4, 5)])[0] == (1, 4)
    first, end = trim_to_words(doc, [(4, 5)])[0]
    assert first == end  # no word stands there


@pytest.mark.parametrize(
    "given",
    [{"before": "<b>"}, {"after": "</b>"}, {"inside": "\n\n"}, {"inside": "β"}, {"head": 0}],
)
def test_what_else_is_not_a_plain_word_needs_one(given):
    doc = set_apart(**given)
    assert word_doc(doc, [(0, 5)]) is not doc


def test_a_name_with_white_space_needs_a_copy():
    doc = set_apart()
    doc.spans["other"] = [Span(doc, 3, 5, "protein")]
    assert word_doc(doc, [(0, 5)]) is not doc


def test_the_parse_of_a_corpus_has_all_words():
    doc = set_apart()
    doc.user_data["dependencies"] = []
    assert trim_to_words(doc, [(0, 5)]) == [(0, 5)]
