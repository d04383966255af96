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
from spacy.attrs import ORTH, SPACY
from spacy.strings import StringStore
from spacy.tokens import Doc
from thinc.api import HashEmbed, Maxout, Model, chain, clone, concatenate, expand_window, residual

from textrank.language.evidence import CONJOINED, OFFSETS, REACH, Evidence, Table
from textrank.language.words import PLACE, WordTable, empty_table

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
    def of(cls, docs: Sequence[Doc]) -> _Words:
        rows = np.concatenate([doc.to_array([ORTH, SPACY]).reshape(-1, 2) for doc in docs])
        return cls(rows[:, 0], rows[:, 1] == 1, np.array([len(doc) for doc in docs], dtype=np.intp))

    def places(self, gap: int) -> Ints:
        """Where words stand when ``gap`` empty places come before and after each Doc."""
        shift = np.repeat(np.arange(1, len(self.lengths) + 1) * gap, self.lengths)
        return np.arange(len(self.keys)) + shift

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
        self.embedded = np.zeros((1, len(EMBEDDED)), dtype=np.uint64)
        self.places = np.full(1, -1, dtype=np.intp)
        self.mixed = np.zeros((1, width), dtype=np.float32)
        self.views = np.zeros((1, len(CONJOINED)), dtype=np.uint64)
        nothing = np.zeros((1, len(PLACE)), dtype=np.uint64)
        self.told = evidence.of_words(nothing, [""])

    def add(self, words: Sequence[tuple[int, str, bool]], mix: Callable[..., Floats]) -> None:
        """Remembers words, given with their keys and whether they are read without case."""
        first = len(self.places)
        self.rows.update((key, first + i) for i, (key, _, _) in enumerate(words))
        texts = [word for _, word, _ in words]
        views = np.array([self.table.views(w, c) for _, w, c in words], dtype=np.uint64)
        embedded = views[:, [PLACE[view] for view in EMBEDDED]]
        places = np.array([self.table.place(word) for word in texts], dtype=np.intp)
        self.mixed = np.vstack([self.mixed, mix(embedded, self.table.vectors(places))])
        self.embedded = np.vstack([self.embedded, embedded])
        self.places = np.append(self.places, places)
        self.views = np.vstack([self.views, views[:, [PLACE[view] for view in CONJOINED]]])
        self.told = np.concatenate([self.told, self.evidence.of_words(views, texts)])


class _Forward:
    """The network's forward pass, with its memory of words."""

    def __init__(self) -> None:
        self._memory: _Memory | None = None
        self._learned: tuple[Any, ...] = ()
        self._traits: dict[int, int] = {}

    def __call__(
        self, model: NameNetwork, docs: list[Doc], is_train: bool
    ) -> tuple[list[Any], Callable[[list[Any]], list[Doc]]]:
        if not any(len(doc) for doc in docs):
            return [np.zeros((0, model.get_dim("nO")), dtype=np.float32) for _ in docs], _nothing
        words, gap = _Words.of(docs), max(REACH, model.attrs["shape"]["depth"])
        traits = self._traits_of(words.keys, docs[0].vocab.strings)
        starts = words.sentences(traits)
        memory, rows = self._remember(model, words, _caseless(traits, starts), docs[0])
        places = words.places(gap)
        order = np.zeros(len(places) + gap * (len(docs) + 1), dtype=np.intp)
        order[places] = rows
        if is_train:
            context, backprop = _learn_context(model, memory, order, places)
        else:
            context, backprop = model.layers[2].predict(memory.mixed[order])[places], _nothing
        told = _told(memory, order, places, words.glue(traits, starts))
        found = np.hstack([context, told])
        return np.split(found, np.cumsum(words.lengths)[:-1]), backprop

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
        self, model: NameNetwork, words: _Words, caseless: NDArray[np.bool_], doc: Doc
    ) -> tuple[_Memory, Ints]:
        """Rows of the words in the memory, which learns those that it does not know."""
        keys = np.where(caseless, words.keys ^ _CASELESS, words.keys)
        distinct, first, which = np.unique(keys, return_index=True, return_inverse=True)
        memory = self._fresh(model)
        listed, strings = distinct.tolist(), doc.vocab.strings
        if any(key not in memory.rows for key in listed):
            if len(memory.rows) + len(listed) > REMEMBERED:
                self._learned = ()
                memory = self._fresh(model)
            new = [
                (key, strings[int(words.keys[at])], bool(caseless[at]))
                for key, at in zip(listed, first.tolist(), strict=True)
                if key not in memory.rows
            ]
            memory.add(new, lambda ids, vectors: _mix(model, ids, vectors))
        return memory, np.array([memory.rows[key] for key in listed], dtype=np.intp)[which]

    def _fresh(self, model: NameNetwork) -> _Memory:
        """The memory, a new one if the network is not what it was."""
        learned = (id(model.attrs["words"]), id(model.attrs["evidence"]), *_prints(model))
        if self._memory is None or learned != self._learned:
            tables = [Table.unpack(stored) for stored in model.attrs["evidence"]]
            table = WordTable(model.attrs["words"])
            self._memory = _Memory(table, Evidence(tables), model.attrs["shape"]["width"])
            self._learned = learned
        return self._memory


def _nothing(_: list[Any]) -> list[Doc]:
    return []


def _prints(model: NameNetwork) -> list[float]:
    """Some numbers that change when the embedding of words does."""
    prints = []
    for layer in model.layers[:2]:
        for node in layer.walk():
            for name in node.param_names:
                values: Any = node.get_param(name)
                prints.append(float(values.ravel()[::997].sum()))
    return prints


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
    looked_up, backprop_tables = tables(memory.embedded[distinct], True)
    vectors = memory.table.vectors(memory.places[distinct])
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
    columns = np.ascontiguousarray(memory.views[order].T)
    told = memory.evidence.of_places(list(columns), joined)[places - REACH]
    for place, at in enumerate(OFFSETS):
        told += memory.told[order[places + at], place]
    return told
