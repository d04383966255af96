"""The recipe of the confusion pairs, from texts made up here to a model."""

from __future__ import annotations

import json
import sys
from importlib import import_module
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from textrank.lint.model import (
    THRESHOLD_PRECISIONS,
    UNREACHABLE_LOG_ODDS,
    ConfusionModel,
    Lexicon,
    shipped_model_path,
)

RECIPE = Path(__file__).parents[2] / "models" / "confusions" / "recipe"
FILES = (
    "english-books", "english-novels", "english-textbooks", "english-speeches", "english-docs",
    "web__a", "science__a", "biomedicine__a", "levels__a",
)  # fmt: skip
AFTER = ("larger", "smaller", "better", "older", "faster", "slower")
BEFORE = ("first", "and", "only", "just", "since", "until")
REST = ("it", "is", "said", "of", "table", "value", "was", "read", "in", "time", "by", "users")


@pytest.fixture
def recipe(monkeypatch):
    """The modules of the recipe by name; they are in one folder and no package."""
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
    for seed, name in enumerate(FILES):
        rng = np.random.default_rng(seed)
        text = "\n\n".join(paragraph(rng) for _ in range(700))
        (folder / f"{name}.txt").write_text(text)


def test_the_command_learns_a_pair_and_its_thresholds(recipe, tmp_path, monkeypatch):
    build = recipe["train_confusions"]
    write_texts(tmp_path / "texts")
    monkeypatch.setattr(build, "write", lambda cache, data: None)
    monkeypatch.setattr(build, "read_pairs", lambda: {("than", "then"): "function"})
    monkeypatch.setattr(recipe["classes"], "MIN_COUNT", 5)
    # The unseen text is too short to vouch for a low rate of alarms.
    monkeypatch.setattr(recipe["combine"], "MIN_PLACES", 10**6)
    monkeypatch.setenv("CONFUSIONS_CACHE", str(tmp_path))
    build.main(tmp_path, tmp_path / "out")
    model = ConfusionModel.from_disk(tmp_path / "out")
    (pair,) = model.pairs
    assert pair.words == ("than", "then")
    assert pair.recall > 0.9
    for levels in pair.levels:
        assert len(levels) == len(THRESHOLD_PRECISIONS)
        assert list(levels) == sorted(levels)
    text = "it said table was until than read in time users."
    (flag,) = model.find_errors(text)
    assert (flag.printed, flag.proposal) == ("than", "then")


def test_features_are_those_of_the_linter(recipe):
    corpus, learn = recipe["corpus"], recipe["learn"]
    text = "It was read by users. This value is larger than it was in the first table, he said."
    vocabulary = corpus.Vocabulary()
    numbers = [vocabulary.number(t) for t in corpus.TOKEN.findall(text)]
    pad = [vocabulary.number("\n\n")] * corpus.MAX_OFFSET
    table = np.array(vocabulary.of_token)
    words = table[[*pad, *numbers, *pad], 0]
    ends = np.array([form in corpus.SENTENCE_ENDS for form in vocabulary.forms])
    whole = corpus.Text("books", words, np.zeros(len(words), np.uint8))
    at = np.flatnonzero(words == vocabulary.forms["than"])
    rows = corpus.contexts(whole, corpus.sentence_numbers(whole, ends), at, 1)
    properties = corpus.property_table(vocabulary.forms, {})
    tokens = Lexicon({}, {"than": 0}).tokenize(text)
    start = np.flatnonzero(tokens.word_id == 0)
    assert (learn.features(rows, properties) == tokens.features(start, start + 1)).all()


def test_a_direction_without_finds_above_its_alarms_is_never_flagged(recipe):
    calibrate = recipe["calibrate"]
    finds = np.zeros(len(calibrate.GRID) + 1)
    finds[70] = 100.0  # log-odds of about 2
    alarms = np.full(100, 2.5)
    side = calibrate.Direction(finds, alarms, np.full(100, 1.0), 1000, 1000.0)
    assert side.threshold(10.0, 0.6, 1.0) == UNREACHABLE_LOG_ODDS
    rare = calibrate.Direction(finds, alarms[:0], alarms[:0], 1000, 1.0)
    assert rare.threshold(0.1, 0.3, 1.0) < 2.0


def test_thresholds_rise_where_unseen_text_has_too_many_alarms(recipe):
    combine = recipe["combine"]
    _, _, shift = combine.PRICES[0.95]
    pair = SimpleNamespace(words=("one", "two"), style=False)
    model = SimpleNamespace(thresholds=lambda _: np.array([[1.0, 1.0]]), pairs=[pair])
    n = 20_000
    scores = np.full((2, n), -9.0)  # of the other word where "one" and where "two" is printed

    def thresholds() -> np.ndarray:
        side = np.repeat([0, 1], n).astype(np.int8)
        pair, weight, price = np.zeros(2 * n, np.int32), np.full(2 * n, 0.1), np.ones(2 * n)
        sums = combine.Scores(pair, side, scores.ravel(), weight, price)
        sides = combine.count_directions(model, sums)
        return combine.compute_thresholds(model, sides, 0.95, {("one", "two"): "function"})

    quiet = thresholds()
    scores[0, :50] = 6.0  # false alarms of "two"
    loud = thresholds()
    assert quiet[0, 0] < 6 < loud[0, 0] < 9
    assert quiet[0, 1] == loud[0, 1] < 9
    scores = scores[:, :10]
    n = 10
    rare = thresholds()
    assert rare[0, 0] == rare[0, 1] == combine.FEATURE_WEIGHT + shift


def test_the_shipped_pairs_are_among_the_candidates(recipe):
    candidates = recipe["train_confusions"].read_pairs()
    shipped = json.loads((shipped_model_path("confusions") / "pairs.json").read_text())
    assert {tuple(row["words"]) for row in shipped} <= set(candidates)
    groups = {row["style"] for row in shipped if candidates[tuple(row["words"])] == "style"}
    assert groups == {True}


def test_repeated_novels_are_dropped(recipe):
    corpus = recipe["corpus"]
    rng = np.random.default_rng(0)
    words = rng.integers(1, 500, 60_000).astype(np.int32)
    words[::50] = 0  # paragraphs
    other = rng.integers(1, 500, 60_000).astype(np.int32)
    other[::50] = 0
    cases = np.zeros(120_000, np.uint8)
    book = corpus.Text("books", words, cases[:60_000])
    novels = corpus.Text("novels", np.concatenate([words, other]), cases)
    kept = corpus.drop_copies(novels, book)
    assert 50_000 < len(kept.words) < 62_000
    assert (kept.words[-1000:] == other[-1000:]).all()
