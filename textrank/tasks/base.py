"""Task: what is asked of a task, all of it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, ClassVar, Protocol, Self, TypeAlias, cast, runtime_checkable

import numpy as np
from scipy.special import expit
from spacy.tokens import Doc, Span

from textrank.candidates import Candidate, document_id, labels_of, tokens_of
from textrank.features import Vector
from textrank.language.alignment import SourceText
from textrank.metrics import argmax_first, classification_metrics

Explain: TypeAlias = Callable[[Sequence[Candidate]], list[list[tuple[tuple[str, ...], float]]]]


@dataclass(frozen=True, eq=False, slots=True)
class Scored:
    """Candidates with their scores, and what decides among them."""

    candidates: Sequence[Candidate]
    scores: Vector  # (n,)
    threshold: float | None = None  # from which on the answer is yes; None: none was set
    probabilities: Vector | None = None  # (n,)
    unreachable: int = 0  # gold answers that no candidate covers

    @property
    def limit(self) -> float:
        """The threshold, or nought where none was set."""
        return self.threshold or 0.0

    @property
    def y(self) -> Vector:
        """The right answers."""
        return labels_of(self.candidates)

    def measures(self) -> dict[str, float | None]:
        """Those of yes and no: AUC, and F under several thresholds."""
        return classification_metrics(self.y, self.scores, self.threshold, self.unreachable)


@runtime_checkable
class Task(Protocol):
    """What is judged in a Doc, and how the answers are shown and measured."""

    name: ClassVar[str]
    reads: ClassVar[tuple[str, ...] | None]  # components of the analysis; None: all of them
    recognises: ClassVar[tuple[str, ...]]  # further ones that raw text needs
    ranks: ClassVar[bool]  # the candidates of a query are compared: nobody says yes or no

    def candidates(self, doc: Doc) -> list[Candidate]:
        """The decisions to make."""

    def unreachable(self, doc: Doc, candidates: Sequence[Candidate]) -> int:
        """Gold answers that none of the Doc's candidates covers; they count against recall."""

    def threshold(self, y: Vector, heldout: Vector) -> float | None:
        """The score from which on the answer is yes, set on held-out scores of training."""

    def annotate(self, doc: Doc, scored: Scored) -> Doc:
        """Puts the answers on ``doc._.textrank_<task>`` as plain values."""

    def justify(self, doc: Doc, candidates: Sequence[Candidate], explain: Explain) -> Doc:
        """Adds reasons to the answers of an annotated Doc, where the task shows any.

        ``explain`` knows these candidates: it is asked about some of them, best of all at once.
        """

    def measures(self, scored: Scored) -> dict[str, float | None]:
        """What the scores of a test fold are worth; an undefined measure is None."""


@runtime_checkable
class NamesTask(Protocol):
    """A task about names, which says in which span group they stand."""

    @property
    def entities(self) -> str:
        """The span group."""


def group_of(task: Task) -> str:
    """The span group of names that a task looks at, or the usual one."""
    return task.entities if isinstance(task, NamesTask) else "entities"


@runtime_checkable
class BatchTask(Protocol):
    """A task that finds candidates of several Docs together sooner than one by one."""

    def candidates_of(self, docs: Sequence[Doc]) -> list[list[Candidate]]:
        """Those of each Doc."""


def candidates_of(task: Task, docs: Sequence[Doc]) -> list[list[Candidate]]:
    """The candidates of each Doc."""
    if _batched(type(task)):
        return cast(BatchTask, task).candidates_of(docs)
    return [task.candidates(doc) for doc in docs]


@cache
def _batched(kind: type) -> bool:
    """Whether tasks of a kind are such, which takes longer to ask than to judge a short text."""
    return issubclass(kind, BatchTask)


def nothing_found(task: Task, documents: int) -> ValueError:
    """What to say where a task has nothing to judge: what it asks, and what to look for."""
    asked, _, _ = (type(task).__doc__ or "").strip().partition("\n")
    return ValueError(
        f"no candidates for task {task.name!r} in {documents} documents. It asks: {asked} Check "
        "that they have what this is about, such as names that are marked."
    )


class WithoutReasons:
    """Tasks whose rows say what they rest on; ``explain`` gives reasons for the asking."""

    def justify(self, doc: Doc, candidates: Sequence[Candidate], explain: Explain) -> Doc:
        """No reasons are added."""
        return doc


@runtime_checkable
class ParsingTask(Protocol):
    """A task that runs parsers of its own, so that another language model must reach them."""

    def parsed_by(self, language: str) -> Self:
        """The same task with the parser of a spaCy pipeline, by name or path."""


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

    def row(self, text: SourceText, question: Answered) -> dict[str, Any]:
        """The answer as plain values."""
        raise NotImplementedError

    def threshold(self, y: Vector, heldout: Vector) -> float:
        """Log-odds of zero, since scores are calibrated."""
        return 0.0

    def annotate(self, doc: Doc, scored: Scored) -> Doc:
        """Puts the answers on ``doc._.textrank_<task>``, in text order."""
        text = SourceText.from_doc(doc, scored.candidates[0].doc if scored.candidates else doc)
        found = [self.row(text, question) for question in answered(scored)]
        doc._.set(f"textrank_{self.name}", found)
        return doc

    def measures(self, scored: Scored) -> dict[str, float | None]:
        """Those of yes and no, with accuracy over questions."""
        return choice_measures(scored)


def choice_candidates_of(questions: Sequence[Question]) -> list[Candidate]:
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
