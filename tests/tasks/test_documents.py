"""Topics of documents and documents of queries, from corpus to answers."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
import spacy

from textrank import cross_validate, load_corpus, load_pipeline
from textrank.cli.app import run
from textrank.tasks.base import Scored
from textrank.tasks.documents import Categorise, Retrieve

CORPORA = Path(__file__).parents[2] / "corpora"


def told(**data):
    doc = spacy.blank("en")("pruning old roses")
    doc.user_data |= {"document": "d1", **data}
    return doc


@pytest.fixture(scope="module")
def texts():
    return list(load_corpus(CORPORA / "sample-categorise")(spacy.blank("en")))


@pytest.fixture(scope="module")
def queries():
    return list(load_corpus(CORPORA / "sample-retrieve" / "texts.jsonl")(spacy.blank("en")))


def test_a_document_is_asked_for_every_topic():
    found = Categorise(["roses", "music"]).candidates(told(meta={"topics": ["roses", "other"]}))
    assert [(c.query, c.label) for c in found] == [("roses", 1.0), ("music", -1.0)]
    assert {c.label for c in Categorise(["roses"]).candidates(told())} == {None}


@pytest.mark.parametrize("topics", ["roses", [1], {"a": 1}])
def test_topics_that_are_no_names_are_refused(topics):
    with pytest.raises(ValueError, match="topics of document 'd1' are"):
        Categorise(["roses"]).candidates(told(meta={"topics": topics}))


def test_topics_must_differ():
    with pytest.raises(ValueError, match="different names"):
        Categorise(["a", "a"])


def test_topics_are_learnt_and_each_is_measured(texts):
    report = cross_validate(load_pipeline("categorise"), texts, folds=5)
    assert report.counts.candidates == 5 * len(texts)
    assert report.measures["auc_of_topics"].mean > 0.9
    assert report.measures["auc sailing"].mean > 0.9
    means = [report.measures[f"f {t}"].mean for t in load_pipeline("categorise").task.topics]
    assert report.measures["f_of_topics"].mean == pytest.approx(np.mean(means), abs=0.1)


def test_topics_in_shuffled_documents_are_chance(texts):
    shuffled = np.random.default_rng(0).permutation([d.user_data["meta"] for d in texts])
    for doc, meta in zip(texts, shuffled, strict=True):
        doc.user_data["was"], doc.user_data["meta"] = doc.user_data["meta"], meta
    report = cross_validate(load_pipeline("categorise"), texts, folds=5)
    for doc in texts:
        doc.user_data["meta"] = doc.user_data.pop("was")
    assert 0.3 < report.measures["auc_of_topics"].mean < 0.7


def test_the_first_words_weigh_more_and_the_bag_does_not_care(texts):
    weighted = load_pipeline("categorise")
    positions = "kernel.kernel.kernel.kernel.positions"
    bag = load_pipeline("categorise", {positions: {"@transformations": "bag.v1"}})
    nlp = spacy.blank("en")
    one, other = nlp("harvest wheat corn exports fell"), nlp("exports fell corn wheat harvest")
    both = [load_pipeline("categorise").task.candidates(d)[0] for d in (one, other)]
    for pipeline, equal in ((weighted, False), (bag, True)):
        K = pipeline.kernel(pipeline.representation(both))
        assert np.isclose(K[0, 1], K[0, 0]) == equal


def test_the_documents_of_a_query_are_its_candidates():
    rows = [{"id": "a", "relevance": 2, "features": {"1": 0.5}}, {"features": {"2": 1}}]
    found = Retrieve().candidates(told(judged=rows))
    assert [(c.label, c.facts) for c in found] == [(2.0, {"1": 0.5}), (None, {"2": 1.0})]
    assert {(c.document, c.query) for c in found} == {("d1", "d1")}


def test_shared_words_are_the_features_of_texts():
    rows = [{"text": "All about pruning old roses."}, {"text": "Sailing.", "title": "Old roses"}]
    first, second = (c.facts for c in Retrieve().candidates(told(meta={"judged": rows})))
    assert first["words of the query"] == 1.0
    assert second["words in the title"] == pytest.approx(2 / 3)
    assert first["pairs of words"] > second["pairs of words"] > 0
    assert first["BM25"] > 0


def test_a_single_document_counts_as_a_list_of_one():
    one = Retrieve().candidates(told(judged={"relevance": 1, "features": {"1": 0.5}}))
    assert [(c.label, c.facts) for c in one] == [(1.0, {"1": 0.5})]


def test_what_is_no_document_is_named():
    with pytest.raises(ValueError, match=r"query 'd1' lists .* which is not a document"):
        Retrieve().candidates(told(judged=[{"relevance": 1}]))


def test_documents_that_are_tied_within_rounding_keep_the_order_of_the_list():
    rows = [{"id": name, "features": {"1": 0.5}} for name in "abc"]
    task, doc = Retrieve(), told(judged=rows)
    scored = Scored(task.candidates(doc), np.array([0.3, 0.1 + 0.2, 0.9]))
    marked = task.annotate(doc, scored)._.textrank_retrieve
    task.mark_answer_sets(doc, scored, np.array([[True], [False], [False]]))
    assert [row["id"] for row in marked] == ["c", "a", "b"]
    assert [row["score"] for row in marked] == [0.9, 0.3, 0.1 + 0.2]
    assert [row["in_answer_set"] for row in marked] == [False, True, False]


def test_documents_of_unseen_queries_are_ordered(queries):
    report = cross_validate(load_pipeline("retrieve"), queries, folds=5)
    assert report.measures["pairwise_accuracy"].mean > 0.85
    assert report.measures["map"].mean > 0.9
    wrong = report.measures["disagreement"].mean
    assert report.measures["pairwise_accuracy"].mean == pytest.approx(1 - wrong)


@pytest.mark.parametrize(
    ("task", "corpus"),
    [("categorise", "sample-categorise"), ("retrieve", "sample-retrieve")],
)
def test_commands_run_train_evaluate_and_apply(task, corpus, tmp_path, capsys):
    corpus, model = str(CORPORA / corpus), str(tmp_path / "model")
    figures = tmp_path / "figures.json"
    assert run(["run", task, corpus, "--folds", "3", "--json", str(figures)]) == 0
    assert json.loads(figures.read_text())["task"] == task
    assert run(["train", task, corpus, model]) == 0
    assert run(["evaluate", model, corpus]) == 0
    capsys.readouterr()
    assert run(["apply", model, corpus]) == 0
    rows = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    best = rows[1][f"textrank_{task}"][0]
    known = {"categorise": {"topic": "cooking"}, "retrieve": {"rank": 1}}[task]
    assert known.items() <= best.items()
    assert run(["explain", model, corpus]) == 0
