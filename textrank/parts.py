"""The parts of a score: named features, what each adds, and what is usual among candidates."""

from __future__ import annotations

from itertools import pairwise
from typing import TypeAlias

import numpy as np
import scipy.sparse as sp

from textrank.types import Features, Vector

Parts: TypeAlias = list[tuple[tuple[str, ...], float]]  # features and what each adds to a score

AVERAGE = "average candidate"


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
        order = sorted(added, key=lambda column: -abs(added[column]))
        own: Parts = [(names[column], added[column]) for column in order if added[column]]
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


def ranked(parts: Features) -> list[Parts]:
    """The parts of each row, largest first."""
    cells = parts.cells
    found: list[Parts] = []
    for start, end in pairwise(cells.indptr.tolist()):
        columns, values = cells.indices[start:end], cells.data[start:end]
        order = np.lexsort((columns, -np.abs(values)))
        own = parts.names.take(columns[order].astype(np.intp))
        found.append(list(zip(own, values[order].tolist(), strict=True)))
    return found
