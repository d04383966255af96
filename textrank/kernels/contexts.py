"""Positional: similarity of contexts by their words and where these stand."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from textrank._ragged import expand, factorize, sum_by_owner
from textrank.features import (
    FeatureNames,
    Features,
    HashIndex,
    Indices,
    Matrix,
    SparseMatrix,
    Vector,
)
from textrank.graphs import Contexts, PositionTransformation, WordTransformation
from textrank.linalg import gram_of_features, squared_norms
from textrank.linear_scores import (
    Contributions,
    FeatureWeights,
    LinearScores,
    Scorer,
    compile_feature_scorer,
    split_shared,
)

MAX_CHUNK_WORDS = 1 << 20  # words expanded to features at once
MAX_TABLE_COMPONENTS = 64  # components of positions that are too many for a table of weights


@dataclass(frozen=True)
class Positional:
    """Similarity of two word-position matrices: ``k(X, Z) = tr(P̂ X' Ŵ Z)``.

    ``P̂`` says which positions resemble each other and ``Ŵ`` which words do (equal ones, where
    ``words`` is not given). Linear after ``X -> B' X R``, with ``P̂ = R R'`` and ``Ŵ = B B'``, so a
    feature is a (word component, position component); building them costs one step for each word
    and component it touches. A fitted model is a table with a weight for each word and position:
    see ``table``.

    >>> from textrank.representations.transformations import Weighting
    >>> X = Contexts.from_lists([[("binds", -1), ("to", 1)], [("to", 2)]])
    >>> Positional(Weighting(decay=1.0, base=0.0))(X)
    array([[2.  , 0.5 ],
           [0.5 , 0.25]])
    """

    positions: PositionTransformation
    words: WordTransformation | None = None

    def __call__(self, X: Sequence[Contexts], Y: Sequence[Contexts] | None = None) -> Matrix:
        return gram_of_features(self.features, X, Y)

    def diag(self, X: Sequence[Contexts]) -> Vector:
        """The similarity of each input with itself, ``(x,)``."""
        batch = as_contexts(X)
        if self.words is not None:
            return squared_norms(self.features(batch).values)
        return _squared_lengths(batch, self.positions)

    def features(self, X: Sequence[Contexts]) -> Features:
        """A column for each word component at each position component that occurs."""
        batch = as_contexts(X)
        distinct, at = _distinct(batch.positions)
        R = self.positions.factor(distinct)
        B = None if self.words is None else self.words.factor(batch.vocabulary)
        words = FeatureNames.from_iterable(batch.vocabulary) if B is None else B.names
        parts = [
            _products(batch[part], R.values, at[slice(*batch.starts[[part.start, part.stop]])], B)
            for part in _chunks(batch.starts)
        ]
        shape = (0, len(R.names) * len(words))
        values = sp.csr_array(sp.vstack(parts) if parts else sp.csr_array(shape))
        used = np.flatnonzero(np.bincount(values.indices, minlength=shape[1]))
        columns = np.column_stack([used % max(len(words), 1), used // max(len(words), 1)])
        return Features(_columns(values, used), _paired(words, R.names, columns))

    def compile_scorer(self, weights: FeatureWeights) -> Scorer:
        """What the features come to; by the words themselves where only equal ones are alike."""
        components, _ = weights.names.drop_first_word().unique()
        if self.words is not None or len(components) > MAX_TABLE_COMPONENTS:
            return compile_feature_scorer(self, weights)
        return ContextScorer.from_weights(self.positions, weights)

    def table(
        self, coef: Vector, names: FeatureNames, *, vocabulary: Sequence[str], span: int
    ) -> ContextTable:
        """A linear model on these features as a weight for each word and position.

        ``coef`` are the weights of the features ``names``; positions reach ``span`` to both sides.
        """
        places = np.arange(-span, span + 1)
        R = self.positions.factor(places)
        B = None if self.words is None else self.words.factor(vocabulary)
        word_names = FeatureNames.from_iterable(vocabulary) if B is None else B.names
        grid = np.indices((len(word_names), len(R.names))).reshape(2, -1).T
        at = names.find(_paired(word_names, R.names, grid))
        weights = np.append(coef, 0.0)[at].reshape(len(word_names), len(R.names))
        table = np.asarray((R.values @ weights.T).T)
        table = table if B is None else np.asarray(B.values @ table)
        return ContextTable.from_weights(vocabulary, table)


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
    def from_weights(cls, vocabulary: Sequence[str], weights: Matrix) -> ContextTable:
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


def as_contexts(X: Sequence[Contexts]) -> Contexts:
    """X as one batch."""
    return X if isinstance(X, Contexts) else Contexts.concat(list(X))


def _chunks(starts: Indices) -> list[slice]:
    """Slices of contexts that together hold about CHUNK words each."""
    targets = np.arange(0, starts[-1] + 1, MAX_CHUNK_WORDS)[1:]
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


def _paired(first: FeatureNames, second: FeatureNames, columns: Any) -> FeatureNames:
    """Names of pairs, the one's words before the other's."""
    offset = len(first.vocabulary)
    right = second.parts[columns[:, 1]]
    parts = np.hstack([first.parts[columns[:, 0]], np.where(right >= 0, right + offset, -1)])
    # Padding moves to the end, so that equal names have equal parts.
    order = np.argsort(parts < 0, axis=1, kind="stable") if (parts < 0).any() else None
    parts = parts if order is None else np.take_along_axis(parts, order, axis=1)
    return FeatureNames((*first.vocabulary, *second.vocabulary), parts.astype(np.int32))


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


@dataclass(frozen=True, eq=False)
class ContextScorer:
    """The features of ``Positional`` without similar words, weighed as they are counted.

    The features of a word in a context are the sum of R over its positions, one number a component:
    these are multiplied with the weights of the word for what the context is asked, and squared.
    """

    words: Mapping[str, int]
    questions: int
    codes: HashIndex  # of words with questions
    table: Matrix  # (codes + 1, r) the weights of each; nought of what is not known
    columns: Indices  # (codes + 1, r) where they stand in the model; or -1
    factor: Callable[[int], Matrix]  # R of positions up to a distance to both sides

    @classmethod
    def from_weights(
        cls, positions: PositionTransformation, weights: FeatureWeights
    ) -> ContextScorer:
        """From weights of features named by a word and a component of positions."""
        names = weights.names
        words = {word: number for number, word in enumerate(names.vocabulary)}
        components, component = names.drop_first_word().unique()
        pairs = names.parts[:, 0] * np.intp(weights.num_questions) + weights.question_ids
        codes, row = factorize(pairs)
        table = np.zeros((len(codes) + 1, len(components)))
        table[row, component] = weights.coef
        columns = np.full(table.shape, -1)
        columns[row, component] = weights.columns
        known = HashIndex(codes.astype(np.uint64))

        @lru_cache(maxsize=4)
        def factor(far: int) -> Matrix:
            return _in_order(positions.factor(np.arange(-far, far + 1)), components)

        return cls(words, weights.num_questions, known, table, columns, factor)

    def __call__(self, X: Sequence[Any], asked: Indices) -> LinearScores:
        each, at = split_shared(X)
        batch = each if isinstance(each, Contexts) else Contexts.concat(list(each))
        context, word, sums = self._sums(batch)
        squares = sum_by_owner(np.einsum("ij,ij->i", sums, sums), context, len(batch))
        known = np.flatnonzero(word >= 0)
        if at is None:
            return self._weighed(context[known], word[known], sums[known], asked, squares)
        begins = np.searchsorted(context[known], np.arange(len(batch) + 1))
        row, cells = expand(begins[at], np.diff(begins)[at])
        known = known[cells]
        return self._weighed(row, word[known], sums[known], asked, squares[at])

    def _sums(self, batch: Contexts) -> tuple[Indices, Indices, Matrix]:
        """Contexts with each of their words, in order; its number, or -1; R summed over it."""
        far = 1 << int(np.abs(batch.positions).max(initial=0)).bit_length()
        at = batch.positions + far
        context = np.repeat(np.arange(len(batch)), np.diff(batch.starts))
        size = max(len(batch.vocabulary), 1)
        cells, cell = factorize(context * size + batch.words)
        R = self._occurring(self.factor(far), at)
        sums = [sum_by_owner(column[at], cell, len(cells)) for column in R.T]
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
    ) -> LinearScores:
        """By the sums of known words; rows may ask what is not known."""
        own = asked[row]
        code = np.where(own < 0, -1, word * self.questions + own)
        place = self.codes.find(code.astype(np.uint64))
        sums = sums[:, : self.table.shape[1]]
        added = np.einsum("ij,ij->i", sums, self.table[place])

        def met() -> Contributions:
            columns = self.columns[place]
            some = (columns >= 0) & (sums != 0)
            return Contributions(row[some.nonzero()[0]], columns[some], sums[some])

        return LinearScores(sum_by_owner(added, row, len(asked)), squares, met)


def _in_order(R: Features, components: FeatureNames) -> Matrix:
    """R with known components first, as they come, and others after them."""
    order = R.names.find(components)
    values = R.values.toarray()
    known = np.where(order >= 0, values[:, order], 0.0)
    return np.asfortranarray(np.hstack([known, np.delete(values, order[order >= 0], axis=1)]))
