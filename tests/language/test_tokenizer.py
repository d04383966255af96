"""The tokenizer: what it splits, what it keeps, and that it never changes the text."""

from __future__ import annotations

import pytest
import spacy
from hypothesis import given
from hypothesis import strategies as st

from textrank.language.segmentation import BioTokenizer, tokenize_chunk

TOKENIZE = BioTokenizer(spacy.blank("en").vocab)


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("IL-2", "IL - 2"),
        ("actin-binding", "actin - binding"),
        ("NF-kappaB/RelA-dependent", "NF - kappaB / RelA - dependent"),
        ("anti-CD3", "anti - CD3"),
        ("anti-inflammatory", "anti-inflammatory"),
        ("Abcg8+/-", "Abcg8 + / -"),
        ("p53(-/-)", "p53 ( - / - )"),
        ("5'-UTR", "5 ' - UTR"),
        ("3′-end", "3 ′ - end"),
        ("Ca2+-dependent", "Ca2+ - dependent"),
        ("[Ca2+]i", "[ Ca2+ ] i"),
        ("0.05", "0.05"),
        ("15,000", "15,000"),
        ("1,2-bis", "1 , 2 - bis"),
        ("E13.5", "E13.5"),
        ("2.5-fold", "2.5-fold"),
        ("37°C", "37 °C"),
        ("cannot", "can not"),
        ("doesn't", "does n't"),
        ("cell's", "cell 's"),
        ("(http://www.x.org/a-b),", "( http://www.x.org/a-b ) ,"),
        ("e.g.,", "e.g. ,"),
        ("A:B=C", "A : B = C"),
    ],
)
def test_pieces_split_as_in_craft(text, tokens):
    assert tokenize_chunk(text) == tokens.split()


def test_a_stop_is_split_at_the_end_of_the_text_even_after_a_single_letter():
    words = [token.text for token in TOKENIZE("Fig. 1 of C. elegans B.")]
    assert words == ["Fig.", "1", "of", "C.", "elegans", "B", "."]


@given(st.text(st.characters(exclude_categories=["Cs"]), max_size=60))
def test_the_text_of_the_doc_is_the_text_given(text):
    assert TOKENIZE(text).text == text


@given(st.text(alphabet="aB1-/+.'()[], \n\t", max_size=40))
def test_no_token_mixes_words_and_white_space(text):
    for token in TOKENIZE(text):
        assert token.is_space or not any(c.isspace() for c in token.text)


def test_half_a_surrogate_pair_is_replaced_and_offsets_stay():
    doc = TOKENIZE("a \ud800 b")
    assert doc.text == "a \ufffd b"
    assert doc[2].idx == 4


@pytest.mark.parametrize("unit", ["a", ")", "a-", "1,111", "a.", "a@", "x/", "(", "'"])
def test_long_text_without_space_takes_linear_time(unit):
    text = unit * (100_000 // len(unit))  # quadratic rules would not come back
    assert TOKENIZE(text).text == text
