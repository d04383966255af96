"""Lists of different lengths as flat arrays."""

from __future__ import annotations

import numpy as np
import pytest

from textrank._ragged import RaggedArray, factorize


@pytest.mark.parametrize("largest", [1, 50, 1 << 40, (1 << 62) - 1])  # the last leaves no room
@pytest.mark.parametrize("size", [0, 1, 7, 1000])
def test_codes_are_numbered_as_numpy_does(largest, size):
    codes = np.random.default_rng(size).integers(0, largest, size)
    known, number = factorize(codes)
    expected, place = np.unique(codes, return_inverse=True)
    np.testing.assert_array_equal(known, expected)
    np.testing.assert_array_equal(number, place)


def test_codes_below_zero_are_numbered_too():
    known, number = factorize(np.array([3, -1, 3]))
    assert known.tolist() == [-1, 3]
    assert number.tolist() == [1, 0, 1]


@pytest.mark.parametrize("seed", range(5))
def test_lists_are_grouped_and_taken_as_plain_ones(seed):
    rng = np.random.default_rng(seed)
    owner, values = rng.integers(0, 6, 20), rng.integers(0, 9, 20)
    plain = [[v for o, v in zip(owner, values, strict=True) if o == n] for n in range(7)]
    lists = RaggedArray.group_by(owner, values, 7)
    assert lists.sizes.tolist() == [len(own) for own in plain]
    index = rng.integers(0, 7, 10)
    at, value = lists.gather(index)
    expected = [(place, v) for place, n in enumerate(index) for v in plain[n]]
    assert list(zip(at, value, strict=True)) == expected
    some = np.array([n for n in range(7) if plain[n]])
    assert lists.first(some).tolist() == [plain[n][0] for n in some]
