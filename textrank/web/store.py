"""Statements of any source in DuckDB: a folder of results, JSON lines of ``apply``, a corpus."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import duckdb

from textrank import results

TABLES = ("documents", "names", "statements", "errors")
# What they are called here, beside the views of textrank.results.
OWN = {"documents": "texts", "names": "mentions", "statements": "claims", "errors": "failures"}

# Every column a page may ask for; a source that lacks one gives NULL.
COLUMNS: Mapping[str, Mapping[str, str]] = {
    "documents": {
        "document": "VARCHAR", "source": "VARCHAR", "title": "VARCHAR", "year": "INTEGER",
        "words": "BIGINT", "status": "VARCHAR", "text": "VARCHAR",
    },
    "names": {
        "document": "VARCHAR", "start": "BIGINT", "end": "BIGINT", "name": "VARCHAR",
        "label": "VARCHAR", "id": "VARCHAR", "species": "VARCHAR",
    },
    "statements": {
        "document": "VARCHAR", "start_a": "BIGINT", "end_a": "BIGINT", "start_b": "BIGINT",
        "end_b": "BIGINT", "name_a": "VARCHAR", "name_b": "VARCHAR", "id_a": "VARCHAR",
        "id_b": "VARCHAR", "score": "DOUBLE", "probability": "DOUBLE", "interacts": "BOOLEAN",
        "status": "VARCHAR", "type": "VARCHAR", "direction": "VARCHAR", "trigger": "JSON",
        "sentence_start": "BIGINT", "sentence": "VARCHAR", "source": "VARCHAR",
    },
    "errors": {"source": "VARCHAR", "document": "VARCHAR", "reason": "VARCHAR"},
}  # fmt: skip

BATCH = 2_000  # rows handed to the database at once


@dataclass(frozen=True)
class Store:
    """Documents, names, statements and errors behind one connection; every thread takes a cursor.

    ``pairs`` is a table of the statements without their sentences, small enough to stay in memory
    with a million rows, and with ``key_a`` and ``key_b``: the identifier of a name, or its letters
    and digits where it has none.
    """

    connection: duckdb.DuckDBPyConnection = field(repr=False)
    title: str
    settings: Mapping[str, Any] = field(default_factory=dict)  # of the manifest, where there is one

    def rows(self, sql: str, values: Sequence[Any] = ()) -> list[dict[str, Any]]:
        """The rows of a query by column name."""
        cursor = self.connection.cursor()
        found = cursor.execute(sql, list(values))
        names = [column[0] for column in found.description]
        return [dict(zip(names, row, strict=True)) for row in found.fetchall()]

    def portions(self, sql: str, values: Sequence[Any] = ()) -> Iterator[list[tuple[Any, ...]]]:
        """The rows of a query, a portion in memory at a time."""
        found = self.connection.cursor().execute(sql, list(values))
        while part := found.fetchmany(BATCH):
            yield part

    def value(self, sql: str, values: Sequence[Any] = ()) -> Any:
        """The single value of a query."""
        row = self.connection.cursor().execute(sql, list(values)).fetchone()
        return None if row is None else row[0]


def from_folder(folder: str | Path) -> Store:
    """A results folder: ``manifest.json`` and parts, opened where they lie.

    What ``textrank apply --out`` wrote is read as ``textrank.results`` reads it, replaced and
    deleted documents left out; any other folder of Parquet files with these columns will do.
    """
    path = Path(folder)
    try:
        manifest = json.loads((path / "manifest.json").read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise ValueError(
            f"{path / 'manifest.json'}: not readable ({error}). "
            "Make results with textrank apply MODEL TEXTS --out FOLDER."
        ) from error
    settings = manifest if isinstance(manifest, dict) else {}
    if "columns" in settings:
        connection = results.open(path).connection
        sources = {table: table for table in TABLES}
    else:
        connection = _connect()
        sources = {t: _parts(sorted((path / t).glob("*.parquet"))) for t in TABLES}
    for table, source in sources.items():
        _view(connection, table, source)
    return _indexed(connection, path.name, settings)


def from_rows(tables: Mapping[str, Iterable[Mapping[str, Any]]], title: str) -> Store:
    """Rows of plain values by table, held in memory.

    >>> row = {"document": "d1", "name_a": "SHC", "name_b": "GRB2", "probability": 0.9}
    >>> from_rows({"statements": [row]}, "sample").value("SELECT key_b FROM pairs")
    'grb2'
    """
    connection = _connect()
    for table in TABLES:
        columns = COLUMNS[table]
        kinds = ", ".join(f'"{name}" {kind}' for name, kind in columns.items())
        connection.execute(f"CREATE TABLE {OWN[table]} ({kinds})")
        _insert(connection, table, tables.get(table, ()))
    return _indexed(connection, title, {})


def _connect() -> duckdb.DuckDBPyConnection:
    connection = duckdb.connect(":memory:")
    connection.execute("SET threads = 2")
    return connection


def _insert(
    connection: duckdb.DuckDBPyConnection, table: str, rows: Iterable[Mapping[str, Any]]
) -> None:
    names = list(COLUMNS[table])
    listed = ", ".join(f'"{name}"' for name in names)
    columns = ", ".join("unnest(?)" for _ in names)
    batch: list[Mapping[str, Any]] = []

    def flush() -> None:
        if batch:
            values = [[_plain(name, row.get(name)) for row in batch] for name in names]
            connection.execute(f"INSERT INTO {OWN[table]} ({listed}) SELECT {columns}", values)
            batch.clear()

    for row in rows:
        batch.append(row)
        if len(batch) >= BATCH:
            flush()
    flush()


def _plain(name: str, value: Any) -> Any:
    return json.dumps(value) if name == "trigger" and value is not None else value


def _parts(parts: Sequence[Path]) -> str:
    if not parts:
        return "(SELECT 1) WHERE false"
    listed = ", ".join("'" + str(part).replace("'", "''") + "'" for part in parts)
    return f"read_parquet([{listed}], union_by_name=true)"


def _view(connection: duckdb.DuckDBPyConnection, table: str, source: str) -> None:
    """A view of a source with all columns, those that are missing as NULL."""
    try:
        described = connection.execute(f"DESCRIBE SELECT * FROM {source}").fetchall()
    except duckdb.Error as error:
        raise ValueError(f"{table} of the results cannot be read ({error}).") from error
    known = {row[0] for row in described}
    columns = [_column(name, kind, name in known) for name, kind in COLUMNS[table].items()]
    connection.execute(f"CREATE VIEW {OWN[table]} AS SELECT {', '.join(columns)} FROM {source}")


def _column(name: str, kind: str, known: bool) -> str:
    if not known:
        return f'CAST(NULL AS {kind}) AS "{name}"'
    return f'"{name}"' if kind == "JSON" else f'TRY_CAST("{name}" AS {kind}) AS "{name}"'


# Letters and digits of a name, without case: "IL-2" and "il 2" are one.
_LETTERS = "translate(lower(name_{0}), '-/ ', '')"
_KEY = f"coalesce(nullif(id_{{0}}, ''), nullif({_LETTERS}, ''), '?')"


def _indexed(
    connection: duckdb.DuckDBPyConnection, title: str, settings: Mapping[str, Any]
) -> Store:
    """The tables that pages are made from: pairs, entities and what these are called."""
    keys = {side: _KEY.format(side) for side in "ab"}
    connection.execute(
        """CREATE TABLE species AS
        SELECT id AS key, any_value(species) AS species FROM mentions
        WHERE species IS NOT NULL AND id IS NOT NULL GROUP BY id"""
    )
    connection.execute(
        f"""CREATE TABLE pairs AS
        SELECT row_number() OVER () AS row, s.document, start_a, end_a, start_b, end_b, name_a,
          name_b, id_a, id_b, score, probability, coalesce(interacts, false) AS interacts,
          coalesce(s.status, 'asserted') AS status, coalesce(s.type, 'not typed') AS type,
          coalesce(direction, 'none') AS direction, sentence_start, s.source, d.year,
          {keys["a"]} AS key_a, {keys["b"]} AS key_b, least(key_a, key_b) AS a,
          greatest(key_a, key_b) AS b, coalesce(sa.species, sb.species) AS species
        FROM claims s LEFT JOIN
          (SELECT document, any_value(year) AS year FROM texts GROUP BY document) d
          ON s.document = d.document
        LEFT JOIN species sa ON s.id_a = sa.key LEFT JOIN species sb ON s.id_b = sb.key"""
    )
    connection.execute(
        """CREATE TABLE spellings AS
        SELECT key, name, any_value(id) AS id, count(*) AS times,
          translate(lower(name), '-/ ', '') AS letters
        FROM (SELECT key_a AS key, name_a AS name, id_a AS id FROM pairs UNION ALL
              SELECT key_b, name_b, id_b FROM pairs) GROUP BY key, name"""
    )
    connection.execute(
        """CREATE TABLE entities AS
        SELECT key, arg_max(name, times) AS label, any_value(id) AS id, sum(times) AS times
        FROM spellings GROUP BY key"""
    )
    return Store(connection, title, settings)
