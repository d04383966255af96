"""SparseRLS: RLS and RankRLS by conjugate gradients, for large sparse data."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import scipy.sparse as sp

from textrank.candidates import Targets
from textrank.features import Features, Indices, Matrix, SparseMatrix, Vector
from textrank.learners.base import (
    Fit,
    NestedScores,
    RegularizationPath,
    SelectionMetric,
    check_alphas,
    check_features,
    check_metric,
    check_targets,
    check_unweighted,
    choose_alpha,
)
from textrank.learners.holdout import heldout_by_folds, nested_by_retraining
from textrank.learners.rankrls import QueryCentring
from textrank.linalg import solve_krylov_path


@dataclass(frozen=True)
class SparseRLS:
    """RLS, or RankRLS with all pairs of a query, by conjugate gradients on sparse features.

    ``rank`` is ``none`` for RLS, ``query`` or ``global`` for RankRLS (cost ``magnitude``). For data
    too large for a Gram matrix: time and memory grow with the number of non-zeros and of
    iterations, and a whole path of alphas costs little more than its smallest. Held-out scores come
    from ``folds`` trainings, groups kept whole.

    >>> from textrank.features import FeatureNames
    >>> X = Features(sp.csr_array(np.eye(4)), FeatureNames.from_iterable("abcd"))
    >>> targets = Targets(np.array([1.0, -1.0, 1.0, -1.0]), np.arange(4), np.arange(4))
    >>> SparseRLS(alphas=[1.0], folds=2).fit(X, targets).coef
    array([ 0.5, -0.5,  0.5, -0.5])
    """

    alphas: Sequence[float] = (0.25, 0.5, 1.0, 2.0, 4.0)
    select: SelectionMetric = "auc"
    rank: Literal["none", "query", "global"] = "none"
    folds: int = 5
    tolerance: float = 1e-6
    iterations: int = 2000

    def __post_init__(self) -> None:
        object.__setattr__(self, "alphas", check_alphas(self.alphas))
        check_metric(self.select)
        if self.rank not in ("none", "query", "global"):
            raise ValueError(f"rank must be none, query or global, got {self.rank!r}")
        if self.folds < 2 or self.iterations < 1 or not 0 < self.tolerance < 1:
            raise ValueError(
                "folds must be at least 2, iterations at least 1 and tolerance between 0 and 1, "
                f"got {self.folds}, {self.iterations} and {self.tolerance}"
            )

    def fit(self, data: Matrix | Features, targets: Targets) -> Fit:
        """Train on features and choose alpha by held-out folds of groups.

        Raises ValueError for a Gram matrix, for sample weights, if all candidates are in one group,
        and if conjugate gradients do not converge.
        """
        path = self.path(data, targets)
        return path.select(choose_alpha(path.heldout, targets, self.select, path.alphas))

    def path(self, data: Matrix | Features, targets: Targets) -> RegularizationPath:
        """Return feature weights (alphas, d) and held-out scores (alphas, n) at every alpha.

        Raises ValueError as ``fit`` does.
        """
        check_unweighted(targets, "sparse_rls.v1")
        X = _check_sparse(data)
        y = check_targets(targets.y, X.shape[0])[:, 0]
        heldout = heldout_by_folds(self.coefs, X, y, targets, self.folds)
        return RegularizationPath(tuple(self.alphas), self.coefs(X, y, targets.queries), heldout)

    def nested(
        self, data: Matrix | Features, targets: Targets, partitions: Sequence[Indices]
    ) -> list[NestedScores]:
        """Return test scores and inner held-out scores of every partition into folds, in order.

        A partition is the fold number of each candidate (n,); ValueError if a group is in two
        folds.
        """
        return nested_by_retraining(self, data, targets, partitions)

    def coefs(self, X: SparseMatrix, y: Vector, queries: Indices) -> Matrix:  # (a, d)
        """Return feature weights (a, d) at every alpha, nothing held out.

        ``X`` is (n, d), ``y`` (n,) labels; ``queries`` (n,) is used only if ``rank`` is ``query``.
        Raises ValueError if ``iterations`` are not enough for ``tolerance``.
        """
        return solve_krylov_path(
            X,
            y,
            np.array(self.alphas),
            laplacian=self._laplacian(queries),
            tolerance=self.tolerance,
            max_iterations=self.iterations,
        )

    def _laplacian(self, queries: Indices) -> Callable[[Vector], Vector] | None:
        """Return a function ``u -> L u`` of a vector (n,) for the preferences of ``rank``.

        ``L`` is the Laplacian of all pairs of a query, or of all candidates; None for plain RLS.
        """
        if self.rank == "none":
            return None
        if self.rank == "global":
            return lambda u: (u - u.mean()) * len(u)
        return QueryCentring(np.unique(queries, return_inverse=True)[1]).laplacian()


def _check_sparse(data: Any) -> SparseMatrix:
    """Return checked features in CSR form; raise ValueError for a Gram matrix."""
    if not isinstance(data, Features):
        raise ValueError(
            "conjugate gradients work on features, not on a Gram matrix. Use a kernel with "
            "features, or the learner rls.v1."
        )
    return sp.csr_array(check_features(data))
