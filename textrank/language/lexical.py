"""Embeddings of words by what names show: beginning, ending, shape, and the company they keep."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from murmurhash.mrmr import hash as murmur
from numpy.typing import NDArray
from spacy.attrs import ORTH
from spacy.strings import StringStore
from spacy.tokens import Doc
from thinc.api import HashEmbed, Maxout, Model, concatenate
from thinc.types import Floats2d, Ints2d

Embedding: TypeAlias = Model[list[Doc], list[Any]]  # an array of vectors for each Doc
Rows: TypeAlias = NDArray[np.uint64]


def plain(word: str) -> str:
    """The word in lower case, each number as 0."""
    return re.sub(r"\d+", "0", word.lower())


def shape(word: str) -> str:
    """Kinds of characters, a run counted up to three: ``p53`` is ``xdd``, ``IL`` is ``XX``."""
    kinds = "".join(
        "d" if c.isdigit() else "X" if c.isupper() else "x" if c.isalpha() else c for c in word[:24]
    )
    return re.sub(r"(.)\1{3,}", r"\1\1\1", kinds)


class Column(NamedTuple):
    """A view of a word, and how many rows its table has for each of the embedding's ``rows``."""

    view: Callable[[str], str]
    share: float


COLUMNS: Sequence[Column] = (
    Column(plain, 0.5),  # the first, since vectors are looked up by it
    Column(str.lower, 1.0),
    Column(lambda word: word[:3], 0.5),
    Column(lambda word: word[-3:].lower(), 0.5),
    Column(lambda word: word[-5:].lower(), 0.5),
    Column(shape, 0.2),
)
_CACHE_SIZE = 200_000
_cache: dict[int, tuple[int, ...]] = {}  # columns by spaCy's hash of the word, which names it


def lexical_embed(width: int, rows: int, vectors: int) -> Embedding:
    """Words -> vectors of ``width``; the architecture ``textrank.LexicalEmbed.v1``.

    Each distinct word of a batch is worked out once. ``vectors`` is the width of the vectors that
    ``use_vectors`` gives to words.
    """
    tables: list[Model[Ints2d, Floats2d]] = [
        HashEmbed(width, int(rows * share), column=column, seed=column + 7, dropout=0.0)
        for column, (_, share) in enumerate(COLUMNS)
    ]
    mix = Maxout(width, width * len(COLUMNS) + vectors, nP=3, dropout=0.0, normalize=True)
    model: Embedding = Model(
        "lexical_embed",
        _forward,
        init=_init,
        layers=[concatenate(*tables), mix],
        dims={"nO": width},
    )
    model.attrs["keys"] = np.zeros(0, dtype=np.uint64)
    model.attrs["vectors"] = np.zeros((0, vectors), dtype=np.float16)
    return model


def use_vectors(model: Model[Any, Any], words: Sequence[str], vectors: NDArray[np.float32]) -> None:
    """Lets the embedding inside a network know vectors of words in ``plain`` form."""
    keys, which = np.unique(_hashes([murmur(word) for word in words]), return_index=True)
    for node in model.walk():
        if node.name == "lexical_embed":
            node.attrs["keys"] = keys
            node.attrs["vectors"] = vectors[which].astype(np.float16)


def _init(model: Embedding, X: Any = None, Y: Any = None) -> None:
    for layer in model.layers:
        layer.initialize()


def _forward(
    model: Embedding, docs: list[Doc], is_train: bool
) -> tuple[list[Any], Callable[[list[Any]], list[Doc]]]:
    distinct, which = np.unique(
        np.concatenate([doc.to_array(ORTH) for doc in docs]), return_inverse=True
    )
    rows = _rows(distinct, docs[0].vocab.strings)
    tables, mix = model.layers
    looked_up, backprop_tables = tables(rows, is_train)
    features = np.hstack([looked_up, _vectors(rows[:, 0], model.attrs)])
    mixed, backprop_mix = mix(features, is_train)

    def backprop(gradients: list[Any]) -> list[Doc]:
        ops: Any = model.ops
        summed = ops.alloc2f(*mixed.shape)
        ops.scatter_add(summed, which.astype(np.int32), np.concatenate(gradients))
        own = backprop_mix(summed)[:, : looked_up.shape[1]]
        backprop_tables(np.ascontiguousarray(own))
        return []

    return np.split(mixed[which], np.cumsum([len(doc) for doc in docs])[:-1]), backprop


def _rows(words: NDArray[np.uint64], strings: StringStore) -> Rows:
    """The columns of each word, given by its hash."""
    if len(_cache) > _CACHE_SIZE:
        _cache.clear()
    rows = []
    for word in words.tolist():
        row = _cache.get(word)
        if row is None:
            text = strings[word]
            row = _cache[word] = tuple(murmur(column.view(text)) for column in COLUMNS)
        rows.append(row)
    return _hashes(rows).reshape(len(rows), len(COLUMNS))


def _hashes(numbers: Sequence[Any]) -> Rows:
    return np.array(numbers, dtype=np.int64).astype(np.uint64)


def _vectors(words: Rows, known: Mapping[str, Any]) -> NDArray[np.float32]:
    """Vectors of words given by the hashes of their plain forms, zero where there is none."""
    keys, vectors = known["keys"], known["vectors"]
    found = np.zeros((len(words), vectors.shape[1]), dtype=np.float32)
    if len(keys):
        place = np.searchsorted(keys, words).clip(max=len(keys) - 1)
        hit = keys[place] == words
        found[hit] = vectors[place[hit]]
    return found
