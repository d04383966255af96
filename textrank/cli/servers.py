"""Servers: ``textrank explore``, ``serve``, ``lsp`` and ``mcp``.

They show results in a browser, annotate texts over HTTP, report spelling errors to an editor, and
give tools to language-model applications.
"""

from __future__ import annotations

import logging
import os
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from textrank.cli.app import (
    DEFAULT_OPTIONS,
    Browser,
    CommonOptions,
    Nlp,
    Port,
    TaskSettings,
    check_web_extra,
    refuse_ignored,
)

if TYPE_CHECKING:
    from textrank.results.store import Store
    from textrank.web.explorer import StatementExplainer


def explore_command(
    context: typer.Context,
    results: Annotated[
        str, typer.Argument(help="Folder or JSON lines written by apply, or a corpus.")
    ],
    port: Port = 0,
    no_browser: Browser = False,
    model: Annotated[
        str | None, typer.Option(help="Model that explains scores; default: that of the results.")
    ] = None,
    nlp: Annotated[
        str | None, typer.Option("--nlp", help="Name or path of a spaCy pipeline to use.")
    ] = None,
    report: Annotated[
        Path | None,
        typer.Option(metavar="FOLDER", help="Link to the report that run or evaluate wrote there."),
    ] = None,
    static: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Write one self-contained page and exit."),
    ] = None,
    options: CommonOptions = DEFAULT_OPTIONS,
) -> None:
    """Show results in a browser: facts, evidence, documents and networks.

    \f
    Serves until the process is stopped, and then closes the results; with --static writes a page
    instead. Raises ValueError for options without effect (those of the server with --static, --nlp
    without a model), a missing extra ``web``, or a report folder without ``report.html``.
    """
    if static is not None:
        server_options = ("port", "no_browser", "model", "nlp", "report")
        refuse_ignored(context, server_options, "with --static", "leave out --static")
    check_web_extra()
    from textrank.results.store import open_store
    from textrank.web.app import serve
    from textrank.web.explorer import Explorer

    store = open_store(results, options.load_corpus)
    with closing(store.connection):
        if static is not None:
            return _write_static_page(store, static)
        explainer = _make_explainer(store, model, nlp)
        if explainer is None:
            when = "without --model, since these results do not name one"
            refuse_ignored(context, ("nlp",), when, "add --model MODEL")
        explorer = Explorer(store, explainer, _read_report_pages(report))
        explorer.warm_up()
        serve(lambda _: explorer.app(), port=port, browser=not no_browser, tell=typer.echo)


def _write_static_page(store: Store, file: Path) -> None:
    """Write the self-contained page of a result store to a file and print the file's name.

    An existing file is replaced. Raises ValueError if the store has too many statements for one
    page.
    """
    from textrank.io import write_text
    from textrank.web.explorer import render_static_page

    write_text(render_static_page(store), file)
    typer.echo(str(file))


def _read_report_pages(folder: Path | None) -> dict[str, str]:
    """Return the contents of the HTML files in a report folder, by file name; {} for None.

    Sub-folders are not searched. Raises ValueError if there is no ``report.html``.
    """
    if folder is None:
        return {}
    pages = {file.name: file.read_text(encoding="utf-8") for file in folder.glob("*.html")}
    if "report.html" not in pages:
        raise ValueError(f"{folder}: no report.html. Make it with textrank evaluate --report.")
    return pages


def _make_explainer(store: Store, model: str | None, nlp: str | None) -> StatementExplainer | None:
    """Return an explainer of statements whose model is loaded on first use, or None.

    ``model`` is a name or path; None takes the model recorded in the manifest of ``store``, and if
    there is none, None is returned. ``nlp`` is a spaCy pipeline; None takes the shipped one.
    """
    from textrank.web.explorer import StatementExplainer

    settings = store.manifest.get("settings")
    recorded = settings.get("model") if isinstance(settings, dict) else None
    name = model or (recorded if isinstance(recorded, str) else None)
    if name is None:
        return None

    def load() -> Any:
        """Load and return the model and the language pipeline that its task needs."""
        from textrank.component import load_language
        from textrank.config import load_model

        loaded = load_model(name)
        return loaded, load_language(nlp, loaded.pipeline.task)

    return StatementExplainer(load)


MIN_TOKEN_CHARACTERS = 16


def serve_command(
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

    \f
    The model is loaded before the server starts. Raises ValueError if ``timeout`` is not positive,
    or TEXTRANK_TOKEN has fewer than ``MIN_TOKEN_CHARACTERS`` or other characters than letters and
    digits.
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


MAX_LOG_CHARACTERS = 300  # of a line; pygls quotes whole messages, with the text of the document


class OneLineFormatter(logging.Formatter):
    """Log formatter that reduces a record to one line: first line of the message, and exception."""

    def format(self, record: logging.LogRecord) -> str:
        """Return "textrank lsp: MESSAGE (ExceptionType: text)", without a traceback.

        Only the first line of the message is used, white space is reduced to single spaces, and the
        result is cut to ``MAX_LOG_CHARACTERS``.
        """
        message = f"textrank lsp: {record.getMessage().partition(chr(10))[0]}"
        if record.exc_info and (error := record.exc_info[1]) is not None:
            message += f" ({type(error).__name__}: {error})"
        return " ".join(message.split())[:MAX_LOG_CHARACTERS]


def lsp_command() -> None:
    """Start a language server that shows spelling errors in an editor.

    Editors start it and talk to it over standard input and output.

    \f
    Log records of all libraries go to standard error, a line each (``OneLineFormatter``). Raises
    ValueError if the extra ``lsp`` is not installed.
    """
    try:
        from textrank.lint.server import make_server
    except ModuleNotFoundError as error:
        raise ValueError(
            f"the language server needs {error.name}. Install the extra: "
            "pip install 'textrank-kernels[lsp]'."
        ) from error
    handler = logging.StreamHandler()
    handler.setFormatter(OneLineFormatter())
    logging.getLogger().addHandler(handler)  # pygls and futures report messages that are not valid
    make_server().start_io()


def mcp_command(
    model: Annotated[
        str, typer.Option(help="Name or folder of a model that states relations.")
    ] = "ppi",
    results: Annotated[
        list[Path],
        typer.Option(metavar="DIR", help="Folder of apply --out that may be asked; repeatable."),
    ] = [],  # noqa: B006
    nlp: Nlp = None,
    set_: TaskSettings = [],  # noqa: B006
) -> None:
    """Serve tools over standard input and output (Model Context Protocol).

    Tools: extract_statements, link_gene and, with --results, ask_results. Add the command to the
    configuration of your application; it is not meant to be typed.

    \f
    Raises ValueError, before it serves, for a folder without a manifest or a model whose task
    states no facts.
    """
    for folder in results:
        if not (folder / "manifest.json").is_file():
            raise ValueError(
                f"--results {folder}: not a result folder. Create one with textrank apply --out."
            )
    from textrank.web.api import AnnotationService
    from textrank.web.mcp_server import create_server

    service = AnnotationService(model, nlp, tuple(set_))
    if not service.states_facts:
        raise ValueError(
            f"--model {model}: a model of task {service.task!r}, which states no relations. "
            "Name a model that does, such as ppi."
        )
    create_server(service, results).run("stdio")
