"""Gram matrices of sparse features, and of any kernel block by block."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

import numpy as np
import scipy.linalg.blas as blas
import scipy.sparse as sp
from numpy.typing import NDArray

from textrank.progress import track
from textrank.types import (
    Cells,
    FeatureKernel,
    Features,
    Kernel,
    Matrix,
    SparseMatrix,
    Vector,
    size,
)
from textrank.types.ragged import lengths

T = TypeVar("T")

# One column shared by a share s of the rows costs s² n² slow sparse steps or n² fast dense ones.
DENSE_SHARE = 0.05
# Temporary numbers held at once beside the result.
BUDGET = 1 << 24


def gram(F: SparseMatrix, G: SparseMatrix | None = None, *, dtype: str = "float64") -> Matrix:
    """Inner products of the rows, ``F G'`` (``F F'`` without G), as a dense matrix.

    Columns that many rows share go through a dense product, the others through a sparse one, and
    in ``F F'`` a column of a single row only touches the diagonal. Beside the result it holds a
    bounded amount of memory.

    >>> gram(sp.csr_array([[1.0, 2.0], [0.0, 3.0]]))
    array([[5., 6.],
           [6., 9.]])
    """
    F = sp.csr_array(F).astype(dtype, copy=False)
    if G is None:
        return _symmetric(F)
    G = sp.csr_array(G).astype(dtype, copy=False)
    if F.shape[1] != G.shape[1]:
        raise ValueError(
            f"{F.shape[1]} columns against {G.shape[1]}: align the features first, with "
            "Features.onto."
        )
    return _rectangular(F, G)


def gram_of(features: Callable[[Any], Features], X: Any, Y: Any = None) -> Matrix:
    """The Gram matrix of a feature map; columns that X lacks do not matter."""
    F = features(X)
    return gram(F.values) if Y is None else gram(F.values, features(Y).onto(F.names))


class ExplicitKernel(Generic[T]):
    """A kernel that is its feature map: with ``features`` written, the products follow."""

    def features(self, X: Sequence[T]) -> Features:
        """Named features, a row each."""
        raise NotImplementedError

    def __call__(self, X: Sequence[T], Y: Sequence[T] | None = None) -> Matrix:
        """The Gram matrix, (x, y)."""
        return gram_of(self.features, X, Y)

    def diag(self, X: Sequence[T]) -> Vector:
        """The kernel of each with itself, (x,)."""
        return squares(self.features(X).values)


def squares(F: SparseMatrix | Cells) -> Vector:
    """Squared length of each row: the diagonal of ``F F'``."""
    if not isinstance(F, Cells):
        F = F if isinstance(F, sp.csr_array) else sp.csr_array(F)  # to wrap it anew takes time
        if not F.has_canonical_format:  # entries stored twice add up before they are squared
            F = F.copy()
            F.sum_duplicates()
    rows = np.arange(F.shape[0]).repeat(lengths(F.indptr))
    squared: Vector = F.data.astype(np.float64) ** 2
    return np.bincount(rows, squared, minlength=F.shape[0]).astype(np.float64, copy=False)


def blocks(n: int, rows: int) -> list[slice]:
    """Consecutive slices of at most ``rows`` that cover ``n``."""
    return [slice(start, min(n, start + rows)) for start in range(0, n, rows)]


def gram_blocks(
    kernel: Kernel[T], X: Sequence[T], Y: Sequence[T] | None = None, *, rows: int = 1024
) -> Iterator[tuple[slice, Matrix]]:
    """The Gram matrix some rows at a time, for a matrix too large to hold.

    >>> from textrank.kernels.vectors import Linear
    >>> X = np.eye(3)
    >>> [K.shape for _, K in gram_blocks(Linear(), X, rows=2)]
    [(2, 3), (1, 3)]
    """
    other = X if Y is None else Y
    slices = blocks(size(X), rows)
    for part in track(slices, "kernel rows", len(slices)):
        yield part, kernel(X[part], other)


@dataclass(frozen=True)
class Blocked:
    """A kernel computed block by block: its temporaries stay small, and progress is shown.

    Only the upper blocks of a symmetric matrix are computed. ``dtype`` float32 halves the memory.

    >>> from textrank.kernels.vectors import Linear
    >>> Blocked(Linear(), rows=1)(np.array([[1.0], [2.0]])).tolist()
    [[1.0, 2.0], [2.0, 4.0]]
    """

    kernel: Kernel[Any]
    rows: int = 1024
    dtype: str = "float64"

    def __post_init__(self) -> None:
        if self.rows < 1:
            raise ValueError(f"rows must be at least 1, got {self.rows}")
        if self.dtype not in ("float32", "float64"):
            raise ValueError(f"dtype must be 'float32' or 'float64', got {self.dtype!r}")

    def __call__(self, X: Sequence[Any], Y: Sequence[Any] | None = None) -> Matrix:
        across = X if Y is None else Y
        K = np.empty((size(X), size(across)), dtype=self.dtype)
        pairs = [
            (a, b)
            for a in blocks(size(X), self.rows)
            for b in blocks(size(across), self.rows)
            if Y is not None or a.start <= b.start
        ]
        for a, b in track(pairs, "kernel blocks", len(pairs)):
            same = Y is None and a == b
            K[a, b] = self.kernel(X[a]) if same else self.kernel(X[a], across[b])
            if Y is None and a != b:
                K[b, a] = K[a, b].T
        return K

    def diag(self, X: Sequence[Any]) -> Vector:
        """The similarity of each input with itself, ``(x,)``."""
        parts = [self.kernel.diag(X[part]) for part in blocks(size(X), self.rows)]
        return np.concatenate(parts) if parts else np.empty(0)

    def features(self, X: Sequence[Any]) -> Features:
        """The features of the kernel itself."""
        return features_of(self.kernel, X)


def features_of(kernel: Kernel[T], X: Sequence[T]) -> Features:
    """The explicit features of a kernel, or an error that says which kernel has none."""
    if not isinstance(kernel, Kernel):
        lacking = sorted({"__call__", "diag"}.difference(dir(kernel)))
        raise ValueError(f"{type(kernel).__name__} is no kernel: it lacks {', '.join(lacking)}.")
    if not isinstance(kernel, FeatureKernel):
        raise TypeError(
            f"{type(kernel).__name__} has no explicit features. Use its Gram matrix, or ask "
            "textrank.types.has_features first."
        )
    return kernel.features(X)


def _symmetric(F: SparseMatrix) -> Matrix:
    n = F.shape[0]
    count = np.bincount(F.indices, minlength=F.shape[1])
    frequent = count > max(1.0, DENSE_SHARE * n)
    by_column = sp.csc_array(F)

    K = _dense_part(by_column[:, np.flatnonzero(frequent)])
    rare = sp.csr_array(by_column[:, np.flatnonzero((count > 1) & ~frequent)])
    if rare.nnz:
        for part in blocks(n, max(1, BUDGET // max(n, 1))):
            K[part, part.start :] += (rare[part] @ rare[part.start :].T).toarray()

    _mirror(K)
    K[np.diag_indices(n)] = squares(F)
    return np.ascontiguousarray(K)


def _dense_part(columns: sp.csc_array) -> Matrix:
    """Upper triangle of C C', some columns at a time."""
    n, width = columns.shape
    K = np.zeros((n, n), dtype=columns.dtype, order="F")
    syrk = blas.ssyrk if columns.dtype == np.float32 else blas.dsyrk
    for part in blocks(width, max(1, BUDGET // max(n, 1))):
        dense = columns[:, part].toarray(order="F")
        K = syrk(1.0, dense, beta=1.0, c=K, overwrite_c=1)
    return K


def _mirror(K: Matrix) -> None:
    """Copies the upper triangle below the diagonal, block by block."""
    n = len(K)
    for part in blocks(n, 1024):
        K[part.stop :, part] = K[part, part.stop :].T
        square = np.triu(K[part, part])
        K[part, part] = square + np.triu(square, 1).T


def _rectangular(F: SparseMatrix, G: SparseMatrix) -> Matrix:
    n, m = F.shape[0], G.shape[0]
    counts = [np.bincount(side.indices, minlength=side.shape[1]).astype(float) for side in (F, G)]
    shared = counts[0] * counts[1]
    frequent = shared > max(DENSE_SHARE**2 * n * m, 1.0)
    F_columns, G_columns = sp.csc_array(F), sp.csc_array(G)

    K: NDArray[Any] = np.zeros((n, m), dtype=F.dtype)
    chosen = np.flatnonzero(frequent)
    for part in blocks(len(chosen), max(1, BUDGET // max(n + m, 1))):
        K += F_columns[:, chosen[part]].toarray() @ G_columns[:, chosen[part]].toarray().T

    rest = np.flatnonzero((shared > 0) & ~frequent)
    F_rare, G_rare = sp.csr_array(F_columns[:, rest]), sp.csr_array(G_columns[:, rest])
    if F_rare.nnz:
        for part in blocks(n, max(1, BUDGET // max(m, 1))):
            K[part] += (F_rare[part] @ G_rare.T).toarray()
    return K
