"""Descriptors of what joins a pair: lists, the way of the path, triggers and their other takers."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np

from textrank.representations.pairs.descriptor_facts import EntityFacts, SentenceFacts
from textrank.representations.pairs.entity_pair import OTHER, EntityPair, top_of
from textrank.representations.pairs.trigger_words import (
    STRONG_TRIGGERS,
    TRIGGERS,
    group_of,
    words_of,
)

Values: TypeAlias = dict[str, float]

NEAR = 3  # tokens within which a trigger belongs to an entity
SEPARATORS = frozenset((",", "and", "or", "/", "\\/", "(", ")", "-", "as", "well", "both", OTHER))
CLAUSES = frozenset(("ccomp", "advcl", "rcmod", "xcomp", "parataxis", "csubj", "relcl", "purpcl"))
PREPOSITIONS = ("with", "to", "of", "by", "in", "between", "for", "from")
KINDS = {
    "gene": words_of("gene promoter mrna expression level transcription transcript cdna rna"),
    "part": words_of("domain region site terminus motif subunit residue fragment chain peptide"),
    "reagent": words_of("antibody inhibitor antagonist agonist antiserum deficient null mutant"),
    "holder": words_of("receptor complex family pathway promoter cell neuron protein activity"),
}


def relations(
    pair: EntityPair, facts: SentenceFacts, first: EntityFacts, second: EntityFacts
) -> Values:
    """The relational descriptors of a pair by name, before scaling."""
    return {
        **_lists(pair),
        **_way(pair, facts),
        **_strong(pair, facts),
        **_takers(pair, facts, first, second),
        **_kinds(pair),
    }


def _lists(pair: EntityPair) -> Values:
    middle = [pair.words[t] for t in pair.sides["middle"]]
    after = pair.sides["after"]
    closed = bool(after) and pair.words[after[0]] in (")", "]", "-rrb-")
    return _flags(
        {
            "members of one list": bool(middle) and all(word in SEPARATORS for word in middle),
            "second in parentheses behind first": middle in (["("], ["["], ["-lrb-"]) and closed,
            "joined by hyphen or slash": middle in (["-"], ["/"], ["\\/"]),
            "joined by and": middle in (["and"], [",", "and"]),
            "nothing between": not middle,
        }
    )


def _way(pair: EntityPair, facts: SentenceFacts) -> Values:
    kinds = [link.type for link in pair.links]
    groups = [group_of(kind) for kind in kinds]
    values = {
        f"{name} on path": np.log1p(sum(group in among for group in groups))
        for name, among in (("lists", {"conj", "appos"}), ("modifiers", {"mod"}))
    }
    values["clauses on path"] = np.log1p(sum(kind in CLAUSES for kind in kinds))
    values["prepositions on path"] = np.log1p(groups.count("prep") + groups.count("agent"))
    values["path length without lists"] = float(
        sum(group not in ("conj", "appos", "mod") for group in groups)
    )
    flags = {f"path has {p}": any(kind.endswith(f"_{p}") for kind in kinds) for p in PREPOSITIONS}
    flags["path has by"] = flags["path has by"] or "agent" in kinds
    if pair.links:
        top = top_of(pair)
        up, down = _sides_of_top(pair, groups)
        flags |= {
            "top is a trigger": pair.words[top] in TRIGGERS,
            "top is a strong trigger": pair.words[top] in STRONG_TRIGGERS,
            "top is a verb": bool(facts.verbs[top]),
            "subject and object of the top": "subj" in up and bool(down & {"obj", "prep", "agent"}),
            "both beside the top": bool(up & {"prep", "mod"}) and bool(down & {"prep", "mod"}),
        }
    return values | _flags({name: False for name in _TOP} | flags)


_TOP = (
    "top is a trigger",
    "top is a strong trigger",
    "top is a verb",
    "subject and object of the top",
    "both beside the top",
)


def _sides_of_top(pair: EntityPair, groups: list[str]) -> tuple[set[str], set[str]]:
    at = pair.path.index(top_of(pair))
    return set(groups[:at]), set(groups[at:])


def _strong(pair: EntityPair, facts: SentenceFacts) -> Values:
    strong = [word in STRONG_TRIGGERS for word in pair.words]
    begin, end = min(pair.own), max(pair.own)
    sides = {side: any(strong[t] for t in tokens) for side, tokens in pair.sides.items()}
    middle = pair.sides["middle"]
    others = [t for t in middle if pair.words[t] == OTHER]
    triggers = [t for t in middle if pair.words[t] in TRIGGERS]
    flags = {
        "strong trigger between": sides["middle"],
        "strong trigger before": sides["before"],
        "strong trigger after": sides["after"],
        "strong trigger just before": any(strong[max(0, begin - NEAR) : begin]),
        "strong trigger just after": any(strong[end + 1 : end + 1 + NEAR]),
        "strong trigger on path": any(strong[t] for t in pair.path[1:-1]),
        "trigger verb between": any(bool(facts.verbs[t]) for t in triggers),
        "trigger before entities between": bool(others and triggers) and triggers[0] < others[0],
        "trigger after entities between": bool(others and triggers) and triggers[-1] > others[-1],
    }
    counts = {
        "triggers in sentence": len(facts.triggers["trigger"]),
        "strong triggers in sentence": len(facts.triggers["strong trigger"]),
        "triggers between": len(triggers),
        "numbers between": sum(pair.tags[t] == "CD" for t in middle),
    }
    return _flags(flags) | {name: np.log1p(count) for name, count in counts.items()}


def _takers(
    pair: EntityPair, facts: SentenceFacts, first: EntityFacts, second: EntityFacts
) -> Values:
    """How many other entities are nearer to the pair's best trigger than its own are."""
    at = [t for t in facts.triggers["trigger"] if t not in pair.own]
    values = {
        f"rivals of {w} for the trigger{how}": 0.0
        for w in ("first", "second")
        for how in (" by path", "")
    }
    if not at:
        return values
    best = at[int((first.steps[at] + second.steps[at]).argmin())]
    near = at[int((first.gaps[at] + second.gaps[at]).argmin())]
    others = [facts.entity(m) for m in facts.context.mentions if not pair.own.intersection(m)]
    for which, own in (("first", first), ("second", second)):
        by_path = sum(other.steps[best] < own.steps[best] for other in others)
        by_gap = sum(other.gaps[near] < own.gaps[near] for other in others)
        values[f"rivals of {which} for the trigger by path"] = float(np.log1p(by_path))
        values[f"rivals of {which} for the trigger"] = float(np.log1p(by_gap))
    return values


def _kinds(pair: EntityPair) -> Values:
    flags = {}
    for which, tokens in (("first", pair.first), ("second", pair.second)):
        behind = pair.words[tokens[-1] + 1 : tokens[-1] + 3]
        for kind, words in KINDS.items():
            flags[f"{which} before {kind} words"] = any(word in words for word in behind)
    return _flags(flags)


def _flags(flags: dict[str, bool]) -> Values:
    return {name: float(flag) for name, flag in flags.items()}
