"""The descriptors of all pairs of a batch at once, before logarithms and scaling.

What belongs to words stands in one table, a row a token and a column a group of words; what lies
between two entities is a difference of its sums up to a token.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from textrank.representations.pairs.described_words import (
    CLOSED,
    COLUMN,
    FLAGS,
    INSIDE,
    JOINTS,
    KINDS,
    LOGARITHMS,
    MARKS,
    NEAR,
    OPENED,
    columns,
    marks_of,
)
from textrank.representations.pairs.descriptor_entities import FACTS, FAR, Entities
from textrank.representations.pairs.layout import Layout
from textrank.representations.pairs.path_descriptors import PATH, path_rows
from textrank.representations.pairs.trigger_words import HEDGES, STRONG_TRIGGERS, TRIGGERS
from textrank.types import Indices, Matrix, Vector
from textrank.types.ragged import first_where, firsts, least, lengths, offsets, spread

Mask: TypeAlias = NDArray[np.bool_]

Measure: TypeAlias = Callable[[Indices, Indices], Vector]

GROUPS = {"trigger": TRIGGERS, "strong trigger": STRONG_TRIGGERS}


@dataclass(frozen=True, eq=False)
class Described:
    """Pairs with what several descriptors ask about them."""

    layout: Layout
    entities: Entities

    def __len__(self) -> int:
        return len(self.layout.pairs)

    @cached_property
    def marks(self) -> Matrix:  # (tokens, marks)
        """Which groups the words of all sentences are of; entities are blind."""
        own = self.layout
        found = np.zeros((len(own.word), len(MARKS)))
        found[:, :-3] = own.lexicon.rows(marks_of, len(MARKS) - 3, own.word)
        found[:, -3] = self.entities.verbs
        found[:, -2] = own.tag == own.lexicon("CD")
        found[:, -1] = found[:, MARKS["verb"]] * found[:, MARKS["trigger"]]
        return found

    @cached_property
    def counts(self) -> Matrix:  # (tokens + 1, marks)
        """How many tokens of each group stand before each token."""
        found = np.zeros((len(self.marks) + 1, len(MARKS)))
        np.cumsum(self.marks, axis=0, out=found[1:])
        return found

    @cached_property
    def inside(self) -> Matrix:  # (pairs, marks)
        """How many tokens of each group stand between the two entities."""
        own = self.layout
        cell = own.own.nonzero()[0]
        owner, token = own.owner[cell], own.token[cell]
        theirs = self.marks[token] * (token < own.end[owner])[:, None]
        between = self.counts[own.end] - self.counts[own.begin]
        return np.asarray(between - np.add.reduceat(theirs, firsts(owner)))

    @cached_property
    def rivals(self) -> tuple[Indices, Indices, Mask]:
        """Each pair with each name of its sentence: pair, entity, and whether it is another."""
        names, number = self.entities, self.layout.sentence
        begin = names.named[number]
        pair, place = spread(begin, names.named[number + 1] - begin)
        entity = names.mentions[place]
        one, two = (names.paths(e[pair], entity) for e in (names.first, names.second))
        return pair, entity, (one > 0) & (two > 0)

    @cached_property
    def name_pairs(self) -> tuple[Indices, Indices]:
        """Every two names of a sentence."""
        names = self.entities
        place = np.arange(len(names.mentions))
        end = names.named[1:].repeat(lengths(names.named))
        one, other = spread(place + 1, end - place - 1)
        return names.mentions[one], names.mentions[other]

    def triggers(self, name: str) -> tuple[Indices, Indices]:
        """Each pair with each trigger word of its sentence but its own: pair and token."""
        own = self.layout
        at = (own.lexicon.among(GROUPS[name], own.word)).nonzero()[0]
        starts = np.searchsorted(at, own.starts)
        begin = starts[own.sentence]
        pair, place = spread(begin, starts[own.sentence + 1] - begin)
        token = at[place]
        free = (~own.own[token + own.shift[pair]]).nonzero()[0]
        return pair[free], token[free]

    def any(self, pair: Indices, mask: Mask) -> Mask:
        """Which pairs have something for which the mask holds."""
        return np.bincount(pair[mask], minlength=len(self)) > 0


def described(layout: Layout) -> Matrix:
    """The descriptors of pairs, (pairs, descriptors), for ``finished`` to complete."""
    out = np.empty((len(layout.pairs), len(COLUMN)))
    if not len(out):
        return out
    own = Described(layout, Entities.of(layout))
    for part in (_distances, _words, _around, _lists, _rivals, _entities, _heads, _strings):
        part(own, out)
    for name in GROUPS:
        _to_triggers(name, own, out)
    _takers(own, out)
    _kinds(own, out)
    out[:, columns(PATH)] = path_rows(layout, own.entities.verbs)
    return out


def finished(table: Matrix) -> Matrix:
    """The descriptors, logarithms of counts taken and flags made of them."""
    at = columns(LOGARITHMS)
    table[:, at] = np.log1p(table[:, at])
    at = columns(FLAGS)
    table[:, at] = table[:, at] > 0
    return table


def _distances(own: Described, out: Matrix) -> None:
    layout, names = own.layout, own.entities
    path, gap = (how(names.first, names.second) for how in (names.paths, names.distances))
    pair, entity, other = own.rivals
    inside = (names.low[entity] > layout.begin[pair]) & (names.high[entity] < layout.end[pair])
    between = np.bincount(pair[inside & other], minlength=len(own))
    starts = names.low[entity]
    earliest = least(starts, pair, len(own), np.iinfo(np.intp).max)
    latest = -least(-starts, pair, len(own), 1)
    words = layout.lexicon
    hedged, *told = (
        np.bincount(
            layout.sentence_of[words.among(some, layout.word)], minlength=len(layout.contexts)
        )
        for some in (HEDGES, *GROUPS.values())
    )
    values = {
        "path length": path,
        "distance": layout.sizes[:, 1],
        "sentence length": np.log(layout.size),
        "entities between": between,
        "entities in sentence": np.log(lengths(names.named).clip(min=1))[layout.sentence],
        "share of shorter paths": _share_below(own, path, names.paths),
        "share of nearer pairs": _share_below(own, gap, names.distances),
        "first entity": names.low[names.first] <= earliest,
        "last entity": names.low[names.second] >= latest,
        "adjacent entities": between == 0,
        "shared token": path == 0,
        "doubt": hedged[layout.sentence] > 0,
        "triggers in sentence": told[0][layout.sentence],
        "strong triggers in sentence": told[1][layout.sentence],
    }
    for name, value in values.items():
        out[:, COLUMN[name]] = value


def _share_below(own: Described, limits: Vector, how: Measure) -> Vector:
    """Of all pairs of names of the sentence of each pair, the share with a lower value."""
    one, other = own.name_pairs
    number = own.entities.sentence[one]
    values = how(one, other)
    high = max(values.max(initial=0.0), limits.max(initial=0.0)) + 1.0
    ordered = np.sort(number * high + values)
    count = np.bincount(number, minlength=len(own.layout.contexts))
    sentence = own.layout.sentence
    below = np.searchsorted(ordered, sentence * high + limits) - offsets(count)[sentence]
    return np.asarray(below / count[sentence].clip(min=1))


_INSIDE = np.array([MARKS[mark] for mark in INSIDE.values()])


def _words(own: Described, out: Matrix) -> None:
    out[:, columns(tuple(INSIDE))] = own.inside[:, _INSIDE]


def _around(own: Described, out: Matrix) -> None:
    layout, counts, begin, end = own.layout, own.counts, own.layout.begin, own.layout.end
    low, high = layout.base, layout.base + layout.size
    before, after = counts[begin] - counts[low], counts[high] - counts[end + 1]
    near = counts[begin] - counts[np.maximum(begin - NEAR, low)]
    next_ = counts[np.minimum(end + 1 + NEAR, high)] - counts[end + 1]
    trigger, strong, cue, other = (MARKS[m] for m in ("trigger", "strong", "between", "other"))
    both = (own.inside[:, trigger] > 0) & (own.inside[:, other] > 0)
    (first, last), (first_other, last_other) = (_extremes(own, m) for m in (trigger, other))
    values = {
        "trigger before": before[:, trigger] > 0,
        "trigger after": after[:, trigger] > 0,
        "strong trigger before": before[:, strong] > 0,
        "strong trigger after": after[:, strong] > 0,
        "strong trigger just before": near[:, strong] > 0,
        "strong trigger just after": next_[:, strong] > 0,
        "cue between": before[:, cue] + own.inside[:, cue] > 0,
        "trigger before entities between": both & (first < first_other),
        "trigger after entities between": both & (last > last_other),
    }
    for name, value in values.items():
        out[:, COLUMN[name]] = value


def _extremes(own: Described, mark: int) -> tuple[Indices, Indices]:
    """The first and the last token of a group between the two entities of each pair."""
    layout = own.layout
    cell = ((layout.side == 1) & (own.marks[:, mark] > 0)[layout.token]).nonzero()[0]
    pair, token = layout.owner[cell], layout.token[cell]
    return least(token, pair, len(own), 0), -least(-token, pair, len(own), 0)


def _lists(own: Described, out: Matrix) -> None:
    layout, size = own.layout, own.layout.sizes[:, 1]
    listed = (size == own.inside[:, MARKS["separator"]]) & (size > 0)
    out[:, COLUMN["members of one list"]] = listed
    out[:, COLUMN["nothing between"]] = size == 0
    cell = ((layout.side == 1) & (size <= 2)[layout.owner]).nonzero()[0]
    begins = offsets(np.where(size <= 2, size, 0))[:-1]
    words = np.append(layout.word[layout.token[cell]], [-1, -1])
    one, two = size == 1, size == 2
    first, second = words[begins * (one | two)], words[(begins + 1) * two]
    high = layout.base + layout.size
    behind = np.append(layout.word, -1)[np.where(layout.end + 1 < high, layout.end + 1, -1)]
    lexicon = layout.lexicon
    opened, closed, joints = (np.array([lexicon(w) for w in g]) for g in (OPENED, CLOSED, JOINTS))
    comma, and_ = lexicon(","), lexicon("and")
    values = {
        "second in parentheses behind first": one
        & _one_of(first, opened)
        & _one_of(behind, closed),
        "joined by hyphen or slash": one & _one_of(first, joints),
        "joined by and": (one & (first == and_)) | (two & (first == comma) & (second == and_)),
    }
    for name, value in values.items():
        out[:, COLUMN[name]] = value


def _one_of(words: Indices, few: Indices) -> Mask:
    """Which words are among a few; NumPy's own way sorts them."""
    return (words[:, None] == few).any(axis=1)


def _to_triggers(name: str, own: Described, out: Matrix) -> None:
    layout, names = own.layout, own.entities
    pair, token = own.triggers(name)
    ends = [entity[pair] for entity in (names.first, names.second)]
    ways = [names.steps(e, token) for e in ends]
    gaps = [np.minimum(names.gaps(e, token), FAR) for e in ends]
    table = np.column_stack([*ways, ways[0] + ways[1], *gaps, gaps[0] + gaps[1]])
    values = least(table, pair, len(own), (FAR, FAR, 2 * FAR) * 2)
    best = first_where(table[:, 2] == values[pair, 2], pair)
    nearest, rows = token[best], pair[best]
    between = np.zeros(len(own), dtype=bool)
    between[rows] = (layout.begin[rows] < nearest) & (nearest < layout.end[rows])
    out[:, columns(_to(name))] = np.column_stack([values, between])


def _to(name: str) -> tuple[str, ...]:
    ends = ("first", "second", "joint")
    kinds = [f"{what} from {end} to {name}" for what in ("path", "distance") for end in ends]
    return (*kinds, f"nearest joint {name} between")


def _rivals(own: Described, out: Matrix) -> None:
    names = own.entities
    pair, entity, other = own.rivals
    for how, measure in ((" by path", names.paths), ("", names.distances)):
        limit = measure(names.first, names.second)[pair]
        for which, end in (("first", names.first), ("second", names.second)):
            nearer = (measure(end[pair], entity) < limit) & other
            out[:, COLUMN[f"other entity nearer {which}{how}"]] = own.any(pair, nearer)


def _entities(own: Described, out: Matrix) -> None:
    names = own.entities
    for which, entity in (("first", names.first), ("second", names.second)):
        out[:, columns(tuple(f"{which} {name}" for name in FACTS))] = names.facts[entity]


def _heads(own: Described, out: Matrix) -> None:
    names = own.entities
    above, _, governor = names.above
    governs = np.zeros(len(names.ways), dtype=bool)
    governs[names.begin[above] + governor] = True
    starts = np.searchsorted(above, np.arange(len(names) + 1))
    heads = np.zeros(len(own), dtype=bool)
    for one, other in ((names.first, names.second), (names.second, names.first)):
        pair, place = spread(starts[one], starts[one + 1] - starts[one])
        to = governor[place]
        heads |= own.any(pair, names.steps(other[pair], to) == 0)
        common = own.any(pair, governs[names.begin[other[pair]] + to])
    out[:, COLUMN["common head"]] = common
    out[:, COLUMN["one heads the other"]] = heads


def _strings(own: Described, out: Matrix) -> None:
    names = own.entities
    texts = names.texts
    known: dict[tuple[int, str], int] = {}
    for entity in names.mentions.tolist():
        key = int(names.sentence[entity]), texts[entity]
        known[key] = known.get(key, 0) + 1
    again = [known.get((n, t), 0) > 1 for n, t in zip(names.sentence.tolist(), texts, strict=True)]
    rows = []
    for i, j in zip(names.first.tolist(), names.second.tolist(), strict=True):
        a, b = texts[i], texts[j]
        rows.append((a == b, a != b and (a in b or b in a), again[i] or again[j]))
    out[:, columns(("names equal", "name within name", "name repeated"))] = rows


def _takers(own: Described, out: Matrix) -> None:
    """How many other entities are nearer to the pair's best trigger than its own are."""
    names = own.entities
    pair, token = own.triggers("trigger")
    rival, entity, other = own.rivals
    for how, measure in ((" by path", names.steps), ("", names.gaps)):
        joint = measure(names.first[pair], token) + measure(names.second[pair], token)
        least_ = least(joint, pair, len(own), np.inf)
        place = first_where(joint == least_[pair], pair)
        best = np.full(len(own), -1, dtype=np.intp)
        best[pair[place]] = token[place]
        some = ((best[rival] >= 0) & other).nonzero()[0]
        rows, to = rival[some], best[rival[some]]
        theirs = measure(entity[some], to)
        for which, end in (("first", names.first), ("second", names.second)):
            nearer = theirs < measure(end[rows], to)
            counts = np.bincount(rows[nearer], minlength=len(own))
            out[:, COLUMN[f"rivals of {which} for the trigger{how}"]] = counts


_KINDS = np.array([MARKS[kind] for kind in KINDS])


def _kinds(own: Described, out: Matrix) -> None:
    layout, names = own.layout, own.entities
    high = layout.base + layout.size
    for which, entity in (("first", names.first), ("second", names.second)):
        found = np.zeros((len(own), len(KINDS)), dtype=bool)
        for step in (1, 2):
            at = names.high[entity] + step
            near = at.clip(max=high - 1)
            seen = (at < high) & ~layout.own[near + layout.shift]
            found |= (own.marks[near][:, _KINDS] > 0) & seen[:, None]
        out[:, columns(tuple(f"{which} before {kind} words" for kind in KINDS))] = found
