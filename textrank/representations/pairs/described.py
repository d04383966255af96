"""The descriptors of all pairs of a sentence at once, before scaling."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from textrank.representations.pairs.descriptor_facts import FAR, EntityFacts, SentenceFacts
from textrank.representations.pairs.entity_pair import OTHER, EntityPair
from textrank.representations.pairs.path_descriptors import described_paths
from textrank.representations.pairs.trigger_words import (
    NEGATIONS,
    STRONG_TRIGGERS,
    TRIGGERS,
    words_of,
)
from textrank.types import Indices, Matrix, Vector

Values: TypeAlias = dict[str, Vector]  # (g,) each, a number a pair
Mask: TypeAlias = NDArray[np.bool_]

NEAR = 3  # tokens within which a trigger belongs to an entity
SEPARATORS = frozenset((",", "and", "or", "/", "\\/", "(", ")", "-", "as", "well", "both", OTHER))
OPENED, CLOSED = ("(", "[", "-lrb-"), (")", "]", "-rrb-")
JOINTS = ("-", "/", "\\/")
CONTRASTS = ("but", "while", "wherea", "although", "howev")
KINDS = {
    "gene": words_of("gene promoter mrna expression level transcription transcript cdna rna"),
    "part": words_of("domain region site terminus motif subunit residue fragment chain peptide"),
    "reagent": words_of("antibody inhibitor antagonist agonist antiserum deficient null mutant"),
    "holder": words_of("receptor complex family pathway promoter cell neuron protein activity"),
}


@dataclass(frozen=True, eq=False)
class Pairs:
    """The pairs of one sentence as arrays; an entity is a row of tables over the tokens."""

    facts: SentenceFacts
    pairs: Sequence[EntityPair]
    entities: list[EntityFacts]
    tokens: Mask  # (entities, n) which tokens are of each
    extents: Indices  # (entities, 2) their first and last token
    first: Indices  # (g,) rows of the entities of each pair
    second: Indices  # (g,)
    mentions: Indices  # (m,) rows of the entities of the sentence, in the order of the text

    @classmethod
    def of(cls, facts: SentenceFacts, pairs: Sequence[EntityPair]) -> Pairs:
        rows: dict[tuple[int, ...], int] = {}

        def row(tokens: list[int]) -> int:
            return rows.setdefault(tuple(tokens), len(rows))

        mentions = [row(tokens) for tokens in facts.context.mentions]
        ends = np.array([(row(p.first), row(p.second)) for p in pairs], dtype=np.intp)
        own = np.zeros((len(rows), len(facts.context.stems)), dtype=bool)
        for number, some in enumerate(rows):
            own[number, list(some)] = True
        extents = np.array([(some[0], some[-1]) for some in rows], dtype=np.intp)
        entities = [facts.entity(list(some)) for some in rows]
        at = np.array(mentions, dtype=np.intp)
        return cls(facts, pairs, entities, own, extents, ends[:, 0], ends[:, 1], at)

    @cached_property
    def steps(self) -> Matrix:  # (entities, n)
        """Dependencies from each entity to each token."""
        return np.array([entity.steps for entity in self.entities])

    @cached_property
    def gaps(self) -> Matrix:  # (entities, n)
        """Tokens from each entity to each token."""
        return np.array([entity.gaps for entity in self.entities])

    def between(self, table: Matrix) -> Matrix:  # (entities, entities)
        """The least value of the table at the tokens of every other entity."""
        return np.stack([table[:, own].min(axis=1) for own in self.tokens], axis=1)

    @cached_property
    def paths(self) -> Matrix:
        """Dependencies between any two entities."""
        return self.between(self.steps)

    @cached_property
    def distances(self) -> Matrix:
        """Tokens between any two entities."""
        return self.between(self.gaps)

    @cached_property
    def own(self) -> Mask:  # (g, n)
        """The tokens of each pair."""
        return self.tokens[self.first] | self.tokens[self.second]

    @cached_property
    def begin(self) -> Indices:
        """The first token of each pair."""
        return self.own.argmax(axis=1)

    @cached_property
    def end(self) -> Indices:
        """The last token of each pair."""
        return self.own.shape[1] - 1 - self.own[:, ::-1].argmax(axis=1)

    @cached_property
    def middle(self) -> Mask:  # (g, n)
        """The tokens between the two entities."""
        at = np.arange(self.own.shape[1])
        return (at >= self.begin[:, None]) & (at < self.end[:, None]) & ~self.own

    @cached_property
    def others(self) -> Mask:  # (g, mentions)
        """The entities of the sentence that share no token with the pair."""
        one = self.tokens.astype(np.float32)
        shared = one @ one[self.mentions].T > 0
        return np.asarray(~(shared[self.first] | shared[self.second]))

    def marked(self, words: frozenset[str] | tuple[str, ...]) -> Mask:  # (n,)
        """The tokens of the sentence that are one of the words; entities are blind."""
        return np.array([word in words for word in self.facts.context.words], dtype=bool)

    def inside(self, marks: Mask) -> Vector:  # (g,)
        """How many marked tokens stand between the two entities."""
        return np.asarray(self.middle @ marks.astype(np.float64))

    def within(self, marks: Mask, start: Indices, end: Indices) -> Vector:  # (g,)
        """How many marked tokens stand from ``start`` to before ``end`` of each pair."""
        counts = np.append(0, np.cumsum(marks))
        n = len(marks)
        return np.asarray(counts[end.clip(0, n)] - counts[start.clip(0, n)], dtype=np.float64)


def described(facts: SentenceFacts, pairs: Sequence[EntityPair]) -> Values:
    """All descriptors of the pairs of a sentence by name, before scaling."""
    own = Pairs.of(facts, pairs)
    values = {**_distances(own), **_middle(own), **_strong(own), **_lists(own)}
    for name in ("trigger", "strong trigger"):
        values |= _to_triggers(name, own)
    values |= {**_rivals(own), **_entities(own), **_heads(own), **_strings(own)}
    return values | _takers(own) | _kinds(own) | described_paths(facts, pairs)


def _distances(own: Pairs) -> Values:
    path, gap = own.paths[own.first, own.second], own.distances[own.first, own.second]
    steps, gaps = _all_pairs(own)
    starts, ends = own.extents[own.mentions].T
    inside = (starts > own.begin[:, None]) & (ends < own.end[:, None]) & own.others
    between = inside.sum(axis=1)
    n, g = own.own.shape[1], len(own.pairs)
    earliest, latest = (starts.min(), starts.max()) if len(starts) else (n, -1)
    return {
        "path length": path,
        "distance": np.log1p(own.middle.sum(axis=1)),
        "sentence length": np.full(g, np.log(n)),
        "entities between": np.log1p(between),
        "entities in sentence": np.full(g, np.log(max(1, len(own.mentions)))),
        "share of shorter paths": np.searchsorted(steps, path) / max(1, len(steps)),
        "share of nearer pairs": np.searchsorted(gaps, gap) / max(1, len(gaps)),
        "first entity": _flag(own.extents[own.first, 0] <= earliest),
        "last entity": _flag(own.extents[own.second, 0] >= latest),
        "adjacent entities": _flag(between == 0),
        "shared token": _flag((own.tokens[own.first] & own.tokens[own.second]).any(axis=1)),
    }


def _all_pairs(own: Pairs) -> tuple[Vector, Vector]:
    """Path lengths and distances of all pairs of entities of the sentence, sorted."""
    i, j = np.triu_indices(len(own.mentions), 1)
    one, other = own.mentions[i], own.mentions[j]
    return np.sort(own.paths[one, other]), np.sort(own.distances[one, other])


def _middle(own: Pairs) -> Values:
    triggers, cue = own.marked(TRIGGERS), own.marked(("between",))
    words = own.facts.context.words
    parentheses = np.array([word in "()[]" or "rb-" in word for word in words], dtype=bool)
    zero, n = np.zeros(len(own.pairs), dtype=np.intp), len(words)
    counts = {
        "commas between": own.marked((",",)),
        "parentheses between": parentheses,
        "and/or between": own.marked(("and", "or")),
        "verbs between": own.facts.verbs,
        "triggers between": triggers,
        "numbers between": np.array([tag == "CD" for tag in own.facts.context.tags], dtype=bool),
    }
    flags = {
        "trigger between": own.inside(triggers) > 0,
        "trigger before": own.within(triggers, zero, own.begin) > 0,
        "trigger after": own.within(triggers, own.end + 1, zero + n) > 0,
        "cue between": own.within(cue, zero, own.begin) + own.inside(cue) > 0,
        "cue with": own.inside(own.marked(("with",))) > 0,
        "cue by": own.inside(own.marked(("by",))) > 0,
        "cue but": own.inside(own.marked(CONTRASTS)) > 0,
        "cue semicolon": own.inside(own.marked((";", ":"))) > 0,
        "negation between": own.inside(own.marked(NEGATIONS)) > 0,
        "doubt": np.full(len(own.pairs), own.facts.hedged),
    }
    found = {name: np.log1p(own.inside(marks)) for name, marks in counts.items()}
    return found | {name: _flag(flag) for name, flag in flags.items()}


def _lists(own: Pairs) -> Values:
    words, n = np.array([*own.facts.context.words, ""]), own.own.shape[1]
    size = own.middle.sum(axis=1)
    one = words[own.middle.argmax(axis=1)]
    last = words[n - 1 - own.middle[:, ::-1].argmax(axis=1)]
    closed = np.isin(words[own.end + 1], CLOSED)
    listed = size == own.inside(own.marked(SEPARATORS))
    and_ = ((size == 1) & (one == "and")) | ((size == 2) & (one == ",") & (last == "and"))
    flags = {
        "members of one list": (size > 0) & listed,
        "second in parentheses behind first": (size == 1) & np.isin(one, OPENED) & closed,
        "joined by hyphen or slash": (size == 1) & np.isin(one, JOINTS),
        "joined by and": and_,
        "nothing between": size == 0,
    }
    return {name: _flag(flag) for name, flag in flags.items()}


def _strong(own: Pairs) -> Values:
    triggers, strong, other = (own.marked(w) for w in (TRIGGERS, STRONG_TRIGGERS, (OTHER,)))
    begin, end, n = own.begin, own.end, own.own.shape[1]
    zero = np.zeros(len(begin), dtype=np.intp)
    both = (own.inside(triggers) > 0) & (own.inside(other) > 0)
    at, others = own.middle & triggers, own.middle & other
    flags = {
        "strong trigger between": own.inside(strong) > 0,
        "strong trigger before": own.within(strong, zero, begin) > 0,
        "strong trigger after": own.within(strong, end + 1, zero + n) > 0,
        "strong trigger just before": own.within(strong, begin - NEAR, begin) > 0,
        "strong trigger just after": own.within(strong, end + 1, end + 1 + NEAR) > 0,
        "trigger verb between": own.inside(triggers & own.facts.verbs) > 0,
        "trigger before entities between": both & (at.argmax(axis=1) < others.argmax(axis=1)),
        "trigger after entities between": both
        & (at[:, ::-1].argmax(axis=1) < others[:, ::-1].argmax(axis=1)),
    }
    counts = {
        "triggers in sentence": len(own.facts.triggers["trigger"]),
        "strong triggers in sentence": len(own.facts.triggers["strong trigger"]),
    }
    found = {name: np.full(len(begin), np.log1p(count)) for name, count in counts.items()}
    return found | {name: _flag(flag) for name, flag in flags.items()}


def _to_triggers(name: str, own: Pairs) -> Values:
    at = own.facts.triggers[name]
    g = len(own.pairs)
    steps = np.full((3, g), FAR) * [[1], [1], [2]]
    gaps, between = steps.copy(), np.zeros(g, dtype=bool)
    free = ~own.own[:, at]
    some = np.flatnonzero(free.any(axis=1))
    if len(some):
        ways = [_away(own.steps[e[some]][:, at], free[some]) for e in (own.first, own.second)]
        far = [np.minimum(own.gaps[e[some]][:, at], FAR) for e in (own.first, own.second)]
        far = [_away(gap, free[some]) for gap in far]
        joint = ways[0] + ways[1]
        steps[:, some] = [way.min(axis=1) for way in (*ways, joint)]
        gaps[:, some] = [gap.min(axis=1) for gap in (*far, far[0] + far[1])]
        nearest = at[joint.argmin(axis=1)]
        between[some] = (own.begin[some] < nearest) & (nearest < own.end[some])
    values = {f"nearest joint {name} between": _flag(between)}
    for which, step, gap in zip(("first", "second", "joint"), steps, gaps, strict=True):
        values[f"path from {which} to {name}"] = step
        values[f"distance from {which} to {name}"] = np.log1p(gap)
    return values


def _away(table: Matrix, kept: Mask) -> Matrix:
    return np.where(kept, table, np.inf)


def _rivals(own: Pairs) -> Values:
    values = {}
    tables = {" by path": own.paths, "": own.distances}
    for how, table in tables.items():
        limit = table[own.first, own.second][:, None]
        for which, entity in (("first", own.first), ("second", own.second)):
            nearer = (table[entity][:, own.mentions] < limit) & own.others
            values[f"other entity nearer {which}{how}"] = _flag(nearer.any(axis=1))
    return values


def _entities(own: Pairs) -> Values:
    facts = [{**e.flags, "depth": e.depth, "position": e.position} for e in own.entities]
    table = {name: np.array([float(one[name]) for one in facts]) for name in facts[0]}
    sides = (("first", own.first), ("second", own.second))
    return {f"{which} {name}": values[e] for which, e in sides for name, values in table.items()}


def _heads(own: Pairs) -> Values:
    above = np.zeros(own.tokens.shape, dtype=bool)
    for row, entity in enumerate(own.entities):
        above[row, list(entity.governors)] = True
    one, other = above[own.first], above[own.second]
    heads = (one & own.tokens[own.second]) | (other & own.tokens[own.first])
    return {
        "common head": _flag((one & other).any(axis=1)),
        "one heads the other": _flag(heads.any(axis=1)),
    }


def _strings(own: Pairs) -> Values:
    texts = [entity.text for entity in own.entities]
    numbers = {text: i for i, text in enumerate(dict.fromkeys(texts))}
    which = np.array([numbers[text] for text in texts], dtype=np.intp)
    count = np.bincount(which[own.mentions], minlength=len(numbers))[which]
    one, other = which[own.first], which[own.second]
    couples, at = np.unique(one * len(numbers) + other, return_inverse=True)
    names = list(numbers)
    held = [_one_in_other(names[c // len(names)], names[c % len(names)]) for c in couples.tolist()]
    return {
        "names equal": _flag(one == other),
        "name within name": _flag(np.array(held, dtype=bool)[at] & (one != other)),
        "name repeated": _flag(np.maximum(count[own.first], count[own.second]) > 1),
    }


def _one_in_other(one: str, other: str) -> bool:
    return one in other or other in one


def _takers(own: Pairs) -> Values:
    """How many other entities are nearer to the pair's best trigger than its own are."""
    at = own.facts.triggers["trigger"]
    free = ~own.own[:, at]
    some = np.flatnonzero(free.any(axis=1))
    values = {}
    for how, table in ((" by path", own.steps), ("", own.gaps)):
        for which in ("first", "second"):
            values[f"rivals of {which} for the trigger{how}"] = np.zeros(len(own.pairs))
        if not len(some):
            continue
        one, other = own.first[some], own.second[some]
        best = at[_away(table[one][:, at] + table[other][:, at], free[some]).argmin(axis=1)]
        theirs = table[own.mentions][:, best].T
        for which, entity in (("first", one), ("second", other)):
            nearer = (theirs < table[entity, best][:, None]) & own.others[some]
            found = values[f"rivals of {which} for the trigger{how}"]
            found[some] = np.log1p(nearer.sum(axis=1))
    return values


def _kinds(own: Pairs) -> Values:
    n = own.own.shape[1]
    free = np.hstack([~own.own, np.zeros((len(own.pairs), 2), dtype=bool)])
    rows = np.arange(len(own.pairs))
    values = {}
    marks = {kind: np.append(own.marked(words), [False] * 2) for kind, words in KINDS.items()}
    for which, entity in (("first", own.first), ("second", own.second)):
        last = np.minimum(own.extents[entity, 1], n - 1)
        for kind, words in marks.items():
            behind = [words[last + step] & free[rows, last + step] for step in (1, 2)]
            values[f"{which} before {kind} words"] = _flag(behind[0] | behind[1])
    return values


def _flag(flags: Mask | np.bool_) -> Vector:
    return np.asarray(flags, dtype=np.float64)
