"""Leave-pair-out AUC: every positive against every negative, both unseen in training."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations_with_replacement

import numpy as np

from textrank.config import to_config
from textrank.evaluation.cross_validation import count_dataset
from textrank.evaluation.report import Fold, Report
from textrank.features import Features, Indices, Matrix, Vector, require_single_kernel
from textrank.learners.base import check_alphas, check_gram, check_targets, rows_by_group
from textrank.learners.holdout import solve_blocks, stack_groups_by_size
from textrank.learners.rls import RLS
from textrank.linalg import inverse, spectrum_gram
from textrank.metrics import TIE_TOLERANCE
from textrank.pipeline import Dataset, Pipeline

NAME = "leave-pair-out"
PORTION = 1 << 22  # numbers of stacked blocks held at once


def document_pair_auc(K: Matrix, y: Vector, documents: Indices, alpha: float) -> float | None:
    """Share of (positive, negative) pairs in the right order, ties ½; None with one class only.

    Both are scored by the model of all documents but theirs, ``f_U = y_U - G_UU^-1 a_U`` with ``U``
    the candidates of the two documents. Nearly unbiased on small corpora, where the AUC of folds
    is coarse and the pooled one pessimistic.

    Airola et al. (2011), Computational Statistics and Data Analysis 55(4):1828-1844.
    """
    G = inverse(np.asarray(K, dtype=np.float64), alpha)
    a = (G @ y)[:, None]
    groups = rows_by_group(documents, len(y), name="documents")
    won = pairs = 0.0
    for index in stack_groups_by_size(groups):  # pairs inside one document
        f = _without(G, a, y, index)
        part = _compared(f, f, y[index], y[index])
        won, pairs = won + part[0], pairs + part[1]
    for first, second in _document_pairs(list(stack_groups_by_size(groups))):
        U = np.hstack([first, second])
        f = _without(G, a, y, U)
        s = first.shape[1]
        for one, other in ((slice(s), slice(s, None)), (slice(s, None), slice(s))):
            part = _compared(f[:, one], f[:, other], y[U][:, one], y[U][:, other])
            won, pairs = won + part[0], pairs + part[1]
    return won / pairs if pairs else None


def assess_pairs(
    pipeline: Pipeline, dataset: Dataset, *, corpus: str = "", title: str = ""
) -> Report:
    """A report with the leave-pair-out AUC at the alpha that leave-document-out prefers."""
    learner = pipeline.learner
    if not isinstance(learner, RLS) or learner.positive_weight != 1.0:
        raise ValueError(f"{NAME} needs RLS without class weights, not {learner}")
    data = require_single_kernel(dataset.data, NAME)
    K = spectrum_gram(data.values) if isinstance(data, Features) else np.asarray(data)
    alpha = learner.fit(K, dataset.targets).alpha
    y = dataset.targets.y
    value = document_pair_auc(K, y, dataset.targets.groups, alpha)
    sizes = {"candidates": len(y), "positives": int((y > 0).sum()), "documents": dataset.documents}
    return Report(
        task=pipeline.task.name,
        pipeline=title,
        corpus=corpus,
        procedure=f"{NAME}, the documents of both held out; alpha by leave-document-out",
        settings=to_config(pipeline),
        seed=None,
        counts=count_dataset(dataset),
        folds=[Fold({"auc": value}, chosen={"alpha": alpha}, **sizes)],
        notes=[*dataset.notes, "alpha was chosen on all documents of this corpus."],
    )


def _document_pairs(sized: Sequence[Indices]) -> Iterator[tuple[Indices, Indices]]:
    """All pairs of different documents, in stacks of equal sizes: (b, s), (b, t)."""
    for i, j in combinations_with_replacement(range(len(sized)), 2):
        one, other = sized[i], sized[j]
        if i == j:
            rows, columns = np.triu_indices(len(one), 1)
        else:
            rows, columns = (part.ravel() for part in np.indices((len(one), len(other))))
        step = max(1, PORTION // (one.shape[1] + other.shape[1]) ** 2)
        for start in range(0, len(rows), step):
            chosen = slice(start, start + step)
            yield one[rows[chosen]], other[columns[chosen]]


def _without(G: Matrix, a: Matrix, y: Vector, U: Indices) -> Matrix:  # (b, h) -> (b, h)
    """Scores of stacks of candidates by models that saw none of a stack."""
    return solve_blocks(G[U[:, :, None], U[:, None, :]], a[U], y[U][:, :, None])[:, :, 0]


def _compared(f: Matrix, g: Matrix, y: Matrix, z: Matrix) -> tuple[float, float]:
    """Pairs of a positive on the left and a negative on the right: those won, and all."""
    counted = (y > 0)[:, :, None] & (z <= 0)[:, None, :]
    gap = f[:, :, None] - g[:, None, :]
    gap[np.abs(gap) <= TIE_TOLERANCE * max(np.abs(f).max(), np.abs(g).max())] = 0
    return float(((gap > 0) + 0.5 * (gap == 0))[counted].sum()), float(counted.sum())


def leave_pairs_out(
    K: Matrix, y: Vector | Matrix, pairs: Indices, *, alphas: Sequence[float], rank: bool = False
) -> Matrix:  # (a, l, 2), or (a, l, 2, p) for answers (n, p)
    """Scores of both members of each pair (l, 2) by the model of all other candidates.

    O(1) a pair after one inverse per alpha, whatever the number of outputs: the whole inverse is
    needed at every alpha, so an eigendecomposition would buy nothing. ``rank`` is global RankRLS
    with all pairs, else RLS.
    """
    K = check_gram(K)
    Y = check_targets(y, len(K))
    pairs = _checked_pairs(pairs, len(K))
    i, j = pairs.T
    scores = np.empty((len(alphas), len(pairs), 2, Y.shape[1]))
    for a, alpha in enumerate(check_alphas(alphas)):
        G, mean = _projected(K, alpha, rank)
        known = _Known(G.diagonal()[i], G.diagonal()[j], G[i, j])
        A = G @ Y
        for k, (coef, own) in enumerate(zip(A.T, Y.T, strict=True)):
            f = known.without(coef, own, i, j)
            if mean is not None:
                f -= mean @ own - mean[i] * (own[i] - f[0]) - mean[j] * (own[j] - f[1])
            scores[a, :, :, k] = f.T
    return scores if np.ndim(y) == 2 else scores[..., 0]


def leave_pair_out_auc(
    K: Matrix, y: Vector | Matrix, *, alphas: Sequence[float], rank: bool = False
) -> Matrix:  # (a,), or (a, p) for answers (n, p)
    """AUC at every alpha over all (positive, negative) pairs, each scored without the two.

    Nearly unbiased where pooled scores are not (Airola et al. 2011). All outputs share the inverse.
    """
    K = check_gram(K)
    Y = check_targets(y, len(K))
    for k, own in enumerate(Y.T):
        if not 0 < (own > 0).sum() < len(own):
            found = int((own > 0).sum())
            raise ValueError(
                f"AUC needs positive and negative labels, got {found} and {len(own) - found}"
                + (f" in output {k}" if Y.shape[1] > 1 else "")
            )
    values = np.empty((len(alphas), Y.shape[1]))
    for a, alpha in enumerate(check_alphas(alphas)):
        G, _ = _projected(K, alpha, rank)  # a level common to both does not matter
        A = G @ Y
        values[a] = [_share(G, *columns) for columns in zip(A.T, Y.T, strict=True)]
    return values if np.ndim(y) == 2 else values[:, 0]


def _projected(K: Matrix, alpha: float, rank: bool) -> tuple[Matrix, Vector | None]:
    """The inverse, for a ranker with the unpenalised bias projected out and the weights of it.

    The bias of the model of all is ``v'y``, that of the model without a pair ``v'y`` with the two
    answers replaced by their scores with bias. ``K G = I - 1 v' - alpha G``, whose rows sum
    to what ``v`` is; as a quotient of sums over the inverse it would lose half its digits.
    """
    if not rank:
        return inverse(K, alpha), None
    G = inverse(K, alpha / max(len(K) - 2, 1))
    u = G.sum(axis=1)
    G -= np.outer(u, u) / u.sum()
    return G, (1.0 - K.sum(axis=0) @ G) / len(K)


@dataclass(frozen=True, eq=False)
class _Known:
    """What all outputs share of each pair: the block of the inverse, over its determinant."""

    gi: Vector
    gj: Vector
    gij: Vector

    @cached_property
    def weights(self) -> tuple[Vector, Vector, Vector]:
        det = self.gi * self.gj - self.gij**2
        return self.gi / det, self.gj / det, self.gij / det

    def without(self, a: Vector, y: Vector, i: Indices, j: Indices) -> Matrix:  # (2, l)
        """The scores of both by the model of all others."""
        gi, gj, gij = self.weights
        return np.stack([y[i] - gj * a[i] + gij * a[j], y[j] - gi * a[j] + gij * a[i]])


def _share(G: Matrix, a: Vector, y: Vector, block: int = 64) -> float:
    """The share of pairs in the right order, ties one half; by strips that stay in cache.

    ``f_i - f_j`` times the determinant, which is positive and leaves the sign, is
    ``(y_i - y_j) (g_i g_j - g_ij²) - a_i (g_j + g_ij) + a_j (g_i + g_ij)``.
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


def _checked_pairs(pairs: Indices, n: int) -> Indices:
    pairs = np.asarray(pairs)
    if pairs.ndim != 2 or pairs.shape[1] != 2 or not np.issubdtype(pairs.dtype, np.integer):
        raise ValueError(f"pairs are an integer array (l, 2), got {pairs.shape} of {pairs.dtype}")
    if pairs.size and (pairs.min() < 0 or pairs.max() >= n):
        raise ValueError(f"pairs must lie in 0 .. {n - 1}, got {pairs.min()} .. {pairs.max()}")
    if (pairs[:, 0] == pairs[:, 1]).any():
        raise ValueError(f"pair {int(np.argmax(pairs[:, 0] == pairs[:, 1]))} holds one row twice")
    return pairs
