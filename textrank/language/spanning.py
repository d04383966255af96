"""The tree that most votes speak for: maximum spanning tree of the arcs of several parses."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from textrank.types import Indices, Matrix


def spanning_tree(votes: Matrix, roots: Sequence[float]) -> list[int]:  # (n, n), (n,)
    """Heads of the tree with the largest sum of votes; the root's is itself.

    ``votes[h, d]`` speak for ``h`` as head of ``d``, ``roots[d]`` for ``d`` as root. There is one
    root: every word with votes for it is tried, or every word where none has any.

    Chu and Liu (1965), Edmonds (1967).

    >>> votes = np.array([[0, 1, 0], [2, 0, 3], [0, 2, 0]])
    >>> spanning_tree(votes, [1, 2, 0])
    [1, 1, 1]
    """
    n = len(votes)
    best, most = [0] * n, -np.inf
    arcs = np.array(votes, dtype=np.float64)
    np.fill_diagonal(arcs, -np.inf)
    tried = [d for d in range(n) if roots[d] > 0] or list(range(n))
    for root in tried:
        heads = _arborescence(arcs, root)
        total = roots[root] + sum(arcs[h, d] for d, h in enumerate(heads) if d != root)
        if total > most:
            best, most = heads, float(total)
    return best


def _arborescence(arcs: Matrix, root: int) -> list[int]:
    """Best heads where the root is given: every cycle of best heads is contracted and opened."""
    heads = np.asarray(arcs.argmax(axis=0))
    heads[root] = root
    cycle = _cycle(heads, root)
    if cycle is None:
        return [int(h) for h in heads]

    inside = np.zeros(len(arcs), dtype=bool)
    inside[cycle] = True
    outside = np.flatnonzero(~inside)
    kept = arcs[heads[cycle], cycle]
    enter = arcs[np.ix_(outside, cycle)] - kept  # what opening the cycle at a word costs
    leave = arcs[np.ix_(cycle, outside)]
    m = len(outside)
    small = np.full((m + 1, m + 1), -np.inf)
    small[:m, :m] = arcs[np.ix_(outside, outside)]
    small[:m, m] = enter.max(axis=1)
    small[m, :m] = leave.max(axis=0)
    found = _arborescence(small, int(np.flatnonzero(outside == root)[0]))

    result = heads.copy()
    for place, word in enumerate(outside):
        head = found[place]
        result[word] = outside[head] if head < m else cycle[leave[:, place].argmax()]
    opened = enter[found[m]].argmax()
    result[cycle[opened]] = outside[found[m]]
    result[root] = root
    return [int(h) for h in result]


def _cycle(heads: Indices, root: int) -> Indices | None:
    """Words that go round in a circle, if any do."""
    state = np.zeros(len(heads), dtype=int)  # 0 unseen, otherwise the walk that saw it
    state[root] = -1
    for start in range(len(heads)):
        word, walk = start, start + 1
        while state[word] == 0:
            state[word] = walk
            word = int(heads[word])
        if state[word] == walk:
            found = [word]
            while heads[found[-1]] != word:
                found.append(int(heads[found[-1]]))
            return np.array(found, dtype=np.intp)
    return None
