"""The console blocks of the README and of the site, run as a reader would type them."""

from __future__ import annotations

import gzip
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.blocks import ROOT, blocks

pytestmark = pytest.mark.slow
PAGES = ["README.md", *(f"docs/{name}.md" for name in (
    "start", "scale", "reference/names", "tutorials/abstracts", "tutorials/cluster",
    "tutorials/corpus", "tutorials/curation", "tutorials/documents", "tutorials/spacy",
    "experiments/interactions", "experiments/spelling"))]  # fmt: skip
# Pages with statements as `apply --table` prints them.
SHOWN = ("README.md", "docs/index.md", "docs/start.md")
# What needs a network, a cluster, another program or data that are not ours to ship.
ELSEWHERE = re.compile(r"git clone|make |\. \.venv|--dask|^duckdb|reut2-000")
SERVERS = ("explore", "curate")


def commands(page: str) -> list[str]:
    """The lines after a dollar in the console blocks of a page, that this machine can run."""
    typed = [line for b in blocks(page) if b.language == "console" for line in b.commands]
    return [line for line in typed if not ELSEWHERE.search(line)]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """What a reader has at hand: the project's samples, texts of their own, corpora of others."""
    for name in ("corpora", "docs", "README.md"):
        (tmp_path / name).symlink_to(ROOT / name)
    for name in ("abstracts", "pubmed"):
        shutil.copytree(ROOT / "corpora" / "sample-text", tmp_path / name)
    shutil.copytree(ROOT / "corpora" / "sample-spelling" / "texts", tmp_path / "texts")
    (tmp_path / "letter.txt").write_text("It is larger then that. The new one is better then it.\n")
    sample = (ROOT / "corpora" / "sample-ppi" / "corpus.xml").read_text("utf-8")
    _corpora(tmp_path, sample)
    return tmp_path


def _corpora(folder: Path, sample: str) -> None:
    """The sample as a corpus of others, and cut in two: one to learn from, one to be tested on."""
    packed(folder / "another-corpus.xml.gz", sample)
    (folder / "another-corpus.xml").write_text(sample, encoding="utf-8")
    head, *documents = re.split(r"(?=<document )", sample)
    last = documents[-1].partition("</document>")
    documents[-1], end = last[0] + last[1], last[2]
    packed(folder / "LLL.xml.gz", head + "".join(documents[35:]) + end)
    (folder / "three").mkdir()
    packed(folder / "three" / "AImed.xml.gz", head + "".join(documents[:35]) + end)
    lines = ['[corpus]', '@readers = "together.v1"', "[corpus.corpora]", "[corpus.corpora.AImed]",
             '@readers = "ppi_xml.v1"', 'path = "AImed.xml.gz"', 'analysis = "spacy"']  # fmt: skip
    (folder / "three" / "corpus.cfg").write_text("\n".join(lines) + "\n")


def packed(file: Path, text: str) -> None:
    """Text as a gzip file."""
    with gzip.open(file, "wt", encoding="utf-8") as out:
        out.write(text)


@pytest.mark.parametrize("page", PAGES)
def test_every_command_of_a_page_works(page: str, folder: Path) -> None:
    lines = commands(page)
    assert lines, f"{page} has no command that can be tried"
    for block in blocks(page):
        if "." in block.title:  # a file that the page shows by its name
            (folder / block.title).write_text(block.body, encoding="utf-8")
    for line in lines:
        serves = any(f"textrank {word} " in line for word in SERVERS)
        (served if serves else run)(line, folder)


def run(line: str, folder: Path) -> str:
    """What is printed; a linter may end with 1, for it may have found something."""
    env = {**os.environ, "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}
    done = subprocess.run(["bash", "-c", line], cwd=folder, env=env, capture_output=True, text=True)
    allowed = (0, 1) if "textrank spell" in line else (0,)
    assert done.returncode in allowed, f"{line}\n{done.stdout}\n{done.stderr}"
    assert "Traceback" not in done.stderr
    return done.stdout


def served(line: str, folder: Path) -> None:
    """A page is served until it is told to end."""
    words = [sys.executable, "-m", *shlex.split(line), "--no-browser", "--port", "0"]
    with subprocess.Popen(words, cwd=folder, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline().startswith("http://127.0.0.1:"), line
        process.send_signal(signal.SIGTERM)
        assert process.wait(timeout=60) == 0


@pytest.mark.parametrize("page", SHOWN)
def test_statements_are_shown_as_they_are_printed(page: str, folder: Path) -> None:
    (shown,) = [b.body for b in blocks(page) if b.language == "text"]
    text = (ROOT / "Makefile" if "make demo" in shown else ROOT / page).read_text("utf-8")
    said = re.search(r'(?:^DEMO_TEXT := |echo ")(GRB2 binds.*?\.)(?=\n[^ ]|")', text, re.M | re.S)
    assert said is not None
    sentences = said[1].replace("\\\n", "")
    told = run(f"echo {shlex.quote(sentences)} | textrank apply ppi - --table", folder)
    rows = [line.split() for line in told.splitlines() if line.strip()]
    table = shown[shown.index(" statement ") :]
    assert [line.split() for line in table.splitlines() if line.strip()] == rows


def test_the_page_of_commands_shows_their_help(folder: Path) -> None:
    page = (ROOT / "docs" / "commands.md").read_text("utf-8")
    from textrank.cli import COMMANDS

    for name in COMMANDS:
        told = run(f"COLUMNS=100 TERM=dumb NO_COLOR=1 textrank {name} --help", folder).strip()
        assert told in page, f"textrank {name} --help is not what docs/commands.md shows: make docs"
