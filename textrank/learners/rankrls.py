"""Preference graphs: which differences of scores a ranker reproduces, and how much each counts.

A graph with an edge for every preference has a Laplacian ``L``, and the squared error over its
edges is ``(s - f)' L (s - f)`` for potentials ``s``. ``L`` is block diagonal by query, so its root
``R`` (``L = R R``) turns ranking into least squares: ``(R K R + alpha I) b = R s``, ``a = R b``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from typing import Literal, Protocol, TypeAlias, get_args

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
from textrank.linalg import Spectrum, decompose_features, gram, is_gram_accurate, to_dense

Cost: TypeAlias = Literal["magnitude", "sign", "bound"]


class Preferences(Protocol):
    """The root of a Laplacian that is block diagonal by query."""

    def root(self, X: Matrix | SparseMatrix) -> Matrix:
        """``R X``."""

    def kept(self, X: Matrix) -> Matrix:  # (n, m) -> (r, m)
        """``D B X``: R without its null space, ``R = B' D B`` with orthonormal rows of ``B``."""

    def given_back(self, U: Matrix) -> Matrix:  # (r, m) -> (n, m)
        """``B' U``."""

    def target(self, Y: Matrix) -> Matrix:
        """``R s`` for the potentials ``s`` of the answers."""

    def undo(self, group: Indices) -> tuple[Matrix, Matrix]:  # (h, h), (h, c)
        """The pseudo-inverse of ``R`` on rows that hold whole queries, and its null space."""


@dataclass(frozen=True, eq=False)
class QueryCentring:
    """All pairs of a query, magnitudes kept, cost (21): ``L_q = scale_q (I - 11'/h)``.

    ``scale`` is the size of the query where every pair counts alike, and makes all queries
    equally important where it is ``2 / (size - 1)``. Nothing larger than the data is formed.
    """

    query: Indices  # (n,) numbers 0 ..
    normalised: bool = False

    @cached_property
    def size(self) -> Indices:  # (n,) of its query
        """How many candidates the query of each has."""
        return np.bincount(self.query)[self.query]

    @cached_property
    def scale(self) -> Vector:  # (n,)
        """What the pairs of each query are multiplied by."""
        size = self.size.astype(np.float64)
        return 2.0 / np.maximum(size - 1, 1) if self.normalised else size

    @cached_property
    def _means(self) -> SparseMatrix:
        """What takes the mean of each query."""
        n = len(self.query)
        cells = (1.0 / self.size, (self.query, np.arange(n)))
        return sp.csr_array(cells, shape=(int(self.query.max()) + 1, n))

    def root(self, X: Matrix | SparseMatrix) -> Matrix:
        """``R X``: differences from the query's mean, times the root of its scale."""
        means = self._means @ X
        dense = to_dense(means).take(self.query, axis=0)
        np.subtract(to_dense(X), dense, out=dense)
        dense *= np.sqrt(self.scale).reshape(-1, *[1] * (dense.ndim - 1))
        return dense

    def kept(self, X: Matrix) -> Matrix:
        """``D B X``, where ``B`` reflects each query so that its mean becomes its first candidate.

        That first one goes; the others become ``x_i + (x_0 - sum x / √h) / (√h - 1)``.
        """
        rest = self._rest
        found: Matrix = (self._mirror @ X).take(self.query[rest], axis=0)
        found += X[rest]
        found *= np.sqrt(self.scale)[rest, None]
        return found

    def given_back(self, U: Matrix) -> Matrix:
        """``B' U``."""
        rest = self._rest
        cells = (np.ones(len(rest)), (self.query[rest], np.arange(len(rest))))
        sums = sp.csr_array(cells, shape=(self._mirror.shape[0], len(rest)))
        found: Matrix = self._mirror.T @ (sums @ U)
        found[rest] += U
        return found

    @cached_property
    def _first(self) -> Indices:  # (q,)
        return np.unique(self.query, return_index=True)[1]

    @cached_property
    def _rest(self) -> Indices:  # (n - q,)
        return np.delete(np.arange(len(self.query)), self._first)

    @cached_property
    def _mirror(self) -> SparseMatrix:  # (q, n)
        """``(x_0 - sum x / √h) / (√h - 1)`` of each query; nothing where nothing is left of it."""
        n = len(self.query)
        root = np.sqrt(self.size)
        share = np.divide(1.0, root - 1, out=np.zeros(n), where=self.size > 1)
        values = -share / root
        values[self._first] += share[self._first]
        cells = (values, (self.query, np.arange(n)))
        return sp.csr_array(cells, shape=(len(self._first), n))

    def laplacian(self) -> Callable[[Vector], Vector]:
        """``L u`` for one vector at a time, with everything but the sums made beforehand."""
        query, scale = self.query, self.scale
        share = 1.0 / np.bincount(query)
        return lambda u: (u - (np.bincount(query, u) * share)[query]) * scale

    def target(self, Y: Matrix) -> Matrix:
        """The answers are the potentials."""
        return self.root(Y)

    def undo(self, group: Indices) -> tuple[Matrix, Matrix]:
        """Split by the root of the scale; the levels of the queries are lost."""
        if self.size[group[0]] == len(group):  # one whole query
            return _centred(len(group), float(self.scale[group[0]]))
        local = np.unique(self.query[group], return_inverse=True)[1]
        null = np.eye(int(local.max()) + 1)[local] / np.sqrt(self.size[group])[:, None]
        inverse = (np.eye(len(group)) - null @ null.T) / np.sqrt(self.scale[group])[:, None]
        return inverse, null


@lru_cache(maxsize=1024)
def _centred(h: int, scale: float) -> tuple[Matrix, Matrix]:
    """``undo`` of one whole query."""
    return (np.eye(h) - 1.0 / h) / np.sqrt(scale), np.full((h, 1), h**-0.5)


@dataclass(frozen=True, eq=False)
class PreferenceLaplacian:
    """Any preferences inside queries: for each query its block of the Laplacian, decomposed.

    One small eigendecomposition a query.
    """

    query: Indices  # (n,) numbers 0 ..
    queries: Sequence[Indices]  # the rows of each
    values: Sequence[Vector]  # (h,) eigenvalues, zeros for the null space
    vectors: Sequence[Matrix]  # (h, h)
    pulls: Sequence[Matrix]  # (h, p): M N, the pull of the preferences on each candidate

    @classmethod
    def of(cls, y: Matrix, query: Indices, cost: Cost, *, normalised: bool) -> PreferenceLaplacian:
        """Preferences between differently scored candidates of a query; one column of scores."""
        queries = rows_by_group(query, len(y), name="queries")
        blocks = [_block(y[rows, 0], cost, normalised) for rows in queries]
        decomposed = [np.linalg.eigh(L) for L, _ in blocks]
        values = [_without_dust(w) for w, _ in decomposed]
        return cls(query, queries, values, [v for _, v in decomposed], [pull for _, pull in blocks])

    def root(self, X: Matrix | SparseMatrix) -> Matrix:
        """``R X``, query by query."""
        dense = X.toarray() if isinstance(X, sp.sparray) else X
        result = np.empty(dense.shape)
        for rows, w, V in self._blocks():
            result[rows] = (V * np.sqrt(w)) @ (V.T @ dense[rows])
        return result

    def kept(self, X: Matrix) -> Matrix:
        """``D B X``, query by query."""
        parts = [
            np.sqrt(w[w > 0])[:, None] * (V[:, w > 0].T @ X[rows]) for rows, w, V in self._blocks()
        ]
        return np.concatenate([np.empty((0, X.shape[1])), *parts])

    def given_back(self, U: Matrix) -> Matrix:
        """``B' U``, query by query."""
        result, start = np.zeros((len(self.query), U.shape[1])), 0
        for rows, w, V in self._blocks():
            end = start + int((w > 0).sum())
            result[rows] = V[:, w > 0] @ U[start:end]
            start = end
        return result

    def _blocks(self) -> Iterator[tuple[Indices, Vector, Matrix]]:
        return zip(self.queries, self.values, self.vectors, strict=True)

    def target(self, Y: Matrix) -> Matrix:
        """``R^+ M N``, which is ``R s``: the answers were used to make the pulls."""
        result = np.empty(Y.shape)
        for rows, w, V, pull in zip(
            self.queries, self.values, self.vectors, self.pulls, strict=True
        ):
            result[rows] = (V * _inverse_root(w)) @ (V.T @ pull)
        return result

    def undo(self, group: Indices) -> tuple[Matrix, Matrix]:
        """Block by block; connected components of each query lose their level."""
        inverse, nulls = np.zeros((len(group), len(group))), []
        for number in np.unique(self.query[group]).tolist():
            local = np.flatnonzero(self.query[group] == number)
            w, V = self.values[number], self.vectors[number]
            inverse[np.ix_(local, local)] = (V * _inverse_root(w)) @ V.T
            null = np.zeros((len(group), int((w == 0).sum())))
            null[local] = V[:, w == 0]
            nulls.append(null)
        return inverse, np.hstack(nulls)


def preference_incidence(pairs: Indices, n: int) -> SparseMatrix:  # (l, 2) -> (l, n)
    """A row a preference: 1 at the better, -1 at the worse candidate."""
    l = np.arange(len(pairs))  # noqa: E741
    cells = np.repeat([1.0, -1.0], len(pairs)), (np.tile(l, 2), pairs.T.ravel())
    return sp.csr_array(cells, shape=(len(pairs), n))


def _block(y: Vector, cost: Cost, normalised: bool) -> tuple[Matrix, Matrix]:
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


def _without_dust(w: Vector) -> Vector:
    top = max(float(w[-1]), 0.0)
    return np.where(w > 1e-12 * top * len(w), w, 0.0) if top else np.zeros(len(w))


def _inverse_root(w: Vector) -> Vector:
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
    """Scores at every alpha, each candidate without its group of whole queries.

    With ``R`` the root of the Laplacian and ``G = (R K R + alpha I)^-1``, least squares on
    ``R K R`` gives the differences inside the held-out queries, ``R f = R s - x`` with
    ``x = G_UU^-1 b_U``; what ``R`` forgets, the level of each query, is read from the remaining
    coefficients. The null space of ``R`` is projected out of both: round-off along it would grow
    like ``1 / alpha``.
    """
    heldout = np.full((len(alphas), *target.shape), np.nan)
    undone = [preferences.undo(group) for group in groups]
    if not groups:
        return heldout
    nulls, starts = _nulls(groups, [null for _, null in undone], spectrum.n)
    levels = read(nulls)
    inverse = 1.0 / (spectrum.w[:, None] + alphas)
    smallest = inverse.min(axis=0, initial=1.0 / alphas.min())
    inside = replace(spectrum, Q=spectrum.Q - nulls.T @ (nulls @ spectrum.Q))
    fitted = _fitted_levels(levels, inverse, spectrum.Q.T @ target)  # (all c, a, p)

    for members in _alike(undone):
        index = np.stack([groups[g] for g in members])
        pinv, N = (np.stack([undone[g][k] for g in members])[:, None] for k in (0, 1))
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
    """The null spaces of all groups as rows, (all c, n), and where those of each begin."""
    heights, counts = np.array([null.shape for null in nulls], dtype=np.intp).T
    starts = offsets(counts)
    null, height = expand(starts[:-1], counts)[1], np.repeat(heights, counts)
    place = expand(np.repeat(offsets(heights)[:-1], counts), height)[1]
    columns = np.concatenate(groups)[place]
    values = np.concatenate([null.T.ravel() for null in nulls])
    cells = (values, (np.repeat(null, height), columns))
    return sp.csr_array(cells, shape=(int(starts[-1]), n)), starts[:-1]


def _fitted_levels(levels: Matrix, inverse: Matrix, Z: Matrix) -> Matrix:  # -> (c, a, p)
    p = Z.shape[1]
    scaled = (inverse[:, :, None] * Z[:, None, :]).reshape(len(inverse), inverse.shape[1] * p)
    return (levels @ scaled).reshape(len(levels), inverse.shape[1], p)


def _alike(undone: Sequence[tuple[Matrix, Matrix]], most: int = 1 << 14) -> Iterator[Indices]:
    """Groups of equal size and equal number of levels, not too many at once."""
    shapes = np.array([null.shape for _, null in undone])
    for h, c in sorted({null.shape for _, null in undone}):
        same = np.flatnonzero((shapes == (h, c)).all(axis=1))
        step = max(1, most // int(h * h))
        for start in range(0, len(same), step):
            yield same[start : start + step]


def _cross(levels: Matrix, Q: Matrix, inverse: Matrix) -> Matrix:  # -> (b, a, c, h)
    """``levels diag(inverse) Q'`` for every group and alpha."""
    b, c, r = levels.shape
    h = Q.shape[1]
    rows = (levels[:, :, None, :] * Q[:, None, :, :]).reshape(b * c * h, r)
    return (rows @ inverse).reshape(b, c, h, inverse.shape[1]).transpose(0, 3, 1, 2)


@dataclass(frozen=True)
class RankRLS:
    """Least squares on preferences: ``sum w^2 (z - f(x_h) + f(x_j))^2 + alpha ||f||^2``.

    The sum runs over pairs ``(h, j)`` of a query, ``scope="query"``, or over all pairs,
    ``scope="global"``; with two labels the latter maximises AUC. The costs: ``magnitude`` asks
    for the difference of the labels (``z = y_h - y_j``, ``w = 1``), ``sign`` only for its sign
    (``z = w = 1``), ``bound`` relative to it (``z = y_h - y_j``, ``w = 1 / z``), which bounds the
    number of wrongly ordered pairs. Equally labelled pairs count where ``ties`` and the cost is
    ``magnitude``. ``normalised`` divides the weight of a query's pairs by their number.

    One eigendecomposition of the symmetric ``R K R``, ``R`` the root of the Laplacian of the
    preferences, serves every alpha. Held out are whole documents, which hold whole queries.

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
        object.__setattr__(self, "alphas", check_alphas(self.alphas))
        check_metric(self.select)
        if self.cost not in get_args(Cost):
            raise ValueError(f"cost must be one of {', '.join(get_args(Cost))}, got {self.cost!r}")
        if self.scope not in ("query", "global"):
            raise ValueError(f"scope must be query or global, got {self.scope!r}")

    def fit(self, data: Matrix | Features, targets: Targets) -> Fit:
        """Learns from a Gram matrix or from features, and chooses alpha by held-out documents."""
        targets = self._scoped(targets)
        path = self.path(data, targets)
        return path.select(choose_alpha(path.heldout, targets, self.select, path.alphas))

    def path(self, data: Matrix | Features, targets: Targets) -> RegularizationPath:
        """Coefficients and held-out scores at every alpha."""
        matrix, dual = check_data(data)
        targets = self._scoped(targets)
        Y = check_targets(targets.y, matrix.shape[0])
        groups = rows_by_group(targets.groups, len(Y), name="documents")
        if self.scope == "query":
            _check_queries(targets.queries, targets.groups)
            A, heldout = rank_path(
                matrix, Y, self.preferences(targets), np.array(self.alphas), groups, dual=dual
            )
        else:
            A, heldout = self._global_path(matrix, Y, groups, dual)
        return RegularizationPath(tuple(self.alphas), A[:, :, 0], heldout[:, :, 0])

    def nested(
        self, data: Matrix | Features, targets: Targets, partitions: Sequence[Indices]
    ) -> list[NestedScores]:
        """Test and inner held-out scores for each division into folds, at every alpha.

        Queries: one inverse per alpha for everything, as for RLS. A global ranking, or few
        features, train once for each fold.
        """
        matrix, dual = check_data(data)
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
        """Coefficients at every alpha, nothing held out."""
        matrix, dual = check_data(data)
        targets = self._scoped(targets)
        Y = check_targets(targets.y, matrix.shape[0])
        A, _ = rank_path(matrix, Y, self.preferences(targets), np.array(self.alphas), [], dual=dual)
        return A[:, :, 0]

    def preferences(self, targets: Targets) -> Preferences:
        """The preferences these settings draw from the labels."""
        query = np.unique(targets.queries, return_inverse=True)[1]
        if self.cost == "magnitude" and self.ties:
            return QueryCentring(query, self.normalised)
        y = check_targets(targets.y, len(query))
        return PreferenceLaplacian.of(y, query, self.cost, normalised=self.normalised)

    def _scoped(self, targets: Targets) -> Targets:
        if self.scope == "query":
            return targets
        return Targets(targets.y, targets.groups, np.zeros(len(targets), dtype=np.intp))

    def _global_path(
        self, matrix: Matrix | SparseMatrix, Y: Matrix, groups: Sequence[Indices], dual: bool
    ) -> tuple[Matrix, Matrix]:
        one = np.zeros(len(Y), dtype=np.intp)
        alphas = np.array(self.alphas)
        targets = Targets(Y[:, 0], one, one)
        preferences = self.preferences(targets)
        if isinstance(preferences, QueryCentring):
            shrunk = self._shrink(alphas)
            spectrum = _of(matrix, dual, float(shrunk(len(Y)).min()))
            heldout = heldout_with_bias(spectrum, Y, shrunk, groups)
            if spectrum.V is not None:
                return weights_with_bias(spectrum, Y, shrunk(len(Y))), heldout
            A = coefs_with_bias(spectrum, Y, shrunk(len(Y)))
            return (A if dual else _weigh(matrix, A)), heldout

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
        """Alpha of the equal problem with an unpenalised bias, of so many candidates."""
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
    """Coefficients of candidates (``dual``) or weights of features, and held-out scores.

    Held out are groups of whole queries, at every alpha.
    """
    target = preferences.target(Y)
    spectrum, read = _rooted(data, preferences, dual, float(alphas.min()))
    B = spectrum.coefs(target, alphas)
    heldout = heldout_by_query(spectrum, read, target, B, alphas, groups, preferences)
    if spectrum.V is not None:
        return spectrum.weights(target, alphas), heldout
    flat = preferences.root(B.transpose(1, 0, 2).reshape(len(Y), -1))
    A = flat.reshape(len(Y), len(alphas), -1).transpose(1, 0, 2)
    return (A if dual else _weigh(data, A)), heldout


def _rooted(
    data: Matrix | SparseMatrix, preferences: Preferences, dual: bool, alpha: float
) -> tuple[Spectrum, Callable[[SparseMatrix], Matrix]]:
    """The spectrum of ``R K R``, and ``K R Q`` as something to multiply by from the left.

    A query of ``h`` candidates has ``h - 1`` differences, so what is decomposed is smaller than K.
    ``alpha`` is the smallest one in use.
    """
    if dual:
        half = np.ascontiguousarray(preferences.kept(np.asarray(data)).T)
        # Where the candidates of a query are equal, all that is left is the round-off of the data,
        # of which no entry is above the largest of the diagonal.
        largest = np.abs(half).max(initial=np.diagonal(np.asarray(data)).max())
        inner = Spectrum.from_gram(preferences.kept(half), size=len(half) * float(largest))
        spectrum = Spectrum(inner.w, preferences.given_back(inner.Q), spanning=True)
        return spectrum, lambda N: (N @ half) @ inner.Q
    if 2 * data.shape[1] > data.shape[0]:
        rooted = preferences.root(data)
        if is_gram_accurate(rooted, alpha):
            wide = Spectrum.from_gram(gram(rooted))
            return wide, lambda N: to_dense(N @ data) @ (rooted.T @ wide.Q)
    differences = preferences.kept(to_dense(data))
    U, s, V = decompose_features(differences)
    Q = np.ascontiguousarray(preferences.given_back(U))
    narrow = Spectrum(s**2, Q, spanning=len(s) == len(differences), V=V)
    return narrow, lambda N: to_dense(N @ data) @ (V * s)


def _of(matrix: Matrix | SparseMatrix, dual: bool, alpha: float) -> Spectrum:
    if dual:
        return Spectrum.from_gram(np.asarray(matrix))
    return Spectrum.from_features(matrix, alpha=alpha)


def _weigh(F: Matrix | SparseMatrix, A: Matrix) -> Matrix:  # (a, n, p) -> (a, d, p)
    """``F' A``: weights of features from coefficients of candidates, at every alpha."""
    a, n, p = A.shape
    W = F.T @ A.transpose(1, 0, 2).reshape(n, a * p)
    return np.asarray(W).reshape(-1, a, p).transpose(1, 0, 2)


def _check_queries(query: Indices, documents: Indices) -> None:
    order = np.lexsort((documents, query))
    same = np.diff(query[order]) == 0
    split = same & (np.diff(documents[order]) != 0)
    if split.any():
        row = int(order[1:][split][0])
        raise ValueError(
            f"the query of candidate {row} reaches into document {documents[row]} and another. "
            "A query is ranked together, so it must be held out together."
        )
