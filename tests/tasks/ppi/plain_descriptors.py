"""Reference for ``PairDescriptors``, in plain loops, pair by pair."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import TypeAlias

import numpy as np

from tests.tasks.ppi.plain_blocks import top_of
from tests.tasks.ppi.plain_facts import FAR, EntityFacts, SentenceFacts
from tests.tasks.ppi.plain_pairs import PlainPair
from textrank.tasks.ppi.pairs import OTHER_ENTITY
from textrank.tasks.ppi.vocabulary import (
    NEGATIONS,
    STRONG_TRIGGERS,
    TRIGGERS,
    dependency_group,
    stems,
)

Values: TypeAlias = dict[str, float]

NEAR = 3  # tokens within which a trigger belongs to an entity
SEPARATORS = frozenset(
    (",", "and", "or", "/", "\\/", "(", ")", "-", "as", "well", "both", OTHER_ENTITY)
)
CLAUSES = frozenset(("ccomp", "advcl", "rcmod", "xcomp", "parataxis", "csubj", "relcl", "purpcl"))
PREPOSITIONS = ("with", "to", "of", "by", "in", "between", "for", "from")
KINDS = {
    "gene": stems("gene promoter mrna expression level transcription transcript cdna rna"),
    "part": stems("domain region site terminus motif subunit residue fragment chain peptide"),
    "reagent": stems("antibody inhibitor antagonist agonist antiserum deficient null mutant"),
    "holder": stems("receptor complex family pathway promoter cell neuron protein activity"),
}


def relations(
    pair: PlainPair, facts: SentenceFacts, first: EntityFacts, second: EntityFacts
) -> Values:
    """Return the relational descriptors of a pair by name, before scaling."""
    return {
        **_lists(pair),
        **_way(pair, facts),
        **_strong(pair, facts),
        **_takers(pair, facts, first, second),
        **_kinds(pair),
    }


def _lists(pair: PlainPair) -> Values:
    """Return flags for pairs in one list, in parentheses or joined by a sign."""
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


def _way(pair: PlainPair, facts: SentenceFacts) -> Values:
    """Return descriptors of the types of dependencies on the path, and of its top."""
    kinds = [link.type for link in pair.links]
    groups = [dependency_group(kind) for kind in kinds]
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


def _sides_of_top(pair: PlainPair, groups: list[str]) -> tuple[set[str], set[str]]:
    """Return the groups of dependencies before and after the top of the path."""
    top_index = pair.path.index(top_of(pair))
    return set(groups[:top_index]), set(groups[top_index:])


def _strong(pair: PlainPair, facts: SentenceFacts) -> Values:
    """Return descriptors of strong triggers, and numbers of triggers."""
    strong = [word in STRONG_TRIGGERS for word in pair.words]
    begin, end = min(pair.entity_tokens), max(pair.entity_tokens)
    sides = {side: any(strong[t] for t in tokens) for side, tokens in pair.sides.items()}
    middle = pair.sides["middle"]
    others = [t for t in middle if pair.words[t] == OTHER_ENTITY]
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
    pair: PlainPair, facts: SentenceFacts, first: EntityFacts, second: EntityFacts
) -> Values:
    """Return how many other entities are nearer to the pair's best trigger than its own."""
    triggers = [t for t in facts.triggers["trigger"] if t not in pair.entity_tokens]
    values = {
        f"rivals of {w} for the trigger{how}": 0.0
        for w in ("first", "second")
        for how in (" by path", "")
    }
    if not triggers:
        return values
    best = triggers[int((first.steps[triggers] + second.steps[triggers]).argmin())]
    near = triggers[int((first.gaps[triggers] + second.gaps[triggers]).argmin())]
    others = [
        facts.entity(m) for m in facts.context.mentions if not pair.entity_tokens.intersection(m)
    ]
    for which, entity in (("first", first), ("second", second)):
        by_path = sum(other.steps[best] < entity.steps[best] for other in others)
        by_gap = sum(other.gaps[near] < entity.gaps[near] for other in others)
        values[f"rivals of {which} for the trigger by path"] = float(np.log1p(by_path))
        values[f"rivals of {which} for the trigger"] = float(np.log1p(by_gap))
    return values


def _kinds(pair: PlainPair) -> Values:
    """Return flags for the kinds of words after each entity."""
    flags = {}
    for which, tokens in (("first", pair.first), ("second", pair.second)):
        behind = pair.words[tokens[-1] + 1 : tokens[-1] + 3]
        for kind, words in KINDS.items():
            flags[f"{which} before {kind} words"] = any(word in words for word in behind)
    return _flags(flags)


def _flags(flags: dict[str, bool]) -> Values:
    """Return flags as 0.0 and 1.0."""
    return {name: float(flag) for name, flag in flags.items()}


def describe(pair: PlainPair, facts: SentenceFacts) -> Values:
    """Return all descriptors of a pair by name, before scaling."""
    first, second = facts.entity(pair.first), facts.entity(pair.second)
    values = _distances(pair, facts, first) | _middle(pair, facts) | _path(pair, facts)
    for name in ("trigger", "strong trigger"):
        values |= _to_triggers(name, pair, facts, first, second)
    values |= _rivals(pair, facts, first, second)
    for which, entity in (("first", first), ("second", second)):
        values |= {f"{which} {name}": float(flag) for name, flag in entity.flags.items()}
        values[f"{which} depth"] = float(entity.depth)
        values[f"{which} position"] = entity.position
    values |= _heads(pair, first, second) | _strings(facts, first, second)
    return values | relations(pair, facts, first, second)


def _distances(pair: PlainPair, facts: SentenceFacts, first: EntityFacts) -> Values:
    """Return descriptors of distance and of the number of entities."""
    path, gap = first.steps[pair.second].min(), first.gaps[pair.second].min()
    steps, gaps = _all_pairs(facts)
    mentions = facts.context.mentions
    between = _between(pair, mentions)
    return {
        "path length": float(path),
        "distance": np.log1p(len(pair.sides["middle"])),
        "sentence length": np.log(len(pair)),
        "entities between": np.log1p(between),
        "entities in sentence": np.log(max(1, len(mentions))),
        "share of shorter paths": np.searchsorted(steps, path) / max(1, len(steps)),
        "share of nearer pairs": np.searchsorted(gaps, gap) / max(1, len(gaps)),
        "first entity": float(not any(m[0] < pair.first[0] for m in mentions)),
        "last entity": float(not any(m[0] > pair.second[0] for m in mentions)),
        "adjacent entities": float(between == 0),
        "shared token": float(bool(set(pair.first) & set(pair.second))),
        "no path": float(not pair.path),
    }


def _all_pairs(facts: SentenceFacts) -> tuple[np.ndarray, np.ndarray]:
    """Return sorted path lengths and token distances of all pairs of mentions."""
    entities = [facts.entity(tokens) for tokens in facts.context.mentions]
    pairs = list(combinations(range(len(entities)), 2))
    mentions = facts.context.mentions
    steps = [entities[i].steps[mentions[j]].min() for i, j in pairs]
    gaps = [entities[i].gaps[mentions[j]].min() for i, j in pairs]
    return np.sort(steps), np.sort(gaps)


def _between(pair: PlainPair, mentions: list[list[int]]) -> int:
    """Return the number of other mentions between the entities."""
    begin, end = min(pair.entity_tokens), max(pair.entity_tokens)
    inside = [m for m in mentions if m[0] > begin and m[-1] < end]
    return sum(not pair.entity_tokens.intersection(m) for m in inside)


def _middle(pair: PlainPair, facts: SentenceFacts) -> Values:
    """Return descriptors of the words between, and flags of triggers on each side."""
    words = {side: [pair.words[t] for t in tokens] for side, tokens in pair.sides.items()}
    middle = words["middle"]
    values = {
        f"trigger {name}": float(any(word in TRIGGERS for word in words[side]))
        for name, side in (("between", "middle"), ("before", "before"), ("after", "after"))
    }
    counts = {
        "commas between": middle.count(","),
        "parentheses between": sum(word in "()[]" or "rb-" in word for word in middle),
        "and/or between": middle.count("and") + middle.count("or"),
        "verbs between": sum(bool(facts.verbs[t]) for t in pair.sides["middle"]),
    }
    cues = {
        "cue between": "between" in words["before"] or "between" in middle,
        "cue with": "with" in middle,
        "cue by": "by" in middle,
        "cue but": any(word in ("but", "while", "wherea", "although", "howev") for word in middle),
        "cue semicolon": ";" in middle or ":" in middle,
        "negation between": any(word in NEGATIONS for word in middle),
        "doubt": facts.hedged,
    }
    values |= {name: np.log1p(count) for name, count in counts.items()}
    return values | {name: float(flag) for name, flag in cues.items()}


def _path(pair: PlainPair, facts: SentenceFacts) -> Values:
    """Return descriptors of the path."""
    groups = {dependency_group(link.type) for link in pair.links}
    inner = pair.path[1:-1]
    negated = any(
        link.down and link.type == "neg" for t in pair.path for link in facts.context.links[t]
    )
    flags = {
        "path is loose": bool(groups) and groups <= {"conj", "appos", "loose"},
        "path has conjunction": "conj" in groups,
        "path has apposition": "appos" in groups,
        "path has subject": "subj" in groups,
        "path has object": "obj" in groups,
        "path has preposition": bool(groups & {"prep", "agent"}),
        "trigger on path": any(pair.words[t] in TRIGGERS for t in inner),
        "top is an entity": bool(pair.links) and top_of(pair) in pair.entity_tokens,
        "third entity on path": any(pair.words[t] == OTHER_ENTITY for t in inner),
        "path is negated": negated,
    }
    values = {name: float(flag) for name, flag in flags.items()}
    return values | {"verbs on path": np.log1p(sum(bool(facts.verbs[t]) for t in inner))}


def _to_triggers(
    name: str, pair: PlainPair, facts: SentenceFacts, first: EntityFacts, second: EntityFacts
) -> Values:
    """Return distances of the entities to the nearest (strong) trigger."""
    triggers = facts.triggers[name]
    triggers = (
        triggers[[t not in pair.entity_tokens for t in triggers]] if len(triggers) else triggers
    )
    if not len(triggers):
        far, near = FAR, np.log1p(FAR)
        return _trigger_values(name, (far, far, 2 * far), (near, near, np.log1p(2 * FAR)), False)
    steps = first.steps[triggers], second.steps[triggers]
    gaps = np.minimum(first.gaps[triggers], FAR), np.minimum(second.gaps[triggers], FAR)
    joint = steps[0] + steps[1]
    nearest = triggers[joint.argmin()]
    between = min(pair.entity_tokens) < nearest < max(pair.entity_tokens)
    return _trigger_values(
        name,
        (float(steps[0].min()), float(steps[1].min()), float(joint.min())),
        tuple(np.log1p((gaps[0].min(), gaps[1].min(), (gaps[0] + gaps[1]).min()))),
        bool(between),
    )


def _trigger_values(
    name: str, steps: Sequence[float], gaps: Sequence[float], between: bool
) -> Values:
    """Return distances under their names."""
    values = {"nearest joint " + name + " between": float(between)}
    for which, step, gap in zip(("first", "second", "joint"), steps, gaps, strict=True):
        values[f"path from {which} to {name}"] = step
        values[f"distance from {which} to {name}"] = float(gap)
    return values


def _rivals(
    pair: PlainPair, facts: SentenceFacts, first: EntityFacts, second: EntityFacts
) -> Values:
    """Return flags for other entities that are nearer than the partner."""
    others = [m for m in facts.context.mentions if not pair.entity_tokens.intersection(m)]
    path, gap = first.steps[pair.second].min(), first.gaps[pair.second].min()
    values = {}
    for which, entity in (("first", first), ("second", second)):
        values[f"other entity nearer {which} by path"] = float(
            any(entity.steps[m].min() < path for m in others)
        )
        values[f"other entity nearer {which}"] = float(
            any(entity.gaps[m].min() < gap for m in others)
        )
    return values


def _heads(pair: PlainPair, first: EntityFacts, second: EntityFacts) -> Values:
    """Return flags for common governors of the entities."""
    heads = bool(first.governors & set(pair.second)) or bool(second.governors & set(pair.first))
    return {
        "common head": float(bool(first.governors & second.governors)),
        "one heads the other": float(heads),
    }


def _strings(facts: SentenceFacts, first: EntityFacts, second: EntityFacts) -> Values:
    """Return flags about equal names."""
    names = [facts.entity(tokens).text for tokens in facts.context.mentions]
    equal = first.text == second.text
    within = first.text in second.text or second.text in first.text
    return {
        "names equal": float(equal),
        "name within name": float(within and not equal),
        "name repeated": float(max(names.count(first.text), names.count(second.text)) > 1),
    }
