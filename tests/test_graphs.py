"""Labelled graphs and batches of them."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.kernels.graph_references import random_graph
from textrank.features import take_rows
from textrank.graphs import GraphBatch, GraphFamily, LabelledGraph


def batch(rng):
    """Two families, the first of which is a part of all graphs, the second of some."""
    first = GraphFamily(
        np.array([2, 0, 1]),
        np.array([[0, 1], [1, 0]]),
        rng.random((3, 2)),
        rng.integers(-1, 3, size=(3, 2, 2)).astype(np.int32),
    )
    second = GraphFamily(
        np.array([1, 2]),
        np.array([[0, 1]]),
        np.array([[0.5]]),
        rng.integers(3, 5, size=(2, 2, 1)).astype(np.int32),
    )
    return GraphBatch(tuple("vwxyz"), (first, second), 3)


@given(seed=st.integers(0, 2**32 - 1))
def test_a_batch_is_the_sequence_of_its_graphs(seed):
    graphs = [random_graph(np.random.default_rng(seed)) for _ in range(3)]
    found = GraphBatch.from_graphs(graphs)
    assert list(found) == graphs
    assert [found[i] for i in range(-3, 0)] == graphs
    assert GraphBatch.from_graphs(found) is found
    with pytest.raises(IndexError):
        found[3]


@pytest.mark.parametrize("index", [[0, 1, 2], [2, 2, 0, 1, 2], [1], []])
def test_rows_are_taken_in_any_order_and_repeatedly(rng, index):
    graphs = batch(rng)
    found = take_rows(graphs, np.array(index, dtype=np.intp))
    assert list(found) == [graphs[i] for i in index]


def test_slices_are_batches(rng):
    graphs = batch(rng)
    assert isinstance(graphs[1:], GraphBatch)
    assert list(graphs[1:]) == [graphs[1], graphs[2]]
    assert list(graphs[::-1]) == [graphs[2], graphs[1], graphs[0]]


def test_a_part_that_some_graphs_lack_is_only_in_the_others(rng):
    assert [len(graph) for graph in batch(rng)] == [2, 4, 4]


@given(seed=st.integers(0, 2**32 - 1))
def test_arrays_give_the_batch_back(seed):
    rng = np.random.default_rng(seed)
    for graphs in (batch(rng), GraphBatch.from_graphs([random_graph(rng) for _ in range(3)])):
        assert list(GraphBatch.from_arrays(graphs.to_arrays())) == list(graphs)
    assert len(GraphBatch.from_arrays(GraphBatch.from_graphs([]).to_arrays())) == 0


@pytest.mark.parametrize("name", ["members", "edges", "weights", "labels", "words"])
def test_damaged_arrays_are_refused(rng, name):
    arrays = batch(rng).to_arrays()
    arrays[name] = arrays[name][:-2]  # a whole word and its end of line
    with pytest.raises(ValueError, match="damaged graphs"):
        GraphBatch.from_arrays(arrays)


@pytest.mark.parametrize(("name", "value"), [("members", 3), ("edges", 2), ("labels", 5)])
def test_numbers_that_point_nowhere_are_refused(rng, name, value):
    arrays = batch(rng).to_arrays()
    arrays[name] = arrays[name].copy()
    arrays[name][0] = value
    with pytest.raises(ValueError, match="damaged graphs"):
        GraphBatch.from_arrays(arrays)


@pytest.mark.parametrize(
    ("edges", "message"),
    [
        ({(0, 2): 1.0}, r"edge \(0, 2\) is outside the graph of 2 vertices"),
        ({(-1, 0): 1.0}, r"edge \(-1, 0\) is outside the graph"),
        ({(0, 1): -0.5}, r"edge \(0, 1\) has weight -0.5"),
        ({(0, 1): float("nan")}, r"edge \(0, 1\) has weight nan"),
    ],
)
def test_impossible_edges_are_refused(edges, message):
    with pytest.raises(ValueError, match=message):
        LabelledGraph(["a", "b"], edges)
