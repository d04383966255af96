"""Scores of candidates by models that never saw them, without retraining.

With ``G = (K + alpha I)^-1`` and ``a = G y``, the model of all candidates but ``U`` scores them
``f_U = y_U - G_UU^-1 a_U``, whatever their number. This form loses less to round-off than the
one with the smoother ``K G``.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from textrank.learners.spectrum import Spectrum
from textrank.types import Indices, Matrix, Vector


def buckets(groups: Sequence[Indices]) -> Iterator[Indices]:
    """The groups by size, those of one size as the rows of an array (b, h)."""
    sizes = np.array([len(group) for group in groups])
    for size in np.unique(sizes):
        if size:
            yield np.stack([groups[k] for k in np.flatnonzero(sizes == size).tolist()])


def solve_blocks(G: Matrix, a: Matrix, y: Matrix) -> Matrix:
    """``y_U - G_UU^-1 a_U`` for stacks of blocks: (.., h, h), (.., h, p), (.., h, p)."""
    if G.shape[-1] == 1:
        return np.asarray(y - a / G)
    return np.asarray(y - np.linalg.solve(G, a))


def heldout_at_all(
    spectrum: Spectrum, Y: Matrix, A: Matrix, alphas: Vector, groups: Sequence[Indices]
) -> Matrix:  # (a, n, p)
    """Scores at every alpha, each candidate without its group; the groups must not overlap.

    ``A`` (a, n, p) are the coefficients of ``Y`` (n, p) at every alpha.
    """
    F = np.full(A.shape, np.nan)
    for index in buckets(groups):
        for part in _portions(index, len(alphas)):
            if part.shape[1] == 1:
                F[:, part[:, 0]] = _singles(spectrum, Y, A, alphas, part[:, 0])
                continue
            G = spectrum.blocks(part, alphas)
            scores = solve_blocks(G, A[:, part].transpose(1, 0, 2, 3), Y[part][:, None])
            F[:, part] = scores.transpose(1, 0, 2, 3)
    return F


def heldout_at_one(G: Matrix, Y: Matrix, A: Matrix, groups: Sequence[Indices]) -> Matrix:
    """The same at the alpha of a given inverse: (n, n), (n, p), (n, p) -> (n, p)."""
    F = np.full(A.shape, np.nan)
    for index in buckets(groups):
        for part in _portions(index, 1):
            F[part] = solve_blocks(G[part[:, :, None], part[:, None, :]], A[part], Y[part])
    return F


def _singles(spectrum: Spectrum, Y: Matrix, A: Matrix, alphas: Vector, rows: Indices) -> Matrix:
    inverse, offset = spectrum.filters(alphas)
    Q = spectrum.Q[rows]
    diagonal = (Q * Q) @ inverse + offset  # (b, a)
    return Y[rows] - A[:, rows] / diagonal.T[:, :, None]


def _portions(index: Indices, alphas: int) -> list[Indices]:
    """The groups of one size in portions whose blocks take at most 64 MB."""
    if index.shape[1] == 1:
        return [index]
    step = max(1, (1 << 23) // (alphas * index.shape[1] ** 2))
    return [index[start : start + step] for start in range(0, len(index), step)]
