"""Every block of code of the README and of the site is run by some test, or it fails here."""

from __future__ import annotations

import ast
import doctest
import json
from pathlib import Path

import pytest
import typer

from tests import test_console, test_tutorials
from tests.blocks import ROOT, Block, blocks, pages, programs
from textrank.cli import COMMANDS
from textrank.cli.app import build_app
from textrank.config import load_corpus

ALL = [block for page in pages() for block in blocks(page)]
COMMANDS_PAGE = "docs/commands.md"  # written by docs/commands.py, which runs what it shows
# What a cluster alone can run: it is read, no more.
CLUSTERS = ("dask_jobqueue", "SSHCluster")


def runs(block: Block) -> bool:
    """Whether a test runs this block, or compares it with what is printed."""
    if block.language in ("python", "pycon") and ">>>" in block.body:
        return bool(doctest.DocTestParser().get_examples(block.body))  # pytest collects every page
    if block.page in test_tutorials.PAGES:
        return block.title in test_tutorials.TITLES[block.page]
    if block.language == "text":
        return block.page in (COMMANDS_PAGE, *test_console.SHOWN)
    if block.language == "python" and any(word in block.body for word in CLUSTERS):
        return bool(ast.parse(block.body).body)
    if block.language in ("python", "ini", "json"):
        return (
            "." in block.title and block.page in test_console.PAGES
        )  # a file that a command reads
    return block.language == "console" and block.page in test_console.PAGES


def test_every_block_is_run() -> None:
    assert [f"{block} ({block.language})" for block in ALL if not runs(block)] == []


def test_commands_have_the_options_that_pages_write() -> None:
    shown = [block for block in ALL if block.language in ("console", "text")]
    refused = []
    for block in shown:
        for program, *words in (words for line in block.commands for words in programs(line)):
            try:
                if program == "textrank":
                    parsed(words)
            except Exception as error:
                refused.append(f"{block}: textrank {' '.join(words)}: {error}")
    assert refused == []


def parsed(words: list[str]) -> None:
    """Arguments as the real command takes them; an option it lacks is an error."""
    assert words[0] in COMMANDS
    command = typer.main.get_command(build_app(words[0])).commands[words[0]]  # type: ignore[attr-defined]
    command.make_context(words[0], words[1:])


def test_an_option_that_is_none_is_found() -> None:
    parsed(["run", "ppi", "corpora/sample-ppi", "--folds", "5"])
    with pytest.raises(Exception, match="No such option"):
        parsed(["run", "ppi", "corpora/sample-ppi", "--fold-count", "5"])


def test_json_lines_are_json() -> None:
    lines = [line for b in ALL if b.language == "json" for line in b.body.splitlines()]
    assert lines
    assert all(isinstance(json.loads(line), dict) for line in lines)


def test_the_cfg_of_a_corpus_reads_it(tmp_path: Path) -> None:
    import spacy

    (cfg,) = [b.body for b in blocks("docs/tutorials/corpus.md") if b.title == "corpus.cfg"]
    (tmp_path / "corpus.cfg").write_text(cfg, encoding="utf-8")
    (tmp_path / "corpus.xml").symlink_to(ROOT / "corpora" / "sample-ppi" / "corpus.xml")
    assert len(list(load_corpus(tmp_path)(spacy.blank("en")))) == 50
