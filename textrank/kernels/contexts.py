"""Kernel on contexts, that is on word-position matrices, and fast scorers for its linear models.

``Positional`` compares words and their positions around a target. ``ContextTable`` and
``ContextScorer`` apply a trained linear model to contexts without building features.

A context is a list of (word, position) pairs, where a position counts words from the target and is
negative before it. ``n`` are contexts, ``r`` components of the position transformation, the columns
of R.
"""

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
from textrank.graphs import (
    Contexts,
    PositionTransformation,
    WordTransformation,
    learn_transformation,
    needs_learning,
)
from textrank.linalg import gram_of_features, squared_norms
from textrank.linear_scores import (
    Contributions,
    FeatureWeights,
    LinearScores,
    Scorer,
    compile_feature_scorer,
    split_shared,
)

MAX_CHUNK_WORDS = 1 << 20  # words whose features are built at once
MAX_TABLE_COMPONENTS = 64  # position components up to which ContextScorer is used


@dataclass(frozen=True)
class Positional:
    """Similarity of two word-position matrices: ``k(X, Z) = tr(P̂ X' Ŵ Z)``.

    ``P̂`` says which positions resemble each other and ``Ŵ`` which words do (only equal ones if
    ``words`` is None). Linear after ``X -> B' X R`` with ``P̂ = R R'`` and ``Ŵ = B B'``, so a
    feature is a (word component, position component). Building the features costs one step for each
    word and component it touches. ``table`` turns a fitted model into one weight per word and
    position.

    >>> from textrank.representations.transformations import Weighting
    >>> X = Contexts.from_lists([[("binds", -1), ("to", 1)], [("to", 2)]])
    >>> Positional(Weighting(decay=1.0, base=0.0))(X)
    array([[2.  , 0.5 ],
           [0.5 , 0.25]])
    """

    positions: PositionTransformation
    words: WordTransformation | None = None

    def __call__(self, X: Sequence[Contexts], Y: Sequence[Contexts] | None = None) -> Matrix:
        """Return the Gram matrix (x, y) by explicit features; of X with itself if Y is None.

        A value sums, over pairs of words of the two contexts, similarity of words (equal or not if
        ``words`` is None) times similarity of positions. It is not normalised.
        """
        return gram_of_features(self.features, X, Y)

    def diag(self, X: Sequence[Contexts]) -> Vector:
        """Return the similarity of each context with itself, (x,); 0 for one without words."""
        batch = as_contexts(X)
        if self.words is not None:
            return squared_norms(self.features(batch).values)
        return _squared_norms(batch, self.positions)

    def features(self, X: Sequence[Contexts]) -> Features:
        """Return a column per pair of word component and position component that occurs in X.

        One row per context; a context without words has an empty row. Names are the word (or its
        component), then the position component. If ``words`` is None each word is its own
        component.
        """
        batch = as_contexts(X)
        distinct, position_index = _unique_positions(batch.positions)
        R = self.positions.factor(distinct)
        B = None if self.words is None else self.words.factor(batch.vocabulary)
        words = FeatureNames.from_iterable(batch.vocabulary) if B is None else B.names
        parts = [
            _transform_contexts(
                batch[part],
                R.values,
                position_index[slice(*batch.starts[[part.start, part.stop]])],
                B,
            )
            for part in _context_slices(batch.starts)
        ]
        shape = (0, len(R.names) * len(words))
        values = sp.csr_array(sp.vstack(parts) if parts else sp.csr_array(shape))
        used = np.flatnonzero(np.bincount(values.indices, minlength=shape[1]))
        columns = np.column_stack([used % max(len(words), 1), used // max(len(words), 1)])
        return Features(_keep_columns(values, used), _pair_names(words, R.names, columns))

    @property
    def learns(self) -> bool:
        """Whether a transformation has to be learnt from training contexts."""
        return needs_learning(self.positions) or needs_learning(self.words)

    def learn(self, X: Sequence[Contexts]) -> Positional:
        """Return a kernel with transformations learnt from these contexts; no label is used.

        This kernel is not changed; transformations that need no learning are kept.
        """
        batch = as_contexts(X)
        return Positional(
            learn_transformation(self.positions, batch), learn_transformation(self.words, batch)
        )

    def compile_scorer(self, weights: FeatureWeights) -> Scorer:
        """Return ``score(X, question_ids)``, which applies the weights to contexts.

        Uses ``ContextScorer`` if only equal words are similar and there are at most
        ``MAX_TABLE_COMPONENTS`` position components, else the features.
        """
        components, _ = weights.names.drop_first_word().unique()
        if self.words is not None or len(components) > MAX_TABLE_COMPONENTS:
            return compile_feature_scorer(self, weights)
        return ContextScorer.from_weights(self.positions, weights)

    def table(
        self, coef: Vector, names: FeatureNames, *, vocabulary: Sequence[str], span: int
    ) -> ContextTable:
        """Return a linear model on these features as one weight per word and position.

        Parameters
        ----------
        coef
            Weights of the features ``names``, (d,).
        names
            Names of the model's features, as from ``features``; features that it lacks weigh 0.
        vocabulary
            Words of the table; other words score 0.
        span
            The table covers the positions ``-span ... span``.
        """
        offsets = np.arange(-span, span + 1)
        R = self.positions.factor(offsets)
        B = None if self.words is None else self.words.factor(vocabulary)
        word_names = FeatureNames.from_iterable(vocabulary) if B is None else B.names
        grid = np.indices((len(word_names), len(R.names))).reshape(2, -1).T
        columns = names.find(_pair_names(word_names, R.names, grid))
        weights = np.append(coef, 0.0)[columns].reshape(len(word_names), len(R.names))
        table = np.asarray((R.values @ weights.T).T)
        table = table if B is None else np.asarray(B.values @ table)
        return ContextTable.from_weights(vocabulary, table)


@dataclass(frozen=True, eq=False)
class ContextTable:
    """Linear model on contexts as one weight per word and position.

    Scoring costs one lookup per word of a context, whatever the model was trained on. Contexts
    whose ``vocabulary`` is the table's own tuple need no lookup of words by text.
    """

    vocabulary: tuple[str, ...]
    index: Mapping[str, int]
    weights: Matrix  # (words + 1, 2 span + 1), position 0 in the middle; unknown words at the end

    @classmethod
    def from_weights(cls, vocabulary: Sequence[str], weights: Matrix) -> ContextTable:
        """Build a table from weights of shape (words, 2 span + 1), position 0 in the middle.

        Row i belongs to ``vocabulary[i]``; words must be distinct. A row of zeros is appended for
        unknown words. The weights are copied.
        """
        index = {word: i for i, word in enumerate(vocabulary)}
        return cls(tuple(vocabulary), index, np.vstack([weights, np.zeros((1, weights.shape[1]))]))

    @property
    def span(self) -> int:
        """Largest distance from the target that the table covers."""
        return self.weights.shape[1] // 2

    def scores(self, X: Contexts) -> Vector:
        """Return the sum of the weights of all words at their positions, one per context, (n,).

        Unknown words weigh 0; a context without words scores 0. Raises ValueError if a position
        lies outside the table.
        """
        words = X.words if X.vocabulary is self.vocabulary else self._word_rows(X)[X.words]
        farthest = int(np.abs(X.positions).max(initial=0))
        if farthest > self.span:
            raise ValueError(
                f"a word is {farthest} words from its target but the table covers {self.span}. "
                "Build it with a larger span."
            )
        cells = words * np.intp(self.weights.shape[1]) + (X.positions + self.span)
        return _sum_contexts(self.weights.ravel()[cells], X.starts)

    def _word_rows(self, X: Contexts) -> Indices:
        """Return the table row of each word of X's vocabulary; the last row if it is unknown."""
        unknown = len(self.index)
        return np.array([self.index.get(word, unknown) for word in X.vocabulary], dtype=np.intp)


def as_contexts(X: Sequence[Contexts]) -> Contexts:
    """Return X, a batch or a sequence of batches, as one batch of contexts, in order.

    A batch is returned as it is.
    """
    return X if isinstance(X, Contexts) else Contexts.concat(list(X))


def _context_slices(starts: Indices) -> list[slice]:
    """Return slices of contexts, in order, with about ``MAX_CHUNK_WORDS`` words each.

    ``starts`` (n + 1,) are the offsets of the contexts. A context is never divided, so a slice may
    have more words. Without contexts there is no slice.
    """
    targets = np.arange(0, starts[-1] + 1, MAX_CHUNK_WORDS)[1:]
    cuts = np.unique([0, *np.searchsorted(starts, targets), len(starts) - 1])
    return [slice(int(a), int(b)) for a, b in pairwise(cuts)]


def _transform_contexts(
    batch: Contexts, R: SparseMatrix, position_index: Indices, B: Features | None
) -> SparseMatrix:
    """Return ``B' X R`` of each context as a sparse row, in column ``component * words + word``.

    ``R`` has a row per distinct position, ``position_index`` the row of each word's position. ``B``
    has a row per word of the vocabulary; it is None if only equal words are similar. Zeros are not
    stored.
    """
    n, r = len(batch), R.shape[1]
    repeats = np.diff(R.indptr)[position_index]
    token = np.repeat(np.arange(len(position_index)), repeats)
    entry = np.arange(len(token)) + np.repeat(
        R.indptr[position_index] - np.cumsum(repeats) + repeats, repeats
    )
    context = np.repeat(np.arange(n), np.diff(batch.starts))
    rows = context[token] * r + R.indices[entry]

    shape = (n * r, len(batch.vocabulary))
    X = sp.csr_array((R.data[entry], (rows, batch.words[token])), shape=shape)
    X = (X if B is None else X @ B.values).tocoo()
    cells = (X.data, (X.row // r, (X.row % r) * X.shape[1] + X.col))
    values = sp.csr_array(cells, shape=(n, r * X.shape[1]))
    values.eliminate_zeros()
    return values


def _keep_columns(values: SparseMatrix, used: Indices) -> SparseMatrix:
    """Return only the columns ``used``, which must hold all entries, renumbered in order.

    ``used`` is ascending; an entry in another column would silently move to column 0.
    """
    number = np.zeros(values.shape[1], dtype=np.int32)
    number[used] = np.arange(len(used))
    parts = (values.data, number[values.indices], values.indptr)
    return sp.csr_array(parts, shape=(values.shape[0], len(used)))


def _pair_names(first: FeatureNames, second: FeatureNames, columns: Any) -> FeatureNames:
    """Return the names of pairs: the words of a name of ``first``, then those of one of ``second``.

    ``columns`` (n, 2) holds the indices of both names of each pair.
    """
    offset = len(first.vocabulary)
    right = second.parts[columns[:, 1]]
    parts = np.hstack([first.parts[columns[:, 0]], np.where(right >= 0, right + offset, -1)])
    # Padding moves to the end, so that equal names have equal parts.
    order = np.argsort(parts < 0, axis=1, kind="stable") if (parts < 0).any() else None
    parts = parts if order is None else np.take_along_axis(parts, order, axis=1)
    return FeatureNames((*first.vocabulary, *second.vocabulary), parts.astype(np.int32))


def _unique_positions(positions: Any) -> tuple[Indices, Indices]:
    """Return the sorted distinct positions and the index of each position among them.

    ``positions`` are integers, also negative ones; memory grows with their range. Both results are
    empty for no positions.
    """
    if not len(positions):
        return np.empty(0, np.intp), np.empty(0, np.intp)
    low = int(positions.min())
    present = np.bincount(positions - low) > 0
    number = np.cumsum(present) - 1
    return np.flatnonzero(present) + low, number[positions - low]


def _sum_contexts(values: Vector, starts: Indices) -> Vector:
    """Return the sum of the values of each context, (n,); 0 for a context without words.

    ``values`` has one number per word, ``starts`` (n + 1,) the offsets of the contexts.
    """
    filled = np.flatnonzero(np.diff(starts))
    sums = np.zeros(len(starts) - 1)
    if len(filled):
        sums[filled] = np.add.reduceat(values, starts[filled])
    return sums


def _squared_norms(batch: Contexts, transformation: PositionTransformation) -> Vector:
    """Return ``Σ_ij [same word] P̂(p_i, p_j)`` of each context, (n,), without building features.

    ``P̂`` is the transformation's inner product of two positions. Fast because words rarely repeat
    within a context.
    """
    distinct, position_index = _unique_positions(batch.positions)
    R = transformation.factor(distinct).values
    P = (R @ R.T).toarray() if len(distinct) else np.zeros((0, 0))
    row = np.repeat(np.arange(len(batch), dtype=np.int64), np.diff(batch.starts))
    key = row * max(len(batch.vocabulary), 1) + batch.words
    order = np.argsort(key)
    key, row, position_index = key[order], row[order], position_index[order]

    total = np.bincount(row, np.diag(P)[position_index], minlength=len(batch)).astype(np.float64)
    first, step = np.arange(len(key)), 1
    while len(first):
        first = first[first + step < len(key)]
        first = first[key[first] == key[first + step]]
        pairs = 2 * P[position_index[first], position_index[first + step]]
        total += np.bincount(row[first], pairs, minlength=len(batch))
        step += 1
    return total


@dataclass(frozen=True, eq=False)
class ContextScorer:
    """Scorer of the features of ``Positional`` with equal words, applied while they are counted.

    The features of a word in a context are the sum of R over its positions, one number per
    component. They are multiplied with the weights of the word for the context's question. Calling
    the scorer with contexts (or ``SharedRows`` of contexts) and question ids returns
    ``LinearScores``.
    """

    words: Mapping[str, int]
    questions: int
    codes: HashIndex  # of word * questions + question
    table: Matrix  # (codes + 1, r) weights by component; zeros in the last row
    columns: Indices  # (codes + 1, r) column of each weight in the model, or -1
    factor: Callable[[int], Matrix]  # R of the positions -distance ... distance

    @classmethod
    def from_weights(
        cls, positions: PositionTransformation, weights: FeatureWeights
    ) -> ContextScorer:
        """Build the scorer from weights of features named by a word and a position component.

        ``positions`` is the transformation of the ``Positional`` kernel that made the features.
        Weights become a table with one row per word and question, and a last row of 0 for all
        others.
        """
        names = weights.names
        words = {word: number for number, word in enumerate(names.vocabulary)}
        components, component = names.drop_first_word().unique()
        pairs = names.parts[:, 0] * np.intp(weights.num_questions) + weights.question_ids
        codes, row = factorize(pairs)
        table = np.zeros((len(codes) + 1, len(components)))
        table[row, component] = weights.coef
        columns = np.full(table.shape, -1)
        columns[row, component] = weights.columns
        hash_index = HashIndex(codes.astype(np.uint64))

        @lru_cache(maxsize=4)
        def factor(distance: int) -> Matrix:
            """Return R of the positions ``-distance ... distance``, model components first.

            One row per position; the last four results are cached.
            """
            return _align_components(
                positions.factor(np.arange(-distance, distance + 1)), components
            )

        return cls(words, weights.num_questions, hash_index, table, columns, factor)

    def __call__(self, X: Sequence[Any], question_ids: Indices) -> LinearScores:
        """Return the ``LinearScores`` of contexts, each by the weights of its question.

        ``question_ids`` has one number per candidate, that is per context or row of ``SharedRows``;
        -1 is an unknown question, which scores 0. Unknown words score 0, but count in ``squares``.
        """
        distinct, row_index = split_shared(X)
        batch = distinct if isinstance(distinct, Contexts) else Contexts.concat(list(distinct))
        context, word, sums = self._component_sums(batch)
        squares = sum_by_owner(np.einsum("ij,ij->i", sums, sums), context, len(batch))
        in_model = np.flatnonzero(word >= 0)
        if row_index is None:
            return self._score_words(
                context[in_model], word[in_model], sums[in_model], question_ids, squares
            )
        context_starts = np.searchsorted(context[in_model], np.arange(len(batch) + 1))
        row, cells = expand(context_starts[row_index], np.diff(context_starts)[row_index])
        in_model = in_model[cells]
        return self._score_words(
            row, word[in_model], sums[in_model], question_ids, squares[row_index]
        )

    def _component_sums(self, batch: Contexts) -> tuple[Indices, Indices, Matrix]:
        """Sum R over the positions of each distinct word of each context.

        Returns the context of each (context, word) pair in ascending order, the number of the word
        in the model or -1, and the sums (pairs, r).
        """
        distance = 1 << int(np.abs(batch.positions).max(initial=0)).bit_length()
        shifted = batch.positions + distance
        context = np.repeat(np.arange(len(batch)), np.diff(batch.starts))
        size = max(len(batch.vocabulary), 1)
        cells, cell = factorize(context * size + batch.words)
        R = self._drop_unused(self.factor(distance), shifted)
        sums = [sum_by_owner(column[shifted], cell, len(cells)) for column in R.T]
        number = np.array([self.words.get(w, -1) for w in batch.vocabulary] or [-1], dtype=np.intp)
        return cells // size, number[cells % size], np.stack(sums, axis=1)

    def _drop_unused(self, R: Matrix, rows: NDArray[np.int32]) -> Matrix:
        """Return R without the components that are not in the model and that no position has.

        ``rows`` are the rows of R that occur, one per word. The model's components come first and
        are all kept; the others still count in the length of the features.
        """
        model_columns = self.table.shape[1]
        if R.shape[1] == model_columns:
            return R
        extra = R[:, model_columns:]
        occurs = extra[np.bincount(rows, minlength=len(R)) > 0].any(axis=0)
        return np.hstack([R[:, :model_columns], extra[:, occurs]])

    def _score_words(
        self, row: Indices, word: Indices, sums: Matrix, question_ids: Indices, squares: Vector
    ) -> LinearScores:
        """Score contexts by the sums of the words that the model knows.

        ``row``, ``word`` and ``sums`` are aligned: the context of a word, its number in the model
        and its component sums. ``question_ids`` and ``squares``, the squared length of the
        features, have one entry per context; ``squares`` is passed on. A question id of -1 is
        unknown and has no weights.
        """
        question = question_ids[row]
        codes = np.where(question < 0, -1, word * self.questions + question)
        weight_index = self.codes.find(codes.astype(np.uint64))
        sums = sums[:, : self.table.shape[1]]
        added = np.einsum("ij,ij->i", sums, self.table[weight_index])

        def contributions() -> Contributions:
            """Return rows, columns and values of the nonzero features with a weight."""
            columns = self.columns[weight_index]
            has_weight = (columns >= 0) & (sums != 0)
            return Contributions(
                row[has_weight.nonzero()[0]], columns[has_weight], sums[has_weight]
            )

        return LinearScores(sum_by_owner(added, row, len(question_ids)), squares, contributions)


def _align_components(R: Features, components: FeatureNames) -> Matrix:
    """Return R as a dense matrix with the columns ``components`` first, in order, then all others.

    A component that R lacks becomes a column of zeros.
    """
    order = R.names.find(components)
    values = R.values.toarray()
    aligned = np.where(order >= 0, values[:, order], 0.0)
    return np.asfortranarray(np.hstack([aligned, np.delete(values, order[order >= 0], axis=1)]))
