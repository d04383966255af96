"""Names: found by numbers made of their words."""

from __future__ import annotations

import numpy as np
import pytest

from textrank.features import FeatureNames, NameIndex, pack_words


def test_names_that_share_a_slot_are_told_apart() -> None:
    """Half a million slots for a hundred thousand names: thousands of them share one."""
    many = [(f"a{n % 317}", f"b{n // 317}") for n in range(100_000)]
    index = NameIndex(FeatureNames.from_iterable(many))
    codes = index.codes.ordered[0]
    slots = codes & np.uint64(len(index.codes._slot_table) - 1)
    assert len(np.unique(slots)) < len(many)
    sought = [*many[::7], ("a1", "c"), ("b1", "a1"), ("a1",), ("a1", "b1", "b1")]
    expected = [*range(0, len(many), 7), -1, -1, -1, -1]
    assert index.find(FeatureNames.from_iterable(sought)).tolist() == expected


@pytest.mark.parametrize("longest", [1, 3, 20])  # of 20 words no number of 64 bits can be made
@pytest.mark.parametrize("seed", range(3))
def test_names_of_any_length_are_found_as_in_a_dictionary(seed: int, longest: int) -> None:
    rng = np.random.default_rng(seed)

    def drawn(words: str, most: int) -> list[tuple[str, ...]]:
        return [tuple(rng.choice(list(words), rng.integers(0, most + 1))) for _ in range(200)]

    ours, theirs = drawn("abcdefghij", longest), drawn("abcdefghijx", longest + 2)
    index = NameIndex(FeatureNames.from_iterable(ours))
    assert index._is_exact == (longest < 20)
    first = {name: ours.index(name) for name in ours}
    for sought in (theirs, ours):
        assert index.find(FeatureNames.from_iterable(sought)).tolist() == [
            first.get(name, -1) for name in sought
        ]


def test_names_in_turn_are_those_at_their_places() -> None:
    names = FeatureNames.from_iterable([("a", "b"), "c", ("b", "c", "a")])
    assert list(names) == [names[i] for i in range(3)] == [("a", "b"), ("c",), ("b", "c", "a")]


def test_a_word_that_a_vocabulary_has_twice_is_one_word() -> None:
    twice = FeatureNames(("a", "b", "a"), np.array([[0, 1], [2, 1], [1, -1]], dtype=np.int32))
    assert NameIndex(twice).find(FeatureNames.from_iterable([("a", "b"), "b", "a"])).tolist() == [
        0,
        2,
        -1,
    ]


def test_a_prefix_that_is_also_a_word_is_one_word() -> None:
    """Two entries of a vocabulary may be the same word; names with either are one name."""
    index = NameIndex(
        FeatureNames.from_iterable([("before", "protein"), ("before", "gene")]).with_prefix(
            "protein"
        )
    )
    sought = FeatureNames.from_iterable(
        [("protein", "before", "protein"), ("protein", "before", "gene")]
    )
    assert index.find(sought).tolist() == [0, 1]
    assert sought.find(index.names).tolist() == [0, 1]


def test_a_word_that_a_file_has_twice_is_one_word() -> None:
    doubled = FeatureNames(
        ("gene", "protein", "gene"), np.array([[0, 1], [2, 1], [1, 2]], np.int32)
    )
    names = FeatureNames.from_arrays(doubled.to_arrays())
    assert list(names) == list(doubled)
    assert sorted(names.vocabulary) == ["gene", "protein"]
    assert len(names.with_prefix("gene").vocabulary) == 2


def random_names(rng: np.random.Generator, size: int) -> list[tuple[str, ...]]:
    return [tuple(rng.choice(["a", "b", "c"], rng.integers(1, 4)).tolist()) for _ in range(size)]


@pytest.mark.parametrize("seed", range(5))
def test_unique_names_are_those_of_a_dictionary(seed: int) -> None:
    names = random_names(np.random.default_rng(seed), 60)
    unique, index = FeatureNames.from_iterable(names).unique()
    assert list(unique) == list(dict.fromkeys(names))
    assert [unique[i] for i in index] == names


@pytest.mark.parametrize(("questions", "is_shared"), [(1, False), (3, True)])
def test_names_without_first_words_are_stored_once(questions: int, is_shared: bool) -> None:
    """Names of a model with several questions, some of which lack a feature."""
    rng = np.random.default_rng(questions)
    rest = list(dict.fromkeys(random_names(rng, 200)))
    names = FeatureNames.from_iterable(
        (f"question {q}", *name)
        for q in range(questions)
        for i, name in enumerate(rest)
        if not q or (i + q) % 7
    )
    arrays = names.to_arrays()
    assert ("rest" in arrays) == is_shared
    restored = FeatureNames.from_arrays(arrays)
    from_plain = FeatureNames.from_arrays({**pack_words(names.vocabulary), "parts": names.parts})
    for other in (restored, from_plain):
        assert list(other) == list(names)
        split, index = other.split_first_word()
        assert list(split) == rest
        assert [split[i] for i in index] == [name[1:] for name in names]
    np.testing.assert_array_equal(restored.parts, names.parts)


@pytest.mark.parametrize("damage", ["too many first words", "index too large", "word too large"])
def test_damaged_names_are_refused(damage: str) -> None:
    names = FeatureNames.from_iterable((q, w) for q in ("yes", "no", "unknown") for w in "abc")
    arrays = names.to_arrays()
    if damage == "too many first words":
        arrays["first"] = np.append(arrays["first"], 0)
    elif damage == "index too large":
        arrays["rest_steps"] = arrays["rest_steps"] + 1
    else:
        arrays["rest"] = arrays["rest"] + 9
    with pytest.raises(ValueError, match="damaged feature names"):
        FeatureNames.from_arrays(arrays)
