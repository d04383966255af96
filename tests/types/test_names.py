"""Names: found by slots of their hashes."""

from __future__ import annotations

import numpy as np

from textrank.types import NameIndex, Names


def test_names_that_share_a_slot_are_told_apart() -> None:
    """Half a million slots for a hundred thousand names: thousands of them share one."""
    many = [(f"a{n % 317}", f"b{n // 317}") for n in range(100_000)]
    index = NameIndex(Names.of(many))
    codes = index.codes.ordered[0]
    slots = codes & np.uint64(len(index.codes._slots) - 1)
    assert len(np.unique(slots)) < len(many)
    sought = [*many[::7], ("a1", "c"), ("b1", "a1"), ("a1",), ("a1", "b1", "b1")]
    expected = [*range(0, len(many), 7), -1, -1, -1, -1]
    assert index.find(Names.of(sought)).tolist() == expected
