"""Codes: found by slots, as by a dictionary."""

from __future__ import annotations

import numpy as np
import pytest

from textrank.features import HashIndex


@pytest.mark.parametrize("spread", [64, 20, 8, 3])
def test_codes_are_found_as_by_a_dictionary(rng, spread):
    codes, other = rng.integers(1 << (spread - 1), size=(2, 500), dtype=np.uint64)
    sought = np.concatenate([codes[::3], other])
    first = {code: place for place, code in reversed(list(enumerate(codes.tolist())))}
    expected = [first.get(code, -1) for code in sought.tolist()]
    assert HashIndex(codes).find(sought).tolist() == expected


def test_codes_that_share_a_slot_are_told_apart():
    codes = HashIndex(np.arange(100, dtype=np.uint64) << np.uint64(32))
    assert codes.find(codes.codes).tolist() == list(range(100))
    assert codes.find(codes.codes + np.uint64(1 << 20)).tolist() == [-1] * 100


def test_nothing_is_found_among_none():
    none = np.empty(0, dtype=np.uint64)
    assert HashIndex(none).find(np.array([7], dtype=np.uint64)).tolist() == [-1]
    assert HashIndex(np.array([7], dtype=np.uint64)).find(none).tolist() == []
