"""Facts of candidates as columns with names."""

from __future__ import annotations

import pytest

from textrank.candidates import Candidate
from textrank.representations.mentions import Facts


def test_facts_are_the_numbers_that_were_noted(make_doc):
    doc = make_doc(["p53"])
    shared = {"seen": 0.5, "family": 0.0, "case": 1.0}
    noted = [shared, {"none": 1.0, "seen": 2.0}, shared, {}, {"family": 0.0}]
    found = Facts()([Candidate(doc, (doc[:1],), "d", facts=facts) for facts in noted])
    names = [name for (name,) in found.names]
    rows = [dict(zip(names, row, strict=True)) for row in found.values.toarray().tolist()]
    assert names == ["seen", "case", "none"]
    assert [{k: v for k, v in row.items() if v} for row in rows] == [
        {k: v for k, v in facts.items() if v} for facts in noted
    ]


def test_a_candidate_without_facts_is_named(make_doc):
    doc = make_doc(["p53"])
    with pytest.raises(ValueError, match="document 'd7' has no facts"):
        Facts()([Candidate(doc, (doc[:1],), "d7")])
