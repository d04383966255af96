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
    FEATURES,
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
    tables = _Tables(networks, vectors)
    for group in groups_of(starts, lengths, max(AT_ONCE // len(tables), 1)):
        states = _Grid(group, starts[group.words], networks)
        states.run_all(networks, tables.of(group.words), len(tables) == 1)
        for row, network in enumerate(networks):
            found = states.tree(row, network)
            heads[row, group.words], labels[row, group.words] = found.heads, found.labels
    return [Tree(*own) for own in zip(heads, labels, strict=True)]


class _Tables:
    """What words add to states: a table for each copy, or one where all see words alike.

    The room for them is taken once, for it is large.
    """

    def __init__(self, networks: Sequence[Network], vectors: Sequence[Floats]) -> None:
        first = networks[0]
        alike = all(network.lower is first.lower for network in networks)
        each = list(zip(networks, vectors, strict=True))
        self._each = each[:1] if alike else each
        self._wide = first.lower.shape[1], len(first.bias)
        self._room = np.empty(0, dtype=np.float32)

    def __len__(self) -> int:
        return len(self._each)

    def of(self, words: Ints) -> Floats:
        """Those of some words, one below the other, without the bias of the copies."""
        shape = len(self), len(words) + 1, self._wide[0]
        if len(self._room) < math.prod(shape):
            self._room = np.empty(math.prod(shape), dtype=np.float32)
        tables = self._room[: math.prod(shape)].reshape(shape)
        for table, (network, vectors) in zip(tables, self._each, strict=True):
            network.fill(table, vectors[words])
        return tables.reshape(-1, self._wide[1])


class _Grid(States):
    """The parses of some sentences by several copies; each copy has its words in its own block."""

    def __init__(self, group: Group, starts: Ints, networks: Sequence[Network]) -> None:
        copies = len(networks)
        self.bias = np.stack([network.bias for network in networks])[:, None]
        self.size = len(group.words) + 1  # with the word that is not there
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
        self.front = (group.first + block).ravel()
        self.none = np.repeat(last, len(group.first))
        self.top = self.none.copy()

    def run_all(self, networks: Sequence[Network], table: Floats, alike: bool) -> None:
        """Moves on until all sentences are parsed by all copies; they may share the table."""
        self.skipped = FEATURES * (self.none - self.size + 1) if alike else np.zeros_like(self.none)
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
        going: NDArray[np.bool_] = (self.top != self.none) | (self.front != self.none)
        return going

    def _keep(self, some: NDArray[np.bool_]) -> None:
        self.top, self.front = self.top[some], self.front[some]
        self.none, self.skipped = self.none[some], self.skipped[some]

    def _rows(self, table: Floats, words: Ints, place: int) -> Floats:
        found = table.take(FEATURES * words + (place - self.skipped), axis=0)
        if place == 0:
            each = found.reshape(len(self.bias), -1, found.shape[1])
            each += self.bias
        return found

    def tree(self, copy: int, network: Network) -> Tree:
        """The arcs that a copy found."""
        block = slice(copy * self.size, (copy + 1) * self.size - 1)
        head, has_head = self.head[block], self.head[block] < self.junk
        steps = np.where(has_head, head - np.arange(block.start, block.stop), 0)
        return Tree(steps, np.where(has_head, network.labels[self.label[block]], np.uint64(0)))
