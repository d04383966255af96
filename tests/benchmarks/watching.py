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
    """Measurements of a command: its time, and time and memory of each process."""

    code: int = 0
    seconds: float = 0.0
    processor: dict[int, float] = field(default_factory=dict)  # seconds, as last seen
    memory: dict[int, list[int]] = field(default_factory=dict)  # bytes of workers, by sample

    @property
    def used(self) -> float:
        """Seconds of processor time of all processes."""
        return sum(self.processor.values())

    def growth(self, fewest: int = 50) -> list[float]:
        """Return the memory of each worker at its end over that at its start.

        These are the means of the last and of the second tenth of its samples. Workers with fewer
        than ``fewest`` samples are left out.
        """
        lives = [np.array(held, dtype=float) for held in self.memory.values()]
        tenths = [np.array_split(life, 10) for life in lives if len(life) >= fewest]
        return [float(parts[-1].mean() / parts[1].mean()) for parts in tenths]


def watch(arguments: Sequence[str], out: Path, every: float = 0.5) -> Watched:
    """Run ``textrank`` with arguments and measure its processes every ``every`` seconds.

    Memory counts from the first finished part in ``out`` on; before, models are loaded.
    """
    command = [sys.executable, "-c", "from textrank.cli import main; main()", *arguments]
    seen, begun = Watched(), time.monotonic()
    run = subprocess.Popen([*command, "--out", str(out)], stdout=subprocess.DEVNULL)
    while run.poll() is None:
        begins = any((out / "documents").glob("*.parquet"))
        for pid in below(run.pid):
            _sample(pid, seen, begins)
        time.sleep(every)
    seen.code, seen.seconds = run.returncode, time.monotonic() - begun
    return seen


def _sample(pid: int, seen: Watched, begins: bool) -> None:
    """Add the time and memory of a process to ``seen``, in place; nothing if it has ended."""
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
    """Return a process and all its descendants."""
    pids = [pid]
    for task in Path(f"/proc/{pid}/task").glob("*/children"):
        try:
            children = task.read_text().split()
        except OSError:
            continue
        pids += [further for child in children for further in below(int(child))]
    return pids
