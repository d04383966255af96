"""Which groups words are of, and which descriptors count them between two entities."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from textrank.representations.pairs.descriptor_table import DESCRIPTORS
from textrank.representations.pairs.layout import OTHER
from textrank.representations.pairs.trigger_words import (
    NEGATIONS,
    STRONG_TRIGGERS,
    TRIGGERS,
    words_of,
)
from textrank.types import Indices

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
