"""Result folders in DuckDB: the data behind ``textrank query`` and ``textrank explore``.

The module has three parts:

* the definition of a fact (``textrank.tasks.ppi.facts``) as SQL, ``FactTable``;
* ``Results``, which queries a folder that ``textrank apply --out`` wrote. Only complete parts are
  read, and of each document only the latest version, unless its publisher deleted it;
* ``Store``, the tables behind the pages of ``textrank explore``, built from a result folder, the
  JSON lines of ``textrank apply`` or the gold annotation of a corpus (``open_store``).

A *statement* is a judged pair of names in a sentence. An *entity key* is the identifier of a name,
or its normalised spelling if it has no identifier. A *fact* is all evidence (statements that count)
about the same two entity keys ``a <= b``. The view or table ``keyed`` has the statements with the
columns that ``keyed_statements`` adds.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from threading import Timer
from typing import Any, TypeAlias, TypedDict

import spacy
from spacy.tokens import Doc, Span

from textrank.candidates import document_id
from textrank.config import NamedCorpus, load_corpus
from textrank.io import check_utf8, find_input, iter_lines, load_json
from textrank.io.reading import MAX_UNPACK_RATIO
from textrank.results.schema import FORMATS, StatementRow
from textrank.results.schema import TABLES as TABLE_COLUMNS
from textrank.tasks.ppi.facts import MIN_PROBABILITY, UNTYPED, find_conflicts, find_standing

try:
    import duckdb
except ModuleNotFoundError as error:
    raise ModuleNotFoundError(
        "questions to results need DuckDB. Install it with: pip install 'textrank-kernels[scale]'"
    ) from error

Row: TypeAlias = dict[str, Any]
Fetch: TypeAlias = Callable[[str, Sequence[Any]], list[Row]]  # rows of a query and its parameters
TABLES = ("documents", "names", "statements", "errors")
SQL_TYPES = {
    "int64": "BIGINT",
    "double": "DOUBLE",
    "bool": "BOOLEAN",
    "string": "VARCHAR",
    "ranges": "BIGINT[][]",
}

# Limits of a database. A part may unpack to this multiple of its size, as in textrank.io.reading.
MIN_MEMORY_BYTES = 1 << 30
MAX_SQL_ROWS = 1_000_000  # of a user's query
MAX_SQL_SECONDS = 300.0  # of a user's query


# Facts in SQL. Any change here belongs in textrank.tasks.ppi.facts too; a test compares the two.


class FactRow(TypedDict):
    """Aggregated statements about two entities; see ``textrank.tasks.ppi.facts``.

    If no statement about the two entities is evidence, ``statements`` is 0.
    """

    a: str  # entity keys, a <= b
    b: str
    name_a: str
    name_b: str
    id_a: str | None
    id_b: str | None
    probability: float
    type: str
    direction: str
    status: str
    standing: str  # likely, negated, speculated or unlikely
    conflicts: list[str]  # of sign, direction and status
    statements: int  # evidence
    documents: int  # with evidence
    papers: int  # documents with asserted evidence
    asserted: int
    negated: int
    speculated: int
    sentences: int  # all statements, evidence or not
    best: float | None  # largest probability of a single statement, evidence or not
    types: list[str]  # of the evidence that votes on the type, by decreasing weight
    directions: list[str]  # likewise
    statuses: list[str]  # of the evidence, by decreasing weight
    first_year: int | None
    last_year: int | None


def normalized_name(expression: str) -> str:
    """Return an SQL expression for a text in lower case without hyphens, slashes and spaces.

    ``expression`` is the SQL expression of the text.
    """
    return f"translate(lower({expression}), '-/ ', '')"


def _entity_key(side: str) -> str:
    """Return an SQL expression for the entity key of one name of a statement.

    ``side`` is "a" or "b". The key is the identifier, or else the normalised name, or "?" if that
    is empty, as in ``textrank.tasks.ppi.facts.entity_key``.
    """
    name = normalized_name(f"name_{side}")
    return f"coalesce(nullif(id_{side}, ''), nullif({name}, ''), '?')"


def keyed_statements(source: str) -> str:
    """Return a query for statements with the columns from which facts are aggregated.

    ``source`` is the name of a table or a query in parentheses. NULL becomes false in
    ``interacts``, 'asserted' in ``status``, ``UNTYPED`` in ``type`` and 'none' in ``direction``.
    New columns: ``key_a`` and ``key_b`` (entity keys), ``a`` and ``b`` (the two keys sorted), ``p``
    (the probability, or if it is NULL 1 for an interaction and 0 otherwise), ``fact_direction``
    (relative to ``a`` and ``b``) and ``is_evidence``. A statement about two different entities is
    evidence if it is asserted and interacts, or if it is negated or speculated and ``p`` is at
    least ``MIN_PROBABILITY``.
    """
    return f"""
    SELECT *, least(key_a, key_b) AS a, greatest(key_a, key_b) AS b,
      key_a <> key_b AND CASE WHEN status = 'asserted' THEN interacts
        ELSE p >= {MIN_PROBABILITY} END AS is_evidence,
      CASE WHEN key_a <= key_b THEN direction WHEN direction = 'a>b' THEN 'b>a'
        WHEN direction = 'b>a' THEN 'a>b' ELSE direction END AS fact_direction
    FROM (SELECT * REPLACE (coalesce(interacts, false) AS interacts,
        coalesce(status, 'asserted') AS status, coalesce(type, '{UNTYPED}') AS type,
        coalesce(direction, 'none') AS direction),
      {_entity_key("a")} AS key_a, {_entity_key("b")} AS key_b,
      coalesce(probability, CASE WHEN interacts THEN 1 ELSE 0 END) AS p FROM {source})"""


def spellings(keyed: str, where: str = "true") -> str:
    """Return a query that counts how often each entity has each spelling in statements.

    Columns: ``key``, ``name``, ``id``, ``times``, ``letters`` (the normalised name). ``keyed`` is
    the name of a table or view with the columns of ``keyed_statements``; ``where`` is an SQL
    condition on ``key`` and ``name``, which may have parameters.
    """
    return f"""
    SELECT key, name, max(nullif(id, '')) AS id, count(*) AS times,
      {normalized_name("name")} AS letters
    FROM (SELECT key_a AS key, name_a AS name, id_a AS id FROM {keyed} UNION ALL
          SELECT key_b, name_b, id_b FROM {keyed}) WHERE {where} GROUP BY key, name"""


def entities(source: str) -> str:
    """Return a query with one row per entity: ``key``, ``label``, ``id`` and ``times``.

    ``source`` is a table or a query in parentheses with the columns of ``spellings``. The label is
    the most frequent spelling; of equally frequent ones the alphabetically first.
    """
    return f"""
    SELECT key, first(name ORDER BY times DESC, name) AS label, max(id) AS id,
      sum(times)::BIGINT AS times FROM {source} GROUP BY key"""


_AGGREGATE = """
WITH chosen AS {materialized} (
  SELECT a, b, document, is_evidence, status, type, fact_direction, p,
    coalesce(fact, p) AS pooled, probability, year,
    CASE WHEN key_a = a THEN name_a ELSE name_b END AS first_name FROM {keyed} WHERE {where}),
by_document AS (
  SELECT a, b, coalesce(max(pooled) FILTER (is_evidence AND status = 'asserted'), 0) AS p,
    count(*) AS sentences, count(*) FILTER (is_evidence) AS statements,
    count(*) FILTER (is_evidence AND status = 'asserted') AS asserted,
    count(*) FILTER (is_evidence AND status = 'negated') AS negated,
    count(*) FILTER (is_evidence AND status = 'speculated') AS speculated,
    max(probability) AS best, min(year) AS first_year, max(year) AS last_year,
    min(lower(first_name)) AS first_name
  FROM chosen GROUP BY a, b, document),
facts AS {materialized} (
  SELECT a, b, 1 - product(1 - p) AS probability, sum(sentences)::BIGINT AS sentences,
    sum(statements)::BIGINT AS statements, count(*) FILTER (statements > 0) AS documents,
    count(*) FILTER (asserted > 0) AS papers, sum(asserted)::BIGINT AS asserted,
    sum(negated)::BIGINT AS negated,
    sum(speculated)::BIGINT AS speculated, max(best) AS best, min(first_year) AS first_year,
    max(last_year) AS last_year, min(first_name) AS first_name
  FROM by_document GROUP BY a, b HAVING {having})"""
_FACTS = f"""{{aggregate}},
voters AS (
  SELECT c.a, c.b, c.type, c.fact_direction, c.status, c.p,
    c.status = 'asserted' OR facts.asserted = 0 AS votes_on_relation
  FROM chosen c JOIN facts ON c.a = facts.a AND c.b = facts.b WHERE c.is_evidence),
votes AS (
  SELECT a, b, 'type' AS attribute, type AS value, p FROM voters WHERE votes_on_relation
  UNION ALL SELECT a, b, 'direction', fact_direction, p FROM voters WHERE votes_on_relation
  UNION ALL SELECT a, b, 'status', status, p FROM voters),
ranked AS (
  SELECT a, b, attribute, list(value ORDER BY round(weight, 9) DESC, value) AS choices
  FROM (SELECT a, b, attribute, value, sum(p) AS weight FROM votes GROUP BY ALL) GROUP BY ALL),
winners AS (
  SELECT a, b, any_value(choices) FILTER (attribute = 'type') AS types,
    any_value(choices) FILTER (attribute = 'direction') AS directions,
    any_value(choices) FILTER (attribute = 'status') AS statuses FROM ranked GROUP BY a, b)
SELECT facts.* EXCLUDE (first_name), coalesce(types[1], '{UNTYPED}') AS type,
  coalesce(directions[1], 'none') AS direction, coalesce(statuses[1], 'asserted') AS status,
  coalesce(types, []) AS types, coalesce(directions, []) AS directions,
  coalesce(statuses, []) AS statuses
FROM facts LEFT JOIN winners ON facts.a = winners.a AND facts.b = winners.b
ORDER BY {{order}}"""

# Sums of columns in a condition for HAVING; the table of facts has columns of the same names.
_SUM = re.compile(r"\bsum\((\w+)\)")
FACT_ORDER = "round(probability, 9) DESC, best DESC NULLS LAST, a, b"


@dataclass(frozen=True)
class FactTable:
    """Table of statements in a database that aggregates them to facts on demand.

    ``fetch(sql, parameters)`` returns rows. ``keyed`` is the name of a table or view with the
    columns of ``keyed_statements`` and ``year``. ``labels`` is a query for ``key``, ``label`` and
    ``id`` of entities; its only parameter is the list of their keys.
    """

    fetch: Fetch
    keyed: str
    labels: str

    def select(
        self,
        where: str = "is_evidence",
        values: Sequence[Any] = (),
        *,
        having: str = "true",
        order: str = FACT_ORDER,
        limit: int | None = None,
        offset: int = 0,
    ) -> list[FactRow]:
        """Aggregate statements to facts, as ``textrank.tasks.ppi.facts`` defines them.

        ``where`` is an SQL condition on statements: only statements that fulfil it are aggregated.
        ``values`` are its parameters. ``having`` is a condition on facts without parameters, such
        as ``sum(asserted) > 0`` (some evidence is asserted). ``order`` must end with ``a, b``, so
        that no facts tie. ``limit`` None returns all facts; ``offset`` is then ignored.
        """
        if limit is not None:
            # Only the columns of the order are aggregated for all facts, the rest for those shown.
            aggregate = self.aggregate_sql(where, having)
            sql = f"{aggregate} SELECT a, b FROM facts ORDER BY {order} LIMIT ? OFFSET ?"
            ends = self.fetch(sql, [*values, limit, offset])
            where = f"({where}) AND (a, b) IN (SELECT unnest(?), unnest(?))"
            values = [*values, [row["a"] for row in ends], [row["b"] for row in ends]]
        sql = _FACTS.format(
            aggregate=self.aggregate_sql(where, having, materialized="MATERIALIZED"),
            order=order.removesuffix("a, b") + "facts.a, facts.b",
        )
        rows = self.fetch(sql, values)
        keys = sorted({row[side] for row in rows for side in "ab"})
        labels = {row["key"]: row for row in self.fetch(self.labels, [keys])} if keys else {}
        return [_named_fact(row, labels) for row in rows]

    def count(self, where: str, values: Sequence[Any] = (), *, having: str = "true") -> int:
        """Return how many facts ``select`` returns with these arguments and no limit.

        ``where`` is required here.
        """
        aggregate = self.aggregate_sql(where, having)
        return int(self.fetch(f"{aggregate} SELECT count(*) AS n FROM facts", values)[0]["n"])

    def count_each(
        self, where: str, values: Sequence[Any], conditions: Mapping[str, str]
    ) -> dict[str, int]:
        """Return how many facts fulfil each of several conditions, counted in one query.

        ``conditions`` maps any names to conditions like ``having`` of ``select``; the result maps
        the same names to counts. ``where`` and ``values`` are those of ``select``.
        """
        on_facts = [_SUM.sub(r"\1", condition) for condition in conditions.values()]
        counts = ", ".join(
            f"count(*) FILTER ({condition}) AS n{number}"
            for number, condition in enumerate(on_facts)
        )
        row = self.fetch(f"{self.aggregate_sql(where, 'true')} SELECT {counts} FROM facts", values)
        return dict(zip(conditions, map(int, row[0].values()), strict=True))

    def aggregate_sql(self, where: str, having: str, materialized: str = "NOT MATERIALIZED") -> str:
        """Return the WITH clause that defines the table ``facts``, to be followed by a SELECT.

        It defines ``chosen`` (the statements in ``where``), ``by_document`` and ``facts`` (one row
        per pair that fulfils ``having``), and takes the parameters of ``where`` once.
        ``materialized`` is "MATERIALIZED" to compute a table only once if it is used several times,
        or "NOT MATERIALIZED" to compute only the columns that are used.
        """
        return _AGGREGATE.format(
            keyed=self.keyed, where=where, having=having, materialized=materialized
        )


def _named_fact(row: Row, labels: Mapping[str, Row]) -> FactRow:
    """Complete a row of the query ``_FACTS`` with names, ids, standing and conflicts.

    ``labels`` maps an entity key to a row with ``label`` and ``id``. Raises KeyError if a key of
    the fact is missing.
    """
    names = {f"name_{side}": labels[row[side]]["label"] for side in "ab"}
    ids = {f"id_{side}": labels[row[side]]["id"] for side in "ab"}
    verdict = {
        "standing": find_standing(row["probability"], row),
        "conflicts": find_conflicts(row["types"], row["directions"], row["statuses"]),
    }
    fact: Any = {"a": row["a"], "b": row["b"], **names, **ids, **row, **verdict}
    return fact


# Conditions on aggregated facts, for ``having``; ``find_standing`` has the definition.
_LIKELY = f"(sum(asserted) > 0 AND probability >= {MIN_PROBABILITY})"
STANDINGS: Mapping[str, str] = {
    "likely": _LIKELY,
    "negated": f"(NOT {_LIKELY} AND sum(negated) > 0)",
    "speculated": f"(NOT {_LIKELY} AND sum(negated) = 0 AND sum(speculated) > 0)",
    "unlikely": f"(NOT {_LIKELY} AND sum(negated) = 0 AND sum(speculated) = 0)",
}


def find_entity_keys(fetch: Fetch, source: str, name: str) -> list[str]:
    """Return the sorted keys of the entities that a name or identifier stands for.

    These are entities with this spelling (ignoring case, hyphens, slashes and spaces) or this
    identifier, and genes of any species with this symbol in the shipped tables. Only if there are
    none, genes that have the name as a synonym are returned.

    Parameters
    ----------
    fetch, source
        Function that runs a query, and a table with the columns of ``spellings`` or a query for it
        in parentheses.
    name
        Name, symbol, synonym or identifier. [] if no entity is found.
    """
    by_symbol, by_synonym = _look_up_identifiers(name)
    sql = (
        f"SELECT DISTINCT key FROM {source} WHERE letters = {normalized_name('?')} "
        "OR list_contains(?, lower(key))"
    )
    for identifiers in ([name, *by_symbol], by_synonym):
        keys = fetch(sql, [name, [identifier.lower() for identifier in identifiers]])
        if keys:
            return sorted(row["key"] for row in keys)
    return []


def _look_up_identifiers(name: str) -> tuple[list[str], list[str]]:
    """Return the identifiers of genes with this symbol, and of genes with this synonym.

    Genes of any species count. The first list also has genes with this HGNC id or UniProt
    accession. Both lists are empty for an unknown name, or if the shipped tables are not installed.
    """
    from textrank.tasks.identifiers.task import find_identifiers  # loads tables of 10 MB

    try:
        return find_identifiers(name)
    except (OSError, ValueError):  # an installation without this model
        return [], []


# Questions to a result folder

STATUSES = ("asserted", "negated", "speculated")
ORDERS = {
    "probability": "probability DESC NULLS LAST, score DESC NULLS LAST",
    "score": "score DESC NULLS LAST",
    "year": "year DESC NULLS LAST, probability DESC NULLS LAST",
    "document": "document, start_a, start_b",
}
TIE_BREAKER = "document, start_a, start_b, source"  # appended, it makes every order total


@dataclass(frozen=True)
class Filter:
    """Conditions on statements; a field that is None sets no condition.

    If neither ``status`` nor ``interacts`` is given, only statements that interact are selected:
    asserted, and probable enough for the model. ``probability`` is a minimum. ``years`` are the
    first and the last year, both inclusive, None if open. ``species`` is an NCBI taxon that at
    least one of the two names must have. A statement without a probability or year does not fulfil
    a condition on it.

    Raises ValueError if ``status`` is not in ``STATUSES`` or ``probability`` not within 0 and 1.
    """

    type: str | None = None
    status: str | None = None
    probability: float | None = None
    years: tuple[int | None, int | None] = (None, None)
    species: str | None = None
    interacts: bool | None = None
    document: str | None = None

    def __post_init__(self) -> None:
        """Raise ValueError for an unknown status or a probability outside 0 .. 1."""
        if self.status is not None and self.status not in STATUSES:
            raise ValueError(f"status must be one of {', '.join(STATUSES)}, got {self.status!r}.")
        if self.probability is not None and not 0 <= self.probability <= 1:
            raise ValueError(f"a probability is between 0 and 1, got {self.probability}.")

    @property
    def wants_interactions(self) -> bool:
        """Whether only statements that interact are selected, because nothing else was requested.

        True if neither ``status`` nor ``interacts`` is given.
        """
        return self.status is None and self.interacts is None

    def conditions(self, *, of_facts: bool = False) -> tuple[list[str], list[Any]]:
        """Return SQL conditions on ``keyed``, to be joined by AND, and their parameters.

        Both lists can be empty. ``of_facts`` leaves out the default condition that statements
        interact, since negated and speculated evidence is part of a fact too.
        """
        interacts = True if self.wants_interactions and not of_facts else self.interacts
        first, last = self.years
        pairs = [
            ("type = ?", self.type),
            ("status = ?", self.status),
            ("probability >= ?", self.probability),
            ("year >= ?", first),
            ("year <= ?", last),
            ("interacts = ?", interacts),
            ("document = ?", self.document),
        ]
        texts = [text for text, value in pairs if value is not None]
        values: list[Any] = [value for _, value in pairs if value is not None]
        if self.species is not None:
            texts.append(
                "(id_a IN (SELECT id FROM taxa WHERE species = ?) OR id_b IN "
                "(SELECT id FROM taxa WHERE species = ?))"
            )
            values += [str(self.species)] * 2
        return texts, values


NO_FILTER = Filter()


def _direction_condition(role: str) -> str:
    """Return the SQL condition on ``keyed`` that an entity has a role in a directed statement.

    With ``role`` "actor" the direction must begin at the entity; with any other ``role`` it must
    end there. The condition has two parameters, both the list of the entity's keys.
    """
    first, second = ("a>b", "b>a") if role == "actor" else ("b>a", "a>b")
    return (
        f"((list_contains(?, key_a) AND direction = '{first}') OR "
        f"(list_contains(?, key_b) AND direction = '{second}'))"
    )


def open_results(folder: str | Path) -> Results:
    """Open a folder that ``textrank apply --out`` wrote; close the result after use.

    Raises ValueError if it is not such a folder, has no finished part or is damaged.
    """
    return Results(Path(folder))


class Results:
    """Database over the tables of a result folder, with methods for common queries.

    ``sql`` runs any other query. The views ``documents``, ``names`` and ``statements`` have the
    latest version of each document, ``errors`` all errors. ``all_documents``, ``all_names`` and so
    on have every version, with the column ``part``. ``dated`` adds year and title to statements,
    and ``keyed`` also the columns of ``keyed_statements``. A name that is passed to a method stands
    for all entities that ``find_entity_keys`` finds for it, by spelling, identifier, symbol or
    synonym. For an unknown name nothing is found; no exception is raised.

    ``limit`` None returns all rows; ``offset`` is the number of rows to skip. ``where`` filters
    statements; by default only those that interact are selected (``Filter``). The constructor
    raises ValueError if ``folder`` is not a result folder, is damaged, or has no finished part.
    """

    def __init__(self, folder: Path) -> None:
        """Create the views over the files of a result folder.

        Raises ValueError if ``folder`` is not a result folder, has no finished part or is damaged.
        """
        self.folder = folder
        self.manifest = _read_manifest(folder)
        self._connection = _connect(_count_bytes(folder))
        with _explain_errors(folder):
            self._create_views()
            _lock_down(self._connection, [folder / table for table in TABLES])

    @property
    def connection(self) -> duckdb.DuckDBPyConnection:
        """DuckDB connection with the views, to which other tables may be added."""
        return self._connection

    def close(self) -> None:
        """Close the database; the object cannot be used afterwards."""
        self._connection.close()

    def sql(
        self,
        text: str,
        values: Sequence[Any] = (),
        *,
        max_rows: int = MAX_SQL_ROWS,
        seconds: float = MAX_SQL_SECONDS,
    ) -> list[Row]:
        """Return the rows of a query over the views, as dictionaries by column.

        The query can read this result, but no other files, the network or settings. Of columns with
        the same name the last is kept.

        Parameters
        ----------
        text
            One statement that reads: SELECT, WITH, FROM, DESCRIBE, SUMMARIZE or EXPLAIN.
        values
            Parameters of the query, one for each ``?``.
        max_rows, seconds
            Limits of the number of rows and of the time in seconds.

        Raises
        ------
        ValueError
            If there is not exactly one statement, if it does more than read, if DuckDB cannot run
            it, or if it has more rows or takes longer than allowed.
        """
        with _explain_errors(self.folder):
            _check_statement(text)
            cursor = self._connection.cursor()
            timer = Timer(seconds, cursor.interrupt)
            timer.daemon = True
            timer.start()
            try:
                cursor.execute(text, list(values))
                names = [column[0] for column in cursor.description or ()]
                rows = cursor.fetchmany(max_rows + 1)
            except duckdb.InterruptException:
                raise ValueError(
                    f"the query takes more than {seconds:g} seconds. Ask for less."
                ) from None
            finally:
                timer.cancel()
                cursor.close()
        if len(rows) > max_rows:
            raise ValueError(f"the query has more than {max_rows:,} rows. Add a LIMIT.")
        return [dict(zip(names, row, strict=True)) for row in rows]

    def _fetch(self, text: str, values: Sequence[Any] = ()) -> list[Row]:
        """Return all rows of a trusted query; raise ValueError if DuckDB cannot run it."""
        with _explain_errors(self.folder):
            return _fetch_rows(self._connection, text, values)

    def counts(self) -> Row:
        """Return the number of rows of each of the four ``TABLES``, by table name.

        Only the latest version of each document counts; of errors, all. Statements count whether or
        not they interact.
        """
        parts = ", ".join(f"(SELECT count(*) FROM {table}) AS {table}" for table in TABLES)
        return self._fetch(f"SELECT {parts}")[0]

    def statements(
        self,
        name: str | None = None,
        other: str | None = None,
        *,
        where: Filter = NO_FILTER,
        order: str = "probability",
        limit: int | None = 100,
        offset: int = 0,
    ) -> list[Row]:
        """Return the statements about one name, about two names, or all.

        ``other`` is used only with ``name``; the two may be in any order. ``order`` is a key of
        ``ORDERS``. Rows have the columns of ``StatementRow``, ``year`` and ``title``. Raises
        ValueError for an unknown order.
        """
        if order not in ORDERS:
            raise ValueError(f"order must be one of {', '.join(ORDERS)}, got {order!r}.")
        texts, values = self._conditions(name, other, where)
        return self._fetch(
            f"SELECT {_STATEMENT_COLUMNS} FROM keyed {_where(texts)} "
            f"ORDER BY {ORDERS[order]}, {TIE_BREAKER} LIMIT ? OFFSET ?",
            [*values, limit, offset],
        )

    def count(
        self, name: str | None = None, other: str | None = None, *, where: Filter = NO_FILTER
    ) -> int:
        """Return how many statements ``statements`` returns with these arguments and no limit.

        By default only statements that interact count; see ``Filter``.
        """
        texts, values = self._conditions(name, other, where)
        rows = self._fetch(f"SELECT count(*) AS n FROM keyed {_where(texts)}", values)
        return int(rows[0]["n"])

    def facts(
        self, *, where: Filter = NO_FILTER, limit: int | None = None, offset: int = 0
    ) -> list[FactRow]:
        """Return facts aggregated over the evidence that fulfils ``where``, most probable first.

        By default only facts with an asserted statement are returned, and negated and speculated
        statements about the same entities are part of them. If ``where.status`` or
        ``where.interacts`` is given, only statements that fulfil it are aggregated. ``offset`` is
        ignored if ``limit`` is None.
        """
        return self._facts(where, [], [], limit=limit, offset=offset)

    def strongest(self, limit: int = 20, *, where: Filter = NO_FILTER) -> list[FactRow]:
        """Return the ``limit`` most probable facts, the most probable first."""
        return self.facts(where=where, limit=limit)

    def partners(
        self,
        name: str,
        *,
        where: Filter = NO_FILTER,
        role: str = "",
        limit: int | None = 50,
    ) -> list[Row]:
        """Return the facts about a name, most probable first, with the partner of the name.

        ``role`` "actor" or "target" uses only directed statements in which the name acts or is
        acted upon; "" uses all. A row has the ``name`` and ``id`` of the partner and the values of
        ``FactRow``. A partner can occur several times if ``name`` stands for several entities.
        """
        keys = self._entity_keys(name)
        texts, values = ["(list_contains(?, a) OR list_contains(?, b))"], [keys, keys]
        if role:
            texts, values = [*texts, _direction_condition(role)], [*values, keys, keys]
        facts = self._facts(where, texts, values, limit=limit)
        rows = []
        for fact in facts:
            row: Row = {**fact}
            side = "b" if fact["a"] in keys else "a"
            rows.append({"name": row[f"name_{side}"], "id": row[f"id_{side}"], **row})
        return rows

    def evidence(
        self,
        name: str,
        other: str,
        *,
        where: Filter | None = None,
        role: str = "",
        limit: int | None = 100,
    ) -> list[Row]:
        """Return the statements about two names, most probable first.

        Columns are those of ``statements``. ``where`` None filters nothing: negated, speculated and
        improbable statements are returned too. ``role`` "actor" or "target" returns only directed
        statements in which ``name`` acts or is acted upon; "" returns all.
        """
        texts, values = self._conditions(name, other, where)
        if role:
            keys = self._entity_keys(name)
            texts, values = [*texts, _direction_condition(role)], [*values, keys, keys]
        return self._fetch(
            f"SELECT {_STATEMENT_COLUMNS} FROM keyed {_where(texts)} "
            f"ORDER BY {ORDERS['probability']}, {TIE_BREAKER} LIMIT ?",
            [*values, limit],
        )

    def network(self, names: Sequence[str], *, where: Filter = NO_FILTER) -> list[FactRow]:
        """Return all facts between entities that ``names`` stand for, most probable first.

        Unknown names are ignored. If a name stands for several entities, facts between these are
        included.
        """
        keys = sorted({key for name in names for key in self._entity_keys(name)})
        return self._facts(where, ["list_contains(?, a)", "list_contains(?, b)"], [keys, keys])

    def papers(self, names: Sequence[str], *, limit: int | None = 100) -> list[Row]:
        """Return the documents that mention all ``names``, those with most mentions first.

        A row has ``document``, ``year``, ``title`` and ``mentions`` (of all names together); ties
        are sorted by document id. Mentions outside of statements count too, but [] is returned if a
        name occurs in no statement at all (``is_known``).
        """
        keys = [self._entity_keys(name) for name in names]
        key = f"coalesce(nullif(id, ''), nullif({normalized_name('name')}, ''), '?')"
        has_all = " AND ".join("bool_or(list_contains(?, key))" for _ in keys)
        return self._fetch(
            f"""SELECT document, any_value(year) AS year, any_value(title) AS title, mentions
            FROM (SELECT document, count(*) AS mentions
                FROM (SELECT document, {key} AS key FROM names WHERE name IS NOT NULL)
                WHERE list_contains(?, key) GROUP BY document HAVING {has_all})
            LEFT JOIN documents USING (document) GROUP BY document, mentions
            ORDER BY mentions DESC, document LIMIT ?""",
            [sorted({key for group in keys for key in group}), *keys, limit],
        )

    def document(self, document: str) -> Row:
        """Return a document with its ``names`` and ``statements`` in text order.

        Statements also have ``year`` and ``title``. If documents of several files have the id, the
        row of one of them is returned, with the names and statements of all. {} for an unknown id.
        """
        rows = self._fetch("SELECT * FROM documents WHERE document = ?", [document])
        if not rows:
            return {}
        names = self._fetch(
            'SELECT * FROM names WHERE document = ? ORDER BY start, "end"', [document]
        )
        statements = self._fetch(
            f"SELECT * FROM dated WHERE document = ? ORDER BY {TIE_BREAKER}", [document]
        )
        return {**rows[0], "names": names, "statements": statements}

    def errors(self) -> list[Row]:
        """Return the documents that could not be read or annotated, sorted by source and document.

        Rows have the columns of ``ErrorRow``; errors of replaced documents are included.
        """
        return self._fetch("SELECT * FROM errors ORDER BY source, document")

    def is_known(self, name: str) -> bool:
        """Return whether some statement, evidence or not, is about ``name``.

        ``name`` may be a spelling, an identifier, or a gene symbol or synonym
        (``find_entity_keys``).
        """
        return bool(self._entity_keys(name))

    def suggest(self, name: str, limit: int = 3) -> list[str]:
        """Return at most ``limit`` names in statements that are spelt similarly to ``name``.

        Names that contain the letters of ``name``, or are contained in them, come first; other
        names need a Jaro-Winkler similarity above 0.85. Both are sorted by decreasing similarity,
        then by number of statements. Names of a single letter are never suggested.
        """
        letters = normalized_name("?")
        rows = self._fetch(
            f"""SELECT name, sum(times) AS times,
                contains(letters, {letters}) OR contains({letters}, letters) AS is_part,
                jaro_winkler_similarity(letters, {letters}) AS likeness
            FROM ({spellings("keyed")}) WHERE length(letters) > 1 GROUP BY name, letters
            HAVING is_part OR likeness > 0.85
            ORDER BY is_part DESC, likeness DESC, times DESC, name LIMIT ?""",
            [name, name, name, limit],
        )
        return [row["name"] for row in rows]

    def _facts(
        self,
        where: Filter,
        texts: Sequence[str],
        values: Sequence[Any],
        *,
        limit: int | None = None,
        offset: int = 0,
    ) -> list[FactRow]:
        """Aggregate the evidence that fulfils a filter and further SQL conditions.

        ``texts`` are conditions on ``keyed``, joined by AND, and ``values`` their parameters. Facts
        are sorted by decreasing probability. If ``where`` has neither ``status`` nor ``interacts``,
        only facts with asserted evidence are returned. ``offset`` is ignored if ``limit`` is None.
        """
        filter_texts, filter_values = where.conditions(of_facts=True)
        source = f"({spellings('keyed', 'key IN (SELECT unnest(?))')})"
        return FactTable(self._fetch, "keyed", entities(source)).select(
            " AND ".join(["is_evidence", *texts, *filter_texts]),
            [*values, *filter_values],
            having="sum(asserted) > 0" if where.wants_interactions else "true",
            limit=limit,
            offset=offset,
        )

    def _conditions(
        self, name: str | None, other: str | None, where: Filter | None
    ) -> tuple[list[str], list[Any]]:
        """Return SQL conditions on ``keyed`` for names and a filter, and their parameters.

        Conditions are to be joined by AND; those of ``where`` come first. ``name`` alone selects
        statements with that name on either side; with ``other``, statements about both, in either
        order. None sets no condition; ``other`` is ignored if ``name`` is None.
        """
        texts, values = ([], []) if where is None else where.conditions()
        if name is None:
            return texts, values
        keys = self._entity_keys(name)
        if other is None:
            either = "(list_contains(?, key_a) OR list_contains(?, key_b))"
            return [*texts, either], [*values, keys, keys]
        others = self._entity_keys(other)
        both = (
            "((list_contains(?, key_a) AND list_contains(?, key_b)) OR "
            "(list_contains(?, key_a) AND list_contains(?, key_b)))"
        )
        return [*texts, both], [*values, keys, others, others, keys]

    def _entity_keys(self, name: str) -> list[str]:
        """Return the sorted keys of the entities that a name or identifier stands for.

        [] if there are none.
        """
        return find_entity_keys(self._fetch, f"({spellings('keyed')})", name)

    def _create_views(self) -> None:
        """Create all views of the database, and the table ``stale``.

        ``all_TABLE`` has all rows of a table. The views named as the four ``TABLES`` leave out
        documents in ``stale``, which are replaced or deleted; ``errors`` has all rows. ``dated``
        has statements with year and title, ``keyed`` also the columns of ``keyed_statements``, and
        ``taxa`` the species of each identifier.

        Call it once. Raises ValueError if no part is finished, and duckdb.Error if a file cannot be
        read.
        """
        files = {table: _part_files(self.folder, table, self._format) for table in TABLES}
        if not files["documents"]:
            raise ValueError(f"{self.folder}: no part is finished yet. Run textrank apply --out.")
        for table, paths in files.items():
            self._connection.execute(f"CREATE VIEW all_{table} AS {self._scan(table, paths)}")
        self._connection.execute(_STALE)
        stale = self._connection.execute("SELECT count(*) FROM stale").fetchone()
        for table in TABLES[:3]:
            current = _NOT_STALE.format(table=f"all_{table}") if stale and stale[0] else ""
            self._connection.execute(
                f"CREATE VIEW {table} AS SELECT * EXCLUDE (part) FROM all_{table} {current}"
            )
        self._connection.execute("CREATE VIEW errors AS SELECT * EXCLUDE (part) FROM all_errors")
        self._connection.execute(_DATED)
        described = self._connection.execute("DESCRIBE dated").fetchall()
        missing = (
            "" if "fact" in {row[0] for row in described} else ", CAST(NULL AS DOUBLE) AS fact"
        )
        source = f"(SELECT *{missing} FROM dated)"  # results of an earlier version have no fact
        self._connection.execute(f"CREATE VIEW keyed AS {keyed_statements(source)}")
        self._connection.execute(_TAXA)

    @cached_property
    def _format(self) -> str:
        """File format of the tables, "parquet" or "jsonl"."""
        return str(self.manifest["settings"].get("format", "parquet"))

    def _scan(self, table: str, paths: Sequence[str]) -> str:
        """Return a query for the rows of a table's files, with the name of their part as ``part``.

        ``paths`` must not be empty. The columns of JSON Lines are those in the manifest.
        """
        files = _sql_list(paths)
        if self._format == "parquet":
            source = f"read_parquet({files}, filename = true)"
        else:
            columns = self.manifest["columns"][table].items()
            types = ", ".join(f"'{name}': '{SQL_TYPES[kind]}'" for name, kind in columns)
            source = (
                f"read_json({files}, format = 'newline_delimited', columns = {{{types}}}, "
                "filename = true)"
            )
        return f"SELECT * EXCLUDE (filename), parse_filename(filename, true) AS part FROM {source}"


# Without the columns that keyed_statements adds.
_STATEMENT_COLUMNS = "* EXCLUDE (key_a, key_b, a, b, p, fact_direction, is_evidence)"
# A document is replaced by a later one of the same id if its file states ids; see docs/scale.md.
_STALE = """CREATE TABLE stale AS
    SELECT document, part FROM (
        SELECT document, part, status, row_number() OVER (
            PARTITION BY document, CASE WHEN replaces THEN '' ELSE source END
            ORDER BY input DESC, position DESC) AS age
        FROM all_documents
        WHERE document IN (
            SELECT document FROM all_documents GROUP BY document
            HAVING count(*) > 1 OR bool_or(status = 'deleted')))
    WHERE age > 1 OR status = 'deleted'"""
_NOT_STALE = """WHERE NOT EXISTS (SELECT 1 FROM stale
    WHERE stale.document = {table}.document AND stale.part = {table}.part)"""
# At most one row of documents matches: the others are stale.
_DATED = """CREATE VIEW dated AS SELECT statements.*, about.year, about.title FROM statements
    LEFT JOIN documents AS about USING (document, source)"""
_TAXA = """CREATE VIEW taxa AS SELECT DISTINCT id, species FROM names
    WHERE id IS NOT NULL AND species IS NOT NULL"""


def _where(texts: Sequence[str]) -> str:
    """Return a WHERE clause that joins SQL conditions by AND; "" if there are none."""
    return f"WHERE {' AND '.join(texts)}" if texts else ""


def _sql_list(paths: Iterable[str | Path]) -> str:
    """Return a list of paths as a DuckDB literal, with quotation marks escaped."""
    quoted = ("'" + str(path).replace("'", "''") + "'" for path in paths)
    return f"[{', '.join(quoted)}]"


def _read_manifest(folder: Path) -> Mapping[str, Any]:
    """Read the manifest of a result folder; raise ValueError if it is missing or damaged.

    A manifest with an invalid format or columns (``_check_manifest``) counts as damaged. Other
    errors of reading, such as missing permission, are raised as OSError.
    """
    file = folder / "manifest.json"
    try:
        return _check_manifest(json.loads(file.read_text(encoding="utf-8")))
    except FileNotFoundError:
        raise ValueError(
            f"{folder}: no manifest.json, so this is not a result folder. "
            "Create one with textrank apply --out."
        ) from None
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
        raise ValueError(f"{file}: damaged ({error!s:.200}). Restore it.") from error


def _check_manifest(manifest: Any) -> Mapping[str, Any]:
    """Return a manifest after checking its format and columns, which become part of SQL.

    Raises ValueError, KeyError, TypeError or AttributeError if they are missing or not valid.
    """
    if manifest["settings"].get("format", "parquet") not in FORMATS:
        raise ValueError(f"format is not one of {', '.join(FORMATS)}")
    for table in TABLES:
        for name, kind in manifest["columns"][table].items():
            if not name.isidentifier() or kind not in SQL_TYPES:
                raise ValueError(f"column {name!r} of {table} has the unknown type {kind!r}")
    return dict(manifest)


@contextmanager
def _explain_errors(folder: Path) -> Iterator[None]:
    """Convert exceptions of DuckDB to a ValueError that names the folder and a remedy.

    Context manager. UnicodeDecodeError is converted too: DuckDB causes it if its message quotes
    bytes of a damaged file. Other exceptions are not changed.
    """
    try:
        yield
    except (duckdb.Error, UnicodeDecodeError) as error:
        reason = " ".join(str(error).split())
        raise ValueError(
            f"{folder}: {reason:.400}. Correct the question; if a part is damaged, remove its file "
            "in documents and run textrank apply --out again."
        ) from error


def _part_files(folder: Path, table: str, format: str) -> list[str]:
    """Return the paths of a table's files for all complete parts, sorted by name.

    A part is complete if it has a file in ``documents``; whether the returned files exist is not
    checked.
    """
    names = sorted(file.name for file in (folder / "documents").glob(f"*.{format}"))
    return [str(folder / table / name) for name in names]


def _connect(size: int = 0) -> duckdb.DuckDBPyConnection:
    """Open a new DuckDB database in memory, to read files of ``size`` bytes in all.

    Its memory is limited to ``MAX_UNPACK_RATIO * size`` bytes, or ``MIN_MEMORY_BYTES`` if that is
    more. It creates no temporary files, loads no extensions and does not see variables of Python.
    """
    config: dict[str, Any] = {
        "autoinstall_known_extensions": "false",
        "autoload_known_extensions": "false",
        "memory_limit": f"{max(MIN_MEMORY_BYTES, MAX_UNPACK_RATIO * size) >> 20}MiB",
        "temp_directory": "",
        "python_enable_replacements": "false",
    }
    return duckdb.connect(":memory:", config=config)


def _lock_down(connection: duckdb.DuckDBPyConnection, folders: Sequence[Path]) -> None:
    """Restrict a database permanently to files in ``folders``, and lock its settings.

    If ``folders`` is empty it can access no file. Call it only once per connection.
    """
    allowed = _sql_list(folder.resolve() for folder in folders)
    connection.execute(f"SET allowed_directories = {allowed}")
    connection.execute("SET enable_external_access = false")
    connection.execute("SET lock_configuration = true")


def _check_statement(text: str) -> None:
    """Raise ValueError unless ``text`` is one SQL statement that only reads.

    Raises duckdb.Error if it cannot be parsed.
    """
    statements = duckdb.extract_statements(text)
    if len(statements) != 1:
        raise ValueError(f"{len(statements)} SQL statements were given. Ask one at a time.")
    kind = statements[0].type
    if kind not in (duckdb.StatementType.SELECT, duckdb.StatementType.EXPLAIN):
        raise ValueError(f"a query can only read, not {kind.name}. Begin it with SELECT.")


def _count_bytes(folder: Path) -> int:
    """Return the total size in bytes of the files in the table folders of a result folder."""
    files = (file for table in TABLES for file in (folder / table).glob("*"))
    return sum(file.stat().st_size for file in files if file.is_file())


def _fetch_rows(
    connection: duckdb.DuckDBPyConnection, sql: str, values: Sequence[Any] = ()
) -> list[Row]:
    """Run a query in a cursor of its own and return the rows as dictionaries by column.

    The cursor is closed, since DuckDB keeps memory for every open one.
    """
    with closing(connection.cursor()) as cursor:
        cursor.execute(sql, list(values))
        names = [column[0] for column in cursor.description or ()]
        return [dict(zip(names, row, strict=True)) for row in cursor.fetchall()]


# Tables of the explorer

# Names of the views and tables in a Store: a result folder has views of the plain names already.
STORE_TABLES = {
    "documents": "texts",
    "names": "mentions",
    "statements": "claims",
    "errors": "failures",
}
# Columns that pages read: those of a result, the text of a document, and the trigger as JSON
# (folders of other origin have it so). A source that lacks a column gives NULL.
STORE_COLUMNS: Mapping[str, Mapping[str, str]] = {
    "documents": {
        **{name: SQL_TYPES[kind] for name, kind in TABLE_COLUMNS["documents"].items()},
        "text": "VARCHAR",
    },
    "names": {name: SQL_TYPES[kind] for name, kind in TABLE_COLUMNS["names"].items()},
    "statements": {
        **{name: SQL_TYPES[kind] for name, kind in TABLE_COLUMNS["statements"].items()},
        "trigger": "JSON",
    },
    "errors": {name: SQL_TYPES[kind] for name, kind in TABLE_COLUMNS["errors"].items()},
}
MAX_BATCH_ROWS = 2_000  # handed to or taken from the database at once


@dataclass(frozen=True)
class Store:
    """DuckDB database with the documents, names, statements and errors that the explorer shows.

    Tables: ``texts``, ``mentions``, ``claims`` and ``failures`` (rows of ``STORE_COLUMNS``);
    ``pairs``, with one row per statement, without sentences but with year, species and the columns
    of ``keyed_statements``; ``spellings`` and ``entities`` (see the functions of these names); and
    ``species`` (NCBI taxon by entity key). ``pairs`` is small enough to be held in memory. Every
    query uses a cursor of its own, so threads can share a Store.
    """

    connection: duckdb.DuckDBPyConnection = field(repr=False)
    title: str
    manifest: Mapping[str, Any] = field(default_factory=dict)  # {} without a manifest

    def fetch(self, sql: str, values: Sequence[Any] = ()) -> list[Row]:
        """Return the rows of a query as dictionaries by column; ``values`` are its parameters.

        The query is not checked, so it must be trusted. It runs in a cursor of its own. Of columns
        with the same name the last is kept. Raises duckdb.Error if it cannot be run.
        """
        return _fetch_rows(self.connection, sql, values)

    def fetch_batches(
        self, sql: str, values: Sequence[Any] = ()
    ) -> Iterator[list[tuple[Any, ...]]]:
        """Yield the rows of a query as tuples, in lists of at most ``MAX_BATCH_ROWS``.

        One list is in memory at a time. Nothing is yielded if there are no rows.
        """
        with closing(self.connection.cursor()) as cursor:
            cursor.execute(sql, list(values))
            while batch := cursor.fetchmany(MAX_BATCH_ROWS):
                yield batch

    @cached_property
    def failure_count(self) -> int:
        """Number of documents that failed (cached)."""
        return int(self.fetch_value("SELECT count(*) FROM failures"))

    @property
    def facts(self) -> FactTable:
        """FactTable over ``pairs``, which aggregates statements to facts on demand."""
        labels = "SELECT key, label, id FROM entities WHERE key IN (SELECT unnest(?))"
        return FactTable(self.fetch, "pairs", labels)

    def fetch_value(self, sql: str, values: Sequence[Any] = ()) -> Any:
        """Return the first column of the first row of a query; None if there are no rows.

        ``values`` are its parameters. Raises duckdb.Error if it cannot be run.
        """
        with closing(self.connection.cursor()) as cursor:
            row = cursor.execute(sql, list(values)).fetchone()
        return None if row is None else row[0]


def open_store(path: str | Path, open_corpus: Callable[[Path], NamedCorpus] = load_corpus) -> Store:
    """Build a Store from a result folder, JSON lines of ``textrank apply``, or a corpus.

    A folder with a ``manifest.json`` is read as a result folder, a file that ``is_apply_output``
    accepts as JSON lines, and anything else as a corpus with gold pairs. ``open_corpus`` loads the
    corpus of a path, for instance with other reading options. Raises ValueError if the path does
    not exist or cannot be read as one of these.
    """
    source = find_input(path)
    if not source.exists():
        raise ValueError(
            f"{source}: no such file or folder. Give a result folder, JSON lines or a corpus."
        )
    if source.is_dir() and (source / "manifest.json").is_file():
        return from_folder(source)
    if source.is_file() and is_apply_output(source):
        return from_rows(read_apply_output(source), source.name, size=source.stat().st_size)
    return from_rows(_read_corpus(open_corpus(source), source), source.name)


def from_folder(folder: str | Path) -> Store:
    """Build a Store on the files of a result folder.

    A folder of ``textrank apply --out`` is read through ``Results``, without replaced and deleted
    documents. Other folders work too if they have a ``manifest.json`` and Parquet files in
    sub-folders named as the ``TABLES``; missing tables are empty and missing columns NULL. Raises
    ValueError if the manifest or a table cannot be read.
    """
    path = Path(folder)
    try:
        manifest = json.loads((path / "manifest.json").read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise ValueError(
            f"{path / 'manifest.json'}: not readable ({error}). "
            "Create results with textrank apply MODEL TEXTS --out FOLDER."
        ) from error
    manifest = manifest if isinstance(manifest, dict) else {}
    if "columns" in manifest:
        connection = open_results(path).connection
        sources = {table: table for table in TABLES}
    else:
        connection = _connect_for_store(_count_bytes(path))
        sources = {table: _scan_parquet((path / table).glob("*.parquet")) for table in TABLES}
    with _explain_errors(path):
        for table, source in sources.items():
            _create_view(connection, table, source)
        if "columns" not in manifest:
            _lock_down(connection, [path / table for table in TABLES])
        return _build_store(connection, path.name, manifest)


def from_rows(
    tables: Mapping[str, Iterable[Mapping[str, Any]]], title: str, *, size: int = 0
) -> Store:
    """Build a Store in memory from rows.

    ``tables`` maps names in ``TABLES`` to rows with the columns of ``STORE_COLUMNS``; missing
    tables are empty, missing columns NULL, and other columns are ignored. ``title`` is shown on the
    pages. ``size`` is the size in bytes of the file that the rows come from, which determines the
    memory limit of the database (``_connect``).

    >>> row = {"document": "d1", "name_a": "SHC", "name_b": "GRB2", "probability": 0.9}
    >>> from_rows({"statements": [row]}, "sample").fetch_value("SELECT key_b FROM pairs")
    'grb2'
    """
    connection = _connect_for_store(size)
    _lock_down(connection, [])
    for table in TABLES:
        columns = ", ".join(f'"{name}" {type}' for name, type in STORE_COLUMNS[table].items())
        connection.execute(f"CREATE TABLE {STORE_TABLES[table]} ({columns})")
        _insert_rows(connection, table, tables.get(table, ()))
    return _build_store(connection, title, {})


def _connect_for_store(size: int = 0) -> duckdb.DuckDBPyConnection:
    """Return a new DuckDB database in memory that uses two threads.

    ``size`` is the size in bytes of the data, which determines the memory limit (``_connect``).
    """
    connection = _connect(size)
    connection.execute("SET threads = 2")
    return connection


def _insert_rows(
    connection: duckdb.DuckDBPyConnection, table: str, rows: Iterable[Mapping[str, Any]]
) -> None:
    """Insert rows into a table of a Store, in batches.

    ``table`` is a key of ``STORE_TABLES``. Missing columns become NULL, triggers JSON, and other
    keys of a row are ignored.
    """
    names = list(STORE_COLUMNS[table])
    columns = ", ".join(f'"{name}"' for name in names)
    marks = ", ".join("unnest(?)" for _ in names)
    batch: list[Mapping[str, Any]] = []

    def flush() -> None:
        """Insert the rows of the batch and clear it."""
        if batch:
            values = [[_to_cell(name, row.get(name)) for row in batch] for name in names]
            connection.execute(
                f"INSERT INTO {STORE_TABLES[table]} ({columns}) SELECT {marks}", values
            )
            batch.clear()

    for row in rows:
        batch.append(row)
        if len(batch) >= MAX_BATCH_ROWS:
            flush()
    flush()


def _to_cell(name: str, value: Any) -> Any:
    """Return the value to insert into the column ``name``; a ``trigger`` is encoded as JSON."""
    return json.dumps(value) if name == "trigger" and value is not None else value


def _scan_parquet(files: Iterable[Path]) -> str:
    """Return SQL for a FROM clause that reads Parquet files; without files it gives no rows.

    Files may differ in their columns; a column that a file lacks is NULL.
    """
    paths = sorted(files)
    if not paths:
        return "(SELECT 1) WHERE false"
    return f"read_parquet({_sql_list(paths)}, union_by_name=true)"


def _create_view(connection: duckdb.DuckDBPyConnection, table: str, source: str) -> None:
    """Create the view of a Store over a table that may lack columns; these are NULL.

    ``table`` is a key of ``STORE_TABLES``, whose value is the name of the view; ``source`` is SQL
    for a FROM clause. Values that cannot be cast to the type in ``STORE_COLUMNS`` are NULL too.
    Raises ValueError if the source cannot be read.
    """
    try:
        described = connection.execute(f"DESCRIBE SELECT * FROM {source}").fetchall()
    except duckdb.Error as error:
        raise ValueError(f"{table} of the results cannot be read ({error}).") from error
    present = {row[0] for row in described}
    columns = ", ".join(
        _select_column(name, type, is_present=name in present)
        for name, type in STORE_COLUMNS[table].items()
    )
    connection.execute(f"CREATE VIEW {STORE_TABLES[table]} AS SELECT {columns} FROM {source}")


def _select_column(name: str, type: str, *, is_present: bool) -> str:
    """Return the SQL of one column of a view, ``EXPRESSION AS "name"``.

    The column is cast to ``type``, a type of DuckDB, unless that is JSON; values that cannot be
    cast are NULL. If the column is not present in the source, it is NULL.
    """
    if not is_present:
        return f'CAST(NULL AS {type}) AS "{name}"'
    # A trigger is a list in our files and a text in others; casting would lose one of them.
    return f'"{name}"' if type == "JSON" else f'TRY_CAST("{name}" AS {type}) AS "{name}"'


def _build_store(
    connection: duckdb.DuckDBPyConnection, title: str, manifest: Mapping[str, Any]
) -> Store:
    """Create the derived tables of a Store and return it.

    These are ``species``, ``pairs``, ``spellings`` and ``entities`` (``Store``). The species of a
    pair is that of its first name, or else of its second; the year is that of any document with its
    id. The tables or views ``claims``, ``mentions`` and ``texts`` must already exist in
    ``connection``.
    """
    connection.execute(
        """CREATE TABLE species AS
        SELECT id AS key, any_value(species) AS species FROM mentions
        WHERE species IS NOT NULL AND id IS NOT NULL GROUP BY id"""
    )
    source = """(
        SELECT row_number() OVER () AS row, s.document, start_a, end_a, start_b, end_b, name_a,
          name_b, id_a, id_b, score, probability, physical, regulation, fact, interacts, s.status,
          s.type, direction, sentence_start, s.source, d.year,
          coalesce(sa.species, sb.species) AS species
        FROM claims s LEFT JOIN
          (SELECT document, any_value(year) AS year FROM texts GROUP BY document) d
          ON s.document = d.document
        LEFT JOIN species sa ON s.id_a = sa.key LEFT JOIN species sb ON s.id_b = sb.key)"""
    connection.execute(f"CREATE TABLE pairs AS {keyed_statements(source)}")
    connection.execute(f"CREATE TABLE spellings AS {spellings('pairs')}")
    connection.execute(f"CREATE TABLE entities AS {entities('spellings')}")
    return Store(connection, title, manifest)


# Sources of the explorer other than result folders

ATTRIBUTE_PREFIX = "textrank_"  # before the name of a task in a line of apply
PPI_ATTRIBUTE = "textrank_ppi"


def is_apply_output(path: Path) -> bool:
    """Return whether the first line of a file is JSON that ``textrank apply`` printed.

    The line must be a JSON object with a key that begins with ``ATTRIBUTE_PREFIX``. False for any
    other content, undecodable text or an empty file.
    """
    try:
        first = next((load_json(line, "") for _, line in iter_lines(path)), None)
    except ValueError:
        return False
    return isinstance(first, dict) and any(key.startswith(ATTRIBUTE_PREFIX) for key in first)


def read_apply_output(path: Path) -> dict[str, Iterator[Row]]:
    """Read the output of ``textrank apply ppi`` as rows of "documents" and "statements".

    Returns one iterator per table; each reads the file, line by line, when it is consumed. Empty
    lines are skipped; a line without an id gets its number as id. ``source`` of the rows is the
    file name without folder. Raises ValueError, with the line number, when other content is
    reached.
    """
    name = valid_unicode(path.name)

    def documents() -> Iterator[Row]:
        """Yield a row of ``documents`` for each line."""
        for document, _, _ in _iter_apply_lines(path):
            yield {"document": document, "source": name, "status": "done"}

    def statements() -> Iterator[Row]:
        """Yield a row of ``statements`` for each pair in each line."""
        for document, pairs, location in _iter_apply_lines(path):
            yield from ({**_parse_pair(pair, document, name, location)} for pair in pairs)

    return {"documents": documents(), "statements": statements()}


def _iter_apply_lines(path: Path) -> Iterator[tuple[str, list[Any], str]]:
    """Yield document id, pairs and location ("FILE, line N") of each line that is not empty.

    A line without "document" gets its number, from 1, as id; null instead of pairs counts as no
    pairs. Raises ValueError, with the location, for a line without a list of pairs; the pairs
    themselves are not checked.
    """
    for number, line in iter_lines(path):
        location = f"{path}, line {number}"
        if not line.strip():
            continue
        row = load_json(check_utf8(line, location), location)
        pairs = row.get(PPI_ATTRIBUTE, 0) if isinstance(row, dict) else 0
        if not isinstance(pairs, list | None):
            raise ValueError(
                f"{location}: no {PPI_ATTRIBUTE!r}. explore shows interactions, as textrank apply "
                "ppi prints them."
            )
        yield valid_unicode(str(row.get("document", number))), pairs or [], location


def valid_unicode(text: str) -> str:
    """Return ``text`` with unpaired surrogates, which UTF-8 cannot encode, replaced by "?"."""
    return text.encode("utf-8", errors="replace").decode("utf-8")


class _PairReader:
    """Typed access to the values of a pair read from JSON.

    Methods raise ValueError, with ``location`` (file and line), for a value of a wrong type.
    Missing and null values are allowed unless a method says otherwise.
    """

    def __init__(self, pair: Any, location: str) -> None:
        """Store the pair; raise ValueError if it is not a JSON object.

        ``location`` is put before the messages of all errors.
        """
        self.location = location
        if not isinstance(pair, dict):
            raise self.error(f"a pair must be an object, got {pair!r:.40}")
        self.pair = pair

    def error(self, reason: str) -> ValueError:
        """Return a ValueError to raise, with the location, ``reason`` and the remedy."""
        return ValueError(f"{self.location}: {reason}. Apply the model again.")

    def text(self, key: str) -> str | None:
        """Return a string, or None if it is missing; raise ValueError for another type.

        Unpaired surrogates become "?".
        """
        value = self.pair.get(key)
        if not isinstance(value, str | None):
            raise self.error(f"{key} of a pair is not text: {value!r:.40}")
        return None if value is None else valid_unicode(value)

    def number(self, key: str) -> float | None:
        """Return a finite number, or None if it is missing; raise ValueError for anything else.

        Booleans are not accepted.
        """
        value = self.pair.get(key)
        is_number = isinstance(value, int | float) and not isinstance(value, bool)
        if value is not None and not (is_number and abs(value) <= sys.float_info.max):
            raise self.error(f"{key} of a pair is not a finite number: {value!r:.40}")
        return None if value is None else float(value)

    def flag(self, key: str) -> bool | None:
        """Return a boolean, or None if it is missing; raise ValueError for another type."""
        value = self.pair.get(key)
        if not isinstance(value, bool | None):
            raise self.error(f"{key} of a pair is neither true nor false: {value!r:.40}")
        return value

    def two_texts(self, key: str) -> tuple[str, str]:
        """Return two strings; raise ValueError if the value is missing or has another form.

        Unpaired surrogates become "?".
        """
        value = self.pair.get(key)
        if not (isinstance(value, list) and len(value) == 2 and _are(value, str)):
            raise self.error(f"{key} of a pair must be two texts, got {value!r:.40}")
        one, other = map(valid_unicode, value)
        return one, other

    def ids(self) -> tuple[str | None, str | None]:
        """Return the two identifiers of the pair; each is None if it is missing.

        Raises ValueError for another form.
        """
        value = self.pair.get("identifiers") or [None, None]
        if not (isinstance(value, list) and len(value) == 2 and _are(value, str | None)):
            raise self.error(f"identifiers of a pair must be two texts, got {value!r:.40}")
        one, other = (id and valid_unicode(id) for id in value)
        return one, other

    def spans(self, key: str) -> list[tuple[int, int]]:
        """Return character offsets ``(start, end)``; [] if the value is missing.

        Raises ValueError also for a negative start or an end before the start; empty ranges are
        allowed.
        """
        value = self.pair.get(key) or []
        rows: list[Any] = value if isinstance(value, list) else [None]
        if not all(isinstance(r, list) and len(r) == 2 and _are(r, int) for r in rows):
            raise self.error(f"{key} of a pair must be ranges of characters, got {value!r:.40}")
        if not all(0 <= start <= end < 1 << 53 for start, end in rows):
            raise self.error(f"{key} of a pair has a range outside of any text: {value!r:.40}")
        return [(start, end) for start, end in rows]


def _are(values: Iterable[Any], type: Any) -> bool:
    """Return whether all values are of a type; booleans do not count as integers."""
    return all(isinstance(value, type) and not isinstance(value, bool) for value in values)


def _parse_pair(pair: Any, document: str, source: str, location: str) -> StatementRow:
    """Convert a pair in the output of ``textrank apply`` to a row of ``statements``.

    A missing status is "asserted", direction "none", sentence "" and trigger []; other missing
    values are None. Raises ValueError, with ``location`` (file and line), if names or spans are
    missing or a value has a wrong type.
    """
    values = _PairReader(pair, location)
    spans = values.spans("spans")
    if len(spans) != 2:
        raise values.error(f"a pair has two spans, got {len(spans)}")
    (start_a, end_a), (start_b, end_b) = spans
    name_a, name_b = values.two_texts("names")
    id_a, id_b = values.ids()
    sentence = values.text("sentence") or ""
    return {
        "document": document,
        "start_a": start_a,
        "end_a": end_a,
        "start_b": start_b,
        "end_b": end_b,
        "name_a": name_a,
        "name_b": name_b,
        "id_a": id_a,
        "id_b": id_b,
        "score": values.number("score"),
        "probability": values.number("probability"),
        "physical": values.number("physical"),
        "regulation": values.number("regulation"),
        "fact": values.number("fact"),
        "interacts": values.flag("interacts"),
        "status": values.text("status") or "asserted",
        "type": values.text("type"),
        "direction": values.text("direction") or "none",
        "trigger": [list(span) for span in values.spans("trigger")],
        "sentence_start": find_sentence_start(
            sentence, [name_a, name_b], [(start_a, end_a), (start_b, end_b)]
        ),
        "sentence": sentence,
        "source": source,
    }


def find_sentence_start(
    sentence: str, names: Sequence[str], spans: Sequence[tuple[int, int]]
) -> int | None:
    """Return the offset of a sentence in its document, computed from the spans of its names.

    ``spans`` are the characters ``(start, end)`` of each of ``names`` in the document. None if
    there is no offset at which all names are at their spans, or a span has another length than its
    name.

    >>> find_sentence_start("SHC binds GRB2.", ["SHC", "GRB2"], [(40, 43), (50, 54)])
    40
    """
    if any(
        end - start != len(name) or not name
        for (start, end), name in zip(spans, names, strict=True)
    ):
        return None
    offset = sentence.find(names[0])
    while offset >= 0:
        start = spans[0][0] - offset
        if [sentence[max(a - start, 0) : max(b - start, 0)] for a, b in spans] == list(names):
            return start
        offset = sentence.find(names[0], offset + 1)
    return None


def _read_corpus(corpus: NamedCorpus, path: Path) -> dict[str, list[Row]]:
    """Read a corpus as rows of the tables "documents", "names" and "statements" (gold pairs).

    ``source`` of the rows is the name of ``path``, the status of documents "gold", ``words`` their
    number of tokens and the title their first sentence. Names are the spans of the group
    "entities", of equal ids the last. Texts are tokenized by a blank English pipeline; all rows are
    held in memory.
    """
    tables: dict[str, list[Row]] = {"documents": [], "names": [], "statements": []}
    for number, doc in enumerate(corpus(spacy.blank("en"))):
        document = document_id(doc, number)
        tables["documents"].append(
            {
                "document": document,
                "source": path.name,
                "words": len(doc),
                "status": "gold",
                "text": doc.text,
                "title": _first_sentence(doc),
            }
        )
        spans = {span.id_: span for span in doc.spans.get("entities", ())}
        tables["names"] += [
            {
                "document": document,
                "start": span.start_char,
                "end": span.end_char,
                "name": span.text,
                "label": span.label_,
                "id": span.kb_id_ or None,
            }
            for span in spans.values()
        ]
        tables["statements"] += _gold_statements(doc, document, spans, path.name)
    return tables


def _first_sentence(doc: Doc) -> str:
    """Return the text of the first sentence of a Doc, stripped; "" for an empty Doc.

    Docs that are not empty must have sentence boundaries.
    """
    return next((sentence.text.strip() for sentence in doc.sents), "") if len(doc) else ""


def _gold_statements(
    doc: Doc, document: str, spans: Mapping[str, Span], source: str
) -> Iterator[Row]:
    """Yield the gold pairs of a Doc as statements with probability 1 or 0.

    Gold rows are those of ``doc.user_data["gold"]``; rows that do not refer to exactly two of the
    ``spans`` (names by id) are skipped. The name that comes first in the text is ``name_a``.
    ``sentence`` is the text from the beginning of the first name's sentence to the end of the
    second's.
    """
    for row in doc.user_data.get("gold", ()):
        pair = [spans[end] for end in row.get("entities", ()) if end in spans]
        if len(pair) != 2:
            continue
        a, b = sorted(pair, key=lambda span: span.start)
        start = min(a.sent.start_char, b.sent.start_char)
        end = max(a.sent.end_char, b.sent.end_char)
        interacts = bool(row.get("label"))
        yield {
            "document": document,
            "source": source,
            "sentence": doc.text[start:end],
            "sentence_start": start,
            "start_a": a.start_char,
            "end_a": a.end_char,
            "start_b": b.start_char,
            "end_b": b.end_char,
            "name_a": a.text,
            "name_b": b.text,
            "id_a": a.kb_id_ or None,
            "id_b": b.kb_id_ or None,
            "probability": 1.0 if interacts else 0.0,
            "interacts": interacts,
            "type": row.get("type"),
            "status": row.get("status", "asserted"),
        }
