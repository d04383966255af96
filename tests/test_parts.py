"""The parts of scores: from the look that gave the scores as from a look of their own."""

from __future__ import annotations

import numpy as np
import pytest
import spacy

from textrank.features import FeatureNames, Features
from textrank.linear_scores import Contributions, LinearScores, ScoredBatch, rank_contributions

TEXTS = [
    "I wonder weather this is true. It was bigger then that, and then they left.",
    "Nothing is wrong here.",
    "They are better then many, and there dogs bark. I wonder weather it may be less than that.",
]


@pytest.fixture(scope="module")
def nlp():
    nlp = spacy.blank("en")
    nlp.add_pipe("sentencizer")
    return nlp


@pytest.mark.parametrize("words", [1, 50, 200_000])  # those looked at in one portion
def test_reasons_of_proposals_are_those_that_explain_gives(
    nlp, monkeypatch, trained_spelling, words
):
    monkeypatch.setattr("textrank.candidates.MAX_CHUNK_WORDS", words)
    model = trained_spelling
    task = model.pipeline.task
    proposals = 0
    for doc in model.pipe(nlp.pipe(TEXTS)):
        told = [row.pop("because") for row in doc._.textrank_spelling]
        task.add_explanations(doc, task.candidates(doc), model.explain_batch)
        for own, row in zip(told, doc._.textrank_spelling, strict=True):
            assert own
            assert [part["feature"] for part in own] == [p["feature"] for p in row["because"]]
            adds = [part["adds"] for part in row["because"]]
            assert [part["adds"] for part in own] == pytest.approx(adds, abs=1e-12)
        proposals += len(told)
    assert proposals > 1


def test_portions_are_told_one_after_the_other(nlp, trained_spelling):
    names, coef = FeatureNames.from_iterable(["a", "b", "c"]), np.array([2.0, -1.0, 0.5])
    doc = nlp(TEXTS[0])
    some = trained_spelling.pipeline.task.candidates(doc)[:3]
    first = Contributions(np.array([1, 0, 0]), np.array([0, 2, 0]), np.array([1.0, 8.0, 1.0]))
    second = Contributions(np.array([0]), np.array([1]), np.array([3.0]))
    weighed = [
        LinearScores(np.array([6.0, 2.0]), np.array([65.0, 1.0]), lambda: first),
        LinearScores(np.array([-3.0]), np.array([9.0]), lambda: second),
    ]
    looked = ScoredBatch(some, weighed, names, coef)
    assert looked.scores.tolist() == [6.0, 2.0, -3.0]
    parts = [[(("c",), 4.0), (("a",), 2.0)], [(("a",), 2.0)], [(("b",), -3.0)]]
    assert looked.explain(some) == parts
    assert looked.explain([some[2], some[0]]) == [parts[2], parts[0]]


def test_a_candidate_that_was_not_scored_is_refused(nlp, trained_spelling):
    task = trained_spelling.pipeline.task
    doc = nlp(TEXTS[0])
    looked = ScoredBatch(task.candidates(doc), [], FeatureNames.from_iterable(["a"]), np.ones(1))
    with pytest.raises(ValueError, match="not one of the scored candidates"):
        looked.explain(task.candidates(doc))


def test_parts_of_equal_size_stand_in_the_order_of_the_model():
    parts = Features.from_dicts([{"a": 1.0, "b": -2.0, "c": 2.0}, {"c": 1.0, "a": -1.0}])
    assert rank_contributions(parts) == [
        [(("b",), -2.0), (("c",), 2.0), (("a",), 1.0)],
        [(("a",), -1.0), (("c",), 1.0)],
    ]
    assert rank_contributions(parts, [1]) == rank_contributions(parts)[1:]
