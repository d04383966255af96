"""Held-out scores of whole queries for a ranker: raw ones, as the retrained model gives them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

import numpy as np
import scipy.sparse as sp

from textrank.learners.holdout import solve_regular
from textrank.learners.preferences import Preferences
from textrank.linalg.spectrum import Spectrum
from textrank.types import Indices, Matrix, SparseMatrix, Vector
from textrank.types.ragged import offsets, spread


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
    nulls, starts = _nulls(groups, [null for _, null in undone], spectrum.n)
    levels = read(nulls)
    inverse = 1.0 / (spectrum.w[:, None] + alphas)
    smallest = inverse.min(axis=0, initial=1.0 / alphas.min())
    inside = replace(spectrum, Q=spectrum.Q - nulls.T @ (nulls @ spectrum.Q))
    fitted = _fitted_levels(levels, inverse, spectrum.Q.T @ target)  # (all c, a, p)

    for members in _alike(undone):
        index = np.stack([groups[g] for g in members])
        pinv, N = (np.stack([undone[g][k] for g in members])[:, None] for k in (0, 1))
        rows = starts[members][:, None] + np.arange(N.shape[-1])
        b = B[:, index].transpose(1, 0, 2, 3)
        T = N.swapaxes(-1, -2)
        # Inside the complement of N alone; N N' makes the blocks regular and changes nothing there
        # if it is of their size.
        G = inside.blocks(index, alphas)
        mean = np.einsum("bahh->ba", G) / index.shape[1]
        G = G + np.maximum(mean, smallest)[:, :, None, None] * (N @ T)
        x = solve_regular(G, b - N @ (T @ b))
        cross = _cross(levels[rows], spectrum.Q[index], inverse)
        level = fitted[rows].transpose(0, 2, 1, 3) - cross @ x
        scores = pinv @ (target[index][:, None] - x) + N @ level
        heldout[:, index] = scores.transpose(1, 0, 2, 3)
    return heldout


def _nulls(
    groups: Sequence[Indices], nulls: Sequence[Matrix], n: int
) -> tuple[SparseMatrix, Indices]:
    """The null spaces of all groups as rows, (all c, n), and where those of each begin."""
    heights, counts = np.array([null.shape for null in nulls], dtype=np.intp).T
    starts = offsets(counts)
    null, height = spread(starts[:-1], counts)[1], np.repeat(heights, counts)
    place = spread(np.repeat(offsets(heights)[:-1], counts), height)[1]
    columns = np.concatenate(groups)[place]
    values = np.concatenate([null.T.ravel() for null in nulls])
    cells = (values, (np.repeat(null, height), columns))
    return sp.csr_array(cells, shape=(int(starts[-1]), n)), starts[:-1]


def _fitted_levels(levels: Matrix, inverse: Matrix, Z: Matrix) -> Matrix:  # -> (c, a, p)
    p = Z.shape[1]
    scaled = (inverse[:, :, None] * Z[:, None, :]).reshape(len(inverse), inverse.shape[1] * p)
    return (levels @ scaled).reshape(len(levels), inverse.shape[1], p)


def _alike(undone: Sequence[tuple[Matrix, Matrix]], most: int = 1 << 14) -> Iterator[Indices]:
    """Groups of equal size and equal number of levels, not too many at once."""
    shapes = np.array([null.shape for _, null in undone])
    for h, c in sorted({null.shape for _, null in undone}):
        same = np.flatnonzero((shapes == (h, c)).all(axis=1))
        step = max(1, most // int(h * h))
        for start in range(0, len(same), step):
            yield same[start : start + step]


def _cross(levels: Matrix, Q: Matrix, inverse: Matrix) -> Matrix:  # -> (b, a, c, h)
    """``levels diag(inverse) Q'`` for every group and alpha."""
    b, c, r = levels.shape
    h = Q.shape[1]
    rows = (levels[:, :, None, :] * Q[:, None, :, :]).reshape(b * c * h, r)
    return (rows @ inverse).reshape(b, c, h, inverse.shape[1]).transpose(0, 3, 1, 2)
