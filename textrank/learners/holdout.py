"""Scores of candidates by models that never saw them, without retraining.

With ``G = (K + alpha I)^-1`` and ``a = G y``, the model of all candidates but ``U`` scores them
``f_U = y_U - G_UU^-1 a_U``, whatever their number. This form loses less to round-off than the
one with the smoother ``K G``. A model with an intercept that is not penalised has
``G - g g' / 1'g`` in the place of ``G``, with ``g = G 1``.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import numpy as np
import scipy.linalg as sla

from textrank.candidates import Targets
from textrank.features import Features, Indices, Matrix, SparseMatrix, Vector
from textrank.learners.base import (
    Fit,
    NestedScores,
    RegularizationPath,
    SelectionMetric,
    check_folds,
    choose_alpha,
    rows_by_group,
)
from textrank.linalg import Spectrum, inverse
from textrank.progress import track

# Share of a direction that the other rows leave free; below it there is only round-off.
MIN_FREE_SHARE = 1e-12


def stack_groups_by_size(groups: Sequence[Indices]) -> Iterator[Indices]:
    """The groups by size, those of one size as the rows of an array (b, h)."""
    for which in group_numbers_by_size(groups):
        yield np.stack([groups[k] for k in which.tolist()])


def group_numbers_by_size(groups: Sequence[Indices]) -> Iterator[Indices]:
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


def heldout_all_alphas(
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
    for index in stack_groups_by_size(groups):
        for part in _portions(index, len(alphas)):
            if part.shape[1] == 1:
                G = _diagonals(spectrum, alphas, part[:, 0])
            else:
                G = spectrum.blocks(part, alphas)
            if removed is not None:
                r = removed[:, part].transpose(1, 0, 2)  # (b, a, h)
                G = G - r[..., :, None] * r[..., None, :]
            yield part, solve_blocks(G, A[:, part].transpose(1, 0, 2, 3), Y[part][:, None])


def heldout_ill_conditioned(
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
    for index in stack_groups_by_size(groups):
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


def heldout_one_alpha(
    G: Matrix, Y: Matrix, A: Matrix, groups: Sequence[Indices]
) -> Iterator[tuple[Indices, Matrix]]:
    """The same at the alpha of a given inverse: scores (b, 1, h, p)."""
    for index in stack_groups_by_size(groups):
        for part in _portions(index, 1):
            block = G[part[:, :, None], part[:, None, :]]
            yield part, solve_blocks(block, A[part], Y[part])[:, None]


def scatter_scores(parts: Iterator[tuple[Indices, Matrix]], into: Matrix) -> Matrix:
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
    for index in stack_groups_by_size(groups):
        grid = alphas(n - index.shape[1])
        A = spectrum.coefs(both, grid)  # G [y 1], (a, n, p + 1)
        total = A.sum(axis=1)  # 1' G [y 1]
        for part in _bias_portions(index, len(grid)):
            a = A[:, part].transpose(1, 0, 2, 3)  # (b, a, h, p + 1)
            x = solve_regular(spectrum.blocks(part, grid), a)
            left = total - np.einsum("bah,bahp->bap", a[..., -1], x)
            bias = (left[..., :-1] / left[..., -1:])[:, :, None, :]
            scores = both[part][:, None] - x
            f = scores[..., :-1] - bias * scores[..., -1:] + (bias if add_bias else 0.0)
            heldout[:, part] = f.transpose(1, 0, 2, 3)
    return heldout


def _bias_portions(index: Indices, alphas: int) -> list[Indices]:
    step = max(1, (1 << 22) // (alphas * index.shape[1] ** 2))
    return [index[start : start + step] for start in range(0, len(index), step)]


@runtime_checkable
class PathLearner(Protocol):
    """A learner that gives the coefficients and held-out scores at each of its alphas."""

    @property
    def alphas(self) -> Sequence[float]:
        """The regularisation values."""

    def path(self, data: Matrix | Features, targets: Targets) -> RegularizationPath:
        """Coefficients and held-out scores at every alpha."""


class MetaLearner(ABC):
    """A learner made of another one: its alphas, one of them chosen by held-out scores."""

    learner: PathLearner
    select: SelectionMetric

    @property
    def alphas(self) -> Sequence[float]:
        """Those of the learner inside."""
        return self.learner.alphas

    @abstractmethod
    def path(self, data: Matrix | Features, targets: Targets) -> RegularizationPath:
        """Coefficients and held-out scores at every alpha."""

    def fit(self, data: Matrix | Features, targets: Targets) -> Fit:
        """Learns, and chooses one alpha by the held-out scores."""
        path = self.path(data, targets)
        return path.select(choose_alpha(path.heldout, targets, self.select, path.alphas))

    def nested(
        self, data: Matrix | Features, targets: Targets, partitions: Sequence[Indices]
    ) -> list[NestedScores]:
        """Test and inner held-out scores for each division into folds, at every alpha."""
        return nested_by_retraining(self, data, targets, partitions)


def nested_by_retraining(
    learner: PathLearner,
    data: Matrix | Features,
    targets: Targets,
    partitions: Sequence[Indices],
) -> list[NestedScores]:
    """Nested scores of any learner: one training for each fold of each partition."""
    divisions = [check_folds(folds, targets.groups) for folds in partitions]
    results = [empty_nested_scores(tuple(learner.alphas), folds) for folds in divisions]
    jobs = [(result, f) for result in results for f in np.unique(result.folds)]
    for result, fold in track(jobs, "folds", len(jobs)):
        rest, out = np.flatnonzero(result.folds != fold), np.flatnonzero(result.folds == fold)
        path = learner.path(_part(data, rest, rest), targets.take(rest))
        result.outer[:, out] = path.predict(_part(data, out, rest), targets.take(out).context)
        result.inner[:, fold, rest] = path.heldout
    return results


def heldout_by_folds(
    coefs: Callable[[Matrix | SparseMatrix, Vector, Indices], Matrix],
    X: Matrix | SparseMatrix,
    y: Vector,
    targets: Targets,
    count: int,
) -> Matrix:  # (a, n)
    """Held-out scores of a learner without a closed form: documents dealt into ``count`` folds.

    ``coefs(X, y, queries)`` gives the weights of the features at every alpha.
    """
    document = np.unique(targets.groups, return_inverse=True)[1]
    if not document.any():
        raise ValueError("all candidates are of one document: nothing can be held out")
    folds = document % min(count, int(document.max()) + 1)
    parts = []
    for fold in range(int(folds.max()) + 1):
        rest, out = np.flatnonzero(folds != fold), np.flatnonzero(folds == fold)
        W = coefs(X[rest], y[rest], targets.queries[rest])
        parts.append((out, np.asarray((X[out] @ W.T).T)))
    heldout = np.empty((len(parts[0][1]), len(y)))
    for out, scores in parts:
        heldout[:, out] = scores
    return heldout


def nested_by_inverse(
    K: Matrix,
    y: Vector,
    documents: Indices,
    partitions: Sequence[Indices],
    alphas: tuple[float, ...],
    *,
    weights: Vector | None = None,
    readout: Matrix | None = None,
) -> list[NestedScores]:
    """Exact nested scores of RLS from one inverse ``G = (K + alpha I)^-1`` per alpha.

    Without fold ``o`` the coefficients are ``a' = a - G_:o G_oo^-1 a_o`` and a document's block
    is ``G'_dd = G_dd - G_do G_oo^-1 G_od``; then ``f_d = y_d - G'_dd^-1 a'_d`` as always. Where
    scores are not ``K a`` but ``readout @ a``, they are ``(B a')_d - (B G')_dd G'_dd^-1 a'_d``.
    """
    found = nested_by_inverse_multi(
        K, y[:, None], documents, partitions, alphas, weights=weights, readout=readout
    )
    return found[0]


def nested_by_inverse_multi(
    K: Matrix,
    Y: Matrix,
    documents: Indices,
    partitions: Sequence[Indices],
    alphas: tuple[float, ...],
    *,
    weights: Vector | None = None,
    readout: Matrix | None = None,
) -> list[list[NestedScores]]:
    """``nested_by_inverse`` of several answers about the same candidates, an inverse for all."""
    divisions = [check_folds(folds, documents) for folds in partitions]
    results = [[empty_nested_scores(alphas, folds) for folds in divisions] for _ in Y.T]
    groups = rows_by_group(documents, len(Y), name="documents")
    for a, alpha in enumerate(track(alphas, "alphas", len(alphas))):
        G = inverse(K, alpha, weights)
        BG = None if readout is None else readout @ G
        for y, own in zip(Y.T, results, strict=True):
            whole = _Whole(G, G @ y, y, BG)
            for result in own:
                for fold in np.unique(result.folds):
                    _fill_fold(whole, groups, result, a, int(fold))
    return results


@dataclass(frozen=True, eq=False)
class _Whole:
    """The model of all candidates at one alpha."""

    G: Matrix  # (n, n)
    a: Vector  # (n,)
    y: Vector  # (n,)
    BG: Matrix | None  # (n, n) readout times G


def _fill_fold(
    whole: _Whole, groups: Sequence[Indices], into: NestedScores, a: int, fold: int
) -> None:
    out = np.flatnonzero(into.folds == fold)
    L = sla.cholesky(whole.G[np.ix_(out, out)], lower=True, check_finite=False)
    z = sla.solve_triangular(L, whole.a[out], lower=True, check_finite=False)
    # Columns of W are L^-1 G_od, so that W_d' W_d is what the fold's absence takes from G_dd.
    W = sla.solve_triangular(L, whole.G[out], lower=True, overwrite_b=True, check_finite=False).T
    rest = _Whole(whole.G, whole.a - W @ z, whole.y, whole.BG)
    inside = [group for group in groups if into.folds[group[0]] != fold]

    if whole.BG is None:
        x = sla.solve_triangular(L, z, lower=True, trans=1, check_finite=False)
        into.outer[a, out] = whole.y[out] - x
        for index in stack_groups_by_size(inside):
            into.inner[a, fold, index] = _inner_scores(rest, W, index)
        return

    right = whole.BG[:, out].T
    X = sla.solve_triangular(L, right, lower=True, overwrite_b=True, check_finite=False).T
    scores = whole.BG @ whole.y - X @ z  # B a', of the fold itself and of all others
    into.outer[a, out] = scores[out]
    for index in stack_groups_by_size(inside):
        into.inner[a, fold, index] = scores[index] - _read_correction(rest, W, X, index)


def _blocks(whole: _Whole, W: Matrix, index: Indices) -> Matrix:
    part = W[index]
    G = whole.G[index[:, :, None], index[:, None, :]]
    return np.asarray(G - part @ part.transpose(0, 2, 1))


def _inner_scores(rest: _Whole, W: Matrix, index: Indices) -> Matrix:
    a, y = rest.a[index][:, :, None], rest.y[index][:, :, None]
    return solve_blocks(_blocks(rest, W, index), a, y)[:, :, 0]


def _read_correction(rest: _Whole, W: Matrix, X: Matrix, index: Indices) -> Matrix:
    x = np.linalg.solve(_blocks(rest, W, index), rest.a[index][:, :, None])
    BG = rest.BG[index[:, :, None], index[:, None, :]]  # type: ignore[index]
    return np.asarray(((BG - X[index] @ W[index].transpose(0, 2, 1)) @ x)[:, :, 0])


def empty_nested_scores(alphas: tuple[float, ...], folds: Indices) -> NestedScores:
    """Nested scores that are still to be filled in."""
    n, number = len(folds), int(folds.max()) + 1
    outer = np.full((len(alphas), n), np.nan)
    return NestedScores(alphas, folds, outer, np.full((len(alphas), number, n), np.nan))


def _part(data: Matrix | Features, rows: Indices, columns: Indices) -> Matrix | Features:
    return data.rows(rows) if isinstance(data, Features) else data[np.ix_(rows, columns)]
