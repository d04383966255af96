"""The all-paths kernel against its definition, on any labelled graph."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.kernels.graph_references import label_pairs, path_weights, product, random_graph
from textrank.graphs import GraphBatch, GraphFamily, LabelledGraph
from textrank.kernels.graphs import AllPathsGraph
from textrank.testing import check_kernel

SETTINGS = [
    {},
    {"combine": "sum"},
    {"directed": False},
    {"max_length": 2},
    {"max_length": 1, "combine": "sum", "directed": False},
    {"threshold": 0.2},
    {"max_radius": 0.5, "combine": "sum"},
]


def features(kernel, graph):
    W = path_weights(
        graph,
        directed=kernel.directed,
        max_length=kernel.max_length,
        radius=kernel.max_radius,
    )
    return label_pairs(graph, W, kernel.combine, kernel.threshold)


@pytest.mark.parametrize("options", SETTINGS, ids=str)
@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 2**32 - 1))
def test_equals_the_plain_definition(options, seed):
    rng = np.random.default_rng(seed)
    graphs = [random_graph(rng) for _ in range(4)]
    kernel = AllPathsGraph(**options)
    rows = [features(kernel, graph) for graph in graphs]
    expected = [[product(x, y) for y in rows] for x in rows]
    scale = max(1.0, np.max(expected, initial=0.0))
    np.testing.assert_allclose(kernel(graphs) / scale, np.array(expected) / scale, atol=1e-10)

    F = kernel.features(graphs)
    names = list(F.names)
    assert names == sorted(set().union(*rows))
    for row, own in zip(F.values.toarray(), rows, strict=True):
        np.testing.assert_allclose(row, [own.get(name, 0.0) for name in names], rtol=1e-9)


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("options", SETTINGS, ids=str)
def test_obeys_the_laws(options, seed):
    rng = np.random.default_rng(seed)
    check_kernel(AllPathsGraph(**options), [random_graph(rng) for _ in range(7)])
    check_kernel(
        AllPathsGraph(**options), GraphBatch.from_graphs([random_graph(rng) for _ in range(7)])
    )


def test_a_diverging_cycle_is_scaled_to_the_stated_radius_and_counted():
    tame = LabelledGraph(["a", "b"], {(0, 1): 0.9, (1, 0): 0.9})
    wild = LabelledGraph(["a", "b", "c"], {(0, 1): 2.0, (1, 0): 2.0, (1, 2): 0.5})
    kernel = AllPathsGraph(max_radius=0.95)
    assert kernel.count_diverging([tame, wild, tame]) == 1
    assert kernel.count_diverging([]) == 0

    F = kernel.features([wild])
    found = dict(zip(F.names, F.values.toarray()[0], strict=True))
    returning = 0.95**2 / (1 - 0.95**2)
    assert found["a", "a"] == pytest.approx(returning)
    # The edge to c is not on the cycle and keeps its weight.
    assert found["b", "c"] == pytest.approx(0.5 * (1 + returning))
    assert min(found.values()) > 0


def test_edges_without_weight_close_no_cycle():
    """The eigenvalues of such a matrix are zero, but computed ones are not."""
    n = 40
    chain = {(i, i + 1): 5.0 for i in range(n - 1)}
    graph = LabelledGraph(["a", *["b"] * (n - 1)], {**chain, (n - 1, 0): 0.0})
    assert AllPathsGraph().count_diverging([graph]) == 0
    F = AllPathsGraph().features([graph])
    assert F.values[0, 0] == pytest.approx(5.0 ** (n - 1))


def test_shapes_are_kept_only_as_long_as_there_are_few(monkeypatch, rng):
    graphs = [random_graph(rng) for _ in range(6)]
    expected = AllPathsGraph()([*graphs, *graphs])
    monkeypatch.setattr("textrank.kernels.graphs.MAX_CACHED_SHAPES", 2)
    np.testing.assert_array_equal(AllPathsGraph()([*graphs, *graphs]), expected)


def test_names_hold_only_words_that_occur():
    lonely = LabelledGraph(["a", "b", "never"], {(0, 1): 0.5})
    assert AllPathsGraph().features([lonely]).names.vocabulary == ("a", "b")


def test_limited_length_never_diverges():
    wild = LabelledGraph(["a", "b"], {(0, 1): 2.0, (1, 0): 2.0})
    kernel = AllPathsGraph(max_length=3)
    assert kernel.count_diverging([wild]) == 0
    assert kernel.features([wild]).values.sum() == pytest.approx(2 * (2.0 + 4.0 + 8.0))


def test_many_labels_in_one_graph_need_no_square_table(monkeypatch, rng):
    graphs = [random_graph(rng) for _ in range(5)]
    for combine in ("max", "sum"):
        expected = AllPathsGraph(combine=combine).features(graphs)
        with monkeypatch.context() as patch:
            patch.setattr("textrank.kernels._walks.MAX_DENSE_PAIRS", 0)
            found = AllPathsGraph(combine=combine).features(graphs)
        assert list(found.names) == list(expected.names)
        np.testing.assert_array_equal(found.values.toarray(), expected.values.toarray())


def test_a_family_gives_the_same_as_its_members_one_by_one(rng):
    edges = np.array([[0, 1], [1, 2], [2, 0], [2, 3], [3, 3]])
    family = GraphFamily(
        np.array([2, 0, 1]),
        edges,
        rng.random((3, len(edges))),
        rng.integers(-1, 5, size=(3, 4, 2)).astype(np.int32),
    )
    batch = GraphBatch(tuple("vwxyz"), (family,), 3)
    kernel = AllPathsGraph()
    np.testing.assert_allclose(kernel(batch), kernel(list(batch)), rtol=1e-12)


def test_a_family_that_does_not_fit_is_solved_in_pieces(monkeypatch, rng):
    edges = np.array([[0, 1], [1, 2], [2, 0], [2, 3]])
    labels = rng.integers(-1, 5, size=(7, 4, 2)).astype(np.int32)
    family = GraphFamily(np.arange(7), edges, rng.random((7, 4)), labels)
    batch = GraphBatch(tuple("vwxyz"), (family,), 7)
    whole = AllPathsGraph().features(batch)
    monkeypatch.setattr("textrank.kernels.graphs.MAX_TABLE_LABELS", 0)
    monkeypatch.setattr(
        "textrank.kernels.graphs.MAX_MATRIX_VALUES", 32
    )  # two graphs of four vertices
    pieces = AllPathsGraph().features(batch)
    assert list(pieces.names) == list(whole.names)
    np.testing.assert_allclose(pieces.values.toarray(), whole.values.toarray(), rtol=1e-12)


@pytest.mark.parametrize(
    "least",
    [
        {"graphs.MAX_UNROLLED_VERTICES": 0},  # cycles by an inverse
        {"graphs.MAX_TABLE_LABELS": 0},  # no table of labels
        {"graphs.MAX_TABLE_LABELS": 0, "_walks.MAX_DENSE_PAIRS": 0},
        {"_walks.MAX_TABLE_VALUES": 1},  # a family at a time
        {"_walks.MAX_FAMILY_VALUES": 1},  # a graph at a time
        {"_walks.MAX_WALK_VALUES": 1, "_walks.MAX_FAMILY_VALUES": 1},
    ],
    ids=str,
)
@pytest.mark.parametrize("options", [{}, {"combine": "sum"}, {"directed": False}], ids=str)
@pytest.mark.parametrize("seed", range(3))
def test_every_way_to_the_features_gives_the_same(monkeypatch, least, options, seed):
    rng = np.random.default_rng(seed)
    labels = rng.integers(-1, 5, size=(7, 4, 2)).astype(np.int32)
    edges = np.array([[0, 1], [1, 2], [2, 0], [2, 3]])
    shapes = [(edges, 7), (edges[1:], 7), (edges[[0, 1]], 1), (edges[[0, 2]], 7)]
    families = [
        GraphFamily(np.arange(7) + 7 * at, own, rng.random((rows, len(own))), labels)
        for at, (own, rows) in enumerate(shapes)
    ]
    batch = GraphBatch(tuple("vwxyz"), tuple(families), 28)
    whole = AllPathsGraph(**options).features(batch)
    for name, value in least.items():
        monkeypatch.setattr(f"textrank.kernels.{name}", value)
    pieces = AllPathsGraph(**options).features(batch)
    assert list(pieces.names) == list(whole.names)
    np.testing.assert_allclose(pieces.values.toarray(), whole.values.toarray(), rtol=1e-12)


def parsed(rng, members, words=6):
    """A family as of a sentence: a vertex for every dependency, some words with several heads."""
    pairs = [(s, t) for t in range(words) for s in range(t) if rng.random() < 0.4]
    arcs = rng.permutation(np.array(pairs, dtype=np.intp).reshape(-1, 2))
    vertex = words + np.arange(len(arcs))
    edges = np.vstack([np.c_[arcs[:, 0], vertex], np.c_[vertex, arcs[:, 1]]])
    labels = rng.integers(-1, 3, size=(len(members), words + len(arcs), 2)).astype(np.int32)
    labels[:, :, 1] += 3 * (labels[:, :, 1] >= 0)  # no vertex has a label twice
    return GraphFamily(members, edges, rng.random((len(members), len(edges))), labels)


@pytest.mark.parametrize("few", [0, 1 << 16])
@pytest.mark.parametrize("options", SETTINGS, ids=str)
@pytest.mark.parametrize("seed", range(4))
def test_sentences_with_different_numbers_of_pairs_together(monkeypatch, few, options, seed):
    """Laid out as if all had as many, or apart; dependencies are only passed through."""
    monkeypatch.setattr("textrank.kernels._walks.MAX_SMALL_VALUES", few)
    rng = np.random.default_rng(seed)
    members = np.split(rng.permutation(17), [1, 2, 4, 8])
    batch = GraphBatch(tuple("uvwxyz"), tuple(parsed(rng, own) for own in members), 17)
    kernel = AllPathsGraph(**options)
    F = kernel.features(batch)
    for row, graph in zip(F.values.toarray(), batch, strict=True):
        own = features(kernel, graph)
        np.testing.assert_allclose(row, [own.get(name, 0.0) for name in F.names], rtol=1e-9)
        assert set(own) <= set(F.names)


def test_a_cycle_entered_at_one_word_and_left_at_another():
    ring = {(1, 2): 0.5, (2, 3): 0.5, (3, 1): 0.5, (2, 2): 0.25}
    graph = LabelledGraph(list("abcde"), {(0, 1): 0.9, **ring, (3, 4): 0.8, (0, 4): 0.1})
    F = AllPathsGraph().features([graph])
    found = dict(zip(F.names, F.values.toarray()[0], strict=True))
    assert found == pytest.approx(label_pairs(graph, path_weights(graph), "max"), rel=1e-12)
    assert ("a", "a") not in found


def test_columns_are_short_numbers_as_liblinear_wants_them(rng):
    F = AllPathsGraph().features([random_graph(rng) for _ in range(4)])
    assert F.values.indices.dtype == F.values.indptr.dtype == np.int32


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"combine": "mean"}, "combine must be 'max' or 'sum', got 'mean'"),
        ({"max_length": 0}, "max_length must be at least 1"),
        ({"threshold": -1.0}, "threshold must not be negative"),
        ({"max_radius": 1.0}, "max_radius must lie between 0 and 1"),
    ],
)
def test_says_which_setting_is_wrong(options, message):
    with pytest.raises(ValueError, match=message):
        AllPathsGraph(**options)
