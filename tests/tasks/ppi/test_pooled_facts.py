"""Facts whose evidence in a document is pooled."""

from __future__ import annotations

import math
from typing import Any

import pytest

from textrank.tasks.ppi.facts import pool_evidence

WEIGHTS = {"constant": -1.0, "best": 1.5, "mentions": 0.5, "share": 2.0, "title": 0.25}


def row(a: str, b: str, probability: float, status: str = "asserted") -> dict[str, Any]:
    return {
        "names": [a, b],
        "identifiers": [None, "ncbigene:2"],
        "probability": probability,
        "status": status,
    }


MENTIONS = [("A", None, 0), ("B", "ncbigene:2", 0), ("A", None, 1), ("A", None, 3), ("C", None, 3)]


def test_the_best_statement_and_the_subject_of_the_document_count() -> None:
    rows = [row("A", "B", 0.3), row("A", "b", 0.6), row("C", "B", 0.2)]
    first, second, third = pool_evidence(rows, MENTIONS, 4, WEIGHTS)
    assert first == second  # one fact, whatever the spelling of a name with an identifier
    log_odds = -1.0 + 1.5 * math.log(0.6 / 0.4) + 0.5 * math.log(3) + 2.0 * 3 / 4 + 0.25
    assert first == pytest.approx(1 / (1 + math.exp(-log_odds)))
    log_odds = -1.0 + 1.5 * math.log(0.2 / 0.8) + 0.5 * math.log(1) + 2.0 * 2 / 4
    # Of two names that are equally frequent the first in the alphabet decides about the title.
    assert third == pytest.approx(1 / (1 + math.exp(-log_odds)))


def test_only_asserted_statements_are_pooled() -> None:
    rows = [row("A", "B", 0.9, "negated"), row("C", "B", 0.9, "speculated"), row("C", "B", 0.1)]
    first, second, third = pool_evidence(rows, MENTIONS, 4, WEIGHTS)
    assert first == 0
    assert second == third > 0


@pytest.mark.parametrize("n_sentences", [2, 31])
def test_texts_that_are_not_abstracts_are_not_pooled(n_sentences: int) -> None:
    rows = [row("A", "B", 0.3), row("A", "B", 0.6)]
    assert pool_evidence(rows, MENTIONS, n_sentences, WEIGHTS) == [0.6, 0.6]


def test_certain_statements_do_not_overflow() -> None:
    (probability,) = pool_evidence([row("A", "B", 1.0)], MENTIONS, 4, {"best": 1e3})
    assert probability == pytest.approx(1.0)
