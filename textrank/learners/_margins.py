"""Counts of the candidates in each margin, however many levels the labels have.

``MarginCounts.count`` finds, for each candidate, the better ones that score less than one point
above it, and the worse ones less than one point below it. In the order of scores that is the number
of levels above a given one among the first so many positions. Levels are read in digits of
``MAX_DIGIT_BITS`` bits, the highest first: a :class:`_DigitTable` counts digits up to a word of 32
positions from a table, and inside the word as set bits. So a level of 16 bits costs three passes
over the data, besides the sort of the scores.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from textrank.features import Indices, Vector

Counts = NDArray[np.int32]
WORD_BITS = 5  # a word has 2^5 positions
MAX_DIGIT_BITS = 6
_POWERS = np.ldexp(1.0, np.arange(1 << WORD_BITS))
_LOW_BITS = ((1 << np.arange(1 << WORD_BITS)) - 1).astype(np.uint32)  # masks of the first p bits


@dataclass(frozen=True, eq=False)
class _DigitTable:
    """Counts of digits in a sequence of n: ``count(p, t)`` of its first p that are at least t."""

    stride: int  # number of digits plus one
    before: Counts  # (words * stride,) digits of at least t before each word
    words: NDArray[np.uint32]  # (words * stride,) their positions inside each word

    @classmethod
    def from_digits(cls, digits: Indices | Counts, bits: int) -> _DigitTable:
        """Build the table of a sequence (n,) of digits from 0 to ``2**bits - 1``, unchecked.

        The sequence is cut into words of ``2**WORD_BITS`` positions. For each word and digit the
        table has the number of digits at least that large before the word, and the positions of
        such digits inside it as bits.
        """
        n, size = len(digits), 1 << bits
        words = (n >> WORD_BITS) + 1
        cell = np.arange(n, dtype=np.intp)
        cell >>= WORD_BITS
        cell <<= bits
        cell += digits
        counts = np.bincount(cell, minlength=words * size).reshape(words, size)
        powers = np.tile(_POWERS, words)[:n]
        marks = np.bincount(cell, powers, minlength=words * size).reshape(words, size)
        before = np.zeros((words, size + 1), dtype=np.int32)
        at_least = np.cumsum(counts[:, ::-1], axis=1, dtype=np.int32)[:, ::-1]
        np.cumsum(at_least[:-1], axis=0, out=before[1:, :size], dtype=np.int32)
        positions = np.zeros((words, size + 1), dtype=np.uint32)
        # Bits of different digits are disjoint, so that their sum is exact and their union.
        positions[:, :size] = np.cumsum(marks[:, ::-1], axis=1)[:, ::-1]
        return cls(size + 1, before.ravel(), positions.ravel())

    def cells(self, p: Counts, t: Counts) -> tuple[Counts, NDArray[np.uint32]]:
        """Return where to look for ``count(p, t)``: the cell, and the mask of bits before ``p``.

        ``p`` (q,) are numbers of positions, 0 to n, ``t`` (q,) digits; results are (q,). The next
        cell is that of ``count(p, t + 1)``.
        """
        cell = p >> WORD_BITS
        cell *= self.stride
        cell += t
        return cell, _LOW_BITS.take(p & ((1 << WORD_BITS) - 1))

    def count(self, cell: Counts, mask: NDArray[np.uint32]) -> Counts:
        """Return how many of the first p digits are at least t, (q,).

        ``cell`` and ``mask`` (q,) are the result of ``cells(p, t)``.
        """
        bits = self.words.take(cell)
        bits &= mask
        counts = self.before.take(cell)
        counts += np.bitwise_count(bits)
        return counts


@dataclass(frozen=True, eq=False)
class _Pass:
    """One digit of the levels: what does not depend on the scores, by level.

    Positions are those of a sequence that is sorted by the digits before this one; a block has
    equal digits before, an inner block this digit too.
    """

    shift: int
    at_least: Counts  # digits of at least that of the level, in blocks before its own
    above: Counts  # digits above that of the level, in blocks before its own
    start: Counts  # where the inner block of the level begins


@dataclass(frozen=True, eq=False)
class MarginCounts:
    """Levels of n candidates, prepared to count margins for any scores.

    The margin of a candidate holds the better ones that score less than 1 above it, and the worse
    ones less than 1 below it. Levels are read digit by digit, one pass over the data each.
    """

    level: Counts  # (n,) numbers 0 .., higher is better
    bits: int  # of a digit
    passes: tuple[_Pass, ...]
    lower: Indices  # number of candidates below each level

    @classmethod
    def from_levels(cls, level: Indices) -> MarginCounts:
        """Prepare levels (n,), numbered from 0 without gaps; there must be at least one.

        Levels are split into digits of at most ``MAX_DIGIT_BITS`` bits, with one pass for each, the
        highest first.
        """
        total = max(int(level.max()).bit_length(), 1)
        number = -(-total // MAX_DIGIT_BITS)
        bits = -(-total // number)
        ordered = np.sort(level).astype(np.int32)
        shifts = [step * bits for step in reversed(range(number))]
        passes = tuple(_prepare_pass(ordered, shift, bits) for shift in shifts)
        counts = np.bincount(level)
        return cls(level.astype(np.int32), bits, passes, np.cumsum(counts) - counts)

    def count(self, scores: Vector) -> tuple[Indices, Indices]:
        """Return two counts for each candidate i, (n,) each, of the others j in its margin.

        First those of a higher level with ``s_j < s_i + 1``, then those of a lower level with
        ``s_i < s_j + 1``. ``scores`` (n,) are in the order of the levels.
        """
        n = len(scores)
        order = np.argsort(scores)
        ordered = scores.take(order)
        level = self.level.take(order)
        # One merge of the scores and the margins above them: a margin comes before an equal score.
        merged = np.argsort(np.concatenate([ordered + 1.0, ordered]), kind="stable")
        rank = np.arange(n)
        upper = (np.flatnonzero(merged < n) - rank).astype(np.int32)  # scores below s_i + 1
        below = (np.flatnonzero(merged >= n) - rank).astype(np.int32)  # j with s_j + 1 <= s_i
        better, not_lower = self._count_levels(level, upper, below)
        # Of those outside the margin below, some are not of a lower level.
        worse = self.lower.take(level) - (below - not_lower)
        results = np.empty((2, n), dtype=np.intp)
        results[:, order] = better, worse
        return results[0], results[1]

    def _count_levels(self, level: Counts, first: Counts, second: Counts) -> tuple[Counts, Counts]:
        """Count levels above ``level[i]`` among the first ``first[i]`` of the sequence ``level``.

        The second result counts levels of at least ``level[i]`` among the first ``second[i]``. All
        arrays are (n,); ``level`` must be a permutation of ``self.level``.
        """
        digits = (1 << self.bits) - 1
        above, at_least = np.zeros((2, len(level)), dtype=np.int32)
        sequence = level
        for step in self.passes:
            prefix = sequence >> step.shift
            table = _DigitTable.from_digits(prefix & digits, self.bits)
            digit = (level >> step.shift) & digits
            cell, mask = table.cells(first, digit)
            other_cell, other_mask = table.cells(second, digit)
            outside, outside_above = step.at_least.take(level), step.above.take(level)
            greater = table.count(cell + 1, mask)
            greater -= outside_above
            above += greater
            if step is self.passes[-1]:
                at_least += table.count(other_cell, other_mask)
                at_least -= outside
                break
            other_greater = table.count(other_cell + 1, other_mask)
            other_greater -= outside_above
            at_least += other_greater
            # Continue among those with the same digits so far, whose order is kept.
            start = step.start.take(level)
            start -= outside
            first = table.count(cell, mask) - greater + start
            second = table.count(other_cell, other_mask) - other_greater + start
            sequence = sequence.take(stable_order(prefix))
        return above, at_least


def _prepare_pass(ordered: Counts, shift: int, bits: int) -> _Pass:
    """Return the parts of a pass that follow from the sorted levels (n,) alone.

    ``shift`` is the position of the pass's digit in a level, ``bits`` its width, both in bits.
    """
    outer, inner = ordered >> (shift + bits), ordered >> shift
    digit = inner & ((1 << bits) - 1)
    table = _DigitTable.from_digits(digit, bits)
    block = np.searchsorted(outer, outer).astype(np.int32)
    cell, mask = table.cells(block, digit)
    by_level = np.zeros((3, int(ordered[-1]) + 1), dtype=np.int32)
    by_level[:, ordered] = (
        table.count(cell, mask),
        table.count(cell + 1, mask),
        np.searchsorted(inner, inner),
    )
    return _Pass(shift, *by_level)


def stable_order(block: Indices | Counts) -> Indices:
    """Return the stable sorting order (n,) of numbers (n,), none negative.

    By radix sort if all are below 2^16.
    """
    small = block.astype(np.uint16) if block.max(initial=0) < 1 << 16 else block
    return np.argsort(small, kind="stable")
