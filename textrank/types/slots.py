"""Slotted: features that candidates have alike, named by the words that fill slots."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from textrank.types.codes import Codes
from textrank.types.features import Features, Vector
from textrank.types.names import UNKNOWN, Indices, Names
from textrank.types.ragged import offsets, summed
from textrank.types.weights import Met, Weighed, Weights

Words = NDArray[np.int32]  # numbers of words of a vocabulary


@dataclass(frozen=True, eq=False)
class Slotted(Sequence[Features]):
    """Features of candidates as the words that fill their names; few words make many names.

    Feature ``j`` of candidate ``i`` is named ``titles[j]`` and the words ``fill[i, slots[j]]``.

    >>> two = Slotted(("-1 +1", "to", "of"), np.array([[1, 2]]), np.array([0]), np.array([[0, 1]]),
    ...               np.array([0.5]))
    >>> two.features().names[0]
    ('-1 +1', 'to', 'of')
    """

    vocabulary: tuple[str, ...]
    fill: Words  # (n, c)
    titles: Words  # (b,)
    slots: Indices  # (b, k) columns of ``fill``; -1 after the last
    values: Vector  # (b,)
    present: NDArray[np.bool_] | None = None  # (n, b) which candidates have which; all without

    def __len__(self) -> int:
        return len(self.fill)

    def __getitem__(self, index: int | slice) -> Features:
        return self.features()[index]

    @property
    def had(self) -> NDArray[np.bool_]:  # (n, b)
        """Which candidates have which features."""
        shape = (len(self), len(self.titles))
        return np.ones(shape, dtype=bool) if self.present is None else self.present

    @cached_property
    def padded(self) -> Words:  # (n, c + 1)
        """What fills the slots, with nothing in the last column."""
        return np.hstack([self.fill, np.full((len(self), 1), -1, dtype=np.int32)])

    def names(self, rows: Indices, features: Indices) -> Words:  # (f, 1 + k)
        """The words of the names of some features, each of a candidate."""
        cells = self.slots.take(features, axis=0) % self.padded.shape[1]
        cells += (rows * self.padded.shape[1])[:, None]
        return np.hstack([self.titles[features][:, None], self.padded.take(cells)])

    def having(self, known: Names) -> Slotted:
        """Only the features of these names."""
        present = self.had.copy()
        present[present] = known.find(self.features().names) >= 0
        return replace(self, present=present)

    def features(self) -> Features:
        """As a matrix with a column of its own for each feature of each candidate."""
        rows, features = np.nonzero(self.had)
        names = Names(self.vocabulary, self.names(rows, features))
        cells = (self.values[features], np.arange(len(names)), offsets(self.had.sum(axis=1)))
        return Features(sp.csr_array(cells, shape=(len(self), len(names))), names)


@dataclass(frozen=True, eq=False)
class SlotWeights:
    """Weights of features with such names, found by hashes of words and question, then compared.

    Hashes are sums over the words of a name, so that those of many names cost a few additions.
    """

    weights: Weights

    def __call__(self, X: Slotted, asked: Indices, at: Indices | None = None) -> Weighed:
        """What candidates come to, or with ``at`` those who share what they look like."""
        at = np.arange(len(X)) if at is None else at
        numbers = [self._words.get(word, UNKNOWN) for word in X.vocabulary]
        number = np.array([*numbers, -1], dtype=np.int32)
        known = replace(X, titles=number[X.titles], fill=number[X.fill])
        row, feature, place = self._found(known, asked, at)
        values = X.values[feature]
        products = summed(self.weights.coef[place] * values, row, len(at))
        squares = (X.had @ X.values**2)[at]
        return Weighed(products, squares, lambda: Met(row, self.weights.columns[place], values))

    def _found(self, X: Slotted, asked: Indices, at: Indices) -> tuple[Indices, Indices, Indices]:
        """Candidates with features that have a weight, these, and where it stands."""
        names = np.tile(_coded(X.titles, 0), (len(X), 1))  # (n, b)
        for number, column in enumerate(X.slots.T, 1):
            names += _coded(X.padded, number)[:, column]
        codes = names[at] + _coded(asked, -1)[:, None]
        found = self._codes.find(_folded(codes).ravel()).reshape(codes.shape)
        if X.present is not None:
            found[~X.present[at]] = -1
        row, feature = np.nonzero(found >= 0)
        place = found[row, feature]
        same = self._same(X.names(at[row], feature), asked[row], place)
        return row[same], feature[same], place[same]

    def _same(self, parts: Words, asked: Indices, place: Indices) -> NDArray[np.bool_]:
        """Whether names and questions are those that weights have, not only their hashes."""
        own = self.weights.names.parts[place]
        width = min(own.shape[1], parts.shape[1])
        rest = np.hstack([own[:, width:], parts[:, width:]])
        alike = (own[:, :width] == parts[:, :width]).all(axis=1) & (rest < 0).all(axis=1)
        return alike & (self.weights.asked[place] == asked)

    @cached_property
    def _words(self) -> dict[str, int]:
        return {word: number for number, word in enumerate(self.weights.names.vocabulary)}

    @cached_property
    def _codes(self) -> Codes:
        codes = _coded(self.weights.asked, -1)
        for place, column in enumerate(self.weights.names.parts.T):
            codes += _coded(column, place)
        return Codes(_folded(codes))


def _coded(numbers: NDArray[np.integer], place: int) -> NDArray[np.uint64]:
    """What words at a place of a name add to its hash; -1 adds nothing."""
    return (numbers + 1).astype(np.uint64) * _factor(place)


def _folded(codes: NDArray[np.uint64]) -> NDArray[np.uint64]:
    return codes ^ (codes >> np.uint64(32))  # the last bits are told apart by all


@cache
def _factor(place: int) -> np.uint64:
    odd = np.random.default_rng(place + 1).integers(1 << 62, dtype=np.uint64)
    return np.uint64(odd * np.uint64(2) + np.uint64(1))
