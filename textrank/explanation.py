"""Explanations of linear scores: named features and what each adds to a score.

An ``Explanation`` (``textrank.protocols``) is a list of ``(feature name, value)`` whose values sum
to a score. ``Model.explain`` and its relatives build it with these functions.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np
import scipy.sparse as sp

from textrank._ragged import offsets
from textrank.candidates import Candidate
from textrank.features import FeatureNames, Features, Vector
from textrank.linear_scores import Contributions, LinearScores
from textrank.protocols import Explanation

AVERAGE_NAME = "average candidate"  # name of what the average candidate scores


@dataclass(frozen=True, eq=False)
class ScoredBatch:
    """Scored candidates whose scores are explained on demand, without representing them again.

    n is the number of candidates and d the number of named features. ``coef`` has the model's
    weight of each name in ``names``; ``chunks`` together have n scores, in the order of
    ``candidates``. There must be at least one chunk.
    """

    candidates: Sequence[Candidate]
    chunks: Sequence[LinearScores]  # scores of consecutive chunks of the candidates
    names: FeatureNames  # (d,) of the weights
    coef: Vector  # (d,)

    @property
    def scores(self) -> Vector:
        """Score of each candidate, shape ``(n,)``, in the order of ``candidates``."""
        return np.concatenate([chunk.products for chunk in self.chunks])

    def explain(self, candidates: Sequence[Candidate]) -> list[Explanation]:
        """Explain the scores of some of the candidates, in the order given.

        Each explanation lists ``(feature name, contribution)``, largest magnitude first. Candidates
        are found by identity, not equality; raises ValueError for one that was not scored.
        """
        for candidate in candidates:
            if id(candidate) not in self._row_of:
                raise ValueError(
                    f"{candidate.spans} of document {candidate.document!r} is not one of the "
                    "scored candidates. Pass one of these, or use Model.explain."
                )
        return rank_contributions(self.contributions, [self._row_of[id(c)] for c in candidates])

    @cached_property
    def contributions(self) -> Features:
        """Contribution of each named feature to the score of each candidate, shape ``(n, d)``.

        A contribution is feature value times weight, so a row sums to the score; computed on first
        use.
        """
        starts = offsets([len(chunk.products) for chunk in self.chunks])
        shifted = [
            chunk.contributions().shift_rows(start)
            for chunk, start in zip(self.chunks, starts, strict=False)
        ]
        values = Contributions.concat(shifted).to_features(len(self.candidates), self.names)
        return values.with_data(values.cells.data * self.coef[values.cells.indices])

    @cached_property
    def _row_of(self) -> dict[int, int]:
        """Row of each candidate by its ``id()``."""
        return {id(candidate): row for row, candidate in enumerate(self.candidates)}


def mean_features(features: Features, *, min_share: float = 0.05) -> Vector:
    """Return the mean of each feature over all rows, shape ``(d,)`` for d features.

    It is 0 for features that are stored in fewer than ``min_share`` of the rows, and everywhere if
    there are no rows.
    """
    values, n = features.values, max(len(features), 1)
    is_common = np.bincount(values.indices, minlength=values.shape[1]) >= min_share * n
    sums = np.bincount(values.indices, values.data, minlength=values.shape[1])
    return np.where(is_common, sums / n, 0.0)


def mean_row(features: Features) -> Features:
    """Return ``mean_features`` with its default share as Features of one row.

    Features whose mean is 0 are dropped; the others keep their order.
    """
    mean = mean_features(features)
    columns = np.flatnonzero(mean)
    return Features(sp.csr_array(mean[columns][None, :]), features.names.take(columns))


def rank_contributions(
    contributions: Features, rows: Iterable[int] | None = None
) -> list[Explanation]:
    """Return each row as an explanation: ``(name, value)`` pairs, largest magnitude first.

    ``rows`` selects and orders the rows; None takes all. Only stored entries are listed. Values of
    equal magnitude stay in the order of the columns.
    """
    cells = contributions.cells
    explanations: list[Explanation] = []
    for row in range(len(contributions)) if rows is None else rows:
        entries = slice(cells.indptr[row], cells.indptr[row + 1])
        columns, values = cells.indices[entries], cells.data[entries]
        order = np.lexsort((columns, -np.abs(values)))
        names = contributions.names.take(columns[order].astype(np.intp))
        explanations.append(list(zip(names, values[order].tolist(), strict=True)))
    return explanations


def subtract_mean(contributions: Features, mean: Vector) -> list[Explanation]:
    """Return the explanation of each row by its difference from ``mean``.

    Each lists ``(name, value - mean)``, largest magnitude first, and last the sum of ``mean`` under
    the name ``AVERAGE_NAME``, so that it still sums to the row's sum. ``mean`` has one entry per
    column, shape ``(d,)``. The last entry is left out if every mean is 0; zero differences are left
    out too.
    """
    cells, names = contributions.cells, contributions.names
    mean_columns = np.flatnonzero(mean).tolist()
    explanations: list[Explanation] = []
    for start, end in pairwise(cells.indptr.tolist()):
        columns, values = cells.indices[start:end].tolist(), cells.data[start:end].tolist()
        difference = dict(zip(columns, values, strict=True))
        for column in mean_columns:
            difference[column] = difference.get(column, 0.0) - float(mean[column])
        nonzero = filter(difference.get, difference)
        order = sorted(nonzero, key=lambda column: -abs(difference[column]))
        sorted_names = names.take(np.array(order, dtype=np.intp))
        explanation: Explanation = [
            (name, difference[column]) for name, column in zip(sorted_names, order, strict=True)
        ]
        if mean_columns:
            explanation.append(((AVERAGE_NAME,), float(mean.sum())))
        explanations.append(explanation)
    return explanations


def merge_explanations(*explanations: Explanation) -> Explanation:
    """Return the explanation of a sum of scores, largest magnitude first.

    Values of the same name are added up. A name whose values cancel stays, with value 0. Names of
    equal magnitude stay in order of appearance.

    >>> merge_explanations([(("path",), 0.5)], [(("path",), 0.25), (("verb",), -1.0)])
    [(('verb',), -1.0), (('path',), 0.75)]
    """
    totals: dict[tuple[str, ...], float] = {}
    for explanation in explanations:
        for name, value in explanation:
            totals[name] = totals.get(name, 0.0) + value
    return sorted(totals.items(), key=lambda entry: -abs(entry[1]))
