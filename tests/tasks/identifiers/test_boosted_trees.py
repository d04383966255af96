"""Boosted trees as arrays give the scores of scikit-learn's, also after a round trip to disk."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray
from sklearn.ensemble import HistGradientBoostingClassifier

from textrank.tasks.identifiers.boosted_trees import MAX_LEAVES, NO_TREES, BoostedTrees
from textrank.tasks.identifiers.gazetteer import Gazetteer, Gene, GeneLookup, build_gazetteer

COLUMNS = tuple("abcdef")
Matrix = NDArray[np.float32]


def fit(n_leaves: int) -> tuple[HistGradientBoostingClassifier, BoostedTrees, Matrix]:
    """Trees of scikit-learn, the same as arrays, and rows."""
    rng = np.random.default_rng(0)
    X = np.round(rng.normal(size=(1500, len(COLUMNS))), 1).astype(np.float32)
    y = X[:, 0] * X[:, 2] + X[:, 4] ** 2 > 1
    model = HistGradientBoostingClassifier(max_iter=20, max_leaf_nodes=n_leaves, random_state=0)
    model.fit(X, y)
    nodes = [predictors[0].nodes for predictors in model._predictors]
    return model, BoostedTrees.from_nodes(nodes, COLUMNS), X


@pytest.mark.parametrize("n_leaves", [2, 7, MAX_LEAVES])
def test_scores_are_those_of_scikit_learn(n_leaves: int) -> None:
    model, trees, X = fit(n_leaves)
    expected = model.decision_function(X) - model._baseline_prediction.item()
    np.testing.assert_allclose(trees.score(X, COLUMNS), expected, atol=1e-5)


def test_columns_are_looked_up_by_name() -> None:
    _, trees, X = fit(8)
    expected = trees.score(X, COLUMNS)
    np.testing.assert_array_equal(trees.score(X[:, ::-1], COLUMNS[::-1]), expected)


def test_too_many_leaves_are_refused() -> None:
    with pytest.raises(ValueError, match="leaves, at most 16"):
        fit(MAX_LEAVES + 1)


def test_no_trees_score_zero() -> None:
    assert not NO_TREES.score(np.ones((3, 6), dtype=np.float32), COLUMNS).any()


def test_trees_are_stored_with_the_gazetteer(tmp_path: Path) -> None:
    _, trees, X = fit(8)
    tables = build_gazetteer({Gene("ncbigene:7157", "TP53", 9606): []})
    replace(tables, trees=trees).to_disk(tmp_path)
    read = GeneLookup([tables, Gazetteer.from_disk(tmp_path)]).trees
    np.testing.assert_array_equal(read.score(X, COLUMNS), trees.score(X, COLUMNS))


@pytest.mark.parametrize("key", ["tree_features", "tree_values", "tree_masks"])
def test_damaged_trees_are_refused(key: str) -> None:
    from textrank.tasks.identifiers.gazetteer import _decode_trees, _encode_lines

    arrays = {
        "tree_columns": _encode_lines(("a",)),
        "tree_features": np.zeros((1, 1), dtype=np.uint16),
        "tree_thresholds": np.zeros((1, 1), dtype=np.float32),
        "tree_masks": np.ones((1, 1), dtype=np.uint16),
        "tree_values": np.zeros((1, 2), dtype=np.float32),
    }
    damaged = {
        "tree_features": np.full((1, 1), 7, dtype=np.uint16),
        "tree_values": np.zeros((3, 2), dtype=np.float32),
        "tree_masks": np.ones((1, 4), dtype=np.uint16),
    }
    assert list(_decode_trees(arrays).columns) == ["a"]
    with pytest.raises(ValueError, match="damaged table"):
        _decode_trees({**arrays, key: damaged[key]})
