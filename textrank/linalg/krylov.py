"""Conjugate gradient on large sparse features: all alphas from one Krylov space."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
import scipy.linalg as sla
import scipy.sparse as sp

from textrank.types import Matrix, SparseMatrix, Vector

BUDGET = 1 << 27  # numbers of stored basis vectors: one gigabyte


def krylov_path(
    X: SparseMatrix,
    y: Vector,
    alphas: Vector,
    *,
    laplacian: Callable[[Vector], Vector] | None = None,
    tolerance: float = 1e-6,
    most: int = 2000,
) -> Matrix:  # (a, d)
    """``(X'LX + alpha I)^-1 X'L y`` at every alpha, with two sparse products an iteration.

    ``L`` is the identity, or for a ranker the ``laplacian`` of its preferences.
    Conjugate gradient for the smallest alpha makes an orthogonal basis in which ``X'LX`` is
    tridiagonal; every other alpha only shifts that small matrix, and converges sooner. The basis
    is stored, or made a second time where it would not fit.

    Raises an error where the residual is not below ``tolerance`` times that of zero after
    ``most`` iterations.
    """
    T = sp.csr_array(X.T)

    def weighted(u: Vector) -> Vector:
        return u if laplacian is None else laplacian(u)

    def product(q: Vector) -> Vector:
        return np.asarray(T @ weighted(X @ q))

    right = np.asarray(T @ weighted(y))
    return krylov_solutions(product, right, alphas, tolerance=tolerance, most=most)


def krylov_solutions(
    product: Callable[[Vector], Vector],
    right: Vector,
    alphas: Vector,
    *,
    tolerance: float = 1e-6,
    most: int = 2000,
) -> Matrix:  # (a, d)
    """``(A + alpha I)^-1 right`` at every alpha, for a symmetric ``A`` known by its products alone.

    Where ``A`` is held in pieces, ``product`` is a map over them and a sum.
    """
    run = _Iterations(product, right, float(alphas.min()), tolerance, most)
    stored: list[Vector] | None = []
    for direction in run:
        if stored is not None and (len(stored) + 1) * len(right) > BUDGET:
            stored = None
        if stored is not None:
            stored.append(direction)
    steps = _solve_small(run, alphas)  # (iterations, a)
    if stored is not None:
        basis = np.array(stored).reshape(len(stored), len(right))
        return np.asarray(steps.T @ basis)
    W = np.zeros((len(alphas), len(right)))
    again = _Iterations(product, right, run.base, tolerance, most)
    for step, direction in zip(steps, again):  # noqa: B905
        W += np.outer(step, direction)
    return W


class _Iterations:
    """Conjugate gradient for the smallest alpha; gives the normalised residuals one by one."""

    def __init__(
        self,
        product: Callable[[Vector], Vector],
        right: Vector,
        base: float,
        tolerance: float,
        most: int,
    ) -> None:
        self.product, self.right, self.base = product, right, base
        self.tolerance, self.most = tolerance, most
        self.lengths: list[float] = []
        self.ratios: list[float] = []
        self.start = 0.0

    def __iter__(self) -> Iterator[Vector]:
        r = self.right.copy()
        q = r.copy()
        square = float(r @ r)
        self.start = np.sqrt(square)
        stop = self.tolerance**2 * square
        while square > stop:
            if len(self.lengths) == self.most:
                raise ValueError(
                    f"conjugate gradient has not converged after {self.most} iterations: residual "
                    f"{np.sqrt(square) / self.start:.1e} of the first, {self.tolerance:g} wanted. "
                    "Raise the smallest alpha, the tolerance or the number of iterations."
                )
            yield r / np.sqrt(square)
            step = self.product(q) + self.base * q
            length = square / float(q @ step)
            r = r - length * step
            square, old = float(r @ r), square
            self.lengths.append(length)
            self.ratios.append(square / old)
            q *= square / old
            q += r


def _solve_small(run: _Iterations, alphas: Vector) -> Matrix:  # (iterations, a)
    """The coordinates of each solution in the basis: a tridiagonal system an alpha."""
    count = len(run.lengths)
    steps = np.zeros((count, len(alphas)))
    if not count:
        return steps
    lengths, ratios = np.array(run.lengths), np.array(run.ratios)
    diagonal = 1.0 / lengths
    diagonal[1:] += ratios[:-1] / lengths[:-1]
    beside = -np.sqrt(ratios[:-1]) / lengths[:-1]
    right = np.zeros(count)
    right[0] = run.start
    for a, alpha in enumerate(alphas):
        if count == 1:
            steps[:, a] = right / (diagonal + alpha - run.base)
        else:
            steps[:, a] = sla.lapack.dptsv(diagonal + (alpha - run.base), beside, right)[2]
    return steps
