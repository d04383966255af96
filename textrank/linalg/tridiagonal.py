"""Coefficients at many alphas without eigenvectors: ``K = Q T Q'`` with ``T`` tridiagonal."""

from __future__ import annotations

import numpy as np
import scipy.linalg as sla

from textrank.linalg.errors import not_psd
from textrank.types import Matrix, Vector


def coefs_without_vectors(K: Matrix, Y: Matrix, alphas: Vector) -> Matrix:  # (a, n, p)
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
            raise not_psd(f"K + {alpha:g} I has a leading minor that is not positive ({failed})")
        S[:, a * p : (a + 1) * p] = x
    S[1:] = sla.lapack.dormqr("L", "N", reflections, tau, np.asfortranarray(S[1:]), work)[0]
    return S.reshape(n, len(alphas), p).transpose(1, 0, 2)
