"""``textrank query``: questions to a result in a few words, or in SQL."""

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
    from textrank.results.store import Filter, Results, Row

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
    'Such as "who interacts with GRB2", "GRB2 and SOS1", "strongest", "network GRB2, SOS1, SHC1", '
    "or SQL that begins with SELECT."
)


EXAMPLE = 'Example: textrank query results "who interacts with GRB2"'


def command(
    context: typer.Context,
    folder: Annotated[Path, typer.Argument(help="What textrank apply --out wrote.")],
    question: Annotated[str, typer.Argument(help=QUESTION_HELP)],
    type: Annotated[str | None, typer.Option(help="binding, phosphorylation, ...")] = None,
    status: Annotated[str | None, typer.Option(help="asserted, negated or speculated.")] = None,
    probability: Annotated[float | None, typer.Option(help="At least this.")] = None,
    year: Annotated[str | None, typer.Option(help="1999, 1999-2005, 1999- or -2005.")] = None,
    species: Annotated[str | None, typer.Option(help="A taxon, as 9606.")] = None,
    limit: Annotated[int, typer.Option(help="Rows at most.")] = 20,
    json_: Annotated[bool, typer.Option("--json", help="A JSON line a row.")] = False,
    csv_: Annotated[bool, typer.Option("--csv", help="Comma-separated values.")] = False,
) -> None:
    """Answers a question to a result: partners, evidence, strongest statements, networks."""
    from textrank.results import store
    from textrank.results.store import Filter

    if _is_sql(question):
        filters = ("type", "status", "probability", "year", "species", "limit")
        refuse_ignored(context, filters, "with a question in SQL", "write it into the SQL")
    if json_:
        refuse_ignored(context, ("csv_",), "with --json", "leave out --json")
    where = Filter(type, status, probability, parse_years(year), species)
    with closing(store.open_results(folder)) as found:
        kind, rows = answer_question(found, question, where, limit)
    _print(kind, rows, "json" if json_ else "csv" if csv_ else "table")


def parse_years(text: str | None) -> tuple[int | None, int | None]:
    """The first and the last year of a range.

    >>> parse_years("1999-2005"), parse_years("1999"), parse_years("-2005")
    ((1999, 2005), (1999, 1999), (None, 2005))
    """
    if text is None:
        return None, None
    found = re.fullmatch(r"(\d{4})?(-)?(\d{4})?", text.strip())
    if not found or not (found[1] or found[3]):
        raise ValueError(f"--year {text!r}: write 1999, 1999-2005, 1999- or -2005.")
    first, dash, last = found.groups()
    return (int(first) if first else None, int(last or (0 if dash else first)) or None)


def answer_question(
    found: Results, question: str, where: Filter, limit: int
) -> tuple[str, list[Row]]:
    """The kind of answer a question wants, and its rows."""
    from textrank.results.store import Filter

    text = _plain(question)
    if _is_sql(question):
        return "sql", found.sql(text)
    if names := re.match(r"(?i)network(?:\s+of)?[\s:]+(.+)", text):
        return "pairs", found.network(_names(names[1]), where=where)[:limit]
    if re.match(r"(?i)(strongest|best)\b", text):
        return "pairs", found.strongest(limit, where=where)
    if name := PARTNERS_QUESTION.match(text):
        return "partners", found.partners(name[1], where=where, limit=limit)
    if two := PAIR_QUESTION.fullmatch(text):
        asked = where if where != Filter() else None
        return "statements", found.evidence(two[1], two[2], where=asked, limit=limit)
    if not text:
        raise ValueError(
            f"an empty question. Ask something {QUESTION_HELP[0].lower()}{QUESTION_HELP[1:]}"
        )
    return "partners", found.partners(text, where=where, limit=limit)


def _plain(question: str) -> str:
    return question.strip().rstrip("?").strip()


def _is_sql(question: str) -> bool:
    return re.match(r"(?i)(select|with|from|describe|summarize)\b", _plain(question)) is not None


def _names(text: str) -> list[str]:
    parts = text.split(",") if "," in text else text.split()
    return [part.strip() for part in parts if part.strip()]


def _print(kind: str, rows: Sequence[Row], form: str) -> None:
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
        table.add_row(*(_cell(row.get(column)) for column in columns))
    Console(width=None if sys.stdout.isatty() else 160).print(table)


def _cell(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:.3f}"
    if isinstance(value, list):
        return ", ".join(str(item) for item in value if item is not None)
    return "" if value is None else str(value)
