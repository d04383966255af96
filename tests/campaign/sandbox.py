"""Run many inputs in child processes with limits on memory and time, and record each outcome."""

from __future__ import annotations

import json
import os
import resource
import signal
import sys
import tempfile
import time
import traceback
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

SECONDS = 10  # of processor time an input may take
MEGABYTES = 300  # more than at the start that an input may need
BATCH = 100  # inputs a child


@dataclass(frozen=True)
class Outcome:
    """Outcome of an input: fine, refused, or a fault with its reason."""

    index: int
    kind: str  # fine, refused, unnamed, exception, hang, memory, crash
    reason: str = ""
    seconds: float = 0.0  # of processor time
    megabytes: float = 0.0  # peak of the child so far, above its start

    @property
    def fault(self) -> bool:
        """Whether this outcome is an error of ours."""
        return self.kind not in ("fine", "refused")


class Hang(BaseException):
    """Raised in the child when its time is up; a BaseException, so that no handler catches it."""


def run_batches(
    count: int, attempt: Callable[[Sequence[int]], Any], *, size: int = 40
) -> list[Outcome]:
    """Return the outcome of each input, for inputs that are cheaper to try together.

    ``attempt`` gets the numbers of ``size`` inputs, with the limits of a single one. The inputs of
    a batch that is not fine are tried again one by one.
    """
    outcomes: list[Outcome] = []
    parts = [range(start, min(count, start + size)) for start in range(0, count, size)]
    for outcome in run_all(len(parts), lambda n: attempt(parts[n]), each=10):
        inputs = parts[outcome.index]
        if outcome.kind == "fine":
            outcomes += [Outcome(number, "fine") for number in inputs]
        else:
            single = run_all(len(inputs), lambda n, batch=inputs: attempt([batch[n]]))  # type: ignore[misc]
            outcomes += [
                replace(outcome_of_input, index=inputs[outcome_of_input.index])
                for outcome_of_input in single
            ]
    return outcomes


def run_all(
    count: int, attempt: Callable[[int], Any], *, seconds: float = SECONDS, each: int = BATCH
) -> list[Outcome]:
    """Return the outcome of ``attempt(i)`` for each i, in children of ``each`` inputs.

    ``attempt`` is a generator that first yields the words that a refusal must contain (the name of
    the file), "" for any. If a child dies, the next one continues after the fatal input.
    """
    outcomes: list[Outcome] = []
    while len(outcomes) < count:
        rest = range(len(outcomes), min(count, len(outcomes) + each))
        outcomes += _run_child(rest, attempt, seconds)
    return outcomes


def _run_child(rest: range, attempt: Callable[[int], str], seconds: float) -> list[Outcome]:
    """Return the outcomes of the inputs that a child process could try; a crash is the last."""
    with tempfile.NamedTemporaryFile("r+") as report:
        child = os.fork()
        if child == 0:
            try:
                _work(rest, attempt, seconds, report.name)
            finally:
                os._exit(0)
        status = os.waitpid(child, 0)[1]
        rows = [json.loads(line) for line in Path(report.name).read_text().splitlines()]
    outcomes = [Outcome(**row) for row in rows]
    if os.WIFSIGNALED(status) and len(outcomes) < len(rest):
        number = rest.start + len(outcomes)
        outcomes.append(Outcome(number, "crash", f"signal {os.WTERMSIG(status)}"))
    return outcomes


def _work(rest: range, attempt: Callable[[int], str], seconds: float, report: str) -> None:
    """Try inputs in the child and append their outcomes to the file ``report``.

    Ends early after a hang or lack of memory.
    """
    start = resident_megabytes()
    _limit_memory()
    signal.signal(signal.SIGPROF, _time_is_up)
    warnings.simplefilter("ignore")
    with open(report, "a", encoding="utf-8") as out:
        for number in rest:
            row = _try_input(number, attempt, seconds, start)
            out.write(json.dumps(row) + "\n")
            out.flush()
            if row["kind"] in ("memory", "hang"):
                return  # the next child starts afresh


def _try_input(
    number: int, attempt: Callable[[int], str], seconds: float, start: float
) -> dict[str, Any]:
    """Return the fields of the ``Outcome`` of one input; ``start`` is the memory at the start."""
    kind, reason = "fine", ""
    begin = time.process_time()
    signal.setitimer(signal.ITIMER_PROF, seconds)
    place = ["?"]
    try:
        attempt_named(attempt, number, place)
    except Hang:
        kind, reason = "hang", _traceback()
    except MemoryError:
        kind, reason = "memory", _traceback()
    except (ValueError, OSError) as error:
        named = place[0] in str(error)
        kind, reason = ("refused" if named else "unnamed"), str(error)[:300]
    except BaseException as error:
        kind, reason = "exception", f"{type(error).__name__}: {error!s:.200} {_traceback()}"
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
    growth = _peak() - start
    if kind in ("fine", "refused") and growth > MEGABYTES:
        kind, reason = "memory", f"{growth:.0f} MB more than at the start"
    spent = time.process_time() - begin
    return {
        "index": number,
        "kind": kind,
        "reason": reason,
        "seconds": round(spent, 4),
        "megabytes": round(growth, 1),
    }


def attempt_named(attempt: Callable[[int], Any], number: int, place: list[str]) -> None:
    """Run an attempt to its end; set ``place[0]`` to the words that a refusal must contain."""
    steps = attempt(number)
    place[0] = next(steps)
    for _ in steps:
        pass


def _limit_memory() -> None:
    """Limit the address space of this process to 1 GB more than it has."""
    pages = int(Path("/proc/self/statm").read_text().split()[0]) if sys.platform == "linux" else 0
    size = pages * resource.getpagesize() or 4 << 30
    resource.setrlimit(resource.RLIMIT_AS, (size + (1 << 30), size + (1 << 30)))


def resident_megabytes() -> float:
    """Return the resident memory of this process; 0 if it is unknown."""
    pages = int(Path("/proc/self/statm").read_text().split()[1]) if sys.platform == "linux" else 0
    return pages * resource.getpagesize() / 2**20


def _peak() -> float:
    """Return the largest resident memory of this process so far, in MB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def _time_is_up(*_: object) -> None:
    """Raise Hang (signal handler)."""
    raise Hang


def _traceback() -> str:
    """Return the last three frames of the current exception inside textrank, innermost first."""
    frames = traceback.extract_tb(sys.exc_info()[2])
    our_frames = [f for f in frames if "/textrank/" in f.filename] or frames
    return " < ".join(f"{Path(f.filename).name}:{f.lineno} {f.name}" for f in our_frames[-1:-4:-1])


def summary(outcomes: Sequence[Outcome]) -> dict[str, int]:
    """Return the number of outcomes of each kind."""
    kinds = [outcome.kind for outcome in outcomes]
    return {kind: kinds.count(kind) for kind in dict.fromkeys(kinds)}
