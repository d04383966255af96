"""Names and pairs found in a text against those of gold, by the characters they cover."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import scipy.sparse as sp
from scipy.optimize import linear_sum_assignment
from scipy.sparse.csgraph import connected_components

from textrank.measures import PRF

Pieces: TypeAlias = Sequence[tuple[int, int]]  # characters of a name, ends exclusive
Links: TypeAlias = Mapping[tuple[int, int], float]  # (found, gold) -> how much they agree


@dataclass(frozen=True)
class Hits:
    """How many were found, how many there are, and how many of both are the same."""

    found: int
    gold: int
    right: int

    @property
    def prf(self) -> PRF:
        """Precision, recall and F; None where a denominator is zero."""
        precision = self.right / self.found if self.found else None
        recall = self.right / self.gold if self.gold else None
        total = self.found + self.gold
        return PRF(precision, recall, 2 * self.right / total if total else None)

    def to_dict(self) -> dict[str, Any]:
        """Counts and measures as plain values."""
        return {
            "found": self.found,
            "gold": self.gold,
            "true_positives": self.right,
            "false_positives": self.found - self.right,
            "missed": self.gold - self.right,
            **self.prf._asdict(),
        }


def name_links(found: Sequence[Pieces], gold: Sequence[Pieces]) -> dict[tuple[int, int], float]:
    """The names that share a character, each with the common share of all their characters.

    It is 1 where the boundaries are the same. What lies in the hole of a broken name is not of it.

    >>> name_links([[(0, 4)], [(6, 8)]], [[(2, 6)], [(6, 8)]])
    {(0, 0): 0.3333333333333333, (1, 1): 1.0}
    """
    if not found or not gold:
        return {}
    a, b = (np.array([[p[0][0], p[-1][1]] for p in side]) for side in (found, gold))
    near = (a[:, None, 0] < b[None, :, 1]) & (b[None, :, 0] < a[:, None, 1])
    links = {}
    for i, j in np.argwhere(near).tolist():
        one, other = _characters(found[i]), _characters(gold[j])
        if one & other:
            links[i, j] = len(one & other) / len(one | other)
    return links


def pair_links(
    found: Sequence[tuple[int, int]], gold: Sequence[tuple[int, int]], names: Links
) -> dict[tuple[int, int], float]:
    """The pairs whose names are linked, one to one in either order, with the sum of their links.

    Pairs are indices of names; ``names`` links found ones to gold ones.
    """
    number = {frozenset(pair): i for i, pair in enumerate(found)}
    near: dict[int, list[int]] = {}
    for own, other in names:
        near.setdefault(other, []).append(own)
    links: dict[tuple[int, int], float] = {}
    for j, (c, d) in enumerate(gold):
        for a in near.get(c, ()):
            for b in near.get(d, ()):
                i = number.get(frozenset((a, b)))
                if i is not None and a != b and c != d:
                    agree = names[a, c] + names[b, d]
                    links[i, j] = max(agree, links.get((i, j), 0.0))
    return links


def exact(links: Links, parts: int = 1) -> dict[tuple[int, int], float]:
    """The links of equal boundaries; a pair has two ``parts``."""
    return {key: value for key, value in links.items() if value == parts}


def matched(links: Links) -> dict[int, int]:
    """Found ones with their gold ones, each at most once.

    As many as can be matched are; of all such ways the one whose links sum highest, so that of
    nested names the nearest wins. What is then still equal goes by order.

    >>> matched({(0, 0): 0.5, (0, 1): 1.0, (1, 1): 0.9})
    {0: 0, 1: 1}
    """
    if not links:
        return {}
    ends = np.array(list(links))
    n, m = ends.max(axis=0) + 1
    graph = sp.csr_array((np.ones(len(ends)), (ends[:, 0], n + ends[:, 1])), shape=(n + m, n + m))
    part = connected_components(graph, directed=False)[1][ends[:, 0]]
    order = np.argsort(part, kind="stable")
    values = np.array(list(links.values()))
    found: dict[int, int] = {}
    for group in np.split(order, np.flatnonzero(np.diff(part[order])) + 1):
        found |= _assigned(ends[group], values[group])
    return dict(sorted(found.items()))


def _assigned(ends: Any, values: Any) -> dict[int, int]:
    rows, row = np.unique(ends[:, 0], return_inverse=True)
    columns, column = np.unique(ends[:, 1], return_inverse=True)
    gain = np.zeros((len(rows), len(columns)))
    # One match more outweighs any agreement.
    gain[row, column] = values + values.max() * min(gain.shape) + 1.0
    best = zip(*linear_sum_assignment(gain, maximize=True), strict=True)
    return {int(rows[i]): int(columns[j]) for i, j in best if gain[i, j] > 0}


def _characters(pieces: Pieces) -> set[int]:
    return {place for start, end in pieces for place in range(start, end)}
