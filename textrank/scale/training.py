"""Sparse RLS and RankRLS over features held in partitions: each product is a map and a sum.

Rows of whole documents lie together in a partition, on the worker of a cluster or here. The driver
holds vectors only: one number a feature, one a candidate.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

import numpy as np
import scipy.sparse as sp

from textrank.docs import Targets
from textrank.learners.cg import SparseRLS
from textrank.learners.fit import Fit, Path
from textrank.learners.preferences import Centring
from textrank.learners.selection import choose
from textrank.linalg.krylov import krylov_solutions
from textrank.types import Indices, Matrix, SparseMatrix, Vector

T = TypeVar("T")
NOBODY = -1  # the fold that is left out when none is


@dataclass(frozen=True, eq=False)
class Partition:
    """Some candidates: their features, answers, and where they belong among all."""

    X: SparseMatrix  # (m, d)
    y: Vector  # (m,)
    rows: Indices  # (m,) numbers of the candidates among all
    documents: Indices  # (m,) numbers of documents among all, 0 ..
    queries: Indices  # (m,)


class Partitions(Protocol):
    """Partitions wherever they are, and a way to ask all of them the same."""

    def map(self, ask: Callable[..., T], *values: Any) -> list[T]:
        """``ask(partition, *values)`` of each, in order."""


@dataclass(frozen=True, eq=False)
class Here:
    """Partitions of this process."""

    partitions: Sequence[Partition]

    def map(self, ask: Callable[..., T], *values: Any) -> list[T]:
        """One after the other."""
        return [ask(partition, *values) for partition in self.partitions]


@dataclass(frozen=True, eq=False)
class OnDask:
    """Partitions on the workers of a Dask cluster; they stay there."""

    client: Any
    futures: Sequence[Any]

    @classmethod
    def sent(cls, client: Any, partitions: Sequence[Partition]) -> OnDask:
        """Sends partitions to the workers, one after another."""
        return cls(client, [client.scatter(partition, hash=False) for partition in partitions])

    @classmethod
    def made(cls, client: Any, make: Callable[[Any], Partition], keys: Sequence[Any]) -> OnDask:
        """Has each partition made by a worker, say from a file, so that none ever travels."""
        return cls(client, client.map(make, list(keys), pure=False))

    def map(self, ask: Callable[..., T], *values: Any) -> list[T]:
        """All at once, each where its partition lies."""
        sent = self.client.scatter(list(values), broadcast=True, hash=False) if values else []
        asked = [self.client.submit(ask, future, *sent, pure=False) for future in self.futures]
        return list(self.client.gather(asked))


def dealt(X: SparseMatrix, targets: Targets, count: int) -> list[Partition]:
    """The candidates in partitions of about the same number of non-zeros, documents whole."""
    documents = np.unique(targets.documents, return_inverse=True)[1]
    matrix = sp.csr_array(X)
    weight = np.bincount(documents, np.diff(matrix.indptr) + 1.0)
    before = np.cumsum(weight) - weight
    part = np.minimum((before / weight.sum() * count).astype(np.intp), count - 1)[documents]
    found = [np.flatnonzero(part == p) for p in np.unique(part)]
    return [
        Partition(matrix[rows], targets.y[rows], rows, documents[rows], targets.queries[rows])
        for rows in found
    ]


@dataclass(frozen=True)
class InPartitions:
    """``SparseRLS`` over partitions: the same fit, with as many products as on one machine.

    One pass over all partitions an iteration, whatever ``rank`` is: the preferences of a query lie
    inside a partition, and those between all candidates only need the sums of the columns.

    >>> X = sp.csr_array(np.eye(4))
    >>> targets = Targets(np.array([1.0, -1.0, 1.0, -1.0]), np.arange(4), np.arange(4))
    >>> learner = InPartitions(SparseRLS(alphas=[1.0], folds=2))
    >>> learner.fit(Here(dealt(X, targets, 3))).coef
    array([ 0.5, -0.5,  0.5, -0.5])
    """

    learner: SparseRLS

    def fit(self, partitions: Partitions) -> Fit:
        """Learns, and chooses alpha by held-out folds of documents, as on one machine."""
        targets = _targets(partitions)
        path = self.path(partitions)
        return path.chosen(choose(path.heldout, targets, self.learner.select, path.alphas))

    def path(self, partitions: Partitions) -> Path:
        """Coefficients and held-out scores at every alpha."""
        last = max(partitions.map(_last_document))
        if last == 0:
            raise ValueError("all candidates are of one document: nothing can be held out")
        folds = min(self.learner.folds, last + 1)
        parts: list[tuple[Indices, Matrix]] = []
        for fold in range(folds):
            W = self.coefs(partitions, folds, fold)
            parts += partitions.map(_predict, W, folds, fold)
        heldout = np.empty((len(self.learner.alphas), sum(len(rows) for rows, _ in parts)))
        for rows, scores in parts:
            heldout[:, rows] = scores
        return Path(tuple(self.learner.alphas), self.coefs(partitions), heldout)

    def coefs(self, partitions: Partitions, folds: int = 1, out: int = NOBODY) -> Matrix:  # (a, d)
        """Weights at every alpha, from all candidates but those of one fold."""
        rank = self.learner.rank
        centred = _Centred.of(partitions, folds, out) if rank == "global" else None

        def product(q: Vector) -> Vector:
            total = _sum(partitions.map(_normal, q, rank, folds, out))
            return total if centred is None else centred(total, float(centred.columns @ q))

        right = _sum(partitions.map(_right, rank, folds, out))
        if centred is not None:
            right = centred(right, centred.answers)
        return krylov_solutions(
            product,
            right,
            np.array(self.learner.alphas),
            tolerance=self.learner.tolerance,
            most=self.learner.iterations,
        )


@dataclass(frozen=True, eq=False)
class _Centred:
    """``X'L u`` for all pairs of candidates, ``L = n I - 11'``, from sums over partitions."""

    count: float
    columns: Vector  # (d,) sums of the columns of X
    answers: float  # their sum

    @classmethod
    def of(cls, partitions: Partitions, folds: int, out: int) -> _Centred:
        parts = partitions.map(_sums, folds, out)
        count, answers = sum(part[0] for part in parts), sum(part[2] for part in parts)
        return cls(count, _sum([part[1] for part in parts]), answers)

    def __call__(self, total: Vector, sum_: float) -> Vector:
        """``n X'u - X'1 (1'u)``, given ``X'u`` and ``1'u``."""
        return self.count * total - self.columns * sum_


def _kept(partition: Partition, folds: int, out: int) -> Vector:
    return (partition.documents % folds != out).astype(np.float64)


def _weighted(partition: Partition, u: Vector, rank: str) -> Vector:
    if rank != "query":
        return u
    return Centring(np.unique(partition.queries, return_inverse=True)[1]).laplacian()(u)


def _normal(partition: Partition, q: Vector, rank: str, folds: int, out: int) -> Vector:
    u = _weighted(partition, partition.X @ q, rank) * _kept(partition, folds, out)
    return np.asarray(partition.X.T @ u)


def _right(partition: Partition, rank: str, folds: int, out: int) -> Vector:
    u = _weighted(partition, partition.y, rank) * _kept(partition, folds, out)
    return np.asarray(partition.X.T @ u)


def _sums(partition: Partition, folds: int, out: int) -> tuple[float, Vector, float]:
    kept = _kept(partition, folds, out)
    return float(kept.sum()), np.asarray(partition.X.T @ kept), float(partition.y @ kept)


def _predict(partition: Partition, W: Matrix, folds: int, out: int) -> tuple[Indices, Matrix]:
    own = np.flatnonzero(partition.documents % folds == out)
    return partition.rows[own], np.asarray((partition.X[own] @ W.T).T)


def _last_document(partition: Partition) -> int:
    return int(partition.documents.max())


def _answers(partition: Partition) -> tuple[Indices, Vector, Indices, Indices]:
    return partition.rows, partition.y, partition.documents, partition.queries


def _targets(partitions: Partitions) -> Targets:
    rows, y, documents, queries = (
        np.concatenate(part) for part in zip(*partitions.map(_answers), strict=True)
    )
    order = np.argsort(rows)
    return Targets(y[order], documents[order], queries[order])


def _sum(parts: Sequence[Vector]) -> Vector:
    total = parts[0].copy()
    for part in parts[1:]:
        total += part
    return total
