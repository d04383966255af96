"""Drawings of representations, for the documentation and for looking at one's own data."""

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
from textrank.features import LabelledGraph, Matrix
from textrank.graphs import Contexts, PositionTransformation, WordTransformation
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
from textrank.tasks.parse_ranking.features import ParseSequences
from textrank.tasks.ppi.graphs import ENTITY_LABELS, DependencyGraph

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["draw_parse_windows", "draw_sentence_graph", "draw_transformed_context", "import_pyplot"]


def import_pyplot() -> Any:
    """Matplotlib's pyplot, or how to install it."""
    try:
        import matplotlib.pyplot as plt
    except ImportError as error:
        raise ImportError(
            "drawings need matplotlib: pip install 'textrank-kernels[plots]'"
        ) from error
    return plt


PATH_COLOR, LINE_COLOR, SIDE_COLORS = (
    "#c0392b",
    "#8a8f98",
    {"before": "#e8eef6", "middle": "#f9e3c4", "after": "#e3f1e2"},
)


def draw_sentence_graph(
    candidate: Candidate, representation: DependencyGraph | None = None
) -> Figure:
    """The graph of one candidate as a drawing; ``savefig`` writes it in any format.

    Dependencies are arcs over the words, those on a shortest path between the two entities in
    red; the word order is below, coloured by where a word stands. Edges carry their weights.
    """
    represent = representation or DependencyGraph()
    if set(represent.parts) != {"dependency", "linear"}:
        raise ValueError(f"a drawing needs both parts of the graph, got {represent.parts}")
    graph = represent([candidate])[0]
    sentence = candidate.spans[0].sent
    drawing = _Drawing(graph, [token.text for token in sentence])
    return drawing.figure()


@dataclass(frozen=True)
class _Drawing:
    graph: LabelledGraph
    words: list[str]

    @property
    def dependencies(self) -> list[tuple[int, int, str, float]]:
        """Governor, dependent, label and weight."""
        n, total = len(self.words), len(self.graph)
        into = {t: (s, w) for (s, t), w in self.graph.edges.items() if n <= t < total - n}
        out = {s: t for s, t in self.graph.edges if n <= s < total - n}
        return [(into[v][0], out[v], self.graph.labels[v][0], into[v][1]) for v in sorted(out)]

    def figure(self) -> Figure:
        plt = import_pyplot()
        wide = 1.25 * len(self.words)
        height = 0.9 + 0.38 * max((abs(g - d) for g, d, *_ in self.dependencies), default=1)
        figure = plt.figure(figsize=(wide, 0.8 * (height + 1.75)))
        axes = figure.add_axes((0.01, 0.01, 0.98, 0.98))
        axes.set_xlim(-0.7, len(self.words) - 0.3)
        axes.set_ylim(-1.75, height)
        axes.axis("off")
        for governor, dependent, label, weight in self.dependencies:
            self._arc(axes, governor, dependent, label, weight)
        for place in range(len(self.words)):
            self._word(axes, place)
        return figure

    def _arc(self, axes: Axes, governor: int, dependent: int, label: str, weight: float) -> None:
        from matplotlib.patches import FancyArrowPatch
        from matplotlib.path import Path

        color, width = (PATH_COLOR, 2.2) if label.startswith("path:") else (LINE_COLOR, 1.1)
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

    def _word(self, axes: Axes, place: int) -> None:
        labels = self.graph.labels[place]
        on_path = any(label.startswith("path:") for label in labels)
        axes.text(place, 0.18, self.words[place], ha="center", fontsize=12, weight="bold")
        color = PATH_COLOR if on_path else LINE_COLOR
        axes.text(place, -0.12, _shown(labels), ha="center", fontsize=8.5, color=color)

        vertex = len(self.graph) - len(self.words) + place
        side = self.graph.labels[vertex][0].partition(":")[0]
        text = _shown(self.graph.labels[vertex])
        box = {
            "facecolor": SIDE_COLORS[side],
            "edgecolor": LINE_COLOR,
            "boxstyle": "round,pad=0.3",
            "lw": 0.6,
        }
        axes.text(place, -0.85, text, ha="center", va="center", fontsize=8, bbox=box)
        axes.text(place, -1.35, side, ha="center", va="center", fontsize=8, color=LINE_COLOR)
        if place:
            weight = self.graph.edges[vertex - 1, vertex]
            axes.text(
                place - 0.5, -0.68, f"{weight:g}", ha="center", fontsize=7.5, color=LINE_COLOR
            )
            axes.annotate(
                "",
                xy=(place - 0.42, -0.85),
                xytext=(place - 0.58, -0.85),
                arrowprops={"arrowstyle": "-|>", "color": LINE_COLOR, "lw": 1.0},
            )


def _shown(labels: Sequence[str]) -> str:
    """All labels of a vertex without their prefix; the part of speech, if there is one, last."""
    bare = [re.sub(r"^(path|before|middle|after):(?=.)", "", label) for label in labels]
    return " · ".join(
        sorted(bare, key=lambda label: label.isupper() and label not in ENTITY_LABELS)
    )


def example_pair() -> Candidate:
    """A sentence with a pair, a third entity, and dependencies as the corpora have them."""
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


def main() -> None:
    """Draws the example to the file that the command line names."""
    if len(sys.argv) != 2:
        raise SystemExit("usage: python -m textrank.plotting FILE")
    # The same drawing is the same file: no date, and names of parts that do not change.
    with import_pyplot().rc_context({"svg.hashsalt": "textrank"}):
        draw_sentence_graph(example_pair()).savefig(sys.argv[1], metadata={"Date": None})


if __name__ == "__main__":
    main()
WINDOW_COLOR, CENTRE_COLOR, LINK_COLOR = "#f9e3c4", "#c0392b", "#8a8f98"


def draw_parse_windows(candidate: Candidate, *, window: int = 1, centre: int = 2) -> Figure:
    """The links over the words, and below the sequences; the window around one symbol is shaded.

    Locality kernels compare such windows: ``centre`` is the symbol in its middle, ``window`` how
    many symbols it reaches to each side.
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
        for place, symbol in enumerate(symbols):
            inside = abs(place - centre) <= window
            edge = CENTRE_COLOR if place == centre else LINK_COLOR
            box = {
                "boxstyle": "round,pad=0.25",
                "ec": edge,
                "fc": WINDOW_COLOR if inside else "white",
            }
            x = place * 9.4 / max(len(symbols), 8)
            axes.text(x, y, symbol, ha="center", va="center", fontsize=8, bbox=box)
    axes.set_ylim(-0.75 * (len(views.views) + 0.7), 2.6)
    return figure


def _draw_links(axes: Axes, candidate: Candidate) -> None:
    words = [token.text for token in candidate.doc]
    step = 9.4 / max(len(words), 8)
    for place, word in enumerate(words):
        axes.text(place * step, 0.0, word, ha="center", va="center", fontsize=11, weight="bold")
    for left, right, kind in candidate.doc.user_data["dependencies"]:
        height = 0.55 * abs(right - left) + 0.25
        a, b = left * step, right * step
        axes.plot([a, a, b, b], [0.22, height, height, 0.22], color=LINK_COLOR, lw=1)
        axes.text((a + b) / 2, height + 0.05, kind, ha="center", fontsize=9, color=CENTRE_COLOR)


def example_parse() -> Candidate:
    """A link grammar linkage of five words."""
    words = ["Loss", "of", "syntrophin", "leads", "to", "weakness"]
    doc = Doc(spacy.blank("en").vocab, words=words, tags=["n", "p", "n", "v", "p", "n"])
    links = [[0, 1, "Mp"], [0, 3, "Ss"], [1, 2, "Js"], [3, 4, "MVp"], [4, 5, "Js"]]
    doc.user_data["dependencies"] = links
    return Candidate(doc, (), "example")


if __name__ == "__main__":
    draw_parse_windows(example_parse()).savefig(sys.argv[1], dpi=80)
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
    """``Ŵ X P̂`` of one context, (words, positions): how much each occurrence counts where."""
    places = np.array([p for p in range(-span, span + 1) if p])
    X = context.matrix(span).toarray()
    if positions is not None:
        R = positions.factor(places).values
        X = X @ (R @ R.T).toarray()
    if words is not None:
        B = words.factor(context.vocabulary).values
        X = (B @ B.T).toarray() @ X
    return X


def draw_transformed_context(
    context: Contexts,
    span: int,
    positions: Mapping[str, PositionTransformation] = EXAMPLE_TRANSFORMATIONS,
    words: Mapping[str, WordTransformation] | None = None,
) -> Figure:
    """One context as it is and under each transformation, a panel each; the weight curve last."""
    plt = import_pyplot()
    panels = {"word-position matrix": transform_context(context, span)}
    panels |= {name: transform_context(context, span, t) for name, t in positions.items()}
    own = {"character n-grams of words": CharacterNgrams(2, 3)} if words is None else words
    panels |= {name: transform_context(context, span, words=t) for name, t in own.items()}
    rows = -(-(len(panels) + 1) // 3)
    figure, grid = plt.subplots(rows, 3, figsize=(13, 2.7 * rows), layout="constrained")
    axes = list(grid.ravel())
    for place, (name, matrix) in zip(axes, panels.items(), strict=False):
        _panel(place, name, matrix, context.vocabulary, span)
    _curve(axes[len(panels)], span)
    for empty in axes[len(panels) + 1 :]:
        empty.axis("off")
    return figure


def _panel(axes: Axes, name: str, X: Matrix, words: tuple[str, ...], span: int) -> None:
    axes.imshow(X, cmap="Blues", aspect="auto", vmin=0.0, vmax=max(float(X.max()), 1e-9))
    axes.axvline(span - 0.5, color="#c0392b", lw=1.2)  # where the target stands
    axes.set_title(name, fontsize=10)
    axes.set_yticks(range(len(words)), words, fontsize=8)
    labels = [f"{p:+d}" for p in range(-span, span + 1) if p]
    axes.set_xticks(range(2 * span), labels, fontsize=7)


def _curve(axes: Axes, span: int) -> None:
    places = np.array([p for p in range(-2 * span, 2 * span + 1) if p])
    for decay, base in ((1.5, 0.025), (1.0, 0.025), (0.0, 0.0)):
        weights = Weighting(decay, base).weights(places)
        axes.plot(places, weights, ".-", lw=1, label=f"decay {decay:g}, base {base:g}")
    axes.set_title("weight of a position, 1 / |p|^decay + base", fontsize=10)
    axes.set_yscale("log")
    axes.legend(fontsize=8)


def example_context() -> Contexts:
    """The words around the name in "the factor binds and activates the NAME gene ..."."""
    before = ["the", "factor", "binds", "and", "activates", "the"]
    after = ["gene", "in", "activated", "T", "cells", "and"]
    places = [(word, i - len(before)) for i, word in enumerate(before)]
    return Contexts.from_lists([[*places, *((word, i) for i, word in enumerate(after, 1))]])


if __name__ == "__main__":
    draw_transformed_context(example_context(), 6).savefig(sys.argv[1], dpi=80)
