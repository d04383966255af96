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
from textrank.tasks.ppi._trees import PairTrees, TreeFeatures
from textrank.tasks.ppi.pairs import FeatureCounter, Lexicon, PairArrays
from textrank.tasks.ppi.vocabulary import CUE_CLASSES

MAX_STEPS_ABOVE = 3  # steps above the top of the path that are followed
MAX_CUE_PARTS = (
    2 + MAX_STEPS_ABOVE
)  # words by which a cue stands: what it does, steps, and its own relation
OPENING_WORDS = ("to", "in", "we")  # first words worth telling apart, besides cues
PATH_PARTS = ("neither", "first", "second", "both")


@dataclass(frozen=True, kw_only=True)
class StatementCues(TreeFeatures):
    """Which words deny or doubt, each by its class and its place in the tree, present or absent.

    A cue stands on the path between the names, at a word of it, above its top, beside a word above
    it, or below a word beside the path; which relations lead there is part of the feature, so that
    "no binding", "failed to bind" and "binding was not seen" are three features that other verbs
    and other names share. Each cue is named by its class and by its own word.
    """

    def extract_from_trees(self, told: PairTrees, found: FeatureCounter) -> None:
        """Adds what is told of pairs."""
        _add_openings(told, found)
        _Cues.from_trees(told).add_to(found)


def _add_openings(told: PairTrees, found: FeatureCounter) -> None:
    """How a sentence begins, and whether it asks."""
    own = told.arrays
    begins = [c.stems[0] for c in own.contexts]
    words = [word if word in CUE_CLASSES or word in OPENING_WORDS else "other" for word in begins]
    found.add("opening", np.arange(len(told)), own.lexicon.encode(words)[own.sentence_index])
    asks = np.array([c.texts[-1] == "?" for c in own.contexts], dtype=bool)
    found.add("question mark", asks[own.sentence_index].nonzero()[0])


@dataclass(frozen=True, eq=False)
class _Cues:
    """The cues in the sentence of each pair, and how they stand to its path."""

    trees: PairTrees
    pair_index: Indices
    token: Indices
    cue_index: Indices  # which of the cues of the batch

    @classmethod
    def from_trees(cls, told: PairTrees) -> _Cues:
        tokens, _ = told.nodes.cues
        pair, number = told.nodes.by_pair(tokens)
        return cls(told, pair, tokens[number], number)

    @property
    def lexicon(self) -> Lexicon:
        return self.trees.arrays.lexicon

    def add_to(self, found: FeatureCounter) -> None:
        """All features; the first way to say how a cue stands is the most exact."""
        if not len(self.pair_index):
            return
        at, name = self.trees.nodes.cues[1].gather(self.cue_index)
        pair = self.pair_index[at]
        exact = self.placements[0]
        for standing in self.placements:
            some = (standing[at, 0] >= 0).nonzero()[0]
            words = np.column_stack([name[some], standing[at[some]]])
            found.add_padded("cue", pair[some], words)
        found.add("cue side", pair, name, self.position[at])
        found.add("cue", pair, name)
        near = (exact[at, 0] != self.lexicon("elsewhere")).nonzero()[0]
        found.add(
            "cue with", pair[near], name[near], exact[at[near], 0], self._event_type()[pair[near]]
        )

    @cached_property
    def position(self) -> Indices:
        return self.trees.position_label(self.pair_index, self.token)

    @cached_property
    def placements(self) -> Indices:  # (3, cues, LONGEST)
        """Each cue in up to three ways, from the most exact to the least."""
        found = np.full((3, len(self.pair_index), MAX_CUE_PARTS), -1, dtype=np.intp)
        rest = np.arange(len(self.pair_index))
        for part in (
            self._place_on_path,
            self._place_below_path,
            self._place_above_top,
            self._place_two_below_path,
            self._place_elsewhere,
        ):
            if len(rest):
                rest = part(found, rest)
        return found

    @cached_property
    def head(self) -> Indices:
        return self.trees.nodes.heads[self.token]

    def _place_on_path(self, found: Indices, rest: Indices) -> Indices:
        """Tells of cues on the path; gives those that are left, as the next ones do."""
        place = self._path_roles(self.pair_index[rest], self.token[rest])
        some = rest[place >= 0]
        _fill_columns(
            found[0], some, self.lexicon("on path"), place[place >= 0], self._relation(some)
        )
        return rest[place < 0]

    def _place_below_path(self, found: Indices, rest: Indices) -> Indices:
        """Those that hang on the path."""
        head = self.head
        place = self._path_roles(self.pair_index[rest], head[rest])
        some, at = rest[place >= 0], place[place >= 0]
        columns = self.lexicon("at"), at, self._relation(some), self._path_part(some, head[some])
        for standing, size in zip(found, (4, 3, 2), strict=True):
            _fill_columns(standing, some, *columns[:size])
        return rest[place < 0]

    def _place_above_top(self, found: Indices, rest: Indices) -> Indices:
        """Those above the top, or beside a word above it."""
        heads, relation = self.trees.nodes.heads, self.trees.nodes.relations
        up = np.empty((MAX_STEPS_ABOVE + 1, len(rest)), dtype=np.intp)
        up[0] = self.trees.top[self.pair_index[rest]]
        for step in range(MAX_STEPS_ABOVE):
            up[step + 1] = heads[up[step]]
        risen = up[1:] != up[:-1]  # a root is its own head
        itself, beside = ((up[1:] == t[rest]) & risen for t in (self.token, self.head))
        itself_at, beside_at = itself.any(axis=0), beside.any(axis=0)
        some = (itself_at | beside_at).nonzero()[0]
        steps = np.where(itself_at, itself.argmax(axis=0), beside.argmax(axis=0))[some]
        rows, also = rest[some], np.where(itself_at[some], -1, self._relation(rest[some]))
        titles = self.lexicon.encode(("above", "beside above"))[(also >= 0).view(np.int8)]
        along = relation[up[:, some]]
        found[:, rows, 0] = titles
        for step in range(MAX_STEPS_ABOVE):
            found[0, rows, 1 + step] = np.where(step <= steps, along[step], -1)
        found[0, rows, 2 + steps] = also
        counts = self.lexicon.encode(map(str, range(1, MAX_STEPS_ABOVE + 1)))
        _fill_columns(
            found[1, :, 1:], rows, counts[steps], along[steps, np.arange(len(rows))], also
        )
        _fill_columns(found[2, :, 1:], rows, along[0], also)
        return np.delete(rest, some)

    def _place_two_below_path(self, found: Indices, rest: Indices) -> Indices:
        """Those that hang on a word beside the path."""
        over = self.head[rest]
        beyond = self.trees.nodes.heads[over]
        place = self._path_roles(self.pair_index[rest], beyond)
        on = (place >= 0).nonzero()[0]
        some, below, way = rest[on], self.lexicon("below"), self.trees.nodes.relations[over[on]]
        _fill_columns(found[0], some, below, place[on], way, self._relation(some))
        _fill_columns(found[1], some, below, place[on], way)
        _fill_columns(found[2], some, below, way, self._path_part(some, beyond[on]))
        return rest[place < 0]

    def _place_elsewhere(self, found: Indices, rest: Indices) -> Indices:
        _fill_columns(found[0], rest, self.lexicon("elsewhere"), self.position[rest])
        return rest[:0]

    def _relation(self, some: Indices) -> Indices:
        return self.trees.nodes.relations[self.token[some]]

    def _path_roles(self, pair: Indices, token: Indices) -> Indices:
        """What words of the path are, and the likeliest trigger; -1 for others."""
        told, lexicon = self.trees, self.lexicon
        kind = np.where(told.is_entity(pair, token), lexicon("name"), lexicon("path"))
        place = np.where(told.is_on_path(pair, token), kind, -1)
        place[token == told.likeliest_trigger[pair]] = lexicon("trigger")
        place[token == told.top[pair]] = lexicon("top")
        return place

    def _path_part(self, some: Indices, token: Indices) -> Indices:
        """Whether words lie on the way up from the first name, from the second, or on both."""
        told = self.trees
        cell = token + told.arrays.offset[self.pair_index[some]]
        return self.lexicon.encode(PATH_PARTS)[told.path_sides[cell]]

    def _event_type(self) -> Indices:
        """What happens, by the likeliest trigger, or by the top where there is none."""
        told = self.trees
        every = np.arange(len(told))
        kinds = told.nodes.event_types
        found = np.full(len(told), self.lexicon("other"), dtype=np.intp)
        some = (kinds.sizes[told.likeliest_trigger] > 0) & ~told.is_entity(
            every, told.likeliest_trigger
        )
        found[some] = kinds.first(told.likeliest_trigger[some])
        return found


def _fill_columns(table: Indices, rows: Indices, *columns: Indices | int) -> None:
    for place, column in enumerate(columns):
        table[rows, place] = column


MAX_TRIGGERS = 4  # words of events that are looked at
ENTITY_NAMES = ("first", "second")


@dataclass(frozen=True, kw_only=True)
class StatementRoles(TreeFeatures):
    """What happens between two names and which part each plays, present or absent.

    The top of the path with its voice and the relations by which each name is reached; the words
    on both paths up and beside them; classes along the whole path as one skeleton ("loss, subject,
    ^activation^, object, level"); the likeliest trigger. Words are named by their classes and by
    themselves, so that "knockdown of A impairs B" is like "deletion of A reduces B".
    """

    def extract_from_trees(self, told: PairTrees, found: FeatureCounter) -> None:
        """Adds what is told of pairs."""
        for part in (
            _add_top,
            _add_skeletons,
            _add_path_words,
            _add_path_children,
            _add_triggers,
            _add_middle,
        ):
            part(told, found)


def _add_top(told: PairTrees, found: FeatureCounter) -> None:
    every, voice = np.arange(len(told)), told.voice
    one, two = told.roles[0][told.ancestor_paths.path_index]
    found.add("parts", every, voice, one, two)
    found.add("ends", every, *told.first_relation[told.ancestor_paths.path_index])
    pair, name = told.labels_of(every, told.top)
    one, two, voice = one[pair], two[pair], voice[pair]
    found.add("top", pair, name, _top_tag_letters(told)[pair])
    found.add("top", pair, name, voice)
    found.add("top with both", pair, name, voice, one, two)
    found.add("top with first", pair, name, voice, one)
    found.add("top with second", pair, name, voice, two)


def _top_tag_letters(told: PairTrees) -> Indices:
    """The first letter of the part of speech of each top."""
    own = told.arrays
    known, place = np.unique(own.token_tags[told.top], return_inverse=True)
    words = own.lexicon.words()
    return own.lexicon.encode(words[tag][:1] for tag in known.tolist())[place]


def _add_skeletons(told: PairTrees, found: FeatureCounter) -> None:
    """Classes from name to name, with and without the relations to the top."""
    every, own = np.arange(len(told)), _Skeletons.from_trees(told)
    kind, sign = told.top_classes.first(every), found.lexicon("^")
    one, two = told.roles[1][told.ancestor_paths.path_index]
    found.add_padded("skeleton", every, own.table([], [sign, kind, sign]))
    found.add_padded("parts in", every, own.table([told.voice], [one, sign, kind, sign, two]))


@dataclass(frozen=True, eq=False)
class _Skeletons:
    """The first class of each word on the way from name to name, without the top."""

    side: Indices
    pair: Indices
    position: Indices  # among those of the pair, from the first name to the second
    class_name: Indices
    first_sizes: Indices  # (pairs,) how many are on the side of the first name
    sizes: Indices  # (pairs,) how many there are

    @classmethod
    def from_trees(cls, told: PairTrees) -> _Skeletons:
        side, pair, token = told.tokens_below_top
        classes = told.nodes.classes
        kept = (~told.is_entity(pair, token) & (classes.sizes[token] > 0)).nonzero()[0]
        side, pair = side[kept], pair[kept]
        row = side * len(told) + pair
        counts = np.bincount(row, minlength=2 * len(told))
        rank = np.arange(len(row)) - offsets(counts)[row]
        first, second = counts.reshape(2, -1)
        size = first + second
        place = np.where(side, size[pair] - 1 - rank, rank)
        return cls(side, pair, place, classes.first(token[kept]), first, size)

    def table(
        self, before: Sequence[Indices | int], middle: Sequence[Indices | int]
    ) -> Indices:  # (pairs, most)
        """Rows with columns before them and in their middle; behind its end a row holds -1."""
        start, every = len(before), np.arange(len(self.sizes))
        width = start + len(middle) + int(self.sizes.max(initial=0))
        table = np.full((len(every), width), -1, dtype=np.intp)
        for place, column in enumerate(before):
            table[:, place] = column
        for place, column in enumerate(middle):
            table[every, start + self.first_sizes + place] = column
        table[self.pair, start + self.position + self.side * len(middle)] = self.class_name
        return table


def _add_path_words(told: PairTrees, found: FeatureCounter) -> None:
    """Words between a name and the top."""
    side, pair, token = told.tokens_below_top
    free = (~told.is_entity(pair, token)).nonzero()[0]
    side, pair, token = side[free], pair[free], token[free]
    at, name = told.labels_of(pair, token)
    side, pair = found.lexicon.encode(ENTITY_NAMES)[side[at]], pair[at]
    found.add("way", pair, side, name, told.nodes.relations[token[at]])
    found.add("way", pair, side, name)
    at, top = told.top_classes.gather(pair)
    pair = pair[at]
    found.add("way to top", pair, side[at], name[at], top, told.voice[pair])


def _add_path_children(told: PairTrees, found: FeatureCounter) -> None:
    """Words of events that hang on the path."""
    children, relation = told.nodes.classed_children, told.nodes.relations
    side, pair, token = told.tokens_below_top
    at, child = children.gather(token)
    aside = (~told.is_on_path(pair[at], child)).nonzero()[0]
    at, child = at[aside], child[aside]
    side, pair = found.lexicon.encode(ENTITY_NAMES)[side[at]], pair[at]
    at, name = told.classes_of(pair, child)
    found.add("beside", pair[at], side[at], name, relation[child[at]])

    pair, child = children.gather(told.top)
    aside = (~told.is_on_path(pair, child) & ~told.is_entity(pair, child)).nonzero()[0]
    pair, child = pair[aside], child[aside]
    at, name = told.labels_of(pair, child)
    found.add("beside top", pair[at], name, relation[child[at]])


def _add_triggers(told: PairTrees, found: FeatureCounter) -> None:
    triggers = told.triggers
    pair, place = expand(triggers.starts[:-1], np.minimum(triggers.sizes, MAX_TRIGGERS))
    token = triggers.values[place]
    on_path = found.lexicon("path")
    where = np.where(told.is_on_path(pair, token), on_path, told.position_label(pair, token))
    at, kind = told.nodes.event_types.gather(token)
    found.add("event", pair[at], kind, where[at])
    best = (place == triggers.starts[pair]).nonzero()[0]
    pair, where = pair[best], where[best]
    at, name = told.labels_of(pair, token[best])
    found.add("trigger", pair[at], name, where[at])
    found.add("trigger", pair[at], name)


def _add_middle(told: PairTrees, found: FeatureCounter) -> None:
    """The words between two names where they are few, and the classes of all of them."""
    own, kinds, classed = told.arrays, told.nodes.event_types, told.nodes.classed_tokens
    rows, cells = own.short_middles
    words, token = np.where(cells >= 0, own.words[cells], -1), own.token_index[cells]
    some = (kinds.sizes[token] > 0) & (cells >= 0)
    words[some] = kinds.first(token[some])
    found.add_padded("between", rows, words)

    pair, place = told.nodes.by_pair(classed)
    token = classed[place]
    inside = (own.first_token[pair] < token) & (token < own.last_token[pair])
    pair, token = pair[inside], token[inside]
    at, name = told.classes_of(pair, token)
    found.add("class between", pair[at], name)


EVENT_WINDOW_TOKENS = 6  # tokens to either side in which a word of events is looked for
MAX_ORDERED_EVENTS = 2  # words of events whose order with the name counts
NEIGHBOUR_TOKENS = 3  # words to either side that are told


@dataclass(frozen=True, eq=False)
class EntityFacts:
    """What two names of each pair have in common, and in what they differ.

    Facts are of a name, of its way to the top, or of its order with words of events. Most belong
    to several pairs, so each list of facts is made once, and what is told of a pair is a sum.
    """

    features: Features  # a row a list
    rows: Indices  # (pairs, 2, 3) those of the first name and of the second

    @classmethod
    def from_trees(cls, told: PairTrees) -> EntityFacts:
        """Those of pairs in their trees."""
        found = FeatureCounter(told.arrays.lexicon, 0)
        lists = _add_entity_facts(told, found)
        return cls(found.features(binary=True), lists)

    @property
    def sum(self) -> Features:
        """A fact told of both names counts twice."""
        return self._combine(1.0)

    @property
    def difference(self) -> Features:
        """A fact told of the first name counts plus, of the second minus."""
        return self._combine(-1.0)

    def squared_norms(self) -> tuple[Vector, Vector]:
        """The squared lengths of the rows of both, without either: (a ± b)² = a² + b² ± 2ab."""
        n, _, kinds = self.rows.shape
        own, lists = self.features.cells, self.rows.reshape(2 * n * kinds)
        size = lengths(own.indptr)[lists]
        at, place = expand(own.indptr.astype(np.intp)[lists], size)
        facts = at // (2 * kinds) * own.shape[1] + own.indices[place]
        facts.sort()
        shared = facts[1:][facts[1:] == facts[:-1]] // own.shape[1]
        both = 2.0 * np.bincount(shared, minlength=n)
        alone = size.reshape(n, 2 * kinds).sum(axis=1)
        return alone + both, alone - both

    def _combine(self, sign: float) -> Features:
        n, _, kinds = self.rows.shape
        signs = np.tile(np.repeat([1.0, sign], kinds), n)
        cells = signs, self.rows.ravel(), np.arange(0, self.rows.size + 1, 2 * kinds)
        found = sp.csr_array(cells, shape=(n, len(self.features))) @ self.features.values
        found.eliminate_zeros()
        found.sort_indices()
        return Features(found, self.features.names)


@dataclass(frozen=True, kw_only=True)
class EntityFactExtractor:
    """What is told of names, in rows below those of pairs."""

    binary: ClassVar[bool] = True

    def extract(self, own: PairArrays, found: FeatureCounter) -> None:
        """Adds the facts, and which of their lists are whose."""
        found.shared[found.view] = _add_entity_facts(own.cached(PairTrees.from_arrays), found)


def _add_entity_facts(told: PairTrees, found: FeatureCounter) -> Indices:  # (pairs, 2, 3)
    """Adds lists of facts; which three are of the first name, and which three of the second."""
    lists = np.empty((len(told), 2, 3), dtype=np.intp)
    for kind, part in enumerate((_add_neighbours, _add_ancestor_paths, _add_event_order)):
        lists[:, :, kind] = part(told, found).reshape(2, len(told)).T
    return lists


def _add_neighbours(told: PairTrees, found: FeatureCounter) -> Indices:
    """Words next to names, and the nearest words of events; the row of each name."""
    own, trees = told.arrays, told.nodes
    begin, end = np.concatenate(told.entity_starts), np.concatenate(told.entity_ends)
    width = int((end - begin).max(initial=0)) + 1
    codes, number = factorize(begin * width + end - begin)
    begin, length = np.divmod(codes, width)
    end, rows = begin + length, found.new_rows(len(codes))
    steps = np.append(np.arange(-NEIGHBOUR_TOKENS, 0), np.arange(1, NEIGHBOUR_TOKENS + 1))
    tokens = np.where(steps < 0, begin[:, None], end[:, None]) + steps
    for before, after, values, most in (
        ("previous", "next", own.token_words, 2),
        ("classes before", "classes after", trees.outline, NEIGHBOUR_TOKENS),
    ):
        words = _values_in_sentence(told, values, tokens, begin)
        for size in range(1, most + 1):
            found.add(before, rows, *words[:, NEIGHBOUR_TOKENS - size : NEIGHBOUR_TOKENS].T)
            found.add(after, rows, *words[:, NEIGHBOUR_TOKENS : NEIGHBOUR_TOKENS + size].T)
    _add_nearest_events(told, found, rows, begin, end)
    return rows[number]


def _values_in_sentence(
    told: PairTrees, values: Indices, tokens: Indices, within: Indices
) -> Indices:
    """What tokens are, a sign for those outside of the sentence that a token of each row is in."""
    own = told.arrays
    sentence = own.token_sentence[within][:, None]
    found = values[tokens.clip(0, len(values) - 1)]
    found[tokens < own.sentence_starts[sentence]] = own.lexicon("<")
    found[tokens >= own.sentence_starts[sentence + 1]] = own.lexicon(">")
    return found


def _add_nearest_events(
    told: PairTrees, found: FeatureCounter, rows: Indices, begin: Indices, end: Indices
) -> None:
    """The words of events next to names, on both sides."""
    own, trees = told.arrays, told.nodes
    known = np.concatenate([[-1], trees.event_tokens, [len(trees.heads)]])
    left = known[np.searchsorted(known, begin) - 1]
    right = known[np.searchsorted(known, end, side="right")]
    sentence = own.token_sentence[begin]
    near = (
        left >= np.maximum(begin - EVENT_WINDOW_TOKENS, own.sentence_starts[sentence]),
        right <= np.minimum(end + EVENT_WINDOW_TOKENS, own.sentence_starts[sentence + 1] - 1),
    )
    side, name = np.nonzero(near)
    event = np.stack([left, right])[side, name]
    at, called = trees.classes_and_word.gather(event)
    where, row = own.lexicon.encode(("left", "right"))[side[at]], rows[name[at]]
    found.add("nearest", row, where, called)
    found.add("nearest", row, where, called, trees.suffixes[event[at]])


def _add_ancestor_paths(told: PairTrees, found: FeatureCounter) -> Indices:
    """From names up to the top; the row of the way of each name."""
    trees, ways, top, part = told.nodes, told.ancestor_paths.tokens, told.path_tops, told.roles[0]
    rows, voice, ends = found.new_rows(len(top)), trees.voices[top], trees.suffixes[top]
    found.add("part", rows, part)
    found.add("part", rows, part, voice)
    found.add("part", rows, part, voice, found.lexicon("ending"), ends)
    found.add("part", rows, part, voice, trees.classes_and_word.first(top), ends)
    at, name = trees.classes_and_word.gather(top)
    found.add("part", rows[at], part[at], voice[at], name)
    found.add("end", rows, told.first_relation)
    way, place = expand(ways.starts[:-1] + 1, np.maximum(ways.sizes - 2, 0))
    token = ways.values[place]
    at, name = trees.classes_and_word.gather(token)
    row, token = rows[way[at]], token[at]
    found.add("way", row, name)
    found.add("way", row, name, trees.relations[token])
    found.add("way", row, name, found.lexicon("ending"), trees.suffixes[token])
    _add_governors(told, found, rows)
    _add_siblings(told, found, rows)
    return rows[told.ancestor_paths.path_index]


def _add_governors(told: PairTrees, found: FeatureCounter, rows: Indices) -> None:
    """The words that names hang on, below the top."""
    trees, ways = told.nodes, told.ancestor_paths.tokens
    some = (ways.sizes > 2).nonzero()[0]
    governor, rows, relation = (
        ways.values[ways.starts[some] + 1],
        rows[some],
        told.first_relation[some],
    )
    ends = trees.suffixes[governor]
    found.add("governor", rows, ends, relation)
    at, name = trees.classes_and_word.gather(governor)
    found.add("governor", rows[at], name, relation[at])
    found.add("governor", rows[at], name, relation[at], ends[at])


def _add_siblings(told: PairTrees, found: FeatureCounter, rows: Indices) -> None:
    """Words of events that hang on ways."""
    trees, ways = told.nodes, told.ancestor_paths.tokens
    way, place = expand(ways.starts[:-1], ways.sizes - 1)
    at, child = trees.classed_children.gather(ways.values[place])
    way, place = way[at], place[at]
    aside = ((place == ways.starts[way]) | (child != ways.values[place - 1])).nonzero()[0]
    way, child = way[aside], child[aside]
    at, name = trees.classes.gather(child)
    row, child = rows[way[at]], child[at]
    found.add("beside", row, name, trees.relations[child])
    found.add("beside", row, name, found.lexicon("ending"), trees.suffixes[child])


def _add_event_order(told: PairTrees, found: FeatureCounter) -> Indices:
    """Whether names come before words of events; the row of each name in its pair."""
    triggers, every = told.triggers, 8 * len(told.nodes.heads) + 1
    pair, place = expand(triggers.starts[:-1], np.minimum(triggers.sizes, MAX_ORDERED_EVENTS))
    event = triggers.values[place]
    keys = np.zeros((2, len(told), MAX_ORDERED_EVENTS), dtype=np.intp)
    for side, begin in enumerate(told.entity_starts):
        first, top = begin[pair] < event, event == told.top[pair]
        code = ((2 * event + first) * 2 + top) * 2 + told.is_on_path(pair, event)
        keys[side, pair, place - triggers.starts[pair]] = code + 1
    codes, number = factorize((keys @ (every ** np.arange(MAX_ORDERED_EVENTS))).ravel())
    known = codes // every ** np.arange(MAX_ORDERED_EVENTS)[:, None] % every
    place, row = known.nonzero()
    rows = found.new_rows(len(codes))
    _add_order(told, found, rows[row], known[place, row] - 1)
    return rows[number]


def _add_order(told: PairTrees, found: FeatureCounter, rows: Indices, keys: Indices) -> None:
    """Events by number, and whether the name comes first, the event is top, is on the path."""
    trees, lexicon = told.nodes, found.lexicon
    event, first, top, on_path = keys // 8, keys // 4 % 2, keys // 2 % 2, keys % 2
    order = lexicon.encode(("name later", "name first"))[first]
    form = np.where(top, trees.voices[event], told.arrays.token_tags[event])
    at, name = trees.classes_and_word.gather(event)
    found.add("order", rows[at], name, order[at], form[at])
    where = lexicon.encode(("elsewhere", "path"))[on_path]
    found.add("order", rows, trees.event_types.first(event), order, trees.suffixes[event], where)
