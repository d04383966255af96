"""``textrank export``: write results in the formats of other tools."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from textrank.cli.app import JsonFile

EXAMPLE = "Example: textrank export results statements.indra.json --probability 0.8"


def command(
    results: Annotated[
        Path, typer.Argument(help="Folder of apply --out, JSON lines of apply, or file of --facts.")
    ],
    target: Annotated[
        Path,
        typer.Argument(help="File to write, such as x.indra.json, x.mitab, x.bel or x.cx2."),
    ],
    format: Annotated[
        str | None,
        typer.Option(
            help="indra, mitab, bel, cx2, graphml, cyjs, sif or csv; by default that of the suffix."
        ),
    ] = None,
    probability: Annotated[
        float | None, typer.Option(metavar="P", help="Smallest probability of a fact.")
    ] = None,
    json_: JsonFile = None,
) -> None:
    """Export the facts of results: INDRA, PSI-MITAB, BEL, CX2, GraphML, SIF.

    Annotated texts are written by apply --write (BioC, PubTator, brat).
    """
    from textrank.results.exports import export_facts

    summary = export_facts(results, target, format=format, min_probability=probability)
    typer.echo(
        f"{target}: {summary.facts} facts, {summary.statements} statements ({summary.format})"
    )
    if summary.left_out:
        typer.echo(
            f"{summary.left_out} statements have no place in {summary.format}; docs/formats.md "
            "says which.",
            err=True,
        )
    if json_ is not None:
        from textrank.reports.table import write_json

        write_json({"file": str(target), **summary._asdict()}, json_)
