"""Curation of rankings: exact learning and undo, doubt, quality, answers on disk, and requests."""

from __future__ import annotations

import io
import json
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import spacy
from spacy.tokens import Doc

from textrank.candidates import Targets
from textrank.cli import main
from textrank.config import load_corpus, load_pipeline
from textrank.features import take_rows
from textrank.learners.rankrls import RankRLS
from textrank.model import Model
from textrank.tasks.documents import Retrieve
from textrank.tasks.parse_ranking import ParseRanking, describe_differences
from textrank.web.annotation import AnswerLog
from textrank.web.app import Credentials
from textrank.web.rank_curation import (
    Choice,
    RankCuration,
    RankCurationApp,
    RankLearner,
    RankPoint,
    RankQuestion,
    advise_ranking,
    build_rank_model,
    forecast_ranking,
)

CORPORA = Path(__file__).parents[2] / "corpora"
PIPELINES = ["parse_ranking", "parse_ranking-lc"]  # with features, and with a Gram matrix


@pytest.fixture(scope="module")
def docs() -> list[Doc]:
    return list(load_corpus(CORPORA / "sample-parses")(spacy.blank("en")))


def best_choice(question: RankQuestion, shown: tuple[int, ...] = ()) -> Choice:
    """The choice of a person who knows the gold tree."""
    labels = [c.label or 0.0 for c in ParseRanking().candidates(question.doc)]
    own = [labels[position] for position in question.positions]
    options = shown or tuple(range(len(own)))
    return Choice(max(options, key=lambda i: own[i]), options)


def retrain(learner: RankLearner) -> np.ndarray[Any, Any]:
    """Scores of all candidates by RankRLS, trained from scratch on the present choices."""
    rows, y, queries = [], [], []
    for key, choice in learner.answered.items():
        if choice is not None:
            question = learner.questions[key]
            own = [question.rows[i] for i in choice.shown]
            place = choice.shown.index(choice.chosen)
            rows += own
            y += ParseRanking().choice_labels([learner.candidates[r] for r in own], place).tolist()
            queries += [question.number] * len(own)
    if not rows:
        return learner.prior_scores
    index = np.array(rows)
    X = learner.pipeline.representation(learner.candidates)
    K = np.asarray(learner.pipeline.kernel(X, take_rows(X, index)))
    residuals = np.array(y) - learner.prior_scores[index]
    targets = Targets(residuals, np.array(queries), np.array(queries))
    coef = RankRLS([learner.alpha]).coefs(K[index], targets)[0]
    return np.asarray(learner.prior_scores + K @ coef)


@pytest.mark.parametrize("name", PIPELINES)
def test_every_answer_and_undo_equals_training_from_scratch(name: str, docs: list[Doc]) -> None:
    learner = RankLearner.from_docs(load_pipeline(name), docs)
    for number in range(22):  # past two choices of alpha
        question = learner.next_question()
        assert question is not None
        shown = tuple(learner.rank_options(question)[: 3 + number % 4])
        learner.learn(question, None if number % 7 == 3 else best_choice(question, shown))
        np.testing.assert_allclose(learner.scores, retrain(learner), rtol=0, atol=1e-8)
    for key in list(learner.answered)[::-1]:
        before = learner.scores
        choice = learner.answered[key]
        learner.forget(learner.questions[key])
        np.testing.assert_allclose(learner.scores, retrain(learner), rtol=0, atol=1e-8)
        learner.learn(learner.questions[key], None)  # unsure: nothing is learnt
        learner.forget(learner.questions[key])
        if choice is None:
            np.testing.assert_array_equal(learner.scores, before)
    assert learner.model is None
    assert not len(learner.index)


def test_undo_restores_the_scores(docs: list[Doc]) -> None:
    learner = RankLearner.from_docs(load_pipeline("parse_ranking"), docs)
    first, second = list(learner.questions.values())[:2]
    learner.learn(first, best_choice(first))
    before = learner.scores
    learner.learn(second, best_choice(second))
    assert np.abs(learner.scores - before).max() > 1e-6
    learner.forget(second)
    np.testing.assert_allclose(learner.scores, before, rtol=0, atol=1e-10)


@pytest.mark.parametrize("name", PIPELINES)
def test_a_prior_and_held_out_ranks_equal_training_from_scratch(name: str, docs: list[Doc]) -> None:
    pipeline = load_pipeline(name)
    prior = pipeline.fit(docs[:3])
    learner = RankLearner.from_docs(pipeline, docs[3:], prior=prior)
    np.testing.assert_array_equal(learner.scores, prior.score(learner.candidates))
    questions = list(learner.questions.values())[:6]
    learner.learn_all((question, best_choice(question)) for question in questions)
    np.testing.assert_allclose(learner.scores, retrain(learner), rtol=0, atol=1e-8)
    ranks = learner.heldout_ranks()
    for question in questions:
        choice = learner.answered[question.key]
        assert choice is not None
        learner.forget(question)
        assert learner.rank_of_choice(question, choice) == ranks[question.key]
        learner.learn(question, choice)


@pytest.mark.parametrize("name", PIPELINES)
@pytest.mark.parametrize("has_prior", [False, True])
def test_the_exported_model_scores_as_the_learner(
    name: str, has_prior: bool, docs: list[Doc], tmp_path: Path
) -> None:
    pipeline = load_pipeline(name)
    prior = pipeline.fit(docs[:3]) if has_prior else None
    learner = RankLearner.from_docs(pipeline, docs[3:], prior=prior)
    if prior is None:
        with pytest.raises(ValueError, match="no answer to train on"):
            build_rank_model(learner)
    for question in list(learner.questions.values())[:4]:
        learner.learn(question, best_choice(question))
    if has_prior and name == "parse_ranking-lc":  # as for other tasks
        with pytest.raises(ValueError, match="cannot be joined"):
            build_rank_model(learner)
        return
    build_rank_model(learner).to_disk(tmp_path / "model")
    model = Model.from_disk(tmp_path / "model")
    assert model.meta["curated"] == 4
    np.testing.assert_allclose(model.score(learner.candidates), learner.scores, rtol=0, atol=1e-6)
    (doc,) = model.pipe([docs[-1].copy()])
    assert doc._.textrank_parse_ranking


def test_training_documents_are_learnt_first(docs: list[Doc]) -> None:
    pipeline = load_pipeline("parse_ranking-lc")
    learner = RankLearner.from_docs(pipeline, docs[3:], training=docs[:3])
    assert learner.model is not None
    old = [c for doc in docs[:3] for c in pipeline.task.candidates(doc)]
    assert learner.labels.tolist() == [c.label for c in old]
    assert {q.document for q in learner.questions.values()} == {
        c.document for doc in docs[3:] for c in pipeline.task.candidates(doc)
    }


def test_questions_come_by_doubt_or_in_text_order(docs: list[Doc]) -> None:
    learner = RankLearner.from_docs(load_pipeline("parse_ranking"), docs)
    keys = list(learner.questions)
    first = learner.next_question(by_doubt=False)
    assert first is not None
    assert first.key == keys[0]
    learner.learn(first, best_choice(first))
    second = learner.next_question(by_doubt=False)
    assert second is not None
    assert second.key == keys[1]
    doubtful = learner.next_question()
    assert doubtful is not None
    gaps = [learner.gap(learner.questions[key]) for key in keys[1:]]
    assert learner.gap(doubtful) == min(gaps)
    another = learner.next_question({doubtful.key})
    assert another is not None
    assert another.key != doubtful.key


def test_choices_teach_what_gold_labels_teach(docs: list[Doc]) -> None:
    """The chosen parse gets the labels that it would give as the gold tree."""
    task = ParseRanking()
    compared = 0
    for doc in docs:
        queries: dict[str, list[Any]] = {}
        for candidate in task.candidates(doc):
            queries.setdefault(candidate.query, []).append(candidate)
        for query in queries.values():
            gold = [c.label for c in query]
            if 1.0 in gold:
                labels = task.choice_labels(query, gold.index(1.0))
                np.testing.assert_allclose(labels, gold)
                compared += 1
    assert compared > 5
    assert Retrieve().choice_labels(query[:3], 1).tolist() == [0.0, 1.0, 0.0]


def test_parses_are_described_where_they_differ(make_doc: Callable[..., Doc]) -> None:
    words = ["the", "cat", "saw", "the", "dog"]
    one = make_doc(words, [1, 2, 2, 4, 2], ["det", "nsubj", "ROOT", "det", "dobj"])
    other = make_doc(words, [1, 2, 2, 1, 2], ["det", "nsubj", "ROOT", "det", "mark:x"])
    article = "the (word 4) depends on {} as determiner (det)"
    assert describe_differences([one, other]) == [
        [article.format("dog"), "dog depends on saw as direct object (dobj)"],
        [article.format("cat"), "dog depends on saw as marker (mark:x)"],
    ]
    assert describe_differences([one, one]) == [["the same as the others"]] * 2
    for doc, kind in ((one, "Ss"), (other, "Os")):
        doc.user_data["dependencies"] = [[0, 1, "Ds"], [1, 2, kind]]
    assert describe_differences([one, other]) == [
        ["cat and saw are linked as Ss"],
        ["cat and saw are linked as Os"],
    ]


@pytest.mark.parametrize(
    ("chosen", "shown"), [(0, ()), (0, (0,)), (0, (0, 0)), (0, (1, 2)), (0, (0, 99)), (-1, (-1, 1))]
)
def test_invalid_choices_are_refused_before_they_are_written(
    chosen: int, shown: tuple[int, ...], curation: RankCuration
) -> None:
    question = curation.current_question()
    assert question is not None
    with pytest.raises(ValueError, match=r"not two or more|was not shown|not an answer"):
        curation.answer(question.key, f"choose:{chosen}", shown)
    assert curation.answers.events() == []
    assert curation.learner.model is None


@pytest.fixture
def curation(tmp_path: Path, docs: list[Doc]) -> RankCuration:
    learner = RankLearner.from_docs(load_pipeline("parse_ranking"), docs)
    return RankCuration(learner, AnswerLog(tmp_path / "a.sqlite", {}), "ada")


def choose(curation: RankCuration, who: str | None = None) -> None:
    question = curation.current_question(who)
    assert question is not None
    choice = best_choice(question)
    curation.answer(question.key, f"choose:{choice.chosen}", choice.shown, who)


def test_answers_survive_a_restart_and_undo_asks_again(
    tmp_path: Path, docs: list[Doc], curation: RankCuration
) -> None:
    for _ in range(4):
        choose(curation)
    choose(curation, "bob")
    question = curation.current_question()
    assert question is not None
    curation.answer(question.key, "unsure")
    quality = curation.quality()
    assert quality.answers == 5
    scores = curation.learner.scores
    curation.answers.close()
    learner = RankLearner.from_docs(load_pipeline("parse_ranking"), docs)
    learner.alphas = (learner.alpha,)  # a restart chooses alpha again, which this keeps
    again = RankCuration(learner, AnswerLog(tmp_path / "a.sqlite", {}), "ada")
    assert again.learner.answered == curation.learner.answered
    np.testing.assert_allclose(again.learner.scores, scores, rtol=0, atol=1e-8)
    assert again.quality() == quality
    again.undo()
    assert again.current_question() == learner.questions[question.key]
    with pytest.raises(ValueError, match="nothing of yours"):
        again.undo("eve")
    again.undo("bob")
    assert again.quality().answers == 4
    again.answers.close()


def test_answers_about_candidates_that_changed_are_not_used(
    tmp_path: Path, docs: list[Doc], curation: RankCuration
) -> None:
    choose(curation)
    (key,) = curation.learner.answered
    curation.answers.close()
    changed = []
    for doc in docs:
        copy = doc.copy()
        copy.user_data = {**doc.user_data, "parses": doc.user_data["parses"][::-1]}
        changed.append(copy)
    learner = RankLearner.from_docs(load_pipeline("parse_ranking"), changed)
    again = RankCuration(learner, AnswerLog(tmp_path / "a.sqlite", {}), "ada")
    assert again.lost_answers == [key]
    assert learner.model is None
    assert again.state()["lost"] == 1
    again.answers.close()


def test_quality_judges_choices_before_they_are_learnt(curation: RankCuration) -> None:
    assert curation.quality().progressive is None
    choose(curation)  # nothing was learnt yet: all candidates tie, so none is ranked first
    assert curation.quality().progressive == 0.0
    for _ in range(24):
        choose(curation)
    quality = curation.quality()
    ranks = [json.loads(event.details)["rank"] for event in curation.active_events]
    assert quality.progressive == np.mean([rank == 1 for rank in ranks])
    assert quality.recent == np.mean([rank == 1 for rank in ranks[-20:]])
    assert quality.chance is not None
    assert quality.heldout is not None
    assert quality.heldout > quality.chance  # the sample can be learnt


def learning_curve(counts: range, questions: int = 100, moved: int = 0) -> list[RankPoint]:
    """Points of a curve that rises to .8; at each ``moved`` more questions get another best one."""
    best = np.zeros(questions, dtype=np.intp)
    points = []
    for step, n in enumerate(counts):
        best = best.copy()
        best[: moved * step % questions] += 1
        points.append(RankPoint(n, 0.8 - 3 / n, best))
    return points


def test_forecasts_continue_the_held_out_share() -> None:
    history = learning_curve(range(1, 91))
    near, far = forecast_ranking(history)
    assert (near.ahead, far.ahead) == (20, 50)
    assert near.value == pytest.approx(0.8 - 3 / 110, abs=0.005)
    assert far.value == pytest.approx(0.8 - 3 / 140, abs=0.01)
    assert near.gain_low <= near.gain <= near.gain_high
    # Points of a restart are ten choices apart; the curve is the same.
    sparse = [point for point in history if not point.choices % 10]
    assert forecast_ranking(sparse) == [near, far]
    assert forecast_ranking(learning_curve(range(1, 50))) == []  # fewer than five points
    assert forecast_ranking([]) == []


def test_the_advice_says_when_to_stop() -> None:
    assert advise_ranking([])[0] == "go on"
    assert "still learns" in advise_ranking(learning_curve(range(1, 60)))[1]
    stable = learning_curve(range(1, 200))
    word, why = advise_ranking(stable)
    assert word == "enough"
    assert "100% stayed" in why
    restless = learning_curve(range(1, 200), moved=7)
    assert advise_ranking(restless)[0] == "slower"
    rising = [RankPoint(n, n / 200, np.zeros(9)) for n in range(1, 120)]
    assert advise_ranking(rising) == (
        "go on",
        "The last 20 choices raised the held-out share by 10.0.",
    )
    # A few questions move, and the forecast is level.
    moving = [RankPoint(n, 0.8, (np.arange(200) < n / 8).astype(np.intp)) for n in range(1, 300)]
    word, why = advise_ranking(moving)
    assert word == "enough"
    assert "more choices are expected" in why


def test_the_curve_of_choices_is_kept_undone_and_restored(
    tmp_path: Path, docs: list[Doc], curation: RankCuration
) -> None:
    for _ in range(24):
        choose(curation)
    learner = curation.learner
    assert [point.choices for point in learner.history] == list(range(1, 25))
    assert learner.history[-1].first == curation.quality().heldout
    best = [learner.rank_options(question)[0] for question in learner.questions.values()]
    assert learner.history[-1].best.tolist() == best
    curation.undo()
    assert [point.choices for point in learner.history] == list(range(1, 24))
    assert curation.state()["advice"]["word"] == "go on"
    assert curation.state()["forecasts"] == []
    curation.answers.close()
    again = RankLearner.from_docs(load_pipeline("parse_ranking"), docs)
    RankCuration(again, (log := AnswerLog(tmp_path / "a.sqlite", {})), "ada")
    assert [point.choices for point in again.history] == [10, 20, 23]
    log.close()


def test_requests_answer_undo_order_and_export(curation: RankCuration, guarded: Any) -> None:
    client = guarded(RankCurationApp(curation, "sample", Credentials("t", "c", 8000)).app())
    assert "Curation of sample" in client.get("/").text
    assert client.get("/export/model.zip").status_code == 422
    question = client.get("/api/state", params={"limit": 3}).json()["question"]
    assert (len(question["options"]), question["candidates"]) == (3, 8)
    assert all(option["lines"] for option in question["options"])
    shown = [option["position"] for option in question["options"]]
    body = {"question": question["key"], "value": f"choose:{shown[1]}", "shown": shown}
    assert client.post("/api/answer", json={**body, "shown": ["a"]}).status_code == 422
    assert client.post("/api/answer", json={**body, "value": "yes"}).status_code == 422
    state = client.post("/api/answer", json=body).json()
    assert state["answered"] == 1
    assert state["question"]["key"] != question["key"]
    assert state["last"][0]["value"] == "chosen"
    assert client.post("/api/answer", json=body).status_code == 422  # answered
    (row,) = map(json.loads, client.get("/export/choices.jsonl").text.splitlines())
    assert (row["chosen"], row["labels"][1]) == (shown[1], 1.0)
    names = zipfile.ZipFile(io.BytesIO(client.get("/export/model.zip").content)).namelist()
    assert "model/meta.json" in names
    assert client.post("/api/order", json={"order": "text"}).json()["order"] == "text"
    assert client.post("/api/order", json={"order": "pair"}).status_code == 422
    assert client.post("/api/undo", json={}).json()["answered"] == 0
    assert client.post("/api/undo", json={}).status_code == 422
    assert len(client.get("/export/answers.jsonl").text.splitlines()) == 2
    assert client.get("/export/nothing").status_code == 404


def test_documents_of_a_search_can_be_chosen() -> None:
    nlp = spacy.blank("en")
    docs = [nlp("protein binding"), nlp("cell growth")]
    for number, doc in enumerate(docs):
        doc.user_data["document"] = f"q{number}"
        doc.user_data["judged"] = [
            {"id": f"x{n}", "text": text} for n, text in enumerate(("protein binding", "growth"))
        ]
    learner = RankLearner.from_docs(load_pipeline("retrieve"), docs)
    question = learner.questions["q0|q0"]
    assert learner.describe_options(question, [1]) == [["x1", "growth"]]
    learner.learn(question, Choice(0, (0, 1)))
    assert learner.rank_options(question)[0] == 0


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("identifiers", CORPORA / "sample-ppi", "--fresh"), "cannot describe"),
        (("preferences", CORPORA / "sample-retrieve"), "no query has two candidates"),
    ],
    ids=["identifiers", "preferences"],
)
def test_rankings_that_cannot_be_asked_are_errors_of_the_user(
    arguments: tuple[Any, ...],
    words: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", ["textrank", "curate", *map(str, arguments), "--no-browser"])
    with pytest.raises(SystemExit) as stop:
        main()
    assert stop.value.code == 2
    assert words in " ".join(capsys.readouterr().err.split())
    assert list(tmp_path.iterdir()) == []  # no file of answers was made
