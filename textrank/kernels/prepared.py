"""A kernel on views against fixed training candidates, prepared once for many small calls."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import pairwise
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from textrank.kernels.algebra import OnView
from textrank.kernels.vectors import Linear
from textrank.linalg.gram import squares
from textrank.types import Features, Indices, Matrix, NameIndex, Names, Vector

if TYPE_CHECKING:
    from textrank.kernels.combined import CombinedViews

COMMON = 0.1  # share of fixed candidates above which a dense product of a feature is quicker
FEW = 8  # new candidates for which reading the dense part would take longer than the product
NEAR = 16  # new candidates whose features that few fixed ones have are looked up together
BLOCK = 512  # new candidates whose products are taken at a time
ROWS = 64  # new candidates whose exponentials are: their values stay near the processor


@dataclass(frozen=True, eq=False)
class Numbers:
    """Vectors of fixed candidates as a dense table, for distances to new ones.

    Where a view only adds columns to those of the view before it, it only adds to distances.
    """

    index: NameIndex
    vectors: Matrix  # (n, d)
    table: Matrix  # (d + 3, n) the vectors times -2, ones, squares, squares of what is added
    start: int  # columns of the view before, which are the first ones here; 0 where it has others
    places: WeakKeyDictionary[Names, Indices] = field(default_factory=WeakKeyDictionary)

    @classmethod
    def of(cls, F: Features, before: Numbers | None) -> Numbers:
        """Those of a batch of inputs, and of the same inputs in the view before."""
        own = F.values.toarray().astype(np.float64)  # a saved model has short numbers
        start = 0
        if before is not None and list(F.names[: len(before.index.names)]) == list(
            before.index.names
        ):
            start = _shared(before.vectors, own)
        squared = [(own**2).sum(axis=1), (own[:, start:] ** 2).sum(axis=1)]
        table = np.vstack([-2.0 * own.T, np.ones(len(own)), *squared])
        return cls(NameIndex(F.names), own, table, start)

    def moved(self, F: Features, before: Matrix | None) -> tuple[Matrix, Matrix]:
        """New vectors in the columns of these, and what the table is to be multiplied with.

        Only what is added, where the new ones too have the vectors of the view before.
        """
        to = self.places.get(F.names)
        if to is None:  # a representation gives the same names each time
            to = self.places[F.names] = self.index.find(F.names)
        given = F.values.toarray()
        known = np.flatnonzero(to >= 0)
        own = np.zeros((len(F), self.vectors.shape[1]))
        own[:, to[known]] = given[:, known]
        start = self.start if before is not None and _shared(before, own) else 0
        squared = (given**2).sum(axis=1) - (own[:, :start] ** 2).sum(axis=1)
        last = np.tile([float(not start), float(start > 0)], (len(F), 1))
        return own, np.column_stack([own[:, start:], squared, last])


def _shared(before: Matrix, own: Matrix) -> int:
    """How many columns vectors begin with that are those before; none where they differ."""
    return before.shape[1] if np.array_equal(before, own[:, : before.shape[1]]) else 0


@dataclass(frozen=True, eq=False)
class PreparedViews:
    """``CombinedViews`` against fixed candidates: the same values, without looking them up anew.

    Names of features are indexed, vectors stand by feature, so that a new candidate only meets the
    fixed ones it shares something with. One candidate then costs milliseconds where the kernel
    itself first matches all features of all fixed candidates, a second or two for thousands.
    """

    kernel: CombinedViews
    starts: Mapping[str, int]  # where the features of each linear view begin
    indices: Mapping[str, NameIndex]
    table: sp.csr_array  # (d, n) features of all linear views, weighted
    rare: sp.csr_array  # (d, n) the same without common ones
    common: NDArray[np.int32]  # (d,) where a feature of many candidates stands in dense; or -1
    dense: Matrix  # (c, n)
    numbers: Mapping[str, Numbers]  # by Gaussian view, in their order
    roots: Vector  # (n,) lengths of the fixed candidates

    @classmethod
    def of(cls, kernel: CombinedViews, Y: Sequence[Any]) -> PreparedViews:
        """Prepares a kernel for the fixed candidates Y."""
        views = {name: _vectors(name, Y) for name in kernel.linear}
        ends = np.cumsum([0, *(len(F.names) for F in views.values())])
        blocks = [F.values.T.astype(np.float64) * kernel.linear[name] for name, F in views.items()]
        table = sp.vstack(blocks, format="csr") if blocks else sp.csr_array((0, len(Y)))
        many = np.diff(table.indptr) > COMMON * len(Y)
        return cls(
            kernel,
            dict(zip(views, ends.tolist(), strict=False)),
            {name: NameIndex(F.names) for name, F in views.items()},
            _narrow(sp.csr_array(table), np.ones(len(many), dtype=bool)),
            _narrow(sp.csr_array(table), ~many),
            np.where(many, np.cumsum(many) - 1, -1).astype(np.int32),
            table[np.flatnonzero(many)].toarray(),
            _numbers({name: _vectors(name, Y) for name in kernel.gaussian}),
            np.sqrt(_lengths(kernel, views, len(Y))),
        )

    def __call__(self, X: Sequence[Any]) -> Matrix:
        """The kernel of each of X with each of the fixed candidates, (x, n)."""
        views = {name: _vectors(name, X) for name in self.kernel.linear}
        shared = self._beside([self._moved(name, F) for name, F in views.items()], len(X))
        numbers: dict[str, Matrix] = {}
        before = None
        for name, own in self.numbers.items():
            before, numbers[name] = own.moved(_vectors(name, X), before)
        roots = np.sqrt(_lengths(self.kernel, views, len(X)))
        K = np.empty((len(X), len(self.roots)))
        for start in range(0, len(X), BLOCK):
            rows = slice(start, start + BLOCK)
            K[rows] = self._products(shared[rows])
        for start in range(0, len(X), ROWS):
            rows = slice(start, start + ROWS)
            near = {name: moved[rows] for name, moved in numbers.items()}
            self._finish(K[rows], near, roots[rows])
        return K

    def _finish(self, K: Matrix, numbers: Mapping[str, Matrix], roots: Vector) -> None:
        """Makes kernel values of the products of linear views, in place."""
        (weight,) = self.kernel.gaussian_weights
        D, bell, bells = np.zeros(K.shape), np.empty(K.shape), np.zeros(K.shape)
        for name, gammas in self.kernel.gaussian.items():
            own, table = numbers[name], self.numbers[name].table
            if own.shape[1] < len(table):
                D += np.matmul(own, table[-own.shape[1] :], out=bell)
            else:
                np.matmul(own, table, out=D)
            np.maximum(D, 0.0, out=D)  # round-off only
            for before, gamma in pairwise((0.0, *gammas)):
                if gamma == 2 * before:
                    np.multiply(bell, bell, out=bell)
                else:
                    np.multiply(D, -gamma, out=bell)
                    np.exp(bell, out=bell)
                bells += bell
        bells *= weight
        K += bells
        K *= (self.kernel.gamma / roots)[:, None]
        K /= self.roots
        K -= self.kernel.gamma
        np.exp(K, out=K)

    def _products(self, shared: sp.csr_array) -> Matrix:
        """Weighted inner products of all linear views, row by row of X."""
        row = np.repeat(np.arange(shared.shape[0]), np.diff(shared.indptr))
        if shared.shape[0] < FEW:
            found = np.zeros((shared.shape[0], len(self.roots)))
            _add_products(found, row, shared.indices, shared.data, self.table)
            return found
        place = self.common[shared.indices]
        many, few = np.flatnonzero(place >= 0), np.flatnonzero(place < 0)
        found = self._common_products(shared.shape[0], row[many], place[many], shared.data[many])
        self._add_rare(found, row[few], shared.indices[few], shared.data[few])
        return found

    def _common_products(
        self, size: int, row: Indices, place: NDArray[np.int32], value: Vector
    ) -> Matrix:
        """Products of common features, of a long sentence only of those that it has."""
        table, met = self.dense, np.zeros(len(self.dense), dtype=bool)
        met[place] = True
        if 2 * np.count_nonzero(met) < len(met):
            table, place = table[met], (met.cumsum(dtype=np.int32) - 1)[place]
        given = np.zeros((size, len(table)))
        given[row, place] = value
        return given @ table

    def _add_rare(
        self, found: Matrix, row: Indices, feature: NDArray[np.int32], value: Vector
    ) -> None:
        """Adds the products of features that are not common, some rows of X at a time.

        Rows that follow one another are mostly of one sentence and have their features in common:
        a cell of the table is read once for all of them.
        """
        cuts = np.searchsorted(row, np.arange(0, len(found) + NEAR, NEAR)).tolist()
        for number, (low, high) in enumerate(pairwise(cuts)):
            if low < high:
                near = slice(NEAR * number, NEAR * (number + 1))
                cells = row[low:high] - near.start, feature[low:high], value[low:high]
                _add_products(found[near], *cells, self.rare)

    def _beside(self, moved: Sequence[sp.csr_array], size: int) -> sp.csr_array:
        """Matrices of disjoint columns as one; adding them would cost all columns there are."""
        row = [np.repeat(np.arange(size), np.diff(F.indptr)) for F in moved]
        order = np.argsort(np.concatenate([np.empty(0, np.intp), *row]), kind="stable")
        data = np.concatenate([np.empty(0), *(F.data for F in moved)])[order]
        indices = np.concatenate([np.empty(0, np.int32), *(F.indices for F in moved)])[order]
        ends = sum((F.indptr for F in moved), np.zeros(size + 1, dtype=np.int32))
        return sp.csr_array((data, indices, ends), shape=(size, self.table.shape[0]))

    def _moved(self, name: str, F: Features) -> sp.csr_array:
        """The features that fixed candidates have too, by their place in the table."""
        columns = self.indices[name].find(F.names)[F.values.indices]
        known = columns >= 0
        ends = np.append(0, np.cumsum(known))[F.values.indptr]
        cells = (F.values.data[known], columns[known] + self.starts[name], ends)
        return sp.csr_array(cells, shape=(len(F), self.table.shape[0]))


def _add_products(
    found: Matrix, row: Indices, feature: NDArray[np.int32], value: Vector, table: sp.csr_array
) -> None:
    """Adds products of a few sparse rows and a table, each row of which is read once."""
    met = np.zeros(table.shape[0], dtype=bool)
    met[feature] = True
    features = np.flatnonzero(met)
    place = np.empty(len(met), dtype=np.int32)
    place[features] = np.arange(len(features), dtype=np.int32)
    values = np.zeros((len(features), len(found)))
    values[place[feature], row] = value
    found += (table[features].T @ values).T


def _numbers(views: Mapping[str, Features]) -> dict[str, Numbers]:
    found: dict[str, Numbers] = {}
    before = None
    for name, F in views.items():
        before = found[name] = Numbers.of(F, before)
    return found


def _narrow(table: sp.csr_array, kept: NDArray[np.bool_]) -> sp.csr_array:
    """The table with the other rows empty, and indices short: reading them takes the time."""
    counts = np.diff(table.indptr)
    cells = np.repeat(kept, counts)
    ends = np.append(0, np.cumsum(np.where(kept, counts, 0)))
    size = np.int32 if max(table.shape[1], table.nnz) < np.iinfo(np.int32).max else np.int64
    parts = (table.data[cells], table.indices[cells].astype(size), ends.astype(size))
    return sp.csr_array(parts, shape=table.shape)


def _vectors(name: str, X: Sequence[Any]) -> Features:
    return _on_view(name).features(X)


@lru_cache
def _on_view(name: str) -> OnView:
    return OnView(name, Linear())


def _lengths(kernel: CombinedViews, views: Mapping[str, Features], size: int) -> Vector:
    """The weighted sum of all parts of each candidate with itself."""
    total = np.full(size, sum(map(len, kernel.gaussian.values())) * kernel.gaussian_weights[0])
    for name, F in views.items():
        total += kernel.linear[name] * squares(F.values)
    return total
