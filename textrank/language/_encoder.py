"""Matrix products of the networks by numpy's BLAS, on one thread.

spaCy's networks multiply with the library they bring along, which on common processors reaches a
third of the speed of numpy's: with numpy's, the whole pipeline runs about 1.7 times as fast.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager
from functools import cache
from typing import Any, NamedTuple, TypeAlias, cast

import numpy as np
from numpy.typing import NDArray
from spacy.attrs import NORM, ORTH
from spacy.language import Language
from spacy.tokens import Doc
from spacy.vocab import Vocab
from thinc.api import Model, NumpyOps
from thinc.api import Model as Network
from threadpoolctl import ThreadpoolController

from textrank.language.alignment import NormalizedWords


class SingleThreadOps(NumpyOps):  # type: ignore[misc]  # compiled, without types
    """spaCy's operations on the processor, but for products of matrices.

    One thread, since documents are what is worked on side by side (``n_process``), and products
    this small lose more by waiting for one another than they gain.
    """

    def __init__(self) -> None:
        super().__init__(use_blis=False)

    def gemm(
        self, x: Any, y: Any, out: Any = None, trans1: bool = False, trans2: bool = False
    ) -> Any:
        """The product of two matrices, either of them transposed first if so asked."""
        with single_thread_blas():
            return super().gemm(x, y, out=out, trans1=trans1, trans2=trans2)


def single_thread_blas() -> AbstractContextManager[Any]:
    """Within it numpy multiplies matrices on one thread."""
    limits: AbstractContextManager[Any] = _blas().limit(limits=1, user_api="blas")
    return limits


@cache
def _blas() -> ThreadpoolController:
    return ThreadpoolController()  # looks for libraries once; that takes milliseconds


def use_numpy_products(nlp: Language) -> Language:
    """Lets all networks of the pipeline multiply so; gives the pipeline back."""
    ops = SingleThreadOps()
    for _, component in nlp.components:
        model = getattr(component, "model", None)
        for node in model.walk() if isinstance(model, Network) else ():
            node.ops = ops  # other components, such as ours, may call something else a model
    return nlp


def fast_products() -> Any:
    """What ``@callbacks = "textrank.fast_products.v1"`` in a spaCy config stands for."""
    return use_numpy_products


Floats: TypeAlias = NDArray[np.float32]
Ints: TypeAlias = NDArray[np.intp]
BLOCK_WORDS = 512  # words


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
        space = _Space.of(min(BLOCK_WORDS, length), width, self.layers)
        seen = _Seen.of(self.layers[0], known, order)
        for layer in self.layers:
            for first in range(0, length, BLOCK_WORDS):
                end = min(first + BLOCK_WORDS, length)
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


def fingerprint_params(models: Sequence[Model[Any, Any]]) -> list[float]:
    """Some numbers that change when what networks have learned does."""
    return list(_prints(models))


def _prints(models: Sequence[Model[Any, Any]]) -> Iterator[float]:
    for model in models:
        for node in model.walk():
            for name in node.param_names:
                if node.has_param(name):
                    values: Any = node.get_param(name)
                    yield float(values.ravel()[::997].sum())


Forms: TypeAlias = NDArray[np.uint64]  # (words, 2): hashes of a word as it stands and of its norm
MAX_CACHED_WORDS = 20_000  # words; some hundred bytes each
_FORMS = ("NORM", "PREFIX", "SUFFIX", "SHAPE", "LOWER", "ORTH")
_LAYERS = ("extract_features", "list2ragged", "with_array", "with_array", "ragged2list")
_SPREAD = np.uint64(0x9E3779B97F4A7C15)


class GrowingArray:
    """Rows of an array to which others are added; its room doubles when it is full.

    The ``room`` that is asked for is taken at once, so that memory stays what it is while rows are
    added.
    """

    def __init__(self, first: NDArray[Any], room: int = 0) -> None:
        self._first = self._used = len(first)
        self._room = np.full((max(room, len(first)), *first.shape[1:]), 1, dtype=first.dtype)
        self._room[: self._used] = first

    def add(self, rows: NDArray[Any]) -> None:
        """Puts rows after the present ones."""
        used = self._used + len(rows)
        if used > len(self._room):
            room = np.empty((2 * used, *self._room.shape[1:]), dtype=self._room.dtype)
            room[: self._used] = self.rows
            self._room = room
        self._room[self._used : used] = rows
        self._used = used

    def forget(self) -> None:
        """Only the first rows stay, and the room: another would lie beside the old for a while."""
        self._used = self._first

    @property
    def rows(self) -> NDArray[Any]:
        """The rows."""
        return self._room[: self._used]


def padded_positions(lengths: Sequence[int] | NDArray[np.intp], gap: int) -> NDArray[np.intp]:
    """Where words of texts stand when ``gap`` empty places come before and after each text."""
    sizes = np.asarray(lengths, dtype=np.intp)
    return np.arange(sizes.sum()) + np.repeat(np.arange(1, len(sizes) + 1) * gap, sizes)


class CachedTok2Vec:
    """``spacy.HashEmbedCNN.v2`` and its like: forms of words, and windows over them."""

    def __init__(self, model: Model[Any, Any]) -> None:
        embed, self._encode = model.layers
        self._columns: list[str] = embed.layers[0].attrs["columns"]
        self._hashed, self._mix = embed.layers[2].layers[0], embed.layers[3].layers[0]
        self._gap: int = self._encode.attrs["pad"]
        self._learned: list[float] = []
        self._encoder: Encoder | None = None
        self._rows: dict[int, int] = {}
        self._known = GrowingArray(np.zeros((0, 0), dtype=np.float32))

    @classmethod
    def of(cls, model: Model[Any, Any]) -> CachedTok2Vec | None:
        """That of a network, None if it is of another kind."""
        if len(model.layers) != 2 or Encoder.of(model.layers[1]) is None:
            return None
        embed = model.layers[0].layers
        kinds = len(embed) == len(_LAYERS) and all(
            layer.name.startswith(name) for layer, name in zip(embed, _LAYERS, strict=True)
        )
        if not kinds or not set(embed[0].attrs["columns"]) <= set(_FORMS):
            return None
        return cls(model) if "pad" in model.layers[1].attrs else None

    def __call__(self, forms: Sequence[Forms], vocab: Vocab) -> list[Floats]:
        """Vectors of the words of some texts."""
        self._refresh()
        lengths = [len(own) for own in forms]
        at = padded_positions(lengths, self._gap)
        rows = self._remembered(np.concatenate(forms), vocab)
        order = np.zeros(sum(lengths) + self._gap * (len(forms) + 1), dtype=np.intp)
        order[at] = rows
        assert self._encoder is not None
        found = self._encoder(self._known.rows, order)[at]
        return np.split(found, np.cumsum(lengths)[:-1])

    def _refresh(self) -> None:
        """Forgets all if the network is not what it was."""
        learned = fingerprint_params([self._hashed, self._mix, self._encode])
        if learned == self._learned and len(self._rows) > MAX_CACHED_WORDS:
            self._rows = {}
            self._known.forget()
        elif learned != self._learned:
            self._learned, self._rows = learned, {}
            nothing = np.zeros((1, self._mix.get_dim("nO")), dtype=np.float32)
            self._known = GrowingArray(nothing, MAX_CACHED_WORDS * 5 // 4)
            self._encoder = Encoder.of(self._encode)

    def _remembered(self, forms: Forms, vocab: Vocab) -> NDArray[np.intp]:
        keys = forms[:, 0] ^ (forms[:, 1] * _SPREAD)
        distinct, first, which = np.unique(keys, return_index=True, return_inverse=True)
        listed, rows = distinct.tolist(), self._rows
        new = [n for n, key in enumerate(listed) if key not in rows]
        if new:
            features = [self._features(vocab, *forms[first[n]].tolist()) for n in new]
            self._known.add(self._vectors(np.array(features, dtype=np.uint64)))
            first_row = len(rows) + 1  # the first one is that of no word
            rows.update((listed[n], first_row + i) for i, n in enumerate(new))
        return np.array([rows[key] for key in listed], dtype=np.intp)[which]

    def _features(self, vocab: Vocab, orth: int, norm: int) -> list[int]:
        lexeme = vocab[orth]
        values = {"NORM": norm, "ORTH": orth, "LOWER": lexeme.lower, "PREFIX": lexeme.prefix,
                  "SUFFIX": lexeme.suffix, "SHAPE": lexeme.shape}  # fmt: skip
        return [values[column] for column in self._columns]

    def _vectors(self, features: Forms) -> Floats:
        vectors: Floats = self._mix.predict(self._hashed.predict(features))
        return vectors


def hash_words(doc: Doc, reading: NormalizedWords | None) -> Forms:
    """The forms of the words of a Doc."""
    given: Any = doc.to_array([ORTH, NORM]).reshape(-1, 2)
    if reading is None:
        return cast(Forms, given)
    forms: Forms = given[reading.token_indices]
    forms[:, 0] = reading.orths
    at = np.flatnonzero(reading.is_changed)
    forms[at, 1] = [doc.vocab[orth].norm for orth in reading.orths[at].tolist()]
    return forms
