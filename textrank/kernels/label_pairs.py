"""Values of vertex pairs, gathered by the labels of the vertices: the features of graph kernels."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal, TypeAlias

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from textrank.kernels.walks import Walks
from textrank.types import Features, GraphBatch, GraphFamily, Indices, Matrix, Names, Vector
from textrank.types.ragged import numbered, offsets

Columns: TypeAlias = NDArray[np.int32]

CACHE = 1 << 17  # numbers of a table that stay near the processor while values are scattered in
LARGE = 1 << 22  # above this, only the label pairs that occur get a place in the table


@dataclass(frozen=True, eq=False)
class LabelPairs:
    """Some graphs over the label pairs that occur in them."""

    members: Indices  # (g,)
    first: Indices  # (p,) ranks of the labels
    second: Indices  # (p,)
    values: Matrix  # (g, p)
    steps: int = 0  # of the paths counted here, where paths of different length are kept apart

    def rows(self, columns: Columns) -> Iterator[tuple[int, Columns, Vector]]:
        """Each graph with the columns of its label pairs, given those of all, and its values."""
        for member, row in zip(self.members.tolist(), self.values, strict=True):
            some = np.flatnonzero(row)
            yield member, columns[some], row[some]


@dataclass(frozen=True, eq=False)
class Cells:
    """Some graphs over the label pairs that occur in any of them, without those they lack."""

    members: Indices  # (g,)
    counts: Indices  # (g,) of the values of each graph
    first: Indices  # (p,) ranks of the labels
    second: Indices  # (p,)
    places: Columns  # (c,) which of the label pairs a value is of, one graph after the other
    values: Vector  # (c,)
    steps: int = 0

    def rows(self, columns: Columns) -> Iterator[tuple[int, Columns, Vector]]:
        """Each graph with the columns of its label pairs, given those of all, and its values."""
        columns = columns[self.places]
        cuts = pairwise(offsets(self.counts).tolist())
        for member, (low, high) in zip(self.members.tolist(), cuts, strict=True):
            yield member, columns[low:high], self.values[low:high]


@dataclass(frozen=True, eq=False)
class Places:
    """The labels that the vertices of a family have, each vertex once for every label."""

    vertices: Indices  # (s,)
    labels: Indices  # (g, s) numbers in `ranks`; 0 where a graph has no label there
    ranks: Indices  # (u,) the ranks of the labels that occur, after a -1

    @classmethod
    def of(cls, family: GraphFamily, rank: Indices) -> Places:
        """Those of a batch of graphs."""
        g, v, k = family.labels.shape
        found = rank[family.labels].reshape(g, v * k)
        # Shapes that occur again are solved once: their places must not depend on the labels.
        some = np.arange(v * k) if len(family.weights) == 1 else np.flatnonzero((found >= 0).any(0))
        ranks, labels = np.unique(np.append(found.take(some, axis=1), -1), return_inverse=True)
        return cls(some // max(1, k), labels[:-1].reshape(g, len(some)), ranks)

    def __len__(self) -> int:
        return len(self.vertices) if len(self.ranks) > 1 else 0


def label_pairs(
    members: Indices,
    places: Places,
    walks: Walks,
    combine: Literal["max", "sum"],
    *,
    steps: int = 0,
) -> Iterator[LabelPairs]:
    """The label pairs of a family from the walks between its places, a few graphs at a time."""
    u = len(places.ranks)
    count = max(1, CACHE // u**2)
    for start in range(0, len(members), count):
        rows = slice(start, start + count)
        labels = places.labels[rows]
        codes = (labels * u).take(walks.source, axis=1)
        codes += labels.take(walks.target, axis=1)
        values = walks.values if len(walks.values) == 1 else walks.values[rows]
        if len(values) < len(codes):
            values = values.repeat(len(codes), axis=0)
        cells, table = _scattered(codes, values, u, combine)
        first, second = np.divmod(cells, u)
        ranks = places.ranks
        yield LabelPairs(members[rows], ranks[first], ranks[second], table, steps)


def merged(batch: GraphBatch, blocks: Iterable[LabelPairs | Cells]) -> Features:
    """The feature matrix of the batch from the label pairs of all its families."""
    done = list(blocks)
    names, places = _columns(sorted(batch.vocabulary), done)
    rows: list[list[tuple[Columns, Vector]]] = [[] for _ in range(batch.size)]
    for block, columns in zip(done, places, strict=True):
        for member, own, values in block.rows(columns):
            rows[member].append((own, values))
    return Features(_stacked(rows, len(names)), names)


def _columns(words: list[str], blocks: Sequence[LabelPairs | Cells]) -> tuple[Names, list[Columns]]:
    """Names of all columns, by steps and then by labels, and the column of every label pair."""
    v = max(1, len(words))
    codes = [(block.steps * v + block.first) * v + block.second for block in blocks]
    ends = np.cumsum([len(code) for code in codes], dtype=np.intp)
    every = np.concatenate([np.empty(0, np.intp), *codes])
    if every.max(initial=0) < LARGE:  # a table of all label pairs there could be is quicker
        used = np.zeros(int(every.max(initial=-1)) + 1, dtype=bool)
        used[every] = True
        columns = np.flatnonzero(used)
        number = np.empty(len(used), dtype=np.int32)
        number[columns] = np.arange(len(columns), dtype=np.int32)
        at = number[every]
    else:
        columns, at = numbered(every)

    labels, second = np.divmod(columns, v)
    steps, first = np.divmod(labels, v)
    parts = [first, second]
    if steps.any():
        parts.append(steps + len(words) - 1)
        words = words + [f"{n} steps" for n in range(1, int(steps.max()) + 1)]
    names = _compact(words, np.column_stack(parts))
    return names, np.split(at.astype(np.int32, copy=False), ends)[:-1]


def _compact(words: list[str], parts: Indices) -> Names:
    """Names without the words that no column has."""
    used = np.zeros(len(words), dtype=bool)
    used[parts] = True
    number = np.cumsum(used, dtype=np.int32) - 1
    return Names(tuple(words[i] for i in np.flatnonzero(used)), number[parts].astype(np.int32))


def _scattered(
    codes: Indices, values: Matrix, u: int, combine: Literal["max", "sum"]
) -> tuple[Indices, Matrix]:
    """The codes that occur with both labels, (p,), and the values combined at each, (g, p)."""
    cells = None
    if u * u > LARGE:
        cells, places = np.unique(codes, return_inverse=True)
        codes = places.reshape(codes.shape)
    table = np.zeros((len(codes), u * u if cells is None else len(cells)))
    scatter = np.maximum if combine == "max" else np.add
    codes = codes + np.arange(len(codes))[:, None] * table.shape[1]
    scatter.at(table.reshape(-1), codes.ravel(), values.ravel())

    used = np.any(table, axis=0)
    if cells is None:
        used[:u] = used[::u] = False  # the label 0 is none
        some = np.flatnonzero(used)
        return some, table.take(some, axis=1)
    some = np.flatnonzero(used & (cells >= u) & (cells % u > 0))
    return cells[some], table.take(some, axis=1)


def _stacked(rows: list[list[tuple[Columns, Vector]]], d: int) -> sp.csr_array:
    counts = [sum(len(values) for _, values in row) for row in rows]
    parts = [part for row in rows for part in row]
    indices = np.concatenate([np.empty(0, np.int32), *(columns for columns, _ in parts)])
    data = np.concatenate([np.empty(0), *(values for _, values in parts)])
    begins = offsets(counts)
    if begins[-1] <= np.iinfo(np.int32).max:  # or the columns would be copied to long numbers
        begins = begins.astype(np.int32)
    return sp.csr_array((data, indices, begins), shape=(len(rows), d))
