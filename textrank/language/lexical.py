"""Embeddings of words by what names show: beginning, ending, shape, and the word but for digits."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any, cast

import numpy as np
from murmurhash.mrmr import hash as murmur
from numpy.typing import NDArray
from spacy.attrs import ORTH
from spacy.strings import StringStore
from spacy.tokens import Doc
from thinc.api import HashEmbed, Maxout, Model, chain, concatenate
from thinc.types import Floats2d, Ints2d

# Each column of a word, with the share of the table's rows it gets.
COLUMNS: Sequence[tuple[Callable[[str], str], float]] = (
    (str.lower, 1.0),
    (lambda word: re.sub(r"\d+", "0", word.lower()), 0.5),
    (lambda word: word[:3], 0.5),
    (lambda word: word[-3:].lower(), 0.5),
    (lambda word: word[-5:].lower(), 0.5),
    (lambda word: shape(word), 0.2),
)
_CACHE_SIZE = 200_000
_cache: dict[int, tuple[int, ...]] = {}  # columns by spaCy's hash of the word, which names it


def shape(word: str) -> str:
    """Kinds of characters, a run counted up to three: ``p53`` is ``xdd``, ``IL`` is ``XX``."""
    kinds = "".join(
        "d" if c.isdigit() else "X" if c.isupper() else "x" if c.isalpha() else c for c in word[:24]
    )
    return re.sub(r"(.)\1{3,}", r"\1\1\1", kinds)


def lexical_embed(width: int, rows: int) -> Model[list[Doc], list[Floats2d]]:
    """Words -> vectors of ``width``; the architecture ``textrank.LexicalEmbed.v1``.

    Each distinct word of a batch is worked out once.
    """
    tables: list[Model[Ints2d, Floats2d]] = [
        HashEmbed(width, int(rows * share), column=column, seed=column + 7, dropout=0.0)
        for column, (_, share) in enumerate(COLUMNS)
    ]
    mix = Maxout(width, width * len(COLUMNS), nP=3, dropout=0.0, normalize=True)
    words = chain(concatenate(*tables), mix)
    return Model("lexical_embed", _forward, init=_init, layers=[words], dims={"nO": width})


def _init(model: Model[list[Doc], list[Floats2d]], X: Any = None, Y: Any = None) -> None:
    model.layers[0].initialize()


def _forward(
    model: Model[list[Doc], list[Floats2d]], docs: list[Doc], is_train: bool
) -> tuple[list[Floats2d], Callable[[list[Floats2d]], list[Doc]]]:
    vocab = docs[0].vocab
    keys = [doc.to_array(ORTH) for doc in docs]
    distinct, which = np.unique(np.concatenate(keys), return_inverse=True)
    vectors, backprop_words = model.layers[0](_rows(distinct, vocab.strings), is_train)
    ends = np.cumsum([len(doc) for doc in docs])[:-1]

    def backprop(gradients: list[Floats2d]) -> list[Doc]:
        summed = model.ops.alloc2f(*vectors.shape)
        model.ops.scatter_add(summed, which.astype(np.int32), np.concatenate(gradients))
        backprop_words(summed)
        return []

    return np.split(vectors[which], ends), backprop


def _rows(words: NDArray[np.uint64], strings: StringStore) -> Ints2d:
    """The columns of each word, by its hash."""
    if len(_cache) > _CACHE_SIZE:
        _cache.clear()
    rows = []
    for word in words.tolist():
        row = _cache.get(word)
        if row is None:
            text = strings[word]
            row = _cache[word] = tuple(murmur(column(text)) for column, _ in COLUMNS)
        rows.append(row)
    columns = np.array(rows, dtype=np.int64).astype(np.uint64)
    return cast(Ints2d, columns.reshape(len(rows), len(COLUMNS)))
