"""Transfer: closed forms equal retraining, and a corpus that helps is recognised."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from textrank.candidates import Targets
from textrank.cli.app import run
from textrank.evaluation.transfer import (
    _hold_out_without,
    _Problem,
    _State,
    _weighted_aucs,
    _weighted_fs,
    transfer_corpora,
)
from textrank.kernels.algebra import Normalized
from textrank.kernels.graphs import AllPathsGraph
from textrank.learners.base import rows_by_group
from textrank.learners.reduced import SparseRLS
from textrank.learners.rls import RLS
from textrank.linalg import inverse
from textrank.metrics import auc, merge_ties, precision_recall_f
from textrank.pipeline import Pipeline
from textrank.tasks.ppi.graphs import DependencyGraph
from textrank.tasks.ppi.task import PPI

ALPHA = 0.7


def make_problem(seed=0, n=30, foreign=(20, 16)):
    """A target and two foreign corpora; labels depend on the first feature in all of them."""
    rng = np.random.default_rng(seed)
    size = n + sum(foreign)
    F = rng.normal(size=(size, 6))
    y = np.where(F[:, 0] + 0.5 * rng.normal(size=size) > 0, 1.0, -1.0)
    groups = np.concatenate([np.arange(n) // 3, 1000 + np.arange(size - n) // 4])
    ends = np.cumsum([n, *foreign])
    rows = {"a": np.arange(ends[0], ends[1]), "b": np.arange(ends[1], ends[2])}
    return _Problem(F @ F.T, y, groups, [f"d{g}" for g in groups], n, rows)


def retrained(problem, weights, left_out):
    """Scores of all rows by RLS without ``left_out``, with the weights of foreign corpora."""
    v = np.ones(len(problem.y))
    used = np.zeros(len(problem.y), dtype=bool)
    used[: problem.size] = True
    for key, weight in weights.items():
        used[problem.foreign[key]], v[problem.foreign[key]] = True, weight
    rows = np.setdiff1d(np.flatnonzero(used), left_out)
    groups = np.arange(len(rows))
    learner = RLS((ALPHA,), "squared_error")
    fit = learner.fit(
        problem.K[np.ix_(rows, rows)], Targets(problem.y[rows], groups, groups, weights=v[rows])
    )
    return problem.K[:, rows] @ fit.coef


def test_conditioning_equals_weighted_training():
    problem = make_problem()
    rows = np.arange(problem.size)
    weights = {"a": 0.1, "b": 1.0}
    state = _State.from_problem(problem, rows, problem.foreign)
    for key, weight in weights.items():
        state = state.condition(key, weight, ALPHA)
    K, mean = state.K[: problem.size, : problem.size], state.mean[: problem.size]
    y = problem.y[rows]
    G = inverse(K, ALPHA)
    a = G @ (y - mean)
    for group in rows_by_group(problem.groups[rows], len(rows)):
        scores = y[group] - np.linalg.solve(G[np.ix_(group, group)], a[group])
        expected = retrained(problem, weights, group)[group]
        assert np.allclose(scores, expected, rtol=0, atol=1e-9)


def test_trying_a_weight_equals_conditioning():
    problem = make_problem()
    state = _State.from_problem(problem, np.arange(problem.size), problem.foreign)
    tried = state.try_weights("b", ALPHA, "squared_error")
    conditioned = state.condition("b", 1.0, ALPHA).quality(ALPHA, "squared_error")
    assert tried[-1] == pytest.approx(conditioned, abs=1e-9)  # the last weight is 1


def test_leaving_out_two_documents_equals_retraining():
    problem = make_problem()
    weights = {"a": 0.3, "b": 1.0}
    v = np.ones(len(problem.y))
    v[problem.foreign["a"]] = 0.3
    G = inverse(problem.K, ALPHA, v)
    groups = rows_by_group(problem.groups[: problem.size], problem.size)
    gone = problem.foreign["a"][:4]
    scores = _hold_out_without(G, G @ problem.y, problem.y, groups, gone)
    for group in groups:
        expected = retrained(problem, weights, np.concatenate([group, gone]))[group]
        assert np.allclose(scores[group], expected, rtol=0, atol=1e-9)


def test_a_planted_document_is_the_most_harmful():
    problem = make_problem(foreign=(60, 40))
    wrong = problem.foreign["b"][:4]
    problem.y[wrong] = -np.sign(problem.K[wrong][:, : problem.size] @ problem.y[: problem.size])
    problem.K[:, wrong] *= 3  # with large features, so that it weighs
    problem.K[wrong] *= 3
    harmful = problem.find_harmful({"a": 0.3, "b": 1.0}, ALPHA)
    assert harmful[0].document == problem.documents[wrong[0]]
    assert harmful[0].corpus == "b"
    assert harmful[0].squared_error < 0


@pytest.mark.parametrize("ties", [False, True])
def test_weighted_metrics_count_repeated_rows(ties):
    rng = np.random.default_rng(0)
    y, scores = np.where(rng.random(40) < 0.4, 1.0, -1.0), rng.normal(size=40)
    if ties:
        scores = scores.round() + rng.choice([0.0, 1e-13], size=40)
    weights = rng.integers(0, 3, size=(5, 40))
    decisions = scores > 0.2
    for w, area, f in zip(
        weights, _weighted_aucs(y, scores, weights), _weighted_fs(y, decisions, weights),
        strict=True,
    ):  # fmt: skip
        rows = np.repeat(np.arange(40), w)
        assert f == pytest.approx(precision_recall_f(y[rows], decisions[rows]).f)
        merged = merge_ties(scores)[rows]
        positives, negatives = merged[y[rows] > 0][:, None], merged[y[rows] < 0]
        expected = ((positives > negatives) + (positives == negatives) / 2).mean()
        assert area == pytest.approx(expected)
    assert auc(y, scores) == pytest.approx(_weighted_aucs(y, scores, np.ones((1, 40)))[0])


def make_pipeline(learner=None):
    learner = learner or RLS((0.5, 1.0))
    return Pipeline(PPI(), DependencyGraph(), Normalized(AllPathsGraph()), learner)


def test_a_corpus_of_the_same_kind_helps(docs, make_docs):
    others = {"same": make_docs(40, seed=5, prefix="s")}
    result = transfer_corpora(make_pipeline(), docs, others, folds=3, max_candidates=60)
    assert result.candidates == 36
    corpus = result.corpora["same"]
    assert corpus.candidates <= 60
    assert corpus.sampled_out == 10
    assert json.loads(json.dumps(result.to_dict()))["combined"].keys() == {
        "weight", "auc", "auc_interval", "f", "f_interval",
    }  # fmt: skip


def test_documents_of_the_target_are_left_out(docs, make_docs):
    others = {"other": [*docs[:4], *make_docs(6, seed=5, prefix="s")]}
    result = transfer_corpora(make_pipeline(), docs, others, folds=3)
    assert result.corpora["other"].overlapping == 4
    with pytest.raises(ValueError, match="share text with the target"):
        transfer_corpora(make_pipeline(), docs, {"copy": docs}, folds=3)


def test_other_learners_are_refused(docs):
    with pytest.raises(ValueError, match=r"rls\.v1"):
        transfer_corpora(make_pipeline(SparseRLS()), docs, {"x": docs})
    with pytest.raises(ValueError, match="no foreign corpus"):
        transfer_corpora(make_pipeline(), docs, {})


def test_the_command(tmp_path, capsys):
    lines = Path("corpora/sample-statements/corpus.jsonl").read_text().splitlines()
    target, other = tmp_path / "mine.jsonl", tmp_path / "other.jsonl"
    target.write_text("\n".join(lines[::30]) + "\n")
    other.write_text("\n".join(lines[7::30]) + "\n")
    file = tmp_path / "effects.json"
    command = ["transfer", str(target), str(other), "--folds", "2", "--max-candidates", "80"]
    page = tmp_path / "effects.html"
    assert run([*command, "--json", str(file), "--html", str(page)]) == 0
    assert "<h1>mine" in page.read_text()
    assert "change of AUC" in capsys.readouterr().out
    result = json.loads(file.read_text())
    assert {"target", "alpha", "auc", "f", "combined", "corpora", "harmful"} <= set(result)
    assert list(result["corpora"]) == ["other"]
    assert run(["transfer", str(target), str(other), str(other)]) == 2
    assert "are named 'other'" in capsys.readouterr().err
