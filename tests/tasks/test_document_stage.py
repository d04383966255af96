"""A pipeline with a second stage over the document: Python, folder, component and command agree."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import spacy
from spacy.training import Example

import textrank.component  # noqa: F401 - an installed textrank is found by its entry points
from textrank.candidates import Targets
from textrank.cli.apply import apply_model
from textrank.cli.explain import explain_model
from textrank.config import dump_pipeline, load_corpus, load_pipeline
from textrank.evaluation import evaluate
from textrank.evaluation.evaluate import cross_corpora
from textrank.language.normalization import original_doc
from textrank.learners.meta import CONTEXT_FEATURE_NAMES
from textrank.model import Model

SAMPLE = Path(__file__).parents[2] / "corpora" / "sample-gene-protein"
SETTINGS = {"learner.learner.learner.alphas": [1.0, 4.0], "learner.folds": 3}


@pytest.fixture(scope="module")
def pipeline():
    return load_pipeline("gene_protein-document", SETTINGS)


@pytest.fixture(scope="module")
def docs():
    return list(load_corpus(SAMPLE)(spacy.blank("en")))


@pytest.fixture(scope="module")
def model(pipeline, docs):
    return pipeline.fit(docs[:-2])


@pytest.fixture(scope="module")
def candidates(pipeline, docs):
    return [c for doc in docs[-2:] for c in pipeline.task.candidates(doc)]


def test_settings_survive_a_cfg(pipeline, tmp_path):
    (tmp_path / "own.cfg").write_text(dump_pipeline(pipeline))
    assert load_pipeline(tmp_path / "own.cfg") == pipeline


def test_a_score_counts_the_whole_text_however_few_are_asked_for(model, candidates):
    together = model.score(candidates)
    alone = [model.score([candidate])[0] for candidate in candidates[:4]]
    np.testing.assert_allclose(alone, together[:4], atol=1e-12)
    np.testing.assert_allclose(model.score(candidates[::-1]), together[::-1], atol=1e-12)


def test_a_candidate_the_task_does_not_find_is_refused(model, candidates):
    stray = replace(candidates[0], query="nowhere")
    with pytest.raises(ValueError, match="its context is unknown"):
        model.score([stray])


def test_contributions_sum_to_the_score_with_the_first_stage_split_further(model, candidates):
    plain = replace(model, fit=replace(model.fit, second_stage=None))
    for candidate in candidates[:3]:
        parts = dict(model.explain(candidate))
        total = sum(parts.values())
        assert total == pytest.approx(model.score([candidate])[0], abs=1e-9)
        numbers = {name[1] for name in parts if name[0] == "document"}
        assert numbers <= {*CONTEXT_FEATURE_NAMES[1:], "constant"}
        first = sum(value for name, value in parts.items() if name[0] != "document")
        weight = model.fit.second_stage.weights[0, 0]
        assert first == pytest.approx(weight * plain.score([candidate])[0], abs=1e-9)


def test_a_saved_model_scores_and_explains_the_same(model, candidates, tmp_path):
    model.to_disk(tmp_path / "m")
    again = Model.from_disk(tmp_path / "m")
    np.testing.assert_allclose(again.score(candidates), model.score(candidates), atol=1e-12)
    told, before = (dict(m.explain(candidates[0])) for m in (again, model))
    assert told == pytest.approx({name: value for name, value in before.items() if value})
    assert again.threshold == model.threshold


def test_component_and_command_give_the_same(model, docs, candidates, tmp_path):
    model.to_disk(tmp_path / "m")
    rows = [json.loads(line) for line in (SAMPLE / "corpus.jsonl").read_text().splitlines()[-2:]]
    (tmp_path / "two.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    spacy.blank("en").to_disk(tmp_path / "blank")
    named = [str(tmp_path / "m"), [str(tmp_path / "two.jsonl")], str(tmp_path / "blank")]
    p = 1 / (1 + np.exp(-model.score(candidates)))
    given = [row["textrank_gene_protein"] for row in apply_model(*named)]
    found = [name["probabilities"]["DNA"] for row in given for name in row]
    np.testing.assert_allclose(found, p, atol=1e-12)
    nlp = spacy.blank("en")
    nlp.add_pipe("textrank_gene_protein", config={"model": None}).from_disk(tmp_path / "m")
    judged = list(nlp.pipe(docs[-2:]))
    found = [n["probabilities"]["DNA"] for doc in judged for n in doc._.textrank_gene_protein]
    np.testing.assert_allclose(found, p, atol=1e-12)
    told = list(explain_model(*named))
    np.testing.assert_allclose([e.decision.score for e in told], model.score(candidates), 1e-12)


def test_the_component_trains_it(docs):
    nlp = spacy.blank("en")
    nlp.add_pipe("textrank_gene_protein",
                 config={"model": None, "pipeline": "gene_protein-document"})  # fmt: skip
    nlp.initialize(lambda: [Example(doc, doc) for doc in docs])
    assert nlp.get_pipe("textrank_gene_protein").model.fit.second_stage is not None


def test_evaluation_tests_whole_documents_and_repeats_by_hand(pipeline, docs):
    seen = pipeline.prepare(docs)
    folds = seen.targets.groups % 3
    (nested,) = pipeline.learner.nested(seen.data, seen.targets, [folds])
    rest = [doc for doc, own in zip(docs, _fold_of(seen, docs, folds), strict=True) if own != 1]
    out = [c for i, c in enumerate(seen.candidates) if folds[i] == 1]
    fit = pipeline.fit(rest)
    row = list(nested.alphas).index(fit.fit.alpha)
    np.testing.assert_allclose(fit.score(out), nested.outer[row, folds == 1], atol=1e-3)


def _fold_of(seen, docs, folds):
    first = {}
    for candidate, fold in zip(seen.candidates, folds, strict=True):
        first.setdefault(id(original_doc(candidate.doc)), fold)
    return [first.get(id(doc), 0) for doc in docs]


def test_across_corpora_scores_are_those_of_the_model(pipeline, docs):
    corpora = {"a": docs[:20], "b": docs[20:]}
    found = cross_corpora(pipeline, corpora)
    alone = evaluate(pipeline.fit(corpora["a"]), corpora["b"])
    assert found.mean("auc", "a", "b") == pytest.approx(alone.measures["auc"].mean)


def test_three_answers_have_a_second_stage_each(docs):
    answers = ["protein", "DNA", "RNA"]
    pipeline = load_pipeline("gene_protein-document", {**SETTINGS, "task.answers": answers})
    model = pipeline.fit(docs)
    assert set(model.fit.second_stage.questions) <= set(answers)
    candidate = pipeline.task.candidates(docs[0])[0]
    total = sum(value for _, value in model.explain(candidate))
    assert total == pytest.approx(model.score([candidate])[0], abs=1e-9)
    assert Targets.from_candidates(pipeline.task.candidates(docs[0])).context.questions[
        :3
    ] == tuple(answers)
