"""A kernel on views against fixed training candidates, prepared once for many small calls."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from textrank.kernels.algebra import OnView
from textrank.kernels.vectors import Linear
from textrank.linalg.gram import squares
from textrank.types import Features, Matrix, NameIndex, Vector

if TYPE_CHECKING:
    from textrank.kernels.combined import CombinedViews

COMMON = 0.5  # share of fixed candidates above which a dense product of a feature is quicker


@dataclass(frozen=True, eq=False)
class Numbers:
    """Vectors of fixed candidates as a dense table, for distances to new ones."""

    index: NameIndex
    table: Matrix  # (n, d)
    squares: Vector  # (n,)

    @classmethod
    def of(cls, F: Features) -> Numbers:
        return cls(NameIndex(F.names), F.values.toarray(), squares(F.values))

    def distances(self, F: Features) -> Matrix:  # (m, n)
        """Squared distances of new vectors to all of them."""
        to = self.index.find(F.names)
        known = np.flatnonzero(to >= 0)
        moved = np.zeros((len(F), self.table.shape[1]))
        moved[:, to[known]] = F.values.toarray()[:, known]
        D = -2.0 * (moved @ self.table.T)
        D += squares(F.values)[:, None]
        D += self.squares
        return np.maximum(D, 0.0, out=D)  # round-off only


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
    table: sp.csr_array  # (d, n) features of all linear views, weighted, without common ones
    common: NDArray[np.int32]  # (d,) where a feature of most candidates stands in dense; or -1
    dense: Matrix  # (c, n)
    numbers: Mapping[str, Numbers]  # by Gaussian view
    roots: Vector  # (n,) lengths of the fixed candidates

    @classmethod
    def of(cls, kernel: CombinedViews, Y: Sequence[Any]) -> PreparedViews:
        """Prepares a kernel for the fixed candidates Y."""
        views = {name: _vectors(name, Y) for name in kernel.linear}
        ends = np.cumsum([0, *(len(F.names) for F in views.values())])
        blocks = [F.values.T * kernel.linear[name] for name, F in views.items()]
        table = sp.vstack(blocks, format="csr") if blocks else sp.csr_array((0, len(Y)))
        many = np.diff(table.indptr) > COMMON * len(Y)
        return cls(
            kernel,
            dict(zip(views, ends.tolist(), strict=False)),
            {name: NameIndex(F.names) for name, F in views.items()},
            _narrow(sp.csr_array(table), ~many),
            np.where(many, np.cumsum(many) - 1, -1).astype(np.int32),
            table[np.flatnonzero(many)].toarray(),
            {name: Numbers.of(_vectors(name, Y)) for name in kernel.gaussian},
            np.sqrt(_lengths(kernel, views, len(Y))),
        )

    def __call__(self, X: Sequence[Any]) -> Matrix:
        """The kernel of each of X with each of the fixed candidates, (x, n)."""
        views = {name: _vectors(name, X) for name in self.kernel.linear}
        K = self._products(views, len(X))
        (weight,) = self.kernel.gaussian_weights
        for name, gammas in self.kernel.gaussian.items():
            D = self.numbers[name].distances(_vectors(name, X))
            for gamma in gammas:
                K += weight * np.exp(-gamma * D)
        K /= np.sqrt(_lengths(self.kernel, views, len(X)))[:, None]
        K /= self.roots
        K -= 1.0
        K *= self.kernel.gamma
        return np.exp(K, out=K)

    def _products(self, views: Mapping[str, Features], size: int) -> Matrix:
        """Weighted inner products of all linear views, row by row of X."""
        moved = [self._moved(name, F) for name, F in views.items()]
        if not moved:
            return np.zeros((size, len(self.roots)))
        shared = np.zeros((size, len(self.dense)))
        for F in moved:
            place = self.common[F.indices]
            row = np.repeat(np.arange(size), np.diff(F.indptr))
            shared[row[place >= 0], place[place >= 0]] = F.data[place >= 0]
        K = np.asarray(shared @ self.dense)
        for i in range(size):
            rows = [(F.indptr[i], F.indptr[i + 1], F) for F in moved]
            features = np.concatenate([F.indices[a:b] for a, b, F in rows])
            values = np.concatenate([F.data[a:b] for a, b, F in rows])
            K[i] += self.table[features].T @ values
        return K

    def _moved(self, name: str, F: Features) -> sp.csr_array:
        """The features that fixed candidates have too, by their place in the table."""
        columns = self.indices[name].find(F.names)[F.values.indices]
        known = columns >= 0
        ends = np.append(0, np.cumsum(known))[F.values.indptr]
        cells = (F.values.data[known], columns[known] + self.starts[name], ends)
        return sp.csr_array(cells, shape=(len(F), self.table.shape[0]))


def _narrow(table: sp.csr_array, kept: NDArray[np.bool_]) -> sp.csr_array:
    """The table with the other rows empty, and indices short: reading them takes the time."""
    counts = np.diff(table.indptr)
    cells = np.repeat(kept, counts)
    ends = np.append(0, np.cumsum(np.where(kept, counts, 0)))
    size = np.int32 if max(table.shape[1], table.nnz) < np.iinfo(np.int32).max else np.int64
    parts = (table.data[cells], table.indices[cells].astype(size), ends.astype(size))
    return sp.csr_array(parts, shape=table.shape)


def _vectors(name: str, X: Sequence[Any]) -> Features:
    return OnView(name, Linear()).features(X)


def _lengths(kernel: CombinedViews, views: Mapping[str, Features], size: int) -> Vector:
    """The weighted sum of all parts of each candidate with itself."""
    total = np.full(size, sum(map(len, kernel.gaussian.values())) * kernel.gaussian_weights[0])
    for name, F in views.items():
        total += kernel.linear[name] * squares(F.values)
    return total
