"""Graphs from and to networkx."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.kernels.graph_references import random_graph
from textrank.tasks.ppi.graphs import from_networkx, to_networkx


@given(seed=st.integers(0, 2**32 - 1))
def test_there_and_back_gives_the_same_graph(seed):
    graph = random_graph(np.random.default_rng(seed))
    assert from_networkx(to_networkx(graph)) == graph


def test_takes_any_network():
    network = nx.MultiGraph()
    network.add_node("p53", kind="protein")
    network.add_node("MDM2", kind=["protein", "ligase"])
    network.add_node("water")
    network.add_edge("p53", "MDM2", score=0.25)
    network.add_edge("MDM2", "p53", score=0.5)
    network.add_edge("p53", "p53")
    graph = from_networkx(network, labels="kind", weight="score", default=0.1)
    assert graph.labels == (("protein",), ("ligase", "protein"), ())
    assert graph.edges == {(0, 1): 0.75, (1, 0): 0.75, (0, 0): 0.1}


def test_says_which_edge_has_no_number():
    network = nx.DiGraph()
    network.add_edge("a", "b", weight="heavy")
    with pytest.raises(ValueError, match=r"edge \('a', 'b'\) has weight 'heavy'"):
        from_networkx(network)
