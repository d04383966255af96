"""``textrank query``: search a result with a short question or with SQL."""

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

from textrank.cli.app import refuse_ignored

if TYPE_CHECKING:
    from textrank.results.schema import Row
    from textrank.results.store import Filter, Results

SHOWN_COLUMNS = {
    "statements": "document year name_a name_b probability status type direction sentence",
    "partners": "name id statements documents probability best types first_year last_year",
    "pairs": "name_a name_b id_a id_b statements documents probability best types",
}
PARTNERS_QUESTION = re.compile(
    r"(?i)who\s+(?:\w+\s+)*?(?:interacts?|binds?)(?:\s+(?:with|to))?\s+(.+)"
)
PAIR_QUESTION = re.compile(
    r"(?i)(?:evidence\s+(?:for\s+)?)?(.+?)\s*(?:\s(?:and|--|with|-)\s|,)\s*(.+)"
)
QUESTION_HELP = (
    'For example "who interacts with GRB2", "GRB2 and SOS1", "strongest", '
    '"network GRB2, SOS1, SHC1", or SQL that begins with SELECT.'
)


EXAMPLE = 'Example: textrank query results "who interacts with GRB2"'


def command(
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
    limit: Annotated[int, typer.Option(help="Largest number of rows.")] = 20,
    json_: Annotated[bool, typer.Option("--json", help="Print one JSON object per row.")] = False,
    csv_: Annotated[bool, typer.Option("--csv", help="Print comma-separated values.")] = False,
) -> None:
    """Search a result: partners, evidence, strongest statements, networks."""
    from textrank.results import store
    from textrank.results.store import Filter

    if _is_sql(question):
        filters = ("type", "status", "probability", "year", "species", "limit")
        refuse_ignored(context, filters, "with a question in SQL", "write it into the SQL")
    if json_:
        refuse_ignored(context, ("csv_",), "with --json", "leave out --json")
    row_filter = Filter(type, status, probability, parse_years(year), species)
    with closing(store.open_results(folder)) as results:
        kind, rows = answer_question(results, question, row_filter, limit)
    _print_rows(kind, rows, "json" if json_ else "csv" if csv_ else "table")


def parse_years(text: str | None) -> tuple[int | None, int | None]:
    """Return the first and last year of a range, None where it is open.

    None gives an open range. Raises ValueError if the text is not a range of years.

    >>> parse_years("1999-2005"), parse_years("1999"), parse_years("-2005")
    ((1999, 2005), (1999, 1999), (None, 2005))
    """
    if text is None:
        return None, None
    match = re.fullmatch(r"(\d{4})?(-)?(\d{4})?", text.strip())
    if not match or not (match[1] or match[3]):
        raise ValueError(f"--year {text!r}: write 1999, 1999-2005, 1999- or -2005.")
    first, dash, last = match.groups()
    return (int(first) if first else None, int(last or (0 if dash else first)) or None)


def answer_question(
    results: Results, question: str, where: Filter, limit: int
) -> tuple[str, Sequence[Row]]:
    """Return the kind of answer ("partners", "statements", "pairs" or "sql") and its rows.

    Raises ValueError if the question is empty.

    Parameters
    ----------
    results
        Result folder to search.
    question
        Short question or SQL; other text is taken as a name whose partners are wanted.
    where
        Filter of the rows; not used for SQL.
    limit
        Largest number of rows; not used for SQL.
    """
    from textrank.results.store import Filter

    text = _normalise_question(question)
    if _is_sql(question):
        return "sql", results.sql(text)
    if names := re.match(r"(?i)network(?:\s+of)?[\s:]+(.+)", text):
        return "pairs", results.network(_split_names(names[1]), where=where)[:limit]
    if re.match(r"(?i)(strongest|best)\b", text):
        return "pairs", results.strongest(limit, where=where)
    if name := PARTNERS_QUESTION.match(text):
        return "partners", results.partners(name[1], where=where, limit=limit)
    if pair := PAIR_QUESTION.fullmatch(text):
        pair_filter = where if where != Filter() else None
        return "statements", results.evidence(pair[1], pair[2], where=pair_filter, limit=limit)
    if not text:
        raise ValueError(f"the question is empty. {QUESTION_HELP}")
    return "partners", results.partners(text, where=where, limit=limit)


def _normalise_question(question: str) -> str:
    """Return the question without surrounding white space and question mark."""
    return question.strip().rstrip("?").strip()


def _is_sql(question: str) -> bool:
    """Return whether a question is SQL.

    It is if it begins with SELECT, WITH, FROM, DESCRIBE or SUMMARIZE, in any case.
    """
    return (
        re.match(r"(?i)(select|with|from|describe|summarize)\b", _normalise_question(question))
        is not None
    )


def _split_names(text: str) -> list[str]:
    """Split names at commas, or at white space if there is no comma; empty ones are dropped."""
    parts = text.split(",") if "," in text else text.split()
    return [part.strip() for part in parts if part.strip()]


def _print_rows(kind: str, rows: Sequence[Row], form: str) -> None:
    """Print rows as "json", "csv" or "table".

    A table has the columns of its ``kind`` in ``SHOWN_COLUMNS``; csv, and tables of other kinds,
    have all keys of the first row.
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
    if kind in SHOWN_COLUMNS:
        columns = SHOWN_COLUMNS[kind].split()
    from rich.console import Console
    from rich.table import Table

    table = Table(*columns, title=f"{len(rows)} rows")
    for row in rows:
        table.add_row(*(_format_cell(row.get(column)) for column in columns))
    Console(width=None if sys.stdout.isatty() else 160).print(table)


def _format_cell(value: Any) -> str:
    """Return a value as text for a table: floats with three digits, None empty, lists joined."""
    if isinstance(value, float):
        return f"{value:.3f}"
    if isinstance(value, list):
        return ", ".join(str(item) for item in value if item is not None)
    return "" if value is None else str(value)
