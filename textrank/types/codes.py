"""Numbers found among many others without searching, for models that are asked again and again."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

SPARSE = 4  # slots a code, at the least


@dataclass(frozen=True, eq=False)
class Codes:
    """Where numbers of 64 bits stand among others; a search costs as little as what is sought.

    Their last bits must tell most of them apart: they are hashes, or count something.

    >>> Codes(np.array([7, 3, 7], dtype=np.uint64)).find(np.array([3, 7, 9], dtype=np.uint64))
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
        codes, order = self.ordered
        place = self.places(sought)
        found = np.full(len(sought), -1, dtype=np.intp)
        there = (place >= 0).nonzero()[0]
        there = there[codes[place[there]] == sought[there]]
        found[there] = order[place[there]]
        return found

    def places(self, sought: NDArray[np.uint64]) -> NDArray[np.intp]:
        """Where each code stands in order if it does occur; -1 where that is known not to be so."""
        codes = self.ordered[0]
        place = self._slots[sought & np.uint64(len(self._slots) - 1)].astype(np.intp)
        other = (place >= 0).nonzero()[0]
        other = other[codes[place[other]] != sought[other]]  # of two codes in one slot it has one
        after = np.searchsorted(codes, sought[other])
        place[other] = np.where(after < len(codes), after, -1)
        return place

    @cached_property
    def _slots(self) -> NDArray[np.int32]:
        """By the last bits of a code, where the first of such codes stands in order; or -1."""
        codes = self.ordered[0]
        size = 1 << (SPARSE * len(codes)).bit_length()
        slots = np.full(size, -1, dtype=np.int32)
        at = np.arange(len(codes), dtype=np.int32)[::-1]  # of equals the first one is set last
        slots[codes[at] & np.uint64(size - 1)] = at
        return slots
