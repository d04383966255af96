"""Words as numbers: tokens, sentences, features against the long way."""

from __future__ import annotations

import zlib

import numpy as np
import pytest

from textrank.lint.model import (
    BAG_OFFSETS,
    BAG_TEMPLATE,
    FEATURE_VALUES,
    MAX_OFFSET,
    TEMPLATES,
    TOKEN,
    Lexicon,
    W,
    combine_hashes,
    normalize_token,
    shape_classes,
)

TEXT = "This one is larger then the other. Don’t stop and/or wait.\n\nHere 12.5 more"


def lexicon(**members: int) -> Lexicon:
    return Lexicon({}, members)


def test_compounds_and_numbers_are_single_tokens():
    tokens = TOKEN.findall("We don’t use well-known x_y and/or 12.5 *then*\n\nNow")
    assert tokens == [
        *("We", "don’t", "use", "well-known", "x", "y", "and/or", "12.5", "then"),
        "\n\n",
        "Now",
    ]


def test_sentences_end_at_full_stops_and_blank_lines():
    tokens = lexicon().tokenize(TEXT)
    own = tokens.sentence[MAX_OFFSET:-MAX_OFFSET]
    words = TOKEN.findall(TEXT)
    assert own[words.index("other")] == own[words.index("This")] == own[words.index(".")]
    assert own[words.index("Don’t")] != own[words.index("other")]
    assert own[words.index("Here")] != own[words.index("wait")]


def slow_features(text: str, word: str) -> list[int]:
    """The same features by plain loops over one sentence."""
    sentence = [*TOKEN.findall(text), "¶"]  # the end of a text is one of a paragraph
    at = sentence.index(word)

    def code(kind: int, place: int) -> int:
        k = at + place
        if not 0 <= k < len(sentence):
            return 0
        plain = normalize_token(sentence[k])
        hashes = [zlib.crc32(plain.encode()), *shape_classes(plain)]
        hashes += [zlib.crc32(plain[:1].encode()), zlib.crc32(plain[:3].encode())]
        return hashes[kind] + 1

    def one(slot: int, parts: list[tuple[int, int]]) -> int:
        return int(
            combine_hashes(slot, [np.array([code(*part)], dtype=np.uint64) for part in parts])[0]
        )

    near = [one(slot, list(parts)) for slot, parts in enumerate(TEMPLATES)]
    return near + [one(BAG_TEMPLATE, [(W, place)]) for place in BAG_OFFSETS]


def test_features_of_all_places_are_those_of_plain_loops():
    text = "This one is larger then the other"
    tokens = lexicon(then=0).tokenize(text)
    start = np.flatnonzero(tokens.word_id == 0)
    found = tokens.features(start, start + 1)
    assert found.shape == (1, len(FEATURE_VALUES))
    assert found[0].tolist() == slow_features(text, "then")


def test_the_printed_word_and_other_sentences_do_not_count():
    def features(text: str) -> list[int]:
        tokens = lexicon(then=0, than=1).tokenize(text)
        start = np.flatnonzero(tokens.word_id >= 0)
        return tokens.features(start, start + 1)[0].tolist()

    assert features("It is larger then that.") == features("It is larger than that.")
    assert features("It is larger then that. Yes.") == features("No! It is larger then that. No.")
    assert features("It is larger then that.") != features("It is smaller then that.")


@pytest.mark.parametrize(
    ("text", "judged"),
    [
        ("It is larger then the other one.", True),
        ("Then it is larger by the way.", True),
        ("It is the Then of the other one.", False),
        ("It is THEN larger by the way.", False),
        ("It is \x00\x00 then larger by the way.", False),
        ("Then more.", False),
    ],
)
def test_names_headings_and_what_stands_next_to_code_are_left_alone(text, judged):
    tokens = lexicon(then=0).tokenize(text)
    start = np.flatnonzero(tokens.word_id == 0)
    assert bool(tokens.is_prose(start, start + 1).any()) is judged


def test_a_full_lexicon_begins_anew_and_reads_the_same():
    small = Lexicon({}, {"then": 0}, max_tokens=3)
    small.tokenize("one two three four five")
    again, fresh = small.tokenize(TEXT), lexicon(then=0).tokenize(TEXT)
    for a, b in zip(again.codes, fresh.codes, strict=True):
        assert np.array_equal(a, b)
