"""Shared parts of tasks: scored candidates, and tasks that choose among answers to a question.

The role itself, with its defaults, is ``textrank.protocols.Task``. A task that chooses one of
several answers to each question inherits from :class:`ChoiceTask` and makes its candidates from
:class:`Question` objects. A question with two answers has one candidate, whose score is the
log-odds of the second answer; a question with more answers has one candidate per answer.
"""

from __future__ import annotations

from collections.abc import Container, Iterator, Mapping, Sequence
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
        """Return metrics of the yes-or-no decisions: AUC, and F1 at several thresholds.

        Keys are those of ``classification_metrics``; a value is None where the metric is undefined.
        Unreachable gold answers count as missed.
        """
        return classification_metrics(self.y, self.scores, self.threshold, self.unreachable)


def no_candidates_error(task: Task, documents: int) -> ValueError:
    """Build the error for documents in which a task has nothing to decide; the caller raises it.

    ``documents`` is the number of documents. The message quotes the first line of the docstring of
    the task's class.
    """
    summary, _, _ = (type(task).__doc__ or "").strip().partition("\n")
    summary = summary.replace("``", "")  # markup of docstrings
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
        """Return one candidate if there are two answers, otherwise one per answer.

        The single candidate of a question with two answers stands for the second one. ``number`` is
        the number of the question in its Doc; all its candidates have the query "q<number>" and the
        title as ``question``. The label is 1 for the right answer, -1 for others (for all if the
        right one is not among them), and None if the right answer is unknown. Each candidate has a
        copy of the span with its id but without its label, which may be the right answer.
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
    """Return the candidates of all questions of one Doc, in order of the questions.

    Questions are numbered from 0 in the given order. They must all be of the same Doc, since the
    number identifies a question only within its Doc.
    """
    return [c for number, question in enumerate(questions) for c in question.candidates(number)]


@dataclass(frozen=True, eq=False)
class AnsweredQuestion:
    """The candidates of one question with their scores, which are log-odds.

    A question with two answers has a single candidate, which stands for the second answer.
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

        ``answers`` are all answers of the question, in the order of its candidates. With two
        answers, the only score is the log-odds of the second. With more, each score is converted to
        a probability on its own, and these are divided by their sum; raises ValueError then if the
        numbers of answers and scores differ.
        """
        if len(answers) == 2:
            second = float(expit(self.scores[0]))
            return {answers[0]: 1.0 - second, answers[1]: second}
        odds: list[float] = expit(self.scores).tolist()
        total = max(sum(odds), 1e-300)
        return {answer: value / total for answer, value in zip(answers, odds, strict=True)}

    def is_correct(self, threshold: float) -> bool:
        """Return whether the predicted answer is the right one according to the candidates' labels.

        With a single candidate, which stands for the second of two answers, the second answer is
        predicted if the score is at least ``threshold``, else the first; the first is right if the
        label is not positive or unknown. With several candidates, the one with the highest score is
        predicted (the first of those that tie within rounding) whatever ``threshold`` is; it is
        right if its label is positive.
        """
        labels = [candidate.label or 0.0 for candidate in self.candidates]
        if len(labels) == 1:
            return bool((self.scores[0] >= threshold) == (labels[0] > 0))
        return labels[int(argmax_first(self.scores))] > 0


class ChoiceTask(Task):
    """Base of tasks that choose among answers; subclasses define ``candidates`` and ``row``."""

    has_answer_sets: ClassVar[bool] = True

    def row(self, text: SourceText, question: AnsweredQuestion) -> dict[str, Any]:
        """Return the answer to a question as a dictionary of plain values for JSON.

        ``text`` is the text of the Doc, used for offsets and sentences. Subclasses must override
        this method.
        """
        raise NotImplementedError

    def threshold(self, y: Vector, heldout: Vector) -> float:
        """Return 0.0: scores are calibrated log-odds, so an answer needs even odds.

        The arguments are not used.
        """
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
        """Add ``answer_set``, the answers of its prediction set, to each row of an annotated Doc.

        ``scored`` has all candidates of the Doc. ``is_in`` has shape (n, 2): column 0 says whether
        the answer of a candidate is in the set; column 1 is used for single candidates only and
        says whether the other answer, the first of the two, is. Answers are listed by descending
        score, scores that tie within rounding in the order of the task's answers. Rows are changed
        in place. Raises ValueError if the numbers of rows and questions differ.
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

    def assess_answers(
        self, y: Vector, scores: Vector, log_odds: Vector, queries: Indices
    ) -> tuple[Vector, NDArray[np.bool_], Indices]:
        """Return the confidence in the best answer to each question, and whether it is right.

        ``y``, ``scores`` and ``queries`` have one entry per candidate; candidates of a question are
        adjacent. ``log_odds`` are not used, since the scores of these tasks are log-odds.

        With a single candidate, the best answer is the second one if the score is at least 0, else
        the first, and the confidence is the magnitude of the score. With several, the best answer
        is the first with the highest score; the confidence is the log-odds of its share in the sum
        of the candidates' probabilities, cut to 1e-9 .. 1 - 1e-9. Labels count as positive where
        above 0: an unknown one (NaN) makes the first of two answers right, else none.

        Returns
        -------
        confidence, is_correct, starts
            Per question: confidence in log-odds, whether the best answer is right, and index of the
            first candidate.
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
        """Return a copy of a Doc in which the spans that questions are about have corrected labels.

        ``corrections`` maps indices into ``candidates(doc)`` to labels; if several are for one
        question, the last one counts. The spans must be in the span group named by the task's
        attribute ``entities`` ("entities" if it has none); they are identified by their characters,
        and several with the same characters by their id and gold answer. Raises ValueError if a
        span is not in the group. Other labels, ids and ``kb_id`` are kept.
        """
        group: str = getattr(self, "entities", "entities")
        candidates, changed = self.candidates(doc), doc.copy()
        answers = {candidates[i].query: label for i, label in corrections.items()}
        spans = list(doc.spans.get(group, ()))
        label_of_span: dict[int, str] = {}  # by index into spans
        for query, label in answers.items():
            question = [c for c in candidates if c.query == query]
            index = self._find_span(question, spans, label_of_span)
            if index is None:
                start, end = original_offsets(question[0].spans[0])
                raise ValueError(
                    f"document {document_id(doc)!r}: characters {start} to {end} are not "
                    "annotated, so their label cannot be corrected. Export the decisions instead."
                )
            label_of_span[index] = label
        changed.spans[group] = [
            Span(
                changed,
                span.start,
                span.end,
                label=label_of_span.get(index, span.label_),
                span_id=span.id_,
                kb_id=span.kb_id_,
            )
            for index, span in enumerate(spans)
        ]
        return changed

    def _find_span(
        self, question: Sequence[Candidate], spans: Sequence[Span], taken: Container[int]
    ) -> int | None:
        """Return the index of the span that a question is about; None if there is none.

        ``question`` are its candidates, ``taken`` indices to leave out. Of several spans with its
        characters, those with its span id come first, then those whose label is its gold answer
        (no answer if that is unknown), then the first.
        """
        first, asked = question[0], question[0].spans[0]
        choices = self.choices(first)
        gold = next((c.label_key for c in question if (c.label or 0.0) > 0), None)
        if gold is None and len(choices) == 2 and first.label is not None:
            gold = choices[0]  # the candidate stands for the second answer

        def similarity(index: int) -> tuple[bool, bool]:
            """Return whether a span has the id, and whether it has the gold answer."""
            label = spans[index].label_
            return spans[index].id == asked.id, (label if label in choices else None) == gold

        place = original_offsets(asked)
        indices = [
            index
            for index, span in enumerate(spans)
            if index not in taken and (span.start_char, span.end_char) == place
        ]
        return max(indices, key=similarity, default=None)

    def measures(self, scored: Scored) -> dict[str, float | None]:
        """Return metrics of yes-or-no decisions, and ``accuracy`` over questions.

        See ``choice_metrics``. There must be at least one candidate.
        """
        return choice_metrics(scored)


def group_by_question(scored: Scored) -> Iterator[AnsweredQuestion]:
    """Yield the questions of scored candidates in order.

    Consecutive candidates with the same Doc and query are one question, so candidates of a question
    must be adjacent.
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
    """Return metrics of yes-or-no decisions, and ``accuracy`` over all questions.

    The former have the keys of ``classification_metrics``, except that ``accuracy`` is the share of
    questions whose best answer is right (see ``AnsweredQuestion.is_correct``, with the threshold
    ``scored.limit``). If questions have different titles, ``accuracy_of_sets`` is the mean of the
    accuracies by title; otherwise this key is missing. ``scored`` must have at least one candidate.
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
    """Return the text of a span; of a discontinuous mention only its tokens, joined by spaces."""
    tokens = span_tokens(span)
    is_continuous = len(tokens) == span.end - span.start
    return span.text if is_continuous else " ".join(span.doc[i].text for i in tokens)
