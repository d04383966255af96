"""Updatable: an RLS model that takes in new documents and forgets old ones without retraining."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from textrank.learners.checks import check_alphas, check_gram, check_targets, groups_of
from textrank.learners.holdout import heldout_at_one, scatter
from textrank.linalg.errors import not_psd
from textrank.linalg.inverse import inverse
from textrank.types import Indices, Matrix, Vector

REFINEMENTS = 2  # steps of iterative refinement, O(n^2) each; the first does nearly all


@dataclass(frozen=True, eq=False)
class Updatable:
    """RLS at one alpha with its inverse ``G = (K + alpha I)^-1``; every change gives a new value.

    Adding or forgetting ``m`` of ``n`` candidates is a block inverse, O(n^2 m), and the result
    equals training anew. So does forgetting: nothing of a forgotten document remains. ``K`` is
    kept to refine the coefficients: where alpha is small, the round-off of block inverses alone
    would show in the scores.

    >>> model = Updatable.of(np.eye(3), np.array([1.0, -1.0, 1.0]), np.array([0, 0, 1]), alpha=1.0)
    >>> model.forget([1]).coef
    array([ 0.5, -0.5])
    """

    K: Matrix  # (n, n)
    G: Matrix  # (n, n)
    y: Vector  # (n,)
    documents: Indices  # (n,)
    alpha: float

    @classmethod
    def of(cls, K: Matrix, y: Vector, documents: Indices, *, alpha: float) -> Updatable:
        """One Cholesky inverse."""
        K = check_gram(K)
        (alpha,) = check_alphas([alpha])
        labels = check_targets(y, len(K))[:, 0]
        groups_of(documents, len(K), name="documents")
        return cls(K, inverse(K, alpha), labels, np.asarray(documents), alpha)

    @property
    def coef(self) -> Vector:
        """The coefficients of the candidates it remembers, in their order."""
        a = self.G @ self.y
        for _ in range(REFINEMENTS):
            a = a + self.G @ (self.y - self.K @ a - self.alpha * a)
        return np.asarray(a)

    @property
    def heldout(self) -> Vector:
        """Each candidate scored without its document.

        This takes a Cholesky inverse of its own: the round-off that block inverses gather is
        refined away from the coefficients, but would stay in the blocks of ``G`` used here.
        """
        groups = groups_of(self.documents, len(self.y), name="documents")
        G, Y = inverse(self.K, self.alpha), self.y[:, None]
        parts = heldout_at_one(G, Y, G @ Y, groups)
        return scatter(parts, np.empty((1, len(Y), 1)))[0, :, 0]

    def add(self, cross: Matrix, own: Matrix, y: Vector, documents: Indices) -> Updatable:
        """With new candidates: kernel values with the old ones (m, n) and among themselves."""
        own = check_gram(own)
        m, n = len(own), len(self.y)
        cross = np.asarray(cross, dtype=np.float64)
        if cross.shape != (m, n):
            raise ValueError(
                f"{m} new candidates and {n} old ones, but kernel values {cross.shape}"
            )
        labels = check_targets(y, m)[:, 0]
        groups_of(documents, m, name="documents")
        X = cross @ self.G  # (m, n)
        S = _complement_inverse(own, X @ cross.T, self.alpha)
        G = np.empty((n + m, n + m))
        G[:n, :n] = self.G + X.T @ S @ X
        G[n:, :n] = -S @ X
        G[:n, n:] = G[n:, :n].T
        G[n:, n:] = S
        both = np.concatenate([self.documents, np.asarray(documents)])
        K = np.block([[self.K, cross.T], [cross, own]])
        return Updatable(K, G, np.concatenate([self.y, labels]), both, self.alpha)

    def forget(self, documents: Any) -> Updatable:
        """Without the candidates of these documents."""
        gone = np.isin(self.documents, documents)
        unknown = np.setdiff1d(documents, self.documents)
        if len(unknown):
            raise ValueError(f"document {unknown[0].item()!r} is not among those of the model")
        if gone.all():
            raise ValueError("nothing would be left to learn from. Keep at least one document.")
        out, rest = np.flatnonzero(gone), np.flatnonzero(~gone)
        between = self.G[np.ix_(rest, out)]
        G = self.G[np.ix_(rest, rest)] - between @ np.linalg.solve(
            self.G[np.ix_(out, out)], between.T
        )
        return replace(
            self,
            K=self.K[np.ix_(rest, rest)],
            G=(G + G.T) / 2,
            y=self.y[rest],
            documents=self.documents[rest],
        )


def _complement_inverse(own: Matrix, explained: Matrix, alpha: float) -> Matrix:
    """``(own - explained + alpha I)^-1``, whose eigenvalues are at most ``1 / alpha``.

    What the old candidates do not explain of the new ones is positive semi-definite; the
    difference of two nearly equal matrices is so but for round-off, which is clipped.
    """
    w, V = np.linalg.eigh(own - (explained + explained.T) / 2)
    limit = 1e-8 * max(float(np.trace(own)), alpha)
    if w[0] < -limit:
        raise not_psd(f"the new candidates add an eigenvalue of {w[0]:.3g}")
    return np.asarray((V / (w.clip(min=0) + alpha)) @ V.T)
