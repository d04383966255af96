"""Subjects given back to clauses that a parse took for the end of a list."""

from __future__ import annotations

import numpy as np
import pytest
from spacy.strings import StringStore

from textrank.tasks.ppi.sentences import ClauseTree, repair_subjects


def clauses(text: str) -> ClauseTree:
    """A tree written as word/tag/head/relation."""
    words, tags, heads, labels = zip(*(token.split("/") for token in text.split()), strict=True)
    return ClauseTree(words, tags, [int(head) for head in heads], labels)


def arcs(tree: ClauseTree) -> dict[str, str]:
    """What each word is to which word; of a word that comes twice the last counts."""
    rows = zip(tree.words, tree.labels, tree.heads, strict=True)
    return {word: f"{label} {tree.words[head]}" for word, label, head in rows}


IN_TURN = (
    "SHC/NN/1/nsubj recruits/VBZ/1/ROOT GRB2/NN/1/dobj ,/,/2/punct and/CC/2/cc CRK/NN/2/conj "
    "in/IN/1/prep turn/NN/6/pobj binds/VBZ/1/conj SOS1/NN/8/dobj ././1/punct"
)
PARTED = (
    "RAF1/NN/1/nsubj activates/VBZ/1/ROOT MEK1/NN/5/nsubj and/CC/2/cc MEK2/NN/2/conj "
    "phosphorylates/VBZ/1/conj ERK2/NN/5/dobj ././1/punct"
)
TAKEN = (
    "RAC1/NN/1/nsubj controls/VBZ/6/nsubj CASP8/NN/1/dobj ,/,/2/punct and/CC/2/cc XIAP/NN/2/conj "
    "inhibits/VBZ/6/ROOT BRAF/NN/6/dobj ././6/punct"
)
AFTER = (
    "EPO/NN/1/nsubj regulates/VBZ/1/ROOT FGF2/NN/1/dobj after/IN/1/prep AXL/NN/3/pobj "
    "directly/RB/6/advmod causes/VBZ/1/advcl phosphorylation/NN/6/dobj ././1/punct"
)


def test_a_noun_before_a_verb_without_subject_is_its_subject():
    found = arcs(clauses(IN_TURN).repair_subjects())
    assert found["CRK"] == "nsubj binds"
    assert found["and"] == "cc recruits"
    assert found["in"] == "prep binds"
    assert found["GRB2"] == "dobj recruits"


def test_the_object_of_the_first_verb_is_no_part_of_the_next_subject():
    found = arcs(clauses(PARTED).repair_subjects())
    assert found["MEK1"] == "dobj activates"
    assert found["MEK2"] == "nsubj phosphorylates"


def test_a_clause_is_not_the_subject_of_the_next():
    found = arcs(clauses(TAKEN).repair_subjects())
    assert found["controls"] == "ROOT controls"
    assert found["inhibits"] == "conj controls"
    assert found["XIAP"] == "nsubj inhibits"


def test_after_opens_a_clause_where_a_verb_follows():
    found = arcs(clauses(AFTER).repair_subjects())
    assert found["AXL"] == "nsubj causes"
    assert found["after"] == "mark causes"


@pytest.mark.parametrize(
    "text",
    [
        # the verbs share their subject: "and binds" follows the list
        "A/NN/1/nsubj activates/VBZ/1/ROOT B/NN/1/dobj and/CC/2/cc C/NN/2/conj ,/,/1/punct "
        "and/CC/1/cc binds/VBZ/1/conj D/NN/7/dobj",
        # a relative clause with a subject of two parts
        "A/NN/1/nsubj is/VBZ/1/ROOT factor/NN/1/attr whose/WP$/4/poss role/NN/2/relcl "
        "and/CC/4/cc fate/NN/4/conj are/VBP/1/conj known/VBN/7/acomp",
        # the noun is part of another one
        "A/NN/1/nsubj binds/VBZ/1/ROOT B/NN/1/dobj and/CC/2/cc C/NN/2/conj cells/NNS/6/dobj "
        "divide/VBP/1/conj",
        # the clause before is part of this one: a subject given back would go round in a circle
        "A/NN/1/nsubj binds/VBZ/5/advcl B/NN/1/dobj after/IN/1/prep C/NN/3/pobj "
        "causes/VBZ/6/ccomp D/NN/6/ROOT",
    ],
)
def test_what_is_no_clause_stays(text):
    tree = clauses(text)
    assert tree.repair_subjects() is tree


@pytest.mark.parametrize("text", [IN_TURN, PARTED, TAKEN, AFTER])
def test_a_tree_stays_a_tree(text):
    tree = clauses(text).repair_subjects()
    for token in range(len(tree.heads)):
        steps = 0
        while tree.heads[token] != token:
            token, steps = tree.heads[token], steps + 1
            assert steps < len(tree.heads)
    assert clauses(text).repair_subjects().repair_subjects().heads == tree.heads


def test_only_sentences_that_are_asked_about_change():
    strings, tree = StringStore(), clauses(IN_TURN)
    steps = np.array(tree.heads) - np.arange(len(tree.heads))
    rows = zip(tree.words, tree.tags, steps.tolist(), tree.labels, strict=True)
    own = [
        [strings.add(w), strings.add(tag), head % 2**64, strings.add(x)] for w, tag, head, x in rows
    ]
    table = np.array(own * 2, dtype=np.uint64)
    found = repair_subjects(table, [(0, len(own))], strings)
    assert arcs(ClauseTree.from_table(found[: len(own)], strings))["CRK"] == "nsubj binds"
    assert np.array_equal(found[len(own) :], table[len(own) :])
    assert repair_subjects(table, [], strings) is table
