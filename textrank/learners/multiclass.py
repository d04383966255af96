"""Multiclass least squares: output codes with their decoding, and the joint kernel.

A code is a matrix (classes, bits) of -1, 0 and +1: each bit is a binary problem, -1 and +1 are the
side of a class, and 0 leaves the class out. ``solve_code`` learns all bits, ``decode`` turns their
scores into classes. ``joint_kernel_path`` learns on pairs of input and class instead.

Letters in shapes: ``n`` candidates, ``c`` classes, ``a`` values of alpha. Classes are numbered from
0. ``groups`` are arrays of row numbers that are held out together.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import Any, Literal

import numpy as np

from textrank.features import Indices, Matrix, Vector
from textrank.learners.base import check_gram, check_targets
from textrank.learners.holdout import heldout_one_alpha, scatter_scores
from textrank.learners.rls import remove_intercept, rls_path, solve_rls
from textrank.linalg import inverse
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

    The shortest code of two values. Its rows are not equally far apart, so that a joint kernel on
    it makes some classes more similar than others.

    >>> binary_code(3).tolist()
    [[-1.0, -1.0], [1.0, -1.0], [-1.0, 1.0]]
    """
    bits = max(int(classes - 1).bit_length(), 1)
    digits = (np.arange(classes)[:, None] >> np.arange(bits)) & 1
    return np.asarray(2.0 * digits - 1.0, dtype=np.float64)


def exhaustive_code(classes: int) -> Matrix:
    """Return the code of all ways to split the classes in two: 2^(classes - 1) - 1 bits.

    Raises ValueError for more than 10 classes.

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
    ``zeros`` is the expected share of classes left out of each bit; ``seed`` makes the result
    reproducible. Raises ValueError if no code has both sides in every bit.

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
    losses ``(1 - m f)^2`` of the bits that the class takes part in. Of equally near classes the
    first is returned. Raises ValueError for another ``decoding``.

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
    included in ``A``. Held-out scores of rows of no group are NaN. Raises ValueError unless ``K``
    and ``similarity`` are Gram matrices.
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
    these, ``G`` (m, m) the inverse, ``a`` (m,) the coefficients of labels ``y`` (m,), and
    ``row @ y`` is the intercept. Every row of ``part`` must be in one of the ``groups``.
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
