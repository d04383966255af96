"""The shipped ppi pipeline on the sample: two parses, and the kernel chosen in training."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import spacy
from spacy.tokens import Doc

from textrank.candidates import Candidate
from textrank.config import load_corpus, load_pipeline
from textrank.evaluation import cross_validate, cross_validate_dataset
from textrank.evaluation.splits import DocumentFolds, LeavePairOut
from textrank.evaluation.statistics import permutation_p
from textrank.evaluation.sweep import learning_curve
from textrank.io import pack_arrays, unpack_arrays
from textrank.language import load_nlp
from textrank.learners.base import score_alphas
from textrank.learners.rls import RLS
from textrank.model import Model
from textrank.pipeline import Dataset, Pipeline
from textrank.tasks.base import Scored
from textrank.tasks.ppi.task import PPI

SAMPLE = str(Path(__file__).parents[3] / "corpora" / "sample-ppi")
WEIGHTS = (0.5, 1.5, 4.0)


@pytest.fixture(scope="module")
def docs() -> list[Doc]:
    return list(load_corpus(SAMPLE)(load_nlp(only=["tagger", "parser"])))[:12]


@pytest.fixture(scope="module")
def pipeline() -> Pipeline:
    return load_pipeline("ppi")


@pytest.fixture(scope="module")
def seen(pipeline: Pipeline, docs: list[Doc]) -> Dataset:
    return pipeline.prepare(docs)


@pytest.fixture(scope="module")
def model(pipeline: Pipeline, seen: Dataset) -> Model:
    return pipeline.fit_dataset(seen)


def test_each_fold_says_which_kernel_it_chose(pipeline, seen):
    report = cross_validate_dataset(pipeline, seen, DocumentFolds(3))
    assert all(fold.chosen["gaussian_weight"] in WEIGHTS for fold in report.folds)
    assert all(fold.chosen["alpha"] in pipeline.learner.alphas for fold in report.folds)
    assert [point["x"] for point in report.curves["alpha"]] == list(pipeline.learner.alphas)


def test_the_model_has_the_kernel_that_scores_best_held_out(pipeline, seen, model):
    best = []
    for kernel in pipeline.kernel.alternatives:
        fit = pipeline.learner.fit(kernel(seen.X), seen.targets)
        best.append(score_alphas(fit.heldout, seen.targets, "auc").max())
    (weight,) = model.pipeline.kernel.gaussian_weights
    assert best[WEIGHTS.index(weight)] == pytest.approx(max(best))


def test_a_saved_model_keeps_the_choice(docs, model, tmp_path):
    model.to_disk(tmp_path / "model")
    loaded = Model.from_disk(tmp_path / "model")
    assert loaded.pipeline == model.pipeline
    candidates = [c for doc in docs for c in model.pipeline.task.candidates(doc)]
    np.testing.assert_allclose(loaded.score(candidates), model.score(candidates), atol=1e-12)


def test_the_learning_curve_chooses_too(pipeline, seen):
    points = learning_curve(pipeline, seen, DocumentFolds(3), shares=[1.0])
    report = cross_validate_dataset(pipeline, seen, DocumentFolds(3))
    expected = np.mean([fold.measures["auc"] for fold in report.folds])
    assert points[0]["auc"]["mean"] == pytest.approx(expected)


def test_a_choice_survives_the_cache(seen):
    data, again = seen.data, unpack_arrays(pack_arrays(seen.data))
    assert [dict(s) for s in again.settings] == [{"gaussian_weight": w} for w in WEIGHTS]
    for one, other in zip(data.grams, again.grams, strict=True):
        np.testing.assert_array_equal(one, other)


def test_what_needs_one_kernel_says_how_to_fix_it(pipeline, seen):
    with pytest.raises(ValueError, match="Fix gaussian_weight to one value"):
        cross_validate_dataset(pipeline, seen, LeavePairOut())
    division = DocumentFolds(3).split(seen.candidates, seen.targets)
    with pytest.raises(ValueError, match="a permutation test works with one kernel"):
        permutation_p(pipeline.learner, seen.data, division, permutations=2)
    assert 0 < permutation_p(RLS([0.1]), seen.data.grams[0], division, permutations=2).p <= 1


def test_one_weight_is_no_choice(pipeline, docs):
    fixed = replace(pipeline, kernel=pipeline.kernel.alternatives[1], learner=RLS([0.1]))
    report = cross_validate(fixed, docs, folds=3)
    assert set(report.folds[0].chosen) == {"alpha", "threshold"}


def test_f_with_one_answer_per_relation_and_document() -> None:
    nlp = spacy.blank("en")
    doc = nlp("GRB2 binds SOS1. Grb2 and SOS1 act on RAS.")
    doc.user_data["document"] = "d"

    def pair(first: int, second: int, label: float) -> Candidate:
        spans = (doc[first : first + 1], doc[second : second + 1])
        return Candidate(doc, spans, "d", label=label)

    # GRB2 – SOS1 in both sentences is one relation; it is found in one of them.
    candidates = [pair(0, 2, 1.0), pair(4, 6, 1.0), pair(6, 9, 1.0), pair(4, 9, -1.0)]
    task = PPI()
    values = task.measures(Scored(candidates, np.array([2.0, -2.0, -2.0, 2.0]), 0.0))
    assert values["f"] == pytest.approx(2 / (2 + 1 + 2))  # one hit, one false, two missed
    assert values["relation_f"] == pytest.approx(2 / (2 + 1 + 1))
    assert task.measures(Scored(candidates, np.zeros(4), None))["relation_f"] is None
    half = Scored(candidates, np.array([2.0, -2.0, -2.0, 2.0]), 0.0, unreachable=2)
    assert task.measures(half)["relation_f"] == pytest.approx(2 / (2 + 1 + 3))


def test_a_correction_counts_where_a_pair_has_several_rows(docs: list[Doc]) -> None:
    task = PPI()
    doc = next(doc for doc in docs if task.candidates(doc)).copy()
    first = task.candidates(doc)[0]
    row = {"entities": sorted(span.id_ for span in first.spans), "label": True}
    doc.user_data = {**doc.user_data, "gold": [row, {**row, "label": False}, row]}
    assert task.candidates(doc)[0].label == 1.0
    assert task.candidates(task.correct_labels(doc, {0: "no"}))[0].label == -1.0
    assert [row["label"] for row in doc.user_data["gold"]] == [True, False, True]
