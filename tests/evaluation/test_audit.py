"""Audit: planted label errors are found, and held-out scores equal retraining."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest
from sklearn.kernel_ridge import KernelRidge

from textrank.candidates import Targets
from textrank.cli.app import run
from textrank.evaluation.audit import (
    audit_corpus,
    audit_dataset,
    doubt_labels,
    estimate_error_rate,
)
from textrank.kernels.algebra import Normalized
from textrank.kernels.graphs import AllPathsGraph
from textrank.learners.rls import RLS
from textrank.pipeline import Pipeline
from textrank.tasks.ppi.graphs import DependencyGraph
from textrank.tasks.ppi.task import PPI


def noisy_targets(n=400, wrong=0.05, seed=0):
    """Labels of a separable problem, a share of which is flipped, with clear scores."""
    rng = np.random.default_rng(seed)
    truth = np.where(rng.random(n) < 0.4, 1.0, -1.0)
    flipped = rng.random(n) < wrong
    y = np.where(flipped, -truth, truth)
    scores = truth + rng.normal(scale=0.3, size=n)
    groups = np.arange(n) // 4
    return scores, Targets(y, groups, groups), flipped


def test_flipped_labels_come_first():
    scores, targets, flipped = noisy_targets()
    doubts = doubt_labels(scores, targets)
    first = np.argsort(-doubts)[: flipped.sum()]
    assert flipped[first].mean() > 0.9
    assert ((doubts >= 0) & (doubts <= 1)).all()


def test_the_error_rate_is_near_the_planted_one():
    scores, targets, flipped = noisy_targets(n=4000)
    share = estimate_error_rate(doubt_labels(scores, targets), targets.y)
    assert share == pytest.approx(flipped.mean(), abs=0.01)


def test_labels_of_one_kind_have_no_errors():
    assert estimate_error_rate(np.array([0.9, 0.1]), np.array([1.0, 1.0])) == 0.0


def test_a_doubt_does_not_depend_on_the_label_itself():
    """The curve of a document is fitted on other documents."""
    scores, targets, _ = noisy_targets(n=80)
    y = targets.y.copy()
    y[0] *= -1
    before = doubt_labels(scores, targets)[0]
    after = doubt_labels(scores, replace(targets, y=y))[0]
    assert before == pytest.approx(1 - after, abs=1e-12)


def test_ranks_are_doubted_by_the_order_of_the_scores():
    y = np.array([3.0, 2.0, 1.0, 5.0, 5.0])
    queries = np.array([0, 0, 0, 1, 1])
    doubts = doubt_labels(np.array([0.1, 0.2, 0.3, 1.0, 2.0]), Targets(y, queries, queries))
    assert doubts.tolist() == [1.0, 1.0, 1.0, 0.0, 0.0]  # a query with equal labels has no order
    doubts = doubt_labels(np.array([3.0, 1.0, 1.0, 1.0, 2.0]), Targets(y, queries, queries))
    assert doubts.tolist() == pytest.approx([0.0, 0.25, 1 / 6, 0.0, 0.0])  # ties count one half


def test_scores_equal_retraining_without_the_document(docs):
    pipeline = Pipeline(PPI(), DependencyGraph(), Normalized(AllPathsGraph()), RLS((0.5,)))
    dataset = pipeline.prepare(docs)
    audit = audit_dataset(pipeline, dataset)
    K, groups, y = np.asarray(pipeline.kernel(dataset.X)), dataset.targets.groups, dataset.targets.y
    for doubt in audit.doubts:
        rest = groups != groups[doubt.row]
        model = KernelRidge(alpha=0.5, kernel="precomputed").fit(K[np.ix_(rest, rest)], y[rest])
        score = model.predict(K[np.ix_([doubt.row], rest)])[0]
        assert doubt.decision.score == pytest.approx(score, abs=1e-9)
        assert doubt.decision.label == y[doubt.row]


def test_doubts_are_ranked_and_annotators_compared(docs):
    for number, doc in enumerate(docs):
        doc.user_data["annotator"] = f"person {number % 2}"
    pipeline = Pipeline(PPI(), DependencyGraph(), Normalized(AllPathsGraph()), RLS((0.5,)))
    audit = audit_corpus(pipeline, docs, corpus="c", title="ppi-apg")
    doubts = [doubt.probability for doubt in audit.doubts]
    assert doubts == sorted(doubts, reverse=True)
    assert [doubt.rank for doubt in audit.doubts] == list(range(1, len(doubts) + 1))
    assert set(audit.by_annotator) == {"person 0", "person 1"}
    assert sum(share.candidates for share in audit.by_document.values()) == len(doubts)


def test_the_command_writes_all_labels(tmp_path, capsys):
    file = tmp_path / "doubts.json"
    code = run(["audit", "ppi-apg", "corpora/sample-ppi", "--top", "3", "--json", str(file)])
    assert code == 0
    result = json.loads(file.read_text())
    assert {"error_rate", "by_document", "by_kind", "doubts", "counts"} <= set(result)
    assert len(result["doubts"]) == result["counts"]["candidates"]
    assert {"rank", "probability", "document", "text", "spans", "label", "score"} <= set(
        result["doubts"][0]
    )
    assert "Estimated share of wrong labels" in capsys.readouterr().out
