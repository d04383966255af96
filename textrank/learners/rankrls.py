"""RankRLS: regularised least squares on preferences between candidates.

``RankRLS`` is the learner. Preferences are graphs: ``QueryCentring`` (all pairs of a query) or
``PreferenceLaplacian`` (any pairs). ``rank_path`` trains, ``heldout_by_query`` scores held-out
queries.

A graph with an edge for every preference has a Laplacian ``L``, and the squared error over its
edges is ``(s - f)' L (s - f)`` for potentials ``s``. ``L`` is block diagonal by query, so its root
``R`` (``L = R R``) turns ranking into least squares: ``(R K R + alpha I) b = R s``, ``a = R b``.

Letters in shapes: ``n`` candidates, ``q`` queries, ``d`` features, ``a`` values of alpha, ``p``
outputs, ``h`` candidates of a query or held-out group, ``b`` groups computed together, ``c`` levels
of a group (the dimension of the null space of ``R`` on its rows: one per query or, for
``PreferenceLaplacian``, per set of candidates that preferences connect), ``r`` rank.

The second half of the module trains on preference graphs. ``weigh_edges`` turns preferences and a
cost into a ``WeightedGraph``; a ``PreferenceProblem`` is a graph with data, decomposed once for
every alpha. With ``B`` (n, e) the incidence matrix of the graph, each column times the root of the
weight of its edge, the Laplacian is ``L = B B'``, the objective ``||t - B'f||^2 + alpha ||f||^2``
with targets ``t`` (e,). For ``K = C C'`` and ``C'L C = E diag(d) E'`` scores are ``f = G g G'p``
with ``G = C E``, ``g = 1 / (d + alpha)`` and ``p = B t``. Only ``L``, which has an entry per edge,
and matrices of the size of the data are formed: O(n^3 + l) for ``l`` preferences, formula (17) of
Pahikkala, Tsivtsivadze, Airola, Järvinen and Boberg (2009), Machine Learning 75.

A candidate is held out with all its edges. Without the edges ``U`` of held-out candidates the model
is ``(diag(d) + alpha - T'T)^-1 (G'p - T't_U)``, ``T = B_U'G``, by Woodbury a system of as many
equations as there are edges in ``U``, or of the rank of the data if that is less. There ``e`` are
the pairs that are compared and ``k`` the edges of a held-out group.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from typing import Literal, Protocol, TypeAlias, get_args

import numpy as np
import scipy.linalg as sla
import scipy.sparse as sp

from textrank._ragged import expand, offsets
from textrank.candidates import PreferenceGraph, Targets
from textrank.features import Features, Indices, Matrix, SparseMatrix, Vector
from textrank.learners.base import (
    Fit,
    NestedScores,
    RegularizationPath,
    SelectionMetric,
    check_alphas,
    check_data,
    check_metric,
    check_targets,
    check_unweighted,
    choose_alpha,
    rows_by_group,
)
from textrank.learners.holdout import (
    GroupChanges,
    changes_by_group,
    coefs_with_bias,
    heldout_with_bias,
    nested_by_inverse,
    nested_by_retraining,
    pack_changes,
    solve_regular,
    weights_with_bias,
)
from textrank.linalg import (
    EPSILON,
    MAX_GRAM_ERROR,
    Spectrum,
    check_dense_size,
    decompose_features,
    gram,
    inverse,
    is_gram_accurate,
    not_psd_error,
    to_dense,
)

Cost: TypeAlias = Literal["magnitude", "sign", "bound"]
REFINEMENT_STEPS = 3  # of the coefficients at most, O(n^2) each
SMALL_RESIDUAL = 1e-11  # of the coefficients, relative to the pull
MAX_HOLDOUT_OPERATIONS = 1e11  # multiplications to hold out group by group; else in folds
HOLDOUT_FOLDS = 10
TRIANGLE_BLOCK = 128  # columns of a triangular product that are computed at once
MAX_SPARSE_SHARE = 1 / 16  # of entries in a Laplacian for which sparse products are faster


class Preferences(Protocol):
    """Preferences within queries: the root ``R`` of a Laplacian, block diagonal by query.

    ``R`` (n, n) is the symmetric positive semi-definite matrix with ``R R = L``, the Laplacian of
    the preferences (see the module). ``R f`` holds differences of scores ``f`` within queries,
    weighted; it forgets the level of each query.
    """

    def root(self, X: Matrix | SparseMatrix) -> Matrix:
        """Return ``R X`` for ``X`` (n, m) or (n,), dense."""

    def reduce(self, X: Matrix) -> Matrix:  # (n, m) -> (r, m)
        """Return ``D B X`` (r, m): R without its null space, for ``X`` (n, m).

        ``R = B' D B`` with orthonormal rows of ``B`` (r, n) and a positive diagonal ``D``.
        """

    def expand(self, U: Matrix) -> Matrix:  # (r, m) -> (n, m)
        """Return ``B' U`` (n, m) for ``U`` (r, m), so that ``expand(reduce(X))`` is ``R X``."""

    def target(self, Y: Matrix) -> Matrix:
        """Return ``R s`` (n, p) for the potentials ``s`` of the labels ``Y`` (n, p).

        Potentials are numbers whose differences are the differences of scores that preferences ask
        for.
        """

    def pseudo_inverse(self, group: Indices) -> tuple[Matrix, Matrix]:  # (h, h), (h, c)
        """Return the pseudo-inverse (h, h) of ``R`` on some rows, and its null space (h, c).

        ``R`` is the symmetric root of the Laplacian; its rows and columns ``group`` (h,), which
        must be those of whole queries, form a block of it. The ``c`` columns of the null space are
        orthonormal vectors ``v`` with ``R v = 0``: one for each set of candidates that preferences
        connect, mostly the constant vector of each query. Rows of both results are in the order of
        ``group``.
        """


@dataclass(frozen=True, eq=False)
class QueryCentring:
    """Preferences of all pairs of a query, magnitudes kept: ``L_q = scale_q (I - 11'/h)``.

    ``scale`` is the size ``h`` of the query, so that every pair counts alike, or, if
    ``normalised``, ``2 / (h - 1)``, so that every query counts alike. This is cost (21) of
    Pahikkala et al. (2009). Nothing larger than the data is formed.
    """

    query: Indices  # (n,) numbers 0 ..
    normalised: bool = False

    @cached_property
    def size(self) -> Indices:  # (n,) of its query
        """Number of candidates in the query of each candidate, (n,)."""
        return np.bincount(self.query)[self.query]

    @cached_property
    def scale(self) -> Vector:  # (n,)
        """Factor of each candidate's query, (n,): its size h, or ``2 / (h - 1)`` if normalised.

        The latter is 2 for queries of one.
        """
        size = self.size.astype(np.float64)
        return 2.0 / np.maximum(size - 1, 1) if self.normalised else size

    @cached_property
    def _means(self) -> SparseMatrix:
        """Matrix (q, n) that takes the mean of each query; queries are numbered without gaps."""
        n = len(self.query)
        cells = (1.0 / self.size, (self.query, np.arange(n)))
        return sp.csr_array(cells, shape=(int(self.query.max()) + 1, n))

    def root(self, X: Matrix | SparseMatrix) -> Matrix:
        """Return ``R X``: differences from the mean of the query, times the root of its scale.

        ``X`` is (n, m) or (n,); the result is a new dense array of that shape.
        """
        means = self._means @ X
        dense = to_dense(means).take(self.query, axis=0)
        np.subtract(to_dense(X), dense, out=dense)
        dense *= np.sqrt(self.scale).reshape(-1, *[1] * (dense.ndim - 1))
        return dense

    def reduce(self, X: Matrix) -> Matrix:
        """Return ``D B X`` (n - q, m) for ``X`` (n, m), with ``R = B' D B`` as in ``Preferences``.

        ``B`` reflects the mean of each query of h candidates to its first one, ``x_0``, which is
        dropped; the others become ``x_i + (x_0 - sum x / √h) / (√h - 1)``, in the order of rows.
        ``D`` multiplies by the root of the query's scale. A query of one candidate gives no row.
        """
        rest = self._rest
        reduced: Matrix = (self._mirror @ X).take(self.query[rest], axis=0)
        reduced += X[rest]
        reduced *= np.sqrt(self.scale)[rest, None]
        return reduced

    def expand(self, U: Matrix) -> Matrix:
        """Return ``B' U`` (n, m) for ``U`` (n - q, m): back from ``reduce``, without its scale.

        A query of one candidate gets zeros.
        """
        rest = self._rest
        cells = (np.ones(len(rest)), (self.query[rest], np.arange(len(rest))))
        sums = sp.csr_array(cells, shape=(self._mirror.shape[0], len(rest)))
        expanded: Matrix = self._mirror.T @ (sums @ U)
        expanded[rest] += U
        return expanded

    @cached_property
    def _first(self) -> Indices:  # (q,)
        """First candidate of each query, (q,), by query number."""
        return np.unique(self.query, return_index=True)[1]

    @cached_property
    def _rest(self) -> Indices:  # (n - q,)
        """All candidates but the first of each query, (n - q,), ascending."""
        return np.delete(np.arange(len(self.query)), self._first)

    @cached_property
    def _mirror(self) -> SparseMatrix:  # (q, n)
        """Matrix (q, n) of ``(x_0 - sum x / √h) / (√h - 1)`` for each query of h candidates.

        ``x_0`` is the value of the first candidate of the query. Zero for queries of one.
        """
        n = len(self.query)
        root = np.sqrt(self.size)
        share = np.divide(1.0, root - 1, out=np.zeros(n), where=self.size > 1)
        values = -share / root
        values[self._first] += share[self._first]
        cells = (values, (self.query, np.arange(n)))
        return sp.csr_array(cells, shape=(len(self._first), n))

    def laplacian(self) -> Callable[[Vector], Vector]:
        """Return a function ``u -> L u`` of one vector (n,), in O(n); ``u`` is not changed.

        It subtracts the mean of each query and multiplies by the query's scale.
        """
        query, scale = self.query, self.scale
        share = 1.0 / np.bincount(query)
        return lambda u: (u - (np.bincount(query, u) * share)[query]) * scale

    def target(self, Y: Matrix) -> Matrix:
        """Return ``R Y``: the labels (n, p) are the potentials."""
        return self.root(Y)

    def pseudo_inverse(self, group: Indices) -> tuple[Matrix, Matrix]:
        """Return the pseudo-inverse (h, h) of ``R`` on whole queries and their levels (h, c).

        ``group`` (h,) are the rows of ``c`` whole queries. The null space holds one constant vector
        of length one per query, whose level ``R`` removes.
        """
        if self.size[group[0]] == len(group):  # one whole query
            return _centred(len(group), float(self.scale[group[0]]))
        local = np.unique(self.query[group], return_inverse=True)[1]
        null = np.eye(int(local.max()) + 1)[local] / np.sqrt(self.size[group])[:, None]
        inverse = (np.eye(len(group)) - null @ null.T) / np.sqrt(self.scale[group])[:, None]
        return inverse, null


@lru_cache(maxsize=1024)
def _centred(h: int, scale: float) -> tuple[Matrix, Matrix]:
    """Return pseudo-inverse (h, h) and null space (h, 1) of ``R`` for one whole query.

    ``h`` is its number of candidates, ``scale`` the factor of its pairs. The arrays are cached: do
    not change them.
    """
    return (np.eye(h) - 1.0 / h) / np.sqrt(scale), np.full((h, 1), h**-0.5)


@dataclass(frozen=True, eq=False)
class PreferenceLaplacian:
    """Any preferences within queries: the block of the Laplacian of each query, decomposed.

    Costs one small eigendecomposition per query.
    """

    query: Indices  # (n,) numbers 0 ..
    queries: Sequence[Indices]  # the rows of each
    values: Sequence[Vector]  # (h,) eigenvalues, zeros for the null space
    vectors: Sequence[Matrix]  # (h, h)
    pulls: Sequence[Matrix]  # (h, p): the pull of the preferences on each candidate, see ``_block``

    @classmethod
    def from_labels(
        cls, y: Matrix, query: Indices, cost: Cost, *, normalised: bool
    ) -> PreferenceLaplacian:
        """Build the preferences between differently labelled candidates of each query.

        ``y`` is (n, 1), ``query`` (n,) numbered from 0. By ``cost`` a preference asks for the
        difference of the labels (``magnitude``, and ``bound`` with weight one over its square) or
        for 1 (``sign``). If ``normalised``, the weights of a query's preferences are divided by
        their number. Equally labelled pairs make no preference.
        """
        queries = rows_by_group(query, len(y), name="queries")
        blocks = [_block(y[rows, 0], cost, normalised) for rows in queries]
        decomposed = [np.linalg.eigh(L) for L, _ in blocks]
        values = [_zero_round_off(w) for w, _ in decomposed]
        return cls(query, queries, values, [v for _, v in decomposed], [pull for _, pull in blocks])

    def root(self, X: Matrix | SparseMatrix) -> Matrix:
        """Return ``R X`` for ``X`` (n, m) or (n,), query by query, as a new dense array."""
        dense = X.toarray() if isinstance(X, sp.sparray) else X
        result = np.empty(dense.shape)
        for rows, w, V in self._blocks():
            result[rows] = (V * np.sqrt(w)) @ (V.T @ dense[rows])
        return result

    def reduce(self, X: Matrix) -> Matrix:
        """Return ``D B X`` (r, m) for ``X`` (n, m), query by query.

        There is one row per positive eigenvalue of the Laplacian; no row for a query without
        preferences.
        """
        parts = [
            np.sqrt(w[w > 0])[:, None] * (V[:, w > 0].T @ X[rows]) for rows, w, V in self._blocks()
        ]
        return np.concatenate([np.empty((0, X.shape[1])), *parts])

    def expand(self, U: Matrix) -> Matrix:
        """Return ``B' U`` (n, m), query by query, for ``U`` (r, m) with the rows of ``reduce``.

        Candidates of a query without preferences get zeros.
        """
        result, start = np.zeros((len(self.query), U.shape[1])), 0
        for rows, w, V in self._blocks():
            end = start + int((w > 0).sum())
            result[rows] = V[:, w > 0] @ U[start:end]
            start = end
        return result

    def _blocks(self) -> Iterator[tuple[Indices, Vector, Matrix]]:
        """Yield rows (h,), eigenvalues (h,) and eigenvectors (h, h) of each query, by number."""
        return zip(self.queries, self.values, self.vectors, strict=True)

    def target(self, Y: Matrix) -> Matrix:
        """Return ``R^+ p`` (n, p), which is ``R s``, for the stored pulls ``p``.

        ``R^+`` is the pseudo-inverse. Of ``Y`` (n, p) only the shape is used: the pulls were
        computed from the labels.
        """
        result = np.empty(Y.shape)
        for rows, w, V, pull in zip(
            self.queries, self.values, self.vectors, self.pulls, strict=True
        ):
            result[rows] = (V * _inverse_root(w)) @ (V.T @ pull)
        return result

    def pseudo_inverse(self, group: Indices) -> tuple[Matrix, Matrix]:
        """Return the pseudo-inverse (h, h) of ``R`` on whole queries and its null space (h, c).

        ``group`` (h,) are the rows of whole queries, each in ascending order. The null space has
        one vector per connected component of preferences.
        """
        inverse, nulls = np.zeros((len(group), len(group))), []
        for number in np.unique(self.query[group]).tolist():
            local = np.flatnonzero(self.query[group] == number)
            w, V = self.values[number], self.vectors[number]
            inverse[np.ix_(local, local)] = (V * _inverse_root(w)) @ V.T
            null = np.zeros((len(group), int((w == 0).sum())))
            null[local] = V[:, w == 0]
            nulls.append(null)
        return inverse, np.hstack(nulls)


def _block(y: Vector, cost: Cost, normalised: bool) -> tuple[Matrix, Matrix]:
    """Return the Laplacian (h, h) of the preferences of one query, and their pulls (h, 1).

    ``y`` (h,) are labels; each two that differ make a preference of weight 1, or one over the
    squared difference for the cost ``bound``. If ``normalised``, weights are divided by the number
    of preferences. The pull on a candidate is the sum of weight times wanted difference (its sign
    for the cost ``sign``) over its preferences.
    """
    gap = y[:, None] - y[None, :]
    differ = gap != 0
    weight = differ.astype(np.float64)  # w^2 of each edge
    if cost == "bound":
        weight[differ] = 1.0 / gap[differ] ** 2
    goal = np.sign(gap) if cost == "sign" else gap
    if normalised and differ.any():
        weight /= differ.sum() / 2
    L = np.diag(weight.sum(axis=1)) - weight
    return L, (weight * goal).sum(axis=1)[:, None]


def _level_operator(
    y: Vector, query: Indices, cost: Cost, normalised: bool
) -> tuple[Callable[[Vector], Vector], Vector]:
    """Return ``u -> L u`` and the pull (n,) of the preferences between different labels of a query.

    ``query`` (n,) is numbered from 0. ``normalised`` divides the weights of a query by its number
    of pairs. The weight of a pair depends on its two labels alone, so that sums over the candidates
    of each label suffice: O(n) per product, and for the cost ``bound`` (weight ``1 / gap^2``) the
    square of the number of different labels of a query, which are stored. Other costs have weight 1
    and differ in the pull: ``L y`` for ``magnitude``, else the number of lower minus higher labels.
    """
    keys, level = np.unique(np.column_stack([query, y]), axis=0, return_inverse=True)
    level = level.ravel()
    of_level = keys[:, 0].astype(np.intp)
    size = np.bincount(level).astype(np.float64)
    total = np.bincount(query).astype(np.float64)
    pairs = (total**2 - np.bincount(of_level, size**2)) / 2
    scale = 1.0 / np.maximum(pairs, 1.0)[query] if normalised else np.ones(len(y))

    if cost == "bound":
        tables = []
        for labels in np.split(keys[:, 1], np.flatnonzero(np.diff(of_level)) + 1):
            gap = labels[:, None] - labels
            tables.append(np.divide(1.0, gap, out=np.zeros_like(gap), where=gap != 0))
        inverse_gaps = sp.csr_array(sp.block_diag([sp.coo_array(table) for table in tables]))
        weights = inverse_gaps.multiply(inverse_gaps).tocsr()
        degree = (weights @ size)[level]
        pull = (inverse_gaps @ size)[level]

        def apply_bound(u: Vector) -> Vector:
            """Return ``L u`` (n,) for the cost ``bound``."""
            sums = np.bincount(level, u, minlength=len(size))
            return np.asarray(scale * (degree * u - (weights @ sums)[level]))

        return apply_bound, scale * pull

    degree = total[query] - size[level]

    def apply_equal(u: Vector) -> Vector:
        """Return ``L u`` (n,) if all pairs of different labels of a query have one weight."""
        sums = np.bincount(query, u)[query] - np.bincount(level, u, minlength=len(size))[level]
        return np.asarray(scale * (degree * u - sums))

    if cost == "magnitude":
        return apply_equal, apply_equal(y)
    ahead = np.cumsum(size) - size  # candidates of lower labels, of all queries before too
    start = (np.cumsum(total) - total)[of_level]
    lower = (ahead - start)[level]
    return apply_equal, scale * (2 * lower + size[level] - total[query])


def _zero_round_off(w: Vector) -> Vector:
    """Return ascending eigenvalues with those that are only round-off of the largest set to zero.

    These are all up to 1e-12 h times the largest, negative ones included; all if none is positive.
    ``w`` (h,) must not be empty.
    """
    top = max(float(w[-1]), 0.0)
    return np.where(w > 1e-12 * top * len(w), w, 0.0) if top else np.zeros(len(w))


def _inverse_root(w: Vector) -> Vector:
    """Return ``1 / sqrt(w)``, 0 for zeros; ``w`` (h,) are eigenvalues, not negative."""
    return np.divide(1.0, np.sqrt(w), out=np.zeros(len(w)), where=w > 0)


def heldout_by_query(
    spectrum: Spectrum,
    read: Callable[[SparseMatrix], Matrix],
    target: Matrix,
    B: Matrix,
    alphas: Vector,
    groups: Sequence[Indices],
    preferences: Preferences,
) -> Matrix:  # (a, n, p)
    """Return held-out scores (a, n, p) at every alpha, each without its group of whole queries.

    ``spectrum`` is of ``R K R``, ``target`` (n, p) is ``R s``, ``B`` (a, n, p) its coefficients,
    ``groups`` are row numbers of whole queries, and ``read(N)`` returns ``N K R Q`` for a sparse
    ``N`` (c, n). Candidates of no group score NaN. Groups must not be empty and must not overlap.
    Raises ValueError if the data are so large that alpha is round-off.

    With ``R`` the root of the Laplacian and ``G = (R K R + alpha I)^-1``, least squares on
    ``R K R`` gives the differences inside the held-out queries, ``R f = R s - x`` with
    ``x = G_UU^-1 b_U``; what ``R`` forgets, the level of each query, is read from the remaining
    coefficients. The null space of ``R`` is projected out of both: round-off along it would grow
    like ``1 / alpha``.
    """
    heldout = np.full((len(alphas), *target.shape), np.nan)
    inverses = [preferences.pseudo_inverse(group) for group in groups]
    if not groups:
        return heldout
    nulls, starts = _nulls(groups, [null for _, null in inverses], spectrum.n)
    levels = read(nulls)
    inverse = 1.0 / (spectrum.w[:, None] + alphas)
    smallest = inverse.min(axis=0, initial=1.0 / alphas.min())
    inside = replace(spectrum, Q=spectrum.Q - nulls.T @ (nulls @ spectrum.Q))
    fitted = _fitted_levels(levels, inverse, spectrum.Q.T @ target)  # (all c, a, p)

    for members in _alike(inverses):
        index = np.stack([groups[g] for g in members])
        pinv, N = (np.stack([inverses[g][k] for g in members])[:, None] for k in (0, 1))
        rows = starts[members][:, None] + np.arange(N.shape[-1])
        b = B[:, index].transpose(1, 0, 2, 3)
        T = N.swapaxes(-1, -2)
        # Inside the complement of N alone; N N' makes the blocks regular and changes nothing there
        # if it is of their size.
        G = inside.blocks(index, alphas)
        mean = np.einsum("bahh->ba", G) / index.shape[1]
        G = G + np.maximum(mean, smallest)[:, :, None, None] * (N @ T)
        x = solve_regular(G, b - N @ (T @ b))
        cross = _cross(levels[rows], spectrum.Q[index], inverse)
        level = fitted[rows].transpose(0, 2, 1, 3) - cross @ x
        scores = pinv @ (target[index][:, None] - x) + N @ level
        heldout[:, index] = scores.transpose(1, 0, 2, 3)
    return heldout


def _nulls(
    groups: Sequence[Indices], nulls: Sequence[Matrix], n: int
) -> tuple[SparseMatrix, Indices]:
    """Return the null spaces of all groups as rows (all c, n), and the first row of each group.

    ``nulls`` are the null spaces (h, c) of the ``groups``, as ``pseudo_inverse`` returns them;
    there must be at least one group.
    """
    heights, counts = np.array([null.shape for null in nulls], dtype=np.intp).T
    starts = offsets(counts)
    null, height = expand(starts[:-1], counts)[1], np.repeat(heights, counts)
    entries = expand(np.repeat(offsets(heights)[:-1], counts), height)[1]
    columns = np.concatenate(groups)[entries]
    values = np.concatenate([null.T.ravel() for null in nulls])
    cells = (values, (np.repeat(null, height), columns))
    return sp.csr_array(cells, shape=(int(starts[-1]), n)), starts[:-1]


def _fitted_levels(levels: Matrix, inverse: Matrix, Z: Matrix) -> Matrix:  # -> (c, a, p)
    """Return ``levels diag(inverse) Z`` at every alpha, (c, a, p).

    ``levels`` is (c, r), ``inverse`` (r, a) and ``Z`` (r, p).
    """
    p = Z.shape[1]
    scaled = (inverse[:, :, None] * Z[:, None, :]).reshape(len(inverse), inverse.shape[1] * p)
    return (levels @ scaled).reshape(len(levels), inverse.shape[1], p)


def _alike(inverses: Sequence[tuple[Matrix, Matrix]], most: int = 1 << 14) -> Iterator[Indices]:
    """Yield numbers of groups of equal size ``h`` and equal number of levels ``c``, in batches.

    ``inverses`` are the results of ``pseudo_inverse`` of each group. A batch has at most ``most``
    numbers in its blocks (h, h), but at least one group.
    """
    shapes = np.array([null.shape for _, null in inverses])
    for h, c in sorted({null.shape for _, null in inverses}):
        same = np.flatnonzero((shapes == (h, c)).all(axis=1))
        step = max(1, most // int(h * h))
        for start in range(0, len(same), step):
            yield same[start : start + step]


def _cross(levels: Matrix, Q: Matrix, inverse: Matrix) -> Matrix:  # -> (b, a, c, h)
    """Return ``levels diag(inverse) Q'`` for every group and alpha, (b, a, c, h).

    ``levels`` is (b, c, r), ``Q`` (b, h, r) and ``inverse`` (r, a).
    """
    b, c, r = levels.shape
    h = Q.shape[1]
    rows = (levels[:, :, None, :] * Q[:, None, :, :]).reshape(b * c * h, r)
    return (rows @ inverse).reshape(b, c, h, inverse.shape[1]).transpose(0, 3, 1, 2)


@dataclass(frozen=True)
class RankRLS:
    """Regularised least squares on preferences.

    Minimises ``sum w^2 (z - f(x_h) + f(x_j))^2 + alpha ||f||^2``.

    The sum runs over pairs ``(h, j)`` of a query, ``scope="query"``, or over all pairs,
    ``scope="global"``; with two labels the latter maximises AUC. The costs: ``magnitude`` asks
    for the difference of the labels (``z = y_h - y_j``, ``w = 1``), ``sign`` only for its sign
    (``z = w = 1``), ``bound`` relative to it (``z = y_h - y_j``, ``w = 1 / z``), which bounds the
    number of wrongly ordered pairs. Equally labelled pairs count if ``ties`` is true and the cost
    is ``magnitude``. ``normalised`` divides the weight of a query's pairs by their number.

    One eigendecomposition of the symmetric ``R K R``, ``R`` the root of the Laplacian of the
    preferences, serves every alpha. Held out are whole documents, which hold whole queries.

    If the targets have a preference graph (``Targets.preferences``), the sum runs over its
    preferences instead, and labels and queries are not used; ``scope`` must be ``query`` and
    ``ties`` true then. A document is held out with all its preferences.

    Pahikkala, Tsivtsivadze, Airola, Järvinen and Boberg (2009), Machine Learning 75.

    >>> K = np.array([[2.0, 1.0, 0.0], [1.0, 2.0, 0.0], [0.0, 0.0, 2.0]])
    >>> queries = np.array([0, 0, 1])
    >>> fit = RankRLS(alphas=[1.0]).fit(K, Targets(np.array([1.0, 0.0, 5.0]), queries, queries))
    >>> fit.coef.round(3) + 0.0    # the lone candidate of the second query says nothing
    array([ 0.333, -0.333,  0.   ])
    """

    alphas: Sequence[float] = (0.25, 0.5, 1.0, 2.0, 4.0)
    select: SelectionMetric = "disagreement"
    cost: Cost = "magnitude"
    scope: Literal["query", "global"] = "query"
    ties: bool = True
    normalised: bool = False

    def __post_init__(self) -> None:
        """Store the alphas as a tuple; raise ValueError for settings outside their range.

        Alphas are positive and distinct; ``select``, ``cost`` and ``scope`` are among their names.
        """
        object.__setattr__(self, "alphas", check_alphas(self.alphas))
        check_metric(self.select)
        if self.cost not in get_args(Cost):
            raise ValueError(f"cost must be one of {', '.join(get_args(Cost))}, got {self.cost!r}")
        if self.scope not in ("query", "global"):
            raise ValueError(f"scope must be query or global, got {self.scope!r}")

    def fit(self, data: Matrix | Features, targets: Targets) -> Fit:
        """Train on a Gram matrix or on features and choose alpha by held-out scores.

        A preference graph is learned from instead of labels and queries; ``select`` looks at it for
        "disagreement", at the labels for other metrics. Raises ValueError as ``path``, and if the
        metric is undefined.
        """
        targets = self._scoped(targets)
        path = self.path(data, targets)
        return path.select(choose_alpha(path.heldout, targets, self.select, path.alphas))

    def path(self, data: Matrix | Features, targets: Targets) -> RegularizationPath:
        """Return coefficients, or feature weights, and held-out scores at every alpha.

        A Gram matrix (n, n) gives coefficients of candidates (alphas, n), ``Features`` give feature
        weights (alphas, d). Held-out scores are (alphas, n). A preference graph takes the place of
        labels and queries, and raises the ValueErrors of ``weigh``. Raises ValueError for sample
        weights and, within queries, for a query that reaches into two groups.
        """
        check_unweighted(targets, "rankrls.v1")
        A, heldout = self.solve(data, targets.y, targets)
        return RegularizationPath(tuple(self.alphas), A[:, :, 0], heldout[:, :, 0])

    def solve(
        self, data: Matrix | Features, y: Vector | Matrix, targets: Targets
    ) -> tuple[Matrix, Matrix]:  # (a, n, p) or (a, d, p), (a, n, p)
        """Return coefficients or feature weights, and held-out scores, of several outputs at once.

        They are (a, n, p) with a Gram matrix or (a, d, p), and (a, n, p). ``y`` (n, p), or (n,) for
        one output, replaces the labels of ``targets``, whose groups and queries all outputs share.
        With the cost ``magnitude`` and ties, one decomposition serves all outputs; other costs
        decompose once for each. With a preference graph there is one output, ``y`` is not used, and
        ValueErrors are those of ``weigh``. Sample weights are ignored. Raises ValueError for a
        query that reaches into two groups, unless the scope is global.
        """
        matrix, dual = check_data(data)
        alphas = np.array(self.alphas)
        if targets.preferences is not None:
            graph = self.weigh(targets)
            A, heldout = preference_path(matrix, graph, alphas, targets.groups, dual=dual)
            return A[:, :, None], heldout[:, :, None]
        targets = self._scoped(targets)
        Y = check_targets(y, matrix.shape[0])
        groups = rows_by_group(targets.groups, len(Y), name="documents")
        if self.scope == "query":
            _check_queries(targets.queries, targets.groups)
        shared = self.cost == "magnitude" and self.ties
        parts = []
        for columns in [Y] if shared else [Y[:, [k]] for k in range(Y.shape[1])]:
            if self.scope == "query":
                preferences = self.preferences(replace(targets, y=columns[:, 0]))
                parts.append(rank_path(matrix, columns, preferences, alphas, groups, dual=dual))
            else:
                parts.append(self._global_path(matrix, columns, groups, dual))
        A, heldout = (np.concatenate(arrays, axis=2) for arrays in zip(*parts, strict=True))
        return A, heldout

    def nested(
        self, data: Matrix | Features, targets: Targets, partitions: Sequence[Indices]
    ) -> list[NestedScores]:
        """Return test scores and inner held-out scores of every partition into folds, in order.

        A partition is the fold number of each candidate (n,); ValueError if a group is in two
        folds, there is only one fold, a query reaches into two groups, and for sample weights.
        Within queries one inverse per alpha serves all, as for RLS. A global ranking, a preference
        graph, features fewer than a third of the candidates, or whose Gram matrix would lose
        digits, train once per fold.
        """
        check_unweighted(targets, "rankrls.v1")
        matrix, dual = check_data(data)
        if targets.preferences is not None:
            return nested_by_retraining(self, data, targets, partitions)
        if self.scope == "global" or (not dual and 3 * matrix.shape[1] < len(targets)):
            return nested_by_retraining(self, data, targets, partitions)
        # Preferences multiply squares by the size of a query at most.
        largest = float(np.bincount(np.unique(targets.queries, return_inverse=True)[1]).max())
        if not dual and not is_gram_accurate(matrix, min(self.alphas) / largest):
            return nested_by_retraining(self, data, targets, partitions)
        _check_queries(targets.queries, targets.groups)
        K = np.asarray(matrix) if dual else gram(matrix)
        preferences = self.preferences(targets)
        readout = preferences.root(K).T
        y = preferences.target(check_targets(targets.y, len(K)))[:, 0]
        alphas = tuple(self.alphas)
        return nested_by_inverse(
            preferences.root(readout), y, targets.groups, partitions, alphas, readout=readout
        )

    def coefs(self, data: Matrix | Features, targets: Targets) -> Matrix:  # (a, n) or (a, d)
        """Return coefficients (a, n), or feature weights (a, d); nothing is held out.

        A preference graph takes the place of labels and queries, and raises the ValueErrors of
        ``weigh``. Groups and sample weights of the targets are ignored, so a query may be in
        several groups.
        """
        matrix, dual = check_data(data)
        if targets.preferences is not None:
            alphas = np.array(self.alphas)
            return preference_path(matrix, self.weigh(targets), alphas, None, dual=dual)[0]
        targets = self._scoped(targets)
        Y = check_targets(targets.y, matrix.shape[0])
        A, _ = rank_path(matrix, Y, self.preferences(targets), np.array(self.alphas), [], dual=dual)
        return A[:, :, 0]

    def weigh(self, targets: Targets) -> WeightedGraph:
        """Return the edges of the targets' preference graph, weighted by ``cost``.

        Raises ValueError if there is no preference, and for another ``scope`` than "query" or
        ``ties`` False, which have no effect on given preferences.
        """
        graph = targets.preferences
        if graph is None or not len(graph):
            raise ValueError("no preference between two training candidates: nothing can be learnt")
        if self.scope != "query" or not self.ties:
            raise ValueError(
                "scope and ties choose pairs of labelled candidates. With given preferences leave "
                'them at scope = "query" and ties = true.'
            )
        return weigh_edges(graph, len(targets), self.cost, normalised=self.normalised)

    def operator(self, targets: Targets) -> tuple[Callable[[Vector], Vector], Vector]:
        """Return the Laplacian as a function ``u -> L u`` of a vector (n,), and the pull (n,).

        The pull is ``L s`` for the potentials ``s``, the right side of the equations. For conjugate
        gradients: nothing of size n x n is formed. A preference graph takes precedence over labels;
        raises ValueError if it is empty, or with another ``scope`` than "query" or ``ties`` False.
        Groups and sample weights are ignored.
        """
        if targets.preferences is not None:
            graph = self.weigh(targets)
            return lambda u: np.asarray(graph.laplacian @ u), graph.pull
        targets = self._scoped(targets)
        y = check_targets(targets.y, len(targets))[:, 0]
        query = np.unique(targets.queries, return_inverse=True)[1]
        if self.cost == "magnitude" and self.ties:
            apply_laplacian = QueryCentring(query, self.normalised).laplacian()
            return apply_laplacian, apply_laplacian(y)
        return _level_operator(y, query, self.cost, self.normalised)

    def leave_both_out(self, data: Matrix | Features, targets: Targets, alpha: float) -> Vector:
        """Return the predicted difference (l,) of each given preference, both sides held out.

        The model is trained without the groups of the two candidates and all their preferences. The
        order is that of ``targets.preferences``, a difference is the better one's score less the
        worse one's. Raises ValueError without preferences, and with another ``scope`` than "query"
        or ``ties`` False.
        """
        matrix, dual = check_data(data)
        edges = self.weigh(targets)
        problem = PreferenceProblem.from_data(matrix, edges, alpha, dual=dual)
        assert targets.preferences is not None  # checked by weigh
        return heldout_differences(problem, targets.preferences, alpha, targets.groups)

    def group_changes(
        self, data: Matrix | Features, targets: Targets, alpha: float
    ) -> GroupChanges | None:
        """Return the changes of the model at ``alpha`` without each group of queries.

        ``R`` is block diagonal by query, so the coefficients ``b`` of least squares on ``R K R``
        change as those of RLS, and ``a = R b``. Changes are packed as by ``pack_changes``. None for
        a global ranking and for a preference graph, where a document takes part in pairs with
        others. Raises ValueError for sample weights and for a query that reaches into two groups.
        Costs one inverse (n, n).
        """
        if self.scope == "global" or targets.preferences is not None:
            return None
        check_unweighted(targets, "rankrls.v1")
        _check_queries(targets.queries, targets.groups)
        matrix, dual = check_data(data)
        preferences = self.preferences(targets)
        K = preferences.root(preferences.root(np.asarray(matrix) if dual else gram(matrix)).T)
        G = inverse((K + K.T) / 2, alpha)
        b = G @ preferences.target(check_targets(targets.y, len(G)))[:, 0]
        groups = rows_by_group(targets.groups, len(b), name="documents")
        changes = preferences.root(changes_by_group(G, b, groups))
        return pack_changes(changes, None if dual else matrix)

    def preferences(self, targets: Targets) -> Preferences:
        """Return the preferences that these settings derive from labels and queries.

        A ``QueryCentring`` for the cost ``magnitude`` with ties, which needs no labels, else a
        ``PreferenceLaplacian``. ``scope`` and a preference graph are not looked at here.
        """
        query = np.unique(targets.queries, return_inverse=True)[1]
        if self.cost == "magnitude" and self.ties:
            return QueryCentring(query, self.normalised)
        y = check_targets(targets.y, len(query))
        return PreferenceLaplacian.from_labels(y, query, self.cost, normalised=self.normalised)

    def _scoped(self, targets: Targets) -> Targets:
        """Return the targets, with one query for all candidates if the scope is global.

        For the scope "query" they are returned as they are.
        """
        if self.scope == "query":
            return targets
        return replace(targets, queries=np.zeros(len(targets), dtype=np.intp))

    def _global_path(
        self, matrix: Matrix | SparseMatrix, Y: Matrix, groups: Sequence[Indices], dual: bool
    ) -> tuple[Matrix, Matrix]:
        """Return coefficients and held-out scores of a global ranking at every alpha.

        ``matrix`` is a Gram matrix (``dual``) or features, ``Y`` (n, p) labels, ``groups`` the rows
        held out together, of any size. Coefficients are (a, n, p), or (a, d, p) for features;
        held-out scores (a, n, p). Closed form for the cost ``magnitude`` with ties. Else
        preferences are those of the first column of ``Y``, so there must be one only, and each
        group costs one training.
        """
        one = np.zeros(len(Y), dtype=np.intp)
        alphas = np.array(self.alphas)
        targets = Targets(Y[:, 0], one, one)
        preferences = self.preferences(targets)
        if isinstance(preferences, QueryCentring):
            shrunk = self._shrink(alphas)
            spectrum = _decompose(matrix, dual, float(shrunk(len(Y)).min()))
            heldout = heldout_with_bias(spectrum, Y, shrunk, groups)
            if spectrum.V is not None:
                return weights_with_bias(spectrum, Y, shrunk(len(Y))), heldout
            A = coefs_with_bias(spectrum, Y, shrunk(len(Y)))
            return (A if dual else _feature_weights(matrix, A)), heldout

        A, _ = rank_path(matrix, Y, preferences, alphas, [], dual=dual)
        # Other costs change their whole Laplacian with every group: train once for each.
        heldout = np.empty((len(alphas), *Y.shape))
        K = np.asarray(matrix) if dual else None
        # Of ``w^2`` in all pairs the largest eigenvalue is their number times the largest of them.
        bound = 2 * float(np.abs(preferences.root(np.eye(len(Y))) ** 2).sum(axis=1).max())
        if not dual and 2 * matrix.shape[1] > len(Y):
            K = gram(matrix) if is_gram_accurate(matrix, float(alphas.min()) / bound) else None
        for out in groups:
            rest = np.setdiff1d(np.arange(len(Y)), out)
            inner = self.preferences(targets.take(rest))
            if K is None:
                a, _ = rank_path(matrix[rest], Y[rest], inner, alphas, [], dual=False)
                heldout[:, out] = np.stack([matrix[out] @ one for one in a])
            else:
                a, _ = rank_path(K[np.ix_(rest, rest)], Y[rest], inner, alphas, [], dual=True)
                heldout[:, out] = K[np.ix_(out, rest)] @ a
        return A, heldout

    def _shrink(self, alphas: Vector) -> Callable[[int], Vector]:
        """Return a function from a number of candidates to the alphas of RLS with a free bias.

        They are ``alphas / n``, or ``alphas (n - 1) / 2`` if ``normalised``. A global ranking with
        these preferences equals RLS with an unpenalised bias.
        """
        if self.normalised:
            return lambda n: alphas * max(n - 1, 1) / 2
        return lambda n: alphas / max(n, 1)


def rank_path(
    data: Matrix | SparseMatrix,
    Y: Matrix,
    preferences: Preferences,
    alphas: Vector,
    groups: Sequence[Indices],
    *,
    dual: bool,
) -> tuple[Matrix, Matrix]:  # (a, n, p), (a, n, p)
    """Return coefficients (``dual``) or feature weights, and held-out scores, at every alpha.

    ``data`` is a checked Gram matrix (n, n) if ``dual``, else features (n, d); ``Y`` (n, p) are
    labels. ``groups`` are row numbers that are held out together and must hold whole queries.
    Coefficients are (a, n, p), feature weights (a, d, p), held-out scores (a, n, p), NaN for rows
    of no group.
    """
    target = preferences.target(Y)
    spectrum, read = _rooted(data, preferences, dual, float(alphas.min()))
    B = spectrum.coefs(target, alphas)
    heldout = heldout_by_query(spectrum, read, target, B, alphas, groups, preferences)
    if spectrum.V is not None:
        return spectrum.weights(target, alphas), heldout
    flat = preferences.root(B.transpose(1, 0, 2).reshape(len(Y), -1))
    A = flat.reshape(len(Y), len(alphas), -1).transpose(1, 0, 2)
    return (A if dual else _feature_weights(data, A)), heldout


def _rooted(
    data: Matrix | SparseMatrix, preferences: Preferences, dual: bool, alpha: float
) -> tuple[Spectrum, Callable[[SparseMatrix], Matrix]]:
    """Return the spectrum of ``R K R``, and a function ``N -> N K R Q`` of a sparse ``N`` (c, n).

    ``data`` is a Gram matrix ``K`` (``dual``) or features (n, d). A query of ``h`` candidates has
    ``h - 1`` differences, so what is decomposed is smaller than K. Features are decomposed by the
    Gram matrix of ``R F`` if ``2 d > n`` and it is accurate at ``alpha``, the smallest one in use;
    else themselves, and only then the spectrum has ``V``.
    """
    if dual:
        half = np.ascontiguousarray(preferences.reduce(np.asarray(data)).T)
        # Where the candidates of a query are equal, all that is left is the round-off of the data,
        # of which no entry is above the largest of the diagonal.
        largest = np.abs(half).max(initial=np.diagonal(np.asarray(data)).max())
        inner = Spectrum.from_gram(preferences.reduce(half), size=len(half) * float(largest))
        spectrum = Spectrum(inner.w, preferences.expand(inner.Q), spanning=True)
        return spectrum, lambda N: (N @ half) @ inner.Q
    if 2 * data.shape[1] > data.shape[0]:
        rooted = preferences.root(data)
        if is_gram_accurate(rooted, alpha):
            wide = Spectrum.from_gram(gram(rooted))
            return wide, lambda N: to_dense(N @ data) @ (rooted.T @ wide.Q)
    differences = preferences.reduce(to_dense(data))
    U, s, V = decompose_features(differences)
    Q = np.ascontiguousarray(preferences.expand(U))
    narrow = Spectrum(s**2, Q, spanning=len(s) == len(differences), V=V)
    return narrow, lambda N: to_dense(N @ data) @ (V * s)


def _decompose(matrix: Matrix | SparseMatrix, dual: bool, alpha: float) -> Spectrum:
    """Return the spectrum of a Gram matrix (``dual``) or of features.

    That of features is accurate enough for ``alpha``, the smallest one in use; a Gram matrix is
    decomposed whatever the alpha.
    """
    if dual:
        return Spectrum.from_gram(np.asarray(matrix))
    return Spectrum.from_features(matrix, alpha=alpha)


def _feature_weights(F: Matrix | SparseMatrix, A: Matrix) -> Matrix:  # (a, n, p) -> (a, d, p)
    """Return ``F' A`` (a, d, p): feature weights from coefficients of candidates.

    ``F`` is (n, d) and ``A`` (a, n, p); the alphas are independent.
    """
    a, n, p = A.shape
    W = F.T @ A.transpose(1, 0, 2).reshape(n, a * p)
    return np.asarray(W).reshape(-1, a, p).transpose(1, 0, 2)


def _check_queries(query: Indices, documents: Indices) -> None:
    """Raise ValueError if a query has candidates of two groups.

    ``query`` (n,) and ``documents`` (n,) are the query and the group of each candidate.
    """
    order = np.lexsort((documents, query))
    same = np.diff(query[order]) == 0
    split = same & (np.diff(documents[order]) != 0)
    if split.any():
        row = int(order[1:][split][0])
        raise ValueError(
            f"the query of candidate {row} reaches into document {documents[row]} and another. "
            "A query is ranked together, so it must be held out together."
        )


@dataclass(frozen=True, eq=False)
class WeightedGraph:
    """Weighted edges between n candidates, parallel ones merged: ``sum w (f_i - f_j - z)^2``.

    Preferences between the same two candidates, in either direction, add their weights ``w`` and
    pulls ``w z``. The sum over preferences and that over merged edges differ by a constant.
    """

    n: int
    pairs: Indices  # (e, 2) rows, the smaller one first
    weights: Vector  # (e,) positive
    pulls: Vector  # (e,) weight times wanted difference, of the first row over the second

    @cached_property
    def targets(self) -> Vector:
        """Targets ``t`` (e,) of the weighted differences: pulls over roots of weights."""
        return self.pulls / np.sqrt(self.weights)

    @cached_property
    def laplacian(self) -> SparseMatrix:
        """``L`` (n, n): minus the weight for each pair, the sum of weights on the diagonal."""
        i, j = self.pairs.T
        off = sp.coo_array((-self.weights, (i, j)), shape=(self.n, self.n))
        degree = np.bincount(self.pairs.ravel(), np.repeat(self.weights, 2), minlength=self.n)
        return sp.csr_array(off + off.T + sp.diags_array(degree))

    @cached_property
    def pull(self) -> Vector:
        """``p = B t`` (n,): the sum of pulls on each candidate, positive for the preferred one."""
        signed = np.column_stack([self.pulls, -self.pulls]).ravel()
        return np.asarray(
            np.bincount(self.pairs.ravel(), signed, minlength=self.n), dtype=np.float64
        )

    def differences(self, X: Matrix | SparseMatrix, edges: Indices | None = None) -> Matrix:
        """Return ``B'X`` (e, m): differences of rows of ``X`` (n, m), dense, one per edge.

        The row with the smaller number comes first, whichever is preferred: the sign of ``targets``
        says that. Each difference is multiplied by the root of its edge's weight. ``edges`` selects
        some of the edges, by number and in this order; None takes all.
        """
        pairs, weights = self.pairs, self.weights
        if edges is not None:
            pairs, weights = pairs[edges], weights[edges]
        gap = X[pairs[:, 0]] - X[pairs[:, 1]]
        dense = gap.toarray() if isinstance(gap, sp.sparray) else gap
        return np.asarray(dense * np.sqrt(weights)[:, None])

    @cached_property
    def _edges_by_row(self) -> tuple[Indices, Indices]:
        """Edges sorted by the rows they touch (2 e,), and where each row begins (n + 1,).

        Edges are given by number, and each occurs twice, once for either end.
        """
        order = np.argsort(self.pairs.ravel(), kind="stable")
        counts = np.bincount(self.pairs.ravel(), minlength=self.n)
        return order // 2, np.concatenate([[0], np.cumsum(counts)])

    def without(self, edges: Indices) -> WeightedGraph:
        """Return the graph of the same candidates without some ``edges`` (k,), given by number."""
        rest = np.setdiff1d(np.arange(len(self.pairs)), edges)
        return WeightedGraph(self.n, self.pairs[rest], self.weights[rest], self.pulls[rest])

    def edges_of(self, rows: Indices) -> Indices:
        """Return the numbers (k,) of the edges that touch one of the ``rows``, ascending, once."""
        edges, begins = self._edges_by_row
        parts = [edges[begins[row] : begins[row + 1]] for row in rows.tolist()]
        return np.unique(np.concatenate([np.empty(0, dtype=np.intp), *parts]))


def weigh_edges(
    graph: PreferenceGraph, n: int, cost: Cost, *, normalised: bool = False
) -> WeightedGraph:
    """Return the weighted edges of preferences between ``n`` candidates.

    ``cost`` is that of ``RankRLS``: ``magnitude`` asks for differences of the given magnitudes,
    ``sign`` for 1, ``bound`` for the magnitudes ``z`` with weight ``1 / z^2``. If ``normalised``,
    the weights of a query are divided by the number of its preferences; a graph without queries is
    one query. Preferences between the same two candidates are merged. Magnitudes must not be 0 for
    ``bound``.
    """
    z = np.ones(len(graph)) if cost == "sign" else graph.magnitudes
    w = 1.0 / graph.magnitudes**2 if cost == "bound" else np.ones(len(graph))
    if normalised:
        query = np.zeros(len(graph), np.intp) if graph.queries is None else graph.queries
        number = np.unique(query, return_inverse=True)[1]
        w = w / np.bincount(number)[number]
    pairs = np.sort(graph.pairs, axis=1)
    sign = np.where(graph.pairs[:, 0] == pairs[:, 0], 1.0, -1.0)
    keys, edge = np.unique(pairs[:, 0] * n + pairs[:, 1], return_inverse=True)
    merged = np.column_stack(np.divmod(keys, n)).astype(np.intp)
    weights, pulls = (
        np.bincount(edge, v, minlength=len(keys)).astype(np.float64) for v in (w, w * z * sign)
    )
    return WeightedGraph(n, merged, weights, pulls)


@dataclass(frozen=True, eq=False)
class PreferenceProblem:
    """Least squares on a preference graph, rotated so that every alpha is a diagonal.

    With ``L`` the Laplacian of the graph and ``K = C C'``, ``C'L C = E diag(d) E'``. In the
    coordinates ``G = C E`` the model at alpha is ``Z / (d + alpha)`` and scores are ``G`` times it.
    """

    graph: WeightedGraph
    d: Vector  # (r,) eigenvalues of C'L C
    C: Matrix | SparseMatrix  # (n, c): features, or a factor of the Gram matrix
    E: Matrix  # (c, r): eigenvectors
    Z: Vector  # (r,): G'p
    is_dual: bool  # whether C is a factor of a Gram matrix
    is_accurate: bool = True  # whether d was computed from C'L C, and not from differences

    @cached_property
    def G(self) -> Matrix:  # noqa: N802 - as in the module's formulas
        """``C E`` (n, r), whose products are the Gram matrix of the candidates."""
        return np.asarray(self.C @ self.E)

    @property
    def _is_triangular(self) -> bool:
        """Whether ``C`` is a square, and so lower triangular, Cholesky factor of a Gram matrix."""
        return self.is_dual and self.C.shape[0] == self.C.shape[1]

    @classmethod
    def from_data(
        cls, data: Matrix | SparseMatrix, graph: WeightedGraph, alpha: float, *, dual: bool
    ) -> PreferenceProblem:
        """Decompose a Gram matrix (n, n) if ``dual``, else features (n, d), for these edges.

        ``alpha`` is the smallest one in use. If the Laplacian would lose its digits, the weighted
        differences of the features are decomposed instead, O(e d^2); a given Gram matrix is used in
        any case. More than ``2 n`` features are treated by their Gram matrix (``is_dual``). Raises
        ValueError if a Gram matrix is not positive semi-definite, and if sparse features must be
        decomposed and are too large to be made dense.
        """
        if dual or data.shape[1] > 2 * data.shape[0]:
            K = np.asarray(data) if dual else gram(data)
            problem = cls._from_factor(_factor(K), graph, is_dual=True)
            if dual or problem.resolves(alpha):
                return problem
        elif data.shape[1] <= 2 * data.shape[0]:
            factor = data.toarray() if isinstance(data, sp.sparray) else np.asarray(data)
            problem = cls._from_factor(factor, graph, is_dual=False)
            if problem.resolves(alpha):
                return problem
        return cls._from_differences(data, graph)

    @classmethod
    def _from_differences(
        cls, data: Matrix | SparseMatrix, graph: WeightedGraph
    ) -> PreferenceProblem:
        """Decompose the weighted differences of features (n, d) themselves, not their products.

        Raises ValueError if sparse features are too large to be made dense.
        """
        check_dense_size(data)
        U, s, V = decompose_features(graph.differences(data))
        return cls(graph, s**2, data, V, s * (U.T @ graph.targets), False, is_accurate=False)

    @classmethod
    def _from_factor(cls, C: Matrix, graph: WeightedGraph, *, is_dual: bool) -> PreferenceProblem:
        """Decompose ``C'L C`` for features or a factor (n, c) of the Gram matrix.

        A square factor must be lower triangular, as that of ``_factor``.
        """
        is_square = is_dual and C.shape[0] == C.shape[1]
        S = (_transform_triangular if is_square else _transform)(C, graph.laplacian)
        d, E = sla.eigh(S, lower=False, driver="evd", overwrite_a=True, check_finite=False)
        return cls(graph, d.clip(min=0), C, E, E.T @ (C.T @ graph.pull), is_dual)

    def resolves(self, alpha: float) -> bool:
        """Return whether the round-off of the eigenvalues is small against ``alpha``.

        That is, at most ``MAX_GRAM_ERROR`` of it.
        """
        return bool(EPSILON * self.d.max(initial=0.0) <= MAX_GRAM_ERROR * alpha)

    def solutions(self, alphas: Vector) -> Matrix:  # (a, r)
        """Return the minimisers (a, r) at every alpha, in the rotated coordinates (of ``G``)."""
        return np.asarray(self.Z / (self.d + alphas[:, None]))

    def weights(self, alphas: Vector) -> Matrix:  # (a, d)
        """Return feature weights (a, d) at every alpha.

        Raises ValueError if a Gram matrix was decomposed (``is_dual``).
        """
        if self.is_dual:
            raise ValueError("a Gram matrix has no features: decompose the features instead")
        return np.asarray(self.solutions(alphas) @ self.E.T)

    def coefs(self, alphas: Vector) -> Matrix:  # (a, n)
        """Return coefficients (a, n) of the candidates, ``(L K + alpha I)^-1 p``, at every alpha.

        With scores ``f = C t`` they are ``C'^-1 t`` for a triangular ``C``, else
        ``(p - L f) / alpha``, a difference divided by alpha. Both are refined, in at most
        ``REFINEMENT_STEPS`` steps, at alphas whose largest residual is above ``SMALL_RESIDUAL``
        times the largest pull.
        """
        L, p = self.graph.laplacian, self.graph.pull[:, None]
        t = self.E @ (self.Z[:, None] / (self.d[:, None] + alphas))
        if self._is_triangular:
            A = sla.solve_triangular(self.C, t, lower=True, trans="T", check_finite=False)
        else:
            A = (p - L @ (self.C @ t)) / alphas
        rest = np.arange(len(alphas))  # alphas whose coefficients are not accurate yet
        for _ in range(REFINEMENT_STEPS):
            residual = p - L @ (self.C @ (self.C.T @ A[:, rest])) - alphas[rest] * A[:, rest]
            is_large = np.abs(residual).max(axis=0) > SMALL_RESIDUAL * np.abs(p).max()
            if not is_large.any():
                break
            rest, residual = rest[is_large], residual[:, is_large]
            t = self.E @ ((self.E.T @ (self.C.T @ residual)) / (self.d[:, None] + alphas[rest]))
            A[:, rest] += (residual - L @ (self.C @ t)) / alphas[rest]
        return np.asarray(A.T)

    def heldout(self, alphas: Vector, groups: Sequence[Indices]) -> list[Matrix]:
        """Return for each group of rows its scores (a, h) by the model without it and its edges.

        Groups may overlap. A group without edges has the scores of the full model. Where alpha is
        round-off of the features, every group is one decomposition; a Gram matrix that is so large
        compared with alpha raises ValueError.
        """
        g = 1.0 / (self.d + alphas[:, None])  # (a, r)
        full = self.solutions(alphas)
        scores = []
        for rows in groups:
            edges = self.graph.edges_of(rows)
            if not self.is_accurate and len(edges):
                rest = self._from_differences(self.C, self.graph.without(edges))
                scores.append(np.asarray(rest.solutions(alphas) @ rest.G[rows].T))
                continue
            t = self._solve_without(edges, alphas, g) if len(edges) else full
            scores.append(np.asarray(t @ self.G[rows].T))
        return scores

    def _solve_without(self, edges: Indices, alphas: Vector, g: Matrix) -> Matrix:  # (a, r)
        """Return the minimisers (a, r) at every alpha without some ``edges`` (k,), by number.

        ``g`` (a, r) is ``1 / (d + alpha)``. Raises ValueError if alpha is round-off of the data.
        """
        T = self.graph.differences(self.G, edges)
        right = self.Z - T.T @ self.graph.targets[edges]
        k, r = T.shape
        if k >= r:
            M = -(T.T @ T) + np.zeros((len(alphas), 1, 1))
            M[:, np.arange(r), np.arange(r)] += self.d + alphas[:, None]
            return solve_regular(M, np.broadcast_to(right[:, None], (len(alphas), r, 1)))[..., 0]
        t = g * right
        M = np.eye(k) - (T * g[:, None, :]) @ T.T
        x = solve_regular(M, (t @ T.T)[:, :, None])[..., 0]
        return np.asarray(t + g * (x @ T))

    def holdout_operations(self, groups: Sequence[Indices], alphas: int) -> float:
        """Return about how many multiplications ``heldout`` takes for these groups of rows.

        ``alphas`` is the number of alphas. Edges inside a group are counted twice.
        """
        degree = np.bincount(self.graph.pairs.ravel(), minlength=self.graph.n)
        k = np.array([degree[rows].sum() for rows in groups], dtype=np.float64)
        small = np.minimum(k, len(self.d))
        return float(alphas * (small**3 / 3 + small * k * len(self.d)).sum())


def preference_path(
    data: Matrix | SparseMatrix,
    graph: WeightedGraph,
    alphas: Vector,
    groups: Indices | None,
    *,
    dual: bool,
) -> tuple[Matrix, Matrix]:  # (a, n) or (a, d), (a, n)
    """Return coefficients (``dual``) or feature weights, and held-out scores, at every alpha.

    ``data`` is a checked Gram matrix (n, n) if ``dual``, else features (n, d). ``groups`` (n,) are
    held out together, each with all edges that touch it; None holds out nothing, and the second
    result is NaN. Where a graph is so dense that this would take more than
    ``MAX_HOLDOUT_OPERATIONS``, groups are held out in ``HOLDOUT_FOLDS`` folds.
    """
    problem = PreferenceProblem.from_data(data, graph, float(alphas.min()), dual=dual)
    heldout = np.full((len(alphas), graph.n), np.nan)
    if groups is not None:
        parts = rows_by_group(groups, graph.n, name="documents")
        if problem.holdout_operations(parts, len(alphas)) > MAX_HOLDOUT_OPERATIONS:
            number = np.unique(groups, return_inverse=True)[1] % HOLDOUT_FOLDS
            parts = rows_by_group(number, graph.n, name="documents")
        for rows, scores in zip(parts, problem.heldout(alphas, parts), strict=True):
            heldout[:, rows] = scores
    if not problem.is_dual:
        return problem.weights(alphas), heldout
    A = problem.coefs(alphas)
    return (A if dual else np.asarray((data.T @ A.T).T)), heldout


def heldout_differences(
    problem: PreferenceProblem, graph: PreferenceGraph, alpha: float, groups: Indices
) -> Vector:  # (l,)
    """Return the predicted difference of each preference, the groups of both candidates held out.

    The result (l,) is the score of the better less that of the worse candidate, in the order of
    ``graph``, by a model at ``alpha`` without the two groups and any edge that touches them.
    ``problem`` is that of all edges, decomposed for an alpha no larger; ``groups`` (n,) is the
    group of each candidate.
    """
    number = np.unique(groups, return_inverse=True)[1]
    both = np.sort(number[graph.pairs], axis=1)
    keys, where = np.unique(both, axis=0, return_inverse=True)
    members = rows_by_group(number, len(groups), name="groups")
    held_out = [np.union1d(members[a], members[b]) for a, b in keys.tolist()]
    position = np.zeros(len(groups), dtype=np.intp)
    gaps = np.empty(len(graph))
    by_key = rows_by_group(where.ravel(), len(graph), name="preferences")
    scores = problem.heldout(np.array([alpha]), held_out)
    for rows, score, preferences in zip(held_out, scores, by_key, strict=True):
        position[rows] = np.arange(len(rows))
        better, worse = position[graph.pairs[preferences]].T
        gaps[preferences] = score[0, better] - score[0, worse]
    return gaps


def _transform(C: Matrix, L: SparseMatrix) -> Matrix:
    """Return ``C'L C`` (c, c) in Fortran order, for ``C`` (n, c) and a Laplacian ``L`` (n, n)."""
    return np.asfortranarray(C.T @ (L @ C))


def _transform_triangular(C: Matrix, L: SparseMatrix) -> Matrix:
    """Return the upper triangle of ``C'L C`` (n, n) in Fortran order, for a lower triangular ``C``.

    ``C`` must be C-ordered. The lower triangle of the result is arbitrary. Only entries that are
    not zero and that the upper triangle needs are multiplied: n^3 / 6 multiplications and half of
    those of ``L C``, or n^3 / 2 by LAPACK if ``L`` has many entries.
    """
    n = len(C)
    if L.nnz > MAX_SPARSE_SHARE * n * n:
        dense = L.toarray(order="F")
        return np.asarray(sla.lapack.dsygst(dense, C.T, itype=2, lower=0, overwrite_a=1)[0])
    S = np.empty((n, n))  # its lower triangle holds L C, then row by row the result
    for start in range(0, n, TRIANGLE_BLOCK):
        block, below = slice(start, start + TRIANGLE_BLOCK), slice(start, None)
        S[below, block] = L[below, below] @ np.ascontiguousarray(C[below, block])
        S[block, : block.stop] = C[below, block].T @ S[below, : block.stop]
    return S.T


def _factor(K: Matrix) -> Matrix:
    """Return ``C`` (n, r) with ``K = C C'`` by Cholesky, with pivots if ``K`` is singular.

    A square ``C`` is lower triangular; of a singular ``K`` it has at most n - 1 columns and is not.
    Raises ValueError if ``K`` is not positive semi-definite: if the diagonal of ``C C'`` misses
    that of ``K`` by more than 1e-8 of its largest entry.
    """
    # The transpose of a C-ordered symmetric array is Fortran-ordered, and so is that of the result.
    factor, failed = sla.lapack.dpotrf(K.T, lower=0, clean=1)
    if not failed:
        return np.asarray(factor.T)
    top = float(K.diagonal().max())
    tolerance = len(K) * EPSILON * top
    factor, pivots, rank, _ = sla.lapack.dpstrf(np.asfortranarray(K), lower=1, tol=tolerance)
    rank = min(int(rank), len(K) - 1)  # square factors are triangular, this one is permuted
    C = np.zeros((len(K), rank))
    C[pivots - 1] = np.tril(factor)[:, :rank]
    # What pivoting leaves is round-off for a positive semi-definite matrix.
    rest = float(np.abs(K.diagonal() - np.einsum("ij,ij->i", C, C)).max())
    if rest > 1e-8 * max(top, 1e-300):
        raise not_psd_error(f"{rest:.3g} of its diagonal has no Cholesky factor")
    return C
