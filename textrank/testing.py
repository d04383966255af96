"""Checks for authors of kernels: ``check_kernel`` tests the contract of ``Kernel``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from textrank.features import Matrix, count_rows, take_rows
from textrank.protocols import Kernel, has_features


def check_kernel(kernel: Kernel[Any], X: Sequence[Any], *, tolerance: float = 1e-8) -> None:
    """Raise AssertionError, naming the first law that a kernel breaks on the inputs ``X``.

    The laws: the Gram matrix is finite, symmetric and positive semidefinite; ``diag`` is its
    diagonal; ``k(X, Y) = k(Y, X)'``; the matrix of some inputs is the block of the matrix of all;
    permuting the inputs permutes the matrix; explicit features give the same matrix, also after
    aligning them to other names; no inputs give an empty matrix. Values are compared with
    ``tolerance`` relative to the largest absolute kernel value, eigenvalues with n times that for n
    inputs. Raises ValueError for fewer than 2 inputs.

    >>> from textrank.kernels.algebra import Linear
    >>> check_kernel(Linear(), np.array([[1.0, 2.0], [0.0, 1.0], [3.0, 1.0]]))
    """
    n = count_rows(X)
    if n < 2:
        raise ValueError(f"check_kernel needs at least 2 inputs to compare, got {n}")
    K = np.asarray(kernel(X), dtype=np.float64)
    _check(K.shape == (n, n), f"k(X) of {n} inputs has shape {K.shape}")
    _check(bool(np.isfinite(K).all()), "k(X) holds infinite values or NaN")
    close = _Close(float(np.abs(K).max(initial=0.0)) or 1.0, tolerance)

    close(K, K.T, "k(X) is not symmetric")
    lowest = float(np.linalg.eigvalsh((K + K.T) / 2).min())
    _check(
        lowest >= -tolerance * close.scale * n,
        f"k(X) is not positive semidefinite: its lowest eigenvalue is {lowest:.3g}",
    )
    close(kernel.diag(X), np.diag(K), "diag(X) is not the diagonal of k(X)")
    _check_parts(kernel, X, K, close)
    _check_empty(kernel, X)
    if has_features(kernel):
        _check_features(kernel, X, K, close)


class _Close:
    """Assertion that arrays are equal up to ``tolerance * scale``.

    ``scale`` is the largest absolute kernel value, or 1 if all are 0.
    """

    def __init__(self, scale: float, tolerance: float) -> None:
        """Store the size of the compared values and the tolerated share of it."""
        self.scale = scale
        self.tolerance = tolerance

    def __call__(self, left: Any, right: Any, broken: str) -> None:
        """Raise AssertionError, beginning with ``broken``, if shapes or values differ.

        NaN is not equal to anything, nor is an infinity, even to itself. ``scale`` is the stored
        one, not computed from the arrays.
        """
        left, right = np.asarray(left, dtype=float), np.asarray(right, dtype=float)
        _check(left.shape == right.shape, f"{broken}: shapes {left.shape} and {right.shape}")
        worst = float(np.abs(left - right).max(initial=0.0))
        _check(worst <= self.tolerance * self.scale, f"{broken}: off by {worst:.3g}")


def _check(law: bool, broken: str) -> None:
    """Raise AssertionError with the message ``broken`` unless ``law``."""
    if not law:
        raise AssertionError(broken)


def _check_parts(kernel: Kernel[Any], X: Sequence[Any], K: Matrix, close: _Close) -> None:
    """Check blocks, a single input and a permutation of ``X`` against its Gram matrix ``K``.

    ``K`` is ``kernel(X)``, (n, n). ``close`` raises AssertionError at the first law that is broken.
    """
    n = count_rows(X)
    half = n // 2
    first, rest = take_rows(X, np.arange(half)), take_rows(X, np.arange(half, n))
    close(kernel(first, rest), K[:half, half:], "k(X, Y) is not the block of k(X and Y)")
    close(kernel(rest, first), K[half:, :half], "k(X, Y) is not k(Y, X)'")
    close(kernel(first), K[:half, :half], "k of some inputs is not the block of k of all")
    close(kernel(take_rows(X, np.arange(1))), K[:1, :1], "k of a single input differs")
    order = np.random.default_rng(0).permutation(n)
    close(kernel(take_rows(X, order)), K[np.ix_(order, order)], "permuting inputs changes values")


def _check_empty(kernel: Kernel[Any], X: Sequence[Any]) -> None:
    """Raise AssertionError if the kernel with no inputs on one or both sides has a wrong shape.

    The shapes are (0, 0), (0, n), (n, 0), and (0,) of ``diag``, for n inputs X.
    """
    empty = take_rows(X, np.arange(0))
    for shape, K in (
        ((0, 0), kernel(empty)),
        ((0, count_rows(X)), kernel(empty, X)),
        ((count_rows(X), 0), kernel(X, empty)),
        ((0,), kernel.diag(empty)),
    ):
        _check(np.shape(K) == shape, f"without inputs the shape is {np.shape(K)}, not {shape}")


def _check_features(kernel: Any, X: Sequence[Any], K: Matrix, close: _Close) -> None:
    """Check explicit features against ``K = kernel(X)``.

    Their number of rows and products must fit, and features of all of ``X``, aligned to the names
    of its first half, must give ``K[:, :half]``.
    ``close`` raises AssertionError if their products differ from ``K``. The kernel must have
    features.
    """
    F = kernel.features(X)
    _check(len(F) == count_rows(X), f"{len(F)} rows of features for {count_rows(X)} inputs")
    values = F.values.toarray()
    close(values @ values.T, K, "features(X) features(X)' is not k(X)")
    half = count_rows(X) // 2
    first_half, all_features = kernel.features(take_rows(X, np.arange(half))), kernel.features(X)
    aligned = all_features.align_to(first_half.names).toarray()
    close(
        aligned @ first_half.values.toarray().T, K[:, :half], "features onto known names lose value"
    )
