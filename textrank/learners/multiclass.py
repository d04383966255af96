"""Multiclass learners: output codes with their decoding, the joint kernel, and G2P embeddings.

A code is a matrix (classes, bits) of -1, 0 and +1: each bit is a binary problem, -1 and +1 are the
side of a class, and 0 leaves the class out. ``solve_code`` learns all bits, ``decode`` turns their
scores into classes. ``joint_kernel_path`` learns on pairs of input and class instead.

``G2P`` is a supervised embedding of any similarity that keeps classes apart and neighbours near. It
computes the projection from similarities and class similarities; ``class_matrix``,
``average_similarities``, ``to_similarities`` and ``neighbour_indicator`` prepare its inputs.
``EmbeddingRLS`` is a learner of pipelines: RLS on the embedding, stored as one coefficient per
training candidate or feature.

Letters in shapes: ``n`` candidates, ``c`` classes, ``a`` values of alpha. Classes are numbered from
0. ``groups`` are arrays of row numbers that are held out together.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
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
    check_gram,
    check_magnitude,
    check_metric,
    check_targets,
    check_unweighted,
    choose_alpha,
)
from textrank.learners.holdout import heldout_one_alpha, nested_by_retraining, scatter_scores
from textrank.learners.rls import remove_intercept, rls_path, solve_rls
from textrank.linalg import gram, inverse
from textrank.metrics import argmax_first

Decoding = Literal["loss", "hamming"]


def one_vs_all_code(classes: int) -> Matrix:
    """Return the code (classes, classes) with one bit per class.

    >>> one_vs_all_code(2).tolist()
    [[1.0, -1.0], [-1.0, 1.0]]
    """
    return 2.0 * np.eye(classes) - 1.0


def all_pairs_code(classes: int) -> Matrix:
    """Return the code with one bit for each two classes, the others left out.

    It has ``classes * (classes - 1) / 2`` bits, in the order of ``itertools.combinations``; the
    class with the lower number has +1.

    >>> all_pairs_code(3)
    array([[ 1.,  1.,  0.],
           [-1.,  0.,  1.],
           [ 0., -1., -1.]])
    """
    code = np.zeros((classes, classes * (classes - 1) // 2))
    for bit, (first, second) in enumerate(combinations(range(classes), 2)):
        code[first, bit], code[second, bit] = 1.0, -1.0
    return code


def binary_code(classes: int) -> Matrix:
    """Return the binary digits of the class numbers as -1 and +1, the lowest digit first.

    The shortest code of two values, of at least one bit. Its rows are not equally far apart, so
    that a joint kernel on it makes some classes more similar than others.

    >>> binary_code(3).tolist()
    [[-1.0, -1.0], [1.0, -1.0], [-1.0, 1.0]]
    """
    bits = max(int(classes - 1).bit_length(), 1)
    digits = (np.arange(classes)[:, None] >> np.arange(bits)) & 1
    return np.asarray(2.0 * digits - 1.0, dtype=np.float64)


def exhaustive_code(classes: int) -> Matrix:
    """Return the code of all ways to split the classes in two: 2^(classes - 1) - 1 bits.

    In bit ``b``, class ``c`` has -1 where the binary digit ``c`` of ``b + 1`` is 1, else +1; so the
    last class always has +1. Raises ValueError for more than 10 classes.

    >>> exhaustive_code(3).tolist()
    [[-1.0, 1.0, -1.0], [1.0, -1.0, -1.0], [1.0, 1.0, 1.0]]
    """
    if classes > 10:
        raise ValueError(f"{classes} classes have {2 ** (classes - 1) - 1} bits. Use random_code.")
    numbers = np.arange(1, 2 ** (classes - 1))
    bits = (numbers[None, :] >> np.arange(classes)[:, None]) & 1
    return np.asarray(1.0 - 2.0 * bits, dtype=np.float64)


def random_code(
    classes: int, bits: int, *, seed: int = 0, zeros: float = 0.0, tries: int = 200
) -> Matrix:
    """Return the best of ``tries`` random codes: the one whose closest rows are farthest apart.

    The distance of two rows is the number of bits in which they differ, one half where either is 0.
    Codes with a bit that lacks -1 or +1 are not considered; of equally good ones the first is
    taken. ``zeros`` is the expected share of classes left out of each bit; ``seed`` makes the
    result reproducible. Raises ValueError if no code has both sides in every bit.

    >>> random_code(4, 6).shape
    (4, 6)
    """
    rng = np.random.default_rng(seed)
    best, distance = np.zeros((classes, bits)), -1.0
    for _ in range(tries):
        code = np.where(rng.random((classes, bits)) < 0.5, 1.0, -1.0)
        code[rng.random(code.shape) < zeros] = 0.0
        sides = (code == 1).any(axis=0) & (code == -1).any(axis=0)
        apart = (bits - code @ code.T) / 2 + np.diag(np.full(classes, np.inf))
        if sides.all() and apart.min() > distance:
            best, distance = code, float(apart.min())
    if distance < 0:
        raise ValueError(
            f"no code of {bits} bits for {classes} classes with {zeros:.0%} zeros has both sides "
            "in every bit. Lower zeros or raise the number of tries."
        )
    return best


def decode(scores: Matrix, code: Matrix, decoding: Decoding = "loss") -> Indices:
    """Return the class (..) whose row of the code is nearest to the scores (.., bits).

    ``hamming`` counts bits on the wrong side, one half where either is 0; ``loss`` adds the squared
    losses ``(1 - m f)^2`` of the bits that the class takes part in, with ``m`` its entry and ``f``
    the score. Of classes that are equally near up to round-off the first is returned. Raises
    ValueError for another ``decoding``.

    >>> decode(np.array([[0.9, -0.8, -1.1], [-1.0, -0.7, 0.4]]), one_vs_all_code(3))
    array([0, 2])
    """
    if decoding == "hamming":
        distance = -np.sign(scores) @ np.sign(code).T
    elif decoding == "loss":  # squares written out: one product, and no (.., classes, bits) array
        distance = (scores**2) @ (code**2).T - 2 * scores @ code.T + (code**2).sum(axis=1)
    else:
        raise ValueError(f"decoding must be loss or hamming, got {decoding!r}")
    return argmax_first(-distance)


def check_code(code: Any, classes: int) -> Matrix:
    """Return a code (classes, bits) as floats.

    Raises ValueError unless there is one row per class, entries are -1, 0 and 1, every bit has both
    -1 and 1, and no two rows are equal.
    """
    code = np.asarray(code, dtype=np.float64)
    if code.ndim != 2 or len(code) != classes:
        raise ValueError(f"a code for {classes} classes has a row for each, got {code.shape}")
    if not np.isin(code, (-1, 0, 1)).all():
        raise ValueError("a code has entries -1, 0 and 1 only")
    one_sided = ~((code == 1).any(axis=0) & (code == -1).any(axis=0))
    if one_sided.any():
        raise ValueError(f"bit {int(one_sided.argmax())} of the code has classes on one side only")
    if len(np.unique(code, axis=0)) < classes:
        raise ValueError("two classes have the same row in the code and cannot be distinguished")
    return code


def code_path(
    K: Matrix,
    classes: Indices,
    code: Matrix,
    alphas: Vector,
    groups: Sequence[Indices],
    *,
    weights: Vector | None = None,
) -> tuple[Matrix, Matrix]:  # (a, n, bits), (a, n, bits)
    """Return coefficients and held-out scores, both (a, n, bits), of every bit, at every alpha.

    ``K`` (n, n) is a Gram matrix, ``classes`` (n,) are class numbers, ``groups`` the rows held out
    together, ``weights`` (n,) sample weights (None: all 1). Bits without zeros share one
    decomposition; each other bit is learned from the candidates of its classes alone, and also
    scores those of the others. Candidates that are left out of a bit have coefficient 0. Every row
    must be in one group; this is not checked. There is no intercept. Raises ValueError if ``K`` is
    not a Gram matrix.
    """
    coefs, _, heldout = solve_code(K, classes, code, alphas, groups, weights=weights)
    return coefs, heldout


def solve_code(
    K: Matrix,
    classes: Indices,
    code: Matrix,
    alphas: Vector,
    groups: Sequence[Indices],
    *,
    weights: Vector | None = None,
    fit_intercept: bool = False,
) -> tuple[Matrix, Matrix, Matrix]:  # (a, n, bits), (a, bits), (a, n, bits)
    """Return coefficients (a, n, bits), intercepts (a, bits) and held-out scores (a, n, bits).

    ``K`` (n, n) is a Gram matrix, ``classes`` (n,) are class numbers, ``code`` (classes, bits) has
    entries -1, 0 and 1, ``groups`` are the rows held out together and ``weights`` (n,) sample
    weights (None: all 1). A bit with zeros is learned from the candidates of its other classes
    alone, whose coefficients are the only ones not 0, and scores all. Intercepts are 0 unless
    ``fit_intercept``; held-out scores include them. Raises ValueError if ``K`` is not a Gram
    matrix.
    """
    Y = code[classes]
    K = check_gram(K)
    coefs, heldout = (np.zeros((len(alphas), *Y.shape)) for _ in range(2))
    intercepts = np.zeros((len(alphas), Y.shape[1]))
    full = np.flatnonzero((code != 0).all(axis=0))
    if len(full):
        solution = solve_rls(
            K, Y[:, full], alphas, groups, weights=weights, dual=True, fit_intercept=fit_intercept
        )
        coefs[:, :, full], intercepts[:, full] = solution.models()
        heldout[:, :, full] = solution.heldout
    for bit in np.setdiff1d(np.arange(code.shape[1]), full):
        part = np.flatnonzero(Y[:, bit])
        for a, alpha in enumerate(alphas):
            kept = None if weights is None else weights[part]
            G = inverse(K[np.ix_(part, part)], float(alpha), kept)
            row = remove_intercept(G) if fit_intercept else np.zeros(len(part))
            coefs[a, part, bit] = G @ Y[part, bit]
            intercepts[a, bit] = row @ Y[part, bit]
            heldout[a, :, bit] = _partial_holdout(
                K[:, part], G, row, coefs[a, part, bit], Y[part, bit], part, groups
            )
    return coefs, intercepts, heldout


def joint_kernel_path(
    K: Matrix,
    Y: Matrix,
    similarity: Matrix,
    alphas: Vector,
    groups: Sequence[Indices],
) -> tuple[Matrix, Matrix]:  # (a, n, c), (a, n, c)
    """Return coefficients and held-out scores of RLS with the joint kernel ``k(x, x') m(c, c')``.

    ``Y`` (n, c) are labels of all pairs of candidate and class, ``similarity`` (c, c) is ``m``;
    both results are (a, n, c). The Gram matrix of all pairs is the Kronecker product of ``K`` (n,
    n) and ``m``, so along each eigenvector of ``m`` with eigenvalue ``mu`` it is plain RLS with
    ``alpha / mu``: no array of ``n c`` rows is made. Scores of new pairs are ``K_new A``, ``m``
    included in ``A``. Eigenvalues of ``m`` up to 1e-12 of the largest count as 0, and add nothing.
    Held-out scores of rows of no group are NaN. Raises ValueError unless ``K`` and ``similarity``
    are Gram matrices.
    """
    K, M = check_gram(K), check_gram(similarity)
    Y = check_targets(Y, len(K))
    mu, V = np.linalg.eigh(M)
    coefs, heldout = (np.zeros((len(alphas), *Y.shape)) for _ in range(2))
    # Equal eigenvalues, up to round-off, share one path; those of the null space add nothing.
    steps = np.flatnonzero(np.diff(mu) > 1e-10 * mu[-1]) + 1
    for same in np.split(np.arange(len(mu)), steps):
        value, vectors = mu[same].mean(), V[:, same]
        if value <= 1e-12 * mu[-1]:
            continue
        A, scores = rls_path(K, Y @ vectors, alphas / value, groups, dual=True)
        coefs += A @ vectors.T
        heldout += scores @ vectors.T
    return coefs, heldout


def class_similarity(code: Matrix, width: float) -> Matrix:
    """Return ``exp(-||m_c - m_c'||^2 / width^2)`` (c, c) between the code rows of the classes.

    Times a Gaussian kernel of the inputs it is the Gaussian kernel of (input, encoding) pairs.
    Raises ValueError unless ``width`` is positive.

    >>> class_similarity(one_vs_all_code(2), width=2.0).round(3).tolist()
    [[1.0, 0.135], [0.135, 1.0]]
    """
    if not width > 0:
        raise ValueError(f"width must be positive, got {width}")
    square = (code**2).sum(axis=1)
    return np.asarray(
        np.exp(-(square[:, None] + square - 2 * code @ code.T).clip(min=0) / width**2)
    )


def _partial_holdout(
    columns: Matrix,
    G: Matrix,
    row: Vector,
    a: Vector,
    y: Vector,
    part: Indices,
    groups: Sequence[Indices],
) -> Vector:
    """Return scores (n,) of all rows, each without its group, by a model of the rows ``part``.

    ``part`` (m,) are ascending row numbers, ``columns`` (n, m) kernel values of all rows with
    these, ``G`` (m, m) the inverse ``(K + alpha I)^-1`` of the rows ``part`` (see
    ``remove_intercept``), ``a`` (m,) the coefficients of labels ``y`` (m,), and ``row @ y`` is the
    intercept. Every row of ``part`` must be in one of the ``groups``. A group without rows of
    ``part`` is scored by the whole model.
    """
    position = np.full(len(columns), -1)
    position[part] = np.arange(len(part))
    inside = [position[group][position[group] >= 0] for group in groups]
    scores = np.asarray(columns @ a) + row @ y
    parts = heldout_one_alpha(G, y[:, None], a[:, None], [rows for rows in inside if len(rows)])
    scores[part] = scatter_scores(parts, np.empty((1, len(part), 1)))[0, :, 0]
    for group, rows in zip(groups, inside, strict=True):
        if (
            0 < len(rows) < len(group)
        ):  # members outside ``part`` lose what those inside contributed
            others = group[position[group] < 0]
            x = np.linalg.solve(G[np.ix_(rows, rows)], a[rows])
            scores[others] -= columns[others] @ (G[:, rows] @ x) + row[rows] @ x
    return scores


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

        Columns are the top eigenvectors ``p`` of ``R' W R p = value (R'R + alpha I) p``, ordered by
        falling eigenvalue; ``R`` are the columns of ``S`` of the ``prototypes`` (r,), None for all
        n. ``W`` is ``classes``, as from ``class_matrix``, times ``S`` and ``neighbour_indicator``
        (unless ``neighbours`` is None), made symmetric. New candidates map to ``S_new @ P``, with
        ``S_new`` (m, r) their similarities to the prototypes. Raises ValueError if the shapes
        differ or ``S`` is not square and finite.
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

        ``Features`` are compared by their inner products. Held-out scores are by at most ``folds``
        folds, to which the sorted groups are dealt in turn, with one training each. Labels above 0
        are of one class, all others of the other, for the embedding. Raises ValueError for sample
        weights, if all candidates are in one group, and for data or labels of a wrong shape or that
        are not finite.
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
