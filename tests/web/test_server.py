"""The command as a script meets it: address, health, clean end."""

from __future__ import annotations

import signal
import subprocess
import sys
import urllib.error
import urllib.request
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def test_explore_prints_its_address_and_ends_cleanly() -> None:
    arguments = ["explore", "corpora/sample-ppi", "--no-browser", "--port", "0"]
    code = "from textrank.cli import main; main()"
    with subprocess.Popen(
        [sys.executable, "-c", code, *arguments], cwd=ROOT, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        address = process.stdout.readline().strip()
        assert address.startswith("http://127.0.0.1:")
        root = address.partition("?")[0]
        with urllib.request.urlopen(address, timeout=240) as page:
            assert b"facts" in page.read()
        with urllib.request.urlopen(f"{root}health", timeout=240) as page:
            assert page.status == 200
        with pytest.raises(urllib.error.HTTPError, match="403"):
            urllib.request.urlopen(root, timeout=240)
        process.send_signal(signal.SIGTERM)
        assert process.wait(timeout=240) == 0
        assert process.stdout.read() == ""
