"""Shared parts of tasks: scored candidates, and tasks that choose among answers to a question.

The role itself, with its defaults, is ``textrank.protocols.Task``. A task that chooses one of
several answers to each question inherits from :class:`ChoiceTask` and makes its candidates from
:class:`Question` objects: one candidate for the second of two answers, else one for each answer.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, logit
from spacy.tokens import Doc, Span

from textrank.candidates import Candidate, document_id, get_answers, gold_labels, span_tokens
from textrank.features import Indices, Vector
from textrank.language.normalization import SourceText, original_offsets
from textrank.metrics import argmax_first, classification_metrics, merge_ties
from textrank.protocols import Task


@dataclass(frozen=True, eq=False, slots=True)
class Scored:
    """Candidates with their scores, as a task annotates and measures them; n is their number."""

    candidates: Sequence[Candidate]
    scores: Vector  # (n,)
    threshold: float | None = None  # score from which the answer is yes; None: not chosen
    probabilities: Vector | None = None  # (n,); None: the model is not calibrated
    unreachable: int = 0  # gold answers that no candidate covers
    attributes: Sequence[Mapping[str, Any]] = ()  # one row per candidate; empty: no submodels
    heads: Mapping[str, Vector] = field(default_factory=dict)  # probabilities (n,) by head

    @property
    def limit(self) -> float:
        """The threshold, or 0 if none was chosen."""
        return self.threshold or 0.0

    @property
    def y(self) -> Vector:
        """Gold labels, shape ``(n,)``; NaN where a label is unknown."""
        return gold_labels(self.candidates)

    def measures(self) -> dict[str, float | None]:
        """Return metrics of yes-or-no answers by name: AUC, and F1 at several thresholds.

        None where a metric is undefined. Keys are those of ``classification_metrics``. Unreachable
        gold answers count as missed.
        """
        return classification_metrics(self.y, self.scores, self.threshold, self.unreachable)


def no_candidates_error(task: Task, documents: int) -> ValueError:
    """Build the error for documents in which a task has nothing to decide; the caller raises it.

    ``documents`` is their number. The message quotes the first line of the task's docstring.
    """
    summary, _, _ = (type(task).__doc__ or "").strip().partition("\n")
    return ValueError(
        f"no candidates for task {task.name!r} in {documents} documents. The task is: {summary} "
        "Check that the documents have what it needs, such as annotated entities."
    )


@dataclass(frozen=True)
class Question:
    """A span of a Doc, the possible answers, and the right one if it is known."""

    span: Span
    answers: tuple[str, ...]
    title: str = ""  # distinguishes questions whose answers may have the same text
    right: str | None = None  # gold answer; None: unknown

    def candidates(self, number: int) -> list[Candidate]:
        """Return a candidate for the second of two answers, or one per answer if there are more.

        ``number`` is that of the question in its Doc, which becomes the candidates' query,
        "q<number>". Labels are 1 for the right answer and -1 for others, None if it is unknown. The
        span of a candidate is a copy with the id but without the label, which may be the right
        answer.
        """
        answers = self.answers[1:] if len(self.answers) == 2 else self.answers
        span, doc = self.span, self.span.doc
        # A copy without the label, which may be the right answer.
        spans = (Span(doc, span.start, span.end, span_id=span.id),)
        document, query = document_id(doc), f"q{number}"
        return [
            Candidate(doc, spans, document, query, self._label(answer), None, self.title, answer)
            for answer in answers
        ]

    def _label(self, answer: str) -> float | None:
        """Return 1.0 if the answer is right, -1.0 if not, None if the right one is unknown."""
        return None if self.right is None else 1.0 if answer == self.right else -1.0


def candidates_from_questions(questions: Sequence[Question]) -> list[Candidate]:
    """Return the candidates of a Doc's questions, in their order, numbered from 0.

    All questions must be of one Doc, since the number is the query of the candidates.
    """
    return [c for number, question in enumerate(questions) for c in question.candidates(number)]


@dataclass(frozen=True, eq=False)
class AnsweredQuestion:
    """The candidates of one question with their scores, which are log-odds.

    Of a question with two answers there is a single candidate, for the second one.
    """

    candidates: Sequence[Candidate]
    scores: Vector

    @property
    def span(self) -> Span:
        """The span that the question is about."""
        return self.candidates[0].spans[0]

    @property
    def title(self) -> str:
        """Title of the question, which distinguishes questions with the same answers; may be ""."""
        return self.candidates[0].question

    def probabilities(self, answers: Sequence[str]) -> dict[str, float]:
        """Return the probability of each answer; they sum to one.

        ``answers`` are all answers of the question, in the order of its candidates. Two answers
        have one score, the log-odds of the second; of more, the probabilities by each score alone
        are divided by their sum.
        """
        if len(answers) == 2:
            second = float(expit(self.scores[0]))
            return {answers[0]: 1.0 - second, answers[1]: second}
        odds: list[float] = expit(self.scores).tolist()
        total = max(sum(odds), 1e-300)
        return {answer: value / total for answer, value in zip(answers, odds, strict=True)}

    def is_correct(self, threshold: float) -> bool:
        """Return whether the predicted answer is the right one by the labels of the candidates.

        With several candidates, the first one of the highest score is predicted; it is right if its
        label is positive (an unknown label is not), and ``threshold`` is not used. With a single
        candidate, for the second of two answers, that answer is predicted if its score is at least
        ``threshold``, else the first; the first is right if the label is not positive or unknown.
        """
        labels = [candidate.label or 0.0 for candidate in self.candidates]
        if len(labels) == 1:
            return bool((self.scores[0] >= threshold) == (labels[0] > 0))
        return labels[int(argmax_first(self.scores))] > 0


class ChoiceTask(Task):
    """Base of tasks that choose among answers; subclasses define ``candidates`` and ``row``."""

    has_answer_sets: ClassVar[bool] = True

    def row(self, text: SourceText, question: AnsweredQuestion) -> dict[str, Any]:
        """Return the answer to a question as plain values, which can be written as JSON.

        ``text`` is the text of the Doc, for offsets and sentences. Subclasses must define it.
        """
        raise NotImplementedError

    def threshold(self, y: Vector, heldout: Vector) -> float:
        """Return log-odds of zero, since scores are calibrated; the arguments are not used."""
        return 0.0

    def annotate(self, doc: Doc, scored: Scored) -> Doc:
        """Write one row per question to ``doc._.textrank_<name>``, in the order of candidates.

        Returns the Doc, changed in place. ``scored`` has the candidates of this Doc only. Without
        candidates the attribute becomes [].
        """
        text = SourceText.from_doc(doc, scored.candidates[0].doc if scored.candidates else doc)
        rows = [self.row(text, question) for question in group_by_question(scored)]
        doc._.set(f"textrank_{self.name}", rows)
        return doc

    def mark_answer_sets(self, doc: Doc, scored: Scored, is_in: NDArray[np.bool_]) -> None:
        """Add ``answer_set`` to each row of an annotated Doc, in place: the answers in the set.

        ``scored`` has all candidates of the Doc; ``is_in`` (n, 2) says of each whether it is in the
        set and, of a single candidate, whether the first answer is. The highest score comes first,
        of equal scores the first answer.
        """
        start = 0
        rows = get_answers(doc, self.name) or []
        for row, question in zip(rows, group_by_question(scored), strict=True):
            size = len(question.candidates)
            inside, scores = is_in[start : start + size], question.scores
            if size == 1:  # the candidate is the second answer, the first one has score 0
                inside, scores = inside[0, ::-1], np.append(0.0, scores)
            else:
                inside = inside[:, 0]
            choices = self.choices(question.candidates[0])
            order = np.argsort(-merge_ties(scores), kind="stable")
            row["answer_set"] = [choices[i] for i in order.tolist() if inside[i]]
            start += size

    def judge_answers(
        self, y: Vector, scores: Vector, log_odds: Vector, queries: Indices
    ) -> tuple[Vector, NDArray[np.bool_], Indices]:
        """Return the log-odds of the best answer to each question, and whether it is right.

        ``y``, ``scores`` and ``queries`` have one entry per candidate; candidates of a question are
        adjacent. Returns, per question, confidence, correctness and index of its first candidate;
        ``log_odds`` are not used, since scores of choices are log-odds. A single candidate stands
        for the second of two answers, which is the best from score 0 on. Of several, the best share
        of their probabilities counts; of equal ones the first is the best.
        """
        starts = np.flatnonzero(np.append(True, np.diff(queries) != 0)[: len(queries)])
        sizes = np.diff(np.append(starts, len(queries)))
        question = np.repeat(np.arange(len(starts)), sizes)
        odds = expit(scores)
        best = np.zeros(len(starts))
        np.maximum.at(best, question, odds)
        share = best / np.maximum(np.bincount(question, odds, len(starts)), 1e-300)
        is_best = odds >= best[question]
        first_best = np.unique(question[is_best], return_index=True)[1]
        right = y[np.flatnonzero(is_best)[first_best]] > 0
        is_single = sizes == 1
        single = scores[starts]
        confidence = np.where(is_single, np.abs(single), logit(np.clip(share, 1e-9, 1 - 1e-9)))
        return confidence, np.where(is_single, (single >= 0) == (y[starts] > 0), right), starts

    def correct_labels(self, doc: Doc, corrections: Mapping[int, str]) -> Doc:
        """Return a copy of a Doc in which the spans of questions have other labels.

        ``corrections`` maps indices into ``candidates(doc)`` to labels; of several for one span the
        last counts. Spans are those of the group ``entities`` of the task. Raises ValueError if a
        question is not about one of them.
        """
        group: str = getattr(self, "entities", "entities")
        candidates, changed = self.candidates(doc), doc.copy()
        answers = {original_offsets(candidates[i].spans[0]): v for i, v in corrections.items()}
        spans = [
            Span(
                changed,
                span.start,
                span.end,
                label=answers.pop((span.start_char, span.end_char), span.label_),
                span_id=span.id_,
                kb_id=span.kb_id_,
            )
            for span in doc.spans.get(group, ())
        ]
        if answers:
            start, end = next(iter(answers))
            raise ValueError(
                f"document {document_id(doc)!r}: characters {start} to {end} are not annotated, so "
                "their label cannot be corrected. Export the decisions instead."
            )
        changed.spans[group] = spans
        return changed

    def measures(self, scored: Scored) -> dict[str, float | None]:
        """Return metrics of yes-or-no answers, and ``accuracy`` over questions.

        With questions of different titles also ``accuracy_of_sets``, the mean over titles. There
        must be at least one candidate.
        """
        return choice_metrics(scored)


def group_by_question(scored: Scored) -> Iterator[AnsweredQuestion]:
    """Yield the questions in order; candidates of one question must be adjacent.

    Candidates are of one question if they have the same Doc and query.
    """
    candidates, scores = scored.candidates, scored.scores
    start = 0
    for end in range(1, len(candidates) + 1):
        if end == len(candidates) or not _same_question(candidates[end], candidates[start]):
            yield AnsweredQuestion(candidates[start:end], scores[start:end])
            start = end


def _same_question(one: Candidate, two: Candidate) -> bool:
    """Return whether two candidates are of one question: the same Doc and query."""
    return one.doc is two.doc and one.query == two.query


def choice_metrics(scored: Scored) -> dict[str, float | None]:
    """Return metrics of yes-or-no answers, and ``accuracy`` over all questions.

    The former have the keys of ``classification_metrics``; its ``accuracy`` is replaced by the
    share of questions whose best answer is right, where the second of two answers is the best from
    ``scored.limit`` on. If questions have different titles, ``accuracy_of_sets`` is the mean over
    titles; otherwise there is no such key. ``scored`` must have at least one candidate.
    """
    correct: dict[str, list[bool]] = {}
    for question in group_by_question(scored):
        correct.setdefault(question.title, []).append(question.is_correct(scored.limit))
    metrics = scored.measures()
    metrics["accuracy"] = float(np.mean([value for values in correct.values() for value in values]))
    if len(correct) > 1:
        metrics["accuracy_of_sets"] = float(np.mean([np.mean(v) for v in correct.values()]))
    return metrics


def span_text(span: Span) -> str:
    """Return the text of a span without the gaps of a discontinuous mention.

    The tokens of such a mention are joined by spaces.
    """
    tokens = span_tokens(span)
    is_continuous = len(tokens) == span.end - span.start
    return span.text if is_continuous else " ".join(span.doc[i].text for i in tokens)
