"""Named features from columns of numbers, against plain counting."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from tests.tasks.ppi.pair_docs import random_pairs
from textrank.features import Features
from textrank.tasks.ppi.pairs import FeatureCounter, Lexicon, analyze_pairs
from textrank.tasks.ppi.views import PARSE_BLOCKS, WORD_BLOCKS, normalize_rows


def rows(features: Features) -> list[dict[tuple[str, ...], float]]:
    table = features.values.toarray()
    return [{features.names[j]: v for j, v in enumerate(r) if v} for r in table.tolist()]


def test_names_of_hundreds_of_lengths_are_told_apart():
    """Each length is a group of its own; groups and words share the bits of one number."""
    lexicon = Lexicon()
    words = lexicon.encode(f"w{n}" for n in range(3000))
    rng = np.random.default_rng(0)
    sizes = [*range(1, 700), *rng.integers(1, 700, 300)]
    parts = np.full((len(sizes), 700), -1, dtype=np.intp)
    for row, size in enumerate(sizes):
        parts[row, :size] = words[rng.integers(0, 3, size) * 999]
    found = FeatureCounter(lexicon, len(sizes))
    found.add_padded("path", np.arange(len(sizes)), parts)
    known = lexicon.words()
    expected = [("path", *(known[n] for n in own if n >= 0)) for own in parts.tolist()]
    features = found.features()
    assert len(features.names) == len(set(expected))
    assert rows(features) == [{name: 1.0} for name in expected]


def test_what_is_met_several_times_is_counted_or_said_once():
    lexicon = Lexicon()
    found = FeatureCounter(lexicon, 3)
    met = np.array([0, 0, 2])
    found.add("word", met, lexicon.encode(["a", "a", "b"]))
    counted = [Counter({("word", "a"): 2.0}), Counter(), Counter({("word", "b"): 1.0})]
    assert rows(found.features()) == counted
    assert rows(found.features(binary=True)) == [dict.fromkeys(row, 1.0) for row in counted]


def test_nothing_met_gives_rows_without_features():
    assert FeatureCounter(Lexicon(), 2).features().values.shape == (2, 0)


@pytest.mark.parametrize("seed", range(10))
def test_blocks_found_together_are_those_found_one_by_one(make_doc, seed):
    candidates = random_pairs(make_doc, np.random.default_rng(seed))
    blocks = {**WORD_BLOCKS, **PARSE_BLOCKS}
    pairs = analyze_pairs(candidates, "spacy")
    together = pairs.extract_jointly(blocks)
    of_length_one = together.normalized
    for name, block in blocks.items():
        alone = block.represent(list(pairs))
        assert rows(together.view(name)) == rows(alone) == rows(pairs.features_of(block))
        assert rows(of_length_one.view(name)) == rows(normalize_rows(alone))
    assert {name[0] for name in together.features.names} == set(blocks)


def test_blocks_that_were_found_together_are_not_looked_for_again(make_doc):
    pairs = analyze_pairs(random_pairs(make_doc, np.random.default_rng(0)), "own")
    some = {"path": PARSE_BLOCKS["path"], "words": WORD_BLOCKS["words"]}
    alone = pairs.joint_features({"words": WORD_BLOCKS["words"]})
    assert list(alone.view_names) == ["words"]
    together = pairs.extract_jointly({**WORD_BLOCKS, **PARSE_BLOCKS})
    assert pairs.joint_features(some) is together
    other = pairs.joint_features({"walks": PARSE_BLOCKS["path"]})  # by another name than before
    assert rows(other.view("walks")) == rows(together.view("path"))
