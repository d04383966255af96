"""Docs on their way between processes."""

from __future__ import annotations

import catalogue
import numpy as np
import pytest
import srsly
from srsly.msgpack import msgpack_encoders

from textrank.language.packing import use_fast_packing


def test_packing_no_longer_searches_the_environment_and_gives_the_same(monkeypatch):
    value = {"a": [1, "two", None], "b": np.arange(6, dtype=np.uint64).reshape(2, 3)}
    before = srsly.msgpack_dumps(value)
    use_fast_packing()
    use_fast_packing()  # once is enough, twice does no harm

    def search(self):
        pytest.fail("looked through all installed packages")

    monkeypatch.setattr(catalogue.Registry, "get_entry_points", search)
    assert srsly.msgpack_dumps(value) == before
    assert srsly.msgpack_loads(before)["b"].tolist() == value["b"].tolist()
    assert "numpy" in msgpack_encoders
