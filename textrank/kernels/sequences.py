"""Kernels on sequences of symbols, and on contexts: the words around a target.

Locality kernels compare two sequences by the windows around their symbols. Most are sums over
patterns of offsets (``Pattern``, ``pattern_features``); ``LocalityConvolution`` compares distinct
windows (``Windows``, ``WindowPairs``). Formula numbers are those of Tsivtsivadze et al. (2009),
Applied Intelligence 31:81-88.

``f`` and ``g`` are sequences of symbols, ``f_i`` the symbol at position ``i``, and ``δ`` is 1 for
equal symbols. Positions outside a sequence match nothing. A *window* has ``w`` symbols on each side
of its *centre*; symbols are indices into the alphabet of a ``Sequences`` batch.

``Positional`` is the kernel on contexts, that is on word-position matrices: it compares words and
their positions around a target. ``ContextTable`` and ``ContextScorer`` apply a trained linear model
to contexts without building features. A context is a list of (word, position) pairs, where a
position counts words from the target and is negative before it. ``n`` are contexts, ``r``
components of the position transformation, the columns of R.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations, pairwise
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from textrank._ragged import expand, factorize, sum_by_owner
from textrank.features import (
    FeatureNames,
    Features,
    HashIndex,
    Indices,
    Matrix,
    SparseMatrix,
    Vector,
)
from textrank.graphs import (
    Contexts,
    PositionTransformation,
    Sequences,
    WordTransformation,
    learn_transformation,
    needs_learning,
    pivoted_cholesky,
)
from textrank.linalg import ExplicitKernel, gram, gram_of_features, squared_norms
from textrank.linear_scores import (
    Contributions,
    FeatureWeights,
    LinearScores,
    Scorer,
    compile_feature_scorer,
    split_shared,
)

MAX_CHUNK_WORDS = 1 << 20  # words whose features are built at once
MAX_TABLE_COMPONENTS = 64  # position components up to which ContextScorer is used


@dataclass(frozen=True)
class LocalSum(ExplicitKernel[Sequences]):
    """Matching symbols weighted by the matches around them (11).

    ``G(f, g) = Σ_ik δ(f_i, g_k) Σ_ml P_ml δ(f_{i+m}, g_{k+l})`` for offsets within ``window``.
    ``positional`` is P: "gaussian" ``exp(-(m - l)² / 2θ²)``, "same" (the identity), "any" (all
    ones), or a positive semidefinite matrix. With ``P = R R'`` a feature is (symbol, neighbour,
    component of R): one sparse product for the whole Gram matrix.

    >>> LocalSum(window=1, positional="same")(Sequences.from_lists([["Mp", "Ss"], ["Ss", "Mp"]]))
    array([[4., 2.],
           [2., 4.]])
    """

    window: int = 1
    theta: float = 0.5
    positional: str | Sequence[Sequence[float]] = "gaussian"

    def __post_init__(self) -> None:
        """Convert a positional matrix to tuples.

        Raises ValueError unless the window is an integer of at least 0, theta is positive, and the
        matrix (or name) gives a symmetric, non-negative, positive semidefinite matrix of that
        window.
        """
        _freeze_positional(self)

    def features(self, X: Sequence[Sequences]) -> Features:
        """Return a column for each symbol, neighbour and component of the positional matrix.

        One row per sequence. Only combinations that occur have a column, named by the component
        (``"near +1"``, for the pivot offset of ``pivoted_cholesky``), the symbol and its neighbour.
        Its value sums the entries of the component at the offsets of these neighbours. The symbol
        itself is its own neighbour at offset 0.
        """
        P = positional_matrix(self.positional, self.window, self.theta)
        R, pivots = pivoted_cholesky(P, 1e-14)
        patterns = [
            Pattern((0, row - self.window), float(R[row, c]), f"near {p - self.window:+d}")
            for c, p in enumerate(pivots)
            for row in range(len(R))
            if R[row, c]
        ]
        return pattern_features(as_sequences(X), patterns)


@dataclass(frozen=True)
class LocalityConvolution:
    """Locality-convolution kernel: matching symbols times the matches around them (13).

    ``G(f, g) = Σ_ik δ(f_i, g_k) Π_ml (P_ml δ(f_{i+m}, g_{k+l}) + 1)``; ``positional`` as in
    ``LocalSum``. It depends on the two windows only, so ``G = C M C'``: C counts distinct windows,
    M compares each pair of windows with the same centre once.

    >>> LocalityConvolution(window=0)(Sequences.from_lists([["Mp", "Ss"], ["Ss"]]))
    array([[4., 2.],
           [2., 2.]])
    """

    window: int = 1
    theta: float = 0.3
    positional: str | Sequence[Sequence[float]] = "gaussian"

    def __post_init__(self) -> None:
        """Convert a positional matrix to tuples.

        Raises ValueError unless the window is an integer of at least 0, theta is positive, and the
        matrix (or name) gives a symmetric, non-negative, positive semidefinite matrix of that
        window.
        """
        _freeze_positional(self)

    def __call__(self, X: Sequence[Sequences], Y: Sequence[Sequences] | None = None) -> Matrix:
        """Return the Gram matrix (x, y), not normalised; of X with itself if Y is None.

        It sums the similarity of all pairs of windows with the same symbol in the middle.
        """
        first = as_sequences(X)
        P = positional_matrix(self.positional, self.window, self.theta)
        if Y is None:
            windows = Windows.from_sequences(first, self.window)
            return WindowPairs(windows.symbols, P).gram(windows.counts, None)
        windows = Windows.from_sequences(Sequences.concat([first, as_sequences(Y)]), self.window)
        counts = windows.counts
        return WindowPairs(windows.symbols, P).gram(counts[: len(first)], counts[len(first) :])

    def diag(self, X: Sequence[Sequences]) -> Vector:
        """Return the diagonal of the Gram matrix, (x,), without computing the rest of it."""
        first = as_sequences(X)
        windows = Windows.from_sequences(first, self.window)
        P = positional_matrix(self.positional, self.window, self.theta)
        return WindowPairs(windows.symbols, P).diag(windows.counts)


@dataclass(frozen=True)
class LocalityImproved(ExplicitKernel[Sequences]):
    """Powers of the weighted number of matches at equal offsets of two windows (16, 17).

    ``G(f, g) = Σ_ik (Σ_m D_m δ(f_{i+m}, g_{k+m}))^degree``, ``D_m = 1 + window - |m|``. The centres
    need not match. The power expands into sets of at most ``degree`` offsets, each set a feature.
    ``Power(LocalityImproved(...), d2)`` is the published outer power.

    Zien et al. (2000), Bioinformatics 16:799-807.

    >>> LocalityImproved(window=1)(Sequences.from_lists([["Mp", "Ss"], ["Ss"]]))
    array([[18.,  4.],
           [ 4.,  4.]])
    """

    window: int = 1
    degree: int = 2

    def __post_init__(self) -> None:
        """Raise ValueError unless the window is at least 0 and the degree at least 1."""
        if self.window < 0 or self.degree < 1:
            raise ValueError(
                f"window must be at least 0 and degree at least 1, got {self.window} and "
                f"{self.degree}"
            )

    def features(self, X: Sequence[Sequences]) -> Features:
        """Return a column for each set of offsets and the symbols found there, named by both.

        One row per sequence. A set has 1 to ``degree`` offsets; at each position it adds the root
        of its coefficient in the power. Sets that reach outside the sequence do not count.
        """
        patterns = [
            Pattern(
                offsets, self._coefficient(offsets) ** 0.5, " ".join(f"{m:+d}" for m in offsets)
            )
            for offsets in offset_sets(self.window, self.degree)
        ]
        return pattern_features(as_sequences(X), patterns)

    def _coefficient(self, offsets: tuple[int, ...]) -> float:
        """Return the coefficient of ``Π_{m in offsets} δ_m`` in ``(Σ_m D_m δ_m)^degree``.

        ``D_m`` is ``1 + window - |m|``. By inclusion and exclusion; ``δ_m² = δ_m``. ``offsets`` has
        between 1 and ``degree`` different offsets.
        """
        return float(
            sum(
                (-1) ** (len(offsets) - n)
                * sum(1 + self.window - abs(m) for m in chosen) ** self.degree
                for n in range(1, len(offsets) + 1)
                for chosen in combinations(offsets, n)
            )
        )


@dataclass(frozen=True)
class SpectrumKernel(ExplicitKernel[Sequences]):
    """Shared runs of up to ``length`` symbols: ``Σ_{u=1..length} ⟨u-gram counts⟩`` (18, 19).

    >>> SpectrumKernel(length=2)(Sequences.from_lists([["a", "b"], ["b", "a", "b"]]))
    array([[3., 4.],
           [4., 7.]])
    """

    length: int = 2

    def __post_init__(self) -> None:
        """Raise ValueError unless the length is at least 1."""
        if self.length < 1:
            raise ValueError(f"length must be at least 1, got {self.length}")

    def features(self, X: Sequence[Sequences]) -> Features:
        """Return the count of each run of 1 to ``length`` symbols, one row per sequence.

        A column is named by its symbols; only runs that occur have one.
        """
        patterns = [Pattern(tuple(range(u))) for u in range(1, self.length + 1)]
        return pattern_features(as_sequences(X), patterns)


@dataclass(frozen=True)
class GapWeighted(ExplicitKernel[Sequences]):
    """Shared subsequences of ``length`` symbols with gaps, weighted by ``decay`` to their extent.

    ``φ_u(f) = Σ_{i: f[i] = u} decay^(last - first + 1)``. ``stretch`` limits the extent of a
    subsequence; 0 means no limit, and costs a step for each subsequence there is.

    Lodhi et al. (2002), Journal of Machine Learning Research 2:419-444.

    >>> X = Sequences.from_lists([["c", "a", "t"], ["c", "t"]])
    >>> GapWeighted(length=2, decay=0.5)(X)[0, 1].item()
    0.03125
    """

    length: int = 2
    decay: float = 0.5
    stretch: int = 0

    def __post_init__(self) -> None:
        """Raise ValueError for settings outside their range.

        ``length`` is at least 1, ``decay`` above 0 and at most 1, ``stretch`` 0 or at least
        ``length``.
        """
        if self.length < 1 or not 0 < self.decay <= 1:
            raise ValueError(
                f"length must be at least 1 and decay between 0 and 1, got {self.length} and "
                f"{self.decay}"
            )
        if self.stretch and self.stretch < self.length:
            raise ValueError(
                f"stretch must be 0 (no limit) or at least length {self.length}, got {self.stretch}"
            )

    def features(self, X: Sequence[Sequences]) -> Features:
        """Return the summed weight of each subsequence of ``length`` symbols, one row per sequence.

        An occurrence weighs ``decay`` to the power of the number of symbols from its first to its
        last; longer ones than ``stretch`` (0: no limit) do not count. A column is named by its
        symbols. Sequences shorter than ``length`` have empty rows.
        """
        sequences = as_sequences(X)
        extent = self.stretch or int(np.diff(sequences.starts).max(initial=self.length))
        patterns = [
            Pattern((0, *steps), self.decay ** (max(steps, default=0) + 1))
            for steps in combinations(range(1, extent), self.length - 1)
        ]
        return pattern_features(sequences, patterns)


def _freeze_positional(settings: LocalSum | LocalityConvolution) -> None:
    """Convert a positional matrix to tuples, in place, and validate the settings.

    A name such as "gaussian" stays as it is. Raises ValueError for a window, theta or matrix that
    does not give a kernel.
    """
    if not isinstance(settings.positional, str):
        matrix = tuple(tuple(map(float, row)) for row in settings.positional)
        object.__setattr__(settings, "positional", matrix)
    validate_positional(settings.positional, settings.window, settings.theta)


OUTSIDE = -1  # symbol beyond either end of a sequence; matches nothing
POSITIONAL_NAMES = ("gaussian", "same", "any")


@dataclass(frozen=True, eq=False)
class Windows:
    """Distinct windows of some sequences, sorted by centre, and how often each occurs.

    Symbols outside a sequence are ``OUTSIDE``.
    """

    symbols: NDArray[np.int64]  # (windows, 2 w + 1)
    counts: SparseMatrix  # (sequences, windows)

    @classmethod
    def from_sequences(cls, X: Sequences, w: int) -> Windows:
        """Find the distinct windows of ``w`` symbols on each side, padded with ``OUTSIDE``.

        Every position of every sequence is the centre of one window. Windows are sorted by the
        symbol at their centre first, then by the others from left to right. ``counts`` has a row
        per sequence and a column per window.
        """
        columns = [shift_symbols(X, offset) for offset in range(-w, w + 1)]
        centre_first = [columns[w], *columns[:w], *columns[w + 1 :]]
        code = encode_rows(centre_first)
        _, first, number = np.unique(code, return_index=True, return_inverse=True)
        rows = np.repeat(np.arange(len(X)), np.diff(X.starts))
        cells = (np.ones(len(rows)), (rows, number))
        counts = sp.csr_array(cells, shape=(len(X), len(first)))
        return cls(np.column_stack(columns)[first], counts)

    @property
    def centre(self) -> NDArray[np.int64]:
        """Symbol in the middle of each window."""
        return self.symbols[:, self.symbols.shape[1] // 2]


def as_sequences(X: Sequence[Sequences]) -> Sequences:
    """Return X, a batch or a sequence of batches, as one batch of sequences, in order.

    A batch is returned as it is.
    """
    return X if isinstance(X, Sequences) else Sequences.concat(list(X))


def shift_symbols(X: Sequences, offset: int) -> NDArray[np.int64]:
    """Return the symbol ``offset`` places after each symbol in its own sequence, or ``OUTSIDE``.

    The result has one entry per symbol of the batch.
    """
    row = np.repeat(np.arange(len(X)), np.diff(X.starts))
    shifted = np.arange(len(X.codes)) + offset
    inside = (shifted >= X.starts[:-1][row]) & (shifted < X.starts[1:][row])
    symbols = np.full(len(shifted), OUTSIDE, dtype=np.int64)
    symbols[inside] = X.codes[shifted[inside]]
    return symbols


def encode_rows(columns: Sequence[NDArray[np.int64]]) -> NDArray[np.int64]:
    """Return a number per row, equal for equal rows and ordered like the rows (lexicographically).

    ``columns`` are the columns of the rows, at least one: arrays of equal length with values of at
    least -1.
    """
    base = 2 + max((int(column.max(initial=0)) for column in columns), default=0)
    code = columns[0] + 1
    bound = base
    for column in columns[1:]:
        if bound > np.iinfo(np.int64).max // base:  # renumber before the product overflows
            code = np.unique(code, return_inverse=True)[1].astype(np.int64)
            bound = len(code) + 1
        code = code * base + (column + 1)
        bound *= base
    return code


@dataclass(frozen=True)
class Pattern:
    """Offsets whose symbols together form one feature, with its value and a label for its name.

    Offsets are relative to a position in a sequence; ``weight`` is what each occurrence adds.
    """

    offsets: tuple[int, ...]
    weight: float = 1.0
    label: str = ""


def pattern_features(X: Sequences, patterns: Sequence[Pattern]) -> Features:
    """Return the weights of the patterns, summed by label and the symbols found at their offsets.

    A pattern counts at every position of a sequence where all its offsets lie inside the sequence.
    The result has a row per sequence and a column per label and symbols that occur, sorted by label
    (in the order of ``patterns``) and symbols. Patterns that share a label share their columns.
    """
    rows = np.repeat(np.arange(len(X)), np.diff(X.starts))
    symbols = {o: shift_symbols(X, o) for o in sorted({o for p in patterns for o in p.offsets})}
    labels = list(dict.fromkeys(pattern.label for pattern in patterns))
    width = max((len(pattern.offsets) for pattern in patterns), default=0)
    keys, owners, values = [np.empty((0, width + 1), np.int64)], [rows[:0]], [np.empty(0)]
    for pattern in patterns:
        inside = np.logical_and.reduce([symbols[o] >= 0 for o in pattern.offsets])
        key = np.full((int(inside.sum()), width + 1), OUTSIDE, dtype=np.int64)
        key[:, 0] = labels.index(pattern.label)
        for i, offset in enumerate(pattern.offsets, 1):
            key[:, i] = symbols[offset][inside]
        keys.append(key)
        owners.append(rows[inside])
        values.append(np.full(len(key), pattern.weight))

    distinct, column = _unique_rows(np.vstack(keys))
    cells = (np.concatenate(values), (np.concatenate(owners), column))
    matrix = sp.csr_array(cells, shape=(len(X), len(distinct)))
    return Features(matrix, _pattern_names(X.alphabet, labels, distinct))


def _unique_rows(keys: NDArray[np.int64]) -> tuple[NDArray[np.int64], Indices]:
    """Return the distinct rows in sorted order, and the index of each row among them.

    Values must be at least -1, and there must be at least one column.
    """
    code = encode_rows(list(keys.T))
    _, first, number = np.unique(code, return_index=True, return_inverse=True)
    return keys[first], number


def _pattern_names(
    alphabet: Sequence[str], labels: Sequence[str], keys: NDArray[np.int64]
) -> FeatureNames:
    """Return feature names: the label, if any pattern has one, then the symbols.

    ``keys`` has a row per feature: index into ``labels``, then indices into ``alphabet``, padded
    with -1.
    """
    if not any(labels):
        return FeatureNames(tuple(alphabet), keys[:, 1:].astype(np.int32))
    parts = np.hstack([keys[:, :1] + len(alphabet), keys[:, 1:]])
    return FeatureNames((*alphabet, *labels), parts.astype(np.int32))


def offset_sets(w: int, largest: int) -> list[tuple[int, ...]]:
    """Return all sets of 1 to ``largest`` offsets in ``-w ... w``, smaller sets first.

    Each set is in ascending order.
    """
    offsets = range(-w, w + 1)
    return [chosen for n in range(1, largest + 1) for chosen in combinations(offsets, n)]


def positional_matrix(positional: Any, w: int, theta: float) -> Matrix:
    """Return P over the offsets ``-w ... w``, (2 w + 1, 2 w + 1), given by a name or as a matrix.

    ``positional`` is "any", "same", "gaussian" (the only one that uses ``theta``) or P itself,
    which is not checked here.
    """
    offsets = np.arange(-w, w + 1)
    if not isinstance(positional, str):
        return np.asarray(positional, dtype=np.float64)
    if positional == "any":
        return np.ones((2 * w + 1, 2 * w + 1))
    if positional == "same":
        return np.eye(2 * w + 1)
    return np.exp(-((offsets[:, None] - offsets[None, :]) ** 2) / (2 * theta**2))


def validate_positional(positional: Any, w: int, theta: float) -> None:
    """Raise ValueError for a window, theta or matrix that does not give a kernel.

    The window must be an integer of at least 0, theta positive, and ``positional`` one of
    ``POSITIONAL_NAMES`` or a matrix that is symmetric, non-negative, positive semidefinite and of
    size ``2 w + 1``.
    """
    if w < 0 or int(w) != w:
        raise ValueError(f"window must be an integer of at least 0, got {w}")
    if isinstance(positional, str) and positional not in POSITIONAL_NAMES:
        raise ValueError(
            f"positional must be one of {POSITIONAL_NAMES} or a matrix, got {positional!r}"
        )
    if not theta > 0:
        raise ValueError(f"theta must be positive, got {theta}")
    P = positional_matrix(positional, w, theta)
    if P.shape != (2 * w + 1, 2 * w + 1) or not np.allclose(P, P.T) or P.min() < 0:
        raise ValueError(
            f"positional must be symmetric, non-negative and {2 * w + 1} x {2 * w + 1} for "
            f"window {w}, got {P.tolist()}"
        )
    lowest = float(np.linalg.eigvalsh(P).min())
    if lowest < -1e-9:
        raise ValueError(
            f"positional must be positive semidefinite, lowest eigenvalue {lowest:.3g}"
        )


MAX_CHUNK_PAIRS = 1 << 20  # pairs of windows compared at once
MIN_DENSE_WINDOWS = 256  # windows of a centre above which pairs are compared as a dense block


@dataclass(frozen=True, eq=False)
class WindowPairs:
    """Distinct windows sorted by centre, and the values of M for pairs with the same centre.

    ``M_ij = Π_ml (P_ml δ(i_m, j_l) + 1)``, and 0 for different centres.
    """

    symbols: NDArray[np.int64]  # (windows, 2 w + 1)
    P: Matrix

    def gram(self, left: SparseMatrix, right: SparseMatrix | None) -> Matrix:
        """Return ``left M right'`` (x, y); ``left M left'`` if ``right`` is None.

        ``left`` (x, windows) and ``right`` (y, windows) count the windows of each sequence, ``M``
        is the similarity of two windows. Only windows that occur are compared, each pair once.
        """
        i_windows = np.flatnonzero(np.bincount(left.indices, minlength=len(self.symbols)))
        j_windows = i_windows
        if right is not None:
            j_windows = np.flatnonzero(np.bincount(right.indices, minlength=len(self.symbols)))
        groups = _Groups.from_centres(self._centre[i_windows], self._centre[j_windows])
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
        """Return the diagonal of ``counts M counts'``, (x,), from pairs of windows of one sequence.

        ``counts`` (x, windows) counts the windows of each sequence.
        """
        row = np.repeat(np.arange(counts.shape[0]), np.diff(counts.indptr))
        key = row * np.int64(len(self.symbols) + 1) + self._centre[counts.indices]
        order = np.argsort(key, kind="stable")
        window, weight, row = counts.indices[order], counts.data[order], row[order]
        groups = _Groups.from_centres(key[order], key[order])
        total = np.zeros(counts.shape[0])
        for i, j in groups.pairs(np.arange(len(groups.size_i)), symmetric=False):
            values = self._compare_pairs(window[i], window[j]) * weight[i] * weight[j]
            total += np.bincount(row[i], values, minlength=len(total))
        return total

    @property
    def _centre(self) -> NDArray[np.int64]:
        """Symbol in the middle of each window, in ascending order."""
        return self.symbols[:, self.symbols.shape[1] // 2]

    def _compare_pairs(self, i: Indices, j: Indices) -> Vector:
        """Return M for windows ``i[n]`` and ``j[n]``, which must have equal centres, (n,).

        It is the product of ``1 + P[m, k]`` over all pairs of positions m, k with equal symbols.
        Symbols outside a sequence match nothing. That the centres are equal is not checked.
        """
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
        """Return M for centres with few windows, (i_windows, j_windows); other cells are 0.

        ``groups`` are the common centres of the two lists of windows. If symmetric, only the upper
        half with a halved diagonal is returned, so that ``M + M'`` is the whole.
        """
        small = np.flatnonzero(~groups.is_large)
        rows, columns, values = [], [], []
        for i, j in groups.pairs(small, symmetric=symmetric):
            products = self._compare_pairs(i_windows[i], j_windows[j])
            if symmetric:
                products[i == j] *= 0.5
            rows.append(i.astype(np.int32))
            columns.append(j.astype(np.int32))
            values.append(products)
        none = np.empty(0, np.int32)
        cells = (
            np.concatenate([np.empty(0), *values]),
            (np.concatenate([none, *rows]), np.concatenate([none, *columns])),
        )
        return sp.csr_array(cells, shape=(len(i_windows), len(j_windows)))

    def _add_dense_parts(
        self, K: Matrix, left: tuple[SparseMatrix, Indices], right: Any, groups: _Groups
    ) -> None:
        """Add the products of frequent centres to K in place, one dense block per centre.

        ``groups`` are the common centres of the two lists of windows. ``left`` and ``right`` are
        pairs of window counts (x, windows) and the numbers of their windows, which are the columns
        of the counts.
        """
        F, G = sp.csc_array(left[0]), sp.csc_array(right[0])
        for g in np.flatnonzero(groups.is_large).tolist():
            a, b = groups.slice_i(g), groups.slice_j(g)
            block_F, rows = _nonempty_rows(F[:, a])
            block_G, columns = _nonempty_rows(G[:, b])
            M = self._compare_all(left[1][a], right[1][b])
            K[np.ix_(rows, columns)] += (block_F @ M) @ block_G.T.toarray()

    def _compare_all(self, i: Indices, j: Indices) -> Matrix:
        """Return M for all windows ``i`` with all windows ``j``, all of one centre, (i, j).

        It is the product of ``1 + P[m, k]`` over all pairs of positions m, k with equal symbols.
        Symbols outside a sequence match nothing. That the centres are equal is not checked.
        """
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
    """Runs of windows with the same centre in two sorted lists.

    One entry per centre that both lists have, in ascending order: where its run begins in the first
    list (``i``) and in the second (``j``), and how long it is.
    """

    start_i: Indices
    size_i: Indices
    start_j: Indices
    size_j: Indices

    @classmethod
    def from_centres(cls, left: NDArray[Any], right: NDArray[Any]) -> _Groups:
        """Find the centres that both lists have, and their runs in each.

        The lists must be sorted in ascending order; either may be empty.
        """
        centres = np.intersect1d(left, right)
        bounds = [
            np.searchsorted(list_, centres, side=side)
            for list_ in (left, right)
            for side in ("left", "right")
        ]
        return cls(bounds[0], bounds[1] - bounds[0], bounds[2], bounds[3] - bounds[2])

    @property
    def is_large(self) -> NDArray[np.bool_]:
        """Mask of groups with more than ``MIN_DENSE_WINDOWS`` windows in both lists.

        Their windows are compared as a dense block.
        """
        return np.minimum(self.size_i, self.size_j) > MIN_DENSE_WINDOWS

    def slice_i(self, g: int) -> slice:
        """Return the run of group ``g`` in the first list."""
        return slice(int(self.start_i[g]), int(self.start_i[g] + self.size_i[g]))

    def slice_j(self, g: int) -> slice:
        """Return the run of group ``g`` in the second list."""
        return slice(int(self.start_j[g]), int(self.start_j[g] + self.size_j[g]))

    def pairs(self, chosen: Indices, *, symmetric: bool) -> Iterator[tuple[Indices, Indices]]:
        """Yield all index pairs (i, j) of the chosen groups in chunks; only i <= j if symmetric.

        Each item is two arrays of equal length, indices into the first and second list, with about
        ``MAX_CHUNK_PAIRS`` entries. ``symmetric`` requires that both lists are the same.
        """
        sizes = self.size_i[chosen]
        member = np.arange(sizes.sum()) - np.repeat(np.cumsum(sizes) - sizes, sizes)
        i = np.repeat(self.start_i[chosen], sizes) + member
        first = i if symmetric else np.repeat(self.start_j[chosen], sizes)
        last = np.repeat(self.start_j[chosen] + self.size_j[chosen], sizes)
        repeats = last - first
        ends = np.cumsum(repeats)
        begin = 0
        while begin < len(i):
            previous = ends[begin - 1] if begin else 0
            end = max(
                begin + 1, int(np.searchsorted(ends, previous + MAX_CHUNK_PAIRS, side="right"))
            )
            count = repeats[begin:end]
            offset = np.arange(count.sum()) - np.repeat(np.cumsum(count) - count, count)
            yield np.repeat(i[begin:end], count), np.repeat(first[begin:end], count) + offset
            begin = end


def _nonempty_rows(columns: Any) -> tuple[SparseMatrix, Indices]:
    """Return the rows of a sparse matrix that have a stored entry, and their indices, ascending."""
    rows = sp.csr_array(columns)
    nonempty = np.flatnonzero(np.diff(rows.indptr))
    return rows[nonempty], nonempty


@dataclass(frozen=True)
class Positional:
    """Similarity of two word-position matrices: ``k(X, Z) = tr(P̂ X' Ŵ Z)``.

    ``P̂`` says which positions resemble each other and ``Ŵ`` which words do (only equal ones if
    ``words`` is None). Linear after ``X -> B' X R`` with ``P̂ = R R'`` and ``Ŵ = B B'``, so a
    feature is a (word component, position component). Building the features costs one step for each
    word and component it touches. ``table`` turns a fitted model into one weight per word and
    position.

    >>> from textrank.representations.transformations import Weighting
    >>> X = Contexts.from_lists([[("binds", -1), ("to", 1)], [("to", 2)]])
    >>> Positional(Weighting(decay=1.0, base=0.0))(X)
    array([[2.  , 0.5 ],
           [0.5 , 0.25]])
    """

    positions: PositionTransformation
    words: WordTransformation | None = None

    def __call__(self, X: Sequence[Contexts], Y: Sequence[Contexts] | None = None) -> Matrix:
        """Return the Gram matrix (x, y) by explicit features; of X with itself if Y is None.

        A value sums, over pairs of words of the two contexts, similarity of words (equal or not if
        ``words`` is None) times similarity of positions. It is not normalised.
        """
        return gram_of_features(self.features, X, Y)

    def diag(self, X: Sequence[Contexts]) -> Vector:
        """Return the similarity of each context with itself, (x,); 0 for one without words."""
        batch = as_contexts(X)
        if self.words is not None:
            return squared_norms(self.features(batch).values)
        return _squared_norms(batch, self.positions)

    def features(self, X: Sequence[Contexts]) -> Features:
        """Return a column per pair of word component and position component that occurs in X.

        One row per context; a context without words has an empty row. Names are the word (or its
        component), then the position component. Columns are sorted by position component, then by
        word component, in the order of the factors; if ``words`` is None each word of the
        vocabulary is its own component.
        """
        batch = as_contexts(X)
        distinct, position_index = _unique_positions(batch.positions)
        R = self.positions.factor(distinct)
        B = None if self.words is None else self.words.factor(batch.vocabulary)
        words = FeatureNames.from_iterable(batch.vocabulary) if B is None else B.names
        parts = [
            _transform_contexts(
                batch[part],
                R.values,
                position_index[slice(*batch.starts[[part.start, part.stop]])],
                B,
            )
            for part in _context_slices(batch.starts)
        ]
        shape = (0, len(R.names) * len(words))
        values = sp.csr_array(sp.vstack(parts) if parts else sp.csr_array(shape))
        used = np.flatnonzero(np.bincount(values.indices, minlength=shape[1]))
        columns = np.column_stack([used % max(len(words), 1), used // max(len(words), 1)])
        return Features(_keep_columns(values, used), _pair_names(words, R.names, columns))

    @property
    def learns(self) -> bool:
        """Whether a transformation has to be learnt from training contexts."""
        return needs_learning(self.positions) or needs_learning(self.words)

    def learn(self, X: Sequence[Contexts]) -> Positional:
        """Return a kernel with transformations learnt from these contexts; no label is used.

        This kernel is not changed; transformations that need no learning are kept.
        """
        batch = as_contexts(X)
        return Positional(
            learn_transformation(self.positions, batch), learn_transformation(self.words, batch)
        )

    def compile_scorer(self, weights: FeatureWeights) -> Scorer:
        """Return ``score(X, question_ids)``, which applies the weights to contexts.

        Uses ``ContextScorer`` if only equal words are similar and there are at most
        ``MAX_TABLE_COMPONENTS`` position components, else the features.
        """
        components, _ = weights.names.drop_first_word().unique()
        if self.words is not None or len(components) > MAX_TABLE_COMPONENTS:
            return compile_feature_scorer(self, weights)
        return ContextScorer.from_weights(self.positions, weights)

    def table(
        self, coef: Vector, names: FeatureNames, *, vocabulary: Sequence[str], span: int
    ) -> ContextTable:
        """Return a linear model on these features as one weight per word and position.

        Parameters
        ----------
        coef
            Weights of the features ``names``, (d,).
        names
            Names of the model's features, as from ``features``; features that it lacks weigh 0.
        vocabulary
            Words of the table; other words score 0.
        span
            The table covers the positions ``-span ... span``.
        """
        offsets = np.arange(-span, span + 1)
        R = self.positions.factor(offsets)
        B = None if self.words is None else self.words.factor(vocabulary)
        word_names = FeatureNames.from_iterable(vocabulary) if B is None else B.names
        grid = np.indices((len(word_names), len(R.names))).reshape(2, -1).T
        columns = names.find(_pair_names(word_names, R.names, grid))
        weights = np.append(coef, 0.0)[columns].reshape(len(word_names), len(R.names))
        table = np.asarray((R.values @ weights.T).T)
        table = table if B is None else np.asarray(B.values @ table)
        return ContextTable.from_weights(vocabulary, table)


@dataclass(frozen=True, eq=False)
class ContextTable:
    """Linear model on contexts as one weight per word and position.

    Scoring costs one lookup per word of a context, whatever the model was trained on. Contexts
    whose ``vocabulary`` is the table's own tuple need no lookup of words by text.
    """

    vocabulary: tuple[str, ...]
    index: Mapping[str, int]
    weights: Matrix  # (words + 1, 2 span + 1), position 0 in the middle; unknown words at the end

    @classmethod
    def from_weights(cls, vocabulary: Sequence[str], weights: Matrix) -> ContextTable:
        """Build a table from weights of shape (words, 2 span + 1), position 0 in the middle.

        Row i belongs to ``vocabulary[i]``; words must be distinct. A row of zeros is appended for
        unknown words. The weights are copied.
        """
        index = {word: i for i, word in enumerate(vocabulary)}
        return cls(tuple(vocabulary), index, np.vstack([weights, np.zeros((1, weights.shape[1]))]))

    @property
    def span(self) -> int:
        """Largest distance from the target that the table covers."""
        return self.weights.shape[1] // 2

    def scores(self, X: Contexts) -> Vector:
        """Return the sum of the weights of all words at their positions, one per context, (n,).

        Unknown words weigh 0; a context without words scores 0. Raises ValueError if a position
        lies outside the table.
        """
        words = X.words if X.vocabulary is self.vocabulary else self._word_rows(X)[X.words]
        farthest = int(np.abs(X.positions).max(initial=0))
        if farthest > self.span:
            raise ValueError(
                f"a word is {farthest} words from its target but the table covers {self.span}. "
                "Build it with a larger span."
            )
        cells = words * np.intp(self.weights.shape[1]) + (X.positions + self.span)
        return _sum_contexts(self.weights.ravel()[cells], X.starts)

    def _word_rows(self, X: Contexts) -> Indices:
        """Return the table row of each word of X's vocabulary; the last row if it is unknown."""
        unknown = len(self.index)
        return np.array([self.index.get(word, unknown) for word in X.vocabulary], dtype=np.intp)


def as_contexts(X: Sequence[Contexts]) -> Contexts:
    """Return X, a batch or a sequence of batches, as one batch of contexts, in order.

    A batch is returned as it is.
    """
    return X if isinstance(X, Contexts) else Contexts.concat(list(X))


def _context_slices(starts: Indices) -> list[slice]:
    """Return slices of contexts, in order, with about ``MAX_CHUNK_WORDS`` words each.

    ``starts`` (n + 1,) are the offsets of the contexts. A context is never divided, so a slice may
    have more words. Without contexts there is no slice.
    """
    targets = np.arange(0, starts[-1] + 1, MAX_CHUNK_WORDS)[1:]
    cuts = np.unique([0, *np.searchsorted(starts, targets), len(starts) - 1])
    return [slice(int(a), int(b)) for a, b in pairwise(cuts)]


def _transform_contexts(
    batch: Contexts, R: SparseMatrix, position_index: Indices, B: Features | None
) -> SparseMatrix:
    """Return ``B' X R`` of each context as a sparse row, in column ``component * words + word``.

    ``R`` has a row per distinct position, ``position_index`` the row of each word's position. ``B``
    has a row per word of the vocabulary; it is None if only equal words are similar. Zeros are not
    stored.
    """
    n, r = len(batch), R.shape[1]
    repeats = np.diff(R.indptr)[position_index]
    token = np.repeat(np.arange(len(position_index)), repeats)
    entry = np.arange(len(token)) + np.repeat(
        R.indptr[position_index] - np.cumsum(repeats) + repeats, repeats
    )
    context = np.repeat(np.arange(n), np.diff(batch.starts))
    rows = context[token] * r + R.indices[entry]

    shape = (n * r, len(batch.vocabulary))
    X = sp.csr_array((R.data[entry], (rows, batch.words[token])), shape=shape)
    X = (X if B is None else X @ B.values).tocoo()
    cells = (X.data, (X.row // r, (X.row % r) * X.shape[1] + X.col))
    values = sp.csr_array(cells, shape=(n, r * X.shape[1]))
    values.eliminate_zeros()
    return values


def _keep_columns(values: SparseMatrix, used: Indices) -> SparseMatrix:
    """Return only the columns ``used``, which must hold all entries, renumbered in order.

    ``used`` is ascending; an entry in another column would silently move to column 0.
    """
    number = np.zeros(values.shape[1], dtype=np.int32)
    number[used] = np.arange(len(used))
    parts = (values.data, number[values.indices], values.indptr)
    return sp.csr_array(parts, shape=(values.shape[0], len(used)))


def _pair_names(first: FeatureNames, second: FeatureNames, columns: Any) -> FeatureNames:
    """Return the names of pairs: the words of a name of ``first``, then those of one of ``second``.

    ``columns`` (n, 2) holds the indices of both names of each pair.
    """
    offset = len(first.vocabulary)
    right = second.parts[columns[:, 1]]
    parts = np.hstack([first.parts[columns[:, 0]], np.where(right >= 0, right + offset, -1)])
    # Padding moves to the end, so that equal names have equal parts.
    order = np.argsort(parts < 0, axis=1, kind="stable") if (parts < 0).any() else None
    parts = parts if order is None else np.take_along_axis(parts, order, axis=1)
    return FeatureNames((*first.vocabulary, *second.vocabulary), parts.astype(np.int32))


def _unique_positions(positions: Any) -> tuple[Indices, Indices]:
    """Return the sorted distinct positions and the index of each position among them.

    ``positions`` are integers, also negative ones; memory grows with their range. Both results are
    empty for no positions.
    """
    if not len(positions):
        return np.empty(0, np.intp), np.empty(0, np.intp)
    low = int(positions.min())
    present = np.bincount(positions - low) > 0
    number = np.cumsum(present) - 1
    return np.flatnonzero(present) + low, number[positions - low]


def _sum_contexts(values: Vector, starts: Indices) -> Vector:
    """Return the sum of the values of each context, (n,); 0 for a context without words.

    ``values`` has one number per word, ``starts`` (n + 1,) the offsets of the contexts.
    """
    filled = np.flatnonzero(np.diff(starts))
    sums = np.zeros(len(starts) - 1)
    if len(filled):
        sums[filled] = np.add.reduceat(values, starts[filled])
    return sums


def _squared_norms(batch: Contexts, transformation: PositionTransformation) -> Vector:
    """Return ``Σ_ij [same word] P̂(p_i, p_j)`` of each context, (n,), without building features.

    ``P̂`` is the transformation's inner product of two positions. Fast because words rarely repeat
    within a context.
    """
    distinct, position_index = _unique_positions(batch.positions)
    R = transformation.factor(distinct).values
    P = (R @ R.T).toarray() if len(distinct) else np.zeros((0, 0))
    row = np.repeat(np.arange(len(batch), dtype=np.int64), np.diff(batch.starts))
    key = row * max(len(batch.vocabulary), 1) + batch.words
    order = np.argsort(key)
    key, row, position_index = key[order], row[order], position_index[order]

    total = np.bincount(row, np.diag(P)[position_index], minlength=len(batch)).astype(np.float64)
    first, step = np.arange(len(key)), 1
    while len(first):
        first = first[first + step < len(key)]
        first = first[key[first] == key[first + step]]
        pairs = 2 * P[position_index[first], position_index[first + step]]
        total += np.bincount(row[first], pairs, minlength=len(batch))
        step += 1
    return total


@dataclass(frozen=True, eq=False)
class ContextScorer:
    """Scorer of the features of ``Positional`` with equal words, applied while they are counted.

    The features of a word in a context are the sum of R over its positions, one number per
    component. They are multiplied with the weights of the word for the context's question. Calling
    the scorer with contexts (or ``SharedRows`` of contexts) and question ids returns
    ``LinearScores``.
    """

    words: Mapping[str, int]
    questions: int
    codes: HashIndex  # of word * questions + question
    table: Matrix  # (codes + 1, r) weights by component; zeros in the last row
    columns: Indices  # (codes + 1, r) column of each weight in the model, or -1
    factor: Callable[[int], Matrix]  # R of the positions -distance ... distance

    @classmethod
    def from_weights(
        cls, positions: PositionTransformation, weights: FeatureWeights
    ) -> ContextScorer:
        """Build the scorer from weights of features named by a word and a position component.

        ``positions`` is the transformation of the ``Positional`` kernel that made the features.
        Weights become a table with one row per word and question, one column per component, and a
        last row of 0 for all others. Cells without a weight are 0, and -1 in ``columns``. R is
        computed when contexts are scored.
        """
        names = weights.names
        words = {word: number for number, word in enumerate(names.vocabulary)}
        components, component = names.drop_first_word().unique()
        pairs = names.parts[:, 0] * np.intp(weights.num_questions) + weights.question_ids
        codes, row = factorize(pairs)
        table = np.zeros((len(codes) + 1, len(components)))
        table[row, component] = weights.coef
        columns = np.full(table.shape, -1)
        columns[row, component] = weights.columns
        hash_index = HashIndex(codes.astype(np.uint64))

        @lru_cache(maxsize=4)
        def factor(distance: int) -> Matrix:
            """Return R of the positions ``-distance ... distance``, model components first.

            One row per position; the last four results are cached.
            """
            return _align_components(
                positions.factor(np.arange(-distance, distance + 1)), components
            )

        return cls(words, weights.num_questions, hash_index, table, columns, factor)

    def __call__(self, X: Sequence[Any], question_ids: Indices) -> LinearScores:
        """Return the ``LinearScores`` of contexts, each by the weights of its question.

        ``question_ids`` has one number per candidate, that is per context or row of ``SharedRows``;
        -1 is an unknown question, which scores 0. Unknown words, and components that the model
        lacks, score 0 but count in ``squares``.
        """
        distinct, row_index = split_shared(X)
        batch = distinct if isinstance(distinct, Contexts) else Contexts.concat(list(distinct))
        context, word, sums = self._component_sums(batch)
        squares = sum_by_owner(np.einsum("ij,ij->i", sums, sums), context, len(batch))
        in_model = np.flatnonzero(word >= 0)
        if row_index is None:
            return self._score_words(
                context[in_model], word[in_model], sums[in_model], question_ids, squares
            )
        context_starts = np.searchsorted(context[in_model], np.arange(len(batch) + 1))
        row, cells = expand(context_starts[row_index], np.diff(context_starts)[row_index])
        in_model = in_model[cells]
        return self._score_words(
            row, word[in_model], sums[in_model], question_ids, squares[row_index]
        )

    def _component_sums(self, batch: Contexts) -> tuple[Indices, Indices, Matrix]:
        """Sum R over the positions of each distinct word of each context.

        Returns the context of each (context, word) pair in ascending order, the number of the word
        in the model or -1, and the sums (pairs, r).
        """
        distance = 1 << int(np.abs(batch.positions).max(initial=0)).bit_length()
        shifted = batch.positions + distance
        context = np.repeat(np.arange(len(batch)), np.diff(batch.starts))
        size = max(len(batch.vocabulary), 1)
        cells, cell = factorize(context * size + batch.words)
        R = self._drop_unused(self.factor(distance), shifted)
        sums = [sum_by_owner(column[shifted], cell, len(cells)) for column in R.T]
        number = np.array([self.words.get(w, -1) for w in batch.vocabulary] or [-1], dtype=np.intp)
        return cells // size, number[cells % size], np.stack(sums, axis=1)

    def _drop_unused(self, R: Matrix, rows: NDArray[np.int32]) -> Matrix:
        """Return R without the components that are not in the model and that no position has.

        ``rows`` are the rows of R that occur, one per word. The model's components come first and
        are all kept; the others still count in the length of the features.
        """
        model_columns = self.table.shape[1]
        if R.shape[1] == model_columns:
            return R
        extra = R[:, model_columns:]
        occurs = extra[np.bincount(rows, minlength=len(R)) > 0].any(axis=0)
        return np.hstack([R[:, :model_columns], extra[:, occurs]])

    def _score_words(
        self, row: Indices, word: Indices, sums: Matrix, question_ids: Indices, squares: Vector
    ) -> LinearScores:
        """Score contexts by the sums of the words that the model knows.

        ``row``, ``word`` and ``sums`` are aligned: the context of a word, its number in the model
        and its component sums. ``question_ids`` and ``squares``, the squared length of the
        features, have one entry per context; ``squares`` is passed on. A question id of -1 is
        unknown and has no weights.
        """
        question = question_ids[row]
        codes = np.where(question < 0, -1, word * self.questions + question)
        weight_index = self.codes.find(codes.astype(np.uint64))
        sums = sums[:, : self.table.shape[1]]
        added = np.einsum("ij,ij->i", sums, self.table[weight_index])

        def contributions() -> Contributions:
            """Return rows, columns and values of the nonzero features with a weight."""
            columns = self.columns[weight_index]
            has_weight = (columns >= 0) & (sums != 0)
            return Contributions(
                row[has_weight.nonzero()[0]], columns[has_weight], sums[has_weight]
            )

        return LinearScores(sum_by_owner(added, row, len(question_ids)), squares, contributions)


def _align_components(R: Features, components: FeatureNames) -> Matrix:
    """Return R as a dense matrix with the columns ``components`` first, in order, then all others.

    A component that R lacks becomes a column of zeros.
    """
    order = R.names.find(components)
    values = R.values.toarray()
    aligned = np.where(order >= 0, values[:, order], 0.0)
    return np.asfortranarray(np.hstack([aligned, np.delete(values, order[order >= 0], axis=1)]))
