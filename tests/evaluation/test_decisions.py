"""Decisions carry the sentence, the spans in it, and for errors the path between them."""

from __future__ import annotations

import itertools

import networkx as nx
import numpy as np
import pytest
from spacy.tokens import Span

from textrank.candidates import Candidate
from textrank.evaluation.cross_validation import dependency_links, make_decisions, shortest_path
from textrank.reports.html import path_steps


@pytest.fixture
def candidate(make_doc):
    words = ["First", "one", ".", "AbcA", "binds", "the", "factor", "XyzB", "."]
    heads = [1, 1, 1, 4, 4, 6, 4, 6, 4]
    deps = ["det", "ROOT", "punct", "nsubj", "ROOT", "det", "dobj", "appos", "punct"]
    doc = make_doc(words, heads, deps, [(3, 4), (7, 8)])
    return Candidate(doc, (Span(doc, 3, 4), Span(doc, 7, 8)), "d0", "s1", -1.0)


def test_a_decision_shows_its_sentence_and_the_path_of_an_error(candidate):
    wrong, right = make_decisions([candidate] * 2, np.array([0.9, -0.9]), 0.0, fold=2)
    assert wrong.text.startswith("AbcA binds")
    assert [wrong.text[a:b] for a, b in wrong.spans] == ["AbcA", "XyzB"]
    assert [(s.word, s.relation) for s in path_steps(wrong)] == [
        ("AbcA", "nsubj"), ("binds", "dobj"), ("factor", "appos"), ("XyzB", "")
    ]  # fmt: skip
    assert (wrong.decision, wrong.fold, right.path) == (True, 2, ())


def test_given_dependencies_go_before_the_parse(candidate):
    candidate.doc.user_data["dependencies"] = [[3, 7, "interacts"], [7, 7, "self"]]
    (wrong,) = make_decisions([candidate], np.array([0.9]), 0.0)
    assert [s.relation for s in path_steps(wrong)] == ["interacts", ""]


def test_without_parse_or_threshold_there_is_no_path(make_doc):
    doc = make_doc(["A", "B"], entities=[(0, 1), (1, 2)])
    candidate = Candidate(doc, (doc[0:1], doc[1:2]), "d", label=1.0)
    (decision,) = make_decisions([candidate], np.array([-1.0]), 0.0)
    assert (decision.text, decision.path) == ("A B ", ())
    (ranked,) = make_decisions([candidate], np.array([-1.0]), None)
    assert ranked.decision is None


@pytest.mark.parametrize("seed", range(5))
def test_paths_are_as_short_as_networkx_finds(make_doc, seed):
    rng = np.random.default_rng(seed)
    doc = make_doc([f"w{i}" for i in range(10)])
    edges = [[int(a), int(b), f"{a}-{b}"] for a, b in rng.integers(0, 10, (9, 2))]
    doc.user_data["dependencies"] = edges
    graph = nx.Graph([(a, b) for a, b, _ in edges])
    graph.add_nodes_from(range(10))
    links = dependency_links(doc)
    for a, b in itertools.combinations(range(10), 2):
        path = shortest_path(links, [a], [b])
        if not nx.has_path(graph, a, b):
            assert path == []
            continue
        assert len(path) == nx.shortest_path_length(graph, a, b)
        at = a
        for governor, dependent, _ in path:
            at = dependent if at == governor else governor
        assert at == b
