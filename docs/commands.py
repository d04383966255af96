"""Write docs/commands.md from the help and output of commands.

``python docs/commands.py`` writes the whole page, ``python docs/commands.py league audit`` only the
sections of these commands. Examples of query need the results of apply: name both.
"""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Collection
from pathlib import Path

from textrank.cli import COMMANDS

ROOT = Path(__file__).parents[1]
HEAD = """# Command line

Exit codes: 0 on success, 2 for errors that you can fix (one message says what is wrong, where, and
how to fix it), 130 after Ctrl-C. `--json FILE` writes results with stable keys. This page is
generated from the help texts of the commands and from their output in the project folder.
"""
MAX_OUTPUT_LINES = 24
# Commands run in this order in one temporary folder; later ones use the files of earlier ones.
EXAMPLES = {
    "run": ["textrank run ppi-apg corpora/sample-ppi --folds 5 --json one.json"],
    "train": ["textrank train ppi-apg corpora/sample-ppi my-model"],
    "evaluate": ["textrank evaluate my-model corpora/sample-ppi"],
    "apply": [
        "textrank apply ppi corpora/sample-text/egfr.txt --table",
        "textrank apply ppi corpora/sample-text --out results",
    ],
    "export": ["textrank export results facts.indra.json"],
    "results": ["textrank results verify results"],
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
    "audit": ["textrank audit ppi-apg corpora/sample-ppi --top 3"],
    "reproduce": ["textrank reproduce --list"],
    "convert": ["textrank convert corpora/sample-ppi sample.jsonl"],
    "info": ["textrank info ppi", "textrank info rls.v1"],
}
LETTER = "The new version is faster then the old one. Its to early to say weather it helps.\n"


def run_command(folder: Path, *arguments: str) -> str:
    """Return the output of a command; only `spell` may exit with 1, if it found an error."""
    env = {**os.environ, "COLUMNS": "100", "TERM": "dumb", "NO_COLOR": "1", "PYTHONWARNINGS": ""}
    program = (
        "import sys; sys.argv[0] = 'textrank'; from textrank.cli import main; sys.exit(main())"
    )
    command = [sys.executable, "-c", program, *arguments]
    result = subprocess.run(command, capture_output=True, text=True, env=env, cwd=folder)
    if result.returncode not in ((0, 1) if arguments[0] == "spell" else (0,)):
        message = f"exit code {result.returncode}: {result.stderr}"
        raise SystemExit(f"{shlex.join(arguments)}: {message}")
    return result.stdout.rstrip()


def example(folder: Path, line: str) -> str:
    """Return a command and the first lines of its output."""
    output = run_command(folder, *shlex.split(line)[1:]).splitlines()
    shown = [row.rstrip() for row in output[:MAX_OUTPUT_LINES]]
    hidden = len(output) - len(shown)
    return "\n".join([f"$ {line}", *shown, *([f"… {hidden} more lines"] if hidden else [])])


def section(folder: Path, name: str) -> str:
    """Return the section of a command: its help, and examples with their output."""
    parts = [
        f"## textrank {name}\n\n{COMMANDS[name].help}\n",
        f"```text\n{run_command(folder, name, '--help').strip()}\n```\n",
    ]
    if examples := [example(folder, line) for line in EXAMPLES.get(name, ())]:
        parts.append("```text\n" + "\n\n".join(examples) + "\n```\n")
    return "\n".join(parts)


def page(folder: Path, old: str, names: Collection[str]) -> str:
    """Return the text of the page; sections of commands not in ``names`` are those of ``old``."""
    (folder / "corpora").symlink_to(ROOT / "corpora")
    (folder / "letter.txt").write_text(LETTER, encoding="utf-8")
    kept = {part.split("\n", 1)[0]: f"## textrank {part}" for part in old.split("## textrank ")[1:]}
    sections = [
        section(folder, name) if name in names or name not in kept else kept[name].rstrip() + "\n"
        for name in COMMANDS
    ]
    return "\n".join([HEAD, *sections])


if __name__ == "__main__":
    target = Path(__file__).with_name("commands.md")
    with tempfile.TemporaryDirectory() as scratch:
        text = page(Path(scratch), target.read_text("utf-8"), sys.argv[1:] or COMMANDS)
    target.write_text(text, encoding="utf-8")
