"""Candidates among all others of their texts, and in portions that fit into memory."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from textrank.docs import Candidate, Neighbourhood, sentence_sizes
from textrank.types import Indices

if TYPE_CHECKING:
    from textrank.tasks.task import Task

AT_ONCE = 200_000  # words of sentences that candidates are represented in at a time
ALONE = 20  # words that a candidate of one name counts for: what is read around it has a bound


@dataclass(frozen=True, eq=False)
class DocumentCandidates:
    """Candidates with all others of their texts, which a second stage looks at."""

    everyone: list[Candidate]
    neighbourhood: Neighbourhood
    rows: Indices  # where the candidates stand among all

    @classmethod
    def of(cls, task: Task, candidates: Sequence[Candidate]) -> DocumentCandidates:
        """All candidates of the Docs that these are of."""
        docs = {id(c.doc): c.doc for c in candidates}
        everyone = [c for doc in docs.values() for c in task.candidates(doc)]
        place = {_key(c): row for row, c in enumerate(everyone)}
        for candidate in candidates:
            if _key(candidate) not in place:
                raise ValueError(
                    f"{candidate.spans} of document {candidate.document!r} is none of the "
                    "candidates that the task finds there, so its neighbours are unknown."
                )
        rows = np.array([place[_key(c)] for c in candidates], dtype=np.intp)
        return cls(everyone, Neighbourhood.of(everyone), rows)


def _key(candidate: Candidate) -> tuple[Any, ...]:
    places = tuple((s.start, s.end, s.id_) for s in candidate.spans)
    return id(candidate.doc), candidate.query, candidate.asked, places


def portions(candidates: Sequence[Candidate]) -> Iterator[Sequence[Candidate]]:
    """Candidates in portions whose sentences have no more than ``AT_ONCE`` words together.

    What a representation of a pair needs grows with its sentence; a list of four hundred names
    would else take all memory there is. That of one name does not; and since every portion reads
    its text anew, there must be no more of them in a long sentence than in short ones.
    """
    start, words = 0, 0
    few = sum(map(_most, candidates)) <= AT_ONCE  # then nobody need look at their sentences
    sizes = [0] * len(candidates) if few else map(_weight, candidates, sentence_sizes(candidates))
    for end, size in enumerate(sizes):
        words += size
        if words > AT_ONCE and end > start:
            yield candidates[start:end]
            start, words = end, size
    if start < len(candidates):
        yield candidates[start:]


def _most(candidate: Candidate) -> int:
    """What a candidate counts for at the most."""
    spans = candidate.spans
    return max(ALONE, len(spans[0])) if len(spans) == 1 else len(candidate.doc)


def _weight(candidate: Candidate, sentence: int) -> int:
    return min(sentence, _most(candidate))
