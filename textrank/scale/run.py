"""A run: slices that are missing become parts, whatever happens to those who work on them."""

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

from textrank.io import open_atomic
from textrank.io.atomic import DRAFT_NAME
from textrank.results.schema import (
    TABLES,
    count_rows,
    list_parts,
    read_rows,
    remove_part,
    remove_unfinished_parts,
    write_part,
)
from textrank.scale.job import SLICE_BYTES, Job, Manifest, Slice
from textrank.scale.supervisor import NO_PROGRESS, Outcome, Pool, Report

WORK_FOLDER = ".work"  # what only a run needs to know: slices that were cut or failed, and the lock
FAILED_SUFFIX = ".failed"  # suffix of the marker of a part that the next run tries again
POLL_SECONDS = 2.0  # seconds before one looks whether the workers are still there
MAX_SUSPECTS = 3  # documents that are cut off one by one before their file is held to be at fault
MAX_ATTEMPTS = 2  # how often the same work may kill a process before it is cut in two
MAX_FAILED_STARTS = 3  # in a row, of workers, before a run gives up


@dataclass(frozen=True)
class Progress:
    """How far a run is."""

    parts: int  # finished, those of earlier runs among them
    total: int
    documents: int  # of this run, as all below
    words: int
    errors: int
    seconds: float
    done: int  # parts
    memory: int = 0  # of the process that finished last

    @property
    def speed(self) -> float:
        """Words a second."""
        return self.words / self.seconds if self.seconds else 0.0


@dataclass(frozen=True)
class Summary:
    """What stands in the folder when all parts are done."""

    parts: int
    documents: int
    names: int
    statements: int
    errors: int
    words: int  # of this run
    seconds: float
    first_error: Mapping[str, Any] | None = None

    def to_dict(self) -> dict[str, Any]:
        """Plain values."""
        return asdict(self)


@dataclass
class Run:
    """Applies a job to inputs, part by part.

    ``settings`` name what answers depend on, such as the checksum of the model; a folder that was
    begun with others is refused. ``tell`` hears of progress.

    A document that kills its worker or makes no progress is given up in this run and tried again
    by the next one: what happened to it may have been the machine's fault. Errors that reading or
    judging a document raised are final, because they come from the document.
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
        """Where the result stands."""
        return Path(self.job.folder)

    def __call__(self, sources: Sequence[str], pool: Callable[[], Pool]) -> Summary:
        """Does what is missing; ``pool`` is only asked for when something is."""
        begun = time.monotonic()
        old = self._known(sources)
        self._make_folders()
        with lock_folder(self.folder):
            manifest = old.add_inputs(sources, self.slice_bytes)
            manifest.write(self.folder)
            remove_unfinished_parts(self.folder, self.job.format)
            missing = deque(self._missing(manifest.slices))
            self._check_strict()
            if missing:
                self._work(missing, _paths(manifest), pool, begun)
        return self._summary(time.monotonic() - begun)

    def _known(self, sources: Sequence[str]) -> Manifest:
        """The manifest of the folder, if the result was begun with the same settings."""
        old = Manifest.read(self.folder)
        if old is None:
            if self.folder.is_dir() and not _only_begun(self.folder):
                raise ValueError(f"{self.folder} exists and is no result. Choose another name.")
            return Manifest(dict(self.settings))
        old.check(self.settings, self.folder)
        return old

    def _make_folders(self) -> None:
        try:
            for name in (*TABLES, WORK_FOLDER):
                (self.folder / name).mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise ValueError(f"cannot write to {self.folder}: {error.strerror}.") from error

    def _missing(self, slices: Sequence[Slice]) -> Iterator[Slice]:
        there = list_parts(self.folder, self.job.format)
        failed = self._failed_parts()
        waiting = deque(slices)
        while waiting:
            slice = waiting.popleft()
            if cut := self._cut_before(slice):
                self._forget_part(slice)  # a failed one, if a kill came before it was removed
                waiting.extendleft(reversed(cut))
            elif slice.id in there and slice.id not in failed:
                self._count["parts"] += 1
            else:
                yield slice

    def _work(
        self,
        missing: deque[Slice],
        paths: Mapping[int, str],
        pool: Callable[[], Pool],
        begun: float,
    ) -> None:
        workers = pool()
        under_way: dict[str, Slice] = {}
        try:
            while missing or under_way:
                while missing and len(under_way) < workers.capacity():
                    slice = missing.popleft()
                    under_way[slice.id] = slice
                    files = {piece.input: paths[piece.input] for piece in slice.pieces}
                    workers.submit(slice.id, slice.to_dict(), files)
                id, outcome = _next_report(workers)
                slice = under_way.pop(id)
                missing.extendleft(reversed(self._settle(slice, outcome)))
                left = len(missing) + len(under_way)
                self.on_progress(self._progress(left, time.monotonic() - begun, outcome))
        finally:
            workers.close()

    def _settle(self, slice: Slice, outcome: Outcome) -> list[Slice]:
        """Notes what became of a slice, and gives what is to be done instead."""
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
        alone = [s[:2] for s in outcome.suspects] == _documents(slice)
        hangs = outcome.died.startswith(NO_PROGRESS)
        if self._deaths[slice.id] < MAX_ATTEMPTS and not hangs:
            return [slice]
        suspects = [] if _blameless(slice, outcome) else [s[:2] for s in outcome.suspects]
        smaller = [] if alone else slice.without(suspects)
        if smaller:
            self._note_cut(slice, smaller)
            return smaller
        self._blame(slice, outcome)
        return []

    def _start_again(self, slice: Slice, outcome: Outcome) -> list[Slice]:
        """Return the slice for another worker; raise when no worker can be started."""
        self._failed_starts += 1
        if self._failed_starts < MAX_FAILED_STARTS:
            return [slice]
        raise ValueError(
            f"no worker could be started: {outcome.died}. Finished parts are kept: run the command "
            "again, with a larger --start-timeout if loading the model takes longer here."
        )

    def _finish(self, done: Mapping[str, Any]) -> None:
        self._count.update(("parts", "done"))
        for key in ("documents", "words", "errors"):
            self._count[key] += int(done[key])
        if self.strict and done["errors"]:
            raise ValueError(_failure(done["first"][0]))

    def _blame(self, slice: Slice, outcome: Outcome) -> None:
        """Write a part with nothing but the error of the document or file that killed workers.

        The part is marked as failed first, so that the next run tries it again.
        """
        piece = slice.pieces[0]
        alone = _documents(slice) is not None and outcome.suspects
        name = outcome.suspects[0][2] if alone else Path(piece.source).name
        row = {"source": piece.source, "document": name, "reason": outcome.died}
        rows = [row] if alone or piece.first == 0 else []  # a file is told once, not by each slice
        with open_atomic(self._failed_marker(slice)) as out:
            out.write(outcome.died + "\n")
        write_part(self.folder, slice.id, {"errors": rows}, self.job.format)
        self._finish({"documents": 0, "words": 0, "errors": len(rows), "first": rows})

    def _note_cut(self, slice: Slice, smaller: Sequence[Slice]) -> None:
        """Remembers that a slice was cut, so that no later run makes a part of it as a whole."""
        with open_atomic(self.folder / WORK_FOLDER / f"{slice.id}.json") as out:
            out.write(json.dumps([part.to_dict() for part in smaller]) + "\n")
        self._forget_part(slice)

    def _forget_part(self, slice: Slice) -> None:
        """Remove the part of a slice that was cut: it holds the error of an earlier run."""
        remove_part(self.folder, slice.id, self.job.format)
        self._failed_marker(slice).unlink(missing_ok=True)

    def _failed_marker(self, slice: Slice) -> Path:
        return self.folder / WORK_FOLDER / f"{slice.id}{FAILED_SUFFIX}"

    def _failed_parts(self) -> set[str]:
        """Return the ids of the parts whose work failed and is to be tried again."""
        return {file.stem for file in (self.folder / WORK_FOLDER).glob(f"*{FAILED_SUFFIX}")}

    def _cut_before(self, slice: Slice) -> list[Slice]:
        file = self.folder / WORK_FOLDER / f"{slice.id}.json"
        if not file.is_file():
            return []
        return [Slice.from_dict(row) for row in json.loads(file.read_text(encoding="utf-8"))]

    def _check_strict(self) -> None:
        if self.strict:
            failed = self._failed_parts()  # tried again by this run, so not yet errors
            for row in read_rows(self.folder, "errors", self.job.format, skip=failed):
                raise ValueError(_failure(row))

    def _progress(self, left: int, seconds: float, outcome: Outcome) -> Progress:
        count = self._count
        total = count["parts"] + left
        memory = int((outcome.done or {}).get("memory", 0))
        done = (count["documents"], count["words"], count["errors"])
        return Progress(count["parts"], total, *done, seconds, count["done"], memory)

    def _summary(self, seconds: float) -> Summary:
        def rows(table: str) -> int:
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


def _next_report(workers: Pool) -> Report:
    """Waits for what becomes of any slice; raises where nobody is left to work on them."""
    while True:
        try:
            return workers.reports.get(timeout=POLL_SECONDS)
        except Empty:
            workers.check()


def _paths(manifest: Manifest) -> dict[int, str]:
    return {number: file.path for number, file in enumerate(manifest.inputs)}


def _documents(slice: Slice) -> list[tuple[int, int]] | None:
    """The one document of a slice that has but one."""
    numbers = [(i, n) for i, piece in enumerate(slice.pieces) for n in piece.only or ()]
    whole = all(piece.only is not None for piece in slice.pieces)
    return numbers if whole and len(numbers) == 1 else None


def _blameless(slice: Slice, outcome: Outcome) -> bool:
    """Whether a file, not one of its documents, kills the reader: several were cut off in vain."""
    return outcome.reading and any(len(piece.without) >= MAX_SUSPECTS for piece in slice.pieces)


def _failure(row: Mapping[str, Any]) -> str:
    return f"{row['source']}, document {row['document']!r}: {row['reason']}"


def _only_begun(folder: Path) -> bool:
    """Whether a folder has nothing but what a run makes before its manifest: it was killed then."""
    return all(
        DRAFT_NAME.fullmatch(path.name)
        or path.name == WORK_FOLDER
        or (path.name in TABLES and _is_empty(path))
        for path in folder.iterdir()
    )


def _is_empty(folder: Path) -> bool:
    return folder.is_dir() and not any(folder.iterdir())


@contextmanager
def lock_folder(folder: Path) -> Iterator[None]:
    """One run at a time in a folder; the lock of a killed one is gone with it."""
    import fcntl

    with (folder / WORK_FOLDER / "lock").open("a") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            raise ValueError(f"{folder}: another run is writing to it. Wait for it.") from error
        yield
