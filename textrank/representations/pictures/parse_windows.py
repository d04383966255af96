"""Draws a parse with its seven feature sequences and a window in each.

``python -m textrank.representations.pictures.parse_windows FILE.png`` draws an example.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import spacy
from spacy.tokens import Doc

from textrank.docs import Candidate
from textrank.representations.parses.sequences import ParseSequences
from textrank.representations.pictures import matplotlib_pyplot

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

WINDOW, CENTRE, LINE = "#f9e3c4", "#c0392b", "#8a8f98"


def parse_windows(candidate: Candidate, *, window: int = 1, centre: int = 2) -> Figure:
    """The links over the words, and below the sequences; the window around one symbol is shaded.

    Locality kernels compare such windows: ``centre`` is the symbol in its middle, ``window`` how
    many symbols it reaches to each side.
    """
    plt = matplotlib_pyplot()
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
            edge = CENTRE if place == centre else LINE
            box = {"boxstyle": "round,pad=0.25", "ec": edge, "fc": WINDOW if inside else "white"}
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
        axes.plot([a, a, b, b], [0.22, height, height, 0.22], color=LINE, lw=1)
        axes.text((a + b) / 2, height + 0.05, kind, ha="center", fontsize=9, color=CENTRE)


def example() -> Candidate:
    """A link grammar linkage of five words."""
    words = ["Loss", "of", "syntrophin", "leads", "to", "weakness"]
    doc = Doc(spacy.blank("en").vocab, words=words, tags=["n", "p", "n", "v", "p", "n"])
    links = [[0, 1, "Mp"], [0, 3, "Ss"], [1, 2, "Js"], [3, 4, "MVp"], [4, 5, "Js"]]
    doc.user_data["dependencies"] = links
    return Candidate(doc, (), "example")


if __name__ == "__main__":
    parse_windows(example()).savefig(sys.argv[1], dpi=80)
