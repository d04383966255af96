"""``textrank serve``: annotate texts over HTTP on this machine."""

from __future__ import annotations

import os
from typing import Annotated

import typer

from textrank.cli.app import Nlp, TaskSettings
from textrank.cli.explore import Port, check_web_extra

EXAMPLE = (
    "Example: textrank serve ppi --port 8000, then: curl -H 'Authorization: Bearer TOKEN' "
    "-H 'Content-Type: application/json' "
    '-d \'{"documents": [{"text": "GRB2 binds SOS1."}]}\' http://127.0.0.1:8000/v1/annotate'
)
MIN_TOKEN_CHARACTERS = 16


def command(
    model: Annotated[
        str, typer.Argument(help="Name of a shipped model, or folder of a model.")
    ] = "ppi",
    port: Port = 0,
    nlp: Nlp = None,
    timeout: Annotated[
        float, typer.Option(metavar="SECONDS", help="Longest time of a request.")
    ] = 120.0,
    max_requests: Annotated[
        int, typer.Option(min=1, help="Requests at a time; more get status 503.")
    ] = 8,
    set_: TaskSettings = [],  # noqa: B006
) -> None:
    """Serve a model over HTTP on 127.0.0.1, for programs and for INCEpTION.

    Prints the address with its token, which is new for each run unless the environment variable
    TEXTRANK_TOKEN sets one. /openapi.json describes the interface.
    """
    check_web_extra()
    from textrank.web.api import MAX_BODY_BYTES, AnnotationService, ServiceApp
    from textrank.web.app import serve

    if not timeout > 0:
        raise ValueError(f"--timeout must be positive, got {timeout}.")
    token = os.environ.get("TEXTRANK_TOKEN") or None
    if token is not None and not (len(token) >= MIN_TOKEN_CHARACTERS and token.isalnum()):
        raise ValueError(
            f"TEXTRANK_TOKEN needs at least {MIN_TOKEN_CHARACTERS} letters and digits."
        )
    service = AnnotationService(model, nlp, tuple(set_))
    typer.echo(f"loading {model} …", err=True)
    service.describe()  # so that the first request is fast and errors show now
    app = ServiceApp(service, timeout, max_requests)
    serve(
        lambda _: app.app(),
        port=port,
        browser=False,
        tell=typer.echo,
        token=token,
        max_bytes=MAX_BODY_BYTES,
        is_api=True,
    )
