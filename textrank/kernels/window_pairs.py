"""Pairs of windows with the same centre, each distinct pair compared once: M of ``K = C M C'``."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from textrank.linalg.gram import gram
from textrank.types import Indices, Matrix, SparseMatrix, Vector

CHUNK = 1 << 20  # pairs of windows compared at once
BIG = 256  # centres with more windows than this are compared as dense blocks


@dataclass(frozen=True, eq=False)
class WindowPairs:
    """Windows sorted by centre, and ``Π_ml (P_ml δ + 1)`` for two with the same centre."""

    symbols: NDArray[np.int64]  # (windows, 2 w + 1)
    P: Matrix

    def gram(self, left: SparseMatrix, right: SparseMatrix | None) -> Matrix:
        """``left M right'``; of ``left`` with itself without ``right``, each pair compared once."""
        i_windows = np.flatnonzero(np.bincount(left.indices, minlength=len(self.symbols)))
        j_windows = i_windows
        if right is not None:
            j_windows = np.flatnonzero(np.bincount(right.indices, minlength=len(self.symbols)))
        groups = _Groups.of(self._centre[i_windows], self._centre[j_windows])
        F = sp.csr_array(sp.csc_array(left)[:, i_windows])
        G = F if right is None else sp.csr_array(sp.csc_array(right)[:, j_windows])

        K = np.zeros((left.shape[0], G.shape[0]))
        M = self._sparse_part(i_windows, j_windows, groups, symmetric=right is None)
        if M.nnz:
            K += gram(sp.csr_array(F @ M), G)
        if right is None:
            K += K.T
        self._add_dense_parts(K, (F, i_windows), (G, j_windows), groups)
        return K

    def diag(self, counts: SparseMatrix) -> Vector:
        """The diagonal of ``counts M counts'``: pairs of windows of one sequence."""
        row = np.repeat(np.arange(counts.shape[0]), np.diff(counts.indptr))
        key = row * np.int64(len(self.symbols) + 1) + self._centre[counts.indices]
        order = np.argsort(key, kind="stable")
        window, weight, row = counts.indices[order], counts.data[order], row[order]
        groups = _Groups.of(key[order], key[order])
        total = np.zeros(counts.shape[0])
        for i, j in groups.pairs(np.arange(len(groups.size_i)), symmetric=False):
            values = self._compare(window[i], window[j]) * weight[i] * weight[j]
            total += np.bincount(row[i], values, minlength=len(total))
        return total

    @property
    def _centre(self) -> NDArray[np.int64]:
        return self.symbols[:, self.symbols.shape[1] // 2]

    def _compare(self, i: Indices, j: Indices) -> Vector:
        """The product for pairs of windows with equal centres."""
        w = self.symbols.shape[1] // 2
        product = np.full(len(i), 1.0 + self.P[w, w])
        left = [self.symbols[i, m] for m in range(2 * w + 1)]
        right = [self.symbols[j, m] for m in range(2 * w + 1)]
        for m in range(2 * w + 1):
            for k in range(2 * w + 1):
                if (m, k) != (w, w) and self.P[m, k]:
                    equal = np.flatnonzero((left[m] == right[k]) & (left[m] >= 0))
                    product[equal] *= 1.0 + self.P[m, k]
        return product

    def _sparse_part(
        self, i_windows: Indices, j_windows: Indices, groups: _Groups, *, symmetric: bool
    ) -> SparseMatrix:
        """M for centres with few windows; of a symmetric one the upper half, halved diagonal."""
        small = np.flatnonzero(~groups.big)
        rows, columns, values = [], [], []
        for i, j in groups.pairs(small, symmetric=symmetric):
            value = self._compare(i_windows[i], j_windows[j])
            if symmetric:
                value[i == j] *= 0.5
            rows.append(i.astype(np.int32))
            columns.append(j.astype(np.int32))
            values.append(value)
        none = np.empty(0, np.int32)
        cells = (
            np.concatenate([np.empty(0), *values]),
            (np.concatenate([none, *rows]), np.concatenate([none, *columns])),
        )
        return sp.csr_array(cells, shape=(len(i_windows), len(j_windows)))

    def _add_dense_parts(
        self, K: Matrix, left: tuple[SparseMatrix, Indices], right: Any, groups: _Groups
    ) -> None:
        """Frequent centres: a dense block each, on the sequences that have them."""
        F, G = sp.csc_array(left[0]), sp.csc_array(right[0])
        for g in np.flatnonzero(groups.big).tolist():
            a, b = groups.slice_i(g), groups.slice_j(g)
            block_F, rows = _present(F[:, a])
            block_G, columns = _present(G[:, b])
            M = self._block(left[1][a], right[1][b])
            K[np.ix_(rows, columns)] += (block_F @ M) @ block_G.T.toarray()

    def _block(self, i: Indices, j: Indices) -> Matrix:
        w = self.symbols.shape[1] // 2
        left, right = self.symbols[i], self.symbols[j]
        product = np.full((len(i), len(j)), 1.0 + self.P[w, w])
        for m in range(2 * w + 1):
            for k in range(2 * w + 1):
                if (m, k) != (w, w) and self.P[m, k]:
                    inside = left[:, m] >= 0
                    equal = (left[:, m, None] == right[None, :, k]) & inside[:, None]
                    np.multiply(product, 1.0 + self.P[m, k], out=product, where=equal)
        return product


@dataclass(frozen=True, eq=False)
class _Groups:
    """Windows of two sorted lists that have the same centre."""

    start_i: Indices
    size_i: Indices
    start_j: Indices
    size_j: Indices

    @classmethod
    def of(cls, left: NDArray[Any], right: NDArray[Any]) -> _Groups:
        centres = np.intersect1d(left, right)
        bounds = [
            np.searchsorted(side, centres, side=where)
            for side in (left, right)
            for where in ("left", "right")
        ]
        return cls(bounds[0], bounds[1] - bounds[0], bounds[2], bounds[3] - bounds[2])

    @property
    def big(self) -> NDArray[np.bool_]:
        return np.minimum(self.size_i, self.size_j) > BIG

    def slice_i(self, g: int) -> slice:
        return slice(int(self.start_i[g]), int(self.start_i[g] + self.size_i[g]))

    def slice_j(self, g: int) -> slice:
        return slice(int(self.start_j[g]), int(self.start_j[g] + self.size_j[g]))

    def pairs(self, chosen: Indices, *, symmetric: bool) -> Iterator[tuple[Indices, Indices]]:
        """All (i, j) of the chosen groups, a chunk at a time; only i <= j where symmetric."""
        sizes = self.size_i[chosen]
        member = np.arange(sizes.sum()) - np.repeat(np.cumsum(sizes) - sizes, sizes)
        i = np.repeat(self.start_i[chosen], sizes) + member
        first = i if symmetric else np.repeat(self.start_j[chosen], sizes)
        last = np.repeat(self.start_j[chosen] + self.size_j[chosen], sizes)
        repeats = last - first
        ends = np.cumsum(repeats)
        begin = 0
        while begin < len(i):
            done = ends[begin - 1] if begin else 0
            end = max(begin + 1, int(np.searchsorted(ends, done + CHUNK, side="right")))
            count = repeats[begin:end]
            offset = np.arange(count.sum()) - np.repeat(np.cumsum(count) - count, count)
            yield np.repeat(i[begin:end], count), np.repeat(first[begin:end], count) + offset
            begin = end


def _present(columns: Any) -> tuple[SparseMatrix, Indices]:
    """The rows that have an entry, and which they are."""
    rows = sp.csr_array(columns)
    has = np.flatnonzero(np.diff(rows.indptr))
    return rows[has], has
