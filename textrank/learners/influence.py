"""Influence of training documents: how each score would change if a document were absent.

``GroupChanges`` holds, for each training document, the exact change of all coefficients of a model
if the document had not been there (alpha unchanged). The change of a score is then one product.
``rls_changes`` computes it for RLS from one decomposition, ``RankRLS.group_changes`` for rankings
and ``reduced.reduced_changes`` for RLS on a reduced basis, all without retraining.

With ``G = (K + alpha V^-1)^-1`` (``V`` the weights of the candidates) and ``a = G y``, the model
without the candidates ``U`` has the coefficients ``a - G_:U G_UU^-1 a_U``, which are zero on ``U``.

Letters in shapes: ``n`` training candidates, ``d`` features, ``g`` documents, ``m`` new candidates,
``b`` candidates of a basis, ``h`` heads.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol, runtime_checkable

import numpy as np
import scipy.sparse as sp

from textrank.candidates import Targets
from textrank.features import Features, Indices, KernelData, Matrix, SparseMatrix, Vector
from textrank.learners.base import check_data, check_targets, rows_by_group
from textrank.learners.holdout import solve_regular
from textrank.linalg import gram, inverse

MAX_VALUES = 1 << 24  # numbers that changes may take at most: 128 MB


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
    data
        Gram matrix or features that the model was trained on.
    alpha
        Regularisation of the model.
    names
        (n,) the document of each candidate. A group of several documents is named after all of
        them, joined by " + ".

    Returns
    -------
    changes : GroupChanges or None
        None if the learner offers none, if there is a choice of kernels, or if the changes of
        candidates would take more than ``MAX_VALUES`` numbers.

    Raises
    ------
    ValueError
        As the learner's ``group_changes`` does.
    """
    groups = rows_by_group(targets.groups, len(targets), name="documents")
    if not isinstance(learner, InfluenceLearner) or not isinstance(data, np.ndarray | Features):
        return None
    heads = 1 if targets.heads is None else targets.heads.shape[1]
    if len(groups) * len(targets) * heads > MAX_VALUES:
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
    ascending order. Weights None are 1 for all. Costs one inverse of an (n, n) matrix and one
    product. Raises ValueError if a Gram matrix is not positive semidefinite.
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
