"""Facts: what a task noted of its candidates, as named numbers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from textrank.docs import Candidate
from textrank.types import Features, Names


@dataclass(frozen=True)
class Facts:
    """The facts of candidates as columns with their names, each times the weight of its row.

    Facts that are zero are left out. A candidate without facts is an error.
    """

    def __call__(self, candidates: Sequence[Candidate]) -> Features:
        columns: dict[str, int] = {}
        known: dict[int, tuple[list[int], list[float]]] = {}  # a name may come many times
        ends, places, values = [0], [], []
        for candidate in candidates:
            if candidate.facts is None:
                raise ValueError(
                    f"a candidate of document {candidate.document!r} has no facts. Use a task "
                    "that notes them, such as identifiers."
                )
            if id(candidate.facts) not in known:
                some = {name: value for name, value in candidate.facts.items() if value}
                own = [columns.setdefault(name, len(columns)) for name in some]
                known[id(candidate.facts)] = own, list(some.values())
            own, weights = known[id(candidate.facts)]
            places += own
            values += weights
            ends.append(len(values))
        shape = (len(candidates), len(columns))
        matrix = sp.csr_array((np.array(values, dtype=np.float64), places, ends), shape=shape)
        return Features(matrix, Names.of(columns))
