"""The files and commands of the tutorials work, as written and with the suggested changes."""

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
# Titles of the code blocks that the tests below use; other titles are not tested.
TITLES = {
    KERNEL: {"mykernel.py", "mine.cfg", "commands", "output", "another", "another output", "train",
             "features", "explain", "reasons"},
    TASK: {"messages.jsonl", "mytask.py", "urgent.cfg", "commands", "output", "use.py", "sentences",
           "names", "effects.jsonl"},
}  # fmt: skip


NUMBER = re.compile(r"\d+\.\d+")
PERCENT = re.compile(r"(?:AUC|F) ")  # rows of a table of metrics


def round_numbers(text: str) -> str:
    """Round long numbers to six digits; the last digits depend on the processor."""
    return re.sub(r"\d\.\d{7,}", lambda match: f"{float(match[0]):.6f}", text)


def missing_lines(shown: str, output: str) -> list[str]:
    """Return the lines that a page shows and that were not printed."""
    printed = output.splitlines()
    return [line for line in shown.splitlines() if not any(is_same(line, x) for x in printed)]


def is_same(shown: str, printed: str) -> bool:
    """Compare words exactly, percentages to the digit they are rounded to and scores to 1e-4."""
    words = [NUMBER.sub("#", line).split() for line in (shown, printed)]
    figures = [list(map(float, NUMBER.findall(line))) for line in (shown, printed)]
    tolerance = 0.11 if PERCENT.match(shown) else 1e-4
    return words[0] == words[1] and all(
        abs(x - y) <= tolerance for x, y in zip(*figures, strict=True)
    )


def run_in_shell(folder: Path, block: str) -> str:
    """Return the output of the commands of a block, run in a shell."""
    env = {**os.environ, "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}
    output = ""
    for line in block.splitlines():
        assert line.startswith("$ ")
        result = subprocess.run(
            ["bash", "-c", line[2:]], cwd=folder, env=env, capture_output=True, text=True
        )
        assert result.returncode == 0, result.stderr
        output += result.stdout
    return output


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


def run_commands(folder: Path, block: str) -> str:
    """Return the output of the commands of a block, without starting a process for textrank.

    Lines with other programs run in a shell.
    """
    output = io.StringIO()
    for line in block.splitlines():
        if not line.startswith("$ textrank ") or "|" in line:
            output.write(run_in_shell(folder, line))
            continue
        with contextlib.chdir(folder), contextlib.redirect_stdout(output), forget_code():
            assert run(shlex.split(line.removeprefix("$ textrank "))) == 0, line
    return output.getvalue()


def write_files(page: str, folder: Path) -> dict[str, str]:
    """Return the titled blocks of a page; write those whose title is a file name."""
    code = titled(page)
    for name in (name for name in code if "." in name):
        (folder / name).write_text(code[name], encoding="utf-8")
    (folder / "corpora").symlink_to(ROOT / "corpora")
    return code


@pytest.mark.parametrize("page", PAGES)
def test_files_and_commands_of_a_page(page, tmp_path):
    code = write_files(page, tmp_path)
    assert set(code) == TITLES[page]
    assert missing_lines(code["output"], run_commands(tmp_path, code["commands"])) == []
    if "use.py" in code:
        assert "'urgent': True" in run_in_shell(tmp_path, "$ python use.py")


def test_another_kernel(tmp_path):
    code = write_files(KERNEL, tmp_path)
    call, shared = re.split(r"\n(?=# in SharedEnding)", code["another"])
    source = replace_method(code["mykernel.py"], r"def __call__\(self, candidates\)", call)
    (tmp_path / "mykernel.py").write_text(replace_method(source, r"def _shared", shared))
    first, _ = code["commands"].splitlines()
    assert missing_lines(code["another output"], run_commands(tmp_path, first)) == []


def test_trained_model_and_explanations(tmp_path):
    code = write_files(KERNEL, tmp_path)
    plain = run_commands(tmp_path, code["train"])
    assert '"label": "DNA"' in plain
    start = code["mykernel.py"].index("@registry.kernels")
    (tmp_path / "mykernel.py").write_text(code["mykernel.py"][:start] + code["features"])
    named = run_commands(tmp_path, code["train"])
    assert round_numbers(named.splitlines()[-1]) == round_numbers(plain.splitlines()[-1])
    assert missing_lines(code["reasons"], run_commands(tmp_path, code["explain"])) == []


def replace_method(text: str, start: str, new: str) -> str:
    """Return a class with one method replaced; the new method may begin with a comment."""
    body = textwrap.indent(re.sub(r"^#.*\n", "", new).strip("\n"), "    ")
    old = rf"    {start}.*?(?=\n\n|\Z)"
    changed, count = re.subn(old, lambda _: body, text, count=1, flags=re.DOTALL)
    assert count == 1
    return changed


def test_one_decision_per_sentence(tmp_path):
    code = write_files(TASK, tmp_path)
    task = replace_method(code["mytask.py"], r"def candidates", code["sentences"])
    settings = code["urgent.cfg"].replace('"keep"\n', '"keep"\nbounds = "sentence"\n')
    things = "server", "freezer", "lamp", "printer", "door", "alarm"
    rows = [
        {"id": x, "text": f"The {x} is fine. Come at once, the {x} is down! Bye.", "urgent": [1]}
        for x in things
    ]
    (tmp_path / "mytask.py").write_text(task)
    (tmp_path / "urgent.cfg").write_text(settings)
    (tmp_path / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    output = run_commands(
        tmp_path, "$ textrank run urgent.cfg rows.jsonl --code mytask.py --folds 3"
    )
    assert "6 documents · 18 candidates · 6 positive" in output
    assert re.search(r"^AUC +100\.0", output, re.MULTILINE)


def test_one_decision_per_name(tmp_path):
    code = write_files(TASK, tmp_path)
    candidates, annotate = re.split(r"\n(?=def annotate)", code["names"])
    task = replace_method(code["mytask.py"], r"def candidates", candidates)
    task = replace_method(task, r"def annotate", annotate)
    task = task.replace("import document_id\n", "import document_id, entity_spans\n")
    settings = code["urgent.cfg"].replace('target = "keep"\n', "").replace("bag.v1", "smooth.v1")
    (tmp_path / "mytask.py").write_text(task)
    (tmp_path / "urgent.cfg").write_text(settings)
    output = run_commands(
        tmp_path,
        "$ textrank run urgent.cfg effects.jsonl --code mytask.py --folds 3\n"
        "$ textrank train urgent.cfg effects.jsonl model --code mytask.py\n"
        "$ textrank apply model effects.jsonl --code mytask.py\n",
    )
    assert "6 documents · 12 candidates · 6 positive" in output
    assert '{"name": "Aspirin", "effect": false}, {"name": "nausea", "effect": true}' in output
