"""The recipe of ppi: weighted least squares of sources, any of them left out."""

from __future__ import annotations

import runpy
from pathlib import Path

import numpy as np
import pytest
from workshop.recipes import load_recipe

from textrank.learners.reduced import ReducedRLS

RECIPE = Path(__file__).parents[2] / "models" / "ppi" / "recipe"


@pytest.fixture(scope="module")
def script():
    return runpy.run_path(str(RECIPE / "train_interactions.py"))


@pytest.fixture
def models(script, rng):
    """Models on made-up pairs of all sources; every 20th pair is also in LLL."""
    recipe = load_recipe(RECIPE)
    names = list(recipe.sources)
    F = rng.standard_normal((240, 80))
    source = np.repeat(names, 40)
    shared = np.zeros((240, len(names)), dtype=bool)
    shared[::20, names.index("LLL")] = True
    y = np.sign(F[:, 0] + rng.standard_normal(240))
    pairs = script["SourcePairs"](None, y, source, shared, np.arange(240) % 3)
    basis = script["sample_basis"](pairs, dict.fromkeys(names, 6))
    learner = ReducedRLS(size=len(basis), alphas=[1.0])
    return script["SourceModels"](recipe, learner, pairs, names, basis, F @ F[basis].T)


@pytest.mark.parametrize("out", [(), ("AImed",), ("LLL", "ge13")], ids=str)
def test_sources_left_out_solve_the_naive_equations(models, out):
    pairs, K = models.pairs, models.K
    left_out = np.isin(pairs.source, out)
    if "LLL" in out:
        left_out |= pairs.shared.any(axis=1)
    weights = np.zeros(len(pairs.y))
    for name in set(pairs.source[~left_out]):
        rows = (pairs.source == name) & ~left_out
        weights[rows] = models.recipe.sources[name]["weight"] / np.sqrt(rows.sum())
    weights /= weights[~left_out].mean()
    kept = np.flatnonzero(~left_out[models.basis])
    A = K[:, kept]
    left = A.T @ (weights[:, None] * A) + A[models.basis[kept]]
    coefs = np.zeros(len(models.basis))
    coefs[kept] = np.linalg.solve(left, A.T @ (weights * pairs.y))
    np.testing.assert_allclose(models.fit(out), coefs, atol=1e-8)


def test_calibration_scores_come_from_complete_texts_left_out(models):
    scores, labels, sources = models.heldout()
    assert set(sources) == {"AImed", "ge13"}
    assert len(scores) == len(labels) == len(sources) == 4000
    rows = models.pairs.source == "AImed"
    expected = models.K[rows] @ models.fit(("AImed",))
    assert np.isin(scores[:2000].round(9), expected.round(9)).all()


def test_a_basis_has_pairs_of_every_source_half_of_them_positive(models):
    chosen = models.pairs.source[models.basis]
    for name in models.names:
        assert (chosen == name).sum() == 6
        assert (models.pairs.y[models.basis][chosen == name] > 0).sum() == 3
