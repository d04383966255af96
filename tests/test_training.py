"""Training by name: ``textrank train ppi`` gives a model of the shipped kind."""

from __future__ import annotations

import itertools
import json
from dataclasses import replace
from pathlib import Path

import pytest

import textrank
from textrank.cli.train import train_model as train_command
from textrank.training import load_training_plan, train_submodels

ROOT = Path(__file__).parents[1]
TEXT = "GRB2 binds SOS1. RAD51 does not interact with PTEN."


@pytest.fixture(scope="module")
def nlp():
    return textrank.load_nlp()


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    """A model of the bundled corpus on a basis of 150 pairs, written and read again."""
    folder = tmp_path_factory.mktemp("train") / "model"
    summary = train_command(
        "ppi", str(ROOT / "corpora" / "sample-ppi"), folder, ["learner.size=150"]
    )
    assert "submodels: none (not annotated)" in summary
    return textrank.load_model(folder)


def test_train_ppi_gives_the_kind_of_model_that_ships(trained):
    shipped = textrank.load_model("ppi")
    assert trained.pipeline.kernel == shipped.pipeline.kernel
    assert trained.pipeline.representation == shipped.pipeline.representation
    assert type(trained.pipeline.learner) is type(shipped.pipeline.learner)
    assert trained.pipeline.learner.sampling == shipped.pipeline.learner.sampling
    assert len(trained.support) == 150
    assert type(trained.calibration) is type(shipped.calibration)


def test_its_statements_have_probabilities(trained, nlp):
    (doc,) = trained.pipe([nlp(TEXT)])
    rows = doc._.textrank_ppi
    assert [row["names"] for row in rows] == [["GRB2", "SOS1"], ["RAD51", "PTEN"]]
    assert all(0 < row["probability"] < 1 for row in rows)
    assert rows[0]["probability"] > rows[1]["probability"]


def test_the_shipped_config_is_the_pipeline_that_is_trained():
    trained = textrank.load_pipeline(load_training_plan("ppi").pipeline)
    shipped = textrank.load_model("ppi").pipeline
    # Its level, the weights of its facts and the size of its basis come from the recipe.
    task = replace(shipped.task, level=trained.task.level, fact_weights=None)
    learner = replace(shipped.learner, size=trained.learner.size)
    assert replace(shipped, task=task, learner=learner) == trained


def test_submodels_are_trained_if_annotated(tmp_path, nlp):
    """Every 30th of our own sentences, whose status, type and direction are annotated."""
    lines = (ROOT / "corpora" / "sample-statements" / "corpus.jsonl").read_text().splitlines()
    corpus = tmp_path / "statements.jsonl"
    corpus.write_text("\n".join(itertools.islice(lines, 0, None, 30)))
    folder = tmp_path / "model"
    summary = train_command("ppi", str(corpus), folder)
    assert "submodels: status, type, direction" in summary
    assert json.loads((folder / "status" / "meta.json").read_text())["task"] == "ppi_statement"
    (doc,) = textrank.load_model(folder).pipe([nlp(TEXT)])
    assert all(row["type"] and row["direction"] for row in doc._.textrank_ppi)


def test_other_pipelines_train_themselves():
    plan = load_training_plan("gene_protein")
    assert plan.pipeline == "gene_protein"
    assert train_submodels(plan, []) == {}
