"""The maximum spanning tree against a search through all trees."""

from __future__ import annotations

import itertools
import tracemalloc

import numpy as np
import pytest

from textrank.tasks.parsers import HeadVotes, find_spanning_tree


def spanning_tree(votes, roots):
    """Return the best tree of dense votes: ``votes[h, d]`` are those for ``h`` as head of ``d``."""
    arcs = np.array(votes, dtype=np.float64)
    np.fill_diagonal(arcs, np.inf)
    default = arcs.min(axis=0, initial=np.inf)
    np.fill_diagonal(arcs, -np.inf)
    head_votes: list[HeadVotes] = []
    for column, low in zip(arcs.T, default.tolist(), strict=True):
        heads = np.flatnonzero(column > low)
        head_votes.append(dict(zip(heads.tolist(), column[heads].tolist(), strict=True)))
    return find_spanning_tree(head_votes, roots, default.tolist())


def trees(n, root):
    for heads in itertools.product(range(n), repeat=n):
        own = [word for word in range(n) if heads[word] == word]
        if own == [root] and all(reaches(heads, word, root) for word in range(n)):
            yield heads


def reaches(heads, word, root):
    for _ in heads:
        word = heads[word]
    return word == root


def total(heads, votes, roots):
    return sum(roots[d] if h == d else votes[h, d] for d, h in enumerate(heads))


@pytest.mark.parametrize("seed", range(60))
def test_no_tree_has_more_votes(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 6))
    votes = rng.random((n, n)) * (rng.random((n, n)) < 0.6)
    roots = rng.random(n) * (rng.random(n) < 0.6)
    tried = [d for d in range(n) if roots[d] > 0] or range(n)
    best = max(total(heads, votes, roots) for root in tried for heads in trees(n, root))
    found = spanning_tree(votes, roots.tolist())
    (root,) = [word for word in range(n) if found[word] == word]
    assert all(reaches(found, word, root) for word in range(n))
    assert total(found, votes, roots) == pytest.approx(best)


def test_cycles_within_cycles_are_opened():
    votes = np.zeros((5, 5))
    votes[1, 2] = votes[2, 1] = 9
    votes[2, 3] = votes[3, 1] = votes[1, 3] = 8
    votes[3, 4] = votes[4, 3] = 9
    votes[0, 4] = 1
    assert spanning_tree(votes, [1, 0, 0, 0, 0]) == [0, 3, 1, 4, 0]


def contracted(arcs, root):
    """The tree by the plain method: a smaller matrix for every cycle, and so on."""
    heads = arcs.argmax(axis=0)
    heads[root] = root
    cycle = next((c for c in map(lambda w: circle(heads, w), range(len(heads))) if c), None)
    if cycle is None or root in cycle:
        return heads.tolist()
    outside = [word for word in range(len(heads)) if word not in cycle]
    enter = arcs[np.ix_(outside, cycle)] - arcs[heads[cycle], cycle]
    leave = arcs[np.ix_(cycle, outside)]
    small = np.full((len(outside) + 1, len(outside) + 1), -np.inf)
    small[:-1, :-1] = arcs[np.ix_(outside, outside)]
    small[:-1, -1], small[-1, :-1] = enter.max(axis=1), leave.max(axis=0)
    found = contracted(small, outside.index(root))
    for place, word in enumerate(outside):
        inside = found[place] == len(outside)
        heads[word] = cycle[leave[:, place].argmax()] if inside else outside[found[place]]
    heads[cycle[enter[found[-1]].argmax()]] = outside[found[-1]]
    heads[root] = root
    return heads.tolist()


def circle(heads, word):
    """Where the walk from a word goes round, unless it stops at the root."""
    seen = []
    while word not in seen:
        seen.append(int(word))
        word = heads[word]
    found = seen[seen.index(word) :]
    return found if len(found) > 1 else None


@pytest.mark.parametrize("seed", range(40))
def test_of_equal_arcs_the_same_are_taken_as_by_the_plain_method(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 25))
    votes = np.zeros((n, n))
    for _ in range(3):
        votes[rng.integers(0, n, n), np.arange(n)] += 1
    np.fill_diagonal(votes, -np.inf)
    roots = np.zeros(n)
    roots[rng.integers(n)] = 1
    assert spanning_tree(votes, roots.tolist()) == contracted(votes, int(roots.argmax()))


def test_many_cycles_need_little_more_memory_than_the_votes():
    votes = np.zeros((400, 400))
    pairs = np.arange(400).reshape(-1, 2)
    votes[pairs[:, 0], pairs[:, 1]] = votes[pairs[:, 1], pairs[:, 0]] = 1
    tracemalloc.start()
    found = spanning_tree(votes, [1.0] + [0.0] * 399)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert sum(head == word for word, head in enumerate(found)) == 1
    assert peak < 5 * votes.nbytes
