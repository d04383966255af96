"""The supervisor of a worker process: deaths, timeouts and replacement."""

from __future__ import annotations

import selectors
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from textrank.scale.supervisor import Outcome, WorkerSupervisor

# A child that speaks the protocol and does as it is told, without any model.
CHILD = """
import json, os, signal, sys, time
say = lambda **m: print(json.dumps(m), flush=True)
job = json.loads(sys.stdin.readline())["job"]
if job.get("refuse"):
    say(refused="no such model"); sys.exit()
say(ready=os.getpid())
for line in sys.stdin:
    order = json.loads(line)["slice"]
    say(reading=0)
    say(item=[0, 4])
    if order.get("read"): os.kill(os.getpid(), signal.SIGSEGV)
    say(batch=[[0, 4, "four"], [0, 5, "five"]])
    if order.get("kill"): os.kill(os.getpid(), signal.SIGKILL)
    if order.get("hang"): time.sleep(100)
    if order.get("full"): say(refused="No space left"); continue
    say(done={"part": "x", "pid": os.getpid(), "memory": order.get("memory", 1000),
              "trims": "MALLOC_TRIM_THRESHOLD_" in os.environ})
"""


@pytest.fixture
def supervisor() -> Iterator[WorkerSupervisor]:
    kept = WorkerSupervisor({}, timeout=5.0, command=("-c", CHILD))
    yield kept
    kept.close()


def pid(outcome: Outcome) -> int:
    assert outcome.done is not None, outcome
    return int(outcome.done["pid"])


def test_one_process_serves_many_slices(supervisor: WorkerSupervisor) -> None:
    assert pid(supervisor.run({}, {})) == pid(supervisor.run({}, {}))


def test_what_dask_asks_of_memory_is_not_passed_on(
    supervisor: WorkerSupervisor, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MALLOC_TRIM_THRESHOLD_", "65536")
    outcome = supervisor.run({}, {})
    assert outcome.done is not None
    assert outcome.done["trims"] is False


def test_a_death_is_told_with_what_was_judged(supervisor: WorkerSupervisor) -> None:
    outcome = supervisor.run({"kill": True}, {})
    assert outcome.died == "the process was ended by SIGKILL"
    assert outcome.suspects == ((0, 4, "four"), (0, 5, "five"))
    assert not outcome.reading
    assert supervisor.run({}, {}).done is not None  # by a new process


def test_a_death_while_reading_names_the_document_that_was_begun(
    supervisor: WorkerSupervisor,
) -> None:
    outcome = supervisor.run({"read": True}, {})
    assert (outcome.died, outcome.reading) == ("the process was ended by SIGSEGV", True)
    assert outcome.suspects == ((0, 4, "5"),)


def test_a_worker_that_hangs_is_killed(supervisor: WorkerSupervisor) -> None:
    pid(supervisor.run({}, {}))  # started, so that a slow machine is not taken for a hang
    supervisor.timeout = 0.5
    outcome = supervisor.run({"hang": True}, {})
    assert outcome.died == "no progress for 0.5 seconds"
    assert len(outcome.suspects) == 2


class SlowStart(selectors.DefaultSelector):
    """Wait as if every child took 100 seconds to start and then answered at once."""

    def select(self, timeout: float | None = None) -> list[Any]:
        if not self.started and timeout is not None and timeout < 100:
            return []
        type(self).started = True
        return super().select()

    started = False


@pytest.mark.parametrize(("start_timeout", "starts"), [(200.0, True), (50.0, False)])
def test_starting_has_a_limit_of_its_own(
    monkeypatch: pytest.MonkeyPatch, start_timeout: float, starts: bool
) -> None:
    monkeypatch.setattr(SlowStart, "started", False)
    monkeypatch.setattr("textrank.scale.supervisor.selectors.DefaultSelector", SlowStart)
    supervisor = WorkerSupervisor(
        {}, timeout=2.0, start_timeout=start_timeout, command=("-c", CHILD)
    )
    outcome = supervisor.run({}, {})
    supervisor.close()
    assert (outcome.done is not None) == starts
    if not starts:
        assert outcome.not_started
        assert outcome.died == "the worker did not load its model within 50 seconds"
        assert Outcome.from_dict(outcome.to_dict()) == outcome


def test_a_child_that_dies_while_it_starts_is_no_fault_of_the_slice() -> None:
    supervisor = WorkerSupervisor({}, command=("-c", "raise SystemExit(7)"))
    outcome = supervisor.run({}, {})
    assert (outcome.died, outcome.not_started) == ("the process ended with code 7", True)
    assert not outcome.suspects
    supervisor.close()


def test_refusals_are_passed_on(supervisor: WorkerSupervisor) -> None:
    assert supervisor.run({"full": True}, {}).refused == "No space left"
    other = WorkerSupervisor({"refuse": True}, timeout=5.0, command=("-c", CHILD))
    assert other.run({}, {}).refused == "no such model"
    other.close()


@pytest.mark.parametrize("how", [{"max_tasks": 1}, {}], ids=["by count", "by memory"])
def test_a_process_makes_room_for_a_new_one(how: dict[str, Any]) -> None:
    supervisor = WorkerSupervisor({}, timeout=5.0, command=("-c", CHILD), **how)
    first = pid(supervisor.run({}, {}))
    second = pid(supervisor.run({"memory": 2000}, {}))
    third = pid(supervisor.run({}, {}))
    assert (first != second) == ("max_tasks" in how)
    assert second != third
    supervisor.close()


def test_an_outcome_survives_its_way(supervisor: WorkerSupervisor) -> None:
    outcome = supervisor.run({"kill": True}, {})
    assert Outcome.from_dict(outcome.to_dict()) == outcome


@pytest.mark.skipif(not Path("/proc").is_dir(), reason="looks into /proc")
def test_no_process_is_left_behind(supervisor: WorkerSupervisor) -> None:
    child = pid(supervisor.run({}, {}))
    supervisor.close()
    assert not Path(f"/proc/{child}").exists()
