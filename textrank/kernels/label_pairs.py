"""Values of vertex pairs, gathered by the labels of the vertices: the features of graph kernels."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Literal

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from textrank.graphs import GraphBatch, GraphFamily
from textrank.kernels.walks import Walks
from textrank.types import Features, Indices, Matrix, Names

CACHE = 1 << 17  # numbers of a table that stay near the processor while values are scattered in
LARGE = 1 << 22  # above this, only the label pairs that occur get a place in the table


@dataclass(frozen=True, eq=False)
class LabelPairs:
    """Some graphs over the label pairs that occur in them."""

    members: Indices  # (g,)
    first: Indices  # (p,) ranks of the labels
    second: Indices  # (p,)
    values: Matrix  # (g, p)

    @classmethod
    def blocks(
        cls, family: GraphFamily, rank: Indices, walks: Walks, combine: Literal["max", "sum"]
    ) -> Iterator[LabelPairs]:
        """The label pairs of a family, a few graphs at a time."""
        used, local = np.unique(rank[family.labels], return_inverse=True)
        if not len(walks.source) or not used.size or used[-1] < 0:
            return
        if used[0] >= 0:  # number 0 stands for no label
            used, local = np.append(-1, used), local + 1
        local = local.reshape(family.labels.shape)
        step = max(1, CACHE // len(used) ** 2)
        for start in range(0, len(family.members), step):
            rows = slice(start, start + step)
            values = walks.values if len(walks.values) == 1 else walks.values[rows]
            part = Walks(walks.source, walks.target, values)
            yield cls._block(family.members[rows], used, local[rows], part, combine)

    @classmethod
    def _block(
        cls,
        members: Indices,
        used: Indices,
        local: Indices,  # (g, v, k) places in `used`
        walks: Walks,
        combine: Literal["max", "sum"],
    ) -> LabelPairs:
        u = len(used)
        pairs = _paired(local, walks, u)
        if u * u > LARGE:
            cells, places = np.unique(
                np.concatenate([code.ravel() for code, _ in pairs]), return_inverse=True
            )
            ends = np.cumsum([code.size for code, _ in pairs])[:-1]
            codes = [
                p.reshape(code.shape)
                for p, (code, _) in zip(np.split(places, ends), pairs, strict=True)
            ]
        else:
            cells, codes = np.arange(u * u), [code for code, _ in pairs]
        table = np.zeros((len(members), len(cells)))
        offset = np.arange(len(members))[:, None] * len(cells)
        scatter = np.maximum if combine == "max" else np.add
        for code, (_, value) in zip(codes, pairs, strict=True):
            scatter.at(table.reshape(-1), (code + offset).ravel(), value.ravel())
        some = np.flatnonzero(table.any(axis=0) & (cells >= u) & (cells % u > 0))
        first, second = np.divmod(cells[some], u)
        return cls(members, used[first], used[second], table[:, some])


def merged(batch: GraphBatch, blocks: Iterable[LabelPairs]) -> Features:
    """The feature matrix of the batch from the label pairs of all its families."""
    all_blocks = list(blocks)
    words = sorted(batch.vocabulary)
    codes = [block.first * len(words) + block.second for block in all_blocks]
    columns, at = np.unique(np.concatenate([np.empty(0, np.intp), *codes]), return_inverse=True)
    places = np.split(at.astype(np.int32), np.cumsum([len(c) for c in codes], dtype=np.intp))[:-1]
    parts = np.column_stack(np.divmod(columns, max(1, len(words)))).astype(np.int32)
    values = _rows(batch.size, len(columns), all_blocks, places)
    return Features(values, Names(tuple(words), parts))


def _paired(local: Indices, walks: Walks, u: int) -> list[tuple[Indices, Matrix]]:
    """For each of the labels a vertex may have: codes of label pairs, and values to put there."""
    out = []
    any_label = np.any(local > 0, axis=0)  # (v, k)
    for a in range(local.shape[2]):
        for b in range(local.shape[2]):
            some = np.flatnonzero(any_label[walks.source, a] & any_label[walks.target, b])
            codes = local[:, walks.source[some], a] * u + local[:, walks.target[some], b]
            out.append((codes, np.broadcast_to(walks.values[:, some], codes.shape)))
    return out


def _rows(
    n: int, d: int, blocks: list[LabelPairs], places: list[NDArray[np.int32]]
) -> sp.csr_array:
    counts = np.zeros(n + 1, dtype=np.int64)
    found = [np.nonzero(block.values) for block in blocks]
    for block, (row, _) in zip(blocks, found, strict=True):
        counts[block.members + 1] += np.bincount(row, minlength=len(block.members))
    indptr = np.cumsum(counts)
    data, indices = np.empty(indptr[-1]), np.empty(indptr[-1], dtype=np.int32)
    free = indptr[:-1].copy()
    for block, place, (row, column) in zip(blocks, places, found, strict=True):
        own = np.bincount(row, minlength=len(block.members))
        starts = free[block.members] - (np.cumsum(own) - own)
        to = starts[row] + np.arange(len(row))
        data[to] = block.values[row, column]
        indices[to] = place[column]
        free[block.members] += own
    return sp.csr_array((data, indices, indptr), shape=(n, d))
