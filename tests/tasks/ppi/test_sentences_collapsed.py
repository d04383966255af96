"""spaCy's tree with prepositions and coordinations collapsed."""

from __future__ import annotations

import numpy as np
import pytest
from spacy.tokens import Doc

from textrank.tasks.ppi.sentences import Dependencies, collapse_dependencies


def triples(doc: Doc) -> set[tuple[str, str, str]]:
    return {(doc[g].text, doc[d].text, kind) for g, d, kind in collapse_dependencies(doc)}


def test_a_preposition_joins_its_governor_and_its_object(make_doc):
    doc = make_doc(["A", "interacts", "with", "B"], [1, 1, 1, 2], ["nsubj", "ROOT", "prep", "pobj"])
    assert triples(doc) == {("interacts", "A", "nsubj"), ("interacts", "B", "prep_with")}


def test_a_preposition_without_object_stays(make_doc):
    doc = make_doc(["B", "referred", "to"], [1, 1, 1], ["nsubjpass", "ROOT", "prep"])
    assert ("referred", "to", "prep") in triples(doc)


def test_the_agent_of_a_passive(make_doc):
    doc = make_doc(
        ["A", "inhibited", "by", "B"], [1, 1, 1, 2], ["nsubjpass", "ROOT", "agent", "pobj"]
    )
    assert ("inhibited", "B", "agent") in triples(doc)


def test_conjuncts_hang_on_the_first_and_share_its_governor(make_doc):
    words = ["binds", "to", "A", ",", "B", "and", "C"]
    heads = [0, 0, 1, 2, 2, 4, 4]
    deps = ["ROOT", "prep", "pobj", "punct", "conj", "cc", "conj"]
    assert triples(make_doc(words, heads, deps)) == {
        ("binds", "A", "prep_to"),
        ("binds", "B", "prep_to"),
        ("binds", "C", "prep_to"),
        ("A", "B", "conj_and"),
        ("A", "C", "conj_and"),
        ("A", ",", "punct"),
        ("B", "and", "cc"),
    }


def test_a_second_verb_takes_over_the_subject(make_doc):
    words = ["A", "binds", "B", "and", "activates", "C"]
    heads = [1, 1, 1, 1, 1, 4]
    deps = ["nsubj", "ROOT", "dobj", "cc", "conj", "dobj"]
    doc = make_doc(words, heads, deps, tags=["NN", "VBZ", "NN", "CC", "VBZ", "NN"])
    assert ("activates", "A", "nsubj") in triples(doc)
    assert ("binds", "activates", "conj_and") in triples(doc)


@pytest.mark.parametrize("seed", range(20))
def test_any_tree_gives_a_plain_graph_without_loops(make_doc, seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 12))
    heads = [0, *(int(rng.integers(i)) for i in range(1, n))]
    labels = ["prep", "pobj", "pcomp", "conj", "cc", "nsubj", "dobj", "agent"]
    doc = make_doc(["w"] * n, heads, ["ROOT", *rng.choice(labels, n - 1).tolist()])
    found = collapse_dependencies(doc)
    assert len(set(found)) == len(found)
    assert all(governor != dependent for governor, dependent, _ in found)
    assert all(0 <= end < n for triple in found for end in triple[:2])


def test_the_given_dependencies_come_first(make_doc):
    doc = make_doc(["A", "binds", "B"], [1, 1, 1], ["nsubj", "ROOT", "dobj"])
    doc.user_data["dependencies"] = [[1, 2, "given"]]
    assert Dependencies.from_doc(doc, "collapsed", ()).types == ("given",)
    assert Dependencies.from_doc(doc, "spacy", ()).types == ("nsubj", "dobj")


def test_the_own_parse_comes_first_where_asked(make_doc):
    doc = make_doc(["A", "binds", "B"], [1, 1, 1], ["nsubj", "ROOT", "dobj"])
    doc.user_data["dependencies"] = [[1, 2, "given"]]
    assert Dependencies.from_doc(doc, "own", ()).types == ("nsubj", "dobj")
    bare = make_doc(["A", "binds", "B"])
    bare.user_data["dependencies"] = [[1, 2, "given"]]
    assert Dependencies.from_doc(bare, "own", ()).types == ("given",)
