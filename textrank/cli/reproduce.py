"""``textrank reproduce``: the tables of the sources, theirs beside ours."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from textrank.cli.app import refuse_ignored

EXAMPLE = "Example: textrank reproduce multiclass letor --data ../shared/data"


def command(
    context: typer.Context,
    names: Annotated[list[str], typer.Argument(help="Tables by name; all without one.")] = [],  # noqa: B006
    list_: Annotated[bool, typer.Option("--list", help="Lists the tables.")] = False,
    data: Annotated[Path, typer.Option(help="The folder of the research data.")] = Path("data"),
    out: Annotated[
        Path, typer.Option(metavar="DIR", help="Where JSON and page go; what is there is kept.")
    ] = Path("reproduced"),
    seed: Annotated[int, typer.Option(help="Of every draw.")] = 0,
    full: Annotated[bool, typer.Option("--full", help="Whole data; some hours.")] = False,
) -> None:
    """Runs tables of the sources on the data at hand, and shows the source's figures beside ours.

    Started again after a stop, it goes on: a table that is there with the same settings stays.
    """
    from textrank.io import write_text
    from textrank.reproduce import experiments_of, reproduced, tables_in
    from textrank.reproduce.base import Setting, page, section

    if list_:
        ignored = ("names", "data", "out", "seed", "full")
        refuse_ignored(context, ignored, "with --list", "leave out --list")
        return typer.echo(list_tables())
    setting = Setting(data, seed, full)
    chosen = experiments_of(names)
    for experiment in chosen:
        experiment.check(setting)
    out.mkdir(parents=True, exist_ok=True)
    for experiment in chosen:
        table, new = reproduced(experiment, setting, out)
        typer.echo(section(table) if new else f"{experiment.name}: kept from before\n")
        write_text(page(tables_in(out)), out / "index.md")


def list_tables() -> str:
    """The tables by their source."""
    from textrank.reproduce import EXPERIMENTS
    from textrank.reproduce.base import published, sources

    lines = []
    for key, cited in sources().items():
        own = [one for name, one in EXPERIMENTS.items() if published(name)["source"] == key]
        lines += [cited, *(f"  {one.name:<22} {one.words.title}" for one in own)]
    return "\n".join(lines)
