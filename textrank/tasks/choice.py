"""Questions with several answers: what names, word senses and spellings have in common.

A question with two answers is one candidate, which asks for the second; one with more has a
candidate an answer. Scores are log-odds.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from scipy.special import expit
from spacy.tokens import Doc, Span

from textrank.docs import Candidate, document_id, tokens_of
from textrank.tasks.task import Scored, WithoutReasons
from textrank.text import Passages
from textrank.ties import argmax_first
from textrank.types import Vector


@dataclass(frozen=True)
class Question:
    """Words of a Doc, the answers there are, and the right one where it is known."""

    span: Span
    answers: tuple[str, ...]
    title: str = ""  # tells questions apart whose answers may be spelt alike
    right: str | None = None

    def candidates(self, number: int) -> list[Candidate]:
        """One for the second of two answers, else one for each."""
        asked = self.answers[1:] if len(self.answers) == 2 else self.answers
        span, doc = self.span, self.span.doc
        bare = (Span(doc, span.start, span.end, span_id=span.id),)  # its label may tell
        document, query = document_id(doc), f"q{number}"
        return [
            Candidate(doc, bare, document, query, self._gold(answer), None, self.title, answer)
            for answer in asked
        ]

    def _gold(self, answer: str) -> float | None:
        return None if self.right is None else 1.0 if answer == self.right else -1.0


@dataclass(frozen=True, eq=False)
class Answered:
    """The candidates of one question with their scores."""

    candidates: Sequence[Candidate]
    scores: Vector

    @property
    def span(self) -> Span:
        """The judged words."""
        return self.candidates[0].spans[0]

    @property
    def title(self) -> str:
        """What kind of question it is."""
        return self.candidates[0].question

    def probabilities(self, answers: Sequence[str]) -> dict[str, float]:
        """The probability of each answer; they sum to one."""
        if len(answers) == 2:
            yes = float(expit(self.scores[0]))
            return {answers[0]: 1.0 - yes, answers[1]: yes}
        p: list[float] = expit(self.scores).tolist()
        total = max(sum(p), 1e-300)
        return {a: v / total for a, v in zip(answers, p, strict=True)}

    def correct(self, threshold: float) -> bool:
        """Whether the best answer is the right one; of two, the second from a threshold on."""
        labels = [candidate.label or 0.0 for candidate in self.candidates]
        if len(labels) == 1:
            return bool((self.scores[0] >= threshold) == (labels[0] > 0))
        return labels[int(argmax_first(self.scores))] > 0


class ChoiceTask(WithoutReasons):
    """What tasks of such questions share; each has a ``row`` for an answered question."""

    name: ClassVar[str]

    def row(self, text: Passages, question: Answered) -> dict[str, Any]:
        """The answer as plain values."""
        raise NotImplementedError

    def threshold(self, y: Vector, heldout: Vector) -> float:
        """Log-odds of zero, since scores are calibrated."""
        return 0.0

    def annotate(self, doc: Doc, scored: Scored) -> Doc:
        """Puts the answers on ``doc._.textrank_<task>``, in text order."""
        text = Passages.of(doc, scored.candidates[0].doc if scored.candidates else doc)
        found = [self.row(text, question) for question in answered(scored)]
        doc._.set(f"textrank_{self.name}", found)
        return doc

    def measures(self, scored: Scored) -> dict[str, float | None]:
        """Those of yes and no, with accuracy over questions."""
        return choice_measures(scored)


def candidates_of(questions: Sequence[Question]) -> list[Candidate]:
    """The candidates of a Doc's questions, numbered in their order."""
    return [c for number, question in enumerate(questions) for c in question.candidates(number)]


def answered(scored: Scored) -> Iterator[Answered]:
    """The questions in order; the candidates of one stand together."""
    candidates, scores = scored.candidates, scored.scores
    start = 0
    for end in range(1, len(candidates) + 1):
        if end == len(candidates) or _other(candidates[end], candidates[start]):
            yield Answered(candidates[start:end], scores[start:end])
            start = end


def choice_measures(scored: Scored) -> dict[str, float | None]:
    """Measures of yes and no, with accuracy over questions, pooled and averaged over titles."""
    plain = scored.measures()
    right: dict[str, list[bool]] = {}
    for question in answered(scored):
        right.setdefault(question.title, []).append(question.correct(scored.limit))
    measures = dict(plain)
    measures["accuracy"] = float(np.mean([r for own in right.values() for r in own]))
    if len(right) > 1:
        measures["accuracy_of_sets"] = float(np.mean([np.mean(own) for own in right.values()]))
    return measures


def text_of(span: Span) -> str:
    """The words of a span without what lies in its holes."""
    tokens = tokens_of(span)
    whole = len(tokens) == span.end - span.start
    return span.text if whole else " ".join(span.doc[i].text for i in tokens)


def _other(one: Candidate, two: Candidate) -> bool:
    return one.doc is not two.doc or one.query != two.query
