"""Denial and doubt: cue words by class, and how they stand to the path between two names."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np
import scipy.sparse as sp

from textrank._ragged import expand, factorize, lengths, offsets
from textrank.features import Features, Indices, Vector
from textrank.tasks.ppi._trees import Tellings, Told
from textrank.tasks.ppi.pairs import Layout, Lexicon, Occurrences
from textrank.tasks.ppi.vocabulary import CUES

HIGH = 3  # steps above the top of the path that are followed
LONGEST = 2 + HIGH  # words by which a cue stands: what it does, steps, and its own relation
OPENINGS = ("to", "in", "we")  # first words worth telling apart, besides cues
PARTS = ("neither", "first", "second", "both")


@dataclass(frozen=True, kw_only=True)
class StatementCues(Told):
    """Which words deny or doubt, each by its class and its place in the tree, present or absent.

    A cue stands on the path between the names, at a word of it, above its top, beside a word above
    it, or below a word beside the path; which relations lead there is part of the feature, so that
    "no binding", "failed to bind" and "binding was not seen" are three features that other verbs
    and other names share. Each cue is named by its class and by its own word.
    """

    def tell(self, told: Tellings, found: Occurrences) -> None:
        """Adds what is told of pairs."""
        _openings(told, found)
        _Cues.of(told).add_to(found)


def _openings(told: Tellings, found: Occurrences) -> None:
    """How a sentence begins, and whether it asks."""
    own = told.layout
    begins = [c.stems[0] for c in own.contexts]
    words = [word if word in CUES or word in OPENINGS else "other" for word in begins]
    found.add("opening", np.arange(len(told)), own.lexicon.all(words)[own.sentence])
    asks = np.array([c.texts[-1] == "?" for c in own.contexts], dtype=bool)
    found.add("question mark", asks[own.sentence].nonzero()[0])


@dataclass(frozen=True, eq=False)
class _Cues:
    """The cues in the sentence of each pair, and how they stand to its path."""

    told: Tellings
    pair: Indices
    token: Indices
    number: Indices  # which of the cues of the batch

    @classmethod
    def of(cls, told: Tellings) -> _Cues:
        tokens, _ = told.trees.cues
        pair, number = told.trees.in_sentences(tokens)
        return cls(told, pair, tokens[number], number)

    @property
    def lexicon(self) -> Lexicon:
        return self.told.layout.lexicon

    def add_to(self, found: Occurrences) -> None:
        """All features; the first way to say how a cue stands is the most exact."""
        if not len(self.pair):
            return
        at, name = self.told.trees.cues[1].of_each(self.number)
        pair = self.pair[at]
        exact = self.standings[0]
        for standing in self.standings:
            some = (standing[at, 0] >= 0).nonzero()[0]
            words = np.column_stack([name[some], standing[at[some]]])
            found.padded("cue", pair[some], words)
        found.add("cue side", pair, name, self.side[at])
        found.add("cue", pair, name)
        near = (exact[at, 0] != self.lexicon("elsewhere")).nonzero()[0]
        found.add("cue with", pair[near], name[near], exact[at[near], 0], self._kind()[pair[near]])

    @cached_property
    def side(self) -> Indices:
        return self.told.side_of(self.pair, self.token)

    @cached_property
    def standings(self) -> Indices:  # (3, cues, LONGEST)
        """Each cue in up to three ways, from the most exact to the least."""
        found = np.full((3, len(self.pair), LONGEST), -1, dtype=np.intp)
        rest = np.arange(len(self.pair))
        for part in (self._on_path, self._at, self._above, self._beneath, self._elsewhere):
            if len(rest):
                rest = part(found, rest)
        return found

    @cached_property
    def head(self) -> Indices:
        return self.told.trees.heads[self.token]

    def _on_path(self, found: Indices, rest: Indices) -> Indices:
        """Tells of cues on the path; gives those that are left, as the next ones do."""
        place = self._places(self.pair[rest], self.token[rest])
        some = rest[place >= 0]
        _fill(found[0], some, self.lexicon("on path"), place[place >= 0], self._relation(some))
        return rest[place < 0]

    def _at(self, found: Indices, rest: Indices) -> Indices:
        """Those that hang on the path."""
        head = self.head
        place = self._places(self.pair[rest], head[rest])
        some, at = rest[place >= 0], place[place >= 0]
        columns = self.lexicon("at"), at, self._relation(some), self._part(some, head[some])
        for standing, size in zip(found, (4, 3, 2), strict=True):
            _fill(standing, some, *columns[:size])
        return rest[place < 0]

    def _above(self, found: Indices, rest: Indices) -> Indices:
        """Those above the top, or beside a word above it."""
        heads, relation = self.told.trees.heads, self.told.trees.relation
        up = np.empty((HIGH + 1, len(rest)), dtype=np.intp)
        up[0] = self.told.top[self.pair[rest]]
        for step in range(HIGH):
            up[step + 1] = heads[up[step]]
        risen = up[1:] != up[:-1]  # a root is its own head
        itself, beside = ((up[1:] == t[rest]) & risen for t in (self.token, self.head))
        itself_at, beside_at = itself.any(axis=0), beside.any(axis=0)
        some = (itself_at | beside_at).nonzero()[0]
        steps = np.where(itself_at, itself.argmax(axis=0), beside.argmax(axis=0))[some]
        rows, also = rest[some], np.where(itself_at[some], -1, self._relation(rest[some]))
        titles = self.lexicon.all(("above", "beside above"))[(also >= 0).view(np.int8)]
        along = relation[up[:, some]]
        found[:, rows, 0] = titles
        for step in range(HIGH):
            found[0, rows, 1 + step] = np.where(step <= steps, along[step], -1)
        found[0, rows, 2 + steps] = also
        counts = self.lexicon.all(map(str, range(1, HIGH + 1)))
        _fill(found[1, :, 1:], rows, counts[steps], along[steps, np.arange(len(rows))], also)
        _fill(found[2, :, 1:], rows, along[0], also)
        return np.delete(rest, some)

    def _beneath(self, found: Indices, rest: Indices) -> Indices:
        """Those that hang on a word beside the path."""
        over = self.head[rest]
        beyond = self.told.trees.heads[over]
        place = self._places(self.pair[rest], beyond)
        on = (place >= 0).nonzero()[0]
        some, below, way = rest[on], self.lexicon("below"), self.told.trees.relation[over[on]]
        _fill(found[0], some, below, place[on], way, self._relation(some))
        _fill(found[1], some, below, place[on], way)
        _fill(found[2], some, below, way, self._part(some, beyond[on]))
        return rest[place < 0]

    def _elsewhere(self, found: Indices, rest: Indices) -> Indices:
        _fill(found[0], rest, self.lexicon("elsewhere"), self.side[rest])
        return rest[:0]

    def _relation(self, some: Indices) -> Indices:
        return self.told.trees.relation[self.token[some]]

    def _places(self, pair: Indices, token: Indices) -> Indices:
        """What words of the path are, and the likeliest trigger; -1 for others."""
        told, lexicon = self.told, self.lexicon
        kind = np.where(told.is_own(pair, token), lexicon("name"), lexicon("path"))
        place = np.where(told.on_path(pair, token), kind, -1)
        place[token == told.likeliest[pair]] = lexicon("trigger")
        place[token == told.top[pair]] = lexicon("top")
        return place

    def _part(self, some: Indices, token: Indices) -> Indices:
        """Whether words lie on the way up from the first name, from the second, or on both."""
        told = self.told
        cell = token + told.layout.shift[self.pair[some]]
        return self.lexicon.all(PARTS)[told.on_way[cell]]

    def _kind(self) -> Indices:
        """What happens, by the likeliest trigger, or by the top where there is none."""
        told = self.told
        every = np.arange(len(told))
        kinds = told.trees.kinds
        found = np.full(len(told), self.lexicon("other"), dtype=np.intp)
        some = (kinds.sizes[told.likeliest] > 0) & ~told.is_own(every, told.likeliest)
        found[some] = kinds.first(told.likeliest[some])
        return found


def _fill(table: Indices, rows: Indices, *columns: Indices | int) -> None:
    for place, column in enumerate(columns):
        table[rows, place] = column


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
    pair, place = expand(triggers.starts[:-1], np.minimum(triggers.sizes, FEW))
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


WINDOW = 6  # tokens to either side in which a word of events is looked for
STATEMENT_SIDES_FEW = 2  # words of events whose order with the name counts
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
        at, place = expand(own.indptr.astype(np.intp)[lists], size)
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
    codes, number = factorize(begin * width + end - begin)
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
    way, place = expand(ways.starts[:-1] + 1, np.maximum(ways.sizes - 2, 0))
    token = ways.values[place]
    at, name = trees.named.of_each(token)
    row, token = rows[way[at]], token[at]
    found.add("way", row, name)
    found.add("way", row, name, trees.relation[token])
    found.add("way", row, name, found.lexicon("ending"), trees.ending[token])
    _governors(told, found, rows)
    _statement_sides_beside(told, found, rows)
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


def _statement_sides_beside(told: Tellings, found: Occurrences, rows: Indices) -> None:
    """Words of events that hang on ways."""
    trees, ways = told.trees, told.ways.tokens
    way, place = expand(ways.starts[:-1], ways.sizes - 1)
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
    pair, place = expand(triggers.starts[:-1], np.minimum(triggers.sizes, STATEMENT_SIDES_FEW))
    event = triggers.values[place]
    keys = np.zeros((2, len(told), STATEMENT_SIDES_FEW), dtype=np.intp)
    for side, begin in enumerate(told.starts):
        first, top = begin[pair] < event, event == told.top[pair]
        code = ((2 * event + first) * 2 + top) * 2 + told.on_path(pair, event)
        keys[side, pair, place - triggers.starts[pair]] = code + 1
    codes, number = factorize((keys @ (every ** np.arange(STATEMENT_SIDES_FEW))).ravel())
    known = codes // every ** np.arange(STATEMENT_SIDES_FEW)[:, None] % every
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
