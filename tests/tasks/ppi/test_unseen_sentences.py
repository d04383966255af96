"""Sentences that were written before the model answered any of them, in sets of sixty.

They are of other kinds than the sentences that the model was trained on: the wording of abstracts,
several clauses, other ways to state an interaction or merely to mention two names. A sentence has
the pair that is asked about and whether a curator would enter it as an interaction. Do not train
on these, and do not change them because of an answer.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import pytest
from spacy.language import Language

import textrank
from textrank.model import Model

# What was reached is printed by ``python -m``, and recorded in docs/experiments/ppi.md.
MIN_SHARE_RIGHT = {
    "unseen_sentences": 0.8,
    "unseen_sentences_2": 0.75,
    "unseen_sentences_3": 0.7,
    "unseen_sentences_4": 0.6,
    "unseen_sentences_5": 0.6,
}


class Sentence(NamedTuple):
    """A sentence, the two names that are asked about, and the answer."""

    kind: str
    text: str
    first: str
    second: str
    interacts: bool


def read_sentences(name: str) -> list[Sentence]:
    """Read a set of sentences beside this file."""
    lines = Path(__file__).with_name(f"{name}.jsonl").read_text("utf-8").splitlines()
    return [Sentence(**json.loads(line)) for line in lines]


def find_wrong(sentences: Sequence[Sentence], model: Model, nlp: Language) -> list[Sentence]:
    """Return the sentences that are not answered as expected."""
    wrong = []
    for sentence, doc in zip(sentences, nlp.pipe(s.text for s in sentences), strict=True):
        rows = model(doc)._.textrank_ppi
        places = [sentence.text.index(name) for name in (sentence.first, sentence.second)]
        said = any(
            row["interacts"]
            and all(any(a <= place < b for a, b in row["spans"]) for place in places)
            for row in rows
        )
        if said != sentence.interacts:
            wrong.append(sentence)
    return wrong


@pytest.mark.parametrize("name", MIN_SHARE_RIGHT)
def test_there_are_sixty_and_half_of_them_state_an_interaction(name: str) -> None:
    sentences = read_sentences(name)
    assert len(sentences) == len({s.text for s in sentences}) == 60
    assert sum(s.interacts for s in sentences) == 30


@pytest.mark.slow
@pytest.mark.parametrize("name", MIN_SHARE_RIGHT)
def test_most_of_the_sentences_are_answered_right(name: str) -> None:
    sentences = read_sentences(name)
    wrong = find_wrong(sentences, textrank.load_model("ppi"), textrank.load_nlp())
    share = 1 - len(wrong) / len(sentences)
    lines = [f"{s.first} - {s.second}: {s.text}" for s in wrong]
    assert share >= MIN_SHARE_RIGHT[name], "\n".join([f"{share:.3f} right; wrong:", *lines])


if __name__ == "__main__":
    MODEL, NLP = textrank.load_model("ppi"), textrank.load_nlp()
    for set_name in MIN_SHARE_RIGHT:
        SENTENCES = read_sentences(set_name)
        WRONG = find_wrong(SENTENCES, MODEL, NLP)
        for each in WRONG:
            print(each)  # noqa: T201
        print(f"{set_name}: {1 - len(WRONG) / len(SENTENCES):.3f} right")  # noqa: T201
