"""The parts of a score: named features, what each adds, and what is usual among candidates."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import TypeAlias

import numpy as np
import scipy.sparse as sp

from textrank._ragged import offsets
from textrank.candidates import Candidate
from textrank.features import FeatureNames, Features, Vector
from textrank.linear_scores import Contributions, LinearScores

Parts: TypeAlias = list[tuple[tuple[str, ...], float]]  # features and what each adds to a score

AVERAGE = "average candidate"


@dataclass(frozen=True, eq=False)
class Looked:
    """Candidates after one look at each: their scores, and why they have them where one asks."""

    candidates: Sequence[Candidate]
    weighed: Sequence[
        LinearScores
    ]  # by the same weights, one portion of the candidates after the other
    names: FeatureNames  # of the weights
    coef: Vector

    @property
    def scores(self) -> Vector:
        """One a candidate."""
        return np.concatenate([own.products for own in self.weighed])

    def explain(self, some: Sequence[Candidate]) -> list[Parts]:
        """The parts of the scores of some of the candidates."""
        for candidate in some:
            if id(candidate) not in self._rows:
                raise ValueError(
                    f"{candidate.spans} of document {candidate.document!r} is none of the "
                    "candidates that were scored. Ask about these, or ask the model."
                )
        return ranked(self.added, [self._rows[id(candidate)] for candidate in some])

    @cached_property
    def added(self) -> Features:
        """What each named feature adds to the score of each candidate."""
        begins = offsets([len(own.products) for own in self.weighed])
        met = [
            own.contributions().shift_rows(begin)
            for own, begin in zip(self.weighed, begins, strict=False)
        ]
        found = Contributions.concat(met).features(len(self.candidates), self.names)
        return found.with_data(found.cells.data * self.coef[found.cells.indices])

    @cached_property
    def _rows(self) -> dict[int, int]:
        return {id(candidate): row for row, candidate in enumerate(self.candidates)}


def average_of(features: Features, *, share: float = 0.05) -> Vector:
    """The average value of each feature that a share of the rows has; 0 for rarer ones."""
    values = features.values
    had = np.bincount(values.indices, minlength=values.shape[1]) >= share * max(len(features), 1)
    means = np.bincount(values.indices, values.data, minlength=values.shape[1])
    return np.where(had, means / max(len(features), 1), 0.0)


def usual(features: Features) -> Features:
    """The average as one row of the few features that have any."""
    average = average_of(features)
    known = np.flatnonzero(average)
    return Features(sp.csr_array(average[known][None, :]), features.names.take(known))


def relative(parts: Features, known: Vector) -> list[Parts]:
    """The parts of each row less what is known of the average, which stands last."""
    cells, names = parts.cells, parts.names
    shared = np.flatnonzero(known)
    found: list[Parts] = []
    for start, end in pairwise(cells.indptr.tolist()):
        columns, values = cells.indices[start:end].tolist(), cells.data[start:end].tolist()
        added = dict(zip(columns, values, strict=True))
        for column in shared.tolist():
            added[column] = added.get(column, 0.0) - float(known[column])
        order = sorted(filter(added.get, added), key=lambda column: -abs(added[column]))
        told = names.take(np.array(order, dtype=np.intp))
        own: Parts = [(name, added[column]) for name, column in zip(told, order, strict=True)]
        found.append([*own, ((AVERAGE,), float(known.sum()))] if len(shared) else own)
    return found


def together(*explained: Parts) -> Parts:
    """The parts of scores that were added up, largest first.

    >>> together([(("path",), 0.5)], [(("path",), 0.25), (("verb",), -1.0)])
    [(('verb',), -1.0), (('path',), 0.75)]
    """
    found: dict[tuple[str, ...], float] = {}
    for parts in explained:
        for name, value in parts:
            found[name] = found.get(name, 0.0) + value
    return sorted(found.items(), key=lambda part: -abs(part[1]))


def ranked(parts: Features, rows: Iterable[int] | None = None) -> list[Parts]:
    """The parts of each row, or of some, largest first."""
    cells = parts.cells
    found: list[Parts] = []
    for row in range(len(parts)) if rows is None else rows:
        own = slice(cells.indptr[row], cells.indptr[row + 1])
        columns, values = cells.indices[own], cells.data[own]
        order = np.lexsort((columns, -np.abs(values)))
        names = parts.names.take(columns[order].astype(np.intp))
        found.append(list(zip(names, values[order].tolist(), strict=True)))
    return found
