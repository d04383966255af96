"""Faults that users met, each with the words or the result they should have met instead."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
import spacy

from textrank import load_corpus, load_pipeline
from textrank.candidates import Targets
from textrank.cli.app import run
from textrank.cli.info import collect_info
from textrank.config import registered_classes, with_task_settings
from textrank.evaluation import cross_validate_dataset
from textrank.evaluation.splits import DocumentFolds
from textrank.features import FeatureNames, Features
from textrank.io.reading import shipped_folder
from textrank.learners.rls import RLS

ROOT = Path(__file__).parents[1]
CORPUS = str(ROOT / "corpora" / "sample-ppi")
HUGE = "9" * 400  # more than a float can hold
TEXT = str(ROOT / "corpora" / "sample-text" / "egfr.txt")


def failing(capsys: pytest.CaptureFixture[str], *arguments: object) -> str:
    """The message of a command that must end with code 2 and have printed nothing else."""
    code = run([str(a) for a in arguments])
    shown = capsys.readouterr()
    assert code == 2, shown.err
    assert shown.out == ""
    return shown.err


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--write", "{here}/x.zzz"], "no format is written with this suffix"),
        (["--write", "{here}/x.conllu"], "cannot hold results of a task"),
        (["--write", "{here}/missing/x.jsonl"], "does not exist"),
        (["--network", "{here}/missing/x.graphml"], "does not exist"),
        (["--network", "{here}/x.zzz"], "is not a network format"),
        (["--facts", "{here}/missing/x.json"], "does not exist"),
    ],
)
def test_outputs_are_refused_before_the_work(
    options: list[str], words: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    filled = [option.format(here=tmp_path) for option in options]
    assert words in failing(capsys, "apply", "ppi", TEXT, *filled)


def test_convert_refuses_before_reading(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    message = failing(capsys, "convert", "nowhere.xml", tmp_path / "x.zzz")
    assert "no format is written with this" in message


@pytest.mark.parametrize("format", ["brat", "text"])
def test_two_documents_of_one_id_are_not_written_over_each_other(
    format: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "x.jsonl").write_text('{"id": "a", "text": "One."}\n{"id": "a", "text": "Two."}\n')
    told = failing(capsys, "convert", tmp_path / "x.jsonl", tmp_path / "out", "--format", format)
    assert "two documents have the id 'a'" in told
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--set", "learner=3"], "'learner' is a block and cannot be set to 3"),
        (["--set", 'learner.alphas=["a"]'], "'a' is not a number"),
        (
            ["--set", f"learner.alphas=[{HUGE}]"],
            "learner.alphas.0 has more than 308 digits",
        ),
        (["--sweep", f"learner.alphas=[{HUGE}]"], "has more than 308 digits"),
        (["--folds", HUGE], "no corpus has so many documents"),
        (["--set", "learner.select=3"], "3 is not one of 'auc', 'f'"),
        (["--protocol", "foo"], "leave-pair-out"),
        (["--folds", "99"], "share a sentence or an original count as one"),
    ],
)
def test_messages_say_what_is_wrong(
    options: list[str], words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert words in failing(capsys, "run", "ppi-linear", CORPUS, *options)


def test_a_corpus_of_any_name_can_be_drawn() -> None:
    from textrank.reports.html import plot_heat_map

    names = ["a$b", "$c$ _{"]
    figure = plot_heat_map("x", "t", "words", np.eye(2).tolist(), names, names, axes=("a", "b"))
    assert "$c$ _{" in figure.svg


def test_a_text_is_the_same_text_in_json_lines(tmp_path: Path) -> None:
    text = "A title\n\nSHC binds\nto GRB2. It does\n so.\n- one\n- two\n"
    (tmp_path / "x.txt").write_text(text)
    (tmp_path / "x.jsonl").write_text(json.dumps({"id": "x", "text": text}))
    plain, line = (
        [s.text for doc in load_corpus(tmp_path / name)(spacy.blank("en")) for s in doc.sents]
        for name in ("x.txt", "x.jsonl")
    )
    assert plain == line


def test_info_knows_what_is_shipped() -> None:
    found = collect_info("ppi")
    assert "task.precision" in found["pipeline ppi: settings, for --set"]
    assert found["model ppi"]["task"] == "ppi"
    with pytest.raises(ValueError, match=r"'ppii'.*ppi\.v1"):
        collect_info("ppii")


def test_settings_say_what_they_may_be_and_mean() -> None:
    settings = collect_info("rls.v1")["settings"]
    assert "one of 'auc', 'f'" in settings["select"]
    assert "a list of numbers" in settings["alphas"]
    assert "candidates with a positive label" in settings["positive_weight"]
    for names in registered_classes().values():
        for name in names:
            assert name in collect_info(name)


def test_a_trained_model_refuses_words_it_never_saw() -> None:
    docs = list(load_corpus(ROOT / "corpora" / "sample-spelling")(spacy.blank("en")))
    model = load_pipeline("spelling", {"learner.learner.alphas": [1.0]}).fit(docs)
    with pytest.raises(ValueError, match=r"task\.more decides what a model is trained on"):
        with_task_settings(model, ['task.more=[["form", "from"]]'])


def test_intervals_hold_their_own_means() -> None:
    pipeline = load_pipeline("spelling", {"learner.learner.alphas": [1.0]})
    docs = list(load_corpus(ROOT / "corpora" / "sample-spelling")(spacy.blank("en")))
    report = cross_validate_dataset(pipeline, pipeline.prepare(docs), DocumentFolds(3))
    assert {"f", "precision", "recall"} <= set(report.intervals)
    for name, (low, high) in report.intervals.items():
        assert low <= report.measures[name].mean <= high


@pytest.mark.parametrize(("x", "y"), [(1e200, 1.0), (1.0, 1e300), (1e154, 1e154)])
def test_numbers_too_large_to_square_are_refused(x: float, y: float) -> None:
    rng = np.random.default_rng(0)
    names = FeatureNames.from_iterable([(str(n),) for n in range(5)])
    data = Features(sp.csr_array(x * rng.normal(size=(30, 5))), names)
    groups = np.arange(30) // 3
    with pytest.raises(ValueError, match="Divide them by a constant"):
        RLS().fit(data, Targets(y * np.sign(rng.normal(size=30)), groups, groups))


def test_source_folder_without_install_finds_models(tmp_path: Path) -> None:
    """Python in the repository's root finds ``textrank`` there, before any installed one."""
    code = (
        "import sys; sys.meta_path[:] = [f for f in sys.meta_path if 'editable' not in repr(f)];"
        "from textrank.io.reading import shipped_folder; print(shipped_folder('models'))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert Path(done.stdout.strip()) == shipped_folder("models")


@pytest.mark.parametrize(
    ("value", "words"),
    [("[" * 100_000, "nested too deeply"), ("9" * 5000, "has too many digits")],
)
def test_a_setting_that_cannot_be_read_says_what_is_wrong_with_it(
    capsys: pytest.CaptureFixture[str], value: str, words: str
) -> None:
    told = failing(capsys, "run", "ppi", CORPUS, "--set", f"learner.alphas={value}")
    assert "learner.alphas" in told
    assert words in told


@pytest.mark.parametrize(
    ("command", "words"),
    [
        ("run", "which word of the set belongs in the text"),
        ("evaluate", "found with the table of textrank spell."),
    ],
)
def test_where_nothing_is_to_be_judged_the_task_says_what_it_asks(
    capsys: pytest.CaptureFixture[str], command: str, words: str, tmp_path: Path
) -> None:
    (tmp_path / "x.jsonl").write_text('{"id": "a", "text": "SHC binds GRB2."}\n')
    told = failing(capsys, command, "spelling", tmp_path / "x.jsonl")
    assert words in told
