"""The maximum spanning tree against a search through all trees."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from textrank.language.spanning import spanning_tree


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
