"""Facts: what a task noted of its candidates, as named numbers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, compress

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
        rows: dict[int, int] = {}  # a name may come many times, with the very same facts
        distinct: list[Mapping[str, float]] = []
        at = []
        for candidate in candidates:
            facts = candidate.facts
            if facts is None:
                raise ValueError(
                    f"a candidate of document {candidate.document!r} has no facts. Use a task "
                    "that notes them, such as identifiers."
                )
            at.append(rows.setdefault(id(facts), len(rows)))
            if at[-1] == len(distinct):
                distinct.append(facts)
        found = _features(distinct)
        return found if len(distinct) == len(at) else found.rows(np.array(at, dtype=np.intp))


def _features(distinct: Sequence[Mapping[str, float]]) -> Features:
    """A row for each of some facts."""
    values = np.fromiter(chain.from_iterable(f.values() for f in distinct), dtype=np.float64)
    some = values != 0
    names = list(compress(chain.from_iterable(distinct), some.tolist()))
    columns = {name: place for place, name in enumerate(dict.fromkeys(names))}
    places = np.fromiter(map(columns.__getitem__, names), dtype=np.intp, count=len(names))
    ends = np.append(0, np.cumsum(some))[np.cumsum([0, *map(len, distinct)])]
    shape = (len(distinct), len(columns))
    return Features(sp.csr_array((values[some], places, ends), shape=shape), Names.of(columns))
