"""What the pages ask of a store: facts with facets, evidence, a document, a neighbourhood."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any
from urllib.parse import urlencode

from textrank.results.store import Store

PAGE = 50  # facts a page
NEIGHBOURS = 20  # names around one, at first
FEW = 12  # values of a facet that are listed

# A facet is one expression over the table of pairs that gives a text.
FACETS: Mapping[str, tuple[str, str]] = {
    "probability": (
        "Probability",
        "CASE WHEN probability >= 0.95 THEN '.95 and more'"
        " WHEN probability >= 0.8 THEN '.80 to .95'"
        " WHEN probability >= 0.5 THEN '.50 to .80' WHEN probability IS NULL THEN 'none given'"
        " ELSE 'below .50' END",
    ),
    "answer": ("Answer", "CASE WHEN interacts THEN 'interacts' ELSE 'does not' END"),
    "type": ("Type", "type"),
    "status": ("Status", "status"),
    "species": ("Species", "species"),
    "year": ("Year", "CAST(year AS VARCHAR)"),
    "source": ("Source", "parse_filename(source)"),
}
SORTS: Mapping[str, str] = {
    "probability": "interacts DESC, best DESC NULLS LAST, sentences DESC, a, b",
    "evidence": "sentences DESC, best DESC, a, b",
    "name": "called, best DESC NULLS LAST, a, b",
    "newest": "year DESC NULLS LAST, best DESC, a, b",
}


_ORDERS = {"year": "value DESC", "probability": "max(probability) DESC NULLS LAST"}


@dataclass(frozen=True)
class Wanted:
    """What a reader asked for: words, chosen values of facets, order and page."""

    words: str = ""
    chosen: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    sort: str = "probability"
    page: int = 1

    @classmethod
    def of(cls, query: Sequence[tuple[str, str]]) -> Wanted:
        """From the parameters of an address; what is not known is passed over."""
        chosen: dict[str, tuple[str, ...]] = {}
        for name, value in query:
            if name in FACETS and value and value not in chosen.get(name, ()):
                chosen[name] = (*chosen.get(name, ()), value)
        plain = dict(query)
        sort = plain.get("sort", "")
        number = plain.get("page", "1")
        return cls(
            plain.get("q", "").strip()[:200],
            chosen,
            sort if sort in SORTS else "probability",
            min(int(number), 10**6) if number.isascii() and number.isdigit() and int(number) else 1,
        )

    def address(self, **changes: Any) -> str:
        """The query part of an address that asks for this, with changes."""
        new = replace(self, **{"page": 1, **changes})
        pairs = [("q", new.words)] if new.words else []
        pairs += [(name, value) for name, values in new.chosen.items() for value in values]
        pairs += [("sort", new.sort)] if new.sort != "probability" else []
        pairs += [("page", str(new.page))] if new.page > 1 else []
        return urlencode(pairs)

    def toggled(self, facet: str, value: str) -> str:
        """The address with one value of a facet added or taken away."""
        own = self.chosen.get(facet, ())
        left = tuple(v for v in own if v != value) if value in own else (*own, value)
        chosen = {**self.chosen, facet: left}
        return self.address(chosen={name: values for name, values in chosen.items() if values})


def letters(name: str) -> str:
    """A name without case, hyphens, slashes and blanks, as names are compared."""
    return name.lower().translate(str.maketrans("", "", "-/ "))


def keys_called(store: Store, word: str) -> list[str]:
    """The entities that are spelt like a word or have it as identifier, else that contain it.

    All names of an identifier are found with any of them: a synonym finds its statements.
    """
    whole, part = "letters = ? OR lower(key) = ?", "contains(letters, ?) OR contains(lower(key), ?)"
    for test in (whole, part):
        sql = f"SELECT DISTINCT key FROM spellings WHERE {test} LIMIT 10000"
        if found := [row["key"] for row in store.rows(sql, [letters(word), word.lower()])]:
            return found
    return []


def condition(store: Store, wanted: Wanted, *, without: str = "") -> tuple[str, list[Any]]:
    """The SQL condition on pairs and its values; ``without`` leaves one facet out."""
    parts, values = ["true"], list[Any]()
    for name, chosen in wanted.chosen.items():
        if name != without:
            parts.append(f"{FACETS[name][1]} IN ({', '.join('?' * len(chosen))})")
            values += chosen
    for clause, own in _words(store, wanted.words):
        parts.append(clause)
        values += own
    return " AND ".join(f"({part})" for part in parts), values


def _words(store: Store, words: str) -> Iterator[tuple[str, list[Any]]]:
    """One condition for the whole text where some name has it, else one for each word."""
    if not words:
        return
    whole = keys_called(store, words)
    terms = [words] if whole else re.split(r"[\s,;]+", words)
    for term in filter(None, terms):
        keys = whole or keys_called(store, term)
        yield (
            "list_contains(?, key_a) OR list_contains(?, key_b) OR document = ?",
            [keys, keys, term],
        )


# The names and their order first: those that interact before what is denied, by the surest
# sentence that says so. Then what is said of the few that are shown.
_FACTS = """
WITH shown AS (
  SELECT a, b, count(*) AS sentences, bool_or(interacts) AS interacts,
    coalesce(max(probability) FILTER (interacts), max(probability)) AS best,
    max(year) AS year, lower(min(CASE WHEN key_a = a THEN name_a ELSE name_b END)) AS called
  FROM pairs WHERE {where} GROUP BY a, b {by} LIMIT ? OFFSET ?),
said AS (
  SELECT p.a, p.b, count(DISTINCT document) AS documents, histogram(type) AS types,
    list_sort(list(DISTINCT status)) AS statuses
  FROM pairs p SEMI JOIN shown ON p.a = shown.a AND p.b = shown.b WHERE {where} GROUP BY p.a, p.b)
SELECT shown.*, said.* EXCLUDE (a, b), ea.label AS label_a, eb.label AS label_b, ea.id AS id_a,
  eb.id AS id_b
FROM shown JOIN said ON shown.a = said.a AND shown.b = said.b
JOIN entities ea ON ea.key = shown.a JOIN entities eb ON eb.key = shown.b
ORDER BY {order}"""


def facts(
    store: Store, wanted: Wanted, *, limit: int = PAGE, also: str = "true"
) -> list[dict[str, Any]]:
    """One page of facts: two names, the evidence for them and the surest probability."""
    where, values = condition(store, wanted)
    where = f"{where} AND {also}"
    order = SORTS[wanted.sort]
    sql = _FACTS.format(
        where=where, by=f"ORDER BY {order}", order=order.replace("a, b", "shown.a, shown.b")
    )
    rows = store.rows(sql, [*values, limit, (wanted.page - 1) * limit, *values])
    return [{**r, "types": sorted(r["types"], key=lambda t: (-r["types"][t], t))} for r in rows]


def counts(store: Store, wanted: Wanted) -> dict[str, Any]:
    """How many facts, sentences and documents match."""
    where, values = condition(store, wanted)
    sql = (
        "SELECT count(*) AS statements, count(DISTINCT document) AS documents, "
        f"(SELECT count(*) FROM (SELECT 1 FROM pairs WHERE {where} GROUP BY a, b)) AS facts "
        f"FROM pairs WHERE {where}"
    )
    return store.rows(sql, [*values, *values])[0]


def facets(store: Store, wanted: Wanted) -> list[dict[str, Any]]:
    """The values of each facet with how many statements have them, the other choices kept."""
    found = []
    for name, (title, expression) in FACETS.items():
        if name == "species" and not store.value("SELECT count(*) FROM species"):
            continue
        where, values = condition(store, wanted, without=name)
        order = _ORDERS.get(name, "times DESC, value")
        sql = (
            f"SELECT {expression} AS value, count(*) AS times FROM pairs WHERE {where} "
            f"GROUP BY 1 HAVING value IS NOT NULL ORDER BY {order} LIMIT {FEW}"
        )
        rows = store.rows(sql, values)
        chosen = wanted.chosen.get(name, ())
        missing = [{"value": v, "times": 0} for v in chosen if v not in [r["value"] for r in rows]]
        if len(rows) > 1 or chosen:
            found.append({"name": name, "title": title, "values": [*rows, *missing]})
    return found


def entity(store: Store, key: str) -> dict[str, Any] | None:
    """A name with all its spellings; None where nothing is called so."""
    found = store.rows("SELECT * FROM entities WHERE key = ?", [key])
    if not found:
        return None
    sql = "SELECT name, times FROM spellings WHERE key = ? ORDER BY times DESC, name LIMIT 40"
    species = store.value("SELECT species FROM species WHERE key = ?", [key])
    return {**found[0], "species": species, "spellings": store.rows(sql, [key])}


_EVIDENCE = """
SELECT s.*, p.year, p.key_a, p.key_b, d.title FROM pairs p
JOIN claims s ON s.document = p.document AND s.start_a = p.start_a AND s.end_a = p.end_a
  AND s.start_b = p.start_b AND s.end_b = p.end_b
LEFT JOIN (SELECT document, any_value(title) AS title FROM texts WHERE document IN
  (SELECT unnest(?)) GROUP BY document) d ON d.document = p.document
WHERE p.row IN (SELECT unnest(?)) AND s.document IN (SELECT unnest(?))
ORDER BY s.probability DESC NULLS LAST, s.document, s.start_a, s.start_b"""


def evidence(store: Store, a: str, b: str, limit: int = 200) -> list[dict[str, Any]]:
    """The statements about two names with their sentences, the surest first."""
    rows = store.rows(
        "SELECT row, document FROM pairs WHERE a = ? AND b = ? "
        "ORDER BY probability DESC NULLS LAST, row LIMIT ?",
        [min(a, b), max(a, b), limit],
    )
    return _with_sentences(store, rows)


def of_document(store: Store, document: str, limit: int = 2000) -> list[dict[str, Any]]:
    """The statements of a document with their sentences, in text order."""
    rows = store.rows(
        "SELECT row, document FROM pairs WHERE document = ? ORDER BY start_a LIMIT ?",
        [document, limit],
    )
    found = _with_sentences(store, rows)
    return sorted(found, key=lambda row: (row["start_a"] or 0, row["start_b"] or 0))


def _with_sentences(store: Store, rows: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    documents = sorted({row["document"] for row in rows})
    found = store.rows(_EVIDENCE, [documents, [row["row"] for row in rows], documents])
    return [
        {**row, "type": row["type"] or "not typed", "status": row["status"] or "asserted"}
        for row in found
    ]


def document(store: Store, name: str) -> dict[str, Any] | None:
    """What is known of a document, with its names; None where it is not among the results."""
    found = store.rows("SELECT * FROM texts WHERE document = ? LIMIT 1", [name])
    if not found:
        return None
    names = store.rows(
        'SELECT * FROM mentions WHERE document = ? ORDER BY start, "end" LIMIT 10000', [name]
    )
    return {**found[0], "names": names}


_CALLED = """
SELECT any_value(name) AS name, n.key, any_value(id) AS id, any_value(label) AS label,
  any_value(species) AS species, count(*) AS times, min(start) AS first,
  bool_or(e.key IS NOT NULL) AS known
FROM (SELECT *, coalesce(nullif(id, ''), nullif(translate(lower(name), '-/ ', ''), ''), '?') AS key
  FROM mentions WHERE document = ?) n
LEFT JOIN (SELECT key FROM entities) e ON e.key = n.key GROUP BY n.key ORDER BY first"""


def called(store: Store, document: str) -> list[dict[str, Any]]:
    """The names of a document in text order, each once; ``known`` where some statement has it."""
    return store.rows(_CALLED, [document])


_AROUND = """
SELECT CASE WHEN key_a = ? THEN key_b ELSE key_a END AS key, count(*) AS sentences,
  count(DISTINCT document) AS documents, max(probability) AS best,
  mode(type) AS type, bool_or(interacts) AS interacts
FROM pairs WHERE (key_a = ? OR key_b = ?) AND key_a <> key_b AND interacts
  AND coalesce(probability, 1) >= ?
GROUP BY 1 ORDER BY best DESC, sentences DESC, key LIMIT ?"""

_BETWEEN = """
SELECT a, b, count(*) AS sentences,
  max(probability) AS best, mode(type) AS type, mode(direction) AS direction
FROM pairs WHERE list_contains(?, key_a) AND list_contains(?, key_b) AND key_a <> key_b
  AND interacts AND coalesce(probability, 1) >= ? GROUP BY 1, 2"""


def neighbours(
    store: Store, key: str, *, least: float = 0.5, limit: int = NEIGHBOURS
) -> list[dict[str, Any]]:
    """Whom a name interacts with, the surest first."""
    found = store.rows(_AROUND, [key, key, key, least, limit])
    labels = _labels(store, [row["key"] for row in found])
    return [{**row, **labels.get(row["key"], {})} for row in found]


def neighbourhood(
    store: Store, key: str, *, least: float = 0.5, limit: int = NEIGHBOURS
) -> dict[str, Any]:
    """One name with its surest partners and what is said between these: never all there is."""
    around = neighbours(store, key, least=least, limit=limit)
    keys = [key, *(row["key"] for row in around)]
    edges = store.rows(_BETWEEN, [keys, keys, least])
    linked = _AROUND.replace("ORDER BY best DESC, sentences DESC, key LIMIT ?", "")
    total = store.value(f"SELECT count(*) FROM ({linked})", [key, key, key, least])
    labels = _labels(store, keys)
    nodes = [{"key": k, "label": labels.get(k, {}).get("label", k)} for k in keys]
    return {"centre": key, "nodes": nodes, "edges": edges, "partners": total}


def network(store: Store, wanted: Wanted, limit: int = 20_000) -> dict[str, Any]:
    """The facts that match, as nodes and edges to export; the surest where there are too many."""
    surest = replace(wanted, sort="probability", page=1)
    edges = facts(store, surest, limit=limit, also="key_a <> key_b")
    labels = {e[side]: e[f"label_{side}"] for e in edges for side in "ab"}
    return {"nodes": [{"key": k, "label": v} for k, v in labels.items()], "edges": edges}


def suggestions(store: Store, word: str, limit: int = 8) -> list[dict[str, Any]]:
    """Names that begin with a word, then those that contain it; the frequent ones first."""
    sql = (
        "SELECT e.key, e.label, e.id, e.times, min(s.name) AS name FROM spellings s "
        "JOIN entities e ON e.key = s.key "
        "WHERE contains(s.letters, ?) OR contains(lower(s.key), ?) "
        "GROUP BY ALL ORDER BY bool_or(starts_with(s.letters, ?)) DESC, e.times DESC LIMIT ?"
    )
    return store.rows(sql, [letters(word), word.lower(), letters(word), limit])


def errors(store: Store, limit: int = 1000) -> list[dict[str, Any]]:
    """The documents that failed, with the reason."""
    return store.rows("SELECT * FROM failures ORDER BY source, document LIMIT ?", [limit])


def _labels(store: Store, keys: Sequence[str]) -> dict[str, dict[str, Any]]:
    sql = "SELECT key, label, id FROM entities WHERE list_contains(?, key)"
    return {row["key"]: row for row in store.rows(sql, [list(keys)])}
