"""A kernel, a reader, a measure, a task and a report column from outside, in one module."""

from __future__ import annotations

import json

import pytest

from tests.plugin_example import LinePerDoc, LongWords, SharedLength, WordText
from textrank.cli.app import run
from textrank.config import registry

CFG = """
[pipeline]
@pipelines = "pipeline.v1"
[pipeline.task]
@tasks = "long_words.v1"
[pipeline.representation]
@representations = "word_text.v1"
[pipeline.kernel]
@kernels = "shared_length_example.v1"
[pipeline.learner]
@learners = "rls.v1"
"""
CORPUS = """
[corpus]
@readers = "line_per_doc.v1"
path = "corpus.txt"
"""
LINES = ["a *kinase binds it", "the *protein is *activated", "we *purified a *receptor in it"] * 3


@pytest.fixture
def registered():
    registry.tasks.register("long_words.v1", func=LongWords)
    registry.representations.register("word_text.v1", func=WordText)
    registry.kernels.register("shared_length_example.v1", func=SharedLength)
    registry.readers.register("line_per_doc.v1", func=LinePerDoc)


def test_everything_of_a_plugin_works_from_the_command_line(registered, tmp_path, capsys):
    (tmp_path / "own.cfg").write_text(CFG)
    (tmp_path / "corpus.cfg").write_text(CORPUS)
    (tmp_path / "corpus.txt").write_text("\n".join(LINES))
    out = tmp_path / "figures.json"
    words = ["run", str(tmp_path / "own.cfg"), str(tmp_path), "--folds", "3", "--json", str(out)]
    assert run(words) == 0, capsys.readouterr().err
    shown = capsys.readouterr().out
    assert "share_said" in shown.replace(" ", "_")
    found = json.loads(out.read_text())
    assert found["pipeline"] == "own"
    assert found["measures"]["auc"]["mean"] > 0.9
    assert 0 < found["measures"]["share_said"]["mean"] < 1
