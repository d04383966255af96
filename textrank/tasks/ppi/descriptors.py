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
    ENTITY_FACTS,
    MAX_DISTANCE,
    PATH_DESCRIPTORS,
    PATH_WORD_GROUPS,
    Entities,
    OtherEntities,
    TriggerDistances,
    path_descriptors,
)
from textrank.tasks.ppi.pairs import (
    OTHER_ENTITY,
    EntityPair,
    PairArrays,
    analyze_pairs,
    pair_arrays,
)
from textrank.tasks.ppi.sentences import Parse, check_choice
from textrank.tasks.ppi.vocabulary import HEDGES, NEGATIONS, STRONG_TRIGGERS, TRIGGERS, stems


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
MAX_NEAR_TOKENS = 3  # tokens within which a trigger belongs to an entity
SEPARATORS = frozenset(
    (",", "and", "or", "/", "\\/", "(", ")", "-", "as", "well", "both", OTHER_ENTITY)
)
OPENING_BRACKETS, CLOSING_BRACKETS = ("(", "[", "-lrb-"), (")", "]", "-rrb-")
JOINING_SYMBOLS = ("-", "/", "\\/")
FOLLOWING_WORD_GROUPS = {
    "gene": stems("gene promoter mrna expression level transcription transcript cdna rna"),
    "part": stems("domain region site terminus motif subunit residue fragment chain peptide"),
    "reagent": stems("antibody inhibitor antagonist agonist antiserum deficient null mutant"),
    "holder": stems("receptor complex family pathway promoter cell neuron protein activity"),
}
WORD_GROUPS = {
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
    "other": (OTHER_ENTITY,),
    **FOLLOWING_WORD_GROUPS,
}
GROUP_COLUMN = {
    name: i for i, name in enumerate((*WORD_GROUPS, "parenthesis", "verb", "number", "told"))
}
# Counts between the two entities, as descriptors; those below are only asked whether there are any.
GROUP_BETWEEN = {
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
LOG_SCALED = (
    *list(GROUP_BETWEEN)[:6],
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
FLAGS = tuple(list(GROUP_BETWEEN)[6:])
COLUMN = {descriptor.name: i for i, descriptor in enumerate(DESCRIPTORS)}


@lru_cache(maxsize=1 << 12)
def groups_of_word(word: str) -> tuple[bool, ...]:
    """Which groups a word is of."""
    return (*(word in words for words in WORD_GROUPS.values()), word in "()[]" or "rb-" in word)


@lru_cache(maxsize=256)
def column_indices(names: tuple[str, ...]) -> Indices:
    """Where descriptors stand in the table."""
    return np.array([COLUMN[name] for name in names], dtype=np.intp)


Mask: TypeAlias = NDArray[np.bool_]
Measure: TypeAlias = Callable[[Indices, Indices], Vector]
TRIGGER_GROUPS = {"trigger": "trigger", "strong trigger": "strong"}  # and which words these are
ENTITY_NAMES = ("first", "second")


@dataclass(frozen=True, eq=False)
class DescriptorContext:
    """Pairs with what several descriptors ask about them."""

    arrays: PairArrays
    entities: Entities

    def __len__(self) -> int:
        return len(self.arrays.pairs)

    @cached_property
    def word_groups(self) -> Matrix:  # (tokens, marks)
        """Which groups the words of all sentences are of; entities are blind."""
        own = self.arrays
        found = np.zeros((len(own.token_words), len(GROUP_COLUMN)))
        found[:, :-3] = own.lexicon.lookup_rows(
            groups_of_word, len(GROUP_COLUMN) - 3, own.token_words
        )
        found[:, -3] = self.entities.is_verb
        found[:, -2] = own.token_tags == own.lexicon("CD")
        found[:, -1] = found[:, GROUP_COLUMN["verb"]] * found[:, GROUP_COLUMN["trigger"]]
        return found

    @cached_property
    def cumulative_counts(self) -> Matrix:  # (tokens + 1, marks)
        """How many tokens of each group stand before each token."""
        found = np.zeros((len(self.word_groups) + 1, len(GROUP_COLUMN)))
        np.cumsum(self.word_groups, axis=0, out=found[1:])
        return found

    @cached_property
    def counts_between(self) -> Matrix:  # (pairs, marks)
        """How many tokens of each group stand between the two entities."""
        own = self.arrays
        cell = own.is_entity.nonzero()[0]
        owner, token = own.pair_index[cell], own.token_index[cell]
        theirs = self.word_groups[token] * (token < own.last_token[owner])[:, None]
        between = self.cumulative_counts[own.last_token] - self.cumulative_counts[own.first_token]
        return np.asarray(between - np.add.reduceat(theirs, run_starts(owner)))

    @cached_property
    def middle_tokens(self) -> tuple[Indices, Indices]:
        """The cells between the two entities: pair and token."""
        own = self.arrays
        cell = (own.side == 1).nonzero()[0]
        return own.pair_index[cell], own.token_index[cell]

    @cached_property
    def pair_entities(self) -> Indices:  # (2, pairs)
        """The first and the second entity of each pair."""
        return np.array([self.entities.first, self.entities.second])

    @cached_property
    def other_entities(self) -> OtherEntities:
        """Each pair with each name of its sentence."""
        names, number = self.entities, self.arrays.sentence_index
        begin = names.mention_starts[number]
        pair, place = expand(begin, names.mention_starts[number + 1] - begin)
        entity = names.mentions[place]
        return OtherEntities(
            pair, entity, names.path_length(self.pair_entities.take(pair, axis=1), entity)
        )

    @cached_property
    def mention_pairs(self) -> tuple[Indices, Indices]:
        """Every two names of a sentence."""
        names = self.entities
        place = np.arange(len(names.mentions))
        end = names.mention_starts[1:].repeat(lengths(names.mention_starts))
        one, other = expand(place + 1, end - place - 1)
        return names.mentions[one], names.mentions[other]

    @cached_property
    def triggers(self) -> dict[str, TriggerDistances]:
        """The trigger words of each group."""
        return {
            name: self._find_triggers(GROUP_COLUMN[mark]) for name, mark in TRIGGER_GROUPS.items()
        }

    def _find_triggers(self, mark: int) -> TriggerDistances:
        own = self.arrays
        at = self.word_groups[:, mark].nonzero()[0]
        starts = np.searchsorted(at, own.sentence_starts)
        begin = starts[own.sentence_index]
        pair, place = expand(begin, starts[own.sentence_index + 1] - begin)
        token = at[place]
        free = (~own.is_entity[token + own.offset[pair]]).nonzero()[0]
        pair, token = pair[free], token[free]
        ends = self.pair_entities.take(pair, axis=1)
        return TriggerDistances(
            pair,
            token,
            self.entities.token_path_length(ends, token),
            self.entities.token_distance(ends, token),
        )

    def any_per_pair(self, pair: Indices, mask: Mask) -> Mask:
        """Which pairs have something for which the mask holds."""
        return np.bincount(pair[mask], minlength=len(self)) > 0


def descriptor_values(layout: PairArrays) -> Matrix:
    """The descriptors of pairs, (pairs, descriptors), for ``finished`` to complete."""
    out = np.empty((len(layout.pairs), len(COLUMN)))
    if not len(out):
        return out
    own = DescriptorContext(layout, Entities.from_arrays(layout))
    for part in _FILL_FUNCTIONS:
        part(own, out)
    out[:, column_indices(PATH_DESCRIPTORS)] = path_descriptors(
        layout, own.word_groups[:, _PATH_GROUP_COLUMNS]
    )
    return out


_PATH_GROUP_COLUMNS = np.array([GROUP_COLUMN[mark] for mark in PATH_WORD_GROUPS])


def scale(table: Matrix) -> Matrix:
    """The descriptors, logarithms of counts taken and flags made of them."""
    at = column_indices(LOG_SCALED)
    table[:, at] = np.log1p(table[:, at])
    at = column_indices(FLAGS)
    table[:, at] = table[:, at] > 0
    return table


def _fill_distances(own: DescriptorContext, out: Matrix) -> None:
    layout, names, rivals = own.arrays, own.entities, own.other_entities
    path, gap = (how(names.first, names.second) for how in (names.path_length, names.distance))
    low, high = names.first_token[rivals.entity], names.last_token[rivals.entity]
    inside = (low > layout.first_token[rivals.pair_index]) & (
        high < layout.last_token[rivals.pair_index]
    )
    between = np.bincount(rivals.pair_index[inside & rivals.is_other], minlength=len(own))
    sentences = len(layout.contexts)
    begins, number = names.first_token[names.mentions], names.sentence_index[names.mentions]
    earliest = segment_min(begins, number, sentences, np.iinfo(np.intp).max)
    latest = -segment_min(-begins, number, sentences, 1)
    hedged = np.zeros(sentences, dtype=bool)
    hedged[layout.token_sentence[layout.lexicon.isin(HEDGES, layout.token_words)]] = True
    marked = lengths(own.cumulative_counts[layout.sentence_starts])[layout.sentence_index]
    values = {
        "path length": path,
        "distance": layout.side_sizes[:, 1],
        "sentence length": np.log(layout.sentence_sizes),
        "entities between": between,
        "entities in sentence": np.log(np.maximum(lengths(names.mention_starts), 1))[
            layout.sentence_index
        ],
        "share of shorter paths": _share_below(own, path, names.path_length),
        "share of nearer pairs": _share_below(own, gap, names.distance),
        "first entity": names.first_token[names.first] <= earliest[layout.sentence_index],
        "last entity": names.first_token[names.second] >= latest[layout.sentence_index],
        "adjacent entities": between == 0,
        "shared token": path == 0,
        "doubt": hedged[layout.sentence_index],
        "triggers in sentence": marked[:, GROUP_COLUMN["trigger"]],
        "strong triggers in sentence": marked[:, GROUP_COLUMN["strong"]],
    }
    for name, value in values.items():
        out[:, COLUMN[name]] = value


def _share_below(own: DescriptorContext, limits: Vector, how: Measure) -> Vector:
    """Of all pairs of names of the sentence of each pair, the share with a lower value."""
    one, other = own.mention_pairs
    values, sentence = how(one, other), own.arrays.sentence_index
    high = max(values.max(initial=0.0), limits.max(initial=0.0)) + 1.0
    ordered = np.sort(own.entities.sentence_index[one] * high + values)
    names = lengths(own.entities.mention_starts)
    count = names * (names - 1) // 2
    below = np.searchsorted(ordered, sentence * high + limits) - offsets(count)[sentence]
    return np.asarray(below / np.maximum(count, 1)[sentence])


_BETWEEN_COLUMNS = np.array([GROUP_COLUMN[mark] for mark in GROUP_BETWEEN.values()])


def _fill_counts_between(own: DescriptorContext, out: Matrix) -> None:
    out[:, column_indices(tuple(GROUP_BETWEEN))] = own.counts_between[:, _BETWEEN_COLUMNS]


def _fill_triggers_around(own: DescriptorContext, out: Matrix) -> None:
    layout, counts, begin, end = (
        own.arrays,
        own.cumulative_counts,
        own.arrays.first_token,
        own.arrays.last_token,
    )
    low, high = layout.sentence_base, layout.sentence_base + layout.sentence_sizes
    before, after = counts[begin] - counts[low], counts[high] - counts[end + 1]
    near = counts[begin] - counts[np.maximum(begin - MAX_NEAR_TOKENS, low)]
    next_ = counts[np.minimum(end + 1 + MAX_NEAR_TOKENS, high)] - counts[end + 1]
    trigger, strong, cue, other = (
        GROUP_COLUMN[m] for m in ("trigger", "strong", "between", "other")
    )
    both = (own.counts_between[:, trigger] > 0) & (own.counts_between[:, other] > 0)
    (first, last), (first_other, last_other) = (_extremes(own, m) for m in (trigger, other))
    values = {
        "trigger before": before[:, trigger] > 0,
        "trigger after": after[:, trigger] > 0,
        "strong trigger before": before[:, strong] > 0,
        "strong trigger after": after[:, strong] > 0,
        "strong trigger just before": near[:, strong] > 0,
        "strong trigger just after": next_[:, strong] > 0,
        "cue between": before[:, cue] + own.counts_between[:, cue] > 0,
        "trigger before entities between": both & (first < first_other),
        "trigger after entities between": both & (last > last_other),
    }
    for name, value in values.items():
        out[:, COLUMN[name]] = value


def _extremes(own: DescriptorContext, mark: int) -> tuple[Indices, Indices]:
    """The first and the last token of a group between the two entities of each pair."""
    pair, token = own.middle_tokens
    some = own.word_groups[token, mark].nonzero()[0]
    pair, token = pair[some], token[some]
    found = np.zeros((2, len(own)), dtype=np.intp)
    found[0, pair[::-1]], found[1, pair] = token[::-1], token  # what is put last stays
    return found[0], found[1]


def _fill_short_middles(own: DescriptorContext, out: Matrix) -> None:
    layout, size = own.arrays, own.arrays.side_sizes[:, 1]
    listed = (size == own.counts_between[:, GROUP_COLUMN["separator"]]) & (size > 0)
    out[:, COLUMN["members of one list"]] = listed
    out[:, COLUMN["nothing between"]] = size == 0
    cell = ((layout.side == 1) & (size <= 2)[layout.pair_index]).nonzero()[0]
    begins = offsets(np.where(size <= 2, size, 0))[:-1]
    words = np.append(layout.token_words[layout.token_index[cell]], [-1, -1])
    one, two = size == 1, size == 2
    first, second = words[begins * (one | two)], words[(begins + 1) * two]
    high = layout.sentence_base + layout.sentence_sizes
    behind = np.append(layout.token_words, -1)[
        np.where(layout.last_token + 1 < high, layout.last_token + 1, -1)
    ]
    lexicon = layout.lexicon
    opened, closed, joints = (
        np.array([lexicon(w) for w in g])
        for g in (OPENING_BRACKETS, CLOSING_BRACKETS, JOINING_SYMBOLS)
    )
    comma, and_ = lexicon(","), lexicon("and")
    values = {
        "second in parentheses behind first": one
        & _isin_few(first, opened)
        & _isin_few(behind, closed),
        "joined by hyphen or slash": one & _isin_few(first, joints),
        "joined by and": (one & (first == and_)) | (two & (first == comma) & (second == and_)),
    }
    for name, value in values.items():
        out[:, COLUMN[name]] = value


def _isin_few(words: Indices, few: Indices) -> Mask:
    """Which words are among a few; NumPy's own way sorts them."""
    return (words[:, None] == few).any(axis=1)


def _fill_trigger_distances(own: DescriptorContext, out: Matrix) -> None:
    layout = own.arrays
    for name, told in own.triggers.items():
        away = np.empty(
            (2, 3, len(told.pair_index))
        )  # paths and distances, of first, second and both
        away[0, :2], away[1, :2] = told.path_lengths, np.minimum(told.token_distances, MAX_DISTANCE)
        np.add(away[:, 0], away[:, 1], out=away[:, 2])
        nearest = told.nearest(told.path_lengths, len(own))
        found = np.full((len(own), 7), (MAX_DISTANCE, MAX_DISTANCE, 2 * MAX_DISTANCE) * 2 + (0.0,))
        begins = run_starts(told.pair_index)
        if len(begins):
            low = np.minimum.reduceat(
                away.reshape(6, -1), begins, axis=1
            )  # quicker than by columns
            found[told.pair_index[begins], :6] = low.T
        found[:, 6] = (layout.first_token < nearest) & (nearest < layout.last_token)
        out[:, column_indices(_TRIGGER_DISTANCE_NAMES[name])] = found


def _trigger_distance_names(name: str) -> tuple[str, ...]:
    kinds = [
        f"{what} from {end} to {name}"
        for what in ("path", "distance")
        for end in (*ENTITY_NAMES, "joint")
    ]
    return (*kinds, f"nearest joint {name} between")


_TRIGGER_DISTANCE_NAMES = {name: _trigger_distance_names(name) for name in TRIGGER_GROUPS}


def _fill_closer_entities(own: DescriptorContext, out: Matrix) -> None:
    names, rivals = own.entities, own.other_entities
    distances = names.distance(own.pair_entities.take(rivals.pair_index, axis=1), rivals.entity)
    for how, measure, away in (
        (" by path", names.path_length, rivals.path_lengths),
        ("", names.distance, distances),
    ):
        limit = measure(names.first, names.second)[rivals.pair_index]
        for which, nearer in zip(ENTITY_NAMES, (away < limit) & rivals.is_other, strict=True):
            out[:, COLUMN[f"other entity nearer {which}{how}"]] = own.any_per_pair(
                rivals.pair_index, nearer
            )


_FACT_NAMES = {which: tuple(f"{which} {name}" for name in ENTITY_FACTS) for which in ENTITY_NAMES}


def _fill_entity_facts(own: DescriptorContext, out: Matrix) -> None:
    for which, entity in zip(ENTITY_NAMES, own.pair_entities, strict=True):
        out[:, column_indices(_FACT_NAMES[which])] = own.entities.facts[entity]


def _fill_heads(own: DescriptorContext, out: Matrix) -> None:
    names = own.entities
    above, _, governor = names.governors
    governs = np.zeros(int(names.row_starts[-1]), dtype=bool)
    governs[names.row_offset[above] + governor] = True
    starts = np.searchsorted(above, np.arange(len(names) + 1))
    heads = np.zeros(len(own), dtype=bool)
    for one, other in ((names.first, names.second), (names.second, names.first)):
        pair, place = expand(starts[one], starts[one + 1] - starts[one])
        to = governor[place]
        heads |= own.any_per_pair(pair, names.token_path_length(other[pair], to) == 0)
        common = own.any_per_pair(pair, governs[names.row_offset[other[pair]] + to])
    out[:, COLUMN["common head"]] = common
    out[:, COLUMN["one heads the other"]] = heads


def _fill_name_equality(own: DescriptorContext, out: Matrix) -> None:
    names = own.entities
    texts = names.texts
    known: dict[tuple[int, str], int] = {}
    for entity in names.mentions.tolist():
        key = int(names.sentence_index[entity]), texts[entity]
        known[key] = known.get(key, 0) + 1
    again = [
        known.get((n, t), 0) > 1 for n, t in zip(names.sentence_index.tolist(), texts, strict=True)
    ]
    rows = []
    for i, j in zip(names.first.tolist(), names.second.tolist(), strict=True):
        a, b = texts[i], texts[j]
        rows.append((a == b, a != b and (a in b or b in a), again[i] or again[j]))
    out[:, column_indices(("names equal", "name within name", "name repeated"))] = rows


def _fill_trigger_rivals(own: DescriptorContext, out: Matrix) -> None:
    """How many other entities are nearer to the pair's best trigger than its own are."""
    names, rivals, told = own.entities, own.other_entities, own.triggers["trigger"]
    for how, measure, away in (
        (" by path", names.token_path_length, told.path_lengths),
        ("", names.token_distance, told.token_distances),
    ):
        best = told.nearest(away, len(own))
        some = ((best[rivals.pair_index] >= 0) & rivals.is_other).nonzero()[0]
        rows = rivals.pair_index[some]
        theirs = measure(rivals.entity[some], best[rows])
        ours = measure(own.pair_entities, np.maximum(best, own.arrays.sentence_base))
        for which, nearer in zip(ENTITY_NAMES, theirs < ours.take(rows, axis=1), strict=True):
            counts = np.bincount(rows[nearer], minlength=len(own))
            out[:, COLUMN[f"rivals of {which} for the trigger{how}"]] = counts


_FOLLOWING_COLUMNS = np.array([GROUP_COLUMN[kind] for kind in FOLLOWING_WORD_GROUPS])
_FOLLOWING_NAMES = tuple(
    f"{which} before {kind} words" for which in ENTITY_NAMES for kind in FOLLOWING_WORD_GROUPS
)


def _fill_following_words(own: DescriptorContext, out: Matrix) -> None:
    layout = own.arrays
    high = layout.sentence_base + layout.sentence_sizes
    found = np.zeros((2, len(own), len(FOLLOWING_WORD_GROUPS)), dtype=bool)
    for step in (1, 2):
        at = own.entities.last_token[own.pair_entities] + step
        near = np.minimum(at, high - 1)
        seen = (at < high) & ~layout.is_entity[near + layout.offset]
        found |= (own.word_groups[:, _FOLLOWING_COLUMNS] > 0)[near] & seen[:, :, None]
    out[:, column_indices(_FOLLOWING_NAMES)] = found.swapaxes(0, 1).reshape(len(own), -1)


_FILL_FUNCTIONS = (
    *(
        _fill_distances,
        _fill_counts_between,
        _fill_triggers_around,
        _fill_short_middles,
        _fill_trigger_distances,
    ),
    *(
        _fill_closer_entities,
        _fill_entity_facts,
        _fill_heads,
        _fill_name_equality,
        _fill_trigger_rivals,
        _fill_following_words,
    ),
)
DescriptorSet: TypeAlias = Literal["basic", "position", "relation"]
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

    which: DescriptorSet = "relation"
    entity_counts: bool = True
    name_equality: bool = True
    parse: Parse = "auto"

    def __post_init__(self) -> None:
        check_choice("parse", [self.parse], get_args(Parse))
        check_choice("which", [self.which], get_args(DescriptorSet))

    def __call__(self, candidates: Sequence[Candidate]) -> Features:
        return self.represent(analyze_pairs(candidates, self.parse))

    def represent(self, pairs: Sequence[EntityPair]) -> Features:
        """The descriptors of pairs that are already analysed."""
        return self.represent_all_sizes(pairs)[self.which]

    def represent_all_sizes(self, pairs: Sequence[EntityPair]) -> dict[str, Features]:
        """The descriptors in every size up to this one, for the price of the largest."""
        kept, scales, sizes = self._selection
        every = RawCSR.from_dense(scale(descriptor_values(pair_arrays(pairs)))[:, kept] / scales)
        return {
            which: Features(_select_columns(every, number, len(names)), names)
            for which, (number, names) in sizes.items()
        }

    @cached_property
    def _selection(
        self,
    ) -> tuple[Indices, Vector, dict[str, tuple[NDArray[np.int32], FeatureNames]]]:
        """Which descriptors are kept, their scales; in each size their numbers, -1, and names."""
        sizes: tuple[DescriptorSet, ...] = get_args(DescriptorSet)
        levels = sizes[: sizes.index(self.which) + 1]
        kept = [i for i, d in enumerate(DESCRIPTORS) if d.level in levels and self._is_selected(d)]
        chosen = [DESCRIPTORS[i] for i in kept]
        found: dict[str, tuple[NDArray[np.int32], FeatureNames]] = {}
        for place, which in enumerate(levels):
            some = [i for i, d in enumerate(chosen) if d.level in levels[: place + 1]]
            number = np.full(len(chosen), -1, dtype=np.int32)
            number[some] = np.arange(len(some))
            found[which] = number, FeatureNames.from_iterable(chosen[i].name for i in some)
        return np.array(kept, dtype=np.intp), np.array([d.scale for d in chosen]), found

    def _is_selected(self, descriptor: Descriptor) -> bool:
        left_out = {
            "entity count": not self.entity_counts,
            "name equality": not self.name_equality,
        }
        return not left_out.get(descriptor.group, False)


def _select_columns(cells: RawCSR, number: NDArray[np.int32], width: int) -> RawCSR:
    """Some of the columns, given the number of each among them; -1 for the others."""
    indices = number[cells.indices]
    kept = indices >= 0
    ends = offsets(kept)[cells.indptr].astype(np.int32)
    return RawCSR(cells.data[kept], indices[kept], ends, (cells.shape[0], width))
