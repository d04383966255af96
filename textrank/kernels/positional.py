"""Positional: similarity of contexts by their words and where these stand."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import scipy.sparse as sp

from textrank.kernels.weighed_places import WeighedPlaces
from textrank.linalg.gram import gram_of, squares
from textrank.types import (
    Contexts,
    Features,
    Indices,
    Matrix,
    Names,
    PositionTransformation,
    SparseMatrix,
    Vector,
    Weigh,
    Weights,
    WordTransformation,
    by_features,
)

CHUNK = 1 << 20  # words expanded to features at once
WIDE = 64  # components of positions that are too many for a table of weights


@dataclass(frozen=True)
class Positional:
    """Similarity of two word-position matrices: ``k(X, Z) = tr(P̂ X' Ŵ Z)``.

    ``P̂`` says which positions resemble each other and ``Ŵ`` which words do (equal ones, where
    ``words`` is not given). Linear after ``X -> B' X R``, with ``P̂ = R R'`` and ``Ŵ = B B'``, so a
    feature is a (word component, position component); building them costs one step for each word
    and component it touches. A fitted model is a table with a weight for each word and position:
    see ``table``.

    >>> from textrank.representations.contexts.transformations import Weighting
    >>> X = Contexts.of([[("binds", -1), ("to", 1)], [("to", 2)]])
    >>> Positional(Weighting(decay=1.0, base=0.0))(X)
    array([[2.  , 0.5 ],
           [0.5 , 0.25]])
    """

    positions: PositionTransformation
    words: WordTransformation | None = None

    def __call__(self, X: Sequence[Contexts], Y: Sequence[Contexts] | None = None) -> Matrix:
        return gram_of(self.features, X, Y)

    def diag(self, X: Sequence[Contexts]) -> Vector:
        """The similarity of each input with itself, ``(x,)``."""
        batch = contexts(X)
        if self.words is not None:
            return squares(self.features(batch).values)
        return _squared_lengths(batch, self.positions)

    def features(self, X: Sequence[Contexts]) -> Features:
        """A column for each word component at each position component that occurs."""
        batch = contexts(X)
        distinct, at = _distinct(batch.positions)
        R = self.positions.factor(distinct)
        B = None if self.words is None else self.words.factor(batch.vocabulary)
        words = Names.of(batch.vocabulary) if B is None else B.names
        parts = [
            _products(batch[part], R.values, at[slice(*batch.starts[[part.start, part.stop]])], B)
            for part in _chunks(batch.starts)
        ]
        shape = (0, len(R.names) * len(words))
        values = sp.csr_array(sp.vstack(parts) if parts else sp.csr_array(shape))
        used = np.flatnonzero(np.bincount(values.indices, minlength=shape[1]))
        columns = np.column_stack([used % max(len(words), 1), used // max(len(words), 1)])
        return Features(_columns(values, used), _paired(words, R.names, columns))

    def weighed(self, weights: Weights) -> Weigh:
        """What the features come to; by the words themselves where only equal ones are alike."""
        components, _ = weights.names.rest().distinct()
        if self.words is not None or len(components) > WIDE:
            return by_features(self, weights)
        return WeighedPlaces.of(self.positions, weights)

    def table(
        self, coef: Vector, names: Names, *, vocabulary: Sequence[str], span: int
    ) -> ContextTable:
        """A linear model on these features as a weight for each word and position.

        ``coef`` are the weights of the features ``names``; positions reach ``span`` to both sides.
        """
        places = np.arange(-span, span + 1)
        R = self.positions.factor(places)
        B = None if self.words is None else self.words.factor(vocabulary)
        word_names = Names.of(vocabulary) if B is None else B.names
        grid = np.indices((len(word_names), len(R.names))).reshape(2, -1).T
        at = names.find(_paired(word_names, R.names, grid))
        weights = np.append(coef, 0.0)[at].reshape(len(word_names), len(R.names))
        table = np.asarray((R.values @ weights.T).T)
        table = table if B is None else np.asarray(B.values @ table)
        return ContextTable.of(vocabulary, table)


@dataclass(frozen=True, eq=False)
class ContextTable:
    """A model on contexts as one number for each word and position: scoring only looks them up.

    The cost is one look-up for each word of a context, whatever the model was trained on. Contexts
    told in the table's own ``vocabulary`` (``Contexts.telling``) need no look at a word's letters.
    """

    vocabulary: tuple[str, ...]
    index: Mapping[str, int]
    weights: Matrix  # (words + 1, 2 span + 1), position 0 in the middle; unknown words at the end

    @classmethod
    def of(cls, vocabulary: Sequence[str], weights: Matrix) -> ContextTable:
        """A table of (words, 2 span + 1) weights."""
        index = {word: i for i, word in enumerate(vocabulary)}
        return cls(tuple(vocabulary), index, np.vstack([weights, np.zeros((1, weights.shape[1]))]))

    @property
    def span(self) -> int:
        """How far the table reaches to each side."""
        return self.weights.shape[1] // 2

    def scores(self, X: Contexts) -> Vector:
        """The sum of the weights of all words at their positions; unknown words weigh nothing."""
        words = X.words if X.vocabulary is self.vocabulary else self._known(X)[X.words]
        farthest = int(np.abs(X.positions).max(initial=0))
        if farthest > self.span:
            raise ValueError(
                f"a word stands {farthest} words away but the table reaches {self.span}. "
                "Build it with a larger span."
            )
        at = words * np.intp(self.weights.shape[1]) + (X.positions + self.span)
        return _sums(self.weights.ravel()[at], X.starts)

    def _known(self, X: Contexts) -> Indices:
        unknown = len(self.index)
        return np.array([self.index.get(word, unknown) for word in X.vocabulary], dtype=np.intp)


def contexts(X: Sequence[Contexts]) -> Contexts:
    """X as one batch."""
    return X if isinstance(X, Contexts) else Contexts.below(list(X))


def _chunks(starts: Indices) -> list[slice]:
    """Slices of contexts that together hold about CHUNK words each."""
    targets = np.arange(0, starts[-1] + 1, CHUNK)[1:]
    cuts = np.unique([0, *np.searchsorted(starts, targets), len(starts) - 1])
    return [slice(int(a), int(b)) for a, b in pairwise(cuts)]


def _products(batch: Contexts, R: SparseMatrix, at: Indices, B: Features | None) -> SparseMatrix:
    """``B' X R`` of each context as a row; column ``component * words + word``."""
    n, r = len(batch), R.shape[1]
    repeats = np.diff(R.indptr)[at]
    token = np.repeat(np.arange(len(at)), repeats)
    entry = np.arange(len(token)) + np.repeat(R.indptr[at] - np.cumsum(repeats) + repeats, repeats)
    context = np.repeat(np.arange(n), np.diff(batch.starts))
    rows = context[token] * r + R.indices[entry]

    shape = (n * r, len(batch.vocabulary))
    X = sp.csr_array((R.data[entry], (rows, batch.words[token])), shape=shape)
    X = (X if B is None else X @ B.values).tocoo()
    cells = (X.data, (X.row // r, (X.row % r) * X.shape[1] + X.col))
    values = sp.csr_array(cells, shape=(n, r * X.shape[1]))
    values.eliminate_zeros()
    return values


def _columns(values: SparseMatrix, used: Indices) -> SparseMatrix:
    """Only these columns, which hold all entries."""
    number = np.zeros(values.shape[1], dtype=np.int32)
    number[used] = np.arange(len(used))
    parts = (values.data, number[values.indices], values.indptr)
    return sp.csr_array(parts, shape=(values.shape[0], len(used)))


def _paired(first: Names, second: Names, columns: Any) -> Names:
    """Names of pairs, the one's words before the other's."""
    offset = len(first.vocabulary)
    right = second.parts[columns[:, 1]]
    parts = np.hstack([first.parts[columns[:, 0]], np.where(right >= 0, right + offset, -1)])
    # Padding moves to the end, so that equal names have equal parts.
    order = np.argsort(parts < 0, axis=1, kind="stable") if (parts < 0).any() else None
    parts = parts if order is None else np.take_along_axis(parts, order, axis=1)
    return Names((*first.vocabulary, *second.vocabulary), parts.astype(np.int32))


def _distinct(positions: Any) -> tuple[Indices, Indices]:
    if not len(positions):
        return np.empty(0, np.intp), np.empty(0, np.intp)
    low = int(positions.min())
    present = np.bincount(positions - low) > 0
    number = np.cumsum(present) - 1
    return np.flatnonzero(present) + low, number[positions - low]


def _sums(values: Vector, starts: Indices) -> Vector:
    """Sum of each context's values; a context without any sums to 0."""
    filled = np.flatnonzero(np.diff(starts))
    sums = np.zeros(len(starts) - 1)
    if len(filled):
        sums[filled] = np.add.reduceat(values, starts[filled])
    return sums


def _squared_lengths(batch: Contexts, transformation: PositionTransformation) -> Vector:
    """``Σ_ij [same word] P̂(p_i, p_j)`` without building features: words repeat rarely."""
    distinct, at = _distinct(batch.positions)
    R = transformation.factor(distinct).values
    P = (R @ R.T).toarray() if len(distinct) else np.zeros((0, 0))
    row = np.repeat(np.arange(len(batch), dtype=np.int64), np.diff(batch.starts))
    key = row * max(len(batch.vocabulary), 1) + batch.words
    order = np.argsort(key)
    key, row, at = key[order], row[order], at[order]

    total = np.bincount(row, np.diag(P)[at], minlength=len(batch)).astype(np.float64)
    first, step = np.arange(len(key)), 1
    while len(first):
        first = first[first + step < len(key)]
        first = first[key[first] == key[first + step]]
        pairs = 2 * P[at[first], at[first + step]]
        total += np.bincount(row[first], pairs, minlength=len(batch))
        step += 1
    return total
