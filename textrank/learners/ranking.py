"""Held-out scores of whole queries for a ranker: raw ones, as the retrained model gives them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np
import scipy.sparse as sp

from textrank.learners.preferences import Preferences
from textrank.linalg.spectrum import Spectrum
from textrank.types import Indices, Matrix, SparseMatrix, Vector


def heldout_queries(
    spectrum: Spectrum,
    read: Callable[[SparseMatrix], Matrix],
    target: Matrix,
    B: Matrix,
    alphas: Vector,
    groups: Sequence[Indices],
    preferences: Preferences,
) -> Matrix:  # (a, n, p)
    """Scores at every alpha, each candidate without its group of whole queries.

    With ``R`` the root of the Laplacian and ``G = (R K R + alpha I)^-1``, least squares on
    ``R K R`` gives the differences inside the held-out queries, ``R f = R s - x`` with
    ``x = G_UU^-1 b_U``; what ``R`` forgets, the level of each query, is read from the remaining
    coefficients. The null space of ``R`` is projected out of both: round-off along it would grow
    like ``1 / alpha``.
    """
    heldout = np.full((len(alphas), *target.shape), np.nan)
    undone = [preferences.undo(group) for group in groups]
    if not groups:
        return heldout
    levels, starts = _levels(groups, [null for _, null in undone], read, spectrum)
    inverse = 1.0 / (spectrum.w[:, None] + alphas)
    fitted = _fitted_levels(levels, inverse, spectrum.Q.T @ target)  # (all c, a, p)

    for members in _alike(undone):
        index = np.stack([groups[g] for g in members])
        pinv, N = (np.stack([undone[g][k] for g in members])[:, None] for k in (0, 1))
        rows = starts[members][:, None] + np.arange(N.shape[-1])
        x = _solve(spectrum.blocks(index, alphas), B[:, index].transpose(1, 0, 2, 3), N)
        cross = _cross(levels[rows], spectrum.Q[index], inverse)
        level = fitted[rows].transpose(0, 2, 1, 3) - cross @ x
        scores = pinv @ (target[index][:, None] - x) + N @ level
        heldout[:, index] = scores.transpose(1, 0, 2, 3)
    return heldout


def _levels(
    groups: Sequence[Indices],
    nulls: Sequence[Matrix],
    read: Callable[[SparseMatrix], Matrix],
    spectrum: Spectrum,
) -> tuple[Matrix, Indices]:
    """``N' K R Q`` for the null spaces ``N`` of all groups, and where those of each begin."""
    counts = np.array([null.shape[1] for null in nulls])
    starts = np.concatenate([[0], np.cumsum(counts)[:-1]]).astype(np.intp)
    cells = [
        (start + np.repeat(np.arange(count), len(group)), np.tile(group, count), null.T.ravel())
        for start, count, group, null in zip(starts, counts, groups, nulls, strict=True)
    ]
    rows, columns, values = (np.concatenate(part) for part in zip(*cells, strict=True))
    N = sp.csr_array((values, (rows, columns)), shape=(int(counts.sum()), spectrum.n))
    return read(N), starts


def _fitted_levels(levels: Matrix, inverse: Matrix, Z: Matrix) -> Matrix:  # -> (c, a, p)
    p = Z.shape[1]
    scaled = (inverse[:, :, None] * Z[:, None, :]).reshape(len(inverse), inverse.shape[1] * p)
    return (levels @ scaled).reshape(len(levels), inverse.shape[1], p)


def _alike(undone: Sequence[tuple[Matrix, Matrix]], most: int = 1 << 14) -> Iterator[Indices]:
    """Groups of equal size and equal number of levels, not too many at once."""
    shapes = np.array([null.shape for _, null in undone])
    for h, c in np.unique(shapes, axis=0):
        same = np.flatnonzero((shapes == (h, c)).all(axis=1))
        step = max(1, most // int(h * h))
        for start in range(0, len(same), step):
            yield same[start : start + step]


def _solve(G: Matrix, b: Matrix, N: Matrix) -> Matrix:  # (b, a, h, h), (b, a, h, p), (b, 1, h, c)
    """``G^-1 b`` inside the complement of ``N``."""
    T = N.swapaxes(-1, -2)
    G = G - N @ (T @ G)
    G = G - (G @ N) @ T + N @ T
    return np.asarray(np.linalg.solve(G, b - N @ (T @ b)))


def _cross(levels: Matrix, Q: Matrix, inverse: Matrix) -> Matrix:  # -> (b, a, c, h)
    """``levels diag(inverse) Q'`` for every group and alpha."""
    b, c, r = levels.shape
    h = Q.shape[1]
    rows = (levels[:, :, None, :] * Q[:, None, :, :]).reshape(-1, r)
    return (rows @ inverse).reshape(b, c, h, inverse.shape[1]).transpose(0, 3, 1, 2)
