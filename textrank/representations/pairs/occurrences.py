"""Named features of many pairs from columns of numbers, and the numbers of words."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from textrank.types import Cells, Features, Indices, Names
from textrank.types.ragged import offsets

WIDE = 55  # bits of a code that tells the parts of a name apart; those above tell the group


@dataclass
class Lexicon:
    """Numbers of words, given as they come."""

    numbers: dict[str, int] = field(default_factory=dict)
    told: dict[Callable[[str], Any], list[Any]] = field(default_factory=dict)

    def __call__(self, word: str) -> int:
        return self.numbers.setdefault(word, len(self.numbers))

    def all(self, words: Iterable[str]) -> Indices:
        """The numbers of words."""
        own = self.numbers
        return np.array([own.setdefault(word, len(own)) for word in words], dtype=np.intp)

    def words(self) -> list[str]:
        """The words by their number."""
        return list(self.numbers)

    def table(self, value: Callable[[str], Any], words: Indices, kind: Any = bool) -> NDArray[Any]:
        """What a function says of each of the words given by number; it is asked once a word."""
        known = self.told.setdefault(value, [])
        if len(known) < len(self.numbers):
            known += map(value, islice(self.numbers, len(known), None))
        return np.array(known, dtype=kind)[words]

    def among(self, known: frozenset[str], words: Indices) -> NDArray[np.bool_]:
        """Which of the words given by number are of a set."""
        return self.table(known.__contains__, words)


@dataclass
class Occurrences:
    """Named features of pairs as they are met, names as columns of numbers of words."""

    lexicon: Lexicon
    groups: dict[tuple[str, int], list[tuple[Indices, Indices]]] = field(default_factory=dict)

    def add(self, name: str, rows: Indices, *parts: Indices | int) -> None:
        """Names ``(name, *parts)`` met in pairs ``rows``; a part is a column, or one for all."""
        own = np.empty((len(rows), len(parts)), dtype=np.intp)
        for column, part in enumerate(parts):
            own[:, column] = part
        self.groups.setdefault((name, len(parts)), []).append((rows, own))

    def padded(self, name: str, rows: Indices, parts: Indices) -> None:
        """Names ``(name, *parts)`` of different lengths; behind its end a row holds -1."""
        lengths = (parts >= 0).sum(axis=1)
        for length in np.unique(lengths).tolist():
            some = np.flatnonzero(lengths == length)
            self.groups.setdefault((name, length), []).append((rows[some], parts[some, :length]))

    def features(self, size: int, *, once: bool = False) -> Features:
        """How often each pair has each name; with ``once`` whether it has it at all."""
        codes, tables = [], []
        for number, found in enumerate(self.groups.values()):
            parts = found[0][1] if len(found) == 1 else np.concatenate([p for _, p in found])
            codes.append(self._codes(parts) | (number << WIDE))
            tables.append(parts)
        every, column = _as_they_come(_joined(codes))
        rows = _joined([r for found in self.groups.values() for r, _ in found])
        cells, counts = np.unique(rows * max(1, len(every)) + column, return_counts=True)
        row, indices = np.divmod(cells, max(1, len(every)))
        ends = offsets(np.bincount(row, minlength=size))
        data = np.ones(len(cells)) if once else counts.astype(np.float64)
        short = indices.astype(np.int32), ends.astype(np.int32)
        return Features(Cells(data, *short, (size, len(every))), self._names(tables, every))

    def _codes(self, parts: Indices) -> Indices:
        """A number for each row, equal for equal rows."""
        bits = max(1, len(self.lexicon.numbers)).bit_length()
        codes = np.zeros(len(parts), dtype=np.int64)
        used = 0
        for column in parts.T:
            if used + bits > WIDE:  # numbers of what was met so far are shorter
                codes = np.unique(codes, return_inverse=True)[1].astype(np.int64)
                used = len(codes).bit_length()
            codes = (codes << bits) | column
            used += bits
        return codes

    def _names(self, tables: Sequence[Indices], every: Indices) -> Names:
        """The names met, given where each is met first."""
        width = 1 + max((parts.shape[1] for parts in tables), default=0)
        table = np.full((len(every), width), -1, dtype=np.int32)
        begins = offsets([len(parts) for parts in tables])
        cuts = np.searchsorted(every, begins).tolist()  # names of a group are met together
        for (name, size), parts, begin, low, high in zip(
            self.groups, tables, begins.tolist(), cuts, cuts[1:], strict=False
        ):
            table[low:high, 0] = self.lexicon(name)
            table[low:high, 1 : 1 + size] = parts[every[low:high] - begin]
        return self._compact(table)

    def _compact(self, table: NDArray[np.int32]) -> Names:
        """Names over only the words that they use."""
        number = np.zeros(len(self.lexicon.numbers) + 1, dtype=np.int32)
        number[table.ravel()] = 1
        number[-1] = 0
        words = self.lexicon.words()
        used = np.flatnonzero(number).tolist()
        number = np.cumsum(number, dtype=np.int32) - 1
        number[-1] = -1
        return Names(tuple(words[i] for i in used), number[table])


def _as_they_come(codes: Indices) -> tuple[Indices, Indices]:
    """Where each different code is met first, and the number of every code in this order."""
    order = np.argsort(codes, kind="stable")  # numbers of words depend on what else was asked
    ordered = codes[order]
    new = np.ones(len(codes), dtype=bool)
    np.not_equal(ordered[1:], ordered[:-1], out=new[1:])
    firsts = order[new]
    met = np.zeros(len(codes), dtype=np.intp)
    met[firsts] = 1
    place = met.cumsum() - 1
    number = np.empty(len(codes), dtype=np.intp)
    number[order] = place[firsts][new.cumsum() - 1]
    return met.nonzero()[0], number


def _joined(blocks: Sequence[Indices]) -> Indices:
    return np.concatenate(blocks) if blocks else np.zeros(0, dtype=np.intp)
