"""Type, direction and status of sentences that were written before a model answered any of them.

Frames and verbs are not those of our training sentences: loss of a protein, signs that follow from
a mechanism, nominal modifications, mediators, null effects, and speculative words that do or do not
govern the statement. Both names are given; whether the pair interacts is not asked. Do not train on
these, and do not change them because of an answer.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import pytest
from spacy.language import Language
from spacy.tokens import Span

import textrank

ASPECTS = ("type", "direction", "status")
# What was reached is printed by ``python -m``, and recorded in docs/experiments/attributes.md.
MIN_SHARE_RIGHT = {
    "unseen_statements": {"type": 0.58, "direction": 0.83, "status": 0.87},
    "unseen_statements_2": {"type": 0.5, "direction": 0.75, "status": 0.6},
}
REVERSED = {"a>b": "b>a", "b>a": "a>b", "none": "none"}


class Statement(NamedTuple):
    """A sentence with two names, and what it says; directions count from the first name."""

    kind: str
    text: str
    first: str
    second: str
    type: str
    direction: str
    status: str


def read_statements(name: str) -> list[Statement]:
    """Read a set of statements beside this file."""
    lines = Path(__file__).with_name(f"{name}.jsonl").read_text("utf-8").splitlines()
    return [Statement(**json.loads(line)) for line in lines]


def find_answers(statements: Sequence[Statement], nlp: Language) -> list[dict[str, str]]:
    """Return type, direction and status of each statement, in the order of its names."""
    answers = []
    for statement in statements:
        doc = nlp.make_doc(statement.text)
        starts = [statement.text.index(name) for name in (statement.first, statement.second)]
        names = (statement.first, statement.second)
        spans = []
        for start, name in zip(starts, names, strict=True):
            span = doc.char_span(start, start + len(name), alignment_mode="expand")
            assert span is not None
            spans.append(Span(doc, span.start, span.end, label="protein", span_id=name))
        doc.spans["entities"] = spans
        [row] = nlp(doc)._.textrank_ppi
        answer = {aspect: row[aspect] for aspect in ASPECTS}
        if starts[0] > starts[1]:
            answer["direction"] = REVERSED[answer["direction"]]
        answers.append(answer)
    return answers


def load() -> Language:
    """Return a pipeline that parses and judges pairs of given names."""
    nlp = textrank.load_nlp(only=["tagger", "parser"])
    nlp.add_pipe("textrank_ppi")
    return nlp


@pytest.mark.parametrize("name", MIN_SHARE_RIGHT)
def test_there_are_sixty_different_statements(name: str) -> None:
    statements = read_statements(name)
    assert len(statements) == len({s.text for s in statements}) == 60
    assert {s.status for s in statements} == {"asserted", "negated", "speculated"}


@pytest.mark.slow
@pytest.mark.parametrize("name", MIN_SHARE_RIGHT)
def test_most_statements_are_understood(name: str) -> None:
    statements = read_statements(name)
    answers = find_answers(statements, load())
    for aspect, share in MIN_SHARE_RIGHT[name].items():
        wrong = [
            f"{answer[aspect]} instead of {getattr(s, aspect)}: {s.text}"
            for s, answer in zip(statements, answers, strict=True)
            if answer[aspect] != getattr(s, aspect)
        ]
        assert 1 - len(wrong) / len(statements) >= share, "\n".join(wrong)


if __name__ == "__main__":
    NLP = load()
    for SET_NAME in MIN_SHARE_RIGHT:
        STATEMENTS = read_statements(SET_NAME)
        ANSWERS = find_answers(STATEMENTS, NLP)
        for ASPECT in ASPECTS:
            RIGHT = [
                answer[ASPECT] == getattr(s, ASPECT)
                for s, answer in zip(STATEMENTS, ANSWERS, strict=True)
            ]
            print(f"{SET_NAME}, {ASPECT}: {sum(RIGHT)} of {len(RIGHT)} right")  # noqa: T201
