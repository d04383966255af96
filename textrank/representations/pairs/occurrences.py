"""Named features of many pairs from columns of numbers, and the numbers of words."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from textrank.types import Cells, Features, Indices, Names
from textrank.types.ragged import lengths, numbered, offsets


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


@dataclass(frozen=True, eq=False)
class SideBySide:
    """Features of several views of the same pairs in one matrix, named under their view."""

    features: Features
    columns: Mapping[str, slice]  # of each view

    def view(self, name: str) -> Features:
        """The features of one view, without its name before theirs."""
        own, columns = self.features.cells, self.columns.get(name, slice(0, 0))
        inside = (own.indices >= columns.start) & (own.indices < columns.stop)
        ends = offsets(inside)[own.indptr].astype(np.int32)
        shape = own.shape[0], columns.stop - columns.start
        cells = Cells(own.data[inside], own.indices[inside] - columns.start, ends, shape)
        names = self.features.names
        return Features(cells, Names(names.vocabulary, names.parts[columns, 1:]))

    def unit(self) -> SideBySide:
        """With every row of each view of length one; an empty row stays empty."""
        own, times = self.features.cells, len(self.columns)
        view = np.arange(times).repeat([c.stop - c.start for c in self.columns.values()])
        part = np.arange(0, times * own.shape[0], times).repeat(lengths(own.indptr))
        part += view[own.indices]
        length = np.sqrt(np.bincount(part, own.data**2))[part]
        return SideBySide(self.features.with_data(own.data * (1.0 / length)), self.columns)


@dataclass
class Occurrences:
    """Named features of pairs as they are met, names as columns of numbers of words."""

    lexicon: Lexicon
    view: str = ""  # which the features met now belong to
    groups: dict[tuple[str, str, int], list[tuple[Indices, Indices]]] = field(default_factory=dict)

    def add(self, name: str, rows: Indices, *parts: Indices | int) -> None:
        """Names ``(name, *parts)`` met in pairs ``rows``; a part is a column, or one for all."""
        own = np.empty((len(rows), len(parts)), dtype=np.intp)
        for column, part in enumerate(parts):
            own[:, column] = part
        self._met(name, rows, own)

    def padded(self, name: str, rows: Indices, parts: Indices) -> None:
        """Names ``(name, *parts)`` of different lengths; behind its end a row holds -1."""
        sizes = (parts >= 0).sum(axis=1)
        for size in np.bincount(sizes).nonzero()[0].tolist():
            some = (sizes == size).nonzero()[0]
            self._met(name, rows[some], parts[some, :size])

    def _met(self, name: str, rows: Indices, parts: Indices) -> None:
        self.groups.setdefault((self.view, name, parts.shape[1]), []).append((rows, parts))

    def features(self, size: int, *, once: bool = False) -> Features:
        """How often each pair has each name; with ``once`` whether it has it at all."""
        return self.side_by_side(size, [self.view] if once else []).view(self.view)

    def side_by_side(self, size: int, once: Collection[str] = ()) -> SideBySide:
        """The features of all views; of those among ``once`` whether a pair has them at all."""
        codes, tables = [], []
        wide = 63 - len(self.groups).bit_length()  # what is above tells the groups apart
        for number, found in enumerate(self.groups.values()):
            parts = found[0][1] if len(found) == 1 else np.concatenate([p for _, p in found])
            codes.append(self._codes(parts, wide) | (number << wide))
            tables.append(parts)
        every, column = _as_they_come(_joined(codes))
        rows = _joined([r for found in self.groups.values() for r, _ in found])
        cells, counts = np.unique(rows * max(1, len(every)) + column, return_counts=True)
        row, indices = np.divmod(cells, max(1, len(every)))
        ends = offsets(np.bincount(row, minlength=size))
        names, columns = self._names(tables, every)
        data = counts.astype(np.float64)
        for own in [columns[view] for view in once if view in columns]:
            data[(indices >= own.start) & (indices < own.stop)] = 1.0
        short = indices.astype(np.int32), ends.astype(np.int32)
        return SideBySide(Features(Cells(data, *short, (size, len(every))), names), columns)

    def _codes(self, parts: Indices, wide: int) -> Indices:
        """A number of at most so many bits for each row, equal for equal rows."""
        bits = max(1, len(self.lexicon.numbers)).bit_length()
        codes = np.zeros(len(parts), dtype=np.int64)
        used = 0
        for column in parts.T:
            if used + bits > wide:  # numbers of what was met so far are shorter
                codes = numbered(codes)[1].astype(np.int64)
                used = len(codes).bit_length()
            codes = (codes << bits) | column
            used += bits
        return codes

    def _names(self, tables: Sequence[Indices], every: Indices) -> tuple[Names, dict[str, slice]]:
        """The names met, given where each is met first, and the columns of each view."""
        width = 2 + max((parts.shape[1] for parts in tables), default=0)
        table = np.full((len(every), width), -1, dtype=np.int32)
        begins = offsets([len(parts) for parts in tables])
        cuts = np.searchsorted(every, begins).tolist()  # names of a group are met together
        columns: dict[str, slice] = {}
        for (view, name, size), parts, begin, low, high in zip(
            self.groups, tables, begins.tolist(), cuts, cuts[1:], strict=False
        ):
            table[low:high, 0] = self.lexicon(view)
            table[low:high, 1] = self.lexicon(name)
            table[low:high, 2 : 2 + size] = parts[every[low:high] - begin]
            columns[view] = slice(columns[view].start if view in columns else low, high)
        return self._compact(table), columns

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
