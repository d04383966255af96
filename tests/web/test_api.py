"""REST interface: answers of apply, refusals, limits, and what the OpenAPI document promises."""

from __future__ import annotations

import json
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("starlette", reason="serve needs the extra web")

from textrank.cli.app import run
from textrank.web.api import AnnotationService, ApiError, ServiceApp, openapi_document

with warnings.catch_warnings():  # of a successor to httpx that is not everywhere yet
    warnings.simplefilter("ignore")
    from starlette.testclient import TestClient

TEXTS = ["GRB2 binds SOS1. RAD51 does not interact with PTEN.", "", "MDM2 is inhibited by AKT1.\n"]


@pytest.fixture(scope="module")
def service() -> ServiceApp:
    return ServiceApp(AnnotationService("ppi"))


@pytest.fixture(scope="module")
def client(service: ServiceApp, guarded: Callable[..., TestClient]) -> TestClient:
    return guarded(service.app())


def documents(*texts: str) -> dict[str, Any]:
    return {"documents": [{"id": f"d{n}", "text": text} for n, text in enumerate(texts)]}


def test_answers_are_those_of_apply(
    client: TestClient, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "texts.jsonl"
    lines = [json.dumps({"id": f"d{n}", "text": text}) + "\n" for n, text in enumerate(TEXTS)]
    file.write_text("".join(lines))
    assert run(["apply", "ppi", str(file)]) == 0
    applied = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    (decision, *_) = [row.pop("decision") for row in applied]
    response = client.post("/v1/annotate", json=documents(*TEXTS))
    assert response.status_code == 200
    assert response.json() == {"model": "ppi", "task": "ppi", "documents": applied}
    streamed = client.post("/v1/annotate/stream", json=documents(*TEXTS))
    assert streamed.headers["content-type"].startswith("application/x-ndjson")
    assert [json.loads(line) for line in streamed.text.splitlines()] == applied
    assert client.get("/v1/model").json()["decision"] == decision


def test_documents_without_id_are_numbered(client: TestClient) -> None:
    body = {"documents": [{"text": "A."}, {"text": "B.", "id": "x"}, {"text": "C."}]}
    rows = client.post("/v1/annotate", json=body).json()["documents"]
    assert [row["document"] for row in rows] == ["0", "x", "2"]


@pytest.mark.parametrize(
    ("body", "status", "message"),
    [
        ("{", 400, "not JSON"),
        ('{"documents": [{"text": NaN}]}', 400, "NaN"),
        ("[" * 100_000, 400, "not JSON"),
        ("[]", 422, "expected an object"),
        ("{}", 422, "'documents' must be a list"),
        ('{"documents": []}', 422, "1 to 1,000 items"),
        ('{"documents": [{"id": "x"}]}', 422, "documents[0]: 'text' must be text"),
        ('{"documents": [{"text": "x", "id": " "}]}', 422, "'id' is empty"),
        ('{"documents": [{"text": "x", "id": null}]}', 422, "'id' must be text"),
        ('{"documents": [{"text": "x", "model": "y"}]}', 422, "unknown key 'model'"),
        ('{"documents": [{"text": "\\ud800"}]}', 422, "surrogate"),
    ],
)
def test_a_wrong_body_is_refused(body: str, status: int, message: str, client: TestClient) -> None:
    headers = {"content-type": "application/json"}
    for path in ("/v1/annotate", "/v1/annotate/stream"):
        response = client.post(path, content=body, headers=headers)
        assert response.status_code == status
        assert message in response.json()["error"]


def test_other_content_types_and_methods_are_refused(client: TestClient) -> None:
    assert client.post("/v1/annotate", content="x").status_code == 415
    assert client.get("/v1/annotate").status_code == 405
    assert client.get("/nowhere").status_code == 404


def test_the_token_is_needed_in_header_or_path(
    service: ServiceApp, guarded: Callable[..., TestClient]
) -> None:
    stranger = guarded(service.app(), token=False)
    assert stranger.get("/health").status_code == 200
    for path in ("/", "/openapi.json", "/v1/model", "/token/wrong/inception/names/train"):
        assert stranger.get(path).status_code == 403
    assert stranger.post("/v1/annotate", json=documents("x")).status_code == 403
    path = "/token/secret-token/inception/names/train"
    assert stranger.post(path, json={}).status_code == 204


def test_too_many_requests_and_too_much_time_are_refused(
    guarded: Callable[..., TestClient], service: ServiceApp
) -> None:
    full = guarded(ServiceApp(service.service, max_requests=0).app())
    for path in ("/v1/annotate", "/v1/annotate/stream"):
        response = full.post(path, json=documents("x"))
        assert (response.status_code, response.headers["retry-after"]) == (503, "1")
    slow = guarded(ServiceApp(service.service, timeout=-1.0).app())
    assert slow.post("/v1/annotate", json=documents("x")).status_code == 504
    lines = slow.post("/v1/annotate/stream", json=documents("x")).text.splitlines()
    assert "gave up" in json.loads(lines[-1])["error"]


def test_genes_of_a_name_are_found_with_and_without_text(client: TestClient) -> None:
    body = {"name": "p53", "species": 9606, "limit": 1}
    (gene,) = client.post("/v1/link", json=body).json()["genes"]
    assert (gene["identifier"], gene["symbol"], gene["probability"]) == (
        "ncbigene:7157",
        "TP53",
        None,
    )
    text = "Human p53 is phosphorylated in human cells."
    (gene,) = client.post("/v1/link", json=body | {"text": text}).json()["genes"]
    assert gene["identifier"] == "ncbigene:7157"
    assert 0 < gene["probability"] <= 1
    assert client.post("/v1/link", json={"name": "qqqqzz"}).json()["genes"] == []
    for wrong in ({}, {"name": ""}, {"name": "x", "species": True}, {"name": "x", "limit": 51}):
        assert client.post("/v1/link", json=wrong).status_code == 422


def test_every_path_of_the_document_exists(client: TestClient) -> None:
    document = client.get("/openapi.json").json()
    assert document == openapi_document()
    for path, item in document["paths"].items():
        for method in item:
            assert client.request(method, path).status_code not in (404, 405)
    assert set(client.get("/").json()["paths"]) == set(document["paths"])


def test_a_failure_of_a_text_is_a_refusal(
    service: ServiceApp, guarded: Callable[..., TestClient], monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: Any, **__: Any) -> Any:
        raise ValueError("too hard")

    monkeypatch.setattr(AnnotationService, "annotate", fail)
    response = guarded(service.app()).post("/v1/annotate", json=documents("x"))
    assert (response.status_code, response.json()) == (422, {"error": "too hard"})
    assert ApiError(422, "x").status == 422


def test_serve_refuses_a_short_token_and_an_unknown_model(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("TEXTRANK_TOKEN", "short")
    assert run(["serve"]) == 2
    assert "TEXTRANK_TOKEN needs at least 16" in capsys.readouterr().err
    monkeypatch.delenv("TEXTRANK_TOKEN")
    assert run(["serve", "no-such-model"]) == 2
    assert run(["serve", "--timeout", "0"]) == 2
