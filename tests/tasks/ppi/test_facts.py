"""Aggregation of facts and the network formats."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import networkx as nx
import pytest
from spacy.tokens import Doc

from textrank.tasks.identifiers.task import Identifiers
from textrank.tasks.ppi.exports import write_facts
from textrank.tasks.ppi.facts import aggregate_facts, network_from_facts
from textrank.tasks.ppi.task import PPI


def annotated_doc(make_doc: Callable[..., Doc], document: str, *rows: tuple[str, str, bool]) -> Doc:
    assert PPI.name == "ppi"  # the task owns the attribute that is read here
    doc = make_doc(["x"], document=document)
    doc._.textrank_ppi = [
        {
            "names": [one, other],
            "sentence": f"{one} and {other}.",
            "score": 0.5,
            "spans": [[0, 1], [2, 3]],
            "interacts": answer,
        }
        for one, other, answer in rows
    ]
    return doc


def test_edges_join_spellings_and_keep_evidence(make_doc: Callable[..., Doc]) -> None:
    docs = [
        annotated_doc(make_doc, "a", ("IL-2", "JAK3", True), ("IL-2", "SHC", False)),
        annotated_doc(make_doc, "b", ("IL2", "Jak3", True), ("IL-2", "IL2", True)),
    ]
    graph = network_from_facts(aggregate_facts(docs))
    assert list(graph.edges) == [("il2", "jak3")]
    assert graph.nodes["il2"]["label"] == "IL-2"
    edge = graph.edges["il2", "jak3"]
    assert edge["count"] == 2
    assert [e["document"] for e in edge["evidence"]] == ["a", "b"]


def test_graphml_reads_back(make_doc: Callable[..., Doc], tmp_path: Path) -> None:
    facts = aggregate_facts([annotated_doc(make_doc, "a", ("Ras", "Raf", True))])
    write_facts(facts, tmp_path / "net.graphml")
    again = nx.read_graphml(tmp_path / "net.graphml")
    assert again.edges["ras", "raf"]["evidence"] == "a: Ras and Raf. (1.000)"
    assert [p.name for p in tmp_path.iterdir()] == ["net.graphml"]


def stated_doc(make_doc: Callable[..., Doc], document: str, **row: Any) -> Doc:
    doc = annotated_doc(make_doc, document, ("TP53", "MDM2", True))
    doc._.textrank_ppi[0] |= {"identifiers": ["NCBIGene:7157", "NCBIGene:4193"], **row}
    return doc


def statement(probability: float, status: str = "asserted") -> dict[str, Any]:
    return {"probability": probability, "status": status, "type": "inhibition", "direction": "b>a"}


def test_only_other_documents_raise_the_probability_of_a_fact(
    make_doc: Callable[..., Doc],
) -> None:
    docs = [stated_doc(make_doc, "a", **statement(p)) for p in (0.5, 0.6)]
    (fact,) = aggregate_facts(docs)
    assert fact["probability"] == pytest.approx(0.6)
    docs.append(stated_doc(make_doc, "b", **statement(0.5)))
    (fact,) = aggregate_facts(docs)
    assert fact["probability"] == pytest.approx(1 - 0.4 * 0.5)
    assert (fact["documents"], fact["asserted"]) == (2, 3)


def test_direction_is_relative_to_the_sorted_ends(make_doc: Callable[..., Doc]) -> None:
    (fact,) = aggregate_facts([stated_doc(make_doc, "a", **statement(0.9))])
    assert fact["ends"] == ["NCBIGene:4193", "NCBIGene:7157"]
    assert fact["names"] == ["MDM2", "TP53"]
    assert fact["direction"] == "a>b"  # MDM2, second in the text, acts on TP53


def test_a_fact_that_is_only_negated_has_probability_zero_and_no_edge(
    make_doc: Callable[..., Doc],
) -> None:
    docs = [stated_doc(make_doc, "a", interacts=False, **statement(0.9, "negated"))]
    (fact,) = aggregate_facts(docs)
    assert (fact["probability"], fact["negated"]) == (0.0, 1)
    assert not network_from_facts(aggregate_facts(docs)).edges


def test_formats_agree_on_source_and_target(make_doc: Callable[..., Doc], tmp_path: Path) -> None:
    facts = aggregate_facts([stated_doc(make_doc, "a", **statement(0.9))])
    for suffix in ("sif", "csv", "cyjs"):
        write_facts(facts, tmp_path / f"net.{suffix}")
    mdm2, tp53 = "NCBIGene:4193", "NCBIGene:7157"
    assert (tmp_path / "net.sif").read_text() == f"{mdm2}\tinhibition\t{tp53}\n"
    with (tmp_path / "net.csv").open(newline="") as file:
        (row,) = csv.DictReader(file)
    assert (row["source"], row["target"], row["direction"]) == (mdm2, tp53, "a>b")
    (edge,) = json.loads((tmp_path / "net.cyjs").read_text())["elements"]["edges"]
    assert (edge["data"]["source"], edge["data"]["target"]) == (mdm2, tp53)
    with pytest.raises(ValueError, match=r"'\.dot' is not a network format"):
        write_facts(facts, tmp_path / "net.dot")


def test_a_fact_has_the_most_probable_genes_of_its_ends(make_doc: Callable[..., Doc]) -> None:
    assert Identifiers.name == "identifiers"  # the task owns the attribute that is read here
    doc = stated_doc(make_doc, "a", **statement(0.9))
    doc._.textrank_ppi[0]["identifiers"] = ["fplx:AKT", None]

    def genes(**unsure: Any) -> list[list[str]]:
        akt1, akt2 = ({"identifier": f"ncbigene:{n}", "probability": 0.2} for n in (207, 208))
        family = {"identifier": "fplx:AKT", "alternatives": [akt1, akt2], "parts": []}
        doc._.textrank_identifiers = [{"span": [0, 1], **family}, {"span": [2, 3], **unsure}]
        (fact,) = aggregate_facts([doc])
        return fact["genes"]

    gene = {"identifier": "ncbigene:4193", "probability": 0.4}
    part = {"identifier": "ncbigene:1", "alternatives": [], "parts": []}
    unsure: dict[str, Any] = {"identifier": None, "alternatives": [gene], "parts": []}
    assert genes(**unsure) == [["ncbigene:207"], ["ncbigene:4193"]]  # ends: fplx:AKT, mdm2
    assert genes(**unsure | {"alternatives": [gene | {"probability": 0.1}]})[1] == []
    items = [part, part | {"identifier": "ncbigene:2"}]
    assert genes(**unsure | {"parts": items})[1] == ["ncbigene:1", "ncbigene:2"]
    doc._.textrank_ppi[0]["identifiers"] = ["ncbigene:9", "ncbigene:2"]  # ends: the second first
    doc._.textrank_identifiers = None
    (fact,) = aggregate_facts([doc])
    assert fact["genes"] == [["ncbigene:2"], ["ncbigene:9"]]
