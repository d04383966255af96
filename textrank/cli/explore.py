"""``textrank explore``: show results in a browser."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from textrank.cli.app import DEFAULT_OPTIONS, CommonOptions, refuse_ignored

if TYPE_CHECKING:
    from textrank.results.store import Store
    from textrank.web.explorer import StatementExplainer

EXAMPLE = "Example: textrank explore corpora/sample-ppi"
Port = Annotated[int, typer.Option(help="Port of 127.0.0.1; 0 takes a free one.", min=0, max=65535)]
Browser = Annotated[bool, typer.Option("--no-browser", help="Only print the address.")]


def command(
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
    """Show results in a browser: facts, evidence, documents and networks."""
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


def check_web_extra() -> None:
    """Raise ValueError that says what to install if duckdb, starlette or uvicorn is missing."""
    try:
        import duckdb  # noqa: F401
        import starlette  # noqa: F401
        import uvicorn  # noqa: F401
    except ModuleNotFoundError as error:
        raise ValueError(
            f"pages need {error.name}. Install the extra: pip install 'textrank-kernels[web]'."
        ) from error


def _write_static_page(store: Store, file: Path) -> None:
    """Write the page of a store to a file, replacing an older one, and print its name.

    Raises ValueError if the store has too many statements for one page.
    """
    from textrank.io import write_text
    from textrank.web.explorer import render_static_page

    write_text(render_static_page(store), file)
    typer.echo(str(file))


def _read_report_pages(folder: Path | None) -> dict[str, str]:
    """Return the HTML pages directly in a report folder, by file name; {} for None.

    Raises ValueError if there is no ``report.html``.
    """
    if folder is None:
        return {}
    pages = {file.name: file.read_text(encoding="utf-8") for file in folder.glob("*.html")}
    if "report.html" not in pages:
        raise ValueError(f"{folder}: no report.html. Make it with textrank evaluate --report.")
    return pages


def _make_explainer(store: Store, model: str | None, nlp: str | None) -> StatementExplainer | None:
    """Return what explains statements by a model, loaded on first use; None if no model is known.

    ``model`` None takes the one that the results name. ``nlp`` is a spaCy pipeline; None takes the
    shipped one.
    """
    from textrank.web.explorer import StatementExplainer

    settings = store.manifest.get("settings")
    recorded = settings.get("model") if isinstance(settings, dict) else None
    name = model or (recorded if isinstance(recorded, str) else None)
    if name is None:
        return None

    def load() -> Any:
        """Load the model and the language pipeline of its task."""
        from textrank._annotate import load_language
        from textrank.config import load_model

        loaded = load_model(name)
        return loaded, load_language(nlp, loaded.pipeline.task)

    return StatementExplainer(load)
