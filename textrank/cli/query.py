"""``textrank query`` and ``export``: search results of apply, or write them for other tools."""

from __future__ import annotations

import csv
import json
import re
import sys
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from textrank.cli.app import JsonFile, refuse_ignored

if TYPE_CHECKING:
    from textrank.results.schema import Row
    from textrank.results.store import Results

SHOWN_COLUMNS = {
    "statements": "document year relation probability status type sentence",
    "partners": "name id relation probability papers statements standing types conflicts",
    "pairs": "relation id_a id_b probability papers statements standing types conflicts",
    "papers": "document year title mentions",
}
QUESTION_HELP = (
    'For example "what inhibits TP53", "does GRB2 bind SOS1", "partners of GRB2", "top 5", '
    '"PMID 12345678", or SQL that begins with SELECT. The whole grammar is on the page '
    '"Ask questions" of the documentation.'
)


def query_command(
    context: typer.Context,
    folder: Annotated[Path, typer.Argument(help="Folder written by textrank apply --out.")],
    question: Annotated[str, typer.Argument(help=QUESTION_HELP)],
    type: Annotated[
        str | None, typer.Option(help="Type of interaction: binding, phosphorylation, ...")
    ] = None,
    status: Annotated[
        str | None, typer.Option(help="Status: asserted, negated or speculated.")
    ] = None,
    probability: Annotated[float | None, typer.Option(help="Smallest probability.")] = None,
    year: Annotated[
        str | None, typer.Option(help="Year of publication: 1999, 1999-2005, 1999- or -2005.")
    ] = None,
    species: Annotated[str | None, typer.Option(help="NCBI taxon, e.g. 9606.")] = None,
    limit: Annotated[
        int | None, typer.Option(min=1, help="Largest number of rows; by default 20.")
    ] = None,
    json_: Annotated[bool, typer.Option("--json", help="Print one JSON object per row.")] = False,
    csv_: Annotated[bool, typer.Option("--csv", help="Print comma-separated values.")] = False,
) -> None:
    """Search a result: partners, evidence, strongest statements, networks.

    \f
    A question in SQL (``_is_sql``) is executed, any other is answered by ``answer_question`` with
    the filters. An answer without rows prints no table, unless it is of SQL; its note goes to
    standard error. Raises ValueError for filters with SQL, --csv with --json, an unknown type or
    year, and a folder or question that cannot be read.
    """
    from textrank.results import store
    from textrank.results.questions import Answer, answer_question
    from textrank.results.store import Filter

    if _is_sql(question):
        filters = ("type", "status", "probability", "year", "species", "limit")
        refuse_ignored(context, filters, "with a question in SQL", "write it into the SQL")
    if json_:
        refuse_ignored(context, ("csv_",), "with --json", "leave out --json")
    row_filter = Filter(type, status, probability, parse_years(year), species)
    with closing(store.open_results(folder)) as results:
        _check_type(results, type)
        if _is_sql(question):
            answer = Answer("sql", results.sql(_normalise_question(question)))
        else:
            answer = answer_question(results, question, row_filter, limit)
    is_table = not json_ and not csv_
    if answer.rows or not is_table or answer.kind == "sql":
        _print_rows(answer.kind, answer.rows, "json" if json_ else "csv" if csv_ else "table")
    if answer.note:
        typer.echo(answer.note, err=True)


def parse_years(text: str | None) -> tuple[int | None, int | None]:
    """Parse a range of years and return its first and last year, both inclusive.

    An open end is None, and the text None gives (None, None). A single year is both first and last.
    Raises ValueError unless years have four digits; whether the first precedes the last is not
    checked.

    >>> parse_years("1999-2005"), parse_years("1999"), parse_years("-2005")
    ((1999, 2005), (1999, 1999), (None, 2005))
    """
    if text is None:
        return None, None
    match = re.fullmatch(r"(\d{4})?(-)?(\d{4})?", text.strip())
    if not match or not (match[1] or match[3]) or (match[3] and not match[2]):
        raise ValueError(f"--year {text!r}: write 1999, 1999-2005, 1999- or -2005.")
    first, dash, last = match.groups()
    return (int(first) if first else None, int(last or (0 if dash else first)) or None)


def _check_type(results: Results, type_: str | None) -> None:
    """Raise ValueError for an unknown type of interaction.

    Known are None, ``TYPES`` and any type that a statement in the results has.
    """
    from textrank.results.questions import TYPES

    if type_ is None or type_ in TYPES:
        return
    stored = [row["type"] for row in results.sql("SELECT DISTINCT type FROM statements")]
    if type_ not in stored:
        raise ValueError(f"--type {type_}: no such type. Choose one of {', '.join(TYPES)}.")


def _normalise_question(question: str) -> str:
    """Return the question without surrounding white space and question marks at its end."""
    return question.strip().rstrip("?").strip()


def _is_sql(question: str) -> bool:
    """Return whether a question is SQL.

    SQL begins with the word SELECT, WITH, FROM, DESCRIBE or SUMMARIZE, in any case.
    """
    return (
        re.match(r"(?i)(select|with|from|describe|summarize)\b", _normalise_question(question))
        is not None
    )


def _print_rows(kind: str, rows: Sequence[Row], form: str) -> None:
    """Print rows as "json" (one object per line), "csv" or "table".

    ``form`` is one of these three; ``kind`` is ``Answer.kind``. A table shows the columns in
    ``SHOWN_COLUMNS[kind]``. CSV, and tables of a kind that is not listed there, have all keys of
    the first row as columns, and no columns if there are no rows.
    """
    if form == "json":
        for row in rows:
            typer.echo(json.dumps(row, ensure_ascii=False, default=str))
        return
    columns = list(rows[0]) if rows else []
    if form == "csv":
        writer = csv.DictWriter(sys.stdout, columns, lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
        return
    from rich.console import Console
    from rich.table import Table

    from textrank.results.questions import describe_relation

    if kind in SHOWN_COLUMNS:
        columns = SHOWN_COLUMNS[kind].split()
        if "relation" in columns:
            rows = [{**row, "relation": describe_relation(row)} for row in rows]
    table = Table(*columns, title="1 row" if len(rows) == 1 else f"{len(rows)} rows")
    for row in rows:
        table.add_row(*(_format_cell(row.get(column)) for column in columns))
    Console(width=None if sys.stdout.isatty() else 160).print(table)


def _format_cell(value: Any) -> str:
    """Return a value as text for a table: floats with three decimals, None as "".

    Items of a list are joined by ", ", leaving out None. Other values are converted by ``str``.
    """
    if isinstance(value, float):
        return f"{value:.3f}"
    if isinstance(value, list):
        return ", ".join(str(item) for item in value if item is not None)
    return "" if value is None else str(value)


def export_command(
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

    \f
    These go to ``export_documents``, and --probability is refused (ValueError); other formats go to
    ``export_facts``. Statements that a format cannot express are counted on standard error.
    ``json_`` gets ``file``, ``format`` and the counts.
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
