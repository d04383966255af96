"""spaCy's network over hashed forms of words, what depends on a word alone worked out once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias, cast

import numpy as np
from numpy.typing import NDArray
from spacy.attrs import NORM, ORTH
from spacy.tokens import Doc
from spacy.vocab import Vocab
from thinc.api import Model

from textrank.language.encoder import Encoder, Floats, prints
from textrank.text.words import Reading

Forms: TypeAlias = NDArray[np.uint64]  # (words, 2): hashes of a word as it stands and of its norm

REMEMBERED = 20_000  # words; some hundred bytes each
_FORMS = ("NORM", "PREFIX", "SUFFIX", "SHAPE", "LOWER", "ORTH")
_LAYERS = ("extract_features", "list2ragged", "with_array", "with_array", "ragged2list")
_SPREAD = np.uint64(0x9E3779B97F4A7C15)


class Growing:
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


def places(lengths: Sequence[int] | NDArray[np.intp], gap: int) -> NDArray[np.intp]:
    """Where words of texts stand when ``gap`` empty places come before and after each text."""
    sizes = np.asarray(lengths, dtype=np.intp)
    return np.arange(sizes.sum()) + np.repeat(np.arange(1, len(sizes) + 1) * gap, sizes)


class WordNetwork:
    """``spacy.HashEmbedCNN.v2`` and its like: forms of words, and windows over them."""

    def __init__(self, model: Model[Any, Any]) -> None:
        embed, self._encode = model.layers
        self._columns: list[str] = embed.layers[0].attrs["columns"]
        self._hashed, self._mix = embed.layers[2].layers[0], embed.layers[3].layers[0]
        self._gap: int = self._encode.attrs["pad"]
        self._learned: list[float] = []
        self._encoder: Encoder | None = None
        self._rows: dict[int, int] = {}
        self._known = Growing(np.zeros((0, 0), dtype=np.float32))

    @classmethod
    def of(cls, model: Model[Any, Any]) -> WordNetwork | None:
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
        at = places(lengths, self._gap)
        rows = self._remembered(np.concatenate(forms), vocab)
        order = np.zeros(sum(lengths) + self._gap * (len(forms) + 1), dtype=np.intp)
        order[at] = rows
        assert self._encoder is not None
        found = self._encoder(self._known.rows, order)[at]
        return np.split(found, np.cumsum(lengths)[:-1])

    def _refresh(self) -> None:
        """Forgets all if the network is not what it was."""
        learned = prints([self._hashed, self._mix, self._encode])
        if learned == self._learned and len(self._rows) > REMEMBERED:
            self._rows = {}
            self._known.forget()
        elif learned != self._learned:
            self._learned, self._rows = learned, {}
            nothing = np.zeros((1, self._mix.get_dim("nO")), dtype=np.float32)
            self._known = Growing(nothing, REMEMBERED * 5 // 4)
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


def forms_of(doc: Doc, reading: Reading | None) -> Forms:
    """The forms of the words of a Doc."""
    given: Any = doc.to_array([ORTH, NORM]).reshape(-1, 2)
    if reading is None:
        return cast(Forms, given)
    forms: Forms = given[reading.kept]
    forms[:, 0] = reading.orths
    at = np.flatnonzero(reading.changed)
    forms[at, 1] = [doc.vocab[orth].norm for orth in reading.orths[at].tolist()]
    return forms
