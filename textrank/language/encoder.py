"""Words in context by a stack of small windows, as spaCy's networks have it, worked out in blocks.

Each layer sees a word between its neighbours, takes the highest of some pieces for each number,
scales what it has and adds it to the word. The results are those of the layers in thinc but for
rounding; blocks that stay near the processor, and numpy's products, take a third of the time.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray
from thinc.api import Model

Floats: TypeAlias = NDArray[np.float32]
BLOCK = 512  # words


class Layer(NamedTuple):
    """A window of three words."""

    weights: Floats  # (3 * width, pieces * width)
    bias: Floats  # (pieces * width,)
    scale: Floats  # (width,)
    shift: Floats  # (width,)


class Encoder:
    """The layers of a network such as ``spacy.MaxoutWindowEncoder.v2`` with windows of one word."""

    def __init__(self, layers: Sequence[Layer]) -> None:
        self.layers = layers

    @classmethod
    def of(cls, model: Model[Any, Any]) -> Encoder | None:
        """That of a network, None if it is none of this kind."""
        inner = [node.name for node in model.walk() if not node.layers and node.name != "dropout"]
        windows = [node for node in model.walk() if node.name == "expand_window"]
        residual = sum(node.name.startswith("residual(") for node in model.walk())
        pieces = [node for node in model.walk() if node.name == "maxout"]
        norms = [node for node in model.walk() if node.name == "layernorm"]
        counts = {len(windows), len(pieces), len(norms), len(inner) / 3}
        if len(counts) > 1 or residual < len(windows) or not windows:
            return None
        if any(node.attrs["window_size"] != 1 for node in windows):
            return None
        return cls([_layer(*nodes) for nodes in zip(pieces, norms, strict=True)])

    def __call__(self, words: Floats) -> Floats:
        """Words, (words, width), in the context of those beside them."""
        length, width = words.shape
        old = np.zeros((length + 2, width), dtype=np.float32)
        old[1:-1] = words
        new = np.zeros_like(old)
        space = _Space.of(min(BLOCK, length), width, self.layers)
        for layer in self.layers:
            for first in range(0, length, BLOCK):
                space.run(layer, old, new, first, min(first + BLOCK, length))
            old, new = new, old
        return old[1:-1]


def _layer(pieces: Model[Any, Any], norm: Model[Any, Any]) -> Layer:
    weights: Any = pieces.get_param("W")  # (width, pieces, 3 * width)
    bias: Any = pieces.get_param("b")
    wide = weights.transpose(1, 0, 2).reshape(-1, weights.shape[2])
    scale: Any = norm.get_param("G")
    shift: Any = norm.get_param("b")
    return Layer(np.ascontiguousarray(wide.T), np.ascontiguousarray(bias.T).ravel(), scale, shift)


class _Space(NamedTuple):
    """Room for the words of a block."""

    window: Floats
    pieces: Floats
    highest: Floats
    squares: Floats
    mean: Floats  # what gives the mean of a row as a product

    @classmethod
    def of(cls, block: int, width: int, layers: Sequence[Layer]) -> _Space:
        widest = max(len(layer.bias) for layer in layers)
        shapes = ((block, 3 * width), (block, widest), (block, width), (block, width))
        window, pieces, highest, squares = (np.empty(shape, dtype=np.float32) for shape in shapes)
        mean = np.full(width, 1 / width, dtype=np.float32)
        return cls(window, pieces, highest, squares, mean)

    def run(self, layer: Layer, old: Floats, new: Floats, first: int, end: int) -> None:
        """One layer of words ``first`` to ``end``; rows are one further on, after an empty one."""
        n, width = end - first, old.shape[1]
        window, pieces, high, squares = (room[:n] for room in self[:4])
        for place in range(3):
            window[:, place * width : (place + 1) * width] = old[first + place : end + place]
        np.matmul(window, layer.weights, out=pieces)
        pieces += layer.bias
        np.maximum(pieces[:, :width], pieces[:, width : 2 * width], out=high)
        for at in range(2 * width, pieces.shape[1], width):
            np.maximum(high, pieces[:, at : at + width], out=high)
        high -= (high @ self.mean)[:, None]
        np.multiply(high, high, out=squares)
        high *= ((squares @ self.mean + 1e-8) ** -0.5)[:, None]
        high *= layer.scale
        high += layer.shift
        np.add(old[first + 1 : end + 1], high, out=new[first + 1 : end + 1])


def prints(models: Sequence[Model[Any, Any]]) -> list[float]:
    """Some numbers that change when what networks have learned does."""
    return list(_prints(models))


def _prints(models: Sequence[Model[Any, Any]]) -> Iterator[float]:
    for model in models:
        for node in model.walk():
            for name in node.param_names:
                if node.has_param(name):
                    values: Any = node.get_param(name)
                    yield float(values.ravel()[::997].sum())
