"""Numbers for a second stage: equal to plain loops, and blind to other documents."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from textrank.candidates import Candidate, DocumentContext
from textrank.learners.meta import CONTEXT_FEATURE_NAMES, document_context_features


@pytest.fixture
def candidates(make_doc) -> list[Candidate]:
    words = ["p53", "binds", "MDM2", "and", "P53", "but", "not", "p21"]
    doc = make_doc(words, entities=[(4, 5), (0, 1), (7, 8), (2, 3)])
    return [Candidate(doc, (span,), "a") for span in doc.spans["entities"]]


def test_numbers_equal_plain_loops(candidates, rng):
    s = rng.normal(size=4)
    found = document_context_features(DocumentContext.from_candidates(candidates), s)
    place = [c.spans[0].start for c in candidates]
    text = [c.spans[0].text.lower() for c in candidates]
    order = sorted(range(4), key=lambda i: place[i])
    for i in range(4):
        others = [j for j in range(4) if j != i]
        near = {j: 1 / (1 + abs(place[i] - place[j])) for j in others}
        same = [j for j in others if text[j] == text[i]]
        at = order.index(i)
        before = order[at - 1] if at else None
        after = order[at + 1] if at < 3 else None
        expected = [
            s[i],
            np.mean([s[j] for j in others]),
            sum(near[j] * s[j] for j in others) / sum(near.values()),
            max(s[j] for j in others),
            0.0 if before is None else near[before] * s[before],
            0.0 if after is None else near[after] * s[after],
            0.0 if before is None else near[before],
            0.0 if after is None else near[after],
            np.log(4),
            np.log1p(len(same)),
            np.mean([s[j] for j in same]) if same else 0.0,
            max((s[j] for j in same), default=0.0),
        ]
        np.testing.assert_allclose(found[i], expected)
    assert found.shape[1] == len(CONTEXT_FEATURE_NAMES)


def asking(doc, answer):
    return [Candidate(doc, (span,), "a", answer=answer) for span in doc.spans["entities"]]


def test_other_texts_and_other_questions_say_nothing(candidates, make_doc, rng):
    s = rng.normal(size=12)
    other = asking(make_doc(["p53", "and", "MDM2"], entities=[(0, 1), (2, 3)]), "protein")
    more = asking(candidates[0].doc, "DNA")
    # Two copies of a text are held out together, but each has neighbours of its own.
    all_ = [*candidates, *[replace(c, document="a") for c in other], *more]
    found = document_context_features(DocumentContext.from_candidates(all_), s[: len(all_)])
    np.testing.assert_array_equal(
        found[:4], document_context_features(DocumentContext.from_candidates(candidates), s[:4])
    )
    np.testing.assert_array_equal(
        found[4:6], document_context_features(DocumentContext.from_candidates(other), s[4:6])
    )


def test_a_name_alone_has_its_score_only(candidates):
    row = document_context_features(
        DocumentContext.from_candidates(candidates[:1]), np.array([0.7])
    )[0]
    assert row[0] == 0.7
    assert not row[1:].any()
