"""No garbage is looked for while a batch is judged, and it is looked for again afterwards."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from typing import Any

import pytest

from textrank.config import load_model
from textrank.language import load_nlp
from textrank.progress import gc_disabled


@pytest.fixture(autouse=True)
def eager() -> Iterator[None]:
    """Python looks for garbage at every other object it makes, and is left as it was found."""
    was, before = gc.isenabled(), gc.get_threshold()
    gc.set_threshold(1, 1, 1)
    yield
    gc.set_threshold(*before)
    (gc.enable if was else gc.disable)()


def searches(work: Any) -> int:
    """How often garbage was looked for during some work."""
    seen: list[str] = []
    gc.callbacks.append(lambda phase, _: seen.append(phase))
    try:
        work()
    finally:
        gc.callbacks.pop()
    return seen.count("start")


def busy() -> list[list[int]]:
    return [[n] for n in range(1000)]


def test_garbage_is_looked_for_again_even_after_an_error() -> None:
    gc.enable()
    assert searches(busy) > 0
    seen: list[bool] = []

    @gc_disabled()
    def fails() -> None:
        seen.append(gc.isenabled())
        raise ValueError("as asked")

    with pytest.raises(ValueError, match="as asked"):
        fails()
    assert seen == [False]
    assert gc.isenabled()


def test_who_switched_the_search_off_finds_it_off() -> None:
    gc.disable()
    with gc_disabled():
        pass
    assert not gc.isenabled()


def test_a_batch_is_judged_without_a_search() -> None:
    model, nlp = load_model("ppi"), load_nlp()
    docs = [nlp("GRB2 binds SOS1 and MDM2."), nlp("RAD51 does not bind PTEN.")]
    model(docs[0].copy())  # what is made at the first call stays
    gc.enable()
    again = [doc.copy() for doc in docs]
    plainly = searches(lambda: list(model.annotate(again)))
    assert 20 * searches(lambda: model._annotate_batch(docs)) < plainly  # a few before and after
    assert len(docs[0]._.textrank_ppi) == 3
