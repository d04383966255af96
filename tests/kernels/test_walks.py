"""What is told of walks without following them, against following them."""

from __future__ import annotations

import numpy as np
import pytest

from textrank.graphs import GraphFamily
from textrank.kernels._walks import cyclic_parts, longest_walks


def reached(edges, start):
    """The vertices that walks of at least one edge lead to."""
    found, todo = set(), [start]
    while todo:
        new = {t for s, t in edges if s in todo} - found
        found |= new
        todo = new
    return found


def longest(edges, vertex):
    return max((1 + longest(edges, s) for s, t in edges if t == vertex), default=0)


@pytest.mark.parametrize("seed", range(20))
def test_levels_are_the_longest_walks(seed):
    rng = np.random.default_rng(seed)
    edges = [(s, t) for s in range(7) for t in range(7) if s < t and rng.random() < 0.4]
    order = rng.permutation(7)
    ends = order[np.array(edges, dtype=np.intp).reshape(-1, 2)]
    level, left = longest_walks(*ends.T, 7)
    assert level.tolist() == [longest(ends.tolist(), vertex) for vertex in range(7)]
    assert not len(left)


@pytest.mark.parametrize("seed", range(20))
def test_edges_left_are_those_on_cycles_and_behind(seed):
    rng = np.random.default_rng(seed)
    edges = [(s, t) for s in range(7) for t in range(7) if rng.random() < 0.15]
    ends = np.array(edges, dtype=np.intp).reshape(-1, 2)
    cyclic = {v for v in range(7) if v in reached(edges, v)}
    behind = cyclic.union(*(reached(edges, v) for v in cyclic))
    _, left = longest_walks(*ends.T, 7)
    assert left.tolist() == [i for i, (s, _) in enumerate(edges) if s in behind]

    family = GraphFamily(np.arange(1), ends, np.ones((1, len(ends))), np.zeros((1, 7, 1), np.int32))
    parts = cyclic_parts([family, family])
    assert sorted(parts) == ([0, 1] if cyclic else [])
    for own in parts.values():
        assert {v for part in own for v in part.vertices.tolist()} == cyclic
