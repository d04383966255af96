"""``apply --facts``, ``query`` and ``explore`` give every fact the same values."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from spacy.tokens import Doc

from textrank.results.schema import TABLES, document_row, statement_rows, write_part
from textrank.tasks.ppi.facts import aggregate_facts, entity_key, network_from_facts
from textrank.tasks.ppi.task import PPI

pytest.importorskip("duckdb")
pytest.importorskip("pyarrow")

from textrank.results import queries
from textrank.results.queries import Selection
from textrank.results.store import (
    STANDINGS,
    Filter,
    Store,
    normalized_name,
    open_results,
    open_store,
)

SPELLINGS = {
    "NCBIGene:1": ("IL-2", "IL2", "interleukin 2"),
    "NCBIGene:2": ("JAK3", "Jak3"),
    "NCBIGene:3": ("p53", "TP53"),
    "": ("SHC", "Shc", "S-HC", "NF-κB", "ΑΣ", "İP"),
}
VALUES = ("a", "b", "probability", "statements", "documents", "papers", "asserted", "negated",
          "speculated", "type", "direction", "status", "types", "directions", "statuses",
          "standing", "conflicts")  # fmt: skip


def make_docs(make_doc: Callable[..., Doc], seed: int, *, documents: int = 12) -> list[Doc]:
    """Docs with random judged pairs: repeated mentions, synonyms, missing values."""
    assert PPI.name == "ppi"  # importing the task registers doc._.textrank_ppi
    rng = np.random.default_rng(seed)
    docs = []
    for number in range(documents):
        doc = make_doc(["x"], document=f"d{number // 2 if number < 4 else number}")
        rows = [make_pair(rng) for _ in range(rng.integers(0, 8))]
        doc._.textrank_ppi = rows
        docs.append(doc)
    return docs


def make_pair(rng: np.random.Generator) -> dict[str, Any]:
    identifiers = [list(SPELLINGS)[i] for i in rng.integers(0, len(SPELLINGS), 2)]
    names = [str(rng.choice(SPELLINGS[identifier])) for identifier in identifiers]
    # Few different values make ties of votes and of spellings likely.
    probability = float(rng.choice([0.2, 0.5, 0.6, 0.75, 1.0, rng.random()]))
    status = str(rng.choice(["asserted", "asserted", "negated", "speculated"]))
    row: dict[str, Any] = {
        "names": names,
        "identifiers": [identifier or None for identifier in identifiers],
        "spans": [[0, 1], [2, 3]],
        "score": probability - 0.5,
        "probability": probability,
        "interacts": probability >= 0.6 and status == "asserted",  # a model with level 0.6
        "status": status,
        "type": rng.choice(["binding", "activation", None]),
        "direction": str(rng.choice(["a>b", "b>a", "none"])),
        "trigger": [],
        "sentence": f"{names[0]} and {names[1]} ({rng.integers(3)}).",
    }
    if rng.random() < 0.1:
        del row["probability"]
    return row


def write_folder(folder: Path, docs: Sequence[Doc], parts: int = 3) -> Path:
    """Write the Docs as the parts of a result folder."""
    for table in TABLES:
        (folder / table).mkdir(parents=True)
    for part in range(parts):
        tables: dict[str, list[Mapping[str, Any]]] = {"documents": [], "statements": []}
        for number, doc in list(enumerate(docs))[part::parts]:
            row = document_row(doc, doc.text, "texts.txt", 0, number)
            # Versions of one document would replace each other; here they are one document.
            tables["documents"].append({**row, "source": f"{number}.txt", "replaces": False})
            tables["statements"] += statement_rows(doc, doc.text, row["document"], f"{number}.txt")
        write_part(folder, f"part{part}", tables, "parquet")
    manifest = {"settings": {"format": "parquet"}, "columns": TABLES}
    (folder / "manifest.json").write_text(json.dumps(manifest))
    return folder


def from_python(docs: Sequence[Doc]) -> dict[tuple[str, str], dict[str, Any]]:
    facts = [{**fact, "a": fact["ends"][0], "b": fact["ends"][1]} for fact in aggregate_facts(docs)]
    return {
        (fact["a"], fact["b"]): {name: fact[name] for name in VALUES}
        | {"name_a": fact["names"][0], "name_b": fact["names"][1]}
        for fact in facts
    }


def from_sql(rows: Sequence[Mapping[str, Any]]) -> dict[tuple[str, str], dict[str, Any]]:
    names = (*VALUES, "name_a", "name_b")
    return {(row["a"], row["b"]): {name: row[name] for name in names} for row in rows}


def assert_equal(found: Mapping[Any, Any], expected: Mapping[Any, Any]) -> None:
    assert found.keys() == expected.keys()
    for key, fact in found.items():
        assert fact == {
            **expected[key],
            "probability": pytest.approx(expected[key]["probability"], abs=1e-9),
        }


@pytest.mark.parametrize("seed", range(5))
def test_apply_query_and_explore_agree(
    make_doc: Callable[..., Doc], tmp_path: Path, seed: int
) -> None:
    docs = make_docs(make_doc, seed)
    folder = write_folder(tmp_path / "results", docs)
    expected = from_python(docs)
    asserted = {key: fact for key, fact in expected.items() if fact["asserted"]}
    assert len(asserted) > 5

    results = open_results(folder)
    assert_equal(from_sql(results.facts()), asserted)
    assert_equal(from_sql(results.strongest(1000)), asserted)
    partners = {key: fact for key, fact in asserted.items() if "NCBIGene:1" in key}
    assert_equal(from_sql(results.partners("NCBIGene:1")), partners)
    assert_equal(from_sql(results.network(["IL-2", "jak3"])), between_two(asserted))

    store = open_store(folder)
    assert_equal(from_sql(all_pages(store)), expected)
    network = queries.select_network(store, Selection(show="all"))
    assert_equal(from_sql(network["edges"]), expected)
    found = queries.select_partners(store, "NCBIGene:1", min_probability=0.0, limit=100)
    assert_equal(from_sql(found), partners)
    for a, b in expected:
        fact = queries.select_fact(store, b, a)
        assert fact is not None
        assert_equal(from_sql([fact]), {(a, b): expected[a, b]})

    graph = network_from_facts(aggregate_facts(docs))
    edges = {(e["a"], e["b"]): e["probability"] for _, _, e in graph.edges(data=True)}
    assert edges == pytest.approx({key: fact["probability"] for key, fact in asserted.items()})


def between_two(facts: Mapping[tuple[str, str], Any]) -> dict[tuple[str, str], Any]:
    keys = {"NCBIGene:1", "NCBIGene:2", "il2", "jak3"}
    return {ends: fact for ends, fact in facts.items() if set(ends) <= keys}


def all_pages(store: Store) -> list[Mapping[str, Any]]:
    """All facts of the facts page by standing; pairs without evidence are left out."""
    rows: list[Mapping[str, Any]] = []
    counts = queries.count_matches(store, Selection())
    for standing in STANDINGS:
        page, found = 1, list[Mapping[str, Any]]()
        while part := queries.select_page(store, Selection(page=page, show=standing)):
            found += part
            page += 1
        assert counts[standing] == len(found)
        assert {row["standing"] for row in found} <= {standing}
        rows += [row for row in found if row["statements"]]
    return rows


TEXTS = (
    "Grb2 binds Sos1. Sos1 activates Ras, but Grb2 does not bind Ras.",
    "We show that GRB2 binds SOS1 in vitro. GRB-2 may interact with Ras. SOS1 binds Grb2.",
    "Sos1 binds Grb2 and Shc. Shc was not found to interact with Ras.",
)


@pytest.mark.slow
def test_real_texts_agree(tmp_path: Path) -> None:
    from textrank import load_nlp

    nlp = load_nlp()
    nlp.add_pipe("textrank_ppi", config={"model": "ppi"})
    docs = list(nlp.pipe(TEXTS))
    for number, doc in enumerate(docs):
        doc.user_data["document"] = f"text {number}"
    folder = write_folder(tmp_path / "results", docs)
    expected = from_python(docs)
    assert any(fact["documents"] > 1 for fact in expected.values())
    assert any(fact["negated"] or fact["speculated"] for fact in expected.values())
    assert_equal(from_sql(all_pages(open_store(folder))), expected)
    asserted = {key: fact for key, fact in expected.items() if fact["asserted"]}
    assert_equal(from_sql(open_results(folder).facts()), asserted)


def test_orders_agree(make_doc: Callable[..., Doc], tmp_path: Path) -> None:
    docs = make_docs(make_doc, 7)
    results = open_results(write_folder(tmp_path / "results", docs))
    probabilities = [fact["probability"] for fact in aggregate_facts(docs) if fact["asserted"]]
    assert [fact["probability"] for fact in results.facts()] == pytest.approx(probabilities)


def test_a_filter_changes_what_is_aggregated(make_doc: Callable[..., Doc], tmp_path: Path) -> None:
    docs = make_docs(make_doc, 3)
    results = open_results(write_folder(tmp_path / "results", docs))
    for doc in docs:
        doc._.textrank_ppi = [row for row in doc._.textrank_ppi if row["type"] == "binding"]
    names = ("a", "b", "probability", "statements", "documents", "direction", "status")
    expected = {key: fact for key, fact in from_python(docs).items() if fact["asserted"]}
    found = from_sql(results.facts(where=Filter(type="binding")))
    assert found.keys() == expected.keys()
    for key, fact in found.items():
        for name in names:
            assert fact[name] == pytest.approx(expected[key][name]), name


@pytest.mark.parametrize(
    ("name", "identifier"),
    [("IL-2", None), ("Il 2/B", ""), ("p53", "NCBIGene:7157"), ("--", None), ("ΑΣ", None),
     ("İP", None), ("NF-κB", None)],
)  # fmt: skip
def test_keys_of_names_agree(name: str, identifier: str | None) -> None:
    store = open_store_of(name, identifier)
    assert store.fetch_value("SELECT key_a FROM pairs") == entity_key(name, identifier)
    letters = store.fetch_value(f"SELECT {normalized_name('?')}", [name])
    assert (letters or "?") == entity_key(name, None)


def open_store_of(name: str, identifier: str | None) -> Store:
    from textrank.results.store import from_rows

    row = {"document": "d", "name_a": name, "id_a": identifier, "name_b": "x"}
    return from_rows({"statements": [row]}, "one")
