"""Who does what to whom: words of events by class, and the part each name plays in them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from textrank.representations.pairs.occurrences import Occurrences
from textrank.representations.pairs.telling import Tellings, Told
from textrank.types import Indices
from textrank.types.ragged import offsets, spread

FEW = 4  # words of events that are looked at
SIDES = ("first", "second")


@dataclass(frozen=True, kw_only=True)
class StatementRoles(Told):
    """What happens between two names and which part each plays, present or absent.

    The top of the path with its voice and the relations by which each name is reached; the words
    on both paths up and beside them; classes along the whole path as one skeleton ("loss, subject,
    ^activation^, object, level"); the likeliest trigger. Words are named by their classes and by
    themselves, so that "knockdown of A impairs B" is like "deletion of A reduces B".
    """

    def tell(self, told: Tellings, found: Occurrences) -> None:
        """Adds what is told of pairs."""
        for part in (_top, _skeletons, _ways, _beside, _triggers, _between):
            part(told, found)


def _top(told: Tellings, found: Occurrences) -> None:
    every, voice = np.arange(len(told)), told.voice
    one, two = told.reached[0][told.ways.of]
    found.add("parts", every, voice, one, two)
    found.add("ends", every, *told.end[told.ways.of])
    pair, name = told.names(every, told.top)
    one, two, voice = one[pair], two[pair], voice[pair]
    found.add("top", pair, name, _letters(told)[pair])
    found.add("top", pair, name, voice)
    found.add("top with both", pair, name, voice, one, two)
    found.add("top with first", pair, name, voice, one)
    found.add("top with second", pair, name, voice, two)


def _letters(told: Tellings) -> Indices:
    """The first letter of the part of speech of each top."""
    own = told.layout
    known, place = np.unique(own.tag[told.top], return_inverse=True)
    words = own.lexicon.words()
    return own.lexicon.all(words[tag][:1] for tag in known.tolist())[place]


def _skeletons(told: Tellings, found: Occurrences) -> None:
    """Classes from name to name, with and without the relations to the top."""
    every, own = np.arange(len(told)), _Skeletons.of(told)
    kind, sign = told.kinds.first(every), found.lexicon("^")
    one, two = told.reached[1][told.ways.of]
    found.padded("skeleton", every, own.around([], [sign, kind, sign]))
    found.padded("parts in", every, own.around([told.voice], [one, sign, kind, sign, two]))


@dataclass(frozen=True, eq=False)
class _Skeletons:
    """The first class of each word on the way from name to name, without the top."""

    side: Indices
    pair: Indices
    place: Indices  # among those of the pair, from the first name to the second
    name: Indices
    first: Indices  # (pairs,) how many are on the side of the first name
    size: Indices  # (pairs,) how many there are

    @classmethod
    def of(cls, told: Tellings) -> _Skeletons:
        side, pair, token = told.below
        classes = told.trees.classes
        kept = (~told.is_own(pair, token) & (classes.sizes[token] > 0)).nonzero()[0]
        side, pair = side[kept], pair[kept]
        row = side * len(told) + pair
        counts = np.bincount(row, minlength=2 * len(told))
        rank = np.arange(len(row)) - offsets(counts)[row]
        first, second = counts.reshape(2, -1)
        size = first + second
        place = np.where(side, size[pair] - 1 - rank, rank)
        return cls(side, pair, place, classes.first(token[kept]), first, size)

    def around(
        self, before: Sequence[Indices | int], middle: Sequence[Indices | int]
    ) -> Indices:  # (pairs, most)
        """Rows with columns before them and in their middle; behind its end a row holds -1."""
        start, every = len(before), np.arange(len(self.size))
        width = start + len(middle) + int(self.size.max(initial=0))
        table = np.full((len(every), width), -1, dtype=np.intp)
        for place, column in enumerate(before):
            table[:, place] = column
        for place, column in enumerate(middle):
            table[every, start + self.first + place] = column
        table[self.pair, start + self.place + self.side * len(middle)] = self.name
        return table


def _ways(told: Tellings, found: Occurrences) -> None:
    """Words between a name and the top."""
    side, pair, token = told.below
    free = (~told.is_own(pair, token)).nonzero()[0]
    side, pair, token = side[free], pair[free], token[free]
    at, name = told.names(pair, token)
    side, pair = found.lexicon.all(SIDES)[side[at]], pair[at]
    found.add("way", pair, side, name, told.trees.relation[token[at]])
    found.add("way", pair, side, name)
    at, top = told.kinds.of_each(pair)
    pair = pair[at]
    found.add("way to top", pair, side[at], name[at], top, told.voice[pair])


def _beside(told: Tellings, found: Occurrences) -> None:
    """Words of events that hang on the path."""
    children, relation = told.trees.classed_children, told.trees.relation
    side, pair, token = told.below
    at, child = children.of_each(token)
    aside = (~told.on_path(pair[at], child)).nonzero()[0]
    at, child = at[aside], child[aside]
    side, pair = found.lexicon.all(SIDES)[side[at]], pair[at]
    at, name = told.classes(pair, child)
    found.add("beside", pair[at], side[at], name, relation[child[at]])

    pair, child = children.of_each(told.top)
    aside = (~told.on_path(pair, child) & ~told.is_own(pair, child)).nonzero()[0]
    pair, child = pair[aside], child[aside]
    at, name = told.names(pair, child)
    found.add("beside top", pair[at], name, relation[child[at]])


def _triggers(told: Tellings, found: Occurrences) -> None:
    triggers = told.triggers
    pair, place = spread(triggers.starts[:-1], np.minimum(triggers.sizes, FEW))
    token = triggers.values[place]
    on_path = found.lexicon("path")
    where = np.where(told.on_path(pair, token), on_path, told.side_of(pair, token))
    at, kind = told.trees.kinds.of_each(token)
    found.add("event", pair[at], kind, where[at])
    best = (place == triggers.starts[pair]).nonzero()[0]
    pair, where = pair[best], where[best]
    at, name = told.names(pair, token[best])
    found.add("trigger", pair[at], name, where[at])
    found.add("trigger", pair[at], name)


def _between(told: Tellings, found: Occurrences) -> None:
    """The words between two names where they are few, and the classes of all of them."""
    own, kinds, classed = told.layout, told.trees.kinds, told.trees.classed
    rows, cells = own.middles
    words, token = np.where(cells >= 0, own.seen[cells], -1), own.token[cells]
    some = (kinds.sizes[token] > 0) & (cells >= 0)
    words[some] = kinds.first(token[some])
    found.padded("between", rows, words)

    pair, place = told.trees.in_sentences(classed)
    token = classed[place]
    inside = (own.begin[pair] < token) & (token < own.end[pair])
    pair, token = pair[inside], token[inside]
    at, name = told.classes(pair, token)
    found.add("class between", pair[at], name)
