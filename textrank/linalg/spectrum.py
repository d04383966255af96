"""Spectrum: the one decomposition on which every alpha and every hold-out is cheap."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.linalg as sla
import scipy.sparse as sp

from textrank.linalg.errors import not_psd
from textrank.linalg.singular import (
    EPSILON,
    MAX_GRAM_ERROR,
    check_dense_size,
    decompose_features,
    is_gram_accurate,
)
from textrank.types import Indices, Matrix, SparseMatrix, Vector


@dataclass(frozen=True, eq=False)
class Spectrum:
    """Eigenvalues and orthonormal eigenvectors of a Gram matrix: ``K = Q diag(w) Q'``.

    With ``d < n`` features the ``n - r`` zero eigenvalues have no column in ``Q``; they enter
    ``(K + alpha I)^-1 = offset I + Q diag(filter) Q'`` through the offset ``1 / alpha``. Where
    the features were decomposed, ``F = Q diag(sqrt(w)) V'``.

    >>> spectrum = Spectrum.of_gram(np.array([[2.0, 1.0], [1.0, 2.0]]))
    >>> spectrum.w.round(6)
    array([1., 3.])
    """

    w: Vector  # (r,)
    Q: Matrix  # (n, r)
    spanning: bool = False  # whether all that it is applied to lies in the span of Q
    V: Matrix | None = None  # (d, r)

    @classmethod
    def of_gram(cls, K: Matrix, *, size: float = 0.0, alpha: float | None = None) -> Spectrum:
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
    def of_features(cls, F: Matrix | SparseMatrix, *, alpha: float | None = None) -> Spectrum:
        """Decompose ``K = F F'``, or ``F`` itself where it is narrow.

        ``F`` is decomposed too where ``K`` would not be accurate enough for ``alpha``, the
        smallest one in use.
        """
        n, d = F.shape
        if 2 * d > n:
            if alpha is None or is_gram_accurate(F, alpha):
                return cls.of_gram(gram(F))
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


def gram(F: Matrix | SparseMatrix, common: float = 0.05) -> Matrix:
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


def densified(F: Matrix | SparseMatrix) -> Matrix:
    """The matrix without sparse storage."""
    return np.asarray(F.toarray() if isinstance(F, sp.sparray) else F)


def _chunks(columns: Indices, n: int) -> list[Indices]:
    size = max(1, (1 << 25) // n)  # at most 256 MB of dense columns at once
    return [columns[start : start + size] for start in range(0, len(columns), size)]


def _clipped(w: Vector, size: float) -> Vector:
    if w[0] < -1e-8 * max(w[-1], size):
        raise not_psd(f"its smallest eigenvalue is {w[0]:.3g}, its largest {w[-1]:.3g}")
    return w.clip(min=0)  # round-off only: anything larger was refused above
