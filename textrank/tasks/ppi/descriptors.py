"""The descriptors of a pair, one by one: name, meaning, scale, and what kind of fact it uses.

Trigger words are those of ``trigger_words``, the strong ones tell of physical interaction; words of
entities never count. Flags are 1 or 0. Distances without an end are 12.

Scales are standard deviations, of 0.15 at least, over 4059 pairs of protein names in the first 400
abstracts of the JNLPBA training part, which has no interactions marked and serves no evaluation of
pairs; parsed by an early version of the shipped language model, sentences of more than 8 names
left out.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Literal, TypeAlias, get_args

import numpy as np
from numpy.typing import NDArray

from textrank._ragged import expand, lengths, offsets, run_starts, segment_min
from textrank.candidates import Candidate
from textrank.features import FeatureNames, Features, Indices, Matrix, RawCSR, Vector
from textrank.tasks.ppi._descriptor_values import (
    FACTS,
    FAR,
    MARKED,
    PATH,
    Entities,
    Rivals,
    Told,
    path_rows,
)
from textrank.tasks.ppi.pairs import OTHER, EntityPair, Layout, entity_pairs, layout_of
from textrank.tasks.ppi.sentences import Parse, check_among
from textrank.tasks.ppi.vocabulary import HEDGES, NEGATIONS, STRONG_TRIGGERS, TRIGGERS, words_of


@dataclass(frozen=True)
class Descriptor:
    """One number about a pair; it is divided by ``scale`` before pairs are compared."""

    name: str
    meaning: str
    scale: float
    level: str  # "basic", "position" or "relation"
    group: str = ""  # "entity count" or "name equality" where it can be left out


_BASIC = (
    ("path length", "dependencies on the shortest path, 12 at most and where there is none", 2.49),
    ("distance", "log(1 + tokens between the two)", 0.99),
    ("sentence length", "log of the tokens of the sentence", 0.42),
    ("entities between", "log(1 + other entities between the two)", 0.53, "entity count"),
    ("entities in sentence", "log of the entities of the sentence", 0.42, "entity count"),
    (
        "share of shorter paths",
        "share of the sentence's pairs of entities with a shorter path",
        0.28,
        "entity count",
    ),
    (
        "share of nearer pairs",
        "share of the sentence's pairs of entities with fewer tokens between",
        0.31,
        "entity count",
    ),
    ("first entity", "no entity of the sentence begins before the first", 0.5, "entity count"),
    ("last entity", "no entity of the sentence begins after the second", 0.5, "entity count"),
    ("adjacent entities", "no other entity lies between the two", 0.5, "entity count"),
    ("shared token", "the two share a token (nested names)", 0.15),
    ("no path", "no path of dependencies joins the two", 0.15),
    ("trigger between", "a trigger word between the two", 0.49),
    ("trigger before", "a trigger word before the pair", 0.5),
    ("trigger after", "a trigger word after the pair", 0.5),
    ("negation between", "a word of negation between the two", 0.28),
    ("doubt", "a word of doubt in the sentence", 0.37),
    ("commas between", "log(1 + commas between the two)", 0.48),
    ("parentheses between", "log(1 + parentheses and brackets between the two)", 0.44),
    ("and/or between", "log(1 + 'and' and 'or' between the two)", 0.4),
    ("verbs between", "log(1 + verbs between the two)", 0.63),
    ("path is loose", "all dependencies of the path are conjunction, apposition or unknown", 0.4),
    ("path has conjunction", "a conjunction on the path", 0.4),
    ("path has apposition", "an apposition on the path", 0.43),
    ("path has subject", "a subject on the path", 0.49),
    ("path has object", "an object on the path", 0.46),
    ("path has preposition", "a preposition (or agent) on the path", 0.48),
    ("trigger on path", "a trigger word inside the path", 0.5),
    ("verbs on path", "log(1 + verbs inside the path)", 0.55),
    ("top is an entity", "the path climbs only, or descends only", 0.46),
    ("third entity on path", "another entity inside the path", 0.43),
    ("path is negated", "a word of the path has a negation as dependent", 0.22),
)
_POSITION = (
    (
        "path from first to trigger",
        "dependencies from the first entity to the nearest trigger word, at most 12",
        3.68,
    ),
    (
        "distance from first to trigger",
        "log(1 + tokens from the first entity to the nearest trigger word, 12 at most)",
        0.67,
    ),
    (
        "path from second to trigger",
        "dependencies from the second entity to the nearest trigger word, at most 12",
        3.68,
    ),
    (
        "distance from second to trigger",
        "log(1 + tokens from the second entity to the nearest trigger word, 12 at most)",
        0.67,
    ),
    ("path from joint to trigger", "smallest sum of both paths to one trigger word", 6.85),
    (
        "distance from joint to trigger",
        "log(1 + smallest sum of both distances to one trigger word)",
        0.43,
    ),
    (
        "nearest joint trigger between",
        "the trigger word of the smallest sum of paths stands between the two",
        0.44,
    ),
    (
        "path from first to strong trigger",
        "dependencies from the first entity to the nearest strong trigger word, at most 12",
        4.36,
    ),
    (
        "distance from first to strong trigger",
        "log(1 + tokens from the first entity to the nearest strong trigger word, 12 at most)",
        0.44,
    ),
    (
        "path from second to strong trigger",
        "dependencies from the second entity to the nearest strong trigger word, at most 12",
        4.27,
    ),
    (
        "distance from second to strong trigger",
        "log(1 + tokens from the second entity to the nearest strong trigger word, 12 at most)",
        0.41,
    ),
    (
        "path from joint to strong trigger",
        "smallest sum of both paths to one strong trigger word",
        8.37,
    ),
    (
        "distance from joint to strong trigger",
        "log(1 + smallest sum of both distances to one strong trigger word)",
        0.3,
    ),
    (
        "nearest joint strong trigger between",
        "the strong trigger word of the smallest sum of paths stands between the two",
        0.31,
    ),
    (
        "other entity nearer first by path",
        "another entity has a shorter path to the first than the two have",
        0.5,
        "entity count",
    ),
    (
        "other entity nearer first",
        "another entity stands nearer to the first than the two stand",
        0.49,
        "entity count",
    ),
    ("first depth", "parentheses open at the first entity", 0.29),
    ("first position", "place of the first entity in the sentence, 0 to 1", 0.23),
    ("first is subject", "the first entity is a subject", 0.39),
    ("first is object", "the first entity is an object", 0.27),
    ("first is conjunct", "the first entity is a conjunct", 0.3),
    ("first is modifier", "the first entity modifies a noun", 0.39),
    ("first is with or to", "the first entity depends by 'with' or 'to'", 0.22),
    ("first is of, by or between", "the first entity depends by 'of', 'by' or 'between'", 0.45),
    ("first is apposition", "the first entity is an apposition", 0.3),
    ("first under a verb", "the first entity depends on a verb", 0.48),
    ("first under a trigger", "the first entity depends on a trigger word", 0.47),
    ("first before a noun", "the first entity stands before a noun", 0.33),
    ("first before a hyphen or slash", "the first entity stands before a hyphen or slash", 0.15),
    (
        "first before a list separator",
        "the first entity stands before a comma, 'and', 'or' or slash",
        0.46,
    ),
    (
        "other entity nearer second by path",
        "another entity has a shorter path to the second than the two have",
        0.5,
        "entity count",
    ),
    (
        "other entity nearer second",
        "another entity stands nearer to the second than the two stand",
        0.5,
        "entity count",
    ),
    ("second depth", "parentheses open at the second entity", 0.38),
    ("second position", "place of the second entity in the sentence, 0 to 1", 0.23),
    ("second is subject", "the second entity is a subject", 0.24),
    ("second is object", "the second entity is an object", 0.28),
    ("second is conjunct", "the second entity is a conjunct", 0.41),
    ("second is modifier", "the second entity modifies a noun", 0.37),
    ("second is with or to", "the second entity depends by 'with' or 'to'", 0.27),
    ("second is of, by or between", "the second entity depends by 'of', 'by' or 'between'", 0.44),
    ("second is apposition", "the second entity is an apposition", 0.38),
    ("second under a verb", "the second entity depends on a verb", 0.45),
    ("second under a trigger", "the second entity depends on a trigger word", 0.45),
    ("second before a noun", "the second entity stands before a noun", 0.33),
    ("second before a hyphen or slash", "the second entity stands before a hyphen or slash", 0.16),
    (
        "second before a list separator",
        "the second entity stands before a comma, 'and', 'or' or slash",
        0.42,
    ),
    ("common head", "both depend on one word", 0.39),
    ("one heads the other", "one depends on the other", 0.42),
    ("names equal", "the two names are the same, but for case", 0.23, "name equality"),
    ("name within name", "one name is part of the other", 0.19, "name equality"),
    (
        "name repeated",
        "one of the names occurs again among the entities of the sentence",
        0.4,
        "name equality",
    ),
    ("cue between", "'between' before the pair or between the two", 0.17),
    ("cue with", "'with' between the two", 0.33),
    ("cue by", "'by' between the two", 0.35),
    ("cue but", "'but', 'while', 'whereas', 'although' or 'however' between the two", 0.25),
    ("cue semicolon", "a semicolon or colon between the two", 0.19),
)
_RELATION = (
    ("members of one list", "only other entities, separators and list words between the two", 0.4),
    (
        "second in parentheses behind first",
        "the second stands in parentheses right behind the first",
        0.21,
    ),
    ("joined by hyphen or slash", "only a hyphen or slash between the two", 0.15),
    ("joined by and", "only 'and', or a comma and 'and', between the two", 0.21),
    ("nothing between", "no token between the two", 0.16),
    ("lists on path", "log(1 + conjunctions and appositions on the path)", 0.39),
    ("modifiers on path", "log(1 + modifiers of nouns on the path)", 0.37),
    ("clauses on path", "log(1 + clausal dependencies on the path)", 0.4),
    ("prepositions on path", "log(1 + prepositions and agents on the path)", 0.56),
    (
        "path length without lists",
        "dependencies of the path but conjunctions, appositions, modifiers",
        2.28,
    ),
    ("path has with", "a dependency by 'with' on the path", 0.32),
    ("path has to", "a dependency by 'to' on the path", 0.28),
    ("path has of", "a dependency by 'of' on the path", 0.49),
    ("path has by", "a dependency by 'by' on the path", 0.33),
    ("path has in", "a dependency by 'in' on the path", 0.33),
    ("path has between", "a dependency by 'between' on the path", 0.15),
    ("path has for", "a dependency by 'for' on the path", 0.23),
    ("path has from", "a dependency by 'from' on the path", 0.17),
    ("top is a trigger", "the highest word of the path is a trigger word", 0.39),
    ("top is a strong trigger", "the highest word of the path is a strong trigger word", 0.17),
    ("top is a verb", "the highest word of the path is a verb", 0.5),
    (
        "subject and object of the top",
        "the path climbs by a subject and descends by an object or preposition",
        0.46,
    ),
    ("both beside the top", "the path climbs and descends by prepositions or modifiers", 0.48),
    ("strong trigger between", "a strong trigger word between the two", 0.33),
    ("strong trigger before", "a strong trigger word before the pair", 0.38),
    ("strong trigger after", "a strong trigger word after the pair", 0.33),
    ("strong trigger just before", "a strong trigger word within 3 tokens before the pair", 0.21),
    ("strong trigger just after", "a strong trigger word within 3 tokens after the pair", 0.19),
    ("strong trigger on path", "a strong trigger word inside the path", 0.32),
    ("trigger verb between", "a trigger word that is a verb between the two", 0.45),
    (
        "trigger before entities between",
        "a trigger word between the first and the next entity between the two",
        0.33,
    ),
    (
        "trigger after entities between",
        "a trigger word between the last entity between the two and the second",
        0.34,
    ),
    ("triggers in sentence", "log(1 + trigger words of the sentence)", 0.61),
    ("strong triggers in sentence", "log(1 + strong trigger words of the sentence)", 0.4),
    ("triggers between", "log(1 + trigger words between the two)", 0.54),
    ("numbers between", "log(1 + numerals between the two)", 0.29),
    (
        "rivals of first for the trigger by path",
        "log(1 + entities with a shorter path to the pair's trigger than the first)",
        0.47,
        "entity count",
    ),
    (
        "rivals of first for the trigger",
        "log(1 + entities nearer to the pair's trigger than the first)",
        0.52,
        "entity count",
    ),
    (
        "rivals of second for the trigger by path",
        "log(1 + entities with a shorter path to the pair's trigger than the second)",
        0.54,
        "entity count",
    ),
    (
        "rivals of second for the trigger",
        "log(1 + entities nearer to the pair's trigger than the second)",
        0.59,
        "entity count",
    ),
    ("first before gene words", "a gene or expression word within 2 tokens behind the first", 0.15),
    ("first before part words", "a part-of-protein word within 2 tokens behind the first", 0.15),
    (
        "first before reagent words",
        "a reagent or mutant word within 2 tokens behind the first",
        0.15,
    ),
    (
        "first before holder words",
        "a receptor, complex, pathway or cell word within 2 tokens behind the first",
        0.2,
    ),
    (
        "second before gene words",
        "a gene or expression word within 2 tokens behind the second",
        0.16,
    ),
    ("second before part words", "a part-of-protein word within 2 tokens behind the second", 0.15),
    (
        "second before reagent words",
        "a reagent or mutant word within 2 tokens behind the second",
        0.15,
    ),
    (
        "second before holder words",
        "a receptor, complex, pathway or cell word within 2 tokens behind the second",
        0.2,
    ),
)
DESCRIPTORS = tuple(
    Descriptor(name, meaning, scale, level, *group)
    for level, rows in (("basic", _BASIC), ("position", _POSITION), ("relation", _RELATION))
    for name, meaning, scale, *group in rows
)
NEAR = 3  # tokens within which a trigger belongs to an entity
SEPARATORS = frozenset((",", "and", "or", "/", "\\/", "(", ")", "-", "as", "well", "both", OTHER))
OPENED, CLOSED = ("(", "[", "-lrb-"), (")", "]", "-rrb-")
JOINTS = ("-", "/", "\\/")
KINDS = {
    "gene": words_of("gene promoter mrna expression level transcription transcript cdna rna"),
    "part": words_of("domain region site terminus motif subunit residue fragment chain peptide"),
    "reagent": words_of("antibody inhibitor antagonist agonist antiserum deficient null mutant"),
    "holder": words_of("receptor complex family pathway promoter cell neuron protein activity"),
}
GROUPS = {
    "trigger": TRIGGERS,
    "strong": STRONG_TRIGGERS,
    "comma": (",",),
    "and or": ("and", "or"),
    "between": ("between",),
    "with": ("with",),
    "by": ("by",),
    "but": ("but", "while", "wherea", "although", "howev"),
    "semicolon": (";", ":"),
    "negation": NEGATIONS,
    "separator": SEPARATORS,
    "other": (OTHER,),
    **KINDS,
}
MARKS = {name: i for i, name in enumerate((*GROUPS, "parenthesis", "verb", "number", "told"))}
# Counts between the two entities, as descriptors; those below are only asked whether there are any.
INSIDE = {
    "commas between": "comma",
    "parentheses between": "parenthesis",
    "and/or between": "and or",
    "verbs between": "verb",
    "triggers between": "trigger",
    "numbers between": "number",
    "trigger between": "trigger",
    "strong trigger between": "strong",
    "cue with": "with",
    "cue by": "by",
    "cue but": "but",
    "cue semicolon": "semicolon",
    "negation between": "negation",
    "trigger verb between": "told",
}
LOGARITHMS = (
    *list(INSIDE)[:6],
    *("distance", "entities between", "triggers in sentence", "strong triggers in sentence"),
    *("lists on path", "modifiers on path", "clauses on path", "prepositions on path"),
    "verbs on path",
    *(
        f"rivals of {w} for the trigger{how}"
        for w in ("first", "second")
        for how in (" by path", "")
    ),
    *(
        f"distance from {which} to {name}"
        for which in ("first", "second", "joint")
        for name in ("trigger", "strong trigger")
    ),
)
FLAGS = tuple(list(INSIDE)[6:])
COLUMN = {descriptor.name: i for i, descriptor in enumerate(DESCRIPTORS)}


@lru_cache(maxsize=1 << 12)
def marks_of(word: str) -> tuple[bool, ...]:
    """Which groups a word is of."""
    return (*(word in words for words in GROUPS.values()), word in "()[]" or "rb-" in word)


@lru_cache(maxsize=256)
def columns(names: tuple[str, ...]) -> Indices:
    """Where descriptors stand in the table."""
    return np.array([COLUMN[name] for name in names], dtype=np.intp)


Mask: TypeAlias = NDArray[np.bool_]
Measure: TypeAlias = Callable[[Indices, Indices], Vector]
DESCRIBED_GROUPS = {"trigger": "trigger", "strong trigger": "strong"}  # and which words these are
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
        return np.asarray(between - np.add.reduceat(theirs, run_starts(owner)))

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
        pair, place = expand(begin, names.named[number + 1] - begin)
        entity = names.mentions[place]
        return Rivals(pair, entity, names.paths(self.ends.take(pair, axis=1), entity))

    @cached_property
    def name_pairs(self) -> tuple[Indices, Indices]:
        """Every two names of a sentence."""
        names = self.entities
        place = np.arange(len(names.mentions))
        end = names.named[1:].repeat(lengths(names.named))
        one, other = expand(place + 1, end - place - 1)
        return names.mentions[one], names.mentions[other]

    @cached_property
    def told(self) -> dict[str, Told]:
        """The trigger words of each group."""
        return {name: self._told(MARKS[mark]) for name, mark in DESCRIBED_GROUPS.items()}

    def _told(self, mark: int) -> Told:
        own = self.layout
        at = self.marks[:, mark].nonzero()[0]
        starts = np.searchsorted(at, own.starts)
        begin = starts[own.sentence]
        pair, place = expand(begin, starts[own.sentence + 1] - begin)
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
    earliest = segment_min(begins, number, sentences, np.iinfo(np.intp).max)
    latest = -segment_min(-begins, number, sentences, 1)
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
        begins = run_starts(told.pair)
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


_TO = {name: _to(name) for name in DESCRIBED_GROUPS}


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
        pair, place = expand(starts[one], starts[one + 1] - starts[one])
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
Which: TypeAlias = Literal["basic", "position", "relation"]
Values: TypeAlias = dict[str, float]


@dataclass(frozen=True, kw_only=True)
class PairDescriptors:
    """Blinded numbers about a pair, each divided by a fixed scale, for a Gaussian kernel.

    ``which="basic"`` gives 32 of them, ``"position"`` these and 56 more, ``"relation"`` all 136;
    ``descriptor_table`` documents each one and its scale. The scales are constants, not estimated
    from the data at hand: nothing leaks from a test fold, and the closed-form hold-out stays
    exact. A Gaussian does not see centres.

    Two groups exploit how corpora are annotated and can be left out: ``entity_counts`` (how many
    entities are marked in the sentence, between the two and nearer to one of them) and
    ``name_equality`` (the only ones that look at the names: equal, contained, repeated).
    """

    which: Which = "relation"
    entity_counts: bool = True
    name_equality: bool = True
    parse: Parse = "auto"

    def __post_init__(self) -> None:
        check_among("parse", [self.parse], get_args(Parse))
        check_among("which", [self.which], get_args(Which))

    def __call__(self, candidates: Sequence[Candidate]) -> Features:
        return self.of_pairs(entity_pairs(candidates, self.parse))

    def of_pairs(self, pairs: Sequence[EntityPair]) -> Features:
        """The descriptors of pairs that are already analysed."""
        return self.sizes(pairs)[self.which]

    def sizes(self, pairs: Sequence[EntityPair]) -> dict[str, Features]:
        """The descriptors in every size up to this one, for the price of the largest."""
        kept, scales, sizes = self._chosen
        every = RawCSR.of(finished(described(layout_of(pairs)))[:, kept] / scales)
        return {
            which: Features(_chosen(every, number, len(names)), names)
            for which, (number, names) in sizes.items()
        }

    @cached_property
    def _chosen(self) -> tuple[Indices, Vector, dict[str, tuple[NDArray[np.int32], FeatureNames]]]:
        """Which descriptors are kept, their scales; in each size their numbers, -1, and names."""
        sizes: tuple[Which, ...] = get_args(Which)
        levels = sizes[: sizes.index(self.which) + 1]
        kept = [i for i, d in enumerate(DESCRIPTORS) if d.level in levels and self._wanted(d)]
        chosen = [DESCRIPTORS[i] for i in kept]
        found: dict[str, tuple[NDArray[np.int32], FeatureNames]] = {}
        for place, which in enumerate(levels):
            some = [i for i, d in enumerate(chosen) if d.level in levels[: place + 1]]
            number = np.full(len(chosen), -1, dtype=np.int32)
            number[some] = np.arange(len(some))
            found[which] = number, FeatureNames.of(chosen[i].name for i in some)
        return np.array(kept, dtype=np.intp), np.array([d.scale for d in chosen]), found

    def _wanted(self, descriptor: Descriptor) -> bool:
        left_out = {
            "entity count": not self.entity_counts,
            "name equality": not self.name_equality,
        }
        return not left_out.get(descriptor.group, False)


def _chosen(cells: RawCSR, number: NDArray[np.int32], width: int) -> RawCSR:
    """Some of the columns, given the number of each among them; -1 for the others."""
    indices = number[cells.indices]
    kept = indices >= 0
    ends = offsets(kept)[cells.indptr].astype(np.int32)
    return RawCSR(cells.data[kept], indices[kept], ends, (cells.shape[0], width))
