"""Runs many inputs in children with bounds on memory and time, and says what became of each."""

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
    """What became of an input: fine, refused, or a fault with its reason."""

    index: int
    kind: str  # fine, refused, unnamed, exception, hang, memory, crash
    reason: str = ""
    seconds: float = 0.0  # of processor time
    megabytes: float = 0.0  # peak of the child so far, above its start

    @property
    def fault(self) -> bool:
        """Whether this must not happen."""
        return self.kind not in ("fine", "refused")


class Hang(BaseException):
    """Raised in the child when its time is up; no handler of ours may swallow it."""


def run_batches(
    count: int, attempt: Callable[[Sequence[int]], Any], *, size: int = 40
) -> list[Outcome]:
    """The outcome of each input where many at once cost less than one by one.

    A batch may take what one input may. One that is not fine is done again, an input at a time.
    """
    found: list[Outcome] = []
    parts = [range(start, min(count, start + size)) for start in range(0, count, size)]
    for outcome in run_all(len(parts), lambda n: attempt(parts[n]), each=10):
        inputs = parts[outcome.index]
        if outcome.kind == "fine":
            found += [Outcome(number, "fine") for number in inputs]
        else:
            alone = run_all(len(inputs), lambda n, own=inputs: attempt([own[n]]))  # type: ignore[misc]
            found += [replace(one, index=inputs[one.index]) for one in alone]
    return found


def run_all(
    count: int, attempt: Callable[[int], Any], *, seconds: float = SECONDS, each: int = BATCH
) -> list[Outcome]:
    """The outcome of ``attempt(i)`` for each ``i``, in children of ``each`` inputs.

    ``attempt`` gives the words that a refusal must contain (the file's name), or "" where any will
    do. A child that dies is followed by one that goes on after the fatal input.
    """
    found: list[Outcome] = []
    while len(found) < count:
        rest = range(len(found), min(count, len(found) + each))
        found += _child(rest, attempt, seconds)
    return found


def _child(rest: range, attempt: Callable[[int], str], seconds: float) -> list[Outcome]:
    with tempfile.NamedTemporaryFile("r+") as report:
        child = os.fork()
        if child == 0:
            try:
                _work(rest, attempt, seconds, report.name)
            finally:
                os._exit(0)
        status = os.waitpid(child, 0)[1]
        rows = [json.loads(line) for line in Path(report.name).read_text().splitlines()]
    found = [Outcome(**row) for row in rows]
    if os.WIFSIGNALED(status) and len(found) < len(rest):
        number = rest.start + len(found)
        found.append(Outcome(number, "crash", f"signal {os.WTERMSIG(status)}"))
    return found


def _work(rest: range, attempt: Callable[[int], str], seconds: float, report: str) -> None:
    start = resident_megabytes()
    _bound_memory()
    signal.signal(signal.SIGPROF, _time_is_up)
    warnings.simplefilter("ignore")
    with open(report, "a", encoding="utf-8") as out:
        for number in rest:
            row = _outcome(number, attempt, seconds, start)
            out.write(json.dumps(row) + "\n")
            out.flush()
            if row["kind"] in ("memory", "hang"):
                return  # the next child starts afresh


def _outcome(
    number: int, attempt: Callable[[int], str], seconds: float, start: float
) -> dict[str, Any]:
    kind, reason = "fine", ""
    begin = time.process_time()
    signal.setitimer(signal.ITIMER_PROF, seconds)
    place = ["?"]
    try:
        attempt_named(attempt, number, place)
    except Hang:
        kind, reason = "hang", _where()
    except MemoryError:
        kind, reason = "memory", _where()
    except (ValueError, OSError) as error:
        named = place[0] in str(error)
        kind, reason = ("refused" if named else "unnamed"), str(error)[:300]
    except BaseException as error:
        kind, reason = "exception", f"{type(error).__name__}: {error!s:.200} {_where()}"
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
    grown = _peak() - start
    if kind in ("fine", "refused") and grown > MEGABYTES:
        kind, reason = "memory", f"{grown:.0f} MB more than at the start"
    spent = time.process_time() - begin
    return {
        "index": number,
        "kind": kind,
        "reason": reason,
        "seconds": round(spent, 4),
        "megabytes": round(grown, 1),
    }


def attempt_named(attempt: Callable[[int], Any], number: int, place: list[str]) -> None:
    """Lets the attempt say first which words a refusal must contain."""
    steps = attempt(number)
    place[0] = next(steps)
    for _ in steps:
        pass


def _bound_memory() -> None:
    pages = int(Path("/proc/self/statm").read_text().split()[0]) if sys.platform == "linux" else 0
    size = pages * resource.getpagesize() or 4 << 30
    resource.setrlimit(resource.RLIMIT_AS, (size + (1 << 30), size + (1 << 30)))


def resident_megabytes() -> float:
    """Return the resident memory of this process; 0 where it is not known."""
    pages = int(Path("/proc/self/statm").read_text().split()[1]) if sys.platform == "linux" else 0
    return pages * resource.getpagesize() / 2**20


def _peak() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def _time_is_up(*_: object) -> None:
    raise Hang


def _where() -> str:
    frames = traceback.extract_tb(sys.exc_info()[2])
    own = [f for f in frames if "/textrank/" in f.filename] or frames
    return " < ".join(f"{Path(f.filename).name}:{f.lineno} {f.name}" for f in own[-1:-4:-1])


def summary(found: Sequence[Outcome]) -> dict[str, int]:
    """How many of each kind."""
    kinds = [outcome.kind for outcome in found]
    return {kind: kinds.count(kind) for kind in dict.fromkeys(kinds)}
