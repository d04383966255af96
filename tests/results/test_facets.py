"""Counts of the explorer's pages: many in one query, the same as one by one."""

from __future__ import annotations

import random

import pytest

pytest.importorskip("duckdb")

from textrank.results.queries import (
    FACT_FACETS,
    STATEMENT_FACETS,
    Selection,
    _count_statement_facets,
    _word_conditions,
    count_facets,
    count_matches,
    selection_having,
    selection_sql,
)
from textrank.results.store import STANDINGS, Store, from_rows

QUERIES = (
    [],
    [("q", "A1")],
    [("q", "A1, nothing")],
    [("type", "binding")],
    [("type", "binding"), ("type", "activation"), ("year", "2003")],
    [("year", "1900")],
    [("show", "all"), ("papers", "1")],
    [("show", "negated"), ("probability", "below .50")],
    [("probability", ".95 and more"), ("source", "y.txt")],
)


@pytest.fixture(scope="module")
def store() -> Store:
    rng = random.Random(0)
    statements = [
        {
            "document": f"d{rng.randrange(40)}",
            "name_a": f"A{rng.randrange(9)}",
            "name_b": f"B{rng.randrange(6)}",
            "probability": rng.random(),
            "interacts": rng.random() < 0.6,
            "status": rng.choice(["asserted", "asserted", "negated", "speculated"]),
            "type": rng.choice(["binding", "activation", "inhibition", None]),
            "source": rng.choice(["x.txt", "y.txt"]),
            "start_a": 0, "end_a": 2, "start_b": 5, "end_b": 7,
        }
        for _ in range(600)
    ]  # fmt: skip
    documents = [{"document": f"d{n}", "year": 2000 + n % 7} for n in range(40)]
    return from_rows({"statements": statements, "documents": documents}, "sample")


@pytest.mark.parametrize("query", QUERIES, ids=str)
def test_facts_are_counted_as_one_by_one(store: Store, query: list[tuple[str, str]]) -> None:
    selection = Selection.from_query(query)
    where, values = selection_sql(store, selection)
    matches = count_matches(store, selection)
    for name in STANDINGS:
        having = selection_having(selection, show=name)
        assert matches[name] == store.facts.count(where, values, having=having)
    facets = {facet["name"]: facet["values"] for facet in count_facets(store, selection)}
    for name, (_, conditions) in FACT_FACETS.items():
        having = selection_having(selection, ignore_facet=name)
        expected = {
            value: times
            for value, condition in conditions.items()
            if (times := store.facts.count(where, values, having=f"{having} AND {condition}"))
            or value in selection.chosen.get(name, ())
        }
        if len(expected) > 1:
            assert {row["value"]: row["times"] for row in facets[name]} == expected


@pytest.mark.parametrize("query", QUERIES, ids=str)
def test_facets_are_counted_as_one_by_one(store: Store, query: list[tuple[str, str]]) -> None:
    selection = Selection.from_query(query)
    words = _word_conditions(store, selection.words)
    facets = {facet["name"]: facet["values"] for facet in count_facets(store, selection)}
    for name in STATEMENT_FACETS:
        alone = _count_statement_facets(store, selection, [name], words)[name]
        if len(alone) > 1:
            rows = [row for row in facets[name] if row["times"]]
            assert rows == alone
        else:
            assert name not in facets or name in selection.chosen


def test_the_sample_has_every_standing(store: Store) -> None:
    """Otherwise the tests above could not fail."""
    matches = count_matches(store, Selection(show="all"))
    assert all(matches[name] for name in STANDINGS)
    assert matches["pairs"] == sum(matches[name] for name in STANDINGS)
