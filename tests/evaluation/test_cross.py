"""Across corpora: every corpus examined once, shared texts left out, scores as of a saved model."""

from __future__ import annotations

import sys

import pytest
from spacy.tokens import Doc

from textrank.candidates import shares_text
from textrank.evaluation import evaluate
from textrank.evaluation.evaluate import cross_corpora
from textrank.kernels.algebra import Exponential, Normalized
from textrank.kernels.graphs import AllPathsGraph
from textrank.learners.rls import RLS
from textrank.pipeline import Pipeline
from textrank.reports.html import render_cross_corpus
from textrank.tasks.ppi.graphs import DependencyGraph
from textrank.tasks.ppi.task import PPI

KERNELS = {
    "features": Normalized(AllPathsGraph()),
    "gram": Exponential(Normalized(AllPathsGraph())),
}


class Counting(DependencyGraph):
    """Remembers how many candidates it was shown."""

    shown: list[int] = []  # noqa: RUF012 - a frozen dataclass has no other place

    def __call__(self, candidates):
        self.shown.append(len(candidates))
        return super().__call__(candidates)


@pytest.fixture(scope="module")
def corpora(make_docs):
    return {name: make_docs(size, seed, name) for name, size, seed in
            [("a", 12, 1), ("b", 10, 2), ("c", 8, 3)]}  # fmt: skip


@pytest.mark.parametrize("kernel", KERNELS.values(), ids=KERNELS)
def test_every_cell_equals_training_and_testing_alone(corpora, kernel):
    pipeline = Pipeline(PPI(), DependencyGraph(), kernel, RLS((0.25, 1.0)))
    found = cross_corpora(pipeline, corpora)
    assert set(found.reports) == {(a, b) for a in corpora for b in corpora if a != b}
    for (train, test), report in found.reports.items():
        alone = evaluate(pipeline.fit(corpora[train]), corpora[test])
        for name in ("auc", "f", "f_best", "f_rate"):
            assert found.mean(name, train, test) == pytest.approx(alone.measures[name].mean)
        alone = evaluate(pipeline.fit(corpora[train]), corpora[test], positives="auto")
        assert found.mean("f_mean", train, test) == pytest.approx(alone.measures["f"].mean)
        assert report.corpus == test
        assert report.procedure.startswith(f"trained on {train};")
    assert found.mean("auc", "a", "a") is None
    assert set(found.dropped.values()) == {0}


def test_every_corpus_is_represented_once(corpora, monkeypatch):
    module = sys.modules["textrank.evaluation.evaluate"]  # the package has a function of this name
    monkeypatch.setattr(module, "to_config", lambda _: {})
    Counting.shown.clear()
    pipeline = Pipeline(PPI(), Counting(), KERNELS["features"], RLS((1.0,)))
    cross_corpora(pipeline, corpora)
    assert Counting.shown == [24, 20, 16]


def copied(doc, name):
    twin = Doc(doc.vocab).from_bytes(doc.to_bytes())
    twin.user_data["document"] = name
    return twin


def test_shared_texts_are_left_out_of_the_test_only(corpora):
    twins = [copied(doc, f"twin{i}") for i, doc in enumerate(corpora["a"][:3])]
    pipeline = Pipeline(PPI(), DependencyGraph(), KERNELS["features"], RLS((1.0,)))
    found = cross_corpora(pipeline, {"a": corpora["a"], "b": [*corpora["b"], *twins]})
    assert found.dropped == {("a", "b"): 3, ("b", "a"): 3}
    assert found.reports["a", "b"].counts.documents == 10
    clean = cross_corpora(pipeline, {"a": corpora["a"], "b": corpora["b"]})
    assert found.mean("auc", "a", "b") == pytest.approx(clean.mean("auc", "a", "b"))


def test_the_same_id_in_two_corpora_is_no_shared_text(make_docs):
    one, other = make_docs(4, 5, "x"), make_docs(4, 6, "y")
    for doc in other:
        doc.user_data["document"] = doc.user_data["document"].replace("y", "x")
    assert shares_text(one, other) == [False] * 4
    assert shares_text(one, one[1:2]) == [False, True, False, False]


def test_one_corpus_or_nothing_left_is_explained(corpora):
    pipeline = Pipeline(PPI(), DependencyGraph(), KERNELS["features"], RLS((1.0,)))
    with pytest.raises(ValueError, match="at least 2, got 1"):
        cross_corpora(pipeline, {"a": corpora["a"]})
    with pytest.raises(ValueError, match="nothing is left to test"):
        cross_corpora(pipeline, {"a": corpora["a"], "b": corpora["a"]})


def test_the_page_shows_every_cell(corpora):
    pipeline = Pipeline(PPI(), DependencyGraph(), KERNELS["features"], RLS((1.0,)))
    found = cross_corpora(pipeline, corpora)
    text = render_cross_corpus(found)
    for name in ("auc", "f", "f_mean", "f_rate", "f_best"):
        assert f'id="figure-cross-{name}"' in text
    assert text.count('<tr><th scope="row">a</th>') == 2
