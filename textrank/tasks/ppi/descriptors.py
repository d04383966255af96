"""Numeric descriptors of a pair of entities, for a Gaussian kernel.

``DESCRIPTORS`` lists all of them with meaning and scale, and ``PairDescriptors`` is the registered
representation. ``descriptor_values`` computes a table (pairs, DESCRIPTORS) for all pairs of a
batch. Each function ``_fill_*`` writes one group of columns to it, in place; counts and flags are
raw at first and converted by ``scale`` at the end.

Intermediate results are computed once for all sentences of a batch. ``Entities`` numbers the
distinct entities and has their distances to tokens and to one another; ``OtherEntities`` combines
each pair with the other entities of its sentence, ``TriggerDistances`` with its trigger words;
``path_descriptors`` computes the descriptors of the dependency path. Tokens are numbered over all
sentences of the batch unless stated otherwise.

- A *mention* is an entity that the sentence is annotated with. The two entities of a pair are the
  *first* and the *second* in text order.
- A *step* is one dependency in walking direction: up to the governor, or down to a dependent.
- A *path length* is the number of steps of the shortest path between two tokens; a *linear
  distance* is the difference of token positions. Missing distances are 12.
- *Trigger words* are those of ``vocabulary`` that can express an interaction; strong triggers
  express physical interaction. Words of entities never count as triggers.
- The *top* of a path is the token at which it turns from climbing to descending.
- Flags are 1 or 0.

Scales are standard deviations, at least 0.15, over 4059 pairs of protein names in the first 400
abstracts of the JNLPBA training part, which has no interactions annotated and is not used to
evaluate pairs; parsed by an early version of the shipped language model, without sentences of more
than 8 names.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Literal, TypeAlias, get_args

import numpy as np
from numpy.typing import NDArray

from textrank._ragged import (
    concat,
    expand,
    first_true,
    lengths,
    offsets,
    run_starts,
    segment_min,
    sum_rows_by_owner,
)
from textrank.candidates import Candidate
from textrank.features import FeatureNames, Features, Indices, Matrix, RawCSR, Vector
from textrank.tasks.ppi.pairs import (
    OTHER_ENTITY,
    EntityPair,
    PairArrays,
    analyze_pairs,
    pair_arrays,
)
from textrank.tasks.ppi.sentences import Parse, check_choice
from textrank.tasks.ppi.vocabulary import (
    HEDGES,
    NEGATIONS,
    STRONG_TRIGGERS,
    TRIGGERS,
    dependency_group,
    is_verb,
    stems,
)

MAX_DISTANCE = 12.0  # steps or tokens beyond which distances are clipped
OPENING_BRACKETS, CLOSING_BRACKETS = ("(", "[", "-LRB-"), (")", "]", "-RRB-")
PARTNER_PREPOSITIONS = ("prep_with", "prep_to")
ROLE_PREPOSITIONS = ("prep_of", "prep_by", "prep_between", "agent")
ENTITY_FACTS = (
    "is subject",
    "is object",
    "is conjunct",
    "is modifier",
    "is with or to",
    "is of, by or between",
    "is apposition",
    "under a verb",
    "under a trigger",
    "before a noun",
    "before a hyphen or slash",
    "before a list separator",
    "depth",
    "position",
)


CLAUSE_DEPENDENCIES = frozenset(
    ("ccomp", "advcl", "rcmod", "xcomp", "parataxis", "csubj", "relcl", "purpcl")
)
PREPOSITIONS = ("with", "to", "of", "by", "in", "between", "for", "from")
COARSE_GROUPS = ("conj", "appos", "loose", "subj", "obj", "prep", "agent", "mod")
# Kinds of dependencies; one may belong to several.
STEP_KINDS = (*COARSE_GROUPS, "clause", *(f"_{p}" for p in PREPOSITIONS))
PATH_WORD_GROUPS = ("trigger", "strong", "other", "verb")  # that path descriptors use
PATH_DESCRIPTORS = (
    "no path",
    "path is loose",
    "path has conjunction",
    "path has apposition",
    "path has subject",
    "path has object",
    "path has preposition",
    "trigger on path",
    "strong trigger on path",
    "third entity on path",
    "path is negated",
    "verbs on path",
    "lists on path",
    "modifiers on path",
    "clauses on path",
    "prepositions on path",
    "path length without lists",
    *(f"path has {preposition}" for preposition in PREPOSITIONS),
    "top is an entity",
    "top is a trigger",
    "top is a strong trigger",
    "top is a verb",
    "subject and object of the top",
    "both beside the top",
)  # in the order of path_descriptors


@dataclass(frozen=True)
class Descriptor:
    """Definition of one number about a pair, which is divided by ``scale`` before use."""

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
MAX_NEAR_TOKENS = 3  # up to which a trigger stands "just" before or after the pair
SEPARATORS = frozenset(
    (",", "and", "or", "/", "\\/", "(", ")", "-", "as", "well", "both", OTHER_ENTITY)
)
OPENING_BRACKET_STEMS = ("(", "[", "-lrb-")
CLOSING_BRACKET_STEMS = (")", "]", "-rrb-")
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
    name: i
    for i, name in enumerate((*WORD_GROUPS, "parenthesis", "verb", "number", "trigger verb"))
}
# Descriptors that count words of a group between the entities: first six counts, then flags.
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
    "trigger verb between": "trigger verb",
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
    """Return flags that say which word groups a word belongs to. Cached.

    There is one flag per item of WORD_GROUPS (triggers, commas, negations, ...), in order, then one
    for brackets: "(", ")", "[", "]", or anything that contains "rb-", such as "-lrb-". ``word`` is
    a stem, or the placeholder of an entity's word; it must not be empty.
    """
    return (*(word in words for words in WORD_GROUPS.values()), word in "()[]" or "rb-" in word)


@lru_cache(maxsize=256)
def column_indices(names: tuple[str, ...]) -> Indices:
    """Return the columns of descriptors in the table, in the order of ``names``.

    Cached: do not change the result. Raises KeyError for an unknown name.
    """
    return np.array([COLUMN[name] for name in names], dtype=np.intp)


Mask: TypeAlias = NDArray[np.bool_]
Measure: TypeAlias = Callable[[Indices, Indices], Vector]
TRIGGER_GROUPS = {
    "trigger": "trigger",
    "strong trigger": "strong",
}  # name in descriptors -> word group
ENTITY_NAMES = ("first", "second")


@dataclass(frozen=True, eq=False)
class DescriptorContext:
    """Intermediate results that several descriptors of the pairs of a batch share.

    Each is computed at first use and kept. Tokens are numbered over all sentences of the batch, as
    in ``arrays``; ``entities`` must be made from the same arrays.
    """

    arrays: PairArrays
    entities: Entities

    def __len__(self) -> int:
        """Return the number of pairs."""
        return len(self.arrays.pairs)

    @cached_property
    def word_groups(self) -> Matrix:
        """Return which word groups each token belongs to, (tokens, groups), 0 or 1.

        Columns are those of GROUP_COLUMN: WORD_GROUPS, then brackets, verbs, numbers, and triggers
        that are verbs. Words of entities are replaced by ``PROT``, which is in the groups "other"
        and "separator". Verbs and numbers are found by their part-of-speech tags, also in entities.
        """
        arrays = self.arrays
        groups = np.zeros((len(arrays.token_words), len(GROUP_COLUMN)))
        groups[:, :-3] = arrays.lexicon.lookup_rows(
            groups_of_word, len(GROUP_COLUMN) - 3, arrays.token_words
        )
        groups[:, -3] = self.entities.is_verb
        groups[:, -2] = arrays.token_tags == arrays.lexicon("CD")
        groups[:, -1] = groups[:, GROUP_COLUMN["verb"]] * groups[:, GROUP_COLUMN["trigger"]]
        return groups

    @cached_property
    def cumulative_counts(self) -> Matrix:
        """Return how many tokens of each group precede each token, shape (tokens + 1, groups).

        The difference of two rows is the number of tokens of each group between them.
        """
        counts = np.zeros((len(self.word_groups) + 1, len(GROUP_COLUMN)))
        np.cumsum(self.word_groups, axis=0, out=counts[1:])
        return counts

    @cached_property
    def counts_between(self) -> Matrix:
        """Return how many tokens of each group are between the entities, (pairs, groups).

        Counted are the tokens from the first token of the pair to its last that belong to neither
        entity. Columns are those of GROUP_COLUMN.
        """
        arrays = self.arrays
        pair_token = arrays.is_entity.nonzero()[0]
        pair, token = arrays.pair_index[pair_token], arrays.token_index[pair_token]
        inside_entities = self.word_groups[token] * (token < arrays.last_token[pair])[:, None]
        counts = self.cumulative_counts
        from_first_to_last = counts[arrays.last_token] - counts[arrays.first_token]
        return np.asarray(from_first_to_last - np.add.reduceat(inside_entities, run_starts(pair)))

    @cached_property
    def middle_tokens(self) -> tuple[Indices, Indices]:
        """Return all tokens between the entities, as two parallel arrays (pair, token).

        Sorted by pair, then in text order.
        """
        arrays = self.arrays
        pair_token = (arrays.side == 1).nonzero()[0]
        return arrays.pair_index[pair_token], arrays.token_index[pair_token]

    @cached_property
    def pair_entities(self) -> Indices:
        """Return the first and the second entity of each pair, (2, pairs), as in ``entities``."""
        return np.array([self.entities.first, self.entities.second])

    @cached_property
    def other_entities(self) -> OtherEntities:
        """Return each pair combined with each mention of its sentence, its own entities included.

        Sorted by pair, then in text order; ``is_other`` of the result marks the mentions that
        overlap neither entity of the pair.
        """
        entities, sentence = self.entities, self.arrays.sentence_index
        start = entities.mention_starts[sentence]
        pair, position = expand(start, entities.mention_starts[sentence + 1] - start)
        entity = entities.mentions[position]
        path_lengths = entities.path_length(self.pair_entities.take(pair, axis=1), entity)
        return OtherEntities(pair, entity, path_lengths)

    @cached_property
    def mention_pairs(self) -> tuple[Indices, Indices]:
        """Return all combinations of two mentions of a sentence as two parallel arrays of entities.

        Each unordered combination occurs once; they are sorted by sentence.
        """
        entities = self.entities
        position = np.arange(len(entities.mentions))
        end = entities.mention_starts[1:].repeat(lengths(entities.mention_starts))
        first, second = expand(position + 1, end - position - 1)
        return entities.mentions[first], entities.mentions[second]

    @cached_property
    def triggers(self) -> dict[str, TriggerDistances]:
        """Return each pair combined with its trigger words, under "trigger" and "strong trigger".

        The triggers of a pair are the words of the group in its sentence that are outside its two
        entities.
        """
        return {
            name: self._find_triggers(GROUP_COLUMN[group]) for name, group in TRIGGER_GROUPS.items()
        }

    def _find_triggers(self, column: int) -> TriggerDistances:
        """Return each pair combined with the words of a group outside its entities.

        ``column`` is the column of the group in ``word_groups``. Sorted by pair, then in text
        order; a pair without such a word does not occur.
        """
        arrays = self.arrays
        trigger_tokens = self.word_groups[:, column].nonzero()[0]
        starts = np.searchsorted(trigger_tokens, arrays.sentence_starts)
        start = starts[arrays.sentence_index]
        pair, position = expand(start, starts[arrays.sentence_index + 1] - start)
        token = trigger_tokens[position]
        outside = (~arrays.is_entity[token + arrays.offset[pair]]).nonzero()[0]
        pair, token = pair[outside], token[outside]
        entities = self.pair_entities.take(pair, axis=1)
        return TriggerDistances(
            pair,
            token,
            self.entities.token_path_length(entities, token),
            self.entities.token_distance(entities, token),
        )

    def any_per_pair(self, pair: Indices, mask: Mask) -> Mask:
        """Return, for each pair, whether any of its entries is true in ``mask``, shape (pairs,).

        Entry i belongs to the pair ``pair[i]``.
        """
        return np.bincount(pair[mask], minlength=len(self)) > 0


def descriptor_values(arrays: PairArrays) -> Matrix:
    """Return all descriptors of pairs before scaling, shape (pairs, DESCRIPTORS).

    Rows are in the order of ``arrays.pairs``, columns in that of ``DESCRIPTORS``. Counts that
    ``scale`` replaces by logarithms or flags are still raw, and no value is divided by its
    ``Descriptor.scale``.
    """
    table = np.empty((len(arrays.pairs), len(COLUMN)))
    if not len(table):
        return table
    context = DescriptorContext(arrays, Entities.from_arrays(arrays))
    for fill in _FILL_FUNCTIONS:
        fill(context, table)
    table[:, column_indices(PATH_DESCRIPTORS)] = path_descriptors(
        arrays, context.word_groups[:, _PATH_GROUP_COLUMNS]
    )
    return table


_PATH_GROUP_COLUMNS = np.array([GROUP_COLUMN[group] for group in PATH_WORD_GROUPS])


def scale(table: Matrix) -> Matrix:
    """Replace LOG_SCALED columns x by log(1 + x) and FLAGS by x > 0, in place; return the table.

    ``table`` is the result of ``descriptor_values``. Call this once per table. Values are not
    divided by ``Descriptor.scale``.
    """
    columns = column_indices(LOG_SCALED)
    table[:, columns] = np.log1p(table[:, columns])
    columns = column_indices(FLAGS)
    table[:, columns] = table[:, columns] > 0
    return table


def _fill_distances(context: DescriptorContext, table: Matrix) -> None:
    """Fill distances between the entities, and descriptors that count entities or use the sentence.

    Writes these columns of ``table`` (one row per pair), in place: path length; distance; length
    and entities of the sentence; entities between; shares of shorter paths and of nearer pairs;
    flags for first, last and adjacent entities, a shared token, and doubt; triggers and strong
    triggers in the sentence. Counts of triggers, of tokens between and of entities between are raw;
    those of the sentence's tokens and entities are already logarithms. Entities between begin after
    the first token of the pair, end before its last, and share no token with its entities.
    """
    arrays, entities, others = context.arrays, context.entities, context.other_entities
    path, gap = (
        measure(entities.first, entities.second)
        for measure in (entities.path_length, entities.distance)
    )
    starts, ends = entities.first_token[others.entity], entities.last_token[others.entity]
    pair = others.pair_index
    is_inside = (starts > arrays.first_token[pair]) & (ends < arrays.last_token[pair])
    n_between = np.bincount(pair[is_inside & others.is_other], minlength=len(context))
    sentence, n_sentences = arrays.sentence_index, len(arrays.contexts)
    mention_start = entities.first_token[entities.mentions]
    mention_sentence = entities.sentence_index[entities.mentions]
    earliest = segment_min(mention_start, mention_sentence, n_sentences, np.iinfo(np.intp).max)
    latest = -segment_min(-mention_start, mention_sentence, n_sentences, 1)
    log_mentions = np.log(np.maximum(lengths(entities.mention_starts), 1))
    has_hedge = np.zeros(n_sentences, dtype=bool)
    has_hedge[arrays.token_sentence[arrays.lexicon.isin(HEDGES, arrays.token_words)]] = True
    group_counts = lengths(context.cumulative_counts[arrays.sentence_starts])[sentence]
    values = {
        "path length": path,
        "distance": arrays.side_sizes[:, 1],
        "sentence length": np.log(arrays.sentence_sizes),
        "entities between": n_between,
        "entities in sentence": log_mentions[sentence],
        "share of shorter paths": _share_under(context, path, entities.path_length),
        "share of nearer pairs": _share_under(context, gap, entities.distance),
        "first entity": entities.first_token[entities.first] <= earliest[sentence],
        "last entity": entities.first_token[entities.second] >= latest[sentence],
        "adjacent entities": n_between == 0,
        "shared token": path == 0,
        "doubt": has_hedge[sentence],
        "triggers in sentence": group_counts[:, GROUP_COLUMN["trigger"]],
        "strong triggers in sentence": group_counts[:, GROUP_COLUMN["strong"]],
    }
    for name, value in values.items():
        table[:, COLUMN[name]] = value


def _share_under(context: DescriptorContext, limits: Vector, measure: Measure) -> Vector:
    """Return, for each pair, the share of mention pairs of its sentence below its limit, (pairs,).

    ``limits`` has one value per pair, 0 or more. ``measure`` returns the values, 0 or more, of two
    parallel arrays of entities; values equal to the limit are not below. 0 for a sentence with
    fewer than two mentions.
    """
    first, second = context.mention_pairs
    values, sentence = measure(first, second), context.arrays.sentence_index
    high = max(values.max(initial=0.0), limits.max(initial=0.0)) + 1.0
    ordered = np.sort(context.entities.sentence_index[first] * high + values)
    n_mentions = lengths(context.entities.mention_starts)
    n_mention_pairs = n_mentions * (n_mentions - 1) // 2
    rank = np.searchsorted(ordered, sentence * high + limits)
    n_below = rank - offsets(n_mention_pairs)[sentence]
    return np.asarray(n_below / np.maximum(n_mention_pairs, 1)[sentence])


_BETWEEN_COLUMNS = np.array([GROUP_COLUMN[group] for group in GROUP_BETWEEN.values()])


def _fill_counts_between(context: DescriptorContext, table: Matrix) -> None:
    """Fill the numbers of words of each group between the entities.

    Writes the columns GROUP_BETWEEN of ``table`` (one row per pair), in place. All are raw counts,
    also those that ``scale`` converts to flags.
    """
    table[:, column_indices(tuple(GROUP_BETWEEN))] = context.counts_between[:, _BETWEEN_COLUMNS]


def _fill_trigger_positions(context: DescriptorContext, table: Matrix) -> None:
    """Fill flags about triggers before and after the pair, and before and after entities between.

    Writes to ``table`` (one row per pair), in place: "trigger before" and "after"; "strong trigger
    before", "after", "just before" and "just after"; "cue between"; "trigger before" and "after
    entities between". Only the pair's sentence is considered. "Just" means within MAX_NEAR_TOKENS
    tokens of the pair. "Cue between" is the word "between", before the pair or between its
    entities. The last two flags are set only if both a trigger and another entity are between the
    two: whether the first trigger precedes the first such entity, and whether the last trigger
    follows the last.
    """
    arrays, counts = context.arrays, context.cumulative_counts
    first_token, last_token = arrays.first_token, arrays.last_token
    sentence_start, sentence_end = (
        arrays.sentence_base,
        arrays.sentence_base + arrays.sentence_sizes,
    )
    window_start = np.maximum(first_token - MAX_NEAR_TOKENS, sentence_start)
    window_end = np.minimum(last_token + 1 + MAX_NEAR_TOKENS, sentence_end)
    before = counts[first_token] - counts[sentence_start]
    after = counts[sentence_end] - counts[last_token + 1]
    just_before = counts[first_token] - counts[window_start]
    just_after = counts[window_end] - counts[last_token + 1]
    columns = (GROUP_COLUMN[group] for group in ("trigger", "strong", "between", "other"))
    trigger, strong, between, other = columns
    has_both = (context.counts_between[:, trigger] > 0) & (context.counts_between[:, other] > 0)
    first, last = _extremes(context, trigger)
    first_other, last_other = _extremes(context, other)
    values = {
        "trigger before": before[:, trigger] > 0,
        "trigger after": after[:, trigger] > 0,
        "strong trigger before": before[:, strong] > 0,
        "strong trigger after": after[:, strong] > 0,
        "strong trigger just before": just_before[:, strong] > 0,
        "strong trigger just after": just_after[:, strong] > 0,
        "cue between": before[:, between] + context.counts_between[:, between] > 0,
        "trigger before entities between": has_both & (first < first_other),
        "trigger after entities between": has_both & (last > last_other),
    }
    for name, value in values.items():
        table[:, COLUMN[name]] = value


def _extremes(context: DescriptorContext, column: int) -> tuple[Indices, Indices]:
    """Return the first and the last token of a word group between the entities, each (pairs,).

    ``column`` is the column of the group in ``word_groups``. Tokens are numbered over the batch.
    Both are 0 if there is no such token, which is also a valid number: check ``counts_between``
    first.
    """
    pair, token = context.middle_tokens
    kept = context.word_groups[token, column].nonzero()[0]
    pair, token = pair[kept], token[kept]
    extremes = np.zeros((2, len(context)), dtype=np.intp)
    extremes[0, pair[::-1]], extremes[1, pair] = token[::-1], token  # the last assignment wins
    return extremes[0], extremes[1]


def _fill_short_middles(context: DescriptorContext, table: Matrix) -> None:
    """Fill flags about lists, and about entities with at most two tokens between them.

    Writes to ``table`` (one row per pair), in place: "members of one list" (at least one token
    between the entities, all of them SEPARATORS), "nothing between", "second in parentheses behind
    first" (a single opening bracket between the two and a closing one right after the second),
    "joined by hyphen or slash" (a single such token), and "joined by and" ("and" or ", and").
    """
    arrays, size = context.arrays, context.arrays.side_sizes[:, 1]
    is_list = (size == context.counts_between[:, GROUP_COLUMN["separator"]]) & (size > 0)
    table[:, COLUMN["members of one list"]] = is_list
    table[:, COLUMN["nothing between"]] = size == 0
    pair_token = ((arrays.side == 1) & (size <= 2)[arrays.pair_index]).nonzero()[0]
    starts = offsets(np.where(size <= 2, size, 0))[:-1]
    words = np.append(arrays.token_words[arrays.token_index[pair_token]], [-1, -1])
    has_one, has_two = size == 1, size == 2
    first, second = words[starts * (has_one | has_two)], words[(starts + 1) * has_two]
    sentence_end = arrays.sentence_base + arrays.sentence_sizes
    next_token = np.where(arrays.last_token + 1 < sentence_end, arrays.last_token + 1, -1)
    next_word = np.append(arrays.token_words, -1)[next_token]
    lexicon = arrays.lexicon
    opening, closing, joints = (
        np.array([lexicon(word) for word in words])
        for words in (OPENING_BRACKET_STEMS, CLOSING_BRACKET_STEMS, JOINING_SYMBOLS)
    )
    comma, and_ = lexicon(","), lexicon("and")
    in_brackets = _isin_small_set(first, opening) & _isin_small_set(next_word, closing)
    by_and = (has_one & (first == and_)) | (has_two & (first == comma) & (second == and_))
    values = {
        "second in parentheses behind first": has_one & in_brackets,
        "joined by hyphen or slash": has_one & _isin_small_set(first, joints),
        "joined by and": by_and,
    }
    for name, value in values.items():
        table[:, COLUMN[name]] = value


def _isin_small_set(words: Indices, members: Indices) -> Mask:
    """Return which of ``words`` are among ``members``, shape (words,).

    Both are word numbers of the same lexicon. Faster than ``np.isin`` if there are few members;
    needs memory for words * members flags.
    """
    return (words[:, None] == members).any(axis=1)


def _fill_trigger_distances(context: DescriptorContext, table: Matrix) -> None:
    """Fill the distances from each entity, and from both together, to the nearest trigger.

    Writes seven columns for each trigger group (``_TRIGGER_DISTANCE_NAMES``) to ``table`` (one row
    per pair), in place. Three are path lengths: from the first entity, from the second, and the
    smallest sum of both to the same trigger. Three are the same with linear distances. Each
    distance is clipped at MAX_DISTANCE, a sum at twice that, which are also the values without a
    trigger. The last is a flag: whether the trigger with the smallest sum of path lengths (the
    first of equals) is between the entities; 0 without a trigger.
    """
    arrays = context.arrays
    for name, triggers in context.triggers.items():
        # Path lengths and linear distances, from the first entity, the second, and both together.
        distances = np.empty((2, 3, len(triggers.pair_index)))
        distances[0, :2] = triggers.path_lengths
        distances[1, :2] = np.minimum(triggers.token_distances, MAX_DISTANCE)
        np.add(distances[:, 0], distances[:, 1], out=distances[:, 2])
        nearest = triggers.nearest(triggers.path_lengths, len(context))
        defaults = (MAX_DISTANCE, MAX_DISTANCE, 2 * MAX_DISTANCE) * 2 + (0.0,)
        values = np.full((len(context), 7), defaults)
        starts = run_starts(triggers.pair_index)
        if len(starts):
            smallest = np.minimum.reduceat(distances.reshape(6, -1), starts, axis=1)  # fast axis
            values[triggers.pair_index[starts], :6] = smallest.T
        values[:, 6] = (arrays.first_token < nearest) & (nearest < arrays.last_token)
        table[:, column_indices(_TRIGGER_DISTANCE_NAMES[name])] = values


def _trigger_distance_names(name: str) -> tuple[str, ...]:
    """Return the names of the seven descriptors of distances to a group of triggers.

    ``name`` is a key of TRIGGER_GROUPS. Names are in the order path from first, second and joint,
    distance from first, second and joint, then the flag "nearest joint ... between".
    """
    names = [
        f"{what} from {end} to {name}"
        for what in ("path", "distance")
        for end in (*ENTITY_NAMES, "joint")
    ]
    return (*names, f"nearest joint {name} between")


_TRIGGER_DISTANCE_NAMES = {name: _trigger_distance_names(name) for name in TRIGGER_GROUPS}


def _fill_closer_entities(context: DescriptorContext, table: Matrix) -> None:
    """Fill whether another entity is closer to the first or second than they are to each other.

    Writes flags to the columns "other entity nearer ..." of ``table`` (one row per pair), in place,
    once by path length and once by linear distance. An entity at equal distance is not closer;
    mentions that share a token with an entity of the pair are ignored.
    """
    entities, others = context.entities, context.other_entities
    pair = others.pair_index
    linear = entities.distance(context.pair_entities.take(pair, axis=1), others.entity)
    for suffix, measure, distances in (
        (" by path", entities.path_length, others.path_lengths),
        ("", entities.distance, linear),
    ):
        limit = measure(entities.first, entities.second)[pair]
        is_closer = (distances < limit) & others.is_other
        for which, mask in zip(ENTITY_NAMES, is_closer, strict=True):
            column = COLUMN[f"other entity nearer {which}{suffix}"]
            table[:, column] = context.any_per_pair(pair, mask)


_FACT_NAMES = {which: tuple(f"{which} {name}" for name in ENTITY_FACTS) for which in ENTITY_NAMES}


def _fill_entity_facts(context: DescriptorContext, table: Matrix) -> None:
    """Fill ENTITY_FACTS (roles, governors, next token, bracket depth, position) of both entities.

    Writes the columns ``_FACT_NAMES``, "first ..." and "second ...", of ``table`` (one row per
    pair), in place.
    """
    for which, entity in zip(ENTITY_NAMES, context.pair_entities, strict=True):
        table[:, column_indices(_FACT_NAMES[which])] = context.entities.facts[entity]


def _fill_heads(context: DescriptorContext, table: Matrix) -> None:
    """Fill "common head" and "one heads the other".

    Writes flags to ``table`` (one row per pair), in place: whether both entities depend on the same
    word, and whether one depends on a token of the other. Any token of an entity and any of its
    governors outside the entity count.
    """
    entities = context.entities
    entity, _, governor = entities.governors
    is_governor = np.zeros(int(entities.row_starts[-1]), dtype=bool)
    is_governor[entities.row_offset[entity] + governor] = True
    starts = np.searchsorted(entity, np.arange(len(entities) + 1))
    one_heads_other = np.zeros(len(context), dtype=bool)
    for first, second in ((entities.first, entities.second), (entities.second, entities.first)):
        pair, position = expand(starts[first], starts[first + 1] - starts[first])
        token = governor[position]
        is_in_second = entities.token_path_length(second[pair], token) == 0
        one_heads_other |= context.any_per_pair(pair, is_in_second)
        common = context.any_per_pair(pair, is_governor[entities.row_offset[second[pair]] + token])
    table[:, COLUMN["common head"]] = common
    table[:, COLUMN["one heads the other"]] = one_heads_other


def _fill_name_equality(context: DescriptorContext, table: Matrix) -> None:
    """Fill "names equal", "name within name" and "name repeated".

    Writes flags to ``table`` (one row per pair), in place. Names are compared in lower case, with
    tokens joined by spaces. "Name within name" is 0 for equal names. "Name repeated" says whether a
    name of the pair is that of at least two mentions of the sentence.
    """
    entities = context.entities
    texts = entities.texts
    n_mentions: dict[tuple[int, str], int] = {}
    for entity in entities.mentions.tolist():
        key = int(entities.sentence_index[entity]), texts[entity]
        n_mentions[key] = n_mentions.get(key, 0) + 1
    is_repeated = [
        n_mentions.get((n, t), 0) > 1
        for n, t in zip(entities.sentence_index.tolist(), texts, strict=True)
    ]
    rows = []
    for i, j in zip(entities.first.tolist(), entities.second.tolist(), strict=True):
        a, b = texts[i], texts[j]
        rows.append((a == b, a != b and (a in b or b in a), is_repeated[i] or is_repeated[j]))
    table[:, column_indices(("names equal", "name within name", "name repeated"))] = rows


def _fill_trigger_rivals(context: DescriptorContext, table: Matrix) -> None:
    """Fill how many other entities are closer to the pair's trigger than its own entities are.

    Writes raw counts to the columns "rivals of ..." of ``table`` (one row per pair), in place, once
    by path length and once by linear distance. The pair's trigger is the one with the smallest sum
    of distances to both entities, the first of equals; without a trigger, counts are 0. A mention
    at equal distance is not closer; mentions that share a token with an entity of the pair are
    ignored.
    """
    entities, others = context.entities, context.other_entities
    triggers = context.triggers["trigger"]
    for suffix, measure, distances in (
        (" by path", entities.token_path_length, triggers.path_lengths),
        ("", entities.token_distance, triggers.token_distances),
    ):
        trigger = triggers.nearest(distances, len(context))
        kept = ((trigger[others.pair_index] >= 0) & others.is_other).nonzero()[0]
        rows = others.pair_index[kept]
        their_distance = measure(others.entity[kept], trigger[rows])
        valid_trigger = np.maximum(trigger, context.arrays.sentence_base)
        own_distance = measure(context.pair_entities, valid_trigger).take(rows, axis=1)
        for which, is_closer in zip(ENTITY_NAMES, their_distance < own_distance, strict=True):
            counts = np.bincount(rows[is_closer], minlength=len(context))
            table[:, COLUMN[f"rivals of {which} for the trigger{suffix}"]] = counts


_FOLLOWING_COLUMNS = np.array([GROUP_COLUMN[group] for group in FOLLOWING_WORD_GROUPS])
_FOLLOWING_NAMES = tuple(
    f"{which} before {kind} words" for which in ENTITY_NAMES for kind in FOLLOWING_WORD_GROUPS
)


def _fill_following_words(context: DescriptorContext, table: Matrix) -> None:
    """Fill whether a word of each of FOLLOWING_WORD_GROUPS follows each entity within two tokens.

    Writes flags to the columns ``_FOLLOWING_NAMES`` of ``table`` (one row per pair), in place:
    those for the first entity, then those for the second. Only the next two tokens of the same
    sentence are considered; if one of these belongs to an entity of the pair, it is in no group.
    """
    arrays = context.arrays
    sentence_end = arrays.sentence_base + arrays.sentence_sizes
    follows = np.zeros((2, len(context), len(FOLLOWING_WORD_GROUPS)), dtype=bool)
    for step in (1, 2):
        token = context.entities.last_token[context.pair_entities] + step
        next_token = np.minimum(token, sentence_end - 1)
        is_visible = (token < sentence_end) & ~arrays.is_entity[next_token + arrays.offset]
        has_group = (context.word_groups[:, _FOLLOWING_COLUMNS] > 0)[next_token]
        follows |= has_group & is_visible[:, :, None]
    table[:, column_indices(_FOLLOWING_NAMES)] = follows.swapaxes(0, 1).reshape(len(context), -1)


_FILL_FUNCTIONS = (
    _fill_distances,
    _fill_counts_between,
    _fill_trigger_positions,
    _fill_short_middles,
    _fill_trigger_distances,
    _fill_closer_entities,
    _fill_entity_facts,
    _fill_heads,
    _fill_name_equality,
    _fill_trigger_rivals,
    _fill_following_words,
)
DescriptorSet: TypeAlias = Literal["basic", "position", "relation"]


@dataclass(frozen=True, kw_only=True)
class PairDescriptors:
    """Numbers about a pair, each divided by a fixed scale, for a Gaussian kernel.

    The pair's entities are replaced by placeholders, so their names have no influence except on the
    group ``name_equality``. Scales are constants and not estimated from data, so nothing
    leaks from a test fold, and the closed-form hold-out stays exact. Values are not centred, since
    a Gaussian kernel does not depend on the centre.

    Parameters
    ----------
    which
        ``"basic"`` has 32 descriptors, ``"position"`` these and 56 more, ``"relation"`` all 136;
        ``DESCRIPTORS`` documents each one and its scale.
    entity_counts
        Whether to include descriptors of how many entities are marked in the sentence, between the
        two, and closer to one of them. They exploit how a corpus is annotated.
    name_equality
        Whether to include the three descriptors that compare names: equal, contained, repeated.
        They exploit how a corpus is annotated, too.
    parse
        Dependencies to use, see ``Dependencies.from_doc``.
    """

    which: DescriptorSet = "relation"
    entity_counts: bool = True
    name_equality: bool = True
    parse: Parse = "auto"

    def __post_init__(self) -> None:
        """Raise ValueError if ``parse`` or ``which`` is not one of its choices."""
        check_choice("parse", [self.parse], get_args(Parse))
        check_choice("which", [self.which], get_args(DescriptorSet))

    def __call__(self, candidates: Sequence[Candidate]) -> Features:
        """Return the descriptors of candidates, one row each, in order.

        Raises ValueError if a candidate does not have two spans or its Doc lacks the parse.
        """
        return self.represent(analyze_pairs(candidates, self.parse))

    def represent(self, pairs: Sequence[EntityPair]) -> Features:
        """Return the descriptors of pairs that are already analysed, one row each, in order.

        The parse with which the pairs were analysed is used, whatever ``self.parse`` is.
        """
        return self.represent_all_sizes(pairs)[self.which]

    def represent_all_sizes(self, pairs: Sequence[EntityPair]) -> dict[str, Features]:
        """Return the descriptors of every set up to ``which``, at the cost of the largest.

        Keys are ``"basic"``, ``"position"`` and ``"relation"`` up to ``which``; each set includes
        the smaller ones. Values have one row per pair, in order, and are divided by their scales,
        counts as log(1 + x) where DESCRIPTORS says so. Groups that the settings exclude are
        missing.
        """
        columns, scales, selections = self._selection
        cells = RawCSR.from_dense(scale(descriptor_values(pair_arrays(pairs)))[:, columns] / scales)
        return {
            which: Features(_select_columns(cells, new_columns, len(names)), names)
            for which, (new_columns, names) in selections.items()
        }

    @cached_property
    def _selection(
        self,
    ) -> tuple[Indices, Vector, dict[str, tuple[NDArray[np.int32], FeatureNames]]]:
        """Return the columns in use, their scales, and a selection for each descriptor set.

        Columns are indices of DESCRIPTORS. A selection consists of the new column of each column in
        use, -1 if the set does not have it, and the names of the descriptors of the set.
        """
        sizes: tuple[DescriptorSet, ...] = get_args(DescriptorSet)
        levels = sizes[: sizes.index(self.which) + 1]
        columns = [
            i for i, d in enumerate(DESCRIPTORS) if d.level in levels and self._is_selected(d)
        ]
        selected = [DESCRIPTORS[i] for i in columns]
        selections: dict[str, tuple[NDArray[np.int32], FeatureNames]] = {}
        for level, which in enumerate(levels):
            kept = [i for i, d in enumerate(selected) if d.level in levels[: level + 1]]
            new_columns = np.full(len(selected), -1, dtype=np.int32)
            new_columns[kept] = np.arange(len(kept))
            selections[which] = (
                new_columns,
                FeatureNames.from_iterable(selected[i].name for i in kept),
            )
        return np.array(columns, dtype=np.intp), np.array([d.scale for d in selected]), selections

    def _is_selected(self, descriptor: Descriptor) -> bool:
        """Return whether the settings ``entity_counts`` and ``name_equality`` keep a descriptor.

        A descriptor without a group is kept; its level is not checked.
        """
        left_out = {
            "entity count": not self.entity_counts,
            "name equality": not self.name_equality,
        }
        return not left_out.get(descriptor.group, False)


def _select_columns(cells: RawCSR, new_columns: NDArray[np.int32], width: int) -> RawCSR:
    """Return the matrix with columns renumbered by ``new_columns``; -1 drops a column.

    ``new_columns`` has one entry per column of ``cells``; the remaining columns must keep their
    order. ``width`` is the number of columns of the result. ``cells`` is not changed.
    """
    indices = new_columns[cells.indices]
    is_kept = indices >= 0
    ends = offsets(is_kept)[cells.indptr].astype(np.int32)
    return RawCSR(cells.data[is_kept], indices[is_kept], ends, (cells.shape[0], width))


@dataclass(frozen=True, eq=False)
class Entities:
    """Distinct entities of all sentences of a batch, numbered sentence by sentence.

    An entity is a list of tokens: a mention that its sentence is annotated with, or a member of a
    pair; equal lists of a sentence are one entity. Within a sentence mentions come first. Tables of
    entities against all tokens of their sentences are stored as one row per entity in a flat array:
    the value of entity e and token t is at ``row_offset[e] + t``.
    """

    arrays: PairArrays
    token_lists: list[tuple[int, ...]]  # tokens of each entity, counted from its sentence's start
    entity_starts: Indices  # (sentences + 1,) first entity of each sentence
    mentions: Indices  # entities that are mentions of their sentence, in text order
    mention_starts: Indices  # (sentences + 1,) first entry of `mentions` of each sentence
    first: Indices  # (pairs,) entity that comes first in the text
    second: Indices  # (pairs,)

    @classmethod
    def from_arrays(cls, arrays: PairArrays) -> Entities:
        """Collect the distinct token lists of mentions and of the entities of pairs.

        Entities are numbered sentence by sentence: mentions in their order, then members of pairs
        that are not mentions. A mention that is annotated twice is a single entity that occurs
        twice in ``mentions``. Lists that differ in any token are different entities.
        """
        entity_numbers: list[dict[tuple[int, ...], int]] = []
        mentions: list[list[int]] = []
        for context in arrays.contexts:
            rows: dict[tuple[int, ...], int] = {}
            mentions.append([rows.setdefault(tuple(t), len(rows)) for t in context.mentions])
            entity_numbers.append(rows)
        pair_entities = []
        for pair, number in zip(arrays.pairs, arrays.sentence_index.tolist(), strict=True):
            rows = entity_numbers[number]
            for tokens in (pair.first, pair.second):
                pair_entities.append(rows.setdefault(tuple(tokens), len(rows)))
        starts = offsets([len(rows) for rows in entity_numbers])
        mention_starts = offsets([len(row) for row in mentions])
        sentence = np.arange(len(entity_numbers)).repeat(lengths(mention_starts))
        members = np.array(pair_entities, dtype=np.intp).reshape(-1, 2).T
        first, second = members + starts[arrays.sentence_index]
        return cls(
            arrays,
            token_lists=[tokens for rows in entity_numbers for tokens in rows],
            entity_starts=starts,
            mentions=concat(mentions) + starts[sentence],
            mention_starts=mention_starts,
            first=first,
            second=second,
        )

    def __len__(self) -> int:
        """Return the number of entities."""
        return len(self.token_lists)

    @cached_property
    def sentence_index(self) -> Indices:
        """Return the sentence of each entity, (entities,), as an index into ``arrays.contexts``."""
        return np.arange(len(self.entity_starts) - 1).repeat(lengths(self.entity_starts))

    @cached_property
    def token_starts(self) -> Indices:  # (entities + 1,)
        """Return where the tokens of each entity begin in ``token_index``, shape (entities + 1,).

        The last value is the total number of tokens.
        """
        return offsets([len(tokens) for tokens in self.token_lists])

    @cached_property
    def entity_index(self) -> Indices:
        """Return the entity that each item of ``token_index`` belongs to, in the same shape."""
        return np.arange(len(self)).repeat(lengths(self.token_starts))

    @cached_property
    def token_index(self) -> Indices:
        """Return the tokens of all entities, entity by entity, numbered over the batch.

        A token of several entities occurs several times.
        """
        base = self.arrays.sentence_starts[self.sentence_index[self.entity_index]]
        return concat(self.token_lists) + base

    @cached_property
    def first_token(self) -> Indices:
        """Return the first token of each entity, (entities,), numbered over the batch."""
        return self.token_index[self.token_starts[:-1]]

    @cached_property
    def last_token(self) -> Indices:
        """Return the last token of each entity, (entities,), numbered over the batch."""
        return self.token_index[self.token_starts[1:] - 1]

    @cached_property
    def row_starts(self) -> Indices:  # (entities + 1,)
        """Return where the row of each entity begins in a flat table, (entities + 1,).

        A row has one value per token of the entity's sentence; the last number is the size of a
        table.
        """
        return offsets(lengths(self.arrays.sentence_starts)[self.sentence_index])

    @cached_property
    def row_offset(self) -> Indices:
        """Return, for each entity, the offset that turns a token into a position in a flat table.

        Shape (entities,); values may be negative. The value of entity e and token t of its sentence
        is at ``row_offset[e] + t``.
        """
        return self.row_starts[:-1] - self.arrays.sentence_starts[self.sentence_index]

    @cached_property
    def _token_path_lengths(self) -> Vector:
        """Return the flat table of path lengths from entities to tokens, at most MAX_DISTANCE.

        The value is that of the entity's token closest to the token: 0 for its own tokens,
        MAX_DISTANCE without a path. Entity e and token t of its sentence are at ``row_offset[e] +
        t``.
        """
        distances = self.arrays.distances
        count, size = lengths(self.token_starts), lengths(self.row_starts)
        path_lengths = np.full(int(self.row_starts[-1]), MAX_DISTANCE)
        for k in range(int(count.max(initial=0))):
            entities = (count > k).nonzero()[0]
            row = distances.row_of_token[self.token_index[self.token_starts[entities] + k]]
            repeat, entry = expand(self.row_starts[entities], size[entities])
            source_entry = entry + (distances.row_offset[row] - self.row_offset[entities])[repeat]
            path_lengths[entry] = np.minimum(path_lengths[entry], distances.values[source_entry])
        return path_lengths

    @cached_property
    def _token_distances(self) -> Vector:
        """Return the flat table of linear distances between entities and tokens, not clipped.

        Distances are counted from the first or last token of the entity, 1 for a neighbour. They
        are 0 between these, also in the gaps of a discontinuous entity. Entity e and token t of its
        sentence are at ``row_offset[e] + t``.
        """
        entity = np.arange(len(self)).repeat(lengths(self.row_starts))
        token = np.arange(len(entity)) - self.row_offset[entity]
        distance = np.maximum(self.first_token[entity] - token, token - self.last_token[entity])
        return np.maximum(distance, 0.0)

    def token_path_length(self, entity: Indices, token: Indices) -> Vector:
        """Return path lengths from entities to tokens of their sentences, at most MAX_DISTANCE.

        ``entity`` and ``token`` are broadcast against each other. 0 for tokens of the entity.
        Tokens must be of the entity's sentence: this is not checked, and values of others are
        meaningless.
        """
        return self._token_path_lengths[self.row_offset[entity] + token]

    def token_distance(self, entity: Indices, token: Indices) -> Vector:
        """Return linear distances from entities to tokens of their sentences, not clipped.

        ``entity`` and ``token`` are broadcast against each other. 0 from the first to the last
        token of the entity, 1 for a neighbour. Tokens must be of the entity's sentence: this is not
        checked, and values of others are meaningless.
        """
        return self._token_distances[self.row_offset[entity] + token]

    @cached_property
    def _entity_tables(self) -> tuple[Indices, Vector, Vector]:
        """Return flat tables of path lengths and linear distances between entities of one sentence.

        The result is (offset, path lengths, distances) with ``offset`` (entities,): the values of
        entities e and f of one sentence are at ``offset[e] + f`` of either table. They are the
        smallest values from e to any token of f.
        """
        low, high = (self.token_starts[self.entity_starts[self.sentence_index + n]] for n in (0, 1))
        entity, position = expand(low, high - low)
        entry = self.row_offset[entity] + self.token_index[position]
        starts = run_starts(entity * len(self) + self.entity_index[position])
        tables = [
            np.minimum.reduceat(values[entry], starts) if len(starts) else values
            for values in (self._token_path_lengths, self._token_distances)
        ]
        sizes = lengths(self.entity_starts)[self.sentence_index]
        return offsets(sizes)[:-1] - self.entity_starts[self.sentence_index], tables[0], tables[1]

    def path_length(self, first: Indices, second: Indices) -> Vector:
        """Return path lengths between entities of the same sentences; 0 if they share a token.

        At most MAX_DISTANCE, also without a path. The arguments are broadcast against each other.
        Both entities must be of one sentence: this is not checked, and values of others are
        meaningless.
        """
        return self._entity_tables[1][self._entity_tables[0][first] + second]

    def distance(self, first: Indices, second: Indices) -> Vector:
        """Return linear distances between entities of the same sentences, not clipped.

        0 if a token of ``second`` is between the first and the last token of ``first`` (inclusive),
        1 for neighbours. The arguments are broadcast against each other. Both entities must be of
        one sentence: this is not checked, and values of others are meaningless.
        """
        return self._entity_tables[2][self._entity_tables[0][first] + second]

    @cached_property
    def is_verb(self) -> NDArray[np.bool_]:
        """Return which tokens of the batch are verbs by their part-of-speech tag, (tokens,)."""
        return self.arrays.lexicon.lookup(is_verb, self.arrays.token_tags)

    @cached_property
    def governors(self) -> tuple[Indices, Indices, Indices]:
        """Return all dependencies of entities on tokens outside, as parallel arrays.

        The arrays are (entity, step, governor), sorted by entity; an entity without governor does
        not occur. A step is an index into ``arrays.links`` that leads up to the governor, a token
        of the batch.
        """
        links = self.arrays.links
        position, step = links.from_tokens(self.token_index)
        entity, target = self.entity_index[position], links.target[step]
        kept = (~links.is_down[step] & (self.token_path_length(entity, target) > 0)).nonzero()[0]
        return entity[kept], step[kept], target[kept]

    @cached_property
    def facts(self) -> Matrix:  # (entities, facts)
        """Return ENTITY_FACTS of each entity, shape (entities, facts).

        They do not depend on the pair. The first seven are flags of its relations to governors
        (subject, object, conjunct, modifier, "with" or "to", "of", "by" or "between", apposition),
        then two flags of governors (a verb, a trigger) and three of the next token (noun, hyphen or
        slash, list separator). A flag is 1 if any dependency of the entity makes it so. The last
        two are "depth", the number of open brackets, and "position", from 0 to 1.
        """
        facts = np.zeros((len(self), len(ENTITY_FACTS)))
        entity, step, governor = self.governors
        relation_flags = self.arrays.lexicon.lookup_rows(
            _relation_flags, 7, self.arrays.links.type[step]
        )
        facts[:, :7] = sum_rows_by_owner(relation_flags, entity, len(self)) > 0
        facts[entity[self.is_verb[governor]], 7] = 1.0
        is_trigger = self.arrays.lexicon.isin(TRIGGERS, self.arrays.token_words[governor])
        facts[entity[is_trigger], 8] = 1.0
        facts[:, 9:] = [
            *map(self._facts_of_position, self.sentence_index.tolist(), self.token_lists)
        ]
        return facts

    def _facts_of_position(self, sentence: int, tokens: tuple[int, ...]) -> tuple[float, ...]:
        """Return the last five ENTITY_FACTS, which depend on the next token and the position.

        ``tokens`` are those of an entity, counted from the start of the sentence with index
        ``sentence``. The flags of the next token are false at the end of the sentence. Depth and
        position are those of the entity's first token: its index divided by that of the sentence's
        last token.
        """
        context, next_token = self.arrays.contexts[sentence], tokens[-1] + 1
        tag = text = ""
        if next_token < len(context.texts):
            tag, text = context.tags[next_token], context.texts[next_token].lower()
        return (
            tag.startswith("NN"),
            text in ("-", "/", "\\/"),
            text in (",", "and", "or", "/", "\\/"),
            self._bracket_depths[sentence][tokens[0]],
            tokens[0] / max(1, len(context.texts) - 1),
        )

    @cached_property
    def _bracket_depths(self) -> list[Sequence[int]]:
        """Return the number of open brackets at each token: one list per sentence of the batch.

        A bracket itself counts as outside; unmatched closing brackets are ignored.
        """
        return [_bracket_depths(context.texts) for context in self.arrays.contexts]

    @cached_property
    def texts(self) -> list[str]:
        """Return the text of each entity in lower case, its tokens joined by spaces.

        Tokens in the gaps of a discontinuous entity are left out.
        """
        contexts, sentences = self.arrays.contexts, self.sentence_index.tolist()
        return [
            " ".join(contexts[sentence].texts[t].lower() for t in tokens)
            for sentence, tokens in zip(sentences, self.token_lists, strict=True)
        ]


@dataclass(frozen=True, eq=False)
class OtherEntities:
    """Combinations of each pair with each mention of its sentence, sorted by pair.

    n is the number of combinations. Mentions that are an entity of the pair are included; use
    ``is_other`` to exclude them.
    """

    pair_index: Indices  # (n,)
    entity: Indices  # (n,)
    path_lengths: Matrix  # (2, n) from the first and the second entity of the pair

    @cached_property
    def is_other(self) -> NDArray[np.bool_]:  # (n,)
        """Return whether a mention shares no token with either entity of the pair, (n,)."""
        return (self.path_lengths[0] > 0) & (self.path_lengths[1] > 0)


@dataclass(frozen=True, eq=False)
class TriggerDistances:
    """Combinations of each pair with each trigger word of its sentence outside its entities.

    n is the number of combinations, which are sorted by pair, then in text order.
    """

    pair_index: Indices  # (n,)
    token: Indices  # (n,)
    path_lengths: Matrix  # (2, n) from the first and the second entity of the pair
    token_distances: Matrix  # (2, n) linear distances

    def nearest(self, distances: Matrix, n_pairs: int) -> Indices:
        """Return the trigger closest to both entities of each pair, (n_pairs,); -1 if none.

        ``distances`` (2, n) are ``path_lengths`` or ``token_distances``; the trigger with the
        smallest sum of both is closest, the first of equals. Triggers are tokens of the batch.
        """
        joint, tokens = distances[0] + distances[1], np.full(n_pairs, -1)
        smallest = segment_min(joint, self.pair_index, n_pairs, np.inf)
        position = first_true(joint == smallest[self.pair_index], self.pair_index)
        tokens[self.pair_index[position]] = self.token[position]
        return tokens


_RELATION_GROUPS = ("subj", "obj", "conj", "mod")


@lru_cache(maxsize=1 << 12)
def _relation_flags(type_: str) -> tuple[bool, ...]:
    """Return the first seven ENTITY_FACTS for the type of dependency of an entity on its governor.

    These are "is subject" to "is apposition"; several may be true. Cached.
    """
    group = dependency_group(type_)
    is_preposition = (type_ in PARTNER_PREPOSITIONS, type_ in ROLE_PREPOSITIONS)
    return (*(group == g for g in _RELATION_GROUPS), *is_preposition, group == "appos")


def _bracket_depths(texts: Sequence[str]) -> list[int]:
    """Return the number of open brackets at each token, one list item per token.

    A bracket itself has the number outside it. Brackets are round, square, or written as -LRB- and
    -RRB-; any closing one closes any opening one, and unmatched closing ones are ignored.
    """
    depth, depths = 0, []
    for text in texts:
        depth = max(0, depth - (text in CLOSING_BRACKETS))
        depths.append(depth)
        depth += text in OPENING_BRACKETS
    return depths


def path_descriptors(arrays: PairArrays, word_groups: Matrix) -> Matrix:
    """Return PATH_DESCRIPTORS of all pairs, shape (pairs, descriptors); counts are not yet scaled.

    They are flags and counts of the kinds of dependencies on the shortest path and of word groups
    on it, and flags of its top, the token at which it turns from climbing to descending.
    ``word_groups`` (tokens, 4), 0 or 1, says whether each token is a trigger, a strong trigger, of
    another entity, or a verb. A pair without a path has 0 everywhere but in "no path". For a path
    of length 0, between entities that share a token, only "path is negated" can be other than 0.
    """
    paths, size = arrays.paths, len(arrays.pairs)
    pair, position = (paths.steps >= 0).nonzero()
    kinds = arrays.lexicon.lookup_rows(
        _step_kinds, len(STEP_KINDS), arrays.links.type[paths.steps[pair, position]]
    )
    counts = sum_rows_by_owner(kinds, pair, size)
    climbed = sum_rows_by_owner(kinds & (position < arrays.path_tops[pair])[:, None], pair, size)
    count = dict(zip(STEP_KINDS, counts.T, strict=True))
    climbs = dict(zip(STEP_KINDS, (climbed > 0).T, strict=True))
    descends = dict(zip(STEP_KINDS, (counts > climbed).T, strict=True))
    list_steps = count["conj"] + count["appos"]
    has_path = paths.length > 0
    takes_object = descends["obj"] | descends["prep"] | descends["agent"]
    is_beside = (climbs["prep"] | climbs["mod"]) & (descends["prep"] | descends["mod"])
    inner_counts, negated = _path_words(arrays, word_groups)
    rows = [
        paths.length < 0,
        has_path & (list_steps + count["loose"] == paths.length),
        count["conj"] > 0,
        count["appos"] > 0,
        count["subj"] > 0,
        count["obj"] > 0,
        count["prep"] + count["agent"] > 0,
        *(inner_counts[:, :3] > 0).T,
        negated,
        inner_counts[:, 3],
        list_steps,
        count["mod"],
        count["clause"],
        count["prep"] + count["agent"],
        np.where(has_path, paths.length - list_steps - count["mod"], 0),
        *(count[f"_{p}"] > 0 for p in PREPOSITIONS),
        *_path_tops(arrays, word_groups),
        has_path & climbs["subj"] & takes_object,
        has_path & is_beside,
    ]
    return np.array(rows, dtype=np.float64).T


@lru_cache(maxsize=1 << 12)
def _step_kinds(type_: str) -> tuple[bool, ...]:
    """Return which of STEP_KINDS a dependency type belongs to, one flag per kind. Cached.

    Several may be true. A type is of the kind of a preposition if it ends in "_" and that word,
    such as "prep_with"; "agent" is also of the kind "_by".
    """
    group = dependency_group(type_)
    has_preposition = [
        type_.endswith(f"_{p}") or (p == "by" and type_ == "agent") for p in PREPOSITIONS
    ]
    return (*(group == g for g in COARSE_GROUPS), type_ in CLAUSE_DEPENDENCIES, *has_preposition)


def _path_words(arrays: PairArrays, word_groups: Matrix) -> tuple[Matrix, NDArray[np.bool_]]:
    """Count word groups inside each path, and find paths with a word that governs a negation.

    Returns counts (pairs, PATH_WORD_GROUPS) and flags (pairs,). The two ends of a path are not
    inside it, but do count for negations, which are dependencies of type "neg". ``word_groups``
    (tokens, PATH_WORD_GROUPS), 0 or 1, says which groups each token belongs to.
    """
    links, size = arrays.links, len(arrays.pairs)
    pair, position, token = arrays.path_tokens()
    is_inner = (position > 0) & (position < arrays.paths.length[pair])
    negations = (links.is_down & (links.type == arrays.lexicon("neg"))).nonzero()[0]
    has_negation = np.zeros(len(links.starts), dtype=bool)
    has_negation[np.searchsorted(links.starts, negations, side="right") - 1] = True
    negated = np.zeros(size, dtype=bool)
    negated[pair[has_negation[token]]] = True
    return sum_rows_by_owner(word_groups[token] * is_inner[:, None], pair, size), negated


def _path_tops(arrays: PairArrays, word_groups: Matrix) -> Matrix:
    """Return the four "top is ..." flags of each path, shape (4, pairs).

    They say whether the top, the token at which the path turns from climbing to descending, is an
    entity of the pair, a trigger, a strong trigger, or a verb. Tops that are an entity are never
    triggers. All are 0 without a path or if its length is 0. ``word_groups`` (tokens, 4) says
    whether each token is a trigger, a strong trigger, of another entity, or a verb.
    """
    rows = (arrays.paths.length > 0).nonzero()[0]
    top = arrays.paths.tokens[rows, arrays.path_tops[rows]]
    is_entity = arrays.is_entity[top + arrays.offset[rows]]
    flags = np.zeros((4, len(arrays.pairs)))
    flags[0, rows], flags[3, rows] = is_entity, word_groups[top, 3]
    flags[1:3, rows] = word_groups[top, :2].T * ~is_entity
    return flags
