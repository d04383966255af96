"""The descriptors of a pair, one by one: name, meaning, scale, and what kind of fact it uses.

Trigger words are those of ``trigger_words``, the strong ones tell of physical interaction; words of
entities never count. Flags are 1 or 0. Distances without an end are 12.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Descriptor:
    """One number about a pair; it is divided by ``scale`` before pairs are compared."""

    name: str
    meaning: str
    scale: float
    basic: bool
    group: str = ""  # "entity count" or "name equality" where it can be left out


_BASIC = (
    ("path length", "dependencies on the shortest path, 12 at most and where there is none", 2.0),
    ("distance", "log(1 + tokens between the two)", 0.5),
    ("sentence length", "log of the tokens of the sentence", 0.5),
    ("entities between", "log(1 + other entities between the two)", 0.5, "entity count"),
    ("entities in sentence", "log of the entities of the sentence", 0.5, "entity count"),
    (
        "share of shorter paths",
        "share of the sentence's pairs of entities with a shorter path",
        0.3,
        "entity count",
    ),
    (
        "share of nearer pairs",
        "share of the sentence's pairs of entities with fewer tokens between",
        0.3,
        "entity count",
    ),
    ("first entity", "no entity of the sentence begins before the first", 0.4, "entity count"),
    ("last entity", "no entity of the sentence begins after the second", 0.4, "entity count"),
    ("adjacent entities", "no other entity lies between the two", 0.4, "entity count"),
    ("shared token", "the two share a token (nested names)", 0.3),
    ("no path", "no path of dependencies joins the two", 0.4),
    ("trigger between", "a trigger word between the two", 0.4),
    ("trigger before", "a trigger word before the pair", 0.4),
    ("trigger after", "a trigger word after the pair", 0.4),
    ("negation between", "a word of negation between the two", 0.4),
    ("doubt", "a word of doubt in the sentence", 0.4),
    ("commas between", "log(1 + commas between the two)", 0.5),
    ("parentheses between", "log(1 + parentheses and brackets between the two)", 0.5),
    ("and/or between", "log(1 + 'and' and 'or' between the two)", 0.5),
    ("verbs between", "log(1 + verbs between the two)", 0.5),
    ("path is loose", "all dependencies of the path are conjunction, apposition or unknown", 0.4),
    ("path has conjunction", "a conjunction on the path", 0.4),
    ("path has apposition", "an apposition on the path", 0.25),
    ("path has subject", "a subject on the path", 0.4),
    ("path has object", "an object on the path", 0.4),
    ("path has preposition", "a preposition (or agent) on the path", 0.25),
    ("trigger on path", "a trigger word inside the path", 0.4),
    ("verbs on path", "log(1 + verbs inside the path)", 0.5),
    ("top is an entity", "the path climbs only, or descends only", 0.4),
    ("third entity on path", "another entity inside the path", 0.4),
    ("path is negated", "a word of the path has a negation as dependent", 0.4),
)

_MORE = (
    (
        "path from first to trigger",
        "dependencies from the first entity to the nearest trigger word, at most 12",
        3.0,
    ),
    (
        "distance from first to trigger",
        "log(1 + tokens from the first entity to the nearest trigger word, 12 at most)",
        0.5,
    ),
    (
        "path from second to trigger",
        "dependencies from the second entity to the nearest trigger word, at most 12",
        3.0,
    ),
    (
        "distance from second to trigger",
        "log(1 + tokens from the second entity to the nearest trigger word, 12 at most)",
        0.5,
    ),
    ("path from joint to trigger", "smallest sum of both paths to one trigger word", 6.0),
    (
        "distance from joint to trigger",
        "log(1 + smallest sum of both distances to one trigger word)",
        0.5,
    ),
    (
        "nearest joint trigger between",
        "the trigger word of the smallest sum of paths stands between the two",
        0.4,
    ),
    (
        "path from first to strong trigger",
        "dependencies from the first entity to the nearest strong trigger word, at most 12",
        3.0,
    ),
    (
        "distance from first to strong trigger",
        "log(1 + tokens from the first entity to the nearest strong trigger word, 12 at most)",
        0.5,
    ),
    (
        "path from second to strong trigger",
        "dependencies from the second entity to the nearest strong trigger word, at most 12",
        3.0,
    ),
    (
        "distance from second to strong trigger",
        "log(1 + tokens from the second entity to the nearest strong trigger word, 12 at most)",
        0.5,
    ),
    (
        "path from joint to strong trigger",
        "smallest sum of both paths to one strong trigger word",
        6.0,
    ),
    (
        "distance from joint to strong trigger",
        "log(1 + smallest sum of both distances to one strong trigger word)",
        0.5,
    ),
    (
        "nearest joint strong trigger between",
        "the strong trigger word of the smallest sum of paths stands between the two",
        0.4,
    ),
    (
        "other entity nearer first by path",
        "another entity has a shorter path to the first than the two have",
        0.4,
        "entity count",
    ),
    (
        "other entity nearer first",
        "another entity stands nearer to the first than the two stand",
        0.4,
        "entity count",
    ),
    ("first depth", "parentheses open at the first entity", 0.4),
    ("first position", "place of the first entity in the sentence, 0 to 1", 0.25),
    ("first is subject", "the first entity is a subject", 0.4),
    ("first is object", "the first entity is an object", 0.4),
    ("first is conjunct", "the first entity is a conjunct", 0.4),
    ("first is modifier", "the first entity modifies a noun", 0.4),
    ("first is with or to", "the first entity depends by 'with' or 'to'", 0.4),
    ("first is of, by or between", "the first entity depends by 'of', 'by' or 'between'", 0.4),
    ("first is apposition", "the first entity is an apposition", 0.25),
    ("first under a verb", "the first entity depends on a verb", 0.4),
    ("first under a trigger", "the first entity depends on a trigger word", 0.4),
    ("first before a noun", "the first entity stands before a noun", 0.4),
    ("first before a hyphen or slash", "the first entity stands before a hyphen or slash", 0.4),
    (
        "first before a list separator",
        "the first entity stands before a comma, 'and', 'or' or slash",
        0.4,
    ),
    (
        "other entity nearer second by path",
        "another entity has a shorter path to the second than the two have",
        0.4,
        "entity count",
    ),
    (
        "other entity nearer second",
        "another entity stands nearer to the second than the two stand",
        0.4,
        "entity count",
    ),
    ("second depth", "parentheses open at the second entity", 0.4),
    ("second position", "place of the second entity in the sentence, 0 to 1", 0.25),
    ("second is subject", "the second entity is a subject", 0.4),
    ("second is object", "the second entity is an object", 0.4),
    ("second is conjunct", "the second entity is a conjunct", 0.4),
    ("second is modifier", "the second entity modifies a noun", 0.4),
    ("second is with or to", "the second entity depends by 'with' or 'to'", 0.4),
    ("second is of, by or between", "the second entity depends by 'of', 'by' or 'between'", 0.4),
    ("second is apposition", "the second entity is an apposition", 0.25),
    ("second under a verb", "the second entity depends on a verb", 0.4),
    ("second under a trigger", "the second entity depends on a trigger word", 0.4),
    ("second before a noun", "the second entity stands before a noun", 0.4),
    ("second before a hyphen or slash", "the second entity stands before a hyphen or slash", 0.4),
    (
        "second before a list separator",
        "the second entity stands before a comma, 'and', 'or' or slash",
        0.4,
    ),
    ("common head", "both depend on one word", 0.4),
    ("one heads the other", "one depends on the other", 0.4),
    ("names equal", "the two names are the same, but for case", 0.4, "name equality"),
    ("name within name", "one name is part of the other", 0.4, "name equality"),
    (
        "name repeated",
        "one of the names occurs again among the entities of the sentence",
        0.4,
        "name equality",
    ),
    ("cue between", "'between' before the pair or between the two", 0.4),
    ("cue with", "'with' between the two", 0.4),
    ("cue by", "'by' between the two", 0.4),
    ("cue but", "'but', 'while', 'whereas', 'although' or 'however' between the two", 0.4),
    ("cue semicolon", "a semicolon or colon between the two", 0.4),
)

DESCRIPTORS = (
    *(Descriptor(name, meaning, scale, True, *group) for name, meaning, scale, *group in _BASIC),
    *(Descriptor(name, meaning, scale, False, *group) for name, meaning, scale, *group in _MORE),
)
