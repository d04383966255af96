"""The shipped pairs: finds, cases, levels, damage, and the table against plain loops."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from textrank.cli.info import collect_info
from textrank.lint.model import (
    FEATURE_VALUES,
    THRESHOLD_PRECISIONS,
    ConfusionModel,
    feature_keys,
    pair_hash,
    shipped_model_path,
)

WRONG = "This one is larger then the other."


@pytest.fixture(scope="module")
def confusions():
    return ConfusionModel.from_disk(shipped_model_path("confusions"))


def test_a_wrong_word_is_flagged_with_its_reasons(confusions):
    (one,) = confusions.find_errors(WRONG)
    assert (one.printed, one.proposal, one.pair) == ("then", "than", "than/then")
    assert WRONG[one.start : one.end] == "then"
    assert 0.5 < one.probability <= 1
    assert any("larger" in reason for reason in one.because)
    assert confusions.find_errors(WRONG.replace("then", "than")) == []


@pytest.mark.parametrize(
    ("wrong", "printed", "proposal"),
    [
        ("The daemon keeps it's state in memory.", "it's", "its"),
        ("Its possible to change this value later.", "Its", "It's"),
        ("The files where removed by the installer.", "where", "were"),
    ],
)
def test_grammar_pairs_are_told_apart(confusions, wrong, printed, proposal):
    assert [(one.printed, one.proposal) for one in confusions.find_errors(wrong)] == [
        (printed, proposal)
    ]
    assert confusions.find_errors(wrong.replace(printed, proposal)) == []


def test_places_in_long_texts_are_those_of_their_words(confusions):
    text = "\n\n".join(["All is well with us here and now.", WRONG] * 300)
    found = confusions.find_errors(text)
    assert len(found) == 300
    assert {text[one.start : one.end] for one in found} == {"then"}


@pytest.mark.parametrize("text", ["They lost there", "We where told", "a \ud800 it's own log"])
def test_ends_of_texts_and_broken_characters_are_no_fault(confusions, text):
    for one in confusions.find_errors(text, 0.5):
        assert text[one.start : one.end] == one.printed


def test_more_precision_never_flags_more(confusions):
    levels = [confusions.thresholds(p) for p in (*THRESHOLD_PRECISIONS, 0.999)]
    for lower, higher in pairwise(levels):
        assert (higher >= lower).all()


def test_scores_are_sums_over_a_plain_dictionary(confusions):
    tokens, start, end, _ = confusions.find_words(WRONG)
    number = [pair.title for pair in confusions.pairs].index("than/then")
    which = np.full(len(start), number)
    weights = dict(zip(confusions.keys.tolist(), confusions.weights.tolist(), strict=True))
    pair = confusions.pairs[number]
    for row, odds in zip(
        tokens.features(start, end), confusions.log_odds(tokens, start, end, which), strict=True
    ):
        keys = feature_keys(row, np.uint64(pair_hash(pair.title)))
        added = sum(
            weights.get(k, 0) * v for k, v in zip(keys.tolist(), FEATURE_VALUES, strict=True)
        )
        expected = pair.slope * (pair.scale * added + pair.bias) + pair.shift
        assert odds == pytest.approx(expected, abs=1e-4)


def test_the_model_is_small_and_comes_back_whole(confusions, tmp_path):
    confusions.to_disk(tmp_path / "m")
    again = ConfusionModel.from_disk(tmp_path / "m")
    assert again.pairs == confusions.pairs
    assert np.array_equal(again.keys, confusions.keys)
    assert sum(file.stat().st_size for file in (tmp_path / "m").iterdir()) < 6e6
    (tmp_path / "m" / "pairs.json").write_text("[]")
    with pytest.raises(ValueError, match=r"pairs\.json"):
        ConfusionModel.from_disk(tmp_path / "m")


def test_info_lists_the_pairs_with_their_figures(confusions):
    title, rows = list(collect_info("spelling").items())[-1]
    assert title.startswith(f"{len(confusions.pairs)} confusion pairs")
    assert "recall" in rows["than/then"]
