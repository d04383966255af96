"""Held-out scores: of candidates by models trained without them, mostly without retraining.

The second half of the module is about influence: how each score would change if a training document
were absent.

``heldout_all_alphas``, ``heldout_one_alpha`` and ``heldout_with_bias`` are closed forms for groups
of rows; ``heldout_by_folds`` retrains. ``nested_by_inverse`` and ``nested_by_retraining`` give the
scores of nested cross-validation. ``MetaLearner`` is the base of learners built from another one.

With ``G = (K + alpha I)^-1`` and ``a = G y``, the model of all candidates but ``U`` scores them
``f_U = y_U - G_UU^-1 a_U``, whatever their number. This form loses less to round-off than the one
with the smoother ``K G``. A model with an intercept that is not penalised has ``G - g g' / 1'g``
instead of ``G``, with ``g = G 1``.

``GroupChanges`` holds, for each training document, the exact change of all coefficients of a model
if the document had not been there (alpha unchanged). The change of a score is then one product.
``rls_changes`` computes it for RLS from one decomposition, ``RankRLS.group_changes`` for rankings
and ``reduced.reduced_changes`` for RLS on a reduced basis, all without retraining. With
``G = (K + alpha V^-1)^-1`` (``V`` the weights of the candidates), the model without the candidates
``U`` has the coefficients ``a - G_:U G_UU^-1 a_U``, which are zero on ``U``.

Letters in shapes: ``n`` candidates (rows), ``d`` features, ``r`` eigenvalues, ``a`` values of
alpha, ``p`` outputs (columns of the labels ``Y``), ``b`` groups of equal size that are computed
together, ``h`` rows of each of them. For influence, ``g`` are documents and ``m`` new candidates.
``groups`` are arrays of row numbers that are held out together.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol, runtime_checkable

import numpy as np
import scipy.linalg as sla
import scipy.sparse as sp

from textrank.candidates import Targets
from textrank.features import Features, Indices, KernelData, Matrix, SparseMatrix, Vector
from textrank.learners.base import (
    Fit,
    NestedScores,
    RegularizationPath,
    SelectionMetric,
    check_data,
    check_folds,
    check_targets,
    choose_alpha,
    rows_by_group,
)
from textrank.linalg import Spectrum, gram, inverse
from textrank.progress import track

# Share of a direction that the other rows leave free; below it there is only round-off.
MIN_FREE_SHARE = 1e-12
MAX_INFLUENCE_VALUES = 1 << 24  # numbers that changes may take at most: 128 MB


def stack_groups_by_size(groups: Sequence[Indices]) -> Iterator[Indices]:
    """Yield for each size ``h``, ascending, the groups of that size as the rows of an array (b, h).

    Groups of one size keep their order; empty groups are left out.
    """
    for numbers in group_numbers_by_size(groups):
        yield np.stack([groups[k] for k in numbers.tolist()])


def group_numbers_by_size(groups: Sequence[Indices]) -> Iterator[Indices]:
    """Yield for each size, ascending, the indices in ``groups`` of the groups of that size.

    They ascend within a size; empty groups are left out.
    """
    sizes = np.array([len(group) for group in groups])
    for size in np.unique(sizes[sizes > 0]):
        yield np.flatnonzero(sizes == size)


def solve_blocks(G: Matrix, a: Matrix, y: Matrix) -> Matrix:
    """Return ``y_U - G_UU^-1 a_U`` (.., h, p) for stacks of blocks.

    ``G`` (.., h, h) are blocks of the inverse, ``a`` (.., h, p) coefficients and ``y`` (.., h, p)
    labels of the rows of each group. Raises ValueError if a block is singular, except that a block
    of one row that is 0 gives infinite or NaN scores.
    """
    if G.shape[-1] == 1:
        return np.asarray(y - a / G)
    return np.asarray(y - solve_regular(G, a))


def solve_regular(G: Matrix, a: Matrix) -> Matrix:
    """Return ``G^-1 a`` (.., h, p) for stacks of matrices ``G`` (.., h, h) and ``a`` (.., h, p).

    Raises ValueError if a matrix is exactly singular; the message blames data that are too large
    for alpha.
    """
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
    """Yield groups of equal size (b, h) with their held-out scores at every alpha (b, a, h, p).

    Groups come by ascending size, in batches; the first item holds their row numbers. Groups may
    overlap; empty ones are left out. Raises ValueError if a block of the inverse is singular.

    Parameters
    ----------
    spectrum
        Decomposition of the Gram matrix ``K``.
    Y
        (n, p) labels.
    A
        (a, n, p) coefficients ``(K + alpha I)^-1 Y`` at every alpha.
    alphas
        (a,) regularisation values.
    groups
        Row numbers of each group.
    removed
        (a, n) vectors ``r`` by which the inverse is reduced to ``G - r r'``, as for an intercept.
        None leaves it as it is.
    """
    for index in stack_groups_by_size(groups):
        for part in _batches(index, len(alphas)):
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
    """Yield rows (b, h) of groups and held-out scores (b, a, h, p), where alpha is round-off.

    That is, for eigenvalues ``w`` so large that alpha is round-off of them; the order of groups is
    that of ``heldout_all_alphas``. ``spectrum`` has ``w`` and the eigenvectors ``Q``, ``Y`` (n, p)
    are labels, ``alphas`` (a,) regularisation values. ``G = (K + alpha I)^-1`` is the sum of
    ``(I - QQ') / alpha`` and ``Q (w + alpha)^-1 Q'``. If only one group has some feature, the first
    part is zero in some direction but for round-off, which would hide the second. So the parts are
    computed apart, and eigenvalues of ``I - QQ'`` on a group up to ``MIN_FREE_SHARE`` are set to
    zero. An infinite eigenvalue means a direction that is not penalised. Raises ValueError if a
    block is singular all the same.
    """
    Z = spectrum.Q.T @ Y
    rest = Y - spectrum.Q @ Z
    inverse = 1.0 / (spectrum.w[:, None] + alphas)  # (r, a)
    for index in stack_groups_by_size(groups):
        for part in _batches(index, len(alphas)):
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
    """Yield groups of equal size (b, h) with their scores (b, 1, h, p) at the alpha of ``G``.

    ``G`` (n, n) is the inverse ``(K + alpha I)^-1``, ``Y`` (n, p) the labels and ``A`` (n, p) is
    ``G Y``. Groups may overlap; they come by ascending size, without the empty ones. Raises
    ValueError if a block of ``G`` is singular.
    """
    for index in stack_groups_by_size(groups):
        for part in _batches(index, 1):
            block = G[part[:, :, None], part[:, None, :]]
            yield part, solve_blocks(block, A[part], Y[part])[:, None]


def scatter_scores(parts: Iterator[tuple[Indices, Matrix]], into: Matrix) -> Matrix:
    """Write the scores of ``parts`` to their rows of ``into`` (a, n, p), in place, and return it.

    ``parts`` yields row numbers (b, h) with scores (b, a, h, p), as ``heldout_all_alphas`` does.
    Rows of no group stay unchanged; for a row of several groups the last one counts.
    """
    for index, scores in parts:
        into[:, index] = scores.transpose(1, 0, 2, 3)
    return into


def _diagonals(spectrum: Spectrum, alphas: Vector, rows: Indices) -> Matrix:  # (b, a, 1, 1)
    """Return diagonal entries of ``(K + alpha I)^-1`` at ``rows`` (b,), as (b, a, 1, 1).

    ``spectrum`` is that of ``K``: the result is what ``Spectrum.blocks`` gives for groups of one
    row, faster.
    """
    inverse, offset = spectrum.filters(alphas)
    Q = spectrum.Q[rows]
    return ((Q * Q) @ inverse + offset)[:, :, None, None]


def _batches(index: Indices, alphas: int) -> list[Indices]:
    """Split groups of one size (b, h) into batches whose blocks take at most 64 MB, in order.

    ``alphas`` is the number of alphas. A batch has at least one group; groups of one row stay
    together.
    """
    if index.shape[1] == 1:
        return [index]
    step = max(1, (1 << 23) // (alphas * index.shape[1] ** 2))
    return [index[start : start + step] for start in range(0, len(index), step)]


def coefs_with_bias(spectrum: Spectrum, Y: Matrix, alphas: Vector) -> Matrix:  # (a, n, p)
    """Return ``G (y - b)`` (a, n, p) with the bias ``b = 1'Gy / 1'G1``.

    These coefficients sum to zero. ``G`` is ``(K + alpha I)^-1`` of the ``spectrum``, ``y`` a
    column of ``Y`` (n, p). The bias itself is not returned.
    """
    A = spectrum.coefs(np.hstack([Y, np.ones((len(Y), 1))]), alphas)
    total = A.sum(axis=1, keepdims=True)
    A = A[..., :-1] - total[..., :-1] / total[..., -1:] * A[..., -1:]
    return np.asarray(A - A.mean(axis=1, keepdims=True))  # round-off along 1 grows with 1 / alpha


def weights_with_bias(spectrum: Spectrum, Y: Matrix, alphas: Vector) -> Matrix:  # (a, d, p)
    """Return feature weights (a, d, p) at every alpha for the model of ``coefs_with_bias``.

    Raises ValueError if the ``spectrum`` is that of a Gram matrix.
    """
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
    """Return held-out scores (a, n, p) at every alpha of least squares with an unpenalised bias.

    ``alphas(m)`` are the alphas of a model of ``m`` candidates, equally many for every ``m``. The
    bias is added to the scores if ``add_bias``. Candidates of no group score NaN; for one of
    several groups the last counts, larger groups later. ``spectrum`` is that of the Gram matrix
    ``K`` of all candidates, ``Y`` (n, p) are labels. A group must not hold all candidates.

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
        for part in _bias_batches(index, len(grid)):
            a = A[:, part].transpose(1, 0, 2, 3)  # (b, a, h, p + 1)
            x = solve_regular(spectrum.blocks(part, grid), a)
            left = total - np.einsum("bah,bahp->bap", a[..., -1], x)
            bias = (left[..., :-1] / left[..., -1:])[:, :, None, :]
            scores = both[part][:, None] - x
            f = scores[..., :-1] - bias * scores[..., -1:] + (bias if add_bias else 0.0)
            heldout[:, part] = f.transpose(1, 0, 2, 3)
    return heldout


def _bias_batches(index: Indices, alphas: int) -> list[Indices]:
    """Split groups of one size (b, h) into batches whose blocks take at most 32 MB, in order.

    ``alphas`` is the number of alphas; a batch has at least one group.
    """
    step = max(1, (1 << 22) // (alphas * index.shape[1] ** 2))
    return [index[start : start + step] for start in range(0, len(index), step)]


@runtime_checkable
class PathLearner(Protocol):
    """Learner that returns coefficients and held-out scores at each of its alphas."""

    @property
    def alphas(self) -> Sequence[float]:
        """Regularisation values to choose from."""

    def path(self, data: Matrix | Features, targets: Targets) -> RegularizationPath:
        """Return coefficients and held-out scores at every alpha.

        ``data`` is a Gram matrix (n, n), which gives coefficients of candidates, or ``Features``,
        which give feature weights. A candidate is held out with its group, ``targets.groups``.
        """


class MetaLearner(ABC):
    """Base of learners built from another learner, whose alphas they use.

    Subclasses define ``path``; ``fit`` chooses the alpha with the best held-out scores.
    """

    learner: PathLearner
    select: SelectionMetric

    @property
    def alphas(self) -> Sequence[float]:
        """Regularisation values of the inner learner."""
        return self.learner.alphas

    @abstractmethod
    def path(self, data: Matrix | Features, targets: Targets) -> RegularizationPath:
        """Return coefficients and held-out scores at every alpha.

        ``data`` is a Gram matrix (n, n), which gives coefficients of candidates, or ``Features``,
        which give feature weights. A candidate is held out with its group, ``targets.groups``.
        """

    def fit(self, data: Matrix | Features, targets: Targets) -> Fit:
        """Train at every alpha and return the fit with the best held-out scores by ``select``.

        Of equally good alphas the largest is chosen. Raises ValueError if the labels leave the
        metric undefined.
        """
        path = self.path(data, targets)
        return path.select(choose_alpha(path.heldout, targets, self.select, path.alphas))

    def nested(
        self, data: Matrix | Features, targets: Targets, partitions: Sequence[Indices]
    ) -> list[NestedScores]:
        """Return test scores and inner held-out scores of every partition into folds, in order.

        A partition is the fold number of each candidate (n,). Raises ValueError if a group is in
        two folds.
        """
        return nested_by_retraining(self, data, targets, partitions)


def nested_by_retraining(
    learner: PathLearner,
    data: Matrix | Features,
    targets: Targets,
    partitions: Sequence[Indices],
) -> list[NestedScores]:
    """Return nested scores of any learner, by one training per fold of each partition.

    ``data`` is a Gram matrix (n, n) or features (n, d). A partition is the fold number of each
    candidate (n,). Returns one result per partition, in order. Raises ValueError if a group is in
    two folds or there is only one fold, and whatever ``learner.path`` raises on the training part.
    """
    checked = [check_folds(folds, targets.groups) for folds in partitions]
    results = [empty_nested_scores(tuple(learner.alphas), folds) for folds in checked]
    jobs = [(result, f) for result in results for f in np.unique(result.folds)]
    for result, fold in track(jobs, "folds", len(jobs)):
        rest, out = np.flatnonzero(result.folds != fold), np.flatnonzero(result.folds == fold)
        path = learner.path(_part(data, rest, rest), targets.take(rest))
        result.outer[:, out] = path.predict(_part(data, out, rest), targets.take(out).context)
        result.inner[:, fold, rest] = path.heldout
    return results


def assign_folds(targets: Targets, count: int) -> list[Indices]:
    """Return the rows of each fold for a learner without a closed form of held-out scores.

    The groups of ``targets``, sorted, are dealt out to ``count`` folds in turn; there are fewer
    folds if there are fewer groups. ``count`` must be at least 2, which is not checked. Raises
    ValueError if all candidates are in one group.
    """
    document = np.unique(targets.groups, return_inverse=True)[1]
    if not document.any():
        raise ValueError("all candidates are of one document: nothing can be held out")
    folds = document % min(count, int(document.max()) + 1)
    return [np.flatnonzero(folds == fold) for fold in range(int(folds.max()) + 1)]


def heldout_by_folds(
    coefs: Callable[[Matrix | SparseMatrix, Targets], Matrix],
    X: Matrix | SparseMatrix,
    targets: Targets,
    count: int,
) -> Matrix:  # (a, n)
    """Return held-out scores (a, n) of a learner without a closed form, by folds of groups.

    The sorted groups are dealt out to ``count`` folds in turn, at most one per group. ``coefs(X,
    targets)`` trains on rows of ``X`` (n, d) and returns the feature weights (a, d) at every alpha.
    Raises ValueError if all candidates are in one group.
    """
    parts = []
    for out in assign_folds(targets, count):
        rest = np.setdiff1d(np.arange(len(targets)), out)
        W = coefs(X[rest], targets.take(rest))
        parts.append((out, np.asarray((X[out] @ W.T).T)))
    heldout = np.empty((len(parts[0][1]), len(targets)))
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
    """Return exact nested scores of RLS from one inverse ``G = (K + alpha I)^-1`` per alpha.

    Without fold ``o`` the coefficients are ``a' = a - G_:o G_oo^-1 a_o`` and a document's block is
    ``G'_dd = G_dd - G_do G_oo^-1 G_od``; then ``f_d = y_d - G'_dd^-1 a'_d`` as always. If scores
    are not ``K a`` but ``readout @ a``, they are ``(B a')_d - (B G')_dd G'_dd^-1 a'_d``.

    Parameters
    ----------
    K
        (n, n) Gram matrix.
    y
        (n,) labels.
    documents
        (n,) group of each candidate; a group is held out together.
    partitions
        Each the fold number of each candidate (n,).
    alphas
        Regularisation values.
    weights
        (n,) positive sample weights; None weighs all the same.
    readout
        (n, n) matrix ``B`` that turns coefficients into scores; None stands for ``K``.

    Returns
    -------
    list of NestedScores
        One per partition, in order.

    Raises
    ------
    ValueError
        If a document is in two folds, a partition has only one fold, or K is not positive
        semidefinite.
    """
    outputs = nested_by_inverse_multi(
        K, y[:, None], documents, partitions, alphas, weights=weights, readout=readout
    )
    return outputs[0]


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
    """Return nested scores of each column of ``Y`` (n, p), from one inverse per alpha.

    ``K`` (n, n) is a Gram matrix, ``documents`` (n,) what is held out together, ``partitions`` fold
    numbers (n,), ``weights`` (n,) sample weights (None: all 1), and scores are ``readout`` times
    the coefficients (None: ``K`` times them). Returns one list per column, with one result per
    partition. Raises ValueError if a document is in two folds, a partition has only one fold, or
    ``K`` is not positive semidefinite.
    """
    checked = [check_folds(folds, documents) for folds in partitions]
    results = [[empty_nested_scores(alphas, folds) for folds in checked] for _ in Y.T]
    groups = rows_by_group(documents, len(Y), name="documents")
    for a, alpha in enumerate(track(alphas, "alphas", len(alphas))):
        G = inverse(K, alpha, weights)
        BG = None if readout is None else readout @ G
        for y, output in zip(Y.T, results, strict=True):
            whole = _FullModel(G, G @ y, y, BG)
            for result in output:
                for fold in np.unique(result.folds):
                    _fill_fold(whole, groups, result, a, int(fold))
    return results


@dataclass(frozen=True, eq=False)
class _FullModel:
    """RLS model at one alpha, of all candidates or without a fold.

    Without a fold, only ``a`` is that of the smaller model; ``G`` and ``BG`` remain those of all
    candidates.
    """

    G: Matrix  # (n, n) (K + alpha I)^-1
    a: Vector  # (n,) coefficients G y
    y: Vector  # (n,)
    BG: Matrix | None  # (n, n) readout times G


def _fill_fold(
    whole: _FullModel, groups: Sequence[Indices], into: NestedScores, a: int, fold: int
) -> None:
    """Write the test scores of one fold and the inner scores of all others into ``into``, in place.

    ``whole`` is the model of all candidates, ``a`` the index of its alpha, ``fold`` a fold number
    and ``groups`` the rows held out together. Sets ``outer[a]`` at rows of the fold, and
    ``inner[a, fold]`` at all other rows.
    """
    out = np.flatnonzero(into.folds == fold)
    L = sla.cholesky(whole.G[np.ix_(out, out)], lower=True, check_finite=False)
    z = sla.solve_triangular(L, whole.a[out], lower=True, check_finite=False)
    # Columns of W are L^-1 G_od, so that W_d' W_d is what the fold's absence takes from G_dd.
    W = sla.solve_triangular(L, whole.G[out], lower=True, overwrite_b=True, check_finite=False).T
    rest = _FullModel(whole.G, whole.a - W @ z, whole.y, whole.BG)
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


def _blocks(whole: _FullModel, W: Matrix, index: Indices) -> Matrix:
    """Return blocks ``G'_dd`` (b, h, h) of the inverse of the model trained without a fold.

    ``whole.G`` is the inverse of all candidates; ``index`` (b, h) has the rows of ``b`` groups of
    ``h``, none in the fold. ``W`` (n, o) is ``G_:o L'^-1`` with ``G_oo = L L'`` for the ``o`` rows
    of the fold.
    """
    part = W[index]
    G = whole.G[index[:, :, None], index[:, None, :]]
    return np.asarray(G - part @ part.transpose(0, 2, 1))


def _inner_scores(rest: _FullModel, W: Matrix, index: Indices) -> Matrix:
    """Return scores (b, h) of groups by models trained without a fold and without the group itself.

    ``rest`` holds the coefficients of the model trained on all candidates but the fold. ``index``
    (b, h) has the row numbers of ``b`` groups of ``h`` rows, none of them in the fold; row ``i`` of
    the result scores group ``i``. ``W`` (n, o) is ``G_:o L'^-1`` with ``G_oo = L L'`` the block of
    the ``o`` rows of the fold, so that ``W_d W_d'`` is what leaving out the fold takes from the
    block ``G_dd``.
    """
    a, y = rest.a[index][:, :, None], rest.y[index][:, :, None]
    return solve_blocks(_blocks(rest, W, index), a, y)[:, :, 0]


def _read_correction(rest: _FullModel, W: Matrix, X: Matrix, index: Indices) -> Matrix:
    """Return ``(B G')_dd G'_dd^-1 a'_d`` (b, h): what holding out takes from read-out scores.

    ``rest`` is the model without the fold, ``index`` (b, h) the rows of b groups of h rows outside
    it, ``W`` (n, o) is ``G_:o L'^-1`` and ``X`` (n, o) is ``(B G)_:o L'^-1``, with ``B`` the
    readout and ``G_oo = L L'`` the block of the fold.
    """
    x = np.linalg.solve(_blocks(rest, W, index), rest.a[index][:, :, None])
    BG = rest.BG[index[:, :, None], index[:, None, :]]  # type: ignore[index]
    return np.asarray(((BG - X[index] @ W[index].transpose(0, 2, 1)) @ x)[:, :, 0])


def empty_nested_scores(alphas: tuple[float, ...], folds: Indices) -> NestedScores:
    """Return nested scores for folds (n,) numbered from 0, with all scores NaN.

    ``inner`` has room for every fold number up to the largest, used or not.
    """
    n, number = len(folds), int(folds.max()) + 1
    outer = np.full((len(alphas), n), np.nan)
    return NestedScores(alphas, folds, outer, np.full((len(alphas), number, n), np.nan))


def _part(data: Matrix | Features, rows: Indices, columns: Indices) -> Matrix | Features:
    """Return rows of features, or rows and columns of a Gram matrix, as copies in the given order.

    ``columns`` are candidates and ignored for features.
    """
    return data.rows(rows) if isinstance(data, Features) else data[np.ix_(rows, columns)]


@dataclass(frozen=True, eq=False)
class GroupChanges:
    """Changes of the coefficients of a model without each of g training documents.

    The changes of feature weights are ``rows' changes`` if ``rows`` is given, which takes less
    memory when candidates are fewer than features. A model with h heads has one more axis of length
    h at the end of ``changes`` and of what ``of_scores`` returns.
    """

    changes: Matrix  # (n or d, g), or (n, g) with rows
    rows: SparseMatrix | None = None  # (n, d) features of the training candidates
    documents: Sequence[str] = ()  # (g,) names of the documents

    def __len__(self) -> int:
        """Return the number of documents, or groups of documents, g."""
        return self.changes.shape[1]

    def of_scores(self, data: Matrix | SparseMatrix) -> Matrix:  # (m, g)
        """Return how each score would change without each document, (m, g).

        ``data`` (m, n or d) are kernel values with the training candidates, or features, as the
        coefficients of the model need them. A negative change means that the document raised the
        score.
        """
        values = data if self.rows is None else data @ self.rows.T
        size, *others = self.changes.shape
        return np.asarray(values @ self.changes.reshape(size, -1)).reshape(-1, *others)


@runtime_checkable
class InfluenceLearner(Protocol):
    """A learner that can tell what its model would be without each document."""

    def group_changes(
        self, data: Matrix | Features, targets: Targets, alpha: float
    ) -> GroupChanges | None:
        """Return the changes of the coefficients of ``fit`` at ``alpha``, in order of groups.

        Groups are in the order of their sorted numbers, as in ``rows_by_group``. None if these
        settings offer none.
        """


def find_changes(
    learner: Any, data: KernelData, targets: Targets, alpha: float, names: Sequence[str]
) -> GroupChanges | None:
    """Return the changes of a model without each group of documents, if its learner offers them.

    Parameters
    ----------
    learner
        Any learner; only an ``InfluenceLearner`` offers changes.
    data, targets
        Gram matrix or features that the model was trained on, and its targets.
    alpha
        Regularisation of the model.
    names
        (n,) the document of each candidate. A group of several documents is named after all of
        them, joined by " + ".

    Returns
    -------
    changes : GroupChanges or None
        Columns in the order of the sorted group numbers. None if the learner offers none, if there
        is a choice of kernels, or if groups times candidates times heads are more than
        ``MAX_INFLUENCE_VALUES`` numbers.

    Raises
    ------
    ValueError
        As the learner's ``group_changes`` does.
    """
    groups = rows_by_group(targets.groups, len(targets), name="documents")
    if not isinstance(learner, InfluenceLearner) or not isinstance(data, np.ndarray | Features):
        return None
    heads = 1 if targets.heads is None else targets.heads.shape[1]
    if len(groups) * len(targets) * heads > MAX_INFLUENCE_VALUES:
        return None
    changes = learner.group_changes(data, targets, alpha)
    if changes is None:
        return None
    documents = tuple(" + ".join(dict.fromkeys(names[i] for i in rows)) for rows in groups)
    return replace(changes, documents=documents)


def rls_changes(
    data: Matrix | Features, targets: Targets, alpha: float, weights: Vector | None = None
) -> GroupChanges:
    """Return the changes of RLS without each group; ``weights`` (n,) are those of squared errors.

    A Gram matrix gives changes of coefficients (n, g). Features give changes of feature weights (d,
    g), or the candidates' features with changes (n, g) if that takes less memory. Groups are in
    ascending order. Weights None are 1 for all; those of ``targets`` and heads are not used. Costs
    one inverse of an (n, n) matrix and one product. Raises ValueError if a Gram matrix is not
    positive semidefinite.
    """
    matrix, dual = check_data(data)
    y = check_targets(targets.y, matrix.shape[0])[:, 0]
    G = inverse(np.asarray(matrix) if dual else gram(matrix), alpha, weights)
    groups = rows_by_group(targets.groups, len(y), name="documents")
    return pack_changes(changes_by_group(G, G @ y, groups), None if dual else matrix)


def changes_by_group(G: Matrix, a: Vector, groups: Sequence[Indices]) -> Matrix:  # (n, g)
    """Return ``-G_:U G_UU^-1 a_U`` for each group ``U`` of rows, one column each, (n, g).

    ``G`` (n, n) is a regularised inverse and ``a`` (n,) are the coefficients. Costs O(n^2), if
    groups are small. Raises ValueError if a block of ``G`` is singular.
    """
    changes = np.empty((len(a), len(groups)))
    for k, rows in enumerate(groups):
        changes[:, k] = -G[:, rows] @ solve_regular(G[np.ix_(rows, rows)], a[rows, None])[:, 0]
    return changes


def pack_changes(changes: Matrix, features: Matrix | SparseMatrix | None) -> GroupChanges:
    """Return changes (n, g) of candidates' coefficients, or of feature weights.

    ``features`` (n, d) are those of the training candidates; None for a model with coefficients of
    candidates. With features, the result has feature weights (d, g) if these are no more numbers
    than ``changes`` and the non-zeros of ``features`` together; otherwise it has ``changes`` and,
    beside them, the features as CSR.
    """
    if features is None:
        return GroupChanges(changes)
    rows = sp.csr_array(features)
    if rows.shape[1] * changes.shape[1] <= rows.nnz + changes.size:
        return GroupChanges(np.asarray(rows.T @ changes))
    return GroupChanges(changes, rows)
