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
MIN_SHARE_RIGHT = {"type": 0.5, "direction": 0.8, "status": 0.7}
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


def read_statements() -> list[Statement]:
    """Read the statements beside this file."""
    lines = Path(__file__).with_name("unseen_statements.jsonl").read_text("utf-8").splitlines()
    return [Statement(**json.loads(line)) for line in lines]


def find_answers(statements: Sequence[Statement], nlp: Language) -> list[dict[str, str]]:
    """Return type, direction and status of each statement, in the order of its names."""
    answers = []
    for statement in statements:
        doc = nlp.make_doc(statement.text)
        starts = [statement.text.index(name) for name in (statement.first, statement.second)]
        names = zip(starts, (statement.first, statement.second), strict=True)
        spans = [
            doc.char_span(start, start + len(name), alignment_mode="expand")
            for start, name in names
        ]
        doc.spans["entities"] = [
            Span(doc, s.start, s.end, label="protein", span_id=str(i)) for i, s in enumerate(spans)
        ]
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


def test_there_are_sixty_different_statements() -> None:
    statements = read_statements()
    assert len(statements) == len({s.text for s in statements}) == 60
    assert {s.status for s in statements} == {"asserted", "negated", "speculated"}


@pytest.mark.slow
def test_most_statements_are_understood() -> None:
    statements = read_statements()
    answers = find_answers(statements, load())
    for aspect, share in MIN_SHARE_RIGHT.items():
        wrong = [
            f"{answer[aspect]} instead of {getattr(s, aspect)}: {s.text}"
            for s, answer in zip(statements, answers, strict=True)
            if answer[aspect] != getattr(s, aspect)
        ]
        assert 1 - len(wrong) / len(statements) >= share, "\n".join(wrong)


if __name__ == "__main__":
    STATEMENTS = read_statements()
    ANSWERS = find_answers(STATEMENTS, load())
    for ASPECT in ASPECTS:
        RIGHT = [
            answer[ASPECT] == getattr(s, ASPECT)
            for s, answer in zip(STATEMENTS, ANSWERS, strict=True)
        ]
        print(f"{ASPECT}: {sum(RIGHT)} of {len(RIGHT)} right")  # noqa: T201
