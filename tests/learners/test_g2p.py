from __future__ import annotations

import numpy as np
import pytest
import scipy.linalg as sla
import scipy.sparse as sp
import spacy

from textrank.candidates import Targets
from textrank.config import load_corpus, load_pipeline
from textrank.evaluation import cross_validate
from textrank.features import FeatureNames, Features
from textrank.learners.multiclass import (
    G2P,
    EmbeddingRLS,
    average_similarities,
    class_matrix,
    neighbour_indicator,
    to_similarities,
)
from textrank.model import Model


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


def feature_problem(rng, n=36):
    """Return features, similarities and targets of n candidates in documents of three."""
    y = np.where(rng.random(n) < 0.5, 1.0, -1.0)
    X = rng.standard_normal((n, 5)) + np.outer(y, [1.0, 0.5, 0, 0, 0])
    groups = np.arange(n) // 3
    names = FeatureNames.from_iterable(f"x{i}" for i in range(5))
    return Features(sp.csr_array(X), names), X @ X.T, Targets(y, groups, groups)


def naive_scores(S, y, new, alpha, ridge, h, columns):
    """Score new candidates by the definition: pair by pair, embedding first, then RLS on it."""
    n = len(y)
    near = np.zeros((n, n))
    for i in range(n):
        order = sorted((j for j in range(n) if j != i), key=lambda j: -S[i, j])[:h]
        for j in order:
            near[i, j] = near[j, i] = 1
        near[i, i] = 1
    W = np.array([[y[i] * y[j] * near[i, j] * S[i, j] for j in range(n)] for i in range(n)])
    R = S[:, columns]
    A, B = R.T @ W @ R, R.T @ R + alpha * np.eye(len(columns))
    values, P = sla.eigh(A, B)
    P = P[:, np.argsort(-values)][:, :2]
    Z, Z_new = R @ P, new[:, columns] @ P
    scale = np.sqrt(np.mean([z @ z for z in Z]))
    Z, Z_new = Z / scale, Z_new / scale
    w = np.linalg.inv(Z.T @ Z + ridge * np.eye(Z.shape[1])) @ Z.T @ y
    return Z_new @ w


@pytest.mark.parametrize("prototypes", [None, 10])
def test_learner_collapses_embedding_and_rls_to_one_weight_per_feature(rng, prototypes):
    F, S, targets = feature_problem(rng)
    learner = EmbeddingRLS([0.5, 2.0], neighbours=6, size=2, ridge=0.7, prototypes=prototypes)
    columns = np.arange(36)
    if prototypes:
        columns = np.sort(np.random.default_rng(0).choice(36, prototypes, replace=False))
    by_gram, by_features = learner.path(S, targets), learner.path(F, targets)
    assert by_features.coefs.shape == (2, 5)
    assert np.count_nonzero(by_gram.coefs[0]) == (prototypes or 36)
    new = rng.standard_normal((4, 5))
    for a, alpha in enumerate((0.5, 2.0)):
        expected = naive_scores(S, targets.y, new @ F.values.T.toarray(), alpha, 0.7, 6, columns)
        np.testing.assert_allclose(new @ by_features.coefs[a], expected, atol=1e-8)
        got = (new @ F.values.T.toarray()) @ by_gram.coefs[a]
        np.testing.assert_allclose(got, expected, atol=1e-8)


def test_held_out_scores_equal_training_without_the_fold(rng):
    F, S, targets = feature_problem(rng)
    learner = EmbeddingRLS([1.0], neighbours=None, size=1, folds=4)
    heldout = learner.path(F, targets).heldout[0]
    for fold in range(4):
        out = targets.groups % 4 == fold
        rest = np.flatnonzero(~out)
        coef = learner.path(S[np.ix_(rest, rest)], targets.take(rest)).coefs[0]
        np.testing.assert_allclose(S[np.ix_(out, rest)] @ coef, heldout[out], atol=1e-8)
    (nested,) = learner.nested(F, targets, [targets.groups % 3])
    for fold in range(3):
        rest = np.flatnonzero(targets.groups % 3 != fold)
        out = np.flatnonzero(targets.groups % 3 == fold)
        path = learner.path(F.rows(rest), targets.take(rest))
        np.testing.assert_allclose(nested.outer[:, out], path.predict(F.rows(out)), atol=1e-8)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"neighbours": 0}, "neighbours must be above 0"),
        ({"ridge": 0.0}, "ridge positive"),
        ({"folds": 1}, "folds must be at least 2"),
        ({"prototypes": 0}, "prototypes must be at least 1"),
        ({"share": 2.0}, "share must be"),
    ],
)
def test_wrong_settings_of_the_learner_fail_with_their_value(settings, message):
    with pytest.raises(ValueError, match=message):
        EmbeddingRLS(**settings)


def test_pipeline_with_combined_similarities_runs_and_saves(tmp_path):
    docs = list(load_corpus("corpora/sample-ppi")(spacy.blank("en")))
    pipeline = load_pipeline("ppi-g2p")
    report = cross_validate(pipeline, docs, folds=3)
    assert sum(note.startswith("kernel ") for note in report.notes) == 2
    model = pipeline.fit(docs)
    assert model.names is not None  # one weight per feature
    model.to_disk(tmp_path / "model")
    candidates = [c for doc in docs for c in pipeline.task.candidates(doc)][:20]
    again = Model.from_disk(tmp_path / "model")
    np.testing.assert_allclose(again.score(candidates), model.score(candidates), atol=1e-12)
