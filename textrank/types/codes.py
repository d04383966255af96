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
        size = 1 << (SPARSE * len(codes)).bit_length()
        slots = np.full(size, -2, dtype=np.int32)
        last = codes & np.uint64(size - 1)
        slots[last[::-1]] = 2 * order[::-1]  # of equals the first is set last
        other = codes != self.codes[slots[last] >> 1]
        slots[last[other]] |= 1
        return slots
