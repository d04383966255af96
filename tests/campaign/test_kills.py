"""Every file operation of every command that writes, killed once: always the old or the new."""

from __future__ import annotations

import os
import shutil
import signal
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.campaign.commands import (
    COMMANDS,
    SEQUEL,
    Case,
    Files,
    child,
    content,
    of,
    prepared,
    quiet,
    tables,
)
from tests.campaign.findings import note
from textrank.scale.run import verify_folder

pytestmark = [pytest.mark.campaign, pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork")]
EVENTS = ("open", "os.", "shutil.", "textrank.")


def killed(action: Callable[[], int], place: Path, at: int) -> bool:
    """Runs an action in a child that is killed before its n-th operation in a folder."""
    pid = os.fork()
    if pid == 0:
        quiet()
        count = 0

        def operation() -> None:
            nonlocal count
            count += 1
            if count == at:
                os.kill(os.getpid(), signal.SIGKILL)

        def watch(event: str, values: tuple[object, ...]) -> None:
            if event.startswith(EVENTS) and any(str(place) in str(v) for v in values[:2]):
                operation()

        plain_sync = os.fsync

        def sync(handle: int) -> None:
            operation()
            plain_sync(handle)

        os.fsync = sync
        sys.addaudithook(watch)
        try:
            os._exit(action())
        except BaseException:
            os._exit(9)
    status = os.waitpid(pid, 0)[1]
    assert os.WIFSIGNALED(status) or os.WEXITSTATUS(status) == 0, "the command failed"
    return os.WIFSIGNALED(status)


def visible(files: Files) -> Files:
    """The files a user sees; what is hidden is debris until the next run."""
    return {k: v for k, v in files.items() if not any(p.startswith(".") for p in Path(k).parts)}


@pytest.mark.parametrize("name", COMMANDS)
def test_a_kill_at_any_operation_leaves_the_old_or_the_new(name: str, tmp_path: Path) -> None:
    case = prepared(name, tmp_path)
    start = tmp_path / "start"
    if name in SEQUEL:  # goes on with its own folder only
        shutil.rmtree(case.out)
        case.out.mkdir()
    shutil.copytree(case.out, start, symlinks=True)
    number, went_on = 0, True
    while went_on:
        number += 1
        shutil.rmtree(case.out)
        shutil.copytree(start, case.out, symlinks=True)
        went_on = killed(case.action, case.out, at=number)
        _check_after_kill(name, case, number)
        assert child(case.action) == 0, f"no run after a kill at {number}"
        _check_after_next(name, case, number)
    assert number > 3, "nothing was watched"
    note(f"kills of {name}: {number - 1} operations")


def _check_after_kill(name: str, case: Case, number: int) -> None:
    if name in SEQUEL:
        return
    found = visible(content(case.out))
    for output in case.outputs:
        here = of(found, output)
        assert here in (of(case.old, output), of(case.new, output)), f"half-made at {number}"


def _check_after_next(name: str, case: Case, number: int) -> None:
    found = content(case.out)
    debris = [k for k in found if k not in visible(found) and k not in case.new]
    assert not debris, f"debris after a kill at {number}: {debris}"
    for output in case.outputs:
        here, new = of(found, output), of(case.new, output)
        if name in SEQUEL:  # its log tells of two runs
            here, new = tables(here), tables(new)
            assert verify_folder(case.out / output) == [], f"after a kill at {number}"
        assert here == new, f"the run after a kill at {number} differs"
