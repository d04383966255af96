"""Who may ask, and what a page may do: host, token, cross-site requests, size, headers."""

from __future__ import annotations

import hmac
import secrets
from dataclasses import dataclass, field
from http.cookies import CookieError, SimpleCookie
from urllib.parse import parse_qs

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

LIMIT = 1 << 20  # bytes of a request; an answer or a name takes a few hundred
DRAIN = 1 << 28  # bytes of a refused request that are read and dropped, so that a client hears why
OPEN = ("/health",)  # answers without a token
SAFE = ("GET", "HEAD")
NAMES = ("127.0.0.1", "localhost", "[::1]")  # what a loopback server may be called

# No inline script or style, no other origin, no frame: text of a document can never act.
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; "
    "connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
HEADERS = {
    "content-security-policy": POLICY,
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), geolocation=(), microphone=()",
    "cache-control": "no-store",
}


@dataclass(frozen=True)
class Gate:
    """The secrets of one run: the token of the opened address, and one for changing requests.

    >>> Gate("secret", port=8000).hosts
    ('127.0.0.1:8000', 'localhost:8000', '[::1]:8000')
    """

    token: str = field(default_factory=lambda: secrets.token_urlsafe(24))
    csrf: str = field(default_factory=lambda: secrets.token_urlsafe(24))
    port: int = 0

    @property
    def hosts(self) -> tuple[str, ...]:
        """The names under which the server answers; any other was made up by a foreign page."""
        return tuple(f"{name}:{self.port}" for name in NAMES)

    @property
    def cookie(self) -> str:
        """Its name; with the port, since browsers share cookies between the ports of a host."""
        return f"textrank_{self.port}"

    def shown(self, scope: Scope) -> str:
        """How a request proves itself: ``explicit`` (address or header), ``cookie``, or nothing."""
        headers = Headers(scope=scope)
        query = parse_qs(scope["query_string"].decode("latin-1"))
        given = [*query.get("token", ()), headers.get("authorization", "").removeprefix("Bearer ")]
        if any(_equal(value, self.token) for value in given):
            return "explicit"
        return "cookie" if _equal(_cookie(headers, self.cookie), self.token) else ""


@dataclass(frozen=True)
class Guarded:
    """An application behind a Gate; every answer carries the headers."""

    app: ASGIApp
    gate: Gate

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":  # no web sockets here
            if scope["type"] == "lifespan":
                await self.app(scope, receive, send)
            return
        proof = self.gate.shown(scope)
        sealed = _Sealed(send, self.gate if proof == "explicit" else None)
        refused = _refusal(scope, self.gate, proof)
        if refused is None:
            refused = await self._pass(scope, receive, sealed)
        if refused is not None:
            await refused(scope, receive, sealed)

    async def _pass(self, scope: Scope, receive: Receive, send: Send) -> PlainTextResponse | None:
        """Hands the request on once its body was found small enough."""
        if scope["method"] in SAFE:
            await self.app(scope, receive, send)
            return None
        body = await _body(Headers(scope=scope), receive)
        if body is None:
            return _refuse(413, f"a request of more than {LIMIT} bytes is refused.")
        messages = [_message(body)]

        async def replay() -> Message:
            return messages.pop() if messages else await receive()

        await self.app(scope, replay, send)
        return None


def _message(body: bytes) -> Message:
    """A request body as one message."""
    return {"type": "http.request", "body": body, "more_body": False}


@dataclass(frozen=True)
class _Sealed:
    """Adds the headers to an answer, and the cookie where the address carried the token."""

    send: Send
    gate: Gate | None

    async def __call__(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = MutableHeaders(scope=message)
            for name, value in HEADERS.items():
                headers.setdefault(name, value)
            if self.gate is not None:
                cookie = f"{self.gate.cookie}={self.gate.token}; HttpOnly; SameSite=Strict; Path=/"
                headers.append("set-cookie", cookie)
        await self.send(message)


def _refusal(scope: Scope, gate: Gate, proof: str) -> PlainTextResponse | None:
    headers = Headers(scope=scope)
    if headers.get("host", "") not in gate.hosts:
        return _refuse(421, f"this server answers only as {gate.hosts[0]}.")
    origins = [f"http://{host}" for host in gate.hosts]
    if headers.get("origin", origins[0]) not in origins:
        return _refuse(403, "a request from another site is refused.")
    if scope["path"] in OPEN and scope["method"] in SAFE:
        return None
    if not proof:
        return _refuse(403, "the token is missing. Open the address that the command printed.")
    if scope["method"] not in SAFE and proof == "cookie" and not _own_page(headers, gate):
        return _refuse(403, "a changing request needs the token of the page it comes from.")
    return None


def _own_page(headers: Headers, gate: Gate) -> bool:
    """Whether one of our pages asks: a browser sends the cookie by itself, but not this header."""
    same = headers.get("sec-fetch-site", "same-origin") == "same-origin"
    return same and _equal(headers.get("x-textrank-csrf", ""), gate.csrf)


async def _body(headers: Headers, receive: Receive) -> bytes | None:
    """The body of a request, or None where it is too large; that one is read but not kept."""
    announced = headers.get("content-length", "0")
    large = not announced.isdigit() or int(announced) > LIMIT
    if large and announced.isdigit() and int(announced) > DRAIN:
        return None
    kept, received = b"", 0
    while True:
        message = await receive()
        if message["type"] != "http.request":
            return None
        received += len(message.get("body", b""))
        large = large or received > LIMIT
        if not large:
            kept += message.get("body", b"")
        if not message.get("more_body", False) or received > DRAIN:
            return None if large else kept


def _cookie(headers: Headers, name: str) -> str:
    try:
        found = SimpleCookie(headers.get("cookie", "")).get(name)
    except CookieError:
        return ""
    return "" if found is None else found.value


def _equal(one: str, other: str) -> bool:
    """Whether two secrets are equal, in a time that does not tell how far they agree."""
    return hmac.compare_digest(one.encode(), other.encode())


def _refuse(status: int, why: str) -> PlainTextResponse:
    return PlainTextResponse(f"textrank: {why}\n", status_code=status)
