"""A keeper and its process: deaths, standstill and renewal are seen for what they are."""

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
def keeper() -> Iterator[WorkerSupervisor]:
    kept = WorkerSupervisor({}, still=5.0, command=("-c", CHILD))
    yield kept
    kept.close()


def pid(outcome: Outcome) -> int:
    assert outcome.done is not None, outcome
    return int(outcome.done["pid"])


def test_one_process_serves_many_slices(keeper: WorkerSupervisor) -> None:
    assert pid(keeper.run({}, {})) == pid(keeper.run({}, {}))


def test_what_dask_asks_of_memory_is_not_passed_on(
    keeper: WorkerSupervisor, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MALLOC_TRIM_THRESHOLD_", "65536")
    outcome = keeper.run({}, {})
    assert outcome.done is not None
    assert outcome.done["trims"] is False


def test_a_death_is_told_with_what_was_judged(keeper: WorkerSupervisor) -> None:
    outcome = keeper.run({"kill": True}, {})
    assert outcome.died == "the process was ended by SIGKILL"
    assert outcome.suspects == ((0, 4, "four"), (0, 5, "five"))
    assert not outcome.reading
    assert keeper.run({}, {}).done is not None  # by a new process


def test_a_death_while_reading_names_the_document_that_was_begun(keeper: WorkerSupervisor) -> None:
    outcome = keeper.run({"read": True}, {})
    assert (outcome.died, outcome.reading) == ("the process was ended by SIGSEGV", True)
    assert outcome.suspects == ((0, 4, "5"),)


def test_standing_still_is_a_death_too(keeper: WorkerSupervisor) -> None:
    pid(keeper.run({}, {}))  # started, so that a slow machine is not taken for a hang
    keeper.still = 0.5
    outcome = keeper.run({"hang": True}, {})
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
    keeper = WorkerSupervisor({}, still=2.0, start_timeout=start_timeout, command=("-c", CHILD))
    outcome = keeper.run({}, {})
    keeper.close()
    assert (outcome.done is not None) == starts
    if not starts:
        assert outcome.not_started
        assert outcome.died == "the worker did not load its model within 50 seconds"
        assert Outcome.from_dict(outcome.to_dict()) == outcome


def test_a_child_that_dies_while_it_starts_is_no_fault_of_the_slice() -> None:
    keeper = WorkerSupervisor({}, command=("-c", "raise SystemExit(7)"))
    outcome = keeper.run({}, {})
    assert (outcome.died, outcome.not_started) == ("the process ended with code 7", True)
    assert not outcome.suspects
    keeper.close()


def test_refusals_are_passed_on(keeper: WorkerSupervisor) -> None:
    assert keeper.run({"full": True}, {}).refused == "No space left"
    other = WorkerSupervisor({"refuse": True}, still=5.0, command=("-c", CHILD))
    assert other.run({}, {}).refused == "no such model"
    other.close()


@pytest.mark.parametrize("how", [{"renew": 1}, {}], ids=["by count", "by memory"])
def test_a_process_makes_room_for_a_new_one(how: dict[str, Any]) -> None:
    keeper = WorkerSupervisor({}, still=5.0, command=("-c", CHILD), **how)
    first = pid(keeper.run({}, {}))
    second = pid(keeper.run({"memory": 2000}, {}))
    third = pid(keeper.run({}, {}))
    assert (first != second) == ("renew" in how)
    assert second != third
    keeper.close()


def test_an_outcome_survives_its_way(keeper: WorkerSupervisor) -> None:
    outcome = keeper.run({"kill": True}, {})
    assert Outcome.from_dict(outcome.to_dict()) == outcome


@pytest.mark.skipif(not Path("/proc").is_dir(), reason="looks into /proc")
def test_no_process_is_left_behind(keeper: WorkerSupervisor) -> None:
    child = pid(keeper.run({}, {}))
    keeper.close()
    assert not Path(f"/proc/{child}").exists()
