"""``textrank mcp``: tools for language-model applications by the Model Context Protocol."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from textrank.cli.app import Nlp, TaskSettings

EXAMPLE = "Example: textrank mcp --results results"


def command(
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
