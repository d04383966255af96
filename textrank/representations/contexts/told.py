"""What is told of texts, each asked once: millions of tokens have few of them."""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

from spacy.strings import StringStore

T = TypeVar("T")

MOST = 1 << 15  # texts that are remembered


@dataclass(eq=False)
class Told(Generic[T]):
    """What a function says of texts, remembered by their keys, which are the same in all stores.

    >>> strings = StringStore(["Ab", "b"])
    >>> Told(str.lower).of([strings["Ab"], strings["b"], strings["Ab"]], strings)
    ['ab', 'b', 'ab']
    """

    tell: Callable[[str], T]
    _known: dict[int, T] = field(default_factory=dict)

    def of(self, keys: list[int], strings: StringStore | ChainMap[Any, Any]) -> list[T]:
        """What is said of the text of each key; texts of long ago are forgotten."""
        known = self._known
        if len(known) > MOST:
            known.clear()
        for key in keys:
            if key not in known:
                known[key] = self.tell(strings[key])
        return [known[key] for key in keys]
