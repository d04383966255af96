"""Files and folders are written whole or not at all, through links, never over a device."""

from __future__ import annotations

import os
import signal
import stat
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from textrank.io import atomic as w


def old_and_new(tmp_path: Path) -> tuple[Path, Callable[[], None]]:
    """A folder that holds the old, and what writes the new."""
    target = tmp_path / "model"
    with w.atomic_folder(target) as folder:
        (folder / "a").write_text("old")
        (folder / "b").write_text("old")

    def write() -> None:
        with w.atomic_folder(target) as folder:
            (folder / "a").write_text("new")
            (folder / "b").write_text("new")

    return target, write


def killed_at(number: int, action: Callable[[], None]) -> bool:
    """Runs in a child that is killed before its file operation of this number; whether it was."""
    child = os.fork()
    if child == 0:
        import sys

        count = 0

        def watch(event: str, _: object) -> None:
            nonlocal count
            if event == "open" or event.startswith(("os.", "shutil.", "textrank.")):
                count += 1
                if count == number:
                    os.kill(os.getpid(), signal.SIGKILL)

        sys.addaudithook(watch)
        action()
        os._exit(0)
    return os.WIFSIGNALED(os.waitpid(child, 0)[1])


@pytest.mark.parametrize("swaps", [True, False])
def test_a_kill_at_any_operation_leaves_the_old_or_the_new(
    tmp_path: Path, swaps: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not swaps:  # a file system that cannot exchange two names
        monkeypatch.setattr(w, "swap_paths", lambda one, other: False)
    seen = set()
    for number in range(1, 200):
        place = tmp_path / str(number)
        place.mkdir()
        target, write = old_and_new(place)
        killed = killed_at(number, write)
        if not swaps:
            w.recover_interrupted_write(target)
        found = {(target / name).read_text() for name in ("a", "b")}
        assert len(found) == 1
        seen |= found
        write()
        assert os.listdir(place) == ["model"], "the next run leaves no debris"
        if not killed:
            break
    assert seen == {"old", "new"}


def test_a_kill_while_a_file_is_written_leaves_the_old_and_no_debris(tmp_path: Path) -> None:
    target = tmp_path / "out.json"
    for number in range(1, 100):
        w.write_text("old", target)
        killed = killed_at(number, lambda: w.write_text("new", target))
        assert target.read_text() in ("old", "new")
        w.write_text("next", target)
        assert os.listdir(tmp_path) == ["out.json"]
        if not killed:
            break
    else:
        raise AssertionError("it never came to an end")


def test_the_draft_of_a_run_at_work_is_left_alone(tmp_path: Path) -> None:
    with w.open_atomic(tmp_path / "x") as out:
        out.write("first")
        w.write_text("second", tmp_path / "x")
    assert (tmp_path / "x").read_text() == "first"


def test_a_link_is_followed_and_stays_a_link(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "model").symlink_to("real")
    with w.atomic_folder(tmp_path / "model") as folder:
        (folder / "x").write_text("new")
    assert (tmp_path / "model").is_symlink()
    assert (tmp_path / "real" / "x").read_text() == "new"
    (tmp_path / "link.json").symlink_to("figures.json")
    w.write_text("1", tmp_path / "link.json")
    assert (tmp_path / "link.json").is_symlink()
    assert (tmp_path / "figures.json").read_text() == "1"


def test_a_pipe_is_written_to_and_stays_a_pipe(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    got: list[str] = []
    reader = threading.Thread(target=lambda: got.append(pipe.read_text()))
    reader.start()
    w.write_text("through", pipe)
    reader.join(10)
    assert got == ["through"]
    assert stat.S_ISFIFO(pipe.stat().st_mode)


def test_a_device_node_is_written_to_and_stays_one(tmp_path: Path) -> None:
    node = tmp_path / "node"
    try:
        os.mknod(node, stat.S_IFCHR | 0o666, os.makedev(1, 3))  # swallows what is written
        node.open("wb").close()
    except OSError:
        pytest.skip("device nodes cannot be made here")
    w.write_text("gone", node)
    assert stat.S_ISCHR(node.stat().st_mode)
    assert os.listdir(tmp_path) == ["node"]


def test_the_name_of_an_open_file_is_appended_to(tmp_path: Path) -> None:
    with (tmp_path / "kept").open("w") as stream:
        stream.write("before ")
        stream.flush()
        (tmp_path / "stream").symlink_to(f"/proc/self/fd/{stream.fileno()}")
        if not (tmp_path / "stream").exists():
            pytest.skip("no names of open files here")
        w.write_text("after", tmp_path / "stream")
    assert (tmp_path / "kept").read_text() == "before after"


def test_rights_are_what_the_umask_leaves_and_stay_as_they_were(tmp_path: Path) -> None:
    before = os.umask(0o077)
    try:
        w.write_text("x", tmp_path / "file")
        with w.atomic_folder(tmp_path / "folder") as folder:
            (folder / "x").write_text("x")
        assert stat.S_IMODE((tmp_path / "file").stat().st_mode) == 0o600
        assert stat.S_IMODE((tmp_path / "folder").stat().st_mode) == 0o700
        (tmp_path / "file").chmod(0o640)
        w.write_text("y", tmp_path / "file")
        assert stat.S_IMODE((tmp_path / "file").stat().st_mode) == 0o640
    finally:
        os.umask(before)


def test_files_of_a_folder_change_together_and_others_stay(tmp_path: Path) -> None:
    report = tmp_path / "deep" / "report"
    with w.update_folder(report) as folder:
        w.write_text("old", folder / "report.html")
    (report / "notes.txt").write_text("mine")
    (report / "sub").mkdir()
    with pytest.raises(FileNotFoundError), w.update_folder(report) as folder:
        (folder / "none" / "x").write_text("fails")
    assert (report / "report.html").read_text() == "old"
    with w.update_folder(report) as folder:
        w.write_text("new", folder / "report.html")
    assert (report / "report.html").read_text() == "new"
    assert (report / "notes.txt").read_text() == "mine"
    assert (report / "sub").is_dir()
    assert os.listdir(tmp_path / "deep") == ["report"]


def test_the_current_folder_is_not_taken_away(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ValueError, match="the current folder"), w.update_folder("."):
        pass


def test_a_folder_is_no_place_for_a_file(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="it is a folder"):
        w.write_text("x", tmp_path)
    with pytest.raises(ValueError, match="does not exist"):
        w.check_writable(tmp_path / "no" / "x.json")


def test_a_full_disk_names_the_file_and_leaves_the_old(tmp_path: Path) -> None:
    import resource

    w.write_text("old", tmp_path / "x")
    child = os.fork()
    if child == 0:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))
        try:
            w.write_text("new" * 10_000, tmp_path / "x")
        except OSError as error:
            os._exit(0 if "/x'" in str(error) and "cannot write" in str(error) else 1)
        os._exit(2)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert (tmp_path / "x").read_text() == "old"
    assert os.listdir(tmp_path) == ["x"]


def test_long_names_have_drafts_too(tmp_path: Path) -> None:
    w.write_text("x", tmp_path / ("é" * 120 + ".json"))
    assert len(os.listdir(tmp_path)) == 1
