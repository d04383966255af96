"""Task: what is asked of a task, all of it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import ClassVar, Protocol, Self, TypeAlias, cast, runtime_checkable

from spacy.tokens import Doc

from textrank.docs import Candidate, labels_of
from textrank.measures import classification_measures
from textrank.types import Vector

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
        return classification_measures(self.y, self.scores, self.threshold, self.unreachable)


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
