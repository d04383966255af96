"""``textrank apply --out``: annotate inputs into a folder of result tables, with progress.

Inputs are processed in *parts* of about 8 MB of text. Each part is written as soon as it is
finished, so an interrupted run can be resumed.
"""

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

    The constructor raises ValueError, with the name of the command-line option, unless ``count``,
    ``timeout`` and ``start_timeout`` are positive.

    Attributes
    ----------
    count
        Number of worker processes on this machine.
    dask
        Address of a Dask scheduler whose workers are used; ``count`` is then ignored. None uses
        processes on this machine.
    timeout
        Seconds without progress after which a worker is killed.
    strict
        Stop at the first document that fails.
    size
        Approximate bytes of text per part.
    start_timeout
        Seconds that a worker may take to start and load the model.
    """

    count: int = 1
    dask: str | None = None
    timeout: float = 300.0
    strict: bool = False
    size: int = SLICE_BYTES
    start_timeout: float = START_TIMEOUT_SECONDS

    def __post_init__(self) -> None:
        """Raise ValueError unless ``count`` is at least 1 and both timeouts are positive."""
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
    """Annotate inputs into tables in the folder ``out``, and return a summary of the folder.

    The folder holds the tables "documents", "names", "statements" and "errors". Parts that an
    earlier run finished are kept, so an interrupted run can be resumed. A document that fails
    becomes a row of "errors", or raises ValueError with ``workers.strict``. Progress is printed on
    standard error, the summary on standard output.

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
        Whether to parse every sentence. By default only sentences that can contain an answer are
        parsed, which is faster and gives the same results.
    workers
        Number of processes, timeouts and size of parts.

    Raises
    ------
    ValueError
        If standard input is among the inputs; if the folder was begun with other settings, is not a
        result folder or is used by another run; if an input has changed; if no worker can be
        started; or, with ``workers.strict``, if a document fails.
    ModuleNotFoundError
        If pyarrow (for "parquet") or Dask (for ``workers.dask``) is not installed.
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
    """Return a function that starts the workers of a job each time it is called.

    The function takes no arguments and returns the ``Pool``. ``workers`` gives the number of
    processes or the Dask scheduler, and the timeouts.
    """

    def start_pool() -> Pool:
        """Start the workers and return their pool."""
        return create_pool(
            job.to_dict(),
            workers.count,
            workers.dask,
            timeout=workers.timeout,
            start_timeout=workers.start_timeout,
        )

    return start_pool


def _check_installed(format: Format) -> None:
    """Raise ModuleNotFoundError if ``format`` is "parquet" and pyarrow is not installed."""
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
    """Callable that prints a line of progress on standard error.

    On a terminal every call prints, and the line replaces the one before. Otherwise a line is
    printed at most every ``PROGRESS_SECONDS``, and after the last part. ``last`` is the time of the
    latest line, by the monotonic clock; calling the printer updates it.
    """

    last: float = field(default_factory=time.monotonic)

    def __call__(self, progress: Progress) -> None:
        """Print a line of progress if one is due.

        On a terminal a line is always due; otherwise if the latest one is at least
        ``PROGRESS_SECONDS`` old, and for the last part.
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
    """Format the progress of a run as one line: parts, documents, speed, errors, remaining time.

    The remaining time (hours:minutes:seconds) is the number of remaining parts times the mean
    duration of the parts that this run has finished, rounded down. Before the first is finished,
    the time since the start counts as the duration of one.

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

    Parts, documents, names, statements and errors are counted over the whole folder; words and
    words per second are those of this run. A row "first error" is added if there are errors.
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
