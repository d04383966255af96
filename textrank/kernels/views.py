"""Kernels on several views of the same candidates.

``CombinedViews`` is the kernel of the shipped PPI model: a Gaussian on a weighted sum of linear and
Gaussian kernels on views. ``EachView`` sums one kernel over all views. ``PerQuestionKernel``
compares only candidates that ask the same question.

``CombinedViews.index(Y)`` returns an ``IndexedViews``, indexed once for many calls with few new
candidates. It holds the features of the fixed
candidates by column, so that a new candidate is compared through the features it has
(``FeatureRows`` finds them, ``SharedFeatures`` holds them), and the vectors of Gaussian views as
dense tables (``GaussianTable``). The constants balance sparse, dense and merged products; they
affect speed only, not results.

Letters: ``n`` fixed candidates, ``x`` new candidates, ``d`` features (of one view in a
``GaussianTable``, of all linear views elsewhere). A feature is *common* if more than
``MIN_COMMON_SHARE`` of the fixed candidates have it, else *rare*. K is always (x, n).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import pairwise
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from textrank._ragged import lengths
from textrank.features import (
    CONSTANT_FEATURE,
    FeatureNames,
    Features,
    GramAlternatives,
    Indices,
    JointFeatures,
    Matrix,
    MultiView,
    NameIndex,
    RawCSR,
    SharedRows,
    Vector,
    hstack_csr,
    with_int32_indices,
)
from textrank.kernels.algebra import (
    Exponential,
    Gaussian,
    Linear,
    Normalized,
    OnView,
    Sum,
    resolve_weights,
)
from textrank.linalg import features_of, squared_norms
from textrank.linear_scores import (
    Contributions,
    FeatureWeights,
    LinearScores,
    Scorer,
    compile_scorer,
)
from textrank.protocols import Kernel, count_diverging, subkernels

MIN_COMMON_SHARE = 0.1  # share of fixed candidates from which a feature is also stored dense
MIN_DENSE_CANDIDATES = 8  # new candidates from which the dense table pays off
MIN_DENSE_FILL = 0.3  # mean share of features present from which X is multiplied as dense
RARE_CHUNK_ROWS = 16  # new candidates whose rare features are looked up together
COMMON_CHUNK_ROWS = 512  # new candidates per dense product of common features
EXP_CHUNK_ROWS = 64  # new candidates per pass of exponentials, to stay in cache


@dataclass(frozen=True, eq=False)
class GaussianTable:
    """Vectors of fixed candidates in one Gaussian view as a dense table.

    The view adds ``Σ_gamma exp(-gamma d²)`` to the kernel, ``d`` the distance of two vectors. If
    the columns of the previous view are the first columns of this one, with equal values, only the
    added columns are computed: squared distances of the previous view are reused.
    """

    index: NameIndex
    gammas: Sequence[float]
    table: Matrix  # (d + 3, n) columns; ones; squared norms; squared norms of the added columns
    start: int  # number of columns shared with the previous view; 0 if they differ
    rescale: float  # first gamma over the first gamma of the previous view
    column_cache: WeakKeyDictionary[FeatureNames, Indices] = field(
        default_factory=WeakKeyDictionary
    )

    @classmethod
    def from_features(
        cls, F: Features, gammas: Sequence[float], previous: GaussianTable | None
    ) -> GaussianTable:
        """Build the table of one Gaussian view of the fixed candidates.

        Parameters
        ----------
        F
            Vectors of the fixed candidates in this view, (n, d).
        gammas
            Factors of the squared distance; the view has one Gaussian for each.
        previous
            Table of the same candidates for the Gaussian view that comes before this one, or None
            for the first. If all its columns are the first columns of F, by name and by value,
            ``start`` is their number; otherwise ``start`` is 0 and nothing is reused.
        """
        values = F.values.toarray().astype(np.float64)
        start, rescale = 0, 0.0
        if previous is not None and list(F.names[: len(previous.index.names)]) == list(
            previous.index.names
        ):
            start, rescale = (
                _count_shared_columns(previous.table[:-3].T, values),
                gammas[0] / previous.gammas[0],
            )
        norms = [(values**2).sum(axis=1), (values[:, start:] ** 2).sum(axis=1)]
        table = np.ascontiguousarray(np.vstack([values.T, np.ones(len(values)), *norms]))
        return cls(NameIndex(F.names), gammas, table, start, rescale)

    def project(self, F: Features, previous: Matrix | None) -> tuple[Matrix, Exponents]:
        """Return new vectors in the table's columns, (x, d), and the exponents of their Gaussians.

        ``previous`` is the first result of ``project`` of the previous view for the same
        candidates, or None. Exponents cover only the added columns if ``previous`` equals the first
        columns of the new vectors and ``start`` is not 0. Columns that the table lacks still count
        in the distances.
        """
        dense = F.cells.to_dense() if isinstance(F.cells, RawCSR) else F.cells.toarray()
        aligned, width = self._align_columns(F.names, dense), len(self.table) - 3
        start = (
            self.start if previous is not None and _count_shared_columns(previous, aligned) else 0
        )
        columns = start + np.flatnonzero(aligned[:, start:].any(axis=0))  # most are zero
        factors = np.empty((len(F), len(columns) + 2))
        factors[:, :-2] = -2.0 * aligned.take(columns, axis=1)
        factors[:, -2] = (dense**2).sum(axis=1) - (aligned[:, :start] ** 2).sum(axis=1)
        factors[:, -1] = 1.0
        factors *= -self.gammas[0]
        table_rows = np.concatenate([columns, [width, width + (2 if start else 1)]])
        table = self.table.take(table_rows, axis=0)
        return aligned, Exponents(factors, table, self.rescale if start else 0.0, self.gammas)

    def _align_columns(self, names: FeatureNames, dense: Matrix) -> Matrix:
        """Return the vectors ``dense``, with columns ``names``, in the table's columns, (x, d).

        Columns that the table lacks are dropped, missing ones are 0. Returns ``dense`` itself if
        the columns agree. Fills ``column_cache``.
        """
        columns = self.column_cache.get(names)
        if columns is None:  # a representation gives the same names each time
            columns = self.column_cache[names] = self.index.find(names)
        width = len(self.table) - 3
        if np.array_equal(columns, np.arange(width)):
            return dense
        present = (columns >= 0).nonzero()[0]
        aligned = np.zeros((len(dense), width))
        aligned[:, columns[present]] = dense[:, present]
        return aligned


class Exponents(NamedTuple):
    """Exponents of a view's Gaussians as a matrix product ``factors @ table``, (x, n).

    The product is ``-gammas[0]`` times the squared distance, over all columns of the view or over
    those that the previous view lacks. In the second case the exponents of the previous view times
    ``rescale`` are added.
    """

    factors: Matrix  # (x, k)
    table: Matrix  # (k, n)
    rescale: float  # factor of the previous view's exponents; 0 if they are not used
    gammas: Sequence[float]

    def merged(self) -> Exponents:
        """Return the same product with equal columns of ``factors`` merged.

        The rows of ``table`` that belong to them are summed.
        """
        factors, table = _merge_equal_columns(self.factors, self.table)
        return self._replace(factors=factors, table=table)

    def add_gaussians(self, K: Matrix, rows: slice, E: Matrix, gaussian: Matrix) -> None:
        """Add the Gaussians of some new candidates, for all gammas, to K in place.

        ``rows`` selects them in ``factors``; K, E and ``gaussian`` have only these rows. E holds
        the exponents of the previous view (anything if ``rescale`` is 0) and is overwritten by
        those of this one, for the first gamma; ``gaussian`` is scratch space. A gamma that doubles
        the one before it is computed by squaring.
        """
        np.matmul(self.factors[rows], self.table, out=gaussian if self.rescale else E)
        if self.rescale:
            E *= self.rescale
            E += gaussian
        for previous, gamma in pairwise((0.0, *self.gammas)):
            if gamma == 2 * previous:
                np.multiply(gaussian, gaussian, out=gaussian)
            else:
                scaled = E if not previous else np.multiply(E, gamma / self.gammas[0], out=gaussian)
                np.exp(scaled, out=gaussian)
            K += gaussian


def _count_shared_columns(previous: NDArray[np.floating], values: Matrix) -> int:
    """Return the number of columns of ``previous`` if ``values`` begins with them, else 0.

    Values must be equal exactly; both have one row per candidate.
    """
    return previous.shape[1] if np.array_equal(previous, values[:, : previous.shape[1]]) else 0


class RaggedRows(NamedTuple):
    """Features of new candidates that fixed candidates have too, in CSR layout.

    ``feature`` has the row of each entry in the table of ``IndexedViews``, ``value`` its value.
    """

    ends: NDArray[np.integer]  # (x + 1,) offsets of the rows
    feature: Indices
    value: Vector

    def take_rows(self, rows: slice) -> RaggedRows:
        """Return some consecutive candidates; ``rows`` has a start and a stop, and no step.

        A stop beyond the last candidate means all that follow.
        """
        ends = self.ends[rows.start : rows.stop + 1]
        cells = slice(int(ends[0]), int(ends[-1]))
        return RaggedRows(ends - ends[0], self.feature[cells], self.value[cells])

    def keep(self, mask: NDArray[np.bool_]) -> RaggedRows:
        """Return only the entries for which the mask, one value per entry, is true.

        The number of candidates stays the same.
        """
        cells = mask.nonzero()[0]
        ends = cells.searchsorted(self.ends)
        return RaggedRows(ends, self.feature[cells], self.value[cells])


class SharedFeatures(NamedTuple):
    """Features that new candidates share with fixed ones, as one ``RaggedRows`` per lookup.

    A lookup covers one view or several joint views; features are numbered over all views, as rows
    of the table of ``IndexedViews``.
    """

    matches: Sequence[RaggedRows]
    size: int  # number of features in the table

    def take_rows(self, rows: slice) -> SharedFeatures:
        """Return some consecutive candidates; ``rows`` has a start and a stop, and no step.

        A stop beyond the last candidate means all that follow.
        """
        return self._replace(matches=[lookup.take_rows(rows) for lookup in self.matches])

    def keep(self, mask: NDArray[np.bool_]) -> SharedFeatures:
        """Return only the features for which the mask over the table, (d,), is true."""
        return self._replace(matches=[lookup.keep(mask[lookup.feature]) for lookup in self.matches])

    def is_dense(self, rows: int) -> bool:
        """Return whether a dense product pays off, as for the pairs of one long sentence.

        That is, whether the candidates, ``rows`` in number, have on average ``MIN_DENSE_FILL`` of
        the features that any of them has. True also if none has a feature.
        """
        return sum(len(lookup.value) for lookup in self.matches) >= MIN_DENSE_FILL * rows * len(
            self.columns_used()
        )

    def columns_used(self) -> Indices:
        """Return the features that at least one candidate has, as ascending rows of the table."""
        is_used = np.zeros(self.size, dtype=bool)
        for lookup in self.matches:
            is_used[lookup.feature] = True
        return is_used.nonzero()[0]

    def to_dense(self, rows: int, features: Indices) -> Matrix:
        """Return the candidates as a dense matrix over some features, (rows, features).

        ``rows`` is the number of candidates. ``features`` are rows of the table in the order of the
        result's columns; they must include all of ``columns_used``.
        """
        column = np.empty(self.size, dtype=np.int32)
        column[features] = np.arange(len(features), dtype=np.int32)
        values = np.zeros((len(features), rows))
        for lookup in self.matches:
            values[column[lookup.feature], np.arange(rows).repeat(lengths(lookup.ends))] = (
                lookup.value
            )
        return values.T


@dataclass(frozen=True, eq=False)
class FeatureRows:
    """Lookup from feature names of a view (or of joint views) to rows of the table."""

    index: NameIndex
    rows: Indices  # (d + 1,) row in the table; the last is -1, for a name that is missing

    def find(self, names: FeatureNames) -> Indices:
        """Return the row in the table of each of ``names``; -1 if the table lacks it."""
        return self.rows[self.index.find(names)]


@dataclass(frozen=True, eq=False)
class IndexedViews:
    """``CombinedViews`` with an index of fixed candidates; calls give the same values.

    Feature names are indexed and vectors stored by feature, so that a new candidate is only
    compared with the fixed ones it shares something with. One candidate then costs milliseconds,
    where the kernel itself first matches the features of all fixed candidates, a second or two for
    thousands.
    """

    kernel: CombinedViews
    weights: Mapping[str, float]  # of the linear views, relative to the weight of a Gaussian
    feature_rows: Mapping[str, FeatureRows]  # by linear view
    table: sp.csr_array  # (d, n) features of all linear views, weighted
    gaussian_tables: Mapping[str, GaussianTable]  # by Gaussian view, in order
    roots: Vector  # (n,) norms of the fixed candidates

    @cached_property
    def rare(self) -> sp.csr_array:
        """Table with empty rows for common features, (d, n); built for the first larger batch."""
        return _keep_rows(self.table, self.common < 0)

    @cached_property
    def common(self) -> NDArray[np.int32]:
        """Row in ``dense`` of each common feature, -1 for the others, (d,)."""
        is_common = lengths(self.table.indptr) > MIN_COMMON_SHARE * self.table.shape[1]
        return np.where(is_common, np.cumsum(is_common) - 1, -1).astype(np.int32)

    @cached_property
    def dense(self) -> Matrix:
        """Rows of the common features, (c, n); built for the first larger batch."""
        return self.table[(self.common >= 0).nonzero()[0]].toarray()

    @classmethod
    def from_candidates(cls, kernel: CombinedViews, Y: Sequence[Any]) -> IndexedViews:
        """Index the fixed candidates Y in all views that the kernel uses.

        Linear views share one weighted table with a row per feature and a column per candidate;
        features that more than ``MIN_COMMON_SHARE`` of Y have are also stored as dense rows once a
        larger batch needs them. Each Gaussian view gets a table of its own. Of several
        ``gaussian_weights`` of the kernel the first is used; the weights of linear views are
        divided by it.
        """
        views = {name: _view_features(name, Y) for name in kernel.linear}
        weights = {
            name: weight / kernel.gaussian_weights[0] for name, weight in kernel.linear.items()
        }
        ends = np.cumsum([0, *(len(F.names) for F in views.values())])
        scaled = [
            F.with_data(F.cells.data.astype(np.float64, copy=False) * weights[name]).cells
            for name, F in views.items()
        ]
        table = hstack_csr(scaled) if scaled else sp.csr_array((len(Y), 0))
        return cls(
            kernel,
            weights,
            {
                name: FeatureRows(NameIndex(F.names), np.append(np.arange(low, high), -1))
                for (name, F), (low, high) in zip(views.items(), pairwise(ends), strict=True)
            },
            with_int32_indices(table).T.tocsr(),
            _gaussian_tables(kernel.gaussian, Y),
            np.sqrt(_squared_norms(kernel, weights, views, len(Y))),
        )

    def __call__(self, X: Sequence[Any]) -> Matrix:
        """Return the kernel of each of X with each fixed candidate Y, (x, n): ``kernel(X, Y)``.

        Values are equal up to rounding. Features that no fixed candidate has still count in the
        norms. Unlike the kernel, candidates without any feature or Gaussian are not refused: they
        give NaN.
        """
        joint = X.joint if isinstance(X, MultiView) else None
        joint_names = () if joint is None else joint.view_names
        views = {
            name: _view_features(name, X) for name in self.kernel.linear if name not in joint_names
        }
        shared = self._shared_features(joint, views)
        is_dense = len(X) >= MIN_DENSE_CANDIDATES and shared.is_dense(len(X))
        K = np.empty((len(X), len(self.roots)))
        if is_dense:
            features = shared.columns_used()
            values = shared.to_dense(len(X), features)
            np.matmul(*_merge_equal_columns(values, self.table[features]), out=K)
        else:
            self._linear_products(shared, K)
        norms = _squared_norms(self.kernel, self.weights, views, len(X))
        if joint is not None:
            norms += joint.squared_norms(self.weights)
        self._exponentiate(K, self._exponents(X, merge=is_dense), np.sqrt(norms))
        return K

    def _exponentiate(self, K: Matrix, exponents: Sequence[Exponents], roots: Vector) -> None:
        """Turn the products of the linear views in K, (x, n), into kernel values, in place.

        Adds all Gaussians with weight 1, divides by the norms of both candidates and takes
        ``exp(gamma (k - 1))``. ``exponents`` has one item per Gaussian view, in order; ``roots``
        are the norms of the new candidates, (x,). ``EXP_CHUNK_ROWS`` rows are processed at a time.
        """
        gamma = self.kernel.gamma
        left, right = gamma / roots[:, None], 1.0 / self.roots
        E, gaussian = (np.empty((min(EXP_CHUNK_ROWS, len(K)), K.shape[1])) for _ in range(2))
        for start in range(0, len(K), EXP_CHUNK_ROWS):
            rows = slice(start, start + EXP_CHUNK_ROWS)
            chunk = K[rows]
            for exponent in exponents:
                exponent.add_gaussians(chunk, rows, E[: len(chunk)], gaussian[: len(chunk)])
            chunk *= left[rows]
            chunk *= right
            chunk -= gamma
            np.exp(chunk, out=chunk)

    def _exponents(self, X: Sequence[Any], *, merge: bool) -> list[Exponents]:
        """Return the exponents of X for each Gaussian view, in order.

        If ``merge``, equal columns of their factors are merged, which is faster for similar rows.
        """
        exponents_by_view: list[Exponents] = []
        previous = None
        for name, table in self.gaussian_tables.items():
            previous, exponent = table.project(_view_features(name, X), previous)
            exponents_by_view.append(exponent.merged() if merge else exponent)
        return exponents_by_view

    def _linear_products(self, shared: SharedFeatures, K: Matrix) -> None:
        """Write the weighted inner products of all linear views to K, overwriting what it holds.

        Few candidates take one sparse product; from ``MIN_DENSE_CANDIDATES`` on, common features
        are multiplied as dense ones and rare ones added.
        """
        if len(K) < MIN_DENSE_CANDIDATES:
            K[:] = 0.0
            _add_products(K, shared, self.table)
            return
        common = shared.keep(self.common >= 0)
        for start in range(
            0, len(K), COMMON_CHUNK_ROWS
        ):  # all of them first: each table stays near
            rows = slice(start, start + COMMON_CHUNK_ROWS)
            self._common_products(common.take_rows(rows), K[rows])
        self._add_rare(shared.keep(self.common < 0), K)

    def _common_products(self, shared: SharedFeatures, K: Matrix) -> None:
        """Write the products of common features to K, overwriting what it holds.

        ``shared`` must hold common features only. If the candidates have less than half of the
        common features, only the rows of these are multiplied.
        """
        features, table = shared.columns_used(), self.dense
        if 2 * len(features) < len(table):
            table = table[self.common[features]]
        else:
            features = (self.common >= 0).nonzero()[0]
        np.matmul(shared.to_dense(len(K), features), table, out=K)

    def _add_rare(self, shared: SharedFeatures, K: Matrix) -> None:
        """Add the products of rare features to K, (x, n), in place.

        ``RARE_CHUNK_ROWS`` rows are processed at a time. ``shared`` holds the rare features of the
        new candidates, in the order of K's rows; common features in it would be ignored.
        Neighbouring rows are mostly from one sentence and share their features, so that a row of
        the table is read once for all of them.
        """
        for start in range(0, len(K), RARE_CHUNK_ROWS):
            rows = slice(start, start + RARE_CHUNK_ROWS)
            _add_products(K[rows], shared.take_rows(rows), self.rare)

    def _shared_features(
        self, joint: JointFeatures | None, views: Mapping[str, Features]
    ) -> SharedFeatures:
        """Return the features of new candidates that fixed candidates have too.

        ``joint`` has the features of several views in one matrix, or is None; ``views`` has the
        features of the other linear views by name.
        """
        lookups = [_match(F, self.feature_rows[name].find(F.names)) for name, F in views.items()]
        if joint is not None:
            F = joint.candidate_features
            lookups.append(_match(F, self._find_joint(F.names)))
        return SharedFeatures(lookups, self.table.shape[0])

    def _find_joint(self, names: FeatureNames) -> Indices:
        """Return the row in the table of features of several views in one matrix, -1 for others.

        There a feature's name begins with the name of its view. Features of views that are not
        linear views of the kernel are not found. Each view is searched in its own index: a joint
        index of all of them would take longer to build than a short text takes to score.
        """
        rows = np.full(len(names), -1, dtype=np.intp)
        first_words = names.parts[:, 0]
        views = set(names.vocabulary) & self.feature_rows.keys()
        for view in views:
            columns = (first_words == names.vocabulary.index(view)).nonzero()[0]
            if len(columns):
                rows[columns] = self.feature_rows[view].find(names.take(columns).drop_first_word())
        return rows


def _match(F: Features, rows: Indices) -> RaggedRows:
    """Return the entries of F whose feature the table has, with its row there.

    ``rows`` has the row of each column of F, -1 for none. The result has one row per candidate,
    which may be empty.
    """
    row = rows[F.cells.indices]
    return RaggedRows(F.cells.indptr, row, F.cells.data).keep(row >= 0)


def _add_products(K: Matrix, shared: SharedFeatures, table: sp.csr_array) -> None:
    """Add ``X @ table`` to K in place; ``shared`` has the sparse rows of X, few of them.

    Each row of the table (d, n) that X needs is read once.
    """
    features = shared.columns_used()
    K += (table[features].T @ shared.to_dense(len(K), features).T).T


def _merge_equal_columns(values: Matrix, table: Any) -> tuple[Matrix, Matrix]:
    """Merge equal columns of the left factor of ``values @ table``, summing rows of the table.

    Returns the two smaller factors, both dense, of the same product; columns are in order of first
    occurrence. Features that always occur together are multiplied once. ``table`` may be sparse.
    """
    numbers: dict[bytes, int] = {}  # of the distinct columns
    columns = np.ascontiguousarray(values.T)
    group_of = [numbers.setdefault(column.tobytes(), len(numbers)) for column in columns]
    entries = np.ones(len(group_of)), (group_of, np.arange(len(group_of)))
    summed = sp.csr_array(entries, shape=(len(numbers), len(group_of))) @ table
    first = np.unique(group_of, return_index=True)[1]
    return columns[first].T, summed.toarray() if sp.issparse(summed) else summed


def _gaussian_tables(
    gaussian: Mapping[str, Sequence[float]], Y: Sequence[Any]
) -> dict[str, GaussianTable]:
    """Build the table of each Gaussian view of the fixed candidates Y, by view, in order.

    ``gaussian`` has the gammas of each view. Each table is built on that of the view before it.
    """
    tables: dict[str, GaussianTable] = {}
    previous = None
    for name, gammas in gaussian.items():
        previous = tables[name] = GaussianTable.from_features(
            _view_features(name, Y), gammas, previous
        )
    return tables


def _keep_rows(table: sp.csr_array, mask: NDArray[np.bool_]) -> sp.csr_array:
    """Return the table (d, n) with the rows where ``mask`` (d,) is false emptied.

    The shape stays the same; indices become 32-bit if that suffices, else 64-bit.
    """
    counts = np.diff(table.indptr)
    is_kept = np.repeat(mask, counts)
    ends = np.append(0, np.cumsum(np.where(mask, counts, 0)))
    size = np.int32 if max(table.shape[1], table.nnz) < np.iinfo(np.int32).max else np.int64
    parts = (table.data[is_kept], table.indices[is_kept].astype(size), ends.astype(size))
    return sp.csr_array(parts, shape=table.shape)


def _view_features(name: str, X: Sequence[Any]) -> Features:
    """Return the vectors of X in the view ``name`` as Features, one row per candidate.

    Columns of plain arrays are named by their index. Raises ValueError if there is no such view.
    """
    return Linear().features(OnView(name, Linear()).view(X))


def _squared_norms(
    kernel: CombinedViews, weights: Mapping[str, float], views: Mapping[str, Features], size: int
) -> Vector:
    """Return the weighted sum of all kernels of each candidate with itself, (size,).

    Each Gaussian adds 1. ``views`` has the features of linear views by name; a linear view that is
    missing from it adds nothing. ``weights`` are relative to the weight of a Gaussian.
    """
    total = np.full(size, float(sum(map(len, kernel.gaussian.values()))))
    for name, F in views.items():
        total += weights[name] * squared_norms(F.cells)
    return total


@dataclass(frozen=True)
class CombinedViews:
    """Gaussian on the normalised, weighted sum of kernels on views: ``exp(gamma (k̄ - 1))``.

    ``k̄`` is ``Σ w_v k_v + b Σ g_u`` scaled to 1 on the diagonal. ``k_v`` is the inner product of
    the vectors of view ``v`` and ``w_v`` its weight in ``linear``; ``g_u`` is a Gaussian ``exp(-γ'
    d²)`` on view ``u``, one for each ``γ'`` in ``gaussian[u]``, all of weight ``b``, the only value
    of ``gaussian_weights``. ``summands`` lists these kernels by name. Vectors of a linear view
    should have length one, scaled once in the representation.

    With several ``gaussian_weights`` this is not one kernel but a choice: ``alternatives`` has a
    kernel per weight, ``gram_alternatives`` evaluates all of them together, and training chooses by
    held-out scores.

    It is short for ``Exponential(Normalized(Sum([...])))``, which ``as_expression`` returns.

    >>> from textrank.features import MultiView
    >>> X = MultiView({"words": np.eye(2), "numbers": np.array([[0.0], [1.0]])})
    >>> kernel = CombinedViews(linear={"words": 1.0}, gaussian={"numbers": [0.5]})
    >>> kernel(X).round(3).tolist()
    [[1.0, 0.248], [0.248, 1.0]]
    """

    linear: Mapping[str, float] = field(default_factory=dict)
    gaussian: Mapping[str, Sequence[float]] = field(default_factory=dict)
    gamma: float = 2.0
    gaussian_weights: Sequence[float] = (1.0,)

    def __post_init__(self) -> None:
        """Convert the settings to dictionaries and tuples, and validate them.

        Raises ValueError without any view, for a negative weight of a linear view, and for a gamma
        or Gaussian weight that is not positive.
        """
        object.__setattr__(self, "linear", dict(self.linear))
        widths = {name: tuple(gammas) for name, gammas in self.gaussian.items()}
        object.__setattr__(self, "gaussian", widths)
        object.__setattr__(self, "gaussian_weights", tuple(map(float, self.gaussian_weights)))
        if not self.gaussian_weights or not min(self.gaussian_weights) > 0:
            raise ValueError(
                f"gaussian_weights must be one positive number or several, got "
                f"{list(self.gaussian_weights)}"
            )
        if not self.summands:
            raise ValueError("name at least one view, in linear or in gaussian")
        _ = self.as_expression  # each part checks its own settings

    def __call__(self, X: Sequence[Any], Y: Sequence[Any] | None = None) -> Matrix:
        """Return the Gram matrix (x, y); of X with itself if Y is None.

        Raises ValueError if several ``gaussian_weights`` leave the kernel open.
        """
        if len(self.gaussian_weights) > 1:
            raise ValueError(
                f"gaussian_weights {list(self.gaussian_weights)} leave the kernel open. Use "
                "one of its alternatives, or let training choose."
            )
        return self.as_expression(X, Y)

    def index(self, Y: Sequence[Any]) -> IndexedViews:
        """Index ``Y``, such as the support of a model, for many fast calls with few candidates.

        ``kernel.index(Y)(X)`` equals ``kernel(X, Y)`` up to rounding. Of several
        ``gaussian_weights`` the first is used.
        """
        return IndexedViews.from_candidates(self, Y)

    @property
    def alternatives(self) -> list[CombinedViews]:
        """One kernel per value of ``gaussian_weights``, in order; never empty."""
        return [replace(self, gaussian_weights=[weight]) for weight in self.gaussian_weights]

    def gram_alternatives(self, X: Sequence[Any]) -> GramAlternatives:
        """Return the Gram matrices (x, x) of all alternatives on X, in the order of their weights.

        Each is ``exp(gamma (K - 1))`` of the normalised sum K of linear and weighted Gaussian
        parts; every summand is computed once. The only parameter is ``gaussian_weight``. All
        matrices are in memory at once. With linear views alone, an input without features gets NaN
        off the diagonal and 1 on it, where a call of the kernel raises ValueError.
        """
        linear = _sum_grams(X, [(w, k) for n, (w, k) in self.summands.items() if n in self.linear])
        gaussian = _sum_grams(
            X, [(1.0, k) for n, (_, k) in self.summands.items() if n not in self.linear]
        )
        grams = []
        for weight in self.gaussian_weights:
            K = linear + weight * gaussian
            root = np.sqrt(np.diag(K))
            K /= root[:, None]
            K /= root[None, :]
            np.fill_diagonal(K, 1.0)
            K -= 1.0
            K *= self.gamma
            grams.append(np.exp(K, out=K))
        return GramAlternatives([{"gaussian_weight": w} for w in self.gaussian_weights], grams)

    def diag(self, X: Sequence[Any]) -> Vector:
        """Return the diagonal of the Gram matrix, (x,): ones, but for round-off."""
        return self.as_expression.diag(X)

    def contributions(self, X: Sequence[Any], Y: Sequence[Any], coef: Vector) -> Features:
        """Return what each named part adds to the scores ``k(X, Y) @ coef``; rows sum to them.

        The kernel is not a sum of its parts, so this is a convention, that of Aumann and Shapley:
        let the similarity grow evenly from nothing to what it is, and credit every part with its
        share of the growth, ``∂/∂s exp(γ (t k̄ - 1))`` integrated over ``t`` from 0 to 1. Inner
        products are split further, exactly, by feature. The column ``constant`` is the score of a
        candidate that resembles nothing.

        Parameters
        ----------
        X
            Candidates to explain; the result has a row for each.
        Y
            Candidates of the model.
        coef
            (y,) coefficients of Y.

        Returns
        -------
        Features
            Columns in the order of ``summands``, with names that begin with the summand's, and
            ``constant`` last. A linear view has a column per feature of X, a Gaussian has one.
            Of several ``gaussian_weights`` the first is used.
        """
        total = Sum(
            [k for _, k in self.summands.values()], weights=[w for w, _ in self.summands.values()]
        )
        K = total(X, Y)
        sizes = np.sqrt(np.outer(total.diag(X), total.diag(Y)))
        K /= sizes
        # (exp(γ K) - 1) / K, which is γ where nothing is shared
        growth = np.divide(
            np.expm1(self.gamma * K), K, out=np.full_like(K, self.gamma), where=K != 0
        )
        shares = growth * np.exp(-self.gamma) * coef / sizes  # (x, y)

        blocks = {}
        for name, (weight, kernel) in self.summands.items():
            if name in self.linear:
                blocks[name] = _split_by_feature(kernel, X, Y, weight * shares)
            else:
                blocks[name] = _single_column((weight * shares * kernel(X, Y)).sum(axis=1))
        blocks["constant"] = _single_column(np.full(len(K), np.exp(-self.gamma) * coef.sum()))
        return Features.hstack(blocks)

    @property
    def summands(self) -> dict[str, tuple[float, Kernel[Any]]]:
        """Weight and kernel of each summand by name, linear views first, see ``Sum``.

        A linear view is named by itself, a Gaussian by view and width, such as ``"numbers, 0.5"``.
        Of several ``gaussian_weights`` the first is used.
        """
        linear = {name: (weight, OnView(name, Linear())) for name, weight in self.linear.items()}
        gaussian = {
            f"{name}, {gamma:g}": (self.gaussian_weights[0], OnView(name, Gaussian(gamma)))
            for name, gammas in self.gaussian.items()
            for gamma in gammas
        }
        return {**linear, **gaussian}

    @property
    def as_expression(self) -> Exponential:
        """The kernel composed of elementary kernels, with the first of the Gaussian weights."""
        weights, kernels = zip(*self.summands.values(), strict=True)
        return Exponential(Normalized(Sum(kernels, weights=weights)), gamma=self.gamma)


def _sum_grams(X: Sequence[Any], parts: Sequence[tuple[float, Kernel[Any]]]) -> Matrix:
    """Return the weighted sum of Gram matrices of X, (x, x); zeros without parts.

    ``parts`` are pairs of weight and kernel.
    """
    total = np.zeros((len(X), len(X)))
    for weight, kernel in parts:
        total += weight * kernel(X)
    return total


def _split_by_feature(
    kernel: Kernel[Any], X: Sequence[Any], Y: Sequence[Any], shares: Matrix
) -> Features:
    """Return the features of X, each times its weighted sum over Y.

    Entry ``(i, f)`` is ``X_if Σ_j shares_ij Y_jf``; ``shares`` has shape (x, y). Columns are the
    features of X.
    """
    F, G = features_of(kernel, X), features_of(kernel, Y)
    return Features(sp.csr_array(F.values.multiply(shares @ G.align_to(F.names))), F.names)


def _single_column(values: Vector) -> Features:
    """Return a vector as Features with one column of empty name."""
    return Features(sp.csr_array(values[:, None]), FeatureNames.from_iterable([()]))


@dataclass(frozen=True)
class EachView:
    """Sum of one kernel over all views: ``Σ_v w_v k(x_v, z_v)``; weight 1 where none is given.

    Use ``Sum`` and ``OnView`` for views that need kernels of their own.

    >>> from textrank.kernels.algebra import Linear
    >>> views = MultiView({"a": np.array([[1.0]]), "b": np.array([[2.0]])})
    >>> EachView(Linear(), weights={"b": 0.5})(views).item()
    3.0
    """

    kernel: Kernel[Any]
    weights: Mapping[str, float] | None = None

    def __post_init__(self) -> None:
        """Raise ValueError for a negative weight; names of views are checked when X is known."""
        resolve_weights(self.weights, list(self.weights or {}))

    def __call__(self, X: Sequence[Any], Y: Sequence[Any] | None = None) -> Matrix:
        """Return the Gram matrix (x, y); of X with itself if Y is None.

        The views are those of X, which Y must have too. Without rows in X or Y the result is empty.
        Raises ValueError for a weight of a view that X lacks.
        """
        if not len(X) or (Y is not None and not len(Y)):
            return np.zeros((len(X), len(X if Y is None else Y)))
        return self._sum(X)(X, Y)

    def diag(self, X: Sequence[Any]) -> Vector:
        """Return the weighted sum of the views' diagonals, (x,); empty without rows."""
        return self._sum(X).diag(X) if len(X) else np.zeros(0)

    def features(self, X: Sequence[Any]) -> Features:
        """Return the features on all views side by side, each under the name of its view.

        X must not be empty unless it is a ``MultiView``. Raises TypeError if the kernel has no
        explicit features.
        """
        return self._sum(X).features(X)

    def count_diverging(self, X: Sequence[Any]) -> int:
        """Return how many inputs the kernel scales down so that its sums converge.

        Summed over all views, so an input may count several times; 0 for an empty X.
        """
        return count_diverging(self._sum(X), X) if len(X) else 0

    def _sum(self, X: Sequence[Any]) -> Sum:
        """Return the sum of the kernel over the views that X has.

        If X is not a ``MultiView``, the views are those of its first mapping, so X must not be
        empty. Raises ValueError for a weight of a view that X lacks.
        """
        views = list(X.views if isinstance(X, MultiView) else X[0])
        return Sum({view: OnView(view, self.kernel) for view in views}, weights=self.weights)


@dataclass(frozen=True)
class PerQuestionKernel:
    """Kernel that is 0 between different questions: ``[q(x) = q(z)] (c² + k(x, z))``.

    The view ``view`` holds the question of each candidate as a string, such as which word of which
    confusion set. Features are named under their question, so one linear model holds the weights of
    all questions; each question has a constant feature of value ``c = constant``.

    >>> from textrank.kernels.algebra import OnView
    >>> from textrank.kernels.algebra import Linear
    >>> X = MultiView({"asked": ["than", "than", "to"], "number": np.array([[2.0], [1.0], [3.0]])})
    >>> PerQuestionKernel("asked", OnView("number", Linear()), constant=1.0)(X)
    array([[ 5.,  3.,  0.],
           [ 3.,  2.,  0.],
           [ 0.,  0., 10.]])
    """

    view: str
    kernel: Kernel[Any]
    constant: float = 0.5

    def __post_init__(self) -> None:
        """Raise ValueError unless the constant is positive."""
        if not self.constant > 0:
            raise ValueError(f"constant must be positive, got {self.constant}")

    def __call__(self, X: Sequence[Any], Y: Sequence[Any] | None = None) -> Matrix:
        """Return the Gram matrix (x, y); of X with itself if Y is None.

        It is ``constant² + k`` for candidates of one question, else 0. The inner kernel ``k`` is
        computed for all pairs, also those of different questions.
        """
        left = np.array(self._questions(X))
        right = left if Y is None else np.array(self._questions(Y))
        K = self.kernel(X, Y) + self.constant**2
        return np.where(left[:, None] == right[None, :], K, 0.0)

    def diag(self, X: Sequence[Any]) -> Vector:
        """Return the inner kernel's diagonal plus the squared constant, (x,)."""
        return self.kernel.diag(X) + self.constant**2

    def features(self, X: Sequence[Any]) -> Features:
        """Return the features of the kernel and a constant, named under their question.

        One row per candidate; names begin with the question. The constant is named ``(question,
        "constant")``. Raises TypeError if the kernel has no explicit features.
        """
        distinct, row_index = self._shared(X)
        F = features_of(self.kernel, distinct)
        constant = sp.csr_array(np.full((len(F), 1), self.constant))
        F = Features(hstack_csr([constant, F.values]), F.names.prepend(CONSTANT_FEATURE))
        return _split_by_question(F if row_index is None else F.rows(row_index), self._questions(X))

    def compile_scorer(self, weights: FeatureWeights) -> Scorer:
        """Return ``score(X, question_ids)``: each candidate scored with its question's weights.

        ``question_ids`` number the question of an outer kernel of this kind (0 without one). The
        scores are those of the inner kernel plus ``constant`` times its weight; the contributions
        list the constants first. A candidate whose question was not seen in training has no weights
        and no constant term, but ``constant²`` is added to the squares of all. Raises TypeError if
        the inner kernel has no explicit features.
        """
        question_index, weights_by_question = _group_by_question(weights)
        inner_scorer = compile_scorer(self.kernel, weights_by_question)
        constant = weights_by_question.select_prefix(CONSTANT_FEATURE)
        constants = np.zeros(len(question_index) + 1)  # the last one is for unknown questions
        constants[constant.question_ids] = self.constant * constant.coef
        columns = np.full(len(constants), -1)
        columns[constant.question_ids] = constant.columns

        def score(X: Sequence[Any], question_ids: Indices) -> LinearScores:
            """Score each candidate, plus the constant, by the weights of its own question.

            ``question_ids`` (n,) are those of an outer kernel of this kind (0 without one). A
            question that was not seen in training has no weights and constant 0.
            """
            pairs = zip(question_ids.tolist(), self._questions(X), strict=True)
            questions = np.array([question_index.get(pair, -1) for pair in pairs], dtype=np.intp)
            inner_scores = inner_scorer(X, questions)

            def contributions() -> Contributions:
                """Return the constant of each known question, then those of the inner kernel."""
                rows = np.flatnonzero(columns[questions] >= 0)
                constant_features = Contributions(
                    rows, columns[questions[rows]], np.full(len(rows), self.constant)
                )
                return Contributions.concat([constant_features, inner_scores.contributions()])

            return LinearScores(
                inner_scores.products + constants[questions],
                inner_scores.squares + self.constant**2,
                contributions,
            )

        return score

    def _shared(self, X: Sequence[Any]) -> tuple[Sequence[Any], Indices | None]:
        """Return the distinct representations and the index of each candidate's, or ``(X, None)``.

        They are found only if X is a ``MultiView`` and all views that the kernel looks at (see
        ``_views_of``; at least one) are ``SharedRows`` of equal index, as for several questions
        about the same words. The first result is then a ``MultiView`` of these views only.
        """
        view_names = _views_of(self.kernel)
        if not isinstance(X, MultiView) or not view_names:
            return X, None
        views = [X.views.get(name) for name in view_names]
        shared_views = [view for view in views if isinstance(view, SharedRows)]
        if len(shared_views) < len(views) or any(
            not np.array_equal(view.row_index, shared_views[0].row_index) for view in shared_views
        ):
            return X, None
        distinct = {
            name: view.distinct for name, view in zip(view_names, shared_views, strict=True)
        }
        return MultiView(distinct), shared_views[0].row_index

    def _questions(self, X: Sequence[Any]) -> Sequence[str]:
        """Return the question of each candidate.

        X is a ``MultiView`` or a sequence of mappings by view.
        """
        return X.view(self.view) if isinstance(X, MultiView) else [x[self.view] for x in X]


def _group_by_question(
    weights: FeatureWeights,
) -> tuple[dict[tuple[int, str], int], FeatureWeights]:
    """Split the first word, the question, off the feature names of the weights.

    Returns the number of each (outer question id, question) pair, and the weights under the shorter
    names with these numbers as question ids. Kernels of this kind may be nested: hence the pairs.
    """
    first, words = weights.names.parts[:, 0], weights.names.vocabulary
    pairs, question_ids = np.unique(
        np.column_stack([weights.question_ids, first]), axis=0, return_inverse=True
    )
    numbers = {(outer, words[word]): i for i, (outer, word) in enumerate(pairs.tolist())}
    return numbers, weights.relabel(weights.names.drop_first_word(), question_ids.ravel())


def _views_of(kernel: Kernel[Any]) -> list[str]:
    """Return the views a kernel looks at; none if a part looks at the candidates themselves.

    A view that several parts look at is repeated.
    """
    if isinstance(kernel, OnView):
        return [kernel.name]
    views_by_part = [_views_of(part) for part in subkernels(kernel)]
    return [name for part in views_by_part for name in part] if all(views_by_part) else []


def _split_by_question(F: Features, questions: Sequence[str]) -> Features:
    """Return Features with a column for each (question, feature) pair that occurs.

    ``questions`` has the question of each row. Names begin with the question. Columns are sorted by
    first occurrence of the question, then by column of F. If there is only one question, all
    columns of F are kept, also empty ones.
    """
    numbers = {question: i for i, question in enumerate(dict.fromkeys(questions))}
    question_index = np.array([numbers[question] for question in questions], dtype=np.int64)
    values = F.values
    if len(numbers) == 1:
        return Features(values, F.names.with_prefix(next(iter(numbers))))
    codes = np.repeat(question_index, np.diff(values.indptr)) * len(F.names) + values.indices
    used, column = _factorize_bounded(codes, len(numbers) * len(F.names))
    parts = (values.data, column.astype(np.int32), values.indptr)
    matrix = sp.csr_array(parts, shape=(len(F), len(used)))
    return Features(matrix, _question_names(F.names, tuple(numbers), used))


def _factorize_bounded(codes: NDArray[np.int64], bound: int) -> tuple[Indices, Indices]:
    """Return the sorted distinct codes and the index of each code among them, like ``np.unique``.

    Codes must lie in ``0 ... bound - 1``; no sort is needed where ``bound`` is not much larger than
    their number.
    """
    if bound > 16 * len(codes):
        return np.unique(codes, return_inverse=True)
    is_used = np.zeros(bound, dtype=bool)
    is_used[codes] = True
    used = np.flatnonzero(is_used)
    number = np.empty(bound, dtype=np.intp)
    number[used] = np.arange(len(used))
    return used, number[codes]


def _question_names(
    names: FeatureNames, questions: tuple[str, ...], codes: Indices
) -> FeatureNames:
    """Return the names of the columns ``question * len(names) + column``, the question first.

    ``codes`` (d,) are these numbers; ``question`` is an index into ``questions``, ``column`` into
    ``names``.
    """
    question, column = np.divmod(codes, max(len(names), 1))
    first = (question + len(names.vocabulary)).astype(np.int32)[:, None]
    return FeatureNames((*names.vocabulary, *questions), np.hstack([first, names.parts[column]]))
