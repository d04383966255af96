"""The part of each name for itself: what leads from it to the top, and the words next to it.

The same facts are told of the first name and of the second. Their sum does not change when the
names change places and says what happens; their difference changes its sign and says who does it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import scipy.sparse as sp

from textrank.representations.pairs.layout import Layout
from textrank.representations.pairs.occurrences import Occurrences
from textrank.representations.pairs.telling import Tellings
from textrank.types import Features, Indices, Vector
from textrank.types.ragged import lengths, numbered, spread

WINDOW = 6  # tokens to either side in which a word of events is looked for
FEW = 2  # words of events whose order with the name counts
NEXT = 3  # words to either side that are told


@dataclass(frozen=True, eq=False)
class Sides:
    """What two names of each pair have in common, and in what they differ.

    Facts are of a name, of its way to the top, or of its order with words of events. Most belong
    to several pairs, so each list of facts is made once, and what is told of a pair is a sum.
    """

    facts: Features  # a row a list
    lists: Indices  # (pairs, 2, 3) those of the first name and of the second

    @classmethod
    def of(cls, told: Tellings) -> Sides:
        """Those of pairs in their trees."""
        found = Occurrences(told.layout.lexicon, 0)
        lists = _lists(told, found)
        return cls(found.features(once=True), lists)

    @property
    def same(self) -> Features:
        """A fact told of both names counts twice."""
        return self._sum(1.0)

    @property
    def turned(self) -> Features:
        """A fact told of the first name counts plus, of the second minus."""
        return self._sum(-1.0)

    def squares(self) -> tuple[Vector, Vector]:
        """The squared lengths of the rows of both, without either: (a ± b)² = a² + b² ± 2ab."""
        n, _, kinds = self.lists.shape
        own, lists = self.facts.cells, self.lists.reshape(2 * n * kinds)
        size = lengths(own.indptr)[lists]
        at, place = spread(own.indptr.astype(np.intp)[lists], size)
        facts = at // (2 * kinds) * own.shape[1] + own.indices[place]
        facts.sort()
        shared = facts[1:][facts[1:] == facts[:-1]] // own.shape[1]
        both = 2.0 * np.bincount(shared, minlength=n)
        alone = size.reshape(n, 2 * kinds).sum(axis=1)
        return alone + both, alone - both

    def _sum(self, sign: float) -> Features:
        n, _, kinds = self.lists.shape
        signs = np.tile(np.repeat([1.0, sign], kinds), n)
        cells = signs, self.lists.ravel(), np.arange(0, self.lists.size + 1, 2 * kinds)
        found = sp.csr_array(cells, shape=(n, len(self.facts))) @ self.facts.values
        found.eliminate_zeros()
        found.sort_indices()
        return Features(found, self.facts.names)


@dataclass(frozen=True, kw_only=True)
class NameFacts:
    """What is told of names, in rows below those of pairs."""

    once: ClassVar[bool] = True

    def meet(self, own: Layout, found: Occurrences) -> None:
        """Adds the facts, and which of their lists are whose."""
        found.shared[found.view] = _lists(own.once(Tellings.of), found)


def _lists(told: Tellings, found: Occurrences) -> Indices:  # (pairs, 2, 3)
    """Adds lists of facts; which three are of the first name, and which three of the second."""
    lists = np.empty((len(told), 2, 3), dtype=np.intp)
    for kind, part in enumerate((_around, _upwards, _ordered)):
        lists[:, :, kind] = part(told, found).reshape(2, len(told)).T
    return lists


def _around(told: Tellings, found: Occurrences) -> Indices:
    """Words next to names, and the nearest words of events; the row of each name."""
    own, trees = told.layout, told.trees
    begin, end = np.concatenate(told.starts), np.concatenate(told.ends)
    width = int((end - begin).max(initial=0)) + 1
    codes, number = numbered(begin * width + end - begin)
    begin, length = np.divmod(codes, width)
    end, rows = begin + length, found.below(len(codes))
    steps = np.append(np.arange(-NEXT, 0), np.arange(1, NEXT + 1))
    tokens = np.where(steps < 0, begin[:, None], end[:, None]) + steps
    for before, after, values, most in (
        ("previous", "next", own.word, 2),
        ("classes before", "classes after", trees.outline, NEXT),
    ):
        words = _framed(told, values, tokens, begin)
        for size in range(1, most + 1):
            found.add(before, rows, *words[:, NEXT - size : NEXT].T)
            found.add(after, rows, *words[:, NEXT : NEXT + size].T)
    _nearest(told, found, rows, begin, end)
    return rows[number]


def _framed(told: Tellings, values: Indices, tokens: Indices, within: Indices) -> Indices:
    """What tokens are, a sign for those outside of the sentence that a token of each row is in."""
    own = told.layout
    sentence = own.sentence_of[within][:, None]
    found = values[tokens.clip(0, len(values) - 1)]
    found[tokens < own.starts[sentence]] = own.lexicon("<")
    found[tokens >= own.starts[sentence + 1]] = own.lexicon(">")
    return found


def _nearest(
    told: Tellings, found: Occurrences, rows: Indices, begin: Indices, end: Indices
) -> None:
    """The words of events next to names, on both sides."""
    own, trees = told.layout, told.trees
    known = np.concatenate([[-1], trees.events, [len(trees.heads)]])
    left = known[np.searchsorted(known, begin) - 1]
    right = known[np.searchsorted(known, end, side="right")]
    sentence = own.sentence_of[begin]
    near = (
        left >= np.maximum(begin - WINDOW, own.starts[sentence]),
        right <= np.minimum(end + WINDOW, own.starts[sentence + 1] - 1),
    )
    side, name = np.nonzero(near)
    event = np.stack([left, right])[side, name]
    at, called = trees.named.of_each(event)
    where, row = own.lexicon.all(("left", "right"))[side[at]], rows[name[at]]
    found.add("nearest", row, where, called)
    found.add("nearest", row, where, called, trees.ending[event[at]])


def _upwards(told: Tellings, found: Occurrences) -> Indices:
    """From names up to the top; the row of the way of each name."""
    trees, ways, top, part = told.trees, told.ways.tokens, told.tops, told.reached[0]
    rows, voice, ends = found.below(len(top)), trees.voice[top], trees.ending[top]
    found.add("part", rows, part)
    found.add("part", rows, part, voice)
    found.add("part", rows, part, voice, found.lexicon("ending"), ends)
    found.add("part", rows, part, voice, trees.named.first(top), ends)
    at, name = trees.named.of_each(top)
    found.add("part", rows[at], part[at], voice[at], name)
    found.add("end", rows, told.end)
    way, place = spread(ways.starts[:-1] + 1, np.maximum(ways.sizes - 2, 0))
    token = ways.values[place]
    at, name = trees.named.of_each(token)
    row, token = rows[way[at]], token[at]
    found.add("way", row, name)
    found.add("way", row, name, trees.relation[token])
    found.add("way", row, name, found.lexicon("ending"), trees.ending[token])
    _governors(told, found, rows)
    _beside(told, found, rows)
    return rows[told.ways.of]


def _governors(told: Tellings, found: Occurrences, rows: Indices) -> None:
    """The words that names hang on, below the top."""
    trees, ways = told.trees, told.ways.tokens
    some = (ways.sizes > 2).nonzero()[0]
    governor, rows, relation = ways.values[ways.starts[some] + 1], rows[some], told.end[some]
    ends = trees.ending[governor]
    found.add("governor", rows, ends, relation)
    at, name = trees.named.of_each(governor)
    found.add("governor", rows[at], name, relation[at])
    found.add("governor", rows[at], name, relation[at], ends[at])


def _beside(told: Tellings, found: Occurrences, rows: Indices) -> None:
    """Words of events that hang on ways."""
    trees, ways = told.trees, told.ways.tokens
    way, place = spread(ways.starts[:-1], ways.sizes - 1)
    at, child = trees.classed_children.of_each(ways.values[place])
    way, place = way[at], place[at]
    aside = ((place == ways.starts[way]) | (child != ways.values[place - 1])).nonzero()[0]
    way, child = way[aside], child[aside]
    at, name = trees.classes.of_each(child)
    row, child = rows[way[at]], child[at]
    found.add("beside", row, name, trees.relation[child])
    found.add("beside", row, name, found.lexicon("ending"), trees.ending[child])


def _ordered(told: Tellings, found: Occurrences) -> Indices:
    """Whether names come before words of events; the row of each name in its pair."""
    triggers, every = told.triggers, 8 * len(told.trees.heads) + 1
    pair, place = spread(triggers.starts[:-1], np.minimum(triggers.sizes, FEW))
    event = triggers.values[place]
    keys = np.zeros((2, len(told), FEW), dtype=np.intp)
    for side, begin in enumerate(told.starts):
        first, top = begin[pair] < event, event == told.top[pair]
        code = ((2 * event + first) * 2 + top) * 2 + told.on_path(pair, event)
        keys[side, pair, place - triggers.starts[pair]] = code + 1
    codes, number = numbered((keys @ (every ** np.arange(FEW))).ravel())
    known = codes // every ** np.arange(FEW)[:, None] % every
    place, row = known.nonzero()
    rows = found.below(len(codes))
    _order(told, found, rows[row], known[place, row] - 1)
    return rows[number]


def _order(told: Tellings, found: Occurrences, rows: Indices, keys: Indices) -> None:
    """Events by number, and whether the name comes first, the event is top, is on the path."""
    trees, lexicon = told.trees, found.lexicon
    event, first, top, on_path = keys // 8, keys // 4 % 2, keys // 2 % 2, keys % 2
    order = lexicon.all(("name later", "name first"))[first]
    form = np.where(top, trees.voice[event], told.layout.tag[event])
    at, name = trees.named.of_each(event)
    found.add("order", rows[at], name, order[at], form[at])
    where = lexicon.all(("elsewhere", "path"))[on_path]
    found.add("order", rows, trees.kinds.first(event), order, trees.ending[event], where)
