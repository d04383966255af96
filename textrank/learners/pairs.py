"""Leave-pair-out: two candidates scored by a model that saw neither, for AUC on small data."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from textrank.learners.checks import check_alphas, check_gram, check_targets
from textrank.linalg.inverse import inverse
from textrank.types import Indices, Matrix, Vector


def leave_pairs_out(
    K: Matrix, y: Vector, pairs: Indices, *, alphas: Sequence[float], rank: bool = False
) -> Matrix:  # (a, l, 2)
    """Scores of both members of each pair (l, 2) by the model of all other candidates.

    O(1) a pair after one inverse per alpha: the whole inverse is needed at every alpha, so an
    eigendecomposition would buy nothing. ``rank`` is global RankRLS with all pairs, else RLS.
    """
    K = check_gram(K)
    Y = check_targets(y, len(K))
    pairs = _checked_pairs(pairs, len(K))
    i, j = pairs.T
    scores = np.empty((len(alphas), len(pairs), 2))
    for a, alpha in enumerate(check_alphas(alphas)):
        G, level = _projected(K, Y[:, 0], alpha, rank)
        coef = G @ Y[:, 0]
        f = _two_out(G.diagonal(), G[i, j], coef, Y[:, 0], i, j)
        if level is not None:
            f = f - level.of(i, j)[None]
        scores[a] = f.T
    return scores


def leave_pair_out_auc(
    K: Matrix, y: Vector, *, alphas: Sequence[float], rank: bool = False
) -> Vector:  # (a,)
    """AUC at every alpha over all (positive, negative) pairs, each scored without the two.

    Nearly unbiased where pooled scores are not (Airola et al. 2011).
    """
    K = check_gram(K)
    y = check_targets(y, len(K))[:, 0]
    pos, neg = np.flatnonzero(y > 0), np.flatnonzero(y <= 0)
    if not len(pos) or not len(neg):
        raise ValueError(f"AUC needs positive and negative labels, got {len(pos)} and {len(neg)}")
    values = []
    for alpha in check_alphas(alphas):
        G, _ = _projected(K, y, alpha, rank)  # a level common to both does not matter
        values.append(_share(G, G @ y, y, pos, neg))
    return np.array(values)


class _Level:
    """The unpenalised bias of the model without each pair."""

    def __init__(self, G: Matrix, y: Vector) -> None:
        self.G, self.u, self.a = G, G.sum(axis=1), G @ y
        self.uu, self.ua = self.u.sum(), self.a.sum()

    def of(self, i: Indices, j: Indices) -> Vector:
        """``1'G'y / 1'G'1`` with ``G'`` the inverse without the two rows."""
        g, gij = self.G.diagonal(), self.G[i, j]
        det = g[i] * g[j] - gij**2
        u, a = self.u, self.a
        lost_a, lost_u = (
            (g[j] * u[i] * v[i] + g[i] * u[j] * v[j] - gij * (u[i] * v[j] + u[j] * v[i])) / det
            for v in (a, u)
        )
        return np.asarray((self.ua - lost_a) / (self.uu - lost_u))


def _projected(K: Matrix, y: Vector, alpha: float, rank: bool) -> tuple[Matrix, _Level | None]:
    """The inverse, for a ranker with the unpenalised bias projected out."""
    if not rank:
        return inverse(K, alpha), None
    G = inverse(K, alpha / max(len(K) - 2, 1))
    level = _Level(G, y)
    return G - np.outer(level.u, level.u) / level.uu, level


def _two_out(g: Vector, gij: Vector, a: Vector, y: Vector, i: Indices, j: Indices) -> Matrix:
    det = g[i] * g[j] - gij**2
    fi = y[i] - (g[j] * a[i] - gij * a[j]) / det
    fj = y[j] - (g[i] * a[j] - gij * a[i]) / det
    return np.stack([fi, fj])


def _share(G: Matrix, a: Vector, y: Vector, pos: Indices, neg: Indices, block: int = 128) -> float:
    """The share of pairs in the right order, ties one half; by strips that stay in cache."""
    g = G.diagonal()
    won = 0.0
    for start in range(0, len(pos), block):
        i = pos[start : start + block]
        gij = G[np.ix_(i, neg)]
        det = g[i][:, None] * g[neg] - gij**2
        # f_i - f_j times det, whose sign is that of the difference: det is positive
        gap = (y[i][:, None] - y[neg]) * det
        gap -= (g[neg] + gij) * a[i][:, None]
        gap += (g[i][:, None] + gij) * a[neg]
        won += float((gap > 0).sum() + 0.5 * (gap == 0).sum())
    return won / (len(pos) * len(neg))


def _checked_pairs(pairs: Indices, n: int) -> Indices:
    pairs = np.asarray(pairs)
    if pairs.ndim != 2 or pairs.shape[1] != 2 or not np.issubdtype(pairs.dtype, np.integer):
        raise ValueError(f"pairs are an integer array (l, 2), got {pairs.shape} of {pairs.dtype}")
    if pairs.size and (pairs.min() < 0 or pairs.max() >= n):
        raise ValueError(f"pairs must lie in 0 .. {n - 1}, got {pairs.min()} .. {pairs.max()}")
    if (pairs[:, 0] == pairs[:, 1]).any():
        raise ValueError(f"pair {int(np.argmax(pairs[:, 0] == pairs[:, 1]))} holds one row twice")
    return pairs
