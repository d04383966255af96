from __future__ import annotations

import re

import pytest

from textrank.evaluation import Decision
from textrank.explanation import AVERAGE_NAME
from textrank.reports.explanation import (
    ExplainedDecision,
    describe_feature,
    feature_group,
    find_supporting_words,
    group_contributions,
    render_explanations,
)

DECISION = Decision(
    document="d",
    text="<b>SHC binds GRB2.",
    spans=[(3, 6), (13, 17)],
    score=0.75,
    label=1.0,
    threshold=0.25,
    path=[(7, 12, 3, 6, "nsubj"), (7, 12, 13, 17, "dobj")],
)
PARTS = [
    (("triggers", "trigger", "middle", "bind"), 0.8),
    (("words", "before", "not"), -0.5),
    (("triggers", "top", "bind"), 0.2),
    (("basic", "sentence length"), 0.05),
    ((AVERAGE_NAME,), 0.2),
]
ROW = {"status": "asserted", "type": "binding", "probability": 0.9, "interacts": True}
EXPLANATION = ExplainedDecision(DECISION, PARTS, ROW)


def test_reasons_sum_to_the_score_and_their_lines_to_the_reasons() -> None:
    text = EXPLANATION.to_text(1)
    shown = [float(v) for v in re.findall(r"^    ([+-]\d\.\d+)  ", text, re.M)]
    assert sum(shown) == pytest.approx(0.75)
    assert "+0.2000  1 more" in text
    assert text.index("verb and roles") < text.index("negation and speculation")
    assert text.rstrip().endswith(AVERAGE_NAME)


def test_the_verdict_says_what_is_stated() -> None:
    assert EXPLANATION.verdict == (
        "yes, asserted, binding, probability 0.90 (score +0.750, threshold +0.250)"
    )
    negated = ExplainedDecision(DECISION, PARTS, {**ROW, "status": "negated", "interacts": False})
    assert not negated.is_positive
    assert negated.verdict.startswith("no, negated")
    assert ExplainedDecision(DECISION, PARTS).is_positive  # without a row the threshold decides


def test_names_and_telling_words_are_marked() -> None:
    assert "[SHC] *binds* [GRB2]" in EXPLANATION.to_text()
    assert find_supporting_words(PARTS, DECISION.text) == [(7, 12)]


def test_equal_features_of_two_parses_are_one_in_words() -> None:
    twice = [(("own", "path", "length", "2"), 0.5), (("given", "path", "length", "2"), 0.25)]
    (reason,) = group_contributions(twice)
    assert (reason.title, reason.adds) == ("path", 0.75)
    assert reason.parts == [("on the path length 2", 0.75)]


def test_unknown_features_are_other_reasons() -> None:
    assert feature_group(("something", "else")) == "other"
    assert describe_feature(("something", "else")) == "something else"


def test_page_escapes_text_and_draws_the_path() -> None:
    page = render_explanations([EXPLANATION])
    assert "&lt;b&gt;" in page
    assert "<b>SHC" not in page
    assert 'mark class="e1' in page
    assert "nsubj" in page
    assert "dobj" in page
    assert "http://" not in page
    assert "https://" not in page


def test_bars_are_relative_to_the_largest() -> None:
    widths = re.findall(r"style=\"width: ([\d.]+)%", render_explanations([EXPLANATION], top=2))
    assert widths == ["100.0", "50.0", "5.0", "20.0"]
