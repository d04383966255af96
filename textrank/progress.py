"""Progress of long work, told to whoever listens; silent where nobody does."""

from __future__ import annotations

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
def listening(listener: Listener) -> Iterator[None]:
    """Inside this block, ``track`` reports to ``listener``."""
    token = _listener.set(listener)
    try:
        yield
    finally:
        _listener.reset(token)
