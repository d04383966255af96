"""Drawings of contexts and parses."""

from __future__ import annotations

import numpy as np
import pytest

from textrank import plotting
from textrank.graphs import Contexts
from textrank.representations.transformations import Bag, SharedStem

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("Agg")


def test_a_transformed_matrix_spreads_each_occurrence():
    context = plotting.example_context()
    plain = plotting.transform_context(context, 6)
    bag = plotting.transform_context(context, 6, Bag())
    np.testing.assert_allclose(bag, np.repeat(plain.sum(axis=1, keepdims=True), 12, axis=1))
    stems = plotting.transform_context(context, 6, words=SharedStem())
    rows = [context.vocabulary.index(word) for word in ("activates", "activated")]
    np.testing.assert_allclose(stems[rows[0]], plain[rows].sum(axis=0))


def test_a_kept_target_has_a_column_in_the_middle():
    context = Contexts.from_lists([[("the", -1), ("NAME", 0), ("gene", 1)]])
    plain = plotting.transform_context(context, 2)
    assert plain.shape == (3, 5)
    bag = plotting.transform_context(context, 2, Bag())
    np.testing.assert_allclose(bag, np.ones((3, 5)))
    figure = plotting.draw_transformed_context(context, 2)
    labels = [label.get_text() for label in figure.axes[0].get_xticklabels()]
    assert labels == ["-2", "-1", "0", "+1", "+2"]
    matplotlib.pyplot.close(figure)


def test_every_transformation_has_its_panel():
    figure = plotting.draw_transformed_context(plotting.example_context(), 6)
    titles = {axes.get_title() for axes in figure.axes}
    assert set(plotting.EXAMPLE_TRANSFORMATIONS) < titles
    assert {"word-position matrix", "character n-grams of words"} < titles
    matplotlib.pyplot.close(figure)


def test_a_parse_is_drawn_with_its_links_and_sequences():
    figure = plotting.draw_parse_windows(plotting.example_parse())
    texts = {text.get_text() for text in figure.axes[0].texts}
    assert {"Loss", "Mp", "of syntrophin", "1 Js", "link bigram"} <= texts
    matplotlib.pyplot.close(figure)
