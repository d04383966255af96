"""Who interacts with whom over many documents, as a graph with its evidence."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import networkx as nx
from spacy.tokens import Doc

from textrank.docs import document_id
from textrank.io import writing_bytes


def interaction_network(docs: Iterable[Doc]) -> nx.Graph:
    """Names as nodes, and an edge for every two that some judged sentence says interact.

    Names are the same when equal but for case and the characters ``- /`` and blanks; the node is
    labelled with the spelling seen most. An edge carries ``evidence``, the sentences with their
    documents and scores, ``count``, how many there are, and ``weight``, the highest probability
    (or score) among them.
    """
    graph = nx.Graph()
    spellings: dict[str, Counter[str]] = {}
    for number, doc in enumerate(docs):
        for row in doc._.textrank_ppi or ():
            for name in row["names"]:
                spellings.setdefault(_key(name), Counter())[name] += 1
            if row["interacts"]:
                _add(graph, row, document_id(doc, number))
    for node in graph:
        graph.nodes[node]["label"] = spellings[node].most_common(1)[0][0]
    return graph


def write_graphml(graph: nx.Graph, path: str | Path) -> None:
    """The network as GraphML; evidence, a list, becomes one text of a line a sentence."""
    plain = nx.Graph()
    plain.add_nodes_from(graph.nodes(data=True))
    for one, other, data in graph.edges(data=True):
        lines = [f"{e['document']}: {e['sentence']} ({e['score']:.3f})" for e in data["evidence"]]
        plain.add_edge(one, other, **{**data, "evidence": "\n".join(lines)})
    with writing_bytes(path) as out:
        nx.write_graphml(plain, out)


def _add(graph: nx.Graph, row: dict[str, Any], document: str) -> None:
    one, other = map(_key, row["names"])
    if one == other:
        return
    weight = row.get("probability", row["score"])
    if not graph.has_edge(one, other):
        graph.add_edge(one, other, evidence=[], count=0, weight=weight)
    edge = graph.edges[one, other]
    evidence = {"document": document, "sentence": row["sentence"], "score": row["score"]}
    if evidence["sentence"] not in [e["sentence"] for e in edge["evidence"]]:
        edge["evidence"].append(evidence)
        edge["count"] += 1
    edge["weight"] = max(edge["weight"], weight)


def _key(name: str) -> str:
    return "".join(c for c in name.lower() if c not in "-/ ")
