"""The inverse of ``K + alpha I`` for one alpha by Cholesky, where an eigh would be too much."""

from __future__ import annotations

import numpy as np
import scipy.linalg as sla

from textrank.linalg.errors import not_psd
from textrank.types import Matrix, Vector


def inverse(K: Matrix, alpha: float, weights: Vector | None = None) -> Matrix:
    """The whole symmetric inverse, in one new (n, n) array: Cholesky and potri, about n^3 flops.

    At a tenth to a quarter of an eigh of the same size it is what one alpha, or a few, should pay.
    """
    G = np.array(K, dtype=np.float64, order="C")
    G.flat[:: len(G) + 1] += alpha if weights is None else alpha / weights
    # The transpose of a C-ordered symmetric array is Fortran-ordered: LAPACK works in place.
    factor, failed = sla.lapack.dpotrf(G.T, lower=1, overwrite_a=1, clean=0)
    if failed:
        raise not_psd(f"K + {alpha:g} I has no Cholesky factor (leading minor {failed})")
    result, failed = sla.lapack.dpotri(factor, lower=1, overwrite_c=1)
    if failed:
        raise not_psd(f"K + {alpha:g} I is singular at row {failed}")
    G = result.T
    _check_largest(G, alpha if weights is None else alpha / float(weights.max()))
    return mirror(G)


def solve(K: Matrix, Y: Matrix, alpha: float) -> Matrix:
    """``(K + alpha I)^-1 Y`` by one Cholesky factorisation."""
    M = np.array(K, dtype=np.float64, order="C")
    M.flat[:: len(M) + 1] += alpha
    _, x, failed = sla.lapack.dposv(M.T, Y, lower=1, overwrite_a=1)
    if failed:
        raise not_psd(f"K + {alpha:g} I has no Cholesky factor (leading minor {failed})")
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
        raise not_psd(f"it has an eigenvalue of {1 / size - alpha:.3g} or less")
