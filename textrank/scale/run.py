"""Resumable run: turns the missing slices of a result folder into parts, even if workers die.

Finished parts are never computed again. A slice whose worker dies is tried once more, then split to
isolate the document that is to blame; splits and failures are recorded in the sub-folder ``.work``,
so that a later run continues from there.

A *slice* is a unit of input documents, a *part* the rows that it gives, stored under the slice's
id. *Suspects* are the documents that a worker was busy with when it died.
"""

from __future__ import annotations

import json
import time
from collections import Counter, deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from queue import Empty
from typing import Any

from textrank.io import lock_file, open_atomic, read_json
from textrank.io.atomic import DRAFT_NAME
from textrank.results.schema import (
    FORMATS,
    TABLES,
    Format,
    check_part_file,
    count_rows,
    list_parts,
    part_file,
    read_rows,
    remove_part,
    remove_unfinished_parts,
    write_part,
)
from textrank.scale.job import (
    MANIFEST_FILE,
    SLICE_BYTES,
    Input,
    Job,
    Manifest,
    Slice,
    list_read_files,
    path_checksum,
)
from textrank.scale.supervisor import NO_PROGRESS, Outcome, Pool, Report

WORK_FOLDER = ".work"  # splits, failures and the lock
FAILED_SUFFIX = ".failed"  # marks a part that the next run tries again
POLL_SECONDS = 2.0  # between checks that workers are still there
MAX_SUSPECTS = 3  # documents split off one by one before their file is blamed
MAX_ATTEMPTS = 2  # at a slice before it is split
MAX_FAILED_STARTS = 3  # in a row, of workers, before a run gives up


@dataclass(frozen=True)
class Progress:
    """State of a run; counts are of this run unless said otherwise.

    Attributes
    ----------
    parts, total
        Finished and planned parts, including those of earlier runs.
    done
        Parts finished by this run.
    seconds
        Since the run began.
    memory
        Bytes held by the worker that finished last.
    """

    parts: int
    total: int
    documents: int
    words: int
    errors: int
    seconds: float
    done: int
    memory: int = 0

    @property
    def speed(self) -> float:
        """Words per second of this run; 0 at its very beginning."""
        return self.words / self.seconds if self.seconds else 0.0


@dataclass(frozen=True)
class Summary:
    """Content of a finished result folder; ``words`` and ``seconds`` are of this run.

    ``parts`` counts finished parts, also of earlier runs; ``first_error`` is the first row of the
    table ``errors``, None without errors.
    """

    parts: int
    documents: int
    names: int
    statements: int
    errors: int
    words: int
    seconds: float
    first_error: Mapping[str, Any] | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return the fields as JSON values."""
        return asdict(self)


@dataclass
class Run:
    """Application of a job to inputs, part by part.

    A document that kills its worker or makes no progress is given up in this run and tried again by
    the next one, since the machine may be to blame. Errors raised while a document is read or
    annotated are final, since they come from the document. Call a Run once: its counts are not
    reset.

    Attributes
    ----------
    job
        Model, settings and result folder.
    settings
        What results depend on (``textrank.scale.worker.job_settings``); a folder begun with others
        is refused.
    strict
        Raise ValueError at the first document that fails, instead of recording it.
    slice_bytes
        Text per slice; it matters only for inputs that are new in the folder.
    on_progress
        Called after each report of a worker, also one of a slice that is tried again.
    """

    job: Job
    settings: Mapping[str, Any]
    strict: bool = False
    slice_bytes: int = SLICE_BYTES
    on_progress: Callable[[Progress], None] = lambda _: None
    _deaths: Counter[str] = field(default_factory=Counter)
    _count: Counter[str] = field(default_factory=Counter)
    _failed_starts: int = 0

    @property
    def folder(self) -> Path:
        """Folder of the result."""
        return Path(self.job.folder)

    def __call__(self, sources: Sequence[str], pool: Callable[[], Pool]) -> Summary:
        """Process what is missing of the inputs and return the summary of the folder.

        The folder is created if it does not exist. Documents that fail are rows of its table
        ``errors``, and no error here unless ``strict``.

        Parameters
        ----------
        sources
            Files and folders; those of earlier runs need not be repeated.
        pool
            Creates the workers; called only if something is missing.

        Raises
        ------
        ValueError
            If the folder was begun with other settings, is not a result, or is used by another
            run; if an input has changed; if no worker can be started; and, with ``strict``, if a
            document fails.
        """
        start_time = time.monotonic()
        self._load_manifest()  # refuses a folder of something else before anything is created
        self._make_folders()
        with lock_folder(self.folder):
            # Read again: another run may have added inputs since.
            manifest = self._load_manifest().add_inputs(sources, self.slice_bytes)
            manifest.write(self.folder)
            remove_unfinished_parts(self.folder, self.job.format)
            missing = deque(self._missing(manifest.slices))
            self._check_strict()
            if missing:
                self._work(missing, _paths_by_number(manifest), pool, start_time)
        return self._summary(time.monotonic() - start_time)

    def _load_manifest(self) -> Manifest:
        """Return the manifest of the folder, or a new one without inputs if it has none.

        Raises ValueError if the folder holds something else than a result, has a damaged manifest,
        or was begun with other settings.
        """
        recorded = Manifest.read(self.folder)
        if recorded is None:
            if self.folder.is_dir() and not _has_no_result(self.folder):
                raise ValueError(f"{self.folder} exists and is not a result. Choose another name.")
            return Manifest(dict(self.settings))
        recorded.check_settings(self.settings, self.folder)
        return recorded

    def _make_folders(self) -> None:
        """Create the folders of the tables and ``.work``.

        Raise ValueError if that is not possible.
        """
        try:
            for name in (*TABLES, WORK_FOLDER):
                (self.folder / name).mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise ValueError(f"cannot write to {self.folder}: {error.strerror}.") from error

    def _missing(self, slices: Sequence[Slice]) -> Iterator[Slice]:
        """Iterate over the slices to process, with recorded splits applied.

        Finished slices are counted in ``_count["parts"]``; those marked as failed are processed
        again. Stale parts of split slices are removed.
        """
        finished = list_parts(self.folder, self.job.format)
        failed_ids = self._failed_parts()
        waiting = deque(slices)
        while waiting:
            slice = waiting.popleft()
            if smaller := self._recorded_split(slice):
                self._forget_part(slice)  # left if a run was killed before removing it
                waiting.extendleft(reversed(smaller))
            elif slice.id in finished and slice.id not in failed_ids:
                self._count["parts"] += 1
            else:
                yield slice

    def _work(
        self,
        missing: deque[Slice],
        paths: Mapping[int, str],
        pool: Callable[[], Pool],
        start_time: float,
    ) -> None:
        """Submit slices to the pool and handle reports until nothing is left.

        ``missing`` is consumed; ``paths`` are the input files by number; ``pool`` creates the
        workers, which are closed at the end, also after an error; ``start_time`` is the monotonic
        time at which the run began.
        """
        workers = pool()
        submitted: dict[str, Slice] = {}
        try:
            while missing or submitted:
                while missing and len(submitted) < workers.capacity():
                    slice = missing.popleft()
                    submitted[slice.id] = slice
                    files = {piece.input: paths[piece.input] for piece in slice.pieces}
                    workers.submit(slice.id, slice.to_dict(), files)
                id, outcome = _wait_for_report(workers)
                slice = submitted.pop(id)
                missing.extendleft(reversed(self._settle(slice, outcome)))
                remaining = len(missing) + len(submitted)
                self.on_progress(self._progress(remaining, time.monotonic() - start_time, outcome))
        finally:
            workers.close()

    def _settle(self, slice: Slice, outcome: Outcome) -> list[Slice]:
        """Record the outcome of a slice and return the slices to process instead of it.

        [] if it is finished or given up, the slice itself to try it again, or the slices that it
        was split into. After ``MAX_ATTEMPTS`` deaths, or at once if the worker hung, it is split; a
        single document is given up instead. Raises ValueError for an outcome that ends the run.
        """
        if outcome.refused:
            raise ValueError(outcome.refused)
        if outcome.not_started:
            return self._start_again(slice, outcome)
        self._failed_starts = 0
        if outcome.done is not None:
            self._failed_marker(slice).unlink(missing_ok=True)
            self._finish(outcome.done)
            return []
        self._deaths[slice.id] += 1
        is_single_document = [s[:2] for s in outcome.suspects] == _find_single_document(slice)
        has_hung = outcome.died.startswith(NO_PROGRESS)
        if self._deaths[slice.id] < MAX_ATTEMPTS and not has_hung:
            return [slice]
        suspects = [] if _is_file_to_blame(slice, outcome) else [s[:2] for s in outcome.suspects]
        smaller = [] if is_single_document else slice.split_off(suspects)
        if smaller:
            self._record_split(slice, smaller)
            return smaller
        self._blame(slice, outcome)
        return []

    def _start_again(self, slice: Slice, outcome: Outcome) -> list[Slice]:
        """Return the slice, in a list, for another worker, and count the failed start.

        Raises ValueError at the ``MAX_FAILED_STARTS``-th failed start in a row.
        """
        self._failed_starts += 1
        if self._failed_starts < MAX_FAILED_STARTS:
            return [slice]
        raise ValueError(
            f"no worker could be started: {outcome.died}. Finished parts are kept: run the command "
            "again, with a larger --start-timeout if loading the model takes longer here."
        )

    def _finish(self, done: Mapping[str, Any]) -> None:
        """Add the counts of a finished part; with ``strict`` raise ValueError for its first error.

        ``done`` has ``documents``, ``words``, ``errors`` (numbers) and ``first`` (list of the first
        error row, or []).
        """
        self._count.update(("parts", "done"))
        for key in ("documents", "words", "errors"):
            self._count[key] += int(done[key])
        if self.strict and done["errors"]:
            raise ValueError(_format_error(done["first"][0]))

    def _blame(self, slice: Slice, outcome: Outcome) -> None:
        """Write a part that holds only the error of the document or file that killed workers.

        The part is marked as failed first, so that the next run tries it again. A file that several
        slices share is reported by the one whose piece has ``first`` 0; the parts of others are
        empty. With ``strict`` the error is raised as ValueError, after the part is written.
        """
        piece = slice.pieces[0]
        is_single_document = _find_single_document(slice) is not None and outcome.suspects
        name = outcome.suspects[0][2] if is_single_document else Path(piece.source).name
        row = {"source": piece.source, "document": name, "reason": outcome.died}
        rows = [row] if is_single_document or piece.first == 0 else []  # a file is reported once
        with open_atomic(self._failed_marker(slice)) as out:
            out.write(outcome.died + "\n")
        write_part(self.folder, slice.id, {"errors": rows}, self.job.format)
        self._finish({"documents": 0, "words": 0, "errors": len(rows), "first": rows})

    def _record_split(self, slice: Slice, smaller: Sequence[Slice]) -> None:
        """Record that a slice was split, so that no later run processes it as a whole.

        Its part and failure mark, if any, are removed.
        """
        with open_atomic(self.folder / WORK_FOLDER / f"{slice.id}.json") as out:
            out.write(json.dumps([part.to_dict() for part in smaller]) + "\n")
        self._forget_part(slice)

    def _forget_part(self, slice: Slice) -> None:
        """Remove the part and the failure mark of a slice that was split.

        The part holds the error of an earlier run.
        """
        remove_part(self.folder, slice.id, self.job.format)
        self._failed_marker(slice).unlink(missing_ok=True)

    def _failed_marker(self, slice: Slice) -> Path:
        """Return the path of the file that marks a slice as failed, which need not exist."""
        return self.folder / WORK_FOLDER / f"{slice.id}{FAILED_SUFFIX}"

    def _failed_parts(self) -> set[str]:
        """Return the ids of the parts whose work failed and is to be tried again."""
        return {file.stem for file in (self.folder / WORK_FOLDER).glob(f"*{FAILED_SUFFIX}")}

    def _recorded_split(self, slice: Slice) -> list[Slice]:
        """Return the slices that an earlier run split this one into, or [] if it was not split.

        These may have been split further. Raises ValueError, TypeError or KeyError if the record is
        damaged.
        """
        file = self.folder / WORK_FOLDER / f"{slice.id}.json"
        if not file.is_file():
            return []
        return [Slice.from_dict(row) for row in json.loads(file.read_text(encoding="utf-8"))]

    def _check_strict(self) -> None:
        """With ``strict``, raise ValueError if the folder holds an error of an earlier run.

        Errors of parts that this run tries again do not count.
        """
        if self.strict:
            retried = self._failed_parts()  # by this run, so not errors yet
            for row in read_rows(self.folder, "errors", self.job.format, skip=retried):
                raise ValueError(_format_error(row))

    def _progress(self, left: int, seconds: float, outcome: Outcome) -> Progress:
        """Return the Progress after a report; ``left`` slices remain, submitted ones included.

        ``seconds`` is the time since the run began. ``outcome`` gives the memory of the worker, 0
        if it did not finish its slice.
        """
        count = self._count
        total = count["parts"] + left
        memory = int((outcome.done or {}).get("memory", 0))
        done = (count["documents"], count["words"], count["errors"])
        return Progress(count["parts"], total, *done, seconds, count["done"], memory)

    def _summary(self, seconds: float) -> Summary:
        """Count the rows of all tables in the folder; ``seconds`` is the time that the run took.

        Raises ValueError for a damaged file.
        """

        def rows(table: str) -> int:
            """Count the rows of a table over all parts."""
            return count_rows(self.folder, table, self.job.format)

        first = next(read_rows(self.folder, "errors", self.job.format), None)
        return Summary(
            parts=self._count["parts"],
            documents=rows("documents"),
            names=rows("names"),
            statements=rows("statements"),
            errors=rows("errors"),
            words=self._count["words"],
            seconds=seconds,
            first_error=first,
        )


def _wait_for_report(workers: Pool) -> Report:
    """Return the next report; blocks, and raises ValueError if no worker is left.

    Workers are checked every ``POLL_SECONDS``.
    """
    while True:
        try:
            return workers.reports.get(timeout=POLL_SECONDS)
        except Empty:
            workers.check()


def _paths_by_number(manifest: Manifest) -> dict[int, str]:
    """Return the absolute paths of the inputs by number: their position in the manifest."""
    return {number: file.path for number, file in enumerate(manifest.inputs)}


def _find_single_document(slice: Slice) -> list[tuple[int, int]] | None:
    """Return ``[(index of the piece, number)]`` if the slice is a single document, else None.

    None also if its only document is not listed in ``Piece.only``.
    """
    numbers = [(i, n) for i, piece in enumerate(slice.pieces) for n in piece.only or ()]
    are_listed = all(piece.only is not None for piece in slice.pieces)
    return numbers if are_listed and len(numbers) == 1 else None


def _is_file_to_blame(slice: Slice, outcome: Outcome) -> bool:
    """Return whether a file itself kills its reader: splitting off documents did not help.

    True if the worker died while reading and at least ``MAX_SUSPECTS`` documents of a piece were
    split off.
    """
    return outcome.reading and any(len(piece.without) >= MAX_SUSPECTS for piece in slice.pieces)


def _format_error(row: Mapping[str, Any]) -> str:
    """Return a row of the table ``errors`` as one line: source, document and reason."""
    return f"{row['source']}, document {row['document']!r}: {row['reason']}"


def _has_no_result(folder: Path) -> bool:
    """Return whether a folder has only what a run creates before it writes the manifest.

    That is empty table folders, ``.work`` and drafts; True for an empty folder.
    """
    return all(
        DRAFT_NAME.fullmatch(path.name)
        or path.name == WORK_FOLDER
        or (path.name in TABLES and _is_empty(path))
        for path in folder.iterdir()
    )


def _is_empty(folder: Path) -> bool:
    """Return whether ``folder`` is an empty folder; False if it is a file or missing."""
    return folder.is_dir() and not any(folder.iterdir())


@contextmanager
def lock_folder(folder: Path) -> Iterator[None]:
    """Hold an exclusive lock on a result folder; raise ValueError if another run has it.

    ``.work`` must exist in the folder. The lock is released at the
    end; the system releases that of a killed process.
    """
    try:
        handle = lock_file(folder / WORK_FOLDER / "lock")
    except OSError as error:
        raise ValueError(f"{folder}: another run is writing to it. Wait for it.") from error
    with handle:
        yield


# Verification -------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Problem:
    """Something wrong with a result folder.

    Attributes
    ----------
    kind
        "damaged" (a part cannot be read), "missing" (a planned part is not finished), "failed" (a
        document of the part killed its worker; the next run tries it again), "stray" (a file of no
        planned part, or of an unfinished one) or "input" (an input has changed or is gone).
    place
        File or folder.
    reason
        What is wrong.
    repaired
        Whether ``verify_folder`` removed the cause.
    """

    kind: str
    place: str
    reason: str
    repaired: bool = False

    def to_dict(self) -> dict[str, Any]:
        """Return the fields as JSON values."""
        return asdict(self)


def verify_folder(folder: Path, *, repair: bool = False) -> list[Problem]:
    """Check the parts and inputs of a result folder and return what is wrong; [] if nothing is.

    Every file of every part is read completely. With ``repair``, damaged parts and stray files are
    removed, so that the next run with the same command computes them again; missing and failed
    parts and inputs are left alone. Problems of parts come first, then stray files and inputs.
    Raises ValueError if the folder is not a result, has a damaged manifest or record of a split, or
    is in use by a run.
    """
    manifest = Manifest.read(folder)
    if manifest is None:
        raise ValueError(f"{folder}: no manifest.json, so this is not a result of apply --out.")
    format = manifest.settings.get("format", "parquet")
    if format not in FORMATS:
        raise ValueError(f"{folder / MANIFEST_FILE}: damaged, its format is {format!r:.40}.")
    (folder / WORK_FOLDER).mkdir(exist_ok=True)
    with lock_folder(folder):
        slices = _planned_slices(folder, manifest.slices)
        problems = [*_check_parts(folder, slices, format, repair)]
        problems += _check_strays(folder, {slice.id for slice in slices}, format, repair)
    return problems + [problem for file in manifest.inputs if (problem := _check_input(file))]


def _planned_slices(folder: Path, slices: Sequence[Slice]) -> list[Slice]:
    """Return the slices of a manifest, those that were split replaced by what they were split into.

    The order is kept. Raises ValueError if the record of a split is damaged.
    """
    planned: list[Slice] = []
    waiting = deque(slices)
    while waiting:
        slice = waiting.popleft()
        file = folder / WORK_FOLDER / f"{slice.id}.json"
        if not file.is_file():
            planned.append(slice)
            continue
        try:
            smaller = [Slice.from_dict(row) for row in read_json(file)]
        except (KeyError, TypeError, AttributeError) as error:
            raise ValueError(
                f"{file}: damaged ({error!r:.80}). Remove it and run again."
            ) from error
        waiting.extendleft(reversed(smaller))
    return planned


def _check_parts(
    folder: Path, slices: Sequence[Slice], format: Format, repair: bool
) -> Iterator[Problem]:
    """Yield the parts that are missing, failed or damaged; a failed one may be damaged too.

    ``slices`` are those of ``_planned_slices``. With ``repair`` damaged parts are removed.
    """
    finished = list_parts(folder, format)
    for slice in slices:
        place = str(part_file(folder, "documents", slice.id, format))
        if slice.id not in finished:
            yield Problem("missing", place, "not finished. Run textrank apply --out again.")
            continue
        if (folder / WORK_FOLDER / f"{slice.id}{FAILED_SUFFIX}").exists():
            yield Problem("failed", place, "a worker died. The next run tries it again.")
        try:
            for table in TABLES:
                check_part_file(part_file(folder, table, slice.id, format), table, format)
        except ValueError as error:
            if repair:
                remove_part(folder, slice.id, format)
            yield Problem("damaged", place, str(error), repair)


def _check_strays(folder: Path, ids: set[str], format: Format, repair: bool) -> Iterator[Problem]:
    """Yield files of the table folders that belong to no finished part; remove them to repair.

    ``ids`` are those of the planned slices. Sub-folders are yielded too, but never removed. Hidden
    files, such as drafts, count.
    """
    finished = list_parts(folder, format) & ids
    for table in TABLES:
        for file in sorted((folder / table).glob("*")):
            if file.suffix == f".{format}" and file.stem in finished:
                continue
            is_removed = repair and (file.is_file() or file.is_symlink())
            if is_removed:
                file.unlink()
            yield Problem("stray", str(file), "belongs to no finished part.", is_removed)


def _check_input(file: Input) -> Problem | None:
    """Return the problem of an input that is gone or whose content has changed, else None.

    All its files are read.
    """
    if not Path(file.path).exists():
        return Problem("input", file.source, "is gone; its documents stay in the result.")
    path = Path(file.path)
    files = list_read_files(path) if file.state else None
    if path_checksum(path, files) != file.checksum:
        return Problem("input", file.source, "has changed since the result was begun.")
    return None
