"""Inputs of learners, checked once at the entrance: shapes, NaN, symmetry, alphas, groups."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp

from textrank.linalg.errors import not_psd
from textrank.types import Features, Indices, Matrix, SparseMatrix, Vector

LARGEST = 1e100  # of features and answers, whose squares are summed


def check_alphas(alphas: Sequence[float]) -> tuple[float, ...]:
    """The alphas as a tuple of floats; all must be positive and finite."""
    try:
        values = tuple(float(alpha) for alpha in alphas)
    except (TypeError, ValueError):
        raise ValueError(
            f"alphas must be a sequence of positive numbers, as in [0.1, 1], got {alphas!r}"
        ) from None
    if not values:
        raise ValueError("alphas is empty. Give at least one regularisation value, as in [0.1, 1].")
    wrong = [alpha for alpha in values if not (np.isfinite(alpha) and alpha > 0)]
    if wrong:
        raise ValueError(f"alphas must be positive and finite, got {wrong[0]} in {values}")
    if len(set(values)) < len(values):
        raise ValueError(f"alphas must differ from one another, got {values}")
    return values


def check_gram(K: Any) -> Matrix:
    """A square, finite, symmetric matrix in double precision whose 2 x 2 minors are not negative.

    The minors are a cheap necessary condition; the decompositions see the rest.
    """
    K = np.asarray(K, dtype=np.float64)
    if K.ndim != 2 or K.shape[0] != K.shape[1] or not K.size:
        raise ValueError(f"a Gram matrix is square and not empty, got shape {K.shape}")
    total = K.sum()  # one pass finds NaN and infinity without a temporary array
    if not np.isfinite(total) and not np.isfinite(K).all():
        row, column = np.argwhere(~np.isfinite(K))[0]
        raise ValueError(f"Gram matrix has {K[row, column]} at ({row}, {column})")
    if float(K.diagonal().max()) > LARGEST**2:
        raise ValueError(
            f"the Gram matrix reaches {K.diagonal().max():.3g}, more than {LARGEST**2:g}: sums of "
            "its entries would overflow. Divide the features, or the kernel, by a constant."
        )
    _check_symmetric(K)
    return K


def check_features(F: Any) -> SparseMatrix | Matrix:
    """A finite (n, d) matrix in double precision, sparse or dense as it came."""
    if isinstance(F, Features):
        F = F.values
    if sp.issparse(F):
        F = sp.csr_array(F, dtype=np.float64)
        stored = F.data
    else:
        F = stored = np.asarray(F, dtype=np.float64)
    if F.ndim != 2 or 0 in F.shape:
        raise ValueError(f"features are a matrix with rows and columns, got shape {F.shape}")
    if not np.isfinite(stored).all():
        raise ValueError(
            f"features hold {np.count_nonzero(~np.isfinite(stored))} values that are NaN or "
            "infinite. Replace or remove them before learning."
        )
    check_magnitude(stored, "features")
    return F


def check_targets(y: Any, n: int) -> Matrix:
    """The answers as (n, p) in double precision."""
    Y = np.asarray(y, dtype=np.float64)
    Y = Y[:, None] if Y.ndim == 1 else Y
    if Y.ndim != 2 or len(Y) != n:
        raise ValueError(f"{n} rows of data but answers of shape {np.shape(y)}: one answer a row")
    if not np.isfinite(Y).all():
        row = int(np.argwhere(~np.isfinite(Y))[0, 0])
        raise ValueError(
            f"answer {row} is {Y[row].squeeze()}. Every answer must be a finite number."
        )
    check_magnitude(Y, "answers")
    return Y


def check_magnitude(values: Any, what: str) -> None:
    """Raise ValueError where ``values`` are so large that sums of their squares overflow."""
    most = max(float(values.max()), -float(values.min())) if values.size else 0.0
    if most > LARGEST:
        raise ValueError(
            f"{what} reach {most:.3g}, more than {LARGEST:g}: their squares would overflow. "
            "Divide them by a constant, for example with StandardScaler or MaxAbsScaler."
        )


def check_weights(weights: Any, n: int) -> Vector | None:
    """Positive sample weights, (n,), or None for equal ones."""
    if weights is None:
        return None
    values = np.asarray(weights, dtype=np.float64)
    if values.shape != (n,):
        raise ValueError(f"{n} rows of data but weights of shape {values.shape}")
    if not (np.isfinite(values).all() and (values > 0).all()):
        row = int(np.flatnonzero(~(np.isfinite(values) & (values > 0)))[0])
        raise ValueError(
            f"weights must be positive and finite, got {values[row]} at {row}. "
            "Leave a row out instead of giving it no weight."
        )
    return values


def groups_of(labels: Any, n: int, *, name: str = "groups") -> list[Indices]:
    """The rows of each group, ordered; ``labels[i]`` is the group of row ``i``."""
    labels = np.asarray(labels)
    if labels.shape != (n,):
        raise ValueError(f"{n} rows of data but {name} of shape {labels.shape}: one a row")
    numbers = np.unique(labels, return_inverse=True)[1]
    order = np.argsort(numbers, kind="stable")
    return np.split(order, np.flatnonzero(np.diff(numbers[order])) + 1)


def check_groups(groups: Sequence[Indices], n: int) -> None:
    """Refuses groups that are no lists of different rows; they may overlap one another."""
    for number, group in enumerate(groups):
        rows = np.asarray(group)
        if rows.ndim != 1 or not np.issubdtype(rows.dtype, np.integer):
            raise ValueError(f"group {number} must be a list of row numbers, got {group!r}")
        if rows.size and (rows.min() < 0 or rows.max() >= n):
            raise ValueError(f"group {number} has row {rows.max()}, beyond the last one, {n - 1}")
        if len(np.unique(rows)) < len(rows):
            raise ValueError(f"group {number} holds a row twice: {rows.tolist()}")


def check_partition(folds: Any, documents: Indices) -> Indices:
    """The fold of each row, 0 .., made sure that no document lies in two folds."""
    folds = np.asarray(folds)
    n = len(documents)
    if folds.shape != (n,) or not np.issubdtype(folds.dtype, np.integer):
        raise ValueError(
            f"a partition gives the number of a fold for each of the {n} candidates, "
            f"got shape {folds.shape} of {folds.dtype}"
        )
    if n and folds.min() < 0:
        raise ValueError(f"folds are numbered from 0, got {folds.min()}")
    if len(np.unique(folds)) < 2:
        raise ValueError("a partition needs at least two folds that are not empty")
    first = np.unique(documents, return_index=True)[1]
    home = folds[first][np.unique(documents, return_inverse=True)[1]]
    if (home != folds).any():
        row = int(np.flatnonzero(home != folds)[0])
        raise ValueError(
            f"document {documents[row]} lies in folds {home[row]} and {folds[row]} (candidate "
            f"{row}). Candidates of one document are dependent: divide by document."
        )
    return folds.astype(np.intp)


def _check_symmetric(K: Matrix, block: int = 128) -> None:
    diagonal = K.diagonal()
    if diagonal.min() < 0:
        row = int(diagonal.argmin())
        raise not_psd(f"diagonal entry {row} is {diagonal[row]:.3g}")
    size = float(diagonal.max())
    limit = 1e-8 * (size if size > 0 else 1.0)
    for start in range(0, len(K), block):  # by strips: no second n x n array
        strip = K[start : start + block, start:]
        _check_strip(strip, K[start:, start : start + block].T, diagonal[start:], start, limit)


def _check_strip(strip: Matrix, mirror: Matrix, diagonal: Vector, start: int, limit: float) -> None:
    gap = np.abs(strip - mirror)
    if gap.max() > limit:
        row, column = np.unravel_index(int(gap.argmax()), gap.shape)
        raise ValueError(
            f"the Gram matrix is not symmetric: ({start + row}, {start + column}) is "
            f"{strip[row, column]:.6g} but its mirror image {mirror[row, column]:.6g}"
        )
    root = np.sqrt(diagonal)
    bound = np.outer(root[: len(strip)], root)
    np.subtract(np.abs(strip, out=gap), bound, out=gap)
    if gap.max() > limit:
        row, column = np.unravel_index(int(gap.argmax()), gap.shape)
        raise not_psd(
            f"entry ({start + row}, {start + column}) is {strip[row, column]:.3g}, "
            f"beyond the root of its two diagonal entries, {bound[row, column]:.3g}"
        )
