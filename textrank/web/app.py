"""Web server of the explorer and of curation: access control, templates, assets, serving.

The server listens on the loopback interface only. ``GuardMiddleware`` refuses requests for other
host names, from other sites, without the token of the run or with a large body, and adds security
headers to every response. ``serve`` runs an application behind it until the process is stopped.
"""

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
from urllib.parse import parse_qs, parse_qsl, urlencode

import uvicorn
from anyio import to_thread
from jinja2 import Environment, PackageLoader, StrictUndefined
from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import Request
from starlette.responses import (
    HTMLResponse,
    JSONResponse,
    PlainTextResponse,
    RedirectResponse,
    Response,
)
from starlette.routing import Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from uvicorn.protocols.http.h11_impl import H11Protocol

from textrank.config import package_versions
from textrank.io import parse_digits
from textrank.reports.html import template_environment as report_environment

# Access control

MAX_REQUEST_BYTES = 1 << 20  # an answer or a name takes a few hundred
MAX_DRAINED_BYTES = 1 << 28  # of a refused body, read so that the client sees the response
BODY_SECONDS = 20.0  # for the body of a request to arrive
HEADER_SECONDS = 10.0  # for the first line and the headers of a request to arrive
MAX_CONNECTIONS = 500  # at a time; more are answered with status 503
MAX_THREADS = 4  # that work on requests; others wait for their turn
PUBLIC_PATHS = ("/health",)  # need no token
TOKEN_PATH = "/token/"  # before the token in paths for clients that cannot send a header
SAFE_METHODS = ("GET", "HEAD")
LOOPBACK_NAMES = ("127.0.0.1", "localhost", "[::1]")
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
    """Secrets of one run: the token of its address and the CSRF token of its pages.

    ``port`` is the port that the server listens on. By default both secrets are random.

    >>> Credentials("secret", port=8000).hosts
    ('127.0.0.1:8000', 'localhost:8000', '[::1]:8000')
    """

    token: str = field(default_factory=lambda: secrets.token_urlsafe(24))
    csrf: str = field(default_factory=lambda: secrets.token_urlsafe(24))
    port: int = 0

    @property
    def hosts(self) -> tuple[str, ...]:
        """Values of the Host header that are accepted: the loopback names with the port.

        A request with another value comes from DNS rebinding and is refused.
        """
        return tuple(f"{name}:{self.port}" for name in LOOPBACK_NAMES)

    @property
    def cookie_name(self) -> str:
        """Name of the cookie; it contains the port, since browsers share cookies between ports."""
        return f"textrank_{self.port}"

    def authenticate(self, scope: Scope) -> str:
        """Return how a request (an ASGI HTTP scope) carries the token: "explicit", "cookie" or "".

        "explicit" is in the address (parameter ``token``, or after ``TOKEN_PATH``) or in the
        Authorization header, with or without "Bearer "; it takes precedence over "cookie", also
        if other tokens are wrong. "" means that the token is missing or wrong.
        """
        headers = Headers(scope=scope)
        query = parse_qs(scope["query_string"].decode("latin-1"))
        bearer = headers.get("authorization", "").removeprefix("Bearer ")
        tokens = [*query.get("token", ()), bearer]
        if scope["path"].startswith(TOKEN_PATH):
            tokens.append(scope["path"].removeprefix(TOKEN_PATH).partition("/")[0])
        if any(_secrets_equal(value, self.token) for value in tokens):
            return "explicit"
        cookie = _read_cookie(headers, self.cookie_name)
        return "cookie" if _secrets_equal(cookie, self.token) else ""


@dataclass(frozen=True)
class GuardMiddleware:
    """ASGI middleware that checks every request and adds security headers to every response.

    ``max_bytes`` is the largest body of a request. With ``is_api`` a request without the token is
    answered with status 401, as programs expect, instead of 403.
    """

    app: ASGIApp
    credentials: Credentials
    max_bytes: int = MAX_REQUEST_BYTES
    is_api: bool = False

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Check a request and forward it to the application if it is accepted.

        A refused request (``_check_request``) gets status 421 or 403 and never reaches the
        application; with ``is_api``, a missing token gives 401. An explicit token sets the cookie,
        and a page with it in the address is redirected to the address without it. Lifespan messages
        are forwarded unchecked, web sockets ignored.
        """
        if scope["type"] != "http":
            if scope["type"] == "lifespan":
                await self.app(scope, receive, send)
            return
        proof = self.credentials.authenticate(scope)
        # An address with the token sets the cookie, so that links need no token.
        sender = _HeaderSender(send, self.credentials if proof == "explicit" else None)
        refusal: Response | None = _check_request(scope, self.credentials, proof)
        if refusal is not None and not proof and refusal.status_code == 403 and self.is_api:
            refusal = _refuse(401, "the token is missing. Send Authorization: Bearer TOKEN.")
            refusal.headers["www-authenticate"] = "Bearer"
        if refusal is None and proof == "explicit":
            refusal = _redirect_without_token(scope)
        if refusal is None:
            refusal = await self._forward(scope, receive, sender)
        if refusal is not None:
            await refusal(scope, receive, sender)

    async def _forward(
        self, scope: Scope, receive: Receive, send: Send
    ) -> PlainTextResponse | None:
        """Call the application and return None; return a refusal if the body is not accepted.

        The body is read before the application is called, except for GET and HEAD. It is refused
        with status 413 if it has more than ``max_bytes`` or ends early, and with 408 after
        ``BODY_SECONDS``.
        """
        if scope["method"] in SAFE_METHODS:
            await self.app(scope, receive, send)
            return None
        try:
            body = await asyncio.wait_for(
                _read_body(Headers(scope=scope), receive, self.max_bytes), BODY_SECONDS
            )
        except TimeoutError:
            return _refuse(408, f"the request was not complete after {BODY_SECONDS:g} seconds.")
        if body is None:
            return _refuse(413, f"a request of more than {self.max_bytes} bytes is refused.")
        messages: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

        async def replay() -> Message:
            r"""Return the body that was read as one message, and after it what the client sends."""
            return messages.pop() if messages else await receive()

        await self.app(scope, replay, send)
        return None


@dataclass(frozen=True)
class _HeaderSender:
    """ASGI ``send`` that adds the security headers, and with credentials the cookie.

    Headers that the application set itself are kept. ``credentials`` None means no cookie.
    """

    send: Send
    credentials: Credentials | None

    async def __call__(self, message: Message) -> None:
        """Send a message; one that starts a response gets the headers that it does not have.

        With credentials, the cookie is added too.
        """
        if message["type"] == "http.response.start":
            headers = MutableHeaders(scope=message)
            for name, value in SECURITY_HEADERS.items():
                headers.setdefault(name, value)
            if self.credentials is not None:
                cookie = f"{self.credentials.cookie_name}={self.credentials.token}"
                headers.append("set-cookie", f"{cookie}; HttpOnly; SameSite=Strict; Path=/")
        await self.send(message)


def _check_request(scope: Scope, credentials: Credentials, proof: str) -> PlainTextResponse | None:
    """Return the refusal of a request, or None if it is accepted.

    Status 421 is for a wrong host, 403 for another origin, a missing token or a missing CSRF token.
    ``proof`` is the result of ``Credentials.authenticate``. A missing Origin header is accepted.
    ``PUBLIC_PATHS`` need no token for GET and HEAD. The CSRF token is needed only for other
    methods, if the proof is the cookie.
    """
    headers = Headers(scope=scope)
    if headers.get("host", "") not in credentials.hosts:
        return _refuse(421, f"this server answers only as {credentials.hosts[0]}.")
    origins = [f"http://{host}" for host in credentials.hosts]
    if headers.get("origin", origins[0]) not in origins:
        return _refuse(403, "a request from another site is refused.")
    is_safe = scope["method"] in SAFE_METHODS
    if scope["path"] in PUBLIC_PATHS and is_safe:
        return None
    if not proof:
        return _refuse(403, "the token is missing. Open the address that the command printed.")
    if not is_safe and proof == "cookie" and not _is_from_own_page(headers, credentials):
        return _refuse(403, "a request that changes something needs the token of its page.")
    return None


def _redirect_without_token(scope: Scope) -> Response | None:
    """Return a redirect to the start page without the token in its address, or None.

    Only GET requests for "/" with the parameter ``token`` are redirected; other parameters are
    kept. The cookie that is set with the redirect replaces the token, which would stay in the
    address bar and in the history of the browser. A request from another site is not redirected,
    because browsers would not send the cookie with it.
    """
    pairs = parse_qsl(scope["query_string"].decode("latin-1"), keep_blank_values=True)
    rest = [(name, value) for name, value in pairs if name != "token"]
    is_page = scope["method"] == "GET" and scope["path"] == "/"
    is_cross_site = Headers(scope=scope).get("sec-fetch-site") == "cross-site"
    if len(rest) == len(pairs) or not is_page or is_cross_site:
        return None
    return RedirectResponse(f"/?{urlencode(rest)}" if rest else "/", status_code=303)


def _is_from_own_page(headers: Headers, credentials: Credentials) -> bool:
    """Return whether our script sent a request: same origin, and the CSRF token in its header.

    Browsers add the cookie by themselves, but not this header. A missing ``Sec-Fetch-Site`` header
    counts as same origin.
    """
    is_same_origin = headers.get("sec-fetch-site", "same-origin") == "same-origin"
    return is_same_origin and _secrets_equal(headers.get("x-textrank-csrf", ""), credentials.csrf)


async def _read_body(headers: Headers, receive: Receive, max_bytes: int) -> bytes | None:
    """Return the body of a request; None if it is too large or the client disconnects.

    It is too large if it has more than ``max_bytes`` or its announced length is not a number. Such
    a body is read up to ``MAX_DRAINED_BYTES`` without keeping it, so that the client sees the
    response; it is not read at all if the announced length is larger than that or not a number.
    """
    announced = parse_digits(headers.get("content-length", "0"), 18)
    is_large = announced is None or announced > max_bytes
    if announced is None or announced > MAX_DRAINED_BYTES:
        return None
    body, received = b"", 0
    while True:
        message = await receive()
        if message["type"] != "http.request":
            return None
        received += len(message.get("body", b""))
        is_large = is_large or received > max_bytes
        if not is_large:
            body += message.get("body", b"")
        if not message.get("more_body", False) or received > MAX_DRAINED_BYTES:
            return None if is_large else body


def _read_cookie(headers: Headers, name: str) -> str:
    """Return the value of a cookie; "" if it is missing or malformed."""
    try:
        morsel = SimpleCookie(headers.get("cookie", "")).get(name)
    except CookieError:
        return ""
    return "" if morsel is None else morsel.value


def _secrets_equal(one: str, other: str) -> bool:
    """Compare two secrets in a time that does not depend on how far they agree."""
    return hmac.compare_digest(one.encode(), other.encode())


def _refuse(status: int, why: str) -> PlainTextResponse:
    """Return a plain-text response with a status and the reason ``why``."""
    return PlainTextResponse(f"textrank: {why}\n", status_code=status)


# Pages

MEDIA_TYPES = {
    ".css": "text/css",
    ".js": "text/javascript",
    ".mjs": "text/javascript",
    ".svg": "image/svg+xml",
}
SPECIES_NAMES = {
    "9606": "human",
    "10090": "mouse",
    "10116": "rat",
    "9913": "cattle",
    "9823": "pig",
    "9986": "rabbit",
    "9031": "chicken",
    "8355": "clawed frog",
    "8364": "western clawed frog",
    "7955": "zebrafish",
    "7227": "fruit fly",
    "6239": "roundworm",
    "559292": "baker's yeast",
    "4932": "baker's yeast",
    "284812": "fission yeast",
    "4896": "fission yeast",
    "3702": "thale cress",
    "511145": "E. coli",
    "562": "E. coli",
    "83333": "E. coli",
    "224308": "B. subtilis",
    "1423": "B. subtilis",
}  # by NCBI taxon


@cache
def template_environment() -> Environment:
    """Return the cached environment of the page templates; inserted values are escaped.

    Rendering raises an error for a missing variable. Filters: number, probability, species.
    """
    environment = Environment(
        loader=PackageLoader("textrank.web", "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {
        "number": format_count,
        "probability": format_probability,
        "species": species_name,
    }
    environment.globals["version"] = package_versions()["textrank"]
    return environment


def render_page(template: str, values: Mapping[str, Any], status: int = 200) -> HTMLResponse:
    """Return a response with a template, given by file name, filled with ``values``.

    ``status`` is that of the response. Raises jinja2.UndefinedError if a variable of the template
    is missing.
    """
    html = template_environment().get_template(template).render(**values)
    return HTMLResponse(html, status_code=status)


def render_report(html: str) -> HTMLResponse:
    """Return a page of ``textrank.reports``, given as HTML, as a response.

    Such a page has its style and one script (``errors.js``) inline; its policy allows exactly this
    script.
    """
    source = report_environment().get_template("errors.js").render()
    digest = base64.b64encode(hashlib.sha256(source.encode()).digest()).decode()
    policy = (
        f"default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-{digest}'; "
        "img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    )
    return HTMLResponse(html, headers={"content-security-policy": policy})


def format_count(value: int) -> str:
    """Return an integer with spaces between thousands; a float is cut to an integer.

    >>> format_count(1234567)
    '1 234 567'
    """
    return f"{int(value):,}".replace(",", " ")


def format_probability(value: float | None) -> str:
    """Return a probability with two digits, never rounded to 0 or 1; a dash for None.

    Above .99 and below .01 it is ">.99" and "<.01", unless it is exactly 0 or 1.

    >>> [format_probability(value) for value in (0.999, 1.0, 0.125, None)]
    ['>.99', '1', '.12', '–']
    """
    if value is None:
        return "–"
    if value in (0.0, 1.0):
        return f"{value:.0f}"
    if value > 0.99:
        return ">.99"
    return "<.01" if value < 0.01 else f"{value:.2f}".removeprefix("0")


def species_name(taxon: str | None) -> str:
    """Return the English name of a common NCBI taxon.

    Other numbers N give "taxon N". Text that is not a number is returned unchanged, and None gives
    "".

    >>> species_name("9606"), species_name("7")
    ('human', 'taxon 7')
    """
    name = SPECIES_NAMES.get(str(taxon))
    return name or (f"taxon {taxon}" if str(taxon).isdigit() else str(taxon or ""))


@cache
def list_assets() -> Mapping[str, Path]:
    """Return the paths of the files that can be fetched, by name; no other file can be reached.

    They are the files in ``assets`` with a suffix of ``MEDIA_TYPES``, Cytoscape as
    "cytoscape.mjs" and the style of reports as "base.css". Cached.
    """
    folder = Path(str(files("textrank.web")))
    assets = {path.name: path for path in (folder / "assets").iterdir()}
    assets = {name: path for name, path in assets.items() if path.suffix in MEDIA_TYPES}
    assets["cytoscape.mjs"] = folder / "vendor" / "cytoscape" / "cytoscape.esm.min.mjs"
    assets["base.css"] = Path(str(files("textrank.reports"))) / "page" / "style.css"
    return assets


def serve_asset(request: Request) -> Response:
    """Serve an asset (path parameter ``name``), with an ETag so that browsers can keep it.

    Status 304 if the browser has this version, 404 for an unknown name.
    """
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
    """Serve status and version as JSON; no token is needed."""
    return JSONResponse({"status": "ok", "version": package_versions()["textrank"]})


def not_found(why: str) -> Response:
    """Return a page of status 404 with a reason."""
    return render_page("missing.html", {"why": why}, status=404)


def common_routes() -> list[Route]:
    """Return the routes that every application has: ``/health`` and ``/assets/{name}``."""
    return [Route("/health", serve_health), Route("/assets/{name}", serve_asset)]


# Serving

HOST = "127.0.0.1"


def serve(
    make_app: Callable[[Credentials], ASGIApp],
    *,
    port: int = 0,
    browser: bool = True,
    tell: Callable[[str], None],
    token: str | None = None,
    max_bytes: int = MAX_REQUEST_BYTES,
    is_api: bool = False,
) -> None:
    """Serve an application until SIGTERM or SIGINT, then return.

    Parameters
    ----------
    make_app
        Builds the application from the credentials of this run; it is put behind
        ``GuardMiddleware`` here.
    port
        Port of 127.0.0.1; 0 takes a free one. ValueError if it cannot be used.
    browser
        Whether to open the address in a browser.
    tell
        Called with the address, which has the token, as soon as the server answers.
    token
        Token of this run; None makes a new one.
    max_bytes, is_api
        As in ``GuardMiddleware``.
    """
    with closing(_bind(port)) as listener:
        port = int(listener.getsockname()[1])
        credentials = Credentials(port=port) if token is None else Credentials(token, port=port)
        address = f"http://{HOST}:{credentials.port}/?token={credentials.token}"

        def on_ready() -> None:
            """Report the address with ``tell`` and, if wanted, open it in a browser."""
            tell(address)
            if browser:  # in a thread: some browsers only return when they are closed
                Thread(target=webbrowser.open, args=(address,), daemon=True).start()

        app = GuardMiddleware(make_app(credentials), credentials, max_bytes, is_api)
        asyncio.run(_run_server(app, listener, on_ready))


class _Protocol(H11Protocol):
    """HTTP protocol that closes connections whose request does not arrive in HEADER_SECONDS."""

    _deadline: asyncio.TimerHandle | None = None

    def connection_made(self, transport: Any) -> None:
        """Begin to wait for the first request."""
        super().connection_made(transport)
        self._wait_for_request()

    def data_received(self, data: bytes) -> None:
        """Pass data on; stop waiting once the headers of a request are complete.

        Data of a further request on the same connection begins the wait again.
        """
        if self._deadline is None and not self._is_busy():
            self._wait_for_request()
        super().data_received(data)
        if self._is_busy():
            self._stop_waiting()

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop waiting, and pass the end of the connection on."""
        self._stop_waiting()
        super().connection_lost(exc)

    def _is_busy(self) -> bool:
        """Return whether the headers of a request have arrived and it is being answered."""
        return self.cycle is not None and not self.cycle.response_complete

    def _wait_for_request(self) -> None:
        """Close the connection after HEADER_SECONDS unless ``_stop_waiting`` is called before."""
        self._deadline = self.loop.call_later(HEADER_SECONDS, self.transport.close)

    def _stop_waiting(self) -> None:
        """Cancel the timeout, if one is running, so that the connection stays open."""
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None


class _Server(uvicorn.Server):
    """uvicorn server that calls ``on_ready`` after startup and installs no signal handlers."""

    on_ready: Callable[[], None]

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Start to listen, then call ``on_ready``."""
        await super().startup(sockets)
        self.on_ready()

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        # uvicorn raises the signal again at the end, which would turn a clean end into a failure.
        """Leave the signal handlers as they are inside the block."""
        yield


async def _run_server(app: ASGIApp, listener: socket.socket, on_ready: Callable[[], None]) -> None:
    """Serve on a bound socket until SIGTERM or SIGINT; ``on_ready`` is called once it answers.

    Replaces the handlers of these signals, and limits the threads for requests to MAX_THREADS.
    Requests in progress get two seconds at the end.
    """
    server = _Server(
        uvicorn.Config(
            app,
            log_level="warning",
            access_log=False,
            timeout_graceful_shutdown=2,
            lifespan="off",
            server_header=False,
            date_header=False,
            http=_Protocol,
            limit_concurrency=MAX_CONNECTIONS,
            timeout_keep_alive=max(int(HEADER_SECONDS), 1),
        )
    )
    server.on_ready = on_ready
    to_thread.current_default_thread_limiter().total_tokens = MAX_THREADS

    def stop() -> None:
        """Make the server end at the next opportunity."""
        server.should_exit = True

    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        try:
            loop.add_signal_handler(number, stop)
        except NotImplementedError:  # on Windows
            signal.signal(number, lambda *_: stop())
    await server.serve(sockets=[listener])


def _bind(port: int) -> socket.socket:
    """Return a new socket bound to a port of 127.0.0.1, or to a free port if it is 0.

    The caller closes it. Raises ValueError if the port cannot be used.
    """
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
