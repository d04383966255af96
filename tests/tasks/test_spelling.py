"""Spelling: which words are judged, when something is proposed, and what is told about it."""

from __future__ import annotations

import numpy as np
import pytest
import spacy
from hypothesis import given
from hypothesis import strategies as st

from textrank.config import load_pipeline, with_task_settings
from textrank.lint.model import ConfusionModel, shipped_model_path
from textrank.representations.collocations import load_lexicon, write_lexicon
from textrank.tasks.base import Scored
from textrank.tasks.spelling import (
    CONFUSION_SETS,
    UNREACHABLE_LOG_ODDS,
    ConfusionLogOdds,
    Spelling,
    apply_proposals,
    diff,
)


@pytest.fixture(scope="module")
def nlp():
    nlp = spacy.blank("en")
    nlp.add_pipe("sentencizer")
    return nlp


def judged(nlp, text: str, task: Spelling | None = None) -> list[str]:
    task = task or Spelling()
    queries = {c.query: c.spans[0].text for c in task.candidates(nlp(text))}
    return list(queries.values())


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("It is more than I know.", ["than", "I"]),
        ("Then he left. There was No Peace.", []),  # capitals may be names
        ("there's a their-there in then's", []),  # parts of other words
        ("it's its, they're your, you're", ["it's", "its", "they're", "your", "you're"]),
        ("it’s fine", ["it’s"]),
        ("He may be late, maybe.", ["may be", "maybe"]),
        ("may\nbe", ["may\nbe"]),
        ("among.them less/more", ["among"][:0]),
        ('"whether" (quite) led.', ["whether", "quite", "led"]),
        ("", []),
    ],
)
def test_only_whole_lower_case_words_are_judged(nlp, text, words):
    assert judged(nlp, text) == words


def test_words_inside_recognised_names_are_left_alone(nlp):
    doc = nlp("the peace river is quite long")
    doc.spans["entities"] = [doc[1:3]]
    assert {c.spans[0].text for c in Spelling().candidates(doc)} == {"quite"}


def test_own_sets_stand_beside_the_published_ones(nlp):
    task = Spelling(more=[["loose", "lose"], ["then", "them"]])
    assert judged(nlp, "lose then", task) == ["lose", "then", "then"]
    assert len(CONFUSION_SETS) == 21


@pytest.mark.parametrize("sets", [[["one"]], [["a", "a"]], [["Their", "there"]], [["a", " "]]])
def test_bad_sets_are_refused(sets):
    with pytest.raises(ValueError, match="confusion set"):
        Spelling(sets=sets)


def test_precision_needs_a_possible_error_rate():
    with pytest.raises(ValueError, match="error_rate between 0 and 1"):
        Spelling(error_rate=0.0)


@given(
    st.lists(st.tuples(st.sampled_from([-1.0, 1.0]), st.floats(-5, 5)), min_size=1, max_size=40),
    st.floats(0.5, 1.0),
    st.floats(0.01, 0.5),
)
def test_the_threshold_is_the_lowest_with_the_precision_asked_for(rows, precision, error_rate):
    y, scores = (np.array(column) for column in zip(*rows, strict=True))
    limit = Spelling(precision=precision, error_rate=error_rate).threshold(y, scores)
    shares = {}
    for level in [limit, *np.abs(scores)]:
        finds = error_rate * (y * scores >= level).sum()
        alarms = (1 - error_rate) * (-y * scores >= level).sum()
        shares[level] = finds / (finds + alarms) if finds + alarms else 1.0
    assert shares[limit] >= precision - 1e-12
    assert all(share < precision for level, share in shares.items() if level < limit)


def test_nothing_is_proposed_where_the_precision_cannot_be_reached():
    y, scores = np.array([1.0, 1.0, -1.0]), np.array([-3.0, 1.0, -1.0])
    assert Spelling(precision=0.99).threshold(y, scores) == UNREACHABLE_LOG_ODDS


def test_proposals_are_for_other_words_above_the_threshold(nlp):
    doc = nlp("more then that, and less than this")
    task = Spelling()
    found = task.candidates(doc)
    scores = np.array([-4.0, 0.0, -9.0])  # than/then: than; fewer/less: unsure; than/then: than
    task.annotate(doc, Scored(found, scores, threshold=2.0))
    (row,) = doc._.textrank_spelling
    assert (row["printed"], row["proposal"], row["set"]) == ("then", "than", "than/then")
    assert doc.text[slice(*row["span"])] == "then"
    p = 1 / (1 + np.exp(-4))
    assert row["probability"] == pytest.approx(p * 0.05 / (p * 0.05 + (1 - p) * 0.95))
    assert apply_proposals(doc) == "more than that, and less than this"
    assert "+more than that" in diff(doc)


def test_three_words_are_told_apart(nlp):
    doc = nlp("over there house")
    task = Spelling()
    task.annotate(doc, Scored(task.candidates(doc), np.array([3.0, -2.0, -5.0]), threshold=1.0))
    assert doc._.textrank_spelling[0]["proposal"] == "their"


def test_an_apostrophe_stays_as_the_text_writes_it(nlp):
    doc = nlp("its late, isn’t it")
    task = Spelling()
    task.annotate(doc, Scored(task.candidates(doc), np.array([5.0]), threshold=1.0))
    assert apply_proposals(doc) == "it’s late, isn’t it"


def test_no_proposals_no_diff(nlp):
    doc = nlp("more than that")
    task = Spelling()
    task.annotate(doc, Scored(task.candidates(doc), np.array([-5.0]), threshold=1.0))
    assert doc._.textrank_spelling == []
    assert diff(doc) == ""


def test_flags_are_measured_with_right_and_wrong_words_printed(nlp):
    doc = nlp("more than that, then this")
    task = Spelling()
    found = task.candidates(doc)
    scores = np.array([-3.0, -2.0])  # the second is wrong: "then" is right there
    measures = task.measures(Scored(found, scores, 1.0))
    assert measures["accuracy"] == 0.5
    # Finds: "then" printed for the first. False alarm: the second as printed.
    assert measures["flag_precision"] == 0.5
    assert measures["flag_recall"] == 0.5
    assert task.measures(Scored(found, scores, 2.5))["flag_precision"] == 1.0
    assert task.measures(Scored(found, scores, UNREACHABLE_LOG_ODDS))["flag_precision"] is None
    assert "flag_precision_of_large_sets" not in measures


def test_flags_of_three_words_have_a_precision_of_their_own(nlp):
    task = Spelling()
    found = task.candidates(nlp("their dog, more than that"))
    assert [c.answer for c in found[:3]] == [
        "their",
        "there",
        "they're",
    ]
    # "their": right and sure, so it is proposed for both other words and never doubted.
    sure = task.measures(Scored(found, np.array([4.0, -3.0, -5.0, -6.0]), 1.0))
    assert sure["flag_precision_of_large_sets"] == 1.0
    # "there" is thought right: an alarm as printed, and a wrong proposal for "they're".
    wrong = task.measures(Scored(found, np.array([-3.0, 4.0, -5.0, -6.0]), 1.0))
    assert wrong["flag_precision_of_large_sets"] == 0.0
    assert wrong["flag_precision"] == 1 / 3


def test_a_model_of_plain_text_proposes_with_reasons(nlp):
    text = "It was {} bigger than the other. Then she {} and then he went there with their dog."
    words = [("much", "left"), ("far", "ran"), ("a bit", "slept"), ("even", "sang")]
    docs = [nlp(text.format(*pair)) for pair in words * 3]
    for number, doc in enumerate(docs):
        doc.user_data["document"] = str(number % 4)
    pipeline = load_pipeline("spelling", {"task.sets": [["than", "then"]], "task.precision": 0.5})
    model = pipeline.fit(docs)
    (row,) = model(nlp("It was much bigger then the other."))._.textrank_spelling
    assert row["proposal"] == "than"
    assert row["because"]
    assert all(part["adds"] > 0 for part in row["because"])
    assert model(nlp("It was much bigger than the other."))._.textrank_spelling == []


def test_a_lexicon_survives_its_file(tmp_path):
    words = {"binds": ["VBZ", "NNS"], "’s": ["POS"]}
    for name in ("a.tsv", "a.tsv.gz"):
        write_lexicon(words, tmp_path / name)
        assert {w: list(t) for w, t in load_lexicon(str(tmp_path / name)).items()} == words


def test_the_shipped_lexicon_knows_english():
    assert load_lexicon("english")["than"][0] == "IN"


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"\x1f\x8bbroken", r"x\.tsv: the gzip file is truncated"),
        (b"word without tag\n", r"x\.tsv, line 1: not a line of a lexicon"),
        (b"\xff\tNN\n", r"x\.tsv, line 1, byte 0: not UTF-8"),
    ],
)
def test_a_broken_lexicon_is_named(tmp_path, content, message):
    (tmp_path / "x.tsv").write_bytes(content)
    with pytest.raises(ValueError, match=message):
        load_lexicon(str(tmp_path / "x.tsv"))


def test_an_unknown_lexicon_is_told():
    with pytest.raises(ValueError, match="no lexicon 'klingon'"):
        load_lexicon("klingon")


def test_a_model_takes_another_precision_and_its_threshold_follows(nlp):
    docs = [nlp("It was bigger than this. Then it was bigger than that.") for _ in range(6)]
    for number, doc in enumerate(docs):
        doc.user_data["document"] = str(number)
    model = load_pipeline("spelling", {"task.sets": [["than", "then"]]}).fit(
        [*docs, nlp("she sang then and he ran then, and then we slept")]
    )
    loose = with_task_settings(model, ["task.precision=0.5", "task.error_rate=0.5"])
    assert loose.pipeline.task.precision == 0.5
    assert loose.threshold <= model.threshold
    with pytest.raises(ValueError, match=r"'learner\.alphas' cannot be set on a trained model"):
        with_task_settings(model, ["learner.alphas=[1]"])


def test_the_reasons_of_all_proposals_are_asked_for_at_once(nlp):
    """Each question reads the whole text, so one a proposal would take its square."""
    task = Spelling()
    doc = nlp("It is more then that. They are better then many, and there dogs bark.")
    candidates = task.candidates(doc)
    scores = np.array([3.0 if c.answer in ("than", "their") else -3.0 for c in candidates])
    scores[[c.question == "than/then" for c in candidates]] = -3.0  # for the first of two words
    task.annotate(doc, Scored(candidates, scores, 1.0))
    asked = []

    def explain(some):
        asked.append([(c.question, c.answer) for c in some])
        return [[(("q", "near", c.answer), -2.0 if c.answer == "then" else 2.0)] for c in some]

    task.add_explanations(doc, candidates, explain)
    (told,) = asked
    assert told == [("than/then", "then"), ("than/then", "then"), ("their/there/they're", "their")]
    assert [row["because"][0]["adds"] for row in doc._.textrank_spelling] == [2.0] * 3


def test_the_confusion_table_scores_the_words_of_a_set(nlp):
    """Features are the log-odds of the table, whichever word of the set is printed."""
    texts = ["It is larger {} the other one.", "We left, and {} it began to rain."]
    rows = []
    for word in ("than", "then"):
        docs = [nlp(text.format(word)) for text in texts]
        candidates = [c for doc in docs for c in Spelling().candidates(doc)]
        features = ConfusionLogOdds()(candidates)
        assert [tuple(name) for name in features.names] == [("than/then",)]
        rows.append(features.values.toarray()[:, 0])
    assert rows[0] == pytest.approx(rows[1])
    assert rows[0][0] < -0.5 < 0.5 < rows[0][1]  # "than", then "then"
    table = ConfusionModel.from_disk(shipped_model_path("confusions"))
    text = texts[0].format("than")
    tokens, start, end, word_id = table.find_words(text)
    at = np.flatnonzero(word_id == table.word_ids["than"])
    pair = [pair.title for pair in table.pairs].index("than/then")
    log_odds = table.log_odds(tokens, start[at], end[at], np.array([pair]))
    assert rows[0][0] == pytest.approx(np.tanh(log_odds[0] / 4.0))


def test_sets_of_three_words_have_a_feature_per_pair_and_others_none(nlp):
    doc = nlp("I think their house is large, and the number of doors may be small.")
    candidates = Spelling().candidates(doc)
    features = ConfusionLogOdds()(candidates)
    assert len(features) == len(candidates)
    names = [" ".join(name) for name in features.names]
    titles: dict[str, set[str]] = {}
    for candidate, row in zip(candidates, features.values.toarray(), strict=True):
        titles[candidate.question] = {name for name, value in zip(names, row, strict=True) if value}
    assert len(titles["their/there/they're"]) == 3
    assert len(titles["maybe/may be"]) == 1  # a word of two tokens
    assert titles["amount/number"] == set()  # not in the table
    assert len(ConfusionLogOdds()([])) == 0


def test_a_scale_must_be_positive():
    with pytest.raises(ValueError, match=r"scale must be positive, got 0"):
        ConfusionLogOdds(scale=0.0)
