"""Preferences from files to reports: reader, task and commands."""

from __future__ import annotations

import csv
import json

import numpy as np
import pytest
import spacy

from textrank.candidates import PreferenceGraph, Targets
from textrank.cli.app import run
from textrank.config import load_pipeline
from textrank.evaluation import cross_validate
from textrank.evaluation.cross_validation import group_pair_auc
from textrank.formats import detect_format, reader_for
from textrank.learners.rankrls import RankRLS


def write_rows(path, header, rows):
    with open(path, "w", newline="") as stream:
        writer = csv.writer(stream)
        writer.writerow(header)
        writer.writerows(rows)


@pytest.fixture
def jokes(tmp_path):
    """Forty items with three features, compared by the first two."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 3)).round(4)
    scores = X[:, 0] + 0.5 * X[:, 1]
    names = ("id", "a", "b", "c")
    rows = [(f"j{i}", *x) for i, x in enumerate(X)]
    write_rows(tmp_path / "jokes.items.csv", names, rows)
    pairs = [rng.choice(40, 2, replace=False) for _ in range(300)]
    ordered = [(i, j) if scores[i] > scores[j] else (j, i) for i, j in pairs]
    rows = [(f"j{i}", f"j{j}", round(scores[i] - scores[j], 4)) for i, j in ordered]
    write_rows(tmp_path / "jokes.csv", ("better", "worse", "magnitude"), rows)
    return tmp_path / "jokes.csv"


def read(path, **settings):
    return list(reader_for(path, **settings)(spacy.blank("en")))


def graph_of(docs):
    task = load_pipeline("preferences").task
    return PreferenceGraph.from_candidates([c for doc in docs for c in task.candidates(doc)])


def test_the_three_formats_say_the_same(tmp_path):
    rows = [("a", "b", 2.0), ("c", "a", ""), ("b", "c", 0.5)]
    write_rows(tmp_path / "t.csv", ("better", "worse", "magnitude"), rows)
    write_rows(tmp_path / "t.items.csv", ("id", "text"), [(x, f"text of {x}") for x in "abc"])
    items = [{"id": x, "text": f"text of {x}"} for x in "abc"]
    preferences = [{"better": b, "worse": w} | ({"magnitude": m} if m else {}) for b, w, m in rows]
    both = {"items": items, "preferences": preferences}
    (tmp_path / "t.json").write_text(json.dumps(both))
    by_id = {item["id"]: item for item in items}
    lines = [
        row | {"better": by_id[row["better"]], "worse": by_id[row["worse"]]} for row in preferences
    ]
    (tmp_path / "t.jsonl").write_text("\n".join(map(json.dumps, lines)))
    for name in ("t.csv", "t.json", "t.jsonl"):
        assert detect_format(tmp_path / name) == "preferences"
        docs = read(tmp_path / name)
        assert [doc.text for doc in docs] == ["text of a", "text of b", "text of c"]
        graph = graph_of(docs)
        found = sorted(zip(graph.pairs.tolist(), graph.magnitudes.tolist(), strict=True))
        assert found == [([0, 1], 2.0), ([1, 2], 0.5), ([2, 0], 1.0)]


def test_texts_may_stand_in_the_table(tmp_path):
    write_rows(tmp_path / "t.csv", ("better", "worse"), [("good text", "bad text")])
    assert [doc.text for doc in read(tmp_path / "t.csv")] == ["good text", "bad text"]


def test_other_tables_and_json_lines_are_still_documents(tmp_path):
    (tmp_path / "t.csv").write_text("id,text\n1,better\n")
    (tmp_path / "t.jsonl").write_text('{"text": "it is better", "id": "worse"}\n')
    assert detect_format(tmp_path / "t.csv") == "columns"
    assert detect_format(tmp_path / "t.jsonl") == "json_lines"


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([("a", "x", 1)], "line 2: item 'x' is not among the 2 items"),
        ([("a", "a", 1)], "line 2: 'a' is compared with itself"),
        ([("a", "b", -1)], "line 2: magnitude '-1' is not a positive number"),
        ([("a", "b", "nan")], "not a positive number"),
        ([("a", "b", 1), ("a",)], "line 3: 1 cells, but 3 columns"),
        ([("", "b", 1)], "line 2: '' is not an item"),
    ],
)
def test_wrong_preferences_are_named_with_their_place(tmp_path, rows, message):
    write_rows(tmp_path / "t.items.csv", ("id", "text"), [("a", "one"), ("b", "two")])
    write_rows(tmp_path / "t.csv", ("better", "worse", "magnitude"), rows)
    with pytest.raises(ValueError, match=message):
        read(tmp_path / "t.csv")


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("t.json", '{"items": 3}', "with lists"),
        ("t.json", '{"items": [{"text": ""}]}', "is not an item"),
        ("t.json", '{"items": [{"id": "a", "features": {"x": "y"}}]}', "finite numbers"),
        ("t.json", '{"items": [{"id": "a"}, {"id": "a"}]}', "listed twice"),
        ("t.json", '{"items": [], "preferences": []}', "no preferences"),
        ("t.jsonl", '{"better": "a", "worse": "b"}\n{"better": "a"}', "needs better and worse"),
        ("t.jsonl", '{"better": "a", "worse": "b"}\n{', "line 2"),
    ],
)
def test_wrong_json_is_named_with_its_place(tmp_path, name, text, message):
    (tmp_path / name).write_text(text)
    with pytest.raises(ValueError, match=message):
        read(tmp_path / name)


def test_items_of_a_query_are_held_out_together(tmp_path):
    rows = [(f"a{q} one", f"b{q} two", f"q{q}") for q in range(6)]
    write_rows(tmp_path / "t.csv", ("better", "worse", "query"), rows)
    dataset = load_pipeline("preferences").prepare(read(tmp_path / "t.csv"))
    groups = dataset.targets.groups
    assert len(np.unique(groups)) == 6
    assert all(groups[i] == groups[j] for i, j in dataset.targets.preferences.pairs)


def test_the_commands_learn_apply_and_evaluate(jokes, tmp_path, capsys):
    report = cross_validate(load_pipeline("preferences"), read(jokes), folds=3)
    assert np.mean([fold.measures["pairwise_accuracy"] for fold in report.folds]) > 0.9
    assert run(["train", "preferences", str(jokes), str(tmp_path / "model")]) == 0
    figures = tmp_path / "f.json"
    assert run(["evaluate", str(tmp_path / "model"), str(jokes), "--json", str(figures)]) == 0
    capsys.readouterr()
    assert run(["apply", str(tmp_path / "model"), str(jokes)]) == 0
    rows = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    scores = {row["document"]: row["textrank_preferences"][0]["score"] for row in rows}
    assert len(scores) == 40
    with open(jokes) as stream:
        right = [scores[row["better"]] > scores[row["worse"]] for row in csv.DictReader(stream)]
    assert np.mean(right) > 0.9


def test_both_sides_of_a_preference_are_held_out_by_leave_pair_out(jokes, tmp_path):
    figures = tmp_path / "f.json"
    protocol = ["--protocol", "leave-pair-out", "--json", str(figures)]
    assert run(["run", "preferences", str(jokes), *protocol]) == 0
    assert json.loads(figures.read_text())["measures"]["pairwise_accuracy"]["mean"] > 0.9
    svm = ["--set", 'learner={"@learners": "ranksvm.v1"}']
    assert run(["run", "preferences", str(jokes), *svm, "--folds", "3"]) == 0


def test_leave_pair_out_of_a_global_ranking_equals_retraining(rng):
    X = rng.standard_normal((14, 3))
    K, groups = X @ X.T + np.eye(14), np.arange(14) // 3
    y = np.where(X[:, 0] + rng.standard_normal(14) > 0, 1.0, -1.0)
    won = pairs = 0
    for i in np.flatnonzero(y > 0):
        for j in np.flatnonzero(y < 0):
            rest = np.flatnonzero((groups != groups[i]) & (groups != groups[j]))
            targets = Targets(y[rest], groups[rest], groups[rest])
            (a,) = RankRLS([2.0], scope="global").coefs(K[np.ix_(rest, rest)], targets)
            won += (K[i, rest] - K[j, rest]) @ a > 0
            pairs += 1
    assert group_pair_auc(K, y, groups, 2.0, rank=True) == pytest.approx(won / pairs)
