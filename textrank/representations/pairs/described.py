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
from textrank.representations.pairs.descriptor_entities import FACTS, FAR, Entities, Rivals, Told
from textrank.representations.pairs.layout import Layout
from textrank.representations.pairs.path_descriptors import MARKED, PATH, path_rows
from textrank.representations.pairs.trigger_words import HEDGES
from textrank.types import Indices, Matrix, Vector
from textrank.types.ragged import firsts, least, lengths, offsets, spread

Mask: TypeAlias = NDArray[np.bool_]

Measure: TypeAlias = Callable[[Indices, Indices], Vector]

GROUPS = {"trigger": "trigger", "strong trigger": "strong"}  # and which words these are
ENDS = ("first", "second")


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
    def middle(self) -> tuple[Indices, Indices]:
        """The cells between the two entities: pair and token."""
        own = self.layout
        cell = (own.side == 1).nonzero()[0]
        return own.owner[cell], own.token[cell]

    @cached_property
    def ends(self) -> Indices:  # (2, pairs)
        """The first and the second entity of each pair."""
        return np.array([self.entities.first, self.entities.second])

    @cached_property
    def rivals(self) -> Rivals:
        """Each pair with each name of its sentence."""
        names, number = self.entities, self.layout.sentence
        begin = names.named[number]
        pair, place = spread(begin, names.named[number + 1] - begin)
        entity = names.mentions[place]
        return Rivals(pair, entity, names.paths(self.ends.take(pair, axis=1), entity))

    @cached_property
    def name_pairs(self) -> tuple[Indices, Indices]:
        """Every two names of a sentence."""
        names = self.entities
        place = np.arange(len(names.mentions))
        end = names.named[1:].repeat(lengths(names.named))
        one, other = spread(place + 1, end - place - 1)
        return names.mentions[one], names.mentions[other]

    @cached_property
    def told(self) -> dict[str, Told]:
        """The trigger words of each group."""
        return {name: self._told(MARKS[mark]) for name, mark in GROUPS.items()}

    def _told(self, mark: int) -> Told:
        own = self.layout
        at = self.marks[:, mark].nonzero()[0]
        starts = np.searchsorted(at, own.starts)
        begin = starts[own.sentence]
        pair, place = spread(begin, starts[own.sentence + 1] - begin)
        token = at[place]
        free = (~own.own[token + own.shift[pair]]).nonzero()[0]
        pair, token = pair[free], token[free]
        ends = self.ends.take(pair, axis=1)
        return Told(pair, token, self.entities.steps(ends, token), self.entities.gaps(ends, token))

    def any(self, pair: Indices, mask: Mask) -> Mask:
        """Which pairs have something for which the mask holds."""
        return np.bincount(pair[mask], minlength=len(self)) > 0


def described(layout: Layout) -> Matrix:
    """The descriptors of pairs, (pairs, descriptors), for ``finished`` to complete."""
    out = np.empty((len(layout.pairs), len(COLUMN)))
    if not len(out):
        return out
    own = Described(layout, Entities.of(layout))
    for part in PARTS:
        part(own, out)
    out[:, columns(PATH)] = path_rows(layout, own.marks[:, _MARKED])
    return out


_MARKED = np.array([MARKS[mark] for mark in MARKED])


def finished(table: Matrix) -> Matrix:
    """The descriptors, logarithms of counts taken and flags made of them."""
    at = columns(LOGARITHMS)
    table[:, at] = np.log1p(table[:, at])
    at = columns(FLAGS)
    table[:, at] = table[:, at] > 0
    return table


def _distances(own: Described, out: Matrix) -> None:
    layout, names, rivals = own.layout, own.entities, own.rivals
    path, gap = (how(names.first, names.second) for how in (names.paths, names.distances))
    low, high = names.low[rivals.entity], names.high[rivals.entity]
    inside = (low > layout.begin[rivals.pair]) & (high < layout.end[rivals.pair])
    between = np.bincount(rivals.pair[inside & rivals.other], minlength=len(own))
    sentences = len(layout.contexts)
    begins, number = names.low[names.mentions], names.sentence[names.mentions]
    earliest = least(begins, number, sentences, np.iinfo(np.intp).max)
    latest = -least(-begins, number, sentences, 1)
    hedged = np.zeros(sentences, dtype=bool)
    hedged[layout.sentence_of[layout.lexicon.among(HEDGES, layout.word)]] = True
    marked = lengths(own.counts[layout.starts])[layout.sentence]
    values = {
        "path length": path,
        "distance": layout.sizes[:, 1],
        "sentence length": np.log(layout.size),
        "entities between": between,
        "entities in sentence": np.log(np.maximum(lengths(names.named), 1))[layout.sentence],
        "share of shorter paths": _share_below(own, path, names.paths),
        "share of nearer pairs": _share_below(own, gap, names.distances),
        "first entity": names.low[names.first] <= earliest[layout.sentence],
        "last entity": names.low[names.second] >= latest[layout.sentence],
        "adjacent entities": between == 0,
        "shared token": path == 0,
        "doubt": hedged[layout.sentence],
        "triggers in sentence": marked[:, MARKS["trigger"]],
        "strong triggers in sentence": marked[:, MARKS["strong"]],
    }
    for name, value in values.items():
        out[:, COLUMN[name]] = value


def _share_below(own: Described, limits: Vector, how: Measure) -> Vector:
    """Of all pairs of names of the sentence of each pair, the share with a lower value."""
    one, other = own.name_pairs
    values, sentence = how(one, other), own.layout.sentence
    high = max(values.max(initial=0.0), limits.max(initial=0.0)) + 1.0
    ordered = np.sort(own.entities.sentence[one] * high + values)
    names = lengths(own.entities.named)
    count = names * (names - 1) // 2
    below = np.searchsorted(ordered, sentence * high + limits) - offsets(count)[sentence]
    return np.asarray(below / np.maximum(count, 1)[sentence])


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
    pair, token = own.middle
    some = own.marks[token, mark].nonzero()[0]
    pair, token = pair[some], token[some]
    found = np.zeros((2, len(own)), dtype=np.intp)
    found[0, pair[::-1]], found[1, pair] = token[::-1], token  # what is put last stays
    return found[0], found[1]


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


def _to_triggers(own: Described, out: Matrix) -> None:
    layout = own.layout
    for name, told in own.told.items():
        away = np.empty((2, 3, len(told.pair)))  # paths and distances, of first, second and both
        away[0, :2], away[1, :2] = told.ways, np.minimum(told.gaps, FAR)
        np.add(away[:, 0], away[:, 1], out=away[:, 2])
        nearest = told.nearest(told.ways, len(own))
        found = np.full((len(own), 7), (FAR, FAR, 2 * FAR) * 2 + (0.0,))
        begins = firsts(told.pair)
        if len(begins):
            low = np.minimum.reduceat(
                away.reshape(6, -1), begins, axis=1
            )  # quicker than by columns
            found[told.pair[begins], :6] = low.T
        found[:, 6] = (layout.begin < nearest) & (nearest < layout.end)
        out[:, columns(_TO[name])] = found


def _to(name: str) -> tuple[str, ...]:
    kinds = [
        f"{what} from {end} to {name}" for what in ("path", "distance") for end in (*ENDS, "joint")
    ]
    return (*kinds, f"nearest joint {name} between")


_TO = {name: _to(name) for name in GROUPS}


def _rivals(own: Described, out: Matrix) -> None:
    names, rivals = own.entities, own.rivals
    distances = names.distances(own.ends.take(rivals.pair, axis=1), rivals.entity)
    for how, measure, away in (
        (" by path", names.paths, rivals.paths),
        ("", names.distances, distances),
    ):
        limit = measure(names.first, names.second)[rivals.pair]
        for which, nearer in zip(ENDS, (away < limit) & rivals.other, strict=True):
            out[:, COLUMN[f"other entity nearer {which}{how}"]] = own.any(rivals.pair, nearer)


_FACTS = {which: tuple(f"{which} {name}" for name in FACTS) for which in ENDS}


def _entities(own: Described, out: Matrix) -> None:
    for which, entity in zip(ENDS, own.ends, strict=True):
        out[:, columns(_FACTS[which])] = own.entities.facts[entity]


def _heads(own: Described, out: Matrix) -> None:
    names = own.entities
    above, _, governor = names.above
    governs = np.zeros(int(names.cells[-1]), dtype=bool)
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
    names, rivals, told = own.entities, own.rivals, own.told["trigger"]
    for how, measure, away in (
        (" by path", names.steps, told.ways),
        ("", names.gaps, told.gaps),
    ):
        best = told.nearest(away, len(own))
        some = ((best[rivals.pair] >= 0) & rivals.other).nonzero()[0]
        rows = rivals.pair[some]
        theirs = measure(rivals.entity[some], best[rows])
        ours = measure(own.ends, np.maximum(best, own.layout.base))
        for which, nearer in zip(ENDS, theirs < ours.take(rows, axis=1), strict=True):
            counts = np.bincount(rows[nearer], minlength=len(own))
            out[:, COLUMN[f"rivals of {which} for the trigger{how}"]] = counts


_KINDS = np.array([MARKS[kind] for kind in KINDS])
_BEFORE = tuple(f"{which} before {kind} words" for which in ENDS for kind in KINDS)


def _kinds(own: Described, out: Matrix) -> None:
    layout = own.layout
    high = layout.base + layout.size
    found = np.zeros((2, len(own), len(KINDS)), dtype=bool)
    for step in (1, 2):
        at = own.entities.high[own.ends] + step
        near = np.minimum(at, high - 1)
        seen = (at < high) & ~layout.own[near + layout.shift]
        found |= (own.marks[:, _KINDS] > 0)[near] & seen[:, :, None]
    out[:, columns(_BEFORE)] = found.swapaxes(0, 1).reshape(len(own), -1)


PARTS = (
    *(_distances, _words, _around, _lists, _to_triggers),
    *(_rivals, _entities, _heads, _strings, _takers, _kinds),
)
