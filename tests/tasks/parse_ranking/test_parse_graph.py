"""Parses as graphs, for ranking the parses of a sentence."""

from __future__ import annotations

import pytest

from textrank.candidates import Candidate
from textrank.kernels.graphs import AllPathsGraph
from textrank.tasks.parse_features import ParseGraph

WORDS = ["He", "saw", "stars", "."]
TAGS = ["PRP", "VBD", "NNS", "."]


@pytest.fixture
def parses(make_doc):
    right = make_doc(WORDS, [1, 1, 1, 1], ["nsubj", "ROOT", "dobj", "punct"], tags=TAGS)
    wrong = make_doc(WORDS, [2, 2, 2, 2], ["nsubj", "amod", "ROOT", "punct"], tags=TAGS)
    return [Candidate(doc, (doc[:],), "d0", "s0") for doc in (right, wrong)]


def test_has_a_vertex_for_every_token_dependency_and_root(parses):
    graph = ParseGraph(weight=0.4)(parses)[0]
    assert graph.labels == (
        ("PRP", "he"),
        ("VBD", "saw"),
        ("NNS", "stars"),
        (".",),
        ("nsubj",),
        ("dobj",),
        ("punct",),
        ("ROOT",),
    )
    assert graph.edges == dict.fromkeys(
        [(1, 4), (1, 5), (1, 6), (4, 0), (5, 2), (6, 3), (7, 1)], 0.4
    )


def test_given_dependencies_come_first_and_labels_can_be_left_out(parses):
    parses[0].doc.user_data["dependencies"] = [[1, 0, "S"], [1, 2, "O"], [2, 3, "X"]]
    graph = ParseGraph(labels=(), drop=("X",))(parses)[0]
    assert graph.labels[4:] == (("S",), ("O",), ("ROOT",), ("ROOT",))
    assert graph.labels[:4] == ((), (), (), ())


def test_parses_of_a_sentence_differ_under_the_kernel(parses):
    K = AllPathsGraph()(ParseGraph()(parses))
    assert 0 < K[0, 1] < min(K[0, 0], K[1, 1])


def test_says_which_setting_is_wrong():
    with pytest.raises(ValueError, match="weight must be 0 or more, got -1"):
        ParseGraph(weight=-1)
    with pytest.raises(ValueError, match="words: 'WORD' is not available"):
        ParseGraph(words="WORD")
