"""The part of each name for itself: what leads from it to the top, and the words next to it.

The same facts are told of the first name and of the second. Their sum does not change when the
names change places and says what happens; their difference changes its sign and says who does it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import chain

import numpy as np
import scipy.sparse as sp

from textrank.representations.pairs.entity_pair import Name
from textrank.representations.pairs.telling import SentenceTree, TreePair
from textrank.types import Features, Matrix, Names

WINDOW = 6  # tokens to either side in which a word of events is looked for
FEW = 2  # words of events whose order with the name counts
_ENDINGS = (
    "tors tor ors or ers er ases ase ions ion ing ed ible able ent ive ory ment ance ence "
    "ates ate es s"
)
ENDINGS = tuple(sorted(_ENDINGS.split(), key=lambda ending: -len(ending)))


@lru_cache(maxsize=1 << 16)
def ending(text: str) -> str:
    """How a word ends, since stems hide who acts: "-induced" and "-inducing", "activator".

    >>> ending("inducing"), ending("activator"), ending("bind")
    ('ing', 'tor', '')
    """
    word = text.lower()
    return next((e for e in ENDINGS if word.endswith(e) and len(word) > len(e) + 2), "")


@dataclass(frozen=True, eq=False)
class Sides:
    """What two names of each pair have in common, and in what they differ."""

    same: Features  # a fact told of both names counts twice
    turned: Features  # of the first name plus, of the second minus

    @classmethod
    def of(cls, told: Sequence[TreePair]) -> Sides:
        """Those of pairs in their trees."""
        found = _Numbers()
        sides = [[found.of(one, side) for one in told] for side in (0, 1)]
        first, second = (_counts(side, len(found.known)) for side in sides)
        names = Names.of(found.known)
        return cls(Features(first + second, names), Features(_nonzero(first - second), names))


def _counts(rows: Sequence[Sequence[int]], width: int) -> sp.csr_array:
    ends = np.append(0, np.cumsum([len(row) for row in rows]))
    columns = np.fromiter(chain.from_iterable(rows), dtype=np.int32, count=int(ends[-1]))
    matrix = sp.csr_array((np.ones(len(columns)), columns, ends), shape=(len(rows), width))
    matrix.sort_indices()
    return matrix


def _nonzero(matrix: Matrix) -> sp.csr_array:
    found = sp.csr_array(matrix)
    found.eliminate_zeros()
    return found


@dataclass(frozen=True, eq=False)
class _Numbers:
    """The facts met so far by number; what several pairs of a sentence share is told once."""

    known: dict[Name, int] = field(default_factory=dict)
    told: dict[tuple[int, ...], list[int]] = field(default_factory=dict)

    def of(self, pair: TreePair, side: int) -> list[int]:
        """The facts of one name of a pair."""
        tree, way, top = pair.tree, pair.paths[side], pair.top
        name = pair.pair.second if side else pair.pair.first
        begin, end = min(name), max(name)
        near = self._once((id(tree), begin, end, -1), lambda: _around(tree, begin, end))
        path = self._once((id(tree), way[0], top, -2), lambda: _on_way(tree, way))
        order: list[int] = []
        for event in pair.triggers[:FEW]:
            key = (id(tree), event, begin < event, event == top, event in pair.path)
            order += self._once(key, lambda key=key: _ordered(tree, *key[1:]))  # type: ignore[misc]
        return [*near, *path, *dict.fromkeys(order)]

    def _once(self, key: tuple[int, ...], facts: Callable[[], Iterator[Name]]) -> list[int]:
        if key not in self.told:
            known = self.known
            self.told[key] = [known.setdefault(fact, len(known)) for fact in dict.fromkeys(facts())]
        return self.told[key]


def _on_way(tree: SentenceTree, way: Sequence[int]) -> Iterator[Name]:
    """From a name up to the top."""
    top, relations = way[-1], tree.relations
    voice, ends = "passive" if top in tree.passive else "active", ending(tree.context.texts[top])
    part, tops = tree.reached(way), _named(tree, top)
    yield "part", part
    yield "part", part, voice
    yield "part", part, voice, "ending", ends
    yield "part", part, voice, tops[0], ends
    for name in tops:
        yield "part", part, voice, name
    yield "end", relations[way[0]] if len(way) > 1 else "top"
    for token in way[1:-1]:
        for name in _named(tree, token):
            yield "way", name
            yield "way", name, relations[token]
            yield "way", name, "ending", ending(tree.context.texts[token])
    yield from _governor(tree, way)
    yield from _beside(tree, way)


def _governor(tree: SentenceTree, way: Sequence[int]) -> Iterator[Name]:
    """The word that a name hangs on, below the top."""
    if len(way) > 2:
        relation, ends = tree.relations[way[0]], ending(tree.context.texts[way[1]])
        yield "governor", ends, relation
        for name in _named(tree, way[1]):
            yield "governor", name, relation
            yield "governor", name, relation, ends


def _beside(tree: SentenceTree, way: Sequence[int]) -> Iterator[Name]:
    """Words of events that hang on the way."""
    for token in way[:-1]:
        for child in tree.children[token]:
            if child not in way:
                for name in tree.classes[child]:
                    yield "beside", name, tree.relations[child]
                    yield "beside", name, "ending", ending(tree.context.texts[child])


def _around(tree: SentenceTree, begin: int, end: int) -> Iterator[Name]:
    """Words next to a name, and the nearest words of events."""
    words = [_word(tree, token) for token in range(begin - 3, begin)]
    after = [_word(tree, token) for token in range(end + 1, end + 4)]
    yield "previous", words[2]
    yield "previous", *words[1:]
    yield "next", after[0]
    yield "next", *after[:2]
    words = [_kind(tree, token) for token in range(begin - 3, begin)]
    after = [_kind(tree, token) for token in range(end + 1, end + 4)]
    for size in (1, 2, 3):
        yield "classes before", *words[3 - size :]
        yield "classes after", *after[:size]
    last = len(tree.heads)
    for where, tokens in (
        ("left", range(begin - 1, max(begin - 1 - WINDOW, -1), -1)),
        ("right", range(end + 1, min(end + 1 + WINDOW, last))),
    ):
        event = next((token for token in tokens if tree.kinds[token]), None)
        if event is not None:
            for name in _named(tree, event):
                yield "nearest", where, name
                yield "nearest", where, name, ending(tree.context.texts[event])


def _ordered(tree: SentenceTree, event: int, first: bool, top: bool, inner: bool) -> Iterator[Name]:
    """Whether the name comes before a word of events."""
    order = "name first" if first else "name later"
    form = tree.context.tags[event]
    if top:
        form = "passive" if event in tree.passive else "active"
    for name in _named(tree, event):
        yield "order", name, order, form
    for kind in tree.kinds[event][:1]:
        where = "path" if inner else "elsewhere"
        yield "order", kind, order, ending(tree.context.texts[event]), where


def _named(tree: SentenceTree, token: int) -> tuple[str, ...]:
    """The classes of a word and the word itself; all names are alike."""
    return (*tree.classes[token], f"“{tree.context.words[token]}”")


def _word(tree: SentenceTree, token: int) -> str:
    words = tree.context.words
    return "<" if token < 0 else ">" if token >= len(words) else words[token]


def _kind(tree: SentenceTree, token: int) -> str:
    """The first class of a word and how it ends, or the word."""
    own = tree.classes[token] if 0 <= token < len(tree.heads) else ()
    return f"{own[0]} {ending(tree.context.texts[token])}" if own else _word(tree, token)
