"""How the program ends: a code and a message for whatever stops it, never a traceback."""

from __future__ import annotations

import errno
import os
import resource
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
TEXT = ROOT / "corpora" / "sample-text" / "egfr.txt"
MAIN = "import sys; sys.argv[0] = 'textrank'; from textrank.cli import main; main()"


def program(*arguments: object, before: str = "", **how: object) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", f"{before}\n{MAIN}", *map(str, arguments)],
        stderr=subprocess.PIPE,
        text=True,
        **how,  # type: ignore[call-overload]
    )


def hear() -> None:
    """Lets a child hear Ctrl-C also where the tests run in the background, deaf to it."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def test_ctrl_c_at_work_ends_with_130_and_says_so(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "text.txt")
    running = program(
        "apply", "spelling", tmp_path / "text.txt", stdout=subprocess.PIPE, preexec_fn=hear
    )
    handle = _opened_by_other_side(tmp_path / "text.txt")
    told = ""
    for _ in range(10):  # a signal between opening and reading is only seen after the reading
        running.send_signal(signal.SIGINT)
        with suppress(subprocess.TimeoutExpired):
            _, told = running.communicate(timeout=10)
            break
    else:
        running.kill()
    os.close(handle)
    assert running.returncode == 130
    assert told.strip() == "textrank: error: interrupted; no partial output remains."


def _opened_by_other_side(pipe: Path) -> int:
    """Waits until the program reads the pipe."""
    for _ in range(600):
        try:
            return os.open(pipe, os.O_WRONLY | os.O_NONBLOCK)
        except OSError as error:
            if error.errno != errno.ENXIO:
                raise
            time.sleep(0.1)
    raise AssertionError("nobody reads the pipe")


@pytest.mark.parametrize("module", ["textrank.cli.app", "importlib.metadata", "spacy"])
def test_ctrl_c_while_modules_load_ends_with_130_and_says_so(module: str) -> None:
    before = (
        "import os, signal, sys\n"
        f"sys.modules.pop({module!r}, None)\n"
        f"sys.addaudithook(lambda e, a: e == 'import' and a[0] == {module!r} "
        "and os.kill(os.getpid(), signal.SIGINT))"
    )
    running = program("info", before=before, stdout=subprocess.PIPE, preexec_fn=hear)
    _, told = running.communicate(timeout=240)
    assert running.returncode == 130
    assert told.strip() == "textrank: error: interrupted; no partial output remains."


def test_a_full_standard_output_is_an_error(tmp_path: Path) -> None:
    def small() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))

    # coverage could not write its own file either
    environment = {k: v for k, v in os.environ.items() if not k.startswith("COVERAGE")}
    with (tmp_path / "out").open("w") as out:
        running = program("--help", stdout=out, preexec_fn=small, env=environment)
        _, told = running.communicate(timeout=240)
    assert running.returncode == 2
    assert "standard output" in told
    assert "Traceback" not in told


def test_a_closed_pipe_ends_quietly() -> None:
    ours, theirs = os.pipe()
    os.close(ours)
    running = program("--help", stdout=theirs)
    os.close(theirs)
    _, told = running.communicate(timeout=240)
    assert running.returncode == 141
    assert told == ""


def test_closed_standard_streams_are_named() -> None:
    running = program(
        "apply", "spelling", "-", stdout=subprocess.PIPE, preexec_fn=lambda: os.close(0)
    )
    _, told = running.communicate(timeout=240)
    assert running.returncode == 2
    assert "standard input is closed" in told
    running = program("--help", preexec_fn=lambda: os.close(1))
    _, told = running.communicate(timeout=240)
    assert running.returncode == 2
    assert "standard output is closed" in told


def test_standard_input_that_is_no_utf8_is_named() -> None:
    done = subprocess.run(
        [sys.executable, "-c", MAIN, "apply", "spelling", "-"],
        input=b"then \xff than",
        capture_output=True,
        timeout=240,
    )
    assert done.returncode == 2
    assert b"standard input, byte 5: not UTF-8" in done.stderr


@pytest.mark.parametrize("arguments", [["--version"], ["-V"]])
def test_the_version_is_told(arguments: list[str]) -> None:
    running = program(*arguments, stdout=subprocess.PIPE)
    out, _ = running.communicate(timeout=240)
    import textrank

    assert running.returncode == 0
    assert out.strip() == f"textrank {textrank.__version__}"
