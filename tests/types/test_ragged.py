"""Lists of different lengths as flat arrays."""

from __future__ import annotations

import numpy as np
import pytest

from textrank.types.ragged import numbered


@pytest.mark.parametrize("largest", [1, 50, 1 << 40, (1 << 62) - 1])  # the last leaves no room
@pytest.mark.parametrize("size", [0, 1, 7, 1000])
def test_codes_are_numbered_as_numpy_does(largest, size):
    codes = np.random.default_rng(size).integers(0, largest, size)
    known, number = numbered(codes)
    expected, place = np.unique(codes, return_inverse=True)
    np.testing.assert_array_equal(known, expected)
    np.testing.assert_array_equal(number, place)


def test_codes_below_zero_are_numbered_too():
    known, number = numbered(np.array([3, -1, 3]))
    assert known.tolist() == [-1, 3]
    assert number.tolist() == [1, 0, 1]
