"""The parent of a working process: gives it slices, sees it die or stand still, renews it."""

from __future__ import annotations

import json
import os
import selectors
import signal
import subprocess
import sys
import threading
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from queue import SimpleQueue
from threading import Thread
from typing import Any, Protocol

from textrank.scale.job import THREAD_VARIABLES

TIMEOUT_SECONDS = 300.0  # seconds without a sign of life after which a process is taken to hang
START_TIMEOUT_SECONDS = 600.0  # seconds that a process may take to start and to load its model
MAX_TASKS = 100  # slices after which a process makes room for a new one
TRIM_VARIABLE = (
    "MALLOC_TRIM_THRESHOLD_"  # set low by Dask: memory would go and come back all the time
)
MAX_MEMORY_GROWTH = 1.5  # times its memory after the first slice, likewise
NO_PROGRESS = "no progress"  # how the reason of a timeout begins
Suspect = tuple[int, int, str]  # piece of the slice, number in its file, and id of a document


@dataclass(frozen=True)
class Outcome:
    """What became of a slice: ``done``, ``died`` with what it was working on, or ``refused``.

    With ``not_started`` the worker died, or was too slow, before it was given the slice: ``died``
    has the reason, and no document of the slice is to blame.
    """

    done: Mapping[str, Any] | None = None
    died: str = ""
    refused: str = ""
    suspects: tuple[Suspect, ...] = ()  # what was being judged
    reading: bool = False  # or being read, of which the last document begun is the suspect
    not_started: bool = False

    def to_dict(self) -> dict[str, Any]:
        """Plain values, on the way from a worker."""
        suspects = [list(suspect) for suspect in self.suspects]
        done = None if self.done is None else dict(self.done)
        return {
            "done": done,
            "died": self.died,
            "refused": self.refused,
            "suspects": suspects,
            "reading": self.reading,
            "not_started": self.not_started,
        }

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Outcome:
        """What ``to_dict`` gave."""
        suspects = tuple((int(p), int(n), str(name)) for p, n, name in values["suspects"])
        return cls(**{**values, "suspects": suspects})


@dataclass
class WorkerSupervisor:
    """Keeps one child process that has the model, and starts another whenever it is needed.

    ``start_timeout`` limits the seconds from starting a child until its model is loaded; ``still``
    limits the seconds without a message while it works on a slice.
    """

    job: Mapping[str, Any]
    still: float = TIMEOUT_SECONDS
    renew: int = MAX_TASKS
    start_timeout: float = START_TIMEOUT_SECONDS
    command: tuple[str, ...] = ("-m", "textrank.scale.worker")
    _child: subprocess.Popen[bytes] | None = None
    _rest: bytes = b""
    _slices: int = 0
    _memory: int = 0
    _closed: bool = False
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _busy: threading.Lock = field(default_factory=threading.Lock)

    def run(self, slice: Mapping[str, Any], paths: Mapping[int, str]) -> Outcome:
        """Has a slice worked on, and waits for what becomes of it; one slice at a time."""
        with self._busy:
            started = self._start()
            if started is not None:
                return started
            outcome = self._await({"slice": slice, "paths": dict(paths)}, self.still)
            if outcome.done is not None:
                self._age(int(outcome.done.get("memory", 0)))
            return outcome

    def close(self) -> None:
        """Ends the child, whatever it is doing."""
        with self._lock:
            self._closed = True
            self._end()

    def _start(self) -> Outcome | None:
        """A child that is ready, or why there is none."""
        if self._child is not None and self._child.poll() is None:
            return None
        with self._lock:
            if self._closed:
                return Outcome(died="the run was stopped", not_started=True)
            self._end()
            environment = {**os.environ, **dict.fromkeys(THREAD_VARIABLES, "1")}
            environment.pop(TRIM_VARIABLE, None)
            self._child = subprocess.Popen(
                [sys.executable, *self.command],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                env=environment,
            )
        self._rest, self._slices, self._memory = b"", 0, 0
        outcome = self._await({"job": dict(self.job)}, self.start_timeout)
        if outcome.done is not None:
            return None
        if outcome.died.startswith(NO_PROGRESS):
            late = f"the worker did not load its model within {self.start_timeout:g} seconds"
            return Outcome(died=late, not_started=True)
        return replace(outcome, not_started=not outcome.refused)

    def _await(self, order: Mapping[str, Any], limit: float) -> Outcome:
        """Send an order and listen until it is done, or the child dies or is silent for too long.

        ``limit`` is the longest silence in seconds.
        """
        suspects: tuple[Suspect, ...] = ()
        reading = True
        try:
            self._send(order)
            while True:
                message = self._hear(limit)
                if "batch" in message:
                    suspects = tuple((p, n, name) for p, n, name in message["batch"])
                    reading = False
                elif "item" in message:
                    piece, number = message["item"]
                    suspects, reading = ((piece, number, str(number + 1)),), True
                elif "ready" in message:
                    return Outcome(done=message)
                elif "done" in message:
                    return Outcome(done=message["done"])
                elif "refused" in message:
                    return Outcome(refused=message["refused"])
                else:
                    suspects, reading = (), True
        except TimeoutError:
            self._end()
            died = f"{NO_PROGRESS} for {limit:g} seconds"
        except (OSError, EOFError, ValueError):  # the pipe is gone, or closed by us
            died = self._cause()
        return Outcome(died=died, suspects=suspects, reading=reading)

    def _send(self, order: Mapping[str, Any]) -> None:
        child = self._child
        if child is None or child.stdin is None:
            raise EOFError
        child.stdin.write(json.dumps(order).encode() + b"\n")
        child.stdin.flush()

    def _hear(self, limit: float) -> dict[str, Any]:
        """Return the next message of the child; raise TimeoutError after ``limit`` seconds."""
        child = self._child
        if child is None or child.stdout is None:
            raise EOFError
        with selectors.DefaultSelector() as selector:
            selector.register(child.stdout, selectors.EVENT_READ)
            while b"\n" not in self._rest:
                if not selector.select(limit):
                    raise TimeoutError
                data = os.read(child.stdout.fileno(), 1 << 16)
                if not data:
                    raise EOFError
                self._rest += data
        line, _, self._rest = self._rest.partition(b"\n")
        return dict(json.loads(line))

    def _cause(self) -> str:
        child = self._child
        code = None if child is None else child.wait()
        if code is not None and code < 0:
            return f"the process was ended by {signal.Signals(-code).name}"
        return f"the process ended with code {code}"

    def _age(self, memory: int) -> None:
        self._slices += 1
        self._memory = self._memory or memory
        if self._slices >= self.renew or memory > MAX_MEMORY_GROWTH * self._memory > 0:
            self._end()

    def _end(self) -> None:
        child, self._child = self._child, None
        if child is None:
            return
        child.kill()
        child.wait()
        for stream in (child.stdin, child.stdout):
            if stream is not None:
                stream.close()


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
class ProcessPool:
    """As many processes of this machine, each watched by a thread of ours."""

    job: Mapping[str, Any]
    workers: int = 1
    still: float = TIMEOUT_SECONDS
    renew: int = 100
    start_timeout: float = START_TIMEOUT_SECONDS
    reports: SimpleQueue[Report] = field(default_factory=SimpleQueue)
    _orders: SimpleQueue[tuple[str, Order] | None] = field(default_factory=SimpleQueue)
    _keepers: list[WorkerSupervisor] = field(default_factory=list)

    def __post_init__(self) -> None:
        for _ in range(self.workers):
            keeper = WorkerSupervisor(self.job, self.still, self.renew, self.start_timeout)
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

    def _work(self, keeper: WorkerSupervisor) -> None:
        while (order := self._orders.get()) is not None:
            id, (slice, paths) = order
            self.reports.put((id, keeper.run(slice, paths)))


def create_pool(
    job: Mapping[str, Any],
    workers: int = 1,
    dask: str | None = None,
    *,
    still: float = TIMEOUT_SECONDS,
    start_timeout: float = START_TIMEOUT_SECONDS,
) -> Pool:
    """Processes for one worker, a Dask cluster of this machine for more, or one that exists."""
    if dask is None and workers == 1:
        return ProcessPool(job, workers, still, start_timeout=start_timeout)
    from textrank.scale.distributed import DaskPool

    return DaskPool.connected(job, workers, dask, still, start_timeout)
