"""Embeddings of words by what names show: beginning, ending, shape, and the word but for digits."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import cast

import numpy as np
from murmurhash.mrmr import hash as murmur
from numpy.typing import NDArray
from spacy.tokens import Doc
from thinc.api import (
    HashEmbed,
    Maxout,
    Model,
    chain,
    concatenate,
    list2ragged,
    ragged2list,
    with_array,
)
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
    """Words -> vectors of ``width``; the architecture ``textrank.LexicalEmbed.v1``."""
    tables: list[Model[Ints2d, Floats2d]] = [
        HashEmbed(width, int(rows * share), column=column, seed=column + 7, dropout=0.0)
        for column, (_, share) in enumerate(COLUMNS)
    ]
    mix = Maxout(width, width * len(COLUMNS), nP=3, dropout=0.0, normalize=True)
    return chain(
        _columns(),
        list2ragged(),
        with_array(concatenate(*tables)),
        with_array(mix),
        ragged2list(),
    )


def _columns() -> Model[list[Doc], list[Ints2d]]:
    return Model("lexical_columns", _forward)


def _forward(
    model: Model[list[Doc], list[Ints2d]], docs: list[Doc], is_train: bool
) -> tuple[list[Ints2d], Callable[[list[Ints2d]], list[Doc]]]:
    if len(_cache) > _CACHE_SIZE:
        _cache.clear()
    return [cast(Ints2d, _rows(doc)) for doc in docs], lambda _: []


def _rows(doc: Doc) -> NDArray[np.uint64]:
    rows = []
    for token in doc:
        row = _cache.get(token.orth)
        if row is None:
            text = token.text
            row = _cache[token.orth] = tuple(murmur(column(text)) for column, _ in COLUMNS)
        rows.append(row)
    return np.array(rows, dtype=np.int64).astype(np.uint64).reshape(len(doc), len(COLUMNS))
