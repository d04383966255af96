"""What the other names of a document say about a name: numbers for a second stage."""

from __future__ import annotations

import numpy as np

from textrank.docs import Neighbourhood
from textrank.types import Indices, Matrix, Vector

NUMBERS = (
    "score",
    "mean of others",
    "mean of others, near ones more",
    "maximum of others",
    "score before, damped",
    "score after, damped",
    "nearness before",
    "nearness after",
    "names",
    "equal names",
    "mean of equal names",
    "maximum of equal names",
)


def document_numbers(neighbourhood: Neighbourhood, scores: Vector) -> Matrix:  # (n, 12)
    """For each candidate its score and how others of its text score; see ``NUMBERS``.

    Only candidates that ask the same look at one another. ``scores`` are those of a first stage
    that never saw the text. No name is ever learnt, only that equal names of one text tend to
    agree. Nearness is ``1 / (1 + tokens between)``. O(names²) a text.
    """
    out = np.zeros((len(neighbourhood), len(NUMBERS)))
    groups: dict[tuple[int, str], list[int]] = {}
    for index, key in enumerate(
        zip(neighbourhood.texts.tolist(), neighbourhood.questions, strict=True)
    ):
        groups.setdefault(key, []).append(index)
    for members in groups.values():
        rows = np.array(members, dtype=np.intp)
        out[rows] = _of_text(
            neighbourhood.places[rows], neighbourhood.spellings[rows], scores[rows]
        )
    return out


def _of_text(place: Vector, spelling: Indices, s: Vector) -> Matrix:
    n = len(s)
    other = ~np.eye(n, dtype=bool)
    near = other / (1.0 + np.abs(place[:, None] - place[None, :]))
    same = (spelling[:, None] == spelling[None, :]) & other
    before, after = _neighbours(place, near)
    columns = [
        s,
        _mean(other.astype(float), s),
        _mean(near, s),
        _maximum(other, s),
        before * np.append(0.0, s)[_previous(place) + 1],
        after * np.append(0.0, s)[_next(place) + 1],
        before,
        after,
        np.full(n, np.log(n)),
        np.log1p(same.sum(axis=1)),
        _mean(same.astype(float), s),
        _maximum(same, s),
    ]
    return np.column_stack(columns)


def _previous(place: Vector) -> Indices:
    """The candidate before each in the text, -1 for the first."""
    order = np.argsort(place, kind="stable")
    found = np.full(len(place), -1, dtype=np.intp)
    found[order[1:]] = order[:-1]
    return found


def _next(place: Vector) -> Indices:
    order = np.argsort(place, kind="stable")
    found = np.full(len(place), -1, dtype=np.intp)
    found[order[:-1]] = order[1:]
    return found


def _neighbours(place: Vector, near: Matrix) -> tuple[Vector, Vector]:
    """Nearness of the candidate before and of the one after; 0 where there is none."""
    padded = np.column_stack([np.zeros(len(place)), near])
    own = np.arange(len(place))
    return padded[own, _previous(place) + 1], padded[own, _next(place) + 1]


def _mean(weights: Matrix, s: Vector) -> Vector:
    """Weighted means; 0 where there is nobody."""
    total = weights.sum(axis=1)
    return np.asarray(weights @ s / np.where(total > 0, total, 1.0))


def _maximum(mask: Matrix, s: Vector) -> Vector:
    best = np.where(mask, s[None, :], -np.inf).max(axis=1, initial=-np.inf)
    return np.where(np.isfinite(best), best, 0.0)
