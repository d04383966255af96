"""Candidate: one decision to make in a Doc. Targets: the candidates as learners see them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, TypeVar

import numpy as np

from textrank.types import Indices, Vector

if TYPE_CHECKING:
    from spacy.tokens import Doc, Span

T_co = TypeVar("T_co", covariant=True)


@dataclass(frozen=True, slots=True)
class Candidate:
    """One decision: a mention, a pair of entities, a parse."""

    doc: Doc  # of a parse: a Doc of its own, with that parse set
    spans: tuple[Span, ...]  # what is judged; the focus of every representation
    document: str  # the unit that is held out together
    query: str = ""  # the unit that is ranked together (a sentence's parses)
    label: float | None = None  # gold answer; None when unknown


@dataclass(frozen=True, eq=False)
class Company:
    """Where candidates stand among others: in which text, at which word, what they ask and judge.

    Spellings are numbers, equal for words that are equal in lower case.
    """

    texts: Indices  # (n,)
    places: Vector  # (n,) the first token of what is judged
    questions: tuple[str, ...]  # (n,) the label of what is judged
    spellings: Indices  # (n,)

    @classmethod
    def of(cls, candidates: Sequence[Candidate]) -> Company:
        """That of the first span of each candidate."""
        spans = [c.spans[0] if c.spans else c.doc[:] for c in candidates]
        return cls(
            _numbered([id(c.doc) for c in candidates]),
            np.array([span.start for span in spans], dtype=np.float64),
            tuple(span.label_ for span in spans),
            _numbered([span.text.lower() for span in spans]),
        )

    def __len__(self) -> int:
        return len(self.texts)

    def take(self, index: Indices) -> Company:
        """That of some candidates, as if they were all there are."""
        questions = tuple(self.questions[i] for i in index)
        return Company(self.texts[index], self.places[index], questions, self.spellings[index])


@dataclass(frozen=True, eq=False)
class Targets:
    """The candidates as learners see them: answers, and what belongs together."""

    y: Vector  # (n,)
    documents: Indices  # (n,) numbers of documents, in order of first appearance
    queries: Indices  # (n,) likewise
    company: Company | None = None  # for learners that look at other candidates of a text

    def __post_init__(self) -> None:
        sizes = {len(self.y), len(self.documents), len(self.queries)}
        if len(sizes) != 1:
            raise ValueError(f"y, documents and queries differ in length: {sorted(sizes)}")

    def __len__(self) -> int:
        return len(self.y)

    @classmethod
    def of(cls, candidates: Sequence[Candidate]) -> Targets:
        """The labels with their documents and queries; every candidate must have a label."""
        for index, candidate in enumerate(candidates):
            if candidate.label is None:
                raise ValueError(
                    f"candidate {index} of document {candidate.document!r} has no gold label. "
                    "Training and evaluation need an annotated corpus."
                )
        y = np.array([c.label for c in candidates], dtype=np.float64)
        documents = [c.document for c in candidates]
        # Sentences of different documents may share a name, so the document is part of a query.
        queries = [(c.document, c.query) for c in candidates]
        return cls(y, _numbered(documents), _numbered(queries), Company.of(candidates))

    def take(self, index: Indices) -> Targets:
        """The targets of some candidates."""
        company = None if self.company is None else self.company.take(index)
        return Targets(self.y[index], self.documents[index], self.queries[index], company)


class Representation(Protocol[T_co]):
    """Candidates -> what a kernel compares, one each, in the same order; never sees a label."""

    def __call__(self, candidates: Sequence[Candidate]) -> Sequence[T_co]:
        """One representation a candidate."""


def tokens_of(span: Span) -> list[int]:
    """Token indices of a mention in its Doc; a discontinuous one skips what lies between.

    A Span has no holes, so a reader keeps the pieces of a broken name under its span id.
    """
    pieces: dict[str, list[int]] = span.doc.user_data.get("pieces", {})
    return pieces.get(span.id_) or list(range(span.start, span.end))


def _numbered(keys: Sequence[object]) -> Indices:
    numbers: dict[object, int] = {}
    return np.array([numbers.setdefault(key, len(numbers)) for key in keys], dtype=np.intp)
