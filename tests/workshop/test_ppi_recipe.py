"""The recipe of ppi: two heads, weighted least squares of sources, any of them left out."""

from __future__ import annotations

import runpy
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import spacy
from spacy.tokens import Span
from workshop.recipes import load_recipe

import textrank
from textrank.tasks.ppi.task import PPI

RECIPE = Path(__file__).parents[2] / "models" / "ppi" / "recipe"
PAIRS = 40  # of every source


@pytest.fixture(scope="module")
def script() -> Iterator[dict[str, Any]]:
    sys.path.insert(0, str(RECIPE))
    yield runpy.run_path(str(RECIPE / "train_interactions.py"))
    sys.path.remove(str(RECIPE))


@pytest.fixture
def models(script: dict[str, Any], rng: np.random.Generator) -> Any:
    """Models on made-up pairs of all sources; documents 0 and 20 are also in LLL."""
    recipe = load_recipe(RECIPE)
    names = list(recipe.sources)
    n = PAIRS * len(names)
    F = rng.standard_normal((n, 80))
    source = np.repeat(names, PAIRS)
    Y = np.sign(F[:, :2] + rng.standard_normal((n, 2)))
    for column, relation in enumerate(("physical", "regulation")):
        judged = [name for name in names if relation in recipe.sources[name]["relations"]]
        Y[~np.isin(source, judged), column] = 0.0
    keys = {
        name: [
            frozenset({"shared" if i % 20 == 0 else f"{name}{i}", f"{name} {i}"})
            for i in range(PAIRS)
        ]
        for name in names
    }
    for name in names:
        if name not in ("LLL", "IEPA"):
            keys[name] = [frozenset({f"{name}{i}"}) for i in range(PAIRS)]
    document = np.tile(np.arange(PAIRS), len(names))
    pairs = script["SourcePairs"](None, Y, source, document, keys)
    basis = script["sample_basis"](pairs, dict.fromkeys(names, 6))
    return script["SourceModels"](recipe, pairs, basis, F @ F[basis].T, 1.0)


def naive_fit(models: Any, left_out: Any) -> Any:
    """Solve the equations of each head over all pairs that it learns from."""
    pairs, K = models.pairs, models.K
    kept = np.flatnonzero(~left_out[models.basis])
    coefs = np.zeros((len(models.basis), 2))
    for head in range(2):
        learned = (pairs.Y[:, head] != 0) & ~left_out
        weights = np.zeros(len(learned))
        for name in set(pairs.source[learned]):
            rows = (pairs.source == name) & learned
            weights[rows] = models.recipe.sources[name]["weight"] / np.sqrt(rows.sum())
        weights /= weights[learned].mean()
        A = K[:, kept]
        inside = (A[models.basis[kept]] + A[models.basis[kept]].T) / 2
        left = A.T @ (weights[:, None] * A) + inside
        coefs[kept, head] = np.linalg.solve(left, A.T @ (weights * pairs.Y[:, head]))
    return coefs


@pytest.mark.parametrize("out", [(), ("AImed",), ("LLL", "ge13")], ids=str)
def test_origins_left_out_solve_the_naive_equations(models: Any, out: tuple[str, ...]) -> None:
    pairs = models.pairs
    names = [n for n in models.recipe.sources if models.origin(n) in out]
    left_out = np.isin(pairs.source, names)
    if "LLL" in out:  # documents of IEPA that are also in LLL
        left_out |= (pairs.source == "IEPA") & (pairs.document % 20 == 0)
    np.testing.assert_allclose(models.fit(out), naive_fit(models, left_out), atol=1e-8)


def test_a_corpus_is_left_out_with_given_and_recognised_names(models: Any) -> None:
    left_out = models.left_out(["AImed"])
    assert set(models.pairs.source[left_out]) == {"AImed", "AImed_raw"}


def test_curves_come_from_complete_texts_left_out(models: Any) -> None:
    heads = models.heads()
    count = models.recipe.settings["calibration_pairs"]
    sources = len(models.recipe.settings["calibrate_on"])
    assert heads.heldout.shape == heads.labels.shape == (sources * count, 2)
    rows = models.pairs.source == "pc13_raw"
    expected = models.K[rows] @ models.fit(("pc13",))
    assert np.isin(heads.heldout[:count].round(9), expected.round(9)).all()
    assert models.heads("pc13").heldout.shape == ((sources - 1) * count, 2)
    assert all(curve.sources == sources for curve in heads.calibrations)


def test_the_curve_for_selected_sentences_leaves_the_tested_corpus_out(models: Any) -> None:
    heads = models.heads("IEPA")
    curve = models.selected_curve(heads, "IEPA")
    assert curve.sources == len(models.recipe.settings["selected"]) - 1
    rows = models.pairs.source == "IEPA"
    models.pairs.Y[rows] *= -1  # other labels of the tested corpus change nothing
    assert models.selected_curve(heads, "IEPA") == curve
    rows = models.pairs.source == "LLL"
    models.pairs.Y[rows] *= -1
    assert models.selected_curve(heads, "IEPA") != curve


def test_a_basis_has_pairs_of_every_source_half_of_them_positive(models: Any) -> None:
    chosen = models.pairs.source[models.basis]
    for name in models.recipe.sources:
        assert (chosen == name).sum() == 6
        assert (models.pairs.either[models.basis][chosen == name] > 0).sum() == 3


@pytest.mark.parametrize("name", ["own", "sentences", "abstracts"])
def test_our_own_sources_are_scored_without_their_documents(
    models: Any, script: dict[str, Any], name: str
) -> None:
    rows = models.pairs.source == name
    scores = models.scores_without(name)
    part = rows & (models.pairs.document % script["OWN_PARTS"] == 1)
    expected = models.K[part] @ models.fit((), part)
    np.testing.assert_allclose(scores[part[rows]], expected)


def test_recognised_pairs_are_labelled_by_the_names_they_overlap(script: dict[str, Any]) -> None:
    source_pairs = sys.modules["source_pairs"]
    text = "Human GRB2 binds SOS1 and CBL near SHC1."
    nlp = spacy.blank("en")
    nlp.add_pipe("sentencizer")
    gold, raw = nlp(text), nlp(text)
    spans = [("T1", 1, 2), ("T2", 3, 4), ("T3", 5, 6)]
    gold.spans["entities"] = [Span(gold, a, b, "protein", span_id=i) for i, a, b in spans]
    gold.user_data["gold"] = [
        {"entities": ["T1", "T2"], "label": True, "relations": ["physical"]},
        {"entities": ["T2", "T3"], "label": True, "relations": ["regulation"]},
    ]
    raw.spans["entities"] = [
        Span(raw, a, b, "protein", span_id=str(a)) for a, b in ((0, 2), (3, 4), (5, 6), (7, 8))
    ]
    pipeline = textrank.load_pipeline("ppi-reduced")
    assert isinstance(pipeline.task, PPI)
    source = {"relations": ["physical", "regulation"]}
    labels = [p.labels for p in source_pairs.label_recognised(pipeline, source, gold, raw, 12)]
    none = (-1.0, -1.0)
    assert labels == [(1.0, -1.0), none, none, (-1.0, 1.0), none, none]
    masked = {**source, "both_annotated": True, "relations": ["physical"]}
    labels = [p.labels for p in source_pairs.label_recognised(pipeline, masked, gold, raw, 12)]
    assert labels == [(1.0, 0.0), (-1.0, 0.0), (-1.0, 0.0)]
    assert not list(source_pairs.label_recognised(pipeline, source, gold, raw, 3))


def test_the_influence_of_documents_equals_retraining(models: Any, script: dict[str, Any]) -> None:
    influence = runpy.run_path(str(RECIPE / "write_influence.py"))
    names = list(models.pairs.keys)
    ids = {name: [f"{name}/{i // 2}" for i in range(PAIRS)] for name in names}
    ids["LLL"][1] = ids["IEPA"][3]  # the same abstract in two sources
    models = replace(models, pairs=replace(models.pairs, ids=ids))
    groups, documents = influence["group_documents"](models.pairs)
    assert sorted(np.concatenate(groups).tolist()) == list(range(PAIRS * len(names)))
    assert documents == sorted(documents)
    joined = next(name for name in documents if "IEPA/1" in name.split(" + "))
    row = models.pairs.source.tolist().index("LLL") + 1
    assert row in groups[documents.index(joined)]
    assert any(len(name.split(" + ")) > 1 for name in documents)  # of "shared"
    changes = influence["compute_changes"](models, groups)
    whole = influence["retrain_without"](models, np.empty(0, dtype=np.intp))
    for k in range(0, len(groups), 9):
        part = influence["retrain_without"](models, groups[k])
        expected = models.K @ (part - whole)
        np.testing.assert_allclose(models.K @ changes[:, k], expected, rtol=0, atol=1e-9)
