"""A model under instruction equals one that was trained with the same answers."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path
from threading import Thread

import numpy as np
import pytest
import spacy
from spacy.tokens import Doc, Span

from textrank.candidates import Candidate
from textrank.config import load_corpus, load_model, load_pipeline
from textrank.pipeline import Pipeline
from textrank.web.active_learner import (
    NEGATED,
    NO,
    UNSURE,
    WRONG_NAME,
    YES,
    ActiveLearner,
    Quality,
    advise,
    build_questions,
    expected_calibration_error,
    explain_row,
    measure_quality,
)

CORPUS = Path(__file__).parents[2] / "corpora" / "sample-ppi"


@cache
def docs(count: int = 12) -> tuple[Doc, ...]:
    found = load_corpus(CORPUS)(spacy.blank("en"))
    return tuple(doc for _, doc in zip(range(count), found, strict=False))


@cache
def pipeline() -> Pipeline:
    return load_pipeline("ppi-linear")


@cache
def gold() -> dict[tuple[str, tuple[tuple[int, int], ...]], float]:
    found = {}
    for doc in docs():
        for c in pipeline().task.candidates(doc):
            spans = tuple((s.start_char, s.end_char) for s in c.spans)
            found[str(doc.user_data["document"]), spans] = float(c.label or -1.0)
    return found


def truth(teaching: ActiveLearner, row: int) -> str:
    c = teaching.candidates[row]
    spans = tuple((s.start_char, s.end_char) for s in c.spans)
    return YES if gold()[str(c.doc.user_data["document"]), spans] > 0 else NO


def agrees(teaching: ActiveLearner) -> None:
    """The model of the answers, trained anew at the same alpha from the same beginning."""
    index = teaching.index
    K = teaching.rows.gram(index) + teaching.online.alpha * np.eye(len(index))
    coef = np.linalg.solve(K, teaching.targets(teaching.labels))
    np.testing.assert_allclose(teaching.online.coef, coef, atol=1e-8)
    scores = teaching.prior_scores + teaching.rows.scores(index, coef)
    np.testing.assert_allclose(teaching.scores, scores, atol=1e-8)
    groups = np.array([teaching.groups[i] for i in index])
    for document in np.unique(groups):
        out, rest = groups == document, groups != document
        left = np.linalg.solve(K[np.ix_(rest, rest)], teaching.targets(teaching.labels)[rest])
        held = teaching.prior_scores[index][out] + K[np.ix_(out, rest)] @ left
        np.testing.assert_allclose(teaching.heldout[out], held, atol=1e-8)


@pytest.mark.parametrize("start", ["nothing", "corpus", "model"])
def test_every_answer_and_every_undo_equals_training_anew(start: str) -> None:
    prior = load_model("ppi") if start == "model" else None
    training = docs()[:4] if start == "corpus" else ()
    teaching = ActiveLearner.of(pipeline(), docs()[4:], prior=prior, training=training)
    for number in range(12):
        question = teaching.next_question()
        assert question is not None
        teaching.answer(question, truth(teaching, question.rows[0]))
        agrees(teaching)
        if number % 4 == 3:
            before = teaching.online.coef
            teaching.remove_answer(question)
            agrees(teaching)
            teaching.answer(question, truth(teaching, question.rows[0]))
            np.testing.assert_allclose(teaching.online.coef, before, atol=1e-10)


def test_unsure_and_wrong_names_teach_nothing_and_negated_is_a_no() -> None:
    teaching = ActiveLearner.of(pipeline(), docs())
    for value, size in ((UNSURE, 0), (WRONG_NAME, 0), (NEGATED, 1)):
        question = teaching.next_question()
        assert question is not None
        teaching.answer(question, value)
        assert len(teaching.online) == size
    assert teaching.answers.tolist() == [-1.0]
    with pytest.raises(ValueError, match="answered before"):
        teaching.answer(question, YES)
    with pytest.raises(ValueError, match="is no answer"):
        teaching.answer(teaching.next_question() or question, "choose:0")


def test_alpha_is_chosen_anew_while_answers_come() -> None:
    teaching = ActiveLearner.of(pipeline(), docs())
    for _ in range(40):
        question = teaching.next_question()
        assert question is not None
        teaching.answer(question, truth(teaching, question.rows[0]))
    thread = Thread(target=teaching.tune)
    thread.start()
    for _ in range(5):
        question = teaching.next_question()
        assert question is not None
        teaching.answer(question, truth(teaching, question.rows[0]))
    thread.join()
    assert len(teaching.online) == 45
    agrees(teaching)
    teaching.tune()
    assert teaching.online.alpha in teaching.alphas
    assert teaching.online.fresh == 0
    agrees(teaching)


@pytest.mark.parametrize("name", ["ppi-linear", "ppi"])
def test_reach_is_the_variance_that_an_answer_takes_from_the_others(name: str) -> None:
    teaching = ActiveLearner.of(load_pipeline(name), docs(6))
    for _ in range(7):
        question = teaching.next_question()
        assert question is not None
        teaching.answer(question, truth(teaching, question.rows[0]))
    teaching.remove_answer(question)
    rows = np.array(
        [q.rows[0] for k, q in teaching.questions.items() if k not in teaching.answered]
    )
    found = teaching._gains(rows[:5], teaching.rows.kernel_columns(rows[:5]))
    reach, before = teaching._reach, _variances(teaching, teaching.labelled)
    assert reach is not None
    weights = teaching._uncertain(teaching.scores)
    for row, gain in zip(rows[:5].tolist(), found, strict=True):
        fall = (before - _variances(teaching, [*teaching.labelled, row])) * weights
        assert gain == pytest.approx(fall[reach.sample].sum(), rel=1e-6)


def _variances(teaching: ActiveLearner, taught: list[int]) -> np.ndarray:
    """What a Gaussian process with these answers leaves open, from the whole Gram matrix."""
    K = teaching.rows.gram(np.arange(len(teaching.candidates)))
    known = K[np.ix_(taught, taught)] + teaching.online.alpha * np.eye(len(taught))
    return np.diag(K) - np.einsum("ij,ji->i", K[:, taught], np.linalg.solve(known, K[taught]))


def test_reasons_sum_to_the_score() -> None:
    prior = load_model("ppi")
    teaching = ActiveLearner.of(prior.pipeline, docs(), prior=prior)
    for _ in range(6):
        question = teaching.next_question()
        assert question is not None
        teaching.answer(question, truth(teaching, question.rows[0]))
    parts = explain_row(teaching, 9)
    assert ("average candidate",) in dict(parts)  # what all candidates share is no reason
    total = sum(value for _, value in parts)
    assert total == pytest.approx(teaching.scores[9], abs=1e-8)


def test_reasons_for_one_of_several_answers_name_that_answer_alone() -> None:
    found = load_corpus(CORPUS.parent / "sample-gene-protein")(spacy.blank("en"))
    texts = [doc for _, doc in zip(range(6), found, strict=False)]
    prior = load_model("gene_protein")
    teaching = ActiveLearner.of(prior.pipeline, texts, prior=prior)
    for _ in range(6):
        question = teaching.next_question()
        assert question is not None
        teaching.answer(question, "choose:0")
    asked = teaching.candidates[0].label_key
    others = {c.label_key for c in teaching.candidates} - {asked}
    parts = explain_row(teaching, 0)
    assert sum(value for _, value in parts) == pytest.approx(teaching.scores[0], abs=1e-8)
    assert not [name for name, _ in parts if others & set(name)]


def test_figures_are_honest_about_few_answers() -> None:
    y = np.array([1.0, -1.0])
    assert measure_quality(y, y, np.arange(2)).auc is None
    rng = np.random.default_rng(0)
    y = np.where(rng.random(200) < 0.5, 1.0, -1.0)
    found = measure_quality(y, rng.standard_normal(200), np.arange(200) // 4)
    assert found.auc == pytest.approx(0.5, abs=0.1)
    good = measure_quality(y, y + 0.1 * rng.standard_normal(200), np.arange(200) // 4)
    assert good.f == 1.0
    assert expected_calibration_error(y, np.full(200, float((y > 0).mean()))) < 0.1


def test_advice_says_when_more_answers_stop_helping() -> None:
    rising = [Quality(0.5 + 0.004 * i, 0.5, 0.1, i) for i in range(100)]
    flat = [Quality(0.9, 0.8, 0.05, i) for i in range(100)]
    assert advise([], [])[0] == "go on"
    assert advise(rising, [1.0] * 100)[0] == "go on"
    assert advise(flat, [0.95] * 100)[0] == "slower"
    assert advise(flat, [1.0] * 100)[0] == "enough"


def test_a_task_that_ranks_is_refused() -> None:
    with pytest.raises(ValueError, match="ranks"):
        ActiveLearner.of(load_pipeline("parse_ranking"), docs())


def test_two_names_at_the_same_characters_are_two_questions(
    make_doc: Callable[..., Doc],
) -> None:
    doc = make_doc(["A", "binds", "B"], [1, 1, 1], ["nsubj", "ROOT", "dobj"])
    spans = [Span(doc, 0, 1, label="p", span_id="a"), Span(doc, 2, 3, label="p", span_id="b")]
    pair = Candidate(doc, tuple(spans), "d0", "s0")
    first, second = build_questions([pair, pair], first=3)
    assert (first.rows, second.rows) == ((3,), (4,))
    assert first.key != second.key
    senses = [Candidate(doc, (doc[0:1],), "d0", "q0", question="x", answer=s) for s in "uvw"]
    (question,) = build_questions(senses)
    assert question.labels("choose:1") == {0: -1.0, 1: 1.0, 2: -1.0}
    assert question.labels("unsure") == {}
    with pytest.raises(ValueError, match="is no answer"):
        question.labels("yes")
