"""Progress of long work for a listener, and control of the garbage collector."""

from __future__ import annotations

import gc
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Protocol, TypeVar

T = TypeVar("T")


class Listener(Protocol):
    """Display of progress, such as the bar of the command line."""

    def track(self, items: Iterable[T], what: str, total: int | None) -> Iterator[T]:
        """Yield the items and show how many of ``total`` (None: unknown) are done.

        ``what`` is the label.
        """


_listener: ContextVar[Listener | None] = ContextVar("textrank_progress", default=None)


def track(items: Iterable[T], what: str, total: int | None = None) -> Iterator[T]:
    """Return an iterator over ``items`` that reports progress to the listener, if there is one.

    ``what`` is the label of the work, ``total`` the number of items if it is known.
    """
    listener = _listener.get()
    return iter(items) if listener is None else listener.track(items, what, total)


@contextmanager
def report_progress(listener: Listener) -> Iterator[None]:
    """Make ``track`` report to ``listener`` inside this block; the earlier listener is restored.

    Holds for the current thread or task (a ContextVar).
    """
    token = _listener.set(listener)
    try:
        yield
    finally:
        _listener.reset(token)


@contextmanager
def gc_disabled() -> Iterator[None]:
    """Disable the cyclic garbage collector inside this block; leave it as it was before.

    A collection visits all objects of the program, including language model and imports, which
    takes a tenth of a second, and many new objects trigger it often. Objects that are made for a
    batch have no cycles.
    """
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


@contextmanager
def gc_frozen() -> Iterator[None]:
    """Exempt all objects that exist now from garbage collection inside this block.

    A collection that need not visit the models is faster. They are unfrozen at the end, or Python
    could not free them at exit and libraries would report leaks.
    """
    gc.freeze()
    try:
        yield
    finally:
        gc.unfreeze()
