"""Choices of kernels and kernels that learn from inputs, from a cfg to a saved model."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import spacy
from spacy.tokens import Doc

from textrank.config import dump_pipeline, load_pipeline
from textrank.evaluation import cross_validate
from textrank.evaluation.evaluate import _score_dataset
from textrank.evaluation.splits import make_folds
from textrank.features import Features, GramAlternatives, take_rows
from textrank.io import pack_arrays, unpack_arrays
from textrank.kernels.algebra import Choice, Linear, Normalized, OnView, Power, Scale, Sum
from textrank.kernels.sequences import Positional
from textrank.model import Model
from textrank.pipeline import Pipeline
from textrank.protocols import expand_choices, learn_kernel, learns_from_inputs
from textrank.representations.transformations import (
    Bag,
    LearnedPositions,
    PositionTable,
    Strict,
    Weighting,
)

CFG = """
[pipeline]
@pipelines = "views.v1"
[pipeline.task]
@tasks = "spelling.v1"
sets = [["than", "then"]]
[pipeline.views]
[pipeline.views.words]
[pipeline.views.words.representation]
@representations = "word_positions.v1"
span = 4
form = "lower"
[pipeline.views.words.kernel]
@kernels = "choice.v1"
[pipeline.views.words.kernel.kernels]
[pipeline.views.words.kernel.kernels.bag]
@kernels = "normalized.v1"
empty = "zero"
[pipeline.views.words.kernel.kernels.bag.kernel]
@kernels = "positional.v1"
[pipeline.views.words.kernel.kernels.bag.kernel.positions]
@transformations = "bag.v1"
[pipeline.views.words.kernel.kernels.tags]
@kernels = "normalized.v1"
empty = "zero"
[pipeline.views.words.kernel.kernels.tags.kernel]
@kernels = "positional.v1"
[pipeline.views.words.kernel.kernels.tags.kernel.positions]
@transformations = "strict.v1"
[pipeline.views.words.kernel.kernels.tags.kernel.words]
@transformations = "shared_tag.v1"
tags = "english"
[pipeline.views.words.kernel.kernels.learnt]
@kernels = "normalized.v1"
empty = "zero"
[pipeline.views.words.kernel.kernels.learnt.kernel]
@kernels = "positional.v1"
[pipeline.views.words.kernel.kernels.learnt.kernel.positions]
@transformations = "weighting.v1"
decay = 1.0
base = 0.1
[pipeline.views.words.kernel.kernels.learnt.kernel.positions.of]
@transformations = "learned_positions.v1"
bins = [1, 2, 3]
[pipeline.views.words.kernel.kernels.learnt.kernel.words]
@transformations = "learned_words.v1"
rank = 2
minimum = 1
[pipeline.learner]
@learners = "blockwise.v1"
select = "accuracy"
[pipeline.learner.learner]
@learners = "sparse_rls.v1"
alphas = [0.1, 1.0]
folds = 3
"""


@pytest.fixture(scope="module")
def pipeline(tmp_path_factory: pytest.TempPathFactory) -> Pipeline:
    file = tmp_path_factory.mktemp("cfg") / "choice.cfg"
    file.write_text(CFG.replace('select = "accuracy"\n', ""))
    return load_pipeline(file)


@pytest.fixture(scope="module")
def docs() -> list[Doc]:
    """Sentences in which the tag of the word before decides, with words seen once only."""
    nlp = spacy.blank("en")
    adjectives = ["larger", "smaller", "older", "younger", "faster", "slower", "higher", "lower"]
    verbs = ["went", "came", "ran", "spoke", "ate", "sat", "fell", "rose"]
    texts = []
    for adjective, verb in zip(adjectives, verbs, strict=True):
        texts += [f"one thing {adjective} than one thing .", f"one thing {verb} then one thing ."]
    docs = []
    for number, text in enumerate(texts):
        words = text.split()
        doc = Doc(nlp.vocab, words, sent_starts=[i == 0 for i in range(len(words))])
        doc.user_data["document"] = f"d{number}"
        docs.append(doc)
    return docs


def test_choices_inside_a_kernel_are_expanded_in_order():
    inner = Choice({"plain": Linear(), "square": Power(Linear())})
    kernel = Sum({"a": OnView("x", inner), "b": Choice([Scale(Linear(), 2.0), Linear()])})
    expanded = expand_choices(kernel)
    assert list(expanded) == [
        "plain + Scale", "plain + Linear", "square + Scale", "square + Linear",
    ]  # fmt: skip
    assert expanded["square + Linear"] == Sum({"a": OnView("x", Power(Linear())), "b": Linear()})
    assert expand_choices(Linear()) == {"": Linear()}
    with pytest.raises(ValueError, match="a choice among plain, square is not one kernel"):
        inner(np.eye(2))


def test_a_kernel_learns_from_the_view_it_looks_at(rng):
    from textrank.features import MultiView
    from textrank.graphs import Contexts

    lists = [[(f"w{rng.integers(5 if p > 0 else 9)}", p) for p in (-1, 1)] for _ in range(40)]
    contexts = Contexts.from_lists(lists)
    kernel = Normalized(Positional(Weighting(of=LearnedPositions(bins=(1,)))))
    views = MultiView({"words": contexts, "other": np.eye(40)})
    outer = Sum({"words": OnView("words", kernel), "other": OnView("other", Linear())})
    assert learns_from_inputs(outer)
    learnt = learn_kernel(outer, views)
    assert not learns_from_inputs(learnt)
    table = learnt.kernels["words"].kernel.kernel.positions.of
    assert table == LearnedPositions(bins=(1,)).learn(contexts)
    assert learn_kernel(Positional(Bag()), contexts) == Positional(Bag())
    plain = Sum({"other": OnView("other", Linear())})
    assert learn_kernel(plain, views) is plain


def test_report_compares_the_kernels_and_says_which_was_chosen(pipeline, docs):
    report = cross_validate(pipeline, docs, folds=4)
    lines = [note for note in report.notes if note.startswith("kernel ")]
    assert [line.split("(")[1].split(")")[0] for line in lines] == ["bag", "tags", "learnt"]
    chosen = [int(line.rsplit("chosen ", 1)[1].split()[0]) for line in lines]
    assert sum(chosen) == 4
    assert {fold.chosen["kernel"] for fold in report.folds} <= {0.0, 1.0, 2.0}
    accuracy = [float(line.split("accuracy ")[1].split()[0]) for line in lines]
    assert accuracy[1] == 1.0 > accuracy[0]  # the tag of an unseen word tells, the word does not
    assert sum(chosen[1:]) == 4


def test_learnt_kernels_never_see_the_test_fold(pipeline, docs, monkeypatch):
    seen = []
    original = LearnedPositions.learn

    def spy(self, contexts):
        seen.append(len(contexts))
        return original(self, contexts)

    monkeypatch.setattr(LearnedPositions, "learn", spy)
    dataset = pipeline.prepare(docs)
    n = len(dataset.candidates)
    assert seen == [n]
    seen.clear()
    cross_validate(pipeline, docs, folds=4)
    folds = make_folds([c.group for c in dataset.candidates], 4, 0)
    assert sorted(seen) == sorted([n, *(int((folds != f).sum()) for f in range(4))])


def test_cross_validation_equals_training_without_the_fold(pipeline, docs):
    """The long way: fit a model on the other folds, score the fold."""
    report = cross_validate(pipeline, docs, folds=4)
    dataset = pipeline.prepare(docs)
    folds = make_folds([c.group for c in dataset.candidates], 4, 0)
    for fold in report.folds:
        rest = [doc for doc in docs if _fold_of(doc, dataset, folds) != fold.fold]
        model = pipeline.fit(rest)
        out = [c for c, f in zip(dataset.candidates, folds, strict=True) if f == fold.fold]
        right = np.mean((model.score(out) >= 0) == [c.label > 0 for c in out])
        assert right == pytest.approx(fold.measures["accuracy"], abs=1e-12)


def _fold_of(doc: Doc, dataset, folds) -> int:
    document = doc.user_data["document"]
    return next(
        int(f) for c, f in zip(dataset.candidates, folds, strict=True) if c.document == document
    )


def test_model_keeps_what_was_chosen_and_learnt(pipeline, docs, tmp_path: Path):
    dataset = pipeline.prepare(docs)
    assert isinstance(dataset.data, GramAlternatives)
    learnt_only = pipeline.__class__(
        pipeline.task,
        pipeline.representation,
        list(expand_choices(pipeline.kernel).values())[2],
        pipeline.learner,
    )
    for configured in (pipeline, learnt_only):
        model = configured.fit(docs)
        assert not learns_from_inputs(model.pipeline.kernel)
        assert len(expand_choices(model.pipeline.kernel)) == 1
        assert "choice.v1" not in dump_pipeline(model.pipeline)
        model.to_disk(tmp_path / "model")
        again = Model.from_disk(tmp_path / "model")
        candidates = dataset.candidates
        np.testing.assert_allclose(again.score(candidates), model.score(candidates), atol=1e-12)
    positions = model.pipeline.kernel.kernel.kernels["words"].kernel.kernel.positions
    assert isinstance(positions.of, PositionTable)


def test_models_are_tested_across_corpora_with_their_own_kernel(pipeline, docs):
    """The test corpus was prepared with other choices and learnt parts, which must not be used."""
    learnt = list(expand_choices(pipeline.kernel).values())[2]
    for kernel in (pipeline.kernel, learnt):
        configured = replace(pipeline, kernel=kernel)
        dataset = configured.prepare(docs[8:])
        model = configured.fit(docs[:8])
        expected = model.score(dataset.candidates)
        np.testing.assert_allclose(_score_dataset(model, dataset), expected, atol=1e-9)


def test_alternatives_of_features_are_cut_and_stored_like_matrices():
    F = Features.from_dicts([{("a",): 1.0}, {("b",): 2.0}, {("a",): 3.0}])
    both = GramAlternatives([{"kernel": 0.0}, {"kernel": 1.0}], [F, np.eye(3)])
    cut = both.select(np.array([2, 0]), np.array([1]))
    assert cut.grams[0].values.toarray().tolist() == [[3.0, 0.0], [1.0, 0.0]]
    assert cut.grams[1].tolist() == [[0.0], [0.0]]
    again = unpack_arrays(pack_arrays(both))
    assert again.grams[0].values.toarray().tolist() == F.values.toarray().tolist()
    assert list(again.grams[0].names) == list(F.names)
    assert again.grams[1].tolist() == np.eye(3).tolist()
    with pytest.raises(ValueError, match="pass one matrix per setting"):
        GramAlternatives([{"kernel": 0.0}], [F, np.eye(3)])
    assert len(take_rows(F, np.array([0]))) == 1


@pytest.mark.parametrize("name", ["spelling", "wsd", "gene_protein"])
def test_shipped_comparisons_cover_the_family(name):
    choices = expand_choices(load_pipeline(f"{name}-positions").kernel)
    assert {"bag", "contextual_weighting", "strict", "scale_free", "weighted_smooth"} <= set(
        choices
    )
    assert {"weighted_scale_free_shared_tag", "weighted_learned_positions"} <= set(choices)


def test_strict_is_still_one_kernel():
    assert not learns_from_inputs(Positional(Strict()))
