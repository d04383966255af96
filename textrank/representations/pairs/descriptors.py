"""Numbers that describe how two entities stand in their sentence."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias, get_args

import numpy as np
import scipy.sparse as sp

from textrank.docs import Candidate
from textrank.representations.pairs.analysis import Parse, check_among
from textrank.representations.pairs.descriptor_facts import (
    FAR,
    EntityFacts,
    SentenceFacts,
    facts_of,
)
from textrank.representations.pairs.descriptor_table import DESCRIPTORS, Descriptor
from textrank.representations.pairs.entity_pair import OTHER, EntityPair, entity_pairs, top_of
from textrank.representations.pairs.relations import relations
from textrank.representations.pairs.trigger_words import NEGATIONS, TRIGGERS, group_of
from textrank.types import Features, Names

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
        sizes: tuple[Which, ...] = get_args(Which)
        levels = sizes[: sizes.index(self.which) + 1]
        chosen = [d for d in DESCRIPTORS if d.level in levels and self._wanted(d)]
        rows = [describe(pair, facts) for pair, facts in zip(pairs, facts_of(pairs), strict=True)]
        values = np.array([[row[d.name] / d.scale for d in chosen] for row in rows])
        values = values.reshape(len(rows), len(chosen))
        found: dict[str, Features] = {}
        for place, which in enumerate(levels):
            own = [i for i, d in enumerate(chosen) if d.level in levels[: place + 1]]
            names = Names.of(chosen[i].name for i in own)
            found[which] = Features(sp.csr_array(values[:, own]), names)
        return found

    def _wanted(self, descriptor: Descriptor) -> bool:
        left_out = {
            "entity count": not self.entity_counts,
            "name equality": not self.name_equality,
        }
        return not left_out.get(descriptor.group, False)


def describe(pair: EntityPair, facts: SentenceFacts) -> Values:
    """All descriptors of a pair by name, before scaling."""
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


def _distances(pair: EntityPair, facts: SentenceFacts, first: EntityFacts) -> Values:
    path, gap = first.steps[pair.second].min(), first.gaps[pair.second].min()
    steps, gaps = facts.rivals
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


def _between(pair: EntityPair, mentions: list[list[int]]) -> int:
    begin, end = min(pair.own), max(pair.own)
    inside = [m for m in mentions if m[0] > begin and m[-1] < end]
    return sum(not pair.own.intersection(m) for m in inside)


def _middle(pair: EntityPair, facts: SentenceFacts) -> Values:
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


def _path(pair: EntityPair, facts: SentenceFacts) -> Values:
    groups = {group_of(link.type) for link in pair.links}
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
        "top is an entity": bool(pair.links) and top_of(pair) in pair.own,
        "third entity on path": any(pair.words[t] == OTHER for t in inner),
        "path is negated": negated,
    }
    values = {name: float(flag) for name, flag in flags.items()}
    return values | {"verbs on path": np.log1p(sum(bool(facts.verbs[t]) for t in inner))}


def _to_triggers(
    name: str, pair: EntityPair, facts: SentenceFacts, first: EntityFacts, second: EntityFacts
) -> Values:
    at = facts.triggers[name]
    at = at[[t not in pair.own for t in at]] if len(at) else at
    if not len(at):
        far, near = FAR, np.log1p(FAR)
        return _trigger_values(name, (far, far, 2 * far), (near, near, np.log1p(2 * FAR)), False)
    steps = first.steps[at], second.steps[at]
    gaps = np.minimum(first.gaps[at], FAR), np.minimum(second.gaps[at], FAR)
    joint = steps[0] + steps[1]
    nearest = at[joint.argmin()]
    between = min(pair.own) < nearest < max(pair.own)
    return _trigger_values(
        name,
        (float(steps[0].min()), float(steps[1].min()), float(joint.min())),
        tuple(np.log1p((gaps[0].min(), gaps[1].min(), (gaps[0] + gaps[1]).min()))),
        bool(between),
    )


def _trigger_values(
    name: str, steps: Sequence[float], gaps: Sequence[float], between: bool
) -> Values:
    values = {"nearest joint " + name + " between": float(between)}
    for which, step, gap in zip(("first", "second", "joint"), steps, gaps, strict=True):
        values[f"path from {which} to {name}"] = step
        values[f"distance from {which} to {name}"] = float(gap)
    return values


def _rivals(
    pair: EntityPair, facts: SentenceFacts, first: EntityFacts, second: EntityFacts
) -> Values:
    others = [m for m in facts.context.mentions if not pair.own.intersection(m)]
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


def _heads(pair: EntityPair, first: EntityFacts, second: EntityFacts) -> Values:
    heads = bool(first.governors & set(pair.second)) or bool(second.governors & set(pair.first))
    return {
        "common head": float(bool(first.governors & second.governors)),
        "one heads the other": float(heads),
    }


def _strings(facts: SentenceFacts, first: EntityFacts, second: EntityFacts) -> Values:
    names = [facts.entity(tokens).text for tokens in facts.context.mentions]
    equal = first.text == second.text
    within = first.text in second.text or second.text in first.text
    return {
        "names equal": float(equal),
        "name within name": float(within and not equal),
        "name repeated": float(max(names.count(first.text), names.count(second.text)) > 1),
    }
