"""Sentence graphs of entity pairs: paths, labels, weights, shared structure."""

from __future__ import annotations

from itertools import combinations, pairwise, zip_longest

import networkx as nx
import numpy as np
import pytest

from tests.tasks.ppi.pair_docs import random_pairs
from textrank.candidates import Candidate, span_tokens
from textrank.graphs import LabelledGraph
from textrank.tasks.ppi.graphs import DependencyGraph, PathGraphs
from textrank.tasks.ppi.pairs import analyze_pairs

WORDS = ["Alpha", "binds", "beta", "and", "gamma", "strongly", "."]
GIVEN = [
    [1, 0, "nsubj"],
    [1, 2, "dobj"],
    [2, 4, "conj_and"],
    [1, 4, "dobj"],
    [1, 5, "advmod"],
    [1, 6, "punct"],
]
TAGS = ["NN", "VBZ", "NN", "CC", "NN", "RB", "."]


@pytest.fixture
def doc(make_doc):
    doc = make_doc(WORDS, entities=[(0, 1), (2, 3), (4, 5)], tags=TAGS)
    doc[0].is_sent_start = True
    for token in doc[1:]:
        token.is_sent_start = False
    doc.user_data["dependencies"] = GIVEN
    return doc


def candidates(doc):
    return [Candidate(doc, pair, "d0") for pair in combinations(doc.spans["entities"], 2)]


def test_marks_the_path_blinds_the_names_and_weighs_the_edges(doc):
    graph = DependencyGraph(parts=["dependency"])(candidates(doc))[0]
    assert graph.labels == (
        ("path:NN", "path:PROT1"),
        ("path:VBZ", "path:binds"),
        ("path:NN", "path:PROT2"),
        ("CC", "and"),
        ("NN", "PROT"),
        ("RB", "strongly"),
        (".",),
        ("path:nsubj",),
        ("path:dobj",),
        ("conj_and",),
        ("dobj",),
        ("advmod",),
    )
    assert graph.edges[1, 7] == graph.edges[7, 0] == 0.9
    assert graph.edges[1, 11] == graph.edges[11, 5] == 0.3
    assert len(graph.edges) == 10


def test_the_linear_part_says_where_words_stand(doc):
    graph = DependencyGraph(parts=["linear"], words="lower")(candidates(doc))[2]  # beta, gamma
    assert graph.labels == (
        ("before:NN", "before:PROT"),
        ("before:VBZ", "before:binds"),
        ("middle:NN", "middle:PROT1"),
        ("middle:CC", "middle:and"),
        ("middle:NN", "middle:PROT2"),
        ("after:RB", "after:strongly"),
        ("after:.",),
    )
    assert graph.edges == {(i, i + 1): 0.9 for i in range(6)}


def test_the_pair_is_ordered_by_the_text_however_it_is_given(doc):
    (pair, *_) = candidates(doc)
    turned = Candidate(doc, pair.spans[::-1], "d0")
    graphs = DependencyGraph()([pair, turned])
    assert graphs[0] == graphs[1]


def test_candidates_of_a_sentence_share_its_shape(doc):
    graphs = DependencyGraph()(candidates(doc))
    assert len(graphs) == 3
    assert len(graphs.families) == 2
    one_by_one = [DependencyGraph()([candidate])[0] for candidate in candidates(doc)]
    assert list(graphs) == one_by_one


def test_parts_are_a_disjoint_union(doc):
    whole = DependencyGraph()(candidates(doc))[0]
    parts = [DependencyGraph(parts=[p])(candidates(doc))[0] for p in ("dependency", "linear")]
    assert whole.labels == parts[0].labels + parts[1].labels
    shifted = {(s + 12, t + 12): w for (s, t), w in parts[1].edges.items()}
    assert whole.edges == parts[0].edges | shifted


def reference(doc, candidate, drop=("punct",)):
    """The dependency part from its definition, with networkx for the paths."""
    first, second = sorted(candidate.spans, key=lambda span: (span.start, span.end))
    n = len(doc)
    dependencies = [d for d in doc.user_data["dependencies"] if d[2] not in drop]
    links = nx.Graph([(g, d) for g, d, _ in dependencies])
    on_path = set()
    for s in span_tokens(first):
        for t in span_tokens(second):
            if s != t and s in links and t in links and nx.has_path(links, s, t):
                for path in nx.all_shortest_paths(links, s, t):
                    on_path |= {frozenset(step) for step in pairwise(path)}
    marked = set().union(*on_path)
    entities = {t for span in doc.spans["entities"] for t in span_tokens(span)}
    labels = []
    for token in doc:
        text = "PROT" if token.i in entities else token.text
        text = "PROT2" if token.i in span_tokens(second) else text
        text = "PROT1" if token.i in span_tokens(first) else text
        prefix = "path:" if token.i in marked else ""
        labels.append({prefix + text, prefix + token.tag_})
    edges = {}
    for k, (g, d, kind) in enumerate(dependencies):
        on = frozenset((g, d)) in on_path
        labels.append(("path:" if on else "") + kind)
        edges[g, n + k] = edges[n + k, d] = 0.9 if on else 0.3
    return LabelledGraph(labels, edges)


@pytest.mark.parametrize("seed", range(30))
def test_equals_the_definition_on_random_sentences(make_doc, seed):
    """Cycles, self-loops, double edges, unconnected parts, nested and broken names."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 12))
    starts = rng.integers(0, n, size=3)
    entities = [(int(s), int(rng.integers(s, n)) + 1) for s in starts]
    doc = make_doc(list("abcdefghijkl"[:n]), entities=entities, tags=["NN"] * n)
    for token in doc:
        token.is_sent_start = token.i == 0
    for i, span in enumerate(doc.spans["entities"]):
        span.id_ = f"e{i}"
    whole = list(range(*entities[0]))
    doc.user_data["pieces"] = {"e0": sorted({whole[0], whole[-1]})}
    types = rng.choice(["nn", "punct", "prep_of"], size=n)
    ends = rng.integers(0, n, size=(n, 2))
    doc.user_data["dependencies"] = [
        [int(g), int(d), str(t)] for (g, d), t in zip(ends, types, strict=True)
    ]
    graphs = DependencyGraph(parts=["dependency"])(candidates(doc))
    for graph, candidate in zip(graphs, candidates(doc), strict=True):
        assert graph == reference(doc, candidate)


def test_a_token_of_both_names_is_the_first(make_doc):
    doc = make_doc(["p53/p21", "binds"], heads=[1, 1], deps=["nsubj", "ROOT"], tags=["NN", "VBZ"])
    doc.spans["entities"] = [doc[0:1], doc[0:1]]
    graph = DependencyGraph()([Candidate(doc, tuple(doc.spans["entities"]), "d0")])[0]
    assert "PROT1" in graph.labels[0]
    assert not any(label.startswith("path:") for own in graph.labels for label in own)


def test_a_sentence_of_one_token_has_vertices_but_no_edges(make_doc):
    doc = make_doc(["p53/p21"], heads=[0], deps=["ROOT"], tags=["NN"])
    doc.spans["entities"] = [doc[0:1], doc[0:1]]
    graph = DependencyGraph()([Candidate(doc, tuple(doc.spans["entities"]), "d0")])[0]
    assert graph == LabelledGraph([("NN", "PROT1"), ("middle:NN", "middle:PROT1")], {})


def test_a_pair_of_two_sentences_has_both_and_no_path(make_doc):
    doc = make_doc(
        ["A", "binds", "It", "hits", "B"],
        heads=[1, 1, 3, 3, 3],
        deps=["nsubj", "ROOT", "nsubj", "ROOT", "dobj"],
        entities=[(0, 1), (4, 5)],
    )
    graph = DependencyGraph()([Candidate(doc, tuple(doc.spans["entities"]), "d0")])[0]
    assert len(graph) == 5 + 3 + 5
    assert not any(label.startswith("path:") for own in graph.labels for label in own)


def test_takes_the_parse_of_spacy_where_none_is_given(make_doc):
    doc = make_doc(
        ["A", "binds", "B"],
        heads=[1, 1, 1],
        deps=["nsubj", "ROOT", "dobj"],
        entities=[(0, 1), (2, 3)],
    )
    pair = [Candidate(doc, tuple(doc.spans["entities"]), "d0")]
    graph = DependencyGraph(parts=["dependency"])(pair)[0]
    assert graph.labels[3:] == (("path:nsubj",), ("path:dobj",))
    with pytest.raises(ValueError, match="comes without dependencies"):
        DependencyGraph(parse="given")(pair)


def test_says_where_a_parse_is_missing(make_doc):
    doc = make_doc(["A", "binds", "B"], entities=[(0, 1), (2, 3)], document="d7")
    doc[0].is_sent_start = True
    for token in doc[1:]:
        token.is_sent_start = False
    pair = [Candidate(doc, tuple(doc.spans["entities"]), "d7")]
    with pytest.raises(ValueError, match="document 'd7' is not parsed"):
        DependencyGraph()(pair)


def test_needs_a_pair(doc):
    with pytest.raises(ValueError, match="candidate 0 of document 'd0' has 1 spans"):
        DependencyGraph()([Candidate(doc, (doc[0:1],), "d0")])


def test_no_candidates_give_an_empty_batch():
    assert len(DependencyGraph()([])) == 0


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"words": "porter"}, "words: 'porter' is not available; choose from raw"),
        ({"parse": "stanford"}, "parse: 'stanford' is not available"),
        ({"labels": ["text", "shape"]}, "labels: 'shape' is not available"),
        ({"parts": []}, "parts is empty"),
        ({"path_weight": -0.1}, "path_weight must be 0 or more"),
    ],
)
def test_says_which_setting_is_wrong(options, message):
    with pytest.raises(ValueError, match=message):
        DependencyGraph(**options)


def test_lists_and_tuples_are_equal_settings():
    assert DependencyGraph(labels=["pos"]) == DependencyGraph(labels=("pos",))


@pytest.mark.parametrize("seed", range(10))
def test_all_graphs_of_a_batch_at_once_are_those_of_each_sentence(make_doc, seed):
    rng = np.random.default_rng(seed)
    docs = [random_pairs(make_doc, rng) for _ in range(3)]
    mixed = [c for own in zip_longest(*docs) for c in own if c is not None]
    pairs = analyze_pairs(mixed, "own")
    plain = DependencyGraph(words="stem", parts=["dependency"], parse="own", drop=("punct",))
    assert list(PathGraphs(pairs.arrays).to_batch()) == list(plain(mixed))


def test_a_word_that_looks_like_a_marked_one_is_that_label(make_doc):
    words = ["A", "path:bind", "bind", "B"]
    doc = make_doc(words, [2, 2, 2, 2], ["nsubj", "x", "ROOT", "dobj"], [(0, 1), (3, 4)])
    pairs = analyze_pairs([Candidate(doc, tuple(doc.spans["entities"]), "d0")], "own")
    graphs = PathGraphs(pairs.arrays).to_batch()
    plain = DependencyGraph(words="stem", parts=["dependency"], drop=("punct",))
    assert graphs[0] == plain(pairs.candidates)[0]
    assert len(set(graphs.vocabulary)) == len(graphs.vocabulary)
