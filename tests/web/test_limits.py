"""Servers under load: endless requests end, pages are computed once, people do not collide."""

from __future__ import annotations

import importlib.util
import os
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import spacy
from starlette.responses import PlainTextResponse, Response
from starlette.testclient import TestClient

from textrank.config import load_corpus, load_pipeline
from textrank.results.store import open_store
from textrank.web import app as web_app
from textrank.web.active_learner import ActiveLearner
from textrank.web.annotation import AnswerLog, Curation, CurationApp, fingerprint_docs
from textrank.web.app import Credentials
from textrank.web.explorer import Explorer, PageCache

HERE = Path(__file__).parent
ROOT = HERE.parents[1]


# Requests


@pytest.mark.parametrize("page", ["9" * 5000, "²", "-1", "0", "1e9", ""])
def test_any_page_number_is_a_page(explorer: TestClient, page: str) -> None:
    assert explorer.get("/", params={"page": page}).status_code == 200


def test_thousands_of_facets_are_bounded(explorer: TestClient) -> None:
    query = "&".join(f"type=t{n}" for n in range(2000))
    assert explorer.get(f"/?{query}").status_code == 200
    assert explorer.get("/", params={"type": "x" * 5000}).status_code == 200


def test_a_length_that_is_no_number_is_refused(guarded: Callable[..., TestClient]) -> None:
    client = guarded(PlainTextResponse("x"))
    headers = [(b"content-length", "²".encode("latin-1"))]
    assert client.post("/", content=b"", headers=headers).status_code == 413


@pytest.fixture
def address(
    request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> Iterator[tuple[str, int]]:
    """A running server whose patience is short."""
    import asyncio

    monkeypatch.setattr(web_app, "HEADER_SECONDS", getattr(request, "param", 0.5))
    listener = web_app._bind(0)
    credentials = Credentials(port=listener.getsockname()[1])
    ready = threading.Event()
    loop = asyncio.new_event_loop()
    monkeypatch.setattr(loop, "add_signal_handler", lambda *_: None)
    app = web_app.GuardMiddleware(PlainTextResponse("hello"), credentials)

    def serve() -> None:
        asyncio.set_event_loop(loop)
        loop.run_until_complete(web_app._run_server(app, listener, ready.set))

    servers: list[Any] = []
    original = web_app._Server.__init__

    def remember(self: Any, *values: Any) -> None:
        servers.append(self)
        original(self, *values)

    monkeypatch.setattr(web_app._Server, "__init__", remember)
    thread = threading.Thread(target=serve, daemon=True)
    thread.start()
    assert ready.wait(30)
    yield credentials.token, credentials.port
    servers[0].should_exit = True
    thread.join(30)
    loop.close()
    listener.close()


@pytest.mark.parametrize("start", [b"", b"GET / HT", b"GET / HTTP/1.1\r\nHost: 127"])
def test_a_request_that_does_not_end_is_closed(start: bytes, address: tuple[str, int]) -> None:
    with socket.create_connection(("127.0.0.1", address[1]), timeout=120) as client:
        client.sendall(start)
        assert client.recv(1000) == b""  # closed; an open connection would time out


@pytest.mark.parametrize("address", [60.0], indirect=True)
def test_a_kept_connection_serves_several_requests(address: tuple[str, int]) -> None:
    token, port = address
    text = (
        f"GET /health HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nAuthorization: Bearer {token}\r\n\r\n"
    )
    with socket.create_connection(("127.0.0.1", port), timeout=30) as client:
        for _ in range(3):
            client.sendall(text.encode())
            answer = b""
            while not answer.endswith(b"hello") and (data := client.recv(4000)):
                answer += data
            assert answer.startswith(b"HTTP/1.1 200")


# Pages


def test_a_page_is_computed_once_at_a_time() -> None:
    cache, calls = PageCache(), []

    def compute() -> Response:
        calls.append(1)
        time.sleep(0.1)
        return PlainTextResponse("page")

    bodies: list[bytes] = []
    threads = [
        threading.Thread(target=lambda: bodies.append(bytes(cache.get("/", compute).body)))
        for _ in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert bodies == [b"page"] * 8
    assert len(calls) == 1


def test_the_cache_is_bounded_and_forgets_failures() -> None:
    cache = PageCache(max_bytes=10_000)
    for number in range(1000):
        cache.get(f"/{number}", lambda: PlainTextResponse("x" * 1000))
    assert cache._bytes <= 10_000
    assert not cache._locks
    with pytest.raises(ZeroDivisionError):
        cache.get("/bad", lambda: PlainTextResponse(str(1 // 0)))
    assert cache.get("/bad", lambda: PlainTextResponse("good")).body == b"good"


def test_cached_pages_carry_headers_once(explorer: TestClient) -> None:
    for _ in range(3):
        headers = explorer.get("/errors").headers
        assert len(headers.get_list("content-security-policy")) == 1
        assert len(headers.get_list("set-cookie")) <= 1


# People


def make_curation(file: Path) -> Curation:
    corpus = load_corpus(ROOT / "corpora" / "sample-ppi")(spacy.blank("en"))
    docs = [doc for _, doc in zip(range(8), corpus, strict=False)]
    learner = ActiveLearner.from_docs(load_pipeline("ppi-linear"), docs)
    answers = AnswerLog(file, {"task": "ppi", "texts": fingerprint_docs(docs)})
    return Curation(learner, docs, answers, "ada")


@pytest.fixture
def curation(tmp_path: Path) -> Curation:
    return make_curation(tmp_path / "answers.sqlite")


def test_people_get_different_questions_and_undo_their_own(curation: Curation) -> None:
    people = ("ada", "bob", "eve")
    questions = {who: curation.state(who)["question"]["key"] for who in people}
    assert len(set(questions.values())) == 3
    for who in people:  # asking again gives the same question
        assert curation.state(who)["question"]["key"] == questions[who]
    curation.answer(questions["ada"], "yes", "ada")
    curation.answer(questions["bob"], "no", "bob")
    state = curation.undo("ada")
    assert state["question"]["key"] == questions["ada"]
    assert set(curation.learner.answered) == {questions["bob"]}
    with pytest.raises(ValueError, match="nothing of yours"):
        curation.undo("ada")
    with pytest.raises(ValueError, match="nothing of yours"):
        curation.undo("eve")


def test_the_last_question_is_not_withheld(curation: Curation) -> None:
    total = len(curation.learner.questions)
    curation.current_question("bob")  # who never answers
    for _ in range(total):
        question = curation.current_question("ada")
        assert question is not None
        curation.answer(question.key, "no", "ada")
    assert curation.state("ada")["question"] is None
    assert curation.state("bob")["question"] is None


def test_browsers_are_different_people(
    curation: Curation, guarded: Callable[..., TestClient]
) -> None:
    app = CurationApp(curation, "sample", Credentials()).app()
    first, second, third = guarded(app), guarded(app), guarded(app)
    pages = [first.get("/"), second.get("/"), third.get("/?as=Zoë%20K")]
    names = ("answers of ada ", "answers of ada 2 ", "answers of Zoë K ")
    for page, name in zip(pages, names, strict=True):
        assert name in page.text
    keys = [client.get("/api/state").json()["question"]["key"] for client in (first, second, third)]
    assert len(set(keys)) == 3
    third.post("/api/answer", json={"question": keys[2], "value": "yes"})
    assert curation.active_events[-1].who == "Zoë K"
    assert first.post("/api/undo").status_code == 422
    assert third.post("/api/undo").status_code == 200


def test_one_process_at_a_time_uses_a_file_of_answers(tmp_path: Path) -> None:
    file = tmp_path / "answers.sqlite"
    log = AnswerLog(file, {})
    with pytest.raises(ValueError, match="in use by another textrank"):
        AnswerLog(file, {})
    code = f"from textrank.web.annotation import AnswerLog; AnswerLog({str(file)!r}, {{}})"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False, cwd=ROOT
    )
    assert "in use by another textrank" in done.stderr
    log.close()
    AnswerLog(file, {}).close()


# Load


def load_module(name: str) -> Any:
    """Return a helper module of this folder."""
    spec = importlib.util.spec_from_file_location(name, HERE / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="needs /proc")
def test_200_requests_at_once_are_answered_in_flat_memory(tmp_path: Path) -> None:
    load_module("folders").write_folder(tmp_path / "r", statements=20_000, proteins=800)
    command = [sys.executable, "-c", "from textrank.cli import main; main()", "explore"]
    command += [str(tmp_path / "r"), "--no-browser"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=ROOT) as server:
        try:
            assert server.stdout is not None
            address = server.stdout.readline().strip()
            rows = load_module("load").measure(address, 200, 8, server.pid)
        finally:
            server.terminate()
    assert [row["errors"] for row in rows] == [0] * 8
    assert rows[-1]["megabytes"] < rows[2]["megabytes"] + 30
    if (os.getloadavg()[0] if hasattr(os, "getloadavg") else 9) < 3:  # times need an idle machine
        assert max(row["p95"] for row in rows) < 2


def test_the_first_visitor_does_not_wait_for_tables(folder: Path) -> None:
    explorer = Explorer(open_store(folder))
    explorer.warm_up()
    assert explorer.cache.get("/?", lambda: PlainTextResponse("computed")).body != b"computed"
