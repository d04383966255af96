"""A process that works on slices: ``python -m textrank.scale.child``, one JSON line at a time.

It reads a job, then slices from standard input, and says on standard output what it does. Its
parent sees when it dies or stands still; it sees when its parent dies, and ends.
"""

from __future__ import annotations

import gc
import json
import os
import sys
import threading
from queue import SimpleQueue
from typing import IO, Any

from textrank.scale.job import Job
from textrank.scale.plan import Slice


def main() -> None:
    """Works until standard input ends."""
    out = _private_output()
    lines: SimpleQueue[str] = SimpleQueue()
    threading.Thread(target=_listen, args=(lines,), daemon=True).start()
    say = _Voice(out)
    try:
        from textrank.scale.worker import Worker

        start = json.loads(lines.get())
        worker = Worker(Job.from_dict(start["job"]))
        worker.warm_up()
    except (ValueError, OSError, ImportError) as error:
        say({"refused": str(error)})
        return
    gc.freeze()  # models stay: a collection need not look through them each time
    say({"ready": os.getpid()})
    while True:
        order = json.loads(lines.get())
        paths = {int(number): path for number, path in order["paths"].items()}
        try:
            done = worker(Slice.from_dict(order["slice"]), paths, say)
        except OSError as error:
            say({"refused": f"cannot write to {worker.job.folder}: {error.strerror or error}"})
            continue
        say({"done": {**done, "memory": memory()}})


class _Voice:
    """Says things to the parent; when nobody listens any more there is nothing left to do."""

    def __init__(self, out: IO[str]) -> None:
        self.out = out

    def __call__(self, message: dict[str, Any]) -> None:
        try:
            self.out.write(json.dumps(message) + "\n")
            self.out.flush()
        except BrokenPipeError:
            os._exit(1)


def _private_output() -> IO[str]:
    """Standard output for messages alone; whatever else prints there goes to standard error."""
    own = os.dup(1)
    os.dup2(2, 1)
    return os.fdopen(own, "w", encoding="utf-8")


def _listen(lines: SimpleQueue[str]) -> None:
    for line in sys.stdin:
        lines.put(line)
    os._exit(0)  # the parent is gone, or has no more work: parts are whole, drafts get cleared


def memory() -> int:
    """Bytes of memory that this process holds now; 0 where the system does not say."""
    try:
        with open("/proc/self/statm", encoding="ascii") as facts:
            return int(facts.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError, IndexError):
        return 0


if __name__ == "__main__":
    main()
