"""Choice of alpha by held-out scores."""

from __future__ import annotations

from typing import Literal, TypeAlias, get_args

import numpy as np
from numpy.typing import NDArray
from scipy.stats import rankdata

from textrank.types import Matrix, Vector

Measure: TypeAlias = Literal["auc", "f", "squared_error"]


def check_measure(select: str) -> None:
    """Refuses a measure that is not one of ours, by its name."""
    if select not in get_args(Measure):
        raise ValueError(f"select must be one of {', '.join(get_args(Measure))}, got {select!r}")


def choose(heldout: Matrix, y: Vector, select: Measure) -> int:
    """The row of the best held-out scores (alphas, n); the last one among equals."""
    values = qualities(heldout, y, select)
    return int(len(values) - 1 - np.argmax(values[::-1]))


def qualities(heldout: Matrix, y: Vector, select: Measure) -> Vector:
    """How good the scores at each alpha are by ``select``; larger is better."""
    if select == "squared_error":
        return np.asarray(-((heldout - y) ** 2).mean(axis=1))
    positive = y > 0
    if positive.all() or not positive.any():
        raise ValueError(
            f"all {len(y)} labels are {'positive' if positive.any() else 'negative'}, so {select} "
            "says nothing about alpha. Give labels of both kinds, or select='squared_error'."
        )
    one = _auc if select == "auc" else _best_f
    return np.array([one(scores, positive) for scores in heldout])


def _auc(scores: Vector, positive: NDArray[np.bool_]) -> float:
    pos = int(positive.sum())
    ranks = rankdata(scores)  # ties get their mean rank, so a tie counts one half
    return float((ranks[positive].sum() - pos * (pos + 1) / 2) / (pos * (len(scores) - pos)))


def _best_f(scores: Vector, positive: NDArray[np.bool_]) -> float:
    order = np.argsort(-scores, kind="stable")
    hits = np.cumsum(positive[order])
    cut = np.append(np.diff(scores[order]) < 0, True)  # a threshold cannot part equal scores
    f = 2 * hits / (np.arange(1, len(scores) + 1) + hits[-1])
    return float(f[cut].max())
