"""The files and commands of the tutorials, literally as they stand there."""

from __future__ import annotations

import json
import re
import shlex
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


def blocks(page: str) -> dict[str, str]:
    """The titled blocks of a page by their title."""
    text = (ROOT / "docs" / "tutorials" / f"{page}.md").read_text("utf-8")
    found = re.findall(r'^```\w+ title="([^"]+)"\n(.*?)^```$', text, re.MULTILINE | re.DOTALL)
    return dict(found)


def rounded(text: str) -> str:
    """Long numbers to six digits: the last ones are the processor's."""
    return re.sub(r"\d\.\d{7,}", lambda found: f"{float(found[0]):.6f}", text)


@pytest.mark.parametrize("page", ["kernel", "task"])
def test_the_files_copied_and_the_commands_typed(page, tmp_path):
    found = blocks(page)
    commands, output = found.pop("commands").splitlines(), found.pop("output").splitlines()
    for name, text in found.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    (tmp_path / "corpora").symlink_to(ROOT / "corpora")
    told = ""
    for line in commands:
        dollar, program, *words = shlex.split(line)
        assert (dollar, program) == ("$", "textrank")
        told += ran(tmp_path, "-m", "textrank", *words)
    told = rounded(told)
    assert [line for line in output if rounded(line.strip()) not in told] == []
    if "use.py" in found:
        assert "'urgent': True" in ran(tmp_path, "use.py")


def test_the_change_to_sentences_is_two_places(tmp_path):
    found = blocks("task")
    method = textwrap.indent(found["sentences"], "    ") + "\n"
    task = re.sub(
        r"    def candidates.*?(?=    def annotate)", method, found["mytask.py"], flags=re.S
    )
    settings = found["urgent.cfg"].replace('"keep"\n', '"keep"\nbounds = "sentence"\n')
    things = "server", "freezer", "lamp", "printer", "door", "alarm"
    rows = [
        {"id": x, "text": f"The {x} is fine. Come at once, the {x} is down! Bye.", "urgent": [1]}
        for x in things
    ]
    (tmp_path / "mytask.py").write_text(task)
    (tmp_path / "urgent.cfg").write_text(settings)
    (tmp_path / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    words = "-m textrank run urgent.cfg rows.jsonl --code mytask.py --folds 3"
    told = ran(tmp_path, *words.split())
    assert "6 documents · 18 candidates · 6 positive" in told
    assert re.search(r"^AUC +100\.0", told, re.MULTILINE)


def ran(folder: Path, *words: str) -> str:
    """What Python prints, with these words behind it."""
    command = [sys.executable, *words]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout
