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
        try:
            check_pages(process)
        finally:
            process.kill()  # a failed check must not wait for the server


def check_pages(process: subprocess.Popen[str]) -> None:
    """Read a page with the token, one that needs none, one without it, and end the server."""
    assert process.stdout is not None
    address = process.stdout.readline().strip()
    assert address.startswith("http://127.0.0.1:")
    root = address.partition("?")[0]
    # The first page sets a cookie and redirects to the address without the token.
    browser = urllib.request.build_opener(urllib.request.HTTPCookieProcessor())
    with browser.open(address, timeout=240) as page:
        assert b"facts" in page.read()
        assert page.url == root
    with urllib.request.urlopen(f"{root}health", timeout=240) as page:
        assert page.status == 200
    with pytest.raises(urllib.error.HTTPError, match="403"):
        urllib.request.urlopen(root, timeout=240)
    process.send_signal(signal.SIGTERM)
    assert process.wait(timeout=240) == 0
    assert process.stdout.read() == ""
