"""Labelled graphs from and to networkx, for its algorithms, drawings and file formats."""

from __future__ import annotations

from typing import Any

import networkx as nx

from textrank.types import LabelledGraph


def to_networkx(graph: LabelledGraph) -> nx.DiGraph:
    """The graph with ``labels`` (a tuple) on every vertex and ``weight`` on every edge.

    >>> to_networkx(LabelledGraph(["a", "b"], {(0, 1): 0.5})).edges[0, 1]
    {'weight': 0.5}
    """
    out: nx.DiGraph = nx.DiGraph()
    out.add_nodes_from((i, {"labels": own}) for i, own in enumerate(graph.labels))
    out.add_edges_from((*edge, {"weight": weight}) for edge, weight in graph.edges.items())
    return out


def from_networkx(
    graph: nx.Graph, *, labels: str = "labels", weight: str = "weight", default: float = 1.0
) -> LabelledGraph:
    """A labelled graph of any networkx graph, its nodes numbered in their order.

    ``labels`` is the node attribute with a label or several; nodes without it have none. Edges
    without ``weight`` weigh ``default``; parallel edges add up, undirected ones go both ways.

    >>> from_networkx(nx.Graph([("x", "y")])).edges
    {(0, 1): 1.0, (1, 0): 1.0}
    """
    number = {node: i for i, node in enumerate(graph.nodes)}
    edges: dict[tuple[int, int], float] = {}
    for source, target, value in graph.edges(data=weight, default=default):
        ways = {(number[source], number[target])}
        if not graph.is_directed():
            ways.add((number[target], number[source]))
        for way in ways:
            edges[way] = edges.get(way, 0.0) + _number(value, (source, target))
    return LabelledGraph([_labels(own) for _, own in graph.nodes(data=labels)], edges)


def _labels(own: Any) -> tuple[str, ...]:
    if own is None:
        return ()
    return (own,) if isinstance(own, str) else tuple(str(label) for label in own)


def _number(value: Any, edge: tuple[Any, Any]) -> float:
    try:
        return float(value)
    except (TypeError, ValueError) as error:
        raise ValueError(f"edge {edge} has weight {value!r}, which is not a number") from error
