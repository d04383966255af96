"""Real processes with the shipped model: crashes, hangs and kills change no answer."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest

from textrank.results.schema import TABLES, read_rows

pytest.importorskip("pyarrow")
pytestmark = pytest.mark.slow

# Loaded by every Python that is started with this folder on its path: lets some texts kill.
POISON = """
import importlib.abc, importlib.util, os, signal, sys, time

class Poison(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path, target=None):
        if name != "textrank.scale.worker":
            return None
        sys.meta_path.remove(self)
        spec = importlib.util.find_spec(name)
        execute = spec.loader.exec_module
        def exec_module(module):
            execute(module)
            read = module.Analysis.read
            def poisoned(self, docs):
                docs = list(docs)
                for doc in docs:
                    if "SEGFAULT" in doc.text: os.kill(os.getpid(), signal.SIGSEGV)
                    if "HANG" in doc.text: time.sleep(1000)
                    if "RAISE" in doc.text: raise RuntimeError("cannot bear this text")
                return read(self, docs)
            module.Analysis.read = poisoned
        spec.loader.exec_module = exec_module
        return spec

sys.meta_path.insert(0, Poison())
"""


def sentences(number: int) -> str:
    return (
        f"The adaptor GRB{number} binds SOS{number} and SHC{number} in cells. It is short. "
        f"No binding of RAF{number} to MEK{number} was found. "
        f"STAT{number} activates JAK{number}."
    )


@pytest.fixture
def texts(tmp_path: Path) -> Path:
    folder = tmp_path / "texts"
    folder.mkdir()
    for file in range(3):
        rows = [
            {"id": f"{file}{n:02}", "text": sentences(10 * file + n), "year": 2000 + n}
            for n in range(8)
        ]
        (folder / f"{file}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    return folder


def command(texts: Path, out: Path, *more: str) -> list[str]:
    return [
        *(sys.executable, "-c", "from textrank.cli import main; main()"),
        *("apply", "ppi", str(texts), "--out", str(out), "--part-size", "0.0006", *more),
    ]


def apply(texts: Path, out: Path, *more: str, **environment: str) -> int:
    env = {**os.environ, **environment}
    done = subprocess.run(
        command(texts, out, *more), env=env, capture_output=True, text=True, timeout=600
    )
    assert done.returncode in (0, 2, 3), done.stderr
    return done.returncode


def rows(out: Path, table: str) -> list[dict[str, Any]]:
    drop = {"input", "position"} if table == "documents" else set()
    found = [
        {key: value for key, value in row.items() if key not in drop}
        for row in read_rows(out, table, "parquet")
    ]
    return sorted(found, key=lambda row: json.dumps(row, sort_keys=True))


def check_same(out: Path, undisturbed: Path, tables: Sequence[str] = tuple(TABLES)) -> None:
    for table in tables:
        ours, theirs = rows(out, table), rows(undisturbed, table)
        assert len(ours) == len(theirs)
        for row, other in zip(ours, theirs, strict=True):
            score = row.pop("score", None), other.pop("score", None)
            chance = row.pop("probability", None), other.pop("probability", None)
            assert row == other
            assert score[0] == pytest.approx(score[1], abs=1e-6)
            assert chance[0] == pytest.approx(chance[1], abs=1e-6)


def test_poisoned_documents_are_found_and_all_others_answered(tmp_path: Path, texts: Path) -> None:
    (tmp_path / "sitecustomize.py").write_text(POISON)
    bad = {"seg": "SEGFAULT", "hang": "HANG", "raise": "RAISE"}
    lines = [{"id": key, "text": f"{word} GRB2 binds SOS1."} for key, word in bad.items()]
    good = [{"id": f"good{n}", "text": sentences(70 + n)} for n in range(5)]
    every = [good[0], lines[0], *good[1:3], lines[1], good[3], lines[2], good[4]]
    (texts / "poisoned.jsonl").write_text("".join(json.dumps(row) + "\n" for row in every))
    out = tmp_path / "out"
    code = apply(texts, out, "--timeout", "30", PYTHONPATH=str(tmp_path))
    assert code == 3
    assert {row["document"] for row in rows(out, "errors")} == set(bad)
    reasons = {row["document"]: row["reason"] for row in rows(out, "errors")}
    assert "SIGSEGV" in reasons["seg"]
    assert "no progress" in reasons["hang"]
    assert "cannot bear this text" in reasons["raise"]
    found = {row["document"] for row in rows(out, "documents")}
    assert found == {f"{f}{n:02}" for f in range(3) for n in range(8)} | {g["id"] for g in good}


KILLS = int(os.environ.get("CAMPAIGN_KILLS", "3"))  # ten in a campaign


@pytest.mark.parametrize("whom", ["driver", "worker"])
def test_kills_at_random_moments_change_nothing(tmp_path: Path, texts: Path, whom: str) -> None:
    assert apply(texts, tmp_path / "undisturbed") == 0
    moments = random.Random(len(whom))
    for number in range(KILLS):
        out = tmp_path / f"out{number}"
        run = subprocess.Popen(
            command(texts, out), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        time.sleep(moments.uniform(2.0, 12.0))
        kill(run, [run.pid] if whom == "driver" else children(run.pid))
        run.wait(timeout=300)
        assert apply(texts, out) == 0
        check_same(out, tmp_path / "undisturbed")


def kill(run: subprocess.Popen[Any], victims: Sequence[int]) -> None:
    """Kills processes of a run that may have ended by themselves meanwhile."""
    for victim in victims:
        if run.poll() is None:
            with suppress(ProcessLookupError):
                os.kill(victim, signal.SIGKILL)


@contextmanager
def cluster(folder: Path) -> Iterator[tuple[str, subprocess.Popen[Any]]]:
    """The address and the scheduler of a Dask cluster with two workers, each its own process."""
    file = folder / "scheduler.json"
    file.unlink(missing_ok=True)
    where = ("--scheduler-file", str(file), "--no-dashboard")
    quiet: dict[str, Any] = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    dask = (sys.executable, "-m", "dask")
    local = ("--host", "127.0.0.1", "--port", "0")
    scheduler = subprocess.Popen([*dask, "scheduler", *where, *local], **quiet)
    more = ("--nthreads", "1", "--death-timeout", "60")
    workers = [subprocess.Popen([*dask, "worker", *where, *more], **quiet) for _ in range(2)]
    try:
        while not file.is_file() or not file.read_text().rstrip().endswith("}"):  # whole
            time.sleep(0.2)
        yield json.loads(file.read_text())["address"], scheduler
    finally:
        for process in (*workers, scheduler):
            below = children(process.pid)
            process.terminate()
            process.wait(timeout=60)
            for child in below:
                with suppress(ProcessLookupError):
                    os.kill(child, signal.SIGKILL)


def test_a_scheduler_killed_at_random_moments_loses_nothing(tmp_path: Path, texts: Path) -> None:
    pytest.importorskip("distributed")
    assert apply(texts, tmp_path / "undisturbed") == 0
    moments = random.Random(0)
    for number in range(KILLS):
        out = tmp_path / f"out{number}"
        with cluster(tmp_path) as (address, scheduler):
            run = subprocess.Popen(
                command(texts, out, "--dask", address), stderr=subprocess.PIPE, text=True
            )
            time.sleep(moments.uniform(4.0, 16.0))
            kill(scheduler, [scheduler.pid])
            _, told = run.communicate(timeout=300)
        plain = (
            "run the command again" in told or "no Dask scheduler answers" in told
        )  # while it connects
        assert run.returncode == 0 or (run.returncode == 2 and plain), told
        with cluster(tmp_path) as (address, _):
            assert apply(texts, out, "--dask", address) == 0
        check_same(out, tmp_path / "undisturbed")


def test_two_workers_of_a_cluster_give_the_same_also_when_one_is_killed(
    tmp_path: Path, texts: Path
) -> None:
    pytest.importorskip("distributed")
    assert apply(texts, tmp_path / "undisturbed") == 0
    assert apply(texts, tmp_path / "two", "--workers", "2") == 0
    check_same(tmp_path / "two", tmp_path / "undisturbed")
    out = tmp_path / "out"
    run = subprocess.Popen(command(texts, out, "--workers", "2"), stdout=subprocess.DEVNULL)
    time.sleep(10)
    victims = children(run.pid)
    for victim in victims[-1:]:
        os.kill(victim, signal.SIGKILL)
    run.wait(timeout=300)
    assert apply(texts, out, "--workers", "2") == 0
    check_same(out, tmp_path / "undisturbed")


def test_all_sentences_parsed_or_only_some_the_answers_are_equal(
    tmp_path: Path, texts: Path
) -> None:
    apply(texts, tmp_path / "some")
    apply(texts, tmp_path / "all", "--whole")
    check_same(tmp_path / "some", tmp_path / "all")


def children(pid: int) -> list[int]:
    """The processes below one, nearest first."""
    try:
        text = Path(f"/proc/{pid}/task/{pid}/children").read_text()
    except FileNotFoundError:
        return []
    own = [int(child) for child in text.split()]
    return [*own, *(below for child in own for below in children(child))]
