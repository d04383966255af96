"""``apply --out``: judges inputs part by part into a folder, and says how far it is."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from textrank.results.schema import Format
from textrank.scale.job import SLICE_BYTES, Job
from textrank.scale.run import Progress, Run, Summary
from textrank.scale.supervisor import START_TIMEOUT_SECONDS, Pool, create_pool
from textrank.scale.two_pass import job_settings

EXIT_SOME_FAILED = 3  # exit code when all parts are done and some documents failed
PROGRESS_SECONDS = 30.0  # seconds between lines of progress where there is no terminal


@dataclass(frozen=True)
class WorkerOptions:
    """Who works: processes of this machine or a cluster, and what is expected of them."""

    count: int = 1
    dask: str | None = None
    timeout: float = 300.0
    strict: bool = False
    size: int = SLICE_BYTES
    start_timeout: float = START_TIMEOUT_SECONDS

    def __post_init__(self) -> None:
        if self.count < 1:
            raise ValueError(f"--workers must be at least 1, got {self.count}.")
        if not self.timeout > 0:
            raise ValueError(f"--timeout must be positive, got {self.timeout}.")
        if not self.start_timeout > 0:
            raise ValueError(f"--start-timeout must be positive, got {self.start_timeout}.")


ONE_WORKER = WorkerOptions()


def apply_to_folder(
    model: str,
    inputs: Sequence[str],
    out: Path,
    nlp: str | None = None,
    *,
    settings: Sequence[str] = (),
    format: Format = "parquet",
    whole: bool = False,
    workers: WorkerOptions = ONE_WORKER,
) -> Summary:
    """Does what is missing of a result, shows progress and the final table.

    The folder then holds documents, names, statements and errors as plain tables.
    """
    _check_installed(format)
    if "-" in inputs:
        raise ValueError("--out reads files and folders, not standard input: it may be run again.")
    job = Job(model, str(out.resolve()), nlp, tuple(settings), format, whole)
    run = Run(job, job_settings(job), workers.strict, workers.size, _Told())
    summary = run(inputs, _pool(job, workers))
    Console(width=None if sys.stdout.isatty() else 100).print(_table(summary, out))
    return summary


def _pool(job: Job, workers: WorkerOptions) -> Callable[[], Pool]:
    def pool() -> Pool:
        return create_pool(
            job.to_dict(),
            workers.count,
            workers.dask,
            timeout=workers.timeout,
            start_timeout=workers.start_timeout,
        )

    return pool


def _check_installed(format: Format) -> None:
    if format != "parquet":
        return
    try:
        import pyarrow  # noqa: F401
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError(
            "--out writes Parquet with pyarrow. Install it with: pip install "
            "'textrank-kernels[scale]', or write JSON lines: --format jsonl"
        ) from error


@dataclass
class _Told:
    """Says on standard error how far a run is: at once on a terminal, else now and then."""

    last: float = field(default_factory=time.monotonic)

    def __call__(self, progress: Progress) -> None:
        terminal = sys.stderr.isatty()
        now = time.monotonic()
        if not terminal and now - self.last < PROGRESS_SECONDS and progress.parts < progress.total:
            return
        self.last = now
        end = "\n" if not terminal or progress.parts == progress.total else "\r"
        sys.stderr.write(progress_line(progress) + end)
        sys.stderr.flush()


def progress_line(progress: Progress) -> str:
    """Parts, documents, speed and the time that is left, in one line.

    >>> progress_line(Progress(3, 4, 2000, 400000, 1, 40.0, 3))
    '3 of 4 parts, 2,000 documents, 10,000 words/s, 1 errors, 1 parts left, about 0:00:13'
    """
    left = progress.total - progress.parts
    rest = progress.seconds / max(progress.done, 1) * left
    shown = time.strftime("%H:%M:%S", time.gmtime(rest)).removeprefix("0")
    return (
        f"{progress.parts} of {progress.total} parts, {progress.documents:,} documents, "
        f"{progress.speed:,.0f} words/s, {progress.errors:,} errors, {left} parts left, "
        f"about {shown}"
    )


def _table(summary: Summary, out: Path) -> Table:
    table = Table(title=str(out), show_header=False)
    table.add_column()
    table.add_column(justify="right")
    rows: dict[str, Any] = {
        "parts": summary.parts,
        "documents": summary.documents,
        "names": summary.names,
        "statements": summary.statements,
        "errors": summary.errors,
        "words, this run": summary.words,
    }
    for name, value in rows.items():
        table.add_row(name, f"{value:,}")
    speed = summary.words / summary.seconds if summary.seconds else 0.0
    table.add_row("words a second", f"{speed:,.0f}")
    if summary.first_error is not None:
        table.add_row("first error", str(summary.first_error["reason"]))
    return table
