"""Writes docs/commands.md from the commands' own help and output: ``python docs/commands.py``."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path

from textrank.cli import COMMANDS

ROOT = Path(__file__).parents[1]
HEAD = """# Command line

Every command ends with 0 only on success, with 2 for what you can mend (one message that names
file, place and remedy), with 130 on Ctrl-C. `--json FILE` writes figures under stable keys. This
page is made from the commands' own help, and from what they print in the folder of the project.
"""
LINES = 24  # of an output that are shown
# In this order, each in the scratch folder that the ones before it left.
EXAMPLES = {
    "run": ["textrank run ppi-apg corpora/sample-ppi --folds 5 --json one.json"],
    "train": ["textrank train ppi-apg corpora/sample-ppi my-model"],
    "evaluate": ["textrank evaluate my-model corpora/sample-ppi"],
    "apply": [
        "textrank apply ppi corpora/sample-text/egfr.txt --table",
        "textrank apply ppi corpora/sample-text --out results",
    ],
    "query": [
        'textrank query results "who interacts with GRB2"',
        'textrank query results "SELECT type, count(*) AS n FROM statements GROUP BY type"',
    ],
    "spell": ["textrank spell letter.txt"],
    "explain": ["textrank explain ppi corpora/sample-text/egfr.txt"],
    "compare": [
        "textrank run ppi-linear corpora/sample-ppi --folds 5 --json other.json",
        "textrank compare one.json other.json",
    ],
    "reproduce": ["textrank reproduce --list"],
    "convert": ["textrank convert corpora/sample-ppi sample.jsonl"],
    "info": ["textrank info ppi", "textrank info rls.v1"],
}
LETTER = "The new version is faster then the old one. Its to early to say weather it helps.\n"


def printed(folder: Path, *words: str) -> str:
    """What a command prints; a proposal of the linter ends with 1."""
    env = {**os.environ, "COLUMNS": "100", "TERM": "dumb", "NO_COLOR": "1", "PYTHONWARNINGS": ""}
    program = (
        "import sys; sys.argv[0] = 'textrank'; from textrank.cli import main; sys.exit(main())"
    )
    command = [sys.executable, "-c", program, *words]
    done = subprocess.run(command, capture_output=True, text=True, env=env, cwd=folder)
    if done.returncode not in (0, 1):
        raise SystemExit(f"{shlex.join(words)} ended with {done.returncode}: {done.stderr}")
    return done.stdout.rstrip()


def example(folder: Path, line: str) -> str:
    """A command and the first lines of what it prints."""
    told = [row.rstrip() for row in printed(folder, *shlex.split(line)[1:]).splitlines()]
    more = [f"… {len(told) - LINES} lines more"] if len(told) > LINES else []
    return "\n".join([f"$ {line}", *told[:LINES], *more])


def page(folder: Path) -> str:
    """The whole page."""
    (folder / "corpora").symlink_to(ROOT / "corpora")
    (folder / "letter.txt").write_text(LETTER, encoding="utf-8")
    parts = [HEAD]
    for name, line in COMMANDS.items():
        parts.append(f"## textrank {name}\n\n{line}\n")
        parts.append(f"```text\n{printed(folder, name, '--help').strip()}\n```\n")
        shown = [example(folder, words) for words in EXAMPLES.get(name, ())]
        if shown:
            parts.append("```text\n" + "\n\n".join(shown) + "\n```\n")
    return "\n".join(parts)


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as scratch:
        made = page(Path(scratch))
    Path(__file__).with_name("commands.md").write_text(made, encoding="utf-8")
