"""The seven feature sequences of a parse."""

from __future__ import annotations

import pytest

from textrank.candidates import Candidate
from textrank.kernels.sequences import LocalityConvolution
from textrank.kernels.views import EachView
from textrank.tasks.parse_features import SEQUENCE_TYPES, ParseSequences
from textrank.testing import check_kernel

# A link grammar linkage: absence-Mp-of, absence-Ss-leads, of-Js-syntrophin, leads-MVp-to.
WORDS = ["Absence", "of", "syntrophin", "leads", "to"]
LINKS = [[3, 4, "MVp"], [0, 3, "Ss"], [1, 2, "Js"], [0, 1, "Mp"]]


@pytest.fixture
def linkage(make_doc):
    doc = make_doc(WORDS, tags=["n", "p", "n", "v", "p"])
    doc.user_data["dependencies"] = LINKS
    return Candidate(doc, (), "d0")


@pytest.fixture
def tree(make_doc):
    doc = make_doc(
        ["A", "binds", "B"], heads=[1, 1, 1], deps=["nsubj", "ROOT", "obj"], tags=["N", "V", "N"]
    )
    return Candidate(doc, (doc[0:3],), "d1")


def test_a_linkage_gives_seven_sequences_in_order_of_appearance(linkage):
    views = ParseSequences()([linkage])
    assert {name: views.view(name)[0].symbols() for name in SEQUENCE_TYPES} == {
        "bigram": ["absence of", "absence leads", "of syntrophin", "leads to"],
        "word_tag": ["absence/n", "of/p", "syntrophin/n", "leads/v", "to/p"],
        "link_type": ["Mp", "Ss", "Js", "MVp"],
        "word_link": [
            "absence Mp", "absence Ss", "of Mp", "of Js", "syntrophin Js", "leads Ss", "leads MVp",
            "to MVp",
        ],
        "link_length": ["1", "3", "1", "1"],
        "length_type": ["1 Mp", "3 Ss", "1 Js", "1 MVp"],
        "link_bigram": ["Mp Ss", "Mp Js", "Ss MVp"],
    }  # fmt: skip


def test_a_tree_links_every_word_but_the_root_to_its_head(tree):
    views = ParseSequences()([tree])
    assert views.view("bigram").symbols() == ["a binds", "binds b"]
    assert views.view("link_bigram").symbols() == ["nsubj obj"]


def test_a_directed_link_tells_the_side_of_its_governor(tree):
    assert ParseSequences(directed=True)([tree]).view("link_type").symbols() == ["nsubj<", "obj>"]


def test_three_links_at_a_word_make_three_pairs(make_doc):
    doc = make_doc(["a", "b", "c", "d"])
    doc.user_data["dependencies"] = [[3, 1, "Z"], [3, 0, "X"], [2, 3, "Y"], [2, 2, "loop"]]
    views = ParseSequences(types=["link_bigram"])([Candidate(doc, (), "d")])
    assert views.view("link_bigram").symbols() == ["X Z", "X Y", "Z Y"]


def test_only_the_sentence_of_the_candidate_counts(make_doc):
    doc = make_doc(
        ["A", "runs", "B", "sits"], heads=[1, 1, 3, 3], deps=["nsubj", "ROOT", "nsubj", "ROOT"]
    )
    views = ParseSequences()([Candidate(doc, (doc[2:3],), "d")])
    assert views.view("bigram").symbols() == ["b sits"]


def test_parses_of_one_word_and_empty_ones_have_empty_sequences(make_doc):
    lone = make_doc(["x"], heads=[0], deps=["ROOT"])
    candidates = [Candidate(lone, (lone[0:1],), "d"), Candidate(make_doc([]), (), "e")]
    views = ParseSequences()(candidates)
    assert [x.symbols() for x in views.view("bigram")] == [[], []]
    check_kernel(EachView(LocalityConvolution()), views)
    assert len(ParseSequences()([])) == 0


def test_a_doc_without_a_parse_is_named(make_doc):
    doc = make_doc(["x", "y"])
    with pytest.raises(ValueError, match="document 'd7' has no parse"):
        ParseSequences()([Candidate(doc, (), "d7")])


def test_unknown_types_are_refused():
    with pytest.raises(ValueError, match="types must be some of"):
        ParseSequences(types=["bigrams"])


def test_kernels_compare_parses(linkage, tree):
    check_kernel(EachView(LocalityConvolution()), ParseSequences()([linkage, tree, linkage]))
