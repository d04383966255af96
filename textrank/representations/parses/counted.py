"""Counts of what parses look like; what several of them share is named once."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from textrank.representations.parses.forest import Forest
from textrank.types import Features, Indices, Names


@dataclass(eq=False)
class Parts:
    """What the parses of a forest are made of, such as arcs and arcs that meet, each with names.

    Parts are added a kind at a time; of each kind there is at most one at a place.
    """

    forest: Forest
    count: int = 0
    _at: list[Indices] = field(default_factory=list)  # of a kind, the part at each place; or -1
    _named: list[Indices] = field(default_factory=list)  # the parts that names are of
    _names: list[NDArray[np.int32]] = field(default_factory=list)

    def add(self, places: Indices, which: Indices, count: int) -> Indices:
        """Numbers of so many parts of a new kind, given which of them stands at some places."""
        at = np.full(len(self.forest.word), -1)
        at[places] = self.count + which
        self._at.append(at)
        self.count += count
        return np.arange(self.count - count, self.count)

    def name(self, parts: Indices, what: str, *words: Indices) -> None:
        """Gives each of some parts a name: what is said, then numbers of strings, -1 for none."""
        names = np.empty((len(parts), 1 + len(words)), dtype=np.int32)
        names[:, 0] = self.forest.number(what)
        for column, word in enumerate(words, start=1):
            names[:, column] = word
        self._named.append(parts)
        self._names.append(names)

    def counted(self) -> Features:
        """The names of the parts of each parse counted, over the root of its number of words."""
        names, columns = self._distinct()
        parts = np.concatenate(self._named)
        each = sp.csr_array((np.ones(len(parts)), (parts, columns)), (self.count + 1, len(names)))
        values = self._parses() @ each
        roots = np.sqrt(np.maximum(np.diff(self.forest.begins), 1))
        values.data /= np.repeat(roots, np.diff(values.indptr))
        return Features(values, names)

    def _distinct(self) -> tuple[Names, Indices]:
        wide = max(own.shape[1] for own in self._names)
        table = np.full((sum(map(len, self._names)), wide), -1, dtype=np.int32)
        end = 0
        for own in self._names:
            table[end : end + len(own), : own.shape[1]] = own
            end += len(own)
        return Names(tuple(self.forest.strings), table).distinct()

    def _parses(self) -> sp.csr_array:  # (parses, parts + 1)
        """Which parts each parse has; the last stands for none."""
        at = np.stack(self._at, axis=1)
        at[at < 0] = self.count
        begins = self.forest.begins
        cells = (np.ones(at.size), at.ravel(), begins * at.shape[1])
        return sp.csr_array(cells, (len(begins) - 1, self.count + 1))
