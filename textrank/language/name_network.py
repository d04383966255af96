"""The network below the recognizers of names: words among their neighbours, and evidence for tags.

Its output has two parts side by side: what a convolutional network makes of each word in context,
and the sums of ``textrank.language.evidence`` for the tags of each recognizer, which the weights of
that recognizer pick out. What depends on a word alone is worked out once and remembered.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from spacy.attrs import ORTH
from spacy.strings import StringStore
from spacy.tokens import Doc
from thinc.api import HashEmbed, Maxout, Model, chain, clone, concatenate, expand_window, residual

from textrank.language.embedding import Growing, places
from textrank.language.encoder import Encoder, prints
from textrank.language.evidence import CONJOINED, OFFSETS, REACH, Evidence, Table
from textrank.language.words import PLACE, WordTable, empty_table
from textrank.text.words import Reading, spaces

NameNetwork: TypeAlias = Model[list[Doc], list[Any]]  # an array for each Doc
Ints: TypeAlias = NDArray[np.intp]
Floats: TypeAlias = NDArray[np.float32]

# Views that are embedded, and how many rows their table has for each of the network's ``rows``.
EMBEDDED = {
    "plain": 0.5,
    "lower": 1.0,
    "first3": 0.5,
    "last3": 0.5,
    "last5": 0.5,
    "shape": 0.2,
    "listed": 0.04,
    "named": 0.02,
    "cluster1000": 0.2,
}
FEWEST = 64  # rows of a table
REMEMBERED = 20_000  # words; about a kilobyte each
_CASELESS = np.uint64(0x9E3779B97F4A7C15)  # marks the key of a word that is read without case
_UPPER, _LETTERS, _CAPITALS, _END, _OPENS, _CLOSES = (1 << bit for bit in range(6))


def name_network(width: int, rows: int, depth: int, vectors: int, evidence: int) -> NameNetwork:
    """Words -> vectors of ``width + evidence`` numbers; ``textrank.NameNetwork.v1``.

    ``rows`` is the size of the largest table of hashed views, ``vectors`` the width of the vectors
    that the table of words has, ``evidence`` the number of tags for which there is evidence.
    """
    tables: list[Model[Any, Any]] = [
        HashEmbed(width, max(int(rows * share), FEWEST), column=i, seed=i + 7, dropout=0.0)
        for i, share in enumerate(EMBEDDED.values())
    ]
    mix = Maxout(width, width * len(EMBEDDED) + vectors, nP=3, dropout=0.0, normalize=True)
    window: Model[Any, Any] = chain(
        expand_window(window_size=1), Maxout(width, 3 * width, nP=3, dropout=0.0, normalize=True)
    )
    model: NameNetwork = Model(
        "name_network",
        _Forward(),
        init=_init,
        layers=[concatenate(*tables), mix, clone(residual(window), depth)],
        dims={"nO": width + evidence},
    )
    model.attrs["words"] = empty_table(vectors).arrays
    model.attrs["evidence"] = [Table.of(np.zeros((1, evidence))).pack()] if evidence else []
    model.attrs["shape"] = {"width": width, "depth": depth}
    return model


def _init(model: NameNetwork, X: Any = None, Y: Any = None) -> None:
    tables, mix, encode = model.layers
    tables.initialize(X=np.zeros((1, len(EMBEDDED)), dtype=np.uint64))
    mix.initialize()
    encode.initialize(X=np.zeros((3, model.attrs["shape"]["width"]), dtype=np.float32))


@dataclass(frozen=True, eq=False)
class _Words:
    """The words of a batch, one Doc after the other."""

    keys: NDArray[np.uint64]
    spaces: NDArray[np.bool_]
    lengths: Ints

    @classmethod
    def of(cls, docs: Sequence[Doc], readings: Sequence[Reading | None] | None = None) -> _Words:
        readings = readings or [None] * len(docs)
        both = list(zip(docs, readings, strict=True))
        keys = [doc.to_array([ORTH]) if own is None else own.orths for doc, own in both]
        white = np.concatenate([spaces(doc, own) for doc, own in both])
        return cls(np.concatenate(keys), white, np.array([len(own) for own in keys], dtype=np.intp))

    def sentences(self, traits: Ints) -> Ints:
        """First words of what lies between full stops or ends of Docs."""
        ends = (traits & _END).astype(bool)
        ends[np.cumsum(self.lengths[self.lengths > 0]) - 1] = True
        return np.append(0, np.flatnonzero(ends)[:-1] + 1)

    def glue(self, traits: Ints, starts: Ints) -> NDArray[np.uint64]:
        """As ``evidence.glue_of`` has it, brackets counted within sentences."""
        before = np.append(True, self.spaces[:-1])
        filled = self.lengths[self.lengths > 0]
        before[np.cumsum(filled) - filled] = True
        opens, closes = (traits & _OPENS) > 0, (traits & _CLOSES) > 0
        level = np.cumsum(opens) - np.append(0, np.cumsum(closes)[:-1])
        base = np.repeat((level - opens)[starts], np.diff(np.append(starts, len(level))))
        return (1 + ~before + 2 * ~self.spaces + 4 * (level > base)).astype(np.uint64)


def _traits(word: str) -> int:
    letters = word.isalpha() and len(word) > 1
    return (
        _UPPER * (word != word.lower())
        | _LETTERS * letters
        | _CAPITALS * (letters and word.isupper())
        | _END * (word in (".", "?", "!"))
        | _OPENS * (word in ("(", "["))
        | _CLOSES * (word in (")", "]"))
    )


def _caseless(traits: Ints, starts: Ints) -> NDArray[np.bool_]:
    """Words of sentences without capitals, or all in capitals: ``words.without_case`` for many."""
    counts = [
        np.add.reduceat((traits & bit) > 0, starts, dtype=np.intp)
        for bit in (_UPPER, _LETTERS, _CAPITALS)
    ]
    upper, letters, capitals = counts
    silent = (upper == 0) | ((letters >= 3) & (letters == capitals))
    return np.repeat(silent, np.diff(np.append(starts, len(traits))))


class _Memory:
    """What is known of words, a row each; the first row is that of no word."""

    def __init__(self, table: WordTable, evidence: Evidence, width: int) -> None:
        self.table, self.evidence = table, evidence
        self.rows: dict[int, int] = {}
        self.embedded = Growing(np.zeros((1, len(EMBEDDED)), dtype=np.uint64), REMEMBERED)
        self.places = Growing(np.full(1, -1, dtype=np.intp), REMEMBERED)
        self.mixed = Growing(np.zeros((1, width), dtype=np.float32), REMEMBERED)
        self.views = Growing(np.zeros((1, len(CONJOINED)), dtype=np.uint64), REMEMBERED)
        nothing = np.zeros((1, len(PLACE)), dtype=np.uint64)
        self.told = Growing(evidence.of_words(nothing, [""]), REMEMBERED)

    def forget(self) -> None:
        """Forgets all words, and keeps the room for others."""
        self.rows.clear()
        for kept in (self.embedded, self.places, self.mixed, self.views, self.told):
            kept.forget()

    def add(self, words: Sequence[tuple[int, str, bool]], mix: Callable[..., Floats]) -> None:
        """Remembers words, given with their keys and whether they are read without case."""
        first = len(self.places.rows)
        self.rows.update((key, first + i) for i, (key, _, _) in enumerate(words))
        texts = [word for _, word, _ in words]
        views = np.array([self.table.views(w, c) for _, w, c in words], dtype=np.uint64)
        embedded = views[:, [PLACE[view] for view in EMBEDDED]]
        places = np.array([self.table.place(word) for word in texts], dtype=np.intp)
        self.mixed.add(mix(embedded, self.table.vectors(places)))
        self.embedded.add(embedded)
        self.places.add(places)
        self.views.add(views[:, [PLACE[view] for view in CONJOINED]])
        self.told.add(self.evidence.of_words(views, texts))


class _Forward:
    """The network's forward pass, with its memory of words."""

    def __init__(self) -> None:
        self._memory: _Memory | None = None
        self._learned: tuple[Any, ...] = ()
        self._traits: dict[int, int] = {}
        self._encoder: Encoder | None = None
        self._unpacked: tuple[list[Any], Any] = [None, None], None

    def __call__(
        self, model: NameNetwork, docs: list[Doc], is_train: bool
    ) -> tuple[list[Any], Callable[[list[Any]], list[Doc]]]:
        if not any(len(doc) for doc in docs):
            return [np.zeros((0, model.get_dim("nO")), dtype=np.float32) for _ in docs], _nothing
        return self._run(model, _Words.of(docs), docs[0].vocab.strings, is_train)

    def predict(
        self, model: NameNetwork, docs: Sequence[Doc], readings: Sequence[Reading | None]
    ) -> list[Any]:
        """Vectors of the words of each Doc, which are read so."""
        words = _Words.of(docs, readings)
        if not len(words.keys):
            return [np.zeros((0, model.get_dim("nO")), dtype=np.float32) for _ in docs]
        return self._run(model, words, docs[0].vocab.strings, False)[0]

    def _run(
        self, model: NameNetwork, words: _Words, strings: StringStore, is_train: bool
    ) -> tuple[list[Any], Callable[[list[Any]], list[Doc]]]:
        gap = max(REACH, model.attrs["shape"]["depth"])
        traits = self._traits_of(words.keys, strings)
        starts = words.sentences(traits)
        memory, rows = self._remember(model, words, _caseless(traits, starts), strings)
        at = places(words.lengths, gap)
        order = np.zeros(len(at) + gap * (len(words.lengths) + 1), dtype=np.intp)
        order[at] = rows
        if is_train:
            context, backprop = _learn_context(model, memory, order, at)
        else:
            context, backprop = self._context(model, memory.mixed.rows, order)[at], _nothing
        told = _told(memory, order, at, words.glue(traits, starts))
        found = np.hstack([context, told])
        return np.split(found, np.cumsum(words.lengths)[:-1]), backprop

    def _context(self, model: NameNetwork, known: Floats, order: Ints) -> Floats:
        if self._encoder is None:
            found: Floats = model.layers[2].predict(known[order])
            return found
        return self._encoder(known, order)

    def _traits_of(self, keys: NDArray[np.uint64], strings: StringStore) -> Ints:
        distinct, which = np.unique(keys, return_inverse=True)
        if len(self._traits) > REMEMBERED:
            self._traits.clear()
        own = []
        for key in distinct.tolist():
            if key not in self._traits:
                self._traits[key] = _traits(strings[key])
            own.append(self._traits[key])
        return np.array(own, dtype=np.intp)[which]

    def _remember(
        self, model: NameNetwork, words: _Words, caseless: NDArray[np.bool_], strings: StringStore
    ) -> tuple[_Memory, Ints]:
        """Rows of the words in the memory, which learns those that it does not know."""
        keys = np.where(caseless, words.keys ^ _CASELESS, words.keys)
        distinct, first, which = np.unique(keys, return_index=True, return_inverse=True)
        memory, listed = self._fresh(model), distinct.tolist()
        if any(key not in memory.rows for key in listed):
            if len(memory.rows) + len(listed) > REMEMBERED:
                memory.forget()
            new = [
                (key, strings[int(words.keys[at])], bool(caseless[at]))
                for key, at in zip(listed, first.tolist(), strict=True)
                if key not in memory.rows
            ]
            memory.add(new, lambda ids, vectors: _mix(model, ids, vectors))
        return memory, np.array([memory.rows[key] for key in listed], dtype=np.intp)[which]

    def _fresh(self, model: NameNetwork) -> _Memory:
        """The memory, a new one if the network is not what it was."""
        learned = (id(model.attrs["words"]), id(model.attrs["evidence"]), *prints(model.layers))
        if self._memory is None or learned != self._learned:
            table, evidence = self._tables(model)
            self._memory = _Memory(table, evidence, model.attrs["shape"]["width"])
            self._encoder = Encoder.of(model.layers[2])
            self._learned = learned
        return self._memory

    def _tables(self, model: NameNetwork) -> tuple[WordTable, Evidence]:
        """Those of the memory that was, or unpacked, which takes a while."""
        own = [model.attrs["words"], model.attrs["evidence"]]
        if not all(a is b for a, b in zip(own, self._unpacked[0], strict=True)):
            tables = [Table.unpack(stored) for stored in own[1]]
            self._unpacked = own, (WordTable(own[0]), Evidence(tables))
        return self._unpacked[1]


def forward_of(model: Any) -> _Forward | None:
    """The forward pass of a network of this kind, None for another."""
    return model._func if isinstance(model._func, _Forward) else None


def _nothing(_: list[Any]) -> list[Doc]:
    return []


def _mix(model: NameNetwork, ids: NDArray[np.uint64], vectors: Floats) -> Floats:
    tables, mix, _ = model.layers
    mixed: Floats = mix.predict(np.hstack([tables.predict(ids), vectors]))
    return mixed


def _learn_context(
    model: NameNetwork, memory: _Memory, order: Ints, places: Ints
) -> tuple[Floats, Callable[[list[Any]], list[Doc]]]:
    """As what is remembered, but so that the network can learn."""
    tables, mix, encode = model.layers
    distinct, which = np.unique(order[places], return_inverse=True)
    looked_up, backprop_tables = tables(memory.embedded.rows[distinct], True)
    vectors = memory.table.vectors(memory.places.rows[distinct])
    mixed, backprop_mix = mix(np.hstack([looked_up, vectors]), True)
    words = np.zeros((len(order), mixed.shape[1]), dtype=np.float32)
    words[places] = mixed[which]
    context, backprop_encode = encode(words, True)

    def backprop(gradients: list[Any]) -> list[Doc]:
        ops: Any = model.ops
        slopes = np.zeros_like(context)
        slopes[places] = np.concatenate(gradients)[:, : context.shape[1]]
        summed = ops.alloc2f(*mixed.shape)
        own = np.ascontiguousarray(backprop_encode(slopes)[places])
        ops.scatter_add(summed, which.astype(np.int32), own)
        backprop_tables(np.ascontiguousarray(backprop_mix(summed)[:, : looked_up.shape[1]]))
        return []

    return context[places], backprop


def _told(memory: _Memory, order: Ints, places: Ints, glue: NDArray[np.uint64]) -> Floats:
    """Evidence for the words at these places, from themselves and their neighbours."""
    joined = np.zeros(len(order), dtype=np.uint64)
    joined[places] = glue
    columns = np.ascontiguousarray(memory.views.rows[order].T)
    told = memory.evidence.of_places(list(columns), joined)[places - REACH]
    known = memory.told.rows  # (words, offsets, evidence)
    own = known.reshape(len(known) * len(OFFSETS), told.shape[1])
    for place, at in enumerate(OFFSETS):
        told += own.take(len(OFFSETS) * order[places + at] + place, axis=0)
    return told
