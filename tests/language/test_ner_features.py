"""Evidence for tags: tables come back the same, and joints and brackets are told."""

from __future__ import annotations

import numpy as np

from textrank.language._ner_network import (
    CONJUNCTION_TEMPLATES,
    TABLE_BITS,
    UNIGRAM_TEMPLATES,
    VIEW_INDEX,
    WeightTable,
    WordTable,
    caseless_mask,
    empty_word_table,
    fold_digits,
    hash_multiplier,
    hash_text,
    join_codes,
    word_class,
    word_shape,
)


def test_a_table_comes_back_the_same_and_is_near_its_weights():
    weights = np.random.default_rng(0).normal(size=(64, 3))
    table = WeightTable.from_weights(weights)
    again = WeightTable.unpack(table.pack())
    np.testing.assert_array_equal(again.weights, table.weights)
    np.testing.assert_allclose(again.weights * again.scales, weights, atol=0.02)


def test_a_small_table_has_several_rows_in_one():
    table = WeightTable.from_weights(np.arange(4.0)[:, None])
    rows = np.array([0, (1 << TABLE_BITS) // 4, (1 << TABLE_BITS) - 1])
    assert (table[rows] * table.scales).round().ravel().tolist() == [0, 1, 3]


def test_templates_are_different_and_hashed_differently():
    templates = [*UNIGRAM_TEMPLATES, *CONJUNCTION_TEMPLATES]
    assert len(set(templates)) == len(templates)
    factors = {int(hash_multiplier(t, part)) for t in range(len(templates)) for part in range(4)}
    assert len(factors) == 4 * len(templates)
    assert all(number % 2 for number in factors)


def test_joints_and_brackets_are_told():
    words = ["a", "(", "b", ")", "c", ")", "d"]
    spaces = np.array([True, False, False, True, True, False, True])
    told = (join_codes(words, spaces) - np.uint64(1)).tolist()
    assert [n >= 4 for n in told] == [False, True, True, True, False, False, False]
    assert [n % 2 == 1 for n in told] == [False, False, True, True, False, False, True]


def test_a_text_without_case_shows_other_shapes_but_the_same_words():
    table = WordTable(
        {
            **empty_word_table(2).arrays,
            "exact_keys": np.array([hash_text("MDM2")], dtype=np.uint32),
            "exact_codes": np.array([1], dtype=np.uint8),
            "lower_keys": np.array([hash_text("mdm2")], dtype=np.uint32),
            "lower_codes": np.array([1], dtype=np.uint8),
        }
    )
    upper, lower = table.view_hashes("MDM2", True), table.view_hashes("mdm2", True)
    assert upper == lower
    usual = table.view_hashes("MDM2", False)
    assert [a == b for a, b in zip(usual, upper, strict=True)][:4] == [False, True, True, False]
    assert table.view_hashes("mdm2", False)[10] != table.view_hashes("xyz2", False)[10]


def test_sentences_in_capitals_or_without_say_nothing_by_case():
    words = ["p53", "binds", ".", "RAF", "ACTIVATES", "MEK", ".", "PKA", "binds", "GRB2", "."]
    assert caseless_mask(words).tolist() == [True] * 3 + [True] * 4 + [False] * 4
    assert not caseless_mask(["GRB2", "."]).any()
    assert word_class("-") == "other-"


def test_what_is_known_of_words_is_what_a_dictionary_of_the_table_says():
    rng = np.random.default_rng(1)
    words = [f"w{n}" for n in range(300)]
    known = np.unique([hash_text(word) for word in words[:200]]).astype(np.uint32)
    codes = rng.integers(1, 64, size=len(known)).astype(np.uint8)
    plain_keys = np.unique([hash_text("w0"), hash_text("abc"), hash_text("xyz")]).astype(np.uint32)
    table = WordTable(
        {
            **empty_word_table(2).arrays,
            **{f"{cased}_keys": known for cased in ("exact", "lower")},
            **{f"{cased}_codes": codes for cased in ("exact", "lower")},
            "keys": plain_keys,
            "clusters": rng.integers(9, size=(3, 4)).astype(np.uint16),
            "vectors": np.ones((3, 2), dtype=np.int8),
        }
    )
    listed = dict(zip(known.tolist(), codes.tolist(), strict=True))
    rows = {key: row for row, key in enumerate(plain_keys.tolist())}
    for word in [*words, "abc", "XYZ", "none"]:
        code = listed.get(hash_text(word), 0)
        asked = table.view_hashes(word, False)
        assert asked[VIEW_INDEX["named"]] == hash_text(f"{VIEW_INDEX['named']}|{code >> 3}")
        at = rows.get(hash_text(fold_digits(word)), -1)
        assert table.find_row(word) == at
        cluster = "?" if at < 0 else table.arrays["clusters"][at, 0]
        assert asked[VIEW_INDEX["cluster64"]] == hash_text(f"{VIEW_INDEX['cluster64']}|{cluster}")


def test_plain_words_have_the_shape_that_their_letters_have_beside_odd_ones():
    every = "".join(map(chr, range(1, 128)))
    for word in ("p53", "IL-2Ra", "x" * 30, *(every[i : i + 20] for i in range(0, 127, 20))):
        assert word_shape(word[:23]) == word_shape(word[:23] + "β").removesuffix("x")
