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
Ints: TypeAlias = NDArray[np.intp]
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

    def __call__(self, known: Floats, order: Ints) -> Floats:
        """Words in the context of those beside them: ``order`` has their rows among known ones.

        What the first layer multiplies is known of each word and place, so it is worked out once.
        """
        length, width = len(order), known.shape[1]
        old = np.zeros((length + 2, width), dtype=np.float32)
        old[1:-1] = known[order]
        new = np.zeros_like(old)
        space = _Space.of(min(BLOCK, length), width, self.layers)
        seen = _Seen.of(self.layers[0], known, order)
        for layer in self.layers:
            for first in range(0, length, BLOCK):
                end = min(first + BLOCK, length)
                pieces = space.pieces[: end - first]
                if layer is self.layers[0]:
                    seen.gather(first, end, pieces)
                else:
                    space.multiply(layer, old, first, end)
                space.finish(layer, old, new, first, end)
            old, new = new, old
        return old[1:-1]


def _layer(pieces: Model[Any, Any], norm: Model[Any, Any]) -> Layer:
    weights: Any = pieces.get_param("W")  # (width, pieces, 3 * width)
    bias: Any = pieces.get_param("b")
    wide = weights.transpose(1, 0, 2).reshape(-1, weights.shape[2])
    scale: Any = norm.get_param("G")
    shift: Any = norm.get_param("b")
    return Layer(np.ascontiguousarray(wide.T), np.ascontiguousarray(bias.T).ravel(), scale, shift)


class _Seen(NamedTuple):
    """What each distinct word gives the first layer, standing before, at or after the place."""

    tables: Floats  # (3, distinct + 1, pieces * width); the last row is of no word
    rows: Ints  # of the words in them, one of no word before and after

    @classmethod
    def of(cls, layer: Layer, known: Floats, order: Ints) -> _Seen:
        distinct, which = np.unique(order, return_inverse=True)
        words = np.zeros((len(distinct) + 1, known.shape[1]), dtype=np.float32)
        words[:-1] = known[distinct]
        tables = np.matmul(words, layer.weights.reshape(3, known.shape[1], -1))
        tables[1] += layer.bias
        return cls(tables, np.concatenate([[len(distinct)], which, [len(distinct)]]))

    def gather(self, first: int, end: int, pieces: Floats) -> None:
        """The sums for some words."""
        self.tables[0].take(self.rows[first:end], axis=0, out=pieces, mode="clip")
        for place in (1, 2):
            pieces += self.tables[place].take(self.rows[first + place : end + place], axis=0)


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

    def multiply(self, layer: Layer, old: Floats, first: int, end: int) -> None:
        """The pieces of words ``first`` to ``end``; rows are one further on, after an empty one."""
        n, width = end - first, old.shape[1]
        window, pieces = self.window[:n], self.pieces[:n]
        for place in range(3):
            window[:, place * width : (place + 1) * width] = old[first + place : end + place]
        np.matmul(window, layer.weights, out=pieces)
        pieces += layer.bias

    def finish(self, layer: Layer, old: Floats, new: Floats, first: int, end: int) -> None:
        """What the layer adds to these words."""
        n, width = end - first, old.shape[1]
        _, pieces, high, squares = (room[:n] for room in self[:4])
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
