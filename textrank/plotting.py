"""Drawings of representations with Matplotlib: sentence graphs, parse windows, weighted contexts.

Each ``draw_`` function returns a Matplotlib figure; each ``example_`` function returns an input for
one. ``python -m textrank.plotting FILE`` draws an example of a sentence graph.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import spacy
from spacy.tokens import Doc

from textrank.candidates import Candidate
from textrank.features import Indices, Matrix
from textrank.graphs import Contexts, LabelledGraph, PositionTransformation, WordTransformation
from textrank.representations.transformations import (
    Bag,
    CharacterNgrams,
    LogScale,
    Mixture,
    ScaleFree,
    Sided,
    Smooth,
    Weighting,
)
from textrank.tasks.parse_features import ParseSequences
from textrank.tasks.ppi.graphs import ENTITY_LABELS, DependencyGraph

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["draw_parse_windows", "draw_sentence_graph", "draw_transformed_context", "import_pyplot"]


HIGHLIGHT_COLOR, LINE_COLOR, WINDOW_COLOR = "#c0392b", "#8a8f98", "#f9e3c4"
SIDE_COLORS = {"before": "#e8eef6", "middle": "#f9e3c4", "after": "#e3f1e2"}


def import_pyplot() -> Any:
    """Return ``matplotlib.pyplot``.

    Raises ImportError, with the command that installs it, if matplotlib is missing.
    """
    try:
        import matplotlib.pyplot as plt
    except ImportError as error:
        raise ImportError(
            "drawings need matplotlib: pip install 'textrank-kernels[plots]'"
        ) from error
    return plt


def draw_sentence_graph(
    candidate: Candidate, representation: DependencyGraph | None = None
) -> Figure:
    """Draw the graph of one candidate; ``representation`` must have both parts, the default has.

    The parts are "dependency" and "linear"; raises ValueError if one is missing. The sentence is
    the one of the candidate's first span. Dependencies are arcs over the words, those on a shortest
    path between the two entities in red; the word order is below, coloured by where a word stands.
    Edges carry their weights.
    """
    represent = representation or DependencyGraph()
    if set(represent.parts) != {"dependency", "linear"}:
        raise ValueError(
            f"representation must have the parts dependency and linear, got {represent.parts}"
        )
    graph = represent([candidate])[0]
    sentence = candidate.spans[0].sent
    drawing = SentenceGraphDrawing(graph, [token.text for token in sentence])
    return drawing.figure()


@dataclass(frozen=True)
class SentenceGraphDrawing:
    """Drawing of a sentence graph of n words.

    The vertices of ``graph`` are n words, one per dependency, and n of the word order, in this
    sequence; ``words`` are the texts of the n tokens. Word i is drawn at x = i.
    """

    graph: LabelledGraph
    words: list[str]

    @property
    def dependencies(self) -> list[tuple[int, int, str, float]]:
        """Word index of governor and dependent, label and weight of each dependency.

        The label is the first one of the dependency's vertex, with its prefix "path:" if it is on a
        shortest path; the weight is that of the edge into the vertex.
        """
        n, total = len(self.words), len(self.graph)
        into = {t: (s, w) for (s, t), w in self.graph.edges.items() if n <= t < total - n}
        out = {s: t for s, t in self.graph.edges if n <= s < total - n}
        return [(into[v][0], out[v], self.graph.labels[v][0], into[v][1]) for v in sorted(out)]

    def figure(self) -> Figure:
        """Draw the graph on a new figure and return it; raise ImportError without matplotlib.

        The size follows the number of words and the longest dependency. Nothing is saved or shown.
        """
        plt = import_pyplot()
        wide = 1.25 * len(self.words)
        height = 0.9 + 0.38 * max((abs(g - d) for g, d, *_ in self.dependencies), default=1)
        figure = plt.figure(figsize=(wide, 0.8 * (height + 1.75)))
        axes = figure.add_axes((0.01, 0.01, 0.98, 0.98))
        axes.set_xlim(-0.7, len(self.words) - 0.3)
        axes.set_ylim(-1.75, height)
        axes.axis("off")
        for governor, dependent, label, weight in self.dependencies:
            self.draw_arc(axes, governor, dependent, label, weight)
        for index in range(len(self.words)):
            self.draw_word(axes, index)
        return figure

    def draw_arc(
        self, axes: Axes, governor: int, dependent: int, label: str, weight: float
    ) -> None:
        """Draw one dependency as an arc above the words, from index ``governor`` to ``dependent``.

        The arrowhead is at the dependent; the arc is the higher the farther apart the words are.
        The text is the label and the weight. A label that begins with "path:" (on a shortest path)
        makes the arc red and thick; the prefix is not shown.
        """
        from matplotlib.patches import FancyArrowPatch
        from matplotlib.path import Path

        color, width = (HIGHLIGHT_COLOR, 2.2) if label.startswith("path:") else (LINE_COLOR, 1.1)
        top = 0.45 + 0.5 * abs(governor - dependent)
        left = governor + (0.12 if dependent > governor else -0.12)
        # Upright at both ends, so that arcs of one word stand side by side.
        corners = [(left, 0.42), (left, top), (dependent, top), (dependent, 0.42)]
        curve = Path(corners, [Path.MOVETO, Path.CURVE4, Path.CURVE4, Path.CURVE4])
        arrow = FancyArrowPatch(path=curve, arrowstyle="-|>", color=color, lw=width, fill=False)
        arrow.set_mutation_scale(12)
        axes.add_patch(arrow)
        top = 0.25 * 0.42 + 0.75 * top  # the height of the curve in its middle
        text = f"{label.removeprefix('path:')}  {weight:g}"
        middle = (governor + dependent) / 2
        box = {"facecolor": "white", "edgecolor": color, "boxstyle": "round,pad=0.2", "lw": 0.8}
        axes.text(middle, top, text, ha="center", va="center", fontsize=9, color=color, bbox=box)

    def draw_word(self, axes: Axes, index: int) -> None:
        """Draw the word at ``index`` with its labels, and its vertex of the word order below.

        Labels are red if one begins with "path:". The vertex is coloured by the side that its first
        label begins with, which is written below it. Also draws the edge, with its weight, from the
        vertex of the previous word.
        """
        labels = self.graph.labels[index]
        on_path = any(label.startswith("path:") for label in labels)
        axes.text(index, 0.18, self.words[index], ha="center", fontsize=12, weight="bold")
        color = HIGHLIGHT_COLOR if on_path else LINE_COLOR
        axes.text(index, -0.12, _join_labels(labels), ha="center", fontsize=8.5, color=color)

        vertex = len(self.graph) - len(self.words) + index
        side = self.graph.labels[vertex][0].partition(":")[0]
        text = _join_labels(self.graph.labels[vertex])
        box = {
            "facecolor": SIDE_COLORS[side],
            "edgecolor": LINE_COLOR,
            "boxstyle": "round,pad=0.3",
            "lw": 0.6,
        }
        axes.text(index, -0.85, text, ha="center", va="center", fontsize=8, bbox=box)
        axes.text(index, -1.35, side, ha="center", va="center", fontsize=8, color=LINE_COLOR)
        if index:
            weight = self.graph.edges[vertex - 1, vertex]
            axes.text(
                index - 0.5, -0.68, f"{weight:g}", ha="center", fontsize=7.5, color=LINE_COLOR
            )
            axes.annotate(
                "",
                xy=(index - 0.42, -0.85),
                xytext=(index - 0.58, -0.85),
                arrowprops={"arrowstyle": "-|>", "color": LINE_COLOR, "lw": 1.0},
            )


def _join_labels(labels: Sequence[str]) -> str:
    """Return the labels of a vertex without their prefix, joined by " · ".

    Upper-case labels that are not entities (parts of speech) come last.
    """
    stripped = [re.sub(r"^(path|before|middle|after):(?=.)", "", label) for label in labels]
    return " · ".join(
        sorted(stripped, key=lambda label: label.isupper() and label not in ENTITY_LABELS)
    )


def example_pair() -> Candidate:
    """Return a candidate pair in a sentence with a third entity and collapsed dependencies.

    The pair are the first and the last of the three entities; it has no label.
    """
    words = ["Here", "KinA", "slowly", "modifies", "RecB", "and", "binds", "TraF", "."]
    tags = ["RB", "NN", "RB", "VBZ", "NN", "CC", "VBZ", "NN", "."]
    doc = Doc(spacy.blank("en").vocab, words=words, tags=tags)
    for token in doc:
        token.is_sent_start = token.i == 0
    doc.spans["entities"] = [doc[1:2], doc[4:5], doc[7:8]]
    doc.user_data["dependencies"] = [
        [3, 0, "advmod"],
        [3, 1, "nsubj"],
        [3, 2, "advmod"],
        [3, 4, "dobj"],
        [3, 6, "conj_and"],
        [6, 7, "dobj"],
    ]
    first, _, third = doc.spans["entities"]
    return Candidate(doc, (first, third), "example")


def draw_parse_windows(candidate: Candidate, *, window: int = 1, centre: int = 2) -> Figure:
    """Draw the links over the words, and below them the sequences with one shaded window.

    Locality kernels compare such windows: ``centre`` is the index of the symbol in the middle, the
    same in every sequence, ``window`` the number of symbols on each side. The Doc needs links in
    ``user_data["dependencies"]``, as (left, right, label). Raises ImportError without Matplotlib.
    """
    plt = import_pyplot()
    views = ParseSequences()([candidate])
    figure, axes = plt.subplots(figsize=(12, 6.2), layout="constrained")
    axes.axis("off")
    axes.set_xlim(-2.6, 9.6)
    _draw_links(axes, candidate)
    for row, (name, sequences) in enumerate(views.views.items()):
        symbols = sequences[0].symbols()
        y = -0.75 * (row + 1)
        axes.text(-0.75, y, name.replace("_", " "), ha="right", va="center", fontsize=10)
        for index, symbol in enumerate(symbols):
            in_window = abs(index - centre) <= window
            edge = HIGHLIGHT_COLOR if index == centre else LINE_COLOR
            box = {
                "boxstyle": "round,pad=0.25",
                "ec": edge,
                "fc": WINDOW_COLOR if in_window else "white",
            }
            x = index * 9.4 / max(len(symbols), 8)
            axes.text(x, y, symbol, ha="center", va="center", fontsize=8, bbox=box)
    axes.set_ylim(-0.75 * (len(views.views) + 0.7), 2.6)
    return figure


def _draw_links(axes: Axes, candidate: Candidate) -> None:
    """Draw the words of the candidate's Doc and its ``user_data["dependencies"]`` between them.

    The height of a link grows with its length. Raises KeyError if there are no dependencies.
    """
    words = [token.text for token in candidate.doc]
    step = 9.4 / max(len(words), 8)
    for index, word in enumerate(words):
        axes.text(index * step, 0.0, word, ha="center", va="center", fontsize=11, weight="bold")
    for left, right, kind in candidate.doc.user_data["dependencies"]:
        height = 0.55 * abs(right - left) + 0.25
        a, b = left * step, right * step
        axes.plot([a, a, b, b], [0.22, height, height, 0.22], color=LINE_COLOR, lw=1)
        axes.text((a + b) / 2, height + 0.05, kind, ha="center", fontsize=9, color=HIGHLIGHT_COLOR)


def example_parse() -> Candidate:
    """Return a candidate with a link grammar linkage of six words in ``user_data["dependencies"]``.

    It has no spans and no label.
    """
    words = ["Loss", "of", "syntrophin", "leads", "to", "weakness"]
    doc = Doc(spacy.blank("en").vocab, words=words, tags=["n", "p", "n", "v", "p", "n"])
    links = [[0, 1, "Mp"], [0, 3, "Ss"], [1, 2, "Js"], [3, 4, "MVp"], [4, 5, "Js"]]
    doc.user_data["dependencies"] = links
    return Candidate(doc, (), "example")


EXAMPLE_TRANSFORMATIONS: Mapping[str, PositionTransformation] = {
    "bag of words": Bag(),
    "contextual weighting 1.5, 0.025": Weighting(1.5, 0.025),
    "side-aware weighting, across 0.5": Weighting(1.5, 0.025, of=Sided(0.5)),
    "smooth, θ = 0.1": Smooth(0.1),
    "scale-free smooth, θ = 1": ScaleFree(1.0),
    "log scale, θ = 1": LogScale(1.0),
    "weighted scale-free smooth": Weighting(1.0, 0.025, of=ScaleFree(0.3)),
    "mixture: 0.2 bag + smooth": Mixture([Bag(), Smooth(0.1)], weights=[0.2, 1.0]),
}


def transform_context(
    context: Contexts,
    span: int,
    positions: PositionTransformation | None = None,
    words: WordTransformation | None = None,
) -> Matrix:
    """Return ``Ŵ X P̂`` of one context, (words, 2 span): how much each occurrence counts where.

    ``X`` is the word-position matrix, summed if there are several contexts: rows are
    ``context.vocabulary``, columns the positions -span ... -1, 1 ... span. If the target is kept,
    that is if a word has position 0, there is a column for it in the middle. ``P̂ = R R'`` is the
    similarity of positions, ``Ŵ = B B'`` that of words; None for ``positions`` or ``words`` leaves
    that side unchanged. Words farther than ``span`` are dropped.
    """
    X = context.matrix(span).toarray()
    offsets = _column_positions(X, span)
    if positions is not None:
        R = positions.factor(offsets).values
        X = X @ (R @ R.T).toarray()
    if words is not None:
        B = words.factor(context.vocabulary).values
        X = (B @ B.T).toarray() @ X
    return X


def _column_positions(X: Matrix, span: int) -> Indices:
    """Return the position of each column of a word-position matrix.

    These are -span ... span; 0 is among them if there is a column for the target, that is if their
    number is odd.
    """
    has_target = X.shape[1] % 2 == 1
    return np.array([p for p in range(-span, span + 1) if p or has_target], dtype=np.intp)


def draw_transformed_context(
    context: Contexts,
    span: int,
    positions: Mapping[str, PositionTransformation] = EXAMPLE_TRANSFORMATIONS,
    words: Mapping[str, WordTransformation] | None = None,
) -> Figure:
    """Draw one context as it is and under each transformation, and the weights of positions.

    ``span`` is the number of positions on each side. ``positions`` and ``words`` are
    transformations by the title of their panel; None for ``words`` shows character n-grams. Panels
    are in rows of three: the matrix as it is, positions, words, and the weights. Raises ImportError
    without Matplotlib.
    """
    plt = import_pyplot()
    panels = {"word-position matrix": transform_context(context, span)}
    panels |= {name: transform_context(context, span, t) for name, t in positions.items()}
    word_transformations = (
        {"character n-grams of words": CharacterNgrams(2, 3)} if words is None else words
    )
    panels |= {
        name: transform_context(context, span, words=t) for name, t in word_transformations.items()
    }
    rows = -(-(len(panels) + 1) // 3)
    figure, grid = plt.subplots(rows, 3, figsize=(13, 2.7 * rows), layout="constrained")
    axes = list(grid.ravel())
    for panel, (name, matrix) in zip(axes, panels.items(), strict=False):
        _draw_panel(panel, name, matrix, context.vocabulary, span)
    _draw_weight_curve(axes[len(panels)], span)
    for unused in axes[len(panels) + 1 :]:
        unused.axis("off")
    return figure


def _draw_panel(axes: Axes, name: str, X: Matrix, words: tuple[str, ...], span: int) -> None:
    """Draw a word-position matrix, (words, 2 span), as shades of blue with the title ``name``.

    ``words`` are the labels of the rows; a red line marks the target between the positions -1, 1,
    or at position 0 if there is a column for it.
    """
    offsets = _column_positions(X, span).tolist()
    axes.imshow(X, cmap="Blues", aspect="auto", vmin=0.0, vmax=max(float(X.max()), 1e-9))
    axes.axvline((len(offsets) - 1) / 2, color=HIGHLIGHT_COLOR, lw=1.2)  # the target
    axes.set_title(name, fontsize=10)
    axes.set_yticks(range(len(words)), words, fontsize=8)
    labels = [f"{p:+d}" if p else "0" for p in offsets]
    axes.set_xticks(range(len(offsets)), labels, fontsize=7)


def _draw_weight_curve(axes: Axes, span: int) -> None:
    """Draw the weight of positions up to ``2 * span`` on both sides for three settings.

    One labelled line per (decay, base) of ``Weighting``, on a logarithmic scale; position 0 is left
    out.
    """
    offsets = np.array([p for p in range(-2 * span, 2 * span + 1) if p])
    for decay, base in ((1.5, 0.025), (1.0, 0.025), (0.0, 0.0)):
        weights = Weighting(decay, base).weights(offsets)
        axes.plot(offsets, weights, ".-", lw=1, label=f"decay {decay:g}, base {base:g}")
    axes.set_title("weight of a position, 1 / |p|^decay + base", fontsize=10)
    axes.set_yscale("log")
    axes.legend(fontsize=8)


def example_context() -> Contexts:
    """Return one context: the words around NAME in "... activates the NAME gene in activated ...".

    It has six words on each side, at positions -6 ... -1 and 1 ... 6.
    """
    before = ["the", "factor", "binds", "and", "activates", "the"]
    after = ["gene", "in", "activated", "T", "cells", "and"]
    pairs = [(word, i - len(before)) for i, word in enumerate(before)]
    return Contexts.from_lists([[*pairs, *((word, i) for i, word in enumerate(after, 1))]])


def main() -> None:
    """Draw the example pair to the file named on the command line; its suffix sets the format.

    An existing file is overwritten. Raises SystemExit unless there is exactly one argument.
    """
    if len(sys.argv) != 2:
        raise SystemExit("usage: python -m textrank.plotting FILE")
    # No date and a fixed salt for the ids of elements: the same drawing gives the same file.
    with import_pyplot().rc_context({"svg.hashsalt": "textrank"}):
        draw_sentence_graph(example_pair()).savefig(sys.argv[1], metadata={"Date": None})


if __name__ == "__main__":
    main()
