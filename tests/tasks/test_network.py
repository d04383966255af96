from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import networkx as nx
from spacy.tokens import Doc

from textrank.tasks.network import interaction_network, write_graphml
from textrank.tasks.ppi import PPI


def judged(make_doc: Callable[..., Doc], document: str, *rows: tuple[str, str, bool]) -> Doc:
    assert PPI.name == "ppi"  # the task owns the attribute that is read here
    doc = make_doc(["x"], document=document)
    doc._.textrank_ppi = [
        {
            "names": [one, other],
            "sentence": f"{one} and {other}.",
            "score": 0.5,
            "interacts": answer,
        }
        for one, other, answer in rows
    ]
    return doc


def test_edges_join_spellings_and_keep_evidence(make_doc: Callable[..., Doc]) -> None:
    docs = [
        judged(make_doc, "a", ("IL-2", "JAK3", True), ("IL-2", "SHC", False)),
        judged(make_doc, "b", ("IL2", "Jak3", True), ("IL-2", "IL2", True)),
    ]
    graph = interaction_network(docs)
    assert list(graph.edges) == [("il2", "jak3")]
    assert graph.nodes["il2"]["label"] == "IL-2"
    edge = graph.edges["il2", "jak3"]
    assert edge["count"] == 2
    assert [e["document"] for e in edge["evidence"]] == ["a", "b"]


def test_graphml_reads_back(make_doc: Callable[..., Doc], tmp_path: Path) -> None:
    graph = interaction_network([judged(make_doc, "a", ("Ras", "Raf", True))])
    write_graphml(graph, tmp_path / "net.graphml")
    again = nx.read_graphml(tmp_path / "net.graphml")
    assert again.edges["ras", "raf"]["evidence"] == "a: Ras and Raf. (0.500)"
    assert [p.name for p in tmp_path.iterdir()] == ["net.graphml"]
