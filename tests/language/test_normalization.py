"""Text as a person reads it, and where each character of it stands in the original."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from textrank.language.normalization import (
    _NON_PLAIN,
    fold_spaces,
    is_block_tag,
    is_paragraph_tag,
    normalize_text,
    normalize_token,
    tokenize_normalized,
    transliterate_token,
)
from textrank.language.segmentation import BioTokenizer, tokenize_chunk


@pytest.mark.parametrize(
    ("text", "reading"),
    [
        ("<b>MDM2</b> binds p<sub>53</sub>", "MDM2 binds p53"),
        ("TNF-&alpha; &amp; IL-2 &lt; 5", "TNF-α & IL-2 < 5"),
        ("&amp;beta;-catenin", "β-catenin"),
        ("&nothing; stays", "&nothing; stays"),
        ("Ca<sup>2+</sup>, Ca²⁺", "Ca2+, Ca2+"),
        ("p53<sup>12,13</sup> rose", "p53 rose"),
        ("10<sup>6</sup> cells", "106 cells"),
        ("phos\u00adphorylation", "phosphorylation"),
        ("a\x00b", "a b"),
        ("IL-\n2 rose", "IL-2 rose"),
        ("phosphory-\nlation, phosphorylation", "phosphorylation, phosphorylation"),
        ("<p>One</p><p>Two</p>", " One  Two "),
        ('<a href="x?a=1">p53</a>', "p53"),
        ("<i>in vitro</i><br/>p53", "in vitro p53"),
        ("<!-- note -->p53", "p53"),
    ],
)
def test_a_text_is_read_as_a_person_reads_it(text, reading):
    found = normalize_text(text)
    assert (found.text if found else text) == reading


@pytest.mark.parametrize(
    "code", [0x00, 0x80, 0x85, 0xAD, 0xAE, 0xB2, 0x200B, 0x2074, 0x2121, 0xFEFF]
)
def test_a_quick_look_misses_no_odd_character(code):
    """Every alternative of the long pattern begins with what the quick look looks for."""
    for text in (
        f"a{chr(code)}b",
        f"a-{chr(code)}\nb",
        f"<{chr(code)}",
        "a- \t\r\nb",
        "a\u2010\nb",
    ):
        assert (normalize_text(text) is None) == (_NON_PLAIN.search(text) is None)


@pytest.mark.parametrize(
    "text", ["p < 0.05 and q > 3", "a<b and c>d", "IL-2- and IL-4-dependent", "R&D", "x", ""]
)
def test_what_is_no_markup_stays(text):
    assert normalize_text(text) is None


def test_a_hyphen_left_hanging_at_the_end_of_a_line_joins_nothing():
    assert normalize_text("IL-2-\nand IL-4-dependent") is None


def test_every_character_knows_where_it_stands():
    text = "<b>TNF</b>-&alpha;"
    found = normalize_text(text)
    assert [text[a:b] for a, b in zip(found.starts, found.ends, strict=True)] == [
        "T", "N", "F", "-", "&alpha;"
    ]  # fmt: skip


def test_tokens_are_those_of_the_reading():
    words, _ = tokenize_normalized("<b>p<sub>53</sub></b>-binding TNF-&alpha;", _split)
    assert [normalize_token(word) for word in words if normalize_token(word)] == [
        "p53", "-", "binding", "TNF", "-", "α"
    ]  # fmt: skip


PIECES = st.sampled_from(
    ["p53", "IL-2", " ", "  ", "\n", "\r\n", "\t", "<b>", "</b>", "<p>", "&alpha;", "&lt;", "<",
     "&", ";", "\x00", "\u00ad", "-\n", "β", "ﬁ", "²", "<sup>2</sup>", "(", ").", "\u2028"]
)  # fmt: skip


@given(st.lists(PIECES, max_size=12).map("".join))
def test_no_character_is_lost(text):
    found = tokenize_normalized(text, _split)
    words, spaces = fold_spaces(_split(text)) if found is None else found
    assert "".join(word + " " * space for word, space in zip(words, spaces, strict=True)) == text
    assert all(words)


@given(st.text("aZ5-–−βκΔμﬁＡ²™ \u00ad\x00'’“", max_size=20))
def test_reading_twice_is_reading_once(text):
    assert normalize_token(normalize_token(text)) == normalize_token(text)
    assert transliterate_token(transliterate_token(text)) == transliterate_token(text)


@pytest.mark.parametrize("text", ["<" * 500_000, "&" * 500_000, "<b " * 200_000, "a-\n" * 200_000])
def test_hostile_text_takes_linear_time(text):
    normalize_text(text)  # quadratic rules would not come back


def test_tags_that_set_off_what_follows():
    assert is_block_tag("<td>")
    assert not is_block_tag("<sub>")
    assert is_paragraph_tag("</p>")
    assert not is_paragraph_tag("<td>")


def test_the_tokenizer_keeps_the_text(make_doc):
    vocab = make_doc(["a"]).vocab
    text = "  <b>MDM2</b>\r\n\r\nbinds\tTNF-&alpha; .\n"
    assert BioTokenizer(vocab)(text).text == text


def _split(text: str) -> list[str]:
    found: list[str] = []
    start = 0
    for at in range(1, len(text) + 1):
        if at == len(text) or text[at].isspace() != text[start].isspace():
            piece = text[start:at]
            found += [piece] if piece.isspace() else tokenize_chunk(piece)
            start = at
    return found
