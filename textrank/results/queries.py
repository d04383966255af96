"""Queries of the explorer's pages: facts with facets, evidence, documents, neighbourhoods.

``Selection`` holds what a reader chose on a page (search words, facets, order, page number);
``selection_sql`` turns it into a condition on the table ``pairs`` of a ``Store``, which has one row
per statement. Facts are aggregated over the statements that fulfil this condition, by
``textrank.results.store.FactTable``.

An entity is identified by its *key*: the identifier of a name, or its normalised spelling if it has
no identifier. A *pair* is two entities about which there is a statement. Its evidence gives it a
*standing* (``textrank.tasks.ppi.facts``): likely, negated, speculated or unlikely. Pages show
likely pairs unless another standing is chosen. A *facet* is a property whose values can be chosen
on the page to restrict what is shown.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any
from urllib.parse import urlencode

from textrank.io import parse_digits
from textrank.results.store import (
    STANDINGS,
    FactRow,
    Row,
    Store,
    find_entity_keys,
    normalized_name,
)
from textrank.tasks.identifiers.names import find_species
from textrank.tasks.ppi.facts import UNTYPED

FACTS_PER_PAGE = 50
DEFAULT_NEIGHBOURS = 20  # partners of a name in its graph
MAX_FACET_VALUES = 12
MAX_NETWORK_EDGES = 20_000
MAX_PAGE = 10**6
MAX_QUERY_CHARACTERS = 200  # of search words, and of one value of a facet
MAX_CHOSEN_VALUES = 50  # of one facet

# Facets of statements: title and SQL expression over pairs that gives a text.
STATEMENT_FACETS: Mapping[str, tuple[str, str]] = {
    "type": ("Type", "type"),
    "species": ("Species", "species"),
    "year": ("Year", "CAST(year AS VARCHAR)"),
    "source": ("Source", "parse_filename(source)"),
}
# Facets of facts: title and, by value, a condition on the aggregated fact.
FACT_FACETS: Mapping[str, tuple[str, Mapping[str, str]]] = {
    "probability": (
        "Probability",
        {
            ".95 and more": "probability >= 0.95",
            ".80 to .95": "(probability >= 0.8 AND probability < 0.95)",
            ".50 to .80": "(probability >= 0.5 AND probability < 0.8)",
            "below .50": "probability < 0.5",
        },
    ),
    "papers": (
        "Independent papers",
        {"1": "papers = 1", "2": "papers = 2", "3 and more": "papers > 2", "none": "papers = 0"},
    ),
}
FACETS = (*FACT_FACETS, *STATEMENT_FACETS)
_FACET_ORDERS = {"year": "value DESC"}
ALL_STANDINGS = "all"  # value of ``Selection.show`` that shows pairs of every standing
# Pairs without asserted evidence have probability 0, so they come last by default.
SORTS: Mapping[str, str] = {
    "probability": "round(probability, 9) DESC, best DESC NULLS LAST, a, b",
    "papers": "papers DESC, round(probability, 9) DESC, a, b",
    "name": "first_name, round(probability, 9) DESC, a, b",
    "newest": "last_year DESC NULLS LAST, round(probability, 9) DESC, a, b",
}


@dataclass(frozen=True)
class Selection:
    """Choices of a reader: search words, facet values, a key of ``SORTS``, page number from 1.

    ``chosen`` maps a name in ``FACETS`` to the chosen values: a pair must have one of the values of
    each facet. ``show`` is a standing, or ``ALL_STANDINGS``.
    """

    words: str = ""
    chosen: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    sort: str = "probability"
    page: int = 1
    show: str = "likely"

    @classmethod
    def from_query(cls, query: Sequence[tuple[str, str]]) -> Selection:
        """Build a Selection from the query parameters of a URL; ignore unknown and malformed ones.

        ``query`` are pairs of name and value: ``q`` (search words, cut to
        ``MAX_QUERY_CHARACTERS``), ``show``, ``sort``, ``page``, and facets, which may be repeated
        (at most ``MAX_CHOSEN_VALUES`` values each). Of other repeated parameters the last one
        counts. Larger page numbers are reduced to ``MAX_PAGE``.
        """
        chosen: dict[str, tuple[str, ...]] = {}
        for name, value in query:
            values = chosen.get(name, ())
            is_valid = name in FACETS and 0 < len(value) <= MAX_QUERY_CHARACTERS
            if name in FACT_FACETS:
                is_valid = value in FACT_FACETS[name][1]
            if is_valid and value not in values and len(values) < MAX_CHOSEN_VALUES:
                chosen[name] = (*values, value)
        parameters = dict(query)
        sort = parameters.get("sort", "")
        page = parse_digits(parameters.get("page", ""))
        show = parameters.get("show", "")
        return cls(
            parameters.get("q", "").strip()[:MAX_QUERY_CHARACTERS],
            chosen,
            sort if sort in SORTS else "probability",
            min(max(page or 1, 1), MAX_PAGE),
            show if show in (*STANDINGS, ALL_STANDINGS) else "likely",
        )

    def to_query(self, **changes: Any) -> str:
        """Return the query string of a URL for this selection with some fields changed.

        ``changes`` are new values of fields of Selection; the page is 1 unless ``changes`` says
        otherwise. Default values are left out, so the result can be "".
        """
        changed = replace(self, **{"page": 1, **changes})
        pairs = [("q", changed.words)] if changed.words else []
        pairs += [(name, value) for name, values in changed.chosen.items() for value in values]
        pairs += [("show", changed.show)] if changed.show != "likely" else []
        pairs += [("sort", changed.sort)] if changed.sort != "probability" else []
        pairs += [("page", str(changed.page))] if changed.page > 1 else []
        return urlencode(pairs)

    def toggle(self, facet: str, value: str) -> str:
        """Return the query string of a URL with one facet value added, or removed if it is chosen.

        The URL leads to page 1. The selection itself is not changed.
        """
        values = self.chosen.get(facet, ())
        changed = tuple(v for v in values if v != value) if value in values else (*values, value)
        chosen = {**self.chosen, facet: changed}
        return self.to_query(chosen={name: values for name, values in chosen.items() if values})


def selection_sql(
    store: Store,
    selection: Selection,
    *,
    ignore_facet: str = "",
    word_conditions: Sequence[tuple[str, list[Any]]] | None = None,
) -> tuple[str, list[Any]]:
    """Return the SQL condition on the table ``pairs`` for a selection, and its parameters.

    The condition covers the search words and ``STATEMENT_FACETS``, and excludes pairs of an entity
    with itself; ``selection_having`` covers the rest. ``ignore_facet`` names a facet to leave out,
    which is needed to count its values. ``word_conditions`` is the result of ``_word_conditions``
    for the search words; None computes it.
    """
    conditions, values = ["a <> b"], list[Any]()
    for name, chosen in selection.chosen.items():
        if name != ignore_facet and name in STATEMENT_FACETS:
            conditions.append(f"{STATEMENT_FACETS[name][1]} IN ({', '.join('?' * len(chosen))})")
            values += chosen
    if word_conditions is None:
        word_conditions = _word_conditions(store, selection.words)
    for condition, parameters in word_conditions:
        conditions.append(condition)
        values += parameters
    return " AND ".join(f"({condition})" for condition in conditions), values


def selection_having(selection: Selection, *, ignore_facet: str = "", show: str = "") -> str:
    """Return the SQL condition on aggregated facts for a selection; it has no parameters.

    The condition covers the standing and ``FACT_FACETS``, and is "true" if nothing is restricted.
    ``ignore_facet`` names a facet to leave out, which is needed to count its values. ``show``
    replaces the standing of the selection unless it is "". Raises KeyError for an unknown standing
    or value of a facet.
    """
    standing = show or selection.show
    conditions = [] if standing == ALL_STANDINGS else [STANDINGS[standing]]
    for name, (_, values) in FACT_FACETS.items():
        chosen = [values[value] for value in selection.chosen.get(name, ())]
        if chosen and name != ignore_facet:
            conditions.append(f"({' OR '.join(chosen)})")
    return " AND ".join(conditions) or "true"


def _word_conditions(store: Store, words: str) -> list[tuple[str, list[Any]]]:
    """Return SQL conditions on ``pairs``, each with its parameters, that the search words require.

    All conditions must hold. If the whole text finds an entity (``find_entities``), there is one
    condition; otherwise there is one per word, separated by spaces, commas or semicolons, where
    "PMID" before a number is dropped. A condition holds for a statement if the word finds one of
    its two entities or is the id of its document. [] for "".
    """
    if not words:
        return []
    keys_of_all = find_entities(store, words)
    parts = re.split(r"[\s,;]+", re.sub(r"(?i)\bpmid[:\s]\s*(?=\d)", "", words))
    conditions = []
    for term in filter(None, [words] if keys_of_all else parts):
        keys = keys_of_all or find_entities(store, term)
        condition = "list_contains(?, key_a) OR list_contains(?, key_b) OR document = ?"
        conditions.append((condition, [keys, keys, term]))
    return conditions


def find_entities(store: Store, word: str) -> list[str]:
    """Return the keys of the entities that a search word finds.

    The first of these that finds any is used: entities with this spelling, identifier, gene symbol
    or synonym (``find_entity_keys``); entities of the species that the word names ("mouse",
    "10090"); entities whose spelling or key contains the word, if it has a letter or digit. Returns
    at most 10000 keys in undefined order, [] if there are none.
    """
    if keys := find_entity_keys(store.fetch, "spellings", word):
        return keys
    taxa = [word.lower(), *(str(taxon) for taxon in _find_taxa(word))]
    sql = "SELECT key FROM species WHERE list_contains(?, lower(species)) LIMIT 10000"
    if keys := [row["key"] for row in store.fetch(sql, [taxa])]:
        return keys
    if not any(c.isalnum() for c in word):
        return []
    sql = (
        f"SELECT DISTINCT key FROM spellings WHERE contains(letters, {normalized_name('?')}) "
        "OR contains(lower(key), lower(?)) LIMIT 10000"
    )
    return [row["key"] for row in store.fetch(sql, [word, word])]


def _find_taxa(word: str) -> list[int]:
    """Return the NCBI taxa of a species name such as "mouse"; [] for any other text.

    The whole text must name the species: a species among other words does not count.
    """
    mentions = find_species(word)
    return [m.taxon for m in mentions if m.end - m.start == len(word.strip())]


def select_page(store: Store, selection: Selection) -> list[FactRow]:
    """Return the facts of one page of a selection, at most ``FACTS_PER_PAGE``, in its order.

    If ``selection.show`` is "unlikely" or ``ALL_STANDINGS``, pairs without evidence are included.
    [] beyond the last page.
    """
    where, values = selection_sql(store, selection)
    return store.facts.select(
        where,
        values,
        having=selection_having(selection),
        order=SORTS[selection.sort],
        limit=FACTS_PER_PAGE,
        offset=(selection.page - 1) * FACTS_PER_PAGE,
    )


def select_fact(store: Store, one: str, other: str) -> FactRow | None:
    """Return the aggregated statements about two entities, given their keys in any order.

    The row describes a fact, or a pair without evidence. None if there is no statement about the
    two.
    """
    ends = [min(one, other), max(one, other)]
    rows = store.facts.select("a = ? AND b = ?", ends)
    return rows[0] if rows else None


def count_matches(store: Store, selection: Selection) -> Row:
    """Count the pairs, statements and documents that match a selection.

    The standing that the selection shows is ignored. Keys: each standing with its number of pairs,
    ``pairs`` (their sum), ``statements`` and ``documents``. The last two also ignore
    ``FACT_FACETS``, which are conditions on whole facts.
    """
    where, values = selection_sql(store, selection)
    conditions = {name: selection_having(selection, show=name) for name in STANDINGS}
    counts = store.facts.count_each(where, values, conditions)
    sql = (
        "SELECT count(*) AS statements, count(DISTINCT document) AS documents "
        f"FROM pairs WHERE {where}"
    )
    return {**store.fetch(sql, values)[0], **counts, "pairs": sum(counts.values())}


def count_facets(store: Store, selection: Selection) -> list[Row]:
    """Return the facets of a selection with the number of matching pairs for each value.

    A row has ``name``, ``title`` and ``values``. Values are rows of ``value`` and ``times``, the
    number of pairs that have the value and match the selection in all other facets. There are at
    most ``MAX_FACET_VALUES``, most frequent first (years: newest first; facets of facts: in the
    order of ``FACT_FACETS``); chosen values are listed even if no pair has them. Facets with fewer
    than two values are left out unless one is chosen, as is "species" if no species is known.
    """
    words = _word_conditions(store, selection.words)
    values_of_facet = _count_fact_facets(store, selection, words)
    names = list(STATEMENT_FACETS)
    if not store.fetch_value("SELECT count(*) FROM species"):
        names.remove("species")
    # Facets without a choice have the same condition, so one query counts all of them.
    open_names = [name for name in names if name not in selection.chosen]
    groups = [open_names, *([name] for name in names if name in selection.chosen)]
    for group in filter(None, groups):
        values_of_facet |= _count_statement_facets(store, selection, group, words)
    facets = []
    for name in (name for name in FACETS if name in values_of_facet):
        title, rows = (FACT_FACETS.get(name) or STATEMENT_FACETS[name])[0], values_of_facet[name]
        chosen = selection.chosen.get(name, ())
        missing = [{"value": v, "times": 0} for v in chosen if v not in [r["value"] for r in rows]]
        if len(rows) > 1 or chosen:
            facets.append({"name": name, "title": title, "values": [*rows, *missing]})
    return facets


def _count_fact_facets(
    store: Store, selection: Selection, words: Sequence[tuple[str, list[Any]]]
) -> dict[str, list[Row]]:
    """Count the matching pairs for each value of ``FACT_FACETS``.

    Returns, by facet, rows of ``value`` and ``times``, the number of pairs that have the value and
    match the selection in all other facets; values without a pair are left out. ``words`` is the
    result of ``_word_conditions`` for the search words.
    """
    conditions = {
        f"{name} {value}": f"{selection_having(selection, ignore_facet=name)} AND {condition}"
        for name, (_, values) in FACT_FACETS.items()
        for value, condition in values.items()
    }
    where, parameters = selection_sql(store, selection, word_conditions=words)
    counts = store.facts.count_each(where, parameters, conditions)
    return {
        name: [
            {"value": value, "times": times}
            for value in values
            if (times := counts[f"{name} {value}"])
        ]
        for name, (_, values) in FACT_FACETS.items()
    }


def _count_statement_facets(
    store: Store, selection: Selection, names: Sequence[str], words: Sequence[tuple[str, list[Any]]]
) -> dict[str, list[Row]]:
    """Count the matching pairs for the most frequent values of facets in ``STATEMENT_FACETS``.

    Returns, by facet, at most ``MAX_FACET_VALUES`` rows of ``value`` and ``times``, most frequent
    first (years: newest first). ``times`` is the number of pairs that have the value and match the
    selection without the facet ``names[0]``; so give several ``names`` only if no value is chosen
    in any of them. For a pair with evidence, only statements that are evidence count. ``words`` is
    the result of ``_word_conditions`` for the search words.
    """
    where, parameters = selection_sql(
        store, selection, ignore_facet=names[0], word_conditions=words
    )
    columns = ", ".join(f'{STATEMENT_FACETS[name][1]} AS "{name}_value"' for name in names)
    counts = " UNION ALL ".join(
        f"(SELECT '{name}' AS facet, \"{name}_value\" AS value, count(DISTINCT (a, b)) AS times "
        f"FROM shown WHERE value IS NOT NULL GROUP BY ALL "
        f"ORDER BY {_FACET_ORDERS.get(name, 'times DESC, value')} LIMIT {MAX_FACET_VALUES})"
        for name in names
    )
    sql = (
        f"{store.facts.aggregate_sql(where, selection_having(selection))}, shown AS MATERIALIZED ("
        f"SELECT a, b, {columns} FROM pairs JOIN (SELECT a, b, statements FROM facts) f "
        f"USING (a, b) WHERE ({where}) AND (is_evidence OR f.statements = 0)) {counts}"
    )
    rows: dict[str, list[Row]] = {name: [] for name in names}
    for row in store.fetch(sql, [*parameters, *parameters]):
        rows[row["facet"]].append({"value": row["value"], "times": row["times"]})
    for name, values in rows.items():  # SQL promises no order of a union
        if name == "year":
            values.sort(key=lambda row: row["value"], reverse=True)
        else:
            values.sort(key=lambda row: (-row["times"], row["value"]))
    return rows


def select_entity(store: Store, key: str) -> Row | None:
    """Return an entity with its species and its 40 most frequent spellings; None if unknown.

    Columns: ``key``, ``label`` (most frequent spelling), ``id``, ``times``, ``species`` (NCBI taxon
    or None), ``spellings`` (rows of ``name`` and ``times``).
    """
    rows = store.fetch("SELECT * FROM entities WHERE key = ?", [key])
    if not rows:
        return None
    sql = "SELECT name, times FROM spellings WHERE key = ? ORDER BY times DESC, name LIMIT 40"
    species = store.fetch_value("SELECT species FROM species WHERE key = ?", [key])
    return {**rows[0], "species": species, "spellings": store.fetch(sql, [key])}


def suggest_entities(store: Store, word: str, limit: int = 8) -> list[Row]:
    """Return entities to suggest while a search word is typed, at most ``limit``.

    These are entities with a spelling or key that contains the word, ignoring case, hyphens,
    slashes and spaces: first those with a spelling that begins with the word, then by frequency. An
    empty word matches all. Columns: ``key``, ``label``, ``id``, ``times`` and ``name``, the
    alphabetically first matching spelling.
    """
    letters = normalized_name("?")
    sql = (
        "SELECT e.key, e.label, e.id, e.times, min(s.name) AS name FROM spellings s "
        "JOIN entities e ON e.key = s.key "
        f"WHERE contains(s.letters, {letters}) OR contains(lower(s.key), lower(?)) "
        f"GROUP BY ALL ORDER BY bool_or(starts_with(s.letters, {letters})) DESC, e.times DESC "
        "LIMIT ?"
    )
    return store.fetch(sql, [word, word, word, limit])


# Condition that a row of claims (s) is the statement of a row of pairs (p). Documents of several
# files can have the same id, so the source belongs to it.
IS_SAME_STATEMENT = """s.document = p.document AND s.source IS NOT DISTINCT FROM p.source
  AND s.start_a = p.start_a AND s.end_a = p.end_a
  AND s.start_b = p.start_b AND s.end_b = p.end_b"""
_EVIDENCE = f"""
SELECT s.*, p.year, p.key_a, p.key_b, d.title FROM pairs p JOIN claims s ON {IS_SAME_STATEMENT}
LEFT JOIN (SELECT document, any_value(title) AS title FROM texts WHERE document IN
  (SELECT unnest(?)) GROUP BY document) d ON d.document = p.document
WHERE p.row IN (SELECT unnest(?)) AND s.document IN (SELECT unnest(?))
ORDER BY s.probability DESC NULLS LAST, s.document, s.start_a, s.start_b"""


def select_evidence(store: Store, one: str, other: str, limit: int = 200) -> list[Row]:
    """Return the statements about two entity keys with their sentences, most probable first.

    The keys may be in any order. Statements that are not evidence are included; at most ``limit``
    are returned. Columns are those of the table ``claims`` (``STORE_COLUMNS``), and ``year``,
    ``key_a``, ``key_b`` and ``title``.
    """
    rows = store.fetch(
        "SELECT row, document FROM pairs WHERE a = ? AND b = ? "
        "ORDER BY probability DESC NULLS LAST, row LIMIT ?",
        [min(one, other), max(one, other), limit],
    )
    return _add_sentences(store, rows)


def select_statements(store: Store, document: str, limit: int = 2000) -> list[Row]:
    """Return the statements of a document with their sentences, in text order, at most ``limit``.

    If there are more, those that begin first in the text are returned. Columns are those of
    ``select_evidence``; [] for an unknown document.
    """
    rows = store.fetch(
        "SELECT row, document FROM pairs WHERE document = ? ORDER BY start_a LIMIT ?",
        [document, limit],
    )
    statements = _add_sentences(store, rows)
    return sorted(statements, key=lambda row: (row["start_a"] or 0, row["start_b"] or 0))


def _add_sentences(store: Store, rows: Sequence[Mapping[str, Any]]) -> list[Row]:
    """Return the complete statements, with sentences, of rows of the table ``pairs``.

    ``rows`` need the keys ``row`` and ``document``. The result has the columns of the table
    ``claims`` and ``year``, ``key_a``, ``key_b`` and ``title``, most probable first whatever the
    order of ``rows``. A missing type becomes ``UNTYPED``, a missing status "asserted".
    """
    documents = sorted({row["document"] for row in rows})
    statements = store.fetch(_EVIDENCE, [documents, [row["row"] for row in rows], documents])
    return [
        {**row, "type": row["type"] or UNTYPED, "status": row["status"] or "asserted"}
        for row in statements
    ]


def select_document(store: Store, document: str) -> Row | None:
    """Return the row of a document with its ``names`` in text order; None if the id is unknown.

    Columns are those of the table ``texts``; ``names`` are rows of ``mentions``. At most 10000
    names are returned. If documents of several files have the id, the row of one of them is
    returned, with the names of all.
    """
    rows = store.fetch("SELECT * FROM texts WHERE document = ? LIMIT 1", [document])
    if not rows:
        return None
    names = store.fetch(
        'SELECT * FROM mentions WHERE document = ? ORDER BY start, "end" LIMIT 10000', [document]
    )
    return {**rows[0], "names": names}


_ENTITIES_OF_DOCUMENT = f"""
SELECT any_value(name) AS name, n.key, any_value(id) AS id, any_value(label) AS label,
  any_value(species) AS species, count(*) AS times, min(start) AS first,
  bool_or(e.key IS NOT NULL) AS has_page
FROM (SELECT *, coalesce(nullif(id, ''), nullif({normalized_name("name")}, ''), '?') AS key
  FROM mentions WHERE document = ?) n
LEFT JOIN (SELECT key FROM entities) e ON e.key = n.key GROUP BY n.key ORDER BY first"""


def select_entities(store: Store, document: str) -> list[Row]:
    """Return the entities named in a document, once each, in text order.

    Columns: ``key``, ``name``, ``id``, ``label``, ``species``, ``times`` (in this document),
    ``first`` (its first character) and ``has_page``: whether the entity occurs in a statement of
    any document, so that it has a page of its own.
    """
    return store.fetch(_ENTITIES_OF_DOCUMENT, [document])


def select_partners(
    store: Store, key: str, *, min_probability: float = 0.5, limit: int = DEFAULT_NEIGHBOURS
) -> list[FactRow]:
    """Return the facts with asserted evidence about an entity, most probable first.

    At most ``limit`` facts with a probability of at least ``min_probability`` are returned. The
    entity ``key`` may be end ``a`` or ``b`` of a fact. [] for an unknown key.
    """
    return store.facts.select(
        "is_evidence AND (a = ? OR b = ?)",
        [key, key],
        having=_is_probable(min_probability),
        limit=limit,
    )


def select_neighbourhood(
    store: Store, key: str, *, min_probability: float = 0.5, limit: int = DEFAULT_NEIGHBOURS
) -> Row:
    """Return the graph of an entity, its most probable partners and the facts between all of them.

    At most ``limit`` partners are in the graph. Keys: ``centre`` (the entity key), ``nodes`` (rows
    of ``key`` and ``label``, the entity first), ``edges`` (facts) and ``partners``, the number of
    all partners, including those not in the graph. Only facts with a probability of at least
    ``min_probability`` count.
    """
    facts = select_partners(store, key, min_probability=min_probability, limit=limit)
    keys = [key, *(fact["b"] if fact["a"] == key else fact["a"] for fact in facts)]
    edges = store.facts.select(
        "is_evidence AND list_contains(?, a) AND list_contains(?, b)",
        [keys, keys],
        having=_is_probable(min_probability),
    )
    partners = store.facts.count(
        "is_evidence AND (a = ? OR b = ?)",
        [key, key],
        having=_is_probable(min_probability),
    )
    labels = _labels(store, keys)
    nodes = [{"key": k, "label": labels.get(k, k)} for k in keys]
    return {"centre": key, "nodes": nodes, "edges": edges, "partners": partners}


def select_network(store: Store, selection: Selection, limit: int = MAX_NETWORK_EDGES) -> Row:
    """Return the facts of a selection that have evidence as a graph, with ``nodes`` and ``edges``.

    Edges are the ``limit`` most probable facts, most probable first; page and order of the
    selection are ignored. Nodes are rows of ``key`` and ``label``, one for each entity of the
    edges.
    """
    where, values = selection_sql(store, selection)
    edges = store.facts.select(
        f"is_evidence AND {where}", values, having=selection_having(selection), limit=limit
    )
    labels: dict[str, str] = {}
    for edge in edges:
        labels |= {edge["a"]: edge["name_a"], edge["b"]: edge["name_b"]}
    nodes = [{"key": key, "label": label} for key, label in labels.items()]
    return {"nodes": nodes, "edges": edges}


def select_errors(store: Store, limit: int = 1000) -> list[Row]:
    """Return the documents that failed, sorted by source and document.

    At most ``limit`` rows with the columns ``source``, ``document`` and ``reason``.
    """
    return store.fetch("SELECT * FROM failures ORDER BY source, document LIMIT ?", [limit])


def _is_probable(min_probability: float) -> str:
    """Return the SQL condition that a fact has asserted evidence and at least this probability.

    It is meant for ``having`` of ``FactTable.select`` and has no parameters.
    """
    return f"sum(asserted) > 0 AND probability >= {float(min_probability)!r}"


def _labels(store: Store, keys: Sequence[str]) -> dict[str, str]:
    """Return the label of each entity key; unknown keys are left out."""
    sql = "SELECT key, label FROM entities WHERE list_contains(?, key)"
    return {row["key"]: row["label"] for row in store.fetch(sql, [list(keys)])}
