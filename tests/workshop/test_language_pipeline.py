"""The command that rebuilds the pipeline, from raw files to a scored model, on a crumb of data."""

from __future__ import annotations

import gzip
import io
import tarfile
from dataclasses import replace
from itertools import islice
from pathlib import Path

import pytest
import spacy
from typer.testing import CliRunner
from workshop import backward_parser, language_pipeline
from workshop.networks import Settings


def crumb(source: Path, target: Path) -> None:
    """The beginning of a packed file, up to a blank line where sentences end there."""
    target.parent.mkdir(parents=True, exist_ok=True)
    if ".tar" in source.suffixes:
        return crumbs(source, target)
    with gzip.open(source, "rt", encoding="utf-8") as given:
        kept = list(islice(given, 60 if "jsonl" in source.name else 3000))
        for line in given if "conllu" in source.name or "bc2gm" in source.name else ():
            kept.append(line)
            if not line.strip():
                break
    target.write_bytes(gzip.compress("".join(kept).encode()))


def crumbs(source: Path, target: Path) -> None:
    """The first documents of an archive, or the first lines of its texts."""
    with tarfile.open(source) as given, tarfile.open(target, "w:gz") as out:
        files = [member for member in given if member.isfile()]
        stems = sorted({member.name.rpartition(".")[0] for member in files})[:8]
        for member in files:
            stem, _, ending = member.name.rpartition(".")
            if stem not in stems and ending in ("txt", "a1", "a2"):
                continue
            content = given.extractfile(member).read()
            if ending == "in":
                content = b"".join(content.splitlines(keepends=True)[:150])
            member.size = len(content)
            out.addfile(member, io.BytesIO(content))


@pytest.fixture(scope="module")
def slice_of_data(data, tmp_path_factory):
    """All files that the language models learn from, a crumb of each."""
    folder = tmp_path_factory.mktemp("slice")
    for name in language_pipeline.INPUT_FILES:
        if name.startswith("ppi"):
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).symlink_to(data.resolve() / name)
        else:
            crumb(data / name, folder / name)
    return folder


SMALL = {"epochs": 1, "width": 16, "depth": 1, "rows": 200}


@pytest.mark.slow
@pytest.mark.corpus
def test_the_mirror_learns_from_a_slice(slice_of_data, tmp_path, monkeypatch):
    monkeypatch.setattr(backward_parser, "SETTINGS", replace(backward_parser.SETTINGS, **SMALL))
    app = backward_parser.typer.Typer()
    app.command()(backward_parser.main)
    options = [str(slice_of_data), str(tmp_path / "mirror"), "--epochs", "1"]
    done = CliRunner().invoke(app, options)
    assert done.exit_code == 0, done.output
    assert spacy.load(tmp_path / "mirror")(". BARD1 binds BRCA1").has_annotation("DEP")


@pytest.mark.slow
@pytest.mark.corpus
def test_the_command_trains_scores_and_writes_a_pipeline(slice_of_data, tmp_path, monkeypatch):
    monkeypatch.setattr(
        language_pipeline, "SYNTAX_SETTINGS", replace(language_pipeline.SYNTAX_SETTINGS, **SMALL)
    )
    monkeypatch.setattr(
        language_pipeline,
        "NAME_SETTINGS",
        replace(language_pipeline.NAME_SETTINGS, **SMALL, vectors=8),
    )
    app = language_pipeline.typer.Typer()
    app.command()(language_pipeline.main)
    options = ["--syntax-epochs", "1", "--names-epochs", "1"]
    done = CliRunner().invoke(app, [str(slice_of_data), str(tmp_path / "model"), *options])
    assert done.exit_code == 0, done.output
    nlp = spacy.load(tmp_path / "model")
    assert [t.dep_ for t in nlp("BRCA1 binds BARD1.")]
    assert nlp.meta["performance"]["craft_dev"]["token"] == 1
    assert "craft_dev: token 1.0" in done.output

    kept = ["--names-epochs", "1", "--keep", str(tmp_path / "model")]
    done = CliRunner().invoke(app, [str(slice_of_data), str(tmp_path / "other"), *kept])
    assert done.exit_code == 0, done.output
    assert "tagger and parser: epoch" not in done.output
    for part in ("tok2vec/model", "parser/model", "morphology/tables.msgpack"):
        first, second = ((tmp_path / m / part).read_bytes() for m in ("model", "other"))
        assert first == second


def test_a_pipeline_to_keep_that_is_none_ends_the_command_without_a_traceback(data_files, tmp_path):
    app = language_pipeline.typer.Typer()
    app.command()(language_pipeline.main)
    options = [str(data_files), str(tmp_path / "out"), "--keep", str(tmp_path / "none")]
    done = CliRunner().invoke(app, options)
    assert done.exit_code == 2
    assert "holds no pipeline of this command" in done.output


@pytest.fixture
def data_files(tmp_path):
    """A folder with empty files of all names."""
    for name in language_pipeline.INPUT_FILES:
        path = tmp_path / "data" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
    return tmp_path / "data"


def test_the_command_names_missing_data_without_a_traceback(tmp_path):
    app = language_pipeline.typer.Typer()
    app.command()(language_pipeline.main)
    done = CliRunner().invoke(app, [str(tmp_path), str(tmp_path / "out")])
    assert done.exit_code == 2
    assert "lacks treebanks/craft-train.conllu.gz" in done.output


def test_missing_data_are_named(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"lacks treebanks/craft-train\.conllu\.gz"):
        language_pipeline.build(tmp_path)


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
