"""``textrank reproduce``: reproduce tables of published papers."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from textrank.cli.app import refuse_ignored

EXAMPLE = "Example: textrank reproduce multiclass letor --data ../shared/data"


def command(
    context: typer.Context,
    names: Annotated[list[str], typer.Argument(help="Names of tables; default all.")] = [],  # noqa: B006
    list_: Annotated[bool, typer.Option("--list", help="List the tables and exit.")] = False,
    data: Annotated[Path, typer.Option(help="Folder of the research data.")] = Path("data"),
    out: Annotated[
        Path, typer.Option(metavar="DIR", help="Folder of the results; finished tables are kept.")
    ] = Path("reproduced"),
    seed: Annotated[int, typer.Option(help="Seed of random numbers.")] = 0,
    full: Annotated[bool, typer.Option("--full", help="Use all data; takes some hours.")] = False,
) -> None:
    """Reproduce tables of published papers and show both figures side by side.

    Resumable: tables that were finished with the same settings are kept.
    """
    from textrank.io import write_text
    from textrank.reproduce import load_tables, reproduce_table, select_experiments
    from textrank.reproduce.base import RunSettings, format_page, format_section

    if list_:
        ignored = ("names", "data", "out", "seed", "full")
        refuse_ignored(context, ignored, "with --list", "leave out --list")
        return typer.echo(list_tables())
    run_settings = RunSettings(data, seed, full)
    chosen = select_experiments(names)
    for experiment in chosen:
        experiment.check(run_settings)
    out.mkdir(parents=True, exist_ok=True)
    for experiment in chosen:
        table, new = reproduce_table(experiment, run_settings, out)
        typer.echo(format_section(table) if new else f"{experiment.name}: already done\n")
        write_text(format_page(load_tables(out)), out / "index.md")


def list_tables() -> str:
    """Return the list of tables as text: each paper's citation, then its tables, one per line.

    A table has its name and title. Papers without a table are listed too.
    """
    from textrank.reproduce import EXPERIMENTS
    from textrank.reproduce.base import get_published, get_sources

    lines = []
    for key, citation in get_sources().items():
        experiments = [
            experiment
            for name, experiment in EXPERIMENTS.items()
            if get_published(name)["source"] == key
        ]
        lines += [
            citation,
            *(f"  {experiment.name:<22} {experiment.text.title}" for experiment in experiments),
        ]
    return "\n".join(lines)
