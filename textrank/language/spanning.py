"""The tree that most votes speak for: maximum spanning tree of the arcs of several parses."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from textrank.types import Matrix

Column = dict[int, float]  # the heads that a word has votes for


def spanning_tree(votes: Matrix, roots: Sequence[float]) -> list[int]:  # (n, n), (n,)
    """Heads of the tree with the largest sum of votes; the root's is itself.

    ``votes[h, d]`` speak for ``h`` as head of ``d``, ``roots[d]`` for ``d`` as root. There is one
    root: every word with votes for it is tried, or every word where none has any.

    Chu and Liu (1965), Edmonds (1967).

    >>> votes = np.array([[0, 1, 0], [2, 0, 3], [0, 2, 0]])
    >>> spanning_tree(votes, [1, 2, 0])
    [1, 1, 1]
    """
    arcs = np.array(votes, dtype=np.float64)
    np.fill_diagonal(arcs, np.inf)
    least = arcs.min(axis=0, initial=np.inf)
    np.fill_diagonal(arcs, -np.inf)
    columns: list[Column] = []
    for own, low in zip(arcs.T, least.tolist(), strict=True):
        more = np.flatnonzero(own > low)
        columns.append(dict(zip(more.tolist(), own[more].tolist(), strict=True)))
    return sparse_tree(columns, roots, least.tolist())


def sparse_tree(
    columns: Sequence[Column], roots: Sequence[float], others: Sequence[float] | None = None
) -> list[int]:
    """The same where few heads of a word have any votes; ``others`` is what all others have, or 0.

    Linear in memory and, but for words that many cycles lead to, in time: a sentence may have
    thousands of words.
    """
    n = len(columns)
    others = [0.0] * n if others is None else others
    best, most = [0] * n, -np.inf
    for root in [d for d in range(n) if roots[d] > 0] or range(n):
        heads = _Arborescence.of(columns, others, root).heads()
        arcs = (columns[d].get(h, others[d]) for d, h in enumerate(heads) if d != root)
        total = roots[root] + sum(arcs)
        if total > most:
            best, most = heads, total
    return best


@dataclass(frozen=True, eq=False)
class _Cycle:
    """A cycle of best heads that became one node: its members, each the dependent of the next."""

    node: int
    members: list[int]
    kept: list[float]  # what the arc of each inside the cycle is worth
    leave: dict[int, int]  # of nodes outside, the member that is their best head


@dataclass(eq=False)
class _Arborescence:
    """Best heads where the root is given: every cycle of best heads is contracted and opened.

    Of heads that are worth the same the lowest is taken, a contracted cycle last. Words whose heads
    lead to the root are done: no cycle can reach them any more.
    """

    root: int
    into: dict[int, Column]  # of each node, the heads that are worth more than all others
    others: dict[int, float]  # and what those are worth
    out: dict[int, set[int]]  # the nodes that know one as such a head
    alive: list[bool]  # by node
    first: int = 0  # no node before this one is alive
    chosen: dict[int, int] = field(default_factory=dict)
    cycles: list[_Cycle] = field(default_factory=list)

    @classmethod
    def of(cls, columns: Sequence[Column], others: Sequence[float], root: int) -> _Arborescence:
        into = {d: dict(own) for d, own in enumerate(columns) if d != root}
        out: dict[int, set[int]] = {d: set() for d in range(len(columns))}
        for d, own in into.items():
            for head in own:
                out[head].add(d)
        return cls(root, into, dict(enumerate(others)), out, [True] * len(columns))

    def heads(self) -> list[int]:
        """The head of each word."""
        words = len(self.alive)
        self._contract()
        self.chosen[self.root] = self.root
        dependents: dict[int, list[int]] = {}
        for node, alive in enumerate(self.alive):
            if alive:
                dependents.setdefault(self.chosen[node], []).append(node)
        for cycle in reversed(self.cycles):
            self._open(cycle, dependents)
        return [self.chosen[d] for d in range(words)]

    def _contract(self) -> None:
        """Walks from head to head until all lead to the root; the cycles on the way are nodes."""
        done = {self.root}
        start = 0
        while start < len(self.alive):
            path: list[int] = []
            place: dict[int, int] = {}
            node = start
            while self.alive[start] and node not in done:
                if node in place:
                    members = path[place[node] :]
                    del path[place[node] :]
                    self._join(members)
                    if not path:  # the node has its turn as a start
                        break
                    node = path.pop()
                place[node] = len(path)
                path.append(node)
                self.chosen[node] = self._best(node)
                node = self.chosen[node]
            done.update(path)
            start += 1

    def _best(self, node: int) -> int:
        own, least = self.into[node], self.others[node]
        most = max(own.values(), default=least)
        if most > least:
            return min(head for head, value in own.items() if value == most)
        while not self.alive[self.first]:
            self.first += 1
        lowest = self.first
        while not self.alive[lowest] or lowest == node:
            lowest += 1
        return lowest

    def _join(self, members: list[int]) -> None:
        """Makes one node of a cycle."""
        node, inside = len(self.alive), set(members)
        self.alive.append(True)
        for member in members:
            self.alive[member] = False
        kept = [self._worth(self.chosen[member], member) for member in members]
        self.others[node] = max(
            self.others[member] - worth for member, worth in zip(members, kept, strict=True)
        )
        self._enter(node, members, kept, inside)
        self.cycles.append(_Cycle(node, members, kept, self._leave(node, members, inside)))

    def _enter(
        self, node: int, members: Sequence[int], kept: Sequence[float], inside: set[int]
    ) -> None:
        """What it is worth to open a cycle from outside, at its best member."""
        least = self.others[node]
        own: Column = {}
        for member, worth in zip(members, kept, strict=True):
            for head, value in self.into[member].items():
                if head not in inside:
                    own[head] = max(own.get(head, least), value - worth)
                    self.out[head].discard(member)
                    self.out[head].add(node)
        self.into[node] = own

    def _leave(self, node: int, members: Sequence[int], inside: set[int]) -> dict[int, int]:
        """The nodes that have a head in a cycle now have the node, worth as much as the best."""
        best: dict[int, int] = {}
        for member in members:
            for d in self.out.pop(member):
                if d in inside:
                    continue
                value = self.into[d].pop(member)
                if value > self.into[d].get(node, self.others[d]):
                    self.into[d][node] = value
                    best[d] = member
        self.out[node] = set(best)
        return best

    def _worth(self, head: int, node: int) -> float:
        return self.into[node].get(head, self.others[node])

    def _open(self, cycle: _Cycle, dependents: dict[int, list[int]]) -> None:
        """Gives the members their own heads again, but for the one where the cycle is entered."""
        head = self.chosen.pop(cycle.node)
        entered = [
            self._worth(head, member) - worth
            for member, worth in zip(cycle.members, cycle.kept, strict=True)
        ]
        self.chosen[cycle.members[entered.index(max(entered))]] = head
        for d in dependents.pop(cycle.node, ()):
            if self.chosen.get(d) == cycle.node:  # not so of a node that was opened before
                self.chosen[d] = cycle.leave.get(d, cycle.members[0])
                dependents.setdefault(self.chosen[d], []).append(d)
        for member in cycle.members:
            dependents.setdefault(self.chosen[member], []).append(member)
