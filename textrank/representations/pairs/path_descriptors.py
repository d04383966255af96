"""Descriptors of the dependency paths of pairs: what lies on them and how they climb and fall."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from textrank.representations.pairs.descriptor_facts import SentenceFacts
from textrank.representations.pairs.entity_pair import OTHER, EntityPair, top_of
from textrank.representations.pairs.trigger_words import STRONG_TRIGGERS, TRIGGERS, group_of

CLAUSES = frozenset(("ccomp", "advcl", "rcmod", "xcomp", "parataxis", "csubj", "relcl", "purpcl"))
PREPOSITIONS = ("with", "to", "of", "by", "in", "between", "for", "from")
_ENDINGS = tuple(f"_{p}" for p in PREPOSITIONS)
_BY = PREPOSITIONS.index("by")
_LOOSE, _LISTS = {"conj", "appos", "loose"}, ("conj", "appos", "mod")
_TAKING, _BESIDE = {"obj", "prep", "agent"}, {"prep", "mod"}
PATH = (
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
)  # in the order of the rows


def path_rows(facts: SentenceFacts, pairs: Sequence[EntityPair]) -> list[tuple[float, ...]]:
    """The descriptors ``PATH`` of pairs of a sentence, a row each; counts without logarithm."""
    negated = {
        token
        for token, links in enumerate(facts.context.links)
        if any(link.down and link.type == "neg" for link in links)
    }
    verbs = set(np.flatnonzero(facts.verbs).tolist())
    return [_path(pair, facts, negated, verbs) for pair in pairs]


def _path(
    pair: EntityPair, facts: SentenceFacts, negated: set[int], verbs: set[int]
) -> tuple[float, ...]:
    kinds = [link.type for link in pair.links]
    groups = [group_of(kind) for kind in kinds]
    among, inner = set(groups), pair.path[1:-1]
    words = {facts.context.words[token] for token in inner}
    prepositions = [any(kind.endswith(end) for kind in kinds) for end in _ENDINGS]
    prepositions[_BY] = prepositions[_BY] or "agent" in kinds
    return (
        not pair.path,
        bool(among) and among <= _LOOSE,
        "conj" in among,
        "appos" in among,
        "subj" in among,
        "obj" in among,
        "prep" in among or "agent" in among,
        not words.isdisjoint(TRIGGERS),
        not words.isdisjoint(STRONG_TRIGGERS),
        OTHER in words,
        not negated.isdisjoint(pair.path),
        sum(token in verbs for token in inner),
        groups.count("conj") + groups.count("appos"),
        groups.count("mod"),
        sum(kind in CLAUSES for kind in kinds),
        groups.count("prep") + groups.count("agent"),
        sum(group not in _LISTS for group in groups),
        *prepositions,
        *_top(pair, groups, verbs),
    )


def _top(pair: EntityPair, groups: Sequence[str], verbs: set[int]) -> tuple[bool, ...]:
    if not pair.links:
        return (False,) * 6
    top = top_of(pair)
    at = pair.path.index(top)
    up, down = set(groups[:at]), set(groups[at:])
    return (
        top in pair.own,
        pair.words[top] in TRIGGERS,
        pair.words[top] in STRONG_TRIGGERS,
        top in verbs,
        "subj" in up and not down.isdisjoint(_TAKING),
        not up.isdisjoint(_BESIDE) and not down.isdisjoint(_BESIDE),
    )
