"""Evidence for the tags of words: a weight for each thing a word and its neighbours show together.

A template names views of words at places around the one asked about ("its kind, with the cluster of
the next word"). What it finds is hashed to a row of one table of weights, whose columns are tags of
recognizers, and the rows of all templates are summed. What shows of one word alone is summed once
for each distinct word; only templates of several words are worked out place by place.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from textrank.language.words import PLACE, Hashes, number, pieces

Template: TypeAlias = tuple[tuple[str, int], ...]  # views, each with its place
Floats: TypeAlias = NDArray[np.float32]

REACH = 3  # words to either side
BITS = 18  # of rows; a table of fewer rows has several in one
OFFSETS = tuple(range(-REACH, REACH + 1))
_PAIRED = ("plain", "short_shape", "kind", "cluster64", "cluster256", "listed", "cluster1000")
_NEAR = (
    *("lower", "plain", "shape", "short_shape", "kind", "cluster64", "cluster256"),
    *("cluster1000", "listed", "named", "last3", "first3"),
)
_BESIDE = ("plain", "short_shape", "cluster256", "cluster1000", "listed", "kind")
_BRACKETED = ("kind", "short_shape", "plain", "listed")


def _alone() -> list[Template]:
    """Templates of one word."""
    views = {0: tuple(PLACE), 1: _NEAR, 2: _BESIDE, 3: ("plain", "cluster256")}
    return [((view, at),) for at in OFFSETS for view in views[abs(at)]]


def _together() -> list[Template]:
    """Templates of several words, or of several views of one."""
    found: list[Template] = []
    for a, b in ((-1, 0), (0, 1)):
        found += [((view, a), (view, b)) for view in _PAIRED]
        found += [
            (("plain", a), ("short_shape", b)),
            (("short_shape", a), ("plain", b)),
            (("kind", a), ("cluster256", b)),
            (("cluster256", a), ("kind", b)),
        ]
    lines = """
        plain-1 plain+1 | cluster256-1 cluster256+1 | kind-1 kind+0 kind+1 | plain-2 plain-1
        cluster64-1 cluster64+0 cluster64+1 | kind-2 kind-1 kind+0 | kind+0 kind+1 kind+2
        short_shape-1 short_shape+0 short_shape+1 | plain+1 plain+2 | cluster256-2 cluster256-1
        cluster256+1 cluster256+2 | listed+0 short_shape+0 | named+0 kind+0 | named+0 named+1
        named-1 named+0 | listed+0 cluster256+1 | listed+0 cluster256-1
        kind+0 cluster256+1 cluster256-1 | kind+0 kind-1 cluster256+1
        kind+0 kind+1 cluster256+2 | kind+0 kind+1 cluster64+2
        kind+0 kind+1 kind+2 cluster64+3
    """
    for line in lines.replace("\n", "|").split("|"):
        parts = [(part[:-2], int(part[-2:])) for part in line.split()]
        found += [tuple(parts)] if parts else []
    return found


ALONE: Sequence[Template] = _alone()
TOGETHER: Sequence[Template] = _together()
_USED = sorted({PLACE[view] for template in TOGETHER for view, _ in template})
CONJOINED: Mapping[str, int] = {name: _USED.index(p) for name, p in PLACE.items() if p in _USED}
_BRACKETS = len(ALONE) + len(TOGETHER)  # templates numbered from here on know about brackets
_PIECES = _BRACKETS + len(_BRACKETED) + 1


def factor(template: int, part: int) -> np.uint64:
    """An odd number of 64 random bits, for hashing by multiplication and shift."""
    mask = (1 << 64) - 1
    z = (0x9E3779B97F4A7C15 * (16 * template + part + 1)) & mask  # SplitMix64
    z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & mask
    z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & mask
    return np.uint64((z ^ (z >> 31)) | 1)


_FACTORS = [[factor(t, part) for part in range(5)] for t in range(_PIECES + 1)]
_SHIFT = np.uint64(64 - BITS)


def _rows(template: int, columns: Sequence[Hashes]) -> NDArray[np.intp]:
    """Rows of the table for what a template finds in each of many places."""
    factors = _FACTORS[template]
    total = columns[0] * factors[0]
    for column, by in zip(columns[1:], factors[1:], strict=False):
        total += column * by
    total += factors[4]
    total >>= _SHIFT
    return total.astype(np.intp)


def rows_alone(views: Hashes) -> Iterator[tuple[int, NDArray[np.intp]]]:
    """Place and table rows of each template of one word; ``views`` is (words, views)."""
    for template, ((view, at),) in enumerate(ALONE):
        yield at, _rows(template, [views[:, PLACE[view]]])


def rows_of_pieces(word: str) -> NDArray[np.intp]:
    """Table rows of the pieces of a word."""
    return _rows_of_pieces([word])[0]


def _rows_of_pieces(words: Sequence[str]) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """The same for many words, one after the other, and how many each has."""
    own = [pieces(word) for word in words]
    numbers = np.array([number(piece) for each in own for piece in each], dtype=np.uint64)
    return _rows(_PIECES, [numbers]), np.array([len(each) for each in own], dtype=np.intp)


def rows_together(columns: Sequence[Hashes], glue: Hashes) -> Iterator[NDArray[np.intp]]:
    """Table rows of each template of several words, for the places that are ``REACH`` from an end.

    ``columns`` has views in the order of ``CONJOINED`` along all words; ``glue`` tells how a word
    is joined to its neighbours, and whether it stands in brackets.
    """
    stop = len(glue) - REACH
    at = {
        (view, offset): columns[place][REACH + offset : stop + offset]
        for view, place in CONJOINED.items()
        for offset in OFFSETS
    }
    joined = glue[REACH:stop]
    for template, parts in enumerate(TOGETHER, start=len(ALONE)):
        yield _rows(template, [at[part] for part in parts])
    for template, view in enumerate(_BRACKETED, start=_BRACKETS):
        yield _rows(template, [at[view, 0], joined])
    yield _rows(_PIECES - 1, [at["kind", -1], at["kind", 1], joined])


class Table:
    """Weights in bytes, (rows, columns); ``scales`` has what one step of each column is worth."""

    def __init__(self, weights: NDArray[np.int8], scales: Floats) -> None:
        self.weights, self.scales = np.ascontiguousarray(weights), scales
        self._shift = BITS - (len(weights).bit_length() - 1)  # it has a power of two of rows

    @classmethod
    def of(cls, weights: NDArray[Any]) -> Table:
        """The nearest table to weights of any size."""
        scales = np.maximum(np.abs(weights).max(axis=0, initial=0.0), 1e-6) / 127
        return cls(np.rint(weights / scales).astype(np.int8), scales.astype(np.float32))

    def pack(self) -> dict[str, Any]:
        """What is stored: columns one after the other, since these have much in common."""
        return {"table": zlib.compress(self.weights.T.tobytes(), 9), "scales": self.scales}

    @classmethod
    def unpack(cls, stored: Mapping[str, Any]) -> Table:
        """The table that was packed."""
        scales = np.asarray(stored["scales"], dtype=np.float32)
        weights = np.frombuffer(zlib.decompress(stored["table"]), dtype=np.int8)
        return cls(weights.reshape(len(scales), -1).T, scales)

    def __getitem__(self, rows: NDArray[np.intp]) -> NDArray[np.int8]:
        return self.weights.take(rows >> self._shift if self._shift else rows, axis=0)

    @cached_property
    def _packed(self) -> NDArray[np.uint64]:
        """Rows of bytes from 0 on, eight in one number: so many are fetched and added at once."""
        height, width = self.weights.shape
        packed = np.zeros((height, -(-width // 8) * 8), dtype=np.uint8)
        packed[:, :width] = self.weights.view(np.uint8) ^ np.uint8(_ZERO)
        return packed.view(np.uint64)

    def sums(self, rows: Sequence[NDArray[np.intp]]) -> Floats:
        """The sum of the rows of each place, over at most 256 arrays of rows."""
        packed = self._packed
        total = np.zeros((2, len(rows[0]), packed.shape[1]), dtype=np.uint64)  # every other byte
        for own in rows:
            found = packed.take(own >> self._shift if self._shift else own, axis=0)
            total[0] += found & _BYTES
            found >>= _BYTE
            found &= _BYTES
            total[1] += found
        each = total.view(np.uint16).transpose(1, 2, 0).reshape(len(rows[0]), -1)
        return (each[:, : len(self.scales)] - np.float32(_ZERO * len(rows))) * self.scales


_ZERO = 128  # the byte that stands for no weight
_BYTE, _BYTES = np.uint64(8), np.uint64(0x00FF00FF00FF00FF)
_BLOCK = 4096  # places that are worked on at once


class Evidence:
    """Tables side by side, one for each recognizer."""

    def __init__(self, tables: Sequence[Table]) -> None:
        self.tables = tables

    @property
    def width(self) -> int:
        """Number of columns of all tables."""
        return sum(len(table.scales) for table in self.tables)

    def of_words(self, views: Hashes, words: Sequence[str]) -> Floats:
        """What words tell when alone, (words, places, columns), in the order of ``OFFSETS``.

        At place ``k`` stands what the word tells about the one that it is ``k`` words behind.
        """
        parts = [np.zeros((len(words), len(OFFSETS), 0), dtype=np.float32)]
        alone = list(rows_alone(views))
        own, sizes = _rows_of_pieces(words)
        some, starts = sizes > 0, (np.cumsum(sizes) - sizes)[sizes > 0]
        for table in self.tables:
            total = np.zeros((len(words), len(OFFSETS), len(table.scales)), dtype=np.int32)
            for at, rows in alone:
                total[:, at + REACH] += table[rows]
            if len(starts):
                sums = np.add.reduceat(table[own], starts, axis=0, dtype=np.int32)
                total[some, REACH] += sums
            parts.append(total * table.scales)
        return np.concatenate(parts, axis=2)

    def of_places(self, columns: Sequence[Hashes], glue: Hashes) -> Floats:
        """What words tell together with their neighbours, (places, columns)."""
        places = len(glue) - 2 * REACH
        found = np.zeros((places, self.width), dtype=np.float32)
        for first in range(0, places if self.tables else 0, _BLOCK):
            end = min(first + _BLOCK, places)
            seen = slice(first, end + 2 * REACH)
            rows = list(rows_together([column[seen] for column in columns], glue[seen]))
            np.concatenate(
                [table.sums(rows) for table in self.tables], axis=1, out=found[first:end]
            )
        return found


def glue_of(spaces: NDArray[np.bool_], opens: NDArray[np.bool_], closes: NDArray[np.bool_]) -> Any:
    """How each word of a text is joined: space before, space after, within brackets.

    One number a word, from 1 on, as ``rows_together`` takes it.
    """
    before = np.append(True, spaces[:-1])
    depth = np.cumsum(opens) - np.append(0, np.cumsum(closes)[:-1])
    lowest = np.minimum.accumulate(np.minimum(depth - opens, 0))  # brackets that close nothing
    inside = depth - lowest > 0
    return (1 + ~before + 2 * ~spaces + 4 * inside).astype(np.uint64)
