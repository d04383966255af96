"""The files and commands of the tutorials, literally as they stand there."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


def blocks(page: str) -> dict[str, str]:
    """The titled blocks of a page by their title."""
    text = (ROOT / "docs" / "tutorials" / f"{page}.md").read_text("utf-8")
    found = re.findall(r'^```\w+ title="([^"]+)"\n(.*?)^```$', text, re.MULTILINE | re.DOTALL)
    return dict(found)


@pytest.mark.parametrize("page", ["kernel", "task"])
def test_the_files_copied_and_the_commands_typed(page, tmp_path):
    found = blocks(page)
    commands = found.pop("commands").splitlines()
    for name, text in found.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    (tmp_path / "corpora").symlink_to(ROOT / "corpora")
    told = ""
    for line in commands:
        dollar, program, *words = shlex.split(line)
        assert (dollar, program) == ("$", "textrank")
        command = [sys.executable, "-m", "textrank", *words]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        told += done.stdout
    assert "AUC" in told
