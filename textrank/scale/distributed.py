"""Slices on the workers of a Dask cluster, each with a watched process that has the model."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from queue import SimpleQueue
from typing import Any, Protocol, TypeVar

import numpy as np
import scipy.sparse as sp
from spacy.language import Language

from textrank.candidates import Targets, labels_of
from textrank.config import config_of, load_corpus, load_model
from textrank.evaluation.report import Counts, Fold
from textrank.evaluation.report import Report as EvaluationReport
from textrank.evaluation.statistics import bootstrap_intervals
from textrank.features import Indices, Matrix, SparseMatrix, Vector
from textrank.language import load_nlp
from textrank.learners.base import Fit, RegularizationPath, choose_alpha
from textrank.learners.rankrls import QueryCentring
from textrank.learners.sparse import SparseRLS
from textrank.linalg import solve_krylov
from textrank.metrics import auc, decide, precision_recall_f
from textrank.model import Model
from textrank.scale.supervisor import Outcome, Report, WorkerSupervisor
from textrank.tasks.base import no_candidates_error

PLUGIN_NAME = "textrank"
CONNECTION_LOST = (
    "the connection to the Dask scheduler was lost. Finished parts are kept: start again."
)
try:
    from distributed import Client, LocalCluster, WorkerPlugin, get_worker
except ModuleNotFoundError as error:
    raise ModuleNotFoundError(
        "--dask and several --workers need Dask. Install it with: pip install "
        "'textrank-kernels[scale]'"
    ) from error


class ModelPlugin(WorkerPlugin):
    """Keeps a process with the model on each worker, started once, ended with the worker."""

    def __init__(self, job: Mapping[str, Any], still: float, start_timeout: float) -> None:
        self.job, self.still, self.start_timeout = dict(job), still, start_timeout
        self.keeper: WorkerSupervisor | None = None

    def setup(self, worker: Any) -> None:
        """Called by Dask when a worker begins."""
        self.keeper = WorkerSupervisor(self.job, self.still, start_timeout=self.start_timeout)

    def teardown(self, worker: Any) -> None:
        """Called by Dask when a worker ends."""
        if self.keeper is not None:
            self.keeper.close()


def run_slice(slice: Mapping[str, Any], paths: Mapping[int, str]) -> dict[str, Any]:
    """A task: only a few names and numbers travel; the part is written where the worker is."""
    plugin: Any = get_worker().plugins[PLUGIN_NAME]
    return plugin.keeper.run(slice, paths).to_dict()


@dataclass
class DaskPool:
    """A Dask cluster as a place where slices are worked on."""

    client: Any
    local: Any = None  # the cluster of this machine that we started, if any
    reports: SimpleQueue[Report] = field(default_factory=SimpleQueue)
    _futures: dict[str, Any] = field(default_factory=dict)

    @classmethod
    def connected(
        cls,
        job: Mapping[str, Any],
        workers: int,
        address: str | None,
        still: float,
        start_timeout: float,
    ) -> DaskPool:
        """The cluster at an address, or a new one of this machine; a model on each worker."""
        local = None
        if address is None:
            local = LocalCluster(  # type: ignore[no-untyped-call]
                n_workers=workers,
                threads_per_worker=1,
                processes=True,
                dashboard_address=None,
                memory_limit=0,
                silence_logs=logging.CRITICAL,
            )
        try:
            client = Client(local or address, timeout=30)  # type: ignore[no-untyped-call]
        except OSError as error:
            raise ValueError(f"no Dask scheduler answers at {address}: {error}.") from error
        client.register_plugin(ModelPlugin(job, still, start_timeout), name=PLUGIN_NAME)
        return cls(client, local)

    def capacity(self) -> int:
        """One slice a thread of the cluster, and one each that waits; it may grow and shrink."""
        self.check()
        return max(2 * sum(self.client.nthreads().values()), 2)

    def submit(self, id: str, slice: Mapping[str, Any], paths: Mapping[int, str]) -> None:
        """Has a slice worked on wherever there is room."""
        future = self.client.submit(run_slice, slice, dict(paths), key=f"part-{id}", pure=False)
        self._futures[id] = future
        future.add_done_callback(lambda done: self._settle(id, done))

    def _settle(self, id: str, future: Any) -> None:
        self._futures.pop(id, None)
        if future.status == "finished":
            outcome = Outcome.from_dict(future.result())
        elif future.status == "error":
            outcome = Outcome(died=f"the worker was lost ({type(future.exception()).__name__})")
        else:
            outcome = Outcome(refused=CONNECTION_LOST)
        self.reports.put((id, outcome))

    def check(self) -> None:
        """Raises where the scheduler is gone; finished parts are on the disk already."""
        if self.client.status != "running":
            raise ValueError(CONNECTION_LOST)

    def close(self) -> None:
        """Lets go of the cluster, and ends the one we started."""
        self._futures.clear()
        self.client.close()
        if self.local is not None:
            self.local.close()


BATCH_DOCS = 50  # documents that are represented at once


@dataclass(frozen=True, eq=False)
class PartScores:
    """The candidates of a part as arrays."""

    y: Vector
    scores: Vector
    documents: tuple[str, ...]  # of each candidate
    unreachable: int = 0  # gold answers that no candidate stands for
    texts: int = 0


@lru_cache(maxsize=1)
def _loaded(model: str) -> tuple[Model, Language]:
    """The model, loaded once a process."""
    return load_model(model), load_nlp()


def score_part(corpus: str, model: str) -> PartScores:
    """Scores the candidates of a corpus, some documents in memory at a time."""
    loaded, nlp = _loaded(model)
    task = loaded.pipeline.task
    found: list[PartScores] = []
    docs = iter(load_corpus(corpus)(nlp))
    while batch := [doc for doc, _ in zip(docs, range(BATCH_DOCS), strict=False)]:
        own = [task.candidates(doc) for doc in batch]
        every = [candidate for some in own for candidate in some]
        missed = sum(task.unreachable(doc, some) for doc, some in zip(batch, own, strict=True))
        scores = loaded.score(every) if every else np.empty(0)
        names = tuple(candidate.document for candidate in every)
        found.append(PartScores(labels_of(every), scores, names, missed, len(batch)))
    return _joined(found)


def evaluate_parts(model: str, corpora: Sequence[str], client: Any = None) -> EvaluationReport:
    """Figures of a model on corpora that are the parts of one, here or on a Dask cluster.

    ``client`` is a ``distributed.Client``; each part then becomes a task of its own. A document
    must not be spread over several parts. For tasks that are answered by yes or no.
    """
    loaded = load_model(model)
    task = loaded.pipeline.task
    if task.is_ranking:
        raise ValueError(f"task {task.name!r} ranks; only yes and no can be judged in parts.")
    if client is None:
        parts = [score_part(corpus, model) for corpus in corpora]
    else:
        parts = client.gather(client.map(score_part, list(corpora), model=model, pure=False))
    every = _joined(parts)
    if not len(every.y):
        raise no_candidates_error(task, every.texts)
    return _report(loaded, every, len(parts))


def _joined(parts: Sequence[PartScores]) -> PartScores:
    empty = [np.empty(0)]
    return PartScores(
        np.concatenate([*empty, *(part.y for part in parts)]),
        np.concatenate([*empty, *(part.scores for part in parts)]),
        tuple(name for part in parts for name in part.documents),
        sum(part.unreachable for part in parts),
        sum(part.texts for part in parts),
    )


def _report(model: Model, every: PartScores, parts: int) -> EvaluationReport:
    threshold, task = model.threshold, model.pipeline.task
    cut = np.inf if threshold is None else threshold
    said = decide(every.scores, cut)
    found = precision_recall_f(every.y, said, every.unreachable)
    positives = int((every.y > 0).sum())
    fold = Fold(
        {"auc": auc(every.y, every.scores), **found._asdict()},
        fold=0,
        split=0,
        documents=len(set(every.documents)),
        candidates=len(every.y),
        positives=positives,
        chosen={"alpha": model.fit.alpha, "threshold": threshold},
    )
    drawn = {} if every.unreachable else _intervals(every, said)
    return EvaluationReport(
        task=task.name,
        corpus=f"{parts} parts",
        procedure=f"trained on {model.meta.get('corpus') or 'another corpus'}; judged in parts",
        settings=config_of(model.pipeline),
        seed=None,
        counts=Counts(every.texts, len(every.y), positives, every.unreachable),
        folds=[fold],
        intervals=drawn,
    )


def _intervals(every: PartScores, said: Any) -> dict[str, tuple[float, float]]:
    found = bootstrap_intervals(every.y, every.scores, every.documents, decisions=said)
    return {name: (interval.low, interval.high) for name, interval in found.items()}


T = TypeVar("T")
NO_FOLD = -1  # the fold that is left out when none is


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
class LocalPartitions:
    """Partitions of this process."""

    partitions: Sequence[Partition]

    def map(self, ask: Callable[..., T], *values: Any) -> list[T]:
        """One after the other."""
        return [ask(partition, *values) for partition in self.partitions]


@dataclass(frozen=True, eq=False)
class DaskPartitions:
    """Partitions on the workers of a Dask cluster; they stay there."""

    client: Any
    futures: Sequence[Any]

    @classmethod
    def sent(cls, client: Any, partitions: Sequence[Partition]) -> DaskPartitions:
        """Sends partitions to the workers, one after another."""
        return cls(client, [client.scatter(partition, hash=False) for partition in partitions])

    @classmethod
    def made(
        cls, client: Any, make: Callable[[Any], Partition], keys: Sequence[Any]
    ) -> DaskPartitions:
        """Has each partition made by a worker, say from a file, so that none ever travels."""
        return cls(client, client.map(make, list(keys), pure=False))

    def map(self, ask: Callable[..., T], *values: Any) -> list[T]:
        """All at once, each where its partition lies."""
        sent = self.client.scatter(list(values), broadcast=True, hash=False) if values else []
        asked = [self.client.submit(ask, future, *sent, pure=False) for future in self.futures]
        return list(self.client.gather(asked))


def partition_candidates(X: SparseMatrix, targets: Targets, count: int) -> list[Partition]:
    """The candidates in partitions of about the same number of non-zeros, documents whole."""
    documents = np.unique(targets.groups, return_inverse=True)[1]
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
class PartitionedRLS:
    """``SparseRLS`` over partitions: the same fit, with as many products as on one machine.

    One pass over all partitions an iteration, whatever ``rank`` is: the preferences of a query lie
    inside a partition, and those between all candidates only need the sums of the columns.

    >>> X = sp.csr_array(np.eye(4))
    >>> targets = Targets(np.array([1.0, -1.0, 1.0, -1.0]), np.arange(4), np.arange(4))
    >>> learner = PartitionedRLS(SparseRLS(alphas=[1.0], folds=2))
    >>> learner.fit(LocalPartitions(partition_candidates(X, targets, 3))).coef
    array([ 0.5, -0.5,  0.5, -0.5])
    """

    learner: SparseRLS

    def fit(self, partitions: Partitions) -> Fit:
        """Learns, and chooses alpha by held-out folds of documents, as on one machine."""
        targets = _targets(partitions)
        path = self.path(partitions)
        return path.select(choose_alpha(path.heldout, targets, self.learner.select, path.alphas))

    def path(self, partitions: Partitions) -> RegularizationPath:
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
        return RegularizationPath(tuple(self.learner.alphas), self.coefs(partitions), heldout)

    def coefs(self, partitions: Partitions, folds: int = 1, out: int = NO_FOLD) -> Matrix:  # (a, d)
        """Weights at every alpha, from all candidates but those of one fold."""
        rank = self.learner.rank
        centred = _Centred.of(partitions, folds, out) if rank == "global" else None

        def product(q: Vector) -> Vector:
            total = _sum(partitions.map(_normal, q, rank, folds, out))
            return total if centred is None else centred(total, float(centred.columns @ q))

        right = _sum(partitions.map(_right, rank, folds, out))
        if centred is not None:
            right = centred(right, centred.answers)
        return solve_krylov(
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
    return QueryCentring(np.unique(partition.queries, return_inverse=True)[1]).laplacian()(u)


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
