"""Fuzz ``textrank serve`` with schemathesis: every answer must be what its document says."""

from __future__ import annotations

import os
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.campaign.settings import INPUTS

pytestmark = pytest.mark.campaign

TOKEN = "abcdefghij0123456789"
MAX_EXAMPLES = min(INPUTS, 200)  # per operation


@pytest.fixture
def address() -> Iterator[str]:
    """The address of a server of its own."""
    pytest.importorskip("starlette")
    command = [sys.executable, "-m", "textrank", "serve", "ppi"]
    process = subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        env={**os.environ, "TEXTRANK_TOKEN": TOKEN},
    )
    assert process.stdout is not None
    try:
        line = process.stdout.readline()
        assert TOKEN in line
        yield line.partition("/?")[0]
    finally:
        process.terminate()
        process.wait(30)
        process.stdout.close()


def test_the_interface_is_what_its_document_says(address: str, tmp_path: Path) -> None:
    pytest.importorskip("schemathesis")
    command = [
        *(sys.executable, "-m", "schemathesis.cli", "run", f"{address}/openapi.json"),
        *("--header", f"Authorization: Bearer {TOKEN}", "--checks", "all", "--no-color"),
        *("--max-examples", str(MAX_EXAMPLES), "--seed", "1"),
    ]
    result = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, timeout=3000)
    assert result.returncode == 0, result.stdout[-6000:]
    with urllib.request.urlopen(f"{address}/health", timeout=30) as response:
        assert response.status == 200
