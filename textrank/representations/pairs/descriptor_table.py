"""The descriptors of a pair, one by one: name, meaning, scale, and what kind of fact it uses.

Trigger words are those of ``trigger_words``, the strong ones tell of physical interaction; words of
entities never count. Flags are 1 or 0. Distances without an end are 12.

Scales are standard deviations, of 0.15 at least, over 4059 pairs of protein names in the first 400
abstracts of the JNLPBA training part, which has no interactions marked and serves no evaluation of
pairs; parsed by an early version of the shipped language model, sentences of more than 8 names
left out.
"""

from __future__ import annotations

from dataclasses import dataclass


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
