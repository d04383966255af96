"""Dask: workers for runs, evaluation of a model in parts, and training on partitions.

- ``DaskPool`` processes the slices of a run on a Dask cluster; each Dask worker has a supervised
  process that holds the model.
- ``evaluate_parts`` computes the metrics of a model on a corpus that is stored in parts.
- ``PartitionedRLS`` fits ``SparseRLS`` to candidates that are spread over workers.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from queue import SimpleQueue
from typing import Any, Protocol, TypeVar

import numpy as np
import scipy.sparse as sp
from spacy.language import Language

from textrank.candidates import Targets, gold_labels
from textrank.config import load_corpus, load_model, to_config
from textrank.evaluation.report import Counts, Fold
from textrank.evaluation.report import Report as EvaluationReport
from textrank.evaluation.statistics import bootstrap_intervals
from textrank.features import Indices, Matrix, SparseMatrix, Vector
from textrank.language import load_nlp
from textrank.learners.base import Fit, RegularizationPath, choose_alpha
from textrank.learners.rankrls import QueryCentring
from textrank.learners.reduced import SparseRLS
from textrank.linalg import solve_krylov
from textrank.metrics import auc, decide, precision_recall_f
from textrank.model import Model
from textrank.scale.supervisor import Outcome, Report, WorkerSupervisor
from textrank.tasks.base import no_candidates_error

PLUGIN_NAME = "textrank"
CONNECTION_LOST = (
    "the connection to the Dask scheduler was lost. Finished parts are kept: run the command again."
)
try:
    from distributed import Client, Security, WorkerPlugin, get_worker
except ModuleNotFoundError as error:
    raise ModuleNotFoundError(
        "--dask needs Dask. Install it with: pip install 'textrank-kernels[scale]'"
    ) from error


# Workers of a run ---------------------------------------------------------------------------------


class ModelPlugin(WorkerPlugin):
    """Dask plugin that keeps a supervised process with the model on each worker.

    ``job`` holds the values of ``Job.to_dict``; ``timeout`` and ``start_timeout`` are seconds, as
    in ``WorkerSupervisor``. ``supervisor`` is None until ``setup``.
    """

    def __init__(self, job: Mapping[str, Any], timeout: float, start_timeout: float) -> None:
        """Store the values of ``Job.to_dict`` and the timeouts in seconds; nothing is started."""
        self.job, self.timeout, self.start_timeout = dict(job), timeout, start_timeout
        self.supervisor: WorkerSupervisor | None = None

    def setup(self, worker: Any) -> None:
        """Create the supervisor (called by Dask when a worker starts).

        The worker process starts, and loads the model, with the first slice.
        """
        self.supervisor = WorkerSupervisor(self.job, self.timeout, start_timeout=self.start_timeout)

    def teardown(self, worker: Any) -> None:
        """Kill the process, even while it is working (called by Dask when a worker ends)."""
        if self.supervisor is not None:
            self.supervisor.close()


def run_slice(slice: Mapping[str, Any], paths: Mapping[int, str]) -> dict[str, Any]:
    """Process a slice on this Dask worker and return ``Outcome.to_dict()``.

    ``slice`` holds the values of ``Slice.to_dict``; ``paths`` are the input files by number, which
    the worker must be able to open. The worker process writes the part itself. Call it only in a
    Dask task, after ``ModelPlugin`` was registered.
    """
    plugin: Any = get_worker().plugins[PLUGIN_NAME]
    return plugin.supervisor.run(slice, paths).to_dict()


@dataclass
class DaskPool:
    """Pool of workers on a Dask cluster.

    Attributes
    ----------
    client
        Client of the scheduler.
    reports
        Queue of ``(slice id, Outcome)``, in the order in which slices finish.
    """

    client: Any
    reports: SimpleQueue[Report] = field(default_factory=SimpleQueue)
    _futures: dict[str, Any] = field(default_factory=dict)

    @classmethod
    def connect(
        cls,
        job: Mapping[str, Any],
        address: str,
        timeout: float,
        start_timeout: float,
    ) -> DaskPool:
        """Connect to a Dask scheduler and register ``ModelPlugin`` on its workers.

        Workers that join later get the plugin too. ``job`` holds the values of ``Job.to_dict``; the
        timeouts, in seconds, are those of ``WorkerSupervisor``. Workers load the model with their
        first slice. An ``address`` that begins with ``tls://`` requires an encrypted connection,
        with the certificates of Dask's configuration (``distributed.comm.tls``). Raises ValueError
        if no scheduler answers within 30 seconds, or the certificates are not usable.
        """
        is_encrypted = address.startswith("tls://")
        security = Security(require_encryption=True) if is_encrypted else None  # type: ignore[no-untyped-call]
        try:
            client = Client(address, timeout=30, security=security)  # type: ignore[no-untyped-call]
        except (OSError, TypeError, ValueError) as error:
            raise ValueError(
                f"no Dask scheduler answers at {address}: {error}. Check the address."
            ) from error
        client.register_plugin(ModelPlugin(job, timeout, start_timeout), name=PLUGIN_NAME)
        return cls(client)

    def capacity(self) -> int:
        """Return how many slices may be submitted but not yet reported.

        This is two per thread of the cluster, at least 2. The value changes as the cluster grows
        and shrinks. Raises ValueError if the scheduler is gone.
        """
        self.check()
        return max(2 * sum(self.client.nthreads().values()), 2)

    def submit(self, id: str, slice: Mapping[str, Any], paths: Mapping[int, str]) -> None:
        """Submit a slice to the cluster and return at once; its report will be put on ``reports``.

        ``id`` is the id of the slice, returned with the report. ``slice`` holds the values of
        ``Slice.to_dict``; ``paths`` are its input files by number.
        """
        future = self.client.submit(run_slice, slice, dict(paths), key=f"part-{id}", pure=False)
        self._futures[id] = future
        future.add_done_callback(lambda done: self._settle(id, done))

    def _settle(self, id: str, future: Any) -> None:
        """Forget a finished future and put ``(id, Outcome)`` on the queue ``reports``.

        Called by Dask when a future is done. A task that raised an exception is reported as a lost
        worker (``died``); a cancelled or lost future means that the scheduler is gone
        (``refused``).
        """
        self._futures.pop(id, None)
        if future.status == "finished":
            outcome = Outcome.from_dict(future.result())
        elif future.status == "error":
            outcome = Outcome(died=f"the worker was lost ({type(future.exception()).__name__})")
        else:
            outcome = Outcome(refused=CONNECTION_LOST)
        self.reports.put((id, outcome))

    def check(self) -> None:
        """Raise ValueError if the scheduler is gone; finished parts are already on disk."""
        if self.client.status != "running":
            raise ValueError(CONNECTION_LOST)

    def close(self) -> None:
        """Disconnect from the cluster, which keeps running; unfinished slices are not reported."""
        self._futures.clear()
        self.client.close()


# Evaluation in parts ------------------------------------------------------------------------------

BATCH_DOCS = 50  # scored at once


@dataclass(frozen=True, eq=False)
class PartScores:
    """Labels and scores of the candidates of one part.

    Attributes
    ----------
    y, scores
        Gold label and score of each candidate, shape (candidates,); a label above 0 means yes.
    documents
        Document id of each candidate.
    unreachable
        Number of gold positives that are not among the candidates.
    texts
        Number of documents, including those without candidates.
    """

    y: Vector
    scores: Vector
    documents: tuple[str, ...]
    unreachable: int = 0
    texts: int = 0


@lru_cache(maxsize=1)
def _load_once(model: str) -> tuple[Model, Language]:
    """Load a model and the default language pipeline, and cache both in this process.

    Only the latest ``model`` is kept; asking for another one loads it and drops the first.
    """
    return load_model(model), load_nlp()


def score_part(corpus: str, model: str) -> PartScores:
    """Score the candidates of one part of a corpus with a stored model.

    Parameters
    ----------
    corpus
        Path of a corpus file or folder, in any format of ``load_corpus``.
    model
        Name or path of a model. It is loaded once per process and kept until another one is asked
        for.

    Returns
    -------
    PartScores
        Gold labels, scores and document ids of all candidates, in corpus order. Arrays are empty if
        there are no candidates. Documents are read and scored ``BATCH_DOCS`` at a time, which
        limits memory and does not change the scores.
    """
    loaded, nlp = _load_once(model)
    task = loaded.pipeline.task
    scores_by_batch: list[PartScores] = []
    docs = iter(load_corpus(corpus)(nlp))
    while batch := [doc for doc, _ in zip(docs, range(BATCH_DOCS), strict=False)]:
        candidates_by_doc = [task.candidates(doc) for doc in batch]
        candidates = [
            candidate for doc_candidates in candidates_by_doc for candidate in doc_candidates
        ]
        unreachable = sum(
            task.unreachable(doc, doc_candidates)
            for doc, doc_candidates in zip(batch, candidates_by_doc, strict=True)
        )
        scores = loaded.score(candidates) if candidates else np.empty(0)
        names = tuple(candidate.document for candidate in candidates)
        scores_by_batch.append(
            PartScores(gold_labels(candidates), scores, names, unreachable, len(batch))
        )
    return _concat_scores(scores_by_batch)


def evaluate_parts(model: str, corpora: Sequence[str], client: Any = None) -> EvaluationReport:
    """Return the report of a model on a corpus that is stored in parts.

    Metrics are computed over the candidates of all parts together, with the model's own threshold.
    The report has confidence intervals only if every gold positive is among the candidates.

    Parameters
    ----------
    model
        Name or path of a model of a yes/no task.
    corpora
        Paths of the parts; a document must be in one part only.
    client
        ``distributed.Client`` that scores each part as a task; None scores the parts in this
        process, one after the other.

    Raises
    ------
    ValueError
        If the task ranks, or if the parts have no candidates.
    """
    loaded = load_model(model)
    task = loaded.pipeline.task
    if task.is_ranking:
        raise ValueError(f"task {task.name!r} ranks; only yes/no tasks can be evaluated in parts.")
    if client is None:
        parts = [score_part(corpus, model) for corpus in corpora]
    else:
        parts = client.gather(client.map(score_part, list(corpora), model=model, pure=False))
    scores = _concat_scores(parts)
    if not len(scores.y):
        raise no_candidates_error(task, scores.texts)
    return _build_report(loaded, scores, len(parts))


def _concat_scores(parts: Sequence[PartScores]) -> PartScores:
    """Concatenate the scores of parts in order and add their counts.

    An empty sequence gives empty arrays and counts of 0.
    """
    empty = [np.empty(0)]
    return PartScores(
        np.concatenate([*empty, *(part.y for part in parts)]),
        np.concatenate([*empty, *(part.scores for part in parts)]),
        tuple(name for part in parts for name in part.documents),
        sum(part.unreachable for part in parts),
        sum(part.texts for part in parts),
    )


def _build_report(model: Model, scores: PartScores, parts: int) -> EvaluationReport:
    """Build a Report with a single fold, decided by the model's own threshold.

    ``parts`` is the number of parts, which is only shown. If the model has no threshold, no
    candidate is decided positive. The fold counts documents with a candidate, the report all. There
    are no confidence intervals if some gold positives are not among the candidates.
    """
    threshold, task = model.threshold, model.pipeline.task
    effective_threshold = np.inf if threshold is None else threshold
    decisions = decide(scores.scores, effective_threshold)
    metrics = precision_recall_f(scores.y, decisions, scores.unreachable)
    positives = int((scores.y > 0).sum())
    fold = Fold(
        {"auc": auc(scores.y, scores.scores), **metrics._asdict()},
        fold=0,
        split=0,
        documents=len(set(scores.documents)),
        candidates=len(scores.y),
        positives=positives,
        chosen={"alpha": model.fit.alpha, "threshold": threshold},
    )
    intervals = {} if scores.unreachable else _bootstrap(scores, decisions)
    return EvaluationReport(
        task=task.name,
        corpus=f"{parts} parts",
        procedure=f"trained on {model.meta.get('corpus') or 'another corpus'}; judged in parts",
        settings=to_config(model.pipeline),
        seed=None,
        counts=Counts(scores.texts, len(scores.y), positives, scores.unreachable),
        folds=[fold],
        intervals=intervals,
    )


def _bootstrap(scores: PartScores, decisions: Any) -> dict[str, tuple[float, float]]:
    """Return (low, high) bootstrap confidence bounds by metric, resampling whole documents.

    ``decisions`` has one yes/no value per candidate. Level, number of resamples and seed are the
    defaults of ``bootstrap_intervals``.
    """
    intervals = bootstrap_intervals(scores.y, scores.scores, scores.documents, decisions=decisions)
    return {name: (interval.low, interval.high) for name, interval in intervals.items()}


# Training on partitions ---------------------------------------------------------------------------

T = TypeVar("T")
NO_FOLD = -1  # leave out no fold


@dataclass(frozen=True, eq=False)
class Partition:
    """Training candidates of some documents, with their positions among all candidates.

    m is the number of candidates in the partition, d the number of features, the same in all
    partitions. The candidates of a document must be in one partition; with ``rank="query"`` also
    those of a query.
    """

    X: SparseMatrix  # (m, d)
    y: Vector  # (m,)
    rows: Indices  # (m,) positions among all candidates
    documents: Indices  # (m,) document numbers from 0, among all documents
    queries: Indices  # (m,)


class Partitions(Protocol):
    """Sequence of partitions, here or on a cluster, to which a function can be applied."""

    def map(self, ask: Callable[..., T], *values: Any) -> list[T]:
        """Return ``ask(partition, *values)`` for each partition, in order."""


@dataclass(frozen=True, eq=False)
class LocalPartitions:
    """Partitions in this process, in order."""

    partitions: Sequence[Partition]

    def map(self, ask: Callable[..., T], *values: Any) -> list[T]:
        """Return ``ask(partition, *values)`` for each partition, one after the other."""
        return [ask(partition, *values) for partition in self.partitions]


@dataclass(frozen=True, eq=False)
class DaskPartitions:
    """Partitions held in the memory of the workers of a Dask cluster.

    ``futures`` has one future per partition, in order.
    """

    client: Any
    futures: Sequence[Any]

    @classmethod
    def scatter(cls, client: Any, partitions: Sequence[Partition]) -> DaskPartitions:
        """Send partitions to the workers, one by one; their order is kept.

        Partitions must be picklable. If a worker ends, its partitions are lost.
        """
        return cls(client, [client.scatter(partition, hash=False) for partition in partitions])

    @classmethod
    def build(
        cls, client: Any, make: Callable[[Any], Partition], keys: Sequence[Any]
    ) -> DaskPartitions:
        """Build one partition per key on the workers, by calling ``make(key)`` there.

        No partition is sent over the network. ``make`` must be importable or picklable. Returns at
        once; exceptions of ``make`` are raised by ``map``.
        """
        return cls(client, client.map(make, list(keys), pure=False))

    def map(self, ask: Callable[..., T], *values: Any) -> list[T]:
        """Return ``ask(partition, *values)`` for each partition, in order, computed on its worker.

        ``values`` are sent to every worker. Waits for all results; an exception of ``ask`` is
        raised here.
        """
        broadcast = self.client.scatter(list(values), broadcast=True, hash=False) if values else []
        futures = [
            self.client.submit(ask, future, *broadcast, pure=False) for future in self.futures
        ]
        return list(self.client.gather(futures))


def partition_candidates(X: SparseMatrix, targets: Targets, count: int) -> list[Partition]:
    """Divide candidates into at most ``count`` partitions of similar size, keeping documents whole.

    ``X`` has one row per candidate, at least one; ``targets.groups`` is the document of each
    candidate, and ``count`` is at least 1. Documents are assigned in sorted order. The size of a
    partition is its number of non-zeros plus its number of candidates. Rows keep their order within
    a partition; empty partitions are left out. A query that spans several documents may be split.
    """
    documents = np.unique(targets.groups, return_inverse=True)[1]
    matrix = sp.csr_array(X)
    weight = np.bincount(documents, np.diff(matrix.indptr) + 1.0)
    weight_before = np.cumsum(weight) - weight
    part = np.minimum((weight_before / weight.sum() * count).astype(np.intp), count - 1)[documents]
    rows_by_part = [np.flatnonzero(part == p) for p in np.unique(part)]
    return [
        Partition(matrix[rows], targets.y[rows], rows, documents[rows], targets.queries[rows])
        for rows in rows_by_part
    ]


@dataclass(frozen=True)
class PartitionedRLS:
    """``SparseRLS`` fitted to data in partitions, with the same result as on one machine.

    Each iteration of the solver makes one pass over the partitions, for every value of ``rank``:
    preferences within a query need only the partition that holds it, and preferences between all
    candidates only column sums.

    Examples
    --------
    >>> X = sp.csr_array(np.eye(4))
    >>> targets = Targets(np.array([1.0, -1.0, 1.0, -1.0]), np.arange(4), np.arange(4))
    >>> learner = PartitionedRLS(SparseRLS(alphas=[1.0], folds=2))
    >>> learner.fit(LocalPartitions(partition_candidates(X, targets, 3))).coef
    array([ 0.5, -0.5,  0.5, -0.5])
    """

    learner: SparseRLS

    def fit(self, partitions: Partitions) -> Fit:
        """Choose alpha by cross-validation over documents and return the Fit to all candidates.

        Alpha is the best by the learner's ``select`` metric on the held-out scores. Raises
        ValueError if all candidates belong to one document, or the solver does not converge.
        """
        targets = _collect_targets(partitions)
        path = self.path(partitions)
        return path.select(choose_alpha(path.heldout, targets, self.learner.select, path.alphas))

    def path(self, partitions: Partitions) -> RegularizationPath:
        """Return coefficients and held-out scores at every alpha.

        Coefficients are fitted to all candidates, shape (alphas, features). Held-out scores have
        shape (alphas, candidates), in the order of all candidates (``Partition.rows``); the fold of
        a document is its number modulo the learner's ``folds``, or modulo the largest document
        number plus one if that is smaller. Raises ValueError if all candidates belong to document
        0, or the solver does not converge.
        """
        last = max(partitions.map(_last_document))
        if last == 0:
            raise ValueError("all candidates are of one document: nothing can be held out")
        folds = min(self.learner.folds, last + 1)
        parts: list[tuple[Indices, Matrix]] = []
        for fold in range(folds):
            W = self.coefs(partitions, folds, fold)
            parts += partitions.map(_score_held_out, W, folds, fold)
        heldout = np.empty((len(self.learner.alphas), sum(len(rows) for rows, _ in parts)))
        for rows, scores in parts:
            heldout[:, rows] = scores
        return RegularizationPath(tuple(self.learner.alphas), self.coefs(partitions), heldout)

    def coefs(self, partitions: Partitions, folds: int = 1, out: int = NO_FOLD) -> Matrix:  # (a, d)
        """Return the weights at every alpha, shape (alphas, features).

        Rows are in the order of the learner's ``alphas``; its ``rank`` decides how data are
        centred: per query ("query"), over all training candidates ("global") or not at all.
        They are fitted to all candidates except those of fold ``out`` of ``folds``: the documents
        whose number modulo ``folds`` is ``out``. ``NO_FOLD`` uses all. Raises ValueError if the
        solver does not reach the learner's ``tolerance`` within its ``iterations``.
        """
        rank = self.learner.rank
        centring = (
            _GlobalCentring.from_partitions(partitions, folds, out) if rank == "global" else None
        )

        def product(q: Vector) -> Vector:
            """Return ``X'L X q`` over the training candidates."""
            total = _add_arrays(partitions.map(_normal_product, q, rank, folds, out))
            return total if centring is None else centring(total, float(centring.columns @ q))

        right_side = _add_arrays(partitions.map(_right_hand_side, rank, folds, out))
        if centring is not None:
            right_side = centring(right_side, centring.answers)
        return solve_krylov(
            product,
            right_side,
            np.array(self.learner.alphas),
            tolerance=self.learner.tolerance,
            max_iterations=self.learner.iterations,
        )


@dataclass(frozen=True, eq=False)
class _GlobalCentring:
    """Product with the Laplacian ``L = n I - 11'`` of the preferences between all candidates.

    Attributes
    ----------
    count
        Number n of training candidates.
    columns
        Column sums ``X'1``, shape (d,).
    answers
        Sum of the labels.
    """

    count: float
    columns: Vector
    answers: float

    @classmethod
    def from_partitions(cls, partitions: Partitions, folds: int, out: int) -> _GlobalCentring:
        """Sum counts, features and labels over the training candidates of all partitions.

        Training candidates are those whose document number modulo ``folds`` is not ``out``; with
        ``out=NO_FOLD`` these are all.
        """
        parts = partitions.map(_column_sums, folds, out)
        count, answers = sum(part[0] for part in parts), sum(part[2] for part in parts)
        return cls(count, _add_arrays([part[1] for part in parts]), answers)

    def __call__(self, total: Vector, sum_: float) -> Vector:
        """Return ``X'Lu = n X'u - X'1 (1'u)``, given ``total = X'u`` and ``sum_ = 1'u``."""
        return self.count * total - self.columns * sum_


def _training_mask(partition: Partition, folds: int, out: int) -> Vector:
    """Return 1.0 for the candidates outside fold ``out`` and 0.0 for others, shape (m,).

    A candidate's fold is its document number modulo ``folds``; ``out=NO_FOLD`` keeps all.
    """
    return (partition.documents % folds != out).astype(np.float64)


def _center_by_query(partition: Partition, u: Vector, rank: str) -> Vector:
    """Return ``L u``, with the Laplacian L of the queries, if ``rank`` is "query", otherwise ``u``.

    ``u`` has one value per candidate, shape (m,). Candidates of the held-out fold are included, so
    the caller must mask the result.
    """
    if rank != "query":
        return u
    return QueryCentring(np.unique(partition.queries, return_inverse=True)[1]).laplacian()(u)


def _normal_product(partition: Partition, q: Vector, rank: str, folds: int, out: int) -> Vector:
    """Return this partition's share of ``X'L X q`` over the training candidates, shape (d,).

    Training candidates are those outside fold ``out`` (``_training_mask``). ``q`` has shape (d,). L
    is the identity unless ``rank`` is "query"; for "global" the caller centres the sum over all
    partitions.
    """
    u = _center_by_query(partition, partition.X @ q, rank) * _training_mask(partition, folds, out)
    return np.asarray(partition.X.T @ u)


def _right_hand_side(partition: Partition, rank: str, folds: int, out: int) -> Vector:
    """Return this partition's share of ``X'L y`` over the training candidates, shape (d,).

    Training candidates are those outside fold ``out`` (``_training_mask``). L is the identity
    unless ``rank`` is "query"; for "global" the caller centres the sum over all partitions.
    """
    u = _center_by_query(partition, partition.y, rank) * _training_mask(partition, folds, out)
    return np.asarray(partition.X.T @ u)


def _column_sums(partition: Partition, folds: int, out: int) -> tuple[float, Vector, float]:
    """Return count, ``X'1`` of shape (d,) and ``1'y`` of the training candidates of a partition.

    These are the candidates outside fold ``out`` (``_training_mask``).
    """
    mask = _training_mask(partition, folds, out)
    return float(mask.sum()), np.asarray(partition.X.T @ mask), float(partition.y @ mask)


def _score_held_out(
    partition: Partition, W: Matrix, folds: int, out: int
) -> tuple[Indices, Matrix]:
    """Return the candidates in fold ``out``, as positions among all candidates, and their scores.

    ``W`` are weights at every alpha, shape (alphas, d); scores have shape (alphas, held-out
    candidates). Both are empty if the partition has no candidate in the fold. The fold of a
    candidate is its document number modulo ``folds``.
    """
    held_out = np.flatnonzero(partition.documents % folds == out)
    return partition.rows[held_out], np.asarray((partition.X[held_out] @ W.T).T)


def _last_document(partition: Partition) -> int:
    """Return the largest document number of a partition, which must not be empty."""
    return int(partition.documents.max())


def _get_targets(partition: Partition) -> tuple[Indices, Vector, Indices, Indices]:
    """Return the fields ``rows``, ``y``, ``documents`` and ``queries`` of a partition."""
    return partition.rows, partition.y, partition.documents, partition.queries


def _collect_targets(partitions: Partitions) -> Targets:
    """Return the Targets of all partitions, in the order of all candidates (``Partition.rows``).

    Groups are the document numbers.
    """
    rows, y, documents, queries = (
        np.concatenate(part) for part in zip(*partitions.map(_get_targets), strict=True)
    )
    order = np.argsort(rows)
    return Targets(y[order], documents[order], queries[order])


def _add_arrays(parts: Sequence[Vector]) -> Vector:
    """Return the sum of one or more arrays of the same shape, as a new array."""
    total = parts[0].copy()
    for part in parts[1:]:
        total += part
    return total
