"""Word-position matrices of hand-made Docs."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from spacy.tokens import Doc

from textrank.candidates import Candidate
from textrank.features import take_rows
from textrank.graphs import Contexts
from textrank.representations import contexts as word_positions
from textrank.representations.contexts import WordPositions, apply_form

WORDS = ["The", "IL-2", "gene", ",", "binding", "to", "NF-kappa", "B", ",", "was", "expressed", "."]
WORDS += ["It", "bound", "the", "gene", "."]


@pytest.fixture
def candidate(make_doc):
    doc = make_doc(WORDS, entities=[(6, 8)])
    for token in doc:
        token.is_sent_start = token.i in (0, 12)
    return Candidate(doc, (doc.spans["entities"][0],), "d0")


def pairs(candidate, **settings):
    return WordPositions(**{"form": "lower", **settings})([candidate])[0].pairs()


def test_words_are_placed_from_the_target_outwards_without_punctuation(candidate):
    assert pairs(candidate, span=3) == [
        ("gene", -3), ("binding", -2), ("to", -1), ("was", 1), ("expressed", 2), ("it", 3),
    ]  # fmt: skip


def test_a_context_without_span_is_the_whole_document(candidate):
    assert [p for _, p in pairs(candidate)] == [-5, -4, -3, -2, -1, 1, 2, 3, 4, 5, 6]


def test_a_sentence_bounds_the_context(candidate):
    assert [p for _, p in pairs(candidate, bounds="sentence")] == [-5, -4, -3, -2, -1, 1, 2]


def test_one_side_only(candidate):
    assert pairs(candidate, span=1, sides="before") == [("to", -1)]
    assert pairs(candidate, span=1, sides="after") == [("was", 1)]


def test_punctuation_takes_a_position_where_kept(candidate):
    assert pairs(candidate, span=2, punctuation=True) == [
        ("binding", -2), ("to", -1), (",", 1), ("was", 2),
    ]  # fmt: skip


def test_removed_stop_words_move_the_rest_closer(candidate):
    assert pairs(candidate, span=1, stop_words=["to", "was"]) == [("binding", -1), ("expressed", 1)]
    assert pairs(candidate, span=1, stop_words="en") == [("binding", -1), ("expressed", 1)]


def test_a_kept_target_stands_at_zero(candidate):
    kept = pairs(candidate, span=1, target="keep")
    assert kept == [("to", -1), ("was", 1), ("nf-kappa", 0), ("b", 0)]


def test_a_repeated_name_may_be_left_out_everywhere(make_doc):
    doc = make_doc(["Fas", "binds", "FAS", "here"], entities=[(0, 1)])
    candidate = Candidate(doc, (doc.spans["entities"][0],), "d0")
    assert pairs(candidate) == [("binds", 1), ("fas", 2), ("here", 3)]
    assert pairs(candidate, target="exclude_name") == [("binds", 1), ("here", 3)]


@pytest.mark.parametrize(
    ("form", "word"),
    [("raw", "Bindings"), ("lower", "bindings"), ("porter", "bind"), ("snowball", "bind")],
)
def test_forms_of_a_word(make_doc, form, word):
    doc = make_doc(["X", "Bindings"], entities=[(0, 1)])
    assert pairs(Candidate(doc, (doc.spans["entities"][0],), "d0"), form=form) == [(word, 1)]


def test_lemmas_come_from_the_doc_and_their_absence_is_an_error(make_doc):
    bare = make_doc(["X", "bound"], entities=[(0, 1)])
    doc = Doc(bare.vocab, words=["X", "bound"], lemmas=["x", "bind"])
    assert pairs(Candidate(doc, (doc[0:1],), "d0"), form="lemma") == [("bind", 1)]
    with pytest.raises(ValueError, match=r"'d0' has no lemmas.*lemmatizer"):
        pairs(Candidate(bare, (bare[0:1],), "d0"), form="lemma")


@pytest.mark.parametrize(
    ("form", "word"), [("raw", "Bound"), ("lower", "bound"), ("porter", "bound"), ("lemma", "bind")]
)
def test_only_the_form_lemma_reads_the_lemma(form, word):
    assert apply_form("Bound", "bind", form) == word


def test_a_vocabulary_limits_what_is_told_but_not_the_positions(candidate):
    assert pairs(candidate, span=3, vocabulary=["it", "gene"]) == [("gene", -3), ("it", 3)]


def test_the_second_span_may_be_the_target(make_doc):
    doc = make_doc(["A", "binds", "B"], entities=[(0, 1), (2, 3)])
    candidate = Candidate(doc, tuple(doc.spans["entities"]), "d0")
    assert pairs(candidate, focus=1) == [("a", -2), ("binds", -1)]
    with pytest.raises(ValueError, match="focus 2 but the candidate in document 'd0' has 2 spans"):
        pairs(candidate, focus=2)


def test_words_in_the_hole_of_a_broken_name_are_placed_from_the_nearest_piece(make_doc):
    doc = make_doc(["p", "alpha", "and", "also", "the", "beta", "q", "r"], entities=[(1, 6)])
    span = doc.spans["entities"][0]
    span.id_ = "e1"
    doc.spans["entities"] = [span]
    doc.user_data["pieces"] = {"e1": [1, 5]}
    candidate = Candidate(doc, (doc.spans["entities"][0],), "d0")
    assert pairs(candidate, span=2) == [
        ("p", -1), ("and", 1), ("also", -2), ("the", -1), ("q", 1), ("r", 2),
    ]  # fmt: skip


def test_candidates_of_several_documents_keep_their_order(make_doc):
    docs = [make_doc(["x", word], entities=[(0, 1)], document=word) for word in ("a", "b")]
    cands = [Candidate(d, (d.spans["entities"][0],), d.user_data["document"]) for d in docs]
    contexts = WordPositions()([cands[1], cands[0], cands[1]])
    assert [c.pairs() for c in contexts] == [[("b", 1)], [("a", 1)], [("b", 1)]]
    assert len(WordPositions()([])) == 0


def test_an_empty_context_is_kept(make_doc):
    doc = make_doc(["x", "."], entities=[(0, 1)])
    contexts = WordPositions()([Candidate(doc, (doc.spans["entities"][0],), "d")])
    assert len(contexts) == 1
    assert contexts[0].pairs() == []


@settings(max_examples=50, deadline=None)
@given(st.data())
def test_placing_equals_counting_by_hand(make_doc, data):
    words = data.draw(
        st.lists(st.sampled_from(["a", "b", "the", ".", "c"]), min_size=1, max_size=12)
    )
    start = data.draw(st.integers(0, len(words) - 1))
    end = data.draw(st.integers(start + 1, len(words)))
    span = data.draw(st.integers(0, 4))
    doc = make_doc(words, entities=[(start, end)])
    got = pairs(Candidate(doc, (doc.spans["entities"][0],), "d"), span=span, stop_words=["the"])

    expected = []
    for i, word in enumerate(words):
        if word in ("the", ".") or start <= i < end:
            continue
        between = words[i:start] if i < start else words[end : i + 1]
        distance = sum(w not in ("the", ".") for w in between)
        if not span or distance <= span:
            expected.append((word, -distance if i < start else distance))
    assert got == expected


def test_contexts_are_a_sequence_that_slices_joins_and_saves():
    lists = [[("a", -1), ("b", 2)], [], [("b", 1)], [("a", 3)]]
    contexts = Contexts.from_lists(lists)
    assert [c.pairs() for c in contexts] == lists
    assert [c.pairs() for c in contexts[1:3]] == lists[1:3]
    assert contexts[-1].pairs() == lists[-1]
    assert [c.pairs() for c in take_rows(contexts, np.array([3, 0]))] == [lists[3], lists[0]]
    joined = Contexts.concat([contexts[2], Contexts.from_lists([[("z", 1), ("a", 2)]])])
    assert [c.pairs() for c in joined] == [[("b", 1)], [("z", 1), ("a", 2)]]
    again = Contexts.from_arrays(contexts.to_arrays())
    assert [c.pairs() for c in again] == lists
    assert again.vocabulary == contexts.vocabulary
    assert len(Contexts.concat([])) == 0


def test_a_context_is_a_word_position_matrix():
    context = Contexts.from_lists([[("a", -2), ("b", 1), ("a", 1)]])[0]
    assert context.matrix().toarray().tolist() == [[1, 0, 1, 0], [0, 0, 1, 0]]
    kept = Contexts.from_lists([[("a", -1), ("b", 0)]])[0]
    assert kept.matrix(span=1).toarray().tolist() == [[1, 0, 0], [0, 1, 0]]


@pytest.mark.parametrize(
    ("setting", "words"),
    [
        ({"span": -1}, "span must not be negative"),
        ({"bounds": "page"}, "bounds must be one of"),
        ({"sides": "left"}, "sides must be one of"),
        ({"target": "hide"}, "target must be one of"),
        ({"form": "upper"}, "form must be one of raw"),
        ({"stop_words": "xx-nowhere"}, "no stop words for the language 'xx-nowhere'"),
    ],
)
def test_wrong_settings_fail_with_their_value(setting, words):
    with pytest.raises(ValueError, match=words):
        WordPositions(**setting)


@pytest.mark.parametrize("bounds", ["document", "sentence"])
def test_only_words_near_a_target_are_read_and_they_are_the_same(make_doc, bounds, monkeypatch):
    """Punctuation and stop words beside it do not count, however many there are."""
    monkeypatch.setattr(word_positions, "MAX_WHOLE_DOC_TOKENS", 0)
    words = [f"w{n}" for n in range(100)] + [","] * 40 + ["IL-2"] + ["the"] * 40
    doc = make_doc([*words, *(f"v{n}" for n in range(100))], entities=[(140, 141)])
    for token in doc:
        token.is_sent_start = token.i in (0, 98, 183)
    one = [Candidate(doc, (doc.spans["entities"][0],), "d0")]
    settings = {"form": "lower", "stop_words": ["the"], "bounds": bounds}
    whole = WordPositions(**settings)(one)
    found = WordPositions(span=3, **settings)(one)
    assert found[0].pairs() == [p for p in whole[0].pairs() if abs(p[1]) <= 3]
    assert len(found[0].pairs()) == (6 if bounds == "document" else 4)
    assert len(whole.vocabulary) == 201
    assert len(found.vocabulary) < 120
