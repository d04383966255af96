"""A linear model laid out for scoring: weights by feature and question, found without sorting."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property
from typing import Any, NamedTuple, TypeAlias, TypeVar

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from textrank._ragged import offsets, sum_by_owner
from textrank.features import (
    UNKNOWN_WORD,
    FeatureNames,
    Features,
    HashIndex,
    Indices,
    RawCSR,
    SharedRows,
    Vector,
)
from textrank.protocols import FeatureKernel, Kernel, ScorerKernel

T_contra = TypeVar("T_contra", contravariant=True)


class Contributions(NamedTuple):
    """Features of candidates that have a weight, in any order; a candidate has a weight once."""

    rows: Indices  # candidates
    columns: Indices  # which of the model's weights
    values: Vector  # of the features

    @classmethod
    def concat(cls, parts: Sequence[Contributions]) -> Contributions:
        """Those of several kernels, each with weights of its own."""
        return cls(*map(np.concatenate, zip(*parts, strict=True)))

    def scale(self, factor: float | Vector) -> Contributions:
        """Every feature times a number, or those of each candidate times its own."""
        each = factor[self.rows] if isinstance(factor, np.ndarray) else factor
        return self._replace(values=self.values * each)

    def shift_rows(self, first: int) -> Contributions:
        """The same of candidates that stand behind others."""
        return self._replace(rows=self.rows + first)

    def features(self, size: int, names: FeatureNames) -> Features:
        """As those of so many candidates in the columns of the model."""
        order = np.lexsort((self.columns, self.rows))
        ends = offsets(np.bincount(self.rows, minlength=size)).astype(np.int32)
        columns = self.columns[order].astype(np.int32)
        return Features(RawCSR(self.values[order], columns, ends, (size, len(names))), names)


@dataclass(frozen=True, eq=False)
class LinearScores:
    """What the features ``f`` of each candidate come to by the weights of its question."""

    products: Vector  # (n,) f'w
    squares: Vector  # (n,) f'f
    contributions: Callable[
        [], Contributions
    ]  # those of f that have a w; found only where somebody asks why

    def scale(self, factor: float | Vector) -> LinearScores:
        """What features come to that are times a number, or for each candidate its own."""
        products, squares = factor * self.products, factor**2 * self.squares
        return LinearScores(products, squares, lambda: self.contributions().scale(factor))


Scorer: TypeAlias = Callable[
    [Sequence[Any], Indices], LinearScores
]  # representations, and what they ask


@dataclass(frozen=True, eq=False)
class FeatureWeights:
    """A weight for each feature and question; the weights of one question are a linear model."""

    names: FeatureNames  # (d,) of features
    question_ids: Indices  # (d,) numbers of questions
    coef: Vector  # (d,)
    columns: Indices  # (d,) where they stand in the model that they are part of

    @classmethod
    def from_coef(cls, names: FeatureNames, coef: Vector) -> FeatureWeights:
        """The weights of a model that has one question only."""
        asked = np.zeros(len(names), dtype=np.intp)
        return cls(names.dedup_vocabulary(), asked, coef, np.arange(len(names)))

    @property
    def num_questions(self) -> int:
        """How many there are."""
        return int(self.question_ids.max(initial=0)) + 1

    def select_prefix(self, word: str) -> FeatureWeights:
        """Those of the features whose names begin with a word, called by the rest of them."""
        known = self.names.vocabulary
        number = known.index(word) if word in known else UNKNOWN_WORD
        rows = np.flatnonzero(self.names.parts[:, 0] == number)
        names = self.names.take(rows).drop_first_word()
        return FeatureWeights(names, self.question_ids[rows], self.coef[rows], self.columns[rows])

    def relabel(self, names: FeatureNames, asked: Indices) -> FeatureWeights:
        """The same weights of features and questions that are called otherwise."""
        return replace(self, names=names, question_ids=asked)

    def find(self, features: Indices, asked: Indices) -> Indices:
        """Where the weight of each feature for a question is; or -1.

        Features are given by their places among distinct names; -1 is an unknown one, as that of a
        question is.
        """
        code = np.where((features < 0) | (asked < 0), -1, features * self.num_questions + asked)
        return self._codes.find(code.astype(np.uint64))

    def score(self, F: Features, asked: Indices, at: Indices | None = None) -> LinearScores:
        """Rows of features, or with ``at`` those of candidates which share rows.

        Columns of equal names may stand apart, as long as no row has both.
        """
        n, values = len(asked), F.values if at is None else F.values[at]
        sizes = np.diff(values.indptr)
        rows = np.repeat(np.arange(n), sizes)
        features = self._distinct[0].find(F.names)[values.indices]
        place = self.find(features, np.repeat(asked, sizes))
        products = sum_by_owner(values.data * self._padded[place], rows, n)

        def met() -> Contributions:
            known = np.flatnonzero(place >= 0)
            return Contributions(rows[known], self.columns[place[known]], values.data[known])

        return LinearScores(products, sum_by_owner(values.data**2, rows, n), met)

    @cached_property
    def _distinct(self) -> tuple[FeatureNames, Indices]:
        return self.names.unique()

    @cached_property
    def _codes(self) -> HashIndex:
        return HashIndex(
            (self._distinct[1] * self.num_questions + self.question_ids).astype(np.uint64)
        )

    @cached_property
    def _padded(self) -> Vector:
        return np.append(self.coef, 0.0)


def compile_scorer(kernel: Kernel[Any], weights: FeatureWeights) -> Scorer:
    """What scores candidates by weights of the kernel's features; they must be explicit."""
    if isinstance(kernel, ScorerKernel):
        return kernel.compile_scorer(weights)
    if not isinstance(kernel, FeatureKernel):
        raise TypeError(f"{type(kernel).__name__} has no explicit features that could be weighed.")
    return compile_feature_scorer(kernel, weights)


def compile_feature_scorer(kernel: FeatureKernel[Any], weights: FeatureWeights) -> Scorer:
    """The same by the features themselves; those that candidates share are looked up once."""

    def weigh(X: Sequence[Any], asked: Indices) -> LinearScores:
        each, at = split_shared(X)
        return weights.score(kernel.features(each), asked, at)

    return weigh


def split_shared(X: Sequence[Any]) -> tuple[Sequence[Any], Indices | None]:
    """What candidates look like, and which is whose; None where each has its own."""
    return (X.each, X.at) if isinstance(X, SharedRows) else (X, None)


WordNumbers = NDArray[np.int32]  # numbers of words of a vocabulary


@dataclass(frozen=True, eq=False)
class TemplateFeatures(Sequence[Features]):
    """Features of candidates as the words that fill their names; few words make many names.

    Feature ``j`` of candidate ``i`` is named ``titles[j]`` and the words ``fill[i, slots[j]]``.

    >>> two = TemplateFeatures(("-1 +1", "to", "of"), np.array([[1, 2]]), np.array([0]), np.array([[0, 1]]),
    ...               np.array([0.5]))
    >>> two.features().names[0]
    ('-1 +1', 'to', 'of')
    """

    vocabulary: tuple[str, ...]
    fill: WordNumbers  # (n, c)
    titles: WordNumbers  # (b,)
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
    def padded(self) -> WordNumbers:  # (n, c + 1)
        """What fills the slots, with nothing in the last column."""
        return np.hstack([self.fill, np.full((len(self), 1), -1, dtype=np.int32)])

    def names(self, rows: Indices, features: Indices) -> WordNumbers:  # (f, 1 + k)
        """The words of the names of some features, each of a candidate."""
        cells = self.slots.take(features, axis=0) % self.padded.shape[1]
        cells += (rows * self.padded.shape[1])[:, None]
        return np.hstack([self.titles[features][:, None], self.padded.take(cells)])

    def having(self, known: FeatureNames) -> TemplateFeatures:
        """Only the features of these names."""
        present = self.had.copy()
        present[present] = known.find(self.features().names) >= 0
        return replace(self, present=present)

    def features(self) -> Features:
        """As a matrix with a column of its own for each feature of each candidate."""
        rows, features = np.nonzero(self.had)
        names = FeatureNames(self.vocabulary, self.names(rows, features))
        cells = (self.values[features], np.arange(len(names)), offsets(self.had.sum(axis=1)))
        return Features(sp.csr_array(cells, shape=(len(self), len(names))), names)


@dataclass(frozen=True, eq=False)
class TemplateWeights:
    """Weights of features with such names, found by hashes of words and question, then compared.

    Hashes are sums over the words of a name, so that those of many names cost a few additions.
    """

    weights: FeatureWeights

    def __call__(
        self, X: TemplateFeatures, asked: Indices, at: Indices | None = None
    ) -> LinearScores:
        """What candidates come to, or with ``at`` those who share what they look like."""
        at = np.arange(len(X)) if at is None else at
        numbers = [self._words.get(word, UNKNOWN_WORD) for word in X.vocabulary]
        number = np.array([*numbers, -1], dtype=np.int32)
        known = replace(X, titles=number[X.titles], fill=number[X.fill])
        row, feature, place = self._found(known, asked, at)
        values = X.values[feature]
        products = sum_by_owner(self.weights.coef[place] * values, row, len(at))
        squares = (X.had @ X.values**2)[at]
        return LinearScores(
            products, squares, lambda: Contributions(row, self.weights.columns[place], values)
        )

    def _found(
        self, X: TemplateFeatures, asked: Indices, at: Indices
    ) -> tuple[Indices, Indices, Indices]:
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

    def _same(self, parts: WordNumbers, asked: Indices, place: Indices) -> NDArray[np.bool_]:
        """Whether names and questions are those that weights have, not only their hashes."""
        own = self.weights.names.parts[place]
        width = min(own.shape[1], parts.shape[1])
        rest = np.hstack([own[:, width:], parts[:, width:]])
        alike = (own[:, :width] == parts[:, :width]).all(axis=1) & (rest < 0).all(axis=1)
        return alike & (self.weights.question_ids[place] == asked)

    @cached_property
    def _words(self) -> dict[str, int]:
        return {word: number for number, word in enumerate(self.weights.names.vocabulary)}

    @cached_property
    def _codes(self) -> HashIndex:
        codes = _coded(self.weights.question_ids, -1)
        for place, column in enumerate(self.weights.names.parts.T):
            codes += _coded(column, place)
        return HashIndex(_folded(codes))


def _coded(numbers: NDArray[np.integer], place: int) -> NDArray[np.uint64]:
    """What words at a place of a name add to its hash; -1 adds nothing."""
    return (numbers + 1).astype(np.uint64) * _factor(place)


def _folded(codes: NDArray[np.uint64]) -> NDArray[np.uint64]:
    return codes ^ (codes >> np.uint64(32))  # the last bits are told apart by all


@cache
def _factor(place: int) -> np.uint64:
    odd = np.random.default_rng(place + 1).integers(1 << 62, dtype=np.uint64)
    return np.uint64(odd * np.uint64(2) + np.uint64(1))
