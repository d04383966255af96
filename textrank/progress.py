"""Progress of long work, told to whoever listens; silent where nobody does."""

from __future__ import annotations

import gc
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Protocol, TypeVar

T = TypeVar("T")


class Listener(Protocol):
    """Shows progress: the command line's bar, or a notebook's."""

    def track(self, items: Iterable[T], what: str, total: int | None) -> Iterator[T]:
        """The items again, counting them."""


_listener: ContextVar[Listener | None] = ContextVar("textrank_progress", default=None)


def track(items: Iterable[T], what: str, total: int | None = None) -> Iterator[T]:
    """The items again, one by one, with their number reported to the listener if there is one."""
    listener = _listener.get()
    return iter(items) if listener is None else listener.track(items, what, total)


@contextmanager
def report_progress(listener: Listener) -> Iterator[None]:
    """Inside this block, ``track`` reports to ``listener``."""
    token = _listener.set(listener)
    try:
        yield
    finally:
        _listener.reset(token)


@contextmanager
def gc_disabled() -> Iterator[None]:
    """Inside this block no garbage is looked for; what nothing refers to is freed as ever.

    A search goes through all that a program keeps, language model and imports included, a tenth of
    a second each, and many new objects make it come often. What is made for a batch has no cycles.
    """
    looked_for = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if looked_for:
            gc.enable()


@contextmanager
def gc_frozen() -> Iterator[None]:
    """Exempt all objects that exist now from garbage collection inside this block.

    Models stay anyway, and a collection that need not look through them is faster. They must not
    stay exempt: Python could not free them at exit, and libraries would report leaks.
    """
    gc.freeze()
    try:
        yield
    finally:
        gc.unfreeze()
