"""Who may ask, and what a page may do: host, token, cross-site requests, size, headers."""

from __future__ import annotations

import asyncio
import base64
import hashlib
import hmac
import secrets
import signal
import socket
import webbrowser
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from functools import cache
from http.cookies import CookieError, SimpleCookie
from importlib.resources import files
from pathlib import Path
from threading import Thread
from typing import Any
from urllib.parse import parse_qs

import uvicorn
from jinja2 import Environment, PackageLoader, StrictUndefined
from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, PlainTextResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from textrank.config import package_versions
from textrank.reports.html import template_environment as reports_environment

MAX_REQUEST_BYTES = 1 << 20  # bytes of a request; an answer or a name takes a few hundred
MAX_DRAINED_BYTES = (
    1 << 28
)  # bytes of a refused request that are read and dropped, so that a client hears why
PUBLIC_PATHS = ("/health",)  # answers without a token
SAFE_METHODS = ("GET", "HEAD")
LOOPBACK_NAMES = ("127.0.0.1", "localhost", "[::1]")  # what a loopback server may be called
# No inline script or style, no other origin, no frame: text of a document can never act.
CONTENT_SECURITY_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; "
    "connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
SECURITY_HEADERS = {
    "content-security-policy": CONTENT_SECURITY_POLICY,
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), geolocation=(), microphone=()",
    "cache-control": "no-store",
}


@dataclass(frozen=True)
class Credentials:
    """The secrets of one run: the token of the opened address, and one for changing requests.

    >>> Credentials("secret", port=8000).hosts
    ('127.0.0.1:8000', 'localhost:8000', '[::1]:8000')
    """

    token: str = field(default_factory=lambda: secrets.token_urlsafe(24))
    csrf: str = field(default_factory=lambda: secrets.token_urlsafe(24))
    port: int = 0

    @property
    def hosts(self) -> tuple[str, ...]:
        """The names under which the server answers; any other was made up by a foreign page."""
        return tuple(f"{name}:{self.port}" for name in LOOPBACK_NAMES)

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
class GuardMiddleware:
    """An application behind a Gate; every answer carries the headers."""

    app: ASGIApp
    gate: Credentials

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
        if scope["method"] in SAFE_METHODS:
            await self.app(scope, receive, send)
            return None
        body = await _body(Headers(scope=scope), receive)
        if body is None:
            return _refuse(413, f"a request of more than {MAX_REQUEST_BYTES} bytes is refused.")
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
    gate: Credentials | None

    async def __call__(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = MutableHeaders(scope=message)
            for name, value in SECURITY_HEADERS.items():
                headers.setdefault(name, value)
            if self.gate is not None:
                cookie = f"{self.gate.cookie}={self.gate.token}; HttpOnly; SameSite=Strict; Path=/"
                headers.append("set-cookie", cookie)
        await self.send(message)


def _refusal(scope: Scope, gate: Credentials, proof: str) -> PlainTextResponse | None:
    headers = Headers(scope=scope)
    if headers.get("host", "") not in gate.hosts:
        return _refuse(421, f"this server answers only as {gate.hosts[0]}.")
    origins = [f"http://{host}" for host in gate.hosts]
    if headers.get("origin", origins[0]) not in origins:
        return _refuse(403, "a request from another site is refused.")
    if scope["path"] in PUBLIC_PATHS and scope["method"] in SAFE_METHODS:
        return None
    if not proof:
        return _refuse(403, "the token is missing. Open the address that the command printed.")
    if scope["method"] not in SAFE_METHODS and proof == "cookie" and not _own_page(headers, gate):
        return _refuse(403, "a changing request needs the token of the page it comes from.")
    return None


def _own_page(headers: Headers, gate: Credentials) -> bool:
    """Whether one of our pages asks: a browser sends the cookie by itself, but not this header."""
    same = headers.get("sec-fetch-site", "same-origin") == "same-origin"
    return same and _equal(headers.get("x-textrank-csrf", ""), gate.csrf)


async def _body(headers: Headers, receive: Receive) -> bytes | None:
    """The body of a request, or None where it is too large; that one is read but not kept."""
    announced = headers.get("content-length", "0")
    large = not announced.isdigit() or int(announced) > MAX_REQUEST_BYTES
    if large and announced.isdigit() and int(announced) > MAX_DRAINED_BYTES:
        return None
    kept, received = b"", 0
    while True:
        message = await receive()
        if message["type"] != "http.request":
            return None
        received += len(message.get("body", b""))
        large = large or received > MAX_REQUEST_BYTES
        if not large:
            kept += message.get("body", b"")
        if not message.get("more_body", False) or received > MAX_DRAINED_BYTES:
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


MEDIA_TYPES = {".css": "text/css", ".js": "text/javascript", ".mjs": "text/javascript",
         ".svg": "image/svg+xml"}  # fmt: skip
SPECIES_NAMES = {
    "9606": "human", "10090": "mouse", "10116": "rat", "9913": "cattle", "9823": "pig",
    "9986": "rabbit", "9031": "chicken", "8355": "clawed frog", "8364": "western clawed frog",
    "7955": "zebrafish", "7227": "fruit fly", "6239": "roundworm", "559292": "baker's yeast",
    "4932": "baker's yeast", "284812": "fission yeast", "4896": "fission yeast",
    "3702": "thale cress", "511145": "E. coli", "562": "E. coli", "83333": "E. coli",
    "224308": "B. subtilis", "1423": "B. subtilis",
}  # fmt: skip


@cache
def template_environment() -> Environment:
    """The templates; everything put into them is escaped."""
    found = Environment(
        loader=PackageLoader("textrank.web", "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    found.filters |= {
        "number": format_count,
        "probability": format_probability,
        "species": species_name,
    }
    found.globals["version"] = package_versions()["textrank"]
    return found


def render_page(name: str, values: Mapping[str, Any], status: int = 200) -> HTMLResponse:
    """A template filled."""
    return HTMLResponse(
        template_environment().get_template(name).render(**values), status_code=status
    )


def render_report(html: str) -> HTMLResponse:
    """A page of ``textrank.reports``, which holds its style itself; only our script may run."""
    source = reports_environment().get_template("errors.js").render()
    digest = base64.b64encode(hashlib.sha256(source.encode()).digest()).decode()
    policy = (
        f"default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-{digest}'; "
        "img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    )
    return HTMLResponse(html, headers={"content-security-policy": policy})


def format_count(value: int) -> str:
    """A count with its thousands apart.

    >>> format_count(1234567)
    '1 234 567'
    """
    return f"{int(value):,}".replace(",", " ")


def format_probability(value: float | None) -> str:
    """A probability with two digits, never rounded to certainty.

    >>> format_probability(0.999), format_probability(1.0), format_probability(0.125), format_probability(None)
    ('>.99', '1', '.12', '–')
    """
    if value is None:
        return "–"
    if value in (0.0, 1.0):
        return f"{value:.0f}"
    if value > 0.99:
        return ">.99"
    return "<.01" if value < 0.01 else f"{value:.2f}".removeprefix("0")


def species_name(taxon: str | None) -> str:
    """A taxon by its English name, where it is one that most studies are about.

    >>> species_name("9606"), species_name("7")
    ('human', 'taxon 7')
    """
    known = SPECIES_NAMES.get(str(taxon))
    return known or (f"taxon {taxon}" if str(taxon).isdigit() else str(taxon or ""))


@cache
def list_assets() -> Mapping[str, Path]:
    """The files that may be fetched, by name: nothing else on this disk is reachable."""
    here = Path(str(files("textrank.web")))
    found = {path.name: path for path in (here / "assets").iterdir() if path.suffix in MEDIA_TYPES}
    found["cytoscape.mjs"] = here / "vendor" / "cytoscape" / "cytoscape.esm.min.mjs"
    found["base.css"] = Path(str(files("textrank.reports"))) / "page" / "style.css"
    return found


def serve_asset(request: Request) -> Response:
    """One of the assets, which a browser may keep until it changes."""
    path = list_assets().get(request.path_params["name"])
    if path is None:
        return not_found("There is no such file.")
    content = path.read_bytes()
    tag = f'"{hashlib.sha256(content).hexdigest()[:16]}"'
    headers = {"etag": tag, "cache-control": "no-cache"}
    if request.headers.get("if-none-match") == tag:
        return Response(status_code=304, headers=headers)
    return Response(content, media_type=MEDIA_TYPES[path.suffix], headers=headers)


def serve_health(_: Request) -> Response:
    """That the server is alive, and nothing else."""
    return JSONResponse({"status": "ok", "version": package_versions()["textrank"]})


def not_found(why: str) -> Response:
    """A page that says what is not there."""
    return render_page("missing.html", {"why": why}, status=404)


def common_routes() -> list[Route]:
    """The routes of both applications."""
    return [Route("/health", serve_health), Route("/assets/{name}", serve_asset)]


HOST = "127.0.0.1"


def serve(
    make: Callable[[Credentials], ASGIApp],
    *,
    port: int = 0,
    browser: bool = True,
    tell: Callable[[str], None],
) -> None:
    """Serves until SIGTERM or SIGINT, then returns; ``tell`` gets the address once it answers.

    ``make`` builds the application from the secrets of this run. Port 0 takes a free one. The
    address carries the token; ``browser`` opens it.
    """
    with closing(_bound(port)) as listener:
        gate = Credentials(port=int(listener.getsockname()[1]))
        address = f"http://{HOST}:{gate.port}/?token={gate.token}"

        def ready() -> None:
            tell(address)
            if browser:  # some browsers only return when they are closed
                Thread(target=webbrowser.open, args=(address,), daemon=True).start()

        asyncio.run(_run(GuardMiddleware(make(gate), gate), listener, ready))


class _Server(uvicorn.Server):
    """A server that says when it is ready, and leaves signals to us."""

    ready: Callable[[], None]

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self.ready()

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        # uvicorn raises the signal again when it is done, which would make a clean end a failure.
        yield


async def _run(app: ASGIApp, listener: socket.socket, ready: Callable[[], None]) -> None:
    how: dict[str, Any] = {"lifespan": "off", "server_header": False, "date_header": False}
    config = uvicorn.Config(
        app, log_level="warning", access_log=False, timeout_graceful_shutdown=2, **how
    )
    server = _Server(config)
    server.ready = ready

    def stop() -> None:
        server.should_exit = True

    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        try:
            loop.add_signal_handler(number, stop)
        except NotImplementedError:  # Windows has no such handlers on its loop
            signal.signal(number, lambda *_: stop())
    await server.serve(sockets=[listener])


def _bound(port: int) -> socket.socket:
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((HOST, port))
    except (OSError, OverflowError) as error:
        listener.close()
        raise ValueError(
            f"port {port} cannot be used ({error}). Choose another with --port, or 0 for any."
        ) from error
    return listener
