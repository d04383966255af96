"""Draws the graph of a pair of entities in its sentence: its dependencies, path and word order.

``python -m textrank.representations.pictures.sentence_graph FILE.svg`` draws an example.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import spacy
from spacy.tokens import Doc

from textrank.docs import Candidate
from textrank.representations.pairs.dependency_graph import BLIND, DependencyGraph
from textrank.representations.pictures import matplotlib_pyplot
from textrank.types import LabelledGraph

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

PATH, OTHER, SIDES = (
    "#c0392b",
    "#8a8f98",
    {"before": "#e8eef6", "middle": "#f9e3c4", "after": "#e3f1e2"},
)


def sentence_graph(candidate: Candidate, representation: DependencyGraph | None = None) -> Figure:
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
        plt = matplotlib_pyplot()
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

        color, width = (PATH, 2.2) if label.startswith("path:") else (OTHER, 1.1)
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
        color = PATH if on_path else OTHER
        axes.text(place, -0.12, _shown(labels), ha="center", fontsize=8.5, color=color)

        vertex = len(self.graph) - len(self.words) + place
        side = self.graph.labels[vertex][0].partition(":")[0]
        text = _shown(self.graph.labels[vertex])
        box = {"facecolor": SIDES[side], "edgecolor": OTHER, "boxstyle": "round,pad=0.3", "lw": 0.6}
        axes.text(place, -0.85, text, ha="center", va="center", fontsize=8, bbox=box)
        axes.text(place, -1.35, side, ha="center", va="center", fontsize=8, color=OTHER)
        if place:
            weight = self.graph.edges[vertex - 1, vertex]
            axes.text(place - 0.5, -0.68, f"{weight:g}", ha="center", fontsize=7.5, color=OTHER)
            axes.annotate(
                "",
                xy=(place - 0.42, -0.85),
                xytext=(place - 0.58, -0.85),
                arrowprops={"arrowstyle": "-|>", "color": OTHER, "lw": 1.0},
            )


def _shown(labels: Sequence[str]) -> str:
    """All labels of a vertex without their prefix; the part of speech, if there is one, last."""
    bare = [re.sub(r"^(path|before|middle|after):(?=.)", "", label) for label in labels]
    return " · ".join(sorted(bare, key=lambda label: label.isupper() and label not in BLIND))


def example() -> Candidate:
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
        raise SystemExit("usage: python -m textrank.representations.pictures.sentence_graph FILE")
    # The same drawing is the same file: no date, and names of parts that do not change.
    with matplotlib_pyplot().rc_context({"svg.hashsalt": "textrank"}):
        sentence_graph(example()).savefig(sys.argv[1], metadata={"Date": None})


if __name__ == "__main__":
    main()
