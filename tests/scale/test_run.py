"""Runs: what is missing is done, once, whatever happens to those who work on it."""

from __future__ import annotations

import itertools
import json
import os
import shutil
import signal
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from queue import SimpleQueue
from typing import Any

import pytest

from textrank.results.schema import TABLES, part_file, read_rows, write_part
from textrank.scale.job import Job, Manifest, Slice
from textrank.scale.run import Progress, Run, lock_folder
from textrank.scale.supervisor import Outcome, Report

SETTINGS = {"model": "none", "model_checksum": "1"}


class Lines:
    """A stand-in for workers: each line of a file is a document, and some lines kill."""

    def __init__(
        self,
        job: Job,
        *,
        poison: str = "",
        hang: str = "",
        die: int = -1,
        slow_starts: int = 0,
        unread: str = "",
    ) -> None:
        self.job, self.poison, self.hang, self.die = job, poison, hang, die
        self.slow_starts, self.unread = slow_starts, unread
        self.reports: SimpleQueue[Report] = SimpleQueue()
        self.worked: list[str] = []

    def capacity(self) -> int:
        return 2

    def submit(self, id: str, slice: Mapping[str, Any], paths: Mapping[int, str]) -> None:
        self.die -= 1
        if self.die == 0:
            raise KeyboardInterrupt  # the driver goes down in the middle
        self.reports.put((id, self._work(Slice.from_dict(slice), paths)))

    def _work(self, slice: Slice, paths: Mapping[int, str]) -> Outcome:
        rows = []
        if self.slow_starts:
            self.slow_starts -= 1
            return Outcome(died="the worker did not load its model", not_started=True)
        if self.unread in [Path(piece.source).name for piece in slice.pieces]:
            return Outcome(died="no progress for 1 seconds", reading=True)
        for index, piece in enumerate(slice.pieces):
            texts = Path(paths[piece.input]).read_text().splitlines()
            wanted = [(n, text) for n, text in enumerate(texts) if piece.wants(n)]
            for start in range(0, len(wanted), 4):
                batch = wanted[start : start + 4]
                suspects = tuple((index, n, text) for n, text in batch)
                if self.poison in [text for _, text in batch]:
                    return Outcome(died="the process was ended by SIGSEGV", suspects=suspects)
                if self.hang in [text for _, text in batch]:
                    return Outcome(died="no progress for 1 seconds", suspects=suspects)
                rows += [{"document": text, "source": piece.source} for _, text in batch]
        write_part(Path(self.job.folder), slice.id, {"documents": rows}, self.job.format)
        self.worked += [row["document"] for row in rows]
        done = {"documents": len(rows), "words": len(rows), "errors": 0, "first": []}
        return Outcome(done=done)

    def check(self) -> None: ...

    def close(self) -> None: ...


@pytest.fixture(params=["parquet", "jsonl"])
def job(request: pytest.FixtureRequest, tmp_path: Path) -> Job:
    if request.param == "parquet":
        pytest.importorskip("pyarrow")
    return Job("none", str(tmp_path / "out"), format=request.param)


@pytest.fixture
def inputs(tmp_path: Path) -> list[str]:
    files = []
    for name in "ab":
        file = tmp_path / f"{name}.lines"
        file.write_text("".join(f"{name}{number}\n" for number in range(25)))
        files.append(str(file))
    return files


def everything() -> set[str]:
    return {f"{name}{number}" for name in "ab" for number in range(25)}


def documents(job: Job) -> list[str]:
    return sorted(r["document"] for r in read_rows(Path(job.folder), "documents", job.format))


def start(job: Job, **how: Any) -> tuple[Run, Callable[[], Lines], list[Lines]]:
    made: list[Lines] = []

    def pool() -> Lines:
        made.append(Lines(job, **how))
        return made[-1]

    return Run(job, SETTINGS, slice_bytes=40), pool, made


def test_every_document_is_done_once_and_nothing_is_done_again(job: Job, inputs: list[str]) -> None:
    run, pool, made = start(job)
    summary = run(inputs, pool)
    assert documents(job) == sorted(everything())
    assert (summary.documents, summary.errors) == (50, 0)
    again, pool, _ = start(job)
    assert again(inputs, pool).words == 0
    assert len(made) == 1  # no worker was asked for


@pytest.mark.parametrize("die", range(1, 6))
def test_a_driver_that_dies_loses_no_part_and_repeats_none(
    job: Job, inputs: list[str], die: int
) -> None:
    run, pool, _ = start(job, die=die)
    with pytest.raises(KeyboardInterrupt):
        run(inputs, pool)
    before = set(documents(job))
    run, pool, more = start(job)
    run(inputs, pool)
    assert documents(job) == sorted(everything())
    assert not before & set(more[0].worked)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork")
def test_a_kill_at_any_operation_loses_no_part_and_leaves_no_debris(
    job: Job, inputs: list[str]
) -> None:
    """Of the driver and of whoever writes a part: both are one process here."""
    folder = Path(job.folder)
    for file in inputs:
        Path(file).write_text(f"{Path(file).stem}0\n{Path(file).stem}1\n")
    for number in itertools.count(1):
        shutil.rmtree(folder, ignore_errors=True)
        ended = killed(lambda: start(job)[0](inputs, start(job)[1]), folder, number)
        before = set(documents(job)) if (folder / "documents").is_dir() else set()
        run, pool, more = start(job)
        run(inputs, pool)
        assert documents(job) == ["a0", "a1", "b0", "b1"], number
        assert not before & {text for lines in more for text in lines.worked}, number
        hidden = {path.name for path in folder.rglob(".*")}
        assert hidden == {".work"}, f"debris after a kill at {number}: {hidden}"
        if not ended:
            break
    assert number > 20, "nothing was watched"


def killed(action: Callable[[], object], place: Path, at: int) -> bool:
    """Whether a child was killed before its n-th operation on files below a place."""
    child = os.fork()
    if child == 0:
        count = itertools.count(1)

        def watch(event: str, values: tuple[object, ...]) -> None:
            told = event.startswith(("open", "os.")) and str(place) in " ".join(map(str, values))
            if told and next(count) == at:
                os.kill(os.getpid(), signal.SIGKILL)

        sys.addaudithook(watch)
        try:
            action()
            os._exit(0)
        finally:
            os._exit(9)
    status = os.waitpid(child, 0)[1]
    assert os.WIFSIGNALED(status) or os.WEXITSTATUS(status) == 0, "the run failed"
    return os.WIFSIGNALED(status)


def test_a_document_that_kills_is_isolated_and_named(job: Job, inputs: list[str]) -> None:
    run, pool, _ = start(job, poison="a7")
    summary = run(inputs, pool)
    assert documents(job) == sorted(everything() - {"a7"})
    (error,) = read_rows(Path(job.folder), "errors", job.format)
    assert (error["source"], error["document"]) == (inputs[0], "a7")
    assert "SIGSEGV" in error["reason"]
    assert summary.errors == 1


def test_a_document_that_hangs_is_isolated_and_named(job: Job, inputs: list[str]) -> None:
    run, pool, _ = start(job, hang="b24")
    assert run(inputs, pool).errors == 1
    assert documents(job) == sorted(everything() - {"b24"})


def errors(job: Job) -> list[dict[str, Any]]:
    return list(read_rows(Path(job.folder), "errors", job.format))


def test_a_slow_start_blames_no_document(job: Job, inputs: list[str]) -> None:
    run, pool, _ = start(job, slow_starts=2)
    assert run(inputs, pool).errors == 0
    assert documents(job) == sorted(everything())


def test_a_run_whose_workers_do_not_start_ends_and_loses_nothing(
    job: Job, inputs: list[str]
) -> None:
    run, pool, _ = start(job, slow_starts=1000)
    with pytest.raises(ValueError, match=r"no worker could be started.*--start-timeout"):
        run(inputs, pool)
    assert (documents(job), errors(job)) == ([], [])
    run, pool, _ = start(job)
    run(inputs, pool)
    assert documents(job) == sorted(everything())


@pytest.mark.parametrize("how", [{"poison": "a7"}, {"hang": "a7"}, {"unread": "a.lines"}])
@pytest.mark.parametrize("strict", [False, True])
def test_the_next_run_tries_failed_documents_again(
    job: Job, inputs: list[str], how: dict[str, str], strict: bool
) -> None:
    run, pool, _ = start(job, **how)
    assert run(inputs, pool).errors == 1
    finished = set(documents(job))
    run, pool, made = start(job)
    run.strict = strict
    summary = run(inputs, pool)
    assert documents(job) == sorted(everything())
    assert (summary.errors, errors(job)) == (0, [])
    assert not finished & set(made[0].worked)  # only what had failed
    run, pool, made = start(job)
    run(inputs, pool)
    assert not made  # nothing is left to try


def test_a_document_that_fails_again_has_one_error_row(job: Job, inputs: list[str]) -> None:
    for how in ({"poison": "a7"}, {"hang": "a7"}):
        run, pool, _ = start(job, **how)
        assert run(inputs, pool).errors == 1
    (error,) = errors(job)
    assert "no progress" in error["reason"]  # of the latest run


def test_a_failed_file_that_can_be_cut_later_leaves_no_error_of_its_own(
    job: Job, inputs: list[str]
) -> None:
    run, pool, _ = start(job, unread="a.lines")
    run(inputs, pool)
    run, pool, _ = start(job, hang="a7")
    run(inputs, pool)
    assert [row["document"] for row in errors(job)] == ["a7"]
    run, pool, _ = start(job)
    run(inputs, pool)
    assert documents(job) == sorted(everything())
    assert errors(job) == []


def test_a_slice_that_was_cut_is_never_made_whole_again(job: Job, inputs: list[str]) -> None:
    """A worker that was killed from outside twice looks like a bad document; later it is well."""
    run, pool, _ = start(job, poison="a7", die=6)
    with pytest.raises(KeyboardInterrupt):
        run(inputs, pool)
    run, pool, _ = start(job)
    run(inputs, pool)
    assert documents(job) == sorted(everything())


def test_new_inputs_are_added(job: Job, inputs: list[str], tmp_path: Path) -> None:
    run, pool, _ = start(job)
    run(inputs, pool)
    (tmp_path / "c.lines").write_text("c0\nc1\n")
    run, pool, made = start(job)
    run([str(tmp_path / "c.lines")], pool)
    assert made[0].worked == ["c0", "c1"]
    assert documents(job) == sorted({*everything(), "c0", "c1"})


def test_another_model_or_a_changed_input_is_refused(job: Job, inputs: list[str]) -> None:
    run, pool, _ = start(job)
    run(inputs, pool)
    with pytest.raises(ValueError, match="made with another model checksum"):
        Run(job, {**SETTINGS, "model_checksum": "2"})(inputs, pool)
    Path(inputs[0]).write_text("other\n")
    with pytest.raises(ValueError, match="has changed since"):
        start(job)[0](inputs, pool)


def test_a_folder_of_something_else_is_refused(job: Job, inputs: list[str]) -> None:
    Path(job.folder).mkdir()
    (Path(job.folder) / "thesis.tex").write_text("x")
    run, pool, _ = start(job)
    with pytest.raises(ValueError, match="exists and is not a result"):
        run(inputs, pool)


def test_two_runs_do_not_write_at_once(job: Job, inputs: list[str]) -> None:
    run, pool, _ = start(job)
    run(inputs, pool)
    with lock_folder(Path(job.folder)), pytest.raises(ValueError, match="another run"):
        start(job)[0](inputs, pool)


def test_a_run_that_waited_for_the_lock_keeps_the_inputs_of_the_other(
    job: Job, inputs: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another run adds inputs and ends just before this one takes the lock."""

    @contextmanager
    def late_lock(folder: Path) -> Iterator[None]:
        monkeypatch.setattr("textrank.scale.run.lock_folder", lock_folder)
        other, pool, _ = start(job)
        other(inputs[:1], pool)
        with lock_folder(folder):
            yield

    monkeypatch.setattr("textrank.scale.run.lock_folder", late_lock)
    run, pool, _ = start(job)
    run(inputs[1:], pool)
    manifest = Manifest.read(Path(job.folder))
    assert manifest is not None
    assert sorted(file.source for file in manifest.inputs) == sorted(inputs)
    assert documents(job) == sorted(everything())


def test_debris_of_a_kill_is_cleared(job: Job, inputs: list[str]) -> None:
    run, pool, _ = start(job)
    run(inputs, pool)
    folder = Path(job.folder)
    (folder / "names" / ".x.parquet.12.draft").write_text("half")
    orphan = part_file(folder, "statements", "0" * 16, job.format)
    orphan.write_bytes(
        part_file(folder, "statements", next(iter(ids(job))), job.format).read_bytes()
    )
    start(job)[0](inputs, pool)
    assert not orphan.exists()
    assert not list((folder / "names").glob(".*"))


def ids(job: Job) -> set[str]:
    return {file.stem for file in (Path(job.folder) / "documents").iterdir()}


def test_every_part_has_all_tables_with_their_columns(job: Job, inputs: list[str]) -> None:
    run, pool, _ = start(job)
    run(inputs, pool)
    for table in TABLES:
        files = {file.stem for file in (Path(job.folder) / table).iterdir()}
        assert files == ids(job)
    manifest = json.loads((Path(job.folder) / "manifest.json").read_text())
    assert [file["source"] for file in manifest["inputs"]] == inputs
    assert manifest["settings"] == SETTINGS


def test_progress_is_told(job: Job, inputs: list[str]) -> None:
    told: list[Progress] = []
    run, pool, _ = start(job)
    run.on_progress = told.append
    run(inputs, pool)
    assert told[-1].parts == told[-1].total == len(ids(job))
    assert [p.documents for p in told] == sorted(p.documents for p in told)
    assert told[-1].documents == 50


def test_no_space_for_a_part_is_an_error_and_leaves_none(
    job: Job, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = Path(job.folder)
    for table in TABLES:
        (folder / table).mkdir(parents=True)

    def full(path: Path) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("textrank.results.schema._fsync", full)
    with pytest.raises(OSError, match="No space left"):
        write_part(folder, "0" * 16, {}, job.format)
    assert not [file for table in TABLES for file in (folder / table).iterdir()]
