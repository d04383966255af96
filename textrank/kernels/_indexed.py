"""A kernel on views against fixed training candidates, prepared once for many small calls."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple
from weakref import WeakKeyDictionary

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from textrank._ragged import lengths
from textrank.features import (
    FeatureNames,
    Features,
    Indices,
    JointFeatures,
    Matrix,
    MultiView,
    NameIndex,
    RawCSR,
    Vector,
)
from textrank.kernels.algebra import Linear, OnView
from textrank.linalg import squared_norms

if TYPE_CHECKING:
    from textrank.kernels.views import CombinedViews

MIN_COMMON_SHARE = (
    0.1  # share of fixed candidates above which a dense product of a feature is quicker
)
MIN_DENSE_CANDIDATES = (
    8  # new candidates for which reading the dense part would take longer than the product
)
MIN_DENSE_FILL = (
    0.3  # share of their features that candidates have on average to be multiplied as dense
)
RARE_CHUNK_ROWS = (
    16  # new candidates whose features that few fixed ones have are looked up together
)
COMMON_CHUNK_ROWS = 512  # new candidates whose products are taken at a time
EXP_CHUNK_ROWS = 64  # new candidates whose exponentials are: their values stay near the processor


@dataclass(frozen=True, eq=False)
class GaussianTable:
    """Vectors of fixed candidates as a dense table, for exponents of Gaussians with new ones.

    Where a view only adds columns to those of the view before it, it only adds to distances.
    """

    index: NameIndex
    gammas: Sequence[float]
    table: Matrix  # (d + 3, n) their columns; ones, squares, squares of what is added
    start: int  # columns of the view before, which are the first ones here; 0 where it has others
    ratio: float  # of the first gamma to that of the view before
    places: WeakKeyDictionary[FeatureNames, Indices] = field(default_factory=WeakKeyDictionary)

    @classmethod
    def from_features(
        cls, F: Features, gammas: Sequence[float], before: GaussianTable | None
    ) -> GaussianTable:
        """Those of a batch of inputs, and of the same inputs in the view before."""
        own = F.values.toarray().astype(np.float64)
        start, ratio = 0, 0.0
        if before is not None and list(F.names[: len(before.index.names)]) == list(
            before.index.names
        ):
            start, ratio = _shared(before.table[:-3].T, own), gammas[0] / before.gammas[0]
        squared = [(own**2).sum(axis=1), (own[:, start:] ** 2).sum(axis=1)]
        table = np.ascontiguousarray(np.vstack([own.T, np.ones(len(own)), *squared]))
        return cls(NameIndex(F.names), gammas, table, start, ratio)

    def moved(self, F: Features, before: Matrix | None) -> tuple[Matrix, Exponents]:
        """New vectors in the columns of these, and the exponents of their Gaussians.

        Only of what is added, where the new ones too have the vectors of the view before.
        """
        given = F.cells.to_dense() if isinstance(F.cells, RawCSR) else F.cells.toarray()
        own, width = self._placed(F.names, given), len(self.table) - 3
        start = self.start if before is not None and _shared(before, own) else 0
        some = start + np.flatnonzero(own[:, start:].any(axis=0))  # most descriptors are zero
        factors = np.empty((len(F), len(some) + 2))
        factors[:, :-2] = -2.0 * own.take(some, axis=1)
        factors[:, -2] = (given**2).sum(axis=1) - (own[:, :start] ** 2).sum(axis=1)
        factors[:, -1] = 1.0
        factors *= -self.gammas[0]
        places = np.concatenate([some, [width, width + (2 if start else 1)]])
        table = self.table.take(places, axis=0)
        return own, Exponents(factors, table, self.ratio if start else 0.0, self.gammas)

    def _placed(self, names: FeatureNames, given: Matrix) -> Matrix:
        """Vectors in the columns of these; what stands in others is left out."""
        to = self.places.get(names)
        if to is None:  # a representation gives the same names each time
            to = self.places[names] = self.index.find(names)
        width = len(self.table) - 3
        if np.array_equal(to, np.arange(width)):
            return given
        known = (to >= 0).nonzero()[0]
        own = np.zeros((len(given), width))
        own[:, to[known]] = given[:, known]
        return own


class Exponents(NamedTuple):
    """The exponents of the Gaussians of a view as a product, and of what they are added to."""

    factors: Matrix  # (x, k)
    table: Matrix  # (k, n)
    ratio: float  # what those of the view before are to be multiplied with
    gammas: Sequence[float]

    def merged(self) -> Exponents:
        """The same product with fewer factors, of candidates that are much alike."""
        factors, table = _merged(self.factors, self.table)
        return self._replace(factors=factors, table=table)

    def add_bells(self, K: Matrix, rows: slice, E: Matrix, bell: Matrix) -> None:
        """Adds the Gaussians of some rows; E has the exponents of the view before, then these."""
        np.matmul(self.factors[rows], self.table, out=bell if self.ratio else E)
        if self.ratio:
            E *= self.ratio
            E += bell
        for before, gamma in pairwise((0.0, *self.gammas)):
            if gamma == 2 * before:
                np.multiply(bell, bell, out=bell)
            else:
                scaled = E if not before else np.multiply(E, gamma / self.gammas[0], out=bell)
                np.exp(scaled, out=bell)
            K += bell


def _shared(before: NDArray[np.floating], own: Matrix) -> int:
    """How many columns vectors begin with that are those before; none where they differ."""
    return before.shape[1] if np.array_equal(before, own[:, : before.shape[1]]) else 0


class RaggedRows(NamedTuple):
    """Features of new candidates that fixed ones have too, row after row."""

    ends: NDArray[np.integer]  # (x + 1,) where those of each row begin, and the end of all
    feature: Indices
    value: Vector

    def part(self, rows: slice) -> RaggedRows:
        """Some rows."""
        ends = self.ends[rows.start : rows.stop + 1]
        cells = slice(int(ends[0]), int(ends[-1]))
        return RaggedRows(ends - ends[0], self.feature[cells], self.value[cells])

    def some(self, kept: NDArray[np.bool_]) -> RaggedRows:
        """Some of the features."""
        cells = kept.nonzero()[0]
        ends = cells.searchsorted(self.ends)
        return RaggedRows(ends, self.feature[cells], self.value[cells])


class SharedFeatures(NamedTuple):
    """All that new candidates share with fixed ones, as it was found in several views."""

    found: Sequence[RaggedRows]
    size: int  # of the table: how many features there are

    def part(self, rows: slice) -> SharedFeatures:
        """Some rows."""
        return self._replace(found=[own.part(rows) for own in self.found])

    def some(self, kept: NDArray[np.bool_]) -> SharedFeatures:
        """What is shared of some features of the table."""
        return self._replace(found=[own.some(kept[own.feature]) for own in self.found])

    def full(self, rows: int) -> bool:
        """Whether so many rows have so much in common as those of one long sentence."""
        return sum(len(own.value) for own in self.found) >= MIN_DENSE_FILL * rows * len(
            self.contributions()
        )

    def met(self) -> Indices:
        """The features that some row has."""
        found = np.zeros(self.size, dtype=bool)
        for own in self.found:
            found[own.feature] = True
        return found.nonzero()[0]

    def dense(self, rows: int, features: Indices) -> Matrix:
        """The rows over some features."""
        place = np.empty(self.size, dtype=np.int32)
        place[features] = np.arange(len(features), dtype=np.int32)
        values = np.zeros((len(features), rows))
        for own in self.found:
            values[place[own.feature], np.arange(rows).repeat(lengths(own.ends))] = own.value
        return values.T


@dataclass(frozen=True, eq=False)
class FeatureRows:
    """Where features stand in the table."""

    index: NameIndex
    rows: Indices  # (d + 1,) of the table, and -1 for a name that is not found

    def found(self, F: Features) -> RaggedRows:
        """The features of candidates that fixed ones have too."""
        place = self.rows[self.index.find(F.names)][F.cells.indices]
        return RaggedRows(F.cells.indptr, place, F.cells.data).some(place >= 0)


@dataclass(frozen=True, eq=False)
class IndexedViews:
    """``CombinedViews`` against fixed candidates: the same values, without looking them up anew.

    Names of features are indexed, vectors stand by feature, so that a new candidate only meets the
    fixed ones it shares something with. One candidate then costs milliseconds where the kernel
    itself first matches all features of all fixed candidates, a second or two for thousands.
    """

    kernel: CombinedViews
    weights: Mapping[str, float]  # of the linear views, where a Gaussian has weight one
    places: Mapping[str, FeatureRows]  # of the features of each linear view
    table: sp.csr_array  # (d, n) features of all linear views, weighted
    rare: sp.csr_array  # (d, n) the same without common ones
    common: NDArray[np.int32]  # (d,) where a feature of many candidates stands in dense; or -1
    dense: Matrix  # (c, n)
    numbers: Mapping[str, GaussianTable]  # by Gaussian view, in their order
    roots: Vector  # (n,) lengths of the fixed candidates
    joint: dict[tuple[str, ...], FeatureRows] = field(
        default_factory=dict
    )  # of views made together

    @classmethod
    def from_candidates(cls, kernel: CombinedViews, Y: Sequence[Any]) -> IndexedViews:
        """Prepares a kernel for the fixed candidates Y."""
        views = {name: _vectors(name, Y) for name in kernel.linear}
        weights = {name: own / kernel.gaussian_weights[0] for name, own in kernel.linear.items()}
        ends = np.cumsum([0, *(len(F.names) for F in views.values())])
        blocks = [F.values.T.astype(np.float64) * weights[name] for name, F in views.items()]
        table = sp.vstack(blocks, format="csr") if blocks else sp.csr_array((0, len(Y)))
        many = np.diff(table.indptr) > MIN_COMMON_SHARE * len(Y)
        return cls(
            kernel,
            weights,
            {
                name: FeatureRows(NameIndex(F.names), np.append(np.arange(low, high), -1))
                for (name, F), (low, high) in zip(views.items(), pairwise(ends), strict=True)
            },
            _narrow(sp.csr_array(table), np.ones(len(many), dtype=bool)),
            _narrow(sp.csr_array(table), ~many),
            np.where(many, np.cumsum(many) - 1, -1).astype(np.int32),
            table[many.nonzero()[0]].toarray(),
            _numbers(kernel.gaussian, Y),
            np.sqrt(_lengths(kernel, weights, views, len(Y))),
        )

    def __call__(self, X: Sequence[Any]) -> Matrix:
        """The kernel of each of X with each of the fixed candidates, (x, n)."""
        together = X.together if isinstance(X, MultiView) else None
        joined = () if together is None else together.views
        views = {name: _vectors(name, X) for name in self.kernel.linear if name not in joined}
        shared = self._shared(together, views)
        alike = len(X) >= MIN_DENSE_CANDIDATES and shared.full(len(X))
        K = np.empty((len(X), len(self.roots)))
        if alike:
            features = shared.contributions()
            given = shared.dense(len(X), features)
            np.matmul(*_merged(given, self.table[features]), out=K)
        else:
            self._products(shared, K)
        squared = _lengths(self.kernel, self.weights, views, len(X))
        if together is not None:
            squared += together.squares(self.weights)
        self._finish(K, self._exponents(X, alike=alike), np.sqrt(squared))
        return K

    def _finish(self, K: Matrix, exponents: Sequence[Exponents], roots: Vector) -> None:
        """Makes kernel values of the products of linear views, in place."""
        gamma = self.kernel.gamma
        left, right = gamma / roots[:, None], 1.0 / self.roots
        E, bell = (np.empty((min(EXP_CHUNK_ROWS, len(K)), K.shape[1])) for _ in range(2))
        for start in range(0, len(K), EXP_CHUNK_ROWS):
            rows = slice(start, start + EXP_CHUNK_ROWS)
            near = K[rows]
            for own in exponents:
                own.add_bells(near, rows, E[: len(near)], bell[: len(near)])
            near *= left[rows]
            near *= right
            near -= gamma
            np.exp(near, out=near)

    def _exponents(self, X: Sequence[Any], *, alike: bool) -> list[Exponents]:
        found: list[Exponents] = []
        before = None
        for name, own in self.numbers.items():
            before, exponents = own.moved(_vectors(name, X), before)
            found.append(exponents.merged() if alike else exponents)
        return found

    def _products(self, shared: SharedFeatures, found: Matrix) -> None:
        """Weighted inner products of all linear views, row by row of X."""
        if len(found) < MIN_DENSE_CANDIDATES:
            found[:] = 0.0
            _add_products(found, shared, self.table)
            return
        common = shared.some(self.common >= 0)
        for start in range(
            0, len(found), COMMON_CHUNK_ROWS
        ):  # all of them first: each table stays near
            rows = slice(start, start + COMMON_CHUNK_ROWS)
            self._common_products(common.part(rows), found[rows])
        self._add_rare(shared.some(self.common < 0), found)

    def _common_products(self, shared: SharedFeatures, found: Matrix) -> None:
        """Products of common features, of a few sentences only of those that they have."""
        features, table = shared.contributions(), self.dense
        if 2 * len(features) < len(table):
            table = table[self.common[features]]
        else:
            features = (self.common >= 0).nonzero()[0]
        np.matmul(shared.dense(len(found), features), table, out=found)

    def _add_rare(self, shared: SharedFeatures, found: Matrix) -> None:
        """Adds the products of features that are not common, some rows of X at a time.

        Rows that follow one another are mostly of one sentence and have their features in common:
        a cell of the table is read once for all of them.
        """
        for start in range(0, len(found), RARE_CHUNK_ROWS):
            near = slice(start, start + RARE_CHUNK_ROWS)
            _add_products(found[near], shared.part(near), self.rare)

    def _shared(
        self, together: JointFeatures | None, views: Mapping[str, Features]
    ) -> SharedFeatures:
        """The features that fixed candidates have too, by their place in the table."""
        found = [self.places[name].found(F) for name, F in views.items()]
        if together is not None:
            found.append(self._joint(tuple(together.views)).found(together.top))
        return SharedFeatures(found, self.table.shape[0])

    def _joint(self, together: tuple[str, ...]) -> FeatureRows:
        """The places of several views whose features are found together."""
        if together not in self.joint:
            own = {name: self.places[name] for name in together if name in self.places}
            names = FeatureNames.concat(
                [places.index.names.with_prefix(name) for name, places in own.items()]
            )
            rows = np.concatenate([*(each.rows[:-1] for each in own.values()), [-1]])
            self.joint[together] = FeatureRows(NameIndex(names), rows)
        return self.joint[together]


def _add_products(found: Matrix, shared: SharedFeatures, table: sp.csr_array) -> None:
    """Adds products of a few sparse rows and a table, each row of which is read once."""
    features = shared.contributions()
    found += (table[features].T @ shared.dense(len(found), features).T).T


def _merged(given: Matrix, table: Any) -> tuple[Matrix, Matrix]:
    """The factors of a product with those columns as one that are equal in all rows.

    What pairs of one sentence have in common, and what always comes together, is multiplied once.
    """
    numbers: dict[bytes, int] = {}
    columns = np.ascontiguousarray(given.T)
    place = [numbers.setdefault(column.tobytes(), len(numbers)) for column in columns]
    each = np.ones(len(place)), (place, np.arange(len(place)))
    joined = sp.csr_array(each, shape=(len(numbers), len(place))) @ table
    first = np.unique(place, return_index=True)[1]
    return columns[first].T, joined.toarray() if sp.issparse(joined) else joined


def _numbers(gaussian: Mapping[str, Sequence[float]], Y: Sequence[Any]) -> dict[str, GaussianTable]:
    found: dict[str, GaussianTable] = {}
    before = None
    for name, gammas in gaussian.items():
        before = found[name] = GaussianTable.from_features(_vectors(name, Y), gammas, before)
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
    return Linear().features(OnView(name, Linear()).view(X))


def _lengths(
    kernel: CombinedViews, weights: Mapping[str, float], views: Mapping[str, Features], size: int
) -> Vector:
    """The weighted sum of all parts of each candidate with itself."""
    total = np.full(size, float(sum(map(len, kernel.gaussian.values()))))
    for name, F in views.items():
        total += weights[name] * squared_norms(F.cells)
    return total
