"""One parse of many sentences by several copies of a parser, all of them side by side.

Copies differ in the weights of their networks alone, so the states of a sentence under all copies
make their moves together, as those of many sentences do in ``arc_eager``: a row of the grid is a
copy, a column a sentence. Few columns then are enough to keep arrays long.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from textrank.language.arc_eager import (
    BREAK,
    Floats,
    Group,
    Ints,
    Network,
    States,
    Tree,
    groups_of,
)

AT_ONCE = 8192  # words of the sentences that are parsed side by side, times copies
STAY = BREAK + 1  # what a parse does that is over before those of other copies


def parse_copies(
    networks: Sequence[Network], vectors: Sequence[Floats], starts: Ints, lengths: Sequence[int]
) -> list[Tree]:
    """For each network, with its own vectors of the words, what ``arc_eager.parse`` finds.

    All sentences must be known: ``starts`` has no 0, and a Doc begins with one.
    """
    shape = len(networks), len(starts)
    heads, labels = np.zeros(shape, dtype=np.int64), np.zeros(shape, dtype=np.uint64)
    groups = list(groups_of(starts, lengths, max(AT_ONCE // len(networks), 1)))
    room = _room(networks, max(len(group.words) for group in groups) + 1)
    for group in groups:
        states = _Grid(group, starts[group.words], len(networks))
        states.run_all(networks, _tables(networks, vectors, group.words, room))
        words = group.words[group.own]
        for row, network in enumerate(networks):
            found = states.tree(row, network)
            heads[row, words], labels[row, words] = found.heads[group.own], found.labels[group.own]
    return [Tree(*own) for own in zip(heads, labels, strict=True)]


def _room(networks: Sequence[Network], words: int) -> Floats:
    return np.empty(len(networks) * words * networks[0].lower.shape[1], dtype=np.float32)


def _tables(
    networks: Sequence[Network], vectors: Sequence[Floats], words: Ints, room: Floats
) -> Floats:
    shape = len(networks), len(words) + 1, networks[0].lower.shape[1]
    tables = room[: math.prod(shape)].reshape(shape)
    for table, network, own in zip(tables, networks, vectors, strict=True):
        network.fill(table, own[words])
    return tables.reshape(-1, len(networks[0].bias))


class _Grid(States):
    """The parses of some sentences by several copies; each copy has its words in its own block."""

    def __init__(self, group: Group, starts: Ints, copies: int) -> None:
        self.size, self.copies = len(group.words) + 1, copies  # with the word that is not there
        total = copies * self.size
        block = np.arange(copies)[:, None] * self.size
        last = block + self.size - 1  # (copies, 1) the word that is not there
        super().__init__(total - 1)
        self.junk = total
        nobody = np.append(np.repeat(last, self.size), total)
        for links in (self.below, self.left, self.right, self.before):
            links[:] = nobody
        self.next = np.minimum(np.arange(1, total + 2), nobody)
        self.next[(group.close + block).ravel()] = np.repeat(last, len(group.close))
        self.head[:] = self.junk
        self.start[:-1] = np.tile(np.append(starts, 0), copies)
        self.front, self.end = (group.first + block).ravel(), (group.end + block).ravel()
        self.none = np.repeat(last, len(group.first))
        self.top = self.none.copy()

    def run_all(self, networks: Sequence[Network], table: Floats) -> None:
        """Moves on until all sentences are parsed by all copies."""
        upper = np.stack([network.upper for network in networks])
        penalties = np.stack([network.penalties() for network in networks])
        copy = np.arange(len(networks))[:, None]
        moves = networks[0].moves
        while len(self.front):
            shape = len(networks), len(self.front) // len(networks)
            second, following = self.below[self.top], self.next[self.front]
            hidden = self._hidden(table, second, following)
            scores = np.matmul(hidden.reshape(*shape, -1), upper)
            scores += penalties[copy, self._allowed(second, following).reshape(shape)]
            chosen = scores.argmax(axis=2).ravel()
            self._move(np.where(self._going(), moves[chosen], STAY), chosen, second, following)
            some = self._going().reshape(shape).any(axis=0)
            if not some.all():
                self._keep(np.tile(some, len(networks)))

    def _going(self) -> NDArray[np.bool_]:
        going: NDArray[np.bool_] = (self.top != self.none) | (self.front != self.end)
        return going

    def _keep(self, some: NDArray[np.bool_]) -> None:
        self.top, self.front = self.top[some], self.front[some]
        self.end, self.none = self.end[some], self.none[some]

    def tree(self, copy: int, network: Network) -> Tree:
        """The arcs that a copy found."""
        block = slice(copy * self.size, (copy + 1) * self.size - 1)
        head, has_head = self.head[block], self.head[block] < self.junk
        steps = np.where(has_head, head - np.arange(block.start, block.stop), 0)
        return Tree(steps, np.where(has_head, network.labels[self.label[block]], np.uint64(0)))
