"""Windows around the symbols of sequences, each distinct one counted once: C of ``K = C M C'``."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from textrank.types import Features, Indices, Matrix, Names, Sequences, SparseMatrix

OUTSIDE = -1  # the symbol beyond either end, which matches nothing
POSITIONAL = ("gaussian", "same", "any")


@dataclass(frozen=True, eq=False)
class Windows:
    """Every distinct window of some sequences, sorted by its centre, and how often each occurs."""

    symbols: NDArray[np.int64]  # (windows, 2 w + 1)
    counts: SparseMatrix  # (sequences, windows)

    @classmethod
    def of(cls, X: Sequences, w: int) -> Windows:
        """The distinct windows of the sequences, and how often each has one."""
        columns = [shifted(X, offset) for offset in range(-w, w + 1)]
        centre_first = [columns[w], *columns[:w], *columns[w + 1 :]]
        code = encoded(centre_first)
        _, first, number = np.unique(code, return_index=True, return_inverse=True)
        rows = np.repeat(np.arange(len(X)), np.diff(X.starts))
        cells = (np.ones(len(rows)), (rows, number))
        counts = sp.csr_array(cells, shape=(len(X), len(first)))
        return cls(np.column_stack(columns)[first], counts)

    @property
    def centre(self) -> NDArray[np.int64]:
        """The symbol in the middle of each window."""
        return self.symbols[:, self.symbols.shape[1] // 2]


def batch(X: Sequence[Sequences]) -> Sequences:
    """X as one batch."""
    return X if isinstance(X, Sequences) else Sequences.below(list(X))


def shifted(X: Sequences, offset: int) -> NDArray[np.int64]:
    """The symbol ``offset`` places after each symbol of its own sequence, or OUTSIDE."""
    row = np.repeat(np.arange(len(X)), np.diff(X.starts))
    at = np.arange(len(X.codes)) + offset
    inside = (at >= X.starts[:-1][row]) & (at < X.starts[1:][row])
    symbols = np.full(len(at), OUTSIDE, dtype=np.int64)
    symbols[inside] = X.codes[at[inside]]
    return symbols


def encoded(columns: Sequence[NDArray[np.int64]]) -> NDArray[np.int64]:
    """One number a row, equal where the rows are and in their order."""
    base = 2 + max((int(column.max(initial=0)) for column in columns), default=0)
    code = columns[0] + 1
    top = base
    for column in columns[1:]:
        if top > np.iinfo(np.int64).max // base:  # renumber before the product overflows
            code = np.unique(code, return_inverse=True)[1].astype(np.int64)
            top = len(code) + 1
        code = code * base + (column + 1)
        top *= base
    return code


@dataclass(frozen=True)
class Pattern:
    """Offsets whose symbols together are one feature, its value, and what to call the pattern."""

    offsets: tuple[int, ...]
    weight: float = 1.0
    label: str = ""


def pattern_features(X: Sequences, patterns: Sequence[Pattern]) -> Features:
    """The weights of the patterns, summed for each label and tuple of symbols found at them."""
    rows = np.repeat(np.arange(len(X)), np.diff(X.starts))
    symbols = {o: shifted(X, o) for o in sorted({o for p in patterns for o in p.offsets})}
    labels = list(dict.fromkeys(pattern.label for pattern in patterns))
    width = max((len(pattern.offsets) for pattern in patterns), default=0)
    keys, owners, values = [np.empty((0, width + 1), np.int64)], [rows[:0]], [np.empty(0)]
    for pattern in patterns:
        inside = np.logical_and.reduce([symbols[o] >= 0 for o in pattern.offsets])
        key = np.full((int(inside.sum()), width + 1), OUTSIDE, dtype=np.int64)
        key[:, 0] = labels.index(pattern.label)
        for place, offset in enumerate(pattern.offsets, 1):
            key[:, place] = symbols[offset][inside]
        keys.append(key)
        owners.append(rows[inside])
        values.append(np.full(len(key), pattern.weight))

    distinct, column = _numbered(np.vstack(keys))
    cells = (np.concatenate(values), (np.concatenate(owners), column))
    matrix = sp.csr_array(cells, shape=(len(X), len(distinct)))
    return Features(matrix, _named(X.alphabet, labels, distinct))


def _numbered(keys: NDArray[np.int64]) -> tuple[NDArray[np.int64], Indices]:
    code = encoded(list(keys.T))
    _, first, number = np.unique(code, return_index=True, return_inverse=True)
    return keys[first], number


def _named(alphabet: Sequence[str], labels: Sequence[str], keys: NDArray[np.int64]) -> Names:
    """The label, where there is one, before the symbols."""
    if not any(labels):
        return Names(tuple(alphabet), keys[:, 1:].astype(np.int32))
    parts = np.hstack([keys[:, :1] + len(alphabet), keys[:, 1:]])
    return Names((*alphabet, *labels), parts.astype(np.int32))


def offset_sets(w: int, largest: int) -> list[tuple[int, ...]]:
    """All sets of at most ``largest`` offsets within ``w`` of the centre."""
    offsets = range(-w, w + 1)
    return [chosen for n in range(1, largest + 1) for chosen in combinations(offsets, n)]


def positional_matrix(positional: Any, w: int, theta: float) -> Matrix:
    """P over the offsets -w ... w: a name, or the numbers themselves."""
    offsets = np.arange(-w, w + 1)
    if not isinstance(positional, str):
        return np.asarray(positional, dtype=np.float64)
    if positional == "any":
        return np.ones((2 * w + 1, 2 * w + 1))
    if positional == "same":
        return np.eye(2 * w + 1)
    return np.exp(-((offsets[:, None] - offsets[None, :]) ** 2) / (2 * theta**2))


def check_positional(positional: Any, w: int, theta: float) -> None:
    """Raises an error for a window, θ or matrix that makes no kernel."""
    if w < 0 or int(w) != w:
        raise ValueError(f"window must be a whole number of at least 0, got {w}")
    if isinstance(positional, str) and positional not in POSITIONAL:
        raise ValueError(f"positional must be one of {POSITIONAL} or a matrix, got {positional!r}")
    if not theta > 0:
        raise ValueError(f"theta must be positive, got {theta}")
    P = positional_matrix(positional, w, theta)
    if P.shape != (2 * w + 1, 2 * w + 1) or not np.allclose(P, P.T) or P.min() < 0:
        raise ValueError(
            f"positional must be symmetric, not negative and {2 * w + 1} x {2 * w + 1} for "
            f"window {w}, got {P.tolist()}"
        )
    lowest = float(np.linalg.eigvalsh(P).min())
    if lowest < -1e-9:
        raise ValueError(
            f"positional must be positive semidefinite, lowest eigenvalue {lowest:.3g}"
        )
