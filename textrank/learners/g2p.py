"""G2P: a supervised embedding of any similarity that keeps classes apart and neighbours near.

``G2P`` computes the projection from similarities and class similarities; ``class_matrix``,
``average_similarities``, ``to_similarities`` and ``neighbour_indicator`` prepare its inputs.
``EmbeddingRLS`` is a learner of pipelines: RLS on the embedding, stored as one coefficient per
training candidate or feature.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import scipy.linalg as sla

from textrank.candidates import Targets
from textrank.features import Features, Indices, Matrix, Vector
from textrank.learners.base import (
    Fit,
    NestedScores,
    RegularizationPath,
    SelectionMetric,
    check_alphas,
    check_features,
    check_magnitude,
    check_metric,
    check_targets,
    check_unweighted,
    choose_alpha,
)
from textrank.learners.holdout import nested_by_retraining
from textrank.linalg import gram


@dataclass(frozen=True)
class G2P:
    """Dual-goal projection: candidates are near if they were near before and are of one class.

    ``max_P tr P'S'(S_Y . N . S)SP`` subject to ``P'(S'S + alpha I)P = I``: the top generalised
    eigenvectors, with ``S`` the similarities of the training candidates, ``S_Y`` their classes'
    and ``N`` the indicator of ``neighbours`` nearest ones, either way or ``mutual``. New
    candidates map to ``S_new P``. With ``neighbours`` None only the classes count (``S_Y``
    alone). ``size`` fixes the dimension; else it is the smallest with a ``share`` of the squared
    eigenvalues. O(n^2 r + r^3) once, for n candidates and r prototypes (all n by default).

    Mu, Miwa, Tsujii and Ananiadou (2012), Discovering robust embeddings in (dis)similarity space
    for high-dimensional linguistic features, Computational Intelligence.

    >>> S, classes = np.eye(4) + 0.5, np.kron(np.eye(2), np.ones((2, 2)))  # two of each class
    >>> G2P(size=1, neighbours=None).fit(S, classes).shape
    (4, 1)
    """

    alpha: float = 1.0
    neighbours: int | None = 10
    mutual: bool = False
    size: int | None = None
    share: float = 0.9

    def __post_init__(self) -> None:
        """Raise ValueError for settings outside their range.

        ``alpha`` is positive and finite, ``neighbours`` and ``size`` are None or at least 1,
        ``share`` is above 0 and at most 1.
        """
        if not (np.isfinite(self.alpha) and self.alpha > 0):
            raise ValueError(f"alpha must be positive and finite, got {self.alpha}")
        for name in ("neighbours", "size"):
            value = getattr(self, name)
            if value is not None and value < 1:
                raise ValueError(f"{name} must be at least 1 or None, got {value}")
        if not 0 < self.share <= 1:
            raise ValueError(f"share must be above 0 and at most 1, got {self.share}")

    def fit(
        self, S: Matrix, classes: Matrix, prototypes: Indices | None = None
    ) -> Matrix:  # (n, n), (n, n) -> (r, k)
        """Return the projection ``P`` (r, k) for similarities and class similarities, both (n, n).

        Class similarities are those of ``class_matrix``. Columns are ordered by falling eigenvalue.
        ``prototypes`` (r,) are the candidates whose similarities are embedded; None for all n. New
        candidates map to ``S_new @ P``, with ``S_new`` (m, r) their similarities to the prototypes.
        Raises ValueError if the shapes differ or ``S`` is not square and finite.
        """
        S = check_similarity(S)
        weights = np.array(classes, dtype=np.float64)
        if weights.shape != S.shape:
            raise ValueError(f"{S.shape} similarities but class similarities {weights.shape}")
        if self.neighbours is not None:
            weights *= S * neighbour_indicator(S, self.neighbours, mutual=self.mutual)
        weights = (weights + weights.T) / 2
        R = S if prototypes is None else S[:, prototypes]
        inside = R.T @ R
        inside.flat[:: len(inside) + 1] += self.alpha
        values, P = sla.eigh(R.T @ weights @ R, inside)
        values, P = values[::-1], P[:, ::-1]
        return np.ascontiguousarray(P[:, : self._dimension(values)])

    def _dimension(self, values: Vector) -> int:
        """Return the number of eigenvectors to keep, from descending eigenvalues (r,).

        ``size``, at most r, or the smallest number with a ``share`` of the sum of squares; 1 if all
        are 0.
        """
        if self.size is not None:
            return min(self.size, len(values))
        square = np.cumsum(values**2)
        if square[-1] == 0:
            return 1
        return int(np.searchsorted(square, self.share * square[-1] * (1 - 1e-12)) + 1)


@dataclass(frozen=True)
class EmbeddingRLS:
    """RLS on the G2P embedding of the similarities between training candidates.

    The similarities are those of the pipeline's kernel, such as a weighted sum of several. The
    embedding ``Z = S P / s`` (mean squared length 1) and the weights ``w = (Z'Z + ridge I)^-1 Z'y``
    collapse to one coefficient per prototype, ``a = P w / s``, and with a feature map to one weight
    per feature, ``X'a``: prediction does not depend on the dimension of the embedding, nor on the
    number of training candidates. The embedding sees labels, so held-out scores come from training
    again without each of ``folds`` sets of groups.

    >>> from textrank.candidates import Targets
    >>> y = np.array([1.0, -1.0, 1.0, -1.0])
    >>> S, groups = np.outer(y, y) + 2 * np.eye(4), np.array([0, 0, 1, 1])
    >>> learner = EmbeddingRLS(alphas=[1.0], neighbours=None, folds=2)
    >>> np.sign(learner.fit(S, Targets(y, groups, groups)).predict(S)).tolist()
    [1.0, -1.0, 1.0, -1.0]

    Parameters
    ----------
    alphas
        Regularisation of the embedding (``G2P.alpha``); the best held-out scores choose.
    neighbours, mutual, size, share
        As in ``G2P``. ``neighbours`` below 1 is a share of the training candidates, at least 15.
    ridge
        Regularisation of RLS on the embedding.
    prototypes
        Number of training candidates, drawn at random, whose similarities are embedded; None for
        all.
    select
        Metric of the held-out scores that chooses alpha.
    folds
        Number of trainings for held-out scores.
    seed
        Seed of the prototypes.
    """

    alphas: Sequence[float] = (0.1, 1.0, 10.0)
    neighbours: float | None = 0.25
    mutual: bool = False
    size: int | None = None
    share: float = 0.9
    ridge: float = 1.0
    prototypes: int | None = None
    select: SelectionMetric = "auc"
    folds: int = 3
    seed: int = 0

    def __post_init__(self) -> None:
        """Store the alphas as a tuple; raise ValueError for settings outside their range.

        ``neighbours`` is None or positive, ``folds`` at least 2, ``ridge`` positive, ``prototypes``
        None or at least 1, ``size`` None or at least 1, ``share`` above 0 and at most 1.
        """
        object.__setattr__(self, "alphas", check_alphas(self.alphas))
        check_metric(self.select)
        if self.neighbours is not None and not self.neighbours > 0:
            raise ValueError(f"neighbours must be above 0 or None, got {self.neighbours}")
        if self.folds < 2 or not (np.isfinite(self.ridge) and self.ridge > 0):
            raise ValueError(
                f"folds must be at least 2 and ridge positive, got {self.folds} and {self.ridge}"
            )
        if self.prototypes is not None and self.prototypes < 1:
            raise ValueError(f"prototypes must be at least 1 or None, got {self.prototypes}")
        self._embedding(self.alphas[0], 2)

    def fit(self, data: Matrix | Features, targets: Targets) -> Fit:
        """Train at every alpha and return the fit with the best held-out scores by ``select``.

        Raises ValueError for sample weights, and if all candidates are in one group.
        """
        path = self.path(data, targets)
        return path.select(choose_alpha(path.heldout, targets, self.select, path.alphas))

    def path(self, data: Matrix | Features, targets: Targets) -> RegularizationPath:
        """Return coefficients (alphas, n), or feature weights (alphas, d), and held-out scores.

        Held-out scores are by at most ``folds`` folds of groups, with one training each. Labels
        above 0 are of one class, all others of the other, for the embedding. Raises ValueError for
        sample weights, if all candidates are in one group, and for data or labels of a wrong shape
        or that are not finite.
        """
        check_unweighted(targets, "g2p.v1")
        groups = np.unique(targets.groups, return_inverse=True)[1]
        if not groups.any():
            raise ValueError("all candidates are of one document: nothing can be held out")
        y = check_targets(targets.y, len(data))[:, 0]
        S = gram(check_features(data)) if isinstance(data, Features) else check_similarity(data)
        folds = groups % min(self.folds, int(groups.max()) + 1)
        heldout = np.empty((len(self.alphas), len(y)))
        for fold in np.unique(folds):
            rest, out = np.flatnonzero(folds != fold), np.flatnonzero(folds == fold)
            coefs = self._coefs(S[np.ix_(rest, rest)], y[rest])
            heldout[:, out] = coefs @ S[np.ix_(rest, out)]
        coefs = self._coefs(S, y)
        if isinstance(data, Features):
            coefs = np.asarray(coefs @ data.values)
        return RegularizationPath(tuple(self.alphas), coefs, heldout)

    def nested(
        self, data: Matrix | Features, targets: Targets, partitions: Sequence[Indices]
    ) -> list[NestedScores]:
        """Return test scores and inner held-out scores of every partition into folds, in order.

        A partition is the fold number of each candidate (n,). Raises ValueError if a group is in
        two folds.
        """
        return nested_by_retraining(self, data, targets, partitions)

    def _embedding(self, alpha: float, n: int) -> G2P:
        """Return the embedding of n candidates at this alpha, with ``neighbours`` as a number.

        A share below 1 becomes that part of n, rounded down, and at least 15; None stays None.
        """
        count = self.neighbours
        if count is not None:
            count = int(count) if count >= 1 else max(int(count * n), 15)
        return G2P(alpha, count, self.mutual, self.size, self.share)

    def _coefs(self, S: Matrix, y: Vector) -> Matrix:  # (alphas, n)
        """Return one coefficient per candidate at every alpha, 0 for those that are no prototypes.

        ``S`` (n, n) are similarities, ``y`` (n,) labels. Prototypes are all candidates, or as many
        as the setting says, drawn by ``seed``. The embedding is learned at alpha, and ridge
        regression of ``y`` on the embedded candidates, scaled to mean squared length 1, with the
        setting ``ridge``.
        """
        n = len(y)
        columns = np.arange(n)
        if self.prototypes is not None and self.prototypes < n:
            rng = np.random.default_rng(self.seed)
            columns = np.sort(rng.choice(n, self.prototypes, replace=False))
        classes = class_matrix(np.where(y > 0, 1.0, -1.0)[:, None], "binary")
        coefs = np.zeros((len(self.alphas), n))
        for a, alpha in enumerate(self.alphas):
            P = self._embedding(alpha, n).fit(S, classes, columns)
            Z = S[:, columns] @ P
            scale = float(np.sqrt((Z**2).sum(axis=1).mean())) or 1.0
            Z /= scale
            inside = Z.T @ Z
            inside.flat[:: len(inside) + 1] += self.ridge
            coefs[a, columns] = P @ sla.solve(inside, Z.T @ y, assume_a="pos") / scale
        return coefs


def class_matrix(Y: Matrix, kind: Literal["binary", "single", "multi"]) -> Matrix:  # (n, n)
    """Return similarities (n, n) of the classes of candidates.

    ``binary``: ``YY'`` for labels -1 and 1 (n, 1); ``single``: ``2YY' - 1`` for an indicator (n, c)
    of one class each; ``multi``: ``YY'`` for an indicator of several classes. An indicator has 1
    for the classes of a candidate and 0 for others. Raises ValueError for another ``kind``.
    """
    Y = check_targets(Y, len(Y))
    product = Y @ Y.T
    if kind == "single":
        return np.asarray(2.0 * product - 1.0)
    if kind in ("binary", "multi"):
        return np.asarray(product)
    raise ValueError(f"kind must be binary, single or multi, got {kind!r}")


def average_similarities(parts: Sequence[Matrix], weights: Sequence[float] | None = None) -> Matrix:
    """Return the weighted mean of similarity matrices of one shape; by default all weigh the same.

    Raises ValueError if there is no matrix, if weights are negative or all zero, or if their number
    differs from that of the matrices.
    """
    shares = np.ones(len(parts)) if weights is None else np.asarray(weights, dtype=np.float64)
    if len(shares) != len(parts) or not len(parts):
        raise ValueError(f"{len(parts)} groups of similarities but {len(shares)} weights")
    if (shares < 0).any() or not shares.sum() > 0:
        raise ValueError(f"weights must not be negative, nor all zero, got {shares.tolist()}")
    return np.asarray(
        sum(w * np.asarray(S) for w, S in zip(shares, parts, strict=True)) / shares.sum()
    )


def to_similarities(D: Matrix, width: float | None = None) -> Matrix:
    """Return similarities ``exp(-D^2 / (2 width^2))``, or ``max(D) - D`` if ``width`` is None.

    ``D`` are distances of any shape, not empty if ``width`` is None. Raises ValueError unless
    ``width`` is positive or None.
    """
    D = np.asarray(D, dtype=np.float64)
    if width is None:
        return np.asarray(D.max() - D)
    if not width > 0:
        raise ValueError(f"width must be positive, got {width}")
    return np.asarray(np.exp(-(D**2) / (2 * width**2)))


def neighbour_indicator(S: Matrix, count: int, *, mutual: bool = False) -> Matrix:
    """Return a matrix (n, n) that is 1 for candidates of which one is among the other's nearest.

    ``S`` (n, n) are similarities. Each candidate has ``count`` nearest ones (at most ``n - 1``),
    itself not counted; if ``mutual``, both must be among the nearest of the other. Of equally near
    ones any may be chosen. The result is symmetric and its diagonal is 1. ``S`` is not changed.
    """
    n = len(S)
    count = min(count, n - 1)
    near = np.zeros((n, n), dtype=bool)
    others = S.copy()
    np.fill_diagonal(others, -np.inf)
    if count > 0:
        columns = np.argpartition(-others, count - 1, axis=1)[:, :count]
        near[np.arange(n)[:, None], columns] = True
    near = near & near.T if mutual else near | near.T
    np.fill_diagonal(near, True)
    return near.astype(np.float64)


def check_similarity(S: Any) -> Matrix:
    """Return similarities (n, n) as floats; raise ValueError unless square, finite and not empty.

    They need not be symmetric nor positive semi-definite. Values above
    ``MAX_MAGNITUDE`` are refused too.
    """
    S = np.asarray(S, dtype=np.float64)
    if S.ndim != 2 or S.shape[0] != S.shape[1] or not S.size:
        raise ValueError(f"similarities are a square matrix, got shape {S.shape}")
    if not np.isfinite(S).all():
        raise ValueError(f"similarity {np.argwhere(~np.isfinite(S))[0].tolist()} is not finite")
    check_magnitude(S, "similarities")
    return S
