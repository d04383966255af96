"""Treebank files, the converter of trees, and the change to CLEAR labels."""

from __future__ import annotations

import gzip
import json
import random

import pytest
import spacy
from workshop.convert import Converter
from workshop.prepare import sentences_to_doc
from workshop.treebank_conversion import Splitter, to_clear
from workshop.treebanks import Sentence, parse_brackets, read_conllu, read_trees

CONLLU = """\
# newdoc id = d1
# newpar id = d1-p1
# sent_id = 1
1	Cells	cell	NOUN	NNS	_	2	nsubj	_	_
2	grow	grow	VERB	VBP	_	0	root	_	SpaceAfter=No
2.1	and	and	CCONJ	CC	_	_	_	_	_
3	.	.	PUNCT	.	_	2	punct	_	_

"""


def sentence(text: str, *, heads: list[int], labels: str, tags: str, **more: object) -> Sentence:
    words = text.split()
    return Sentence(words, tags.split(), heads, labels.split(), [True] * len(words), **more)


def test_conllu_gives_words_tree_spaces_and_place(tmp_path):
    path = tmp_path / "a.conllu.gz"
    path.write_bytes(gzip.compress(CONLLU.encode()))
    (read,) = read_conllu(path)
    assert read.words == ["Cells", "grow", "."]
    assert (read.heads, read.labels) == ([1, -1, 1], ["nsubj", "ROOT", "punct"])
    assert (read.spaces, read.document, read.opens_paragraph) == ([True, False, True], "d1", True)


def test_a_line_with_too_few_columns_is_named(tmp_path):
    path = tmp_path / "a.conllu"
    path.write_text("1\tCells\tcell\n\n")
    with pytest.raises(ValueError, match=r"a\.conllu: 3 columns instead of 10"):
        list(read_conllu(path))


@pytest.mark.parametrize("text", ["(NP (NN a)", "(NP (NN a)) (NP (NN b))", ""])
def test_brackets_that_are_not_one_tree_are_refused(text):
    with pytest.raises(ValueError, match="not one balanced tree"):
        parse_brackets(text, [])


def test_trees_give_words_without_escapes(tmp_path):
    row = {"sent_id": "7-1", "pmid": "7", "tree": "(TOP (NP (NN IL-2-LRB-s-RRB-) (NNS cells)))"}
    (tmp_path / "t.jsonl").write_text(json.dumps(row))
    (read,) = read_trees(tmp_path / "t.jsonl")
    assert (read.words, read.tags) == (["IL-2(s)", "cells"], ["NN", "NNS"])


def test_converter_repeats_what_it_has_learned(tmp_path):
    patterns = [
        ("(TOP (S (NP (DT the) (NN {0})) (VP (VBZ binds) (NP (NN {1})))))",
         [1, 2, -1, 2], "det nsubj ROOT dobj"),
        ("(TOP (NP (NP (NN {0})) (PP (IN of) (NP (NN {1})))))", [-1, 0, 1], "ROOT prep pobj"),
        ("(TOP (NP (NN {0}) (CC and) (NN {1})))", [-1, 0, 0], "ROOT cc conj"),
    ]  # fmt: skip
    names = ["actin", "myosin", "p53", "MDM2", "Ras", "Raf"]
    rows, gold = [], []
    for a in names:
        for b in names:
            for tree, heads, labels in patterns:
                name = f"s{len(rows)}"
                row = {"sent_id": name, "pmid": "1", "tree": tree.format(a, b)}
                rows.append(json.dumps(row))
                words: list[str] = []
                parse_brackets(row["tree"], words)
                gold.append(
                    Sentence(
                        words, ["NN"] * len(words), heads, labels.split(), [True] * 4, name=name
                    )
                )
    (tmp_path / "t.jsonl").write_text("\n".join(rows))
    trees = list(read_trees(tmp_path / "t.jsonl"))
    converted = Converter.fit(trees[:40], gold[:40])(trees[40:])
    assert [s.heads for s in converted] == [s.heads for s in gold[40:]]
    assert [s.labels for s in converted] == [s.labels for s in gold[40:]]


def test_the_copula_becomes_the_head():
    given = sentence(
        "Binding is very strong .", tags="NN VBZ RB JJ .", heads=[3, 3, 3, -1, 3],
        labels="nsubj cop advmod ROOT punct",
    )  # fmt: skip
    clear = to_clear(given)
    assert clear.heads == [1, -1, 3, 1, 1]
    assert clear.labels == ["nsubj", "ROOT", "advmod", "acomp", "punct"]


def test_conjuncts_become_a_chain():
    given = sentence(
        "A , B and C", tags="NN , NN CC NN", heads=[-1, 0, 0, 0, 0],
        labels="ROOT punct conj cc conj",
    )  # fmt: skip
    assert to_clear(given).heads == [-1, 0, 0, 2, 2]


def test_names_of_labels_and_the_agent_change():
    given = sentence(
        "kinase activity blocked by drugs", tags="NN NN VBN IN NNS", heads=[1, -1, 1, 2, 3],
        labels="nn ROOT vmod prep pobj",
    )  # fmt: skip
    assert to_clear(given).labels == ["compound", "ROOT", "acl", "agent", "pobj"]


@pytest.mark.parametrize(
    ("word", "tag", "words", "tags", "heads", "labels"),
    [
        ("IL-2", "NN", "IL - 2", "NN HYPH CD", [-1, 0, 0], "ROOT punct nummod"),
        ("actin-binding", "JJ", "actin - binding", "NN HYPH VBG", [2, 2, -1],
         "npadvmod punct ROOT"),
        ("T-cells", "NNS", "T - cells", "NN HYPH NNS", [2, 2, -1], "compound punct ROOT"),
        ("IL-2-mediated", "JJ", "IL - 2 - mediated", "NN HYPH CD HYPH VBN", [4, 0, 0, 4, -1],
         "npadvmod punct nummod punct ROOT"),
    ],
)  # fmt: skip
def test_hyphenated_words_split_as_in_craft(word, tag, words, tags, heads, labels):
    split = Splitter({"binding": "VBG", "mediated": "VBN", "t": "NN", "cells": "NNS"})
    got = split(Sentence([word], [tag], [-1], ["ROOT"], [True]))
    assert (got.words, got.tags) == (words.split(), tags.split())
    assert (got.heads, got.labels) == (heads, labels.split())


def test_line_ends_keep_the_tree():
    given = sentence(
        "the cells grow well .", tags="DT NNS VBP RB .", heads=[1, 2, -1, 2, 2],
        labels="det nsubj ROOT advmod punct",
    )  # fmt: skip
    vocab = spacy.blank("en").vocab
    plain = sentences_to_doc(vocab, [given, given], breaks=None)
    draw = random.Random(0)
    broken = [sentences_to_doc(vocab, [given, given], breaks=draw) for _ in range(60)]
    assert any(token.is_space for doc in broken for token in doc)
    for doc in broken:
        kept = [token for token in doc if not token.is_space]
        assert [(t.text, t.head.text, t.dep_) for t in kept] == [
            (t.text, t.head.text, t.dep_) for t in plain
        ]
        assert len(list(doc.sents)) == 2
