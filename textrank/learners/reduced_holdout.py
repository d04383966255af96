"""Hold-out for a reduced set: the held-out candidates leave, and so do their basis vectors."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from textrank.types import Indices, Matrix, Vector


@dataclass(frozen=True, eq=False)
class Primal:
    """Ridge regression on ``trained`` with the products diagonal: ``trained' trained = d``."""

    d: Vector  # (r,)
    F: Matrix  # (n, r) rows that score
    trained: Matrix  # (n, r) rows that train: F, or its differences within queries
    target: Matrix  # (n, p)
    P: Matrix  # (b, r) the coordinates that a basis vector's absence sets to zero
    null: Matrix  # (b, b - r)
    V: Matrix  # (r, r) back to the coordinates before rotation

    def solutions(self, alphas: Vector) -> Matrix:  # (a, r, p)
        """The minimisers at every alpha, in the coordinates before rotation."""
        g = 1.0 / (self.d + alphas[:, None])
        t = g[:, :, None] * (self.trained.T @ self.target)
        return np.asarray(np.einsum("rs,asp->arp", self.V, t, optimize=True))


def heldout_without_basis(
    problem: Primal, owners: Sequence[Indices], alphas: Vector, groups: Sequence[Indices]
) -> Matrix:  # (a, n, p)
    """Scores at every alpha, each candidate without its group and without its basis vectors.

    In the coordinates where ``F'F = diag(d)`` and with ``g = 1 / (d + alpha)``, the model
    without the rows ``U`` is ``t = S c`` with ``c = F'y - F_U'y_U`` and, by Woodbury,
    ``S = g + g F_U' (I - F_U g F_U')^-1 F_U g``. Functions without the basis vectors ``H`` are
    those with ``E t = 0``, ``E`` the rows ``P_H``, so ``t`` loses ``S E' (E S E')^-1 E t``. Where
    other basis vectors span the same functions, fewer conditions are left.
    """
    g = 1.0 / (problem.d[:, None] + alphas)  # (r, a)
    Z = problem.trained.T @ problem.target  # (r, p)
    heldout = np.full((len(alphas), *problem.target.shape), np.nan)
    lost = [_conditions(problem, owner) for owner in owners]
    sizes = np.array([(len(group), len(E)) for group, E in zip(groups, lost, strict=True)])
    for h, e in np.unique(sizes, axis=0):
        if h == 0:
            continue
        which = np.flatnonzero((sizes == (h, e)).all(axis=1))
        step = max(1, (1 << 21) // int((h + e) * len(problem.d)))
        for start in range(0, len(which), step):
            members = which[start : start + step].tolist()
            index = np.stack([groups[k] for k in members])
            E = np.stack([lost[k] for k in members])
            scores = _scores(problem, g, Z, index, E)
            heldout[:, index] = scores.transpose(1, 0, 2, 3)
    return heldout


def _scores(problem: Primal, g: Matrix, Z: Matrix, index: Indices, E: Matrix) -> Matrix:
    """(b, h) groups, (b, e, r) conditions -> (b, a, h, p)."""
    T, F, y = problem.trained[index], problem.F[index], problem.target[index]
    h, e, p = T.shape[1], E.shape[1], y.shape[2]
    same = problem.F is problem.trained
    c = Z - T.transpose(0, 2, 1) @ y  # (b, r, p)
    left = T if same else np.concatenate([T, F], axis=1)
    left = np.concatenate([left, E], axis=1)
    right = np.concatenate([T.transpose(0, 2, 1), E.transpose(0, 2, 1), c], axis=2)
    # every product at every alpha: rows (T, F, E) times g times columns (T, E, c)
    X = np.stack([(left * one) @ right for one in g.T], axis=1)

    W = np.linalg.solve(np.eye(h) - X[:, :, :h, :h], X[:, :, :h, h:])  # (I - TgT')^-1 Tg(E', c)
    below = X[:, :, h:, h:] + X[:, :, h:, :h] @ W  # (F, E) S (E', c)
    scored, bound = (W, below) if same else (below[:, :, :h], below[:, :, h:])
    # F S = (I - F g F')^-1 F g where the rows that score are those that train
    if not e:
        return np.asarray(scored[..., e:])
    z = np.linalg.solve(bound[..., :e], bound[..., e : e + p])
    return np.asarray(scored[..., e:] - scored[..., :e] @ z)


def _conditions(problem: Primal, owner: Indices) -> Matrix:  # (e, r)
    """Rows that the functions without these basis vectors are orthogonal to."""
    E = problem.P[owner]
    if not len(owner) or not problem.null.shape[1]:
        return E
    # a null vector with weight on the removed ones says that the kept ones stand in for them
    U, s, _ = np.linalg.svd(problem.null[owner], full_matrices=True)
    rank = int((s > 1e-8).sum())
    return np.asarray(U[:, rank:].T @ E)
