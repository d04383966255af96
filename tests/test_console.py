"""The console blocks of the README and of the site, run as a reader would type them."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow
ROOT = Path(__file__).parents[1]
PAGES = ["README.md", *(f"docs/{name}.md" for name in (
    "start", "tutorials/cluster", "tutorials/corpus", "tutorials/curation", "tutorials/documents",
    "tutorials/spacy"))]  # fmt: skip
# What needs a network, a cluster, another program or data that are not ours to ship.
ELSEWHERE = re.compile(r"git clone|make |\. \.venv|--dask|^duckdb|reut2-000")
SERVERS = ("explore", "curate")


def commands(page: str) -> list[str]:
    """The lines after a dollar in the console blocks of a page, that this machine can run."""
    text = (ROOT / page).read_text(encoding="utf-8")
    blocks = re.findall(r"^```console[^\n]*\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    lines = "\n".join(blocks).replace("\\\n", " ").splitlines()
    found = [re.sub(r"\s{2,}#.*", "", line[2:]).strip() for line in lines if line.startswith("$ ")]
    return [line for line in found if not ELSEWHERE.search(line)]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """What a reader has at hand: the project's samples, abstracts, and a corpus of others."""
    for name in ("corpora", "docs", "README.md"):
        (tmp_path / name).symlink_to(ROOT / name)
    shutil.copytree(ROOT / "corpora" / "sample-text", tmp_path / "abstracts")
    sample = ROOT / "corpora" / "sample-ppi" / "corpus.xml"
    shutil.copy(sample, tmp_path / "another-corpus.xml")
    subprocess.run(["gzip", "-k", tmp_path / "another-corpus.xml"], check=True)
    return tmp_path


def titled(page: str, folder: Path) -> None:
    """Writes the files that a page shows by their name."""
    text = (ROOT / page).read_text(encoding="utf-8")
    for name, body in re.findall(
        r'^```\w+ title="([\w.]+\.\w+)"\n(.*?)^```$', text, re.MULTILINE | re.DOTALL
    ):
        (folder / name).write_text(body, encoding="utf-8")


@pytest.mark.parametrize("page", PAGES)
def test_every_command_of_a_page_works(page: str, folder: Path) -> None:
    lines = commands(page)
    assert lines, f"{page} has no command that can be tried"
    titled(page, folder)
    for line in lines:
        serves = any(f"textrank {word} " in line for word in SERVERS)
        (served if serves else run)(line, folder)


def run(line: str, folder: Path) -> None:
    """A linter may end with 1, for it may have found something."""
    env = {**os.environ, "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}
    done = subprocess.run(["bash", "-c", line], cwd=folder, env=env, capture_output=True, text=True)
    allowed = (0, 1) if "textrank spell" in line else (0,)
    assert done.returncode in allowed, f"{line}\n{done.stdout}\n{done.stderr}"
    assert "Traceback" not in done.stderr


def served(line: str, folder: Path) -> None:
    """A page is served until it is told to end."""
    words = [sys.executable, "-m", *shlex.split(line), "--no-browser", "--port", "0"]
    with subprocess.Popen(words, cwd=folder, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline().startswith("http://127.0.0.1:"), line
        process.send_signal(signal.SIGTERM)
        assert process.wait(timeout=60) == 0
