"""The shipped pairs: finds, cases, levels, damage, and the table against plain loops."""

from __future__ import annotations

import re
import zlib
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from textrank.cli.info import collect_info
from textrank.lint.model import (
    FEATURE_VALUES,
    NETWORK_OFFSETS,
    RULES,
    THRESHOLD_PRECISIONS,
    ConfusionModel,
    Spots,
    feature_keys,
    pair_hash,
    shipped_model_path,
    unknown_token_row,
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


@pytest.mark.parametrize("n_before", [0, 50])
def test_errors_side_by_side_do_not_hide_one_another(confusions, n_before):
    before = "All is well with us here and now.\n\n" * n_before
    text = before + "Its to early to say weather it works."
    found = {(one.printed, one.proposal) for one in confusions.find_errors(text, 0.8)}
    assert found == {("Its", "It's"), ("to", "too"), ("weather", "whether")}
    alone = confusions.find_errors(before + "It's too early to say weather it works.", 0.8)
    assert [(one.printed, one.proposal) for one in alone] == [("weather", "whether")]


@pytest.mark.parametrize("noun", ["FIR filter", "mbuf structure", "MX record"])
def test_abbreviations_that_are_spelled_out_have_an(confusions, noun):
    sentence = "The server will return an {} to the caller of the function."
    assert not confusions.find_errors(sentence.format(noun), 0.5)
    (flag,) = confusions.find_errors(sentence.format("list"), 0.5)
    assert (flag.printed, flag.proposal) == ("an", "a")


def test_more_precision_never_flags_more(confusions):
    levels = [confusions.thresholds(p) for p in (*THRESHOLD_PRECISIONS, 0.999)]
    for lower, higher in pairwise(levels):
        assert (higher >= lower).all()


def test_scores_are_sums_over_a_plain_dictionary(confusions):
    tokens, start, end, _ = confusions.find_words(WRONG)
    number = [pair.title for pair in confusions.pairs].index("than/then")
    which = np.full(len(start), number)
    alone = replace(confusions, network=None)
    weights = dict(zip(confusions.keys.tolist(), confusions.weights.tolist(), strict=True))
    pair = confusions.pairs[number]
    for row, odds in zip(
        tokens.features(start, end), alone.log_odds(tokens, start, end, which), strict=True
    ):
        keys = feature_keys(row, np.uint64(pair_hash(pair.title)))
        added = sum(
            weights.get(k, 0) * v for k, v in zip(keys.tolist(), FEATURE_VALUES, strict=True)
        )
        expected = pair.slope * (pair.scale * added + pair.bias) + pair.shift
        assert odds == pytest.approx(expected, abs=1e-4)


def test_the_network_adds_the_difference_of_two_words_scores(confusions):
    """The long way: join vectors of the tokens around, two layers, one column per word."""
    tokens, start, end, _ = confusions.find_words(WRONG)
    titles = [pair.title for pair in confusions.pairs]
    which = np.full(len(start), titles.index("than/then"))
    network, pair = confusions.network, confusions.pairs[which[0]]
    columns = sorted({word for pair in confusions.pairs for word in pair.words})
    forms = ["¶"] * 9 + WRONG.lower().replace(".", " .").split() + ["¶"] * 9
    added = confusions.network_log_odds(tokens, start, end, np.arange(len(start)), which)
    for place, value in zip(start, added, strict=True):
        joined = []
        for offset in NETWORK_OFFSETS:
            if tokens.sentence[place + offset] == tokens.sentence[place]:
                form = forms[place + offset]
                row = network.rows.get(zlib.crc32(form.encode()), unknown_token_row(form))
            else:
                row = 0
            joined.append(network.vectors[row] * network.steps)
        units = np.concatenate(joined)
        for layer, bias in zip(network.layers[:2], network.biases[:2], strict=True):
            units = np.maximum(units @ layer + bias, 0)
        scores = units @ network.layers[2] + network.biases[2]
        difference = scores[columns.index("then")] - scores[columns.index("than")]
        expected = pair.network_weight * np.clip(difference, -10, 10)
        assert value == pytest.approx(expected, abs=1e-3)


def test_a_model_without_a_network_judges_by_features_alone(confusions, tmp_path):
    replace(confusions, network=None).to_disk(tmp_path / "m")
    alone = ConfusionModel.from_disk(tmp_path / "m")
    assert alone.network is None
    tokens, start, end, _ = alone.find_words(WRONG)
    assert not alone.network_log_odds(tokens, start, end, np.arange(len(start)), start).any()
    assert [flag.proposal for flag in alone.find_errors(WRONG)] == ["than"]


def test_the_model_is_small_and_comes_back_whole(confusions, tmp_path):
    confusions.to_disk(tmp_path / "m")
    again = ConfusionModel.from_disk(tmp_path / "m")
    assert again.pairs == confusions.pairs
    assert np.array_equal(again.keys, confusions.keys)
    assert np.array_equal(again.network.vectors, confusions.network.vectors)
    assert sum(file.stat().st_size for file in (tmp_path / "m").iterdir()) < 12e6
    (tmp_path / "m" / "pairs.json").write_text("[]")
    with pytest.raises(ValueError, match=r"pairs\.json"):
        ConfusionModel.from_disk(tmp_path / "m")


def test_info_lists_the_pairs_with_their_figures(confusions):
    title, rows = list(collect_info("spelling").items())[-1]
    assert title.startswith(f"{len(confusions.pairs)} confusion pairs")
    assert "recall" in rows["than/then"]


MARK = re.compile(r"\{([^|{}]*)\|([^|{}]*)\}")
DATA = Path(__file__).parent / "data"


def confusion_sentences(name="common"):
    """Return (wrong sentence, offset, intended word, right sentence) of a file of sentences."""
    lines = (DATA / f"{name}_confusions.txt").read_text(encoding="utf-8").splitlines()
    marks = [(line, MARK.search(line)) for line in lines if not line.startswith("#")]
    return [
        (MARK.sub(r"\1", line), mark.start(), mark[2], MARK.sub(r"\2", line))
        for line, mark in marks
        if mark
    ]


def count_found(confusions, precision, name="common"):
    """Return how many of the sentences have their error found with the intended word."""
    return sum(
        (at, intended) in {(f.start, f.proposal) for f in confusions.find_errors(text, precision)}
        for text, at, intended, _ in confusion_sentences(name)
    )


@pytest.mark.parametrize(("name", "count"), [("common", 120), ("more", 60)])
def test_common_confusions_are_found_and_their_twins_left_alone(confusions, name, count):
    """The sentences were written before the table was made."""
    sentences = confusion_sentences(name)
    assert len(sentences) == count
    assert count_found(confusions, 0.95, name) >= 0.5 * count
    assert count_found(confusions, 0.8, name) >= 0.65 * count
    flagged = [right for *_, right in sentences if confusions.find_errors(right, 0.95)]
    assert len(flagged) <= 0.02 * count


def test_a_lower_precision_finds_more(confusions):
    found = [count_found(confusions, precision) for precision in (0.5, 0.8, 0.95, 0.99)]
    assert found == sorted(found, reverse=True)
    assert len(set(found)) == len(found)


def test_rules_are_used_up_to_their_precision(confusions):
    text = "The guide said that the principle reason was the weather."
    (flag,) = confusions.find_errors(text, 0.95)
    assert (flag.proposal, flag.is_rule) == ("principal", True)
    assert not any(flag.is_rule for flag in confusions.find_errors(text, 0.97))


def test_every_rule_needs_a_neighbour_and_proposes_another_word():
    for rule in RULES:
        assert any(is_required for _, _, is_required in rule.conditions), rule
        assert rule.printed != rule.proposal
        assert 0.9 < rule.precision < 1


@pytest.mark.parametrize(
    ("text", "word", "proposal"),
    [
        ("He said that we should of gone by train.", "of", "have"),
        ("It is clear that their is no other way.", "their", "there"),
        ("The machine keeps it's own list of names.", "it's", "its"),
        ("That is far to much for one single person.", "to", "too"),
        ("This was suppose to be the last one.", "suppose", "supposed"),
    ],
)
def test_closed_patterns_are_found(confusions, text, word, proposal):
    flags = confusions.find_errors(text)
    assert [(flag.printed, flag.proposal) for flag in flags] == [(word, proposal)]


@pytest.mark.parametrize(
    "text",
    [
        "This must of necessity be so, and it could of course be worse.",
        "They lost their own, and there is no other one here.",
        "Much of it was given to many people of the town.",
    ],
)
def test_rules_leave_right_words_alone(confusions, text):
    assert confusions.find_errors(text) == []


def test_a_short_text_after_a_long_one_has_the_same_tokens(confusions):
    """The lexicon then has more rows than the text has tokens."""
    lexicon = replace(confusions._lexicon, ids={}, rows=[])
    alone = lexicon.tokenize(WRONG)
    lexicon.tokenize(" ".join(f"word{n}" for n in range(400)))
    again = lexicon.tokenize(WRONG)
    assert len(lexicon.rows) > len(again.ids)
    for name in ("ids", "word_id", "case", "sentence", "network_row"):
        assert (getattr(alone, name) == getattr(again, name)).all()
    assert all((a == b).all() for a, b in zip(alone.codes, again.codes, strict=True))


def test_of_tied_proposals_none_has_the_lead(confusions):
    spots = Spots(np.array([0, 5]), np.array([1, 6]), np.array([0, 0]))
    thresholds = np.zeros((len(confusions.pairs), 2))
    span, pair, side = np.array([0, 0, 1]), np.array([3, 4, 5]), np.zeros(3, np.int64)
    for odds, pairs in (
        ([2.0, 2.0, 2.0], [5]),
        ([2.0, 2.0 - 1e-12, 2.0], [5]),
        ([3.0, 2.0, 2.0], [3, 5]),
    ):
        scores = (span, pair, side, np.array(odds))
        candidates = confusions._above_threshold(spots, scores, thresholds)
        assert [candidate[2] for candidate in candidates] == pairs
