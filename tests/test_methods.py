"""The table of methods in docs/methods/index.md: its files, names and pages exist, commands run."""

from __future__ import annotations

import re
import shlex
import shutil
import warnings
from functools import cache
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest

import textrank.estimators
from textrank.catalog import CATALOG
from textrank.cli.app import run
from textrank.learners import online, reduced
from textrank.reproduce import EXPERIMENTS

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "methods" / "index.md"
COLUMNS = ["Method", "File", "cfg", "Command", "Page"]
NOT_BUILT = {
    "multi-trace electrophoretic patterns (Paper VI)",
    "genetic search of the weights (Table 3)",
}
SAMPLES = {
    "categorise": "sample-categorise",
    "gene_protein": "sample-gene-protein",
    "parse_ranking": "sample-parses",
    "ppi": "sample-ppi",
    "retrieve": "sample-retrieve",
    "spelling": "sample-spelling",
}
SENSES = {"line": ["cord", "phone", "text"], "hard": ["HARD1", "HARD2"]}


@cache
def rows() -> list[dict[str, str]]:
    """Return the rows of the tables that map methods to code, by column."""
    tables = []
    for line in PAGE.read_text(encoding="utf-8").splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if line.startswith("| ") and len(cells) == len(COLUMNS) and cells != COLUMNS:
            tables.append(dict(zip(COLUMNS, cells, strict=True)))
    return tables


def quoted(cell: str) -> list[str]:
    """Return what a cell has in backticks."""
    return re.findall(r"`([^`]+)`", cell)


@cache
def commands() -> list[str]:
    """Return the distinct commands but those of ``reproduce``, in order."""
    quoted_commands = [command for row in rows() for command in quoted(row["Command"])]
    return list(
        dict.fromkeys(c for c in quoted_commands if c.split()[0] in ("run", "cross", "train"))
    )


def test_every_source_has_rows():
    assert len(rows()) >= 40
    assert {row["Method"] for row in rows() if "not built" in row["Command"]} == NOT_BUILT


def test_files_and_pages_of_the_table_exist():
    for row in rows():
        for file in quoted(row["File"]):
            assert (ROOT / "textrank" / file).is_file(), row
        for page in re.findall(r"\]\(([^)]+)\)", row["Page"]):
            assert (PAGE.parent / page).is_file(), row


def test_names_of_the_table_are_registered_pipelines_or_classes():
    names = {name for role in CATALOG.values() for name in role}
    for row in rows():
        for name in quoted(row["cfg"]):
            assert (
                name in names
                or (ROOT / "pipelines" / f"{name}.cfg").is_file()
                or any(hasattr(module, name) for module in (textrank.estimators, online, reduced))
                or name == 'source = "link_grammar"'
                or name == "size"
            ), row


def test_every_reproduced_table_is_in_the_table_and_the_reverse():
    names = set()
    for row in rows():
        is_table = False
        for command in quoted(row["Command"]):
            first, *rest = command.split()
            if first == "reproduce":
                is_table = True
                names |= set(rest)
            elif is_table and not rest:  # `reproduce a`, `b`
                names.add(first)
    tables = set(EXPERIMENTS)
    assert names <= tables
    assert tables - names == set()


def write_senses(folder: Path) -> Path:
    """Write instances of two words whose senses depend on a word next to them."""
    words = []
    for word, senses in SENSES.items():
        instances = [
            f'<instance id="{word}{n}{sense}"><answer instance="{word}" senseid="{sense}"/>'
            f'<context><s> <wf pos="DT">the</wf> <wf pos="NN">about{sense}</wf> '
            f'<head> <wf pos="NN">{word}</wf></head> <wf pos="NN">thing{n}</wf> </s>'
            "</context></instance>"
            for n in range(8)
            for sense in senses
        ]
        words.append(f'<lexelt item="{word}-n">{"".join(instances)}</lexelt>')
    path = folder / "words.pos"
    path.write_text(f'<corpus lang="en">{"".join(words)}</corpus>')
    return path


def write_preferences(folder: Path) -> Path:
    """Write preferences between items that follow from a score of their features."""
    X = np.random.default_rng(0).normal(size=(15, 2))
    items = [f"i{i},{a:.3f},{b:.3f}" for i, (a, b) in enumerate(X)]
    (folder / "likes.items.csv").write_text("\n".join(["id,first,second", *items]))
    pairs = [(i, j) if X[i, 0] > X[j, 0] else (j, i) for i, j in combinations(range(15), 2)]
    lines = ["better,worse", *(f"i{i},i{j}" for i, j in pairs)]
    (folder / "likes.csv").write_text("\n".join(lines))
    return folder / "likes.csv"


@pytest.mark.slow
@pytest.mark.parametrize("command", commands())
def test_commands_of_the_table_run_on_the_samples(command, tmp_path, monkeypatch, capsys):
    if "link_grammar" in command and shutil.which("link-parser") is None:
        pytest.skip("link-parser (Debian package link-grammar) is not installed")
    monkeypatch.chdir(tmp_path)
    verb, pipeline, *options = shlex.split(command)
    task = pipeline.partition("-")[0]
    if task == "wsd":
        senses = ", ".join(f'"{word}": {tags}' for word, tags in SENSES.items()).replace("'", '"')
        corpora = [write_senses(tmp_path)]
        options = [*options, "--set", f"task.senses={{{senses}}}"]
    elif task == "preferences":
        corpora = [write_preferences(tmp_path)]
    else:
        corpora = [ROOT / "corpora" / SAMPLES[task]]
    match verb:
        case "run" if "--protocol" not in options:
            options += ["--folds", "3"]
        case "cross":
            corpora = split_corpus(corpora[0], tmp_path)
        case "train":
            options += [str(tmp_path / "model")]
    with warnings.catch_warnings():
        if "leaky" in options:
            warnings.simplefilter("ignore", UserWarning)  # that it leaks
        assert run([verb, pipeline, *map(str, corpora), *options]) == 0
    assert verb == "train" or re.search(r"\d\d\.\d", capsys.readouterr().out)


def split_corpus(corpus: Path, folder: Path) -> list[Path]:
    """Write each half of the documents of a corpus of XML as a corpus of its own."""
    text = "".join(file.read_text(encoding="utf-8") for file in sorted(corpus.glob("*.xml")))
    documents = re.findall(r"<document\b.*?</document>", text, re.DOTALL)
    paths = []
    for number in (0, 1):
        paths.append(folder / f"half{number}.xml")
        content = "".join(documents[number::2])
        paths[-1].write_text(f"<corpus>{content}</corpus>", encoding="utf-8")
    return paths
