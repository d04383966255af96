"""Named sparse features and several views of the same candidates.

``Features`` is a sparse matrix whose columns are named by ``FeatureNames``, tuples of words. Names
of two batches are matched by hashing (``NameIndex``, ``HashIndex``), so that a model can be applied
to few candidates without sorting its names. ``RawCSR`` holds the arrays of a small sparse matrix
without the cost of a SciPy object. ``MultiView`` holds several representations of the same
candidates; ``JointFeatures`` are views computed in one matrix, ``SharedRows`` rows that several
candidates share. ``GramAlternatives`` are the Gram matrices of kernels to choose from.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import chain, count, repeat
from typing import (
    Any,
    NamedTuple,
    Protocol,
    TypeAlias,
    TypeVar,
    overload,
    runtime_checkable,
)

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from textrank._ragged import lengths, offsets, sum_by_owner

Indices: TypeAlias = NDArray[np.intp]
Vector: TypeAlias = NDArray[np.float64]
Matrix: TypeAlias = NDArray[np.float64]
SparseMatrix: TypeAlias = sp.csr_array
Arrays: TypeAlias = dict[str, NDArray[np.generic]]  # by key, as saved in a model
NamedValues: TypeAlias = Mapping[str, float] | Mapping[tuple[str, ...], float]
T = TypeVar("T")

# Word in the name of the feature that all candidates of a question have.
CONSTANT_FEATURE = "constant"
UNKNOWN_WORD = -2  # number of a word that is not in the vocabulary
MAX_INT32 = np.iinfo(np.int32).max
MIN_SHARING = 2  # names per distinct name without first word from which these are stored once
MIN_SLOTS_PER_CODE = 4  # size of the slot table of a HashIndex, relative to its codes


# Named features -----------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Features(Sequence["Features"]):
    """Sparse feature matrix with a name for every column: the explicit side of a kernel.

    It is also a representation: a sequence whose elements are its rows, each again ``Features``.
    The matrix has n rows (candidates) and d columns (features). No method changes it in place.

    >>> counts = Features.from_dicts([{"binds": 2.0}, {"binds": 1.0, "not": 1.0}])
    >>> list(counts.names), counts.values.toarray().tolist()
    ([('binds',), ('not',)], [[2.0, 0.0], [1.0, 1.0]])
    """

    cells: SparseMatrix | RawCSR  # (n, d)
    names: FeatureNames  # (d,)

    def __post_init__(self) -> None:
        """Raise ValueError unless there is a name per column; convert indices to 32 bits.

        64-bit indices stay if the matrix is too large; a ``RawCSR`` is stored as it is.
        """
        if self.cells.shape[1] != len(self.names):
            raise ValueError(f"{self.cells.shape[1]} columns but {len(self.names)} names")
        if not isinstance(self.cells, RawCSR):
            object.__setattr__(self, "cells", with_int32_indices(self.cells))

    @cached_property
    def values(self) -> SparseMatrix:
        """Matrix as a SciPy CSR array, built on first use; it shares the data of ``cells``."""
        return self.cells.to_scipy() if isinstance(self.cells, RawCSR) else self.cells

    @classmethod
    def from_dicts(cls, rows: Iterable[NamedValues]) -> Features:
        """Build one row per dictionary of named values; columns in order of first occurrence.

        A key is a word or a tuple of words; a given zero is stored. Columns within a row are
        sorted. Do not mix "a" and ("a",): they would become two columns of the same name.
        """
        columns: defaultdict[str | tuple[str, ...], int] = defaultdict(count().__next__)
        data: list[float] = []
        indices: list[int] = []
        ends = [0]
        for row in rows:
            indices.extend(map(columns.__getitem__, row))
            data.extend(row.values())
            ends.append(len(data))
        shape = (len(ends) - 1, len(columns))
        matrix = sp.csr_array((np.array(data, dtype=np.float64), indices, ends), shape=shape)
        matrix.sort_indices()
        return cls(matrix, FeatureNames.from_iterable(columns))

    def __len__(self) -> int:
        """Return the number of rows."""
        return int(self.cells.shape[0])

    def __getitem__(self, index: int | slice) -> Features:
        """Return one row (as Features of one row) or a slice of rows, with all columns.

        Negative indices count from the end. Raises IndexError if there is no such row.
        """
        if isinstance(index, slice):
            return self.rows(index)
        return self.rows(np.arange(len(self))[[index]])

    def align_to(self, names: FeatureNames) -> SparseMatrix:
        """Return the matrix with the columns of ``names``, shape ``(n, len(names))``.

        Columns of other names are dropped, names that are missing here become empty columns, and
        columns of equal name are added up. If ``names`` has a name twice, the first column gets the
        values.
        """
        source = self.cells
        columns = names.find(self.names)[source.indices]
        is_known = columns >= 0
        ends = offsets(is_known)[source.indptr]
        cells = (source.data[is_known], columns[is_known].astype(np.int32), ends.astype(np.int32))
        moved = sp.csr_array(cells, shape=(len(self), len(names)))
        moved.sum_duplicates()
        return moved

    def rows(self, index: Indices | slice) -> Features:
        """Return the rows of ``index``, in its order, with all columns; an index may repeat."""
        return Features(self.values[index], self.names)

    def scale(self, factor: float | Vector) -> Features:
        """Return a copy times ``factor``: one number, or an array ``(n,)`` with a factor per row.

        Entries that are or become zero are removed; columns stay.
        """
        source = self.cells
        factors = (
            factor.repeat(lengths(source.indptr)) if isinstance(factor, np.ndarray) else factor
        )
        data = source.data * factors
        if data.all():
            return self.with_data(data)
        scaled = sp.csr_array((data, source.indices, source.indptr), shape=source.shape, copy=True)
        scaled.eliminate_zeros()
        return Features(scaled, self.names)

    def with_data(self, data: Vector) -> Features:
        """Return the same cells with other values; the arrays of indices are shared, not copied.

        ``data`` has one value per stored entry, in the order of ``cells.data``; none may be zero.
        """
        source = self.cells
        return Features(RawCSR(data, source.indices, source.indptr, source.shape), self.names)

    @staticmethod
    def vstack(blocks: Sequence[Features]) -> Features:
        """Return the rows of all blocks, one block below the other.

        Columns of equal name are merged. Columns are in order of first occurrence over the blocks;
        blocks that all have the same ``names`` object keep it. Without blocks the result has no
        rows and no columns.
        """
        if blocks and all(block.names is blocks[0].names for block in blocks):
            names = blocks[0].names
        else:
            joined = FeatureNames.concat([block.names for block in blocks])
            names = joined.take(np.unique(joined.find(joined)))
        values = [block.align_to(names) for block in blocks]
        stacked = sp.vstack(values) if values else sp.csr_array((0, len(names)))
        return Features(sp.csr_array(stacked), names)

    @staticmethod
    def hstack(blocks: Mapping[str, Features]) -> Features:
        """Return blocks side by side, with their key as a first word before each name.

        Blocks must have equal numbers of rows, and there must be at least one. Columns are in the
        order of the mapping and never merged.
        """
        names = FeatureNames.concat([block.names.with_prefix(key) for key, block in blocks.items()])
        return Features(hstack_csr([block.cells for block in blocks.values()]), names)


def with_int32_indices(values: SparseMatrix) -> SparseMatrix:
    """Return the matrix with 32-bit indices, as liblinear needs.

    Returns the matrix itself if it has them already or a size or its number of entries does not fit
    into them; otherwise a new one that shares the data.
    """
    if values.indices.dtype != np.int64 or max(*values.shape, values.nnz) >= MAX_INT32:
        return values
    cells = (values.data, values.indices.astype(np.int32), values.indptr.astype(np.int32))
    return sp.csr_array(cells, shape=values.shape)


# Feature names ------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class FeatureNames(Sequence[tuple[str, ...]]):
    """Names of feature columns, each a tuple of words from one vocabulary.

    A million label pairs are two integers each and one list of words, so that they are saved,
    compared and concatenated as arrays. ``parts``, shape ``(d, k)``, has the indices in
    ``vocabulary`` of the words of each of d names, at most k words each; shorter names are padded
    with -1 on the right. Names may repeat. Methods return new objects.

    >>> names = FeatureNames.from_iterable([("bind", "PROT1"), ("bind", "PROT2")])
    >>> names[1]
    ('bind', 'PROT2')
    >>> names.find(FeatureNames.from_iterable([("bind", "PROT2"), ("new", "PROT2")]))
    array([ 1, -1])
    """

    vocabulary: tuple[str, ...]
    parts: NDArray[np.int32]  # (d, k)
    known_split: tuple[FeatureNames, Indices] | None = None  # of ``split_first_word``, if known

    @classmethod
    def from_iterable(cls, names: Iterable[str | tuple[str, ...]]) -> FeatureNames:
        """Build names from strings (names of one word) or tuples of strings, in order.

        Equal names are kept. The vocabulary is in order of first occurrence.
        """
        tuples = [(name,) if isinstance(name, str) else name for name in names]
        all_words = list(chain.from_iterable(tuples))
        words = dict(zip(dict.fromkeys(all_words), count(), strict=False))
        sizes = np.fromiter(map(len, tuples), dtype=np.intp, count=len(tuples))
        parts = np.full((len(tuples), sizes.max(initial=0) or 1), -1, dtype=np.int32)
        numbers = np.fromiter(
            map(words.__getitem__, all_words), dtype=np.int32, count=len(all_words)
        )
        parts[np.arange(parts.shape[1]) < sizes[:, None]] = numbers
        return cls(tuple(words), parts)

    def __len__(self) -> int:
        """Return the number of names."""
        return len(self.parts)

    @overload
    def __getitem__(self, index: int) -> tuple[str, ...]: ...
    @overload
    def __getitem__(self, index: slice) -> FeatureNames: ...
    def __getitem__(self, index: int | slice) -> tuple[str, ...] | FeatureNames:
        """Return a name as a tuple of words, or the FeatureNames of a slice.

        Padding is not part of the tuple. Raises IndexError if there is no such name.
        """
        if isinstance(index, slice):
            return FeatureNames(self.vocabulary, self.parts[index])
        return tuple(self.vocabulary[p] for p in self.parts[index] if p >= 0)

    def __iter__(self) -> Iterator[tuple[str, ...]]:
        """Yield each name as a tuple."""
        words = self.vocabulary
        return (tuple([words[p] for p in row if p >= 0]) for row in self.parts.tolist())

    def take(self, columns: Indices) -> FeatureNames:
        """Return the names of some columns, in the given order.

        The vocabulary is shared and not reduced.
        """
        return FeatureNames(self.vocabulary, self.parts[columns])

    def drop_unused_words(self) -> FeatureNames:
        """Return the same names over a vocabulary of only the words they use.

        The order of names and of words stays.
        """
        used, parts = np.unique(self.parts, return_inverse=True)
        missing = int(len(used) > 0 and used[0] == -1)
        words = tuple(self.vocabulary[i] for i in used[missing:])
        return FeatureNames(words, (parts.reshape(self.parts.shape) - missing).astype(np.int32))

    def dedup_vocabulary(self) -> FeatureNames:
        """Return the same names over a vocabulary that has each word once.

        Returns this object if its vocabulary has no duplicates.
        """
        has_duplicates = len(set(self.vocabulary)) < len(self.vocabulary)
        return FeatureNames.concat([self]) if has_duplicates else self

    def with_prefix(self, prefix: str) -> FeatureNames:
        """Return the names with the word ``prefix`` before each, which may be a new word.

        The vocabulary is extended if it lacks the word.
        """
        words = self.vocabulary if prefix in self.vocabulary else (*self.vocabulary, prefix)
        first = np.full((len(self), 1), words.index(prefix), dtype=np.int32)
        return FeatureNames(words, np.hstack([first, self.parts]))

    def drop_first_word(self) -> FeatureNames:
        """Return the names without their first word; a name of one word becomes the empty tuple.

        The vocabulary is shared and not reduced; names may become equal.
        """
        return FeatureNames(self.vocabulary, self.parts[:, 1:])

    def split_first_word(self) -> tuple[FeatureNames, Indices]:
        """Return the distinct names without first words, and the index of each name among them.

        Distinct names are in order of first occurrence. Names that ``to_arrays`` stored split are
        not compared again.

        >>> names = FeatureNames.from_iterable([("yes", "binds"), ("no", "binds"), ("no", "is")])
        >>> rest, index = names.split_first_word()
        >>> list(rest), index.tolist()
        ([('binds',), ('is',)], [0, 0, 1])
        """
        return self.known_split or self.drop_first_word().unique()

    def prepend(self, name: str) -> FeatureNames:
        """Return the names after one more name, of the single word ``name``; it is column 0.

        The name is not checked for being there already. ``parts`` must have at least one column.
        """
        words = self.vocabulary if name in self.vocabulary else (*self.vocabulary, name)
        first = np.full((1, self.parts.shape[1]), -1, dtype=np.int32)
        first[0, 0] = words.index(name)
        return FeatureNames(words, np.vstack([first, self.parts]))

    def find(self, names: FeatureNames) -> Indices:
        """Return the column here of each of ``names``, or -1, shape ``(len(names),)``.

        The first of equal names here is returned. The index of these names is built at the first
        call; then a call costs as much as ``names`` is long.
        """
        return self._index.find(names)

    def unique(self) -> tuple[FeatureNames, Indices]:
        """Return each name once, in order of first occurrence, and the index of each name there.

        >>> names, index = FeatureNames.from_iterable(["b", "a", "b"]).unique()
        >>> list(names), index.tolist()
        ([('b',), ('a',)], [0, 1, 0])
        """
        first = self._index.first_columns()
        is_first = first == np.arange(len(self))
        return self.take(is_first.nonzero()[0]), (np.cumsum(is_first) - 1)[first]

    @cached_property
    def _index(self) -> NameIndex:
        """Index for lookups, built on first use."""
        return NameIndex(self)

    @staticmethod
    def concat(blocks: Sequence[FeatureNames]) -> FeatureNames:
        """Return the names of all blocks, one block after the other; equal names are not merged.

        The vocabularies are merged. Without blocks the result is empty.
        """
        all_words = dict.fromkeys(chain.from_iterable(b.vocabulary for b in blocks))
        words = dict(zip(all_words, count(), strict=False))
        width = max((b.parts.shape[1] for b in blocks), default=1)
        parts = np.full((sum(map(len, blocks)), width), -1, dtype=np.int32)
        start = 0
        for block in blocks:
            rows = slice(start, start := start + len(block))
            parts[rows, : block.parts.shape[1]] = _renumber_words(block, words)
        return FeatureNames(tuple(words), parts)

    def to_arrays(self) -> Arrays:
        """Return arrays that ``from_arrays`` reads, by key: ``words``, ``size`` and ``parts``.

        ``words`` and ``size`` are the vocabulary from ``pack_words``. ``parts`` has a row
        of word numbers per name, padded with -1.

        If names differ mostly in their first word, as those of a model with many questions, the
        rest of each is stored once, and three arrays replace ``parts``: ``first`` has the first
        words, ``rest`` the distinct other parts, and ``rest_steps`` the differences between the
        indices of successive names in them. Words are one UTF-8 text, never a pickle. Their numbers
        have 16 bits if these suffice.
        """
        words = pack_words(self.vocabulary)
        dtype = np.int16 if len(self.vocabulary) <= np.iinfo(np.int16).max else np.int32
        plain = {**words, "parts": self.parts.astype(dtype)}
        if self.parts.shape[1] < 2:
            return plain
        rest, index = self.split_first_word()
        if MIN_SHARING * len(rest) > len(self):
            return plain
        steps = np.diff(index, prepend=0).astype(np.int32)
        first = self.parts[:, 0].astype(dtype)
        return {**words, "first": first, "rest": rest.parts.astype(dtype), "rest_steps": steps}

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, NDArray[np.generic]]) -> FeatureNames:
        """Build the names that ``to_arrays`` wrote.

        Raises ValueError if the number of words differs from ``size`` or a part refers to no word
        or name, KeyError if an array is missing. Words that occur twice are merged.
        """
        words = unpack_words(arrays)
        split = None
        if "rest" in arrays:
            first, rest = (arrays[key].astype(np.int32, copy=False) for key in ("first", "rest"))
            index = np.cumsum(arrays["rest_steps"], dtype=np.intp)
            if (
                (first.ndim, rest.ndim) != (1, 2)
                or len(index) != len(first)
                or (index.size and not 0 <= index.min() <= index.max() < len(rest))
            ):
                raise ValueError(
                    f"damaged feature names: {len(first)} first words do not fit {len(rest)} names "
                    "without them. Train the model again or restore the file."
                )
            parts = np.empty((len(first), 1 + rest.shape[1]), dtype=np.int32)
            parts[:, 0], parts[:, 1:] = first, rest[index]
            split = cls(words, rest), index
            largest = max(first.max(initial=-1), rest.max(initial=-1))
        else:
            parts = arrays["parts"].astype(np.int32, copy=False)
            largest = parts.max(initial=-1)
        if len(words) != int(arrays["size"]) or largest >= len(words):
            raise ValueError(
                f"damaged feature names: {len(words)} words, {int(arrays['size'])} expected. "
                "Train the model again or restore the file."
            )
        return cls(words, parts, split).dedup_vocabulary()


def _renumber_words(names: FeatureNames, words: Mapping[str, int]) -> NDArray[np.int32]:
    """Return ``names.parts`` with words numbered by ``words``, which has all of them; -1 stays."""
    numbers = map(words.__getitem__, names.vocabulary)
    return np.fromiter(chain(numbers, [-1]), np.int32, len(names.vocabulary) + 1)[names.parts]


def _have_equal_rows(parts: NDArray[np.int32], rows: Indices, others: Indices) -> bool:
    """Return whether each of ``rows`` of ``parts`` equals the row at the same place in ``others``.

    Padding is not compared.
    """
    for position in range(parts.shape[1]):
        words = parts[rows, position]
        if not np.array_equal(words, parts[others, position]):
            return False
        is_word = words >= 0
        rows, others = rows[is_word], others[is_word]
    return True


def pack_words(vocabulary: Sequence[str]) -> Arrays:
    """Return words as arrays: ``words``, the bytes of one UTF-8 text, and ``size``, their number.

    The text has one escaped word per line and is never a pickle.
    """
    text = "\n".join(_escape(word) for word in vocabulary)
    return {"words": np.frombuffer(text.encode(), np.uint8), "size": np.array(len(vocabulary))}


def unpack_words(arrays: Mapping[str, NDArray[np.generic]]) -> tuple[str, ...]:
    """Return the words of the arrays that ``pack_words`` wrote, in order.

    They are not checked: a damaged text may give another number of words than ``size``.
    """
    text = arrays["words"].astype(np.uint8).tobytes().decode()
    words = text.split("\n") if int(arrays["size"]) else []
    return tuple(map(_unescape, words) if "\\" in text else words)


def _escape(word: str) -> str:
    """Escape backslashes and line ends, so that a word is one line."""
    return word.replace("\\", "\\\\").replace("\n", "\\n")


def _unescape(word: str) -> str:
    """Return the word that ``_escape`` turned into this line.

    Text that ``_escape`` did not write is not refused.
    """
    return "\\".join(part.replace("\\n", "\n") for part in word.split("\\\\"))


# Lookup by hash -----------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class NameIndex:
    """Index from feature names to columns; a lookup costs as much as its argument is long.

    A name is encoded as one 64-bit code whose digits are the numbers of its words. If 64 bits do
    not suffice, the code is a hash, and matches are compared word for word.
    """

    names: FeatureNames

    @cached_property
    def words(self) -> dict[str, int]:
        """Number of each word of the vocabulary, from 1; of equal words the last counts."""
        return dict(zip(self.names.vocabulary, count(1), strict=False))

    @property
    def unknown(self) -> int:
        """Number that stands for every word that is not in the vocabulary."""
        return len(self.names.vocabulary) + 1

    @cached_property
    def codes(self) -> HashIndex:
        """Index of the codes of all names, by column; built on first use."""
        return HashIndex(self._encode(self.names, self._own_numbers))

    def first_columns(self) -> Indices:
        """Return for each of the d columns the first column with the same name, shape ``(d,)``.

        This is the column itself if no earlier one has its name.
        """
        first = self.codes.find(self.codes.codes)
        repeated = (first != np.arange(len(first))).nonzero()[0]
        if not _have_equal_rows(self.names.parts, repeated, first[repeated]):
            return self.find(self.names)  # two names have one hash
        return first

    def find(self, names: FeatureNames) -> Indices:
        """Return the column here of each of ``names``, the first of equals; -1 if there is none.

        >>> index = NameIndex(FeatureNames.from_iterable(["a", ("a", "b")]))
        >>> index.find(FeatureNames.from_iterable([("a", "b"), "b", "a"]))
        array([ 1, -1,  0])
        """
        return self.find_numbered(names, self.number_words(names.vocabulary))

    def number_words(self, vocabulary: Sequence[str]) -> NDArray[np.uint64]:
        """Return the number here of each word, ``unknown`` for others, and a last 0 for padding."""
        numbers = map(self.words.get, vocabulary, repeat(self.unknown))
        return np.fromiter(chain(numbers, [0]), np.uint64, len(vocabulary) + 1)

    def find_numbered(self, names: FeatureNames, numbers: NDArray[np.uint64]) -> Indices:
        """Return what ``find`` does, for names whose words were numbered by ``number_words``."""
        codes = self._encode(names, numbers)
        columns = self.codes.find(codes)
        if not self._is_exact:
            matched = (columns >= 0).nonzero()[0]
            digits = self._digits(names.parts[matched], numbers)
            own_digits = self._digits(self.names.parts[columns[matched]], self._own_numbers)
            mismatched = np.flatnonzero((own_digits != digits).any(axis=1))
            for row in mismatched.tolist():
                index = matched[row]  # two names have one hash
                columns[index] = self._find_exact(digits[row], codes[index])
        return columns

    def _find_exact(self, digits: NDArray[np.uint64], code: np.uint64) -> int:
        """Return the first column with this code whose digits equal ``digits``, or -1.

        ``digits`` is one row as from ``_digits``.
        """
        candidates = self.codes.find_all(code)
        own_digits = self._digits(self.names.parts[candidates], self._own_numbers)
        matches = candidates[(own_digits == digits).all(axis=1)]
        return int(matches[0]) if len(matches) else -1

    @cached_property
    def _own_numbers(self) -> NDArray[np.uint64]:
        """Numbers of the words of the names of this index, as from ``number_words``."""
        return self.number_words(self.names.vocabulary)

    def _digits(self, parts: NDArray[np.int32], numbers: NDArray[np.uint64]) -> NDArray[np.uint64]:
        """Return the numbers of the words of names, shape ``(len(parts), width)``.

        ``numbers`` are those of the vocabulary that ``parts`` refers to, as from ``number_words``.
        The width is that of the longest name here. 0 is padding. A name longer than all names here
        gets an unknown word as its first, so that it is not found.
        """
        width = self.names.parts.shape[1]
        result = np.zeros((len(parts), width), dtype=np.uint64)
        result[:, : parts.shape[1]] = numbers[parts[:, :width]]
        if parts.shape[1] > width:
            result[(parts[:, width:] >= 0).any(axis=1), 0] = self.unknown
        return result

    @cached_property
    def _is_exact(self) -> bool:
        """Whether different names always have different codes.

        True if ``(words + 2) ** width`` is at most 2^64; else codes are hashes that must be
        compared.
        """
        return (len(self.names.vocabulary) + 2) ** self.names.parts.shape[1] <= 1 << 64

    @cached_property
    def _factors(self) -> NDArray[np.uint64]:
        """Factor of each digit in a code, shape ``(width,)``.

        Powers of the base times a random odd number if ``_is_exact``, else random odd numbers.
        """
        width, base = self.names.parts.shape[1], len(self.names.vocabulary) + 2
        random_odd = np.asarray(
            np.random.default_rng(width).integers(1 << 63, size=width, dtype=np.uint64)
        )
        random_odd |= np.uint64(1)
        if not self._is_exact:
            return random_odd
        # Codes stay distinct when multiplied by an odd number and when high bits are mixed in.
        return np.array([base**digit for digit in range(width)], dtype=np.uint64) * random_odd[0]

    def _encode(self, names: FeatureNames, numbers: NDArray[np.uint64]) -> NDArray[np.uint64]:
        """Return the code of each name, the sum of ``_digits`` times ``_factors``, shape ``(n,)``.

        ``numbers`` are as in ``_digits``. Most names are much shorter than the longest: words are
        added up position by position, only for the names that have one there. The low bits depend
        on all digits, since ``HashIndex`` uses them as slots.
        """
        parts, factors = names.parts, self._factors
        width = min(parts.shape[1], len(factors))
        codes = np.zeros(len(parts), dtype=np.uint64)
        rows: slice | Indices = slice(None)  # names that are longer than ``position`` words
        for position in range(width):
            words = parts[rows, position]
            is_word = words >= 0
            if not is_word.all():
                rows = (np.arange(len(parts)) if isinstance(rows, slice) else rows)[is_word]
                words = words[is_word]
            if not len(words):
                break
            codes[rows] += (numbers * factors[position])[words]  # wraps around
        if parts.shape[1] > len(factors):
            too_long = np.flatnonzero((parts[:, len(factors) :] >= 0).any(axis=1))
            first = np.uint64(self.unknown) - numbers[parts[too_long, 0]]
            codes[too_long] += first * factors[0]
        return codes ^ (codes >> np.uint64(32))  # low bits depend on all bits


@dataclass(frozen=True, eq=False)
class HashIndex:
    """Index from 64-bit codes to their positions; a lookup costs as much as its argument is long.

    The low bits of the codes should differ: codes are hashes or consecutive numbers. Codes may
    repeat.

    >>> HashIndex(np.array([7, 3, 7], dtype=np.uint64)).find(np.array([3, 7, 9], dtype=np.uint64))
    array([ 1,  0, -1])
    """

    codes: NDArray[np.uint64]

    @cached_property
    def ordered(self) -> tuple[NDArray[np.uint64], NDArray[np.intp]]:
        """Sorted codes, and the position of each; equal codes in order of position."""
        order = np.argsort(self.codes, kind="stable")
        return self.codes[order], order

    def find(self, codes: NDArray[np.uint64]) -> NDArray[np.intp]:
        """Return the position of each of ``codes`` here, or -1.

        A code that occurs several times gives its first position.
        """
        if not len(self.codes):
            return np.full(len(codes), -1, dtype=np.intp)
        slot = self._slot_table[codes & np.uint64(len(self._slot_table) - 1)]
        position = slot >> 1
        is_same = (
            self.codes[position] == codes
        )  # an empty slot leads to the last code, which differs
        positions = np.where(is_same, position, np.intp(-1))
        collisions = (~is_same & (slot & 1 > 0)).nonzero()[0]
        if len(collisions):
            positions[collisions] = self._search_sorted(codes[collisions])
        return positions

    def _search_sorted(self, wanted: NDArray[np.uint64]) -> NDArray[np.intp]:
        """Return the first position of each of ``wanted`` by binary search, or -1.

        Only codes that share their slot with another code are searched; there must be some.
        """
        codes, positions = self._shared_slots
        rank = codes[:-1].searchsorted(wanted)  # codes above all others compare with the last
        return np.where(codes[rank] == wanted, positions[rank], -1)

    @cached_property
    def _shared_slots(self) -> tuple[NDArray[np.uint64], NDArray[np.intp]]:
        """Sorted codes whose slot another code has too, and the position of each.

        Equal codes are in order of position.
        """
        slot_of = self.codes & np.uint64(len(self._slot_table) - 1)
        positions = (self._slot_table[slot_of] & 1).nonzero()[0]
        codes = self.codes[positions]
        order = np.argsort(codes, kind="stable")
        return codes[order], positions[order]

    def find_all(self, code: np.uint64) -> NDArray[np.intp]:
        """Return all positions of one code, ascending; empty if it does not occur."""
        codes, order = self.ordered
        return order[codes.searchsorted(code) : codes.searchsorted(code, side="right")]

    @cached_property
    def _slot_table(self) -> NDArray[np.int32]:
        """Table indexed by the low bits of a code: twice the position of a code with these bits.

        1 is added if different codes share the bits, so that they must be searched for; -2 is an
        empty slot. The number of slots is a power of two. Of equal codes the first position is
        stored.
        """
        codes = self.codes
        num_slots = 1 << (MIN_SLOTS_PER_CODE * len(codes)).bit_length()
        slots = np.full(num_slots, -2, dtype=np.int32)
        slot_of = codes & np.uint64(num_slots - 1)
        doubled = np.arange(0, 2 * len(codes), 2, dtype=np.int32)
        slots[slot_of[::-1]] = doubled[::-1]  # the first of equals is written last
        collides = codes != codes[slots[slot_of] >> 1]
        slots[slot_of[collides]] |= 1
        return slots


# Small sparse matrices ----------------------------------------------------------------------------


class RawCSR(NamedTuple):
    """Arrays of a sparse matrix in CSR format; columns of a row are distinct and ascending.

    For the few candidates of a short text there are dozens of small matrices, and SciPy would take
    longer to check each of them than to compute with it. ``data`` and ``indices`` have the value
    and column of each entry, row by row; row i is the range ``indptr[i]:indptr[i + 1]``. This is
    not checked.

    >>> RawCSR.from_dense(np.array([[0.0, 2.0], [1.0, 0.0]])).to_scipy().toarray().tolist()
    [[0.0, 2.0], [1.0, 0.0]]
    """

    data: NDArray[np.float64]
    indices: NDArray[np.int32]
    indptr: NDArray[np.int32]
    shape: tuple[int, int]

    @classmethod
    def from_dense(cls, values: NDArray[np.float64]) -> RawCSR:
        """Build from the nonzero entries of a dense matrix, shape ``(rows, columns)``."""
        row, column = values.nonzero()
        ends = np.zeros(len(values) + 1, dtype=np.int32)
        np.cumsum(np.bincount(row, minlength=len(values)), out=ends[1:])
        shape = values.shape[0], values.shape[1]
        return cls(values[row, column], column.astype(np.int32), ends, shape)

    def to_scipy(self) -> sp.csr_array:
        """Return a SciPy array that shares the data: do not change it."""
        return sp.csr_array((self.data, self.indices, self.indptr), shape=self.shape)

    def to_dense(self) -> NDArray[np.float64]:
        """Return a new dense matrix of ``shape``; cells without an entry are 0."""
        values = np.zeros(self.shape)
        row = np.arange(len(values)).repeat(self.indptr[1:] - self.indptr[:-1])
        values[row, self.indices] = self.data
        return values


def hstack_csr(blocks: Sequence[sp.csr_array | RawCSR]) -> sp.csr_array:
    """Return CSR blocks with equal numbers of rows side by side; there must be at least one.

    Much faster than SciPy's ``hstack``, which converts to coordinates. Entries within a row keep
    their order, block after block; they are copied as float64, with 64-bit column indices. That
    the numbers of rows agree is not checked.
    """
    counts = np.array([lengths(block.indptr) for block in blocks])  # (blocks, rows)
    starts = offsets(counts.sum(axis=0))
    # Offset of each block's part of each row, (blocks, rows).
    block_starts = starts[:-1] + np.cumsum(counts, axis=0) - counts
    columns, data = np.empty(starts[-1], dtype=np.int64), np.empty(starts[-1])
    first_column = 0
    for block, sizes, begins in zip(blocks, counts, block_starts, strict=True):
        first, last = block.indptr[0], int(block.indptr[-1])
        cells = np.arange(last - first) + np.repeat(begins - block.indptr[:-1] + first, sizes)
        columns[cells] = block.indices[first:last] + first_column
        data[cells] = block.data[first:last]
        first_column += block.shape[1]
    return sp.csr_array((data, columns, starts), shape=(counts.shape[1], first_column))


# Data that learners take --------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class GramAlternatives:
    """Gram matrices of the same candidates by several kernels, of which training chooses one.

    ``settings[i]`` are the settings of the kernel of ``grams[i]``. Matrices are (n, n) for n
    candidates, or (rows, columns) after ``select``. A kernel with explicit features may have these
    instead of its matrix.
    """

    settings: Sequence[Mapping[str, float]]  # settings in which the kernels differ
    grams: Sequence[Matrix | Features]  # (n, n) each, or features of n candidates

    def __post_init__(self) -> None:
        """Raise ValueError unless there is one matrix per setting, all of the same shape.

        There must be at least one. Features need only have as many rows as the others.
        """
        shapes = {K.shape for K in self.grams if not isinstance(K, Features)}
        lengths = {len(K) for K in self.grams}
        if len(shapes) > 1 or len(lengths) != 1 or len(self.grams) != len(self.settings):
            raise ValueError(
                f"{len(self.settings)} settings for {len(self.grams)} Gram matrices of shapes "
                f"{sorted(shapes)} and {sorted(lengths)} rows: pass one matrix per setting, all of "
                "one shape."
            )

    def __len__(self) -> int:
        """Return the number of rows of each matrix."""
        return len(self.grams[0])

    def select(self, rows: Indices, columns: Indices) -> GramAlternatives:
        """Return some rows and columns of each matrix, in the given order; settings stay.

        Of ``Features`` only the rows are taken: ``columns`` are candidates, not features.
        """
        grams = [
            K.rows(rows) if isinstance(K, Features) else K[np.ix_(rows, columns)]
            for K in self.grams
        ]
        return GramAlternatives(self.settings, grams)


KernelData: TypeAlias = Matrix | Features | GramAlternatives


def select_rows_and_columns(data: KernelData, rows: Indices, columns: Indices) -> KernelData:
    """Return some rows of features, or some rows and columns of Gram matrices, in the given order.

    For Features ``columns`` is ignored: these are candidates, not features.
    """
    if isinstance(data, Features):
        return data.rows(rows)
    return (
        data.select(rows, columns)
        if isinstance(data, GramAlternatives)
        else data[np.ix_(rows, columns)]
    )


def require_single_kernel(data: KernelData, user: str) -> Matrix | Features:
    """Return the data unchanged; raise ValueError if several kernels are still to be chosen from.

    ``user`` names what needs a single kernel, for the message.
    """
    if isinstance(data, GramAlternatives):
        raise ValueError(
            f"{user} works with one kernel, but the pipeline chooses among {len(data.grams)}. Fix "
            f"{', '.join(data.settings[0])} to one value with --set."
        )
    return data


# Batches of representations -----------------------------------------------------------------------


@runtime_checkable
class Batch(Protocol):
    """Representations of many candidates in one object, of which rows can be taken."""

    def rows(self, index: Indices | slice) -> Any:
        """Return some rows, in the order of the index, as an object of the same type."""


def count_rows(X: Sequence[Any]) -> int:
    """Return the number of elements of a sequence, or of rows of a dense or sparse matrix."""
    array: Any = X if isinstance(X, np.ndarray) or sp.issparse(X) else None
    return len(X) if array is None else int(array.shape[0])


def take_rows(X: Sequence[T], index: Indices | slice) -> Sequence[T]:
    """Return some representations in the order of ``index``, in the container they came in.

    Arrays, sparse matrices and ``Batch`` objects keep their type, and so does any sequence with a
    slice; another sequence with an index array becomes a list.
    """
    if isinstance(index, slice) or isinstance(X, np.ndarray) or sp.issparse(X):
        return X[index]  # type: ignore[index]
    if isinstance(X, Batch):
        return X.rows(index)
    return [X[int(i)] for i in index]


@dataclass(frozen=True, eq=False)
class SharedRows(Sequence[Any]):
    """Representations of which several candidates share one, as for questions about the same words.

    Candidate i of n has the representation ``distinct[row_index[i]]``.

    >>> names = SharedRows(["SHC", "GRB2"], np.array([0, 0, 1]))
    >>> list(names), names.expand()
    (['SHC', 'SHC', 'GRB2'], ['SHC', 'SHC', 'GRB2'])
    """

    distinct: Sequence[Any]
    row_index: Indices  # (n,) index of each candidate's row in ``distinct``

    def __len__(self) -> int:
        """Return the number of candidates."""
        return len(self.row_index)

    def __getitem__(self, index: int | slice) -> Any:
        """Return the representation of one candidate, or the SharedRows of a slice.

        The slice shares ``distinct`` as a whole.
        """
        if isinstance(index, slice):
            return self.rows(index)
        return self.distinct[int(self.row_index[index])]

    def rows(self, index: Indices | slice) -> SharedRows:
        """Return some candidates, in the order of ``index``.

        ``distinct`` is kept as a whole and shared.
        """
        return SharedRows(self.distinct, self.row_index[index])

    def expand(self) -> Sequence[Any]:
        """Return one representation per candidate, in order, in the container of ``distinct``."""
        return take_rows(self.distinct, self.row_index)


# Views --------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class MultiView(Sequence[Mapping[str, Any]]):
    """Candidates in several named views, each a sequence with one element per candidate.

    >>> pairs = MultiView({"length": [3, 5], "word": ["bind", "binds"]})
    >>> pairs[1]
    {'length': 5, 'word': 'binds'}
    >>> pairs.view("word")
    ['bind', 'binds']
    """

    views: Mapping[str, Sequence[Any]]
    joint: JointFeatures | None = None  # matrix that some of the views come from, or None

    @classmethod
    def from_joint(
        cls, joint: JointFeatures, names: Sequence[str], others: Mapping[str, Sequence[Any]]
    ) -> MultiView:
        """Build from the views ``names`` of joint features, extracted on first use, and ``others``.

        Views are in the order of ``names``, then ``others``. Raises ValueError if a view of
        ``others`` has another length than the joint features.
        """
        return cls(_LazyViews(joint, (*names, *others), dict(others)), joint)

    def __post_init__(self) -> None:
        """Raise ValueError unless all views have the same length and there is at least one.

        The views of ``joint`` are not extracted for this: they have its size.
        """
        joined = self.joint
        sizes = {} if joined is None else {"joint": joined.size}
        others = (name for name in self.views if joined is None or name not in joined.view_names)
        sizes |= {name: count_rows(self.views[name]) for name in others}
        if len(set(sizes.values())) != 1:
            raise ValueError(f"views must have one element per candidate each, got sizes {sizes}")

    def __len__(self) -> int:
        """Return the number of candidates."""
        if self.joint is not None:
            return self.joint.size
        return count_rows(next(iter(self.views.values())))

    def __getitem__(self, index: int | slice) -> Mapping[str, Any] | MultiView:  # type: ignore[override]
        """Return the element of one candidate by view name, or the MultiView of a slice.

        The latter has no ``joint``.
        """
        part = {name: view[index] for name, view in self.views.items()}
        return MultiView(part) if isinstance(index, slice) else part

    def rows(self, index: Indices | slice) -> MultiView:
        """Return some candidates in all views, in the order of ``index``.

        The result has no ``joint``.
        """
        return MultiView({name: take_rows(view, index) for name, view in self.views.items()})

    def stored_view(self, name: str) -> Sequence[Any]:
        """Return one view as it is stored; ``SharedRows`` if candidates share rows.

        Raises ValueError for an unknown view.
        """
        if name not in self.views:
            raise ValueError(f"no view {name!r}; available: {', '.join(sorted(self.views))}.")
        return self.views[name]

    def view(self, name: str) -> Sequence[Any]:
        """Return one view with one element per candidate; shared rows are copied.

        Raises ValueError for an unknown view.
        """
        view = self.stored_view(name)
        return view.expand() if isinstance(view, SharedRows) else view


@dataclass(frozen=True, eq=False)
class _LazyViews(Mapping[str, Sequence[Any]]):
    """Mapping of views by name; those of ``joint`` are extracted on first use.

    ``names`` are all views in order; ``cache`` holds those that exist already and is filled by
    lookups.
    """

    joint: JointFeatures
    names: Sequence[str]
    cache: dict[str, Sequence[Any]]

    def __getitem__(self, name: str) -> Sequence[Any]:
        """Return one view, extracting and caching it if it comes from ``joint``.

        Raises KeyError for an unknown one.
        """
        if name not in self.names:
            raise KeyError(name)
        if name not in self.cache:
            self.cache[name] = self.joint.view(name)
        return self.cache[name]

    def __iter__(self) -> Iterator[str]:
        """Iterate over the names of views."""
        return iter(self.names)

    def __len__(self) -> int:
        """Return the number of views."""
        return len(self.names)


@dataclass(frozen=True, eq=False)
class JointFeatures:
    """Features of several views of the same candidates in one matrix, named under their view.

    The first ``size`` rows are the candidates. Further rows may follow, with features that several
    candidates share; ``shared_rows`` has their row numbers for each candidate, by view. A name's
    first word is its view. d counts the columns of all views.
    """

    features: Features
    view_names: Sequence[str]
    view_index: Indices  # (d,) index in ``view_names`` of each column's view
    size: int  # number of candidates
    shared_rows: Mapping[str, Indices] = field(default_factory=dict)

    def view(self, name: str) -> Features:
        """Return the features of the candidates in one view, shape ``(size, columns of the view)``.

        The view's name, the first word of each feature name, is removed. Shared rows are not
        included. Raises ValueError for an unknown view.
        """
        source, in_view = (
            self.candidate_features.cells,
            self.view_index == self.view_names.index(name),
        )
        is_kept = in_view[source.indices]
        indices = (in_view.cumsum(dtype=np.int32) - 1)[source.indices[is_kept]]
        ends = offsets(is_kept)[source.indptr].astype(np.int32)
        shape = source.shape[0], int(np.count_nonzero(in_view))
        names = FeatureNames(self.features.names.vocabulary, self.features.names.parts[in_view, 1:])
        return Features(RawCSR(source.data[is_kept], indices, ends, shape), names)

    @cached_property
    def candidate_features(self) -> Features:
        """Rows of the candidates, shape ``(size, d)``, without the shared rows after them.

        The arrays are views of those of ``features``, not copies.
        """
        source, ends = self.features.cells, self.features.cells.indptr[: self.size + 1]
        cells = source.data[: ends[-1]], source.indices[: ends[-1]], ends
        return Features(RawCSR(*cells, (self.size, source.shape[1])), self.features.names)

    @cached_property
    def normalized(self) -> JointFeatures:
        """Copy in which every row, shared ones included, has Euclidean length one within each view.

        An empty row stays empty. No stored entry may be zero: its row could have length 0.
        """
        source, num_views = self.features.cells, len(self.view_names)
        group = np.arange(0, num_views * source.shape[0], num_views).repeat(lengths(source.indptr))
        group += self.view_index[source.indices]
        length = np.sqrt(np.bincount(group, source.data**2))[group]
        return replace(self, features=self.features.with_data(source.data * (1.0 / length)))

    def squared_norms(self, weights: Mapping[str, float]) -> Vector:
        """Return the squared length of each candidate over weighted views, shape ``(size,)``.

        ``weights`` multiplies the squared length within each view; a view without a weight counts
        0. Shared rows are not included.
        """
        source = self.candidate_features.cells
        weight = np.array([weights.get(name, 0.0) for name in self.view_names])[
            self.view_index[source.indices]
        ]
        row = np.arange(self.size).repeat(lengths(source.indptr))
        return sum_by_owner(weight * source.data**2, row, self.size)


def concat_rows(one: Any, other: Any) -> Any:
    """Return two batches of represented candidates of the same kind, one after the other.

    Kinds are ``MultiView`` (with the views of ``one``, which ``other`` must have; shared rows are
    copied), ``Features`` (columns of equal name are merged), arrays and lists. Raises ValueError
    for others, and if the two differ.
    """
    if isinstance(one, MultiView) and isinstance(other, MultiView):
        return MultiView(
            {name: concat_rows(one.view(name), other.view(name)) for name in one.views}
        )
    if isinstance(one, Features) and isinstance(other, Features):
        return Features.vstack([one, other])
    if isinstance(one, np.ndarray) and isinstance(other, np.ndarray):
        return np.concatenate([one, other])
    if isinstance(one, list) and isinstance(other, list):
        return [*one, *other]
    raise ValueError(
        f"candidates of a model that are stored as {type(one).__name__} cannot be joined with new "
        "ones. Train the pipeline on a corpus of all instead."
    )
