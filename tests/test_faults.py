"""Faults that were found by reading; each of these failed once."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import spacy
import srsly

from textrank import cross_validate, load_corpus, load_pipeline
from textrank.cli.app import set_parser
from textrank.evaluation import cross_validate_dataset
from textrank.evaluation.splits import DocumentFolds
from textrank.evaluation.sweep import learning_curve
from textrank.language import load_nlp
from textrank.model import Model
from textrank.tasks.parse_ranking import ParseRanking

CORPORA = Path(__file__).parents[1] / "corpora"
LIGHT = {"learner.learner.alphas": [1.0]}


@pytest.fixture(scope="module")
def names():
    return list(load_corpus(CORPORA / "sample-gene-protein")(spacy.blank("en")))


@pytest.fixture(scope="module")
def pipeline():
    return load_pipeline("gene_protein", LIGHT)


def test_the_learning_curve_ends_at_the_report(names, pipeline):
    """Its threshold was that of the best F, also where the task has one of its own."""
    dataset = pipeline.prepare(names)
    report = cross_validate_dataset(pipeline, dataset, DocumentFolds(3))
    last = learning_curve(pipeline, dataset, DocumentFolds(3), shares=(1.0,))[-1]
    assert last["f"]["mean"] == pytest.approx(report.measures["f"].mean)


def test_a_loaded_model_has_a_heldout_row_for_each_alpha(names, tmp_path):
    model = load_pipeline("gene_protein", {"learner.learner.alphas": [0.5, 1.0, 2.0]}).fit(names)
    model.to_disk(tmp_path / "model")
    again = Model.from_disk(tmp_path / "model")
    assert again.fit.heldout.shape[0] == len(again.fit.alphas)
    np.testing.assert_array_equal(again.fit.heldout[again.fit.alpha_index], model.heldout)


def test_calibration_is_kept_with_the_model(monkeypatch, tmp_path, names, pipeline):
    model = replace(pipeline.fit(names))
    expected = model.probability(np.linspace(-2, 2, 5))
    model.to_disk(tmp_path / "model")
    monkeypatch.setattr("textrank.model.fit_calibration", None)  # fitting anew would fail
    again = Model.from_disk(tmp_path / "model")
    assert again.calibration == model.calibration
    found = again.probability(np.linspace(-2, 2, 5))
    np.testing.assert_allclose(found, expected)


def test_loading_the_language_model_leaves_srsly_alone():
    before = srsly.msgpack.msgpack_encoders.get_all
    load_nlp()
    assert srsly.msgpack.msgpack_encoders.get_all == before


def test_candidates_are_found_once(monkeypatch, names, pipeline):
    task = type(pipeline.task)
    found, calls = task.candidates, []
    monkeypatch.setattr(task, "candidates", lambda self, doc: calls.append(1) or found(self, doc))
    pipeline.prepare(names)
    assert len(calls) == len(names)


def test_another_language_model_reaches_the_parsers_of_parse_ranking():
    chosen = set_parser(load_pipeline("parse_ranking"), "some_model")
    assert isinstance(chosen.task, ParseRanking)
    assert chosen.task.parser == "some_model"


def test_a_report_names_the_pipeline_that_was_run(names, pipeline):
    report = cross_validate(pipeline, names, folds=3, title="gene_protein-document")
    assert str(report).startswith("gene_protein-document on")
    assert report.to_dict()["pipeline"] == "gene_protein-document"


def test_word_senses_are_a_component():
    nlp = spacy.blank("en")
    component = nlp.add_pipe("textrank_wsd")
    with pytest.raises(ValueError, match="has no model"):
        component(nlp("A hard line."))
