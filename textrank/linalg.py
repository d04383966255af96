"""Gram products, spectrum, inverse, small solvers: the floor that kernels and learners share."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

import numpy as np
import scipy.linalg as sla
import scipy.linalg.blas as blas
import scipy.sparse as sp
from numpy.typing import NDArray

from textrank._ragged import lengths
from textrank.features import Features, Indices, Matrix, RawCSR, SparseMatrix, Vector, count_rows
from textrank.progress import track
from textrank.protocols import FeatureKernel, Kernel

__all__ = ["gram", "inverse"]


def not_psd_error(evidence: str) -> ValueError:
    """The error of a Gram matrix that no feature map can have."""
    return ValueError(
        f"the Gram matrix is not positive semi-definite: {evidence}. It is not a kernel; "
        "shift its eigenvalues, or use its rows as features."
    )


T = TypeVar("T")
# One column shared by a share s of the rows costs s² n² slow sparse steps or n² fast dense ones.
MIN_DENSE_SHARE = 0.05
# Temporary numbers held at once beside the result.
MAX_TEMPORARY_VALUES = 1 << 24


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
            "Features.align_to."
        )
    return _rectangular(F, G)


def gram_of_features(features: Callable[[Any], Features], X: Any, Y: Any = None) -> Matrix:
    """The Gram matrix of a feature map; columns that X lacks do not matter."""
    F = features(X)
    return gram(F.values) if Y is None else gram(F.values, features(Y).align_to(F.names))


class ExplicitKernel(Generic[T]):
    """A kernel that is its feature map: with ``features`` written, the products follow."""

    def features(self, X: Sequence[T]) -> Features:
        """Named features, a row each."""
        raise NotImplementedError

    def __call__(self, X: Sequence[T], Y: Sequence[T] | None = None) -> Matrix:
        """The Gram matrix, (x, y)."""
        return gram_of_features(self.features, X, Y)

    def diag(self, X: Sequence[T]) -> Vector:
        """The kernel of each with itself, (x,)."""
        return squared_norms(self.features(X).values)


def squared_norms(F: SparseMatrix | RawCSR) -> Vector:
    """Squared length of each row: the diagonal of ``F F'``."""
    if not isinstance(F, RawCSR):
        F = F if isinstance(F, sp.csr_array) else sp.csr_array(F)  # to wrap it anew takes time
        if not F.has_canonical_format:  # entries stored twice add up before they are squared
            F = F.copy()
            F.sum_duplicates()
    rows = np.arange(F.shape[0]).repeat(lengths(F.indptr))
    squared: Vector = F.data.astype(np.float64) ** 2
    return np.bincount(rows, squared, minlength=F.shape[0]).astype(np.float64, copy=False)


def row_slices(n: int, rows: int) -> list[slice]:
    """Consecutive slices of at most ``rows`` that cover ``n``."""
    return [slice(start, min(n, start + rows)) for start in range(0, n, rows)]


def gram_blocks(
    kernel: Kernel[T], X: Sequence[T], Y: Sequence[T] | None = None, *, rows: int = 1024
) -> Iterator[tuple[slice, Matrix]]:
    """The Gram matrix some rows at a time, for a matrix too large to hold.

    >>> from textrank.kernels.algebra import Linear
    >>> X = np.eye(3)
    >>> [K.shape for _, K in gram_blocks(Linear(), X, rows=2)]
    [(2, 3), (1, 3)]
    """
    other = X if Y is None else Y
    slices = row_slices(count_rows(X), rows)
    for part in track(slices, "kernel rows", len(slices)):
        yield part, kernel(X[part], other)


@dataclass(frozen=True)
class ChunkedKernel:
    """A kernel computed block by block: its temporaries stay small, and progress is shown.

    Only the upper blocks of a symmetric matrix are computed. ``dtype`` float32 halves the memory.

    >>> from textrank.kernels.algebra import Linear
    >>> ChunkedKernel(Linear(), rows=1)(np.array([[1.0], [2.0]])).tolist()
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
        K = np.empty((count_rows(X), count_rows(across)), dtype=self.dtype)
        pairs = [
            (a, b)
            for a in row_slices(count_rows(X), self.rows)
            for b in row_slices(count_rows(across), self.rows)
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
        parts = [self.kernel.diag(X[part]) for part in row_slices(count_rows(X), self.rows)]
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
            "textrank.features.has_features first."
        )
    return kernel.features(X)


def _symmetric(F: SparseMatrix) -> Matrix:
    n = F.shape[0]
    count = np.bincount(F.indices, minlength=F.shape[1])
    frequent = count > max(1.0, MIN_DENSE_SHARE * n)
    by_column = sp.csc_array(F)

    K = _dense_part(by_column[:, np.flatnonzero(frequent)])
    rare = sp.csr_array(by_column[:, np.flatnonzero((count > 1) & ~frequent)])
    if rare.nnz:
        for part in row_slices(n, max(1, MAX_TEMPORARY_VALUES // max(n, 1))):
            K[part, part.start :] += (rare[part] @ rare[part.start :].T).toarray()

    _mirror(K)
    K[np.diag_indices(n)] = squared_norms(F)
    return np.ascontiguousarray(K)


def _dense_part(columns: sp.csc_array) -> Matrix:
    """Upper triangle of C C', some columns at a time."""
    n, width = columns.shape
    K = np.zeros((n, n), dtype=columns.dtype, order="F")
    syrk = blas.ssyrk if columns.dtype == np.float32 else blas.dsyrk
    for part in row_slices(width, max(1, MAX_TEMPORARY_VALUES // max(n, 1))):
        dense = columns[:, part].toarray(order="F")
        K = syrk(1.0, dense, beta=1.0, c=K, overwrite_c=1)
    return K


def _mirror(K: Matrix) -> None:
    """Copies the upper triangle below the diagonal, block by block."""
    n = len(K)
    for part in row_slices(n, 1024):
        K[part.stop :, part] = K[part, part.stop :].T
        square = np.triu(K[part, part])
        K[part, part] = square + np.triu(square, 1).T


def _rectangular(F: SparseMatrix, G: SparseMatrix) -> Matrix:
    n, m = F.shape[0], G.shape[0]
    counts = [np.bincount(side.indices, minlength=side.shape[1]).astype(float) for side in (F, G)]
    shared = counts[0] * counts[1]
    frequent = shared > max(MIN_DENSE_SHARE**2 * n * m, 1.0)
    F_columns, G_columns = sp.csc_array(F), sp.csc_array(G)

    K: NDArray[Any] = np.zeros((n, m), dtype=F.dtype)
    chosen = np.flatnonzero(frequent)
    for part in row_slices(len(chosen), max(1, MAX_TEMPORARY_VALUES // max(n + m, 1))):
        K += F_columns[:, chosen[part]].toarray() @ G_columns[:, chosen[part]].toarray().T

    rest = np.flatnonzero((shared > 0) & ~frequent)
    F_rare, G_rare = sp.csr_array(F_columns[:, rest]), sp.csr_array(G_columns[:, rest])
    if F_rare.nnz:
        for part in row_slices(n, max(1, MAX_TEMPORARY_VALUES // max(m, 1))):
            K[part] += (F_rare[part] @ G_rare.T).toarray()
    return K


@dataclass(frozen=True, eq=False)
class Spectrum:
    """Eigenvalues and orthonormal eigenvectors of a Gram matrix: ``K = Q diag(w) Q'``.

    With ``d < n`` features the ``n - r`` zero eigenvalues have no column in ``Q``; they enter
    ``(K + alpha I)^-1 = offset I + Q diag(filter) Q'`` through the offset ``1 / alpha``. Where
    the features were decomposed, ``F = Q diag(sqrt(w)) V'``.

    >>> spectrum = Spectrum.from_gram(np.array([[2.0, 1.0], [1.0, 2.0]]))
    >>> spectrum.w.round(6)
    array([1., 3.])
    """

    w: Vector  # (r,)
    Q: Matrix  # (n, r)
    spanning: bool = False  # whether all that it is applied to lies in the span of Q
    V: Matrix | None = None  # (d, r)

    @classmethod
    def from_gram(cls, K: Matrix, *, size: float = 0.0, alpha: float | None = None) -> Spectrum:
        """One eigh of a checked Gram matrix; ``size`` tells how large its parts were.

        Eigenvalues that are round-off of the largest one are left out if that round-off is not
        small against ``alpha``: the smallest one in use, if given.
        """
        if not len(K):
            return cls(np.empty(0), np.empty((0, 0)))
        w, Q = sla.eigh(K.T, driver="evd", check_finite=False)
        w = _clipped(w, size)
        if alpha is not None and EPSILON * w[-1] > MAX_GRAM_ERROR * alpha:
            keep = w > EPSILON * len(w) * w[-1]
            w, Q = w[keep], Q[:, keep]
        return cls(w, np.ascontiguousarray(Q))  # hold-outs gather rows

    @classmethod
    def from_features(cls, F: Matrix | SparseMatrix, *, alpha: float | None = None) -> Spectrum:
        """Decompose ``K = F F'``, or ``F`` itself where it is narrow.

        ``F`` is decomposed too where ``K`` would not be accurate enough for ``alpha``, the
        smallest one in use.
        """
        n, d = F.shape
        if 2 * d > n:
            if alpha is None or is_gram_accurate(F, alpha):
                return cls.from_gram(spectrum_gram(F))
            check_dense_size(F)
        U, s, V = decompose_features(F)
        return cls(s**2, U, V=V)

    @property
    def n(self) -> int:
        """How many candidates there are."""
        return len(self.Q)

    @property
    def complete(self) -> bool:
        """Whether every eigenvalue that matters, zero or not, has its eigenvector here."""
        return self.spanning or len(self.w) == len(self.Q)

    def filters(self, alphas: Vector) -> tuple[Matrix, Vector]:  # (r, a), (a,)
        """``filter`` and ``offset`` of the inverse at every alpha."""
        inverse = 1.0 / (self.w[:, None] + alphas)
        if self.complete:
            return inverse, np.zeros(len(alphas))
        return -inverse * self.w[:, None] / alphas, 1.0 / alphas

    def coefs(self, Y: Matrix, alphas: Vector) -> Matrix:  # (n, p) -> (a, n, p)
        """``(K + alpha I)^-1 Y`` at every alpha, by one product."""
        n, p = Y.shape
        inverse, offset = self.filters(alphas)
        Z = (self.Q.T @ Y)[:, None, :] * inverse[:, :, None]
        A = (self.Q @ Z.reshape(len(self.w), len(alphas) * p)).reshape(n, len(alphas), p)
        if not self.complete:
            A += offset[:, None] * Y[:, None, :]
        return A.transpose(1, 0, 2)

    def fitted_coefs(self, Y: Matrix, alphas: Vector) -> Matrix:  # (n, p) -> (a, n, p)
        """``Q (w + alpha)^-1 Q' Y``: coefficients without the part that adds to no score.

        They score as ``coefs`` do, with less round-off: what lies outside the span of ``Q`` is
        of size ``Y / alpha`` and would have to cancel.
        """
        Z = (self.Q.T @ Y)[:, None, :] / (self.w[:, None] + alphas)[:, :, None]
        flat = self.Q @ Z.reshape(len(self.w), len(alphas) * Y.shape[1])
        return flat.reshape(len(Y), len(alphas), Y.shape[1]).transpose(1, 0, 2)

    def weights(self, Y: Matrix, alphas: Vector) -> Matrix:  # (n, p) -> (a, d, p)
        """``V s / (s^2 + alpha) Q' Y``: weights of the features at every alpha."""
        if self.V is None:
            raise ValueError("a Gram matrix has no features: decompose the features instead")
        shrunk = np.sqrt(self.w)[:, None] / (self.w[:, None] + alphas)
        Z = (self.Q.T @ Y)[:, None, :] * shrunk[:, :, None]
        flat = self.V @ Z.reshape(len(self.w), len(alphas) * Y.shape[1])
        return flat.reshape(len(self.V), len(alphas), Y.shape[1]).transpose(1, 0, 2)

    def blocks(self, index: Indices, alphas: Vector) -> Matrix:  # (b, h) -> (b, a, h, h)
        """The blocks of ``(K + alpha I)^-1`` at ``b`` groups of ``h`` rows, at every alpha.

        Entry ``(i, j)`` at all alphas is the row ``Q_i * Q_j`` times the filters: few rows at
        once, so that the products stay in cache.
        """
        b, h = index.shape
        inverse, offset = self.filters(alphas)
        if h * (h + 1) > 4 * len(alphas) * h:
            return self._large_blocks(index, inverse, offset)
        i, j = np.triu_indices(h)
        B = np.empty((b, h, h, len(alphas)))  # values of an entry side by side, as they are found
        step = max(1, (1 << 18) // max(len(self.w) * len(i), 1))
        for start in range(0, b, step):
            V = self.Q[index[start : start + step]]
            rows = np.empty((len(V), len(i), len(self.w)))
            for k, end in enumerate(np.cumsum(np.arange(h, 0, -1)).tolist()):
                np.multiply(V[:, k : k + 1], V[:, k:], out=rows[:, end - h + k : end])
            flat = rows.reshape(len(V) * len(i), len(self.w))
            values = (flat @ inverse).reshape(len(V), len(i), len(alphas))
            B[start : start + step, i, j] = B[start : start + step, j, i] = values
        if not self.complete:
            B[:, np.arange(h), np.arange(h)] += offset
        return B.transpose(0, 3, 1, 2)

    def _large_blocks(self, index: Indices, inverse: Matrix, offset: Vector) -> Matrix:
        b, h = index.shape
        B = np.empty((b, len(offset), h, h))
        for block, rows in zip(B, index, strict=True):
            V = self.Q[rows]
            for a, (one, add) in enumerate(zip(inverse.T, offset, strict=True)):
                block[a] = (V * one) @ V.T
                block[a].flat[:: h + 1] += add
        return B


def spectrum_gram(F: Matrix | SparseMatrix, common: float = 0.05) -> Matrix:
    """``F F'``: columns in many rows by a dense product, the others by a sparse one.

    A purely sparse product pays the squared number of rows of every column, a dense one pays
    for the zeros; columns in a single row touch only the diagonal.
    """
    if not sp.issparse(F):
        return np.asarray(F @ F.T)
    columns = sp.csc_array(F)
    count = np.diff(columns.indptr)
    often = count > max(2, common * F.shape[0])
    K = np.zeros((F.shape[0], F.shape[0]))
    for chunk in _chunks(np.flatnonzero(often), F.shape[0]):
        part = columns[:, chunk].toarray()
        K += part @ part.T
    several = sp.csr_array(columns[:, ~often & (count > 1)])
    if several.nnz:
        K += (several @ several.T).toarray()
    single = columns[:, count == 1]
    if single.nnz:
        K.flat[:: len(K) + 1] += np.bincount(single.indices, single.data**2, len(K))
    return K


def to_dense(F: Matrix | SparseMatrix) -> Matrix:
    """The matrix without sparse storage."""
    return np.asarray(F.toarray() if isinstance(F, sp.sparray) else F)


def _chunks(columns: Indices, n: int) -> list[Indices]:
    size = max(1, (1 << 25) // n)  # at most 256 MB of dense columns at once
    return [columns[start : start + size] for start in range(0, len(columns), size)]


def _clipped(w: Vector, size: float) -> Vector:
    if w[0] < -1e-8 * max(w[-1], size):
        raise not_psd_error(f"its smallest eigenvalue is {w[0]:.3g}, its largest {w[-1]:.3g}")
    return w.clip(min=0)  # round-off only: anything larger was refused above


EPSILON = float(np.finfo(np.float64).eps)
# Relative error of predictions that a Gram matrix may cause before the features are decomposed.
MAX_GRAM_ERROR = 1e-7
# Ratio of column norms from which an ordinary decomposition loses the small columns.
MAX_COLUMN_RATIO = 1e4
MAX_DENSE_VALUES = 1 << 28  # 2 GB
POWER_STEPS = 8


def is_gram_accurate(F: Matrix | SparseMatrix, alpha: float) -> bool:
    """Return whether ``F F' + alpha I`` keeps enough digits to learn from.

    ``F F'`` has an error of about ``eps ||F||^2``. It spoils the solution where it is not small
    against ``alpha``, the smallest one in use. A few steps of power iteration estimate
    ``||F||^2``; the cost is a few products of ``F`` with a vector.
    """
    limit = MAX_GRAM_ERROR * alpha / EPSILON
    stored: Vector = F.data if isinstance(F, sp.sparray) else F.ravel()
    if float(stored @ stored) <= limit:  # the trace is an upper bound
        return True
    direction: Vector = np.random.default_rng(0).standard_normal((F.shape[1],))
    largest = 0.0
    for _ in range(POWER_STEPS):
        direction = np.asarray(F.T @ (F @ (direction / np.linalg.norm(direction))))
        largest = float(np.linalg.norm(direction))
        if largest > limit or largest == 0:
            break
    return largest <= limit


def decompose_features(F: Matrix | SparseMatrix) -> tuple[Matrix, Vector, Matrix]:
    """Return ``U`` (n, r), ``s`` (r,) and ``V`` (d, r) with ``F = U diag(s) V'`` and ``s > 0``.

    Singular values that are round-off are left out. Columns of very different norm are
    decomposed by Jacobi rotations, whose error is relative to each column (Drmač and Veselić,
    2008); all others by divide and conquer.

    >>> U, s, V = decompose_features(np.diag([1e-8, 1e8]))
    >>> bool(np.allclose((U * s) @ V.T, np.diag([1e-8, 1e8]), rtol=1e-12, atol=0))
    True
    """
    dense = np.asarray(F.toarray() if isinstance(F, sp.sparray) else F, dtype=np.float64)
    norms = np.sqrt(np.einsum("ij,ij->j", dense, dense))
    norms = norms[norms > 0]
    if len(norms) and norms.max() > MAX_COLUMN_RATIO * norms.min():
        U, s, V = _decompose_graded(dense)
        keep = s > 0
    else:
        U, s, Vt = sla.svd(dense, full_matrices=False, check_finite=False, lapack_driver="gesdd")
        V = Vt.T
        keep = s > s.max(initial=0.0) * EPSILON * max(dense.shape)
    return np.ascontiguousarray(U[:, keep]), s[keep], V[:, keep]


def check_dense_size(F: Matrix | SparseMatrix) -> None:
    """Raise ValueError where sparse features are too many to be decomposed as a dense matrix."""
    if sp.issparse(F) and F.shape[0] * F.shape[1] > MAX_DENSE_VALUES:
        raise ValueError(
            f"the features ({F.shape[0]} x {F.shape[1]}) are so large compared with the smallest "
            "alpha that their inner products would lose its digits, and too many to be "
            "decomposed directly. Scale the features, for example with MaxAbsScaler, or use "
            "larger alphas."
        )


def _decompose_graded(X: Matrix) -> tuple[Matrix, Vector, Matrix]:
    """Decompose a matrix whose columns differ much in norm, with small relative errors."""
    n, d = X.shape
    if n >= d:
        return _rotate(X)
    # Rows of X' from large to small, columns pivoted: this QR is accurate row by row (Cox and
    # Higham, 1998), and the triangle it leaves is graded in the same way.
    order = np.argsort(-np.einsum("ij,ij->j", X, X), kind="stable")
    Q, R, pivots = sla.qr(X.T[order], mode="economic", pivoting=True, check_finite=False)
    left, s, right = _rotate(np.ascontiguousarray(R.T))
    U, V = np.empty_like(left), np.empty((d, len(s)))
    U[pivots] = left
    V[order] = Q @ right
    return U, s, V


def _rotate(X: Matrix) -> tuple[Matrix, Vector, Matrix]:
    """Decompose (n, d), n >= d, by LAPACK's preconditioned Jacobi rotations."""
    used = np.flatnonzero(X.any(axis=0))
    s, U, right, work, _, failed = sla.lapack.dgejsv(X[:, used], joba=0, jobt=1, jobp=1)
    if failed:
        raise ValueError(f"the features could not be decomposed (LAPACK dgejsv: {failed})")
    V = np.zeros((X.shape[1], len(s)))
    V[used] = right
    return U, s * (work[0] / work[1]), V


def inverse(K: Matrix, alpha: float, weights: Vector | None = None) -> Matrix:
    """The whole symmetric inverse, in one new (n, n) array: Cholesky and potri, about n^3 flops.

    At a tenth to a quarter of an eigh of the same size it is what one alpha, or a few, should pay.
    """
    G = np.array(K, dtype=np.float64, order="C")
    G.flat[:: len(G) + 1] += alpha if weights is None else alpha / weights
    # The transpose of a C-ordered symmetric array is Fortran-ordered: LAPACK works in place.
    factor, failed = sla.lapack.dpotrf(G.T, lower=1, overwrite_a=1, clean=0)
    if failed:
        raise not_psd_error(f"K + {alpha:g} I has no Cholesky factor (leading minor {failed})")
    result, failed = sla.lapack.dpotri(factor, lower=1, overwrite_c=1)
    if failed:
        raise not_psd_error(f"K + {alpha:g} I is singular at row {failed}")
    G = result.T
    _check_largest(G, alpha if weights is None else alpha / float(weights.max()))
    return mirror(G)


def solve(K: Matrix, Y: Matrix, alpha: float) -> Matrix:
    """``(K + alpha I)^-1 Y`` by one Cholesky factorisation."""
    M = np.array(K, dtype=np.float64, order="C")
    M.flat[:: len(M) + 1] += alpha
    _, x, failed = sla.lapack.dposv(M.T, Y, lower=1, overwrite_a=1)
    if failed:
        raise not_psd_error(f"K + {alpha:g} I has no Cholesky factor (leading minor {failed})")
    return np.asarray(x)


def mirror(G: Matrix, block: int = 256) -> Matrix:
    """The upper triangle copied onto the lower one, in place."""
    n = len(G)
    for start in range(0, n, block):
        stop = min(start + block, n)
        square = G[start:stop, start:stop]
        lower = np.tril_indices(stop - start, -1)
        square[lower] = square.T[lower]
        for below in range(stop, n, block):  # by tiles that fit in cache
            G[below : below + block, start:stop] = G[start:stop, below : below + block].T
    return G


def _check_largest(G: Matrix, alpha: float, steps: int = 6) -> None:
    """Refuses a G with an eigenvalue above 1 / alpha, which only an indefinite K can have.

    Power iteration gives lower bounds of the largest eigenvalue, so there is no false alarm.
    """
    v = np.random.default_rng(0).standard_normal(len(G))
    size = 0.0
    for _ in range(steps):
        v /= np.linalg.norm(v)
        v = sla.blas.dsymv(1.0, G.T, v, lower=1)
        size = float(np.linalg.norm(v))
    if size > (1 + 1e-6) / alpha:
        raise not_psd_error(f"it has an eigenvalue of {1 / size - alpha:.3g} or less")


MAX_BASIS_VALUES = 1 << 27  # numbers of stored basis vectors: one gigabyte


def solve_krylov_path(
    X: SparseMatrix,
    y: Vector,
    alphas: Vector,
    *,
    laplacian: Callable[[Vector], Vector] | None = None,
    tolerance: float = 1e-6,
    most: int = 2000,
) -> Matrix:  # (a, d)
    """``(X'LX + alpha I)^-1 X'L y`` at every alpha, with two sparse products an iteration.

    ``L`` is the identity, or for a ranker the ``laplacian`` of its preferences.
    Conjugate gradient for the smallest alpha makes an orthogonal basis in which ``X'LX`` is
    tridiagonal; every other alpha only shifts that small matrix, and converges sooner. The basis
    is stored, or made a second time where it would not fit.

    Raises an error where the residual is not below ``tolerance`` times that of zero after
    ``most`` iterations.
    """
    T = sp.csr_array(X.T)

    def weighted(u: Vector) -> Vector:
        return u if laplacian is None else laplacian(u)

    def product(q: Vector) -> Vector:
        return np.asarray(T @ weighted(X @ q))

    right = np.asarray(T @ weighted(y))
    return solve_krylov(product, right, alphas, tolerance=tolerance, most=most)


def solve_krylov(
    product: Callable[[Vector], Vector],
    right: Vector,
    alphas: Vector,
    *,
    tolerance: float = 1e-6,
    most: int = 2000,
) -> Matrix:  # (a, d)
    """``(A + alpha I)^-1 right`` at every alpha, for a symmetric ``A`` known by its products alone.

    Where ``A`` is held in pieces, ``product`` is a map over them and a sum.
    """
    run = _Iterations(product, right, float(alphas.min()), tolerance, most)
    stored: list[Vector] | None = []
    for direction in run:
        if stored is not None and (len(stored) + 1) * len(right) > MAX_BASIS_VALUES:
            stored = None
        if stored is not None:
            stored.append(direction)
    steps = _solve_small(run, alphas)  # (iterations, a)
    if stored is not None:
        basis = np.array(stored).reshape(len(stored), len(right))
        return np.asarray(steps.T @ basis)
    W = np.zeros((len(alphas), len(right)))
    again = _Iterations(product, right, run.base, tolerance, most)
    for step, direction in zip(steps, again):  # noqa: B905
        W += np.outer(step, direction)
    return W


class _Iterations:
    """Conjugate gradient for the smallest alpha; gives the normalised residuals one by one."""

    def __init__(
        self,
        product: Callable[[Vector], Vector],
        right: Vector,
        base: float,
        tolerance: float,
        most: int,
    ) -> None:
        self.product, self.right, self.base = product, right, base
        self.tolerance, self.most = tolerance, most
        self.lengths: list[float] = []
        self.ratios: list[float] = []
        self.start = 0.0

    def __iter__(self) -> Iterator[Vector]:
        r = self.right.copy()
        q = r.copy()
        square = float(r @ r)
        self.start = np.sqrt(square)
        stop = self.tolerance**2 * square
        while square > stop:
            if len(self.lengths) == self.most:
                raise ValueError(
                    f"conjugate gradient has not converged after {self.most} iterations: residual "
                    f"{np.sqrt(square) / self.start:.1e} of the first, {self.tolerance:g} wanted. "
                    "Raise the smallest alpha, the tolerance or the number of iterations."
                )
            yield r / np.sqrt(square)
            step = self.product(q) + self.base * q
            length = square / float(q @ step)
            r = r - length * step
            square, old = float(r @ r), square
            self.lengths.append(length)
            self.ratios.append(square / old)
            q *= square / old
            q += r


def _solve_small(run: _Iterations, alphas: Vector) -> Matrix:  # (iterations, a)
    """The coordinates of each solution in the basis: a tridiagonal system an alpha."""
    count = len(run.lengths)
    steps = np.zeros((count, len(alphas)))
    if not count:
        return steps
    lengths, ratios = np.array(run.lengths), np.array(run.ratios)
    diagonal = 1.0 / lengths
    diagonal[1:] += ratios[:-1] / lengths[:-1]
    beside = -np.sqrt(ratios[:-1]) / lengths[:-1]
    right = np.zeros(count)
    right[0] = run.start
    for a, alpha in enumerate(alphas):
        if count == 1:
            steps[:, a] = right / (diagonal + alpha - run.base)
        else:
            steps[:, a] = sla.lapack.dptsv(diagonal + (alpha - run.base), beside, right)[2]
    return steps


def solve_tridiagonal(K: Matrix, Y: Matrix, alphas: Vector) -> Matrix:  # (a, n, p)
    """``(K + alpha I)^-1 Y`` at every alpha, where nothing is to be held out.

    The reduction is half of an eigh; after it every alpha and output takes O(n), and ``Q`` is
    applied to all of them at once as a product of reflections.
    """
    n, p = Y.shape
    if n < 3:
        return np.stack([np.linalg.solve(K + alpha * np.eye(n), Y) for alpha in alphas])
    work = 64 * n
    packed, diagonal, beside, tau, _ = sla.lapack.dsytrd(K.T, lower=1, lwork=work)
    reflections = np.asfortranarray(packed[1:, :-1])
    Z = np.array(Y, order="F")
    Z[1:] = sla.lapack.dormqr("L", "T", reflections, tau, np.asfortranarray(Z[1:]), work)[0]
    S = np.empty((n, len(alphas) * p), order="F")
    for a, alpha in enumerate(alphas):
        *_, x, failed = sla.lapack.dptsv(diagonal + alpha, beside, Z)
        if failed:
            raise not_psd_error(
                f"K + {alpha:g} I has a leading minor that is not positive ({failed})"
            )
        S[:, a * p : (a + 1) * p] = x
    S[1:] = sla.lapack.dormqr("L", "N", reflections, tau, np.asfortranarray(S[1:]), work)[0]
    return S.reshape(n, len(alphas), p).transpose(1, 0, 2)
