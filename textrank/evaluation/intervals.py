"""Confidence intervals by resampling documents, because candidates of one are not independent."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from textrank.ties import sort_ties
from textrank.types import Indices, Matrix, Vector


@dataclass(frozen=True)
class Interval:
    """A range that covers the measure with the given confidence; how often it was undefined."""

    low: float
    high: float
    level: float
    undefined: int = 0  # resamples in which no fold had a value


@dataclass(frozen=True, eq=False)
class _Part:
    """One test fold, sorted by score; weights turn it into any of its resamples."""

    positive: Vector  # (n,) 1 where the label is positive, by rising score
    said: Vector  # (n,) 1 where the decision was yes
    starts: Indices  # (t,) where a new score begins
    documents: Indices  # (n,)
    missed: Vector  # (documents,) gold answers without a candidate


def bootstrap_intervals(
    y: ArrayLike,
    scores: ArrayLike,
    documents: Sequence[str],
    *,
    decisions: ArrayLike | None = None,
    parts: ArrayLike | None = None,
    unreachable: Mapping[str, int] | None = None,
    level: float = 0.95,
    resamples: int = 1000,
    seed: int = 0,
) -> dict[str, Interval]:
    """Percentile intervals of AUC, and with ``decisions`` of precision, recall and F.

    Documents are drawn with replacement. ``parts`` numbers the test folds (of all splits): a
    measure is computed in each and averaged, exactly as in a Report; without it all candidates are
    one part. The models stay as they are, so the interval tells how sure the measure is for these
    models on such documents, not what other training data would have given. A document is a weight
    here: O(n) for each resample after one sort.

    >>> ends = bootstrap_intervals([1, -1, 1, -1], [4, 1, 3, 2], ["a", "a", "b", "b"])["auc"]
    >>> (ends.low, ends.high)
    (1.0, 1.0)
    """
    if not 0 < level < 1 or resamples < 1:
        raise ValueError(
            f"level lies between 0 and 1 and resamples is at least 1, got {level}, {resamples}"
        )
    names = sorted({*documents, *(unreachable or {})})
    found = _parts(y, scores, documents, decisions, parts, names, unreachable or {})
    rng = np.random.default_rng(seed)
    values: dict[str, list[Vector]] = {}
    for start in range(0, resamples, 100):  # at once they would need resamples × n numbers
        draws = min(100, resamples - start)
        weights = rng.multinomial(len(names), np.full(len(names), 1 / len(names)), size=draws)
        for name, value in _means(found, weights.astype(np.float64), decisions is not None).items():
            values.setdefault(name, []).append(value)
    intervals = {name: _interval(np.concatenate(v), level) for name, v in values.items()}
    return {name: interval for name, interval in intervals.items() if interval is not None}


def _parts(
    y: ArrayLike,
    scores: ArrayLike,
    documents: Sequence[str],
    decisions: ArrayLike | None,
    parts: ArrayLike | None,
    names: Sequence[str],
    unreachable: Mapping[str, int],
) -> list[_Part]:
    labels, values = np.asarray(y, dtype=np.float64), np.asarray(scores, dtype=np.float64)
    said = np.zeros(len(labels)) if decisions is None else np.asarray(decisions, dtype=np.float64)
    of = np.zeros(len(labels), dtype=np.intp) if parts is None else np.asarray(parts, dtype=np.intp)
    sizes = {len(labels), len(values), len(documents), len(said), len(of)}
    if len(sizes) != 1 or not len(labels):
        raise ValueError(
            f"labels, scores, documents and folds differ in length or are empty: {sizes}"
        )
    number = {name: i for i, name in enumerate(names)}
    index = np.array([number[name] for name in documents], dtype=np.intp)
    result = []
    for part in np.unique(of):
        at = np.flatnonzero(of == part)
        order, starts = sort_ties(values[at])
        at = at[order]
        missed = np.zeros(len(names))
        for name in unreachable.keys() & {documents[int(i)] for i in at}:
            missed[number[name]] = unreachable[name]
        positive, yes = (a[at] > 0 for a in (labels, said))
        row = _Part(positive.astype(float), yes.astype(float), starts, index[at], missed)
        result.append(row)
    return result


def _means(parts: Sequence[_Part], weights: Matrix, decided: bool) -> dict[str, Vector]:
    """Each measure for each row of weights, averaged over the parts where it is defined."""
    rows: dict[str, list[Vector]] = {}
    for part in parts:
        of = weights[:, part.documents]  # (b, n)
        rows.setdefault("auc", []).append(_weighted_auc(part, of))
        if decided:
            hit, answered = of @ (part.positive * part.said), of @ part.said
            gold = of @ part.positive + weights @ part.missed
            for name, top, bottom in (
                ("f", 2 * hit, answered + gold),
                ("precision", hit, answered),
                ("recall", hit, gold),
            ):
                rows.setdefault(name, []).append(_divide(top, bottom))
    return {name: _mean_defined(np.array(values)) for name, values in rows.items()}


def _weighted_auc(part: _Part, weights: Matrix) -> Vector:
    up = np.add.reduceat(weights * part.positive, part.starts, axis=1)
    down = np.add.reduceat(weights * (1 - part.positive), part.starts, axis=1)
    below = np.cumsum(down, axis=1) - down
    return _divide((up * (below + down / 2)).sum(axis=1), up.sum(axis=1) * down.sum(axis=1))


def _divide(top: Vector, bottom: Vector) -> Vector:
    # NaN marks an undefined value inside this module only; _interval counts and removes it.
    return np.divide(top, bottom, out=np.full_like(top, np.nan), where=bottom > 0)


def _mean_defined(values: Matrix) -> Vector:
    defined = np.isfinite(values)
    return _divide(np.where(defined, values, 0).sum(axis=0), defined.sum(axis=0).astype(np.float64))


def _interval(values: Vector, level: float) -> Interval | None:
    defined = values[np.isfinite(values)]
    if not len(defined):
        return None
    low, high = np.quantile(defined, [(1 - level) / 2, (1 + level) / 2])
    return Interval(float(low), float(high), level, len(values) - len(defined))
