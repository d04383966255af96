"""Questions in natural wording are understood, or refused with a suggestion."""

from __future__ import annotations

from pathlib import Path

import pytest

from textrank.results.questions import UnknownQuestionError, parse_question

TABLES = [Path(__file__).with_name(name) for name in ("questions.tsv", "questions-later.tsv")]
ROWS = [
    line.split("\t")
    for table in TABLES
    for line in table.read_text("utf-8").splitlines()
    if line and not line.startswith("#")
]


@pytest.mark.parametrize("row", ROWS, ids=[row[0] for row in ROWS])
def test_table(row):
    text, kind, names, types, role, status, limit = (*row, *[""] * 7)[:7]
    if kind == "refused":
        with pytest.raises(UnknownQuestionError, match="not understood"):
            parse_question(text)
        return
    question = parse_question(text)
    kind, _, counted = kind.partition(" ")
    assert question.kind == kind
    assert list(question.names) == [name for name in names.split("|") if name]
    assert list(question.types) == [kind for kind in types.split("|") if kind]
    assert (question.role, question.status, question.counted) == (role, status, counted)
    assert question.limit == (int(limit) if limit else None)


def test_empty_and_long_questions_are_refused():
    for text in ("", "  ?", "word " * 50, "is", "what"):
        with pytest.raises(UnknownQuestionError):
            parse_question(text)
