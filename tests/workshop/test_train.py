"""The command that rebuilds the pipeline, from raw files to a scored model, on a crumb of data."""

from __future__ import annotations

import gzip
from dataclasses import replace
from itertools import islice
from pathlib import Path

import pytest
import spacy
from typer.testing import CliRunner
from workshop import train
from workshop.networks import Settings


def crumb(source: Path, target: Path, lines: int) -> None:
    """The first lines of a packed file, up to a blank one where sentences end there."""
    target.parent.mkdir(parents=True, exist_ok=True)
    with gzip.open(source, "rt", encoding="utf-8") as given:
        kept = list(islice(given, lines))
        for line in given if "conllu" in source.name or "tsv" in source.name else ():
            kept.append(line)
            if not line.strip():
                break
    target.write_bytes(gzip.compress("".join(kept).encode()))


@pytest.mark.slow
@pytest.mark.corpus
def test_the_command_trains_scores_and_writes_a_pipeline(data, tmp_path, monkeypatch):
    for name in train.FILES:
        lines = 10**9 if name.startswith("ppi") else 400 if "jsonl" in name else 6000
        crumb(data / name, tmp_path / "data" / name, lines)
    small = Settings(epochs=1, width=16, depth=1, rows=200)
    monkeypatch.setattr(train, "SYNTAX", small)
    monkeypatch.setattr(train, "NAMES", replace(small, vectors=8))
    app = train.typer.Typer()
    app.command()(train.main)
    options = ["--syntax-epochs", "1", "--names-epochs", "1"]
    done = CliRunner().invoke(app, [str(tmp_path / "data"), str(tmp_path / "model"), *options])
    assert done.exit_code == 0, done.output
    nlp = spacy.load(tmp_path / "model")
    assert [t.dep_ for t in nlp("BRCA1 binds BARD1.")]
    assert nlp.meta["performance"]["craft_dev"]["token"] == 1
    assert "craft_dev: token 1.0" in done.output

    kept = ["--names-epochs", "1", "--keep", str(tmp_path / "model")]
    done = CliRunner().invoke(app, [str(tmp_path / "data"), str(tmp_path / "other"), *kept])
    assert done.exit_code == 0, done.output
    assert "tagger and parser: epoch" not in done.output
    for part in ("tok2vec/model", "parser/model", "morphology/tables.msgpack"):
        first, second = ((tmp_path / m / part).read_bytes() for m in ("model", "other"))
        assert first == second


def test_a_pipeline_to_keep_that_is_none_ends_the_command_without_a_traceback(data_files, tmp_path):
    app = train.typer.Typer()
    app.command()(train.main)
    options = [str(data_files), str(tmp_path / "out"), "--keep", str(tmp_path / "none")]
    done = CliRunner().invoke(app, options)
    assert done.exit_code == 2
    assert "holds no pipeline of this command" in done.output


@pytest.fixture
def data_files(tmp_path):
    """A folder with empty files of all names."""
    for name in train.FILES:
        path = tmp_path / "data" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
    return tmp_path / "data"


def test_the_command_names_missing_data_without_a_traceback(tmp_path):
    app = train.typer.Typer()
    app.command()(train.main)
    done = CliRunner().invoke(app, [str(tmp_path), str(tmp_path / "out")])
    assert done.exit_code == 2
    assert "lacks treebanks/craft-train.conllu.gz" in done.output


def test_missing_data_are_named(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"lacks treebanks/craft-train\.conllu\.gz"):
        train.build(tmp_path)


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"epochs": 0}, "epochs must be at least 1"),
        ({"dropout": 1.0}, "dropout"),
        ({"rate": 0}, "rate"),
        ({"vectors": -1}, "vectors must not be below 0"),
    ],
)
def test_settings_out_of_range_are_refused(wrong, words):
    with pytest.raises(ValueError, match=words):
        Settings(**wrong)
