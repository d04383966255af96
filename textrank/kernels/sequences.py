"""Locality kernels: similarity of two sequences by the windows around their symbols.

Most are sums over patterns of offsets (``Pattern``, ``pattern_features``); ``LocalityConvolution``
compares distinct windows (``Windows``, ``WindowPairs``). Formula numbers are those of Tsivtsivadze
et al. (2009), Applied Intelligence 31:81-88.

``f`` and ``g`` are sequences of symbols, ``f_i`` the symbol at position ``i``, and ``δ`` is 1 for
equal symbols. Positions outside a sequence match nothing. A *window* has ``w`` symbols on each side
of its *centre*; symbols are indices into the alphabet of a ``Sequences`` batch.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from textrank.features import FeatureNames, Features, Indices, Matrix, SparseMatrix, Vector
from textrank.graphs import Sequences, pivoted_cholesky
from textrank.linalg import ExplicitKernel, gram


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
        (``"near +1"``), the symbol and its neighbour.
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

        One row per sequence. Sets that reach outside the sequence do not count.
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
        symbol at their centre first, then by the others from left to right.
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
