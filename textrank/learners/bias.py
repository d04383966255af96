"""Least squares with an unpenalised bias, which is also global RankRLS: exact hold-out."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from textrank.learners.holdout import buckets, solve_regular
from textrank.linalg.spectrum import Spectrum
from textrank.types import Indices, Matrix, Vector


def coefs_with_bias(spectrum: Spectrum, Y: Matrix, alphas: Vector) -> Matrix:  # (a, n, p)
    """``G (y - b)`` with the bias ``b = 1'Gy / 1'G1``: coefficients that sum to zero."""
    A = spectrum.coefs(np.hstack([Y, np.ones((len(Y), 1))]), alphas)
    total = A.sum(axis=1, keepdims=True)
    A = A[..., :-1] - total[..., :-1] / total[..., -1:] * A[..., -1:]
    return np.asarray(A - A.mean(axis=1, keepdims=True))  # round-off along 1 grows with 1 / alpha


def weights_with_bias(spectrum: Spectrum, Y: Matrix, alphas: Vector) -> Matrix:  # (a, d, p)
    """Weights of the features of a decomposition, with the bias of ``coefs_with_bias``."""
    both = np.hstack([Y, np.ones((len(Y), 1))])
    total = spectrum.coefs(both, alphas).sum(axis=1, keepdims=True)
    W = spectrum.weights(both, alphas)
    return np.asarray(W[..., :-1] - total[..., :-1] / total[..., -1:] * W[..., -1:])


def heldout_with_bias(
    spectrum: Spectrum,
    Y: Matrix,
    alphas: Callable[[int], Vector],
    groups: Sequence[Indices],
    *,
    add_bias: bool = False,
) -> Matrix:  # (a, n, p)
    """Scores at every alpha, each candidate without its group; ``alphas`` of so many candidates.

    With ``G = (K + alpha I)^-1`` the bias is ``1'Gy / 1'G1``. Both sums lose a term
    ``(G1)_U' G_UU^-1 (G.)_U`` without the group ``U``, and the scores are those of plain least
    squares on ``y`` less the bias times those on ``1``.
    """
    n, p = Y.shape
    both = np.hstack([Y, np.ones((n, 1))])
    heldout = np.full((len(alphas(n)), n, p), np.nan)
    for index in buckets(groups):
        grid = alphas(n - index.shape[1])
        A = spectrum.coefs(both, grid)  # G [y 1], (a, n, p + 1)
        total = A.sum(axis=1)  # 1' G [y 1]
        for part in _portions(index, len(grid)):
            a = A[:, part].transpose(1, 0, 2, 3)  # (b, a, h, p + 1)
            x = solve_regular(spectrum.blocks(part, grid), a)
            left = total - np.einsum("bah,bahp->bap", a[..., -1], x)
            bias = (left[..., :-1] / left[..., -1:])[:, :, None, :]
            scores = both[part][:, None] - x
            f = scores[..., :-1] - bias * scores[..., -1:] + (bias if add_bias else 0.0)
            heldout[:, part] = f.transpose(1, 0, 2, 3)
    return heldout


def _portions(index: Indices, alphas: int) -> list[Indices]:
    step = max(1, (1 << 22) // (alphas * index.shape[1] ** 2))
    return [index[start : start + step] for start in range(0, len(index), step)]
