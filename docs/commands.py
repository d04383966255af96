"""Writes docs/commands.md from the help of every command: ``python docs/commands.py``."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from textrank.cli import COMMANDS

HEAD = """# Command line

Every command ends with 0 only on success, with 2 for what you can mend (one message that names
file, place and remedy), with 130 on Ctrl-C. `--json FILE` writes figures under stable keys. This
page is made from the commands' own help.
"""


def told(*words: str) -> str:
    """What a command says of itself."""
    env = {**os.environ, "COLUMNS": "100", "TERM": "dumb", "NO_COLOR": "1"}
    command = [sys.executable, "-m", "textrank", *words, "--help"]
    return subprocess.run(command, capture_output=True, text=True, check=True, env=env).stdout


def page() -> str:
    """The whole page."""
    parts = [HEAD]
    for name, line in COMMANDS.items():
        parts.append(f"## textrank {name}\n\n{line}\n\n```text\n{told(name).strip()}\n```\n")
    return "\n".join(parts)


if __name__ == "__main__":
    Path(__file__).with_name("commands.md").write_text(page(), encoding="utf-8")
