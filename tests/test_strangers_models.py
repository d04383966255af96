"""A model from a stranger does nothing but compute: no import, no foreign file, no link, no socket.

Mutated model folders are loaded and used in a process whose opens, imports, sockets and processes
are audited (``sys.addaudithook``).
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from textrank.cli.app import run
from textrank.config import load_model, registered_classes, to_config
from textrank.io import META_FILE, write_manifest
from textrank.model import Model

ROOT = Path(__file__).parents[1]
PIPELINE_CFG = """[nlp]
lang = "en"
pipeline = []
after_creation = {"@callbacks": "spacy.copy_from_base_model.v1", "vocab": "wheel"}
"""


def seal(folder: Path) -> None:
    """Give a changed model valid checksums, as a stranger would."""
    meta = json.loads((folder / META_FILE).read_text())
    write_manifest(folder, meta)


def change(folder: Path, old: str, new: str) -> None:
    """Replace a text in the cfg of a model and seal it."""
    cfg = folder / "config.cfg"
    text = cfg.read_text()
    assert old in text
    cfg.write_text(text.replace(old, new))
    seal(folder)


@pytest.fixture
def parse_ranking(tmp_path: Path) -> Path:
    load_model("parse_ranking").to_disk(tmp_path / "model")
    return tmp_path / "model"


@pytest.fixture
def spelling(tmp_path: Path, trained_spelling: Model) -> Path:
    trained_spelling.to_disk(tmp_path / "model")
    return tmp_path / "model"


# Pipelines


@pytest.mark.parametrize("setting", ["parser", "mirror"])
def test_a_model_loads_no_pipeline_that_is_not_shipped(
    setting: str, parse_ranking: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    foreign = tmp_path / "nlp"
    foreign.mkdir()
    (foreign / "config.cfg").write_text(PIPELINE_CFG)
    values = to_config(load_model("parse_ranking").pipeline)["task"]
    change(parse_ranking, f'{setting} = "{values[setting]}"', f'{setting} = "nlp"')
    loaded = []
    monkeypatch.setattr("spacy.load", lambda *a, **k: loaded.append(a))
    from textrank.tasks import parsers

    model = load_model(parse_ranking)
    monkeypatch.setattr(parsers, "load_nlp", lambda *a, **k: loaded.append(a))
    parsers._load_pipeline.cache_clear()
    import spacy

    doc = spacy.blank("en")("GRB2 binds SOS1.")
    doc[0].is_sent_start = True
    if setting == "mirror":
        model = model.with_task(to_task(model, parser="en_textrank_bio"), model.threshold)
    with pytest.raises(ValueError, match="names the spaCy pipeline 'nlp'"):
        model.pipeline.task._make_parsers()[0 if setting == "parser" else 1]([doc[:]])
    assert loaded == []


def to_task(model: Model, **settings: str) -> object:
    from dataclasses import replace

    return replace(model.pipeline.task, **settings)


def test_the_user_may_name_a_pipeline(parse_ranking: Path) -> None:
    change(parse_ranking, 'parser = ""', 'parser = "elsewhere"')
    task = load_model(parse_ranking).pipeline.task.with_parser("mine")
    assert type(task._make_parsers()[0].name) is str
    assert type(load_model(parse_ranking, trusted=True).pipeline.task.parser) is str


# Files


@pytest.mark.parametrize("name", ["/etc/hostname", "../x.tsv", "model:../x.tsv", "model:no", "x"])
def test_a_model_names_no_file_outside_of_its_folder(
    name: str, spelling: Path, tmp_path: Path
) -> None:
    (tmp_path / "x.tsv").write_text("a\tNN\n")
    change(spelling, 'lexicon = "english"', f'lexicon = "{name}"')
    with pytest.raises(ValueError, match="outside of the model") as refusal:
        load_model(spelling)
    assert str(spelling) in str(refusal.value)


def test_a_model_carries_the_files_that_it_was_trained_with(spelling: Path, tmp_path: Path) -> None:
    lexicon = tmp_path / "mine.tsv"
    lexicon.write_text("then\tRB\nthan\tIN\n")
    change(spelling, 'lexicon = "english"', f'lexicon = "{lexicon}"')
    model = load_model(spelling, trusted=True)
    model.to_disk(tmp_path / "copy")
    lexicon.unlink()
    text = (tmp_path / "copy" / "config.cfg").read_text()
    assert 'lexicon = "model:file-1-mine.tsv"' in text
    shutil.move(tmp_path / "copy", tmp_path / "moved")
    loaded = load_model(tmp_path / "moved")
    assert str(tmp_path / "moved" / "file-1-mine.tsv") in json.dumps(to_config(loaded.pipeline))
    (tmp_path / "moved" / "file-1-mine.tsv").write_text("then\tXX\n")
    with pytest.raises(ValueError, match="checksum differs"):
        load_model(tmp_path / "moved")


@pytest.mark.parametrize("entry", ["arrays.npz", "config.cfg", META_FILE, "more"])
def test_a_model_contains_no_links(entry: str, spelling: Path, tmp_path: Path) -> None:
    target = tmp_path / "elsewhere"
    if (spelling / entry).exists():
        shutil.move(spelling / entry, target)
    else:
        target.write_text("x")
    (spelling / entry).symlink_to(target)
    with pytest.raises(ValueError, match="link, pipe or device"):
        load_model(spelling)


def test_a_model_with_a_link_to_itself_is_refused(tmp_path: Path) -> None:
    folder = tmp_path / "model"
    load_model("ppi").to_disk(folder)
    shutil.rmtree(folder / "type")
    (folder / "type").symlink_to(folder)
    with pytest.raises(ValueError, match="type: a link"):
        load_model(folder)
    (folder / "type").unlink()
    shutil.copytree(folder, tmp_path / "copy")
    shutil.move(tmp_path / "copy", folder / "type")  # a submodel that has submodels
    with pytest.raises(ValueError, match="a submodel has no submodels"):
        load_model(folder)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('@pipelines = "pipeline.v1"', '@readers = "json_lines.v1"'),
        ('@pipelines = "pipeline.v1"', '@resolve = "x"'),
        ('@pipelines = "pipeline.v1"', '@pipelines = "nothing.v1"'),
        ('@tasks = "spelling.v1"', '@callbacks = "spacy.copy_from_base_model.v1"'),
    ],
)
def test_other_roles_are_refused(old: str, new: str, spelling: Path) -> None:
    change(spelling, old, new)
    with pytest.raises(ValueError, match=r"config\.cfg"):
        load_model(spelling)


REVIEWED = {  # settings that take text and name no file
    "answers", "also", "entities", "labels", "topics", "sets", "more", "senses", "form", "bounds",
    "digits", "known", "parts", "drop", "types", "sides", "target", "stop_words", "vocabulary",
    "weights", "algorithm", "words", "dtype", "view", "linear", "gaussian", "positional", "empty",
    "name", "representations", "unknown", "transformation", "fact_weights", "relation", "table",
    "precision",
}  # fmt: skip


def test_every_setting_that_takes_text_was_reviewed() -> None:
    """A new setting that could name a file must be added to ``file_settings`` or above."""
    from dataclasses import fields, is_dataclass

    pipelines = {("ParseRanking", "parser"), ("ParseRanking", "mirror")}
    for role, classes in registered_classes().items():
        for cls in classes.values():
            if role == "readers" or not is_dataclass(cls) or cls.__module__[:8] != "textrank":
                continue
            files = getattr(cls, "file_settings", {})
            for field in fields(cls):
                if field.init and re.search(r"\b(str|Path)\b", str(field.type)):
                    is_known = field.name in files or field.name in REVIEWED
                    assert is_known or (cls.__name__, field.name) in pipelines, (cls, field.name)


# Audit


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="paths of Linux")
def test_200_mutated_models_are_loaded_without_a_forbidden_event(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "tests.audited_models", str(tmp_path), "200"]
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    done = subprocess.run(
        command,
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        timeout=1200,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    summary = json.loads(done.stdout.splitlines()[-1])
    assert summary["models"] == 200
    assert summary["used"] > 20
    assert summary["refused"] > 50
    assert summary["violations"] == []
    assert summary["errors"] == []


def test_apply_refuses_by_name(
    spelling: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    change(spelling, 'lexicon = "english"', 'lexicon = "/etc/hostname"')
    (tmp_path / "a.txt").write_text("It is larger then that.")
    assert run(["apply", str(spelling), str(tmp_path / "a.txt")]) == 2
    assert "outside of the model" in capsys.readouterr().err
