"""Lists of different lengths as flat arrays: what belongs to many of them is computed at once."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from textrank.features import Indices

MAX_TABLE_SLOTS_PER_CODE = (
    16  # places of a table for each code that is numbered by it: filling it takes the time
)


def offsets(sizes: Sequence[int] | NDArray[Any]) -> Indices:
    """Where each list begins, and the end of all.

    >>> offsets([2, 0, 3]).tolist()
    [0, 2, 2, 5]
    """
    found = np.zeros(len(sizes) + 1, dtype=np.intp)
    found[1:] = sizes
    return np.add.accumulate(found, out=found)  # half the time of the method for few


def lengths(ends: NDArray[Any]) -> NDArray[Any]:
    """How long each list is, given ``offsets``; NumPy's own difference takes as long for few.

    >>> lengths(np.array([0, 2, 2, 5])).tolist()
    [2, 0, 3]
    """
    return ends[1:] - ends[:-1]


def slices(sizes: Iterable[int]) -> Iterator[slice]:
    """Where each list lies among the items of all.

    >>> list(slices([2, 3]))
    [slice(0, 2, None), slice(2, 5, None)]
    """
    end = 0
    for size in sizes:
        yield slice(end, end + size)
        end += size


def expand(starts: Indices, sizes: Indices) -> tuple[Indices, Indices]:
    """The places of all items of some lists, given where each begins: whose they are, and where.

    >>> [a.tolist() for a in expand(np.array([5, 0]), np.array([2, 3]))]
    [[0, 0, 1, 1, 1], [5, 6, 0, 1, 2]]
    """
    owner = np.arange(len(sizes)).repeat(sizes)
    begins = np.add.accumulate(sizes) - sizes
    return owner, np.arange(len(owner)) + (starts - begins)[owner]


def concat(lists: Iterable[Sequence[int]]) -> Indices:
    """The items of all lists, one list after the other."""
    return np.array(list(chain.from_iterable(lists)), dtype=np.intp)


def sum_by_owner(values: NDArray[Any], owner: Indices, size: int) -> NDArray[np.float64]:
    """The sum of each owner's values.

    >>> sum_by_owner(np.array([1.0, 2.0, 4.0]), np.array([0, 2, 2]), 3).tolist()
    [1.0, 0.0, 6.0]
    """
    return np.asarray(np.bincount(owner, values, minlength=size), dtype=np.float64)


def run_starts(owner: Indices) -> Indices:
    """Where each run of equal owners begins."""
    if not len(owner):
        return np.zeros(0, dtype=np.intp)
    new = np.empty(len(owner), dtype=bool)
    new[0] = True
    np.not_equal(owner[1:], owner[:-1], out=new[1:])
    return new.nonzero()[0]


def segment_min(values: NDArray[Any], owner: Indices, size: int, empty: Any) -> NDArray[Any]:
    """The least value of each owner, whose values stand together; ``empty`` of one without any.

    Of rows of values the least in each column.

    >>> segment_min(np.array([3, 1, 2]), np.array([0, 0, 2]), 3, 9).tolist()
    [1, 9, 2]
    """
    found = np.full((size, *values.shape[1:]), empty, dtype=values.dtype)
    begins = run_starts(owner)
    if len(begins):
        found[owner[begins]] = np.minimum.reduceat(values, begins)
    return found


def sum_rows_by_owner(values: NDArray[Any], owner: Indices, size: int) -> NDArray[np.float64]:
    """The rows of values of each owner added up, (size, k); rows of an owner stand together.

    >>> sum_rows_by_owner(np.array([[1, 0], [1, 1], [0, 1]]), np.array([0, 0, 2]), 3).tolist()
    [[2.0, 1.0], [0.0, 0.0], [0.0, 1.0]]
    """
    found = np.zeros((size, values.shape[1]))
    begins = run_starts(owner)
    if len(begins):
        found[owner[begins]] = np.add.reduceat(values, begins, dtype=np.float64)
    return found


def first_true(mask: NDArray[np.bool_], owner: Indices) -> Indices:
    """The first place of each owner at which the mask holds; owners stand together."""
    some = mask.nonzero()[0]
    return some[run_starts(owner[some])]


def factorize(codes: Indices) -> tuple[Indices, Indices]:
    """The different codes in order, and the number of each; as ``np.unique``, but quicker.

    Codes that are not large are looked up in a table of all there could be. Of others a code and
    its place are sorted as one number, where there is room for both.

    >>> [a.tolist() for a in factorize(np.array([7, 3, 7]))]
    [[3, 7], [1, 0, 1]]
    """
    bits = len(codes).bit_length()
    least, most = int(codes.min(initial=0)), int(codes.max(initial=0))
    if not len(codes) or least < 0 or most.bit_length() + bits > 62:
        known, number = np.unique(codes, return_inverse=True)
        return known, number
    if most < MAX_TABLE_SLOTS_PER_CODE * len(codes):
        return _looked_up(codes, most)
    both = codes << bits
    both |= np.arange(len(codes))
    both.sort()
    place = both & ((1 << bits) - 1)
    both >>= bits
    new = np.ones(len(codes), dtype=bool)
    np.not_equal(both[1:], both[:-1], out=new[1:])
    number = np.empty(len(codes), dtype=np.intp)
    number[place] = np.cumsum(new, dtype=np.int32) - 1
    return both[new], number


def _looked_up(codes: Indices, most: int) -> tuple[Indices, Indices]:
    used = np.zeros(most + 1, dtype=bool)
    used[codes] = True
    known = used.nonzero()[0]
    number = np.empty(most + 1, dtype=np.intp)
    number[known] = np.arange(len(known))
    return known, number[codes]


@dataclass(frozen=True, eq=False)
class RaggedArray:
    """Lists of numbers, one after the other.

    >>> owner, value = RaggedArray.from_lists([[7, 8], [], [9]]).gather(np.array([2, 0]))
    >>> owner.tolist(), value.tolist()
    ([0, 1, 1], [9, 7, 8])
    """

    starts: Indices  # (lists + 1,)
    values: Indices

    @classmethod
    def from_lists(cls, lists: Sequence[Sequence[int]]) -> RaggedArray:
        """Those of plain lists."""
        return cls(offsets([len(own) for own in lists]), concat(lists))

    @classmethod
    def group_by(cls, owner: Indices, values: Indices, size: int) -> RaggedArray:
        """The values of each of ``size`` owners, in their order."""
        return cls(
            offsets(np.bincount(owner, minlength=size)), values[owner.argsort(kind="stable")]
        )

    @cached_property
    def sizes(self) -> Indices:
        """How long each list is."""
        return self.starts[1:] - self.starts[:-1]

    def gather(self, index: Indices) -> tuple[Indices, Indices]:
        """The items of some lists: the place in ``index``, and the item."""
        owner, place = expand(self.starts[index], self.sizes[index])
        return owner, self.values[place]

    def first(self, index: Indices) -> Indices:
        """The first item of some lists, none of them empty."""
        return self.values[self.starts[index]]
