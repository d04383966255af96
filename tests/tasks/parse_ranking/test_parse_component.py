"""The component that ranks parses: the best one on the Doc, also from disk and by processes."""

from __future__ import annotations

import pytest
import spacy
from spacy.language import Language
from spacy.tokens import Doc

import textrank.component  # noqa: F401 - an installed textrank is found by its entry points
from textrank import load_nlp

TEXTS = [
    "We show that SHC binds to the activated EGF receptor but not to GRB7. It acts alone.",
    "The kinase phosphorylates the receptor with high affinity.",
]


@pytest.fixture(scope="module")
def nlp() -> Language:
    nlp = load_nlp(only=["parser"])
    nlp.add_pipe("textrank_parse_ranking")
    return nlp


@pytest.fixture(scope="module")
def docs(nlp: Language) -> list[Doc]:
    return list(nlp.pipe(TEXTS))


def answers(docs: list[Doc]) -> list[list[tuple[str, list[float], list[list[int]]]]]:
    return [
        [
            (
                row["sentence"],
                [round(parse["score"], 9) for parse in row["parses"]],
                [list(parse["heads"]) for parse in row["parses"]],
            )
            for row in doc._.textrank_parse_ranking
        ]
        for doc in docs
    ]


def test_the_best_parse_of_every_sentence_is_on_the_doc(docs):
    assert [len(doc._.textrank_parse_ranking) for doc in docs] == [2, 1]
    for doc in docs:
        for sentence, row in zip(doc.sents, doc._.textrank_parse_ranking, strict=True):
            best = row["parses"][0]
            assert [token.head.i - sentence.start for token in sentence] == list(best["heads"])
            assert [token.dep_ for token in sentence] == list(best["labels"])
            assert sum(parse["parser"] for parse in row["parses"]) == 1


def test_a_saved_pipeline_ranks_the_same(nlp, docs, tmp_path):
    nlp.to_disk(tmp_path / "nlp")
    again = spacy.load(tmp_path / "nlp")
    assert answers([again(text) for text in TEXTS]) == answers(docs)


def test_other_processes_rank_the_same(nlp, docs):
    found = list(nlp.pipe(TEXTS * 2, n_process=2, batch_size=1))
    assert answers(found) == answers(docs * 2)
    assert [[t.head.i for t in doc] for doc in found[:2]] == [[t.head.i for t in d] for d in docs]


def test_every_score_splits_into_named_parts(nlp, docs):
    doc = docs[1]
    explained = nlp.get_pipe("textrank_parse_ranking").explain(doc)
    scores = [parse["score"] for row in doc._.textrank_parse_ranking for parse in row["parses"]]
    sums = [sum(value for _, value in parts) for parts in explained]
    assert sorted(sums) == pytest.approx(sorted(scores), abs=1e-9)
