from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import spacy
from spacy.tokens import Doc, Span

from textrank.candidates import Targets, dedup_groups
from textrank.config import dump_pipeline, load_corpus, load_pipeline
from textrank.evaluation import cross_validate
from textrank.evaluation.splits import DocumentFolds
from textrank.features import GramAlternatives
from textrank.kernels.algebra import Normalized
from textrank.kernels.graphs import AllPathsGraph
from textrank.learners.base import choose_alpha
from textrank.learners.rls import RLS
from textrank.learners.selection import fit_best_kernel
from textrank.metrics import best_threshold
from textrank.model import Model
from textrank.pipeline import Pipeline
from textrank.tasks.ppi.graphs import DependencyGraph
from textrank.tasks.ppi.task import PPI

ALPHAS = (0.25, 1.0, 4.0)


@pytest.fixture(scope="module")
def docs(module_make_doc: Callable[..., Doc]) -> list[Doc]:
    """Twenty documents of two sentences each, with verbs that tell the answer most of the time."""
    rng = np.random.default_rng(3)
    made = []
    for number in range(20):
        words: list[str] = []
        heads: list[int] = []
        deps: list[str] = []
        entities, gold = [], []
        for sentence in range(2):
            verb = str(rng.choice(["binds", "sees"]))
            noun = str(rng.choice(["slowly", "often", "today"]))
            start = len(words)
            words += [f"P{number}{sentence}a", verb, f"P{number}{sentence}b", noun, "."]
            heads += [start + 1, start + 1, start + 1, start + 1, start + 1]
            deps += ["nsubj", "ROOT", "dobj", "advmod", "punct"]
            entities += [(start, start + 1), (start + 2, start + 3)]
            answer = (verb == "binds") != (rng.random() < 0.2)
            names = [f"e{2 * sentence}", f"e{2 * sentence + 1}"]
            gold.append({"entities": names, "label": bool(answer)})
        doc = module_make_doc(words, heads, deps, entities, document=f"d{number}")
        doc.spans["entities"] = [
            Span(doc, start, end, label="protein", span_id=f"e{index}")
            for index, (start, end) in enumerate(entities)
        ]
        doc.user_data["gold"] = gold
        made.append(doc)
    return made


@pytest.fixture(scope="module")
def module_make_doc(make_doc: Callable[..., Doc]) -> Callable[..., Doc]:
    return make_doc


@pytest.fixture(scope="module")
def pipeline() -> Pipeline:
    return Pipeline(PPI(), DependencyGraph(), Normalized(AllPathsGraph()), RLS(ALPHAS))


def test_report_equals_the_long_way_round(pipeline: Pipeline, docs: list[Doc]) -> None:
    """Every fold retrained from scratch, alpha and threshold by retraining without a document."""
    report = cross_validate(pipeline, docs, folds=4, seed=1)
    seen = pipeline.prepare(docs)
    K = pipeline.kernel(seen.X)
    y, documents = seen.targets.y, seen.targets.groups
    (partition,) = DocumentFolds(4, seed=1).split(seen.candidates, seen.targets).partitions
    for fold in report.folds:
        out, rest = partition == fold.fold, partition != fold.fold
        inner = np.array([_leave_document_out(K, y, documents, rest, a) for a in ALPHAS])
        best = choose_alpha(inner, seen.targets.take(np.flatnonzero(rest)), "auc")
        assert fold.chosen["alpha"] == ALPHAS[best]
        threshold = best_threshold(y[rest], inner[best])
        assert fold.chosen["threshold"] == pytest.approx(threshold, abs=1e-8)
        scores = _train_and_test(K, y, rest, out, ALPHAS[best])
        found = [d.score for d in report.decisions if d.fold == fold.fold]
        np.testing.assert_allclose(found, scores, atol=1e-8)


def test_order_of_documents_changes_no_score(pipeline: Pipeline, docs: list[Doc]) -> None:
    order = np.random.default_rng(0).permutation(len(docs))
    one = cross_validate(pipeline, docs, folds=4, seed=1)
    other = cross_validate(pipeline, [docs[i] for i in order], folds=4, seed=1)
    key = {(d.document, d.query, d.spans): d.score for d in one.decisions}
    for d in other.decisions:
        assert d.score == pytest.approx(key[d.document, d.query, d.spans], abs=1e-9)


def test_same_seed_same_report(pipeline: Pipeline, docs: list[Doc]) -> None:
    one, other = (cross_validate(pipeline, docs, folds=5, seed=7, splits=2) for _ in range(2))
    assert [f.to_dict() for f in one.folds] == [f.to_dict() for f in other.folds]
    assert one.seed == 7


def test_model_scores_the_same_after_saving(
    pipeline: Pipeline, docs: list[Doc], tmp_path: Path
) -> None:
    model = pipeline.fit(docs)
    model.to_disk(tmp_path / "model")
    again = Model.from_disk(tmp_path / "model")
    candidates = [c for doc in docs for c in pipeline.task.candidates(doc)]
    np.testing.assert_array_equal(model.score(candidates), again.score(candidates))
    assert again.pipeline == pipeline
    assert again.threshold == model.threshold


def test_a_model_on_a_basis_keeps_no_other_pairs(docs: list[Doc]) -> None:
    reduced = load_pipeline(
        "ppi", {"learner.@learners": "reduced_rls.v1", "learner.size": 8, "learner.alphas": [0.1]}
    )
    dataset = reduced.prepare(docs)
    model = reduced.fit_dataset(dataset)
    number, fit = fit_best_kernel(reduced.learner, dataset.data, dataset.targets)
    assert isinstance(dataset.data, GramAlternatives)
    assert len(model.support or ()) == len(model.fit.coef) == 8 < len(fit.coef)
    expected = dataset.data.grams[number] @ fit.coef
    np.testing.assert_allclose(model.score(dataset.candidates), expected, atol=1e-9)


def test_many_candidates_are_scored_in_parts_with_the_same_result(
    pipeline: Pipeline, docs: list[Doc], monkeypatch: pytest.MonkeyPatch
) -> None:
    model = pipeline.fit(docs)
    candidates = [c for doc in docs for c in pipeline.task.candidates(doc)]
    whole = model.score(candidates)
    monkeypatch.setattr("textrank.model.MAX_INDEXED_CANDIDATES", 3)
    np.testing.assert_allclose(model.score(candidates), whole, atol=1e-12)


def test_explanation_sums_to_the_score(pipeline: Pipeline, docs: list[Doc]) -> None:
    model = pipeline.fit(docs)
    candidate = pipeline.task.candidates(docs[0])[0]
    parts = model.explain(candidate)
    assert sum(part for _, part in parts) == pytest.approx(model.score([candidate])[0], abs=1e-9)
    assert len(parts) > 10


def test_the_strongest_weights_make_a_smaller_model(pipeline: Pipeline, docs: list[Doc]) -> None:
    model = pipeline.fit(docs)
    small = model.prune(50)
    candidates = [c for doc in docs for c in pipeline.task.candidates(doc)]
    assert len(small.fit.coef) == 50
    assert set(np.abs(small.fit.coef)) == set(np.sort(np.abs(model.fit.coef))[-50:])
    full, cut = model.score(candidates), small.score(candidates)
    assert np.corrcoef(full, cut)[0, 1] > 0.9
    np.testing.assert_allclose(model.prune(10**9).score(candidates), full, atol=1e-12)


def test_annotation_is_plain_values(pipeline: Pipeline, docs: list[Doc]) -> None:
    doc = pipeline.fit(docs)(docs[0])
    first = doc._.textrank_ppi[0]
    assert first["names"] == ["P00a", "P00b"]
    assert isinstance(first["interacts"], bool)
    assert isinstance(first["score"], float)
    assert 0 < first["probability"] < 1


def test_cfg_and_python_give_equal_pipelines(pipeline: Pipeline, tmp_path: Path) -> None:
    (tmp_path / "own.cfg").write_text(dump_pipeline(pipeline))
    assert load_pipeline(tmp_path / "own.cfg") == pipeline


def test_copies_are_held_out_together(make_doc: Callable[..., Doc]) -> None:
    words = ["these", "six", "words", "are", "shared", "here"]
    one, two = make_doc(words, document="a"), make_doc(words, document="b")
    other = make_doc(["short", "one"], document="c")
    for doc in (one, two, other):
        doc[0].is_sent_start = True
        for token in list(doc)[1:]:
            token.is_sent_start = False
    assert dedup_groups([one, two, other]) == ["a", "a", "c"]


def test_given_folds_cannot_split_copies(pipeline: Pipeline, docs: list[Doc]) -> None:
    copies = [doc.copy() for doc in docs]
    for doc in copies:
        doc.user_data = dict(doc.user_data)
    copies[1].user_data["origin"] = copies[0].user_data["origin"] = "same"
    table = {f"d{i}": i % 4 for i in range(20)}
    with pytest.raises(ValueError, match=r"'d0' in fold 0 and 'd1'.*in fold 1"):
        cross_validate(pipeline, copies, folds=table)


def test_one_kind_of_answer_is_refused(pipeline: Pipeline, docs: list[Doc]) -> None:
    copies = [doc.copy() for doc in docs]
    for doc in copies:
        doc.user_data = {**doc.user_data, "gold": []}
    with pytest.raises(ValueError, match="same label"):
        cross_validate(pipeline, copies)


def test_a_learner_in_the_place_of_the_kernel_is_named() -> None:
    with pytest.raises(ValueError, match="RLS is not a kernel"):
        Pipeline(PPI(), DependencyGraph(), RLS(ALPHAS), RLS(ALPHAS))  # type: ignore[arg-type]


@pytest.mark.corpus
def test_nested_scores_on_real_text_equal_retraining(data: Path, pipeline: Pipeline) -> None:
    docs = list(load_corpus(data / "ppi" / "LLL.xml.gz")(spacy.blank("en")))
    test_report_equals_the_long_way_round(pipeline, docs)
    test_order_of_documents_changes_no_score(pipeline, docs)


def _train_and_test(K, y, train, test, alpha):  # type: ignore[no-untyped-def]
    a = np.linalg.solve(K[np.ix_(train, train)] + alpha * np.eye(train.sum()), y[train])
    return K[np.ix_(test, train)] @ a


def _leave_document_out(K, y, documents, part, alpha):  # type: ignore[no-untyped-def]
    scores = np.full(len(y), np.nan)
    for document in np.unique(documents[part]):
        out = part & (documents == document)
        scores[out] = _train_and_test(K, y, part & ~out, out, alpha)
    return scores[part]


def test_targets_number_documents_in_order(docs: list[Doc]) -> None:
    candidates = [c for doc in docs[:3] for c in PPI().candidates(doc)]
    targets = Targets.from_candidates(candidates)
    assert targets.groups.tolist() == [0, 0, 1, 1, 2, 2]
    assert targets.queries.tolist() == [0, 1, 2, 3, 4, 5]


def test_the_report_counts_diverging_graphs(docs: list[Doc]) -> None:
    """A word that governs itself three times over has walks without end."""
    given = [[1, 0, "nsubj"], [1, 2, "dobj"], *[[1, 1, kind] for kind in "abc"]]
    wild = docs[0].copy()
    wild.user_data["dependencies"] = given
    kernel = Normalized(AllPathsGraph())
    pipeline = Pipeline(PPI(), DependencyGraph(other_weight=0.8), kernel, RLS(ALPHAS))
    assert not cross_validate(pipeline, docs, folds=4).notes
    (note,) = cross_validate(pipeline, [wild, *docs[1:]], folds=4).notes
    assert note == "graphs with diverging path weights, scaled down: 1"
