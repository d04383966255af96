"""Candidates among all others of their texts, which a second stage looks at."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from textrank.docs import Candidate, Neighbourhood
from textrank.tasks.task import Task
from textrank.types import Indices


@dataclass(frozen=True, eq=False)
class Around:
    """Candidates with all others of their texts, which a second stage looks at."""

    everyone: list[Candidate]
    neighbourhood: Neighbourhood
    rows: Indices  # where the candidates stand among all

    @classmethod
    def of(cls, task: Task, candidates: Sequence[Candidate]) -> Around:
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
