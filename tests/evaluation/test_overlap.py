"""Names and pairs by their characters: what overlaps, what is equal, what matches what."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest

from textrank.evaluation.evaluate import Hits, exact_links, link_names, link_pairs, match_links


def one(start, end):
    return ((start, end),)


def test_neighbours_do_not_overlap_and_one_character_is_enough():
    assert link_names([one(0, 3)], [one(3, 6)]) == {}
    assert link_names([one(0, 4)], [one(3, 6)]) == {(0, 0): 1 / 6}
    assert link_names([], [one(0, 1)]) == {}


def test_what_lies_in_the_hole_of_a_broken_name_is_not_of_it():
    broken = ((0, 3), (8, 11))
    assert link_names([one(4, 7)], [broken]) == {}
    assert link_names([one(0, 11)], [broken]) == {(0, 0): 6 / 11}
    assert exact_links(link_names([one(0, 11), broken], [broken])) == {(1, 0): 1.0}


def test_a_pair_needs_both_names_each_with_a_partner_of_its_own():
    found, gold = [one(0, 5), one(10, 15)], [one(0, 3), one(10, 15), one(3, 5)]
    names = link_names(found, gold)
    assert link_pairs([(0, 1)], [(1, 0)], names) == {(0, 0): 0.6 + 1.0}  # in either order
    assert link_pairs([(0, 1)], [(0, 2)], names) == {}  # both gold names lie in one found name
    assert link_pairs([(0, 1)], [(0, 0)], names) == {}  # nor can a name interact with itself
    assert link_pairs([(0, 1)], [(0, -1)], names) == {}  # or with one that covers no token


def test_nested_names_go_to_the_nearest_and_no_match_is_lost():
    found = [one(0, 12), one(0, 3)]  # "EGF receptor", and "EGF" in it
    gold = [one(0, 3), one(0, 12)]
    assert match_links(link_names(found, gold)) == {0: 1, 1: 0}
    assert match_links(link_names(found[:1], gold)) == {0: 1}
    # The first agrees better with gold 1, but then the second would have none.
    assert match_links({(0, 0): 0.2, (0, 1): 1.0, (1, 1): 0.9}) == {0: 0, 1: 1}
    assert match_links({}) == {}


def best_by_trying(links, n, m):
    """The size and the sum of the best matching, over all of them."""
    width = max(n, m)
    scores = []
    for order in permutations(range(width), n):
        values = [links[i, j] for i, j in enumerate(order) if (i, j) in links]
        scores.append((len(values), round(sum(values), 9)))
    return max(scores)


@pytest.mark.parametrize("seed", range(20))
def test_matching_is_the_best_of_all(seed):
    rng = np.random.default_rng(seed)
    n, m = rng.integers(1, 6, size=2).tolist()
    links = {
        (i, j): float(rng.integers(1, 5)) / 4
        for i in range(n)
        for j in range(m)
        if rng.random() < 0.4
    }
    found = match_links(links)
    assert len(set(found.values())) == len(found)
    assert set(found.items()) <= set(links)
    total = round(sum(links[pair] for pair in found.items()), 9)
    assert (len(found), total) == best_by_trying(links, n, m)


def test_measures_and_their_absence():
    hits = Hits(found=4, gold=5, right=3)
    assert hits.prf == (3 / 4, 3 / 5, 2 / 3)
    assert hits.to_dict()["false_positives"] == 1
    assert hits.to_dict()["missed"] == 2
    assert Hits(0, 2, 0).prf == (None, 0.0, 0.0)
    assert Hits(0, 0, 0).prf == (None, None, None)
