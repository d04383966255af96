"""Ragged arrays: lists of different lengths as flat arrays, so that many are processed at once.

A ragged array is its values, all lists concatenated, and ``offsets``: the index in the values at
which each list begins, and at the end their number. List ``i`` is ``values[offsets[i] : offsets[i +
1]]``. Many functions take an *owner* array instead: the index of the list that each value belongs
to, from 0 to ``size - 1``, where ``size`` is the number of lists. "Grouped" means that equal owners
are adjacent. All functions are faster than NumPy's general ones on short input, accept empty input,
return new arrays and check nothing.
"""

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
    16  # range of codes, relative to their number, up to which a table is used
)


def offsets(sizes: Sequence[int] | NDArray[Any]) -> Indices:
    """Return the offsets of lists, (lists + 1,), given their lengths; ``[0]`` without lists.

    >>> offsets([2, 0, 3]).tolist()
    [0, 2, 2, 5]
    """
    result = np.zeros(len(sizes) + 1, dtype=np.intp)
    result[1:] = sizes
    return np.add.accumulate(result, out=result)  # twice as fast as the method for short input


def lengths(ends: NDArray[Any]) -> NDArray[Any]:
    """Return the length of each list, (lists,), given the offsets ``ends``, (lists + 1,).

    Equal to ``np.diff``, but faster on short input.

    >>> lengths(np.array([0, 2, 2, 5])).tolist()
    [2, 0, 3]
    """
    return ends[1:] - ends[:-1]


def slices(sizes: Iterable[int]) -> Iterator[slice]:
    """Yield the slice of each list in the concatenation of all, given their lengths.

    >>> list(slices([2, 3]))
    [slice(0, 2, None), slice(2, 5, None)]
    """
    end = 0
    for size in sizes:
        yield slice(end, end + size)
        end += size


def expand(starts: Indices, sizes: Indices) -> tuple[Indices, Indices]:
    """Return owner and position of all items of some lists, given where each begins and its size.

    List ``i`` has the positions ``starts[i]`` to ``starts[i] + sizes[i] - 1`` of some flat array.
    Both results have shape ``(sum(sizes),)`` and are in the order of the lists, which may overlap.

    >>> [a.tolist() for a in expand(np.array([5, 0]), np.array([2, 3]))]
    [[0, 0, 1, 1, 1], [5, 6, 0, 1, 2]]
    """
    owner = np.arange(len(sizes)).repeat(sizes)
    begins = np.add.accumulate(sizes) - sizes
    return owner, np.arange(len(owner)) + (starts - begins)[owner]


def concat(lists: Iterable[Sequence[int]]) -> Indices:
    """Return the items of all lists as one integer array, in order."""
    return np.array(list(chain.from_iterable(lists)), dtype=np.intp)


def sum_by_owner(values: NDArray[Any], owner: Indices, size: int) -> NDArray[np.float64]:
    """Return the sum of each owner's values, (size,); owners need not be grouped.

    An owner without values has the sum 0.

    >>> sum_by_owner(np.array([1.0, 2.0, 4.0]), np.array([0, 2, 2]), 3).tolist()
    [1.0, 0.0, 6.0]
    """
    return np.asarray(np.bincount(owner, values, minlength=size), dtype=np.float64)


def run_starts(owner: Indices) -> Indices:
    """Return the index at which each run of equal adjacent owners begins, ascending.

    An owner that is not grouped has several runs. The result is empty for empty input.
    """
    if not len(owner):
        return np.zeros(0, dtype=np.intp)
    is_start = np.empty(len(owner), dtype=bool)
    is_start[0] = True
    np.not_equal(owner[1:], owner[:-1], out=is_start[1:])
    return is_start.nonzero()[0]


def segment_min(values: NDArray[Any], owner: Indices, size: int, empty: Any) -> NDArray[Any]:
    """Return the smallest value of each owner, (size, ...); ``empty`` for an owner without values.

    ``values`` has shape ``(n, ...)`` and ``owner`` ``(n,)``. Owners must be grouped. Rows of values
    are reduced column by column. The result has the type of the values.

    >>> segment_min(np.array([3, 1, 2]), np.array([0, 0, 2]), 3, 9).tolist()
    [1, 9, 2]
    """
    result = np.full((size, *values.shape[1:]), empty, dtype=values.dtype)
    starts = run_starts(owner)
    if len(starts):
        result[owner[starts]] = np.minimum.reduceat(values, starts)
    return result


def sum_rows_by_owner(values: NDArray[Any], owner: Indices, size: int) -> NDArray[np.float64]:
    """Return the sum of the rows of values of each owner, (size, k); owners must be grouped.

    ``values`` has shape ``(n, k)`` and ``owner`` ``(n,)``. An owner without rows has zeros.

    >>> sum_rows_by_owner(np.array([[1, 0], [1, 1], [0, 1]]), np.array([0, 0, 2]), 3).tolist()
    [[2.0, 1.0], [0.0, 0.0], [0.0, 1.0]]
    """
    result = np.zeros((size, values.shape[1]))
    starts = run_starts(owner)
    if len(starts):
        result[owner[starts]] = np.add.reduceat(values, starts, dtype=np.float64)
    return result


def first_true(mask: NDArray[np.bool_], owner: Indices) -> Indices:
    """Return the first index of each owner at which the mask is true; owners must be grouped.

    ``mask`` and ``owner`` have one entry per value. The indices are ascending. Owners without a
    true value are left out, so the result can be shorter than the number of owners.
    """
    hits = mask.nonzero()[0]
    return hits[run_starts(owner[hits])]


def factorize(codes: Indices) -> tuple[Indices, Indices]:
    """Return the sorted distinct codes and the index of each code, like ``np.unique`` but faster.

    Index ``i`` is where ``codes[i]`` is among the distinct codes: ``distinct[index]`` equals
    ``codes``. Small codes are looked up in a table over their range. Otherwise a code and its
    position are sorted as one number, if both fit into 62 bits. Negative codes are left to
    ``np.unique``.

    >>> [a.tolist() for a in factorize(np.array([7, 3, 7]))]
    [[3, 7], [1, 0, 1]]
    """
    bits = len(codes).bit_length()
    lowest, highest = int(codes.min(initial=0)), int(codes.max(initial=0))
    if not len(codes) or lowest < 0 or highest.bit_length() + bits > 62:
        distinct, index = np.unique(codes, return_inverse=True)
        return distinct, index
    if highest < MAX_TABLE_SLOTS_PER_CODE * len(codes):
        return _factorize_by_table(codes, highest)
    keyed = codes << bits
    keyed |= np.arange(len(codes))
    keyed.sort()
    position = keyed & ((1 << bits) - 1)
    keyed >>= bits
    is_start = np.ones(len(codes), dtype=bool)
    np.not_equal(keyed[1:], keyed[:-1], out=is_start[1:])
    index = np.empty(len(codes), dtype=np.intp)
    index[position] = np.cumsum(is_start, dtype=np.int32) - 1
    return keyed[is_start], index


def _factorize_by_table(codes: Indices, highest: int) -> tuple[Indices, Indices]:
    """Return sorted distinct codes and the index of each, by a table of ``highest + 1`` slots.

    Codes must not be negative; ``highest`` is at least the largest of them.
    """
    is_used = np.zeros(highest + 1, dtype=bool)
    is_used[codes] = True
    distinct = is_used.nonzero()[0]
    index = np.empty(highest + 1, dtype=np.intp)
    index[distinct] = np.arange(len(distinct))
    return distinct, index[codes]


@dataclass(frozen=True, eq=False)
class RaggedArray:
    """Lists of integers, one after the other; not changed after construction.

    ``starts`` are the offsets of the lists in ``values``, see the module.

    >>> owner, value = RaggedArray.from_lists([[7, 8], [], [9]]).gather(np.array([2, 0]))
    >>> owner.tolist(), value.tolist()
    ([0, 1, 1], [9, 7, 8])
    """

    starts: Indices  # (lists + 1,)
    values: Indices

    @classmethod
    def from_lists(cls, lists: Sequence[Sequence[int]]) -> RaggedArray:
        """Build from plain lists, in order; lists may be empty."""
        return cls(offsets([len(items) for items in lists]), concat(lists))

    @classmethod
    def group_by(cls, owner: Indices, values: Indices, size: int) -> RaggedArray:
        """Build the list of values of each of ``size`` owners, in the order of the values.

        ``owner[i]`` is the owner of ``values[i]``, below ``size``; owners need not be grouped.
        """
        return cls(
            offsets(np.bincount(owner, minlength=size)), values[owner.argsort(kind="stable")]
        )

    @cached_property
    def sizes(self) -> Indices:
        """Length of each list, (lists,)."""
        return self.starts[1:] - self.starts[:-1]

    def gather(self, index: Indices) -> tuple[Indices, Indices]:
        """Return the items of some lists: for each item its position in ``index``, and the item.

        ``index`` has the numbers of the lists, in any order, also repeatedly. Both results are flat
        and in the order of ``index``; an empty list adds nothing.
        """
        owner, position = expand(self.starts[index], self.sizes[index])
        return owner, self.values[position]

    def first(self, index: Indices) -> Indices:
        """Return the first item of the lists with numbers ``index``, none of which may be empty.

        An empty list is not noticed: the result is then an item of a later list, or an IndexError.
        """
        return self.values[self.starts[index]]
