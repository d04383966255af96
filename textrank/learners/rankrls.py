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
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from typing import Literal, Protocol, get_args

import numpy as np
import scipy.sparse as sp

from textrank._ragged import expand, offsets
from textrank.candidates import Targets
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
    coefs_with_bias,
    heldout_with_bias,
    nested_by_inverse,
    nested_by_retraining,
    solve_regular,
    weights_with_bias,
)
from textrank.learners.influence import GroupChanges, changes_by_group, pack_changes
from textrank.learners.preferences import (
    Cost,
    PreferenceProblem,
    WeightedGraph,
    heldout_differences,
    preference_path,
    weigh_edges,
)
from textrank.linalg import (
    Spectrum,
    decompose_features,
    gram,
    inverse,
    is_gram_accurate,
    to_dense,
)


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
        """Return ``D B X`` (n - q, m) for ``X`` (n, m).

        ``B`` reflects the mean of each query to its first candidate. That first one is dropped; the
        others become ``x_i + (x_0 - sum x / √h) / (√h - 1)``.
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
    pulls: Sequence[Matrix]  # (h, p): M N, the pull of the preferences on each candidate

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
        """Return ``R^+ M N``, which is ``R s``; of ``Y`` (n, p) only the shape is used.

        The labels were used to compute the pulls.
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

    Negative ones are zero too; all are if none is positive. ``w`` (h,) must not be empty.
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

        Raises ValueError for sample weights, for queries that reach into two groups, and if the
        labels leave the metric ``select`` undefined.
        """
        targets = self._scoped(targets)
        path = self.path(data, targets)
        return path.select(choose_alpha(path.heldout, targets, self.select, path.alphas))

    def path(self, data: Matrix | Features, targets: Targets) -> RegularizationPath:
        """Return coefficients, or feature weights, and held-out scores at every alpha.

        A Gram matrix (n, n) gives coefficients of candidates (alphas, n), ``Features`` give feature
        weights (alphas, d). Held-out scores are (alphas, n). Raises ValueError for sample weights
        and, within queries, for a query that reaches into two groups.
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
        decompose once for each. With a preference graph there is one output, and ``y`` is not used.
        Sample weights are ignored. Raises ValueError for a query that reaches into two groups.
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
        folds, and for sample weights. Within queries one inverse per alpha serves all, as for RLS.
        A global ranking, a preference graph, or few features, train once per fold.
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

        Groups and sample weights of the targets are ignored, so a query may be in several groups.
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
        change as those of RLS, and ``a = R b``. None for a global ranking and for a preference
        graph, where a document takes part in pairs with others. Costs one inverse (n, n).
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

    ``data`` is a Gram matrix ``K`` (``dual``) or features. A query of ``h`` candidates has
    ``h - 1`` differences, so what is decomposed is smaller than K. ``alpha`` is the smallest one in
    use.
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
