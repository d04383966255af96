"""The console blocks of the README and of the site run as shown."""

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
    "experiments/interactions", "experiments/spelling", "tutorials/audit", "tutorials/league",
    "tutorials/query", "for/curators", "for/kernels", "cookbook", "methods/embeddings",
    "tutorials/explore", "tutorials/forget", "tutorials/guarantees", "tutorials/transfer",
    "methods/positions", "formats", "interfaces"))]  # fmt: skip
# Commands that need a network, a cluster, another program or corpora that are not shipped.
ELSEWHERE = re.compile(
    r"git clone|make |\. \.venv|pip install|--dask|^duckdb|reut2-000"
    r"|--pmid|--query|textrank download|^curl|apply ppi articles"
)
SERVERS = ("explore", "curate", "serve")


def commands(page: str) -> list[str]:
    """Return the commands of a page that can run on this machine."""
    lines = [line for b in blocks(page) if b.language == "console" for line in b.commands]
    return [line for line in lines if not ELSEWHERE.search(line)]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return a folder with the files that the pages assume: samples, texts and other corpora."""
    for name in ("corpora", "docs", "README.md"):
        (tmp_path / name).symlink_to(ROOT / name)
    for name in ("abstracts", "pubmed"):
        shutil.copytree(ROOT / "corpora" / "sample-text", tmp_path / name)
    shutil.copytree(ROOT / "corpora" / "sample-spelling" / "texts", tmp_path / "texts")
    (tmp_path / "letter.txt").write_text("It is larger then that. The new one is better then it.\n")
    sample = (ROOT / "corpora" / "sample-ppi" / "corpus.xml").read_text("utf-8")
    _write_corpora(tmp_path, sample)
    return tmp_path


def _write_corpora(folder: Path, sample: str) -> None:
    """Write the sample as another corpus, and split into a training and a test corpus."""
    write_gzip(folder / "another-corpus.xml.gz", sample)
    (folder / "another-corpus.xml").write_text(sample, encoding="utf-8")
    head, *documents = re.split(r"(?=<document )", sample)
    last = documents[-1].partition("</document>")
    documents[-1], end = last[0] + last[1], last[2]
    write_gzip(folder / "LLL.xml.gz", head + "".join(documents[35:]) + end)
    (folder / "three").mkdir()
    for place in (folder, folder / "three"):
        write_gzip(place / "AImed.xml.gz", head + "".join(documents[:35]) + end)
    lines = ['[corpus]', '@readers = "together.v1"', "[corpus.corpora]", "[corpus.corpora.AImed]",
             '@readers = "ppi_xml.v1"', 'path = "AImed.xml.gz"', 'analysis = "spacy"']  # fmt: skip
    (folder / "three" / "corpus.cfg").write_text("\n".join(lines) + "\n")


def write_gzip(file: Path, text: str) -> None:
    """Write text as a gzip file."""
    with gzip.open(file, "wt", encoding="utf-8") as out:
        out.write(text)


@pytest.mark.parametrize("page", PAGES)
def test_commands_of_a_page(page: str, folder: Path) -> None:
    lines = commands(page)
    assert lines, f"{page} has no command that can be run"
    for block in blocks(page):
        if "." in block.title:  # the title is a file name
            (folder / block.title).write_text(block.body, encoding="utf-8")
    for line in lines:
        is_server = any(f"textrank {word} " in line for word in SERVERS)
        (check_server if is_server else run)(line, folder)


def run(line: str, folder: Path) -> str:
    """Run a command and return its output; `textrank spell` may exit with 1."""
    env = {**os.environ, "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}
    result = subprocess.run(
        ["bash", "-c", line], cwd=folder, env=env, capture_output=True, text=True
    )
    allowed = (0, 1) if "textrank spell" in line else (0,)
    assert result.returncode in allowed, f"{line}\n{result.stdout}\n{result.stderr}"
    assert "Traceback" not in result.stderr
    return result.stdout


def check_server(line: str, folder: Path) -> None:
    """Check that a command serves pages until it is terminated."""
    words = [sys.executable, "-m", *shlex.split(line), "--port", "0"]
    words += [] if "textrank serve " in line else ["--no-browser"]
    with subprocess.Popen(words, cwd=folder, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline().startswith("http://127.0.0.1:"), line
        process.send_signal(signal.SIGTERM)
        assert process.wait(timeout=60) == 0


def test_commands_page_shows_current_help(folder: Path) -> None:
    page = (ROOT / "docs" / "commands.md").read_text("utf-8")
    from textrank.cli import COMMANDS

    for name in COMMANDS:
        text = run(f"COLUMNS=100 TERM=dumb NO_COLOR=1 textrank {name} --help", folder).strip()
        assert text in page, f"docs/commands.md is outdated for {name}; run make docs"
