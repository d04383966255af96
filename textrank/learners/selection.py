"""Choice of alpha by held-out scores."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, TypeAlias, get_args

import numpy as np

from textrank.docs import Targets
from textrank.learners.checks import groups_of
from textrank.measures import (
    auc,
    best_threshold,
    decide,
    disagreement,
    precision_recall_f,
)
from textrank.ties import choose_largest, merge_ties
from textrank.types import Indices, Matrix, Vector

Measure: TypeAlias = Literal["auc", "f", "squared_error", "disagreement"]


MANY = 200  # candidates of a query beyond which all its pairs are too many


def check_measure(select: str) -> None:
    """Refuses a measure that is not one of ours, by its name."""
    if select not in get_args(Measure):
        raise ValueError(f"select must be one of {', '.join(get_args(Measure))}, got {select!r}")


def choose(
    heldout: Matrix, targets: Targets, select: Measure, alphas: Sequence[float] | None = None
) -> int:
    """Return the row of ``heldout`` (alphas, n) with the best scores by ``select``.

    Of rows that are equally good (to 1e-9, see ``textrank.ties``) the one of the largest alpha is
    returned. Without ``alphas`` they are taken to be in ascending order.
    """
    values = qualities(heldout, targets, select)
    return choose_largest(values, range(len(values)) if alphas is None else alphas)


def qualities(heldout: Matrix, targets: Targets, select: Measure) -> Vector:
    """How good the scores at each alpha are by ``select``; larger is better."""
    y = targets.y
    if select == "disagreement":
        return _agreements(heldout, y, groups_of(targets.queries, len(y), name="queries"))
    if select == "squared_error":
        return np.asarray(-((heldout - y) ** 2).mean(axis=1))
    positive = y > 0
    if positive.all() or not positive.any():
        raise ValueError(
            f"all {len(y)} labels are {'positive' if positive.any() else 'negative'}, so {select} "
            "says nothing about alpha. Give labels of both kinds, or select='squared_error'."
        )
    one = _auc if select == "auc" else _best_f
    return np.array([one(y, scores) for scores in heldout])


def agreement(scores: Matrix, y: Vector) -> Vector:  # (a, h), (h,) -> (a,)
    """The share of pairs with different labels that the scores order rightly, ties one half.

    Ties are those of ``merge_ties``, in the scores of each alpha.

    NaN where no labels differ. Small queries compare all pairs at all alphas in one product.
    """
    if len(y) > MANY:
        wrong = [disagreement(y, row) for row in scores]
        return np.array([np.nan if share is None else 1 - share for share in wrong])
    i, j = np.triu_indices(len(y), 1)
    order = np.sign(y[i] - y[j])
    if not order.any():
        return np.full(len(scores), np.nan)
    scores = merge_ties(scores)
    right = np.sign(scores[:, i] - scores[:, j]) @ order
    return np.asarray(0.5 + 0.5 * right / np.abs(order).sum())


def _agreements(heldout: Matrix, y: Vector, queries: list[Indices]) -> Vector:
    usable = [rows for rows in queries if np.ptp(y[rows]) > 0]
    if not usable:
        raise ValueError(
            f"no query among {len(queries)} has candidates with different labels, so disagreement "
            "says nothing about alpha. Give more labels, or select='squared_error'."
        )
    heldout = merge_ties(heldout)  # by the scale of all queries, as in measures.over_queries
    return np.asarray(np.mean([agreement(heldout[:, rows], y[rows]) for rows in usable], axis=0))


def _auc(y: Vector, scores: Vector) -> float:
    value = auc(y, scores)
    return float("nan") if value is None else value


def _best_f(y: Vector, scores: Vector) -> float:
    threshold = best_threshold(y, scores)
    f = None if threshold is None else precision_recall_f(y, decide(scores, threshold)).f
    return 0.0 if f is None else f
