"""The command that rebuilds the pipeline, from raw files to a scored model, on a crumb of data."""

from __future__ import annotations

import gzip
from itertools import islice
from pathlib import Path

import pytest
import spacy
from typer.testing import CliRunner

from textrank.language import train
from textrank.language.networks import Settings


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
    monkeypatch.setattr(train, "NAMES", small)
    app = train.typer.Typer()
    app.command()(train.main)
    options = ["--syntax-epochs", "1", "--names-epochs", "1"]
    done = CliRunner().invoke(app, [str(tmp_path / "data"), str(tmp_path / "model"), *options])
    assert done.exit_code == 0, done.output
    nlp = spacy.load(tmp_path / "model")
    assert [t.dep_ for t in nlp("BRCA1 binds BARD1.")]
    assert nlp.meta["performance"]["craft_dev"]["token"] == 1
    assert "craft_dev: token 1.0" in done.output


def test_missing_data_are_named(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"lacks treebanks/craft-train\.conllu\.gz"):
        train.build(tmp_path)


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"epochs": 0}, "epochs must be at least 1"),
        ({"dropout": 1.0}, "dropout"),
        ({"rate": 0}, "rate"),
    ],
)
def test_settings_out_of_range_are_refused(wrong, words):
    with pytest.raises(ValueError, match=words):
        Settings(**wrong)
