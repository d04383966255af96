"""RankRLS: least squares on the differences of scores, with exact hold-out of whole queries."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np

from textrank.docs import Targets
from textrank.learners.bias import coefs_with_bias, heldout_with_bias, weights_with_bias
from textrank.learners.checks import check_alphas, check_targets, groups_of
from textrank.learners.fit import Fit, Nested, Path
from textrank.learners.nested import nested_by_inverse, nested_by_retraining
from textrank.learners.preferences import Centring, Cost, Laplacian, Preferences
from textrank.learners.ranking import heldout_queries
from textrank.learners.rls import checked_data
from textrank.learners.selection import Measure, check_measure, choose
from textrank.linalg.singular import decompose_features, is_gram_accurate
from textrank.linalg.spectrum import Spectrum, densified, gram
from textrank.types import Features, Indices, Matrix, SparseMatrix, Vector


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
    select: Measure = "disagreement"
    cost: Cost = "magnitude"
    scope: Literal["query", "global"] = "query"
    ties: bool = True
    normalised: bool = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "alphas", check_alphas(self.alphas))
        check_measure(self.select)
        if self.cost not in get_args(Cost):
            raise ValueError(f"cost must be one of {', '.join(get_args(Cost))}, got {self.cost!r}")
        if self.scope not in ("query", "global"):
            raise ValueError(f"scope must be query or global, got {self.scope!r}")

    def fit(self, data: Matrix | Features, targets: Targets) -> Fit:
        """Learns from a Gram matrix or from features, and chooses alpha by held-out documents."""
        targets = self._scoped(targets)
        path = self.path(data, targets)
        return path.chosen(choose(path.heldout, targets, self.select, path.alphas))

    def path(self, data: Matrix | Features, targets: Targets) -> Path:
        """Coefficients and held-out scores at every alpha."""
        matrix, dual = checked_data(data)
        targets = self._scoped(targets)
        Y = check_targets(targets.y, matrix.shape[0])
        groups = groups_of(targets.documents, len(Y), name="documents")
        if self.scope == "query":
            _check_queries(targets.queries, targets.documents)
            A, heldout = rank_path(
                matrix, Y, self.preferences(targets), np.array(self.alphas), groups, dual=dual
            )
        else:
            A, heldout = self._global_path(matrix, Y, groups, dual)
        return Path(tuple(self.alphas), A[:, :, 0], heldout[:, :, 0])

    def nested(
        self, data: Matrix | Features, targets: Targets, partitions: Sequence[Indices]
    ) -> list[Nested]:
        """Test and inner held-out scores for each division into folds, at every alpha.

        Queries: one inverse per alpha for everything, as for RLS. A global ranking, or few
        features, train once for each fold.
        """
        matrix, dual = checked_data(data)
        if self.scope == "global" or (not dual and 3 * matrix.shape[1] < len(targets)):
            return nested_by_retraining(self, data, targets, partitions)
        # Preferences multiply squares by the size of a query at most.
        largest = float(np.bincount(np.unique(targets.queries, return_inverse=True)[1]).max())
        if not dual and not is_gram_accurate(matrix, min(self.alphas) / largest):
            return nested_by_retraining(self, data, targets, partitions)
        _check_queries(targets.queries, targets.documents)
        K = np.asarray(matrix) if dual else gram(matrix)
        preferences = self.preferences(targets)
        readout = preferences.root(K).T
        y = preferences.target(check_targets(targets.y, len(K)))[:, 0]
        alphas = tuple(self.alphas)
        return nested_by_inverse(
            preferences.root(readout), y, targets.documents, partitions, alphas, readout=readout
        )

    def coefs(self, data: Matrix | Features, targets: Targets) -> Matrix:  # (a, n) or (a, d)
        """Coefficients at every alpha, nothing held out."""
        matrix, dual = checked_data(data)
        targets = self._scoped(targets)
        Y = check_targets(targets.y, matrix.shape[0])
        A, _ = rank_path(matrix, Y, self.preferences(targets), np.array(self.alphas), [], dual=dual)
        return A[:, :, 0]

    def preferences(self, targets: Targets) -> Preferences:
        """The preferences these settings draw from the labels."""
        query = np.unique(targets.queries, return_inverse=True)[1]
        if self.cost == "magnitude" and self.ties:
            return Centring(query, self.normalised)
        y = check_targets(targets.y, len(query))
        return Laplacian.of(y, query, self.cost, normalised=self.normalised)

    def _scoped(self, targets: Targets) -> Targets:
        if self.scope == "query":
            return targets
        return Targets(targets.y, targets.documents, np.zeros(len(targets), dtype=np.intp))

    def _global_path(
        self, matrix: Matrix | SparseMatrix, Y: Matrix, groups: Sequence[Indices], dual: bool
    ) -> tuple[Matrix, Matrix]:
        one = np.zeros(len(Y), dtype=np.intp)
        alphas = np.array(self.alphas)
        targets = Targets(Y[:, 0], one, one)
        preferences = self.preferences(targets)
        if isinstance(preferences, Centring):
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
    heldout = heldout_queries(spectrum, read, target, B, alphas, groups, preferences)
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
        inner = Spectrum.of_gram(preferences.kept(half), size=len(half) * float(largest))
        spectrum = Spectrum(inner.w, preferences.given_back(inner.Q), spanning=True)
        return spectrum, lambda N: (N @ half) @ inner.Q
    if 2 * data.shape[1] > data.shape[0]:
        rooted = preferences.root(data)
        if is_gram_accurate(rooted, alpha):
            wide = Spectrum.of_gram(gram(rooted))
            return wide, lambda N: densified(N @ data) @ (rooted.T @ wide.Q)
    differences = preferences.kept(densified(data))
    U, s, V = decompose_features(differences)
    Q = np.ascontiguousarray(preferences.given_back(U))
    narrow = Spectrum(s**2, Q, spanning=len(s) == len(differences), V=V)
    return narrow, lambda N: densified(N @ data) @ (V * s)


def _of(matrix: Matrix | SparseMatrix, dual: bool, alpha: float) -> Spectrum:
    if dual:
        return Spectrum.of_gram(np.asarray(matrix))
    return Spectrum.of_features(matrix, alpha=alpha)


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
