"""Protocols keep documents whole, unless they exist to show what splitting them is worth."""

from __future__ import annotations

import numpy as np
import pytest
import spacy
from spacy.tokens import Doc

from textrank.candidates import Candidate, Targets
from textrank.cli.run import PROTOCOL_NAMES
from textrank.evaluation.splits import (
    SPLITTERS,
    DocumentFolds,
    FiveByTwo,
    LeakyFolds,
    LeaveDocumentOut,
    LeaveQueryOut,
    PredefinedSplit,
    SentenceFolds,
    TrainTest,
    make_splitter,
)

SAFE = [DocumentFolds(4), DocumentFolds(3, seed=5, splits=2), LeaveDocumentOut(), FiveByTwo(),
        TrainTest(), PredefinedSplit({f"d{i}": i % 3 for i in range(12)})]  # fmt: skip


@pytest.fixture(scope="module")
def candidates():
    vocab = spacy.blank("en").vocab
    found = []
    for d in range(12):
        doc = Doc(vocab, words=["a", "b"])
        doc.user_data["document"] = f"d{d}"
        for s in range(3):
            for i in range(2):
                found.append(Candidate(doc, (), f"d{d}", f"s{s}", 1.0 if i else -1.0))
    return found


def sides(division, units):
    """For each unit the number of folds it lies in, over all partitions."""
    return [len(set(p[units == u].tolist())) for p in division.partitions for u in np.unique(units)]


@pytest.mark.parametrize("way", SAFE, ids=repr)
def test_documents_stay_whole(candidates, way):
    targets = Targets.from_candidates(candidates)
    division = way.split(candidates, targets)
    assert set(sides(division, targets.groups)) == {1}
    np.testing.assert_array_equal(division.targets.groups, targets.groups)
    assert not division.notes


def test_sentence_folds_split_documents_but_not_sentences(candidates):
    targets = Targets.from_candidates(candidates)
    with pytest.warns(UserWarning, match="LEAKY: folds by sentence"):
        division = SentenceFolds(4).split(candidates, targets)
    assert set(sides(division, targets.queries)) == {1}
    assert max(sides(division, targets.groups)) > 1
    assert "must not be reported" in division.notes[0]


def test_leaky_folds_split_sentences_warn_and_are_marked(candidates):
    targets = Targets.from_candidates(candidates)
    with pytest.warns(UserWarning, match="LEAKY: folds by candidate"):
        division = LeakyFolds(4).split(candidates, targets)
    assert max(sides(division, targets.queries)) > 1
    assert len(np.unique(division.targets.groups)) == len(candidates)
    assert division.notes
    assert np.bincount(division.partitions[0]).tolist() == [18, 18, 18, 18]


def test_leave_out_protocols_have_a_fold_for_each_unit(candidates):
    targets = Targets.from_candidates(candidates)
    assert len(np.unique(LeaveDocumentOut().split(candidates, targets).partitions[0])) == 12
    queries = LeaveQueryOut().split(candidates, targets)
    assert len(np.unique(queries.partitions[0])) == 36
    assert "both sides" in queries.notes[0]


def test_five_by_two_has_five_halvings_and_train_test_one_measured_fold(candidates):
    targets = Targets.from_candidates(candidates)
    five = FiveByTwo().split(candidates, targets)
    assert [np.bincount(p).tolist() for p in five.partitions] == [[36, 36]] * 5
    once = TrainTest(share=0.25).split(candidates, targets)
    assert once.tested == {0}
    assert np.bincount(once.partitions[0]).tolist() == [18, 54]


@pytest.mark.filterwarnings("ignore:LEAKY")
@pytest.mark.parametrize("name", SPLITTERS)
def test_every_name_gives_a_protocol(candidates, name):
    division = make_splitter(name, folds=2).split(candidates, Targets.from_candidates(candidates))
    assert all(len(p) == len(candidates) for p in division.partitions)
    assert division.procedure


def test_the_command_line_has_the_same_protocols():
    assert set(PROTOCOL_NAMES) == set(SPLITTERS)


def test_wrong_protocols_are_explained(candidates):
    with pytest.raises(ValueError, match="unknown protocol 'loo'; available: documents"):
        make_splitter("loo")
    with pytest.raises(ValueError, match="cannot be used with protocol 'leaky'"):
        make_splitter("leaky", folds={"d0": 1})
    with pytest.raises(ValueError, match="splits must be at least 1"):
        DocumentFolds(splits=0)
    with pytest.raises(ValueError, match="between 0 and 1, got 25"):
        TrainTest(share=25)
    with pytest.raises(ValueError, match="needs at least 2, but the corpus has 1"):
        LeaveDocumentOut().split(candidates[:3], Targets.from_candidates(candidates[:3]))
