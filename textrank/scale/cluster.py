"""Slices on the workers of a Dask cluster, each with a watched process that has the model."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import dataclass, field
from queue import SimpleQueue
from typing import Any

from textrank.scale.keeper import Keeper, Outcome
from textrank.scale.pools import Report

PLUGIN = "textrank"
LOST = "the connection to the Dask scheduler was lost. Finished parts are kept: start again."

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
        self.keeper: Keeper | None = None

    def setup(self, worker: Any) -> None:
        """Called by Dask when a worker begins."""
        self.keeper = Keeper(self.job, self.still, start_timeout=self.start_timeout)

    def teardown(self, worker: Any) -> None:
        """Called by Dask when a worker ends."""
        if self.keeper is not None:
            self.keeper.close()


def work_on(slice: Mapping[str, Any], paths: Mapping[int, str]) -> dict[str, Any]:
    """A task: only a few names and numbers travel; the part is written where the worker is."""
    plugin: Any = get_worker().plugins[PLUGIN]
    return plugin.keeper.run(slice, paths).to_dict()


@dataclass
class Cluster:
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
    ) -> Cluster:
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
        client.register_plugin(ModelPlugin(job, still, start_timeout), name=PLUGIN)
        return cls(client, local)

    def capacity(self) -> int:
        """One slice a thread of the cluster, and one each that waits; it may grow and shrink."""
        self.check()
        return max(2 * sum(self.client.nthreads().values()), 2)

    def submit(self, id: str, slice: Mapping[str, Any], paths: Mapping[int, str]) -> None:
        """Has a slice worked on wherever there is room."""
        future = self.client.submit(work_on, slice, dict(paths), key=f"part-{id}", pure=False)
        self._futures[id] = future
        future.add_done_callback(lambda done: self._settle(id, done))

    def _settle(self, id: str, future: Any) -> None:
        self._futures.pop(id, None)
        if future.status == "finished":
            outcome = Outcome.from_dict(future.result())
        elif future.status == "error":
            outcome = Outcome(died=f"the worker was lost ({type(future.exception()).__name__})")
        else:
            outcome = Outcome(refused=LOST)
        self.reports.put((id, outcome))

    def check(self) -> None:
        """Raises where the scheduler is gone; finished parts are on the disk already."""
        if self.client.status != "running":
            raise ValueError(LOST)

    def close(self) -> None:
        """Lets go of the cluster, and ends the one we started."""
        self._futures.clear()
        self.client.close()
        if self.local is not None:
            self.local.close()
