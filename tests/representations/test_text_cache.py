"""What is told of texts: asked once, and not remembered without bound."""

from __future__ import annotations

from spacy.strings import StringStore

from textrank.representations import contexts
from textrank.representations.contexts import TextCache


def test_each_text_is_asked_once_whatever_the_store():
    asked = []
    tell = TextCache(lambda text: asked.append(text) or text.upper())
    one, other = StringStore(["a", "b"]), StringStore(["b", "c"])
    assert tell.lookup([one["a"], one["b"], one["a"]], one) == ["A", "B", "A"]
    assert tell.lookup([other["b"], other["c"]], other) == ["B", "C"]
    assert asked == ["a", "b", "c"]


def test_too_many_texts_are_forgotten(monkeypatch):
    monkeypatch.setattr(contexts, "MAX_CACHED_TEXTS", 3)
    strings = StringStore(map(str, range(20)))
    tell = TextCache(int)
    for number in range(20):
        assert tell.lookup([strings[str(number)]], strings) == [number]
        assert len(tell._values) <= 4
