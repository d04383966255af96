"""A linear question for a pair over hashed features, each fold of genres left out in turn."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from textrank.lint.model import (
    BAG_OFFSETS,
    BAG_TEMPLATE,
    FEATURE_VALUES,
    TEMPLATES,
    W,
    combine_hashes,
    feature_keys,
    pair_hash,
)

SLOT_BITS = 24
ROUNDS, STEPS = 4, 8  # of Newton, and of conjugate gradients in each; fewer are more cautious
ALPHA = 1.0
SQUARES_STEPS, SQUARES_ALPHA = 18, 3.0  # the same of least squares
FLATTEST = 1e-3  # what a row that is sure counts at least
OFTEN = 2  # contexts a feature must have
FOLDS = 4  # of genres, each left out once
REMAP = np.full(1 << SLOT_BITS, -1, dtype=np.int32)


def features(around: Any, table: Any) -> Any:
    """The features of contexts; what ``Tokens.features`` gives for the same places."""
    found = np.empty((len(around), len(FEATURE_VALUES)), dtype=np.uint64)
    column = {place: k for k, place in enumerate(BAG_OFFSETS)}
    filled: dict[tuple[int, int], Any] = {}

    def code(kind: int, place: int) -> Any:
        if (kind, place) not in filled:
            filled[kind, place] = table[around[:, column[place]], kind]
        return filled[kind, place]

    for slot, parts in enumerate(TEMPLATES):
        found[:, slot] = combine_hashes(slot, [code(*part) for part in parts])
    for k, place in enumerate(BAG_OFFSETS):
        found[:, BAG_TEMPLATE + k] = combine_hashes(BAG_TEMPLATE, [code(W, place)])
    return found


@dataclass(frozen=True, eq=False)
class Design:
    """Rows of both words of a pair, columns of the features that occur often enough."""

    matrix: Any
    y: Any
    fold: Any
    keys: Any  # 32 bits each, of the columns

    def rows(self, kept: Any) -> tuple[Any, Any]:
        """Matrix and answers of some rows."""
        return self.matrix[kept], self.y[kept]


def design(title: str, first: Any, second: Any, folds: tuple[Any, Any], table: Any) -> Design:
    """Build the design matrix from the contexts of both words."""
    around = np.concatenate([first, second])
    own = np.uint64(pair_hash(title))
    keys = np.empty((len(around), len(FEATURE_VALUES)), dtype=np.uint32)
    for start in range(0, len(around), 8192):
        some = slice(start, start + 8192)
        keys[some] = feature_keys(features(around[some], table), own)
    slots = (keys >> np.uint32(8)).ravel()
    ordered = np.sort(slots)
    begins = np.flatnonzero(np.r_[True, ordered[1:] != ordered[:-1]])
    often = np.diff(np.r_[begins, len(ordered)]) >= OFTEN
    columns = ordered[begins[often]]
    REMAP[columns] = np.arange(len(columns), dtype=np.int32)
    index = REMAP[slots]
    whole = np.zeros(len(columns), dtype=np.uint32)
    kept = index >= 0
    whole[index[kept]] = keys.ravel()[kept]
    REMAP[columns] = -1
    return Design(
        _matrix(index, len(around), len(columns)),
        np.r_[-np.ones(len(first), np.float32), np.ones(len(second), np.float32)],
        np.concatenate(folds),
        whole,
    )


def _matrix(index: Any, rows: int, columns: int) -> Any:
    kept = index >= 0
    counts = kept.reshape(rows, -1).sum(axis=1)
    starts = np.r_[0, np.cumsum(counts)].astype(np.int32)
    values = np.tile(FEATURE_VALUES.astype(np.float32), rows)[kept]
    return csr_array((values, index[kept], starts), shape=(rows, columns))


def logistic(matrix: Any, y: Any, rounds: int = ROUNDS, steps: int = STEPS) -> tuple[Any, float]:
    """Weights and bias by a few Newton rounds; both words weigh the same.

    The penalty of a weight is the smaller the more one-sided its feature is in these rows.
    """
    share, other = shares(y), matrix.T.tocsr()
    size = one_sided(other, share, y)
    penalty = ALPHA / size**2
    weights, bias = np.zeros(matrix.shape[1], np.float32), 0.0
    for _ in range(rounds):
        sure = 1 / (1 + np.exp(-y * (matrix @ weights + bias)))
        rest = share * (1 - sure) * y
        bend = share * np.maximum(sure * (1 - sure), FLATTEST)
        slope = other @ rest - penalty * weights, float(rest.sum())
        step, step_bias = _newton(matrix, other, bend, penalty, size, slope, steps)
        weights, bias = weights + step, bias + step_bias
    return weights, bias


def least_squares(matrix: Any, y: Any, steps: int = SQUARES_STEPS) -> tuple[Any, float]:
    """Weights and bias by conjugate gradients; both words weigh the same."""
    share, other = shares(y), matrix.T.tocsr()
    size = np.ones(matrix.shape[1], np.float32)
    slope = other @ (share * y), float((share * y).sum())
    return _newton(matrix, other, share, SQUARES_ALPHA, size, slope, steps)


def shares(y: Any) -> Any:
    """Return the weight of each row, so that both words weigh the same."""
    share = np.where(y > 0, 0.5 / max((y > 0).sum(), 1), 0.5 / max((y < 0).sum(), 1)) * len(y)
    return share.astype(np.float32)


@dataclass(frozen=True)
class Learner:
    """How weights are found, how many of a pair are kept, and what is enough for a screening."""

    solve: Callable[..., tuple[Any, float]]
    keep: int
    screening: Mapping[str, int]


LEARNERS = {
    "least_squares": Learner(least_squares, 5_000, {"steps": 12}),
    "logistic": Learner(logistic, 6_000, {"rounds": 3, "steps": 6}),
}


def one_sided(other: Any, share: Any, y: Any) -> Any:
    """How unequally each feature is shared by the two words, as the size of its log-ratio."""
    there = csr_array((np.ones_like(other.data), other.indices, other.indptr), shape=other.shape)
    up, down = there @ (share * (y > 0)), there @ (share * (y < 0))
    ratio = np.abs(np.log((up + 0.5) / (down + 0.5)))
    return (np.clip(ratio, 0.2, 4.0) / 1.5).astype(np.float32)


def _newton(
    matrix: Any, other: Any, bend: Any, penalty: Any, size: Any, slope: Any, steps: int
) -> tuple[Any, float]:
    """One Newton step by conjugate gradients, every weight in units of its ``size``."""
    found, found_bias = np.zeros(len(size), np.float32), 0.0
    rest, rest_bias = slope[0] * size, slope[1]
    step, step_bias = rest.copy(), rest_bias
    length = float(rest @ rest) + rest_bias**2
    for _ in range(steps):
        own = step * size
        score = bend * (matrix @ own + step_bias)
        image, image_bias = (other @ score + penalty * own) * size, float(score.sum())
        rate = length / (float(step @ image) + step_bias * image_bias + 1e-12)
        found += np.float32(rate) * step
        found_bias += rate * step_bias
        rest = rest - np.float32(rate) * image
        rest_bias -= rate * image_bias
        new = float(rest @ rest) + rest_bias**2
        step = rest + np.float32(new / length) * step
        step_bias = rest_bias + new / length * step_bias
        length = new
    return found * size, found_bias


@dataclass(frozen=True, eq=False)
class Fit:
    """The strongest weights of a pair, in steps of ``scale``."""

    keys: Any
    weights: Any  # int8
    scale: float
    bias: float


def fit(found: Design, kept: Any, learner: Learner) -> tuple[Fit, Any]:
    """A fit on some rows, and the scores that it gives to all."""
    weights, bias = learner.solve(*found.rows(kept))
    size = np.sqrt(np.asarray(found.matrix.multiply(found.matrix).sum(axis=0)).ravel())
    weight = np.abs(weights) * size
    keep = learner.keep
    if len(weights) > keep:
        weights = np.where(weight >= np.partition(weight, -keep)[-keep], weights, 0)
    scale = float(np.abs(weights).max()) / 127 or 1.0
    steps = np.rint(weights / scale).astype(np.int8)
    own = steps != 0
    scores = (found.matrix @ steps.astype(np.float32)) * scale + bias
    return Fit(found.keys[own], steps[own], scale, float(bias)), scores


def leave_out(found: Design, learner: Learner) -> tuple[list[Fit], Any]:
    """A fit without each fold, one with all, and the scores of rows by the fits without them."""
    fits, scores = [], np.zeros(len(found.y), dtype=np.float32)
    for fold in range(FOLDS):
        out = found.fold == fold
        rest = ~out if out.any() and len(set(found.y[~out])) == 2 else np.ones_like(out)
        own, all_scores = fit(found, rest, learner)
        scores[out] = all_scores[out]
        fits.append(own)
    fits.append(fit(found, np.ones(len(found.y), dtype=bool), learner)[0])
    return fits, scores
