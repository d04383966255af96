"""Questions to a result: who interacts with whom, by which evidence; DuckDB over the parts.

``open`` takes the folder that ``textrank apply --out`` wrote. Only whole parts are looked at, of a
document only its latest version, and none that its publisher deleted.
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, TypeAlias

import duckdb
import spacy
from spacy.tokens import Doc, Span

from textrank.candidates import document_id
from textrank.config import load_corpus

Row: TypeAlias = dict[str, Any]
TABLES = ("documents", "names", "statements", "errors")
STATUS = ("asserted", "negated", "speculated")
ORDERS = {
    "probability": "probability DESC NULLS LAST, score DESC NULLS LAST",
    "score": "score DESC NULLS LAST",
    "year": "year DESC NULLS LAST, probability DESC NULLS LAST",
    "document": "document, start_a, start_b",
}
KINDS = {"int64": "BIGINT", "double": "DOUBLE", "bool": "BOOLEAN", "string": "VARCHAR",
         "ranges": "BIGINT[][]"}  # fmt: skip
LAST = "document, start_a, start_b, source"  # makes every order a total one


@dataclass(frozen=True)
class Filter:
    """Which statements count; what is None does not matter.

    Without ``status`` and ``interacts`` those that say yes: asserted and probable enough.
    ``years`` are first and last. ``species`` is a taxon that one of the two names must have.
    """

    type: str | None = None
    status: str | None = None
    probability: float | None = None  # at least
    years: tuple[int | None, int | None] = (None, None)
    species: str | None = None
    interacts: bool | None = None
    document: str | None = None

    def __post_init__(self) -> None:
        if self.status is not None and self.status not in STATUS:
            raise ValueError(f"status must be one of {', '.join(STATUS)}, got {self.status!r}.")
        if self.probability is not None and not 0 <= self.probability <= 1:
            raise ValueError(f"a probability is between 0 and 1, got {self.probability}.")

    def conditions(self) -> tuple[list[str], list[Any]]:
        """SQL over the columns of statements with their years, and its parameters."""
        wanted = self.interacts
        if wanted is None and self.status is None:
            wanted = True
        first, last = self.years
        found = [
            ("type = ?", self.type),
            ("status = ?", self.status),
            ("probability >= ?", self.probability),
            ("year >= ?", first),
            ("year <= ?", last),
            ("interacts = ?", wanted),
            ("document = ?", self.document),
        ]
        texts = [text for text, value in found if value is not None]
        values = [value for _, value in found if value is not None]
        if self.species is not None:
            texts.append(
                "(id_a IN (SELECT id FROM taxa WHERE species = ?) OR id_b IN "
                "(SELECT id FROM taxa WHERE species = ?))"
            )
            values += [str(self.species)] * 2
        return texts, values


ANY = Filter()


def open_results(folder: str | Path) -> Results:
    """The result of a folder, to be asked."""
    return Results(Path(folder))


class Results:
    """The tables of a result, and the questions people ask of them.

    ``sql`` answers anything else: the views ``documents``, ``names``, ``statements`` and
    ``errors`` hold what counts, ``all_documents`` and so on every version.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.manifest = _manifest(folder)
        self._db = _connection()
        with _named(folder):
            self._views()

    @property
    def connection(self) -> duckdb.DuckDBPyConnection:
        """The database with the views, for tables of one's own beside them."""
        return self._db

    def close(self) -> None:
        """Lets go of the files."""
        self._db.close()

    def sql(self, text: str, values: Sequence[Any] = ()) -> list[Row]:
        """The rows of any query over the views, as dictionaries."""
        with _named(self.folder):
            cursor = self._db.cursor()
            cursor.execute(text, list(values))
            names = [column[0] for column in cursor.description or ()]
            return [dict(zip(names, row, strict=True)) for row in cursor.fetchall()]

    def counts(self) -> Row:
        """How many rows each table has."""
        parts = ", ".join(f"(SELECT count(*) FROM {table}) AS {table}" for table in TABLES)
        return self.sql(f"SELECT {parts}")[0]

    def statements(
        self,
        name: str | None = None,
        other: str | None = None,
        *,
        where: Filter = ANY,
        order: str = "probability",
        limit: int | None = 100,
        offset: int = 0,
    ) -> list[Row]:
        """Statements, the most probable first; with a name or identifier, those about it."""
        if order not in ORDERS:
            raise ValueError(f"order must be one of {', '.join(ORDERS)}, got {order!r}.")
        texts, values = self._conditions(name, other, where)
        return self.sql(
            f"SELECT * FROM dated {_where(texts)} ORDER BY {ORDERS[order]}, {LAST} "
            "LIMIT ? OFFSET ?",
            [*values, limit, offset],
        )

    def count(
        self, name: str | None = None, other: str | None = None, *, where: Filter = ANY
    ) -> int:
        """How many statements there are of a kind."""
        texts, values = self._conditions(name, other, where)
        rows = self.sql(f"SELECT count(*) AS n FROM dated {_where(texts)}", values)
        return int(rows[0]["n"])

    def strongest(self, limit: int = 20, *, where: Filter = ANY) -> list[Row]:
        """The pairs with the best evidence in all documents, best first.

        ``probability`` is that at least one statement holds if they were independent,
        ``1 - prod(1 - p)``; ``best`` that of the strongest.
        """
        texts, values = self._conditions(None, None, where)
        return self.sql(_PAIRS.format(where=_where(texts)) + " LIMIT ?", [*values, limit])

    def partners(self, name: str, *, where: Filter = ANY, limit: int | None = 50) -> list[Row]:
        """Who interacts with a name or identifier: a row a partner, best first."""
        texts, values = self._conditions(name, None, where)
        match, own = self._match(name, "a")
        query = _PARTNERS.format(where=_where(texts), own=match)
        return self.sql(query + " LIMIT ?", [*own, *own, *values, limit])

    def evidence(
        self, name: str, other: str, *, where: Filter | None = None, limit: int | None = 100
    ) -> list[Row]:
        """All statements about two names, negated and speculated ones too, best first."""
        texts, values = self._conditions(name, other, where or ANY, every=where is None)
        return self.sql(
            f"SELECT * FROM dated {_where(texts)} ORDER BY {ORDERS['probability']}, {LAST} LIMIT ?",
            [*values, limit],
        )

    def network(self, names: Sequence[str], *, where: Filter = ANY) -> list[Row]:
        """The pairs among some names or identifiers, a row a pair, best first."""
        texts, values = where.conditions()
        for side in "ab":
            either = [self._match(name, side) for name in names]
            texts.append("(" + " OR ".join(text for text, _ in either) + ")" if either else "false")
            values += [value for _, own in either for value in own]
        return self.sql(_PAIRS.format(where=_where(texts)), values)

    def document(self, document: str) -> Row:
        """A document with its names and statements; empty where there is none of this id."""
        found = self.sql("SELECT * FROM documents WHERE document = ?", [document])
        if not found:
            return {}
        names = self.sql('SELECT * FROM names WHERE document = ? ORDER BY start, "end"', [document])
        every = self.sql(f"SELECT * FROM dated WHERE document = ? ORDER BY {LAST}", [document])
        return {**found[0], "names": names, "statements": every}

    def errors(self) -> list[Row]:
        """What could not be read or judged."""
        return self.sql("SELECT * FROM errors ORDER BY source, document")

    def _conditions(
        self, name: str | None, other: str | None, where: Filter, *, every: bool = False
    ) -> tuple[list[str], list[Any]]:
        texts, values = ([], []) if every else where.conditions()
        if name is None:
            return texts, values
        a, of_a = self._match(name, "a")
        b, of_b = self._match(name, "b")
        if other is None:
            return [*texts, f"({a} OR {b})"], [*values, *of_a, *of_b]
        c, of_c = self._match(other, "b")
        d, of_d = self._match(other, "a")
        both = f"(({a} AND {c}) OR ({d} AND {b}))"
        return [*texts, both], [*values, *of_a, *of_c, *of_d, *of_b]

    def _match(self, name: str, side: str) -> tuple[str, list[Any]]:
        """SQL for one side of a statement being what a name or identifier stands for."""
        identifiers = [name] if ":" in name else self._identifiers(name)
        text, values = f"lower(name_{side}) = ?", [name.lower()]
        if not identifiers:
            return text, values
        marks = ", ".join("?" * len(identifiers))
        return f"({text} OR id_{side} IN ({marks}))", [*values, *identifiers]

    def _identifiers(self, name: str) -> list[str]:
        """What a name mostly stands for here: its commonest identifier, if it has any."""
        rows = self.sql(
            "SELECT id, count(*) AS n FROM names WHERE lower(name) = ? AND id IS NOT NULL "
            "GROUP BY id ORDER BY n DESC, id LIMIT 1",
            [name.lower()],
        )
        return [row["id"] for row in rows]

    def _views(self) -> None:
        files = {table: _files(self.folder, table, self._format) for table in TABLES}
        if not files["documents"]:
            raise ValueError(f"{self.folder}: no part is finished yet. Run textrank apply --out.")
        for table, paths in files.items():
            self._db.execute(f"CREATE VIEW all_{table} AS {self._read(table, paths)}")
        for statement in _CURRENT:
            self._db.execute(statement)
        changed = self._db.execute("SELECT count(*) FROM stale").fetchone()
        for table in TABLES[:3]:
            rest = "" if not changed or not changed[0] else _FRESH.format(table=f"all_{table}")
            self._db.execute(
                f"CREATE VIEW {table} AS SELECT * EXCLUDE (part) FROM all_{table} {rest}"
            )
        self._db.execute("CREATE VIEW errors AS SELECT * EXCLUDE (part) FROM all_errors")
        self._db.execute(_DATED)
        self._db.execute(_TAXA)

    @cached_property
    def _format(self) -> str:
        return str(self.manifest["settings"].get("format", "parquet"))

    def _read(self, table: str, paths: Sequence[str]) -> str:
        shown = ", ".join("'" + path.replace("'", "''") + "'" for path in paths)
        if self._format == "parquet":
            source = f"read_parquet([{shown}], filename = true)"
        else:
            columns = self.manifest["columns"][table].items()
            spec = ", ".join(f"'{name}': '{KINDS[kind]}'" for name, kind in columns)
            source = (
                f"read_json([{shown}], format = 'newline_delimited', columns = {{{spec}}}, "
                "filename = true)"
            )
        return f"SELECT * EXCLUDE (filename), parse_filename(filename, true) AS part FROM {source}"


# A document is replaced by a later one of the same id, where files state ids; see the manual.
_CURRENT = (
    """CREATE TABLE stale AS
    SELECT document, part FROM (
        SELECT document, part, status, row_number() OVER (
            PARTITION BY document, CASE WHEN replaces THEN '' ELSE source END
            ORDER BY input DESC, position DESC) AS age
        FROM all_documents
        WHERE document IN (
            SELECT document FROM all_documents GROUP BY document
            HAVING count(*) > 1 OR bool_or(status = 'deleted')))
    WHERE age > 1 OR status = 'deleted'""",
)
_FRESH = """WHERE NOT EXISTS (SELECT 1 FROM stale
    WHERE stale.document = {table}.document AND stale.part = {table}.part)"""
_DATED = """CREATE VIEW dated AS SELECT statements.*, about.year, about.title FROM statements
    LEFT JOIN documents AS about USING (document, source)"""  # one row each: others are stale
_TAXA = """CREATE VIEW taxa AS SELECT DISTINCT id, species FROM names
    WHERE id IS NOT NULL AND species IS NOT NULL"""
_KEY_A, _KEY_B = "coalesce(id_a, lower(name_a))", "coalesce(id_b, lower(name_b))"
_FIGURES = """count(*) AS statements, count(DISTINCT document) AS documents,
    1 - exp(sum(ln(greatest(1 - coalesce(probability, 0), 1e-12)))) AS probability,
    max(probability) AS best, list_sort(list(DISTINCT type)) AS types,
    min(year) AS first_year, max(year) AS last_year"""
_PAIRS = f"""SELECT mode(CASE WHEN {_KEY_A} <= {_KEY_B} THEN name_a ELSE name_b END) AS name_a,
    mode(CASE WHEN {_KEY_A} <= {_KEY_B} THEN name_b ELSE name_a END) AS name_b,
    any_value(CASE WHEN {_KEY_A} <= {_KEY_B} THEN id_a ELSE id_b END) AS id_a,
    any_value(CASE WHEN {_KEY_A} <= {_KEY_B} THEN id_b ELSE id_a END) AS id_b,
    {_FIGURES} FROM dated {{where}}
    GROUP BY least({_KEY_A}, {_KEY_B}), greatest({_KEY_A}, {_KEY_B})
    ORDER BY probability DESC, statements DESC, name_a, name_b"""
_PARTNERS = f"""SELECT mode(partner) AS name, any_value(id) AS id, {_FIGURES}
    FROM (SELECT *, CASE WHEN {{own}} THEN name_b ELSE name_a END AS partner,
        CASE WHEN {{own}} THEN id_b ELSE id_a END AS id FROM dated {{where}})
    GROUP BY coalesce(id, lower(partner))
    ORDER BY probability DESC, statements DESC, name"""


def _where(texts: Sequence[str]) -> str:
    return f"WHERE {' AND '.join(texts)}" if texts else ""


def _manifest(folder: Path) -> Mapping[str, Any]:
    file = folder / "manifest.json"
    try:
        return _checked(json.loads(file.read_text(encoding="utf-8")))
    except FileNotFoundError:
        raise ValueError(
            f"{folder}: no manifest.json, so this is no result. textrank apply --out makes one."
        ) from None
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
        raise ValueError(f"{file}: damaged ({error!s:.200}). Restore it.") from error


def _checked(manifest: Any) -> Mapping[str, Any]:
    """The manifest, if its tables are those of a result: what it says becomes part of questions."""
    if manifest["settings"].get("format", "parquet") not in ("parquet", "jsonl"):
        raise ValueError("format is neither parquet nor jsonl")
    for table in TABLES:
        for name, kind in manifest["columns"][table].items():
            if not name.isidentifier() or kind not in KINDS:
                raise ValueError(f"column {name!r} of {table} is of no kind that is known")
    return dict(manifest)


@contextmanager
def _named(folder: Path) -> Iterator[None]:
    """What DuckDB cannot do, as an error that says with which result."""
    import duckdb

    try:
        yield
    except duckdb.Error as error:
        reason = " ".join(str(error).split())
        raise ValueError(
            f"{folder}: {reason:.400}. Mend the question; where a part is damaged, remove its file "
            "in documents and run textrank apply --out again."
        ) from error


def _files(folder: Path, table: str, format: str) -> list[str]:
    """The files of a table in parts that are whole, that is, have their documents."""
    known = sorted(file.name for file in (folder / "documents").glob(f"*.{format}"))
    return [str(folder / table / name) for name in known]


def _connection() -> duckdb.DuckDBPyConnection:
    try:
        import duckdb
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError(
            "questions to a result need DuckDB. Install it with: pip install "
            "'textrank-kernels[scale]'"
        ) from error
    return duckdb.connect(":memory:")


# What they are called here, beside the views of textrank.results.store.
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

    What ``textrank apply --out`` wrote is read as ``textrank.results.store`` reads it, replaced and
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
        connection = open_results(path).connection
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


PREFIX = "textrank_"  # before the name of a task in a line of apply
TASK = "textrank_ppi"


def open_store(path: str | Path) -> Store:
    """The statements of a path, whatever it holds."""
    source = Path(path)
    if not source.exists():
        raise ValueError(f"{source}: no such file or folder. Name results, JSON lines or a corpus.")
    if source.is_dir() and (source / "manifest.json").is_file():
        return from_folder(source)
    if source.is_file() and _of_apply(source):
        return from_rows(_of_lines(source), source.name)
    return from_rows(_of_corpus(source), source.name)


def _of_apply(path: Path) -> bool:
    """Whether the first line is one of ``apply``."""
    try:
        with _open(path) as stream:
            first = json.loads(stream.readline(1 << 24))
    except (OSError, UnicodeDecodeError, json.JSONDecodeError, RecursionError):
        return False
    return isinstance(first, dict) and any(key.startswith(PREFIX) for key in first)


def _open(path: Path) -> Any:
    opened = gzip.open if path.suffix == ".gz" else open
    return opened(path, "rt", encoding="utf-8")


def _of_lines(path: Path) -> dict[str, list[dict[str, Any]]]:
    documents, statements = [], []
    with _open(path) as stream:
        for number, line in enumerate(stream, 1):
            if not line.strip():
                continue
            row = _line(line, f"{path}, line {number}")
            document = str(row.get("document", number))
            documents.append({"document": document, "source": path.name, "status": "done"})
            statements += [
                _statement(found, document, path.name, f"{path}, line {number}")
                for found in row[TASK] or ()
            ]
    return {"documents": documents, "statements": statements}


def _line(line: str, place: str) -> dict[str, Any]:
    try:
        row = json.loads(line)
    except json.JSONDecodeError as error:
        raise ValueError(f"{place}: not JSON ({error.msg}). Apply the model again.") from None
    if not isinstance(row, dict) or not isinstance(row.get(TASK, 0), list | None):
        raise ValueError(
            f"{place}: no {TASK!r}. explore shows interactions, as textrank apply ppi gives them."
        )
    return row


def _statement(found: Mapping[str, Any], document: str, source: str, place: str) -> dict[str, Any]:
    """A row of ``apply ppi`` with the columns of a store."""
    try:
        (start_a, end_a), (start_b, end_b) = found["spans"]
        name_a, name_b = found["names"]
        sentence = str(found.get("sentence", ""))
    except (KeyError, TypeError, ValueError) as error:
        raise ValueError(f"{place}: a pair without names or spans ({error!r}).") from None
    id_a, id_b = found.get("identifiers") or (None, None)
    kept = ("score", "probability", "interacts", "status", "type", "direction", "trigger")
    spans = [(start_a, end_a), (start_b, end_b)]
    return {
        **{key: found.get(key) for key in kept},
        "document": document, "source": source, "sentence": sentence,
        "start_a": start_a, "end_a": end_a, "start_b": start_b, "end_b": end_b,
        "name_a": name_a, "name_b": name_b, "id_a": id_a, "id_b": id_b,
        "sentence_start": sentence_start(sentence, [name_a, name_b], spans),
    }  # fmt: skip


def sentence_start(
    sentence: str, names: Sequence[str], spans: Sequence[tuple[int, int]]
) -> int | None:
    """Where a sentence begins in its document, from names whose place in both is known.

    >>> sentence_start("SHC binds GRB2.", ["SHC", "GRB2"], [(40, 43), (50, 54)])
    40
    """
    at = sentence.find(names[0])
    while at >= 0:
        start = spans[0][0] - at
        found = [sentence[max(a - start, 0) : max(b - start, 0)] for a, b in spans]
        if found == list(names):
            return start
        at = sentence.find(names[0], at + 1)
    return None


def _of_corpus(path: Path) -> dict[str, list[dict[str, Any]]]:
    tables: dict[str, list[dict[str, Any]]] = {"documents": [], "names": [], "statements": []}
    for number, doc in enumerate(load_corpus(path)(spacy.blank("en"))):
        document = document_id(doc, number)
        tables["documents"].append(
            {"document": document, "source": path.name, "words": len(doc), "status": "gold",
             "text": doc.text, "title": _title(doc)}
        )  # fmt: skip
        spans = {span.id_: span for span in doc.spans.get("entities", ())}
        tables["names"] += [
            {"document": document, "start": s.start_char, "end": s.end_char, "name": s.text,
             "label": s.label_, "id": s.kb_id_ or None} for s in spans.values()
        ]  # fmt: skip
        tables["statements"] += _gold(doc, document, spans, path.name)
    return tables


def _title(doc: Doc) -> str:
    return next((sentence.text.strip() for sentence in doc.sents), "") if len(doc) else ""


def _gold(
    doc: Doc, document: str, spans: Mapping[str, Span], source: str
) -> Iterator[dict[str, Any]]:
    """What a corpus says of pairs of its names, as statements that are certain."""
    for row in doc.user_data.get("gold", ()):
        pair = [spans[end] for end in row.get("entities", ()) if end in spans]
        if len(pair) != 2:
            continue
        a, b = sorted(pair, key=lambda span: span.start)
        start = min(a.sent.start_char, b.sent.start_char)
        end = max(a.sent.end_char, b.sent.end_char)
        says = bool(row.get("label"))
        yield {
            "document": document, "source": source, "sentence": doc.text[start:end],
            "sentence_start": start, "start_a": a.start_char, "end_a": a.end_char,
            "start_b": b.start_char, "end_b": b.end_char, "name_a": a.text, "name_b": b.text,
            "id_a": a.kb_id_ or None, "id_b": b.kb_id_ or None,
            "probability": 1.0 if says else 0.0, "interacts": says, "type": row.get("type"),
            "status": row.get("status", "asserted"),
        }  # fmt: skip
