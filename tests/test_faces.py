"""Python, cfg, spaCy component, scikit-learn estimator and command line give equal scores."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np
import pytest
import spacy
from spacy.tokens import Doc

import textrank.component  # noqa: F401 - an installed textrank is found by its entry points
from textrank import (
    Model,
    Pipeline,
    cross_validate,
    dump_pipeline,
    load_corpus,
    load_pipeline,
)
from textrank.cli import main
from textrank.cli.app import run
from textrank.estimators import RLSClassifier
from textrank.features import Vector
from textrank.kernels.algebra import Normalized
from textrank.kernels.graphs import AllPathsGraph
from textrank.learners.rls import RLS
from textrank.reports.table import write_report
from textrank.tasks.ppi.graphs import DependencyGraph
from textrank.tasks.ppi.task import PPI

SAMPLE = Path(__file__).parents[1] / "corpora" / "sample-ppi"
PIPELINE = Pipeline(PPI(), DependencyGraph(), Normalized(AllPathsGraph()), RLS([0.5]))


@pytest.fixture(scope="module")
def docs() -> list[Doc]:
    return list(load_corpus(SAMPLE)(spacy.blank("en")))


@pytest.fixture(scope="module")
def model(docs: list[Doc]) -> Model:
    return PIPELINE.fit(docs)


@pytest.fixture(scope="module")
def scores(model: Model, docs: list[Doc]) -> Vector:
    """What Python gives, which the other faces must give too."""
    return model.score([c for doc in docs for c in PIPELINE.task.candidates(doc)])


def test_cfg(docs: list[Doc], scores: Vector, tmp_path: Path) -> None:
    (tmp_path / "own.cfg").write_text(dump_pipeline(PIPELINE))
    pipeline = load_pipeline(tmp_path / "own.cfg")
    candidates = [c for doc in docs for c in pipeline.task.candidates(doc)]
    np.testing.assert_allclose(pipeline.fit(docs).score(candidates), scores, atol=1e-12)


def test_component(model: Model, docs: list[Doc], scores: Vector, tmp_path: Path) -> None:
    model.to_disk(tmp_path / "model")
    nlp = spacy.blank("en")
    nlp.add_pipe("textrank_ppi", config={"model": None}).from_disk(tmp_path / "model")
    found = [row["score"] for doc in nlp.pipe(docs) for row in doc._.textrank_ppi]
    np.testing.assert_allclose(found, scores, atol=1e-12)


def test_estimator(docs: list[Doc], scores: Vector) -> None:
    seen = PIPELINE.prepare(docs)
    K = PIPELINE.kernel(seen.X)
    estimator = RLSClassifier(alphas=[0.5], kernel="precomputed", fit_intercept=False)
    estimator.fit(K, seen.targets.y, groups=seen.targets.groups)
    np.testing.assert_allclose(estimator.decision_function(K), scores, atol=1e-9)


def test_command(
    model: Model, scores: Vector, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    model.to_disk(tmp_path / "model")
    before, sys.argv = sys.argv, ["textrank", "apply", str(tmp_path / "model"), str(SAMPLE)]
    try:
        with pytest.raises(SystemExit, match="0"):
            main()
    finally:
        sys.argv = before
    rows = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    found = [pair["score"] for row in rows for pair in row["textrank_ppi"]]
    np.testing.assert_allclose(found, scores, atol=1e-12)


def test_the_run_command_gives_the_report_of_cross_validate(
    docs: list[Doc], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "own.cfg").write_text(dump_pipeline(PIPELINE))
    told = tmp_path / "report.json"
    words = ["run", str(tmp_path / "own.cfg"), str(SAMPLE), "--folds", "3", "--seed", "2"]
    assert run([*words, "--json", str(told)]) == 0
    expected = cross_validate(PIPELINE, docs, folds=3, seed=2, corpus=SAMPLE.name, title="own")
    write_report(expected, tmp_path / "expected.json")
    found, wanted = (json.loads(p.read_text()) for p in (told, tmp_path / "expected.json"))
    assert found.pop("seconds")
    wanted.pop("seconds")
    assert found == wanted
