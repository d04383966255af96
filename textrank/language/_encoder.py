"""Fast CPU inference for spaCy's tok2vec networks.

- ``SingleThreadOps`` and ``use_numpy_products`` let spaCy's networks multiply matrices with NumPy's
  BLAS on one thread. On common processors the library that spaCy brings along reaches a third of
  that speed; the whole pipeline runs about 1.7 times as fast.
- ``Encoder`` is the forward pass of a ``MaxoutWindowEncoder`` in NumPy.
- ``CachedTok2Vec`` is the forward pass of a ``HashEmbedCNN``; it caches the embedding of each
  distinct word.

Results agree with spaCy's own code up to rounding.
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
from threadpoolctl import ThreadpoolController

from textrank.language.normalization import NormalizedWords


class SingleThreadOps(NumpyOps):  # type: ignore[misc]  # compiled, without types
    """Thinc's NumPy operations with matrix products by NumPy's BLAS on one thread.

    Parallelism is over documents (``n_process``); products as small as these lose more by
    synchronisation than they gain from threads.
    """

    def __init__(self) -> None:
        """Create the operations without Blis, spaCy's own library for matrix products."""
        super().__init__(use_blis=False)

    def gemm(
        self, x: Any, y: Any, out: Any = None, trans1: bool = False, trans2: bool = False
    ) -> Any:
        """Return the product of two matrices, each optionally transposed, as in Thinc."""
        with single_thread_blas():
            return super().gemm(x, y, out=out, trans1=trans1, trans2=trans2)


def single_thread_blas() -> AbstractContextManager[Any]:
    """Return a context manager within which BLAS uses one thread.

    The limit applies to the whole process, but only to BLAS libraries that were already loaded when
    this function was first called.
    """
    limits: AbstractContextManager[Any] = _thread_controller().limit(limits=1, user_api="blas")
    return limits


@cache
def _thread_controller() -> ThreadpoolController:
    """Return the controller of the loaded BLAS libraries; finding them takes milliseconds."""
    return ThreadpoolController()


def use_numpy_products(nlp: Language) -> Language:
    """Make all networks of a pipeline use ``SingleThreadOps``, in place, and return the pipeline.

    Components whose ``model`` is not a Thinc network are left alone.
    """
    ops = SingleThreadOps()
    for _, component in nlp.components:
        model = getattr(component, "model", None)
        # Components such as ours may call something other than a network ``model``.
        for node in model.walk() if isinstance(model, Model) else ():
            node.ops = ops
    return nlp


def fast_products() -> Any:
    """Return ``use_numpy_products``, the callback that spaCy calls with the pipeline.

    Configs refer to it as ``@callbacks = "textrank.fast_products.v1"``.
    """
    return use_numpy_products


Floats: TypeAlias = NDArray[np.float32]
Ints: TypeAlias = NDArray[np.intp]
BLOCK_WORDS = 512  # processed at once, so that the buffers stay in the processor's cache


class Layer(NamedTuple):
    """Parameters of a maxout layer over windows of three words, with layer normalisation."""

    weights: Floats  # (3 * width, pieces * width)
    bias: Floats  # (pieces * width,)
    scale: Floats  # (width,)
    shift: Floats  # (width,)


class Encoder:
    """Forward pass of ``spacy.MaxoutWindowEncoder.v2`` with windows of one word to either side.

    The parameters are read when it is built: build a new one after training the network.
    """

    def __init__(self, layers: Sequence[Layer]) -> None:
        """Store the layers, from input to output; there must be at least one."""
        self.layers = layers

    @classmethod
    def from_model(cls, model: Model[Any, Any]) -> Encoder | None:
        """Return the encoder of a Thinc network, or None if the network has another architecture.

        Required is one residual layer or more, each of a window (one word to either side), a maxout
        and a layer norm, and nothing else; dropout is ignored.
        """
        leaf_names = [
            node.name for node in model.walk() if not node.layers and node.name != "dropout"
        ]
        windows = [node for node in model.walk() if node.name == "expand_window"]
        residual = sum(node.name.startswith("residual(") for node in model.walk())
        maxouts = [node for node in model.walk() if node.name == "maxout"]
        norms = [node for node in model.walk() if node.name == "layernorm"]
        counts = {len(windows), len(maxouts), len(norms), len(leaf_names) / 3}
        if len(counts) > 1 or residual < len(windows) or not windows:
            return None
        if any(node.attrs["window_size"] != 1 for node in windows):
            return None
        return cls([_layer(*nodes) for nodes in zip(maxouts, norms, strict=True)])

    def __call__(self, word_vectors: Floats, order: Ints) -> Floats:
        """Return the contextual vectors of a sequence of words, shape (words, width).

        Parameters
        ----------
        word_vectors
            (distinct words, width) input vectors.
        order
            (words,) row of ``word_vectors`` of each word of the sequence. Texts must be separated
            by padding, that is words whose vector is zero. Padding gets output vectors too, to be
            ignored.

        Notes
        -----
        The product of the first layer depends only on the word and its position in the window, so
        it is computed once per distinct word.
        """
        length, width = len(order), word_vectors.shape[1]
        inputs = np.zeros((length + 2, width), dtype=np.float32)
        inputs[1:-1] = word_vectors[order]
        outputs = np.zeros_like(inputs)
        buffers = _Buffers.allocate(min(BLOCK_WORDS, length), width, self.layers)
        first_layer = _FirstLayerTables.from_words(self.layers[0], word_vectors, order)
        for layer in self.layers:
            for first in range(0, length, BLOCK_WORDS):
                end = min(first + BLOCK_WORDS, length)
                pieces = buffers.pieces[: end - first]
                if layer is self.layers[0]:
                    first_layer.gather(first, end, pieces)
                else:
                    buffers.multiply(layer, inputs, first, end)
                buffers.finish(layer, inputs, outputs, first, end)
            inputs, outputs = outputs, inputs
        return inputs[1:-1]


def _layer(maxout: Model[Any, Any], norm: Model[Any, Any]) -> Layer:
    """Return the parameters of a Thinc maxout layer and the layer norm after it as a ``Layer``.

    Weights and bias are copies in which the columns of each piece are contiguous; scale and shift
    are the network's own arrays.
    """
    weights: Any = maxout.get_param("W")  # (width, pieces, 3 * width)
    bias: Any = maxout.get_param("b")
    flat = weights.transpose(1, 0, 2).reshape(-1, weights.shape[2])
    scale: Any = norm.get_param("G")
    shift: Any = norm.get_param("b")
    return Layer(np.ascontiguousarray(flat.T), np.ascontiguousarray(bias.T).ravel(), scale, shift)


class _FirstLayerTables(NamedTuple):
    """Contribution of each distinct word to the first layer, at each position of the window.

    ``tables[k, r]`` is the product of word ``r`` with the weights of window position ``k`` (0 is
    the word before, 1 the word itself, 2 the word after).
    """

    tables: Floats  # (3, distinct + 1, pieces * width); the last row is zero padding
    rows: Ints  # (words + 2,) row of each word, with padding before and after

    @classmethod
    def from_words(cls, layer: Layer, word_vectors: Floats, order: Ints) -> _FirstLayerTables:
        """Compute the tables for the distinct words of ``order``; the bias is added at position 1.

        ``layer`` is the encoder's first, ``word_vectors`` is (distinct words, width), and ``order``
        (words,) has the row of each word of the sequence.
        """
        distinct, inverse = np.unique(order, return_inverse=True)
        distinct_vectors = np.zeros((len(distinct) + 1, word_vectors.shape[1]), dtype=np.float32)
        distinct_vectors[:-1] = word_vectors[distinct]
        tables = np.matmul(distinct_vectors, layer.weights.reshape(3, word_vectors.shape[1], -1))
        tables[1] += layer.bias
        return cls(tables, np.concatenate([[len(distinct)], inverse, [len(distinct)]]))

    def gather(self, first: int, end: int, pieces: Floats) -> None:
        """Write the pre-activations of the words ``first:end`` to ``pieces``, in place.

        ``pieces`` is (end - first, pieces * width); its earlier values are overwritten.
        """
        self.tables[0].take(self.rows[first:end], axis=0, out=pieces, mode="clip")
        for position in (1, 2):
            pieces += self.tables[position].take(
                self.rows[first + position : end + position], axis=0
            )


class _Buffers(NamedTuple):
    """Preallocated arrays for the words of a block."""

    window: Floats
    pieces: Floats
    highest: Floats
    squares: Floats
    mean: Floats  # (width,) of 1 / width: a row times it is the row's mean

    @classmethod
    def allocate(cls, block: int, width: int, layers: Sequence[Layer]) -> _Buffers:
        """Allocate uninitialised buffers for blocks of at most ``block`` words.

        ``width`` is that of the word vectors; all ``layers`` must have the same number of pieces.
        """
        max_pieces = max(len(layer.bias) for layer in layers)
        shapes = ((block, 3 * width), (block, max_pieces), (block, width), (block, width))
        window, pieces, highest, squares = (np.empty(shape, dtype=np.float32) for shape in shapes)
        mean = np.full(width, 1 / width, dtype=np.float32)
        return cls(window, pieces, highest, squares, mean)

    def multiply(self, layer: Layer, inputs: Floats, first: int, end: int) -> None:
        """Compute the pre-activations of the words ``first:end`` into ``self.pieces``.

        Row ``i + 1`` of ``inputs`` is word ``i``: the first and last rows are padding.
        """
        n, width = end - first, inputs.shape[1]
        window, pieces = self.window[:n], self.pieces[:n]
        for position in range(3):
            window[:, position * width : (position + 1) * width] = inputs[
                first + position : end + position
            ]
        np.matmul(window, layer.weights, out=pieces)
        pieces += layer.bias

    def finish(self, layer: Layer, inputs: Floats, outputs: Floats, first: int, end: int) -> None:
        """Apply maxout and layer norm to ``self.pieces``, add ``inputs`` and write ``outputs``.

        ``self.pieces`` has the pre-activations of the words ``first:end``, of at least two pieces.
        Row ``i + 1`` of ``inputs`` and ``outputs`` is word ``i``; only the rows of these words are
        written.
        """
        n, width = end - first, inputs.shape[1]
        _, pieces, highest, squares = (buffer[:n] for buffer in self[:4])
        np.maximum(pieces[:, :width], pieces[:, width : 2 * width], out=highest)
        for start in range(2 * width, pieces.shape[1], width):
            np.maximum(highest, pieces[:, start : start + width], out=highest)
        highest -= (highest @ self.mean)[:, None]
        np.multiply(highest, highest, out=squares)
        highest *= ((squares @ self.mean + 1e-8) ** -0.5)[:, None]
        highest *= layer.scale
        highest += layer.shift
        np.add(inputs[first + 1 : end + 1], highest, out=outputs[first + 1 : end + 1])


def fingerprint_params(models: Sequence[Model[Any, Any]]) -> list[float]:
    """Return numbers that change when the parameters of the networks are trained.

    There is one number per parameter array, in the order of the networks: the sum of every 997th
    parameter. A change to few parameters can therefore be missed.
    """
    return list(_iter_fingerprints(models))


def _iter_fingerprints(models: Sequence[Model[Any, Any]]) -> Iterator[float]:
    """Yield one number per parameter array that is set: the sum of every 997th value.

    Arrays come network by network, node by node (``walk``) and in the order of ``param_names``.
    """
    for model in models:
        for node in model.walk():
            for name in node.param_names:
                if node.has_param(name):
                    values: Any = node.get_param(name)
                    yield float(values.ravel()[::997].sum())


WordHashes: TypeAlias = NDArray[np.uint64]  # (words, 2): ORTH and NORM of each word
MAX_CACHED_WORDS = 20_000  # some hundred bytes each
FIRST_CAPACITY_DIVISOR = 32  # a GrowingArray starts with this part of its capacity
_SUPPORTED_COLUMNS = ("NORM", "PREFIX", "SUFFIX", "SHAPE", "LOWER", "ORTH")
_EMBEDDING_LAYERS = ("extract_features", "list2ragged", "with_array", "with_array", "ragged2list")
_HASH_MULTIPLIER = np.uint64(0x9E3779B97F4A7C15)


class GrowingArray:
    """Array to which rows can be appended.

    It starts small, since a short text needs few rows. At the first growth memory for ``capacity``
    rows is allocated and touched at once, so that memory use does not grow until more rows are
    added; from there on the capacity doubles when the array is full.
    """

    def __init__(self, initial: NDArray[Any], capacity: int = 0) -> None:
        """Copy the rows ``initial``, which also determine row shape and dtype.

        ``capacity`` is the number of rows, with the initial ones, to make room for.
        """
        self._initial_size = self._size = len(initial)
        self._capacity = capacity
        size = max(capacity // FIRST_CAPACITY_DIVISOR, len(initial))
        self._buffer = np.empty((size, *initial.shape[1:]), dtype=initial.dtype)
        self._buffer[: self._size] = initial

    def add(self, rows: NDArray[Any]) -> None:
        """Append rows, which must have the row shape and dtype of the others.

        If the array has to grow, views taken from ``rows`` earlier still refer to the old memory.
        """
        size = self._size + len(rows)
        if size > len(self._buffer):
            capacity = self._capacity if size <= self._capacity else 2 * size
            buffer = np.full((capacity, *self._buffer.shape[1:]), 1, dtype=self._buffer.dtype)
            buffer[: self._size] = self.rows
            self._buffer = buffer
        self._buffer[self._size : size] = rows
        self._size = size

    def reset(self) -> None:
        """Drop all rows but the initial ones and keep the memory for reuse.

        A new array would need memory beside the old one until that is freed.
        """
        self._size = self._initial_size

    @property
    def rows(self) -> NDArray[Any]:
        """Return a view of the rows in use."""
        return self._buffer[: self._size]


def padded_positions(lengths: Sequence[int] | NDArray[np.intp], gap: int) -> NDArray[np.intp]:
    """Return the row of each word in a sequence with ``gap`` padding rows around and between texts.

    ``lengths`` has the number of words of each text. The result has one row number per word,
    ascending; the whole sequence has ``sum(lengths) + gap * (len(lengths) + 1)`` rows.
    """
    sizes = np.asarray(lengths, dtype=np.intp)
    return np.arange(sizes.sum()) + np.repeat(np.arange(1, len(sizes) + 1) * gap, sizes)


class CachedTok2Vec:
    """Forward pass of ``spacy.HashEmbedCNN.v2`` with a cache of word embeddings.

    The cache is emptied when the parameters of the network change, or at the start of a call if it
    holds more than ``MAX_CACHED_WORDS`` words.
    """

    def __init__(self, model: Model[Any, Any]) -> None:
        """Store the layers of a network that ``from_model`` accepts; the cache starts empty.

        Nothing is copied: changed parameters are noticed at the next call, which also builds the
        encoder.
        """
        embed, self._encode = model.layers
        self._columns: list[str] = embed.layers[0].attrs["columns"]
        self._embeddings, self._mix = embed.layers[2].layers[0], embed.layers[3].layers[0]
        self._padding: int = self._encode.attrs["pad"]
        self._fingerprint: list[float] = []
        self._encoder: Encoder | None = None
        self._row_of_key: dict[int, int] = {}
        self._vectors_of_words = GrowingArray(np.zeros((0, 0), dtype=np.float32))

    @classmethod
    def from_model(cls, model: Model[Any, Any]) -> CachedTok2Vec | None:
        """Return the forward pass of a Thinc network, or None if its architecture is another.

        Required are hash embeddings of attributes that are all in ``_SUPPORTED_COLUMNS``, and an
        encoder with padding (attribute ``pad``) that ``Encoder.from_model`` accepts.
        """
        if len(model.layers) != 2 or Encoder.from_model(model.layers[1]) is None:
            return None
        embed = model.layers[0].layers
        has_known_layers = len(embed) == len(_EMBEDDING_LAYERS) and all(
            layer.name.startswith(name)
            for layer, name in zip(embed, _EMBEDDING_LAYERS, strict=True)
        )
        if not has_known_layers or not set(embed[0].attrs["columns"]) <= set(_SUPPORTED_COLUMNS):
            return None
        return cls(model) if "pad" in model.layers[1].attrs else None

    def __call__(self, word_hashes: Sequence[WordHashes], vocab: Vocab) -> list[Floats]:
        """Return the (words, width) vectors of each text, given the hashes of its words.

        ``word_hashes`` has one array per text, as returned by ``hash_words``; there must be at
        least one text. ``vocab`` must contain the words. New words are added to the cache.
        """
        self._update_cache()
        lengths = [len(text_hashes) for text_hashes in word_hashes]
        positions = padded_positions(lengths, self._padding)
        rows = self._find_rows(np.concatenate(word_hashes), vocab)
        order = np.zeros(sum(lengths) + self._padding * (len(word_hashes) + 1), dtype=np.intp)
        order[positions] = rows
        assert self._encoder is not None
        vectors = self._encoder(self._vectors_of_words.rows, order)[positions]
        return np.split(vectors, np.cumsum(lengths)[:-1])

    def _update_cache(self) -> None:
        """Empty the cache if the parameters have changed or it has over MAX_CACHED_WORDS words.

        If the network's parameters have changed, which includes the first call, the encoder is
        built anew.
        """
        fingerprint = fingerprint_params([self._embeddings, self._mix, self._encode])
        if fingerprint == self._fingerprint and len(self._row_of_key) > MAX_CACHED_WORDS:
            self._row_of_key = {}
            self._vectors_of_words.reset()
        elif fingerprint != self._fingerprint:
            self._fingerprint, self._row_of_key = fingerprint, {}
            padding_row = np.zeros((1, self._mix.get_dim("nO")), dtype=np.float32)
            self._vectors_of_words = GrowingArray(padding_row, MAX_CACHED_WORDS * 5 // 4)
            self._encoder = Encoder.from_model(self._encode)

    def _find_rows(self, word_hashes: WordHashes, vocab: Vocab) -> NDArray[np.intp]:
        """Return the cache row of each word.

        A word is identified by both its hashes, ORTH and NORM, together. Words that are not cached
        are embedded and appended first. Rows index ``_vectors_of_words``; row 0 is padding.
        """
        keys = word_hashes[:, 0] ^ (word_hashes[:, 1] * _HASH_MULTIPLIER)
        distinct, first, inverse = np.unique(keys, return_index=True, return_inverse=True)
        distinct_keys, row_of_key = distinct.tolist(), self._row_of_key
        new = [n for n, key in enumerate(distinct_keys) if key not in row_of_key]
        if new:
            features = [self._hash_features(vocab, *word_hashes[first[n]].tolist()) for n in new]
            self._vectors_of_words.add(self._embed(np.array(features, dtype=np.uint64)))
            first_row = len(row_of_key) + 1  # row 0 is padding
            row_of_key.update((distinct_keys[n], first_row + i) for i, n in enumerate(new))
        return np.array([row_of_key[key] for key in distinct_keys], dtype=np.intp)[inverse]

    def _hash_features(self, vocab: Vocab, orth: int, norm: int) -> list[int]:
        """Return the hashes of a word's attributes that the network embeds, in column order.

        ``orth`` and ``norm`` are the word's hashes; the other attributes come from the vocabulary.
        """
        lexeme = vocab[orth]
        values = {"NORM": norm, "ORTH": orth, "LOWER": lexeme.lower, "PREFIX": lexeme.prefix,
                  "SUFFIX": lexeme.suffix, "SHAPE": lexeme.shape}  # fmt: skip
        return [values[column] for column in self._columns]

    def _embed(self, features: WordHashes) -> Floats:
        """Return the (words, width) embeddings of words.

        ``features`` is (words, columns), with a row of ``_hash_features`` for each word.
        """
        vectors: Floats = self._mix.predict(self._embeddings.predict(features))
        return vectors


def hash_words(doc: Doc, normalized: NormalizedWords | None) -> WordHashes:
    """Return the ORTH and NORM hashes of the words of a Doc, shape (words, 2).

    ``normalized`` is the result of ``normalize_words``, or None if all tokens are words in
    normalised spelling. Tokens that are not words (white space and markup) are left out, and words
    whose spelling was changed get the hashes of the new spelling.
    """
    columns: Any = doc.to_array([ORTH, NORM]).reshape(-1, 2)
    if normalized is None:
        return cast(WordHashes, columns)
    word_hashes: WordHashes = columns[normalized.token_indices]
    word_hashes[:, 0] = normalized.orths
    changed = np.flatnonzero(normalized.is_changed)
    word_hashes[changed, 1] = [doc.vocab[orth].norm for orth in normalized.orths[changed].tolist()]
    return word_hashes
