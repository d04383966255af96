"""Scores of candidates by models that never saw them, without retraining.

With ``G = (K + alpha I)^-1`` and ``a = G y``, the model of all candidates but ``U`` scores them
``f_U = y_U - G_UU^-1 a_U``, whatever their number. This form loses less to round-off than the
one with the smoother ``K G``. A model with an intercept that is not penalised has
``G - g g' / 1'g`` in the place of ``G``, with ``g = G 1``.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from textrank.linalg.spectrum import Spectrum
from textrank.types import Indices, Matrix, Vector

# Share of a direction that the other rows leave free; below it there is only round-off.
MIN_FREE_SHARE = 1e-12


def buckets(groups: Sequence[Indices]) -> Iterator[Indices]:
    """The groups by size, those of one size as the rows of an array (b, h)."""
    for which in by_size(groups):
        yield np.stack([groups[k] for k in which.tolist()])


def by_size(groups: Sequence[Indices]) -> Iterator[Indices]:
    """The numbers of the groups of each size; empty groups are passed over."""
    sizes = np.array([len(group) for group in groups])
    for size in np.unique(sizes[sizes > 0]):
        yield np.flatnonzero(sizes == size)


def solve_blocks(G: Matrix, a: Matrix, y: Matrix) -> Matrix:
    """``y_U - G_UU^-1 a_U`` for stacks of blocks: (.., h, h), (.., h, p), (.., h, p)."""
    if G.shape[-1] == 1:
        return np.asarray(y - a / G)
    return np.asarray(y - solve_regular(G, a))


def solve_regular(G: Matrix, a: Matrix) -> Matrix:
    """Solve stacks of equations, or raise ValueError with what to do about singular ones."""
    try:
        return np.asarray(np.linalg.solve(G, a))
    except np.linalg.LinAlgError:
        raise ValueError(
            "the scores of a held-out group cannot be computed: the data are too large compared "
            "with alpha. Scale the features or the kernel, or use larger alphas."
        ) from None


def heldout_at_all(
    spectrum: Spectrum,
    Y: Matrix,
    A: Matrix,
    alphas: Vector,
    groups: Sequence[Indices],
    *,
    removed: Matrix | None = None,
) -> Iterator[tuple[Indices, Matrix]]:
    """Groups of one size (b, h) and their scores at every alpha (b, a, h, p), portion by portion.

    ``A`` (a, n, p) are the coefficients of ``Y`` (n, p). The groups may overlap. ``removed``
    (a, n) holds vectors ``r`` by which the inverse is reduced to ``G - r r'``.
    """
    for index in buckets(groups):
        for part in _portions(index, len(alphas)):
            if part.shape[1] == 1:
                G = _diagonals(spectrum, alphas, part[:, 0])
            else:
                G = spectrum.blocks(part, alphas)
            if removed is not None:
                r = removed[:, part].transpose(1, 0, 2)  # (b, a, h)
                G = G - r[..., :, None] * r[..., None, :]
            yield part, solve_blocks(G, A[:, part].transpose(1, 0, 2, 3), Y[part][:, None])


def heldout_by_parts(
    spectrum: Spectrum, Y: Matrix, alphas: Vector, groups: Sequence[Indices]
) -> Iterator[tuple[Indices, Matrix]]:
    """The same as ``heldout_at_all`` for eigenvalues that exceed alpha by more than round-off.

    ``G`` is the sum of ``(I - QQ') / alpha`` and ``Q (w + alpha)^-1 Q'``. Where a group alone
    knows some feature, the first part is zero in some direction but for round-off, which would
    hide the second. So the parts are computed apart, and that round-off is set to zero. An
    infinite eigenvalue stands for a direction that is not penalised.
    """
    Z = spectrum.Q.T @ Y
    rest = Y - spectrum.Q @ Z
    inverse = 1.0 / (spectrum.w[:, None] + alphas)  # (r, a)
    for index in buckets(groups):
        for part in _portions(index, len(alphas)):
            Q = spectrum.Q[part]  # (b, h, r)
            e, V = np.linalg.eigh(np.eye(part.shape[1]) - Q @ Q.swapaxes(1, 2))
            e = np.where(e > MIN_FREE_SHARE, e, 0.0)
            T = V.swapaxes(1, 2)
            free = (T @ rest[part]) * (e > 0)[:, :, None]
            Q = T @ Q  # all in the basis in which the first part is diagonal
            scores = np.empty((len(part), len(alphas), part.shape[1], Y.shape[1]))
            for a, alpha in enumerate(alphas):
                G = alpha * ((Q * inverse[:, a]) @ Q.swapaxes(1, 2))
                G[:, np.arange(len(e[0])), np.arange(len(e[0]))] += e
                A = free + alpha * (Q @ (Z * inverse[:, a, None]))
                size = np.sqrt(np.einsum("bhh->bh", G))[:, :, None]
                size[size == 0] = 1.0
                x = solve_regular(G / size / size.swapaxes(1, 2), A / size) / size
                scores[:, a] = Y[part] - V @ x
            yield part, scores


def heldout_at_one(
    G: Matrix, Y: Matrix, A: Matrix, groups: Sequence[Indices]
) -> Iterator[tuple[Indices, Matrix]]:
    """The same at the alpha of a given inverse: scores (b, 1, h, p)."""
    for index in buckets(groups):
        for part in _portions(index, 1):
            block = G[part[:, :, None], part[:, None, :]]
            yield part, solve_blocks(block, A[part], Y[part])[:, None]


def scatter(parts: Iterator[tuple[Indices, Matrix]], into: Matrix) -> Matrix:
    """The portions at their rows of ``into`` (a, n, p); rows of no group stay as they are."""
    for index, scores in parts:
        into[:, index] = scores.transpose(1, 0, 2, 3)
    return into


def _diagonals(spectrum: Spectrum, alphas: Vector, rows: Indices) -> Matrix:  # (b, a, 1, 1)
    inverse, offset = spectrum.filters(alphas)
    Q = spectrum.Q[rows]
    return ((Q * Q) @ inverse + offset)[:, :, None, None]


def _portions(index: Indices, alphas: int) -> list[Indices]:
    """The groups of one size in portions whose blocks take at most 64 MB."""
    if index.shape[1] == 1:
        return [index]
    step = max(1, (1 << 23) // (alphas * index.shape[1] ** 2))
    return [index[start : start + step] for start in range(0, len(index), step)]
