"""Where slices are worked on: processes of this machine, or workers of a Dask cluster."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from queue import SimpleQueue
from threading import Thread
from typing import Any, Protocol

from textrank.scale.keeper import START_TIMEOUT, STILL, Keeper, Outcome

Order = tuple[Mapping[str, Any], Mapping[int, str]]  # a slice and the paths of its files
Report = tuple[str, Outcome]  # the id of a slice and what became of it


class Pool(Protocol):
    """Takes slices and reports what became of them."""

    reports: SimpleQueue[Report]

    def capacity(self) -> int:
        """How many slices may be under way."""

    def submit(self, id: str, slice: Mapping[str, Any], paths: Mapping[int, str]) -> None:
        """Has a slice worked on; the report comes when it comes."""

    def check(self) -> None:
        """Raises where nobody is left to report anything."""

    def close(self) -> None:
        """Ends all work."""


@dataclass
class Processes:
    """As many processes of this machine, each watched by a thread of ours."""

    job: Mapping[str, Any]
    workers: int = 1
    still: float = STILL
    renew: int = 100
    start_timeout: float = START_TIMEOUT
    reports: SimpleQueue[Report] = field(default_factory=SimpleQueue)
    _orders: SimpleQueue[tuple[str, Order] | None] = field(default_factory=SimpleQueue)
    _keepers: list[Keeper] = field(default_factory=list)

    def __post_init__(self) -> None:
        for _ in range(self.workers):
            keeper = Keeper(self.job, self.still, self.renew, self.start_timeout)
            self._keepers.append(keeper)
            Thread(target=self._work, args=(keeper,), daemon=True).start()

    def capacity(self) -> int:
        """One slice a process, and one each that waits."""
        return 2 * self.workers

    def submit(self, id: str, slice: Mapping[str, Any], paths: Mapping[int, str]) -> None:
        """Has a slice worked on by the next process that is free."""
        self._orders.put((id, (slice, paths)))

    def check(self) -> None:
        """Nothing can be lost: the threads are ours."""

    def close(self) -> None:
        """Ends all processes."""
        for _ in self._keepers:
            self._orders.put(None)
        for keeper in self._keepers:
            keeper.close()

    def _work(self, keeper: Keeper) -> None:
        while (order := self._orders.get()) is not None:
            id, (slice, paths) = order
            self.reports.put((id, keeper.run(slice, paths)))


def pool_for(
    job: Mapping[str, Any],
    workers: int = 1,
    dask: str | None = None,
    *,
    still: float = STILL,
    start_timeout: float = START_TIMEOUT,
) -> Pool:
    """Processes for one worker, a Dask cluster of this machine for more, or one that exists."""
    if dask is None and workers == 1:
        return Processes(job, workers, still, start_timeout=start_timeout)
    from textrank.scale.cluster import Cluster

    return Cluster.connected(job, workers, dask, still, start_timeout)
