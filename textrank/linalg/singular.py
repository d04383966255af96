"""Singular value decomposition of feature matrices whose columns may differ much in scale."""

from __future__ import annotations

import numpy as np
import scipy.linalg as sla
import scipy.sparse as sp

from textrank.types import Matrix, SparseMatrix, Vector

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
