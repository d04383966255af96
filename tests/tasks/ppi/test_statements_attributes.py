"""Aspects: all answers about all pairs from one product, and what they do to the rows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from spacy.tokens import Doc

from textrank.component import TaskComponent
from textrank.config import load_corpus, load_model, load_pipeline
from textrank.evaluation.evaluate import evaluate
from textrank.language import load_nlp
from textrank.linear_scores import AVERAGE_NAME
from textrank.model import Model
from textrank.tasks.base import Scored
from textrank.tasks.ppi.blocks import SideWords
from textrank.tasks.ppi.pairs import analyze_pairs
from textrank.tasks.ppi.statements import AttributeModels, PPIStatement
from textrank.tasks.ppi.task import PPI

ROOT = Path(__file__).parents[3]


@pytest.fixture(scope="module")
def docs() -> list[Doc]:
    nlp = load_nlp(only=["tagger", "parser"])
    corpus = load_corpus(ROOT / "corpora" / "sample-statements")(nlp)
    return [doc for number, doc in enumerate(corpus) if number % 12 == 0]


@pytest.fixture(scope="module")
def models(docs: list[Doc]) -> dict[str, Model]:
    return {a: load_pipeline(f"ppi_{a}").fit(docs) for a in ("status", "direction")}


def test_one_product_gives_the_scores_of_every_model(
    docs: list[Doc], models: dict[str, Model]
) -> None:
    pairs = PPI().candidates(docs[3])
    analysed = analyze_pairs(pairs, "own")
    found = AttributeModels.from_models(models).scores(analysed)
    for name, model in models.items():
        task = PPIStatement(name)  # type: ignore[arg-type]
        asked = [c for n, pair in enumerate(pairs) for c in task.label_candidates(pair, f"q{n}")]
        np.testing.assert_allclose(found[name].ravel(), model.score(asked), atol=1e-9)


def test_one_look_at_a_pair_says_what_two_say(docs: list[Doc], models: dict[str, Model]) -> None:
    model = replace(load_model("ppi"), submodels=models)
    pairs = PPI().candidates(docs[3])
    rows = model(docs[3].copy())._.textrank_ppi
    assert len(rows) == len(pairs) > 0
    np.testing.assert_array_equal([row["score"] for row in rows], model.score(pairs))
    for row, answer in zip(rows, model.attributes(pairs), strict=True):
        assert {name: row[name] for name in answer} == answer


def test_a_model_keeps_its_aspects_on_disk_and_in_bytes(
    docs: list[Doc], models: dict[str, Model], tmp_path: Path
) -> None:
    model = replace(load_model("ppi"), submodels=models)
    model.to_disk(tmp_path / "model")
    component = TaskComponent("textrank_ppi", "ppi", None).from_disk(tmp_path / "model")
    again = TaskComponent("textrank_ppi", "ppi", None).from_bytes(component.to_bytes())
    rows = [list(m(docs[5].copy())._.textrank_ppi) for m in (model, component, again)]
    assert rows[0] == rows[1] == rows[2]
    assert {row["status"] for row in rows[0]} <= {"asserted", "negated", "speculated"}


def test_only_what_is_asserted_interacts(make_doc: Callable[..., Doc]) -> None:
    doc = make_doc(
        ["A1", "binds", "B2", "."],
        [1, 1, 1, 1],
        ["nsubj", "ROOT", "dobj", "punct"],
        [(0, 1), (2, 3)],
    )
    doc.user_data["gold"] = []
    (pair,) = PPI().candidates(doc)
    answers = []
    for status in ("negated", "asserted"):
        scored = Scored([pair], np.array([1.0]), attributes=[{"status": status}])
        answers += PPI().annotate(doc, scored)._.textrank_ppi
    assert [row["interacts"] for row in answers] == [False, True]


def test_binding_has_no_direction_and_all_else_has_one(docs: list[Doc]) -> None:
    for doc in load_model("ppi").pipe([doc.copy() for doc in docs[:10]]):
        for row in doc._.textrank_ppi:
            assert (row["type"] == "binding") == (row["direction"] == "none")
            for start, end in row["trigger"]:
                assert doc.text[start:end].strip()


def test_models_may_weigh_blocks_differently(docs: list[Doc], models: dict[str, Model]) -> None:
    pipeline = load_pipeline("ppi_status")
    views: Any = replace(pipeline.representation, weights={"cues": 0.7, "sides": 2.0})  # type: ignore[type-var]
    other = replace(pipeline, representation=views).fit(docs)
    analysed = analyze_pairs(PPI().candidates(docs[3]), "own")
    found = AttributeModels.from_models({**models, "status": other}).scores(analysed)
    for name, model in {**models, "status": other}.items():
        task = PPIStatement(name)  # type: ignore[arg-type]
        pairs = PPI().candidates(docs[3])
        asked = [c for n, pair in enumerate(pairs) for c in task.label_candidates(pair, f"q{n}")]
        np.testing.assert_allclose(found[name].ravel(), model.score(asked), atol=1e-9)


def test_models_that_see_pairs_by_something_else_are_refused(models: dict[str, Model]) -> None:
    other = replace(models["status"].pipeline, representation=SideWords())
    with pytest.raises(ValueError, match="submodel of status has the representation SideWords"):
        AttributeModels.from_models({**models, "status": replace(models["status"], pipeline=other)})


def test_figures_at_the_level_and_with_status_stand_beside(docs: list[Doc]) -> None:
    measures = evaluate(load_model("ppi"), docs[:8]).folds[0].measures
    assert {"f", "f_at_level", "f_asserted_at_level"} <= set(measures)


def test_reasons_relative_to_the_average_candidate_sum_to_the_score(docs: list[Doc]) -> None:
    model = load_pipeline("ppi_status").fit(docs)
    candidates = model.pipeline.task.candidates(docs[2])
    assert model.average is not None
    found = model.explain_relative(candidates)
    sums = [sum(value for _, value in parts) for parts in found]
    np.testing.assert_allclose(sums, model.score(candidates), atol=1e-9)
    usual = float(model.average @ model.fit.coef)
    assert all(parts[-1] == ((AVERAGE_NAME,), pytest.approx(usual)) for parts in found)


def test_averages_are_kept_on_disk(docs: list[Doc], tmp_path: Path) -> None:
    model = load_pipeline("ppi_status").fit(docs[:12])
    model.to_disk(tmp_path / "model")
    again = load_model(tmp_path / "model")
    candidates = model.pipeline.task.candidates(docs[2])
    one, two = (m.explain_relative(candidates)[0][-1][1] for m in (model, again))
    assert one == pytest.approx(two, abs=1e-6)
