"""A disk that fills while a command writes: code 2, a message, the old output, no debris."""

from __future__ import annotations

import os
import resource
import shutil
import signal
import sys
from pathlib import Path

import pytest

from tests.campaign.commands import COMMANDS, SEQUEL, Case, content, of, prepared, tables
from tests.campaign.findings import note

pytestmark = [pytest.mark.campaign, pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork")]
SIZES = (0, 100, 1000, 3000)  # bytes a file may grow to


@pytest.mark.parametrize("name", COMMANDS)
def test_a_full_disk(name: str, tmp_path: Path) -> None:
    case = prepared(name, tmp_path)
    largest = max((len(data) for data in case.new.values()), default=0)
    start = tmp_path / "start"
    shutil.copytree(case.out, start, symlinks=True)
    for size in SIZES:
        shutil.rmtree(case.out)
        shutil.copytree(start, case.out, symlinks=True)
        code, told = _limited(case, size)
        assert code in (0, 2), told
        assert "Traceback" not in told
        assert code == 2 or largest <= size, told
        for output in case.outputs if code else ():
            here, old = of(content(case.out), output), of(case.old, output)
            if name in SEQUEL:  # whose manifest may tell of a part that there is no room for
                here, old = tables(here), tables(old)
            assert here == old, f"{output}, {size} bytes"
        assert not [p for p in case.out.rglob(".*") if p.name.endswith((".part", ".old", ".draft"))]
        note(f"full disk of {name}, {size} bytes a file: code {code}")


def _limited(case: Case, size: int) -> tuple[int, str]:
    """The exit code of the command where no file grows beyond a size, and what it said."""
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        os.dup2(write, 2)
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        sys.stdout, sys.stderr = os.fdopen(1, "w"), os.fdopen(2, "w", buffering=1)
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))
        os._exit(case.run())
    os.close(write)
    with os.fdopen(read) as stream:
        told = stream.read()
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), told


@pytest.mark.parametrize("name", COMMANDS)
def test_a_folder_that_cannot_be_written(name: str, tmp_path: Path) -> None:
    """Root may write anywhere, so the folder is made immutable, where the system lets us."""
    case = prepared(name, tmp_path)
    before = content(case.out)
    if not shutil.which("chattr") or os.system(f"chattr -R +i {case.out} 2>/dev/null"):
        pytest.skip("this file system or user cannot make a folder immutable")
    try:
        code, told = _limited(case, resource.RLIM_INFINITY)
    finally:
        os.system(f"chattr -R -i {case.out}")
    assert code == 2, told
    assert "Traceback" not in told
    assert content(case.out) == before
