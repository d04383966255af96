"""Lists of different lengths as flat arrays: what belongs to many of them is computed at once."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from textrank.types.names import Indices


def offsets(sizes: Sequence[int] | Indices) -> Indices:
    """Where each list begins, and the end of all.

    >>> offsets([2, 0, 3]).tolist()
    [0, 2, 2, 5]
    """
    found = np.zeros(len(sizes) + 1, dtype=np.intp)
    np.cumsum(sizes, out=found[1:])
    return found


def slices(sizes: Iterable[int]) -> Iterator[slice]:
    """Where each list lies among the items of all.

    >>> list(slices([2, 3]))
    [slice(0, 2, None), slice(2, 5, None)]
    """
    end = 0
    for size in sizes:
        yield slice(end, end + size)
        end += size


def spread(starts: Indices, sizes: Indices) -> tuple[Indices, Indices]:
    """The places of all items of some lists, given where each begins: whose they are, and where.

    >>> [a.tolist() for a in spread(np.array([5, 0]), np.array([2, 3]))]
    [[0, 0, 1, 1, 1], [5, 6, 0, 1, 2]]
    """
    owner = np.arange(len(sizes)).repeat(sizes)
    begins = sizes.cumsum() - sizes
    return owner, np.arange(len(owner)) + (starts - begins)[owner]


def flat(lists: Iterable[Sequence[int]]) -> Indices:
    """The items of all lists, one list after the other."""
    return np.array(list(chain.from_iterable(lists)), dtype=np.intp)


def summed(values: NDArray[Any], owner: Indices, size: int) -> NDArray[np.float64]:
    """The sum of each owner's values.

    >>> summed(np.array([1.0, 2.0, 4.0]), np.array([0, 2, 2]), 3).tolist()
    [1.0, 0.0, 6.0]
    """
    return np.asarray(np.bincount(owner, values, minlength=size), dtype=np.float64)


def firsts(owner: Indices) -> Indices:
    """Where each run of equal owners begins."""
    if not len(owner):
        return np.zeros(0, dtype=np.intp)
    new = np.ones(len(owner), dtype=bool)
    np.not_equal(owner[1:], owner[:-1], out=new[1:])
    return new.nonzero()[0]


def least(values: NDArray[Any], owner: Indices, size: int, empty: float) -> NDArray[Any]:
    """The least value of each owner, whose values stand together; ``empty`` of one without any."""
    found = np.full(size, empty, dtype=values.dtype)
    begins = firsts(owner)
    if len(begins):
        found[owner[begins]] = np.minimum.reduceat(values, begins)
    return found


def first_where(mask: NDArray[np.bool_], owner: Indices) -> Indices:
    """The first place of each owner at which the mask holds; owners stand together."""
    some = mask.nonzero()[0]
    return some[firsts(owner[some])]


def numbered(codes: Indices) -> tuple[Indices, Indices]:
    """The different codes in order, and the number of each; as ``np.unique``, but quicker.

    A code and its place are sorted as one number, where there is room for both.

    >>> [a.tolist() for a in numbered(np.array([7, 3, 7]))]
    [[3, 7], [1, 0, 1]]
    """
    bits = len(codes).bit_length()
    if not len(codes) or codes.min() < 0 or int(codes.max()).bit_length() + bits > 62:
        known, number = np.unique(codes, return_inverse=True)
        return known, number
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
