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
    assert srsly.msgpack_dumps(srsly.msgpack_loads(before)) == before

    def search(self):
        pytest.fail("looked through all installed packages")

    monkeypatch.setattr(catalogue.Registry, "get_entry_points", search)
    assert srsly.msgpack_dumps(value) == before
    assert srsly.msgpack_loads(before)["b"].tolist() == value["b"].tolist()


def test_what_is_registered_later_is_used():
    use_fast_packing()
    srsly.msgpack_dumps(1)

    def encode(value, chain=None):
        return {"whole": value.real} if isinstance(value, complex) else chain(value)

    msgpack_encoders.register("textrank_test", func=encode)
    try:
        assert srsly.msgpack_loads(srsly.msgpack_dumps(2 + 0j)) == {"whole": 2.0}
    finally:
        del catalogue.REGISTRY["srsly", "msgpack_encoders", "textrank_test"]
