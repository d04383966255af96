"""Every file operation of every command that writes, killed once: always the old or the new."""

from __future__ import annotations

import os
import shutil
import signal
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
pytestmark = [pytest.mark.campaign, pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork")]
EVENTS = ("open", "os.", "shutil.", "textrank.")
Files = dict[str, bytes]


def run(arguments: Sequence[object]) -> None:
    """A command in this process."""
    from textrank.cli import main

    sys.argv = ["textrank", *map(str, arguments)]
    try:
        main()
    except SystemExit as stop:
        if stop.code:
            raise


def child(action: Callable[[], None], place: Path, kill_at: int = 0) -> tuple[bool, int]:
    """Runs an action in a child that is killed before its n-th operation in a folder.

    Gives whether it was killed, and how many operations there were until then.
    """
    ours, theirs = os.pipe()
    pid = os.fork()
    if pid == 0:
        _quiet()
        count = 0

        def operation(what: str) -> None:
            nonlocal count
            count += 1
            os.write(theirs, b".")
            if count == kill_at:
                os.kill(os.getpid(), signal.SIGKILL)

        def watch(event: str, values: tuple[object, ...]) -> None:
            if event.startswith(EVENTS) and any(str(place) in str(v) for v in values[:2]):
                operation(event)

        plain_sync = os.fsync
        time.perf_counter = float  # reports state seconds, which would differ

        def sync(handle: int) -> None:
            operation("fsync")
            plain_sync(handle)

        os.fsync = sync
        sys.addaudithook(watch)
        try:
            action()
        except BaseException:
            os._exit(9)
        os._exit(0)
    os.close(theirs)
    _, status = os.waitpid(pid, 0)
    with os.fdopen(ours, "rb") as stream:
        count = len(stream.read())
    assert os.WIFSIGNALED(status) or os.WEXITSTATUS(status) == 0, "the command failed"
    return os.WIFSIGNALED(status), count


def _quiet() -> None:
    out = os.open(os.devnull, os.O_WRONLY)
    os.dup2(out, 1)
    os.dup2(out, 2)


def content(folder: Path) -> Files:
    """All files below a folder; what is hidden is debris."""
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def targets(folder: Path, names: Sequence[str]) -> list[Files]:
    """Each output by itself: what belongs together must change together."""
    found = []
    for name in names:
        path = folder / name
        if path.is_dir():
            found.append(content(path))
        else:
            found.append({name: path.read_bytes()} if path.exists() else {})
    return found


COMMANDS: dict[str, tuple[list[str], list[str]]] = {
    "train": (["train", "ppi-linear", "CORPUS", "OUT/model"], ["model"]),
    "convert to a folder": (["convert", "CORPUS", "OUT/brat"], ["brat"]),
    "convert to a file": (["convert", "CORPUS", "OUT/x.jsonl"], ["x.jsonl"]),
    "convert to texts": (["convert", "CORPUS", "OUT/t", "--format", "text"], ["t"]),
    "apply": (
        ["apply", "ppi", "TEXT", "--write", "OUT/x.bioc.xml", "--network", "OUT/n.graphml"],
        ["x.bioc.xml", "n.graphml"],
    ),
    "report": (
        ["run", "ppi-linear", "CORPUS", "--folds", "2", "--report", "OUT/r", "--json", "OUT/j"],
        ["r", "j"],
    ),
    "sweep": (
        ["run", "ppi-linear", "CORPUS", "--folds", "2", "--sweep", "learner.alphas=[1],[2]",
         "--cache", "OUT/cache", "--json", "OUT/s.json", "--report", "OUT/s"],
        ["s.json", "s"],
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", COMMANDS)
def test_a_kill_at_any_operation_leaves_the_old_or_the_new(name: str, tmp_path: Path) -> None:
    arguments, outputs = COMMANDS[name]
    out = tmp_path / "out"
    corpora = [ROOT / "corpora" / "sample-ppi", _smaller(tmp_path)]
    text = ROOT / "corpora" / "sample-text" / "egfr.txt"

    def command(corpus: Path) -> Callable[[], None]:
        words = {"CORPUS": str(corpus), "TEXT": str(text)}
        filled = [words.get(a, a.replace("OUT", str(out))) for a in arguments]
        return lambda: run(filled)

    run_quietly = [command(corpus) for corpus in corpora]
    states = []
    for action in run_quietly:
        shutil.rmtree(out, ignore_errors=True)
        out.mkdir()
        child(action, out)
        states.append(targets(out, outputs))
    old, new = states[1], states[0]
    start = tmp_path / "start"
    shutil.rmtree(out)
    out.mkdir()
    child(run_quietly[1], out)
    shutil.copytree(out, start, symlinks=True)
    number, killed = 0, True
    while killed:
        number += 1
        shutil.rmtree(out)
        shutil.copytree(start, out, symlinks=True)
        killed, _ = child(run_quietly[0], out, kill_at=number)
        found = targets(out, outputs)
        for was, now, here in zip(old, new, found, strict=True):
            assert here in (was, now), f"half-made at operation {number}"
        child(run_quietly[0], out)  # the next run goes on and tidies up
        for now, here in zip(new, targets(out, outputs), strict=True):
            assert here == now, f"the run after a kill at {number} differs"
        debris = [p for p in out.rglob("*") if p.name.startswith(".")]
        assert not debris, f"debris after a kill at {number}: {debris}"
    assert number > 3, "nothing was watched"


def _smaller(folder: Path) -> Path:
    """Another corpus, so that old and new differ."""
    import spacy

    from textrank.config import load_corpus
    from textrank.formats.table import write

    docs = list(load_corpus(ROOT / "corpora" / "sample-ppi")(spacy.blank("en")))
    write(docs[: len(docs) // 2], folder / "sample-ppi.xml")
    return folder / "sample-ppi.xml"
