"""Curation as a browser meets it: answers, undo, names, exports; nothing is lost."""

from __future__ import annotations

import io
import json
import signal
import sqlite3
import subprocess
import sys
import urllib.request
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import spacy
from starlette.testclient import TestClient

from textrank.config import load_corpus, load_model, load_pipeline
from textrank.formats.detection import WRITERS
from textrank.model import Model
from textrank.web.active_learner import ActiveLearner
from textrank.web.annotation import AnswerLog, Curation, CurationApp, fingerprint_docs
from textrank.web.app import Credentials

ROOT = Path(__file__).parents[2]
CORPUS = ROOT / "corpora" / "sample-ppi"


def _curation(file: Path, *, prior: Model | None = None) -> Curation:
    found = load_corpus(CORPUS)(spacy.blank("en"))
    docs = [doc for _, doc in zip(range(8), found, strict=False)]
    learner = ActiveLearner.from_docs(load_pipeline("ppi-linear"), docs, prior=prior)
    answers = AnswerLog(file, {"task": "ppi", "texts": fingerprint_docs(docs)})
    return Curation(learner, docs, answers, "ada")


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
    with sqlite3.connect(file) as database:
        rows = database.execute("SELECT question FROM events ORDER BY id").fetchall()
    assert [row[0] for row in rows] == said


def _ask(address: str, token: str, value: Any = None) -> dict[str, Any]:
    headers = {"authorization": f"Bearer {token}", "content-type": "application/json"}
    data = None if value is None else json.dumps(value).encode()
    request = urllib.request.Request(address, data, headers)
    with urllib.request.urlopen(request, timeout=240) as answer:
        return dict(json.load(answer))
