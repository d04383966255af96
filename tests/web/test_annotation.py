"""Curation as a browser meets it: answers, undo, names, exports; nothing is lost."""

from __future__ import annotations

import inspect
import io
import itertools
import json
import signal
import sqlite3
import subprocess
import sys
import urllib.request
import zipfile
from collections import Counter
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import spacy
from starlette.testclient import TestClient

from textrank.cli.app import DEFAULT_OPTIONS
from textrank.cli.curate import _make_curation, curate_command
from textrank.config import load_corpus, load_model, load_pipeline
from textrank.formats.detection import WRITERS
from textrank.model import Model
from textrank.web.active_learner import ActiveLearner, cohen_kappa
from textrank.web.annotation import (
    DEFAULT_OVERLAP,
    AnswerLog,
    Curation,
    CurationApp,
    docs_with_answers,
    fingerprint_docs,
    surrounding_text,
)
from textrank.web.app import Credentials

ROOT = Path(__file__).parents[2]
CORPUS = ROOT / "corpora" / "sample-ppi"


def _curation(file: Path, *, prior: Model | None = None, **settings: Any) -> Curation:
    found = load_corpus(CORPUS)(spacy.blank("en"))
    docs = [doc for _, doc in zip(range(8), found, strict=False)]
    learner = ActiveLearner.from_docs(load_pipeline("ppi-linear"), docs, prior=prior)
    answers = AnswerLog(file, {"task": "ppi", "texts": fingerprint_docs(docs)})
    return Curation(learner, docs, answers, "ada", **settings)


@pytest.fixture
def curation(tmp_path: Path) -> Curation:
    return _curation(tmp_path / "answers.sqlite")


@pytest.fixture
def client(curation: Curation, guarded: Callable[..., TestClient]) -> TestClient:
    return guarded(CurationApp(curation, "sample", Credentials()).app())


def _answer(client: TestClient, value: str) -> dict[str, Any]:
    question = client.get("/api/state").json()["question"]
    sent = {"question": question["key"], "value": value}
    found = client.post("/api/answer", json=sent)
    assert found.status_code == 200, found.text
    return dict(found.json())


def test_answers_move_on_and_undo_comes_back(client: TestClient) -> None:
    first = client.get("/api/state").json()["question"]
    state = _answer(client, "yes")
    assert state["answered"] == 1
    assert state["question"]["key"] != first["key"]
    back = client.post("/api/undo").json()
    assert back["question"]["key"] == first["key"]
    assert (back["answered"], back["labelled"]) == (0, 0)
    assert client.post("/api/undo").status_code == 422


def test_attributes_are_stored_with_yes_and_exported(
    curation: Curation, client: TestClient
) -> None:
    question = client.get("/api/state").json()["question"]
    found = question["attributes"]
    assert found["choices"]["type"][0] == "binding"
    assert set(found["proposed"]) == {"status", "type", "direction", "identifiers"}
    details = {
        "status": "speculated",
        "type": "activation",
        "direction": "b>a",
        "identifiers": ["ncbigene:2885", ""],
    }
    for wrong in ({"type": "love"}, {"colour": "red"}, {"identifiers": ["x"]}, ["type"]):
        sent = {"question": question["key"], "value": "yes", "details": wrong}
        assert client.post("/api/answer", json=sent).status_code == 422
    sent = {"question": question["key"], "value": "yes", "details": details}
    state = client.post("/api/answer", json=sent).json()
    assert "(activation, speculated)" in state["last"][0]["text"]
    lines = client.get("/export/answers.jsonl").text.splitlines()
    assert json.loads(json.loads(lines[0])["details"]) == details
    with docs_with_answers(curation) as (doc,):
        gold = next(row for row in doc.user_data["gold"] if row["by"] == "curator")
        assert (gold["type"], gold["status"], gold["direction"]) == (
            "activation",
            "speculated",
            "b>a",
        )
        spans = {span.id_: span for span in doc.spans["entities"]}
        assert [spans[end].kb_id_ for end in gold["entities"]] == ["ncbigene:2885", ""]
    assert "ncbigene:2885" in client.get("/export/corpus/json_lines").text


def test_a_file_of_answers_without_attributes_is_read(tmp_path: Path) -> None:
    file = tmp_path / "old.sqlite"
    with closing(sqlite3.connect(file)) as db:
        db.executescript(
            "CREATE TABLE about (key TEXT PRIMARY KEY, value TEXT NOT NULL);"
            "CREATE TABLE events (id INTEGER PRIMARY KEY, at TEXT NOT NULL, who TEXT NOT NULL,"
            " kind TEXT NOT NULL, document TEXT NOT NULL, question TEXT NOT NULL,"
            " value TEXT NOT NULL, undoes INTEGER);"
            "INSERT INTO events VALUES (1, 't', 'ada', 'answer', 'd', 'q', 'yes', NULL);"
        )
    log = AnswerLog(file, {})
    assert [event.details for event in log.events()] == [""]
    log.append("answer", "bo", details='{"type": "binding"}')
    assert log.events()[-1].details == '{"type": "binding"}'


def test_second_opinions_measure_agreement_and_teach_nothing(curation: Curation) -> None:
    keys = []
    for value in ("yes", "no", "yes"):
        question = curation.current_question("ada")
        assert question is not None
        keys.append(question.key)
        curation.answer(question.key, value, "ada")
    scores = curation.learner.scores.copy()
    curation.set_queue("second opinion", "bo")
    for value in ("yes", "no", "no"):
        question = curation.current_question("bo")
        assert question is not None
        assert question.key in keys
        curation.answer(question.key, value, "bo")
    np.testing.assert_array_equal(curation.learner.scores, scores)
    state = curation.state("bo")
    assert state["question"] is None
    assert state["people"] == 2
    assert state["agreement"]["questions"] == 3
    assert curation.current_question("ada").key not in keys
    given = {(e.question, e.who): e.value for e in curation.active_events}
    agreed = sum(given[key, "ada"] == given[key, "bo"] for key in keys)
    assert state["agreement"]["agreed"] == agreed
    last = curation.active_events[-1].question
    curation.undo("bo")
    assert curation.state("bo")["question"]["key"] == last
    assert last in curation.learner.answered  # the answer of ada stays
    restarted = AnswerLog.active_events(curation.answers)
    assert len(restarted) == 5


def test_a_first_answer_that_is_undone_leaves_the_second(curation: Curation) -> None:
    question = curation.current_question("ada")
    assert question is not None
    curation.answer(question.key, "yes", "ada")
    curation.set_queue("second opinion", "bo")
    curation.answer(question.key, "no", "bo")
    assert curation.learner.answered[question.key] == "yes"
    curation.undo("ada")
    assert curation.learner.answered[question.key] == "no"


def _take_turns(curation: Curation, rounds: int, people: str = "ab") -> dict[str, list[str]]:
    """Let people answer in turn; return the keys of the questions of each, in their order."""
    asked: dict[str, list[str]] = {who: [] for who in people}
    for number in range(rounds):
        for place, who in enumerate(people):
            question = curation.current_question(who)
            assert question is not None
            asked[who].append(question.key)
            curation.answer(question.key, "yes" if (number + place) % 3 else "no", who)
    return asked


@pytest.mark.parametrize(("overlap", "expected"), [(0.0, 0), (0.1, 4), (0.25, 10), (0.5, 20)])
def test_two_people_answer_a_share_of_the_questions(
    tmp_path: Path, overlap: float, expected: int
) -> None:
    curation = _curation(tmp_path / "answers.sqlite", overlap=overlap)
    asked = _take_turns(curation, 20)
    both = set(asked["a"]) & set(asked["b"])
    assert abs(len(both) - expected) <= 1
    assert all(len(set(keys)) == len(keys) for keys in asked.values())  # nobody is asked twice
    assert len(curation.learner.answered) == 40 - len(both)
    agreement = curation.state("a")["agreement"]
    assert agreement["questions"] == len(both)
    curation.answers.close()
    again = _curation(tmp_path / "answers.sqlite", overlap=overlap)
    assert again.state("a")["agreement"] == agreement
    assert again.learner.answered == curation.learner.answered


def test_one_person_is_asked_nothing_twice(curation: Curation) -> None:
    (keys,) = _take_turns(curation, 30, "a").values()
    assert len(set(keys)) == 30
    assert curation.state("a")["agreement"]["questions"] == 0


def test_no_question_is_asked_of_three_people(tmp_path: Path) -> None:
    curation = _curation(tmp_path / "answers.sqlite", overlap=0.5)
    asked = _take_turns(curation, 15, "abc")
    counts = Counter(key for keys in asked.values() for key in keys)
    assert set(counts.values()) == {1, 2}


def test_a_second_opinion_is_independent_and_not_learnt(tmp_path: Path) -> None:
    curation = _curation(tmp_path / "answers.sqlite", overlap=0.5)
    first = curation.current_question("ada")
    assert first is not None
    curation.answer(first.key, "yes", "ada")
    own = curation.current_question("bo")
    assert own is not None
    assert own.key != first.key  # one answer is no half
    curation.answer(own.key, "no", "bo")
    state = curation.state("bo")
    asked = state["question"]
    assert (asked["key"], asked["is_second"]) == (first.key, True)
    assert asked["probability"] is asked["score"] is None
    assert not asked["explains"]
    assert [row["value"] for row in state["last"]] == ["no"]  # that of ada is not shown
    assert len(curation.state("ada")["last"]) == 2
    scores = curation.learner.scores.copy()
    state = curation.answer(first.key, "no", "bo")
    np.testing.assert_array_equal(curation.learner.scores, scores)
    assert curation.learner.answered[first.key] == "yes"
    assert len(state["last"]) == 3
    with pytest.raises(ValueError, match="was answered"):
        curation.answer(first.key, "no", "bo")
    with docs_with_answers(curation) as docs:
        gold = [row for doc in docs for row in doc.user_data["gold"] if row["by"] == "curator"]
    assert sorted(row["label"] for row in gold) == [False, True]  # one decision for each pair
    back = curation.undo("bo")
    assert back["question"]["key"] == first.key
    assert back["question"]["is_second"]


def test_agreement_and_contradictions_are_reported(tmp_path: Path, guarded: Any) -> None:
    curation = _curation(tmp_path / "answers.sqlite", overlap=0.5)
    client = guarded(CurationApp(curation, "sample", Credentials()).app())
    asked = _take_turns(curation, 20)
    given = {(e.question, e.who): e.value for e in curation.active_events}
    pairs = [(given[k, "a"], given[k, "b"]) for k in asked["a"] if (k, "b") in given]
    agreed = sum(one == other for one, other in pairs)
    found = json.loads(client.get("/export/agreement.json").text)
    assert (found["questions"], found["agreed"]) == (len(pairs), agreed)
    assert 0 < agreed < len(pairs)
    assert found["share"] == pytest.approx(agreed / len(pairs))
    yes = np.array([[value == "yes" for value in pair] for pair in pairs])
    assert found["kappa"] == pytest.approx(cohen_kappa(yes[:, 0], yes[:, 1]))
    assert (found["overlap"], found["answers"]) == (0.5, {"a": 20, "b": 20})
    rows = found["contradictions"]
    assert len(rows) == len(pairs) - agreed
    for row in rows:
        values = {answer["who"]: answer["value"] for answer in row["answers"]}
        assert values == {who: given[row["question"], who] for who in "ab"}
        assert row["learnt"] == row["answers"][0]["value"]
        assert " – " in row["text"]
    shown = client.get("/api/state").json()["contradictions"]
    assert shown == rows[::-1][: len(shown)]
    assert len(shown) == min(len(rows), 8)


def test_an_overlap_must_be_a_share(tmp_path: Path) -> None:
    for overlap in (-0.1, 0.6, float("nan")):
        with pytest.raises(ValueError, match=r"overlap must be from 0 to 0\.5"):
            _curation(tmp_path / "answers.sqlite", overlap=overlap)
    with pytest.raises(ValueError, match=r"--overlap must be from 0 to 0\.5"):
        curate_command(None, "ppi", "x", overlap=0.7)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="--overlap has no effect with parse_ranking"):
        _make_curation(
            *("parse_ranking", "x", tmp_path / "a", "ada", None, False, None, DEFAULT_OPTIONS, 0.1)
        )
    default = inspect.signature(curate_command).parameters["overlap"].default
    assert default == DEFAULT_OVERLAP


@pytest.mark.parametrize("queue", ["paper", "pair"])
def test_a_queue_keeps_to_its_paper_or_pair(curation: Curation, queue: str) -> None:
    curation.set_queue(queue)
    seen = []
    for _ in range(12):
        question = curation.current_question()
        assert question is not None
        spans = curation.learner.candidates[question.rows[0]].spans
        pair = frozenset(span.text.lower() for span in spans)
        seen.append(question.document if queue == "paper" else pair)
        curation.answer(question.key, "no")
    runs = [one for one, _ in itertools.groupby(seen)]
    assert len(runs) == len(set(runs))  # what was left is not come back to
    with pytest.raises(ValueError, match="is not a queue"):
        curation.set_queue("whatever")


def test_it_says_how_many_answers_quality_needs(client: TestClient) -> None:
    state = client.get("/api/state").json()
    assert state["needed"] == {"yes": 5, "no": 5}
    assert _answer(client, "yes")["needed"] == {"yes": 4, "no": 5}
    assert _answer(client, "unsure")["needed"] == {"yes": 4, "no": 5}


def test_context_is_whole_sentences(curation: Curation) -> None:
    candidate = max(curation.learner.candidates, key=lambda c: c.spans[0].start)
    before, after = surrounding_text(candidate)
    sentences = [sentence.text.strip() for sentence in candidate.doc.sents]
    for part in (before, after):
        assert not part or any(part.startswith(sentence) for sentence in sentences)


def test_genes_are_offered_for_a_symbol(client: TestClient) -> None:
    first = client.get("/api/genes", params={"q": "GRB2"}).json()[0]
    assert first == {"identifier": "ncbigene:2885", "symbol": "GRB2", "species": "human"}
    assert client.get("/api/genes").json() == []


def test_reasons_come_after_the_question_and_sum_to_its_score(client: TestClient) -> None:
    question = client.get("/api/state").json()["question"]
    for value in ("yes", "no"):
        state = client.post(
            "/api/answer", json={"question": question["key"], "value": value}
        ).json()
        question = state["question"]
    assert "reasons" not in question  # nobody waits for them to answer
    found = client.get("/api/reasons", params={"question": question["key"]}).json()
    total = sum(part["adds"] for part in found["parts"]) + found["others"]["adds"]
    assert total == pytest.approx(question["score"], abs=1e-8)
    assert client.get("/api/reasons", params={"question": "none"}).status_code == 422


def test_bad_requests_change_nothing(client: TestClient, curation: Curation) -> None:
    key = client.get("/api/state").json()["question"]["key"]
    for body in ({"question": "nothing", "value": "yes"}, {"question": key, "value": "perhaps"},
                 {"question": key}, {"question": 3, "value": "yes"}, ["yes"]):  # fmt: skip
        assert client.post("/api/answer", json=body).status_code == 422
    assert client.post("/api/answer", content=b"{").status_code == 422
    assert client.post("/api/answer", content=b"[" * 100_000).status_code == 422
    assert curation.answers.events() == []


def test_who_and_when_are_kept_and_a_restart_goes_on(
    client: TestClient, curation: Curation
) -> None:
    for value in ("yes", "no", "unsure", "negated", "wrong name", "yes", "no"):
        _answer(client, value)
    client.post("/api/undo")
    events = curation.answers.events()
    assert [e.who for e in events] == ["ada"] * 8
    assert all(e.at.startswith("20") for e in events)
    coef = dict(zip(curation.learner.labelled, curation.learner.online.coef, strict=True))
    curation.answers.close()
    again = _curation(curation.answers.path)
    assert again.learner.answered == curation.learner.answered
    assert again.learner.online.alpha == curation.learner.online.alpha
    for row, value in zip(again.learner.labelled, again.learner.online.coef, strict=True):
        assert value == pytest.approx(coef[row], abs=1e-10)


def test_a_marked_name_makes_pairs_and_undo_takes_them_back(
    client: TestClient, curation: Curation
) -> None:
    for value in ("yes", "no"):
        _answer(client, value)
    before = set(curation.learner.questions)
    doc = curation.docs["Sample.d0"]
    start = doc.text.index("plasma membrane")
    body = {"document": "Sample.d0", "start": start, "end": start + 6}
    state = client.post("/api/name", json=body).json()
    more = set(curation.learner.questions) - before
    assert {key.partition("|")[0] for key in more} == {"Sample.d0"}
    assert len(more) == 3
    assert state["answered"] == 2
    client.post("/api/undo")
    assert set(curation.learner.questions) == before
    gone = client.post("/api/name", json={"document": "Sample.d0", "start": 0, "end": 3,
                                          "remove": True}).json()  # fmt: skip
    assert gone["open"] < len(before) - 2
    for wrong in (
        {"document": "x", "start": 0, "end": 3},
        {**body, "end": 10**6},
        {**body, "start": "0"},
    ):
        assert client.post("/api/name", json=wrong).status_code == 422


def test_an_answer_about_a_mended_name_is_kept_where_its_pair_remains(
    client: TestClient, curation: Curation
) -> None:
    for _ in range(30):
        _answer(client, "no")
    before = len(curation.learner.answered)
    doc = curation.docs["Sample.d0"]
    start = doc.text.index("plasma")
    client.post("/api/name", json={"document": "Sample.d0", "start": start, "end": start + 6})
    assert len(curation.learner.answered) == before
    index = curation.learner.index
    K = curation.learner.rows.gram(index) + curation.learner.online.alpha * np.eye(len(index))
    coef = np.linalg.solve(K, curation.learner.targets(curation.learner.labels))
    np.testing.assert_allclose(curation.learner.online.coef, coef, atol=1e-8)


@pytest.mark.parametrize("shipped", [False, True])
def test_the_exported_model_scores_as_the_page(
    tmp_path: Path, guarded: Callable[..., TestClient], shipped: bool
) -> None:
    prior = load_model("ppi") if shipped else None
    curation = _curation(tmp_path / "a.sqlite", prior=prior)
    client = guarded(CurationApp(curation, "sample", Credentials()).app())
    for value in ("yes", "no", "yes", "no"):
        _answer(client, value)
    content = client.get("/export/model.zip").content
    zipfile.ZipFile(io.BytesIO(content)).extractall(tmp_path)
    model = Model.from_disk(tmp_path / "model")
    scores = model.score(curation.learner.candidates)
    np.testing.assert_allclose(scores, curation.learner.scores, atol=1e-8)


def test_the_corpus_is_exported_in_every_format(client: TestClient, curation: Curation) -> None:
    for value in ("yes", "no", "negated"):
        _answer(client, value)
    for format in WRITERS:
        found = client.get(f"/export/corpus/{format}")
        # PubTator has no names in two pieces, CoNLL-U no text without a parse; both say so.
        said = format in ("pubtator", "conllu") and found.status_code == 422
        assert found.status_code == 200 or said, found.text
    lines = client.get("/export/corpus/json_lines").text.splitlines()
    said = [row for line in lines for row in json.loads(line)["relations"]]
    assert sum(row.get("by") == "curator" for row in said) == 3
    assert sum(row["label"] for row in said if row.get("by") == "curator") == 1
    assert "gold" in curation.docs["Sample.d0"].user_data
    assert len(client.get("/export/answers.jsonl").text.splitlines()) == 3
    assert client.get("/export/corpus/..%2f..%2fetc").status_code == 404


def test_a_file_of_other_texts_is_refused(tmp_path: Path) -> None:
    AnswerLog(tmp_path / "a.sqlite", {"task": "ppi", "texts": "one"}).close()
    with pytest.raises(ValueError, match="its answers have texts 'one'"):
        AnswerLog(tmp_path / "a.sqlite", {"task": "ppi", "texts": "two"})
    (tmp_path / "b.sqlite").write_text("no database, but a text that is long enough to be read")
    with pytest.raises(ValueError, match="cannot be used for answers"):
        AnswerLog(tmp_path / "b.sqlite", {})


def test_a_killed_process_loses_no_answer(tmp_path: Path) -> None:
    file = tmp_path / "answers.sqlite"
    code = "from textrank.cli import main; main()"
    arguments = ["curate", "ppi-linear", str(CORPUS), "--no-browser", "--answers", str(file)]
    with subprocess.Popen(
        [sys.executable, "-c", code, *arguments], cwd=ROOT, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        address = process.stdout.readline().strip()
        root, _, token = address.partition("?token=")
        said = []
        for number in range(7):
            question = _ask(f"{root}api/state", token)["question"]["key"]
            _ask(f"{root}api/answer", token, {"question": question, "value": "yes"})
            said.append(question)
            if number == 6:
                process.send_signal(signal.SIGKILL)
        process.wait(timeout=240)
    with closing(sqlite3.connect(file)) as database:
        rows = database.execute("SELECT question FROM events ORDER BY id").fetchall()
    assert [row[0] for row in rows] == said


def _ask(address: str, token: str, value: Any = None) -> dict[str, Any]:
    headers = {"authorization": f"Bearer {token}", "content-type": "application/json"}
    data = None if value is None else json.dumps(value).encode()
    request = urllib.request.Request(address, data, headers)
    with urllib.request.urlopen(request, timeout=240) as answer:
        return dict(json.load(answer))
