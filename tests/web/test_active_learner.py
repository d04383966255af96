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
    WINDOW_ANSWERS,
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


def truth(learner: ActiveLearner, row: int) -> str:
    c = learner.candidates[row]
    spans = tuple((s.start_char, s.end_char) for s in c.spans)
    return YES if gold()[str(c.doc.user_data["document"]), spans] > 0 else NO


def agrees(learner: ActiveLearner) -> None:
    """The model of the answers, trained anew at the same alpha from the same beginning."""
    index = learner.index
    K = learner.rows.gram(index) + learner.online.alpha * np.eye(len(index))
    coef = np.linalg.solve(K, learner.targets(learner.labels))
    np.testing.assert_allclose(learner.online.coef, coef, atol=1e-8)
    scores = learner.prior_scores + learner.rows.scores(index, coef)
    np.testing.assert_allclose(learner.scores, scores, atol=1e-8)
    groups = np.array([learner.groups[i] for i in index])
    for document in np.unique(groups):
        out, rest = groups == document, groups != document
        left = np.linalg.solve(K[np.ix_(rest, rest)], learner.targets(learner.labels)[rest])
        held = learner.prior_scores[index][out] + K[np.ix_(out, rest)] @ left
        np.testing.assert_allclose(learner.heldout[out], held, atol=1e-8)


@pytest.mark.parametrize("start", ["nothing", "corpus", "model"])
def test_every_answer_and_every_undo_equals_training_anew(start: str) -> None:
    prior = load_model("ppi") if start == "model" else None
    training = docs()[:4] if start == "corpus" else ()
    learner = ActiveLearner.from_docs(pipeline(), docs()[4:], prior=prior, training=training)
    for number in range(12):
        question = learner.next_question()
        assert question is not None
        learner.answer(question, truth(learner, question.rows[0]))
        agrees(learner)
        if number % 4 == 3:
            before = learner.online.coef
            learner.remove_answer(question)
            agrees(learner)
            learner.answer(question, truth(learner, question.rows[0]))
            np.testing.assert_allclose(learner.online.coef, before, atol=1e-10)


def test_unsure_and_wrong_name_give_no_label_and_negated_means_no() -> None:
    learner = ActiveLearner.from_docs(pipeline(), docs())
    for value, size in ((UNSURE, 0), (WRONG_NAME, 0), (NEGATED, 1)):
        question = learner.next_question()
        assert question is not None
        learner.answer(question, value)
        assert len(learner.online) == size
    assert learner.answers.tolist() == [-1.0]
    with pytest.raises(ValueError, match="answered before"):
        learner.answer(question, YES)
    with pytest.raises(ValueError, match="is not an answer"):
        learner.answer(learner.next_question() or question, "choose:0")


def test_alpha_is_chosen_anew_while_answers_come() -> None:
    learner = ActiveLearner.from_docs(pipeline(), docs())
    for _ in range(40):
        question = learner.next_question()
        assert question is not None
        learner.answer(question, truth(learner, question.rows[0]))
    thread = Thread(target=learner.tune)
    thread.start()
    for _ in range(5):
        question = learner.next_question()
        assert question is not None
        learner.answer(question, truth(learner, question.rows[0]))
    thread.join()
    assert len(learner.online) == 45
    agrees(learner)
    learner.tune()
    assert learner.online.alpha in learner.alphas
    assert learner.online.border_size == 0
    agrees(learner)


@pytest.mark.parametrize("undone", [1, 3])
def test_agreement_after_an_undo_is_that_without_the_undone_answers(undone: int) -> None:
    learners = [ActiveLearner.from_docs(pipeline(), docs()) for _ in range(2)]
    questions = list(learners[0].questions.values())[: WINDOW_ANSWERS + 15]
    for number, question in enumerate(questions):
        for learner in learners:
            learner.answer(question, truth(learner, question.rows[0]))
        if number == WINDOW_ANSWERS + 3:
            later = list(learners[1].questions.values())[-undone:]
            for other in later:
                learners[1].answer(other, NO)
            for other in reversed(later):
                learners[1].remove_answer(other)
    kappas, after_undo = (learner.kappas for learner in learners)
    assert len(set(kappas[-10:])) > 1
    assert after_undo == pytest.approx(kappas)


@pytest.mark.parametrize("name", ["ppi-linear", "ppi"])
def test_variance_reduction_equals_the_change_of_variance(name: str) -> None:
    learner = ActiveLearner.from_docs(load_pipeline(name), docs(6))
    for _ in range(7):
        question = learner.next_question()
        assert question is not None
        learner.answer(question, truth(learner, question.rows[0]))
    learner.remove_answer(question)
    rows = np.array([q.rows[0] for k, q in learner.questions.items() if k not in learner.answered])
    found = learner._variance_reductions(rows[:5], learner.rows.kernel_columns(rows[:5]))
    variance, before = learner._variance, _variances(learner, learner.labelled)
    assert variance is not None
    weights = learner._uncertainty(learner.scores)
    for row, gain in zip(rows[:5].tolist(), found, strict=True):
        fall = (before - _variances(learner, [*learner.labelled, row])) * weights
        assert gain == pytest.approx(fall[variance.sample].sum(), rel=1e-6)


def _variances(learner: ActiveLearner, labelled: list[int]) -> np.ndarray:
    """What a Gaussian process with these answers leaves open, from the whole Gram matrix."""
    K = learner.rows.gram(np.arange(len(learner.candidates)))
    known = K[np.ix_(labelled, labelled)] + learner.online.alpha * np.eye(len(labelled))
    return np.diag(K) - np.einsum("ij,ji->i", K[:, labelled], np.linalg.solve(known, K[labelled]))


def test_reasons_sum_to_the_score() -> None:
    prior = load_model("ppi")
    learner = ActiveLearner.from_docs(prior.pipeline, docs(), prior=prior)
    for _ in range(6):
        question = learner.next_question()
        assert question is not None
        learner.answer(question, truth(learner, question.rows[0]))
    parts = explain_row(learner, 9)
    assert ("average candidate",) in dict(parts)  # what all candidates share is no reason
    total = sum(value for _, value in parts)
    assert total == pytest.approx(learner.scores[9], abs=1e-8)


def test_reasons_for_one_of_several_answers_name_that_answer_alone() -> None:
    found = load_corpus(CORPUS.parent / "sample-gene-protein")(spacy.blank("en"))
    texts = [doc for _, doc in zip(range(6), found, strict=False)]
    prior = load_model("gene_protein")
    learner = ActiveLearner.from_docs(prior.pipeline, texts, prior=prior)
    for _ in range(6):
        question = learner.next_question()
        assert question is not None
        learner.answer(question, "choose:0")
    asked = learner.candidates[0].label_key
    others = {c.label_key for c in learner.candidates} - {asked}
    parts = explain_row(learner, 0)
    assert sum(value for _, value in parts) == pytest.approx(learner.scores[0], abs=1e-8)
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
        ActiveLearner.from_docs(load_pipeline("parse_ranking"), docs())


def test_two_names_at_the_same_characters_are_two_questions(
    make_doc: Callable[..., Doc],
) -> None:
    doc = make_doc(["A", "binds", "B"], [1, 1, 1], ["nsubj", "ROOT", "dobj"])
    spans = [Span(doc, 0, 1, label="p", span_id="a"), Span(doc, 2, 3, label="p", span_id="b")]
    pair = Candidate(doc, tuple(spans), "d0", "s0")
    first, second = build_questions([pair, pair], first_row=3)
    assert (first.rows, second.rows) == ((3,), (4,))
    assert first.key != second.key
    senses = [Candidate(doc, (doc[0:1],), "d0", "q0", question="x", answer=s) for s in "uvw"]
    (question,) = build_questions(senses)
    assert question.labels("choose:1") == {0: -1.0, 1: 1.0, 2: -1.0}
    assert question.labels("unsure") == {}
    with pytest.raises(ValueError, match="is not an answer"):
        question.labels("yes")
