"""Names of feature columns: tuples of words over one vocabulary, and how they are found."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain, count
from typing import TypeAlias, overload

import numpy as np
from numpy.typing import NDArray

from textrank.types.codes import Codes

Indices: TypeAlias = NDArray[np.intp]
Arrays: TypeAlias = dict[str, NDArray[np.generic]]

UNKNOWN = -2  # a word that none of the names sought among has


@dataclass(frozen=True, eq=False)
class Names(Sequence[tuple[str, ...]]):
    """Names of feature columns, each a tuple of words from one vocabulary.

    A million label pairs are two integers each and one list of words, so they are saved, compared
    and joined as arrays. Shorter tuples are padded with -1.

    >>> names = Names.of([("bind", "PROT1"), ("bind", "PROT2")])
    >>> names[1]
    ('bind', 'PROT2')
    >>> names.find(Names.of([("bind", "PROT2"), ("new", "PROT2")]))
    array([ 1, -1])
    """

    vocabulary: tuple[str, ...]
    parts: NDArray[np.int32]  # (d, k)

    @classmethod
    def of(cls, names: Iterable[str | tuple[str, ...]]) -> Names:
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
    def __getitem__(self, index: slice) -> Names: ...
    def __getitem__(self, index: int | slice) -> tuple[str, ...] | Names:
        if isinstance(index, slice):
            return Names(self.vocabulary, self.parts[index])
        return tuple(self.vocabulary[p] for p in self.parts[index] if p >= 0)

    def __iter__(self) -> Iterator[tuple[str, ...]]:
        words = self.vocabulary
        return (tuple([words[p] for p in row if p >= 0]) for row in self.parts.tolist())

    def take(self, columns: Indices) -> Names:
        """The names of these columns, in this order."""
        return Names(self.vocabulary, self.parts[columns])

    def compact(self) -> Names:
        """The same names over only the words they use, to save space."""
        used, parts = np.unique(self.parts, return_inverse=True)
        missing = int(len(used) > 0 and used[0] == -1)
        words = tuple(self.vocabulary[i] for i in used[missing:])
        return Names(words, (parts.reshape(self.parts.shape) - missing).astype(np.int32))

    def spelt_once(self) -> Names:
        """The same names over a vocabulary that has each word once."""
        doubled = len(set(self.vocabulary)) < len(self.vocabulary)
        return Names.join([self]) if doubled else self

    def under(self, prefix: str) -> Names:
        """The same names with ``prefix`` before each, to keep the blocks of a sum apart."""
        words = self.vocabulary if prefix in self.vocabulary else (*self.vocabulary, prefix)
        first = np.full((len(self), 1), words.index(prefix), dtype=np.int32)
        return Names(words, np.hstack([first, self.parts]))

    def rest(self) -> Names:
        """The same names without their first word."""
        return Names(self.vocabulary, self.parts[:, 1:])

    def after(self, name: str) -> Names:
        """The same names after one more."""
        words = self.vocabulary if name in self.vocabulary else (*self.vocabulary, name)
        first = np.full((1, self.parts.shape[1]), -1, dtype=np.int32)
        first[0, 0] = words.index(name)
        return Names(words, np.vstack([first, self.parts]))

    def find(self, names: Names) -> Indices:
        """The column of each of ``names`` here, -1 where it is unknown; of equals the first.

        Costs what is sought: the index of these names is made at the first search.
        """
        return self._index.find(names)

    def distinct(self) -> tuple[Names, Indices]:
        """Each name once, in the order they first occur, and where each of these stands there.

        >>> names, place = Names.of(["b", "a", "b"]).distinct()
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
    def join(blocks: Sequence[Names]) -> Names:
        """All names of the blocks, one block after the other; nothing is merged."""
        each = dict.fromkeys(chain.from_iterable(b.vocabulary for b in blocks))
        words = dict(zip(each, count(), strict=False))
        width = max((b.parts.shape[1] for b in blocks), default=1)
        parts = [_widen(_translate(b, words), width) for b in blocks]
        return Names(tuple(words), np.vstack(parts) if parts else np.empty((0, 1), np.int32))

    def to_arrays(self) -> Arrays:
        """Arrays that ``from_arrays`` takes back; the words as one UTF-8 text, never a pickle."""
        return {**packed(self.vocabulary), "parts": self.parts}

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, NDArray[np.generic]]) -> Names:
        """The names that ``to_arrays`` wrote."""
        words = unpacked(arrays)
        parts = arrays["parts"].astype(np.int32)
        if len(words) != int(arrays["size"]) or (parts.size and parts.max() >= len(words)):
            raise ValueError(
                f"damaged feature names: {len(words)} words for {int(arrays['size'])} expected. "
                "Train the model again or restore the file."
            )
        return cls(words, parts).spelt_once()


@dataclass(frozen=True, eq=False)
class NameIndex:
    """Where names stand among many others; each search costs as little as the names sought.

    A name is sought as one number, of which its words are the digits. Where 64 bits have no room
    for these, the number is a hash, and what is found by it is compared word for word.
    """

    names: Names

    @cached_property
    def words(self) -> dict[str, int]:
        """The number of each word, from 1 on."""
        return {word: number for number, word in enumerate(self.names.vocabulary, start=1)}

    @cached_property
    def codes(self) -> Codes:
        """The numbers of all names."""
        return Codes(self._numbers(self._own))

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

    def find(self, names: Names) -> Indices:
        """The column of each of ``names`` here, -1 where it is unknown.

        >>> NameIndex(Names.of(["a", ("a", "b")])).find(Names.of([("a", "b"), "b", "a"]))
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

    def _digits(self, names: Names) -> NDArray[np.uint64]:
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


def _translate(names: Names, words: Mapping[str, int]) -> NDArray[np.int32]:
    numbers = map(words.__getitem__, names.vocabulary)
    return np.fromiter(chain(numbers, [-1]), np.int32, len(names.vocabulary) + 1)[names.parts]


def _widen(parts: NDArray[np.int32], width: int) -> NDArray[np.int32]:
    missing = width - parts.shape[1]
    return np.pad(parts, ((0, 0), (0, missing)), constant_values=-1) if missing else parts


def packed(vocabulary: Sequence[str]) -> Arrays:
    """The words as one UTF-8 text, never a pickle."""
    text = "\n".join(_escape(word) for word in vocabulary)
    return {"words": np.frombuffer(text.encode(), np.uint8), "size": np.array(len(vocabulary))}


def unpacked(arrays: Mapping[str, NDArray[np.generic]]) -> tuple[str, ...]:
    """The names that ``packed`` wrote."""
    text = arrays["words"].astype(np.uint8).tobytes().decode()
    return tuple(_unescape(w) for w in text.split("\n")) if int(arrays["size"]) else ()


def _escape(word: str) -> str:
    return word.replace("\\", "\\\\").replace("\n", "\\n")


def _unescape(word: str) -> str:
    return "\\".join(part.replace("\\n", "\n") for part in word.split("\\\\"))
