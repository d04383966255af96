"""Arguments and options that several commands take, and what several of them do."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from rich.console import Console

PipelineName = Annotated[str, typer.Argument(help="A shipped pipeline (ppi) or the path of a cfg.")]
CorpusPath = Annotated[str, typer.Argument(help="A data file, or a folder with a corpus.cfg.")]
ModelName = Annotated[str, typer.Argument(help="A shipped model or the folder of a trained one.")]
Texts = Annotated[list[str], typer.Argument(help="Text or corpus files; - is standard input.")]
Settings = Annotated[
    list[str], typer.Option("--set", metavar="KEY=VALUE", help="Overrides a value of the cfg.")
]
TaskSettings = Annotated[
    list[str],
    typer.Option("--set", metavar="KEY=VALUE", help="As task.precision=0.99 of a spelling model."),
]
Nlp = Annotated[
    str | None, typer.Option("--nlp", help="A spaCy model by name or path instead of ours.")
]


def writable(path: Path | None) -> Path | None:
    """Refuses before long work, not after it."""
    from textrank.io import check_writable

    return check_writable(path)


def _drawable(path: Path | None) -> Path | None:
    if path is not None:
        from textrank.io import check_changeable
        from textrank.reports.plots import check_installed

        check_installed()
        check_changeable(path)
    return path


JsonFile = Annotated[
    Path | None,
    typer.Option("--json", metavar="FILE", help="Writes figures as JSON.", callback=writable),
]
ReportFolder = Annotated[
    Path | None,
    typer.Option(
        "--report", metavar="DIR", help="Writes report.html, with curves.", callback=_drawable
    ),
]


def console() -> Console:
    """Standard output; wide enough for every table where it goes to a file or a pipe."""
    from rich.console import Console

    own = Console()
    return own if own.is_terminal else Console(width=140)


def write_figures(found: Any, file: Path | None) -> None:
    """The figures as JSON, where a file is named."""
    if file is not None:
        from textrank.reports.json import write_data

        write_data(found.to_dict(), file)
