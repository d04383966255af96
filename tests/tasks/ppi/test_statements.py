"""Statements: the questions about a pair, and the rows that carry their answers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy.special import logit
from spacy.tokens import Doc, Span

from textrank.tasks.base import Scored
from textrank.tasks.ppi.statements import LABELS, PPIStatement
from textrank.tasks.ppi.task import PPI

KEYS = {
    *("names", "spans", "identifiers", "score", "probability", "interacts", "status", "type"),
    *("direction", "trigger", "sentence"),
}


def pair_doc(make_doc: Callable[..., Doc], **row: Any) -> Doc:
    """``B2 is bound by A1`` with a gold statement from A1 to B2."""
    doc = make_doc(["B2", "is", "bound", "by", "A1"], [2, 2, 2, 2, 3], ["dep"] * 5)
    places = (0, "T1", "NCBIGene:7"), (4, "T2", "")
    doc.spans["entities"] = [Span(doc, i, i + 1, "P", kb_id=k, span_id=n) for i, n, k in places]
    gold = {"entities": ["T2", "T1"], "label": True, "type": "binding", "status": "negated"}
    doc.user_data["gold"] = [{**gold, "direction": "a>b", **row}]
    return doc


@pytest.mark.parametrize("aspect", LABELS)
def test_a_pair_has_a_candidate_an_answer_and_one_is_right(
    make_doc: Callable[..., Doc], aspect: Any
) -> None:
    task = PPIStatement(aspect)
    found = task.candidates(pair_doc(make_doc))
    assert [c.label_key for c in found] == [f"{aspect}: {a}" for a in task.answers]
    right = {"status": "negated", "type": "binding", "direction": "b>a"}[aspect]
    assert [c.label for c in found] == [1.0 if a == right else -1.0 for a in task.answers]


def test_pairs_without_the_aspect_are_not_asked_about(make_doc: Callable[..., Doc]) -> None:
    doc = pair_doc(make_doc)
    del doc.user_data["gold"][0]["type"]
    assert not PPIStatement("type").candidates(doc)
    assert PPIStatement("status").candidates(doc)
    del doc.user_data["gold"]
    assert {c.label for c in PPIStatement("type").candidates(doc)} == {None}


def test_the_best_answer_counts_and_kinds_of_modification_are_one_in_five(
    make_doc: Callable[..., Doc],
) -> None:
    task = PPIStatement("type")
    found = task.candidates(pair_doc(make_doc, type="degradation"))
    scores = np.array([1.0 if c.label_key == "type: modification" else 0.0 for c in found])
    measures = task.measures(Scored(found, scores, 0.0))
    assert measures["accuracy"] == 0.0
    assert measures["accuracy_five"] == 1.0
    assert measures["f_degradation"] == 0.0
    assert measures["f_binding"] is None


def test_a_denial_counts_from_where_the_mean_f_of_denials_and_doubts_is_best() -> None:
    task = PPIStatement("status")
    heldout = np.array([[1.0, -0.2, -4.0], [1.0, -3.0, -0.4], [2.0, -0.9, -0.9], [3.0, -3.0, -4.0]])
    y = np.where(np.eye(3)[[1, 2, 0, 0]] > 0, 1.0, -1.0)
    limit = task.threshold(y.ravel(), heldout.ravel())
    assert -0.9 < limit <= -0.4
    assert task.choose_answers(heldout, limit).tolist() == [1, 2, 0, 0]
    assert task.choose_answers(heldout, 0.0).tolist() == [0, 0, 0, 0]
    assert PPIStatement("direction").threshold(y.ravel(), heldout.ravel()) == 0.0
    rarer = heldout - 1.5 * np.array([0.0, 1.0, 1.0])  # lower ones would be best, but are not tried
    assert task.threshold(y.ravel(), rarer.ravel()) == pytest.approx(logit(0.25))


def test_rows_and_figures_of_status_follow_the_threshold(make_doc: Callable[..., Doc]) -> None:
    doc, task = pair_doc(make_doc), PPIStatement("status")
    found = task.candidates(doc)
    scored = Scored(found, np.array([0.5, -0.7, -3.0]), -1.0)
    assert task.annotate(doc, scored)._.textrank_ppi_statement[0]["status"] == "negated"
    assert task.measures(scored)["accuracy"] == 1.0
    even = Scored(found, scored.scores, 0.0)
    assert task.annotate(doc, even)._.textrank_ppi_statement[0]["status"] == "asserted"


def test_an_unknown_aspect_is_refused_by_name() -> None:
    with pytest.raises(ValueError, match="aspect must be one of status, type, direction"):
        PPIStatement("mood")  # type: ignore[arg-type]


def test_rows_carry_all_keys_of_a_statement(make_doc: Callable[..., Doc]) -> None:
    doc, task = pair_doc(make_doc), PPI()
    found = task.candidates(doc)
    task.annotate(doc, Scored(found, np.array([-0.2]), -0.3, np.array([0.4])))
    (row,) = doc._.textrank_ppi
    assert set(row) == KEYS
    assert row["identifiers"] == ["NCBIGene:7", None]
    assert not row["interacts"]  # below one half, though above the threshold of the figures
    assert row["trigger"] == []


def test_the_level_decides_where_probabilities_are_known(make_doc: Callable[..., Doc]) -> None:
    doc, task = pair_doc(make_doc), PPI(level=0.3)
    task.annotate(doc, Scored(task.candidates(doc), np.zeros(1), probabilities=np.array([0.4])))
    assert doc._.textrank_ppi[0]["interacts"]
    with pytest.raises(ValueError, match="level must be a probability"):
        PPI(level=2.0)


def test_a_precision_asks_for_the_lowest_level_that_reaches_it() -> None:
    y, p = np.array([-1.0, 1.0, -1.0, 1.0]), np.array([0.1, 0.4, 0.6, 0.8])
    assert PPI(precision=0.9).at_level(y, p).level == pytest.approx(0.8, abs=1e-8)
    assert PPI().at_level(y, p).level == pytest.approx(0.5, abs=1e-8)
    with pytest.raises(ValueError, match=r"no level reaches a precision of 0\.9"):
        PPI(precision=0.9).at_level(-y, p)
    with pytest.raises(ValueError, match="precision must be"):
        PPI(precision=0.0)
