"""Gram products, spectrum, inverse and solvers: the linear algebra that kernels and learners share.

The sections are: Gram matrices of sparse features and kernels computed in chunks; ``Spectrum``, the
eigendecomposition that serves all regularisation parameters; the singular value decomposition of
features whose Gram matrix would lose digits; Cholesky inverse and solution for one parameter;
Krylov and tridiagonal solvers for many parameters.

Letters: ``n`` candidates, ``d`` features, ``r`` rank, ``a`` values of alpha, ``p`` outputs.
"""

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
    """Return, not raise, the error for a Gram matrix that is not positive semidefinite.

    ``evidence`` is the clause that says how this was noticed.
    """
    return ValueError(
        f"the Gram matrix is not positive semi-definite: {evidence}. It is not a kernel; "
        "shift its eigenvalues, or use its rows as features."
    )


T = TypeVar("T")
# Share of rows from which a column is multiplied as dense: a column in a share s of the rows costs
# s² n² slow sparse steps or n² fast dense ones.
MIN_DENSE_SHARE = 0.05
# Numbers of temporary arrays held at once besides the result.
MAX_TEMPORARY_VALUES = 1 << 24


def gram(
    F: Matrix | SparseMatrix, G: SparseMatrix | None = None, *, dtype: str = "float64"
) -> Matrix:
    """Return the inner products of the rows, ``F G'`` (``F F'`` if G is None), as a dense matrix.

    Columns that many rows share go through a dense product, the others through a sparse one, and
    in ``F F'`` a column of a single row only touches the diagonal. Besides the result it uses a
    bounded amount of memory. A dense ``F`` without ``G`` is multiplied as it is; with ``G`` it is
    made sparse. The result is of type ``dtype``. Raises ValueError if F and G have different
    numbers of columns.

    >>> gram(sp.csr_array([[1.0, 2.0], [0.0, 3.0]]))
    array([[5., 6.],
           [6., 9.]])
    """
    if G is None and isinstance(F, np.ndarray):
        return np.asarray(F @ F.T, dtype=dtype)
    F = sp.csr_array(F).astype(dtype, copy=False)
    if G is None:
        return _symmetric_gram(F)
    G = sp.csr_array(G).astype(dtype, copy=False)
    if F.shape[1] != G.shape[1]:
        raise ValueError(
            f"F has {F.shape[1]} columns and G {G.shape[1]}: align the features first, with "
            "Features.align_to."
        )
    return _rectangular_gram(F, G)


def gram_of_features(features: Callable[[Any], Features], X: Any, Y: Any = None) -> Matrix:
    """Return the Gram matrix of a feature map, (x, y); of X with itself if Y is None.

    ``features(X)`` returns named features, one row per input. Features of Y that X lacks are
    dropped, as they do not matter.
    """
    F = features(X)
    return gram(F.values) if Y is None else gram(F.values, features(Y).align_to(F.names))


class ExplicitKernel(Generic[T]):
    """Base class of a kernel that is defined by its feature map: subclasses write ``features``."""

    def features(self, X: Sequence[T]) -> Features:
        """Return named features, one row per input; to be written by subclasses.

        This one raises NotImplementedError.
        """
        raise NotImplementedError

    def __call__(self, X: Sequence[T], Y: Sequence[T] | None = None) -> Matrix:
        """Return the Gram matrix (x, y) of inputs X and Y; of X with itself if Y is None."""
        return gram_of_features(self.features, X, Y)

    def diag(self, X: Sequence[T]) -> Vector:
        """Return the kernel of each input with itself, (x,)."""
        return squared_norms(self.features(X).values)


def squared_norms(F: SparseMatrix | RawCSR) -> Vector:
    """Return the squared length of each row, (n,): the diagonal of ``F F'``.

    Duplicate entries of a sparse matrix are summed first; F is not changed.
    """
    if not isinstance(F, RawCSR):
        F = F if isinstance(F, sp.csr_array) else sp.csr_array(F)  # wrapping it again takes time
        if not F.has_canonical_format:  # entries stored twice add up before they are squared
            F = F.copy()
            F.sum_duplicates()
    rows = np.arange(F.shape[0]).repeat(lengths(F.indptr))
    squared: Vector = F.data.astype(np.float64) ** 2
    return np.bincount(rows, squared, minlength=F.shape[0]).astype(np.float64, copy=False)


def row_slices(n: int, rows: int) -> list[slice]:
    """Return consecutive slices of at most ``rows`` rows that cover ``n`` rows; none if n is 0.

    ``rows`` must be at least 1.
    """
    return [slice(start, min(n, start + rows)) for start in range(0, n, rows)]


def gram_blocks(
    kernel: Kernel[T], X: Sequence[T], Y: Sequence[T] | None = None, *, rows: int = 1024
) -> Iterator[tuple[slice, Matrix]]:
    """Yield the Gram matrix in blocks of ``rows`` rows, with their slices, for large matrices.

    Y=None compares X with itself. ``X`` must support slices; ``rows`` must be at least 1. Blocks
    are computed on demand, so only one is in memory unless the caller keeps it.

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
    """Kernel computed in square blocks of ``rows`` rows, with bounded temporaries and progress.

    Of X with itself only the blocks on and above the diagonal are computed, the others are their
    transposes. ``dtype`` is that of the Gram matrix; "float32" halves the memory. Inputs must
    support slices.

    >>> from textrank.kernels.algebra import Linear
    >>> ChunkedKernel(Linear(), rows=1)(np.array([[1.0], [2.0]])).tolist()
    [[1.0, 2.0], [2.0, 4.0]]
    """

    kernel: Kernel[Any]
    rows: int = 1024
    dtype: str = "float64"

    def __post_init__(self) -> None:
        """Raise ValueError unless ``rows`` is at least 1 and ``dtype`` "float32" or "float64"."""
        if self.rows < 1:
            raise ValueError(f"rows must be at least 1, got {self.rows}")
        if self.dtype not in ("float32", "float64"):
            raise ValueError(f"dtype must be 'float32' or 'float64', got {self.dtype!r}")

    def __call__(self, X: Sequence[Any], Y: Sequence[Any] | None = None) -> Matrix:
        """Return the Gram matrix (x, y) of type ``dtype``, computed in blocks of ``rows`` rows.

        Y None compares X with itself: only blocks on and above the diagonal are computed and the
        others mirrored, so that it is exactly symmetric outside the diagonal blocks. Shows
        progress.
        """
        across = X if Y is None else Y
        K = np.empty((count_rows(X), count_rows(across)), dtype=self.dtype)
        pairs = [
            (a, b)
            for a in row_slices(count_rows(X), self.rows)
            for b in row_slices(count_rows(across), self.rows)
            if Y is not None or a.start <= b.start
        ]
        for a, b in track(pairs, "kernel blocks", len(pairs)):
            is_diagonal = Y is None and a == b
            K[a, b] = self.kernel(X[a]) if is_diagonal else self.kernel(X[a], across[b])
            if Y is None and a != b:
                K[b, a] = K[a, b].T
        return K

    def diag(self, X: Sequence[Any]) -> Vector:
        """Return the kernel of each input with itself, (x,)."""
        parts = [self.kernel.diag(X[part]) for part in row_slices(count_rows(X), self.rows)]
        return np.concatenate(parts) if parts else np.empty(0)

    def features(self, X: Sequence[Any]) -> Features:
        """Return the features of the wrapped kernel; raise TypeError if it has none."""
        return features_of(self.kernel, X)


def features_of(kernel: Kernel[T], X: Sequence[T]) -> Features:
    """Return the explicit features of a kernel.

    Raises ValueError if it is not a kernel, TypeError if it has no explicit features.
    """
    if not isinstance(kernel, Kernel):
        lacking = sorted({"__call__", "diag"}.difference(dir(kernel)))
        raise ValueError(f"{type(kernel).__name__} is not a kernel: it lacks {', '.join(lacking)}.")
    if not isinstance(kernel, FeatureKernel):
        raise TypeError(
            f"{type(kernel).__name__} has no explicit features. Use its Gram matrix, or test "
            "textrank.protocols.has_features first."
        )
    return kernel.features(X)


def _symmetric_gram(F: SparseMatrix) -> Matrix:
    """Return ``F F'``, (n, n), in the type of the CSR array ``F``, which is not changed.

    Columns in more than ``MIN_DENSE_SHARE`` of the rows are multiplied as dense ones, those in
    fewer as sparse ones; a column in one row only enters the diagonal.
    """
    n = F.shape[0]
    count = np.bincount(F.indices, minlength=F.shape[1])
    is_frequent = count > max(1.0, MIN_DENSE_SHARE * n)
    by_column = sp.csc_array(F)

    K = _dense_gram(by_column[:, np.flatnonzero(is_frequent)])
    rare = sp.csr_array(by_column[:, np.flatnonzero((count > 1) & ~is_frequent)])
    if rare.nnz:
        for part in row_slices(n, max(1, MAX_TEMPORARY_VALUES // max(n, 1))):
            K[part, part.start :] += (rare[part] @ rare[part.start :].T).toarray()

    mirror(K)
    K[np.diag_indices(n)] = squared_norms(F)
    return np.ascontiguousarray(K)


def _dense_gram(columns: sp.csc_array) -> Matrix:
    """Return ``C C'`` (n, n) in Fortran order, some columns at a time.

    Only the upper triangle is valid.
    """
    n, width = columns.shape
    K = np.zeros((n, n), dtype=columns.dtype, order="F")
    syrk = blas.ssyrk if columns.dtype == np.float32 else blas.dsyrk
    for part in row_slices(width, max(1, MAX_TEMPORARY_VALUES // max(n, 1))):
        dense = columns[:, part].toarray(order="F")
        K = syrk(1.0, dense, beta=1.0, c=K, overwrite_c=1)
    return K


def _rectangular_gram(F: SparseMatrix, G: SparseMatrix) -> Matrix:
    """Return ``F G'``, (n, m), of CSR arrays with the same columns and type.

    Columns are multiplied as dense ones if more than ``MIN_DENSE_SHARE ** 2`` of all pairs of rows
    share them, as sparse ones otherwise.
    """
    n, m = F.shape[0], G.shape[0]
    counts = [np.bincount(side.indices, minlength=side.shape[1]).astype(float) for side in (F, G)]
    shared = counts[0] * counts[1]
    is_frequent = shared > max(MIN_DENSE_SHARE**2 * n * m, 1.0)
    F_columns, G_columns = sp.csc_array(F), sp.csc_array(G)

    K: NDArray[Any] = np.zeros((n, m), dtype=F.dtype)
    chosen = np.flatnonzero(is_frequent)
    for part in row_slices(len(chosen), max(1, MAX_TEMPORARY_VALUES // max(n + m, 1))):
        K += F_columns[:, chosen[part]].toarray() @ G_columns[:, chosen[part]].toarray().T

    rest = np.flatnonzero((shared > 0) & ~is_frequent)
    F_rare, G_rare = sp.csr_array(F_columns[:, rest]), sp.csr_array(G_columns[:, rest])
    if F_rare.nnz:
        for part in row_slices(n, max(1, MAX_TEMPORARY_VALUES // max(m, 1))):
            K[part] += (F_rare[part] @ G_rare.T).toarray()
    return K


@dataclass(frozen=True, eq=False)
class Spectrum:
    """Eigenvalues and orthonormal eigenvectors of a Gram matrix: ``K = Q diag(w) Q'``.

    With ``d < n`` features the ``n - r`` zero eigenvalues have no column in ``Q``; they enter
    ``(K + alpha I)^-1 = offset I + Q diag(filter) Q'`` through the offset ``1 / alpha``. If
    the features were decomposed, ``F = Q diag(sqrt(w)) V'``.

    >>> spectrum = Spectrum.from_gram(np.array([[2.0, 1.0], [1.0, 2.0]]))
    >>> spectrum.w.round(6)
    array([1., 3.])
    """

    w: Vector  # (r,) eigenvalues, not negative
    Q: Matrix  # (n, r)
    spanning: bool = False  # whether everything it is applied to lies in the span of Q
    V: Matrix | None = (
        None  # (d, r) right singular vectors of the features, if they were decomposed
    )

    @classmethod
    def from_gram(cls, K: Matrix, *, size: float = 0.0, alpha: float | None = None) -> Spectrum:
        """Decompose a Gram matrix by one eigh; w ascends, round-off below 0 is set to 0.

        An empty matrix has an empty spectrum.

        Parameters
        ----------
        K
            Symmetric matrix (n, n), not changed. ValueError if it has an eigenvalue that is
            negative beyond round-off. Finite values are not checked for.
        size
            Size of the terms that K is a difference of, if any: the scale of its round-off.
        alpha
            Smallest alpha in use. If given, and if the round-off of the largest eigenvalue is not
            small against it, eigenvalues no larger than that round-off are dropped with their
            eigenvectors.
        """
        if not len(K):
            return cls(np.empty(0), np.empty((0, 0)))
        w, Q = sla.eigh(K.T, driver="evd", check_finite=False)
        w = _clip_eigenvalues(w, size)
        if alpha is not None and EPSILON * w[-1] > MAX_GRAM_ERROR * alpha:
            keep = w > EPSILON * len(w) * w[-1]
            w, Q = w[keep], Q[:, keep]
        return cls(w, np.ascontiguousarray(Q))  # hold-outs gather rows

    @classmethod
    def from_features(cls, F: Matrix | SparseMatrix, *, alpha: float | None = None) -> Spectrum:
        """Decompose ``F F'``, or ``F`` (n, d) itself if it has at most n / 2 columns.

        ``F`` is decomposed too if ``F F'`` would not be accurate enough for ``alpha``, the smallest
        one in use; None assumes that it is. Only then, and for narrow ``F``, is ``V`` given; ``w``
        then descends and has no zeros. Raises ValueError if sparse features must be decomposed for
        accuracy and are too large to be made dense.
        """
        n, d = F.shape
        if 2 * d > n:
            if alpha is None or is_gram_accurate(F, alpha):
                return cls.from_gram(gram(F))
            check_dense_size(F)
        U, s, V = decompose_features(F)
        return cls(s**2, U, V=V)

    @property
    def n(self) -> int:
        """Number of candidates."""
        return len(self.Q)

    @property
    def complete(self) -> bool:
        """Whether every eigenvalue that matters, zero or not, has its eigenvector in Q.

        Then the offset of the inverse is 0: Q is square, or ``spanning``.
        """
        return self.spanning or len(self.w) == len(self.Q)

    def filters(self, alphas: Vector) -> tuple[Matrix, Vector]:  # (r, a), (a,)
        """Return ``filter`` (r, a) and ``offset`` (a,) of the inverse at every alpha.

        ``(K + alpha I)^-1 = offset I + Q diag(filter) Q'``; the offset is 0 if ``complete``.
        Alphas must be positive.
        """
        inverse = 1.0 / (self.w[:, None] + alphas)
        if self.complete:
            return inverse, np.zeros(len(alphas))
        return -inverse * self.w[:, None] / alphas, 1.0 / alphas

    def coefs(self, Y: Matrix, alphas: Vector) -> Matrix:  # (n, p) -> (a, n, p)
        """Return ``(K + alpha I)^-1 Y`` at every alpha, (a, n, p), by one product.

        ``Y`` must be a matrix (n, p). The result is a transposed view, not C-contiguous.
        """
        n, p = Y.shape
        inverse, offset = self.filters(alphas)
        Z = (self.Q.T @ Y)[:, None, :] * inverse[:, :, None]
        A = (self.Q @ Z.reshape(len(self.w), len(alphas) * p)).reshape(n, len(alphas), p)
        if not self.complete:
            A += offset[:, None] * Y[:, None, :]
        return A.transpose(1, 0, 2)

    def fitted_coefs(self, Y: Matrix, alphas: Vector) -> Matrix:  # (n, p) -> (a, n, p)
        """Return ``Q (w + alpha)^-1 Q' Y``, (a, n, p): coefficients without a part that scores 0.

        They score as ``coefs`` do, with less round-off: the part outside the span of ``Q`` is
        of size ``Y / alpha`` and would have to cancel.
        """
        Z = (self.Q.T @ Y)[:, None, :] / (self.w[:, None] + alphas)[:, :, None]
        flat = self.Q @ Z.reshape(len(self.w), len(alphas) * Y.shape[1])
        return flat.reshape(len(Y), len(alphas), Y.shape[1]).transpose(1, 0, 2)

    def weights(self, Y: Matrix, alphas: Vector) -> Matrix:  # (n, p) -> (a, d, p)
        """Return ``V s / (s^2 + alpha) Q' Y``, (a, d, p): feature weights at every alpha.

        ``s`` are the singular values, roots of ``w``, and ``V`` the right singular vectors. Raises
        ValueError if a Gram matrix was decomposed.
        """
        if self.V is None:
            raise ValueError("a Gram matrix has no features: decompose the features instead")
        shrunk = np.sqrt(self.w)[:, None] / (self.w[:, None] + alphas)
        Z = (self.Q.T @ Y)[:, None, :] * shrunk[:, :, None]
        flat = self.V @ Z.reshape(len(self.w), len(alphas) * Y.shape[1])
        return flat.reshape(len(self.V), len(alphas), Y.shape[1]).transpose(1, 0, 2)

    def blocks(self, index: Indices, alphas: Vector) -> Matrix:  # (b, h) -> (b, a, h, h)
        """Return the blocks of ``(K + alpha I)^-1`` at groups of rows at every alpha, (b, a, h, h).

        ``index`` (b, h) has the row numbers of ``b`` groups of ``h``. Entry ``(i, j)`` at all
        alphas is the row ``Q_i * Q_j`` times the filters: few rows at once, so that the products
        stay in cache.
        """
        b, h = index.shape
        inverse, offset = self.filters(alphas)
        if h * (h + 1) > 4 * len(alphas) * h:
            return self._large_blocks(index, inverse, offset)
        i, j = np.triu_indices(h)
        B = np.empty(
            (b, h, h, len(alphas))
        )  # alphas last: values of an entry are computed together
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
        """Return the result of ``blocks`` for large groups, by one product per group and alpha.

        ``inverse`` (r, a) and ``offset`` (a,) are the result of ``filters``.
        """
        b, h = index.shape
        B = np.empty((b, len(offset), h, h))
        for block, rows in zip(B, index, strict=True):
            V = self.Q[rows]
            for a, (filter_, shift) in enumerate(zip(inverse.T, offset, strict=True)):
                block[a] = (V * filter_) @ V.T
                block[a].flat[:: h + 1] += shift
        return B


def to_dense(F: Matrix | SparseMatrix) -> Matrix:
    """Return the matrix as a dense array; a dense one is returned as it is, not copied.

    Only sparse arrays (``sp.sparray``), not sparse matrices, are recognised as sparse.
    """
    return np.asarray(F.toarray() if isinstance(F, sp.sparray) else F)


def _clip_eigenvalues(w: Vector, size: float) -> Vector:
    """Return ascending eigenvalues (at least one) with round-off below 0 set to 0.

    Raises ValueError for an eigenvalue below -1e-8 times ``size`` or the largest eigenvalue,
    whichever is larger.
    """
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

    ``F F'`` has an error of about ``eps ||F||^2``, with the largest singular value as norm. It
    must be at most ``MAX_GRAM_ERROR`` times ``alpha``, the smallest one in use. A few steps of
    power iteration estimate ``||F||^2``; the cost is a few products of ``F`` with a vector.
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

    Singular values that are round-off, up to ``max(n, d)`` times machine precision times the
    largest, are left out, the others descend. ``F`` is made dense; the caller must check that it
    fits. If the norms of its nonzero columns differ by more than the factor ``MAX_COLUMN_RATIO``,
    ``F`` is decomposed by Jacobi rotations, whose error is relative to each column (Drmač and
    Veselić, 2008), and only zeros are left out; otherwise by divide and conquer.

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
    """Raise ValueError where sparse features are too many to be decomposed as a dense matrix.

    The limit is ``MAX_DENSE_VALUES`` entries; dense features always pass.
    """
    if sp.issparse(F) and F.shape[0] * F.shape[1] > MAX_DENSE_VALUES:
        raise ValueError(
            f"the features ({F.shape[0]} x {F.shape[1]}) are so large compared with the smallest "
            "alpha that their inner products would lose its digits, and too many to be "
            "decomposed directly. Scale the features, for example with MaxAbsScaler, or use "
            "larger alphas."
        )


def _decompose_graded(X: Matrix) -> tuple[Matrix, Vector, Matrix]:
    """Decompose a matrix (n, d) whose columns differ much in norm, with small relative errors.

    Returns ``U`` (n, r), ``s`` (r,) and ``V`` (d, r) with ``X = U diag(s) V'``; unlike in
    ``decompose_features``, ``s`` may contain zeros.
    """
    n, d = X.shape
    if n >= d:
        return _decompose_by_jacobi(X)
    # Rows of X' from large to small, columns pivoted: this QR is accurate row by row (Cox and
    # Higham, 1998), and the triangle it leaves is graded in the same way.
    order = np.argsort(-np.einsum("ij,ij->j", X, X), kind="stable")
    Q, R, pivots = sla.qr(X.T[order], mode="economic", pivoting=True, check_finite=False)
    left, s, right = _decompose_by_jacobi(np.ascontiguousarray(R.T))
    U, V = np.empty_like(left), np.empty((d, len(s)))
    U[pivots] = left
    V[order] = Q @ right
    return U, s, V


def _decompose_by_jacobi(X: Matrix) -> tuple[Matrix, Vector, Matrix]:
    """Decompose (n, d), n >= d, by LAPACK's preconditioned Jacobi rotations.

    Returns ``U``, ``s`` and ``V`` with ``X = U diag(s) V'``, without the columns of X that are
    zero; ``s`` may contain zeros. Raises ValueError if LAPACK fails.
    """
    used = np.flatnonzero(X.any(axis=0))
    s, U, right, work, _, failed = sla.lapack.dgejsv(X[:, used], joba=0, jobt=1, jobp=1)
    if failed:
        raise ValueError(f"the features could not be decomposed (LAPACK dgejsv: {failed})")
    V = np.zeros((X.shape[1], len(s)))
    V[used] = right
    return U, s * (work[0] / work[1]), V


def inverse(K: Matrix, alpha: float, weights: Vector | None = None) -> Matrix:
    """Return ``(K + alpha I)^-1`` as a new symmetric array, by Cholesky, about n³ flops.

    With ``weights`` (n,), positive, it is ``(K + alpha diag(1 / weights))^-1``. This costs a tenth
    to a quarter of an eigh, so it is the choice for one alpha or a few. ``K`` is not changed; only
    its upper triangle is read. Raises ValueError if K is found not to be positive semidefinite:
    surely if the shifted matrix is not positive definite, otherwise if a few steps of power
    iteration show it.
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
    _check_largest_eigenvalue(G, alpha if weights is None else alpha / float(weights.max()))
    return mirror(G)


def solve(K: Matrix, Y: Matrix, alpha: float) -> Matrix:
    """Return ``(K + alpha I)^-1 Y``, in the shape of ``Y`` (n, p), by one Cholesky factorisation.

    ``K`` (n, n) and ``Y`` are not changed. Raises ValueError if ``K + alpha I`` is not positive
    definite; negative eigenvalues of K above ``-alpha`` are not noticed.
    """
    M = np.array(K, dtype=np.float64, order="C")
    M.flat[:: len(M) + 1] += alpha
    _, x, failed = sla.lapack.dposv(M.T, Y, lower=1, overwrite_a=1)
    if failed:
        raise not_psd_error(f"K + {alpha:g} I has no Cholesky factor (leading minor {failed})")
    return np.asarray(x)


def mirror(G: Matrix, block: int = 256) -> Matrix:
    """Copy the upper triangle of a square array onto the lower one in place, and return the array.

    ``block`` is the side of the tiles that are copied at once.
    """
    n = len(G)
    for start in range(0, n, block):
        stop = min(start + block, n)
        square = G[start:stop, start:stop]
        lower = np.tril_indices(stop - start, -1)
        square[lower] = square.T[lower]
        for below in range(stop, n, block):  # by tiles that fit in cache
            G[below : below + block, start:stop] = G[start:stop, below : below + block].T
    return G


def _check_largest_eigenvalue(G: Matrix, alpha: float, steps: int = 6) -> None:
    """Raise ValueError if G has an eigenvalue above 1 / alpha: then K is indefinite.

    ``G`` (n, n) is ``(K + alpha I)^-1`` or, with weights, ``alpha`` is the smallest value added to
    the diagonal of K. Only the upper triangle of ``G`` is read. ``steps`` of power iteration give a
    lower bound of the largest eigenvalue, which may exceed ``1 / alpha`` by 1e-6 of it: there is no
    false alarm, but a small excess may be missed.
    """
    v = np.random.default_rng(0).standard_normal(len(G))
    size = 0.0
    for _ in range(steps):
        v /= np.linalg.norm(v)
        v = sla.blas.dsymv(1.0, G.T, v, lower=1)
        size = float(np.linalg.norm(v))
    if size > (1 + 1e-6) / alpha:
        raise not_psd_error(f"it has an eigenvalue of {1 / size - alpha:.3g} or less")


MAX_BASIS_VALUES = 1 << 27  # numbers in the stored basis: 1 GB


def solve_krylov_path(
    X: SparseMatrix,
    y: Vector,
    alphas: Vector,
    *,
    laplacian: Callable[[Vector], Vector] | None = None,
    tolerance: float = 1e-6,
    max_iterations: int = 2000,
) -> Matrix:  # (a, d)
    """Return ``(X'LX + alpha I)^-1 X'L y`` at every alpha, (a, d), in the order of ``alphas``.

    ``X`` is (n, d) and ``y`` (n,). ``L`` is the identity, or for a ranker the ``laplacian`` of its
    preferences as a function ``u -> L u``. One run of conjugate gradients serves all alphas; each
    iteration costs two sparse products. Raises ValueError if ``max_iterations`` are not enough for
    ``tolerance``, the residual relative to the first.
    """
    T = sp.csr_array(X.T)

    def weighted(u: Vector) -> Vector:
        """Return ``L u``."""
        return u if laplacian is None else laplacian(u)

    def product(q: Vector) -> Vector:
        """Return ``X'LX q``."""
        return np.asarray(T @ weighted(X @ q))

    right = np.asarray(T @ weighted(y))
    return solve_krylov(product, right, alphas, tolerance=tolerance, max_iterations=max_iterations)


def solve_krylov(
    product: Callable[[Vector], Vector],
    right_side: Vector,
    alphas: Vector,
    *,
    tolerance: float = 1e-6,
    max_iterations: int = 2000,
) -> Matrix:  # (a, d)
    """Return ``(A + alpha I)^-1 right_side`` at every alpha, (a, d), in the order of ``alphas``.

    Conjugate gradient for the smallest alpha gives an orthogonal basis in which ``A`` is
    tridiagonal; every other alpha only shifts that small matrix, and converges sooner.

    Parameters
    ----------
    product
        Returns ``A q`` for a vector q (d,); if ``A`` is distributed, a map over its parts and a
        sum. It must give the same result for the same q: the basis is computed a second time
        if it would need more than ``MAX_BASIS_VALUES`` numbers.
    right_side
        Vector (d,).
    alphas
        Shifts (a,), at least one, in any order. ``A`` must be symmetric, and
        ``A + min(alphas) I`` positive definite; this is not checked.
    tolerance
        Largest accepted residual, relative to the first one.
    max_iterations
        Largest number of products of one pass.

    Raises
    ------
    ValueError
        If the residual is still above ``tolerance`` times the first one after
        ``max_iterations``.
    """
    run = _ConjugateGradient(product, right_side, float(alphas.min()), tolerance, max_iterations)
    stored: list[Vector] | None = []
    for direction in run:
        if stored is not None and (len(stored) + 1) * len(right_side) > MAX_BASIS_VALUES:
            stored = None
        if stored is not None:
            stored.append(direction)
    steps = _solve_in_basis(run, alphas)  # (iterations, a)
    if stored is not None:
        basis = np.array(stored).reshape(len(stored), len(right_side))
        return np.asarray(steps.T @ basis)
    W = np.zeros((len(alphas), len(right_side)))
    again = _ConjugateGradient(product, right_side, run.base, tolerance, max_iterations)
    for step, direction in zip(steps, again):  # noqa: B905
        W += np.outer(step, direction)
    return W


class _ConjugateGradient:
    """Conjugate gradient for the smallest alpha; iterating yields the normalised residuals.

    ``lengths`` and ``ratios`` record, per iteration, the length of the step and the squared
    residual after it divided by the one before; ``start`` is the norm of the first residual. An
    object can be iterated only once.
    """

    def __init__(
        self,
        product: Callable[[Vector], Vector],
        right_side: Vector,
        base: float,
        tolerance: float,
        max_iterations: int,
    ) -> None:
        """Store the system ``(A + base I) x = right_side``; ``base`` is the smallest alpha.

        ``product`` returns ``A q``; ``tolerance`` is relative to the norm of the right side.
        """
        self.product, self.right, self.base = product, right_side, base
        self.tolerance, self.max_iterations = tolerance, max_iterations
        self.lengths: list[float] = []
        self.ratios: list[float] = []
        self.start = 0.0

    def __iter__(self) -> Iterator[Vector]:
        """Yield the normalised residual before each step, as a new array, until convergence.

        Sets ``start`` and appends to ``lengths`` and ``ratios``, so it can be iterated only once.
        Converged is a residual of at most ``tolerance`` times the first one; nothing is yielded if
        the right side is zero. Raises ValueError if that takes more than ``max_iterations``.
        """
        r = self.right.copy()
        q = r.copy()
        square = float(r @ r)
        self.start = np.sqrt(square)
        stop = self.tolerance**2 * square
        while square > stop:
            if len(self.lengths) == self.max_iterations:
                raise ValueError(
                    f"conjugate gradient has not converged after {self.max_iterations} iterations: "
                    f"residual {np.sqrt(square) / self.start:.1e} of the first, "
                    f"{self.tolerance:g} wanted. "
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


def _solve_in_basis(run: _ConjugateGradient, alphas: Vector) -> Matrix:  # (iterations, a)
    """Return the coordinates of each solution in the basis that ``run`` yielded, (iterations, a).

    Solves one tridiagonal system per alpha. ``run`` must be exhausted, and no alpha be below its
    ``base``. Without iterations (right side 0) the result has no rows.
    """
    count = len(run.lengths)
    steps = np.zeros((count, len(alphas)))
    if not count:
        return steps
    lengths, ratios = np.array(run.lengths), np.array(run.ratios)
    diagonal = 1.0 / lengths
    diagonal[1:] += ratios[:-1] / lengths[:-1]
    off_diagonal = -np.sqrt(ratios[:-1]) / lengths[:-1]
    right = np.zeros(count)
    right[0] = run.start
    for a, alpha in enumerate(alphas):
        if count == 1:
            steps[:, a] = right / (diagonal + alpha - run.base)
        else:
            steps[:, a] = sla.lapack.dptsv(diagonal + (alpha - run.base), off_diagonal, right)[2]
    return steps


def solve_tridiagonal(K: Matrix, Y: Matrix, alphas: Vector) -> Matrix:  # (a, n, p)
    """Return ``(K + alpha I)^-1 Y`` at every alpha, (a, n, p), without eigenvectors.

    For when nothing is held out. The reduction to tridiagonal form costs half of an eigh; after it
    every alpha and output takes O(n), and ``Q`` is applied to all of them at once as a product of
    reflections. ``K`` and ``Y`` (n, p) are not changed. Raises ValueError if ``K + alpha I`` is not
    positive definite at some alpha (not with fewer than three rows, where it is not checked).
    """
    n, p = Y.shape
    if n < 3:
        return np.stack([np.linalg.solve(K + alpha * np.eye(n), Y) for alpha in alphas])
    work = 64 * n
    packed, diagonal, off_diagonal, tau, _ = sla.lapack.dsytrd(K.T, lower=1, lwork=work)
    reflections = np.asfortranarray(packed[1:, :-1])
    Z = np.array(Y, order="F")
    Z[1:] = sla.lapack.dormqr("L", "T", reflections, tau, np.asfortranarray(Z[1:]), work)[0]
    S = np.empty((n, len(alphas) * p), order="F")
    for a, alpha in enumerate(alphas):
        *_, x, failed = sla.lapack.dptsv(diagonal + alpha, off_diagonal, Z)
        if failed:
            raise not_psd_error(
                f"K + {alpha:g} I has a leading minor that is not positive ({failed})"
            )
        S[:, a * p : (a + 1) * p] = x
    S[1:] = sla.lapack.dormqr("L", "N", reflections, tau, np.asfortranarray(S[1:]), work)[0]
    return S.reshape(n, len(alphas), p).transpose(1, 0, 2)
