"""PrintedWords: the same words as a pattern finds in the text."""

from __future__ import annotations

import re

import pytest
import spacy
from hypothesis import given, settings
from hypothesis import strategies as st
from spacy.tokens import Doc

from textrank.tasks.spelling import PrintedWords, normalize_word

NLP = spacy.blank("en")
LISTS = [
    ("its", "it's", "than", "I", "maybe", "may be", "they're", "there"),
    ("it", "it's", "a", "a b", "b c", "ab"),
]
PIECES = [*"ab'’ -./@(\n", "  ", "it", "its", "'s", "’s", "than", "I", "may", "be", "there", "'re"]


def in_text(words: tuple[str, ...], doc: Doc) -> list[tuple[int, int, str]]:
    """The long way: all that a pattern matches, where it is whole tokens."""
    each = sorted(words, key=lambda word: (-len(word), word))
    spelt = [r"\s+".join(map(re.escape, word.split())).replace("'", "['’]") for word in each]
    pattern = rf"(?<!\w)(?<!\w[-'’./@])(?:{'|'.join(spelt)})(?!\w|[-'’./@]\w)"
    spans = [doc.char_span(*match.span()) for match in re.finditer(pattern, doc.text)]
    return [(s.start, s.end, normalize_word(s.text)) for s in spans if s is not None]


def found(words: tuple[str, ...], docs: list[Doc]) -> list[list[tuple[int, int, str]]]:
    each = PrintedWords(words).find(docs)
    return [[(span.start, span.end, word) for span, word in own] for own in each]


@settings(max_examples=200)
@pytest.mark.parametrize("words", LISTS, ids=["sets", "nested"])
@given(texts=st.lists(st.lists(st.sampled_from(PIECES), max_size=12).map("".join), max_size=3))
def test_the_words_are_those_of_the_text(words, texts):
    docs = [NLP(text) for text in texts]
    if docs:
        assert found(words, docs) == [in_text(words, doc) for doc in docs]


def test_a_word_in_several_tokens_or_one():
    words = ("they're", "may be")
    split = Doc(NLP.vocab, ["th", "ey", "'re", "may", "be"], [False, False, True, True, False])
    merged = Doc(NLP.vocab, ["they're", "may be"], [True, False])
    assert found(words, [split, merged]) == [
        [(0, 3, "they're"), (3, 5, "may be")],
        [(0, 1, "they're"), (1, 2, "may be")],
    ]


def test_a_token_that_is_more_than_the_word_is_none():
    doc = Doc(NLP.vocab, ["(than", "than)", "than"], [True, True, False])
    assert found(("than",), [doc]) == [[(2, 3, "than")]]
