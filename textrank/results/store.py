"""Result folders in DuckDB: statements, facts, and what ``query`` and ``explore`` read.

The module has three parts:

* the definition of a fact (``textrank.tasks.ppi.facts``) as SQL, ``FactTable``;
* ``Results``, which answers the questions of ``textrank query`` about a folder that
  ``textrank apply --out`` wrote. Only complete parts are read, of each document only the latest
  version, and no document that its publisher deleted;
* ``Store``, the tables behind the pages of ``textrank explore``, from a result folder, the JSON
  lines of ``textrank apply`` or the gold annotations of a corpus (``open_store``).
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

    A row can also describe a pair without evidence: ``statements`` is then 0.
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
    """Return SQL for a text without case, hyphens, slashes and spaces.

    ``expression`` is SQL too.
    """
    return f"translate(lower({expression}), '-/ ', '')"


def _entity_key(side: str) -> str:
    """Return SQL for the entity key of one name (``side`` "a" or "b") of a statement.

    That is the identifier, or without one the normalised name, or "?" if that is empty, as
    ``textrank.tasks.ppi.facts.entity_key``.
    """
    name = normalized_name(f"name_{side}")
    return f"coalesce(nullif(id_{side}, ''), nullif({name}, ''), '?')"


def keyed_statements(source: str) -> str:
    """Return SQL that adds to the statements of ``source`` what facts are made from.

    ``source`` is the name of a table or a query in parentheses. A missing ``interacts`` is false,
    ``status`` 'asserted', ``type`` ``UNTYPED`` and ``direction`` 'none'. New columns: ``key_a`` and
    ``key_b`` (entity keys), ``a`` and ``b`` (the keys sorted), ``p`` (probability, 0 or 1 by
    ``interacts`` if none is given), ``fact_direction`` (relative to ``a`` and ``b``) and
    ``is_evidence``: asserted statements that interact, and others with ``p`` of at least
    ``MIN_PROBABILITY``, if they are about two entities.
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
    """Return SQL for how often each entity has each spelling in keyed statements.

    Columns: ``key``, ``name``, ``id``, ``times``, ``letters`` (the normalised name). ``keyed`` is a
    table of ``keyed_statements``; ``where`` is a condition on ``key`` and ``name``, which may have
    parameters.
    """
    return f"""
    SELECT key, name, max(nullif(id, '')) AS id, count(*) AS times,
      {normalized_name("name")} AS letters
    FROM (SELECT key_a AS key, name_a AS name, id_a AS id FROM {keyed} UNION ALL
          SELECT key_b, name_b, id_b FROM {keyed}) WHERE {where} GROUP BY key, name"""


def entities(source: str) -> str:
    """Return SQL for one row per entity from spellings: ``key``, ``label``, ``id``, ``times``.

    ``source`` is a table or a query in parentheses with the columns of ``spellings``. The label is
    the most frequent spelling, of equal ones the first in the alphabet.
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
    """Statements in a database that are aggregated to facts on demand.

    ``fetch`` runs a query. ``keyed`` is a table or view with the columns of ``keyed_statements``
    and ``year``. ``labels`` is a query for ``key``, ``label`` and ``id`` of a list of entity keys,
    its only parameter.
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
        """Aggregate statements to facts with the definition of ``textrank.tasks.ppi.facts``.

        ``where`` is a condition on statements, so that a filter changes what is aggregated;
        ``values`` are its parameters. ``having`` is a condition on facts without parameters
        (``sum(asserted) > 0``: some evidence is asserted). ``order`` must end with ``a, b``, which
        makes it total. ``limit`` None returns all facts, and ``offset`` is then ignored.
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
        """Return the number of facts that ``select`` returns for these arguments without limit.

        Here ``where`` has no default.
        """
        aggregate = self.aggregate_sql(where, having)
        return int(self.fetch(f"{aggregate} SELECT count(*) AS n FROM facts", values)[0]["n"])

    def count_each(
        self, where: str, values: Sequence[Any], conditions: Mapping[str, str]
    ) -> dict[str, int]:
        """Return, by name, how many facts fulfil each condition, all counted in one query.

        ``conditions`` are conditions on facts by any name, each as ``having`` of ``select``.
        ``where`` and ``values`` are those of ``select``.
        """
        on_facts = [_SUM.sub(r"\1", condition) for condition in conditions.values()]
        counts = ", ".join(
            f"count(*) FILTER ({condition}) AS n{number}"
            for number, condition in enumerate(on_facts)
        )
        row = self.fetch(f"{self.aggregate_sql(where, 'true')} SELECT {counts} FROM facts", values)
        return dict(zip(conditions, map(int, row[0].values()), strict=True))

    def aggregate_sql(self, where: str, having: str, materialized: str = "NOT MATERIALIZED") -> str:
        """Return a WITH clause of SQL that ends with the table ``facts``; a SELECT is to follow.

        It defines ``chosen`` (the statements in ``where``), ``by_document`` and ``facts`` (one row
        per pair that fulfils ``having``), and takes the parameters of ``where`` once.
        ``materialized`` is "MATERIALIZED", to compute tables that are used twice only once, or "NOT
        MATERIALIZED", to compute only the columns used.
        """
        return _AGGREGATE.format(
            keyed=self.keyed, where=where, having=having, materialized=materialized
        )


def _named_fact(row: Row, labels: Mapping[str, Row]) -> FactRow:
    """Return a row of ``_FACTS`` with names and ids of its entities, standing and conflicts.

    ``labels`` has a row of ``label`` and ``id`` for each entity key of the fact; KeyError if one is
    missing.
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

    These are entities that are spelt so (without regard to case, hyphens, slashes and spaces), have
    this identifier, or are genes with this symbol in the identifier tables, in any species; without
    any of these, genes that have the name as a synonym.

    Parameters
    ----------
    fetch, source
        How to query, and the table of ``spellings`` or a query for it in parentheses.
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
    """Return the identifiers of a name by gene symbol and by synonym, of genes of any species.

    The first list also has genes with this HGNC id or UniProt accession. Both are empty for an
    unknown name, and without the shipped tables.
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
    """Conditions on statements; a field that is None is not a condition.

    Without ``status`` and ``interacts``, statements that interact are meant: asserted, and
    probable enough for the model. ``probability`` is a minimum, ``years`` the first and the last
    year, both included and None if open, ``species`` an NCBI taxon that one of the two names must
    have. Statements without a probability or year do not fulfil a condition on it.

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
        """Whether only statements that interact are meant, by default.

        True if neither ``status`` nor ``interacts`` is given.
        """
        return self.status is None and self.interacts is None

    def conditions(self, *, of_facts: bool = False) -> tuple[list[str], list[Any]]:
        """Return SQL conditions on the view ``keyed``, to be joined by AND, and their parameters.

        The lists can be empty. ``of_facts`` leaves out that statements interact by default: negated
        and speculated evidence is part of a fact too.
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
    """Return an SQL condition on ``keyed``: the name acts ("actor") or is acted upon ("target").

    It takes the list of the keys of the name twice as parameters. Any ``role`` other than "actor"
    is taken as "target".
    """
    first, second = ("a>b", "b>a") if role == "actor" else ("b>a", "a>b")
    return (
        f"((list_contains(?, key_a) AND direction = '{first}') OR "
        f"(list_contains(?, key_b) AND direction = '{second}'))"
    )


def open_results(folder: str | Path) -> Results:
    """Open a folder that ``textrank apply --out`` wrote; ValueError if it is not such a folder."""
    return Results(Path(folder))


class Results:
    """Questions to the tables of a result folder.

    ``sql`` answers any other question. The views ``documents``, ``names`` and ``statements`` have
    the latest version of each document, ``errors`` all errors; ``all_documents`` and so on have
    every version, and ``part``, the name of its part; ``dated`` adds year and title to statements,
    ``keyed`` what facts are made from (``keyed_statements``). A name in a question stands for every
    entity that is spelt so, whatever its case, hyphens, slashes and spaces; an identifier can be
    given instead. An unknown name is not an error: nothing is found.

    ``limit`` None returns all rows; ``offset`` skips as many first. ``where`` filters statements;
    see ``Filter`` for its default. The constructor raises ValueError if ``folder`` is not a result
    folder, is damaged, or has no finished part.
    """

    def __init__(self, folder: Path) -> None:
        """Open a result folder.

        Raises ValueError if it is not one, has no finished part or is damaged.
        """
        self.folder = folder
        self.manifest = _read_manifest(folder)
        self._connection = _connect(_count_bytes(folder))
        with _explain_errors(folder):
            self._create_views()
            _lock_down(self._connection, [folder / table for table in TABLES])

    @property
    def connection(self) -> duckdb.DuckDBPyConnection:
        """The database with the views; other tables can be added to it."""
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

        The query can read this result and nothing else: no other file, no network, no setting. Of
        columns with the same name the last counts.

        Parameters
        ----------
        text
            One statement that reads: SELECT, WITH, FROM, DESCRIBE, SUMMARIZE or EXPLAIN.
        values
            Parameters of the query, one for each ``?``.
        max_rows, seconds
            Largest number of rows, and longest time.

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
        """Return all rows of a query of our own; raise ValueError if DuckDB cannot run it."""
        with _explain_errors(self.folder):
            return _fetch_rows(self._connection, text, values)

    def counts(self) -> Row:
        """Return the number of rows of each of the four ``TABLES``, by name.

        Only the latest version of each document counts, but all errors; statements count whether or
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
        """Return statements in one of the ``ORDERS``: all, about a name, or about two names.

        ``other`` is used only with ``name``; the order of the two does not matter. ``limit`` None
        returns all. Rows have the columns of ``StatementRow``, ``year`` and ``title``. Raises
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
        """Return the number of statements that ``statements`` has without limit.

        By default, too, only statements that interact count; see ``Filter``.
        """
        texts, values = self._conditions(name, other, where)
        rows = self._fetch(f"SELECT count(*) AS n FROM keyed {_where(texts)}", values)
        return int(rows[0]["n"])

    def facts(
        self, *, where: Filter = NO_FILTER, limit: int | None = None, offset: int = 0
    ) -> list[FactRow]:
        """Return facts by decreasing probability, aggregated over the evidence in ``where``.

        By default a fact needs an asserted statement; its counts include negated and speculated
        ones. With ``where.status`` or ``where.interacts`` only such statements count. ``offset``
        has no effect without ``limit``.
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
        """Return the facts about a name by decreasing probability.

        ``role`` restricts the evidence to directed statements in which the name is the "actor" or
        the "target"; empty takes all. A row has the partner's ``name`` and ``id`` and the values of
        the fact (``FactRow``); a partner occurs twice if the name stands for two entities.
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
        """Return the statements about two names by decreasing probability.

        Columns are those of ``statements``. ``where`` None, the default, is no filter: also
        negated, speculated and improbable ones. ``role`` restricts them to directed statements in
        which ``name`` is the "actor" or the "target"; empty takes all.
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
        """Return the facts with both entities among some names, by decreasing probability.

        All are returned. Names that are not known are ignored; the two entities of a fact may also
        stand for the same name.
        """
        keys = sorted({key for name in names for key in self._entity_keys(name)})
        return self._facts(where, ["list_contains(?, a)", "list_contains(?, b)"], [keys, keys])

    def papers(self, names: Sequence[str], *, limit: int | None = 100) -> list[Row]:
        """Return the documents that mention all of some names, those with most mentions first.

        A row has ``document``, ``year``, ``title`` and ``mentions`` (of all names together). Of
        equally many mentions the first id comes first. ``limit`` None returns all. Empty if a name
        is not in any statement (``is_known``); mentions outside of statements count.
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

        Statements have ``year`` and ``title`` too. If several sources have the id, the row is that
        of one of them, with the names and statements of all. {} for an unknown id.
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
        """Return the documents that could not be read or judged, by source and document.

        Rows have the columns of ``ErrorRow``; errors of replaced documents are included.
        """
        return self._fetch("SELECT * FROM errors ORDER BY source, document")

    def is_known(self, name: str) -> bool:
        """Return whether a statement, evidence or not, has an entity that ``name`` stands for.

        It may be a spelling, an identifier, or a gene symbol or synonym; see ``find_entity_keys``.
        """
        return bool(self._entity_keys(name))

    def suggest(self, name: str, limit: int = 3) -> list[str]:
        """Return names of the results that are spelt similarly, at most ``limit``; maybe none.

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
        """Aggregate evidence that fulfils a filter and more conditions (``texts``, ``values``).

        ``texts`` are SQL conditions on ``keyed``, joined by AND, and ``values`` their parameters.
        Facts come by decreasing probability; without ``status`` and ``interacts`` in ``where``,
        only those with asserted evidence. ``offset`` is ignored if ``limit`` is None.
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
        """Return SQL conditions on ``keyed``, to be joined by AND, and their parameters.

        ``name`` alone selects rows with that entity on either side; with ``other``, rows with both,
        in either order. A name stands for all entities it may mean (``_entity_keys``). None stands
        for no condition; ``other`` is ignored without ``name``. Those of ``where`` come first.
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
        """Create the views over the part files, the table ``stale`` and the view ``taxa``.

        ``all_TABLE`` have every version of a document, the four ``TABLES`` the latest one that is
        not deleted (all errors), ``dated`` are statements with year and title, ``keyed`` those of
        ``keyed_statements``. ``stale`` lists replaced and deleted documents.

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
        """Format of the files, "parquet" or "jsonl"."""
        return str(self.manifest["settings"].get("format", "parquet"))

    def _scan(self, table: str, paths: Sequence[str]) -> str:
        """Return SQL that reads the files of a table, with the name of their part as ``part``.

        ``paths`` must not be empty. Columns of JSON Lines are those of the manifest.
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
    """Return a WHERE clause that joins conditions by AND; "" for none."""
    return f"WHERE {' AND '.join(texts)}" if texts else ""


def _sql_list(paths: Iterable[str | Path]) -> str:
    """Return a list of paths as a DuckDB literal, with quotation marks escaped."""
    quoted = ("'" + str(path).replace("'", "''") + "'" for path in paths)
    return f"[{', '.join(quoted)}]"


def _read_manifest(folder: Path) -> Mapping[str, Any]:
    """Return the manifest of a result folder; ValueError if it is missing or damaged.

    Damaged is also one whose format or columns are not valid (``_check_manifest``). Other errors of
    reading, such as a lack of permission, are raised as OSError.
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
    """Return a manifest whose format and columns are valid: they become part of SQL.

    Raises ValueError, KeyError, TypeError or AttributeError for any other value.
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
    """Turn errors of DuckDB into a ValueError that names the folder and a remedy.

    This includes a message of DuckDB that quotes bytes of a damaged file and is not valid UTF-8.
    Other errors pass unchanged.
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
    """Return the paths of a table's files in complete parts, which have a file in ``documents``.

    Sorted by name; the files of the table itself are not checked.
    """
    names = sorted(file.name for file in (folder / "documents").glob(f"*.{format}"))
    return [str(folder / table / name) for name in names]


def _connect(size: int = 0) -> duckdb.DuckDBPyConnection:
    """Return a new DuckDB database in memory for files of ``size`` bytes in all.

    It uses at most ``MAX_UNPACK_RATIO`` times that memory, or ``MIN_MEMORY_BYTES`` if that is more,
    creates no temporary files, loads no extensions and does not see variables of Python.
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
    """Allow a database to access only files in ``folders``, and lock its settings, for good.

    Without folders it can access no file. It cannot be called twice for a connection.
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
    """Return the size in bytes of all files in the tables of a result folder."""
    files = (file for table in TABLES for file in (folder / table).glob("*"))
    return sum(file.stat().st_size for file in files if file.is_file())


def _fetch_rows(
    connection: duckdb.DuckDBPyConnection, sql: str, values: Sequence[Any] = ()
) -> list[Row]:
    """Return the rows of a query as dictionaries by column, through a cursor of its own.

    The cursor is closed at once: DuckDB keeps memory for every open one.
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
    """Documents, names, statements and errors in one DuckDB connection, for the explorer.

    Tables: ``texts``, ``mentions``, ``claims`` and ``failures`` (rows of ``STORE_COLUMNS``);
    ``pairs``, the statements without their sentences but with year, species and the columns of
    ``keyed_statements``, small enough for memory with a million rows; ``spellings``, ``entities``
    and ``species``. Every query uses a cursor of its own, so threads can share a Store.
    """

    connection: duckdb.DuckDBPyConnection = field(repr=False)
    title: str
    manifest: Mapping[str, Any] = field(default_factory=dict)  # {} without a manifest

    def fetch(self, sql: str, values: Sequence[Any] = ()) -> list[Row]:
        """Return the rows of a query as dictionaries by column; ``values`` are its parameters.

        The query is not checked: it must be our own. Raises duckdb.Error if it cannot be run.
        """
        return _fetch_rows(self.connection, sql, values)

    def fetch_batches(
        self, sql: str, values: Sequence[Any] = ()
    ) -> Iterator[list[tuple[Any, ...]]]:
        """Yield the rows of a query as tuples, in lists of at most ``MAX_BATCH_ROWS``.

        One list is in memory at a time. Nothing is yielded without rows.
        """
        with closing(self.connection.cursor()) as cursor:
            cursor.execute(sql, list(values))
            while batch := cursor.fetchmany(MAX_BATCH_ROWS):
                yield batch

    @cached_property
    def failure_count(self) -> int:
        """Number of documents that failed, counted once."""
        return int(self.fetch_value("SELECT count(*) FROM failures"))

    @property
    def facts(self) -> FactTable:
        """Facts of the table ``pairs``, aggregated on demand."""
        labels = "SELECT key, label, id FROM entities WHERE key IN (SELECT unnest(?))"
        return FactTable(self.fetch, "pairs", labels)

    def fetch_value(self, sql: str, values: Sequence[Any] = ()) -> Any:
        """Return the first column of the first row of a query; None without rows.

        ``values`` are its parameters. Raises duckdb.Error if it cannot be run.
        """
        with closing(self.connection.cursor()) as cursor:
            row = cursor.execute(sql, list(values)).fetchone()
        return None if row is None else row[0]


def open_store(path: str | Path, open_corpus: Callable[[Path], NamedCorpus] = load_corpus) -> Store:
    """Open a result folder, the JSON lines of ``textrank apply``, or a corpus with gold pairs.

    A folder with a ``manifest.json`` is a result, a file whose first line ``is_apply_output``
    accepts is read as JSON lines, and all else as a corpus. ``open_corpus`` loads a corpus, for
    instance with other reading options. Raises ValueError if the path does not exist or cannot be
    read as one of these.
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
    documents. Any other folder with a ``manifest.json`` and Parquet files with these columns works;
    missing tables are empty and missing columns NULL. Raises ValueError if the manifest or a table
    cannot be read.
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
    """Build a Store in memory from rows by table; missing tables are empty, missing columns NULL.

    ``tables`` has rows for the names in ``TABLES``, with the columns of ``STORE_COLUMNS``; other
    columns are dropped. ``title`` is shown on the pages. ``size`` is the size of the file that the
    rows come from, in bytes, to which the memory of the database is bounded.

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

    ``size`` is the size in bytes of what will be read, which bounds the memory (``_connect``).
    """
    connection = _connect(size)
    connection.execute("SET threads = 2")
    return connection


def _insert_rows(
    connection: duckdb.DuckDBPyConnection, table: str, rows: Iterable[Mapping[str, Any]]
) -> None:
    """Insert rows into the Store's table of ``table`` (a key of ``STORE_COLUMNS``), in batches.

    Missing columns become NULL, and other keys of a row are dropped.
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
    """Return a value as DuckDB takes it; a ``trigger`` that is not None becomes JSON."""
    return json.dumps(value) if name == "trigger" and value is not None else value


def _scan_parquet(files: Iterable[Path]) -> str:
    """Return SQL for a FROM clause that reads Parquet files; it gives no row if there is no file.

    Files may differ in their columns; a column that a file lacks is NULL.
    """
    paths = sorted(files)
    if not paths:
        return "(SELECT 1) WHERE false"
    return f"read_parquet({_sql_list(paths)}, union_by_name=true)"


def _create_view(connection: duckdb.DuckDBPyConnection, table: str, source: str) -> None:
    """Create the Store's view of a table from a source that may lack columns; those are NULL.

    ``table`` is a key of ``STORE_TABLES``, ``source`` a table or scan in SQL. Values that cannot be
    cast are NULL too. Raises ValueError if the source cannot be read.
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
    """Return the SQL of one column of a view, ``EXPRESSION AS "name"``; NULL if it is not present.

    ``type`` is a type of DuckDB, to which the column is cast; values that cannot be are NULL. JSON
    is not cast.
    """
    if not is_present:
        return f'CAST(NULL AS {type}) AS "{name}"'
    # A trigger is a list in our files and a text in others; casting would lose one of them.
    return f'"{name}"' if type == "JSON" else f'TRY_CAST("{name}" AS {type}) AS "{name}"'


def _build_store(
    connection: duckdb.DuckDBPyConnection, title: str, manifest: Mapping[str, Any]
) -> Store:
    """Create the tables that are derived from claims, mentions and texts, and return the Store.

    These are ``species``, ``pairs``, ``spellings`` and ``entities``; see ``Store``. The three must
    already be in ``connection``.
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

    That is an object with a key that begins with ``ATTRIBUTE_PREFIX``. False if the line is not
    JSON or not readable text, or the file is empty.
    """
    try:
        first = next((load_json(line, "") for _, line in iter_lines(path)), None)
    except ValueError:
        return False
    return isinstance(first, dict) and any(key.startswith(ATTRIBUTE_PREFIX) for key in first)


def read_apply_output(path: Path) -> dict[str, Iterator[Row]]:
    """Return documents and statements from the output of ``textrank apply ppi``, as rows by table.

    Empty lines are skipped; a line without an id is named by its number. The file is read once for
    each table, one line at a time, and ``source`` is its name without folder. Raises ValueError,
    with the line, when other content is reached.
    """
    name = valid_unicode(path.name)

    def documents() -> Iterator[Row]:
        """Yield a row of ``documents`` for each line."""
        for document, _, _ in _iter_apply_lines(path):
            yield {"document": document, "source": name, "status": "done"}

    def statements() -> Iterator[Row]:
        """Yield a row of ``statements`` for each pair of each line."""
        for document, pairs, location in _iter_apply_lines(path):
            yield from ({**_parse_pair(pair, document, name, location)} for pair in pairs)

    return {"documents": documents(), "statements": statements()}


def _iter_apply_lines(path: Path) -> Iterator[tuple[str, list[Any], str]]:
    """Yield document id, pairs and location (file and line) of each line that is not empty.

    Raises ValueError, with the location, for a line that ``textrank apply ppi`` does not print.
    Pairs are not checked; null is no pairs. A line without "document" is named by its number from
    1.
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
    """Return ``text`` with unpaired surrogates, which no file can hold as UTF-8, replaced by ?."""
    return text.encode("utf-8", errors="replace").decode("utf-8")


class _PairReader:
    """Reader of the values of one pair; raises ValueError with its location for a wrong type.

    ``pair`` must be a dictionary, else the constructor raises; ``location`` is file and line.
    Values that are missing or null are allowed unless said otherwise.
    """

    def __init__(self, pair: Any, location: str) -> None:
        """Take a pair from JSON; raise ValueError if it is not an object.

        ``location`` begins the messages of all errors.
        """
        self.location = location
        if not isinstance(pair, dict):
            raise self.error(f"a pair must be an object, got {pair!r:.40}")
        self.pair = pair

    def error(self, reason: str) -> ValueError:
        """Return the error to raise: ``reason`` after the location, and the remedy."""
        return ValueError(f"{self.location}: {reason}. Apply the model again.")

    def text(self, key: str) -> str | None:
        """Return a text, or None if it is missing; raise ValueError for another type.

        Unpaired surrogates become "?".
        """
        value = self.pair.get(key)
        if not isinstance(value, str | None):
            raise self.error(f"{key} of a pair is not text: {value!r:.40}")
        return None if value is None else valid_unicode(value)

    def number(self, key: str) -> float | None:
        """Return a finite number, or None if it is missing; raise ValueError for anything else.

        True and false are not numbers.
        """
        value = self.pair.get(key)
        is_number = isinstance(value, int | float) and not isinstance(value, bool)
        if value is not None and not (is_number and abs(value) <= sys.float_info.max):
            raise self.error(f"{key} of a pair is not a finite number: {value!r:.40}")
        return None if value is None else float(value)

    def flag(self, key: str) -> bool | None:
        """Return true or false, or None if it is missing; raise ValueError for another type."""
        value = self.pair.get(key)
        if not isinstance(value, bool | None):
            raise self.error(f"{key} of a pair is neither true nor false: {value!r:.40}")
        return value

    def two_texts(self, key: str) -> tuple[str, str]:
        """Return two texts; raise ValueError if they are missing or of another form.

        Unpaired surrogates become "?".
        """
        value = self.pair.get(key)
        if not (isinstance(value, list) and len(value) == 2 and _are(value, str)):
            raise self.error(f"{key} of a pair must be two texts, got {value!r:.40}")
        one, other = map(valid_unicode, value)
        return one, other

    def ids(self) -> tuple[str | None, str | None]:
        """Return the two texts of the key "identifiers"; each is None if it is missing.

        Raises ValueError for another form.
        """
        value = self.pair.get("identifiers") or [None, None]
        if not (isinstance(value, list) and len(value) == 2 and _are(value, str | None)):
            raise self.error(f"identifiers of a pair must be two texts, got {value!r:.40}")
        one, other = (id and valid_unicode(id) for id in value)
        return one, other

    def spans(self, key: str) -> list[tuple[int, int]]:
        """Return character ranges ``(start, end)``; [] if they are missing.

        Raises the ValueError also for a negative start or an end before the start; empty ranges
        pass.
        """
        value = self.pair.get(key) or []
        rows: list[Any] = value if isinstance(value, list) else [None]
        if not all(isinstance(r, list) and len(r) == 2 and _are(r, int) for r in rows):
            raise self.error(f"{key} of a pair must be ranges of characters, got {value!r:.40}")
        if not all(0 <= start <= end < 1 << 53 for start, end in rows):
            raise self.error(f"{key} of a pair has a range outside of any text: {value!r:.40}")
        return [(start, end) for start, end in rows]


def _are(values: Iterable[Any], type: Any) -> bool:
    """Return whether all values are of a type; true and false are not numbers here."""
    return all(isinstance(value, type) and not isinstance(value, bool) for value in values)


def _parse_pair(pair: Any, document: str, source: str, location: str) -> StatementRow:
    """Return a row of ``doc._.textrank_ppi`` as a statement; missing values get their defaults.

    ``location`` (file and line) begins the message of the ValueError that is raised without names
    or spans, and for values of another type.
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
    """Return the first character of a sentence in its document, from the spans of its names.

    ``spans`` are the characters ``(start, end)`` of each of ``names`` in the document. None if
    there is no offset at which all names are at their spans.

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
    """Return documents, names and gold pairs of a corpus in any supported format, as rows by table.

    ``path`` gives the name of the source. Names are the span group "entities". Docs are made with a
    blank English pipeline; the whole corpus is in memory.
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

    Any other Doc must have sentence boundaries.
    """
    return next((sentence.text.strip() for sentence in doc.sents), "") if len(doc) else ""


def _gold_statements(
    doc: Doc, document: str, spans: Mapping[str, Span], source: str
) -> Iterator[Row]:
    """Yield the gold pairs of a Doc as statements with probability 1 or 0.

    ``spans`` are the names of the Doc by id; the first in the text becomes ``a``. Gold rows of
    ``doc.user_data["gold"]`` that do not name two of the ``spans`` are skipped. The sentence
    reaches from that of one name to that of the other.
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
