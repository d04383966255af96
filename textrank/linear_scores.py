"""Linear models compiled for scoring, and explanations of their scores.

Weights are found by feature and question, by hashing.

``compile_scorer(kernel, weights)`` returns a ``Scorer``: a function of representations and the
question id of each candidate that returns ``LinearScores``. Kernels with a faster way implement
``compile_scorer`` themselves (see ``ScorerKernel``); for others features are built and looked up by
name. ``TemplateFeatures`` are features whose names are combinations of few words; their weights are
found by ``TemplateWeights`` without building names.

An ``Explanation`` (``textrank.protocols``) is a list of ``(feature name, value)`` whose values sum
to a score. ``Model.explain`` and its relatives build it with ``rank_contributions``.

A question is a small integer, 0 and up, that selects which linear model scores a candidate; a
model without questions uses 0 for all. In shapes, n is the number of candidates, d of weights, b of
templates and k the largest number of words after the title of a feature name.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias, TypeVar

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
from textrank.protocols import Explanation, FeatureKernel, Kernel, ScorerKernel

if TYPE_CHECKING:
    from textrank.candidates import Candidate

T_contra = TypeVar("T_contra", contravariant=True)
AVERAGE_NAME = "average candidate"  # name of what the average candidate scores


class Contributions(NamedTuple):
    """Features of candidates that have a weight, in any order, each at most once per candidate."""

    rows: Indices  # candidate of each feature
    columns: Indices  # index of its weight in the model
    values: Vector  # value of the feature

    @classmethod
    def concat(cls, parts: Sequence[Contributions]) -> Contributions:
        """Join contributions to the same candidates, such as those of the parts of a sum kernel.

        Rows and columns are not shifted; no (row, column) pair may occur in two parts. ``parts``
        must not be empty.
        """
        return cls(*map(np.concatenate, zip(*parts, strict=True)))

    def scale(self, factor: float | Vector) -> Contributions:
        """Return a copy with all values multiplied by ``factor``.

        An array of shape (n,) has one factor per candidate.
        """
        factors = factor[self.rows] if isinstance(factor, np.ndarray) else factor
        return self._replace(values=self.values * factors)

    def shift_rows(self, first: int) -> Contributions:
        """Return a copy whose candidates are numbered from ``first`` instead of 0.

        Used to append the candidates of one batch to ``first`` earlier ones.
        """
        return self._replace(rows=self.rows + first)

    def to_features(self, size: int, names: FeatureNames) -> Features:
        """Return the contributions as Features, shape (size, len(names)).

        ``names`` are the names of all weights of the model, in the order of ``columns``. Candidates
        without contributions get empty rows; columns are sorted inside each row.
        """
        order = np.lexsort((self.columns, self.rows))
        ends = offsets(np.bincount(self.rows, minlength=size)).astype(np.int32)
        columns = self.columns[order].astype(np.int32)
        return Features(RawCSR(self.values[order], columns, ends, (size, len(names))), names)


@dataclass(frozen=True, eq=False)
class LinearScores:
    """Scores of candidates, each by the weights of its question.

    ``f`` are all features of a candidate, ``w`` the weights of its question. Features without a
    weight count in ``squares``, but not in ``products`` and ``contributions``.
    """

    products: Vector  # (n,) scores f'w
    squares: Vector  # (n,) squared lengths f'f
    contributions: Callable[[], Contributions]  # features that have a weight, computed on demand

    def scale(self, factor: float | Vector) -> LinearScores:
        """Return the scores that result if all feature values are multiplied by ``factor``.

        An array of shape (n,) has one factor per candidate. Products are multiplied by the factor,
        squares by its square.
        """
        products, squares = factor * self.products, factor**2 * self.squares
        return LinearScores(products, squares, lambda: self.contributions().scale(factor))


# Function of representations and the question id of each candidate.
Scorer: TypeAlias = Callable[[Sequence[Any], Indices], LinearScores]


@dataclass(frozen=True, eq=False)
class FeatureWeights:
    """Weight of each feature for each question; the weights of one question are a linear model.

    A (feature, question) pair occurs at most once.
    """

    names: FeatureNames  # (d,) feature of each weight
    question_ids: Indices  # (d,) question of each weight
    coef: Vector  # (d,)
    columns: Indices  # (d,) index of each weight in the model that it comes from

    @classmethod
    def from_coef(cls, names: FeatureNames, coef: Vector) -> FeatureWeights:
        """Build the weights of a model with a single question, number 0.

        ``coef`` has the weight of each of ``names``; their index becomes ``columns``.
        """
        question_ids = np.zeros(len(names), dtype=np.intp)
        return cls(names.dedup_vocabulary(), question_ids, coef, np.arange(len(names)))

    @property
    def num_questions(self) -> int:
        """Number of questions: the largest question id plus one; 1 without weights."""
        return int(self.question_ids.max(initial=0)) + 1

    def select_prefix(self, word: str) -> FeatureWeights:
        """Return the weights of features whose names begin with ``word``, without that word.

        Order, questions and ``columns`` are kept. Empty if no name begins with the word.
        """
        words = self.names.vocabulary
        number = words.index(word) if word in words else UNKNOWN_WORD
        rows = np.flatnonzero(self.names.parts[:, 0] == number)
        names = self.names.take(rows).drop_first_word()
        return FeatureWeights(names, self.question_ids[rows], self.coef[rows], self.columns[rows])

    def relabel(self, names: FeatureNames, question_ids: Indices) -> FeatureWeights:
        """Return the same weights under other feature names and question ids, in the same order.

        Both have one entry per weight; no (name, question) pair may repeat, which is not checked.
        """
        return replace(self, names=names, question_ids=question_ids)

    def find(self, features: Indices, question_ids: Indices) -> Indices:
        """Return the index of the weight of each (feature, question) pair, or -1.

        ``features`` are indices into the distinct names (``_distinct[0]``); -1 as feature or
        question is an unknown one. A question without weights gives -1, also one whose id is not
        below ``num_questions``.
        """
        num_questions = self.num_questions
        is_unknown = (features < 0) | (question_ids < 0) | (question_ids >= num_questions)
        code = np.where(is_unknown, -1, features * num_questions + question_ids)
        return self._codes.find(code.astype(np.uint64))

    def score(
        self, F: Features, question_ids: Indices, row_index: Indices | None = None
    ) -> LinearScores:
        """Score n candidates, each by the weights of its question.

        Features without a weight for the question add nothing to the score.

        Parameters
        ----------
        F
            Feature rows. Equal names may occur in several columns, as long as no row has two of
            them.
        question_ids
            (n,) question of each candidate; -1, for an unknown question, and questions without
            weights give the score 0.
        row_index
            (n,) row of ``F`` of each candidate; None means that row i belongs to candidate i.
        """
        n, values = len(question_ids), F.values if row_index is None else F.values[row_index]
        sizes = np.diff(values.indptr)
        rows = np.repeat(np.arange(n), sizes)
        features = self._distinct[0].find(F.names)[values.indices]
        index = self.find(features, np.repeat(question_ids, sizes))
        products = sum_by_owner(values.data * self._padded[index], rows, n)

        def contributions() -> Contributions:
            """Return value, candidate and weight column of every feature that has a weight.

            Values are not multiplied by the weights.
            """
            weighted = np.flatnonzero(index >= 0)
            return Contributions(
                rows[weighted], self.columns[index[weighted]], values.data[weighted]
            )

        return LinearScores(products, sum_by_owner(values.data**2, rows, n), contributions)

    @cached_property
    def _distinct(self) -> tuple[FeatureNames, Indices]:
        """Distinct feature names, and for each weight the index of its name there, (d,)."""
        return self.names.unique()

    @cached_property
    def _codes(self) -> HashIndex:
        """Hash index of the (feature, question) pairs, encoded as in ``find``; finds the weight.

        The code of a pair is ``feature * num_questions + question``, its position that of the
        weight.
        """
        return HashIndex(
            (self._distinct[1] * self.num_questions + self.question_ids).astype(np.uint64)
        )

    @cached_property
    def _padded(self) -> Vector:
        """Weights followed by a 0, so that index -1 is 0."""
        return np.append(self.coef, 0.0)


def compile_scorer(kernel: Kernel[Any], weights: FeatureWeights) -> Scorer:
    """Return a ``Scorer`` that scores candidates by ``weights`` of the kernel's features.

    Uses the kernel's own ``compile_scorer`` if it has one, else ``compile_feature_scorer``. The
    scorer takes representations and the question id of each candidate.

    Raises TypeError if the kernel has no explicit features.
    """
    if isinstance(kernel, ScorerKernel):
        return kernel.compile_scorer(weights)
    if not isinstance(kernel, FeatureKernel):
        raise TypeError(
            f"{type(kernel).__name__} has no explicit features, so it cannot be scored by weights."
        )
    return compile_feature_scorer(kernel, weights)


def compile_feature_scorer(kernel: FeatureKernel[Any], weights: FeatureWeights) -> Scorer:
    """Return a ``Scorer`` that builds the kernel's features and looks up weights by name.

    If its input is ``SharedRows``, the features of each distinct representation are built once.
    """

    def score(X: Sequence[Any], question_ids: Indices) -> LinearScores:
        """Score each candidate by the weights of its question."""
        distinct, row_index = split_shared(X)
        return weights.score(kernel.features(distinct), question_ids, row_index)

    return score


def split_shared(X: Sequence[Any]) -> tuple[Sequence[Any], Indices | None]:
    """Return the distinct representations and each candidate's index there, (n,).

    Any ``X`` but ``SharedRows`` is returned unchanged, with None as index.
    """
    return (X.distinct, X.row_index) if isinstance(X, SharedRows) else (X, None)


WordNumbers = NDArray[np.int32]  # indices into a vocabulary; -1 is none


@dataclass(frozen=True, eq=False)
class TemplateFeatures(Sequence[Features]):
    """Features whose names are templates filled with words; few words make many names.

    Feature ``j`` of candidate ``i`` is named ``titles[j]`` followed by the words ``fill[i,
    slots[j]]``; all are numbers of words in ``vocabulary``. There are n candidates, b templates and
    c columns of words; a template has up to k slots.

    >>> vocabulary, fill = ("-1 +1", "to", "of"), np.array([[1, 2]])
    >>> titles, slots, values = np.array([0]), np.array([[0, 1]]), np.array([0.5])
    >>> TemplateFeatures(vocabulary, fill, titles, slots, values).features().names[0]
    ('-1 +1', 'to', 'of')
    """

    vocabulary: tuple[str, ...]
    fill: WordNumbers  # (n, c) words that fill the slots
    titles: WordNumbers  # (b,) first word of each name
    slots: Indices  # (b, k) columns of ``fill``; -1 after the last
    values: Vector  # (b,) value of each feature
    present: NDArray[np.bool_] | None = None  # (n, b) which candidates have which; None: all

    def __len__(self) -> int:
        """Return the number of candidates."""
        return len(self.fill)

    def __getitem__(self, index: int | slice) -> Features:
        """Return the rows of ``features()`` of one candidate or a slice; builds all names."""
        return self.features()[index]

    @property
    def presence(self) -> NDArray[np.bool_]:  # (n, b)
        """Mask of the features that each candidate has, (n, b); all True if ``present`` is None."""
        shape = (len(self), len(self.titles))
        return np.ones(shape, dtype=bool) if self.present is None else self.present

    @cached_property
    def padded(self) -> WordNumbers:  # (n, c + 1)
        """Words of the slots with a last column of -1, which slot -1 refers to, (n, c + 1)."""
        return np.hstack([self.fill, np.full((len(self), 1), -1, dtype=np.int32)])

    def names(self, rows: Indices, features: Indices) -> WordNumbers:  # (f, 1 + k)
        """Return the word numbers of the names of f features, (f, 1 + k), padded with -1.

        ``rows`` and ``features``, both (f,), have the candidate and the template of each. Column 0
        is the title. ``present`` is not consulted.
        """
        cells = self.slots.take(features, axis=0) % self.padded.shape[1]
        cells += (rows * self.padded.shape[1])[:, None]
        return np.hstack([self.titles[features][:, None], self.padded.take(cells)])

    def keep_only(self, names: FeatureNames) -> TemplateFeatures:
        """Return a copy in which only features with one of these names are present.

        Features that were absent stay absent. Builds all names.
        """
        present = self.presence.copy()
        present[present] = names.find(self.features().names) >= 0
        return replace(self, present=present)

    def features(self) -> Features:
        """Return the present features as an (n, m) matrix, m their total number.

        Every feature of every candidate has a column of its own, so equal names are repeated.
        Columns are in the order of candidates, then of templates.
        """
        rows, features = np.nonzero(self.presence)
        names = FeatureNames(self.vocabulary, self.names(rows, features))
        cells = (self.values[features], np.arange(len(names)), offsets(self.presence.sum(axis=1)))
        return Features(sp.csr_array(cells, shape=(len(self), len(names))), names)


@dataclass(frozen=True, eq=False)
class TemplateWeights:
    """Weights of ``TemplateFeatures``, found by hashes of words and question, then compared.

    A hash is a sum over the words of a name, so that the hashes of many names cost few additions.
    """

    weights: FeatureWeights

    def __call__(
        self, X: TemplateFeatures, question_ids: Indices, row_index: Indices | None = None
    ) -> LinearScores:
        """Score n candidates, each by the weights of its question.

        ``question_ids``, (n,), has the question of each candidate. ``row_index``, (n,), has its
        row in ``X``; None means that row i belongs to candidate i. Features without a weight add
        nothing to the score. The vocabulary of ``X`` may differ from that of the weights.
        """
        row_index = np.arange(len(X)) if row_index is None else row_index
        numbers = [self._words.get(word, UNKNOWN_WORD) for word in X.vocabulary]
        number = np.array([*numbers, -1], dtype=np.int32)
        translated = replace(X, titles=number[X.titles], fill=number[X.fill])
        row, feature, index = self._find_weights(translated, question_ids, row_index)
        values = X.values[feature]
        products = sum_by_owner(self.weights.coef[index] * values, row, len(row_index))
        squares = (X.presence @ X.values**2)[row_index]
        return LinearScores(
            products, squares, lambda: Contributions(row, self.weights.columns[index], values)
        )

    def _find_weights(
        self, X: TemplateFeatures, question_ids: Indices, row_index: Indices
    ) -> tuple[Indices, Indices, Indices]:
        """Return candidate, template and index of the weight of each feature that has a weight.

        Three arrays of one length, sorted by candidate and template. Words of ``X`` must be
        numbers in the vocabulary of the weights (``UNKNOWN_WORD`` for others).
        """
        names = np.tile(_hash_words(X.titles, 0), (len(X), 1))  # (n, b)
        for number, column in enumerate(X.slots.T, 1):
            names += _hash_words(X.padded, number)[:, column]
        codes = names[row_index] + _hash_words(question_ids, -1)[:, None]
        index_of = self._codes.find(_mix_bits(codes).ravel()).reshape(codes.shape)
        if X.present is not None:
            index_of[~X.present[row_index]] = -1
        row, feature = np.nonzero(index_of >= 0)
        index = index_of[row, feature]
        is_match = self._is_match(X.names(row_index[row], feature), question_ids[row], index)
        return row[is_match], feature[is_match], index[is_match]

    def _is_match(
        self, parts: WordNumbers, question_ids: Indices, index: Indices
    ) -> NDArray[np.bool_]:
        """Return whether names and questions equal those of the weights, not only their hashes.

        ``parts`` has a row of word numbers per feature, padded with -1 to any width; ``index`` is
        the weight that its hash found. The result has one entry per row.
        """
        weight_parts = self.weights.names.parts[index]
        width = min(weight_parts.shape[1], parts.shape[1])
        rest = np.hstack([weight_parts[:, width:], parts[:, width:]])
        is_equal = (weight_parts[:, :width] == parts[:, :width]).all(axis=1) & (rest < 0).all(
            axis=1
        )
        return is_equal & (self.weights.question_ids[index] == question_ids)

    @cached_property
    def _words(self) -> dict[str, int]:
        """Number of each word in the vocabulary of the weights."""
        return {word: number for number, word in enumerate(self.weights.names.vocabulary)}

    @cached_property
    def _codes(self) -> HashIndex:
        """Hash index from the hash of name and question to the index of the weight."""
        codes = _hash_words(self.weights.question_ids, -1)
        for position, column in enumerate(self.weights.names.parts.T):
            codes += _hash_words(column, position)
        return HashIndex(_mix_bits(codes))


def _hash_words(numbers: NDArray[np.integer], position: int) -> NDArray[np.uint64]:
    """Return what words at a position of a name add to its hash, same shape; -1 adds nothing.

    Position 0 is the title, 1 and up are the words after it; -1 stands for the question, with
    question ids as ``numbers``. Sums wrap around at 64 bits.
    """
    return (numbers + 1).astype(np.uint64) * _hash_factor(position)


def _mix_bits(codes: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Return codes whose low bits depend on all bits."""
    return codes ^ (codes >> np.uint64(32))  # low bits depend on all bits


@cache
def _hash_factor(position: int) -> np.uint64:
    """Return the odd random factor of a position; the same in every process.

    Positions are those of ``_hash_words``, from -1 (the question) on.
    """
    odd = np.random.default_rng(position + 1).integers(1 << 62, dtype=np.uint64)
    return np.uint64(odd * np.uint64(2) + np.uint64(1))


@dataclass(frozen=True, eq=False)
class ScoredBatch:
    """Scored candidates whose scores are explained on demand, without representing them again.

    n is the number of candidates and d the number of named features. ``coef`` has the model's
    weight of each name in ``names``; ``chunks`` together have n scores, in the order of
    ``candidates``. There must be at least one chunk.
    """

    candidates: Sequence[Candidate]
    chunks: Sequence[LinearScores]  # scores of consecutive chunks of the candidates
    names: FeatureNames  # (d,) of the weights
    coef: Vector  # (d,)

    @property
    def scores(self) -> Vector:
        """Score of each candidate, shape ``(n,)``, in the order of ``candidates``."""
        return np.concatenate([chunk.products for chunk in self.chunks])

    def explain(self, candidates: Sequence[Candidate]) -> list[Explanation]:
        """Explain the scores of some of the candidates, in the order given.

        Each explanation lists ``(feature name, contribution)``, largest magnitude first. Candidates
        are found by identity, not equality; raises ValueError for one that was not scored.
        """
        for candidate in candidates:
            if id(candidate) not in self._row_of:
                raise ValueError(
                    f"{candidate.spans} of document {candidate.document!r} is not one of the "
                    "scored candidates. Pass one of these, or use Model.explain."
                )
        return rank_contributions(self.contributions, [self._row_of[id(c)] for c in candidates])

    @cached_property
    def contributions(self) -> Features:
        """Contribution of each named feature to the score of each candidate, shape ``(n, d)``.

        A contribution is feature value times weight, so a row sums to the score; computed on first
        use.
        """
        starts = offsets([len(chunk.products) for chunk in self.chunks])
        shifted = [
            chunk.contributions().shift_rows(start)
            for chunk, start in zip(self.chunks, starts, strict=False)
        ]
        values = Contributions.concat(shifted).to_features(len(self.candidates), self.names)
        return values.with_data(values.cells.data * self.coef[values.cells.indices])

    @cached_property
    def _row_of(self) -> dict[int, int]:
        """Row of each candidate by its ``id()``."""
        return {id(candidate): row for row, candidate in enumerate(self.candidates)}


def mean_features(features: Features, *, min_share: float = 0.05) -> Vector:
    """Return the mean of each feature over all rows, shape ``(d,)`` for d features.

    It is 0 for features that are stored in fewer than ``min_share`` of the rows, and everywhere if
    there are no rows.
    """
    values, n = features.values, max(len(features), 1)
    is_common = np.bincount(values.indices, minlength=values.shape[1]) >= min_share * n
    sums = np.bincount(values.indices, values.data, minlength=values.shape[1])
    return np.where(is_common, sums / n, 0.0)


def mean_row(features: Features) -> Features:
    """Return ``mean_features`` with its default share as Features of one row.

    Features whose mean is 0 are dropped; the others keep their order.
    """
    mean = mean_features(features)
    columns = np.flatnonzero(mean)
    return Features(sp.csr_array(mean[columns][None, :]), features.names.take(columns))


def rank_contributions(
    contributions: Features, rows: Iterable[int] | None = None
) -> list[Explanation]:
    """Return each row as an explanation: ``(name, value)`` pairs, largest magnitude first.

    ``rows`` selects and orders the rows; None takes all. Only stored entries are listed. Values of
    equal magnitude stay in the order of the columns.
    """
    cells = contributions.cells
    explanations: list[Explanation] = []
    for row in range(len(contributions)) if rows is None else rows:
        entries = slice(cells.indptr[row], cells.indptr[row + 1])
        columns, values = cells.indices[entries], cells.data[entries]
        order = np.lexsort((columns, -np.abs(values)))
        names = contributions.names.take(columns[order].astype(np.intp))
        explanations.append(list(zip(names, values[order].tolist(), strict=True)))
    return explanations


def subtract_mean(contributions: Features, mean: Vector) -> list[Explanation]:
    """Return the explanation of each row by its difference from ``mean``.

    Each lists ``(name, value - mean)``, largest magnitude first, and last the sum of ``mean`` under
    the name ``AVERAGE_NAME``, so that it still sums to the row's sum. ``mean`` has one entry per
    column, shape ``(d,)``; a column that the row does not store has value 0. The last entry is left
    out if every mean is 0; zero differences are left out too.
    """
    cells, names = contributions.cells, contributions.names
    mean_columns = np.flatnonzero(mean).tolist()
    explanations: list[Explanation] = []
    for start, end in pairwise(cells.indptr.tolist()):
        columns, values = cells.indices[start:end].tolist(), cells.data[start:end].tolist()
        difference = dict(zip(columns, values, strict=True))
        for column in mean_columns:
            difference[column] = difference.get(column, 0.0) - float(mean[column])
        nonzero = filter(difference.get, difference)
        order = sorted(nonzero, key=lambda column: -abs(difference[column]))
        sorted_names = names.take(np.array(order, dtype=np.intp))
        explanation: Explanation = [
            (name, difference[column]) for name, column in zip(sorted_names, order, strict=True)
        ]
        if mean_columns:
            explanation.append(((AVERAGE_NAME,), float(mean.sum())))
        explanations.append(explanation)
    return explanations


def merge_explanations(*explanations: Explanation) -> Explanation:
    """Return the explanation of a sum of scores, largest magnitude first.

    Values of the same name are added up. A name whose values cancel stays, with value 0. Names of
    equal magnitude stay in order of appearance.

    >>> merge_explanations([(("path",), 0.5)], [(("path",), 0.25), (("verb",), -1.0)])
    [(('verb',), -1.0), (('path',), 0.75)]
    """
    totals: dict[tuple[str, ...], float] = {}
    for explanation in explanations:
        for name, value in explanation:
            totals[name] = totals.get(name, 0.0) + value
    return sorted(totals.items(), key=lambda entry: -abs(entry[1]))
