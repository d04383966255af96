"""Who may ask: host, token, cross-site requests, size, headers."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse
from starlette.routing import Route
from starlette.testclient import TestClient

from textrank.web.app import MAX_REQUEST_BYTES


async def _echo(request: Request) -> PlainTextResponse:
    return PlainTextResponse((await request.body()).decode())


@pytest.fixture
def app() -> Starlette:
    routes = [Route("/", _echo, methods=["GET", "POST"]), Route("/health", _echo)]
    return Starlette(routes=routes)


@pytest.fixture
def outside(app: Starlette, guarded: Callable[..., TestClient]) -> TestClient:
    return guarded(app, token=False)


@pytest.fixture
def inside(app: Starlette, guarded: Callable[..., TestClient]) -> TestClient:
    return guarded(app)


def test_a_page_needs_the_token_and_health_does_not(outside: TestClient) -> None:
    assert outside.get("/").status_code == 403
    assert outside.get("/?token=wrong").status_code == 403
    assert outside.get("/health").status_code == 200


def test_the_token_of_the_address_sets_a_cookie_that_scripts_cannot_read(
    outside: TestClient,
) -> None:
    answer = outside.get("/?token=secret-token", follow_redirects=False)
    assert answer.status_code == 303  # so that the token leaves the address bar
    assert answer.headers["location"] == "/"
    assert "HttpOnly" in answer.headers["set-cookie"]
    assert "SameSite=Strict" in answer.headers["set-cookie"]
    assert outside.get("/").status_code == 200
    page = outside.get("/?token=secret-token&q=SHC&page=2", follow_redirects=False)
    assert page.headers["location"] == "/?q=SHC&page=2"
    other = {"sec-fetch-site": "cross-site"}  # browsers would not send the cookie
    assert outside.get("/?token=secret-token", headers=other).status_code == 200


@pytest.mark.parametrize("host", ["evil.example", "127.0.0.1:9999", "127.0.0.1.evil.example:8000"])
def test_a_foreign_host_is_refused_even_with_the_token(inside: TestClient, host: str) -> None:
    assert inside.get("/", headers={"host": host}).status_code == 421
    assert inside.get("/health", headers={"host": host}).status_code == 421


def test_a_cross_site_post_is_refused(outside: TestClient) -> None:
    outside.get("/?token=secret-token")
    csrf = {"x-textrank-csrf": "secret-csrf"}
    assert outside.post("/", content="a").status_code == 403
    assert outside.post("/", content="a", headers={"x-textrank-csrf": "guess"}).status_code == 403
    foreign = {**csrf, "origin": "http://evil.example"}
    assert outside.post("/", content="a", headers=foreign).status_code == 403
    assert outside.post("/", content="a", headers={**csrf, "sec-fetch-site": "cross-site"}
                        ).status_code == 403  # fmt: skip
    own = {**csrf, "origin": "http://127.0.0.1:8000", "sec-fetch-site": "same-origin"}
    assert outside.post("/", content="a", headers=own).text == "a"


def test_a_large_body_is_refused_whether_announced_or_not(inside: TestClient) -> None:
    assert inside.post("/", content=b"x" * MAX_REQUEST_BYTES).status_code == 200
    assert inside.post("/", content=b"x" * (MAX_REQUEST_BYTES + 1)).status_code == 413
    parts = (b"x" * (1 << 20) for _ in range(100))  # no length is announced
    assert inside.post("/", content=parts).status_code == 413


def test_every_answer_carries_a_strict_policy(inside: TestClient, outside: TestClient) -> None:
    for answer in (inside.get("/"), outside.get("/"), inside.get("/nowhere")):
        policy = answer.headers["content-security-policy"]
        assert "default-src 'none'" in policy
        assert "unsafe" not in policy
        assert answer.headers["x-content-type-options"] == "nosniff"
