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
    CHECKSUM_FOLDER,
    CHECKSUM_SUFFIX,
    FORMATS,
    TABLES,
    Format,
    check_part_file,
    count_rows,
    list_parts,
    part_file,
    read_checksums,
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
        Seconds since the run began.
    memory
        Bytes of memory held by the worker that reported last; 0 if it did not finish its slice.
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
    """Counts of a finished result folder; ``words`` and ``seconds`` are of this run.

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
        Everything the results depend on (``textrank.scale.worker.job_settings``); a folder begun
        with other settings is refused.
    strict
        Raise ValueError at the first document that fails, instead of recording it.
    slice_bytes
        Approximate bytes of text per slice; inputs already planned in the folder keep their slices.
    on_progress
        Called with the Progress after each report of a worker, also if its slice is tried again.
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
        """Process the slices that are not finished yet and return a summary of the folder.

        The folder is created if it does not exist. A document that fails becomes a row of the table
        ``errors``; an exception is raised only with ``strict``.

        Parameters
        ----------
        sources
            Files and folders to add; inputs of earlier runs are remembered and need not be
            repeated.
        pool
            Creates the workers; called only if a slice is to be processed.

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
        """Return the manifest of the folder, or a new one without inputs if there is none.

        Nothing is written. Raises ValueError if the folder has no manifest but other files, if its
        manifest is damaged, or if it was begun with other settings.
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

        Raises ValueError if a folder cannot be created.
        """
        try:
            for name in (*TABLES, WORK_FOLDER):
                (self.folder / name).mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise ValueError(f"cannot write to {self.folder}: {error.strerror}.") from error

    def _missing(self, slices: Sequence[Slice]) -> Iterator[Slice]:
        """Iterate over the slices that this run must process.

        A slice that an earlier run split is replaced by its smaller slices, and its part is
        removed. Finished slices are counted in ``_count["parts"]`` and left out, unless they are
        marked as failed.
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
        """Process slices with a pool of workers until none is left.

        ``missing`` is emptied. ``paths`` are the input files by number. ``pool`` creates the
        workers, which are closed at the end, also after an error. ``start_time`` is the monotonic
        time at which the run began; ``on_progress`` is called after each report.
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
        """Record the outcome of a slice and return the slices that remain to be processed for it.

        The result is [] if the slice is finished or given up, the slice itself if it is to be tried
        again, or the slices into which it was split. After its worker died ``MAX_ATTEMPTS`` times,
        or hung once, the slice is split: by the suspects of the last death, or into halves if its
        file is to blame. A single document, or a slice that cannot be split, is given up
        (``_blame``). Raises ValueError if the outcome is ``refused``, if workers cannot be started,
        or for an error with ``strict``.
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
        """Count a failed start of a worker and return ``[slice]``, to be tried again.

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
        """Add the counts of a finished part to those of the run.

        ``done`` has the numbers ``documents``, ``words`` and ``errors``, and ``first``, a list of
        the first error row or []. With ``strict``, raises ValueError for the first error.
        """
        self._count.update(("parts", "done"))
        for key in ("documents", "words", "errors"):
            self._count[key] += int(done[key])
        if self.strict and done["errors"]:
            raise ValueError(_format_error(done["first"][0]))

    def _blame(self, slice: Slice, outcome: Outcome) -> None:
        """Write a part that holds only the error of the document or file that killed workers.

        The part is marked as failed first, so that the next run tries it again. The error is that
        of the suspect if the slice is a single document, else of the file of the first piece. If a
        whole file is to blame and several slices share it, only the slice whose piece has ``first``
        0 has the error; the parts of the others are empty. With ``strict``, raises ValueError for
        the error after the part is written.
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
        """Write to ``.work`` that a slice was split, so that later runs process the smaller slices.

        The part and the failure mark of the slice are removed, if there are any.
        """
        with open_atomic(self.folder / WORK_FOLDER / f"{slice.id}.json") as out:
            out.write(json.dumps([part.to_dict() for part in smaller]) + "\n")
        self._forget_part(slice)

    def _forget_part(self, slice: Slice) -> None:
        """Remove the part and the failure mark of a slice that was split.

        The part, if there is one, holds the error of an earlier run.
        """
        remove_part(self.folder, slice.id, self.job.format)
        self._failed_marker(slice).unlink(missing_ok=True)

    def _failed_marker(self, slice: Slice) -> Path:
        """Return the path of the file that marks a slice as failed; the file need not exist."""
        return self.folder / WORK_FOLDER / f"{slice.id}{FAILED_SUFFIX}"

    def _failed_parts(self) -> set[str]:
        """Return the ids of the slices that are marked as failed and will be tried again."""
        return {file.stem for file in (self.folder / WORK_FOLDER).glob(f"*{FAILED_SUFFIX}")}

    def _recorded_split(self, slice: Slice) -> list[Slice]:
        """Return the slices into which this one was split, or [] if it was not split.

        These may have been split further. Raises ValueError, TypeError or KeyError if the record is
        damaged.
        """
        file = self.folder / WORK_FOLDER / f"{slice.id}.json"
        if not file.is_file():
            return []
        return [Slice.from_dict(row) for row in json.loads(file.read_text(encoding="utf-8"))]

    def _check_strict(self) -> None:
        """With ``strict``, raise ValueError if the folder holds an error of an earlier run.

        Errors of failed parts do not count, since this run tries them again.
        """
        if self.strict:
            retried = self._failed_parts()  # by this run, so not errors yet
            for row in read_rows(self.folder, "errors", self.job.format, skip=retried):
                raise ValueError(_format_error(row))

    def _progress(self, left: int, seconds: float, outcome: Outcome) -> Progress:
        """Return the Progress of the run; ``left`` is the number of slices without a report yet.

        ``seconds`` is the time since the run began. ``outcome`` is the latest outcome, which has
        the memory of its worker.
        """
        count = self._count
        total = count["parts"] + left
        memory = int((outcome.done or {}).get("memory", 0))
        done = (count["documents"], count["words"], count["errors"])
        return Progress(count["parts"], total, *done, seconds, count["done"], memory)

    def _summary(self, seconds: float) -> Summary:
        """Count the rows of all tables in the folder; ``seconds`` is the time that the run took.

        Parts and words are those that this run counted, ``first_error`` the first row of ``errors``
        or None. Raises ValueError for a damaged file.
        """

        def rows(table: str) -> int:
            """Return the number of rows of a table over all parts."""
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
    """Wait for the next report of a worker and return it; raise ValueError if no worker is left.

    Workers are checked every ``POLL_SECONDS``.
    """
    while True:
        try:
            return workers.reports.get(timeout=POLL_SECONDS)
        except Empty:
            workers.check()


def _paths_by_number(manifest: Manifest) -> dict[int, str]:
    """Return the absolute path of each input by its number, its position in the manifest."""
    return {number: file.path for number, file in enumerate(manifest.inputs)}


def _find_single_document(slice: Slice) -> list[tuple[int, int]] | None:
    """Return ``[(index of the piece, number)]`` if the slice lists one single document, else None.

    Documents are listed in ``Piece.only``; None if any piece of the slice has no such list.
    """
    numbers = [(i, n) for i, piece in enumerate(slice.pieces) for n in piece.only or ()]
    are_listed = all(piece.only is not None for piece in slice.pieces)
    return numbers if are_listed and len(numbers) == 1 else None


def _is_file_to_blame(slice: Slice, outcome: Outcome) -> bool:
    """Return whether a file as a whole, not one of its documents, kills workers.

    True if the worker died while reading although at least ``MAX_SUSPECTS`` documents of a piece
    have been split off before.
    """
    return outcome.reading and any(len(piece.without) >= MAX_SUSPECTS for piece in slice.pieces)


def _format_error(row: Mapping[str, Any]) -> str:
    """Format a row of the table ``errors`` as one line: source, document and reason."""
    return f"{row['source']}, document {row['document']!r}: {row['reason']}"


def _has_no_result(folder: Path) -> bool:
    """Return whether a folder has nothing but what a run creates before it writes the manifest.

    These are empty folders of tables, ``.work`` and drafts of files; True for an empty folder.
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
    """Hold an exclusive lock on a result folder; raise ValueError if another process has it.

    Context manager. The sub-folder ``.work`` must exist. The lock is released at the end of the
    block, or by the system if the process dies.
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
    """Problem found in a result folder.

    Attributes
    ----------
    kind
        "damaged" (a part cannot be read or differs from its checksums), "missing" (a planned part
        is not finished), "failed" (a document of the part killed its worker; the next run tries it
        again), "stray" (a file of no planned part, or of an unfinished one) or "input" (an input
        has changed or is gone).
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
    """Check the parts and inputs of a result folder and return the problems, [] if there are none.

    Every file of every part is read completely and compared with its checksum. Parts written by an
    older textrank have no checksums (``count_parts_without_checksums``). With ``repair``, damaged
    parts and stray files are removed, so that the next run computes the parts again; other problems
    are only reported. Problems of parts come first, then stray files, then inputs. Raises
    ValueError if the folder is not a result, has a damaged manifest or record of a split, or is in
    use by a run.
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


def count_parts_without_checksums(folder: Path) -> int:
    """Return how many finished parts have no checksums, because an older textrank wrote them.

    Only the names of files are compared.
    """
    with_checksums = {file.stem for file in (folder / CHECKSUM_FOLDER).glob(f"*{CHECKSUM_SUFFIX}")}
    return sum(len(list_parts(folder, format) - with_checksums) for format in FORMATS)


def _planned_slices(folder: Path, slices: Sequence[Slice]) -> list[Slice]:
    """Return the slices of a manifest, with each split slice replaced by its smaller slices.

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
    """Yield a Problem for each part that is missing, failed or damaged.

    ``slices`` are those of ``_planned_slices``. All files of each part are read and compared with
    their checksums; a failed part can be damaged too. With ``repair``, damaged parts are removed.
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
            checksums = read_checksums(folder, slice.id) or {}
            for table in TABLES:
                file = part_file(folder, table, slice.id, format)
                check_part_file(file, table, format, checksums.get(table))
        except ValueError as error:
            if repair:
                remove_part(folder, slice.id, format)
            yield Problem("damaged", place, str(error), repair)


def _check_strays(folder: Path, ids: set[str], format: Format, repair: bool) -> Iterator[Problem]:
    """Yield a Problem for each file of tables and checksums that belongs to no finished part.

    ``ids`` are the ids of the planned slices. Hidden files, such as drafts, and sub-folders count
    as stray. With ``repair``, files are removed, but not sub-folders.
    """
    finished = list_parts(folder, format) & ids
    suffixes = {**dict.fromkeys(TABLES, f".{format}"), CHECKSUM_FOLDER: CHECKSUM_SUFFIX}
    for name, suffix in suffixes.items():
        for file in sorted((folder / name).glob("*")):
            if file.suffix == suffix and file.stem in finished:
                continue
            is_removed = repair and (file.is_file() or file.is_symlink())
            if is_removed:
                file.unlink()
            yield Problem("stray", str(file), "belongs to no finished part.", is_removed)


def _check_input(file: Input) -> Problem | None:
    """Return a Problem if an input is gone or its content has changed, else None.

    All its files are read to compare the checksum.
    """
    if not Path(file.path).exists():
        return Problem("input", file.source, "is gone; its documents stay in the result.")
    path = Path(file.path)
    files = list_read_files(path) if file.state else None
    if path_checksum(path, files) != file.checksum:
        return Problem("input", file.source, "has changed since the result was begun.")
    return None
