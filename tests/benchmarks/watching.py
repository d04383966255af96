"""A command that runs, seen from outside: memory and processor time of all its processes."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

WORKER = "textrank.scale.worker"
PAGE, TICK = os.sysconf("SC_PAGE_SIZE"), os.sysconf("SC_CLK_TCK")


@dataclass
class Watched:
    """What was seen of a command: seconds by the clock, and of each process its time and memory."""

    code: int = 0
    seconds: float = 0.0
    processor: dict[int, float] = field(default_factory=dict)  # seconds, as last seen
    memory: dict[int, list[int]] = field(default_factory=dict)  # bytes of workers, by sample

    @property
    def used(self) -> float:
        """Seconds of processor time of all processes together."""
        return sum(self.processor.values())

    def growth(self, fewest: int = 50) -> list[float]:
        """Of each worker that lived long enough, its last tenth of memory over its second."""
        lives = [np.array(held, dtype=float) for held in self.memory.values()]
        tenths = [np.array_split(life, 10) for life in lives if len(life) >= fewest]
        return [float(parts[-1].mean() / parts[1].mean()) for parts in tenths]


def watch(arguments: Sequence[str], out: Path, every: float = 0.5) -> Watched:
    """Runs ``textrank`` with arguments and looks at its processes now and then.

    Memory counts from the first finished part in ``out`` on: before it, models are loaded.
    """
    command = [sys.executable, "-c", "from textrank.cli import main; main()", *arguments]
    seen, begun = Watched(), time.monotonic()
    run = subprocess.Popen([*command, "--out", str(out)], stdout=subprocess.DEVNULL)
    while run.poll() is None:
        begins = any((out / "documents").glob("*.parquet"))
        for pid in below(run.pid):
            _look(pid, seen, begins)
        time.sleep(every)
    seen.code, seen.seconds = run.returncode, time.monotonic() - begun
    return seen


def _look(pid: int, seen: Watched, begins: bool) -> None:
    place = Path(f"/proc/{pid}")
    try:
        facts = place.joinpath("stat").read_text().rpartition(")")[2].split()
        words = place.joinpath("cmdline").read_text()
        held = int(place.joinpath("statm").read_text().split()[1]) * PAGE
    except (OSError, IndexError):
        return  # it has ended meanwhile
    seen.processor[pid] = (int(facts[11]) + int(facts[12])) / TICK
    if begins and WORKER in words:
        seen.memory.setdefault(pid, []).append(held)


def below(pid: int) -> list[int]:
    """A process and all that it started, however far down."""
    found = [pid]
    for task in Path(f"/proc/{pid}/task").glob("*/children"):
        try:
            own = task.read_text().split()
        except OSError:
            continue
        found += [further for child in own for further in below(int(child))]
    return found
