"""``textrank explore``: results as pages in a browser."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from textrank.cli.app import refuse_ignored

if TYPE_CHECKING:
    from textrank.results.store import Store
    from textrank.web.explorer import StatementExplainer

EXAMPLE = "Example: textrank explore corpora/sample-ppi"
Port = Annotated[int, typer.Option(help="Of 127.0.0.1; 0 takes a free one.", min=0, max=65535)]
Browser = Annotated[bool, typer.Option("--no-browser", help="Only prints the address.")]


def command(
    context: typer.Context,
    results: Annotated[
        str, typer.Argument(help="A folder of results, JSON lines of apply, or a corpus.")
    ],
    port: Port = 0,
    no_browser: Browser = False,
    model: Annotated[
        str | None, typer.Option(help="Says why; the model of the results where they name it.")
    ] = None,
    nlp: Annotated[
        str | None, typer.Option("--nlp", help="A spaCy model by name or path instead of ours.")
    ] = None,
    report: Annotated[
        Path | None,
        typer.Option(
            metavar="FOLDER", help="What run or evaluate wrote with --report, to link to."
        ),
    ] = None,
    static: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Writes one self-contained page instead of serving."),
    ] = None,
) -> None:
    """Shows results in a browser: facts with facets, evidence, documents, neighbourhoods."""
    if static is not None:
        served = ("port", "no_browser", "model", "nlp", "report")
        refuse_ignored(context, served, "with --static", "leave out --static")
    check_web_extra()
    from textrank.results.store import open_store
    from textrank.web.app import serve
    from textrank.web.explorer import Explorer

    store = open_store(results)
    with closing(store.connection):
        if static is not None:
            return _write(store, static)
        reasons = _reasons(store, model, nlp)
        if reasons is None:
            when = "without --model: these results name no model"
            refuse_ignored(context, ("nlp",), when, "add --model MODEL")
        explorer = Explorer(store, reasons, _report(report))
        serve(lambda _: explorer.app(), port=port, browser=not no_browser, tell=typer.echo)


def check_web_extra() -> None:
    """Says what to install where the extra is missing."""
    try:
        import duckdb  # noqa: F401
        import starlette  # noqa: F401
        import uvicorn  # noqa: F401
    except ModuleNotFoundError as error:
        raise ValueError(
            f"pages need {error.name}. Install the extra: pip install 'textrank-kernels[web]'."
        ) from error


def _write(store: Store, file: Path) -> None:
    from textrank.io import write_text
    from textrank.web.explorer import render_static_page

    write_text(render_static_page(store), file)
    typer.echo(str(file))


def _report(folder: Path | None) -> dict[str, str]:
    """The pages of an evaluation by their names."""
    if folder is None:
        return {}
    found = {file.name: file.read_text(encoding="utf-8") for file in folder.glob("*.html")}
    if "report.html" not in found:
        raise ValueError(f"{folder}: no report.html. Make it with textrank evaluate --report.")
    return found


def _reasons(store: Store, model: str | None, nlp: str | None) -> StatementExplainer | None:
    from textrank.web.explorer import StatementExplainer

    settings = store.settings.get("settings")
    named = settings.get("model") if isinstance(settings, dict) else None
    name = model or (named if isinstance(named, str) else None)
    if name is None:
        return None

    def load() -> Any:
        from textrank._annotate import load_language
        from textrank.config import load_model

        loaded = load_model(name)
        return loaded, load_language(nlp, loaded.pipeline.task)

    return StatementExplainer(load)
