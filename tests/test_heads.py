"""Models with two heads: probabilities, explanations, files, relations and decisions."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import textrank
from textrank.candidates import Targets
from textrank.config import with_task_settings
from textrank.learners.calibration import LOG_ODDS, Heads, PlattCalibration
from textrank.learners.reduced import BasisMoments, ReducedRLS
from textrank.model import Model
from textrank.tasks.ppi.task import PPI, RELATION_OF_TYPE
from textrank.training import load_training_plan, train_model

ROOT = Path(__file__).parents[1]
TEXT = "GRB2 binds SOS1. JAK2 phosphorylates STAT3. p53 represses BCL2. IL2 and IL4 were measured."


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Model:
    """A model of some of our own sentences, whose interactions have types, read from disk."""
    lines = (ROOT / "corpora" / "sample-statements" / "corpus.jsonl").read_text().splitlines()
    folder = tmp_path_factory.mktemp("heads")
    corpus = folder / "corpus.jsonl"
    corpus.write_text("\n".join(lines[::12]) + "\n", encoding="utf-8")
    settings = {"learner.size": 120}
    plan = load_training_plan("ppi")
    pipeline = textrank.load_pipeline(plan.pipeline, settings)
    reader = textrank.load_corpus(corpus)
    docs = list(reader(textrank.load_nlp(only=["tagger", "parser"])))
    trained = train_model(pipeline, docs, plan)
    trained.to_disk(folder / "model")
    return Model.from_disk(folder / "model")


@pytest.fixture(scope="module")
def doc(model: Model):
    return model(textrank.load_nlp()(TEXT))


def test_a_corpus_with_types_trains_two_heads(model: Model) -> None:
    assert model.heads is not None
    assert model.heads.names == ("physical", "regulation")
    assert model.fit.coef.shape == (len(model.support or ()), 2)
    assert model.calibration == LOG_ODDS


def test_probability_is_that_of_either(doc) -> None:
    rows = doc._.textrank_ppi
    assert len(rows) == 4
    for row in rows:
        either = 1 - (1 - row["physical"]) * (1 - row["regulation"])
        assert row["probability"] == pytest.approx(either, abs=1e-9)
    assert rows[0]["physical"] > rows[0]["regulation"]
    assert rows[2]["physical"] < rows[2]["regulation"]


def test_types_agree_with_the_leading_head(doc) -> None:
    for row in doc._.textrank_ppi:
        leading = max(("physical", "regulation"), key=row.get)
        assert RELATION_OF_TYPE[row["type"]] == leading


@pytest.mark.parametrize("relation", ["any", "physical", "regulation"])
def test_parts_of_an_explanation_sum_to_the_score(model: Model, relation: str) -> None:
    changed = with_task_settings(model, [f"task.relation={relation}"])
    candidates = changed.pipeline.task.candidates(textrank.load_nlp()(TEXT))
    scores = changed.score(candidates)
    for explain in (changed.explain_batch, changed.explain_relative):
        sums = [sum(value for _, value in parts) for parts in explain(candidates)]
        np.testing.assert_allclose(sums, scores, atol=1e-9)


def test_parts_of_each_head_sum_to_its_log_odds(model: Model) -> None:
    candidates = model.pipeline.task.candidates(textrank.load_nlp()(TEXT))
    log_odds = model.heads.log_odds(model.head_scores(candidates))
    for column, head in enumerate(model.heads.names):
        for relative in (False, True):
            parts = model.explain_head(candidates, head, relative=relative)
            sums = [sum(value for _, value in each) for each in parts]
            np.testing.assert_allclose(sums, log_odds[:, column], atol=1e-9)


def test_a_relation_decides_by_its_own_probability(model: Model) -> None:
    nlp = textrank.load_nlp()
    for relation in ("physical", "regulation"):
        changed = with_task_settings(model, [f"task.relation={relation}"])
        for row in changed(nlp(TEXT))._.textrank_ppi:
            assert row["probability"] == pytest.approx(row[relation], abs=1e-12)
            assert RELATION_OF_TYPE[row["type"]] == relation
        assert changed.describe_decision()["relation"] == relation
        column = model.heads.names.index(relation)
        np.testing.assert_array_equal(changed.labels, model.heads.labels[:, column])


def test_an_unknown_relation_is_refused(model: Model) -> None:
    with pytest.raises(ValueError, match="relation must be one of any, physical, regulation"):
        with_task_settings(model, ["task.relation=genetic"])
    single = replace(model, heads=None, fit=replace(model.fit, coef=model.fit.coef[:, 0]))
    task = replace(model.pipeline.task, relation="physical")
    with pytest.raises(ValueError, match="no probability of 'physical' alone"):
        task.choose_heads(())
    assert single.score([]).shape == (0,)


def test_precision_and_recall_move_the_level(model: Model) -> None:
    low = with_task_settings(model, ["task.recall=0.95"]).describe_decision()
    high = with_task_settings(model, ["task.precision=0.95"]).describe_decision()
    assert low["heldout_recall"] >= 0.95
    assert high["heldout_precision"] >= 0.95
    with pytest.raises(ValueError, match="set one of them"):
        PPI(precision=0.5, recall=0.5)


def test_the_level_of_a_recall_finds_that_share() -> None:
    y, p = np.array([1, -1, 1, 1, -1]), np.array([0.9, 0.8, 0.4, 0.2, 0.1])
    assert PPI(recall=0.6).at_level(y, p).level == pytest.approx(0.4)
    assert PPI(recall=1.0).at_level(y, p).level == pytest.approx(0.2)


def test_files_with_other_numbers_of_heads_are_refused(model: Model, tmp_path: Path) -> None:
    from textrank.io import verify_manifest, write_manifest

    model.to_disk(tmp_path / "model")
    meta = verify_manifest(tmp_path / "model")
    assert json.dumps(list(meta["heads"])) == '["physical", "regulation"]'
    heads = {"physical": meta["heads"]["physical"]}
    write_manifest(tmp_path / "model", {**meta, "heads": heads}, only=meta["files"])
    with pytest.raises(ValueError, match="for 1 heads"):
        Model.from_disk(tmp_path / "model")


def test_heads_are_fitted_as_if_alone() -> None:
    rng = np.random.default_rng(1)
    F, groups = rng.normal(size=(60, 5)), np.repeat(np.arange(15), 4)
    Y = np.sign(F[:, :2] + rng.normal(size=(60, 2)))
    learner, basis = ReducedRLS(size=20, alphas=(0.5, 2.0), seed=3), np.arange(0, 60, 3)
    targets = Targets(Y.max(axis=1), groups, groups, heads=Y)
    fit = learner.fit(F @ F.T, targets, basis)
    for head in range(2):
        path = learner.path(F @ F.T, Targets(Y[:, head], groups, groups), basis)
        np.testing.assert_allclose(fit.coef[:, head], path.coefs[fit.alpha_index], atol=1e-9)
        np.testing.assert_allclose(fit.heldout[:, :, head], path.heldout, atol=1e-9)


def test_moments_give_the_coefficients_of_the_learner() -> None:
    rng = np.random.default_rng(2)
    F, weights = rng.normal(size=(50, 8)), rng.uniform(0.5, 2.0, size=50)
    y, rows = rng.choice([-1.0, 1.0], size=50), np.arange(50)
    basis, K = np.arange(0, 24, 3), F @ F.T
    learner = ReducedRLS(size=8, alphas=(0.7,))
    targets = Targets(y, rows, rows, weights=weights)
    expected = learner.path_on_basis(K[:, basis], basis, targets)[0][0]
    root = np.sqrt(weights)[:, None]
    columns, labels = K[:, basis] * root, y[:, None] * root
    whole = BasisMoments.from_columns(columns, labels)
    part = BasisMoments.from_columns(columns[:20], labels[:20])
    rest = BasisMoments.from_columns(columns[20:], labels[20:])
    gram = K[np.ix_(basis, basis)]
    for moments in (whole, part + rest, whole - rest + rest * 1.0):
        np.testing.assert_allclose(moments.solve(gram, 0.7)[:, 0], expected, atol=1e-8)
    keep = np.arange(5)
    fewer = learner.path_on_basis(K[:, basis[keep]], basis[keep], targets)[0][0]
    found = whole.solve(gram, 0.7, keep)[:, 0]
    np.testing.assert_allclose(found[keep], fewer, atol=1e-8)
    assert not found[5:].any()


def test_corrections_shift_the_log_odds_of_every_head() -> None:
    curves = (PlattCalibration(2.0, -1.0, 0.5), PlattCalibration(1.0, 0.0))
    heads = Heads(("a", "b"), curves, np.zeros((0, 2)), np.zeros((0, 2)))
    scores = np.array([[1.0, -2.0], [-1.0, 0.5]])
    corrected = np.column_stack([scores, [0.25, -3.0]])
    np.testing.assert_allclose(
        heads.log_odds(corrected), heads.log_odds(scores) + np.array([[0.25], [-3.0]])
    )
    np.testing.assert_allclose(
        heads.combine(corrected, heads.names),
        heads.combine(scores, heads.names) + np.array([0.25, -3.0]),
    )
    assert heads.leading(scores, heads.names) == ["a", "b"]
    np.testing.assert_array_equal(heads.combine(scores, ("b",)), scores[:, 1])


def test_log_odds_of_either_are_exact_at_the_extremes() -> None:
    heads = Heads(("a", "b"), (LOG_ODDS, LOG_ODDS), np.zeros((0, 2)), np.zeros((0, 2)))
    far = heads.combine(np.array([[-50.0, -50.0], [50.0, -700.0]]), ("a", "b"))
    np.testing.assert_allclose(far, [-50 + np.log(2), 50.0], rtol=1e-12)
