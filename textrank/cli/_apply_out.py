"""``textrank apply --out``: annotate inputs part by part into a folder, with progress."""

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
from textrank.scale.worker import job_settings

EXIT_SOME_FAILED = 3  # all parts are done, but some documents failed
PROGRESS_SECONDS = 30.0  # between lines of progress if there is no terminal


@dataclass(frozen=True)
class WorkerOptions:
    """Options of the workers of ``apply --out``.

    Raises ValueError, with the option, unless ``count``, ``timeout`` and ``start_timeout`` are
    positive.

    Attributes
    ----------
    count
        Number of processes.
    dask
        Address of a Dask scheduler, which then replaces ``count``; None starts processes here.
    timeout
        Seconds without progress after which a worker is killed.
    strict
        Stop at the first document that fails.
    size
        Bytes of text per part, about.
    start_timeout
        Seconds to load the model.
    """

    count: int = 1
    dask: str | None = None
    timeout: float = 300.0
    strict: bool = False
    size: int = SLICE_BYTES
    start_timeout: float = START_TIMEOUT_SECONDS

    def __post_init__(self) -> None:
        """Raise ValueError unless there is a worker and both timeouts are positive."""
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
    """Annotate what is missing in the folder ``out``, show progress and print a summary.

    The folder then holds documents, names, statements and errors as tables. Parts that an earlier
    run finished are not annotated again, so an interrupted run can be resumed. Documents that fail
    are rows of the table of errors, unless ``workers.strict``.

    Parameters
    ----------
    model
        Name of a shipped model, or path of a model folder.
    inputs
        Files and folders with texts or corpora; not ``-``.
    out
        Folder of the results; created if missing.
    nlp
        Name or path of a spaCy pipeline; None uses the shipped one.
    settings
        Changed settings of the model's task, such as ``["task.precision=0.9"]``.
    format
        File format of the tables, "parquet" or "jsonl".
    whole
        Parse every sentence, not only those that can have an answer; results are the same.
    workers
        Number of processes, timeouts and size of parts.

    Raises
    ------
    ValueError
        If standard input is among the inputs, and as ``scale.run.Run``.
    ModuleNotFoundError
        If pyarrow or Dask are needed and not installed.
    """
    _check_installed(format)
    if "-" in inputs:
        raise ValueError("--out needs files or folders, not standard input, to be resumable.")
    job = Job(model, str(out.resolve()), nlp, tuple(settings), format, whole)
    run = Run(job, job_settings(job), workers.strict, workers.size, _ProgressPrinter())
    summary = run(inputs, _pool_factory(job, workers))
    Console(width=None if sys.stdout.isatty() else 100).print(_summary_table(summary, out))
    return summary


def _pool_factory(job: Job, workers: WorkerOptions) -> Callable[[], Pool]:
    """Return a function without arguments that starts the workers of a job when it is called."""

    def pool() -> Pool:
        """Create the workers."""
        return create_pool(
            job.to_dict(),
            workers.count,
            workers.dask,
            timeout=workers.timeout,
            start_timeout=workers.start_timeout,
        )

    return pool


def _check_installed(format: Format) -> None:
    """Raise ModuleNotFoundError if the format needs pyarrow and it is missing.

    Only ``"parquet"`` needs it.
    """
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
class _ProgressPrinter:
    """Printer of progress on standard error: always on a terminal, else every 30 seconds.

    The last part is always reported. ``last`` is the time of the latest line, by the monotonic
    clock; calling the printer changes it.
    """

    last: float = field(default_factory=time.monotonic)

    def __call__(self, progress: Progress) -> None:
        """Print a line of progress, if one is due; on a terminal it replaces the line before.

        Without a terminal a line is due every ``PROGRESS_SECONDS``, and for the last part.
        """
        is_terminal = sys.stderr.isatty()
        now = time.monotonic()
        if (
            not is_terminal
            and now - self.last < PROGRESS_SECONDS
            and progress.parts < progress.total
        ):
            return
        self.last = now
        end = "\n" if not is_terminal or progress.parts == progress.total else "\r"
        sys.stderr.write(progress_line(progress) + end)
        sys.stderr.flush()


def progress_line(progress: Progress) -> str:
    """Return parts, documents, speed and remaining time (hours, minutes, seconds) in one line.

    The remaining time is estimated from the parts that this run has done, at their mean duration.

    >>> progress_line(Progress(3, 4, 2000, 400000, 1, 40.0, 3))
    '3 of 4 parts, 2,000 documents, 10,000 words/s, 1 errors, 1 parts left, about 0:00:13'
    >>> progress_line(Progress(1, 31, 2000, 400000, 0, 3600.0, 1)).rpartition("about ")[2]
    '30:00:00'
    """
    parts_left = progress.total - progress.parts
    minutes, seconds = divmod(int(progress.seconds / max(progress.done, 1) * parts_left), 60)
    time_left = f"{minutes // 60}:{minutes % 60:02}:{seconds:02}"
    return (
        f"{progress.parts} of {progress.total} parts, {progress.documents:,} documents, "
        f"{progress.speed:,.0f} words/s, {progress.errors:,} errors, {parts_left} parts left, "
        f"about {time_left}"
    )


def _summary_table(summary: Summary, out: Path) -> Table:
    """Return the summary of a run as a table of two columns, with the folder as title.

    Counts are those of the folder, except for words and speed, which are of this run. The first
    error has a row only if there is one.
    """
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
    table.add_row("words per second", f"{speed:,.0f}")
    if summary.first_error is not None:
        table.add_row("first error", str(summary.first_error["reason"]))
    return table
