"""Drawings of representations."""

from __future__ import annotations

import pytest

from textrank.plotting import draw_sentence_graph, example_pair
from textrank.tasks.ppi.graphs import DependencyGraph

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("Agg")


def test_a_sentence_graph_shows_words_labels_and_weights():
    figure = draw_sentence_graph(example_pair(), DependencyGraph(path_weight=0.8, other_weight=0.2))
    texts = [text.get_text() for text in figure.axes[0].texts]
    assert {"KinA", "PROT1 · NN", "nsubj  0.8", "advmod  0.2", "before", "after"} <= set(texts)
    matplotlib.pyplot.close(figure)


def test_a_drawing_needs_both_parts():
    with pytest.raises(ValueError, match="must have the parts dependency and linear, got"):
        draw_sentence_graph(example_pair(), DependencyGraph(parts=["linear"]))
