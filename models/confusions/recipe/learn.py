"""Linear model of a pair over hashed features, fitted with each fold of kinds left out in turn."""

from __future__ import annotations

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

SLOT_BITS = 23
ROUNDS, STEPS = 3, 7  # of Newton, and of conjugate gradients in each; fewer regularise more
ALPHA = 1.0
MIN_CURVATURE = 1e-3
MIN_CONTEXTS = 2  # contexts that a feature must have
CHUNK_ROWS = 8192
KEEP = 6_000  # weights of a pair
VALUES = FEATURE_VALUES.astype(np.float32)
_COLUMN_OF_SLOT = np.full(1 << SLOT_BITS, -1, dtype=np.int32)
_WEIGHT_OF_SLOT = np.zeros(1 << SLOT_BITS, dtype=np.float32)


def features(rows: Any, table: Any) -> Any:
    """Return the feature hashes of contexts, as ``Tokens.features`` does for the same places."""
    hashes = np.empty((len(rows), len(VALUES)), dtype=np.uint64)
    column = {offset: k for k, offset in enumerate(BAG_OFFSETS)}
    codes: dict[tuple[int, int], Any] = {}

    def code(kind: int, offset: int) -> Any:
        """Return the codes of a property ``kind`` at an offset, (n,); cached."""
        if (kind, offset) not in codes:
            codes[kind, offset] = table[rows[:, column[offset]], kind]
        return codes[kind, offset]

    for template, parts in enumerate(TEMPLATES):
        hashes[:, template] = combine_hashes(template, [code(*part) for part in parts])
    for k, offset in enumerate(BAG_OFFSETS):
        hashes[:, BAG_TEMPLATE + k] = combine_hashes(BAG_TEMPLATE, [code(W, offset)])
    return hashes


def mix_keys(hashes: Any, title: str) -> Any:
    """Return the 32-bit keys of features for a pair, (n, features)."""
    keys = np.empty(hashes.shape, dtype=np.uint32)
    for start in range(0, len(hashes), CHUNK_ROWS):
        chunk = slice(start, start + CHUNK_ROWS)
        keys[chunk] = feature_keys(hashes[chunk], np.uint64(pair_hash(title)))
    return keys


@dataclass(frozen=True, eq=False)
class Design:
    """Contexts of both words as a sparse matrix; columns are features with MIN_CONTEXTS."""

    matrix: Any
    y: Any  # -1 first word, 1 second
    keys: Any  # of the columns


def design(keys: Any, y: Any) -> Design:
    """Build the design matrix of contexts from their feature keys."""
    slots = (keys >> np.uint32(32 - SLOT_BITS)).ravel()
    columns = np.flatnonzero(np.bincount(slots, minlength=1 << SLOT_BITS) >= MIN_CONTEXTS)
    _COLUMN_OF_SLOT[columns] = np.arange(len(columns), dtype=np.int32)
    index = _COLUMN_OF_SLOT[slots]
    _COLUMN_OF_SLOT[columns] = -1
    kept = index >= 0
    key_of_column = np.zeros(len(columns), dtype=np.uint32)
    key_of_column[index[kept]] = keys.ravel()[kept]
    counts = kept.reshape(len(keys), -1).sum(axis=1)
    starts = np.r_[0, np.cumsum(counts)].astype(np.int32)
    values = np.tile(VALUES, len(keys))[kept]
    shape = len(keys), len(columns)
    return Design(csr_array((values, index[kept], starts), shape=shape), y, key_of_column)


@dataclass(frozen=True, eq=False)
class Fit:
    """Strongest weights of a pair, in steps of ``scale``."""

    keys: Any
    weights: Any  # int8
    scale: float
    bias: float

    def scores(self, keys: Any) -> Any:
        """Return the scores of contexts by the keys of their features."""
        slots = self.keys >> np.uint32(32 - SLOT_BITS)
        _WEIGHT_OF_SLOT[slots] = self.weights
        sums = np.empty(len(keys), dtype=np.float32)
        for start in range(0, len(keys), CHUNK_ROWS):
            chunk = keys[start : start + CHUNK_ROWS] >> np.uint32(32 - SLOT_BITS)
            sums[start : start + CHUNK_ROWS] = _WEIGHT_OF_SLOT[chunk] @ VALUES
        _WEIGHT_OF_SLOT[slots] = 0
        return sums * self.scale + self.bias


def fit(data: Design, rows: Any, keep: int = KEEP) -> Fit:
    """Fit a pair on some rows (a mask), keep its strongest weights and round them to 8 bits."""
    weights, bias = logistic(data.matrix[rows], data.y[rows])
    size = np.sqrt(np.asarray(data.matrix.multiply(data.matrix).sum(axis=0)).ravel())
    strength = np.abs(weights) * size
    if len(weights) > keep:
        weights = np.where(strength >= np.partition(strength, -keep)[-keep], weights, 0)
    scale = float(np.abs(weights).max()) / 127 or 1.0
    steps = np.rint(weights / scale).astype(np.int8)
    return Fit(data.keys[steps != 0], steps[steps != 0], scale, float(bias))


def logistic(matrix: Any, y: Any, rounds: int = ROUNDS, steps: int = STEPS) -> tuple[Any, float]:
    """Return weights and bias of a logistic regression; both words count the same.

    The penalty of a weight is the smaller the more one-sided its feature is in these rows.
    """
    share = np.where(y > 0, 0.5 / max((y > 0).sum(), 1), 0.5 / max((y < 0).sum(), 1)) * len(y)
    share, transposed = share.astype(np.float32), matrix.T.tocsr()
    size = _one_sidedness(transposed, share, y)
    penalty = ALPHA / size**2
    weights, bias = np.zeros(matrix.shape[1], np.float32), 0.0
    for _ in range(rounds):
        sure = 1 / (1 + np.exp(-y * (matrix @ weights + bias)))
        rest = share * (1 - sure) * y
        curvature = share * np.maximum(sure * (1 - sure), MIN_CURVATURE)
        slope = transposed @ rest - penalty * weights, float(rest.sum())
        step = _newton_step(matrix, transposed, curvature, penalty, size, slope, steps)
        weights, bias = weights + step[0], bias + step[1]
    return weights, bias


def _one_sidedness(transposed: Any, share: Any, y: Any) -> Any:
    """Return how unequally each feature is shared by the two words, from its log-ratio."""
    ones = np.ones_like(transposed.data)
    there = csr_array((ones, transposed.indices, transposed.indptr), shape=transposed.shape)
    up, down = there @ (share * (y > 0)), there @ (share * (y < 0))
    ratio = np.abs(np.log((up + 0.5) / (down + 0.5)))
    return (np.clip(ratio, 0.2, 4.0) / 1.5).astype(np.float32)


def _newton_step(
    matrix: Any, transposed: Any, curvature: Any, penalty: Any, size: Any, slope: Any, steps: int
) -> tuple[Any, float]:
    """Return a Newton step by conjugate gradients, every weight in units of its ``size``."""
    solution, solution_bias = np.zeros(len(size), np.float32), 0.0
    rest, rest_bias = slope[0] * size, slope[1]
    step, step_bias = rest.copy(), rest_bias
    length = float(rest @ rest) + rest_bias**2
    for _ in range(steps):
        scaled = step * size
        score = curvature * (matrix @ scaled + step_bias)
        image, image_bias = (transposed @ score + penalty * scaled) * size, float(score.sum())
        rate = length / (float(step @ image) + step_bias * image_bias + 1e-12)
        solution += np.float32(rate) * step
        solution_bias += rate * step_bias
        rest = rest - np.float32(rate) * image
        rest_bias -= rate * image_bias
        new = float(rest @ rest) + rest_bias**2
        step = rest + np.float32(new / length) * step
        step_bias = rest_bias + new / length * step_bias
        length = new
    return solution * size, solution_bias
