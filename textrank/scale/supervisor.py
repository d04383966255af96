"""Supervision of worker processes: start, orders, timeouts, restarts, and pools of them.

``WorkerSupervisor`` runs one child process (``textrank.scale.worker``) and returns an ``Outcome``
per slice, also if the child dies or hangs. A ``Pool`` takes slices and reports outcomes;
``create_pool`` chooses between processes of this machine and Dask.
"""

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

TIMEOUT_SECONDS = 300.0  # without a message, after which a worker is taken to hang
START_TIMEOUT_SECONDS = 600.0  # to start a worker and to load its model
MAX_TASKS = 100  # slices after which a worker is replaced by a new one
TRIM_VARIABLE = "MALLOC_TRIM_THRESHOLD_"  # Dask sets it low, which makes malloc slow
MAX_MEMORY_GROWTH = 1.5  # of memory since the first slice, after which a worker is replaced
NO_PROGRESS = "no progress"  # beginning of Outcome.died after a timeout
Suspect = tuple[int, int, str]  # index of the piece, number in its file, document id


@dataclass(frozen=True)
class Outcome:
    """Result of working on a slice; exactly one of ``done``, ``died`` and ``refused`` is set.

    Attributes
    ----------
    done
        Counts that the worker returned; None if it did not finish.
    died
        Why the worker ended: a signal, an exit code or a timeout; "" if it did not.
    refused
        Error that ends the whole run, such as a folder that cannot be written; "" if there is none.
    suspects
        Documents that were being annotated when the worker died, or the one it was about to read,
        as tuples ``(index of the piece, number in its file, document id)``.
    reading
        Whether the worker was reading, rather than annotating, when it died.
    not_started
        Whether the worker died or timed out before it got the slice; no document is to blame then.
    """

    done: Mapping[str, Any] | None = None
    died: str = ""
    refused: str = ""
    suspects: tuple[Suspect, ...] = ()
    reading: bool = False
    not_started: bool = False

    def to_dict(self) -> dict[str, Any]:
        """Return the fields as JSON values, which ``from_dict`` reads."""
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
        """Build an Outcome from the values of ``to_dict``; suspects may be lists, as in JSON."""
        suspects = tuple((int(p), int(n), str(name)) for p, n, name in values["suspects"])
        return cls(**{**values, "suspects": suspects})


@dataclass
class WorkerSupervisor:
    """Owner of one worker process, started on demand and replaced regularly.

    Attributes
    ----------
    job
        Values of ``Job.to_dict``.
    timeout
        Seconds without a message after which the worker is killed.
    max_tasks
        Slices after which the worker is replaced.
    start_timeout
        Seconds that the worker may take to start and load its model.
    command
        Arguments of the Python interpreter that starts the worker.
    """

    job: Mapping[str, Any]
    timeout: float = TIMEOUT_SECONDS
    max_tasks: int = MAX_TASKS
    start_timeout: float = START_TIMEOUT_SECONDS
    command: tuple[str, ...] = ("-m", "textrank.scale.worker")
    _child: subprocess.Popen[bytes] | None = None
    _buffer: bytes = b""
    _slices: int = 0
    _memory: int = 0
    _closed: bool = False
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _busy: threading.Lock = field(default_factory=threading.Lock)

    def run(self, slice: Mapping[str, Any], paths: Mapping[int, str]) -> Outcome:
        """Send a slice to the worker, wait until it is processed, and return the outcome.

        A worker is started if none is running. If the worker dies, that is an outcome and no
        exception. Calls from several threads are processed one after the other.

        Parameters
        ----------
        slice
            Values of ``Slice.to_dict``.
        paths
            Paths of the input files by number.
        """
        with self._busy:
            failure = self._start()
            if failure is not None:
                return failure
            outcome = self._await({"slice": slice, "paths": dict(paths)}, self.timeout)
            if outcome.done is not None:
                self._retire_if_old(int(outcome.done.get("memory", 0)))
            return outcome

    def close(self) -> None:
        """Kill the worker, whatever it is doing.

        A call of ``run`` that is waiting in another thread returns an Outcome with ``died``; later
        calls return one with ``not_started``. Closing twice is allowed.
        """
        with self._lock:
            self._closed = True
            self._kill()

    def _start(self) -> Outcome | None:
        """Start a worker and load its model, unless one is running.

        The worker uses one thread for linear algebra. Returns None if a worker is ready, else the
        outcome to report: ``refused`` if the worker cannot load the model, or ``not_started`` if it
        died, took longer than ``start_timeout``, or the supervisor is closed.
        """
        if self._child is not None and self._child.poll() is None:
            return None
        with self._lock:
            if self._closed:
                return Outcome(died="the run was stopped", not_started=True)
            self._kill()
            environment = {**os.environ, **dict.fromkeys(THREAD_VARIABLES, "1")}
            environment.pop(TRIM_VARIABLE, None)
            self._child = subprocess.Popen(
                [sys.executable, *self.command],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                env=environment,
            )
        self._buffer, self._slices, self._memory = b"", 0, 0
        outcome = self._await({"job": dict(self.job)}, self.start_timeout)
        if outcome.done is not None:
            return None
        if outcome.died.startswith(NO_PROGRESS):
            reason = f"the worker did not load its model within {self.start_timeout:g} seconds"
            return Outcome(died=reason, not_started=True)
        return replace(outcome, not_started=not outcome.refused)

    def _await(self, order: Mapping[str, Any], limit: float) -> Outcome:
        """Send an order and wait for its outcome, keeping track of the suspects.

        ``order`` is a message of ``textrank.scale.worker``, with ``job`` or with ``slice`` and
        ``paths``. ``limit`` is the longest time without a message, in seconds; the worker is killed
        after it. For a ``job``, ``done`` of the outcome is the message ``{"ready": …}``. If the
        worker ends, the outcome is ``died``; no exception is raised. Suspects are the documents of
        the latest ``batch``, or the latest ``item``, named by its number from 1; ``words`` and
        ``reading`` clear them.
        """
        suspects: tuple[Suspect, ...] = ()
        reading = True
        try:
            self._send(order)
            while True:
                message = self._receive(limit)
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
            self._kill()
            died = f"{NO_PROGRESS} for {limit:g} seconds"
        except (OSError, EOFError, ValueError):  # the worker ended, or close() closed the pipe
            died = self._exit_reason()
        return Outcome(died=died, suspects=suspects, reading=reading)

    def _send(self, order: Mapping[str, Any]) -> None:
        """Write an order to the standard input of the worker, as one line of JSON.

        Raises EOFError if there is no worker, and OSError or ValueError if its pipe is closed.
        """
        child = self._child
        if child is None or child.stdin is None:
            raise EOFError
        child.stdin.write(json.dumps(order).encode() + b"\n")
        child.stdin.flush()

    def _receive(self, limit: float) -> dict[str, Any]:
        """Wait for the next message of the worker and return it.

        Raises TimeoutError after ``limit`` seconds without output, EOFError when the worker has
        ended, and ValueError for a line that is not JSON.
        """
        child = self._child
        if child is None or child.stdout is None:
            raise EOFError
        with selectors.DefaultSelector() as selector:
            selector.register(child.stdout, selectors.EVENT_READ)
            while b"\n" not in self._buffer:
                if not selector.select(limit):
                    raise TimeoutError
                data = os.read(child.stdout.fileno(), 1 << 16)
                if not data:
                    raise EOFError
                self._buffer += data
        line, _, self._buffer = self._buffer.partition(b"\n")
        return dict(json.loads(line))

    def _exit_reason(self) -> str:
        """Wait for the worker to end and return its signal or exit code in words.

        The text is meant for ``Outcome.died``. It says "code None" if ``close`` has removed the
        worker already.
        """
        child = self._child
        code = None if child is None else child.wait()
        if code is not None and code < 0:
            return f"the process was ended by {signal.Signals(-code).name}"
        return f"the process ended with code {code}"

    def _retire_if_old(self, memory: int) -> None:
        """Kill the worker if it has done ``max_tasks`` slices or its memory has grown too much.

        Call it once per finished slice. ``memory`` is the memory of the worker in bytes, 0 if
        unknown; too much is more than ``MAX_MEMORY_GROWTH`` times the memory after its first slice.
        The next ``run`` starts a new worker.
        """
        self._slices += 1
        self._memory = self._memory or memory
        if self._slices >= self.max_tasks or memory > MAX_MEMORY_GROWTH * self._memory > 0:
            self._kill()

    def _kill(self) -> None:
        """Kill the worker, if there is one, wait for its end and close its pipes."""
        child, self._child = self._child, None
        if child is None:
            return
        child.kill()
        child.wait()
        for stream in (child.stdin, child.stdout):
            if stream is not None:
                stream.close()


# Pools --------------------------------------------------------------------------------------------

Order = tuple[Mapping[str, Any], Mapping[int, str]]  # slice, paths of its files by number
Report = tuple[str, Outcome]  # id of the slice, outcome


class Pool(Protocol):
    """Workers that process slices and report outcomes on the queue ``reports``."""

    reports: SimpleQueue[Report]

    def capacity(self) -> int:
        """Return how many slices may be submitted but not yet reported."""

    def submit(self, id: str, slice: Mapping[str, Any], paths: Mapping[int, str]) -> None:
        """Submit a slice and return at once; its report will be put on ``reports``.

        ``id`` is returned with the report; ``slice`` holds the values of ``Slice.to_dict`` and
        ``paths`` its input files by number.
        """

    def check(self) -> None:
        """Raise ValueError if no worker is left that could report an outcome."""

    def close(self) -> None:
        """End all workers, even while they are working.

        Whether slices without a report are still reported depends on the pool.
        """


@dataclass
class ProcessPool:
    """Pool of worker processes on this machine, each supervised by a thread.

    ``job`` holds the values of ``Job.to_dict``, ``workers`` is the number of processes, which start
    with their first slice; other settings are those of ``WorkerSupervisor``.
    """

    job: Mapping[str, Any]
    workers: int = 1
    timeout: float = TIMEOUT_SECONDS
    max_tasks: int = MAX_TASKS
    start_timeout: float = START_TIMEOUT_SECONDS
    reports: SimpleQueue[Report] = field(default_factory=SimpleQueue)
    _orders: SimpleQueue[tuple[str, Order] | None] = field(default_factory=SimpleQueue)
    _supervisors: list[WorkerSupervisor] = field(default_factory=list)

    def __post_init__(self) -> None:
        """Start a supervising thread per process; processes start with their first slice."""
        for _ in range(self.workers):
            supervisor = WorkerSupervisor(
                self.job, self.timeout, self.max_tasks, self.start_timeout
            )
            self._supervisors.append(supervisor)
            Thread(target=self._work, args=(supervisor,), daemon=True).start()

    def capacity(self) -> int:
        """Return twice the number of processes, so that a slice is waiting for each process."""
        return 2 * self.workers

    def submit(self, id: str, slice: Mapping[str, Any], paths: Mapping[int, str]) -> None:
        """Queue a slice for the next free process and return at once.

        ``(id, Outcome)`` will be put on ``reports``. ``slice`` holds the values of
        ``Slice.to_dict``, ``paths`` its input files by number.
        """
        self._orders.put((id, (slice, paths)))

    def check(self) -> None:
        """Do nothing, since the supervising threads of this process cannot be lost."""

    def close(self) -> None:
        """Kill all processes, even while they are working, and let their threads end.

        Slices that wait in the queue are reported as ``not_started``, those being processed as
        ``died``.
        """
        for _ in self._supervisors:
            self._orders.put(None)
        for supervisor in self._supervisors:
            supervisor.close()

    def _work(self, supervisor: WorkerSupervisor) -> None:
        """Process queued slices with one supervisor, and put their outcomes on ``reports``.

        Body of a thread; it ends when the queue gives None.
        """
        while (order := self._orders.get()) is not None:
            id, (slice, paths) = order
            self.reports.put((id, supervisor.run(slice, paths)))


def create_pool(
    job: Mapping[str, Any],
    workers: int = 1,
    dask: str | None = None,
    *,
    timeout: float = TIMEOUT_SECONDS,
    start_timeout: float = START_TIMEOUT_SECONDS,
) -> Pool:
    """Create the pool of workers of a run.

    Parameters
    ----------
    job
        Values of ``Job.to_dict``.
    workers
        Number of processes on this machine. They communicate through pipes; no port is opened.
    dask
        Address of an existing Dask scheduler, whose workers are used; ``workers`` is then ignored.
        None uses this machine.
    timeout, start_timeout
        As in ``WorkerSupervisor``.

    Raises
    ------
    ModuleNotFoundError
        If ``dask`` is given and Dask is not installed.
    ValueError
        If no scheduler answers at the address.
    """
    if dask is None:
        return ProcessPool(job, workers, timeout, start_timeout=start_timeout)
    from textrank.scale.distributed import DaskPool

    return DaskPool.connect(job, dask, timeout, start_timeout)
