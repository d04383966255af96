"""Interactions from raw text: counts and measures against those counted by hand."""

from __future__ import annotations

import json
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pytest
import spacy

from textrank.cli import main
from textrank.config import load_pipeline
from textrank.evaluation.evaluate import evaluate_raw_text, has_selected_sentences
from textrank.formats.base import Mention, set_mentions
from textrank.learners.calibration import PlattCalibration
from textrank.pipeline import Pipeline
from textrank.reports.table import write_json


@dataclass
class Reader:
    """Stands for a model: yes where one of its verbs stands between the names."""

    pipeline: Pipeline
    verbs: tuple[str, ...] = ("binds",)
    threshold: float = 0.5
    calibration: PlattCalibration | None = None
    selected_calibration: PlattCalibration | None = None
    meta: dict[str, Any] = field(default_factory=lambda: {"corpus": "elsewhere"})

    def score(self, candidates):
        return np.array([float(self.yes(*c.spans)) for c in candidates])

    def yes(self, one, other):
        return any(verb in one.doc.text[one.end_char : other.start_char] for verb in self.verbs)


@pytest.fixture
def model():
    return Reader(load_pipeline("ppi-linear"))


def recogniser(*names):
    """A pipeline that knows these names, and ends sentences at full stops."""
    nlp = spacy.blank("en")
    nlp.add_pipe("sentencizer")
    ruler = nlp.add_pipe("entity_ruler")
    ruler.add_patterns([{"label": "GENE", "pattern": name} for name in names])
    return nlp


def annotated(text, names, pairs, document="d0"):
    """A Doc with names at their only place in the text; ``pairs`` interact."""
    doc = spacy.blank("en").make_doc(text)
    mentions = [
        Mention(name, "protein", ((text.index(name), text.index(name) + len(name)),))
        for name in names
    ]
    set_mentions(doc, mentions)
    doc.user_data |= {
        "document": document,
        "gold": [{"entities": list(pair), "label": True} for pair in pairs],
    }
    return doc


def counts(found, way):
    own = found.interactions[way]
    return own.hits.gold, own.reachable, own.hits.found, own.hits.right


def test_a_missed_name_takes_its_interactions_with_it(model):
    doc = annotated(
        "AA1 binds BB2. CC3 binds DD4. EE5 binds FF6. GG7 sees HH8.",
        ["AA1", "BB2", "CC3", "DD4", "EE5", "FF6", "GG7", "HH8"],
        [("AA1", "BB2"), ("CC3", "DD4"), ("GG7", "HH8")],
    )
    nlp = recogniser("AA1", "BB2", "DD4", "EE5", "FF6", "GG7", "HH8")
    found = evaluate_raw_text(model, [doc], nlp, corpus="made")
    # Candidates: AA1-BB2 (yes, right), EE5-FF6 (yes, wrong), GG7-HH8 (no, though gold).
    assert counts(found, "overlap") == counts(found, "exact") == (3, 2, 2, 1)
    assert counts(found, "given") == (3, 3, 3, 2)
    assert found.candidates == 3
    assert dict(found.reasons) == {"missed": 1, "separated": 0, "merged": 0}
    plain = found.to_dict()["interactions"]["overlap"]
    assert (plain["precision"], plain["recall"], plain["f"]) == (1 / 2, 1 / 3, 2 / 5)
    assert (plain["recall_of_reachable"], plain["f_of_reachable"]) == (1 / 2, 1 / 2)
    assert (plain["unreachable"], plain["false_positives"], plain["missed"]) == (1, 1, 2)
    names = found.to_dict()["names"]["overlap"]
    assert (names["gold"], names["found"], names["precision"], names["recall"]) == (8, 7, 1, 7 / 8)


def test_overlapping_names_count_and_equal_boundaries_are_told_apart(model):
    doc = annotated(
        "The AA1 receptor binds BB2.", ["AA1 receptor", "BB2"], [("AA1 receptor", "BB2")]
    )
    found = evaluate_raw_text(model, [doc], recogniser("AA1", "BB2"))
    assert counts(found, "overlap") == (1, 1, 1, 1)
    assert counts(found, "exact") == (1, 0, 1, 0)
    assert found.names["overlap"].right == 2
    assert found.names["exact"].right == 1


def test_one_yes_matches_one_of_two_nested_interactions(model):
    text = "The AA1 receptor binds BB2."
    names = ["AA1 receptor", "AA1", "BB2"]
    doc = annotated(text, names, [("AA1 receptor", "BB2"), ("AA1", "BB2")])
    found = evaluate_raw_text(model, [doc], recogniser("AA1 receptor", "BB2"))
    assert counts(found, "overlap") == (2, 1, 1, 1)
    assert counts(found, "exact") == (2, 1, 1, 1)
    assert dict(found.reasons) == {"missed": 0, "separated": 0, "merged": 1}
    assert counts(found, "given") == (2, 2, 2, 2)


def test_two_yes_for_one_interaction_are_one_right_and_one_wrong(model):
    doc = annotated("AA1 receptor binds BB2.", ["AA1 receptor", "BB2"], [("AA1 receptor", "BB2")])
    found = evaluate_raw_text(model, [doc], recogniser("AA1", "receptor", "BB2"))
    assert found.candidates == 2  # names side by side are not paired
    assert counts(found, "overlap") == (1, 1, 2, 1)
    assert (found.names["overlap"].found, found.names["overlap"].right) == (3, 2)


def test_both_names_in_one_found_name_are_merged(model):
    doc = annotated("AA1 binds BB2 here.", ["AA1", "BB2"], [("AA1", "BB2")])
    found = evaluate_raw_text(model, [doc], recogniser("AA1 binds BB2"))
    assert found.candidates == 0
    assert counts(found, "overlap") == (1, 0, 0, 0)
    assert dict(found.reasons) == {"missed": 0, "separated": 0, "merged": 1}


def test_a_sentence_end_of_ours_between_the_names_separates_them(model):
    text = "The factor AA1 spp. Then binds BB2."
    doc = annotated(text, ["AA1", "BB2"], [("AA1", "BB2")])
    found = evaluate_raw_text(model, [doc], recogniser("AA1", "BB2"))
    assert dict(found.reasons) == {"missed": 0, "separated": 1, "merged": 0}
    assert counts(found, "given") == (1, 0, 0, 0)  # the same sentences with given names


def test_sentences_of_the_corpus_can_be_kept(model):
    text = "AA1 binds BB2 CC3 binds DD4"  # two sentences that have lost their full stops
    pairs = [("AA1", "BB2"), ("CC3", "DD4")]
    doc = annotated(text, ["AA1", "BB2", "CC3", "DD4"], pairs)
    for token in doc:
        token.is_sent_start = token.text in ("AA1", "CC3")
    nlp = recogniser("AA1", "BB2", "CC3", "DD4")
    glued = evaluate_raw_text(model, [doc], nlp)
    assert glued.candidates == 5  # BB2 and CC3 stand side by side: no pair
    assert counts(glued, "overlap") == (2, 2, 5, 2)
    kept = evaluate_raw_text(model, [doc], nlp, sentences=True)
    assert kept.candidates == 2
    assert counts(kept, "overlap") == counts(kept, "given") == (2, 2, 2, 2)
    assert "sentences of the corpus" in kept.procedure


def test_nothing_recognised_gives_no_precision_and_no_recall(model):
    doc = annotated("AA1 binds BB2.", ["AA1", "BB2"], [("AA1", "BB2")])
    plain = evaluate_raw_text(model, [doc], recogniser("ZZ9")).to_dict()
    assert plain["candidates"] == 0
    assert plain["interactions"]["overlap"]["precision"] is None
    assert plain["interactions"]["overlap"]["recall"] == 0
    assert plain["names"]["overlap"]["recall"] == 0


def test_documents_add_up_and_do_not_mix(model):
    docs = [
        annotated("AA1 binds BB2.", ["AA1", "BB2"], [("AA1", "BB2")], "one"),
        annotated("AA1 sees BB2 now.", ["AA1", "BB2"], [("AA1", "BB2")], "two"),
        annotated("AA1 binds BB2 too.", ["AA1", "BB2"], [], "three"),
    ]
    found = evaluate_raw_text(model, docs, recogniser("AA1", "BB2"))
    assert counts(found, "overlap") == counts(found, "given") == (2, 2, 2, 1)
    half = evaluate_raw_text(model, docs, recogniser("AA1", "BB2"), positives=1.0)
    assert counts(half, "overlap") == (2, 2, 3, 2)


@pytest.mark.parametrize(
    ("calibration", "yes"), [(None, 1), (PlattCalibration(1.0, 0.0, sources=1), 3)]
)
def test_auto_says_yes_where_the_found_pairs_promise_the_best_f(model, calibration, yes):
    docs = [
        annotated(f"AA1 {verb} BB2.", ["AA1", "BB2"], [("AA1", "BB2")], verb)
        for verb in ("binds", "sees", "meets")
    ]
    model = replace(model, calibration=calibration)  # without one, above the mean of the scores
    found = evaluate_raw_text(model, docs, recogniser("AA1", "BB2"), positives="auto")
    assert counts(found, "overlap") == counts(found, "given") == (3, 3, yes, yes)


def test_selected_sentences_with_given_names_have_a_threshold_of_their_own(model):
    """The curve of the model expects one positive, that for selected sentences expects three."""
    texts = [f"AA1 {verb} BB2." for verb in ("binds", "sees", "meets")]
    docs = [annotated(text, ["AA1", "BB2"], [("AA1", "BB2")], text) for text in texts]
    model = replace(model, calibration=PlattCalibration(9.0, -3.0, sources=1))
    selected = replace(model, selected_calibration=PlattCalibration(1.0, 3.0, sources=1))
    nlp = recogniser("AA1", "BB2")
    for tested, yes in ((model, 1), (selected, 3)):
        found = evaluate_raw_text(tested, docs, nlp, positives="auto")
        assert counts(found, "overlap") == (3, 3, 1, 1)  # recognised names keep the threshold
        assert counts(found, "given") == (3, 3, yes, yes)
    found = evaluate_raw_text(selected, docs, nlp)  # the threshold of training
    assert counts(found, "given") == (3, 3, 1, 1)
    assert has_selected_sentences([nlp(text) for text in texts])
    assert not has_selected_sentences([nlp(" ".join(texts))])
    assert not has_selected_sentences([])


def test_odd_layout_away_from_the_pairs_changes_nothing(model):
    """Candidates then refer to the Doc itself, not to a copy in plain words."""
    text = "CC3 was β-like.\n\n  It came.\n\nAA1 binds BB2."
    doc = annotated(text, ["AA1", "BB2", "CC3"], [("AA1", "BB2")])
    found = evaluate_raw_text(model, [doc], recogniser("AA1", "BB2", "CC3"))
    assert counts(found, "overlap") == (1, 1, 1, 1)


def test_probabilities_of_recognised_pairs_are_compared_with_overlapping_gold(model):
    """AA1 - BB2 is stated and found likely; AA1 - CC3 is not stated; without a curve: nothing."""
    text = "AA1 binds BB2 not CC3."
    doc = annotated(text, ["AA1", "BB2", "CC3"], [("AA1", "BB2")])
    names = recogniser("AA1", "BB2", "CC3")
    assert evaluate_raw_text(model, [doc], names).calibration == {}
    sure = replace(
        model, calibration=PlattCalibration(40.0, -20.0)
    )  # scores 0 and 1 become 0 and 1
    found = evaluate_raw_text(sure, [doc], names).calibration
    assert found["positive_share"] == pytest.approx(1 / 3)
    assert found["mean_probability"] == pytest.approx(2 / 3, abs=1e-6)  # AA1 - CC3: "binds" between
    assert found["calibration_error"] == pytest.approx(1 / 3, abs=1e-6)


def test_the_file_has_stable_keys_and_no_nan(model, tmp_path):
    doc = annotated("AA1 binds BB2.", ["AA1", "BB2"], [("AA1", "BB2")])
    found = evaluate_raw_text(model, [doc], recogniser("AA1"))
    write_json(found.to_dict(), tmp_path / "found.json")
    again = json.loads((tmp_path / "found.json").read_text())
    assert list(again) == [
        "task", "corpus", "procedure", "documents", "candidates", "threshold", "names",
        "interactions", "unreachable", "calibration", "settings", "versions", "seconds",
    ]  # fmt: skip
    assert list(again["interactions"]) == ["overlap", "exact", "given"]
    assert list(again["names"]) == ["overlap", "exact"]
    assert set(again["unreachable"]) == {"missed", "separated", "merged"}


def test_other_tasks_bare_texts_and_missing_recognisers_are_explained(model):
    doc = annotated("AA1 binds BB2.", ["AA1", "BB2"], [])
    with pytest.raises(ValueError, match="task 'spelling'"):
        evaluate_raw_text(Reader(load_pipeline("spelling")), [doc], recogniser("AA1"))
    blank = spacy.blank("en")
    blank.add_pipe("sentencizer")
    with pytest.raises(ValueError, match=r"no span group 'entities' and no entities"):
        evaluate_raw_text(model, [doc], blank)
    del doc.user_data["gold"]
    with pytest.raises(ValueError, match="no gold interactions"):
        evaluate_raw_text(model, [doc], recogniser("AA1"))


def command(monkeypatch, *words):
    monkeypatch.setattr("sys.argv", ["textrank", *words])
    with pytest.raises(SystemExit) as stop:
        main()
    return stop.value.code


def test_the_command_prints_the_figures_and_writes_them(monkeypatch, capsys, tmp_path):
    file = tmp_path / "found.json"
    words = ("evaluate", "ppi", "corpora/sample-ppi", "--names", "recognised", "--json", str(file))
    assert command(monkeypatch, *words) == 0
    printed = capsys.readouterr().out
    found = json.loads(file.read_text())
    own = found["interactions"]["overlap"]
    assert f"{own['unreachable']} of {own['gold']} gold interactions" in printed
    assert own["gold"] == found["interactions"]["given"]["gold"] == 222
    assert sum(found["unreachable"].values()) == own["unreachable"]
    assert 0.6 < own["f"] < found["interactions"]["given"]["f"] < own["f_of_reachable"] + 0.1


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("ppi", "corpora/sample-ppi", "--names", "some"), "given, recognised"),
        (("spelling", "corpora/sample-spelling", "--names", "recognised"), "task 'spelling'"),
        (("ppi", "corpora/sample-text", "--names", "recognised"), "no gold interactions"),
    ],
)
def test_the_command_refuses_what_makes_no_sense(monkeypatch, capsys, words, message):
    assert command(monkeypatch, "evaluate", *words) == 2
    assert message in capsys.readouterr().err


def test_train_leaves_out_what_shares_text(monkeypatch, capsys, tmp_path):
    corpus = "corpora/sample-ppi"
    assert command(monkeypatch, "train", "ppi-apg", corpus, str(tmp_path / "m"),
                   "--without", corpus) == 2  # fmt: skip
    assert "all 50 documents share text" in capsys.readouterr().err
    assert not (tmp_path / "m").exists()
