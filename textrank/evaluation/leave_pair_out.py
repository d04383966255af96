"""Leave-pair-out: every positive against every negative, both held out from training.

``group_pair_auc`` holds out the whole groups (documents) of both and is the protocol
``leave-pair-out`` of ``textrank run``. ``leave_pairs_out`` and ``leave_pair_out_auc`` hold out the
two candidates only, for data without documents.

In shapes, n is the number of candidates, a of alphas, l of pairs, p of outputs (columns of labels),
b of stacked blocks, and h, s and t are numbers of candidates in a block. ``G`` is the inverse of
``K + alpha I`` and ``a = G y``, the coefficients of the model of all candidates.

Airola et al. (2011), Computational Statistics and Data Analysis 55(4):1828-1844.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations_with_replacement

import numpy as np

from textrank.features import Indices, Matrix, Vector
from textrank.learners.base import check_alphas, check_gram, check_targets, rows_by_group
from textrank.learners.holdout import solve_blocks, stack_groups_by_size
from textrank.linalg import inverse
from textrank.metrics import TIE_TOLERANCE

MAX_BLOCK_ELEMENTS = 1 << 22  # elements of stacked blocks that are in memory at once


def group_pair_auc(K: Matrix, y: Vector, groups: Indices, alpha: float) -> float | None:
    """Return the share of (positive, negative) pairs in the right order, ties counted one half.

    Both candidates are scored by the RLS model of all groups but theirs, ``f_U = y_U - G_UU^-1
    a_U`` with ``G = (K + alpha I)^-1``, ``a = G y`` and ``U`` the candidates of the two groups.
    Nearly unbiased on small corpora, where the AUC of folds is coarse and the pooled one
    pessimistic. None if all labels are of one class.

    Parameters
    ----------
    K
        Gram matrix, (n, n).
    y
        Labels, (n,); positive where greater than 0.
    groups
        Number of the group of each candidate, (n,).
    alpha
        Regularisation, greater than 0.
    """
    G = inverse(np.asarray(K, dtype=np.float64), alpha)
    a = (G @ y)[:, None]
    rows = rows_by_group(groups, len(y), name="groups")
    won = pairs = 0.0
    for index in stack_groups_by_size(rows):  # pairs inside one group
        f = _score_without(G, a, y, index)
        counts = _count_won(f, f, y[index], y[index])
        won, pairs = won + counts[0], pairs + counts[1]
    for first, second in _pairs_of_groups(list(stack_groups_by_size(rows))):
        U = np.hstack([first, second])
        f = _score_without(G, a, y, U)
        size = first.shape[1]
        for one, other in ((slice(size), slice(size, None)), (slice(size, None), slice(size))):
            counts = _count_won(f[:, one], f[:, other], y[U][:, one], y[U][:, other])
            won, pairs = won + counts[0], pairs + counts[1]
    return won / pairs if pairs else None


def _pairs_of_groups(stacks: Sequence[Indices]) -> Iterator[tuple[Indices, Indices]]:
    """Yield all pairs of different groups, as stacks of rows of shapes (b, s) and (b, t).

    ``stacks`` are the rows of groups of equal size, one stack per size. Row ``i`` of both results
    is one pair. Stacks are cut so that their (s + t)² blocks stay below ``MAX_BLOCK_ELEMENTS``.
    """
    for i, j in combinations_with_replacement(range(len(stacks)), 2):
        one, other = stacks[i], stacks[j]
        if i == j:
            rows, columns = np.triu_indices(len(one), 1)
        else:
            rows, columns = (part.ravel() for part in np.indices((len(one), len(other))))
        step = max(1, MAX_BLOCK_ELEMENTS // (one.shape[1] + other.shape[1]) ** 2)
        for start in range(0, len(rows), step):
            chunk = slice(start, start + step)
            yield one[rows[chunk]], other[columns[chunk]]


def _score_without(G: Matrix, a: Matrix, y: Vector, U: Indices) -> Matrix:
    """Return the scores (b, h) of b sets of h candidates by RLS models trained without the set.

    ``U`` (b, h) has the candidates of each set; ``G`` (n, n) and ``a`` (n, 1) are those of the
    model of all candidates, ``y`` (n,) its labels.
    """
    return solve_blocks(G[U[:, :, None], U[:, None, :]], a[U], y[U][:, :, None])[:, :, 0]


def _count_won(f: Matrix, g: Matrix, y: Matrix, z: Matrix) -> tuple[float, float]:
    """Count pairs of a positive among ``f`` and a negative among ``g``: in right order, and all.

    ``f`` (b, s) and ``g`` (b, t) are scores, ``y`` and ``z`` their labels, in b sets; pairs are
    made inside a set. Ties, scores within round-off, count one half in the first result.
    """
    counted = (y > 0)[:, :, None] & (z <= 0)[:, None, :]
    gap = f[:, :, None] - g[:, None, :]
    gap[np.abs(gap) <= TIE_TOLERANCE * max(np.abs(f).max(), np.abs(g).max())] = 0
    return float(((gap > 0) + 0.5 * (gap == 0))[counted].sum()), float(counted.sum())


def leave_pairs_out(
    K: Matrix, y: Vector | Matrix, pairs: Indices, *, alphas: Sequence[float], rank: bool = False
) -> Matrix:  # (a, l, 2), or (a, l, 2, p) for answers (n, p)
    """Return the scores of both members of each pair (l, 2) by the model of all other candidates.

    Takes O(1) per pair after one inverse per alpha. The whole inverse is needed at every alpha, so
    an eigendecomposition would not help.

    Parameters
    ----------
    K
        Gram matrix, (n, n).
    y
        Labels, (n,), or (n, p) for p outputs.
    pairs
        Two different rows of K in each row, (l, 2).
    alphas
        Choices of alpha; the result has one entry for each, in order.
    rank
        Use global RankRLS with all pairs instead of RLS.

    Raises
    ------
    ValueError
        If K, labels, pairs or alphas are not valid.
    """
    K = check_gram(K)
    Y = check_targets(y, len(K))
    pairs = _check_pairs(pairs, len(K))
    i, j = pairs.T
    scores = np.empty((len(alphas), len(pairs), 2, Y.shape[1]))
    for a, alpha in enumerate(check_alphas(alphas)):
        G, bias = _inverse_and_bias(K, alpha, rank)
        blocks = _PairBlocks(G.diagonal()[i], G.diagonal()[j], G[i, j])
        A = G @ Y
        for k, (coef, labels) in enumerate(zip(A.T, Y.T, strict=True)):
            f = blocks.score_without(coef, labels, i, j)
            if bias is not None:
                f -= bias @ labels - bias[i] * (labels[i] - f[0]) - bias[j] * (labels[j] - f[1])
            scores[a, :, :, k] = f.T
    return scores if np.ndim(y) == 2 else scores[..., 0]


def leave_pair_out_auc(
    K: Matrix, y: Vector | Matrix, *, alphas: Sequence[float], rank: bool = False
) -> Matrix:  # (a,), or (a, p) for answers (n, p)
    """Return the AUC at every alpha over all (positive, negative) pairs, scored without the two.

    Nearly unbiased where the AUC of pooled scores is not (Airola et al. 2011). Arguments are those
    of ``leave_pairs_out``; a label is positive where greater than 0, and ties count one half.
    Raises ValueError if an output has labels of one class only.
    """
    K = check_gram(K)
    Y = check_targets(y, len(K))
    for k, labels in enumerate(Y.T):
        positives = int((labels > 0).sum())
        negatives = len(labels) - positives
        if not (positives and negatives):
            raise ValueError(
                f"AUC needs positive and negative labels, got {positives} and {negatives}"
                + (f" in output {k}" if Y.shape[1] > 1 else "")
            )
    values = np.empty((len(alphas), Y.shape[1]))
    for a, alpha in enumerate(check_alphas(alphas)):
        G, _ = _inverse_and_bias(K, alpha, rank)  # a level common to both does not matter
        A = G @ Y
        values[a] = [_share_won(G, *columns) for columns in zip(A.T, Y.T, strict=True)]
    return values if np.ndim(y) == 2 else values[:, 0]


def _inverse_and_bias(K: Matrix, alpha: float, rank: bool) -> tuple[Matrix, Vector | None]:
    """Return the inverse ``G`` (n, n), and for a ranker the weights ``v`` (n,) of its bias.

    For a ranker the unpenalised bias is projected out of ``G``, and alpha is divided by n - 2. The
    bias of the model of all candidates is ``v'y``; that of the model without a pair is ``v'y`` with
    the two labels replaced by their scores with bias. ``v`` follows from ``K G = I - 1 v' - alpha
    G``; as a quotient of sums over the inverse it would lose half its digits. ``v`` is None for RLS
    (``rank`` false).
    """
    if not rank:
        return inverse(K, alpha), None
    G = inverse(K, alpha / max(len(K) - 2, 1))
    u = G.sum(axis=1)
    G -= np.outer(u, u) / u.sum()
    return G, (1.0 - K.sum(axis=0) @ G) / len(K)


@dataclass(frozen=True, eq=False)
class _PairBlocks:
    """The 2×2 block of the inverse of each of l pairs, which all outputs share.

    ``gi`` and ``gj`` are the diagonal elements of the first and the second candidates, ``gij``
    those off the diagonal, each (l,).
    """

    gi: Vector
    gj: Vector
    gij: Vector

    @cached_property
    def inverse_blocks(self) -> tuple[Vector, Vector, Vector]:
        """The elements ``gi``, ``gj`` and ``gij`` divided by the determinant of their block."""
        det = self.gi * self.gj - self.gij**2
        return self.gi / det, self.gj / det, self.gij / det

    def score_without(self, a: Vector, y: Vector, i: Indices, j: Indices) -> Matrix:  # (2, l)
        """Return the scores of both members by the model of all other candidates.

        ``a`` (n,) and ``y`` (n,) are coefficients and labels of one output, ``i`` and ``j`` (l,)
        the first and second candidates.
        """
        gi, gj, gij = self.inverse_blocks
        return np.stack([y[i] - gj * a[i] + gij * a[j], y[j] - gi * a[j] + gij * a[i]])


def _share_won(G: Matrix, a: Vector, y: Vector, block: int = 64) -> float:
    """Return the share of pairs in the right order, ties one half, by strips that fit the cache.

    ``G`` (n, n) is the inverse, ``a`` (n,) the coefficients and ``y`` (n,) the labels, which must
    have both classes; ``block`` positives are handled at once. ``f_i - f_j`` times the determinant,
    which is positive and leaves the sign, is ``(y_i - y_j) (g_i g_j - g_ij²) - a_i (g_j + g_ij) +
    a_j (g_i + g_ij)``.
    """
    pos, neg = np.flatnonzero(y > 0), np.flatnonzero(y <= 0)
    g = G.diagonal()
    two = len(np.unique(y)) == 2
    won = 0.0
    for start in range(0, len(pos), block):
        i = pos[start : start + block]
        gij = G[i].take(neg, axis=1)
        step = y[i[0]] - y[neg[0]] if two else y[i][:, None] - y[neg]
        gap = gij * -step
        gap += a[neg]
        gap -= a[i][:, None]
        gap *= gij
        if two:
            gap += np.stack([g[i], -a[i]], axis=1) @ np.stack([step * g[neg] + a[neg], g[neg]])
        else:
            gap += g[i][:, None] * (step * g[neg] + a[neg]) - a[i][:, None] * g[neg]
        won += (np.count_nonzero(gap > 0) + np.count_nonzero(gap >= 0)) / 2
    return won / (len(pos) * len(neg))


def _check_pairs(pairs: Indices, n: int) -> Indices:
    """Return pairs as an (l, 2) array; ValueError unless they are two different rows below n."""
    pairs = np.asarray(pairs)
    if pairs.ndim != 2 or pairs.shape[1] != 2 or not np.issubdtype(pairs.dtype, np.integer):
        raise ValueError(f"pairs are an integer array (l, 2), got {pairs.shape} of {pairs.dtype}")
    if pairs.size and (pairs.min() < 0 or pairs.max() >= n):
        raise ValueError(f"pairs must lie in 0 .. {n - 1}, got {pairs.min()} .. {pairs.max()}")
    if (pairs[:, 0] == pairs[:, 1]).any():
        raise ValueError(f"pair {int(np.argmax(pairs[:, 0] == pairs[:, 1]))} holds one row twice")
    return pairs
