"""The descriptors of all pairs of a sentence at once, before logarithms and scaling.

What belongs to words stands in one table, a row a token and a column a group of words; what lies
between two entities is one product of it with the tokens there.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from textrank.representations.pairs.described_words import (
    CLOSED,
    COLUMN,
    FLAGS,
    INSIDE,
    JOINTS,
    KINDS,
    LOGARITHMS,
    MARKS,
    NEAR,
    OPENED,
    columns,
    marks_of,
)
from textrank.representations.pairs.descriptor_facts import FAR, EntityFacts, SentenceFacts
from textrank.representations.pairs.entity_pair import EntityPair
from textrank.representations.pairs.path_descriptors import PATH, path_rows
from textrank.types import Indices, Matrix, Vector

Mask: TypeAlias = NDArray[np.bool_]


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
        """Those of the candidates."""
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
        entity, token = np.nonzero(self.tokens)
        starts = np.flatnonzero(np.diff(entity, prepend=-1))
        return np.asarray(np.minimum.reduceat(table[:, token], starts, axis=1))

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

    @cached_property
    def marks(self) -> Matrix:  # (n, marks)
        """Which groups the words of the sentence are of; entities are blind."""
        context = self.facts.context
        found = np.zeros((len(context.words), len(MARKS)))
        found[:, :-3] = [marks_of(word) for word in context.words]
        found[:, -3] = self.facts.verbs
        found[:, -2] = [tag == "CD" for tag in context.tags]
        found[:, -1] = found[:, MARKS["verb"]] * found[:, MARKS["trigger"]]
        return found

    @cached_property
    def inside(self) -> Matrix:  # (g, marks)
        """How many tokens of each group stand between the two entities."""
        return np.asarray(self.middle @ self.marks)

    @cached_property
    def counts(self) -> Matrix:  # (n + 1, marks)
        """How many tokens of each group stand before each token."""
        found = np.zeros((len(self.marks) + 1, len(MARKS)))
        np.cumsum(self.marks, axis=0, out=found[1:])
        return found


def described(facts: SentenceFacts, pairs: Sequence[EntityPair], out: Matrix) -> None:
    """Puts all descriptors of the pairs of a sentence in a table (g, descriptors).

    ``finished`` takes logarithms of counts and makes flags of them, for all sentences at once.
    """
    own = Pairs.of(facts, pairs)
    for part in (_distances, _words, _around, _lists, _rivals, _entities, _heads, _strings):
        part(own, out)
    for name in ("trigger", "strong trigger"):
        _to_triggers(name, own, out)
    _takers(own, out)
    _kinds(own, out)
    out[:, columns(PATH)] = path_rows(facts, pairs)


def finished(table: Matrix) -> Matrix:
    """The descriptors of any number of pairs, from what ``described`` put in the table."""
    at = columns(LOGARITHMS)
    table[:, at] = np.log1p(table[:, at])
    at = columns(FLAGS)
    table[:, at] = table[:, at] > 0
    return table


def _distances(own: Pairs, out: Matrix) -> None:
    path, gap = own.paths[own.first, own.second], own.distances[own.first, own.second]
    i, j = np.triu_indices(len(own.mentions), 1)
    one, other = own.mentions[i], own.mentions[j]
    starts, ends = own.extents[own.mentions].T
    inside = (starts > own.begin[:, None]) & (ends < own.end[:, None]) & own.others
    between = inside.sum(axis=1)
    n = own.own.shape[1]
    earliest, latest = (starts.min(), starts.max()) if len(starts) else (n, -1)
    values = {
        "path length": path,
        "distance": own.middle.sum(axis=1),
        "sentence length": np.log(n),
        "entities between": between,
        "entities in sentence": np.log(max(1, len(own.mentions))),
        "share of shorter paths": _share_below(own.paths[one, other], path),
        "share of nearer pairs": _share_below(own.distances[one, other], gap),
        "first entity": own.extents[own.first, 0] <= earliest,
        "last entity": own.extents[own.second, 0] >= latest,
        "adjacent entities": between == 0,
        "shared token": (own.tokens[own.first] & own.tokens[own.second]).any(axis=1),
        "doubt": own.facts.hedged,
        "triggers in sentence": len(own.facts.triggers["trigger"]),
        "strong triggers in sentence": len(own.facts.triggers["strong trigger"]),
    }
    for name, value in values.items():
        out[:, COLUMN[name]] = value


def _share_below(values: Vector, limits: Vector) -> Vector:
    return np.asarray(np.searchsorted(np.sort(values), limits) / max(1, len(values)))


_INSIDE = np.array([MARKS[mark] for mark in INSIDE.values()])


def _words(own: Pairs, out: Matrix) -> None:
    out[:, columns(tuple(INSIDE))] = own.inside[:, _INSIDE]


def _around(own: Pairs, out: Matrix) -> None:
    counts, begin, end = own.counts, own.begin, own.end
    n = len(counts) - 1
    before, after = counts[begin], counts[n] - counts[end + 1]
    near = before - counts[(begin - NEAR).clip(0)]
    next_ = counts[(end + 1 + NEAR).clip(max=n)] - counts[end + 1]
    trigger, strong, cue, other = (MARKS[m] for m in ("trigger", "strong", "between", "other"))
    both = (own.inside[:, trigger] > 0) & (own.inside[:, other] > 0)
    at, others = own.middle & (own.marks[:, [trigger, other]].T[:, None] > 0)
    values = {
        "trigger before": before[:, trigger] > 0,
        "trigger after": after[:, trigger] > 0,
        "strong trigger before": before[:, strong] > 0,
        "strong trigger after": after[:, strong] > 0,
        "strong trigger just before": near[:, strong] > 0,
        "strong trigger just after": next_[:, strong] > 0,
        "cue between": before[:, cue] + own.inside[:, cue] > 0,
        "trigger before entities between": both & (at.argmax(axis=1) < others.argmax(axis=1)),
        "trigger after entities between": both
        & (at[:, ::-1].argmax(axis=1) < others[:, ::-1].argmax(axis=1)),
    }
    for name, value in values.items():
        out[:, COLUMN[name]] = value


def _lists(own: Pairs, out: Matrix) -> None:
    words, n = [*own.facts.context.words, ""], own.own.shape[1]
    size = own.middle.sum(axis=1)
    listed = (size == own.inside[:, MARKS["separator"]]) & (size > 0)
    out[:, COLUMN["members of one list"]] = listed
    out[:, COLUMN["nothing between"]] = size == 0
    joined = columns(
        ("second in parentheses behind first", "joined by hyphen or slash", "joined by and")
    )
    out[:, joined] = 0.0
    for row in np.flatnonzero((size == 1) | (size == 2)).tolist():
        at = np.flatnonzero(own.middle[row]).tolist()
        between, behind = [words[t] for t in at], words[min(int(own.end[row]) + 1, n)]
        one = between[0] if len(between) == 1 else ""
        flags = one in OPENED and behind in CLOSED, one in JOINTS
        out[row, joined] = (*flags, between in (["and"], [",", "and"]))


def _to_triggers(name: str, own: Pairs, out: Matrix) -> None:
    at = own.facts.triggers[name]
    values = np.zeros((len(own.pairs), 7))
    values[:, :6] = (FAR, FAR, 2 * FAR) * 2
    free = ~own.own[:, at]
    some = np.flatnonzero(free.any(axis=1))
    if len(some):
        blind = np.where(free[some], 0.0, np.inf)
        ends = own.first[some], own.second[some]
        ways = [own.steps[e][:, at] + blind for e in ends]
        gaps = [np.minimum(own.gaps[e][:, at], FAR) + blind for e in ends]
        joint = ways[0] + ways[1]
        found = (*ways, joint, *gaps, gaps[0] + gaps[1])
        values[some, :6] = np.stack([table.min(axis=1) for table in found], axis=1)
        nearest = at[joint.argmin(axis=1)]
        values[some, 6] = (own.begin[some] < nearest) & (nearest < own.end[some])
    out[:, columns(_to(name))] = values


def _to(name: str) -> tuple[str, ...]:
    ends = ("first", "second", "joint")
    kinds = [f"{what} from {end} to {name}" for what in ("path", "distance") for end in ends]
    return (*kinds, f"nearest joint {name} between")


def _rivals(own: Pairs, out: Matrix) -> None:
    for how, table in ((" by path", own.paths), ("", own.distances)):
        limit = table[own.first, own.second][:, None]
        for which, entity in (("first", own.first), ("second", own.second)):
            nearer = (table[entity][:, own.mentions] < limit) & own.others
            out[:, COLUMN[f"other entity nearer {which}{how}"]] = nearer.any(axis=1)


def _entities(own: Pairs, out: Matrix) -> None:
    names = (*own.entities[0].flags, "depth", "position")
    table = np.array([(*e.flags.values(), e.depth, e.position) for e in own.entities], dtype=float)
    for which, entity in (("first", own.first), ("second", own.second)):
        out[:, columns(tuple(f"{which} {name}" for name in names))] = table[entity]


def _heads(own: Pairs, out: Matrix) -> None:
    above = np.zeros(own.tokens.shape, dtype=bool)
    for row, entity in enumerate(own.entities):
        above[row, list(entity.governors)] = True
    one, other = above[own.first], above[own.second]
    heads = (one & own.tokens[own.second]) | (other & own.tokens[own.first])
    out[:, COLUMN["common head"]] = (one & other).any(axis=1)
    out[:, COLUMN["one heads the other"]] = heads.any(axis=1)


def _strings(own: Pairs, out: Matrix) -> None:
    texts = [entity.text for entity in own.entities]
    named = [texts[row] for row in own.mentions.tolist()]
    times = {text: named.count(text) for text in set(texts)}
    couples = [(texts[i], texts[j]) for i, j in zip(own.first, own.second, strict=True)]
    out[:, columns(("names equal", "name within name", "name repeated"))] = [
        (a == b, a != b and (a in b or b in a), times[a] > 1 or times[b] > 1) for a, b in couples
    ]


def _takers(own: Pairs, out: Matrix) -> None:
    """How many other entities are nearer to the pair's best trigger than its own are."""
    at = own.facts.triggers["trigger"]
    free = ~own.own[:, at]
    some = np.flatnonzero(free.any(axis=1))
    for how, table in ((" by path", own.steps), ("", own.gaps)):
        names = tuple(f"rivals of {which} for the trigger{how}" for which in ("first", "second"))
        out[:, columns(names)] = 0.0
        if not len(some):
            continue
        one, other = own.first[some], own.second[some]
        blind = np.where(free[some], 0.0, np.inf)
        best = at[(table[one][:, at] + table[other][:, at] + blind).argmin(axis=1)]
        theirs = table[own.mentions][:, best].T
        for name, entity in zip(names, (one, other), strict=True):
            nearer = (theirs < table[entity, best][:, None]) & own.others[some]
            out[some, COLUMN[name]] = nearer.sum(axis=1)


_KINDS = np.array([MARKS[kind] for kind in KINDS])


def _kinds(own: Pairs, out: Matrix) -> None:
    n, rows = own.own.shape[1], np.arange(len(own.pairs))
    for which, entity in (("first", own.first), ("second", own.second)):
        found = np.zeros((len(rows), len(KINDS)), dtype=bool)
        for step in (1, 2):
            at = own.extents[entity, 1] + step
            seen = (at < n) & ~own.own[rows, at.clip(max=n - 1)]
            found |= (own.marks[at.clip(max=n - 1)][:, _KINDS] > 0) & seen[:, None]
        out[:, columns(tuple(f"{which} before {kind} words" for kind in KINDS))] = found
