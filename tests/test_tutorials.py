"""The files and commands of the tutorials, as they stand there and changed as they invite to."""

from __future__ import annotations

import contextlib
import io
import json
import os
import re
import shlex
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path

import catalogue
import pytest

from tests.blocks import ROOT, titled
from textrank.cli.app import run

KERNEL, TASK = "docs/tutorials/kernel.md", "docs/tutorials/task.md"
PAGES = (KERNEL, TASK)
# What the tests below take from each page; a block under another title is run by none.
TITLES = {
    KERNEL: {"mykernel.py", "mine.cfg", "commands", "output", "another", "another output", "train",
             "features", "explain", "reasons"},
    TASK: {"messages.jsonl", "mytask.py", "urgent.cfg", "commands", "output", "use.py", "sentences",
           "names", "effects.jsonl"},
}  # fmt: skip


NUMBER = re.compile(r"\d+\.\d+")
PERCENT = re.compile(r"(?:AUC|F) ")  # rows of a table of measures


def rounded(text: str) -> str:
    """Long numbers to six digits: the last ones are the processor's."""
    return re.sub(r"\d\.\d{7,}", lambda found: f"{float(found[0]):.6f}", text)


def lacking(shown: str, told: str) -> list[str]:
    """Return the lines that a page shows and that were not printed."""
    return [
        line for line in shown.splitlines() if not any(same(line, x) for x in told.splitlines())
    ]


def same(shown: str, told: str) -> bool:
    """Compare words exactly, percentages to the digit they are rounded to and scores to 1e-4."""
    words = [NUMBER.sub("#", line).split() for line in (shown, told)]
    figures = [list(map(float, NUMBER.findall(line))) for line in (shown, told)]
    tolerance = 0.11 if PERCENT.match(shown) else 1e-4
    return words[0] == words[1] and all(
        abs(x - y) <= tolerance for x, y in zip(*figures, strict=True)
    )


def typed(folder: Path, block: str) -> str:
    """What the commands of a block print."""
    env = {**os.environ, "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}
    told = ""
    for line in block.splitlines():
        assert line.startswith("$ ")
        how = {"cwd": folder, "env": env, "capture_output": True, "text": True}
        done = subprocess.run(["bash", "-c", line[2:]], **how)
        assert done.returncode == 0, done.stderr
        told += done.stdout
    return told


@contextlib.contextmanager
def forget_code() -> Iterator[None]:
    """Remove on exit what ``--code`` imported and registered, as the end of a process would."""
    try:
        yield
    finally:
        modules = {"mykernel", "mytask"} & set(sys.modules)
        for key, registered in list(catalogue.REGISTRY.items()):
            if registered.__module__ in modules:
                del catalogue.REGISTRY[key]
        for name in modules:
            del sys.modules[name]


def called(folder: Path, block: str) -> str:
    """Return what the commands of a block print; faster than ``typed``, for it starts no process.

    Lines that are more than a textrank command are typed.
    """
    output = io.StringIO()
    for line in block.splitlines():
        if not line.startswith("$ textrank ") or "|" in line:
            output.write(typed(folder, line))
            continue
        with contextlib.chdir(folder), contextlib.redirect_stdout(output), forget_code():
            assert run(shlex.split(line.removeprefix("$ textrank "))) == 0, line
    return output.getvalue()


def copied(page: str, folder: Path) -> dict[str, str]:
    """The titled blocks of a page, those with the name of a file written under it."""
    found = titled(page)
    for name in (name for name in found if "." in name):
        (folder / name).write_text(found[name], encoding="utf-8")
    (folder / "corpora").symlink_to(ROOT / "corpora")
    return found


@pytest.mark.parametrize("page", PAGES)
def test_the_files_copied_and_the_commands_typed(page, tmp_path):
    found = copied(page, tmp_path)
    assert set(found) == TITLES[page]
    assert lacking(found["output"], called(tmp_path, found["commands"])) == []
    if "use.py" in found:
        assert "'urgent': True" in typed(tmp_path, "$ python use.py")


def test_another_kernel_is_ten_lines(tmp_path):
    found = copied(KERNEL, tmp_path)
    call, shared = re.split(r"\n(?=# in SharedEnding)", found["another"])
    own = method(found["mykernel.py"], r"def __call__\(self, candidates\)", call)
    (tmp_path / "mykernel.py").write_text(method(own, r"def _shared", shared))
    first, _ = found["commands"].splitlines()
    assert lacking(found["another output"], called(tmp_path, first)) == []


def test_a_model_of_it_and_one_with_reasons(tmp_path):
    found = copied(KERNEL, tmp_path)
    plain = called(tmp_path, found["train"])
    assert '"label": "DNA"' in plain
    start = found["mykernel.py"].index("@registry.kernels")
    (tmp_path / "mykernel.py").write_text(found["mykernel.py"][:start] + found["features"])
    named = called(tmp_path, found["train"])
    assert rounded(named.splitlines()[-1]) == rounded(plain.splitlines()[-1])
    assert lacking(found["reasons"], called(tmp_path, found["explain"])) == []


def method(text: str, start: str, new: str) -> str:
    """A class with one method exchanged; the new one may begin with a remark."""
    body = textwrap.indent(re.sub(r"^#.*\n", "", new).strip("\n"), "    ")
    old = rf"    {start}.*?(?=\n\n|\Z)"
    changed, count = re.subn(old, lambda _: body, text, count=1, flags=re.DOTALL)
    assert count == 1
    return changed


def test_the_change_to_sentences_is_two_places(tmp_path):
    found = copied(TASK, tmp_path)
    task = method(found["mytask.py"], r"def candidates", found["sentences"])
    settings = found["urgent.cfg"].replace('"keep"\n', '"keep"\nbounds = "sentence"\n')
    things = "server", "freezer", "lamp", "printer", "door", "alarm"
    rows = [
        {"id": x, "text": f"The {x} is fine. Come at once, the {x} is down! Bye.", "urgent": [1]}
        for x in things
    ]
    (tmp_path / "mytask.py").write_text(task)
    (tmp_path / "urgent.cfg").write_text(settings)
    (tmp_path / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    told = called(tmp_path, "$ textrank run urgent.cfg rows.jsonl --code mytask.py --folds 3")
    assert "6 documents · 18 candidates · 6 positive" in told
    assert re.search(r"^AUC +100\.0", told, re.MULTILINE)


def test_the_change_to_names_is_two_methods_and_two_words(tmp_path):
    found = copied(TASK, tmp_path)
    candidates, annotate = re.split(r"\n(?=def annotate)", found["names"])
    task = method(found["mytask.py"], r"def candidates", candidates)
    task = method(task, r"def annotate", annotate)
    task = task.replace("import document_id\n", "import document_id, named_spans\n")
    settings = found["urgent.cfg"].replace('target = "keep"\n', "").replace("bag.v1", "smooth.v1")
    (tmp_path / "mytask.py").write_text(task)
    (tmp_path / "urgent.cfg").write_text(settings)
    told = called(
        tmp_path,
        "$ textrank run urgent.cfg effects.jsonl --code mytask.py --folds 3\n"
        "$ textrank train urgent.cfg effects.jsonl model --code mytask.py\n"
        "$ textrank apply model effects.jsonl --code mytask.py\n",
    )
    assert "6 documents · 12 candidates · 6 positive" in told
    assert '{"name": "Aspirin", "effect": false}, {"name": "nausea", "effect": true}' in told
