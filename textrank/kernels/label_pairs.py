"""Values of vertex pairs, gathered by the labels of the vertices: the features of graph kernels."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from textrank.graphs import GraphBatch, GraphFamily
from textrank.kernels.walks import Walks
from textrank.types import Features, Indices, Matrix, Names

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


def label_pairs(
    family: GraphFamily,
    rank: Indices,
    walks: Walks,
    combine: Literal["max", "sum"],
    *,
    steps: int = 0,
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
        codes, spread = _coded(local[rows], len(used), Walks(walks.source, walks.target, values))
        cells, table = _scattered(codes, spread, len(used), combine)
        first, second = np.divmod(cells, len(used))
        yield LabelPairs(family.members[rows], used[first], used[second], table, steps)


def merged(batch: GraphBatch, blocks: Iterable[LabelPairs]) -> Features:
    """The feature matrix of the batch from the label pairs of all its families."""
    done = list(blocks)
    names, places = _columns(sorted(batch.vocabulary), done)
    rows: list[list[tuple[Columns, Matrix]]] = [[] for _ in range(batch.size)]
    for block, place in zip(done, places, strict=True):
        for member, row in zip(block.members, block.values, strict=True):
            some = np.flatnonzero(row)
            rows[member].append((place[some], row[some]))
    return Features(_stacked(rows, len(names)), names)


def _columns(words: list[str], blocks: list[LabelPairs]) -> tuple[Names, list[Columns]]:
    """Names of all columns, by steps and then by labels, and the column of every label pair."""
    v = max(1, len(words))
    codes = [(block.steps * v + block.first) * v + block.second for block in blocks]
    columns, at = np.unique(np.concatenate([np.empty(0, np.intp), *codes]), return_inverse=True)
    ends = np.cumsum([len(code) for code in codes], dtype=np.intp)

    labels, second = np.divmod(columns, v)
    steps, first = np.divmod(labels, v)
    parts = [first, second]
    if steps.any():
        parts.append(steps + len(words) - 1)
        words = words + [f"{n} steps" for n in range(1, int(steps.max()) + 1)]
    names = Names(tuple(words), np.column_stack(parts).astype(np.int32))
    return names, np.split(at.astype(np.int32), ends)[:-1]


def _coded(local: Indices, u: int, walks: Walks) -> tuple[Indices, Matrix]:
    """Codes of the label pairs of every walk, and its value at each, (g, m).

    ``local`` has the labels of each vertex as numbers below ``u``, (g, v, k).
    """
    g, v, k = local.shape
    labelled = np.flatnonzero(np.any(local > 0, axis=0))  # places among the v k labels
    place = np.full(v * k, -1)
    place[labelled] = np.arange(len(labelled))
    slots = place.reshape(v, k)

    sources, targets, walk = [], [], []
    for a in range(k):
        for b in range(k):
            source, target = slots[walks.source, a], slots[walks.target, b]
            both = np.flatnonzero((source >= 0) & (target >= 0))
            sources.append(source[both])
            targets.append(target[both])
            walk.append(both)
    labels = local.reshape(g, v * k).take(labelled, axis=1)
    codes = (labels * u).take(np.concatenate(sources), axis=1)
    codes += labels.take(np.concatenate(targets), axis=1)
    values = walks.values.take(np.concatenate(walk), axis=1)
    return codes, values if len(values) == g else values.repeat(g, axis=0)


def _scattered(
    codes: Indices, values: Matrix, u: int, combine: Literal["max", "sum"]
) -> tuple[Indices, Matrix]:
    """The codes that occur with both labels, (p,), and the values combined at each, (g, p)."""
    cells = np.arange(u * u)
    if u * u > LARGE:
        cells, places = np.unique(codes, return_inverse=True)
        codes = places.reshape(codes.shape)
    table = np.zeros((len(codes), len(cells)))
    scatter = np.maximum if combine == "max" else np.add
    codes = codes + np.arange(len(codes))[:, None] * len(cells)
    scatter.at(table.reshape(-1), codes.ravel(), values.ravel())

    both = (cells >= u) & (cells % u > 0)
    some = np.flatnonzero(np.any(table, axis=0) & both)
    return cells[some], table.take(some, axis=1)


def _stacked(rows: list[list[tuple[Columns, Matrix]]], d: int) -> sp.csr_array:
    counts = [sum(len(values) for _, values in row) for row in rows]
    parts = [part for row in rows for part in row]
    indices = np.concatenate([np.empty(0, np.int32), *(columns for columns, _ in parts)])
    data = np.concatenate([np.empty(0), *(values for _, values in parts)])
    return sp.csr_array((data, indices, np.append(0, np.cumsum(counts))), shape=(len(rows), d))
