"""WeighedPlaces: contexts scored by weights of their words, without making features of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from textrank.types import (
    Codes,
    Contexts,
    Features,
    Indices,
    Matrix,
    Met,
    Names,
    PositionTransformation,
    Vector,
    Weighed,
    Weights,
    shared,
)
from textrank.types.ragged import numbered, spread, summed


@dataclass(frozen=True, eq=False)
class WeighedPlaces:
    """The features of ``Positional`` without similar words, weighed as they are counted.

    The features of a word in a context are the sum of R over its positions, one number a component:
    these are multiplied with the weights of the word for what the context is asked, and squared.
    """

    words: Mapping[str, int]
    questions: int
    codes: Codes  # of words with questions
    table: Matrix  # (codes + 1, r) the weights of each; nought of what is not known
    columns: Indices  # (codes + 1, r) where they stand in the model; or -1
    factor: Callable[[int], Matrix]  # R of positions up to a distance to both sides

    @classmethod
    def of(cls, positions: PositionTransformation, weights: Weights) -> WeighedPlaces:
        """From weights of features named by a word and a component of positions."""
        names = weights.names
        words = {word: number for number, word in enumerate(names.vocabulary)}
        components, component = names.rest().distinct()
        pairs = names.parts[:, 0] * np.intp(weights.questions) + weights.asked
        codes, row = numbered(pairs)
        table = np.zeros((len(codes) + 1, len(components)))
        table[row, component] = weights.coef
        columns = np.full(table.shape, -1)
        columns[row, component] = weights.columns
        known = Codes(codes.astype(np.uint64))

        @lru_cache(maxsize=4)
        def factor(far: int) -> Matrix:
            return _in_order(positions.factor(np.arange(-far, far + 1)), components)

        return cls(words, weights.questions, known, table, columns, factor)

    def __call__(self, X: Sequence[Any], asked: Indices) -> Weighed:
        each, at = shared(X)
        batch = each if isinstance(each, Contexts) else Contexts.below(list(each))
        context, word, sums = self._sums(batch)
        squares = summed(np.einsum("ij,ij->i", sums, sums), context, len(batch))
        known = np.flatnonzero(word >= 0)
        if at is None:
            return self._weighed(context[known], word[known], sums[known], asked, squares)
        begins = np.searchsorted(context[known], np.arange(len(batch) + 1))
        row, cells = spread(begins[at], np.diff(begins)[at])
        known = known[cells]
        return self._weighed(row, word[known], sums[known], asked, squares[at])

    def _sums(self, batch: Contexts) -> tuple[Indices, Indices, Matrix]:
        """Contexts with each of their words, in order; its number, or -1; R summed over it."""
        far = 1 << int(np.abs(batch.positions).max(initial=0)).bit_length()
        at = batch.positions + far
        context = np.repeat(np.arange(len(batch)), np.diff(batch.starts))
        size = max(len(batch.vocabulary), 1)
        cells, cell = numbered(context * size + batch.words)
        R = self._occurring(self.factor(far), at)
        sums = [summed(column[at], cell, len(cells)) for column in R.T]
        number = np.array([self.words.get(w, -1) for w in batch.vocabulary] or [-1], dtype=np.intp)
        return cells // size, number[cells % size], np.stack(sums, axis=1)

    def _occurring(self, R: Matrix, at: NDArray[np.int32]) -> Matrix:
        """R without components that the model does not know and no position has."""
        known = self.table.shape[1]
        if R.shape[1] == known:
            return R
        other = R[:, known:]
        some = other[np.bincount(at, minlength=len(R)) > 0].any(axis=0)
        return np.hstack([R[:, :known], other[:, some]])

    def _weighed(
        self, row: Indices, word: Indices, sums: Matrix, asked: Indices, squares: Vector
    ) -> Weighed:
        """By the sums of known words; rows may ask what is not known."""
        own = asked[row]
        code = np.where(own < 0, -1, word * self.questions + own)
        place = self.codes.find(code.astype(np.uint64))
        sums = sums[:, : self.table.shape[1]]
        added = np.einsum("ij,ij->i", sums, self.table[place])

        def met() -> Met:
            columns = self.columns[place]
            some = (columns >= 0) & (sums != 0)
            return Met(row[some.nonzero()[0]], columns[some], sums[some])

        return Weighed(summed(added, row, len(asked)), squares, met)


def _in_order(R: Features, components: Names) -> Matrix:
    """R with known components first, as they come, and others after them."""
    order = R.names.find(components)
    values = R.values.toarray()
    known = np.where(order >= 0, values[:, order], 0.0)
    return np.asfortranarray(np.hstack([known, np.delete(values, order[order >= 0], axis=1)]))
