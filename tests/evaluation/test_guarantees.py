"""Guarantees: errors by document stay below the promise, shifts are seen, sets cover."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest

from textrank.candidates import PROFILE_COLUMNS
from textrank.cli.app import run
from textrank.evaluation.guarantees import (
    AnswerSets,
    HeldoutAnswers,
    ShiftMonitor,
    _no_level_error,
    betting_p_value,
    compare_profiles,
    control_error,
    find_guarantee,
    find_shift,
    min_documents,
    with_guarantee,
)
from textrank.kernels.algebra import Normalized
from textrank.kernels.graphs import AllPathsGraph
from textrank.learners.rls import RLS
from textrank.model import Model
from textrank.pipeline import Pipeline
from textrank.tasks.ppi.graphs import DependencyGraph
from textrank.tasks.ppi.task import PPI
from textrank.tasks.senses import GeneProtein
from textrank.training import forget_documents

LEVELS = np.arange(5.0, -2.0, -0.5)


def clustered_answers(rng, documents=600):
    """Answers whose errors depend on the document; confidence is well calibrated in the mean."""
    sizes = rng.integers(1, 8, documents)
    groups = np.repeat(np.arange(documents), sizes)
    effect = rng.normal(scale=0.5, size=documents)[groups]
    log_odds = rng.normal(loc=2.0, scale=1.5, size=len(groups))
    is_wrong = rng.random(len(groups)) > 1 / (1 + np.exp(-(log_odds + effect)))
    return HeldoutAnswers(log_odds, is_wrong.astype(float), groups, LEVELS)


def take_documents(answers, documents):
    """The answers of some documents, numbered again."""
    rows = np.isin(answers.groups, documents)
    _, groups = np.unique(answers.groups[rows], return_inverse=True)
    return replace(
        answers,
        confidence=answers.confidence[rows],
        is_wrong=answers.is_wrong[rows],
        groups=groups,
    )


def share_wrong(answers, level):
    given = answers.confidence >= level
    return answers.is_wrong[given].mean() if given.any() else 0.0


@pytest.mark.parametrize("max_error", [0.1, 0.2])
def test_the_promise_holds_over_splits_of_documents(max_error):
    population = clustered_answers(np.random.default_rng(1))
    rng = np.random.default_rng(2)
    violated, chosen, splits = 0, 0, 200
    for _ in range(splits):
        order = rng.permutation(600)
        level = control_error(take_documents(population, order[:300]), max_error, 0.05)
        if level is not None:
            chosen += 1
            violated += share_wrong(take_documents(population, order[300:]), level) > max_error
    assert chosen > splits / 2
    assert violated <= 0.05 * splits


def test_p_values_of_true_hypotheses_are_not_too_small():
    rng = np.random.default_rng(0)
    p = [betting_p_value((rng.random(80) < 0.1).astype(float), 0.1) for _ in range(1000)]
    assert np.mean(np.array(p) <= 0.05) <= 0.05
    assert betting_p_value(np.zeros(100), 0.1) < 0.01


def test_without_errors_the_needed_documents_are_enough():
    needed = min_documents(0.1, 0.05)
    assert 0.9**needed <= 0.05 / 3 < 0.9 ** (needed - 1)
    few = HeldoutAnswers(np.ones(5), np.zeros(5), np.arange(5), LEVELS)
    assert control_error(few, 0.1, 0.05) is None


def test_a_share_that_can_be_kept_at_level_zero_is_proposed():
    is_wrong = (np.arange(200) % 5 == 0).astype(float)
    answers = HeldoutAnswers(np.zeros(200), is_wrong, np.arange(200), np.zeros(1))
    assert control_error(answers, 0.1, 0.05) is None
    assert control_error(answers, 0.5, 0.05) == 0.0
    assert "no larger share" not in str(_no_level_error(answers, 0.1, 0.95))


def train(docs):
    pipeline = Pipeline(PPI(), DependencyGraph(), Normalized(AllPathsGraph()), RLS((0.5,)))
    return pipeline.fit(docs)


def test_a_model_with_few_documents_is_refused(docs):
    with pytest.raises(ValueError, match=r"needs 39 documents, but .* come from 18"):
        find_guarantee(train(docs), max_error=0.1)
    with pytest.raises(ValueError, match="max_error must be between 0 and 1"):
        find_guarantee(train(docs), max_error=1.5)
    with pytest.raises(ValueError, match="does not store the documents"):
        find_guarantee(replace(train(docs), reference=None))


def separable(model, documents=100, per_document=4, errors=0.0):
    """The model with other held-out scores, which tell right from wrong answers."""
    n = documents * per_document
    labels = np.tile([1.0, -1.0], n // 2)
    heldout = labels + np.random.default_rng(0).normal(scale=0.05, size=n)
    labels[: int(errors * n)] *= -1
    reference = replace(
        model.reference,
        groups=np.repeat(np.arange(documents), per_document),
        queries=np.arange(n),
        profiles=np.random.default_rng(1).normal(size=(documents, len(PROFILE_COLUMNS))),
    )
    return replace(model, heldout=heldout, labels=labels, reference=reference)


def test_the_level_becomes_the_decision_of_the_task(docs):
    model = separable(train(docs))
    guarantee = find_guarantee(model, max_error=0.1)
    assert guarantee.wrong <= 0.1
    assert guarantee.documents == 100
    changed = with_guarantee(model, guarantee)
    assert changed.pipeline.task.level == pytest.approx(guarantee.probability)
    assert "at most 10 %" in guarantee.describe().lower()
    with pytest.raises(ValueError, match="no level of confidence has so few errors"):
        find_guarantee(separable(train(docs), errors=0.5), max_error=0.1)


def test_the_reference_is_stored_with_the_model(docs, tmp_path):
    model = train(docs)
    model.to_disk(tmp_path / "model")
    stored = Model.from_disk(tmp_path / "model").reference
    assert stored is not None
    assert stored.groups.tolist() == model.reference.groups.tolist()
    assert np.allclose(stored.profiles, model.reference.profiles, rtol=1e-5)
    assert (stored.word_bits == model.reference.word_bits).all()


def test_a_model_that_forgot_a_document_keeps_its_guarantee(docs):
    pipeline = Pipeline(PPI(), DependencyGraph(), Normalized(AllPathsGraph()), RLS((0.5,)))
    model = forget_documents(pipeline.fit(docs, updatable=True), ["d3"])
    assert model.reference is not None
    assert len(model.reference.groups) == len(model.heldout)
    assert len(np.unique(model.reference.groups)) == 17


def test_documents_like_those_of_training_are_not_reported(docs, make_docs):
    model = train(docs)
    same = [c for doc in make_docs(20, seed=5, prefix="new") for c in PPI().candidates(doc)]
    shift = find_shift(model, same, model.score(same))
    assert shift.documents == 20
    assert {column.name for column in shift.columns} == set(PROFILE_COLUMNS)
    rng = np.random.default_rng(0)
    old, new = rng.normal(size=(80, 6)), rng.normal(size=(40, 6))
    assert not compare_profiles(old, new).is_shifted
    new[:, 3] += 2.0
    shifted = compare_profiles(old, new)
    assert [c.name for c in shifted.columns if c.is_shifted] == [PROFILE_COLUMNS[3]]
    assert "larger sentence length" in shifted.describe()
    assert "too few to compare" in compare_profiles(old, new[:2]).describe()
    assert "describes 0 of them" in compare_profiles(old[:0], new).describe()


def test_answers_are_marked_while_texts_are_annotated(docs, make_docs):
    model = separable(train(docs))
    guarantee = find_guarantee(model, max_error=0.2)
    guaranteed = with_guarantee(model, guarantee)
    monitor = ShiftMonitor(guaranteed, guarantee)
    rows = [
        row
        for doc in guaranteed.pipe(make_docs(6, seed=7, prefix="new"), observe=monitor)
        for row in doc._.textrank_ppi
    ]
    assert rows
    for row in rows:
        assert row["guaranteed"] == (row["probability"] >= guarantee.probability)
        assert row["interacts"] == row["guaranteed"]
    assert monitor.shift().documents == 6


def test_answers_to_questions_are_judged_by_their_best_candidate():
    task = GeneProtein(("protein", "DNA", "RNA"))
    scores = np.array([2.0, -1.0, -3.0, 0.0, 0.5, -9.0])
    y = np.array([1.0, -1.0, -1.0, 1.0, -1.0, -1.0])
    queries = np.repeat([0, 1], 3)
    confidence, right, rows = task.assess_answers(y, scores, scores, queries)
    assert right.tolist() == [True, False]
    assert rows.tolist() == [0, 3]
    assert confidence[0] > confidence[1] > 0
    confidence, right, _ = GeneProtein().assess_answers(
        np.array([-1.0, -1.0]), np.array([-2.0, 1.0]), scores, np.arange(2)
    )
    assert confidence.tolist() == [2.0, 1.0]
    assert right.tolist() == [True, False]
    with pytest.raises(ValueError, match="have no guarantee"):
        NoRows().assess_answers(y, scores, scores, queries)


class NoRows(PPI):
    """A task whose rows are not its candidates."""

    row_per_candidate = False


def test_sets_cover_the_right_answer_in_new_documents():
    rng = np.random.default_rng(0)
    covered, sizes = [], []
    for _ in range(200):
        scores, y, queries, groups = ranked(rng, 121)
        new = groups == 120
        sets = AnswerSets.fit(scores[~new], y[~new], queries[~new], groups[~new], error=0.1)
        inside = sets.contains(scores[new], queries[new])
        of_query = [inside[(queries[new] == q) & (y[new] > 1)].any() for q in set(queries[new])]
        covered.append(np.mean(of_query))
        sizes.append(sets.mean_size)
    assert np.mean(covered) >= 0.88  # 0.9 up to the chance of 200 documents
    assert 1 < np.mean(sizes) < 4


def ranked(rng, documents):
    """Queries of four candidates with one best, whose quality depends on the document."""
    sizes = rng.integers(1, 6, documents)
    groups = np.repeat(np.repeat(np.arange(documents), sizes), 4)
    queries = np.repeat(np.arange(sizes.sum()), 4)
    y = np.tile([2.0, 1.0, 1.0, 0.0], sizes.sum())
    scores = y + rng.normal(size=len(y)) * rng.uniform(0.2, 1.5, documents)[groups]
    return scores, y, queries, groups


def test_sets_need_enough_documents_and_hold_single_candidates():
    scores, y = np.array([2.0, -1.0, 0.5]), np.array([1.0, -1.0, -1.0])
    queries = np.arange(3)
    with pytest.raises(ValueError, match="need 9 documents, but there are 3"):
        AnswerSets.fit(scores, y, queries, queries, error=0.1)
    sets = AnswerSets.fit(scores, y, queries, queries, error=0.3)
    assert sets.margin == pytest.approx(0.5, abs=1e-6)
    assert sets.sizes(scores, queries).tolist() == [1, 1, 2]


def test_profiles_that_only_differ_by_rounding_are_equal():
    old = np.full((40, len(PROFILE_COLUMNS)), np.log(8.0))
    assert not compare_profiles(old.astype(np.float32), old[:20]).is_shifted


def choices(rng, documents):
    """Choices of one candidate, for the second of two answers, or of three candidates."""
    sizes = rng.choice([1, 3], 2 * documents)
    queries = np.repeat(np.arange(2 * documents), sizes)
    y = np.concatenate([-np.ones(size) for size in sizes])
    starts = np.cumsum(sizes) - sizes
    y[starts + rng.integers(0, sizes)] = 1.0
    is_single = (sizes == 1)[queries]
    y[is_single] = rng.choice([-1.0, 1.0], is_single.sum())
    return y + rng.normal(size=len(y)), y, queries, queries // 2


@pytest.mark.parametrize(("make", "has_other"), [(choices, True), (lambda *a: ranked(*a), False)])
def test_sets_cover_the_right_answer_in_held_out_documents(make, has_other):
    rng = np.random.default_rng(3)
    covered = []
    for _ in range(150):
        scores, y, queries, groups = make(rng, 100)
        new = groups >= 90
        old = ~new
        sets = AnswerSets.fit(
            scores[old], y[old], queries[old], groups[old], error=0.1, has_other=has_other
        )
        is_in = sets.contains(scores[new], queries[new])
        other = sets.contains_other(scores[new], queries[new])
        if not has_other:
            assert not other.any()
        by_document: dict[int, list[bool]] = {}
        for query in np.unique(queries[new]):
            rows = np.flatnonzero(queries[new] == query)
            labels = y[new][rows]
            right = bool(is_in[rows][labels >= labels.max()].any())
            if has_other and len(rows) == 1 and labels[0] < 0:
                right = bool(other[rows[0]])
            by_document.setdefault(int(groups[new][rows[0]]), []).append(right)
        covered += [np.mean(values) for values in by_document.values()]
    assert 0.885 <= np.mean(covered) <= 0.94


def test_a_single_candidate_of_a_ranking_is_always_in_its_set():
    scores, queries = np.array([-3.0, 1.0, 0.0]), np.array([0, 1, 1])
    sets = AnswerSets(0.1, 0.5, 10, 1.0, 1.0, has_other=False)
    assert sets.contains(scores, queries).tolist() == [True, True, False]
    assert sets.sizes(scores, queries).tolist() == [1, 1]


@pytest.mark.parametrize(
    ("pipeline", "corpus", "attribute"),
    [
        ("gene_protein", "sample-gene-protein", "textrank_gene_protein"),
        ("retrieve", "sample-retrieve", "textrank_retrieve"),
        ("parse_ranking-graph", "sample-parses", "textrank_parse_ranking"),
    ],
)
def test_the_command_gives_sets_of_answers(pipeline, corpus, attribute, tmp_path, capsys):
    model, file, texts = tmp_path / "model", tmp_path / "sets.json", f"corpora/{corpus}"
    assert run(["train", pipeline, texts, str(model)]) == 0
    capsys.readouterr()
    arguments = ["apply", str(model), texts, "--answer-sets"]
    assert run([*arguments, "0.8", "--json", str(file)]) == 0
    output = capsys.readouterr()
    assert "contain a right answer with a probability of 80 %" in output.err
    sets = json.loads(file.read_text())["answer_sets"]
    assert sets["error"] == 0.2
    assert sets["coverage"] >= 0.8
    for line in output.out.splitlines():
        row = json.loads(line)
        assert row["answer_sets"] == sets
        for answer in row[attribute]:
            assert_set_fits(answer, sets["margin"])
    assert run([*arguments, "1.5"]) == 2
    assert run([*arguments, "0.999"]) == 2
    assert "documents, but there are" in capsys.readouterr().err


def assert_set_fits(answer, margin):
    """The best answer is in its set, and others are only if they are near."""
    if "probabilities" in answer:
        assert answer["answer_set"][0] == answer["label"]
        probability = answer["probability"]
        is_near = np.log(probability / (1 - probability)) <= margin
        assert (len(answer["answer_set"]) == 2) == is_near
    for parses in [answer["parses"]] if "parses" in answer else []:
        for parse in parses:
            is_near = parse["score"] >= parses[0]["score"] - margin
            assert parse["in_answer_set"] == is_near
    if "rank" in answer and answer["rank"] == 1:
        assert answer["in_answer_set"]


def test_sets_of_other_tasks_are_refused(tmp_path, capsys):
    text = tmp_path / "text.txt"
    text.write_text("SHC binds GRB2.\n")
    assert run(["apply", "ppi", str(text), "--answer-sets", "0.9"]) == 2
    assert "needs a choice among classes or a ranking" in capsys.readouterr().err
    both = ["--answer-sets", "0.9", "--max-error", "0.1"]
    assert run(["apply", "gene_protein", str(text), *both]) == 2
    assert "Leave one out" in capsys.readouterr().err
    assert run(["apply", "ppi", str(text), "--json", str(tmp_path / "x.json")]) == 2
    assert "without --max-error or --answer-sets" in capsys.readouterr().err


def test_the_command_prints_guarantee_and_warning(tmp_path, capsys):
    model, text, file = tmp_path / "model", tmp_path / "text.txt", tmp_path / "g.json"
    text.write_text("SHC binds GRB2.\n")
    assert run(["train", "ppi-apg", "corpora/sample-ppi", str(model)]) == 0
    capsys.readouterr()
    arguments = ["apply", str(model), str(text)]
    assert run([*arguments, "--max-error", "0.5", "--json", str(file)]) == 0
    output = capsys.readouterr()
    (row,) = [json.loads(line) for line in output.out.splitlines()]
    assert row["guarantee"]["max_error"] == 0.5
    assert "guaranteed" in row["textrank_ppi"][0]
    assert "At most 50 % of the given answers are wrong" in output.err
    assert "too few to compare" in output.err
    assert set(json.loads(file.read_text())) == {"guarantee", "shift"}
    assert run([*arguments, "--max-error", "0.001"]) == 2
    assert "cannot be guaranteed" in capsys.readouterr().err
    assert run([*arguments, "--confidence", "0.9"]) == 2
    assert "--confidence has no effect without --max-error" in capsys.readouterr().err
