"""Boosted regression trees as plain arrays: ``BoostedTrees`` adds up the leaves that a row reaches.

Trees are evaluated all at once, without loops over nodes (Lucchese et al. 2015, QuickScorer). Each
inner node whose test fails excludes the leaves of its left branch; a row reaches the first leaf
from the left that no node excludes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

MAX_LEAVES = 16  # of a tree: one bit each
_ALL_LEAVES = np.uint16((1 << MAX_LEAVES) - 1)
_ROWS_AT_ONCE = 1 << 10  # bounds the memory


@dataclass(frozen=True, eq=False)
class BoostedTrees:
    """Sum of regression trees on named columns.

    Arrays have a row per tree and as many columns as the largest tree has inner nodes (m) or leaves
    (l, at most ``MAX_LEAVES``). Nodes that a smaller tree lacks have the mask of all leaves.
    """

    columns: Sequence[str]  # that the nodes test
    features: NDArray[np.uint16]  # (trees, m) index into columns
    thresholds: NDArray[np.float32]  # (trees, m); values above it go to the right
    masks: NDArray[np.uint16]  # (trees, m) bits of the leaves that are left if the value goes right
    values: NDArray[np.float32]  # (trees, l) of the leaves, from left to right

    @classmethod
    def from_nodes(cls, trees: Sequence[NDArray[Any]], columns: Sequence[str]) -> BoostedTrees:
        """Convert trees of scikit-learn's histogram boosting, without its baseline.

        ``trees`` are arrays of nodes with the fields ``is_leaf``, ``value``, ``feature_idx``,
        ``num_threshold``, ``left`` and ``right``, the root first; ``columns`` are those they were
        trained on, without missing values. Only columns that a node tests are kept, in their order.
        Raises ValueError if a tree has more than ``MAX_LEAVES`` leaves.
        """
        converted = [_convert_tree(nodes) for nodes in trees]
        n_inner = max((len(inner) for inner, _ in converted), default=0)
        n_leaves = max((len(leaves) for _, leaves in converted), default=0)
        used = sorted({feature for inner, _ in converted for feature, _, _ in inner})
        features = np.zeros((len(trees), n_inner), dtype=np.uint16)
        thresholds = np.zeros((len(trees), n_inner), dtype=np.float32)
        masks = np.full((len(trees), n_inner), _ALL_LEAVES, dtype=np.uint16)
        values = np.zeros((len(trees), n_leaves), dtype=np.float32)
        for tree, (inner, leaves) in enumerate(converted):
            for node, (feature, threshold, mask) in enumerate(inner):
                features[tree, node] = used.index(feature)
                thresholds[tree, node] = threshold
                masks[tree, node] = mask
            values[tree, : len(leaves)] = leaves
        return cls(tuple(columns[i] for i in used), features, thresholds, masks, values)

    def score(self, X: NDArray[np.float32], columns: Sequence[str]) -> NDArray[np.float64]:
        """Return the sum of the trees for each row of ``X`` (n, columns), shape (n,).

        ``columns`` are the names of the columns of ``X``, of which further ones are ignored; raises
        ValueError if one that the trees test is missing. Scores are 0 without trees. A value that
        is equal to a threshold, or NaN, goes to the left.
        """
        scores = np.zeros(len(X))
        if not len(self.features):
            return scores
        used = X[:, _find_positions(tuple(self.columns), tuple(columns))]
        for start in range(0, len(X), _ROWS_AT_ONCE):
            rows = slice(start, start + _ROWS_AT_ONCE)
            scores[rows] = self._score_rows(used[rows])
        return scores

    def _score_rows(self, X: NDArray[np.float32]) -> NDArray[np.float64]:
        """Return the score of each row of ``X``, whose columns are ``columns``, shape (n,).

        The first dimension inside is that of nodes, so that a row of memory is one node.
        """
        features, thresholds, masks = self._by_node
        goes_right = np.ascontiguousarray(X.T)[features] > thresholds[..., None]
        left = np.where(goes_right, masks[..., None], _ALL_LEAVES)
        remaining = np.bitwise_and.reduce(left, axis=0)  # (trees, n)
        leaves = _LOWEST_BIT[remaining]
        chosen = np.take_along_axis(self.values, leaves, axis=1)
        return np.asarray(chosen.sum(axis=0, dtype=np.float64))

    @cached_property
    def _by_node(self) -> tuple[NDArray[np.intp], NDArray[np.float32], NDArray[np.uint16]]:
        """Return features, thresholds and masks with nodes as the first dimension (m, trees)."""
        return (
            np.ascontiguousarray(self.features.T, dtype=np.intp),
            np.ascontiguousarray(self.thresholds.T),
            np.ascontiguousarray(self.masks.T),
        )


NO_TREES = BoostedTrees(
    (),
    np.zeros((0, 0), dtype=np.uint16),
    np.zeros((0, 0), dtype=np.float32),
    np.zeros((0, 0), dtype=np.uint16),
    np.zeros((0, 0), dtype=np.float32),
)
# Position of the lowest bit of each number below 2^MAX_LEAVES; 0 has none and is never looked up.
_LOWEST_BIT = np.zeros(1 << MAX_LEAVES, dtype=np.intp)
for _bit in reversed(range(MAX_LEAVES)):
    _LOWEST_BIT[1 << _bit :: 2 << _bit] = _bit


@lru_cache(maxsize=8)
def _find_positions(names: tuple[str, ...], columns: tuple[str, ...]) -> NDArray[np.intp]:
    """Return the index of each name among the columns; ValueError if one is missing. Cached."""
    return np.array([columns.index(name) for name in names], dtype=np.intp)


def _convert_tree(nodes: NDArray[Any]) -> tuple[list[tuple[int, float, int]], list[float]]:
    """Return the inner nodes of a tree as (feature, threshold, mask), and the values of its leaves.

    ``mask`` has the bits of all leaves but those of the node's left branch. Leaves are in order
    from left to right, and so are inner nodes: a node comes between those of its two branches.
    Raises ValueError if there are more than ``MAX_LEAVES`` leaves.
    """
    inner: list[tuple[int, float, int]] = []
    leaves: list[float] = []

    def visit(index: int) -> int:
        """Add the subtree of a node; return the bits of its leaves."""
        node = nodes[index]
        if node["is_leaf"]:
            leaves.append(float(node["value"]))
            return 1 << (len(leaves) - 1)
        left = visit(int(node["left"]))
        inner.append(
            (int(node["feature_idx"]), float(node["num_threshold"]), int(_ALL_LEAVES) & ~left)
        )
        return left | visit(int(node["right"]))

    visit(0)
    if len(leaves) > MAX_LEAVES:
        raise ValueError(f"a tree has {len(leaves)} leaves, at most {MAX_LEAVES} are possible")
    return inner, leaves
