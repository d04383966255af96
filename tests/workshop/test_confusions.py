"""The recipe of the confusion pairs, stage upon stage, on texts made up here."""

from __future__ import annotations

import json
import sys
from dataclasses import replace
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest
from scipy.sparse import csr_array

from textrank.lint.model import ConfusionModel

RECIPE = Path(__file__).parents[2] / "models" / "confusions" / "recipe"
GROUPS = ("biomedicine", "general", "web", "science", "levels")
AFTER = ("larger", "smaller", "better", "older", "faster", "slower")
BEFORE = ("first", "and", "only", "just", "since", "until")
REST = ("it", "is", "said", "of", "table", "value", "was", "read", "in", "time", "by", "users")


@pytest.fixture
def recipe(monkeypatch):
    """The modules of the recipe by name; they stand beside one another in no package."""
    names = [path.stem for path in RECIPE.glob("*.py")]
    others = {name: sys.modules.pop(name) for name in names if name in sys.modules}
    monkeypatch.syspath_prepend(str(RECIPE))
    yield {name: import_module(name) for name in names}
    for name in names:
        sys.modules.pop(name, None)
    sys.modules.update(others)


def paragraph(rng: np.random.Generator) -> str:
    before, after = rng.choice(REST, 4), rng.choice(REST, 4)
    middle = (rng.choice(AFTER), "than") if rng.random() < 0.5 else (rng.choice(BEFORE), "then")
    return " ".join([*before, *middle, *after]) + "."


def write_texts(folder: Path) -> None:
    folder.mkdir()
    for seed, group in enumerate(GROUPS):
        rng = np.random.default_rng(seed)
        text = "\n\n".join(paragraph(rng) for _ in range(1500))
        (folder / f"{group}__made.txt").write_text(text)


def test_the_stages_name_learners_and_files_that_exist(recipe):
    stages = recipe["stages"].stages()
    assert len({stage.name for stage in stages}) == len(stages)
    assert all(stage.learner in recipe["learn"].LEARNERS and stage.tried() for stage in stages)


def test_the_plain_command_runs_all_stages_and_a_later_one_has_the_last_word(
    recipe, tmp_path, monkeypatch
):
    build = recipe["train_confusions"]
    write_texts(tmp_path / "texts")
    monkeypatch.setattr(build, "write", lambda cache, data: None)
    monkeypatch.setenv("CONFUSIONS_CACHE", str(tmp_path))
    build.main(tmp_path, tmp_path / "out")
    found = {pair.title: pair for pair in ConfusionModel.from_disk(tmp_path / "out").pairs}
    monkeypatch.setattr(build, "built", lambda *_: pytest.fail("a stage that was done is kept"))
    build.main(tmp_path, tmp_path / "again")
    monkeypatch.undo()
    shipped = json.loads((RECIPE.parent / "meta.json").read_text())
    assert set(json.loads((tmp_path / "out" / "meta.json").read_text())) == set(shipped)
    for file in ("pairs.json", "table.npz"):
        assert (tmp_path / "out" / file).read_bytes() == (tmp_path / "again" / file).read_bytes()
    material = build.Material.of(tmp_path)
    first, last = (build.built(material, stage) for stage in recipe["stages"].stages())
    assert set(found) == {pair.title for pair in (*first.pairs, *last.pairs)}
    assert "than/then" in {pair.title for pair in first.pairs} & {pair.title for pair in last.pairs}
    assert all(found[pair.title] == pair for pair in last.pairs)  # to the last digit
    assert first.pairs != last.pairs
    linter = ConfusionModel.from_disk(tmp_path / "out")
    (flag,) = linter.find_errors("It is said that a table was larger then it is by users.")
    assert (flag.printed, flag.proposal) == ("then", "than")
    assert not linter.find_errors("It is said that a table was larger than it is by users.")


def test_a_stage_says_how_alarms_count(recipe):
    build = recipe["train_confusions"]
    first = recipe["stages"].stages()[0]
    alarms = [build.Alarm(0, 0, 1.0, 1.0, "a b c d e f g h i j k l m n o")] * 3
    counts = {}
    for once in (False, True):
        curve = recipe["levels"].Curve(np.array([2.0]), np.ones(1), 0.0, 0.1)
        learnt = build.Learnt([("h", "x")], [], [], {(0, 0): curve}, {})
        build.counted(learnt, alarms, replace(first, once=once))
        counts[once] = len(curve.alarms)
    assert counts == {False: 3, True: 1}


def test_least_squares_are_those_of_the_normal_equations(recipe):
    learn = recipe["learn"]
    rng = np.random.default_rng(0)
    X = rng.standard_normal((40, 5)).astype(np.float32)
    y = np.where(X[:, 0] + rng.standard_normal(40) > 0.5, 1.0, -1.0).astype(np.float32)
    weights, bias = learn.least_squares(csr_array(X), y, steps=30)
    share, ones = learn.shares(y), np.c_[X, np.ones(40)]
    penalty = np.diag([learn.SQUARES_ALPHA] * 5 + [0.0])
    direct = np.linalg.solve(ones.T @ (share[:, None] * ones) + penalty, ones.T @ (share * y))
    np.testing.assert_allclose([*weights, bias], direct, atol=1e-3)
