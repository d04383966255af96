"""The parts of a score: named features, what each adds, and what is usual among candidates."""

from __future__ import annotations

from itertools import pairwise
from typing import TypeAlias

import numpy as np

from textrank.types import Features, Names, SparseMatrix, Vector

Parts: TypeAlias = list[tuple[tuple[str, ...], float]]  # features and what each adds to a score

AVERAGE = "average candidate"


def average_of(features: Features, *, share: float = 0.05) -> Vector:
    """The average value of each feature that a share of the rows has; 0 for rarer ones."""
    values = features.values
    had = np.bincount(values.indices, minlength=values.shape[1]) >= share * max(len(features), 1)
    means = np.bincount(values.indices, values.data, minlength=values.shape[1])
    return np.where(had, means / max(len(features), 1), 0.0)


def relative(parts: SparseMatrix, names: Names, known: Vector) -> list[Parts]:
    """The parts of each row less what is known of the average, which stands last."""
    usual = np.flatnonzero(known)
    found: list[Parts] = []
    for start, end in pairwise(parts.indptr.tolist()):
        columns, values = parts.indices[start:end].tolist(), parts.data[start:end].tolist()
        added = dict(zip(columns, values, strict=True))
        for column in usual.tolist():
            added[column] = added.get(column, 0.0) - float(known[column])
        order = sorted(added, key=lambda column: -abs(added[column]))
        own: Parts = [(names[column], added[column]) for column in order if added[column]]
        found.append([*own, ((AVERAGE,), float(known.sum()))] if len(usual) else own)
    return found


def ranked(row: SparseMatrix, names: Names) -> Parts:
    """The named values of one row, largest first."""
    parts = row.tocoo()
    order = np.argsort(-np.abs(parts.data), kind="stable")
    return [(names[int(parts.col[i])], float(parts.data[i])) for i in order]
