"""Draws a word-position matrix before and after each transformation, and the weight curve.

``python -m textrank.representations.pictures.transformed_context FILE.png`` draws an example.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from textrank.representations.contexts.transformations import (
    Bag,
    LogScale,
    Mixture,
    ScaleFree,
    Sided,
    Smooth,
    Weighting,
)
from textrank.representations.contexts.word_transformations import CharacterNgrams
from textrank.representations.pictures import matplotlib_pyplot
from textrank.types import Contexts, Matrix, PositionTransformation, WordTransformation

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

POSITIONS: Mapping[str, PositionTransformation] = {
    "bag of words": Bag(),
    "contextual weighting 1.5, 0.025": Weighting(1.5, 0.025),
    "side-aware weighting, across 0.5": Weighting(1.5, 0.025, of=Sided(0.5)),
    "smooth, θ = 0.1": Smooth(0.1),
    "scale-free smooth, θ = 1": ScaleFree(1.0),
    "log scale, θ = 1": LogScale(1.0),
    "weighted scale-free smooth": Weighting(1.0, 0.025, of=ScaleFree(0.3)),
    "mixture: 0.2 bag + smooth": Mixture([Bag(), Smooth(0.1)], weights=[0.2, 1.0]),
}


def transformed(
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


def transformed_context(
    context: Contexts,
    span: int,
    positions: Mapping[str, PositionTransformation] = POSITIONS,
    words: Mapping[str, WordTransformation] | None = None,
) -> Figure:
    """One context as it is and under each transformation, a panel each; the weight curve last."""
    plt = matplotlib_pyplot()
    panels = {"word-position matrix": transformed(context, span)}
    panels |= {name: transformed(context, span, t) for name, t in positions.items()}
    own = {"character n-grams of words": CharacterNgrams(2, 3)} if words is None else words
    panels |= {name: transformed(context, span, words=t) for name, t in own.items()}
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


def example() -> Contexts:
    """The words around the name in "the factor binds and activates the NAME gene ..."."""
    before = ["the", "factor", "binds", "and", "activates", "the"]
    after = ["gene", "in", "activated", "T", "cells", "and"]
    places = [(word, i - len(before)) for i, word in enumerate(before)]
    return Contexts.of([[*places, *((word, i) for i, word in enumerate(after, 1))]])


if __name__ == "__main__":
    transformed_context(example(), 6).savefig(sys.argv[1], dpi=80)
