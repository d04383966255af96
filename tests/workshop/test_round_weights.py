"""Rounding of the parameters of networks."""

from __future__ import annotations

import numpy as np
import spacy
from workshop import round_weights

from textrank.language.load import SHIPPED_PIPELINE
from textrank.tasks.parsers import BACKWARD_PARSER


def test_rounded_values_have_few_bits_and_are_near() -> None:
    values = np.random.default_rng(0).normal(size=(50, 20)).astype(np.float32)
    rounded = round_weights.round_mantissa(values, 5)
    assert rounded.shape == values.shape
    assert not (rounded.view(np.uint32) & 0x3FFFF).any()
    assert np.all(np.abs(rounded - values) <= np.abs(values) * 2.0**-6)
    np.testing.assert_array_equal(round_weights.round_mantissa(rounded, 5), rounded)
    exact = np.array([0.0, -1.0, 1.5, 4096.0], dtype=np.float32)
    np.testing.assert_array_equal(round_weights.round_mantissa(exact), exact)


def test_networks_are_rounded_in_place() -> None:
    nlp = spacy.blank("en")
    tagger = nlp.add_pipe("tagger")
    tagger.add_label("NN")
    nlp.initialize()
    before = tagger.model.to_bytes()
    round_weights.round_networks(nlp)
    once = tagger.model.to_bytes()
    assert once != before
    round_weights.round_networks(nlp)
    assert tagger.model.to_bytes() == once


def test_shipped_networks_are_rounded() -> None:
    models = round_weights.Path(round_weights.__file__).parents[1]
    round_weights.register_components()
    for name in (SHIPPED_PIPELINE, BACKWARD_PARSER):
        nlp = round_weights.round_networks(spacy.load(models / name))
        for component, pipe in nlp._components:
            file = models / name / component / "model"
            assert not file.is_file() or pipe.model.to_bytes() == file.read_bytes()
