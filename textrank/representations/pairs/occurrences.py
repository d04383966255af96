"""Named features of many pairs from columns of numbers, and the numbers of words."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain, islice
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from textrank.types import Cells, Features, Indices, Names, SideBySide
from textrank.types.ragged import numbered, offsets

# By the number of parts of names: heads (view and name, numbered), pairs and parts.
Groups: TypeAlias = dict[int, list[tuple[int, Indices, Indices]]]


@dataclass
class Lexicon:
    """Numbers of words, given as they come."""

    numbers: dict[str, int] = field(default_factory=dict)
    told: dict[Callable[[str], Any], NDArray[Any]] = field(default_factory=dict)

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
        known = self.told.get(value)
        begin = 0 if known is None else len(known)
        if begin < len(self.numbers):
            said = [value(word) for word in islice(self.numbers, begin, None)]
            new = np.array(said, dtype=kind)
            known = self.told[value] = new if known is None else np.concatenate([known, new])
        return np.empty(0, dtype=kind) if known is None else known[words]

    def rows(
        self, value: Callable[[str], tuple[bool, ...]], width: int, words: Indices
    ) -> NDArray[np.bool_]:  # (words, width)
        """The same of a function that says so many things; only these words are asked about."""
        known, place = numbered(words)
        every = self.words()
        said = [value(every[number]) for number in known.tolist()]
        return np.array(said, dtype=bool).reshape(-1, width)[place]

    def among(self, known: frozenset[str], words: Indices) -> NDArray[np.bool_]:
        """Which of the words given by number are of a set."""
        return self.table(known.__contains__, words)


@dataclass
class Occurrences:
    """Named features of pairs as they are met, names as columns of numbers of words."""

    lexicon: Lexicon
    size: int  # pairs, and rows below them
    view: str = ""  # which the features met now belong to
    heads: dict[tuple[str, str], int] = field(default_factory=dict)  # views and names, numbered
    groups: Groups = field(default_factory=dict)
    shared: dict[str, Indices] = field(default_factory=dict)  # by view, which rows below are whose

    def below(self, count: int) -> Indices:
        """So many more rows, of what pairs share."""
        self.size += count
        return np.arange(self.size - count, self.size)

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
        head = self.heads.setdefault((self.view, name), len(self.heads))
        self.groups.setdefault(parts.shape[1], []).append((head, rows, parts))

    def features(self, *, once: bool = False) -> Features:
        """How often each row has each name; with ``once`` whether it has it at all."""
        return self.side_by_side(self.size, {self.view: once}).view(self.view)

    def side_by_side(self, pairs: int, once: Mapping[str, bool]) -> SideBySide:
        """The features of some views; whether a pair has them at all, or how often."""
        groups = dict(sorted(self.groups.items()))  # so that columns do not depend on other views
        met = [block for blocks in groups.values() for block in blocks]
        words = [_joined([parts for _, _, parts in blocks]) for blocks in groups.values()]
        head = np.array([own for own, _, _ in met], dtype=np.intp)
        head = head.repeat([len(rows) for _, rows, _ in met])
        every, column = _as_they_come(self._codes(words, head))
        rows = _joined([rows for _, rows, _ in met])
        cells, counts = np.unique(rows * max(1, len(every)) + column, return_counts=True)
        row, indices = np.divmod(cells, max(1, len(every)))
        views = list(once)
        of = np.array([views.index(view) for view, _ in self.heads], dtype=np.intp)[head[every]]
        data = counts.astype(np.float64)
        data[np.array([*once.values()])[of[indices]]] = 1.0
        ends = offsets(np.bincount(row, minlength=self.size))
        short = indices.astype(np.int32), ends.astype(np.int32)
        names = self._names(words, head[every], every)
        found = Features(Cells(data, *short, (self.size, len(every))), names)
        return SideBySide(found, views, of, pairs, self.shared)

    def _codes(self, words: Sequence[Indices], head: Indices) -> Indices:
        """A number for each name met, equal for equal ones, given those of each length."""
        of_head, of_group = len(self.heads).bit_length(), len(words).bit_length()
        wide = 63 - of_head - of_group
        found = [
            (self._coded(parts, wide) << of_group) | number for number, parts in enumerate(words)
        ]
        return (_joined(found) << of_head) | head

    def _coded(self, parts: Indices, wide: int) -> Indices:
        """A number of at most so many bits for each row, equal for equal rows."""
        bits = max(1, len(self.lexicon.numbers)).bit_length()
        if bits * parts.shape[1] <= wide:
            return parts @ (1 << np.arange(0, bits * parts.shape[1], bits))
        codes = np.zeros(len(parts), dtype=np.int64)
        used = 0
        for column in parts.T:
            if used + bits > wide:  # numbers of what was met so far are shorter
                codes = numbered(codes)[1].astype(np.int64)
                used = len(codes).bit_length()
            codes = (codes << bits) | column
            used += bits
        return codes

    def _names(self, words: Sequence[Indices], head: Indices, every: Indices) -> Names:
        """The names met, given their heads and where each is met first."""
        widest = words[-1].shape[1] if words else 0
        table = np.full((len(every), 2 + widest), -1, dtype=np.int32)
        if self.heads:
            table[:, :2] = self.lexicon.all(chain.from_iterable(self.heads)).reshape(-1, 2)[head]
        begin = low = 0
        for parts in words:
            high = int(every.searchsorted(begin + len(parts)))  # those of one length together
            table[low:high, 2 : 2 + parts.shape[1]] = parts[every[low:high] - begin]
            begin, low = begin + len(parts), high
        return self._compact(table)

    def _compact(self, table: NDArray[np.int32]) -> Names:
        """Names over only the words that they use."""
        number = np.zeros(len(self.lexicon.numbers) + 1, dtype=np.int32)
        number[table.ravel()] = 1
        number[-1] = 0
        words = self.lexicon.words()
        used = number.nonzero()[0].tolist()
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
