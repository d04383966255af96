"""Review of doubtful labels: decisions on disk, agreement, corrected corpora, and the requests."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import spacy
from spacy.tokens import Span

from textrank.candidates import document_id
from textrank.config import load_corpus, load_pipeline
from textrank.evaluation.audit import audit_dataset
from textrank.kernels.algebra import Linear
from textrank.learners.rankrls import RankRLS
from textrank.learners.rls import RLS
from textrank.pipeline import Pipeline
from textrank.protocols import Task
from textrank.tasks.documents import Retrieve
from textrank.tasks.parse_ranking import ParseRanking
from textrank.tasks.senses import GeneProtein, WordSenses
from textrank.tasks.spelling import Spelling
from textrank.web.annotation import AnswerLog
from textrank.web.app import Credentials
from textrank.web.review import LabelReview, ReviewApp, export_corrected, measure_agreement

CORPUS = Path(__file__).parents[2] / "corpora" / "sample-ppi"


class Noise:
    """Random features: what is tested does not depend on the scores."""

    def __call__(self, candidates: Any) -> Any:
        return np.random.default_rng(0).normal(size=(len(candidates), 3))


def review_of(task: Task, docs: list[Any], file: Path, learner: Any = None) -> LabelReview:
    pipeline = Pipeline(task, Noise(), Linear(), learner or RLS((1.0,)))
    dataset = pipeline.prepare(docs)
    return LabelReview(
        task, docs, dataset, audit_dataset(pipeline, dataset), AnswerLog(file, {}), "ada"
    )


@pytest.fixture
def review(tmp_path: Path) -> LabelReview:
    docs = list(load_corpus(CORPUS)(spacy.blank("en")))[:8]
    return review_of(load_pipeline("ppi-linear").task, docs, tmp_path / "d.sqlite")


def wrong_value(item: Any) -> str:
    return next(value for value in item.choices if value != item.gold)


def test_items_come_by_doubt_and_decided_ones_do_not_come_again(review: LabelReview) -> None:
    first = review.next_item(random=False)
    assert first is not None
    assert first.rank == 1
    review.decide(first.key, first.gold)
    second = review.next_item(random=False)
    assert second is not None
    assert second.rank == 2
    assert review.next_item("bob", random=False) == first  # everyone decides by themselves
    filtered = review.next_item(filters={"document": review.items[-1].document}, random=False)
    assert filtered is not None
    assert filtered.document == review.items[-1].document


def test_decisions_survive_a_restart_and_can_be_undone(tmp_path: Path, review: LabelReview) -> None:
    item = review.items[0]
    review.decide(item.key, wrong_value(item))
    review.decide(item.key, item.gold)  # changes one's mind
    review.log.close()
    again = review_of(review.task, list(review.docs.values()), tmp_path / "d.sqlite")
    assert again.resolve(item).decision == item.gold
    again.undo()
    assert again.resolve(item).is_wrong(item.gold)
    again.undo()
    assert again.resolve(item).decision is None
    with pytest.raises(ValueError, match="nothing of yours"):
        again.undo()


def test_unknown_decisions_are_refused_before_anything_is_written(review: LabelReview) -> None:
    with pytest.raises(ValueError, match="available: yes, no, unsure"):
        review.decide(review.items[0].key, "maybe")
    with pytest.raises(ValueError, match="not part of the audit"):
        review.decide("none", "yes")
    assert review.log.events() == []


def test_the_majority_decides_and_agreement_is_measured(review: LabelReview) -> None:
    one, two = review.items[:2]
    for who, value in (("ada", one.gold), ("bob", wrong_value(one))):
        review.decide(one.key, value, who)
    assert review.resolve(one).decision is None  # as many for as against
    review.decide(one.key, wrong_value(one), "cyd")
    assert review.resolve(one).is_wrong(one.gold)
    review.decide(two.key, "unsure", "ada")
    review.decide(two.key, two.gold, "bob")
    state = review.state("ada", random=False)
    assert (state["reviewed"], state["wrong"], state["people"]) == (2, 1, 3)
    assert state["agreement"]["items"] == 1  # an unsure vote is no decision
    assert state["agreement"]["share"] == pytest.approx(1 / 3)


def test_fleiss_kappa_of_a_textbook_case() -> None:
    rows = [["a", "a"], ["a", "b"], ["b", "b"], ["b", "b"]]
    agreement = measure_agreement(rows)
    assert agreement is not None
    chance = (3 / 8) ** 2 + (5 / 8) ** 2
    assert agreement.kappa == pytest.approx((0.75 - chance) / (1 - chance))
    assert measure_agreement([]) is None
    same = measure_agreement([["a", "a"]])
    assert same is not None
    assert same.kappa is None


def test_the_random_sample_counts_only_its_beginning(review: LabelReview) -> None:
    assert review.sampled_error_rate() is None
    order = [review.items[i] for i in review.random_order]
    review.decide(order[1].key, wrong_value(order[1]))
    assert review.sampled_error_rate() is None
    review.decide(order[0].key, order[0].gold)
    rate = review.sampled_error_rate()
    assert rate is not None
    assert (rate["items"], rate["wrong"]) == (2, 1)
    assert 0 < rate["interval"]["low"] < 0.5 < rate["interval"]["high"] < 1
    assert review.next_item(random=True) == order[2]


def test_a_corrected_corpus_has_the_decided_labels(review: LabelReview) -> None:
    changed = review.items[:5]
    for item in changed:
        review.decide(item.key, wrong_value(item))
    before = review.dataset.targets.y.copy()
    task = review.task
    after = np.array([c.label for doc in review.corrected_docs() for c in task.candidates(doc)])
    rows = sorted(item.row for item in changed)
    assert np.flatnonzero(after != before).tolist() == rows
    assert [c.label for d in review.docs.values() for c in task.candidates(d)] == before.tolist()
    content, suffix = export_corrected(review, "json_lines")
    assert suffix == ".jsonl"
    assert len(content.splitlines()) == len(review.docs)


def named_docs() -> list[Any]:
    nlp = spacy.blank("en")
    docs = []
    for number, labels in enumerate([("protein", "DNA"), ("DNA", "RNA"), ("RNA", "protein")]):
        doc = nlp("p53 regulates the mdm2 gene .")
        spans = [Span(doc, 0, 1, labels[0], span_id="a"), Span(doc, 3, 4, labels[1], span_id="b")]
        doc.spans["entities"] = spans
        doc.user_data["document"] = f"d{number}"
        docs.append(doc)
    return docs


@pytest.mark.parametrize("answers", [("protein", "DNA", "RNA"), ("protein", "DNA")])
def test_names_get_the_chosen_kind(tmp_path: Path, answers: tuple[str, ...]) -> None:
    docs = named_docs()
    review = review_of(GeneProtein(answers), docs, tmp_path / "d.sqlite")
    item = next(i for i in review.items if i.gold == "protein" and i.document == "d0")
    assert item.choices == answers
    review.decide(item.key, "DNA")
    corrected = review.corrected_docs()[0]
    assert [span.label_ for span in corrected.spans["entities"]] == ["DNA", "DNA"]
    assert [span.label_ for span in docs[0].spans["entities"]] == ["protein", "DNA"]


@pytest.mark.parametrize("ids", [("a", "b"), ("", "")])
@pytest.mark.parametrize("answers", [("protein", "DNA", "RNA"), ("protein", "DNA")])
def test_of_names_with_the_same_characters_the_one_asked_about_is_corrected(
    answers: tuple[str, ...], ids: tuple[str, str]
) -> None:
    task, doc = GeneProtein(answers), spacy.blank("en")("p53 regulates the mdm2 gene .")
    for labels, asked, right, expected in (
        (("protein", "DNA"), 1, "protein", ["protein", "protein"]),
        (("protein", "DNA"), 0, "DNA", ["DNA", "DNA"]),
        (("cell", "DNA"), 0, "protein", ["cell", "protein"]),  # nobody is asked about cells
        (("protein", "protein"), 1, "DNA", ["protein", "DNA"] if ids[0] else ["DNA", "protein"]),
    ):
        doc.spans["entities"] = [
            Span(doc, 0, 1, label, span_id=id) for label, id in zip(labels, ids, strict=True)
        ]
        candidates = task.candidates(doc)
        queries = list(dict.fromkeys(c.query for c in candidates))
        index = next(i for i, c in enumerate(candidates) if c.query == queries[asked])
        corrected = task.correct_labels(doc, {index: right})
        assert [span.label_ for span in corrected.spans["entities"]] == expected
    both = task.correct_labels(doc, {0: "DNA", len(candidates) - 1: "DNA"})
    assert [span.label_ for span in both.spans["entities"]] == ["DNA", "DNA"]


def test_senses_words_and_ranks_can_be_corrected(tmp_path: Path) -> None:
    docs = named_docs()
    senses = WordSenses({"p53": ("protein", "DNA", "RNA")})
    review = review_of(senses, docs, tmp_path / "s.sqlite")
    item = next(i for i in review.items if i.document == "d1")
    assert item.gold == "DNA"
    review.decide(item.key, "RNA")
    corrected = review.corrected_docs()[1]
    assert corrected.spans["entities"][0].label_ == "RNA"

    nlp = spacy.blank("en")
    texts = ["It is larger then that .", "We may be right , then they left .", "Larger than all ."]
    docs = list(nlp.pipe(texts))
    review = review_of(
        Spelling(sets=(("than", "then"), ("maybe", "may be"))), docs, tmp_path / "w.sqlite"
    )
    for item in review.items:
        if item.gold in ("then", "may be"):
            review.decide(item.key, wrong_value(item))
    assert [doc.text for doc in review.corrected_docs()] == [
        "It is larger than that .",
        "We maybe right , than they left .",
        "Larger than all .",
    ]

    docs = [nlp("query one"), nlp("query two")]
    for number, doc in enumerate(docs):
        doc.user_data["document"] = f"q{number}"
        doc.user_data["judged"] = [
            {"id": f"x{n}", "relevance": float(n), "text": f"word {n} query"} for n in range(3)
        ]
    review = review_of(Retrieve(), docs, tmp_path / "r.sqlite", RankRLS((1.0,)))
    item = next(i for i in review.items if i.document == "q1" and i.gold == "0")
    assert item.choices == ("2", "1", "0")
    review.decide(item.key, "2")
    labels = [c.label for c in Retrieve().candidates(review.corrected_docs()[1])]
    assert labels == [2.0, 1.0, 2.0]
    state = review.state("bob", {"document": "q1"}, random=False)
    assert state["item"]["about"].startswith("x")


def test_tasks_without_labels_in_documents_say_so() -> None:
    with pytest.raises(ValueError, match="Export the decisions instead"):
        ParseRanking().correct_labels(spacy.blank("en")("A word ."), {0: "1"})


def test_requests_decide_undo_filter_and_export(review: LabelReview, guarded: Any) -> None:
    client = guarded(ReviewApp(review, "sample", Credentials("secret-token", "c", 8000)).app())
    assert "Doubtful labels of sample" in client.get("/").text
    item = client.get("/api/state").json()["item"]
    value = wrong_value(review.by_key[item["key"]])
    state = client.post("/api/decide", json={"item": item["key"], "value": value}).json()
    assert state["decided"] == 1
    assert state["item"]["key"] != item["key"]
    assert client.post("/api/decide", json={"item": item["key"]}).status_code == 422
    client.get("/?as=bob")
    assert client.get("/api/state").json()["decided"] == 0
    rows = [json.loads(line) for line in client.get("/export/labels.jsonl").text.splitlines()]
    assert [(row["decision"], row["wrong"]) for row in rows] == [(value, True)]
    assert len(client.get("/export/decisions.jsonl").text.splitlines()) == 1
    assert client.get("/export/corpus/json_lines").status_code == 200
    assert client.get("/export/corpus/nothing").status_code == 404
    assert client.post("/api/undo", json={}).status_code == 422  # bob has decided nothing
    kind = review.items[-1].kind
    filtered = client.get("/api/state", params={"kind": kind, "order": "random"}).json()
    assert filtered["item"]["kind"] == kind


def test_the_page_needs_the_token(review: LabelReview, guarded: Any) -> None:
    client = guarded(ReviewApp(review, "s", Credentials("t", "c", 8000)).app(), token=False)
    assert client.get("/api/state").status_code == 403


def test_document_ids_that_repeat_are_refused_on_export(review: LabelReview) -> None:
    item = review.items[0]
    review.decide(item.key, wrong_value(item))
    review.has_unique_ids = False
    with pytest.raises(ValueError, match="share an id"):
        review.corrected_docs()
    assert document_id(review.docs[item.document]) == item.document
