"""No port is open unless the user asks for one: ``--workers`` uses pipes only."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from textrank.scale.job import Job
from textrank.scale.supervisor import ProcessPool, create_pool

LISTEN = "0A"  # state of a listening socket in /proc/net/tcp
is_linux = pytest.mark.skipif(not Path("/proc/net/tcp").exists(), reason="needs /proc/net")


def sockets(pid: int) -> set[str]:
    """Return the inodes of the sockets that a process has open."""
    inodes = set()
    try:
        for file in Path(f"/proc/{pid}/fd").iterdir():
            target = os.readlink(file)
            if target.startswith("socket:["):
                inodes.add(target[8:-1])
    except OSError:  # it has ended
        return set()
    return inodes


def listening_addresses(pids: set[int]) -> set[str]:
    """Return the local addresses (hexadecimal) on which these processes listen."""
    inodes = {inode for pid in pids for inode in sockets(pid)}
    addresses = set()
    for table in ("tcp", "tcp6", "udp", "udp6"):
        file = Path(f"/proc/net/{table}")
        for line in file.read_text().splitlines()[1:] if file.exists() else ():
            columns = line.split()
            is_open = columns[3] == LISTEN or table.startswith("udp")
            if is_open and columns[9] in inodes:
                addresses.add(columns[1])
    return addresses


def family(pid: int) -> set[int]:
    """Return a process and all its descendants."""
    parents: dict[int, list[int]] = {}
    for status in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = status.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        parents.setdefault(int(fields[1]), []).append(int(status.parent.name))
    members, waiting = {pid}, [pid]
    while waiting:
        children = parents.get(waiting.pop(), [])
        members |= set(children)
        waiting += children
    return members


def test_workers_need_no_dask() -> None:
    pool = create_pool(Job("none", "out").to_dict(), workers=4)
    try:
        assert isinstance(pool, ProcessPool)
        assert pool.capacity() == 8
    finally:
        pool.close()


def test_a_missing_scheduler_or_certificate_is_an_error() -> None:
    pytest.importorskip("distributed")
    with pytest.raises(ValueError, match="no Dask scheduler answers at tls://127"):
        create_pool(Job("none", "out").to_dict(), dask="tls://127.0.0.1:9")


@pytest.fixture
def server() -> Iterator[subprocess.Popen[bytes]]:
    code = "import socket, time; s = socket.create_server(('127.0.0.1', 0)); time.sleep(600)"
    with subprocess.Popen([sys.executable, "-c", code]) as process:
        yield process
        process.kill()


@is_linux
def test_the_scan_finds_a_port(server: subprocess.Popen[bytes]) -> None:
    for _ in range(100):
        if addresses := listening_addresses(family(os.getpid())):
            break
        time.sleep(0.1)
    assert any(address.startswith("0100007F:") for address in addresses)


@is_linux
@pytest.mark.slow
def test_a_run_with_workers_opens_no_port(tmp_path: Path) -> None:
    pytest.importorskip("pyarrow")
    texts = [{"id": f"d{n}", "text": "The adaptor GRB2 binds SOS1. " * 200} for n in range(40)]
    (tmp_path / "a.jsonl").write_text("\n".join(map(json.dumps, texts)))
    command = [sys.executable, "-c", "from textrank.cli import main; main()", "apply", "ppi"]
    command += [str(tmp_path / "a.jsonl"), "--out", str(tmp_path / "out"), "--part-size", "0.02"]
    command += ["--workers", "2"]
    addresses: set[str] = set()
    most = 0
    with subprocess.Popen(command, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL) as process:
        while process.poll() is None:
            members = family(process.pid)
            most = max(most, len(members))
            addresses |= listening_addresses(members)
            time.sleep(0.05)
    assert process.returncode == 0
    assert most >= 3  # the command and two workers
    assert addresses == set()
