"""The shortest-path and bag-of-labels kernels against their definitions."""

from __future__ import annotations

from collections import Counter

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.kernels.graph_references import product, random_graph
from textrank.graphs import GraphBatch
from textrank.kernels.graphs import LabelBag, ShortestPathGraph
from textrank.tasks.ppi.graphs import to_networkx
from textrank.testing import check_kernel

KERNELS = [
    LabelBag(),
    ShortestPathGraph(),
    ShortestPathGraph(directed=False),
    ShortestPathGraph(max_length=2),
]


def features(kernel, graph):
    """Counts by name, from the definition."""
    if isinstance(kernel, LabelBag):
        return Counter((label,) for own in graph.labels for label in own)
    network = to_networkx(graph)
    network = network if kernel.directed else network.to_undirected()
    counts = Counter()
    for s, lengths in nx.all_pairs_shortest_path_length(network, cutoff=kernel.max_length):
        for t, steps in lengths.items():
            if s != t:
                for a in graph.labels[s]:
                    for b in graph.labels[t]:
                        counts[a, b, f"{steps} steps"] += 1
    return counts


@pytest.mark.parametrize("kernel", KERNELS, ids=str)
@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 2**32 - 1))
def test_equals_the_plain_definition(kernel, seed):
    rng = np.random.default_rng(seed)
    graphs = [random_graph(rng) for _ in range(4)]
    rows = [features(kernel, graph) for graph in graphs]
    expected = [[product(x, y) for y in rows] for x in rows]
    np.testing.assert_allclose(kernel(graphs), expected, atol=1e-10)
    assert set(kernel.features(graphs).names) == set().union(*rows)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("kernel", KERNELS, ids=str)
def test_obeys_the_laws(kernel, seed):
    rng = np.random.default_rng(seed)
    check_kernel(kernel, [random_graph(rng) for _ in range(6)])
    check_kernel(kernel, GraphBatch.from_graphs([random_graph(rng) for _ in range(6)]))


def test_says_that_a_length_is_wrong():
    with pytest.raises(ValueError, match="max_length must be at least 1 or None, got 0"):
        ShortestPathGraph(max_length=0)
