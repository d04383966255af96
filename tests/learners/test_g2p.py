from __future__ import annotations

import numpy as np
import pytest

from textrank.learners.g2p import (
    G2P,
    average_similarities,
    class_matrix,
    neighbour_indicator,
    to_similarities,
)


def problem(rng):
    F = rng.standard_normal((30, 4))
    y = np.where(F[:, 0] * F[:, 1] > 0, 1.0, -1.0)
    return np.exp(-((F[:, None] - F[None]) ** 2).sum(-1) / 4), y


@pytest.mark.parametrize("neighbours", [5, None])
def test_the_projection_solves_the_stated_problem(rng, neighbours):
    S, y = problem(rng)
    P = G2P(alpha=0.3, neighbours=neighbours, size=3).fit(S, class_matrix(y[:, None], "binary"))
    np.testing.assert_allclose(P.T @ (S.T @ S + 0.3 * np.eye(30)) @ P, np.eye(3), atol=1e-9)
    W = np.outer(y, y) * (1.0 if neighbours is None else S * neighbour_indicator(S, 5))
    goal = np.trace(P.T @ S.T @ W @ S @ P)
    B = np.linalg.cholesky(S.T @ S + 0.3 * np.eye(30))
    best = np.linalg.eigvalsh(np.linalg.solve(B, np.linalg.solve(B, S.T @ W @ S).T))[-3:].sum()
    assert goal == pytest.approx(best)


def test_the_dimension_follows_the_share_of_squared_eigenvalues(rng):
    S, y = problem(rng)
    classes = class_matrix(y[:, None], "binary")
    sizes = [G2P(share=share).fit(S, classes).shape[1] for share in (0.2, 0.9, 1.0)]
    assert sizes == sorted(sizes)
    assert sizes[0] < sizes[-1]


def test_neighbours_are_counted_either_way_or_both_ways():
    S = np.array([[1.0, 0.9, 0.1], [0.9, 1.0, 0.95], [0.1, 0.95, 1.0]])
    np.testing.assert_array_equal(neighbour_indicator(S, 1), [[1, 1, 0], [1, 1, 1], [0, 1, 1]])
    np.testing.assert_array_equal(
        neighbour_indicator(S, 1, mutual=True), [[1, 0, 0], [0, 1, 1], [0, 1, 1]]
    )
    assert neighbour_indicator(S, 99).all()


def test_class_matrices_follow_their_kind():
    Y = np.array([[1.0, 0], [1, 0], [0, 1]])
    np.testing.assert_array_equal(class_matrix(Y, "single")[0], [1, 1, -1])
    np.testing.assert_array_equal(class_matrix(Y, "multi")[0], [1, 1, 0])
    with pytest.raises(ValueError, match="kind"):
        class_matrix(Y, "many")


def test_groups_of_similarities_are_averaged():
    np.testing.assert_allclose(
        average_similarities([np.eye(2), np.ones((2, 2))], [3, 1])[0], [1, 0.25]
    )
    with pytest.raises(ValueError, match="2 groups of similarities but 1"):
        average_similarities([np.eye(2), np.eye(2)], [1])
    with pytest.raises(ValueError, match="negative"):
        average_similarities([np.eye(2)], [-1])


def test_distances_become_similarities():
    D = np.array([[0.0, 2.0], [2.0, 0.0]])
    np.testing.assert_allclose(to_similarities(D), [[2, 0], [0, 2]])
    np.testing.assert_allclose(to_similarities(D, width=1.0)[0], [1, np.exp(-2)])


@pytest.mark.parametrize("settings", [{"alpha": 0}, {"neighbours": 0}, {"size": 0}, {"share": 0.0}])
def test_wrong_settings_are_refused(settings):
    with pytest.raises(ValueError, match=next(iter(settings))):
        G2P(**settings)


def test_similarities_must_be_square_and_finite():
    with pytest.raises(ValueError, match="square"):
        G2P().fit(np.ones((2, 3)), np.ones((2, 2)))
    with pytest.raises(ValueError, match="not finite"):
        G2P().fit(np.array([[1.0, np.nan], [0, 1]]), np.ones((2, 2)))
