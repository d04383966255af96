from __future__ import annotations

import re

import pytest

from textrank.evaluation import Decision
from textrank.linear_scores import AVERAGE_NAME
from textrank.model import OTHER_HEADS_NAME
from textrank.reports.explanation import (
    ABSENT_WORDS,
    AVERAGE,
    ExplainedDecision,
    describe_feature,
    describe_path,
    feature_group,
    find_supporting_words,
    group_contributions,
    render_explanations,
)
from textrank.reports.html import Step

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
    assert text.rstrip().endswith(AVERAGE)


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
    assert reason.parts == [("grammatical way between the names", 0.75)]


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


def test_the_summary_names_the_joining_word_and_the_roles() -> None:
    assert EXPLANATION.summary == "*binds* has SHC as subject and GRB2 as object."
    denied = ExplainedDecision(DECISION, PARTS, {**ROW, "status": "negated", "interacts": False})
    assert denied.summary.endswith("as object. It is denied.")
    unlikely = ExplainedDecision(DECISION, PARTS, {**ROW, "interacts": False})
    assert unlikely.summary.endswith("That is too little for a statement.")
    assert EXPLANATION.summary_pieces[0] == ("binds", "said")
    assert "<em>binds</em> has SHC as subject" in render_explanations([EXPLANATION])
    assert EXPLANATION.to_dict()["summary"] == EXPLANATION.summary


def test_a_pair_without_a_joining_word_is_described_by_what_stands_between() -> None:
    near = Decision("d", "p53 inhibitor MDM2.", [(0, 3), (14, 18)], 0.5, 1.0, 0.0)
    assert ExplainedDecision(near, []).summary == "*inhibitor* stands between p53 and MDM2."
    far = Decision("d", "p53, one, two, three, four and MDM2.", [(0, 3), (31, 35)], 0.5, 1.0, 0.0)
    assert ExplainedDecision(far, []).summary == "p53 and MDM2 are 5 words apart."
    single = Decision("d", "p53", [(0, 3)], 0.5, 1.0, 0.0)
    assert ExplainedDecision(single, []).summary == ""


@pytest.mark.parametrize(
    ("links", "words", "expected"),
    [
        ("nsubjpass< prep> pobj>", "AKT1 phosphorylated by PDK1",
         "*phosphorylated* has AKT1 as what it is done to and PDK1 after *by*."),
        ("nsubj< prep_to>", "A binds B", "*binds* has A as subject and B after *to*."),
        ("nn< nsubj< conj_and> dobj> nn>", "A isoform binds inhibits secretion B",
         "*inhibits* has A in its subject (*isoform*) and B in its object (*secretion*)."),
        ("nsubjpass< agent> pobj>", "AKT1 phosphorylated by PDK1",
         "*phosphorylated* has AKT1 as what it is done to and PDK1 after *by*."),
        ("nn< prep_of>", "SRC phosphorylation CAS",
         "*phosphorylation* has SRC beside it and CAS after *of*."),
        ("conj_and>", "A B", ""),
    ],
)  # fmt: skip
def test_roles_are_in_plain_words(links: str, words: str, expected: str) -> None:
    names = words.split()
    relations = [*links.split(), ""]
    steps = [
        Step(word, word in (names[0], names[-1]), link.rstrip("<>"), not link.endswith("<"))
        for word, link in zip(names, relations, strict=True)
    ]
    assert describe_path(steps, [names[0], names[-1]]) == expected


CODES = re.compile(
    r"pattern|1k2|known pairs|PROT|nsubj|dobj|path:|walk|VBZ|conj_|tag\b|\bfore\b|candidate"
)


@pytest.mark.parametrize(
    "name",
    [
        ("triggers", "pattern", "1k2"),
        ("triggers", "pattern around", "k 1k2 k"),
        ("triggers", "ends of path", "nn<", "nn>"),
        ("triggers", "top", "bind", "VB"),
        ("path", "beside", "nn", "PROT1"),
        ("path", "walk of tags", "nsubj<", "VB", "dobj>"),
        ("dependencies", "own", "path:nsubj", "path:PROT1"),
        ("local_context", "PROT2", "tag", "-2", "NN"),
        ("local_context", "PROT2", "word", "-1", "bind"),
        ("global_context", "fore", "bind", "PROT2"),
        ("position, 0.005682",),
        ("words", "middle", "PROT"),
        (AVERAGE_NAME,),
        (OTHER_HEADS_NAME,),
    ],
)
def test_no_description_has_internal_codes(name: tuple[str, ...]) -> None:
    for words in (None, {"bind": "binds"}, {}):
        assert not CODES.search(describe_feature(name, words))


def test_words_of_the_sentence_replace_stems_and_absent_ones_are_said() -> None:
    words = {"activ": "activation"}
    assert describe_feature(("path", "word", "activ"), words) == (
        "“activation” on the way between the names"
    )
    assert describe_feature(("words", "before", "suggest"), words) == ABSENT_WORDS
