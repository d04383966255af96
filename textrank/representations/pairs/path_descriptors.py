"""Descriptors of the dependency paths of pairs: what lies on them and how they climb and fall."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

import numpy as np

from textrank.representations.pairs.descriptor_facts import SentenceFacts
from textrank.representations.pairs.entity_pair import OTHER, EntityPair, top_of
from textrank.representations.pairs.trigger_words import STRONG_TRIGGERS, TRIGGERS, group_of
from textrank.types import Vector

Row: TypeAlias = dict[str, float | bool]

CLAUSES = frozenset(("ccomp", "advcl", "rcmod", "xcomp", "parataxis", "csubj", "relcl", "purpcl"))
PREPOSITIONS = ("with", "to", "of", "by", "in", "between", "for", "from")
_ENDINGS = tuple((f"path has {p}", f"_{p}") for p in PREPOSITIONS)
_COUNTED = ("lists on path", "modifiers on path", "clauses on path", "prepositions on path")
_LOGARITHMS = (*_COUNTED, "verbs on path")


def described_paths(facts: SentenceFacts, pairs: Sequence[EntityPair]) -> dict[str, Vector]:
    """The descriptors of the paths of some pairs of a sentence by name, (g,) each."""
    negated = {
        token
        for token, links in enumerate(facts.context.links)
        if any(link.down and link.type == "neg" for link in links)
    }
    rows = [_path(pair, facts, negated) for pair in pairs]
    found = {name: np.array([row[name] for row in rows], dtype=np.float64) for name in rows[0]}
    return {n: np.log1p(values) if n in _LOGARITHMS else values for n, values in found.items()}


def _path(pair: EntityPair, facts: SentenceFacts, negated: set[int]) -> Row:
    kinds = [link.type for link in pair.links]
    groups = [group_of(kind) for kind in kinds]
    among, inner = set(groups), pair.path[1:-1]
    words = [facts.context.words[token] for token in inner]
    return {
        "no path": not pair.path,
        "path is loose": bool(among) and among <= {"conj", "appos", "loose"},
        "path has conjunction": "conj" in among,
        "path has apposition": "appos" in among,
        "path has subject": "subj" in among,
        "path has object": "obj" in among,
        "path has preposition": "prep" in among or "agent" in among,
        "trigger on path": any(word in TRIGGERS for word in words),
        "strong trigger on path": any(word in STRONG_TRIGGERS for word in words),
        "third entity on path": OTHER in words,
        "path is negated": not negated.isdisjoint(pair.path),
        "verbs on path": sum(facts.verbs[token] for token in inner),
        "lists on path": groups.count("conj") + groups.count("appos"),
        "modifiers on path": groups.count("mod"),
        "clauses on path": sum(kind in CLAUSES for kind in kinds),
        "prepositions on path": groups.count("prep") + groups.count("agent"),
        "path length without lists": sum(g not in ("conj", "appos", "mod") for g in groups),
        **_prepositions(kinds),
        **_top(pair, facts, groups),
    }


def _prepositions(kinds: Sequence[str]) -> Row:
    flags: Row = {name: any(k.endswith(end) for k in kinds) for name, end in _ENDINGS}
    flags["path has by"] = flags["path has by"] or "agent" in kinds
    return flags


def _top(pair: EntityPair, facts: SentenceFacts, groups: Sequence[str]) -> Row:
    top = top_of(pair) if pair.links else -1
    at = pair.path.index(top) if pair.links else 0
    up, down = set(groups[:at]), set(groups[at:])
    word = pair.words[top] if pair.links else ""
    return {
        "top is an entity": top in pair.own,
        "top is a trigger": word in TRIGGERS,
        "top is a strong trigger": word in STRONG_TRIGGERS,
        "top is a verb": top >= 0 and bool(facts.verbs[top]),
        "subject and object of the top": "subj" in up and not down.isdisjoint(_TAKING),
        "both beside the top": not up.isdisjoint(_BESIDE) and not down.isdisjoint(_BESIDE),
    }


_TAKING, _BESIDE = {"obj", "prep", "agent"}, {"prep", "mod"}
