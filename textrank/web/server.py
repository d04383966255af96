"""Runs an application on this machine's loopback address until it is told to end."""

from __future__ import annotations

import asyncio
import signal
import socket
import webbrowser
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from threading import Thread
from typing import Any

import uvicorn
from starlette.types import ASGIApp

from textrank.web.security import Gate, Guarded

HOST = "127.0.0.1"


def serve(
    make: Callable[[Gate], ASGIApp],
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
        gate = Gate(port=int(listener.getsockname()[1]))
        address = f"http://{HOST}:{gate.port}/?token={gate.token}"

        def ready() -> None:
            tell(address)
            if browser:  # some browsers only return when they are closed
                Thread(target=webbrowser.open, args=(address,), daemon=True).start()

        asyncio.run(_run(Guarded(make(gate), gate), listener, ready))


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
