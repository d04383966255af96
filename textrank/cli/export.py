"""``textrank export``: write results in the formats of other tools."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from textrank.cli.app import JsonFile, refuse_ignored

EXAMPLE = "Example: textrank export results statements.indra.json --probability 0.8"


def command(
    context: typer.Context,
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
            help="indra, mitab, bel, cx2, graphml, cyjs, sif, csv, bioc, bioc_json or pubtator; by "
            "default that of the suffix."
        ),
    ] = None,
    probability: Annotated[
        float | None, typer.Option(metavar="P", help="Smallest probability of a fact.")
    ] = None,
    json_: JsonFile = None,
) -> None:
    """Export the facts of results: INDRA, PSI-MITAB, BEL, CX2, GraphML, SIF.

    BioC and PubTator hold annotated texts: the input files of a results folder are read again.
    """
    from textrank.reports.table import write_json
    from textrank.results.exports import export_documents, export_facts, find_document_format

    if (document_format := find_document_format(target, format)) is not None:
        when = f"with {document_format}, which has all statements with their probabilities"
        refuse_ignored(context, ("probability",), when, "choose a format of facts")
        count = export_documents(results, target, document_format)
        typer.echo(f"{target}: {count} documents ({document_format})")
        if json_ is not None:
            write_json({"file": str(target), "format": document_format, "documents": count}, json_)
        return
    summary = export_facts(results, target, format=format, min_probability=probability)
    typer.echo(
        f"{target}: {summary.facts} facts, {summary.statements} statements ({summary.format})"
    )
    if summary.left_out:
        typer.echo(
            f"{summary.left_out} statements left out: {summary.format} cannot express them. "
            "The page on formats of the documentation says which.",
            err=True,
        )
    if json_ is not None:
        write_json({"file": str(target), **summary._asdict()}, json_)
