"""Denial and doubt: cue words by class, and how they stand to the path between two names."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from textrank.representations.pairs.occurrences import Lexicon, Occurrences
from textrank.representations.pairs.statement_words import CUES
from textrank.representations.pairs.telling import Tellings, Told
from textrank.types import Indices

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
