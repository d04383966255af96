"""Views: several representations of one candidate."""

from __future__ import annotations

import numpy as np
import pytest

from textrank.features import take_rows
from textrank.kernels.algebra import Linear, OnView
from textrank.representations.mentions import Views


def test_views_hold_one_sequence_a_name_in_the_order_of_the_candidates():
    views = Views({"length": lambda c: [[len(x)] for x in c], "first": lambda c: [x[0] for x in c]})
    seen = views(["bind", "to"])
    assert len(seen) == 2
    assert seen[1] == {"length": [2], "first": "t"}
    assert [dict(v) for v in take_rows(seen, np.array([1, 0]))] == [seen[1], seen[0]]
    assert OnView("length", Linear())(seen).tolist() == [[16.0, 8.0], [8.0, 4.0]]
    assert seen[:1].view("first") == ["b"]


def test_views_need_a_name():
    with pytest.raises(ValueError, match="at least one view"):
        Views({})
