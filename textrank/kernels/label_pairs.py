"""Values of vertex pairs, gathered by the labels of the vertices: the features of graph kernels."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal, TypeAlias, TypeVar

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from textrank.kernels.walks import Walks
from textrank.types import Cells, Features, GraphBatch, GraphFamily, Indices, Matrix, Names, Vector
from textrank.types.ragged import firsts, numbered, offsets

Columns: TypeAlias = NDArray[np.int32]
T = TypeVar("T", bound=np.generic)

CACHE = 1 << 17  # numbers of a table that stay near the processor while values are scattered in
LARGE = 1 << 22  # above this, only the label pairs that occur get a place in the table


@dataclass(frozen=True, eq=False)
class LabelPairs:
    """Some graphs over the label pairs that occur in any of them, without those they lack."""

    members: Indices  # (g,)
    counts: Indices  # (g,) of the values of each graph
    first: Indices  # (p,) ranks of the labels
    second: Indices  # (p,)
    places: Columns  # (c,) which of the label pairs a value is of, one graph after the other
    values: Vector  # (c,)
    steps: int = 0  # of the paths counted here, where paths of different length are kept apart


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
        row, place = table.nonzero()
        first, second = (places.ranks[label] for label in np.divmod(cells, u))
        counts = np.bincount(row, minlength=len(table))
        short = place.astype(np.int32)
        yield LabelPairs(members[rows], counts, first, second, short, table[row, place], steps)


def merged(batch: GraphBatch, blocks: Iterable[LabelPairs]) -> Features:
    """The feature matrix of the batch from the label pairs of all its families."""
    done = list(blocks)
    names, columns = _columns(sorted(batch.vocabulary), done)
    if not done:
        return Features(sp.csr_array((batch.size, 0)), names)
    return Features(_rows(done, columns, (batch.size, len(names))), names)


def _rows(
    blocks: Sequence[LabelPairs], columns: Sequence[Columns], shape: tuple[int, int]
) -> Cells | sp.csr_array:
    """The values of all blocks as a matrix, a row a graph."""
    members = np.concatenate([block.members for block in blocks])
    order = members.argsort(kind="stable")
    values = [block.values for block in blocks]
    if (order[1:] < order[:-1]).any():
        columns, values = _cut(blocks, columns, order), _cut(blocks, values, order)
    counts = np.concatenate([block.counts for block in blocks])
    ends = offsets(np.bincount(members, counts, minlength=shape[0]))
    data, indices = np.concatenate(values), np.concatenate(columns)
    if len(data) > np.iinfo(np.int32).max:
        return sp.csr_array((data, indices, ends), shape=shape)
    cells = Cells(data, indices, ends.astype(np.int32), shape)
    # Where a graph has several parts, its columns are in order only in each of them.
    return cells if len(firsts(members[order])) == len(members) else cells.matrix()


def _cut(
    blocks: Sequence[LabelPairs], parts: Sequence[NDArray[T]], order: Indices
) -> list[NDArray[T]]:
    """What blocks say of each of their graphs, in another order."""
    found = [
        part[low:high]
        for block, part in zip(blocks, parts, strict=True)
        for low, high in pairwise(offsets(block.counts).tolist())
    ]
    return [found[i] for i in order.tolist()]


def _columns(words: list[str], blocks: Sequence[LabelPairs]) -> tuple[Names, list[Columns]]:
    """Names of all columns, by steps and then by labels, and those of the values of each block."""
    v = max(1, len(words))
    codes = [(block.steps * v + block.first) * v + block.second for block in blocks]
    known, number = numbered(np.concatenate([np.empty(0, np.intp), *codes]))
    labels, second = np.divmod(known, v)
    steps, first = np.divmod(labels, v)
    parts = [first, second]
    if steps.any():
        parts.append(steps + len(words) - 1)
        words = words + [f"{n} steps" for n in range(1, int(steps.max()) + 1)]
    starts = offsets([len(code) for code in codes]).tolist()
    short = number.astype(np.int32)
    each = [short[low:][own.places] for low, own in zip(starts, blocks, strict=False)]
    return _compact(words, np.array(parts).T), each


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
