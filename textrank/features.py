"""Numbers found among many others without searching, for models that are asked again and again."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import chain, count
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

MIN_SLOTS_PER_CODE = 4  # slots a code, at the least


@dataclass(frozen=True, eq=False)
class HashIndex:
    """Where numbers of 64 bits stand among others; a search costs as little as what is sought.

    Their last bits must tell most of them apart: they are hashes, or count something.

    >>> HashIndex(np.array([7, 3, 7], dtype=np.uint64)).find(np.array([3, 7, 9], dtype=np.uint64))
    array([ 1,  0, -1])
    """

    codes: NDArray[np.uint64]

    @cached_property
    def ordered(self) -> tuple[NDArray[np.uint64], NDArray[np.intp]]:
        """The codes in order, and where each of these stands; of equals the first before."""
        order = np.argsort(self.codes, kind="stable")
        return self.codes[order], order

    def find(self, sought: NDArray[np.uint64]) -> NDArray[np.intp]:
        """Where each code stands, of equals the first; -1 where it does not occur."""
        if not len(self.codes):
            return np.full(len(sought), -1, dtype=np.intp)
        slot = self._slots[sought & np.uint64(len(self._slots) - 1)]
        place = slot >> 1
        same = self.codes[place] == sought  # an empty slot leads to the last, which is another
        found = np.where(same, place, np.intp(-1))
        other = (~same & (slot & 1 > 0)).nonzero()[0]
        if len(other):
            found[other] = self._searched(sought[other])
        return found

    def _searched(self, sought: NDArray[np.uint64]) -> NDArray[np.intp]:
        codes, order = self.ordered
        place = codes[:-1].searchsorted(sought)  # of those above all the last
        return np.where(codes[place] == sought, order[place], -1)

    def equal(self, sought: np.uint64) -> NDArray[np.intp]:
        """Where one code stands, each time."""
        codes, order = self.ordered
        return order[codes.searchsorted(sought) : codes.searchsorted(sought, side="right")]

    @cached_property
    def _slots(self) -> NDArray[np.int32]:
        """By the last bits of a code, where the first of such codes stands, or -1.

        Twice that, and one more where other codes have the same bits: these have to be searched.
        """
        codes, order = self.ordered
        size = 1 << (MIN_SLOTS_PER_CODE * len(codes)).bit_length()
        slots = np.full(size, -2, dtype=np.int32)
        last = codes & np.uint64(size - 1)
        slots[last[::-1]] = 2 * order[::-1]  # of equals the first is set last
        other = codes != self.codes[slots[last] >> 1]
        slots[last[other]] |= 1
        return slots


class RawCSR(NamedTuple):
    """The cells of a sparse matrix, row after row; a row has a column once, columns in order.

    Of the few candidates of a short text there are dozens of small matrices: for SciPy to check
    each of them takes longer than what is then done with it.

    >>> RawCSR.from_dense(np.array([[0.0, 2.0], [1.0, 0.0]])_scipy()array().tolist()
    [[0.0, 2.0], [1.0, 0.0]]
    """

    data: NDArray[np.float64]
    indices: NDArray[np.int32]
    indptr: NDArray[np.int32]
    shape: tuple[int, int]

    @classmethod
    def from_dense(cls, values: NDArray[np.float64]) -> RawCSR:
        """Those of a dense matrix that are not zero."""
        row, column = values.nonzero()
        ends = np.zeros(len(values) + 1, dtype=np.int32)
        np.cumsum(np.bincount(row, minlength=len(values)), out=ends[1:])
        shape = values.shape[0], values.shape[1]
        return cls(values[row, column], column.astype(np.int32), ends, shape)

    def to_scipy(self) -> sp.csr_array:
        """As SciPy's."""
        return sp.csr_array((self.data, self.indices, self.indptr), shape=self.shape)

    def to_dense(self) -> NDArray[np.float64]:
        """With its zeros."""
        found = np.zeros(self.shape)
        row = np.arange(len(found)).repeat(self.indptr[1:] - self.indptr[:-1])
        found[row, self.indices] = self.data
        return found


def hstack_csr(blocks: Sequence[sp.csr_array | RawCSR]) -> sp.csr_array:
    """Matrices of as many rows as one; many times as fast as SciPy's, which goes by coordinates."""
    counts = np.array([lengths(block.indptr) for block in blocks])  # (blocks, rows)
    starts = offsets(counts.sum(axis=0))
    before = starts[:-1] + np.cumsum(counts, axis=0) - counts  # where a block's part of a row is
    columns, data = np.empty(starts[-1], dtype=np.int64), np.empty(starts[-1])
    left = 0
    for block, own, at in zip(blocks, counts, before, strict=True):
        first, cells = block.indptr[0], int(block.indptr[-1])
        place = np.arange(cells - first) + np.repeat(at - block.indptr[:-1] + first, own)
        columns[place] = block.indices[first:cells] + left
        data[place] = block.data[first:cells]
        left += block.shape[1]
    return sp.csr_array((data, columns, starts), shape=(counts.shape[1], left))


Indices: TypeAlias = NDArray[np.intp]
Arrays: TypeAlias = dict[str, NDArray[np.generic]]
UNKNOWN_WORD = -2  # a word that none of the names sought among has


@dataclass(frozen=True, eq=False)
class FeatureNames(Sequence[tuple[str, ...]]):
    """Names of feature columns, each a tuple of words from one vocabulary.

    A million label pairs are two integers each and one list of words, so they are saved, compared
    and joined as arrays. Shorter tuples are padded with -1.

    >>> names = FeatureNames.from_iterable([("bind", "PROT1"), ("bind", "PROT2")])
    >>> names[1]
    ('bind', 'PROT2')
    >>> names.find(FeatureNames.from_iterable([("bind", "PROT2"), ("new", "PROT2")]))
    array([ 1, -1])
    """

    vocabulary: tuple[str, ...]
    parts: NDArray[np.int32]  # (d, k)

    @classmethod
    def from_iterable(cls, names: Iterable[str | tuple[str, ...]]) -> FeatureNames:
        """Names from plain strings or tuples of strings, in their order."""
        tuples = [(name,) if isinstance(name, str) else name for name in names]
        each = list(chain.from_iterable(tuples))
        words = dict(zip(dict.fromkeys(each), count(), strict=False))
        sizes = np.fromiter(map(len, tuples), dtype=np.intp, count=len(tuples))
        parts = np.full((len(tuples), sizes.max(initial=0) or 1), -1, dtype=np.int32)
        numbers = np.fromiter(map(words.__getitem__, each), dtype=np.int32, count=len(each))
        parts[np.arange(parts.shape[1]) < sizes[:, None]] = numbers
        return cls(tuple(words), parts)

    def __len__(self) -> int:
        return len(self.parts)

    @overload
    def __getitem__(self, index: int) -> tuple[str, ...]: ...
    @overload
    def __getitem__(self, index: slice) -> FeatureNames: ...
    def __getitem__(self, index: int | slice) -> tuple[str, ...] | FeatureNames:
        if isinstance(index, slice):
            return FeatureNames(self.vocabulary, self.parts[index])
        return tuple(self.vocabulary[p] for p in self.parts[index] if p >= 0)

    def __iter__(self) -> Iterator[tuple[str, ...]]:
        words = self.vocabulary
        return (tuple([words[p] for p in row if p >= 0]) for row in self.parts.tolist())

    def take(self, columns: Indices) -> FeatureNames:
        """The names of these columns, in this order."""
        return FeatureNames(self.vocabulary, self.parts[columns])

    def drop_unused_words(self) -> FeatureNames:
        """The same names over only the words they use, to save space."""
        used, parts = np.unique(self.parts, return_inverse=True)
        missing = int(len(used) > 0 and used[0] == -1)
        words = tuple(self.vocabulary[i] for i in used[missing:])
        return FeatureNames(words, (parts.reshape(self.parts.shape) - missing).astype(np.int32))

    def dedup_vocabulary(self) -> FeatureNames:
        """The same names over a vocabulary that has each word once."""
        doubled = len(set(self.vocabulary)) < len(self.vocabulary)
        return FeatureNames.concat([self]) if doubled else self

    def with_prefix(self, prefix: str) -> FeatureNames:
        """The same names with ``prefix`` before each, to keep the blocks of a sum apart."""
        words = self.vocabulary if prefix in self.vocabulary else (*self.vocabulary, prefix)
        first = np.full((len(self), 1), words.index(prefix), dtype=np.int32)
        return FeatureNames(words, np.hstack([first, self.parts]))

    def drop_first_word(self) -> FeatureNames:
        """The same names without their first word."""
        return FeatureNames(self.vocabulary, self.parts[:, 1:])

    def prepend(self, name: str) -> FeatureNames:
        """The same names after one more."""
        words = self.vocabulary if name in self.vocabulary else (*self.vocabulary, name)
        first = np.full((1, self.parts.shape[1]), -1, dtype=np.int32)
        first[0, 0] = words.index(name)
        return FeatureNames(words, np.vstack([first, self.parts]))

    def find(self, names: FeatureNames) -> Indices:
        """The column of each of ``names`` here, -1 where it is unknown; of equals the first.

        Costs what is sought: the index of these names is made at the first search.
        """
        return self._index.find(names)

    def unique(self) -> tuple[FeatureNames, Indices]:
        """Each name once, in the order they first occur, and where each of these stands there.

        >>> names, place = FeatureNames.from_iterable(["b", "a", "b"]).unique()
        >>> list(names), place.tolist()
        ([('b',), ('a',)], [0, 1, 0])
        """
        first = self._index.firsts()
        occurs = first == np.arange(len(self))
        return self.take(occurs.nonzero()[0]), (np.cumsum(occurs) - 1)[first]

    @cached_property
    def _index(self) -> NameIndex:
        """Where each name stands, for any number of searches."""
        return NameIndex(self)

    @staticmethod
    def concat(blocks: Sequence[FeatureNames]) -> FeatureNames:
        """All names of the blocks, one block after the other; nothing is merged."""
        each = dict.fromkeys(chain.from_iterable(b.vocabulary for b in blocks))
        words = dict(zip(each, count(), strict=False))
        width = max((b.parts.shape[1] for b in blocks), default=1)
        parts = [_widen(_translate(b, words), width) for b in blocks]
        return FeatureNames(tuple(words), np.vstack(parts) if parts else np.empty((0, 1), np.int32))

    def to_arrays(self) -> Arrays:
        """Arrays that ``from_arrays`` takes back; the words as one UTF-8 text, never a pickle."""
        return {**pack_words(self.vocabulary), "parts": self.parts}

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, NDArray[np.generic]]) -> FeatureNames:
        """The names that ``to_arrays`` wrote."""
        words = unpack_words(arrays)
        parts = arrays["parts"].astype(np.int32)
        if len(words) != int(arrays["size"]) or (parts.size and parts.max() >= len(words)):
            raise ValueError(
                f"damaged feature names: {len(words)} words for {int(arrays['size'])} expected. "
                "Train the model again or restore the file."
            )
        return cls(words, parts).dedup_vocabulary()


@dataclass(frozen=True, eq=False)
class NameIndex:
    """Where names stand among many others; each search costs as little as the names sought.

    A name is sought as one number, of which its words are the digits. Where 64 bits have no room
    for these, the number is a hash, and what is found by it is compared word for word.
    """

    names: FeatureNames

    @cached_property
    def words(self) -> dict[str, int]:
        """The number of each word, from 1 on."""
        return {word: number for number, word in enumerate(self.names.vocabulary, start=1)}

    @cached_property
    def codes(self) -> HashIndex:
        """The numbers of all names."""
        return HashIndex(self._numbers(self._own))

    def firsts(self) -> Indices:
        """The first column of the same name, for each column."""
        codes, order = self.codes.ordered
        begins = np.append(True, codes[1:] != codes[:-1])[: len(codes)]
        first = np.empty(len(codes), dtype=np.intp)
        first[order] = order[begins.nonzero()[0]][np.cumsum(begins) - 1]
        parts = self.names.parts
        if not np.array_equal(parts[first], parts):  # two names have one hash
            return self.find(self.names)
        return first

    def find(self, names: FeatureNames) -> Indices:
        """The column of each of ``names`` here, -1 where it is unknown.

        >>> NameIndex(FeatureNames.from_iterable(["a", ("a", "b")])).find(FeatureNames.from_iterable([("a", "b"), "b", "a"]))
        array([ 1, -1,  0])
        """
        digits = self._digits(names)
        sought = self._numbers(digits)
        found = self.codes.find(sought)
        if not self._exact:
            some = (found >= 0).nonzero()[0]
            odd = some[(self._own[found[some]] != digits[some]).any(axis=1)]
            for at in odd.tolist():  # two names have one hash
                found[at] = self._compared(digits[at], sought[at])
        return found

    def _compared(self, digits: NDArray[np.uint64], sought: np.uint64) -> int:
        """The first column of a name, of those with its number; or -1."""
        alike = self.codes.equal(sought)
        same = alike[(self._own[alike] == digits).all(axis=1)]
        return int(same[0]) if len(same) else -1

    @cached_property
    def _own(self) -> NDArray[np.uint64]:
        """The words of each column."""
        return self._digits(self.names)

    def _digits(self, names: FeatureNames) -> NDArray[np.uint64]:
        """The words of names by their numbers here: 0 is none, one above all is an unknown."""
        unknown, width = len(self.names.vocabulary) + 1, self.names.parts.shape[1]
        numbers = [self.words.get(word, unknown) for word in names.vocabulary]
        digits, parts = np.array([*numbers, 0], dtype=np.uint64), names.parts
        found = np.zeros((len(names), width), dtype=np.uint64)
        found[:, : parts.shape[1]] = digits[parts[:, :width]]
        if parts.shape[1] > width:
            found[(parts[:, width:] >= 0).any(axis=1), 0] = unknown  # longer than any name here
        return found

    @cached_property
    def _exact(self) -> bool:
        """Whether no two names have the same number."""
        return (len(self.names.vocabulary) + 2) ** self.names.parts.shape[1] <= 1 << 64

    @cached_property
    def _factors(self) -> NDArray[np.uint64]:
        width, base = self.names.parts.shape[1], len(self.names.vocabulary) + 2
        odd = np.asarray(
            np.random.default_rng(width).integers(1 << 63, size=width, dtype=np.uint64)
        )
        odd |= np.uint64(1)
        if not self._exact:
            return odd
        # Times an odd number, and with the first bits added to the last, numbers stay different.
        return np.array([base**place for place in range(width)], dtype=np.uint64) * odd[0]

    def _numbers(self, digits: NDArray[np.uint64]) -> NDArray[np.uint64]:
        codes: NDArray[np.uint64] = digits @ self._factors  # wraps around
        return codes ^ (codes >> np.uint64(32))  # the last bits are told apart by all


def _translate(names: FeatureNames, words: Mapping[str, int]) -> NDArray[np.int32]:
    numbers = map(words.__getitem__, names.vocabulary)
    return np.fromiter(chain(numbers, [-1]), np.int32, len(names.vocabulary) + 1)[names.parts]


def _widen(parts: NDArray[np.int32], width: int) -> NDArray[np.int32]:
    missing = width - parts.shape[1]
    return np.pad(parts, ((0, 0), (0, missing)), constant_values=-1) if missing else parts


def pack_words(vocabulary: Sequence[str]) -> Arrays:
    """The words as one UTF-8 text, never a pickle."""
    text = "\n".join(_escape(word) for word in vocabulary)
    return {"words": np.frombuffer(text.encode(), np.uint8), "size": np.array(len(vocabulary))}


def unpack_words(arrays: Mapping[str, NDArray[np.generic]]) -> tuple[str, ...]:
    """The names that ``packed`` wrote."""
    text = arrays["words"].astype(np.uint8).tobytes().decode()
    return tuple(_unescape(w) for w in text.split("\n")) if int(arrays["size"]) else ()


def _escape(word: str) -> str:
    return word.replace("\\", "\\\\").replace("\n", "\\n")


def _unescape(word: str) -> str:
    return "\\".join(part.replace("\\n", "\n") for part in word.split("\\\\"))


Vector: TypeAlias = NDArray[np.float64]
Matrix: TypeAlias = NDArray[np.float64]
SparseMatrix: TypeAlias = sp.csr_array
NamedValues: TypeAlias = Mapping[str, float] | Mapping[tuple[str, ...], float]
MAX_INT32 = np.iinfo(np.int32).max
T = TypeVar("T")
T_contra = TypeVar("T_contra", contravariant=True)


@dataclass(frozen=True, eq=False)
class Features(Sequence["Features"]):
    """A sparse feature matrix with a name for every column: the explicit side of a kernel.

    It is also a representation: a sequence whose elements are its rows, each again ``Features``.

    >>> counted = Features.from_dicts([{"binds": 2.0}, {"binds": 1.0, "not": 1.0}])
    >>> list(counted.names), counted.values.toarray().tolist()
    ([('binds',), ('not',)], [[2.0, 0.0], [1.0, 1.0]])
    """

    cells: SparseMatrix | RawCSR  # (n, d)
    names: FeatureNames  # d of them

    def __post_init__(self) -> None:
        if self.cells.shape[1] != len(self.names):
            raise ValueError(f"{self.cells.shape[1]} columns but {len(self.names)} names")
        if not isinstance(self.cells, RawCSR):
            object.__setattr__(self, "cells", _short_indices(self.cells))

    @cached_property
    def values(self) -> SparseMatrix:
        """The matrix, made of its cells at the first call."""
        return self.cells.to_scipy() if isinstance(self.cells, RawCSR) else self.cells

    @classmethod
    def from_dicts(cls, rows: Iterable[NamedValues]) -> Features:
        """A row for every dictionary of named values; columns in the order in which they came."""
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
        return int(self.cells.shape[0])

    def __getitem__(self, index: int | slice) -> Features:
        if isinstance(index, slice):
            return self.rows(index)
        return self.rows(np.arange(len(self))[[index]])

    def align_to(self, names: FeatureNames) -> SparseMatrix:
        """The matrix with its columns moved to where ``names`` has them; unknown columns drop."""
        own = self.cells
        columns = names.find(self.names)[own.indices]
        known = columns >= 0
        ends = offsets(known)[own.indptr]
        cells = (own.data[known], columns[known].astype(np.int32), ends.astype(np.int32))
        moved = sp.csr_array(cells, shape=(len(self), len(names)))
        moved.sum_duplicates()
        return moved

    def rows(self, index: Indices | slice) -> Features:
        """Some rows, all columns."""
        return Features(self.values[index], self.names)

    def scale(self, factor: float | Vector) -> Features:
        """Every row times a number, or each row times its own."""
        own = self.cells
        each = factor.repeat(lengths(own.indptr)) if isinstance(factor, np.ndarray) else factor
        data = own.data * each
        if data.all():
            return self.with_data(data)
        found = sp.csr_array((data, own.indices, own.indptr), shape=own.shape, copy=True)
        found.eliminate_zeros()
        return Features(found, self.names)

    def with_data(self, data: Vector) -> Features:
        """The same cells with other values, none of them zero."""
        own = self.cells
        return Features(RawCSR(data, own.indices, own.indptr, own.shape), self.names)

    @staticmethod
    def vstack(blocks: Sequence[Features]) -> Features:
        """Blocks one below the other; columns of equal name become one."""
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
        """Blocks side by side, the columns of each named under its key."""
        names = FeatureNames.concat([block.names.with_prefix(key) for key, block in blocks.items()])
        return Features(hstack_csr([block.cells for block in blocks.values()]), names)


def _short_indices(values: SparseMatrix) -> SparseMatrix:
    """The matrix with indices of 32 bits where they suffice: half the memory, and liblinear's."""
    if values.indices.dtype != np.int64 or max(*values.shape, values.nnz) >= MAX_INT32:
        return values
    cells = (values.data, values.indices.astype(np.int32), values.indptr.astype(np.int32))
    return sp.csr_array(cells, shape=values.shape)


@dataclass(frozen=True, eq=False)
class SharedRows(Sequence[Any]):
    """Representations that several candidates share, such as questions about the same words.

    >>> found = SharedRows(["SHC", "GRB2"], np.array([0, 0, 1]))
    >>> list(found), found.expand()
    (['SHC', 'SHC', 'GRB2'], ['SHC', 'SHC', 'GRB2'])
    """

    each: Sequence[Any]
    at: Indices  # (n,) which of them is that of each candidate

    def __len__(self) -> int:
        return len(self.at)

    def __getitem__(self, index: int | slice) -> Any:
        if isinstance(index, slice):
            return self.rows(index)
        return self.each[int(self.at[index])]

    def rows(self, index: Indices | slice) -> SharedRows:
        """Those of some candidates."""
        return SharedRows(self.each, self.at[index])

    def expand(self) -> Sequence[Any]:
        """One a candidate."""
        return take_rows(self.each, self.at)


@dataclass(frozen=True)
class LabelledGraph:
    """A directed graph with weighted edges and any number of labels on each vertex.

    Vertices are numbered from 0; ``labels`` has a label or several for each. Edges are
    ``{(source, target): weight}`` with weights that are not negative.

    >>> LabelledGraph(["a", ("b", "noun")], {(0, 1): 0.5}).labels
    (('a',), ('b', 'noun'))
    """

    labels: Sequence[Sequence[str]]
    edges: Mapping[tuple[int, int], float]

    def __post_init__(self) -> None:
        sets = [(own,) if isinstance(own, str) else sorted(set(own)) for own in self.labels]
        object.__setattr__(self, "labels", tuple(tuple(own) for own in sets))
        edges = {(int(s), int(t)): float(weight) for (s, t), weight in self.edges.items()}
        object.__setattr__(self, "edges", edges)
        for edge, weight in edges.items():
            if not all(0 <= end < len(self.labels) for end in edge):
                raise ValueError(
                    f"edge {edge} leaves the graph of {len(self.labels)} vertices; "
                    "vertices are numbered from 0."
                )
            if not (math.isfinite(weight) and weight >= 0):
                raise ValueError(f"edge {edge} has weight {weight}; use a finite one, not below 0.")

    def __len__(self) -> int:
        return len(self.labels)


@dataclass(frozen=True, eq=False)
class GramAlternatives:
    """Gram matrices of the same candidates by several kernels, of which training chooses one."""

    settings: Sequence[Mapping[str, float]]  # what tells the kernels apart
    grams: Sequence[Matrix]  # (n, n) each

    def __post_init__(self) -> None:
        shapes = {K.shape for K in self.grams}
        if len(shapes) != 1 or len(self.grams) != len(self.settings):
            raise ValueError(
                f"{len(self.settings)} settings for {len(self.grams)} Gram matrices of shapes "
                f"{sorted(shapes)}: give one matrix a setting, all of one shape."
            )

    def __len__(self) -> int:
        return len(self.grams[0])

    def select(self, rows: Indices, columns: Indices) -> GramAlternatives:
        """Some rows and columns of each matrix."""
        return GramAlternatives(self.settings, [K[np.ix_(rows, columns)] for K in self.grams])


KernelData: TypeAlias = Matrix | Features | GramAlternatives


def select_rows_and_columns(data: KernelData, rows: Indices, columns: Indices) -> KernelData:
    """Some rows of features, or some rows and columns of Gram matrices."""
    if isinstance(data, Features):
        return data.rows(rows)
    return (
        data.part(rows, columns)
        if isinstance(data, GramAlternatives)
        else data[np.ix_(rows, columns)]
    )


def require_single_kernel(data: KernelData, what: str) -> Matrix | Features:
    """The data, refused where several kernels are still to be chosen from."""
    if isinstance(data, GramAlternatives):
        raise ValueError(
            f"{what} works with one kernel, but the pipeline chooses among {len(data.grams)}. Fix "
            f"{', '.join(data.settings[0])} to one value with --set."
        )
    return data


@runtime_checkable
class Batch(Protocol):
    """Representations of many candidates in one piece, of which some can be taken."""

    def rows(self, index: Indices | slice) -> Any:
        """Some of them, in the order of the index."""


def count_rows(X: Sequence[Any]) -> int:
    """How many there are; the rows of a matrix, also of a sparse one, which has no ``len``."""
    array: Any = X if isinstance(X, np.ndarray) or sp.issparse(X) else None
    return len(X) if array is None else int(array.shape[0])


def take_rows(X: Sequence[T], index: Indices | slice) -> Sequence[T]:
    """Some of the representations, in the order of ``index``, in the container they came in."""
    if isinstance(index, slice) or isinstance(X, np.ndarray) or sp.issparse(X):
        return X[index]  # type: ignore[index]
    if isinstance(X, Batch):
        return X.rows(index)
    return [X[int(i)] for i in index]


@dataclass(frozen=True, eq=False)
class JointFeatures:
    """Features of several views of the same candidates in one matrix, named under their view.

    Below the rows of candidates others may stand, of what several candidates share.
    """

    features: Features
    views: Sequence[str]
    of: Indices  # the view of each column
    size: int  # how many candidates
    shared: Mapping[str, Indices] = field(default_factory=dict)  # by view, rows below of each

    def view(self, name: str) -> Features:
        """The features of candidates in one view, without its name before theirs."""
        own, kept = self.top.cells, self.of == self.views.index(name)
        inside = kept[own.indices]
        indices = (kept.cumsum(dtype=np.int32) - 1)[own.indices[inside]]
        ends = offsets(inside)[own.indptr].astype(np.int32)
        shape = own.shape[0], int(np.count_nonzero(kept))
        names = FeatureNames(self.features.names.vocabulary, self.features.names.parts[kept, 1:])
        return Features(RawCSR(own.data[inside], indices, ends, shape), names)

    @cached_property
    def top(self) -> Features:
        """The rows of candidates."""
        own, ends = self.features.cells, self.features.cells.indptr[: self.size + 1]
        cells = own.data[: ends[-1]], own.indices[: ends[-1]], ends
        return Features(RawCSR(*cells, (self.size, own.shape[1])), self.features.names)

    @cached_property
    def normalized(self) -> JointFeatures:
        """With every row of each view of length one; an empty row stays empty."""
        own, times = self.features.cells, len(self.views)
        part = np.arange(0, times * own.shape[0], times).repeat(lengths(own.indptr))
        part += self.of[own.indices]
        length = np.sqrt(np.bincount(part, own.data**2))[part]
        return replace(self, features=self.features.with_data(own.data * (1.0 / length)))

    def squares(self, weights: Mapping[str, float]) -> Vector:
        """The squared length of each candidate with views weighted; others count nothing."""
        own = self.top.cells
        weight = np.array([weights.get(name, 0.0) for name in self.views])[self.of[own.indices]]
        row = np.arange(self.size).repeat(lengths(own.indptr))
        return sum_by_owner(weight * own.data**2, row, self.size)


@dataclass(frozen=True, eq=False)
class _Views(Mapping[str, Sequence[Any]]):
    """Views of which those found together are cut out when they are asked for."""

    together: JointFeatures
    names: Sequence[str]
    known: dict[str, Sequence[Any]]

    def __getitem__(self, name: str) -> Sequence[Any]:
        if name not in self.names:
            raise KeyError(name)
        if name not in self.known:
            self.known[name] = self.together.view(name)
        return self.known[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.names)

    def __len__(self) -> int:
        return len(self.names)


@dataclass(frozen=True, eq=False)
class MultiView(Sequence[Mapping[str, Any]]):
    """The same candidates seen in several named ways; each view is a sequence of its own.

    >>> pairs = MultiView({"length": [3, 5], "word": ["bind", "binds"]})
    >>> pairs[1]
    {'length': 5, 'word': 'binds'}
    >>> pairs.view("word")
    ['bind', 'binds']
    """

    views: Mapping[str, Sequence[Any]]
    together: JointFeatures | None = None  # some of the views, perhaps among others

    @classmethod
    def from_joint(
        cls, together: JointFeatures, names: Sequence[str], others: Mapping[str, Sequence[Any]]
    ) -> MultiView:
        """Some views of those found together, and others."""
        return cls(_Views(together, (*names, *others), dict(others)), together)

    def __post_init__(self) -> None:
        joined = self.together
        sizes = {} if joined is None else {"together": joined.size}
        others = (name for name in self.views if joined is None or name not in joined.views)
        sizes |= {name: count_rows(self.views[name]) for name in others}
        if len(set(sizes.values())) != 1:
            raise ValueError(f"views must have one element a candidate each, got {sizes}")

    def __len__(self) -> int:
        if self.together is not None:
            return self.together.size
        return count_rows(next(iter(self.views.values())))

    def __getitem__(self, index: int | slice) -> Mapping[str, Any] | MultiView:  # type: ignore[override]
        part = {name: view[index] for name, view in self.views.items()}
        return MultiView(part) if isinstance(index, slice) else part

    def rows(self, index: Indices | slice) -> MultiView:
        """Some candidates, all views."""
        return MultiView({name: take_rows(view, index) for name, view in self.views.items()})

    def shared(self, name: str) -> Sequence[Any]:
        """All candidates in one view; ``Repeated`` where they share what they look like."""
        if name not in self.views:
            raise ValueError(f"no view {name!r} among {sorted(self.views)}. Name one of these.")
        return self.views[name]

    def view(self, name: str) -> Sequence[Any]:
        """All candidates in one view, copied only where they share what they look like."""
        found = self.shared(name)
        return found.expand() if isinstance(found, SharedRows) else found
