"""The items of a file one by one: those wanted, those skipped, those that are wrong."""

from __future__ import annotations

import warnings
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import TypeVar

S = TypeVar("S")
T = TypeVar("T")


@dataclass
class Selection:
    """Which items of the files that are read are wanted, asked for and counted as they come.

    Whoever reads a file in parts sets it with ``selecting``. Items that are not wanted are never
    parsed; those that cannot be are told to ``failed`` with their number, and reading goes on.
    """

    wants: Callable[[int], bool]
    failed: Callable[[int, str], None]
    number: int = 0  # of the next item
    taken: deque[int] = field(default_factory=deque)  # numbers of what was parsed, until fetched

    def read(self, item: S, parse: Callable[[S], T]) -> T | None:
        """The item parsed; None where it is not wanted or wrong."""
        number, self.number = self.number, self.number + 1
        if not self.wants(number):
            return None
        try:
            value = parse(item)
        except (ValueError, LookupError, TypeError, RecursionError) as error:
            self.failed(number, str(error) or type(error).__name__)
            return None
        self.taken.append(number)
        return value


_selection: ContextVar[Selection | None] = ContextVar("textrank_selection", default=None)


@contextmanager
def selecting(selection: Selection) -> Iterator[None]:
    """Inside this block, readers give only what is wanted, and give it as it stands in the file.

    What they give is not analysed, not even into sentences: that is left to the caller.
    """
    token = _selection.set(selection)
    try:
        yield
    finally:
        _selection.reset(token)


def is_selecting() -> bool:
    """Whether somebody reads files in parts now."""
    return _selection.get() is not None


def parsed(
    items: Iterable[S], parse: Callable[[S], T], *, path: str, skip_bad: bool
) -> Iterator[T]:
    """``parse`` of each item; with ``skip_bad`` the bad ones are left out, counted in a warning.

    A file without any item is an error: an empty corpus is a mistake somewhere.
    """
    if (selection := _selection.get()) is not None:
        found = (selection.read(item, parse) for item in items)
        yield from (value for value in found if value is not None)
        return
    bad: list[str] = []
    good = 0
    for item in items:
        try:
            value = parse(item)
        except ValueError as error:
            if not skip_bad:
                raise
            bad.append(str(error))
            continue
        good += 1
        yield value
    if not good and not bad:
        raise ValueError(f"{path}: no documents in this file. Is it empty, or of another format?")
    if bad:
        warnings.warn(f"{len(bad)} documents skipped, the first: {bad[0]}", stacklevel=2)
